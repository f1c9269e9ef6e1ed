/* train.h: what the files of a training share. Not for clients. */
#ifndef GR_API_TRAIN_H
#define GR_API_TRAIN_H

#include "api/session.h"

#include <stdatomic.h>

#define GR_TRAIN_FORMAT "gradus-training/1" /* "format" in the metadata of a checkpoint */
#define GR_TRAIN_BEST "best/"               /* before the name of a parameter: as it was at the best evaluation */

enum { GR_TRAIN_QUANTITIES_MAX = 64 };

/* A tensor that stays on the device: a parameter, or a state of the optimizer for one. */
typedef struct gr_slot {
    gr_str name; /* "w", "w.m" */
    gr_type type;
    bool is_state;
    uint64_t bytes;
    gr_buffer *buffer;
    gr_array best; /* PARAMETER: as it was at the best evaluation; data NULL: none yet */
    gr_array copy; /* last given to the client */
} gr_slot;

/* One prepared plan: the step, or the evaluation, for one number of rows. */
typedef struct gr_loop {
    enum gr_train_part part;
    uint64_t rows;
    gr_program *program;
    gr_prepared *ready;
    unsigned *batch_input; uint32_t batch_input_n; /* inputs that get rows */
    const gr_loaded **batch_data;
    unsigned step_input, rate_input, scale_input, factor_output; /* UINT_MAX: none */
    unsigned output[GR_TRAIN_QUANTITIES_MAX]; /* by quantity */
} gr_loop;

/* Numbers in rows of `width`. */
typedef struct gr_table { double *v; uint64_t n, cap; uint32_t width; } gr_table;

enum { GR_LOOP_STEP, GR_LOOP_STEP_LAST, GR_LOOP_TEST, GR_LOOP_TEST_LAST, GR_LOOP_COUNT };

struct gr_training {
    gr_session *session;
    gr_arena arena;
    gr_str out; /* folder, or empty */
    gr_train_desc desc;
    const gr_canvas_node *block;
    const gr_canvas_train *train;
    gr_loop loop[GR_LOOP_COUNT]; /* program NULL: not needed */
    gr_slot *slot; uint32_t slot_n;
    gr_str quantity[GR_TRAIN_QUANTITIES_MAX]; uint32_t quantity_n; /* the loss first */
    uint32_t watched;            /* quantity by which the best is known */
    uint64_t *train_rows, *test_rows; /* which rows of the data */
    uint64_t train_n, test_n, rows_n;
    uint64_t *order, order_epoch;     /* train_rows as epoch order_epoch takes them; UINT64_MAX: none */
    uint64_t per_epoch, declared, total; /* steps of an epoch; in all as declared; at which this training ends */
    uint64_t step;               /* done */
    bool prepared, gave_up;      /* gave_up: no better for too long */
    bool one_at_a_time;          /* the plans together are over the budget: one is ready at a time */
    atomic_bool stop; /* set by a signal handler, which lock-free atomics allow */
    struct { gr_loop *loop; gr_run run; uint64_t step; double rate; } flying; /* submitted, not yet read */
    struct { double scale; uint64_t good, skipped; } mixed; /* the loss scale, steps since it last changed, steps left out in all */
    gr_table curve;              /* step, epoch, rate, quantities */
    gr_table evaluation;         /* step, epoch, quantities */
    double best; uint64_t best_step, waited; /* best_step 0: none yet */
};

/* ---- train_data.c: which rows, in which order --------------------------------------- */

/* The rows kept for evaluation and the others, by the document's seed. run/no-rows. */
bool gr_training_split(gr_training *t);
/* Rows of the batch that step s (from 0) takes: *n of them, valid until the next call. NULL when memory fails (reported). */
const uint64_t *gr_training_batch(gr_training *t, uint64_t s, uint64_t *n);
/* Gives rows of the data to the inputs of a loop. */
bool gr_training_feed(gr_training *t, gr_loop *l, const uint64_t *rows);

/* ---- train_state.c: parameters and states in and out ---------------------------------- */

/* A slot's content as it is on the device, into heap memory that out owns. */
bool gr_slot_read(gr_training *t, const gr_slot *s, gr_array *out);
bool gr_slot_write(gr_training *t, const gr_slot *s, const gr_array *value);
bool gr_slot_keep_best(gr_training *t); /* copies every parameter */
/* The checkpoint's path; out must be set. */
gr_str gr_training_checkpoint_path(gr_training *t);
/* All of a training's state in one file, which is replaced whole. */
bool gr_training_save(gr_training *t);
/* Back from that file. *found false: there is none. run/checkpoint-other, run/checkpoint-bad. */
bool gr_training_load(gr_training *t, bool *found);

/* ---- train_table.c ------------------------------------------------------------------------ */

bool gr_table_add(gr_table *t, gr_diags *d, const double *row); /* width numbers */
void gr_table_free(gr_table *t);

#endif
