/* verdict.h: the statistics of an A/B series; pure functions of numbers, no files, no clock.
 *
 * A series is n pairs of runs, off_i then on_i. Relative numbers are fractions: -0.03 is three per cent faster.
 *   delta_i  = on_i / off_i - 1,  delta = mean of delta_i
 *   sigma_off = sample standard deviation of off_i / mean of off_i
 * What each rule can and cannot show stands in docs/gate.md. */
#ifndef GR_GATE_VERDICT_H
#define GR_GATE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum { GATE_PAIRS_MAX = 64 };

/* Registered before the first run. gate_rule_default() fills it. */
typedef struct gate_rule {
    double floor;        /* least gain worth a default: 0.01 */
    double sigmas;       /* of the off arm that the gain must exceed: 2 */
    double guard;        /* quality that may be lost, in the metric's unit: 0.05 (dB) */
    double alpha;        /* one-sided error rate of the whole series: 0.05 */
    uint32_t looks;      /* 1: judged once. More: this verdict is one of so many looks, which share alpha */
    bool gradients_untouched; /* the flag is declared not to touch gradients: a small guard breach is noise */
} gate_rule;

gate_rule gate_rule_default(void);

typedef struct gate_pairs {
    uint32_t n;
    double off[GATE_PAIRS_MAX], on[GATE_PAIRS_MAX];     /* elapsed, seconds, > 0 */
    double q_off[GATE_PAIRS_MAX], q_on[GATE_PAIRS_MAX]; /* quality, greater is better; read when quality */
    bool quality;
} gate_pairs;

typedef enum gate_guard {
    GATE_GUARD_NONE = 0, /* no quality metric: nothing is guarded */
    GATE_GUARD_HELD,
    GATE_GUARD_NOISE,    /* breached by no more than off differs from off, gradients declared untouched: does not count */
    GATE_GUARD_BREACHED,
} gate_guard;

typedef enum gate_decision {
    GATE_NO_DECISION = 0,
    GATE_ADOPT,     /* every criterion holds */
    GATE_REJECT,    /* the guard is breached, or a gain of `floor` is excluded by the interval */
    GATE_UNDECIDED, /* neither shown nor excluded: the default stays */
} gate_decision;

/* The criteria on one set of runs. */
typedef struct gate_criteria {
    double delta, sigma_off, threshold; /* threshold = -max(sigmas sigma_off, floor) */
    double quality;                     /* mean of q_on - q_off over the pairs */
    gate_guard guard;
    bool gain, signs;                   /* delta <= threshold; every delta_i < 0 */
    bool holds;                         /* gain, signs and the guard */
} gate_criteria;

typedef struct gate_verdict {
    gate_criteria all;                       /* on every pair */
    gate_criteria without[GATE_PAIRS_MAX];   /* without pair i; only when n >= 3 */
    gate_criteria without_worst;             /* without the run furthest from the mean of its arm */
    uint32_t worst_pair; bool worst_is_on;   /* which run that is */
    double sigma_delta;                      /* sample standard deviation of delta_i; 0 when n < 2 */
    double alpha;                            /* one-sided level of this look: rule.alpha / rule.looks */
    double p;                                /* one-sided paired t-test of delta < 0; 1 when n < 2 */
    double low, high;                        /* of delta, each side at `alpha`; infinite when n < 2 */
    double guard_spread;                     /* greatest less least q_off */
    bool significant;                        /* p <= alpha */
    bool fragile;                            /* `holds` flips without some pair or without the worst run */
    gate_decision decision;
} gate_verdict;

/* n from 1 to GATE_PAIRS_MAX, times positive and finite. */
gate_verdict gate_judge(const gate_pairs *s, const gate_rule *rule);

/* May a sequential series end here? Adoption that does not hang on one run, or a rejection. */
bool gate_safe(const gate_verdict *v);

/* P(T > t) of Student's t with `dof` >= 1 degrees of freedom, and the t with P(T > t) = p, 0 < p < 1.
 * Closed form for whole degrees: Abramowitz and Stegun 26.7.3 and 26.7.4. */
double gate_t_tail(double t, uint32_t dof);
double gate_t_quantile(double p, uint32_t dof);

double gate_mean(const double *v, uint32_t n);
double gate_sigma(const double *v, uint32_t n); /* sample standard deviation; 0 when n < 2 */

/* ---- retry of a run ------------------------------------------------------------------------------------- */

/* Registered before the first run: a run is repeated, once, only when it is an outlier AND the machine was loaded. */
typedef struct gate_retry {
    double sigmas;      /* 3 */
    double floor;       /* least relative sigma that leave-one-out may claim: 0.01 */
    double sigma;       /* relative, from an A/A calibration of 6 runs or more; 0: leave-one-out */
} gate_retry;

gate_retry gate_retry_default(void);

/* Is v[i], one of the n runs of its arm, slower than the mean of the others by more than sigmas * sigma?
 * Leave-one-out takes the others' standard deviation times sqrt(1 + 1/(n-1)), at least floor. *z (may be NULL) is
 * the distance in sigmas. False when the rule cannot fire. */
bool gate_outlier(const double *v, uint32_t n, uint32_t i, const gate_retry *r, double *z);
/* Why the rule cannot fire for an arm of n runs, or NULL when it can. */
const char *gate_retry_blocked(uint32_t n, bool load_known, const gate_retry *r);

#endif
