/* publish.h: what sharing an op asks for: a licence, the metadata, an example that is true. */
#ifndef GR_REGIME_PUBLISH_H
#define GR_REGIME_PUBLISH_H

#include "regime/regime.h"

/* Parses an SPDX licence expression (annex D of the SPDX specification): identifiers with an optional +, LicenseRef-...,
 * WITH exception, AND, OR, parentheses. regime/license-invalid names what is wrong, with the nearest known identifier. */
bool gr_spdx_check(gr_diags *d, gr_place at, gr_str expression);

/* ---- the example of an op --------------------------------------------------------------- */

enum { GR_EXAMPLE_TENSORS = 32 };
typedef struct gr_example_tensor { gr_str name; gr_array array; } gr_example_tensor;
typedef struct gr_example {
    gr_example_tensor in[GR_EXAMPLE_TENSORS], out[GR_EXAMPLE_TENSORS]; /* in the order of the signature; absent ones are left out */
    uint32_t in_n, out_n;
    const gr_value *params; /* as written in op.toml; may be NULL */
} gr_example;

/* Runs [example] on the oracle as the op's CPU body says and gives what came out. contract/example-invalid: it is no legal call;
 * regime/example-wrong: an output differs from the one written down by more than 1e-5 (1 + |y|). False then. */
bool gr_example_run(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, gr_example *out);

#endif
