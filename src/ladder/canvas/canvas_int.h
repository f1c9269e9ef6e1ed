/* canvas_int.h: what the files of this rung share. Private to src/ladder/canvas. */
#ifndef GR_CANVAS_INT_H
#define GR_CANVAS_INT_H

#include "ladder/canvas/canvas.h"

/* One scope's links resolved to node numbers. Lists by node are in the order of the document. */
typedef struct gr_canvas_index {
    gr_map ids;                   /* node id -> number (the first of equal ids) */
    uint32_t *from, *to;          /* by link; UINT32_MAX when no such node */
    uint32_t *in_first, *in;      /* links into node i: in[in_first[i] .. in_first[i + 1]] */
    uint32_t *condition;          /* by node: the node that a branch asks, or UINT32_MAX */
    uint32_t *order;              /* nodes after what they need; among ready ones the first drawn */
    uint32_t order_n;             /* less than nodes_n when there is a cycle */
} gr_canvas_index;
bool gr_canvas_index_make(gr_arena *a, const gr_canvas *c, gr_canvas_index *out); /* false when memory fails */

/* The ports that a canvas offers to the block around it: its nodes of one block, in order. */
typedef struct gr_canvas_ports { gr_map at; gr_str *ids; uint32_t n; } gr_canvas_ports;
bool gr_canvas_ports_make(gr_arena *a, const gr_canvas *c, gr_block block, gr_canvas_ports *out); /* false when memory fails */
/* train.c: the keys of train blocks, `init` of parameters and `window` of inputs; and how they are printed, each from ", " on. */
bool gr_canvas_read_train(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *o, gr_canvas_node *n);
bool gr_canvas_read_init(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *o, gr_canvas_node *n);
bool gr_canvas_read_window(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *o, gr_canvas_node *n);
bool gr_canvas_read_stream(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *o, gr_canvas_node *n); /* behind the window */
void gr_canvas_print_train(gr_buf *out, const gr_canvas_train *t);
void gr_canvas_print_init(gr_buf *out, const gr_canvas_init *i);
/* place with "/key" behind its pointer; for reports. */
gr_place gr_canvas_below(gr_arena *a, gr_place at, const char *key);

#endif
