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
 * Blocks: input, constant, parameter, output, op, repeat, branch, call, train. */
typedef enum gr_block {
    GR_BLOCK_NONE = 0, GR_BLOCK_INPUT, GR_BLOCK_CONSTANT, GR_BLOCK_PARAMETER, GR_BLOCK_OUTPUT, GR_BLOCK_OP,
    GR_BLOCK_REPEAT, GR_BLOCK_BRANCH, GR_BLOCK_CALL, GR_BLOCK_TRAIN,
} gr_block;

typedef struct gr_canvas_dim { gr_str symbol; uint64_t n; bool fixed; } gr_canvas_dim;

/* What a parameter holds at first. LECUN is a normal or uniform distribution of variance 1 / fan_in, KAIMING 2 / fan_in, XAVIER
 * 2 / (fan_in + fan_out). Sources: LeCun et al., Efficient backprop, 1998; He et al., ICCV 2015; Glorot and Bengio, AISTATS 2010. */
typedef enum gr_init { GR_INIT_NONE = 0, GR_INIT_ZEROS, GR_INIT_ONES, GR_INIT_CONSTANT, GR_INIT_UNIFORM, GR_INIT_NORMAL,
                       GR_INIT_LECUN_UNIFORM, GR_INIT_LECUN_NORMAL, GR_INIT_KAIMING_UNIFORM, GR_INIT_KAIMING_NORMAL,
                       GR_INIT_XAVIER_UNIFORM, GR_INIT_XAVIER_NORMAL } gr_init;
typedef struct gr_canvas_init {
    gr_init kind;
    double a, b;          /* CONSTANT: value a; UNIFORM: low a, high b; NORMAL: mean a, deviation b */
    double gain;          /* the others: a factor of the deviation */
    double fan_in, fan_out; /* 0: by the shape */
} gr_canvas_init;

typedef enum gr_schedule { GR_SCHEDULE_NONE = 0, GR_SCHEDULE_CONSTANT, GR_SCHEDULE_STEP, GR_SCHEDULE_COSINE, GR_SCHEDULE_RAMP } gr_schedule;
/* A block of kind train: what a training loop is told. Links to it name the loss and further quantities. */
typedef struct gr_canvas_train {
    gr_str op;                   /* the optimizer, an op with an [optimizer] table */
    const gr_value *params;      /* its parameters, or NULL */
    gr_schedule schedule;
    double rate, last_rate, factor; /* COSINE and RAMP end at last_rate; STEP multiplies by factor */
    uint64_t every, warmup;      /* STEP: steps between; steps in which the rate rises from 0 */
    gr_str dimension;            /* batches are taken along it: the first dimension of inputs */
    uint64_t batch;              /* rows */
    bool in_order, drop_last;    /* not shuffled; the last batch of an epoch is left out when it is smaller */
    uint64_t epochs, steps;      /* one of both; 0 the other */
    double test;                 /* the part of the rows that is kept for evaluation, 0 to below 1 */
    bool test_last;              /* these are the last rows, not drawn ones */
    uint64_t evaluate_every;     /* epochs; 0 never */
    gr_str metric; bool greatest; /* what is watched in evaluation: a linked quantity; greatest is best */
    uint64_t patience;           /* evaluations without a better one before training stops; 0 never */
    double least;                /* what counts as better */
    uint64_t checkpoint_every;   /* steps; 0: at the end and on a stop only */
    double clip_norm, clip_value; /* gradients are held to this norm over all of them, or to this value each; 0: they are not */
    bool mixed;                  /* f16 where ops say so, with a loss scale: */
    double scale, growth, backoff; /* at first; its factor after `interval` good steps, and after a bad one */
    uint64_t interval;
    uint32_t segments;           /* of the forward that are computed again in the backward; 0 none */
} gr_canvas_train;

typedef struct gr_canvas_node {
    gr_str id;
    gr_block block;
    gr_str op;                  /* OP: id as written */
    const gr_value *params;     /* object or NULL */
    gr_str file;                /* INPUT, PARAMETER: data file relative to the document; CALL: a document */
    gr_dtype dtype;             /* NONE: from the file */
    gr_canvas_dim *shape; uint32_t shape_n; bool shape_given;
    uint64_t window, stride;    /* INPUT: the data is cut into rows of `window` elements, `stride` apart; 0: it is not */
    bool on_disk;               /* INPUT: "stream": "disk": its file is read in parts while it is used, never whole */
    gr_canvas_init init;        /* PARAMETER without a file */
    bool frozen;                /* PARAMETER: not trained */
    gr_canvas_train *train;     /* TRAIN */
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
/* What a parameter holds at first, element by element a function of the seed, the node's id and the element's number alone (Philox
 * 4x32-10), so that it depends on no order and no platform. shape must be fixed (C17). */
bool gr_canvas_initial(gr_arena *a, gr_diags *d, const gr_canvas_node *n, uint64_t seed, gr_array *out);
/* The train block of the outermost canvas, or NULL. */
const gr_canvas_node *gr_canvas_training(const gr_canvas *c);
/* The learning rate of a step, counted from 0; total: steps in all. */
double gr_canvas_rate(const gr_canvas_train *t, uint64_t step, uint64_t total);
/* A JSON number, boolean or nested array as an array of dtype t (NONE: f32, or bool when all are booleans);
 * the strings "inf", "-inf", "nan" are floats too. canvas/value-bad, canvas/value-range. */
bool gr_canvas_constant(gr_arena *a, gr_diags *d, const gr_value *value, gr_dtype t, gr_place at, gr_array *out);
gr_str gr_block_name(gr_block b); /* "input" */
gr_block gr_block_find(gr_str name);
bool gr_symbol_valid(gr_str s); /* a dimension's name: a letter or _, then letters, digits and _; at most 64 */
bool gr_bytes_parse(gr_str text, uint64_t *bytes); /* "256 MiB", "1.5 GiB", "4096" */
void gr_bytes_print(gr_buf *out, uint64_t bytes);   /* "422 KiB", "1.2 MiB" */

#endif
