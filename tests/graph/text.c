/* The text form of graphs: read, printed, refused, damaged; and generated graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "graph/kit.h"

#include <math.h>

static void every_line_is_read(void **state) {
    (void)state;
    box b;
    gr_graph g;
    gr_buf out = {0};
    open_box(&b, test_catalog());
    gr_str text = golden_read(&b.a, "tests/graph/every.graph");
    bool ok = gr_graph_parse(&b.a, &b.d, GR_STR("every.graph"), text, b.catalog, &g);
    golden_show(&b.d, text);
    assert_true(ok && gr_graph_verify(&b.d, &g));
    assert_int_equal(g.tier, GR_TIER_FAST);
    assert_int_equal(g.symbols_n, 2);
    assert_true(g.symbols[1].n == 3);
    gr_graph_print(&out, &g);
    golden_check("tests/graph/every.golden.graph", gr_buf_view(&out));
    check_round_trip(&b, &g);
    gr_buf_free(&out);
    close_box(&b);
}

static void streamed_inputs(void **state) {
    (void)state;
    box b;
    gr_graph g;
    open_box(&b, test_catalog());
    read_graph(&b, "  %x = input \"x\" : f32[n = 9] stream\n  %y = t/window %x w=3\n  output \"y\" %y\n", &g);
    assert_true(g.values[0].on_disk);
    check_lines(&g, "  %x = input \"x\" : f32[n = 9] stream\n  %y = t/window@1 %x w=3 : f32[n - 2 = 7] @ node \"y\"\n  output \"y\" %y\n");
    check_round_trip(&b, &g);
    close_box(&b);
}

static void types_and_names_may_be_left_out(void **state) {
    (void)state;
    box b;
    gr_graph g;
    open_box(&b, test_catalog());
    read_graph(&b, "  %x = input \"x\" : f32[n = 9]\n  %y = t/window %x w=3\n  output \"y\" %y\n", &g);
    check_lines(&g, "  %x = input \"x\" : f32[n = 9]\n  %y = t/window@1 %x w=3 : f32[n - 2 = 7] @ node \"y\"\n  output \"y\" %y\n");
    close_box(&b);
}

static void bad_texts_are_named_and_placed(void **state) {
    (void)state;
#define H "graph t {\n  tier debug\n"
#define X "  %x = input \"x\" : f32[4]\n"
    static const struct { const char *text, *name; unsigned line, col; } cases[] = {
        {"", "graph/syntax", 1, 1},
        {"flow t {\n}\n", "graph/syntax", 1, 1},
        {"graph {\n}\n", "graph/syntax", 1, 7},
        {H "}\n", "graph/no-output", 4, 1},
        {"graph t {\n" X "  output \"y\" %x\n}\n", "canvas/tier-missing", 1, 1},
        {H X "  output \"y\" %x\n", "graph/syntax", 5, 1},
        {H X "  output \"y\" %x\n}\n}\n", "graph/syntax", 6, 1},
        {"graph t {\n  tier loose\n}\n", "graph/syntax", 2, 8},
        {"graph t {\n  guarantee none\n}\n", "graph/syntax", 2, 13},
        {"graph t {\n  seed 1.5\n}\n", "graph/syntax", 2, 8},
        {"graph t {\n  budget cpu_seconds -1\n}\n", "graph/syntax", 2, 22},
        {"graph t {\n  symbol n = 4\n  symbol n = 4\n}\n", "graph/name-twice", 3, 10},
        {"graph t {\n  tier debug\n  symbol n = 5\n  %x = input \"x\" : f32[n = 4]\n  output \"y\" %x\n}\n", "graph/symbol-conflict", 4, 20},
        {H X X "  output \"y\" %x\n}\n", "graph/name-twice", 4, 3},
        {H "  %x = input x : f32[4]\n  output \"y\" %x\n}\n", "graph/syntax", 3, 14},
        {H "  %x = input \"x\" : float[4]\n  output \"y\" %x\n}\n", "graph/type-bad", 3, 20},
        {H "  %x = input \"x\" : f32[1, 1, 1, 1, 1, 1, 1, 1, 1]\n  output \"y\" %x\n}\n", "graph/type-bad", 3, 20},
        {H "  %x = input \"x\" : f32[-1]\n  output \"y\" %x\n}\n", "graph/syntax", 3, 24},
        {H "  %x = input \"x\" : f32[4294967296, 4294967296]\n  output \"y\" %x\n}\n", "graph/type-bad", 3, 20},
        {H "  %x = input \"x\" : f32[n + 9 = 4]\n  output \"y\" %x\n}\n", "graph/type-bad", 3, 20},
        {H "  %x = constant [1, 2] : f32[3]\n  output \"y\" %x\n}\n", "graph/constant-bad", 3, 3},
        {H "  %x = constant [1, 300] : u8[2]\n  output \"y\" %x\n}\n", "graph/constant-bad", 3, 21},
        {H "  %x = constant 1.5 : i32[]\n  output \"y\" %x\n}\n", "graph/constant-bad", 3, 17},
        {H "  %x = constant 0 : f32[4294967296]\n  output \"y\" %x\n}\n", "graph/constant-bad", 3, 3},
        {H "  %x = constant [1, 2 : f32[2]\n  output \"y\" %x\n}\n", "graph/syntax", 3, 23},
        {H X "  %y = t/nothing %x\n  output \"y\" %y\n}\n", "graph/op-unknown", 4, 8},
        {H X "  %y = t/one %z\n  output \"y\" %y\n}\n", "graph/name-unknown", 4, 14},
        {H X "  %y = t/one %y\n  output \"y\" %y\n}\n", "graph/name-unknown", 4, 14},
        {H X "  %y = t/one %x : f32[5]\n  output \"y\" %y\n}\n", "graph/type-mismatch", 4, 19},
        {H X "  %y = t/one %x : f32[n = 4]\n  output \"y\" %y\n}\n", "graph/type-mismatch", 4, 19},
        {H X "  %y, %z = t/one %x\n  output \"y\" %y\n}\n", "graph/results", 4, 3},
        {H X "  %y = t/pair %x\n  output \"y\" %y\n}\n", "graph/results", 4, 3},
        {H X "  _ = t/one %x\n  output \"y\" %x\n}\n", "graph/results", 4, 3},
        {H X "  %y = t/one %x,\n  output \"y\" %y\n}\n", "graph/syntax", 4, 17},
        {H X "  %y = t/one %x @ \"y\"\n  output \"y\" %y\n}\n", "graph/syntax", 4, 19},
        {H X "  %y = t/one %x @ node \"\"\n  output \"y\" %y\n}\n", "graph/syntax", 4, 24},
        {H X "  output \"y\" %x\n  output \"y\" %x\n}\n", "graph/name-twice", 5, 10},
        {H X "  output \"y\" %x %x\n}\n", "graph/syntax", 4, 17},
        {H X "  %y = t/window %x w=4\n  output \"y\" %y\n}\n", "contract/parameter-range", 4, 3},
        {H X "  %y = t/window %x v=3\n  output \"y\" %y\n}\n", "contract/parameter-unknown", 4, 20},
        {H X "  %y = t/window %x\n  output \"y\" %y\n}\n", "contract/where-false", 4, 3},
    };
#undef H
#undef X
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        box b;
        gr_graph g;
        open_box(&b, test_catalog());
        assert_false(gr_graph_parse(&b.a, &b.d, GR_STR("bad.graph"), gr_str_of(cases[i].text), b.catalog, &g));
        const gr_diag *e = first_error(&b.d);
        assert_non_null(e);
        if (strcmp(gr_diag_text(e->name), cases[i].name) != 0 || e->place.line != cases[i].line || e->place.col != cases[i].col) {
            fprintf(stderr, "case %zu: ", i);
            golden_show(&b.d, gr_str_of(cases[i].text));
        }
        assert_string_equal(gr_diag_text(e->name), cases[i].name);
        assert_int_equal(e->place.line, cases[i].line);
        assert_int_equal(e->place.col, cases[i].col);
        assert_true(b.d.worst == GR_DIAG_USER);
        close_box(&b);
    }
}

static void damaged_texts_are_survived(void **state) {
    (void)state;
    gr_arena keep = {0};
    gr_catalog *c = test_catalog();
    gr_str text = golden_read(&keep, "tests/graph/every.graph");
    char *copy = gr_arena_strndup(&keep, text.p, text.n);
    static const char poison[] = "{}[]\"%,=@-0\n#_:\xff";
    for (size_t i = 0; i < text.n; i++) {
        gr_arena a = {0};
        gr_diags d;
        gr_graph g;
        gr_diags_init(&d);
        gr_graph_parse(&a, &d, GR_STR("cut"), (gr_str){text.p, i}, c, &g);
        copy[i] = poison[i % (sizeof poison - 1)];
        if (gr_graph_parse(&a, &d, GR_STR("changed"), (gr_str){copy, text.n}, c, &g)) gr_graph_verify(&d, &g);
        copy[i] = text.p[i];
        assert_true(d.worst != GR_DIAG_BUG);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    gr_catalog_free(c);
    gr_arena_free(&keep);
}

/* ---- generated graphs -------------------------------------------------------------- */

static gr_type random_type(gr_rng *r) {
    static const gr_dtype dtypes[] = {GR_DTYPE_F32, GR_DTYPE_F32, GR_DTYPE_F32, GR_DTYPE_I32, GR_DTYPE_BOOL, GR_DTYPE_F16, GR_DTYPE_U8, GR_DTYPE_I64};
    gr_type t = {.dtype = dtypes[gr_rng_below(r, 8)], .rank = gr_rng_below(r, 4)};
    for (uint32_t i = 0; i < t.rank; i++) t.dim[i].n = gr_rng_below(r, 5) ? 1 + gr_rng_below(r, 4) : 0;
    return t;
}

static double random_number(gr_rng *r) {
    static const double special[] = {0, -0.0, 1, -1, 0.1, 1e-40, 3.4e38, (double)INFINITY, -(double)INFINITY, (double)NAN, 16777217, 1e-8};
    return gr_rng_below(r, 2) ? special[gr_rng_below(r, 12)] : (gr_rng_f64(r) - 0.5) * 1000;
}

static bool add_source(box *b, gr_rng *r, gr_graph *g, uint32_t i) {
    static const char *const names[] = {"x", "very-long_name", "a.b", "7", "loop/0/state"};
    gr_str name = gr_str_of(names[gr_rng_below(r, 5)]);
    gr_type t = random_type(r);
    if (gr_rng_below(r, 3)) return gr_graph_add_input(&b->a, g, name, t, gr_rng_below(r, 4) ? GR_SOURCE_INPUT : GR_SOURCE_PARAMETER) != GR_NO_VALUE;
    uint64_t dims[GR_RANK_MAX], n;
    gr_array x;
    for (uint32_t k = 0; k < t.rank; k++) dims[k] = t.dim[k].n;
    assert_true(gr_array_new(&b->a, &b->d, t.dtype, dims, t.rank, &x));
    n = gr_array_count(&x);
    bool same = gr_rng_below(r, 2);
    for (uint64_t k = 0; k < n; k++) gr_array_set_f64(&x, k, same && k ? gr_array_get_f64(&x, 0) : random_number(r));
    (void)i;
    return gr_graph_add_constant(&b->a, g, name, x) != GR_NO_VALUE;
}

/* A parameter in words that the op may or may not like. */
static gr_value *random_param(box *b, gr_rng *r, const gr_sig_param *p) {
    switch (p->kind) {
    case GR_PARAM_U32: return gr_value_new_i64(&b->a, gr_rng_below(r, 4));
    case GR_PARAM_I32: return gr_value_new_i64(&b->a, (int64_t)gr_rng_below(r, 7) - 3);
    case GR_PARAM_F32: return gr_value_new_f64(&b->a, random_number(r));
    case GR_PARAM_BOOL: return gr_value_new_bool(&b->a, gr_rng_below(r, 2));
    case GR_PARAM_ENUM: return gr_value_new_str(&b->a, p->words[gr_rng_below(r, p->words_n)]);
    case GR_PARAM_DTYPE: return gr_value_new_str(&b->a, gr_str_of(gr_dtype_name((gr_dtype)(1 + gr_rng_below(r, GR_DTYPE_COUNT - 1)))));
    default: break;
    }
    gr_value *list = gr_value_new(&b->a, GR_V_ARRAY);
    for (uint32_t i = gr_rng_below(r, 4); i; i--) gr_value_push(&b->a, list, gr_value_new_i64(&b->a, gr_rng_below(r, 4)));
    return list;
}

/* Tries a call with random operands and parameters; many are refused, which is fine. */
static void try_node(box *b, gr_rng *r, gr_graph *g, uint32_t i) {
    const gr_op *op = gr_catalog_at(b->catalog, gr_rng_below(r, gr_catalog_count(b->catalog)));
    gr_value_id args[16];
    gr_arg params[16];
    uint32_t args_n = 0, params_n = 0;
    gr_value_id first = gr_rng_below(r, g->values_n);
    for (uint32_t p = 0; p < op->sig.operands_n; p++) {
        uint32_t n = op->sig.operands[p].variadic ? 1 + gr_rng_below(r, 3) : 1;
        for (uint32_t k = 0; k < n && args_n < 16; k++) {
            bool absent = op->sig.operands[p].optional && gr_rng_below(r, 2);
            args[args_n++] = absent ? GR_NO_VALUE : gr_rng_below(r, 3) ? first : gr_rng_below(r, g->values_n);
        }
    }
    for (uint32_t p = 0; p < op->sig.params_n && params_n < 16; p++)
        if (op->sig.params[p].required || gr_rng_below(r, 2)) params[params_n++] = (gr_arg){.name = op->sig.params[p].name, .value = random_param(b, r, &op->sig.params[p])};
    char node[24];
    snprintf(node, sizeof node, "node%u", gr_rng_below(r, 4) ? i : 0);
    gr_graph_add_node(&b->a, &b->d, g, op, args, args_n, params, params_n, gr_str_of(node), (gr_place){0}, NULL);
}

static void check_generated(gr_catalog *(*catalog)(void), uint64_t seeds, uint32_t nodes, uint32_t at_least) {
    uint32_t made = 0;
    box b;
    gr_catalog *c = catalog();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        open_box(&b, c);
        gr_rng r = gr_rng_seed(seed);
        gr_graph g = {.name = GR_STR("generated \"graph\""), .tier = (gr_tier)(1 + gr_rng_below(&r, 3)), .tolerance = (gr_tolerance)gr_rng_below(&r, 5),
                      .guarantee = (gr_guarantee)gr_rng_below(&r, 4), .seed = seed << 40, .budget_gpu = gr_rng_below(&r, 9) << 10};
        for (uint32_t i = 0; i < 6; i++) assert_true(add_source(&b, &r, &g, i));
        for (uint32_t i = 0; i < nodes; i++) try_node(&b, &r, &g, i);
        for (uint32_t i = 0; i < 3; i++) {
            char name[16];
            snprintf(name, sizeof name, "out %u", i);
            assert_true(gr_graph_add_output(&b.a, &g, gr_str_of(name), gr_rng_below(&r, g.values_n)));
        }
        assert_true(b.d.worst != GR_DIAG_BUG && !b.d.out_of_memory);
        made += g.nodes_n;
        gr_diags_clear(&b.d);
        bool ok = gr_graph_verify(&b.d, &g);
        golden_show(&b.d, (gr_str){0});
        assert_true(ok);
        check_round_trip(&b, &g);
        gr_graph common, dead;
        assert_true(gr_graph_opt_common(&b.a, &b.d, &g, &common) && gr_graph_verify(&b.d, &common));
        assert_true(gr_graph_opt_dead(&b.a, &b.d, &common, &dead) && gr_graph_verify(&b.d, &dead));
        check_round_trip(&b, &dead);
        b.catalog = NULL;
        close_box(&b);
    }
    gr_catalog_free(c);
    if (made < at_least) fprintf(stderr, "only %u nodes were made\n", made);
    assert_true(made >= at_least);
}

static void generated_graphs_round_trip(void **state) {
    (void)state;
    check_generated(test_catalog, 150, 30, 1000);
}

static void generated_graphs_of_the_catalog_round_trip(void **state) {
    (void)state;
    check_generated(real_catalog, 100, 40, 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_read),
        cmocka_unit_test(types_and_names_may_be_left_out), cmocka_unit_test(streamed_inputs),
        cmocka_unit_test(bad_texts_are_named_and_placed),
        cmocka_unit_test(damaged_texts_are_survived),
        cmocka_unit_test(generated_graphs_round_trip),
        cmocka_unit_test(generated_graphs_of_the_catalog_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
