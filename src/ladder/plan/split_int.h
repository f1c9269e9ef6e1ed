/* split_int.h: one node cut into pieces (split.c: ranges and joins; pointwise.c: maps). */
#ifndef GR_PLAN_SPLIT_INT_H
#define GR_PLAN_SPLIT_INT_H

#include "ladder/plan/plan_int.h"

/* A node being cut; all arrays by flattened operand, then output. */
typedef struct gr_cut {
    gr_builder *b;
    uint32_t node;
    const gr_graph_node *n;
    const gr_call *c;
    uint32_t in_n, out_n;
    uint64_t limit;      /* bytes of one tensor of a piece */
    gr_type *type;       /* of the current piece */
    gr_span *span;
    gr_loc *loc;
    gr_value_id *local;  /* ids that the piece's kernels name: 0.. in the same order */
    gr_arg *args;        /* the parameters, resolved */
    gr_kernel *kernels;  /* of the current piece */
    uint32_t kernels_n;
    gr_call call;
    gr_buf *why;
} gr_cut;

/* The values that the clause gives parameters of the piece [lo, hi), into x->args. False when one has none. */
bool gr_cut_set(gr_cut *x, const gr_split *s, const gr_cut_names *names);
bool gr_cut_begin(gr_cut *x, gr_builder *b, uint32_t node, uint64_t limit, gr_buf *why);
/* Resolves and instantiates the op at x->type. IMPOSSIBLE (with the reason in why) when the op refuses these
 * shapes, gives other outputs than x->type says (check_outputs), or its grid or scratch is over a limit. Output
 * types of the piece are left in x->call. Reports nothing. */
gr_split_result gr_cut_instantiate(gr_cut *x, bool check_outputs);
/* Fetches operands, places results (unless given in out_loc), dispatches, moves results home. */
bool gr_cut_run(gr_cut *x, const gr_loc *out_loc);
uint64_t gr_element_bytes(gr_dtype t); /* in storage */
/* The piece [lo, hi) of an axis. False when it cannot be copied in whole 32-bit words or in few enough runs. */
bool gr_axis_span(const gr_type *t, uint32_t axis, uint64_t lo, uint64_t hi, gr_span *s);
gr_span gr_whole_span(const gr_type *t);
void gr_cut_why(gr_cut *x, const char *what);
gr_split_result gr_split_pointwise(gr_cut *x);
/* Any range of the elements in order; s (may be NULL) gives parameters. */
gr_split_result gr_split_flat(gr_cut *x, const gr_split *s);

#endif
