/* run.h: what the executors share: the interface to run an ExecPlan, host/device packing, progress.
 *
 * Takes a plan (const), gives output bytes. Decides nothing: order, buffers and grids are the plan's.
 * Both executors (run/oracle, run/webgpu) implement gr_exec_api; a prepared plan can be run again
 * and again, with up to two runs in flight. */
#ifndef GR_RUN_H
#define GR_RUN_H

#include "ladder/plan/plan.h"
#include "wgsl/eval.h"

typedef struct gr_exec gr_exec;           /* one prepared plan on one executor */
typedef struct gr_persist gr_persist;     /* a device buffer that outlives runs and is shared between plans */
typedef uint64_t gr_ticket;               /* one submitted run; 0 is none */

typedef struct gr_step_time { uint32_t step; double seconds; } gr_step_time;
/* done and total in plan work units; return false to stop the run (run/stopped). */
typedef bool gr_progress_fn(void *user, const char *node, uint64_t done, uint64_t total);

/* Content that is read in parts when an upload wants it: bytes [at, at + n) of a value in device layout, `bytes` of them in all. */
typedef struct gr_host_source {
    bool (*read)(void *user, gr_diags *d, uint64_t at, uint64_t n, void *to);
    void *user;
    uint64_t bytes;
} gr_host_source;

typedef struct gr_exec_options {
    bool timestamps;                      /* per step, where the executor can */
    gr_progress_fn *progress; void *progress_user;
    uint32_t threads;                     /* oracle: 0 = as many as processors */
    gr_persist *const *shared;            /* by graph value: as attach, before any buffer is made; NULL: none */
    bool wide;                            /* oracle: f64 (widened) evaluation; outputs then also in f64 */
    bool bounded;                         /* oracle: widened with error bounds and ambiguity marks (output_bound) */
    bool dual;                            /* oracle: widened with forward-mode derivatives (write_tangent, output_tangent) */
    bool trace;                           /* oracle, one thread: hash the branches and selections taken (trace) */
    bool sanitize;                        /* oracle: f32 with checks; a finding fails the run */
    bool reverse;                         /* oracle, with sanitize: workgroups, and the lanes of an atomic, from the last to the first */
    uint64_t step_limit;                  /* oracle: loop iterations of one batch of lanes; 0: the evaluator's own */
    uint64_t run_limit;                   /* oracle, one thread: lanes and their loop iterations of one run (work); 0: none */
    bool flush_subnormals;                /* bounded: every float operation may lose up to 2^-126 */
    bool any_order;                       /* bounded: errors hold for sums in any order */
    const gr_eval_accuracy *accuracy; uint32_t accuracy_n; /* bounded: measured errors of builtins; views outlive the exec */
} gr_exec_options;

typedef struct gr_exec_api {
    const char *name; /* "webgpu", "oracle" */
    /* device is the executor's own object (gr_gpu *, or NULL for the oracle). All buffers are created here, so
     * that running out of memory shows before the first dispatch. NULL on failure, reported. */
    gr_exec *(*prepare)(void *device, gr_diags *d, const gr_plan *p, const gr_exec_options *o);
    void (*release)(gr_exec *e); /* waits for runs in flight */
    /* Content of an input or parameter for the runs submitted from now on, in device layout
     * (gr_pack). Copied. Parameters keep it; inputs too until written again. */
    bool (*write)(gr_exec *e, gr_diags *d, gr_value_id v, const void *bytes, uint64_t n);
    /* In place of write: content is read when it is uploaded, in every run that uploads it. user outlives the exec. */
    bool (*source)(gr_exec *e, gr_diags *d, gr_value_id v, gr_host_source s);
    /* Oracle with `wide` only (NULL elsewhere): unrounded content, after write of the same value. count elements. */
    bool (*write_wide)(gr_exec *e, gr_diags *d, gr_value_id v, const double *x, uint64_t count);
    /* Uses a shared buffer as the storage of an input, parameter or output. */
    bool (*attach)(gr_exec *e, gr_diags *d, gr_value_id v, gr_persist *b);
    gr_persist *(*persist_new)(void *device, gr_diags *d, gr_str name, uint64_t bytes);
    void (*persist_free)(gr_persist *b);
    bool (*persist_write)(gr_persist *b, gr_diags *d, uint64_t offset, const void *bytes, uint64_t n);
    bool (*persist_read)(gr_persist *b, gr_diags *d, uint64_t offset, void *bytes, uint64_t n);
    /* Starts a run and returns at once; waits only when two are in flight already. */
    gr_ticket (*submit)(gr_exec *e, gr_diags *d);
    bool (*poll)(gr_exec *e, gr_ticket t);                        /* true when done */
    bool (*wait)(gr_exec *e, gr_diags *d, gr_ticket t);
    /* After wait: an output's bytes in device layout, owned by the exec until the ticket is released or
     * two further runs were submitted. *count: the live elements of a bounded output. */
    const void *(*output)(gr_exec *e, gr_ticket t, gr_value_id v, uint64_t *n, uint64_t *count);
    const double *(*output_wide)(gr_exec *e, gr_ticket t, gr_value_id v, uint64_t *n); /* NULL unless wide */
    /* Oracle with `bounded` only (NULL elsewhere): bound, sum of absolute contributions and mark of every element of an output,
     * as many as output_wide has. Marks count for integer outputs too. */
    bool (*output_bound)(gr_exec *e, gr_ticket t, gr_value_id v, const double **bound, const double **gross, const uint8_t **mark);
    /* Oracle with `dual` only (NULL elsewhere): the direction of an input, after write of the same value, which clears it; and
     * the derivative of an output along the directions of all inputs. Integers have none. */
    bool (*write_tangent)(gr_exec *e, gr_diags *d, gr_value_id v, const double *x, uint64_t count);
    const double *(*output_tangent)(gr_exec *e, gr_ticket t, gr_value_id v, uint64_t *n);
    /* Oracle with `trace` (NULL elsewhere): equal for two runs that took the same branches and made the same selections. */
    uint64_t (*trace)(gr_exec *e, gr_ticket t);
    /* Oracle with `run_limit` (NULL elsewhere): lanes and their loop iterations of the last run. */
    uint64_t (*work)(const gr_exec *e);
    uint32_t (*times)(gr_exec *e, gr_ticket t, gr_step_time *out, uint32_t max);
    void (*ticket_release)(gr_exec *e, gr_ticket t);
    uint64_t (*created_bytes)(const gr_exec *e); /* peak total of buffers really created, staging included */
} gr_exec_api;

const gr_exec_api *gr_oracle_api(void);
const gr_exec_api *gr_webgpu_api(void); /* native only */

/* Host array <-> device layout: bool, i8, u8 as one 32-bit word an element, i64/u64 as
 * (low, high) pairs, f16 packed, all padded to 4 bytes. dst has gr_type_device_bytes. */
void gr_pack(void *dst, const gr_array *src);
/* Whether that copies elements as they are. */
bool gr_pack_copies(gr_dtype t);
void gr_unpack(gr_array *dst, const void *src);

#endif
