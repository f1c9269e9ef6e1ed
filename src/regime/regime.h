/* regime.h: conformance of an op's kernels against its reference, on cases that its author did not choose.
 *
 * Takes a checked op, its catalog and a device (an executor with its target), gives a conformance: what was
 * run, what passed, the shrunk first failure, and a receipt when everything passed. The truth is
 * the reference (or graph body) on the oracle in bounded mode: widened r with a running error bound b. */
#ifndef GR_REGIME_H
#define GR_REGIME_H

#include "contract/contract.h"
#include "ladder/run/run.h"

#define GR_SUITE_VERSION "4" /* of cases, values and comparison: another version makes receipts stale */

/* Where kernels run. On the oracle (target.kind ORACLE) they run in the sanitizer too. */
typedef struct gr_regime_device {
    const gr_exec_api *api;
    void *device;      /* the executor's own object */
    gr_target target;
    gr_str adapter;
    bool flushes;      /* subnormals may become zero */
    bool flushes_selections; /* measured: they do in comparisons, max or min */
    const gr_eval_accuracy *accuracy; uint32_t accuracy_n; /* measured errors of builtins */
    gr_value *profile; /* for the receipt, may be NULL */
    gr_str engine;     /* version */
} gr_regime_device;

struct gr_trial; /* conform_int.h */
typedef struct gr_conform_options {
    uint32_t cases;    /* of shapes and parameters; 0: 200 */
    uint64_t elements; /* of operands and outputs over all runs; 0: 2^21 */
    const gr_op *reference; /* of the same signature: its body is the truth, to try an altered op; NULL: the op's own. No receipt then */
    bool no_shrink;         /* the first failure is told as it was met, without its numbers */
    uint64_t step_limit;    /* loop iterations of one batch of lanes of the kernel, on the oracle; 0: the evaluator's own */
    bool (*on_run)(void *user, gr_diags *d, const struct gr_trial *t, int values); void *user; /* after each run that passed; may be NULL */
} gr_conform_options;

typedef enum gr_control_state { GR_CONTROL_NONE = 0, GR_CONTROL_REJECTED, GR_CONTROL_EQUIVALENT, GR_CONTROL_ACCEPTED } gr_control_state;
typedef struct gr_control { const char *name; gr_control_state state; } gr_control;
enum { GR_CONTROLS = 5 }; /* zeros, a copy of the first operand, dropped term; ones and shifted stand in for equivalent ones */

typedef struct gr_counts { uint64_t passed, ambiguous, unresolved, out_of_domain, failed; } gr_counts; /* elements */

typedef struct gr_conformance {
    const gr_op *op;
    gr_regime_device device;
    gr_sha256 contract, reference, seed;
    gr_str *kernels; uint32_t kernels_n; /* "kernel.wgsl sha256:..." */
    uint32_t *reached;                   /* cases that took each of them */
    gr_sha256 *instantiations; uint32_t instantiations_n, instantiations_cap; /* of every WGSL text that ran, sorted */
    uint32_t cases_wanted;               /* as asked for; 200 unless fewer or more were */
    uint32_t cases, runs, skipped;       /* skipped: the target has no kernel for the dtypes */
    gr_counts counts;
    double worst;                        /* largest |y - r| over its tolerance */
    gr_control controls[GR_CONTROLS];
    bool passed, altered;                /* altered: judged by another op's body */
    gr_str reason;                       /* why not; empty when passed */
    gr_str failure;                      /* shrunk case: inputs, expected, got, bound; may be empty */
    gr_str shrunk;                       /* its dimensions and parameters on one line: "n = 3, w = 3" */
} gr_conformance;

/* False when it could not be carried out (reported). A kernel that fails is true with passed false, and the
 * diagnostic regime/not-conforming. Text lives in the arena. */
bool gr_op_conform(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, const gr_regime_device *device,
                   const gr_conform_options *o, gr_conformance *out);
void gr_conformance_print(gr_buf *out, const gr_conformance *c);
/* Everything as one JSON object; NULL when memory fails. */
gr_value *gr_conformance_value(gr_arena *a, const gr_conformance *c);
/* The oracle as a device: exact errors of its own builtins (half an ulp, f64 rounded once). */
gr_regime_device gr_regime_oracle(void);

/* The files of a new op folder: a windowed sum to start from. name is the op's name. Makes the folder; it must not exist. */
bool gr_op_scaffold(gr_diags *d, gr_str name, gr_str folder);

#endif
