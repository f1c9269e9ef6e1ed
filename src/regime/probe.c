/* probe.c: what random values do not show: the influence of single elements, cut calls, state that lingers. */
#include "base/math.h"
#include "regime/conform_int.h"

enum { FAR = 512, FAR_HALF = 37, PIECE_ALIGN = 1024 };

static gr_array copy_of(gr_trial *t, const gr_array *x) {
    gr_array y = *x;
    y.data = gr_arena_alloc(&t->arena, x->bytes + 16, 1);
    if (y.data) memcpy(y.data, x->data, x->bytes);
    return y;
}

/* First, last, at the edges of tiles, or anywhere. */
uint64_t gr_probe_place(uint64_t n, uint32_t turn) {
    static const uint64_t edge[] = {0, UINT64_MAX, 63, 64, 65, 255, 256, 127, 15, 16};
    uint32_t k = turn % 13;
    uint64_t at = k < 10 ? edge[k] : turn * 2654435761u;
    return k == 1 ? n - 1 : k < 10 && at >= n ? n - 1 - at % n : at % n;
}

void gr_probe_move(gr_array *x, uint64_t i) {
    if (x->dtype == GR_DTYPE_BOOL) {
        gr_array_set_i64(x, i, gr_array_get_f64(x, i) == 0);
    } else if (gr_dtype_is_float(x->dtype)) {
        double v = gr_array_get_f64(x, i), far = x->dtype == GR_DTYPE_F16 ? FAR_HALF : FAR;
        gr_array_set_f64(x, i, v < 0 ? v - far : v + far);
    } else {
        gr_array_set_i64(x, i, (int64_t)gr_array_get_f64(x, i) + 3);
    }
}

static uint32_t signature_operand(const gr_trial *t, uint32_t flat) {
    uint32_t o = 0;
    while (o + 1 < t->c.call.op->sig.operands_n && t->c.call.operand_first[o + 1] <= flat) o++;
    return o;
}

static bool any_change(const gr_array *x, const gr_array *y, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!gr_array_same_bits(&x[i], &y[i])) return true;
    return false;
}

/* Both runs agree with the reference within its tolerance, hence so do their changes; a change that the tolerance would hide counts
 * in `seen`. */
static bool probe_one(gr_trial *t, gr_diags *d, const gr_setting *g, uint32_t flat, uint64_t at, gr_influence *seen, gr_fail *f) {
    gr_array in[RUN_TENSORS], was[RUN_TENSORS], got[RUN_TENSORS], expected[RUN_TENSORS], now[RUN_TENSORS];
    gr_truth y[RUN_TENSORS]; /* of the operands as they were: the next probe compares with it again */
    gr_counts ignored = {0};
    double worst = 0;
    memcpy(in, t->in, sizeof in);
    memcpy(was, t->in, sizeof was);
    memcpy(got, t->got, sizeof got);
    memcpy(y, t->y, sizeof y);
    in[flat] = copy_of(t, &t->in[flat]);
    if (!in[flat].data) return gr_report_oom(d);
    gr_probe_move(&in[flat], at);
    for (uint32_t i = 0; i < t->truth.out_n; i++) expected[i] = t->y[i].expected;
    if (!gr_trial_rerun(t, d, in, t->got)) return gr_fail_say(f, "with element %llu of operand %u moved far, the kernel does not run", (unsigned long long)at, flat);
    memcpy(t->in, in, sizeof in);
    GR_TRY(gr_trial_truth(t, d) && gr_trial_compare(t, d, g, GR_VALUES_SMALL, t->oracle, t->got, &ignored, &worst, f));
    for (uint32_t i = 0; i < t->truth.out_n; i++) now[i] = t->y[i].expected;
    seen->probes++;
    seen->reference += any_change(expected, now, t->truth.out_n);
    seen->kernel += any_change(got, t->got, t->truth.out_n);
    if (f->failed) return gr_fail_say(f, "a result differs from the reference once element %llu of operand %u is moved far", (unsigned long long)at, flat);
    memcpy(t->in, was, sizeof was);
    memcpy(t->got, got, sizeof got);
    memcpy(t->y, y, sizeof y);
    return true;
}

bool gr_probe_influence(gr_trial *t, gr_diags *d, const gr_setting *g, uint32_t turn, gr_influence *seen, gr_fail *f) {
    for (uint32_t i = 0; i < t->c.call.operands_n && !f->failed; i++) {
        uint64_t n = t->in[i].dtype == GR_DTYPE_NONE ? 0 : gr_array_count(&t->in[i]);
        if (n) GR_TRY(probe_one(t, d, g, i, gr_probe_place(n, turn + i), &seen[signature_operand(t, i)], f));
    }
    return true;
}

/* ---- pieces ------------------------------------------------------------------------------- */

static uint64_t largest_bytes(const gr_call *c) {
    uint64_t most = 0, n = 0;
    for (uint32_t i = 0; i < c->operands_n + c->outputs_n; i++) {
        const gr_type *x = i < c->operands_n ? &c->operands[i] : &c->outputs[i - c->operands_n];
        if (x->dtype != GR_DTYPE_NONE && gr_type_device_bytes(x, &n) && n > most) most = n;
    }
    return most;
}

/* A third of the largest tensor, aligned. */
static uint64_t piece_bytes(const gr_call *c) { return (largest_bytes(c) / 3 + PIECE_ALIGN) / PIECE_ALIGN * PIECE_ALIGN; }

bool gr_probe_divisible(const gr_call *c) { return largest_bytes(c) > piece_bytes(c); }

/* Of the same kernels, without a combination of parts: then a piece has the same bits as the whole. */
static bool same_kernels(const gr_plan *x, const gr_plan *y) {
    for (uint32_t i = 0; i < x->kernels_n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < y->kernels_n; k++) found = found || gr_sha256_eq(x->kernels[i].hash, y->kernels[k].hash);
        if (!found) return false;
    }
    return true;
}

static bool combines(const gr_op *op) {
    bool yes = false;
    for (uint32_t i = 0; i < op->splits_n; i++) yes = yes || op->splits[i].combine.n;
    for (uint32_t k = 0; k < op->kernels_n; k++)
        for (uint32_t i = 0; i < op->kernels[k].binding.splits_n; i++) yes = yes || op->kernels[k].binding.splits[i].combine.n;
    return yes;
}

/* A clause for any axis (`split *`) spares some; another names the dimension that it cuts. */
static bool names_dimension(const gr_kernel_decl *k) {
    bool yes = false;
    for (uint32_t i = 0; i < k->binding.splits_n; i++) yes = yes || k->binding.splits[i].dim.n;
    return yes;
}

/* Whether something can be left to cut beside the largest dimension, which may be the one that is spared: two rows at least. */
static bool has_rows(const gr_call *c) {
    for (uint32_t i = 0; i < c->operands_n; i++) {
        uint64_t n = 0, most = 1;
        for (uint32_t k = 0; k < c->operands[i].rank; k++) most = c->operands[i].dim[k].n > most ? c->operands[i].dim[k].n : most;
        if (c->operands[i].dtype != GR_DTYPE_NONE && gr_type_count(&c->operands[i], &n) && n >= 2 * most) return true;
    }
    return false;
}

/* Opens the call with a binding limit so small that it must be cut, in three or, where that cannot be, in two. */
static bool open_cut(gr_trial *t, gr_diags *quiet, const gr_setting *g, const gr_spec *s, uint64_t *limit, gr_side *side) {
    gr_target target = gr_trial_target(g, s);
    gr_exec_options plain = {.threads = 1, .step_limit = g->step_limit};
    bool missing;
    const uint64_t limits[] = {piece_bytes(&t->c.call), (largest_bytes(&t->c.call) / 2 + PIECE_ALIGN) / PIECE_ALIGN * PIECE_ALIGN};
    for (uint32_t i = 0; i < 2; i++) {
        target.max_storage_binding = *limit = limits[i];
        if (i && limits[i] >= largest_bytes(&t->c.call)) return false;
        if (gr_side_open(side, quiet, g, &t->c, &target, g->device->api, g->device->device, &plain, true, &missing)) return true;
    }
    return false;
}

bool gr_probe_pieces(gr_trial *t, gr_diags *d, const gr_setting *g, const gr_spec *s, gr_values v, gr_pieces *seen, gr_fail *f) {
    uint64_t limit = 0;
    gr_side side;
    gr_array got[RUN_TENSORS];
    gr_counts ignored = {0};
    double worst = 0;
    int changed = -1;
    bool fence = false;
    gr_diags quiet;
    if (!gr_probe_divisible(&t->c.call)) return true;
    seen->tried++;
    seen->able += t->which < 0 || names_dimension(&g->op->kernels[t->which]) || has_rows(&t->c.call);
    gr_diags_init(&quiet);
    bool open = open_cut(t, &quiet, g, s, &limit, &side);
    bool cut = open && gr_side_run(&side, &quiet, t->in, 0x3c, got, &changed, &fence);
    bool stopped = open && !cut;
    seen->cut += cut;
    gr_diags_free(&quiet);
    if (stopped) gr_fail_say(f, "split into pieces of at most %llu bytes, the call does not run", (unsigned long long)limit);
    bool exact = cut && !combines(g->op) && same_kernels(&side.plan, &t->kernel.plan);
    for (uint32_t i = 0; exact && i < side.out_n && !f->failed; i++)
        gr_results_differ(&t->got[i], &got[i], i, "split into pieces, the call gives another result", f);
    bool ok = !cut || exact || gr_trial_compare(t, d, g, v, t->oracle, got, &ignored, &worst, f);
    if (ok && f->failed && cut) {
        for (uint32_t i = 0; i < side.out_n; i++) t->got[i] = copy_of(t, &got[i]);
        gr_fail_say(f, "split into pieces of at most %llu bytes, the call gives another result", (unsigned long long)limit);
    }
    if (open) gr_side_close(&side);
    return ok;
}

bool gr_probe_again(gr_trial *t, gr_diags *d, const gr_array *in, const gr_array *got, gr_fail *f) {
    gr_array again[RUN_TENSORS];
    if (!gr_trial_rerun(t, d, in, again)) return gr_fail_say(f, "the kernel does not run again");
    for (uint32_t i = 0; i < t->kernel.out_n && !f->failed; i++)
        gr_results_differ(&got[i], &again[i], i, "after runs on other operands, the same operands give another result", f);
    if (!f->failed) return true;
    memcpy(t->in, in, sizeof t->in);
    memcpy(t->got, again, sizeof t->got);
    t->has_truth = false;
    return true;
}
