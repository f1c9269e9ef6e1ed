/* canvas.h: rung 1, the workflow document: what a person drew.
 *
 * Takes JSON (docs/canvas.md), gives nodes, links and declarations with a place for each.
 * Knows no ops: whether an op exists, and shapes, are later rungs' business. */
#ifndef GR_CANVAS_H
#define GR_CANVAS_H

#include "base/value.h"
#include "contract/contract.h"

typedef enum gr_tier { GR_TIER_NONE = 0, GR_TIER_DEBUG, GR_TIER_PROD, GR_TIER_FAST } gr_tier;
typedef enum gr_guarantee { GR_GUARANTEE_NONE = 0, GR_GUARANTEE_CONVERGENT, GR_GUARANTEE_REPLAYABLE, GR_GUARANTEE_BITWISE } gr_guarantee;
const char *gr_tier_name(gr_tier t);
gr_tier gr_tier_find(gr_str name);
const char *gr_guarantee_name(gr_guarantee g); /* "convergent", "replayable", "bitwise_across_devices" */
gr_guarantee gr_guarantee_find(gr_str name);

/* {
 *   "gradus": "canvas/1", "name": "despike", "tier": "debug",
 *   "tolerance": "default", "guarantee": "replayable", "seed": 208,
 *   "budget": { "gpu": "256 MiB", "cpu": "1 GiB", "cpu_seconds": 60 },
 *   "nodes": [
 *     { "id": "ecg", "block": "input", "file": "data/ecg208.npy", "dtype": "f32", "shape": ["n"] },
 *     { "id": "median", "op": "user/kemal/windowed_median@1", "params": { "w": 7 } },
 *     { "id": "clean", "block": "output", "files": ["out/clean.npy", "out/despike.svg"], "plot": [...] } ],
 *   "links": [ { "from": "ecg", "to": "median.x" }, { "from": "median.y", "to": "mean.x" } ],
 *   "layout": { "ecg": [0, 0] }
 * }
 * Blocks: input, constant, parameter, output, op, repeat, branch, call. */
typedef enum gr_block {
    GR_BLOCK_NONE = 0, GR_BLOCK_INPUT, GR_BLOCK_CONSTANT, GR_BLOCK_PARAMETER, GR_BLOCK_OUTPUT, GR_BLOCK_OP,
    GR_BLOCK_REPEAT, GR_BLOCK_BRANCH, GR_BLOCK_CALL,
} gr_block;

typedef struct gr_canvas_dim { gr_str symbol; uint64_t n; bool fixed; } gr_canvas_dim;
typedef struct gr_canvas_node {
    gr_str id;
    gr_block block;
    gr_str op;                  /* OP: id as written */
    const gr_value *params;     /* object or NULL */
    gr_str file;                /* INPUT, PARAMETER: data file relative to the document; CALL: a document */
    gr_dtype dtype;             /* NONE: from the file */
    gr_canvas_dim *shape; uint32_t shape_n; bool shape_given;
    const gr_value *value;      /* CONSTANT: number or nested array */
    gr_array constant;          /* CONSTANT: value as dtype (f32, or bool for booleans, when not declared) */
    gr_str *files; uint32_t files_n; /* OUTPUT */
    const gr_value *plot;       /* OUTPUT: title, x_label, from, to, lines; checked; or NULL */
    gr_str label;               /* shown name; empty means id */
    struct gr_canvas *body, *other; /* REPEAT, BRANCH, CALL: the nested canvas(es), or NULL */
    int64_t count;              /* REPEAT */
    const gr_value *carry;      /* REPEAT: output id of the body -> input id it feeds in the next round */
    gr_str condition;           /* BRANCH: id of a node of this canvas that gives a scalar bool, or "true", "false" */
    gr_place at;
} gr_canvas_node;

typedef struct gr_canvas_link {
    gr_str from_node, from_port; /* port empty: the only output; "ys.1": the second of a variadic output */
    gr_str to_node, to_port;     /* port empty: the only operand; variadic ports repeat in order */
    gr_place at;
} gr_canvas_link;

typedef struct gr_canvas {
    gr_str document, name, description;
    gr_tier tier;                /* NONE is canvas/tier-missing, reported by gr_canvas_verify */
    gr_tolerance tolerance;      /* a demand on the result; NONE when not made */
    gr_guarantee guarantee;      /* a demand; NONE when not made */
    uint64_t seed; bool seed_given;
    uint64_t budget_gpu, budget_cpu; /* bytes; 0 when not declared */
    double budget_cpu_seconds;   /* of heavy work on the CPU; 0 when not declared */
    gr_canvas_node *nodes; uint32_t nodes_n;
    gr_canvas_link *links; uint32_t links_n;
    const gr_value *layout;      /* node id -> [x, y], for editors; or NULL */
    gr_sha256 hash;              /* of the document's RFC 8785 form */
    gr_place at, at_tier;
} gr_canvas;

enum {
    GR_CANVAS_NODES_MAX = 100000, GR_CANVAS_LINKS_MAX = 400000, /* of a document, nested canvases included */
    GR_CANVAS_ID_MAX = 64, GR_CANVAS_DEPTH_MAX = 16, GR_CANVAS_COUNT_MAX = 1000000,
    GR_CANVAS_PANELS_MAX = 32, GR_CANVAS_LINES_MAX = 64, /* of a plot */
    GR_CANVAS_ERRORS_MAX = 50, /* of one document; reading stops there */
};

/* Reads syntax, keys, words, numbers and limits. Everything lives in the arena; document and text must outlive it. */
bool gr_canvas_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, gr_canvas *out);
/* Reads the documents that call blocks name (relative to c's folder) into their bodies, and theirs in turn.
 * canvas/call-cycle, canvas/too-deep, base/file-unreadable. Nothing to do is fine. */
bool gr_canvas_load_calls(gr_arena *a, gr_diags *d, gr_canvas *c);
/* What links, ids and nesting must fulfil (README.md, C1 to C12). Reports errors only. */
bool gr_canvas_verify(gr_diags *d, const gr_canvas *c);
/* Canonical pretty JSON; parse(print(c)) prints the same. */
bool gr_canvas_print(gr_buf *out, const gr_canvas *c);
/* A JSON number, boolean or nested array as an array of dtype t (NONE: f32, or bool when all are booleans);
 * the strings "inf", "-inf", "nan" are floats too. canvas/value-bad, canvas/value-range. */
bool gr_canvas_constant(gr_arena *a, gr_diags *d, const gr_value *value, gr_dtype t, gr_place at, gr_array *out);
gr_str gr_block_name(gr_block b); /* "input" */
gr_block gr_block_find(gr_str name);
bool gr_symbol_valid(gr_str s); /* a dimension's name: a letter or _, then letters, digits and _; at most 64 */
bool gr_bytes_parse(gr_str text, uint64_t *bytes); /* "256 MiB", "1.5 GiB", "4096" */
void gr_bytes_print(gr_buf *out, uint64_t bytes);   /* "422 KiB", "1.2 MiB" */

#endif
