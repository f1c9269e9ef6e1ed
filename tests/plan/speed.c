/* A graph of 10,000 nodes is chosen, generated, planned and checked in about a second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "lower.h"

static void ten_thousand_nodes(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    gr_buf b = {0};
    low_begin(&l);
    gr_buf_puts(&b, "graph big {\n  tier debug\n  %v0 = input \"v0\" : f32[64, 32]\n  %r = input \"r\" : f32[32]\n");
    for (uint32_t i = 1; i <= 10000; i++) {
        static const char *const op[] = {"neg %v", "exp %v", "tanh %v", "relu %v", "add %r, %v", "mul %r, %v"};
        gr_buf_printf(&b, "  %%v%u = %s%u\n", i, op[i % 6], i - 1);
    }
    gr_buf_puts(&b, "  output \"y\" %v10000\n}\n");
    double t0 = gr_clock_seconds();
    low_graph(&l, b.p);
    double t1 = gr_clock_seconds();
    assert_true(gr_graph_lower(&l.a, &l.d, &l.graph, l.catalog, &t, &l.kernels));
    double t2 = gr_clock_seconds();
    assert_true(gr_kernels_verify(&l.d, &l.kernels));
    double t3 = gr_clock_seconds();
    assert_true(gr_kernels_lower(&l.a, &l.d, &l.kernels, l.catalog, NULL, &l.plan));
    double t4 = gr_clock_seconds();
    assert_true(gr_plan_verify(&l.d, &l.plan));
    double t5 = gr_clock_seconds();
    fprintf(stderr, "parse %.3f s, kernels %.3f, verify %.3f, plan %.3f, verify %.3f\n", t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4);
    assert_int_equal(l.plan.steps_n >= 10000, 1);
    assert_true(l.plan.kernels_n <= 6);
    assert_true(t5 - t1 < 5); /* sanitizers and a loaded machine included; `make bench` holds the ratio */
    gr_buf_free(&b);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(ten_thousand_nodes)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
