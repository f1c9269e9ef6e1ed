/* Types of expressions: names, operators, access, the load rule, automatic conversion. */
#include "wgsl/wgsl_int.h"

#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------- values and loads */

/* A reference becomes the value it refers to. */
static bool load(gr_wgsl_front *f, gr_wgsl_expr **slot) {
    gr_wgsl_expr *e = *slot;
    if (!e->type->constructible && !(e->type->kind == GR_WT_PTR)) {
        if (e->type->has_atomic)
            return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, e->offset, "use atomicLoad",
                                 "a value of type %.*s cannot be loaded: it holds atomics", GR_STR_ARG(e->type->text));
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, e->offset, NULL,
                             "a value of type %.*s cannot be loaded: its size is not fixed", GR_STR_ARG(e->type->text));
    }
    gr_wgsl_expr *l = gr_wgsl_new_expr(f, GR_WE_LOAD, e->offset);
    if (!l) return false;
    l->end = e->end;
    l->type = e->type;
    l->implicit = true;
    l->height = e->height;
    l->stage = GR_WGSL_RUNTIME;
    l->unary.a = e;
    *slot = l;
    return true;
}

bool gr_wgsl_check_value(gr_wgsl_front *f, gr_wgsl_expr **slot) {
    if (!gr_wgsl_check_expr(f, *slot)) return false;
    if ((*slot)->type->kind == GR_WT_VOID)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE, (*slot)->offset, NULL,
                             "the call has no value: its function returns nothing");
    return !(*slot)->is_ref || load(f, slot);
}

/* Value of a const-stage node, or zero where a short circuit leaves it unevaluated. */
static bool set_const(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (e->stage != GR_WGSL_CONST || e->value) return true;
    e->value = f->not_evaluated ? gr_wgsl_new_const(f, e->type, false) : gr_wgsl_eval(f, e);
    return e->value != NULL;
}

bool gr_wgsl_finish(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (e->stage == GR_WGSL_CONST) return set_const(f, e);
    return f->not_evaluated || gr_wgsl_check_partial(f, e);
}

bool gr_wgsl_coerce(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *to) {
    if (!to) return false;
    if (e->type == to) return true;
    if (!e->value) /* abstract yet not constant: cannot be */
        return GR_BUG(f->diags, "W1", "abstract expression without a value");
    const gr_wgsl_const *c =
        f->not_evaluated ? gr_wgsl_new_const(f, to, false) : gr_wgsl_const_convert(f, e->value, to, true, e->offset);
    if (!c) return false;
    e->value = c;
    e->type = to;
    return true;
}

bool gr_wgsl_convert(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *to, const char *what) {
    if (gr_wgsl_rank(e->type, to) >= 0) return gr_wgsl_coerce(f, e, to);
    const gr_wgsl_type *a = gr_wgsl_scalar_of(e->type), *b = gr_wgsl_scalar_of(to);
    const char *hint = NULL;
    char text[100];
    if (a && b && e->type->n == to->n && e->type->rows == to->rows && to->text.n < 40) {
        snprintf(text, sizeof text, "convert it with %.*s(...)", GR_STR_ARG(to->text));
        hint = text;
    }
    return gr_wgsl_error(f, GR_D_WGSL_TYPE, e->offset, hint, "%s must be %.*s, but this is %.*s", what,
                         GR_STR_ARG(to->text), GR_STR_ARG(e->type->text));
}

bool gr_wgsl_materialize(gr_wgsl_front *f, gr_wgsl_expr *e) {
    return gr_wgsl_coerce(f, e, gr_wgsl_concrete(f, e->type));
}

/* --------------------------------------------------------------------- names */

static bool unresolved(gr_wgsl_front *f, const gr_wgsl_expr *e) {
    gr_str best = {0};
    int least = 3;
    bool search = f->diags->errors < f->first_errors + 20; /* bounds the time spent on hints */
    for (uint32_t i = 0; search && i < f->m->decl_n; i++) {
        int n = f->m->decl[i]->name.n ? gr_str_distance(e->ident.name, f->m->decl[i]->name) : 3;
        if (n < least) least = n, best = f->m->decl[i]->name;
    }
    for (uint32_t i = 0; search && f->fn && i < f->fn->local_n; i++) {
        int n = gr_str_distance(e->ident.name, f->fn->local[i]->name);
        if (n < least) least = n, best = f->fn->local[i]->name;
    }
    for (int b = 1; b < GR_WB_COUNT; b++) {
        gr_str name = gr_str_of(gr_wgsl_builtin_text((gr_wgsl_builtin)b));
        int n = gr_str_distance(e->ident.name, name);
        if (n < least) least = n, best = name;
    }
    gr_wgsl_error(f, GR_D_WGSL_UNRESOLVED, e->offset, NULL, "'%.*s' is declared nowhere in scope",
                  GR_STR_ARG(e->ident.name));
    if (best.p && e->ident.name.n > 2) gr_report_hint(f->diags, "did you mean '%.*s'?", GR_STR_ARG(best));
    return false;
}

/* Records that the function being checked uses a module-scope variable or override. */
static bool note_use(gr_wgsl_front *f, gr_wgsl_decl *d) {
    gr_wgsl_function *fn = f->fn;
    if (!fn || !d->module_scope || (d->kind != GR_WD_VAR && d->kind != GR_WD_OVERRIDE) ||
        f->stamp[d->id] == fn->index + 1)
        return true;
    f->stamp[d->id] = fn->index + 1;
    if ((fn->uses_n & (fn->uses_n - 1)) == 0) { /* full at powers of two */
        gr_wgsl_decl **v = gr_arena_grow(f->arena, fn->uses, fn->uses_n, fn->uses_n ? fn->uses_n * 2u : 1u, sizeof *v);
        if (!v) return gr_wgsl_oom(f);
        fn->uses = v;
    }
    fn->uses[fn->uses_n++] = d;
    return true;
}

static bool check_ident(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_wgsl_decl *d = e->ident.decl;
    if (!d) {
        switch (gr_wgsl_predeclared(e->ident.name)) {
        case GR_WGSL_NAME_NONE: return unresolved(f, e);
        case GR_WGSL_NAME_TYPE:
            return gr_wgsl_error(f, GR_D_WGSL_NAME_KIND, e->offset, "construct a value with parentheses",
                                 "the type '%.*s' stands where a value is wanted", GR_STR_ARG(e->ident.name));
        case GR_WGSL_NAME_FUNCTION:
            return gr_wgsl_error(f, GR_D_WGSL_NAME_KIND, e->offset, "call it with parentheses",
                                 "the function '%.*s' stands where a value is wanted", GR_STR_ARG(e->ident.name));
        default:
            return gr_wgsl_error(f, GR_D_WGSL_NAME_KIND, e->offset, NULL, "'%.*s' is not a value",
                                 GR_STR_ARG(e->ident.name));
        }
    }
    if (d->kind == GR_WD_FUNCTION || d->kind == GR_WD_STRUCT || d->kind == GR_WD_ALIAS)
        return gr_wgsl_error(f, GR_D_WGSL_NAME_KIND, e->offset,
                             d->kind == GR_WD_FUNCTION ? "call it with parentheses"
                                                       : "construct a value with parentheses",
                             "the %s '%.*s' stands where a value is wanted",
                             d->kind == GR_WD_FUNCTION ? "function" : "type", GR_STR_ARG(d->name));
    if (e->ident.targ)
        return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, "remove it", "'%.*s' takes no template list",
                             GR_STR_ARG(d->name));
    if (!d->type || !note_use(f, d)) return false; /* reported at the declaration */
    e->type = d->type;
    e->stage = d->kind == GR_WD_CONST ? GR_WGSL_CONST : d->kind == GR_WD_OVERRIDE ? GR_WGSL_OVERRIDE : GR_WGSL_RUNTIME;
    e->value = d->kind == GR_WD_CONST ? d->value : NULL;
    if (d->kind == GR_WD_CONST && !d->value) return false;
    if (d->kind == GR_WD_VAR) {
        e->is_ref = true;
        e->space = d->space;
        e->access = d->access;
    }
    return true;
}

/* ----------------------------------------------------------------- operators */

static bool op_failed(gr_wgsl_front *f, gr_wgsl_op op, uint32_t offset, const gr_wgsl_type *a, const gr_wgsl_type *b) {
    gr_buf buf = {0};
    gr_wgsl_describe_op(f, op, &buf);
    if (b)
        gr_wgsl_error(f, GR_D_WGSL_OVERLOAD, offset, NULL, "no operator %s takes %.*s and %.*s", gr_wgsl_op_text(op),
                      GR_STR_ARG(a->text), GR_STR_ARG(b->text));
    else
        gr_wgsl_error(f, GR_D_WGSL_OVERLOAD, offset, NULL, "no operator %s takes %.*s", gr_wgsl_op_text(op),
                      GR_STR_ARG(a->text));
    const gr_wgsl_type *sa = gr_wgsl_scalar_of(a), *sb = b ? gr_wgsl_scalar_of(b) : NULL;
    if (sa && sb && sa != sb && a->n == b->n && gr_wgsl_rank(sa, sb) < 0 && gr_wgsl_rank(sb, sa) < 0 &&
        op != GR_WO_SHL && op != GR_WO_SHR)
        gr_report_hint(f->diags, "WGSL converts nothing silently: write %.*s(...) or %.*s(...) around one side",
                       GR_STR_ARG(b->text), GR_STR_ARG(a->text));
    else gr_report_hint(f->diags, "it takes %.*s", GR_STR_ARG(gr_buf_view(&buf)));
    gr_buf_free(&buf);
    return false;
}

static bool check_unary(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_wgsl_match m;
    if (!gr_wgsl_check_value(f, &e->unary.a)) return false;
    gr_wgsl_expr *a = e->unary.a;
    if (!gr_wgsl_match_op(f, e->unary.op, &a->type, 1, a->stage == GR_WGSL_CONST, &m))
        return op_failed(f, e->unary.op, e->offset, a->type, NULL);
    if (!gr_wgsl_coerce(f, a, m.param[0])) return false;
    e->type = m.result;
    e->stage = a->stage;
    return gr_wgsl_finish(f, e);
}

static bool check_binary(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_wgsl_op op = e->binary.op;
    gr_wgsl_match m;
    if (!gr_wgsl_check_value(f, &e->binary.a)) return false;
    gr_wgsl_expr *a = e->binary.a;
    bool logical = op == GR_WO_LOGICAL_AND || op == GR_WO_LOGICAL_OR;
    bool short_cut = logical && a->value && a->type->kind == GR_WT_BOOL &&
                     gr_wgsl_const_leaf(a->value, 0).i == (op == GR_WO_LOGICAL_OR);
    f->not_evaluated += short_cut;
    bool ok = gr_wgsl_check_value(f, &e->binary.b);
    f->not_evaluated -= short_cut;
    if (!ok) return false;
    gr_wgsl_expr *b = e->binary.b;
    const gr_wgsl_type *arg[2] = {a->type, b->type};
    bool all_const = a->stage == GR_WGSL_CONST && b->stage == GR_WGSL_CONST;
    if (!gr_wgsl_match_op(f, op, arg, 2, all_const, &m)) return op_failed(f, op, e->binary.op_offset, a->type, b->type);
    if (!gr_wgsl_coerce(f, a, m.param[0]) || !gr_wgsl_coerce(f, b, m.param[1])) return false;
    e->type = m.result;
    e->stage = a->stage > b->stage ? a->stage : b->stage;
    return gr_wgsl_finish(f, e);
}

/* -------------------------------------------------------------------- access */

static gr_wgsl_expr *strip_paren(gr_wgsl_expr *e) {
    while (e->kind == GR_WE_PAREN) e = e->unary.a;
    return e;
}

static bool is_component(gr_wgsl_expr *e) {
    e = strip_paren(e);
    return (e->kind == GR_WE_INDEX && e->index.base->type->kind == GR_WT_VEC) ||
           (e->kind == GR_WE_MEMBER && e->member.swizzle_n);
}

static bool check_address_of(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!gr_wgsl_check_expr(f, e->unary.a)) return false;
    gr_wgsl_expr *a = e->unary.a;
    if (!a->is_ref)
        return gr_wgsl_error(f, GR_D_WGSL_NO_ADDRESS, e->offset, "put the value into a var first",
                             "the address of a value cannot be taken");
    if (is_component(a))
        return gr_wgsl_error(f, GR_D_WGSL_NO_ADDRESS, e->offset, "point to the whole vector",
                             "the address of a vector component cannot be taken");
    e->type = gr_wgsl_ptr(f, a->space, a->type, a->access);
    e->stage = GR_WGSL_RUNTIME;
    return e->type != NULL;
}

static void set_deref(gr_wgsl_expr *e, const gr_wgsl_type *ptr) {
    e->type = ptr->elem;
    e->space = ptr->space;
    e->access = ptr->access;
    e->is_ref = true;
    e->stage = GR_WGSL_RUNTIME;
}

static bool check_deref(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!gr_wgsl_check_value(f, &e->unary.a)) return false;
    const gr_wgsl_type *t = e->unary.a->type;
    if (t->kind != GR_WT_PTR)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE, e->offset, NULL, "only a pointer can be dereferenced, and this is %.*s",
                             GR_STR_ARG(t->text));
    set_deref(e, t);
    return true;
}

/* p.x and p[i] on a pointer mean (*p).x and (*p)[i]. */
static bool deref_base(gr_wgsl_front *f, gr_wgsl_expr **slot) {
    gr_wgsl_expr *b = *slot;
    if (b->type->kind == GR_WT_VOID)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE, b->offset, NULL, "the call has no value: its function returns nothing");
    if (b->type->kind != GR_WT_PTR || b->is_ref) return true;
    gr_wgsl_expr *d = gr_wgsl_new_expr(f, GR_WE_DEREF, b->offset);
    if (!d) return false;
    d->end = b->end;
    d->implicit = true;
    d->height = b->height;
    d->unary.a = b;
    set_deref(d, b->type);
    *slot = d;
    return true;
}

static void inherit_ref(gr_wgsl_expr *e, const gr_wgsl_expr *base) {
    e->is_ref = base->is_ref;
    e->space = base->space;
    e->access = base->access;
}

static bool check_index_value(gr_wgsl_front *f, gr_wgsl_expr **slot) {
    if (!gr_wgsl_check_value(f, slot) || !gr_wgsl_materialize(f, *slot)) return false;
    const gr_wgsl_type *t = (*slot)->type;
    if (t->kind == GR_WT_I32 || t->kind == GR_WT_U32) return true;
    return gr_wgsl_error(f, GR_D_WGSL_TYPE, (*slot)->offset, NULL, "an index must be i32 or u32, not %.*s",
                         GR_STR_ARG(t->text));
}

static bool check_index(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!gr_wgsl_check_expr(f, e->index.base) || !deref_base(f, &e->index.base) ||
        !check_index_value(f, &e->index.index))
        return false;
    gr_wgsl_expr *b = e->index.base, *i = e->index.index;
    const gr_wgsl_type *t = b->type;
    if (t->kind != GR_WT_VEC && t->kind != GR_WT_MAT && t->kind != GR_WT_ARRAY)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE, e->offset, NULL, "a value of type %.*s cannot be indexed",
                             GR_STR_ARG(t->text));
    int64_t n = t->kind == GR_WT_ARRAY ? t->count : t->n;
    if (i->value && !f->not_evaluated) {
        int64_t at = gr_wgsl_const_leaf(i->value, 0).i;
        if (at < 0)
            return gr_wgsl_error(f, GR_D_WGSL_INDEX, i->offset, NULL, "the index %lld is negative", (long long)at);
        if (n && at >= n)
            return gr_wgsl_error(f, GR_D_WGSL_INDEX, i->offset, NULL,
                                 "the index %lld is outside %.*s: the last is %lld", (long long)at, GR_STR_ARG(t->text),
                                 (long long)n - 1);
    }
    inherit_ref(e, b);
    e->stage = b->is_ref ? GR_WGSL_RUNTIME : b->stage > i->stage ? b->stage : i->stage;
    if (!b->is_ref && e->stage != GR_WGSL_CONST && !gr_wgsl_materialize(f, b)) return false;
    t = b->type;
    e->type = t->kind == GR_WT_MAT ? t->column : t->elem;
    return e->is_ref || gr_wgsl_finish(f, e);
}

/* Letters of one set, xyzw or rgba. */
static bool read_swizzle(gr_str name, uint8_t out[4]) {
    if (name.n < 1 || name.n > 4) return false;
    for (int set = 0; set < 2; set++) {
        size_t i = 0;
        for (; i < name.n; i++) {
            const char *letters = set ? "rgba" : "xyzw", *p = memchr(letters, name.p[i], 4);
            if (!p) break;
            out[i] = (uint8_t)(p - letters);
        }
        if (i == name.n) return true;
    }
    return false;
}

static bool check_swizzle(gr_wgsl_front *f, gr_wgsl_expr *e) {
    const gr_wgsl_type *t = e->member.base->type;
    gr_str name = e->member.name;
    uint8_t *s = e->member.swizzle;
    if (!read_swizzle(name, s))
        return gr_wgsl_error(f, GR_D_WGSL_MEMBER, e->member.name_offset, "one to four of x y z w, or of r g b a",
                             "%.*s has no component '%.*s'", GR_STR_ARG(t->text), GR_STR_ARG(name));
    for (size_t i = 0; i < name.n; i++)
        if (s[i] >= t->n)
            return gr_wgsl_error(f, GR_D_WGSL_MEMBER, e->member.name_offset, NULL, "the component '%c' is outside %.*s",
                                 name.p[i], GR_STR_ARG(t->text));
    e->member.swizzle_n = (uint8_t)name.n;
    if (name.n == 1) {
        inherit_ref(e, e->member.base);
        e->type = t->elem;
    } else {
        if (e->member.base->is_ref && !load(f, &e->member.base)) return false;
        e->type = gr_wgsl_vec(f, t->elem, (uint32_t)name.n);
    }
    return e->type != NULL;
}

static bool check_field(gr_wgsl_front *f, gr_wgsl_expr *e) {
    const gr_wgsl_type *t = e->member.base->type;
    for (uint32_t i = 0; i < t->member_n; i++) {
        const gr_wgsl_member *m = &t->member[i];
        if (!gr_str_eq(m->name, e->member.name)) continue;
        if (!m->type) return false;
        e->member.field = m;
        e->type = m->type;
        inherit_ref(e, e->member.base);
        return true;
    }
    gr_wgsl_error(f, GR_D_WGSL_MEMBER, e->member.name_offset, NULL, "the structure %.*s has no member '%.*s'",
                  GR_STR_ARG(t->name), GR_STR_ARG(e->member.name));
    for (uint32_t i = 0; i < t->member_n; i++)
        if (gr_str_distance(t->member[i].name, e->member.name) < 3) {
            gr_report_hint(f->diags, "did you mean '%.*s'?", GR_STR_ARG(t->member[i].name));
            break;
        }
    return false;
}

static bool check_member(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!gr_wgsl_check_expr(f, e->member.base) || !deref_base(f, &e->member.base)) return false;
    gr_wgsl_expr *b = e->member.base;
    e->stage = b->stage;
    bool ok = b->type->kind == GR_WT_VEC ? check_swizzle(f, e)
              : b->type->kind == GR_WT_STRUCT
                  ? check_field(f, e)
                  : gr_wgsl_error(f, GR_D_WGSL_MEMBER, e->member.name_offset, NULL,
                                  "a value of type %.*s has no members", GR_STR_ARG(b->type->text));
    if (!ok) return false;
    if (e->is_ref) e->stage = GR_WGSL_RUNTIME;
    return e->is_ref || gr_wgsl_finish(f, e);
}

static bool check_paren(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_wgsl_expr *a = e->unary.a;
    if (!gr_wgsl_check_expr(f, a)) return false;
    inherit_ref(e, a);
    e->type = a->type;
    e->stage = a->stage;
    e->value = a->value;
    if (e->type->kind == GR_WT_VOID)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE, e->offset, NULL, "the call has no value: its function returns nothing");
    return true;
}

bool gr_wgsl_check_expr(gr_wgsl_front *f, gr_wgsl_expr *e) {
    switch (e->kind) {
    case GR_WE_LITERAL:
        return !(e->type->kind == GR_WT_F16 && !f->m->enable_f16 && !(f->opt && f->opt->force_f16)) ||
               gr_wgsl_error(f, GR_D_WGSL_NOT_ENABLED, e->offset, "begin the module with `enable f16;`",
                             "the type f16 is used without its directive");
    case GR_WE_IDENT: return check_ident(f, e);
    case GR_WE_PAREN: return check_paren(f, e);
    case GR_WE_UNARY: return check_unary(f, e);
    case GR_WE_ADDRESS_OF: return check_address_of(f, e);
    case GR_WE_DEREF: return check_deref(f, e);
    case GR_WE_BINARY: return check_binary(f, e);
    case GR_WE_INDEX: return check_index(f, e);
    case GR_WE_MEMBER: return check_member(f, e);
    case GR_WE_CALL: return gr_wgsl_check_call(f, e);
    case GR_WE_LOAD: return true;
    default: return false;
    }
}
