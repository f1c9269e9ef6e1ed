/* Inverse circular functions, all through the angle of a vector (x, y) given in pairs of doubles:
 * with c = j/64 near y/x, atan(y/x) = atan(c) + atan((y - c x) / (x + c y)), the last below 2^-7. */
#include "base/math_int.h"

static const gr_dd PI = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
static const gr_dd HALF_PI = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

/* atan(y/x) for 0 <= y <= x, x about 1 */
static gr_dd octant(gr_dd y, gr_dd x) {
    uint32_t j = (uint32_t)(y.h / x.h * 64 + 0.5);
    double c = (double)j * (1.0 / 64);
    if (j) {
        gr_dd cx = gr_dd_prod(c, x.h), cy = gr_dd_prod(c, y.h), n = gr_dd_sum(y.h, -cx.h);
        n = gr_dd_fast(n.h, n.l + ((y.l - cx.l) - c * x.l));
        cy.l += c * y.l;
        x = gr_dd_add(x, cy);
        y = n;
    }
    gr_dd t = gr_dd_div(y, x);
    double z = t.h * t.h;
    double p = 1.0 / 3 - z * (1.0 / 5 - z * (1.0 / 7 - z * (1.0 / 9)));
    gr_dd a = gr_atan_table[j], s = gr_dd_fast(a.h, t.h);
    return gr_dd_fast(s.h, s.l + ((a.l + t.l) - t.h * z * p));
}

/* The angle of (x, y) in [0, pi], y >= 0; max(|x|, y) in [0.4, 4] */
static double angle(gr_dd y, gr_dd x) {
    bool left = x.h < 0;
    if (left) x = gr_dd_neg(x);
    gr_dd a = y.h > x.h ? gr_dd_add(HALF_PI, gr_dd_neg(octant(x, y))) : octant(y, x);
    if (left) a = gr_dd_add(PI, gr_dd_neg(a));
    return a.h + a.l;
}

double gr_atan(double x) {
    double a = gr_abs_(x);
    if (gr_isnan(x)) return GR_NAN;
    if (a < 0x1p-27) return x;
    if (a > 0x1p60) return gr_with_sign_(HALF_PI.h, x);
    gr_dd v = a <= 1 ? octant((gr_dd){a, 0}, (gr_dd){1, 0})
                     : gr_dd_add(HALF_PI, gr_dd_neg(octant(gr_dd_div((gr_dd){1, 0}, (gr_dd){a, 0}), (gr_dd){1, 0})));
    return gr_with_sign_(v.h + v.l, x);
}

double gr_asin(double x) {
    double a = gr_abs_(x);
    if (!(a <= 1)) return GR_NAN;
    if (a < 0x1p-27) return x;
    if (a == 1) return gr_with_sign_(HALF_PI.h, x);
    gr_dd c = gr_dd_sqrt(gr_dd_mul(gr_dd_sum(1, -a), gr_dd_sum(1, a)));
    return gr_with_sign_(angle((gr_dd){a, 0}, c), x);
}

double gr_acos(double x) {
    double a = gr_abs_(x);
    if (!(a <= 1)) return GR_NAN;
    if (a < 0x1p-60) return HALF_PI.h;
    if (a == 1) return x > 0 ? 0 : PI.h;
    gr_dd s = gr_dd_sqrt(gr_dd_mul(gr_dd_sum(1, -a), gr_dd_sum(1, a)));
    return angle(s, (gr_dd){x, 0});
}

/* Zeros and infinities as in C Annex F, x and y not NaN. */
static double atan2_special(double y, double x) {
    bool left = gr_bits_(x) >> 63;
    if (y == 0) return gr_with_sign_(left ? PI.h : 0, y);
    if (gr_abs_(y) == GR_INF && gr_abs_(x) == GR_INF) {
        return gr_with_sign_(left ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1, y); /* 3 pi/4, pi/4 */
    }
    if (gr_abs_(x) == GR_INF) return gr_with_sign_(left ? PI.h : 0, y);
    return gr_with_sign_(HALF_PI.h, y);
}

double gr_atan2(double y, double x) {
    double ay = gr_abs_(y), ax = gr_abs_(x);
    if (gr_isnan(x) || gr_isnan(y)) return GR_NAN;
    if (ax == 0 || ay == 0 || ax == GR_INF || ay == GR_INF) return atan2_special(y, x);
    int ex, ey;
    double mx = gr_frexp(ax, &ex), my = gr_frexp(ay, &ey);
    if (ey - ex > 64) return gr_with_sign_(HALF_PI.h, y);
    if (ex - ey > 64) return x < 0 ? gr_with_sign_(PI.h, y) : gr_with_sign_(ay / ax, y);
    if (ey > ex) mx = gr_ldexp(mx, ex - ey);
    else my = gr_ldexp(my, ey - ex);
    return gr_with_sign_(angle((gr_dd){my, 0}, (gr_dd){gr_with_sign_(mx, x), 0}), y);
}
