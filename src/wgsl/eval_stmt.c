/* Statements and inlined calls to structured lane code. */
#include "wgsl/eval_int.h"

enum { MAX_DEPTH = 200, MAX_CALLS = 1 << 20 };

/* ---------------------------------------------------------- shape of control */

/* Does `s` hold a break that leaves the construct around it? */
static bool has_break(const gr_wgsl_stmt *s) {
    if (!s) return false;
    switch (s->kind) {
        case GR_WS_BREAK: return true;
        case GR_WS_BLOCK:
            for (uint32_t i = 0; i < s->block.n; i++)
                if (has_break(s->block.v[i])) return true;
            return false;
        case GR_WS_IF: return has_break(s->branch.then) || has_break(s->branch.otherwise);
        default: return false; /* loops and switches have their own */
    }
}

/* A break other than as the last statement of a switch clause. */
static bool breaks_early(const gr_wgsl_stmt *body) {
    for (uint32_t i = 0; i < body->block.n; i++) {
        const gr_wgsl_stmt *s = body->block.v[i];
        if (s->kind == GR_WS_BREAK) return false; /* what follows is unreachable */
        if (has_break(s)) return true;
    }
    return false;
}

static bool has_return(const gr_wgsl_stmt *s) {
    if (!s) return false;
    switch (s->kind) {
        case GR_WS_RETURN: return true;
        case GR_WS_BLOCK:
            for (uint32_t i = 0; i < s->block.n; i++)
                if (has_return(s->block.v[i])) return true;
            return false;
        case GR_WS_IF: return has_return(s->branch.then) || has_return(s->branch.otherwise);
        case GR_WS_SWITCH:
            for (uint32_t i = 0; i < s->select.n; i++)
                if (has_return(s->select.v[i].body)) return true;
            return false;
        case GR_WS_LOOP: return has_return(s->loop.body) || has_return(s->loop.continuing);
        case GR_WS_FOR: return has_return(s->loop_for.body);
        case GR_WS_WHILE: return has_return(s->loop_while.body);
        default: return false;
    }
}

/* A return other than as the last statement of the body. */
static bool returns_early(const gr_wgsl_stmt *body) {
    for (uint32_t i = 0; i < body->block.n; i++) {
        const gr_wgsl_stmt *s = body->block.v[i];
        if (s->kind == GR_WS_RETURN) return false;
        if (has_return(s)) return true;
    }
    return false;
}

/* -------------------------------------------------------------- declarations */

static void declare(eval_lower *l, const gr_wgsl_decl *d) {
    eval_binding *b = &l->call->local[d->slot];
    vm_program *p = l->p;
    p->at = d->offset;
    if (d->kind == GR_WD_CONST) return;
    if (d->kind == GR_WD_LET && d->type->kind == GR_WT_PTR) {
        *b = (eval_binding){.is_ref = true, .ref = eval_pin(l, eval_pointer(l, d->init))};
        return;
    }
    bool memory = eval_has_array(d->type) || (p->sanitize && d->kind == GR_WD_VAR && !d->init);
    if (d->kind == GR_WD_LET && !memory) {
        *b = (eval_binding){.value = eval_copy(l, eval_expr(l, d->init))};
        return;
    }
    bool zero = !d->init || (d->init->kind == GR_WE_CALL && d->init->call.call == GR_WC_CONSTRUCT &&
                             d->init->call.construct == GR_WN_ZERO);
    eval_value v = zero ? (eval_value){0} : eval_copy(l, eval_expr(l, d->init));
    *b = (eval_binding){.is_ref = true, .ref = eval_var_ref(l, d->type, d->name, d->offset, memory, !d->init)};
    if (zero) eval_clear(l, b->ref);
    else eval_store(l, b->ref, v);
}

static void assign(eval_lower *l, const gr_wgsl_stmt *s) {
    if (!s->assign.lhs) {
        eval_expr(l, s->assign.rhs);
        return;
    }
    eval_ref r = eval_reference(l, s->assign.lhs);
    if (eval_calls_user(s->assign.rhs)) r = eval_pin(l, r);
    if (s->assign.op == GR_WO_NONE) {
        eval_value v = eval_expr(l, s->assign.rhs);
        l->p->at = s->offset;
        eval_store(l, r, v);
        return;
    }
    eval_value old = eval_load(l, r);
    if (eval_calls_user(s->assign.rhs)) old = eval_copy(l, old);
    eval_value v = eval_expr(l, s->assign.rhs);
    l->p->at = s->offset;
    if (old.n && v.n) eval_store(l, r, eval_binary(l, s->assign.op, r.type, old, v));
}

static void step_by_one(eval_lower *l, const gr_wgsl_stmt *s) {
    eval_ref r = eval_reference(l, s->assign.lhs);
    eval_value old = eval_load(l, r), one = eval_new(l, r.type);
    if (!old.n) return;
    one.r[0] = vm_int(l->p, 1);
    l->p->at = s->offset;
    eval_store(l, r, eval_binary(l, s->kind == GR_WS_INCREMENT ? GR_WO_ADD : GR_WO_SUB, r.type, old, one));
}

/* --------------------------------------------------------------- branches */

static bool block(eval_lower *l, const gr_wgsl_stmt *s) {
    uint32_t cells = l->p->local_cells;
    bool goes_on = true;
    for (uint32_t i = 0; i < s->block.n && goes_on && !l->p->failed; i++) goes_on = eval_body(l, s->block.v[i]);
    l->p->local_cells = cells;
    return goes_on;
}

static vm_reg condition(eval_lower *l, const gr_wgsl_expr *e) {
    eval_value v = eval_copy(l, eval_expr(l, e));
    return v.n ? v.r[0] : 0;
}

static bool branch(eval_lower *l, const gr_wgsl_stmt *s) {
    vm_reg cond = condition(l, s->branch.cond);
    if (!cond) return true;
    l->p->at = s->offset;
    vm_open(l->p, VM_IF, cond);
    bool then = eval_body(l, s->branch.then), otherwise = true;
    if (s->branch.otherwise) {
        vm_middle(l->p, VM_ELSE);
        otherwise = eval_body(l, s->branch.otherwise);
    }
    if (l->p->failed) return false;
    vm_close(l->p);
    return then || otherwise;
}

static vm_reg either(eval_lower *l, vm_reg a, vm_reg b) { return a && b ? vm_lane(l->p, LANE_LOR, a, b, 0) : a ? a : b; }

static vm_reg clause_condition(eval_lower *l, const gr_wgsl_case *c, vm_reg selector) {
    vm_reg any = 0;
    for (uint32_t k = 0; k < c->selector_n; k++) {
        if (!c->selector[k]) continue;
        eval_value v = eval_expr(l, c->selector[k]);
        if (v.n) any = either(l, any, vm_lane(l->p, LANE_EQ_I, selector, v.r[0], 0));
    }
    return any;
}

/* Clauses are alternatives without fall-through: a row of ifs over one copied selector. */
static bool clauses(eval_lower *l, const gr_wgsl_stmt *s, const vm_reg *cond, vm_reg any) {
    bool goes_on = false;
    vm_program *p = l->p;
    for (uint32_t k = 0; k < s->select.n && !p->failed; k++) {
        const gr_wgsl_case *c = &s->select.v[k];
        vm_reg mine = cond[k];
        if (c->has_default) mine = any ? either(l, mine, vm_lane(p, LANE_NOT, any, 0, 0)) : vm_int(p, 0xFFFFFFFFu);
        vm_open(p, VM_IF, mine);
        goes_on |= block(l, c->body) || has_break(c->body);
        if (!p->failed) vm_close(p);
    }
    return goes_on;
}

static bool select_clause(eval_lower *l, const gr_wgsl_stmt *s) {
    eval_value selector = eval_copy(l, eval_expr(l, s->select.cond));
    vm_reg *cond = GR_NEW_N(l->arena, vm_reg, s->select.n), any = 0;
    if (!selector.n || !cond) return l->p->failed ? false : vm_fail(l->p, NULL);
    bool region = false;
    for (uint32_t k = 0; k < s->select.n; k++) {
        cond[k] = clause_condition(l, &s->select.v[k], selector.r[0]);
        any = either(l, any, cond[k]);
        region |= breaks_early(s->select.v[k].body);
    }
    eval_call *c = l->call;
    uint32_t break_scope = c->break_scope;
    bool falls = c->break_falls;
    if (region) c->break_scope = vm_open(l->p, VM_REGION, 0);
    c->break_falls = !region;
    bool goes_on = clauses(l, s, cond, any);
    c->break_scope = break_scope;
    c->break_falls = falls;
    if (region && !l->p->failed) vm_close(l->p);
    return goes_on;
}

/* ------------------------------------------------------------------- loops */

typedef struct loop_state { uint32_t break_scope, continue_scope; bool falls; } loop_state;

static loop_state open_loop(eval_lower *l, uint32_t at) {
    eval_call *c = l->call;
    loop_state was = {c->break_scope, c->continue_scope, c->break_falls};
    l->p->at = at;
    c->break_scope = c->continue_scope = vm_open(l->p, VM_LOOP, 0);
    c->break_falls = false;
    return was;
}

static void close_loop(eval_lower *l, loop_state was, uint32_t at) {
    l->call->break_scope = was.break_scope;
    l->call->continue_scope = was.continue_scope;
    l->call->break_falls = was.falls;
    l->p->at = at;
    if (!l->p->failed) vm_close(l->p);
}

static void leave_unless(eval_lower *l, const gr_wgsl_expr *cond, uint32_t loop) {
    if (!cond) return;
    vm_reg c = condition(l, cond);
    if (c) vm_leave_if(l->p, loop, c, true);
}

static bool loop_for(eval_lower *l, const gr_wgsl_stmt *s) {
    uint32_t cells = l->p->local_cells;
    if (s->loop_for.init) eval_body(l, s->loop_for.init);
    loop_state was = open_loop(l, s->offset);
    leave_unless(l, s->loop_for.cond, l->call->break_scope);
    block(l, s->loop_for.body);
    vm_middle(l->p, VM_CONTINUING);
    if (s->loop_for.update) eval_body(l, s->loop_for.update);
    close_loop(l, was, s->offset);
    l->p->local_cells = cells;
    return true;
}

static bool loop_while(eval_lower *l, const gr_wgsl_stmt *s) {
    loop_state was = open_loop(l, s->offset);
    leave_unless(l, s->loop_while.cond, l->call->break_scope);
    block(l, s->loop_while.body);
    vm_middle(l->p, VM_CONTINUING);
    close_loop(l, was, s->offset);
    return true;
}

/* The continuing block sees the declarations of the body. */
static bool loop_plain(eval_lower *l, const gr_wgsl_stmt *s) {
    uint32_t cells = l->p->local_cells;
    loop_state was = open_loop(l, s->offset);
    const gr_wgsl_stmt *body = s->loop.body;
    bool goes_on = true;
    for (uint32_t i = 0; i < body->block.n && goes_on && !l->p->failed; i++) goes_on = eval_body(l, body->block.v[i]);
    vm_middle(l->p, VM_CONTINUING);
    if (s->loop.continuing) {
        const gr_wgsl_stmt *c = s->loop.continuing;
        for (uint32_t i = 0; i < c->block.n && !l->p->failed; i++) eval_body(l, c->block.v[i]);
    }
    if (s->loop.break_if) {
        vm_reg c = condition(l, s->loop.break_if);
        if (c) vm_leave_if(l->p, l->call->break_scope, c, false);
    }
    close_loop(l, was, s->offset);
    l->p->local_cells = cells;
    return true;
}

/* ------------------------------------------------------------------- calls */

static void give_back(eval_lower *l, const gr_wgsl_stmt *s) {
    eval_call *c = l->call;
    if (!c->caller) {
        vm_leave(l->p, 0);
        return;
    }
    if (s->expr) {
        eval_value v = eval_expr(l, s->expr);
        l->p->at = s->offset;
        if (!c->region) c->result = eval_copy(l, v);
        else if (v.n > 1) v = eval_copy(l, v);
        for (uint32_t k = 0; c->region && k < v.n && k < c->result.n; k++) vm_set(l->p, c->result.r[k], v.r[k]);
    }
    if (c->region) vm_leave(l->p, c->scope);
}

static bool bind_arguments(eval_lower *l, const gr_wgsl_expr *e, eval_call *c) {
    for (uint32_t k = 0; k < e->call.arg_n && !l->p->failed; k++) {
        eval_binding *b = &c->local[e->call.function->param[k]->slot];
        const gr_wgsl_type *t = e->call.function->param[k]->type;
        if (t->kind == GR_WT_PTR) {
            *b = (eval_binding){.is_ref = true, .ref = eval_pin(l, eval_pointer(l, e->call.arg[k]))};
            continue;
        }
        eval_value v = eval_copy(l, eval_expr(l, e->call.arg[k]));
        if (!eval_has_array(t)) {
            *b = (eval_binding){.value = v};
            continue;
        }
        *b = (eval_binding){.is_ref = true,
                            .ref = eval_var_ref(l, t, e->call.function->param[k]->name, e->offset, true, false)};
        eval_store(l, b->ref, v);
    }
    return !l->p->failed;
}

static void result_variables(eval_lower *l, eval_call *c) {
    if (c->fn->result->kind == GR_WT_VOID || !c->region) return;
    c->result = eval_zero(l, c->fn->result);
    for (uint32_t k = 0; k < c->result.n; k++) c->result.r[k] = vm_var(l->p, l->p->reg.v[c->result.r[k]].cls);
}

eval_value eval_call_function(eval_lower *l, const gr_wgsl_expr *e) {
    vm_program *p = l->p;
    const gr_wgsl_function *fn = e->call.function;
    if (++l->calls > MAX_CALLS || l->depth >= MAX_DEPTH)
        return vm_fail(p, "calls nest deeper than 200 or number more than 1,048,576"), (eval_value){0};
    eval_call *c = GR_NEW(l->arena, eval_call);
    eval_binding *local = GR_NEW_N(l->arena, eval_binding, fn->local_n);
    if (!c || !local) return vm_fail(p, NULL), (eval_value){0};
    *c = (eval_call){.fn = fn, .local = local, .caller = l->call, .region = returns_early(fn->body)};
    uint32_t cells = p->local_cells;
    if (!bind_arguments(l, e, c)) return (eval_value){0};
    result_variables(l, c);
    if (c->region) c->scope = vm_open(p, VM_REGION, 0);
    l->call = c;
    l->depth++;
    block(l, fn->body);
    l->depth--;
    l->call = c->caller;
    if (c->region && !p->failed) vm_close(p);
    p->local_cells = cells;
    p->at = e->offset;
    return p->failed ? (eval_value){0} : c->result;
}

/* --------------------------------------------------------------- statements */

static bool leave_construct(eval_lower *l, const gr_wgsl_stmt *s) {
    if (s->kind == GR_WS_CONTINUE) vm_continue(l->p, l->call->continue_scope);
    else if (!l->call->break_falls) vm_leave(l->p, l->call->break_scope);
    return false;
}

bool eval_body(eval_lower *l, const gr_wgsl_stmt *s) {
    if (l->p->failed) return false;
    l->p->at = s->offset;
    switch (s->kind) {
        case GR_WS_BLOCK: return block(l, s);
        case GR_WS_DECL: return declare(l, s->decl), true;
        case GR_WS_ASSIGN: return assign(l, s), true;
        case GR_WS_INCREMENT: case GR_WS_DECREMENT: return step_by_one(l, s), true;
        case GR_WS_IF: return branch(l, s);
        case GR_WS_SWITCH: return select_clause(l, s);
        case GR_WS_LOOP: return loop_plain(l, s);
        case GR_WS_FOR: return loop_for(l, s);
        case GR_WS_WHILE: return loop_while(l, s);
        case GR_WS_BREAK: case GR_WS_CONTINUE: return leave_construct(l, s);
        case GR_WS_RETURN: return give_back(l, s), false;
        case GR_WS_CALL: return eval_expr(l, s->expr), true;
        default: return true;
    }
}
