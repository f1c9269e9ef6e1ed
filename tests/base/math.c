/* math.h against MPFR: the worst error of every function, in units of the last place, over random,
 * dense and hard points. GRADUS_MATH_POINTS sets the points a function (default 20000). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/math.h"
#include "base/rng.h"

enum { PRECISION = 220 };

typedef int (*mpfr_1)(mpfr_t, const mpfr_t, mpfr_rnd_t);

typedef struct function {
    const char *name;
    double (*f)(double);
    mpfr_1 reference;
    double lo, hi; /* where its values are neither constant nor infinite */
    double limit;  /* ULP: what was measured, and a little */
} function;

/* IEEE 754 rSqrt: -infinity at -0, where MPFR has +infinity. */
static int inverse_sqrt_reference(mpfr_t r, const mpfr_t x, mpfr_rnd_t rnd) {
    int inexact = mpfr_rec_sqrt(r, x, rnd);
    if (mpfr_zero_p(x)) mpfr_setsign(r, r, mpfr_signbit(x), rnd);
    return inexact;
}

static const function functions[] = {
    {"exp", gr_exp, mpfr_exp, -746, 710, 0.76},
    {"exp2", gr_exp2, mpfr_exp2, -1076, 1025, 0.76},
    {"expm1", gr_expm1, mpfr_expm1, -40, 710, 0.51},
    {"log", gr_log, mpfr_log, 0, 100, 0.52},
    {"log2", gr_log2, mpfr_log2, 0, 100, 0.51},
    {"log1p", gr_log1p, mpfr_log1p, -1, 100, 0.51},
    {"sqrt", gr_sqrt, mpfr_sqrt, 0, 100, 0.5},
    {"inverse_sqrt", gr_inverse_sqrt, inverse_sqrt_reference, 0, 100, 0.51},
    {"cbrt", gr_cbrt, mpfr_cbrt, -100, 100, 0.51},
    {"sin", gr_sin, mpfr_sin, -10, 10, 0.58},
    {"cos", gr_cos, mpfr_cos, -10, 10, 0.58},
    {"tan", gr_tan, mpfr_tan, -10, 10, 0.58},
    {"asin", gr_asin, mpfr_asin, -1, 1, 0.51},
    {"acos", gr_acos, mpfr_acos, -1, 1, 0.51},
    {"atan", gr_atan, mpfr_atan, -10, 10, 0.51},
    {"sinh", gr_sinh, mpfr_sinh, -711, 711, 0.51},
    {"cosh", gr_cosh, mpfr_cosh, -711, 711, 0.51},
    {"tanh", gr_tanh, mpfr_tanh, -23, 23, 0.51},
    {"asinh", gr_asinh, mpfr_asinh, -100, 100, 0.51},
    {"acosh", gr_acosh, mpfr_acosh, 1, 100, 0.51},
    {"atanh", gr_atanh, mpfr_atanh, -1, 1, 0.51},
    {"erf", gr_erf, mpfr_erf, -6, 6, 0.75},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static uint32_t points(void) {
    const char *z = getenv("GRADUS_MATH_POINTS");
    return z ? (uint32_t)strtoul(z, NULL, 10) : 20000;
}

/* |got - truth| in ulps of the truth; 1e9 for a wrong class. */
static double error_ulps(double got, mpfr_t truth) {
    double nearest = mpfr_get_d(truth, MPFR_RNDN);
    if (isnan(nearest)) return gr_bits_f64(got) == 0x7FF8000000000000u ? 0 : 1e9;
    if (isinf(nearest) || isinf(got)) return got == nearest ? 0 : 1e9;
    if (isnan(got)) return 1e9;
    if (mpfr_zero_p(truth)) return gr_bits_f64(got) == gr_bits_f64(nearest) ? 0 : 1e9;
    if (signbit(got) != (mpfr_signbit(truth) != 0)) return 1e9;
    long e = mpfr_get_exp(truth) - 53;
    mpfr_t diff;
    mpfr_init2(diff, PRECISION);
    mpfr_sub_d(diff, truth, got, MPFR_RNDN);
    mpfr_mul_2si(diff, diff, e < -1074 ? 1074 : -e, MPFR_RNDN);
    double r = fabs(mpfr_get_d(diff, MPFR_RNDA));
    mpfr_clear(diff);
    return r;
}

static double any_double(gr_rng *r) {
    uint64_t hi = gr_rng_u32(r);
    return gr_f64_bits(hi << 32 | gr_rng_u32(r));
}

/* A double beside a multiple of pi/2, of any size. */
static double near_half_pi(gr_rng *r) {
    mpfr_t p;
    mpfr_init2(p, 1300);
    mpfr_const_pi(p, MPFR_RNDN);
    mpfr_mul_d(p, p, (double)(1 + gr_rng_below(r, 1u << 31)), MPFR_RNDN);
    mpfr_mul_2si(p, p, (long)gr_rng_below(r, 2) ? (long)gr_rng_below(r, 990) - 1 : -31, MPFR_RNDN);
    double x = mpfr_get_d(p, MPFR_RNDN);
    mpfr_clear(p);
    return gr_f64_bits(gr_bits_f64(x) + gr_rng_below(r, 3) - 1);
}

/* The i-th point: kinds take turns. */
static double point(gr_rng *r, const function *f, uint32_t i) {
    double u = gr_rng_f64(r), sign = gr_rng_below(r, 2) ? 1 : -1;
    switch (i % 8) {
    case 0: return any_double(r);
    case 1: case 2: return f->lo + (f->hi - f->lo) * u;
    case 3: return sign * ldexp(1 + u, (int)gr_rng_below(r, 74) - 64);
    case 4: return sign * gr_f64_bits(0x3FF0000000000000u + gr_rng_below(r, 4000) - 2000);
    case 5: /* around edges of tables and branches */
        u = (double)(int32_t)gr_rng_below(r, 2049) / (double)(16 << gr_rng_below(r, 5));
        return sign * gr_f64_bits(gr_bits_f64(u) + gr_rng_below(r, 3) - (u != 0));
    case 6: return sign * near_half_pi(r);
    default: return sign * gr_f64_bits(any_double(r) == 0 ? 1 : (uint64_t)gr_rng_u32(r) << gr_rng_below(r, 21));
    }
}

static const double hard[] = {
    0.0, 0x1p-1074, 0x1.fffffffffffffp-1023, 0x1p-1022, 1, 2, 0.5, 0.25, 0x1.fffffffffffffp-1, 0x1.0000000000001p+0,
    DBL_MAX, INFINITY, 709.782712893384, 709.7827128933841, 745.1332191019411, 745.1332191019412, 708.3964185322641,
    708, 1024, 1023.9999999999999, 1074, 1075, 1022, 1021.5, 1023, 22, 19.061547465398498, 5.92, 5.921587195794507,
    0x1.6ac5b262ca1ffp+849 /* 6381956970095103 * 2^797 */, 1.5707963267948966, 0.7853981633974483, 0.7853981633974484,
    1048575.9999999999, 1048576, 1e22, 0x1p-27, 0x1p-28, 0x1p-54, 0x1p-7, 0x1p-6, 0x1p32, 0x1p30, 0x1p60, 40, 700, 710.4758600739439,
    37.5, 36.7, 0.3465735902799726, 0x1p-60, 0x1p-500, 0x1p1000, 0x1p900, 3, 8, 27, 0.125, 1e300, 1e-300, NAN,
};

static double measure(const function *f, double x, mpfr_t in, mpfr_t out) {
    mpfr_set_d(in, x, MPFR_RNDN);
    f->reference(out, in, MPFR_RNDN);
    return error_ulps(f->f(x), out);
}

static void worst_errors(void **state) {
    (void)state;
    mpfr_t in, out;
    mpfr_init2(in, 53);
    mpfr_init2(out, PRECISION);
    int failures = 0;
    uint32_t n = points(), extra = 2 * sizeof hard / sizeof *hard;
    for (int k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];
        gr_rng r = gr_rng_seed((uint64_t)k + 1);
        double worst = 0, at = 0;
        for (uint32_t i = 0; i < n + extra; i++) {
            double x = i < extra ? (i & 1 ? -1 : 1) * hard[i / 2] : point(&r, f, i);
            double e = measure(f, x, in, out);
            if (e > worst) worst = e, at = x;
        }
        printf("  %-13s worst %.4f ULP at %a (got %a)\n", f->name, worst, at, f->f(at));
        if (worst > f->limit) printf("  %s: %.17g is over the limit of %g\n", f->name, worst, f->limit);
        failures += worst > 1 || worst > f->limit;
    }
    mpfr_clears(in, out, (mpfr_ptr)0);
    assert_int_equal(failures, 0);
}

typedef double (*binary)(double, double);
typedef int (*mpfr_2)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static double measure_2(binary f, mpfr_2 reference, double x, double y) {
    mpfr_t a, b, out;
    mpfr_inits2(PRECISION, a, b, out, (mpfr_ptr)0);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    reference(out, a, b, MPFR_RNDN);
    double e = error_ulps(f(x, y), out);
    mpfr_clears(a, b, out, (mpfr_ptr)0);
    return e;
}

/* Pairs whose power neither overflows nor is 1: y log x uniform. */
static void pow_pair(gr_rng *r, uint32_t i, double *x, double *y) {
    double u = gr_rng_f64(r);
    switch (i % 5) {
    case 0: *x = fabs(any_double(r)); break;
    case 1: *x = 1 + (u - 0.5) * ldexp(1, -(int)gr_rng_below(r, 52)); break;
    case 2: *x = u * 100; break;
    case 3: *x = (double)gr_rng_below(r, 30), *y = (double)(int32_t)gr_rng_below(r, 41) - 20; return;
    default: *x = any_double(r), *y = any_double(r); return;
    }
    *y = (gr_rng_f64(r) * 1460 - 747) / log(*x);
}

static void worst_errors_of_two_arguments(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(99);
    double worst_pow = 0, worst_atan2 = 0, p[2] = {0}, q[2] = {0};
    for (uint32_t i = 0; i < points(); i++) {
        double x, y, e;
        pow_pair(&r, i, &x, &y);
        e = measure_2(gr_pow, mpfr_pow, x, y);
        if (e > worst_pow) worst_pow = e, p[0] = x, p[1] = y;
        x = i & 1 ? any_double(&r) : gr_rng_f64(&r) - 0.5;
        y = i & 1 ? x * ldexp(gr_rng_f64(&r) - 0.5, (int)gr_rng_below(&r, 140) - 70) : gr_rng_f64(&r) - 0.5;
        e = measure_2(gr_atan2, mpfr_atan2, y, x);
        if (e > worst_atan2) worst_atan2 = e, q[0] = y, q[1] = x;
    }
    const int n = sizeof hard / sizeof *hard;
    for (int i = 0; i < 4 * n * n; i++) {
        double x = hard[i / 4 / n] * (i & 1 ? -1 : 1), y = hard[i / 4 % n] * (i & 2 ? -1 : 1);
        double e = measure_2(gr_pow, mpfr_pow, x, y);
        if (e > worst_pow) worst_pow = e, p[0] = x, p[1] = y;
        e = measure_2(gr_atan2, mpfr_atan2, y, x);
        if (e > worst_atan2) worst_atan2 = e, q[0] = y, q[1] = x;
    }
    printf("  pow           worst %.4f ULP at %a, %a\n", worst_pow, p[0], p[1]);
    printf("  atan2         worst %.4f ULP at %a, %a\n", worst_atan2, q[0], q[1]);
    assert_true(worst_pow < 0.76 && worst_atan2 < 0.51);
}

static void same_bits(double got, double want) {
    if (isnan(want) && isnan(got)) want = gr_f64_bits(0x7FF8000000000000u);
    if (gr_bits_f64(got) == gr_bits_f64(want)) return;
    printf("got %a, want %a\n", got, want);
    fail();
}

/* fma, fmod and the roundings are exact: every bit counts. */
static void fma_is_exact(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(5);
    mpfr_t a, b, c;
    mpfr_init2(a, 53), mpfr_init2(b, 53), mpfr_init2(c, 5000);
    const uint32_t n = sizeof hard / sizeof *hard, cubes = n * n * n;
    for (uint32_t i = 0; i < points() * 5 + cubes; i++) {
        double x = any_double(&r), y = any_double(&r), z = any_double(&r);
        if (i < cubes) {
            x = hard[i % n], y = -hard[i / n % n], z = hard[i / n / n];
        } else if (i % 3) { /* z near -x y, so that much cancels; sizes near the ends too */
            int e = i & 4 ? (int)gr_rng_below(&r, 120) - 60 : -1100 + (int)gr_rng_below(&r, 160);
            x = ldexp(1 + gr_rng_f64(&r), 0);
            y = ldexp(1 + gr_rng_f64(&r), e);
            z = ldexp(-x * y, (int)gr_rng_below(&r, 5) * (int)gr_rng_below(&r, 30) * (i & 8 ? 1 : -1));
            z = gr_f64_bits(gr_bits_f64(z) ^ gr_rng_below(&r, 3));
            if (i & 16) x = (double)(float)x, y = gr_f64_bits(gr_bits_f64(y) >> 27 << 27);
        }
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_set_d(b, y, MPFR_RNDN);
        mpfr_set_d(c, z, MPFR_RNDN);
        mpfr_fma(c, a, b, c, MPFR_RNDN);
        same_bits(gr_fma(x, y, z), mpfr_get_d(c, MPFR_RNDN));
    }
    mpfr_clears(a, b, c, (mpfr_ptr)0);
}

static void integers_and_remainders_are_exact(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(6);
    for (uint32_t i = 0; i < points() * 5; i++) {
        double x = i & 1 ? any_double(&r) : (gr_rng_f64(&r) - 0.5) * ldexp(1, (int)gr_rng_below(&r, 56));
        double y = i & 2 ? any_double(&r) : ldexp(x, (int)gr_rng_below(&r, 100) - 80) * gr_rng_f64(&r);
        if (i % 7 == 0) x = gr_floor(x) + 0.5;
        int n = (int)gr_rng_below(&r, 4400) - 2200, e, e2;
        same_bits(gr_floor(x), floor(x));
        same_bits(gr_ceil(x), ceil(x));
        same_bits(gr_trunc(x), trunc(x));
        same_bits(gr_round_even(x), nearbyint(x));
        same_bits(gr_fmod(x, y), fmod(x, y));
        same_bits(gr_ldexp(x, n), ldexp(x, n));
        double m = gr_frexp(x, &e);
        same_bits(m, frexp(x, &e2));
        if (isfinite(x)) assert_int_equal(e, e2);
        if (isfinite(x)) same_bits(gr_ulp_f64(x), nextafter(fabs(x), INFINITY) - fabs(x));
        if (!isnan(x)) same_bits(gr_fabs(x), fabs(x));
        if (!isnan(x)) same_bits(gr_copysign(x, y), copysign(x, y));
    }
    same_bits(gr_floor(-0.0), -0.0);
    same_bits(gr_ceil(-0.5), -0.0);
    same_bits(gr_round_even(2.5), 2);
    same_bits(gr_round_even(-0.5), -0.0);
}

/* binary16 against a search of all its values. */
static double half_value(uint16_t h) {
    int e = h >> 10 & 31, m = h & 1023;
    double v = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

static void halves_round_once(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        float f = gr_f32_from_f16((uint16_t)h);
        bool nan = (h & 0x7FFF) > 0x7C00;
        assert_int_equal(gr_f16_from_f32(f), nan ? 0x7E00 : h);
        if ((h & 0x7FFF) < 0x7C00) same_bits((double)f, half_value((uint16_t)h));
        if (nan) assert_int_equal(gr_bits_f32(f), 0x7FC00000);
    }
    for (uint16_t h = 0; h < 0x7C00; h++) { /* the tie above each value, and beside it */
        double lo = half_value(h), hi = h == 0x7BFF ? 65536 : half_value((uint16_t)(h + 1)), tie = (lo + hi) / 2;
        assert_int_equal(gr_f16_from_f64(tie), h + (h & 1));
        assert_int_equal(gr_f16_from_f64(nextafter(tie, 0)), h);
        assert_int_equal(gr_f16_from_f64(nextafter(tie, 1e9)), h + 1);
        assert_int_equal(gr_f16_from_f64(-nextafter(tie, 0)), h | 0x8000);
        same_bits(gr_ulp_f16(lo), hi - lo);
    }
    assert_int_equal(gr_f16_from_f64(INFINITY), 0x7C00);
    assert_int_equal(gr_f16_from_f64(-1e300), 0xFC00);
    same_bits(gr_ulp_f32(1), 0x1p-23);
    same_bits(gr_ulp_f32(1e-40), 0x1p-149);
    same_bits(gr_ulp_f32(-3.4e38), 0x1p104);
}

/* A f32 builtin is the f64 function rounded once: it must be the nearest f32 to the truth. */
static void f32_results_are_correctly_rounded(void **state) {
    (void)state;
    mpfr_t in, out;
    mpfr_init2(in, 53), mpfr_init2(out, PRECISION);
    int wrong = 0;
    for (int k = 0; k < FUNCTIONS; k++) {
        gr_rng r = gr_rng_seed(1000 + (uint64_t)k);
        for (uint32_t i = 0; i < points(); i++) {
            float x = i & 1 ? gr_f32_bits(gr_rng_u32(&r)) : (float)point(&r, &functions[k], i);
            mpfr_set_d(in, (double)x, MPFR_RNDN);
            functions[k].reference(out, in, MPFR_RNDN);
            float want = mpfr_get_flt(out, MPFR_RNDN), got = (float)functions[k].f((double)x);
            bool same = isnan(want) ? isnan(got) : gr_bits_f32(want) == gr_bits_f32(got);
            if (!same && wrong < 10) printf("  %s(%a): %a, want %a\n", functions[k].name, (double)x, (double)got, (double)want);
            wrong += !same;
        }
    }
    mpfr_clears(in, out, (mpfr_ptr)0);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worst_errors),
        cmocka_unit_test(worst_errors_of_two_arguments),
        cmocka_unit_test(fma_is_exact),
        cmocka_unit_test(integers_and_remainders_are_exact),
        cmocka_unit_test(halves_round_once),
        cmocka_unit_test(f32_results_are_correctly_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
