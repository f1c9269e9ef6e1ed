/* Derivatives written as WGSL against the evaluator's dual numbers: every float builtin, operators, statements, kinks, and
 * the same again for the derivative of the derivative. */
#include "wgsl/eval-harness.h"

#include "wgsl/derive.h"

typedef struct derive_case {
    const char *functions; /* WGSL beside map_body; NULL for none */
    const char *expr;      /* over p, q, r: f32 */
} derive_case;

static const derive_case cases[] = {
    {NULL, "abs(p) * q"}, {NULL, "acos(p * 0.3)"}, {NULL, "acosh(p * p + 1.5)"}, {NULL, "asin(p * 0.3 + q * 0.1)"}, {NULL, "asinh(p)"},
    {NULL, "atan(p * q)"}, {NULL, "atan2(p, q)"}, {NULL, "atanh(p * 0.3)"}, {NULL, "ceil(p) * q"}, {NULL, "clamp(p, -0.5, 0.5)"},
    {NULL, "clamp(p, min(q, r), max(q, r))"}, {NULL, "cos(p) * sin(q)"}, {NULL, "cosh(p)"}, {NULL, "degrees(p)"}, {NULL, "radians(p * p)"},
    {NULL, "exp(p) - exp(-p * q)"}, {NULL, "exp2(p * q)"}, {NULL, "floor(p) + q"}, {NULL, "fma(p, q, r)"}, {NULL, "fma(p, 2.0, 1.0)"}, {NULL, "fma(2.0, p * r, q)"},
    {NULL, "fract(p) * q"}, {NULL, "inverseSqrt(p * p + 0.5)"}, {NULL, "ldexp(p * q, 3)"}, {NULL, "log(abs(p) + 0.5)"}, {NULL, "log2(abs(p) + 0.5)"},
    {NULL, "max(p, q)"}, {NULL, "min(p * q, r)"}, {NULL, "max(0.0, p)"}, {NULL, "mix(p, q, r)"}, {NULL, "mix(1.0, q, p)"}, {NULL, "mix(p, 2.0, 0.25)"},
    {NULL, "modf(p).fract * q"}, {NULL, "modf(p).whole * q"}, {NULL, "frexp(p).fract"}, {NULL, "pow(abs(p) + 0.2, q)"}, {NULL, "pow(2.0, p)"}, {NULL, "pow(abs(p) + 0.1, 3.0)"},
    {NULL, "round(p) + p"}, {NULL, "saturate(p)"}, {NULL, "select(p * p, q, r > 0.0)"}, {NULL, "sign(p) * q"}, {NULL, "sinh(p * q)"},
    {NULL, "smoothstep(-1.0, 1.5, p)"}, {NULL, "smoothstep(p, q + 5.0, r)"}, {NULL, "sqrt(p * p + q * q + 0.1)"}, {NULL, "step(p, q) + p"}, {NULL, "tan(p * 0.5)"},
    {NULL, "tanh(p) * tanh(q)"}, {NULL, "trunc(p) * p"}, {NULL, "length(vec2(p, q))"}, {NULL, "length(p)"}, {NULL, "distance(vec3(p, q, r), vec3(1.0, 2.0, q))"}, {NULL, "distance(p, q)"},
    {NULL, "dot(vec2(p, q), vec2(q, r))"}, {NULL, "dot(normalize(vec2(p, q)), vec2(1.0, 2.0))"}, {NULL, "cross(vec3(p, q, r), vec3(r, 1.0, p)).y"},
    {NULL, "dot(reflect(vec2(p, q), vec2(r, 0.5)), vec2(1.0, 3.0))"}, {NULL, "faceForward(vec2(p, q), vec2(q, r), vec2(1.0, 1.0)).x"},
    {NULL, "(vec3(p, q, r) * 2.0 + p).zyx[1]"}, {NULL, "dot(max(vec2(p, q), vec2(r)), vec2(1.0, 3.0))"}, {NULL, "abs(vec2(p, q)).y * clamp(vec2(p), vec2(-1.0), vec2(1.0)).x"},
    {NULL, "(mat2x2<f32>(p, q, r, 1.0) * vec2(p, 2.0)).x"}, {NULL, "(transpose(mat2x2<f32>(p, q, r, 1.0)) * vec2(q, 2.0)).y"},
    {NULL, "-p"}, {NULL, "-(p - q) * -r"}, {NULL, "p / q - q / p / r"}, {NULL, "p % 0.75 + q % p"}, {NULL, "(p + 1.0) * (q - p) / (r * r + 1.0)"}, {NULL, "1.0 - p"}, {NULL, "q - p"},
    {NULL, "f32(i32(p * 3.0)) * q"}, {NULL, "select(1.0, p, !(p > q && q < r))"}, {NULL, "q"}, {NULL, "3.0"}, {NULL, "exp(exp(sin(p) * 0.3))"},
    {"fn h(x: f32) -> f32 { return x * x; }\n", "h(h(p)) + h(q * p)"},
    {"fn h(x: f32, n: i32) -> f32 { var acc = 1.0; for (var i = 0; i < n; i++) { acc *= x; if acc > 3.0 { break; } } return acc; }\n", "h(p, 5) * q"},
    {"fn h(x: f32, y: f32) -> f32 { if x > y { return x * y; } else if x < -1.0 { return 2.0; } return sin(x); }\n", "h(p, q) + h(q, p)"},
    {"fn h(x: f32) -> f32 { let x2 = x * x; { let x2 = x2 + x; return x2 * 0.5; } }\n", "h(p)"},
    {"fn h(x: f32) -> f32 { var a: array<f32, 3>; a[0] = x; a[1] = x * a[0]; a[2] += a[1] * 2.0; a[2] -= x; a[0] /= x + 4.0; return a[0] * a[1] + a[2]; }\n", "h(p) * h(q)"},
    {"struct S { a: f32, b: vec2<f32>, }\nfn h(x: f32) -> f32 { var s: S; s.a = x; s.b.y = x * x; s.b.x = 3.0; return s.a * s.b.y + s.b.x; }\n", "h(p)"},
    {"fn h(x: f32) -> f32 { var v = vec2(x, 1.0); v *= 2.0; v.x = v.x * v.y; return v.x + v.y; }\n", "h(p)"},
    {"fn h(x: f32) -> f32 { switch i32(floor(x)) { case -2, -1: { return x * x; } case 0: { return -x; } default: { return exp(x); } } }\n", "h(p)"},
    {"fn h(x: f32) -> f32 { var y = 1.0; var i = 0; loop { if i >= 4 { break; } y = y * 0.5 + x / (y + 3.0); continuing { i += 1; } } while i > 0 { i--; y += x; } return y; }\n", "h(p)"},
    {"fn is_nan_bits(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }\nfn h(x: f32) -> f32 { if is_nan_bits(x) { return x; } return x * x; }\n", "h(p)"},
    {"const K = 3.0; // a comment\nfn h(x: f32 /* here */) -> f32 { return x * K; }\n", "h(p /* and */ + q)"},
    {"fn p_d(p: f32) -> f32 { return p * p; } fn h(p: f32) -> f32 { let p_d_ = p_d(p); return p_d_ * p; }\n", "h(p)"},
};

/* At kinks the branch that the evaluator takes: p, q, r all equal, or zero. */
static const derive_case kinks[] = {
    {NULL, "abs(p)"}, {NULL, "max(p, q)"}, {NULL, "min(p, q)"}, {NULL, "max(q, p)"}, {NULL, "clamp(p, q, r)"}, {NULL, "saturate(p)"}, {NULL, "length(p - q)"}, {NULL, "distance(p, q)"},
    {NULL, "select(p, q * 2.0, p < q)"}, {NULL, "floor(p) + sign(q) + step(p, q) + round(r)"}, {NULL, "max(0.0, p) + min(p, 0.0)"}, {NULL, "clamp(p, -1.0, 0.0)"},
};

enum { POINTS = HARNESS_WORDS / 3 };
static const char *const names[3] = {"p", "q", "r"};

static void text_of(char *out, size_t room, gr_str functions, gr_str expr) {
    snprintf(out, room, HARNESS_IO "%.*s\nfn map_body(p: f32, q: f32, r: f32, d_y: f32, d_z: f32) -> f32 { return %.*s; }\n"
             "@compute @workgroup_size(%d) fn main(@builtin(local_invocation_index) i: u32) { f[i] = map_body(x[3u * i], x[3u * i + 1u], x[3u * i + 2u], 1.0, 1.0); }\n",
             GR_STR_ARG(functions), GR_STR_ARG(expr), POINTS);
}

static double point(uint32_t seed) { /* in (-2, 2), 24 bits, never a half of an integer */
    seed = (seed ^ (seed >> 16)) * 0x7feb352du;
    seed = (seed ^ (seed >> 15)) * 0x846ca68bu;
    return (double)(float)((double)(seed >> 8) * 0x1p-22 - 1.9997);
}

typedef struct outcome { double value[POINTS]; bool ok; } outcome;

static outcome run(const char *text, gr_eval_mode mode, int seed_at, bool kink) {
    static harness h;
    outcome o = {.ok = false};
    harness_clear(&h);
    for (uint32_t i = 0; i < HARNESS_WORDS; i++) {
        h.xw[i] = kink ? (i % 9 < 3 ? 0.0 : i % 9 < 6 ? 1.0 : -0.25) : point(i + 1);
        h.x[i] = (float)h.xw[i];
        h.xe[i] = (int)(i % 3) == seed_at ? 1 : 0;
    }
    const gr_eval_options opt = {.mode = mode};
    o.ok = harness_run(&h, text, &opt, 1, 1, 1, true);
    if (!o.ok) harness_explain(&h, "derive", text);
    for (int i = 0; i < POINTS; i++) o.value[i] = mode == GR_EVAL_DUAL ? h.fe[i] : h.fw[i];
    gr_diags_free(&h.d);
    return o;
}

static double worst;

static void compare(const char *what, const char *by, const outcome *dual, const outcome *derived) {
    assert_true(dual->ok && derived->ok);
    for (int i = 0; i < POINTS; i++) {
        double a = dual->value[i], b = derived->value[i], off = gr_fabs(a - b) / (1 + gr_fabs(a));
        if (off > worst) worst = off;
        if (off <= 1e-11) continue;
        print_message("d %s / d %s at point %d: dual %.17g, derived %.17g\n", what, by, i, a, b);
        fail();
    }
}

/* Derives expr by a parameter, runs it, and compares with dual numbers; the result's text for the next order. */
static void check(gr_arena *a, const char *what, gr_str functions, gr_str expr, const char *tangent, int by, bool kink, gr_str *all, gr_str *out) {
    static char text[1 << 17];
    gr_diags d;
    gr_diags_init(&d);
    text_of(text, sizeof text, functions, expr);
    gr_wgsl_module *m = gr_wgsl_load(a, &d, GR_STR("case.wgsl"), gr_str_dup(a, gr_str_of(text)), NULL);
    if (!m) print_message("%s\n%.*s\n", text, d.list.n ? (int)d.list.v[0].message.n : 0, d.list.n ? d.list.v[0].message.p : "");
    assert_non_null(m);
    outcome dual = run(text, GR_EVAL_DUAL, by, kink);
    gr_wgsl_derived more = {.arena = a};
    bool ok = gr_wgsl_derive(a, &d, m, GR_STR("map_body"), gr_str_of(names[by]), gr_str_of(tangent), (gr_str){0}, &more, out);
    if (!ok) print_message("%s by %s: %.*s\n", what, names[by], d.list.n ? (int)d.list.v[0].message.n : 0, d.list.n ? d.list.v[0].message.p : "");
    assert_true(ok);
    gr_buf joined = {0};
    gr_buf_str(&joined, functions);
    gr_buf_str(&joined, gr_buf_view(&more.text));
    *all = gr_str_dup(a, gr_buf_view(&joined));
    if (!out->n) *out = GR_STR("0.0");
    text_of(text, sizeof text, *all, *out);
    outcome derived = run(text, GR_EVAL_WIDENED, -1, kink);
    compare(what, names[by], &dual, &derived);
    gr_buf_free(&joined);
    gr_buf_free(&more.text);
    gr_diags_free(&d);
}

static void check_orders(const derive_case *c, bool kink) {
    gr_arena a = {0};
    gr_str functions = gr_str_of(c->functions ? c->functions : ""), all, one, all2, two;
    for (int by = 0; by < 3; by++) {
        check(&a, c->expr, functions, gr_str_of(c->expr), "d_y", by, kink, &all, &one);
        for (int then = 0; then < 3 && !kink; then++) check(&a, one.p, all, one, "d_z", then, kink, &all2, &two);
    }
    gr_arena_free(&a);
}

static void derivatives_are_those_of_dual_numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_orders(&cases[i], false);
    print_message("worst %.2g over %zu expressions, first and second order\n", worst, sizeof cases / sizeof *cases);
}

static void kinks_follow_the_branch_taken(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinks / sizeof *kinks; i++) check_orders(&kinks[i], true);
}

/* Every builtin that takes and gives floats has a case above or is refused by name. */
static void refusals_are_named(void **state) {
    (void)state;
    static const struct { const char *functions, *expr, *message; } all[] = {
        {"", "determinant(mat2x2<f32>(p, q, r, 1.0))", "the builtin determinant has no derivative"},
        {"", "refract(vec2(p, q), vec2(q, r), 0.5).x", "the builtin refract has no derivative"},
        {"", "bitcast<f32>(bitcast<u32>(p) ^ 0x80000000u)", "the bits of a float"},
        {"", "unpack2x16float(pack2x16float(vec2(p, q))).x", "the bits of a float"},
        {"fn bits(x: f32) -> u32 { return bitcast<u32>(x); } fn back(u: u32) -> f32 { return bitcast<f32>(u); }", "back(bits(p))", "the bits of a float"},
        {"fn to(x: ptr<function, f32>) -> f32 { return *x; } fn h(x: f32) -> f32 { var y = x; return to(&y); }", "h(p)", "a pointer"},
        {"fn h(x: f32) -> f32 { let m = modf(x); return m.fract; }", "h(p)", "modf"},
    };
    static char text[4096];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        gr_arena a = {0};
        gr_diags d;
        gr_str expr;
        gr_wgsl_derived more = {.arena = &a};
        gr_diags_init(&d);
        text_of(text, sizeof text, gr_str_of(all[i].functions), gr_str_of(all[i].expr));
        gr_wgsl_module *m = gr_wgsl_load(&a, &d, GR_STR("case.wgsl"), gr_str_of(text), NULL);
        assert_non_null(m);
        assert_false(gr_wgsl_derive(&a, &d, m, GR_STR("map_body"), GR_STR("p"), GR_STR("1.0"), (gr_str){0}, &more, &expr));
        assert_true(gr_diags_has(&d, GR_D_WGSL_NOT_DIFFERENTIABLE));
        if (!strstr(d.list.v[0].message.p, all[i].message)) print_message("%s: %s\n", all[i].expr, d.list.v[0].message.p);
        assert_non_null(strstr(d.list.v[0].message.p, all[i].message));
        assert_true(d.list.v[0].place.line > 0);
        gr_buf_free(&more.text);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_are_those_of_dual_numbers), cmocka_unit_test(kinks_follow_the_branch_taken), cmocka_unit_test(refusals_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
