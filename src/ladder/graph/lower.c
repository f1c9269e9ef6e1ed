/* lower.c: graph to kernels: bodies without a kernel expanded, maps fused, then every node instantiated in order. */
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

static bool is_map(void *user, const gr_graph *g, uint32_t node) {
    const usable_ctx *u = user;
    return gr_kernel_is_map(u->t, u->tier, &g->nodes[node].call);
}

static uint32_t absorbs(void *user, const gr_graph *g, uint32_t node, uint32_t i) {
    const usable_ctx *u = user;
    return gr_kernel_absorbs(u->t, u->tier, &g->nodes[node].call, i);
}

static bool fuse(gr_arena *a, gr_diags *d, const gr_graph **g, usable_ctx *u) {
    gr_graph *fused = GR_NEW(a, gr_graph);
    gr_fuse_rules rules = {is_map, absorbs, u, u->t->max_storage_buffers};
    if (!fused) return gr_report_oom(d);
    GR_TRY(gr_graph_opt_fuse(a, d, *g, &rules, fused) && gr_graph_verify(d, fused));
    *g = fused;
    return true;
}

/* What was not fused into the node's kernel follows why it was chosen. */
static bool append_apart(gr_arena *a, gr_diags *d, const gr_graph_node *n, gr_kernel *list, uint32_t from, uint32_t to) {
    if (!n->apart.n || from == to) return true;
    char *why = gr_arena_printf(a, "%.*s; %.*s", GR_STR_ARG(list[from].why), GR_STR_ARG(n->apart));
    if (!why) return gr_report_oom(d);
    for (uint32_t i = from; i < to; i++) list[i].why = gr_str_of(why);
    return true;
}

bool gr_graph_lower(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_catalog *catalog, const gr_target *t, gr_kernels *out) {
    usable_ctx u = {t, g->tier};
    if (needs_expansion(g, &u)) {
        gr_graph *expanded = GR_NEW(a, gr_graph);
        if (!expanded) return gr_report_oom(d);
        GR_TRY(gr_graph_opt_expand(a, d, g, catalog, false, usable, &u, expanded));
        g = expanded;
    }
    *out = (gr_kernels){.source = g, .target = *t, .tier = g->tier};
    if (t->fuse && !t->reference) GR_TRY(fuse(a, d, &g, &u));
    out->graph = g;
    gr_kernel_cache *cache = gr_kernel_cache_new(a);
    if (!cache) return gr_report_oom(d);
    bool ok = true; /* every node's trouble is reported, not the first alone */
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        const gr_graph_node *n = &g->nodes[i];
        uint32_t from = out->n;
        ok = gr_kernel_instantiate_in(cache, a, d, &n->call, t, g->tier, n->args, n->results, n->node, i, n->at, &out->list, &out->n) && ok;
        ok = append_apart(a, d, n, out->list, from, out->n) && ok;
    }
    return ok && gr_kernel_cache_finish(cache, d, out->list, out->n);
}
