#include "ladder/run/webgpu/profile_int.h"

#include "base/math.h"
#include "base/rng.h"

/* Samples of each builtin: edges of the domain first, then seeded points. */
enum { SAMPLES = 16384 };

typedef enum spread { LINEAR = 1, EXPONENT /* uniform in the logarithm, both signs where lo < 0 */ } spread;
typedef double one_fn(double);
typedef double two_fn(double, double);

typedef struct range { spread spread; double lo, hi; } range;

/* The functions measured. Expressions are WGSL over a and b; domains keep results normal. */
typedef struct builtin {
    const char *expression, *domain;
    one_fn *one;
    two_fn *two;
    range a, b;
    bool extra;
    bool halves; /* a is made twice a half, so that ties are met */
} builtin;

static double fraction(double x) { return x - gr_floor(x); }
static double add(double x, double y) { return x + y; }
static double subtract(double x, double y) { return x - y; }
static double multiply(double x, double y) { return x * y; }
static double divide(double x, double y) { return x / y; }
static double degrees(double x) { return x * 57.295779513082320877; }
static double radians(double x) { return x * 0.017453292519943295769; }
static double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
static double least(double x, double y) { return y < x ? y : x; }
static double most(double x, double y) { return x < y ? y : x; }

static const double pi = 3.14159274101257324; /* the f32 */

#define NONE {0, 0, 0}
static const builtin builtins[] = {
    {"a + b", "|x| in 2^-40 .. 2^40", NULL, add, {EXPONENT, -0x1p40, 0x1p40}, {EXPONENT, -0x1p40, 0x1p40}, false, false},
    {"a - b", "|x| in 2^-40 .. 2^40", NULL, subtract, {EXPONENT, -0x1p40, 0x1p40}, {EXPONENT, -0x1p40, 0x1p40}, false, false},
    {"a * b", "|x| in 2^-60 .. 2^60", NULL, multiply, {EXPONENT, -0x1p60, 0x1p60}, {EXPONENT, -0x1p60, 0x1p60}, false, false},
    {"a / b", "|x| in 2^-60 .. 2^60", NULL, divide, {EXPONENT, -0x1p60, 0x1p60}, {EXPONENT, -0x1p60, 0x1p60}, false, false},
    {"sqrt(a)", "2^-120 .. 2^120", gr_sqrt, NULL, {EXPONENT, 0x1p-120, 0x1p120}, NONE, false, false},
    {"inverseSqrt(a)", "2^-120 .. 2^120", gr_inverse_sqrt, NULL, {EXPONENT, 0x1p-120, 0x1p120}, NONE, false, false},
    {"exp(a)", "-86 .. 88", gr_exp, NULL, {LINEAR, -86, 88}, NONE, false, false},
    {"exp2(a)", "-125 .. 127", gr_exp2, NULL, {LINEAR, -125, 127}, NONE, false, false},
    {"log(a)", "2^-120 .. 2^120", gr_log, NULL, {EXPONENT, 0x1p-120, 0x1p120}, NONE, false, false},
    {"log2(a)", "2^-120 .. 2^120", gr_log2, NULL, {EXPONENT, 0x1p-120, 0x1p120}, NONE, false, false},
    {"pow(a, b)", "2^-8 .. 2^8 to the -8 .. 8", NULL, gr_pow, {EXPONENT, 0x1p-8, 0x1p8}, {LINEAR, -8, 8}, false, false},
    {"sin(a)", "-pi .. pi", gr_sin, NULL, {LINEAR, -pi, pi}, NONE, false, false},
    {"cos(a)", "-pi .. pi", gr_cos, NULL, {LINEAR, -pi, pi}, NONE, false, false},
    {"tan(a)", "-1.5 .. 1.5", gr_tan, NULL, {LINEAR, -1.5, 1.5}, NONE, false, false},
    {"sin(a)", "-1024 .. 1024", gr_sin, NULL, {LINEAR, -1024, 1024}, NONE, true, false},
    {"cos(a)", "-1024 .. 1024", gr_cos, NULL, {LINEAR, -1024, 1024}, NONE, true, false},
    {"asin(a)", "-1 .. 1", gr_asin, NULL, {LINEAR, -1, 1}, NONE, false, false},
    {"acos(a)", "-1 .. 1", gr_acos, NULL, {LINEAR, -1, 1}, NONE, false, false},
    {"atan(a)", "|x| in 2^-30 .. 2^30", gr_atan, NULL, {EXPONENT, -0x1p30, 0x1p30}, NONE, false, false},
    {"atan2(a, b)", "|x| in 2^-20 .. 2^20", NULL, gr_atan2, {EXPONENT, -0x1p20, 0x1p20}, {EXPONENT, -0x1p20, 0x1p20}, false, false},
    {"sinh(a)", "-80 .. 80", gr_sinh, NULL, {LINEAR, -80, 80}, NONE, false, false},
    {"cosh(a)", "-80 .. 80", gr_cosh, NULL, {LINEAR, -80, 80}, NONE, false, false},
    {"tanh(a)", "|x| in 2^-30 .. 2^5", gr_tanh, NULL, {EXPONENT, -0x1p5, 0x1p5}, NONE, false, false},
    {"asinh(a)", "|x| in 2^-30 .. 2^30", gr_asinh, NULL, {EXPONENT, -0x1p30, 0x1p30}, NONE, false, false},
    {"acosh(a)", "1 .. 2^30", gr_acosh, NULL, {EXPONENT, 1, 0x1p30}, NONE, false, false},
    {"atanh(a)", "-0.999 .. 0.999", gr_atanh, NULL, {LINEAR, -0.999, 0.999}, NONE, false, false},
    {"degrees(a)", "|x| in 2^-30 .. 2^30", degrees, NULL, {EXPONENT, -0x1p30, 0x1p30}, NONE, false, false},
    {"radians(a)", "|x| in 2^-30 .. 2^30", radians, NULL, {EXPONENT, -0x1p30, 0x1p30}, NONE, false, false},
    {"fract(a)", "-1000 .. 1000", fraction, NULL, {LINEAR, -1000, 1000}, NONE, false, false},
    {"floor(a)", "-1000 .. 1000", gr_floor, NULL, {LINEAR, -1000, 1000}, NONE, false, false},
    {"ceil(a)", "-1000 .. 1000", gr_ceil, NULL, {LINEAR, -1000, 1000}, NONE, false, false},
    {"trunc(a)", "-1000 .. 1000", gr_trunc, NULL, {LINEAR, -1000, 1000}, NONE, false, false},
    {"round(a * 0.5)", "halves in -1000 .. 1000", gr_round_even, NULL, {LINEAR, -1000, 1000}, NONE, false, true},
    {"abs(a)", "-1000 .. 1000", gr_fabs, NULL, {LINEAR, -1000, 1000}, NONE, false, false},
    {"sign(a)", "-1000 .. 1000", sign, NULL, {LINEAR, -1000, 1000}, NONE, false, false},
    {"min(a, b)", "-1000 .. 1000", NULL, least, {LINEAR, -1000, 1000}, {LINEAR, -1000, 1000}, false, false},
    {"max(a, b)", "-1000 .. 1000", NULL, most, {LINEAR, -1000, 1000}, {LINEAR, -1000, 1000}, false, false},
};
#undef NONE
/* "a / b" is "/", everything else is what stands before the parenthesis. */
static const char *name_of(gr_arena *a, const builtin *f) {
    const char *open = strchr(f->expression, '(');
    return open ? gr_arena_strndup(a, f->expression, (size_t)(open - f->expression)) : gr_arena_strndup(a, f->expression + 2, 1);
}

enum { BUILTINS = sizeof builtins / sizeof *builtins };

static float sample(const range *r, gr_rng *rng, uint32_t i) {
    const double edges[] = {r->lo, r->hi, 1, -1, 0.5, 2};
    if (r->spread == 0) return 1;
    if (i < 6 && edges[i] >= r->lo && edges[i] <= r->hi) return (float)edges[i];
    double u = gr_rng_f64(rng);
    if (r->spread == LINEAR) return (float)(r->lo + (r->hi - r->lo) * u);
    double least_size = r->lo > 0 ? r->lo : 1 / r->hi;
    if (r->lo < 0 && r->hi < 0x1p10) least_size = 0x1p-30;
    double x = least_size * gr_exp2(u * gr_log2(r->hi / least_size));
    return (float)(r->lo < 0 && gr_rng_u32(rng) & 1 ? -x : x);
}

typedef struct work { float *a, *b, *y; } work;

static void fill(const builtin *f, uint32_t number, work *w) {
    gr_rng rng = gr_rng_seed(1000 + number);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        w->a[i] = sample(&f->a, &rng, i);
        if (f->halves) w->a[i] = (float)gr_round_even((double)w->a[i]);
        w->b[i] = sample(&f->b, &rng, f->b.spread ? i / 6 : 0);
    }
}

static bool run(gr_diags *d, gr_gpu *g, const builtin *f, work *w) {
    gr_buf t = {0};
    gr_buf_puts(&t, "@group(0) @binding(0) var<storage, read> x: array<f32>;\n");
    if (f->two) gr_buf_puts(&t, "@group(0) @binding(1) var<storage, read> z: array<f32>;\n");
    gr_buf_puts(&t, "@group(0) @binding(2) var<storage, read_write> y: array<f32>;\n"
                    "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n  let a = x[id.x];\n");
    if (f->two) gr_buf_puts(&t, "  let b = z[id.x];\n");
    gr_buf_printf(&t, "  y[id.x] = %s;\n}\n", f->expression);
    gr_gpu_arg args[3] = {{0, 0, GR_GPU_READ, w->a, SAMPLES * 4}, {0, 2, GR_GPU_READ_WRITE, w->y, SAMPLES * 4}, {0, 1, GR_GPU_READ, w->b, SAMPLES * 4}};
    bool ok = !t.failed ? gr_gpu_run_wgsl(g, gr_str_of(f->expression), gr_buf_view(&t), GR_STR("main"), NULL, 0, args, f->two ? 3 : 2, (uint32_t[]){SAMPLES / 64, 1, 1}, d) : gr_report_oom(d);
    gr_buf_free(&t);
    return ok;
}

static double truth(const builtin *f, const work *w, uint32_t i) {
    double a = (double)w->a[i];
    if (f->halves) a *= 0.5;
    return f->two ? f->two(a, (double)w->b[i]) : f->one(a);
}

/* True when the sample counts; ulps of its error, and the error. */
static bool measure(const builtin *f, const work *w, uint32_t i, double *r, double *error, double *ulps) {
    *r = truth(f, w, i);
    double y = (double)w->y[i], size = gr_fabs(*r);
    if (gr_isnan(*r) || size > 0x1.fffffep127 || (size < 0x1p-126 && size != 0)) return false;
    *error = gr_isnan(y) || gr_fabs(y) > 0x1.fffffep127 ? 0x1p128 : gr_fabs(y - *r);
    *ulps = *error / (size == 0 ? 0x1p-149 : gr_ulp_f32(*r));
    return true;
}

/* First the worst where |r| >= 1/2, then what absolute error is needed on top elsewhere. */
static void judge(const builtin *f, const work *w, gr_profile_error *out) {
    double r, error, ulps;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        if (!measure(f, w, i, &r, &error, &ulps)) {
            out->skipped++;
            continue;
        }
        if (ulps > out->worst_ulps) {
            out->worst_ulps = ulps;
            out->worst_at[0] = (double)w->a[i];
            out->worst_at[1] = f->two ? (double)w->b[i] : 0;
        }
        if (gr_fabs(r) >= 0.5 && ulps > out->ulps) out->ulps = ulps;
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        if (!measure(f, w, i, &r, &error, &ulps)) continue;
        double more = error - out->ulps * gr_ulp_f32(r);
        if (more > out->absolute) out->absolute = more;
    }
    out->samples = SAMPLES - out->skipped;
}

bool profile_errors(gr_arena *a, gr_diags *d, gr_gpu *g, gr_gpu_profile *out) {
    out->errors = GR_NEW_N(a, gr_profile_error, BUILTINS);
    out->accuracy = GR_NEW_N(a, gr_eval_accuracy, BUILTINS);
    work w = {gr_heap_alloc(SAMPLES, sizeof(float)), gr_heap_alloc(SAMPLES, sizeof(float)), gr_heap_alloc(SAMPLES, sizeof(float))};
    bool ok = out->errors && out->accuracy && w.a && w.b && w.y;
    if (!ok) gr_report_oom(d);
    for (uint32_t i = 0; i < BUILTINS && ok; i++) {
        const builtin *f = &builtins[i];
        fill(f, i, &w);
        ok = run(d, g, f, &w);
        if (!ok) break;
        gr_profile_error *e = &out->errors[out->errors_n++];
        const char *name = name_of(a, f);
        if (!name) {
            ok = gr_report_oom(d);
            break;
        }
        *e = (gr_profile_error){.builtin = name, .domain = f->domain, .extra = f->extra};
        judge(f, &w, e);
        if (!f->extra) out->accuracy[out->accuracy_n++] = (gr_eval_accuracy){gr_str_of(name), e->ulps, e->absolute};
    }
    gr_heap_free(w.a);
    gr_heap_free(w.b);
    gr_heap_free(w.y);
    return ok;
}
