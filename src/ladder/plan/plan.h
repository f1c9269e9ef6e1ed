/* plan.h: rung 5, ExecPlan: every buffer, copy and dispatch, and the verdict before any runs.
 *
 * Takes kernels, gives a list of steps over buffers with lifetimes. Both executors run the
 * same steps; neither decides anything. A tensor over the binding limit lives in several
 * buffers (pages of equal size, the last shorter) and is worked on piece by piece
 * through the split clause of its op. */
#ifndef GR_PLAN_H
#define GR_PLAN_H

#include "ladder/kernel/kernel.h"

typedef enum gr_memory { GR_MEM_NONE = 0, GR_MEM_PARAMETERS, GR_MEM_ACTIVATIONS, GR_MEM_GRADIENTS, GR_MEM_OPTIMIZER_STATE, GR_MEM_WORKING, GR_MEM_DATA, GR_MEM_COUNT } gr_memory;
const char *gr_memory_name(gr_memory m);

typedef enum gr_buffer_kind { GR_BUFFER_NONE = 0, GR_BUFFER_STORAGE, GR_BUFFER_UNIFORM, GR_BUFFER_STAGING_UP, GR_BUFFER_STAGING_DOWN, GR_BUFFER_INDIRECT } gr_buffer_kind;
typedef uint32_t gr_buffer_id;

/* One real buffer. Reuse is settled here: two values with disjoint lives may name one buffer. */
typedef struct gr_plan_buffer {
    gr_str name;
    gr_buffer_kind kind;
    gr_memory memory;
    uint64_t bytes;
    uint32_t first, last; /* steps between which its content matters */
    bool keep;            /* parameter or state: survives the run */
} gr_plan_buffer;

/* Where a graph value lives: pages buffers [first_buffer, + pages), each page_bytes (the last may be shorter). */
typedef struct gr_plan_tensor {
    gr_value_id value;
    gr_buffer_id first_buffer;
    uint32_t pages;
    uint64_t offset;      /* in the buffer, when pages == 1 */
    uint64_t page_bytes, bytes;
    gr_buffer_id count_buffer; /* bounded tensors; else UINT32_MAX */
} gr_plan_tensor;

typedef enum gr_step_kind { GR_STEP_NONE = 0, GR_STEP_DISPATCH, GR_STEP_COPY, GR_STEP_CLEAR, GR_STEP_UPLOAD, GR_STEP_READBACK } gr_step_kind;
/* value: whose content the range holds, GR_NO_VALUE for uniforms and scratch. */
typedef struct gr_step_bind { uint32_t group, binding; gr_buffer_id buffer; uint64_t offset, bytes; bool writable, uniform; gr_value_id value; } gr_step_bind;
typedef struct gr_plan_step {
    gr_step_kind kind;
    uint32_t kernel;          /* DISPATCH: index into kernels */
    gr_step_bind *binds; uint32_t binds_n;
    uint32_t grid[3];         /* after folding */
    gr_buffer_id indirect; uint64_t indirect_offset; /* UINT32_MAX: direct */
    gr_buffer_id from, to;    /* COPY; CLEAR uses to; UPLOAD to; READBACK from */
    uint64_t from_offset, to_offset, bytes; /* COPY and host transfers; host offset (device layout) of a transfer in the
                                              unused one: UPLOAD's from_offset, READBACK's to_offset */
    gr_value_id value;        /* UPLOAD, READBACK: which graph value. With streaming it may be an intermediate one: its host
                                 array (device layout) is written by READBACK steps and read by later UPLOAD steps */
    gr_buffer_id staging;     /* UPLOAD, READBACK on a GPU: the mapped buffer to go through, else UINT32_MAX. A range of it is
                                 used again only in steps after those that used it: the executor waits in between */
    uint64_t staging_offset;
    gr_str node;              /* for trails and progress */
    uint64_t work;            /* estimated scalar operations, for progress and CPU estimates */
} gr_plan_step;

/* What moves between host and device in every run of one value that does not stay on the device, or that is read from a file. */
typedef struct gr_plan_stream {
    gr_value_id value;
    bool disk;              /* its content is read from a file: "up" bytes of it in a run */
    uint64_t up, down;      /* bytes */
    uint32_t parts;         /* transfers */
} gr_plan_stream;

typedef enum gr_verdict { GR_VERDICT_NONE = 0, GR_GREEN, GR_YELLOW, GR_RED } gr_verdict;
typedef struct gr_plan_fix { gr_str change; gr_verdict becomes; bool verified; } gr_plan_fix;

typedef struct gr_plan {
    const gr_graph *graph;
    gr_target target;
    gr_tier tier; bool tier_lowered;
    gr_guarantee guarantee;       /* given: replayable or convergent */
    gr_tolerance tolerance;       /* the demand */
    gr_str *node_class; uint32_t node_class_n; /* "median exact", by graph node */
    uint64_t peak[GR_MEM_COUNT];  /* bytes by class at the peak */
    uint64_t peak_total, budget;
    gr_verdict verdict;
    gr_diag_name *warnings; uint32_t warnings_n; /* what made it yellow or red */
    gr_plan_fix *fixes; uint32_t fixes_n;
    gr_kernel *kernels; uint32_t kernels_n;  /* unique instances incl. those of pieces */
    gr_plan_buffer *buffers; uint32_t buffers_n;
    gr_plan_tensor *tensors; uint32_t tensors_n; /* by graph value id; pages 0 when it has no storage */
    uint8_t *uniforms; uint64_t uniforms_bytes;  /* content of the one uniform buffer */
    gr_plan_step *steps; uint32_t steps_n;
    uint64_t work;                /* sum over steps */
    double cpu_seconds;           /* estimate on the oracle */
} gr_plan;

typedef struct gr_plan_options {
    gr_tier tier;          /* override of the document's, NONE = as declared; lowering warns canvas/tier-lowered */
    uint64_t budget_gpu;   /* override, 0 = as declared */
    double cpu_yellow_seconds, cpu_red_seconds; /* 0 = the defaults 10 and 120; a declared budget of CPU seconds comes first */
    bool no_fixes;         /* skip re-planning for fixes (used by itself) */
} gr_plan_options;

/* Plans, settles the verdict and, when it is red, looks for fixes. True with a red verdict too: then every
 * reason is in d, and the plan may have no steps. False when memory fails or an invariant breaks. */
bool gr_plan_make(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog,
                  const gr_plan_options *o, gr_plan *out);
bool gr_kernels_lower(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog,
                      const gr_plan_options *o, gr_plan *out);
/* Whether a parameter or state is updated in place and stays in its buffer between runs: it is neither uploaded nor read back, and
 * its output lives in the same buffer. */
bool gr_plan_is_resident(const gr_plan *p, gr_value_id v);
/* Fills *out for value v from the steps; false when v is no streamed value. */
bool gr_plan_streams(const gr_plan *p, gr_value_id v, gr_plan_stream *out);
bool gr_plan_verify(gr_diags *d, const gr_plan *p);
void gr_plan_print(gr_buf *out, const gr_plan *p);      /* as in the design page */
bool gr_plan_print_json(gr_buf *out, const gr_plan *p); /* the design page's keys */
bool gr_plan_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, const gr_kernels *k, gr_plan *out);
bool gr_plan_hash(const gr_plan *p, gr_sha256 *out);     /* of the printed text; false when memory fails */

#endif
