/* Tensor types, and the names of categories, tolerances and roles. */
#include "contract/contract_int.h"

#include "base/checked.h"

bool gr_type_count(const gr_type *t, uint64_t *count) {
    *count = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dim[i].n == 0) {
            *count = 0;
            return true;
        }
    for (uint32_t i = 0; i < t->rank; i++)
        if (!gr_mul_u64(*count, t->dim[i].n, count) || *count > (uint64_t)1 << 62) return false;
    return true;
}

bool gr_type_device_bytes(const gr_type *t, uint64_t *bytes) {
    uint64_t n, each = t->dtype == GR_DTYPE_F16                                                           ? 2
                       : t->dtype == GR_DTYPE_I64 || t->dtype == GR_DTYPE_U64 || t->dtype == GR_DTYPE_F64 ? 8
                                                                                                          : 4;
    if (!gr_type_count(t, &n) || !gr_mul_u64(n, each, bytes) || *bytes > UINT64_MAX - 3) return false;
    *bytes = (*bytes + 3) / 4 * 4;
    return true;
}

bool gr_type_equal(const gr_type *x, const gr_type *y) {
    if (x->dtype != y->dtype || x->rank != y->rank || x->bounded != y->bounded) return false;
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dim[i].n != y->dim[i].n) return false;
    return true;
}

void gr_type_print(gr_buf *out, const gr_type *t) {
    gr_buf_printf(out, "%s[", gr_dtype_name(t->dtype));
    for (uint32_t i = 0; i < t->rank; i++) {
        const gr_dim *d = &t->dim[i];
        if (i) gr_buf_puts(out, ", ");
        if (i == 0 && t->bounded) gr_buf_puts(out, "<= ");
        if (d->base.n) gr_buf_str(out, d->base);
        if (d->base.n && d->add)
            gr_buf_printf(out, " %c %llu", d->add < 0 ? '-' : '+',
                          (unsigned long long)(d->add < 0 ? 0 - (uint64_t)d->add : (uint64_t)d->add));
        if (d->base.n) gr_buf_puts(out, " = ");
        gr_buf_printf(out, "%llu", (unsigned long long)d->n);
    }
    gr_buf_putc(out, ']');
}

const char *gr_dtype_wgsl(gr_dtype t) {
    switch (t) {
    case GR_DTYPE_F16: return "f16";
    case GR_DTYPE_F32: return "f32";
    case GR_DTYPE_I8:
    case GR_DTYPE_I32: return "i32";
    case GR_DTYPE_U8:
    case GR_DTYPE_U32:
    case GR_DTYPE_BOOL: return "u32";
    case GR_DTYPE_I64:
    case GR_DTYPE_U64: return "vec2<u32>";
    default: return NULL;
    }
}

const char *const gr_category_words[] = {"none",      "selection",      "movement",  "integer", "comparison",
                                         "pointwise", "transcendental", "reduction", "lossy",   NULL};
const char *const gr_tolerance_words[] = {"none", "exact", "tight", "default", "loose", NULL};
const char *const gr_role_words[] = {"none", "accumulate", "fill", "sum_to_shape", "expand", "copy", "slice", "place", NULL};

/* n: words with the NULL at their end. */
static const char *word_of(const char *const *words, size_t n, size_t i) { return words[i + 1 < n ? i : 0]; }

#define WORD_OF(words, i) word_of(words, sizeof(words) / sizeof *(words), (size_t)(i))
const char *gr_category_name(gr_category c) { return WORD_OF(gr_category_words, c); }
const char *gr_tolerance_name(gr_tolerance c) { return WORD_OF(gr_tolerance_words, c); }
const char *gr_role_name(gr_role r) { return WORD_OF(gr_role_words, r); }
#undef WORD_OF
