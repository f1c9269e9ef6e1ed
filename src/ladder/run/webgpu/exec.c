/* The plan's executor on a WebGPU device: gr_webgpu_api. */
#include "ladder/run/webgpu/exec.h"
#include "ladder/run/webgpu/exec_int.h"


#include <stdio.h>

/* ------------------------------------------------------------------ host content */

static bool host_reserve(gr_diags *d, exec_host *h, uint64_t n) {
    if (h->bytes && h->n == n) return true;
    gr_heap_free(h->bytes);
    h->bytes = n <= SIZE_MAX ? gr_heap_alloc(n ? (size_t)n : 1, 1) : NULL;
    h->n = h->bytes ? n : 0;
    return h->bytes ? true : gr_report_oom(d);
}

static void host_free(exec_host *h, uint32_t n) {
    for (uint32_t i = 0; h && i < n; i++) gr_heap_free(h[i].bytes);
}

static bool pack_constants(gr_exec *e, gr_diags *d) {
    const gr_graph *g = e->plan->graph;
    for (uint32_t v = 0; v < g->values_n; v++) {
        uint64_t n;
        if (g->values[v].source != GR_SOURCE_CONSTANT || !gr_type_device_bytes(&g->values[v].type, &n)) continue;
        GR_TRY(host_reserve(d, &e->input[v], n));
        gr_pack(e->input[v].bytes, &g->values[v].constant);
        e->input[v].version = 1;
    }
    return true;
}

static bool webgpu_write(gr_exec *e, gr_diags *d, gr_value_id v, const void *bytes, uint64_t n) {
    if (v >= e->plan->graph->values_n) return GR_BUG(d, "W3", "write of value %u", v);
    e->input[v].source.read = NULL;
    GR_TRY(host_reserve(d, &e->input[v], n));
    if (n) memcpy(e->input[v].bytes, bytes, (size_t)n);
    e->input[v].version++;
    return true;
}

static bool webgpu_source(gr_exec *e, gr_diags *d, gr_value_id v, gr_host_source s) {
    if (v >= e->plan->graph->values_n) return GR_BUG(d, "W3", "source of value %u", v);
    exec_host *h = &e->input[v];
    gr_heap_free(h->bytes);
    h->bytes = NULL;
    h->n = s.bytes;
    h->source = s;
    h->version++;
    return true;
}

/* ------------------------------------------------------------- prepare and release */

/* What exists on the device now; note_made counts what was made since then, which was by e: other plans' buffers are not e's. */
static uint64_t made_so_far(const gr_exec *e) { return gr_gpu_memory_total(e->g).now; }

static void note_made(gr_exec *e, uint64_t before) {
    e->made_bytes += (int64_t)made_so_far(e) - (int64_t)before;
    if (e->made_bytes > e->peak_bytes) e->peak_bytes = e->made_bytes;
}

static void webgpu_release(gr_exec *e);

static bool prepare(gr_exec *e, gr_diags *d) {
    uint32_t values = e->plan->graph->values_n;
    e->input = GR_NEW_N(&e->arena, exec_host, values);
    bool ok = e->input != NULL;
    for (int i = 0; i < EXEC_SLOTS; i++) {
        e->slot[i].host = GR_NEW_N(&e->arena, exec_host, values);
        e->slot[i].time = GR_NEW_N(&e->arena, gr_step_time, e->plan->steps_n);
        ok = ok && e->slot[i].host && e->slot[i].time;
    }
    if (!ok) return gr_report_oom(d);
    GR_TRY(pack_constants(e, d) && exec_cut(e, d) && exec_pipelines(e, d));
    uint64_t before = made_so_far(e);
    bool made = exec_buffers(e, d) && exec_lane_build(e, d, &e->lane[0]);
    note_made(e, before);
    return made;
}

static gr_exec *webgpu_prepare(void *device, gr_diags *d, const gr_plan *p, const gr_exec_options *o) {
    if (!gpu_usable(device, d, "preparing a plan")) return NULL;
    gr_exec *e = gr_heap_alloc(1, sizeof *e);
    if (!e) {
        gr_report_oom(d);
        return NULL;
    }
    e->g = device;
    e->plan = p;
    if (o) e->options = *o;
    if (prepare(e, d)) return e;
    webgpu_release(e);
    return NULL;
}

static void abandon(gr_exec *e, exec_lane *l) {
    for (uint32_t k = 0; l->run && k < e->segments_n; k++) {
        gr_gpu_run_free(l->run[k]);
        l->run[k] = NULL;
    }
    for (uint32_t i = 0; l->stage && i < e->plan->buffers_n; i++)
        if (l->stage[i]) {
            gpu_stage_unmap(e->g, l->stage[i]);
            l->pending[i] = 0;
        }
    l->ticket = 0;
}

static void webgpu_release(gr_exec *e) {
    if (!e) return;
    for (int i = 0; i < EXEC_LANES; i++) {
        exec_lane *l = &e->lane[i];
        abandon(e, l);
        exec_lane_unbuild(e, l);
        for (uint32_t b = 0; l->stage && b < e->plan->buffers_n; b++) gpu_stage_drop(e->g, l->stage[b]);
    }
    for (uint32_t b = 0; e->buffer && b < e->plan->buffers_n; b++)
        if (!e->shared[b]) gr_gpu_buffer_free(e->g, e->buffer[b]);
    host_free(e->input, e->plan->graph->values_n);
    for (int i = 0; i < EXEC_SLOTS; i++) host_free(e->slot[i].host, e->plan->graph->values_n);
    gr_arena_free(&e->arena);
    gr_heap_free(e);
}

/* ------------------------------------------------------------------- one segment */

static exec_slot *slot_of(gr_exec *e, gr_ticket t) {
    exec_slot *s = &e->slot[t % EXEC_SLOTS];
    return t && s->ticket == t ? s : NULL;
}

static bool drain(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot, uint32_t buffer) {
    gpu_stage *s = l->stage[buffer];
    if (!l->pending[buffer]) return true;
    const exec_segment *seg = &e->segment[l->pending[buffer] - 1];
    GR_TRY(gpu_stage_wait(e->g, d, s, UINT64_MAX, "reading results"));
    const uint8_t *from = gpu_stage_bytes(e->g, s);
    if (!from) return GR_BUG(d, "W2", "staging buffer %u is not mapped", buffer);
    for (uint32_t i = seg->first; i < seg->end; i++) {
        const gr_plan_step *x = &e->plan->steps[i];
        if (x->kind != GR_STEP_READBACK || x->staging != buffer || x->bytes == 0 || e->input[x->value].attached) continue;
        memcpy(slot->host[x->value].bytes + x->to_offset, from + x->staging_offset, (size_t)x->bytes);
    }
    gpu_stage_unmap(e->g, s);
    l->pending[buffer] = 0;
    return true;
}

static bool drain_all(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot) {
    for (uint32_t b = 0; b < e->plan->buffers_n; b++)
        if (l->stage[b]) GR_TRY(drain(e, d, l, slot, b));
    return true;
}

/* The content that an upload takes its bytes from; NULL with run/input-missing or run/input-size. */
static const exec_host *upload_source(gr_exec *e, gr_diags *d, exec_slot *slot, const gr_plan_step *s) {
    const exec_host *h = exec_is_host_input(e, s->value) ? &e->input[s->value] : &slot->host[s->value];
    gr_str name = e->plan->graph->values[s->value].name;
    if (!h->bytes && !h->source.read) {
        gr_report(d, GR_D_RUN_INPUT_MISSING, (gr_place){0}, "give every input a value before the run", "input \"%.*s\" has no data",
                  GR_STR_ARG(name));
        return NULL;
    }
    if (s->from_offset > h->n || s->bytes > h->n - s->from_offset) {
        gr_report(d, GR_D_RUN_INPUT_SIZE, (gr_place){0}, NULL, "input \"%.*s\" has %llu bytes, the plan reads %llu from %llu",
                  GR_STR_ARG(name), (unsigned long long)h->n, (unsigned long long)s->bytes, (unsigned long long)s->from_offset);
        return NULL;
    }
    return h;
}

static bool copy_content(gr_diags *d, const exec_host *h, const gr_plan_step *s, void *to) {
    if (h->source.read) return h->source.read(h->source.user, d, s->from_offset, s->bytes, to);
    memcpy(to, h->bytes + s->from_offset, (size_t)s->bytes);
    return true;
}

/* Through the queue, for plans without staging. */
static bool upload_direct(gr_exec *e, gr_diags *d, const exec_host *h, const gr_plan_step *s) {
    if (!h->source.read) return gr_gpu_write(e->g, d, e->buffer[s->to], s->to_offset, h->bytes + s->from_offset, s->bytes);
    void *part = gr_heap_alloc((size_t)s->bytes, 1);
    bool ok = part ? copy_content(d, h, s, part) && gr_gpu_write(e->g, d, e->buffer[s->to], s->to_offset, part, s->bytes) : gr_report_oom(d);
    gr_heap_free(part);
    return ok;
}

/* A staging buffer ready to be written by the host, or to be copied into. */
static bool stage_ready(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot, uint32_t buffer) {
    gpu_stage *s = l->stage[buffer];
    if (!s) return GR_BUG(d, "W3", "buffer %u is no staging buffer", buffer);
    if (!s->up) return drain(e, d, l, slot, buffer);
    if (!s->mapped && !s->waiting) gpu_stage_map(e->g, s);
    return gpu_stage_wait(e->g, d, s, UINT64_MAX, "an upload");
}

static bool upload(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot, uint32_t segment, uint32_t step) {
    const gr_plan_step *s = &e->plan->steps[step];
    const exec_host *h = &e->input[s->value];
    bool staged = s->staging != UINT32_MAX;
    if (h->attached || s->bytes == 0) return true;
    bool there = e->stable[step] && h->version && e->uploaded[step] == h->version;
    if (staged) gr_gpu_commands_enable(l->commands[segment], e->command[step], !there);
    if (there) return true;
    const exec_host *from = upload_source(e, d, slot, s);
    if (!from) return false;
    if (staged) {
        GR_TRY(stage_ready(e, d, l, slot, s->staging));
        uint8_t *to = gpu_stage_bytes(e->g, l->stage[s->staging]);
        if (!to || s->staging_offset + s->bytes > l->stage[s->staging]->bytes) return GR_BUG(d, "W3", "step %u is outside its staging buffer", step);
        GR_TRY(copy_content(d, from, s, to + s->staging_offset));
    } else
        GR_TRY(upload_direct(e, d, from, s));
    e->uploaded[step] = h->version;
    return true;
}

/* Makes room for what the segment reads back. */
static bool ready_readbacks(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot, const exec_segment *seg) {
    for (uint32_t i = seg->first; i < seg->end; i++) {
        const gr_plan_step *s = &e->plan->steps[i];
        if (s->kind != GR_STEP_READBACK || e->input[s->value].attached) continue;
        uint64_t n = e->plan->tensors[s->value].bytes;
        if (n < s->to_offset + s->bytes) n = s->to_offset + s->bytes;
        GR_TRY(host_reserve(d, &slot->host[s->value], n));
        if (s->staging != UINT32_MAX && s->bytes) GR_TRY(stage_ready(e, d, l, slot, s->staging));
    }
    return true;
}

/* After submission: ask for the maps, so that they are there when wanted. */
static void after_submit(gr_exec *e, exec_lane *l, uint32_t segment) {
    const exec_segment *seg = &e->segment[segment];
    for (uint32_t i = seg->first; i < seg->end; i++) {
        const gr_plan_step *s = &e->plan->steps[i];
        bool transfer = s->kind == GR_STEP_UPLOAD || s->kind == GR_STEP_READBACK;
        if (!transfer || s->staging == UINT32_MAX || s->bytes == 0 || e->input[s->value].attached) continue;
        gpu_stage *stage = l->stage[s->staging];
        if (!stage->mapped && !stage->waiting) gpu_stage_map(e->g, stage);
        if (!stage->up) l->pending[s->staging] = segment + 1;
    }
}

static bool run_segment(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot, uint32_t k) {
    const exec_segment *seg = &e->segment[k];
    if (seg->needs_host) GR_TRY(drain_all(e, d, l, slot));
    for (uint32_t i = seg->first; i < seg->end; i++)
        if (e->plan->steps[i].kind == GR_STEP_UPLOAD && !upload(e, d, l, slot, k, i)) {
            exec_trail(e, d, i);
            return false;
        }
    GR_TRY(ready_readbacks(e, d, l, slot, seg));
    for (uint32_t i = seg->first; i < seg->end; i++) {
        const gr_plan_step *s = &e->plan->steps[i];
        if (s->kind == GR_STEP_UPLOAD && s->staging != UINT32_MAX && l->stage[s->staging]->mapped) gpu_stage_unmap(e->g, l->stage[s->staging]);
    }
    uint64_t before = made_so_far(e);
    l->run[k] = gr_gpu_submit(l->commands[k], d);
    note_made(e, before);
    if (!l->run[k]) return false;
    after_submit(e, l, k);
    return true;
}

/* ------------------------------------------------------------------ finishing a run */

static bool read_direct(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot, uint32_t k) {
    for (uint32_t i = e->segment[k].first; i < e->segment[k].end; i++) {
        const gr_plan_step *s = &e->plan->steps[i];
        if (s->kind != GR_STEP_READBACK || s->staging != UINT32_MAX || s->bytes == 0 || e->input[s->value].attached) continue;
        const void *p = gr_gpu_run_data(l->run[k], e->read[i], NULL);
        if (!p) return GR_BUG(d, "W2", "step %u has no mapped result", i);
        memcpy(slot->host[s->value].bytes + s->to_offset, p, (size_t)s->bytes);
    }
    return true;
}

static void read_times(gr_exec *e, exec_lane *l, exec_slot *slot, uint32_t k) {
    uint32_t dispatch = 0;
    for (uint32_t i = e->segment[k].first; i < e->segment[k].end; i++) {
        if (e->plan->steps[i].kind != GR_STEP_DISPATCH) continue;
        uint64_t begin, end;
        if (gr_gpu_run_time(l->run[k], dispatch++, &begin, &end)) slot->time[slot->time_n++] = (gr_step_time){i, (double)(end - begin) * 1e-9};
    }
}

static bool read_counts(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot) {
    const gr_graph *graph = e->plan->graph;
    for (uint32_t i = 0; i < graph->outputs_n; i++) {
        gr_value_id v = graph->outputs[i].value;
        if (e->count_read[i] == UINT32_MAX) continue;
        const uint32_t *live = gr_gpu_run_data(l->run[e->segments_n - 1], e->count_read[i], NULL);
        if (!live) return GR_BUG(d, "W2", "the count of output %u is not mapped", i);
        slot->host[v].count = *live;
        if (*live > graph->values[v].type.dim[0].n)
            return gr_report(d, GR_D_RUN_BOUND_EXCEEDED, (gr_place){0}, NULL, "output \"%.*s\" has %u elements, its bound is %llu",
                             GR_STR_ARG(graph->outputs[i].name), *live, (unsigned long long)graph->values[v].type.dim[0].n);
    }
    return true;
}

static bool finish_segment(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot, uint32_t k) {
    GR_TRY(gr_gpu_run_wait(l->run[k], d, -1) && read_direct(e, d, l, slot, k));
    read_times(e, l, slot, k);
    return k + 1 < e->segments_n || read_counts(e, d, l, slot);
}

/* Brings the lane's run to its end: results into its slot, the lane idle. */
static bool finish(gr_exec *e, gr_diags *d, exec_lane *l) {
    if (!l->ticket) return true;
    exec_slot *slot = slot_of(e, l->ticket);
    bool ok = slot != NULL;
    for (uint32_t k = 0; k < e->segments_n && ok; k++) ok = finish_segment(e, d, l, slot, k);
    ok = ok && drain_all(e, d, l, slot);
    abandon(e, l);
    if (slot) slot->done = true, slot->failed = !ok;
    return ok;
}

static exec_lane *lane_of(gr_exec *e, gr_ticket t) {
    for (int i = 0; i < EXEC_LANES; i++)
        if (t && e->lane[i].ticket == t) return &e->lane[i];
    return NULL;
}

static bool lane_done(gr_exec *e, exec_lane *l) { return gr_gpu_run_done(l->run[e->segments_n - 1]); }

/* An idle lane: a prepared one if possible, a new one, or that of the oldest run after its end. */
static exec_lane *idle_lane(gr_exec *e, gr_diags *d) {
    exec_lane *oldest = NULL, *unbuilt = NULL;
    for (int i = 0; i < EXEC_LANES; i++) {
        exec_lane *l = &e->lane[i];
        if (l->ticket && lane_done(e, l) && !finish(e, d, l)) return NULL;
        if (!l->ticket && l->built) return l;
        if (!l->ticket) unbuilt = l;
        if (l->ticket && (!oldest || l->ticket < oldest->ticket)) oldest = l;
    }
    if (unbuilt) {
        uint64_t before = made_so_far(e);
        bool ok = exec_lane_build(e, d, unbuilt);
        note_made(e, before);
        if (ok) return unbuilt;
        exec_lane_unbuild(e, unbuilt);
        return NULL;
    }
    return finish(e, d, oldest) ? oldest : NULL;
}

static bool report_progress(gr_exec *e, gr_diags *d, uint32_t k, uint64_t done) {
    if (!e->options.progress) return true;
    char node[128];
    gr_str name = e->segment[k].end ? e->plan->steps[e->segment[k].end - 1].node : (gr_str){0};
    snprintf(node, sizeof node, "%.*s", GR_STR_ARG(name));
    if (e->options.progress(e->options.progress_user, node, done, e->plan->work)) return true;
    return gr_report(d, GR_D_RUN_STOPPED, (gr_place){0}, NULL, "stopped at node \"%s\"", node);
}

static bool run_all(gr_exec *e, gr_diags *d, exec_lane *l, exec_slot *slot) {
    uint64_t done = 0;
    for (uint32_t k = 0; k < e->segments_n; k++) {
        GR_TRY(run_segment(e, d, l, slot, k));
        done += e->segment[k].work;
        bool last = k + 1 == e->segments_n;
        if (!last && e->options.progress) GR_TRY(gr_gpu_run_wait(l->run[k], d, -1) && report_progress(e, d, k, done));
    }
    return true;
}

/* ---------------------------------------------------------------------- tickets */

static gr_ticket webgpu_submit(gr_exec *e, gr_diags *d) {
    gr_ticket t = e->next + 1;
    exec_slot *slot = &e->slot[t % EXEC_SLOTS];
    exec_lane *before = lane_of(e, slot->ticket);
    if (!gpu_usable(e->g, d, "a run") || (before && !finish(e, d, before))) return 0;
    exec_lane *l = idle_lane(e, d);
    if (!l) return 0;
    slot->ticket = t;
    slot->done = slot->failed = false;
    slot->time_n = 0;
    l->ticket = t;
    if (!run_all(e, d, l, slot)) {
        abandon(e, l);
        slot->ticket = 0;
        memset(e->uploaded, 0, e->plan->steps_n * sizeof *e->uploaded);
        return 0;
    }
    e->next = t;
    return t;
}

static bool webgpu_poll(gr_exec *e, gr_ticket t) {
    exec_lane *l = lane_of(e, t);
    return l ? lane_done(e, l) : slot_of(e, t) != NULL;
}

static bool webgpu_wait(gr_exec *e, gr_diags *d, gr_ticket t) {
    exec_lane *l = lane_of(e, t);
    if (l) {
        GR_TRY(finish(e, d, l));
        if (e->options.progress) report_progress(e, d, e->segments_n - 1, e->plan->work);
        return true;
    }
    exec_slot *s = slot_of(e, t);
    if (s && s->done && !s->failed) return true;
    if (s && s->failed) return gr_report(d, GR_D_RUN_TICKET_UNKNOWN, (gr_place){0}, NULL, "run %llu failed before", (unsigned long long)t);
    return gr_report(d, GR_D_RUN_TICKET_UNKNOWN, (gr_place){0}, "keep at most the last two tickets", "no run has ticket %llu",
                     (unsigned long long)t);
}

static const void *webgpu_output(gr_exec *e, gr_ticket t, gr_value_id v, uint64_t *n, uint64_t *count) {
    exec_slot *s = slot_of(e, t);
    if (!s || !s->done || s->failed || v >= e->plan->graph->values_n) return NULL;
    const gr_type *type = &e->plan->graph->values[v].type;
    *n = s->host[v].n;
    if (count) gr_type_count(type, count);
    if (count && type->bounded) *count = s->host[v].count;
    return s->host[v].bytes ? s->host[v].bytes : (const void *)"";
}

static uint32_t webgpu_times(gr_exec *e, gr_ticket t, gr_step_time *out, uint32_t max) {
    exec_slot *s = slot_of(e, t);
    if (!s || !s->done) return 0;
    for (uint32_t i = 0; i < s->time_n && i < max; i++) out[i] = s->time[i];
    return s->time_n;
}

static void webgpu_ticket_release(gr_exec *e, gr_ticket t) {
    exec_lane *l = lane_of(e, t);
    exec_slot *s = slot_of(e, t);
    if (l) abandon(e, l);
    if (s) s->ticket = 0;
}

static uint64_t webgpu_created(const gr_exec *e) { return (uint64_t)e->peak_bytes; }

/* ---------------------------------------------------------------- shared buffers */

static gr_persist *webgpu_persist_new(void *device, gr_diags *d, gr_str name, uint64_t bytes) {
    gr_persist *b = gr_heap_alloc(1, sizeof *b);
    char text[56];
    snprintf(text, sizeof text, "%.*s", GR_STR_ARG(name));
    if (!b) {
        gr_report_oom(d);
        return NULL;
    }
    *b = (gr_persist){.g = device, .bytes = bytes};
    b->buffer = gr_gpu_buffer_new(device, d, &(gr_gpu_buffer_desc){.name = text, .bytes = bytes, .usage = GR_GPU_STORAGE | GR_GPU_INDIRECT, .tag = GR_MEM_PARAMETERS});
    if (b->buffer.gen) return b;
    gr_heap_free(b);
    return NULL;
}

static void webgpu_persist_free(gr_persist *b) {
    if (b) gr_gpu_buffer_free(b->g, b->buffer);
    gr_heap_free(b);
}

static bool persist_range(const gr_persist *b, gr_diags *d, uint64_t offset, uint64_t n, bool whole_words) {
    bool words = offset % 4 == 0 && (n % 4 == 0 || offset + n == b->bytes);
    if (offset <= b->bytes && n <= b->bytes - offset && (words || !whole_words)) return true;
    return gr_report(d, GR_D_RUN_BUFFER_RANGE, (gr_place){0}, "offsets and sizes are multiples of 4, except at the buffer's end",
                     "bytes %llu + %llu of a buffer of %llu", (unsigned long long)offset, (unsigned long long)n, (unsigned long long)b->bytes);
}

static bool webgpu_persist_write(gr_persist *b, gr_diags *d, uint64_t offset, const void *bytes, uint64_t n) {
    GR_TRY(persist_range(b, d, offset, n, true));
    return n == 0 || gr_gpu_write(b->g, d, b->buffer, offset, bytes, n);
}

static bool webgpu_persist_read(gr_persist *b, gr_diags *d, uint64_t offset, void *bytes, uint64_t n) {
    GR_TRY(persist_range(b, d, offset, n, false));
    if (n == 0) return true;
    uint64_t from = offset / 4 * 4;
    gr_gpu_run *r = gr_gpu_read(b->g, d, b->buffer, from, offset - from + n);
    if (!r) return false;
    bool ok = gr_gpu_run_wait(r, d, -1);
    const uint8_t *p = ok ? gr_gpu_run_data(r, 0, NULL) : NULL;
    if (p) memcpy(bytes, p + (offset - from), (size_t)n);
    gr_gpu_run_free(r);
    return p != NULL;
}

/* The whole plan buffer is replaced: what the plan writes there lands in the shared one. */
static bool webgpu_attach(gr_exec *e, gr_diags *d, gr_value_id v, gr_persist *b) {
    const gr_plan_tensor *t = &e->plan->tensors[v];
    if (t->pages != 1 || b->bytes < t->offset + t->bytes || b->bytes < e->plan->buffers[t->first_buffer].bytes)
        return gr_report(d, GR_D_RUN_BUFFER_RANGE, (gr_place){0}, "attach a buffer of at least the tensor's size",
                         "value \"%.*s\" needs %llu bytes in one buffer, the buffer has %llu", GR_STR_ARG(e->plan->graph->values[v].name),
                         (unsigned long long)e->plan->buffers[t->first_buffer].bytes, (unsigned long long)b->bytes);
    for (int i = 0; i < EXEC_LANES; i++) {
        GR_TRY(finish(e, d, &e->lane[i]));
        exec_lane_unbuild(e, &e->lane[i]);
    }
    uint64_t before = made_so_far(e);
    if (!e->shared[t->first_buffer] && e->buffer[t->first_buffer].gen) gr_gpu_buffer_free(e->g, e->buffer[t->first_buffer]);
    note_made(e, before);
    e->buffer[t->first_buffer] = b->buffer;
    e->shared[t->first_buffer] = true;
    e->input[v].attached = true;
    return true;
}

bool exec_attach_shared(gr_exec *e, gr_diags *d) {
    for (uint32_t v = 0; e->options.shared && v < e->plan->tensors_n; v++)
        if (e->options.shared[v]) GR_TRY(webgpu_attach(e, d, v, e->options.shared[v]));
    e->options.shared = NULL;
    return true;
}

gr_target gr_webgpu_target(const gr_gpu *g) {
    const gr_gpu_info *i = gr_gpu_get_info(g);
    const gr_gpu_limits *l = &i->limits;
    return (gr_target){
        .kind = GR_TARGET_WEBGPU,
        .subgroups = i->subgroups,
        .shader_f16 = i->shader_f16,
        .timestamps = i->timestamps,
        .max_storage_binding = l->max_storage_binding,
        .max_buffer = l->max_buffer,
        .max_workgroup_storage = l->max_workgroup_storage,
        .max_groups = l->max_workgroups,
        .max_invocations = l->max_invocations,
        .max_storage_buffers = l->max_storage_buffers,
        .subgroup_size = i->subgroup_min == i->subgroup_max ? i->subgroup_min : 0,
        .adapter = i->device,
    };
}

const gr_exec_api *gr_webgpu_api(void) {
    static const gr_exec_api api = {
        .name = "webgpu", .prepare = webgpu_prepare, .release = webgpu_release, .write = webgpu_write, .source = webgpu_source, .attach = webgpu_attach,
        .persist_new = webgpu_persist_new, .persist_free = webgpu_persist_free, .persist_write = webgpu_persist_write,
        .persist_read = webgpu_persist_read, .submit = webgpu_submit, .poll = webgpu_poll, .wait = webgpu_wait,
        .output = webgpu_output, .times = webgpu_times, .ticket_release = webgpu_ticket_release, .created_bytes = webgpu_created,
    };
    return &api;
}
