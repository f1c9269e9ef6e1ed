#include "ladder/run/webgpu/exec_int.h"

#include <stdio.h>

/* A stretch of work after which progress is reported, in the plan's work units. */
static const uint64_t progress_work = 4000000000u;

bool exec_is_host_input(const gr_exec *e, gr_value_id v) { return e->plan->graph->values[v].source != GR_SOURCE_NODE; }

void exec_trail(gr_exec *e, gr_diags *d, uint32_t step) {
    const gr_plan_step *s = &e->plan->steps[step];
    if (s->kind != GR_STEP_DISPATCH) {
        gr_report_trail(d, "node %.*s -> step %u", GR_STR_ARG(s->node), step);
        return;
    }
    const gr_kernel *k = &e->plan->kernels[s->kernel];
    gr_report_trail(d, "node %.*s -> op %.*s -> %.*s -> step %u", GR_STR_ARG(s->node), GR_STR_ARG(k->op), GR_STR_ARG(k->origin), step);
}

/* ------------------------------------------------------------------- segments */

static bool is_transfer(const gr_plan_step *s) { return s->kind == GR_STEP_UPLOAD || s->kind == GR_STEP_READBACK; }

/* What the steps since the last cut have done. */
typedef struct cutter {
    uint64_t *staging_end;  /* by plan buffer: end of what is used of a staging buffer */
    uint32_t *read_back;    /* by graph value: step + 1 of its last readback */
    uint32_t first;         /* of the segment */
    bool worked;            /* something but uploads is in it */
    uint64_t work;
} cutter;

/* Whether step i cannot share a submission with the steps since the last cut. Staging is taken in ascending
 * order; a plan that goes back starts a new submission. */
static bool must_cut(const gr_exec *e, const cutter *c, uint32_t i) {
    const gr_plan_step *s = &e->plan->steps[i];
    if (e->options.progress && c->work > progress_work) return true;
    if (!is_transfer(s)) return false;
    if (s->staging != UINT32_MAX && s->staging_offset < c->staging_end[s->staging]) return true;
    if (s->kind != GR_STEP_UPLOAD) return false;
    return (s->staging == UINT32_MAX && c->worked) || c->read_back[s->value] > c->first;
}

static void take_step(const gr_exec *e, cutter *c, uint32_t i) {
    const gr_plan_step *s = &e->plan->steps[i];
    if (is_transfer(s) && s->staging != UINT32_MAX) c->staging_end[s->staging] = s->staging_offset + s->bytes;
    if (s->kind == GR_STEP_READBACK) c->read_back[s->value] = i + 1;
    c->worked |= s->kind != GR_STEP_UPLOAD;
    c->work += s->work;
}

static bool add_segment(gr_exec *e, uint32_t cap, uint32_t first, uint32_t end) {
    if (e->segments_n >= cap) return false;
    exec_segment s = {.first = first, .end = end};
    for (uint32_t i = first; i < end; i++) {
        const gr_plan_step *x = &e->plan->steps[i];
        s.needs_host |= x->kind == GR_STEP_UPLOAD && !exec_is_host_input(e, x->value);
        s.dispatches += x->kind == GR_STEP_DISPATCH;
        s.work += x->work;
    }
    e->segment[e->segments_n++] = s;
    return true;
}

/* An upload may be left out when its content is there already: its buffer is written by uploads of that one
 * value only, each to a place of its own (or is kept between runs). */
static bool find_stable(gr_exec *e) {
    const gr_plan *p = e->plan;
    typedef struct writer { gr_value_id value; uint64_t end; bool mixed; } writer;
    writer *w = gr_heap_alloc(p->buffers_n ? p->buffers_n : 1, sizeof *w);
    if (!w) return false;
    for (uint32_t i = 0; i < p->buffers_n; i++) w[i].value = GR_NO_VALUE;
    for (uint32_t i = 0; i < p->steps_n; i++) {
        const gr_plan_step *s = &p->steps[i];
        for (uint32_t k = 0; s->kind == GR_STEP_DISPATCH && k < s->binds_n; k++)
            if (s->binds[k].writable) w[s->binds[k].buffer].mixed = true;
        if (s->kind == GR_STEP_COPY || s->kind == GR_STEP_CLEAR) w[s->to].mixed = true;
        if (s->kind != GR_STEP_UPLOAD) continue;
        writer *x = &w[s->to];
        if (x->value != GR_NO_VALUE && (x->value != s->value || s->to_offset < x->end)) x->mixed = true;
        x->value = s->value;
        x->end = s->to_offset + s->bytes;
    }
    for (uint32_t i = 0; i < p->steps_n; i++) {
        const gr_plan_step *s = &p->steps[i];
        e->stable[i] = s->kind == GR_STEP_UPLOAD && exec_is_host_input(e, s->value) && (!w[s->to].mixed || p->buffers[s->to].keep);
    }
    gr_heap_free(w);
    return true;
}

static bool cut_steps(gr_exec *e, uint32_t n) {
    const gr_plan *p = e->plan;
    cutter c = {.staging_end = gr_heap_alloc((size_t)p->buffers_n + 1, sizeof(uint64_t)),
                .read_back = gr_heap_alloc((size_t)p->graph->values_n + 1, sizeof(uint32_t))};
    bool ok = c.staging_end && c.read_back;
    for (uint32_t i = 0; i < n && ok; i++) {
        if (i > c.first && must_cut(e, &c, i)) {
            ok = add_segment(e, n + 1, c.first, i);
            memset(c.staging_end, 0, p->buffers_n * sizeof *c.staging_end);
            c.first = i;
            c.worked = false;
            c.work = 0;
        }
        take_step(e, &c, i);
    }
    ok = ok && add_segment(e, n + 1, c.first, n);
    gr_heap_free(c.staging_end);
    gr_heap_free(c.read_back);
    return ok;
}

/* Ids in range: a plan may come from text. */
static bool check_ids(const gr_plan *p, const gr_plan_step *s) {
    uint32_t b = p->buffers_n;
    bool ok = s->kind != GR_STEP_DISPATCH || (s->kernel < p->kernels_n && (s->indirect == UINT32_MAX || s->indirect < b));
    for (uint32_t i = 0; s->kind == GR_STEP_DISPATCH && i < s->binds_n && ok; i++) ok = s->binds[i].buffer < b;
    if (s->kind == GR_STEP_COPY || s->kind == GR_STEP_READBACK) ok = ok && s->from < b;
    if (s->kind == GR_STEP_COPY || s->kind == GR_STEP_CLEAR || s->kind == GR_STEP_UPLOAD) ok = ok && s->to < b;
    if (!is_transfer(s)) return ok;
    uint64_t room = s->staging < b ? p->buffers[s->staging].bytes : 0;
    bool staged = s->staging == UINT32_MAX || (room >= s->staging_offset && s->bytes <= room - s->staging_offset &&
                                               p->buffers[s->staging].kind == (s->kind == GR_STEP_UPLOAD ? GR_BUFFER_STAGING_UP : GR_BUFFER_STAGING_DOWN));
    return ok && staged && s->value < p->graph->values_n && s->value < p->tensors_n;
}

bool exec_cut(gr_exec *e, gr_diags *d) {
    for (uint32_t i = 0; i < e->plan->steps_n; i++)
        if (!check_ids(e->plan, &e->plan->steps[i])) return GR_BUG(d, "W3", "step %u of the plan names something that is not there, or is outside its staging", i);
    uint32_t n = e->plan->steps_n;
    e->segment = GR_NEW_N(&e->arena, exec_segment, (size_t)n + 1);
    e->stable = GR_NEW_N(&e->arena, bool, n);
    e->uploaded = GR_NEW_N(&e->arena, uint64_t, n);
    e->command = GR_NEW_N(&e->arena, uint32_t, n);
    e->read = GR_NEW_N(&e->arena, uint32_t, n);
    e->count_read = GR_NEW_N(&e->arena, uint32_t, e->plan->graph->outputs_n);
    if (!e->segment || !e->stable || !e->uploaded || !e->command || !e->read || !e->count_read || !find_stable(e)) return gr_report_oom(d);
    bool cut = cut_steps(e, n);
    return cut || gr_report_oom(d);
}

/* ------------------------------------------------------------------ pipelines */

static gr_gpu_access access_of(const gr_step_bind *b) {
    return b->uniform ? GR_GPU_UNIFORM_DYNAMIC : b->writable ? GR_GPU_READ_WRITE : GR_GPU_READ;
}

static bool same_access(const gr_plan_step *x, const gr_plan_step *y) {
    bool same = x->binds_n == y->binds_n;
    for (uint32_t i = 0; i < x->binds_n && same; i++)
        same = x->binds[i].group == y->binds[i].group && x->binds[i].binding == y->binds[i].binding && access_of(&x->binds[i]) == access_of(&y->binds[i]);
    return same;
}

static const gr_gpu_pipeline *make_pipeline(gr_exec *e, gr_diags *d, const gr_plan_step *s) {
    const gr_kernel *k = &e->plan->kernels[s->kernel];
    gr_gpu_binding *b = GR_NEW_N(&e->arena, gr_gpu_binding, s->binds_n);
    gr_gpu_override *o = GR_NEW_N(&e->arena, gr_gpu_override, k->overrides_n);
    char *name = gr_arena_printf(&e->arena, "%.*s/%.*s", GR_STR_ARG(k->op), GR_STR_ARG(k->origin));
    if (!b || !o || !name) {
        gr_report_oom(d);
        return NULL;
    }
    for (uint32_t i = 0; i < s->binds_n; i++) b[i] = (gr_gpu_binding){s->binds[i].group, s->binds[i].binding, access_of(&s->binds[i]), 0};
    for (uint32_t i = 0; i < k->overrides_n; i++) o[i] = (gr_gpu_override){k->overrides[i].name, k->overrides[i].value};
    return gr_gpu_pipeline_get(e->g, d, &(gr_gpu_pipeline_desc){.name = gr_str_of(name), .wgsl = k->wgsl, .entry = k->entry, .overrides = o, .overrides_n = k->overrides_n, .bindings = b, .bindings_n = s->binds_n});
}

/* WebGPU's usage scope (W4): reported with the names, since the library's message has none. */
static bool check_scope(gr_exec *e, gr_diags *d, uint32_t step) {
    const gr_plan_step *s = &e->plan->steps[step];
    for (uint32_t i = 0; i < s->binds_n; i++)
        for (uint32_t k = 0; k < i; k++) {
            const gr_step_bind *x = &s->binds[i], *y = &s->binds[k];
            if (x->buffer != y->buffer || x->writable == y->writable) continue;
            GR_BUG(d, "W4", "buffer %.*s is bound for reading (%u.%u) and for writing (%u.%u) by one dispatch",
                   GR_STR_ARG(e->plan->buffers[x->buffer].name), (x->writable ? y : x)->group, (x->writable ? y : x)->binding,
                   (x->writable ? x : y)->group, (x->writable ? x : y)->binding);
            exec_trail(e, d, step);
            return false;
        }
    return true;
}

bool exec_pipelines(gr_exec *e, gr_diags *d) {
    const gr_plan *p = e->plan;
    e->pipeline = GR_NEW_N(&e->arena, const gr_gpu_pipeline *, p->kernels_n);
    e->pipeline_step = GR_NEW_N(&e->arena, uint32_t, p->kernels_n);
    if (!e->pipeline || !e->pipeline_step) return gr_report_oom(d);
    for (uint32_t i = 0; i < p->steps_n; i++) {
        const gr_plan_step *s = &p->steps[i];
        if (s->kind != GR_STEP_DISPATCH) continue;
        GR_TRY(check_scope(e, d, i));
        if (e->pipeline[s->kernel]) continue;
        e->pipeline[s->kernel] = make_pipeline(e, d, s);
        e->pipeline_step[s->kernel] = i;
        if (!e->pipeline[s->kernel]) {
            exec_trail(e, d, i);
            return false;
        }
    }
    return true;
}

/* -------------------------------------------------------------------- buffers */

static bool is_staging(const gr_plan_buffer *b) { return b->kind == GR_BUFFER_STAGING_UP || b->kind == GR_BUFFER_STAGING_DOWN; }

static const char *buffer_name(gr_exec *e, const gr_plan_buffer *b) {
    const char *name = gr_arena_strndup(&e->arena, b->name.p ? b->name.p : "", b->name.n);
    return name ? name : "";
}

static uint32_t usage_of(gr_buffer_kind k) {
    if (k == GR_BUFFER_UNIFORM) return GR_GPU_UNIFORMS;
    return k == GR_BUFFER_INDIRECT ? GR_GPU_INDIRECT | GR_GPU_STORAGE : GR_GPU_STORAGE;
}

bool exec_buffers(gr_exec *e, gr_diags *d) {
    const gr_plan *p = e->plan;
    e->buffer = GR_NEW_N(&e->arena, gr_gpu_buffer, p->buffers_n);
    e->shared = GR_NEW_N(&e->arena, bool, p->buffers_n);
    if (!e->buffer || !e->shared) return gr_report_oom(d);
    GR_TRY(exec_attach_shared(e, d));
    for (uint32_t i = 0; i < p->buffers_n; i++) {
        const gr_plan_buffer *b = &p->buffers[i];
        if (is_staging(b) || e->shared[i]) continue;
        gr_gpu_buffer_desc desc = {.name = buffer_name(e, b), .bytes = b->bytes, .usage = usage_of(b->kind), .tag = b->memory};
        bool uniforms = b->kind == GR_BUFFER_UNIFORM && p->uniforms_bytes;
        /* Bindings of whole structs may reach past the last one's data: room for one slot. */
        if (uniforms && desc.bytes < p->uniforms_bytes) desc.bytes = p->uniforms_bytes;
        e->buffer[i] = gr_gpu_buffer_new(e->g, d, &desc);
        if (!e->buffer[i].gen) return false;
        if (uniforms) GR_TRY(gr_gpu_write(e->g, d, e->buffer[i], 0, p->uniforms, p->uniforms_bytes));
    }
    return true;
}

static bool lane_staging(gr_exec *e, gr_diags *d, exec_lane *l) {
    const gr_plan *p = e->plan;
    if (l->stage) return true;
    l->stage = GR_NEW_N(&e->arena, gpu_stage *, p->buffers_n);
    l->pending = GR_NEW_N(&e->arena, uint32_t, p->buffers_n);
    l->commands = GR_NEW_N(&e->arena, gr_gpu_commands *, e->segments_n);
    l->run = GR_NEW_N(&e->arena, gr_gpu_run *, e->segments_n);
    if (!l->stage || !l->pending || !l->commands || !l->run) {
        l->stage = NULL;
        return gr_report_oom(d);
    }
    for (uint32_t i = 0; i < p->buffers_n; i++) {
        const gr_plan_buffer *b = &p->buffers[i];
        if (!is_staging(b)) continue;
        l->stage[i] = gpu_stage_new(e->g, d, buffer_name(e, b), b->bytes, b->kind == GR_BUFFER_STAGING_UP, b->memory);
        if (!l->stage[i]) return false;
    }
    return true;
}

/* ------------------------------------------------------------------- commands */

static uint64_t up4(uint64_t n) { return (n + 3) / 4 * 4; }

static bool add_dispatch(gr_exec *e, gr_diags *d, gr_gpu_commands *c, uint32_t step) {
    const gr_plan_step *s = &e->plan->steps[step];
    const gr_kernel *k = &e->plan->kernels[s->kernel];
    const gr_gpu_pipeline *p = e->pipeline[s->kernel];
    /* One kernel may be bound in another way by another step (a value updated in place): the cache has both. */
    if (!same_access(s, &e->plan->steps[e->pipeline_step[s->kernel]])) p = make_pipeline(e, d, s);
    gr_gpu_bind *b = gr_heap_alloc(s->binds_n ? s->binds_n : 1, sizeof *b);
    char name[120];
    snprintf(name, sizeof name, "%.*s (%.*s)", GR_STR_ARG(s->node), GR_STR_ARG(k->op));
    if (!p || !b) {
        gr_heap_free(b);
        return p ? gr_report_oom(d) : false;
    }
    for (uint32_t i = 0; i < s->binds_n; i++) {
        const gr_step_bind *x = &s->binds[i];
        uint64_t bytes = x->uniform ? (x->bytes + 15) / 16 * 16 : x->bytes, size = gr_gpu_buffer_bytes(e->g, e->buffer[x->buffer]);
        if (x->uniform && x->offset <= size && bytes > size - x->offset) bytes = size - x->offset;
        b[i] = (gr_gpu_bind){x->group, x->binding, e->buffer[x->buffer], x->offset, bytes};
    }
    gr_gpu_dispatch x = {.name = name, .pipeline = p, .binds = b, .binds_n = s->binds_n, .grid = {s->grid[0], s->grid[1], s->grid[2]}};
    if (s->indirect != UINT32_MAX) {
        x.indirect = e->buffer[s->indirect];
        x.indirect_offset = s->indirect_offset;
    }
    bool ok = gr_gpu_add_dispatch(c, d, &x);
    gr_heap_free(b);
    return ok;
}

static bool add_step(gr_exec *e, gr_diags *d, exec_lane *l, gr_gpu_commands *c, uint32_t step) {
    const gr_plan_step *s = &e->plan->steps[step];
    bool staged = is_transfer(s) && s->staging != UINT32_MAX;
    if (is_transfer(s) && s->bytes == 0) return true;
    switch (s->kind) {
    case GR_STEP_DISPATCH: return add_dispatch(e, d, c, step);
    case GR_STEP_COPY: return s->bytes == 0 || gr_gpu_add_copy(c, d, e->buffer[s->from], s->from_offset, e->buffer[s->to], s->to_offset, up4(s->bytes));
    case GR_STEP_CLEAR: return s->bytes == 0 || gr_gpu_add_clear(c, d, e->buffer[s->to], s->to_offset, up4(s->bytes));
    case GR_STEP_UPLOAD:
        if (!staged || e->input[s->value].attached) return true;
        GR_TRY(gr_gpu_add_copy(c, d, l->stage[s->staging]->buffer, s->staging_offset, e->buffer[s->to], s->to_offset, up4(s->bytes)));
        e->command[step] = gr_gpu_commands_last(c);
        return true;
    case GR_STEP_READBACK:
        if (e->input[s->value].attached) return true;
        if (!staged) return gr_gpu_add_read(c, d, e->buffer[s->from], s->from_offset, s->bytes, &e->read[step]);
        return gr_gpu_add_copy(c, d, e->buffer[s->from], s->from_offset, l->stage[s->staging]->buffer, s->staging_offset, up4(s->bytes));
    default: return GR_BUG(d, "W3", "step %u has no kind", step);
    }
}

/* Counts of bounded outputs are read at the end of the last segment. */
static bool add_counts(gr_exec *e, gr_diags *d, gr_gpu_commands *c) {
    const gr_graph *graph = e->plan->graph;
    for (uint32_t i = 0; i < graph->outputs_n; i++) {
        gr_value_id v = graph->outputs[i].value;
        gr_buffer_id b = v < e->plan->tensors_n ? e->plan->tensors[v].count_buffer : UINT32_MAX;
        e->count_read[i] = UINT32_MAX;
        if (graph->values[v].type.bounded && b < e->plan->buffers_n) GR_TRY(gr_gpu_add_read(c, d, e->buffer[b], 0, 4, &e->count_read[i]));
    }
    return true;
}

bool exec_lane_build(gr_exec *e, gr_diags *d, exec_lane *l) {
    GR_TRY(lane_staging(e, d, l));
    for (uint32_t k = 0; k < e->segments_n; k++) {
        const exec_segment *s = &e->segment[k];
        char name[64];
        snprintf(name, sizeof name, "%.*s", GR_STR_ARG(e->plan->graph->name));
        l->commands[k] = gr_gpu_commands_new(e->g, d, name);
        if (!l->commands[k]) return false;
        gr_gpu_commands_time(l->commands[k], e->options.timestamps);
        for (uint32_t i = s->first; i < s->end; i++)
            if (!add_step(e, d, l, l->commands[k], i)) {
                if (d->list.n && d->list.v[d->list.n - 1].trail.n == 0) exec_trail(e, d, i);
                return false;
            }
        if (k + 1 == e->segments_n) GR_TRY(add_counts(e, d, l->commands[k]));
    }
    l->built = true;
    return true;
}

void exec_lane_unbuild(gr_exec *e, exec_lane *l) {
    for (uint32_t k = 0; l->commands && k < e->segments_n; k++) {
        gr_gpu_commands_free(l->commands[k]);
        l->commands[k] = NULL;
    }
    l->built = false;
}
