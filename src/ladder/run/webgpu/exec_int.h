/* exec_int.h: inside of the plan's executor on a device.
 *
 * The plan's steps are cut into segments, each one submission: one where no staging range
 * is used twice and no content passes through the host. A lane holds what a run in flight needs for
 * itself: staging buffers and the prepared commands; a second lane is made when a second run is really in flight.
 * A slot holds the results of one of the last two tickets. */
#ifndef GR_RUN_WEBGPU_EXEC_INT_H
#define GR_RUN_WEBGPU_EXEC_INT_H

#include "ladder/run/run.h"
#include "ladder/run/webgpu/gpu_int.h"

enum { EXEC_LANES = 2, EXEC_SLOTS = 2 };

struct gr_persist {
    gr_gpu *g;
    gr_gpu_buffer buffer;
    uint64_t bytes; /* as asked for */
};

typedef struct exec_host { /* content of a value in host memory, device layout */
    uint8_t *bytes;
    uint64_t n;
    uint64_t version; /* inputs: counts writes; 0 never written */
    uint64_t count;   /* bounded outputs: live elements */
    gr_host_source source; /* read in parts; bytes is NULL then */
    bool attached;    /* lives in a shared buffer: no transfer */
} exec_host;

typedef struct exec_segment {
    uint32_t first, end; /* steps */
    bool needs_host;     /* uploads what an earlier segment read back */
    uint32_t dispatches;
    uint64_t work;
} exec_segment;

typedef struct exec_lane {
    bool built;
    gpu_stage **stage;          /* by plan buffer; NULL where it is no staging buffer */
    uint32_t *pending;          /* by plan buffer: segment + 1 whose readbacks wait in it */
    gr_gpu_commands **commands; /* by segment */
    gr_gpu_run **run;           /* by segment */
    gr_ticket ticket;           /* of the run in flight; 0 idle */
} exec_lane;

typedef struct exec_slot {
    gr_ticket ticket;
    bool done, failed;
    exec_host *host; /* by graph value */
    gr_step_time *time;
    uint32_t time_n;
} exec_slot;

struct gr_exec {
    gr_arena arena;
    gr_gpu *g;
    const gr_plan *plan;
    gr_exec_options options;
    gr_gpu_buffer *buffer;             /* by plan buffer */
    bool *shared;                      /* by plan buffer: belongs to a gr_persist */
    const gr_gpu_pipeline **pipeline;  /* by plan kernel */
    uint32_t *pipeline_step;           /* by plan kernel: the step whose bindings made it */
    exec_segment *segment;
    uint32_t segments_n;
    bool *stable;                      /* by step: an upload whose target nobody else writes */
    uint64_t *uploaded;                /* by step: version of the content there */
    uint32_t *command;                 /* by step: its command in the segment's list */
    uint32_t *read;                    /* by step: number of the read, for readbacks without plan staging */
    uint32_t *count_read;              /* by graph output: read of its count in the last segment, or UINT32_MAX */
    exec_host *input;                  /* by graph value */
    exec_lane lane[EXEC_LANES];
    exec_slot slot[EXEC_SLOTS];
    gr_ticket next;
    int64_t made_bytes, peak_bytes;    /* of buffers that this exec made: now, and at most */
};

/* exec.c: what is shared from the start has no buffer of its own. */
bool exec_attach_shared(gr_exec *e, gr_diags *d);
/* exec_build.c */
bool exec_cut(gr_exec *e, gr_diags *d);                       /* segments, stable uploads */
bool exec_pipelines(gr_exec *e, gr_diags *d);
bool exec_buffers(gr_exec *e, gr_diags *d);
bool exec_lane_build(gr_exec *e, gr_diags *d, exec_lane *l);  /* staging and commands */
void exec_lane_unbuild(gr_exec *e, exec_lane *l);             /* commands only */
bool exec_is_host_input(const gr_exec *e, gr_value_id v);     /* input, parameter or constant */
void exec_trail(gr_exec *e, gr_diags *d, uint32_t step);

#endif
