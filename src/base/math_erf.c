/* erf: around c = j/16, erf' = b[0] + b[1] t + ..., where erf'' = -2 x erf' gives
 * (n + 1) b[n+1] = -2 (c b[n] + b[n-1]). Below 1/4 the series at 0. */
#include "base/math_int.h"

enum { TERMS = 13 };

/* 2/sqrt(pi) (x - x^3/3 + x^5/10 - ...), 2^-28 <= x <= 0.25 */
static double erf_small(double x) {
    double z = x * x;
    static const double c[] = {-1.0 / 3,    1.0 / 10,     -1.0 / 42,    1.0 / 216,     -1.0 / 1320,
                               1.0 / 9360,  -1.0 / 75600, 1.0 / 685440, -1.0 / 6894720};
    double p = 0;
    for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--) p = p * z + c[i];
    gr_dd m = gr_dd_fast(1, gr_erf_slope[0]);
    gr_dd y = gr_dd_mul((gr_dd){m.h, m.l + gr_erf_slope[1]}, (gr_dd){x, x * z * p});
    return y.h + y.l;
}

static double erf_table(double x) {
    uint32_t j = (uint32_t)(x * 16 + 0.5);
    double c = (double)j * (1.0 / 16), t = x - c;
    gr_erf_row row = gr_erf_table[j];
    double b[TERMS] = {1, -2 * c}, p = 0;
    for (int n = 1; n + 1 < TERMS; n++) b[n + 1] = -2 * (c * b[n] + b[n - 1]) * (1.0 / (n + 1));
    for (int n = TERMS - 1; n >= 1; n--) p = p * t + b[n] * (1.0 / (n + 1));
    gr_dd lead = gr_dd_prod(row.slope, t), s = gr_dd_fast(row.h, lead.h);
    return s.h + (s.l + (row.l + lead.l + row.slope_l * t + lead.h * (p * t)));
}

double gr_erf(double x) {
    double a = gr_abs_(x);
    if (gr_isnan(x)) return GR_NAN;
    if (a < 0x1p-28) return gr_with_sign_(a + (a * gr_erf_slope[0] + a * gr_erf_slope[1]), x);
    if (a >= 6) return gr_with_sign_(1, x);
    return gr_with_sign_(a <= 0.25 ? erf_small(a) : erf_table(a), x);
}
