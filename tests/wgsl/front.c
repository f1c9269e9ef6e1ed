/* The front end's interface: types and loads in the tree, layout, reflection, specialisation,
 * re-bound aliases, diagnostics, hostile input, failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wgsl/wgsl.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct fixture {
    gr_arena a;
    gr_diags d;
    gr_wgsl_module *m;
} fixture;

static void open_with(fixture *x, gr_str text, const gr_wgsl_options *opt) {
    gr_arena_init(&x->a, 64u << 20);
    gr_diags_init(&x->d);
    x->m = gr_wgsl_load(&x->a, &x->d, GR_STR("t.wgsl"), text, opt);
}

static void open_ok(fixture *x, const char *text) {
    open_with(x, gr_str_of(text), NULL);
    if (x->m) return;
    gr_buf b = {0};
    gr_diags_print(&b, &x->d, gr_str_of(text));
    print_error("%s", b.p);
    gr_buf_free(&b);
    fail();
}

static void close_it(fixture *x) {
    gr_diags_free(&x->d);
    gr_arena_free(&x->a);
}

static const gr_wgsl_decl *find(const fixture *x, const char *name) {
    const gr_wgsl_decl *d = gr_wgsl_find_decl(x->m, gr_str_of(name));
    assert_non_null(d);
    return d;
}

static void loads_are_explicit(void **state) {
    (void)state;
    fixture x;
    open_ok(&x, "var<private> v: vec3f;\nfn f(i: i32) -> f32 {\n  v[i] += v.x * 2;\n  return v[1];\n}\n");
    const gr_wgsl_function *fn = find(&x, "f")->function;
    const gr_wgsl_stmt *set = fn->body->block.v[0], *ret = fn->body->block.v[1];
    assert_int_equal(set->kind, GR_WS_ASSIGN);
    assert_int_equal(set->assign.op, GR_WO_ADD);
    assert_true(set->assign.lhs->is_ref);
    assert_int_equal(set->assign.lhs->space, GR_WGSL_SPACE_PRIVATE);
    assert_int_equal(set->assign.lhs->kind, GR_WE_INDEX);
    assert_int_equal(set->assign.lhs->index.index->kind, GR_WE_IDENT); /* a parameter is a value */
    const gr_wgsl_expr *product = set->assign.rhs;
    assert_int_equal(product->binary.a->kind, GR_WE_LOAD);
    assert_int_equal(product->binary.a->unary.a->member.swizzle_n, 1);
    assert_int_equal(product->binary.b->type->kind, GR_WT_F32); /* the literal 2 was made f32 */
    assert_true(product->binary.b->value->leaf[0].f == 2.0);
    assert_int_equal(ret->expr->kind, GR_WE_LOAD);
    assert_int_equal(ret->behaviour, GR_WGSL_RETURN);
    close_it(&x);
}

static void layout_follows_the_rules(void **state) {
    (void)state;
    fixture x;
    open_ok(&x, "enable f16;\nstruct A { a: f32, b: vec3f, c: f32, d: mat3x3f, @align(32) e: u32, @size(24) f: vec2h, g: array<vec3f, 2> }\n"
                "struct B { n: u32, rest: array<A> }\n@group(0) @binding(0) var<storage> b: B;\n");
    const gr_wgsl_type *a = find(&x, "A")->type, *b = find(&x, "B")->type;
    static const uint64_t at[] = {0, 16, 28, 32, 96, 100, 128};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) assert_int_equal(a->member[i].at, at[i]);
    assert_int_equal(a->size, 160);
    assert_int_equal(a->align, 32);
    assert_int_equal(a->member[3].type->stride, 16);
    assert_int_equal(a->member[6].type->stride, 16);
    assert_int_equal(a->leaves, 1 + 3 + 1 + 9 + 1 + 2 + 6);
    assert_int_equal(b->member[1].at, 32);
    assert_int_equal(b->member[1].type->stride, 160);
    assert_true(b->has_runtime && !b->creation_fixed);
    close_it(&x);
}

static const char reflected[] =
    "override block = 8u;\n@id(7) override gain: f32;\noverride unused: f32;\n"
    "@group(0) @binding(1) var<storage, read_write> dst: array<f32>;\n@group(0) @binding(0) var<storage> src: array<f32>;\n"
    "@group(1) @binding(0) var<uniform> n: u32;\n@group(2) @binding(0) var<uniform> other: u32;\nvar<workgroup> tile: array<f32, block * 2>;\n"
    "fn load(i: u32) -> f32 { return src[i] * gain; }\n"
    "@compute @workgroup_size(block, 2) fn main(@builtin(local_invocation_index) i: u32) {\n"
    "  tile[i] = load(min(i, n - 1));\n  workgroupBarrier();\n  dst[i] = tile[0];\n}\n"
    "@compute @workgroup_size(1) fn second() { _ = other; }\n";

static void reflection_lists_what_is_used(void **state) {
    (void)state;
    fixture x;
    open_ok(&x, reflected);
    assert_int_equal(x.m->entry_n, 2);
    const gr_wgsl_entry *e = gr_wgsl_find_entry(x.m, GR_STR("main"));
    assert_int_equal(e->resource_n, 3);
    assert_true(gr_str_eqz(e->resource[0]->name, "src") && gr_str_eqz(e->resource[1]->name, "dst") && gr_str_eqz(e->resource[2]->name, "n"));
    assert_int_equal(e->resource[1]->access, GR_WGSL_READ_WRITE);
    assert_int_equal(e->overrides_n, 2);
    assert_int_equal(e->workgroup_n, 1);
    assert_int_equal(e->workgroup_size[0], 0); /* an override decides */
    assert_int_equal(e->workgroup_size[1], 2);
    assert_int_equal(e->workgroup_size[2], 1);
    assert_true(e->uses_barrier && !e->uses_atomics && !e->uses_subgroups && !e->uses_array_length);
    assert_int_equal(gr_wgsl_find_entry(x.m, GR_STR("second"))->resource_n, 1);
    assert_true(x.m->functions[0]->index == 0 && gr_str_eqz(x.m->functions[0]->decl->name, "load")); /* callees first */
    close_it(&x);
}

static bool specialize(fixture *x, const gr_wgsl_override_value *v, uint32_t n, gr_wgsl_spec *out) {
    gr_diags_clear(&x->d);
    return gr_wgsl_specialize(&x->a, &x->d, x->m, GR_STR("main"), v, n, out);
}

static void specialisation_decides_overrides(void **state) {
    (void)state;
    fixture x;
    gr_wgsl_spec s;
    open_ok(&x, reflected);
    const gr_wgsl_override_value good[] = {{GR_STR("7"), 0.1}, {GR_STR("block"), 16}};
    assert_true(specialize(&x, good, 2, &s));
    assert_int_equal(s.workgroup_size[0], 16);
    assert_int_equal(s.workgroup_bytes, 128);
    const gr_wgsl_decl *gain = find(&x, "gain"), *tile = find(&x, "tile");
    assert_true(s.override_value[gain->override_index]->leaf[0].f == (double)0.1f);
    assert_int_equal(gr_wgsl_spec_count(&s, tile->type), 32);
    assert_false(specialize(&x, NULL, 0, &s)); /* gain has no value */
    assert_true(gr_diags_has(&x.d, GR_D_WGSL_OVERRIDE));
    const gr_wgsl_override_value unknown[] = {{GR_STR("7"), 1}, {GR_STR("gain"), 1}}; /* named by its id only */
    assert_false(specialize(&x, unknown, 2, &s));
    const gr_wgsl_override_value negative[] = {{GR_STR("7"), 1}, {GR_STR("block"), -1}};
    assert_false(specialize(&x, negative, 2, &s));
    const gr_wgsl_override_value zero[] = {{GR_STR("7"), 1}, {GR_STR("block"), 0}};
    assert_false(specialize(&x, zero, 2, &s));
    assert_false(gr_wgsl_specialize(&x.a, &x.d, x.m, GR_STR("nowhere"), NULL, 0, &s));
    assert_true(gr_diags_has(&x.d, GR_D_WGSL_NO_ENTRY));
    close_it(&x);
}

static void override_expressions_are_checked(void **state) {
    (void)state;
    static const struct { const char *body; double ok, bad; } cases[] = {
        {"dst[0] = 1 / o;", 2, 0},
        {"var a = dst[0]; a /= o; dst[0] = a;", 2, 0},
        {"dst[0] = dst[1] << u32(o);", 31, 32},
        {"let a = array(1, 2, 3); dst[0] = a[o];", 2, 3},
        {"dst[o] = 1;", 0, -1},
        {"if o > 0 && 1 / o == 1 { dst[0] = 1; }", 0, 2147483648.0},
        {"dst[0] = i32(extractBits(u32(dst[1]), 1u, u32(o)));", 31, 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture x;
        gr_wgsl_spec s;
        char text[400];
        snprintf(text, sizeof text, "override o: i32;\n@group(0) @binding(0) var<storage, read_write> dst: array<i32>;\n@compute @workgroup_size(1) fn main() { %s }\n", cases[i].body);
        open_ok(&x, text);
        assert_true(specialize(&x, &(gr_wgsl_override_value){GR_STR("o"), cases[i].ok}, 1, &s));
        if (specialize(&x, &(gr_wgsl_override_value){GR_STR("o"), cases[i].bad}, 1, &s)) fail_msg("accepted: %s with %g", cases[i].body, cases[i].bad);
        close_it(&x);
    }
}

static void aliases_are_rebound(void **state) {
    (void)state;
    gr_str text = GR_STR("alias T = f32;\n@group(0) @binding(0) var<storage> x: array<T>;\nfn f(a: T) -> T { return a * 2; }\n");
    static const struct { const char *type; gr_wgsl_kind kind; bool force; } cases[] = {
        {"f16", GR_WT_F16, true}, {"i32", GR_WT_I32, false}, {"u32", GR_WT_U32, false}, {"vec2<f32>", GR_WT_VEC, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture x;
        gr_wgsl_rebind r = {GR_STR("T"), gr_str_of(cases[i].type)};
        open_with(&x, text, &(gr_wgsl_options){.rebind = &r, .rebind_n = 1, .force_f16 = cases[i].force});
        assert_non_null(x.m);
        assert_int_equal(find(&x, "x")->type->elem->kind, cases[i].kind);
        close_it(&x);
    }
    fixture x;
    gr_wgsl_rebind bad = {GR_STR("U"), GR_STR("f32")}, syntax = {GR_STR("T"), GR_STR("f32 f32")};
    open_with(&x, text, &(gr_wgsl_options){.rebind = &bad, .rebind_n = 1});
    assert_null(x.m);
    assert_true(gr_diags_has(&x.d, GR_D_WGSL_UNRESOLVED));
    close_it(&x);
    open_with(&x, text, &(gr_wgsl_options){.rebind = &syntax, .rebind_n = 1});
    assert_null(x.m);
    close_it(&x);
}

static void features_can_be_withheld(void **state) {
    (void)state;
    fixture x;
    open_with(&x, GR_STR("enable f16;\n"), &(gr_wgsl_options){.no_f16 = true});
    assert_null(x.m);
    assert_true(gr_diags_has(&x.d, GR_D_WGSL_FEATURE));
    close_it(&x);
    open_with(&x, GR_STR("enable subgroups;\n"), &(gr_wgsl_options){.no_subgroups = true});
    assert_null(x.m);
    close_it(&x);
}

static void outside_the_subset_is_named(void **state) {
    (void)state;
    static const char *const text[] = {
        "@group(0) @binding(0) var t: texture_2d<f32>;", "@group(0) @binding(0) var s: sampler;", "fn f(a: f32) -> f32 { return dpdx(a); }",
        "@fragment fn f() { }", "@vertex fn f() -> @builtin(position) vec4f { return vec4f(); }", "fn f() { discard; }",
        "enable dual_source_blending;", "var<immediate> x: u32;"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        fixture x;
        open_with(&x, gr_str_of(text[i]), NULL);
        assert_null(x.m);
        if (!gr_diags_has(&x.d, GR_D_WGSL_UNSUPPORTED)) fail_msg("not wgsl/unsupported: %s", text[i]);
        close_it(&x);
    }
}

static void messages_say_what_and_where(void **state) {
    (void)state;
    fixture x;
    gr_str text = GR_STR("fn f(count: i32, gain: f32) -> f32 {\n  let a = gain * count;\n  let b = cuont + 1;\n  return a;\n}\n");
    open_with(&x, text, NULL);
    assert_null(x.m);
    gr_buf b = {0};
    gr_diags_print(&b, &x.d, text);
    assert_non_null(strstr(b.p, "t.wgsl:2:16: error wgsl/no-overload: no operator * takes f32 and i32"));
    assert_non_null(strstr(b.p, "write i32(...) or f32(...)"));
    assert_non_null(strstr(b.p, "t.wgsl:3:11: error wgsl/unresolved-name: 'cuont' is declared nowhere in scope"));
    assert_non_null(strstr(b.p, "did you mean 'count'?"));
    assert_int_equal(x.d.errors, 2); /* both statements, nothing that follows from them */
    gr_buf_free(&b);
    close_it(&x);
}

static void non_uniform_message_explains(void **state) {
    (void)state;
    fixture x;
    gr_str text = GR_STR("fn sync() {\n  workgroupBarrier();\n}\n@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) i: u32) {\n  if i == 0 {\n    sync();\n  }\n}\n");
    open_with(&x, text, NULL);
    assert_null(x.m);
    const gr_diag *g = &x.d.list.v[0];
    assert_int_equal(g->name, GR_D_WGSL_NON_UNIFORM);
    assert_int_equal(g->place.line, 2);
    assert_int_equal(g->related_n, 3);
    assert_int_equal(g->related[0].place.line, 7);
    assert_int_equal(g->related[1].place.line, 6);
    assert_int_equal(g->related[2].place.line, 6);
    close_it(&x);
}

static gr_str repeat(gr_buf *b, const char *head, const char *unit, uint32_t n, const char *tail, const char *close) {
    gr_buf_puts(b, head);
    for (uint32_t i = 0; i < n; i++) gr_buf_puts(b, unit);
    gr_buf_puts(b, tail);
    for (uint32_t i = 0; close[0] && i < n; i++) gr_buf_puts(b, close);
    return gr_buf_view(b);
}

static void deep_and_long_texts_end(void **state) {
    (void)state;
    static const struct { const char *head, *unit, *tail, *close; } c[] = {
        {"const a = ", "(", "1", ")"},          {"const a = ", "-", "1;", ""},        {"const a = ", "!", "true;", ""},
        {"fn f() ", "{", "", "}"},              {"fn f() ", "{ if true ", "", "}"},   {"const a = 1", "+1", ";", ""},
        {"const a = ", "f(", "1", ")"},         {"var<private> a: ", "array<", "i32", ", 1>"}, {"var<private> a: ", "vec2<", "", ""},
        {"const a = b", "[0]", ";", ""},        {"const a = b", ".x", ";", ""},       {"fn f() { if true {} ", "else if true {} ", "}", ""},
        {"/*", "/*", "", ""},                   {"fn f() { ", "loop { ", "", ""},     {"fn f() { a", ".b", " = 1; }", ""},
        {"fn f() { ", "*", "a = 1; }", ""},     {"", "@a ", "", ""},                  {"", "enable f16;", "", ""},
        {"fn f() { switch 1 { ", "case 1 {} ", "} }", ""}, {"fn f() { var a = 1; ", "a = a + 1; ", "}", ""}, {"const a = true", "&&true", ";", ""},
        {"struct S { ", "a: i32, ", "}", ""},   {"", "const a = 1;", "", ""},         {"", "fn f() {}", "", ""},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        for (uint32_t n = 100; n <= 100000; n *= 10) {
            gr_buf b = {0};
            fixture x;
            open_with(&x, repeat(&b, c[i].head, c[i].unit, n, c[i].tail, c[i].close), NULL);
            assert_true(x.m || x.d.errors || x.d.out_of_memory);
            close_it(&x);
            gr_buf_free(&b);
        }
}

static void chains_of_declarations_end(void **state) {
    (void)state;
    gr_buf b = {0};
    fixture x;
    for (uint32_t i = 0; i < 20000; i++) gr_buf_printf(&b, "const c%u = c%u + 1;\n", i, i + 1); /* each on the next */
    gr_buf_puts(&b, "const c20000 = 0;\n");
    open_with(&x, gr_buf_view(&b), NULL);
    assert_non_null(x.m);
    assert_int_equal(find(&x, "c0")->value->leaf[0].i, 20000);
    close_it(&x);
    gr_buf_clear(&b);
    for (uint32_t i = 0; i < 5000; i++) gr_buf_printf(&b, "fn f%u() { f%u(); }\n", i, i + 1);
    gr_buf_puts(&b, "fn f5000() { workgroupBarrier(); }\n");
    open_with(&x, gr_buf_view(&b), NULL);
    assert_non_null(x.m);
    close_it(&x);
    gr_buf_free(&b);
}

/* Pseudo-random damage to a real program: nothing crashes, the answer is always given. */
static void damaged_texts_end(void **state) {
    (void)state;
    uint64_t seed = 12345;
    char text[sizeof reflected + 1];
    for (int round = 0; round < 3000; round++) {
        memcpy(text, reflected, sizeof reflected);
        size_t n = sizeof reflected - 1;
        for (int k = 0; k < 1 + round % 4; k++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            size_t at = (size_t)(seed >> 33) % n, len = (size_t)(seed >> 20) % 12;
            static const char bits[] = "(){}[]<>;:,.@&*-+=!~^|%/0123456789abcfhiux_ \n\t\x80\xff";
            if (seed & 1) text[at] = bits[(seed >> 8) % (sizeof bits - 1)];
            else if (at + len < n) memmove(text + at, text + at + len, n - at - len), n -= len;
        }
        fixture x;
        open_with(&x, (gr_str){text, n}, NULL);
        assert_true(x.m || x.d.errors);
        close_it(&x);
    }
}

static void failing_memory_is_reported(void **state) {
    (void)state;
    for (size_t limit = 4096; limit < 600 * 1024; limit += 4096) {
        gr_arena a;
        gr_diags d;
        gr_arena_init(&a, limit);
        gr_diags_init(&d);
        gr_wgsl_module *m = gr_wgsl_load(&a, &d, GR_STR("t.wgsl"), gr_str_of(reflected), NULL);
        assert_true(m || gr_diags_has(&d, GR_D_BASE_OUT_OF_MEMORY) || d.out_of_memory);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    for (uint64_t n = 1; n < 40; n++) {
        fixture x;
        gr_arena_init(&x.a, 0);
        gr_diags_init(&x.d);
        gr_heap_fail_nth(n);
        x.m = gr_wgsl_load(&x.a, &x.d, GR_STR("t.wgsl"), gr_str_of(reflected), NULL);
        gr_heap_fail_nth(0);
        assert_true(x.m || x.d.out_of_memory || x.d.errors);
        close_it(&x);
    }
}

static void constants_print(void **state) {
    (void)state;
    fixture x;
    open_ok(&x, "const a = vec3f(1, 2.5, -3);\nconst b = array(1u, 2u);\nconst c = array<vec2<bool>, 2>();\nconst d = 0.1;\n");
    static const char *const want[] = {"vec3<f32>(1.0f, 2.5f, -3.0f)", "array<u32, 2>(1u, 2u)", "array<vec2<bool>, 2>()", "0.1"};
    for (uint32_t i = 0; i < 4; i++) {
        gr_buf b = {0};
        gr_wgsl_print_const(&b, x.m->decl[i]->value);
        assert_string_equal(b.p, want[i]);
        gr_buf_free(&b);
    }
    close_it(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_explicit),       cmocka_unit_test(layout_follows_the_rules),
        cmocka_unit_test(reflection_lists_what_is_used), cmocka_unit_test(specialisation_decides_overrides),
        cmocka_unit_test(override_expressions_are_checked), cmocka_unit_test(aliases_are_rebound),
        cmocka_unit_test(features_can_be_withheld), cmocka_unit_test(outside_the_subset_is_named),
        cmocka_unit_test(messages_say_what_and_where), cmocka_unit_test(non_uniform_message_explains),
        cmocka_unit_test(deep_and_long_texts_end),  cmocka_unit_test(chains_of_declarations_end),
        cmocka_unit_test(damaged_texts_end),        cmocka_unit_test(failing_memory_is_reported),
        cmocka_unit_test(constants_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
