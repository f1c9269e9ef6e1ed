#include "ladder/run/run.h"

#include <string.h>

static uint64_t array_count(const gr_array *a) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < a->rank; i++) n *= a->dims[i];
    return n;
}

/* One 32-bit word an element; sign-extended where the dtype is signed. */
static void pack_words(uint32_t *dst, const gr_array *src, uint64_t n) {
    const uint8_t *u = src->data;
    const int8_t *s = src->data;
    for (uint64_t i = 0; i < n; i++) {
        if (src->dtype == GR_DTYPE_I8) dst[i] = (uint32_t)(int32_t)s[i];
        else if (src->dtype == GR_DTYPE_BOOL) dst[i] = u[i] != 0;
        else dst[i] = u[i];
    }
}

bool gr_pack_copies(gr_dtype t) { return t != GR_DTYPE_I8 && t != GR_DTYPE_U8 && t != GR_DTYPE_BOOL; }

void gr_pack(void *dst, const gr_array *src) {
    uint64_t n = array_count(src);
    switch (src->dtype) {
    case GR_DTYPE_I8: case GR_DTYPE_U8: case GR_DTYPE_BOOL: pack_words(dst, src, n); break;
    case GR_DTYPE_F16:
        if (n) memcpy(dst, src->data, n * 2);
        if (n & 1) memset((char *)dst + n * 2, 0, 2);
        break;
    default:
        if (n) memcpy(dst, src->data, n * gr_dtype_size(src->dtype));
    }
}

void gr_unpack(gr_array *dst, const void *src) {
    uint64_t n = array_count(dst);
    const uint32_t *w = src;
    uint8_t *out = dst->data;
    switch (dst->dtype) {
    case GR_DTYPE_I8: case GR_DTYPE_U8:
        for (uint64_t i = 0; i < n; i++) out[i] = (uint8_t)w[i];
        break;
    case GR_DTYPE_BOOL:
        for (uint64_t i = 0; i < n; i++) out[i] = w[i] != 0;
        break;
    default:
        if (n) memcpy(dst->data, src, n * gr_dtype_size(dst->dtype));
    }
}
