/* Canonical text of a module: one statement a line, four spaces, names and numbers as written. */
#include "wgsl/wgsl_int.h"

typedef struct printer {
    gr_buf *b;
    uint32_t indent;
} printer;

static void put(printer *p, const char *s) { gr_buf_puts(p->b, s); }

static void line(printer *p) {
    gr_buf_putc(p->b, '\n');
    for (uint32_t i = 0; i < p->indent; i++) put(p, "    ");
}

static void expr(printer *p, const gr_wgsl_expr *e);

static void list(printer *p, gr_wgsl_expr *const *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (i) put(p, ", ");
        if (v[i]) expr(p, v[i]);
        else put(p, "default");
    }
}

static void template_list(printer *p, gr_wgsl_expr *const *v, uint32_t n) {
    if (!n) return;
    put(p, "<");
    list(p, v, n);
    put(p, ">");
}

/* Operators stand between spaces, so that no two ever join. */
static void expr(printer *p, const gr_wgsl_expr *e) {
    switch (e->kind) {
    case GR_WE_LITERAL: gr_buf_str(p->b, e->literal.text); break;
    case GR_WE_IDENT:
        gr_buf_str(p->b, e->ident.name);
        template_list(p, e->ident.targ, e->ident.targ_n);
        break;
    case GR_WE_PAREN:
        put(p, "(");
        expr(p, e->unary.a);
        put(p, ")");
        break;
    case GR_WE_UNARY:
        put(p, gr_wgsl_op_text(e->unary.op));
        if (e->unary.op == GR_WO_NEG && e->unary.a->kind == GR_WE_UNARY && e->unary.a->unary.op == GR_WO_NEG) put(p, " ");
        expr(p, e->unary.a);
        break;
    case GR_WE_ADDRESS_OF:
        put(p, e->unary.a->kind == GR_WE_ADDRESS_OF ? "& " : "&");
        expr(p, e->unary.a);
        break;
    case GR_WE_DEREF:
        if (!e->implicit) put(p, "*");
        expr(p, e->unary.a);
        break;
    case GR_WE_LOAD: expr(p, e->unary.a); break;
    case GR_WE_BINARY:
        expr(p, e->binary.a);
        gr_buf_printf(p->b, " %s ", gr_wgsl_op_text(e->binary.op));
        expr(p, e->binary.b);
        break;
    case GR_WE_INDEX:
        expr(p, e->index.base);
        put(p, "[");
        expr(p, e->index.index);
        put(p, "]");
        break;
    case GR_WE_MEMBER:
        expr(p, e->member.base);
        put(p, ".");
        gr_buf_str(p->b, e->member.name);
        break;
    case GR_WE_CALL:
        expr(p, e->call.callee);
        put(p, "(");
        list(p, e->call.arg, e->call.arg_n);
        put(p, ")");
        break;
    default: break;
    }
}

static void attrs(printer *p, const gr_wgsl_attr *a, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        gr_buf_printf(p->b, "@%.*s", GR_STR_ARG(a[i].name));
        if (a[i].has_parens) {
            put(p, "(");
            list(p, a[i].arg, a[i].arg_n);
            if (a[i].kind == GR_WA_DIAGNOSTIC) gr_buf_printf(p->b, ", %.*s", GR_STR_ARG(a[i].rule));
            put(p, ")");
        }
        put(p, " ");
    }
}

static void variable(printer *p, const gr_wgsl_decl *d) {
    put(p, d->kind == GR_WD_VAR ? "var" : d->kind == GR_WD_LET ? "let" : d->kind == GR_WD_OVERRIDE ? "override" : "const");
    template_list(p, d->targ, d->targ_n);
    gr_buf_printf(p->b, " %.*s", GR_STR_ARG(d->name));
    if (d->type_expr) {
        put(p, ": ");
        expr(p, d->type_expr);
    }
    if (d->init) {
        put(p, " = ");
        expr(p, d->init);
    }
}

static void stmt(printer *p, const gr_wgsl_stmt *s);

static void statements(printer *p, const gr_wgsl_stmt *s) {
    for (uint32_t i = 0; i < s->block.n; i++) {
        line(p);
        stmt(p, s->block.v[i]);
    }
}

static void block(printer *p, const gr_wgsl_stmt *s) {
    attrs(p, s->attr, s->attr_n);
    put(p, "{");
    p->indent++;
    statements(p, s);
    p->indent--;
    line(p);
    put(p, "}");
}

static void simple(printer *p, const gr_wgsl_stmt *s) {
    switch (s->kind) {
    case GR_WS_DECL: variable(p, s->decl); break;
    case GR_WS_CALL: expr(p, s->expr); break;
    case GR_WS_INCREMENT:
    case GR_WS_DECREMENT:
        expr(p, s->assign.lhs);
        put(p, s->kind == GR_WS_INCREMENT ? "++" : "--");
        break;
    default:
        if (s->assign.lhs) expr(p, s->assign.lhs);
        else put(p, "_");
        gr_buf_printf(p->b, " %s= ", gr_wgsl_op_text(s->assign.op));
        expr(p, s->assign.rhs);
        break;
    }
}

static void if_chain(printer *p, const gr_wgsl_stmt *s) {
    for (;; put(p, " else ")) {
        put(p, "if ");
        expr(p, s->branch.cond);
        put(p, " ");
        block(p, s->branch.then);
        s = s->branch.otherwise;
        if (!s || s->kind != GR_WS_IF) break;
    }
    if (s) {
        put(p, " else ");
        block(p, s);
    }
}

static void switch_stmt(printer *p, const gr_wgsl_stmt *s) {
    put(p, "switch ");
    expr(p, s->select.cond);
    put(p, " ");
    attrs(p, s->select.body_attr, s->select.body_attr_n);
    put(p, "{");
    p->indent++;
    for (uint32_t i = 0; i < s->select.n; i++) {
        const gr_wgsl_case *c = &s->select.v[i];
        line(p);
        if (c->spelled_default) put(p, "default: ");
        else {
            put(p, "case ");
            list(p, c->selector, c->selector_n);
            put(p, ": ");
        }
        block(p, c->body);
    }
    p->indent--;
    line(p);
    put(p, "}");
}

static void loop_stmt(printer *p, const gr_wgsl_stmt *s) {
    put(p, "loop ");
    attrs(p, s->loop.body->attr, s->loop.body->attr_n);
    put(p, "{");
    p->indent++;
    statements(p, s->loop.body);
    if (s->loop.continuing) {
        line(p);
        put(p, "continuing ");
        attrs(p, s->loop.continuing->attr, s->loop.continuing->attr_n);
        put(p, "{");
        p->indent++;
        statements(p, s->loop.continuing);
        if (s->loop.break_if) {
            line(p);
            put(p, "break if ");
            expr(p, s->loop.break_if);
            put(p, ";");
        }
        p->indent--;
        line(p);
        put(p, "}");
    }
    p->indent--;
    line(p);
    put(p, "}");
}

static void for_stmt(printer *p, const gr_wgsl_stmt *s) {
    put(p, "for (");
    if (s->loop_for.init) simple(p, s->loop_for.init);
    put(p, ";");
    if (s->loop_for.cond) {
        put(p, " ");
        expr(p, s->loop_for.cond);
    }
    put(p, ";");
    if (s->loop_for.update) {
        put(p, " ");
        simple(p, s->loop_for.update);
    }
    put(p, ") ");
    block(p, s->loop_for.body);
}

static void keyword(printer *p, const char *word, const gr_wgsl_expr *e) {
    put(p, word);
    if (e) {
        put(p, " ");
        expr(p, e);
    }
    put(p, ";");
}

static void stmt(printer *p, const gr_wgsl_stmt *s) {
    if (s->kind != GR_WS_BLOCK) attrs(p, s->attr, s->attr_n);
    switch (s->kind) {
    case GR_WS_BLOCK: block(p, s); break;
    case GR_WS_IF: if_chain(p, s); break;
    case GR_WS_SWITCH: switch_stmt(p, s); break;
    case GR_WS_LOOP: loop_stmt(p, s); break;
    case GR_WS_FOR: for_stmt(p, s); break;
    case GR_WS_WHILE:
        put(p, "while ");
        expr(p, s->loop_while.cond);
        put(p, " ");
        block(p, s->loop_while.body);
        break;
    case GR_WS_BREAK: keyword(p, "break", NULL); break;
    case GR_WS_CONTINUE: keyword(p, "continue", NULL); break;
    case GR_WS_DISCARD: keyword(p, "discard", NULL); break;
    case GR_WS_RETURN: keyword(p, "return", s->expr); break;
    case GR_WS_CONST_ASSERT: keyword(p, "const_assert", s->expr); break;
    case GR_WS_EMPTY: put(p, ";"); break;
    default:
        simple(p, s);
        put(p, ";");
        break;
    }
}

static void struct_decl(printer *p, const gr_wgsl_decl *d) {
    gr_buf_printf(p->b, "struct %.*s {", GR_STR_ARG(d->name));
    p->indent++;
    for (uint32_t i = 0; i < d->type->member_n; i++) {
        const gr_wgsl_member *m = &d->type->member[i];
        line(p);
        attrs(p, m->attr, m->attr_n);
        gr_buf_printf(p->b, "%.*s: ", GR_STR_ARG(m->name));
        expr(p, m->type_expr);
        put(p, ",");
    }
    p->indent--;
    put(p, "\n}\n");
}

static void function_decl(printer *p, const gr_wgsl_decl *d) {
    const gr_wgsl_function *fn = d->function;
    gr_buf_printf(p->b, "fn %.*s(", GR_STR_ARG(d->name));
    for (uint32_t i = 0; i < fn->param_n; i++) {
        if (i) put(p, ", ");
        attrs(p, fn->param[i]->attr, fn->param[i]->attr_n);
        gr_buf_printf(p->b, "%.*s: ", GR_STR_ARG(fn->param[i]->name));
        expr(p, fn->param[i]->type_expr);
    }
    put(p, ") ");
    if (fn->result_expr) {
        put(p, "-> ");
        attrs(p, fn->result_attr, fn->result_attr_n);
        expr(p, fn->result_expr);
        put(p, " ");
    }
    block(p, fn->body);
    put(p, "\n");
}

static void decl(printer *p, const gr_wgsl_decl *d) {
    attrs(p, d->attr, d->attr_n);
    switch (d->kind) {
    case GR_WD_STRUCT: struct_decl(p, d); break;
    case GR_WD_FUNCTION: function_decl(p, d); break;
    case GR_WD_ALIAS:
        gr_buf_printf(p->b, "alias %.*s = ", GR_STR_ARG(d->name));
        expr(p, d->type_expr);
        put(p, ";\n");
        break;
    case GR_WD_CONST_ASSERT:
        keyword(p, "const_assert", d->init);
        put(p, "\n");
        break;
    default:
        variable(p, d);
        put(p, ";\n");
        break;
    }
}

static void directive(printer *p, const gr_wgsl_directive *d) {
    gr_buf_str(p->b, d->keyword);
    if (gr_str_eqz(d->keyword, "diagnostic")) {
        gr_buf_printf(p->b, "(%.*s, %.*s);\n", GR_STR_ARG(d->name[0]), GR_STR_ARG(d->name[1]));
        return;
    }
    for (uint32_t i = 0; i < d->name_n; i++) gr_buf_printf(p->b, "%s %.*s", i ? "," : "", GR_STR_ARG(d->name[i]));
    put(p, ";\n");
}

void gr_wgsl_print(gr_buf *out, const gr_wgsl_module *m) {
    printer p = {.b = out};
    for (uint32_t i = 0; i < m->directive_n; i++) directive(&p, &m->directive[i]);
    for (uint32_t i = 0; i < m->decl_n; i++) {
        if (i || m->directive_n) put(&p, m->decl[i]->kind == GR_WD_FUNCTION || m->decl[i]->kind == GR_WD_STRUCT ? "\n" : "");
        decl(&p, m->decl[i]);
    }
}

void gr_wgsl_print_expr(gr_buf *out, const gr_wgsl_expr *e) {
    printer p = {.b = out};
    expr(&p, e);
}

static uint32_t print_leaves(gr_buf *out, const gr_wgsl_const *c, const gr_wgsl_type *t, uint32_t at) {
    const gr_wgsl_scalar s = gr_wgsl_const_leaf(c, at);
    if (gr_wgsl_is_scalar(t)) {
        if (t->kind == GR_WT_BOOL) gr_buf_puts(out, s.i ? "true" : "false");
        else if (gr_wgsl_is_float_kind(t->kind)) {
            size_t from = out->n;
            if (t->kind == GR_WT_F32) gr_buf_f32(out, (float)s.f);
            else gr_buf_f64(out, s.f);
            bool plain = true;
            for (size_t i = from; i < out->n; i++) plain &= out->p[i] != '.' && out->p[i] != 'e';
            if (plain) gr_buf_puts(out, ".0");
            gr_buf_puts(out, t->kind == GR_WT_F32 ? "f" : t->kind == GR_WT_F16 ? "h" : "");
        } else gr_buf_printf(out, "%lld%s", (long long)s.i, t->kind == GR_WT_U32 ? "u" : t->kind == GR_WT_I32 ? "i" : "");
        return at + 1;
    }
    gr_buf_printf(out, "%.*s(", GR_STR_ARG(t->text));
    uint32_t n = t->kind == GR_WT_STRUCT ? t->member_n : t->kind == GR_WT_ARRAY ? t->count : t->n;
    for (uint32_t i = 0; i < n && c->leaf; i++) {
        if (i) gr_buf_puts(out, ", ");
        at = print_leaves(out, c, t->kind == GR_WT_STRUCT ? t->member[i].type : t->kind == GR_WT_MAT ? t->column : t->elem, at);
    }
    gr_buf_puts(out, ")");
    return at;
}

void gr_wgsl_print_const(gr_buf *out, const gr_wgsl_const *c) { print_leaves(out, c, c->type, 0); }
