/* The invariants G1 to G10 of README.md. Texts are checked while they are read, so that a graph which
 * breaks one of these was built wrongly: our bug. */
#include "ladder/graph/graph_int.h"

typedef struct checker {
    gr_diags *d;
    const gr_graph *g;
    uint32_t errors;
} checker;

static void bug(checker *k, const char *invariant, gr_str name, const char *what) {
    if (k->errors++ < 20) GR_BUG(k->d, invariant, "\"%.*s\" %s", name.n > 200 ? 200 : (int)name.n, name.p, what);
}

/* G2, G10 */
static bool check_names(checker *k, gr_arena *a) {
    gr_map values = {0}, outputs = {0};
    for (uint32_t i = 0; i < k->g->values_n; i++) {
        gr_str name = k->g->values[i].name;
        if (!name.n || gr_map_get(&values, name, NULL)) bug(k, "G2", name, "is empty or names two values");
        if (!gr_map_put(a, &values, name, i)) return gr_report_oom(k->d);
    }
    for (uint32_t i = 0; i < k->g->outputs_n; i++) {
        const gr_graph_output *o = &k->g->outputs[i];
        if (gr_map_get(&outputs, o->name, NULL)) bug(k, "G10", o->name, "names two outputs");
        if (o->value >= k->g->values_n) bug(k, "G10", o->name, "is an output of no value");
        if (!gr_map_put(a, &outputs, o->name, i)) return gr_report_oom(k->d);
    }
    return true;
}

/* G8: n is the symbol's size plus add, and the symbol is listed. */
static void check_dim(checker *k, const gr_map *symbols, gr_str name, const gr_dim *dim) {
    uint32_t s;
    if (!dim->base.n) return;
    if (!gr_map_get(symbols, dim->base, &s)) bug(k, "G8", name, "has a dimension of an unlisted symbol");
    else if ((int64_t)dim->n - dim->add != (int64_t)k->g->symbols[s].n) bug(k, "G8", name, "has a dimension that differs from its symbol");
}

/* G3, G7, G9 */
static bool check_values(checker *k, gr_arena *a) {
    gr_map symbols = {0};
    for (uint32_t i = 0; i < k->g->symbols_n; i++)
        if (!gr_map_put(a, &symbols, k->g->symbols[i].name, i)) return gr_report_oom(k->d);
    for (uint32_t i = 0; i < k->g->values_n && k->errors < 20; i++) {
        const gr_graph_value *v = &k->g->values[i];
        uint64_t count;
        if (v->type.dtype <= GR_DTYPE_NONE || v->type.dtype >= GR_DTYPE_COUNT || v->type.rank > GR_RANK_MAX || !gr_type_count(&v->type, &count)) bug(k, "G7", v->name, "has no legal type");
        for (uint32_t r = 0; r < v->type.rank && r < GR_RANK_MAX; r++) check_dim(k, &symbols, v->name, &v->type.dim[r]);
        bool input = gr_graph_is_bound(v->source);
        if (input ? !v->input.n : v->source != GR_SOURCE_NODE && v->source != GR_SOURCE_CONSTANT) bug(k, "G3", v->name, "has no source");
        if (v->source == GR_SOURCE_NODE && v->result == GR_FUSED) {
            if (v->node >= k->g->nodes_n || !k->g->nodes[v->node].call.op->fusion) bug(k, "G3", v->name, "is computed inside a node that is not fused");
        } else if (v->source == GR_SOURCE_NODE) {
            bool back = v->node < k->g->nodes_n && v->result < k->g->nodes[v->node].call.outputs_n && k->g->nodes[v->node].results[v->result] == i;
            if (!back) bug(k, "G3", v->name, "is not what its node gives");
        }
        if (v->source != GR_SOURCE_CONSTANT) continue;
        bool same = v->constant.dtype == v->type.dtype && v->constant.rank == v->type.rank;
        for (uint32_t r = 0; same && r < v->type.rank; r++) same = v->constant.dims[r] == v->type.dim[r].n;
        size_t bytes;
        if (!same || !gr_dims_bytes(v->constant.dtype, v->constant.dims, v->constant.rank, &bytes) || bytes != v->constant.bytes || (bytes && !v->constant.data)) bug(k, "G9", v->name, "is a constant whose data is not its type's");
    }
    return true;
}

static bool same_types(const gr_type *x, const gr_type *y) { return gr_type_equal(x, y) && x->bounded == y->bounded; }

/* G1: an argument is made before, by a source or an earlier node. G4, G5: types of calls are those of values. */
static void check_node(checker *k, uint32_t i) {
    const gr_graph_node *n = &k->g->nodes[i];
    if (!n->call.op || !n->node.n) {
        bug(k, "G6", n->node, "has no op or no name");
        return;
    }
    for (uint32_t p = 0; p < n->call.operands_n; p++) {
        gr_value_id v = n->args[p];
        bool present = gr_graph_present(&n->call.operands[p]);
        if (v == GR_NO_VALUE) {
            if (present) bug(k, "G4", n->node, "lacks an operand that its call has");
            continue;
        }
        if (v >= k->g->values_n || (k->g->values[v].source == GR_SOURCE_NODE && (k->g->values[v].node >= i || k->g->values[v].result == GR_FUSED))) bug(k, "G1", n->node, "uses a value that no earlier node gives");
        else if (!present || !same_types(&n->call.operands[p], &k->g->values[v].type)) bug(k, "G4", n->node, "was resolved for an operand of another type");
    }
    for (uint32_t r = 0; r < n->call.outputs_n; r++) {
        gr_value_id v = n->results[r];
        if (v == GR_NO_VALUE && !gr_graph_present(&n->call.outputs[r])) continue;
        if (v >= k->g->values_n || !same_types(&n->call.outputs[r], &k->g->values[v].type)) bug(k, "G5", n->node, "gives a value of another type than its call");
    }
}

bool gr_graph_verify(gr_diags *d, const gr_graph *g) {
    gr_arena scratch = {0};
    checker k = {.d = d, .g = g};
    uint32_t errors = d->errors;
    gr_place at = {.document = g->document};
    if (!g->tier) gr_report(d, GR_D_CANVAS_TIER_MISSING, at, "add a line: tier debug, tier prod or tier fast", "the graph declares no determinism tier, and there is no default");
    if (!g->outputs_n) gr_report(d, GR_D_GRAPH_NO_OUTPUT, at, "add a line: output \"result\" %value", "the graph has no output");
    if (check_names(&k, &scratch)) check_values(&k, &scratch);
    for (uint32_t i = 0; i < g->nodes_n && k.errors < 20; i++) check_node(&k, i);
    gr_arena_free(&scratch);
    return d->errors == errors && !d->out_of_memory;
}
