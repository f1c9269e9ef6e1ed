/* loader.h: finding and binding a WebGPU library at run time.
 *
 * Search order: the file named by GRADUS_WEBGPU (nothing else is tried then), the npm
 * package that carries a prebuilt Dawn (node_modules of the executable's and the current
 * folder and of their parents, and of GRADUS_ROOT), the folder ../lib/gradus beside an installed executable,
 * then libwebgpu_dawn.so and libwgpu_native.so of the system. */
#ifndef GR_RUN_WEBGPU_LOADER_H
#define GR_RUN_WEBGPU_LOADER_H

#include "base/diag.h"
#include "base/hash.h"
#include "ladder/run/webgpu/wgpu.h"

/* The function table. */
typedef struct gr_wgpu {
#define GR_WGPU_MEMBER(name, result, parameters) result(*name) parameters;
    GR_WGPU_FUNCTIONS(GR_WGPU_MEMBER)
#undef GR_WGPU_MEMBER
} gr_wgpu;

/* A loaded library. The file stays mapped until the process ends: its threads and
 * those of the driver outlive any handle of ours. */
typedef struct gr_wgpu_lib {
    gr_wgpu fn;
    gr_str path;     /* as the loader resolved it; in the arena given to gr_wgpu_load */
    bool dawn;       /* exports Dawn's own functions: takes its chained structs */
    bool instance_features; /* exports the later way of describing an instance (gr_wgpu_create_instance) */
    bool short_entries;     /* bind group layout entries without array size: set by the device's probe */
} gr_wgpu_lib;

/* Loads into *out. run/no-webgpu-library lists every place looked at and the system's reason. */
bool gr_wgpu_load(gr_arena *a, gr_diags *d, gr_wgpu_lib *out);

/* An instance that can wait with a timeout; NULL when the library refuses. */
WGPUInstance gr_wgpu_create_instance(const gr_wgpu_lib *lib);

/* Feature numbers of one family of libraries. */
typedef struct gr_wgpu_dialect {
    const char *name;
    uint32_t core, timestamp_query, shader_f16, subgroups;
} gr_wgpu_dialect;

enum { GR_WGPU_DIALECTS = 2 };
/* Candidates, to be settled by probing a device. i < GR_WGPU_DIALECTS. */
const gr_wgpu_dialect *gr_wgpu_dialect_at(uint32_t i);

#endif
