/* gradcheck_point.c: a case opened, points and cotangents drawn, the forward and the backward run there. */
#include "base/math.h"
#include "regime/gradcheck_int.h"

enum { ATTEMPTS = 24, MODES = 5 };
static const uint64_t WORK_MAX = (uint64_t)1 << 24;

/* ---- opening ------------------------------------------------------------------------ */

static bool room_for(gr_arena *a, const gr_gc_tensor *t, uint32_t n, gr_gc_room *out) {
    for (uint32_t i = 0; i < n; i++) {
        out->x[i] = NULL;
        if (t[i].role == GC_FIXED) continue;
        out->x[i] = GR_NEW_N(a, double, (size_t)t[i].n + 1);
        GR_TRY(out->x[i]);
    }
    return true;
}

static bool make_rooms(gr_gc_trial *t, gr_diags *d) {
    const gr_gc_function *f = &t->f;
    gr_gc_room *by_x[] = {&t->x, &t->g, &t->slice, &t->v, &t->moved}, *by_y[] = {&t->ct, &t->y, &t->plus};
    for (size_t i = 0; i < sizeof by_x / sizeof *by_x; i++)
        if (!room_for(&t->arena, f->x, f->x_n, by_x[i])) return gr_report_oom(d);
    for (size_t i = 0; i < sizeof by_y / sizeof *by_y; i++)
        if (!room_for(&t->arena, f->y, f->y_n, by_y[i])) return gr_report_oom(d);
    for (uint32_t i = 0; i < f->x_n; i++) {
        const gr_type *x = &f->x[i].type;
        uint64_t dims[GR_RANK_MAX];
        if (x->dtype == GR_DTYPE_NONE) continue;
        for (uint32_t k = 0; k < x->rank; k++) dims[k] = x->dim[k].n;
        GR_TRY(gr_array_new(&t->arena, d, x->dtype, dims, x->rank, &t->in[i]));
    }
    return true;
}

uint64_t gr_gc_trial_elements(const gr_gc_trial *t) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->f.x_n; i++) n += t->f.x[i].role == GC_FIXED ? 0 : t->f.x[i].n;
    return n;
}

/* Floats on both sides, all in f32: f16 rounds on the way, which is no smooth function. */
static bool fit(const gr_case *c) {
    uint64_t n = 0, in = 0, out = 0;
    for (uint32_t i = 0; i < c->call.operands_n + c->call.outputs_n; i++) {
        bool is_output = i >= c->call.operands_n;
        const gr_type *t = is_output ? &c->call.outputs[i - c->call.operands_n] : &c->call.operands[i];
        if (t->dtype == GR_DTYPE_F16 || t->dtype == GR_DTYPE_F64) return false;
        gr_type_count(t, &n);
        if (t->dtype == GR_DTYPE_F32) *(is_output ? &out : &in) += n;
    }
    return in && out;
}

gr_gc_opened gr_gc_trial_open(gr_gc_trial *t, gr_diags *d, const gr_setting *g, const gr_spec *s, bool second, gr_str *why) {
    gr_exec_options dual = {.threads = 1, .dual = true}, wide = {.threads = 1, .wide = true, .trace = true}, plain = {.threads = 1, .wide = true};
    bool missing;
    *t = (gr_gc_trial){0};
    if (!gr_spec_resolve(&t->arena, g->op, s, &t->c)) return gr_report_oom(d), GC_OPEN_ERROR;
    if (!fit(&t->c)) return GC_OPEN_UNFIT;
    if (!gr_gc_function_make(&t->arena, d, g->catalog, &t->c, second, &t->f, why)) return why->n ? GC_OPEN_NO_GRADIENT : GC_OPEN_ERROR;
    if (t->f.y_n == 0 || gr_gc_trial_elements(t) == 0) return GC_OPEN_UNFIT;
    bool ok = gr_gc_open(&t->dual, d, g->catalog, &t->f.forward, NULL, &dual, &missing) &&
              gr_gc_open(&t->wide, d, g->catalog, &t->f.forward, NULL, &wide, &missing) &&
              gr_gc_open(&t->back, d, g->catalog, &t->f.gradient, NULL, &plain, &missing);
    if (!ok || !make_rooms(t, d)) return GC_OPEN_ERROR;
    t->work = t->back.plan.work;
    return t->work > WORK_MAX ? GC_OPEN_UNFIT : GC_OPEN_DONE;
}

void gr_gc_trial_close(gr_gc_trial *t) {
    gr_gc_close(&t->dual);
    gr_gc_close(&t->wide);
    gr_gc_close(&t->back);
    gr_gc_close(&t->bounded);
    gr_arena_free(&t->arena);
}

/* ---- running ------------------------------------------------------------------------- */

static bool write_wide(gr_gc_side *s, gr_diags *d, const gr_gc_function *f, const gr_gc_room *x) {
    for (uint32_t i = 0; i < f->x_n; i++)
        if (x->x[i] && f->x[i].n && s->x[i] != GR_NO_VALUE) GR_TRY(s->api->write_wide(s->exec, d, s->x[i], x->x[i], f->x[i].n));
    return true;
}

bool gr_gc_forward(gr_gc_trial *t, gr_diags *d, const gr_gc_room *x, gr_gc_room *y, uint64_t *trace, bool *finite) {
    gr_gc_side *s = &t->wide;
    GR_TRY(write_wide(s, d, &t->f, x) && gr_gc_submit(s, d));
    *finite = true;
    *trace = s->api->trace(s->exec, s->ticket);
    for (uint32_t k = 0; k < t->f.y_n; k++) {
        uint64_t n, count = t->f.y[k].n;
        if (count == 0) continue;
        const double *r = s->api->output_wide(s->exec, s->ticket, s->out[k], &n);
        if (!r) return GR_BUG(d, "R7", "output %u was not read back", k);
        s->api->output(s->exec, s->ticket, s->out[k], &n, &count);
        t->live[k] = count < t->f.y[k].n ? count : t->f.y[k].n;
        for (uint64_t i = 0; i < t->live[k]; i++) *finite = *finite && gr_gc_finite(y->x[k][i] = r[i]);
    }
    return true;
}

/* The same shape as its operand or not at all: a gradient of another shape is our bug, which lowering would have met. */
bool gr_gc_backward(gr_gc_trial *t, gr_diags *d, const gr_gc_room *x, const gr_gc_room *ct, gr_gc_room *g) {
    gr_gc_side *s = &t->back;
    GR_TRY(write_wide(s, d, &t->f, x));
    for (uint32_t k = 0; k < t->f.y_n; k++)
        if (t->f.y[k].n && s->c[k] != GR_NO_VALUE) GR_TRY(s->api->write_wide(s->exec, d, s->c[k], ct->x[k], t->f.y[k].n));
    GR_TRY(gr_gc_submit(s, d));
    for (uint32_t i = 0; i < t->f.x_n; i++) {
        uint64_t n = 0;
        if (!g->x[i]) continue;
        memset(g->x[i], 0, (size_t)t->f.x[i].n * sizeof(double));
        if (t->f.x[i].role != GC_CHECKED || s->out[i] == GR_NO_VALUE || t->f.x[i].n == 0) continue;
        const double *r = s->api->output_wide(s->exec, s->ticket, s->out[i], &n);
        if (!r || n < t->f.x[i].n) return GR_BUG(d, "R7", "gradient %u was not read back", i);
        memcpy(g->x[i], r, (size_t)t->f.x[i].n * sizeof(double));
    }
    return true;
}

bool gr_gc_noise(gr_gc_trial *t, gr_diags *d, const gr_catalog *catalog) {
    gr_regime_device exact = gr_regime_oracle();
    gr_exec_options o = {.threads = 1, .bounded = true, .accuracy = exact.accuracy, .accuracy_n = exact.accuracy_n};
    gr_gc_side *s = &t->bounded;
    bool missing;
    if (t->noise >= 0) return true;
    GR_TRY(s->exec || gr_gc_open(s, d, catalog, &t->f.forward, NULL, &o, &missing));
    for (uint32_t i = 0; i < t->f.x_n; i++)
        if (t->in[i].dtype != GR_DTYPE_NONE) GR_TRY(gr_gc_write(s, d, s->x[i], &t->in[i], t->x.x[i]));
    GR_TRY(gr_gc_submit(s, d));
    t->noise = 0;
    for (uint32_t k = 0; k < t->f.y_n; k++) {
        const double *bound, *gross;
        const uint8_t *mark;
        if (t->live[k] == 0 || !s->api->output_bound(s->exec, s->ticket, s->out[k], &bound, &gross, &mark)) continue;
        for (uint64_t i = 0; i < t->live[k]; i++) {
            double noise = gr_fabs(t->ct.x[k][i]) * bound[i] * 0x1p-29;
            if (gr_gc_finite(noise)) t->noise += noise;
        }
    }
    return true;
}

/* ---- points --------------------------------------------------------------------------- */

static double normal(gr_rng *r) {
    double u = 1 - gr_rng_f64(r), v = gr_rng_f64(r);
    return gr_sqrt(-2 * gr_log(u)) * gr_cos(6.283185307179586 * v);
}

/* Magnitudes: of a normal number, of wide range (2^-range .. 2^range), or on the grid. */
static double magnitude(gr_rng *r, gr_gc_points kind, double range) {
    if (kind == GC_GRID) return 0.5 * (double)gr_rng_below(r, 5);
    if (kind == GC_NORMAL) return gr_fabs(normal(r));
    double e = (2 * gr_rng_f64(r) - 1) * range, whole = gr_floor(e);
    return gr_ldexp(1 + (e - whole), (int)whole);
}

/* Modes: any sign; positive; in (0, 1); above 1; in (-1, 1). */
static double draw(gr_rng *r, gr_gc_points kind, uint8_t mode, double range) {
    double m = magnitude(r, kind, range), sign = gr_rng_below(r, 2) ? 1 : -1;
    double inner = kind == GC_GRID ? 0.25 * (1 + gr_rng_below(r, 3)) : kind == GC_SPREAD && m > 1 ? 1 / (1 + m) : 0.05 + 0.9 * gr_rng_f64(r);
    switch (mode) {
        case 1: return m > 0 ? m : 0.5;
        case 2: return inner;
        case 3: return 1 + (m > 0 ? m : 0.5);
        case 4: return sign * inner;
        default: return sign * m;
    }
}

/* The exclusive end of legal indices: along `axis` where there is such a parameter, else along the shortest axis. */
static uint32_t index_end(const gr_call *c) {
    uint64_t end = UINT32_MAX;
    for (uint32_t i = 0; i < c->op->sig.params_n; i++)
        if (gr_str_eqz(c->op->sig.params[i].name, "axis") && c->params[i].i >= 0 && (uint64_t)c->params[i].i < c->operands[0].rank)
            return (uint32_t)c->operands[0].dim[c->params[i].i].n;
    for (uint32_t k = 0; k < c->operands[0].rank; k++)
        if (c->operands[0].dim[k].n < end) end = c->operands[0].dim[k].n;
    return end == UINT32_MAX || end == 0 ? 1 : (uint32_t)end;
}

static bool is_index(const gr_call *c, uint32_t i) {
    uint32_t o = 0;
    while (o + 1 < c->op->sig.operands_n && c->operand_first[o + 1] <= i) o++;
    for (uint32_t k = 0; k < c->op->index_n; k++)
        if (gr_str_eq(c->op->index[k], c->op->sig.operands[o].name)) return true;
    return false;
}

static void draw_integers(gr_gc_trial *t, uint32_t i) {
    gr_array *x = &t->in[i];
    uint32_t end = x->dtype == GR_DTYPE_BOOL ? 2 : is_index(&t->c.call, i) ? index_end(&t->c.call) : 4;
    for (uint64_t k = 0, n = gr_array_count(x); k < n; k++) gr_array_set_i64(x, k, gr_rng_below(&t->r, end ? end : 1));
}

/* Rounded to f32, so that the point can be printed and run on a device. */
static void draw_point(gr_gc_trial *t, gr_gc_points kind, const uint8_t *mode, double range) {
    for (uint32_t i = 0; i < t->f.x_n; i++) {
        if (t->in[i].dtype == GR_DTYPE_NONE) continue;
        if (t->f.x[i].role == GC_FIXED) {
            draw_integers(t, i);
            continue;
        }
        for (uint64_t k = 0; k < t->f.x[i].n; k++) {
            gr_array_set_f64(&t->in[i], k, draw(&t->r, kind, mode[i], range));
            t->x.x[i][k] = gr_array_get_f64(&t->in[i], k);
        }
    }
}

/* From 0.5 to 1.5 with either sign: no result is left out by chance. */
static void draw_cotangent(gr_gc_trial *t) {
    t->contributions = t->flush = 0;
    t->noise = -1;
    for (uint32_t k = 0; k < t->f.y_n; k++)
        for (uint64_t i = 0; i < t->f.y[k].n; i++) {
            double c = (0.5 + gr_rng_f64(&t->r)) * (gr_rng_below(&t->r, 2) ? 1 : -1);
            t->ct.x[k][i] = i < t->live[k] ? c : 0;
            if (i >= t->live[k]) continue;
            t->contributions += gr_fabs(c * t->y.x[k][i]);
            t->flush += 0x1p-50 * gr_fabs(c);
        }
}

/* What a backward gives that takes the first slice where it should sum: of the cotangent only elements stay whose index
 * along the first axis longer than 1 is 0. */
static bool cut_slice(gr_gc_trial *t, gr_diags *d) {
    bool cut = false;
    for (uint32_t k = 0; k < t->f.y_n; k++) {
        const gr_type *y = &t->f.y[k].type;
        uint64_t first = t->f.y[k].n;
        for (uint32_t i = 0; i < y->rank && first; i++) {
            if (y->dim[i].n <= 1) continue;
            first /= y->dim[i].n;
            break;
        }
        for (uint64_t i = 0; i < t->f.y[k].n; i++) t->plus.x[k][i] = i < first ? t->ct.x[k][i] : 0;
        cut = cut || first < t->f.y[k].n;
    }
    t->has_slice = cut;
    return !cut || gr_gc_backward(t, d, &t->x, &t->plus, &t->slice);
}

static bool write_point(gr_gc_trial *t, gr_diags *d) {
    gr_gc_side *side[] = {&t->dual, &t->wide, &t->back};
    for (int s = 0; s < 3; s++)
        for (uint32_t i = 0; i < t->f.x_n; i++)
            if (t->in[i].dtype != GR_DTYPE_NONE) GR_TRY(gr_gc_write(side[s], d, side[s]->x[i], &t->in[i], t->x.x[i]));
    for (uint32_t k = 0; k < t->f.y_n; k++) { /* storage; the content is written wide */
        gr_array zero;
        uint64_t dims[GR_RANK_MAX];
        if (t->back.c[k] == GR_NO_VALUE) continue;
        for (uint32_t i = 0; i < t->f.y[k].type.rank; i++) dims[i] = t->f.y[k].type.dim[i].n;
        GR_TRY(gr_array_new(&t->arena, d, t->f.y[k].type.dtype, dims, t->f.y[k].type.rank, &zero));
        GR_TRY(gr_gc_write(&t->back, d, t->back.c[k], &zero, NULL));
    }
    return true;
}

bool gr_gc_point(gr_gc_trial *t, gr_diags *d, gr_gc_domain *domain, gr_gc_points kind, bool *found) {
    static const double range[] = {16, 6, 2};
    uint8_t mode[RUN_TENSORS] = {0};
    t->grid = kind == GC_GRID;
    *found = false;
    for (uint32_t attempt = 0; attempt < ATTEMPTS && !*found; attempt++) {
        for (uint32_t i = 0; i < t->f.x_n && attempt; i++)
            mode[i] = attempt <= 3 && domain->known ? domain->mode[i] : (uint8_t)gr_rng_below(&t->r, MODES);
        draw_point(t, kind, mode, range[attempt % 3]);
        GR_TRY(write_point(t, d) && gr_gc_forward(t, d, &t->x, &t->y, &t->trace, found));
        if (!*found || attempt < 3) continue;
        memcpy(domain->mode, mode, sizeof mode);
        domain->known = true;
    }
    if (!*found) return true;
    draw_cotangent(t);
    return cut_slice(t, d) && gr_gc_backward(t, d, &t->x, &t->ct, &t->g);
}
