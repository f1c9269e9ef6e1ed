/* kernel.h: rung 4, KernelIR: WGSL selected or generated for every graph node, with its
 * reference beside it.
 *
 * A target says what executes: a GPU with features and limits, or the oracle. For the
 * oracle each node runs what its op names as `cpu` (or always the reference or graph in
 * reference mode). A kernel is one pass: module text, entry, bindings, grid. */
#ifndef GR_KERNEL_H
#define GR_KERNEL_H

#include "ladder/graph/graph.h"

typedef enum gr_target_kind { GR_TARGET_NONE = 0, GR_TARGET_WEBGPU, GR_TARGET_ORACLE } gr_target_kind;
typedef struct gr_target {
    gr_target_kind kind;
    bool reference;             /* ORACLE: reference or graph bodies only (conformance, --mode f64) */
    bool kernels;               /* ORACLE: what a GPU would run: a [[kernel]] or the generated map (conformance) */
    bool subgroups, shader_f16, timestamps;
    bool heavy_allowed;         /* ORACLE: the switch that allows red-heavy work */
    bool fuse;                  /* gr_graph_lower fuses maps first (opt_fuse) */
    uint64_t max_storage_binding, max_buffer, max_workgroup_storage;
    uint32_t max_groups;        /* per dimension: 65,535 */
    uint32_t max_invocations;   /* per workgroup */
    uint32_t max_storage_buffers; /* per stage */
    uint32_t subgroup_size;
    gr_str adapter;             /* printed in plans and records */
} gr_target;
gr_target gr_target_oracle(void);
gr_target gr_target_webgpu_default(void); /* the WebGPU default limits; what `plan` assumes without an adapter */

typedef enum gr_operand_kind { GR_KB_NONE = 0, GR_KB_VALUE_READ, GR_KB_VALUE_WRITE, GR_KB_VALUE_INOUT, GR_KB_SCRATCH, GR_KB_COUNT, GR_KB_UNIFORM } gr_operand_kind;
typedef struct gr_kernel_bind {
    gr_operand_kind kind;
    uint32_t group, binding;
    gr_str var;            /* WGSL variable */
    gr_value_id value;     /* VALUE_*, COUNT */
    gr_value_id result;    /* VALUE_INOUT: the result that names the updated content; GR_NO_VALUE: nothing reads it */
    bool writable;         /* declared read_write */
    uint64_t bytes;        /* SCRATCH: size; UNIFORM: size; VALUE_WRITE of a result that nothing reads (no value): size */
    uint32_t scratch;      /* SCRATCH: number shared between passes of one node */
    const uint8_t *data;   /* UNIFORM: the block's bytes */
} gr_kernel_bind;

typedef struct gr_kernel_override { gr_str name; double value; } gr_kernel_override;

typedef struct gr_kernel {
    gr_str op;              /* id@version */
    gr_str node;            /* graph node name(s) */
    uint32_t graph_node;    /* index in the graph */
    gr_str origin;          /* "kernel.wgsl", "reference.wgsl", "generated map", … */
    gr_str why;             /* "first of 2 whose dtypes and shape match"; why others were passed over */
    gr_order order;
    uint32_t module;        /* in the cache that made it */
    gr_str wgsl;            /* whole module, valid as it stands */
    gr_sha256 hash;         /* of wgsl */
    gr_str entry;
    uint32_t workgroup[3];
    gr_kernel_override *overrides; uint32_t overrides_n;
    gr_kernel_bind *binds; uint32_t binds_n;
    uint64_t grid[3];       /* workgroups before folding */
    bool linear;            /* may be folded past max_groups (pass … over …) */
    gr_value_id indirect;   /* GR_NO_VALUE unless grid comes from a count */
    uint32_t indirect_per;  /* items of the count a workgroup takes */
    gr_str reference;       /* WGSL of the reference, beside it; may be empty for graph bodies */
} gr_kernel;

typedef struct gr_kernels {
    const gr_graph *graph;  /* the graph the nodes were taken from, after expansion and fusion */
    const gr_graph *source; /* the same before fusion */
    gr_target target;
    gr_tier tier;          /* that the kernels were chosen for */
    gr_kernel *list; uint32_t n; /* in dispatch order */
} gr_kernels;

/* Whether some kernel of the node's op can run on the target in this tier; passes to opt_expand. */
bool gr_kernel_usable(const gr_target *t, gr_tier tier, const gr_call *call);
/* Whether the kernel that the call would get reads operand i (flattened) in a way that a map can be computed there (`once`), and
 * how many storage buffers the map may then read; 0: no. */
uint32_t gr_kernel_absorbs(const gr_target *t, gr_tier tier, const gr_call *call, uint32_t i);
/* Whether the call would be generated from its map body. */
bool gr_kernel_is_map(const gr_target *t, gr_tier tier, const gr_call *call);
/* Whether the target's features and the tier allow a kernel for some call. */
bool gr_kernel_allowed(const gr_target *t, gr_tier tier, const gr_kernel_decl *k);
/* Which entry of the op's kernels would be taken; -1: none of them (the generated map, a body, nothing). */
int32_t gr_kernel_which(const gr_target *t, gr_tier tier, const gr_call *call);
/* Selects or generates. Reports kernel/missing naming the op, the adapter's lack and what was considered. */
bool gr_graph_lower(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_catalog *catalog, const gr_target *t, gr_kernels *out);
/* The passes of one call, values named by their index in `values` (operands, then outputs): used by
 * gr_graph_lower and by the planner for pieces of a split. Appends to *out. */
bool gr_kernel_instantiate(gr_arena *a, gr_diags *d, const gr_call *call, const gr_target *t, gr_tier tier,
                           const gr_value_id *args, const gr_value_id *results, gr_str node, uint32_t graph_node,
                           gr_place at, gr_kernel **list, uint32_t *n);
/* The same with WGSL texts shared: every distinct text is made and parsed once, and the header of a generated
 * one names all its nodes when gr_kernel_cache_finish has filled in `wgsl` and `hash` of the list (until then they are empty). The
 * cache lives in the arena. */
typedef struct gr_kernel_cache gr_kernel_cache;
gr_kernel_cache *gr_kernel_cache_new(gr_arena *a);
bool gr_kernel_instantiate_in(gr_kernel_cache *cache, gr_arena *a, gr_diags *d, const gr_call *call, const gr_target *t, gr_tier tier,
                              const gr_value_id *args, const gr_value_id *results, gr_str node, uint32_t graph_node,
                              gr_place at, gr_kernel **list, uint32_t *n);
bool gr_kernel_cache_finish(gr_kernel_cache *cache, gr_diags *d, gr_kernel *list, uint32_t n);
bool gr_kernels_verify(gr_diags *d, const gr_kernels *k);
void gr_kernels_print(gr_buf *out, const gr_kernels *k);
bool gr_kernels_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, const gr_graph *g, gr_kernels *out);

#endif
