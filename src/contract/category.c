/* Category against the body: an op that claims to select, move, compare or count must do no
 * float arithmetic on values of tensors.
 *
 * A variable is tainted when a float of a tensor may reach it. Taint is followed without
 * regard to the order of statements, until nothing changes: more may be tainted than is,
 * which refuses a false claim at the price of refusing some odd true ones. */
#include "contract/instance_int.h"

typedef struct tracer {
    const gr_wgsl_module *m;
    bool *tainted; /* by declaration id */
    bool *returns; /* by function index: its result is tainted */
    bool changed;
    const gr_wgsl_expr *found; /* the first arithmetic on a tainted float */
    const gr_wgsl_function *in;
} tracer;

static bool is_float(const gr_wgsl_type *t) {
    if (!t) return false;
    switch (t->kind) {
    case GR_WT_F32:
    case GR_WT_F16:
    case GR_WT_ABSTRACT_FLOAT: return true;
    case GR_WT_VEC:
    case GR_WT_MAT:
    case GR_WT_ARRAY:
    case GR_WT_PTR: return is_float(t->elem);
    case GR_WT_STRUCT:
        for (uint32_t i = 0; i < t->member_n; i++)
            if (is_float(t->member[i].type)) return true;
        return false;
    default: return false;
    }
}

static void taint(tracer *t, const gr_wgsl_decl *d) {
    if (!d || t->tainted[d->id]) return;
    t->tainted[d->id] = true;
    t->changed = true;
}

/* These give one of their operands, bit for bit. */
static bool selects(gr_wgsl_builtin b) {
    return b == GR_WB_min || b == GR_WB_max || b == GR_WB_clamp || b == GR_WB_select || b == GR_WB_bitcast ||
           b == GR_WB_workgroupUniformLoad;
}

static bool trace(tracer *t, const gr_wgsl_expr *e);

static void accuse(tracer *t, const gr_wgsl_expr *e) {
    if (!t->found) t->found = e;
}

static bool trace_call(tracer *t, const gr_wgsl_expr *e) {
    bool any = false;
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        bool x = trace(t, e->call.arg[i]);
        any = any || x;
        if (x && e->call.call == GR_WC_FUNCTION) taint(t, e->call.function->param[i]);
    }
    if (e->call.call == GR_WC_FUNCTION) return t->returns[e->call.function->index] && is_float(e->type);
    if (e->call.call == GR_WC_BUILTIN && any && is_float(e->type) && !selects(e->call.builtin)) accuse(t, e);
    return any && is_float(e->type);
}

static bool trace_binary(tracer *t, const gr_wgsl_expr *e) {
    bool a = trace(t, e->binary.a), b = trace(t, e->binary.b);
    bool arithmetic = e->binary.op >= GR_WO_ADD && e->binary.op <= GR_WO_MOD;
    if (arithmetic && (a || b) && is_float(e->type)) accuse(t, e);
    return (a || b) && is_float(e->type);
}

/* Does a float of a tensor flow into the value (or reference) of e? */
static bool trace(tracer *t, const gr_wgsl_expr *e) {
    if (!e || e->value) return false;
    bool x;
    switch (e->kind) {
    case GR_WE_IDENT: return e->ident.decl && t->tainted[e->ident.decl->id];
    case GR_WE_PAREN:
    case GR_WE_ADDRESS_OF:
    case GR_WE_DEREF:
    case GR_WE_LOAD: return trace(t, e->unary.a);
    case GR_WE_UNARY:
        x = trace(t, e->unary.a);
        if (x && e->unary.op == GR_WO_NEG && is_float(e->type)) accuse(t, e);
        return x;
    case GR_WE_BINARY: return trace_binary(t, e);
    case GR_WE_INDEX: trace(t, e->index.index); return trace(t, e->index.base);
    case GR_WE_MEMBER: return trace(t, e->member.base) && is_float(e->type);
    case GR_WE_CALL: return trace_call(t, e);
    default: return false;
    }
}

static gr_wgsl_decl *root_of(const gr_wgsl_expr *e) {
    while (e) {
        switch (e->kind) {
        case GR_WE_IDENT: return e->ident.decl;
        case GR_WE_PAREN:
        case GR_WE_ADDRESS_OF:
        case GR_WE_DEREF:
        case GR_WE_LOAD: e = e->unary.a; break;
        case GR_WE_INDEX: e = e->index.base; break;
        case GR_WE_MEMBER: e = e->member.base; break;
        default: return NULL;
        }
    }
    return NULL;
}

static void walk(tracer *t, const gr_wgsl_stmt *s);

static void walk_assign(tracer *t, const gr_wgsl_stmt *s) {
    bool r = trace(t, s->assign.rhs), l = trace(t, s->assign.lhs);
    bool arithmetic = s->assign.op >= GR_WO_ADD && s->assign.op <= GR_WO_MOD;
    if (arithmetic && (r || l) && is_float(s->assign.rhs->type)) accuse(t, s->assign.rhs);
    if (r && s->assign.lhs) taint(t, root_of(s->assign.lhs));
}

static void walk_block(tracer *t, const gr_wgsl_stmt *s) {
    for (uint32_t i = 0; i < s->block.n; i++) walk(t, s->block.v[i]);
}

static void walk(tracer *t, const gr_wgsl_stmt *s) {
    if (!s) return;
    switch (s->kind) {
    case GR_WS_BLOCK: walk_block(t, s); return;
    case GR_WS_DECL:
        if (trace(t, s->decl->init) && (is_float(s->decl->type))) taint(t, s->decl);
        return;
    case GR_WS_ASSIGN: walk_assign(t, s); return;
    case GR_WS_IF:
        trace(t, s->branch.cond);
        walk(t, s->branch.then);
        walk(t, s->branch.otherwise);
        return;
    case GR_WS_SWITCH:
        trace(t, s->select.cond);
        for (uint32_t i = 0; i < s->select.n; i++) walk(t, s->select.v[i].body);
        return;
    case GR_WS_LOOP:
        walk(t, s->loop.body);
        walk(t, s->loop.continuing);
        trace(t, s->loop.break_if);
        return;
    case GR_WS_FOR:
        walk(t, s->loop_for.init);
        trace(t, s->loop_for.cond);
        walk(t, s->loop_for.update);
        walk(t, s->loop_for.body);
        return;
    case GR_WS_WHILE:
        trace(t, s->loop_while.cond);
        walk(t, s->loop_while.body);
        return;
    case GR_WS_RETURN:
        if (trace(t, s->expr) && !t->returns[t->in->index]) t->returns[t->in->index] = t->changed = true;
        return;
    case GR_WS_CALL: trace(t, s->expr); return;
    default: return;
    }
}

/* ---- roots ---- */

static void taint_resources(tracer *t, const gr_binding *b) {
    for (uint32_t i = 0; i < b->binds_n; i++) {
        const gr_wgsl_decl *v = gr_wgsl_find_decl(t->m, b->binds[i].var);
        if (v && b->binds[i].kind == GR_BIND_READ && is_float(v->type)) taint(t, v);
        if (v && b->binds[i].kind == GR_BIND_INOUT && is_float(v->type)) taint(t, v);
    }
}

static void taint_params(tracer *t, uint32_t operands) {
    for (uint32_t i = 0; i < t->m->functions_n; i++) {
        const gr_wgsl_function *f = t->m->functions[i];
        for (uint32_t k = 0; gr_str_eqz(f->decl->name, "map_body") && k < operands && k < f->param_n; k++)
            if (is_float(f->param[k]->type)) taint(t, f->param[k]);
    }
}

static bool run(gr_arena *a, gr_diags *d, tracer *t, const gr_op *op) {
    t->tainted = GR_NEW_N(a, bool, t->m->decl_ids);
    t->returns = GR_NEW_N(a, bool, t->m->functions_n);
    if (!t->tainted || !t->returns) return gr_report_oom(d);
    if (op->body == GR_BODY_MAP) taint_params(t, op->sig.operands_n);
    else taint_resources(t, &op->reference.binding);
    do { /* each round taints at least one declaration more */
        t->changed = false;
        for (uint32_t i = 0; i < t->m->functions_n; i++) {
            t->in = t->m->functions[i];
            walk(t, t->m->functions[i]->body);
        }
    } while (t->changed && !t->found);
    return true;
}

static bool accused(gr_diags *d, const gr_op *op, const tracer *t) {
    gr_buf b = {0};
    gr_wgsl_print_expr(&b, t->found);
    gr_place at = gr_wgsl_place(t->m, t->found->offset);
    const gr_value *v = gr_value_get(op->source->doc.root, "category");
    gr_arena tmp = {0};
    gr_place claim = gr_value_place(&op->source->doc, v, &tmp);
    gr_report(d, GR_D_CONTRACT_CATEGORY_FALSE, claim, "claim pointwise, transcendental or reduction, with their tolerance",
              "%.*s claims the category %s, but its body does arithmetic on a value of a tensor: %.*s", GR_STR_ARG(op->id),
              gr_category_name(op->category), (int)(b.n > 80 ? 80 : b.n), b.p ? b.p : "");
    if (op->body == GR_BODY_REFERENCE) gr_report_related(d, at, "the arithmetic");
    gr_arena_free(&tmp);
    gr_buf_free(&b);
    return false;
}

typedef struct first {
    gr_arena *a;
    gr_diags *d;
    const gr_op *op;
} first;

static bool check_instance(void *user, const gr_instance *in) {
    first *f = user;
    tracer t = {.m = f->op->body == GR_BODY_MAP ? gr_map_module(f->a, f->d, f->op, in)
                                                : gr_file_module(f->a, f->d, f->op, &f->op->reference, in)};
    GR_TRY(t.m && run(f->a, f->d, &t, f->op));
    return !t.found || accused(f->d, f->op, &t);
}

bool gr_op_check_category(gr_arena *scratch, gr_diags *d, const gr_op *op) {
    if (op->category > GR_CATEGORY_COMPARISON || (op->body != GR_BODY_MAP && op->body != GR_BODY_REFERENCE)) return true;
    first f = {scratch, d, op};
    return gr_instances(&op->sig, op->reference.dtypes, op->reference.dtypes_n, false, check_instance, &f);
}
