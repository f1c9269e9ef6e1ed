/* The gradient of a composed map body: for each operand that wants one, a call of the op that the catalog derives, summed
 * down to the operand's shape. */
#include "ladder/graph/opt_gradient_int.h"

static bool refuse(gr_gradient *x, uint32_t node, gr_value_id to, const gr_diags *why) {
    if (why->out_of_memory || !why->list.n) return gr_report_oom(x->d);
    gr_str m = why->list.v[0].message;
    gr_gradient_refuse(x, node, to, m);
    if (why->list.v[0].hint.n) gr_report_hint(x->d, "%.*s", GR_STR_ARG(why->list.v[0].hint));
    return false;
}

/* Parameters as they were given, for the derived call. */
static bool copy_params(gr_gradient *x, const gr_graph_node *n, gr_arg **out, uint32_t *out_n) {
    const gr_sig *sig = &n->call.op->sig;
    *out = GR_NEW_N(x->scratch, gr_arg, sig->params_n);
    *out_n = 0;
    if (!*out) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < sig->params_n; i++) {
        gr_param p = n->call.params[i];
        if (!p.given) continue;
        if (p.kind == GR_PARAM_DTYPE) p.kind = GR_PARAM_ENUM; /* a word, as a fragment gives it */
        (*out)[(*out_n)++] = (gr_arg){.name = sig->params[i].name, .at = n->at, .is_resolved = true, .resolved = p};
    }
    return true;
}

static bool by_operand(gr_gradient *x, uint32_t node, uint32_t i) {
    const gr_graph_node n = x->out->nodes[node];
    const gr_op *op;
    gr_diags quiet;
    gr_diags_init(&quiet);
    bool ok = gr_catalog_derive(x->catalog, &quiet, n.call.op, i, &op) || refuse(x, node, n.args[i], &quiet);
    gr_diags_free(&quiet);
    if (!ok || !op) return ok; /* zero everywhere */
    gr_value_id *args = GR_NEW_N(x->scratch, gr_value_id, n.call.operands_n + 1), *made, v;
    gr_arg *params;
    uint32_t params_n, made_n;
    if (!args) return gr_report_oom(x->d);
    memcpy(args, n.args, n.call.operands_n * sizeof *args);
    args[n.call.operands_n] = gr_gradient_of(x, n.results[0]);
    GR_TRY(copy_params(x, &n, &params, &params_n));
    char *name = gr_arena_printf(x->a, "%.*s/d", GR_STR_ARG(n.node)), *value = gr_arena_printf(x->a, "%.*s/d/d_%.*s", GR_STR_ARG(n.node), GR_STR_ARG(n.call.op->sig.operands[i].name));
    if (!name || !value) return gr_report_oom(x->d);
    gr_str names[1] = {gr_str_of(value)};
    GR_TRY(gr_graph_append(x->a, x->d, x->out, op, args, n.call.operands_n + 1, params, params_n, gr_str_of(name), n.at, names, 1, &made, &made_n));
    x->out->nodes[x->out->nodes_n - 1].backward = true;
    return gr_gradient_sum_to(x, made[0], n.args[i], gr_str_of(name), n.at, &v) && gr_gradient_contribute(x, n.args[i], v, n.results[0], gr_str_of(name), n.at);
}

/* Operands of a map body are not variadic: argument i is operand i. */
bool gr_gradient_map(gr_gradient *x, uint32_t node) {
    const uint32_t n = x->out->nodes[node].call.operands_n;
    for (uint32_t i = 0; i < n; i++)
        if (gr_gradient_wanted(x, x->out->nodes[node].args[i]) && !gr_gradient_stopped(&x->out->nodes[node].call, i)) GR_TRY(by_operand(x, node, i));
    return true;
}
