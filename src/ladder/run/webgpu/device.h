/* device.h: a WebGPU device: opening, what it can do, its errors and its loss.
 *
 * One gr_gpu is one device with its queue. Nothing is global: several may be open. A
 * gr_gpu and all that hangs from it belong to one thread; the library's callbacks run
 * inside our own calls. After run/device-lost every call on that gr_gpu fails with the
 * same name, closing it is safe, and a new one can be opened. */
#ifndef GR_RUN_WEBGPU_DEVICE_H
#define GR_RUN_WEBGPU_DEVICE_H

#include "base/diag.h"
#include "base/hash.h"

typedef struct gr_gpu gr_gpu;

typedef enum gr_gpu_type {
    GR_GPU_NO_TYPE = 0,
    GR_GPU_DISCRETE,
    GR_GPU_INTEGRATED,
    GR_GPU_CPU, /* a software adapter */
    GR_GPU_UNKNOWN,
} gr_gpu_type;
const char *gr_gpu_type_text(gr_gpu_type t); /* "discrete", "integrated", "cpu", "unknown" */

/* Bytes and counts as WebGPU names them. */
typedef struct gr_gpu_limits {
    uint64_t max_buffer, max_storage_binding, max_uniform_binding;
    uint32_t uniform_alignment, storage_alignment; /* of binding offsets */
    uint32_t max_bind_groups, max_bindings_per_group, max_storage_buffers, max_uniform_buffers, max_dynamic_uniforms;
    uint32_t max_workgroup_storage, max_invocations, max_workgroup_size[3], max_workgroups;
} gr_gpu_limits;

typedef struct gr_gpu_info {
    gr_str vendor, architecture, device, description; /* as the adapter says; may be empty */
    gr_str backend;                                   /* "vulkan", ... */
    gr_gpu_type type;
    uint32_t vendor_id, device_id;
    uint32_t subgroup_min, subgroup_max; /* 0 when the library does not say */
    bool timestamps, shader_f16, subgroups;
    gr_gpu_limits limits;
    gr_str library;  /* path of the WebGPU library */
    gr_str features; /* which numbering of feature names the library was found to use */
} gr_gpu_info;

/* All zero is the default: the fastest adapter, software only when nothing else is there. */
typedef struct gr_gpu_options {
    const char *adapter; /* part of "vendor architecture device description type", any case; NULL: the
                            environment's GRADUS_ADAPTER; "none" stands for a machine without adapters */
    bool low_power;
    bool hardware_only; /* a software adapter is run/no-adapter */
    bool debug;         /* an error scope around every submission: an error names its submission;
                            also the environment's GRADUS_GPU_DEBUG=1 */
} gr_gpu_options;

/* NULL with run/no-webgpu-library, run/no-adapter or run/device-refused. */
gr_gpu *gr_gpu_open(const gr_gpu_options *o, gr_diags *d);
/* Waits for nothing: what is in flight is dropped. Reports run/gpu-leak by name for what
 * the caller still held, into leaks (may be NULL). NULL g is fine. */
void gr_gpu_close(gr_gpu *g, gr_diags *leaks);

const gr_gpu_info *gr_gpu_get_info(const gr_gpu *g);
/* "sha256:..." of the library's file, for records; computed on first use. */
bool gr_gpu_library_hash(gr_gpu *g, gr_diags *d, gr_sha256 *out);
void gr_gpu_info_print(gr_buf *out, const gr_gpu_info *i);      /* some lines of text */
void gr_gpu_info_print_json(gr_buf *out, const gr_gpu_info *i); /* one object */

bool gr_gpu_lost(const gr_gpu *g);

/* What this machine can run on. */
typedef enum gr_gpu_outcome {
    GR_PROBE_NONE = 0,
    GR_PROBE_GPU,     /* a hardware GPU */
    GR_PROBE_CPU,     /* no GPU; the CPU executor (a software adapter is of type cpu and counts as no GPU) */
    GR_PROBE_NEITHER, /* no GPU, and the caller forbids the CPU */
} gr_gpu_outcome;
typedef struct gr_gpu_probe {
    gr_gpu_outcome outcome;
    bool software;    /* a software adapter is there; info describes it */
    gr_gpu_info info; /* when outcome is GPU or software is true; limits and features of the adapter */
    gr_str banner;    /* one line a client shows: never empty */
} gr_gpu_probe;
/* Opens no device. Text lives in the arena. False only when memory fails. */
bool gr_gpu_find(gr_arena *a, const gr_gpu_options *o, bool cpu_allowed, gr_gpu_probe *out);

/* ---- small helpers for tests and the profile --------------------------------- */

/* Whether the library accepts a module (shader module creation, no pipeline). What it says goes to d
 * as run/wgsl-rejected and run/wgsl-warning with line and column; d may be NULL. */
bool gr_gpu_check_wgsl(gr_gpu *g, gr_str name, gr_str text, gr_diags *d);

/* Also makes the pipeline of one entry point, with a layout of the library's own: what is decided only with
 * override values (array and workgroup sizes, override expressions). */
struct gr_gpu_override;
bool gr_gpu_check_entry(gr_gpu *g, gr_str name, gr_str text, gr_str entry, const struct gr_gpu_override *overrides, uint32_t overrides_n, gr_diags *d);

typedef enum gr_gpu_access { GR_GPU_NO_ACCESS = 0, GR_GPU_READ, GR_GPU_READ_WRITE, GR_GPU_UNIFORM, GR_GPU_UNIFORM_DYNAMIC } gr_gpu_access;

typedef struct gr_gpu_override {
    gr_str key; /* name, or @id as decimal text */
    double value;
} gr_gpu_override;

/* One buffer of a one-shot run: data is uploaded before, and for READ_WRITE overwritten after. */
typedef struct gr_gpu_arg {
    uint32_t group, binding;
    gr_gpu_access access; /* not UNIFORM_DYNAMIC */
    void *data;
    uint64_t bytes; /* rounded up to 4 on the device with zeros; > 0 */
} gr_gpu_arg;

/* Compiles, runs one dispatch of `grid` workgroups and reads back. Pipelines are cached
 * in g; buffers are created and freed. */
bool gr_gpu_run_wgsl(gr_gpu *g, gr_str name, gr_str text, gr_str entry, const gr_gpu_override *overrides,
                     uint32_t overrides_n, const gr_gpu_arg *args, uint32_t args_n, const uint32_t grid[3], gr_diags *d);

/* ---- fault injection (tests) ------------------------------------------------- */

typedef enum gr_gpu_fault {
    GR_FAULT_NONE = 0,
    GR_FAULT_LOST_BEFORE_SUBMIT, /* the device is destroyed before the n-th following submission */
    GR_FAULT_LOST_AFTER_SUBMIT,  /* or right after it */
    GR_FAULT_OUT_OF_MEMORY,      /* the n-th following buffer creation runs out of memory */
} gr_gpu_fault;
void gr_gpu_inject(gr_gpu *g, gr_gpu_fault fault, uint32_t nth); /* 1 = the next */

#endif
