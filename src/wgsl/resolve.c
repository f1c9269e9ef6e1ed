/* Names to declarations: scopes, redeclarations, the order of module-scope declarations, cycles.
 *
 * Walks the syntax only. An identifier that no scope declares keeps decl == NULL; the checker
 * then looks among the predeclared names. Swizzles, members, attribute names and severities are
 * not identifiers in this sense. */
#include "wgsl/wgsl_int.h"

typedef struct binding {
    gr_str name;
    gr_wgsl_decl *decl;
    uint32_t shadowed; /* index + 1 of the binding it hides */
} binding;

typedef GR_VEC(uint32_t) id_vec;

typedef struct resolver {
    gr_wgsl_front *f;
    gr_map local;              /* name to index + 1 of the innermost binding; 0 when none */
    GR_VEC(binding) stack;
    id_vec *edge;              /* per module-scope declaration: what it depends on */
    uint32_t current;          /* module-scope declaration being walked */
    gr_wgsl_function *fn;
    GR_VEC(gr_wgsl_decl *) locals;
    bool failed;
} resolver;

static void fail(resolver *r) {
    gr_wgsl_oom(r->f);
    r->failed = true;
}

static void add_edge(resolver *r, uint32_t to) {
    id_vec *e = &r->edge[r->current];
    for (uint32_t i = e->n; i > 0 && i + 8 > e->n; i--)
        if (e->v[i - 1] == to) return; /* cheap removal of near repeats */
    uint32_t *p = GR_PUSH(r->f->arena, e);
    if (p) *p = to;
    else fail(r);
}

static void use_name(resolver *r, gr_wgsl_expr *e) {
    uint32_t at = 0;
    if (gr_map_get(&r->local, e->ident.name, &at) && at) {
        e->ident.decl = r->stack.v[at - 1].decl;
    } else if (gr_map_get(&r->f->names, e->ident.name, &at)) {
        e->ident.decl = r->f->m->decl[at];
        add_edge(r, at);
    } else {
        return;
    }
    e->ident.decl->used = true;
}

static void walk_expr(resolver *r, gr_wgsl_expr *e);

static void walk_list(resolver *r, gr_wgsl_expr **v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (v[i]) walk_expr(r, v[i]);
}

static void walk_expr(resolver *r, gr_wgsl_expr *e) {
    switch (e->kind) {
    case GR_WE_IDENT:
        use_name(r, e);
        walk_list(r, e->ident.targ, e->ident.targ_n);
        break;
    case GR_WE_PAREN:
    case GR_WE_UNARY:
    case GR_WE_ADDRESS_OF:
    case GR_WE_DEREF: walk_expr(r, e->unary.a); break;
    case GR_WE_BINARY:
        walk_expr(r, e->binary.a);
        walk_expr(r, e->binary.b);
        break;
    case GR_WE_INDEX:
        walk_expr(r, e->index.base);
        walk_expr(r, e->index.index);
        break;
    case GR_WE_MEMBER: walk_expr(r, e->member.base); break;
    case GR_WE_CALL:
        walk_expr(r, e->call.callee);
        walk_list(r, e->call.arg, e->call.arg_n);
        break;
    default: break;
    }
}

static void walk_attrs(resolver *r, gr_wgsl_attr *a, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (a[i].kind != GR_WA_DIAGNOSTIC && a[i].kind != GR_WA_BUILTIN && a[i].kind != GR_WA_STAGE_IO)
            walk_list(r, a[i].arg, a[i].arg_n);
}

/* Declares a local name; scope_start is the first binding of the scope it goes into. */
static void declare(resolver *r, gr_wgsl_decl *d, uint32_t scope_start) {
    uint32_t at = 0;
    gr_map_get(&r->local, d->name, &at);
    if (at > scope_start) {
        gr_wgsl_error(r->f, GR_D_WGSL_REDECLARED, d->offset, "rename one of them", "'%.*s' is declared twice in this scope", GR_STR_ARG(d->name));
        gr_wgsl_related(r->f, r->stack.v[at - 1].decl->offset, "the first declaration");
        return;
    }
    binding *b = GR_PUSH(r->f->arena, &r->stack);
    if (!b || !gr_map_put(r->f->arena, &r->local, d->name, r->stack.n)) {
        fail(r);
        return;
    }
    *b = (binding){d->name, d, at};
    d->function = r->fn;
    if (d->kind == GR_WD_CONST) return;
    gr_wgsl_decl **p = GR_PUSH(r->f->arena, &r->locals);
    if (!p) {
        fail(r);
        return;
    }
    d->slot = r->locals.n - 1;
    *p = d;
}

static void pop_scope(resolver *r, uint32_t start) {
    while (r->stack.n > start) {
        binding *b = &r->stack.v[--r->stack.n];
        gr_map_put(r->f->arena, &r->local, b->name, b->shadowed); /* the key exists: no allocation */
    }
}

static void walk_stmt(resolver *r, gr_wgsl_stmt *s, uint32_t scope);

static void walk_stmts(resolver *r, gr_wgsl_stmt *block, uint32_t scope) {
    walk_attrs(r, block->attr, block->attr_n);
    for (uint32_t i = 0; i < block->block.n && !r->failed; i++) walk_stmt(r, block->block.v[i], scope);
}

static void walk_block(resolver *r, gr_wgsl_stmt *block) {
    uint32_t start = r->stack.n;
    if (!block) return;
    walk_stmts(r, block, start);
    pop_scope(r, start);
}

static void walk_local(resolver *r, gr_wgsl_decl *d, uint32_t scope) {
    walk_list(r, d->targ, d->targ_n);
    if (d->type_expr) walk_expr(r, d->type_expr);
    if (d->init) walk_expr(r, d->init);
    declare(r, d, scope);
}

static void walk_for(resolver *r, gr_wgsl_stmt *s) {
    uint32_t start = r->stack.n;
    if (s->loop_for.init) walk_stmt(r, s->loop_for.init, start);
    if (s->loop_for.cond) walk_expr(r, s->loop_for.cond);
    if (s->loop_for.update) walk_stmt(r, s->loop_for.update, start);
    walk_block(r, s->loop_for.body);
    pop_scope(r, start);
}

/* The continuing block of a loop sees the names of the body. */
static void walk_loop(resolver *r, gr_wgsl_stmt *s) {
    uint32_t start = r->stack.n;
    walk_stmts(r, s->loop.body, start);
    if (s->loop.continuing) {
        uint32_t inner = r->stack.n;
        walk_stmts(r, s->loop.continuing, inner);
        if (s->loop.break_if) walk_expr(r, s->loop.break_if);
        pop_scope(r, inner);
    }
    pop_scope(r, start);
}

static void walk_stmt(resolver *r, gr_wgsl_stmt *s, uint32_t scope) {
    walk_attrs(r, s->attr, s->attr_n);
    switch (s->kind) {
    case GR_WS_BLOCK: walk_block(r, s); break;
    case GR_WS_DECL: walk_local(r, s->decl, scope); break;
    case GR_WS_ASSIGN:
    case GR_WS_INCREMENT:
    case GR_WS_DECREMENT:
        if (s->assign.lhs) walk_expr(r, s->assign.lhs);
        if (s->assign.rhs) walk_expr(r, s->assign.rhs);
        break;
    case GR_WS_IF:
        for (; s && s->kind == GR_WS_IF; s = s->branch.otherwise) {
            walk_expr(r, s->branch.cond);
            walk_block(r, s->branch.then);
        }
        walk_block(r, s);
        break;
    case GR_WS_SWITCH:
        walk_expr(r, s->select.cond);
        for (uint32_t i = 0; i < s->select.n; i++) {
            walk_list(r, s->select.v[i].selector, s->select.v[i].selector_n);
            walk_block(r, s->select.v[i].body);
        }
        break;
    case GR_WS_LOOP: walk_loop(r, s); break;
    case GR_WS_FOR: walk_for(r, s); break;
    case GR_WS_WHILE:
        walk_expr(r, s->loop_while.cond);
        walk_block(r, s->loop_while.body);
        break;
    case GR_WS_RETURN:
    case GR_WS_CALL:
    case GR_WS_CONST_ASSERT:
        if (s->expr) walk_expr(r, s->expr);
        break;
    default: break;
    }
}

static void walk_function(resolver *r, gr_wgsl_function *fn) {
    r->fn = fn;
    r->locals.v = NULL;
    r->locals.n = r->locals.cap = 0;
    for (uint32_t i = 0; i < fn->param_n; i++) {
        walk_attrs(r, fn->param[i]->attr, fn->param[i]->attr_n);
        walk_expr(r, fn->param[i]->type_expr);
    }
    walk_attrs(r, fn->result_attr, fn->result_attr_n);
    if (fn->result_expr) walk_expr(r, fn->result_expr);
    for (uint32_t i = 0; i < fn->param_n; i++) declare(r, fn->param[i], 0);
    walk_stmts(r, fn->body, 0);
    pop_scope(r, 0);
    fn->local = r->locals.v;
    fn->local_n = r->locals.n;
    r->fn = NULL;
}

static void walk_decl(resolver *r, uint32_t i) {
    gr_wgsl_decl *d = r->f->m->decl[i];
    r->current = i;
    walk_attrs(r, d->attr, d->attr_n);
    walk_list(r, d->targ, d->targ_n);
    if (d->type_expr) walk_expr(r, d->type_expr);
    if (d->init) walk_expr(r, d->init);
    if (d->kind == GR_WD_STRUCT) {
        const gr_wgsl_type *t = d->type;
        for (uint32_t k = 0; k < t->member_n; k++) {
            walk_attrs(r, t->member[k].attr, t->member[k].attr_n);
            walk_expr(r, t->member[k].type_expr);
        }
    }
    if (d->kind == GR_WD_FUNCTION) walk_function(r, d->function);
}

static bool declare_module(gr_wgsl_front *f) {
    bool ok = true;
    for (uint32_t i = 0; i < f->m->decl_n; i++) {
        gr_wgsl_decl *d = f->m->decl[i];
        uint32_t first;
        if (d->kind == GR_WD_CONST_ASSERT) continue;
        if (gr_map_get(&f->names, d->name, &first)) {
            ok = gr_wgsl_error(f, GR_D_WGSL_REDECLARED, d->offset, "rename one of them", "'%.*s' is declared twice at module scope", GR_STR_ARG(d->name));
            gr_wgsl_related(f, f->m->decl[first]->offset, "the first declaration");
        } else if (!gr_map_put(f->arena, &f->names, d->name, i)) {
            return gr_wgsl_oom(f);
        }
    }
    return ok;
}

/* Names of the declarations on a cycle: "a -> b -> a". */
static bool report_cycle(resolver *r, const uint32_t *path, uint32_t n, uint32_t again) {
    gr_wgsl_decl **decl = r->f->m->decl;
    uint32_t from = 0;
    while (from + 1 < n && path[from] != again) from++;
    gr_wgsl_decl *d = decl[again];
    bool recursion = d->kind == GR_WD_FUNCTION;
    gr_wgsl_error(r->f, GR_D_WGSL_CYCLE, d->offset, recursion ? "WGSL has no recursion: write a loop" : "break the cycle",
                  recursion ? "the function '%.*s' calls itself%s" : "the declaration of '%.*s' depends on itself%s",
                  GR_STR_ARG(d->name), n - from > 1 ? " through others" : "");
    for (uint32_t i = from + 1; i < n && i < from + 4; i++)
        gr_wgsl_related(r->f, decl[path[i]]->offset, "by way of '%.*s'", GR_STR_ARG(decl[path[i]]->name));
    return false;
}

/* Depth-first search without recursion; a back edge is a cycle. */
static bool sort_decls(resolver *r, gr_wgsl_decl **order) {
    uint32_t n = r->f->m->decl_n, out = 0, sp = 0;
    uint8_t *state = GR_NEW_N(r->f->arena, uint8_t, n + 1);
    uint32_t *path = GR_NEW_N(r->f->arena, uint32_t, n + 1), *next = GR_NEW_N(r->f->arena, uint32_t, n + 1);
    if (!state || !path || !next) return gr_wgsl_oom(r->f);
    bool ok = true;
    for (uint32_t root = 0; root < n; root++) {
        if (state[root]) continue;
        state[root] = 1;
        path[sp++] = root;
        while (sp) {
            uint32_t at = path[sp - 1];
            if (next[at] < r->edge[at].n) {
                uint32_t to = r->edge[at].v[next[at]++];
                if (state[to] == 1) ok = report_cycle(r, path, sp, to);
                if (state[to]) continue;
                state[to] = 1;
                path[sp++] = to;
            } else {
                state[at] = 2;
                order[out++] = r->f->m->decl[at];
                sp--;
            }
        }
    }
    return ok;
}

bool gr_wgsl_resolve(gr_wgsl_front *f, gr_wgsl_decl ***order) {
    resolver r = {.f = f};
    uint32_t errors = f->diags->errors, n = f->m->decl_n;
    bool ok = declare_module(f);
    r.edge = GR_NEW_N(f->arena, id_vec, n + 1);
    *order = GR_NEW_N(f->arena, gr_wgsl_decl *, n + 1);
    if (!r.edge || !*order) return gr_wgsl_oom(f);
    for (uint32_t i = 0; i < n && !r.failed; i++) walk_decl(&r, i);
    if (r.failed) return false;
    ok &= sort_decls(&r, *order);
    return ok && f->diags->errors == errors;
}
