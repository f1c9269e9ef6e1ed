/* sin, cos, tan. The argument is brought to |r| <= pi/4 as a pair of doubles: with pi/2 in four
 * pieces up to 2^20, with the bits of 2/pi beyond (M. Payne and R. Hanek, "Radian reduction for
 * trigonometric functions", 1983). Taylor polynomials, leading terms in pairs of doubles. */
#include "base/math_int.h"

typedef struct word3 { uint64_t w[3]; } word3; /* most significant first */

static uint64_t mul_high(uint64_t a, uint64_t b) {
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32), mid2 = al * bh + (uint32_t)mid;
    return ah * bh + (mid >> 32) + (mid2 >> 32);
}

/* 192 bits of 2/pi from bit `at` of the table on. */
static word3 window(uint32_t at) {
    word3 v;
    uint32_t word = at >> 6, bit = at & 63;
    const uint64_t *t = gr_trig_two_over_pi + word;
    for (int i = 0; i < 3; i++) v.w[i] = bit ? t[i] << bit | t[i + 1] >> (64 - bit) : t[i];
    return v;
}

static word3 times(uint64_t m, word3 v) { /* modulo 2^192 */
    word3 r;
    uint64_t carry = mul_high(m, v.w[2]);
    r.w[2] = m * v.w[2];
    r.w[1] = m * v.w[1] + carry;
    carry = mul_high(m, v.w[1]) + (r.w[1] < carry);
    r.w[0] = m * v.w[0] + carry;
    return r;
}

static word3 negate(word3 v) {
    word3 r = {{~v.w[0], ~v.w[1], ~v.w[2] + 1}};
    if (r.w[2] == 0 && ++r.w[1] == 0) ++r.w[0];
    return r;
}

/* x = m 2^e with e >= -32. In x * 2/pi only bits from e - 1 behind the point on count modulo 4;
 * 192 of them leave 190 bits behind the point, of which at most 62 cancel. */
static int reduce_huge(double x, gr_dd *r) {
    uint64_t b = gr_bits_(x), m = (b & GR_MANTISSA) | 1ull << 52;
    int e = (int)(b >> 52) - 1075;
    word3 p = times(m, window((uint32_t)(e - 2 + 64)));
    int q = (int)(p.w[0] >> 62);
    bool negative = p.w[0] >> 61 & 1;
    if (negative) p = negate(p), q++;
    p.w[0] &= ~0ull >> 2;
    gr_dd f = {0, 0};
    for (int i = 0; i < 6; i++) {
        uint64_t half = i & 1 ? (uint32_t)p.w[i / 2] : p.w[i / 2] >> 32;
        gr_dd s = gr_dd_sum(f.h, (double)half * gr_pow2_(2 - 32 * (i + 1)));
        f = (gr_dd){s.h, f.l + s.l};
    }
    f = gr_dd_mul(gr_dd_fast(f.h, f.l), (gr_dd){gr_trig_half_pi[0], gr_trig_half_pi[1]});
    *r = negative ? gr_dd_neg(f) : f;
    return q & 3;
}

/* x = q pi/2 + r, finite x >= 0; gives q modulo 4 */
static inline int reduce(double x, gr_dd *r) {
    if (x <= 0.7853981633974483) {
        *r = (gr_dd){x, 0};
        return 0;
    }
    if (x >= 0x1p20) return reduce_huge(x, r);
    double s = x * 0.6366197723675814 + 0x1.8p52, n = s - 0x1.8p52;
    gr_dd a = gr_dd_sum(x - n * gr_trig_step[0], -(n * gr_trig_step[1]));
    gr_dd b = gr_dd_sum(a.h, -(n * gr_trig_step[2]));
    *r = gr_dd_fast(b.h, (a.l + b.l) - n * gr_trig_step[3]);
    return (int)(gr_bits_(s) & 3);
}

/* r - r^3/6 + r^5 (...), the cube term in two pieces */
static inline gr_dd sin_dd(gr_dd r, gr_dd z) {
    double w = z.h;
    double p = 1.0 / 120 +
               w * (-1.0 / 5040 +
                    w * (1.0 / 362880 +
                         w * (-1.0 / 39916800 +
                              w * (1.0 / 6227020800 + w * (-1.0 / 1307674368000 + w * (1.0 / 355687428096000))))));
    gr_dd c = gr_dd_mul(z, (gr_dd){gr_trig_sixth[0], gr_trig_sixth[1]});
    c = gr_dd_fast(c.h, c.l + w * w * p);
    gr_dd y = gr_dd_mul(c, r), s = gr_dd_fast(r.h, y.h);
    return gr_dd_fast(s.h, s.l + (r.l + y.l));
}

/* 1 - r^2/2 + r^4 (...) */
static inline gr_dd cos_dd(gr_dd z) {
    double w = z.h;
    double p = 1.0 / 24 +
               w * (-1.0 / 720 +
                    w * (1.0 / 40320 +
                         w * (-1.0 / 3628800 +
                              w * (1.0 / 479001600 +
                                   w * (-1.0 / 87178291200 + w * (1.0 / 20922789888000 + w * (-1.0 / 6402373705728000)))))));
    gr_dd s = gr_dd_fast(1, -0.5 * w);
    return gr_dd_fast(s.h, s.l + (w * w * p - 0.5 * z.l));
}

static inline gr_dd square(gr_dd r) {
    gr_dd z = gr_dd_prod(r.h, r.h);
    z.l += 2 * r.h * r.l;
    return z;
}

/* sin for q = 0, cos for q = 1, and so on around the circle */
static double sin_quadrant(gr_dd r, int q) {
    gr_dd z = square(r), y = q & 1 ? cos_dd(z) : sin_dd(r, z);
    double v = y.h + y.l;
    return q & 2 ? -v : v;
}

double gr_sin(double x) {
    double a = gr_abs_(x);
    if (!(a < GR_INF)) return GR_NAN;
    if (a < 0x1p-27) return x;
    gr_dd r;
    int q = reduce(a, &r);
    double v = sin_quadrant(r, q);
    return x < 0 ? -v : v;
}

double gr_cos(double x) {
    double a = gr_abs_(x);
    if (!(a < GR_INF)) return GR_NAN;
    if (a < 0x1p-28) return 1;
    gr_dd r;
    int q = reduce(a, &r);
    return sin_quadrant(r, q + 1);
}

double gr_tan(double x) {
    double a = gr_abs_(x);
    if (!(a < GR_INF)) return GR_NAN;
    if (a < 0x1p-28) return x;
    gr_dd r;
    int q = reduce(a, &r);
    gr_dd z = square(r), s = sin_dd(r, z), c = cos_dd(z);
    gr_dd y = q & 1 ? gr_dd_neg(gr_dd_div(c, s)) : gr_dd_div(s, c);
    double v = y.h + y.l;
    return x < 0 ? -v : v;
}
