/* Plans in pieces against plans in one: the same bits where pieces do not change the arithmetic, the same
 * sums within rounding where they are joined. Run on the oracle with a small binding limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/run.h"

/* Runs text whole and with a binding limit, where maps may be fused; all outputs of both. tolerance 0: bit for bit. */
static void compare_with(const char *text, uint64_t limit, double tolerance, uint32_t least_dispatches, bool fuse) {
    low l;
    uint8_t *want[4], *got[4];
    uint64_t want_n[4], got_n[4];
    gr_target whole = gr_target_oracle(), small = whole;
    small.max_storage_binding = limit;
    small.fuse = fuse;
    low_begin(&l);
    low_plan(&l, text, &whole, NULL);
    run_plan(&l, gr_oracle_api(), NULL, &l.plan, want, want_n);
    low_plan(&l, text, &small, NULL);
    if (l.plan.verdict != GR_GREEN) low_show(&l.d);
    assert_int_equal(l.plan.verdict, GR_GREEN);
    assert_true(run_count(&l.plan, GR_STEP_DISPATCH) >= least_dispatches);
    run_plan(&l, gr_oracle_api(), NULL, &l.plan, got, got_n);
    for (uint32_t o = 0; o < l.plan.graph->outputs_n; o++) {
        assert_int_equal(want_n[o], got_n[o]);
        if (tolerance == 0) {
            assert_memory_equal(want[o], got[o], want_n[o]);
            continue;
        }
        for (uint64_t i = 0; i < want_n[o] / 4; i++) {
            float x, y;
            memcpy(&x, want[o] + 4 * i, 4);
            memcpy(&y, got[o] + 4 * i, 4);
            assert_true(gr_fabs((double)x - (double)y) <= tolerance);
        }
    }
    low_end(&l);
}

static void compare(const char *text, uint64_t limit, double tolerance, uint32_t least_dispatches) {
    compare_with(text, limit, tolerance, least_dispatches, false);
}

static void pointwise_flat(void **state) {
    (void)state;
    compare("graph g {\n  tier debug\n  %a = input \"a\" : f32[10001]\n  %b = input \"b\" : f32[10001]\n  %c = input \"c\" : f32[]\n  %s = mul %a, %c\n  %y = add %s, %b\n  output \"y\" %y\n}\n", 4096, 0, 20);
    compare("graph g {\n  tier debug\n  %a = input \"a\" : f32[7, 11, 131]\n  %y = exp %a\n  %z = greater %y, %a\n  output \"y\" %y\n  output \"z\" %z\n}\n", 8192, 0, 6);
    compare("graph g {\n  tier debug\n  %a = input \"a\" : i64[3001]\n  %b = input \"b\" : i64[3001]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", 4096, 0, 5);
    compare("graph g {\n  tier debug\n  %a = input \"a\" : f16[4001]\n  %b = input \"b\" : f16[4001]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", 4096, 0, 2);
}

static void pointwise_broadcast(void **state) {
    (void)state;
    compare("graph g {\n  tier debug\n  %a = input \"a\" : f32[300, 40]\n  %b = input \"b\" : f32[40]\n  %y = sub %a, %b\n  output \"y\" %y\n}\n", 8192, 0, 5);
    compare("graph g {\n  tier debug\n  %a = input \"a\" : f32[300, 40]\n  %b = input \"b\" : f32[300, 1]\n  %y = sub %a, %b\n  output \"y\" %y\n}\n", 8192, 0, 5);
    compare("graph g {\n  tier debug\n  %a = input \"a\" : f32[3, 5000]\n  %b = input \"b\" : f32[3, 1]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", 8192, 0, 6);
    compare("graph g {\n  tier debug\n  %a = input \"a\" : f32[2, 1, 3000]\n  %b = input \"b\" : f32[3, 1]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", 16384, 0, 6);
}

/* Fused maps are cut like one: several results of different widths, shared operands, broadcasts. */
static void fused(void **state) {
    (void)state;
    compare_with("graph g {\n  tier debug\n  %a = input \"a\" : f32[10001]\n  %b = input \"b\" : f32[10001]\n  %c = input \"c\" : f32[]\n  %s = mul %a, %c\n  %y = add %s, %b\n  output \"y\" %y\n}\n", 4096, 0, 10, true);
    compare_with("graph g {\n  tier debug\n  %a = input \"a\" : f32[7, 11, 131]\n  %y = exp %a\n  %z = greater %y, %a\n  %h = cast %y type=f16\n  %w = cast %a type=i64\n  output \"y\" %y\n  output \"z\" %z\n  output \"h\" %h\n  output \"w\" %w\n}\n", 8192, 0, 6, true);
    compare_with("graph g {\n  tier debug\n  %a = input \"a\" : f32[300, 40]\n  %b = input \"b\" : f32[300, 1]\n  %r = sqrt %b\n  %y = div %a, %r\n  %z = exp %y\n  output \"y\" %y\n  output \"z\" %z\n}\n", 8192, 0, 5, true);
}

static void windowed(void **state) {
    (void)state;
    compare("graph g {\n  tier debug\n  %x = input \"x\" : f32[20000]\n  %y = user/kemal/windowed_median %x w=7\n  output \"y\" %y\n}\n", 8192, 0, 10);
    compare("graph g {\n  tier debug\n  %x = input \"x\" : f32[20000]\n  %y = user/kemal/windowed_median %x w=31\n  %z = user/kemal/windowed_median %y w=3\n  output \"z\" %z\n}\n", 4096, 0, 40);
}

static void reductions(void **state) {
    (void)state;
    compare("graph g {\n  tier debug\n  %x = input \"x\" : i32[20000]\n  %y = reduce_sum %x\n  output \"y\" %y\n}\n", 8192, 0, 10);
    compare("graph g {\n  tier debug\n  %x = input \"x\" : f32[20000]\n  %y = reduce_sum %x\n  output \"y\" %y\n}\n", 8192, 0.05, 10);
    compare("graph g {\n  tier debug\n  %x = input \"x\" : i32[100, 200]\n  %y = reduce_sum %x axes=[0]\n  output \"y\" %y\n}\n", 8192, 0, 10);
    compare("graph g {\n  tier debug\n  %x = input \"x\" : i32[100, 200]\n  %y = reduce_sum %x axes=[1]\n  output \"y\" %y\n}\n", 8192, 0, 10);
    compare("graph g {\n  tier debug\n  %x = input \"x\" : f32[20000]\n  %m = reduce_mean %x\n  %y = sub %x, %m\n  output \"y\" %y\n}\n", 8192, 1e-3, 10);
}

/* Ops that move elements, and windows over images: clauses with an axis of their own, and parameters that change with the piece. */
static const struct { const char *inputs, *call; uint64_t limit; } moved[] = {
    {"%x = input \"x\" : f32[100, 200]", "transpose %x permutation=[1, 0]", 8192},
    {"%x = input \"x\" : f32[30, 20, 40]", "transpose %x permutation=[2, 0, 1]", 8192},
    {"%x = input \"x\" : f32[200]", "expand %x new_shape=[100, 200]", 8192},
    {"%x = input \"x\" : f32[50, 1]", "expand %x new_shape=[60, 50, 8]", 8192},
    {"%x = input \"x\" : f32[100, 120]", "slice %x starts=[3, 5] sizes=[90, 101] strides=[2, 3]", 8192},
    {"%x = input \"x\" : f32[10000]", "reverse %x", 8192},
    {"%x = input \"x\" : f32[100, 100]", "reverse %x axes=[1]", 8192},
    {"%x = input \"x\" : f32[100, 90]", "pad %x beginning_padding=[0, 2] ending_padding=[0, 3] mode=edge", 8192},
    {"%x = input \"x\" : f32[100, 30]", "tile %x repetitions=[1, 3]", 8192},
    {"%x = input \"x\" : f32[100, 45]", "concat %x, %x axis=1", 8192},
    {"%x = input \"x\" : f32[60, 30]\n  %i = input \"i\" : i32[300]", "gather %x, %i axis=0", 8192},
    {"%x = input \"x\" : f32[100, 60]\n  %i = input \"i\" : i32[50]", "gather %x, %i axis=1", 8192},
    {"%x = input \"x\" : f32[100, 60]\n  %i = input \"i\" : i32[100, 50]", "gather_elements %x, %i axis=1", 8192},
    {"%x = input \"x\" : f32[7, 6, 30]\n  %i = input \"i\" : i32[100, 2]", "gather_nd %x, %i", 8192},
    {"%x = input \"x\" : f32[10010]", "reshape %x new_shape=[77, 10, 13]", 8192},
    {"", "fill shape=[100, 100] value=3 type=f32", 8192},
    {"%x = input \"x\" : f32[100, 100]\n  %u = input \"u\" : f32[100, 40]", "place %x, %u starts=[0, 3]", 8192},
    {"%x = input \"x\" : f32[40, 20, 20]", "triangular %x", 8192},
    {"%x = input \"x\" : f32[100, 100]", "cumulative_sum %x axis=1", 8192},
    {"%x = input \"x\" : f32[4, 6, 10, 11]", "resample2d %x sizes=[20, 15] mode=linear", 8192},
    {"%x = input \"x\" : f32[1, 2, 80, 60]\n  %f = input \"f\" : f32[3, 2, 3, 3]", "conv2d %x, %f padding=[1, 1, 1, 1]", 32768},
    {"%x = input \"x\" : f32[1, 1, 300, 40]\n  %f = input \"f\" : f32[1, 1, 5, 3]", "conv2d %x, %f strides=[2, 3] dilations=[1, 2] padding=[2, 1, 0, 4]", 8192},
    {"%x = input \"x\" : f32[1, 4, 30, 30]\n  %f = input \"f\" : f32[4, 2, 3, 3]", "conv2d %x, %f groups=2", 9000},
    {"%x = input \"x\" : f32[1, 1, 90, 90]", "average_pool2d %x window_dimensions=[3, 3] strides=[2, 2] padding=[1, 1, 1, 1] output_shape_rounding=ceil", 8192},
    {"%x = input \"x\" : f32[1, 1, 90, 90]", "max_pool2d %x window_dimensions=[5, 3] dilations=[2, 1] padding=[1, 0, 0, 1]", 8192},
    {"%x = input \"x\" : f32[100, 30]\n  %i = input \"i\" : i32[100, 40]\n  %u = input \"u\" : f32[100, 40]", "scatter_elements %x, %i, %u axis=1", 8192},
    {"%x = input \"x\" : f32[7, 400]\n  %i = input \"i\" : i32[3, 2, 1]\n  %u = input \"u\" : f32[3, 2, 400]", "scatter_nd %x, %i, %u", 8192},
    {"%x = input \"x\" : f32[7, 400]\n  %i = input \"i\" : i32[3, 2, 1]\n  %u = input \"u\" : f32[3, 2, 400]", "scatter_nd_add %x, %i, %u", 8192},
    {"%x = input \"x\" : f32[1, 2, 20, 20]\n  %f = input \"f\" : f32[2, 9, 3, 3]", "conv_transpose2d %x, %f", 8192},
    {"%x = input \"x\" : f32[9, 3, 100]\n  %m = input \"m\" : f32[3]\n  %v = input \"v\" : f32[3]", "batch_normalization %x, %m, %v", 8192},
    {"%x = input \"x\" : f32[60, 70]", "arg_sort %x axis=1", 8192},
    {"%x = input \"x\" : f32[12, 20, 60]", "arg_max %x axis=1", 8192},
    {"%x = input \"x\" : f32[100, 30]\n  %i = input \"i\" : i32[100, 40]\n  %u = input \"u\" : f32[100, 40]", "scatter_add %x, %i, %u axis=1", 8192},
    {"%x = input \"x\" : f32[30, 90]", "unfold %x w=4 stride=3", 8192},
    {"%q = input \"q\" : i32[60, 60]\n  %s = input \"s\" : f32[60, 2]\n  %z = input \"z\" : i32[60, 2]", "dequantize_linear %q, %s, %z", 8192},
    {"%x = input \"x\" : f32[20, 300]\n  %w = input \"w\" : f32[20, 30]", "gemm %x, %w a_transpose=true", 8192},
    {"%x = input \"x\" : f32[20, 40]\n  %w = input \"w\" : f32[300, 40]\n  %c = input \"c\" : f32[20, 1]", "gemm %x, %w, %c b_transpose=true", 8192},
};

/* Rows that are worked on whole: a piece may take another kernel than the whole does. */
static const struct { const char *inputs, *call; uint64_t limit; } by_rows[] = {
    {"%x = input \"x\" : f32[70, 60]", "softmax %x axis=1", 8192},
    {"%x = input \"x\" : f32[60, 70]", "log_softmax %x axis=0", 8192},
    {"%x = input \"x\" : f32[20, 4, 50]\n  %w = input \"w\" : f32[4, 50]", "layer_normalization %x, %w axes=[1, 2]", 8192},
    {"%x = input \"x\" : f32[9, 6, 50]", "group_norm %x groups=3", 8192},
    {"%x = input \"x\" : f32[9, 3, 10, 9]", "instance_normalization %x", 8192},
    {"%x = input \"x\" : f32[20, 67, 2]", "fft %x", 8192},
    {"%x = input \"x\" : f32[20, 60, 2]", "fft %x inverse=true", 8192},
    {"%x = input \"x\" : f32[9, 20, 24]", "gaussian_blur %x window=5", 8192},
};

static void movement(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        char text[600];
        snprintf(text, sizeof text, "graph g {\n  tier debug\n  %s\n  %%y = %s\n  output \"y\" %%y\n}\n", moved[i].inputs, moved[i].call);
        compare(text, moved[i].limit, 0, 2);
    }
    for (size_t i = 0; i < sizeof by_rows / sizeof *by_rows; i++) {
        char text[600];
        snprintf(text, sizeof text, "graph g {\n  tier debug\n  %s\n  %%y = %s\n  output \"y\" %%y\n}\n", by_rows[i].inputs, by_rows[i].call);
        compare(text, by_rows[i].limit, 1e-5, 2);
    }
    compare("graph g {\n  tier debug\n  %x = input \"x\" : f32[100, 90]\n  %a, %b = split %x splits=[40, 50] axis=1\n  output \"a\" %a\n  output \"b\" %b\n}\n", 8192, 0, 2);
}

/* One piece a page, and no copy, where all tensors have one shape. */
static void pages_are_pieces(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[78643200]\n  %y = exp %x\n  output \"y\" %y\n}\n", &t, NULL);
    assert_int_equal(l.plan.verdict, GR_GREEN);
    assert_int_equal(l.plan.tensors[0].pages, 3);
    assert_int_equal(run_count(&l.plan, GR_STEP_DISPATCH), 3);
    assert_int_equal(run_count(&l.plan, GR_STEP_COPY), 0);
    low_plan(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[78643200]\n  %y = user/kemal/windowed_median %x\n  %s = reduce_sum %y\n  output \"s\" %s\n}\n", &t, NULL);
    assert_int_equal(l.plan.verdict, GR_GREEN);
    /* Of a chain, the pages of two intermediate values are made. */
    low_plan(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[78643200]\n  %a = neg %x\n  %b = exp %a\n  %c = neg %b\n  %d = exp %c\n  %y = neg %d\n  output \"y\" %y\n}\n", &t, NULL);
    assert_int_equal(l.plan.peak[GR_MEM_WORKING] >> 20, 600);
    low_end(&l);
}

/* Random pointwise and reduction graphs under random limits. */
static void random_graphs(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 25; seed++) {
        static const char *const unary[] = {"neg", "exp", "relu", "tanh"}, *const binary[] = {"add", "sub", "mul", "max"};
        gr_buf b = {0};
        uint32_t values = 2, h = seed, rows = 1 + run_hash(seed) % 40, cols = 1 + run_hash(seed + 99) % 60;
        gr_buf_printf(&b, "graph g {\n  tier debug\n  %%v0 = input \"v0\" : f32[%u, %u]\n  %%v1 = input \"v1\" : f32[%s%u]\n", rows, cols, seed % 2 ? "1, " : "", cols);
        for (uint32_t i = 0; i < 12; i++) {
            h = run_hash(h + i);
            if (h % 3 == 0) gr_buf_printf(&b, "  %%v%u = %s %%v%u\n", values, unary[(h >> 8) % 4], (h >> 16) % values);
            else gr_buf_printf(&b, "  %%v%u = %s %%v%u, %%v%u\n", values, binary[(h >> 8) % 4], (h >> 16) % values, (h >> 24) % values);
            values++;
        }
        gr_buf_printf(&b, "  output \"p\" %%v%u\n  output \"q\" %%v%u\n}\n", values - 1, values - 2);
        compare(b.p, 4096 + 1024 * (run_hash(seed * 7) % 8), 0, 1);
        compare_with(b.p, 4096 + 1024 * (run_hash(seed * 7) % 8), 0, 1, true);
        gr_buf_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest t[] = {
        cmocka_unit_test(pointwise_flat), cmocka_unit_test(pointwise_broadcast), cmocka_unit_test(windowed), cmocka_unit_test(reductions),
        cmocka_unit_test(fused), cmocka_unit_test(movement), cmocka_unit_test(pages_are_pieces), cmocka_unit_test(random_graphs),
    };
    return cmocka_run_group_tests(t, NULL, NULL);
}
