/* Which kernel is taken and why; what is missing; re-bound aliases; the text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "lower.h"

static const char plain[] =
    "alias T = f32;\nstruct P { n: u32 }\n@group(0) @binding(0) var<storage, read> x: array<T>;\n"
    "@group(0) @binding(1) var<storage, read_write> y: array<T>;\n@group(0) @binding(2) var<uniform> p: P;\n"
    "@compute @workgroup_size(64)\nfn main(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {\n"
    "  let i = (w.y * g.x + w.x) * 64u + l;\n  if (i < p.n) { y[i] = x[i]; }\n}\n";

#define TAIL "binding = \"\"\"\nalias T = T\nbind x = read x\nbind y = write y\nbind p = uniform { n = n }\npass main over n\n\"\"\"\n"
#define META "category = \"movement\"\ntolerance = { class = \"exact\", reason = \"moved\" }\nsummary = \"s\"\ndescription = \"d\"\ntags = [\"t\"]\nauthor = \"a\"\nlicense = \"Apache-2.0\"\nreferences = []\n"
#define OP(first, second) \
    "signature = \"pass_on(x: T[n]) -> y: T[n]  T in f32, f16, i32\"\n" META \
    "[body]\nreference = \"plain.wgsl\"\ncpu = \"reference\"\n" TAIL "\n[[kernel]]\nfile = \"plain.wgsl\"\n" first TAIL "\n[[kernel]]\nfile = \"other.wgsl\"\n" second TAIL \
    "\n[backward]\nform = \"none\"\nreason = \"test\"\n"

#define GRAPH(tier, type) "graph t {\n  tier " tier "\n  %x = input \"x\" : " type "\n  %y = test/pass_on %x\n  output \"y\" %y\n}\n"

static void add(low *l, const char *toml) { low_op(l, "test/pass_on@1", toml, "plain.wgsl", plain, "other.wgsl", plain); }

static void first_match_in_file_order(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    add(&l, OP("requires = [\"subgroups\"]\norder = \"fixed\"\n", "order = \"fixed\"\n"));
    low_kernels(&l, GRAPH("debug", "f32[100]"), &t);
    assert_string_equal(l.kernels.list[0].origin.p, "other.wgsl");
    assert_string_equal(l.kernels.list[0].why.p, "plain.wgsl passed over: needs subgroups; other.wgsl: kernel 2 of 2, the first that matches");
    assert_int_equal(l.kernels.list[0].grid[0], 2);
    t.subgroups = true;
    low_kernels(&l, GRAPH("debug", "f32[100]"), &t);
    assert_string_equal(l.kernels.list[0].origin.p, "plain.wgsl");
    low_end(&l);
}

static void tier_and_order(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    add(&l, OP("order = \"unordered\"\n", "order = \"fixed\"\nwhen = \"n > 50\"\n"));
    low_kernels(&l, GRAPH("debug", "f32[100]"), &t);
    assert_string_equal(l.kernels.list[0].origin.p, "other.wgsl");
    low_kernels(&l, GRAPH("fast", "f32[100]"), &t);
    assert_string_equal(l.kernels.list[0].origin.p, "plain.wgsl");
    low_kernels(&l, GRAPH("prod", "f32[100]"), &t);
    assert_string_equal(l.kernels.list[0].origin.p, "other.wgsl");
    low_kernels(&l, GRAPH("prod", "f32[10]"), &t); /* only the unordered one fits */
    assert_string_equal(l.kernels.list[0].origin.p, "plain.wgsl");
    assert_false(low_try_kernels(&l, GRAPH("debug", "f32[10]"), &t));
    assert_true(gr_diags_has(&l.d, GR_D_KERNEL_MISSING));
    low_end(&l);
}

static void missing_names_the_lack(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    add(&l, OP("dtypes = [\"i32\"]\norder = \"fixed\"\n", "requires = [\"subgroups\"]\norder = \"fixed\"\n"));
    assert_false(low_try_kernels(&l, GRAPH("debug", "f32[10]"), &t));
    assert_int_equal(l.d.list.v[0].name, GR_D_KERNEL_MISSING);
    assert_non_null(strstr(l.d.list.v[0].message.p, "plain.wgsl passed over: not for f32; other.wgsl passed over: needs subgroups"));
    t = gr_target_oracle();
    low_kernels(&l, GRAPH("debug", "f32[10]"), &t);
    assert_string_equal(l.kernels.list[0].origin.p, "plain.wgsl");
    low_end(&l);
}

static void aliases_are_bound_again(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    add(&l, OP("order = \"fixed\"\n", "order = \"fixed\"\n"));
    low_kernels(&l, GRAPH("debug", "i32[10]"), &t);
    assert_true(gr_str_starts(l.kernels.list[0].wgsl, "alias T = i32;\n"));
    assert_false(low_try_kernels(&l, GRAPH("debug", "f16[10]"), &t)); /* no shader-f16 */
    gr_diags_clear(&l.d);
    t.shader_f16 = true;
    low_kernels(&l, GRAPH("debug", "f16[10]"), &t);
    assert_true(gr_str_starts(l.kernels.list[0].wgsl, "enable f16;\nalias T = f16;\n"));
    low_end(&l);
}

/* A pass that is repeated: all passes of the loop for one turn, then the next turn; uniforms see the turn. */
static void turns_in_order(void **state) {
    (void)state;
    static const char text[] =
        "struct P { n: u32 }\nstruct Q { turn: u32 }\n@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
        "@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n@group(0) @binding(2) var<uniform> p: P;\n@group(0) @binding(3) var<uniform> q: Q;\n"
        "@compute @workgroup_size(1)\nfn first() { y[p.n - 1u] = x[0]; }\n"
        "@compute @workgroup_size(1)\nfn a() { y[q.turn] = x[0]; }\n@compute @workgroup_size(1)\nfn b() { y[q.turn] = x[1]; }\n";
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_op(&l, "test/pass_on@1", "signature = \"pass_on(x: f32[n]) -> y: f32[n]\"\n" META
           "[body]\nreference = \"plain.wgsl\"\ncpu = \"reference\"\nbinding = \"\"\"\nbind x = read x\nbind y = write y\nbind p = uniform { n = n }\nbind q = uniform { turn = k }\n"
           "pass first over 1\npass a repeat k in 3..bit_length(n) over n - k\npass b repeat k grid k, 2\npass first over 1\n\"\"\"\n\n[backward]\nform = \"none\"\nreason = \"test\"\n",
           "plain.wgsl", text, NULL, NULL);
    t = gr_target_oracle();
    low_kernels(&l, GRAPH("debug", "f32[16]"), &t); /* bit_length(16) is 5: turns 3 and 4 */
    static const struct { const char *entry; uint64_t x, y; uint8_t turn; } want[] = {{"first", 1, 1, 16}, {"a", 13, 1, 3}, {"b", 3, 2, 3}, {"a", 12, 1, 4}, {"b", 4, 2, 4}, {"first", 1, 1, 16}};
    assert_int_equal(l.kernels.n, 6);
    for (uint32_t i = 0; i < 6; i++) {
        const gr_kernel *k = &l.kernels.list[i];
        assert_true(gr_str_eqz(k->entry, want[i].entry) && k->grid[0] == want[i].x && k->grid[1] == want[i].y);
        for (uint32_t b = 0; b < k->binds_n; b++)
            if (k->binds[b].kind == GR_KB_UNIFORM) assert_int_equal(k->binds[b].data[0], want[i].turn);
    }
    low_kernels(&l, GRAPH("debug", "f32[3]"), &t); /* no turn at all */
    assert_int_equal(l.kernels.n, 2);
    low_end(&l);
}

static void round_trip(low *l, const gr_kernels *k) {
    gr_buf first = {0}, second = {0};
    gr_kernels back;
    gr_kernels_print(&first, k);
    bool ok = gr_kernels_parse(&l->a, &l->d, GR_STR("<kernels>"), gr_buf_view(&first), k->graph, &back);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    gr_kernels_print(&second, &back);
    assert_string_equal(first.p, second.p);
    assert_true(gr_kernels_verify(&l->d, &back));
    gr_buf_free(&first);
    gr_buf_free(&second);
}

static const char both[] =
    "graph t {\n  tier debug\n  symbol n = 1000\n  %x = input \"ecg\" : f32[n = 1000]\n  %y = user/kemal/windowed_median %x w=7 @ node \"median\"\n"
    "  %m = reduce_mean %y axes=[0] keep_dimensions=false @ node \"mean\"\n  %c = sub %y, %m @ node \"center\"\n  output \"clean\" %c\n}\n";

static void text_form(void **state) {
    (void)state;
    low l;
    gr_target gpu = gr_target_webgpu_default(), cpu = gr_target_oracle();
    low_begin(&l);
    low_kernels(&l, both, &gpu);
    round_trip(&l, &l.kernels);
    gr_buf b = {0};
    gr_kernels_print(&b, &l.kernels);
    golden_check("tests/kernel/despike.kernels", gr_buf_view(&b));
    gr_buf_free(&b);
    low_kernels(&l, both, &cpu);
    round_trip(&l, &l.kernels);
    cpu.reference = true;
    low_kernels(&l, both, &cpu);
    assert_string_equal(l.kernels.list[0].origin.p, "reference.wgsl");
    round_trip(&l, &l.kernels);
    low_end(&l);
}

/* Any cut of the text is refused with a place, never a crash. */
static void damaged_text(void **state) {
    (void)state;
    low l;
    gr_target gpu = gr_target_webgpu_default();
    low_begin(&l);
    low_kernels(&l, both, &gpu);
    gr_buf b = {0};
    gr_kernels_print(&b, &l.kernels);
    for (size_t n = 0; n + 2 < b.n; n += 7) {
        gr_arena a = {0};
        gr_diags d;
        gr_kernels back;
        gr_diags_init(&d);
        assert_false(gr_kernels_parse(&a, &d, GR_STR("<cut>"), (gr_str){b.p, n}, l.kernels.graph, &back));
        assert_true(gr_diags_has(&d, GR_D_KERNEL_SYNTAX));
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    uint32_t h = 1;
    for (int i = 0; i < 1500; i++) { /* one byte wrong: read or refused, never worse */
        gr_arena a = {0};
        gr_diags d;
        gr_kernels back;
        h = h * 1664525u + 1013904223u;
        size_t at = (h >> 8) % b.n;
        char was = b.p[at];
        b.p[at] = "0 9{}\"b%,-:\nz"[h % 14];
        gr_diags_init(&d);
        if (gr_kernels_parse(&a, &d, GR_STR("<changed>"), gr_buf_view(&b), l.kernels.graph, &back)) gr_kernels_verify(&d, &back);
        else assert_false(gr_diags_ok(&d));
        b.p[at] = was;
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    gr_buf_free(&b);
    low_end(&l);
}

static void planted_faults_are_seen(void **state) {
    (void)state;
    low l;
    gr_target gpu = gr_target_webgpu_default();
    low_begin(&l);
    low_kernels(&l, both, &gpu);
    gr_kernel *k = &l.kernels.list[0];
    gr_kernel good = *k;
    k->entry = GR_STR("absent");
    assert_false(gr_kernels_verify(&l.d, &l.kernels));
    *k = good;
    k->binds_n--;
    assert_false(gr_kernels_verify(&l.d, &l.kernels));
    *k = good;
    k->grid[0] = 0;
    assert_false(gr_kernels_verify(&l.d, &l.kernels));
    *k = good;
    k->hash.b[0] ^= 1;
    assert_false(gr_kernels_verify(&l.d, &l.kernels));
    *k = good;
    k->binds[0].value = 999;
    assert_false(gr_kernels_verify(&l.d, &l.kernels));
    assert_int_equal(l.d.errors, 5);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {
        cmocka_unit_test(first_match_in_file_order), cmocka_unit_test(tier_and_order), cmocka_unit_test(missing_names_the_lack),
        cmocka_unit_test(aliases_are_bound_again), cmocka_unit_test(turns_in_order), cmocka_unit_test(text_form), cmocka_unit_test(damaged_text),
        cmocka_unit_test(planted_faults_are_seen),
    };
    return cmocka_run_group_tests(t, NULL, NULL);
}
