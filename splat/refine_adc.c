/* Adaptive density control: clone, split, prune, reset. */
#include "refine_int.h"

#include <stdlib.h>

#include "base/math.h"

/* A splat that wants a second one, and how much. */
typedef struct wish { double gradient; uint32_t row; } wish;

static double largest_scale(const gr_state *s, uint32_t i) {
    const float *e = s->value[GR_GROUP_SCALE] + 3 * (size_t)i;
    float m = e[0] > e[1] ? e[0] : e[1];
    return gr_exp((double)(m > e[2] ? m : e[2]));
}

static bool gone(const gr_state *s, const gr_refine *r, uint32_t i) {
    return gr_refine_opacity(s, i) < r->prune_opacity || (r->prune_large && largest_scale(s, i) > r->prune_scale * r->extent);
}

/* What stays moves down, in order. */
static void prune(gr_state *s, const gr_refine *r, gr_refined *out) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool finite = gr_state_finite(s, i);
        out->not_finite += !finite;
        if (!finite || gone(s, r, i)) out->pruned++;
        else gr_state_move(s, kept++, i);
    }
    s->n = kept;
}

/* The steepest first; rows in order where gradients are equal. */
static int steeper(const void *x, const void *y) {
    const wish *a = x, *b = y;
    if (a->gradient != b->gradient) return a->gradient > b->gradient ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int by_row(const void *x, const void *y) {
    const wish *a = x, *b = y;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Child `to` of the splat that stands in `from`: a point drawn from the splat itself, and a smaller size. */
static void place_child(gr_state *s, const gr_refine *r, uint32_t to, const float mean[3], const double axes[9], const double scale[3], const double e[3]) {
    for (size_t k = 0; k < 3; k++) {
        double x = (double)mean[k];
        for (size_t j = 0; j < 3; j++) x += axes[3 * k + j] * scale[j] * e[j];
        s->value[GR_GROUP_MEANS][3 * (size_t)to + k] = (float)x;
        s->value[GR_GROUP_SCALE][3 * (size_t)to + k] = (float)gr_log(scale[k] / r->split_factor);
    }
    gr_state_forget(s, to);
}

static void split(gr_state *s, const gr_refine *r, uint32_t step, uint32_t row, uint32_t second) {
    double axes[9], scale[3], e[8];
    float mean[3];
    gr_refine_axes(s, row, axes);
    memcpy(mean, s->value[GR_GROUP_MEANS] + 3 * (size_t)row, sizeof mean);
    for (size_t k = 0; k < 3; k++) scale[k] = gr_exp((double)s->value[GR_GROUP_SCALE][3 * (size_t)row + k]);
    gr_draw_normal(r->seed, GR_PURPOSE_SPLIT, step, 2 * (uint64_t)row, e);
    gr_draw_normal(r->seed, GR_PURPOSE_SPLIT, step, 2 * (uint64_t)row + 1, e + 4);
    gr_state_move(s, second, row);
    place_child(s, r, row, mean, axes, scale, e);
    place_child(s, r, second, mean, axes, scale, e + 4);
}

static void grow(gr_state *s, const gr_refine *r, uint32_t step, wish *list, gr_refined *out) {
    uint32_t n = 0, room = s->n < r->cap ? r->cap - s->n : 0;
    for (uint32_t i = 0; i < s->n; i++) {
        double mean = s->grad_count[i] > 0 ? (double)s->grad_sum[i] / (double)s->grad_count[i] : 0;
        if (mean >= r->grad_threshold) list[n++] = (wish){mean, i};
    }
    if (n > room) {
        qsort(list, n, sizeof *list, steeper);
        out->refused = n - room;
        qsort(list, n = room, sizeof *list, by_row);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t row = list[k].row, second = s->n++;
        if (largest_scale(s, row) <= r->clone_scale * r->extent) {
            gr_state_move(s, second, row);
            gr_state_forget(s, second);
            out->cloned++;
        } else {
            split(s, r, step, row, second);
            out->split++;
        }
    }
}

bool gr_refine_adc(gr_diags *d, gr_state *s, const gr_refine *r, uint32_t step, gr_refined *out) {
    *out = (gr_refined){.before = s->n};
    wish *list = gr_heap_alloc((size_t)s->n + 1, sizeof *list);
    if (!list) return gr_report_oom(d);
    prune(s, r, out);
    grow(s, r, step, list, out);
    gr_state_clear_statistics(s);
    gr_heap_free(list);
    out->after = s->n;
    return true;
}

void gr_refine_reset(gr_state *s, const gr_refine *r) {
    float most = (float)gr_refine_logit(r->reset_opacity);
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->value[GR_GROUP_OPACITY][i] > most) s->value[GR_GROUP_OPACITY][i] = most;
        s->m[GR_GROUP_OPACITY][i] = s->v[GR_GROUP_OPACITY][i] = 0;
    }
}
