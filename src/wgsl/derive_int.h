/* derive_int.h: what the files of the derivation share. */
#ifndef GR_WGSL_DERIVE_INT_H
#define GR_WGSL_DERIVE_INT_H

#include "wgsl/derive.h"

enum { DERIVE_CALLS_MAX = 256 /* functions in one derivation */ };

/* One function with the set of its parameters that have a tangent. */
typedef struct derive_job {
    const gr_wgsl_function *fn;
    uint64_t mask; /* bit i: parameter i has a tangent */
    gr_str name;   /* of the derived function */
} derive_job;

typedef struct deriving {
    gr_arena *a; /* scratch */
    gr_diags *d;
    const gr_wgsl_module *m;
    gr_str f16_name;
    gr_wgsl_derived *functions;
    derive_job job[DERIVE_CALLS_MAX];
    uint32_t jobs;
    /* of the function being derived */
    bool *active;    /* by declaration id: has a tangent */
    gr_str *shadow;  /* by declaration id: the name of its tangent */
    bool changed;    /* while activity is found */
    bool to_bits, from_bits; /* an integer was made of the bits of a value with a tangent; a float of bits */
    gr_buf out;
    bool failed;
} deriving;

/* Has the value (or reference) e a tangent that is not known to be zero? */
bool gr_derive_active(const deriving *x, const gr_wgsl_expr *e);
/* Writes the tangent of an active expression, as a term that may be multiplied. */
void gr_derive_tangent(deriving *x, const gr_wgsl_expr *e);
/* Zero of a scalar or vector type; reports others. */
void gr_derive_zero(deriving *x, const gr_wgsl_expr *at, const gr_wgsl_type *t);
/* The tangent, or zero where e has none. */
void gr_derive_tangent_or_zero(deriving *x, const gr_wgsl_expr *e);
/* The expression as it stands in the text, comments left out; `primary` puts it into parentheses where needed. */
void gr_derive_source(deriving *x, const gr_wgsl_expr *e, bool primary);
void gr_derive_slice(deriving *x, uint32_t from, uint32_t to);
/* The derived function for a set of parameters; made when it is new. {0} when reported. */
gr_str gr_derive_function(deriving *x, const gr_wgsl_expr *at, const gr_wgsl_function *fn, uint64_t mask);
/* wgsl/not-differentiable at e. */
void gr_derive_refuse(deriving *x, const gr_wgsl_expr *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool gr_derive_is_float(const gr_wgsl_type *t);

#endif
