/* The check of a binding and of split clauses against a signature. */
#include "contract/contract_int.h"

typedef struct bind_checker {
    gr_diags *d;
    const gr_piece *src;
    const gr_sig *s;
    gr_binding *b;
    gr_scope scope;
    bool ok;
} bind_checker;

static bool report(bind_checker *c, gr_diag_name name, uint32_t at, const char *hint, const char *fmt, gr_str word) {
    c->ok = false;
    gr_report(c->d, name, gr_piece_place(c->src, at), hint, fmt, GR_STR_ARG(word));
    return false;
}

static gr_kind_of expect(bind_checker *c, const gr_expr *e, gr_kind_of want) {
    gr_kind_of k = gr_expr_check(c->d, c->src, &c->scope, e, want);
    c->ok = c->ok && k;
    return k;
}

static bool is_tensor(const gr_sig *s, gr_str name) { return gr_sig_find_operand(s, name) >= 0 || gr_sig_find_output(s, name) >= 0; }

static void unknown_tensor(bind_checker *c, uint32_t at, gr_str name, const char *what) {
    report(c, GR_D_CONTRACT_NAME_UNKNOWN, at, NULL, what, name);
    gr_nearest n = gr_nearest_start(name);
    for (uint32_t i = 0; i < c->s->operands_n; i++) gr_nearest_add(&n, c->s->operands[i].name);
    for (uint32_t i = 0; i < c->s->outputs_n; i++) gr_nearest_add(&n, c->s->outputs[i].name);
    if (n.best.n && name.n > 1) gr_report_hint(c->d, "did you mean %.*s?", GR_STR_ARG(n.best));
}

/* ---- uniform fields ---- */

static void check_view(bind_checker *c, const gr_bind_field *f) {
    if (!is_tensor(c->s, f->tensor)) unknown_tensor(c, f->offset, f->tensor, "a view of %.*s, which is no operand or output");
    bool target = f->view == GR_VIEW_BROADCAST || f->view == GR_VIEW_BATCH;
    if (target && !is_tensor(c->s, f->arg[0])) unknown_tensor(c, f->offset, f->arg[0], "a view on %.*s, which is no operand or output");
    for (uint32_t i = target ? 1 : 0; i < 3 && f->args[i]; i++) {
        gr_kind_of k = expect(c, f->args[i], GR_K_ANY);
        bool list = k == GR_K_LIST || k == GR_K_INT || k == GR_K_TENSOR;
        if (k && !(f->view == GR_VIEW_BATCH ? k == GR_K_INT : list))
            report(c, GR_D_CONTRACT_EXPRESSION_KIND, f->args[i]->offset, NULL, "an argument of the view %.*s has the wrong kind", f->name);
    }
}

static void check_field(bind_checker *c, gr_bind_field *f) {
    if (f->kind == GR_FIELD_VIEW) {
        check_view(c, f);
        return;
    }
    gr_kind_of k = expect(c, f->expr, GR_K_ANY);
    if (k == GR_K_TENSOR || k == GR_K_SHAPES)
        report(c, GR_D_CONTRACT_EXPRESSION_KIND, f->expr->offset, "write view(x), shape(x) or size(x)",
               "the field %.*s cannot hold a tensor", f->name);
    f->kind = k == GR_K_LIST || k == GR_K_FLOATS ? GR_FIELD_LIST : GR_FIELD_EXPR;
}

static void check_uniform(bind_checker *c, gr_bind *b) {
    for (uint32_t i = 0; i < b->fields_n; i++) {
        check_field(c, &b->fields[i]);
        for (uint32_t k = 0; k < i; k++)
            if (gr_str_eq(b->fields[k].name, b->fields[i].name))
                report(c, GR_D_CONTRACT_NAME_REPEATED, b->fields[i].offset, NULL, "the field %.*s is there twice", b->fields[i].name);
    }
}

/* ---- variables ---- */

static bool dtype_known(const gr_sig *s, gr_str t) {
    int p = gr_sig_find_param(s, t);
    return gr_dtype_find(t) || gr_sig_is_dtype_var(s, t) || (p >= 0 && s->params[p].kind == GR_PARAM_DTYPE);
}

static void check_tensor_bind(bind_checker *c, const gr_bind *b) {
    int in = gr_sig_find_operand(c->s, b->tensor), out = gr_sig_find_output(c->s, b->tensor);
    const gr_sig_tensor *t = in >= 0 ? &c->s->operands[in] : out >= 0 ? &c->s->outputs[out] : NULL;
    if (b->kind == GR_BIND_READ && in < 0) unknown_tensor(c, b->offset, b->tensor, "%.*s is not an operand, which alone can be read");
    else if (b->kind == GR_BIND_WRITE && out < 0)
        unknown_tensor(c, b->offset, b->tensor, "%.*s is not an output, which alone can be written");
    else if (b->kind == GR_BIND_INOUT && (in < 0 || out < 0))
        report(c, GR_D_CONTRACT_NAME_UNKNOWN, b->offset, "name an output after the operand that it updates: f(p: f32[n]) -> p: f32[n]",
               "%.*s is not both an operand and an output", b->tensor);
    else if (b->kind == GR_BIND_COUNT && (!t || !t->count.n))
        report(c, GR_D_CONTRACT_NAME_UNKNOWN, b->offset, "a bounded tensor is written T[m <= n]", "%.*s has no count", b->tensor);
    else if (b->kind == GR_BIND_WRITE && in >= 0)
        report(c, GR_D_CONTRACT_BINDING_ACCESS, b->offset, "write `inout`", "%.*s is an operand too: one binding holds both", b->tensor);
    else if (t && t->variadic != b->each)
        report(c, GR_D_CONTRACT_SYNTAX, b->offset, t->variadic ? "write NAME[*], and `pass ... each NAME`" : "remove [*]",
               t->variadic ? "%.*s is variadic" : "%.*s is not variadic", b->tensor);
}

static void check_bind(bind_checker *c, uint32_t i) {
    gr_bind *b = &c->b->binds[i];
    for (uint32_t k = 0; k < i; k++)
        if (gr_str_eq(c->b->binds[k].var, b->var))
            report(c, GR_D_CONTRACT_NAME_REPEATED, b->offset, NULL, "the variable %.*s is bound twice", b->var);
    if (b->kind == GR_BIND_UNIFORM) check_uniform(c, b);
    else if (b->kind == GR_BIND_SCRATCH) {
        if (!dtype_known(c->s, b->dtype))
            report(c, GR_D_CONTRACT_DTYPE_UNKNOWN, b->offset, NULL, "%.*s is neither a dtype nor a dtype variable", b->dtype);
        gr_scope fixed = c->scope;
        c->scope.turns = NULL; /* one buffer for all turns */
        expect(c, b->size, GR_K_INT);
        c->scope = fixed;
    } else {
        check_tensor_bind(c, b);
    }
}

/* ---- passes ---- */

static void check_each(bind_checker *c, const gr_pass *p) {
    int in = gr_sig_find_operand(c->s, p->each), out = gr_sig_find_output(c->s, p->each);
    bool variadic = (in >= 0 && c->s->operands[in].variadic) || (out >= 0 && c->s->outputs[out].variadic);
    if (!variadic)
        report(c, GR_D_CONTRACT_NAME_UNKNOWN, p->offset, "`each` runs the pass once for every tensor of a variadic operand",
               "%.*s is not variadic", p->each);
}

static void check_repeat(bind_checker *c, const gr_pass *p) {
    gr_scope all = c->scope;
    c->scope.turns = NULL;
    if (gr_scope_find(&c->scope, p->repeat))
        report(c, GR_D_CONTRACT_NAME_REPEATED, p->offset, "turns are counted by a name of their own", "%.*s is a name of the signature", p->repeat);
    if (p->from) expect(c, p->from, GR_K_INT);
    if (p->to) expect(c, p->to, GR_K_INT);
    c->scope = all;
}

/* A name that another pass repeats has no value here. */
static void check_turns(bind_checker *c, const gr_pass *p, const gr_expr *e) {
    for (uint32_t i = 0; i < c->b->passes_n; i++) {
        gr_str name = c->b->passes[i].repeat;
        if (name.n && !gr_str_eq(name, p->repeat) && gr_expr_mentions(e, name))
            report(c, GR_D_CONTRACT_NAME_UNKNOWN, e->offset, "a pass sees the name that it repeats itself", "%.*s has no value in this pass", name);
    }
}

static void check_pass(bind_checker *c, const gr_pass *p) {
    if (p->each.n) check_each(c, p);
    if (p->repeat.n) check_repeat(c, p);
    for (uint32_t i = 0; i < 3 && p->size[i]; i++) check_turns(c, p, p->size[i]);
    for (uint32_t i = 0; i < 3 && p->size[i]; i++) expect(c, p->size[i], GR_K_INT);
    if (p->kind != GR_PASS_INDIRECT) return;
    int in = gr_sig_find_operand(c->s, p->count_of);
    if (in < 0 || !c->s->operands[in].count.n)
        report(c, GR_D_CONTRACT_NAME_UNKNOWN, p->offset, "a bounded operand is written T[m <= n]", "%.*s is not a bounded operand",
               p->count_of);
}

static void check_passes(bind_checker *c) {
    const gr_binding *b = c->b;
    if (!b->passes_n) report(c, GR_D_CONTRACT_PASS_MISSING, 0, "add `pass main over size(y)`", "the binding has no pass%.*s", GR_STR(""));
    for (uint32_t i = 0; i < b->passes_n; i++) check_pass(c, &b->passes[i]);
    for (uint32_t i = 0; i < b->binds_n; i++) {
        bool run = !b->binds[i].each;
        for (uint32_t k = 0; k < b->passes_n; k++) run = run || gr_str_eq(b->passes[k].each, b->binds[i].tensor);
        if (!run)
            report(c, GR_D_CONTRACT_PASS_MISSING, b->binds[i].offset, "add `pass main each NAME over size(NAME)`",
                   "no pass runs over each of %.*s", b->binds[i].tensor);
    }
}

static void check_outputs(bind_checker *c) {
    for (uint32_t i = 0; i < c->s->outputs_n; i++) {
        bool bound = false, counted = !c->s->outputs[i].count.n;
        for (uint32_t k = 0; k < c->b->binds_n; k++) {
            const gr_bind *b = &c->b->binds[k];
            if (!gr_str_eq(b->tensor, c->s->outputs[i].name)) continue;
            bound = bound || b->kind == GR_BIND_WRITE || b->kind == GR_BIND_INOUT;
            counted = counted || b->kind == GR_BIND_COUNT;
        }
        if (!bound)
            report(c, GR_D_CONTRACT_OUTPUT_UNBOUND, 0, "add `bind VAR = write NAME`", "no variable is bound to the output %.*s",
                   c->s->outputs[i].name);
        else if (!counted)
            report(c, GR_D_CONTRACT_OUTPUT_UNBOUND, 0, "add `bind VAR = count NAME`", "no variable is bound to the count of %.*s",
                   c->s->outputs[i].name);
    }
}

bool gr_binding_check_names(gr_diags *d, const gr_piece *src, const gr_sig *s, gr_binding *b) {
    bind_checker c = {d, src, s, b, {.sig = s, .outputs = true, .dispatch = true, .turns = b}, true};
    for (uint32_t i = 0; i < b->aliases_n; i++) {
        if (!dtype_known(s, b->aliases[i].dtype))
            report(&c, GR_D_CONTRACT_DTYPE_UNKNOWN, b->aliases[i].offset,
                   "an alias stands for a dtype variable, a dtype parameter or a dtype", "%.*s is none of the signature",
                   b->aliases[i].dtype);
        for (uint32_t k = 0; k < i; k++)
            if (gr_str_eq(b->aliases[k].alias, b->aliases[i].alias))
                report(&c, GR_D_CONTRACT_NAME_REPEATED, b->aliases[i].offset, NULL, "the alias %.*s is given twice", b->aliases[i].alias);
    }
    for (uint32_t i = 0; i < b->binds_n; i++) check_bind(&c, i);
    for (uint32_t i = 0; i < b->overrides_n; i++) {
        gr_kind_of k = expect(&c, b->overrides[i].value, GR_K_ANY);
        if (k && k != GR_K_INT && k != GR_K_FLOAT && k != GR_K_NUMBER && k != GR_K_BOOL && k != GR_K_WORD)
            report(&c, GR_D_CONTRACT_EXPRESSION_KIND, b->overrides[i].value->offset, NULL, "the override %.*s takes a number",
                   b->overrides[i].name);
    }
    check_passes(&c);
    check_outputs(&c);
    bool splits = gr_splits_check(d, src, s, b->splits, b->splits_n);
    return c.ok && splits;
}

/* ---- splits ---- */

static bool depends(const gr_sig_tensor *t, gr_str dim) {
    for (uint32_t i = 0; i < t->items_n; i++)
        if (gr_expr_mentions(t->items[i].e, dim)) return true;
    return false;
}

static void check_range(bind_checker *c, const gr_range *r, gr_str dim, bool output) {
    int i = output ? gr_sig_find_output(c->s, r->tensor) : gr_sig_find_operand(c->s, r->tensor);
    if (i < 0) unknown_tensor(c, r->offset, r->tensor, output ? "%.*s is not an output" : "%.*s is not an operand");
    else if (!r->axis && dim.n && !depends(output ? &c->s->outputs[i] : &c->s->operands[i], dim)) {
        report(c, GR_D_CONTRACT_SPLIT_INVALID, r->offset, "leave it out: an operand without the dimension is needed whole",
               "%.*s does not have the dimension that is cut", r->tensor);
        return;
    }
    if (r->axis) expect(c, r->axis, GR_K_INT);
    expect(c, r->lo, GR_K_INT);
    expect(c, r->hi, GR_K_INT);
}

static void check_set(bind_checker *c, const gr_split_set *x) {
    int i = gr_sig_find_param(c->s, x->name);
    gr_param_kind k = i < 0 ? GR_PARAM_NONE : c->s->params[i].kind;
    bool list = k == GR_PARAM_U32_LIST || k == GR_PARAM_I32_LIST, number = k == GR_PARAM_U32 || k == GR_PARAM_I32;
    if ((!list && !number) || (number && x->index)) {
        report(c, GR_D_CONTRACT_SPLIT_INVALID, x->offset, "a piece may change integers and lists of integers",
               "%.*s is no such parameter", x->name);
        return;
    }
    if (x->index) expect(c, x->index, GR_K_INT);
    expect(c, x->value, list && !x->index ? GR_K_LIST : GR_K_INT);
}

/* The dimension of a clause is a name of the signature; of * and flat it is not named. */
static bool check_dim(bind_checker *c, const gr_split *x) {
    gr_scope names = {.sig = c->s};
    gr_kind_of k = x->dim.n && !x->flat ? gr_scope_find(&names, x->dim) : GR_K_INT;
    if ((x->flat || gr_sig_find_param(c->s, x->dim) < 0) && (k == GR_K_INT || k == GR_K_LIST)) return true;
    report(c, GR_D_CONTRACT_SPLIT_INVALID, x->offset, "name a dimension or a rank variable of an operand",
           "%.*s is no dimension of the signature", x->dim);
    return false;
}

bool gr_splits_check(gr_diags *d, const gr_piece *src, const gr_sig *s, const gr_split *split, uint32_t n) {
    bind_checker c = {d, src, s, NULL, {.sig = s, .outputs = true, .ranges = true}, true};
    for (uint32_t i = 0; i < n; i++) {
        const gr_split *x = &split[i];
        if (!check_dim(&c, x)) continue;
        if (x->when) expect(&c, x->when, GR_K_BOOL);
        for (uint32_t r = 0; r < x->sets_n; r++) check_set(&c, &x->sets[r]);
        for (uint32_t r = 0; r < x->outs_n; r++) check_range(&c, &x->outs[r], x->dim, true);
        for (uint32_t r = 0; r < x->needs_n; r++) check_range(&c, &x->needs[r], x->dim, false);
    }
    return c.ok;
}
