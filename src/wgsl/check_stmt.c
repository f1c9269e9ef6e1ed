/* Types of statements and local declarations. An error in one statement does not stop the next. */
#include "wgsl/wgsl_int.h"

static bool check_cond(gr_wgsl_front *f, gr_wgsl_expr **e, const char *what) {
    return gr_wgsl_check_value(f, e) && gr_wgsl_convert(f, *e, f->types.bool_, what);
}

bool gr_wgsl_check_assert(gr_wgsl_front *f, gr_wgsl_expr **e) {
    if (!check_cond(f, e, "the condition of const_assert")) return false;
    if ((*e)->stage != GR_WGSL_CONST)
        return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, (*e)->offset, NULL,
                             "the condition of const_assert must be a const-expression");
    return gr_wgsl_const_leaf((*e)->value, 0).i ||
           gr_wgsl_error(f, GR_D_WGSL_CONST_ASSERT, (*e)->offset, NULL, "the asserted condition is false");
}

/* --------------------------------------------------------- local declarations */

/* Initializer against the written type; fills decl->type. abstract_ok for const. */
bool gr_wgsl_check_init(gr_wgsl_front *f, gr_wgsl_decl *d, bool abstract_ok) {
    const gr_wgsl_type *t = NULL;
    bool ok = true;
    if (d->type_expr) ok = (t = gr_wgsl_check_type(f, d->type_expr)) != NULL;
    if (d->init) {
        if (!gr_wgsl_check_value(f, &d->init)) return false;
        if (!ok) return false;
        if (t) ok = gr_wgsl_convert(f, d->init, t, "the initializer");
        else if (!abstract_ok) ok = gr_wgsl_materialize(f, d->init);
        if (!t && ok) t = d->init->type;
    }
    if (ok) d->type = t;
    return ok;
}

static bool check_local_var(gr_wgsl_front *f, gr_wgsl_decl *d) {
    d->space = GR_WGSL_SPACE_FUNCTION;
    d->access = GR_WGSL_READ_WRITE;
    if (d->targ_n) {
        const gr_wgsl_expr *s = d->targ[0];
        if (s->kind != GR_WE_IDENT || !gr_str_eqz(s->ident.name, "function") || s->ident.decl)
            return gr_wgsl_error(f, GR_D_WGSL_ADDRESS_SPACE, s->offset, "declare it at module scope",
                                 "a variable of a function must be in the address space function");
        if (d->targ_n > 1)
            return gr_wgsl_error(f, GR_D_WGSL_ACCESS, d->targ[1]->offset, "remove it",
                                 "only storage variables take an access mode");
    }
    if (!d->type_expr && !d->init)
        return gr_wgsl_error(f, GR_D_WGSL_INITIALIZER, d->offset, NULL,
                             "the variable '%.*s' needs a type or an initializer", GR_STR_ARG(d->name));
    if (!gr_wgsl_check_init(f, d, false)) return false;
    if (d->type->constructible) return true;
    const gr_wgsl_type *t = d->type;
    d->type = NULL;
    return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, d->offset, NULL, "a variable of a function cannot have the type %.*s",
                         GR_STR_ARG(t->text));
}

static bool check_let(gr_wgsl_front *f, gr_wgsl_decl *d) {
    if (!gr_wgsl_check_init(f, d, false)) return false;
    const gr_wgsl_type *t = d->type;
    if (t->constructible || t->kind == GR_WT_PTR) return true;
    d->type = NULL;
    return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, d->offset, NULL, "a let cannot have the type %.*s",
                         GR_STR_ARG(t->text));
}

bool gr_wgsl_check_const(gr_wgsl_front *f, gr_wgsl_decl *d) {
    if (!gr_wgsl_check_init(f, d, true)) return false;
    if (d->init->stage != GR_WGSL_CONST) {
        d->type = NULL;
        return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, d->init->offset,
                             f->fn ? "use let" : "use override or a private variable",
                             "the value of a const must be a const-expression");
    }
    if (!d->type->constructible && !gr_wgsl_is_abstract(d->type)) {
        d->type = NULL;
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, d->offset, NULL, "a const cannot have this type");
    }
    d->value = d->init->value;
    return true;
}

static bool check_local(gr_wgsl_front *f, gr_wgsl_decl *d) {
    if (d->kind == GR_WD_VAR) return check_local_var(f, d);
    return d->kind == GR_WD_LET ? check_let(f, d) : gr_wgsl_check_const(f, d);
}

/* --------------------------------------------------------------- assignment */

static bool check_lhs(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!gr_wgsl_check_expr(f, e)) return false;
    if (!e->is_ref) {
        gr_wgsl_expr *inner = e;
        while (inner->kind == GR_WE_PAREN || inner->kind == GR_WE_INDEX || inner->kind == GR_WE_MEMBER)
            inner = inner->kind == GR_WE_PAREN   ? inner->unary.a
                    : inner->kind == GR_WE_INDEX ? inner->index.base
                                                 : inner->member.base;
        const gr_wgsl_decl *d = inner->kind == GR_WE_IDENT ? inner->ident.decl : NULL;
        const char *what = !d                       ? "a value"
                           : d->kind == GR_WD_LET   ? "a let"
                           : d->kind == GR_WD_PARAM ? "a parameter"
                           : d->kind == GR_WD_VAR   ? "several components at once"
                                                    : "a constant";
        gr_wgsl_error(f, GR_D_WGSL_NOT_ASSIGNABLE, e->offset, d && d->kind != GR_WD_VAR ? "copy it into a var" : NULL,
                      "%s cannot be assigned to", what);
        if (d) gr_wgsl_related(f, d->offset, "'%.*s' is declared here", GR_STR_ARG(d->name));
        return false;
    }
    if (e->access == GR_WGSL_READ)
        return gr_wgsl_error(f, GR_D_WGSL_ACCESS, e->offset,
                             e->space == GR_WGSL_SPACE_STORAGE ? "declare it var<storage, read_write>" : NULL,
                             "this memory is read-only: it is in %s with access read", gr_wgsl_space_text(e->space));
    if (!e->type->constructible)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, e->offset, e->type->has_atomic ? "use atomicStore" : NULL,
                             "a value of type %.*s cannot be assigned", GR_STR_ARG(e->type->text));
    return true;
}

static bool check_compound(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    gr_wgsl_match m;
    const gr_wgsl_type *arg[2] = {s->assign.lhs->type, s->assign.rhs->type};
    if (!gr_wgsl_match_op(f, s->assign.op, arg, 2, false, &m) || m.result != arg[0] || m.param[0] != arg[0])
        return gr_wgsl_error(f, GR_D_WGSL_OVERLOAD, s->offset, NULL, "no compound assignment %s= takes %.*s and %.*s",
                             gr_wgsl_op_text(s->assign.op), GR_STR_ARG(arg[0]->text), GR_STR_ARG(arg[1]->text));
    return gr_wgsl_coerce(f, s->assign.rhs, m.param[1]) && gr_wgsl_check_compound(f, s);
}

static bool check_assign(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    if (!s->assign.lhs) {
        if (!gr_wgsl_check_value(f, &s->assign.rhs)) return false;
        f->not_evaluated++; /* `_ = 3000000000;` is legal: the value is dropped, so any of the concrete type will do */
        bool ok = gr_wgsl_materialize(f, s->assign.rhs);
        f->not_evaluated--;
        return ok;
    }
    bool left = check_lhs(f, s->assign.lhs);
    if (!gr_wgsl_check_value(f, &s->assign.rhs) || !left) return false;
    if (s->assign.op != GR_WO_NONE) return check_compound(f, s);
    return gr_wgsl_convert(f, s->assign.rhs, s->assign.lhs->type, "the assigned value");
}

static bool check_increment(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    if (!check_lhs(f, s->assign.lhs)) return false;
    gr_wgsl_kind k = s->assign.lhs->type->kind;
    return k == GR_WT_I32 || k == GR_WT_U32 ||
           gr_wgsl_error(f, GR_D_WGSL_TYPE, s->offset, "write += 1", "%s takes an i32 or u32 variable, not %.*s",
                         s->kind == GR_WS_INCREMENT ? "++" : "--", GR_STR_ARG(s->assign.lhs->type->text));
}

/* -------------------------------------------------------------------- switch */

/* The one integer type of condition and selectors; abstract ones follow the others, or become i32. */
static const gr_wgsl_type *switch_type(gr_wgsl_front *f, gr_wgsl_stmt *s, bool *ok) {
    const gr_wgsl_type *t = s->select.cond->type;
    for (uint32_t i = 0; i < s->select.n; i++)
        for (uint32_t k = 0; k < s->select.v[i].selector_n; k++) {
            gr_wgsl_expr **e = &s->select.v[i].selector[k];
            if (!*e) continue;
            if (!gr_wgsl_check_value(f, e)) {
                *ok = false;
                continue;
            }
            if ((*e)->stage != GR_WGSL_CONST)
                *ok = gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, (*e)->offset, NULL,
                                    "a case selector must be a const-expression");
            if (t->kind == GR_WT_ABSTRACT_INT) t = (*e)->type;
        }
    t = gr_wgsl_concrete(f, t);
    if (*ok && t && t->kind != GR_WT_I32 && t->kind != GR_WT_U32)
        *ok = gr_wgsl_error(f, GR_D_WGSL_SWITCH, s->select.cond->offset, NULL, "a switch takes i32 or u32, not %.*s",
                            GR_STR_ARG(t->text));
    return t;
}

static bool check_selectors(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    bool ok = true;
    gr_map seen = {0};
    uint32_t defaults = 0, selectors = 0;
    const gr_wgsl_type *t = switch_type(f, s, &ok);
    if (!ok || !t || !gr_wgsl_convert(f, s->select.cond, t, "the switch")) return false;
    for (uint32_t i = 0; i < s->select.n; i++) {
        gr_wgsl_case *c = &s->select.v[i];
        if (c->spelled_default) defaults++;
        for (uint32_t k = 0; k < c->selector_n; k++) {
            gr_wgsl_expr *e = c->selector[k];
            selectors++;
            if (!e) {
                defaults++;
                continue;
            }
            if (gr_wgsl_rank(e->type, t) < 0) {
                ok = gr_wgsl_error(f, GR_D_WGSL_SWITCH, e->offset, NULL,
                                   "a case selector must be %.*s as the switch, not %.*s", GR_STR_ARG(t->text),
                                   GR_STR_ARG(e->type->text));
                continue;
            }
            if (!gr_wgsl_coerce(f, e, t)) return false;
            const char *key = gr_arena_printf(f->arena, "%lld", (long long)gr_wgsl_const_leaf(e->value, 0).i);
            uint32_t first;
            if (!key) return gr_wgsl_oom(f);
            if (gr_map_get(&seen, gr_str_of(key), &first)) {
                ok = gr_wgsl_error(f, GR_D_WGSL_SWITCH, e->offset, "remove one of them", "the selector %s occurs twice",
                                   key);
                gr_wgsl_related(f, first, "the first one");
            } else if (!gr_map_put(f->arena, &seen, gr_str_of(key), e->offset)) {
                return gr_wgsl_oom(f);
            }
        }
        if (defaults > 1)
            return gr_wgsl_error(f, GR_D_WGSL_SWITCH, c->offset, "keep one", "a switch has more than one default");
    }
    if (selectors > GR_WGSL_MAX_CASES)
        return gr_wgsl_error(f, GR_D_WGSL_LIMIT, s->offset, NULL, "a switch has more than %d selectors",
                             GR_WGSL_MAX_CASES);
    if (!defaults) return gr_wgsl_error(f, GR_D_WGSL_SWITCH, s->offset, "add `default: {}`", "a switch has no default");
    return ok;
}

/* --------------------------------------------------------------------- calls */

static bool must_use(const gr_wgsl_expr *e) {
    if (e->call.call == GR_WC_CONSTRUCT) return true;
    if (e->call.call == GR_WC_FUNCTION) return e->call.function->must_use;
    if (e->type->kind == GR_WT_VOID) return false;
    return !gr_str_starts(gr_str_of(gr_wgsl_builtin_text(e->call.builtin)), "atomic");
}

static bool check_call_stmt(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!gr_wgsl_check_expr(f, e)) return false;
    return !must_use(e) || gr_wgsl_error(f, GR_D_WGSL_MUST_USE, e->offset, "assign it to something, or to _",
                                         "the result of '%.*s' is not used", GR_STR_ARG(e->call.callee->ident.name));
}

static bool check_return(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    const gr_wgsl_type *t = f->fn->result;
    if (s->expr) {
        if (!gr_wgsl_check_value(f, &s->expr) || !t) return false;
        if (t->kind == GR_WT_VOID)
            return gr_wgsl_error(f, GR_D_WGSL_TYPE, s->expr->offset, "declare the result with -> T",
                                 "the function '%.*s' returns nothing", GR_STR_ARG(f->fn->decl->name));
        return gr_wgsl_convert(f, s->expr, t, "the returned value");
    }
    return !t || t->kind == GR_WT_VOID ||
           gr_wgsl_error(f, GR_D_WGSL_TYPE, s->offset, NULL, "the function '%.*s' must return a value of type %.*s",
                         GR_STR_ARG(f->fn->decl->name), GR_STR_ARG(t->text));
}

/* ---------------------------------------------------------------- statements */

static bool check_filters(gr_wgsl_front *f, const gr_wgsl_attr *a, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (a[i].kind != GR_WA_DIAGNOSTIC)
            return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a[i].offset, NULL,
                                 "the attribute '@%.*s' does not apply to a statement", GR_STR_ARG(a[i].name));
    return gr_wgsl_check_diagnostic_attrs(f, a, n);
}

static bool check_block(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    bool ok = check_filters(f, s->attr, s->attr_n);
    for (uint32_t i = 0; i < s->block.n; i++) {
        if (f->oom || f->diags->errors > f->first_errors + 200) return false;
        ok &= gr_wgsl_check_stmt(f, s->block.v[i]);
    }
    return ok;
}

static bool check_if(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    bool ok = true;
    for (; s && s->kind == GR_WS_IF; s = s->branch.otherwise) {
        ok &= check_cond(f, &s->branch.cond, "the condition of if");
        ok &= check_block(f, s->branch.then);
    }
    return (!s || check_block(f, s)) && ok;
}

static bool check_loop_for(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    bool ok = !s->loop_for.init || gr_wgsl_check_stmt(f, s->loop_for.init);
    if (s->loop_for.cond) ok &= check_cond(f, &s->loop_for.cond, "the condition of for");
    if (s->loop_for.update) ok &= gr_wgsl_check_stmt(f, s->loop_for.update);
    return check_block(f, s->loop_for.body) && ok;
}

bool gr_wgsl_check_stmt(gr_wgsl_front *f, gr_wgsl_stmt *s) {
    bool ok = s->kind == GR_WS_BLOCK || check_filters(f, s->attr, s->attr_n);
    switch (s->kind) {
    case GR_WS_BLOCK: return check_block(f, s);
    case GR_WS_DECL: return check_local(f, s->decl) && ok;
    case GR_WS_ASSIGN: return check_assign(f, s) && ok;
    case GR_WS_INCREMENT:
    case GR_WS_DECREMENT: return check_increment(f, s) && ok;
    case GR_WS_IF: return check_if(f, s) && ok;
    case GR_WS_SWITCH:
        ok &= gr_wgsl_check_value(f, &s->select.cond) && check_selectors(f, s);
        ok &= check_filters(f, s->select.body_attr, s->select.body_attr_n);
        for (uint32_t i = 0; i < s->select.n; i++) ok &= check_block(f, s->select.v[i].body);
        return ok;
    case GR_WS_LOOP:
        ok &= check_block(f, s->loop.body);
        if (s->loop.continuing) ok &= check_block(f, s->loop.continuing);
        if (s->loop.break_if) ok &= check_cond(f, &s->loop.break_if, "the condition of break if");
        return ok;
    case GR_WS_FOR: return check_loop_for(f, s) && ok;
    case GR_WS_WHILE:
        ok &= check_cond(f, &s->loop_while.cond, "the condition of while");
        return check_block(f, s->loop_while.body) && ok;
    case GR_WS_RETURN: return check_return(f, s) && ok;
    case GR_WS_CALL: return check_call_stmt(f, s->expr) && ok;
    case GR_WS_CONST_ASSERT: return gr_wgsl_check_assert(f, &s->expr) && ok;
    case GR_WS_DISCARD:
        return gr_wgsl_error(f, GR_D_WGSL_UNSUPPORTED, s->offset, "return instead",
                             "discard belongs to fragment shaders, outside the compute subset");
    default: return ok;
    }
}
