/* Builder, verifier and the three rewrites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/kit.h"

static void builder_infers_and_names(void **state) {
    (void)state;
    box b;
    gr_graph g = {.name = GR_STR("t"), .tier = GR_TIER_DEBUG};
    const uint64_t nine[1] = {9};
    gr_value_id two[2], y;
    open_box(&b, test_catalog());
    gr_value_id x = gr_graph_add_input(&b.a, &g, GR_STR("x"), type_of(GR_DTYPE_F32, 1, nine), GR_SOURCE_INPUT);
    gr_value_id args[2] = {x, GR_NO_VALUE};
    for (int i = 0; i < 3; i++) assert_true(gr_graph_add_node(&b.a, &b.d, &g, gr_catalog_find(b.catalog, GR_STR("t/pair")), args, (uint32_t)(i % 2 ? 1 : 2), NULL, 0, GR_STR("p"), (gr_place){0}, two));
    gr_value *w = gr_value_new_i64(&b.a, 3);
    gr_arg param = {.name = GR_STR("w"), .value = w};
    assert_true(gr_graph_add_node(&b.a, &b.d, &g, gr_catalog_find(b.catalog, GR_STR("t/window")), &two[0], 1, &param, 1, GR_STR("x"), (gr_place){0}, &y));
    assert_true(gr_graph_add_output(&b.a, &g, GR_STR("y"), y));
    assert_true(gr_graph_verify(&b.d, &g));
    check_lines(&g,
                "  %x = input \"x\" : f32[9]\n"
                "  %p.values, %p.places = t/pair@1 %x, _ : f32[9], i32[9] @ node \"p\"\n"
                "  %p.values~2, %p.places~2 = t/pair@1 %x, _ : f32[9], i32[9] @ node \"p\"\n"
                "  %p.values~3, %p.places~3 = t/pair@1 %x, _ : f32[9], i32[9] @ node \"p\"\n"
                "  %x~2 = t/window@1 %p.values~3 w=3 : f32[7] @ node \"x\"\n"
                "  output \"y\" %x~2\n");
    uint32_t nodes = g.nodes_n, values = g.values_n;
    assert_false(gr_graph_add_node(&b.a, &b.d, &g, gr_catalog_find(b.catalog, GR_STR("t/add")), &x, 1, NULL, 0, GR_STR("z"), (gr_place){0}, &y));
    assert_true(gr_diags_has(&b.d, GR_D_CONTRACT_OPERAND_COUNT));
    assert_true(g.nodes_n == nodes && g.values_n == values);
    close_box(&b);
}

static void dead_nodes_go(void **state) {
    (void)state;
    box b;
    gr_graph g, out;
    open_box(&b, test_catalog());
    read_graph(&b,
               "  %x = input \"x\" : f32[4]\n  %unused = parameter \"unused\" : f32[4]\n  %one = constant 1 : f32[]\n  %two = constant 2 : f32[]\n"
               "  %a = t/add@1 %x, %one\n  %b = t/add@1 %x, %two\n  %c = t/one %b\n  %v, %p = t/pair %a\n  output \"y\" %p\n",
               &g);
    assert_true(gr_graph_opt_dead(&b.a, &b.d, &g, &out) && gr_graph_verify(&b.d, &out));
    check_lines(&out,
                "  %x = input \"x\" : f32[4]\n  %unused = parameter \"unused\" : f32[4]\n  %one = constant 1 : f32[]\n"
                "  %a = t/add@1 %x, %one : f32[4] @ node \"a\"\n  %v, %p = t/pair@1 %a, _ : f32[4], i32[4] @ node \"v\"\n  output \"y\" %p\n");
    close_box(&b);
}

static void equal_calls_become_one(void **state) {
    (void)state;
    box b;
    gr_graph g, out, again;
    open_box(&b, test_catalog());
    read_graph(&b,
               "  %x = input \"x\" : f32[9]\n  %c = constant 1 : f32[]\n  %d = constant 1 : f32[]\n  %e = constant -1 : f32[]\n  %i = constant 1 : i32[]\n"
               "  %a = t/add@1 %x, %c\n  %b = t/add@1 %x, %d\n  %n = t/add@1 %x, %e\n  %f = t/window %a w=3\n  %g = t/window %b w=3 @ node \"g\", \"gg\"\n  %h = t/window %b w=5\n"
               "  %k = t/window %b w=7\n  %l = t/window %a\n  output \"f\" %f\n  output \"g\" %g\n  output \"h\" %h\n  output \"n\" %n\n  output \"k\" %k\n  output \"l\" %l\n  output \"i\" %i\n",
               &g);
    assert_true(gr_graph_opt_common(&b.a, &b.d, &g, &out) && gr_graph_verify(&b.d, &out));
    static const char want[] =
        "  %x = input \"x\" : f32[9]\n  %c = constant 1 : f32[]\n  %e = constant -1 : f32[]\n  %i = constant 1 : i32[]\n"
        "  %a = t/add@1 %x, %c : f32[9] @ node \"a\", \"b\"\n"
        "  %n = t/add@1 %x, %e : f32[9] @ node \"n\"\n"
        "  %f = t/window@1 %a w=3 : f32[7] @ node \"f\", \"g\", \"gg\"\n"
        "  %h = t/window@1 %a w=5 : f32[5] @ node \"h\"\n"
        "  %k = t/window@1 %a w=7 : f32[3] @ node \"k\", \"l\"\n"
        "  output \"f\" %f\n  output \"g\" %f\n  output \"h\" %h\n  output \"n\" %n\n  output \"k\" %k\n  output \"l\" %k\n  output \"i\" %i\n";
    check_lines(&out, want);
    assert_true(gr_graph_opt_common(&b.a, &b.d, &out, &again));
    check_lines(&again, want);
    check_round_trip(&b, &out);
    close_box(&b);
}

static void bodies_are_expanded(void **state) {
    (void)state;
    box b;
    gr_graph g, out;
    open_box(&b, test_catalog());
    read_graph(&b,
               "  %x = input \"x\" : f32[n = 8]\n  %mean/sum = t/one %x\n  %mean = t/mean %x\n  %both = t/joined %x, %x, %mean/sum\n  %tail = t/one %mean\n"
               "  output \"y\" %tail\n  output \"both\" %both\n  output \"mean\" %mean\n",
               &g);
    assert_true(gr_graph_opt_expand(&b.a, &b.d, &g, b.catalog, true, NULL, NULL, &out) && gr_graph_verify(&b.d, &out));
    check_lines(&out,
                "  %x = input \"x\" : f32[n = 8]\n"
                "  %mean/n = constant 8 : f32[]\n"
                "  %mean/sum = t/one@1 %x : f32[n = 8] @ node \"mean/sum\"\n"
                "  %mean/sum~2 = t/sum@1 %x axes=[0] : f32[] @ node \"mean/1\"\n"
                "  %mean/d = t/add@2 %mean/n, %mean/n : f32[] @ node \"mean/3/1\"\n"
                "  %mean = t/add@2 %mean/sum~2, %mean/d : f32[] @ node \"mean/4\"\n"
                "  %both = t/join@1 %x, %x, %mean/sum axis=0 : f32[24] @ node \"both/1\"\n"
                "  %tail = t/one@1 %mean : f32[] @ node \"tail\"\n"
                "  output \"y\" %tail\n  output \"both\" %both\n  output \"mean\" %mean\n");
    check_round_trip(&b, &out);
    close_box(&b);
}

static bool first_is_usable(void *user, const gr_graph *g, uint32_t node) {
    (void)user;
    return gr_str_eqz(g->nodes[node].node, "a");
}

static void usable_calls_stay(void **state) {
    (void)state;
    box b;
    gr_graph g, out;
    open_box(&b, test_catalog());
    read_graph(&b, "  %x = input \"x\" : f32[4]\n  %a = t/twice %x\n  %b = t/twice %a\n  output \"y\" %b\n", &g);
    assert_true(gr_graph_opt_expand(&b.a, &b.d, &g, b.catalog, false, first_is_usable, NULL, &out) && gr_graph_verify(&b.d, &out));
    check_lines(&out, "  %x = input \"x\" : f32[4]\n  %a = t/twice@1 %x : f32[4] @ node \"a\"\n  %b = t/add@2 %a, %a : f32[4] @ node \"b/1\"\n  output \"y\" %b\n");
    /* The old graph is as it was. */
    check_lines(&g, "  %x = input \"x\" : f32[4]\n  %a = t/twice@1 %x : f32[4] @ node \"a\"\n  %b = t/twice@1 %a : f32[4] @ node \"b\"\n  output \"y\" %b\n");
    close_box(&b);
}

/* Lines whose condition is false are not there; of two that define one name, one holds. */
static void conditions_choose_lines(void **state) {
    (void)state;
    box b;
    gr_graph g, out;
    open_box(&b, test_catalog());
    read_graph(&b, "  %x = input \"x\" : f32[4]\n  %a = t/perhaps %x\n  %b = t/perhaps %a, %x twice=true\n  %c = t/both %b\n  output \"y\" %c\n", &g);
    assert_true(gr_graph_opt_expand(&b.a, &b.d, &g, b.catalog, true, NULL, NULL, &out) && gr_graph_verify(&b.d, &out));
    check_lines(&out, "  %x = input \"x\" : f32[4]\n  %b/two = constant 2 : f32[]\n"
                      "  %a/a = t/one@1 %x : f32[4] @ node \"a/3\"\n  %a = t/one@1 %a/a : f32[4] @ node \"a/5\"\n"
                      "  %b/a = t/add@2 %a, %b/two : f32[4] @ node \"b/2\"\n  %b = t/add@2 %b/a, %x : f32[4] @ node \"b/4\"\n"
                      "  %c = t/one@1 %b : f32[4] @ node \"c/1\"\n  output \"y\" %c\n");
    close_box(&b);
}

static void bad_bodies_are_named(void **state) {
    (void)state;
    static const struct { const char *op; gr_diag_name name; } cases[] = {{"t/again %x", GR_D_GRAPH_EXPAND_DEPTH},
                                                                             {"t/wrong %x", GR_D_GRAPH_BODY_TYPE},
                                                                             {"t/both %x k=2", GR_D_GRAPH_BODY_TYPE},  /* both lines hold */
                                                                             {"t/both %x k=0", GR_D_GRAPH_BODY_TYPE}}; /* none does */
    for (int i = 0; i < 4; i++) {
        box b;
        gr_graph g, out;
        open_box(&b, test_catalog());
        read_graph(&b, gr_arena_printf(&b.a, "  %%x = input \"x\" : f32[4]\n  %%a = %s\n  output \"y\" %%a\n", cases[i].op), &g);
        assert_false(gr_graph_opt_expand(&b.a, &b.d, &g, b.catalog, true, NULL, NULL, &out));
        assert_true(gr_diags_has(&b.d, cases[i].name));
        assert_int_equal(b.d.worst, GR_DIAG_USER);
        close_box(&b);
    }
}

/* A planted breach of every invariant is found, with its number. */
static void verifier_finds_planted_faults(void **state) {
    (void)state;
    static const char *const want[] = {"G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G3", "G10"};
    for (size_t fault = 0; fault < sizeof want / sizeof *want; fault++) {
        box b;
        gr_graph g;
        open_box(&b, test_catalog());
        read_graph(&b, "  %x = input \"x\" : f32[n = 4]\n  %c = constant [1, 2, 3, 4] : f32[4]\n  %a = t/add@1 %x, %c\n  %b = t/one %a\n  output \"y\" %b\n  output \"z\" %a\n", &g);
        switch (fault) {
        case 0: g.nodes[0].args[0] = g.nodes[1].results[0]; break;
        case 1: g.values[1].name = g.values[0].name; break;
        case 2: g.values[2].source = GR_SOURCE_NONE; break;
        case 3: g.nodes[1].args[0] = GR_NO_VALUE; break;
        case 4: g.nodes[1].call.outputs[0].dim[0].n = 5; break;
        case 5: g.nodes[1].node = (gr_str){0}; break;
        case 6: g.values[0].type.dtype = GR_DTYPE_NONE; break;
        case 7: g.values[0].type.dim[0].add = 1; break;
        case 8: g.values[1].constant.bytes = 3; break;
        case 9: g.outputs[0].value = 99; break;
        case 10: g.values[3].node = 0; break;
        default: g.outputs[1].name = g.outputs[0].name; break;
        }
        assert_false(gr_graph_verify(&b.d, &g));
        bool found = false;
        char *text = gr_arena_printf(&b.a, "invariant %s ", want[fault]);
        for (uint32_t i = 0; i < b.d.list.n; i++) found = found || gr_str_starts(b.d.list.v[i].trail, text);
        if (!found) golden_show(&b.d, (gr_str){0});
        assert_true(found);
        close_box(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_infers_and_names),
        cmocka_unit_test(dead_nodes_go),
        cmocka_unit_test(equal_calls_become_one),
        cmocka_unit_test(bodies_are_expanded),
        cmocka_unit_test(conditions_choose_lines),
        cmocka_unit_test(usable_calls_stay),
        cmocka_unit_test(bad_bodies_are_named),
        cmocka_unit_test(verifier_finds_planted_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
