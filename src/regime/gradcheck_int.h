/* gradcheck_int.h: what the files of gradcheck share. */
#ifndef GR_REGIME_GRADCHECK_INT_H
#define GR_REGIME_GRADCHECK_INT_H

#include "regime/gradcheck.h"
#include "regime/regime_int.h"

enum { GC_ELEMENTS = 2048 }; /* of operands and outputs of one case */

typedef enum gr_gc_role { GC_FIXED = 0, GC_CHECKED, GC_STOPPED } gr_gc_role; /* FIXED: no float */
typedef struct gr_gc_tensor { gr_gc_role role; gr_type type; uint64_t n; char name[40]; } gr_gc_tensor;

/* y = f(x) as a graph with inputs "x0".. and outputs "y0".., and its gradient with the inputs "c0".. besides and outputs "x0"..;
 * values are found by these names, since rewrites renumber them. */
typedef struct gr_gc_function {
    gr_graph forward, gradient;
    gr_gc_tensor x[RUN_TENSORS], y[RUN_TENSORS];
    uint32_t x_n, y_n;
    bool lossless; /* values of f16 have no place in it: precision that is lost shows in no derivative */
} gr_gc_function;

/* False with *why set when there is no gradient, else reported. second: f is the gradient of the call, of operands and cotangents. */
bool gr_gc_function_make(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_case *c, bool second, gr_gc_function *out, gr_str *why);

/* One of the two graphs, lowered and prepared. */
typedef struct gr_gc_side {
    gr_arena arena;
    gr_graph graph;
    gr_kernels kernels;
    gr_plan plan;
    const gr_exec_api *api;
    gr_exec *exec;
    gr_ticket ticket;
    gr_value_id x[RUN_TENSORS], c[RUN_TENSORS], out[RUN_TENSORS]; /* GR_NO_VALUE where absent */
} gr_gc_side;

typedef struct gr_gc_room { double *x[RUN_TENSORS]; } gr_gc_room; /* content by tensor; NULL for those without floats */

/* device NULL: the oracle with references. *missing as in gr_side_open. */
bool gr_gc_open(gr_gc_side *s, gr_diags *d, const gr_catalog *catalog, const gr_graph *g, const gr_regime_device *device, const gr_exec_options *o, bool *missing);
void gr_gc_close(gr_gc_side *s);
/* f32 and integer content of an input in device layout; then, on the oracle, its unrounded content. */
bool gr_gc_write(gr_gc_side *s, gr_diags *d, gr_value_id v, const gr_array *x, const double *wide);
bool gr_gc_submit(gr_gc_side *s, gr_diags *d);

/* What was wrong at a probe. */
typedef struct gr_gc_found {
    bool failed;
    bool differences;                /* it was the cross-check that disagreed */
    double expected, other, got;     /* by dual numbers, by differences, of the backward: <c, J v> */
    double error, bound;
    bool has_other;
} gr_gc_found;

typedef enum gr_gc_points { GC_NORMAL = 0, GC_SPREAD, GC_GRID, GC_POINTS } gr_gc_points;
/* How operands must be drawn so that results are finite; learned from case to case. */
typedef struct gr_gc_domain { uint8_t mode[RUN_TENSORS]; bool known; } gr_gc_domain;

/* One case opened: a point, a cotangent, a direction and what both derivatives say. */
typedef struct gr_gc_trial {
    gr_arena arena;
    gr_case c;
    gr_gc_function f;
    gr_gc_side dual, wide, back, bounded; /* bounded: opened when first asked for */
    gr_rng r;
    bool grid;
    uint64_t work;             /* of one run of the backward, in the plan's units */
    gr_array in[RUN_TENSORS];  /* by x: the point in f32, and integers */
    gr_gc_room x, g, slice, v; /* by x: point, gradient, gradient of the first slice of the cotangent, direction */
    gr_gc_room ct, y, plus;    /* by y: cotangent, result at the point, result of a step */
    uint64_t live[RUN_TENSORS];/* by y: elements that count, fewer than all where the output is bounded */
    gr_gc_room moved;          /* by x: scratch */
    double contributions;      /* sum |c_i y_i| */
    double noise;              /* what roundings in f64 may make of <c, y>; negative: not asked for yet */
    double flush;              /* 2^-50 sum |c_i|: a derivative below an f64 rounding of 1 is not told from 0 */
    uint64_t trace;            /* at the point */
    bool has_slice, moves;     /* moves: the direction is not zero */
} gr_gc_trial;

typedef enum gr_gc_opened { GC_OPEN_ERROR = 0, GC_OPEN_UNFIT, GC_OPEN_NO_GRADIENT, GC_OPEN_DONE } gr_gc_opened;
/* UNFIT: nothing to differentiate, or too much work. NO_GRADIENT says why. Close it in any case. */
gr_gc_opened gr_gc_trial_open(gr_gc_trial *t, gr_diags *d, const gr_setting *g, const gr_spec *s, bool second, gr_str *why);
void gr_gc_trial_close(gr_gc_trial *t);
uint64_t gr_gc_trial_elements(const gr_gc_trial *t); /* of checked and stopped operands */
/* Draws a point at which the result is finite, a cotangent, and runs the backward. *found is false when there was no such point. */
bool gr_gc_point(gr_gc_trial *t, gr_diags *d, gr_gc_domain *domain, gr_gc_points kind, bool *found);
/* The result and the trace at t->moved (by x), into `y`. *finite: all of it. */
bool gr_gc_forward(gr_gc_trial *t, gr_diags *d, const gr_gc_room *x, gr_gc_room *y, uint64_t *trace, bool *finite);
/* J^T c at x into `g` (by x). */
bool gr_gc_backward(gr_gc_trial *t, gr_diags *d, const gr_gc_room *x, const gr_gc_room *ct, gr_gc_room *g);

/* Fills t->noise: the running error bound of the result, which counts roundings to f32, scaled to those of f64. */
bool gr_gc_noise(gr_gc_trial *t, gr_diags *d, const gr_catalog *catalog);

/* Directions: everything; one operand; a random part of the elements; one element (of all checked and stopped in order). */
void gr_gc_direct_all(gr_gc_trial *t);
bool gr_gc_direct_operand(gr_gc_trial *t, uint32_t operand); /* false: it has no derivative */
void gr_gc_direct_part(gr_gc_trial *t);
void gr_gc_direct_element(gr_gc_trial *t, uint64_t element);
/* Judges the direction; adds to the figures of out. */
bool gr_gc_judge(gr_gc_trial *t, gr_diags *d, const gr_catalog *catalog, gr_gradcheck *out, gr_gc_found *f);
/* Of a failing trial the smallest direction that fails still, as text. */
bool gr_gc_tell(gr_gc_trial *t, gr_diags *d, const gr_catalog *catalog, gr_gc_found f, gr_buf *out);

/* The gradient graph on g->device at a normal point, against its bounded truth, class default; adds to the device's counts. */
bool gr_gc_on_device(gr_gc_trial *t, gr_diags *d, const gr_setting *g, gr_gc_domain *domain, gr_gradcheck *out, bool *failed);

static inline bool gr_gc_finite(double x) { return x - x == 0; }

#endif
