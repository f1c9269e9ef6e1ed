/* conform.c: all cases of an op on a device, controls beside them, and the shrunk first failure. */
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
    gr_exec_options f32 = {.threads = 1};
    gr_setting of_reference = *g;
    of_reference.op = g->reference;
    return gr_side_open(&t->truth, d, &of_reference, &t->c, &target, gr_oracle_api(), NULL, &bounded, false, &missing) &&
           gr_side_open(&t->f32, d, &of_reference, &t->c, &target, gr_oracle_api(), NULL, &f32, false, &missing);
}

/* *missing: nothing to run here. */
static bool open_trial(gr_trial *t, gr_diags *d, const gr_setting *g, const gr_spec *s, bool *missing) {
    const gr_regime_device *v = g->device;
    gr_target target = v->target;
    gr_exec_options plain = {.threads = 1, .step_limit = g->step_limit}, sane = {.threads = 1, .step_limit = g->step_limit, .sanitize = true};
    *t = (gr_trial){0};
    *missing = false;
    t->oracle = target.kind == GR_TARGET_ORACLE;
    target.kernels = t->oracle;
    if (s->fold) target.max_groups = FOLD_GROUPS;
    if (!gr_spec_resolve(&t->arena, g->op, s, &t->c)) return gr_report_oom(d);
    if (!gr_side_open(&t->kernel, d, g, &t->c, &target, v->api, v->device, &plain, true, missing)) return false;
    if (t->oracle && !gr_side_open(&t->sane, d, g, &t->c, &target, v->api, v->device, &sane, true, missing)) return false;
    return open_truth(t, d, g);
}

static void close_trial(gr_trial *t) {
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

static void judge_inputs(const gr_trial *t, const gr_setting *g, gr_judge *j) {
    *j = (gr_judge){.op = g->op, .factor = 1, .strict = t->oracle, .flushes = g->device->flushes};
    for (uint32_t i = 0; i < t->c.call.operands_n; i++) {
        const gr_array *x = &t->in[i];
        if (!gr_dtype_is_float(x->dtype)) continue;
        for (uint64_t k = 0, n = gr_array_count(x); k < n; k++) {
            double v = gr_fabs(gr_array_get_f64(x, k));
            if (v != v) j->has_nan = true;
            if (v - v != 0) j->has_special = true;
            if (v > 0 && v < 0x1p-126) j->has_subnormal = true;
        }
    }
}

static bool trouble(gr_fail *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool trouble(gr_fail *f, const char *fmt, ...) {
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
    if (!ok && own.worst == GR_DIAG_USER && own.list.n) trouble(f, "the kernel's run was stopped: %.*s", GR_STR_ARG(own.list.v[0].message));
    else if (!ok && own.list.n) gr_report(d, own.list.v[0].name, own.list.v[0].place, NULL, "%.*s", GR_STR_ARG(own.list.v[0].message));
    gr_diags_free(&own);
    if (changed >= 0) trouble(f, "operand %d was changed", changed);
    if (fence) trouble(f, "something was written behind an output");
    return ok || f->failed;
}

static void differing(const gr_array *x, const gr_array *y, uint32_t output, const char *what, gr_fail *f) {
    uint32_t size = gr_dtype_size(x->dtype);
    for (uint64_t i = 0, n = gr_array_count(x); i < n; i++)
        if (memcmp((const uint8_t *)x->data + i * size, (const uint8_t *)y->data + i * size, size)) {
            trouble(f, "%s", what);
            f->output = output;
            f->at = i;
            f->has_element = true;
            return;
        }
}

static bool run_kernels(gr_trial *t, gr_diags *d, gr_fail *f) {
    gr_array again[RUN_TENSORS];
    GR_TRY(run_kernel(&t->kernel, d, t->in, 0xa5, t->got, f));
    if (f->failed) return true;
    t->has_got = true;
    GR_TRY(run_kernel(&t->kernel, d, t->in, 0x3c, again, f));
    for (uint32_t i = 0; i < t->kernel.out_n && !f->failed; i++)
        differing(&t->got[i], &again[i], i, "an element is not written, or two runs differ", f);
    if (f->failed || !t->oracle) return true;
    GR_TRY(run_kernel(&t->sane, d, t->in, 0xa5, again, f));
    for (uint32_t i = 0; i < t->kernel.out_n && !f->failed; i++) differing(&t->got[i], &again[i], i, "the sanitizer's run differs", f);
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

static bool run_truth(gr_trial *t, gr_diags *d) {
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
        j.integral = v == GR_VALUES_SMALL && gr_truth_closed(&t->y[i]) == GR_CLOSED;
        gr_compare(&j, &t->y[i], &got[i], counts, worst, &fault);
        if (!fault.found || f->failed) continue;
        trouble(f, "a result differs from the reference");
        f->output = i;
        f->at = fault.at;
        f->tolerance = fault.tolerance;
        f->has_element = true;
    }
}

bool gr_trial_compare(gr_trial *t, gr_diags *d, const gr_setting *g, gr_values v, const gr_array *got, gr_counts *counts, double *worst, gr_fail *f) {
    gr_judge j;
    gr_counts found = {0};
    gr_fail first = *f;
    judge_inputs(t, g, &j);
    compare_all(&j, t, v, got, &found, worst, f);
    if (f->failed && g->op->category == GR_CATEGORY_REDUCTION && g->op->tolerance != GR_TOLERANCE_EXACT) {
        GR_TRY(run_beyond(t, d, true) && run_beyond(t, d, false));
        *f = first;
        found = (gr_counts){0};
        compare_all(&j, t, v, got, &found, worst, f);
    }
    counts->passed += found.passed;
    counts->ambiguous += found.ambiguous;
    counts->unresolved += found.unresolved;
    counts->out_of_domain += found.out_of_domain;
    counts->failed += found.failed;
    return true;
}

static bool run_trial(gr_trial *t, gr_diags *d, const gr_setting *g, gr_values v, uint64_t seed, gr_counts *counts, double *worst, gr_fail *f) {
    *f = (gr_fail){0};
    t->has_got = t->has_truth = false;
    GR_TRY(fill_inputs(t, d, v, seed) && run_kernels(t, d, f) && run_truth(t, d));
    t->has_truth = true;
    return f->failed || gr_trial_compare(t, d, g, v, t->got, counts, worst, f);
}

bool gr_trial_rerun(gr_trial *t, gr_diags *d, const gr_array *in, gr_array *got) {
    gr_fail ignored = {0};
    return run_kernel(&t->kernel, d, in, 0xa5, got, &ignored) && !ignored.failed;
}

/* ---- shrinking -------------------------------------------------------------------------------- */

typedef struct suite {
    gr_arena *a;
    gr_diags *d;
    gr_setting g;
    gr_conformance *out;
    uint64_t seed;
} suite;

/* Whether the spec still fails in the same way of filling; then its trial stays open in *t. */
static bool still_fails(suite *s, const gr_spec *spec, gr_values v, gr_trial *t, gr_fail *f) {
    gr_counts ignored = {0};
    double worst = 0;
    bool missing;
    gr_diags quiet;
    gr_diags_init(&quiet);
    bool ok = open_trial(t, &quiet, &s->g, spec, &missing) && run_trial(t, &quiet, &s->g, v, s->seed, &ignored, &worst, f);
    gr_diags_free(&quiet);
    if (ok && f->failed) return true;
    close_trial(t);
    return false;
}

static bool try_spec(suite *s, gr_spec *best, gr_spec next, gr_values v, uint32_t *left) {
    gr_trial t;
    gr_fail f;
    if (*left == 0 || !gr_spec_legal(s->g.op, &next)) return false;
    --*left;
    if (!still_fails(s, &next, v, &t, &f)) return false;
    close_trial(&t);
    *best = next;
    return true;
}

static bool shrink_size(suite *s, gr_spec *best, uint64_t *n, gr_values v, uint32_t *left) {
    static const uint64_t small[] = {0, 1, 2, 3};
    uint64_t was = *n;
    gr_spec next = *best;
    uint64_t *at = (uint64_t *)((char *)&next + ((char *)n - (char *)best));
    for (uint32_t i = 0; i < 4 && small[i] < was; i++) {
        *at = small[i];
        if (try_spec(s, best, next, v, left)) return true;
    }
    for (uint64_t cut = was / 2; cut; cut /= 2) {
        *at = was - cut;
        if (try_spec(s, best, next, v, left)) return true;
    }
    return false;
}

static bool shrink_params(suite *s, gr_spec *best, gr_values v, uint32_t *left) {
    for (uint32_t i = 0; i < s->g.op->sig.params_n; i++) {
        gr_spec next = *best;
        if (!best->param[i].given) continue;
        if (!s->g.op->sig.params[i].required) {
            next.param[i] = (gr_spec_param){0};
            if (try_spec(s, best, next, v, left)) return true;
        }
        for (int64_t less = 0; less < best->param[i].i && less < 8; less++) {
            next = *best;
            next.param[i].i = less;
            if (try_spec(s, best, next, v, left)) return true;
        }
    }
    return false;
}

static void shrink(suite *s, gr_spec *best, gr_values v) {
    uint32_t left = 120;
    for (bool again = true; again && left;) {
        again = false;
        for (uint32_t i = 0; i < best->names_n; i++)
            for (uint32_t k = 0; k < (best->name[i].rest ? best->name[i].rank : 1); k++)
                again = shrink_size(s, best, &best->name[i].dims[k], v, &left) || again;
        again = shrink_params(s, best, v, &left) || again;
    }
}

static bool tell_failure(suite *s, const gr_spec *spec, gr_values v, const gr_fail *first, bool again) {
    gr_trial t;
    gr_fail f;
    gr_buf dims = {0}, text = {0};
    bool open = again && still_fails(s, spec, v, &t, &f);
    gr_spec_print(&dims, s->g.op, spec);
    s->out->shrunk = gr_str_dup(s->a, gr_buf_view(&dims));
    s->out->reason = gr_str_dup(s->a, gr_str_of(open ? f.reason : first->reason));
    if (open) {
        gr_failure_print(&text, &t, v, &f);
        close_trial(&t);
    }
    s->out->failure = gr_str_dup(s->a, gr_buf_view(&text));
    gr_buf_free(&dims);
    gr_buf_free(&text);
    gr_report(s->d, GR_D_REGIME_NOT_CONFORMING, (gr_place){.document = s->g.op->id}, "run `gradus op conform` after each change",
              "%.*s at %.*s (%s values)", GR_STR_ARG(s->out->reason), GR_STR_ARG(s->out->shrunk), gr_values_name(v));
    return true;
}

/* ---- the suite ------------------------------------------------------------------------------------- */

static bool run_spec(suite *s, gr_controls *k, gr_spec spec, uint32_t index, gr_values *values, gr_fail *f) {
    gr_trial t;
    bool missing;
    *f = (gr_fail){0};
    if (!open_trial(&t, s->d, &s->g, &spec, &missing)) {
        close_trial(&t);
        s->out->skipped += missing;
        return missing;
    }
    bool ok = true;
    s->out->cases++;
    for (uint32_t i = 0; i < 3 && ok && !f->failed; i++) {
        *values = i == 0 ? GR_VALUES_SMALL : (gr_values)(GR_VALUES_NORMAL + (index * 2 + i - 1) % (GR_VALUES_COUNT - GR_VALUES_NORMAL));
        ok = run_trial(&t, s->d, &s->g, *values, s->seed, &s->out->counts, &s->out->worst, f);
        s->out->runs++;
        if (ok && !f->failed) ok = gr_controls_try(k, s->d, &s->g, &t, *values);
    }
    close_trial(&t);
    return ok;
}

static bool limits_met(suite *s) {
    const gr_counts *n = &s->out->counts;
    double all = (double)(n->passed + n->ambiguous + n->unresolved + n->out_of_domain);
    /* One element of few is no percentage. */
    const char *why = n->ambiguous > 1 && (double)n->ambiguous > 0.05 * all     ? "more than 5 % of the elements are ambiguous"
                      : n->unresolved > 1 && (double)n->unresolved > 0.01 * all ? "more than 1 % of the elements are unresolved"
                      : (double)n->passed < 0.25 * all ? "less than a quarter of the elements could be compared"
                                                              : NULL;
    if (!why) return true;
    s->out->reason = gr_str_of(why);
    gr_report(s->d, GR_D_REGIME_NOT_CONFORMING, (gr_place){.document = s->g.op->id}, NULL, "%s", why);
    return false;
}

static bool run_all(suite *s, const gr_conform_options *o, gr_controls *k) {
    gr_spec *list;
    uint32_t n;
    uint64_t left = o && o->elements ? o->elements : (uint64_t)1 << 21;
    if (!gr_cases_make(s->a, s->g.op, s->seed, o && o->cases ? o->cases : 200, &list, &n)) return gr_report_oom(s->d);
    for (uint32_t i = 0; i < n; i++) {
        gr_values v = GR_VALUES_NONE;
        gr_fail f;
        if (list[i].elements * 3 > left) break;
        left -= list[i].elements * 3;
        GR_TRY(run_spec(s, k, list[i], i, &v, &f));
        if (!f.failed) continue;
        bool deeper = !o || !o->no_shrink;
        if (deeper) shrink(s, &list[i], v);
        return tell_failure(s, &list[i], v, &f, deeper);
    }
    if (s->out->cases == 0)
        return gr_report(s->d, GR_D_REGIME_NO_CASES, (gr_place){.document = s->g.op->id}, NULL, "of %u cases none has a kernel on %.*s", n,
                         GR_STR_ARG(s->g.device->adapter));
    s->out->passed = limits_met(s) && gr_controls_settle(k, s->d, s->out);
    return true;
}

static void hash_op(gr_arena *a, const gr_op *op, gr_conformance *out) {
    gr_buf b = {0};
    char text[72];
    gr_sig_print(&b, &op->sig);
    gr_buf_printf(&b, "\n%s %s %.*s", gr_category_name(op->category), gr_tolerance_name(op->tolerance), GR_STR_ARG(op->zero_sign));
    out->contract = gr_sha256_of(b.p ? b.p : "", b.n);
    gr_buf_clear(&b);
    for (uint32_t i = 0; i < op->map.by_dtype_n; i++) gr_buf_printf(&b, "%.*s\n", GR_STR_ARG(op->map.by_dtype[i].expr));
    gr_buf_str(&b, op->map.functions);
    gr_buf_str(&b, op->graph.text);
    for (uint32_t i = 0; i < op->variants_n; i++) gr_buf_str(&b, op->variants[i].wgsl);
    gr_buf_str(&b, op->reference.wgsl);
    out->reference = gr_sha256_of(b.p ? b.p : "", b.n);
    out->kernels = GR_NEW_N(a, gr_str, op->kernels_n);
    for (uint32_t i = 0; out->kernels && i < op->kernels_n; i++) {
        gr_sha256_text(text, op->kernels[i].hash);
        out->kernels[out->kernels_n++] = gr_str_of(gr_arena_printf(a, "%.*s %s", GR_STR_ARG(op->kernels[i].file), text));
    }
    gr_buf_clear(&b);
    gr_sha256_text(text, out->contract);
    gr_buf_puts(&b, text);
    for (uint32_t i = 0; i < out->kernels_n; i++) gr_buf_str(&b, out->kernels[i]);
    gr_buf_puts(&b, GR_SUITE_VERSION);
    out->seed = gr_sha256_of(b.p ? b.p : "", b.n);
    gr_buf_free(&b);
}

bool gr_op_conform(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, const gr_regime_device *device,
                   const gr_conform_options *o, gr_conformance *out) {
    gr_controls k = {0};
    *out = (gr_conformance){.op = op, .device = *device, .altered = o && o->reference};
    hash_op(a, op, out);
    if (gr_arena_failed(a)) return gr_report_oom(d);
    suite s = {.a = a, .d = d, .g = {catalog, op, out->altered ? o->reference : op, device, o ? o->step_limit : 0}, .out = out};
    for (int i = 0; i < 8; i++) s.seed = s.seed << 8 | out->seed.b[i];
    if (op->body == GR_BODY_CONTRACT_ONLY)
        return gr_report(d, GR_D_REGIME_NO_CASES, (gr_place){.document = op->id}, NULL, "it is a contract without a body");
    return run_all(&s, o, &k);
}
