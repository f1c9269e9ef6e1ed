/* Removes what no output needs. Nodes stand after what they use, so one walk back finds all. */
#include "ladder/graph/graph_int.h"

static void need_args(const gr_graph *g, const gr_graph_node *n, uint8_t *needed) {
    for (uint32_t i = 0; i < n->call.operands_n; i++)
        if (n->args[i] < g->values_n) needed[n->args[i]] = 1;
}

static bool is_needed(const gr_graph_node *n, const uint8_t *needed) {
    for (uint32_t i = 0; i < n->call.outputs_n; i++)
        if (n->results[i] != GR_NO_VALUE && needed[n->results[i]]) return true;
    return false;
}

static bool rebuild(gr_arena *a, gr_arena *scratch, const gr_graph *g, gr_graph *out) {
    uint8_t *needed = GR_NEW_N(scratch, uint8_t, g->values_n);
    gr_value_id *map = GR_NEW_N(scratch, gr_value_id, g->values_n);
    if (!needed || !map) return false;
    for (uint32_t i = 0; i < g->outputs_n; i++) needed[g->outputs[i].value] = 1;
    for (uint32_t i = g->nodes_n; i-- > 0;)
        if (is_needed(&g->nodes[i], needed)) need_args(g, &g->nodes[i], needed);
    for (uint32_t v = 0; v < g->values_n; v++) {
        const gr_graph_value *x = &g->values[v];
        bool keep = gr_graph_is_bound(x->source) || (x->source == GR_SOURCE_CONSTANT && needed[v]);
        if (keep && !gr_graph_copy_value(a, out, g, v, map)) return false;
    }
    for (uint32_t i = 0; i < g->nodes_n; i++)
        if (is_needed(&g->nodes[i], needed) && !gr_graph_copy_node(a, out, g, i, map)) return false;
    return gr_graph_copy_outputs(a, out, g, map);
}

bool gr_graph_opt_dead(gr_arena *a, gr_diags *d, const gr_graph *g, gr_graph *out) {
    gr_arena scratch = {0};
    bool ok = gr_graph_start(a, g, out) && rebuild(a, &scratch, g, out);
    gr_arena_free(&scratch);
    return ok || gr_report_oom(d);
}
