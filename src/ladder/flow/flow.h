/* flow.h: rung 2, BlockIR: a typed program of blocks in order.
 *
 * Takes a canvas, gives one sequence per scope: every step after what it needs, ports
 * resolved against op signatures, control flow as nested sequences. */
#ifndef GR_FLOW_H
#define GR_FLOW_H

#include "contract/contract.h"
#include "ladder/canvas/canvas.h"

typedef struct gr_flow_value { gr_str name; gr_str node, port; } gr_flow_value; /* %name, made by node.port */
typedef uint32_t gr_flow_ref; /* index into values; UINT32_MAX: absent optional operand */

typedef struct gr_flow_seq gr_flow_seq;
typedef struct gr_flow_step {
    gr_block kind;
    gr_str node;                 /* canvas node id */
    gr_str op_id;                /* as resolved: id@version */
    const gr_op *op;             /* OP */
    gr_flow_ref *args; uint32_t args_n;       /* OP: flattened by operand order; OUTPUT: one */
    uint32_t *arg_first;         /* OP: start of each signature operand, operands_n + 1 entries */
    gr_flow_ref *results; uint32_t results_n;
    const gr_value *params;      /* as written, or NULL */
    const gr_canvas_node *source;
    gr_flow_seq *body, *other;   /* REPEAT, BRANCH, CALL; other: BRANCH */
    gr_str *ports;               /* REPEAT, BRANCH, CALL: by argument, the input of the body that it feeds */
    gr_str *outs;                /* REPEAT, BRANCH, CALL: by result, the output of the body that it is */
    int64_t count;               /* REPEAT */
    uint32_t *carry;             /* REPEAT: by result, the argument that it replaces in the next round, or UINT32_MAX */
    gr_flow_ref condition;       /* BRANCH: the value asked, UINT32_MAX for a literal */
    bool taken;                  /* BRANCH: the literal */
    gr_place at;
} gr_flow_step;
struct gr_flow_seq { gr_flow_step *steps; uint32_t steps_n; };

typedef struct gr_flow {
    gr_str document, name;
    gr_tier tier; gr_tolerance tolerance; gr_guarantee guarantee;
    uint64_t seed, budget_gpu, budget_cpu;
    double budget_cpu_seconds;
    gr_flow_value *values; uint32_t values_n;
    gr_flow_seq main;
} gr_flow;

enum { GR_FLOW_NONE = 0xffffffffu };

/* Verifies the canvas, then lowers it; called documents must have been loaded. Names of nodes in a
 * nested canvas are paths: "loop/step", "choice/then/step". Tier, tolerance and guarantee are the
 * strictest of the document and those it calls.
 * Stable order: among ready steps the one drawn first. Reports canvas/cycle with the path,
 * unknown ops with the nearest name, ports that do not exist, operands left open. */
bool gr_canvas_lower(gr_arena *a, gr_diags *d, const gr_canvas *c, const gr_catalog *catalog, gr_flow *out);
bool gr_flow_verify(gr_diags *d, const gr_flow *f);
void gr_flow_print(gr_buf *out, const gr_flow *f);
/* ops are looked up in the catalog. */
bool gr_flow_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, const gr_catalog *catalog, gr_flow *out);

#endif
