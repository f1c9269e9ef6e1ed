/* verdict.c: budgets and streaming, tier, guarantee, tolerance, CPU estimates; green, yellow or red. */
#include "ladder/plan/plan_int.h"

/* Work units (one element moved or written, or eight terms of a contraction) that the evaluator does in a second:
 * measured on two cores with matmul, exp, sums and the windowed median; within a factor of three. */
static const double work_per_second = 1e8;

bool gr_plan_warn(gr_arena *a, gr_plan *p, gr_diag_name name, gr_verdict at_least) {
    if (p->verdict < at_least) p->verdict = at_least;
    for (uint32_t i = 0; i < p->warnings_n; i++)
        if (p->warnings[i] == name) return true;
    gr_diag_name *grown = gr_arena_grow(a, p->warnings, p->warnings_n, p->warnings_n + 1, sizeof *grown);
    if (!grown) return false;
    grown[p->warnings_n++] = name;
    p->warnings = grown;
    return true;
}

static void forward(gr_diags *to, const gr_diags *from) {
    for (uint32_t i = 0; i < from->list.n; i++) {
        const gr_diag *g = &from->list.v[i];
        gr_report(to, g->name, g->place, NULL, "%.*s", GR_STR_ARG(g->message));
        if (g->hint.n) gr_report_hint(to, "%.*s", GR_STR_ARG(g->hint));
        if (g->trail.n) gr_report_trail(to, "%.*s", GR_STR_ARG(g->trail));
    }
    if (from->out_of_memory) gr_report_oom(to);
}

static uint64_t least(uint64_t x, uint64_t y) { return x < y ? x : y; }

static gr_plan_limits resident_limits(const gr_target *t) {
    uint64_t binding = least(t->max_storage_binding, t->max_buffer);
    uint64_t page = (binding - binding / 16) / GR_PAGE_ALIGN * GR_PAGE_ALIGN; /* a piece may need a margin beside its page */
    return (gr_plan_limits){.binding = binding, .page = page ? page : GR_PAGE_ALIGN, .piece = binding, .stream_over = UINT64_MAX,
                            .staging = least(UINT64_C(64) << 20, t->max_buffer)};
}

typedef struct settle {
    gr_arena *a;
    gr_diags *d;
    const gr_kernels *k;
    const gr_catalog *catalog;
    const gr_plan_options *o;
    gr_plan *p;
} settle;

static gr_place document_of(const settle *s) { return (gr_place){.document = s->k->graph->document}; }

/* ---- memory -------------------------------------------------------------------------- */

/* A value that no piece can shrink: the largest budget below which streaming is not tried further. */
static bool try_streaming(settle *s, uint64_t budget, gr_tier tier, bool *found) {
    gr_plan_limits lim = resident_limits(&s->k->target);
    *found = false;
    for (uint64_t f = 4; f <= 128 && budget / f >= 4096 && !*found; f *= 2) {
        gr_plan streamed;
        gr_diags d;
        gr_diags_init(&d);
        lim.piece = least(budget / f, lim.binding) / GR_PAGE_ALIGN * GR_PAGE_ALIGN;
        lim.stream_over = lim.piece;
        lim.staging = least(lim.staging, lim.piece);
        bool ok = gr_plan_attempt(s->a, &d, s->k, s->catalog, tier, &lim, &streamed);
        bool memory = d.out_of_memory;
        gr_diags_free(&d);
        if (memory) return gr_report_oom(s->d);
        if (!ok || streamed.peak_total > budget) continue;
        *s->p = streamed;
        s->p->verdict = GR_GREEN; /* raised by the warning that follows */
        *found = true;
    }
    return true;
}

static bool report_over(settle *s, uint64_t budget) {
    gr_buf b = {0};
    gr_bytes_print(&b, s->p->peak_total);
    gr_buf_puts(&b, " needed, ");
    gr_bytes_print(&b, budget);
    gr_buf_puts(&b, " allowed");
    gr_report(s->d, GR_D_PLAN_OVER_BUDGET, document_of(s), "raise the budget, run on the other device, or make an input smaller", "%.*s",
              GR_STR_ARG(gr_buf_view(&b)));
    bool ok = !b.failed;
    gr_buf_free(&b);
    return ok && gr_plan_warn(s->a, s->p, GR_D_PLAN_OVER_BUDGET, GR_RED);
}

static bool has_disk(const gr_graph *g) {
    for (uint32_t v = 0; v < g->values_n; v++)
        if (g->values[v].on_disk) return true;
    return false;
}

/* What streaming costs: bytes that move in every run beside those of a resident plan. */
static void report_streaming(settle *s, uint64_t resident) {
    uint64_t sum[3] = {resident, 0, 0}; /* resident, moved, of that from disk */
    gr_plan_stream x;
    gr_buf b[3] = {{0}};
    for (uint32_t v = 0; v < s->p->tensors_n; v++) {
        if (!gr_plan_streams(s->p, v, &x)) continue;
        sum[1] += x.up + x.down;
        if (x.disk) sum[2] += x.up;
    }
    for (int i = 0; i < 3; i++) gr_bytes_print(&b[i], sum[i]);
    gr_report(s->d, GR_D_PLAN_STREAMING_SLOWER, document_of(s), "raise the budget above the resident size",
              "the tensors need %.*s together: they are streamed from %s piece by piece, and %.*s move in every run%s%.*s", GR_STR_ARG(gr_buf_view(&b[0])),
              sum[2] == 0 ? "the host" : sum[2] == sum[1] ? "disk" : "disk and host", GR_STR_ARG(gr_buf_view(&b[1])), sum[2] ? ", read from disk: " : "", sum[2] ? (int)b[2].n : 0, b[2].p ? b[2].p : "");
    for (int i = 0; i < 3; i++) gr_buf_free(&b[i]);
}

static bool settle_memory(settle *s, gr_tier tier) {
    const gr_graph *g = s->k->graph;
    bool gpu = s->k->target.kind == GR_TARGET_WEBGPU, found;
    uint64_t budget = gpu ? (s->o->budget_gpu ? s->o->budget_gpu : g->budget_gpu) : g->budget_cpu;
    s->p->budget = budget;
    if (!budget || s->p->peak_total <= budget) return true;
    if (!gpu && !has_disk(g)) return report_over(s, budget); /* on the CPU the host's memory is the same memory */
    uint64_t resident = s->p->peak_total;
    GR_TRY(try_streaming(s, budget, tier, &found));
    s->p->budget = budget;
    if (!found) return report_over(s, budget);
    report_streaming(s, resident);
    return gr_plan_warn(s->a, s->p, GR_D_PLAN_STREAMING_SLOWER, GR_YELLOW);
}

/* ---- work ----------------------------------------------------------------------------- */

static bool settle_work(settle *s) {
    const gr_plan_options *o = s->o;
    double declared = s->k->graph->budget_cpu_seconds;
    double yellow = o->cpu_yellow_seconds > 0 ? o->cpu_yellow_seconds : 10, red = o->cpu_red_seconds > 0 ? o->cpu_red_seconds : 120;
    if (declared > 0) red = declared;
    if (yellow > red) yellow = red;
    s->p->cpu_seconds = (double)s->p->work / work_per_second;
    if (s->k->target.kind != GR_TARGET_ORACLE || s->p->cpu_seconds <= yellow) return true;
    if (s->p->cpu_seconds <= red || s->k->target.heavy_allowed) {
        gr_report(s->d, GR_D_PLAN_HEAVY_ON_CPU, document_of(s), "run on a GPU, or wait", "about %.0f s of work for the CPU", s->p->cpu_seconds);
        return gr_plan_warn(s->a, s->p, GR_D_PLAN_HEAVY_ON_CPU, GR_YELLOW);
    }
    gr_report(s->d, GR_D_PLAN_TOO_HEAVY_ON_CPU, document_of(s), "run on a GPU, or allow heavy work on the CPU",
              "about %.0f s of work for the CPU, over the bound of %.0f s", s->p->cpu_seconds, red);
    return gr_plan_warn(s->a, s->p, GR_D_PLAN_TOO_HEAVY_ON_CPU, GR_RED);
}

/* ---- promises -------------------------------------------------------------------------- */

static bool settle_tier(settle *s, gr_tier tier) {
    gr_tier declared = s->k->graph->tier;
    s->p->tier = tier;
    s->p->tier_lowered = tier > declared && declared != GR_TIER_NONE;
    if (!s->p->tier_lowered) return true;
    gr_report(s->d, GR_D_CANVAS_TIER_LOWERED, document_of(s), "leave out --tier to run as declared", "tier %s instead of the declared %s",
              gr_tier_name(tier), gr_tier_name(declared));
    return gr_plan_warn(s->a, s->p, GR_D_CANVAS_TIER_LOWERED, GR_YELLOW);
}

static bool settle_guarantee(settle *s) {
    bool oracle = s->k->target.kind == GR_TARGET_ORACLE;
    gr_guarantee demand = s->k->graph->guarantee;
    s->p->guarantee = oracle || s->p->tier == GR_TIER_DEBUG ? GR_GUARANTEE_REPLAYABLE : GR_GUARANTEE_CONVERGENT;
    bool met = demand == GR_GUARANTEE_BITWISE ? oracle : s->p->guarantee >= demand;
    if (met) return true;
    gr_report(s->d, GR_D_PLAN_GUARANTEE_UNMEETABLE, document_of(s),
              demand == GR_GUARANTEE_BITWISE ? "run with --device cpu: the oracle gives the same bits everywhere" : "run in tier debug",
              "the canvas demands %s; %.*s in tier %s gives %s", gr_guarantee_name(demand), GR_STR_ARG(s->k->target.adapter),
              gr_tier_name(s->p->tier), gr_guarantee_name(s->p->guarantee));
    return gr_plan_warn(s->a, s->p, GR_D_PLAN_GUARANTEE_UNMEETABLE, GR_RED);
}

/* One op of a node against the demand of the canvas. */
static bool settle_op(settle *s, const gr_op *op, gr_str node, gr_place at) {
    gr_tolerance demand = s->k->graph->tolerance;
    if (demand == GR_TOLERANCE_NONE || op->tolerance <= demand) return true;
    gr_report(s->d, GR_D_PLAN_TOLERANCE_UNMET, at, "choose a stricter op, or relax the demand of the canvas",
              "node \"%.*s\": %.*s is %s, the canvas demands %s", GR_STR_ARG(node), GR_STR_ARG(op->id), gr_tolerance_name(op->tolerance), gr_tolerance_name(demand));
    return gr_plan_warn(s->a, s->p, GR_D_PLAN_TOLERANCE_UNMET, GR_RED);
}

static bool settle_tolerance(settle *s) {
    const gr_graph *g = s->k->graph;
    s->p->tolerance = g->tolerance;
    GR_TRY(gr_plan_list_classes(s->a, s->p));
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        const gr_graph_node *x = &g->nodes[i];
        const gr_fusion *f = x->call.op->fusion;
        for (uint32_t k = 0; f && k < f->n; k++) GR_TRY(settle_op(s, f->ops[k], f->nodes[k], x->at));
        if (!f) GR_TRY(settle_op(s, x->call.op, x->node, x->at));
    }
    return true;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static bool settle_kernels(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, const gr_plan_options *o, gr_plan *p) {
    settle s = {a, d, k, catalog, o, p};
    gr_plan_limits lim = resident_limits(&k->target);
    gr_tier tier = k->tier;
    gr_diags tried;
    gr_diags_init(&tried);
    bool built = gr_plan_attempt(a, &tried, k, catalog, tier, &lim, p), bug = tried.worst == GR_DIAG_BUG || tried.out_of_memory;
    gr_diag_name first = tried.list.n ? tried.list.v[0].name : GR_D_PLAN_NOT_SPLITTABLE;
    forward(d, &tried);
    gr_diags_free(&tried);
    if (!built) {
        if (bug) return false;
        *p = (gr_plan){.graph = k->graph, .target = k->target, .budget = o->budget_gpu ? o->budget_gpu : k->graph->budget_gpu};
    }
    p->verdict = built ? GR_GREEN : GR_RED;
    bool ok = (built || gr_plan_warn(a, p, first, GR_RED)) && (!built || settle_memory(&s, tier));
    ok = ok && settle_work(&s) && settle_tier(&s, tier) && settle_guarantee(&s) && settle_tolerance(&s);
    return ok || gr_report_oom(d);
}

/* A fused node cannot be cut where its parts could: what is red is tried again without fusion. */
bool gr_plan_settle(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, const gr_plan_options *o, gr_plan *p) {
    if (!k->target.fuse) return settle_kernels(a, d, k, catalog, o, p);
    gr_diags fused, other;
    gr_kernels apart;
    gr_plan without;
    gr_target t = k->target;
    t.fuse = false;
    gr_diags_init(&fused);
    gr_diags_init(&other);
    bool ok = settle_kernels(a, &fused, k, catalog, o, p);
    bool better = ok && p->verdict == GR_RED && gr_plan_lower_again(a, &other, k, catalog, k->tier, &t, &apart) &&
                  settle_kernels(a, &other, &apart, catalog, o, &without) && without.verdict != GR_RED;
    if (better) *p = without;
    forward(d, better ? &other : &fused);
    gr_diags_free(&fused);
    gr_diags_free(&other);
    return ok;
}
