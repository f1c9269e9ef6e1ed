/* conform_int.h: a case opened on all sides, shared by the suite, its controls and the report of a failure. */
#ifndef GR_REGIME_CONFORM_INT_H
#define GR_REGIME_CONFORM_INT_H

#include "regime/regime_int.h"

#include <stdarg.h>

typedef struct gr_trial {
    gr_arena arena;
    gr_case c;
    bool oracle, has_got, has_truth;
    int32_t which;  /* of the op's kernels, as gr_kernel_which */
    bool unordered; /* that kernel */
    gr_side kernel, sane, truth, f32; /* sane: the kernel on the evaluator with checks; closed where it cannot be evaluated */
    gr_array in[RUN_TENSORS], got[RUN_TENSORS], evaluated[RUN_TENSORS]; /* evaluated: of sane */
    gr_truth y[RUN_TENSORS];
} gr_trial;

typedef struct gr_fail {
    bool failed, has_element, told; /* told: the case is printed already, shrinking would lose it */
    char reason[320];
    uint32_t output;
    uint64_t at;
    double tolerance;
} gr_fail;

/* What the suite spends: elements over all runs unless it is told; a kernel runs in this many cases whatever the elements; from this
 * size on a case is left out when its reference takes more work than that (gr_trial_work), or all cases of its kernel would take more than
 * that; one of the first cases of its kernel may take more. Other values may take GR_WORK_SLACK times as much before they are stopped. */
enum { GR_ELEMENTS = 1 << 21, GR_LEAST_CASES = 3, GR_LONG_ELEMENTS = 1024, GR_WORK_CASE = 6 << 20, GR_WORK_KERNEL = 24 << 20, GR_WORK_NEEDED = 12 << 20, GR_WORK_SLACK = 64 };

bool gr_fail_say(gr_fail *f, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* true */
void gr_results_differ(const gr_array *x, const gr_array *y, uint32_t output, const char *what, gr_fail *f);

gr_target gr_trial_target(const gr_setting *g, const gr_spec *s);
/* Opens all sides; *missing: nothing to run here. To be closed either way. */
bool gr_trial_open(gr_trial *t, gr_diags *d, const gr_setting *g, const gr_spec *s, bool *missing);
void gr_trial_close(gr_trial *t);
/* What the reference takes, in lanes and their loop iterations; 0 without a run_limit, UINT64_MAX beyond it. */
bool gr_trial_work(gr_trial *t, gr_diags *d, const gr_setting *g, uint64_t seed, uint64_t *work);
/* Fills, runs the kernel twice (and evaluates it), runs the reference, compares. False when the device fails. */
bool gr_trial_run(gr_trial *t, gr_diags *d, const gr_setting *g, gr_values v, uint64_t seed, gr_counts *counts, double *worst, gr_fail *f);
bool gr_trial_truth(gr_trial *t, gr_diags *d); /* the reference on t->in */
/* Adds to counts; the first failing element to f. strict: as IEEE has it, without what a GPU may assume. False when the device fails. */
bool gr_trial_compare(gr_trial *t, gr_diags *d, const gr_setting *g, gr_values v, bool strict, const gr_array *got, gr_counts *counts, double *worst, gr_fail *f);

/* What probes saw of the operands of the signature. */
typedef struct gr_influence { uint32_t probes, reference, kernel; } gr_influence; /* probes; those where a result changed */
/* After a run with small integers passed: one element of an operand is moved far, and the results follow the reference. */
bool gr_probe_influence(gr_trial *t, gr_diags *d, const gr_setting *g, uint32_t turn, gr_influence *seen, gr_fail *f);
enum { GR_PROBE_MAX = 1 << 15 }; /* elements of a case whose influence is looked at */
uint64_t gr_probe_place(uint64_t n, uint32_t turn); /* which of n elements */
void gr_probe_move(gr_array *x, uint64_t i);
bool gr_probe_divisible(const gr_call *c); /* large enough for pieces */
enum { GR_PIECES = 8, GR_PIECES_TRIED = 32 }; /* of a kernel: calls that are cut, and how many may be tried for that */
/* The call once more with a binding limit so small that the plan must cut it. */
typedef struct gr_pieces { uint32_t tried, able, cut; } gr_pieces; /* calls that are large enough; those of them with two rows at least; those that were cut */
bool gr_probe_pieces(gr_trial *t, gr_diags *d, const gr_setting *g, const gr_spec *s, gr_values v, gr_pieces *seen, gr_fail *f);
/* The kernel on operands of an earlier run must give the same bits. */
bool gr_probe_again(gr_trial *t, gr_diags *d, const gr_array *in, const gr_array *got, gr_fail *f);
/* The kernel on other operands of the same types; false when it could not run. */
bool gr_trial_rerun(gr_trial *t, gr_diags *d, const gr_array *in, gr_array *got);
void gr_failure_print(gr_buf *out, const gr_trial *t, gr_values v, const gr_fail *f);

typedef struct gr_controls { bool rejected[GR_CONTROLS], differs[GR_CONTROLS]; } gr_controls;
/* Offers results that are wrong on purpose to the comparison, until each was rejected once. */
bool gr_controls_try(gr_controls *k, gr_diags *d, const gr_setting *g, gr_trial *t, gr_values v);
/* Whether the controls prove that the cases can tell: each rejected, or the same as the kernel on all cases and two others rejected. */
bool gr_controls_settle(const gr_controls *k, gr_diags *d, gr_conformance *out);

#endif
