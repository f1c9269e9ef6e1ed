#include "ladder/run/webgpu/gpu_int.h"

#include <stdio.h>

typedef enum command_kind { COMMAND_NONE = 0, COMMAND_DISPATCH, COMMAND_COPY, COMMAND_CLEAR, COMMAND_READ } command_kind;

typedef struct command {
    command_kind kind;
    bool off;
    const char *name;
    /* DISPATCH: the groups are referenced, so that freeing a buffer leaves an error, not a dangling pointer */
    WGPUComputePipeline pipeline;
    WGPUBindGroup group[GR_GPU_GROUPS_MAX];
    uint32_t *dynamic[GR_GPU_GROUPS_MAX];
    uint32_t dynamic_n[GR_GPU_GROUPS_MAX];
    uint32_t groups_n, grid[3], index; /* index among the dispatches, or among the reads */
    gr_gpu_buffer from, to;            /* DISPATCH: from is the indirect buffer, or none */
    uint64_t from_offset, to_offset, bytes;
} command;

/* Query sets of one run, pooled by their commands object. */
typedef struct queries {
    WGPUQuerySet *set;
    uint32_t sets_n;
    gr_gpu_buffer resolved;
    struct queries *next;
} queries;

enum { QUERIES_A_SET = 4096 };

struct gr_gpu_commands {
    gr_gpu *g;
    char name[64];
    gr_arena arena;
    GR_VEC(command) list;
    uint32_t dispatches_n, reads_n, live_runs;
    bool timed;
    queries *idle;
    gr_gpu_commands *next;
};

struct gr_gpu_run {
    gr_gpu *g;
    gr_gpu_commands *c; /* NULL for a ticket */
    gpu_stage **read;
    uint64_t *read_bytes;
    uint32_t reads_n;
    gpu_stage *fence;  /* what tells that the submission is done; one of the reads, times or own */
    gpu_stage *times;
    queries *q;
    bool own_fence, waited;
    char doing[400];
    gr_gpu_run *next; /* newest first in gr_gpu.runs */
};

/* ------------------------------------------------------------------ preparation */

gr_gpu_commands *gr_gpu_commands_new(gr_gpu *g, gr_diags *d, const char *name) {
    gr_gpu_commands *c = gr_heap_alloc(1, sizeof *c);
    if (!c) {
        gr_report_oom(d);
        return NULL;
    }
    c->g = g;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->next = g->commands;
    g->commands = c;
    return c;
}

static void free_queries(gr_gpu *g, queries *q) {
    for (uint32_t i = 0; i < q->sets_n; i++) {
        g->lib.fn.QuerySetDestroy(q->set[i]);
        g->lib.fn.QuerySetRelease(q->set[i]);
    }
    gr_gpu_buffer_free(g, q->resolved);
    gr_heap_free(q->set);
    gr_heap_free(q);
}

void gr_gpu_commands_free(gr_gpu_commands *c) {
    if (!c) return;
    gr_gpu *g = c->g;
    for (gr_gpu_commands **at = &g->commands; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    for (gr_gpu_run *r = g->runs; r; r = r->next)
        if (r->c == c) {
            if (r->q) free_queries(g, r->q);
            r->q = NULL;
            r->c = NULL;
        }
    for (uint32_t i = 0; i < c->list.n; i++)
        for (uint32_t k = 0; k < c->list.v[i].groups_n; k++)
            if (c->list.v[i].group[k]) g->lib.fn.BindGroupRelease(c->list.v[i].group[k]);
    while (c->idle) {
        queries *q = c->idle;
        c->idle = q->next;
        free_queries(g, q);
    }
    gr_arena_free(&c->arena);
    gr_heap_free(c);
}

uint32_t gr_gpu_commands_last(const gr_gpu_commands *c) { return c->list.n - 1; }

void gr_gpu_commands_enable(gr_gpu_commands *c, uint32_t at, bool on) {
    if (at < c->list.n) c->list.v[at].off = !on;
}

void gr_gpu_commands_time(gr_gpu_commands *c, bool on) { c->timed = on && c->g->info.timestamps; }

static command *push(gr_gpu_commands *c, gr_diags *d, command_kind kind, const char *name) {
    command *x = GR_PUSH(&c->arena, &c->list);
    char *copy = x && name ? gr_arena_strndup(&c->arena, name, strlen(name)) : NULL;
    if (!x || (name && !copy)) {
        if (x) c->list.n--;
        gr_report_oom(d);
        return NULL;
    }
    *x = (command){.kind = kind, .name = copy ? copy : ""};
    return x;
}

static bool range_ok(gr_gpu *g, gr_gpu_buffer b, uint64_t offset, uint64_t bytes) {
    uint64_t size = gr_gpu_buffer_bytes(g, b);
    return size > 0 && offset % 4 == 0 && offset <= size && bytes <= size - offset;
}

bool gr_gpu_add_copy(gr_gpu_commands *c, gr_diags *d, gr_gpu_buffer from, uint64_t from_offset, gr_gpu_buffer to, uint64_t to_offset, uint64_t bytes) {
    if (bytes % 4 || !range_ok(c->g, from, from_offset, bytes) || !range_ok(c->g, to, to_offset, bytes))
        return GR_BUG(d, "W3", "%s: copy of %llu bytes is outside its buffers", c->name, (unsigned long long)bytes);
    command *x = push(c, d, COMMAND_COPY, NULL);
    if (!x) return false;
    x->from = from, x->from_offset = from_offset, x->to = to, x->to_offset = to_offset, x->bytes = bytes;
    return true;
}

bool gr_gpu_add_clear(gr_gpu_commands *c, gr_diags *d, gr_gpu_buffer to, uint64_t offset, uint64_t bytes) {
    if (bytes % 4 || !range_ok(c->g, to, offset, bytes))
        return GR_BUG(d, "W3", "%s: clear of %llu bytes is outside its buffer", c->name, (unsigned long long)bytes);
    command *x = push(c, d, COMMAND_CLEAR, NULL);
    if (!x) return false;
    x->to = to, x->to_offset = offset, x->bytes = bytes;
    return true;
}

bool gr_gpu_add_read(gr_gpu_commands *c, gr_diags *d, gr_gpu_buffer from, uint64_t offset, uint64_t bytes, uint32_t *read) {
    if (bytes == 0 || !range_ok(c->g, from, offset, bytes))
        return GR_BUG(d, "W3", "%s: read of %llu bytes is outside its buffer", c->name, (unsigned long long)bytes);
    command *x = push(c, d, COMMAND_READ, NULL);
    if (!x) return false;
    x->from = from, x->from_offset = offset, x->bytes = bytes;
    x->index = *read = c->reads_n++;
    return true;
}

/* ---- dispatches: one bind group for every group of the pipeline */

static const gr_gpu_bind *bind_of(const gr_gpu_dispatch *x, const gr_gpu_binding *b) {
    for (uint32_t i = 0; i < x->binds_n; i++)
        if (x->binds[i].group == b->group && x->binds[i].binding == b->binding) return &x->binds[i];
    return NULL;
}

/* Bytes of the binding after defaults, checked against buffer, limits and layout; 0 when reported. */
static uint64_t bound_bytes(gr_gpu *g, gr_diags *d, const gr_gpu_dispatch *x, const gr_gpu_binding *b, const gr_gpu_bind *v) {
    const gr_gpu_limits *l = &g->info.limits;
    bool uniform = b->access == GR_GPU_UNIFORM || b->access == GR_GPU_UNIFORM_DYNAMIC;
    uint64_t size = gr_gpu_buffer_bytes(g, v->buffer), limit = uniform ? l->max_uniform_binding : l->max_storage_binding;
    uint32_t align = uniform ? l->uniform_alignment : l->storage_alignment;
    if (size == 0 || v->offset >= size || (align && v->offset % align) || v->bytes > size - v->offset) {
        GR_BUG(d, "W3", "%s: binding %u.%u: %llu bytes at %llu of a buffer of %llu", x->name, b->group, b->binding,
               (unsigned long long)v->bytes, (unsigned long long)v->offset, (unsigned long long)size);
        return 0;
    }
    uint64_t bytes = v->bytes ? (v->bytes + 3) / 4 * 4 : size - v->offset;
    if (bytes < b->min_bytes && b->min_bytes <= size - v->offset) bytes = b->min_bytes;
    if (bytes > limit) {
        gr_report(d, GR_D_RUN_GPU_LIMIT, (gr_place){0}, "the planner splits tensors by their ops' split clauses",
                  "%s: binding %u.%u of %llu bytes is over the adapter's %llu", x->name, b->group, b->binding,
                  (unsigned long long)bytes, (unsigned long long)limit);
        return 0;
    }
    return bytes;
}

static bool bind_group(gr_gpu_commands *c, gr_diags *d, const gr_gpu_dispatch *x, uint32_t k, command *out) {
    gr_gpu *g = c->g;
    const gr_gpu_pipeline *p = x->pipeline;
    gr_gpu_bind binds[64];
    uint32_t n = 0, dynamic_n = 0, dynamic[64];
    for (uint32_t i = 0; i < p->bindings_n; i++) {
        const gr_gpu_binding *b = &p->bindings[i];
        if (b->group != k) continue;
        const gr_gpu_bind *v = bind_of(x, b);
        if (!v || n == 64) return GR_BUG(d, "W3", "%s: nothing is bound to %u.%u", x->name, b->group, b->binding);
        uint64_t bytes = bound_bytes(g, d, x, b, v);
        if (!bytes) return false;
        binds[n] = *v;
        binds[n].bytes = bytes;
        if (b->access == GR_GPU_UNIFORM_DYNAMIC) {
            dynamic[dynamic_n++] = (uint32_t)v->offset;
            binds[n].offset = 0;
        }
        n++;
    }
    out->group[k] = gpu_group_get(g, d, p, k, binds, n);
    if (!out->group[k]) return false;
    g->lib.fn.BindGroupAddRef(out->group[k]);
    out->dynamic_n[k] = dynamic_n;
    out->dynamic[k] = GR_NEW_N(&c->arena, uint32_t, dynamic_n);
    if (!out->dynamic[k]) return gr_report_oom(d);
    memcpy(out->dynamic[k], dynamic, dynamic_n * sizeof *dynamic);
    return true;
}

bool gr_gpu_add_dispatch(gr_gpu_commands *c, gr_diags *d, const gr_gpu_dispatch *x) {
    gr_gpu *g = c->g;
    GR_TRY(gpu_usable(g, d, x->name));
    for (int i = 0; i < 3; i++)
        if (x->grid[i] > g->info.limits.max_workgroups)
            return gr_report(d, GR_D_RUN_GPU_LIMIT, (gr_place){0}, "the planner folds such grids", "%s: %u workgroups are over the adapter's %u a dimension",
                             x->name, x->grid[i], g->info.limits.max_workgroups);
    if (x->indirect.gen && !range_ok(g, x->indirect, x->indirect_offset, 12))
        return GR_BUG(d, "W3", "%s: the indirect sizes are outside their buffer", x->name);
    if (x->binds_n != x->pipeline->bindings_n)
        return GR_BUG(d, "W3", "%s: %u bindings given, the pipeline has %u", x->name, x->binds_n, x->pipeline->bindings_n);
    command *at = push(c, d, COMMAND_DISPATCH, x->name);
    if (!at) return false;
    at->pipeline = x->pipeline->pipeline;
    at->groups_n = x->pipeline->groups_n;
    memcpy(at->grid, x->grid, sizeof at->grid);
    at->from = x->indirect;
    at->from_offset = x->indirect_offset;
    for (uint32_t k = 0; k < at->groups_n; k++)
        if (!bind_group(c, d, x, k, at)) {
            for (uint32_t i = 0; i < GR_GPU_GROUPS_MAX; i++)
                if (at->group[i]) g->lib.fn.BindGroupRelease(at->group[i]);
            c->list.n--;
            return false;
        }
    at->index = c->dispatches_n++;
    return true;
}

/* --------------------------------------------------------------------- encoding */

typedef struct encoder {
    gr_gpu *g;
    const gr_wgpu *w;
    gr_gpu_run *r;
    WGPUCommandEncoder e;
    WGPUComputePassEncoder pass;
    WGPUComputePipeline pipeline;            /* set in the pass */
    WGPUBindGroup group[GR_GPU_GROUPS_MAX]; /* set in the pass, without dynamic offsets */
} encoder;

static void end_pass(encoder *x) {
    if (!x->pass) return;
    x->w->ComputePassEncoderEnd(x->pass);
    x->w->ComputePassEncoderRelease(x->pass);
    x->pass = NULL;
    x->pipeline = NULL;
    memset(x->group, 0, sizeof x->group);
}

static void begin_pass(encoder *x, const command *c) {
    WGPUPassTimestampWrites t = {0};
    if (x->r->q) {
        t.querySet = x->r->q->set[2 * c->index / QUERIES_A_SET];
        t.beginningOfPassWriteIndex = 2 * c->index % QUERIES_A_SET;
        t.endOfPassWriteIndex = t.beginningOfPassWriteIndex + 1;
    }
    WGPUComputePassDescriptor desc = {.label = gpu_viewz(x->r->q ? c->name : x->r->c->name), .timestampWrites = x->r->q ? &t : NULL};
    x->pass = x->w->CommandEncoderBeginComputePass(x->e, &desc);
}

static void encode_dispatch(encoder *x, const command *c) {
    bool indirect = c->from.gen != 0;
    if (!indirect && (c->grid[0] == 0 || c->grid[1] == 0 || c->grid[2] == 0)) return;
    if (!x->pass) begin_pass(x, c);
    if (x->pipeline != c->pipeline) x->w->ComputePassEncoderSetPipeline(x->pass, c->pipeline);
    x->pipeline = c->pipeline;
    for (uint32_t k = 0; k < c->groups_n; k++) {
        if (x->group[k] == c->group[k] && c->dynamic_n[k] == 0) continue;
        x->w->ComputePassEncoderSetBindGroup(x->pass, k, c->group[k], c->dynamic_n[k], c->dynamic[k]);
        x->group[k] = c->group[k];
    }
    if (indirect) {
        gpu_slot *s = gpu_slot_of(x->g, c->from);
        if (s) x->w->ComputePassEncoderDispatchWorkgroupsIndirect(x->pass, s->buffer, c->from_offset);
    } else
        x->w->ComputePassEncoderDispatchWorkgroups(x->pass, c->grid[0], c->grid[1], c->grid[2]);
    if (x->r->q) end_pass(x);
}

static bool encode(encoder *x, gr_diags *d, const command *c) {
    if (c->off) return true;
    if (c->kind == COMMAND_DISPATCH) {
        if (c->from.gen && !gpu_slot_of(x->g, c->from)) return GR_BUG(d, "W1", "%s: its indirect buffer was freed", c->name);
        encode_dispatch(x, c);
        return true;
    }
    end_pass(x);
    gpu_slot *from = gpu_slot_of(x->g, c->from), *to = gpu_slot_of(x->g, c->to);
    if (c->kind == COMMAND_READ) to = gpu_slot_of(x->g, x->r->read[c->index]->buffer);
    if ((c->kind != COMMAND_CLEAR && !from) || !to) return GR_BUG(d, "W1", "%s uses a buffer that was freed", x->r->doing);
    if (c->kind == COMMAND_CLEAR)
        x->w->CommandEncoderClearBuffer(x->e, to->buffer, c->to_offset, c->bytes);
    else
        x->w->CommandEncoderCopyBufferToBuffer(x->e, from->buffer, c->from_offset, to->buffer, c->to_offset, (c->bytes + 3) / 4 * 4);
    return true;
}

static void encode_end(encoder *x) {
    gr_gpu_run *r = x->r;
    end_pass(x);
    if (r->q) {
        gpu_slot *resolved = gpu_slot_of(x->g, r->q->resolved), *times = gpu_slot_of(x->g, r->times->buffer);
        uint32_t left = 2 * r->c->dispatches_n;
        for (uint32_t i = 0; i < r->q->sets_n; i++) {
            uint32_t n = left < QUERIES_A_SET ? left : QUERIES_A_SET;
            x->w->CommandEncoderResolveQuerySet(x->e, r->q->set[i], 0, n, resolved->buffer, (uint64_t)i * QUERIES_A_SET * 8);
            left -= n;
        }
        x->w->CommandEncoderCopyBufferToBuffer(x->e, resolved->buffer, 0, times->buffer, 0, 16ull * r->c->dispatches_n);
    }
    if (r->own_fence) x->w->CommandEncoderClearBuffer(x->e, gpu_slot_of(x->g, r->fence->buffer)->buffer, 0, 4);
}

/* ------------------------------------------------------------------ a run's parts */

static queries *take_queries(gr_gpu_commands *c, gr_diags *d) {
    if (c->idle) {
        queries *q = c->idle;
        c->idle = q->next;
        return q;
    }
    uint32_t n = 2 * c->dispatches_n, sets = (n + QUERIES_A_SET - 1) / QUERIES_A_SET;
    queries *q = gr_heap_alloc(1, sizeof *q);
    WGPUQuerySet *set = gr_heap_alloc(sets, sizeof *set);
    if (!q || !set) {
        gr_heap_free(q);
        gr_heap_free(set);
        gr_report_oom(d);
        return NULL;
    }
    q->set = set;
    for (; q->sets_n < sets; q->sets_n++) {
        uint32_t left = n - q->sets_n * QUERIES_A_SET;
        set[q->sets_n] = c->g->lib.fn.DeviceCreateQuerySet(
            c->g->device, &(WGPUQuerySetDescriptor){.type = WGPUQueryType_Timestamp, .count = left < QUERIES_A_SET ? left : QUERIES_A_SET});
    }
    q->resolved = gr_gpu_buffer_new(c->g, d, &(gr_gpu_buffer_desc){.name = "timestamps", .bytes = 8ull * n, .usage = GR_GPU_QUERY, .tag = GR_GPU_TAG_QUERY});
    if (q->resolved.gen) return q;
    free_queries(c->g, q);
    return NULL;
}

static bool take_parts(gr_gpu_run *r, gr_diags *d) {
    gr_gpu *g = r->g;
    for (uint32_t i = 0; r->c && i < r->c->list.n; i++) {
        const command *x = &r->c->list.v[i];
        if (x->kind != COMMAND_READ) continue;
        r->read_bytes[x->index] = x->bytes;
        r->read[x->index] = gpu_stage_take(g, d, (x->bytes + 3) / 4 * 4);
        if (!r->read[x->index]) return false;
    }
    if (r->c && r->c->timed && r->c->dispatches_n) {
        r->q = take_queries(r->c, d);
        r->times = r->q ? gpu_stage_take(g, d, 16ull * r->c->dispatches_n) : NULL;
        if (!r->times) return false;
    }
    r->fence = r->reads_n ? r->read[0] : r->times;
    if (r->fence) return true;
    r->own_fence = true;
    r->fence = gpu_stage_take(g, d, 4);
    return r->fence != NULL;
}

static void give_parts(gr_gpu_run *r) {
    for (uint32_t i = 0; i < r->reads_n; i++)
        if (r->read[i]) gpu_stage_give(r->g, r->read[i]);
    if (r->times) gpu_stage_give(r->g, r->times);
    if (r->own_fence && r->fence) gpu_stage_give(r->g, r->fence);
    if (r->q && r->c) {
        r->q->next = r->c->idle;
        r->c->idle = r->q;
    } else if (r->q)
        free_queries(r->g, r->q);
    r->q = NULL;
}

static gr_gpu_run *new_run(gr_gpu *g, gr_gpu_commands *c, gr_diags *d, uint32_t reads) {
    gr_gpu_run *r = gr_heap_alloc(1, sizeof *r);
    gpu_stage **read = gr_heap_alloc(reads ? reads : 1, sizeof *read);
    uint64_t *bytes = gr_heap_alloc(reads ? reads : 1, sizeof *bytes);
    if (!r || !read || !bytes) {
        gr_heap_free(r);
        gr_heap_free(read);
        gr_heap_free(bytes);
        gr_report_oom(d);
        return NULL;
    }
    *r = (gr_gpu_run){.g = g, .c = c, .read = read, .read_bytes = bytes, .reads_n = reads, .next = g->runs};
    g->runs = r;
    if (c) c->live_runs++;
    return r;
}

/* "despike: dispatch 0 median, dispatch 1 sub and 4 more" */
static void describe_run(gr_gpu_run *r) {
    const gr_gpu_commands *c = r->c;
    if (!c) {
        snprintf(r->doing, sizeof r->doing, "readback ticket");
        return;
    }
    int n = snprintf(r->doing, sizeof r->doing, "%s", c->name);
    uint32_t named = 0;
    for (uint32_t i = 0; i < c->list.n && named < 3; i++) {
        if (c->list.v[i].kind != COMMAND_DISPATCH || n < 0 || n >= (int)sizeof r->doing) continue;
        n += snprintf(r->doing + n, sizeof r->doing - (size_t)n, "%s dispatch %u %s", named ? "," : ":", c->list.v[i].index, c->list.v[i].name);
        named++;
    }
    if (c->dispatches_n > named && n > 0 && n < (int)sizeof r->doing)
        snprintf(r->doing + n, sizeof r->doing - (size_t)n, " and %u more", c->dispatches_n - named);
}

/* -------------------------------------------------------------------- submission */

/* Lets at most GR_GPU_IN_FLIGHT - 1 submissions remain unfinished. */
static bool make_room(gr_gpu *g, gr_diags *d) {
    for (;;) {
        uint32_t in_flight = 0;
        gr_gpu_run *oldest = NULL;
        for (gr_gpu_run *r = g->runs; r; r = r->next)
            if (r->fence && r->fence->waiting) {
                in_flight++;
                oldest = r;
            }
        if (in_flight < GR_GPU_IN_FLIGHT) return true;
        gpu_wait(g, oldest->fence->future, UINT64_MAX);
        if (oldest->fence->waiting) return gpu_settle(g, d, oldest->doing) && GR_BUG(d, "W2", "waiting for %s failed", oldest->doing);
    }
}

static void lose(gr_gpu *g) {
    g->lib.fn.DeviceDestroy(g->device);
    g->lib.fn.InstanceProcessEvents(g->instance);
}

static bool submit(gr_gpu_run *r, gr_diags *d, const command *list, uint32_t n) {
    gr_gpu *g = r->g;
    char said[1500] = "";
    if (g->debug) gpu_scope_begin(g);
    encoder x = {.g = g, .w = &g->lib.fn, .r = r};
    x.e = x.w->DeviceCreateCommandEncoder(g->device, &(WGPUCommandEncoderDescriptor){.label = gpu_viewz(r->c ? r->c->name : "read")});
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) ok = encode(&x, d, &list[i]);
    encode_end(&x);
    WGPUCommandBuffer done = x.w->CommandEncoderFinish(x.e, &(WGPUCommandBufferDescriptor){.label = gpu_viewz(r->c ? r->c->name : "read")});
    if (gpu_fault_strikes(g, GR_FAULT_LOST_BEFORE_SUBMIT)) lose(g);
    if (ok) x.w->QueueSubmit(g->queue, 1, &done);
    x.w->CommandBufferRelease(done);
    x.w->CommandEncoderRelease(x.e);
    uint32_t error = g->debug ? gpu_scope_end(g, said, sizeof said) : 0;
    if (!ok) return false;
    if (error && !g->lost) return gr_report(d, GR_D_RUN_GPU_REFUSED, (gr_place){0}, NULL, "%s: %s (invariant W3)", r->doing, said);
    GR_TRY(gpu_settle(g, d, r->doing));
    for (uint32_t i = 0; i < r->reads_n; i++) gpu_stage_map(g, r->read[i]);
    if (r->times) gpu_stage_map(g, r->times);
    if (r->own_fence) gpu_stage_map(g, r->fence);
    g->counts.submissions++;
    if (gpu_fault_strikes(g, GR_FAULT_LOST_AFTER_SUBMIT)) lose(g);
    return true;
}

gr_gpu_run *gr_gpu_submit(gr_gpu_commands *c, gr_diags *d) {
    gr_gpu *g = c->g;
    if (!gpu_usable(g, d, c->name) || !make_room(g, d)) return NULL;
    gr_gpu_run *r = new_run(g, c, d, c->reads_n);
    if (!r) return NULL;
    describe_run(r);
    if (take_parts(r, d) && submit(r, d, c->list.v, c->list.n)) return r;
    gr_gpu_run_free(r);
    return NULL;
}

gr_gpu_run *gr_gpu_read(gr_gpu *g, gr_diags *d, gr_gpu_buffer from, uint64_t offset, uint64_t bytes) {
    if (!gpu_usable(g, d, "readback ticket")) return NULL;
    if (bytes == 0 || !range_ok(g, from, offset, bytes)) {
        GR_BUG(d, "W3", "ticket for %llu bytes outside its buffer", (unsigned long long)bytes);
        return NULL;
    }
    gr_gpu_run *r = new_run(g, NULL, d, 1);
    if (!r) return NULL;
    describe_run(r);
    r->read_bytes[0] = bytes;
    r->fence = r->read[0] = gpu_stage_take(g, d, (bytes + 3) / 4 * 4);
    command copy = {.kind = COMMAND_READ, .from = from, .from_offset = offset, .bytes = bytes, .name = ""};
    if (r->fence && submit(r, d, &copy, 1)) return r;
    gr_gpu_run_free(r);
    return NULL;
}

/* ----------------------------------------------------------------------- results */

bool gr_gpu_run_done(gr_gpu_run *r) {
    if (r->fence && r->fence->waiting) gpu_wait(r->g, r->fence->future, 0);
    return !r->fence || !r->fence->waiting;
}

bool gr_gpu_run_wait(gr_gpu_run *r, gr_diags *d, double seconds) {
    uint64_t ns = seconds < 0 || seconds > 1e9 ? UINT64_MAX : (uint64_t)(seconds * 1e9);
    for (uint32_t i = 0; i < r->reads_n; i++) GR_TRY(gpu_stage_wait(r->g, d, r->read[i], ns, r->doing));
    if (r->times) GR_TRY(gpu_stage_wait(r->g, d, r->times, ns, r->doing));
    if (r->own_fence) GR_TRY(gpu_stage_wait(r->g, d, r->fence, ns, r->doing));
    GR_TRY(gpu_settle(r->g, d, r->doing));
    r->waited = true;
    return true;
}

static const void *mapped(const gr_gpu_run *r, gpu_stage *s, uint64_t bytes) {
    gpu_slot *slot = s && s->mapped ? gpu_slot_of(r->g, s->buffer) : NULL;
    return slot ? r->g->lib.fn.BufferGetConstMappedRange(slot->buffer, 0, (size_t)((bytes + 3) / 4 * 4)) : NULL;
}

const void *gr_gpu_run_data(const gr_gpu_run *r, uint32_t read, uint64_t *bytes) {
    if (!r->waited || read >= r->reads_n) return NULL;
    if (bytes) *bytes = r->read_bytes[read];
    return mapped(r, r->read[read], r->read_bytes[read]);
}

bool gr_gpu_run_time(const gr_gpu_run *r, uint32_t dispatch, uint64_t *begin, uint64_t *end) {
    if (!r->waited || !r->times || !r->c || dispatch >= r->c->dispatches_n) return false;
    const uint64_t *t = mapped(r, r->times, 16ull * r->c->dispatches_n);
    if (!t) return false;
    *begin = t[2 * dispatch];
    *end = t[2 * dispatch + 1];
    return *begin != 0 || *end != 0;
}

static void free_run_memory(gr_gpu_run *r) {
    gr_heap_free(r->read);
    gr_heap_free(r->read_bytes);
    gr_heap_free(r);
}

void gr_gpu_run_free(gr_gpu_run *r) {
    if (!r) return;
    for (gr_gpu_run **at = &r->g->runs; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    give_parts(r);
    if (r->c) r->c->live_runs--;
    free_run_memory(r);
}

/* Names what the caller did not give back; device objects go now, memory of runs after the instance. */
void gpu_commands_close(gr_gpu *g, gr_diags *leaks) {
    for (gr_gpu_run *r = g->runs; r; r = r->next)
        if (leaks) gr_report(leaks, GR_D_RUN_GPU_LEAK, (gr_place){0}, NULL, "run '%s' was not freed", r->doing);
    while (g->commands) {
        if (leaks) gr_report(leaks, GR_D_RUN_GPU_LEAK, (gr_place){0}, NULL, "commands '%s' were not freed", g->commands->name);
        gr_gpu_commands_free(g->commands);
    }
}

void gpu_runs_free(gr_gpu *g) {
    while (g->runs) {
        gr_gpu_run *next = g->runs->next;
        free_run_memory(g->runs);
        g->runs = next;
    }
}
