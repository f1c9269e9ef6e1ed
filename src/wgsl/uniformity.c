/* Uniformity analysis: statements, functions, reports. See uniformity.h. */
#include "wgsl/uniformity.h"

/* --------------------------------------------------------------------- graph */

uint32_t gr_un_new(gr_un *u, uint32_t offset) {
    if (u->failed) return 0;
    if (u->node.n >= GR_UN_MAX_NODES) {
        u->failed = !gr_wgsl_error(u->f, GR_D_WGSL_LIMIT, u->fn->decl->offset, "split it",
                                   "the function '%.*s' is too large for the uniformity analysis",
                                   GR_STR_ARG(u->fn->decl->name));
        return 0;
    }
    gr_un_node *n = GR_PUSH(&u->scratch, &u->node);
    if (!n) {
        u->failed = !gr_wgsl_oom(u->f);
        return 0;
    }
    *n = (gr_un_node){.offset = offset};
    return u->node.n - 1;
}

void gr_un_add(gr_un *u, uint32_t from, uint32_t to) {
    if (u->failed || !from || !to || from == to || from == GR_UN_NON_UNIFORM) return;
    gr_un_edge *e = GR_PUSH(&u->scratch, &u->edge);
    if (!e) {
        u->failed = !gr_wgsl_oom(u->f);
        return;
    }
    *e = (gr_un_edge){to, u->node.v[from].edges};
    u->node.v[from].edges = u->edge.n;
}

/* Marks what `source` reaches with the node each was reached from. */
static void traverse(gr_un *u, uint32_t source) {
    u->work.n = 0;
    uint32_t at = source;
    for (;;) {
        for (uint32_t e = u->node.v[at].edges; e; e = u->edge.v[e - 1].next) {
            uint32_t to = u->edge.v[e - 1].to;
            if (u->node.v[to].from) continue;
            u->node.v[to].from = at;
            uint32_t *p = GR_PUSH(&u->scratch, &u->work);
            if (!p) {
                u->failed = !gr_wgsl_oom(u->f);
                return;
            }
            *p = to;
        }
        if (!u->work.n) return;
        at = u->work.v[--u->work.n];
    }
}

static void forget(gr_un *u) {
    for (uint32_t i = 0; i < u->node.n; i++) u->node.v[i].from = 0;
}

static bool reached(const gr_un *u, uint32_t n) { return n && u->node.v[n].from != 0; }

/* ----------------------------------------------------------------- variables */

void gr_un_set(gr_un *u, uint32_t slot, uint32_t node) {
    gr_un_log *l = GR_PUSH(&u->scratch, &u->log);
    if (!l) {
        u->failed = !gr_wgsl_oom(u->f);
        return;
    }
    *l = (gr_un_log){slot, u->value[slot]};
    u->value[slot] = node;
}

static void undo(gr_un *u, uint32_t mark) {
    while (u->log.n > mark) {
        gr_un_log l = u->log.v[--u->log.n];
        u->value[l.slot] = l.old;
    }
}

static void show(gr_un *u, uint32_t slot) {
    uint32_t *p = GR_PUSH(&u->scratch, &u->visible);
    if (p) *p = slot;
    else u->failed = !gr_wgsl_oom(u->f);
    u->in_scope[slot] = true;
}

static void hide(gr_un *u, uint32_t visible) {
    while (u->visible.n > visible) u->in_scope[u->visible.v[--u->visible.n]] = false;
}

/* An exit node of the frame for visible variable k. */
static uint32_t exit_node(gr_un *u, gr_un_frame *fr, uint32_t k) {
    if (!fr->exit[k]) fr->exit[k] = gr_un_new(u, 0);
    return fr->exit[k];
}

static void to_exits(gr_un *u, gr_un_frame *fr, uint32_t n) {
    for (uint32_t k = 0; k < n && k < fr->n; k++) gr_un_add(u, exit_node(u, fr, k), u->value[u->visible.v[k]]);
}

static bool open_frame(gr_un *u, gr_un_frame *fr, bool is_loop, uint32_t outside) {
    *fr = (gr_un_frame){.outer = u->frame, .is_loop = is_loop, .outside = outside, .n = u->visible.n};
    fr->in = GR_NEW_N(&u->scratch, uint32_t, fr->n);
    fr->exit = GR_NEW_N(&u->scratch, uint32_t, fr->n);
    if (!fr->in || !fr->exit) return !(u->failed = !gr_wgsl_oom(u->f));
    u->frame = fr;
    for (uint32_t k = 0; is_loop && k < fr->n; k++) { /* values on entry: from before, and from the end of the body */
        uint32_t slot = u->visible.v[k];
        fr->in[k] = gr_un_new(u, 0);
        gr_un_add(u, fr->in[k], u->value[slot]);
        gr_un_set(u, slot, fr->in[k]);
    }
    return true;
}

static void to_inputs(gr_un *u, const gr_un_frame *fr) {
    for (uint32_t k = 0; k < fr->n; k++) gr_un_add(u, fr->in[k], u->value[u->visible.v[k]]);
}

static void close_frame(gr_un *u, gr_un_frame *fr) {
    u->frame = fr->outer;
    for (uint32_t k = 0; k < fr->n; k++)
        if (fr->exit[k]) gr_un_set(u, u->visible.v[k], fr->exit[k]);
}

/* ---------------------------------------------------------------- statements */

static uint32_t stmt(gr_un *u, uint32_t cf, gr_wgsl_stmt *s);

static gr_un_severity severity_named(gr_str s) {
    return gr_str_eqz(s, "error")     ? GR_UN_ERROR
           : gr_str_eqz(s, "warning") ? GR_UN_WARNING
           : gr_str_eqz(s, "info")    ? GR_UN_INFO
                                      : GR_UN_OFF;
}

/* A filter in force from here on; the caller restores the one before. */
static gr_un_severity filter(gr_un *u, const gr_wgsl_attr *a, uint32_t n) {
    gr_un_severity before = u->subgroup;
    for (uint32_t i = 0; i < n; i++)
        if (a[i].kind == GR_WA_DIAGNOSTIC && gr_str_eqz(a[i].rule, "subgroup_uniformity"))
            u->subgroup = severity_named(a[i].arg[0]->ident.name);
    return before;
}

static uint32_t statements(gr_un *u, uint32_t cf, gr_wgsl_stmt *b) {
    for (uint32_t i = 0; i < b->block.n && !u->failed; i++) {
        cf = stmt(u, cf, b->block.v[i]);
        if (!(b->block.v[i]->behaviour & GR_WGSL_NEXT)) break;
    }
    return cf;
}

/* Assignments inside a block hold behind it only when it goes on. */
static uint32_t block(gr_un *u, uint32_t cf, gr_wgsl_stmt *b) {
    uint32_t mark = u->log.n, visible = u->visible.n;
    gr_un_severity before = filter(u, b->attr, b->attr_n);
    cf = statements(u, cf, b);
    u->subgroup = before;
    hide(u, visible);
    if (!(b->behaviour & GR_WGSL_NEXT)) undo(u, mark);
    return cf;
}

static uint32_t branch_node(gr_un *u, uint32_t offset, uint32_t cond) {
    uint32_t n = gr_un_new(u, offset);
    gr_un_add(u, n, cond);
    if (n && !u->failed) u->node.v[n].branches = true;
    return n;
}

static uint32_t declare(gr_un *u, uint32_t cf, gr_wgsl_decl *d) {
    if (d->kind == GR_WD_CONST) return cf;
    uint32_t v = cf;
    if (d->init) {
        gr_un_pair p = gr_un_expr(u, cf, d->init, false);
        cf = p.cf;
        v = p.v;
    }
    if (d->kind == GR_WD_LET) gr_un_keep_partial(u, d);
    gr_un_set(u, d->slot, v);
    if (d->kind == GR_WD_VAR) show(u, d->slot);
    return cf;
}

static uint32_t assign(gr_un *u, uint32_t cf, gr_wgsl_stmt *s) {
    uint32_t slot;
    if (!s->assign.lhs) return gr_un_expr(u, cf, s->assign.rhs, false).cf;
    gr_un_pair l = gr_un_lvalue(u, cf, s->assign.lhs, false, &slot);
    bool reads = s->kind != GR_WS_ASSIGN || s->assign.op != GR_WO_NONE;
    uint32_t old = reads && slot != UINT32_MAX ? u->value[slot] : 0;
    gr_un_pair r = s->assign.rhs ? gr_un_expr(u, l.cf, s->assign.rhs, false) : (gr_un_pair){l.cf, l.cf};
    gr_un_add(u, l.v, r.v);
    gr_un_add(u, l.v, old);
    if (slot != UINT32_MAX) gr_un_set(u, slot, l.v);
    return r.cf;
}

/* A branch's assignments, taken off the log and undone. */
typedef struct taken {
    gr_un_log *v; /* slot, and the value assigned last */
    uint32_t n;
} taken;

static taken take_assigned(gr_un *u, uint32_t mark) {
    taken t = {.n = u->log.n - mark};
    t.v = GR_NEW_N(&u->scratch, gr_un_log, t.n);
    if (!t.v) {
        u->failed = !gr_wgsl_oom(u->f);
        return (taken){0};
    }
    for (uint32_t i = 0; i < t.n; i++) t.v[i] = (gr_un_log){u->log.v[mark + i].slot, u->value[u->log.v[mark + i].slot]};
    undo(u, mark);
    return t;
}

/* After an if: each variable that either branch assigned has the values of the branches that go on. */
static void merge(gr_un *u, taken yes, bool yes_on, taken no, bool no_on) {
    for (uint32_t i = 0; i < yes.n; i++) u->then_value[yes.v[i].slot] = yes.v[i].old;
    for (uint32_t i = 0; i < no.n; i++) u->else_value[no.v[i].slot] = no.v[i].old;
    for (uint32_t i = 0; i < yes.n + no.n && !u->failed; i++) {
        uint32_t slot = i < yes.n ? yes.v[i].slot : no.v[i - yes.n].slot;
        uint32_t a = u->then_value[slot], b = u->else_value[slot];
        u->then_value[slot] = u->else_value[slot] = 0;
        if ((!a && !b) || !u->in_scope[slot]) continue; /* done before, or declared inside */
        uint32_t out = gr_un_new(u, 0);
        if (yes_on) gr_un_add(u, out, a ? a : u->value[slot]);
        if (no_on) gr_un_add(u, out, b ? b : u->value[slot]);
        gr_un_set(u, slot, out);
    }
}

static uint32_t branch(gr_un *u, uint32_t cf, gr_wgsl_stmt *s) {
    uint32_t v = branch_node(u, s->offset, gr_un_expr(u, cf, s->branch.cond, false).v), mark = u->log.n, cf2 = 0;
    taken no = {0};
    bool else_on = true;
    uint32_t cf1 = stmt(u, v, s->branch.then);
    taken yes = take_assigned(u, mark);
    if (s->branch.otherwise) {
        cf2 = stmt(u, v, s->branch.otherwise);
        no = take_assigned(u, mark);
        else_on = s->branch.otherwise->behaviour & GR_WGSL_NEXT;
    }
    merge(u, yes, s->branch.then->behaviour & GR_WGSL_NEXT, no, else_on);
    if (s->behaviour == GR_WGSL_NEXT) return cf;
    uint32_t end = gr_un_new(u, s->offset);
    gr_un_add(u, end, cf1);
    gr_un_add(u, end, cf2);
    return end;
}

static uint32_t choose(gr_un *u, uint32_t cf, gr_wgsl_stmt *s) {
    gr_un_frame fr;
    gr_un_pair c = gr_un_expr(u, cf, s->select.cond, false);
    uint32_t v = branch_node(u, s->offset, c.v), end = s->behaviour == GR_WGSL_NEXT ? 0 : gr_un_new(u, s->offset);
    if (!open_frame(u, &fr, false, u->visible.n)) return cf;
    gr_un_severity before = filter(u, s->select.body_attr, s->select.body_attr_n);
    for (uint32_t i = 0; i < s->select.n && !u->failed; i++) {
        uint32_t mark = u->log.n;
        gr_un_add(u, end, block(u, v, s->select.v[i].body));
        if (s->select.v[i].body->behaviour & GR_WGSL_NEXT) to_exits(u, &fr, fr.outside);
        undo(u, mark);
    }
    u->subgroup = before;
    close_frame(u, &fr);
    return end ? end : cf;
}

static uint32_t break_if(gr_un *u, uint32_t cf, gr_wgsl_stmt *s) {
    if (!s->loop.break_if) return cf;
    uint32_t v = branch_node(u, s->loop.break_if->offset, gr_un_expr(u, cf, s->loop.break_if, false).v);
    to_exits(u, u->frame, u->frame->outside);
    uint32_t end = gr_un_new(u, s->loop.break_if->offset);
    gr_un_add(u, end, v);
    return end;
}

static uint32_t loop(gr_un *u, uint32_t cf, gr_wgsl_stmt *s) {
    gr_un_frame fr;
    uint32_t start = gr_un_new(u, s->offset), visible = u->visible.n;
    if (!open_frame(u, &fr, true, visible)) return cf;
    gr_wgsl_stmt *body = s->loop.body;
    uint32_t mark = u->log.n;
    gr_un_severity before = filter(u, body->attr, body->attr_n);
    uint32_t end = statements(u, start, body);
    if (s->loop.continuing && (body->behaviour & (GR_WGSL_NEXT | GR_WGSL_CONTINUE))) {
        gr_un_severity outer = filter(u, s->loop.continuing->attr, s->loop.continuing->attr_n);
        end = break_if(u, statements(u, end, s->loop.continuing), s);
        u->subgroup = outer;
    }
    u->subgroup = before;
    hide(u, visible);
    if (!(body->behaviour & GR_WGSL_NEXT)) undo(u, mark);
    gr_un_add(u, start, end);
    gr_un_add(u, start, cf);
    to_inputs(u, &fr);
    close_frame(u, &fr);
    return s->behaviour == GR_WGSL_NEXT ? cf : start;
}

static uint32_t loop_with_head(gr_un *u, uint32_t cf, gr_wgsl_stmt *s) {
    gr_un_frame fr;
    bool is_for = s->kind == GR_WS_FOR;
    gr_wgsl_expr *cond = is_for ? s->loop_for.cond : s->loop_while.cond;
    gr_wgsl_stmt *body = is_for ? s->loop_for.body : s->loop_while.body;
    uint32_t start = gr_un_new(u, s->offset), visible = u->visible.n;
    uint32_t before = is_for && s->loop_for.init ? stmt(u, cf, s->loop_for.init) : cf, in = before;
    if (!open_frame(u, &fr, true, visible)) return cf;
    if (cond) {
        in = branch_node(u, s->offset, gr_un_expr(u, start, cond, false).v);
        to_exits(u, &fr, fr.n);
    }
    uint32_t end = block(u, in, body);
    if (is_for && s->loop_for.update) end = stmt(u, end, s->loop_for.update);
    gr_un_add(u, start, end);
    gr_un_add(u, start, cf);
    to_inputs(u, &fr);
    close_frame(u, &fr);
    hide(u, visible);
    return s->behaviour == GR_WGSL_NEXT ? cf : start;
}

static void leave(gr_un *u, bool is_break) {
    gr_un_frame *fr = u->frame;
    while (fr && !is_break && !fr->is_loop) fr = fr->outer;
    if (!fr) return;
    if (is_break) to_exits(u, fr, fr->outside);
    else to_inputs(u, fr);
}

static void to_outputs(gr_un *u) {
    for (uint32_t i = 0; i < u->fn->param_n; i++)
        if (u->now->param[i].out) gr_un_add(u, u->now->param[i].out, u->value[i]);
}

static uint32_t give_back(gr_un *u, uint32_t cf, gr_wgsl_stmt *s) {
    if (s->expr) {
        gr_un_pair p = gr_un_expr(u, cf, s->expr, false);
        gr_un_add(u, GR_UN_RETURN, p.v);
        cf = p.cf;
    }
    to_outputs(u);
    return cf;
}

static uint32_t stmt(gr_un *u, uint32_t cf, gr_wgsl_stmt *s) {
    if (u->failed) return cf;
    gr_un_severity before = u->subgroup;
    if (s->kind != GR_WS_BLOCK) filter(u, s->attr, s->attr_n);
    switch (s->kind) {
    case GR_WS_BLOCK: cf = block(u, cf, s); break;
    case GR_WS_DECL: cf = declare(u, cf, s->decl); break;
    case GR_WS_ASSIGN:
    case GR_WS_INCREMENT:
    case GR_WS_DECREMENT: cf = assign(u, cf, s); break;
    case GR_WS_IF: cf = branch(u, cf, s); break;
    case GR_WS_SWITCH: cf = choose(u, cf, s); break;
    case GR_WS_LOOP: cf = loop(u, cf, s); break;
    case GR_WS_FOR:
    case GR_WS_WHILE: cf = loop_with_head(u, cf, s); break;
    case GR_WS_BREAK: leave(u, true); break;
    case GR_WS_CONTINUE: leave(u, false); break;
    case GR_WS_RETURN: cf = give_back(u, cf, s); break;
    case GR_WS_CALL: cf = gr_un_expr(u, cf, s->expr, false).cf; break;
    default: break;
    }
    u->subgroup = before;
    return cf;
}

/* ------------------------------------------------------------------- reports */

static const char *cause_name(const gr_un *u, const gr_wgsl_expr *call, uint32_t *offset) {
    for (uint32_t guard = 0; call && guard < 1000; guard++) {
        *offset = call->offset;
        if (call->call.call != GR_WC_FUNCTION) return gr_wgsl_builtin_text(call->call.builtin);
        call = u->all[call->call.function->index].cause;
    }
    return "this operation";
}

static void explain_source(gr_un *u, const gr_un_node *n) {
    if (n->kind == GR_UN_BUILTIN) {
        const gr_wgsl_decl *d = n->what;
        gr_wgsl_related(u->f, n->offset, "the builtin value '%.*s' may differ between invocations",
                        GR_STR_ARG(d->name));
    } else if (n->kind == GR_UN_VARIABLE) {
        const gr_wgsl_decl *d = n->what;
        gr_wgsl_related(u->f, n->offset, "reading the %s variable '%.*s' may give different values",
                        gr_wgsl_space_text(d->space), GR_STR_ARG(d->name));
    } else if (n->kind == GR_UN_RESULT) {
        const gr_wgsl_expr *e = n->what;
        gr_wgsl_related(u->f, n->offset, "the result of '%.*s' may differ between invocations",
                        GR_STR_ARG(e->call.callee->ident.name));
    }
}

/* The path from the demand to the source: the call that demands, the branch nearest to it, the source. */
static void report(gr_un *u, gr_un_severity severity) {
    uint32_t at = GR_UN_NON_UNIFORM, branch_at = 0, first = 0, required = gr_un_required(severity), source = 0;
    while (u->node.v[at].from && u->node.v[at].from != required) {
        at = u->node.v[at].from;
        if (!source) source = at;
        if (u->node.v[at].branches) branch_at = at;
        first = at;
    }
    const gr_un_node *n = &u->node.v[first];
    const gr_wgsl_expr *call = n->kind == GR_UN_CALL || n->kind == GR_UN_ARGUMENT ? n->what : NULL;
    uint32_t offset = n->offset;
    const char *name = cause_name(u, call, &offset);
    gr_diag_name d = severity == GR_UN_ERROR     ? GR_D_WGSL_NON_UNIFORM
                     : severity == GR_UN_WARNING ? GR_D_WGSL_NON_UNIFORM_WARNING
                                                 : GR_D_WGSL_NON_UNIFORM_NOTE;
    bool argument = n->kind == GR_UN_ARGUMENT;
    gr_wgsl_error(u->f, d, offset,
                  argument ? "make the argument the same in all invocations"
                           : "move it out of the branch, or branch on a uniform value",
                  argument ? "an argument of '%s' must be uniform, and may not be here"
                           : "'%s' must be called from uniform control flow, and may not be here",
                  name);
    if (call && call->offset != offset) gr_wgsl_related(u->f, call->offset, "called from here");
    if (branch_at && !argument) gr_wgsl_related(u->f, u->node.v[branch_at].offset, "control flow divides here");
    if (source) explain_source(u, &u->node.v[source]);
}

/* ----------------------------------------------------------------- functions */

static gr_un_demand demand_of(const gr_un *u, uint32_t i) {
    const gr_un_param *p = &u->now->param[i];
    if (reached(u, p->contents)) return GR_UN_CONTENTS;
    return reached(u, p->value) ? GR_UN_VALUE : GR_UN_FREE;
}

static bool start_function(gr_un *u) {
    gr_wgsl_function *fn = u->fn;
    u->node.n = u->edge.n = u->visible.n = u->log.n = 0;
    for (uint32_t i = 0; i < GR_UN_FIRST; i++) gr_un_new(u, fn->decl->offset);
    u->value = GR_NEW_N(&u->scratch, uint32_t, fn->local_n);
    u->partial = GR_NEW_N(&u->scratch, bool, fn->local_n);
    u->now->param = GR_NEW_N(&u->scratch, gr_un_param, fn->param_n);
    u->in_scope = GR_NEW_N(&u->scratch, bool, fn->local_n);
    u->then_value = GR_NEW_N(&u->scratch, uint32_t, fn->local_n);
    u->else_value = GR_NEW_N(&u->scratch, uint32_t, fn->local_n);
    if (!u->value || !u->partial || !u->now->param || !u->in_scope || !u->then_value || !u->else_value)
        return gr_wgsl_oom(u->f);
    for (uint32_t i = 0; i < fn->param_n; i++) {
        gr_un_param *p = &u->now->param[i];
        u->value[i] = p->value = gr_un_new(u, fn->param[i]->offset);
        p->feeds = GR_NEW_N(&u->scratch, uint8_t, fn->param_n);
        if (!p->feeds) return gr_wgsl_oom(u->f);
        if (!gr_un_is_pointer(fn->param[i])) continue;
        p->contents = gr_un_new(u, fn->param[i]->offset);
        p->out = gr_un_new(u, fn->param[i]->offset);
        u->value[i] = p->contents;
        show(u, i);
    }
    return !u->failed;
}

/* What a call must satisfy, because something inside demands uniformity. */
static bool read_demands(gr_un *u) {
    forget(u);
    for (int s = GR_UN_ERROR; s <= GR_UN_INFO && !u->failed; s++) {
        gr_un_severity severity = (gr_un_severity)s;
        traverse(u, gr_un_required(severity));
        if (reached(u, GR_UN_NON_UNIFORM)) {
            report(u, severity);
            return severity != GR_UN_ERROR;
        }
        uint32_t first = reached(u, GR_UN_START) ? GR_UN_START : 0;
        if (first && !u->now->callsite) u->now->callsite = severity;
        for (uint32_t i = 0; i < u->fn->param_n; i++) {
            gr_un_param *p = &u->now->param[i];
            if (p->direct) continue;
            p->direct = demand_of(u, i);
            p->severity = severity;
            if (p->direct && !first) first = p->direct == GR_UN_CONTENTS ? p->contents : p->value;
        }
        while (first && u->node.v[first].from && u->node.v[first].from != gr_un_required(severity))
            first = u->node.v[first].from;
        if (first && !u->now->cause && (u->node.v[first].kind == GR_UN_CALL || u->node.v[first].kind == GR_UN_ARGUMENT))
            u->now->cause = u->node.v[first].what;
    }
    return !u->failed;
}

static void read_result(gr_un *u) {
    forget(u);
    traverse(u, GR_UN_RETURN);
    u->now->result_non_uniform = reached(u, GR_UN_NON_UNIFORM);
    for (uint32_t i = 0; i < u->fn->param_n; i++) u->now->param[i].result = demand_of(u, i);
}

static void read_outputs(gr_un *u) {
    for (uint32_t i = 0; i < u->fn->param_n && !u->failed; i++) {
        gr_un_param *p = &u->now->param[i];
        if (!p->out) continue;
        forget(u);
        traverse(u, p->out);
        p->becomes_non_uniform = reached(u, GR_UN_NON_UNIFORM);
        for (uint32_t k = 0; k < u->fn->param_n; k++) p->feeds[k] = (uint8_t)demand_of(u, k);
    }
}

static bool analyse(gr_un *u, gr_un_severity outermost) {
    if (!start_function(u)) return false;
    u->subgroup = outermost;
    filter(u, u->fn->decl->attr, u->fn->decl->attr_n);
    /* As a block, but pointer results are read before its scope closes. */
    filter(u, u->fn->body->attr, u->fn->body->attr_n);
    statements(u, GR_UN_START, u->fn->body);
    if (u->fn->body->behaviour & GR_WGSL_NEXT) to_outputs(u);
    if (u->failed || !read_demands(u)) return false;
    read_result(u);
    read_outputs(u);
    return !u->failed;
}

/* Nothing in the module demands uniformity: nothing to prove. */
static bool needed(const gr_wgsl_module *m) {
    for (uint32_t i = 0; i < m->entry_n; i++)
        if (m->entry[i].uses_barrier || m->entry[i].uses_subgroups) return true;
    for (uint32_t i = 0; i < m->functions_n; i++)
        for (int b = 1; b < GR_WB_COUNT; b++) {
            if (!(m->functions[i]->builtins[b / 64] >> b % 64 & 1)) continue;
            gr_str s = gr_str_of(gr_wgsl_builtin_text((gr_wgsl_builtin)b));
            if (gr_str_ends(s, "Barrier") || gr_str_starts(s, "subgroup") || gr_str_starts(s, "quad") ||
                b == GR_WB_workgroupUniformLoad)
                return true;
        }
    return false;
}

static gr_un_severity module_filter(const gr_wgsl_module *m) {
    gr_un_severity s = GR_UN_ERROR;
    for (uint32_t i = 0; i < m->directive_n; i++) {
        const gr_wgsl_directive *d = &m->directive[i];
        if (gr_str_eqz(d->keyword, "diagnostic") && gr_str_eqz(d->name[1], "subgroup_uniformity"))
            s = severity_named(d->name[0]);
    }
    return s;
}

bool gr_wgsl_check_uniformity(gr_wgsl_front *f) {
    gr_un u = {.f = f};
    bool ok = true;
    if (!needed(f->m)) return true;
    gr_arena_init(&u.scratch, f->arena->limit);
    u.all = GR_NEW_N(&u.scratch, gr_un_function, f->m->functions_n);
    if (!u.all) ok = gr_wgsl_oom(f);
    for (uint32_t i = 0; i < f->m->functions_n && ok; i++) {
        u.fn = f->m->functions[i];
        u.now = &u.all[i];
        ok = analyse(&u, module_filter(f->m));
    }
    gr_arena_free(&u.scratch);
    return ok;
}
