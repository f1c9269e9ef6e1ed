/* Parser: directives and declarations of a module. */
#include "wgsl/wgsl_int.h"

gr_wgsl_decl *gr_wgsl_new_decl(gr_wgsl_front *f, gr_wgsl_decl_kind k) {
    gr_wgsl_decl *d = GR_NEW(f->arena, gr_wgsl_decl);
    if (!d) {
        gr_wgsl_oom(f);
        return NULL;
    }
    d->kind = k;
    d->id = f->m->decl_ids++;
    d->start = d->offset = gr_wgsl_peek(f)->offset;
    return d;
}

static void close_decl(gr_wgsl_front *f, gr_wgsl_decl *d) { d->end = f->pos ? f->tok[f->pos - 1].end : 0; }

gr_wgsl_decl *gr_wgsl_parse_variable(gr_wgsl_front *f, bool local) {
    uint32_t k = gr_wgsl_peek(f)->kind;
    gr_wgsl_decl *d = gr_wgsl_new_decl(f, k == GR_TK_var        ? GR_WD_VAR
                                          : k == GR_TK_let      ? GR_WD_LET
                                          : k == GR_TK_override ? GR_WD_OVERRIDE
                                                                : GR_WD_CONST);
    if (!d) return NULL;
    d->module_scope = !local;
    f->pos++;
    if (k == GR_TK_var && gr_wgsl_is(f, GR_TK_LT) && gr_wgsl_peek(f)->template_mark &&
        !gr_wgsl_parse_template_list(f, &d->targ, &d->targ_n))
        return NULL;
    const char *what = k == GR_TK_var        ? "the name of a variable"
                       : k == GR_TK_let      ? "the name of a let"
                       : k == GR_TK_override ? "the name of an override"
                                             : "the name of a const";
    if (!gr_wgsl_expect_name(f, what, &d->name, &d->offset)) return NULL;
    if (gr_wgsl_accept(f, GR_TK_COLON) && !(d->type_expr = gr_wgsl_parse_type(f))) return NULL;
    if (gr_wgsl_accept(f, GR_TK_ASSIGN)) {
        if (!(d->init = gr_wgsl_parse_expr(f))) return NULL;
    } else if (d->kind == GR_WD_LET || d->kind == GR_WD_CONST) {
        gr_wgsl_syntax(f, "expected '=' and the value of a %s", d->kind == GR_WD_LET ? "let" : "const");
        return NULL;
    }
    close_decl(f, d);
    return d;
}

static gr_wgsl_decl *parse_alias(gr_wgsl_front *f) {
    gr_wgsl_decl *d = gr_wgsl_new_decl(f, GR_WD_ALIAS);
    f->pos++;
    if (!d || !gr_wgsl_expect_name(f, "the name of an alias", &d->name, &d->offset)) return NULL;
    if (!gr_wgsl_expect(f, GR_TK_ASSIGN, "after the name of an alias")) return NULL;
    return (d->type_expr = gr_wgsl_parse_type(f)) ? d : NULL;
}

static gr_wgsl_decl *parse_const_assert(gr_wgsl_front *f) {
    gr_wgsl_decl *d = gr_wgsl_new_decl(f, GR_WD_CONST_ASSERT);
    f->pos++;
    return d && (d->init = gr_wgsl_parse_expr(f)) ? d : NULL;
}

static bool parse_member(gr_wgsl_front *f, gr_wgsl_member *m) {
    if (!gr_wgsl_parse_attrs(f, &m->attr, &m->attr_n)) return false;
    if (!gr_wgsl_expect_name(f, "the name of a member", &m->name, &m->offset)) return false;
    if (!gr_wgsl_expect(f, GR_TK_COLON, "and a type after the name of a member")) return false;
    return (m->type_expr = gr_wgsl_parse_type(f)) != NULL;
}

static gr_wgsl_decl *parse_struct(gr_wgsl_front *f) {
    gr_wgsl_decl *d = gr_wgsl_new_decl(f, GR_WD_STRUCT);
    GR_VEC(gr_wgsl_member) v = {0};
    f->pos++;
    if (!d || !gr_wgsl_expect_name(f, "the name of a structure", &d->name, &d->offset)) return NULL;
    if (!gr_wgsl_expect(f, GR_TK_LBRACE, "to open a structure")) return NULL;
    while (!gr_wgsl_is(f, GR_TK_RBRACE)) {
        gr_wgsl_member m = {.index = v.n}, *p;
        if (!parse_member(f, &m)) return NULL;
        p = GR_PUSH(f->arena, &v);
        if (!p) {
            gr_wgsl_oom(f);
            return NULL;
        }
        *p = m;
        if (!gr_wgsl_accept(f, GR_TK_COMMA)) break;
    }
    if (!gr_wgsl_expect(f, GR_TK_RBRACE, "to close a structure")) return NULL;
    if (v.n == 0) {
        gr_wgsl_error(f, GR_D_WGSL_SYNTAX, d->offset, NULL, "the structure %.*s has no members", GR_STR_ARG(d->name));
        return NULL;
    }
    gr_wgsl_type *t = GR_NEW(f->arena, gr_wgsl_type);
    if (!t) {
        gr_wgsl_oom(f);
        return NULL;
    }
    t->kind = GR_WT_STRUCT;
    t->name = t->text = d->name;
    t->decl = d;
    t->member = v.v;
    t->member_n = v.n;
    d->type = t;
    return d;
}

static bool parse_params(gr_wgsl_front *f, gr_wgsl_function *fn) {
    GR_VEC(gr_wgsl_decl *) v = {0};
    while (!gr_wgsl_is(f, GR_TK_RPAREN)) {
        gr_wgsl_decl *d = gr_wgsl_new_decl(f, GR_WD_PARAM), **p;
        if (!d || !gr_wgsl_parse_attrs(f, &d->attr, &d->attr_n)) return false;
        if (!gr_wgsl_expect_name(f, "the name of a parameter", &d->name, &d->offset)) return false;
        if (!gr_wgsl_expect(f, GR_TK_COLON, "and a type after the name of a parameter")) return false;
        if (!(d->type_expr = gr_wgsl_parse_type(f))) return false;
        close_decl(f, d);
        p = GR_PUSH(f->arena, &v);
        if (!p) return gr_wgsl_oom(f);
        *p = d;
        if (!gr_wgsl_accept(f, GR_TK_COMMA)) break;
    }
    fn->param = v.v;
    fn->param_n = v.n;
    return gr_wgsl_expect(f, GR_TK_RPAREN, "after the parameters of a function");
}

static gr_wgsl_decl *parse_function(gr_wgsl_front *f) {
    gr_wgsl_decl *d = gr_wgsl_new_decl(f, GR_WD_FUNCTION);
    gr_wgsl_function *fn = GR_NEW(f->arena, gr_wgsl_function);
    f->pos++;
    if (!d || !fn) {
        gr_wgsl_oom(f);
        return NULL;
    }
    d->function = fn;
    fn->decl = d;
    if (!gr_wgsl_expect_name(f, "the name of a function", &d->name, &d->offset)) return NULL;
    if (!gr_wgsl_expect(f, GR_TK_LPAREN, "after the name of a function") || !parse_params(f, fn)) return NULL;
    if (gr_wgsl_accept(f, GR_TK_ARROW)) {
        if (!gr_wgsl_parse_attrs(f, &fn->result_attr, &fn->result_attr_n)) return NULL;
        if (!(fn->result_expr = gr_wgsl_parse_type(f))) return NULL;
    }
    return (fn->body = gr_wgsl_parse_block(f)) ? d : NULL;
}

/* A declaration after its attributes; *semicolon tells whether one must follow. */
static gr_wgsl_decl *parse_decl_kind(gr_wgsl_front *f, bool *semicolon) {
    *semicolon = true;
    switch (gr_wgsl_peek(f)->kind) {
    case GR_TK_const:
    case GR_TK_override:
    case GR_TK_var: return gr_wgsl_parse_variable(f, false);
    case GR_TK_alias: return parse_alias(f);
    case GR_TK_const_assert: return parse_const_assert(f);
    case GR_TK_struct: *semicolon = false; return parse_struct(f);
    case GR_TK_fn: *semicolon = false; return parse_function(f);
    case GR_TK_let:
        gr_wgsl_syntax(f, "module scope has const, override and var, not let");
        return NULL;
    case GR_TK_enable:
    case GR_TK_requires:
    case GR_TK_diagnostic:
        f->syntax_errors++;
        gr_wgsl_error(f, GR_D_WGSL_DIRECTIVE, gr_wgsl_peek(f)->offset, "move it to the top",
                      "directives must come before all declarations");
        return NULL;
    default: gr_wgsl_syntax(f, "expected a declaration"); return NULL;
    }
}

static gr_wgsl_decl *parse_decl(gr_wgsl_front *f) {
    gr_wgsl_attr *attr;
    uint32_t attr_n, start = gr_wgsl_peek(f)->offset;
    bool semicolon;
    if (!gr_wgsl_parse_attrs(f, &attr, &attr_n)) return NULL;
    gr_wgsl_decl *d = parse_decl_kind(f, &semicolon);
    if (!d) return NULL;
    if (semicolon && !gr_wgsl_expect(f, GR_TK_SEMICOLON, "after a declaration")) return NULL;
    d->attr = attr;
    d->attr_n = attr_n;
    d->start = start;
    d->module_scope = true;
    close_decl(f, d);
    return d;
}

/* To the next token that begins a declaration outside braces. */
static void recover(gr_wgsl_front *f) {
    uint32_t depth = 0;
    for (; !gr_wgsl_is(f, GR_TK_EOF); f->pos++) {
        uint32_t k = gr_wgsl_peek(f)->kind;
        if (depth == 0 && (k == GR_TK_fn || k == GR_TK_struct || k == GR_TK_override || k == GR_TK_alias)) return;
        if (depth == 0 && k == GR_TK_SEMICOLON) {
            f->pos++;
            return;
        }
        if (k == GR_TK_LBRACE) depth++;
        if (k == GR_TK_RBRACE && (depth == 0 || --depth == 0)) {
            f->pos++;
            return;
        }
    }
}

/* -------------------------------------------------------------- directives */

static bool parse_names(gr_wgsl_front *f, gr_wgsl_directive *d) {
    GR_VEC(gr_str) v = {0};
    do {
        if (v.n && gr_wgsl_is(f, GR_TK_SEMICOLON)) break;
        gr_str name, *p;
        uint32_t offset;
        if (!gr_wgsl_expect_name(f, "the name of a feature", &name, &offset)) return false;
        p = GR_PUSH(f->arena, &v);
        if (!p) return gr_wgsl_oom(f);
        *p = name;
    } while (gr_wgsl_accept(f, GR_TK_COMMA));
    d->name = v.v;
    d->name_n = v.n;
    return true;
}

static bool parse_filter(gr_wgsl_front *f, gr_wgsl_directive *d) {
    uint32_t offset;
    d->name = GR_NEW_N(f->arena, gr_str, 2);
    if (!d->name) return gr_wgsl_oom(f);
    d->name_n = 2;
    if (!gr_wgsl_expect(f, GR_TK_LPAREN, "after diagnostic")) return false;
    if (!gr_wgsl_expect_name(f, "a severity", &d->name[0], &offset)) return false;
    if (!gr_wgsl_expect(f, GR_TK_COMMA, "after the severity")) return false;
    if (!gr_wgsl_expect_name(f, "a diagnostic rule", &d->name[1], &offset)) return false;
    if (gr_wgsl_accept(f, GR_TK_DOT)) {
        gr_str second;
        if (!gr_wgsl_expect_name(f, "a diagnostic rule", &second, &offset)) return false;
        d->name[1].n = (size_t)(second.p + second.n - d->name[1].p);
    }
    gr_wgsl_accept(f, GR_TK_COMMA);
    return gr_wgsl_expect(f, GR_TK_RPAREN, "after the diagnostic rule");
}

static bool parse_directives(gr_wgsl_front *f) {
    GR_VEC(gr_wgsl_directive) v = {0};
    for (;;) {
        const gr_wgsl_tok *t = gr_wgsl_peek(f);
        if (t->kind != GR_TK_enable && t->kind != GR_TK_requires && t->kind != GR_TK_diagnostic) break;
        gr_wgsl_directive d = {.offset = t->offset, .keyword = gr_wgsl_slice(f, t->offset, t->end)}, *p;
        f->pos++;
        bool ok = t->kind == GR_TK_diagnostic ? parse_filter(f, &d) : parse_names(f, &d);
        if (!ok || !gr_wgsl_expect(f, GR_TK_SEMICOLON, "after a directive")) return false;
        d.end = f->tok[f->pos - 1].end;
        p = GR_PUSH(f->arena, &v);
        if (!p) return gr_wgsl_oom(f);
        *p = d;
    }
    f->m->directive = v.v;
    f->m->directive_n = v.n;
    return true;
}

bool gr_wgsl_parse_module(gr_wgsl_front *f) {
    GR_VEC(gr_wgsl_decl *) v = {0};
    uint32_t errors = f->diags->errors;
    if (!parse_directives(f)) recover(f);
    while (!gr_wgsl_is(f, GR_TK_EOF) && !f->oom && f->syntax_errors < GR_WGSL_MAX_SYNTAX_ERRORS) {
        if (gr_wgsl_accept(f, GR_TK_SEMICOLON)) continue;
        uint32_t start = f->pos;
        f->depth = f->stmt_depth = 0;
        gr_wgsl_decl *d = parse_decl(f), **p;
        if (!d) {
            if (f->pos == start) f->pos++;
            recover(f);
            continue;
        }
        p = GR_PUSH(f->arena, &v);
        if (!p) return gr_wgsl_oom(f);
        *p = d;
    }
    f->m->decl = v.v;
    f->m->decl_n = v.n;
    return !f->oom && f->diags->errors == errors;
}
