#include "ladder/graph/graph_int.h"

/* ---- growth and names ---------------------------------------------------------- */

/* Room for one more of n in *v; capacity doubles. */
static bool room(gr_arena *a, void **v, uint32_t n, uint32_t *cap, size_t size) {
    if (n < *cap) return true;
    uint32_t want = *cap ? *cap * 2 : 16;
    if (want <= n) want = n + 16;
    void *p = gr_arena_grow(a, *v, n, want, size);
    if (!p) return false;
    *v = p;
    *cap = want;
    return true;
}

/* The rewrites append values without looking at names: those are entered when a name is asked for. */
static bool names_up_to_date(gr_arena *a, gr_graph *g) {
    for (; g->names.n < g->values_n; g->names.n++)
        if (!gr_map_put(a, &g->names.at, g->values[g->names.n].name, g->names.n)) return false;
    return true;
}

gr_str gr_graph_unique(gr_arena *a, gr_graph *g, gr_str want) {
    gr_str none = {0}, name = gr_str_dup(a, want.n ? want : GR_STR("value"));
    if (!name.p || !names_up_to_date(a, g)) return none;
    gr_str base = name;
    uint32_t next = 2;
    gr_map_get(&g->names.next, base, &next);
    while (gr_map_get(&g->names.at, name, NULL)) {
        char *p = gr_arena_printf(a, "%.*s~%u", GR_STR_ARG(base), next++);
        if (!p || !gr_map_put(a, &g->names.next, base, next)) return none;
        name = gr_str_of(p);
    }
    return name;
}

gr_value_id gr_graph_append_value(gr_arena *a, gr_graph *g, gr_graph_value v) {
    if (g->values_n >= GR_GRAPH_VALUES_MAX || !room(a, (void **)&g->values, g->values_n, &g->values_cap, sizeof *g->values)) return GR_NO_VALUE;
    g->values[g->values_n] = v;
    return g->values_n++;
}

/* ---- builder -------------------------------------------------------------------- */

gr_value_id gr_graph_add_input(gr_arena *a, gr_graph *g, gr_str name, gr_type type, gr_source source) {
    gr_str unique = gr_graph_unique(a, g, name), input = gr_str_dup(a, name);
    if (!unique.p || !input.p) return GR_NO_VALUE;
    return gr_graph_append_value(a, g, (gr_graph_value){.name = unique, .type = type, .source = source, .input = input});
}

gr_value_id gr_graph_add_constant(gr_arena *a, gr_graph *g, gr_str name, gr_array value) {
    gr_str unique = gr_graph_unique(a, g, name);
    if (!unique.p) return GR_NO_VALUE;
    gr_graph_value v = {.name = unique, .source = GR_SOURCE_CONSTANT, .constant = value, .type = {.dtype = value.dtype, .rank = value.rank}};
    for (uint32_t i = 0; i < value.rank; i++) v.type.dim[i].n = value.dims[i];
    return gr_graph_append_value(a, g, v);
}

/* "node", "node.port", or "node.port.3" of a variadic output. */
static gr_str result_name(gr_arena *a, const gr_op *op, gr_str node, uint32_t i) {
    const gr_sig *sig = &op->sig;
    bool variadic = sig->outputs_n == 1 && sig->outputs[0].variadic;
    if (sig->outputs_n == 1 && !variadic) return node;
    gr_str port = i < sig->outputs_n ? sig->outputs[i].name : sig->outputs[sig->outputs_n - 1].name;
    char *p = variadic ? gr_arena_printf(a, "%.*s.%.*s.%u", GR_STR_ARG(node), GR_STR_ARG(sig->outputs[0].name), i)
                       : gr_arena_printf(a, "%.*s.%.*s", GR_STR_ARG(node), GR_STR_ARG(port));
    return p ? gr_str_of(p) : (gr_str){0};
}

static bool operand_types(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_value_id *args, uint32_t n, gr_type **out) {
    gr_type *t = GR_NEW_N(a, gr_type, n);
    if (!t) return gr_report_oom(d);
    for (uint32_t i = 0; i < n; i++) {
        if (args[i] == GR_NO_VALUE) continue;
        if (args[i] >= g->values_n) return GR_BUG(d, "G1", "argument %u names value %u of %u", i, args[i], g->values_n);
        t[i] = g->values[args[i]].type;
    }
    *out = t;
    return true;
}

/* Absent optional operands at the end may be left out of args: they are filled in. */
static bool set_args(gr_arena *a, gr_diags *d, gr_graph_node *n, const gr_value_id *args, uint32_t args_n) {
    n->args = GR_NEW_N(a, gr_value_id, n->call.operands_n);
    n->results = GR_NEW_N(a, gr_value_id, n->call.outputs_n);
    if (!n->args || !n->results) return gr_report_oom(d);
    for (uint32_t i = 0; i < n->call.operands_n; i++) n->args[i] = i < args_n ? args[i] : GR_NO_VALUE;
    return true;
}

bool gr_graph_append(gr_arena *a, gr_diags *d, gr_graph *g, const gr_op *op, const gr_value_id *args, uint32_t args_n,
                     const gr_arg *params, uint32_t params_n, gr_str node, gr_place at, const gr_str *names, uint32_t names_n, gr_value_id **results, uint32_t *results_n) {
    gr_graph_node n = {.at = at, .node = gr_str_dup(a, node)};
    gr_type *types = NULL;
    if (!n.node.p) return gr_report_oom(d);
    GR_TRY(operand_types(a, d, g, args, args_n, &types));
    if (!gr_call_resolve(a, d, op, types, args_n, params, params_n, at, &n.call)) {
        gr_report_trail(d, "node %.*s -> op %.*s", GR_STR_ARG(node), GR_STR_ARG(op->id));
        return false;
    }
    if (g->nodes_n >= GR_GRAPH_NODES_MAX || n.call.outputs_n > GR_GRAPH_VALUES_MAX - g->values_n)
        return gr_report(d, GR_D_GRAPH_TOO_LARGE, at, "repeat fewer times, or cut the work into several documents", "the graph has over %d nodes or %d values", GR_GRAPH_NODES_MAX, GR_GRAPH_VALUES_MAX);
    GR_TRY(set_args(a, d, &n, args, args_n));
    for (uint32_t i = 0; i < n.call.outputs_n; i++) {
        n.results[i] = GR_NO_VALUE;
        if (!gr_graph_present(&n.call.outputs[i])) continue;
        gr_str name = gr_graph_unique(a, g, i < names_n && names[i].n ? names[i] : result_name(a, op, n.node, i));
        if (!name.p) return gr_report_oom(d);
        n.results[i] = gr_graph_append_value(a, g, (gr_graph_value){.name = name, .type = n.call.outputs[i], .source = GR_SOURCE_NODE, .node = g->nodes_n, .result = i});
        if (n.results[i] == GR_NO_VALUE) return gr_report_oom(d);
    }
    if (!room(a, (void **)&g->nodes, g->nodes_n, &g->nodes_cap, sizeof *g->nodes)) return gr_report_oom(d);
    g->nodes[g->nodes_n++] = n;
    if (results) *results = n.results;
    if (results_n) *results_n = n.call.outputs_n;
    return true;
}

bool gr_graph_add_node(gr_arena *a, gr_diags *d, gr_graph *g, const gr_op *op, const gr_value_id *args, uint32_t args_n,
                       const gr_arg *params, uint32_t params_n, gr_str node, gr_place at, gr_value_id *results) {
    gr_value_id *made;
    uint32_t n;
    GR_TRY(gr_graph_append(a, d, g, op, args, args_n, params, params_n, node, at, NULL, 0, &made, &n));
    for (uint32_t i = 0; results && i < n; i++) results[i] = made[i];
    return true;
}

bool gr_graph_add_output(gr_arena *a, gr_graph *g, gr_str name, gr_value_id value) {
    gr_str copy = gr_str_dup(a, name);
    if (!copy.p || !room(a, (void **)&g->outputs, g->outputs_n, &g->outputs_cap, sizeof *g->outputs)) return false;
    g->outputs[g->outputs_n++] = (gr_graph_output){copy, value};
    return true;
}

/* ---- copies for rewrites ---------------------------------------------------------- */

bool gr_graph_start(gr_arena *a, const gr_graph *g, gr_graph *out) {
    *out = (gr_graph){.document = g->document, .name = g->name, .tier = g->tier, .tolerance = g->tolerance, .guarantee = g->guarantee,
                      .seed = g->seed, .budget_gpu = g->budget_gpu, .budget_cpu = g->budget_cpu, .budget_cpu_seconds = g->budget_cpu_seconds,
                      .symbols = g->symbols, .symbols_n = g->symbols_n};
    out->values = GR_NEW_N(a, gr_graph_value, g->values_n);
    out->nodes = GR_NEW_N(a, gr_graph_node, g->nodes_n);
    out->outputs = GR_NEW_N(a, gr_graph_output, g->outputs_n);
    out->values_cap = g->values_n, out->nodes_cap = g->nodes_n, out->outputs_cap = g->outputs_n;
    return out->values && out->nodes && out->outputs;
}

bool gr_graph_copy_value(gr_arena *a, gr_graph *out, const gr_graph *g, gr_value_id v, gr_value_id *map) {
    map[v] = gr_graph_append_value(a, out, g->values[v]);
    return map[v] != GR_NO_VALUE;
}

bool gr_graph_copy_node(gr_arena *a, gr_graph *out, const gr_graph *g, uint32_t node, gr_value_id *map) {
    gr_graph_node n = g->nodes[node];
    const gr_graph_node *old = &g->nodes[node];
    n.args = GR_NEW_N(a, gr_value_id, n.call.operands_n);
    n.results = GR_NEW_N(a, gr_value_id, n.call.outputs_n);
    if (!n.args || !n.results) return false;
    for (uint32_t i = 0; i < n.call.operands_n; i++) n.args[i] = old->args[i] == GR_NO_VALUE ? GR_NO_VALUE : map[old->args[i]];
    for (uint32_t i = 0; i < n.call.outputs_n; i++) {
        n.results[i] = GR_NO_VALUE;
        if (old->results[i] == GR_NO_VALUE) continue;
        if (!gr_graph_copy_value(a, out, g, old->results[i], map)) return false;
        n.results[i] = map[old->results[i]];
        out->values[n.results[i]].node = out->nodes_n;
    }
    if (!room(a, (void **)&out->nodes, out->nodes_n, &out->nodes_cap, sizeof *out->nodes)) return false;
    out->nodes[out->nodes_n++] = n;
    return true;
}

bool gr_graph_copy_outputs(gr_arena *a, gr_graph *out, const gr_graph *g, const gr_value_id *map) {
    for (uint32_t i = 0; i < g->outputs_n; i++)
        if (!gr_graph_add_output(a, out, g->outputs[i].name, map[g->outputs[i].value])) return false;
    return true;
}
