/* opt_fuse_int.h: what the fusing files of this rung share. Private to src/ladder/graph. */
#ifndef GR_GRAPH_OPT_FUSE_INT_H
#define GR_GRAPH_OPT_FUSE_INT_H

#include "ladder/graph/graph_int.h"

enum { GR_FUSE_NODES_MAX = 48, GR_FUSE_OPERANDS_MAX = 24, GR_FUSE_PARAMS_MAX = 40 };

/* Calls of maps that become one, as found: all lists are the group's own. */
typedef struct gr_fuse_group {
    const gr_graph *g;
    uint32_t node[GR_FUSE_NODES_MAX], nodes_n;               /* ascending */
    gr_value_id in[GR_FUSE_OPERANDS_MAX]; uint32_t in_n;     /* values from outside */
    gr_value_id constant[GR_FUSE_PARAMS_MAX]; uint32_t constants_n; /* scalar constants that become parameters */
    uint32_t params_n;                                       /* those and the parameters of the calls */
    gr_value_id out[GR_FUSE_NODES_MAX]; uint32_t out_n;      /* results that are stored */
} gr_fuse_group;

/* What is known of a graph. Memory from the caller's scratch. */
typedef struct gr_fuse_facts {
    uint32_t *first, *use;    /* by value: consumers are use[first[v] .. first[v + 1]) */
    bool *wanted;             /* by value: an output */
    bool *map;                /* by node: a map that may be fused */
    uint32_t *reads, *params; /* by node: a bit for each operand that its body reads, and how many parameters */
} gr_fuse_facts;
bool gr_fuse_note(gr_arena *scratch, gr_diags *d, const gr_graph *g, const gr_fuse_rules *rules, gr_fuse_facts *k);
bool gr_fuse_bounded(const gr_call *c);
/* Whether the group's operands broadcast to the shape: the signature of the fused op gives its results that one. */
bool gr_fuse_spans(const gr_graph *g, const gr_type *shape, const gr_fuse_group *f);

/* First pass (opt_fuse_read.c): operands that a kernel reads once are computed there from the maps that feed them. */
bool gr_fuse_reads_in_place(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_fuse_rules *rules, gr_graph *out);
/* Second pass (opt_fuse.c): the maps that are left, in groups. */
bool gr_fuse_groups(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_fuse_rules *rules, gr_graph *out);

/* The text that a call of a map contributes; empty where its op has no expression for these dtypes. */
gr_str gr_fuse_expr(const gr_call *c);
/* Whether the expression reads operand i of the call: it is there and named. */
bool gr_fuse_reads(const gr_call *c, gr_str expr, uint32_t i);
/* The parameters that the expression reads. */
uint32_t gr_fuse_params(const gr_call *c, gr_str expr);
/* Whether the body, with the helpers and parameters that it has, can be written into a fused one. */
bool gr_fuse_can_write(const gr_call *c);
/* Whether a value can become a parameter: a constant of one element of a dtype that a parameter holds. */
bool gr_fuse_scalar(const gr_graph_value *v);
/* An op with the group's bodies and a call of it. */
bool gr_fuse_make(gr_arena *a, gr_diags *d, const gr_fuse_group *f, gr_place at, gr_call *out);

#endif
