/* Calls: functions of the module, value constructors, builtin functions. */
#include "wgsl/wgsl_int.h"

#include <stdio.h>
#include <string.h>

bool gr_wgsl_load_args(gr_wgsl_front *f, gr_wgsl_expr *e) {
    bool ok = true;
    for (uint32_t i = 0; i < e->call.arg_n; i++) ok &= gr_wgsl_check_value(f, &e->call.arg[i]);
    return ok;
}

gr_wgsl_stage gr_wgsl_args_stage(const gr_wgsl_expr *e) {
    gr_wgsl_stage s = GR_WGSL_CONST;
    for (uint32_t i = 0; i < e->call.arg_n; i++)
        if (e->call.arg[i]->stage > s) s = e->call.arg[i]->stage;
    return s;
}

static bool count_is(gr_wgsl_front *f, const gr_wgsl_expr *e, uint32_t want) {
    if (e->call.arg_n == want) return true;
    return gr_wgsl_error(f, GR_D_WGSL_ARGUMENTS, e->offset, NULL, "'%.*s' takes %u argument%s, not %u",
                         GR_STR_ARG(e->call.callee->ident.name), want, want == 1 ? "" : "s", e->call.arg_n);
}

/* ------------------------------------------------------- functions of the module */

static bool note_call(gr_wgsl_front *f, gr_wgsl_function *callee) {
    gr_wgsl_function *fn = f->fn;
    if (!fn || f->stamp[callee->decl->id] == fn->index + 1) return true;
    f->stamp[callee->decl->id] = fn->index + 1;
    if ((fn->calls_n & (fn->calls_n - 1)) == 0) { /* full at powers of two */
        gr_wgsl_function **v =
            gr_arena_grow(f->arena, fn->calls, fn->calls_n, fn->calls_n ? fn->calls_n * 2u : 1u, sizeof *v);
        if (!v) return gr_wgsl_oom(f);
        fn->calls = v;
    }
    fn->calls[fn->calls_n++] = callee;
    return true;
}

static bool check_user_call(gr_wgsl_front *f, gr_wgsl_expr *e, gr_wgsl_decl *d) {
    gr_wgsl_function *fn = d->function;
    bool args = gr_wgsl_load_args(f, e);
    if (e->call.callee->ident.targ)
        return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, "remove it",
                             "the function '%.*s' takes no template list", GR_STR_ARG(d->name));
    if (fn->is_entry)
        return gr_wgsl_error(f, GR_D_WGSL_ENTRY_POINT, e->offset, "move the code into another function",
                             "the entry point '%.*s' cannot be called", GR_STR_ARG(d->name));
    if (!count_is(f, e, fn->param_n)) {
        gr_wgsl_related(f, d->offset, "the function");
        return false;
    }
    if (!args || !fn->result) return false;
    e->call.call = GR_WC_FUNCTION;
    e->call.function = fn;
    e->type = fn->result;
    e->stage = GR_WGSL_RUNTIME;
    for (uint32_t i = 0; i < fn->param_n; i++) {
        char what[80];
        snprintf(what, sizeof what, "the argument for '%.*s'",
                 (int)(fn->param[i]->name.n > 50 ? 50 : fn->param[i]->name.n), fn->param[i]->name.p);
        if (!fn->param[i]->type || !gr_wgsl_convert(f, e->call.arg[i], fn->param[i]->type, what)) return false;
    }
    if (!f->fn)
        return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, e->offset, NULL, "a function cannot be called at module scope");
    return note_call(f, fn);
}

/* ------------------------------------------------------------- constructors */

static bool construct(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *t, gr_wgsl_construct kind) {
    if (!t) return false;
    e->call.construct = kind;
    e->type = t;
    e->stage = gr_wgsl_args_stage(e);
    /* A runtime value has concrete parts even where the type was inferred. */
    if (e->stage != GR_WGSL_CONST && gr_wgsl_is_abstract(t))
        return GR_BUG(f->diags, "W1", "abstract runtime constructor");
    return gr_wgsl_finish(f, e);
}

static bool no_constructor(gr_wgsl_front *f, const gr_wgsl_expr *e, const char *wants) {
    gr_buf b = {0};
    for (uint32_t i = 0; i < e->call.arg_n && i < 17; i++)
        gr_buf_printf(&b, "%s%.*s", i ? ", " : "", GR_STR_ARG(e->call.arg[i]->type->text));
    if (e->call.arg_n > 17) gr_buf_puts(&b, ", ...");
    gr_wgsl_error(f, GR_D_WGSL_OVERLOAD, e->offset, NULL, "no value constructor %.*s(%.*s)",
                  GR_STR_ARG(gr_wgsl_slice(f, e->call.callee->offset, e->call.callee->end)),
                  GR_STR_ARG(gr_buf_view(&b)));
    gr_report_hint(f->diags, "it takes %s", wants);
    gr_buf_free(&b);
    return false;
}

/* Least type that all of n types convert to; NULL when there is none. */
static const gr_wgsl_type *common_type(gr_wgsl_expr **arg, uint32_t n) {
    const gr_wgsl_type *best = n ? arg[0]->type : NULL;
    for (uint32_t i = 1; i < n; i++)
        if (gr_wgsl_rank(arg[i]->type, best) < 0) {
            if (gr_wgsl_rank(best, arg[i]->type) < 0) return NULL;
            best = arg[i]->type;
        }
    for (uint32_t i = 0; i < n; i++)
        if (gr_wgsl_rank(arg[i]->type, best) < 0) return NULL;
    return best;
}

static const gr_wgsl_type *common_scalar(gr_wgsl_expr **arg, uint32_t n) {
    const gr_wgsl_type *best = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const gr_wgsl_type *s = gr_wgsl_scalar_of(arg[i]->type);
        if (!s) return NULL;
        if (!best || gr_wgsl_rank(best, s) >= 0) best = s;
        else if (gr_wgsl_rank(s, best) < 0) return NULL;
    }
    return best;
}

/* In a runtime expression nothing stays abstract. */
static const gr_wgsl_type *settle(gr_wgsl_front *f, const gr_wgsl_expr *e, const gr_wgsl_type *t) {
    return t && gr_wgsl_args_stage(e) != GR_WGSL_CONST ? gr_wgsl_concrete(f, t) : t;
}

static bool coerce_all(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *scalar) {
    for (uint32_t i = 0; i < e->call.arg_n; i++)
        if (!gr_wgsl_coerce(f, e->call.arg[i], gr_wgsl_with_scalar(f, e->call.arg[i]->type, scalar))) return false;
    return true;
}

static bool construct_scalar(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *t) {
    if (e->call.arg_n != 1 || !gr_wgsl_is_scalar(e->call.arg[0]->type)) return no_constructor(f, e, "one scalar");
    return construct(f, e, t, e->call.arg[0]->type == t ? GR_WN_IDENTITY : GR_WN_SCALAR);
}

/* vecN with element type s (NULL: inferred). */
static bool construct_vec(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *s, uint32_t n) {
    gr_wgsl_expr **arg = e->call.arg;
    uint32_t sum = 0, argc = e->call.arg_n;
    const char *wants = "one scalar, one vector of that width, or scalars and vectors that add up to it";
    for (uint32_t i = 0; i < argc; i++) {
        const gr_wgsl_type *t = arg[i]->type;
        if (!gr_wgsl_is_scalar(t) && t->kind != GR_WT_VEC) return no_constructor(f, e, wants);
        sum += gr_wgsl_is_scalar(t) ? 1u : t->n;
        if (sum > 4) break;
    }
    if (argc == 1 && arg[0]->type->kind == GR_WT_VEC && sum == n) { /* conversion of a whole vector */
        if (!s) s = settle(f, e, arg[0]->type->elem);
        const gr_wgsl_type *t = gr_wgsl_vec(f, s, n);
        if (!t) return false;
        if (gr_wgsl_rank(arg[0]->type, t) >= 0 && !gr_wgsl_coerce(f, arg[0], t)) return false;
        return construct(f, e, t, arg[0]->type == t ? GR_WN_IDENTITY : GR_WN_VECTOR);
    }
    const gr_wgsl_type *c = common_scalar(arg, argc);
    if (!s) s = settle(f, e, c);
    if (!c || !s || gr_wgsl_rank(c, s) < 0) return no_constructor(f, e, wants);
    bool splat = argc == 1 && gr_wgsl_is_scalar(arg[0]->type);
    if (!splat && sum != n) return no_constructor(f, e, wants);
    return coerce_all(f, e, s) && construct(f, e, gr_wgsl_vec(f, s, n), splat ? GR_WN_SPLAT : GR_WN_COMPONENTS);
}

static bool construct_mat(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *s, uint32_t cols, uint32_t rows) {
    gr_wgsl_expr **arg = e->call.arg;
    uint32_t argc = e->call.arg_n, scalars = 0, columns = 0;
    const char *wants = "columns * rows scalars, its columns, or one matrix of that shape";
    for (uint32_t i = 0; i < argc; i++) {
        scalars += gr_wgsl_is_scalar(arg[i]->type);
        columns += arg[i]->type->kind == GR_WT_VEC && arg[i]->type->n == rows;
    }
    if (argc == 1 && arg[0]->type->kind == GR_WT_MAT && arg[0]->type->n == cols && arg[0]->type->rows == rows) {
        if (!s) s = settle(f, e, arg[0]->type->elem);
        const gr_wgsl_type *t = gr_wgsl_mat(f, s, cols, rows);
        if (!t) return false;
        if (gr_wgsl_rank(arg[0]->type, t) >= 0 && !gr_wgsl_coerce(f, arg[0], t)) return false;
        return construct(f, e, t, arg[0]->type == t ? GR_WN_IDENTITY : GR_WN_MATRIX);
    }
    bool by_scalar = argc == cols * rows && scalars == argc, by_column = argc == cols && columns == argc;
    const gr_wgsl_type *c = common_scalar(arg, argc);
    if (c && c->kind == GR_WT_ABSTRACT_INT) c = f->types.abstract_float;
    if (!s) s = settle(f, e, c);
    if ((!by_scalar && !by_column) || !c || !s || !gr_wgsl_is_float_kind(s->kind) || gr_wgsl_rank(c, s) < 0)
        return no_constructor(f, e, wants);
    return coerce_all(f, e, s) &&
           construct(f, e, gr_wgsl_mat(f, s, cols, rows), by_scalar ? GR_WN_SCALARS : GR_WN_COLUMNS);
}

static bool construct_array(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *t) {
    gr_wgsl_expr **arg = e->call.arg;
    uint32_t argc = e->call.arg_n;
    if (!t) {
        const gr_wgsl_type *c = settle(f, e, common_type(arg, argc));
        if (!argc) return no_constructor(f, e, "at least one element");
        if (!c)
            return gr_wgsl_error(f, GR_D_WGSL_OVERLOAD, e->offset, "name the element type: array<T, N>(...)",
                                 "the elements of the array have no common type");
        if (!c->constructible && !gr_wgsl_is_abstract(c))
            return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, e->offset, NULL, "%.*s cannot be an element of an array value",
                                 GR_STR_ARG(c->text));
        if (argc > GR_WGSL_MAX_ELEMENTS)
            return gr_wgsl_error(f, GR_D_WGSL_LIMIT, e->offset, NULL, "an array value has more than %d elements",
                                 GR_WGSL_MAX_ELEMENTS);
        t = gr_wgsl_array(f, c, argc, NULL);
    } else if (argc != t->count) {
        return gr_wgsl_error(f, GR_D_WGSL_ARGUMENTS, e->offset, NULL, "%.*s takes %u elements, not %u",
                             GR_STR_ARG(t->text), t->count, argc);
    }
    if (!t) return false;
    for (uint32_t i = 0; i < argc; i++)
        if (!gr_wgsl_convert(f, arg[i], t->elem, "an element")) return false;
    return construct(f, e, t, GR_WN_ELEMENTS);
}

static bool construct_struct(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *t) {
    if (e->call.arg_n != t->member_n)
        return gr_wgsl_error(f, GR_D_WGSL_ARGUMENTS, e->offset, NULL, "%.*s has %u members, but %u values are given",
                             GR_STR_ARG(t->text), t->member_n, e->call.arg_n);
    for (uint32_t i = 0; i < t->member_n; i++) {
        char what[80];
        gr_str name = t->member[i].name;
        snprintf(what, sizeof what, "the member '%.*s'", (int)(name.n > 50 ? 50 : name.n), name.p);
        if (!gr_wgsl_convert(f, e->call.arg[i], t->member[i].type, what)) return false;
    }
    return construct(f, e, t, GR_WN_MEMBERS);
}

bool gr_wgsl_check_construct(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_partial *p) {
    const gr_wgsl_type *t = p->type;
    e->call.call = GR_WC_CONSTRUCT;
    if (!gr_wgsl_load_args(f, e)) return false;
    if (t && !t->constructible)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, e->offset, NULL, "a value of type %.*s cannot be constructed",
                             GR_STR_ARG(t->text));
    if (t && e->call.arg_n == 0) {
        if (t->kind == GR_WT_ARRAY && t->count > GR_WGSL_MAX_ELEMENTS)
            return gr_wgsl_error(f, GR_D_WGSL_LIMIT, e->offset, NULL, "an array value has more than %d elements",
                                 GR_WGSL_MAX_ELEMENTS);
        return construct(f, e, t, GR_WN_ZERO);
    }
    if (!t && p->kind == GR_WT_VEC && e->call.arg_n == 0)
        return construct(f, e, gr_wgsl_vec(f, f->types.abstract_int, p->n), GR_WN_ZERO);
    if (t && e->call.arg_n == 1 && e->call.arg[0]->type == t && t->kind != GR_WT_ARRAY && t->kind != GR_WT_STRUCT)
        return construct(f, e, t, GR_WN_IDENTITY);
    switch (t ? t->kind : p->kind) {
    case GR_WT_VEC: return construct_vec(f, e, t ? t->elem : NULL, t ? t->n : p->n);
    case GR_WT_MAT: return construct_mat(f, e, t ? t->elem : NULL, t ? t->n : p->n, t ? t->rows : p->rows);
    case GR_WT_ARRAY: return construct_array(f, e, t);
    case GR_WT_STRUCT: return construct_struct(f, e, t);
    default: return construct_scalar(f, e, t);
    }
}

/* ------------------------------------------------------------------ builtins */

static bool builtin_failed(gr_wgsl_front *f, const gr_wgsl_expr *e, gr_wgsl_builtin b) {
    gr_buf types = {0}, hint = {0};
    for (uint32_t i = 0; i < e->call.arg_n && i < 9; i++)
        gr_buf_printf(&types, "%s%.*s", i ? ", " : "", GR_STR_ARG(e->call.arg[i]->type->text));
    uint32_t arity = gr_wgsl_builtin_arity(b);
    if (e->call.arg_n != arity)
        gr_wgsl_error(f, GR_D_WGSL_ARGUMENTS, e->offset, NULL, "'%s' takes %u argument%s, not %u",
                      gr_wgsl_builtin_text(b), arity, arity == 1 ? "" : "s", e->call.arg_n);
    else
        gr_wgsl_error(f, GR_D_WGSL_OVERLOAD, e->offset, NULL, "no overload %s(%.*s)", gr_wgsl_builtin_text(b),
                      GR_STR_ARG(gr_buf_view(&types)));
    gr_wgsl_describe_builtin(f, b, &hint);
    gr_report_hint(f->diags, "it takes %.*s", GR_STR_ARG(gr_buf_view(&hint)));
    gr_buf_free(&types);
    gr_buf_free(&hint);
    return false;
}

static bool need_ptr(gr_wgsl_front *f, gr_wgsl_expr *e, const char *what) {
    return gr_wgsl_error(f, GR_D_WGSL_OVERLOAD, e->call.arg_n ? e->call.arg[0]->offset : e->offset, NULL,
                         "the first argument of %s must be %s%s%.*s", gr_wgsl_builtin_text(e->call.builtin), what,
                         e->call.arg_n ? ", not " : "", e->call.arg_n ? (int)e->call.arg[0]->type->text.n : 0,
                         e->call.arg_n ? e->call.arg[0]->type->text.p : "");
}

static bool check_array_length(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!count_is(f, e, 1)) return false;
    const gr_wgsl_type *t = e->call.arg[0]->type;
    if (t->kind != GR_WT_PTR || t->elem->kind != GR_WT_ARRAY || t->elem->count || t->elem->count_expr)
        return need_ptr(f, e, "a pointer to a runtime-sized array");
    e->type = f->types.u32;
    return true;
}

static bool check_uniform_load(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!count_is(f, e, 1)) return false;
    const gr_wgsl_type *t = e->call.arg[0]->type;
    if (t->kind != GR_WT_PTR || t->space != GR_WGSL_SPACE_WORKGROUP)
        return need_ptr(f, e, "a pointer to workgroup memory");
    if (t->elem->kind == GR_WT_ATOMIC) {
        e->type = t->elem->elem;
        return true;
    }
    if (!t->elem->constructible) return need_ptr(f, e, "a pointer to a type without atomics");
    e->type = t->elem;
    return true;
}

static const gr_wgsl_type *exchange_result(gr_wgsl_front *f, const gr_wgsl_type *t) {
    gr_str names[2] = {GR_STR("old_value"), GR_STR("exchanged")};
    const gr_wgsl_type *types[2] = {t, f->types.bool_};
    return gr_wgsl_result_struct(f,
                                 t->kind == GR_WT_I32 ? GR_STR("__atomic_compare_exchange_result_i32")
                                                      : GR_STR("__atomic_compare_exchange_result_u32"),
                                 names, types, 2);
}

static bool check_atomic(gr_wgsl_front *f, gr_wgsl_expr *e, gr_wgsl_builtin b) {
    uint32_t want = b == GR_WB_atomicLoad ? 1 : b == GR_WB_atomicCompareExchangeWeak ? 3 : 2;
    if (!count_is(f, e, want)) return false;
    const gr_wgsl_type *t = e->call.arg[0]->type;
    if (t->kind != GR_WT_PTR || t->elem->kind != GR_WT_ATOMIC) return need_ptr(f, e, "a pointer to an atomic");
    if (t->access != GR_WGSL_READ_WRITE)
        return gr_wgsl_error(f, GR_D_WGSL_ACCESS, e->call.arg[0]->offset, NULL, "%s needs read_write access",
                             gr_wgsl_builtin_text(b));
    const gr_wgsl_type *s = t->elem->elem;
    for (uint32_t i = 1; i < want; i++)
        if (!gr_wgsl_convert(f, e->call.arg[i], s, "the operand of an atomic")) return false;
    e->type = b == GR_WB_atomicStore                 ? f->types.void_
              : b == GR_WB_atomicCompareExchangeWeak ? exchange_result(f, s)
                                                     : s;
    return e->type != NULL;
}

static bool bitcast_ok(const gr_wgsl_type *from, const gr_wgsl_type *to) {
    const gr_wgsl_type *a = gr_wgsl_scalar_of(from), *b = gr_wgsl_scalar_of(to);
    if (!a || !b || from->kind == GR_WT_MAT || to->kind == GR_WT_MAT || a->kind == GR_WT_BOOL || b->kind == GR_WT_BOOL)
        return false;
    return from->size == to->size && from->size > 0;
}

static bool check_bitcast(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_wgsl_expr *callee = e->call.callee;
    if (callee->ident.targ_n != 1)
        return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, "write bitcast<T>(e)",
                             "bitcast takes one template argument, not %u", callee->ident.targ_n);
    const gr_wgsl_type *to = gr_wgsl_check_type(f, callee->ident.targ[0]);
    if (!to || !count_is(f, e, 1)) return false;
    gr_wgsl_expr *a = e->call.arg[0];
    const gr_wgsl_type *as = gr_wgsl_scalar_of(a->type);
    if (as && as->kind == GR_WT_ABSTRACT_INT) { /* i32 or u32, whichever holds it */
        const gr_wgsl_type *s = gr_wgsl_scalar_of(to);
        bool as_u32 = s && s->kind == GR_WT_U32;
        for (uint32_t i = 0; i < a->value->n; i++) as_u32 &= gr_wgsl_const_leaf(a->value, i).i >= 0;
        if (!gr_wgsl_coerce(f, a, gr_wgsl_with_scalar(f, a->type, as_u32 ? f->types.u32 : f->types.i32))) return false;
    } else if (!gr_wgsl_materialize(f, a)) {
        return false;
    }
    if (!bitcast_ok(a->type, to))
        return gr_wgsl_error(f, GR_D_WGSL_OVERLOAD, e->offset,
                             "both sides must be numeric scalars or vectors of the same size",
                             "%.*s cannot be bitcast to %.*s", GR_STR_ARG(a->type->text), GR_STR_ARG(to->text));
    e->type = to;
    e->stage = a->stage;
    return gr_wgsl_finish(f, e);
}

static bool needs_subgroups(gr_wgsl_builtin b) {
    gr_str s = gr_str_of(gr_wgsl_builtin_text(b));
    return gr_str_starts(s, "subgroup") || gr_str_starts(s, "quad");
}

/* Lane arguments that must be constant. */
static bool check_lane(gr_wgsl_front *f, const gr_wgsl_expr *e, gr_wgsl_builtin b) {
    bool broadcast = b == GR_WB_subgroupBroadcast || b == GR_WB_quadBroadcast;
    bool shuffle = b == GR_WB_subgroupShuffle || b == GR_WB_subgroupShuffleXor || b == GR_WB_subgroupShuffleUp ||
                   b == GR_WB_subgroupShuffleDown;
    if (!broadcast && !shuffle) return true;
    const gr_wgsl_expr *lane = e->call.arg[1];
    const char *name = gr_wgsl_builtin_text(b);
    if (broadcast && lane->stage != GR_WGSL_CONST)
        return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, lane->offset,
                             b == GR_WB_subgroupBroadcast ? "use subgroupShuffle" : NULL,
                             "the lane of %s must be a const-expression", name);
    if (!lane->value) return true;
    int64_t v = gr_wgsl_const_leaf(lane->value, 0).i, most = b == GR_WB_quadBroadcast ? 4 : 128;
    if (v < 0 || v >= most)
        return gr_wgsl_error(f, GR_D_WGSL_CONST_ERROR, lane->offset, NULL, "the lane of %s must be 0 to %lld, not %lld",
                             name, (long long)most - 1, (long long)v);
    return true;
}

bool gr_wgsl_check_builtin(gr_wgsl_front *f, gr_wgsl_expr *e, gr_wgsl_builtin b) {
    const gr_wgsl_type *arg[9];
    gr_wgsl_match m;
    e->call.call = GR_WC_BUILTIN;
    e->call.builtin = b;
    if (!gr_wgsl_load_args(f, e)) return false;
    if (needs_subgroups(b) && !f->m->enable_subgroups)
        return gr_wgsl_error(f, GR_D_WGSL_NOT_ENABLED, e->offset, "begin the module with `enable subgroups;`",
                             "%s is used without its directive", gr_wgsl_builtin_text(b));
    if (f->fn) f->fn->builtins[b / 64] |= 1ull << b % 64;
    if (b == GR_WB_bitcast) return check_bitcast(f, e);
    if (e->call.callee->ident.targ)
        return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, "remove it", "the function '%s' takes no template list",
                             gr_wgsl_builtin_text(b));
    e->stage = GR_WGSL_RUNTIME;
    gr_str name = gr_str_of(gr_wgsl_builtin_text(b));
    if (gr_str_starts(name, "atomic")) return check_atomic(f, e, b);
    if (b == GR_WB_arrayLength) return check_array_length(f, e);
    if (b == GR_WB_workgroupUniformLoad) return check_uniform_load(f, e);
    if (e->call.arg_n > 8) return builtin_failed(f, e, b);
    gr_wgsl_stage stage = gr_wgsl_args_stage(e);
    for (uint32_t i = 0; i < e->call.arg_n; i++) arg[i] = e->call.arg[i]->type;
    if (!gr_wgsl_match_builtin(f, b, arg, e->call.arg_n, stage == GR_WGSL_CONST, &m)) return builtin_failed(f, e, b);
    for (uint32_t i = 0; i < e->call.arg_n; i++)
        if (!gr_wgsl_coerce(f, e->call.arg[i], m.param[i])) return false;
    e->type = m.result;
    e->stage = m.const_eval && e->call.arg_n ? stage : GR_WGSL_RUNTIME;
    return check_lane(f, e, b) && gr_wgsl_finish(f, e);
}

bool gr_wgsl_check_call(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_wgsl_expr *callee = e->call.callee;
    gr_wgsl_decl *d = callee->ident.decl;
    gr_wgsl_partial p;
    bool bad;
    if (d && d->kind == GR_WD_FUNCTION) return check_user_call(f, e, d);
    uint32_t skipped = f->not_evaluated;
    f->not_evaluated = 0;
    bool is_type = gr_wgsl_type_of_name(f, callee, &p, &bad);
    f->not_evaluated = skipped;
    if (is_type) return gr_wgsl_check_construct(f, e, &p);
    if (bad) return false;
    if (d)
        return gr_wgsl_error(f, GR_D_WGSL_NAME_KIND, e->offset, NULL, "'%.*s' is a %s and cannot be called",
                             GR_STR_ARG(d->name), d->kind == GR_WD_VAR ? "variable" : "value");
    gr_wgsl_builtin b = gr_wgsl_builtin_of(callee->ident.name);
    if (b) return gr_wgsl_check_builtin(f, e, b);
    gr_wgsl_load_args(f, e);
    if (gr_wgsl_predeclared(callee->ident.name) == GR_WGSL_NAME_FUNCTION)
        return gr_wgsl_error(f, GR_D_WGSL_UNSUPPORTED, e->offset, "the subset has compute and buffers only",
                             "the function %.*s is outside the compute subset", GR_STR_ARG(callee->ident.name));
    return gr_wgsl_check_expr(f, callee); /* reports the name */
}
