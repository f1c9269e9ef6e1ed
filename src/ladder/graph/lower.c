/* lower.c: graph to kernels: bodies without a kernel expanded, then every node instantiated in order. */
#include "ladder/kernel/kernel.h"

typedef struct usable_ctx {
    const gr_target *t;
    gr_tier tier;
} usable_ctx;

static bool usable(void *user, const gr_graph *g, uint32_t node) {
    const usable_ctx *u = user;
    return gr_kernel_usable(u->t, u->tier, &g->nodes[node].call);
}

/* Some node has a graph body and no kernel of its own here. */
static bool needs_expansion(const gr_graph *g, usable_ctx *u) {
    for (uint32_t i = 0; i < g->nodes_n; i++)
        if (g->nodes[i].call.op->body == GR_BODY_GRAPH && !usable(u, g, i)) return true;
    return false;
}

bool gr_graph_lower(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_catalog *catalog, const gr_target *t, gr_kernels *out) {
    usable_ctx u = {t, g->tier};
    if (needs_expansion(g, &u)) {
        gr_graph *expanded = GR_NEW(a, gr_graph);
        if (!expanded) return gr_report_oom(d);
        GR_TRY(gr_graph_opt_expand(a, d, g, catalog, false, usable, &u, expanded));
        g = expanded;
    }
    *out = (gr_kernels){.graph = g, .target = *t, .tier = g->tier};
    gr_kernel_cache *cache = gr_kernel_cache_new(a);
    if (!cache) return gr_report_oom(d);
    bool ok = true; /* every node's trouble is reported, not the first alone */
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        const gr_graph_node *n = &g->nodes[i];
        ok = gr_kernel_instantiate_in(cache, a, d, &n->call, t, g->tier, n->args, n->results, n->node, i, n->at, &out->list, &out->n) && ok;
    }
    return ok && gr_kernel_cache_finish(cache, d, out->list, out->n);
}
