#include "ladder/run/webgpu/gpu_int.h"

#include <stdio.h>

enum { IDLE_STAGES = 4, WRITE_CHUNK = 32 << 20 };

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

gpu_slot *gpu_slot_of(gr_gpu *g, gr_gpu_buffer b) {
    if (b.gen % 2 == 0 || b.slot >= g->slots_n || g->slots[b.slot].gen != b.gen) return NULL;
    return &g->slots[b.slot];
}

/* -------------------------------------------------------------------- counting */

static void count_bytes(gr_gpu_memory *m, uint64_t bytes, bool add) {
    m->now = add ? m->now + bytes : m->now - bytes;
    if (m->now > m->peak) m->peak = m->now;
}

static void account(gr_gpu *g, const gpu_slot *s, bool add) {
    count_bytes(&g->memory[s->tag], s->bytes, add);
    count_bytes(&g->memory_all, s->bytes, add);
}

gr_gpu_memory gr_gpu_memory_of(const gr_gpu *g, uint32_t tag) { return tag < GR_GPU_TAGS ? g->memory[tag] : (gr_gpu_memory){0}; }
gr_gpu_memory gr_gpu_memory_total(const gr_gpu *g) { return g->memory_all; }

void gr_gpu_memory_reset_peak(gr_gpu *g) {
    for (int i = 0; i < GR_GPU_TAGS; i++) g->memory[i].peak = g->memory[i].now;
    g->memory_all.peak = g->memory_all.now;
}

/* -------------------------------------------------------------------- creation */

static bool take_slot(gr_gpu *g, uint32_t *at) {
    if (g->free_slot) {
        *at = g->free_slot - 1;
        g->free_slot = g->slots[*at].next_free;
        return true;
    }
    if (g->slots_n == g->slots_cap) {
        uint32_t cap = g->slots_cap ? g->slots_cap * 2 : 64;
        gpu_slot *v = gr_heap_realloc(g->slots, cap, sizeof *v);
        if (!v) return false;
        memset(v + g->slots_cap, 0, (cap - g->slots_cap) * sizeof *v);
        g->slots = v;
        g->slots_cap = cap;
    }
    *at = g->slots_n++;
    return true;
}

static void drop_slot(gr_gpu *g, uint32_t at) {
    g->slots[at].buffer = NULL;
    g->slots[at].next_free = g->free_slot;
    g->free_slot = at + 1;
}

static uint64_t usage_flags(uint32_t usage) {
    uint64_t f = 0;
    if (usage & GR_GPU_STORAGE) f |= WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
    if (usage & GR_GPU_UNIFORMS) f |= WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst;
    if (usage & GR_GPU_INDIRECT) f |= WGPUBufferUsage_Indirect | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
    if (usage & GR_GPU_STAGING) f |= WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
    if (usage & GR_GPU_STAGING_UP) f |= WGPUBufferUsage_MapWrite | WGPUBufferUsage_CopySrc;
    if (usage & GR_GPU_QUERY) f |= WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc;
    return f;
}

static bool report_no_memory(gr_gpu *g, gr_diags *d, const gr_gpu_buffer_desc *desc, uint64_t bytes, const char *said) {
    gr_report(d, GR_D_RUN_GPU_OUT_OF_MEMORY, (gr_place){0}, "lower the document's GPU budget so that the planner works in pieces, or free other programs' GPU memory",
              "the GPU %.*s has no memory for buffer '%s' of %llu bytes (%llu bytes of ours exist)%s%s", GR_STR_ARG(g->info.device),
              desc->name, (unsigned long long)bytes, (unsigned long long)g->memory_all.now, said[0] ? ": " : "", said);
    return false;
}

/* Creation under error scopes: out of memory is an answer, not a surprise later. */
static WGPUBuffer create(gr_gpu *g, gr_diags *d, const gr_gpu_buffer_desc *desc, uint64_t bytes) {
    WGPUDawnFakeBufferOOMForTesting fake = {.chain = {NULL, WGPUSType_DawnFakeBufferOOMForTesting}, .fakeOOMAtDevice = 1};
    bool fail = gpu_fault_strikes(g, GR_FAULT_OUT_OF_MEMORY);
    char said[500] = "";
    gpu_scope_begin(g);
    WGPUBuffer b = g->lib.fn.DeviceCreateBuffer(
        g->device, &(WGPUBufferDescriptor){.nextInChain = fail && g->lib.dawn ? &fake.chain : NULL,
                                           .label = gpu_viewz(desc->name),
                                           .usage = usage_flags(desc->usage),
                                           .size = bytes,
                                           .mappedAtCreation = desc->data != NULL});
    uint32_t error = gpu_scope_end(g, said, sizeof said);
    if (!gpu_usable(g, d, desc->name)) {
        error = WGPUErrorType_Internal;
    } else if (error == WGPUErrorType_OutOfMemory || (fail && !g->lib.dawn)) {
        report_no_memory(g, d, desc, bytes, said);
        error = WGPUErrorType_OutOfMemory;
    } else if (error || !b) {
        gr_report(d, GR_D_RUN_GPU_REFUSED, (gr_place){0}, NULL, "buffer '%s' of %llu bytes: %s (invariant W3)", desc->name,
                  (unsigned long long)bytes, said);
        error = WGPUErrorType_Validation;
    }
    if (error && b) {
        g->lib.fn.BufferRelease(b);
        b = NULL;
    }
    return b;
}

static bool fill(gr_gpu *g, WGPUBuffer b, const gr_gpu_buffer_desc *desc, uint64_t bytes) {
    if (!desc->data) return true;
    uint8_t *p = g->lib.fn.BufferGetMappedRange(b, 0, (size_t)bytes);
    if (!p) return false;
    memcpy(p, desc->data, (size_t)desc->bytes);
    memset(p + desc->bytes, 0, (size_t)(bytes - desc->bytes));
    g->lib.fn.BufferUnmap(b);
    return true;
}

gr_gpu_buffer gr_gpu_buffer_new(gr_gpu *g, gr_diags *d, const gr_gpu_buffer_desc *desc) {
    const gr_gpu_buffer none = {0};
    if (!gpu_usable(g, d, desc->name)) return none;
    uint64_t bytes = desc->bytes > UINT64_MAX - 16 ? desc->bytes : round_up(desc->bytes ? desc->bytes : 4, desc->usage & GR_GPU_STORAGE ? 16 : 4);
    if (bytes > g->info.limits.max_buffer) {
        gr_report(d, GR_D_RUN_GPU_LIMIT, (gr_place){0}, "the planner splits tensors by their ops' split clauses",
                  "buffer '%s' of %llu bytes is over the adapter's %llu bytes a buffer", desc->name, (unsigned long long)bytes,
                  (unsigned long long)g->info.limits.max_buffer);
        return none;
    }
    uint32_t at;
    if (!take_slot(g, &at)) {
        gr_report_oom(d);
        return none;
    }
    WGPUBuffer b = create(g, d, desc, bytes);
    if (b && !fill(g, b, desc, bytes)) {
        report_no_memory(g, d, desc, bytes, "it cannot be mapped");
        g->lib.fn.BufferRelease(b);
        b = NULL;
    }
    if (!b) {
        drop_slot(g, at);
        return none;
    }
    gpu_slot *s = &g->slots[at];
    uint32_t gen = s->gen + 1;
    *s = (gpu_slot){.buffer = b, .bytes = bytes, .gen = gen, .usage = desc->usage, .tag = desc->tag < GR_GPU_TAGS ? desc->tag : 0};
    snprintf(s->name, sizeof s->name, "%s", desc->name);
    account(g, s, true);
    g->counts.buffers++;
    return (gr_gpu_buffer){at, gen};
}

void gr_gpu_buffer_free(gr_gpu *g, gr_gpu_buffer b) {
    gpu_slot *s = gpu_slot_of(g, b);
    if (!s) return;
    if (s->groups) gpu_groups_forget(g, b);
    account(g, s, false);
    g->lib.fn.BufferDestroy(s->buffer);
    g->lib.fn.BufferRelease(s->buffer);
    s->gen++;
    drop_slot(g, b.slot);
}

uint64_t gr_gpu_buffer_bytes(const gr_gpu *g, gr_gpu_buffer b) {
    if (b.gen % 2 == 0 || b.slot >= g->slots_n || g->slots[b.slot].gen != b.gen) return 0;
    return g->slots[b.slot].bytes;
}

bool gr_gpu_write(gr_gpu *g, gr_diags *d, gr_gpu_buffer b, uint64_t offset, const void *p, uint64_t n) {
    gpu_slot *s = gpu_slot_of(g, b);
    if (!s || offset % 4 || offset > s->bytes || n > s->bytes - offset)
        return GR_BUG(d, "W3", "write of %llu bytes at %llu into %s", (unsigned long long)n, (unsigned long long)offset,
                      s ? s->name : "a stale buffer");
    GR_TRY(gpu_usable(g, d, s->name));
    uint64_t whole = n / 4 * 4;
    for (uint64_t at = 0; at < whole; at += WRITE_CHUNK) {
        uint64_t part = whole - at < WRITE_CHUNK ? whole - at : WRITE_CHUNK;
        g->lib.fn.QueueWriteBuffer(g->queue, s->buffer, offset + at, (const uint8_t *)p + at, (size_t)part);
    }
    if (n > whole) { /* buffers are multiples of 4: the rest fits and is padded with zeros */
        uint8_t last[4] = {0};
        memcpy(last, (const uint8_t *)p + whole, (size_t)(n - whole));
        g->lib.fn.QueueWriteBuffer(g->queue, s->buffer, offset + whole, last, 4);
    }
    return true;
}

void gpu_buffers_close(gr_gpu *g, gr_diags *leaks) {
    for (gpu_stage *s = g->stages; s; s = s->next) gr_gpu_buffer_free(g, s->buffer);
    for (uint32_t i = 0; i < g->slots_n; i++) {
        gpu_slot *s = &g->slots[i];
        if (s->gen % 2 == 0) continue;
        if (leaks)
            gr_report(leaks, GR_D_RUN_GPU_LEAK, (gr_place){0}, NULL, "buffer '%s' of %llu bytes was not freed", s->name,
                      (unsigned long long)s->bytes);
        gr_gpu_buffer_free(g, (gr_gpu_buffer){i, s->gen});
    }
}

/* --------------------------------------------------------------------- staging */

static void on_map(uint32_t status, WGPUStringView message, void *u1, void *u2) {
    (void)u2;
    gpu_stage *s = u1;
    s->status = status;
    s->waiting = false;
    s->mapped = status == WGPUMapAsyncStatus_Success;
    gpu_copy_text(s->message, sizeof s->message, message);
}

/* Keeps a few idle ones for the next run; the smallest idle go first. */
static void trim(gr_gpu *g) {
    uint32_t idle = 0;
    for (gpu_stage *s = g->stages; s; s = s->next) idle += !s->busy && s->bytes > 0;
    for (gpu_stage *s = g->stages; s && idle > IDLE_STAGES; s = s->next) {
        if (s->busy || s->bytes == 0) continue;
        gr_gpu_buffer_free(g, s->buffer);
        s->bytes = 0;
        idle--;
    }
}

static gpu_stage *find_stage(gr_gpu *g, uint64_t bytes) {
    gpu_stage *empty = NULL;
    for (gpu_stage *s = g->stages; s; s = s->next) {
        if (s->busy) continue;
        if (s->bytes >= bytes && s->bytes <= bytes + bytes / 64 + 4096) return s;
        if (s->bytes == 0) empty = s;
    }
    return empty;
}

static gpu_stage *add_stage(gr_gpu *g, gr_diags *d) {
    gpu_stage *s = gr_heap_alloc(1, sizeof *s);
    if (!s) {
        gr_report_oom(d);
        return NULL;
    }
    s->next = g->stages;
    g->stages = s;
    return s;
}

gpu_stage *gpu_stage_take(gr_gpu *g, gr_diags *d, uint64_t bytes) {
    gpu_stage *s = find_stage(g, bytes);
    if (!s) s = add_stage(g, d);
    if (!s) return NULL;
    if (s->bytes == 0) {
        trim(g);
        s->buffer = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = "readback staging", .bytes = bytes, .usage = GR_GPU_STAGING, .tag = GR_GPU_TAG_STAGING});
        if (!s->buffer.gen) return NULL;
        s->bytes = bytes;
    }
    s->busy = true;
    s->up = false;
    s->status = 0;
    s->message[0] = 0;
    return s;
}

gpu_stage *gpu_stage_new(gr_gpu *g, gr_diags *d, const char *name, uint64_t bytes, bool up, uint32_t tag) {
    gpu_stage *s = add_stage(g, d);
    if (!s) return NULL;
    s->buffer = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = name, .bytes = bytes, .usage = up ? GR_GPU_STAGING_UP : GR_GPU_STAGING, .tag = tag});
    if (!s->buffer.gen) return NULL; /* an empty place in the pool remains */
    s->bytes = gr_gpu_buffer_bytes(g, s->buffer);
    s->busy = true;
    s->up = up;
    return s;
}

void gpu_stage_drop(gr_gpu *g, gpu_stage *s) {
    if (!s) return;
    gpu_stage_give(g, s);
    gr_gpu_buffer_free(g, s->buffer);
    s->bytes = 0;
}

void *gpu_stage_bytes(gr_gpu *g, gpu_stage *s) {
    gpu_slot *slot = s->mapped ? gpu_slot_of(g, s->buffer) : NULL;
    if (!slot) return NULL;
    if (s->up) return g->lib.fn.BufferGetMappedRange(slot->buffer, 0, (size_t)s->bytes);
    const void *p = g->lib.fn.BufferGetConstMappedRange(slot->buffer, 0, (size_t)s->bytes);
    return (void *)(uintptr_t)p; /* read-only by the mode of the map */
}

void gpu_stage_map(gr_gpu *g, gpu_stage *s) {
    gpu_slot *slot = gpu_slot_of(g, s->buffer);
    if (!slot) return;
    s->waiting = true;
    s->future = g->lib.fn.BufferMapAsync(slot->buffer, s->up ? WGPUMapMode_Write : WGPUMapMode_Read, 0, (size_t)s->bytes,
                                         (WGPUBufferMapCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_map, s, NULL});
}

void gpu_stage_unmap(gr_gpu *g, gpu_stage *s) {
    gpu_slot *slot = gpu_slot_of(g, s->buffer);
    if (slot && (s->mapped || s->waiting)) g->lib.fn.BufferUnmap(slot->buffer);
    if (s->waiting) gpu_wait(g, s->future, UINT64_MAX); /* unmapping settles the request at once */
    s->mapped = s->waiting = false;
}

void gpu_stage_give(gr_gpu *g, gpu_stage *s) {
    gpu_stage_unmap(g, s);
    s->busy = false;
}

bool gpu_stage_wait(gr_gpu *g, gr_diags *d, gpu_stage *s, uint64_t timeout_ns, const char *doing) {
    if (s->waiting && !gpu_wait(g, s->future, timeout_ns) && s->waiting) {
        GR_TRY(gpu_settle(g, d, doing));
        gr_report(d, GR_D_RUN_GPU_TIMEOUT, (gr_place){0}, NULL, "the GPU did not finish within %.3f s", (double)timeout_ns * 1e-9);
        if (doing) gr_report_trail(d, "%s", doing);
        return false;
    }
    if (s->mapped) return true;
    GR_TRY(gpu_settle(g, d, doing));
    return gr_report(d, GR_D_RUN_GPU_REFUSED, (gr_place){0}, NULL, "readback for %s: %s (invariant W3)", doing ? doing : "a ticket",
                     s->message);
}

void gpu_stages_free(gr_gpu *g) {
    while (g->stages) {
        gpu_stage *next = g->stages->next;
        gr_heap_free(g->stages);
        g->stages = next;
    }
}
