/* Walking a function: every expression of a statement, and the root of a memory view. */
#include "wgsl/wgsl_int.h"

static bool visit_list(gr_wgsl_expr **v, uint32_t n, gr_wgsl_visit *fn, void *ctx) {
    for (uint32_t i = 0; i < n; i++)
        if (v[i] && !gr_wgsl_visit_expr(v[i], fn, ctx)) return false;
    return true;
}

bool gr_wgsl_visit_expr(gr_wgsl_expr *e, gr_wgsl_visit *fn, void *ctx) {
    if (!e) return true;
    if (!fn(ctx, e)) return false;
    switch (e->kind) {
    case GR_WE_PAREN:
    case GR_WE_UNARY:
    case GR_WE_ADDRESS_OF:
    case GR_WE_DEREF:
    case GR_WE_LOAD: return gr_wgsl_visit_expr(e->unary.a, fn, ctx);
    case GR_WE_BINARY: return gr_wgsl_visit_expr(e->binary.a, fn, ctx) && gr_wgsl_visit_expr(e->binary.b, fn, ctx);
    case GR_WE_INDEX: return gr_wgsl_visit_expr(e->index.base, fn, ctx) && gr_wgsl_visit_expr(e->index.index, fn, ctx);
    case GR_WE_MEMBER: return gr_wgsl_visit_expr(e->member.base, fn, ctx);
    case GR_WE_CALL: return visit_list(e->call.arg, e->call.arg_n, fn, ctx);
    default: return true;
    }
}

bool gr_wgsl_visit_stmt(gr_wgsl_stmt *s, gr_wgsl_visit *fn, void *ctx) {
    if (!s) return true;
    switch (s->kind) {
    case GR_WS_BLOCK:
        for (uint32_t i = 0; i < s->block.n; i++) GR_TRY(gr_wgsl_visit_stmt(s->block.v[i], fn, ctx));
        return true;
    case GR_WS_DECL: return gr_wgsl_visit_expr(s->decl->init, fn, ctx);
    case GR_WS_ASSIGN:
    case GR_WS_INCREMENT:
    case GR_WS_DECREMENT: return gr_wgsl_visit_expr(s->assign.lhs, fn, ctx) && gr_wgsl_visit_expr(s->assign.rhs, fn, ctx);
    case GR_WS_IF:
        for (; s && s->kind == GR_WS_IF; s = s->branch.otherwise) {
            GR_TRY(gr_wgsl_visit_expr(s->branch.cond, fn, ctx));
            GR_TRY(gr_wgsl_visit_stmt(s->branch.then, fn, ctx));
        }
        return gr_wgsl_visit_stmt(s, fn, ctx);
    case GR_WS_SWITCH:
        GR_TRY(gr_wgsl_visit_expr(s->select.cond, fn, ctx));
        for (uint32_t i = 0; i < s->select.n; i++) GR_TRY(gr_wgsl_visit_stmt(s->select.v[i].body, fn, ctx));
        return true;
    case GR_WS_LOOP:
        return gr_wgsl_visit_stmt(s->loop.body, fn, ctx) && gr_wgsl_visit_stmt(s->loop.continuing, fn, ctx) &&
               gr_wgsl_visit_expr(s->loop.break_if, fn, ctx);
    case GR_WS_FOR:
        return gr_wgsl_visit_stmt(s->loop_for.init, fn, ctx) && gr_wgsl_visit_expr(s->loop_for.cond, fn, ctx) &&
               gr_wgsl_visit_stmt(s->loop_for.update, fn, ctx) && gr_wgsl_visit_stmt(s->loop_for.body, fn, ctx);
    case GR_WS_WHILE: return gr_wgsl_visit_expr(s->loop_while.cond, fn, ctx) && gr_wgsl_visit_stmt(s->loop_while.body, fn, ctx);
    case GR_WS_RETURN:
    case GR_WS_CALL: return gr_wgsl_visit_expr(s->expr, fn, ctx);
    default: return true;
    }
}

gr_wgsl_decl *gr_wgsl_root(const gr_wgsl_expr *e) {
    while (e) {
        switch (e->kind) {
        case GR_WE_PAREN:
        case GR_WE_ADDRESS_OF:
        case GR_WE_DEREF:
        case GR_WE_LOAD: e = e->unary.a; break;
        case GR_WE_INDEX: e = e->index.base; break;
        case GR_WE_MEMBER: e = e->member.base; break;
        case GR_WE_IDENT: {
            gr_wgsl_decl *d = e->ident.decl;
            if (!d || d->kind != GR_WD_LET || !d->type || d->type->kind != GR_WT_PTR) return d;
            e = d->init; /* a let that holds a pointer */
            break;
        }
        default: return NULL;
        }
    }
    return NULL;
}
