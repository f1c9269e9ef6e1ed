/* Roots. The machine's square root is correctly rounded everywhere (IEEE 754). */
#include "base/math_int.h"

/* The test is on bits: LLVM folds `x < 0 ? NaN : sqrt(x)` into sqrt(x), whose NaN has any sign. */
double gr_sqrt(double x) {
    uint64_t b = gr_bits_(x);
    if (b > GR_SIGN || (b > 0x7FF0000000000000u && b < GR_SIGN)) return GR_NAN;
    return __builtin_sqrt(x);
}

gr_dd gr_dd_sqrt(gr_dd x) {
    double s = __builtin_sqrt(x.h);
    gr_dd p = gr_dd_prod(s, s);
    return gr_dd_fast(s, ((x.h - p.h) - p.l + x.l) / (2 * s));
}

/* |x| = m * 2^(step * k), m in [0.5, 2^(step-1)); finite x > 0. */
static double scaled(double x, int step, int *k) {
    int e;
    double m = gr_frexp(x, &e);
    int rest = ((e % step) + step) % step;
    *k = (e - rest) / step;
    return m * gr_pow2_(rest);
}

double gr_inverse_sqrt(double x) {
    if (gr_isnan(x) || x < 0) return GR_NAN;
    if (x == 0) return gr_with_sign_(GR_INF, x);
    if (x == GR_INF) return 0;
    int k;
    double m = scaled(x, 2, &k), y = 1 / __builtin_sqrt(m);
    gr_dd p = gr_dd_mul(gr_dd_prod(y, y), (gr_dd){m, 0}); /* m y^2, near 1 */
    double e = (1 - p.h) - p.l;
    return (y + 0.5 * y * e) * gr_pow2_(-k);
}

double gr_cbrt(double x) {
    double a = gr_abs_(x);
    if (gr_isnan(x)) return GR_NAN;
    if (x == 0 || a == GR_INF) return x;
    int k;
    double m = scaled(a, 3, &k);
    double t = 0.6 + m * (0.45 - m * 0.045); /* within 7 % on [0.5, 4) */
    for (int i = 0; i < 4; i++) t -= (t - m / (t * t)) * (1.0 / 3);
    gr_dd cube = gr_dd_mul(gr_dd_prod(t, t), (gr_dd){t, 0});
    double e = ((m - cube.h) - cube.l) / (3 * t * t);
    return gr_with_sign_((t + e) * gr_pow2_(k), x);
}
