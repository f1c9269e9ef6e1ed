/* import.h: a model becomes a workflow document and its weights, by the [import] rules of the catalog. */
#ifndef GR_IMPORT_IMPORT_H
#define GR_IMPORT_IMPORT_H

#include "array/archive.h"
#include "contract/contract.h"
#include "import/onnx.h"

/* Evaluates one op on the CPU. params: "k=v" in TOML. Reports what fails. */
typedef bool gr_import_evaluate(void *user, gr_arena *a, const gr_op *op, const gr_str *names, const gr_array *in, uint32_t in_n, const char *const *params,
                                uint32_t params_n, gr_array *out, uint32_t out_n);

typedef struct gr_import_size { gr_str name; uint64_t n; } gr_import_size;
typedef struct gr_import_options {
    const gr_import_size *sizes; uint32_t sizes_n; /* of named dimensions; "input.0" is a dimension without a name */
    gr_str tier;                                   /* of the document; empty: debug */
    gr_str weights;                                /* the weights' file as the document names it */
    gr_import_evaluate *evaluate;                  /* for values that are known at import; NULL: none are folded */
    void *user;
} gr_import_options;

typedef struct gr_imported {
    gr_str document;                                  /* canvas/1 */
    gr_named_array *weights; uint32_t weights_n;      /* those that the document uses; views of the model's elements */
    uint32_t nodes_n, folded_n, dropped_n;            /* ops in the document; results known at import; nodes that nothing needs */
} gr_imported;

/* All complaints about the model are collected: import/unsupported lists every operator without a rule. */
bool gr_import_onnx(gr_arena *a, gr_diags *d, const gr_catalog *c, const gr_onnx_model *m, const gr_import_options *o, gr_imported *out);

#endif
