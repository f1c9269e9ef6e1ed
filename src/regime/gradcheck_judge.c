/* gradcheck_judge.c: one direction: dual numbers, differences and the backward against each other, and wrong gradients beside. */
#include "base/math.h"
#include "regime/gradcheck_int.h"

enum { STEPS = 4 };
static const double CROSS_BOUND = 1e-7, SETTLED = 1e-4, SHRINK = 0x1p-5, FIRST_STEP = 1e-3;

/* ---- directions ------------------------------------------------------------------------ */

/* In proportion to the element, so that a step stays on its side of zero and is not lost beside it. */
static double step_of(gr_rng *r, double x) {
    double size = x == 0 ? 1 : gr_fabs(x);
    return size * (0.5 + 0.5 * gr_rng_f64(r)) * (gr_rng_below(r, 2) ? 1 : -1);
}

typedef bool chosen(const gr_gc_trial *t, uint32_t operand, uint64_t element, gr_rng *r, uint64_t which);

static void direct(gr_gc_trial *t, chosen *choose, uint64_t which) {
    uint64_t at = 0;
    t->moves = false;
    for (uint32_t i = 0; i < t->f.x_n; i++)
        for (uint64_t k = 0; t->v.x[i] && k < t->f.x[i].n; k++, at++) {
            double v = step_of(&t->r, t->x.x[i][k]);
            t->v.x[i][k] = choose(t, i, at, &t->r, which) ? v : 0;
            t->moves = t->moves || t->v.x[i][k] != 0;
        }
}

static bool all(const gr_gc_trial *t, uint32_t operand, uint64_t element, gr_rng *r, uint64_t which) {
    (void)element, (void)r, (void)which;
    return t->f.x[operand].role == GC_CHECKED;
}
static bool part(const gr_gc_trial *t, uint32_t operand, uint64_t element, gr_rng *r, uint64_t which) {
    return all(t, operand, element, r, which) && gr_rng_below(r, 4) == 0;
}
static bool one_operand(const gr_gc_trial *t, uint32_t operand, uint64_t element, gr_rng *r, uint64_t which) {
    (void)t, (void)element, (void)r;
    return operand == which;
}
static bool one_element(const gr_gc_trial *t, uint32_t operand, uint64_t element, gr_rng *r, uint64_t which) {
    (void)t, (void)operand, (void)r;
    return element == which;
}

void gr_gc_direct_all(gr_gc_trial *t) { direct(t, all, 0); }
void gr_gc_direct_part(gr_gc_trial *t) { direct(t, part, 0); }
void gr_gc_direct_element(gr_gc_trial *t, uint64_t element) { direct(t, one_element, element); }
bool gr_gc_direct_operand(gr_gc_trial *t, uint32_t operand) {
    if (operand >= t->f.x_n || !t->v.x[operand]) return false;
    direct(t, one_operand, operand);
    return t->moves;
}

/* ---- sums -------------------------------------------------------------------------------- */

typedef struct sums { double sum, size; } sums;

/* <g, v> and the sum of the sizes of its terms. What does not move takes no part: 0 times infinity is nothing here. */
static sums of_gradient(const gr_gc_trial *t, const gr_gc_room *g) {
    sums s = {0, 0};
    for (uint32_t i = 0; i < t->f.x_n; i++)
        for (uint64_t k = 0; g->x[i] && k < t->f.x[i].n; k++) {
            if (t->v.x[i][k] == 0) continue;
            double term = g->x[i][k] * t->v.x[i][k];
            s.sum += term;
            s.size += gr_fabs(term);
        }
    return s;
}

/* <c, J v> by dual numbers at x. */
static bool of_tangent(gr_gc_trial *t, gr_diags *d, const gr_gc_room *x, sums *out) {
    gr_gc_side *s = &t->dual;
    *out = (sums){0, 0};
    for (uint32_t i = 0; i < t->f.x_n; i++) {
        if (!x->x[i] || t->f.x[i].n == 0 || s->x[i] == GR_NO_VALUE) continue;
        GR_TRY(s->api->write_wide(s->exec, d, s->x[i], x->x[i], t->f.x[i].n));
        GR_TRY(s->api->write_tangent(s->exec, d, s->x[i], t->v.x[i], t->f.x[i].n));
    }
    GR_TRY(gr_gc_submit(s, d));
    for (uint32_t k = 0; k < t->f.y_n; k++) {
        uint64_t n;
        const double *tangent = t->live[k] ? s->api->output_tangent(s->exec, s->ticket, s->out[k], &n) : NULL;
        if (t->live[k] && !tangent) return GR_BUG(d, "R7", "output %u has no tangent", k);
        for (uint64_t i = 0; i < t->live[k]; i++) {
            double term = t->ct.x[k][i] * tangent[i];
            out->sum += term;
            out->size += gr_fabs(term);
        }
    }
    return true;
}

/* ---- differences --------------------------------------------------------------------------- */

/* What differences say: value and error at the step that agrees, else at the last that settled. */
typedef struct difference { bool live, agrees, settled, refuted; double value, error, h; } difference;

static void move(gr_gc_trial *t, double h) {
    for (uint32_t i = 0; i < t->f.x_n; i++)
        for (uint64_t k = 0; t->x.x[i] && k < t->f.x[i].n; k++) t->moved.x[i][k] = t->x.x[i][k] + h * t->v.x[i][k];
}

typedef struct step { double slope, jump; bool smooth; } step; /* jump: of the one-sided slopes */

/* <c, f(x + h v)>, f(x) and <c, f(x - h v)>, summed by element. smooth: all three took the same branches. */
static bool central(gr_gc_trial *t, gr_diags *d, double h, step *out) {
    uint64_t trace;
    bool finite;
    double slope = 0, jump = 0;
    for (int side = 0; side < 2; side++) {
        move(t, side ? -h : h);
        GR_TRY(gr_gc_forward(t, d, &t->moved, &t->plus, &trace, &finite));
        *out = (step){.smooth = finite && trace == t->trace};
        if (!out->smooth) return true;
        for (uint32_t k = 0; k < t->f.y_n; k++)
            for (uint64_t i = 0; i < t->live[k]; i++) {
                double rise = t->ct.x[k][i] * (t->plus.x[k][i] - t->y.x[k][i]);
                slope += side ? -rise : rise;
                jump += rise;
            }
    }
    *out = (step){slope / (2 * h), gr_fabs(jump / h), gr_gc_finite(slope)};
    return true;
}

/* Two Richardson steps; their difference is the error of truncation, the roundings of f and of x + h v the rest. Where
 * the one-sided slopes do not come nearer as h becomes a quarter there is a kink that no branch shows, like that of a norm at 0. */
static bool richardson(gr_gc_trial *t, gr_diags *d, double h, double scale, double gradient_size, difference *out) {
    step c[3];
    double rounding = 0x1p-51 * (t->contributions + 2 * gradient_size) / (h / 4);
    *out = (difference){0};
    for (int i = 0; i < 3; i++) {
        GR_TRY(central(t, d, gr_ldexp(h, -i), &c[i]));
        if (!c[i].smooth) return true;
    }
    if (c[2].jump > 0.6 * c[0].jump && c[2].jump > 1e-3 * scale + 4 * rounding) return true;
    double first = (4 * c[1].slope - c[0].slope) / 3, second = (4 * c[2].slope - c[1].slope) / 3;
    out->live = true;
    out->h = h / 4;
    out->value = (16 * second - first) / 15;
    out->error = gr_fabs(second - first) + rounding;
    out->settled = out->error <= SETTLED * scale;
    return true;
}

static double cross_bound(double scale, const difference *x) { return CROSS_BOUND * scale + 4 * x->error; }

/* From the largest step down until one agrees with `wanted`. Steps may be too large for what the function does (near a
 * pole), so only the two smallest that settled refute it, if they agree with each other. */
static bool differences(gr_gc_trial *t, gr_diags *d, double wanted, double scale, double gradient_size, difference *out) {
    double h = FIRST_STEP;
    *out = (difference){0};
    for (int i = 0; i < STEPS; i++, h *= SHRINK) {
        difference now;
        GR_TRY(richardson(t, d, h, scale, gradient_size, &now));
        if (now.live) out->live = true;
        if (!now.live || !now.settled) continue;
        now.agrees = gr_fabs(now.value - wanted) <= cross_bound(scale, &now);
        now.refuted = out->settled && gr_fabs(now.value - out->value) <= cross_bound(scale, out) + cross_bound(scale, &now);
        *out = now;
        if (now.agrees) return true;
    }
    return true;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* What both sums change by when the point moves by 2^-40 of itself. */
static bool condition(gr_gc_trial *t, gr_diags *d, double a, double b, double *out) {
    sums moved;
    for (uint32_t i = 0; i < t->f.x_n; i++)
        for (uint64_t k = 0; t->x.x[i] && k < t->f.x[i].n; k++)
            t->moved.x[i][k] = t->x.x[i][k] * (1 + (gr_rng_below(&t->r, 2) ? 0x1p-40 : -0x1p-40));
    GR_TRY(of_tangent(t, d, &t->moved, &moved));
    *out = gr_fabs(moved.sum - a);
    GR_TRY(gr_gc_backward(t, d, &t->moved, &t->ct, &t->moved));
    moved = of_gradient(t, &t->moved);
    *out += gr_fabs(moved.sum - b);
    if (!gr_gc_finite(*out)) *out = 0;
    return true;
}

static void offer(gr_corruption *k, double a, double b, double right, double bound, double scale) {
    double off = gr_fabs(a - b);
    if (b == right) return;
    k->offered++;
    if (off <= bound) return;
    k->rejected++;
    double relative = off / (off > scale ? off : scale);
    if (relative > k->worst) k->worst = relative;
}

/* Gradients that are wrong on purpose, each judged by the same rule. */
static void try_controls(gr_gc_trial *t, double a, double b, double bound, double scale, gr_gradcheck *out) {
    uint64_t candidates = 0, moving = 0;
    double zeroed = b, offset = b;
    for (uint32_t i = 0; i < t->f.x_n; i++) {
        double share = 0;
        for (uint64_t k = 0; t->g.x[i] && k < t->f.x[i].n; k++) {
            double term = t->v.x[i][k] == 0 ? 0 : t->g.x[i][k] * t->v.x[i][k];
            share += term;
            if (t->f.x[i].role == GC_CHECKED && t->v.x[i][k] != 0 && gr_rng_below(&t->r, (uint32_t)++moving) == 0) offset = b + t->v.x[i][k];
            if (term != 0 && gr_rng_below(&t->r, (uint32_t)++candidates) == 0) zeroed = b - term;
        }
        offer(&out->control[GR_CORRUPT_SIGN], a, b - 2 * share, b, bound, scale);
        offer(&out->control[GR_CORRUPT_SCALE], a, b + 0.001 * share, b, bound, scale);
    }
    offer(&out->control[GR_CORRUPT_ZERO], a, zeroed, b, bound, scale);
    offer(&out->control[GR_CORRUPT_OFFSET], a, offset, b, bound, scale);
    if (t->has_slice) offer(&out->control[GR_CORRUPT_SLICE], a, of_gradient(t, &t->slice).sum, b, bound, scale);
}

static void worse(double *worst, double v) {
    if (v > *worst) *worst = v;
}

bool gr_gc_judge(gr_gc_trial *t, gr_diags *d, const gr_catalog *catalog, gr_gradcheck *out, gr_gc_found *f) {
    sums a, b = of_gradient(t, &t->g);
    difference by;
    *f = (gr_gc_found){0};
    GR_TRY(of_tangent(t, d, &t->x, &a));
    uint64_t *skipped = t->grid ? &out->grid_skipped : &out->skipped;
    if (!gr_gc_finite(a.sum)) return ++*skipped, true; /* the derivative itself has none here */
    bool finite = gr_gc_finite(b.sum);
    double b_size = finite ? b.size : 0, scale = a.size + b_size + (0x1p-46 * t->contributions + t->flush) / GR_GRADCHECK_BOUND;
    double bound = GR_GRADCHECK_BOUND * scale, off = gr_fabs(a.sum - b.sum), more = 0;
    GR_TRY(differences(t, d, finite ? b.sum : a.sum, scale, b_size, &by));
    if (!by.live) return ++*skipped, true;
    ++*(t->grid ? &out->grid_live : &out->live);
    *f = (gr_gc_found){.expected = a.sum, .got = b.sum, .other = by.value, .has_other = by.settled, .error = off};
    if (off > bound && finite) GR_TRY(condition(t, d, a.sum, b.sum, &more) && gr_gc_noise(t, d, catalog));
    f->bound = bound + 0x1p-8 * more + (t->noise > 0 ? 64 * t->noise : 0);
    f->failed = !(off <= f->bound);
    if (f->failed) return true;
    worse(&out->worst_dual, scale > 0 ? GR_GRADCHECK_BOUND * off / f->bound : 0);
    try_controls(t, a.sum, b.sum, f->bound, scale, out);
    if (by.agrees) return worse(&out->worst_differences, scale > 0 ? gr_fabs(by.value - b.sum) / scale : 0), true;
    if (by.refuted) GR_TRY(gr_gc_noise(t, d, catalog));
    f->bound = cross_bound(scale, &by) + (t->noise > 0 ? 8 * t->noise / by.h : 0);
    f->failed = f->differences = by.refuted && gr_fabs(by.value - b.sum) > f->bound;
    out->unresolved += !f->failed;
    return true;
}

/* ---- telling ------------------------------------------------------------------------------------ */

static bool smallest_direction(gr_gc_trial *t, gr_diags *d, const gr_catalog *catalog, gr_gc_found *f, uint64_t *element) {
    uint64_t n = gr_gc_trial_elements(t);
    for (uint64_t k = 0; k < n && k < 256; k++) {
        gr_gradcheck ignored = {0};
        gr_gc_found now;
        gr_gc_direct_element(t, k);
        GR_TRY(gr_gc_judge(t, d, catalog, &ignored, &now));
        if (!now.failed) continue;
        *f = now;
        *element = k;
        return true;
    }
    *element = UINT64_MAX;
    return true;
}

static void print_room(gr_buf *b, const char *prefix, const gr_gc_tensor *t, const double *x) {
    gr_buf_printf(b, "  %s%s = [", prefix, t->name);
    for (uint64_t i = 0; i < t->n && i < 16; i++) {
        if (i) gr_buf_puts(b, ", ");
        gr_buf_f64(b, x[i]);
    }
    gr_buf_puts(b, t->n > 16 ? ", ...]\n" : "]\n");
}

static void print_number(gr_buf *b, const char *what, double v, const char *after) {
    gr_buf_printf(b, "  %s ", what);
    gr_buf_f64(b, v);
    gr_buf_printf(b, "%s\n", after);
}

static void print_element(gr_buf *b, const gr_gc_trial *t, uint64_t element) {
    for (uint32_t i = 0; i < t->f.x_n; i++) {
        if (!t->v.x[i]) continue;
        if (element < t->f.x[i].n) {
            gr_buf_printf(b, "  along %s[%llu] alone%s\n", t->f.x[i].name, (unsigned long long)element,
                          t->f.x[i].role == GC_STOPPED ? ", which the op stops: its gradient must be zero" : "");
            return;
        }
        element -= t->f.x[i].n;
    }
}

bool gr_gc_tell(gr_gc_trial *t, gr_diags *d, const gr_catalog *catalog, gr_gc_found f, gr_buf *b) {
    uint64_t element;
    gr_gc_room was = t->v;
    for (uint32_t i = 0; i < t->f.x_n; i++) {
        if (!was.x[i]) continue;
        was.x[i] = GR_NEW_N(&t->arena, double, (size_t)t->f.x[i].n + 1);
        if (!was.x[i]) return gr_report_oom(d);
        memcpy(was.x[i], t->v.x[i], (size_t)t->f.x[i].n * sizeof(double));
    }
    GR_TRY(smallest_direction(t, d, catalog, &f, &element));
    const gr_gc_room *v = element == UINT64_MAX ? &was : &t->v;
    for (uint32_t i = 0; i < t->f.x_n; i++) {
        if (t->in[i].dtype == GR_DTYPE_NONE) continue;
        gr_buf_printf(b, "  %s = ", t->f.x[i].name);
        gr_array_print(b, &t->in[i], 16);
    }
    for (uint32_t k = 0; k < t->f.y_n; k++) print_room(b, "cotangent of ", &t->f.y[k], t->ct.x[k]);
    if (element != UINT64_MAX) print_element(b, t, element);
    for (uint32_t i = 0; i < t->f.x_n; i++)
        if (v->x[i]) print_room(b, "direction of ", &t->f.x[i], v->x[i]);
    print_number(b, "expected", f.expected, " by dual numbers");
    if (f.has_other) print_number(b, "        ", f.other, " by differences");
    print_number(b, "got     ", f.got, " of the backward");
    print_number(b, "bound   ", f.bound, "");
    return true;
}
