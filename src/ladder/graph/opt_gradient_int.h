/* opt_gradient_int.h: what the files of the gradient share. */
#ifndef GR_GRAPH_OPT_GRADIENT_INT_H
#define GR_GRAPH_OPT_GRADIENT_INT_H

#include "ladder/graph/fragment.h"

/* What is known of one value of the new graph. */
typedef struct gr_gradient_track {
    bool active;           /* a float that depends on a parameter */
    gr_value_id from;      /* active: the operand through which it does, GR_NO_VALUE for a parameter itself */
    gr_value_id cotangent; /* sum of the contributions so far, GR_NO_VALUE for none */
    gr_value_id via;       /* the value through which the first contribution came, GR_NO_VALUE for a seed */
} gr_gradient_track;

typedef struct gr_gradient {
    gr_arena *a, *keep, *scratch; /* of the new graph; of this pass; of the node that is walked */
    gr_diags *d;
    const gr_catalog *catalog;
    const gr_graph *g;
    gr_graph *out;
    GR_VEC(gr_gradient_track) track; /* by value of out */
} gr_gradient;

/* Appends a call of the role's provider. graph/role-missing when nothing claims the role. */
bool gr_gradient_call(gr_gradient *x, gr_role role, const gr_value_id *args, uint32_t args_n, const gr_arg *params, uint32_t params_n,
                      gr_str node, gr_place at, gr_str name, gr_value_id *out);
/* A tensor of one number with the type of `like` (role fill). */
bool gr_gradient_fill(gr_gradient *x, gr_value_id like, double number, gr_str node, gr_place at, gr_str name, gr_value_id *out);
/* x summed down to the shape of `like` (role sum_to_shape); x itself where it has that shape. */
bool gr_gradient_sum_to(gr_gradient *x, gr_value_id v, gr_value_id like, gr_str node, gr_place at, gr_value_id *out);
/* Adds v to the cotangent of `to`, for which it came through the value `via`. */
bool gr_gradient_contribute(gr_gradient *x, gr_value_id to, gr_value_id v, gr_value_id via, gr_str node, gr_place at);
static inline bool gr_gradient_wanted(const gr_gradient *x, gr_value_id v) { return v != GR_NO_VALUE && x->track.v[v].active; }
static inline gr_value_id gr_gradient_of(const gr_gradient *x, gr_value_id v) { return v == GR_NO_VALUE ? GR_NO_VALUE : x->track.v[v].cotangent; }
bool gr_gradient_stopped(const gr_call *c, uint32_t arg); /* the op declares that no gradient flows to this argument */
/* Makes room for values that were appended, and finds which of the nodes from `first` on depend on a parameter. */
bool gr_gradient_follow(gr_gradient *x, uint32_t first);
/* Walks back over nodes [first, last) of out. depth: how many bodies it is inside. */
bool gr_gradient_walk(gr_gradient *x, uint32_t first, uint32_t last, int depth);
/* graph/not-differentiable at a node, for the operand value `to`: path and reason. False always. */
bool gr_gradient_refuse(gr_gradient *x, uint32_t node, gr_value_id to, gr_str reason);
/* The gradient of a composed map body, operand by operand. */
bool gr_gradient_map(gr_gradient *x, uint32_t node);

#endif
