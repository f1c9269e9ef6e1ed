/* exp and what is built on it. exp(x) = 2^(k/128) exp(r), |r| <= ln 2 / 256: a table of 128
 * values of 53 + 53 bits and a Taylor polynomial. */
#include "base/math_int.h"

#define SHIFT 0x1.8p52 /* adding it rounds to an integer, left in the low bits */

/* 2^(j/128) + error of exp(r) - 1 for |r| < 0.0028: r + r^2 (...), the tail below 2^-61. */
static inline double exp_tail(double r) {
    return r * r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120))));
}

/* 2^(k/128) (1 + r + rl), a normal result. */
static inline double exp_finish(int64_t k, double r, double rl) {
    gr_dd t = gr_exp_table[k & 127];
    double y = t.h + (t.l + t.h * (r + (rl + exp_tail(r))));
    return gr_from_bits_(gr_bits_(y) + ((uint64_t)(k >> 7) << 52));
}

static inline int64_t low_int(double shifted) { return (int64_t)(int32_t)(uint32_t)gr_bits_(shifted); }

gr_dd gr_dd_exp(gr_dd x, int *k) {
    double s = x.h * (128 * 1.4426950408889634) + SHIFT, n = s - SHIFT;
    int64_t i = low_int(s);
    gr_dd r = gr_dd_sum(x.h - n * gr_exp_step[0], -(n * gr_exp_step[1]));
    double rl = r.l + (x.l - n * gr_exp_step[2]);
    double e = exp_tail(r.h) + r.h * r.h * r.h * r.h * r.h * r.h * (1.0 / 720);
    double p = e + (rl + rl * r.h); /* exp - 1 - r.h */
    gr_dd t = gr_exp_table[i & 127], q = gr_dd_prod(t.h, r.h), y = gr_dd_fast(t.h, q.h);
    *k = (int)(i >> 7);
    return gr_dd_fast(y.h, y.l + (t.h * p + (q.l + t.l + t.l * r.h)));
}

double gr_dd_scale(gr_dd x, int k) {
    double y = x.h + x.l;
    if (k > 1030) return GR_INF;
    if (k > 900) return y * 0x1p900 * gr_pow2_(k - 900);
    if (k < -1080) return 0;
    if (k >= -1021 || y >= gr_pow2_(-1022 - k)) return y * gr_pow2_(k + 60) * 0x1p-60;
    /* Subnormal: the sum with c has the ulp of the result, so that it is rounded there, once. */
    double c = gr_pow2_(-1022 - k);
    gr_dd s = gr_dd_sum(c, x.h);
    y = s.h + (s.l + x.l);
    return (y - c) * gr_pow2_(k + 60) * 0x1p-60;
}

/* |x| >= 708, NaN, or a subnormal result. */
static double exp_extreme(double x) {
    if (gr_isnan(x)) return GR_NAN;
    if (x > 710) return GR_INF;
    if (x < -746) return 0;
    int k;
    gr_dd y = gr_dd_exp((gr_dd){x, 0}, &k);
    return gr_dd_scale(y, k);
}

double gr_exp(double x) {
    if (!(gr_abs_(x) < 708)) return exp_extreme(x);
    double s = x * (128 * 1.4426950408889634) + SHIFT, n = s - SHIFT;
    double r = (x - n * gr_exp_step[0]) - n * gr_exp_step[1];
    return exp_finish(low_int(s), r, -n * gr_exp_step[2]);
}

double gr_exp2(double x) {
    if (gr_isnan(x)) return GR_NAN;
    if (x >= 1024) return GR_INF;
    if (x < -1080) return 0;
    double s = x * 128 + SHIFT, n = s - SHIFT, r = x - n * (1.0 / 128); /* exact */
    if (x > -1021.5) return exp_finish(low_int(s), r * (gr_log_ln2[0] + gr_log_ln2[1]), 0);
    int k;
    gr_dd ln2 = gr_dd_fast(gr_log_ln2[0], gr_log_ln2[1]), y = gr_dd_mul((gr_dd){r, 0}, ln2);
    y = gr_dd_exp(y, &k); /* k = 0 */
    gr_dd t = gr_dd_mul(y, gr_exp_table[low_int(s) & 127]);
    return gr_dd_scale(t, (int)(low_int(s) >> 7) + k);
}

/* Taylor from the square on: enough for |x| <= 2^-6. */
static double expm1_tail(double x) {
    double p = 1.0 / 720 + x * (1.0 / 5040 + x * (1.0 / 40320 + x * (1.0 / 362880)));
    return x * x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x * p))));
}

gr_dd gr_dd_expm1(double x) {
    if (gr_abs_(x) < 0x1p-6) return gr_dd_fast(x, expm1_tail(x));
    int k;
    gr_dd y = gr_dd_exp((gr_dd){x, 0}, &k);
    double scale = gr_pow2_(k < -1000 ? -1000 : k);
    gr_dd s = gr_dd_sum(y.h * scale, -1);
    return gr_dd_fast(s.h, s.l + y.l * scale);
}

double gr_expm1(double x) {
    if (gr_isnan(x)) return GR_NAN;
    if (gr_abs_(x) < 0x1p-54) return x;
    if (x > 700) return exp_extreme(x);
    if (x < -40) return -1;
    gr_dd y = gr_dd_expm1(x);
    return y.h + y.l;
}

double gr_sinh(double x) {
    double a = gr_abs_(x);
    if (gr_isnan(x)) return GR_NAN;
    if (a < 0x1p-27) return x;
    if (a == GR_INF) return x;
    if (a > 40) {
        int k;
        gr_dd y = gr_dd_exp((gr_dd){a > 1000 ? 1000 : a, 0}, &k);
        return gr_with_sign_(gr_dd_scale(y, k - 1), x);
    }
    gr_dd y = gr_dd_half(gr_dd_add(gr_dd_expm1(a), gr_dd_neg(gr_dd_expm1(-a))));
    return gr_with_sign_(y.h + y.l, x);
}

double gr_cosh(double x) {
    double a = gr_abs_(x);
    if (gr_isnan(x)) return GR_NAN;
    int k, m;
    gr_dd y = gr_dd_exp((gr_dd){a > 1000 ? 1000 : a, 0}, &k);
    if (a > 40) return gr_dd_scale(y, k - 1);
    gr_dd z = gr_dd_exp((gr_dd){-a, 0}, &m);
    double sy = gr_pow2_(k - 1), sz = gr_pow2_(m - 1);
    y = gr_dd_add((gr_dd){y.h * sy, y.l * sy}, (gr_dd){z.h * sz, z.l * sz});
    return y.h + y.l;
}

/* expm1(2x) / (expm1(2x) + 2) */
double gr_tanh(double x) {
    double a = gr_abs_(x);
    if (gr_isnan(x)) return GR_NAN;
    if (a < 0x1p-28) return x;
    if (a > 22) return gr_with_sign_(1, x);
    gr_dd e = gr_dd_expm1(2 * a), y = gr_dd_div(e, gr_dd_add((gr_dd){2, 0}, e));
    return gr_with_sign_(y.h + y.l, x);
}
