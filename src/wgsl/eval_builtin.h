/* eval_builtin.h: a builtin call being lowered; private to eval_builtin*.c. */
#ifndef GR_WGSL_EVAL_BUILTIN_H
#define GR_WGSL_EVAL_BUILTIN_H

#include "wgsl/eval_int.h"

typedef struct eval_builtin {
    eval_lower *l;
    const gr_wgsl_expr *e;
    eval_value arg[4];
    eval_ref pointer;            /* of the first pointer argument */
    const gr_wgsl_type *scalar;  /* of the first argument */
} eval_builtin;

/* Bits, packing, memory, atomics, barriers, subgroups: false when it is none of these. */
bool eval_builtin_other(eval_builtin *c, eval_value *out);

#endif
