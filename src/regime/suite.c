/* suite.c: all cases of an op on a device, controls and probes beside them, and the shrunk first failure. */
#include "base/math.h"
#include "regime/conform_int.h"

/* ---- shrinking -------------------------------------------------------------------------------- */

typedef struct suite {
    gr_arena *a;
    gr_diags *d;
    gr_setting g;
    gr_conformance *out;
    uint64_t seed;
    gr_kinds kinds;
    uint64_t *work;                /* of the references of each kernel's cases, behind those of the op's own map */
    gr_pieces *pieces;             /* of each kernel, behind those of the op's own map */
    gr_influence influence[SPEC_OPERANDS];
    bool thorough; /* 100 cases or more are wanted */
    bool (*on_run)(void *user, gr_diags *d, const gr_trial *t, int values); void *user; /* of the options */
} suite;

/* Whether the spec still fails in the same way of filling; then its trial stays open in *t. */
static bool still_fails(suite *s, const gr_spec *spec, gr_values v, gr_trial *t, gr_fail *f) {
    gr_counts ignored = {0};
    double worst = 0;
    bool missing;
    gr_diags quiet;
    gr_diags_init(&quiet);
    bool ok = gr_trial_open(t, &quiet, &s->g, spec, &missing) && gr_trial_run(t, &quiet, &s->g, v, s->seed, &ignored, &worst, f);
    gr_diags_free(&quiet);
    if (ok && f->failed) return true;
    gr_trial_close(t);
    return false;
}

static bool try_spec(suite *s, gr_spec *best, gr_spec next, gr_values v, uint32_t *left) {
    gr_trial t;
    gr_fail f;
    if (*left == 0 || !gr_spec_legal(s->g.op, &next)) return false;
    --*left;
    if (!still_fails(s, &next, v, &t, &f)) return false;
    gr_trial_close(&t);
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
    if (!first->told) s->out->shrunk = gr_str_dup(s->a, gr_buf_view(&dims));
    s->out->reason = gr_str_dup(s->a, gr_str_of(open ? f.reason : first->reason));
    if (open) {
        gr_failure_print(&text, &t, v, &f);
        gr_trial_close(&t);
    }
    if (!first->told) s->out->failure = gr_str_dup(s->a, gr_buf_view(&text));
    gr_buf_free(&dims);
    gr_buf_free(&text);
    gr_report(s->d, GR_D_REGIME_NOT_CONFORMING, (gr_place){.document = s->g.op->id}, "run `gradus op conform` after each change",
              "%.*s at %.*s (%s values)", GR_STR_ARG(s->out->reason), GR_STR_ARG(s->out->shrunk), gr_values_name(v));
    return true;
}

/* ---- the suite ------------------------------------------------------------------------------------- */

static gr_values next_in_turn(uint32_t *turn, const gr_call *c) {
    gr_dtype key = c->outputs_n ? c->outputs[0].dtype : GR_DTYPE_NONE;
    for (uint32_t i = 0; i < c->operands_n; i++)
        if (gr_dtype_is_float(c->operands[i].dtype)) key = c->operands[i].dtype;
    if (c->operands_n && !gr_dtype_is_float(key)) key = c->operands[0].dtype;
    return (gr_values)(GR_VALUES_NORMAL + turn[key]++ % (GR_VALUES_COUNT - GR_VALUES_NORMAL));
}

enum { FULL_LEAST = 8, FULL_MOST = 300, FULL_CASES = 4 };

/* Whether the case is one of the first of its kernel and dtypes. */
static bool is_full(gr_kinds *k, const gr_call *c, int32_t kernel) {
    uint64_t key = (uint64_t)(kernel + 2);
    uint32_t i = 0;
    for (uint32_t t = 0; t < c->operands_n; t++) key = key * 31 + (uint64_t)c->operands[t].dtype;
    for (uint32_t t = 0; t < c->outputs_n; t++) key = key * 31 + (uint64_t)c->outputs[t].dtype;
    while (i < k->full_n && k->full[i].key != key) i++;
    if (i == sizeof k->full / sizeof *k->full) return false;
    if (i == k->full_n) k->full[k->full_n++].key = key;
    return k->full[i].n++ < FULL_CASES;
}

uint32_t gr_kinds_next(gr_kinds *k, const gr_call *c, int32_t kernel, uint64_t elements, gr_values *out) {
    bool full = elements >= FULL_LEAST && elements <= FULL_MOST && is_full(k, c, kernel);
    uint32_t n = full ? GR_KINDS_ALL : GR_KINDS;
    for (uint32_t i = 0; i < n; i++) out[i] = i == 0 || full ? (gr_values)(GR_VALUES_SMALL + i) : next_in_turn(k->turn, c);
    return n;
}

/* A failure that only a probe shows is told as it is: the case alone would not show it. */
static void tell_here(suite *s, const gr_spec *spec, const gr_trial *t, gr_values v, gr_fail *f) {
    gr_buf text = {0};
    gr_failure_print(&text, t, v, f);
    s->out->failure = gr_str_dup(s->a, gr_buf_view(&text));
    gr_buf_clear(&text);
    gr_spec_print(&text, s->g.op, spec);
    s->out->shrunk = gr_str_dup(s->a, gr_buf_view(&text));
    gr_buf_free(&text);
    f->told = true;
}

/* Behind the run with small integers, its controls done. */
static bool probe(suite *s, gr_trial *t, const gr_spec *spec, uint32_t index, gr_fail *f) {
    bool small = spec->elements <= GR_PROBE_MAX;
    gr_pieces *p = &s->pieces[t->which + 1];
    if (p->cut < GR_PIECES && p->tried < GR_PIECES_TRIED) GR_TRY(gr_probe_pieces(t, s->d, &s->g, spec, GR_VALUES_SMALL, p, f));
    if (!f->failed && small && s->g.tier == GR_TIER_DEBUG) GR_TRY(gr_probe_influence(t, s->d, &s->g, index, s->influence, f));
    if (f->failed) tell_here(s, spec, t, GR_VALUES_SMALL, f);
    return true;
}

static bool run_values(suite *s, gr_controls *k, gr_trial *t, const gr_spec *spec, uint32_t index, gr_values *values, gr_fail *f) {
    gr_array in[RUN_TENSORS], got[RUN_TENSORS];
    gr_values kind[GR_KINDS_ALL];
    uint32_t n = gr_kinds_next(&s->kinds, &t->c.call, t->which, spec->elements, kind);
    for (uint32_t i = 0; i < n; i++) {
        *values = kind[i];
        GR_TRY(gr_trial_run(t, s->d, &s->g, *values, s->seed, &s->out->counts, &s->out->worst, f));
        s->out->runs++;
        if (f->failed) return true;
        if (i == 0) memcpy(in, t->in, sizeof in), memcpy(got, t->got, sizeof got);
        if (s->g.tier == GR_TIER_DEBUG) GR_TRY(gr_controls_try(k, s->d, &s->g, t, *values));
        if (s->on_run) GR_TRY(s->on_run(s->user, s->d, t, (int)*values));
        if (i == 0) GR_TRY(probe(s, t, spec, index, f));
        if (f->failed) return true;
    }
    if (t->unordered) return true;
    GR_TRY(gr_probe_again(t, s->d, in, got, f));
    if (f->failed) tell_here(s, spec, t, GR_VALUES_SMALL, f);
    return true;
}

/* Which WGSL ran: a receipt lists the texts by hash. */
static bool note_kernels(suite *s, const gr_kernels *k) {
    gr_conformance *c = s->out;
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t at = 0;
        while (at < c->instantiations_n && memcmp(c->instantiations[at].b, k->list[i].hash.b, 32) < 0) at++;
        if (at < c->instantiations_n && gr_sha256_eq(c->instantiations[at], k->list[i].hash)) continue;
        if (c->instantiations_n == c->instantiations_cap &&
            !gr_vec_reserve_(s->a, (void **)&c->instantiations, &c->instantiations_cap, c->instantiations_n, sizeof *c->instantiations))
            return gr_report_oom(s->d);
        memmove(c->instantiations + at + 1, c->instantiations + at, (c->instantiations_n++ - at) * sizeof *c->instantiations);
        c->instantiations[at] = k->list[i].hash;
    }
    return true;
}

static int32_t kernel_of(const suite *s, const gr_spec *spec, gr_tier tier) {
    gr_target t = gr_trial_target(&s->g, spec);
    gr_arena a;
    gr_case c;
    gr_arena_init(&a, (size_t)4 << 20);
    int32_t k = gr_spec_resolve(&a, s->g.op, spec, &c) ? gr_kernel_which(&t, tier, &c.call) : -1;
    gr_arena_free(&a);
    return k;
}

/* Its kernel has hardly run: kernels for large calls come last, when the number of elements is spent. */
static bool is_needed(const suite *s, const gr_spec *spec) {
    int32_t k = kernel_of(s, spec, s->g.tier);
    return k >= 0 && s->out->reached && s->out->reached[k] < GR_LEAST_CASES;
}

static bool run_spec(suite *s, gr_controls *k, const gr_spec *spec, uint32_t index, gr_values *values, gr_fail *f) {
    gr_trial t;
    bool missing;
    uint64_t work = 0;
    *f = (gr_fail){0};
    bool needed = is_needed(s, spec);
    s->g.run_limit = spec->elements < GR_LONG_ELEMENTS ? 0 : (uint64_t)GR_WORK_SLACK * GR_WORK_CASE;
    bool open = gr_trial_open(&t, s->d, &s->g, spec, &missing) && gr_trial_work(&t, s->d, &s->g, s->seed, &work);
    bool affords = work <= (needed ? GR_WORK_NEEDED : GR_WORK_CASE) && (needed || !open || s->work[t.which + 1] + work <= GR_WORK_KERNEL);
    if (!open || !affords) {
        gr_trial_close(&t);
        s->out->skipped += missing;
        return missing || !affords;
    }
    s->work[t.which + 1] += work;
    s->out->cases++;
    if (t.which >= 0 && s->out->reached) s->out->reached[t.which]++;
    bool ok = note_kernels(s, &t.kernel.kernels) && run_values(s, k, &t, spec, index, values, f);
    gr_trial_close(&t);
    return ok;
}

/* In the tier fast, and only there. */
static bool takes_unordered(const suite *s, const gr_spec *spec) {
    int32_t k = kernel_of(s, spec, GR_TIER_FAST);
    return k >= 0 && s->g.op->kernels[k].order == GR_ORDER_UNORDERED;
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

/* A kernel that no case took is unknown; an operand that the kernel ignores and the reference does not is not used as declared. */
static bool all_seen(suite *s) {
    const gr_op *op = s->g.op;
    gr_target t = s->g.device->target;
    for (uint32_t i = 0; s->thorough && i < op->kernels_n; i++) { /* few cases may miss one */
        gr_tier tier = op->kernels[i].order == GR_ORDER_UNORDERED ? GR_TIER_FAST : GR_TIER_DEBUG;
        if (s->out->reached[i] || !gr_kernel_allowed(&t, tier, &op->kernels[i])) continue;
        s->out->reason = gr_str_of(gr_arena_printf(s->a, "no case takes the kernel %.*s", GR_STR_ARG(op->kernels[i].file)));
        return gr_report(s->d, GR_D_REGIME_KERNEL_NOT_REACHED, (gr_place){.document = op->id}, "its `when` holds for no call that could be generated",
                         "%.*s", GR_STR_ARG(s->out->reason));
    }
    for (uint32_t i = 0; s->thorough && i < op->kernels_n; i++) {
        const gr_pieces *p = &s->pieces[i + 1];
        bool ranges = false; /* what is joined only helps where an operand is the largest tensor */
        for (uint32_t k = 0; k < op->kernels[i].binding.splits_n; k++) ranges = ranges || op->kernels[i].binding.splits[k].combine.n == 0;
        if (!ranges || p->cut || p->able < GR_PIECES_TRIED / 2) continue;
        s->out->reason = gr_str_of(gr_arena_printf(s->a, "no call could be split by the clauses of %.*s", GR_STR_ARG(op->kernels[i].file)));
        return gr_report(s->d, GR_D_REGIME_NOT_CONFORMING, (gr_place){.document = op->id}, "a piece must be a legal call that gives what its clause says",
                         "%.*s, of %u tried", GR_STR_ARG(s->out->reason), p->able);
    }
    for (uint32_t i = 0; i < op->sig.operands_n && i < SPEC_OPERANDS; i++) {
        const gr_influence *x = &s->influence[i];
        if (x->reference < 3 || x->kernel) continue;
        s->out->reason = gr_str_of(gr_arena_printf(s->a, "the results never depend on operand %.*s", GR_STR_ARG(op->sig.operands[i].name)));
        return gr_report(s->d, GR_D_REGIME_NOT_INFLUENCED, (gr_place){.document = op->id}, NULL, "%.*s: of %u elements moved far, %u changed the reference",
                         GR_STR_ARG(s->out->reason), x->probes, x->reference);
    }
    return true;
}

/* False when done: a failure was told, or the device failed (*ok). */
static bool run_list(suite *s, const gr_conform_options *o, gr_controls *k, gr_spec *list, uint32_t n, uint64_t left, bool *ok) {
    for (uint32_t i = 0; i < n; i++) {
        gr_values v = GR_VALUES_NONE;
        gr_fail f;
        if (s->g.tier == GR_TIER_FAST && !takes_unordered(s, &list[i])) continue;
        bool within = list[i].elements * 3 <= left;
        if (!within && !is_needed(s, &list[i])) continue;
        left -= within ? list[i].elements * 3 : 0;
        if (!(*ok = run_spec(s, k, &list[i], i, &v, &f))) return false;
        if (!f.failed) continue;
        bool deeper = (!o || !o->no_shrink) && !f.told;
        if (deeper) shrink(s, &list[i], v);
        *ok = tell_failure(s, &list[i], v, &f, deeper);
        return false;
    }
    return true;
}

static bool run_all(suite *s, const gr_conform_options *o, gr_controls *k) {
    gr_spec *list;
    uint32_t n;
    bool ok = true, unordered = false;
    uint64_t left = o && o->elements ? o->elements : GR_ELEMENTS;
    s->out->cases_wanted = o && o->cases ? o->cases : 200;
    if (!gr_cases_make(s->a, s->g.op, s->seed, s->out->cases_wanted, &list, &n)) return gr_report_oom(s->d);
    for (uint32_t i = 0; i < s->g.op->kernels_n; i++) unordered = unordered || s->g.op->kernels[i].order == GR_ORDER_UNORDERED;
    if (!run_list(s, o, k, list, n, left, &ok)) return ok;
    s->g.tier = GR_TIER_FAST;
    if (unordered && !run_list(s, o, k, list, n, left, &ok)) return ok;
    s->g.tier = GR_TIER_DEBUG;
    if (s->out->cases == 0)
        return gr_report(s->d, GR_D_REGIME_NO_CASES, (gr_place){.document = s->g.op->id}, NULL, "of %u cases none has a kernel on %.*s", n,
                         GR_STR_ARG(s->g.device->adapter));
    s->out->passed = limits_met(s) && all_seen(s) && gr_controls_settle(k, s->d, s->out);
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
    out->reached = GR_NEW_N(a, uint32_t, op->kernels_n);
    for (uint32_t i = 0; out->kernels && i < op->kernels_n; i++) {
        gr_sha256_text(text, op->kernels[i].hash);
        out->kernels[out->kernels_n++] = gr_str_of(gr_arena_printf(a, "%.*s %s", GR_STR_ARG(op->kernels[i].file), text));
    }
    gr_buf_clear(&b);
    gr_sha256_text(text, out->contract);
    gr_buf_puts(&b, text);
    for (uint32_t i = 0; i < out->kernels_n; i++) gr_buf_str(&b, out->kernels[i]);
    for (uint32_t i = 0; i < op->map.by_dtype_n; i++) gr_buf_str(&b, op->map.by_dtype[i].expr);
    gr_buf_str(&b, op->map.functions);
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
    suite s = {.a = a, .d = d, .g = {catalog, op, out->altered ? o->reference : op, device, o ? o->step_limit : 0, 0, GR_TIER_DEBUG}, .out = out, .pieces = GR_NEW_N(a, gr_pieces, op->kernels_n + 1), .work = GR_NEW_N(a, uint64_t, op->kernels_n + 1), .thorough = !o || o->cases == 0 || o->cases >= 100};
    if (!s.pieces || !s.work) return gr_report_oom(d);
    if (o) s.on_run = o->on_run, s.user = o->user;
    for (int i = 0; i < 8; i++) s.seed = s.seed << 8 | out->seed.b[i];
    if (op->body == GR_BODY_CONTRACT_ONLY)
        return gr_report(d, GR_D_REGIME_NO_CASES, (gr_place){.document = op->id}, NULL, "it is a contract without a body");
    return run_all(&s, o, &k);
}
