/* Replaces calls by the graph bodies of their ops, level by level, until none is left that wants it.
 * Inner nodes are named by the call and their number in the body, "mean/2"; inner values by the
 * body's names, "mean/sum"; what the call gave keeps its name. */
#include "ladder/graph/fragment.h"

typedef struct expansion {
    gr_arena *a, *scratch;
    gr_diags *d;
    const gr_catalog *catalog;
    const gr_graph *g;
    gr_graph *out;
    gr_value_id *map; /* old value -> new value */
} expansion;

/* Old operands as values of the new graph, under the names of the signature. */
static bool bind_operands(expansion *x, const gr_graph_node *node, gr_fragment *f) {
    const gr_sig *sig = &node->call.op->sig;
    for (uint32_t p = 0; p < sig->operands_n; p++) {
        uint32_t first = node->call.operand_first[p], n = node->call.operand_first[p + 1] - first;
        gr_value_id *v = GR_NEW_N(x->scratch, gr_value_id, n);
        if (!v) return gr_report_oom(x->d);
        for (uint32_t i = 0; i < n; i++) v[i] = node->args[first + i] == GR_NO_VALUE ? GR_NO_VALUE : x->map[node->args[first + i]];
        GR_TRY(gr_fragment_bind(f, sig->operands[p].name, v, n));
    }
    return true;
}

/* The outer result that a name of the body is: its number, or UINT32_MAX for an inner name. */
static uint32_t output_number(const gr_sig *sig, gr_str name) {
    for (uint32_t i = 0; i < sig->outputs_n; i++)
        if (gr_str_eq(sig->outputs[i].name, name)) return i;
    return UINT32_MAX;
}

/* The old value's name where the body's name is an output of the call, else none. One name for a variadic result
 * stands for all of the call's. */
static bool choose_names(expansion *x, const gr_graph_node *node, const gr_frag_node *n, gr_str **out, uint32_t *out_n) {
    const gr_sig *sig = &node->call.op->sig;
    bool all = sig->outputs_n == 1 && sig->outputs[0].variadic && n->results_n == 1 && output_number(sig, n->results[0]) == 0;
    *out_n = all ? node->call.outputs_n : n->results_n;
    *out = GR_NEW_N(x->scratch, gr_str, *out_n);
    if (!*out) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < *out_n; i++) {
        uint32_t o = all ? i : output_number(sig, n->results[i]);
        gr_value_id old = o < node->call.outputs_n ? node->results[o] : GR_NO_VALUE;
        if (old != GR_NO_VALUE) (*out)[i] = x->g->values[old].name;
    }
    return true;
}

/* What the call gave is now what the body gives. Types must agree; the outer one's symbols stay. */
static bool take_results(expansion *x, const gr_graph_node *node, gr_fragment *f) {
    const gr_sig *sig = &node->call.op->sig;
    bool variadic = sig->outputs_n == 1 && sig->outputs[0].variadic;
    for (uint32_t i = 0; i < node->call.outputs_n; i++) {
        gr_str name = sig->outputs[variadic ? 0 : i].name;
        uint32_t n;
        gr_value_id old = node->results[i];
        if (old == GR_NO_VALUE) continue;
        const gr_value_id *made = gr_fragment_find(f, name, &n);
        if (!made || n <= (variadic ? i : 0)) return gr_fragment_bad(f, "does not define", name);
        gr_value_id v = made[variadic ? i : 0];
        if (v == GR_NO_VALUE || !gr_type_equal(&x->out->values[v].type, &x->g->values[old].type)) return gr_fragment_bad(f, "gives another type than its signature for", name);
        if (x->out->values[v].source == GR_SOURCE_NODE) {
            x->out->values[v].type = x->g->values[old].type;
            x->out->nodes[x->out->values[v].node].call.outputs[x->out->values[v].result] = x->g->values[old].type;
        }
        x->map[old] = v;
    }
    return true;
}

/* What a call's place in the graph says of it goes over to the nodes of its body. */
static void inherit(gr_graph *out, uint32_t first, const gr_graph_node *n) {
    for (uint32_t i = first; i < out->nodes_n; i++) out->nodes[i].backward = n->backward, out->nodes[i].again = n->again;
}

static bool expand_node(expansion *x, uint32_t node) {
    const gr_graph_node *n = &x->g->nodes[node];
    const gr_frag *body = &n->call.op->graph;
    uint32_t first = x->out->nodes_n;
    gr_fragment f = {.a = x->a, .scratch = x->scratch, .d = x->d, .catalog = x->catalog, .out = x->out, .call = &n->call, .node = n->node, .prefix = n->node, .at = n->at, .what = "body"};
    GR_TRY(bind_operands(x, n, &f));
    for (uint32_t i = 0; i < body->nodes_n; i++) {
        gr_str *names;
        uint32_t names_n;
        GR_TRY(choose_names(x, n, &body->nodes[i], &names, &names_n));
        GR_TRY(gr_fragment_place(&f, &body->nodes[i], i + 1, names, names_n));
    }
    inherit(x->out, first, n);
    return take_results(x, n, &f);
}

static bool wants(const gr_graph *g, uint32_t node, bool all, gr_graph_usable_fn *usable, void *user) {
    const gr_op *op = g->nodes[node].call.op;
    if (op->body != GR_BODY_GRAPH) return false;
    if (all) return true;
    return usable ? !usable(user, g, node) : op->kernels_n == 0;
}

/* One level: every call that `expand` marks is replaced. Names of inner values must differ from all
 * others, so the old values' names are entered first. */
static bool expand_level(expansion *x, const uint8_t *expand) {
    for (gr_value_id v = 0; v < x->g->values_n; v++) {
        const gr_graph_value *old = &x->g->values[v];
        if (old->source == GR_SOURCE_NODE && expand[old->node]) continue;
        if (!gr_map_put(x->a, &x->out->names.at, old->name, v)) return gr_report_oom(x->d);
    }
    for (gr_value_id v = 0; v < x->g->values_n; v++) {
        if (x->g->values[v].source == GR_SOURCE_NODE) continue;
        if (!gr_graph_copy_value(x->a, x->out, x->g, v, x->map)) return gr_report_oom(x->d);
    }
    for (uint32_t i = 0; i < x->g->nodes_n; i++) {
        if (expand[i]) GR_TRY(expand_node(x, i));
        else if (!gr_graph_copy_node(x->a, x->out, x->g, i, x->map)) return gr_report_oom(x->d);
    }
    return gr_graph_copy_outputs(x->a, x->out, x->g, x->map) || gr_report_oom(x->d);
}

static bool mark(gr_arena *scratch, const gr_graph *g, bool all, gr_graph_usable_fn *usable, void *user, uint8_t **out, uint32_t *first) {
    *first = UINT32_MAX;
    *out = GR_NEW_N(scratch, uint8_t, g->nodes_n);
    for (uint32_t i = 0; *out && i < g->nodes_n; i++) {
        (*out)[i] = wants(g, i, all, usable, user);
        if ((*out)[i] && *first == UINT32_MAX) *first = i;
    }
    return *out != NULL;
}

bool gr_graph_opt_expand(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_catalog *catalog,
                         bool all, gr_graph_usable_fn *usable, void *user, gr_graph *out) {
    *out = *g; /* shared arrays: without spare capacity nobody appends to them in place */
    out->values_cap = g->values_n, out->nodes_cap = g->nodes_n, out->outputs_cap = g->outputs_n;
    out->names = (struct gr_graph_names){0};
    for (int level = 0;; level++) {
        gr_arena scratch = {0};
        gr_graph before = *out;
        uint8_t *expand;
        uint32_t first;
        bool ok = mark(&scratch, &before, all, usable, user, &expand, &first) || gr_report_oom(d);
        bool more = ok && first != UINT32_MAX;
        if (more && level == GR_GRAPH_EXPAND_MAX) {
            const gr_graph_node *n = &before.nodes[first];
            more = ok = gr_report(d, GR_D_GRAPH_EXPAND_DEPTH, n->at, "the op's body must not lead back to itself", "bodies nest over %d deep at node %.*s", GR_GRAPH_EXPAND_MAX,
                                  n->node.n > 200 ? 200 : (int)n->node.n, n->node.p);
        }
        if (more) {
            expansion x = {.a = a, .scratch = &scratch, .d = d, .catalog = catalog, .g = &before, .out = out, .map = GR_NEW_N(&scratch, gr_value_id, before.values_n)};
            ok = x.map && gr_graph_start(a, &before, out) ? expand_level(&x, expand) : gr_report_oom(d);
        }
        gr_arena_free(&scratch);
        if (!ok || !more) return ok;
    }
}
