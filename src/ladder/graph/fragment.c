#include "ladder/graph/fragment.h"

typedef GR_VEC(gr_value_id) id_vec;

bool gr_fragment_bad(gr_fragment *f, const char *complaint, gr_str name) {
    gr_report(f->d, GR_D_GRAPH_BODY_TYPE, f->at, NULL, "the %s of %.*s %s %%%.*s", f->what, GR_STR_ARG(f->call->op->id), complaint, GR_STR_ARG(name));
    gr_report_hint(f->d, "correct the [%s] graph of the op", f->what);
    gr_report_trail(f->d, "node %.*s -> op %.*s", GR_STR_ARG(f->node), GR_STR_ARG(f->call->op->id));
    return false;
}

bool gr_fragment_bind(gr_fragment *f, gr_str name, const gr_value_id *v, uint32_t n) {
    gr_fragment_range *r = GR_PUSH(f->scratch, &f->ranges);
    if (!r || !gr_map_put(f->scratch, &f->names, name, f->ranges.n - 1)) return gr_report_oom(f->d);
    *r = (gr_fragment_range){f->values.n, n};
    for (uint32_t i = 0; i < n; i++) {
        gr_value_id *slot = GR_PUSH(f->scratch, &f->values);
        if (!slot) return gr_report_oom(f->d);
        *slot = v[i];
    }
    return true;
}

const gr_value_id *gr_fragment_find(const gr_fragment *f, gr_str name, uint32_t *n) {
    static const gr_value_id none = GR_NO_VALUE;
    uint32_t at;
    if (!gr_map_get(&f->names, name, &at)) return NULL;
    *n = f->ranges.v[at].n;
    return *n ? f->values.v + f->ranges.v[at].first : &none;
}

gr_str gr_fragment_inner_name(gr_fragment *f, gr_str local) {
    char *p = gr_arena_printf(f->a, "%.*s/%.*s", GR_STR_ARG(f->prefix), GR_STR_ARG(local));
    return p ? gr_str_of(p) : (gr_str){0};
}

static bool place_constant(gr_fragment *f, const gr_frag_node *n) {
    double v;
    gr_array c;
    gr_dtype t = gr_dtype_find(n->constant_dtype);
    if (!t && !gr_call_dtype(f->call, n->constant_dtype, &t)) return gr_fragment_bad(f, "has an unknown dtype for", n->results[0]);
    GR_TRY(gr_expr_float(f->d, n->constant, f->call, f->at, &v));
    GR_TRY(gr_array_new(f->a, f->d, t, NULL, 0, &c));
    gr_array_set_f64(&c, 0, v);
    gr_str name = gr_fragment_inner_name(f, n->results[0]);
    gr_value_id id = name.p ? gr_graph_add_constant(f->a, f->out, name, c) : GR_NO_VALUE;
    if (id == GR_NO_VALUE) return gr_report_oom(f->d);
    return gr_fragment_bind(f, n->results[0], &id, 1);
}

/* Names stand for their values in a row. */
static bool collect(gr_fragment *f, const gr_frag_node *n, id_vec *args) {
    for (uint32_t i = 0; i < n->args_n; i++) {
        uint32_t count;
        const gr_value_id *v = gr_fragment_find(f, n->args[i], &count);
        if (!v) return gr_fragment_bad(f, "uses the undefined", n->args[i]);
        for (uint32_t k = 0; k < count; k++) {
            gr_value_id *slot = GR_PUSH(f->scratch, args);
            if (!slot) return gr_report_oom(f->d);
            *slot = v[k];
        }
    }
    return true;
}

/* Inner names for results that the caller has not named. */
static bool fill_names(gr_fragment *f, const gr_frag_node *n, const gr_str *names, uint32_t names_n, gr_str **out, uint32_t *out_n) {
    *out_n = names_n > n->results_n ? names_n : n->results_n;
    *out = GR_NEW_N(f->scratch, gr_str, *out_n);
    if (!*out) return gr_report_oom(f->d);
    for (uint32_t i = 0; i < *out_n; i++) {
        if (i < names_n) (*out)[i] = names[i];
        if (!(*out)[i].n) (*out)[i] = gr_fragment_inner_name(f, n->results[i < n->results_n ? i : 0]);
        if (!(*out)[i].p) return gr_report_oom(f->d);
    }
    return true;
}

/* A call of a role that only reshapes by broadcasting, to the shape that its operand has: the operand itself. */
static bool changes_nothing(const gr_fragment *f, const gr_op *op, const id_vec *args, const gr_arg *params, uint32_t params_n) {
    bool role = op->role == GR_ROLE_SUM_TO_SHAPE || op->role == GR_ROLE_EXPAND;
    if (!role || !f->shorten || args->n != 1 || args->v[0] == GR_NO_VALUE || params_n != 1 || !params[0].is_resolved) return false;
    const gr_type *t = &f->out->values[args->v[0]].type;
    bool same = params[0].resolved.li && params[0].resolved.n == t->rank;
    for (uint32_t i = 0; same && i < t->rank; i++) same = params[0].resolved.li[i] == (int64_t)t->dim[i].n;
    return same;
}

/* Lines with conditions may define one name; of those that hold there is one. */
static bool new_names(gr_fragment *f, const gr_frag_node *n) {
    for (uint32_t i = 0; i < n->results_n; i++)
        if (gr_map_get(&f->names, n->results[i], NULL)) return gr_fragment_bad(f, "defines twice, under conditions that hold both,", n->results[i]);
    return true;
}

bool gr_fragment_place(gr_fragment *f, const gr_frag_node *n, uint32_t number, const gr_str *names, uint32_t names_n) {
    bool placed;
    GR_TRY(gr_frag_placed(f->d, n, f->call, f->at, &placed));
    if (!placed) return true;
    GR_TRY(new_names(f, n));
    id_vec args = {0};
    gr_arg *params;
    gr_str *all;
    gr_value_id *results;
    uint32_t params_n, results_n, all_n;
    if (!n->op.n) return place_constant(f, n);
    const gr_op *op = gr_catalog_find(f->catalog, n->op);
    if (!op) return gr_report(f->d, GR_D_GRAPH_OP_UNKNOWN, f->at, "add the op to the catalog", "the %s of %.*s needs the op %.*s", f->what, GR_STR_ARG(f->call->op->id), GR_STR_ARG(n->op));
    GR_TRY(collect(f, n, &args));
    GR_TRY(gr_frag_args(f->scratch, f->d, n, f->call, f->at, &params, &params_n));
    if (n->results_n == 1 && changes_nothing(f, op, &args, params, params_n)) return gr_fragment_bind(f, n->results[0], &args.v[0], 1);
    GR_TRY(fill_names(f, n, names, names_n, &all, &all_n));
    char *node = gr_arena_printf(f->a, "%.*s/%u", GR_STR_ARG(f->prefix), number);
    if (!node) return gr_report_oom(f->d);
    GR_TRY(gr_graph_append(f->a, f->d, f->out, op, args.v, args.n, params, params_n, gr_str_of(node), f->at, all, all_n, &results, &results_n));
    if (n->results_n == 1 && results_n != 1) return gr_fragment_bind(f, n->results[0], results, results_n);
    if (n->results_n != results_n) return gr_fragment_bad(f, "names another number of results than the call gives at", n->results[0]);
    for (uint32_t i = 0; i < results_n; i++) GR_TRY(gr_fragment_bind(f, n->results[i], &results[i], 1));
    return true;
}
