/* Lane operations that call a function: f32 results are the f64 kernel rounded once. */
#include "base/math.h"
#include "wgsl/lane.h"
#include "wgsl/lane_suites.h"

#include <string.h>

static double degrees_of(double x) { return x * 57.295779513082320876798154814105; }
static double radians_of(double x) { return x * 0.017453292519943295769236907684886; }
static double half_of(double x) { return (double)gr_f32_from_f16(gr_f16_from_f64(x)); }
static double ldexp_of(double x, uint32_t e) {
    int32_t k;
    memcpy(&k, &e, sizeof k);
    return gr_ldexp(x, k < -4000 ? -4000 : k > 4000 ? 4000 : k);
}
static double frexp_m(double x) {
    int e;
    return x - x == 0 ? gr_frexp(x, &e) : x;
}
static uint32_t frexp_e(double x) {
    int e = 0;
    if (x - x == 0) gr_frexp(x, &e);
    return (uint32_t)e;
}
static double within(double x, double low, double high) { return !(x > low) ? low : x > high ? high : x; }
static uint32_t norm(double x, double low, double scale, uint32_t mask) {
    double f = within((double)(float)x, low, 1.0);
    return (uint32_t)(int32_t)gr_floor(0.5 + scale * f) & mask;
}
static uint32_t f2h_of(double x) { return gr_f16_from_f64(x); }
static double h2f_of(uint32_t x) { return (double)gr_f32_from_f16((uint16_t)(x & 0xFFFFu)); }
static double from_snorm(int32_t v, double scale) { return within((double)v / scale, -1.0, 1.0); }
static uint32_t snorm8_of(double x) { return norm(x, -1, 127, 0xFF); }
static uint32_t unorm8_of(double x) { return norm(x, 0, 255, 0xFF); }
static uint32_t snorm16_of(double x) { return norm(x, -1, 32767, 0xFFFF); }
static uint32_t unorm16_of(double x) { return norm(x, 0, 65535, 0xFFFF); }
static double from_snorm8(uint32_t x) { return from_snorm((int8_t)(x & 0xFF), 127); }
static double from_unorm8(uint32_t x) { return (double)(x & 0xFF) / 255; }
static double from_snorm16(uint32_t x) { return from_snorm((int16_t)(x & 0xFFFF), 32767); }
static double from_unorm16(uint32_t x) { return (double)(x & 0xFFFF) / 65535; }
static double inverse_sqrt_of(double x) { return 1.0 / gr_sqrt(x); }

/* name, function */
#define CALLS1(X) \
    X(EXP, gr_exp) X(EXP2, gr_exp2) X(LOG, gr_log) X(LOG2, gr_log2) X(SIN, gr_sin) X(COS, gr_cos) X(TAN, gr_tan) \
    X(ASIN, gr_asin) X(ACOS, gr_acos) X(ATAN, gr_atan) X(SINH, gr_sinh) X(COSH, gr_cosh) X(TANH, gr_tanh) \
    X(ASINH, gr_asinh) X(ACOSH, gr_acosh) X(ATANH, gr_atanh) X(DEGREES, degrees_of) X(RADIANS, radians_of)
#define CALLS1_PLAIN(X) X(FREXP_M, frexp_m)
#define CALLS2(X) X(POW, gr_pow) X(ATAN2, gr_atan2)
#define CALLS_TO_I(X) \
    X(FREXP_E, frexp_e) X(F2H, f2h_of) X(SNORM8, snorm8_of) X(UNORM8, unorm8_of) X(SNORM16, snorm16_of) \
    X(UNORM16, unorm16_of)
#define CALLS_FROM_I(X) \
    X(H2F, h2f_of) X(FROM_SNORM8, from_snorm8) X(FROM_UNORM8, from_unorm8) X(FROM_SNORM16, from_snorm16) \
    X(FROM_UNORM16, from_unorm16)

#define BODY(id, D, A, B, C, expr) \
    static void id(void *dp, const void *ap, const void *bp, const void *cp, uint32_t n) { \
        D *d = dp; const A *a = ap; const B *b = bp; const C *c = cp; \
        (void)b; (void)c; \
        for (uint32_t i = 0; i < n; i++) d[i] = (D)(expr); \
    }
#define ONE(name, f) \
    BODY(name##_f32, float, float, char, char, f((double)a[i])) \
    BODY(name##_f64, double, double, char, char, f(a[i])) \
    BODY(name##_H_f32, float, float, char, char, half_of(f((double)a[i])))
#define ONE_PLAIN(name, f) \
    BODY(name##_f32, float, float, char, char, f((double)a[i])) BODY(name##_f64, double, double, char, char, f(a[i]))
#define TWO(name, f) \
    BODY(name##_f32, float, float, float, char, f((double)a[i], (double)b[i])) \
    BODY(name##_f64, double, double, double, char, f(a[i], b[i])) \
    BODY(name##_H_f32, float, float, float, char, half_of(f((double)a[i], (double)b[i])))
#define TO_I(name, f) \
    BODY(name##_f32, uint32_t, float, char, char, f((double)a[i])) BODY(name##_f64, uint32_t, double, char, char, f(a[i]))
#define FROM_I(name, f) \
    BODY(name##_f32, float, uint32_t, char, char, f(a[i])) BODY(name##_f64, double, uint32_t, char, char, f(a[i]))
CALLS1(ONE)
CALLS1_PLAIN(ONE_PLAIN)
CALLS2(TWO)
CALLS_TO_I(TO_I)
CALLS_FROM_I(FROM_I)
BODY(MOD_F_f32, float, float, float, char, gr_fmod((double)a[i], (double)b[i]))
BODY(MOD_F_f64, double, double, double, char, gr_fmod(a[i], b[i]))
BODY(LDEXP_f32, float, float, uint32_t, char, ldexp_of((double)a[i], b[i]))
BODY(LDEXP_f64, double, double, uint32_t, char, ldexp_of(a[i], b[i]))
BODY(LDEXP_H_f32, float, float, uint32_t, char, half_of(ldexp_of((double)a[i], b[i])))
BODY(INVERSE_SQRT_H_f32, float, float, char, char, half_of(inverse_sqrt_of((double)a[i])))
BODY(INVERSE_SQRT_H_f64, double, double, char, char, inverse_sqrt_of(a[i]))
BODY(FMA_H_f32, float, float, float, float, half_of(gr_fma((double)a[i], (double)b[i], (double)c[i])))
BODY(FMA_H_f64, double, double, double, double, gr_fma(a[i], b[i], c[i]))

#define R32(name, f) [LANE_##name] = {{name##_f32, NULL, NULL}},
#define R64(name, f) [LANE_##name] = {{name##_f64, NULL, NULL}},
#define R32H(name, f) [LANE_##name##_H] = {{name##_H_f32, NULL, NULL}},
#define R64H(name, f) [LANE_##name##_H] = {{name##_f64, NULL, NULL}},
#define REST(R) R(MOD_F, 0) R(LDEXP, 0) R(INVERSE_SQRT_H, 0) R(FMA_H, 0)
const lane_row gr_lane_f32_calls[LANE_COUNT] = {
    CALLS1(R32) CALLS1(R32H) CALLS1_PLAIN(R32) CALLS2(R32) CALLS2(R32H) CALLS_TO_I(R32) CALLS_FROM_I(R32)
    R32H(LDEXP, 0) REST(R32)
};
const lane_row gr_lane_f64_calls[LANE_COUNT] = {
    CALLS1(R64) CALLS1(R64H) CALLS1_PLAIN(R64) CALLS2(R64) CALLS2(R64H) CALLS_TO_I(R64) CALLS_FROM_I(R64)
    R64H(LDEXP, 0) REST(R64)
};

#define CASE(name, f) case LANE_##name: return f;
#define CASE_H(name, f) case LANE_##name##_H: return f;

double (*gr_lane_call1(uint32_t op))(double) {
    switch (op) {
        CALLS1(CASE) CALLS1(CASE_H)
        case LANE_INVERSE_SQRT: case LANE_INVERSE_SQRT_H: return inverse_sqrt_of;
        case LANE_SQRT: return gr_sqrt;
        default: return NULL;
    }
}

double (*gr_lane_call2(uint32_t op))(double, double) {
    switch (op) {
        CALLS2(CASE) CALLS2(CASE_H)
        case LANE_MOD_F: return gr_fmod;
        default: return NULL;
    }
}
