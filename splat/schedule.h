/* schedule.h: what happens in a step, by its number and the configuration alone.
 *
 * Nothing here has seen a picture or how well it is met: the same configuration gives the same schedule on every machine, and a resumed
 * training goes on with it. */
#ifndef GR_SPLAT_SCHEDULE_H
#define GR_SPLAT_SCHEDULE_H

#include "splat/config.h"

/* Learning rates of one step. means: extent included. */
typedef struct gr_rates { double means, scale, rotation, opacity, dc, sh; } gr_rates;

/* Where the host's part of a step runs: after waiting; while the next forward runs; while the next step's backward runs. */
typedef enum gr_host_part { GR_HOST_AT_ONCE = 0, GR_HOST_IN_FORWARD, GR_HOST_IN_BACKWARD } gr_host_part;

typedef struct gr_tick {
    uint32_t step; /* from 1 */
    bool refine, reset; /* what changes parameters on the host after the update, in this order */
    bool noise;         /* the device moves positions behind the update */
    bool log, eval, checkpoint, last;
    bool prefetch;  /* the next step's forward is submitted before the host does its part */
    bool defers;    /* the reported mean of SSIM is summed one step late */
    gr_host_part host;
    uint32_t sh_degree; /* harmonics in use */
    gr_rates rate;
} gr_tick;

/* extent: of the scene, by which the rate of positions is scaled. */
gr_tick gr_schedule_tick(const gr_setup *s, double extent, uint32_t step);
/* Steps from `first` to the last that do not prefetch, which wait for the device with nothing else to do: `sync_iters` of a result. */
uint32_t gr_schedule_syncs(const gr_setup *s, uint32_t first);

/* The order of views: each epoch takes every training view once, in an order drawn from (seed, epoch). */
typedef struct gr_order { uint64_t seed; uint32_t n, epoch; uint32_t *view; /* (n) heap; of the epoch; epoch from 1, 0 none yet */ } gr_order;
bool gr_order_new(gr_diags *d, uint64_t seed, uint32_t n, gr_order *out);
void gr_order_free(gr_order *o);
/* The place among the training views, 0..n-1, that step takes. */
uint32_t gr_order_at(gr_order *o, uint32_t step);

/* The colour behind the splats in a step, 0 to 1: white, black, or drawn from (seed, step). */
void gr_schedule_background(const gr_setup *s, uint32_t step, float rgb[3]);

#endif
