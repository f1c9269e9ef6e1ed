/* Module-scope declarations: attributes, address spaces, structures, functions, entry points. */
#include "wgsl/wgsl_int.h"

/* ---------------------------------------------------------------- attributes */

/* Every attribute must be in the set of kinds `allowed` and, diagnostic apart, occur once. */
static bool only_attrs(gr_wgsl_front *f, const gr_wgsl_attr *a, uint32_t n, uint32_t allowed, const char *what) {
    bool ok = true;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bit = 1u << a[i].kind;
        if (a[i].kind == GR_WA_STAGE_IO)
            ok = gr_wgsl_error(f, GR_D_WGSL_UNSUPPORTED, a[i].offset, "the subset has compute shaders only",
                               "the attribute '@%.*s' is outside the compute subset", GR_STR_ARG(a[i].name));
        else if (!(allowed & bit))
            ok = gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a[i].offset, NULL, "the attribute '@%.*s' does not apply to %s",
                               GR_STR_ARG(a[i].name), what);
        else if ((seen & bit) && a[i].kind != GR_WA_DIAGNOSTIC)
            ok = gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a[i].offset, "remove one of them",
                               "the attribute '@%.*s' is repeated", GR_STR_ARG(a[i].name));
        seen |= bit;
    }
    return ok && gr_wgsl_check_diagnostic_attrs(f, a, n);
}

/* The one integer argument of an attribute, a const-expression. */
static bool attr_int(gr_wgsl_front *f, const gr_wgsl_attr *a, int64_t *out) {
    if (a->arg_n != 1)
        return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a->offset, NULL, "'@%.*s' takes one argument, not %u",
                             GR_STR_ARG(a->name), a->arg_n);
    if (!gr_wgsl_check_value(f, &a->arg[0])) return false;
    gr_wgsl_expr *e = a->arg[0];
    if (e->stage != GR_WGSL_CONST)
        return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, e->offset, NULL,
                             "the argument of '@%.*s' must be a const-expression", GR_STR_ARG(a->name));
    if (!gr_wgsl_materialize(f, e)) return false;
    if (e->type->kind != GR_WT_I32 && e->type->kind != GR_WT_U32)
        return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, e->offset, NULL,
                             "the argument of '@%.*s' must be i32 or u32, not %.*s", GR_STR_ARG(a->name),
                             GR_STR_ARG(e->type->text));
    *out = gr_wgsl_const_leaf(e->value, 0).i;
    return true;
}

static bool no_args(gr_wgsl_front *f, const gr_wgsl_attr *a) {
    return !a || !a->has_parens ||
           gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a->offset, "remove the parentheses", "'@%.*s' takes no arguments",
                         GR_STR_ARG(a->name));
}

static bool attr_u32(gr_wgsl_front *f, const gr_wgsl_attr *a, uint32_t most, uint32_t *out) {
    int64_t v;
    if (!attr_int(f, a, &v)) return false;
    if (v < 0 || v > most)
        return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a->arg[0]->offset, NULL,
                             "the argument of '@%.*s' must be 0 to %u, not %lld", GR_STR_ARG(a->name), most,
                             (long long)v);
    *out = (uint32_t)v;
    return true;
}

/* -------------------------------------------------------- module-scope values */

static bool check_override(gr_wgsl_front *f, gr_wgsl_decl *d) {
    bool ok = only_attrs(f, d->attr, d->attr_n, 1u << GR_WA_ID, "an override");
    const gr_wgsl_attr *id = gr_wgsl_find_attr(d->attr, d->attr_n, GR_WA_ID);
    if (id) ok &= d->has_id = attr_u32(f, id, 65535, &d->override_id);
    d->override_index = f->m->overrides_n;
    gr_wgsl_decl **v = gr_arena_grow(f->arena, f->m->overrides, f->m->overrides_n, f->m->overrides_n + 1u, sizeof *v);
    if (!v) return gr_wgsl_oom(f);
    v[f->m->overrides_n++] = d;
    f->m->overrides = v;
    if (!d->type_expr && !d->init)
        return gr_wgsl_error(f, GR_D_WGSL_INITIALIZER, d->offset, NULL,
                             "the override '%.*s' needs a type or an initializer", GR_STR_ARG(d->name));
    if (!gr_wgsl_check_init(f, d, false)) return false;
    const gr_wgsl_type *t = d->type;
    if (!gr_wgsl_is_scalar(t)) {
        d->type = NULL;
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, d->offset, NULL, "an override must be a scalar, not %.*s",
                             GR_STR_ARG(t->text));
    }
    if (d->init && d->init->stage == GR_WGSL_RUNTIME)
        return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, d->init->offset, NULL,
                             "the value of an override must be a const- or override-expression");
    return ok;
}

static bool unique_ids(gr_wgsl_front *f) {
    gr_map seen = {0};
    bool ok = true;
    for (uint32_t i = 0; i < f->m->overrides_n; i++) {
        gr_wgsl_decl *d = f->m->overrides[i];
        uint32_t first;
        const char *key = gr_arena_printf(f->arena, "%u", d->override_id);
        if (!key) return gr_wgsl_oom(f);
        if (!d->has_id) continue;
        if (gr_map_get(&seen, gr_str_of(key), &first)) {
            ok = gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, d->offset, "choose another number", "two overrides have @id(%u)",
                               d->override_id);
            gr_wgsl_related(f, first, "the first one");
        } else if (!gr_map_put(f->arena, &seen, gr_str_of(key), d->offset)) {
            return gr_wgsl_oom(f);
        }
    }
    return ok;
}

static bool enumerant(const gr_wgsl_expr *e, gr_str *name) {
    if (e->kind != GR_WE_IDENT || e->ident.targ || e->ident.decl) return false;
    *name = e->ident.name;
    return true;
}

static bool read_space(gr_wgsl_front *f, gr_wgsl_decl *d) {
    gr_str name = {0};
    if (!d->targ_n) {
        return gr_wgsl_error(f, GR_D_WGSL_ADDRESS_SPACE, d->offset,
                             "write var<private>, var<workgroup>, var<uniform> or var<storage>",
                             "the module-scope variable '%.*s' has no address space", GR_STR_ARG(d->name));
    }
    if (enumerant(d->targ[0], &name)) d->space = gr_wgsl_space_of(name);
    if (gr_str_eqz(name, "immediate"))
        return gr_wgsl_error(f, GR_D_WGSL_UNSUPPORTED, d->targ[0]->offset, NULL,
                             "the address space immediate is outside the subset");
    if (!d->space)
        return gr_wgsl_error(f, GR_D_WGSL_ADDRESS_SPACE, d->targ[0]->offset, "private, workgroup, uniform or storage",
                             "expected an address space");
    if (d->space == GR_WGSL_SPACE_FUNCTION)
        return gr_wgsl_error(f, GR_D_WGSL_ADDRESS_SPACE, d->targ[0]->offset, "use private",
                             "a module-scope variable cannot be in the address space function");
    d->access =
        d->space == GR_WGSL_SPACE_UNIFORM || d->space == GR_WGSL_SPACE_STORAGE ? GR_WGSL_READ : GR_WGSL_READ_WRITE;
    if (d->targ_n > 2)
        return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, d->targ[2]->offset, NULL,
                             "var takes an address space and an access mode");
    if (d->targ_n == 2) {
        name = (gr_str){0};
        gr_wgsl_access a = enumerant(d->targ[1], &name) ? gr_wgsl_access_of(name) : GR_WGSL_ACCESS_NONE;
        if (!a)
            return gr_wgsl_error(f, GR_D_WGSL_ACCESS, d->targ[1]->offset, "read or read_write",
                                 "expected an access mode");
        if (d->space != GR_WGSL_SPACE_STORAGE)
            return gr_wgsl_error(f, GR_D_WGSL_ACCESS, d->targ[1]->offset, "remove it",
                                 "only storage variables take an access mode");
        if (a == GR_WGSL_WRITE)
            return gr_wgsl_error(f, GR_D_WGSL_ACCESS, d->targ[1]->offset, "use read_write",
                                 "a storage buffer cannot be write-only");
        d->access = a;
    }
    return true;
}

static bool space_takes(gr_wgsl_front *f, gr_wgsl_decl *d, const gr_wgsl_type *t) {
    const char *space = gr_wgsl_space_text(d->space), *why = NULL;
    switch (d->space) {
    case GR_WGSL_SPACE_PRIVATE: why = t->constructible ? NULL : "it is not constructible"; break;
    case GR_WGSL_SPACE_WORKGROUP:
        why = !t->storable ? "it is not storable" : t->has_runtime ? "its size is not fixed" : NULL;
        break;
    case GR_WGSL_SPACE_UNIFORM:
        why = !t->host_shareable  ? "it is not host-shareable"
              : !t->constructible ? t->has_atomic ? "it holds atomics" : "its size is not fixed"
                                  : NULL;
        break;
    default:
        why = !t->host_shareable                        ? "it is not host-shareable"
              : t->kind == GR_WT_ARRAY && t->count_expr ? "its size is an override-expression"
                                                        : NULL;
        break;
    }
    if (why)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, d->offset,
                             t->has_bool && d->space >= GR_WGSL_SPACE_UNIFORM ? "use u32 instead of bool" : NULL,
                             "a variable in %s cannot have the type %.*s: %s", space, GR_STR_ARG(t->text), why);
    if (t->has_atomic && d->space == GR_WGSL_SPACE_STORAGE && d->access != GR_WGSL_READ_WRITE)
        return gr_wgsl_error(f, GR_D_WGSL_ACCESS, d->offset, "declare it var<storage, read_write>",
                             "atomics in storage need the access mode read_write");
    if (d->space != GR_WGSL_SPACE_STORAGE && t->kind == GR_WT_ARRAY && t->count > GR_WGSL_MAX_ELEMENTS)
        return gr_wgsl_error(f, GR_D_WGSL_LIMIT, d->offset, NULL, "an array in %s has %u elements, more than %d", space,
                             t->count, GR_WGSL_MAX_ELEMENTS);
    return gr_wgsl_check_layout(f, t, d->space, d->offset);
}

static bool check_binding(gr_wgsl_front *f, gr_wgsl_decl *d) {
    bool resource = d->space >= GR_WGSL_SPACE_UNIFORM;
    const gr_wgsl_attr *g = gr_wgsl_find_attr(d->attr, d->attr_n, GR_WA_GROUP),
                       *b = gr_wgsl_find_attr(d->attr, d->attr_n, GR_WA_BINDING);
    if (!resource) {
        if (!g && !b) return true;
        return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, (g ? g : b)->offset, NULL,
                             "@group and @binding do not apply to a variable in %s", gr_wgsl_space_text(d->space));
    }
    if (!g || !b)
        return gr_wgsl_error(f, GR_D_WGSL_BINDING, d->offset, "write @group(0) @binding(0)",
                             "the resource variable '%.*s' needs @group and @binding", GR_STR_ARG(d->name));
    if (!attr_u32(f, g, INT32_MAX, &d->group) || !attr_u32(f, b, INT32_MAX, &d->binding)) return false;
    d->has_binding = true;
    return true;
}

static bool check_module_var(gr_wgsl_front *f, gr_wgsl_decl *d) {
    bool ok = only_attrs(f, d->attr, d->attr_n, 1u << GR_WA_GROUP | 1u << GR_WA_BINDING, "a variable");
    gr_wgsl_decl **v = gr_arena_grow(f->arena, f->m->vars, f->m->vars_n, f->m->vars_n + 1u, sizeof *v);
    if (!v) return gr_wgsl_oom(f);
    d->slot = f->m->vars_n;
    v[f->m->vars_n++] = d;
    f->m->vars = v;
    const gr_wgsl_type *written = NULL;
    if (!d->targ_n && d->type_expr && !(written = gr_wgsl_check_type(f, d->type_expr)))
        return false; /* an unsupported handle type says so itself */
    if (!read_space(f, d)) return false;
    ok &= check_binding(f, d);
    if (d->init && d->space != GR_WGSL_SPACE_PRIVATE)
        return gr_wgsl_error(f, GR_D_WGSL_INITIALIZER, d->init->offset, "remove it",
                             "a variable in %s cannot have an initializer", gr_wgsl_space_text(d->space));
    if (!d->init && !d->type_expr)
        return gr_wgsl_error(f, GR_D_WGSL_INITIALIZER, d->offset, NULL, "the variable '%.*s' needs a type%s",
                             GR_STR_ARG(d->name), d->space == GR_WGSL_SPACE_PRIVATE ? " or an initializer" : "");
    if (!gr_wgsl_check_init(f, d, false)) return false;
    if (d->init && d->init->stage == GR_WGSL_RUNTIME)
        return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, d->init->offset, NULL,
                             "a module-scope initializer must be a const- or override-expression");
    if (!space_takes(f, d, d->type)) {
        d->type = NULL;
        return false;
    }
    return ok;
}

/* ---------------------------------------------------------------- structures */

static bool member_attrs(gr_wgsl_front *f, gr_wgsl_member *m) {
    const gr_wgsl_attr *al = gr_wgsl_find_attr(m->attr, m->attr_n, GR_WA_ALIGN),
                       *si = gr_wgsl_find_attr(m->attr, m->attr_n, GR_WA_SIZE);
    const gr_wgsl_attr *bu = gr_wgsl_find_attr(m->attr, m->attr_n, GR_WA_BUILTIN);
    int64_t v;
    if (!only_attrs(f, m->attr, m->attr_n, 1u << GR_WA_ALIGN | 1u << GR_WA_SIZE | 1u << GR_WA_BUILTIN, "a member"))
        return false;
    if (al) {
        if (!attr_int(f, al, &v)) return false;
        if (v < 1 || (v & (v - 1)))
            return gr_wgsl_error(f, GR_D_WGSL_LAYOUT, al->offset, NULL,
                                 "@align must be a positive power of two, not %lld", (long long)v);
        if (m->type->align && (uint64_t)v % m->type->align)
            return gr_wgsl_error(f, GR_D_WGSL_LAYOUT, al->offset, NULL,
                                 "@align(%lld) is less than %u, the alignment of %.*s", (long long)v, m->type->align,
                                 GR_STR_ARG(m->type->text));
        m->align = (uint64_t)v;
    }
    if (si) {
        if (!attr_int(f, si, &v)) return false;
        if (!m->type->creation_fixed)
            return gr_wgsl_error(f, GR_D_WGSL_LAYOUT, si->offset, NULL, "@size needs a type of fixed size");
        if (v < 0 || (uint64_t)v < m->type->size)
            return gr_wgsl_error(f, GR_D_WGSL_LAYOUT, si->offset, NULL,
                                 "@size(%lld) is less than %llu, the size of %.*s", (long long)v,
                                 (unsigned long long)m->type->size, GR_STR_ARG(m->type->text));
        m->size = (uint64_t)v;
    }
    return !bu || gr_wgsl_check_builtin_value(f, bu, m->type, &m->builtin);
}

static bool check_member(gr_wgsl_front *f, gr_wgsl_type *t, uint32_t i) {
    gr_wgsl_member *m = &t->member[i];
    const gr_wgsl_type *e = gr_wgsl_check_type(f, m->type_expr);
    if (!e) return false;
    bool runtime_last = e->kind == GR_WT_ARRAY && e->has_runtime && i + 1 == t->member_n;
    if (e->has_runtime && !runtime_last)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, m->offset, "move it to the end",
                             "a runtime-sized array must be the last member of its structure");
    if (!e->storable || (!e->creation_fixed && !runtime_last))
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, m->offset, NULL, "a member cannot have the type %.*s",
                             GR_STR_ARG(e->text));
    m->type = e;
    m->size = e->size;
    m->align = e->align;
    return member_attrs(f, m);
}

static bool check_struct(gr_wgsl_front *f, gr_wgsl_decl *d) {
    union {
        const gr_wgsl_type *from;
        gr_wgsl_type *to;
    } u = {d->type};
    gr_wgsl_type *t = u.to;
    gr_map names = {0};
    bool ok = only_attrs(f, d->attr, d->attr_n, 0, "a structure");
    if (t->member_n > GR_WGSL_MAX_MEMBERS)
        return gr_wgsl_error(f, GR_D_WGSL_LIMIT, d->offset, NULL, "a structure has more than %d members",
                             GR_WGSL_MAX_MEMBERS);
    for (uint32_t i = 0; i < t->member_n; i++) {
        uint32_t first;
        if (gr_map_get(&names, t->member[i].name, &first)) {
            ok = gr_wgsl_error(f, GR_D_WGSL_REDECLARED, t->member[i].offset, "rename one of them",
                               "the member '%.*s' is declared twice", GR_STR_ARG(t->member[i].name));
            gr_wgsl_related(f, first, "the first one");
        } else if (!gr_map_put(f->arena, &names, t->member[i].name, t->member[i].offset)) {
            return gr_wgsl_oom(f);
        }
        ok &= check_member(f, t, i);
    }
    if (!ok) return false;
    gr_wgsl_layout_struct(t);
    if (t->depth >= GR_WGSL_MAX_TYPE_DEPTH) {
        t->align = 0;
        return gr_wgsl_error(f, GR_D_WGSL_LIMIT, d->offset, NULL, "types nest deeper than %d levels",
                             GR_WGSL_MAX_TYPE_DEPTH);
    }
    if (t->size > UINT32_MAX) {
        t->align = 0;
        return gr_wgsl_error(f, GR_D_WGSL_LIMIT, d->offset, NULL, "the structure has more than 4294967295 bytes");
    }
    return gr_wgsl_add_struct(f, t);
}

/* ------------------------------------------------------------- entry points */

bool gr_wgsl_check_builtin_value(gr_wgsl_front *f, const gr_wgsl_attr *a, const gr_wgsl_type *t, uint8_t *out) {
    gr_str name = {0};
    if (a->arg_n != 1 || a->arg[0]->kind != GR_WE_IDENT || a->arg[0]->ident.targ)
        return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a->offset, NULL, "'@builtin' takes the name of one builtin value");
    name = a->arg[0]->ident.name;
    for (int v = 1; v <= GR_WV_NUM_SUBGROUPS; v++) {
        if (!gr_str_eqz(name, gr_wgsl_builtin_value_text((gr_wgsl_builtin_value)v))) continue;
        if (v >= GR_WV_SUBGROUP_INVOCATION_ID && !f->m->enable_subgroups)
            return gr_wgsl_error(f, GR_D_WGSL_NOT_ENABLED, a->offset, "begin the module with `enable subgroups;`",
                                 "@builtin(%.*s) is used without its directive", GR_STR_ARG(name));
        bool vec = v == GR_WV_GLOBAL_INVOCATION_ID || v == GR_WV_LOCAL_INVOCATION_ID || v == GR_WV_WORKGROUP_ID ||
                   v == GR_WV_NUM_WORKGROUPS;
        const gr_wgsl_type *want = vec ? gr_wgsl_vec(f, f->types.u32, 3) : f->types.u32;
        if (t != want)
            return gr_wgsl_error(f, GR_D_WGSL_ENTRY_POINT, a->offset, NULL, "@builtin(%.*s) has the type %s, not %.*s",
                                 GR_STR_ARG(name), vec ? "vec3<u32>" : "u32", GR_STR_ARG(t->text));
        *out = (uint8_t)v;
        return true;
    }
    static const char *const graphics[] = {"vertex_index",
                                           "instance_index",
                                           "position",
                                           "front_facing",
                                           "frag_depth",
                                           "sample_index",
                                           "sample_mask",
                                           "clip_distances",
                                           "primitive_index",
                                           "barycentric_coord",
                                           "global_invocation_index",
                                           "workgroup_index"};
    for (size_t i = 0; i < sizeof graphics / sizeof *graphics; i++)
        if (gr_str_eqz(name, graphics[i]))
            return gr_wgsl_error(f, GR_D_WGSL_UNSUPPORTED, a->offset, NULL,
                                 "@builtin(%.*s) is outside the compute subset", GR_STR_ARG(name));
    return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a->arg[0]->offset, NULL, "there is no builtin value '%.*s'",
                         GR_STR_ARG(name));
}

static bool check_workgroup_size(gr_wgsl_front *f, gr_wgsl_function *fn, const gr_wgsl_attr *a) {
    if (a->arg_n < 1 || a->arg_n > 3)
        return gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a->offset, NULL,
                             "'@workgroup_size' takes one to three arguments, not %u", a->arg_n);
    const gr_wgsl_type *t = NULL;
    for (uint32_t i = 0; i < a->arg_n; i++) {
        if (!gr_wgsl_check_value(f, &a->arg[i])) return false;
        gr_wgsl_expr *e = a->arg[i];
        if (e->stage == GR_WGSL_RUNTIME)
            return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, e->offset, NULL,
                                 "a workgroup size must be a const- or override-expression");
        if (e->type->kind != GR_WT_ABSTRACT_INT && e->type->kind != GR_WT_I32 && e->type->kind != GR_WT_U32)
            return gr_wgsl_error(f, GR_D_WGSL_TYPE, e->offset, NULL, "a workgroup size must be i32 or u32, not %.*s",
                                 GR_STR_ARG(e->type->text));
        if (e->type->kind != GR_WT_ABSTRACT_INT && t && t != e->type)
            return gr_wgsl_error(f, GR_D_WGSL_TYPE, e->offset, NULL,
                                 "the arguments of '@workgroup_size' must have one type, not i32 and u32");
        if (e->type->kind != GR_WT_ABSTRACT_INT) t = e->type;
    }
    for (uint32_t i = 0; i < a->arg_n; i++) {
        gr_wgsl_expr *e = a->arg[i];
        if (!gr_wgsl_coerce(f, e, t ? t : f->types.i32)) return false;
        if (e->value && gr_wgsl_const_leaf(e->value, 0).i < 1)
            return gr_wgsl_error(f, GR_D_WGSL_ENTRY_POINT, e->offset, NULL,
                                 "a workgroup size must be at least 1, not %lld",
                                 (long long)gr_wgsl_const_leaf(e->value, 0).i);
        fn->workgroup_size[i] = e;
    }
    uint64_t total = 1;
    for (uint32_t i = 0; i < a->arg_n; i++)
        if (a->arg[i]->value)
            total *= (uint64_t)gr_wgsl_const_leaf(a->arg[i]->value, 0).i,
                total = total > UINT32_MAX ? 1ull << 32 : total;
    return total <= UINT32_MAX ||
           gr_wgsl_error(f, GR_D_WGSL_LIMIT, a->offset, NULL, "the workgroup has more than 4294967295 invocations");
}

static bool once(gr_wgsl_front *f, uint32_t *seen, uint8_t v, uint32_t offset) {
    if (*seen >> v & 1)
        return gr_wgsl_error(f, GR_D_WGSL_ENTRY_POINT, offset, "keep one", "@builtin(%s) is an input twice",
                             gr_wgsl_builtin_value_text((gr_wgsl_builtin_value)v));
    *seen |= 1u << v;
    return true;
}

static bool check_entry_param(gr_wgsl_front *f, gr_wgsl_decl *p, uint32_t *seen) {
    const gr_wgsl_attr *b = gr_wgsl_find_attr(p->attr, p->attr_n, GR_WA_BUILTIN);
    if (!p->type) return false;
    if (b) {
        uint8_t v = 0;
        if (!gr_wgsl_check_builtin_value(f, b, p->type, &v)) return false;
        p->builtin = (gr_wgsl_builtin_value)v;
        return once(f, seen, v, p->offset);
    }
    if (p->type->kind != GR_WT_STRUCT)
        return gr_wgsl_error(f, GR_D_WGSL_ENTRY_POINT, p->offset, "write @builtin(global_invocation_id) or the like",
                             "the parameter '%.*s' of an entry point has no @builtin", GR_STR_ARG(p->name));
    for (uint32_t i = 0; i < p->type->member_n; i++) {
        const gr_wgsl_member *m = &p->type->member[i];
        if (!m->builtin)
            return gr_wgsl_error(f, GR_D_WGSL_ENTRY_POINT, p->offset, NULL,
                                 "the member '%.*s' of the entry-point input %.*s has no @builtin", GR_STR_ARG(m->name),
                                 GR_STR_ARG(p->type->name));
        if (!once(f, seen, m->builtin, m->offset)) return false;
    }
    return true;
}

static bool check_entry(gr_wgsl_front *f, gr_wgsl_function *fn) {
    gr_wgsl_decl *d = fn->decl;
    uint32_t seen = 0;
    const gr_wgsl_attr *size = gr_wgsl_find_attr(d->attr, d->attr_n, GR_WA_WORKGROUP_SIZE);
    if (!size)
        return gr_wgsl_error(f, GR_D_WGSL_ENTRY_POINT, d->offset, "write @workgroup_size(64)",
                             "the compute entry point '%.*s' has no @workgroup_size", GR_STR_ARG(d->name));
    bool ok = check_workgroup_size(f, fn, size);
    if (fn->result_expr)
        ok = gr_wgsl_error(f, GR_D_WGSL_ENTRY_POINT, fn->result_expr->offset, "write results into storage buffers",
                           "a compute entry point returns nothing");
    for (uint32_t i = 0; i < fn->param_n; i++) ok &= check_entry_param(f, fn->param[i], &seen);
    return ok;
}

/* ----------------------------------------------------------------- functions */

static bool check_param(gr_wgsl_front *f, gr_wgsl_function *fn, gr_wgsl_decl *p) {
    bool ok = only_attrs(f, p->attr, p->attr_n, fn->is_entry ? 1u << GR_WA_BUILTIN : 0,
                         fn->is_entry ? "a parameter" : "a parameter of a function that is no entry point");
    const gr_wgsl_type *t = gr_wgsl_check_type(f, p->type_expr);
    if (!t) return false;
    if (!t->constructible && t->kind != GR_WT_PTR)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, p->offset,
                             t->has_atomic || t->has_runtime ? "pass a pointer" : NULL,
                             "a parameter cannot have the type %.*s", GR_STR_ARG(t->text));
    p->type = t;
    return ok;
}

static bool check_signature(gr_wgsl_front *f, gr_wgsl_function *fn) {
    gr_wgsl_decl *d = fn->decl;
    const gr_wgsl_attr *compute = gr_wgsl_find_attr(d->attr, d->attr_n, GR_WA_COMPUTE),
                       *size = gr_wgsl_find_attr(d->attr, d->attr_n, GR_WA_WORKGROUP_SIZE);
    const gr_wgsl_attr *must = gr_wgsl_find_attr(d->attr, d->attr_n, GR_WA_MUST_USE);
    bool ok = only_attrs(
        f, d->attr, d->attr_n,
        1u << GR_WA_COMPUTE | 1u << GR_WA_WORKGROUP_SIZE | 1u << GR_WA_MUST_USE | 1u << GR_WA_DIAGNOSTIC, "a function");
    ok &= no_args(f, compute) && no_args(f, must);
    if (size && !compute)
        ok = gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, size->offset, "add @compute",
                           "@workgroup_size belongs to compute entry points");
    fn->is_entry = compute != NULL;
    fn->must_use = must != NULL;
    if (must && !fn->result_expr)
        ok = gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, must->offset, NULL, "@must_use needs a function with a result");
    ok &= only_attrs(f, fn->result_attr, fn->result_attr_n, 0, "a result");
    if (fn->param_n > GR_WGSL_MAX_PARAMS)
        return gr_wgsl_error(f, GR_D_WGSL_LIMIT, d->offset, NULL, "a function has more than %d parameters",
                             GR_WGSL_MAX_PARAMS);
    for (uint32_t i = 0; i < fn->param_n; i++) ok &= check_param(f, fn, fn->param[i]);
    fn->result = fn->result_expr ? gr_wgsl_check_type(f, fn->result_expr) : f->types.void_;
    if (!fn->result) return false;
    if (fn->result_expr && !fn->result->constructible) {
        ok = gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, fn->result_expr->offset, NULL,
                           "a function cannot return the type %.*s", GR_STR_ARG(fn->result->text));
        fn->result = NULL;
    }
    return ok;
}

static bool check_function(gr_wgsl_front *f, gr_wgsl_decl *d) {
    gr_wgsl_function *fn = d->function;
    bool ok = check_signature(f, fn);
    if (ok && fn->is_entry) ok = check_entry(f, fn);
    f->fn = fn;
    fn->index = f->m->functions_n;
    f->m->functions[f->m->functions_n++] = fn;
    ok &= gr_wgsl_check_stmt(f, fn->body);
    f->fn = NULL;
    return ok;
}

/* -------------------------------------------------------------------- module */

static bool check_alias(gr_wgsl_front *f, gr_wgsl_decl *d) {
    bool ok = only_attrs(f, d->attr, d->attr_n, 0, "an alias");
    d->type = gr_wgsl_check_type(f, d->type_expr);
    return d->type && ok;
}

static bool check_decl(gr_wgsl_front *f, gr_wgsl_decl *d) {
    switch (d->kind) {
    case GR_WD_ALIAS: return check_alias(f, d);
    case GR_WD_CONST: return gr_wgsl_check_const(f, d) && only_attrs(f, d->attr, d->attr_n, 0, "a const");
    case GR_WD_OVERRIDE: return check_override(f, d);
    case GR_WD_VAR: return check_module_var(f, d);
    case GR_WD_STRUCT: return check_struct(f, d);
    case GR_WD_FUNCTION: return check_function(f, d);
    case GR_WD_CONST_ASSERT:
        return gr_wgsl_check_assert(f, &d->init) && only_attrs(f, d->attr, d->attr_n, 0, "a const_assert");
    default: return true;
    }
}

bool gr_wgsl_check_module(gr_wgsl_front *f, gr_wgsl_decl **order) {
    bool ok = true;
    f->m->functions = GR_NEW_N(f->arena, gr_wgsl_function *, f->m->decl_n + 1);
    f->stamp = GR_NEW_N(f->arena, uint32_t, f->m->decl_ids + 1);
    f->named_count = GR_NEW_N(f->arena, gr_wgsl_expr *, f->m->decl_ids + 1);
    if (!f->m->functions || !f->stamp || !f->named_count) return gr_wgsl_oom(f);
    for (uint32_t i = 0; i < f->m->decl_n && !f->oom && f->diags->errors <= f->first_errors + 200; i++)
        ok &= check_decl(f, order[i]);
    ok &= unique_ids(f);
    f->m->types = (const gr_wgsl_type **)f->types.list.v;
    f->m->types_n = f->types.list.n;
    return ok && !f->oom;
}
