/* run.h: a plan run on the oracle, its inputs filled from a seed by value name; outputs as bytes. */
#ifndef GR_TESTS_PLAN_RUN_H
#define GR_TESTS_PLAN_RUN_H

#include "base/math.h"
#include "ladder/run/run.h"
#include "lower.h"

static inline uint32_t run_hash(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    return x ^ (x >> 16);
}

/* Device words of an input: small floats, small integers, booleans; halves for f16. */
static inline void run_fill(const gr_type *t, uint32_t seed, uint8_t *p, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes / 4; i++) {
        uint32_t h = run_hash(seed * 0x9e3779b9u + (uint32_t)i), w = h % 17;
        if (t->dtype == GR_DTYPE_F32) w = gr_bits_f32((float)(int)(h % 2001) / 100.0f - 10.0f);
        if (t->dtype == GR_DTYPE_BOOL) w = h & 1;
        if (t->dtype == GR_DTYPE_F16) w = (uint32_t)gr_f16_from_f32((float)(h % 64)) | (uint32_t)gr_f16_from_f32((float)(h % 61)) << 16;
        memcpy(p + 4 * i, &w, 4);
    }
}

/* Output i of the run in *out (in the arena). */
static inline void run_plan(low *l, const gr_exec_api *api, void *device, const gr_plan *p, uint8_t **out, uint64_t *out_n) {
    gr_exec *e = api->prepare(device, &l->d, p, NULL);
    if (!e) low_show(&l->d);
    assert_non_null(e);
    for (uint32_t v = 0; v < p->graph->values_n; v++) {
        const gr_graph_value *x = &p->graph->values[v];
        uint64_t bytes = 0;
        if (x->source != GR_SOURCE_INPUT && x->source != GR_SOURCE_PARAMETER) continue;
        assert_true(gr_type_device_bytes(&x->type, &bytes));
        uint32_t seed = 0;
        for (size_t i = 0; i < x->name.n; i++) seed = seed * 31 + (uint8_t)x->name.p[i];
        uint8_t *data = calloc(1, bytes + 4);
        run_fill(&x->type, seed, data, bytes);
        assert_true(api->write(e, &l->d, v, data, bytes));
        free(data);
    }
    gr_ticket t = api->submit(e, &l->d);
    bool ok = t && api->wait(e, &l->d, t);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    for (uint32_t i = 0; i < p->graph->outputs_n; i++) {
        uint64_t n = 0, count = 0;
        const void *bytes = api->output(e, t, p->graph->outputs[i].value, &n, &count);
        out[i] = gr_arena_alloc(&l->a, n + 1, 1);
        out_n[i] = n;
        if (n) memcpy(out[i], bytes, n);
    }
    api->ticket_release(e, t);
    api->release(e);
}

static inline uint32_t run_count(const gr_plan *p, gr_step_kind kind) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->steps_n; i++) n += p->steps[i].kind == kind;
    return n;
}

#endif
