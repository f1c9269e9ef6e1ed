/* a * b + c with one rounding, in integers of 128 bits. */
#include "base/math_int.h"

typedef struct u128 { uint64_t hi, lo; } u128;

static u128 mul64(uint64_t a, uint64_t b) {
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t low = al * bl, mid = ah * bl + (low >> 32), mid2 = al * bh + (uint32_t)mid;
    return (u128){ah * bh + (mid >> 32) + (mid2 >> 32), mid2 << 32 | (uint32_t)low};
}

static u128 shift_left(u128 x, int n) { /* 0 <= n < 128 */
    if (n >= 64) return (u128){x.lo << (n - 64), 0};
    return n ? (u128){x.hi << n | x.lo >> (64 - n), x.lo << n} : x;
}

/* The last bit also stands for everything that was shifted out ("sticky"). */
static u128 shift_right_sticky(u128 x, int n) {
    if (n >= 128) return (u128){0, (x.hi | x.lo) != 0};
    if (n >= 64) {
        uint64_t lost = x.lo | (n > 64 ? x.hi << (128 - n) : 0);
        return (u128){0, x.hi >> (n - 64) | (lost != 0)};
    }
    return n ? (u128){x.hi >> n, x.hi << (64 - n) | x.lo >> n | ((x.lo << (64 - n)) != 0)} : x;
}

static u128 add(u128 x, u128 y) {
    uint64_t lo = x.lo + y.lo;
    return (u128){x.hi + y.hi + (lo < x.lo), lo};
}

static u128 sub(u128 x, u128 y) { return (u128){x.hi - y.hi - (x.lo < y.lo), x.lo - y.lo}; }
static bool less(u128 x, u128 y) { return x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo); }

static int leading_zeros(u128 x) { /* x != 0 */
    int n = 0;
    uint64_t v = x.hi;
    if (v == 0) v = x.lo, n = 64;
    for (int step = 32; step; step >>= 1)
        if (v >> (64 - step) == 0) v <<= step, n += step;
    return n;
}

/* |x| = m * 2^e for a finite x != 0 */
static uint64_t split(double x, int *e) {
    uint64_t b = gr_bits_(x) & ~GR_SIGN, m = b & GR_MANTISSA;
    *e = (int)(b >> 52) - 1075;
    if (b >> 52) return m | 1ull << 52;
    *e = -1074;
    return m;
}

/* Rounds x * 2^e, x != 0, to nearest even; subnormal and infinite results included. */
static double pack(u128 x, int e, uint64_t sign) {
    int z = leading_zeros(x);
    x = shift_left(x, z);
    e += 127 - z; /* x = 1.f * 2^e now, its first bit is bit 127 */
    if (e > 1023) return gr_from_bits_(sign | gr_bits_(GR_INF));
    uint64_t biased = (uint64_t)(e + 1023);
    int drop = 11;
    if (e < -1022) {
        int more = -1022 - e;
        x = shift_right_sticky(x, more > 100 ? 100 : more);
        biased = 1; /* the missing first bit makes it subnormal below */
    }
    uint64_t m = x.hi >> drop, rest = x.hi & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    bool up = rest > half || (rest == half && (x.lo || (m & 1)));
    /* A carry out of the mantissa runs into the exponent, as it should, up to infinity. */
    return gr_from_bits_(sign | (((biased - 1) << 52) + m + up));
}

/* Mantissas of 26 bits each (f32 values, small integers): the product is exact as it is. */
static bool product_is_exact(double a, double b, double p) {
    return ((gr_bits_(a) | gr_bits_(b)) & 0x7FFFFFF) == 0 && gr_abs_(p) >= 0x1p-960 && gr_abs_(p) < GR_INF;
}

double gr_fma(double a, double b, double c) {
    double p = a * b;
    if (product_is_exact(a, b, p) && !gr_isnan(c)) return p + c;
    if (gr_isnan(a) || gr_isnan(b) || gr_isnan(c)) return GR_NAN;
    if (gr_abs_(a) == GR_INF || gr_abs_(b) == GR_INF || a == 0 || b == 0 || gr_abs_(c) == GR_INF) {
        double s = gr_abs_(c) == GR_INF && gr_abs_(a) != GR_INF && gr_abs_(b) != GR_INF ? c : p + c;
        return gr_isnan(s) ? GR_NAN : s;
    }
    if (c == 0) return p; /* p is rounded once, and cannot be an exact zero */
    int ea, eb, ec;
    uint64_t ma = split(a, &ea), mb = split(b, &eb), mc = split(c, &ec);
    uint64_t sp = (gr_bits_(a) ^ gr_bits_(b)) & GR_SIGN, sc = gr_bits_(c) & GR_SIGN;
    u128 x = mul64(ma, mb), y = {0, mc};
    int ex = ea + eb, ey = ec, zx = leading_zeros(x) - 2, zy = leading_zeros(y) - 2;
    x = shift_left(x, zx), ex -= zx; /* first bit at 125: room for the carry, and guard bits */
    y = shift_left(y, zy), ey -= zy;
    if (ex < ey) x = shift_right_sticky(x, ey - ex), ex = ey;
    else y = shift_right_sticky(y, ex - ey);
    if (sp == sc) return pack(add(x, y), ex, sp);
    if (less(x, y)) return pack(sub(y, x), ex, sc);
    u128 r = sub(x, y);
    return r.hi | r.lo ? pack(r, ex, sp) : 0.0;
}
