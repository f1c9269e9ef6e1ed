/* The gradient of a graph: what is appended, for which values, and what is refused. Numbers are checked in
 * tests/run/gradient.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/kit.h"

#include <time.h>

static gr_value_id value(const gr_graph *g, const char *name) {
    for (gr_value_id v = 0; v < g->values_n; v++)
        if (gr_str_eqz(g->values[v].name, name)) return v;
    fail_msg("no value %s", name);
    return GR_NO_VALUE;
}

/* Gradient of `loss` (its cotangent named, or NULL for ones) by the values named in `wrt`, a list with blanks. */
static bool gradient(box *b, const gr_graph *g, const char *loss, const char *cotangent, const char *wrt, gr_graph *out) {
    gr_gradient_seed seed = {value(g, loss), cotangent ? value(g, cotangent) : GR_NO_VALUE};
    gr_value_id ids[16], made[16];
    uint32_t n = 0;
    char names[256], *rest = names;
    snprintf(names, sizeof names, "%s", wrt);
    char *word[16];
    for (char *w; (w = strtok_r(rest, " ", &rest)) && n < 16; n++) ids[n] = value(g, word[n] = w);
    if (!gr_graph_opt_gradient(&b->a, &b->d, g, b->catalog, &seed, 1, ids, n, out, made)) return false;
    for (uint32_t i = 0; i < n; i++) {
        assert_true(made[i] < out->values_n);
        assert_true(gr_type_equal(&out->values[made[i]].type, &g->values[ids[i]].type));
        char *name = gr_arena_printf(&b->a, "d_%s", word[i]);
        assert_true(gr_graph_add_output(&b->a, out, gr_str_of(name), made[i]));
    }
    for (gr_value_id v = 0; v < g->values_n; v++) assert_true(gr_str_eq(g->values[v].name, out->values[v].name)); /* ids stay */
    for (uint32_t i = 0; i < g->nodes_n; i++) assert_ptr_equal(g->nodes[i].args, out->nodes[i].args);
    return gr_graph_verify(&b->d, out);
}

static void check_golden(box *b, const char *path, const gr_graph *g) {
    gr_buf out = {0};
    gr_graph_print(&out, g);
    golden_check(path, gr_buf_view(&out));
    gr_buf_free(&out);
    check_round_trip(b, g);
}

/* An op from its signature, body and backward. */
static void add_op(box *b, const char *id, const char *signature, const char *category, const char *body, const char *backward) {
    char *toml = gr_arena_printf(&b->a, "signature = \"%s\"\ncategory = \"%s\"\ntolerance = \"default\"\nsummary = \"A test.\"\n[body]\n%s\n[backward]\n%s\n", signature, category, body, backward);
    gr_str name = GR_STR("op.toml"), text = gr_str_of(toml);
    const gr_op *op = gr_catalog_add(b->catalog, &b->d, gr_str_of(id), &name, &text, 1);
    golden_show(&b->d, text);
    assert_non_null(op);
}

/* Each: a forward in graph text, its loss, its parameters, and a file that holds the whole. */
static void goldens(void **state) {
    (void)state;
    static const struct { const char *path, *lines, *loss, *cotangent, *wrt; } all[] = {
        {"tests/graph/grad-matmul.graph",
         "  %x = input \"x\" : f32[N = 16, D = 4]\n  %w = parameter \"w\" : f32[D = 4, K = 3]\n"
         "  %mean = reduce_mean %x axes=[0] keep_dimensions=true\n  %center = sub %x, %mean\n  %y = matmul %center, %w\n"
         "  %square = mul %y, %y\n  %loss = reduce_mean %square\n  output \"loss\" %loss\n",
         "loss", NULL, "w x"},
        {"tests/graph/grad-broadcast.graph",
         "  %a = input \"a\" : f32[3, 1]\n  %b = input \"b\" : f32[4]\n  %c = input \"c\" : f32[3, 4]\n  %i = input \"i\" : i32[3]\n  %unused = input \"unused\" : f32[2]\n"
         "  %s = add %a, %b\n  %p = mul %s, %a\n  %arg = arg_max %p axis=1 keep_dimensions=true\n  %f = cast %arg type=f32\n  %q = mul %p, %f\n  output \"y\" %q\n  output \"i\" %i\n",
         "q", "c", "a b unused"},
        {"tests/graph/grad-composed.graph",
         "  %x = input \"x\" : f32[5]\n  %y = t/bend %x\n  %v, %w = split %y splits=[2, 3]\n  %loss = reduce_sum %w\n  output \"loss\" %loss\n",
         "loss", NULL, "x"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        box b;
        gr_graph g, out;
        open_box(&b, real_catalog());
        add_op(&b, "t/wave@1", "wave(x: T[..s]; k: f32 = 2) -> y: T[..s] T in f32, f16", "transcendental", "map = \"sin(x * T(k))\"", "form = \"composed\"");
        add_op(&b, "t/bend@1", "bend(x: T[..s]) -> y: T[..s] T in f32", "transcendental", "graph = \"\"\"\n%u = mul %x %x\n%w = t/wave %u k=3\n%y = mul %w %x\n\"\"\"", "form = \"composed\"");
        read_graph(&b, all[i].lines, &g);
        bool ok = gradient(&b, &g, all[i].loss, all[i].cotangent, all[i].wrt, &out);
        golden_show(&b.d, gr_str_of(all[i].lines));
        assert_true(ok);
        check_golden(&b, all[i].path, &out);
        close_box(&b);
    }
}

/* An op without a gradient is an error only where one must pass through it; the message names the whole path. */
static void refusals(void **state) {
    (void)state;
    static const struct { const char *lines, *wrt; gr_diag_name name; const char *message; } all[] = {
        {"  %p = input \"p\" : f32[4]\n  %loss = exp %p\n  output \"loss\" %loss\n", "p", GR_D_GRAPH_GRADIENT_SEED, "%loss is f32[4]"},
        {"  %p = input \"p\" : f32[4]\n  %q = input \"q\" : i32[4]\n  %loss = reduce_sum %p\n  output \"loss\" %loss\n", "q", GR_D_GRAPH_NOT_DIFFERENTIABLE, "%q is i32"},
        {"  %p = input \"p\" : f32[4]\n  %q = input \"q\" : f32[4]\n  %e = exp %p @ node \"first\"\n  %s = t/hard %e\n  %t = mul %s, %q\n  %loss = reduce_mean %t\n  output \"loss\" %loss\n",
         "p q", GR_D_GRAPH_NOT_DIFFERENTIABLE, "t/hard@1 at node \"s\": it is a staircase; the path from loss to parameter is loss -> t -> s -> first -> p"},
        {"  %p = input \"p\" : f32[4]\n  %s = t/around %p\n  %loss = reduce_mean %s\n  output \"loss\" %loss\n", "p", GR_D_GRAPH_NOT_DIFFERENTIABLE,
         "t/hard@1 at node \"s/2\": it is a staircase; the path from loss to parameter is loss -> s -> p"},
        {"  %p = input \"p\" : f32[4]\n  %loss = t/wrong %p\n  output \"loss\" %loss\n", "p", GR_D_GRAPH_BODY_TYPE, "the backward of t/wrong@1 gives another type than that of the operand for %d_x"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        box b;
        gr_graph g, out;
        open_box(&b, real_catalog());
        add_op(&b, "t/hard@1", "hard(x: f32[..s]) -> y: f32[..s]", "pointwise", "map = \"floor(x)\"", "form = \"none\"\nreason = \"it is a staircase\"");
        add_op(&b, "t/around@1", "around(x: f32[..s]) -> y: f32[..s]", "pointwise", "graph = \"\"\"\n%e = neg %x\n%h = t/hard %e\n%y = neg %h\n\"\"\"", "form = \"composed\"");
        add_op(&b, "t/wrong@1", "wrong(x: f32[..s]) -> y: f32[]", "pointwise", "graph = \"\"\"\n%y = reduce_sum %x\n\"\"\"", "form = \"declared\"\ngraph = \"\"\"\n%d_x = neg %d_y\n\"\"\"");
        read_graph(&b, all[i].lines, &g);
        assert_false(gradient(&b, &g, "loss", NULL, all[i].wrt, &out));
        assert_int_equal(first_error(&b.d)->name, all[i].name);
        gr_str m = first_error(&b.d)->message;
        if (!strstr(m.p, all[i].message)) fprintf(stderr, "%.*s\n", GR_STR_ARG(m));
        assert_non_null(strstr(m.p, all[i].message));
        close_box(&b);
    }
}

/* The same op where no gradient has to pass it: its operand holds no parameter, or nothing of it reaches the loss. */
static void ops_without_a_gradient_beside_the_path(void **state) {
    (void)state;
    box b;
    gr_graph g, out;
    open_box(&b, real_catalog());
    add_op(&b, "t/hard@1", "hard(x: f32[..s]) -> y: f32[..s]", "pointwise", "map = \"floor(x)\"", "form = \"none\"\nreason = \"it is a staircase\"");
    read_graph(&b, "  %p = input \"p\" : f32[4]\n  %q = input \"q\" : f32[4]\n  %s = t/hard %q\n  %u = t/hard %p\n  %t = mul %s, %p\n  %loss = reduce_sum %t\n"
                   "  output \"loss\" %loss\n  output \"u\" %u\n", &g);
    assert_true(gradient(&b, &g, "loss", NULL, "p", &out));
    close_box(&b);
}

/* A gradient has the dtype of its value; casts lead from one to the other. */
static void halves_stay_halves(void **state) {
    (void)state;
    box b;
    gr_graph g, out;
    open_box(&b, real_catalog());
    add_op(&b, "t/wave@1", "wave(x: T[..s], k: f32[..s]) -> y: T[..s] T in f32, f16, i32", "transcendental", "map = \"T(sin(f32(x) * k))\"", "form = \"composed\"");
    read_graph(&b, "  %x = input \"x\" : f16[4]\n  %k = input \"k\" : f32[4]\n  %w = t/wave %x, %k\n  %m = mul %w, %x\n  %s = reduce_sum %m\n  %loss = cast %s type=f32\n  output \"loss\" %loss\n", &g);
    assert_true(gradient(&b, &g, "loss", NULL, "x k", &out)); /* checks the types */
    check_round_trip(&b, &out);
    close_box(&b);
}

/* What is computed again stays apart from what was computed first, also when the text is read again. */
static void checkpointed(void **state) {
    (void)state;
    box b;
    gr_graph g, out, cut, common;
    open_box(&b, real_catalog());
    read_graph(&b, "  %x = input \"x\" : f32[4]\n  %a = exp %x\n  %b = sin %a\n  %c = mul %b, %b\n  %d = sin %c\n  %e = mul %d, %a\n  %loss = reduce_sum %e\n  output \"loss\" %loss\n", &g);
    assert_true(gradient(&b, &g, "loss", NULL, "x", &out));
    assert_true(gr_graph_opt_checkpoint(&b.a, &b.d, &out, 2, &cut) && gr_graph_verify(&b.d, &cut));
    check_golden(&b, "tests/graph/grad-checkpoint.graph", &cut);
    assert_true(gr_graph_opt_common(&b.a, &b.d, &cut, &common));
    uint32_t again[2] = {0};
    for (uint32_t i = 0; i < cut.nodes_n; i++) again[0] += cut.nodes[i].again > 0;
    for (uint32_t i = 0; i < common.nodes_n; i++) again[1] += common.nodes[i].again > 0;
    assert_true(again[0] == 1 && again[1] == again[0]);
    assert_true(gr_graph_opt_checkpoint(&b.a, &b.d, &g, 0, &cut)); /* nothing to do without a backward */
    assert_int_equal(cut.nodes_n, g.nodes_n);
    close_box(&b);
}

static void linear_in_the_graph(void **state) {
    (void)state;
    box b;
    gr_graph g, out;
    gr_buf text = {0};
    enum { N = 10000 };
    open_box(&b, real_catalog());
    gr_buf_puts(&text, "  %x0 = input \"x\" : f32[8]\n  %w = input \"w\" : f32[8]\n");
    for (int i = 0; i < N; i++) gr_buf_printf(&text, "  %%x%d = %s %%x%d, %%w\n", i + 1, i % 3 ? "add" : "mul", i);
    gr_buf_printf(&text, "  %%loss = reduce_sum %%x%d\n  output \"loss\" %%loss\n", N);
    read_graph(&b, text.p, &g);
    clock_t start = clock(); /* of this process: others may run */
    assert_true(gradient(&b, &g, "loss", NULL, "x0 w", &out));
    double s = (double)(clock() - start) / CLOCKS_PER_SEC;
    fprintf(stderr, "gradient of %u nodes: %u nodes in %.3f s\n", g.nodes_n, out.nodes_n, s);
    assert_true(s < 5); /* far below it, also under a sanitizer */
    gr_buf_free(&text);
    close_box(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(goldens), cmocka_unit_test(refusals), cmocka_unit_test(ops_without_a_gradient_beside_the_path), cmocka_unit_test(halves_stay_halves), cmocka_unit_test(checkpointed), cmocka_unit_test(linear_in_the_graph)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
