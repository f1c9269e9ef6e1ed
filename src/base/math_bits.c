/* Bits, rounding to integers, remainders, scaling, binary16, ulps: all exact. */
#include "base/math_int.h"

uint64_t gr_bits_f64(double x) { return gr_bits_(x); }
double gr_f64_bits(uint64_t u) { return gr_from_bits_(u); }

uint32_t gr_bits_f32(float x) {
    union { float f; uint32_t u; } c = {x};
    return c.u;
}
float gr_f32_bits(uint32_t u) {
    union { uint32_t u; float f; } c = {u};
    return c.f;
}

double gr_fabs(double x) { return gr_abs_(x); }
double gr_copysign(double x, double s) { return gr_with_sign_(x, s); }

/* From 2^52 on every double is an integer. */
static bool has_fraction(double x) { return gr_abs_(x) < 0x1p52; }

double gr_trunc(double x) {
    if (!has_fraction(x)) return gr_isnan(x) ? GR_NAN : x;
    return gr_with_sign_((double)(int64_t)x, x);
}

double gr_floor(double x) {
    if (!has_fraction(x)) return gr_isnan(x) ? GR_NAN : x;
    double t = (double)(int64_t)x;
    return gr_with_sign_(t > x ? t - 1 : t, x);
}

double gr_ceil(double x) {
    if (!has_fraction(x)) return gr_isnan(x) ? GR_NAN : x;
    double t = (double)(int64_t)x;
    return gr_with_sign_(t < x ? t + 1 : t, x);
}

double gr_round_even(double x) {
    if (!has_fraction(x)) return gr_isnan(x) ? GR_NAN : x;
    return gr_with_sign_(gr_abs_(x) + 0x1p52 - 0x1p52, x);
}

/* Integer mantissa and exponent of a finite x > 0: x = m * 2^e, 2^52 <= m < 2^53. */
static uint64_t normal_mantissa(double x, int *e) {
    uint64_t b = gr_bits_(x);
    *e = (int)(b >> 52) - 1075;
    uint64_t m = b & GR_MANTISSA;
    if (b >> 52) return m | 1ull << 52;
    for (*e = -1074; m < 1ull << 52; m <<= 1) --*e;
    return m;
}

double gr_fmod(double x, double y) {
    if (gr_isnan(x) || gr_isnan(y) || gr_abs_(x) == GR_INF || y == 0) return GR_NAN;
    if (gr_abs_(x) < gr_abs_(y)) return x;
    int ex, ey;
    uint64_t mx = normal_mantissa(gr_abs_(x), &ex), my = normal_mantissa(gr_abs_(y), &ey), r = mx % my;
    for (int left = ex - ey; left > 0;) { /* my < 2^53, so r << 11 fits */
        int step = left < 11 ? left : 11;
        r = (r << step) % my;
        left -= step;
    }
    return gr_with_sign_(gr_ldexp((double)r, ey), x);
}

double gr_frexp(double x, int *e) {
    *e = 0;
    if (x == 0 || gr_abs_(x) == GR_INF) return x;
    if (gr_isnan(x)) return GR_NAN;
    uint64_t m = normal_mantissa(gr_abs_(x), e);
    *e += 53;
    return gr_with_sign_(gr_from_bits_((m & GR_MANTISSA) | 1022ull << 52), x);
}

double gr_ldexp(double x, int n) {
    if (x == 0 || gr_abs_(x) == GR_INF) return x;
    if (gr_isnan(x)) return GR_NAN;
    int e;
    double m = gr_frexp(x, &e); /* in [0.5, 1): result exponent e - 1 + n */
    if (n > 5000) n = 5000;
    if (n < -5000) n = -5000;
    e += n;
    if (e > 1024) return gr_with_sign_(GR_INF, x);
    if (e > -1022) return m * 2 * gr_pow2_(e - 1);
    if (e < -1074) return gr_with_sign_(0, x); /* below half of the least subnormal */
    return m * 0x1p-969 * gr_pow2_(e + 969);   /* both normal: one rounding, at the end */
}

/* Rounds mantissa m (most significant bit 52) down to `keep` bits, to nearest even; keep 0..52. */
static uint64_t round_bits(uint64_t m, int keep) {
    int drop = 53 - keep;
    uint64_t half = 1ull << (drop - 1), low = m & ((half << 1) - 1), q = m >> drop;
    return q + (low > half || (low == half && (q & 1)));
}

uint16_t gr_f16_from_f64(double x) {
    uint16_t sign = (uint16_t)(gr_bits_(x) >> 48 & 0x8000);
    if (gr_isnan(x)) return 0x7E00;
    double a = gr_abs_(x);
    if (a >= 65520) return (uint16_t)(sign | 0x7C00); /* halfway from 65504 to 65536 rounds to even: infinity */
    if (a < 0x1p-25) return sign;
    int e;
    uint64_t m = normal_mantissa(a, &e);
    e += 52; /* a = 1.m * 2^e */
    if (e < -14) return (uint16_t)(sign | round_bits(m, 11 + (e + 14)));
    return (uint16_t)(sign | (((uint64_t)(e + 14) << 10) + round_bits(m, 11)));
}

uint16_t gr_f16_from_f32(float x) { return gr_f16_from_f64((double)x); }

float gr_f32_from_f16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;
    if (e == 31) return gr_f32_bits(m ? 0x7FC00000u : sign | 0x7F800000u);
    if (e == 0) return gr_f32_bits(gr_bits_f32((float)m * 0x1p-24f) | sign);
    return gr_f32_bits(sign | (e + 112) << 23 | m << 13);
}

/* Spacing of a format with p bits of precision, normal exponents emin..emax, at |x|. */
static double ulp(double x, int p, int emin, int emax) {
    uint64_t b = gr_bits_(x) & ~GR_SIGN;
    if (b >= gr_bits_(GR_INF)) return b == gr_bits_(GR_INF) ? GR_INF : GR_NAN;
    int e = (int)(b >> 52) - 1023;
    if (e < emin) e = emin;
    if (e > emax) e = emax;
    e -= p - 1;
    return e >= -1022 ? gr_pow2_(e) : gr_from_bits_(1ull << (e + 1074));
}

double gr_ulp_f64(double x) { return ulp(x, 53, -1022, 1023); }
double gr_ulp_f32(double x) { return ulp(x, 24, -126, 127); }
double gr_ulp_f16(double x) { return ulp(x, 11, -14, 15); }
