/* lane_real.h: float operations of lane_ops.h, for REAL = float and REAL = double. */

static inline BITS REAL_NAME(bits_of)(REAL x) {
    BITS b;
    memcpy(&b, &x, sizeof b);
    return b;
}
static inline REAL REAL_NAME(of_bits)(BITS b) {
    REAL x;
    memcpy(&x, &b, sizeof x);
    return x;
}
#define SIGN_BIT ((BITS)1 << (sizeof(BITS) * 8 - 1))
static inline REAL REAL_NAME(abs_of)(REAL x) { return REAL_NAME(of_bits)(REAL_NAME(bits_of)(x) & ~SIGN_BIT); }
static inline REAL REAL_NAME(with_sign)(REAL x, REAL sign) {
    return REAL_NAME(of_bits)((REAL_NAME(bits_of)(x) & ~SIGN_BIT) | (REAL_NAME(bits_of)(sign) & SIGN_BIT));
}
/* Integers in REAL begin here: adding and subtracting it rounds to even. */
#define WHOLE (REAL_IS_F32 ? (REAL)8388608.0 : (REAL)4503599627370496.0)
static inline REAL REAL_NAME(round_of)(REAL x) {
    REAL size = REAL_NAME(abs_of)(x), r = (size + WHOLE) - WHOLE;
    return size < WHOLE ? REAL_NAME(with_sign)(r, x) : x;
}
static inline REAL REAL_NAME(floor_of)(REAL x) {
    REAL r = REAL_NAME(round_of)(x);
    return REAL_NAME(with_sign)(r > x ? r - (REAL)1 : r, x);
}
static inline REAL REAL_NAME(ceil_of)(REAL x) {
    REAL r = REAL_NAME(round_of)(x);
    return REAL_NAME(with_sign)(r < x ? r + (REAL)1 : r, x);
}
static inline REAL REAL_NAME(trunc_of)(REAL x) {
    REAL size = REAL_NAME(abs_of)(x), r = REAL_NAME(round_of)(size);
    return REAL_NAME(with_sign)(r > size ? r - (REAL)1 : r, x);
}
/* Clamped to what f32 and the integer type both represent. */
static inline uint32_t REAL_NAME(to_s)(REAL x) {
    const REAL top = (REAL)2147483520.0;
    REAL c = x < top ? x : top;
    c = c > (REAL)-2147483648.0 ? c : (REAL)-2147483648.0;
    return (uint32_t)(int32_t)(x == x ? c : (REAL)0);
}
static inline uint32_t REAL_NAME(to_u)(REAL x) {
    const REAL top = (REAL)4294967040.0;
    REAL c = x > (REAL)0 ? x : (REAL)0; /* NaN too */
    c = c < top ? c : top;
    bool high = c >= (REAL)2147483648.0;
    REAL low = high ? c - (REAL)2147483648.0 : c;
    return (uint32_t)(int32_t)low ^ (high ? 0x80000000u : 0u);
}
/* To f16 precision and range: below 2^-14 a multiple of 2^-24, else 11 significant bits. */
static inline REAL REAL_NAME(round16_of)(REAL x) {
    REAL size = REAL_NAME(abs_of)(x);
    REAL small_step = REAL_IS_F32 ? (REAL)0.5 : (REAL)268435456.0; /* ulp 2^-24 */
    REAL low = (size + small_step) - small_step;
    const int drop = REAL_IS_F32 ? 13 : 42;
    BITS b = REAL_NAME(bits_of)(size);
    b = (b + (((BITS)1 << (drop - 1)) - 1) + ((b >> drop) & 1)) & ~(((BITS)1 << drop) - 1);
    REAL r = size < (REAL)6.103515625e-05 ? low : REAL_NAME(of_bits)(b);
    r = size >= (REAL)65520.0 ? REAL_NAME(of_bits)(REAL_IS_F32 ? (BITS)0x7F800000u : (BITS)0x7FF0000000000000u) : r;
    r = x == x ? r : size;
    return REAL_NAME(with_sign)(r, x);
}

#define F1(name, expr) UN(name, REAL, REAL, expr)
#define F2(name, expr) BIN(name, REAL, REAL, REAL, expr)
#define FC(name, expr) BIN(name, uint32_t, REAL, REAL, TRUTH(expr))
F1(REAL_NAME(MOV_F), x)
F1(REAL_NAME(NEG_F), REAL_NAME(of_bits)(REAL_NAME(bits_of)(x) ^ SIGN_BIT))
F1(REAL_NAME(ABS_F), REAL_NAME(abs_of)(x))
F1(REAL_NAME(FLOOR), REAL_NAME(floor_of)(x))
F1(REAL_NAME(CEIL), REAL_NAME(ceil_of)(x))
F1(REAL_NAME(TRUNC), REAL_NAME(trunc_of)(x))
F1(REAL_NAME(ROUND), REAL_NAME(round_of)(x))
F1(REAL_NAME(FRACT), x - REAL_NAME(floor_of)(x))
F1(REAL_NAME(SIGN_F), x > (REAL)0 ? (REAL)1 : x < (REAL)0 ? (REAL)-1 : (REAL)0)
F1(REAL_NAME(ROUND16), REAL_NAME(round16_of)(x))
UN(REAL_NAME(F2S), uint32_t, REAL, REAL_NAME(to_s)(x))
UN(REAL_NAME(F2U), uint32_t, REAL, REAL_NAME(to_u)(x))
UN(REAL_NAME(S2F), REAL, uint32_t, (double)(int32_t)x)
UN(REAL_NAME(U2F), REAL, uint32_t, u2d(x))
F2(REAL_NAME(ADD_F), x + y)
F2(REAL_NAME(SUB_F), x - y)
F2(REAL_NAME(MUL_F), x *y)
F2(REAL_NAME(DIV_F), x / y)
F2(REAL_NAME(MIN_F), ((y < x) | (x != x)) ? y : x)
F2(REAL_NAME(MAX_F), ((x < y) | (x != x)) ? y : x)
FC(REAL_NAME(EQ_F), x == y)
FC(REAL_NAME(NE_F), x != y)
FC(REAL_NAME(LT_F), x < y)
FC(REAL_NAME(LE_F), x <= y)
TER(REAL_NAME(SEL_F), REAL, REAL, REAL, uint32_t, z ? y : x)

#if REAL_IS_F32
/* x * y is exact in f64; the sum is rounded to odd there, so that the second rounding is the only one. */
static inline float fma_f32(float x, float y, float z) {
    double p = (double)x * (double)y, c = (double)z, s = p + c;
    double from = s - p, error = (p - (s - from)) + (c - from);
    uint64_t b;
    memcpy(&b, &s, sizeof b);
    bool odd_needed = (error != 0) & (error == error) & !(b & 1) & (s - s == 0);
    uint64_t step = (error > 0) == (s > 0) ? 1 : (uint64_t)-1;
    b += odd_needed ? step : 0;
    memcpy(&s, &b, sizeof s);
    return (float)s;
}
F1(SQRT_f32, __builtin_sqrtf(x))
F1(INVERSE_SQRT_f32, (float)(1.0 / __builtin_sqrt((double)x)))
UN(F2BITS_f32, uint32_t, float, x == x ? bits_of_f32(x) : 0x7FC00000u)
UN(BITS2F_f32, float, uint32_t, of_bits_f32(x))
TER(FMA_f32, float, float, float, float, fma_f32(x, y, z))
#else
F1(SQRT_f64, __builtin_sqrt(x))
F1(INVERSE_SQRT_f64, 1.0 / __builtin_sqrt(x))
UN(F2BITS_f64, uint32_t, double, x == x ? bits_of_f32((float)x) : 0x7FC00000u)
UN(BITS2F_f64, double, uint32_t, (double)of_bits_f32(x))
TER(FMA_f64, double, double, double, double, gr_fma(x, y, z))
#endif
#undef SIGN_BIT
#undef WHOLE
#undef F1
#undef F2
#undef FC
