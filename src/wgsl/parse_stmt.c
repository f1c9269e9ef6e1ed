/* Parser: statements. After an error in a statement the parser skips to its end and goes on. */
#include "wgsl/wgsl_int.h"

typedef GR_VEC(gr_wgsl_stmt *) stmt_vec;

static gr_wgsl_stmt *new_stmt(gr_wgsl_front *f, gr_wgsl_stmt_kind k) {
    gr_wgsl_stmt *s = GR_NEW(f->arena, gr_wgsl_stmt);
    if (!s) {
        gr_wgsl_oom(f);
        return NULL;
    }
    s->kind = k;
    s->offset = gr_wgsl_peek(f)->offset;
    return s;
}

static gr_wgsl_stmt *close_stmt(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    s->end = f->pos ? f->tok[f->pos - 1].end : 0;
    return s;
}

/* Skips to behind the next ';' of this nesting, or to its closing '}'. */
static void recover(gr_wgsl_front *f) {
    uint32_t depth = 0;
    for (; !gr_wgsl_is(f, GR_TK_EOF); f->pos++) {
        uint32_t k = gr_wgsl_peek(f)->kind;
        if (k == GR_TK_LBRACE) depth++;
        if (k == GR_TK_RBRACE && depth-- == 0) return;
        if ((k == GR_TK_SEMICOLON || k == GR_TK_RBRACE) && depth == 0) {
            f->pos++;
            return;
        }
    }
}

static gr_wgsl_stmt *parse_statement(gr_wgsl_front *f, gr_wgsl_attr *attr, uint32_t attr_n);

/* Statements up to '}' into v, or up to `continuing` in the body of a loop. In a continuing block `break if` ends
 * the list and is put into *break_if. */
static bool parse_statements(gr_wgsl_front *f, stmt_vec *v, gr_wgsl_expr **break_if, bool loop_body) {
    while (!gr_wgsl_is(f, GR_TK_RBRACE) && !gr_wgsl_is(f, GR_TK_EOF)) {
        if (f->oom || f->syntax_errors >= GR_WGSL_MAX_SYNTAX_ERRORS) return false;
        if (loop_body && gr_wgsl_is(f, GR_TK_continuing)) return true;
        if (gr_wgsl_is(f, GR_TK_break) && gr_wgsl_peek_at(f, 1)->kind == GR_TK_if) {
            if (!break_if) {
                gr_wgsl_syntax(f, "'break if' can only end a continuing block");
                recover(f);
                continue;
            }
            f->pos += 2;
            *break_if = gr_wgsl_parse_expr(f);
            return *break_if && gr_wgsl_expect(f, GR_TK_SEMICOLON, "after 'break if'");
        }
        gr_wgsl_attr *attr;
        uint32_t attr_n, start = f->pos;
        gr_wgsl_stmt *s = NULL, **p;
        if (gr_wgsl_parse_attrs(f, &attr, &attr_n)) s = parse_statement(f, attr, attr_n);
        if (!s) {
            if (f->pos == start) f->pos++;
            recover(f);
            continue;
        }
        p = GR_PUSH(f->arena, v);
        if (!p) return gr_wgsl_oom(f);
        *p = s;
    }
    return true;
}

/* One more level of statements. */
static bool nest(gr_wgsl_front *f) {
    if (f->stmt_depth >= GR_WGSL_MAX_STMT_DEPTH) {
        f->syntax_errors = GR_WGSL_MAX_SYNTAX_ERRORS;
        return gr_wgsl_error(f, GR_D_WGSL_TOO_DEEP, gr_wgsl_peek(f)->offset, "move the inner part into a function",
                             "statements nest deeper than %d levels", GR_WGSL_MAX_STMT_DEPTH);
    }
    f->stmt_depth++;
    return true;
}

/* A block also counts as a level of the parser. */
static bool enter_block(gr_wgsl_front *f) {
    if (!nest(f)) return false;
    if (gr_wgsl_enter(f)) return true;
    f->stmt_depth--;
    return false;
}

static void leave_block(gr_wgsl_front *f) {
    f->stmt_depth--;
    gr_wgsl_leave(f);
}

/* attributes { statements }; break_if as above, NULL outside of continuing blocks. */
static gr_wgsl_stmt *parse_block_with(gr_wgsl_front *f, gr_wgsl_expr **break_if) {
    gr_wgsl_stmt *s = new_stmt(f, GR_WS_BLOCK);
    stmt_vec v = {0};
    if (!s || !gr_wgsl_parse_attrs(f, &s->attr, &s->attr_n)) return NULL;
    if (!gr_wgsl_expect(f, GR_TK_LBRACE, "to open a block") || !enter_block(f)) return NULL;
    bool ok = parse_statements(f, &v, break_if, false);
    leave_block(f);
    if (!ok || !gr_wgsl_expect(f, GR_TK_RBRACE, "to close a block")) return NULL;
    s->block.v = v.v;
    s->block.n = v.n;
    return close_stmt(f, s);
}

gr_wgsl_stmt *gr_wgsl_parse_block(gr_wgsl_front *f) { return parse_block_with(f, NULL); }

static gr_wgsl_op compound_op(uint32_t k) {
    switch (k) {
    case GR_TK_PLUS_EQ: return GR_WO_ADD;
    case GR_TK_MINUS_EQ: return GR_WO_SUB;
    case GR_TK_STAR_EQ: return GR_WO_MUL;
    case GR_TK_SLASH_EQ: return GR_WO_DIV;
    case GR_TK_PERCENT_EQ: return GR_WO_MOD;
    case GR_TK_AMP_EQ: return GR_WO_AND;
    case GR_TK_PIPE_EQ: return GR_WO_OR;
    case GR_TK_CARET_EQ: return GR_WO_XOR;
    case GR_TK_SHL_EQ: return GR_WO_SHL;
    case GR_TK_SHR_EQ: return GR_WO_SHR;
    default: return GR_WO_NONE;
    }
}

/* Assignment, increment, call: what may also stand in a for header. No semicolon. */
static gr_wgsl_stmt *parse_simple(gr_wgsl_front *f) {
    gr_wgsl_stmt *s = new_stmt(f, GR_WS_ASSIGN);
    const gr_wgsl_tok *next = gr_wgsl_peek_at(f, 1);
    if (!s) return NULL;
    if (gr_wgsl_is(f, GR_TK_IDENT) && (next->kind == GR_TK_LPAREN || (next->kind == GR_TK_LT && next->template_mark))) {
        s->kind = GR_WS_CALL;
        s->expr = gr_wgsl_parse_unary(f);
        if (!s->expr) return NULL;
        if (s->expr->kind != GR_WE_CALL) {
            gr_wgsl_syntax(f, "expected a call to stand as a statement");
            return NULL;
        }
        return close_stmt(f, s);
    }
    if (gr_wgsl_accept(f, GR_TK_UNDERSCORE)) {
        if (!gr_wgsl_expect(f, GR_TK_ASSIGN, "after '_'")) return NULL;
        s->assign.rhs = gr_wgsl_parse_expr(f);
        return s->assign.rhs ? close_stmt(f, s) : NULL;
    }
    s->assign.lhs = gr_wgsl_parse_lhs(f);
    if (!s->assign.lhs) return NULL;
    uint32_t k = gr_wgsl_peek(f)->kind;
    if (k == GR_TK_PLUS_PLUS || k == GR_TK_MINUS_MINUS) {
        s->kind = k == GR_TK_PLUS_PLUS ? GR_WS_INCREMENT : GR_WS_DECREMENT;
        f->pos++;
        return close_stmt(f, s);
    }
    s->assign.op = compound_op(k);
    if (s->assign.op != GR_WO_NONE) f->pos++;
    else if (!gr_wgsl_expect(f, GR_TK_ASSIGN, "for an assignment")) return NULL;
    s->assign.rhs = gr_wgsl_parse_expr(f);
    return s->assign.rhs ? close_stmt(f, s) : NULL;
}

static gr_wgsl_stmt *parse_local_decl(gr_wgsl_front *f) {
    gr_wgsl_stmt *s = new_stmt(f, GR_WS_DECL);
    if (!s) return NULL;
    s->decl = gr_wgsl_parse_variable(f, true);
    return s->decl ? close_stmt(f, s) : NULL;
}

static bool at_local_decl(gr_wgsl_front *f) {
    return gr_wgsl_is(f, GR_TK_var) || gr_wgsl_is(f, GR_TK_let) || gr_wgsl_is(f, GR_TK_const);
}

static gr_wgsl_stmt *close_chain(gr_wgsl_front *f, gr_wgsl_stmt *first, uint32_t depth) {
    f->stmt_depth = depth;
    return close_stmt(f, first);
}

static gr_wgsl_stmt *parse_if(gr_wgsl_front *f) {
    gr_wgsl_stmt *first = NULL, **link = &first;
    uint32_t depth = f->stmt_depth;
    do {
        gr_wgsl_stmt *s = new_stmt(f, GR_WS_IF);
        if (!s) return NULL;
        f->pos++;
        s->branch.cond = gr_wgsl_parse_expr(f);
        if (!s->branch.cond || !(s->branch.then = gr_wgsl_parse_block(f))) return NULL;
        close_stmt(f, s);
        *link = s;
        link = &s->branch.otherwise;
        if (!gr_wgsl_accept(f, GR_TK_else)) return close_chain(f, first, depth);
    } while (gr_wgsl_is(f, GR_TK_if) && nest(f));
    *link = gr_wgsl_parse_block(f);
    return *link ? close_chain(f, first, depth) : NULL;
}

static bool parse_selectors(gr_wgsl_front *f, gr_wgsl_case *c) {
    GR_VEC(gr_wgsl_expr *) v = {0};
    do {
        if (v.n && (gr_wgsl_is(f, GR_TK_COLON) || gr_wgsl_is(f, GR_TK_LBRACE) || gr_wgsl_is(f, GR_TK_AT))) break;
        gr_wgsl_expr *e = NULL, **p;
        if (gr_wgsl_accept(f, GR_TK_default)) c->has_default = true;
        else if (!(e = gr_wgsl_parse_expr(f))) return false;
        p = GR_PUSH(f->arena, &v);
        if (!p) return gr_wgsl_oom(f);
        *p = e;
    } while (gr_wgsl_accept(f, GR_TK_COMMA));
    c->selector = v.v;
    c->selector_n = v.n;
    return true;
}

static gr_wgsl_stmt *parse_switch(gr_wgsl_front *f) {
    gr_wgsl_stmt *s = new_stmt(f, GR_WS_SWITCH);
    GR_VEC(gr_wgsl_case) v = {0};
    if (!s) return NULL;
    f->pos++;
    s->select.cond = gr_wgsl_parse_expr(f);
    if (!s->select.cond || !gr_wgsl_parse_attrs(f, &s->select.body_attr, &s->select.body_attr_n)) return NULL;
    if (!gr_wgsl_expect(f, GR_TK_LBRACE, "to open a switch") || !nest(f)) return NULL;
    bool ok = true;
    while (ok && !gr_wgsl_is(f, GR_TK_RBRACE)) {
        gr_wgsl_case c = {.offset = gr_wgsl_peek(f)->offset}, *p;
        if (gr_wgsl_accept(f, GR_TK_case)) ok = parse_selectors(f, &c);
        else if (gr_wgsl_accept(f, GR_TK_default)) c.has_default = c.spelled_default = true;
        else ok = gr_wgsl_syntax(f, "expected 'case' or 'default' in a switch");
        if (ok) gr_wgsl_accept(f, GR_TK_COLON);
        ok = ok && (c.body = gr_wgsl_parse_block(f)) != NULL;
        p = ok ? GR_PUSH(f->arena, &v) : NULL;
        if (ok && !p) ok = gr_wgsl_oom(f);
        if (p) *p = c;
    }
    f->stmt_depth--;
    if (!ok || !gr_wgsl_expect(f, GR_TK_RBRACE, "to close a switch")) return NULL;
    s->select.v = v.v;
    s->select.n = v.n;
    return close_stmt(f, s);
}

static gr_wgsl_stmt *parse_loop(gr_wgsl_front *f) {
    gr_wgsl_stmt *s = new_stmt(f, GR_WS_LOOP);
    if (!s) return NULL;
    f->pos++;
    gr_wgsl_stmt *body = new_stmt(f, GR_WS_BLOCK);
    stmt_vec v = {0};
    if (!body || !gr_wgsl_parse_attrs(f, &body->attr, &body->attr_n)) return NULL;
    if (!gr_wgsl_expect(f, GR_TK_LBRACE, "to open a loop") || !enter_block(f)) return NULL;
    bool ok = parse_statements(f, &v, NULL, true);
    if (ok && gr_wgsl_accept(f, GR_TK_continuing))
        ok = (s->loop.continuing = parse_block_with(f, &s->loop.break_if)) != NULL;
    leave_block(f);
    if (!ok || !gr_wgsl_expect(f, GR_TK_RBRACE, "to close a loop")) return NULL;
    body->block.v = v.v;
    body->block.n = v.n;
    s->loop.body = close_stmt(f, body);
    return close_stmt(f, s);
}

static gr_wgsl_stmt *parse_for(gr_wgsl_front *f) {
    gr_wgsl_stmt *s = new_stmt(f, GR_WS_FOR);
    if (!s) return NULL;
    f->pos++;
    if (!gr_wgsl_expect(f, GR_TK_LPAREN, "after 'for'")) return NULL;
    if (!gr_wgsl_is(f, GR_TK_SEMICOLON) && !(s->loop_for.init = at_local_decl(f) ? parse_local_decl(f) : parse_simple(f)))
        return NULL;
    if (!gr_wgsl_expect(f, GR_TK_SEMICOLON, "after the initializer of a for loop")) return NULL;
    if (!gr_wgsl_is(f, GR_TK_SEMICOLON) && !(s->loop_for.cond = gr_wgsl_parse_expr(f))) return NULL;
    if (!gr_wgsl_expect(f, GR_TK_SEMICOLON, "after the condition of a for loop")) return NULL;
    if (!gr_wgsl_is(f, GR_TK_RPAREN) && !(s->loop_for.update = parse_simple(f))) return NULL;
    if (!gr_wgsl_expect(f, GR_TK_RPAREN, "after the header of a for loop")) return NULL;
    s->loop_for.body = gr_wgsl_parse_block(f);
    return s->loop_for.body ? close_stmt(f, s) : NULL;
}

static gr_wgsl_stmt *parse_while(gr_wgsl_front *f) {
    gr_wgsl_stmt *s = new_stmt(f, GR_WS_WHILE);
    if (!s) return NULL;
    f->pos++;
    s->loop_while.cond = gr_wgsl_parse_expr(f);
    if (!s->loop_while.cond || !(s->loop_while.body = gr_wgsl_parse_block(f))) return NULL;
    return close_stmt(f, s);
}

/* return, break, continue, discard, const_assert: keyword, expression where it takes one. */
static gr_wgsl_stmt *parse_keyword(gr_wgsl_front *f, gr_wgsl_stmt_kind k) {
    gr_wgsl_stmt *s = new_stmt(f, k);
    if (!s) return NULL;
    f->pos++;
    bool wants = k == GR_WS_CONST_ASSERT || (k == GR_WS_RETURN && !gr_wgsl_is(f, GR_TK_SEMICOLON));
    if (wants && !(s->expr = gr_wgsl_parse_expr(f))) return NULL;
    return close_stmt(f, s);
}

static gr_wgsl_stmt *parse_unattributed(gr_wgsl_front *f) {
    switch (gr_wgsl_peek(f)->kind) {
    case GR_TK_return: return parse_keyword(f, GR_WS_RETURN);
    case GR_TK_break: return parse_keyword(f, GR_WS_BREAK);
    case GR_TK_continue: return parse_keyword(f, GR_WS_CONTINUE);
    case GR_TK_discard: return parse_keyword(f, GR_WS_DISCARD);
    case GR_TK_const_assert: return parse_keyword(f, GR_WS_CONST_ASSERT);
    case GR_TK_var:
    case GR_TK_let:
    case GR_TK_const: return parse_local_decl(f);
    case GR_TK_continuing:
        gr_wgsl_syntax(f, "'continuing' can only end the body of a loop");
        return NULL;
    case GR_TK_else:
        gr_wgsl_syntax(f, "'else' without an 'if' before it");
        return NULL;
    default: return parse_simple(f);
    }
}

/* Compound statements; NULL with *other when the statement is no compound one. */
static gr_wgsl_stmt *parse_compound(gr_wgsl_front *f, bool *other) {
    switch (gr_wgsl_peek(f)->kind) {
    case GR_TK_LBRACE: return gr_wgsl_parse_block(f);
    case GR_TK_if: return parse_if(f);
    case GR_TK_switch: return parse_switch(f);
    case GR_TK_loop: return parse_loop(f);
    case GR_TK_for: return parse_for(f);
    case GR_TK_while: return parse_while(f);
    default: *other = true; return NULL;
    }
}

static gr_wgsl_stmt *parse_statement(gr_wgsl_front *f, gr_wgsl_attr *attr, uint32_t attr_n) {
    bool other = false;
    if (!attr_n && gr_wgsl_is(f, GR_TK_SEMICOLON)) {
        gr_wgsl_stmt *e = new_stmt(f, GR_WS_EMPTY);
        f->pos++;
        return e ? close_stmt(f, e) : NULL;
    }
    bool block = gr_wgsl_is(f, GR_TK_LBRACE); /* counts itself */
    uint32_t depth = f->stmt_depth;
    if (!block && !nest(f)) return NULL;
    gr_wgsl_stmt *s = parse_compound(f, &other);
    if (other && attr_n) {
        gr_wgsl_syntax(f, "expected a block, if, switch, loop, for or while after an attribute");
    } else if (other) {
        s = parse_unattributed(f);
        if (s && !gr_wgsl_expect(f, GR_TK_SEMICOLON, "after a statement")) s = NULL;
    }
    f->stmt_depth = depth;
    if (s && attr_n) {
        s->attr = attr;
        s->attr_n = attr_n;
    }
    return s;
}
