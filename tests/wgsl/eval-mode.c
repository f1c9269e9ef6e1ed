/* The widened, bounded and dual modes, and the trace. */
#include "wgsl/eval-harness.h"

#define MAIN(body) \
    HARNESS_IO "@compute @workgroup_size(16)\nfn main(@builtin(global_invocation_id) g: vec3<u32>) {\n  let i = g.x; let v = x[i];\n" body "\n}\n"

static harness h;

static void run_mode(const char *text, gr_eval_mode mode, bool wide) {
    const gr_eval_options opt = {.mode = mode};
    if (harness_run(&h, text, &opt, 1, 1, 1, wide)) return;
    harness_explain(&h, "mode", text);
    fail();
}

static void start(void) {
    gr_diags_free(&h.d);
    harness_clear(&h);
}

static void widened_keeps_f64(void **state) {
    (void)state;
    start();
    h.xw[0] = 1.0 + 0x1p-40;
    run_mode(MAIN("if (i > 0u) { return; } f[0] = v * v; f[1] = v + 0.1; f[2] = bitcast<f32>(bitcast<u32>(v)); f[3] = exp(v) / 3.0;\n"
                  " o[0] = u32(v > 1.0); f[4] = f32(i32(v * 3.0)); let t = vec2<f32>(v, 1.0); f[5] = dot(t, t);"),
             GR_EVAL_WIDENED, true);
    double v = 1.0 + 0x1p-40;
    assert_true(h.fw[0] == v * v);
    assert_true(h.fw[1] == v + (double)0.1f);
    assert_true(h.fw[2] == 1.0);
    assert_true(h.fw[3] == gr_exp(v) / 3.0);
    assert_int_equal(h.o[0], 1);
    assert_true(h.fw[4] == 3.0);
    assert_true(h.fw[5] == v * v + 1.0);
}

static void widened_without_wide_memory_rounds(void **state) {
    (void)state;
    start();
    run_mode(MAIN("f[i] = sqrt(v + 2.0) * 3.0;"), GR_EVAL_WIDENED, false);
    for (uint32_t i = 0; i < 16; i++) assert_true(h.f[i] == (float)(gr_sqrt((double)h.x[i] + 2.0) * 3.0));
}

static void widened_memory_of_all_spaces(void **state) {
    (void)state;
    start();
    for (int k = 0; k < 16; k++) h.xw[k] = 1.0 / (k + 3);
    run_mode("var<private> q: f32; var<workgroup> t: array<f32, 16>; const C = array<f32, 2>(0.5, 0.1);\n"
             MAIN("q = v; var a: array<f32, 4>; a[i % 4u] = q * 2.0; t[i] = a[i % 4u]; workgroupBarrier(); f[i] = t[15u - i] + C[i % 2u];"),
             GR_EVAL_WIDENED, true);
    for (int k = 0; k < 16; k++) assert_true(h.fw[k] == 2.0 / (15 - k + 3) + (k % 2 ? (double)0.1f : 0.5));
}

/* Bodies whose f32 result must lie within the bound of the bounded mode. */
static const char *const bounded_bodies[] = {
    "f[i] = v + 0.1;", "f[i] = v * 1.1 + 0.3;", "f[i] = (v + 0.1) * (v - 0.7) * 1.3;", "f[i] = v / 3.0;", "f[i] = (v * 1.1) / (v + 7.3);",
    "f[i] = sqrt(abs(v) + 0.1);", "f[i] = inverseSqrt(abs(v * 1.7) + 0.1);", "f[i] = exp(v * 1.1);", "f[i] = exp2(v * 0.7);",
    "f[i] = log(abs(v) * 1.3 + 0.2);", "f[i] = log2(abs(v) + 1.7);", "f[i] = pow(abs(v) + 1.1, v * 0.3);", "f[i] = sin(v * 0.5 + 0.1);",
    "f[i] = cos(v * 0.5 + 0.1);", "f[i] = tan(v * 0.2);", "f[i] = asin(v * 0.1);", "f[i] = acos(v * 0.1);", "f[i] = atan(v * 1.3);",
    "f[i] = atan2(v * 1.3, 2.1);", "f[i] = sinh(v * 0.9);", "f[i] = cosh(v * 0.9);", "f[i] = tanh(v * 1.1);", "f[i] = asinh(v * 1.1);",
    "f[i] = acosh(abs(v) * 1.1 + 1.2);", "f[i] = atanh(v * 0.13);", "f[i] = min(v * 1.1, 0.77);", "f[i] = max(v * 1.1, 0.77);",
    "f[i] = clamp(v * 1.3, -0.7, 0.9);", "f[i] = abs(v * 1.1 - 0.3);", "f[i] = fma(v, 1.1, 0.3);", "f[i] = mix(v, 2.3, 0.3);",
    "f[i] = smoothstep(-1.3, 1.7, v);", "f[i] = (v * 7.7) % 1.9;", "f[i] = fract(v * 1.37);", "f[i] = degrees(v * 1.1);", "f[i] = radians(v * 1.1);",
    "f[i] = ldexp(v * 1.1, 3);", "let a = vec3<f32>(v, 0.1, 1.3); f[i] = length(a);", "let a = vec3<f32>(v, 0.1, 1.3); f[i] = dot(a, a.zxy);",
    "let a = normalize(vec3<f32>(v, 0.1, 1.3)); f[i] = a.x;", "var s = 0.0; for (var k = 0u; k < 40u; k++) { s += v * 0.37; } f[i] = s;",
    "var p = 1.0; for (var k = 0u; k < 10u; k++) { p *= v * 0.37 + 1.0; } f[i] = p;", "f[i] = unpack2x16float(pack2x16float(vec2<f32>(v, 0.0))).x;",
    "f[i] = f32(16777217u + i);", "f[i] = f32(i32(v)) * 0.1;", "var q = v; if (v > 0.3) { q = q * 1.1; } f[i] = q + 0.1;",
    "let m = mat2x2<f32>(v, 0.1, 0.2, 1.3); f[i] = (m * vec2<f32>(0.3, 0.7)).y + determinant(m);",
    "var t: array<f32, 8>; t[i % 8u] = v * 1.1; f[i] = t[i % 8u] + 0.3;", "f[i] = select(v * 1.1, v * 1.3, i > 3u);",
};

static void bounds_hold(void **state) {
    (void)state;
    uint32_t used = 0;
    for (size_t k = 0; k < sizeof bounded_bodies / sizeof *bounded_bodies; k++) {
        static char text[2048];
        snprintf(text, sizeof text, MAIN("%s"), bounded_bodies[k]);
        static float f32s[16];
        start();
        for (int i = 0; i < 16; i++) h.x[i] = (float)i * 0.37f - 2.6f;
        run_mode(text, GR_EVAL_F32, false);
        memcpy(f32s, h.f, sizeof f32s);
        start();
        for (int i = 0; i < 16; i++) h.xw[i] = (double)((float)i * 0.37f - 2.6f);
        run_mode(text, GR_EVAL_BOUNDED, true);
        for (int i = 0; i < 16; i++) {
            double gap = (double)f32s[i] - h.fw[i];
            if (h.fm[i]) continue;
            used++;
            if (!(gr_fabs(gap) <= h.fe[i] || (gap != gap && h.fw[i] != h.fw[i])) || !(h.fe[i] <= 1e-2 + gr_fabs(h.fw[i])))
                print_message("%s lane %d: f32 %.9g wide %.17g bound %g\n", bounded_bodies[k], i, (double)f32s[i], h.fw[i], h.fe[i]);
            assert_true(gr_fabs(gap) <= h.fe[i] || (gap != gap && h.fw[i] != h.fw[i]));
        }
    }
    assert_true(used > 700);
}

static void exact_work_has_no_bound(void **state) {
    (void)state;
    start();
    run_mode(MAIN("var m = v; for (var k = 0u; k < 4u; k++) { m = max(m, x[i + k]); } f[i] = m; f[16u + i] = -abs(v); f[32u + i] = select(0.0, v, v > 0.5);"),
             GR_EVAL_BOUNDED, true);
    for (int i = 0; i < 48; i++) assert_true(h.fe[i] == 0 && !h.fm[i]);
}

/* Of exact operands, results that are f32: no rounding. One that is not, or another order of a sum, has a bound. */
static void exact_results_have_no_bound(void **state) {
    (void)state;
    const gr_eval_accuracy right[] = {{GR_STR("/"), 0.5, 0}, {GR_STR("sqrt"), 0.5, 0}};
    static const char text[] = MAIN("let q = v / 0.25; f[i] = floor(q * 0.125 + 0.5); f[16u + i] = sqrt(v * v * 0.0625) + 1e-3 * 0.0; f[32u + i] = (v + 0.015625) * 0.75; f[48u + i] = v / 0.3;");
    const gr_eval_options opt = {.mode = GR_EVAL_BOUNDED, .accuracy = right, .accuracy_n = 2};
    start();
    assert_true(harness_run(&h, text, &opt, 1, 1, 1, true));
    for (int i = 0; i < 16; i++) {
        assert_true(h.fe[i] == 0 && h.fm[i] == 0 && h.fe[16 + i] == 0 && h.fe[32 + i] == 0);
        assert_true(i == 4 || h.fe[48 + i] > 0);
    }
    start();
    run_mode(text, GR_EVAL_BOUNDED, true); /* division as WGSL grants it */
    assert_true(h.fe[0] > 0 || h.fm[0] || h.fe[16] > 0);
    const gr_eval_options any = {.mode = GR_EVAL_BOUNDED, .any_order = true, .accuracy = right, .accuracy_n = 2};
    start();
    assert_true(harness_run(&h, text, &any, 1, 1, 1, true));
    assert_true(h.fe[32] > 0);
}

/* WGSL grants sin, cos and tan nothing beyond pi; a measurement does. */
static void angles_beyond_pi_have_no_bound(void **state) {
    (void)state;
    static const char text[] = MAIN("f[i] = tan(v * 2.2); f[16u + i] = sin(v * 2.2); f[32u + i] = cos(v * 2.2);"); /* lane 0: 4.4 */
    start();
    run_mode(text, GR_EVAL_BOUNDED, true);
    for (int k = 0; k < 3; k++) assert_true(h.fe[16 * k] > 1e30 && h.fe[16 * k + 3] < 1);
    const gr_eval_accuracy right = {GR_STR("tan"), 0.5, 0};
    const gr_eval_options opt = {.mode = GR_EVAL_BOUNDED, .accuracy = &right, .accuracy_n = 1};
    start();
    assert_true(harness_run(&h, text, &opt, 1, 1, 1, true));
    assert_true(h.fe[0] < 1e-3);
}

static void straddling_decisions_are_marked(void **state) {
    (void)state;
    start();
    /* lane 4 has v == 0: (v + 1) * 0.1 - 0.1 is near 0 with an error, elsewhere far from it */
    run_mode(MAIN("let c = (v + 3.0) * 0.1 - 0.3; var r = 1.0; if (c > 0.0) { r = 2.0; } f[i] = r; f[16u + i] = floor(c); f[32u + i] = sign(c);\n"
                  " o[i] = u32(i32(c * 10.0)); o[16u + i] = select(1u, 2u, c < 0.0); f[48u + i] = c;"),
             GR_EVAL_BOUNDED, true);
    for (int i = 0; i < 16; i++) {
        bool near = i == 4;
        assert_int_equal(h.fm[i] != 0, near);
        assert_int_equal(h.fm[16 + i] != 0, near);
        assert_int_equal(h.fm[32 + i] != 0, near);
        assert_int_equal(h.om[16 + i] != 0, near);
        assert_false(h.fm[48 + i]);
    }
}

static void marks_follow_control(void **state) {
    (void)state;
    static const struct { const char *body; uint32_t marked; } t[] = {
        {"let c = (v + 3.0) * 0.1 - 0.3; var r = 0u; if (c > 0.0) { r = 1u; } o[i] = r;", 1u << 4},
        {"let c = (v + 3.0) * 0.1 - 0.3; var r = 0u; if (c > 0.0) { } else { r = 1u; } o[i] = r;", 1u << 4},
        {"let c = (v + 3.0) * 0.1 - 0.3; var r = 0u; if (c > 0.0) { r = 1u; } else { r = 1u; } o[i] = i;", 0},
        {"var s = v * 0.1 + 0.3; var n = 0u; while (s < 0.3) { s += 0.02; n++; } o[i] = n;", 0xFFFFFFFF},
        {"let c = (v + 3.0) * 0.1 - 0.3; if (c > 0.0) { o[i] = 1u; return; } o[i] = 2u;", 1u << 4},
        {"let c = (v + 3.0) * 0.1 - 0.3; o[i] = 3u; if (c > 0.0 && i > 9u) { o[i] = 1u; }", 0},
        {"let c = (v + 3.0) * 0.1 - 0.3; var a: array<u32, 4>; if (c > 0.0) { a[i % 4u] = 1u; } o[i] = a[i % 4u];", 1u << 4},
        {"let c = (v + 3.0) * 0.1 - 0.3; o[i] = select(1u, 2u, c == c);", 0}, /* a value against itself */
        {"let c = (v + 3.0) * 0.1 - 0.3; let e = (v + 3.0) * 0.1 - 0.3 + 0.0 * x[i]; o[i] = select(1u, 2u, c == e);", 0xBFBB},
        {"let c = (v + 3.0) * 0.1 - 0.3; let b = c > 0.0; let d = b || i < 8u; o[i] = u32(d);", 0},
    };
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        static char text[2048];
        snprintf(text, sizeof text, MAIN("%s"), t[k].body);
        start();
        run_mode(text, GR_EVAL_BOUNDED, true);
        uint32_t marked = 0;
        for (int i = 0; i < 16; i++) marked |= (uint32_t)(h.om[i] != 0) << i;
        if (t[k].marked == 0xFFFFFFFF) {
            assert_true(marked != 0);
            continue;
        }
        if (marked != t[k].marked) print_message("%s: marked %04x\n", t[k].body, marked);
        assert_int_equal(marked, t[k].marked);
    }
}

static void marks_and_bounds_pass_through_memory(void **state) {
    (void)state;
    start();
    h.xm[3] = 1;
    h.xe[5] = 0.25;
    run_mode(MAIN("f[i] = v;  o[i] = u32(v + 2.25);"), GR_EVAL_BOUNDED, true);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(h.fm[i] != 0, i == 3);
        assert_true(h.fe[i] == (i == 5 ? 0.25 : 0));
        assert_int_equal(h.om[i] != 0, i == 3 || (i == 5));
    }
}

/* Gross is what the value would be had nothing cancelled, through registers, private and workgroup memory, and storage. */
static void contributions_are_summed(void **state) {
    (void)state;
    static const struct { const char *body; double gross; } t[] = { /* of lane 0: v = -2, the sum of x[0..3] is -5, of magnitudes 5 */
        {"f[i] = v;", 2}, {"f[i] = v + 1.5;", 3.5}, {"f[i] = v - v;", 4}, {"f[i] = (v + 1.0) * (v + 3.0);", 15}, {"f[i] = (v + 2.0) / 4.0;", 1},
        {"f[i] = fma(v, 3.0, 6.0);", 12}, {"f[i] = -abs(v + 1.0);", 3}, {"f[i] = max(v + 1.0, -7.0);", 3}, {"f[i] = sqrt(v + 3.0);", 2.23606797749979},
        {"var s = 0.0; for (var k = 0u; k < 4u; k++) { s += x[k] * select(1.0, -1.0, k % 2u == 0u); } f[i] = s;", 5},
        {"var m: array<f32, 4>; m[i % 4u] = v + 1.0; f[i] = m[i % 4u] + 2.0;", 5}, {"var s = 0.0; if (i == 0u) { s = v + 1.0; } f[i] = s;", 3},
        {"f[i] = v + 1.0; f[i] = f[i] * 2.0;", 6}, {"let c = vec2<f32>(v, 1.0); f[i] = dot(c, vec2<f32>(1.0, 2.0));", 4},
    };
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        static char text[1024];
        snprintf(text, sizeof text, MAIN("%s"), t[k].body);
        start();
        run_mode(text, GR_EVAL_BOUNDED, true);
        if (gr_fabs(h.fg[0] - t[k].gross) > 1e-12) fail_msg("%s: %.17g, not %g", t[k].body, h.fg[0], t[k].gross);
    }
}

/* Sums and products of small integers are exact in every order, others are not; an order's own error hides what another would have. */
static void integers_are_exact_and_orders_differ(void **state) {
    (void)state;
    start();
    run_mode(MAIN("var s = 0.0; for (var k = 0u; k < 8u; k++) { s += floor(x[k]) * floor(x[k + 1u]); } f[i] = s; f[16u + i] = s * 0.3; f[32u + i] = s / 3.0;\n"
                  " f[48u + i] = (floor(v) + 16000000.0) + 800001.0;"), GR_EVAL_BOUNDED, true);
    assert_true(h.fe[0] == 0 && h.fg[0] > 0);
    assert_true(h.fe[16] > 0 && h.fe[32] > 0 && h.fe[48] > 0);
    static const char cancels[] = MAIN("f[i] = ((v * 1e3 + 0.1) + (v * -1e3 - 0.1)) + 0.3;");
    start();
    run_mode(cancels, GR_EVAL_BOUNDED, true);
    double strict = h.fe[0];
    const gr_eval_options opt = {.mode = GR_EVAL_BOUNDED, .any_order = true};
    start();
    assert_true(harness_run(&h, cancels, &opt, 1, 1, 1, true));
    assert_true(h.fe[0] > strict && h.fe[0] < 1e-2);
    assert_true(h.fg[0] > 4000 && h.fg[0] < 4001);
}

static void measured_accuracy_tightens(void **state) {
    (void)state;
    const gr_eval_accuracy acc = {.builtin = GR_STR("exp"), .ulps = 0.5};
    gr_eval_options opt = {.mode = GR_EVAL_BOUNDED};
    static const char text[] = MAIN("f[i] = exp(v);");
    start();
    assert_true(harness_run(&h, text, &opt, 1, 1, 1, true));
    double wide = h.fe[0];
    start();
    opt.accuracy = &acc;
    opt.accuracy_n = 1;
    assert_true(harness_run(&h, text, &opt, 1, 1, 1, true));
    assert_true(h.fe[0] < wide && h.fe[0] >= gr_ulp_f32(h.fw[0]));
    start();
    opt.flush_subnormals = true;
    double before = h.fe[0];
    assert_true(harness_run(&h, text, &opt, 1, 1, 1, true));
    assert_true(h.fe[0] >= before);
}

/* body and its derivative at v, as C expressions over v. */
#define DERIVATIVES(D) \
    D("f[i] = v * v * 3.0 + v;", 6 * v + 1) \
    D("f[i] = v / (v * v + 2.0);", (2 - v * v) / ((v * v + 2) * (v * v + 2))) \
    D("f[i] = exp(v);", gr_exp(v)) \
    D("f[i] = exp2(v);", gr_exp2(v) * 0.69314718055994530942) \
    D("f[i] = log(v + 4.0);", 1 / (v + 4)) \
    D("f[i] = log2(v + 4.0);", 1.4426950408889634074 / (v + 4)) \
    D("f[i] = sin(v) * cos(v);", gr_cos(2 * v)) \
    D("f[i] = tan(v * 0.25);", 0.25 * (1 + gr_tan(v * 0.25) * gr_tan(v * 0.25))) \
    D("f[i] = tanh(v);", 1 - gr_tanh(v) * gr_tanh(v)) \
    D("f[i] = sqrt(v + 4.0);", 0.5 / gr_sqrt(v + 4)) \
    D("f[i] = inverseSqrt(v + 4.0);", -0.5 * gr_pow(v + 4, -1.5)) \
    D("f[i] = pow(v + 4.0, 3.0);", 3 * (v + 4) * (v + 4)) \
    D("f[i] = pow(2.0, v);", gr_log(2) * gr_exp2(v)) \
    D("f[i] = atan(v);", 1 / (1 + v * v)) \
    D("f[i] = atan2(v, 2.0);", 2 / (4 + v * v)) \
    D("f[i] = asin(v * 0.125);", 0.125 / gr_sqrt(1 - v * v / 64)) \
    D("f[i] = acos(v * 0.125);", -0.125 / gr_sqrt(1 - v * v / 64)) \
    D("f[i] = sinh(v);", gr_cosh(v)) \
    D("f[i] = cosh(v);", gr_sinh(v)) \
    D("f[i] = asinh(v);", 1 / gr_sqrt(v * v + 1)) \
    D("f[i] = acosh(v + 4.5);", 1 / gr_sqrt((v + 4.5) * (v + 4.5) - 1)) \
    D("f[i] = atanh(v * 0.125);", 0.125 / (1 - v * v / 64)) \
    D("f[i] = abs(v);", v < 0 ? -1 : 1) \
    D("f[i] = max(v, 1.0);", v < 1 ? 0 : 1) \
    D("f[i] = min(v * 2.0, 1.0);", v * 2 <= 1 ? 2 : 0) \
    D("f[i] = fma(v, v, v);", 2 * v + 1) \
    D("f[i] = mix(v, 2.0, 0.25);", 0.75) \
    D("f[i] = fract(v) + floor(v) * 7.0;", 1) \
    D("f[i] = select(v, v * 5.0, v > 0.25);", v > 0.25 ? 5 : 1) \
    D("var s = 0.0; for (var k = 0u; k < 5u; k++) { s += v * f32(k); } f[i] = s;", 10) \
    D("var s = v; if (v > 0.25) { s = s * s; } f[i] = s;", v > 0.25 ? 2 * v : 1) \
    D("var t: array<f32, 4>; t[i % 4u] = v * 3.0; f[i] = t[i % 4u];", 3) \
    D("f[i] = ldexp(v, 3);", 8) \
    D("f[i] = v % 0.75;", 1) \
    D("let a = vec2<f32>(v, 3.0); f[i] = length(a);", v / gr_sqrt(v * v + 9)) \
    D("f[i] = degrees(radians(v));", 1)

static void derivatives_match(void **state) {
    (void)state;
#define TEXT(body, slope) MAIN(body),
    static const char *const texts[] = {DERIVATIVES(TEXT)};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        start();
        for (int i = 0; i < 16; i++) h.xw[i] = i * 0.3 - 2.05, h.xe[i] = 2.0;
        run_mode(texts[k], GR_EVAL_DUAL, true);
        for (int i = 0; i < 16; i++) {
            double v = h.xw[i];
#define SLOPE(body, slope) slope,
            const double want[] = {DERIVATIVES(SLOPE)};
            double gap = gr_fabs(h.fe[i] - 2 * want[k]), size = gr_fabs(want[k]) + 1;
            if (!(gap <= 1e-13 * size)) print_message("%s at %g: got %.17g want %.17g\n", texts[k], v, h.fe[i], 2 * want[k]);
            assert_true(gap <= 1e-13 * size);
        }
    }
}

static uint64_t trace_of(const char *text, double at) {
    const gr_eval_options opt = {.mode = GR_EVAL_DUAL, .trace = true};
    start();
    h.xw[0] = at;
    assert_true(harness_run(&h, text, &opt, 1, 1, 1, true));
    return h.stats.trace;
}

static void traces_tell_paths_apart(void **state) {
    (void)state;
    static const char *const texts[] = {
        MAIN("if (v > 1.0) { f[i] = v; } else { f[i] = 2.0 * v; }"), MAIN("f[i] = max(v, 1.0);"), MAIN("f[i] = abs(v - 1.0);"),
        MAIN("f[i] = floor(v);"), MAIN("f[i] = f32(i32(v));"), MAIN("f[i] = clamp(v, 1.0, 5.0);"), MAIN("f[i] = select(1.0, 2.0, v > 1.0);"),
        MAIN("var k = 0u; while (f32(k) < v) { k++; } f[i] = f32(k);"),
        MAIN("for (var k = 120u; k < (bitcast<u32>(v) >> 23u); k++) { f[i] = select(1.0, 2.0, v < 0.0); }"), /* more often, and never true */
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        assert_true(trace_of(texts[k], 0.75) == trace_of(texts[k], 0.8));
        assert_true(trace_of(texts[k], 0.75) != trace_of(texts[k], 1.25));
    }
}

static void options_are_honoured(void **state) {
    (void)state;
    static const char text[] = "override n: u32 = 3u; @id(5) override s: f32 = 1.0;\n" MAIN("o[0] = n; f[0] = s;");
    const gr_wgsl_override_value values[] = {{GR_STR("n"), 9}, {GR_STR("5"), 0.1}};
    gr_eval_options opt = {.mode = GR_EVAL_F32, .override = values, .override_n = 2};
    start();
    assert_true(harness_run(&h, text, &opt, 1, 1, 1, false));
    assert_int_equal(h.o[0], 9);
    assert_true(h.f[0] == 0.1f);
    start();
    opt = (gr_eval_options){.step_limit = 100};
    assert_false(harness_run(&h, MAIN("loop { if (o[5] == 1u) { break; } }"), &opt, 1, 1, 1, false));
    assert_true(gr_diags_has(&h.d, GR_D_WGSL_STEP_LIMIT));
    start();
    opt = (gr_eval_options){.subgroup_size = 4};
    assert_true(harness_run(&h, "enable subgroups;\n" MAIN("o[i] = subgroupAdd(i);"), &opt, 1, 1, 1, false));
    assert_int_equal(h.o[0], 6);
    assert_int_equal(h.o[15], 12 + 13 + 14 + 15);
}

static void bad_bindings_are_named(void **state) {
    (void)state;
    gr_arena a = {0};
    start();
    gr_wgsl_module *m = gr_wgsl_load(&a, &h.d, GR_STR("t"), GR_STR(MAIN("f[i] = v;")), NULL);
    gr_eval_program *p = gr_eval_compile(&a, &h.d, m, GR_STR("main"), NULL);
    assert_non_null(p);
    gr_eval_binding b[] = {{.binding = 1, .bytes = h.f, .size = sizeof h.f}, {.binding = 2, .bytes = h.x, .size = 2}};
    const uint32_t grid[3] = {1, 1, 1}, large[3] = {65536, 1, 1}, none[3] = {0, 1, 1};
    assert_false(gr_eval_dispatch(p, &h.d, b, 1, grid, NULL));
    assert_true(gr_diags_has(&h.d, GR_D_WGSL_BINDING_MISSING));
    assert_false(gr_eval_dispatch(p, &h.d, b, 2, grid, NULL));
    assert_true(gr_diags_has(&h.d, GR_D_WGSL_BINDING_SIZE));
    b[1].size = sizeof h.x;
    assert_false(gr_eval_dispatch(p, &h.d, b, 2, large, NULL));
    assert_true(gr_diags_has(&h.d, GR_D_WGSL_GRID_TOO_LARGE));
    gr_diags_clear(&h.d);
    assert_true(gr_eval_dispatch(p, &h.d, b, 2, none, NULL));
    assert_null(gr_eval_compile(&a, &h.d, m, GR_STR("other"), NULL));
    gr_arena_free(&a);
}

/* n functions, each calling the one before it `times` times. */
static bool too_large(uint32_t n, uint32_t times) {
    static char text[200000];
    size_t at = (size_t)snprintf(text, sizeof text, "fn f0() { }\n");
    for (uint32_t k = 1; k < n; k++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "fn f%u() { ", k);
        for (uint32_t j = 0; j < times; j++) at += (size_t)snprintf(text + at, sizeof text - at, "f%u(); ", k - 1);
        at += (size_t)snprintf(text + at, sizeof text - at, "}\n");
    }
    snprintf(text + at, sizeof text - at, "@compute @workgroup_size(1)\nfn main() { f%u(); }\n", n - 1);
    start();
    harness_run(&h, text, NULL, 1, 1, 1, false);
    return gr_diags_has(&h.d, GR_D_WGSL_EVAL_TOO_LARGE);
}

static void blow_up_is_refused(void **state) {
    (void)state;
    assert_true(too_large(40, 2));
    assert_true(too_large(1000, 1));
    assert_false(too_large(100, 1));
    start();
    assert_false(harness_run(&h, MAIN("var a: array<array<u32, 300>, 300>; a[i][i] = 1u; o[i] = a[1][i];"), NULL, 1, 1, 1, false));
    assert_true(gr_diags_has(&h.d, GR_D_WGSL_EVAL_TOO_LARGE));
}

/* Every allocation of compiling and running may fail: a report, no crash. */
static void failing_memory_is_reported(void **state) {
    (void)state;
    static const char text[] = "var<private> q: array<f32, 5>; var<workgroup> t: array<u32, 4>;\n"
                               MAIN("q[i % 5u] = v; t[i % 4u] = i; f[i] = q[i % 5u]; if (i > 3u) { f[i] += 1.0; }");
    for (uint64_t n = 1;; n++) {
        start();
        gr_heap_fail_nth(n);
        const gr_eval_options opt = {.mode = GR_EVAL_BOUNDED};
        bool ok = harness_run(&h, text, &opt, 1, 1, 1, true);
        gr_heap_fail_nth(0);
        if (ok && !h.d.out_of_memory) {
            assert_true(n > 10);
            break;
        }
        assert_true(h.d.out_of_memory || !gr_diags_ok(&h.d));
    }
}

int main(void) {
    gr_diags_init(&h.d);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widened_keeps_f64), cmocka_unit_test(widened_without_wide_memory_rounds),
        cmocka_unit_test(widened_memory_of_all_spaces), cmocka_unit_test(bounds_hold), cmocka_unit_test(exact_work_has_no_bound), cmocka_unit_test(exact_results_have_no_bound), cmocka_unit_test(angles_beyond_pi_have_no_bound),
        cmocka_unit_test(straddling_decisions_are_marked), cmocka_unit_test(marks_follow_control),
        cmocka_unit_test(marks_and_bounds_pass_through_memory), cmocka_unit_test(contributions_are_summed),
        cmocka_unit_test(integers_are_exact_and_orders_differ), cmocka_unit_test(measured_accuracy_tightens),
        cmocka_unit_test(derivatives_match), cmocka_unit_test(traces_tell_paths_apart), cmocka_unit_test(options_are_honoured),
        cmocka_unit_test(bad_bindings_are_named), cmocka_unit_test(failing_memory_is_reported), cmocka_unit_test(blow_up_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
