/* f16 values and buffers, in every mode. */
#include "wgsl/eval-harness.h"

enum { N = 16 };
static uint16_t a[N], y[N];
static uint32_t mixed[N];
static double wa[N], wy[N], ey[N], wm[2 * N];
static uint8_t my[N];

static const char text[] =
    "enable f16;\n"
    "struct E { k: u32, h: f16, g: f16, f: f32 }\n"
    "@group(0) @binding(0) var<storage, read> a: array<f16>;\n"
    "@group(0) @binding(1) var<storage, read_write> y: array<f16>;\n"
    "@group(0) @binding(2) var<storage, read_write> m: array<E>;\n"
    "var<workgroup> t: array<f16, 16>;\n"
    "@compute @workgroup_size(16)\n"
    "fn main(@builtin(global_invocation_id) g: vec3<u32>) {\n"
    "  let i = g.x;\n"
    "  t[i] = a[i] * 3.0h;\n"
    "  workgroupBarrier();\n"
    "  y[i] = t[15u - i] + 0.1h;\n"
    "  if (i < 3u) {\n"
    "    m[i].k = i + 7u; m[i].h = a[i]; m[i].g = -a[i + 1u]; m[i].f = f32(a[i]) * 0.1;\n"
    "  }\n"
    "}\n";

static void run(gr_eval_mode mode, bool wide) {
    gr_arena m = {0};
    gr_diags d;
    gr_diags_init(&d);
    for (int i = 0; i < N; i++) {
        a[i] = gr_f16_from_f32((float)i * 0.37f - 2.0f);
        wa[i] = (double)gr_f32_from_f16(a[i]);
    }
    memset(y, 0, sizeof y), memset(mixed, 0, sizeof mixed);
    gr_wgsl_module *w = gr_wgsl_load(&m, &d, GR_STR("half"), gr_str_of(text), NULL);
    const gr_eval_options opt = {.mode = mode};
    gr_eval_program *p = w ? gr_eval_compile(&m, &d, w, GR_STR(""), &opt) : NULL;
    const gr_eval_binding b[] = {
        {.binding = 0, .bytes = a, .size = sizeof a, .wide = wide ? wa : NULL},
        {.binding = 1, .bytes = y, .size = sizeof y, .wide = wide ? wy : NULL, .extra = wide ? ey : NULL, .mark = my},
        {.binding = 2, .bytes = mixed, .size = sizeof mixed, .wide = wide ? wm : NULL},
    };
    const uint32_t grid[3] = {1, 1, 1};
    bool ok = p && gr_eval_dispatch(p, &d, b, 3, grid, NULL);
    if (!ok) {
        gr_buf out = {0};
        gr_diags_print(&out, &d, gr_str_of(text));
        print_message("%s\n", out.p);
        gr_buf_free(&out);
    }
    assert_true(ok);
    gr_diags_free(&d);
    gr_arena_free(&m);
}

static float half(float v) { return gr_f32_from_f16(gr_f16_from_f32(v)); }
static float value(int i) { return gr_f32_from_f16(a[i]); }

static void check_f32_results(void) {
    for (int i = 0; i < N; i++) {
        float want = half(half(value(15 - i) * 3.0f) + half(0.1f));
        assert_int_equal(y[i], gr_f16_from_f32(want));
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mixed[3 * i], i + 7);
        assert_int_equal(mixed[3 * i + 1], a[i] | (uint32_t)(a[i + 1] ^ 0x8000) << 16);
        assert_int_equal(mixed[3 * i + 2], gr_bits_f32(value(i) * 0.1f));
    }
}

static void f32_mode_rounds_each_operation(void **state) {
    (void)state;
    run(GR_EVAL_F32, false);
    check_f32_results();
    run(GR_EVAL_SANITIZER, false);
    check_f32_results();
}

static void widened_keeps_f64(void **state) {
    (void)state;
    run(GR_EVAL_WIDENED, true);
    for (int i = 0; i < N; i++) assert_true(wy[i] == (double)value(15 - i) * 3.0 + (double)half(0.1f));
    for (int i = 0; i < 3; i++) { /* two bytes an element: m[i].h at 12 i + 4, m[i].f at 12 i + 8 */
        assert_int_equal(mixed[3 * i], i + 7);
        assert_true(wm[(12 * i + 4) / 2] == (double)value(i));
        assert_true(wm[(12 * i + 6) / 2] == -(double)value(i + 1));
        assert_true(wm[(12 * i + 8) / 2] == (double)value(i) * (double)0.1f);
    }
}

static void widened_without_memory_rounds_to_f16(void **state) {
    (void)state;
    run(GR_EVAL_WIDENED, false);
    for (int i = 0; i < N; i++) assert_int_equal(y[i], gr_f16_from_f64((double)value(15 - i) * 3.0 + (double)half(0.1f)));
}

static void bounds_cover_f16_rounding(void **state) {
    (void)state;
    run(GR_EVAL_F32, false);
    float got[N];
    for (int i = 0; i < N; i++) got[i] = gr_f32_from_f16(y[i]);
    run(GR_EVAL_BOUNDED, true);
    for (int i = 0; i < N; i++) {
        assert_true(gr_fabs((double)got[i] - wy[i]) <= ey[i]);
        assert_true(ey[i] < 0.02);
        assert_int_equal(my[i], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(f32_mode_rounds_each_operation), cmocka_unit_test(widened_keeps_f64),
                                       cmocka_unit_test(widened_without_memory_rounds_to_f16), cmocka_unit_test(bounds_cover_f16_rounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
