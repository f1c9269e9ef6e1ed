/* bench.c: see bench.h. */
#include "bench.h"

#include "regime/conform_int.h"

enum { KILLERS = 4, PROGRAMS = 64 };

/* Operands and what is true of them. */
typedef struct run { gr_values v; gr_array *in; gr_truth *y; } run;

/* A kernel instance of the unaltered op: its lanes as text. */
typedef struct program { gr_sha256 key; gr_str lanes; } program;

typedef enum readiness { NOT_YET = 0, READY, UNFIT } readiness;

typedef struct one_case {
    gr_spec spec;
    gr_tier tier;
    int32_t which;        /* of the op's kernels */
    gr_values kind[GR_KINDS_ALL]; uint32_t kinds_n;
    uint32_t index;       /* in the list of the suite, for the places of probes */
    bool pieces;          /* is tried in pieces too */
    bool needed;          /* one of the first few of its kernel: is run whatever it takes */
    readiness ready;
    bool settled;         /* all runs are made: only the reference in f32 is open still */
    uint64_t steps;       /* limit for altered ops: well above what the unaltered one takes */
    gr_trial t;           /* of the unaltered op */
    run *runs; uint32_t runs_n; /* kinds_n of values, then one with an element moved far for each operand; made when asked for */
    uint32_t *program, program_n; /* of the bench, by plan kernel */
} one_case;

struct bench {
    gr_arena a;
    const gr_catalog *catalog;
    const gr_op *op;
    gr_regime_device device;
    uint64_t seed;
    one_case *cases; uint32_t cases_n;
    GR_VEC(program) programs;
    uint32_t killer[KILLERS]; /* cases that killed last, the newest first: they are tried first; cases_n: none */
    char bug[400];
};

/* ---- the list ------------------------------------------------------------------------------ */

static gr_setting setting(const bench *b, const gr_op *op, gr_tier tier) {
    return (gr_setting){.catalog = b->catalog, .op = op, .reference = b->op, .device = &b->device, .step_limit = ALTERED_STEPS, .tier = tier};
}

/* What the list has of each kernel, behind what takes none. */
typedef struct shares { gr_kinds kinds; uint32_t *pieces, *cases; uint64_t left; } shares;

/* As the suite does: within the number of elements, but for kernels that have hardly run. */
static void add_case(bench *b, one_case *c, shares *s) {
    gr_arena a = {0};
    gr_case k;
    gr_setting g = setting(b, b->op, c->tier);
    gr_target t = gr_trial_target(&g, &c->spec);
    bool ok = gr_spec_resolve(&a, b->op, &c->spec, &k);
    if (ok) c->which = gr_kernel_which(&t, c->tier, &k.call);
    bool unordered = ok && c->which >= 0 && b->op->kernels[c->which].order == GR_ORDER_UNORDERED;
    bool within = c->spec.elements * GR_KINDS <= s->left;
    c->needed = ok && c->which >= 0 && s->cases[c->which + 1] < GR_LEAST_CASES;
    ok = ok && (c->tier == GR_TIER_DEBUG || unordered) && (within || c->needed);
    if (ok) {
        s->left -= within ? c->spec.elements * GR_KINDS : 0;
        s->cases[c->which + 1]++;
        c->kinds_n = gr_kinds_next(&s->kinds, &k.call, c->which, c->spec.elements, c->kind);
        c->pieces = s->pieces[c->which + 1] < GR_PIECES && gr_probe_divisible(&k.call);
        s->pieces[c->which + 1] += c->pieces;
        b->cases[b->cases_n++] = *c;
    }
    gr_arena_free(&a);
}

static bool make_list(bench *b, uint32_t want) {
    gr_spec *list;
    uint32_t n;
    shares s = {.pieces = GR_NEW_N(&b->a, uint32_t, b->op->kernels_n + 1), .cases = GR_NEW_N(&b->a, uint32_t, b->op->kernels_n + 1), .left = GR_ELEMENTS};
    bool unordered = false;
    GR_TRY(s.pieces && s.cases && gr_cases_make(&b->a, b->op, b->seed, want ? want : 200, &list, &n));
    b->cases = GR_NEW_N(&b->a, one_case, 2 * n);
    for (uint32_t k = 0; k < b->op->kernels_n; k++) unordered = unordered || b->op->kernels[k].order == GR_ORDER_UNORDERED;
    for (uint32_t pass = 0; b->cases && pass < 1u + unordered; pass++)
        for (uint32_t i = 0; i < n; i++) {
            one_case c = {.spec = list[i], .tier = pass ? GR_TIER_FAST : GR_TIER_DEBUG, .index = i};
            add_case(b, &c, &s);
        }
    return b->cases != NULL;
}

bench *bench_new(const gr_catalog *catalog, const gr_op *op, uint32_t cases) {
    bench *b = gr_heap_alloc(1, sizeof *b);
    if (!b) return NULL;
    *b = (bench){.catalog = catalog, .op = op, .device = gr_regime_oracle()};
    gr_sha256 h = gr_sha256_of(op->id.p, op->id.n);
    for (int i = 0; i < 8; i++) b->seed = b->seed << 8 | h.b[i];
    bool ok = make_list(b, cases);
    for (uint32_t i = 0; i < KILLERS; i++) b->killer[i] = b->cases_n;
    if (ok) return b;
    bench_free(b);
    return NULL;
}

void bench_free(bench *b) {
    for (uint32_t i = 0; b && i < b->cases_n; i++)
        if (b->cases[i].ready == READY) gr_trial_close(&b->cases[i].t);
    if (b) gr_arena_free(&b->a);
    gr_heap_free(b);
}

/* ---- programs of lanes -------------------------------------------------------------------- */

static gr_sha256 key_of(const gr_kernel *k) {
    gr_sha256_state s;
    gr_sha256_init(&s);
    gr_sha256_update(&s, k->hash.b, sizeof k->hash.b);
    gr_sha256_update(&s, k->entry.p, k->entry.n);
    for (uint32_t i = 0; i < k->overrides_n; i++) gr_sha256_update(&s, &k->overrides[i].value, sizeof k->overrides[i].value);
    return gr_sha256_final(&s);
}

/* The lane program of a kernel as text, appended to out. */
static bool lanes_of(const gr_kernel *k, gr_buf *out) {
    gr_arena a = {0};
    gr_diags d;
    gr_wgsl_options o = {0};
    gr_diags_init(&d);
    gr_wgsl_override_value *v = GR_NEW_N(&a, gr_wgsl_override_value, k->overrides_n);
    for (uint32_t i = 0; v && i < k->overrides_n; i++) v[i] = (gr_wgsl_override_value){k->overrides[i].name, k->overrides[i].value};
    gr_eval_options e = {.override = v, .override_n = k->overrides_n};
    gr_wgsl_module *m = gr_wgsl_load(&a, &d, GR_STR("mutant"), k->wgsl, &o);
    gr_eval_program *p = m && v ? gr_eval_compile(&a, &d, m, k->entry, &e) : NULL;
    if (p) gr_eval_print(out, p);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return p != NULL;
}

static bool keep_programs(bench *b, one_case *c) {
    const gr_plan *p = &c->t.kernel.plan;
    c->program = GR_NEW_N(&b->a, uint32_t, p->kernels_n);
    GR_TRY(c->program);
    c->program_n = p->kernels_n;
    for (uint32_t i = 0; i < p->kernels_n; i++) {
        gr_sha256 key = key_of(&p->kernels[i]);
        uint32_t at = 0;
        while (at < b->programs.n && !gr_sha256_eq(b->programs.v[at].key, key)) at++;
        c->program[i] = at;
        if (at < b->programs.n) continue;
        gr_buf text = {0};
        program *x = lanes_of(&p->kernels[i], &text) ? GR_PUSH(&b->a, &b->programs) : NULL;
        if (x) *x = (program){key, gr_str_dup(&b->a, gr_buf_view(&text))};
        gr_buf_free(&text);
        GR_TRY(x);
    }
    return true;
}

/* What is known of one altered op: instances seen before. */
typedef struct instances { uint32_t n; struct { uint32_t base; gr_sha256 key; bool same; } v[PROGRAMS]; } instances;

static bool same_program(const bench *b, instances *s, uint32_t base, const gr_kernel *k) {
    gr_sha256 key = key_of(k);
    if (gr_sha256_eq(key, b->programs.v[base].key)) return true;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].base == base && gr_sha256_eq(s->v[i].key, key)) return s->v[i].same;
    gr_buf text = {0};
    bool same = lanes_of(k, &text) && gr_str_eq(gr_buf_view(&text), b->programs.v[base].lanes);
    gr_buf_free(&text);
    if (s->n == PROGRAMS) return same;
    s->v[s->n].base = base, s->v[s->n].key = key, s->v[s->n++].same = same;
    return same;
}

static bool same_plan(const bench *b, instances *s, const one_case *c, const gr_plan *p) {
    bool same = p->kernels_n == c->program_n;
    for (uint32_t i = 0; same && i < p->kernels_n; i++) same = same_program(b, s, c->program[i], &p->kernels[i]);
    return same;
}

/* ---- a case made ready -------------------------------------------------------------------- */

static const void *kept(gr_arena *a, const void *p, size_t n) {
    void *copy = gr_arena_alloc(a, n + 16, 1);
    if (copy && n) memcpy(copy, p, n);
    return copy;
}

/* The truth out of the executor's memory. */
static bool keep_truth(gr_arena *a, const gr_truth *from, gr_truth *to) {
    uint64_t n = gr_array_count(&from->expected);
    *to = *from;
    to->leaves = NULL;
    to->expected.data = (void *)(uintptr_t)kept(a, from->expected.data, from->expected.bytes);
    to->f32.data = (void *)(uintptr_t)kept(a, from->f32.data, from->f32.bytes);
    to->r = kept(a, from->r, n * sizeof(double));
    to->b = kept(a, from->b, n * sizeof(double));
    to->c = kept(a, from->c, n * sizeof(double));
    to->mark = kept(a, from->mark, n * from->step);
    return !gr_arena_failed(a);
}

static bool keep_run(one_case *c, run *r, gr_values v) {
    gr_trial *t = &c->t;
    *r = (run){v, GR_NEW_N(&t->arena, gr_array, t->c.call.operands_n), GR_NEW_N(&t->arena, gr_truth, t->truth.out_n)};
    GR_TRY(r->in && r->y);
    for (uint32_t i = 0; i < t->c.call.operands_n; i++) r->in[i] = t->in[i];
    for (uint32_t i = 0; i < t->truth.out_n; i++) GR_TRY(keep_truth(&t->arena, &t->y[i], &r->y[i]));
    return true;
}

static bool moved_far(gr_trial *t, uint32_t operand, uint64_t at) {
    gr_array *x = &t->in[operand];
    x->data = (void *)(uintptr_t)kept(&t->arena, x->data, x->bytes);
    if (x->data) gr_probe_move(x, at);
    return x->data != NULL;
}

/* With an element of an operand moved far. */
static bool make_probe(const gr_setting *g, one_case *c, uint32_t operand, gr_diags *d, gr_fail *f) {
    gr_trial *t = &c->t;
    gr_counts counts = {0};
    double worst = 0;
    memcpy(t->in, c->runs[0].in, t->c.call.operands_n * sizeof *t->in);
    return moved_far(t, operand, gr_probe_place(gr_array_count(&t->in[operand]), c->index + operand)) && gr_trial_rerun(t, d, t->in, t->got) &&
           gr_trial_truth(t, d) && keep_run(c, &c->runs[c->kinds_n + operand], GR_VALUES_SMALL) &&
           gr_trial_compare(t, d, g, GR_VALUES_SMALL, true, t->got, &counts, &worst, f);
}

static bool make_values(bench *b, const gr_setting *g, one_case *c, uint32_t k, gr_diags *d, gr_fail *f) {
    gr_counts counts = {0};
    double worst = 0;
    GR_TRY(gr_trial_run(&c->t, d, g, c->kind[k], b->seed, &counts, &worst, f) && keep_run(c, &c->runs[k], c->kind[k]));
    if (k || f->failed || !c->pieces) return true;
    gr_pieces seen = {0};
    GR_TRY(gr_probe_pieces(&c->t, d, g, &c->spec, GR_VALUES_SMALL, &seen, f));
    c->pieces = seen.cut > 0;
    return true;
}

static void say_bug(bench *b, const one_case *c, const gr_diags *d, const gr_fail *f) {
    gr_buf text = {0};
    if (b->bug[0]) return;
    gr_spec_print(&text, b->op, &c->spec);
    snprintf(b->bug, sizeof b->bug, "the unaltered op fails: %s (%.*s)", f->failed ? f->reason : d->list.n ? gr_diag_text(d->list.v[0].name) : "?", GR_STR_ARG(gr_buf_view(&text)));
    gr_buf_free(&text);
}

/* How many iterations of loops the unaltered kernel takes, in steps of 8; an altered one may take 8 times as many. */
static void find_steps(const gr_setting *g, one_case *c) {
    gr_target target = gr_trial_target(g, &c->spec);
    bool done = false;
    for (c->steps = 1 << 8; !done && c->steps < ALTERED_STEPS; c->steps *= 8) {
        gr_exec_options o = {.threads = 1, .step_limit = c->steps};
        gr_side s;
        gr_diags quiet;
        gr_array out[RUN_TENSORS];
        int changed = -1;
        bool missing, fence = false;
        gr_diags_init(&quiet);
        done = gr_side_open(&s, &quiet, g, &c->t.c, &target, gr_oracle_api(), NULL, &o, true, &missing) &&
               gr_side_run(&s, &quiet, c->runs[0].in, 0x3c, out, &changed, &fence);
        gr_side_close(&s);
        gr_diags_free(&quiet);
    }
    if (!done) c->steps = ALTERED_STEPS;
}

/* Once all runs are made; a comparison may run the reference in f32 again. */
static void settle_sides(bench *b, one_case *c) {
    uint32_t n = c->t.truth.out_n;
    if (c->settled) return;
    gr_side_close(&c->t.kernel);
    gr_side_close(&c->t.sane);
    gr_side_close(&c->t.truth);
    if (b->op->category != GR_CATEGORY_REDUCTION || b->op->tolerance == GR_TOLERANCE_EXACT) gr_side_close(&c->t.f32);
    c->t.truth.out_n = n;
    c->settled = true;
}

static bool open_case(bench *b, one_case *c) {
    gr_setting g = setting(b, b->op, c->tier);
    gr_diags d;
    gr_fail none = {0};
    bool missing = false;
    uint64_t work = 0;
    gr_diags_init(&d);
    g.run_limit = c->spec.elements < GR_LONG_ELEMENTS ? 0 : (uint64_t)GR_WORK_SLACK * GR_WORK_CASE;
    bool ok = gr_trial_open(&c->t, &d, &g, &c->spec, &missing) && gr_trial_work(&c->t, &d, &g, b->seed, &work), affords = work <= (c->needed ? GR_WORK_NEEDED : GR_WORK_CASE);
    ok = ok && affords && keep_programs(b, c);
    if (ok) c->runs_n = c->kinds_n + (c->tier == GR_TIER_DEBUG && c->spec.elements <= GR_PROBE_MAX ? c->t.c.call.operands_n : 0);
    ok = ok && (c->runs = GR_NEW_N(&c->t.arena, run, c->runs_n)) != NULL;
    c->ready = ok ? READY : UNFIT;
    if (!ok && !missing && affords) say_bug(b, c, &d, &none);
    if (!ok) gr_trial_close(&c->t);
    gr_diags_free(&d);
    return ok;
}

/* The unaltered op on a run, when first asked for; it must pass, or nothing could be said of others. *none: an operand that is not there. */
static bool make_run(bench *b, one_case *c, uint32_t i, bool *none) {
    gr_setting g = setting(b, b->op, c->tier);
    gr_diags d;
    gr_fail f = {0};
    uint32_t operand = i - c->kinds_n;
    *none = i >= c->kinds_n && (c->runs[0].in[operand].dtype == GR_DTYPE_NONE || gr_array_count(&c->runs[0].in[operand]) == 0);
    if (*none || c->runs[i].in) return true;
    gr_diags_init(&d);
    bool ok = i < c->kinds_n ? make_values(b, &g, c, i, &d, &f) : make_probe(&g, c, operand, &d, &f);
    if (!ok || f.failed) say_bug(b, c, &d, &f);
    if (ok && !f.failed && i == 0) find_steps(&g, c);
    gr_diags_free(&d);
    return ok && !f.failed;
}

/* ---- an altered op on one case ------------------------------------------------------------ */

/* One run of a side: false when the device failed; what the kernel does wrong is a failure of the case. */
static bool run_side(gr_side *s, gr_diags *d, const gr_array *in, uint8_t poison, gr_array *out, gr_fail *f) {
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

/* The cheap observations first; of a probe, no others. */
static bool try_run(gr_trial *t, gr_diags *d, const gr_setting *g, const run *r, bool probe, bool blind, gr_fail *f) {
    gr_array again[RUN_TENSORS];
    gr_counts counts = {0};
    double worst = 0;
    memcpy(t->in, r->in, t->c.call.operands_n * sizeof *t->in);
    memcpy(t->y, r->y, t->truth.out_n * sizeof *t->y);
    GR_TRY(run_side(&t->kernel, d, t->in, 0x3c, t->got, f));
    if (!f->failed && !blind) GR_TRY(gr_trial_compare(t, d, g, r->v, true, t->got, &counts, &worst, f));
    if (probe) return true;
    if (!f->failed) GR_TRY(run_side(&t->sane, d, t->in, 0x3c, again, f));
    for (uint32_t i = 0; i < t->kernel.out_n && !f->failed && !t->unordered; i++) gr_results_differ(&t->got[i], &again[i], i, "the sanitizer's run, in the opposite order, differs", f);
    if (f->failed || t->unordered) return true;
    GR_TRY(run_side(&t->kernel, d, t->in, 0xff, again, f));
    for (uint32_t i = 0; i < t->kernel.out_n && !f->failed; i++)
        gr_results_differ(&t->got[i], &again[i], i, "an element is not written, or two runs differ", f);
    return true;
}

/* False too when a run could not be made: the bench says why. */
static bool try_runs(bench *b, gr_trial *t, gr_diags *d, const gr_setting *g, one_case *c, bool blind, gr_fail *f) {
    gr_array first[RUN_TENSORS];
    for (uint32_t i = 0; i < c->runs_n && !f->failed; i++) {
        bool none;
        gr_pieces ignored = {0};
        GR_TRY(make_run(b, c, i, &none));
        if (none) continue;
        GR_TRY(try_run(t, d, g, &c->runs[i], i >= c->kinds_n, blind, f));
        if (i == 0) memcpy(first, t->got, sizeof first);
        if (i == 0 && c->pieces && !blind && !f->failed) GR_TRY(gr_probe_pieces(t, d, g, &c->spec, GR_VALUES_SMALL, &ignored, f));
    }
    if (f->failed) return true;
    settle_sides(b, c);
    return t->unordered || gr_probe_again(t, d, c->runs[0].in, first, f);
}

/* *same: nothing was run, since the programs are the unaltered ones. */
static bool try_case(bench *b, const gr_op *op, instances *s, one_case *c, bool blind, gr_diags *d, bool *same, gr_fail *f) {
    gr_setting g = setting(b, op, c->tier);
    gr_target target = gr_trial_target(&g, &c->spec);
    bool missing, none;
    GR_TRY(make_run(b, c, 0, &none));
    g.step_limit = c->steps;
    gr_exec_options plain = {.threads = 1, .step_limit = g.step_limit}, sane = {.threads = 1, .step_limit = g.step_limit, .sanitize = true, .reverse = true};
    gr_trial t = {.c = c->t.c, .oracle = true, .unordered = c->t.unordered, .f32 = c->t.f32, .truth.out_n = c->t.truth.out_n};
    t.f32.arena = (gr_arena){0}; /* what a comparison allocates goes with the try */
    bool ok = gr_side_open(&t.kernel, d, &g, &t.c, &target, gr_oracle_api(), NULL, &plain, true, &missing);
    *same = ok && same_plan(b, s, c, &t.kernel.plan);
    if (ok && !*same) ok = gr_side_open(&t.sane, d, &g, &t.c, &target, gr_oracle_api(), NULL, &sane, false, &missing) && try_runs(b, &t, d, &g, c, blind, f);
    gr_side_close(&t.kernel);
    gr_side_close(&t.sane);
    gr_arena_free(&t.f32.arena);
    gr_arena_free(&t.arena);
    return ok;
}

/* ---- all cases ------------------------------------------------------------------------------ */

static bool concerns(const bench *b, const one_case *c, gr_str file) {
    return c->which >= 0 ? gr_str_eq(b->op->kernels[c->which].file, file) : true;
}

static void say(bench_result *r, bench_fate fate, const char *why) {
    r->fate = fate;
    snprintf(r->why, sizeof r->why, "%s", why);
}

static void say_diags(bench_result *r, const gr_diags *d) {
    r->fate = d->worst == GR_DIAG_USER ? BENCH_INVALID : BENCH_BUG;
    for (uint32_t i = 0; i < d->list.n; i++)
        if (d->list.v[i].severity == GR_ERROR) {
            snprintf(r->why, sizeof r->why, "%s: %.*s", gr_diag_text(d->list.v[i].name), GR_STR_ARG(d->list.v[i].message));
            return;
        }
}

static void say_killed(const bench *b, const one_case *c, const gr_fail *f, bench_result *r) {
    gr_buf text = {0};
    gr_spec_print(&text, b->op, &c->spec);
    say(r, BENCH_KILLED, f->reason);
    snprintf(r->at, sizeof r->at, "%.*s", GR_STR_ARG(gr_buf_view(&text)));
    gr_buf_free(&text);
}

static void killed_by(bench *b, uint32_t at) {
    uint32_t i = 0;
    while (i + 1 < KILLERS && b->killer[i] != at) i++;
    for (; i > 0; i--) b->killer[i] = b->killer[i - 1];
    b->killer[0] = at;
}

/* The turn-th case to be tried: the last killers, then from the smallest on; cases_n: it had its turn. */
static uint32_t in_turn(const bench *b, const uint32_t *killer, uint32_t turn) {
    if (turn < KILLERS) return killer[turn];
    for (uint32_t i = 0; i < KILLERS; i++)
        if (killer[i] == turn - KILLERS) return b->cases_n;
    return turn - KILLERS;
}

void bench_try(bench *b, const altered_files *changed, gr_str file, const bench_budget *limit, bench_result *r) {
    gr_arena a;
    gr_diags d;
    instances s = {0};
    bool all_same = true, looked = false;
    uint32_t killer[KILLERS];
    *r = (bench_result){0};
    memcpy(killer, b->killer, sizeof killer);
    gr_arena_init(&a, (size_t)1 << 30);
    gr_diags_init(&d);
    const gr_op *op = gr_op_alone(&a, &d, b->op->id, changed->name, changed->text, changed->n);
    if (!op) say_diags(r, &d);
    for (uint32_t turn = 0; op && turn < KILLERS + b->cases_n && r->fate == BENCH_NONE; turn++) {
        uint32_t i = in_turn(b, killer, turn);
        one_case *c = &b->cases[i];
        gr_fail f = {0};
        bool same = false;
        if (i == b->cases_n || !concerns(b, c, file)) continue;
        if (limit && limit->cases && r->cases == limit->cases) break;
        if (c->ready == UNFIT || (c->ready == NOT_YET && !open_case(b, c))) continue;
        if (!try_case(b, op, &s, c, limit && limit->blind, &d, &same, &f)) say_diags(r, &d);
        else if (f.failed) say_killed(b, c, &f, r), killed_by(b, i), r->place = r->cases;
        looked = true;
        r->cases += !same;
        all_same = all_same && same;
    }
    if (b->bug[0]) say(r, BENCH_BUG, b->bug);
    if (r->fate == BENCH_NONE) say(r, looked && all_same ? BENCH_EQUAL : BENCH_SURVIVED, looked ? "" : "no case runs the file");
    gr_diags_free(&d);
    gr_arena_free(&a);
}
