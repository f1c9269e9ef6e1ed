/* onnx.h: an ONNX model as plain structs. Text and elements live in the arena that it was read into. */
#ifndef GR_IMPORT_ONNX_H
#define GR_IMPORT_ONNX_H

#include "array/array.h"

typedef enum gr_onnx_kind {
    GR_ONNX_NONE = 0, GR_ONNX_FLOAT, GR_ONNX_INT, GR_ONNX_STRING, GR_ONNX_TENSOR, GR_ONNX_GRAPH, GR_ONNX_FLOATS, GR_ONNX_INTS, GR_ONNX_STRINGS,
    GR_ONNX_OTHER, /* tensors, graphs, types: nothing that we read */
} gr_onnx_kind;

typedef struct gr_onnx_attribute {
    gr_str name;
    gr_onnx_kind kind;
    double f;
    int64_t i;
    gr_str s;
    gr_array t;
    uint32_t n; /* of the lists */
    double *floats;
    int64_t *ints;
    gr_str *strings;
} gr_onnx_attribute;

typedef struct gr_onnx_node {
    gr_str op, domain, name; /* domain: empty for the standard's own */
    gr_str *in, *out;        /* empty: left out */
    uint32_t in_n, out_n;
    gr_onnx_attribute *attributes;
    uint32_t attributes_n;
} gr_onnx_node;

/* A dimension: a size, a name, or neither. */
typedef struct gr_onnx_dim { bool known; uint64_t n; gr_str name; } gr_onnx_dim;
typedef struct gr_onnx_value {
    gr_str name;
    gr_dtype dtype; /* NONE: not said, or no type of ours */
    int32_t code;   /* the standard's number of the element type, 0 when not said */
    bool has_shape;
    uint32_t rank;
    gr_onnx_dim dims[GR_RANK_MAX];
} gr_onnx_value;

typedef struct gr_onnx_tensor { gr_str name; gr_array array; } gr_onnx_tensor;

typedef struct gr_onnx_model {
    gr_str file, name, producer;
    int64_t ir_version, opset; /* opset: version of the standard's operators */
    struct { gr_str domain; int64_t version; } *domains; uint32_t domains_n;
    gr_onnx_node *nodes; uint32_t nodes_n;
    gr_onnx_tensor *weights; uint32_t weights_n;
    gr_onnx_value *inputs, *outputs; uint32_t inputs_n, outputs_n;
} gr_onnx_model;

/* The whole file. Elements beside it are read from the folder of `file`. f64 becomes f32 and 16-bit integers and BF16 become 32 bits wide.
 * Names: import/file, import/version, import/dtype, import/data, array/too-large, import/no-protobuf. */
bool gr_onnx_read(gr_arena *a, gr_diags *d, gr_str file, gr_str bytes, gr_onnx_model *out);
/* The dtype of an element type's number; NONE when we have none. widened: its elements are stored in another width. */
gr_dtype gr_onnx_dtype(int32_t code);
const char *gr_onnx_dtype_name(int32_t code); /* "BFLOAT16"; "type 99" is "unknown" */

#endif
