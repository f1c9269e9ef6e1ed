/* plan.c: the rung's entry, and small things about plans. */
#include "ladder/plan/plan_int.h"

const char *gr_memory_name(gr_memory m) {
    static const char *const name[] = {"none", "parameters", "activations", "gradients", "optimizer_state", "working", "data"};
    return name[m < GR_MEM_COUNT ? m : GR_MEM_NONE];
}

/* Once for a node, though it may be computed in several places. */
static bool add_class(gr_arena *a, gr_plan *p, gr_map *seen, const gr_op *op, gr_str node) {
    if (seen && gr_map_get(seen, node, NULL)) return true;
    if (seen && !gr_map_put(a, seen, node, 0)) return false;
    char *z = gr_arena_printf(a, "%.*s %s", GR_STR_ARG(node), gr_tolerance_name(op->tolerance));
    if (z) p->node_class[p->node_class_n++] = gr_str_of(z);
    return z != NULL;
}

bool gr_plan_list_classes(gr_arena *a, gr_plan *p) {
    const gr_graph *g = p->graph;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nodes_n; i++) n += g->nodes[i].call.op->fusion ? g->nodes[i].call.op->fusion->n : 1;
    p->node_class = GR_NEW_N(a, gr_str, n);
    p->node_class_n = 0;
    gr_map seen = {0};
    bool again = n != g->nodes_n;
    if (!p->node_class) return false;
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        const gr_fusion *f = g->nodes[i].call.op->fusion;
        for (uint32_t k = 0; f && k < f->n; k++) GR_TRY(add_class(a, p, again ? &seen : NULL, f->ops[k], f->nodes[k]));
        if (!f) GR_TRY(add_class(a, p, again ? &seen : NULL, g->nodes[i].call.op, g->nodes[i].node));
    }
    return true;
}

bool gr_plan_lower_again(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, gr_tier tier, const gr_target *t, gr_kernels *out) {
    gr_graph *g = GR_NEW(a, gr_graph), *lowered = GR_NEW(a, gr_graph);
    if (!g || !lowered) return gr_report_oom(d);
    *g = *(k->source ? k->source : k->graph);
    g->tier = tier;
    GR_TRY(gr_graph_lower(a, d, g, catalog, t, out));
    *lowered = *out->graph;
    lowered->tier = k->graph->tier; /* what the document declares */
    out->graph = lowered;
    return true;
}

bool gr_plan_make(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, const gr_plan_options *o, gr_plan *out) {
    gr_plan_options none = {0};
    gr_kernels again;
    if (!o) o = &none;
    if (o->tier != GR_TIER_NONE && o->tier != k->tier) { /* chosen for another tier: choose again */
        GR_TRY(gr_plan_lower_again(a, d, k, catalog, o->tier, &k->target, &again));
        k = &again;
    }
    GR_TRY(gr_plan_settle(a, d, k, catalog, o, out));
    return out->verdict != GR_RED || o->no_fixes || gr_plan_find_fixes(a, d, k, catalog, o, out);
}

bool gr_plan_streams(const gr_plan *p, gr_value_id v, gr_plan_stream *out) {
    *out = (gr_plan_stream){.value = v, .disk = p->graph->values[v].on_disk};
    if (v >= p->tensors_n || p->tensors[v].bytes == 0 || (p->tensors[v].pages && !out->disk)) return false;
    for (uint32_t i = 0; i < p->steps_n; i++) {
        const gr_plan_step *s = &p->steps[i];
        if ((s->kind != GR_STEP_UPLOAD && s->kind != GR_STEP_READBACK) || s->value != v) continue;
        *(s->kind == GR_STEP_UPLOAD ? &out->up : &out->down) += s->bytes;
        out->parts++;
    }
    return out->parts > 0;
}

bool gr_plan_hash(const gr_plan *p, gr_sha256 *out) {
    gr_buf b = {0};
    gr_plan_print(&b, p);
    bool ok = !b.failed;
    if (ok) *out = gr_sha256_of(b.p, b.n);
    gr_buf_free(&b);
    return ok;
}

bool gr_plan_is_resident(const gr_plan *p, gr_value_id v) {
    const gr_graph *g = p->graph;
    if (v >= p->tensors_n || p->tensors[v].pages != 1 || (g->values[v].source != GR_SOURCE_PARAMETER && g->values[v].source != GR_SOURCE_STATE)) return false;
    for (uint32_t i = 0; i < g->outputs_n; i++)
        if (g->outputs[i].value != v && p->tensors[g->outputs[i].value].pages && p->tensors[g->outputs[i].value].first_buffer == p->tensors[v].first_buffer) return true;
    return false;
}
