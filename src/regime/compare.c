/* compare.c: one output against the truth, by the op's tolerance class. */
#include "base/math.h"
#include "regime/regime_int.h"

static int class_of(double x) { return x != x ? 3 : x - x == 0 ? 0 : x > 0 ? 1 : 2; }

static double ulp(gr_dtype t, double r) { return t == GR_DTYPE_F16 ? gr_ulp_f16(r) : gr_ulp_f32(r); }

/* A bound above this resolves nothing: a share of the contributions. Of f16, two roundings are 2^-10 already. Where subnormals begin
 * (or are flushed) accuracy is absolute. */
static double resolution(const gr_judge *j, gr_dtype t, double c) {
    bool half = t == GR_DTYPE_F16;
    double least = half ? 0x1p-14 : j->flushes ? 0x1p-112 : 0x1p-126;
    return (half ? 0x1p-3 : 0x1p-10) * (c > least ? c : least);
}

static double tolerance(const gr_judge *j, gr_dtype t, double r, double b, double c) {
    switch (j->op->tolerance) {
        case GR_TOLERANCE_EXACT: return 0;
        case GR_TOLERANCE_TIGHT: return j->factor * (2 * b + ulp(t, r));
        case GR_TOLERANCE_LOOSE: return j->factor * 1e-3 * c;
        default: return j->factor * (8 * b + 4 * ulp(t, r));
    }
}

typedef enum verdict { PASSED, AMBIGUOUS, UNRESOLVED, OUT_OF_DOMAIN, FAILED } verdict;

static bool one_result(const gr_op *op) { return op->category == GR_CATEGORY_POINTWISE || op->category == GR_CATEGORY_TRANSCENDENTAL; }

/* Any of r, the reference in f32 and the kernel's result is not finite. */
static verdict of_classes(const gr_judge *j, const gr_truth *t, uint64_t i, double rounded, double f32, double got) {
    int cr = class_of(rounded), cf = class_of(f32), cg = class_of(got);
    if (cr != cf) return OUT_OF_DOMAIN; /* the reference overflows on its way */
    if (cr == cg) return PASSED;
    if (!j->strict && (cr != 0 || j->has_special)) return OUT_OF_DOMAIN; /* WGSL lets a GPU assume that there are none */
    if (t->mark[i]) return AMBIGUOUS;
    /* A sum that is padded with zeros multiplies infinities by them. */
    if (cg == 3 && j->has_special && j->op->category == GR_CATEGORY_REDUCTION && j->op->tolerance != GR_TOLERANCE_EXACT) return OUT_OF_DOMAIN;
    if (j->flushes && j->has_subnormal) return OUT_OF_DOMAIN;
    /* No bound: partial results may overflow, in one order of summation and not in another. */
    bool free_order = j->op->tolerance != GR_TOLERANCE_EXACT && !(j->strict && one_result(j->op) && j->op->tolerance == GR_TOLERANCE_TIGHT);
    return free_order && (class_of(t->b[i]) != 0 || (t->leaves && t->leaves[i])) ? OUT_OF_DOMAIN : FAILED;
}

static bool zero_sign_differs(const gr_judge *j, double r, double got) {
    return r == 0 && got == 0 && gr_str_eqz(j->op->zero_sign, "same") && gr_copysign(1, r) != gr_copysign(1, got) && !j->flushes;
}

static verdict of_exact(const gr_judge *j, const gr_truth *t, uint64_t i, double r, double y) {
    if (y == r && !zero_sign_differs(j, r, y)) return PASSED;
    double least = t->expected.dtype == GR_DTYPE_F16 ? 0x1p-14 : 0x1p-126;
    if (j->selects_zero && j->has_subnormal && gr_fabs(r) < least && gr_fabs(y) < least) return OUT_OF_DOMAIN;
    return t->mark[i] ? AMBIGUOUS : FAILED;
}

static verdict of_float(const gr_judge *j, const gr_truth *t, const gr_array *got, uint64_t i, double *ratio, double *tol) {
    /* NaN has no place in an order: what a selection among numbers and NaN gives is not settled by the contract. */
    if (j->has_nan && j->op->category == GR_CATEGORY_SELECTION) return OUT_OF_DOMAIN;
    double r = t->r[i], b = t->b[i], y = gr_array_get_f64(got, i), rounded = gr_array_get_f64(&t->expected, i), f32 = gr_array_get_f64(&t->f32, i);
    if (class_of(rounded) | class_of(f32) | class_of(y)) return of_classes(j, t, i, rounded, f32, y);
    if (j->op->tolerance == GR_TOLERANCE_EXACT) return of_exact(j, t, i, rounded, y);
    double c = class_of(t->c[i]) == 0 && t->c[i] > gr_fabs(r) ? t->c[i] : gr_fabs(r), off = gr_fabs(y - r);
    double limit = resolution(j, got->dtype, c);
    bool bounded = class_of(b) == 0;
    *tol = j->integral ? 0 : tolerance(j, got->dtype, r, bounded ? b : 0, c) + (j->flushes ? 0x1p-126 : 0);
    if (!bounded && off > *tol) return OUT_OF_DOMAIN; /* the specification grants no accuracy here */
    if (off > *tol && j->flushes && j->has_subnormal) return OUT_OF_DOMAIN; /* operands may count as 0 */
    if (off > *tol) return t->mark[i] ? AMBIGUOUS : t->leaves && t->leaves[i] ? OUT_OF_DOMAIN : FAILED;
    /* Beyond what resolves, a result that is as near as the widest bound asks has passed all the same. Of the others the reference's own
     * run in f32 says whether the operands ask for more digits than f32 has. */
    if (!j->integral && bounded && b > limit && off > tolerance(j, got->dtype, r, limit, c)) return gr_fabs(f32 - r) > limit ? OUT_OF_DOMAIN : UNRESOLVED;
    /* The sign of an exact zero, where the reference has the same one in f32. */
    if (j->strict && one_result(j->op) && b == 0 && gr_copysign(1, f32) == gr_copysign(1, r) && f32 == 0 && zero_sign_differs(j, r, y)) return FAILED;
    *ratio = *tol > 0 ? off / *tol : 0;
    return PASSED;
}

/* What small integers show of an output: whether every element is an integer without error, so that there is nothing to tolerate. */
gr_closed gr_truth_closed(const gr_truth *t) {
    double most = t->expected.dtype == GR_DTYPE_F16 ? 0x1p11 : 0x1p24;
    bool within = gr_dtype_is_float(t->expected.dtype);
    for (uint64_t i = 0, n = gr_array_count(&t->expected); within && i < n; i++) {
        double size = gr_fabs(t->r[i]), c = t->c[i] > size ? t->c[i] : size;
        if (c <= most && (t->b[i] != 0 || t->mark[i] || gr_floor(size) != size)) return GR_CLOSED_NOT;
        within = c <= most && gr_array_get_f64(&t->f32, i) == t->r[i];
    }
    return within ? GR_CLOSED : GR_CLOSED_UNKNOWN;
}

/* A decision that went the other way: one step further, or what the reference in f32 gives. A selection may choose anything. */
static bool reachable(const gr_judge *j, const gr_truth *t, const gr_array *got, uint64_t i) {
    double y = gr_array_get_f64(got, i), r = gr_array_get_f64(&t->expected, i), f32 = gr_array_get_f64(&t->f32, i);
    return j->op->category == GR_CATEGORY_SELECTION || gr_fabs(y - r) <= 1 || gr_fabs(y - f32) <= 1;
}

static verdict of_integer(const gr_judge *j, const gr_truth *t, const gr_array *got, uint64_t i) {
    uint32_t size = gr_dtype_size(got->dtype);
    if (!memcmp((const uint8_t *)got->data + i * size, (const uint8_t *)t->expected.data + i * size, size)) return PASSED;
    if (j->has_nan && j->op->category == GR_CATEGORY_SELECTION) return OUT_OF_DOMAIN;
    if (t->mark[i * t->step] && reachable(j, t, got, i)) return AMBIGUOUS;
    if ((j->flushes && j->has_subnormal) || (!j->strict && j->has_special)) return OUT_OF_DOMAIN;
    return FAILED;
}

void gr_compare(const gr_judge *j, const gr_truth *t, const gr_array *got, gr_counts *counts, double *worst, gr_fault *fault) {
    uint64_t n = gr_array_count(got);
    bool is_float = gr_dtype_is_float(got->dtype);
    for (uint64_t i = 0; i < n; i++) {
        double ratio = 0, tol = 0;
        switch (is_float ? of_float(j, t, got, i, &ratio, &tol) : of_integer(j, t, got, i)) {
            case PASSED: counts->passed++; break;
            case AMBIGUOUS: counts->ambiguous++; break;
            case UNRESOLVED: counts->unresolved++; break;
            case OUT_OF_DOMAIN: counts->out_of_domain++; break;
            default:
                counts->failed++;
                if (!fault->found) *fault = (gr_fault){true, i, tol};
        }
        if (ratio > *worst) *worst = ratio;
    }
}
