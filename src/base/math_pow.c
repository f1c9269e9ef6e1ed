/* pow: exp(y log x), both in pairs of doubles; special cases as in C Annex F. */
#include "base/math_int.h"

/* 0 no integer, 1 odd, 2 even; y finite or infinite (even) */
static int integer_kind(double y) {
    double a = gr_abs_(y);
    if (a >= 0x1p53) return 2;
    if (a != (double)(int64_t)a) return 0;
    return (int64_t)a & 1 ? 1 : 2;
}

/* x is 0 or infinite, or y infinite; neither NaN, y not 0, x not 1. */
static double pow_special(double x, double y, double sign) {
    double a = gr_abs_(x);
    if (gr_abs_(y) == GR_INF) {
        if (a == 1) return 1;
        return (a > 1) == (y > 0) ? GR_INF : 0;
    }
    return gr_with_sign_((a == 0) == (y > 0) ? 0 : GR_INF, sign);
}

double gr_pow(double x, double y) {
    if (y == 0 || x == 1) return 1;
    if (gr_isnan(x) || gr_isnan(y)) return GR_NAN;
    double a = gr_abs_(x), sign = 1;
    int e = 0, k;
    if (gr_bits_(x) >> 63) {
        int kind = integer_kind(y);
        if (kind == 1) sign = -1;
        if (kind == 0 && x != 0 && a != GR_INF) return GR_NAN;
    }
    if (a == 0 || a == GR_INF || gr_abs_(y) == GR_INF) return pow_special(x, y, sign);
    if (a == 1) return sign;
    if (a < 0x1p-1022) a *= 0x1p54, e = -54;
    gr_dd l = gr_dd_log((gr_dd){a, 0}, e);
    double z = y * l.h; /* overflow to infinity is fine here */
    if (z > 800) return gr_with_sign_(GR_INF, sign);
    if (z < -800) return gr_with_sign_(0, sign);
    if (gr_abs_(z) < 0x1p-60) return sign;
    gr_dd p = gr_dd_prod(y, l.h);
    p = gr_dd_fast(p.h, p.l + y * l.l);
    p = gr_dd_exp(p, &k);
    return sign * gr_dd_scale(p, k);
}
