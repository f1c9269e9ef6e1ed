#include "splat/init.h"

#include "base/math.h"
#include "base/rng.h"

enum { NEIGHBOURS = 3, LEAF = 8 };

/* A k-d tree is the order of the points alone: the middle of a range splits it along the axis of its depth. */
typedef struct tree {
    const float *p;
    uint32_t *order;
    uint32_t n;
} tree;

static double at(const tree *t, uint32_t i, uint32_t axis) { return t->p[3 * (size_t)t->order[i] + axis]; }

/* Brings the k-th of [lo, hi) along axis to its place (Hoare's selection; many equal values are no trouble). */
static void select_(tree *t, uint32_t lo, uint32_t hi, uint32_t k, uint32_t axis) {
    int64_t left = lo, right = (int64_t)hi - 1;
    while (left < right) {
        double pivot = at(t, (uint32_t)(left + (right - left) / 2), axis);
        int64_t i = left, j = right;
        while (i <= j) {
            while (at(t, (uint32_t)i, axis) < pivot) i++;
            while (at(t, (uint32_t)j, axis) > pivot) j--;
            if (i > j) break;
            uint32_t swap = t->order[i];
            t->order[i++] = t->order[j];
            t->order[j--] = swap;
        }
        if ((int64_t)k <= j) right = j;
        else if ((int64_t)k >= i) left = i;
        else return;
    }
}

/* Depth is log2 n: halves are equal whatever the points. */
static void build(tree *t, uint32_t lo, uint32_t hi, uint32_t axis) {
    if (hi - lo <= LEAF) return;
    uint32_t middle = lo + (hi - lo) / 2;
    select_(t, lo, hi, middle, axis);
    build(t, lo, middle, (axis + 1) % 3);
    build(t, middle + 1, hi, (axis + 1) % 3);
}

typedef struct search {
    const tree *t;
    const float *from;
    uint32_t self, found;
    double best[NEIGHBOURS]; /* ascending */
} search;

static double worst(const search *s) { return s->found < NEIGHBOURS ? 1e300 : s->best[NEIGHBOURS - 1]; }

static void offer(search *s, uint32_t i) {
    uint32_t point = s->t->order[i];
    if (point == s->self) return;
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = (double)s->t->p[3 * (size_t)point + (size_t)k] - (double)s->from[k];
        sum += d * d;
    }
    if (sum >= worst(s)) return;
    uint32_t j = s->found < NEIGHBOURS ? s->found++ : NEIGHBOURS - 1;
    for (; j > 0 && s->best[j - 1] > sum; j--) s->best[j] = s->best[j - 1];
    s->best[j] = sum;
}

static void look(search *s, uint32_t lo, uint32_t hi, uint32_t axis) {
    if (hi - lo <= LEAF) {
        for (uint32_t i = lo; i < hi; i++) offer(s, i);
        return;
    }
    uint32_t middle = lo + (hi - lo) / 2, next = (axis + 1) % 3;
    double away = (double)s->from[axis] - at(s->t, middle, axis);
    if (away < 0) look(s, lo, middle, next);
    else look(s, middle + 1, hi, next);
    offer(s, middle);
    if (away * away >= worst(s)) return;
    if (away < 0) look(s, middle + 1, hi, next);
    else look(s, lo, middle, next);
}

bool gr_points_spread(gr_diags *d, const float *position, uint32_t n, double *out) {
    tree t = {position, gr_heap_alloc(n, sizeof(uint32_t)), n};
    if (!t.order) return gr_report_oom(d);
    for (uint32_t i = 0; i < n; i++) t.order[i] = i;
    build(&t, 0, n, 0);
    for (uint32_t i = 0; i < n; i++) {
        search s = {.t = &t, .from = position + 3 * (size_t)i, .self = i};
        look(&s, 0, n, 0);
        double sum = 0;
        for (uint32_t k = 0; k < s.found; k++) sum += s.best[k];
        out[i] = s.found ? sum / s.found : 0;
    }
    gr_heap_free(t.order);
    return true;
}

static bool fill(gr_diags *d, double largest, gr_cloud *c) {
    double *spread = gr_heap_alloc(c->n + 1, sizeof *spread);
    if (!spread) return gr_report_oom(d);
    bool ok = gr_points_spread(d, c->mean, c->n, spread);
    for (size_t i = 0; ok && i < c->n; i++) {
        double square = spread[i] > 1e-7 ? spread[i] : 1e-7;
        if (square > largest * largest) square = largest * largest;
        for (size_t k = 0; k < 3; k++) c->scale[3 * i + k] = (float)(0.5 * gr_log(square));
        c->rotation[4 * i] = 1;
        c->opacity[i] = (float)gr_log(0.1 / 0.9);
    }
    gr_heap_free(spread);
    return ok;
}

/* Every subset of `keep` is as likely as any other (selection sampling), and the order stays. */
static void pick(const gr_points *p, uint32_t keep, uint64_t seed, gr_cloud *c) {
    gr_rng r = gr_rng_seed(seed);
    uint32_t k = gr_sh_count(c->sh_degree);
    for (uint32_t i = 0, kept = 0; kept < keep; i++) {
        if (keep < p->n && gr_rng_below(&r, p->n - i) >= keep - kept) continue;
        memcpy(c->mean + 3 * (size_t)kept, p->position + 3 * (size_t)i, 12);
        for (size_t j = 0; j < 3; j++)
            c->sh[3 * (size_t)kept * k + j] = (float)((p->colour[3 * (size_t)i + j] / 255.0 - 0.5) / GR_SH_C0);
        kept++;
    }
}

bool gr_cloud_from_points(gr_arena *a, gr_diags *d, const gr_points *p, uint32_t sh_degree, double largest, uint32_t cap, uint64_t seed, gr_cloud *out) {
    uint32_t n = p->n < cap ? p->n : cap;
    GR_TRY(gr_cloud_new(a, d, n, sh_degree, out));
    pick(p, n, seed, out);
    return fill(d, largest, out);
}

bool gr_cloud_random(gr_arena *a, gr_diags *d, uint32_t n, double extent, uint64_t seed, uint32_t sh_degree, gr_cloud *out) {
    gr_rng r = gr_rng_seed(seed);
    uint32_t k = gr_sh_count(sh_degree);
    GR_TRY(gr_cloud_new(a, d, n, sh_degree, out));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 3; j++) out->mean[3 * i + j] = (float)(extent * (2 * gr_rng_f64(&r) - 1));
        for (size_t j = 0; j < 3; j++) out->sh[3 * i * k + j] = (float)((gr_rng_f64(&r) - 0.5) / GR_SH_C0);
    }
    return fill(d, 2 * extent, out);
}
