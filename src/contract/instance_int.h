/* instance_int.h: WGSL of an op under one choice of dtypes. Private to the WGSL checks. */
#ifndef GR_INSTANCE_INT_H
#define GR_INSTANCE_INT_H

#include "contract/contract_int.h"
#include "wgsl/wgsl.h"

/* One dtype for every dtype variable and dtype parameter. */
typedef struct gr_instance {
    struct { gr_str name; gr_dtype t; } v[2 * GR_SIG_MAX];
    uint32_t n;
} gr_instance;

gr_dtype gr_instance_dtype(const gr_instance *in, gr_str name); /* of a variable, parameter or dtype word */
/* Calls fn for instances that a kernel must work for: all at their first choice (float where one is allowed), then each
 * variable over the rest of its dtypes, when deep. `only` restricts (n 0: all). */
typedef bool gr_instance_fn(void *user, const gr_instance *in);
bool gr_instances(const gr_sig *s, const gr_dtype *only, uint32_t only_n, bool deep, gr_instance_fn *fn, void *user);

/* The module of a map body, or NULL with contract/map-invalid reported at the expression. */
gr_wgsl_module *gr_map_module(gr_arena *scratch, gr_diags *d, const gr_op *op, const gr_instance *in);
/* A WGSL file with its aliases re-bound; diagnostics name folder/file. */
gr_wgsl_module *gr_file_module(gr_arena *scratch, gr_diags *d, const gr_op *op, const gr_kernel_decl *k, const gr_instance *in);

#endif
