/* trainer.h: a training from its data to its results: splats to start from, steps, refinement, evaluation, checkpoints.
 *
 * The device does the step (step.h), the schedule says what happens in it (schedule.h), the host refines (refine.h). Given the same
 * configuration, data and device a debug tier gives the same bits, whether it ran through or was resumed. */
#ifndef GR_SPLAT_TRAINER_H
#define GR_SPLAT_TRAINER_H

#include <signal.h>

#include "splat/cache.h"
#include "splat/checkpoint.h"
#include "splat/measure.h"
#include "splat/refine.h"
#include "splat/schedule.h"
#include "splat/step.h"

/* One entry a step, in order: the loss of steps `first` + 1 on. */
typedef struct gr_history {
    uint32_t first, n, cap;
    double *loss; uint32_t *splats; /* (cap) heap */
} gr_history;

/* One evaluation: means over the held-out views. */
typedef struct gr_evaluation { uint32_t step, splats, views; double psnr, ssim, seconds /* of training, until then */; } gr_evaluation;

typedef struct gr_view_score { uint32_t view; gr_score score; } gr_view_score;

typedef enum gr_trainer_event { GR_TRAINER_NO_EVENT = 0, GR_TRAINER_LOGGED, GR_TRAINER_REFINED, GR_TRAINER_EVALUATED, GR_TRAINER_SAVED } gr_trainer_event;
typedef struct gr_trainer gr_trainer;
typedef void gr_on_trainer(void *user, const gr_trainer *t, gr_trainer_event e);

typedef struct gr_trainer_desc {
    gr_session *session;
    const gr_config *config;  /* verified; must outlive the trainer, as the scene must */
    const gr_scene *scene;
    gr_str out;               /* folder of checkpoint and results; empty: nothing is written */
    gr_str checkpoint;        /* to go on from; empty: from the start */
    gr_str cloud;             /* splats to start from (evaluation of a file); empty: as configured */
    bool timestamps;
    bool no_evaluation;       /* bench: neither evaluations nor checkpoints */
    const volatile sig_atomic_t *stop; /* not 0: end after the current step, with a checkpoint; may be NULL */
    gr_on_trainer *on_event;
    void *user;
} gr_trainer_desc;

/* Fields are read only. */
struct gr_trainer {
    gr_trainer_desc desc;
    gr_diags *d;
    gr_setup setup;
    gr_state state;         /* as of the last time that the host looked */
    gr_step *step;
    gr_cache *cache;
    gr_order order;
    gr_refine refine;
    gr_refined refined;     /* the last refinement */
    uint32_t *train, *test; /* views, by place; heap */
    uint32_t width, height; /* of the largest view */
    uint32_t first, done;   /* steps done before this run, and now */
    uint32_t start_splats;
    gr_history history;
    gr_evaluation *evaluation; uint32_t evaluation_n, evaluation_cap;
    gr_view_score *score; uint32_t score_n; /* of the last evaluation */
    gr_rates rate;          /* of the last step */
    double seconds, evaluating, refining, loading; /* of this run: in all without evaluation; evaluating; host refinement; waiting for pictures */
    bool stopped;           /* by desc.stop */
    char data_hash[72];
    struct gr_loaded *now;  /* the view of the next step, when it was prefetched */
};

/* Loads or makes the splats, plans memory once and compiles the step. backend.lower_cap: cap_max is lowered until the plan fits. False when
 * anything is wrong; free it whatever is returned. Complaints of the session are moved into d. */
bool gr_trainer_new(gr_diags *d, const gr_trainer_desc *desc, gr_trainer *out);
void gr_trainer_free(gr_trainer *t);
/* Trains to the end, or for `steps` more (0: to the end), or until stopped; then state holds what the device has. The last
 * step's evaluation writes its pictures to out/test. run/loss-not-finite. */
bool gr_trainer_run(gr_trainer *t, uint32_t steps);
/* Renders and scores every held-out view; with `folder` writes NAME.png of each there. */
bool gr_trainer_evaluate(gr_trainer *t, gr_str folder);
/* A view's picture as the splats have it, rgb (height, width, 3) in heap memory of the caller. */
bool gr_trainer_render(gr_trainer *t, const gr_camera *c, const gr_pose *p, float **rgb);
/* Brings values, moments and statistics from the device into state. */
bool gr_trainer_read(gr_trainer *t);
/* Writes out/checkpoint.safetensors. */
bool gr_trainer_save(gr_trainer *t);
/* What splats are shown on: the configured background; white where it is random. */
void gr_trainer_background(const gr_trainer *t, float rgb[3]);
gr_str gr_trainer_checkpoint_path(gr_arena *a, gr_str out);

/* Moves the session's complaints into d. False when there was an error among them. */
bool gr_session_drain(gr_diags *d, gr_session *s);
/* "sha256:..." over names, cameras, poses, sizes and the first 64 KiB of every picture, and the points. */
void gr_scene_hash(const gr_scene *s, char out[72]);

#endif
