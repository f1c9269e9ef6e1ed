/* Reverse mode over the list of nodes: a walk from the last node to the first, which appends what each op says of
 * its gradient. Nodes of g stay as they are, so that forward values are computed once, by the kernels that the
 * forward alone would have; what a composed body needs of its inner values is computed again in the backward. */
#include "ladder/graph/opt_gradient_int.h"

/* ---- activity: which values depend on a parameter -------------------------------------- */

static bool room(gr_gradient *x) {
    while (x->track.n < x->out->values_n) {
        gr_gradient_track *t = GR_PUSH(x->keep, &x->track);
        if (!t) return gr_report_oom(x->d);
        *t = (gr_gradient_track){.from = GR_NO_VALUE, .cotangent = GR_NO_VALUE, .via = GR_NO_VALUE};
    }
    return true;
}

/* The operand of the signature that argument i of a call belongs to. */
static uint32_t operand_of(const gr_call *c, uint32_t i) {
    uint32_t p = 0;
    while (p + 1 < c->op->sig.operands_n && c->operand_first[p + 1] <= i) p++;
    return p;
}

bool gr_gradient_stopped(const gr_call *c, uint32_t arg) {
    const gr_backward *b = &c->op->backward;
    for (uint32_t i = 0; i < b->stops_n; i++)
        if (gr_str_eq(b->stops[i], c->op->sig.operands[operand_of(c, arg)].name)) return true;
    return false;
}

/* The first argument through which a gradient may flow, or GR_NO_VALUE. */
static gr_value_id flows_from(const gr_gradient *x, const gr_graph_node *n) {
    for (uint32_t i = 0; i < n->call.operands_n; i++)
        if (gr_gradient_wanted(x, n->args[i]) && !gr_gradient_stopped(&n->call, i)) return n->args[i];
    return GR_NO_VALUE;
}

bool gr_gradient_follow(gr_gradient *x, uint32_t first) {
    GR_TRY(room(x));
    for (uint32_t i = first; i < x->out->nodes_n; i++) {
        const gr_graph_node *n = &x->out->nodes[i];
        gr_value_id from = flows_from(x, n);
        for (uint32_t r = 0; from != GR_NO_VALUE && r < n->call.outputs_n; r++) {
            gr_gradient_track *t = n->results[r] == GR_NO_VALUE ? NULL : &x->track.v[n->results[r]];
            if (!t || t->active || !gr_dtype_is_float(n->call.outputs[r].dtype)) continue;
            t->active = true;
            t->from = from;
        }
    }
    return true;
}

/* ---- what roles give ---------------------------------------------------------------------- */

bool gr_gradient_call(gr_gradient *x, gr_role role, const gr_value_id *args, uint32_t args_n, const gr_arg *params, uint32_t params_n,
                      gr_str node, gr_place at, gr_str name, gr_value_id *out) {
    const gr_op *op = gr_catalog_role(x->catalog, role);
    gr_value_id *made;
    uint32_t n;
    if (!op) return gr_report(x->d, GR_D_GRAPH_ROLE_MISSING, at, "load a catalog that has it", "no op has the role %s, which gradients need", gr_role_name(role));
    GR_TRY(gr_graph_append(x->a, x->d, x->out, op, args, args_n, params, params_n, node, at, &name, 1, &made, &n));
    x->out->nodes[x->out->nodes_n - 1].backward = true;
    *out = made[0];
    return room(x);
}

static bool shape_param(gr_gradient *x, const gr_type *t, gr_arg *out, const char *name, gr_place at) {
    int64_t *dims = GR_NEW_N(x->a, int64_t, t->rank);
    if (!dims) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = (int64_t)t->dim[i].n;
    *out = (gr_arg){.name = gr_str_of(name), .at = at, .is_resolved = true, .resolved = {.kind = GR_PARAM_I32_LIST, .given = true, .n = t->rank, .li = dims}};
    return true;
}

bool gr_gradient_fill(gr_gradient *x, gr_value_id like, double number, gr_str node, gr_place at, gr_str name, gr_value_id *out) {
    const gr_type t = x->out->values[like].type;
    gr_arg p[3];
    GR_TRY(shape_param(x, &t, &p[0], "shape", at));
    p[1] = (gr_arg){.name = GR_STR("value"), .at = at, .is_resolved = true, .resolved = {.kind = GR_PARAM_F32, .given = true, .f = number}};
    p[2] = (gr_arg){.name = GR_STR("type"), .at = at, .is_resolved = true, .resolved = {.kind = GR_PARAM_ENUM, .given = true, .word = gr_str_of(gr_dtype_name(t.dtype))}};
    return gr_gradient_call(x, GR_ROLE_FILL, NULL, 0, p, 3, node, at, name, out);
}

bool gr_gradient_sum_to(gr_gradient *x, gr_value_id v, gr_value_id like, gr_str node, gr_place at, gr_value_id *out) {
    const gr_type to = x->out->values[like].type, *from = &x->out->values[v].type;
    bool same = from->rank == to.rank;
    for (uint32_t i = 0; same && i < to.rank; i++) same = from->dim[i].n == to.dim[i].n;
    *out = v;
    if (same) return true;
    gr_arg p;
    GR_TRY(shape_param(x, &to, &p, "shape", at));
    return gr_gradient_call(x, GR_ROLE_SUM_TO_SHAPE, &v, 1, &p, 1, node, at, x->out->values[v].name, out);
}

/* "d_x" for the value x, in the graph's arena. */
static gr_str gradient_name(gr_gradient *x, gr_value_id v) {
    char *p = gr_arena_printf(x->a, "d_%.*s", GR_STR_ARG(x->out->values[v].name));
    return p ? gr_str_of(p) : (gr_str){0};
}

bool gr_gradient_contribute(gr_gradient *x, gr_value_id to, gr_value_id v, gr_value_id via, gr_str node, gr_place at) {
    GR_TRY(room(x));
    gr_gradient_track *t = &x->track.v[to];
    if (t->cotangent == GR_NO_VALUE) {
        t->cotangent = v;
        t->via = via;
        return true;
    }
    gr_value_id both[2] = {t->cotangent, v}, sum;
    GR_TRY(gr_gradient_call(x, GR_ROLE_ACCUMULATE, both, 2, NULL, 0, node, at, gradient_name(x, to), &sum));
    x->track.v[to].cotangent = sum;
    return true;
}

/* ---- refusal --------------------------------------------------------------------------------- */

enum { PATH_MAX_NAMES = 12 };

static gr_str name_of(const gr_gradient *x, gr_value_id v) {
    const gr_graph_value *value = &x->out->values[v];
    return value->source == GR_SOURCE_NODE ? x->out->nodes[value->node].node : value->name;
}

/* "loss -> t -> s -> p": nodes inside an expanded body go by the name of its call, and of a long path the first and
 * the last are named. */
static void print_path(gr_buf *b, const gr_gradient *x, const gr_value_id *v, uint32_t n) {
    gr_str last = {0};
    for (uint32_t i = 0, shown = 0; i < n; i++) {
        gr_str name = name_of(x, v[i]);
        bool inner = last.n && name.n >= last.n && memcmp(name.p, last.p, last.n) == 0 && (name.n == last.n || name.p[last.n] == '/');
        if (inner) continue;
        last = name;
        if (++shown == PATH_MAX_NAMES && n - i > PATH_MAX_NAMES) {
            gr_buf_puts(b, " -> ...");
            i = n - PATH_MAX_NAMES / 2;
            continue;
        }
        gr_buf_printf(b, "%s%.*s", shown > 1 ? " -> " : "", name.n > 60 ? 60 : (int)name.n, name.p);
    }
}

/* The values from the loss to `v`, and behind it those from `to` to a parameter. */
static bool find_path(gr_gradient *x, gr_value_id v, gr_value_id to, gr_value_id **out, uint32_t *n) {
    GR_VEC(gr_value_id) path = {0};
    for (; v != GR_NO_VALUE; v = x->track.v[v].via) {
        gr_value_id *slot = GR_PUSH(x->scratch, &path);
        if (!slot) return gr_report_oom(x->d);
        *slot = v;
    }
    for (uint32_t i = 0; i < path.n / 2; i++) { /* it was found from its end */
        gr_value_id swap = path.v[i];
        path.v[i] = path.v[path.n - 1 - i];
        path.v[path.n - 1 - i] = swap;
    }
    for (v = to; v != GR_NO_VALUE; v = x->track.v[v].from) {
        gr_value_id *slot = GR_PUSH(x->scratch, &path);
        if (!slot) return gr_report_oom(x->d);
        *slot = v;
    }
    *out = path.v;
    *n = path.n;
    return true;
}

static gr_value_id first_with_cotangent(const gr_gradient *x, const gr_graph_node *n) {
    for (uint32_t r = 0; r < n->call.outputs_n; r++)
        if (gr_gradient_of(x, n->results[r]) != GR_NO_VALUE) return n->results[r];
    return GR_NO_VALUE;
}

bool gr_gradient_refuse(gr_gradient *x, uint32_t node, gr_value_id to, gr_str reason) {
    const gr_graph_node *n = &x->out->nodes[node];
    gr_value_id *path = NULL;
    uint32_t path_n = 0;
    gr_buf b = {0};
    GR_TRY(find_path(x, first_with_cotangent(x, n), to, &path, &path_n));
    print_path(&b, x, path, path_n);
    gr_report(x->d, GR_D_GRAPH_NOT_DIFFERENTIABLE, n->at, "take the parameter out of the gradient, or use an op that has one",
              "no gradient flows through %.*s at node \"%.*s\": %.*s; the path from loss to parameter is %s", GR_STR_ARG(n->call.op->id),
              n->node.n > 200 ? 200 : (int)n->node.n, n->node.p, reason.n > 300 ? 300 : (int)reason.n, reason.p, b.p ? b.p : "");
    gr_report_trail(x->d, "node %.*s -> op %.*s", GR_STR_ARG(n->node), GR_STR_ARG(n->call.op->id));
    gr_buf_free(&b);
    return false;
}

/* ---- one node: declared ------------------------------------------------------------------------ */

static bool has_name(const gr_str *list, uint32_t n, gr_str prefix, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i].n == prefix.n + name.n && memcmp(list[i].p, prefix.p, prefix.n) == 0 && memcmp(list[i].p + prefix.n, name.p, name.n) == 0) return true;
    return false;
}

static bool operand_wanted(const gr_gradient *x, const gr_graph_node *n, uint32_t p) {
    for (uint32_t i = n->call.operand_first[p]; i < n->call.operand_first[p + 1]; i++)
        if (gr_gradient_wanted(x, n->args[i]) && !gr_gradient_stopped(&n->call, i)) return true;
    return false;
}

/* Lines of the fragment that some wanted %d_x needs. */
static bool mark_lines(gr_gradient *x, const gr_graph_node *n, const gr_frag *f, uint8_t **out) {
    gr_map needed = {0};
    uint8_t *line = *out = GR_NEW_N(x->scratch, uint8_t, f->nodes_n);
    if (!line) return gr_report_oom(x->d);
    for (uint32_t i = f->nodes_n; i-- > 0;) {
        const gr_frag_node *l = &f->nodes[i];
        for (uint32_t p = 0; p < n->call.op->sig.operands_n && !line[i]; p++)
            line[i] = operand_wanted(x, n, p) && has_name(l->results, l->results_n, GR_STR("d_"), n->call.op->sig.operands[p].name);
        for (uint32_t r = 0; r < l->results_n && !line[i]; r++) line[i] = gr_map_get(&needed, l->results[r], NULL);
        for (uint32_t k = 0; line[i] && k < l->args_n; k++)
            if (!gr_map_put(x->scratch, &needed, l->args[k], 1)) return gr_report_oom(x->d);
    }
    return true;
}

static bool line_uses(const gr_frag *f, const uint8_t *line, gr_str prefix, gr_str name) {
    for (uint32_t i = 0; i < f->nodes_n; i++)
        if (line[i] && has_name(f->nodes[i].args, f->nodes[i].args_n, prefix, name)) return true;
    return false;
}

static gr_str prefixed(gr_gradient *x, gr_str name) {
    char *p = gr_arena_printf(x->scratch, "d_%.*s", GR_STR_ARG(name));
    return p ? gr_str_of(p) : (gr_str){0};
}

/* Arguments by the names of the operands. */
static bool bind_operands(gr_fragment *f, const gr_graph_node *n) {
    const gr_sig *sig = &n->call.op->sig;
    for (uint32_t p = 0; p < sig->operands_n; p++) {
        uint32_t first = n->call.operand_first[p];
        GR_TRY(gr_fragment_bind(f, sig->operands[p].name, n->args + first, n->call.operand_first[p + 1] - first));
    }
    return true;
}

/* Outputs and their cotangents; zeros where a line uses one that nothing reached. */
static bool bind_outputs(gr_gradient *x, gr_fragment *f, const gr_graph_node *n, const gr_frag *frag, const uint8_t *line) {
    const gr_sig *sig = &n->call.op->sig;
    bool variadic = sig->outputs_n == 1 && sig->outputs[0].variadic;
    gr_value_id *c = GR_NEW_N(x->scratch, gr_value_id, n->call.outputs_n);
    if (!c) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < n->call.outputs_n; i++) {
        gr_str name = sig->outputs[variadic ? 0 : i].name;
        c[i] = gr_gradient_of(x, n->results[i]);
        bool zeros = c[i] == GR_NO_VALUE && n->results[i] != GR_NO_VALUE && line_uses(frag, line, GR_STR("d_"), name);
        if (zeros) GR_TRY(gr_gradient_fill(x, n->results[i], 0, f->prefix, n->at, gr_fragment_inner_name(f, prefixed(x, name)), &c[i]));
        if (!variadic) GR_TRY(gr_fragment_bind(f, name, &n->results[i], 1) && gr_fragment_bind(f, prefixed(x, name), &c[i], 1));
    }
    if (!variadic) return true;
    return gr_fragment_bind(f, sig->outputs[0].name, n->results, n->call.outputs_n) && gr_fragment_bind(f, prefixed(x, sig->outputs[0].name), c, n->call.outputs_n);
}

static bool wrong_type(gr_gradient *x, gr_fragment *f, gr_value_id got, gr_value_id want, gr_str name) {
    gr_buf a = {0}, b = {0};
    gr_type_print(&a, &x->out->values[got].type);
    gr_type_print(&b, &x->out->values[want].type);
    gr_fragment_bad(f, "gives another type than that of the operand for", name);
    gr_report_hint(x->d, "it gives %s, the operand is %s", a.p ? a.p : "?", b.p ? b.p : "?");
    gr_buf_free(&a);
    gr_buf_free(&b);
    return false;
}

/* %d_x goes to the operand x; one value of a variadic operand's goes to each. */
static bool take_gradients(gr_gradient *x, gr_fragment *f, const gr_graph_node *n, gr_value_id via) {
    const gr_sig *sig = &n->call.op->sig;
    for (uint32_t p = 0; p < sig->operands_n; p++) {
        uint32_t first = n->call.operand_first[p], many = n->call.operand_first[p + 1] - first, got_n;
        if (!operand_wanted(x, n, p)) continue;
        gr_str name = prefixed(x, sig->operands[p].name);
        const gr_value_id *got = gr_fragment_find(f, name, &got_n);
        if (!got || (got_n != many && got_n != 1)) return gr_fragment_bad(f, got ? "gives another number of gradients than there are operands for" : "does not define", name);
        for (uint32_t i = 0; i < many; i++) {
            gr_value_id to = n->args[first + i], v = got[got_n == 1 ? 0 : i];
            if (!gr_gradient_wanted(x, to)) continue;
            if (v == GR_NO_VALUE || !gr_type_equal(&x->out->values[v].type, &x->out->values[to].type)) return v == GR_NO_VALUE ? gr_fragment_bad(f, "does not define", name) : wrong_type(x, f, v, to, name);
            GR_TRY(gr_gradient_contribute(x, to, v, via, f->prefix, n->at));
        }
    }
    return true;
}

/* "mean/d": what comes from the backward of a node. */
static bool start_fragment(gr_gradient *x, gr_fragment *f, const gr_graph_node *n, const char *what, bool derivative) {
    char *prefix = gr_arena_printf(x->a, derivative ? "%.*s/d" : "%.*s", GR_STR_ARG(n->node));
    if (!prefix) return gr_report_oom(x->d);
    *f = (gr_fragment){.a = x->a, .scratch = x->scratch, .d = x->d, .catalog = x->catalog, .out = x->out, .call = &n->call, .node = n->node, .prefix = gr_str_of(prefix), .at = n->at, .what = what, .shorten = true};
    return true;
}

static bool place_lines(gr_gradient *x, gr_fragment *f, const gr_frag *frag, const uint8_t *line) {
    uint32_t first = x->out->nodes_n;
    for (uint32_t i = 0; i < frag->nodes_n; i++)
        if (line[i]) GR_TRY(gr_fragment_place(f, &frag->nodes[i], i + 1, NULL, 0));
    for (uint32_t i = first; i < x->out->nodes_n; i++) x->out->nodes[i].backward = true;
    return room(x);
}

/* The node is a copy: the graph's nodes move when others are appended. */
static bool walk_declared(gr_gradient *x, const gr_graph_node *n) {
    const gr_frag *frag = &n->call.op->backward.graph;
    gr_fragment f;
    uint8_t *line;
    gr_value_id via = first_with_cotangent(x, n);
    return start_fragment(x, &f, n, "backward", true) && mark_lines(x, n, frag, &line) && bind_operands(&f, n) && bind_outputs(x, &f, n, frag, line) &&
           place_lines(x, &f, frag, line) && take_gradients(x, &f, n, via);
}

/* ---- one node: composed on a graph body ---------------------------------------------------------- */

/* The lines that outputs with a cotangent need. */
static bool mark_body(gr_gradient *x, const gr_graph_node *n, uint8_t **out) {
    const gr_frag *f = &n->call.op->graph;
    const gr_sig *sig = &n->call.op->sig;
    bool variadic = sig->outputs_n == 1 && sig->outputs[0].variadic;
    gr_map needed = {0};
    uint8_t *line = *out = GR_NEW_N(x->scratch, uint8_t, f->nodes_n);
    if (!line) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < n->call.outputs_n; i++)
        if (gr_gradient_of(x, n->results[i]) != GR_NO_VALUE && !gr_map_put(x->scratch, &needed, sig->outputs[variadic ? 0 : i].name, 1)) return gr_report_oom(x->d);
    for (uint32_t i = f->nodes_n; i-- > 0;) {
        const gr_frag_node *l = &f->nodes[i];
        for (uint32_t r = 0; r < l->results_n && !line[i]; r++) line[i] = gr_map_get(&needed, l->results[r], NULL);
        for (uint32_t k = 0; line[i] && k < l->args_n; k++)
            if (!gr_map_put(x->scratch, &needed, l->args[k], 1)) return gr_report_oom(x->d);
    }
    return true;
}

/* The cotangents of the call are those of what its body gives. */
static bool hand_in(gr_gradient *x, gr_fragment *f, const gr_graph_node *n) {
    const gr_sig *sig = &n->call.op->sig;
    bool variadic = sig->outputs_n == 1 && sig->outputs[0].variadic;
    for (uint32_t i = 0; i < n->call.outputs_n; i++) {
        gr_str name = sig->outputs[variadic ? 0 : i].name;
        uint32_t many;
        gr_value_id c = gr_gradient_of(x, n->results[i]);
        if (c == GR_NO_VALUE) continue;
        const gr_value_id *inner = gr_fragment_find(f, name, &many);
        if (!inner || many <= (variadic ? i : 0)) return gr_fragment_bad(f, "does not define", name);
        gr_value_id v = inner[variadic ? i : 0];
        if (!gr_type_equal(&x->out->values[v].type, &x->out->values[n->results[i]].type)) return gr_fragment_bad(f, "gives another type than its signature for", name);
        if (gr_gradient_wanted(x, v)) GR_TRY(gr_gradient_contribute(x, v, c, n->results[i], f->prefix, n->at));
    }
    return true;
}

static bool walk_body(gr_gradient *x, const gr_graph_node *n, int depth) {
    gr_fragment f;
    uint8_t *line;
    uint32_t first = x->out->nodes_n;
    if (depth >= GR_GRAPH_EXPAND_MAX)
        return gr_report(x->d, GR_D_GRAPH_EXPAND_DEPTH, n->at, "the op's body must not lead back to itself", "bodies nest over %d deep at node %.*s", GR_GRAPH_EXPAND_MAX, n->node.n > 200 ? 200 : (int)n->node.n, n->node.p);
    GR_TRY(start_fragment(x, &f, n, "body", false) && mark_body(x, n, &line) && bind_operands(&f, n) && place_lines(x, &f, &n->call.op->graph, line));
    uint32_t last = x->out->nodes_n;
    return gr_gradient_follow(x, first) && hand_in(x, &f, n) && gr_gradient_walk(x, first, last, depth + 1);
}

/* ---- the walk ---------------------------------------------------------------------------------------- */

static bool differentiate_node(gr_gradient *x, uint32_t node, int depth) {
    const gr_graph_node n = x->out->nodes[node];
    gr_value_id to = flows_from(x, &n);
    if (first_with_cotangent(x, &n) == GR_NO_VALUE || to == GR_NO_VALUE) return true;
    switch (n.call.op->backward.form) {
    case GR_BACKWARD_DECLARED: return walk_declared(x, &n);
    case GR_BACKWARD_COMPOSED: return n.call.op->body == GR_BODY_MAP ? gr_gradient_map(x, node) : walk_body(x, &n, depth);
    case GR_BACKWARD_NONE: return gr_gradient_refuse(x, node, to, n.call.op->backward.reason);
    case GR_BACKWARD_UNSET: break;
    }
    return gr_gradient_refuse(x, node, to, GR_STR("it says nothing of its backward"));
}

/* What a node's lines are placed with is freed with it, so that a long graph takes no more of it than a short one. */
static bool walk_node(gr_gradient *x, uint32_t node, int depth) {
    gr_arena mine = {0}, *outer = x->scratch;
    x->scratch = &mine;
    bool ok = differentiate_node(x, node, depth);
    x->scratch = outer;
    gr_arena_free(&mine);
    return ok;
}

bool gr_gradient_walk(gr_gradient *x, uint32_t first, uint32_t last, int depth) {
    for (uint32_t i = last; i-- > first;) GR_TRY(walk_node(x, i, depth));
    return true;
}

static gr_place place_of(const gr_gradient *x, gr_value_id v) {
    const gr_graph_value *value = &x->out->values[v];
    return value->source == GR_SOURCE_NODE ? x->out->nodes[value->node].at : (gr_place){.document = x->g->document};
}

/* Every seed's cotangent, ones where none is given. */
static bool plant(gr_gradient *x, const gr_gradient_seed *s) {
    const gr_graph_value *v = &x->out->values[s->value];
    gr_place at = place_of(x, s->value);
    gr_str node = name_of(x, s->value);
    uint64_t n = 0;
    gr_value_id c = s->cotangent;
    bool fits = gr_dtype_is_float(v->type.dtype) && gr_type_count(&v->type, &n) && (c == GR_NO_VALUE ? n == 1 : gr_type_equal(&x->out->values[c].type, &v->type));
    if (!fits) {
        gr_buf b = {0};
        gr_type_print(&b, &v->type);
        gr_report(x->d, GR_D_GRAPH_GRADIENT_SEED, at, "differentiate one float, such as a mean, or give a cotangent of the value's type",
                  "%%%.*s is %s: %s", GR_STR_ARG(v->name), b.p ? b.p : "?", c == GR_NO_VALUE ? "a gradient without a cotangent is of one float" : "the cotangent has another type");
        gr_buf_free(&b);
        return false;
    }
    if (c == GR_NO_VALUE) GR_TRY(gr_gradient_fill(x, s->value, 1, node, at, gradient_name(x, s->value), &c));
    return !x->track.v[s->value].active || gr_gradient_contribute(x, s->value, c, GR_NO_VALUE, node, at);
}

static bool want(gr_gradient *x, gr_value_id v) {
    if (!gr_dtype_is_float(x->out->values[v].type.dtype))
        return gr_report(x->d, GR_D_GRAPH_NOT_DIFFERENTIABLE, place_of(x, v), "ask for the gradient of a float", "%%%.*s is %s: only floats have gradients", GR_STR_ARG(x->out->values[v].name),
                         gr_dtype_name(x->out->values[v].type.dtype));
    x->track.v[v].active = true;
    return true;
}

static bool collect(gr_gradient *x, gr_value_id v, gr_value_id *out) {
    *out = gr_gradient_of(x, v);
    if (*out != GR_NO_VALUE) return true;
    return gr_gradient_fill(x, v, 0, name_of(x, v), place_of(x, v), gradient_name(x, v), out);
}

static bool known(gr_gradient *x, gr_value_id v, bool optional) {
    if (v < x->g->values_n || (optional && v == GR_NO_VALUE)) return true;
    return GR_BUG(x->d, "G1", "a gradient names value %u of %u", v, x->g->values_n);
}

/* ---- what was appended and is not needed goes --------------------------------------------------------- */

/* Appended nodes and values move down over those that go; ids of g stay. */
static bool sweep(gr_gradient *x, gr_value_id *gradients, uint32_t n) {
    gr_graph *o = x->out;
    uint32_t v0 = x->g->values_n, n0 = x->g->nodes_n, v1 = v0, n1 = n0;
    uint8_t *needed = GR_NEW_N(x->scratch, uint8_t, o->values_n), *keep = GR_NEW_N(x->scratch, uint8_t, o->nodes_n);
    gr_value_id *map = GR_NEW_N(x->scratch, gr_value_id, o->values_n);
    if (!needed || !keep || !map) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < n; i++) needed[gradients[i]] = 1;
    for (uint32_t i = o->nodes_n; i-- > n0;) {
        const gr_graph_node *node = &o->nodes[i];
        for (uint32_t r = 0; r < node->call.outputs_n && !keep[i]; r++) keep[i] = node->results[r] != GR_NO_VALUE && needed[node->results[r]];
        for (uint32_t k = 0; keep[i] && k < node->call.operands_n; k++)
            if (node->args[k] != GR_NO_VALUE) needed[node->args[k]] = 1;
    }
    for (uint32_t i = v0; i < o->values_n; i++) { /* all results of a node that stays, and constants in use */
        const gr_graph_value *v = &o->values[i];
        if (v->source == GR_SOURCE_NODE ? !keep[v->node] : !needed[i]) continue;
        map[i] = v1;
        o->values[v1++] = *v;
    }
    for (uint32_t i = n0; i < o->nodes_n; i++) {
        if (!keep[i]) continue;
        gr_graph_node *node = &o->nodes[i];
        for (uint32_t k = 0; k < node->call.operands_n; k++)
            if (node->args[k] != GR_NO_VALUE && node->args[k] >= v0) node->args[k] = map[node->args[k]];
        for (uint32_t r = 0; r < node->call.outputs_n; r++) {
            if (node->results[r] == GR_NO_VALUE) continue;
            node->results[r] = map[node->results[r]];
            o->values[node->results[r]].node = n1;
        }
        o->nodes[n1++] = *node;
    }
    for (uint32_t i = 0; i < n; i++)
        if (gradients[i] >= v0) gradients[i] = map[gradients[i]];
    o->values_n = v1;
    o->nodes_n = n1;
    o->names = (struct gr_graph_names){0}; /* names of values that went are free again */
    return true;
}

static bool differentiate(gr_gradient *x, const gr_gradient_seed *seeds, uint32_t seeds_n, const gr_value_id *wrt, uint32_t wrt_n, gr_value_id *gradients) {
    for (uint32_t i = 0; i < seeds_n; i++) GR_TRY(known(x, seeds[i].value, false) && known(x, seeds[i].cotangent, true));
    for (uint32_t i = 0; i < wrt_n; i++) GR_TRY(known(x, wrt[i], false));
    GR_TRY(room(x));
    for (uint32_t i = 0; i < wrt_n; i++) GR_TRY(want(x, wrt[i]));
    GR_TRY(gr_gradient_follow(x, 0));
    for (uint32_t i = 0; i < seeds_n; i++) GR_TRY(plant(x, &seeds[i]));
    GR_TRY(gr_gradient_walk(x, 0, x->g->nodes_n, 0));
    for (uint32_t i = 0; i < wrt_n; i++) GR_TRY(collect(x, wrt[i], &gradients[i]));
    return sweep(x, gradients, wrt_n);
}

bool gr_graph_opt_gradient(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_catalog *catalog, const gr_gradient_seed *seeds, uint32_t seeds_n,
                           const gr_value_id *wrt, uint32_t wrt_n, gr_graph *out, gr_value_id *gradients) {
    gr_arena scratch = {0};
    gr_gradient x = {.a = a, .keep = &scratch, .scratch = &scratch, .d = d, .catalog = catalog, .g = g, .out = out};
    *out = *g; /* shared arrays: without spare capacity nobody appends to them in place */
    out->values_cap = g->values_n, out->nodes_cap = g->nodes_n, out->outputs_cap = g->outputs_n;
    out->names = (struct gr_graph_names){0};
    bool ok = differentiate(&x, seeds, seeds_n, wrt, wrt_n, gradients);
    gr_arena_free(&scratch);
    return ok;
}
