/* fragment.h: a fragment of an op (graph body or declared backward) placed into a graph, line by line. Private to
 * src/ladder/graph. */
#ifndef GR_GRAPH_FRAGMENT_H
#define GR_GRAPH_FRAGMENT_H

#include "ladder/graph/graph_int.h"

typedef struct gr_fragment_range { uint32_t first, n; } gr_fragment_range; /* of gr_fragment.values */

/* Names of the fragment stand for one value of `out`, or for all of a variadic operand or output. The caller sets the
 * first group; the rest is zero at first. Inner values are called "PREFIX/name", nodes "PREFIX/number". */
typedef struct gr_fragment {
    gr_arena *a, *scratch; /* of the graph; of the names */
    gr_diags *d;
    const gr_catalog *catalog;
    gr_graph *out;
    const gr_call *call;   /* parameters are evaluated over its names */
    gr_str node, prefix;   /* the calling node, for diagnostics; what inner names begin with */
    gr_place at;
    const char *what;      /* "body" or "backward", for diagnostics */
    bool shorten;          /* calls that fit one shape to another (roles) and change nothing are left out */

    gr_map names;          /* name -> entry of ranges */
    GR_VEC(gr_fragment_range) ranges;
    GR_VEC(gr_value_id) values;
} gr_fragment;

/* `name` stands for these n values of `out` from here on. False when memory fails (reported). */
bool gr_fragment_bind(gr_fragment *f, gr_str name, const gr_value_id *v, uint32_t n);
/* The values of a name; NULL when it has none. */
const gr_value_id *gr_fragment_find(const gr_fragment *f, gr_str name, uint32_t *n);
/* Copied into the graph's arena; {0} when memory fails. */
gr_str gr_fragment_inner_name(gr_fragment *f, gr_str local);
/* Appends one line to `out`, unless its condition does not hold, and binds its results. Value i is called names[i] where there is such an entry and it is
 * not empty. */
bool gr_fragment_place(gr_fragment *f, const gr_frag_node *n, uint32_t number, const gr_str *names, uint32_t names_n);
/* graph/body-type: "the WHAT of OP COMPLAINT %NAME". False always. */
bool gr_fragment_bad(gr_fragment *f, const char *complaint, gr_str name);

#endif
