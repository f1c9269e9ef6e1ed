/* What is fused, what is not and why; the text of a fused kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "lower.h"

#define HEAD "graph t {\n  tier debug\n"

static gr_target gpu(void) {
    gr_target t = gr_target_webgpu_default();
    t.fuse = true;
    return t;
}

/* The kernels of the text; each belongs to a node of the fused graph. */
static void lower(low *l, const char *text, const gr_target *t) {
    low_kernels(l, text, t);
    assert_true(gr_graph_verify(&l->d, l->kernels.graph));
    for (uint32_t i = 0; i < l->kernels.n; i++) assert_true(l->kernels.list[i].graph_node < l->kernels.graph->nodes_n);
}

static const gr_kernel *kernel_of(const low *l, const char *node) {
    for (uint32_t i = 0; i < l->kernels.n; i++)
        if (gr_str_eqz(l->kernels.list[i].node, node)) return &l->kernels.list[i];
    return NULL;
}

static void says(const low *l, const char *node, const char *words) {
    const gr_kernel *k = kernel_of(l, node);
    assert_non_null(k);
    gr_buf b = {0};
    gr_buf_str(&b, k->why);
    gr_buf_putc(&b, 0);
    if (!strstr(b.p, words)) print_error("%s\n", b.p);
    assert_non_null(strstr(b.p, words));
    gr_buf_free(&b);
}

static void golden(const char *path, const char *text, const gr_target *t) {
    low l;
    low_begin(&l);
    lower(&l, text, t);
    gr_buf b = {0};
    for (uint32_t i = 0; i < l.kernels.n; i++) gr_buf_str(&b, l.kernels.list[i].wgsl);
    golden_check(path, gr_buf_view(&b));
    gr_buf_free(&b);
    low_end(&l);
}

static void texts(void **state) {
    (void)state;
    gr_target t = gpu();
    /* A broadcast, helpers of two ops, a parameter, a constant, two results of which one is a bool. */
    golden("tests/kernel/fused-two.wgsl", HEAD "  %a = input \"a\" : f32[64, 32]\n  %b = input \"b\" : f32[64, 1]\n  %h = constant 0.5 : f32[]\n  %s = sub %a, %b @ node \"shifted\"\n"
           "  %e = elu %s alpha=0.25 @ node \"bent\"\n  %p = pow %e, %h @ node \"root\"\n  %g = greater %p, %a @ node \"above\"\n  output \"p\" %p\n  output \"g\" %g\n}\n", &t);
    golden("tests/kernel/fused-i8.wgsl", HEAD "  %a = input \"a\" : i8[5]\n  %b = add %a, %a\n  %y = mul %b, %a\n  output \"y\" %y\n}\n", &t);
}

/* A chain, a diamond and a value that is used twice are one kernel; what is wanted outside is a result more. */
static void shapes_of_graphs(void **state) {
    (void)state;
    low l;
    gr_target t = gpu();
    low_begin(&l);
    lower(&l, HEAD "  %x = input \"x\" : f32[8]\n  %a = exp %x\n  %b = neg %a\n  %c = abs %a\n  %d = add %b, %c\n  output \"d\" %d\n}\n", &t);
    assert_int_equal(l.kernels.n, 1);
    assert_int_equal(l.kernels.graph->nodes[0].call.outputs_n, 1);
    says(&l, "d", "4 maps fused: exp@1, neg@1, abs@1, add@1");
    lower(&l, HEAD "  %x = input \"x\" : f32[8]\n  %a = exp %x\n  %b = neg %a\n  %c = abs %a\n  %d = add %b, %c\n  output \"d\" %d\n  output \"a\" %a\n  output \"c\" %c\n}\n", &t);
    assert_int_equal(l.kernels.n, 1);
    assert_int_equal(l.kernels.graph->nodes[0].call.outputs_n, 3);
    /* Without anything between them, two uses of one value are one kernel. */
    lower(&l, HEAD "  %x = input \"x\" : f32[8]\n  %a = exp %x\n  %b = neg %a\n  %c = abs %a\n  output \"b\" %b\n  output \"c\" %c\n}\n", &t);
    assert_int_equal(l.kernels.n, 1);
    /* Names of all nodes, the node's own and those found equal, lead to it. */
    const gr_graph_node *n = &l.kernels.graph->nodes[0];
    assert_int_equal(n->also_n, 2);
    low_end(&l);
}

static void reasons(void **state) {
    (void)state;
    low l;
    gr_target t = gpu();
    low_begin(&l);
    lower(&l, HEAD "  %x = input \"x\" : f32[8, 4]\n  %t = transpose %x\n  %y = exp %t\n  output \"y\" %y\n}\n", &t);
    says(&l, "y", "\"t\" apart: its op is no map");
    /* c and y: the transposition has to run in between. */
    lower(&l, HEAD "  %x = input \"x\" : f32[4, 4]\n  %c = exp %x\n  %s = transpose %c\n  %y = div %c, %s\n  output \"y\" %y\n}\n", &t);
    says(&l, "y", "\"c\" apart: what is between them has to run in between");
    lower(&l, HEAD "  %x = input \"x\" : f32[8, 1]\n  %z = input \"z\" : f32[8, 4]\n  %c = neg %x\n  %y = add %c, %z\n  output \"y\" %y\n  output \"c\" %c\n}\n", &t);
    says(&l, "y", "\"c\" apart: it is used elsewhere in a smaller shape");
    lower(&l, HEAD "  %x = input \"x\" : f32[8, 1]\n  %z = input \"z\" : f32[8, 4]\n  %c = sin %x\n  %e = sin %c\n  %f = sin %e\n  %g = sin %f\n  %y = add %g, %z\n  output \"y\" %y\n}\n", &t);
    says(&l, "y", "\"g\" apart: it is broadcast, and costly to compute for every element");
    /* Nine inputs and a result where eight buffers may be bound. */
    gr_buf b = {0};
    gr_buf_puts(&b, HEAD);
    for (int i = 0; i < 9; i++) gr_buf_printf(&b, "  %%x%d = input \"x%d\" : f32[8]\n", i, i);
    for (int i = 1; i < 9; i++) gr_buf_printf(&b, "  %%s%d = add %%%c%d, %%x%d\n", i, i == 1 ? 'x' : 's', i - 1, i);
    gr_buf_puts(&b, "  output \"y\" %s8\n}\n");
    lower(&l, b.p, &t);
    assert_int_equal(l.kernels.n, 2);
    says(&l, "s8", "apart: one kernel would bind more storage buffers than the target allows");
    gr_buf_free(&b);
    low_end(&l);
}

/* A reduction reads through the maps that feed it, where they are cheaper to compute again than to store. */
static void computed_where_read(void **state) {
    (void)state;
    low l;
    gr_target t = gpu();
    low_begin(&l);
    lower(&l, HEAD "  %x = input \"x\" : f32[64, 128]\n  %m = input \"m\" : f32[64, 1]\n  %c = sub %x, %m\n  %q = mul %c, %c\n  %v = reduce_sum %q axes=[1] keep_dimensions=true\n"
               "  %n = div %c, %v\n  output \"n\" %n\n}\n", &t);
    assert_int_equal(l.kernels.n, 2); /* c is computed in both */
    says(&l, "v", "computed where it is read: sub@1, mul@1; ");
    says(&l, "n", "2 maps fused: sub@1, div@1; \"v\" apart: its op is no map");
    assert_int_equal(l.kernels.graph->nodes[0].also_n, 2); /* c and q lead to it */
    /* An output is stored in any case: it is read. */
    lower(&l, HEAD "  %x = input \"x\" : f32[64, 128]\n  %q = mul %x, %x\n  %v = reduce_sum %q\n  output \"q\" %q\n  output \"v\" %v\n}\n", &t);
    assert_int_equal(l.kernels.n, 2);
    assert_false(l.kernels.graph->nodes[1].call.op->fusion != NULL);
    /* matmul reads its operands many times, and says nothing of once. */
    lower(&l, HEAD "  %x = input \"x\" : f32[64, 64]\n  %q = mul %x, %x\n  %v = matmul %q, %x\n  output \"v\" %v\n}\n", &t);
    assert_int_equal(l.kernels.n, 2);
    /* Nothing is left of a map that only reductions read, however many they are. */
    lower(&l, HEAD "  %x = input \"x\" : f32[64, 64]\n  %q = mul %x, %x\n  %v = reduce_sum %q axes=[1]\n  %w = reduce_max %q axes=[1]\n  output \"v\" %v\n  output \"w\" %w\n}\n", &t);
    assert_int_equal(l.kernels.n, 2);
    assert_int_equal(l.kernels.graph->nodes_n, 2);
    low_end(&l);
}

/* Bodies made of other ops take no more dispatches than by hand. */
static void composites(void **state) {
    (void)state;
    static const struct { const char *call; uint32_t most; } list[] = {
        {"softmax %x axis=1", 1}, {"log_softmax %x axis=1", 1}, {"layer_norm %x, %g, %g", 1}, {"rms_norm %x", 1}, {"gelu %x", 2}, {"silu %x", 1}, {"mish %x", 1},
        {"reduce_l2 %x axes=[1]", 2}, {"reduce_mean %x axes=[1]", 2}, {"reduce_sum_square %x axes=[1]", 1}, {"mse %x, %t", 2}, {"huber %x, %t", 2}, {"clip_by_norm %x", 2},
    };
    low l;
    gr_target t = gpu();
    low_begin(&l);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        gr_buf b = {0};
        gr_buf_printf(&b, HEAD "  %%x = input \"x\" : f32[64, 128]\n  %%t = input \"t\" : f32[64, 128]\n  %%g = input \"g\" : f32[128]\n  %%y = %s\n  output \"y\" %%y\n}\n", list[i].call);
        lower(&l, b.p, &t);
        if (l.kernels.n > list[i].most) print_error("%s: %u\n", list[i].call, l.kernels.n);
        assert_true(l.kernels.n <= list[i].most);
        gr_buf_free(&b);
    }
    low_end(&l);
}

/* A group of two whose other side would make it wait for itself, by way of another group. */
static void no_cycle_between_groups(void **state) {
    (void)state;
    low l;
    gr_target t = gpu();
    low_begin(&l);
    lower(&l, HEAD "  %x = input \"x\" : f32[4, 4]\n  %a = exp %x\n  %b = neg %x\n  %ta = transpose %a\n  %tb = transpose %b\n  %c = add %b, %ta\n  %d = add %a, %tb\n"
               "  output \"c\" %c\n  output \"d\" %d\n}\n", &t);
    for (uint32_t i = 0; i < l.kernels.graph->nodes_n; i++) /* G1 has checked the order; both sums are there */
        assert_true(l.kernels.graph->nodes[i].call.outputs_n >= 1);
    assert_non_null(kernel_of(&l, "c"));
    assert_non_null(kernel_of(&l, "d"));
    low_end(&l);
}

/* Turned off, and in reference mode, every node has its own kernel. */
static void switched_off(void **state) {
    (void)state;
    low l;
    gr_target t = gpu(), cpu = gr_target_oracle();
    const char *text = HEAD "  %x = input \"x\" : f32[8]\n  %a = exp %x\n  %b = neg %a\n  output \"b\" %b\n}\n";
    low_begin(&l);
    t.fuse = false;
    lower(&l, text, &t);
    assert_int_equal(l.kernels.n, 2);
    cpu.fuse = cpu.reference = true;
    lower(&l, text, &cpu);
    assert_int_equal(l.kernels.n, 2);
    cpu.reference = false;
    lower(&l, text, &cpu);
    assert_int_equal(l.kernels.n, 1);
    low_end(&l);
}

/* Large graphs: chains longer than a node may be, and time that stays linear. */
static void many_nodes(void **state) {
    (void)state;
    low l;
    gr_target t = gpu();
    gr_buf b = {0};
    low_begin(&l);
    gr_buf_puts(&b, HEAD "  %v0 = input \"x\" : f32[16]\n");
    for (int i = 1; i <= 5000; i++) gr_buf_printf(&b, "  %%v%d = add %%v%d, %%v%d\n", i, i - 1, i > 3 ? i - 3 : 0);
    gr_buf_puts(&b, "  output \"y\" %v5000\n}\n");
    lower(&l, b.p, &t);
    assert_in_range(l.kernels.n, 100, 1000);
    gr_buf_free(&b);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {
        cmocka_unit_test(texts), cmocka_unit_test(shapes_of_graphs), cmocka_unit_test(reasons), cmocka_unit_test(computed_where_read), cmocka_unit_test(composites), cmocka_unit_test(no_cycle_between_groups),
        cmocka_unit_test(switched_off), cmocka_unit_test(many_nodes),
    };
    return cmocka_run_group_tests(t, NULL, NULL);
}
