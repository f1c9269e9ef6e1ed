/* Expressions: parser and printer. */
#include "contract/contract_int.h"

typedef struct fn_row {
    const char *text, *args;
    uint32_t min, max;
    gr_kind_of result;
} fn_row;

static const fn_row fns[GR_FN_COUNT] = {
#define GR_FN(id, text, min, max, result, args) [GR_FN_##id] = {text, args, min, max, result},
#include "contract/functions.def"
#undef GR_FN
};

static gr_fn find_fn(gr_str name) {
    for (int i = GR_FN_NONE + 1; i < GR_FN_COUNT; i++)
        if (gr_str_eqz(name, fns[i].text)) return (gr_fn)i;
    return GR_FN_NONE;
}

/* ---- parser ---- */

gr_expr *gr_expr_new(gr_parser *p, gr_expr_kind kind, uint32_t offset) {
    gr_expr *e = GR_NEW(p->a, gr_expr);
    if (!e) {
        gr_parser_oom(p);
        return NULL;
    }
    e->kind = kind;
    e->offset = offset;
    return e;
}

static gr_expr *with_args(gr_parser *p, gr_expr_kind kind, uint32_t offset, int op, gr_expr *x, gr_expr *y) {
    gr_expr *e = x ? gr_expr_new(p, kind, offset) : NULL;
    if (!e) return NULL;
    e->arg_n = y ? 2 : 1;
    e->arg = GR_NEW_N(p->a, gr_expr *, e->arg_n);
    if (!e->arg) {
        gr_parser_oom(p);
        return NULL;
    }
    e->op = op;
    e->arg[0] = x;
    if (y) e->arg[1] = y;
    e->end = e->arg[e->arg_n - 1]->end;
    return e;
}

static gr_expr *parse_primary(gr_parser *p);
static gr_expr *parse_or(gr_parser *p);

static gr_expr *too_deep(gr_parser *p) {
    gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "an expression nests deeper than %d levels", GR_EXPR_DEPTH);
    return NULL;
}

/* Arguments up to `close`, which is consumed. */
static bool parse_args(gr_parser *p, gr_expr *e, int close, const char *where) {
    gr_expr *list[GR_EXPR_ARGS];
    uint32_t n = 0;
    if (!gr_parser_is(p, close)) {
        do {
            if (n == GR_EXPR_ARGS)
                return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "more than %d entries", GR_EXPR_ARGS);
            list[n] = parse_or(p);
            GR_TRY(list[n]);
            n++;
        } while (gr_parser_take(p, ','));
    }
    e->end = p->tok.offset + 1;
    GR_TRY(gr_parser_expect(p, close, where));
    e->arg = GR_NEW_N(p->a, gr_expr *, n);
    if (!e->arg) return gr_parser_oom(p);
    for (uint32_t i = 0; i < n; i++) e->arg[i] = list[i];
    e->arg_n = n;
    return true;
}

static gr_expr *parse_call(gr_parser *p, gr_str name, uint32_t offset) {
    gr_expr *e = gr_expr_new(p, GR_E_CALL, offset);
    if (!e) return NULL;
    e->fn = find_fn(name);
    e->name = name;
    if (!e->fn) {
        gr_nearest near = gr_nearest_start(name);
        for (int i = GR_FN_NONE + 1; i < GR_FN_COUNT; i++) gr_nearest_add(&near, gr_str_of(fns[i].text));
        gr_parser_fail(p, GR_D_CONTRACT_NAME_UNKNOWN, offset, NULL, "there is no function %.*s", GR_STR_ARG(name));
        if (near.best.n) gr_report_hint(p->d, "did you mean %.*s?", GR_STR_ARG(near.best));
        return NULL;
    }
    gr_parser_next(p); /* ( */
    GR_TRY_NULL(parse_args(p, e, ')', "after the arguments"));
    const fn_row *f = &fns[e->fn];
    if (e->arg_n >= f->min && e->arg_n <= f->max) return e;
    if (f->min == f->max)
        gr_parser_fail(p, GR_D_CONTRACT_ARGUMENT_COUNT, offset, NULL, "%s takes %u argument%s, not %u", f->text, f->min,
                       f->min == 1 ? "" : "s", e->arg_n);
    else
        gr_parser_fail(p, GR_D_CONTRACT_ARGUMENT_COUNT, offset, NULL, "%s takes %u to %u arguments, not %u", f->text, f->min, f->max,
                       e->arg_n);
    return NULL;
}

static gr_expr *parse_name(gr_parser *p) {
    gr_tok t = p->tok;
    gr_parser_next(p);
    if (gr_parser_is(p, '(')) return parse_call(p, t.text, t.offset);
    bool is_true = gr_str_eqz(t.text, "true");
    bool is_bool = is_true || gr_str_eqz(t.text, "false"), is_inf = gr_str_eqz(t.text, "inf");
    gr_expr *e = gr_expr_new(p, is_bool ? GR_E_BOOL : is_inf ? GR_E_FLOAT : GR_E_NAME, t.offset);
    if (!e) return NULL;
    e->name = t.text;
    e->i = is_true;
    if (is_inf) e->f = 1e308 * 10;
    e->end = t.offset + (uint32_t)t.text.n;
    return e;
}

static gr_expr *parse_number(gr_parser *p) {
    gr_tok t = p->tok;
    gr_expr *e = gr_expr_new(p, t.kind == GR_TOK_INT ? GR_E_INT : GR_E_FLOAT, t.offset);
    if (!e) return NULL;
    e->i = t.i;
    e->f = t.f;
    e->name = t.text;
    e->end = t.offset + (uint32_t)t.text.n;
    gr_parser_next(p);
    return e;
}

static gr_expr *parse_atom(gr_parser *p) {
    uint32_t at = p->tok.offset;
    if (p->tok.kind == GR_TOK_INT || p->tok.kind == GR_TOK_FLOAT) return parse_number(p);
    if (p->tok.kind == GR_TOK_NAME) return parse_name(p);
    if (p->tok.kind == GR_TOK_STRING) {
        gr_expr *e = gr_expr_new(p, GR_E_NAME, at);
        return e && gr_parser_word(p, "a word", &e->name) ? e : NULL;
    }
    if (gr_parser_take(p, '(')) {
        gr_expr *e = parse_or(p);
        return e && gr_parser_expect(p, ')', "to close the parenthesis") ? e : NULL;
    }
    if (gr_parser_take(p, '[')) {
        gr_expr *e = gr_expr_new(p, GR_E_LIST, at);
        return e && parse_args(p, e, ']', "to close the list") ? e : NULL;
    }
    gr_parser_expected(p, "an expression");
    return NULL;
}

static gr_expr *parse_primary(gr_parser *p) {
    if (p->depth >= GR_EXPR_DEPTH) return too_deep(p);
    p->depth++;
    gr_expr *e = parse_atom(p);
    while (e && gr_parser_is(p, '[')) {
        gr_parser_next(p);
        gr_expr *i = parse_or(p);
        uint32_t end = p->tok.offset + 1;
        if (!i || !gr_parser_expect(p, ']', "after the index")) {
            e = NULL;
            break;
        }
        e = with_args(p, GR_E_INDEX, e->offset, 0, e, i);
        if (e) e->end = end;
    }
    p->depth--;
    return e;
}

static gr_expr *parse_unary(gr_parser *p) {
    uint32_t at = p->tok.offset;
    if (!gr_parser_is(p, '-')) return parse_primary(p);
    if (p->depth >= GR_EXPR_DEPTH) return too_deep(p);
    gr_parser_next(p);
    p->depth++;
    gr_expr *e = with_args(p, GR_E_NEG, at, 0, parse_unary(p), NULL);
    p->depth--;
    return e;
}

static bool is_op(const gr_parser *p, const int *ops) {
    for (; *ops; ops++)
        if (gr_parser_is(p, *ops)) return true;
    return false;
}

/* A chain is a tree leaning left; its length is bounded so that its depth is. */
static gr_expr *parse_chain(gr_parser *p, const int *ops, gr_expr *(*next)(gr_parser *)) {
    gr_expr *e = next(p);
    for (int n = 0; e && is_op(p, ops); n++) {
        int op = p->tok.punct;
        if (n >= GR_EXPR_DEPTH) return too_deep(p);
        gr_parser_next(p);
        gr_expr *right = next(p);
        e = right ? with_args(p, GR_E_BINARY, e->offset, op, e, right) : NULL;
    }
    return e;
}

static gr_expr *parse_product(gr_parser *p) {
    static const int ops[] = {'*', '/', GR_P_FLOOR_DIV, GR_P_CEIL_DIV, '%', 0};
    return parse_chain(p, ops, parse_unary);
}

gr_expr *gr_expr_parse_sum(gr_parser *p) {
    static const int ops[] = {'+', '-', 0};
    return parse_chain(p, ops, parse_product);
}

/* One comparison: a < b < c means nothing here. */
static gr_expr *parse_comparison(gr_parser *p) {
    static const int ops[] = {'<', '>', GR_P_LE, GR_P_GE, GR_P_EQ, GR_P_NE, 0};
    gr_expr *e = gr_expr_parse_sum(p);
    if (!e || !is_op(p, ops)) return e;
    int op = p->tok.punct;
    gr_parser_next(p);
    gr_expr *right = gr_expr_parse_sum(p);
    return right ? with_args(p, GR_E_BINARY, e->offset, op, e, right) : NULL;
}

static gr_expr *parse_not(gr_parser *p) {
    uint32_t at = p->tok.offset;
    if (!gr_parser_is_word(p, "not")) return parse_comparison(p);
    if (p->depth >= GR_EXPR_DEPTH) return too_deep(p);
    gr_parser_next(p);
    p->depth++;
    gr_expr *e = with_args(p, GR_E_NOT, at, 0, parse_not(p), NULL);
    p->depth--;
    return e;
}

static gr_expr *parse_words(gr_parser *p, const char *word, int op, gr_expr *(*next)(gr_parser *)) {
    gr_expr *e = next(p);
    for (int n = 0; e && gr_parser_is_word(p, word); n++) {
        if (n >= GR_EXPR_DEPTH) return too_deep(p);
        gr_parser_next(p);
        gr_expr *right = next(p);
        e = right ? with_args(p, GR_E_BINARY, e->offset, op, e, right) : NULL;
    }
    return e;
}

static gr_expr *parse_and(gr_parser *p) { return parse_words(p, "and", GR_OP_AND, parse_not); }
static gr_expr *parse_or(gr_parser *p) { return parse_words(p, "or", GR_OP_OR, parse_and); }
gr_expr *gr_expr_parse(gr_parser *p) { return parse_or(p); }

gr_expr *gr_expr_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src) {
    gr_parser p;
    gr_parser_init(&p, a, d, *src, false);
    if (p.failed) return NULL;
    gr_expr *e = gr_expr_parse(&p);
    if (e && p.tok.kind != GR_TOK_END) {
        gr_parser_expected(&p, "the end of the expression");
        return NULL;
    }
    return e;
}

/* ---- printer ---- */

static const char *op_text(int op) {
    switch (op) {
    case GR_P_FLOOR_DIV: return "//";
    case GR_P_CEIL_DIV: return "/^";
    case GR_P_EQ: return "==";
    case GR_P_NE: return "!=";
    case GR_P_LE: return "<=";
    case GR_P_GE: return ">=";
    case GR_OP_AND: return "and";
    case GR_OP_OR: return "or";
    case '+': return "+";
    case '-': return "-";
    case '*': return "*";
    case '/': return "/";
    case '%': return "%";
    case '<': return "<";
    default: return ">";
    }
}

int gr_expr_power(const gr_expr *e) {
    if (e->kind == GR_E_NOT) return 3;
    if (e->kind == GR_E_NEG) return 7;
    if (e->kind != GR_E_BINARY) return 8;
    switch (e->op) {
    case GR_OP_OR: return 1;
    case GR_OP_AND: return 2;
    case '+':
    case '-': return 5;
    case '*':
    case '/':
    case '%':
    case GR_P_FLOOR_DIV:
    case GR_P_CEIL_DIV: return 6;
    default: return 4;
    }
}

static void print_at(gr_buf *out, const gr_expr *e, int least) {
    bool wrap = gr_expr_power(e) < least;
    if (wrap) gr_buf_putc(out, '(');
    gr_expr_print(out, e);
    if (wrap) gr_buf_putc(out, ')');
}

static void print_list(gr_buf *out, const gr_expr *e) {
    for (uint32_t i = 0; i < e->arg_n; i++) {
        if (i) gr_buf_puts(out, ", ");
        gr_expr_print(out, e->arg[i]);
    }
}

static void print_binary(gr_buf *out, const gr_expr *e) {
    int power = gr_expr_power(e);
    print_at(out, e->arg[0], power == 4 ? 5 : power); /* comparisons do not chain */
    gr_buf_printf(out, " %s ", op_text(e->op));
    print_at(out, e->arg[1], power + 1);
}

void gr_expr_print(gr_buf *out, const gr_expr *e) {
    switch (e->kind) {
    case GR_E_NONE: return;
    case GR_E_INT: gr_buf_printf(out, "%lld", (long long)e->i); return;
    case GR_E_FLOAT: /* as written: digits are kept */
    case GR_E_NAME: gr_buf_str(out, e->name); return;
    case GR_E_BOOL: gr_buf_puts(out, e->i ? "true" : "false"); return;
    case GR_E_INDEX:
        print_at(out, e->arg[0], 8);
        gr_buf_putc(out, '[');
        gr_expr_print(out, e->arg[1]);
        gr_buf_putc(out, ']');
        return;
    case GR_E_CALL:
    case GR_E_LIST:
        if (e->kind == GR_E_CALL) gr_buf_str(out, e->name);
        gr_buf_putc(out, e->kind == GR_E_CALL ? '(' : '[');
        print_list(out, e);
        gr_buf_putc(out, e->kind == GR_E_CALL ? ')' : ']');
        return;
    case GR_E_NEG:
        gr_buf_putc(out, '-');
        print_at(out, e->arg[0], 7);
        return;
    case GR_E_NOT:
        gr_buf_puts(out, "not ");
        print_at(out, e->arg[0], 3);
        return;
    case GR_E_BINARY: print_binary(out, e); return;
    }
}

bool gr_expr_same(const gr_expr *x, const gr_expr *y) {
    if (!x || !y) return x == y;
    if (x->kind != y->kind || x->op != y->op || x->fn != y->fn || x->i != y->i || x->arg_n != y->arg_n || !gr_str_eq(x->name, y->name))
        return false;
    for (uint32_t i = 0; i < x->arg_n; i++)
        if (!gr_expr_same(x->arg[i], y->arg[i])) return false;
    return true;
}
