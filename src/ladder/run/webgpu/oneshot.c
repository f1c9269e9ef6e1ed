#include "ladder/run/webgpu/commands.h"

enum { ARGS_MAX = 32 };

typedef struct shot {
    gr_gpu *g;
    gr_diags *d;
    const gr_gpu_arg *args;
    uint32_t n;
    gr_gpu_buffer buffer[ARGS_MAX];
    gr_gpu_bind bind[ARGS_MAX];
    uint32_t read[ARGS_MAX];
} shot;

static const gr_gpu_pipeline *pipeline(shot *s, gr_str name, gr_str text, gr_str entry, const gr_gpu_override *o, uint32_t o_n) {
    gr_gpu_binding b[ARGS_MAX];
    for (uint32_t i = 0; i < s->n; i++) b[i] = (gr_gpu_binding){s->args[i].group, s->args[i].binding, s->args[i].access, 0};
    return gr_gpu_pipeline_get(s->g, s->d, &(gr_gpu_pipeline_desc){.name = name, .wgsl = text, .entry = entry, .overrides = o, .overrides_n = o_n, .bindings = b, .bindings_n = s->n});
}

static bool buffers(shot *s) {
    for (uint32_t i = 0; i < s->n; i++) {
        const gr_gpu_arg *a = &s->args[i];
        uint32_t usage = a->access == GR_GPU_UNIFORM ? GR_GPU_UNIFORMS : GR_GPU_STORAGE;
        s->buffer[i] = gr_gpu_buffer_new(s->g, s->d, &(gr_gpu_buffer_desc){.name = "one-shot argument", .bytes = a->bytes, .usage = usage, .tag = GR_GPU_TAG_SHOT, .data = a->data});
        if (!s->buffer[i].gen) return false;
        /* Uniform structs are bound to their end: the type may be larger than the data given. */
        s->bind[i] = (gr_gpu_bind){a->group, a->binding, s->buffer[i], 0, a->access == GR_GPU_UNIFORM ? 0 : a->bytes};
    }
    return true;
}

static bool record(shot *s, gr_gpu_commands *c, const gr_gpu_pipeline *p, const uint32_t grid[3]) {
    GR_TRY(gr_gpu_add_dispatch(c, s->d, &(gr_gpu_dispatch){.name = "one-shot", .pipeline = p, .binds = s->bind, .binds_n = s->n, .grid = {grid[0], grid[1], grid[2]}}));
    for (uint32_t i = 0; i < s->n; i++)
        if (s->args[i].access == GR_GPU_READ_WRITE) GR_TRY(gr_gpu_add_read(c, s->d, s->buffer[i], 0, s->args[i].bytes, &s->read[i]));
    return true;
}

static bool fetch(shot *s, gr_gpu_run *r) {
    GR_TRY(gr_gpu_run_wait(r, s->d, -1));
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->args[i].access != GR_GPU_READ_WRITE) continue;
        const void *p = gr_gpu_run_data(r, s->read[i], NULL);
        if (!p) return GR_BUG(s->d, "W2", "a one-shot run has no mapped result");
        memcpy(s->args[i].data, p, (size_t)s->args[i].bytes);
    }
    return true;
}

bool gr_gpu_run_wgsl(gr_gpu *g, gr_str name, gr_str text, gr_str entry, const gr_gpu_override *overrides,
                     uint32_t overrides_n, const gr_gpu_arg *args, uint32_t args_n, const uint32_t grid[3], gr_diags *d) {
    shot s = {.g = g, .d = d, .args = args, .n = args_n};
    if (args_n > ARGS_MAX) return GR_BUG(d, "W3", "a one-shot run takes at most %d buffers", ARGS_MAX);
    const gr_gpu_pipeline *p = pipeline(&s, name, text, entry, overrides, overrides_n);
    if (!p) return false;
    gr_gpu_commands *c = gr_gpu_commands_new(g, d, "one-shot");
    gr_gpu_run *r = c && buffers(&s) && record(&s, c, p, grid) ? gr_gpu_submit(c, d) : NULL;
    bool ok = r && fetch(&s, r);
    gr_gpu_run_free(r);
    gr_gpu_commands_free(c);
    for (uint32_t i = 0; i < args_n; i++) gr_gpu_buffer_free(g, s.buffer[i]);
    return ok;
}
