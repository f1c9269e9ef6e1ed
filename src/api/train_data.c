/* Rows: which are trained on and which are kept, and the order of every epoch. All of it is a function of the document's seed and of the
 * epoch's number, so that a training that is resumed needs no memory of what came before. */
#include "api/train.h"
#include "api/inputs.h"
#include "base/math.h"
#include "base/rng.h"

#include <stdlib.h>

enum { PURPOSE_SPLIT = 0x73706c69, PURPOSE_EPOCH = 0x65706f63 };

/* Fisher and Yates over n rows; the stream is that of (seed, purpose, number). */
static void shuffle(uint64_t *rows, uint64_t n, uint64_t seed, uint64_t purpose, uint64_t number) {
    gr_u32x4 key = gr_philox(seed, purpose, number);
    gr_rng r = gr_rng_seed((uint64_t)key.v[0] << 32 | key.v[1]);
    for (uint64_t i = n; i > 1; i--) {
        uint64_t k = gr_rng_below(&r, (uint32_t)i), x = rows[i - 1];
        rows[i - 1] = rows[k];
        rows[k] = x;
    }
}

static int by_number(const void *x, const void *y) {
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* Inputs along the batch dimension must have the same rows: flow has compared declared names only for one batch. */
static bool count_rows(gr_training *t) {
    const gr_loop *l = &t->loop[GR_LOOP_STEP];
    gr_diags *d = &t->session->diags;
    for (uint32_t i = 0; i < l->batch_input_n; i++) {
        const gr_loaded *x = l->batch_data[i];
        if (i && x->array.dims[0] != t->rows_n)
            return gr_report(d, GR_D_RUN_NO_ROWS, t->block->at, "give inputs the same number of rows", "\"%.*s\" has %llu rows, \"%.*s\" %llu", GR_STR_ARG(x->node),
                             (unsigned long long)x->array.dims[0], GR_STR_ARG(l->batch_data[0]->node), (unsigned long long)t->rows_n);
        t->rows_n = x->array.dims[0];
    }
    if (t->rows_n <= UINT32_MAX) return true;
    return gr_report(d, GR_D_RUN_NO_ROWS, t->block->at, "train on a part of the data", "%llu rows are more than 2^32", (unsigned long long)t->rows_n);
}

bool gr_training_split(gr_training *t) {
    gr_diags *d = &t->session->diags;
    uint64_t seed = t->loop[GR_LOOP_STEP].program->canvas.seed;
    GR_TRY(count_rows(t));
    uint64_t n = t->rows_n, test = (uint64_t)gr_floor((double)n * t->train->test + 0.5);
    if (t->train->evaluate_every && test == 0) test = 1;
    t->test_n = test < n ? test : n;
    t->train_n = n - t->test_n;
    uint64_t need = t->train->drop_last ? t->train->batch : 1;
    if (t->train_n < need)
        return gr_report(d, GR_D_RUN_NO_ROWS, t->block->at, "take smaller batches, keep fewer rows for evaluation, or \"last\": \"partial\"", "%llu rows, %llu of them for evaluation, give no batch of %llu",
                         (unsigned long long)n, (unsigned long long)t->test_n, (unsigned long long)t->train->batch);
    uint64_t *all = GR_NEW_N(&t->arena, uint64_t, n);
    t->order = GR_NEW_N(&t->arena, uint64_t, t->train_n);
    if (!all || !t->order) return gr_report_oom(d);
    for (uint64_t i = 0; i < n; i++) all[i] = i;
    if (!t->train->test_last) {
        shuffle(all, n, seed, PURPOSE_SPLIT, 0);
        qsort(all, (size_t)t->train_n, sizeof *all, by_number);
        qsort(all + t->train_n, (size_t)t->test_n, sizeof *all, by_number);
    }
    t->train_rows = all;
    t->test_rows = all + t->train_n;
    t->order_epoch = UINT64_MAX;
    return true;
}

const uint64_t *gr_training_batch(gr_training *t, uint64_t s, uint64_t *n) {
    uint64_t epoch = s / t->per_epoch, at = s % t->per_epoch * t->train->batch;
    if (t->order_epoch != epoch) {
        memcpy(t->order, t->train_rows, (size_t)t->train_n * sizeof *t->order);
        if (!t->train->in_order) shuffle(t->order, t->train_n, t->loop[GR_LOOP_STEP].program->canvas.seed, PURPOSE_EPOCH, epoch);
        t->order_epoch = epoch;
    }
    *n = t->train_n - at < t->train->batch ? t->train_n - at : t->train->batch;
    return t->order + at;
}

static bool feed_input(gr_training *t, gr_loop *l, uint32_t i, const uint64_t *rows) {
    const gr_array *from = &l->batch_data[i]->array;
    size_t row = from->dims[0] ? from->bytes / (size_t)from->dims[0] : 0;
    gr_tensor x = {.dtype = gr_dtype_name(from->dtype), .rank = from->rank, .bytes = row * (size_t)l->rows};
    for (uint32_t k = 0; k < from->rank; k++) x.dims[k] = from->dims[k];
    x.dims[0] = l->rows;
    char *data = gr_heap_alloc(x.bytes ? x.bytes : 1, 1);
    if (!data) return gr_report_oom(&t->session->diags);
    x.data = data;
    bool ok = gr_loaded_rows(l->batch_data[i], &t->session->diags, rows, l->rows, data) && gr_write(l->ready, l->batch_input[i], &x);
    gr_heap_free(data);
    return ok;
}

bool gr_training_feed(gr_training *t, gr_loop *l, const uint64_t *rows) {
    for (uint32_t i = 0; i < l->batch_input_n; i++) GR_TRY(feed_input(t, l, i, rows));
    return true;
}
