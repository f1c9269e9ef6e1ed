/* Parser: tokens, expressions, type expressions, attributes. */
#include "wgsl/wgsl_int.h"

#include <stdarg.h>
#include <stdio.h>

const gr_wgsl_tok *gr_wgsl_peek_at(gr_wgsl_front *f, uint32_t ahead) {
    uint32_t at = f->pos + ahead;
    return &f->tok[at < f->tok_n ? at : f->tok_n - 1];
}
const gr_wgsl_tok *gr_wgsl_peek(gr_wgsl_front *f) { return gr_wgsl_peek_at(f, 0); }
bool gr_wgsl_is(gr_wgsl_front *f, gr_wgsl_tok_kind k) { return gr_wgsl_peek(f)->kind == k; }

bool gr_wgsl_accept(gr_wgsl_front *f, gr_wgsl_tok_kind k) {
    if (!gr_wgsl_is(f, k)) return false;
    if (f->pos + 1 < f->tok_n) f->pos++;
    return true;
}

static gr_str shown(gr_wgsl_front *f, const gr_wgsl_tok *t) {
    if (t->kind == GR_TK_EOF) return GR_STR("the end of the text");
    return gr_wgsl_slice(f, t->offset, t->end - t->offset > 40 ? t->offset + 40 : t->end);
}

bool gr_wgsl_syntax(gr_wgsl_front *f, const char *fmt, ...) {
    if (++f->syntax_errors > GR_WGSL_MAX_SYNTAX_ERRORS) return false;
    const gr_wgsl_tok *t = gr_wgsl_peek(f);
    va_list ap;
    va_start(ap, fmt);
    char text[200];
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    gr_str got = shown(f, t);
    return gr_wgsl_error(f, GR_D_WGSL_SYNTAX, t->offset, NULL, "%s, found %s%.*s%s", text, t->kind ? "'" : "",
                         GR_STR_ARG(got), t->kind ? "'" : "");
}

bool gr_wgsl_expect(gr_wgsl_front *f, gr_wgsl_tok_kind k, const char *what) {
    if (gr_wgsl_accept(f, k)) return true;
    return gr_wgsl_syntax(f, k <= GR_TK_FLOAT ? "expected %s%s%s" : "expected '%s'%s%s", gr_wgsl_tok_text(k),
                          what[0] ? " " : "", what);
}

/* An identifier that may be declared or referred to. */
bool gr_wgsl_expect_name(gr_wgsl_front *f, const char *what, gr_str *name, uint32_t *offset) {
    const gr_wgsl_tok *t = gr_wgsl_peek(f);
    gr_str word = gr_wgsl_slice(f, t->offset, t->end);
    bool keyword = t->kind >= GR_TK_alias && t->kind <= GR_TK_while;
    if (keyword || t->kind == GR_TK_UNDERSCORE || (t->kind == GR_TK_IDENT && (gr_wgsl_is_reserved(word) || gr_str_starts(word, "__")))) {
        if (++f->syntax_errors > GR_WGSL_MAX_SYNTAX_ERRORS) return false;
        return gr_wgsl_error(f, GR_D_WGSL_RESERVED_WORD, t->offset, "choose another name",
                             "'%.*s' is %s and cannot be used as %s", GR_STR_ARG(word),
                             keyword                          ? "a keyword"
                             : t->kind == GR_TK_UNDERSCORE    ? "the placeholder of a phony assignment"
                             : gr_str_starts(word, "__")      ? "reserved for implementations"
                                                              : "a reserved word",
                             what);
    }
    if (t->kind != GR_TK_IDENT) return gr_wgsl_syntax(f, "expected %s", what);
    *name = word;
    *offset = t->offset;
    f->pos++;
    return true;
}

bool gr_wgsl_enter(gr_wgsl_front *f) {
    if (f->depth < GR_WGSL_MAX_PARSE_DEPTH) {
        f->depth++;
        return true;
    }
    f->syntax_errors = GR_WGSL_MAX_SYNTAX_ERRORS; /* unwinding: say it once */
    return gr_wgsl_error(f, GR_D_WGSL_TOO_DEEP, gr_wgsl_peek(f)->offset, "split it into named parts",
                         "the program nests deeper than %d levels here", GR_WGSL_MAX_PARSE_DEPTH);
}

void gr_wgsl_leave(gr_wgsl_front *f) { f->depth--; }

gr_wgsl_expr *gr_wgsl_new_expr(gr_wgsl_front *f, gr_wgsl_expr_kind k, uint32_t offset) {
    gr_wgsl_expr *e = GR_NEW(f->arena, gr_wgsl_expr);
    if (!e) {
        gr_wgsl_oom(f);
        return NULL;
    }
    e->kind = k;
    e->offset = offset;
    e->height = 1;
    return e;
}

/* Takes a child's height into account and closes the node at the last token read. */
static gr_wgsl_expr *close_expr(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_expr *a, const gr_wgsl_expr *b) {
    uint32_t h = e->height;
    if (a && a->height >= h) h = a->height + 1u;
    if (b && b->height >= h) h = b->height + 1u;
    e->height = (uint16_t)h;
    e->end = f->pos ? f->tok[f->pos - 1].end : 0;
    if (h <= GR_WGSL_MAX_EXPR_DEPTH) return e;
    f->syntax_errors = GR_WGSL_MAX_SYNTAX_ERRORS;
    gr_wgsl_error(f, GR_D_WGSL_TOO_DEEP, e->offset, "split it into named parts",
                  "an expression nests deeper than %d levels", GR_WGSL_MAX_EXPR_DEPTH);
    return NULL;
}

typedef GR_VEC(gr_wgsl_expr *) expr_vec;

static bool push_expr(gr_wgsl_front *f, expr_vec *v, gr_wgsl_expr *e) {
    gr_wgsl_expr **p = GR_PUSH(f->arena, v);
    if (!p) return gr_wgsl_oom(f);
    *p = e;
    return true;
}

/* Comma-separated expressions up to `close`, trailing comma allowed. */
static bool parse_list(gr_wgsl_front *f, gr_wgsl_tok_kind close, const char *what, expr_vec *v) {
    while (!gr_wgsl_is(f, close)) {
        gr_wgsl_expr *e = gr_wgsl_parse_expr(f);
        if (!e || !push_expr(f, v, e)) return false;
        if (!gr_wgsl_accept(f, GR_TK_COMMA)) break;
    }
    return gr_wgsl_expect(f, close, what);
}

bool gr_wgsl_parse_template_list(gr_wgsl_front *f, gr_wgsl_expr ***v, uint32_t *n) {
    expr_vec list = {0};
    f->pos++;
    do {
        if (gr_wgsl_is(f, GR_TK_GT) && gr_wgsl_peek(f)->template_mark && list.n) break;
        gr_wgsl_expr *e = gr_wgsl_parse_expr(f);
        if (!e || !push_expr(f, &list, e)) return false;
    } while (gr_wgsl_accept(f, GR_TK_COMMA));
    if (!gr_wgsl_is(f, GR_TK_GT) || !gr_wgsl_peek(f)->template_mark)
        return gr_wgsl_syntax(f, "expected '>' after a template list");
    f->pos++;
    *v = list.v;
    *n = list.n;
    return true;
}

static bool at_template(gr_wgsl_front *f) { return gr_wgsl_is(f, GR_TK_LT) && gr_wgsl_peek(f)->template_mark; }

/* ident template_list? */
static gr_wgsl_expr *parse_ident(gr_wgsl_front *f, const char *what) {
    gr_wgsl_expr *e = gr_wgsl_new_expr(f, GR_WE_IDENT, gr_wgsl_peek(f)->offset);
    uint32_t offset;
    if (!e || !gr_wgsl_expect_name(f, what, &e->ident.name, &offset)) return NULL;
    if (at_template(f) && !gr_wgsl_parse_template_list(f, &e->ident.targ, &e->ident.targ_n)) return NULL;
    uint32_t h = 1;
    for (uint32_t i = 0; i < e->ident.targ_n; i++)
        if (e->ident.targ[i]->height >= h) h = e->ident.targ[i]->height + 1u;
    e->height = (uint16_t)h;
    return close_expr(f, e, NULL, NULL);
}

gr_wgsl_expr *gr_wgsl_parse_type(gr_wgsl_front *f) {
    if (!gr_wgsl_enter(f)) return NULL;
    gr_wgsl_expr *e = parse_ident(f, "a type");
    gr_wgsl_leave(f);
    return e;
}

static gr_wgsl_expr *parse_literal(gr_wgsl_front *f) {
    const gr_wgsl_tok *t = gr_wgsl_peek(f);
    gr_wgsl_expr *e = gr_wgsl_new_expr(f, GR_WE_LITERAL, t->offset);
    if (!e) return NULL;
    e->literal.text = gr_wgsl_slice(f, t->offset, t->end);
    if (t->kind == GR_TK_true || t->kind == GR_TK_false)
        e->value = gr_wgsl_const_i(f, f->types.bool_, t->kind == GR_TK_true);
    else
        e->value = gr_wgsl_parse_number(f, t->offset, e->literal.text, t->kind == GR_TK_FLOAT);
    f->pos++;
    if (!e->value) return NULL;
    e->type = e->value->type;
    e->stage = GR_WGSL_CONST;
    return close_expr(f, e, NULL, NULL);
}

static gr_wgsl_expr *parse_paren(gr_wgsl_front *f, gr_wgsl_expr *(*inner)(gr_wgsl_front *)) {
    gr_wgsl_expr *e = gr_wgsl_new_expr(f, GR_WE_PAREN, gr_wgsl_peek(f)->offset);
    if (!e) return NULL;
    f->pos++;
    e->unary.a = inner(f);
    if (!e->unary.a || !gr_wgsl_expect(f, GR_TK_RPAREN, "")) return NULL;
    return close_expr(f, e, e->unary.a, NULL);
}

static gr_wgsl_expr *parse_call_rest(gr_wgsl_front *f, gr_wgsl_expr *callee) {
    gr_wgsl_expr *e = gr_wgsl_new_expr(f, GR_WE_CALL, callee->offset);
    expr_vec args = {0};
    if (!e || !gr_wgsl_expect(f, GR_TK_LPAREN, "") || !parse_list(f, GR_TK_RPAREN, "after the arguments of a call", &args))
        return NULL;
    e->call.callee = callee;
    e->call.arg = args.v;
    e->call.arg_n = args.n;
    for (uint32_t i = 0; i < args.n; i++)
        if (args.v[i]->height >= e->height) e->height = (uint16_t)(args.v[i]->height + 1u);
    return close_expr(f, e, callee, NULL);
}

static gr_wgsl_expr *parse_primary(gr_wgsl_front *f) {
    switch (gr_wgsl_peek(f)->kind) {
    case GR_TK_INT:
    case GR_TK_FLOAT:
    case GR_TK_true:
    case GR_TK_false: return parse_literal(f);
    case GR_TK_LPAREN: return parse_paren(f, gr_wgsl_parse_expr);
    default: break;
    }
    const gr_wgsl_tok *t = gr_wgsl_peek(f);
    if (t->kind != GR_TK_IDENT && !(t->kind >= GR_TK_alias && t->kind <= GR_TK_while) && t->kind != GR_TK_UNDERSCORE) {
        gr_wgsl_syntax(f, "expected an expression");
        return NULL;
    }
    gr_wgsl_expr *e = parse_ident(f, "an expression");
    return e && gr_wgsl_is(f, GR_TK_LPAREN) ? parse_call_rest(f, e) : e;
}

/* `.name` and `[index]` behind e, any number. */
static gr_wgsl_expr *parse_postfix(gr_wgsl_front *f, gr_wgsl_expr *e) {
    while (e) {
        if (gr_wgsl_accept(f, GR_TK_DOT)) {
            gr_wgsl_expr *m = gr_wgsl_new_expr(f, GR_WE_MEMBER, e->offset);
            if (!m || !gr_wgsl_expect_name(f, "a member name", &m->member.name, &m->member.name_offset)) return NULL;
            m->member.base = e;
            e = close_expr(f, m, e, NULL);
        } else if (gr_wgsl_accept(f, GR_TK_LBRACKET)) {
            gr_wgsl_expr *x = gr_wgsl_new_expr(f, GR_WE_INDEX, e->offset);
            if (!x) return NULL;
            x->index.base = e;
            x->index.index = gr_wgsl_parse_expr(f);
            if (!x->index.index || !gr_wgsl_expect(f, GR_TK_RBRACKET, "after an index")) return NULL;
            e = close_expr(f, x, e, x->index.index);
        } else {
            return e;
        }
    }
    return NULL;
}

/* Consumes an operator; in an expression `--` is two minus signs, of which this takes the first. */
static void take_operator(gr_wgsl_front *f) {
    gr_wgsl_tok *t = &f->tok[f->pos];
    if (t->kind != GR_TK_MINUS_MINUS) {
        f->pos++;
        return;
    }
    t->kind = GR_TK_MINUS;
    t->offset++;
}

static gr_wgsl_expr *parse_unary_inner(gr_wgsl_front *f) {
    gr_wgsl_expr_kind kind = GR_WE_UNARY;
    gr_wgsl_op op = GR_WO_NONE;
    switch (gr_wgsl_peek(f)->kind) {
    case GR_TK_MINUS: op = GR_WO_NEG; break;
    case GR_TK_BANG: op = GR_WO_NOT; break;
    case GR_TK_TILDE: op = GR_WO_COMPLEMENT; break;
    case GR_TK_STAR: kind = GR_WE_DEREF; break;
    case GR_TK_AMP: kind = GR_WE_ADDRESS_OF; break;
    case GR_TK_MINUS_MINUS: op = GR_WO_NEG; break;
    case GR_TK_PLUS_PLUS:
        gr_wgsl_syntax(f, "expected an expression (WGSL has no prefix ++)");
        return NULL;
    default: return parse_postfix(f, parse_primary(f));
    }
    gr_wgsl_expr *e = gr_wgsl_new_expr(f, kind, gr_wgsl_peek(f)->offset);
    if (!e) return NULL;
    take_operator(f);
    e->unary.op = op;
    e->unary.a = gr_wgsl_parse_unary(f);
    return e->unary.a ? close_expr(f, e, e->unary.a, NULL) : NULL;
}

gr_wgsl_expr *gr_wgsl_parse_unary(gr_wgsl_front *f) {
    if (!gr_wgsl_enter(f)) return NULL;
    gr_wgsl_expr *e = parse_unary_inner(f);
    gr_wgsl_leave(f);
    return e;
}

/* Name or parenthesised left side, and what follows it. */
static gr_wgsl_expr *parse_core_lhs(gr_wgsl_front *f) {
    if (gr_wgsl_is(f, GR_TK_LPAREN)) return parse_postfix(f, parse_paren(f, gr_wgsl_parse_lhs));
    gr_wgsl_expr *name = gr_wgsl_new_expr(f, GR_WE_IDENT, gr_wgsl_peek(f)->offset);
    uint32_t offset;
    if (!name || !gr_wgsl_expect_name(f, "a statement", &name->ident.name, &offset)) return NULL;
    return parse_postfix(f, close_expr(f, name, NULL, NULL));
}

/* (&|*)* core; `above` prefix operators stand before. */
static gr_wgsl_expr *parse_prefixed_lhs(gr_wgsl_front *f, uint32_t above) {
    uint32_t k = gr_wgsl_peek(f)->kind;
    if (k != GR_TK_STAR && k != GR_TK_AMP) return parse_core_lhs(f);
    gr_wgsl_expr *e = gr_wgsl_new_expr(f, k == GR_TK_STAR ? GR_WE_DEREF : GR_WE_ADDRESS_OF, gr_wgsl_peek(f)->offset);
    if (!e) return NULL;
    if (above >= GR_WGSL_MAX_EXPR_DEPTH) {
        e->height = GR_WGSL_MAX_EXPR_DEPTH + 1;
        return close_expr(f, e, NULL, NULL); /* reports */
    }
    f->pos++;
    e->unary.a = parse_prefixed_lhs(f, above + 1);
    return e->unary.a ? close_expr(f, e, e->unary.a, NULL) : NULL;
}

gr_wgsl_expr *gr_wgsl_parse_lhs(gr_wgsl_front *f) {
    if (!gr_wgsl_enter(f)) return NULL;
    gr_wgsl_expr *e = parse_prefixed_lhs(f, 0);
    gr_wgsl_leave(f);
    return e;
}

static gr_wgsl_expr *binary(gr_wgsl_front *f, gr_wgsl_op op, uint32_t op_offset, gr_wgsl_expr *a, gr_wgsl_expr *b) {
    gr_wgsl_expr *e = a && b ? gr_wgsl_new_expr(f, GR_WE_BINARY, a->offset) : NULL;
    if (!e) return NULL;
    e->binary.op = op;
    e->binary.op_offset = op_offset;
    e->binary.a = a;
    e->binary.b = b;
    return close_expr(f, e, a, b);
}

/* Precedence classes of the grammar; operators of a class associate to the left. */
typedef enum level { LEVEL_NONE = 0, MULTIPLICATIVE, ADDITIVE, SHIFT, RELATIONAL, BITWISE, LOGICAL } level;

static level level_of(uint32_t k, gr_wgsl_op *op) {
    static const struct { uint16_t kind; uint8_t op, level; } table[] = {
        {GR_TK_STAR, GR_WO_MUL, MULTIPLICATIVE},   {GR_TK_SLASH, GR_WO_DIV, MULTIPLICATIVE},
        {GR_TK_PERCENT, GR_WO_MOD, MULTIPLICATIVE}, {GR_TK_PLUS, GR_WO_ADD, ADDITIVE},
        {GR_TK_MINUS, GR_WO_SUB, ADDITIVE},        {GR_TK_MINUS_MINUS, GR_WO_SUB, ADDITIVE},
               {GR_TK_SHL, GR_WO_SHL, SHIFT},
        {GR_TK_SHR, GR_WO_SHR, SHIFT},             {GR_TK_LT, GR_WO_LT, RELATIONAL},
        {GR_TK_LE, GR_WO_LE, RELATIONAL},          {GR_TK_GT, GR_WO_GT, RELATIONAL},
        {GR_TK_GE, GR_WO_GE, RELATIONAL},          {GR_TK_EQ, GR_WO_EQ, RELATIONAL},
        {GR_TK_NE, GR_WO_NE, RELATIONAL},          {GR_TK_AMP, GR_WO_AND, BITWISE},
        {GR_TK_PIPE, GR_WO_OR, BITWISE},           {GR_TK_CARET, GR_WO_XOR, BITWISE},
        {GR_TK_AND_AND, GR_WO_LOGICAL_AND, LOGICAL}, {GR_TK_OR_OR, GR_WO_LOGICAL_OR, LOGICAL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].kind == k) {
            *op = (gr_wgsl_op)table[i].op;
            return (level)table[i].level;
        }
    return LEVEL_NONE;
}

static level next_level(gr_wgsl_front *f, gr_wgsl_op *op) {
    const gr_wgsl_tok *t = gr_wgsl_peek(f);
    *op = GR_WO_NONE;
    return t->template_mark ? LEVEL_NONE : level_of(t->kind, op);
}

/* Left-associative chain of one level over operands given by `operand`, from e on. */
static gr_wgsl_expr *parse_chain(gr_wgsl_front *f, gr_wgsl_expr *e, level lv, gr_wgsl_expr *(*operand)(gr_wgsl_front *)) {
    gr_wgsl_op op;
    while (e && next_level(f, &op) == lv) {
        uint32_t at = gr_wgsl_peek(f)->offset;
        take_operator(f);
        e = binary(f, op, at, e, operand(f));
    }
    return e;
}

static gr_wgsl_expr *parse_multiplicative(gr_wgsl_front *f) {
    return parse_chain(f, gr_wgsl_parse_unary(f), MULTIPLICATIVE, gr_wgsl_parse_unary);
}

/* shift: additive, or exactly one << or >> between unary expressions. */
static gr_wgsl_expr *parse_shift_after(gr_wgsl_front *f, gr_wgsl_expr *unary) {
    gr_wgsl_op op;
    if (unary && next_level(f, &op) == SHIFT) {
        uint32_t at = gr_wgsl_peek(f)->offset;
        f->pos++;
        return binary(f, op, at, unary, gr_wgsl_parse_unary(f));
    }
    return parse_chain(f, parse_chain(f, unary, MULTIPLICATIVE, gr_wgsl_parse_unary), ADDITIVE, parse_multiplicative);
}

static gr_wgsl_expr *parse_shift(gr_wgsl_front *f) { return parse_shift_after(f, gr_wgsl_parse_unary(f)); }

/* relational: one comparison at most. */
static gr_wgsl_expr *parse_relational_after(gr_wgsl_front *f, gr_wgsl_expr *unary) {
    gr_wgsl_op op;
    gr_wgsl_expr *e = parse_shift_after(f, unary);
    if (!e || next_level(f, &op) != RELATIONAL) return e;
    uint32_t at = gr_wgsl_peek(f)->offset;
    f->pos++;
    return binary(f, op, at, e, parse_shift(f));
}

static gr_wgsl_expr *parse_relational(gr_wgsl_front *f) { return parse_relational_after(f, gr_wgsl_parse_unary(f)); }

/* A chain of one single operator among & | ^ or && ||. */
static gr_wgsl_expr *parse_same_op(gr_wgsl_front *f, gr_wgsl_expr *e, level lv, gr_wgsl_expr *(*operand)(gr_wgsl_front *)) {
    gr_wgsl_op first, op;
    if (!e || next_level(f, &first) != lv) return e;
    while (e && next_level(f, &op) == lv && op == first) {
        uint32_t at = gr_wgsl_peek(f)->offset;
        f->pos++;
        e = binary(f, op, at, e, operand(f));
    }
    return e;
}

/* Every recursion passes gr_wgsl_parse_unary, which guards the depth. */
gr_wgsl_expr *gr_wgsl_parse_expr(gr_wgsl_front *f) {
    gr_wgsl_op op;
    gr_wgsl_expr *e = gr_wgsl_parse_unary(f);
    if (e && next_level(f, &op) == BITWISE) e = parse_same_op(f, e, BITWISE, gr_wgsl_parse_unary);
    else e = parse_same_op(f, parse_relational_after(f, e), LOGICAL, parse_relational);
    if (!e || next_level(f, &op) == LEVEL_NONE) return e;
    gr_str found = shown(f, gr_wgsl_peek(f));
    f->syntax_errors++;
    gr_wgsl_error(f, GR_D_WGSL_SYNTAX, gr_wgsl_peek(f)->offset, "put parentheses around one of them",
                  "the operator '%.*s' cannot be mixed with the ones before it without parentheses", GR_STR_ARG(found));
    return NULL;
}

/* ---------------------------------------------------------------- attributes */

static gr_wgsl_attr_kind attr_kind(gr_str name) {
    static const struct { const char *name; uint8_t kind; } table[] = {
        {"align", GR_WA_ALIGN},           {"binding", GR_WA_BINDING},   {"builtin", GR_WA_BUILTIN},
        {"compute", GR_WA_COMPUTE},       {"const", GR_WA_CONST},       {"diagnostic", GR_WA_DIAGNOSTIC},
        {"group", GR_WA_GROUP},           {"id", GR_WA_ID},             {"must_use", GR_WA_MUST_USE},
        {"size", GR_WA_SIZE},             {"workgroup_size", GR_WA_WORKGROUP_SIZE},
        {"vertex", GR_WA_STAGE_IO},       {"fragment", GR_WA_STAGE_IO}, {"location", GR_WA_STAGE_IO},
        {"interpolate", GR_WA_STAGE_IO},  {"invariant", GR_WA_STAGE_IO}, {"blend_src", GR_WA_STAGE_IO},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (gr_str_eqz(name, table[i].name)) return (gr_wgsl_attr_kind)table[i].kind;
    return GR_WA_NONE;
}

/* (severity, rule) with rule = name or name.name */
static bool parse_filter(gr_wgsl_front *f, gr_wgsl_attr *a) {
    gr_str name;
    uint32_t offset;
    a->has_parens = true;
    if (!gr_wgsl_expect(f, GR_TK_LPAREN, "after diagnostic")) return false;
    a->arg = GR_NEW_N(f->arena, gr_wgsl_expr *, 1);
    if (!a->arg) return gr_wgsl_oom(f);
    a->arg[0] = gr_wgsl_new_expr(f, GR_WE_IDENT, gr_wgsl_peek(f)->offset);
    a->arg_n = 1;
    if (!a->arg[0] || !gr_wgsl_expect_name(f, "a severity", &a->arg[0]->ident.name, &offset)) return false;
    a->arg[0]->end = f->tok[f->pos - 1].end;
    if (!gr_wgsl_expect(f, GR_TK_COMMA, "after the severity")) return false;
    if (!gr_wgsl_expect_name(f, "a diagnostic rule", &a->rule, &offset)) return false;
    if (gr_wgsl_accept(f, GR_TK_DOT)) {
        if (!gr_wgsl_expect_name(f, "a diagnostic rule", &name, &offset)) return false;
        a->rule = gr_wgsl_slice(f, (uint32_t)(a->rule.p - f->m->text.p), f->tok[f->pos - 1].end);
    }
    gr_wgsl_accept(f, GR_TK_COMMA);
    return gr_wgsl_expect(f, GR_TK_RPAREN, "after the diagnostic rule");
}

static bool parse_attr(gr_wgsl_front *f, gr_wgsl_attr *a) {
    const gr_wgsl_tok *t = gr_wgsl_peek(f);
    a->offset = f->tok[f->pos - 1].offset;
    if (t->kind != GR_TK_IDENT && t->kind != GR_TK_const && t->kind != GR_TK_diagnostic)
        return gr_wgsl_syntax(f, "expected an attribute name after '@'");
    a->name = gr_wgsl_slice(f, t->offset, t->end);
    a->kind = attr_kind(a->name);
    if (a->kind == GR_WA_NONE) {
        f->syntax_errors++;
        return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, t->offset, NULL, "unknown attribute '@%.*s'", GR_STR_ARG(a->name));
    }
    f->pos++;
    bool ok = true;
    if (a->kind == GR_WA_DIAGNOSTIC) {
        ok = parse_filter(f, a);
    } else if (gr_wgsl_accept(f, GR_TK_LPAREN)) {
        expr_vec v = {0};
        a->has_parens = true;
        ok = parse_list(f, GR_TK_RPAREN, "after the arguments of an attribute", &v);
        a->arg = v.v;
        a->arg_n = v.n;
    }
    a->end = f->tok[f->pos - 1].end;
    return ok;
}

bool gr_wgsl_parse_attrs(gr_wgsl_front *f, gr_wgsl_attr **out, uint32_t *n) {
    GR_VEC(gr_wgsl_attr) v = {0};
    *out = NULL;
    *n = 0;
    while (gr_wgsl_accept(f, GR_TK_AT)) {
        gr_wgsl_attr a = {0}, *p;
        if (!parse_attr(f, &a)) return false;
        p = GR_PUSH(f->arena, &v);
        if (!p) return gr_wgsl_oom(f);
        *p = a;
    }
    *out = v.v;
    *n = v.n;
    return true;
}

const gr_wgsl_attr *gr_wgsl_find_attr(const gr_wgsl_attr *v, uint32_t n, gr_wgsl_attr_kind k) {
    for (uint32_t i = 0; i < n; i++)
        if (v[i].kind == k) return &v[i];
    return NULL;
}
