/* compare.c: one output against the truth, by the op's tolerance class. */
#include "base/math.h"
#include "regime/regime_int.h"

static int class_of(double x) { return x != x ? 3 : x - x == 0 ? 0 : x > 0 ? 1 : 2; }

static double ulp(gr_dtype t, double r) { return t == GR_DTYPE_F16 ? gr_ulp_f16(r) : gr_ulp_f32(r); }

static double greater(double a, double b) { return a > b ? a : b; }

static double tolerance(const gr_judge *j, gr_dtype t, double r, double b, double scale) {
    if (j->integral) return 0;
    switch (j->op->tolerance) {
        case GR_TOLERANCE_EXACT: return 0;
        case GR_TOLERANCE_TIGHT: return 2 * b + ulp(t, r);
        case GR_TOLERANCE_LOOSE: return greater(1e-3 * greater(gr_fabs(r), scale), 2 * b);
        default: return 8 * b + 4 * ulp(t, r);
    }
}

typedef enum verdict { PASSED, AMBIGUOUS, UNRESOLVED, OUT_OF_DOMAIN, FAILED } verdict;

/* Truth and the reference in f32 must agree in class before a kernel can be held to it: else the reference overflows on its way. */
static verdict of_classes(const gr_judge *j, double rounded, double f32, double got) {
    int cr = class_of(rounded), cf = class_of(f32), cg = class_of(got);
    if (cr != cf) return OUT_OF_DOMAIN;
    if (cr == cg) return PASSED;
    if (!j->strict && (cr != 0 || j->has_special)) return OUT_OF_DOMAIN; /* WGSL lets a GPU assume that there are none */
    /* Partial results overflow in one order of summation and not in another. */
    if ((cr == 0 || j->op->category == GR_CATEGORY_REDUCTION) && j->largest > 1e15 && j->op->tolerance != GR_TOLERANCE_EXACT) return OUT_OF_DOMAIN;
    return FAILED;
}

static bool zero_sign_differs(const gr_judge *j, double r, double got) {
    return r == 0 && got == 0 && gr_str_eqz(j->op->zero_sign, "same") && gr_copysign(1, r) != gr_copysign(1, got) && !j->flushes;
}

static verdict of_float(const gr_judge *j, const gr_truth *t, const gr_array *got, uint64_t i, double *ratio, double *tol) {
    /* NaN has no place in an order: what a selection among numbers and NaN gives is not settled by the contract. */
    if (j->has_nan && j->op->category == GR_CATEGORY_SELECTION) return OUT_OF_DOMAIN;
    double r = t->r[i], b = t->b[i], scale = j->scale, y = gr_array_get_f64(got, i), rounded = gr_array_get_f64(&t->expected, i);
    verdict v = of_classes(j, rounded, gr_array_get_f64(&t->f32, i), y);
    if (v == FAILED && t->mark[i]) return AMBIGUOUS;
    if (v != PASSED) return v;
    if (class_of(rounded) != 0) return PASSED;
    if (t->any_b && t->any_b[i] > b && class_of(t->any_b[i]) == 0) b = t->any_b[i];
    if (t->c && gr_fabs(t->c[i]) > scale && class_of(t->c[i]) == 0) scale = gr_fabs(t->c[i]);
    bool exact = j->op->tolerance == GR_TOLERANCE_EXACT;
    if (!exact && class_of(b) != 0) return OUT_OF_DOMAIN; /* the specification grants no accuracy here */
    if (exact) r = rounded;
    *tol = tolerance(j, got->dtype, r, b, scale) + (j->flushes ? 0x1p-126 : 0);
    double off = gr_fabs(y - r);
    if (off > *tol && j->flushes && j->has_subnormal && !exact) return OUT_OF_DOMAIN; /* operands may count as 0 */
    if (off > *tol || (exact && zero_sign_differs(j, r, y))) return t->mark[i] ? AMBIGUOUS : FAILED;
    if (!exact && !j->integral && b > (got->dtype == GR_DTYPE_F16 ? 0x1p-3 : 0x1p-10) * greater(gr_fabs(r), scale)) return UNRESOLVED;
    *ratio = *tol > 0 ? off / *tol : 0;
    return PASSED;
}

static verdict of_integer(const gr_judge *j, const gr_truth *t, const gr_array *got, uint64_t i) {
    uint32_t size = gr_dtype_size(got->dtype);
    if (!memcmp((const uint8_t *)got->data + i * size, (const uint8_t *)t->expected.data + i * size, size)) return PASSED;
    if (j->has_nan && j->op->category == GR_CATEGORY_SELECTION) return OUT_OF_DOMAIN;
    if (t->mark[i * t->step]) return AMBIGUOUS;
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
