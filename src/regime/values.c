/* values.c: what operands hold. */
#include "base/math.h"
#include "regime/regime_int.h"

const char *gr_values_name(gr_values v) {
    static const char *const t[] = {"none", "small integers", "normal", "ties", "special", "24-bit", "cancelling", "wide range", "ends of the range"};
    return t[v];
}

static double normal(gr_rng *r) {
    double u = 1 - gr_rng_f64(r), v = gr_rng_f64(r);
    return gr_sqrt(-2 * gr_log(u)) * gr_cos(6.283185307179586 * v);
}

static double special(gr_rng *r, gr_dtype t, bool nan) {
    bool half = t == GR_DTYPE_F16;
    const double inf = __builtin_inf(), most = half ? 65504 : 0x1.fffffep127, least = half ? 0x1p-24 : 0x1p-149;
    const double v[] = {0, -0.0, inf, -inf, __builtin_nan(""), most, -most, least, -least, half ? 0x1.8p-15 : 0x1.8p-127, 1, -1};
    uint32_t k = gr_rng_below(r, 24);
    return k < sizeof v / sizeof *v && (nan || v[k] == v[k]) ? v[k] : normal(r);
}

static double bits24(gr_rng *r) {
    double m = 1 + (double)(gr_rng_u32(r) >> 9) * 0x1p-23;
    return gr_ldexp(gr_rng_below(r, 2) ? m : -m, (int)gr_rng_below(r, 7) - 3);
}

static double float_value(gr_values v, gr_rng *r, gr_dtype t, double before, uint64_t i) {
    static const double tie[] = {-1, -0.0, 0, 0.5, 1, 1, 2};
    switch (v) {
        case GR_VALUES_SMALL: return (double)gr_rng_below(r, 17) - 8;
        case GR_VALUES_TIES: return tie[gr_rng_below(r, 7)];
        case GR_VALUES_SPECIAL: case GR_VALUES_ENDS: return special(r, t, v == GR_VALUES_SPECIAL);
        case GR_VALUES_BITS24: return bits24(r);
        case GR_VALUES_CANCEL: return i % 2 ? -before * (1 + 0x1p-12 * (double)gr_rng_below(r, 3)) : 100 * bits24(r);
        case GR_VALUES_SPREAD: return gr_ldexp(bits24(r), (int)gr_rng_below(r, 25) - 12);
        default: return normal(r);
    }
}

static int64_t integer_value(gr_values v, gr_rng *r, gr_dtype t) {
    bool sign = gr_dtype_is_signed(t);
    uint64_t bits = (uint64_t)gr_rng_u32(r) << 32 | gr_rng_u32(r);
    switch (v) {
        case GR_VALUES_SMALL: return sign ? (int64_t)gr_rng_below(r, 17) - 8 : (int64_t)gr_rng_below(r, 17);
        case GR_VALUES_TIES: return (int64_t)gr_rng_below(r, 2);
        case GR_VALUES_SPECIAL: case GR_VALUES_ENDS: { /* ends of the ranges; set_i64 takes the low bits */
            static const int64_t end[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 127, -128};
            return end[gr_rng_below(r, 9)];
        }
        case GR_VALUES_BITS24: return (int64_t)bits;
        case GR_VALUES_SPREAD: return (int64_t)(bits >> gr_rng_below(r, 64));
        default: return (int64_t)gr_rng_below(r, 4);
    }
}

/* Among special values there is a NaN and an infinity, wherever there is room. */
static void ensure_special(gr_array *x, gr_values v, gr_rng *r, uint64_t n) {
    if (!gr_dtype_is_float(x->dtype) || (v != GR_VALUES_SPECIAL && v != GR_VALUES_ENDS) || n < 3) return;
    uint32_t at = gr_rng_below(r, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
    gr_array_set_f64(x, at, gr_rng_below(r, 2) ? __builtin_inf() : -__builtin_inf());
    if (v == GR_VALUES_SPECIAL) gr_array_set_f64(x, (at + 1) % n, __builtin_nan(""));
}

void gr_values_fill(gr_array *x, gr_values v, gr_rng *r) {
    uint64_t n = gr_array_count(x);
    double before = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (x->dtype == GR_DTYPE_BOOL) gr_array_set_i64(x, i, gr_rng_below(r, 2));
        else if (gr_dtype_is_float(x->dtype)) gr_array_set_f64(x, i, before = float_value(v, r, x->dtype, before, i));
        else gr_array_set_i64(x, i, integer_value(v, r, x->dtype));
    }
    ensure_special(x, v, r, n);
}
