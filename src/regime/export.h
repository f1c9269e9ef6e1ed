/* export.h: the cases of a conformance as plain files, so that anyone can recompute a receipt without Gradus. */
#ifndef GR_REGIME_EXPORT_H
#define GR_REGIME_EXPORT_H

#include "regime/regime.h"

/* Runs the conformance and writes below dir, which is made: index.json, LICENSE.txt, and .npy files for every run: operands, what
 * the kernel gave, what is expected in f64, its bound and its marks (docs/conform.md). *out as from gr_op_conform. */
bool gr_op_export(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, const gr_regime_device *device,
                  const gr_conform_options *o, gr_str dir, gr_conformance *out);

#endif
