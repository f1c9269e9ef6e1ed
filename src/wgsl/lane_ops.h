/* lane_ops.h: the vectorised loops; the body of lane_generic.c, lane_avx2.c, lane_avx512.c.
 *
 * The including file defines LANE_SUITE(name) (a suffix), and sets target and optimisation
 * pragmas after the system headers. Every operation is written so that its result depends on
 * IEEE arithmetic alone: floor and round go through the 2^23 (2^52) trick rather than through
 * an instruction, fma through round-to-odd in f64. */

#define LANE_N n &= ~(uint32_t)(LANE_UNIT - 1)
#define TRUTH(x) (0u - (uint32_t)(x))

/* Wrappers, so that a name that is itself a macro call is expanded before pasting. */
#define UN(name, D, A, expr) UN_(name, D, A, expr)
#define BIN(name, D, A, B, expr) BIN_(name, D, A, B, expr)
#define TER(name, D, A, B, C, expr) TER_(name, D, A, B, C, expr)
/* One destination type D, source types A, B, C; `expr` over x, y, z. */
#define UN_(name, D, A, expr) \
    static void name##_vv(void *dp, const void *ap, const void *bp, const void *cp, uint32_t n) { \
        (void)bp; (void)cp; \
        D *d = dp; const A *a = ap; \
        LANE_N; \
        LANE_LOOP { A x = a[i]; d[i] = (D)(expr); } \
    }
#define BIN_(name, D, A, B, expr) \
    static void name##_vv(void *dp, const void *ap, const void *bp, const void *cp, uint32_t n) { \
        (void)cp; \
        D *d = dp; const A *a = ap; const B *b = bp; \
        LANE_N; \
        LANE_LOOP { A x = a[i]; B y = b[i]; d[i] = (D)(expr); } \
    } \
    static void name##_vs(void *dp, const void *ap, const void *bp, const void *cp, uint32_t n) { \
        (void)cp; \
        D *d = dp; const A *a = ap; const B y = *(const B *)bp; \
        LANE_N; \
        LANE_LOOP { A x = a[i]; d[i] = (D)(expr); } \
    } \
    static void name##_sv(void *dp, const void *ap, const void *bp, const void *cp, uint32_t n) { \
        (void)cp; \
        D *d = dp; const A x = *(const A *)ap; const B *b = bp; \
        LANE_N; \
        LANE_LOOP { B y = b[i]; d[i] = (D)(expr); } \
    }
#define TER_(name, D, A, B, C, expr) \
    static void name##_vv(void *dp, const void *ap, const void *bp, const void *cp, uint32_t n) { \
        D *d = dp; const A *a = ap; const B *b = bp; const C *c = cp; \
        LANE_N; \
        LANE_LOOP { A x = a[i]; B y = b[i]; C z = c[i]; d[i] = (D)(expr); } \
    }

/* ---------------------------------------------------------------- integers */

static inline uint32_t popcount_of(uint32_t x) {
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    return ((x + (x >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
}
static inline uint32_t smear(uint32_t x) {
    x |= x >> 1, x |= x >> 2, x |= x >> 4, x |= x >> 8;
    return x | x >> 16;
}
static inline uint32_t clz_of(uint32_t x) { return 32 - popcount_of(smear(x)); }
static inline uint32_t ctz_of(uint32_t x) { return popcount_of(~x & (x - 1)); }
static inline uint32_t reverse_of(uint32_t x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    x = (x >> 8 & 0x00FF00FFu) | (x & 0x00FF00FFu) << 8;
    return x >> 16 | x << 16;
}
static inline uint32_t sign_bits(uint32_t x) { return TRUTH(x >> 31); }
/* Exact integer in f64. */
static inline double u2d(uint32_t x) { return (double)(int32_t)(x ^ 0x80000000u) + 2147483648.0; }
/* x in [0, 2^32), truncated. */
static inline uint32_t d2u(double x) {
    bool high = x >= 2147483648.0;
    double low = high ? x - 2147483648.0 : x;
    return (uint32_t)(int32_t)low ^ (high ? 0x80000000u : 0u);
}
/* The f64 quotient of two 32-bit integers truncates to the integer quotient: its distance
 * from the next integer is at least 1 / divisor, far above the rounding error. */
static inline uint32_t div_u(uint32_t x, uint32_t y) {
    uint32_t by = y ? y : 1;
    return d2u(u2d(x) / u2d(by));
}
static inline uint32_t div_s(uint32_t x, uint32_t y) {
    uint32_t by = (y == 0) | ((x == 0x80000000u) & (y == 0xFFFFFFFFu)) ? 1 : y;
    return (uint32_t)(int32_t)((double)(int32_t)x / (double)(int32_t)by);
}
static inline uint32_t mod_s(uint32_t x, uint32_t y) {
    uint32_t by = (y == 0) | ((x == 0x80000000u) & (y == 0xFFFFFFFFu)) ? 1 : y;
    return x - div_s(x, by) * by;
}
static inline uint32_t mod_u(uint32_t x, uint32_t y) {
    uint32_t by = y ? y : 1;
    return x - div_u(x, by) * by;
}
static inline uint32_t field(uint32_t offset, uint32_t count) {
    uint32_t o = offset < 32 ? offset : 32, left = 32 - o;
    return o | (count < left ? count : left) << 8;
}
static inline uint32_t low_mask(uint32_t count) { return count >= 32 ? 0xFFFFFFFFu : (1u << (count & 31)) - 1; }
static inline uint32_t extract_u(uint32_t x, uint32_t offset, uint32_t count) {
    uint32_t f = field(offset, count), o = f & 63, c = f >> 8;
    return (o >= 32 ? 0 : x >> (o & 31)) & low_mask(c);
}
static inline uint32_t extract_s(uint32_t x, uint32_t offset, uint32_t count) {
    uint32_t c = field(offset, count) >> 8, v = extract_u(x, offset, count), shift = (32 - c) & 31;
    return c == 0 ? 0 : (uint32_t)((int32_t)(v << shift) >> shift);
}
static inline uint32_t insert(uint32_t x, uint32_t bits, uint32_t f) {
    uint32_t o = f & 63, m = o >= 32 ? 0 : low_mask(f >> 8) << (o & 31);
    return (x & ~m) | ((o >= 32 ? 0 : bits << (o & 31)) & m);
}

#define IUN(name, expr) UN(name, uint32_t, uint32_t, expr)
#define IBIN(name, expr) BIN(name, uint32_t, uint32_t, uint32_t, expr)
#define S(x) ((int32_t)(x))
IUN(MOV_I, x)
IUN(NOT, ~x)
IUN(NEG_I, 0u - x)
IUN(ABS_I, S(x) < 0 ? 0u - x : x)
IUN(SIGN_I, S(x) > 0 ? 1u : sign_bits(x))
IUN(CLZ, clz_of(x))
IUN(CTZ, ctz_of(x))
IUN(POPCOUNT, popcount_of(x))
IUN(REVERSE, reverse_of(x))
IUN(LEADING_S, 31u - clz_of(x ^ sign_bits(x)))
IUN(LEADING_U, 31u - clz_of(x))
IUN(TRAILING, x ? ctz_of(x) : 0xFFFFFFFFu)
IUN(B2I, x & 1u)
IUN(I2B, TRUTH(x != 0))
IBIN(ADD_I, x + y)
IBIN(SUB_I, x - y)
IBIN(MUL_I, x *y)
IBIN(DIV_S, div_s(x, y))
IBIN(DIV_U, div_u(x, y))
IBIN(MOD_S, mod_s(x, y))
IBIN(MOD_U, mod_u(x, y))
IBIN(AND, x &y)
IBIN(OR, x | y)
IBIN(XOR, x ^ y)
IBIN(LAND, x &y)
IBIN(LOR, x | y)
IBIN(SHL, x << (y & 31))
IBIN(SHR_S, (uint32_t)(S(x) >> (y & 31)))
IBIN(SHR_U, x >> (y & 31))
IBIN(MIN_S, S(y) < S(x) ? y : x)
IBIN(MIN_U, y < x ? y : x)
IBIN(MAX_S, S(x) < S(y) ? y : x)
IBIN(MAX_U, x < y ? y : x)
IBIN(EQ_I, TRUTH(x == y))
IBIN(NE_I, TRUTH(x != y))
IBIN(LT_S, TRUTH(S(x) < S(y)))
IBIN(LE_S, TRUTH(S(x) <= S(y)))
IBIN(LT_U, TRUTH(x < y))
IBIN(LE_U, TRUTH(x <= y))
IBIN(FIELD, field(x, y))
TER(SEL_I, uint32_t, uint32_t, uint32_t, uint32_t, (y & z) | (x & ~z))
TER(EXTRACT_S, uint32_t, uint32_t, uint32_t, uint32_t, extract_s(x, y, z))
TER(EXTRACT_U, uint32_t, uint32_t, uint32_t, uint32_t, extract_u(x, y, z))
TER(INSERT, uint32_t, uint32_t, uint32_t, uint32_t, insert(x, y, z))

/* ------------------------------------------------------------ memory, masks */

static void address(uint32_t *t, const uint32_t *idx, uint32_t limit, uint32_t stride, uint32_t offset, uint32_t n) {
    LANE_N;
    LANE_LOOP { t[i] = (idx[i] < limit ? idx[i] : limit) * stride + offset; }
}
static void address_add(uint32_t *t, const uint32_t *idx, uint32_t limit, uint32_t stride, const uint32_t *base,
                        uint32_t offset, uint32_t n) {
    LANE_N;
    LANE_LOOP { t[i] = (idx[i] < limit ? idx[i] : limit) * stride + base[i] + offset; }
}
static bool consecutive(const uint32_t *idx, uint32_t n) {
    uint32_t first = idx[0];
    if (idx[n - 1] != first + (n - 1) || first > 0xFFFFFFFFu - n) return false;
    uint32_t bad = 0;
    LANE_N;
    LANE_LOOP { bad |= idx[i] ^ (first + i); }
    return bad == 0;
}
static bool equal(const uint32_t *idx, uint32_t n) {
    uint32_t first = idx[0], bad = 0;
    if (idx[n - 1] != first) return false;
    LANE_N;
    LANE_LOOP { bad |= idx[i] ^ first; }
    return bad == 0;
}
static void gather32(uint32_t *d, const uint32_t *mem, const uint32_t *t, uint32_t n) {
    LANE_N;
    LANE_LOOP { d[i] = mem[(int32_t)t[i]]; }
}
static void gather64(uint64_t *d, const uint64_t *mem, const uint32_t *t, uint32_t n) {
    LANE_N;
    LANE_LOOP { d[i] = mem[(int32_t)t[i]]; }
}
static void set32(uint32_t *d, const uint32_t *a, const uint32_t *mask, uint32_t n) {
    LANE_N;
    LANE_LOOP { d[i] = (a[i] & mask[i]) | (d[i] & ~mask[i]); }
}
static void set64(uint64_t *d, const uint64_t *a, const uint32_t *mask, uint32_t n) {
    LANE_N;
    LANE_LOOP { d[i] = mask[i] ? a[i] : d[i]; }
}
static void put32(uint32_t *d, const uint32_t *a, const uint32_t *mask, uint32_t n) {
    LANE_N;
    LANE_LOOP {
        if (mask[i]) d[i] = a[i];
    }
}
static void canonical(uint32_t *d, const uint32_t *a, uint32_t n) {
    LANE_N;
    LANE_LOOP { d[i] = (a[i] & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : a[i]; }
}
static void mask_and_not(uint32_t *m, const uint32_t *a, uint32_t n) {
    LANE_N;
    LANE_LOOP { m[i] &= ~a[i]; }
}
static uint32_t mask_count(const uint32_t *m, uint32_t n) {
    uint32_t count = 0;
    LANE_N;
    LANE_LOOP { count -= m[i]; }
    return count;
}
static uint32_t mask_if(uint32_t *m, uint32_t *saved, const uint32_t *cond, uint32_t n) {
    uint32_t count = 0;
    LANE_N;
    LANE_LOOP {
        uint32_t was = m[i], now = was & cond[i];
        saved[i] = was;
        m[i] = now;
        count -= now;
    }
    return count;
}
static uint32_t mask_else(uint32_t *m, const uint32_t *saved, const uint32_t *cond, uint32_t n) {
    uint32_t count = 0;
    LANE_N;
    LANE_LOOP {
        uint32_t now = saved[i] & ~cond[i];
        m[i] = now;
        count -= now;
    }
    return count;
}

/* ------------------------------------------------------------------ floats */

#define REAL float
#define BITS uint32_t
#define SIGNED int32_t
#define REAL_IS_F32 1
#define REAL_NAME(x) x##_f32
#include "wgsl/lane_real.h"
#undef REAL
#undef BITS
#undef SIGNED
#undef REAL_IS_F32
#undef REAL_NAME
#define REAL double
#define BITS uint64_t
#define SIGNED int64_t
#define REAL_IS_F32 0
#define REAL_NAME(x) x##_f64
#include "wgsl/lane_real.h"

/* ------------------------------------------------------------------ tables */

#define FN_UN(fn) {{fn##_vv, NULL, NULL}}
#define FN_BIN(fn) {{fn##_vv, fn##_vs, fn##_sv}}
#define FN_TER(fn) {{fn##_vv, NULL, NULL}}
#define ROW_IN(name, shape) [LANE_##name] = FN_##shape(name)
#define ROW_F32(name, shape) [LANE_##name] = FN_##shape(name##_f32)
#define ROW_F64(name, shape) [LANE_##name] = FN_##shape(name##_f64)
#define LANE_REALS(R) \
    R(MOV_F, UN), R(NEG_F, UN), R(ABS_F, UN), R(FLOOR, UN), R(CEIL, UN), R(TRUNC, UN), R(ROUND, UN), \
    R(FRACT, UN), R(SIGN_F, UN), R(SQRT, UN), R(INVERSE_SQRT, UN), R(ROUND16, UN), R(F2S, UN), R(F2U, UN), \
    R(S2F, UN), R(U2F, UN), R(F2BITS, UN), R(BITS2F, UN), R(ADD_F, BIN), R(SUB_F, BIN), R(MUL_F, BIN), \
    R(DIV_F, BIN), R(MIN_F, BIN), R(MAX_F, BIN), R(EQ_F, BIN), R(NE_F, BIN), R(LT_F, BIN), R(LE_F, BIN), \
    R(FMA, TER), R(SEL_F, TER)
#define LANE_INTEGERS(R) \
    R(MOV_I, UN), R(NOT, UN), R(NEG_I, UN), R(ABS_I, UN), R(SIGN_I, UN), R(CLZ, UN), R(CTZ, UN), \
    R(POPCOUNT, UN), R(REVERSE, UN), R(LEADING_S, UN), R(LEADING_U, UN), R(TRAILING, UN), R(B2I, UN), \
    R(I2B, UN), R(ADD_I, BIN), R(SUB_I, BIN), R(MUL_I, BIN), R(DIV_S, BIN), R(DIV_U, BIN), R(MOD_S, BIN), \
    R(MOD_U, BIN), R(AND, BIN), R(OR, BIN), R(XOR, BIN), R(LAND, BIN), R(LOR, BIN), R(SHL, BIN), R(SHR_S, BIN), \
    R(SHR_U, BIN), R(MIN_S, BIN), R(MIN_U, BIN), R(MAX_S, BIN), R(MAX_U, BIN), R(EQ_I, BIN), R(NE_I, BIN), \
    R(LT_S, BIN), R(LE_S, BIN), R(LT_U, BIN), R(LE_U, BIN), R(FIELD, BIN), R(SEL_I, TER), R(EXTRACT_S, TER), \
    R(EXTRACT_U, TER), R(INSERT, TER)

const lane_row LANE_SUITE(gr_lane_f32)[LANE_COUNT] = {LANE_INTEGERS(ROW_IN), LANE_REALS(ROW_F32)};
const lane_row LANE_SUITE(gr_lane_f64)[LANE_COUNT] = {LANE_INTEGERS(ROW_IN), LANE_REALS(ROW_F64)};
const lane_memory LANE_SUITE(gr_lane_memory) = {
    .address = address, .address_add = address_add, .consecutive = consecutive, .equal = equal,
    .gather32 = gather32, .gather64 = gather64,
    .set32 = set32, .set64 = set64, .put32 = put32, .canonical = canonical,
    .mask_and_not = mask_and_not, .mask_count = mask_count,
    .mask_if = mask_if, .mask_else = mask_else,
};
