/* conform_int.h: a case opened on all sides, shared by the suite, its controls and the report of a failure. */
#ifndef GR_REGIME_CONFORM_INT_H
#define GR_REGIME_CONFORM_INT_H

#include "regime/regime_int.h"

#include <stdarg.h>

typedef struct gr_trial {
    gr_arena arena;
    gr_case c;
    bool oracle, has_got, has_truth;
    gr_side kernel, sane, truth, f32; /* sane: the kernel in the sanitizer, on the oracle only */
    gr_array in[RUN_TENSORS], got[RUN_TENSORS];
    gr_truth y[RUN_TENSORS];
} gr_trial;

typedef struct gr_fail {
    bool failed, has_element;
    char reason[320];
    uint32_t output;
    uint64_t at;
    double tolerance;
} gr_fail;

/* Adds to counts; the first failing element to f. False when the device fails. */
bool gr_trial_compare(gr_trial *t, gr_diags *d, const gr_setting *g, gr_values v, const gr_array *got, gr_counts *counts, double *worst, gr_fail *f);
/* The kernel on other operands of the same types; false when it could not run. */
bool gr_trial_rerun(gr_trial *t, gr_diags *d, const gr_array *in, gr_array *got);
void gr_failure_print(gr_buf *out, const gr_trial *t, gr_values v, const gr_fail *f);

typedef struct gr_controls { bool rejected[GR_CONTROLS], differs[GR_CONTROLS]; } gr_controls;
/* Offers results that are wrong on purpose to the comparison, until each was rejected once. */
bool gr_controls_try(gr_controls *k, gr_diags *d, const gr_setting *g, gr_trial *t, gr_values v);
/* Whether the controls prove that the cases can tell: each rejected, or the same as the kernel on all cases and two others rejected. */
bool gr_controls_settle(const gr_controls *k, gr_diags *d, gr_conformance *out);

#endif
