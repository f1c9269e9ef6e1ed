/* log and what is built on it. x = 2^e m, c from a table near 1/m, r = m c - 1 exactly, |r| < 2^-7:
 * log x = e ln 2 - log c + log(1 + r). c is 1 on both sides of 1, so that nothing cancels there. */
#include "base/math_int.h"

typedef struct parts {
    double whole, rest; /* e ln 2 - log c: whole is a multiple of 2^-42, so exact */
    double r, rl;       /* m c - 1 */
} parts;

/* x.h positive and normal; x = (h + l) 2^e */
static inline parts reduce(double h, double l, int e) {
    uint64_t b = gr_bits_(h);
    uint32_t i = (uint32_t)(b >> 45) & 127, upper = i >= 53; /* m >= 1.414: halved */
    int shift = (int)(b >> 52) - 1023 + (int)upper;
    double m = gr_from_bits_((b & GR_MANTISSA) | (uint64_t)(1023 - upper) << 52);
    gr_log_row t = gr_log_table[i];
    double mh = gr_from_bits_(gr_bits_(m) & ~0x7FFFFFFull), ml = m - mh; /* c has 10 bits: exact products */
    double low = ml * t.c;
    if (l != 0) low += l * gr_pow2_(-shift) * t.c;
    gr_dd r = gr_dd_sum(mh * t.c - 1, low);
    double n = (double)(shift + e);
    return (parts){n * gr_log_ln2[0] + t.h, n * gr_log_ln2[1] + t.l, r.h, r.l};
}

/* log(1 + r) - r + r^2/2, |r| <= 2^-7 */
static inline double log_tail(double r) {
    double z = r * r;
    double a = 1.0 / 3 - r * (1.0 / 4), b = 1.0 / 5 - r * (1.0 / 6), c = 1.0 / 7 - r * (1.0 / 8);
    return r * z * (a + z * (b + z * (c + z * (1.0 / 9 - r * (1.0 / 10)))));
}

static gr_dd log_sum(parts p) {
    gr_dd s = gr_dd_sum(p.whole, p.r), q = gr_dd_prod(p.r, -0.5 * p.r), t = gr_dd_sum(s.h, q.h);
    double low = (s.l + t.l) + q.l + p.rest + p.rl * (1 - p.r);
    return gr_dd_fast(t.h, low + log_tail(p.r));
}

gr_dd gr_dd_log(gr_dd x, int e) { return log_sum(reduce(x.h, x.l, e)); }

gr_dd gr_dd_log1p(gr_dd u) {
    if (gr_abs_(u.h) < 0x1p-7) return log_sum((parts){0, 0, u.h, u.l});
    gr_dd x = gr_dd_sum(1, u.h);
    x = gr_dd_fast(x.h, x.l + u.l);
    return gr_dd_log(x, 0);
}

/* Zero, negative, infinite, NaN, subnormal: true and *y when that is the answer, else x scaled. */
static bool log_special(double *x, int *e, double *y) {
    *e = 0;
    if (*x == 0) *y = -GR_INF;
    else if (gr_isnan(*x) || *x < 0) *y = GR_NAN;
    else if (*x == GR_INF) *y = *x;
    else {
        if (*x < 0x1p-1022) *x *= 0x1p54, *e = -54;
        return false;
    }
    return true;
}

double gr_log(double x) {
    int e = 0;
    double y;
    if (!(x >= 0x1p-1022 && x < GR_INF) && log_special(&x, &e, &y)) return y;
    parts p = reduce(x, 0, e);
    gr_dd s = gr_dd_sum(p.whole, p.r);
    return s.h + (s.l + (p.rest + (p.rl - 0.5 * p.r * p.r + log_tail(p.r))));
}

double gr_log2(double x) {
    int e;
    double y;
    if (log_special(&x, &e, &y)) return y;
    gr_dd v = gr_dd_mul(gr_dd_log((gr_dd){x, 0}, e), (gr_dd){gr_log_inverse_ln2[0], gr_log_inverse_ln2[1]});
    return v.h + v.l;
}

double gr_log1p(double x) {
    if (gr_isnan(x) || x < -1) return GR_NAN;
    if (x == -1) return -GR_INF;
    if (x == GR_INF || gr_abs_(x) < 0x1p-54) return x;
    gr_dd v = x > 0x1p900 ? gr_dd_log((gr_dd){x, 0}, 0) : gr_dd_log1p((gr_dd){x, 0});
    return v.h + v.l;
}

/* log(2 a) for a > 2^30: the rest of asinh and acosh is below 2^-62 */
static double log_twice(double a) {
    gr_dd v = gr_dd_log((gr_dd){a, 0}, 1);
    return v.h + v.l;
}

/* log1p(a + a^2 / (1 + sqrt(1 + a^2))) */
double gr_asinh(double x) {
    double a = gr_abs_(x);
    if (gr_isnan(x)) return GR_NAN;
    if (a < 0x1p-27 || a == GR_INF) return x;
    if (a > 0x1p32) return gr_with_sign_(log_twice(a), x);
    gr_dd z = gr_dd_prod(a, a), one = {1, 0};
    gr_dd root = gr_dd_sqrt(gr_dd_add(one, z));
    gr_dd v = gr_dd_log1p(gr_dd_add((gr_dd){a, 0}, gr_dd_div(z, gr_dd_add(one, root))));
    return gr_with_sign_(v.h + v.l, x);
}

/* With t = x - 1: log1p(t + sqrt(2 t + t^2)) */
double gr_acosh(double x) {
    if (!(x >= 1)) return GR_NAN;
    if (x == GR_INF) return x;
    if (x == 1) return 0;
    if (x > 0x1p32) return log_twice(x);
    gr_dd t = gr_dd_sum(x, -1);
    gr_dd root = gr_dd_sqrt(gr_dd_mul(t, gr_dd_add(t, (gr_dd){2, 0})));
    gr_dd v = gr_dd_log1p(gr_dd_add(t, root));
    return v.h + v.l;
}

/* log1p(2 a / (1 - a)) / 2 */
double gr_atanh(double x) {
    double a = gr_abs_(x);
    if (gr_isnan(x) || a > 1) return GR_NAN;
    if (a == 1) return gr_with_sign_(GR_INF, x);
    if (a < 0x1p-28) return x;
    gr_dd v = gr_dd_half(gr_dd_log1p(gr_dd_div((gr_dd){2 * a, 0}, gr_dd_sum(1, -a))));
    return gr_with_sign_(v.h + v.l, x);
}
