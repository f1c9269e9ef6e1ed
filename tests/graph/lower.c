/* Flow to graph: types, symbols, control flow; goldens of the examples; speed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "graph/kit.h"

static bool lower_text(box *b, gr_str name, gr_str text, const gr_input_type *in, uint32_t n, gr_graph *out) {
    gr_canvas c;
    gr_flow f;
    return gr_canvas_parse(&b->a, &b->d, name, text, &c) && gr_canvas_lower(&b->a, &b->d, &c, b->catalog, &f) &&
           gr_flow_verify(&b->d, &f) && gr_flow_lower(&b->a, &b->d, &f, b->catalog, in, n, out);
}

static bool lower(box *b, const char *nodes, const char *links, const gr_input_type *in, uint32_t n, gr_graph *out) {
    char *text = gr_arena_printf(&b->a, "{ \"gradus\": \"canvas/1\", \"tier\": \"debug\", \"name\": \"t\", \"nodes\": [ %s ], \"links\": [ %s ] }", nodes, links);
    return lower_text(b, GR_STR("t.json"), gr_str_of(text), in, n, out);
}

static void check_golden(box *b, const char *path, const gr_graph *g) {
    gr_buf out = {0};
    assert_true(gr_graph_verify(&b->d, g));
    gr_graph_print(&out, g);
    golden_check(path, gr_buf_view(&out));
    gr_buf_free(&out);
    check_round_trip(b, g);
}

static void examples_have_goldens(void **state) {
    (void)state;
    const uint64_t samples[1] = {108000}, xs[2] = {16, 4}, ws[2] = {4, 3};
    const gr_input_type despike[1] = {{.node = GR_STR("ecg"), .type = type_of(GR_DTYPE_F32, 1, samples)}};
    const gr_input_type center[2] = {{.node = GR_STR("x"), .type = type_of(GR_DTYPE_F32, 2, xs)}, {.node = GR_STR("w"), .type = type_of(GR_DTYPE_F32, 2, ws)}};
    for (int i = 0; i < 2; i++) {
        box b;
        gr_graph g, expanded, common, dead;
        open_box(&b, real_catalog());
        const char *document = i ? "examples/center.json" : "examples/despike.json";
        bool ok = lower_text(&b, gr_str_of(document), golden_read(&b.a, document), i ? center : despike, i ? 2 : 1, &g);
        golden_show(&b.d, (gr_str){0});
        assert_true(ok);
        check_golden(&b, i ? "tests/graph/center.graph" : "tests/graph/despike.graph", &g);
        assert_true(gr_graph_opt_expand(&b.a, &b.d, &g, b.catalog, true, NULL, NULL, &expanded));
        assert_true(gr_graph_opt_common(&b.a, &b.d, &expanded, &common) && gr_graph_opt_dead(&b.a, &b.d, &common, &dead));
        check_golden(&b, i ? "tests/graph/center-expanded.graph" : "tests/graph/despike-expanded.graph", &dead);
        close_box(&b);
    }
}

static void every_block_is_lowered(void **state) {
    (void)state;
    box b;
    gr_graph g;
    const uint64_t n[1] = {9};
    const gr_input_type in[1] = {{.node = GR_STR("ecg"), .type = type_of(GR_DTYPE_F32, 1, n)}};
    open_box(&b, test_catalog());
    bool ok = lower_text(&b, GR_STR("every.json"), golden_read(&b.a, "tests/flow/every.json"), in, 1, &g);
    golden_show(&b.d, (gr_str){0});
    assert_true(ok);
    check_golden(&b, "tests/graph/lowered.graph", &g);
    close_box(&b);
}

/* ---- errors ----------------------------------------------------------------------- */

typedef struct bad { const char *nodes, *links; gr_input_type in[2]; uint32_t in_n; const char *name, *pointer, *word; } bad;

static void check_bad(const bad *x, size_t i) {
    box b;
    gr_graph g;
    gr_buf t = {0};
    open_box(&b, test_catalog());
    assert_false(lower(&b, x->nodes, x->links, x->in, x->in_n, &g));
    const gr_diag *e = first_error(&b.d);
    assert_non_null(e);
    gr_diag_print(&t, e, (gr_str){0});
    if (strcmp(gr_diag_text(e->name), x->name) != 0 || !gr_str_eqz(e->place.pointer, x->pointer) || !strstr(t.p, x->word)) fprintf(stderr, "case %zu: %s", i, t.p);
    assert_string_equal(gr_diag_text(e->name), x->name);
    assert_true(gr_str_eqz(e->place.pointer, x->pointer));
    assert_non_null(strstr(t.p, x->word));
    assert_int_equal(b.d.worst, GR_DIAG_USER);
    assert_int_equal(b.d.errors, 1); /* what depends on the failed step is not complained about */
    gr_buf_free(&t);
    close_box(&b);
}

static void errors_are_named_and_placed(void **state) {
    (void)state;
    const uint64_t four[1] = {4}, five[1] = {5}, grid[2] = {4, 5};
    const gr_type f4 = type_of(GR_DTYPE_F32, 1, four), f5 = type_of(GR_DTYPE_F32, 1, five), f45 = type_of(GR_DTYPE_F32, 2, grid), i4 = type_of(GR_DTYPE_I32, 1, four);
#define X(shape) "{\"id\":\"x\",\"block\":\"input\",\"dtype\":\"f32\",\"shape\":" shape "}"
#define Z(shape) ",{\"id\":\"z\",\"block\":\"input\",\"dtype\":\"f32\",\"shape\":" shape "}"
#define Y ",{\"id\":\"y\",\"block\":\"output\"}"
#define XY "{\"from\":\"x\",\"to\":\"y\"}"
#define BODY "{\"nodes\":[{\"id\":\"a\",\"block\":\"input\"},{\"id\":\"o\",\"block\":\"output\"}],\"links\":[{\"from\":\"a\",\"to\":\"o\"}]}"
    const bad cases[] = {
        {X("[\"n\"]") Z("[\"n\"]") Y, XY, {{.node = GR_STR("x"), .type = f4}, {.node = GR_STR("z"), .type = f5}}, 2, "graph/symbol-conflict", "/nodes/1", "n is 4"},
        {X("[\"n\",\"n\"]") Y, XY, {{.node = GR_STR("x"), .type = f45}}, 1, "graph/symbol-conflict", "/nodes/0", "dimension 1 of \"x\" is 5"},
        {X("[\"n\"]") Y, XY, {{.on_disk = false}}, 0, "graph/symbol-unbound", "/nodes/0", "\"n\""},
        {"{\"id\":\"x\",\"block\":\"input\",\"dtype\":\"f32\"}" Y, XY, {{.on_disk = false}}, 0, "graph/input-untyped", "/nodes/0", "no shape"},
        {"{\"id\":\"x\",\"block\":\"input\"}" Y, XY, {{.on_disk = false}}, 0, "graph/input-untyped", "/nodes/0", "no dtype"},
        {X("[\"n\"]") Y, XY, {{.node = GR_STR("x"), .type = i4}}, 1, "graph/input-mismatch", "/nodes/0", "i32[4]"},
        {X("[5]") Y, XY, {{.node = GR_STR("x"), .type = f4}}, 1, "graph/input-mismatch", "/nodes/0", "f32[4]"},
        {X("[]") Y, XY, {{.node = GR_STR("x"), .type = f4}}, 1, "graph/input-mismatch", "/nodes/0", "number of dimensions"},
        {X("[4]") ",{\"id\":\"m\",\"op\":\"t/window\"},{\"id\":\"k\",\"op\":\"t/one\"}" Y, "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"m\",\"to\":\"k\"},{\"from\":\"k\",\"to\":\"y\"}", {{.on_disk = false}}, 0, "contract/where-false", "/nodes/1", "node m -> op t/window@1"},
        {X("[4]") ",{\"id\":\"m\",\"op\":\"t/window\",\"params\":{\"v\":3}}" Y, "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"m\",\"to\":\"y\"}", {{.on_disk = false}}, 0, "contract/parameter-unknown", "/nodes/1/params/v", "its parameters are: w"},
        {X("[4]") ",{\"id\":\"m\",\"op\":\"t/cut\",\"params\":{\"splits\":[2,2]}}" Y, "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"m.ys.2\",\"to\":\"y\"}", {{.on_disk = false}}, 0, "graph/output-index", "/nodes/1", "gives 2 tensors"},
        {X("[4]") ",{\"id\":\"q\",\"block\":\"input\",\"dtype\":\"bool\",\"shape\":[]},{\"id\":\"b\",\"block\":\"branch\",\"condition\":\"q\",\"then\":" BODY ",\"else\":" BODY "}" Y, "{\"from\":\"x\",\"to\":\"b\"},{\"from\":\"b\",\"to\":\"y\"}", {{.on_disk = false}}, 0, "flow/branch-not-static", "/nodes/2", "make it a constant"},
        {X("[4]") ",{\"id\":\"b\",\"block\":\"branch\",\"condition\":\"x\",\"then\":" BODY ",\"else\":" BODY "}" Y, "{\"from\":\"x\",\"to\":\"b\"},{\"from\":\"b\",\"to\":\"y\"}", {{.on_disk = false}}, 0, "flow/branch-not-bool", "/nodes/1", "no single boolean"},
        {X("[4]") ",{\"id\":\"r\",\"block\":\"repeat\",\"count\":1000000,\"carry\":{\"o\":\"a\"},\"body\":{\"nodes\":[{\"id\":\"a\",\"block\":\"input\"},{\"id\":\"s\",\"block\":\"repeat\",\"count\":1000000,\"carry\":{\"o\":\"a\"},\"body\":" BODY "},{\"id\":\"o\",\"block\":\"output\"}],\"links\":[{\"from\":\"a\",\"to\":\"s\"},{\"from\":\"s\",\"to\":\"o\"}]}}" Y, "{\"from\":\"x\",\"to\":\"r\"},{\"from\":\"r\",\"to\":\"y\"}", {{.on_disk = false}}, 0, "graph/too-large", "/nodes/1/body/nodes/1/body/nodes/0", "repeat fewer times"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_bad(&cases[i], i);
}

/* ---- control flow ------------------------------------------------------------------- */

static void repeats_are_unrolled(void **state) {
    (void)state;
    box b;
    gr_graph g;
    open_box(&b, test_catalog());
    const char *body = "{\"nodes\":[{\"id\":\"a\",\"block\":\"input\"},{\"id\":\"k\",\"block\":\"input\"},{\"id\":\"s\",\"op\":\"t/add@1\"},{\"id\":\"o\",\"block\":\"output\"}],"
                       "\"links\":[{\"from\":\"a\",\"to\":\"s.a\"},{\"from\":\"k\",\"to\":\"s.b\"},{\"from\":\"s\",\"to\":\"o\"}]}";
    char *nodes = gr_arena_printf(&b.a, X("[4]") Z("[4]") ",{\"id\":\"r\",\"block\":\"repeat\",\"count\":3,\"carry\":{\"o\":\"a\"},\"body\":%s},"
                                  "{\"id\":\"q\",\"block\":\"repeat\",\"count\":0,\"carry\":{\"o\":\"k\"},\"body\":%s}" Y, body, body);
    bool ok = lower(&b, nodes, "{\"from\":\"x\",\"to\":\"r.a\"},{\"from\":\"z\",\"to\":\"r.k\"},{\"from\":\"x\",\"to\":\"q.a\"},{\"from\":\"r\",\"to\":\"q.k\"},{\"from\":\"q\",\"to\":\"y\"}", NULL, 0, &g);
    golden_show(&b.d, (gr_str){0});
    assert_true(ok);
    check_lines(&g,
                "  %x = input \"x\" : f32[4]\n"
                "  %z = input \"z\" : f32[4]\n"
                "  %r/0/s = t/add@1 %x, %z : f32[4] @ node \"r/0/s\"\n"
                "  %r/1/s = t/add@1 %r/0/s, %z : f32[4] @ node \"r/1/s\"\n"
                "  %r/2/s = t/add@1 %r/1/s, %z : f32[4] @ node \"r/2/s\"\n"
                "  output \"y\" %r/2/s\n");
    close_box(&b);
}

static void declared_symbols_take_the_size_of_data(void **state) {
    (void)state;
    box b;
    gr_graph g;
    const uint64_t nine[1] = {9};
    const gr_input_type in[1] = {{.node = GR_STR("z"), .type = type_of(GR_DTYPE_F32, 1, nine)}};
    open_box(&b, test_catalog());
    assert_true(lower(&b, X("[2, \"n\"]") Z("[\"n\"]") ",{\"id\":\"m\",\"op\":\"t/window\"},{\"id\":\"m2\",\"op\":\"t/window\"}" Y,
                      "{\"from\":\"z\",\"to\":\"m\"},{\"from\":\"m\",\"to\":\"m2\"},{\"from\":\"x\",\"to\":\"y\"}", in, 1, &g) == false);
    assert_true(gr_diags_has(&b.d, GR_D_CONTRACT_WHERE_FALSE)); /* 9 - 6 is 3, less than 7 */
    gr_diags_clear(&b.d);
    assert_true(lower(&b, X("[2, \"n\"]") Z("[\"n\"]") ",{\"id\":\"m\",\"op\":\"t/window\"}" Y, "{\"from\":\"z\",\"to\":\"m\"},{\"from\":\"x\",\"to\":\"y\"}", in, 1, &g));
    check_lines(&g,
                "  %x = input \"x\" : f32[2, n = 9]\n"
                "  %z = input \"z\" : f32[n = 9]\n"
                "  %m = t/window@1 %z : f32[n - 6 = 3] @ node \"m\"\n"
                "  output \"y\" %x\n");
    close_box(&b);
}

/* ---- limits --------------------------------------------------------------------------- */

static void ten_thousand_nodes_take_less_than_a_second(void **state) {
    (void)state;
    box b;
    gr_graph g, expanded, common, dead;
    gr_buf t = {0}, out = {0};
    open_box(&b, test_catalog());
    gr_buf_puts(&t, "{\"gradus\":\"canvas/1\",\"tier\":\"debug\",\"nodes\":[{\"id\":\"x\",\"block\":\"input\",\"dtype\":\"f32\",\"shape\":[4]}");
    for (int i = 0; i < 10000; i++) gr_buf_printf(&t, ",{\"id\":\"n%d\",\"op\":\"%s\"}", i, i % 3 ? "t/add@1" : "t/twice");
    gr_buf_puts(&t, ",{\"id\":\"y\",\"block\":\"output\"}],\"links\":[{\"from\":\"n9999\",\"to\":\"y\"}");
    for (int i = 0; i < 10000; i++) {
        char before[16], first[16];
        snprintf(before, sizeof before, i ? "n%d" : "x", i - 1);
        snprintf(first, sizeof first, i > 7 ? "n%d" : "x", i / 2);
        if (i % 3) gr_buf_printf(&t, ",{\"from\":\"%s\",\"to\":\"n%d.a\"},{\"from\":\"%s\",\"to\":\"n%d.b\"}", before, i, first, i);
        else gr_buf_printf(&t, ",{\"from\":\"%s\",\"to\":\"n%d\"}", before, i);
    }
    gr_buf_puts(&t, "]}");
    double start = gr_clock_seconds();
    bool ok = lower_text(&b, GR_STR("big.json"), gr_buf_view(&t), NULL, 0, &g);
    golden_show(&b.d, (gr_str){0});
    assert_true(ok && gr_graph_verify(&b.d, &g));
    assert_true(gr_graph_opt_expand(&b.a, &b.d, &g, b.catalog, false, NULL, NULL, &expanded));
    assert_true(gr_graph_opt_common(&b.a, &b.d, &expanded, &common) && gr_graph_opt_dead(&b.a, &b.d, &common, &dead));
    assert_true(gr_graph_verify(&b.d, &dead));
    gr_graph_print(&out, &dead);
    double took = gr_clock_seconds() - start;
    printf("10,000 nodes: %.0f ms from document to printed graph\n", took * 1e3);
    assert_int_equal(dead.nodes_n, 10000);
    assert_true(took < 5); /* a second is the goal; sanitizers and busy machines are slower */
    gr_buf_free(&out);
    gr_buf_free(&t);
    close_box(&b);
}

static void failing_memory_is_reported(void **state) {
    (void)state;
    gr_arena keep = {0};
    gr_catalog *c = test_catalog();
    gr_str text = golden_read(&keep, "tests/flow/every.json");
    const uint64_t nine[1] = {9};
    const gr_input_type in[1] = {{.node = GR_STR("ecg"), .type = type_of(GR_DTYPE_F32, 1, nine)}};
    bool done = false;
    for (uint64_t n = 1; !done && n < 20000; n++) {
        box b;
        gr_graph g, expanded, common, dead, again;
        gr_buf out = {0};
        open_box(&b, c);
        gr_heap_fail_nth(n);
        uint64_t before = gr_heap_count();
        bool ok = lower_text(&b, GR_STR("every.json"), text, in, 1, &g) && gr_graph_verify(&b.d, &g) &&
                  gr_graph_opt_expand(&b.a, &b.d, &g, c, true, NULL, NULL, &expanded) && gr_graph_opt_common(&b.a, &b.d, &expanded, &common) &&
                  gr_graph_opt_dead(&b.a, &b.d, &common, &dead) && gr_graph_verify(&b.d, &dead);
        if (ok) gr_graph_print(&out, &dead);
        ok = ok && !out.failed && gr_graph_parse(&b.a, &b.d, GR_STR("again"), gr_buf_view(&out), c, &again);
        done = gr_heap_count() - before < n;
        gr_heap_fail_nth(0);
        if (done) assert_true(ok);
        else if (!ok) assert_true(b.d.out_of_memory || b.d.errors || out.failed);
        assert_true(b.d.worst != GR_DIAG_BUG);
        gr_buf_free(&out);
        b.catalog = NULL;
        close_box(&b);
    }
    assert_true(done);
    gr_catalog_free(c);
    gr_arena_free(&keep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_have_goldens),
        cmocka_unit_test(every_block_is_lowered),
        cmocka_unit_test(errors_are_named_and_placed),
        cmocka_unit_test(repeats_are_unrolled),
        cmocka_unit_test(declared_symbols_take_the_size_of_data),
        cmocka_unit_test(ten_thousand_nodes_take_less_than_a_second),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
