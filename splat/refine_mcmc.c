/* Splats as samples of a Markov chain: relocation, growth and noise. */
#include "refine_int.h"

#include "base/math.h"

enum { SHARE_MAX = 51 }; /* as published: more in one place are counted as this many */

void gr_refine_share(double o, uint32_t n, double *opacity, double *scale_factor) {
    double part = 1 - gr_pow(1 - o, 1.0 / n), sum = 0;
    for (uint32_t i = 1; i <= n; i++) {
        double choose = 1, power = part; /* C(i-1, k) (-1)^k and part^(k+1) */
        for (uint32_t k = 0; k < i; k++) {
            sum += choose * power / gr_sqrt(k + 1.0);
            choose *= -(double)(i - 1 - k) / (k + 1);
            power *= part;
        }
    }
    *opacity = part;
    *scale_factor = o / sum;
}

typedef struct chain {
    double *upto;    /* (n) opacity of the rows up to this one, dead ones counting nothing */
    uint32_t *drawn; /* (n) how often a row was drawn */
    uint32_t *pick;  /* (most) the rows drawn */
} chain;

static void chain_free(chain *c) {
    gr_heap_free(c->upto);
    gr_heap_free(c->drawn);
    gr_heap_free(c->pick);
}

static bool dead(const gr_state *s, const gr_refine *r, uint32_t i) {
    return !(gr_refine_opacity(s, i) > r->prune_opacity) || !gr_state_finite(s, i);
}

/* The first row up to which there is more than x. */
static uint32_t find(const double *upto, uint32_t n, double x) {
    uint32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (upto[middle] > x) hi = middle;
        else lo = middle + 1;
    }
    return lo;
}

/* Draws `count` rows by opacity, with replacement. False when all are dead. */
static bool draw(chain *c, const gr_state *s, const gr_refine *r, gr_purpose p, uint32_t step, uint32_t count) {
    double total = 0, u[4] = {0};
    for (uint32_t i = 0; i < s->n; i++) {
        total += dead(s, r, i) ? 0 : gr_refine_opacity(s, i);
        c->upto[i] = total;
        c->drawn[i] = 0;
    }
    for (uint32_t k = 0; k < count && total > 0; k++) {
        gr_draw_uniform(r->seed, p, step, k, u);
        c->pick[k] = find(c->upto, s->n, u[0] * total);
        c->drawn[c->pick[k]]++;
    }
    return total > 0;
}

/* Every row that was drawn is made thinner and smaller, so that it and its copies together look as it did. */
static void share(chain *c, gr_state *s, const gr_refine *r) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (!c->drawn[i]) continue;
        uint32_t n = c->drawn[i] + 1 < SHARE_MAX ? c->drawn[i] + 1 : SHARE_MAX;
        double o, factor, whole = gr_refine_opacity(s, i);
        gr_refine_share(whole < 1 - 1e-7 ? whole : 1 - 1e-7, n, &o, &factor);
        if (o < r->prune_opacity) o = r->prune_opacity;
        s->value[GR_GROUP_OPACITY][i] = (float)gr_refine_logit(o);
        for (size_t k = 0; k < 3; k++) {
            float *e = &s->value[GR_GROUP_SCALE][3 * (size_t)i + k];
            *e = (float)((double)*e + gr_log(factor));
        }
    }
}

static void copy(gr_state *s, uint32_t to, uint32_t from) {
    gr_state_move(s, to, from);
    gr_state_forget(s, to);
}

static void relocate(chain *c, gr_state *s, const gr_refine *r, uint32_t step, gr_refined *out) {
    uint32_t count = 0, k = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        count += dead(s, r, i);
        out->not_finite += !gr_state_finite(s, i);
    }
    if (!count || !draw(c, s, r, GR_PURPOSE_RELOCATE, step, count)) return;
    share(c, s, r);
    for (uint32_t i = 0; i < s->n; i++) /* dead by the sums, not by opacity, which sharing has lowered */
        if (c->upto[i] == (i ? c->upto[i - 1] : 0)) copy(s, i, c->pick[k++]);
    for (uint32_t i = 0; i < s->n; i++)
        if (c->drawn[i]) gr_state_forget(s, i);
    out->relocated = count;
}

static void add(chain *c, gr_state *s, const gr_refine *r, uint32_t step, gr_refined *out) {
    double want = gr_floor((1 + r->grow) * s->n);
    uint32_t target = want < r->cap ? (uint32_t)want : r->cap, count = target > s->n ? target - s->n : 0;
    if (!count || !draw(c, s, r, GR_PURPOSE_ADD, step, count)) return;
    share(c, s, r);
    for (uint32_t k = 0; k < count; k++) copy(s, s->n + k, c->pick[k]);
    s->n += count;
    out->added = count;
}

bool gr_refine_mcmc(gr_diags *d, gr_state *s, const gr_refine *r, uint32_t step, gr_refined *out) {
    *out = (gr_refined){.before = s->n, .after = s->n};
    size_t most = s->n > r->cap ? s->n : r->cap;
    chain c = {gr_heap_alloc((size_t)s->n + 1, sizeof(double)), gr_heap_alloc((size_t)s->n + 1, sizeof(uint32_t)), gr_heap_alloc(most + 1, sizeof(uint32_t))};
    bool ok = (c.upto && c.drawn && c.pick) || gr_report_oom(d);
    if (ok) {
        relocate(&c, s, r, step, out);
        add(&c, s, r, step, out);
        gr_state_clear_statistics(s);
        out->after = s->n;
    }
    chain_free(&c);
    return ok;
}

void gr_refine_noise(gr_state *s, const gr_refine *r, double rate, uint32_t step) {
    for (uint32_t i = 0; i < s->n; i++) {
        double axes[9], e[4], local[3], gate = rate * r->noise / (1 + gr_exp(100 * (gr_refine_opacity(s, i) - r->prune_opacity)));
        if (!(gate > 0)) continue;
        gr_refine_axes(s, i, axes);
        gr_draw_normal(r->seed, GR_PURPOSE_NOISE, step, i, e);
        for (size_t k = 0; k < 3; k++) { /* S^2 R^T e */
            double scale = gr_exp((double)s->value[GR_GROUP_SCALE][3 * (size_t)i + k]);
            local[k] = scale * scale * (axes[k] * e[0] + axes[3 + k] * e[1] + axes[6 + k] * e[2]);
        }
        for (size_t k = 0; k < 3; k++) {
            float *m = &s->value[GR_GROUP_MEANS][3 * (size_t)i + k];
            double moved = (double)*m + gate * (axes[3 * k] * local[0] + axes[3 * k + 1] * local[1] + axes[3 * k + 2] * local[2]);
            if (gr_fabs(moved) <= 3e38) *m = (float)moved;
        }
    }
}
