/* Bindings against the reflection of their WGSL, for every instance of dtypes. */
#include "contract/instance_int.h"
#include "wgsl/subscript.h"

typedef struct wgsl_checker {
    gr_arena *a;
    gr_diags *d;
    const gr_op *op;
    const gr_kernel_decl *k;
    const gr_piece *src;
    const gr_instance *in;
    const gr_wgsl_module *m;
    bool reference, deep, ok;
} wgsl_checker;

static bool report(wgsl_checker *c, gr_diag_name name, uint32_t at, const char *hint, const char *fmt, gr_str x, gr_str y) {
    c->ok = false;
    gr_report(c->d, name, gr_piece_place(c->src, at), hint, fmt, GR_STR_ARG(x), GR_STR_ARG(y));
    return false;
}

static void see(wgsl_checker *c, const gr_wgsl_decl *v) {
    gr_report_related(c->d, gr_wgsl_place(c->m, v->offset), "%.*s is declared here", GR_STR_ARG(v->name));
}

static const gr_bind *find_bind(const gr_binding *b, gr_str var) {
    for (uint32_t i = 0; i < b->binds_n; i++)
        if (gr_str_eq(b->binds[i].var, var)) return &b->binds[i];
    return NULL;
}

/* ---- element types ---- */

static bool is_scalar(const gr_wgsl_type *t) {
    return t->kind == GR_WT_I32 || t->kind == GR_WT_U32 || t->kind == GR_WT_F32 || t->kind == GR_WT_F16;
}

/* The type itself, its atomic, or vec2 and vec4 of it; words of 32 bits may be moved as u32. */
static bool holds(const gr_wgsl_type *t, gr_dtype dtype) {
    const char *want = gr_dtype_wgsl(dtype);
    if (!want || gr_str_eqz(t->text, want)) return true;
    if (t->kind == GR_WT_ATOMIC) t = t->elem;
    else if (t->kind == GR_WT_VEC && t->n != 3) t = t->elem;
    bool pair = dtype == GR_DTYPE_I64 || dtype == GR_DTYPE_U64, half = dtype == GR_DTYPE_F16;
    return gr_str_eqz(t->text, want) || (t->kind == GR_WT_U32 && (pair || !half));
}

static const gr_wgsl_type *element(const gr_wgsl_type *t) { return t->kind == GR_WT_ARRAY ? t->elem : t; }

static gr_dtype tensor_dtype(const wgsl_checker *c, gr_str tensor) {
    int i = gr_sig_find_operand(&c->op->sig, tensor), o = gr_sig_find_output(&c->op->sig, tensor);
    return i < 0 && o < 0 ? GR_DTYPE_NONE : gr_instance_dtype(c->in, i >= 0 ? c->op->sig.operands[i].dtype : c->op->sig.outputs[o].dtype);
}

static void check_element(wgsl_checker *c, const gr_bind *b, const gr_wgsl_decl *v) {
    gr_dtype t = b->kind == GR_BIND_COUNT     ? GR_DTYPE_U32
                 : b->kind == GR_BIND_SCRATCH ? gr_instance_dtype(c->in, b->dtype)
                                              : tensor_dtype(c, b->tensor);
    if (v->type->kind != GR_WT_ARRAY && b->kind != GR_BIND_COUNT) {
        report(c, GR_D_CONTRACT_BINDING_TYPE, b->offset, "declare it as array<T>", "%.*s is %.*s, not an array", b->var, v->type->text);
        see(c, v);
        return;
    }
    if (holds(element(v->type), t)) return;
    c->ok = gr_report(c->d, GR_D_CONTRACT_BINDING_TYPE, gr_piece_place(c->src, b->offset),
                      "name the element type by an alias that the binding re-binds, or list the kernel's dtypes",
                      "%.*s holds %.*s, but %.*s is %s, stored as %s", GR_STR_ARG(b->var), GR_STR_ARG(element(v->type)->text),
                      GR_STR_ARG(b->tensor.n ? b->tensor : b->dtype), gr_dtype_name(t), gr_dtype_wgsl(t));
    see(c, v);
}

/* What may be computed where it is read is used as x[index] alone. */
static void check_once(wgsl_checker *c, const gr_bind *b, const gr_wgsl_decl *v) {
    if (!b->once || (!b->each && gr_wgsl_only_subscripted(c->k->wgsl, b->var) && is_scalar(element(v->type)))) return;
    c->ok = gr_report(c->d, GR_D_CONTRACT_BINDING_ACCESS, gr_piece_place(c->src, b->offset), "leave out `once`, or use another name for other things",
                      "%.*s is read `once`, but it is no array of scalars that is used as %.*s[index] alone", GR_STR_ARG(b->var), GR_STR_ARG(b->var));
    see(c, v);
}

static void check_access(wgsl_checker *c, const gr_bind *b, const gr_wgsl_decl *v) {
    bool counts_operand = b->kind == GR_BIND_COUNT && gr_sig_find_operand(&c->op->sig, b->tensor) >= 0;
    bool writes = b->kind != GR_BIND_READ && b->kind != GR_BIND_UNIFORM && !counts_operand;
    gr_wgsl_space space = b->kind == GR_BIND_UNIFORM ? GR_WGSL_SPACE_UNIFORM : GR_WGSL_SPACE_STORAGE;
    if (v->space == space && (space == GR_WGSL_SPACE_UNIFORM || (v->access == GR_WGSL_READ) == !writes)) return;
    const char *want = b->kind == GR_BIND_UNIFORM ? "var<uniform>" : writes ? "var<storage, read_write>" : "var<storage, read>";
    c->ok = gr_report(c->d, GR_D_CONTRACT_BINDING_ACCESS, gr_piece_place(c->src, b->offset), NULL, "the binding needs %.*s as %s",
                      GR_STR_ARG(b->var), want);
    see(c, v);
}

/* ---- uniforms ---- */

static bool is_view(const gr_wgsl_type *t) {
    static const char *const names[] = {"rank", "offset", "size", "pad", "dims", "strides"};
    if (t->kind != GR_WT_STRUCT || t->member_n != 6 || t->size != 80) return false;
    for (uint32_t i = 0; i < 6; i++) {
        const gr_wgsl_type *m = t->member[i].type;
        bool lists =
            m->kind == GR_WT_ARRAY && m->count == 2 && m->elem->kind == GR_WT_VEC && m->elem->n == 4 && m->elem->elem->kind == GR_WT_U32;
        if (!gr_str_eqz(t->member[i].name, names[i]) || (i < 4 ? m->kind != GR_WT_U32 : !lists)) return false;
    }
    return true;
}

static bool is_list(const gr_wgsl_type *t) {
    if (t->kind == GR_WT_VEC) return t->elem->kind != GR_WT_BOOL;
    return t->kind == GR_WT_ARRAY && t->count > 0 && t->elem->kind == GR_WT_VEC && t->elem->n == 4 && is_scalar(t->elem->elem);
}

/* A type written as one of the binding's aliases takes any number: it is converted. */
static bool is_alias(const wgsl_checker *c, const gr_wgsl_member *m) {
    if (!m->type_expr || m->type_expr->kind != GR_WE_IDENT) return false;
    for (uint32_t i = 0; i < c->k->binding.aliases_n; i++)
        if (gr_str_eq(c->k->binding.aliases[i].alias, m->type_expr->ident.name)) return true;
    return false;
}

static const char *wrong_field(const wgsl_checker *c, const gr_bind_field *f, const gr_wgsl_member *m) {
    if (f->kind == GR_FIELD_VIEW) return is_view(m->type) ? NULL : "is a view, which needs the standard struct View";
    if (f->kind == GR_FIELD_LIST) return is_list(m->type) ? NULL : "is a list, which needs array<vec4<u32>, N> or a vector";
    if (is_alias(c, m)) return NULL;
    if (!is_scalar(m->type)) return "is one number, which needs u32, i32 or f32";
    gr_scope scope = {.sig = &c->op->sig, .outputs = true, .dispatch = true, .turns = &c->k->binding};
    gr_kind_of k = gr_expr_check(c->d, c->src, &scope, f->expr, GR_K_ANY);
    bool is_float = m->type->kind == GR_WT_F32 || m->type->kind == GR_WT_F16;
    return k == GR_K_FLOAT && !is_float ? "is a float, which needs f32" : NULL;
}

static void check_uniform(wgsl_checker *c, const gr_bind *b, const gr_wgsl_decl *v) {
    const gr_wgsl_type *t = v->type;
    if (t->kind != GR_WT_STRUCT) {
        report(c, GR_D_CONTRACT_BINDING_FIELD, b->offset, "declare a struct with the fields in this order", "%.*s is %.*s, not a struct",
               b->var, t->text);
        see(c, v);
        return;
    }
    for (uint32_t i = 0; i < b->fields_n || i < t->member_n; i++) {
        const char *why = NULL;
        if (i >= b->fields_n) {
            report(c, GR_D_CONTRACT_BINDING_FIELD, b->offset, "add it to the binding", "the member %.*s of %.*s is given no value",
                   t->member[i].name, t->name);
        } else if (i >= t->member_n)
            report(c, GR_D_CONTRACT_BINDING_FIELD, b->fields[i].offset, "add it to the struct", "the struct %.*s has no member %.*s",
                   t->name, b->fields[i].name);
        else if (!gr_str_eq(b->fields[i].name, t->member[i].name))
            report(c, GR_D_CONTRACT_BINDING_FIELD, b->fields[i].offset, "fields stand in the order of the struct's members",
                   "the field %.*s meets the member %.*s", b->fields[i].name, t->member[i].name);
        else if ((why = wrong_field(c, &b->fields[i], &t->member[i]))) {
            c->ok = gr_report(c->d, GR_D_CONTRACT_BINDING_FIELD, gr_piece_place(c->src, b->fields[i].offset), NULL,
                              "the field %.*s %s, not %.*s", GR_STR_ARG(b->fields[i].name), why, GR_STR_ARG(t->member[i].type->text));
        } else continue;
        see(c, v);
        return;
    }
}

/* ---- variables, overrides, entries ---- */

static void check_bind(wgsl_checker *c, const gr_bind *b) {
    const gr_wgsl_decl *v = gr_wgsl_find_decl(c->m, b->var);
    if (!v || v->kind != GR_WD_VAR || !v->has_binding) {
        report(c, GR_D_CONTRACT_BINDING_UNKNOWN, b->offset, NULL, "%.*s is not a resource variable of %.*s", b->var, c->k->file);
        gr_nearest n = gr_nearest_start(b->var);
        for (uint32_t i = 0; i < c->m->vars_n; i++)
            if (c->m->vars[i]->has_binding) gr_nearest_add(&n, c->m->vars[i]->name);
        if (n.best.n) gr_report_hint(c->d, "did you mean %.*s?", GR_STR_ARG(n.best));
        return;
    }
    bool before = c->ok;
    c->ok = true;
    check_access(c, b, v);
    check_once(c, b, v);
    if (c->ok && b->kind == GR_BIND_UNIFORM) check_uniform(c, b, v);
    else if (c->ok) check_element(c, b, v);
    c->ok = c->ok && before;
}

static void check_aliases(wgsl_checker *c) {
    const gr_binding *b = &c->k->binding;
    for (uint32_t i = 0; i < b->aliases_n; i++) {
        const gr_wgsl_decl *v = gr_wgsl_find_decl(c->m, b->aliases[i].alias);
        if (!v || v->kind != GR_WD_ALIAS)
            report(c, GR_D_CONTRACT_BINDING_UNKNOWN, b->aliases[i].offset, "write `alias T = f32;` in the WGSL",
                   "%.*s is not an alias of %.*s", b->aliases[i].alias, c->k->file);
    }
    for (uint32_t i = 0; i < b->overrides_n; i++) {
        const gr_wgsl_decl *v = gr_wgsl_find_decl(c->m, b->overrides[i].name);
        if (!v || v->kind != GR_WD_OVERRIDE)
            report(c, GR_D_CONTRACT_BINDING_UNKNOWN, b->overrides[i].offset, "write `override N: u32;` in the WGSL",
                   "%.*s is not an override of %.*s", b->overrides[i].name, c->k->file);
    }
}

static bool has_override(const gr_binding *b, gr_str name) {
    for (uint32_t i = 0; i < b->overrides_n; i++)
        if (gr_str_eq(b->overrides[i].name, name)) return true;
    return false;
}

static bool view_mentions(const gr_bind_field *f, gr_str name) {
    for (uint32_t i = 0; i < 3; i++)
        if (gr_expr_mentions(f->args[i], name)) return true;
    return gr_expr_mentions(f->expr, name);
}

/* What an entry point is given may name the turns of its own pass only. */
static void check_turns(wgsl_checker *c, const gr_pass *p, gr_str name, const gr_wgsl_entry *e) {
    const gr_binding *b = &c->k->binding;
    gr_str used = {0};
    for (uint32_t i = 0; i < e->resource_n; i++) {
        const gr_bind *x = find_bind(b, e->resource[i]->name);
        for (uint32_t f = 0; x && f < x->fields_n; f++)
            if (view_mentions(&x->fields[f], name)) used = x->var;
    }
    for (uint32_t i = 0; i < e->overrides_n; i++)
        for (uint32_t k = 0; k < b->overrides_n; k++)
            if (gr_str_eq(b->overrides[k].name, e->overrides[i]->name) && gr_expr_mentions(b->overrides[k].value, name)) used = b->overrides[k].name;
    if (used.n)
        report(c, GR_D_CONTRACT_NAME_UNKNOWN, p->offset, "repeat it in this pass, or give the entry point a uniform without it",
               "%.*s of this pass is filled from %.*s, which it does not repeat", used, name);
}

static void check_entry(wgsl_checker *c, const gr_pass *p, const gr_wgsl_entry *e) {
    for (uint32_t i = 0; i < c->k->binding.passes_n; i++) {
        gr_str name = c->k->binding.passes[i].repeat;
        if (c->k->binding.passes[i].from && !gr_str_eq(name, p->repeat)) check_turns(c, p, name, e);
    }
    for (uint32_t i = 0; i < e->resource_n; i++) {
        if (find_bind(&c->k->binding, e->resource[i]->name)) continue;
        report(c, GR_D_CONTRACT_BINDING_MISSING, p->offset, "add a `bind` clause for it",
               "the entry point %.*s uses the variable %.*s, which nothing is bound to", e->name, e->resource[i]->name);
        see(c, e->resource[i]);
    }
    for (uint32_t i = 0; i < e->overrides_n; i++) {
        if (e->overrides[i]->init || has_override(&c->k->binding, e->overrides[i]->name)) continue;
        report(c, GR_D_CONTRACT_BINDING_MISSING, p->offset, "add an `override` clause for it",
               "the entry point %.*s uses the override %.*s, which has no value", e->name, e->overrides[i]->name);
        see(c, e->overrides[i]);
    }
    if (e->uses_array_length)
        report(c, GR_D_CONTRACT_ARRAY_LENGTH, p->offset, "take the size from a uniform",
               "the entry point %.*s reads arrayLength: a buffer may be longer than its tensor%.*s", e->name, GR_STR(""));
    const char *impure = e->uses_atomics     ? "atomics"
                         : e->uses_barrier   ? "a barrier"
                         : e->uses_subgroups ? "subgroups"
                         : e->workgroup_n    ? "workgroup memory"
                                             : NULL;
    if (c->reference && impure)
        report(c, GR_D_CONTRACT_REFERENCE_IMPURE, p->offset, "a reference computes element i in invocation i, alone",
               "the entry point %.*s of the reference uses %.*s", e->name, gr_str_of(impure));
}

static void check_passes(wgsl_checker *c) {
    const gr_binding *b = &c->k->binding;
    for (uint32_t i = 0; i < b->passes_n; i++) {
        const gr_wgsl_entry *e = gr_wgsl_find_entry(c->m, b->passes[i].entry);
        if (e) {
            check_entry(c, &b->passes[i], e);
            continue;
        }
        report(c, GR_D_CONTRACT_PASS_UNKNOWN, b->passes[i].offset, NULL, "%.*s is not an entry point of %.*s", b->passes[i].entry,
               c->k->file);
        if (c->m->entry_n) gr_report_hint(c->d, "an entry point of the file is %.*s", GR_STR_ARG(c->m->entry[0].name));
    }
}

/* ---- instances ---- */

static bool check_instance(void *user, const gr_instance *in) {
    wgsl_checker *c = user;
    gr_arena tmp;
    gr_arena_init(&tmp, (size_t)128 << 20);
    c->in = in;
    c->m = gr_file_module(&tmp, c->d, c->op, c->k, in);
    bool before = c->ok;
    c->ok = c->m != NULL;
    if (c->m) {
        check_aliases(c);
        for (uint32_t i = 0; i < c->k->binding.binds_n; i++) check_bind(c, &c->k->binding.binds[i]);
        check_passes(c);
    }
    bool ok = c->ok;
    c->ok = c->ok && before;
    gr_arena_free(&tmp);
    return ok;
}

static bool check_file(wgsl_checker *c) {
    if (c->deep) { /* as it stands, without re-binding */
        gr_arena tmp;
        gr_arena_init(&tmp, (size_t)128 << 20);
        bool stands = gr_file_module(&tmp, c->d, c->op, c->k, NULL) != NULL;
        gr_arena_free(&tmp);
        GR_TRY(stands);
    }
    /* the first instance that fails is told; the others would fail alike */
    return gr_instances(&c->op->sig, c->k->dtypes, c->k->dtypes_n, c->deep, check_instance, c);
}

typedef struct map_checker {
    gr_diags *d;
    const gr_op *op;
    bool failed;
} map_checker;

static bool check_map(void *user, const gr_instance *in) {
    map_checker *c = user;
    if (c->failed) return false;
    gr_arena tmp;
    gr_arena_init(&tmp, (size_t)128 << 20);
    c->failed = !gr_map_module(&tmp, c->d, c->op, in);
    gr_arena_free(&tmp);
    return !c->failed;
}

bool gr_op_check_wgsl(gr_arena *scratch, gr_diags *d, const gr_op *op, bool deep) {
    wgsl_checker c = {.a = scratch, .d = d, .op = op, .deep = deep, .ok = true};
    bool ok = true;
    if (op->body == GR_BODY_MAP) {
        map_checker m = {d, op, false};
        ok = gr_instances(&op->sig, NULL, 0, deep, check_map, &m);
    }
    if (op->body == GR_BODY_REFERENCE) {
        c.reference = true;
        c.k = &op->reference;
        c.src = &op->source->reference;
        ok = check_file(&c);
        for (uint32_t i = 0; i < op->variants_n; i++) {
            c.k = &op->variants[i];
            c.src = &op->source->variants[i];
            ok = check_file(&c) && ok;
        }
    }
    c.reference = false;
    for (uint32_t i = 0; i < op->kernels_n; i++) {
        c.k = &op->kernels[i];
        c.src = &op->source->kernels[i];
        ok = check_file(&c) && ok;
    }
    return ok;
}
