/* Alias analysis: in one call, no two pointers may reach the same variable when one of them is
 * written through, and no pointer may reach a module-scope variable that the callee writes, or
 * reads while the pointer is written (specification, "Alias analysis").
 *
 * Per function: which module-scope variables and which pointer parameters it reads and writes,
 * callees included. Roots are whole variables: &a[0] and &a[1] alias. */
#include "wgsl/wgsl_int.h"

enum { READS = 1, WRITES = 2 };

typedef struct use {
    gr_wgsl_decl *decl;
    uint8_t how;
} use;

typedef struct info {
    uint8_t *param; /* READS | WRITES by parameter */
    GR_VEC(use) global;
} info;

typedef struct analysis {
    gr_wgsl_front *f;
    info *fn; /* by function index */
    info *now;
    uint32_t *at; /* by declaration id: index + 1 in now->global */
    bool ok;
} analysis;

static void note(analysis *a, gr_wgsl_decl *d, uint8_t how) {
    if (!d) return;
    if (d->kind == GR_WD_PARAM && d->type && d->type->kind == GR_WT_PTR) a->now->param[d->slot] |= how;
    if (d->kind != GR_WD_VAR || !d->module_scope) return;
    uint32_t at = a->at[d->id];
    if (at && at <= a->now->global.n && a->now->global.v[at - 1].decl == d) {
        a->now->global.v[at - 1].how |= how;
        return;
    }
    use *u = GR_PUSH(a->f->arena, &a->now->global);
    if (!u) {
        a->ok = gr_wgsl_oom(a->f);
        return;
    }
    *u = (use){d, how};
    a->at[d->id] = a->now->global.n;
}

static uint8_t global_use(const info *fn, const gr_wgsl_decl *d) {
    for (uint32_t i = 0; i < fn->global.n; i++)
        if (fn->global.v[i].decl == d) return fn->global.v[i].how;
    return 0;
}

static bool conflict(uint8_t a, uint8_t b) { return (a | b) & WRITES && a && b; }

static void report(analysis *a, const gr_wgsl_expr *arg, const gr_wgsl_decl *root, const gr_wgsl_expr *other) {
    a->ok = gr_wgsl_error(a->f, GR_D_WGSL_ALIASED, arg->offset, "copy the value, or pass different variables",
                          "the pointer to '%.*s' is aliased in this call, and one of the two is written",
                          GR_STR_ARG(root->name));
    if (other) gr_wgsl_related(a->f, other->offset, "the other pointer");
    else gr_wgsl_related(a->f, root->offset, "the called function uses this variable itself");
}

static void check_call(analysis *a, const gr_wgsl_expr *e) {
    const info *callee = &a->fn[e->call.function->index];
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        const gr_wgsl_expr *arg = e->call.arg[i];
        if (arg->type->kind != GR_WT_PTR || !callee->param[i]) continue;
        gr_wgsl_decl *root = gr_wgsl_root(arg);
        if (!root) continue;
        const gr_wgsl_expr *other = NULL;
        bool bad = root->module_scope && conflict(callee->param[i], global_use(callee, root));
        for (uint32_t k = 0; k < i && !bad; k++) {
            if (e->call.arg[k]->type->kind != GR_WT_PTR || gr_wgsl_root(e->call.arg[k]) != root) continue;
            bad = conflict(callee->param[i], callee->param[k]);
            other = e->call.arg[k];
        }
        if (bad) report(a, arg, root, other);
        note(a, root, callee->param[i]);
    }
    for (uint32_t i = 0; i < callee->global.n; i++) note(a, callee->global.v[i].decl, callee->global.v[i].how);
}

static bool visit(void *ctx, gr_wgsl_expr *e) {
    analysis *a = ctx;
    if (e->kind == GR_WE_LOAD) note(a, gr_wgsl_root(e->unary.a), READS);
    if (e->kind == GR_WE_CALL && e->call.call == GR_WC_FUNCTION) check_call(a, e);
    if (e->kind == GR_WE_CALL && e->call.call == GR_WC_BUILTIN && e->call.arg_n && e->call.arg[0]->type &&
        e->call.arg[0]->type->kind == GR_WT_PTR) {
        gr_wgsl_builtin b = e->call.builtin;
        gr_wgsl_decl *root = gr_wgsl_root(e->call.arg[0]);
        if (b == GR_WB_atomicLoad || b == GR_WB_workgroupUniformLoad) note(a, root, READS);
        else if (b == GR_WB_atomicStore) note(a, root, WRITES);
        else if (b != GR_WB_arrayLength) note(a, root, READS | WRITES);
    }
    return a->ok || !a->f->oom;
}

/* Left sides of assignments, besides all expressions. */
static void walk(analysis *a, gr_wgsl_stmt *s) {
    if (!s) return;
    switch (s->kind) {
    case GR_WS_BLOCK:
        for (uint32_t i = 0; i < s->block.n; i++) walk(a, s->block.v[i]);
        break;
    case GR_WS_ASSIGN:
    case GR_WS_INCREMENT:
    case GR_WS_DECREMENT:
        if (s->assign.lhs)
            note(a, gr_wgsl_root(s->assign.lhs),
                 s->kind == GR_WS_ASSIGN && s->assign.op == GR_WO_NONE ? WRITES : READS | WRITES);
        break;
    case GR_WS_IF:
        for (; s && s->kind == GR_WS_IF; s = s->branch.otherwise) walk(a, s->branch.then);
        walk(a, s);
        break;
    case GR_WS_SWITCH:
        for (uint32_t i = 0; i < s->select.n; i++) walk(a, s->select.v[i].body);
        break;
    case GR_WS_LOOP:
        walk(a, s->loop.body);
        walk(a, s->loop.continuing);
        break;
    case GR_WS_FOR:
        walk(a, s->loop_for.init);
        walk(a, s->loop_for.update);
        walk(a, s->loop_for.body);
        break;
    case GR_WS_WHILE: walk(a, s->loop_while.body); break;
    default: break;
    }
}

bool gr_wgsl_check_alias(gr_wgsl_front *f) {
    analysis a = {.f = f, .ok = true};
    a.fn = GR_NEW_N(f->arena, info, f->m->functions_n);
    a.at = GR_NEW_N(f->arena, uint32_t, f->m->decl_ids + 1);
    if (!a.fn || !a.at) return gr_wgsl_oom(f);
    for (uint32_t i = 0; i < f->m->functions_n && !f->oom; i++) {
        gr_wgsl_function *fn = f->m->functions[i];
        a.now = &a.fn[i];
        a.now->param = GR_NEW_N(f->arena, uint8_t, fn->param_n);
        if (!a.now->param) return gr_wgsl_oom(f);
        gr_wgsl_visit_stmt(fn->body, visit, &a);
        walk(&a, fn->body);
    }
    return a.ok;
}
