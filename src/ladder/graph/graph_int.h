/* graph_int.h: what the files of this rung share. Private to src/ladder/graph. */
#ifndef GR_GRAPH_INT_H
#define GR_GRAPH_INT_H

#include "ladder/graph/graph.h"

/* A name that no value has yet: `want`, or "want~2" and so on. Copied; {NULL, 0} when memory fails. */
gr_str gr_graph_unique(gr_arena *a, gr_graph *g, gr_str want);
gr_value_id gr_graph_append_value(gr_arena *a, gr_graph *g, gr_graph_value v); /* v.name as it is, unique already */
/* As gr_graph_add_node; result i is called names[i] when there is such an entry and it is not empty. */
bool gr_graph_append(gr_arena *a, gr_diags *d, gr_graph *g, const gr_op *op, const gr_value_id *args, uint32_t args_n,
                     const gr_arg *params, uint32_t params_n, gr_str node, gr_place at, const gr_str *names, uint32_t names_n, gr_value_id **results, uint32_t *results_n);
/* Copies document, demands, budgets, symbols; no values, but room for g's. False when memory fails. */
bool gr_graph_start(gr_arena *a, const gr_graph *g, gr_graph *out);
/* Copies a node whose operands stand at map[old id] in out; fills map for its results. */
bool gr_graph_copy_node(gr_arena *a, gr_graph *out, const gr_graph *g, uint32_t node, gr_value_id *map);
bool gr_graph_copy_value(gr_arena *a, gr_graph *out, const gr_graph *g, gr_value_id v, gr_value_id *map);
bool gr_graph_copy_outputs(gr_arena *a, gr_graph *out, const gr_graph *g, const gr_value_id *map);
/* Whether a value is bound to data at run time. */
static inline bool gr_graph_is_bound(gr_source s) { return s == GR_SOURCE_INPUT || s == GR_SOURCE_PARAMETER || s == GR_SOURCE_STATE; }
/* Which tensors of a call are there: an absent optional has dtype NONE. */
static inline bool gr_graph_present(const gr_type *t) { return t->dtype != GR_DTYPE_NONE; }

#endif
