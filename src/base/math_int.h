/* math_int.h: what the files of math.h share: bits, pairs of doubles, tables.
 *
 * A gr_dd is the unevaluated sum h + l with |l| <= ulp(h)/2: about 106 bits. The sums and
 * products below are Knuth's and Dekker's (T. J. Dekker, "A floating-point technique for
 * extending the available precision", 1971). No fma: the same bits everywhere. Arguments of
 * products stay within 2^-450..2^450, so that nothing overflows and the error term is exact. */
#ifndef GR_BASE_MATH_INT_H
#define GR_BASE_MATH_INT_H

#include "base/math.h"

#ifdef __FAST_MATH__
#error "math.h needs IEEE arithmetic: no -ffast-math"
#endif

typedef struct gr_dd { double h, l; } gr_dd;
typedef struct gr_log_row { double c, h, l; } gr_log_row;      /* -log(c) = h + l */
typedef struct gr_erf_row { double h, l, slope, slope_l; } gr_erf_row; /* erf(j/16), erf'(j/16) */

extern const gr_dd gr_exp_table[128]; /* 2^(j/128) */
extern const double gr_exp_step[3];   /* ln 2 / 128 in pieces of 32, 32 and 53 bits */
extern const gr_log_row gr_log_table[128];
extern const double gr_log_ln2[2];         /* the first a multiple of 2^-42 */
extern const double gr_log_inverse_ln2[2]; /* 1 / ln 2 */
extern const double gr_trig_step[4];       /* pi/2 in three pieces of 33 bits and the rest */
extern const double gr_trig_half_pi[2];
extern const double gr_trig_sixth[2]; /* -1/6 */
extern const uint64_t gr_trig_two_over_pi[20];
extern const gr_dd gr_atan_table[65];     /* atan(j/64) */
extern const gr_erf_row gr_erf_table[97]; /* j/16 */
extern const double gr_erf_slope[2];      /* 2/sqrt(pi) - 1 */

#define GR_INF gr_from_bits_(0x7FF0000000000000u)
#define GR_NAN gr_from_bits_(0x7FF8000000000000u) /* the one NaN that we return */
#define GR_MANTISSA 0x000FFFFFFFFFFFFFu
#define GR_SIGN 0x8000000000000000u

static inline uint64_t gr_bits_(double x) {
    union { double f; uint64_t u; } c = {x};
    return c.u;
}
static inline double gr_from_bits_(uint64_t u) {
    union { uint64_t u; double f; } c = {u};
    return c.f;
}
static inline double gr_abs_(double x) { return gr_from_bits_(gr_bits_(x) & ~GR_SIGN); }
static inline double gr_with_sign_(double x, double s) {
    return gr_from_bits_((gr_bits_(x) & ~GR_SIGN) | (gr_bits_(s) & GR_SIGN));
}
/* 2^k for -1022 <= k <= 1023 */
static inline double gr_pow2_(int k) { return gr_from_bits_((uint64_t)(1023 + k) << 52); }

static inline gr_dd gr_dd_fast(double a, double b) { /* |a| >= |b| or a == 0 */
    double s = a + b;
    return (gr_dd){s, b - (s - a)};
}
static inline gr_dd gr_dd_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (gr_dd){s, (a - (s - t)) + (b - t)};
}
static inline gr_dd gr_dd_prod(double a, double b) {
    double p = a * b, s = 134217729.0 * a, t = 134217729.0 * b; /* 2^27 + 1 */
    double ah = s - (s - a), al = a - ah, bh = t - (t - b), bl = b - bh;
    return (gr_dd){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
/* No heavy cancellation between x and y, or y's low part does not matter then. */
static inline gr_dd gr_dd_add(gr_dd x, gr_dd y) {
    gr_dd s = gr_dd_sum(x.h, y.h);
    return gr_dd_fast(s.h, s.l + (x.l + y.l));
}
static inline gr_dd gr_dd_mul(gr_dd x, gr_dd y) {
    gr_dd p = gr_dd_prod(x.h, y.h);
    return gr_dd_fast(p.h, p.l + (x.h * y.l + x.l * y.h));
}
static inline gr_dd gr_dd_div(gr_dd x, gr_dd y) {
    double q = x.h / y.h;
    gr_dd p = gr_dd_prod(q, y.h);
    return gr_dd_fast(q, (((x.h - p.h) - p.l) + (x.l - q * y.l)) / y.h);
}
static inline gr_dd gr_dd_neg(gr_dd x) { return (gr_dd){-x.h, -x.l}; }
static inline gr_dd gr_dd_half(gr_dd x) { return (gr_dd){0.5 * x.h, 0.5 * x.l}; }
gr_dd gr_dd_sqrt(gr_dd x); /* x.h > 0 */

/* exp(x.h + x.l) = result * 2^*k with result in [0.99, 2.01]; |x.h| < 2000. Relative error 2^-67. */
gr_dd gr_dd_exp(gr_dd x, int *k);
/* exp(x) - 1 for |x| < 700, no scaling; relative error 2^-61. */
gr_dd gr_dd_expm1(double x);
/* log(2^e * (x.h + x.l)); x.h positive and normal. Relative error 2^-66. */
gr_dd gr_dd_log(gr_dd x, int e);
/* log(1 + u.h + u.l); u.h > -1, |u| > 2^-500 or 0. */
gr_dd gr_dd_log1p(gr_dd u);
/* (x.h + x.l) * 2^k rounded once, also when the result is subnormal; x.h in [0.5, 4]. */
double gr_dd_scale(gr_dd x, int k);

#endif
