/* One hash of a million results of math.h: the same on every compiler and machine. Needs no libc, so
 * that it also runs as bare wasm (math-golden-builds). */
#include "base/math.h"
#include "base/rng.h"

#define GR_MATH_GOLDEN 0x0AB9906B7FF9143Fu

static inline uint64_t golden_mix(uint64_t h, double x) {
    h = (h ^ gr_bits_f64(x)) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* Arguments: any bits, moderate numbers, numbers near 1; 40 results a round. */
static inline uint64_t golden_round(gr_rng *r, uint32_t i, uint64_t h) {
    uint64_t bits = (uint64_t)gr_rng_u32(r) << 32;
    bits |= gr_rng_u32(r);
    double u = gr_rng_f64(r), v = gr_rng_f64(r) * 8 - 4, x = gr_f64_bits(bits), w = 2 * u - 1;
    if (i % 3 == 0) x = v * 100;
    if (i % 3 == 1) x = 1 + w * 0.01;
    double results[] = {
        gr_exp(x), gr_exp(v), gr_exp2(v), gr_expm1(x), gr_log(x), gr_log(u), gr_log2(x), gr_log1p(w), gr_pow(gr_fabs(x), v),
        gr_pow(u, v * 200), gr_sqrt(x), gr_inverse_sqrt(x), gr_cbrt(x), gr_sin(x), gr_sin(v), gr_cos(x), gr_cos(v),
        gr_tan(x), gr_asin(w), gr_acos(w), gr_atan(x), gr_atan(v), gr_atan2(x, v), gr_sinh(v * 170), gr_cosh(v),
        gr_tanh(v), gr_asinh(x), gr_acosh(x), gr_atanh(w), gr_erf(v), gr_fma(x, v, u), gr_floor(v * 9), gr_ceil(x),
        gr_trunc(v), gr_round_even(v * 2), gr_fmod(x, v), gr_ldexp(v, (int)(bits % 2200) - 1100),
        (double)gr_f32_from_f16(gr_f16_from_f64(v * u)), (double)(float)gr_exp(v), gr_ulp_f32(x),
    };
    for (unsigned k = 0; k < sizeof results / sizeof *results; k++) h = golden_mix(h, results[k]);
    return h;
}

static inline uint64_t golden_hash(void) {
    gr_rng r = gr_rng_seed(2024);
    uint64_t h = 0;
    for (uint32_t i = 0; i < 25000; i++) h = golden_round(&r, i, h);
    return h;
}
