/* The gradient of a composed map body. */
#include "ladder/graph/opt_gradient_int.h"

bool gr_gradient_map(gr_gradient *x, uint32_t node) {
    const gr_graph_node *n = &x->out->nodes[node];
    return gr_gradient_refuse(x, node, n->args[0], GR_STR("map bodies are not derived yet"));
}
