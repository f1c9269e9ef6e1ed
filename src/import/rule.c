/* rule.c: one rule applied to one node: its signature is resolved, then each line of its graph is a call. */
#include "import/import_int.h"

typedef struct applying {
    importer *m;
    gr_diags *d;
    const gr_import_rule *rule;
    const gr_onnx_node *n;
    const uint32_t *in;
    gr_call shell;
    GR_VEC(gr_str) names; /* values of the graph by name, in step with values */
    GR_VEC(uint32_t) values;
} applying;

static bool refuse(applying *w, gr_diag_name name, const char *hint, const char *what, gr_str which) {
    return gr_report(w->d, name, (gr_place){0}, hint, "%s \"%.*s\"", what, GR_STR_ARG(which));
}

static int find_name(const gr_str *list, uint32_t n, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eq(list[i], name)) return (int)i;
    return -1;
}

static const gr_sig_param *find_param(const gr_sig *s, gr_str name) {
    for (uint32_t i = 0; i < s->params_n; i++)
        if (gr_str_eq(s->params[i].name, name)) return &s->params[i];
    return NULL;
}

static uint32_t input_at(const applying *w, uint32_t position) { return position < w->n->in_n ? w->in[position] : NO_VALUE; }

/* ---- parameters of the rule: attributes and inputs that are known ------------------------------------------ */

static int64_t saturate(int64_t v) { return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v; }

static bool is_list(gr_param_kind k) { return k >= GR_PARAM_U32_LIST; }

/* An array as a parameter. Integers beyond 32 bits mean an end that lies far away: they saturate. */
static bool param_of_array(applying *w, const gr_sig_param *q, const gr_array *x, gr_param *p) {
    uint64_t n = gr_array_count(x);
    bool floats = q->kind == GR_PARAM_F32 || q->kind == GR_PARAM_F32_LIST;
    *p = (gr_param){.given = true, .kind = q->kind, .n = (uint32_t)n};
    if (!is_list(q->kind) && n != 1) return refuse(w, GR_D_IMPORT_ATTRIBUTE, NULL, "one element is needed for", q->name);
    if (n > 4096) return refuse(w, GR_D_IMPORT_ATTRIBUTE, NULL, "there are too many elements for", q->name);
    if (q->kind == GR_PARAM_BOOL) p->i = gr_array_get_i64(x, 0) != 0;
    else if (q->kind == GR_PARAM_F32) p->f = gr_array_get_f64(x, 0);
    else if (q->kind == GR_PARAM_DTYPE) p->word = gr_str_of(gr_dtype_name(x->dtype));
    else if (!is_list(q->kind)) p->kind = GR_PARAM_I32, p->i = saturate(gr_array_get_i64(x, 0));
    if (!is_list(q->kind)) return true;
    p->kind = floats ? GR_PARAM_F32_LIST : GR_PARAM_I32_LIST;
    p->li = GR_NEW_N(w->m->a, int64_t, n);
    p->lf = floats ? GR_NEW_N(w->m->a, double, n) : NULL;
    if (!p->li || (floats && !p->lf)) return gr_report_oom(w->d);
    for (uint32_t i = 0; i < n; i++) {
        if (floats) p->lf[i] = gr_array_get_f64(x, i);
        else p->li[i] = saturate(gr_array_get_i64(x, i));
    }
    return true;
}

/* Texts of a list are one word, joined by _: ["Sigmoid", "Tanh"] is Sigmoid_Tanh. */
static gr_str joined(applying *w, const gr_onnx_attribute *t) {
    gr_buf b = {0};
    for (uint32_t i = 0; i < t->n; i++) gr_buf_printf(&b, "%s%.*s", i ? "_" : "", GR_STR_ARG(t->strings[i]));
    gr_str s = gr_str_dup(w->m->a, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

static bool param_of_attribute(applying *w, const gr_sig_param *q, const gr_onnx_attribute *t, gr_param *p) {
    *p = (gr_param){.given = true, .kind = q->kind};
    switch (t->kind) {
    case GR_ONNX_INT:
        p->i = q->kind == GR_PARAM_BOOL ? t->i != 0 : saturate(t->i);
        if (q->kind == GR_PARAM_DTYPE) p->word = gr_str_of(gr_dtype_name(gr_onnx_dtype((int32_t)saturate(t->i))));
        else if (q->kind != GR_PARAM_BOOL) p->kind = GR_PARAM_I32;
        return true;
    case GR_ONNX_FLOAT: p->kind = GR_PARAM_F32, p->f = t->f; return true;
    case GR_ONNX_STRING: p->kind = GR_PARAM_ENUM, p->word = t->s; return true;
    case GR_ONNX_STRINGS: p->kind = GR_PARAM_ENUM, p->word = joined(w, t); return true;
    case GR_ONNX_TENSOR: return param_of_array(w, q, &t->t, p);
    case GR_ONNX_FLOATS: p->kind = GR_PARAM_F32_LIST, p->n = t->n, p->lf = t->floats; return true;
    case GR_ONNX_INTS:
        p->kind = GR_PARAM_I32_LIST, p->n = t->n, p->li = GR_NEW_N(w->m->a, int64_t, t->n);
        for (uint32_t i = 0; p->li && i < t->n; i++) p->li[i] = saturate(t->ints[i]);
        return p->li || gr_report_oom(w->d);
    case GR_ONNX_NONE:
    case GR_ONNX_GRAPH:
    case GR_ONNX_OTHER: break;
    }
    return refuse(w, GR_D_IMPORT_ATTRIBUTE, NULL, "nothing can be made of attribute", t->name);
}

/* The type of a tensor that is a parameter, to the parameter NAME_type where the rule has one. */
static bool add_type(applying *w, gr_str name, const gr_array *x, gr_arg *args, uint32_t *n) {
    char *typed = gr_arena_printf(w->m->a, "%.*s_type", GR_STR_ARG(name));
    if (!typed) return gr_report_oom(w->d);
    const gr_sig_param *type = find_param(&w->rule->shell.sig, gr_str_of(typed));
    if (!type) return true;
    args[*n] = (gr_arg){.name = type->name, .is_resolved = true};
    return param_of_array(w, type, x, &args[(*n)++].resolved);
}

/* An attribute gives the parameter of its name. */
static bool read_attributes(applying *w, gr_arg *args, uint32_t *n) {
    const gr_sig *s = &w->rule->shell.sig;
    for (uint32_t i = 0; i < w->n->attributes_n; i++) {
        const gr_onnx_attribute *t = &w->n->attributes[i];
        const gr_sig_param *q = find_param(s, t->name);
        if (find_name(w->rule->ignore, w->rule->ignore_n, t->name) >= 0) continue;
        if (!q) return refuse(w, GR_D_IMPORT_ATTRIBUTE, NULL, "there is no rule for attribute", t->name);
        args[*n] = (gr_arg){.name = q->name, .is_resolved = true};
        GR_TRY(param_of_attribute(w, q, t, &args[(*n)++].resolved));
        if (t->kind == GR_ONNX_TENSOR) GR_TRY(add_type(w, t->name, &t->t, args, n));
    }
    return true;
}

static bool read_known_inputs(applying *w, gr_arg *args, uint32_t *n) {
    const gr_sig *s = &w->rule->shell.sig;
    for (uint32_t i = 0; i < w->rule->inputs_n; i++) {
        const gr_sig_param *q = find_param(s, w->rule->inputs[i]);
        uint32_t v = input_at(w, i);
        if (!q || v == NO_VALUE) continue;
        const gr_array *x = w->m->values.v[v].known;
        if (!x) return refuse(w, GR_D_IMPORT_CONSTANT, "fold it into a constant before the model is written", "the model's inputs decide input", w->rule->inputs[i]);
        args[*n] = (gr_arg){.name = q->name, .is_resolved = true};
        GR_TRY(param_of_array(w, q, x, &args[(*n)++].resolved) && add_type(w, q->name, x, args, n));
    }
    const gr_sig_param *outputs = find_param(s, GR_STR("node_outputs")); /* how many the node has, where a rule asks */
    if (outputs) args[(*n)++] = (gr_arg){.name = outputs->name, .is_resolved = true, .resolved = {.given = true, .kind = GR_PARAM_U32, .i = w->n->out_n}};
    return true;
}

/* ---- operands ------------------------------------------------------------------------------------------------ */

/* How many inputs an operand takes: one, or for a variadic one all from its position on. */
static uint32_t taken(const applying *w, const gr_sig_tensor *t, uint32_t position) { return !t->variadic ? 1 : w->n->in_n > position ? w->n->in_n - position : 0; }

static bool resolve_shell(applying *w) {
    const gr_sig *s = &w->rule->shell.sig;
    gr_type *types = GR_NEW_N(w->m->a, gr_type, s->operands_n + w->n->in_n);
    gr_arg *args = GR_NEW_N(w->m->a, gr_arg, 2 * (w->n->attributes_n + w->rule->inputs_n) + 1);
    uint32_t types_n = 0, args_n = 0;
    if (!types || !args) return gr_report_oom(w->d);
    bool open = w->rule->inputs_n && s->operands_n && s->operands[s->operands_n - 1].variadic;
    if (w->n->in_n > w->rule->inputs_n && !open) return gr_report(w->d, GR_D_IMPORT_ATTRIBUTE, (gr_place){0}, NULL, "it has %u inputs, the rule takes %u", w->n->in_n, w->rule->inputs_n);
    for (uint32_t i = 0; i < s->operands_n; i++) {
        int position = find_name(w->rule->inputs, w->rule->inputs_n, s->operands[i].name);
        for (uint32_t k = 0; k < taken(w, &s->operands[i], (uint32_t)position); k++) {
            uint32_t v = input_at(w, (uint32_t)position + k);
            types[types_n++] = v == NO_VALUE ? (gr_type){0} : w->m->values.v[v].type;
        }
    }
    GR_TRY(read_attributes(w, args, &args_n) && read_known_inputs(w, args, &args_n));
    return gr_call_resolve(w->m->a, w->d, &w->rule->shell, types, types_n, args, args_n, (gr_place){0}, &w->shell);
}

static bool bind(applying *w, gr_str name, uint32_t v) {
    gr_str *n = GR_PUSH(w->m->a, &w->names);
    uint32_t *to = GR_PUSH(w->m->a, &w->values);
    if (!n || !to) return gr_report_oom(w->d);
    *n = name;
    *to = v;
    return true;
}

/* The values of a name: several for a variadic operand. */
static uint32_t values_of(const applying *w, gr_str name, uint32_t *out, uint32_t max) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->names.n && n < max; i++)
        if (gr_str_eq(w->names.v[i], name)) out[n++] = w->values.v[i];
    return n;
}

static bool bind_operands(applying *w) {
    const gr_sig *s = &w->rule->shell.sig;
    for (uint32_t i = 0; i < s->operands_n; i++) {
        int position = find_name(w->rule->inputs, w->rule->inputs_n, s->operands[i].name);
        for (uint32_t k = 0; k < taken(w, &s->operands[i], (uint32_t)position); k++) GR_TRY(bind(w, s->operands[i].name, input_at(w, (uint32_t)position + k)));
    }
    return true;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static uint64_t elements(const gr_type *t) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) n = t->dim[i].n && n > FOLD_MAX ? FOLD_MAX + 1 : n * t->dim[i].n;
    return n;
}

/* Whether the results can be known now: all operands are, and everything is small. */
static bool can_fold(const applying *w, const gr_call *c, const uint32_t *in) {
    for (uint32_t i = 0; i < c->operands_n; i++)
        if (in[i] != NO_VALUE && (!w->m->values.v[in[i]].known || elements(&c->operands[i]) > FOLD_MAX)) return false;
    for (uint32_t i = 0; i < c->outputs_n; i++)
        if (elements(&c->outputs[i]) > FOLD_MAX || c->outputs[i].bounded) return false;
    return w->m->o->evaluate != NULL;
}

static bool fold(applying *w, const gr_call *c, const uint32_t *in, uint32_t *out) {
    gr_arena *a = w->m->a;
    const gr_sig *s = &c->op->sig;
    gr_str *names = GR_NEW_N(a, gr_str, c->operands_n);
    gr_array *arrays = GR_NEW_N(a, gr_array, c->operands_n), *results = GR_NEW_N(a, gr_array, c->outputs_n);
    const char **params = (const char **)GR_NEW_N(a, char *, s->params_n);
    uint32_t n = 0, params_n = 0;
    if (!names || !arrays || !results || !params) return gr_report_oom(w->d);
    for (uint32_t i = 0; i < s->operands_n; i++)
        for (uint32_t k = c->operand_first[i]; k < c->operand_first[i + 1]; k++)
            if (in[k] != NO_VALUE) names[n] = s->operands[i].name, arrays[n++] = *w->m->values.v[in[k]].known;
    for (uint32_t i = 0; i < s->params_n; i++) {
        gr_buf b = {0};
        if (!import_param_is_written(&c->params[i])) continue;
        import_print_param(&b, &c->params[i]);
        params[params_n++] = gr_arena_printf(a, "%.*s=%.*s", GR_STR_ARG(s->params[i].name), GR_STR_ARG(gr_buf_view(&b)));
        gr_buf_free(&b);
    }
    GR_TRY(w->m->o->evaluate(w->m->o->user, a, c->op, names, arrays, n, params, params_n, results, c->outputs_n));
    for (uint32_t i = 0; i < c->outputs_n; i++) {
        if (!c->outputs[i].dtype) continue;
        out[i] = import_value(w->m, (value){.name = w->n->name, .from = FROM_CONSTANT, .type = c->outputs[i], .known = &results[i]});
        if (out[i] == NO_VALUE) return false;
    }
    w->m->folded++;
    return true;
}

/* Calls an op on values. A call of the op whose role is to copy is its operand. */
static bool emit(applying *w, const gr_op *op, const uint32_t *in, uint32_t in_n, const gr_arg *args, uint32_t args_n, uint32_t **out, uint32_t *out_n) {
    gr_arena *a = w->m->a;
    gr_type *types = GR_NEW_N(a, gr_type, in_n);
    call c = {.op = op, .name = w->n->name, .in = GR_NEW_N(a, uint32_t, in_n + op->sig.operands_n)};
    if (!types || !c.in) return gr_report_oom(w->d);
    for (uint32_t i = 0; i < in_n; i++) types[i] = in[i] == NO_VALUE ? (gr_type){0} : w->m->values.v[in[i]].type;
    GR_TRY(gr_call_resolve(a, w->d, op, types, in_n, args, args_n, (gr_place){0}, &c.resolved));
    for (uint32_t i = 0; i < c.resolved.operands_n; i++) c.in[i] = i < in_n ? in[i] : NO_VALUE;
    c.out = GR_NEW_N(a, uint32_t, c.resolved.outputs_n);
    if (!c.out) return gr_report_oom(w->d);
    for (uint32_t i = 0; i < c.resolved.outputs_n; i++) c.out[i] = NO_VALUE;
    *out = c.out;
    *out_n = c.resolved.outputs_n;
    if (op->role == GR_ROLE_COPY) {
        c.out[0] = in[0];
        return true;
    }
    if (can_fold(w, &c.resolved, c.in)) return fold(w, &c.resolved, c.in, c.out);
    for (uint32_t i = 0; i < c.resolved.outputs_n; i++) {
        if (!c.resolved.outputs[i].dtype) continue;
        c.out[i] = import_value(w->m, (value){.name = w->n->name, .from = FROM_OP, .type = c.resolved.outputs[i], .call = w->m->calls.n, .port = i});
        if (c.out[i] == NO_VALUE) return false;
    }
    call *to = GR_PUSH(a, &w->m->calls);
    if (!to) return gr_report_oom(w->d);
    *to = c;
    return true;
}

static bool constant(applying *w, const gr_frag_node *n, uint32_t *out) {
    gr_dtype t = gr_dtype_find(n->constant_dtype);
    double v;
    gr_array *x = GR_NEW(w->m->a, gr_array);
    for (uint32_t i = 0; !t && i < w->rule->shell.sig.params_n; i++)
        if (gr_str_eq(w->rule->shell.sig.params[i].name, n->constant_dtype)) t = gr_dtype_find(w->shell.params[i].word);
    if (!t) gr_call_dtype(&w->shell, n->constant_dtype, &t);
    GR_TRY(gr_expr_float(w->d, n->constant, &w->shell, (gr_place){0}, &v));
    if (!x) return gr_report_oom(w->d);
    GR_TRY(gr_array_new(w->m->a, w->d, t, NULL, 0, x));
    gr_array_set_f64(x, 0, v);
    *out = import_value(w->m, (value){.name = w->n->name, .from = FROM_CONSTANT, .type = import_type(x), .known = x});
    return *out != NO_VALUE;
}

static bool apply_line(applying *w, const gr_frag_node *n) {
    bool placed;
    uint32_t in[256], in_n = 0, out_n = 1, one, *out = &one;
    gr_arg *args;
    uint32_t args_n;
    GR_TRY(gr_frag_placed(w->d, n, &w->shell, (gr_place){0}, &placed));
    if (!placed) return true;
    if (n->constant) return constant(w, n, &one) && bind(w, n->results[0], one);
    const gr_op *op = gr_catalog_find(w->m->c, n->op);
    if (!op) return refuse(w, GR_D_CONTRACT_OP_UNKNOWN, NULL, "the catalog has no op", n->op);
    for (uint32_t i = 0; i < n->args_n; i++) {
        uint32_t got = values_of(w, n->args[i], in + in_n, 256 - in_n);
        if (!got && in_n < 256) in[in_n++] = NO_VALUE;
        in_n += got;
    }
    GR_TRY(gr_frag_args(w->m->a, w->d, n, &w->shell, (gr_place){0}, &args, &args_n) && emit(w, op, in, in_n, args, args_n, &out, &out_n));
    for (uint32_t i = 0; i < out_n; i++) GR_TRY(bind(w, n->results[i < n->results_n ? i : n->results_n - 1], out[i]));
    return true;
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

static bool apply_graph(applying *w, uint32_t *out) {
    const gr_sig *s = &w->rule->shell.sig;
    for (uint32_t i = 0; i < w->rule->shell.graph.nodes_n; i++) GR_TRY(apply_line(w, &w->rule->shell.graph.nodes[i]));
    for (uint32_t i = 0, at = 0; i < s->outputs_n; i++) {
        uint32_t list[256], n = values_of(w, s->outputs[i].name, list, 256);
        for (uint32_t k = 0; k < n && at < w->n->out_n; k++) out[at++] = list[k];
        if (!n) at++;
    }
    return true;
}

static bool apply_fold(applying *w, uint32_t *out) {
    const gr_op *op = gr_catalog_find(w->m->c, w->rule->fold);
    uint32_t *made = NULL, n, pair[2] = {input_at(w, 0), NO_VALUE};
    if (!op) return refuse(w, GR_D_CONTRACT_OP_UNKNOWN, NULL, "the catalog has no op", w->rule->fold);
    for (uint32_t i = 1; i < w->n->in_n; i++) {
        pair[1] = w->in[i];
        GR_TRY(emit(w, op, pair, 2, NULL, 0, &made, &n));
        pair[0] = made[0];
    }
    out[0] = pair[0];
    return true;
}

/* A list of integers as an i64 array. */
static bool apply_value(applying *w, uint32_t *out) {
    gr_param p;
    gr_cut_names none = {0};
    gr_array *x = GR_NEW(w->m->a, gr_array);
    GR_TRY(gr_expr_cut(w->m->a, w->d, w->rule->value, &w->shell, &none, (gr_place){0}, &p));
    bool list = p.kind == GR_PARAM_I32_LIST;
    uint64_t dims[1] = {p.n};
    if (!x) return gr_report_oom(w->d);
    GR_TRY(gr_array_new(w->m->a, w->d, GR_DTYPE_I64, dims, list ? 1 : 0, x));
    for (uint32_t i = 0; i < (list ? p.n : 1); i++) ((int64_t *)x->data)[i] = list ? p.li[i] : p.i;
    out[0] = import_value(w->m, (value){.name = w->n->name, .from = FROM_CONSTANT, .type = import_type(x), .known = x});
    w->m->folded++;
    return out[0] != NO_VALUE;
}

static bool apply_direct(applying *w, uint32_t *out) {
    const gr_call *c = &w->shell;
    gr_arg *args = GR_NEW_N(w->m->a, gr_arg, c->op->sig.params_n);
    uint32_t n = 0, *made, made_n;
    if (!args) return gr_report_oom(w->d);
    for (uint32_t i = 0; i < c->op->sig.params_n; i++)
        if (c->params[i].given) args[n++] = (gr_arg){.name = c->op->sig.params[i].name, .is_resolved = true, .resolved = c->params[i]};
    const gr_op *op = w->rule->home;
    GR_TRY(emit(w, op, w->values.v, w->values.n, args, n, &made, &made_n));
    for (uint32_t i = 0; i < made_n && i < w->n->out_n; i++) out[i] = made[i];
    return true;
}

bool import_apply(importer *m, gr_diags *d, const gr_import_rule *rule, const gr_onnx_node *n, const uint32_t *in, uint32_t *out) {
    applying w = {.m = m, .d = d, .rule = rule, .n = n, .in = in};
    uint32_t values = m->values.n, calls = m->calls.n;
    for (uint32_t i = 0; i < n->out_n; i++) out[i] = NO_VALUE;
    bool ok = resolve_shell(&w) && bind_operands(&w);
    if (ok) ok = rule->direct ? apply_direct(&w, out) : rule->value ? apply_value(&w, out) : rule->fold.n ? apply_fold(&w, out) : apply_graph(&w, out);
    for (uint32_t i = 0; ok && i < n->out_n; i++)
        if (n->out[i].n && out[i] == NO_VALUE) ok = refuse(&w, GR_D_IMPORT_ATTRIBUTE, "leave it out, if nothing needs it", "the rule does not give output", n->out[i]);
    if (!ok) m->values.n = values, m->calls.n = calls;
    return ok;
}
