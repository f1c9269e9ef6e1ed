/* Reflection: what functions and entry points statically use, callees included. */
#include "wgsl/wgsl_int.h"

#include <stdlib.h>

typedef GR_VEC(gr_wgsl_decl *) decl_vec;

static bool add_use(gr_wgsl_front *f, decl_vec *v, gr_wgsl_decl *d, uint32_t stamp) {
    if (f->stamp[d->id] == stamp) return true;
    f->stamp[d->id] = stamp;
    gr_wgsl_decl **p = GR_PUSH(f->arena, v);
    if (!p) return gr_wgsl_oom(f);
    *p = d;
    return true;
}

/* Overrides in an expression at module scope; its height is bounded by the parser. */
static bool overrides_of(gr_wgsl_front *f, decl_vec *v, const gr_wgsl_expr *e, uint32_t stamp) {
    if (!e || e->value) return true;
    switch (e->kind) {
    case GR_WE_IDENT:
        if (e->ident.decl && e->ident.decl->kind == GR_WD_OVERRIDE) GR_TRY(add_use(f, v, e->ident.decl, stamp));
        return true;
    case GR_WE_PAREN:
    case GR_WE_UNARY: return overrides_of(f, v, e->unary.a, stamp);
    case GR_WE_BINARY: return overrides_of(f, v, e->binary.a, stamp) && overrides_of(f, v, e->binary.b, stamp);
    case GR_WE_INDEX: return overrides_of(f, v, e->index.base, stamp) && overrides_of(f, v, e->index.index, stamp);
    case GR_WE_MEMBER: return overrides_of(f, v, e->member.base, stamp);
    case GR_WE_CALL:
        for (uint32_t i = 0; i < e->call.arg_n; i++) GR_TRY(overrides_of(f, v, e->call.arg[i], stamp));
        return true;
    default: return true;
    }
}

/* Direct uses, those of callees, and the overrides behind initializers and array sizes. */
static bool close_function(gr_wgsl_front *f, gr_wgsl_function *fn) {
    decl_vec v = {0};
    uint32_t stamp = f->m->functions_n + fn->index + 1;
    for (uint32_t i = 0; i < fn->uses_n; i++) GR_TRY(add_use(f, &v, fn->uses[i], stamp));
    for (uint32_t c = 0; c < fn->calls_n; c++) {
        const gr_wgsl_function *g = fn->calls[c];
        for (uint32_t i = 0; i < g->uses_n; i++) GR_TRY(add_use(f, &v, g->uses[i], stamp));
        for (size_t i = 0; i < sizeof fn->builtins / sizeof *fn->builtins; i++) fn->builtins[i] |= g->builtins[i];
    }
    for (uint32_t i = 0; i < 3; i++) GR_TRY(overrides_of(f, &v, fn->workgroup_size[i], stamp));
    for (uint32_t i = 0; i < v.n; i++) { /* grows while walked */
        const gr_wgsl_decl *d = v.v[i];
        GR_TRY(overrides_of(f, &v, d->init, stamp));
        if (d->type && d->type->kind == GR_WT_ARRAY) GR_TRY(overrides_of(f, &v, d->type->count_expr, stamp));
    }
    fn->uses = v.v;
    fn->uses_n = v.n;
    return true;
}

static bool uses(const gr_wgsl_function *fn, gr_wgsl_builtin b) { return fn->builtins[b / 64] >> b % 64 & 1; }

static bool uses_like(const gr_wgsl_function *fn, const char *prefix) {
    for (int b = 1; b < GR_WB_COUNT; b++)
        if (uses(fn, (gr_wgsl_builtin)b) && gr_str_starts(gr_str_of(gr_wgsl_builtin_text((gr_wgsl_builtin)b)), prefix))
            return true;
    return false;
}

static int by_binding(const void *x, const void *y) {
    const gr_wgsl_decl *a = *(const gr_wgsl_decl *const *)x, *b = *(const gr_wgsl_decl *const *)y;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    return a->binding < b->binding ? -1 : a->binding > b->binding;
}

static bool unique_bindings(gr_wgsl_front *f, const gr_wgsl_entry *e) {
    bool ok = true;
    for (uint32_t i = 1; i < e->resource_n; i++) {
        const gr_wgsl_decl *a = e->resource[i - 1], *b = e->resource[i];
        if (a->group != b->group || a->binding != b->binding) continue;
        const gr_wgsl_decl *later = a->offset > b->offset ? a : b, *first = later == a ? b : a;
        ok = gr_wgsl_error(f, GR_D_WGSL_BINDING, later->offset, "choose another binding",
                           "'%.*s' and '%.*s', both used by the entry point '%.*s', share @group(%u) @binding(%u)",
                           GR_STR_ARG(first->name), GR_STR_ARG(later->name), GR_STR_ARG(e->name), a->group, a->binding);
        gr_wgsl_related(f, first->offset, "'%.*s'", GR_STR_ARG(first->name));
    }
    return ok;
}

static bool fill_entry(gr_wgsl_front *f, gr_wgsl_entry *e, const gr_wgsl_function *fn) {
    e->fn = fn;
    e->name = fn->decl->name;
    e->resource = GR_NEW_N(f->arena, const gr_wgsl_decl *, fn->uses_n);
    e->overrides = GR_NEW_N(f->arena, const gr_wgsl_decl *, fn->uses_n);
    e->workgroup = GR_NEW_N(f->arena, const gr_wgsl_decl *, fn->uses_n);
    if (!e->resource || !e->overrides || !e->workgroup) return gr_wgsl_oom(f);
    for (uint32_t i = 0; i < fn->uses_n; i++) {
        const gr_wgsl_decl *d = fn->uses[i];
        if (d->kind == GR_WD_OVERRIDE) e->overrides[e->overrides_n++] = d;
        else if (d->has_binding) e->resource[e->resource_n++] = d;
        else if (d->space == GR_WGSL_SPACE_WORKGROUP) {
            e->workgroup[e->workgroup_n++] = d;
            e->workgroup_bytes += gr_wgsl_round_up(d->type->size, 16);
        }
    }
    qsort(e->resource, e->resource_n, sizeof *e->resource, by_binding);
    for (uint32_t i = 0; i < 3; i++) {
        const gr_wgsl_expr *w = fn->workgroup_size[i];
        e->workgroup_size[i] = !w ? 1 : w->value ? (uint32_t)gr_wgsl_const_leaf(w->value, 0).i : 0;
    }
    e->uses_barrier =
        uses(fn, GR_WB_workgroupBarrier) || uses(fn, GR_WB_storageBarrier) || uses(fn, GR_WB_workgroupUniformLoad);
    e->uses_subgroups = uses_like(fn, "subgroup") || uses_like(fn, "quad");
    e->uses_atomics = uses_like(fn, "atomic");
    e->uses_array_length = uses(fn, GR_WB_arrayLength);
    return unique_bindings(f, e);
}

bool gr_wgsl_reflect(gr_wgsl_front *f) {
    uint32_t n = 0;
    bool ok = true;
    for (uint32_t i = 0; i < f->m->functions_n; i++) {
        GR_TRY(close_function(f, f->m->functions[i]));
        n += f->m->functions[i]->is_entry;
    }
    f->m->entry = GR_NEW_N(f->arena, gr_wgsl_entry, n);
    if (!f->m->entry) return gr_wgsl_oom(f);
    for (uint32_t i = 0; i < f->m->decl_n; i++) {
        const gr_wgsl_decl *d = f->m->decl[i];
        if (d->kind == GR_WD_FUNCTION && d->function->is_entry)
            ok &= fill_entry(f, &f->m->entry[f->m->entry_n++], d->function);
    }
    return ok;
}
