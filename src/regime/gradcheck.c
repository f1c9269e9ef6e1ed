/* gradcheck.c: the suite: cases, points and directions in order, the shrunk first failure, the verdict. */
#include "regime/gradcheck_int.h"

#include <stdlib.h>

enum { PASSES = 4, WHOLE_BASIS = 16, SOME_ELEMENTS = 3, SHRINKS = 60, PROBES = 512, DEVICE_CASES = 12 };

typedef struct suite {
    gr_arena *a;
    gr_diags *d;
    gr_setting g;
    gr_gradcheck *out;
    gr_gc_domain domain;
    uint64_t seed;
} suite;

/* ---- cases ------------------------------------------------------------------------------ */

/* Floats are f32 where the contract allows. */
static bool in_f32(const gr_op *op, gr_spec *s) {
    gr_spec t = *s;
    for (uint32_t i = 0; i < op->sig.params_n; i++) {
        const gr_sig_param *p = &op->sig.params[i];
        if (p->kind != GR_PARAM_DTYPE || !t.param[i].given) continue;
        for (uint32_t k = 0; k < p->words_n; k++)
            if (gr_dtype_find(p->words[k]) == GR_DTYPE_F32) t.param[i].i = k;
        if (!p->words_n) t.param[i].i = GR_DTYPE_F32;
    }
    for (uint32_t i = 0; i < op->sig.operands_n; i++) {
        gr_dtype list[GR_DTYPE_COUNT];
        uint32_t n = gr_sig_tensor_dtypes(&op->sig, &op->sig.operands[i], list);
        for (uint32_t k = 0; k < n && t.dtype[i] != GR_DTYPE_NONE; k++)
            if (list[k] == GR_DTYPE_F32) t.dtype[i] = GR_DTYPE_F32;
    }
    if (gr_spec_legal(op, &t)) *s = t;
    return s->elements > 0 && s->elements <= GC_ELEMENTS;
}

/* Whether some parameter has a value that none of the chosen has. */
static bool is_new(const gr_spec *s, gr_spec *const *chosen, uint32_t n) {
    for (uint32_t p = 0; p < SPEC_PARAMS; p++) {
        bool seen = !s->param[p].given;
        for (uint32_t i = 0; i < n && !seen; i++) seen = memcmp(&chosen[i]->param[p], &s->param[p], sizeof s->param[p]) == 0;
        if (!seen) return true;
    }
    return false;
}

/* Distinct cases, at most `want`: two thirds by values of parameters not seen before, the others evenly over the sizes. */
static bool choose(suite *s, gr_spec **list, uint32_t *n, uint32_t want) {
    gr_spec *v, **chosen = GR_NEW_N(s->a, gr_spec *, want + 1);
    uint32_t all, kept = 0, taken = 0;
    if (!chosen || !gr_cases_make(s->a, s->g.op, s->seed, 8 * want, &v, &all)) return gr_report_oom(s->d);
    for (uint32_t i = 0; i < all; i++) {
        gr_spec t = v[i];
        bool seen = !in_f32(s->g.op, &t);
        for (uint32_t k = 0; k < kept && !seen; k++) seen = memcmp(&v[k], &t, sizeof t) == 0;
        if (!seen) v[kept++] = t;
    }
    uint8_t *used = GR_NEW_N(s->a, uint8_t, kept + 1);
    gr_spec *out = GR_NEW_N(s->a, gr_spec, want + 1);
    if (!used || !out) return gr_report_oom(s->d);
    for (uint32_t i = 0, at = 0; i < kept && taken < want - want / 3; i++, at = (at + kept * 5 / 8 + 1) % kept)
        if (!used[at] && is_new(&v[at], chosen, taken)) used[at] = 1, chosen[taken++] = &v[at];
    for (uint32_t i = 0, more = want - taken; i < more; i++) {
        uint32_t at = (uint32_t)((uint64_t)i * kept / more);
        if (at < kept && !used[at]) used[at] = 1, chosen[taken++] = &v[at];
    }
    *n = 0;
    for (uint32_t i = 0; i < kept; i++) /* smallest first */
        if (used[i]) out[(*n)++] = v[i];
    *list = out;
    return true;
}

/* ---- one case ------------------------------------------------------------------------------ */

typedef struct visit { bool failed; gr_gc_found f; } visit;

static bool probe(suite *s, gr_gc_trial *t, visit *v) {
    GR_TRY(gr_gc_judge(t, s->d, s->g.catalog, s->out, &v->f));
    v->failed = v->f.failed;
    return true;
}

static bool probe_point(suite *s, gr_gc_trial *t, bool whole, visit *v) {
    uint64_t n = gr_gc_trial_elements(t);
    uint32_t operands = 0;
    for (uint32_t i = 0; i < t->f.x_n; i++) operands += t->f.x[i].role != GC_FIXED;
    gr_gc_direct_all(t);
    if (t->moves) GR_TRY(probe(s, t, v));
    for (uint32_t i = 0; i < t->f.x_n && operands > 1 && !v->failed; i++)
        if (gr_gc_direct_operand(t, i)) GR_TRY(probe(s, t, v));
    if (!v->failed) {
        gr_gc_direct_part(t);
        if (t->moves) GR_TRY(probe(s, t, v));
    }
    for (uint64_t k = 0, m = whole && n <= WHOLE_BASIS ? n : n < SOME_ELEMENTS ? n : SOME_ELEMENTS; k < m && !v->failed; k++) {
        gr_gc_direct_element(t, m == n ? k : (uint64_t)gr_rng_below(&t->r, (uint32_t)n));
        GR_TRY(probe(s, t, v));
    }
    return true;
}

/* From the values of a spec, not from its bytes, which hold addresses: the same in every process. */
static uint64_t seed_of(const suite *s, const gr_spec *spec, uint32_t pass) {
    gr_buf b = {0};
    for (uint32_t i = 0; i < spec->names_n; i++) {
        gr_buf_printf(&b, "%.*s %u %u:", GR_STR_ARG(spec->name[i].name), spec->name[i].rest, spec->name[i].rank);
        for (uint32_t k = 0; k < GR_RANK_MAX; k++) gr_buf_printf(&b, " %llu", (unsigned long long)spec->name[i].dims[k]);
    }
    for (uint32_t i = 0; i < SPEC_OPERANDS; i++) gr_buf_printf(&b, " %d", (int)spec->dtype[i]);
    for (uint32_t i = 0; i < SPEC_PARAMS; i++) {
        const gr_spec_param *p = &spec->param[i];
        gr_buf_printf(&b, "; %d %lld ", p->given, (long long)p->i);
        gr_buf_f64(&b, p->f);
        for (uint32_t k = 0; k < p->n && k < SPEC_LIST; k++) gr_buf_printf(&b, " %lld", (long long)p->li[k]);
    }
    gr_buf_printf(&b, "; %u", spec->many);
    gr_sha256 h = gr_sha256_of(b.p ? b.p : "", b.n);
    uint64_t x = s->seed + pass;
    gr_buf_free(&b);
    for (int i = 0; i < 8; i++) x ^= (uint64_t)h.b[i] << 8 * i;
    return x;
}

/* Points in turn until one fails; then the trial is left at it. */
static bool probe_case(suite *s, gr_gc_trial *t, const gr_spec *spec, uint32_t pass, visit *v) {
    t->r = gr_rng_seed(seed_of(s, spec, pass));
    *v = (visit){0};
    for (int kind = GC_NORMAL; kind < GC_POINTS && !v->failed; kind++) {
        bool found;
        GR_TRY(gr_gc_point(t, s->d, &s->domain, (gr_gc_points)kind, &found));
        if (!found) s->out->out_of_domain++;
        else GR_TRY(probe_point(s, t, kind == GC_NORMAL && pass == 0, v));
    }
    return true;
}

/* ---- shrinking --------------------------------------------------------------------------------- */

/* Whether the spec fails; then its trial stays open. The figures of the report stay as they were. */
static bool fails(suite *s, const gr_spec *spec, gr_gc_trial *t, visit *v) {
    gr_gradcheck ignored = {0}, *out = s->out;
    gr_gc_domain domain = s->domain;
    gr_diags quiet, *d = s->d;
    gr_str why;
    gr_diags_init(&quiet);
    s->out = &ignored;
    s->d = &quiet;
    bool ok = gr_gc_trial_open(t, &quiet, &s->g, spec, out->options.second, &why) == GC_OPEN_DONE;
    *v = (visit){0};
    for (uint32_t pass = 0; ok && pass < 2 && !v->failed; pass++) ok = probe_case(s, t, spec, pass, v);
    s->out = out;
    s->d = d;
    s->domain = domain;
    gr_diags_free(&quiet);
    if (ok && v->failed) return true;
    gr_gc_trial_close(t);
    return false;
}

static bool still(suite *s, gr_spec *best, gr_spec next, uint32_t *left) {
    gr_gc_trial t;
    visit v;
    if (*left == 0 || !gr_spec_legal(s->g.op, &next) || next.elements == 0) return false;
    --*left;
    if (!fails(s, &next, &t, &v)) return false;
    gr_gc_trial_close(&t);
    *best = next;
    return true;
}

static bool shrink_size(suite *s, gr_spec *best, uint32_t name, uint32_t axis, uint32_t *left) {
    uint64_t was = best->name[name].dims[axis];
    for (uint64_t n = 1; n < 4 && n < was; n++) {
        gr_spec next = *best;
        next.name[name].dims[axis] = n;
        if (still(s, best, next, left)) return true;
    }
    for (uint64_t cut = was / 2; cut; cut /= 2) {
        gr_spec next = *best;
        next.name[name].dims[axis] = was - cut;
        if (still(s, best, next, left)) return true;
    }
    return false;
}

static bool shrink_params(suite *s, gr_spec *best, uint32_t *left) {
    for (uint32_t i = 0; i < s->g.op->sig.params_n; i++) {
        gr_spec next = *best;
        if (!best->param[i].given || s->g.op->sig.params[i].required) continue;
        next.param[i] = (gr_spec_param){0};
        if (still(s, best, next, left)) return true;
    }
    return false;
}

static void shrink(suite *s, gr_spec *best) {
    uint32_t left = SHRINKS;
    for (bool again = true; again && left;) {
        again = false;
        for (uint32_t i = 0; i < best->names_n; i++)
            for (uint32_t k = 0; k < (best->name[i].rest ? best->name[i].rank : 1); k++) again = shrink_size(s, best, i, k, &left) || again;
        again = shrink_params(s, best, &left) || again;
    }
}

/* ---- verdict --------------------------------------------------------------------------------------- */

static bool fail(suite *s, const char *reason, const char *hint) {
    s->out->state = GR_GRADCHECK_FAILED;
    s->out->reason = gr_str_dup(s->a, gr_str_of(reason));
    gr_report(s->d, GR_D_REGIME_GRADCHECK_FAILED, (gr_place){.document = s->g.op->id}, hint, "%s%s%.*s", reason, s->out->shrunk.n ? " at " : "",
              GR_STR_ARG(s->out->shrunk));
    return true;
}

static bool fail_case(suite *s, gr_spec spec, const visit *first) {
    gr_gc_trial t;
    visit v;
    gr_buf dims = {0}, text = {0};
    bool ok = true;
    shrink(s, &spec);
    gr_spec_print(&dims, s->g.op, &spec);
    s->out->shrunk = gr_str_dup(s->a, gr_buf_view(&dims));
    if (fails(s, &spec, &t, &v)) {
        ok = gr_gc_tell(&t, s->d, s->g.catalog, v.f, &text);
        gr_gc_trial_close(&t);
    } else {
        v = *first;
    }
    s->out->failure = gr_str_dup(s->a, gr_buf_view(&text));
    gr_buf_free(&dims);
    gr_buf_free(&text);
    return ok && fail(s, v.f.differences ? "differences disagree with the backward" : "dual numbers disagree with the backward",
                      "compare the backward with the derivative of the body at this case");
}

/* Every corruption that could be offered must have been rejected. The last always can: a gradient of zeros is told from others too. */
static bool settle(suite *s) {
    gr_gradcheck *c = s->out;
    if (c->live == 0) return fail(s, "no probe was live: results are not finite, or every point is a kink", "draw the operands' domain wider");
    if (c->skipped > c->live) return fail(s, "more than half of the probes were skipped at a kink", NULL);
    for (int i = 0; i < GR_CORRUPT_COUNT; i++)
        if (c->control[i].offered && !c->control[i].rejected) return fail(s, "a corrupted gradient was not rejected", NULL);
    c->state = GR_GRADCHECK_PASSED;
    return true;
}

/* ---- the device -------------------------------------------------------------------------------------- */

/* Some of the cases with the gradient graph on the device. */
static bool on_device(suite *s, const gr_spec *list, uint32_t n) {
    gr_gradcheck *c = s->out;
    const gr_regime_device *device = c->options.device;
    if (c->state != GR_GRADCHECK_PASSED || !device || device->target.kind != GR_TARGET_WEBGPU) return true;
    c->device_ran = true;
    c->adapter = device->adapter;
    for (uint32_t i = 0; i < n && c->device_cases < DEVICE_CASES; i++) {
        gr_gc_trial t;
        gr_str why;
        bool ok = true, failed = false;
        const gr_spec *spec = &list[(uint64_t)i * n / (n < DEVICE_CASES ? n : DEVICE_CASES) % n];
        if (gr_gc_trial_open(&t, s->d, &s->g, spec, c->options.second, &why) == GC_OPEN_DONE) {
            t.r = gr_rng_seed(seed_of(s, spec, PASSES));
            ok = gr_gc_on_device(&t, s->d, &s->g, &s->domain, c, &failed);
        }
        gr_gc_trial_close(&t);
        GR_TRY(ok);
        if (!failed) continue;
        gr_buf dims = {0};
        gr_spec_print(&dims, s->g.op, spec);
        c->shrunk = gr_str_dup(s->a, gr_buf_view(&dims));
        gr_buf_free(&dims);
        return fail(s, "the gradient on the device differs from the oracle's", NULL);
    }
    return c->device_counts.passed ? true : fail(s, "no gradient could be compared on the device", NULL);
}

/* ---- the suite --------------------------------------------------------------------------------------- */

static bool visit_case(suite *s, const gr_spec *spec, uint32_t pass, bool *stop) {
    gr_gc_trial t;
    gr_str why = {0};
    visit v = {0};
    gr_gc_opened how = gr_gc_trial_open(&t, s->d, &s->g, spec, s->out->options.second, &why);
    bool ok = how != GC_OPEN_ERROR;
    if (how == GC_OPEN_DONE) {
        ok = probe_case(s, &t, spec, pass, &v);
        s->out->cases += pass == 0;
    }
    gr_gc_trial_close(&t);
    *stop = v.failed || how == GC_OPEN_NO_GRADIENT || !ok;
    if (!ok) return false;
    if (how == GC_OPEN_NO_GRADIENT && s->out->options.second) return s->out->state = GR_GRADCHECK_NONE, s->out->reason = why, true;
    if (how == GC_OPEN_NO_GRADIENT) return fail(s, gr_arena_printf(s->a, "%.*s", GR_STR_ARG(why)), NULL);
    return !v.failed || fail_case(s, *spec, &v);
}

static bool run(suite *s) {
    gr_spec *list;
    uint32_t n, visited = 0;
    const gr_gradcheck_options *o = &s->out->options;
    bool stop = false;
    GR_TRY(choose(s, &list, &n, o->cases));
    for (uint32_t pass = 0; pass < PASSES && (pass == 0 || (s->out->live < o->probes && s->out->live)); pass++) {
        visited = n < o->cases ? n : o->cases;
        for (uint32_t i = 0; i < visited; i++) {
            GR_TRY(visit_case(s, &list[(uint64_t)i * n / visited], pass, &stop));
            if (stop) return true;
            if (pass && s->out->live >= o->probes) break;
        }
    }
    return s->out->cases ? settle(s) && on_device(s, list, n) : fail(s, "no case has floats in f32 on both sides", NULL);
}

static void name_controls(gr_gradcheck *c) {
    static const char *const name[GR_CORRUPT_COUNT] = {"sign of one gradient", "one gradient times 1.001", "one element zeroed", "first slice instead of a sum", "one element larger by 1"};
    for (int i = 0; i < GR_CORRUPT_COUNT; i++) c->control[i].name = name[i];
}

bool gr_op_gradcheck(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, const gr_gradcheck_options *o, gr_gradcheck *out) {
    static const gr_regime_device nothing = {0};
    gr_gradcheck_options with = o ? *o : (gr_gradcheck_options){0};
    if (!with.probes) with.probes = PROBES;
    if (!with.cases) with.cases = with.probes / 12 < 8 ? 8 : with.probes / 12 > 200 ? 200 : with.probes / 12;
    *out = (gr_gradcheck){.op = op, .options = with};
    name_controls(out);
    if (op->backward.form == GR_BACKWARD_NONE || op->backward.form == GR_BACKWARD_UNSET) {
        out->state = GR_GRADCHECK_NONE;
        out->reason = op->backward.reason.n ? op->backward.reason : GR_STR("it declares no backward");
        return true;
    }
    suite s = {.a = a, .d = d, .g = {.catalog = catalog, .op = op, .device = with.device ? with.device : &nothing}, .out = out};
    gr_sha256 h = gr_sha256_of(op->sig.text.p, op->sig.text.n);
    for (int i = 0; i < 8; i++) s.seed = s.seed << 8 | h.b[i];
    s.seed ^= with.seed;
    return run(&s);
}
