/* pool.h: runs the workgroups of one dispatch on several threads (one in wasm). */
#ifndef GR_ORACLE_POOL_H
#define GR_ORACLE_POOL_H

#include "wgsl/eval.h"

/* Threads to use when `wanted` is 0: all processors, at most 64. */
uint32_t gr_pool_threads(uint32_t wanted);

/* The states of one dispatch, one a thread; state[0] always exists. */
typedef struct gr_pool_job {
    gr_eval_state **state;
    uint32_t threads;
    uint32_t batch;        /* workgroups run together; ranges are multiples of it */
} gr_pool_job;

/* Runs workgroups [first, first + count). Each thread reports into its own sink; the first
 * complaint by thread number is moved to d. False when any was an error. */
bool gr_pool_run(gr_pool_job *job, gr_diags *d, uint64_t first, uint64_t count);

#endif
