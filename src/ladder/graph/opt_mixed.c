/* opt_mixed.c: mixed precision: calls of ops that say so get f16 operands, what follows them stays in f16 as far as it may. */
#include "ladder/graph/graph_int.h"

typedef struct mixing {
    gr_arena *a;
    gr_diags *d;
    const gr_graph *g;
    const gr_op *convert;
    gr_graph *out;
    gr_value_id *map;     /* by value of g */
    gr_map halves, fulls; /* name of a value of out -> its copy in f16, in f32 */
} mixing;

static bool is_float(const mixing *x, gr_value_id v, gr_dtype t) { return v != GR_NO_VALUE && x->out->values[v].type.dtype == t; }

/* A value as dtype t: itself, or a conversion of it, which is made once. */
static bool as(mixing *x, gr_value_id v, gr_dtype t, gr_str node, gr_place at, gr_value_id *out) {
    gr_map *known = t == GR_DTYPE_F16 ? &x->halves : &x->fulls;
    gr_str name = x->out->values[v].name;
    gr_arg type = {.name = GR_STR("type"), .at = at, .is_resolved = true, .resolved = {.kind = GR_PARAM_ENUM, .given = true, .word = gr_str_of(gr_dtype_name(t))}};
    uint32_t at_id;
    *out = v;
    if (!is_float(x, v, t == GR_DTYPE_F16 ? GR_DTYPE_F32 : GR_DTYPE_F16)) return true;
    if (gr_map_get(known, name, &at_id)) return *out = at_id, true;
    char *called = gr_arena_printf(x->a, "%.*s/%s", GR_STR_ARG(node), gr_dtype_name(t));
    if (!called) return gr_report_oom(x->d);
    return gr_graph_add_node(x->a, x->d, x->out, x->convert, &v, 1, &type, 1, gr_str_of(called), at, out) &&
           (gr_map_put(x->a, known, name, *out) || gr_report_oom(x->d));
}

/* Pointwise arithmetic, choices and movement are as good in f16 as what feeds them; sums and functions are not. */
static bool follows(const gr_op *op) {
    return op->category == GR_CATEGORY_SELECTION || op->category == GR_CATEGORY_MOVEMENT || op->category == GR_CATEGORY_COMPARISON || op->category == GR_CATEGORY_POINTWISE;
}

/* Whether the call takes its floats as f16 and gives no f32 for them. */
static bool takes_halves(const mixing *x, const gr_graph_node *n, const gr_value_id *args, const gr_arg *params) {
    const gr_call *c = &n->call;
    gr_arena scratch = {0};
    gr_diags d;
    gr_call got;
    gr_type *types = GR_NEW_N(&scratch, gr_type, c->operands_n);
    bool ok = types != NULL;
    gr_diags_init(&d);
    for (uint32_t i = 0; ok && i < c->operands_n; i++) {
        if (args[i] == GR_NO_VALUE) continue;
        types[i] = x->out->values[args[i]].type;
        if (types[i].dtype == GR_DTYPE_F32) types[i].dtype = GR_DTYPE_F16;
    }
    ok = ok && gr_call_resolve(&scratch, &d, c->op, types, c->operands_n, params, c->op->sig.params_n, n->at, &got);
    for (uint32_t i = 0; ok && i < got.outputs_n; i++) ok = got.outputs[i].dtype != GR_DTYPE_F32;
    gr_diags_free(&d);
    gr_arena_free(&scratch);
    return ok;
}

static bool mix_node(mixing *x, uint32_t node) {
    const gr_graph_node *n = &x->g->nodes[node];
    const gr_call *c = &n->call;
    uint32_t params = c->op->sig.params_n, results_n = 0;
    gr_value_id *args = GR_NEW_N(x->a, gr_value_id, c->operands_n), *results;
    gr_str *names = GR_NEW_N(x->a, gr_str, c->outputs_n);
    gr_arg *given = GR_NEW_N(x->a, gr_arg, params);
    bool any = false, some = false;
    if (!args || !names || !given) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < c->operands_n; i++) {
        args[i] = n->args[i] == GR_NO_VALUE ? GR_NO_VALUE : x->map[n->args[i]];
        any = any || is_float(x, args[i], GR_DTYPE_F16);
        some = some || is_float(x, args[i], GR_DTYPE_F32);
    }
    for (uint32_t i = 0; i < params; i++) given[i] = (gr_arg){.name = c->op->sig.params[i].name, .resolved = c->params[i], .is_resolved = true, .at = n->at};
    for (uint32_t i = 0; i < c->outputs_n; i++) names[i] = x->g->values[n->results[i]].name;
    bool half = (c->op->mixed || (any && follows(c->op))) && takes_halves(x, n, args, given);
    for (uint32_t i = 0; (any || some) && i < c->operands_n; i++)
        if (args[i] != GR_NO_VALUE) GR_TRY(as(x, args[i], half ? GR_DTYPE_F16 : GR_DTYPE_F32, n->node, n->at, &args[i]));
    GR_TRY(gr_graph_append(x->a, x->d, x->out, c->op, args, c->operands_n, given, params, n->node, n->at, names, c->outputs_n, &results, &results_n));
    x->out->nodes[x->out->nodes_n - 1].backward = n->backward;
    x->out->nodes[x->out->nodes_n - 1].again = n->again;
    for (uint32_t i = 0; i < results_n && i < c->outputs_n; i++) x->map[n->results[i]] = results[i];
    return true;
}

bool gr_graph_opt_mixed(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_op *convert, gr_graph *out) {
    mixing x = {.a = a, .d = d, .g = g, .convert = convert, .out = out, .map = GR_NEW_N(a, gr_value_id, g->values_n)};
    if (!x.map || !gr_graph_start(a, g, out)) return gr_report_oom(d);
    for (uint32_t v = 0; v < g->values_n; v++)
        if (g->values[v].source != GR_SOURCE_NODE && !gr_graph_copy_value(a, out, g, v, x.map)) return gr_report_oom(d);
    for (uint32_t i = 0; i < g->nodes_n; i++) GR_TRY(mix_node(&x, i));
    for (uint32_t i = 0; i < g->outputs_n; i++) {
        gr_value_id v = x.map[g->outputs[i].value];
        if (g->values[g->outputs[i].value].type.dtype == GR_DTYPE_F32) GR_TRY(as(&x, v, GR_DTYPE_F32, g->outputs[i].name, (gr_place){.document = g->document}, &v));
        if (!gr_graph_add_output(a, out, g->outputs[i].name, v)) return gr_report_oom(d);
    }
    return true;
}
