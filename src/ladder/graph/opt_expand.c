/* Replaces calls by the graph bodies of their ops, level by level, until none is left that wants it.
 * Inner nodes are named by the call and their number in the body, "mean/2"; inner values by the
 * body's names, "mean/sum"; what the call gave keeps its name. */
#include "ladder/graph/graph_int.h"

#include <stdio.h>

typedef struct expansion {
    gr_arena *a, *scratch;
    gr_diags *d;
    const gr_catalog *catalog;
    const gr_graph *g;
    gr_graph *out;
    gr_value_id *map; /* old value -> new value */
} expansion;

typedef struct range { uint32_t first, n; } range; /* of body.values */

/* One body being placed. Names stand for one value, or for all of a variadic operand. */
typedef struct body {
    const gr_graph_node *node;
    const gr_call *call;
    gr_map names;                  /* name -> entry of ranges */
    GR_VEC(range) ranges;
    GR_VEC(gr_value_id) values;
} body;

typedef GR_VEC(gr_value_id) id_vec;

static bool bind_name(expansion *x, body *b, gr_str name, const gr_value_id *v, uint32_t n) {
    range *r = GR_PUSH(x->scratch, &b->ranges);
    if (!r || !gr_map_put(x->scratch, &b->names, name, b->ranges.n - 1)) return gr_report_oom(x->d);
    *r = (range){b->values.n, n};
    for (uint32_t i = 0; i < n; i++) {
        gr_value_id *slot = GR_PUSH(x->scratch, &b->values);
        if (!slot) return gr_report_oom(x->d);
        *slot = v[i];
    }
    return true;
}

static bool bind_operands(expansion *x, body *b) {
    const gr_sig *sig = &b->call->op->sig;
    for (uint32_t p = 0; p < sig->operands_n; p++) {
        uint32_t first = b->call->operand_first[p], n = b->call->operand_first[p + 1] - first;
        gr_value_id *v = GR_NEW_N(x->scratch, gr_value_id, n);
        if (!v) return gr_report_oom(x->d);
        for (uint32_t i = 0; i < n; i++) v[i] = b->node->args[first + i] == GR_NO_VALUE ? GR_NO_VALUE : x->map[b->node->args[first + i]];
        GR_TRY(bind_name(x, b, sig->operands[p].name, v, n));
    }
    return true;
}

static gr_str inner_name(expansion *x, const body *b, gr_str local) {
    char *p = gr_arena_printf(x->a, "%.*s/%.*s", GR_STR_ARG(b->node->node), GR_STR_ARG(local));
    return p ? gr_str_of(p) : (gr_str){0};
}

static bool bad_body(expansion *x, const body *b, const char *what, gr_str name) {
    gr_report(x->d, GR_D_GRAPH_BODY_TYPE, b->node->at, "correct the [body] graph of the op", "the body of %.*s %s %%%.*s", GR_STR_ARG(b->call->op->id), what, GR_STR_ARG(name));
    gr_report_trail(x->d, "node %.*s -> op %.*s", GR_STR_ARG(b->node->node), GR_STR_ARG(b->call->op->id));
    return false;
}

/* The outer result that a name of the body is: its number, or UINT32_MAX for an inner name. */
static uint32_t output_number(const body *b, gr_str name) {
    const gr_sig *sig = &b->call->op->sig;
    for (uint32_t i = 0; i < sig->outputs_n; i++)
        if (gr_str_eq(sig->outputs[i].name, name)) return i;
    return UINT32_MAX;
}

static bool place_constant(expansion *x, body *b, const gr_frag_node *n) {
    double v;
    gr_array c;
    gr_dtype t = gr_dtype_find(n->constant_dtype);
    if (!t && !gr_call_dtype(b->call, n->constant_dtype, &t)) return bad_body(x, b, "has an unknown dtype for", n->results[0]);
    GR_TRY(gr_expr_float(x->d, n->constant, b->call, b->node->at, &v));
    GR_TRY(gr_array_new(x->a, x->d, t, NULL, 0, &c));
    gr_array_set_f64(&c, 0, v);
    gr_str name = inner_name(x, b, n->results[0]);
    gr_value_id id = name.p ? gr_graph_add_constant(x->a, x->out, name, c) : GR_NO_VALUE;
    if (id == GR_NO_VALUE) return gr_report_oom(x->d);
    return bind_name(x, b, n->results[0], &id, 1);
}

/* Operands of a body's node: names stand for their values in a row. */
static bool collect(expansion *x, body *b, const gr_frag_node *n, id_vec *args) {
    for (uint32_t i = 0; i < n->args_n; i++) {
        uint32_t at;
        if (!gr_map_get(&b->names, n->args[i], &at)) return bad_body(x, b, "uses the undefined", n->args[i]);
        range r = b->ranges.v[at];
        for (uint32_t k = 0; k < r.n; k++) {
            gr_value_id *slot = GR_PUSH(x->scratch, args);
            if (!slot) return gr_report_oom(x->d);
            *slot = b->values.v[r.first + k];
        }
    }
    return true;
}

/* Names that the new values get: the old value's where the body's name is an output of the call. One name for
 * a variadic result stands for all of the call's. */
static bool choose_names(expansion *x, body *b, const gr_frag_node *n, const gr_op *op, gr_str **out, uint32_t *out_n) {
    bool all = op->sig.outputs_n == 1 && op->sig.outputs[0].variadic && n->results_n == 1 && output_number(b, n->results[0]) == 0;
    uint32_t names_n = all ? b->call->outputs_n : n->results_n;
    gr_str *names = GR_NEW_N(x->scratch, gr_str, names_n);
    if (!names) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < names_n; i++) {
        uint32_t o = all ? i : output_number(b, n->results[i]);
        gr_value_id old = o < b->call->outputs_n ? b->node->results[o] : GR_NO_VALUE;
        names[i] = old != GR_NO_VALUE ? x->g->values[old].name : inner_name(x, b, n->results[all ? 0 : i]);
    }
    *out = names;
    *out_n = names_n;
    return true;
}

static bool place_node(expansion *x, body *b, const gr_frag_node *n, uint32_t number) {
    id_vec args = {0};
    gr_arg *params;
    uint32_t params_n, results_n, names_n = 0;
    gr_value_id *results;
    gr_str *names = NULL;
    const gr_op *op = gr_catalog_find(x->catalog, n->op);
    if (!op) {
        gr_report(x->d, GR_D_GRAPH_OP_UNKNOWN, b->node->at, "add the op to the catalog", "the body of %.*s needs the op %.*s", GR_STR_ARG(b->call->op->id), GR_STR_ARG(n->op));
        return false;
    }
    GR_TRY(collect(x, b, n, &args));
    GR_TRY(gr_frag_args(x->scratch, x->d, n, b->call, b->node->at, &params, &params_n));
    GR_TRY(choose_names(x, b, n, op, &names, &names_n));
    char *node = gr_arena_printf(x->a, "%.*s/%u", GR_STR_ARG(b->node->node), number);
    if (!node) return gr_report_oom(x->d);
    GR_TRY(gr_graph_append(x->a, x->d, x->out, op, args.v, args.n, params, params_n, gr_str_of(node), b->node->at, names, names_n, &results, &results_n));
    if (n->results_n == 1 && results_n != 1) return bind_name(x, b, n->results[0], results, results_n);
    if (n->results_n != results_n) return bad_body(x, b, "names another number of results than the call gives at", n->results[0]);
    for (uint32_t i = 0; i < results_n; i++) GR_TRY(bind_name(x, b, n->results[i], &results[i], 1));
    return true;
}

/* What the call gave is now what the body gives. Types must agree; the outer one's symbols stay. */
static bool take_results(expansion *x, body *b) {
    const gr_sig *sig = &b->call->op->sig;
    bool variadic = sig->outputs_n == 1 && sig->outputs[0].variadic;
    for (uint32_t i = 0; i < b->call->outputs_n; i++) {
        gr_str name = sig->outputs[variadic ? 0 : i].name;
        uint32_t at;
        gr_value_id old = b->node->results[i];
        if (old == GR_NO_VALUE) continue;
        if (!gr_map_get(&b->names, name, &at) || b->ranges.v[at].n <= (variadic ? i : 0)) return bad_body(x, b, "does not define", name);
        gr_value_id v = b->values.v[b->ranges.v[at].first + (variadic ? i : 0)];
        if (v == GR_NO_VALUE || !gr_type_equal(&x->out->values[v].type, &x->g->values[old].type)) return bad_body(x, b, "gives another type than its signature for", name);
        if (x->out->values[v].source == GR_SOURCE_NODE) {
            x->out->values[v].type = x->g->values[old].type;
            x->out->nodes[x->out->values[v].node].call.outputs[x->out->values[v].result] = x->g->values[old].type;
        }
        x->map[old] = v;
    }
    return true;
}

/* Lines with conditions may define one name; of those that hold there is one. */
static bool new_names(expansion *x, const body *b, const gr_frag_node *n) {
    for (uint32_t i = 0; i < n->results_n; i++)
        if (gr_map_get(&b->names, n->results[i], NULL)) return bad_body(x, b, "defines twice, under conditions that hold both,", n->results[i]);
    return true;
}

static bool expand_node(expansion *x, uint32_t node) {
    const gr_graph_node *n = &x->g->nodes[node];
    body b = {.node = n, .call = &n->call};
    GR_TRY(bind_operands(x, &b));
    const gr_frag *f = &n->call.op->graph;
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        bool placed;
        GR_TRY(gr_frag_placed(x->d, &f->nodes[i], b.call, n->at, &placed));
        if (!placed) continue;
        GR_TRY(new_names(x, &b, &f->nodes[i]));
        if (!f->nodes[i].op.n) GR_TRY(place_constant(x, &b, &f->nodes[i]));
        else GR_TRY(place_node(x, &b, &f->nodes[i], i + 1));
    }
    return take_results(x, &b);
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
