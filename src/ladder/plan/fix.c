/* fix.c: changes that turn a red plan, each verified by planning again with it. */
#include "ladder/plan/plan_int.h"

enum { MAX_FIXES = 5 };

typedef struct finder {
    gr_arena *a;      /* of the plan: texts of the fixes */
    gr_diags *d;
    const gr_kernels *k;
    const gr_catalog *catalog;
    gr_plan_options o;
    gr_plan *p;
    gr_plan_fix fix[MAX_FIXES];
} finder;

/* The verdict with a graph, target and options; GR_RED also when it does not compile. The plan itself is dropped. */
static gr_verdict replan(finder *f, const gr_graph *g, const gr_target *t, const gr_plan_options *o, uint64_t *peak) {
    gr_arena scratch = {0};
    gr_diags d;
    gr_kernels k;
    gr_plan p = {0};
    gr_diags_init(&d);
    bool ok = gr_graph_lower(&scratch, &d, g, f->catalog, t, &k) && gr_plan_settle(&scratch, &d, &k, f->catalog, o, &p);
    if (peak) *peak = p.peak_total;
    gr_verdict v = ok ? p.verdict : GR_RED;
    gr_diags_free(&d);
    gr_arena_free(&scratch);
    return v;
}

static bool add_fix(finder *f, gr_verdict becomes, char *change) {
    if (!change) return false;
    if (becomes == GR_RED || becomes == GR_VERDICT_NONE || f->p->fixes_n == MAX_FIXES) return true;
    f->fix[f->p->fixes_n++] = (gr_plan_fix){gr_str_of(change), becomes, true};
    return true;
}

static bool warned(const gr_plan *p, gr_diag_name name) {
    for (uint32_t i = 0; i < p->warnings_n; i++)
        if (p->warnings[i] == name) return true;
    return false;
}

/* The graph with the planned tier, so that lowering it again chooses the same kernels. */
static gr_graph graph_of(const finder *f) {
    gr_graph g = *(f->k->source ? f->k->source : f->k->graph);
    g.tier = f->k->tier;
    return g;
}

/* ---- single changes ------------------------------------------------------------------- */

static bool fix_budget(finder *f) {
    gr_graph g = graph_of(f);
    gr_plan_options o = f->o;
    uint64_t mib = (f->p->peak_total + ((UINT64_C(1) << 20) - 1)) >> 20;
    if (f->k->target.kind == GR_TARGET_WEBGPU) o.budget_gpu = mib << 20;
    else g.budget_cpu = mib << 20;
    gr_verdict v = replan(f, &g, &f->k->target, &o, NULL);
    return add_fix(f, v, gr_arena_printf(f->a, "raise the budget to %llu MiB", (unsigned long long)mib));
}

static bool fix_cpu(finder *f) {
    if (f->k->target.kind == GR_TARGET_ORACLE) return true;
    gr_graph g = graph_of(f);
    gr_target t = gr_target_oracle();
    t.heavy_allowed = f->k->target.heavy_allowed;
    return add_fix(f, replan(f, &g, &t, &f->o, NULL), gr_arena_printf(f->a, "run on the CPU (--device cpu)"));
}

static bool fix_gpu(finder *f) {
    if (f->k->target.kind != GR_TARGET_ORACLE) return true;
    gr_graph g = graph_of(f);
    gr_target t = gr_target_webgpu_default();
    return add_fix(f, replan(f, &g, &t, &f->o, NULL), gr_arena_printf(f->a, "run on a GPU (--device gpu)"));
}

static bool fix_heavy(finder *f) {
    gr_graph g = graph_of(f);
    gr_target t = f->k->target;
    t.heavy_allowed = true;
    return add_fix(f, replan(f, &g, &t, &f->o, NULL), gr_arena_printf(f->a, "allow heavy work on the CPU (--allow-heavy-cpu)"));
}

static bool fix_binding(finder *f) {
    gr_graph g = graph_of(f);
    gr_target t = f->k->target;
    uint64_t most = 0, bytes;
    if (t.kind == GR_TARGET_ORACLE) return true;
    for (uint32_t v = 0; v < g.values_n; v++)
        if (gr_type_device_bytes(&g.values[v].type, &bytes) && bytes > most) most = bytes;
    uint64_t mib = (most >> 20) + 1;
    if (mib << 20 <= t.max_storage_binding) return true;
    t.max_storage_binding = mib << 20;
    if (t.max_buffer < t.max_storage_binding) t.max_buffer = t.max_storage_binding;
    return add_fix(f, replan(f, &g, &t, &f->o, NULL),
                   gr_arena_printf(f->a, "use an adapter that binds at least %llu MiB of storage", (unsigned long long)mib));
}

static bool fix_groups(finder *f) {
    gr_graph g = graph_of(f);
    gr_target t = f->k->target;
    uint64_t most = 0;
    for (uint32_t i = 0; i < f->k->n; i++)
        for (int j = 0; j < 3; j++)
            if (!f->k->list[i].linear && f->k->list[i].grid[j] > most) most = f->k->list[i].grid[j];
    if (most > UINT32_MAX || t.kind == GR_TARGET_ORACLE) return true;
    t.max_groups = (uint32_t)most;
    return add_fix(f, replan(f, &g, &t, &f->o, NULL), gr_arena_printf(f->a, "use an adapter that dispatches %u workgroups in a dimension", t.max_groups));
}

static bool fix_tier(finder *f) {
    gr_graph g = graph_of(f);
    if (g.tier == GR_TIER_DEBUG) return true;
    g.tier = GR_TIER_DEBUG;
    gr_plan_options o = f->o;
    o.tier = GR_TIER_DEBUG;
    return add_fix(f, replan(f, &g, &f->k->target, &o, NULL), gr_arena_printf(f->a, "run in tier debug"));
}

static bool fix_guarantee(finder *f) {
    for (gr_guarantee want = f->p->guarantee; want >= GR_GUARANTEE_CONVERGENT; want--) {
        gr_graph g = graph_of(f);
        g.guarantee = want;
        GR_TRY(add_fix(f, replan(f, &g, &f->k->target, &f->o, NULL), gr_arena_printf(f->a, "demand the guarantee %s", gr_guarantee_name(want))));
    }
    return true;
}

static bool fix_tolerance(finder *f) {
    for (int want = (int)f->k->graph->tolerance + 1; want <= GR_TOLERANCE_LOOSE; want++) {
        gr_graph g = graph_of(f);
        g.tolerance = (gr_tolerance)want;
        gr_verdict v = replan(f, &g, &f->k->target, &f->o, NULL);
        if (v == GR_RED) continue;
        GR_TRY(add_fix(f, v, gr_arena_printf(f->a, "demand the tolerance %s", gr_tolerance_name((gr_tolerance)want))));
        break;
    }
    gr_graph g = graph_of(f);
    g.tolerance = GR_TOLERANCE_NONE;
    return add_fix(f, replan(f, &g, &f->k->target, &f->o, NULL), gr_arena_printf(f->a, "make no demand on the tolerance"));
}

/* ---- less to keep -------------------------------------------------------------------------- */

static bool has_backward(const gr_graph *g) {
    for (uint32_t i = 0; i < g->nodes_n; i++)
        if (g->nodes[i].backward && !g->nodes[i].again) return true;
    return false;
}

static gr_verdict verdict_cut(finder *f, const gr_graph *g, uint32_t segments) {
    gr_graph less;
    gr_arena scratch = {0};
    gr_diags d;
    gr_diags_init(&d);
    gr_verdict v = gr_graph_opt_checkpoint(&scratch, &d, g, segments, &less) ? replan(f, &less, &f->k->target, &f->o, NULL) : GR_RED;
    gr_diags_free(&d);
    gr_arena_free(&scratch);
    return v;
}

/* Recomputing activations, in the fewest segments (a power of two) that suffice. */
static bool fix_checkpoint(finder *f) {
    gr_graph g = graph_of(f);
    if (!has_backward(&g)) return true;
    for (uint32_t n = 2; n <= 64 && n < g.nodes_n; n *= 2) {
        gr_verdict v = verdict_cut(f, &g, n);
        if (v != GR_RED) return add_fix(f, v, gr_arena_printf(f->a, "compute activations again in the backward (--checkpoint %u)", n));
    }
    return true;
}

/* ---- a smaller input ------------------------------------------------------------------- */

static gr_type resized(const gr_type *t, gr_str symbol, uint64_t n) {
    gr_type r = *t;
    for (uint32_t k = 0; k < r.rank; k++) {
        if (!gr_str_eq(r.dim[k].base, symbol)) continue;
        int64_t size = (int64_t)n + r.dim[k].add;
        r.dim[k].n = size < 1 ? 1 : (uint64_t)size;
    }
    return r;
}

/* The graph inferred again with another size of a symbol. False when some op refuses it. */
static bool rebuild(gr_arena *a, gr_diags *d, const gr_graph *g, gr_str symbol, uint64_t n, gr_graph *out) {
    *out = (gr_graph){.document = g->document, .name = g->name, .tier = g->tier, .tolerance = g->tolerance, .guarantee = g->guarantee, .seed = g->seed,
                      .budget_gpu = g->budget_gpu, .budget_cpu = g->budget_cpu, .budget_cpu_seconds = g->budget_cpu_seconds};
    gr_value_id *to = GR_NEW_N(a, gr_value_id, g->values_n);
    if (!to) return false;
    for (uint32_t v = 0; v < g->values_n; v++) {
        const gr_graph_value *x = &g->values[v];
        if (x->source == GR_SOURCE_CONSTANT) to[v] = gr_graph_add_constant(a, out, x->name, x->constant);
        else if (x->source != GR_SOURCE_NODE) to[v] = gr_graph_add_input(a, out, x->name, resized(&x->type, symbol, n), x->source);
        if (x->source != GR_SOURCE_NODE && to[v] == GR_NO_VALUE) return false;
        if (x->source == GR_SOURCE_INPUT) out->values[to[v]].on_disk = x->on_disk;
    }
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        const gr_graph_node *x = &g->nodes[i];
        uint32_t params = x->call.op->sig.params_n;
        gr_value_id *args = GR_NEW_N(a, gr_value_id, x->call.operands_n), *results = GR_NEW_N(a, gr_value_id, x->call.outputs_n);
        gr_arg *given = GR_NEW_N(a, gr_arg, params);
        if (!args || !results || !given) return false;
        for (uint32_t j = 0; j < x->call.operands_n; j++) args[j] = x->args[j] == GR_NO_VALUE ? GR_NO_VALUE : to[x->args[j]];
        for (uint32_t j = 0; j < params; j++)
            given[j] = (gr_arg){.name = x->call.op->sig.params[j].name, .resolved = x->call.params[j], .is_resolved = true, .at = x->at};
        GR_TRY(gr_graph_add_node(a, d, out, x->call.op, args, x->call.operands_n, given, params, x->node, x->at, results));
        out->nodes[i].backward = x->backward;
        out->nodes[i].again = x->again;
        for (uint32_t j = 0; j < x->call.outputs_n; j++)
            if (x->results[j] != GR_NO_VALUE) to[x->results[j]] = results[j];
    }
    for (uint32_t i = 0; i < g->outputs_n; i++) GR_TRY(gr_graph_add_output(a, out, g->outputs[i].name, to[g->outputs[i].value]));
    return true;
}

static gr_verdict verdict_at(finder *f, gr_str symbol, uint64_t n) {
    gr_graph g = graph_of(f), smaller;
    gr_arena scratch = {0};
    gr_diags d;
    gr_diags_init(&d);
    gr_verdict v = rebuild(&scratch, &d, &g, symbol, n, &smaller) ? replan(f, &smaller, &f->k->target, &f->o, NULL) : GR_RED;
    gr_diags_free(&d);
    gr_arena_free(&scratch);
    return v;
}

/* Halves the size until the plan is not red, then takes back what was cut too much, to one part in eight. */
static bool fix_symbol(finder *f, gr_str symbol, uint64_t n) {
    uint64_t good = 0, bad = n;
    for (uint64_t m = n / 2; m >= 1 && !good; m /= 2) {
        if (verdict_at(f, symbol, m) != GR_RED) good = m;
        else bad = m;
    }
    if (!good) return true;
    for (int i = 0; i < 3 && bad - good > good / 8; i++) {
        uint64_t mid = good + (bad - good) / 2;
        if (verdict_at(f, symbol, mid) != GR_RED) good = mid;
        else bad = mid;
    }
    uint64_t digit = 1; /* two figures are easier to type, if they still do */
    while (good / digit >= 100) digit *= 10;
    uint64_t round = good / digit * digit;
    if (round && round != good && verdict_at(f, symbol, round) != GR_RED) good = round;
    return add_fix(f, verdict_at(f, symbol, good), gr_arena_printf(f->a, "cut the input dimension %.*s from %llu to %llu", GR_STR_ARG(symbol),
                                                                    (unsigned long long)n, (unsigned long long)good));
}

static bool named_dim(const gr_type *t, gr_str *symbol, uint64_t *n) {
    uint64_t most = 0;
    for (uint32_t k = 0; k < t->rank; k++) {
        if (t->dim[k].base.n == 0 || t->dim[k].add != 0 || t->dim[k].n <= most) continue;
        most = t->dim[k].n;
        *symbol = t->dim[k].base;
        *n = most;
    }
    return most > 1;
}

/* The largest named dimension of the largest input that has one. */
static bool fix_size(finder *f) {
    const gr_graph *g = f->k->graph;
    uint64_t most = 0, n = 0, bytes;
    gr_str symbol = {0};
    for (uint32_t v = 0; v < g->values_n; v++) {
        gr_str s = {0};
        uint64_t size = 0;
        if (g->values[v].source == GR_SOURCE_NODE || !named_dim(&g->values[v].type, &s, &size)) continue;
        if (!gr_type_device_bytes(&g->values[v].type, &bytes) || bytes <= most) continue;
        most = bytes;
        symbol = s;
        n = size;
    }
    return most == 0 || fix_symbol(f, symbol, n);
}

/* ---- the whole ------------------------------------------------------------------------------ */

bool gr_plan_find_fixes(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, const gr_plan_options *o, gr_plan *p) {
    finder f = {.a = a, .d = d, .k = k, .catalog = catalog, .o = *o, .p = p};
    f.o.no_fixes = true;
    bool ok = true;
    if (warned(p, GR_D_PLAN_OVER_BUDGET)) ok = fix_budget(&f) && fix_checkpoint(&f);
    if (warned(p, GR_D_PLAN_GUARANTEE_UNMEETABLE)) ok = ok && fix_tier(&f) && fix_cpu(&f) && fix_guarantee(&f);
    else if (warned(p, GR_D_PLAN_TOLERANCE_UNMET)) ok = ok && fix_tolerance(&f);
    else {
        if (warned(p, GR_D_PLAN_TOO_HEAVY_ON_CPU)) ok = ok && fix_heavy(&f) && fix_gpu(&f);
        else ok = ok && fix_cpu(&f);
        ok = ok && fix_size(&f);
        if (warned(p, GR_D_PLAN_DISPATCH_TOO_LARGE)) ok = ok && fix_groups(&f);
        if (warned(p, GR_D_PLAN_OVER_BUDGET)) ok = ok && fix_gpu(&f);
        if (p->fixes_n < 2) ok = ok && fix_binding(&f);
    }
    p->fixes = GR_NEW_N(a, gr_plan_fix, p->fixes_n);
    if (!ok || !p->fixes) return gr_report_oom(d);
    memcpy(p->fixes, f.fix, p->fixes_n * sizeof *p->fixes);
    return true;
}
