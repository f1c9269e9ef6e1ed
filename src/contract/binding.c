/* Grammar 2, the buffer binding with its split clauses: parser and printer. One clause a line. */
#include "contract/contract_int.h"

typedef struct binder {
    gr_parser p;
    gr_binding *b;
    GR_VEC(gr_bind) binds;
    GR_VEC(gr_pass) passes;
    GR_VEC(gr_split) splits;
    GR_VEC(gr_bind_alias) aliases;
    GR_VEC(gr_bind_override) overrides;
} binder;

#define PUSH_OR(p, vec, to)                                                                                                                \
    do {                                                                                                                                   \
        (to) = GR_PUSH((p)->a, (vec));                                                                                                     \
        if (!(to)) return gr_parser_oom(p);                                                                                                \
    } while (0)

static bool end_clause(gr_parser *p) {
    if (p->tok.kind == GR_TOK_END || p->tok.kind == GR_TOK_LINE) return true;
    return gr_parser_expected(p, "the end of the line");
}

/* ---- bind ---- */

static bool parse_args(gr_parser *p, gr_bind_field *f, uint32_t least, uint32_t most) {
    uint32_t n = 0;
    while (gr_parser_take(p, ',')) {
        if (n >= most) return gr_parser_expected(p, "')'");
        f->args[n] = gr_expr_parse_sum(p);
        GR_TRY(f->args[n]);
        if (f->args[n]->kind == GR_E_NAME) f->arg[n] = f->args[n]->name;
        n++;
    }
    if (n < least) return gr_parser_expected(p, "',' and another argument");
    return gr_parser_expect(p, ')', "after the view");
}

static const struct {
    const char *z;
    gr_view_form form;
    uint32_t least, most;
} view_forms[] = {{"view", GR_VIEW_PLAIN, 0, 1},        {"kept", GR_VIEW_KEPT, 1, 1},     {"reduced", GR_VIEW_REDUCED, 1, 1},
                  {"permuted", GR_VIEW_PERMUTED, 1, 1}, {"sliced", GR_VIEW_SLICED, 2, 3}, {"batch", GR_VIEW_BATCH, 2, 2}};

static bool parse_field(gr_parser *p, gr_bind_field *f) {
    GR_TRY(gr_parser_name(p, "the name of a field", &f->name, &f->offset));
    GR_TRY(gr_parser_expect(p, '=', "after the name of the field"));
    gr_tok next = gr_parser_peek(p);
    for (size_t i = 0; i < sizeof view_forms / sizeof *view_forms; i++) {
        if (!gr_parser_is_word(p, view_forms[i].z) || next.kind != GR_TOK_PUNCT || next.punct != '(') continue;
        gr_parser_next(p);
        gr_parser_next(p);
        f->kind = GR_FIELD_VIEW;
        f->view = view_forms[i].form;
        GR_TRY(gr_parser_name(p, "the tensor of the view", &f->tensor, NULL));
        GR_TRY(parse_args(p, f, view_forms[i].least, view_forms[i].most));
        if (f->view != GR_VIEW_PLAIN || !f->args[0]) return true;
        if (!f->arg[0].n)
            return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, f->args[0]->offset, NULL, "the second argument of view is a tensor");
        f->view = GR_VIEW_BROADCAST;
        return true;
    }
    f->expr = gr_expr_parse(p);
    GR_TRY(f->expr);
    f->kind = GR_FIELD_EXPR;
    if (f->expr->kind == GR_E_NAME) f->tensor = f->expr->name; /* a list, perhaps: the signature tells */
    return true;
}

static bool parse_uniform(gr_parser *p, gr_bind *b) {
    GR_VEC(gr_bind_field) fields = {0};
    GR_TRY(gr_parser_expect(p, '{', "before the fields"));
    while (!gr_parser_is(p, '}')) {
        if (fields.n >= GR_SIG_MAX)
            return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "more than %d fields", GR_SIG_MAX);
        gr_bind_field *f;
        PUSH_OR(p, &fields, f);
        GR_TRY(parse_field(p, f));
        if (!gr_parser_take(p, ',')) break;
    }
    b->fields = fields.v;
    b->fields_n = fields.n;
    return gr_parser_expect(p, '}', "after the fields");
}

static bool parse_scratch(gr_parser *p, gr_bind *b) {
    GR_TRY(gr_parser_name(p, "a dtype or dtype variable", &b->dtype, NULL));
    GR_TRY(gr_parser_expect(p, '[', "before the size"));
    b->size = gr_expr_parse_sum(p);
    return b->size && gr_parser_expect(p, ']', "after the size");
}

static bool parse_tensor_name(gr_parser *p, gr_bind *b) {
    GR_TRY(gr_parser_name(p, "an operand or output", &b->tensor, NULL));
    if (!gr_parser_take(p, '[')) return true;
    b->each = true;
    return gr_parser_expect(p, '*', "as in xs[*]") && gr_parser_expect(p, ']', "as in xs[*]");
}

static bool parse_bind(binder *s) {
    static const struct {
        const char *z;
        gr_bind_kind kind;
    } kinds[] = {{"read", GR_BIND_READ},       {"write", GR_BIND_WRITE}, {"inout", GR_BIND_INOUT},
                 {"scratch", GR_BIND_SCRATCH}, {"count", GR_BIND_COUNT}, {"uniform", GR_BIND_UNIFORM}};
    gr_parser *p = &s->p;
    gr_bind *b;
    PUSH_OR(p, &s->binds, b);
    GR_TRY(gr_parser_name(p, "the name of a WGSL variable", &b->var, &b->offset));
    GR_TRY(gr_parser_expect(p, '=', "after the name of the variable"));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !b->kind; i++)
        if (gr_parser_take_word(p, kinds[i].z)) b->kind = kinds[i].kind;
    if (!b->kind) return gr_parser_expected(p, "read, write, inout, scratch, count or uniform");
    if (b->kind == GR_BIND_UNIFORM) return parse_uniform(p, b);
    if (b->kind == GR_BIND_SCRATCH) return parse_scratch(p, b);
    GR_TRY(parse_tensor_name(p, b));
    b->once = b->kind == GR_BIND_READ && gr_parser_take_word(p, "once");
    return true;
}

/* ---- pass ---- */

static bool parse_grid(gr_parser *p, gr_pass *s) {
    for (uint32_t i = 0; i < 3; i++) {
        s->size[i] = gr_expr_parse_sum(p);
        GR_TRY(s->size[i]);
        if (!gr_parser_take(p, ',')) return true;
    }
    return gr_parser_expected(p, "at most three numbers of workgroups");
}

/* `count(x) /^ 64`: one workgroup for 64 elements. */
static bool parse_indirect(gr_parser *p, gr_pass *s) {
    if (!gr_parser_is_word(p, "count") || gr_parser_peek(p).punct != '(') return gr_parser_expected(p, "count(x)");
    gr_parser_next(p);
    gr_parser_next(p);
    GR_TRY(gr_parser_name(p, "a bounded tensor", &s->count_of, NULL));
    GR_TRY(gr_parser_expect(p, ')', "after the tensor"));
    if (!gr_parser_take(p, GR_P_CEIL_DIV)) return true;
    s->size[0] = gr_expr_parse_sum(p);
    return s->size[0] != NULL;
}

/* `repeat k in a..b`, or `repeat k` behind a pass of that loop. */
static bool parse_repeat(binder *s, gr_pass *q) {
    gr_parser *p = &s->p;
    uint32_t at = p->tok.offset, n = s->passes.n;
    GR_TRY(gr_parser_name(p, "a name that counts the turns", &q->repeat, NULL));
    if (!gr_parser_take_word(p, "in")) {
        bool joined = n > 1 && gr_str_eq(s->passes.v[n - 2].repeat, q->repeat);
        return joined || gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, at, "write `repeat k in 0..n`; without a range a pass joins the loop of the pass before it",
                                        "no pass before this one repeats %.*s", GR_STR_ARG(q->repeat));
    }
    q->from = gr_expr_parse_sum(p);
    if (!q->from || !gr_parser_take(p, GR_P_DOTS)) return q->from && gr_parser_expected(p, "'..' between the ends of the range");
    q->to = gr_expr_parse_sum(p);
    return q->to != NULL;
}

static bool parse_pass(binder *s) {
    gr_parser *p = &s->p;
    gr_pass *q;
    PUSH_OR(p, &s->passes, q);
    GR_TRY(gr_parser_name(p, "the name of an entry point", &q->entry, &q->offset));
    if (gr_parser_take_word(p, "each")) GR_TRY(gr_parser_name(p, "a variadic operand", &q->each, NULL));
    else if (gr_parser_take_word(p, "repeat")) GR_TRY(parse_repeat(s, q));
    if (gr_parser_take_word(p, "over")) {
        q->kind = GR_PASS_OVER;
        q->size[0] = gr_expr_parse_sum(p);
        return q->size[0] != NULL;
    }
    if (gr_parser_take_word(p, "grid")) {
        q->kind = GR_PASS_GRID;
        return parse_grid(p, q);
    }
    if (gr_parser_take_word(p, "indirect")) {
        q->kind = GR_PASS_INDIRECT;
        return parse_indirect(p, q);
    }
    return gr_parser_expected(p, q->each.n || q->repeat.n ? "over, grid or indirect" : "each, repeat, over, grid or indirect");
}

/* ---- split ---- */

typedef GR_VEC(gr_range) range_vec;

static bool parse_ranges(gr_parser *p, range_vec *list) {
    do {
        if (list->n >= GR_SIG_MAX)
            return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "more than %d ranges", GR_SIG_MAX);
        gr_range *r;
        PUSH_OR(p, list, r);
        GR_TRY(gr_parser_name(p, "an operand or output", &r->tensor, &r->offset));
        GR_TRY(gr_parser_expect(p, '[', "before the range"));
        r->lo = gr_expr_parse_sum(p);
        if (r->lo && gr_parser_take(p, ':')) {
            r->axis = r->lo;
            r->lo = gr_expr_parse_sum(p);
        }
        if (!r->lo || !gr_parser_take(p, GR_P_DOTS)) return r->lo && gr_parser_expected(p, "'..' between the ends of the range");
        r->hi = gr_expr_parse_sum(p);
        GR_TRY(r->hi && gr_parser_expect(p, ']', "after the range"));
    } while (gr_parser_take(p, ','));
    return true;
}

/* A role or the id of an op: words joined by / and @. */
static bool parse_op_name(gr_parser *p, gr_str *out) {
    uint32_t start = p->tok.offset;
    gr_str word;
    GR_TRY(gr_parser_name(p, "a role or an op", &word, NULL));
    size_t end = start + word.n;
    while (gr_parser_is(p, '/') && p->tok.offset == end) {
        gr_parser_next(p);
        end = p->tok.offset + p->tok.text.n;
        GR_TRY(gr_parser_name(p, "the rest of the op's id", &word, NULL));
    }
    if (gr_parser_is(p, '@') && p->tok.offset == end) {
        gr_parser_next(p);
        if (p->tok.kind != GR_TOK_INT) return gr_parser_expected(p, "the version of the op");
        end = p->tok.offset + p->tok.text.n;
        gr_parser_next(p);
    }
    *out = (gr_str){p->src.text.p + start, end - start};
    return true;
}

/* `with starts[cut] = 0, new_shape = [hi - lo]` */
static bool parse_sets(gr_parser *p, gr_split *s) {
    GR_VEC(gr_split_set) sets = {0};
    if (!gr_parser_take_word(p, "with")) return true;
    do {
        if (sets.n >= GR_SIG_MAX)
            return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "more than %d parameters", GR_SIG_MAX);
        gr_split_set *x;
        PUSH_OR(p, &sets, x);
        GR_TRY(gr_parser_name(p, "a parameter", &x->name, &x->offset));
        if (gr_parser_take(p, '[')) {
            x->index = gr_expr_parse_sum(p);
            GR_TRY(x->index && gr_parser_expect(p, ']', "after the index"));
        }
        GR_TRY(gr_parser_expect(p, '=', "after the parameter"));
        x->value = gr_expr_parse(p);
        GR_TRY(x->value);
    } while (gr_parser_take(p, ','));
    s->sets = sets.v, s->sets_n = sets.n;
    return true;
}

/* split n: ...; split * when cut != axis: ...; split flat with ... */
static bool parse_split(gr_parser *p, gr_split *s) {
    range_vec outs = {0}, needs = {0};
    s->offset = p->tok.offset;
    if (!gr_parser_take(p, '*')) GR_TRY(gr_parser_name(p, "the dimension that may be cut, * or flat", &s->dim, &s->offset));
    if (gr_parser_take_word(p, "when")) {
        s->when = gr_expr_parse(p);
        GR_TRY(s->when);
    }
    s->flat = gr_str_eqz(s->dim, "flat") && !gr_parser_is(p, ':');
    if (s->flat) return parse_sets(p, s);
    GR_TRY(gr_parser_expect(p, ':', s->when ? "after the condition" : "after the dimension"));
    if (s->dim.n && gr_parser_take_word(p, "combine")) return parse_op_name(p, &s->combine);
    GR_TRY(parse_ranges(p, &outs));
    if (gr_parser_take_word(p, "needs")) GR_TRY(parse_ranges(p, &needs));
    s->outs = outs.v, s->outs_n = outs.n;
    s->needs = needs.v, s->needs_n = needs.n;
    return parse_sets(p, s);
}

/* ---- clauses ---- */

static bool parse_alias(binder *s) {
    gr_bind_alias *x;
    PUSH_OR(&s->p, &s->aliases, x);
    return gr_parser_name(&s->p, "the name of a WGSL alias", &x->alias, &x->offset) && gr_parser_expect(&s->p, '=', "after the alias") &&
           gr_parser_name(&s->p, "a dtype or dtype variable", &x->dtype, NULL);
}

static bool parse_override(binder *s) {
    gr_bind_override *x;
    PUSH_OR(&s->p, &s->overrides, x);
    GR_TRY(gr_parser_name(&s->p, "the name of a WGSL override", &x->name, &x->offset) &&
           gr_parser_expect(&s->p, '=', "after the override"));
    x->value = gr_expr_parse(&s->p);
    return x->value != NULL;
}

static bool parse_clause(binder *s) {
    gr_parser *p = &s->p;
    if (s->binds.n + s->passes.n + s->splits.n >= GR_BINDING_MAX)
        return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "more than %d clauses", GR_BINDING_MAX);
    if (gr_parser_take_word(p, "bind")) return parse_bind(s);
    if (gr_parser_take_word(p, "pass")) return parse_pass(s);
    if (gr_parser_take_word(p, "alias")) return parse_alias(s);
    if (gr_parser_take_word(p, "override")) return parse_override(s);
    if (gr_parser_take_word(p, "split")) {
        gr_split *x;
        PUSH_OR(p, &s->splits, x);
        return parse_split(p, x);
    }
    return gr_parser_expected(p, "alias, bind, override, pass or split");
}

bool gr_binding_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src, gr_binding *out) {
    binder s = {0};
    bool ok = true;
    *out = (gr_binding){.text = src->text};
    gr_parser_init(&s.p, a, d, *src, true);
    ok = !s.p.failed;
    for (uint32_t errors = 0; s.p.tok.kind != GR_TOK_END && errors < 20;) {
        if (s.p.tok.kind == GR_TOK_LINE) {
            gr_parser_next(&s.p);
            continue;
        }
        if (parse_clause(&s) && end_clause(&s.p)) continue;
        ok = false;
        errors++;
        gr_parser_skip_line(&s.p);
    }
    out->binds = s.binds.v, out->binds_n = s.binds.n;
    out->passes = s.passes.v, out->passes_n = s.passes.n;
    out->splits = s.splits.v, out->splits_n = s.splits.n;
    out->aliases = s.aliases.v, out->aliases_n = s.aliases.n;
    out->overrides = s.overrides.v, out->overrides_n = s.overrides.n;
    return ok;
}

bool gr_binding_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, gr_binding *out) {
    gr_piece src = {.document = document, .text = text};
    return gr_binding_parse_piece(a, d, &src, out);
}

bool gr_splits_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src, gr_split **out, uint32_t *n) {
    gr_binding b;
    bool ok = gr_binding_parse_piece(a, d, src, &b);
    *out = b.splits;
    *n = b.splits_n;
    if (b.binds_n || b.passes_n || b.aliases_n || b.overrides_n)
        return gr_report(d, GR_D_CONTRACT_SYNTAX, gr_piece_place(src, 0), "put other clauses into a binding",
                         "only split clauses stand here");
    return ok;
}

/* ---- printer ---- */

static void print_name_expr(gr_buf *out, gr_str name, const gr_expr *e) {
    gr_buf_printf(out, "%.*s = ", GR_STR_ARG(name));
    gr_expr_print(out, e);
}

static void print_field(gr_buf *out, const gr_bind_field *f) {
    static const char *const forms[] = {"", "view", "view", "kept", "reduced", "permuted", "sliced", "batch"};
    if (f->kind != GR_FIELD_VIEW) {
        print_name_expr(out, f->name, f->expr);
        return;
    }
    gr_buf_printf(out, "%.*s = %s(%.*s", GR_STR_ARG(f->name), forms[f->view], GR_STR_ARG(f->tensor));
    for (uint32_t i = 0; i < 3 && f->args[i]; i++) {
        gr_buf_puts(out, ", ");
        gr_expr_print(out, f->args[i]);
    }
    gr_buf_putc(out, ')');
}

static void print_bind(gr_buf *out, const gr_bind *b) {
    static const char *const kinds[] = {"", "read", "write", "inout", "scratch", "count", "uniform"};
    gr_buf_printf(out, "bind %.*s = %s ", GR_STR_ARG(b->var), kinds[b->kind]);
    if (b->kind == GR_BIND_SCRATCH) {
        gr_buf_printf(out, "%.*s[", GR_STR_ARG(b->dtype));
        gr_expr_print(out, b->size);
        gr_buf_putc(out, ']');
    } else if (b->kind == GR_BIND_UNIFORM) {
        gr_buf_puts(out, "{ ");
        for (uint32_t i = 0; i < b->fields_n; i++) {
            if (i) gr_buf_puts(out, ", ");
            print_field(out, &b->fields[i]);
        }
        gr_buf_puts(out, b->fields_n ? " }" : "}");
    } else {
        gr_buf_printf(out, "%.*s%s%s", GR_STR_ARG(b->tensor), b->each ? "[*]" : "", b->once ? " once" : "");
    }
    gr_buf_putc(out, '\n');
}

static void print_range(gr_buf *out, const gr_expr *from, const gr_expr *to) {
    gr_buf_puts(out, "in ");
    gr_expr_print(out, from);
    gr_buf_puts(out, "..");
    gr_expr_print(out, to);
    gr_buf_putc(out, ' ');
}

static void print_pass(gr_buf *out, const gr_pass *s) {
    gr_buf_printf(out, "pass %.*s ", GR_STR_ARG(s->entry));
    if (s->each.n) gr_buf_printf(out, "each %.*s ", GR_STR_ARG(s->each));
    if (s->repeat.n) {
        gr_buf_printf(out, "repeat %.*s ", GR_STR_ARG(s->repeat));
        if (s->from) print_range(out, s->from, s->to);
    }
    if (s->kind == GR_PASS_INDIRECT) {
        gr_buf_printf(out, "indirect count(%.*s)", GR_STR_ARG(s->count_of));
        if (s->size[0]) {
            gr_buf_puts(out, " /^ ");
            gr_expr_print(out, s->size[0]);
        }
    } else {
        gr_buf_puts(out, s->kind == GR_PASS_OVER ? "over " : "grid ");
        for (uint32_t i = 0; i < 3 && s->size[i]; i++) {
            if (i) gr_buf_puts(out, ", ");
            gr_expr_print(out, s->size[i]);
        }
    }
    gr_buf_putc(out, '\n');
}

static void print_ranges(gr_buf *out, const gr_range *r, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        gr_buf_printf(out, "%s%.*s[", i ? ", " : "", GR_STR_ARG(r[i].tensor));
        if (r[i].axis) {
            gr_expr_print(out, r[i].axis);
            gr_buf_puts(out, ": ");
        }
        gr_expr_print(out, r[i].lo);
        gr_buf_puts(out, "..");
        gr_expr_print(out, r[i].hi);
        gr_buf_putc(out, ']');
    }
}

void gr_split_print(gr_buf *out, const gr_split *s) {
    gr_buf_printf(out, "split %.*s", s->dim.n ? (int)s->dim.n : 1, s->dim.n ? s->dim.p : "*");
    if (s->when) {
        gr_buf_puts(out, " when ");
        gr_expr_print(out, s->when);
    }
    if (!s->flat) gr_buf_puts(out, ": ");
    if (s->combine.n) gr_buf_printf(out, "combine %.*s", GR_STR_ARG(s->combine));
    print_ranges(out, s->outs, s->outs_n);
    if (s->needs_n) gr_buf_puts(out, " needs ");
    print_ranges(out, s->needs, s->needs_n);
    for (uint32_t i = 0; i < s->sets_n; i++) {
        gr_buf_printf(out, "%s%.*s", i ? ", " : " with ", GR_STR_ARG(s->sets[i].name));
        if (s->sets[i].index) {
            gr_buf_putc(out, '[');
            gr_expr_print(out, s->sets[i].index);
            gr_buf_putc(out, ']');
        }
        gr_buf_puts(out, " = ");
        gr_expr_print(out, s->sets[i].value);
    }
    gr_buf_putc(out, '\n');
}

void gr_binding_print(gr_buf *out, const gr_binding *b) {
    for (uint32_t i = 0; i < b->aliases_n; i++)
        gr_buf_printf(out, "alias %.*s = %.*s\n", GR_STR_ARG(b->aliases[i].alias), GR_STR_ARG(b->aliases[i].dtype));
    for (uint32_t i = 0; i < b->binds_n; i++) print_bind(out, &b->binds[i]);
    for (uint32_t i = 0; i < b->overrides_n; i++) {
        gr_buf_puts(out, "override ");
        print_name_expr(out, b->overrides[i].name, b->overrides[i].value);
        gr_buf_putc(out, '\n');
    }
    for (uint32_t i = 0; i < b->passes_n; i++) print_pass(out, &b->passes[i]);
    for (uint32_t i = 0; i < b->splits_n; i++) gr_split_print(out, &b->splits[i]);
}
