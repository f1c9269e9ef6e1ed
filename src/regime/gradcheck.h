/* gradcheck.h: the backward of an op against derivatives of its forward, on points that its author did not choose.
 *
 * On the oracle in f64, with references and graph bodies. A probe is a point x, a direction v and a cotangent c. The
 * backward body gives g = J^T c, dual numbers give J v, and
 *     |<c, J v> - <g, v>| <= 1e-10 (sum_i |c_i (J v)_i| + sum_j |g_j v_j|) + 2^-46 sum_i |c_i y_i| + 2^-50 sum_i |c_i|
 * must hold: relative to the condition of the two sums, with some roundings of the result and an f64 rounding of 1 as the
 * floor (elements of v are at most as large as those of x, 1 where x is 0). A probe beyond it is given what roundings in f64 explain
 * besides: 64 times the result's running error bound scaled from f32 to f64 (values on the way may be larger than the result),
 * and what both sums change by when x moves by 2^-48 of itself. Central differences at h, h/2 and h/4 with two Richardson
 * steps are the cross-check, to 1e-7 and their own error; two steps that agree with each other refute a backward.
 * A kink is where the trace of branches and selections differs between x - h and x + h (or in between), or where the
 * one-sided slopes do not come nearer with h: h is made smaller from 1e-3 three times by 2^5, then the probe is skipped and counted.
 *
 * Directions are dense, dense in one operand, sparse, and of one element alone; points are normal, of wide range and on a grid with
 * zeros and ties (there skipping is expected and not held against the op); shapes and parameters are those of conformance. */
#ifndef GR_REGIME_GRADCHECK_H
#define GR_REGIME_GRADCHECK_H

#include "regime/regime.h"

#define GR_GRADCHECK_BOUND 1e-10

typedef struct gr_gradcheck_options {
    uint32_t probes; /* live ones wanted, off the grid; 0: 512 */
    uint32_t cases;  /* of shapes and parameters, at most; 0: 48 */
    uint64_t seed;   /* mixed into the op's own; 0 is the default like any other number */
    bool second;     /* of the gradient, as a function of operands and cotangents, the gradient */
    const gr_regime_device *device; /* the gradient graph runs there too, against its bounded truth; NULL or the oracle: not */
} gr_gradcheck_options;

typedef enum gr_gradcheck_state { GR_GRADCHECK_UNSET = 0, GR_GRADCHECK_PASSED, GR_GRADCHECK_FAILED, GR_GRADCHECK_NONE } gr_gradcheck_state;

/* A gradient that is wrong on purpose, judged like the right one. */
enum { GR_CORRUPT_SIGN = 0, GR_CORRUPT_SCALE, GR_CORRUPT_ZERO, GR_CORRUPT_SLICE, GR_CORRUPT_OFFSET, GR_CORRUPT_COUNT };
typedef struct gr_corruption {
    const char *name;
    uint64_t offered, rejected; /* probes at which it differs from the right one */
    double worst;               /* the largest error, relative like that of a probe */
} gr_corruption;

typedef struct gr_gradcheck {
    const gr_op *op;
    gr_gradcheck_options options; /* with the defaults filled in */
    gr_gradcheck_state state;
    gr_str reason;                /* of NONE the op's own; of FAILED */
    uint32_t cases;               /* of shape and parameters */
    uint64_t live, skipped;       /* probes off the grid; skipped at a kink */
    uint64_t grid_live, grid_skipped;
    uint64_t unresolved;          /* live, but differences did not settle: dual numbers alone judged */
    uint64_t out_of_domain;       /* points given up because the result was not finite */
    double worst_dual, worst_differences; /* |a - b| over the two sums */
    gr_corruption control[GR_CORRUPT_COUNT];
    gr_str params;                /* of the last case, "w = 7" */
    gr_str shrunk, failure;       /* smallest failing case on one line; inputs, direction, expected and got. May be empty */
    bool device_ran;              /* the gradient graph on options.device: */
    uint32_t device_cases;
    gr_counts device_counts;      /* elements of gradients, class default */
    double device_worst;          /* over the tolerance */
    gr_str adapter;
} gr_gradcheck;

/* False when it could not be carried out (reported). A wrong backward is true with FAILED, and the diagnostic
 * regime/gradcheck-failed; an op without a backward, or with `second` one whose gradient has none, is true with NONE. Text lives in the arena. */
bool gr_op_gradcheck(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, const gr_gradcheck_options *o, gr_gradcheck *out);
void gr_gradcheck_print(gr_buf *out, const gr_gradcheck *c);
/* One JSON object (docs/gradcheck.md), the receipt's "gradcheck" too. NULL when memory fails. */
gr_value *gr_gradcheck_value(gr_arena *a, const gr_gradcheck *c);

#endif
