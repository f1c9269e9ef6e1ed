/* uniformity.h: the graph of the uniformity analysis, shared by its two files.
 *
 * The analysis of the specification, section "Uniformity analysis": for every function a graph
 * whose nodes are control-flow points and values; an edge a -> b says "a is uniform only if b is".
 * What must be uniform may not reach the node of all that may not be. */
#ifndef GR_WGSL_UNIFORMITY_H
#define GR_WGSL_UNIFORMITY_H

#include "wgsl/wgsl_int.h"

/* Nodes that every graph has. */
enum { GR_UN_NONE = 0, GR_UN_NON_UNIFORM, GR_UN_START, GR_UN_REQUIRED_ERROR, GR_UN_REQUIRED_WARNING, GR_UN_REQUIRED_INFO, GR_UN_RETURN, GR_UN_FIRST };

enum { GR_UN_MAX_NODES = 4 << 20 }; /* a function beyond it is refused */

typedef enum gr_un_severity { GR_UN_OFF = 0, GR_UN_ERROR, GR_UN_WARNING, GR_UN_INFO } gr_un_severity;

typedef struct gr_un_edge {
    uint32_t to, next; /* next edge of the same node, index + 1 */
} gr_un_edge;

typedef struct gr_un_node {
    uint32_t edges;   /* newest first, index + 1 */
    uint32_t from;    /* visited from this node in the current traversal; 0 when not */
    uint32_t offset;  /* place in the text, for messages */
    bool branches;    /* control flow divides on this value */
    uint8_t kind;     /* what a reader is told of it: gr_un_kind */
    const void *what; /* gr_wgsl_decl * or gr_wgsl_expr * of the call */
} gr_un_node;

typedef enum gr_un_kind { GR_UN_PLAIN = 0, GR_UN_BUILTIN, GR_UN_VARIABLE, GR_UN_CALL, GR_UN_ARGUMENT, GR_UN_RESULT } gr_un_kind;

/* A parameter's demand: none, its value, or what it points to. */
typedef enum gr_un_demand { GR_UN_FREE = 0, GR_UN_VALUE, GR_UN_CONTENTS } gr_un_demand;

typedef struct gr_un_param {
    uint32_t value, contents, out; /* nodes; contents and out of pointers only */
    gr_un_demand direct;           /* what must be uniform because of a barrier or subgroup operation inside */
    gr_un_severity severity;       /* of that */
    gr_un_demand result;           /* what must be uniform for the result to be */
    bool becomes_non_uniform;      /* what it points to may be non-uniform after the call */
    uint8_t *feeds;                /* by parameter: gr_un_demand of what flows into what it points to */
} gr_un_param;

typedef struct gr_un_function {
    gr_un_severity callsite; /* calls must be in uniform control flow */
    bool result_non_uniform;
    gr_un_param *param;
    const gr_wgsl_expr *cause; /* the builtin call behind callsite or a direct demand */
} gr_un_function;

/* A loop or switch being walked. Arrays are indexed as `visible`; 0 means no node. */
typedef struct gr_un_frame {
    struct gr_un_frame *outer;
    bool is_loop;
    uint32_t outside; /* variables declared before it */
    uint32_t n;       /* length of the arrays */
    uint32_t *in, *exit;
} gr_un_frame;

typedef struct gr_un_log {
    uint32_t slot, old;
} gr_un_log;

typedef struct gr_un {
    gr_wgsl_front *f;
    gr_arena scratch; /* all that the analysis allocates; freed at its end */
    gr_wgsl_function *fn;
    gr_un_function *all, *now; /* by function index */
    GR_VEC(gr_un_node) node;
    GR_VEC(gr_un_edge) edge;
    GR_VEC(uint32_t) work;
    uint32_t *value;    /* by local slot: node of the current value */
    bool *in_scope;     /* by local slot: is in visible */
    uint32_t *then_value, *else_value; /* by local slot, zero between uses: assignments of two branches */
    bool *partial;      /* by local slot: a let that points to a part of a variable */
    GR_VEC(uint32_t) visible; /* slots of variables and pointer parameters in scope */
    GR_VEC(gr_un_log) log;    /* assignments, to undo those of a branch */
    gr_un_frame *frame;
    gr_un_severity subgroup; /* of the rule subgroup_uniformity here */
    bool failed;
} gr_un;

/* Control flow and value after an expression. */
typedef struct gr_un_pair {
    uint32_t cf, v;
} gr_un_pair;

uint32_t gr_un_new(gr_un *u, uint32_t offset);
void gr_un_add(gr_un *u, uint32_t from, uint32_t to);
void gr_un_set(gr_un *u, uint32_t slot, uint32_t node); /* assigns, with a log entry */
gr_un_pair gr_un_expr(gr_un *u, uint32_t cf, gr_wgsl_expr *e, bool load);
/* The left side of an assignment: .v is the new value's node; *slot the variable or UINT32_MAX. */
gr_un_pair gr_un_lvalue(gr_un *u, uint32_t cf, gr_wgsl_expr *e, bool partial, uint32_t *slot);
void gr_un_keep_partial(gr_un *u, const gr_wgsl_decl *d); /* a let was declared */
static inline uint32_t gr_un_required(gr_un_severity s) { return GR_UN_REQUIRED_ERROR + (uint32_t)s - 1; }
static inline bool gr_un_is_pointer(const gr_wgsl_decl *d) { return d->type->kind == GR_WT_PTR; }

#endif
