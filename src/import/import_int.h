/* import_int.h: what the files of src/import share. */
#ifndef GR_IMPORT_IMPORT_INT_H
#define GR_IMPORT_IMPORT_INT_H

#include "import/import.h"

enum { NO_VALUE = UINT32_MAX, FOLD_MAX = 65536 };

typedef enum value_from { FROM_NOTHING = 0, FROM_INPUT, FROM_WEIGHT, FROM_CONSTANT, FROM_OP } value_from;

/* A value of the document in the making. */
typedef struct value {
    gr_str name; /* in the model, or after the op that makes it */
    value_from from;
    gr_type type;
    const gr_array *known; /* elements known at import; else NULL */
    uint32_t call, port;   /* FROM_OP */
    bool live;
    gr_str id;             /* of its block, once it is written */
} value;

/* A call of an op in the document. */
typedef struct call {
    const gr_op *op;
    gr_str name;     /* of the node that it came from */
    gr_call resolved;
    uint32_t *in;    /* values by flattened operand; NO_VALUE: absent */
    uint32_t *out;
    bool live;
    gr_str id;
} call;

typedef struct importer {
    gr_arena *a;
    gr_diags *d;
    const gr_catalog *c;
    const gr_onnx_model *m;
    const gr_import_options *o;
    GR_VEC(value) values;
    GR_VEC(call) calls;
    GR_VEC(gr_import_rule) rules; /* of all ops, with their homes */
    gr_map at;            /* name in the model -> value */
    uint32_t folded;
} importer;

/* A new value; NO_VALUE when memory fails (reported). */
uint32_t import_value(importer *m, value v);
/* Applies one rule to a node: its outputs are values then, by position. Complaints go to d, and nothing is kept then. */
bool import_apply(importer *m, gr_diags *d, const gr_import_rule *rule, const gr_onnx_node *n, const uint32_t *in, uint32_t *out);
/* A type as an array's: dims by number. */
gr_type import_type(const gr_array *x);
/* Writes the document from what is live. */
bool import_document(importer *m, const uint32_t *outputs, gr_imported *out);
/* A parameter's value as JSON, which is TOML too. */
void import_print_param(gr_buf *out, const gr_param *p);
/* Whether a parameter must be written: given, and something that its default is not. */
bool import_param_is_written(const gr_param *p);
/* How nodes are spoken of: node "conv1" (Conv). */
gr_str import_node_text(gr_arena *a, const gr_onnx_node *n);

#endif
