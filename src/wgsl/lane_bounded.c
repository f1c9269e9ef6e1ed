/* Lane operations with a running error bound.
 *
 * A float is value v (f64), error e >= |f32 result - v| for any legal f32 evaluation, gross g >= |v|,
 * the sum of absolute contributions, and a mark
 * where a decision that it depends on could have gone the other way. Each operation propagates
 * the errors of its operands (first order and the product term) and adds its own rounding,
 * u = 2^-24 relative, and t->flush. Sums and products of integers below 2^24 (f16: 2^11) are exact: e stays 0; so are, in the text's
 * order, results of exact operands that are f32 themselves (of / and sqrt where these round correctly). With
 * t->any_order a sum of computed values is rounded relative to its gross, which no partial sum in any order exceeds.
 * Gross of a sum is the sum of the operands' gross, of a product their product, of a quotient that of the numerator
 * over |denominator|, of a logarithm that of the argument over the argument; of a function stated with an absolute error at least
 * 1, of other functions |v|. Builtins add the accuracy of WGSL (section "Accuracy of
 * concrete floating point expressions", f16 by the suffix _H), or twice what was measured
 * where that is less; functions that WGSL defines by a formula get the error of the formula.
 * Integers carry marks only. */
#include "base/math.h"
#include "wgsl/lane.h"
#include "wgsl/lane_suites.h"

#include <string.h>

#include "wgsl/lane_fast.h"

typedef lane_bounded_table table;
typedef struct bv {
    double v, e, g;
    uint32_t m;
    bool open; /* not finite, and finite in another order of the same sum, or the reverse: keeps e infinite */
} bv;

static const double U = 0x1p-24, LEAST = 0x1p-150;
static const double INF = __builtin_inf();

static const double MOST = 0x1.fffffep127, MOST16 = 65504;

/* What may overflow is not bounded: neither in f32 here nor in f16. */
static double clean(double v, double e, bool open) { return v - v != 0 ? (open ? INF : 0) : (v < 0 ? -v : v) + e <= MOST ? e : INF; }
static double greater(double a, double b) { return a > b ? a : b; }
static bool whole(double x) { return gr_fabs(x) <= 0x1p24 && (double)(int32_t)x == x; }
/* Exact in f32, and so is every partial result in whatever order. */
static bool whole_sum(bv x, bv y) { return x.e == 0 && y.e == 0 && x.g + y.g <= 0x1p24 && whole(x.v) && whole(y.v); }
static bool whole_product(bv x, bv y) { return x.e == 0 && y.e == 0 && x.g * y.g <= 0x1p24 && whole(x.v) && whole(y.v); }
static bool is_f32(double x) { return (double)(float)x == x; }
/* Of operands without error the result is an f32, so that rounding changes nothing. Other orders of a sum or product may round. */
static bool exact_product(const table *t, bv x, bv y) { return !t->any_order && x.e == 0 && y.e == 0 && is_f32(x.v * y.v) && is_f32(x.v) && is_f32(y.v); }
static bool exact_sum(const table *t, bv x, bv y) {
    double s = x.v + y.v, part = s - x.v, lost = (x.v - (s - part)) + (y.v - part); /* of the f64 sum */
    return !t->any_order && x.e == 0 && y.e == 0 && lost == 0 && is_f32(s);
}
/* Division and square root, where they are rounded correctly. r: their result in f64. */
static bool rounds_once(const table *t, uint32_t op) { return t->measured[op].given && t->measured[op].ulps <= 0.5 && t->measured[op].absolute == 0; }
static bool exact_quotient(const table *t, bv x, bv y, double r) {
    return rounds_once(t, LANE_DIV_F) && x.e == 0 && y.e == 0 && is_f32(r) && is_f32(y.v) && r * y.v == x.v;
}
static bool exact_root(const table *t, bv x, double r) { return rounds_once(t, LANE_SQRT) && x.e == 0 && is_f32(r) && r * r == x.v; }
static double rounding(const table *t, double v, double e) { return U * (gr_fabs(v) + e) + LEAST + t->flush; }
static bool apart(double x, double y) { return !(x == y) && !(x != x && y != y); }

/* ------------------------------------------------------ accuracy of builtins */

static double ulps(bool half, double n, double r) { return n * (half ? gr_ulp_f16(r) : gr_ulp_f32(r)); }

static double log_grant(bool half, double x, double r) {
    if (x >= 0.5 && x <= 2.0) return half ? 0x1p-7 : 0x1p-21;
    return ulps(half, 3, r);
}
static double exp_grant(bool half, double x, double r) { return ulps(half, (half ? 1 : 3) + 2 * gr_fabs(x), r); }

/* log of an argument that has itself a relative error. */
static double log_of_inexact(bool half, double arg, double relative, double r) {
    return relative < 1 ? relative / (1 - relative) + log_grant(half, arg, r) : INF;
}

static double tan_grant(bool half, double x, double r) {
    double e = half ? 0x1p-7 : 0x1p-11, c = gr_fabs(gr_cos(x));
    return c > e ? e * (1 + gr_fabs(r)) / (c - e) + ulps(half, 2.5, r) : INF;
}

static double hyperbolic_grant(bool half, double x, double r) {
    double p = gr_exp(x), q = gr_exp(-x);
    return 0.5 * (exp_grant(half, x, p) + exp_grant(half, x, q)) + ulps(half, 1.5, r);
}

/* asin and acos: the worse of an absolute error and that of atan2 of x and sqrt(1 - x * x). */
static double inverse_grant(bool half, double x, double r) {
    double square = 1 - x * x, root = square > 0 ? gr_sqrt(square) : 0, e = ulps(half, 1, 1);
    double de = root * root > e ? e / (2 * root) : gr_sqrt(e);
    double inherited = gr_fabs(x) * (de + ulps(half, half ? 6 : 4.5, root)) + ulps(half, half ? 5 : 4096, r);
    return greater(half ? 3.91e-3 : 6.81e-5, inherited);
}

static double asinh_grant(bool half, double x, double r) {
    double root = gr_sqrt(x * x + 1), arg = x + root;
    return log_of_inexact(half, arg, ulps(half, 6, root) / arg, r);
}

static double acosh_grant(bool half, double x, double r) {
    double square = x * x - 1, root = gr_sqrt(square), arg = x + root;
    double e = square > 0 ? ulps(half, 2, x * x) / (2 * root) + ulps(half, 5, root) : gr_sqrt(ulps(half, 2, x * x));
    return log_of_inexact(half, arg, (e + ulps(half, 1, arg)) / arg, r);
}

static double atanh_grant(bool half, double x, double r) {
    double arg = (1 + x) / (1 - x), near = ulps(half, 1, 1) * 0.5;
    double relative = near / greater(1 + x, 1e-300) + near / greater(1 - x, 1e-300) + ulps(half, 3, 1);
    return 0.5 * log_of_inexact(half, arg, relative, r) + ulps(half, 1, r);
}

static double pow_grant(bool half, double x, double y, double r) {
    double l = gr_log2(x), z = y * l, dz = gr_fabs(y) * log_grant(half, x, l) + ulps(half, 1, z);
    return exp_grant(half, z, r) + gr_fabs(r) * (gr_exp2(dz) - 1);
}

static double specified(uint32_t op, double x, double y, double r) {
    switch (op) {
        case LANE_EXP: case LANE_EXP2: return exp_grant(false, x, r);
        case LANE_EXP_H: case LANE_EXP2_H: return exp_grant(true, x, r);
        case LANE_LOG: case LANE_LOG2: return log_grant(false, x, r);
        case LANE_LOG_H: case LANE_LOG2_H: return log_grant(true, x, r);
        case LANE_SIN: case LANE_COS: return gr_fabs(x) <= 3.14159265358979323846 ? 0x1p-11 : INF;
        case LANE_SIN_H: case LANE_COS_H: return gr_fabs(x) <= 3.14159265358979323846 ? 0x1p-7 : INF;
        case LANE_TAN: case LANE_TAN_H: return gr_fabs(x) <= 3.14159265358979323846 ? tan_grant(op == LANE_TAN_H, x, r) : INF; /* sin / cos */
        case LANE_ASIN: case LANE_ACOS: return inverse_grant(false, x, r);
        case LANE_ASIN_H: case LANE_ACOS_H: return inverse_grant(true, x, r);
        case LANE_ATAN: case LANE_ATAN2: return ulps(false, 4096, r);
        case LANE_ATAN_H: case LANE_ATAN2_H: return ulps(true, 5, r);
        case LANE_SINH: case LANE_COSH: return hyperbolic_grant(false, x, r);
        case LANE_SINH_H: case LANE_COSH_H: return hyperbolic_grant(true, x, r);
        case LANE_TANH: return 1e-5;
        case LANE_TANH_H: return 5e-3;
        case LANE_ASINH: case LANE_ASINH_H: return asinh_grant(op == LANE_ASINH_H, x, r);
        case LANE_ACOSH: case LANE_ACOSH_H: return acosh_grant(op == LANE_ACOSH_H, x, r);
        case LANE_ATANH: case LANE_ATANH_H: return atanh_grant(op == LANE_ATANH_H, x, r);
        case LANE_POW: case LANE_POW_H: return pow_grant(op == LANE_POW_H, x, y, r);
        case LANE_SQRT: return ulps(false, 4.5, r); /* 1 / inverseSqrt(x) */
        case LANE_INVERSE_SQRT: return ulps(false, 2, r);
        case LANE_INVERSE_SQRT_H: return ulps(true, 2, r);
        case LANE_DIV_F: return ulps(false, 2.5, r);
        case LANE_DEGREES: case LANE_RADIANS: return 2 * U * gr_fabs(r);
        case LANE_DEGREES_H: case LANE_RADIANS_H: return ulps(true, 2, r);
        default: return U * gr_fabs(r);
    }
}

static double grant(const table *t, uint32_t op, double x, double y, double r) {
    double e = specified(op, x, y, r);
    const lane_accuracy *a = &t->measured[op];
    if (a->given) {
        double twice = 2 * (a->ulps * gr_ulp_f32(r) + a->absolute);
        if (twice < e || e != e) e = twice;
    }
    return e + t->flush;
}

/* ------------------------------------------------------------ one argument */

/* Largest change of a function that is monotone between x - e and x + e. */
static double spread(double (*f)(double), double x, double e, double r) {
    double low = gr_fabs(f(x - e) - r), high = gr_fabs(f(x + e) - r);
    double s = greater(low, high);
    return low == low && high == high ? s : INF;
}

static double propagated(uint32_t op, double (*f)(double), bv x, double r) {
    if (x.e == 0) return 0;
    switch (op) {
        case LANE_SIN: case LANE_COS: case LANE_SIN_H: case LANE_COS_H: return x.e < 2 ? x.e : 2;
        case LANE_TAN: case LANE_TAN_H: {
            double a = gr_cos(x.v - x.e), b = gr_cos(x.v + x.e);
            return x.e < 1.5 && (a > 0) == (b > 0) ? spread(f, x.v, x.e, r) : INF;
        }
        case LANE_COSH: case LANE_COSH_H: return greater(spread(f, x.v, x.e, r), x.e >= gr_fabs(x.v) ? r - 1 : 0);
        default: return spread(f, x.v, x.e, r);
    }
}

static bv step1(double (*f)(double), bv x) { /* floor and the like: exact or ambiguous */
    bv r = {.v = f(x.v), .g = x.g, .m = x.m};
    double low = f(x.v - x.e), high = f(x.v + x.e);
    if (x.e > 0 && (apart(low, r.v) || apart(high, r.v))) {
        r.m = ~0u;
        r.e = greater(gr_fabs(high - r.v), gr_fabs(low - r.v));
    }
    return r;
}

static double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

static bv fract(const table *t, bv x) {
    bv down = step1(gr_floor, x), r = {.v = x.v - down.v, .g = x.g + gr_fabs(down.v), .m = down.m};
    r.e = x.e + down.e + rounding(t, r.v, 0);
    return r;
}

static int exponent_of(double x) {
    int e = 0;
    if (x - x == 0) gr_frexp(x, &e);
    return e;
}

static bv frexp_m(bv x) {
    int e;
    bool finite = x.v - x.v == 0;
    bv r = {.v = finite ? gr_frexp(x.v, &e) : x.v, .m = x.m};
    if (finite) r.e = gr_ldexp(x.e, -e);
    if (finite && x.e > 0 && (exponent_of(x.v - x.e) != e || exponent_of(x.v + x.e) != e)) r.m = ~0u;
    return r;
}

/* Where an accuracy is stated absolutely, it is relative to the range that it is stated for. */
static double function_gross(uint32_t op, bv x, double r) {
    double size = gr_fabs(r);
    switch (op) {
        case LANE_SQRT: return gr_sqrt(x.g);
        case LANE_DEGREES: case LANE_DEGREES_H: case LANE_RADIANS: case LANE_RADIANS_H: return x.v != 0 ? x.g * (size / gr_fabs(x.v)) : x.g * 60;
        case LANE_LOG: case LANE_LOG_H: case LANE_LOG2: case LANE_LOG2_H: return greater(greater(size, 1), x.g / gr_fabs(x.v));
        case LANE_SINH: case LANE_SINH_H: return gr_cosh(x.v);
        case LANE_TAN: case LANE_TAN_H: return 1 / gr_fabs(gr_cos(x.v));
        case LANE_SIN: case LANE_SIN_H: case LANE_COS: case LANE_COS_H:
        case LANE_ASIN: case LANE_ASIN_H: case LANE_ACOS: case LANE_ACOS_H: case LANE_TANH: case LANE_TANH_H: case LANE_ASINH: case LANE_ASINH_H:
        case LANE_ACOSH: case LANE_ACOSH_H: case LANE_ATANH: case LANE_ATANH_H: return greater(size, 1);
        default: return size;
    }
}

static bv unary(const table *t, uint32_t op, bv x) {
    double (*f)(double) = gr_lane_call1(op);
    bv r = x;
    switch (op) {
        case LANE_MOV_F: return x;
        case LANE_NEG_F: r.v = -x.v; return r;
        case LANE_ABS_F: r.v = gr_fabs(x.v); return r;
        case LANE_FLOOR: return step1(gr_floor, x);
        case LANE_CEIL: return step1(gr_ceil, x);
        case LANE_TRUNC: return step1(gr_trunc, x);
        case LANE_ROUND: return step1(gr_round_even, x);
        case LANE_SIGN_F: r = step1(sign_of, x); r.g = gr_fabs(r.v); return r;
        case LANE_FRACT: return fract(t, x);
        case LANE_FREXP_M: return frexp_m(x);
        case LANE_ROUND16:
            if (x.e == 0 && x.g <= 0x1p11 && whole(x.v)) return x;
            if (x.e == 0 && !t->any_order && (double)gr_f32_from_f16(gr_f16_from_f64(x.v)) == x.v) return x;
            if (x.v - x.v != 0) r.open |= t->any_order && !(x.g <= MOST16);
            r.e = x.e + 0x1p-11 * ((t->any_order && x.e > 0 ? x.g : gr_fabs(x.v)) + x.e) + 0x1p-25;
            if (!((t->any_order && x.e > 0 ? x.g : gr_fabs(x.v)) + r.e <= MOST16 + 16)) r.e = INF;
            return r;
        default: break;
    }
    r.v = f ? f(x.v) : x.v;
    r.e = op == LANE_SQRT && exact_root(t, x, r.v) ? t->flush : propagated(op, f, x, r.v) + grant(t, op, x.v, 0, r.v);
    r.g = function_gross(op, x, r.v);
    return r;
}

/* ----------------------------------------------------------- two arguments */

static double corners(double (*f)(double, double), bv x, bv y, double r) {
    double worst = 0;
    if (x.e == 0 && y.e == 0) return 0;
    for (int k = 0; k < 4; k++) {
        double v = gr_fabs(f(x.v + (k & 1 ? x.e : -x.e), y.v + (k & 2 ? y.e : -y.e)) - r);
        worst = v == v ? greater(worst, v) : INF;
    }
    return worst;
}

static bv divide(const table *t, bv x, bv y) {
    bv r = {.v = x.v / y.v, .g = x.g / gr_fabs(y.v), .m = x.m | y.m, .open = x.open || y.open};
    double size = gr_fabs(y.v);
    if (x.v == 0 && x.e == 0 && size > y.e) return r;
    if (exact_quotient(t, x, y, r.v)) return r.e = t->flush, r;
    if (y.e > 0 && size <= y.e) r.e = INF;
    else if (x.e > 0 || y.e > 0) r.e = (x.e + gr_fabs(r.v) * y.e) / (size - y.e);
    r.e += grant(t, LANE_DIV_F, x.v, y.v, r.v);
    return r;
}

static bv select_extreme(bv x, bv y, bool second) {
    bv r = second ? y : x;
    bool overlap = gr_fabs(x.v - y.v) <= x.e + y.e;
    if (overlap) r.e = greater(x.e, y.e), r.g = greater(x.g, y.g);
    r.m = x.m | y.m;
    return r;
}

static bv remainder_of(const table *t, bv x, bv y) {
    bv q = divide(t, x, y), times = step1(gr_trunc, q), r = {.v = gr_fmod(x.v, y.v), .g = x.g + gr_fabs(times.v) * y.g, .m = times.m};
    r.e = x.e + gr_fabs(times.v) * y.e + rounding(t, times.v * y.v, 0) + rounding(t, r.v, 0);
    return r;
}

static bv product(const table *t, bv x, bv y) {
    bv r = {.v = x.v * y.v, .e = gr_fabs(x.v) * y.e + gr_fabs(y.v) * x.e + x.e * y.e, .g = x.g * y.g, .m = x.m | y.m, .open = x.open || y.open};
    bool exact = (x.v == 0 && x.e == 0) || (y.v == 0 && y.e == 0) || whole_product(x, y);
    if (!exact && exact_product(t, x, y)) r.e = t->flush;
    else if (!exact) r.e += rounding(t, r.v, r.e);
    return r;
}

static bv sum(const table *t, bv x, bv y) {
    bv r = {.v = x.v + y.v, .e = x.e + y.e, .g = x.g + y.g, .m = x.m | y.m};
    bool nothing_x = x.v == 0 && x.e == 0 && (!t->any_order || x.g == 0), nothing_y = y.v == 0 && y.e == 0 && (!t->any_order || y.g == 0);
    bool exact = nothing_x || nothing_y || whole_sum(x, y);
    bool computed = x.e > 0 || y.e > 0 || x.g > gr_fabs(x.v) || y.g > gr_fabs(y.v);
    if (!exact && exact_sum(t, x, y)) r.e = t->flush;
    else if (!exact) r.e += U * ((t->any_order && computed ? r.g : gr_fabs(r.v)) + r.e) + t->flush;
    if (computed && !(r.g <= MOST) && x.g - x.g == 0 && y.g - y.g == 0) r.e = INF; /* another order may overflow */
    r.open = x.open || y.open || (r.v - r.v != 0 && t->any_order && !(r.g <= MOST)) || (x.v - x.v == 0 && x.e == INF) || (y.v - y.v == 0 && y.e == INF);
    return r;
}

static bv angle(const table *t, uint32_t op, bv y, bv x) {
    bv r = {.v = gr_atan2(y.v, x.v), .m = x.m | y.m};
    bool cut = x.v - x.e <= 0 && y.e > 0 && gr_fabs(y.v) <= y.e; /* the branch cut, or the origin */
    r.e = (cut ? 6.283185307179587 : corners(gr_atan2, y, x, r.v)) + grant(t, op, y.v, x.v, r.v);
    return r;
}

static bv binary(const table *t, uint32_t op, bv x, bv y) {
    bv r = {.m = x.m | y.m};
    switch (op) {
        case LANE_ADD_F: return sum(t, x, y);
        case LANE_SUB_F: y.v = -y.v; return sum(t, x, y);
        case LANE_MUL_F: return product(t, x, y);
        case LANE_DIV_F: return divide(t, x, y);
        case LANE_MIN_F: return select_extreme(x, y, y.v < x.v || x.v != x.v);
        case LANE_MAX_F: return select_extreme(x, y, x.v < y.v || x.v != x.v);
        case LANE_MOD_F: return remainder_of(t, x, y);
        case LANE_ATAN2: case LANE_ATAN2_H: return angle(t, op, x, y);
        default: break;
    }
    r.v = gr_pow(x.v, y.v);
    r.e = corners(gr_pow, x, y, r.v) + grant(t, op, x.v, y.v, r.v);
    return r;
}

static bv fused(const table *t, uint32_t op, bv x, bv y, bv z) {
    bv p = product(t, x, y), r = sum(t, p, z);
    r.v = gr_fma(x.v, y.v, z.v);
    if (op == LANE_FMA_H) r.e += 0x1p-11 * (gr_fabs(p.v) + gr_fabs(r.v));
    return r;
}

static bv scaled(const table *t, uint32_t op, bv x, uint32_t k, uint32_t mark) {
    int32_t e;
    memcpy(&e, &k, sizeof e);
    e = e < -4000 ? -4000 : e > 4000 ? 4000 : e;
    bv r = {.v = gr_ldexp(x.v, e), .e = gr_ldexp(x.e, e), .g = gr_ldexp(x.g, e), .m = x.m | mark};
    r.e += op == LANE_LDEXP_H ? 0x1p-11 * gr_fabs(r.v) + 0x1p-25 : rounding(t, r.v, 0);
    return r;
}

/* ------------------------------------------------------------ to and from I */

/* Error of what integers become: rounded to f32 once, or a division of WGSL's unpack (3 ULP). */
static double error_from_int(uint32_t op, double v) {
    if (op == LANE_S2F || op == LANE_U2F) return (double)(float)v == v ? 0 : U * gr_fabs(v);
    return op == LANE_BITS2F || op == LANE_H2F ? 0 : 3 * gr_ulp_f32(v);
}

/* What the rounding of the scaled value in WGSL's pack is worth in its argument. */
static double error_before_int(uint32_t op, double v) {
    bool packs = op == LANE_SNORM8 || op == LANE_UNORM8 || op == LANE_SNORM16 || op == LANE_UNORM16;
    return packs ? U * (2 * gr_fabs(v) + 0.01) : 0;
}

static lane_fn plain(uint32_t op) {
    return gr_lane_info(op)->shape == LANE_CALL ? gr_lane_f64_calls[op].form[LANE_VV] : gr_lane_f64_generic[op].form[LANE_VV];
}

/* Integer results of floats: the f64 loop at value and at both ends; where they differ, a mark. */
static void to_int(uint32_t op, void *dp, const void *ap, uint32_t n) {
    _Alignas(64) double at[3][LANE_UNIT];
    _Alignas(64) uint32_t got[3][LANE_UNIT];
    uint32_t *d = dp;
    const double *a = ap;
    const uint32_t *m = (const uint32_t *)(const void *)(a + (size_t)3 * n);
    for (uint32_t i = 0; i < n; i += LANE_UNIT) {
        for (uint32_t k = 0; k < LANE_UNIT; k++) {
            double v = a[i + k], e = a[n + i + k] + error_before_int(op, v);
            at[0][k] = v, at[1][k] = v - e, at[2][k] = v + e;
        }
        for (int k = 0; k < 3; k++) plain(op)(got[k], at[k], NULL, NULL, LANE_UNIT);
        for (uint32_t k = 0; k < LANE_UNIT; k++) {
            bool same = got[0][k] == got[1][k] && got[0][k] == got[2][k];
            d[i + k] = got[0][k];
            d[n + i + k] = m[i + k] | (same || at[1][k] == at[2][k] ? 0 : ~0u);
        }
    }
}

/* ------------------------------------------------------------------- loops */

static bv get(const void *p, uint32_t i, uint32_t n) {
    const double *a = p;
    return (bv){.v = a[i], .e = a[n + i], .g = a[(size_t)2 * n + i], .m = ((const uint32_t *)(const void *)(a + (size_t)3 * n))[i],
                .open = a[i] - a[i] != 0 && a[n + i] == INF};
}
static void put(void *p, uint32_t i, uint32_t n, bv x) {
    double *a = p;
    a[i] = x.v;
    a[n + i] = clean(x.v, x.e, x.open);
    double own = x.v - x.v == 0 ? gr_fabs(x.v) : 0;
    a[(size_t)2 * n + i] = x.g > own ? x.g : own; /* of a value that is not finite: its finite contributions */
    ((uint32_t *)(void *)(a + (size_t)3 * n))[i] = x.m;
}

/* false && ambiguous is false; true || ambiguous is true. */
static uint32_t logic_mark(bool both, uint32_t a, uint32_t am, uint32_t b, uint32_t bm) {
    return both ? (am & (b | bm)) | (bm & (a | am)) : (am & (~b | bm)) | (bm & (~a | am));
}

static void integers(uint32_t op, void *dp, const void *ap, const void *bp, const void *cp, uint32_t n) {
    uint32_t *d = dp;
    const uint32_t *a = ap, *b = bp, *c = cp;
    const lane_info *info = gr_lane_info(op);
    if (op == LANE_LAND || op == LANE_LOR) {
        bool both = op == LANE_LAND;
        LANE_LOOP { d[n + i] = logic_mark(both, a[i], a[n + i], b[i], b[n + i]); }
    } else if (op == LANE_SEL_I) {
        LANE_LOOP { d[n + i] = c[n + i] | (c[i] & b[n + i]) | (~c[i] & a[n + i]); }
    } else if (info->c == 'I') {
        LANE_LOOP { d[n + i] = a[n + i] | b[n + i] | c[n + i]; }
    } else if (info->b == 'I') {
        LANE_LOOP { d[n + i] = a[n + i] | b[n + i]; }
    } else if (d != a) {
        memcpy(d + n, a + n, sizeof *d * n);
    }
    gr_lane_f32_generic[op].form[LANE_VV](d, a, b, c, n);
}

/* A comparison is ambiguous where the intervals meet and are not both points; a value against itself never is: x == x. */
static void comparison(uint32_t op, void *dp, const void *ap, const void *bp, uint32_t n) {
    uint32_t *d = dp;
    const double *a = ap, *b = bp;
    const uint32_t *am = (const uint32_t *)(const void *)(a + (size_t)3 * n), *bm = (const uint32_t *)(const void *)(b + (size_t)3 * n);
    LANE_LOOP {
        double e = a[n + i] + b[n + i], gap = a[i] - b[i];
        gap = gap < 0 ? -gap : gap;
        uint32_t near = (uint32_t)(a != b) & (uint32_t)(e > 0) & (uint32_t)(gap <= e);
        d[n + i] = am[i] | bm[i] | (0u - near);
    }
    gr_lane_f64_generic[op].form[LANE_VV](d, a, b, NULL, n);
}

/* What follows from an operand that may have overflowed is undecided where it is no number that could carry a bound. */
static bv lost(bv r, double e) {
    if (e == INF && r.v - r.v != 0) r.m = ~0u;
    return r;
}

#define RUN(name) \
    static void name##_bounded(const table *t, void *d, const void *a, const void *b, const void *c, uint32_t n)
#define UNUSED (void)t, (void)b, (void)c
#define BOUNDED_FF__(name) RUN(name) { UNUSED; for (uint32_t i = 0; i < n; i++) put(d, i, n, lost(unary(t, LANE_##name, get(a, i, n)), get(a, i, n).e)); }
#define BOUNDED_FFF_(name) \
    RUN(name) { UNUSED; for (uint32_t i = 0; i < n; i++) put(d, i, n, lost(binary(t, LANE_##name, get(a, i, n), get(b, i, n)), greater(get(a, i, n).e, get(b, i, n).e))); }
#define BOUNDED_FFI_(name) \
    RUN(name) { \
        UNUSED; const uint32_t *k = b; \
        for (uint32_t i = 0; i < n; i++) put(d, i, n, scaled(t, LANE_##name, get(a, i, n), k[i], k[n + i])); \
    }
#define BOUNDED_FFFF(name) \
    RUN(name) { \
        for (uint32_t i = 0; i < n; i++) put(d, i, n, fused(t, LANE_##name, get(a, i, n), get(b, i, n), get(c, i, n))); \
    }
#define BOUNDED_FFFI(name) \
    RUN(name) { \
        UNUSED; const uint32_t *k = c; \
        for (uint32_t i = 0; i < n; i++) { \
            bv x = k[i] ? get(b, i, n) : get(a, i, n); \
            x.m |= k[n + i]; \
            put(d, i, n, x); \
        } \
    }
#define BOUNDED_FI__(name) \
    RUN(name) { \
        UNUSED; const uint32_t *k = a; \
        plain(LANE_##name)(d, a, NULL, NULL, n); \
        for (uint32_t i = 0; i < n; i++) { \
            double v = ((double *)d)[i]; \
            put(d, i, n, (bv){.v = v, .e = error_from_int(LANE_##name, v), .m = k[n + i]}); \
        } \
    }
#define BOUNDED_IF__(name) RUN(name) { UNUSED; to_int(LANE_##name, d, a, n); }
#define BOUNDED_IFF_(name) RUN(name) { UNUSED; comparison(LANE_##name, d, a, b, n); }
#define BOUNDED_II__(name) RUN(name) { UNUSED; integers(LANE_##name, d, a, b, c, n); }
#define BOUNDED_III_(name) BOUNDED_II__(name)
#define BOUNDED_IIII(name) BOUNDED_II__(name)
#define LANE(name, shape, d, a, b, c) BOUNDED_##d##a##b##c(name)
#include "wgsl/lane.def"
#undef LANE

lane_bounded_fn gr_lane_bounded(uint32_t op) {
    static const lane_bounded_fn fns[LANE_COUNT] = {
#define LANE(name, shape, d, a, b, c) [LANE_##name] = name##_bounded,
#include "wgsl/lane.def"
#undef LANE
    };
    return op < LANE_COUNT ? fns[op] : NULL;
}
