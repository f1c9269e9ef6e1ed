/* exec.c: one call lowered through the ladder and run, with storage that we own. */
#include "base/math.h"
#include "regime/regime_int.h"

#include <stdio.h>

enum { FENCE = 64 };
static const uint8_t FENCE_BYTE = 0x5a;

static bool usable(void *user, const gr_graph *g, uint32_t node) {
    return gr_kernel_usable(user, g->tier, &g->nodes[node].call);
}

static bool build_graph(gr_side *s, gr_diags *d, const gr_setting *g, const gr_case *c, gr_graph *out) {
    gr_value_id args[RUN_TENSORS], results[RUN_TENSORS];
    *out = (gr_graph){.name = GR_STR("conform"), .document = g->op->id, .tier = g->tier};
    for (uint32_t i = 0; i < c->call.operands_n; i++) {
        char name[16];
        snprintf(name, sizeof name, "in_%u", i);
        args[i] = GR_NO_VALUE;
        if (c->call.operands[i].dtype == GR_DTYPE_NONE) continue;
        args[i] = gr_graph_add_input(&s->arena, out, gr_str_of(name), c->call.operands[i], GR_SOURCE_INPUT);
        if (args[i] == GR_NO_VALUE) return gr_report_oom(d);
    }
    GR_TRY(gr_graph_add_node(&s->arena, d, out, g->op, args, c->call.operands_n, c->args, c->args_n, GR_STR("op"), (gr_place){0}, results));
    for (uint32_t i = 0; i < c->call.outputs_n; i++) {
        char name[16];
        snprintf(name, sizeof name, "out_%u", i);
        if (c->call.outputs[i].dtype != GR_DTYPE_NONE && !gr_graph_add_output(&s->arena, out, gr_str_of(name), results[i])) return gr_report_oom(d);
    }
    return true;
}

static bool lower(gr_side *s, gr_diags *d, const gr_setting *g, const gr_case *c, gr_target *t) {
    gr_graph drawn, expanded;
    gr_plan_options o = {.cpu_yellow_seconds = 1e9, .cpu_red_seconds = 1e9, .no_fixes = true};
    GR_TRY(build_graph(s, d, g, c, &drawn));
    GR_TRY(gr_graph_opt_expand(&s->arena, d, &drawn, g->catalog, t->reference, usable, t, &expanded));
    GR_TRY(gr_graph_opt_dead(&s->arena, d, &expanded, &s->graph));
    GR_TRY(gr_graph_lower(&s->arena, d, &s->graph, g->catalog, t, &s->kernels) && gr_kernels_verify(d, &s->kernels));
    return gr_kernels_lower(&s->arena, d, &s->kernels, g->catalog, &o, &s->plan) && gr_plan_verify(d, &s->plan);
}

static bool attach_one(gr_side *s, gr_diags *d, void *device, gr_value_id v, gr_persist **out) {
    const gr_plan_tensor *t = &s->plan.tensors[v];
    if (t->pages != 1 || t->bytes == 0 || t->offset != 0 || s->graph.values[v].type.bounded) return true;
    uint64_t room = s->plan.buffers[t->first_buffer].bytes;
    *out = s->api->persist_new(device, d, GR_STR("conform"), (room > t->bytes ? room : t->bytes) + FENCE);
    return *out && s->api->attach(s->exec, d, v, *out);
}

static bool find_tensors(gr_side *s) {
    for (uint32_t v = 0; v < s->graph.values_n; v++) {
        if (s->graph.values[v].source != GR_SOURCE_INPUT) continue;
        uint32_t i = 0;
        for (size_t k = 3; k < s->graph.values[v].name.n; k++) i = 10 * i + (uint32_t)(s->graph.values[v].name.p[k] - '0');
        if (i >= RUN_TENSORS) return false;
        s->in_value[i] = v;
    }
    for (uint32_t i = 0; i < s->graph.outputs_n; i++) s->out_value[i] = s->graph.outputs[i].value;
    s->out_n = s->graph.outputs_n;
    return s->out_n <= RUN_TENSORS;
}

/* An input is attached where its storage is its own, so that what was done to it can be read. */
static bool attach_all(gr_side *s, gr_diags *d, void *device) {
    for (uint32_t i = 0; i < s->out_n; i++)
        if (s->graph.values[s->out_value[i]].source == GR_SOURCE_NODE) GR_TRY(attach_one(s, d, device, s->out_value[i], &s->out[i]));
    for (uint32_t i = 0; i < s->in_n; i++) {
        if (s->in_value[i] == GR_NO_VALUE) continue;
        const gr_plan_tensor *t = &s->plan.tensors[s->in_value[i]];
        bool shared = false;
        for (uint32_t v = 0; v < s->plan.tensors_n; v++)
            shared = shared || (v != s->in_value[i] && s->plan.tensors[v].pages && t->pages && s->plan.tensors[v].first_buffer == t->first_buffer);
        if (!shared) GR_TRY(attach_one(s, d, device, s->in_value[i], &s->in[i]));
    }
    return true;
}

bool gr_side_open(gr_side *s, gr_diags *d, const gr_setting *g, const gr_case *c, const gr_target *t, const gr_exec_api *api, void *device,
                  const gr_exec_options *o, bool attach, bool *missing) {
    gr_diags own;
    gr_target target = *t;
    *s = (gr_side){.api = api, .in_n = c->call.operands_n};
    gr_diags_init(&own);
    for (uint32_t i = 0; i < RUN_TENSORS; i++) s->in_value[i] = GR_NO_VALUE;
    bool ok = lower(s, &own, g, c, &target);
    *missing = !ok && gr_diags_has(&own, GR_D_KERNEL_MISSING);
    if (!ok && !*missing)
        for (uint32_t i = 0; i < own.list.n && i < 3; i++)
            gr_report(d, own.list.v[i].name, own.list.v[i].place, NULL, "%.*s", GR_STR_ARG(own.list.v[i].message));
    gr_diags_free(&own);
    if (ok && s->plan.verdict == GR_RED) ok = gr_report(d, GR_D_REGIME_NOT_RUN, (gr_place){0}, NULL, "a case does not fit the device");
    ok = ok && find_tensors(s) && (s->exec = api->prepare(device, d, &s->plan, o)) != NULL && (!attach || attach_all(s, d, device));
    if (!ok) gr_side_close(s);
    return ok;
}

void gr_side_close(gr_side *s) {
    if (s->exec) s->api->release(s->exec);
    for (uint32_t i = 0; i < RUN_TENSORS; i++) {
        if (s->in[i]) s->api->persist_free(s->in[i]);
        if (s->out[i]) s->api->persist_free(s->out[i]);
    }
    gr_arena_free(&s->arena);
    *s = (gr_side){0};
}

static uint64_t device_bytes(const gr_side *s, gr_value_id v) {
    uint64_t n = 0;
    gr_type_device_bytes(&s->graph.values[v].type, &n);
    return n;
}

static bool write_inputs(gr_side *s, gr_diags *d, gr_arena *a, const gr_array *in) {
    for (uint32_t i = 0; i < s->in_n; i++) {
        gr_value_id v = s->in_value[i];
        if (v == GR_NO_VALUE) continue;
        uint64_t n = device_bytes(s, v);
        uint8_t *packed = gr_arena_alloc(a, (size_t)n + 8, 1);
        if (!packed) return gr_report_oom(d);
        gr_pack(packed, &in[i]);
        GR_TRY(s->api->write(s->exec, d, v, packed, n));
        if (s->in[i]) GR_TRY(s->api->persist_write(s->in[i], d, 0, packed, n));
    }
    return true;
}

static bool poison_outputs(gr_side *s, gr_diags *d, gr_arena *a, uint8_t poison) {
    for (uint32_t i = 0; i < s->out_n; i++) {
        if (!s->out[i]) continue;
        uint64_t n = device_bytes(s, s->out_value[i]);
        uint8_t *p = gr_arena_alloc(a, (size_t)n + FENCE, 1);
        if (!p) return gr_report_oom(d);
        memset(p, poison, (size_t)n);
        memset(p + n, FENCE_BYTE, FENCE);
        GR_TRY(s->api->persist_write(s->out[i], d, 0, p, n + FENCE));
    }
    return true;
}

static bool read_output(gr_side *s, gr_diags *d, gr_arena *a, uint32_t i, gr_array *out, bool *fence_broken) {
    gr_value_id v = s->out_value[i];
    const gr_type *t = &s->graph.values[v].type;
    uint64_t dims[GR_RANK_MAX], n = device_bytes(s, v), got = 0, count = 0;
    for (uint32_t k = 0; k < t->rank; k++) dims[k] = t->dim[k].n;
    if (t->bounded) { /* the count is there also when the elements lie in storage of ours */
        count = dims[0];
        s->api->output(s->exec, s->ticket, v, &got, &count);
        if (count < dims[0]) dims[0] = count;
    }
    GR_TRY(gr_array_new(a, d, t->dtype, dims, t->rank, out));
    if (n == 0 || gr_array_count(out) == 0) return true;
    const uint8_t *bytes;
    if (s->out[i]) {
        uint8_t *p = gr_arena_alloc(a, (size_t)n + FENCE, 1);
        if (!p) return gr_report_oom(d);
        GR_TRY(s->api->persist_read(s->out[i], d, 0, p, n + FENCE));
        for (uint32_t k = 0; k < FENCE; k++) *fence_broken = *fence_broken || p[n + k] != FENCE_BYTE;
        bytes = p;
    } else {
        bytes = s->api->output(s->exec, s->ticket, v, &got, &count);
        if (!bytes) return gr_report(d, GR_D_REGIME_NOT_RUN, (gr_place){0}, NULL, "an output of %llu bytes was not read back", (unsigned long long)n);
    }
    gr_unpack(out, bytes);
    return true;
}

static bool inputs_same(gr_side *s, gr_diags *d, gr_arena *a, const gr_array *in, int *changed) {
    for (uint32_t i = 0; i < s->in_n; i++) {
        if (!s->in[i]) continue;
        uint64_t n = device_bytes(s, s->in_value[i]);
        uint8_t *before = gr_arena_alloc(a, (size_t)n + 8, 1), *after = gr_arena_alloc(a, (size_t)n + 8, 1);
        if (!before || !after) return gr_report_oom(d);
        gr_pack(before, &in[i]);
        GR_TRY(s->api->persist_read(s->in[i], d, 0, after, n));
        if (!gr_sha256_eq(gr_sha256_of(before, (size_t)n), gr_sha256_of(after, (size_t)n))) *changed = (int)i;
    }
    return true;
}

bool gr_side_run(gr_side *s, gr_diags *d, const gr_array *in, uint8_t poison, gr_array *out, int *changed, bool *fence_broken) {
    gr_arena *a = &s->arena;
    GR_TRY(write_inputs(s, d, a, in) && poison_outputs(s, d, a, poison));
    s->ticket = s->api->submit(s->exec, d);
    GR_TRY(s->ticket && s->api->wait(s->exec, d, s->ticket));
    for (uint32_t i = 0; i < s->out_n; i++) GR_TRY(read_output(s, d, a, i, &out[i], fence_broken));
    return inputs_same(s, d, a, in, changed);
}
