/* commands.h: buffers, pipelines, prepared lists of commands, and runs of them.
 *
 * A commands object is prepared once and submitted again and again; each submission is a
 * run with its own readback. Two runs may be in flight; a third submission waits for the
 * oldest. Names given here appear in errors, trails and the leak report. */
#ifndef GR_RUN_WEBGPU_COMMANDS_H
#define GR_RUN_WEBGPU_COMMANDS_H

#include "ladder/run/webgpu/device.h"

enum { GR_GPU_GROUPS_MAX = 4, GR_GPU_TAGS = 16, GR_GPU_IN_FLIGHT = 2 };

/* ---- buffers ------------------------------------------------------------------ */

/* A handle that knows when it is stale. Zero is none. */
typedef struct gr_gpu_buffer {
    uint32_t slot, gen;
} gr_gpu_buffer;

enum {
    GR_GPU_STORAGE = 1,  /* also copied from and to, written, cleared */
    GR_GPU_UNIFORMS = 2, /* uniform buffer, written */
    GR_GPU_INDIRECT = 4, /* dispatch sizes: three u32 */
    GR_GPU_STAGING = 8,  /* mapped for reading; used by the readback tickets */
    GR_GPU_QUERY = 16,   /* receives timestamps */
    GR_GPU_STAGING_UP = 32, /* mapped for writing; copied from */
};

typedef struct gr_gpu_buffer_desc {
    const char *name; /* kept, cut at 55 bytes */
    uint64_t bytes;   /* > 0; rounded up to 4 (storage to 16) */
    uint32_t usage;   /* GR_GPU_STORAGE ... */
    uint32_t tag;     /* memory class of the caller's choice, < GR_GPU_TAGS */
    const void *data; /* initial content of `bytes`, or NULL for zeros */
} gr_gpu_buffer_desc;

/* {0} with run/gpu-out-of-memory or run/gpu-limit, both naming the buffer and its size. */
gr_gpu_buffer gr_gpu_buffer_new(gr_gpu *g, gr_diags *d, const gr_gpu_buffer_desc *desc);
/* Frees device memory at once (work in flight finishes first). A zero or stale handle is ignored. */
void gr_gpu_buffer_free(gr_gpu *g, gr_gpu_buffer b);
uint64_t gr_gpu_buffer_bytes(const gr_gpu *g, gr_gpu_buffer b); /* 0 when stale */
/* Ordered before every later submission. offset and n are multiples of 4 (n is rounded up only when
 * the buffer ends there). */
bool gr_gpu_write(gr_gpu *g, gr_diags *d, gr_gpu_buffer b, uint64_t offset, const void *p, uint64_t n);

/* Bytes of buffers really created, by tag and in all, staging included. */
typedef struct gr_gpu_memory { uint64_t now, peak; } gr_gpu_memory;
gr_gpu_memory gr_gpu_memory_of(const gr_gpu *g, uint32_t tag);
gr_gpu_memory gr_gpu_memory_total(const gr_gpu *g);
void gr_gpu_memory_reset_peak(gr_gpu *g); /* peak = now */
enum { GR_GPU_TAG_STAGING = GR_GPU_TAGS - 1, GR_GPU_TAG_QUERY = GR_GPU_TAGS - 2, GR_GPU_TAG_SHOT = GR_GPU_TAGS - 3 };

/* ---- pipelines ---------------------------------------------------------------- */

typedef struct gr_gpu_pipeline gr_gpu_pipeline;

/* One binding of the explicit layout, from reflection. */
typedef struct gr_gpu_binding {
    uint32_t group, binding; /* group < GR_GPU_GROUPS_MAX */
    gr_gpu_access access;
    uint64_t min_bytes; /* least bound size; 0 leaves it to each dispatch */
} gr_gpu_binding;

typedef struct gr_gpu_pipeline_desc {
    gr_str name; /* the place of errors: "matmul@1/kernel.wgsl" */
    gr_str wgsl, entry;
    const gr_gpu_override *overrides; uint32_t overrides_n;
    const gr_gpu_binding *bindings; uint32_t bindings_n;
} gr_gpu_pipeline_desc;

/* From the cache when text, entry, overrides and bindings are the same. Owned by g. NULL with
 * run/wgsl-rejected carrying the library's line and column. */
const gr_gpu_pipeline *gr_gpu_pipeline_get(gr_gpu *g, gr_diags *d, const gr_gpu_pipeline_desc *desc);

/* ---- commands ----------------------------------------------------------------- */

typedef struct gr_gpu_commands gr_gpu_commands;
typedef struct gr_gpu_run gr_gpu_run;

typedef struct gr_gpu_bind {
    uint32_t group, binding;
    gr_gpu_buffer buffer;
    uint64_t offset, bytes; /* bytes 0: to the end of the buffer */
} gr_gpu_bind;

typedef struct gr_gpu_dispatch {
    const char *name; /* for trails and timings; copied */
    const gr_gpu_pipeline *pipeline;
    const gr_gpu_bind *binds; uint32_t binds_n; /* exactly those of the pipeline, any order */
    uint32_t grid[3];       /* a zero makes it nothing */
    gr_gpu_buffer indirect; /* not {0}: three u32 at indirect_offset decide instead */
    uint64_t indirect_offset;
} gr_gpu_dispatch;

gr_gpu_commands *gr_gpu_commands_new(gr_gpu *g, gr_diags *d, const char *name);
/* Finishes nothing: runs of it must have been freed (else they leak and are named). */
void gr_gpu_commands_free(gr_gpu_commands *c);
bool gr_gpu_add_dispatch(gr_gpu_commands *c, gr_diags *d, const gr_gpu_dispatch *x);
/* Offsets and bytes are multiples of 4. */
bool gr_gpu_add_copy(gr_gpu_commands *c, gr_diags *d, gr_gpu_buffer from, uint64_t from_offset, gr_gpu_buffer to, uint64_t to_offset, uint64_t bytes);
bool gr_gpu_add_clear(gr_gpu_commands *c, gr_diags *d, gr_gpu_buffer to, uint64_t offset, uint64_t bytes);
/* Each run reads these bytes as they are at this point of the list. *read is the number to ask the run for. */
bool gr_gpu_add_read(gr_gpu_commands *c, gr_diags *d, gr_gpu_buffer from, uint64_t offset, uint64_t bytes, uint32_t *read);
/* The number of the command added last, and leaving it out of the submissions from now on. */
uint32_t gr_gpu_commands_last(const gr_gpu_commands *c);
void gr_gpu_commands_enable(gr_gpu_commands *c, uint32_t command, bool on);
/* From now on runs measure every dispatch (no effect without the feature). */
void gr_gpu_commands_time(gr_gpu_commands *c, bool on);

/* One submission of the whole list. NULL when reported. */
gr_gpu_run *gr_gpu_submit(gr_gpu_commands *c, gr_diags *d);
/* A run that only reads: an asynchronous ticket. */
gr_gpu_run *gr_gpu_read(gr_gpu *g, gr_diags *d, gr_gpu_buffer from, uint64_t offset, uint64_t bytes);
/* Done or failed; does not block. */
bool gr_gpu_run_done(gr_gpu_run *r);
/* seconds < 0 waits without end. False: run/device-lost with the trail of what was running, run/gpu-timeout. */
bool gr_gpu_run_wait(gr_gpu_run *r, gr_diags *d, double seconds);
/* After a successful wait; valid until the run is freed. */
const void *gr_gpu_run_data(const gr_gpu_run *r, uint32_t read, uint64_t *bytes);
/* Nanoseconds on the device's clock of dispatch i of the list; false when not measured. */
bool gr_gpu_run_time(const gr_gpu_run *r, uint32_t dispatch, uint64_t *begin, uint64_t *end);
void gr_gpu_run_free(gr_gpu_run *r); /* NULL is fine */

/* What the caches did: for tests and the bench. */
typedef struct gr_gpu_counts { uint64_t modules, pipelines, pipeline_hits, groups, group_hits, submissions, buffers; } gr_gpu_counts;
gr_gpu_counts gr_gpu_get_counts(const gr_gpu *g);

#endif
