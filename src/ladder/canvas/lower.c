/* Canvas to flow: orders the nodes, names their values, resolves ports against signatures. */
#include "ladder/canvas/canvas_int.h"
#include "ladder/flow/flow.h"

#include <stdio.h>

typedef struct lowering {
    gr_arena *a, *scratch;
    gr_diags *d;
    const gr_catalog *catalog;
    gr_flow *f;
    GR_VEC(gr_flow_value) values;
} lowering;

/* One canvas being lowered. step[i] is the step of node i once it is made. */
typedef struct scope {
    const gr_canvas *c;
    gr_canvas_index x;
    gr_str path; /* "" or "loop/" */
    gr_flow_seq *seq;
    gr_flow_step **step;
    uint32_t *ports; /* by node: one more than the greatest index that a link takes from it, "split.ys.1" */
} scope;

static bool lower_scope(lowering *l, const gr_canvas *c, gr_str path, gr_flow_seq **out);

static gr_str join(lowering *l, gr_str a, const char *middle, gr_str b) {
    char *p = gr_arena_printf(l->a, "%.*s%s%.*s", GR_STR_ARG(a), middle, GR_STR_ARG(b));
    return p ? gr_str_of(p) : (gr_str){0};
}

/* A new value made by node.port; its name carries the port when the node gives several. */
static bool add_value(lowering *l, gr_str node, gr_str port, bool several, gr_flow_ref *out) {
    gr_str name = several ? join(l, node, ".", port) : node;
    gr_flow_value *v = GR_PUSH(l->a, &l->values);
    if (!v || !name.p) return gr_report_oom(l->d);
    *v = (gr_flow_value){name, node, port};
    *out = l->values.n - 1;
    return true;
}

static bool add_results(lowering *l, gr_flow_step *s, const gr_str *ports, uint32_t n) {
    s->results = GR_NEW_N(l->a, gr_flow_ref, n);
    if (!s->results) return gr_report_oom(l->d);
    s->results_n = n;
    for (uint32_t i = 0; i < n; i++) GR_TRY(add_value(l, s->node, ports[i], n > 1, &s->results[i]));
    return true;
}

/* ---- where a link comes from -------------------------------------------------- */

static void hint_ports(lowering *l, const char *what, const gr_sig_tensor *t, uint32_t n) {
    gr_buf b = {0};
    for (uint32_t i = 0; i < n; i++) gr_buf_printf(&b, "%s%.*s", i ? ", " : "", GR_STR_ARG(t[i].name));
    gr_report_hint(l->d, "its %s: %s", what, b.n ? b.p : "none");
    gr_buf_free(&b);
}

/* The value that link k brings; GR_FLOW_NONE when reported, or when its node failed to lower. */
static gr_flow_ref link_value(lowering *l, const scope *s, uint32_t k) {
    const gr_canvas_link *link = &s->c->links[k];
    const gr_flow_step *from = s->step[s->x.from[k]];
    if (!from || !from->results_n) return GR_FLOW_NONE;
    for (uint32_t i = 0; i < from->results_n && link->from_port.n; i++)
        if (gr_str_eq(l->values.v[from->results[i]].port, link->from_port)) return from->results[i];
    if (!link->from_port.n && from->results_n == 1) return from->results[0];
    gr_place at = gr_canvas_below(l->scratch, link->at, "from");
    if (link->from_port.n) gr_report(l->d, GR_D_FLOW_PORT_UNKNOWN, at, NULL, "%.*s has no output \"%.*s\"", GR_STR_ARG(from->op_id), GR_STR_ARG(link->from_port));
    else gr_report(l->d, GR_D_FLOW_PORT_UNKNOWN, at, NULL, "%.*s gives %u tensors: the link must say which", GR_STR_ARG(from->op_id), from->results_n);
    if (from->op) hint_ports(l, "outputs are", from->op->sig.outputs, from->op->sig.outputs_n);
    gr_report_trail(l->d, "node %.*s", GR_STR_ARG(from->node));
    return GR_FLOW_NONE;
}

/* ---- blocks -------------------------------------------------------------------- */

static bool lower_op_args(lowering *l, const scope *s, uint32_t node, gr_flow_step *t, const uint32_t *port) {
    const gr_sig *sig = &t->op->sig;
    uint32_t first = s->x.in_first[node], links = s->x.in_first[node + 1] - first;
    t->arg_first = GR_NEW_N(l->a, uint32_t, (size_t)sig->operands_n + 1);
    t->args = GR_NEW_N(l->a, gr_flow_ref, (size_t)links + sig->operands_n);
    uint32_t *start = GR_NEW_N(l->scratch, uint32_t, (size_t)sig->operands_n + 1), *end = GR_NEW_N(l->scratch, uint32_t, (size_t)sig->operands_n + 1);
    if (!t->arg_first || !t->args || !start || !end) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < links; i++)
        if (port[i] < sig->operands_n) end[port[i]]++;
    for (uint32_t p = 0, n = 0; p <= sig->operands_n; p++) {
        t->arg_first[p] = start[p] = n;
        uint32_t count = p < sig->operands_n ? (end[p] || sig->operands[p].variadic ? end[p] : 1) : 0;
        for (uint32_t i = n; i < n + count; i++) t->args[i] = GR_FLOW_NONE;
        n += count;
        t->args_n = n;
    }
    for (uint32_t i = 0; i < links; i++) {
        if (port[i] >= sig->operands_n) continue;
        uint32_t slot = start[port[i]]++;
        if (slot > t->arg_first[port[i]] && !sig->operands[port[i]].variadic) {
            const gr_canvas_link *link = &s->c->links[s->x.in[first + i]];
            gr_report(l->d, GR_D_FLOW_PORT_TWICE, link->at, "remove one of the links", "\"%.*s.%.*s\" takes one tensor and is linked twice", GR_STR_ARG(t->node), GR_STR_ARG(sig->operands[port[i]].name));
            continue;
        }
        t->args[slot] = link_value(l, s, s->x.in[first + i]);
    }
    for (uint32_t p = 0; p < sig->operands_n; p++) {
        if (end[p] || sig->operands[p].optional) continue;
        gr_report(l->d, GR_D_FLOW_OPERAND_OPEN, t->at, NULL, "the operand \"%.*s\" of %.*s has no link", GR_STR_ARG(sig->operands[p].name), GR_STR_ARG(t->op_id));
        gr_report_hint(l->d, "add a link to \"%.*s.%.*s\"", GR_STR_ARG(t->source->id), GR_STR_ARG(sig->operands[p].name));
        gr_report_trail(l->d, "node %.*s -> op %.*s", GR_STR_ARG(t->node), GR_STR_ARG(t->op_id));
    }
    return true;
}

/* Which operand a link goes into; operands_n when reported. */
static uint32_t operand_of(lowering *l, const gr_canvas_link *link, const gr_flow_step *t) {
    const gr_sig *sig = &t->op->sig;
    if (!link->to_port.n && sig->operands_n == 1) return 0;
    for (uint32_t p = 0; p < sig->operands_n && link->to_port.n; p++)
        if (gr_str_eq(sig->operands[p].name, link->to_port)) return p;
    gr_place at = gr_canvas_below(l->scratch, link->at, "to");
    if (link->to_port.n) gr_report(l->d, GR_D_FLOW_PORT_UNKNOWN, at, NULL, "%.*s has no operand \"%.*s\"", GR_STR_ARG(t->op_id), GR_STR_ARG(link->to_port));
    else gr_report(l->d, GR_D_FLOW_PORT_UNKNOWN, at, NULL, "%.*s takes %u operands: the link must say which", GR_STR_ARG(t->op_id), sig->operands_n);
    hint_ports(l, "operands are", sig->operands, sig->operands_n);
    gr_report_trail(l->d, "node %.*s", GR_STR_ARG(t->node));
    return sig->operands_n;
}

/* A variadic output, the only one of its op, gives `several` values: those that links take. How many there
 * are depends on shapes and is checked when these are known. */
static bool add_op_results(lowering *l, gr_flow_step *t, uint32_t several) {
    const gr_sig *sig = &t->op->sig;
    bool variadic = sig->outputs_n == 1 && sig->outputs[0].variadic;
    uint32_t n = variadic ? several : sig->outputs_n;
    t->results = GR_NEW_N(l->a, gr_flow_ref, n);
    if (!t->results) return gr_report_oom(l->d);
    t->results_n = n;
    for (uint32_t i = 0; i < n; i++) {
        char index[16];
        snprintf(index, sizeof index, ".%u", i);
        gr_str port = variadic ? join(l, sig->outputs[0].name, index, GR_STR("")) : sig->outputs[i].name;
        if (!port.p) return gr_report_oom(l->d);
        GR_TRY(add_value(l, t->node, port, n > 1 || variadic, &t->results[i]));
    }
    return true;
}

static bool lower_op(lowering *l, const scope *s, uint32_t node, gr_flow_step *t) {
    const gr_canvas_node *n = t->source;
    t->op = gr_catalog_find(l->catalog, n->op);
    t->op_id = t->op ? t->op->id : n->op;
    t->params = n->params;
    if (!t->op) {
        gr_str near = gr_catalog_near(l->catalog, n->op);
        gr_report(l->d, GR_D_FLOW_OP_UNKNOWN, gr_canvas_below(l->scratch, n->at, "op"), "load the folder that holds it, or see the names with `gradus catalog`",
                  "there is no op \"%.*s\"", n->op.n > 120 ? 120 : (int)n->op.n, n->op.p);
        if (near.n) gr_report_hint(l->d, "did you mean \"%.*s\"?", GR_STR_ARG(near));
        return true;
    }
    uint32_t first = s->x.in_first[node], links = s->x.in_first[node + 1] - first;
    uint32_t *port = GR_NEW_N(l->scratch, uint32_t, links);
    if (!port) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < links; i++) port[i] = operand_of(l, &s->c->links[s->x.in[first + i]], t);
    GR_TRY(lower_op_args(l, s, node, t, port));
    return add_op_results(l, t, s->ports[node] ? s->ports[node] : 1);
}

/* Arguments of a block with canvases inside: one for each input of its bodies, by name. */
static bool lower_nest_args(lowering *l, const scope *s, uint32_t node, gr_flow_step *t) {
    gr_canvas_ports ins, more = {0};
    if (!gr_canvas_ports_make(l->scratch, t->source->body, GR_BLOCK_INPUT, &ins) || !gr_canvas_ports_make(l->scratch, t->source->other, GR_BLOCK_INPUT, &more)) return gr_report_oom(l->d);
    t->ports = GR_NEW_N(l->a, gr_str, (size_t)ins.n + more.n);
    t->args = GR_NEW_N(l->a, gr_flow_ref, (size_t)ins.n + more.n);
    if (!t->ports || !t->args) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < ins.n; i++) t->ports[t->args_n++] = ins.ids[i];
    for (uint32_t i = 0; i < more.n; i++) {
        if (gr_map_get(&ins.at, more.ids[i], NULL)) continue;
        if (!gr_map_put(l->scratch, &ins.at, more.ids[i], t->args_n)) return gr_report_oom(l->d);
        t->ports[t->args_n++] = more.ids[i];
    }
    for (uint32_t i = 0; i < t->args_n; i++) t->args[i] = GR_FLOW_NONE;
    for (uint32_t e = s->x.in_first[node]; e < s->x.in_first[node + 1]; e++) {
        const gr_canvas_link *link = &s->c->links[s->x.in[e]];
        uint32_t p = 0;
        if (link->to_port.n) gr_map_get(&ins.at, link->to_port, &p);
        t->args[p] = link_value(l, s, s->x.in[e]);
    }
    return true;
}

static bool lower_carry(lowering *l, gr_flow_step *t) {
    gr_map at = {0};
    t->carry = GR_NEW_N(l->a, uint32_t, t->results_n);
    if (!t->carry) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < t->args_n; i++)
        if (!gr_map_put(l->scratch, &at, t->ports[i], i)) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < t->results_n; i++) {
        const gr_value *to = gr_value_get_str(t->source->carry, t->outs[i]);
        t->carry[i] = GR_FLOW_NONE;
        if (to) gr_map_get(&at, to->s, &t->carry[i]);
    }
    return true;
}

static void lower_condition(const scope *s, uint32_t node, gr_flow_step *t) {
    t->condition = GR_FLOW_NONE;
    t->taken = gr_str_eqz(t->source->condition, "true");
    if (s->x.condition[node] == UINT32_MAX || t->taken || gr_str_eqz(t->source->condition, "false")) return;
    const gr_flow_step *asked = s->step[s->x.condition[node]];
    if (asked && asked->results_n) t->condition = asked->results[0];
}

/* Strictest of both; FAST is the least strict tier, EXACT the strictest tolerance. */
static void join_demands(lowering *l, const gr_canvas *called) {
    gr_flow *f = l->f;
    if (called->tier && called->tier < f->tier) {
        gr_report(l->d, GR_D_FLOW_TIER_RAISED, called->at_tier, NULL, "a called document declares tier %s: the whole runs in it instead of %s", gr_tier_name(called->tier), gr_tier_name(f->tier));
        f->tier = called->tier;
    }
    if (called->tolerance && (!f->tolerance || called->tolerance < f->tolerance)) f->tolerance = called->tolerance;
    if (called->guarantee > f->guarantee) f->guarantee = called->guarantee;
}

static bool lower_nest(lowering *l, const scope *s, uint32_t node, gr_flow_step *t) {
    const gr_canvas_node *n = t->source;
    gr_canvas_ports outs;
    if (!n->body) return gr_report(l->d, GR_D_FLOW_CALL_NOT_LOADED, n->at, "load called documents before lowering", "\"%.*s\" has not been read", GR_STR_ARG(n->file)), true;
    if (n->block == GR_BLOCK_CALL && n->file.n) join_demands(l, n->body);
    if (n->block == GR_BLOCK_BRANCH) lower_condition(s, node, t);
    t->count = n->count;
    GR_TRY(lower_nest_args(l, s, node, t));
    if (!gr_canvas_ports_make(l->a, n->body, GR_BLOCK_OUTPUT, &outs)) return gr_report_oom(l->d);
    t->outs = outs.ids;
    GR_TRY(add_results(l, t, t->outs, outs.n));
    if (n->block == GR_BLOCK_REPEAT) GR_TRY(lower_carry(l, t));
    gr_str inner = join(l, t->node, n->block == GR_BLOCK_BRANCH ? "/then/" : "/", GR_STR(""));
    if (!inner.p) return gr_report_oom(l->d);
    GR_TRY(lower_scope(l, n->body, inner, &t->body));
    if (!n->other) return true;
    inner = join(l, t->node, "/else/", GR_STR(""));
    return inner.p ? lower_scope(l, n->other, inner, &t->other) : gr_report_oom(l->d);
}

static bool lower_output(lowering *l, const scope *s, uint32_t node, gr_flow_step *t) {
    t->args = GR_NEW_N(l->a, gr_flow_ref, 1);
    if (!t->args) return gr_report_oom(l->d);
    t->args[0] = link_value(l, s, s->x.in[s->x.in_first[node]]);
    t->args_n = 1;
    return true;
}

/* A train block becomes outputs, "fit.loss" and so on: what it does with them is no part of the workflow. */
static bool lower_train(lowering *l, const scope *s, uint32_t node) {
    for (uint32_t e = s->x.in_first[node]; e < s->x.in_first[node + 1]; e++) {
        const gr_canvas_link *link = &s->c->links[s->x.in[e]];
        gr_flow_step *t = &s->seq->steps[s->seq->steps_n++];
        *t = (gr_flow_step){.kind = GR_BLOCK_OUTPUT, .source = &s->c->nodes[node], .at = link->at, .condition = GR_FLOW_NONE};
        t->node = join(l, s->c->nodes[node].id, ".", link->to_port);
        t->args = GR_NEW_N(l->a, gr_flow_ref, 1);
        if (!t->node.p || !t->args) return gr_report_oom(l->d);
        t->args[0] = link_value(l, s, s->x.in[e]);
        t->args_n = 1;
    }
    return true;
}

static bool lower_node(lowering *l, const scope *s, uint32_t node, gr_flow_step *t) {
    static const gr_str no_port = {"", 0};
    const gr_canvas_node *n = &s->c->nodes[node];
    *t = (gr_flow_step){.kind = n->block, .source = n, .at = n->at, .condition = GR_FLOW_NONE};
    t->node = s->path.n ? join(l, s->path, "", n->id) : n->id;
    if (!t->node.p) return gr_report_oom(l->d);
    switch (n->block) {
    case GR_BLOCK_INPUT:
    case GR_BLOCK_CONSTANT:
    case GR_BLOCK_PARAMETER: return add_results(l, t, &no_port, 1);
    case GR_BLOCK_OUTPUT: return lower_output(l, s, node, t);
    case GR_BLOCK_OP: return lower_op(l, s, node, t);
    case GR_BLOCK_REPEAT:
    case GR_BLOCK_BRANCH:
    case GR_BLOCK_CALL: return lower_nest(l, s, node, t);
    case GR_BLOCK_TRAIN: /* lower_train */
    case GR_BLOCK_NONE: break;
    }
    return GR_BUG(l->d, "C1", "node %.*s has no block", GR_STR_ARG(n->id));
}

static bool warn_unused(lowering *l, const scope *s) {
    const gr_canvas *c = s->c;
    uint8_t *used = GR_NEW_N(l->scratch, uint8_t, c->nodes_n);
    if (!used) return gr_report_oom(l->d);
    for (uint32_t k = 0; k < c->links_n; k++) used[s->x.from[k]] = 1;
    for (uint32_t i = 0; i < c->nodes_n; i++)
        if (s->x.condition[i] != UINT32_MAX) used[s->x.condition[i]] = 1;
    for (uint32_t i = 0; i < c->nodes_n; i++)
        if (!used[i] && c->nodes[i].block != GR_BLOCK_OUTPUT && c->nodes[i].block != GR_BLOCK_TRAIN)
            gr_report(l->d, GR_D_FLOW_OUTPUT_UNUSED, c->nodes[i].at, "link it to an output block, or remove it", "nothing uses what \"%.*s\" gives", GR_STR_ARG(c->nodes[i].id));
    return true;
}

/* The digits behind the dot of "ys.1"; 0 without. */
static uint32_t port_index(gr_str port) {
    const char *dot = port.n ? memchr(port.p, '.', port.n) : NULL;
    uint32_t n = 0;
    for (size_t i = dot ? (size_t)(dot - port.p) + 1 : port.n; i < port.n; i++) n = n * 10 + (uint32_t)(port.p[i] - '0');
    return n;
}

static bool lower_scope(lowering *l, const gr_canvas *c, gr_str path, gr_flow_seq **out) {
    scope s = {.c = c, .path = path, .seq = GR_NEW(l->a, gr_flow_seq), .step = GR_NEW_N(l->scratch, gr_flow_step *, c->nodes_n)};
    if (!s.seq || !s.step || !gr_canvas_index_make(l->scratch, c, &s.x)) return gr_report_oom(l->d);
    s.seq->steps = GR_NEW_N(l->a, gr_flow_step, (size_t)c->nodes_n + (gr_canvas_training(c) ? c->links_n : 0));
    s.ports = GR_NEW_N(l->scratch, uint32_t, c->nodes_n);
    if (!s.seq->steps || !s.ports) return gr_report_oom(l->d);
    for (uint32_t k = 0; k < c->links_n; k++) {
        uint32_t n = port_index(c->links[k].from_port) + 1;
        if (n > s.ports[s.x.from[k]]) s.ports[s.x.from[k]] = n;
    }
    for (uint32_t i = 0; i < s.x.order_n; i++) {
        uint32_t node = s.x.order[i];
        if (c->nodes[node].block == GR_BLOCK_TRAIN) {
            GR_TRY(lower_train(l, &s, node));
            continue;
        }
        gr_flow_step *t = &s.seq->steps[s.seq->steps_n++];
        GR_TRY(lower_node(l, &s, node, t));
        s.step[node] = t;
    }
    *out = s.seq;
    return warn_unused(l, &s);
}

bool gr_canvas_lower(gr_arena *a, gr_diags *d, const gr_canvas *c, const gr_catalog *catalog, gr_flow *out) {
    *out = (gr_flow){.document = c->document, .name = c->name, .tier = c->tier, .tolerance = c->tolerance, .guarantee = c->guarantee,
                     .seed = c->seed, .budget_gpu = c->budget_gpu, .budget_cpu = c->budget_cpu, .budget_cpu_seconds = c->budget_cpu_seconds};
    uint32_t errors = d->errors;
    GR_TRY(gr_canvas_verify(d, c));
    gr_arena scratch = {0};
    lowering l = {.a = a, .scratch = &scratch, .d = d, .catalog = catalog, .f = out};
    gr_flow_seq *main = NULL;
    bool ok = lower_scope(&l, c, GR_STR(""), &main);
    if (ok) {
        out->main = *main;
        out->values = l.values.v;
        out->values_n = l.values.n;
    }
    gr_arena_free(&scratch);
    return ok && d->errors == errors && !d->out_of_memory;
}
