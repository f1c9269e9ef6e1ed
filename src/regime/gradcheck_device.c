/* gradcheck_device.c: the gradient graph of a case on a device, held to its bounded truth like a kernel. */
#include "regime/gradcheck_int.h"

typedef struct sides { gr_gc_side device, truth, f32; } sides;

static bool open_sides(sides *s, gr_gc_trial *t, gr_diags *d, const gr_setting *g, bool *missing) {
    const gr_regime_device *v = g->device;
    gr_exec_options plain = {.threads = 1};
    gr_exec_options bounded = {.threads = 1, .bounded = true, .flush_subnormals = v->flushes, .accuracy = v->accuracy, .accuracy_n = v->accuracy_n};
    bool ignored;
    *missing = false;
    return gr_gc_open(&s->device, d, g->catalog, &t->f.gradient, v, &plain, missing) &&
           gr_gc_open(&s->truth, d, g->catalog, &t->f.gradient, NULL, &bounded, &ignored) &&
           gr_gc_open(&s->f32, d, g->catalog, &t->f.gradient, NULL, &plain, &ignored);
}

static bool run_side(gr_gc_side *s, gr_gc_trial *t, gr_diags *d, const gr_array *ct) {
    for (uint32_t i = 0; i < t->f.x_n; i++)
        if (t->in[i].dtype != GR_DTYPE_NONE) GR_TRY(gr_gc_write(s, d, s->x[i], &t->in[i], NULL));
    for (uint32_t k = 0; k < t->f.y_n; k++) GR_TRY(gr_gc_write(s, d, s->c[k], &ct[k], NULL));
    return gr_gc_submit(s, d);
}

static bool make_cotangents(gr_gc_trial *t, gr_diags *d, gr_array *ct) {
    for (uint32_t k = 0; k < t->f.y_n; k++) {
        const gr_type *y = &t->f.y[k].type;
        uint64_t dims[GR_RANK_MAX];
        for (uint32_t i = 0; i < y->rank; i++) dims[i] = y->dim[i].n;
        GR_TRY(gr_array_new(&t->arena, d, y->dtype, dims, y->rank, &ct[k]));
        for (uint64_t i = 0; i < t->f.y[k].n; i++) gr_array_set_f64(&ct[k], i, t->ct.x[k][i]);
    }
    return true;
}

static bool read_back(gr_gc_side *s, gr_gc_trial *t, gr_diags *d, uint32_t i, gr_array *out) {
    uint64_t n, count;
    const void *bytes = s->api->output(s->exec, s->ticket, s->out[i], &n, &count);
    if (!bytes) return gr_report(d, GR_D_REGIME_NOT_RUN, (gr_place){0}, NULL, "a gradient was not read back");
    GR_TRY(gr_array_new(&t->arena, d, t->in[i].dtype, t->in[i].dims, t->in[i].rank, out));
    gr_unpack(out, bytes);
    return true;
}

static bool compare(sides *s, gr_gc_trial *t, gr_diags *d, const gr_setting *g, uint32_t i, gr_gradcheck *out, bool *failed) {
    gr_op as_default = *g->op;
    gr_truth y = {.step = 1};
    gr_array got;
    gr_fault fault = {0};
    uint64_t n;
    as_default.tolerance = GR_TOLERANCE_DEFAULT;
    as_default.category = GR_CATEGORY_REDUCTION;
    gr_judge j = {.op = &as_default, .factor = 1, .flushes = g->device->flushes};
    GR_TRY(read_back(&s->device, t, d, i, &got) && read_back(&s->truth, t, d, i, &y.expected) && read_back(&s->f32, t, d, i, &y.f32));
    y.r = s->truth.api->output_wide(s->truth.exec, s->truth.ticket, s->truth.out[i], &n);
    if (!y.r || !s->truth.api->output_bound(s->truth.exec, s->truth.ticket, s->truth.out[i], &y.b, &y.c, &y.mark)) return GR_BUG(d, "R2", "no bounds of gradient %u", i);
    for (uint64_t k = 0, m = gr_array_count(&got); k < m; k++) gr_array_set_f64(&y.expected, k, y.r[k]);
    gr_compare(&j, &y, &got, &out->device_counts, &out->device_worst, &fault);
    *failed = *failed || fault.found;
    return true;
}

bool gr_gc_on_device(gr_gc_trial *t, gr_diags *d, const gr_setting *g, gr_gc_domain *domain, gr_gradcheck *out, bool *failed) {
    sides s = {0};
    gr_array ct[RUN_TENSORS];
    bool found, missing = false;
    GR_TRY(gr_gc_point(t, d, domain, GC_NORMAL, &found));
    if (!found) return true;
    bool ok = open_sides(&s, t, d, g, &missing) && make_cotangents(t, d, ct) && run_side(&s.device, t, d, ct) && run_side(&s.truth, t, d, ct) &&
              run_side(&s.f32, t, d, ct);
    for (uint32_t i = 0; ok && i < t->f.x_n; i++)
        if (t->f.x[i].role == GC_CHECKED && t->f.x[i].n && s.device.out[i] != GR_NO_VALUE) ok = compare(&s, t, d, g, i, out, failed);
    out->device_cases += ok;
    gr_gc_close(&s.device);
    gr_gc_close(&s.truth);
    gr_gc_close(&s.f32);
    return ok || missing;
}
