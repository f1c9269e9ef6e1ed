/* Uniformity analysis: expressions, left sides, calls. */
#include "wgsl/uniformity.h"

/* ------------------------------------------------------------------- names */

static bool uniform_input(gr_wgsl_builtin_value v) {
    return v == GR_WV_NUM_WORKGROUPS || v == GR_WV_WORKGROUP_ID || v == GR_WV_SUBGROUP_SIZE || v == GR_WV_NUM_SUBGROUPS;
}

static bool uniform_param(const gr_wgsl_decl *d) {
    if (d->type->kind != GR_WT_STRUCT) return uniform_input(d->builtin);
    for (uint32_t i = 0; i < d->type->member_n; i++)
        if (!uniform_input((gr_wgsl_builtin_value)d->type->member[i].builtin)) return false;
    return true;
}

static void non_uniform(gr_un *u, uint32_t n, gr_un_kind kind, const void *what) {
    gr_un_add(u, n, GR_UN_NON_UNIFORM);
    if (!u->failed) {
        u->node.v[n].kind = (uint8_t)kind;
        u->node.v[n].what = what;
    }
}

static void param_node(gr_un *u, uint32_t cf, uint32_t n, const gr_wgsl_decl *d, bool load) {
    if (u->fn->is_entry) {
        if (uniform_param(d)) gr_un_add(u, n, cf);
        else non_uniform(u, n, GR_UN_BUILTIN, d);
        return;
    }
    gr_un_add(u, n, cf);
    gr_un_add(u, n, gr_un_is_pointer(d) && !load ? u->now->param[d->slot].value : u->value[d->slot]);
}

/* What a let of pointer type points to, besides the pointer itself. */
static void contents_of_let(gr_un *u, uint32_t n, const gr_wgsl_decl *d) {
    const gr_wgsl_decl *root = gr_wgsl_root(d->init);
    if (!root) return;
    if (root->module_scope) {
        if (root->access != GR_WGSL_READ) non_uniform(u, n, GR_UN_VARIABLE, root);
    } else {
        gr_un_add(u, n, u->value[root->slot]);
    }
}

static gr_un_pair ident(gr_un *u, uint32_t cf, const gr_wgsl_expr *e, bool load) {
    const gr_wgsl_decl *d = e->ident.decl;
    if (!d || d->kind == GR_WD_CONST || d->kind == GR_WD_OVERRIDE) return (gr_un_pair){cf, cf};
    uint32_t n = gr_un_new(u, e->offset);
    if (d->kind == GR_WD_PARAM) {
        param_node(u, cf, n, d, load);
    } else if (d->module_scope) {
        if (load && d->access != GR_WGSL_READ) non_uniform(u, n, GR_UN_VARIABLE, d);
        else gr_un_add(u, n, cf);
    } else {
        gr_un_add(u, n, cf);
        if (d->kind == GR_WD_LET && gr_un_is_pointer(d) && load) contents_of_let(u, n, d);
        if (d->kind == GR_WD_LET || load)
            gr_un_add(u, n, u->value[d->slot]); /* a reference to a local var is uniform */
    }
    return (gr_un_pair){cf, n};
}

/* ------------------------------------------------------------------- calls */

static bool is_prefix(gr_wgsl_builtin b, const char *p) { return gr_str_starts(gr_str_of(gr_wgsl_builtin_text(b)), p); }

typedef struct callee {
    gr_un_severity callsite;
    bool result_non_uniform;
    const gr_un_function *fn; /* NULL for builtins and constructors */
} callee;

static callee callee_of(const gr_un *u, const gr_wgsl_expr *e) {
    callee c = {0};
    if (e->call.call == GR_WC_FUNCTION) {
        c.fn = &u->all[e->call.function->index];
        c.callsite = c.fn->callsite;
        c.result_non_uniform = c.fn->result_non_uniform;
    } else if (e->call.call == GR_WC_BUILTIN) {
        gr_wgsl_builtin b = e->call.builtin;
        if (b == GR_WB_workgroupBarrier || b == GR_WB_storageBarrier || b == GR_WB_textureBarrier ||
            b == GR_WB_workgroupUniformLoad)
            c.callsite = GR_UN_ERROR;
        if (is_prefix(b, "atomic")) c.result_non_uniform = true;
        if (is_prefix(b, "subgroup") || is_prefix(b, "quad")) {
            c.callsite = u->subgroup;
            c.result_non_uniform = true;
        }
    }
    return c;
}

/* The delta or mask of these must be uniform, too. */
static bool uniform_operand(gr_wgsl_builtin b, uint32_t i) {
    return i == 1 && (b == GR_WB_subgroupShuffleUp || b == GR_WB_subgroupShuffleDown || b == GR_WB_subgroupShuffleXor);
}

typedef struct args {
    uint32_t *value, *contents; /* nodes by argument; contents of pointers only */
} args;

static uint32_t new_call_node(gr_un *u, const gr_wgsl_expr *call, uint32_t offset, gr_un_kind kind) {
    uint32_t n = gr_un_new(u, offset);
    if (n && !u->failed) {
        u->node.v[n].kind = (uint8_t)kind;
        u->node.v[n].what = call;
    }
    return n;
}

static uint32_t contents_of_arg(gr_un *u, const gr_wgsl_expr *call, const gr_wgsl_expr *a, uint32_t arg_node) {
    uint32_t n = new_call_node(u, call, a->offset, GR_UN_ARGUMENT);
    const gr_wgsl_decl *root = gr_wgsl_root(a);
    if (root && root->module_scope) {
        if (root->access != GR_WGSL_READ) non_uniform(u, n, GR_UN_VARIABLE, root);
    } else if (root) {
        gr_un_add(u, n, u->value[root->slot]);
    }
    gr_un_add(u, n, arg_node);
    return n;
}

static void demand(gr_un *u, gr_un_demand d, uint32_t from, const args *a, uint32_t i) {
    if (d == GR_UN_VALUE) gr_un_add(u, from, a->value[i]);
    if (d == GR_UN_CONTENTS) gr_un_add(u, from, a->contents[i]);
}

/* What a pointer argument points to after the call. */
static void pointer_result(gr_un *u, const gr_wgsl_expr *e, uint32_t i, const args *a, uint32_t call_node,
                           const gr_un_param *p) {
    const gr_wgsl_decl *root = gr_wgsl_root(e->call.arg[i]);
    if (!root || root->module_scope) return;
    uint32_t n = new_call_node(u, e, e->call.arg[i]->offset, GR_UN_RESULT);
    if (p->becomes_non_uniform) {
        non_uniform(u, n, GR_UN_RESULT, e);
    } else {
        gr_un_add(u, n, call_node);
        for (uint32_t k = 0; k < e->call.arg_n; k++) demand(u, (gr_un_demand)p->feeds[k], n, a, k);
    }
    gr_un_set(u, root->slot, n);
}

static void user_args(gr_un *u, const gr_wgsl_expr *e, const callee *c, const args *a, uint32_t call_node,
                      uint32_t result) {
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        const gr_un_param *p = &c->fn->param[i];
        if (p->direct) demand(u, p->direct, gr_un_required(p->severity), a, i);
        demand(u, p->result, result, a, i);
        if (e->call.arg[i]->type->kind == GR_WT_PTR) pointer_result(u, e, i, a, call_node, p);
    }
}

static void builtin_args(gr_un *u, const gr_wgsl_expr *e, const args *a, uint32_t result) {
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        bool builtin = e->call.call == GR_WC_BUILTIN;
        if (builtin && e->call.builtin == GR_WB_workgroupUniformLoad) gr_un_add(u, GR_UN_REQUIRED_ERROR, a->value[i]);
        else if (builtin && uniform_operand(e->call.builtin, i) && u->subgroup)
            gr_un_add(u, gr_un_required(u->subgroup), a->value[i]);
        else gr_un_add(u, result, a->value[i]);
    }
}

/* Arguments from left to right; gives control flow behind the last. */
static uint32_t walk_args(gr_un *u, uint32_t cf, gr_wgsl_expr *e, args *a) {
    a->value = GR_NEW_N(&u->scratch, uint32_t, e->call.arg_n);
    a->contents = GR_NEW_N(&u->scratch, uint32_t, e->call.arg_n);
    if (!a->value || !a->contents) {
        u->failed = !gr_wgsl_oom(u->f);
        return cf;
    }
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        gr_un_pair p = gr_un_expr(u, cf, e->call.arg[i], false);
        cf = p.cf;
        a->value[i] = new_call_node(u, e, e->call.arg[i]->offset, GR_UN_ARGUMENT);
        gr_un_add(u, a->value[i], p.v);
        if (e->call.arg[i]->type->kind == GR_WT_PTR)
            a->contents[i] = contents_of_arg(u, e, e->call.arg[i], a->value[i]);
    }
    return cf;
}

static gr_un_pair call(gr_un *u, uint32_t cf, gr_wgsl_expr *e) {
    args a;
    uint32_t last = walk_args(u, cf, e, &a);
    if (u->failed) return (gr_un_pair){cf, cf};
    uint32_t call_node = new_call_node(u, e, e->offset, GR_UN_CALL);
    uint32_t result = new_call_node(u, e, e->offset, GR_UN_PLAIN), after = gr_un_new(u, e->offset);
    callee c = callee_of(u, e);
    gr_un_add(u, call_node, last);
    gr_un_add(u, after, call_node);
    if (c.result_non_uniform) non_uniform(u, result, GR_UN_RESULT, e);
    gr_un_add(u, result, after);
    if (c.fn) user_args(u, e, &c, &a, call_node, result);
    else builtin_args(u, e, &a, result);
    if (c.callsite) gr_un_add(u, gr_un_required(c.callsite), call_node);
    return (gr_un_pair){after, result};
}

/* -------------------------------------------------------------- expressions */

static gr_un_pair binary(gr_un *u, uint32_t cf, gr_wgsl_expr *e) {
    gr_un_pair a = gr_un_expr(u, cf, e->binary.a, false);
    bool logical = e->binary.op == GR_WO_LOGICAL_AND || e->binary.op == GR_WO_LOGICAL_OR;
    uint32_t n = gr_un_new(u, e->offset);
    if (logical) { /* the right side runs where the left side lets it */
        gr_un_add(u, n, a.v);
        if (!u->failed) u->node.v[n].branches = true;
        return (gr_un_pair){cf, gr_un_expr(u, n, e->binary.b, false).v};
    }
    gr_un_pair b = gr_un_expr(u, a.cf, e->binary.b, false);
    gr_un_add(u, n, a.v);
    gr_un_add(u, n, b.v);
    return (gr_un_pair){b.cf, n};
}

gr_un_pair gr_un_expr(gr_un *u, uint32_t cf, gr_wgsl_expr *e, bool load) {
    if (e->value || u->failed) return (gr_un_pair){cf, cf};
    switch (e->kind) {
    case GR_WE_IDENT: return ident(u, cf, e, load);
    case GR_WE_LOAD: return gr_un_expr(u, cf, e->unary.a, true);
    case GR_WE_PAREN:
    case GR_WE_UNARY:
    case GR_WE_ADDRESS_OF:
    case GR_WE_DEREF: return gr_un_expr(u, cf, e->unary.a, load);
    case GR_WE_BINARY: return binary(u, cf, e);
    case GR_WE_INDEX: {
        gr_un_pair a = gr_un_expr(u, cf, e->index.base, load), b = gr_un_expr(u, a.cf, e->index.index, false);
        uint32_t n = gr_un_new(u, e->offset);
        gr_un_add(u, n, a.v);
        gr_un_add(u, n, b.v);
        return (gr_un_pair){b.cf, n};
    }
    case GR_WE_MEMBER: return gr_un_expr(u, cf, e->member.base, load);
    case GR_WE_CALL: return call(u, cf, e);
    default: return (gr_un_pair){cf, cf};
    }
}

/* ---------------------------------------------------------------- left sides */

static const gr_wgsl_expr *strip(const gr_wgsl_expr *e) {
    while (e->kind == GR_WE_PAREN || e->kind == GR_WE_DEREF || e->kind == GR_WE_ADDRESS_OF || e->kind == GR_WE_LOAD)
        e = e->unary.a;
    return e;
}

static bool through_partial(const gr_un *u, const gr_wgsl_expr *e) {
    e = strip(e);
    if (e->kind != GR_WE_IDENT) return true;
    const gr_wgsl_decl *d = e->ident.decl;
    return d->kind == GR_WD_LET && u->partial[d->slot];
}

void gr_un_keep_partial(gr_un *u, const gr_wgsl_decl *d) {
    if (gr_un_is_pointer(d)) u->partial[d->slot] = through_partial(u, d->init);
}

static gr_un_pair lvalue_of(gr_un *u, uint32_t cf, const gr_wgsl_expr *e, const gr_wgsl_decl *root, bool partial,
                            uint32_t *slot) {
    *slot = UINT32_MAX;
    if (!root || root->module_scope) return (gr_un_pair){cf, gr_un_new(u, e->offset)};
    *slot = root->slot;
    uint32_t n = gr_un_new(u, e->offset);
    if (partial && u->value[root->slot]) gr_un_add(u, n, u->value[root->slot]);
    return (gr_un_pair){cf, n};
}

gr_un_pair gr_un_lvalue(gr_un *u, uint32_t cf, gr_wgsl_expr *e, bool partial, uint32_t *slot) {
    *slot = UINT32_MAX;
    switch (e->kind) {
    case GR_WE_IDENT: return lvalue_of(u, cf, e, e->ident.decl, partial, slot);
    case GR_WE_DEREF: return lvalue_of(u, cf, e, gr_wgsl_root(e), partial || through_partial(u, e), slot);
    case GR_WE_PAREN:
    case GR_WE_ADDRESS_OF: return gr_un_lvalue(u, cf, e->unary.a, partial, slot);
    case GR_WE_MEMBER: return gr_un_lvalue(u, cf, e->member.base, true, slot);
    case GR_WE_INDEX: {
        gr_un_pair a = gr_un_lvalue(u, cf, e->index.base, true, slot), b = gr_un_expr(u, a.cf, e->index.index, false);
        gr_un_add(u, a.v, b.v);
        return (gr_un_pair){b.cf, a.v};
    }
    default: return (gr_un_pair){cf, cf};
    }
}
