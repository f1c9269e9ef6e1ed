/* profile.h: what arithmetic on a device really does, measured.
 *
 * A profile is what the adapter says plus facts (contraction, subnormals, NaN, infinity,
 * f16, subgroup size) and the worst error of each builtin over seeded sample points, against the
 * deterministic f64 functions of base/math.h. Two runs on one device give the same profile. */
#ifndef GR_RUN_WEBGPU_PROFILE_H
#define GR_RUN_WEBGPU_PROFILE_H

#include "base/value.h"
#include "ladder/run/webgpu/device.h"
#include "wgsl/eval.h"

/* Counts up when a measurement or its points change: profiles of other versions are not comparable. */
enum { GR_PROFILE_VERSION = 2 };

typedef struct gr_profile_fact {
    const char *name;  /* "contraction", "subnormal_results", ... */
    const char *value; /* one of a few words */
    const char *about; /* what was computed */
} gr_profile_fact;

/* One builtin or operator. Every sample satisfies |y - r| <= ulps * ulp(r) + absolute. */
typedef struct gr_profile_error {
    const char *builtin; /* WGSL's name; division is "/" */
    const char *domain;  /* of the samples */
    uint32_t samples, skipped; /* skipped: the true result is subnormal or overflows */
    double worst_ulps;   /* over all samples, also near zeros of the function */
    double worst_at[2];  /* operands there */
    double ulps;         /* worst where |r| >= 1/2 */
    double absolute;     /* what more is needed elsewhere */
    bool extra;          /* a second, wider domain: not part of gr_gpu_profile.accuracy */
} gr_profile_error;

typedef struct gr_gpu_profile {
    const gr_gpu_info *adapter; /* of the device: lives as long as it */
    gr_sha256 library;
    bool contracts;         /* a * b + c may be one rounding */
    bool flushes_subnormals; /* in operands or results of float arithmetic */
    bool flushes_selections; /* in comparisons, max or min */
    uint32_t subgroup_min, subgroup_max; /* seen; 0 without the feature */
    gr_profile_fact *facts; uint32_t facts_n;
    gr_profile_error *errors; uint32_t errors_n;
    gr_eval_accuracy *accuracy; uint32_t accuracy_n; /* for the evaluator's bounded mode */
} gr_gpu_profile;

/* Some seconds on a software adapter. Text and lists live in the arena. */
bool gr_gpu_profile_measure(gr_arena *a, gr_diags *d, gr_gpu *g, gr_gpu_profile *out);
void gr_gpu_profile_print(gr_buf *out, const gr_gpu_profile *p);
/* For records and receipts: write it with gr_json_canonical or gr_json_pretty. NULL when memory fails. */
gr_value *gr_gpu_profile_value(gr_arena *a, const gr_gpu_profile *p);

#endif
