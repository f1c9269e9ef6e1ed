/* Behaviour analysis: how each statement can end, and the errors that follow from it. */
#include "wgsl/wgsl_int.h"

typedef enum target { NOWHERE = 0, INSIDE, FROM_CONTINUING } target;

typedef struct flow {
    gr_wgsl_front *f;
    target break_to, continue_to;
    bool in_continuing;       /* of any enclosing loop */
    uint32_t *first_continue; /* index + 1 of the loop body's statement that holds the first continue; NULL outside */
    uint32_t *continue_at;    /* its offset */
    uint32_t statement;       /* index in the innermost loop body of the statement being walked */
    bool ok;
} flow;

static uint8_t walk(flow *w, gr_wgsl_stmt *s);

static void error(flow *w, gr_diag_name name, uint32_t at, const char *hint, const char *text) {
    w->ok = gr_wgsl_error(w->f, name, at, hint, "%s", text);
}

/* A sequence ends as its statements do, up to the first that does not go on. In the body of a loop,
 * number tells walk() where a continue stands. */
static uint8_t walk_list(flow *w, gr_wgsl_stmt *block, bool loop_body) {
    uint8_t b = GR_WGSL_NEXT;
    for (uint32_t i = 0; i < block->block.n; i++) {
        gr_wgsl_stmt *s = block->block.v[i];
        if (!(b & GR_WGSL_NEXT)) {
            gr_wgsl_error(w->f, GR_D_WGSL_UNREACHABLE, s->offset, NULL, "this statement can never run");
            for (; i < block->block.n; i++) { /* still checked for misplaced jumps */
                walk(w, block->block.v[i]);
                block->block.v[i]->behaviour = 0;
            }
            break;
        }
        if (loop_body) w->statement = i;
        b = (uint8_t)((b & ~GR_WGSL_NEXT) | walk(w, s));
    }
    return block->behaviour = b;
}

typedef struct bypass {
    flow *w;
    uint32_t stamp, continue_at;
} bypass;

static bool find_bypassed(void *ctx, gr_wgsl_expr *e) {
    bypass *b = ctx;
    if (e->kind != GR_WE_IDENT || !e->ident.decl || b->w->f->stamp[e->ident.decl->id] != b->stamp) return true;
    b->w->ok = gr_wgsl_error(b->w->f, GR_D_WGSL_BEHAVIOUR, b->continue_at, "declare it before the continue",
                             "this continue skips the declaration of '%.*s', which the continuing block uses",
                             GR_STR_ARG(e->ident.decl->name));
    gr_wgsl_related(b->w->f, e->ident.decl->offset, "the declaration");
    gr_wgsl_related(b->w->f, e->offset, "the use");
    return false;
}

/* Declarations of the body behind the first continue may not be used in the continuing block. */
static void check_bypass(flow *w, gr_wgsl_stmt *s, uint32_t first_continue, uint32_t at) {
    bypass b = {w, UINT32_MAX - s->offset, at};
    if (!first_continue || !s->loop.continuing) return;
    for (uint32_t i = first_continue; i < s->loop.body->block.n; i++)
        if (s->loop.body->block.v[i]->kind == GR_WS_DECL) w->f->stamp[s->loop.body->block.v[i]->decl->id] = b.stamp;
    if (gr_wgsl_visit_stmt(s->loop.continuing, find_bypassed, &b))
        gr_wgsl_visit_expr(s->loop.break_if, find_bypassed, &b);
}

static uint8_t leave_loop(uint8_t b, bool exits) {
    exits |= (b & GR_WGSL_BREAK) != 0;
    b = (uint8_t)(b & GR_WGSL_RETURN);
    return (uint8_t)(b | (exits ? GR_WGSL_NEXT : 0));
}

static uint8_t walk_loop(flow *w, gr_wgsl_stmt *s) {
    flow saved = *w;
    uint32_t first = 0, at = 0;
    w->break_to = w->continue_to = INSIDE;
    w->first_continue = &first;
    w->continue_at = &at;
    uint8_t b = walk_list(w, s->loop.body, true);
    w->first_continue = NULL;
    if (s->loop.continuing) {
        w->break_to = w->continue_to = FROM_CONTINUING;
        w->in_continuing = true;
        b |= walk_list(w, s->loop.continuing, false);
        check_bypass(w, s, first, at);
    }
    if (s->loop.break_if) b |= GR_WGSL_BREAK | GR_WGSL_NEXT;
    saved.ok = w->ok;
    *w = saved;
    b = leave_loop(b, false);
    if (!b) error(w, GR_D_WGSL_BEHAVIOUR, s->offset, "add a break, a return or a break if", "this loop never ends");
    return b;
}

static uint8_t walk_body(flow *w, gr_wgsl_stmt *s, gr_wgsl_stmt *body, bool conditional) {
    flow saved = *w;
    w->break_to = w->continue_to = INSIDE;
    w->first_continue = NULL;
    uint8_t b = walk_list(w, body, false);
    saved.ok = w->ok;
    *w = saved;
    b = leave_loop(b, conditional);
    if (!b) error(w, GR_D_WGSL_BEHAVIOUR, s->offset, "add a condition, a break or a return", "this loop never ends");
    return b;
}

static uint8_t walk_switch(flow *w, gr_wgsl_stmt *s) {
    target saved = w->break_to;
    uint8_t b = 0;
    w->break_to = INSIDE;
    for (uint32_t i = 0; i < s->select.n; i++) b |= walk_list(w, s->select.v[i].body, false);
    w->break_to = saved;
    if (b & GR_WGSL_BREAK) b |= GR_WGSL_NEXT;
    return (uint8_t)(b & ~GR_WGSL_BREAK);
}

/* The chain of else-ifs as a loop; inner links get the behaviour of what follows them, too. */
static uint8_t walk_if(flow *w, gr_wgsl_stmt *s) {
    uint8_t b = 0;
    for (gr_wgsl_stmt *at = s;; at = at->branch.otherwise) {
        b |= walk_list(w, at->branch.then, false);
        at->behaviour = at->branch.then->behaviour;
        if (!at->branch.otherwise) {
            b |= GR_WGSL_NEXT;
            at->behaviour |= GR_WGSL_NEXT;
            break;
        }
        if (at->branch.otherwise->kind != GR_WS_IF) {
            at->behaviour |= walk_list(w, at->branch.otherwise, false);
            b |= at->behaviour;
            break;
        }
    }
    return b;
}

static uint8_t walk_break(flow *w, const gr_wgsl_stmt *s) {
    if (w->break_to == NOWHERE)
        error(w, GR_D_WGSL_BEHAVIOUR, s->offset, NULL, "break stands outside of loops and switches");
    if (w->break_to == FROM_CONTINUING)
        error(w, GR_D_WGSL_BEHAVIOUR, s->offset, "end the block with `break if`",
              "break cannot leave a continuing block");
    return GR_WGSL_BREAK;
}

static uint8_t walk_continue(flow *w, const gr_wgsl_stmt *s) {
    if (w->continue_to == NOWHERE) error(w, GR_D_WGSL_BEHAVIOUR, s->offset, NULL, "continue stands outside of loops");
    if (w->continue_to == FROM_CONTINUING)
        error(w, GR_D_WGSL_BEHAVIOUR, s->offset, NULL, "continue cannot stand in a continuing block");
    if (w->first_continue && !*w->first_continue) {
        *w->first_continue = w->statement + 1;
        *w->continue_at = s->offset;
    }
    return GR_WGSL_CONTINUE;
}

static uint8_t walk(flow *w, gr_wgsl_stmt *s) {
    uint8_t b = GR_WGSL_NEXT;
    switch (s->kind) {
    case GR_WS_BLOCK: b = walk_list(w, s, false); break;
    case GR_WS_IF: b = walk_if(w, s); break;
    case GR_WS_SWITCH: b = walk_switch(w, s); break;
    case GR_WS_LOOP: b = walk_loop(w, s); break;
    case GR_WS_FOR: b = walk_body(w, s, s->loop_for.body, s->loop_for.cond != NULL); break;
    case GR_WS_WHILE: b = walk_body(w, s, s->loop_while.body, true); break;
    case GR_WS_BREAK: b = walk_break(w, s); break;
    case GR_WS_CONTINUE: b = walk_continue(w, s); break;
    case GR_WS_RETURN:
        if (w->in_continuing)
            error(w, GR_D_WGSL_BEHAVIOUR, s->offset, NULL, "return cannot stand in a continuing block");
        b = GR_WGSL_RETURN;
        break;
    default: break;
    }
    return s->behaviour = b;
}

bool gr_wgsl_check_behaviour(gr_wgsl_front *f) {
    flow w = {.f = f, .ok = true};
    for (uint32_t i = 0; i < f->m->functions_n; i++) {
        gr_wgsl_function *fn = f->m->functions[i];
        uint8_t b = walk_list(&w, fn->body, false);
        if ((b & GR_WGSL_NEXT) && fn->result->kind != GR_WT_VOID)
            w.ok = gr_wgsl_error(f, GR_D_WGSL_MISSING_RETURN, fn->body->end - 1, "end every path with a return",
                                 "the function '%.*s' can end without returning its %.*s", GR_STR_ARG(fn->decl->name),
                                 GR_STR_ARG(fn->result->text));
    }
    return w.ok;
}
