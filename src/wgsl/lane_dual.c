/* Lane operations on dual numbers: value and tangent, forward-mode derivatives.
 *
 * At a kink the tangent is that of the selected operand: min and max as they select, abs of 0
 * has that of +x; floor, sign and conversions have tangent 0. */
#include "base/math.h"
#include "wgsl/lane.h"
#include "wgsl/lane_suites.h"

#include <string.h>

#include "wgsl/lane_fast.h"

/* d r / d x of a one-argument function with result r. */
static double slope(uint32_t op, double x, double r) {
    switch (op) {
        case LANE_EXP: case LANE_EXP_H: return r;
        case LANE_EXP2: case LANE_EXP2_H: return r * 0.69314718055994530942;
        case LANE_LOG: case LANE_LOG_H: return 1 / x;
        case LANE_LOG2: case LANE_LOG2_H: return 1.44269504088896340736 / x;
        case LANE_SIN: case LANE_SIN_H: return gr_cos(x);
        case LANE_COS: case LANE_COS_H: return -gr_sin(x);
        case LANE_TAN: case LANE_TAN_H: return 1 + r * r;
        case LANE_ASIN: case LANE_ASIN_H: return 1 / gr_sqrt((1 - x) * (1 + x));
        case LANE_ACOS: case LANE_ACOS_H: return -1 / gr_sqrt((1 - x) * (1 + x));
        case LANE_ATAN: case LANE_ATAN_H: return 1 / (1 + x * x);
        case LANE_SINH: case LANE_SINH_H: return gr_cosh(x);
        case LANE_COSH: case LANE_COSH_H: return gr_sinh(x);
        case LANE_TANH: case LANE_TANH_H: return (1 - r) * (1 + r);
        case LANE_ASINH: case LANE_ASINH_H: return 1 / gr_sqrt(x * x + 1);
        case LANE_ACOSH: case LANE_ACOSH_H: return 1 / gr_sqrt((x - 1) * (x + 1));
        case LANE_ATANH: case LANE_ATANH_H: return 1 / ((1 - x) * (1 + x));
        case LANE_DEGREES: case LANE_DEGREES_H: return 57.295779513082320876798154814105;
        case LANE_RADIANS: case LANE_RADIANS_H: return 0.017453292519943295769236907684886;
        case LANE_SQRT: return 0.5 / r;
        case LANE_INVERSE_SQRT: case LANE_INVERSE_SQRT_H: return -0.5 * r / x;
        case LANE_NEG_F: return -1;
        case LANE_ABS_F: return x < 0 ? -1 : 1;
        case LANE_MOV_F: case LANE_ROUND16: case LANE_FRACT: return 1;
        default: return 0;
    }
}

static double times(double slope_, double t) { return t == 0 ? 0 : slope_ * t; }

static double value1(uint32_t op, double x) {
    double (*f)(double) = gr_lane_call1(op);
    if (f) return f(x);
    int e;
    switch (op) {
        case LANE_NEG_F: return -x;
        case LANE_ABS_F: return gr_fabs(x);
        case LANE_FLOOR: return gr_floor(x);
        case LANE_CEIL: return gr_ceil(x);
        case LANE_TRUNC: return gr_trunc(x);
        case LANE_ROUND: return gr_round_even(x);
        case LANE_FRACT: return x - gr_floor(x);
        case LANE_SIGN_F: return x > 0 ? 1 : x < 0 ? -1 : 0;
        case LANE_FREXP_M: return x - x == 0 ? gr_frexp(x, &e) : x;
        default: return x; /* MOV, ROUND16 */
    }
}

static double tangent2(uint32_t op, double x, double xt, double y, double yt, double r) {
    switch (op) {
        case LANE_ADD_F: return xt + yt;
        case LANE_SUB_F: return xt - yt;
        case LANE_MUL_F: return times(y, xt) + times(x, yt);
        case LANE_DIV_F: return times(1 / y, xt) - times(r / y, yt);
        case LANE_MIN_F: return y < x || x != x ? yt : xt;
        case LANE_MAX_F: return x < y || x != x ? yt : xt;
        case LANE_MOD_F: return xt - times(gr_trunc(x / y), yt);
        case LANE_POW: case LANE_POW_H: return times(y * gr_pow(x, y - 1), xt) + times(r * gr_log(x), yt);
        case LANE_ATAN2: case LANE_ATAN2_H: return times(y / (x * x + y * y), xt) - times(x / (x * x + y * y), yt);
        default: return 0;
    }
}

static double value2(uint32_t op, double x, double y) {
    double (*f)(double, double) = gr_lane_call2(op);
    if (f) return f(x, y);
    switch (op) {
        case LANE_ADD_F: return x + y;
        case LANE_SUB_F: return x - y;
        case LANE_MUL_F: return x * y;
        case LANE_DIV_F: return x / y;
        case LANE_MIN_F: return y < x || x != x ? y : x;
        default: return x < y || x != x ? y : x;
    }
}

#define RUN(name) static void name##_dual(void *dp, const void *ap, const void *bp, const void *cp, uint32_t n)
#define DUAL_FF__(name) \
    RUN(name) { \
        double *d = dp; const double *a = ap; (void)bp, (void)cp; \
        for (uint32_t i = 0; i < n; i++) { \
            double x = a[i], t = a[n + i], r = value1(LANE_##name, x); \
            int e = 0; \
            if (LANE_##name == LANE_FREXP_M && x - x == 0) gr_frexp(x, &e); \
            d[i] = r; \
            d[n + i] = LANE_##name == LANE_FREXP_M ? gr_ldexp(t, -e) : times(slope(LANE_##name, x, r), t); \
        } \
    }
#define DUAL_FFF_(name) \
    RUN(name) { \
        double *d = dp; const double *a = ap, *b = bp; (void)cp; \
        for (uint32_t i = 0; i < n; i++) { \
            double x = a[i], xt = a[n + i], y = b[i], yt = b[n + i], r = value2(LANE_##name, x, y); \
            d[i] = r; \
            d[n + i] = tangent2(LANE_##name, x, xt, y, yt, r); \
        } \
    }
#define DUAL_FFI_(name) \
    RUN(name) { \
        double *d = dp; const double *a = ap; const uint32_t *b = bp; (void)cp; \
        for (uint32_t i = 0; i < n; i++) { \
            int32_t k; \
            memcpy(&k, &b[i], sizeof k); \
            k = k < -4000 ? -4000 : k > 4000 ? 4000 : k; \
            double x = a[i], t = a[n + i]; \
            d[i] = gr_ldexp(x, k); \
            d[n + i] = gr_ldexp(t, k); \
        } \
    }
#define DUAL_FFFF(name) \
    RUN(name) { \
        double *d = dp; const double *a = ap, *b = bp, *c = cp; \
        for (uint32_t i = 0; i < n; i++) { \
            double x = a[i], xt = a[n + i], y = b[i], yt = b[n + i], z = c[i], zt = c[n + i]; \
            d[i] = gr_fma(x, y, z); \
            d[n + i] = times(y, xt) + times(x, yt) + zt; \
        } \
    }
#define DUAL_FFFI(name) \
    RUN(name) { \
        double *d = dp; const double *a = ap, *b = bp; const uint32_t *c = cp; \
        for (uint32_t i = 0; i < n; i++) { \
            double v = c[i] ? b[i] : a[i], t = c[i] ? b[n + i] : a[n + i]; \
            d[i] = v; \
            d[n + i] = t; \
        } \
    }
/* From integers: the f64 loop, tangent 0. */
static lane_fn plain(uint32_t op) {
    return gr_lane_info(op)->shape == LANE_CALL ? gr_lane_f64_calls[op].form[LANE_VV] : gr_lane_f64_generic[op].form[LANE_VV];
}
#define DUAL_FI__(name) \
    RUN(name) { \
        plain(LANE_##name)(dp, ap, bp, cp, n); \
        memset((double *)dp + n, 0, sizeof(double) * n); \
    }
/* To integers: values decide. */
#define DUAL_IF__(name)
#define DUAL_IFF_(name)
#define DUAL_II__(name)
#define DUAL_III_(name)
#define DUAL_IIII(name)
#define LANE(name, shape, d, a, b, c) DUAL_##d##a##b##c(name)
#include "wgsl/lane.def"
#undef LANE

#define CASE_FF__(name) case LANE_##name: return name##_dual;
#define CASE_FFF_(name) CASE_FF__(name)
#define CASE_FFI_(name) CASE_FF__(name)
#define CASE_FFFF(name) CASE_FF__(name)
#define CASE_FFFI(name) CASE_FF__(name)
#define CASE_FI__(name) CASE_FF__(name)
#define CASE_IF__(name)
#define CASE_IFF_(name)
#define CASE_II__(name)
#define CASE_III_(name)
#define CASE_IIII(name)

lane_fn gr_lane_dual(uint32_t op) {
    switch (op) {
#define LANE(name, shape, d, a, b, c) CASE_##d##a##b##c(name)
#include "wgsl/lane.def"
#undef LANE
        default: return plain(op);
    }
}
