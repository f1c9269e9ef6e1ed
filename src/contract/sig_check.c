/* The check of a signature: names, kinds of expressions, patterns that can be matched. */
#include "contract/contract_int.h"

typedef struct sig_checker {
    gr_diags *d;
    const gr_piece *src;
    const gr_sig *s;
    bool ok;
} sig_checker;

bool gr_sig_check(gr_diags *d, const gr_piece *src, const gr_sig *s);

const gr_sig_dtypes *gr_sig_find_dtypes(const gr_sig *s, gr_str var) {
    for (uint32_t i = 0; i < s->dtypes_n; i++)
        if (gr_str_eq(s->dtypes[i].var, var)) return &s->dtypes[i];
    return NULL;
}

bool gr_sig_is_dtype_var(const gr_sig *s, gr_str name) {
    if (gr_dtype_find(name)) return false;
    for (uint32_t i = 0; i < s->operands_n; i++)
        if (gr_str_eq(s->operands[i].dtype, name)) return gr_sig_find_param(s, name) < 0;
    return false;
}

uint32_t gr_sig_tensor_dtypes(const gr_sig *s, const gr_sig_tensor *t, gr_dtype *out) {
    gr_dtype one = gr_dtype_find(t->dtype);
    if (one) {
        out[0] = one;
        return 1;
    }
    int p = gr_sig_find_param(s, t->dtype);
    const gr_sig_dtypes *c = gr_sig_find_dtypes(s, t->dtype);
    uint32_t n = 0;
    for (int k = GR_DTYPE_NONE + 1; k < GR_DTYPE_COUNT; k++) {
        bool in = !c && (p < 0 || !s->params[p].words_n);
        for (uint32_t i = 0; c && i < c->n; i++) in = in || c->v[i] == (gr_dtype)k;
        for (uint32_t i = 0; p >= 0 && i < s->params[p].words_n; i++) in = in || gr_dtype_find(s->params[p].words[i]) == (gr_dtype)k;
        if (in) out[n++] = (gr_dtype)k;
    }
    return n;
}

static bool report(sig_checker *c, gr_diag_name name, uint32_t at, const char *hint, const char *fmt, gr_str word) {
    c->ok = false;
    gr_report(c->d, name, gr_piece_place(c->src, at), hint, fmt, GR_STR_ARG(word));
    return false;
}

/* ---- names ---- */

typedef struct named {
    gr_str name;
    const char *what;
    uint32_t offset;
} named;
typedef struct name_list {
    named v[4 * GR_SIG_MAX];
    uint32_t n;
} name_list;

static void add_name(sig_checker *c, name_list *l, gr_str name, const char *what, uint32_t offset) {
    static const char *const reserved[] = {"lo",  "hi", "true", "false", "inf", "and",  "or",
                                           "not", "if", "in",   "where", "odd", "even", NULL};
    for (const char *const *r = reserved; *r; r++)
        if (gr_str_eqz(name, *r)) {
            report(c, GR_D_CONTRACT_NAME_REPEATED, offset, "choose another name", "%.*s is a word of the grammar", name);
            return;
        }
    for (uint32_t i = 0; i < l->n; i++) {
        if (!gr_str_eq(l->v[i].name, name)) continue;
        report(c, GR_D_CONTRACT_NAME_REPEATED, offset, "operands, dimensions, parameters and outputs share one set of names",
               "%.*s is named twice", name);
        gr_report_related(c->d, gr_piece_place(c->src, l->v[i].offset), "it is %s here", l->v[i].what);
        return;
    }
    if (l->n < sizeof l->v / sizeof *l->v) l->v[l->n++] = (named){name, what, offset};
}

/* The first place where a pattern binds the name; later ones only compare. */
static bool first_binding(const gr_sig *s, uint32_t tensor, uint32_t item, gr_str name) {
    for (uint32_t i = 0; i <= tensor; i++)
        for (uint32_t k = 0; k < (i == tensor ? item : s->operands[i].items_n); k++)
            if (s->operands[i].items[k].e->kind == GR_E_NAME && gr_str_eq(s->operands[i].items[k].e->name, name)) return false;
    return true;
}

static void check_pattern_names(sig_checker *c, name_list *l, uint32_t t) {
    const gr_sig_tensor *x = &c->s->operands[t];
    for (uint32_t k = 0; k < x->items_n; k++) {
        const gr_expr *e = x->items[k].e;
        if (e->kind != GR_E_NAME || !first_binding(c->s, t, k, e->name) || gr_sig_find_param(c->s, e->name) >= 0) continue;
        add_name(c, l, e->name, x->items[k].kind == GR_ITEM_REST ? "a rank variable" : "a dimension", e->offset);
    }
}

/* An output may have an operand's name: then it is that operand, updated in place. */
static void check_names(sig_checker *c) {
    const gr_sig *s = c->s;
    name_list l = {.n = 0};
    for (uint32_t i = 0; i < s->operands_n; i++) add_name(c, &l, s->operands[i].name, "an operand", s->operands[i].offset);
    for (uint32_t i = 0; i < s->params_n; i++) add_name(c, &l, s->params[i].name, "a parameter", s->params[i].offset);
    for (uint32_t i = 0; i < s->operands_n; i++) check_pattern_names(c, &l, i);
    for (uint32_t i = 0; i < s->outputs_n; i++) {
        int t = gr_sig_find_operand(s, s->outputs[i].name);
        bool twice = false;
        for (uint32_t k = 0; k < i; k++) twice = twice || gr_str_eq(s->outputs[k].name, s->outputs[i].name);
        if (t < 0 || twice) add_name(c, &l, s->outputs[i].name, "an output", s->outputs[i].offset);
    }
}

/* ---- dtypes ---- */

static void check_dtype(sig_checker *c, const gr_sig_tensor *t, bool output) {
    int p = gr_sig_find_param(c->s, t->dtype);
    if (gr_dtype_find(t->dtype)) return;
    if (p >= 0 && c->s->params[p].kind == GR_PARAM_DTYPE) return;
    if (p >= 0) {
        report(c, GR_D_CONTRACT_DTYPE_UNKNOWN, t->offset, "write `%s: dtype` to make it one",
               "the dtype of %.*s is a parameter that is not a dtype", t->name);
        return;
    }
    if (output && !gr_sig_is_dtype_var(c->s, t->dtype))
        report(c, GR_D_CONTRACT_DTYPE_UNKNOWN, t->offset, "an output's dtype comes from an operand, a dtype parameter, or is written out",
               "the dtype %.*s is fixed by no operand", t->dtype);
}

static void check_dtypes(sig_checker *c) {
    const gr_sig *s = c->s;
    for (uint32_t i = 0; i < s->operands_n; i++) check_dtype(c, &s->operands[i], false);
    for (uint32_t i = 0; i < s->outputs_n; i++) check_dtype(c, &s->outputs[i], true);
    for (uint32_t i = 0; i < s->dtypes_n; i++) {
        if (!gr_sig_is_dtype_var(s, s->dtypes[i].var))
            report(c, GR_D_CONTRACT_NAME_UNKNOWN, 0, "remove the clause", "the clause names %.*s, which is the dtype of no operand",
                   s->dtypes[i].var);
        if (gr_sig_find_dtypes(s, s->dtypes[i].var) != &s->dtypes[i])
            report(c, GR_D_CONTRACT_NAME_REPEATED, 0, "keep one clause", "%.*s has two dtype clauses", s->dtypes[i].var);
    }
}

/* ---- patterns ---- */

static bool binds(const gr_sig_tensor *t, gr_str name) {
    for (uint32_t k = 0; k < t->items_n; k++)
        if (t->items[k].e->kind == GR_E_NAME && gr_str_eq(t->items[k].e->name, name)) return true;
    return false;
}

/* Bound by an operand that is always there? */
static bool always_bound(const gr_sig *s, gr_str name) {
    for (uint32_t i = 0; i < s->operands_n; i++)
        if (!s->operands[i].optional && binds(&s->operands[i], name)) return true;
    return false;
}

static bool in_patterns(const gr_sig *s, gr_str name) {
    for (uint32_t i = 0; i < s->operands_n; i++)
        if (binds(&s->operands[i], name)) return true;
    return false;
}

static void check_bound(sig_checker *c, const gr_expr *e) {
    if (e->kind == GR_E_NAME && gr_sig_find_param(c->s, e->name) < 0 && in_patterns(c->s, e->name) && !always_bound(c->s, e->name))
        report(c, GR_D_CONTRACT_DIMENSION_UNBOUND, e->offset, "use a name that an operand without ? fixes",
               "%.*s is fixed only by an operand that may be absent", e->name);
    if (e->kind == GR_E_CALL && e->fn == GR_FN_IF && e->arg[0]->kind == GR_E_CALL && e->arg[0]->fn == GR_FN_GIVEN) return; /* guarded */
    for (uint32_t i = 0; i < e->arg_n; i++) check_bound(c, e->arg[i]);
}

static bool expect_kind(sig_checker *c, const gr_expr *e, gr_kind_of want) {
    gr_scope scope = {.sig = c->s};
    bool ok = gr_expr_check(c->d, c->src, &scope, e, want) != GR_K_NONE;
    c->ok = c->ok && ok;
    return ok;
}

/* Several parts of any rank can be told apart only when every name is fixed by an operand before. */
static void check_rests(sig_checker *c, uint32_t tensor) {
    const gr_sig_tensor *t = &c->s->operands[tensor];
    uint32_t rests = 0;
    for (uint32_t k = 0; k < t->items_n; k++) rests += t->items[k].kind == GR_ITEM_REST;
    for (uint32_t k = 0; k < t->items_n && rests > 1; k++) {
        const gr_expr *e = t->items[k].e;
        bool known = e->kind != GR_E_NAME || gr_sig_find_param(c->s, e->name) >= 0;
        for (uint32_t i = 0; i < tensor && !known; i++) known = !c->s->operands[i].variadic && binds(&c->s->operands[i], e->name);
        if (known) continue;
        report(c, GR_D_CONTRACT_PATTERN_INVALID, t->items[k].offset, "keep one ..name that is new in an operand",
               "%.*s has two parts of free rank, which cannot be told apart", t->name);
        return;
    }
}

static void check_operand(sig_checker *c, uint32_t tensor) {
    const gr_sig_tensor *t = &c->s->operands[tensor];
    check_rests(c, tensor);
    for (uint32_t k = 0; k < t->items_n; k++) {
        const struct gr_shape_item *it = &t->items[k];
        if (it->e->kind == GR_E_NAME) continue;
        if (expect_kind(c, it->e, it->kind == GR_ITEM_REST ? GR_K_LIST : GR_K_INT)) check_bound(c, it->e);
    }
    if (t->variadic && t->count.n)
        report(c, GR_D_CONTRACT_PATTERN_INVALID, t->offset, NULL, "%.*s is variadic and cannot be bounded too", t->name);
}

static bool expect_shape(sig_checker *c, const gr_expr *e, bool variadic) {
    gr_scope scope = {.sig = c->s};
    gr_kind_of k = gr_expr_check(c->d, c->src, &scope, e, GR_K_ANY);
    c->ok = c->ok && k;
    if (!k) return false;
    bool fits = k == GR_K_LIST || (k == GR_K_SHAPES && (variadic || e->kind == GR_E_NAME)) || k == GR_K_TENSOR;
    if (fits) return true;
    c->ok = false;
    return gr_report(c->d, GR_D_CONTRACT_EXPRESSION_KIND, gr_piece_place(c->src, e->offset),
                     k == GR_K_SHAPES ? "mark the output with * to give one tensor a shape"
                                      : "after .. stands a rank variable, a list parameter or a shape function",
                     "what stands after .. is no shape");
}

static void check_output(sig_checker *c, const gr_sig_tensor *t) {
    for (uint32_t k = 0; k < t->items_n; k++) {
        const struct gr_shape_item *it = &t->items[k];
        bool ok = it->kind == GR_ITEM_REST ? expect_shape(c, it->e, t->variadic) : expect_kind(c, it->e, GR_K_INT);
        if (ok) check_bound(c, it->e);
    }
    if (t->variadic && (t->items_n != 1 || t->items[0].kind != GR_ITEM_REST))
        report(c, GR_D_CONTRACT_PATTERN_INVALID, t->offset, "write ys: T[..split(s, axis, sizes)]*",
               "the shapes of %.*s must come from one shape function", t->name);
    if (t->when) expect_kind(c, t->when, GR_K_BOOL);
    int x = gr_sig_find_operand(c->s, t->name);
    if (x < 0) return;
    const gr_sig_tensor *o = &c->s->operands[x];
    bool same = gr_str_eq(o->dtype, t->dtype) && o->items_n == t->items_n && !t->variadic && !o->variadic && !o->optional && !t->optional;
    for (uint32_t k = 0; same && k < t->items_n; k++)
        same = o->items[k].kind == t->items[k].kind && gr_expr_same(o->items[k].e, t->items[k].e);
    if (!same)
        report(c, GR_D_CONTRACT_PATTERN_INVALID, t->offset, "an output of an operand's name is that operand updated in place",
               "%.*s must have the type of the operand of its name", t->name);
}

/* ---- parameters ---- */

static bool is_member(const gr_sig_param *q, gr_str word) {
    for (uint32_t i = 0; i < q->words_n; i++)
        if (gr_str_eq(q->words[i], word)) return true;
    return false;
}

static void check_default_range(sig_checker *c, const gr_sig_param *q) {
    const gr_expr *e = q->def;
    bool negative = e && e->kind == GR_E_NEG && e->arg[0]->kind == GR_E_INT;
    if (!e || (e->kind != GR_E_INT && !negative)) return;
    int64_t v = negative ? -e->arg[0]->i : e->i;
    bool bad = (q->lo && q->lo->kind == GR_E_INT && v < q->lo->i) || (q->hi && q->hi->kind == GR_E_INT && v > q->hi->i) ||
               (q->odd && v % 2 == 0) || (q->even && v % 2 != 0);
    bad = bad || (v < 0 && (q->kind == GR_PARAM_U32 || q->kind == GR_PARAM_U32_LIST)) || (q->kind <= GR_PARAM_I32 && v > UINT32_MAX);
    if (bad)
        report(c, GR_D_CONTRACT_DEFAULT_INVALID, e->offset, "the default must satisfy what stands after `in`",
               "the default of %.*s is not one of its values", q->name);
}

static void check_param(sig_checker *c, const gr_sig_param *q) {
    bool list = q->kind >= GR_PARAM_U32_LIST;
    if (q->len) expect_kind(c, q->len, GR_K_INT);
    if (q->lo) expect_kind(c, q->lo, GR_K_NUMBER);
    if (q->hi) expect_kind(c, q->hi, GR_K_NUMBER);
    if (q->kind == GR_PARAM_ENUM && q->def_word.n && !is_member(q, q->def_word))
        report(c, GR_D_CONTRACT_DEFAULT_INVALID, q->offset, NULL, "the default of %.*s is not one of its words", q->name);
    if (q->kind == GR_PARAM_DTYPE && q->def_word.n && !gr_sig_is_dtype_var(c->s, q->def_word) &&
        (!gr_dtype_find(q->def_word) || (q->words_n && !is_member(q, q->def_word))))
        report(c, GR_D_CONTRACT_DEFAULT_INVALID, q->offset, NULL, "the default of %.*s is not a dtype it takes", q->name);
    if (list && q->def_word.n && (!c->s->operands_n || q->kind == GR_PARAM_F32_LIST))
        report(c, GR_D_CONTRACT_DEFAULT_INVALID, q->offset, "all and reverse speak of the axes of the first operand",
               "%.*s cannot have this default", q->name);
    if (!q->def) return;
    gr_scope scope = {.sig = c->s};
    gr_kind_of k = gr_expr_check(c->d, c->src, &scope, q->def, GR_K_ANY);
    bool fits = q->kind == GR_PARAM_BOOL  ? k == GR_K_BOOL
                : q->kind == GR_PARAM_F32 ? k == GR_K_INT || k == GR_K_FLOAT || k == GR_K_NUMBER
                : list                    ? k == GR_K_LIST || k == GR_K_INT || k == GR_K_FLOAT || k == GR_K_FLOATS || k == GR_K_NUMBER
                                          : k == GR_K_INT || k == GR_K_NUMBER;
    c->ok = c->ok && k;
    if (k && !fits) report(c, GR_D_CONTRACT_DEFAULT_INVALID, q->def->offset, NULL, "the default of %.*s is of another type", q->name);
    else if (k) check_default_range(c, q);
}

bool gr_sig_check(gr_diags *d, const gr_piece *src, const gr_sig *s) {
    sig_checker c = {d, src, s, true};
    uint32_t variadic = 0;
    check_names(&c);
    check_dtypes(&c);
    for (uint32_t i = 0; i < s->operands_n; i++) {
        check_operand(&c, i);
        if (s->operands[i].variadic && ++variadic > 1)
            report(&c, GR_D_CONTRACT_PATTERN_INVALID, s->operands[i].offset, NULL,
                   "%.*s is a second variadic operand: where it starts could not be told", s->operands[i].name);
    }
    for (uint32_t i = 0; i < s->params_n; i++) check_param(&c, &s->params[i]);
    for (uint32_t i = 0; i < s->where_n; i++)
        if (expect_kind(&c, s->where[i], GR_K_BOOL)) check_bound(&c, s->where[i]);
    for (uint32_t i = 0; i < s->outputs_n; i++) {
        check_output(&c, &s->outputs[i]);
        if (s->outputs[i].variadic && s->outputs_n > 1)
            report(&c, GR_D_CONTRACT_PATTERN_INVALID, s->outputs[i].offset, NULL, "%.*s is variadic and must be the only output",
                   s->outputs[i].name);
    }
    return c.ok;
}
