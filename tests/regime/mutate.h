/* mutate.h: small wrong changes of WGSL text, derived from its syntax tree. */
#ifndef GR_TESTS_MUTATE_H
#define GR_TESTS_MUTATE_H

#include "wgsl/wgsl.h"

/* Bytes [from, to) of the text become `with`. */
typedef struct mutant {
    const char *kind; /* comparison, arithmetic, logic, constant, index, swap, builtin, negate, assignment, drop, barrier */
    uint32_t from, to;
    gr_str with;
} mutant;
typedef struct mutants { mutant *v; uint32_t n, cap; } mutants;

/* All mutants of a module's functions and constants, in text order. False when the text is no WGSL. */
bool mutants_of_module(gr_arena *a, gr_str text, mutants *out);
/* Of one expression; positions count from its first byte. */
bool mutants_of_expr(gr_arena *a, gr_str expr, mutants *out);

#endif
