/* Specialisation: overrides to values, and every override-expression checked, as at pipeline creation. */
#include "wgsl/wgsl_int.h"

#include "base/math.h"

#include <stdio.h>

typedef struct spec_run {
    gr_wgsl_front f;
    gr_wgsl_spec *s;
    bool ok;
} spec_run;

static void front_for(gr_wgsl_front *f, const gr_wgsl_spec *s, gr_arena *a, gr_diags *d) {
    union {
        const gr_wgsl_module *from;
        gr_wgsl_module *to;
    } u = {s->module};
    *f = (gr_wgsl_front){.arena = a, .diags = d, .m = u.to, .spec = s};
    for (uint32_t i = 0; i < s->module->types_n && i < 8; i++) {
        union {
            const gr_wgsl_type *from;
            gr_wgsl_type *to;
        } t = {s->module->types[i]};
        gr_wgsl_type **const at[] = {&f->types.void_, &f->types.bool_, &f->types.abstract_int, &f->types.abstract_float,
                                     &f->types.i32,   &f->types.u32,   &f->types.f32,          &f->types.f16};
        *at[i] = t.to; /* the first eight ids are the scalars, in the order of gr_wgsl_kind */
    }
}

static bool matches(const gr_wgsl_decl *d, gr_str key) {
    char id[16];
    if (d->has_id) {
        snprintf(id, sizeof id, "%u", d->override_id);
        return gr_str_eqz(key, id);
    }
    return gr_str_eq(key, d->name);
}

/* A given number as the override's type; out of range is an error, as in WebGPU. */
static const gr_wgsl_const *from_number(gr_wgsl_front *f, const gr_wgsl_decl *d, double v) {
    gr_wgsl_kind k = d->type->kind;
    double r = v;
    bool fits = v == v && gr_fabs(v) <= 1.7976931348623157e308;
    if (k == GR_WT_BOOL) return gr_wgsl_const_i(f, d->type, v == v && v != 0);
    if (k == GR_WT_I32) fits = fits && gr_trunc(v) >= -2147483648.0 && gr_trunc(v) <= 2147483647.0;
    else if (k == GR_WT_U32) fits = fits && gr_trunc(v) >= 0 && gr_trunc(v) <= 4294967295.0;
    else fits = fits && gr_wgsl_round_float(k, v, &r);
    if (!fits) {
        gr_wgsl_error(f, GR_D_WGSL_OVERRIDE, d->offset, NULL,
                      "the value %g of the override '%.*s' cannot be represented as %.*s", v, GR_STR_ARG(d->name),
                      GR_STR_ARG(d->type->text));
        return NULL;
    }
    if (k == GR_WT_I32 || k == GR_WT_U32) return gr_wgsl_const_i(f, d->type, (int64_t)gr_trunc(v));
    return gr_wgsl_const_f(f, d->type, r);
}

static bool used_by(const gr_wgsl_entry *e, const gr_wgsl_decl *d) {
    for (uint32_t i = 0; i < e->overrides_n; i++)
        if (e->overrides[i] == d) return true;
    return false;
}

static bool decide(gr_wgsl_front *f, gr_wgsl_spec *s, const gr_wgsl_override_value *v, uint32_t n) {
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < s->module->overrides_n; k++) found |= matches(s->module->overrides[k], v[i].key);
        if (!found)
            ok = gr_wgsl_error(f, GR_D_WGSL_OVERRIDE, 0, NULL, "the module has no override '%.*s'",
                               GR_STR_ARG(v[i].key));
    }
    for (uint32_t k = 0; k < s->module->overrides_n; k++) { /* dependencies come first */
        const gr_wgsl_decl *d = s->module->overrides[k];
        const gr_wgsl_override_value *given = NULL;
        for (uint32_t i = 0; i < n; i++)
            if (matches(d, v[i].key)) given = &v[i];
        if (given) s->override_value[k] = from_number(f, d, given->value);
        else if (!used_by(s->entry, d)) continue;
        else if (d->init) s->override_value[k] = d->init->value ? d->init->value : gr_wgsl_eval(f, d->init);
        else
            gr_wgsl_error(f, GR_D_WGSL_OVERRIDE, d->offset, "give the pipeline constant a value",
                          "the override '%.*s' has no value", GR_STR_ARG(d->name));
        ok &= s->override_value[k] != NULL;
    }
    return ok;
}

/* --------------------------------- every override-expression under the values */

static void walk_expr(spec_run *r, gr_wgsl_expr *e);

/* Partial checks see override operands as constants: they are put in, checked and taken out again. */
static void check_with_values(spec_run *r, gr_wgsl_expr *e) {
    gr_wgsl_expr **arg = e->kind == GR_WE_BINARY ? &e->binary.a : e->kind == GR_WE_CALL ? e->call.arg : NULL;
    uint32_t n = e->kind == GR_WE_BINARY ? 2 : e->kind == GR_WE_CALL ? e->call.arg_n : 0;
    bool mine[8] = {0};
    for (uint32_t i = 0; i < n && i < 8; i++)
        if (arg[i]->stage == GR_WGSL_OVERRIDE && !arg[i]->value) {
            arg[i]->value = gr_wgsl_eval(&r->f, arg[i]);
            mine[i] = true;
            r->ok &= arg[i]->value != NULL;
        }
    if (r->ok) r->ok = gr_wgsl_check_partial(&r->f, e);
    for (uint32_t i = 0; i < n && i < 8; i++)
        if (mine[i]) arg[i]->value = NULL;
}

static void check_index(spec_run *r, const gr_wgsl_expr *e) {
    gr_wgsl_expr *i = e->index.index;
    const gr_wgsl_type *t = e->index.base->type;
    uint32_t n = t->kind == GR_WT_ARRAY ? gr_wgsl_spec_count(r->s, t) : t->n;
    const gr_wgsl_const *c = i->value ? i->value : i->stage == GR_WGSL_OVERRIDE ? gr_wgsl_eval(&r->f, i) : NULL;
    if (!c) return;
    int64_t at = gr_wgsl_const_leaf(c, 0).i;
    if (at < 0 || (n && at >= n))
        r->ok = gr_wgsl_error(&r->f, GR_D_WGSL_INDEX, i->offset, NULL, "the index %lld is outside %.*s of %u elements",
                              (long long)at, GR_STR_ARG(t->text), n);
}

static bool short_circuits(spec_run *r, gr_wgsl_expr *e) {
    if (e->binary.op != GR_WO_LOGICAL_AND && e->binary.op != GR_WO_LOGICAL_OR) return false;
    gr_wgsl_expr *a = e->binary.a;
    const gr_wgsl_const *c = a->value ? a->value : a->stage == GR_WGSL_OVERRIDE ? gr_wgsl_eval(&r->f, a) : NULL;
    return c && gr_wgsl_const_leaf(c, 0).i == (e->binary.op == GR_WO_LOGICAL_OR);
}

static void walk_expr(spec_run *r, gr_wgsl_expr *e) {
    if (!e || e->value || !r->ok) return;
    if (e->stage == GR_WGSL_OVERRIDE) { /* the whole subtree is evaluated */
        r->ok = gr_wgsl_eval(&r->f, e) != NULL;
        return;
    }
    switch (e->kind) {
    case GR_WE_PAREN:
    case GR_WE_UNARY:
    case GR_WE_ADDRESS_OF:
    case GR_WE_DEREF:
    case GR_WE_LOAD: walk_expr(r, e->unary.a); break;
    case GR_WE_BINARY:
        walk_expr(r, e->binary.a);
        if (!r->ok || short_circuits(r, e)) break;
        walk_expr(r, e->binary.b);
        check_with_values(r, e);
        break;
    case GR_WE_INDEX:
        walk_expr(r, e->index.base);
        walk_expr(r, e->index.index);
        if (r->ok) check_index(r, e);
        break;
    case GR_WE_MEMBER: walk_expr(r, e->member.base); break;
    case GR_WE_CALL:
        for (uint32_t i = 0; i < e->call.arg_n; i++) walk_expr(r, e->call.arg[i]);
        if (r->ok && e->call.call == GR_WC_BUILTIN) check_with_values(r, e);
        break;
    default: break;
    }
}

static void walk_stmt(spec_run *r, gr_wgsl_stmt *s) {
    if (!s || !r->ok) return;
    switch (s->kind) {
    case GR_WS_BLOCK:
        for (uint32_t i = 0; i < s->block.n; i++) walk_stmt(r, s->block.v[i]);
        break;
    case GR_WS_DECL: walk_expr(r, s->decl->init); break;
    case GR_WS_ASSIGN:
        walk_expr(r, s->assign.lhs);
        walk_expr(r, s->assign.rhs);
        if (r->ok && s->assign.lhs && s->assign.rhs->stage == GR_WGSL_OVERRIDE && s->assign.op != GR_WO_NONE) {
            const gr_wgsl_const *old = s->assign.rhs->value;
            s->assign.rhs->value = gr_wgsl_eval(&r->f, s->assign.rhs);
            r->ok = s->assign.rhs->value && gr_wgsl_check_compound(&r->f, s);
            s->assign.rhs->value = old;
        }
        break;
    case GR_WS_INCREMENT:
    case GR_WS_DECREMENT: walk_expr(r, s->assign.lhs); break;
    case GR_WS_IF:
        for (; s && s->kind == GR_WS_IF; s = s->branch.otherwise) {
            walk_expr(r, s->branch.cond);
            walk_stmt(r, s->branch.then);
        }
        walk_stmt(r, s);
        break;
    case GR_WS_SWITCH:
        walk_expr(r, s->select.cond);
        for (uint32_t i = 0; i < s->select.n; i++) walk_stmt(r, s->select.v[i].body);
        break;
    case GR_WS_LOOP:
        walk_stmt(r, s->loop.body);
        walk_stmt(r, s->loop.continuing);
        walk_expr(r, s->loop.break_if);
        break;
    case GR_WS_FOR:
        walk_stmt(r, s->loop_for.init);
        walk_expr(r, s->loop_for.cond);
        walk_stmt(r, s->loop_for.update);
        walk_stmt(r, s->loop_for.body);
        break;
    case GR_WS_WHILE:
        walk_expr(r, s->loop_while.cond);
        walk_stmt(r, s->loop_while.body);
        break;
    case GR_WS_RETURN:
    case GR_WS_CALL: walk_expr(r, s->expr); break;
    default: break;
    }
}

/* The entry point and its callees, each once. */
static bool reached(const gr_wgsl_function *fn, bool *seen, const gr_wgsl_module *m) {
    seen[fn->index] = true;
    for (uint32_t i = fn->index + 1; i-- > 0;) {
        const gr_wgsl_function *g = m->functions[i];
        for (uint32_t k = 0; seen[i] && k < g->calls_n; k++) seen[g->calls[k]->index] = true;
    }
    return true;
}

static bool sizes(spec_run *r) {
    gr_wgsl_spec *s = r->s;
    for (uint32_t i = 0; i < 3; i++) {
        gr_wgsl_expr *w = s->entry->fn->workgroup_size[i];
        const gr_wgsl_const *c = !w ? NULL : w->value ? w->value : gr_wgsl_eval(&r->f, w);
        if (w && !c) return false;
        int64_t v = c ? gr_wgsl_const_leaf(c, 0).i : 1;
        if (v < 1)
            return gr_wgsl_error(&r->f, GR_D_WGSL_OVERRIDE, w->offset, NULL, "the workgroup size %lld is not positive",
                                 (long long)v);
        s->workgroup_size[i] = (uint32_t)v;
    }
    for (uint32_t i = 0; i < s->entry->workgroup_n; i++) {
        const gr_wgsl_decl *d = s->entry->workgroup[i];
        if (d->type->kind == GR_WT_ARRAY && d->type->count_expr) {
            const gr_wgsl_const *c = gr_wgsl_eval(&r->f, d->type->count_expr);
            if (!c) return false;
            int64_t n = gr_wgsl_const_leaf(c, 0).i;
            if (n < 1 || n > GR_WGSL_MAX_ELEMENTS)
                return gr_wgsl_error(&r->f, GR_D_WGSL_OVERRIDE, d->offset, NULL,
                                     "the array '%.*s' has %lld elements: it needs 1 to %d", GR_STR_ARG(d->name),
                                     (long long)n, GR_WGSL_MAX_ELEMENTS);
        }
        s->workgroup_bytes += gr_wgsl_round_up(gr_wgsl_spec_size(s, d->type), 16);
    }
    return true;
}

bool gr_wgsl_specialize(gr_arena *arena, gr_diags *d, const gr_wgsl_module *m, gr_str entry,
                        const gr_wgsl_override_value *values, uint32_t n, gr_wgsl_spec *out) {
    spec_run r = {.s = out, .ok = true};
    *out = (gr_wgsl_spec){.module = m, .entry = gr_wgsl_find_entry(m, entry), .arena = arena};
    out->override_value = GR_NEW_N(arena, const gr_wgsl_const *, m->overrides_n);
    bool *seen = GR_NEW_N(arena, bool, m->functions_n);
    if (!out->override_value || !seen) return gr_report_oom(d);
    front_for(&r.f, out, arena, d);
    if (!out->entry)
        return gr_wgsl_error(&r.f, GR_D_WGSL_NO_ENTRY, 0, NULL, "the module has no compute entry point '%.*s'",
                             GR_STR_ARG(entry));
    if (!decide(&r.f, out, values, n) || !sizes(&r)) return false;
    for (uint32_t i = 0; i < out->entry->fn->uses_n; i++)
        if (out->entry->fn->uses[i]->kind == GR_WD_VAR) walk_expr(&r, out->entry->fn->uses[i]->init);
    reached(out->entry->fn, seen, m);
    for (uint32_t i = 0; i < m->functions_n; i++)
        if (seen[i]) walk_stmt(&r, m->functions[i]->body);
    return r.ok;
}

const gr_wgsl_const *gr_wgsl_spec_eval(const gr_wgsl_spec *s, gr_diags *d, const gr_wgsl_expr *e) {
    gr_wgsl_front f;
    union {
        const gr_wgsl_expr *from;
        gr_wgsl_expr *to;
    } u = {e};
    if (e->value) return e->value;
    front_for(&f, s, s->arena, d);
    return gr_wgsl_eval(&f, u.to);
}

uint32_t gr_wgsl_spec_count(const gr_wgsl_spec *s, const gr_wgsl_type *array) {
    if (!array->count_expr) return array->count;
    gr_diags quiet;
    gr_diags_init(&quiet);
    const gr_wgsl_const *c = gr_wgsl_spec_eval(s, &quiet, array->count_expr);
    gr_diags_free(&quiet);
    int64_t n = c ? gr_wgsl_const_leaf(c, 0).i : 0;
    return n > 0 && n <= INT32_MAX ? (uint32_t)n : 0;
}

uint64_t gr_wgsl_spec_size(const gr_wgsl_spec *s, const gr_wgsl_type *t) {
    return t->kind == GR_WT_ARRAY && t->count_expr ? t->stride * gr_wgsl_spec_count(s, t) : t->size;
}
