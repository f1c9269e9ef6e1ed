/* plan.c: the rung's entry, and small things about plans. */
#include "ladder/plan/plan_int.h"

const char *gr_memory_name(gr_memory m) {
    static const char *const name[] = {"none", "parameters", "activations", "gradients", "optimizer_state", "working", "data"};
    return name[m < GR_MEM_COUNT ? m : GR_MEM_NONE];
}

bool gr_plan_make(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, const gr_plan_options *o, gr_plan *out) {
    gr_plan_options none = {0};
    gr_kernels again;
    if (!o) o = &none;
    if (o->tier != GR_TIER_NONE && o->tier != k->tier) { /* chosen for another tier: choose again */
        gr_graph *g = GR_NEW(a, gr_graph), *lowered = GR_NEW(a, gr_graph);
        if (!g || !lowered) return gr_report_oom(d);
        *g = *k->graph;
        g->tier = o->tier;
        GR_TRY(gr_graph_lower(a, d, g, catalog, &k->target, &again));
        *lowered = *again.graph;
        lowered->tier = k->graph->tier; /* what the document declares */
        again.graph = lowered;
        k = &again;
    }
    GR_TRY(gr_plan_settle(a, d, k, catalog, o, out));
    return out->verdict != GR_RED || o->no_fixes || gr_plan_find_fixes(a, d, k, catalog, o, out);
}

bool gr_plan_hash(const gr_plan *p, gr_sha256 *out) {
    gr_buf b = {0};
    gr_plan_print(&b, p);
    bool ok = !b.failed;
    if (ok) *out = gr_sha256_of(b.p, b.n);
    gr_buf_free(&b);
    return ok;
}
