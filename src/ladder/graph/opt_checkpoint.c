/* Recomputes forward values in the backward instead of keeping them. The forward is cut into segments of equal length; what
 * crosses the end of one is kept, what a backward uses of the inside of a segment is computed once more, from what is
 * kept, just before its first use there. The last segment is kept whole: the backward begins with it. */
#include "ladder/graph/graph_int.h"

typedef struct checkpointing {
    gr_arena *a, *scratch;
    gr_diags *d;
    const gr_graph *g;
    gr_graph *out;
    uint32_t segments, first_again;
    uint32_t *segment;     /* by node: its segment; UINT32_MAX for a node of a backward */
    uint8_t *kept;         /* by value */
    uint8_t *needed;       /* by node: its results are computed again */
    uint8_t *done;         /* by segment: computed again already */
    gr_value_id *map, *again; /* by value: in the new graph; computed again, or GR_NO_VALUE */
    uint32_t *order, *first;  /* nodes by segment: order[first[s]] to order[first[s + 1]] */
} checkpointing;

static uint32_t square_root(uint32_t n) {
    uint32_t r = 1;
    while ((r + 1) <= n / (r + 1)) r++;
    return r;
}

static bool cut(checkpointing *x, uint32_t segments) {
    uint32_t forward = 0, at = 0;
    for (uint32_t i = 0; i < x->g->nodes_n; i++) {
        forward += !x->g->nodes[i].backward;
        if (x->g->nodes[i].again > x->first_again) x->first_again = x->g->nodes[i].again;
    }
    x->segments = segments ? segments : square_root(forward);
    if (x->segments > forward) x->segments = forward ? forward : 1;
    x->first = GR_NEW_N(x->scratch, uint32_t, x->segments + 1);
    x->done = GR_NEW_N(x->scratch, uint8_t, x->segments);
    if (!x->first || !x->done) return false;
    for (uint32_t i = 0; i < x->g->nodes_n; i++) {
        x->segment[i] = x->g->nodes[i].backward ? UINT32_MAX : (uint32_t)((uint64_t)at * x->segments / forward);
        if (x->segment[i] == UINT32_MAX) continue;
        x->order[at++] = i;
        x->first[x->segment[i] + 1] = at;
    }
    for (uint32_t s = 0; s < x->segments; s++)
        if (x->first[s + 1] < x->first[s]) x->first[s + 1] = x->first[s];
    return true;
}

static bool from_node(const checkpointing *x, gr_value_id v) { return v != GR_NO_VALUE && x->g->values[v].source == GR_SOURCE_NODE; }

/* Kept: sources, outputs, what the forward uses behind the value's segment, the last segment, and backward values. */
static void find_kept(checkpointing *x) {
    const gr_graph *g = x->g;
    for (gr_value_id v = 0; v < g->values_n; v++) {
        uint32_t s = from_node(x, v) ? x->segment[g->values[v].node] : UINT32_MAX;
        x->kept[v] = s == UINT32_MAX || s + 1 == x->segments;
    }
    for (uint32_t i = 0; i < g->outputs_n; i++) x->kept[g->outputs[i].value] = 1;
    for (uint32_t i = 0; i < g->nodes_n; i++)
        for (uint32_t k = 0; x->segment[i] != UINT32_MAX && k < g->nodes[i].call.operands_n; k++) {
            gr_value_id v = g->nodes[i].args[k];
            if (from_node(x, v) && x->segment[g->values[v].node] != x->segment[i]) x->kept[v] = 1;
        }
}

/* The nodes that a backward's use of values that are not kept leads to. */
static void find_needed(checkpointing *x) {
    const gr_graph *g = x->g;
    for (uint32_t i = g->nodes_n; i-- > 0;) {
        bool uses = x->segment[i] == UINT32_MAX || x->needed[i];
        for (uint32_t k = 0; uses && k < g->nodes[i].call.operands_n; k++) {
            gr_value_id v = g->nodes[i].args[k];
            if (from_node(x, v) && !x->kept[v]) x->needed[g->values[v].node] = 1;
        }
    }
}

static gr_value_id now(const checkpointing *x, gr_value_id v) { return v == GR_NO_VALUE ? v : x->again[v] != GR_NO_VALUE ? x->again[v] : x->map[v]; }

/* A copy of node i whose operands are those computed again where there are such. */
static bool copy(checkpointing *x, uint32_t i, uint32_t again) {
    gr_graph_node n = x->g->nodes[i], *made;
    gr_arg *params = GR_NEW_N(x->scratch, gr_arg, n.call.op->sig.params_n);
    gr_value_id *args = GR_NEW_N(x->scratch, gr_value_id, n.call.operands_n), *results;
    gr_str *names = GR_NEW_N(x->scratch, gr_str, n.call.outputs_n);
    uint32_t results_n, params_n = 0;
    if (!params || !args || !names) return gr_report_oom(x->d);
    for (uint32_t k = 0; k < n.call.operands_n; k++) args[k] = now(x, n.args[k]);
    for (uint32_t k = 0; k < n.call.op->sig.params_n; k++)
        if (n.call.params[k].given) params[params_n++] = (gr_arg){.name = n.call.op->sig.params[k].name, .at = n.at, .is_resolved = true, .resolved = n.call.params[k]};
    for (uint32_t k = 0; k < n.call.outputs_n; k++)
        if (n.results[k] != GR_NO_VALUE) names[k] = x->g->values[n.results[k]].name;
    GR_TRY(gr_graph_append(x->a, x->d, x->out, n.call.op, args, n.call.operands_n, params, params_n, n.node, n.at, names, n.call.outputs_n, &results, &results_n));
    made = &x->out->nodes[x->out->nodes_n - 1];
    made->backward = true;
    made->again = again;
    for (uint32_t k = 0; k < results_n; k++)
        if (n.results[k] != GR_NO_VALUE && !x->kept[n.results[k]]) x->again[n.results[k]] = results[k];
    return true;
}

static bool compute_again(checkpointing *x, uint32_t s) {
    if (x->done[s]) return true;
    x->done[s] = 1;
    for (uint32_t k = x->first[s]; k < x->first[s + 1]; k++)
        if (x->needed[x->order[k]]) GR_TRY(copy(x, x->order[k], x->first_again + s + 1));
    return true;
}

/* A node of a backward, behind the segments that it needs. */
static bool place_backward(checkpointing *x, uint32_t i) {
    const gr_graph_node *n = &x->g->nodes[i];
    for (uint32_t k = 0; k < n->call.operands_n; k++)
        if (from_node(x, n->args[k]) && !x->kept[n->args[k]]) GR_TRY(compute_again(x, x->segment[x->g->values[n->args[k]].node]));
    if (!gr_graph_copy_node(x->a, x->out, x->g, i, x->map)) return gr_report_oom(x->d);
    gr_graph_node *made = &x->out->nodes[x->out->nodes_n - 1];
    for (uint32_t k = 0; k < n->call.operands_n; k++) made->args[k] = now(x, n->args[k]);
    return true;
}

/* Names of what is computed again must differ from all others, so those are entered first. */
static bool rewrite(checkpointing *x, uint32_t segments) {
    if (!cut(x, segments)) return gr_report_oom(x->d);
    find_kept(x);
    find_needed(x);
    for (gr_value_id v = 0; v < x->g->values_n; v++) {
        x->again[v] = GR_NO_VALUE;
        if (!gr_map_put(x->a, &x->out->names.at, x->g->values[v].name, v)) return gr_report_oom(x->d);
    }
    for (gr_value_id v = 0; v < x->g->values_n; v++)
        if (x->g->values[v].source != GR_SOURCE_NODE && !gr_graph_copy_value(x->a, x->out, x->g, v, x->map)) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < x->g->nodes_n; i++) {
        if (x->segment[i] == UINT32_MAX) GR_TRY(place_backward(x, i));
        else if (!gr_graph_copy_node(x->a, x->out, x->g, i, x->map)) return gr_report_oom(x->d);
    }
    return gr_graph_copy_outputs(x->a, x->out, x->g, x->map) || gr_report_oom(x->d);
}

bool gr_graph_opt_checkpoint(gr_arena *a, gr_diags *d, const gr_graph *g, uint32_t segments, gr_graph *out) {
    gr_arena scratch = {0};
    uint32_t nodes = g->nodes_n, values = g->values_n;
    checkpointing x = {.a = a, .scratch = &scratch, .d = d, .g = g, .out = out,
                       .segment = GR_NEW_N(&scratch, uint32_t, nodes), .order = GR_NEW_N(&scratch, uint32_t, nodes), .needed = GR_NEW_N(&scratch, uint8_t, nodes),
                       .kept = GR_NEW_N(&scratch, uint8_t, values), .map = GR_NEW_N(&scratch, gr_value_id, values), .again = GR_NEW_N(&scratch, gr_value_id, values)};
    bool memory = x.segment && x.order && x.needed && x.kept && x.map && x.again && gr_graph_start(a, g, out);
    bool ok = memory ? rewrite(&x, segments) : gr_report_oom(d);
    gr_arena_free(&scratch);
    return ok;
}
