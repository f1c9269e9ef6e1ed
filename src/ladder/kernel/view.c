/* view.c: strided access of broadcast operands, with adjacent dimensions merged. */
#include "ladder/kernel/kernel_int.h"

bool gr_view_strides(const gr_type *x, const gr_type *y, uint64_t stride[GR_RANK_MAX]) {
    if (x->rank > y->rank) return false;
    uint64_t run = 1;
    for (uint32_t k = 0; k < GR_RANK_MAX; k++) stride[k] = 0;
    for (uint32_t i = 0; i < x->rank; i++) { /* right-aligned, innermost first */
        uint32_t ax = x->rank - 1 - i, ay = y->rank - 1 - i;
        uint64_t n = x->dim[ax].n;
        if (n == y->dim[ay].n) stride[ay] = n == 1 ? 0 : run;
        else if (n != 1) return false;
        run *= n;
    }
    return true;
}

static bool mergeable(const gr_views *v, uint32_t k) {
    for (uint32_t i = 0; i < v->n; i++)
        if (v->stride[i][k] != v->stride[i][k + 1] * v->dims[k + 1]) return false;
    return true;
}

static void drop_dim(gr_views *v, uint32_t k) {
    for (uint32_t j = k; j + 1 < v->rank; j++) {
        v->dims[j] = v->dims[j + 1];
        for (uint32_t i = 0; i < v->n; i++) v->stride[i][j] = v->stride[i][j + 1];
    }
    v->rank--;
}

void gr_views_merge(gr_views *v) {
    for (uint32_t k = v->rank; k-- > 0;)
        if (v->dims[k] == 1) drop_dim(v, k);
    for (uint32_t k = v->rank; k-- > 1;) {
        if (!mergeable(v, k - 1)) continue;
        v->dims[k] *= v->dims[k - 1];
        drop_dim(v, k - 1);
    }
}
