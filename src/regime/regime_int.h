/* regime_int.h: what the files of src/regime share. */
#ifndef GR_REGIME_INT_H
#define GR_REGIME_INT_H

#include "base/rng.h"
#include "regime/regime.h"

enum { SPEC_NAMES = 24, SPEC_PARAMS = 24, SPEC_OPERANDS = 24, SPEC_LIST = 8, RUN_TENSORS = 64, FOLD_GROUPS = 8 };

/* A case as plain data, so that it can be copied, compared and shrunk. */
typedef struct gr_spec_param { bool given; int64_t i; double f; uint32_t n; int64_t li[SPEC_LIST]; } gr_spec_param;
typedef struct gr_spec {
    gr_sig_name name[SPEC_NAMES];
    uint32_t names_n;
    gr_dtype dtype[SPEC_OPERANDS]; /* by signature operand; NONE: absent */
    uint32_t many;                 /* tensors of a variadic operand */
    gr_spec_param param[SPEC_PARAMS];
    uint64_t elements;             /* of operands and outputs */
    bool fold;                     /* dispatches are folded as if the device took FOLD_GROUPS workgroups in a dimension */
} gr_spec;

/* A legal call and what it was made from. */
typedef struct gr_case { gr_call call; gr_arg *args; uint32_t args_n; } gr_case;

/* False, silently, when the spec is not a legal call. */
bool gr_spec_resolve(gr_arena *a, const gr_op *op, const gr_spec *s, gr_case *out);
bool gr_spec_legal(const gr_op *op, gr_spec *s); /* fills elements */
void gr_spec_print(gr_buf *out, const gr_op *op, const gr_spec *s);
/* Deterministic; smallest first. False when memory fails. */
bool gr_cases_make(gr_arena *a, const gr_op *op, uint64_t seed, uint32_t want, gr_spec **out, uint32_t *n);

typedef enum gr_values {
    GR_VALUES_NONE = 0, GR_VALUES_SMALL, GR_VALUES_NORMAL, GR_VALUES_TIES, GR_VALUES_SPECIAL, GR_VALUES_BITS24, GR_VALUES_CANCEL, GR_VALUES_SPREAD,
    GR_VALUES_ENDS, /* special without NaN */
    GR_VALUES_COUNT
} gr_values;
const char *gr_values_name(gr_values v);
void gr_values_fill(gr_array *x, gr_values v, gr_rng *r);
/* Which kinds of values a case runs with, small integers first. The first few cases of a kernel and dtypes that have a few elements, but
 * not many, take every kind. The others take three, in turn for each dtype. Begins as {0}. */
enum { GR_KINDS = 3, GR_KINDS_ALL = GR_VALUES_COUNT - GR_VALUES_SMALL };
typedef struct gr_kinds { uint32_t turn[GR_DTYPE_COUNT], full_n; struct { uint64_t key; uint32_t n; } full[512]; } gr_kinds;
uint32_t gr_kinds_next(gr_kinds *k, const gr_call *c, int32_t kernel, uint64_t elements, gr_values *out);

/* One call on one executor. */
typedef struct gr_side {
    gr_arena arena;
    gr_graph graph;
    gr_kernels kernels;
    gr_plan plan;
    const gr_exec_api *api;
    gr_exec *exec;
    gr_persist *in[RUN_TENSORS], *out[RUN_TENSORS]; /* attached storage; NULL where the executor keeps its own */
    gr_value_id in_value[RUN_TENSORS], out_value[RUN_TENSORS];
    uint32_t in_n, out_n;
    gr_ticket ticket;
} gr_side;

/* reference: the op whose body is the truth. */
typedef struct gr_setting {
    const gr_catalog *catalog;
    const gr_op *op, *reference;
    const gr_regime_device *device;
    uint64_t step_limit, run_limit; /* run_limit: work of the reference in f32; 0: none */
    gr_tier tier;
} gr_setting;
/* *missing: the target has no kernel for this call (nothing is reported). */
bool gr_side_open(gr_side *s, gr_diags *d, const gr_setting *g, const gr_case *c, const gr_target *t, const gr_exec_api *api, void *device,
                  const gr_exec_options *o, bool attach, bool *missing);
void gr_side_close(gr_side *s);
/* Runs on these operands with storage of outputs poisoned; fills out (allocated, one an output). changed: "in" operand that differs afterwards, else -1. */
bool gr_side_run(gr_side *s, gr_diags *d, const gr_array *in, uint8_t poison, gr_array *out, int *changed, bool *fence_broken);

/* What is true of one output. */
/* r: the widened reference, b its bound, c the sum of absolute contributions, mark: ambiguous. For 64-bit integers, marks are
 * `step` apart. leaves, where not NULL: partial results in another order may leave the range of the dtype. */
typedef struct gr_truth { gr_array expected, f32; const double *r, *b, *c; const uint8_t *mark; uint8_t *leaves; uint32_t step; } gr_truth;
typedef struct gr_judge { /* how to compare */
    const gr_op *op;
    double factor;    /* 1, or 2 for an unordered kernel in the tier fast */
    bool strict;      /* non-finite classes must agree: the oracle keeps IEEE; a GPU need not */
    bool integral;    /* operands hold small integers and the op is closed over them: nothing is tolerated */
    bool flushes, selects_zero, has_special, has_nan, has_subnormal; /* selects_zero: subnormals count as 0 in comparisons too */
} gr_judge;
typedef enum gr_closed { GR_CLOSED_UNKNOWN = 0, GR_CLOSED, GR_CLOSED_NOT } gr_closed;
gr_closed gr_truth_closed(const gr_truth *t);

typedef struct gr_fault { bool found; uint64_t at; double tolerance; } gr_fault;
/* Adds to counts; the first failing element to fault. */
void gr_compare(const gr_judge *j, const gr_truth *t, const gr_array *got, gr_counts *counts, double *worst, gr_fault *fault);

#endif
