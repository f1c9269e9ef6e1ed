/* step.h: one step of training on the device, and rendering: prepared plans of graph text over catalog ops (docs/splat.md).
 *
 * A step has two plans. The forward takes the splats to a picture: project, sort by depth, count and write (tile, splat) pairs, sort them
 * by tile, blend. The update takes the picture to new splats: loss and its gradient, backward of blending and of the projection, Adam,
 * statistics. Values, Adam's moments, pairs and pictures stay in buffers of the device between plans; a step reads back the loss and two
 * counters. Memory is planned once for `cap` splats and `pairs` pairs: nothing grows during training. Pictures of another size are another
 * pair of plans over the same buffers, made when first used.
 *
 * Units: pixels with centres at (column + 0.5, row + 0.5); colours 0 to 1; rates as given to Adam. Failures are in the session's
 * diagnostics; what is this file's own complaint is there as cli/usage. One thread at a time. */
#ifndef GR_SPLAT_STEP_H
#define GR_SPLAT_STEP_H

#include "gradus.h"
#include "splat/config.h"
#include "splat/state.h"

typedef struct gr_step gr_step;

typedef struct gr_step_desc {
    const gr_setup *setup;       /* copied: tier, loss, lambda, window, antialiased, Adam's betas, ssim_reduce, strategy, budget */
    uint32_t cap;                /* rows planned, live or not; at least 1 */
    uint32_t sh_degree;          /* of the rows: gr_sh_count coefficients are kept and trained */
    uint32_t width, height;      /* no picture has more pixels, nor more tiles of 16 x 16; either side may be the longer */
    uint32_t pairs;              /* (tile, splat) pairs planned; 0: gr_step_pairs of the above */
    bool timestamps;             /* gr_step_times */
} gr_step_desc;

/* The bound on pairs that is planned when none is given: 8 a splat and 128 a tile, at least 65,536, at most 2^26. */
uint32_t gr_step_pairs(uint32_t cap, uint32_t width, uint32_t height);

/* Compiles the plans for width x height and makes every buffer. NULL with diagnostics: a red plan (over the budget or a binding limit) is
 * refused with its figures. The session must outlive it. All rows start as splats that cannot be seen. */
gr_step *gr_step_new(gr_session *s, const gr_step_desc *d);
void gr_step_free(gr_step *s);

/* ---- state ------------------------------------------------------------------------------------- */

enum { GR_STEP_VALUES = 1, GR_STEP_MOMENTS = 2, GR_STEP_STATISTICS = 4, GR_STEP_ALL = 7 };

/* Rows 0 to x->n of the device become those of x; further rows become splats that cannot be seen. `what`: any of the above. Waits for
 * runs in flight; a prefetched forward is void. x->cap must be the step's, x->sh_degree too. */
bool gr_step_write(gr_step *s, const gr_state *x, unsigned what);
/* The opposite: x->n rows, which must be what was last written. Waits for the device. */
bool gr_step_read(gr_step *s, gr_state *x, unsigned what);
/* The same for the values of some groups (bit 1 << GR_GROUP_...): what a host that moves means alone needs. */
bool gr_step_write_groups(gr_step *s, const gr_state *x, unsigned groups);
bool gr_step_read_groups(gr_step *s, gr_state *x, unsigned groups);
uint32_t gr_step_live(const gr_step *s); /* rows last written; 0 before */

/* ---- a step ------------------------------------------------------------------------------------- */

typedef struct gr_step_view {
    gr_camera camera;    /* pinhole: distortion must be 0; no larger than planned */
    gr_pose pose;
    float background[3]; /* behind the splats */
    uint32_t degree;     /* of the harmonics that count now, at most sh_degree */
    /* The truth: camera.width x camera.height, 3 channels, or 4, which are laid on the background; NULL when rendering. mask: 1 channel, what is
     * below 128 does not count: both pictures are black there; NULL: all counts. Only read during the call. */
    const gr_image *truth, *mask;
} gr_step_view;

typedef struct gr_step_update {
    uint32_t t;                                         /* Adam's count, from 1 */
    double means, scale, rotation, opacity, dc, sh;     /* learning rates; means: with the extent in it */
    double regularise_opacity, regularise_scale;        /* weights of the means over the live rows of opacity and of scale; 0: none */
    double noise, noise_opacity;                        /* means move by Sigma e sigmoid(-100 (o - noise_opacity)) noise behind
                                                           Adam, on the device; 0: they do not */
    uint32_t seed;                                      /* of that noise, together with t */
    const gr_step_view *next; /* its forward is submitted behind this update, before anything is waited for; NULL: none (truth not read) */
    bool defer;               /* the loss may come one step late: honoured only with ssim_reduce = host_lagged and a next */
} gr_step_update;

typedef struct gr_step_result {
    bool has_loss, has_deferred, prefetched_forward;
    double loss, l1, ssim;   /* of this step, when has_loss; without SSIM in the loss ssim is 0. Regularisers are not in it */
    double deferred_loss;    /* of the step before, when has_deferred; it goes into a history first */
    uint32_t pairs, dropped; /* of this step: pairs that there were, and how many of them had no room: the farthest splats of this view miss
                                tiles then. Said once as a complaint, never silent */
} gr_step_result;

/* Forward of the view unless it was prefetched (by the last call's `next`; a view with another camera, pose, background or degree is
 * run anew), then the loss, backward and update. The parameters are new when this returns or, with a next, before its forward reads them. */
bool gr_step_train(gr_step *s, const gr_step_view *v, const gr_step_update *u, gr_step_result *out);
/* The loss of a deferred step that no further step will bring; has_deferred false when there is none. */
bool gr_step_flush(gr_step *s, gr_step_result *out);
/* A picture without training: rgb (height, width, 3) and what is left of the transmittance (height, width; may be NULL). A prefetched
 * forward is void. *dropped (may be NULL) as above. */
bool gr_step_render(gr_step *s, const gr_step_view *v, float *rgb, float *left, uint32_t *dropped);
/* The loss of a view without an update. */
bool gr_step_evaluate(gr_step *s, const gr_step_view *v, gr_step_result *out);
/* Waits for everything submitted. */
bool gr_step_wait(gr_step *s);

/* ---- what there is to say ------------------------------------------------------------------------ */

typedef struct gr_step_counters {
    uint64_t steps, forwards;    /* updates; forwards run, those of renders included */
    uint64_t prefetched;         /* steps whose forward had been submitted by the step before */
    uint32_t sync_iters;         /* steps that were given no next */
    uint32_t peak_in_flight;     /* runs submitted and not waited for, at most: 1 or 2 steps */
    uint32_t pairs_most;         /* of any view, those dropped included */
    uint64_t dropped;            /* pairs without room, in all */
} gr_step_counters;
gr_step_counters gr_step_count(const gr_step *s);

enum { GR_STEP_STAGES_MAX = 24 };
typedef struct gr_step_time { const char *stage; double seconds; uint64_t runs; } gr_step_time;
/* Device time by stage ("project", "sort_depth", "emit", ...), summed since the step was made; needs timestamps. How many there are. */
unsigned gr_step_times(const gr_step *s, gr_step_time out[GR_STEP_STAGES_MAX]);

/* Bytes of all buffers that exist now: after gr_step_new all that training in pictures of width x height takes. */
uint64_t gr_step_created_bytes(const gr_step *s);
/* The text of a rung of both plans, one after the other; free with gr_text_free. NULL when memory fails. */
char *gr_step_explain(gr_step *s, gr_rung rung);
/* The graph text of the plans for a size, as compiled: the caller owns the buffer's memory. update: loss to statistics, else the forward. */
bool gr_step_graph(gr_buf *out, const gr_step_desc *d, uint32_t width, uint32_t height, bool update);

#endif
