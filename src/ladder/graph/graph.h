/* graph.h: rung 3, the tensor graph: typed values and op calls, in order.
 *
 * Takes a flow and the types of its inputs, gives a straight list of nodes with inferred
 * types. Graph bodies of ops are expanded where no kernel applies (opt_expand), dead nodes and common
 * subexpressions are removed, shapes are concrete with their symbols kept. */
#ifndef GR_GRAPH_H
#define GR_GRAPH_H

#include "contract/contract.h"
#include "ladder/flow/flow.h"

typedef uint32_t gr_value_id; /* index into values */
enum { GR_NO_VALUE = 0xffffffffu, GR_FUSED = 0xffffffffu };

typedef enum gr_source { GR_SOURCE_NONE = 0, GR_SOURCE_INPUT, GR_SOURCE_PARAMETER, GR_SOURCE_CONSTANT, GR_SOURCE_NODE, GR_SOURCE_STATE } gr_source;

typedef struct gr_graph_value {
    gr_str name;      /* without %: unique in the graph */
    gr_type type;
    gr_source source;
    gr_str input;     /* INPUT, PARAMETER, STATE (of an optimizer): canvas node id, bound to data at run time */
    bool on_disk;     /* INPUT: its data stays in a file and is read in parts */
    gr_array constant; /* CONSTANT: data in the graph's arena */
    uint32_t node;    /* NODE: index of the producer */
    uint32_t result;  /* NODE: which of its outputs; GR_FUSED: computed inside the node and stored nowhere */
} gr_graph_value;

typedef struct gr_graph_node {
    gr_call call;               /* op, params, operand and output types */
    gr_value_id *args;          /* call.operands_n of them; GR_NO_VALUE for an absent optional */
    gr_value_id *results;       /* call.outputs_n */
    gr_str node;                /* canvas node it comes from; inside an expanded body "mean/1", of a repeat "loop/0/step" */
    gr_str *also; uint32_t also_n; /* further nodes that opt_common found to be the same */
    bool backward;              /* part of a backward pass: made by opt_gradient */
    uint32_t again;             /* 0, or the number of a recomputation: opt_common merges no calls that differ in it */
    gr_str apart;               /* opt_fuse: which operands were not computed inside the node, and why; empty: none */
    gr_place at;
} gr_graph_node;

typedef struct gr_graph_output { gr_str name; gr_value_id value; } gr_graph_output;
typedef struct gr_graph_symbol { gr_str name; uint64_t n; } gr_graph_symbol;

typedef struct gr_graph {
    gr_str document, name;
    gr_tier tier; gr_tolerance tolerance; gr_guarantee guarantee;
    uint64_t seed, budget_gpu, budget_cpu;
    double budget_cpu_seconds;
    gr_graph_symbol *symbols; uint32_t symbols_n;
    gr_graph_value *values; uint32_t values_n;
    gr_graph_node *nodes; uint32_t nodes_n;
    gr_graph_output *outputs; uint32_t outputs_n;
    uint32_t values_cap, nodes_cap, outputs_cap; /* of the builder */
    struct gr_graph_names { gr_map at, next; uint32_t n; } names; /* value name -> value, of the first n values */
} gr_graph;

enum { GR_GRAPH_NODES_MAX = 200000, GR_GRAPH_VALUES_MAX = 1000000, GR_GRAPH_EXPAND_MAX = 32 }; /* the last: how deep graph bodies may nest */

/* Type of one flow input as found (file header) or declared. */
typedef struct gr_input_type { gr_str node; gr_type type; bool on_disk; } gr_input_type;

/* Calls are inlined, repeats unrolled, a branch on a constant takes its side; a branch on anything else is
 * flow/branch-not-static. inputs: those whose data is known, by node id, after conversion to the declared
 * dtype; the others need a declared dtype and shape. A symbol has the size of the first input that names it;
 * another size elsewhere is graph/symbol-conflict. */
bool gr_flow_lower(gr_arena *a, gr_diags *d, const gr_flow *f, const gr_catalog *catalog,
                   const gr_input_type *inputs, uint32_t inputs_n, gr_graph *out);
/* The invariants G1 to G10 of README.md: a graph that breaks one is our bug. */
bool gr_graph_verify(gr_diags *d, const gr_graph *g);
void gr_graph_print(gr_buf *out, const gr_graph *g);
/* Text as in the design page; types after ':' are checked against inference. */
bool gr_graph_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, const gr_catalog *catalog, gr_graph *out);
/* Rewrites, each gives a new graph in the arena. It shares types, parameters and constants with the old
 * one, whose arena must live as long.
 * dead: keeps what an output needs, and every input and parameter. common: equal calls of equal operands become
 * one, the names of the others are kept in `also`. */
bool gr_graph_opt_dead(gr_arena *a, gr_diags *d, const gr_graph *g, gr_graph *out);
bool gr_graph_opt_common(gr_arena *a, gr_diags *d, const gr_graph *g, gr_graph *out);
/* Expands graph bodies: of ops without a usable kernel, or of all (`all`, for the oracle). `usable` NULL: an op with
 * a [[kernel]] is usable. Bodies in bodies too, to GR_GRAPH_EXPAND_MAX. */
typedef bool gr_graph_usable_fn(void *user, const gr_graph *g, uint32_t node);
bool gr_graph_opt_expand(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_catalog *catalog,
                         bool all, gr_graph_usable_fn *usable, void *user, gr_graph *out);

/* A sum of <cotangent, value> that is differentiated. cotangent GR_NO_VALUE: ones; then value must be a float of one
 * element. Otherwise it has the type of value. Else graph/gradient-seed. */
typedef struct gr_gradient_seed { gr_value_id value, cotangent; } gr_gradient_seed;
/* Reverse mode: out is g with the backward appended; gradients[i] is the derivative of the sum over the seeds of
 * <cotangent, value> with respect to wrt[i], of wrt[i]'s type; zeros (role `fill`) where nothing reaches. Value and node
 * ids of g are the same in out; outputs are those of g (gr_graph_add_output adds gradients). Only what lies between wrt and
 * the seeds is differentiated; integers and bools carry no gradient. Contributions are added (role `accumulate`) in
 * the order of the nodes that use the value, from the last to the first. seeds, wrt and gradients are ids of g; gradients
 * has wrt_n entries.
 * graph/not-differentiable names the path from loss to parameter and the op's reason; an op without a gradient is an
 * error only where one must pass through it. */
bool gr_graph_opt_gradient(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_catalog *catalog, const gr_gradient_seed *seeds, uint32_t seeds_n,
                           const gr_value_id *wrt, uint32_t wrt_n, gr_graph *out, gr_value_id *gradients);

/* Mixed precision: calls of ops that declare mixed_precision get their f32 operands as f16, by calls of `convert` (an operand, a parameter
 * "type"); pointwise, selecting, moving and comparing calls stay in f16 behind them; every other call and every output is f32 as it was. */
bool gr_graph_opt_mixed(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_op *convert, gr_graph *out);

/* Recomputation of activations: the forward is cut into `segments` (0: the square root of its number of nodes), and what a
 * backward uses of the inside of all but the last is computed again there, from what crosses their ends. The nodes that
 * do it are copies of the forward's, marked `backward` and `again`; they give the same bits. Without a backward nothing changes. */
bool gr_graph_opt_checkpoint(gr_arena *a, gr_diags *d, const gr_graph *g, uint32_t segments, gr_graph *out);

/* Map fusion. Maps that feed each other become one node with a map body made of theirs, with one result for each value
 * that is used outside or is an output. Every expression is evaluated as it stood, so that where each operation is rounded by itself
 * (the oracle) the bits are the same. Value ids are those of g; a value that is now computed inside a node has result
 * GR_FUSED, and a scalar constant that became a parameter is no operand any more. Nodes come in an order that their operands
 * allow, each with its reasons in `apart`. */
typedef struct gr_fuse_rules {
    bool (*is_map)(void *user, const gr_graph *g, uint32_t node); /* it would be generated from its map body */
    /* How many storage buffers may stand for operand i (flattened) of a node that is no map, where the maps that feed it are computed
     * in the place of the operand; 0: it has to be stored. */
    uint32_t (*absorbs)(void *user, const gr_graph *g, uint32_t node, uint32_t i);
    void *user;
    uint32_t buffers; /* storage buffers that a kernel may bind */
} gr_fuse_rules;
bool gr_graph_opt_fuse(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_fuse_rules *rules, gr_graph *out);

/* Builder, for clients that have no canvas (op run, the trainer): types are inferred. A zeroed gr_graph with name
 * and tier set is the empty graph; names are copied and made unique ("x~2"). GR_NO_VALUE or false when
 * memory fails (or reported); a node's results are named by `node`, "node.port" when there are several. */
gr_value_id gr_graph_add_input(gr_arena *a, gr_graph *g, gr_str name, gr_type type, gr_source source);
gr_value_id gr_graph_add_constant(gr_arena *a, gr_graph *g, gr_str name, gr_array value);
bool gr_graph_add_node(gr_arena *a, gr_diags *d, gr_graph *g, const gr_op *op, const gr_value_id *args, uint32_t args_n,
                       const gr_arg *params, uint32_t params_n, gr_str node, gr_place at, gr_value_id *results /* call.outputs_n */);
bool gr_graph_add_output(gr_arena *a, gr_graph *g, gr_str name, gr_value_id value);

#endif
