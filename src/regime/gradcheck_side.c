/* gradcheck_side.c: the forward or the gradient graph of a case, lowered, prepared and run. */
#include "regime/gradcheck_int.h"

#include <stdlib.h>

static bool usable(void *user, const gr_graph *g, uint32_t node) { return gr_kernel_usable(user, g->tier, &g->nodes[node].call); }

static bool lower(gr_gc_side *s, gr_diags *d, const gr_catalog *catalog, const gr_graph *g, gr_target *t) {
    gr_graph *expanded = GR_NEW(&s->arena, gr_graph);
    gr_plan_options o = {.cpu_yellow_seconds = 1e9, .cpu_red_seconds = 1e9, .no_fixes = true};
    if (!expanded) return gr_report_oom(d);
    GR_TRY(gr_graph_opt_expand(&s->arena, d, g, catalog, t->reference, usable, t, expanded));
    GR_TRY(gr_graph_opt_dead(&s->arena, d, expanded, &s->graph));
    GR_TRY(gr_graph_lower(&s->arena, d, &s->graph, catalog, t, &s->kernels) && gr_kernels_verify(d, &s->kernels));
    return gr_kernels_lower(&s->arena, d, &s->kernels, catalog, &o, &s->plan) && gr_plan_verify(d, &s->plan);
}

/* "x12" is number 12 of the inputs x. */
static void note(gr_str name, gr_value_id v, char letter, gr_value_id *list) {
    uint32_t i = 0;
    if (name.n < 2 || name.p[0] != letter) return;
    for (size_t k = 1; k < name.n && i < RUN_TENSORS; k++) i = 10 * i + (uint32_t)(name.p[k] - '0');
    if (i < RUN_TENSORS) list[i] = v;
}

static void find_tensors(gr_gc_side *s) {
    for (uint32_t i = 0; i < RUN_TENSORS; i++) s->x[i] = s->c[i] = s->out[i] = GR_NO_VALUE;
    for (uint32_t v = 0; v < s->graph.values_n; v++) {
        if (s->graph.values[v].source != GR_SOURCE_INPUT) continue;
        note(s->graph.values[v].input, v, 'x', s->x);
        note(s->graph.values[v].input, v, 'c', s->c);
    }
    for (uint32_t i = 0; i < s->graph.outputs_n; i++) {
        note(s->graph.outputs[i].name, s->graph.outputs[i].value, 'y', s->out);
        note(s->graph.outputs[i].name, s->graph.outputs[i].value, 'x', s->out);
    }
}

bool gr_gc_open(gr_gc_side *s, gr_diags *d, const gr_catalog *catalog, const gr_graph *g, const gr_regime_device *device, const gr_exec_options *o, bool *missing) {
    gr_target target = device ? device->target : gr_target_oracle();
    gr_diags own;
    *s = (gr_gc_side){.api = device ? device->api : gr_oracle_api()};
    if (!device) target.reference = true;
    gr_diags_init(&own);
    bool ok = lower(s, &own, catalog, g, &target);
    *missing = !ok && gr_diags_has(&own, GR_D_KERNEL_MISSING);
    if (!ok && !*missing)
        for (uint32_t i = 0; i < own.list.n && i < 3; i++)
            gr_report(d, own.list.v[i].name, own.list.v[i].place, NULL, "%.*s", GR_STR_ARG(own.list.v[i].message));
    gr_diags_free(&own);
    if (ok && s->plan.verdict == GR_RED) ok = gr_report(d, GR_D_REGIME_NOT_RUN, (gr_place){0}, NULL, "a case does not fit the device");
    ok = ok && (s->exec = s->api->prepare(device ? device->device : NULL, d, &s->plan, o)) != NULL;
    if (!ok) {
        gr_gc_close(s);
        return false;
    }
    find_tensors(s);
    return true;
}

void gr_gc_close(gr_gc_side *s) {
    if (s->exec) s->api->release(s->exec);
    gr_arena_free(&s->arena);
    *s = (gr_gc_side){0};
}

bool gr_gc_write(gr_gc_side *s, gr_diags *d, gr_value_id v, const gr_array *x, const double *wide) {
    uint64_t n = 0;
    if (v == GR_NO_VALUE || gr_array_count(x) == 0) return true;
    if (!gr_type_device_bytes(&s->graph.values[v].type, &n)) return GR_BUG(d, "R7", "an input without a size");
    uint8_t *packed = gr_heap_alloc((size_t)n + 8, 1);
    if (!packed) return gr_report_oom(d);
    gr_pack(packed, x);
    bool ok = s->api->write(s->exec, d, v, packed, n) && (!wide || s->api->write_wide(s->exec, d, v, wide, gr_array_count(x)));
    gr_heap_free(packed);
    return ok;
}

bool gr_gc_submit(gr_gc_side *s, gr_diags *d) {
    s->ticket = s->api->submit(s->exec, d);
    return s->ticket && s->api->wait(s->exec, d, s->ticket);
}
