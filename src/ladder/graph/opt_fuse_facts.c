/* What fusion knows of a graph: who uses a value, which nodes are maps and what their bodies read; and the two passes in order. */
#include "ladder/graph/opt_fuse_int.h"

typedef struct facts_of {
    gr_arena *scratch;
    gr_diags *d;
    const gr_graph *g;
    const gr_fuse_rules *rules;
    gr_fuse_facts *k;
} facts_of;

static bool note_uses(facts_of *x) {
    const gr_graph *g = x->g;
    uint32_t n = 0;
    x->k->first = GR_NEW_N(x->scratch, uint32_t, (size_t)g->values_n + 2);
    x->k->wanted = GR_NEW_N(x->scratch, bool, g->values_n);
    if (!x->k->first || !x->k->wanted) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < g->nodes_n; i++)
        for (uint32_t j = 0; j < g->nodes[i].call.operands_n; j++)
            if (g->nodes[i].args[j] != GR_NO_VALUE) x->k->first[g->nodes[i].args[j] + 2]++, n++;
    for (uint32_t v = 0; v < g->values_n; v++) x->k->first[v + 2] += x->k->first[v + 1];
    x->k->use = GR_NEW_N(x->scratch, uint32_t, n);
    if (!x->k->use) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < g->nodes_n; i++)
        for (uint32_t j = 0; j < g->nodes[i].call.operands_n; j++)
            if (g->nodes[i].args[j] != GR_NO_VALUE) x->k->use[x->k->first[g->nodes[i].args[j] + 1]++] = i;
    for (uint32_t i = 0; i < g->outputs_n; i++) x->k->wanted[g->outputs[i].value] = true;
    return true;
}

/* Operands of a map are its shape, or broadcast to it. */
static bool broadcasts(const gr_type *x, const gr_type *y) {
    if (x->rank > y->rank) return false;
    for (uint32_t k = 0; k < x->rank; k++) {
        uint64_t n = x->dim[x->rank - 1 - k].n;
        if (n != 1 && n != y->dim[y->rank - 1 - k].n) return false;
    }
    return true;
}

bool gr_fuse_bounded(const gr_call *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->operands_n; i++) any = any || c->operands[i].bounded;
    for (uint32_t i = 0; i < c->outputs_n; i++) any = any || c->outputs[i].bounded;
    return any;
}

static bool is_map(facts_of *x, uint32_t i) {
    const gr_call *c = &x->g->nodes[i].call;
    if (c->op->body != GR_BODY_MAP || c->op->fusion || c->outputs_n != 1 || x->g->nodes[i].results[0] == GR_NO_VALUE) return false;
    if (c->operands_n > c->op->sig.operands_n || c->operands_n > 32) return false;
    gr_str expr = gr_fuse_expr(c);
    for (uint32_t j = 0; j < c->operands_n; j++) {
        if (!gr_fuse_reads(c, expr, j)) continue;
        if (!broadcasts(&c->operands[j], &c->outputs[0])) return false;
        x->k->reads[i] |= UINT32_C(1) << j;
    }
    x->k->params[i] = gr_fuse_params(c, expr);
    return expr.n && gr_fuse_can_write(c) && x->rules->is_map(x->rules->user, x->g, i);
}

/* The signature gives the result the shape that the operands broadcast to. */
bool gr_fuse_spans(const gr_graph *g, const gr_type *shape, const gr_fuse_group *f) {
    for (uint32_t k = 0; k < shape->rank; k++) {
        uint64_t n = 1;
        bool any = false;
        for (uint32_t i = 0; i < f->in_n; i++) {
            const gr_type *t = &g->values[f->in[i]].type;
            if (k >= t->rank) continue;
            any = true;
            if (t->dim[t->rank - 1 - k].n != 1) n = t->dim[t->rank - 1 - k].n;
        }
        if (!any || n != shape->dim[shape->rank - 1 - k].n) return false;
    }
    return f->in_n > 0;
}

bool gr_fuse_note(gr_arena *scratch, gr_diags *d, const gr_graph *g, const gr_fuse_rules *rules, gr_fuse_facts *k) {
    facts_of x = {scratch, d, g, rules, k};
    k->map = GR_NEW_N(scratch, bool, g->nodes_n);
    k->reads = GR_NEW_N(scratch, uint32_t, g->nodes_n);
    k->params = GR_NEW_N(scratch, uint32_t, g->nodes_n);
    if (!k->map || !k->reads || !k->params) return gr_report_oom(d);
    for (uint32_t i = 0; i < g->nodes_n; i++) k->map[i] = is_map(&x, i);
    return note_uses(&x);
}

bool gr_graph_opt_fuse(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_fuse_rules *rules, gr_graph *out) {
    gr_graph *read = GR_NEW(a, gr_graph);
    if (!read) return gr_report_oom(d);
    return gr_fuse_reads_in_place(a, d, g, rules, read) && gr_fuse_groups(a, d, read, rules, out);
}
