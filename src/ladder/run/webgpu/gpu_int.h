/* gpu_int.h: inside of run/webgpu. Owners and invariants of the device layer.
 *
 * Invariants (named in diagnostics of kind bug):
 *   W1  every WebGPU object has one owner here: gr_gpu (caches, pools), a commands object or a run
 *   W2  a pointer given to a callback outlives the instance or is waited for first
 *   W4  a dispatch binds a buffer either for reading or for writing, never both (WebGPU's usage scope)
 *   W3  a command that the library refuses is our fault: everything was checked against the limits before */
#ifndef GR_RUN_WEBGPU_GPU_INT_H
#define GR_RUN_WEBGPU_GPU_INT_H

#include "ladder/run/webgpu/commands.h"
#include "ladder/run/webgpu/loader.h"

/* One buffer in the slot pool; gen is odd while it lives. */
typedef struct gpu_slot {
    WGPUBuffer buffer;
    uint64_t bytes;
    uint32_t gen, usage, tag;
    uint32_t next_free;
    uint32_t groups; /* cached bind groups that name it */
    char name[56];
} gpu_slot;

/* A staging buffer with its map state. Lives until the instance is gone (W2). */
typedef struct gpu_stage {
    gr_gpu_buffer buffer;
    uint64_t bytes;
    bool busy, mapped, waiting;
    bool up; /* mapped for writing */
    WGPUFuture future;
    uint32_t status; /* of the last map: 0 pending */
    char message[160];
    struct gpu_stage *next;
} gpu_stage;

typedef struct gpu_module {
    WGPUShaderModule module;
} gpu_module;

typedef struct gpu_group {
    WGPUBindGroup group;
    WGPUBindGroupLayout layout;
    gr_gpu_bind *binds;
    uint32_t binds_n;
    uint64_t hash;
    struct gpu_group *next; /* in its bucket */
} gpu_group;

struct gr_gpu_pipeline {
    char name[96];
    WGPUComputePipeline pipeline;
    WGPUPipelineLayout layout;
    WGPUBindGroupLayout group_layout[GR_GPU_GROUPS_MAX];
    uint32_t groups_n;
    gr_gpu_binding *bindings; /* sorted by group, binding */
    uint32_t bindings_n;
};

enum { GPU_GROUP_BUCKETS = 1024, GPU_SCOPES = 3 };

struct gr_gpu {
    gr_arena arena; /* life of the device: info, pipelines, map keys */
    gr_wgpu_lib lib;
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice device;
    WGPUQueue queue;
    gr_gpu_info info;
    bool debug, hashed;
    gr_sha256 library_hash;

    bool lost;
    uint32_t lost_reason;
    char lost_message[400];
    uint32_t errors; /* uncaptured since the last report */
    char error_message[1000];

    gpu_slot *slots;
    uint32_t slots_n, slots_cap, free_slot; /* free_slot: index + 1, 0 none */
    gr_gpu_memory memory[GR_GPU_TAGS];
    gr_gpu_memory memory_all;
    gpu_stage *stages;

    gr_map modules_by_hash, pipelines_by_hash; /* values index the vectors */
    GR_VEC(gpu_module) modules;
    GR_VEC(gr_gpu_pipeline *) pipelines;
    gpu_group *bucket[GPU_GROUP_BUCKETS];
    gr_gpu_counts counts;

    gr_gpu_commands *commands; /* all that live, for the leak report */
    gr_gpu_run *runs;          /* in flight or held */

    gr_gpu_fault fault;
    uint32_t fault_in;
};

static inline WGPUStringView gpu_view(gr_str s) { return (WGPUStringView){s.p ? s.p : "", s.n}; }
static inline WGPUStringView gpu_viewz(const char *z) { return (WGPUStringView){z, strlen(z)}; }
void gpu_copy_text(char *out, size_t cap, WGPUStringView text);

/* Waits for one future. timeout in ns; false on timeout or error. */
bool gpu_wait(gr_gpu *g, WGPUFuture f, uint64_t timeout_ns);

/* Error scopes around a piece of work. end gives the first error's type (0 none) and its text. */
void gpu_scope_begin(gr_gpu *g);
uint32_t gpu_scope_end(gr_gpu *g, char *message, size_t cap);

/* True when usable; else reports run/device-lost with what was being done. */
bool gpu_usable(gr_gpu *g, gr_diags *d, const char *doing);
/* Takes in pending callbacks, then: uncaptured errors become run/gpu-refused, loss run/device-lost. */
bool gpu_settle(gr_gpu *g, gr_diags *d, const char *doing);
bool gpu_report_lost(gr_gpu *g, gr_diags *d, const char *doing);
/* Counts down the armed fault; true when it strikes now. */
bool gpu_fault_strikes(gr_gpu *g, gr_gpu_fault fault);

/* adapter.c */
bool gpu_adapter_choose(gr_arena *a, gr_diags *d, const gr_wgpu_lib *lib, WGPUInstance instance, const gr_gpu_options *o,
                        WGPUAdapter *out, gr_gpu_info *info);
bool gpu_device_open(gr_gpu *g, gr_diags *d);
void gpu_limits_from(gr_gpu_limits *out, const WGPULimits *l);

/* buffer.c */
gpu_slot *gpu_slot_of(gr_gpu *g, gr_gpu_buffer b); /* NULL when stale */
gpu_stage *gpu_stage_take(gr_gpu *g, gr_diags *d, uint64_t bytes);
void gpu_stage_map(gr_gpu *g, gpu_stage *s);
void gpu_stage_unmap(gr_gpu *g, gpu_stage *s);
void gpu_stage_give(gr_gpu *g, gpu_stage *s); /* unmaps, back to the pool */
/* Waits for the map. False: lost, failed (reported) or run/gpu-timeout. */
bool gpu_stage_wait(gr_gpu *g, gr_diags *d, gpu_stage *s, uint64_t timeout_ns, const char *doing);
void gpu_buffers_close(gr_gpu *g, gr_diags *leaks);
/* One of the caller's own, outside the pool: up is written by the host, else read. NULL when reported. */
gpu_stage *gpu_stage_new(gr_gpu *g, gr_diags *d, const char *name, uint64_t bytes, bool up, uint32_t tag);
void gpu_stage_drop(gr_gpu *g, gpu_stage *s); /* of gpu_stage_new; NULL is fine */
void *gpu_stage_bytes(gr_gpu *g, gpu_stage *s);  /* while mapped */
void gpu_stages_free(gr_gpu *g); /* after the instance is gone */

/* pipeline.c */
bool gpu_probe_layout(gr_gpu *g); /* settles lib.short_entries; false when neither layout is taken */
WGPUBindGroup gpu_group_get(gr_gpu *g, gr_diags *d, const gr_gpu_pipeline *p, uint32_t group, const gr_gpu_bind *binds, uint32_t n);
void gpu_groups_forget(gr_gpu *g, gr_gpu_buffer b); /* drops the cached groups that name b */
void gpu_pipelines_close(gr_gpu *g);

/* commands.c */
void gpu_commands_close(gr_gpu *g, gr_diags *leaks);
void gpu_runs_free(gr_gpu *g); /* after the instance is gone */

#endif
