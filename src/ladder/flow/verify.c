/* The invariants F1 to F8 of README.md. A lowered flow that breaks one was built wrongly: that is our bug. A parsed
 * one was written wrongly: that is flow/invalid. */
#include "ladder/flow/flow_int.h"

typedef struct checker {
    gr_arena *a;
    gr_diags *d;
    const gr_flow *f;
    uint32_t *scope_of; /* by value: scope that defined it, 0 not yet */
    uint32_t scopes, errors;
    int depth;
    bool written;
} checker;

static bool bug(checker *k, const char *invariant, const gr_flow_step *s, const char *what) {
    if (k->errors++ >= 20) return false;
    if (k->written) gr_report(k->d, GR_D_FLOW_INVALID, s->at, "see the invariants in docs/flow.md", "%s: step \"%.*s\" %s", invariant, GR_STR_ARG(s->node), what);
    else GR_BUG(k->d, invariant, "step \"%.*s\" %s", GR_STR_ARG(s->node), what);
    return false;
}

/* F1: used values are defined before, in the same scope. */
static void check_use(checker *k, const gr_flow_step *s, gr_flow_ref r, uint32_t scope) {
    if (r >= k->f->values_n || k->scope_of[r] != scope) bug(k, "F1", s, "uses a value that its scope does not define before");
}

/* F2: a value is defined once. */
static void check_define(checker *k, const gr_flow_step *s, uint32_t scope) {
    for (uint32_t i = 0; i < s->results_n; i++) {
        gr_flow_ref r = s->results[i];
        if (r >= k->f->values_n || k->scope_of[r]) bug(k, "F2", s, "gives a value that is given already");
        else k->scope_of[r] = scope;
    }
}

/* F3, F4: an op step agrees with its signature. */
static bool check_op(checker *k, const gr_flow_step *s, uint32_t scope) {
    if (!s->op || !gr_str_eq(s->op_id, s->op->id)) return bug(k, "F3", s, "has no op, or another than it names");
    const gr_sig *sig = &s->op->sig;
    bool variadic = sig->outputs_n == 1 && sig->outputs[0].variadic;
    if (variadic ? !s->results_n : s->results_n != sig->outputs_n) return bug(k, "F3", s, "has another number of results than the signature");
    if (!s->arg_first || s->arg_first[0] != 0 || s->arg_first[sig->operands_n] != s->args_n) return bug(k, "F4", s, "has arguments that do not fill the operands");
    for (uint32_t p = 0; p < sig->operands_n; p++) {
        uint32_t first = s->arg_first[p], last = s->arg_first[p + 1];
        if (last < first || last > s->args_n) return bug(k, "F4", s, "has operands out of order");
        if (!sig->operands[p].variadic && last != first + 1) return bug(k, "F4", s, "gives a single operand several tensors or none");
        for (uint32_t i = first; i < last; i++) {
            if (s->args[i] != GR_FLOW_NONE) check_use(k, s, s->args[i], scope);
            else if (!sig->operands[p].optional) bug(k, "F4", s, "leaves an operand open that is needed");
        }
    }
    return true;
}

static bool check_seq(checker *k, const gr_flow_seq *q);

static uint32_t count_kind(const gr_flow_seq *q, gr_block kind) {
    uint32_t n = 0;
    for (uint32_t i = 0; q && i < q->steps_n; i++) n += q->steps[i].kind == kind;
    return n;
}

static bool is_local(gr_str path, gr_str id) {
    return gr_str_eq(path, id) || (path.n > id.n && path.p[path.n - id.n - 1] == '/' && memcmp(path.p + path.n - id.n, id.p, id.n) == 0);
}

/* Each name of `names` has a step of that kind in the body; the same number when `all`. */
static bool ports_match(checker *k, const gr_flow_seq *q, gr_block kind, const gr_str *names, uint32_t n, bool all) {
    gr_map at = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!gr_map_put(k->a, &at, names[i], i)) return gr_report_oom(k->d);
    for (uint32_t i = 0; i < q->steps_n; i++) {
        const gr_flow_step *s = &q->steps[i];
        if (s->kind != kind) continue;
        if (!s->source || !is_local(s->node, s->source->id) || !gr_map_get(&at, s->source->id, NULL)) return false;
        found++;
    }
    return at.n == n && (!all || found == n);
}

/* F5, F6, F7 */
static bool check_nest(checker *k, const gr_flow_step *s, uint32_t scope) {
    for (uint32_t i = 0; i < s->args_n; i++) check_use(k, s, s->args[i], scope);
    if (s->condition != GR_FLOW_NONE) check_use(k, s, s->condition, scope);
    if (!s->body || (s->kind == GR_BLOCK_BRANCH) != (s->other != NULL)) return bug(k, "F5", s, "has not the bodies of its kind");
    const gr_flow_seq *sides[2] = {s->body, s->other};
    for (int i = 0; i < 2 && sides[i]; i++) {
        if (!ports_match(k, sides[i], GR_BLOCK_INPUT, s->ports, s->args_n, s->kind != GR_BLOCK_BRANCH)) return bug(k, "F5", s, "has arguments that do not match its body's inputs");
        if (!ports_match(k, sides[i], GR_BLOCK_OUTPUT, s->outs, s->results_n, true)) return bug(k, "F6", s, "has results that do not match its body's outputs");
    }
    if (s->kind != GR_BLOCK_REPEAT) return true;
    if (s->count < 0 || s->count > GR_CANVAS_COUNT_MAX) return bug(k, "F7", s, "has a count out of range");
    uint8_t *taken = GR_NEW_N(k->a, uint8_t, s->args_n);
    if (!taken) return gr_report_oom(k->d);
    for (uint32_t i = 0; i < s->results_n; i++) {
        if (s->carry[i] == GR_FLOW_NONE && s->count > 0) continue;
        if (s->carry[i] >= s->args_n || taken[s->carry[i]]++) return bug(k, "F7", s, "carries into no input, or twice into one");
    }
    return true;
}

static bool check_step(checker *k, const gr_flow_step *s, uint32_t scope, bool inner) {
    if (!s->source || !s->node.n) return bug(k, "F8", s, "has no canvas node");
    switch (s->kind) {
    case GR_BLOCK_INPUT:
    case GR_BLOCK_CONSTANT:
    case GR_BLOCK_PARAMETER:
        if (s->results_n != 1 || (inner && s->kind == GR_BLOCK_PARAMETER)) bug(k, "F8", s, "is no source that can stand here");
        break;
    case GR_BLOCK_OUTPUT:
        if (s->args_n != 1 || s->results_n) return bug(k, "F8", s, "is an output without its one value");
        check_use(k, s, s->args[0], scope);
        break;
    case GR_BLOCK_OP: check_op(k, s, scope); break;
    case GR_BLOCK_REPEAT:
    case GR_BLOCK_BRANCH:
    case GR_BLOCK_CALL:
        check_nest(k, s, scope);
        check_define(k, s, scope);
        if (s->body) GR_TRY(check_seq(k, s->body));
        return !s->other || check_seq(k, s->other);
    case GR_BLOCK_TRAIN:
    case GR_BLOCK_NONE: return bug(k, "F8", s, "has no kind");
    }
    check_define(k, s, scope);
    return true;
}

static bool check_seq(checker *k, const gr_flow_seq *q) {
    uint32_t scope = ++k->scopes;
    if (++k->depth > 2 * GR_CANVAS_DEPTH_MAX) return GR_BUG(k->d, "F5", "bodies nest deeper than %d", 2 * GR_CANVAS_DEPTH_MAX);
    gr_map outputs = {0};
    for (uint32_t i = 0; i < q->steps_n && k->errors < 20; i++) {
        const gr_flow_step *s = &q->steps[i];
        check_step(k, s, scope, k->depth > 1);
        if (s->kind != GR_BLOCK_OUTPUT) continue;
        if (gr_map_get(&outputs, s->node, NULL)) bug(k, "F2", s, "is the second output of its name");
        if (!gr_map_put(k->a, &outputs, s->node, i)) return gr_report_oom(k->d);
    }
    k->depth--;
    return true;
}

bool gr_flow_check(gr_diags *d, const gr_flow *f, bool written) {
    gr_arena scratch = {0};
    checker k = {.a = &scratch, .d = d, .f = f, .scope_of = GR_NEW_N(&scratch, uint32_t, f->values_n), .written = written};
    uint32_t errors = d->errors;
    if (!k.scope_of) gr_report_oom(d);
    else if (!f->tier) gr_report(d, GR_D_CANVAS_TIER_MISSING, (gr_place){.document = f->document}, "add a line: tier debug, tier prod or tier fast", "the flow declares no determinism tier, and there is no default");
    else {
        check_seq(&k, &f->main);
        if (!count_kind(&f->main, GR_BLOCK_OUTPUT)) gr_report(d, GR_D_CANVAS_EMPTY, (gr_place){.document = f->document}, "add a line: output \"result\" %value", "the flow has no output");
    }
    gr_arena_free(&scratch);
    return d->errors == errors && !d->out_of_memory;
}

bool gr_flow_verify(gr_diags *d, const gr_flow *f) { return gr_flow_check(d, f, false); }
