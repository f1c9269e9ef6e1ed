/* call_int.h: what resolving a call shares between its files. */
#ifndef GR_CALL_INT_H
#define GR_CALL_INT_H

#include "contract/contract_int.h"

typedef struct gr_caller {
    gr_arena *a;
    gr_diags *d;
    gr_place at;
    gr_call *out;
    bool bounded_ok; /* operands with a run-time count are taken as they are */
} gr_caller;

bool gr_call_fail(gr_caller *k, gr_diag_name name, const char *hint, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Reads parameters and defaults. names_known: patterns matched, so defaults and ranges may be evaluated. */
bool gr_call_params(gr_caller *k, const gr_arg *args, uint32_t n, bool names_known);

#endif
