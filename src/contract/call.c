/* A call: the signature applied to operand types and parameter values.
 *
 * Order: operands are dealt out, patterns bind names left to right, parameters are read
 * (defaults may use the names), pattern expressions are compared, conditions are tested,
 * outputs are computed. */
#include "contract/call_int.h"

#include <stdarg.h>
#include <stdio.h>

bool gr_call_fail(gr_caller *k, gr_diag_name name, const char *hint, const char *fmt, ...) {
    char t[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t, sizeof t, fmt, ap);
    va_end(ap);
    return gr_report(k->d, name, k->at, hint, "%.*s: %s", GR_STR_ARG(k->out->op->id), t);
}

/* ---- dealing out operands ---- */

typedef struct count_of_sig {
    uint32_t fixed, optional, variadic;
} count_of_sig;

static count_of_sig count_operands(const gr_sig *s) {
    count_of_sig n = {0};
    for (uint32_t i = 0; i < s->operands_n; i++) {
        if (s->operands[i].variadic) n.variadic++;
        else if (s->operands[i].optional) n.optional++;
        else n.fixed++;
    }
    return n;
}

static bool wrong_count(gr_caller *k, count_of_sig n, uint32_t given) {
    const char *more = n.variadic ? " or more" : "";
    gr_buf b = {0};
    const gr_sig *s = &k->out->op->sig;
    for (uint32_t i = 0; i < s->operands_n; i++)
        gr_buf_printf(&b, "%s%.*s%s", i ? ", " : "", GR_STR_ARG(s->operands[i].name),
                      s->operands[i].variadic   ? "*"
                      : s->operands[i].optional ? "?"
                                                : "");
    uint32_t least = n.fixed + (n.variadic ? 1 : 0);
    if (n.optional && !n.variadic)
        gr_call_fail(k, GR_D_CONTRACT_OPERAND_COUNT, NULL, "%u operands are given, it takes %u to %u: %s", given, n.fixed,
                     n.fixed + n.optional, b.p ? b.p : "");
    else
        gr_call_fail(k, GR_D_CONTRACT_OPERAND_COUNT, NULL, "%u operands are given, it takes %u%s: %s", given, least, more,
                     b.p ? b.p : "none");
    gr_buf_free(&b);
    return false;
}

static bool deal(gr_caller *k, const gr_type *operands, uint32_t n) {
    gr_call *c = k->out;
    const gr_sig *s = &c->op->sig;
    count_of_sig want = count_operands(s);
    uint32_t single = want.fixed + want.optional, many = 0;
    bool all = want.variadic && want.optional; /* then absent ones must be written as such */
    if (want.variadic) {
        if (n < (all ? single : want.fixed)) return wrong_count(k, want, n);
        many = n - single;
        if (n < single || (many == 0 && !all)) return wrong_count(k, want, n);
    } else if (n < want.fixed || n > single) {
        return wrong_count(k, want, n);
    }
    uint32_t total = single + many, at = 0, from = 0;
    c->operands = GR_NEW_N(k->a, gr_type, total);
    c->operand_first = GR_NEW_N(k->a, uint32_t, s->operands_n + 1);
    if (!c->operands || !c->operand_first) return gr_report_oom(k->d);
    for (uint32_t i = 0; i < s->operands_n; i++) {
        c->operand_first[i] = at;
        for (uint32_t left = s->operands[i].variadic ? many : 1; left; left--, at++, from++)
            if (from < n) c->operands[at] = operands[from];
    }
    c->operand_first[s->operands_n] = c->operands_n = total;
    return true;
}

/* ---- dtypes ---- */

static bool dtype_allowed(const gr_sig *s, gr_str var, gr_dtype t) {
    const gr_sig_dtypes *c = gr_sig_find_dtypes(s, var);
    for (uint32_t i = 0; c && i < c->n; i++)
        if (c->v[i] == t) return true;
    return !c;
}

static void list_dtypes(gr_buf *b, const gr_sig *s, const gr_sig_tensor *t) {
    gr_dtype list[GR_DTYPE_COUNT];
    uint32_t n = gr_sig_tensor_dtypes(s, t, list);
    for (uint32_t i = 0; i < n; i++) gr_buf_printf(b, "%s%s", i ? ", " : "", gr_dtype_name(list[i]));
}

static bool wrong_dtype(gr_caller *k, const gr_sig_tensor *t, gr_dtype is) {
    gr_buf b = {0};
    list_dtypes(&b, &k->out->op->sig, t);
    gr_call_fail(k, GR_D_CONTRACT_OPERAND_DTYPE, NULL, "operand %.*s is %s, it takes %s", GR_STR_ARG(t->name), gr_dtype_name(is),
                 b.p ? b.p : "");
    gr_report_hint(k->d, "cast it, or use an op that takes %s", gr_dtype_name(is));
    gr_buf_free(&b);
    return false;
}

static bool bind_dtype(gr_caller *k, uint32_t tensor, gr_dtype is) {
    const gr_sig *s = &k->out->op->sig;
    const gr_sig_tensor *t = &s->operands[tensor];
    gr_dtype fixed = gr_dtype_find(t->dtype);
    if (fixed) return fixed == is || wrong_dtype(k, t, is);
    if (gr_sig_find_param(s, t->dtype) >= 0) return true; /* compared when parameters are known */
    struct gr_env *e = k->out->env;
    for (uint32_t i = 0; i < e->dtypes.n; i++) {
        gr_env_dtype *v = &e->dtypes.v[i];
        if (!gr_str_eq(v->name, t->dtype)) continue;
        if (v->t == is) return true;
        return gr_call_fail(k, GR_D_CONTRACT_OPERAND_DTYPE, "operands of one dtype variable must agree",
                            "operand %.*s is %s, but %.*s is %s from operand %.*s", GR_STR_ARG(t->name), gr_dtype_name(is),
                            GR_STR_ARG(t->dtype), gr_dtype_name(v->t), GR_STR_ARG(s->operands[v->tensor].name));
    }
    if (!dtype_allowed(s, t->dtype, is)) return wrong_dtype(k, t, is);
    gr_env_dtype *v = GR_PUSH(k->a, &e->dtypes);
    if (!v) return gr_report_oom(k->d);
    *v = (gr_env_dtype){t->dtype, is, tensor};
    return true;
}

/* ---- patterns ---- */

static bool bind_dim(gr_caller *k, gr_str name, gr_dim dim, uint32_t tensor, uint32_t axis) {
    struct gr_env *e = k->out->env;
    const gr_sig *s = &k->out->op->sig;
    for (uint32_t i = 0; i < e->dims.n; i++) {
        gr_env_dim *v = &e->dims.v[i];
        if (!gr_str_eq(v->name, name)) continue;
        if (v->d.n == dim.n) {
            if (!v->d.base.n) v->d = dim;
            return true;
        }
        return gr_call_fail(k, GR_D_CONTRACT_OPERAND_DIMENSION, NULL,
                            "dimension %u of %.*s is %llu, but %.*s is %llu from dimension %u of %.*s", axis,
                            GR_STR_ARG(s->operands[tensor].name), (unsigned long long)dim.n, GR_STR_ARG(name), (unsigned long long)v->d.n,
                            v->axis, GR_STR_ARG(s->operands[v->tensor].name));
    }
    gr_env_dim *v = GR_PUSH(k->a, &e->dims);
    if (!v) return gr_report_oom(k->d);
    *v = (gr_env_dim){name, dim, tensor, axis};
    return true;
}

static void show_shape(gr_buf *b, const gr_dim *dim, uint32_t n) {
    gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < n; i++) gr_buf_printf(b, "%s%llu", i ? ", " : "", (unsigned long long)dim[i].n);
    gr_buf_putc(b, ']');
}

static bool shapes_differ(gr_caller *k, gr_str name, const gr_env_rest *v, const gr_dim *dim, uint32_t n, uint32_t tensor) {
    gr_buf b = {0};
    const gr_sig *s = &k->out->op->sig;
    show_shape(&b, dim, n);
    gr_buf_printf(&b, ", but %.*s is ", GR_STR_ARG(name));
    show_shape(&b, v->shapes[0].dim, v->shapes[0].rank);
    gr_call_fail(k, GR_D_CONTRACT_OPERAND_DIMENSION, NULL, "the shape of %.*s is %s from operand %.*s",
                 GR_STR_ARG(s->operands[tensor].name), b.p ? b.p : "", GR_STR_ARG(s->operands[v->tensor].name));
    gr_buf_free(&b);
    return false;
}

static gr_env_rest *find_or_add_rest(gr_caller *k, gr_str name, uint32_t tensor, bool *found) {
    struct gr_env *e = k->out->env;
    for (uint32_t i = 0; i < e->rests.n; i++)
        if (gr_str_eq(e->rests.v[i].name, name)) {
            *found = true;
            return &e->rests.v[i];
        }
    *found = false;
    gr_env_rest *v = GR_PUSH(k->a, &e->rests);
    const gr_call *c = k->out;
    uint32_t most = c->operand_first[tensor + 1] - c->operand_first[tensor];
    if (v) *v = (gr_env_rest){name, tensor, GR_NEW_N(k->a, gr_shape, most), 0};
    if (v && v->shapes) return v;
    gr_report_oom(k->d);
    return NULL;
}

/* A variadic operand keeps one shape a tensor; any other use of the name must agree. */
static bool bind_rest(gr_caller *k, gr_str name, const gr_dim *dim, uint32_t n, uint32_t tensor) {
    bool found;
    gr_env_rest *v = find_or_add_rest(k, name, tensor, &found);
    GR_TRY(v);
    bool collect = v->tensor == tensor && k->out->op->sig.operands[tensor].variadic;
    if (found && !collect) {
        bool same = v->shapes_n && v->shapes[0].rank == n;
        for (uint32_t i = 0; same && i < n; i++) same = v->shapes[0].dim[i].n == dim[i].n;
        return same || shapes_differ(k, name, v, dim, n, tensor);
    }
    gr_shape *s = &v->shapes[v->shapes_n++];
    s->rank = n;
    for (uint32_t i = 0; i < n; i++) s->dim[i] = dim[i];
    return true;
}

static bool binds_here(const gr_sig *s, const struct gr_shape_item *it) {
    return it->e->kind == GR_E_NAME && gr_sig_find_param(s, it->e->name) < 0;
}

static bool wrong_rank(gr_caller *k, const gr_sig_tensor *t, const gr_type *x, uint32_t fixed, bool rest) {
    gr_buf b = {0};
    gr_type_print(&b, x);
    gr_call_fail(k, GR_D_CONTRACT_OPERAND_RANK, NULL, "operand %.*s is %s, it takes %s%u dimension%s", GR_STR_ARG(t->name), b.p ? b.p : "",
                 rest ? "at least " : "", fixed, fixed == 1 ? "" : "s");
    gr_buf_free(&b);
    return false;
}

static uint32_t count_rests(const gr_sig_tensor *t) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->items_n; i++) n += t->items[i].kind == GR_ITEM_REST;
    return n;
}

/* An operand with several parts of free rank binds nothing: all of it is compared later. */
static bool match(gr_caller *k, uint32_t tensor, const gr_type *x) {
    const gr_sig *s = &k->out->op->sig;
    const gr_sig_tensor *t = &s->operands[tensor];
    uint32_t rests = count_rests(t), fixed = t->items_n - rests;
    if (x->rank < fixed || (!rests && x->rank > fixed)) return wrong_rank(k, t, x, fixed, rests > 0);
    if (x->bounded && !t->count.n && !k->bounded_ok)
        return gr_call_fail(k, GR_D_CONTRACT_OPERAND_BOUNDED, "an op that takes it writes the operand as T[m <= n]",
                            "operand %.*s has a count known only at run time", GR_STR_ARG(t->name));
    bool ok = bind_dtype(k, tensor, x->dtype);
    for (uint32_t i = 0, axis = 0; i < t->items_n && rests < 2; i++) {
        const struct gr_shape_item *it = &t->items[i];
        uint32_t n = it->kind == GR_ITEM_REST ? x->rank - fixed : 1;
        if (binds_here(s, it))
            ok = (it->kind == GR_ITEM_REST ? bind_rest(k, it->e->name, x->dim + axis, n, tensor)
                                           : bind_dim(k, it->e->name, x->dim[axis], tensor, axis)) &&
                 ok;
        axis += n;
    }
    return ok;
}

static bool match_all(gr_caller *k) {
    const gr_sig *s = &k->out->op->sig;
    bool ok = true;
    for (uint32_t t = 0; t < s->operands_n; t++) {
        for (uint32_t i = k->out->operand_first[t]; i < k->out->operand_first[t + 1]; i++) {
            const gr_type *x = &k->out->operands[i];
            if (x->dtype) ok = match(k, t, x) && ok;
            else if (!s->operands[t].optional)
                ok = gr_call_fail(k, GR_D_CONTRACT_OPERAND_COUNT, NULL, "operand %.*s is not optional", GR_STR_ARG(s->operands[t].name));
        }
    }
    return ok;
}

/* ---- comparing pattern expressions ---- */

static gr_evaluator evaluator(gr_caller *k, const char *what) {
    return (gr_evaluator){.a = k->a, .d = k->d, .c = k->out, .at = k->at, .what = what};
}

static bool compare_dim(gr_evaluator *v, const gr_expr *e, const gr_type *x, uint32_t axis) {
    gr_int want;
    GR_TRY(gr_eval_dim(v, e, &want));
    if ((uint64_t)want.i == x->dim[axis].n) return true;
    gr_buf b = {0};
    gr_expr_print(&b, e);
    gr_eval_fail(v, GR_D_CONTRACT_OPERAND_DIMENSION, NULL, "it is %llu, but %s is %lld", (unsigned long long)x->dim[axis].n, b.p ? b.p : "",
                 (long long)want.i);
    gr_buf_free(&b);
    return false;
}

/* e, which printed gives l, against the dimensions of x from axis on. */
static bool compare_list(gr_evaluator *v, const gr_expr *e, gr_val l, const gr_type *x, uint32_t axis, uint32_t n) {
    bool same = l.kind == GR_K_LIST && l.len == n;
    for (uint32_t i = 0; same && i < n; i++) same = (uint64_t)l.list[i].i == x->dim[axis + i].n;
    if (same) return true;
    gr_buf b = {0};
    show_shape(&b, x->dim + axis, n);
    gr_buf_puts(&b, ", but ");
    if (e) gr_expr_print(&b, e);
    else gr_buf_puts(&b, "the signature");
    gr_buf_puts(&b, e ? " is [" : " says [");
    for (uint32_t i = 0; l.kind == GR_K_LIST && i < l.len; i++) gr_buf_printf(&b, "%s%lld", i ? ", " : "", (long long)l.list[i].i);
    gr_eval_fail(v, GR_D_CONTRACT_OPERAND_DIMENSION, NULL, "it is %s]", b.p ? b.p : "");
    gr_buf_free(&b);
    return false;
}

static bool compare_rest(gr_evaluator *v, const gr_expr *e, const gr_type *x, uint32_t axis, uint32_t n) {
    gr_val l;
    return gr_eval_list(v, e, &l) && compare_list(v, e, l, x, axis, n);
}

/* All parts one after the other. */
static bool compare_whole(gr_caller *k, const gr_sig_tensor *t, const gr_type *x) {
    char what[160];
    snprintf(what, sizeof what, "the shape of %.*s", GR_STR_ARG(t->name));
    gr_evaluator v = evaluator(k, what);
    gr_val all, l;
    GR_TRY(gr_eval_new_list(&v, 64, &all));
    all.len = 0;
    for (uint32_t i = 0; i < t->items_n; i++) {
        GR_TRY(gr_eval_list(&v, t->items[i].e, &l)); /* one dimension is a list of one */
        for (uint32_t n = 0; n < l.len && l.kind == GR_K_LIST; n++) {
            if (all.len == 64) return gr_eval_fail(&v, GR_D_CONTRACT_RANK_TOO_LARGE, NULL, "more than %d dimensions", GR_RANK_MAX);
            all.list[all.len++] = l.list[n];
        }
    }
    return compare_list(&v, NULL, all, x, 0, x->rank);
}

static bool compare_operand(gr_caller *k, uint32_t tensor, const gr_type *x) {
    const gr_sig *s = &k->out->op->sig;
    const gr_sig_tensor *t = &s->operands[tensor];
    uint32_t fixed = t->items_n - count_rests(t), axis = 0;
    bool ok = true;
    if (count_rests(t) > 1) return compare_whole(k, t, x);
    for (uint32_t i = 0; i < t->items_n && ok; i++) {
        const struct gr_shape_item *it = &t->items[i];
        uint32_t n = it->kind == GR_ITEM_REST ? x->rank - fixed : 1;
        char what[160];
        snprintf(what, sizeof what, "dimension %u of %.*s", axis, GR_STR_ARG(t->name));
        gr_evaluator v = evaluator(k, what);
        if (!binds_here(s, it)) ok = it->kind == GR_ITEM_REST ? compare_rest(&v, it->e, x, axis, n) : compare_dim(&v, it->e, x, axis);
        axis += n;
    }
    int p = gr_sig_find_param(s, t->dtype);
    if (ok && p >= 0 && (gr_dtype)k->out->params[p].i != x->dtype)
        return gr_call_fail(k, GR_D_CONTRACT_OPERAND_DTYPE, NULL, "operand %.*s is %s, but the parameter %.*s is %.*s", GR_STR_ARG(t->name),
                            gr_dtype_name(x->dtype), GR_STR_ARG(t->dtype), GR_STR_ARG(k->out->params[p].word));
    return ok;
}

static bool compare_all(gr_caller *k) {
    const gr_sig *s = &k->out->op->sig;
    bool ok = true;
    for (uint32_t t = 0; t < s->operands_n; t++)
        for (uint32_t i = k->out->operand_first[t]; i < k->out->operand_first[t + 1]; i++)
            if (k->out->operands[i].dtype) ok = compare_operand(k, t, &k->out->operands[i]) && ok;
    return ok;
}

/* `reduced_size(x, axes) > 0` and `dim(x, axis) > 0` say that there must be something to reduce. */
static bool asks_for_terms(const gr_expr *e) {
    if (e->kind != GR_E_BINARY || e->op != '>' || e->arg[1]->kind != GR_E_INT || e->arg[1]->i != 0) return false;
    return e->arg[0]->kind == GR_E_CALL && (e->arg[0]->fn == GR_FN_REDUCED_SIZE || e->arg[0]->fn == GR_FN_DIM);
}

static bool test_conditions(gr_caller *k) {
    const gr_sig *s = &k->out->op->sig;
    for (uint32_t i = 0; i < s->where_n; i++) {
        gr_evaluator v = evaluator(k, "the condition");
        gr_val x;
        v.whole = s->where[i];
        GR_TRY(gr_eval(&v, s->where[i], &x));
        if (x.kind == GR_K_BOOL && x.n.i) continue;
        gr_buf b = {0};
        gr_expr_print(&b, s->where[i]);
        if (asks_for_terms(s->where[i]))
            gr_eval_fail(&v, GR_D_CONTRACT_EMPTY_REDUCTION, NULL, "there is nothing to reduce: %s does not hold", b.p ? b.p : "");
        else gr_eval_fail(&v, GR_D_CONTRACT_WHERE_FALSE, NULL, "%s does not hold", b.p ? b.p : "");
        gr_report_hint(k->d, "the signature says: where %s", b.p ? b.p : "");
        gr_buf_free(&b);
        return false;
    }
    return true;
}

/* ---- outputs ---- */

static bool push_dim(gr_caller *k, gr_type *y, gr_int n) {
    if (y->rank >= GR_RANK_MAX)
        return gr_call_fail(k, GR_D_CONTRACT_RANK_TOO_LARGE, NULL, "an output would have more than %d dimensions", GR_RANK_MAX);
    y->dim[y->rank++] = (gr_dim){(uint64_t)n.i, n.base, n.add};
    return true;
}

static bool push_list(gr_caller *k, gr_evaluator *v, const gr_val *l, gr_type *y) {
    if (l->kind != GR_K_LIST) return gr_eval_fail(v, GR_D_CONTRACT_EXPRESSION_KIND, NULL, "a shape of floats");
    for (uint32_t i = 0; i < l->len; i++) {
        if (l->list[i].i < 0)
            return gr_eval_fail(v, GR_D_CONTRACT_UNDERFLOW, NULL, "entry %u is %lld, below zero", i, (long long)l->list[i].i);
        GR_TRY(push_dim(k, y, l->list[i]));
    }
    return true;
}

static bool output_dtype(gr_caller *k, const gr_sig_tensor *t, gr_dtype *out) {
    *out = gr_dtype_find(t->dtype);
    int p = gr_sig_find_param(&k->out->op->sig, t->dtype);
    if (p >= 0) *out = (gr_dtype)k->out->params[p].i;
    if (*out || gr_call_dtype(k->out, t->dtype, out)) return true;
    return gr_call_fail(k, GR_D_CONTRACT_OPERAND_DTYPE, NULL, "nothing fixes %.*s, the dtype of %.*s", GR_STR_ARG(t->dtype),
                        GR_STR_ARG(t->name));
}

static bool check_size(gr_caller *k, const gr_sig_tensor *t, const gr_type *y) {
    uint64_t n;
    if (gr_type_count(y, &n)) return true;
    gr_buf b = {0};
    gr_type_print(&b, y);
    gr_call_fail(k, GR_D_CONTRACT_OVERFLOW, NULL, "the output %.*s would be %s, which has too many elements", GR_STR_ARG(t->name),
                 b.p ? b.p : "");
    gr_buf_free(&b);
    return false;
}

static bool infer(gr_caller *k, const gr_sig_tensor *t, gr_type *y) {
    GR_TRY(output_dtype(k, t, &y->dtype));
    y->bounded = t->count.n > 0;
    for (uint32_t i = 0; i < t->items_n; i++) {
        char what[160];
        snprintf(what, sizeof what, "dimension %u of %.*s", y->rank, GR_STR_ARG(t->name));
        gr_evaluator v = evaluator(k, what);
        gr_val l;
        gr_int n;
        if (t->items[i].kind == GR_ITEM_REST) GR_TRY(gr_eval_list(&v, t->items[i].e, &l) && push_list(k, &v, &l, y));
        else GR_TRY(gr_eval_dim(&v, t->items[i].e, &n) && push_dim(k, y, n));
    }
    return check_size(k, t, y);
}

static bool infer_variadic(gr_caller *k, const gr_sig_tensor *t) {
    gr_evaluator v = evaluator(k, "the outputs");
    gr_val x;
    gr_dtype dtype;
    v.whole = t->items[0].e;
    GR_TRY(output_dtype(k, t, &dtype) && gr_eval(&v, t->items[0].e, &x));
    if (x.kind != GR_K_SHAPES) return gr_eval_fail(&v, GR_D_CONTRACT_EXPRESSION_KIND, NULL, "no list of shapes");
    k->out->outputs = GR_NEW_N(k->a, gr_type, x.len);
    if (!k->out->outputs) return gr_report_oom(k->d);
    k->out->outputs_n = x.len;
    for (uint32_t i = 0; i < x.len; i++) {
        gr_type *y = &k->out->outputs[i];
        y->dtype = dtype;
        y->rank = x.shapes[i].rank;
        memcpy(y->dim, x.shapes[i].dim, sizeof y->dim);
        GR_TRY(check_size(k, t, y));
    }
    return true;
}

/* A pointwise op over tensors that all share the count of a bounded operand passes it on. */
static void pass_bound(gr_caller *k) {
    gr_call *c = k->out;
    const gr_type *from = NULL;
    for (uint32_t i = 0; i < c->operands_n; i++)
        if (c->operands[i].dtype && c->operands[i].bounded) from = &c->operands[i];
    for (uint32_t i = 0; from && k->bounded_ok && i < c->outputs_n; i++) c->outputs[i].bounded = true;
}

static bool infer_all(gr_caller *k) {
    gr_call *c = k->out;
    const gr_sig *s = &c->op->sig;
    if (s->outputs_n == 1 && s->outputs[0].variadic) return infer_variadic(k, &s->outputs[0]);
    c->outputs = GR_NEW_N(k->a, gr_type, s->outputs_n);
    if (!c->outputs) return gr_report_oom(k->d);
    c->outputs_n = s->outputs_n;
    bool ok = true;
    for (uint32_t i = 0; i < s->outputs_n; i++) {
        bool present = true;
        if (s->outputs[i].when) GR_TRY(gr_expr_true(k->d, s->outputs[i].when, c, k->at, &present));
        if (present) ok = infer(k, &s->outputs[i], &c->outputs[i]) && ok;
    }
    pass_bound(k);
    return ok;
}

/* ---- entry ---- */

bool gr_call_resolve(gr_arena *a, gr_diags *d, const gr_op *op, const gr_type *operands, uint32_t operands_n, const gr_arg *args,
                     uint32_t args_n, gr_place at, gr_call *out) {
    *out = (gr_call){.op = op};
    gr_caller k = {.a = a, .d = d, .at = at, .out = out, .bounded_ok = op->body == GR_BODY_MAP};
    out->env = GR_NEW(a, struct gr_env);
    if (!out->env) return gr_report_oom(d);
    GR_TRY(deal(&k, operands, operands_n));
    bool matched = match_all(&k);
    return gr_call_params(&k, args, args_n, matched) && matched && compare_all(&k) && test_conditions(&k) && infer_all(&k);
}

bool gr_call_dim(const gr_call *c, gr_str name, uint64_t *out) {
    for (uint32_t i = 0; i < c->env->dims.n; i++)
        if (gr_str_eq(c->env->dims.v[i].name, name)) {
            *out = c->env->dims.v[i].d.n;
            return true;
        }
    return false;
}

bool gr_call_dtype(const gr_call *c, gr_str name, gr_dtype *out) {
    for (uint32_t i = 0; c->env && i < c->env->dtypes.n; i++)
        if (gr_str_eq(c->env->dtypes.v[i].name, name)) {
            *out = c->env->dtypes.v[i].t;
            return true;
        }
    return false;
}

bool gr_call_shape(const gr_call *c, gr_str name, uint32_t *rank, uint64_t dims[GR_RANK_MAX]) {
    for (uint32_t i = 0; i < c->env->rests.n; i++) {
        const gr_env_rest *r = &c->env->rests.v[i];
        if (!gr_str_eq(r->name, name) || !r->shapes_n) continue;
        const gr_shape *s = &r->shapes[c->each < r->shapes_n ? c->each : 0];
        *rank = s->rank;
        for (uint32_t k = 0; k < s->rank; k++) dims[k] = s->dim[k].n;
        return true;
    }
    return false;
}

const gr_type *gr_call_tensor(const gr_call *c, gr_str name, bool *is_output, uint32_t *index) {
    int t = gr_sig_find_operand(&c->op->sig, name), y = gr_sig_find_output(&c->op->sig, name);
    uint32_t i = 0;
    if (t >= 0) {
        uint32_t n = c->operand_first[t + 1] - c->operand_first[t];
        if (!n) return NULL;
        i = c->operand_first[t] + (c->op->sig.operands[t].variadic && c->each < n ? c->each : 0);
    } else if (y >= 0) {
        i = c->op->sig.outputs[y].variadic ? c->each : (uint32_t)y;
        if (i >= c->outputs_n) return NULL;
    } else {
        return NULL;
    }
    if (is_output) *is_output = t < 0;
    if (index) *index = i;
    return t >= 0 ? &c->operands[i] : &c->outputs[i];
}

const gr_type *gr_call_type(const gr_call *c, gr_str name) {
    const gr_type *x = c->operand_first ? gr_call_tensor(c, name, NULL, NULL) : NULL;
    return x && x->dtype ? x : NULL;
}
