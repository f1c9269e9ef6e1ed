/* math.h: deterministic elementary functions.
 *
 * No libm: the same bits from gcc, clang and wasm32 on any platform, given IEEE 754
 * arithmetic without contraction (-ffp-contract=off). The f64 functions err at most
 * 1 ULP against the true value; a f32 result is the f64 one rounded once. Subnormals,
 * zeros with sign, infinities and NaN follow C Annex F. */
#ifndef GR_BASE_MATH_H
#define GR_BASE_MATH_H

#include <stdbool.h>
#include <stdint.h>

double gr_exp(double), gr_exp2(double), gr_expm1(double);
double gr_log(double), gr_log2(double), gr_log1p(double);
double gr_pow(double, double);
double gr_sqrt(double), gr_inverse_sqrt(double), gr_cbrt(double);
double gr_sin(double), gr_cos(double), gr_tan(double);
double gr_asin(double), gr_acos(double), gr_atan(double), gr_atan2(double y, double x);
double gr_sinh(double), gr_cosh(double), gr_tanh(double);
double gr_asinh(double), gr_acosh(double), gr_atanh(double);
double gr_erf(double);
double gr_fma(double, double, double); /* one rounding */
double gr_floor(double), gr_ceil(double), gr_trunc(double), gr_round_even(double);
double gr_fmod(double, double); /* exact, sign of the dividend */
double gr_ldexp(double, int);
double gr_frexp(double, int *);
double gr_fabs(double), gr_copysign(double, double);

static inline bool gr_isnan(double x) { return x != x; }
uint64_t gr_bits_f64(double); double gr_f64_bits(uint64_t);
uint32_t gr_bits_f32(float); float gr_f32_bits(uint32_t);
/* IEEE binary16, round to nearest even; NaN becomes 0x7E00. gr_f16_from_f64 rounds once. */
uint16_t gr_f16_from_f32(float); uint16_t gr_f16_from_f64(double); float gr_f32_from_f16(uint16_t);
/* Distance to the next representable value of that size: ulp of |x|, for error bounds. */
double gr_ulp_f32(double x); double gr_ulp_f64(double x); double gr_ulp_f16(double x);

#endif
