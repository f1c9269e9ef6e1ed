/* refine.h: how splats are added, moved and removed, on the host: the reference path.
 *
 * ADC: Kerbl et al. 2023, section 5. MCMC: Kheradmand et al. 2024. Everything is drawn from (seed, step, row) by the counter-based
 * generator and never from a state, so that a resumed training draws the same; nothing here knows how well the pictures are met. Rows
 * with a value that is not finite are removed (ADC) or relocated (MCMC): NaN does not spread. */
#ifndef GR_SPLAT_REFINE_H
#define GR_SPLAT_REFINE_H

#include "splat/config.h"
#include "splat/state.h"

typedef struct gr_refine {
    bool mcmc;
    uint32_t cap; /* at most this many splats, at most the state's capacity */
    uint64_t seed;
    double extent; /* of the scene */
    double prune_opacity, prune_scale, grad_threshold, clone_scale, split_factor, reset_opacity, grow, noise;
    bool prune_large; /* ADC: also what is larger than prune_scale times the extent: from the first reset on */
} gr_refine;

gr_refine gr_refine_of(const gr_setup *s, double extent, uint32_t cap);

/* What one refinement did. */
typedef struct gr_refined {
    uint32_t before, after;
    uint32_t cloned, split, pruned; /* ADC */
    uint32_t relocated, added;      /* MCMC */
    uint32_t not_finite;            /* of pruned or relocated: rows with NaN or infinity */
    uint32_t refused;               /* clones and splits for which the cap left no room; the steepest go first */
} gr_refined;

/* ADC or MCMC as r says; clears the statistics. base/out-of-memory leaves the state as it was. */
bool gr_refine_run(gr_diags *d, gr_state *s, const gr_refine *r, uint32_t step, gr_refined *out);
bool gr_refine_adc(gr_diags *d, gr_state *s, const gr_refine *r, uint32_t step, gr_refined *out);
bool gr_refine_mcmc(gr_diags *d, gr_state *s, const gr_refine *r, uint32_t step, gr_refined *out);
/* ADC: no opacity stays above r->reset_opacity; its moments start again. */
void gr_refine_reset(gr_state *s, const gr_refine *r);
/* MCMC, after each step's update: means move by Sigma e sigmoid(-100 (o - prune_opacity)) rate noise, e standard normal. The reference: a
 * training has it done in the step on the device (step.h). rate: the learning rate of positions in this step, extent included. */
void gr_refine_noise(gr_state *s, const gr_refine *r, double rate, uint32_t step);
/* MCMC: n splats in the place of one of opacity o that leave the picture as it is; o < 1, 1 <= n <= 51. */
void gr_refine_share(double o, uint32_t n, double *opacity, double *scale_factor);

/* Four numbers, uniform in (0, 1), of a purpose, a step and a row. */
typedef enum gr_purpose { GR_PURPOSE_SPLIT = 1, GR_PURPOSE_RELOCATE, GR_PURPOSE_ADD, GR_PURPOSE_NOISE, GR_PURPOSE_ORDER, GR_PURPOSE_BACKGROUND } gr_purpose;
void gr_draw_uniform(uint64_t seed, gr_purpose p, uint32_t step, uint64_t row, double out[4]);
/* Four standard normal ones of the same (Box and Muller 1958). */
void gr_draw_normal(uint64_t seed, gr_purpose p, uint32_t step, uint64_t row, double out[4]);

#endif
