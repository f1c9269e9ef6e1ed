/* conform.c: one case on all sides: the kernel, the kernel on the evaluator with checks, the reference bounded and in f32. */
#include "base/math.h"
#include "regime/conform_int.h"

#include <stdio.h>

/* ---- one spec opened on all sides ------------------------------------------------------ */

static bool open_truth(gr_trial *t, gr_diags *d, const gr_setting *g) {
    gr_target target = gr_target_oracle();
    bool missing;
    target.reference = true;
    gr_exec_options bounded = {.threads = 1, .bounded = true, .flush_subnormals = g->device->flushes,
                               .any_order = g->op->category == GR_CATEGORY_REDUCTION || g->op->tolerance == GR_TOLERANCE_DEFAULT || g->op->tolerance == GR_TOLERANCE_LOOSE,
                               .accuracy = g->device->accuracy, .accuracy_n = g->device->accuracy_n};
    gr_exec_options f32 = {.threads = 1, .run_limit = g->run_limit};
    gr_setting of_reference = *g;
    of_reference.op = g->reference;
    return gr_side_open(&t->truth, d, &of_reference, &t->c, &target, gr_oracle_api(), NULL, &bounded, false, &missing) &&
           gr_side_open(&t->f32, d, &of_reference, &t->c, &target, gr_oracle_api(), NULL, &f32, false, &missing);
}

/* The kernel on the evaluator, with checks and in the opposite order of invocations: beside a GPU it says what IEEE arithmetic would
 * give, where it can be evaluated at all. */
static bool open_sane(gr_trial *t, gr_diags *d, const gr_setting *g, const gr_target *target) {
    gr_exec_options sane = {.threads = 1, .step_limit = g->step_limit, .sanitize = true, .reverse = true};
    gr_diags quiet;
    bool missing;
    if (t->oracle) return gr_side_open(&t->sane, d, g, &t->c, target, gr_oracle_api(), NULL, &sane, false, &missing);
    gr_diags_init(&quiet);
    gr_side_open(&t->sane, &quiet, g, &t->c, target, gr_oracle_api(), NULL, &sane, false, &missing);
    gr_diags_free(&quiet);
    return true;
}

gr_target gr_trial_target(const gr_setting *g, const gr_spec *s) {
    gr_target t = g->device->target;
    t.kernels = t.kind == GR_TARGET_ORACLE;
    if (s->fold) t.max_groups = FOLD_GROUPS;
    return t;
}

bool gr_trial_open(gr_trial *t, gr_diags *d, const gr_setting *g, const gr_spec *s, bool *missing) {
    const gr_regime_device *v = g->device;
    gr_target target = gr_trial_target(g, s);
    gr_exec_options plain = {.threads = 1, .step_limit = g->step_limit};
    *t = (gr_trial){.oracle = target.kind == GR_TARGET_ORACLE};
    *missing = false;
    if (!gr_spec_resolve(&t->arena, g->op, s, &t->c)) return gr_report_oom(d);
    t->which = gr_kernel_which(&target, g->tier, &t->c.call);
    t->unordered = t->which >= 0 && g->op->kernels[t->which].order == GR_ORDER_UNORDERED;
    if (!gr_side_open(&t->kernel, d, g, &t->c, &target, v->api, v->device, &plain, true, missing)) return false;
    return open_sane(t, d, g, &target) && open_truth(t, d, g);
}

void gr_trial_close(gr_trial *t) {
    gr_side_close(&t->kernel);
    gr_side_close(&t->sane);
    gr_side_close(&t->truth);
    gr_side_close(&t->f32);
    gr_arena_free(&t->arena);
}

/* ---- one run ------------------------------------------------------------------------------ */

static bool fill_inputs(gr_trial *t, gr_diags *d, gr_values v, uint64_t seed) {
    gr_rng r = gr_rng_seed(seed ^ ((uint64_t)v << 56));
    for (uint32_t i = 0; i < t->c.call.operands_n; i++) {
        const gr_type *x = &t->c.call.operands[i];
        uint64_t dims[GR_RANK_MAX];
        if (x->dtype == GR_DTYPE_NONE) continue;
        for (uint32_t k = 0; k < x->rank; k++) dims[k] = x->dim[k].n;
        GR_TRY(gr_array_new(&t->arena, d, x->dtype, dims, x->rank, &t->in[i]));
        gr_values_fill(&t->in[i], v, &r);
    }
    return true;
}

static void judge_inputs(const gr_trial *t, const gr_setting *g, bool strict, gr_judge *j) {
    *j = (gr_judge){.op = g->op, .factor = g->tier == GR_TIER_FAST && t->unordered ? 2 : 1, .strict = strict, .flushes = g->device->flushes && !strict,
                    .selects_zero = g->device->flushes_selections && !strict && g->op->category != GR_CATEGORY_MOVEMENT};
    for (uint32_t i = 0; i < t->c.call.operands_n; i++) {
        const gr_array *x = &t->in[i];
        if (!gr_dtype_is_float(x->dtype)) continue;
        for (uint64_t k = 0, n = gr_array_count(x); k < n; k++) {
            double v = gr_fabs(gr_array_get_f64(x, k));
            if (v != v) j->has_nan = true;
            if (v - v != 0) j->has_special = true;
            if (v > 0 && v < (x->dtype == GR_DTYPE_F16 ? 0x1p-14 : 0x1p-126)) j->has_subnormal = true;
        }
    }
}

bool gr_fail_say(gr_fail *f, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->reason, sizeof f->reason, fmt, ap);
    va_end(ap);
    f->failed = true;
    return true;
}

/* Runs the kernel; what it does wrong by itself is a failure of the case, what the device does is an error. */
static bool run_kernel(gr_side *s, gr_diags *d, const gr_array *in, uint8_t poison, gr_array *out, gr_fail *f) {
    gr_diags own;
    int changed = -1;
    bool fence = false;
    gr_diags_init(&own);
    bool ok = gr_side_run(s, &own, in, poison, out, &changed, &fence);
    if (!ok && own.worst == GR_DIAG_USER && own.list.n) gr_fail_say(f, "the kernel's run was stopped: %.*s", GR_STR_ARG(own.list.v[0].message));
    else if (!ok && own.list.n) gr_report(d, own.list.v[0].name, own.list.v[0].place, NULL, "%.*s", GR_STR_ARG(own.list.v[0].message));
    gr_diags_free(&own);
    if (changed >= 0) gr_fail_say(f, "operand %d was changed", changed);
    if (fence) gr_fail_say(f, "something was written behind an output");
    return ok || f->failed;
}

void gr_results_differ(const gr_array *x, const gr_array *y, uint32_t output, const char *what, gr_fail *f) {
    uint32_t size = gr_dtype_size(x->dtype);
    if (gr_array_count(x) != gr_array_count(y)) {
        gr_fail_say(f, "%s in the number of elements", what);
        f->output = output;
        return;
    }
    for (uint64_t i = 0, n = gr_array_count(x); i < n; i++)
        if (memcmp((const uint8_t *)x->data + i * size, (const uint8_t *)y->data + i * size, size)) {
            gr_fail_say(f, "%s", what);
            f->output = output;
            f->at = i;
            f->has_element = true;
            return;
        }
}

/* The second poison is NaN, so that reading it cannot be hidden by a factor of 0. */
static bool run_kernels(gr_trial *t, gr_diags *d, gr_fail *f) {
    gr_array again[RUN_TENSORS];
    GR_TRY(run_kernel(&t->kernel, d, t->in, 0x3c, t->got, f));
    if (f->failed) return true;
    t->has_got = true;
    GR_TRY(run_kernel(&t->kernel, d, t->in, 0xff, again, f));
    for (uint32_t i = 0; i < t->kernel.out_n && !f->failed && !t->unordered; i++)
        gr_results_differ(&t->got[i], &again[i], i, "an element is not written, or two runs differ", f);
    if (f->failed || !t->sane.exec) return true;
    GR_TRY(run_kernel(&t->sane, d, t->in, 0x3c, t->evaluated, f));
    for (uint32_t i = 0; i < t->kernel.out_n && !f->failed && t->oracle && !t->unordered; i++)
        gr_results_differ(&t->got[i], &t->evaluated[i], i,
                          "the sanitizer's run, with invocations in the opposite order and storage that nothing has written, differs", f);
    return true;
}

/* Rounds the widened result to the output's dtype. */
static bool make_truth(gr_trial *t, gr_diags *d, uint32_t i, gr_array *bytes, gr_array *f32) {
    gr_truth *y = &t->y[i];
    gr_value_id v = t->truth.out_value[i];
    uint64_t n = 0;
    static const double zero = 0;
    static const uint8_t unmarked = 0;
    *y = (gr_truth){.expected = *bytes, .f32 = *f32, .r = &zero, .b = &zero, .c = &zero, .mark = &unmarked, .step = 1};
    if (gr_array_count(bytes) == 0) return true;
    if (bytes->dtype == GR_DTYPE_I64 || bytes->dtype == GR_DTYPE_U64) y->step = 2;
    y->r = t->truth.api->output_wide(t->truth.exec, t->truth.ticket, v, &n);
    if (!y->r || !t->truth.api->output_bound(t->truth.exec, t->truth.ticket, v, &y->b, &y->c, &y->mark)) return GR_BUG(d, "R2", "no bounds of output %u", i);
    if (gr_dtype_is_float(bytes->dtype))
        for (uint64_t k = 0, m = gr_array_count(bytes); k < m; k++) gr_array_set_f64(&y->expected, k, y->r[k]);
    return true;
}

bool gr_trial_truth(gr_trial *t, gr_diags *d) {
    gr_array bytes[RUN_TENSORS], f32[RUN_TENSORS];
    int changed;
    bool fence;
    GR_TRY(gr_side_run(&t->truth, d, t->in, 0, bytes, &changed, &fence) && gr_side_run(&t->f32, d, t->in, 0, f32, &changed, &fence));
    for (uint32_t i = 0; i < t->truth.out_n; i++) GR_TRY(make_truth(t, d, i, &bytes[i], &f32[i]));
    return true;
}

/* The reference in f32 on magnitudes of at least (or at most) 1: no partial product in any order is larger (or smaller) than that result. */
static bool run_beyond(gr_trial *t, gr_diags *d, bool least) {
    gr_array in[RUN_TENSORS], out[RUN_TENSORS];
    int changed;
    bool fence;
    for (uint32_t i = 0; i < t->c.call.operands_n; i++) {
        in[i] = t->in[i];
        if (!gr_dtype_is_float(in[i].dtype)) continue;
        GR_TRY(gr_array_new(&t->arena, d, in[i].dtype, in[i].dims, in[i].rank, &in[i]));
        for (uint64_t k = 0, n = gr_array_count(&in[i]); k < n; k++) {
            double v = gr_fabs(gr_array_get_f64(&t->in[i], k));
            bool beyond = least ? v > 1 && v - v == 0 : v > 0 && v < 1;
            gr_array_set_f64(&in[i], k, beyond ? v : 1);
        }
    }
    GR_TRY(gr_side_run(&t->f32, d, in, 0, out, &changed, &fence));
    for (uint32_t i = 0; i < t->truth.out_n; i++) {
        double small = out[i].dtype == GR_DTYPE_F16 ? 0x1p-14 : 0x1p-126;
        uint64_t n = gr_dtype_is_float(out[i].dtype) ? gr_array_count(&out[i]) : 0;
        if (n && !t->y[i].leaves && !(t->y[i].leaves = gr_arena_alloc(&t->arena, (size_t)n, 1))) return gr_report_oom(d);
        for (uint64_t k = 0; k < n; k++) {
            double v = gr_fabs(gr_array_get_f64(&out[i], k));
            if (least ? v - v != 0 : v < small) t->y[i].leaves[k] = 1;
        }
    }
    return true;
}

static void compare_all(const gr_judge *judge, const gr_trial *t, gr_values v, const gr_array *got, gr_counts *counts, double *worst, gr_fail *f) {
    gr_judge j = *judge;
    for (uint32_t i = 0; i < t->truth.out_n; i++) {
        gr_fault fault = {0};
        bool other = gr_array_count(&got[i]) != gr_array_count(&t->y[i].expected);
        if (other && j.selects_zero && j.has_subnormal) { /* what is chosen by comparisons with 0 */
            counts->out_of_domain += gr_array_count(&got[i]);
            continue;
        }
        if (other) {
            if (!f->failed) gr_fail_say(f, "a result differs from the reference in its number of elements: %llu in place of %llu", (unsigned long long)gr_array_count(&got[i]), (unsigned long long)gr_array_count(&t->y[i].expected));
            f->output = i;
            return;
        }
        j.integral = v == GR_VALUES_SMALL && gr_truth_closed(&t->y[i]) == GR_CLOSED;
        gr_compare(&j, &t->y[i], &got[i], counts, worst, &fault);
        if (!fault.found || f->failed) continue;
        gr_fail_say(f, "a result differs from the reference");
        f->output = i;
        f->at = fault.at;
        f->tolerance = fault.tolerance;
        f->has_element = true;
    }
}

static void count(gr_counts *all, const gr_counts *mine) {
    all->passed += mine->passed;
    all->ambiguous += mine->ambiguous;
    all->unresolved += mine->unresolved;
    all->out_of_domain += mine->out_of_domain;
    all->failed += mine->failed;
}

bool gr_trial_compare(gr_trial *t, gr_diags *d, const gr_setting *g, gr_values v, bool strict, const gr_array *got, gr_counts *counts, double *worst, gr_fail *f) {
    gr_judge j;
    gr_counts found = {0};
    gr_fail first = *f;
    judge_inputs(t, g, strict, &j);
    compare_all(&j, t, v, got, &found, worst, f);
    if (f->failed && g->op->category == GR_CATEGORY_REDUCTION && g->op->tolerance != GR_TOLERANCE_EXACT) {
        GR_TRY(run_beyond(t, d, true) && run_beyond(t, d, false));
        *f = first;
        found = (gr_counts){0};
        compare_all(&j, t, v, got, &found, worst, f);
    }
    count(counts, &found);
    return true;
}

bool gr_trial_work(gr_trial *t, gr_diags *d, const gr_setting *g, uint64_t seed, uint64_t *work) {
    gr_array out[RUN_TENSORS];
    gr_diags own;
    int changed;
    bool fence;
    *work = 0;
    if (!g->run_limit) return true;
    GR_TRY(fill_inputs(t, d, GR_VALUES_SMALL, seed));
    gr_diags_init(&own);
    bool stopped = !gr_side_run(&t->f32, &own, t->in, 0, out, &changed, &fence) && gr_diags_has(&own, GR_D_WGSL_STEP_LIMIT);
    *work = stopped ? UINT64_MAX : t->f32.api->work(t->f32.exec);
    gr_diags_free(&own);
    return true;
}

bool gr_trial_run(gr_trial *t, gr_diags *d, const gr_setting *g, gr_values v, uint64_t seed, gr_counts *counts, double *worst, gr_fail *f) {
    gr_counts apart = {0};
    double ignored = 0;
    *f = (gr_fail){0};
    t->has_got = t->has_truth = false;
    GR_TRY(fill_inputs(t, d, v, seed) && run_kernels(t, d, f) && gr_trial_truth(t, d));
    t->has_truth = true;
    if (f->failed) return true;
    GR_TRY(gr_trial_compare(t, d, g, v, t->oracle, t->got, counts, worst, f));
    if (f->failed || t->oracle || !t->sane.exec) return true;
    GR_TRY(gr_trial_compare(t, d, g, v, true, t->evaluated, &apart, &ignored, f));
    if (!f->failed) return true;
    memcpy(t->got, t->evaluated, sizeof t->got);
    snprintf(f->reason, sizeof f->reason, "a result differs from the reference when the kernel is evaluated on the CPU");
    return true;
}

bool gr_trial_rerun(gr_trial *t, gr_diags *d, const gr_array *in, gr_array *got) {
    gr_fail ignored = {0};
    return run_kernel(&t->kernel, d, in, 0xa5, got, &ignored) && !ignored.failed;
}
