/* What a training leaves behind: parameters, curves as tables and as a picture, and its record. */
#include "api/record.h"
#include "api/train.h"

#include "array/plot.h"
#include "base/file.h"

#include <math.h>

/* ---- tables --------------------------------------------------------------------------- */

bool gr_table_add(gr_table *t, gr_diags *d, const double *row) {
    if (t->n == t->cap) {
        uint64_t cap = t->cap ? 2 * t->cap : 256;
        double *grown = cap < SIZE_MAX / sizeof(double) / t->width ? gr_heap_realloc(t->v, (size_t)cap * t->width, sizeof(double)) : NULL;
        if (!grown) return gr_report_oom(d);
        t->v = grown;
        t->cap = cap;
    }
    memcpy(t->v + t->n++ * t->width, row, t->width * sizeof(double));
    return true;
}

void gr_table_free(gr_table *t) {
    gr_heap_free(t->v);
    *t = (gr_table){.width = t->width};
}

/* ---- files ------------------------------------------------------------------------------- */

typedef struct writer {
    gr_training *t;
    gr_arena arena;
    gr_on_file *on_file;
    void *user;
} writer;

static gr_diags *diags_of(writer *w) { return &w->t->session->diags; }

static bool put_file(writer *w, const char *name, const gr_buf *b) {
    char hash[72];
    gr_str path = gr_path_join(&w->arena, w->t->out, gr_str_of(name));
    if (b->failed || !path.n) return gr_report_oom(diags_of(w));
    GR_TRY(gr_dir_make(diags_of(w), gr_path_dir(path)) && gr_file_write(diags_of(w), path, b->p, b->n));
    gr_sha256_text(hash, gr_sha256_of(b->p, b->n));
    if (w->on_file) w->on_file(w->user, path.p, hash);
    return true;
}

static bool put_table(writer *w, const char *name, const gr_table *t, const char *const *first) {
    gr_str names[3 + GR_TRAIN_QUANTITIES_MAX];
    uint32_t n = 0;
    while (first[n]) names[n] = gr_str_of(first[n]), n++;
    for (uint32_t i = 0; i < w->t->quantity_n; i++) names[n++] = w->t->quantity[i];
    gr_array x = {.dtype = GR_DTYPE_F64, .rank = 2, .dims = {t->n, t->width}, .data = t->v, .bytes = (size_t)t->n * t->width * sizeof(double)};
    gr_buf b = {0};
    bool ok = gr_csv_write(&b, diags_of(w), &x, names) && put_file(w, name, &b);
    gr_buf_free(&b);
    return ok;
}

static bool put_parameters(writer *w) {
    gr_training *t = w->t;
    for (unsigned i = 0; i < gr_training_parameters(t); i++) {
        gr_tensor x = gr_training_parameter(t, i, true);
        if (!x.dtype) return false;
        gr_array a = {.dtype = gr_dtype_find(gr_str_of(x.dtype)), .rank = x.rank, .data = (void *)(uintptr_t)x.data, .bytes = x.bytes};
        for (unsigned k = 0; k < x.rank; k++) a.dims[k] = x.dims[k];
        const char *name = gr_arena_printf(&w->arena, "parameters/%.*s.npy", GR_STR_ARG(t->slot[i].name));
        gr_buf b = {0};
        bool ok = name && gr_npy_write(&b, &a) ? put_file(w, name, &b) : gr_report_oom(diags_of(w));
        gr_buf_free(&b);
        GR_TRY(ok);
    }
    return true;
}

/* ---- the picture ---------------------------------------------------------------------------- */

/* Column c of the first n rows of a table as one line. */
static bool column(writer *w, const gr_table *t, uint64_t n, uint32_t c, gr_array *out) {
    GR_TRY(gr_array_new(&w->arena, diags_of(w), GR_DTYPE_F64, (const uint64_t[1]){n}, 1, out));
    for (uint64_t i = 0; i < n; i++) gr_array_set_f64(out, i, t->v[i * t->width + c]);
    return true;
}

/* Evaluations stand at equal distances, except one at the very end. */
static uint64_t even_evaluations(const gr_training *t) {
    uint64_t every = t->train->evaluate_every * t->per_epoch, n = t->evaluation.n;
    while (n && t->evaluation.v[(n - 1) * t->evaluation.width] > (double)(n * every)) n--;
    while (n && t->evaluation.v[(n - 1) * t->evaluation.width] < (double)(n * every)) n--;
    return n;
}

static bool put_picture(writer *w) {
    gr_training *t = w->t;
    uint32_t panels = t->quantity_n < GR_PLOT_PANELS_MAX ? t->quantity_n : GR_PLOT_PANELS_MAX;
    gr_plot_line *line = GR_NEW_N(&w->arena, gr_plot_line, 2 * (size_t)panels);
    uint64_t tests = even_evaluations(t);
    double every = (double)(t->train->evaluate_every * t->per_epoch);
    gr_plot p = {.title = t->loop[GR_LOOP_STEP].program->graph.name, .x_label = GR_STR("step"), .lines = line};
    gr_buf svg = {0};
    if (!line) return gr_report_oom(diags_of(w));
    for (uint32_t i = 0; i < panels; i++) {
        gr_plot_line *x = &line[p.line_n++];
        *x = (gr_plot_line){.label = GR_STR("batches"), .x0 = 1, .panel = i, .y_label = t->quantity[i]};
        GR_TRY(column(w, &t->curve, t->curve.n, 3 + i, &x->y));
        if (!tests) continue;
        x = &line[p.line_n++];
        *x = (gr_plot_line){.label = GR_STR("evaluation"), .x0 = every, .dx = every, .panel = i};
        GR_TRY(column(w, &t->evaluation, tests, 2 + i, &x->y));
    }
    bool ok = gr_plot_svg(&svg, diags_of(w), &p) && put_file(w, "curve.svg", &svg);
    gr_buf_free(&svg);
    return ok;
}

/* ---- the record ------------------------------------------------------------------------------- */

static bool set(writer *w, gr_value *o, const char *key, gr_value *v) { return gr_value_set(&w->arena, o, key, v) || gr_report_oom(diags_of(w)); }

/* JSON has no other numbers than finite ones. */
static gr_value *real(writer *w, double v) { return isfinite(v) ? gr_value_new_f64(&w->arena, v) : gr_value_new(&w->arena, GR_V_NULL); }

static gr_value *number(writer *w, uint64_t n) { return gr_value_new_i64(&w->arena, (int64_t)n); }

static gr_value *text(writer *w, const char *s) { return gr_value_new_str(&w->arena, gr_str_dup(&w->arena, gr_str_of(s))); }

/* The last row of a table by quantity. */
static gr_value *last_values(writer *w, const gr_table *t, uint32_t from) {
    gr_value *o = gr_value_new(&w->arena, GR_V_OBJECT);
    for (uint32_t i = 0; o && t->n && i < w->t->quantity_n; i++)
        gr_value_set(&w->arena, o, gr_arena_strndup(&w->arena, w->t->quantity[i].p, w->t->quantity[i].n), real(w, t->v[(t->n - 1) * t->width + from + i]));
    return o;
}

static bool describe(writer *w, gr_value *o) {
    gr_training *t = w->t;
    char hash[72];
    GR_TRY(set(w, o, "optimizer", gr_value_new_str(&w->arena, t->train->op)) && set(w, o, "batch", number(w, t->train->batch)));
    GR_TRY(set(w, o, "rows_train", number(w, t->train_n)) && set(w, o, "rows_test", number(w, t->test_n)));
    GR_TRY(set(w, o, "steps", number(w, t->step)) && set(w, o, "steps_declared", number(w, t->declared)) && set(w, o, "steps_of_epoch", number(w, t->per_epoch)));
    GR_TRY(set(w, o, "stopped_early", gr_value_new_bool(&w->arena, t->gave_up)));
    GR_TRY(gr_training_hash(t, false, hash) && set(w, o, "parameters_hash", text(w, hash)) && set(w, o, "last_batch", last_values(w, &t->curve, 3)));
    if (!t->best_step) return true;
    GR_TRY(gr_training_hash(t, true, hash) && set(w, o, "best_parameters_hash", text(w, hash)) && set(w, o, "best_step", number(w, t->best_step)));
    return set(w, o, "best", real(w, t->best)) && set(w, o, "last_evaluation", last_values(w, &t->evaluation, 2));
}

static bool put_record(writer *w) {
    gr_value *o = gr_value_new(&w->arena, GR_V_OBJECT), *training = gr_value_new(&w->arena, GR_V_OBJECT);
    gr_buf b = {0};
    if (!o || !training) return gr_report_oom(diags_of(w));
    GR_TRY(gr_record_program(&w->arena, o, w->t->loop[GR_LOOP_STEP].program) && describe(w, training));
    GR_TRY(set(w, o, "gradus", text(w, "train/1")) && set(w, o, "training", training));
    bool ok = gr_json_canonical(&b, o);
    gr_buf_putc(&b, '\n');
    ok = ok ? put_file(w, "train.json", &b) : gr_report_oom(diags_of(w));
    gr_buf_free(&b);
    return ok;
}

bool gr_training_write(gr_training *t, gr_on_file *on_file, void *user) {
    static const char *const step[] = {"step", "epoch", "rate", NULL}, *const test[] = {"step", "epoch", NULL};
    writer w = {.t = t, .on_file = on_file, .user = user};
    if (!t->out.n || !t->prepared) return true;
    bool ok = put_parameters(&w) && put_table(&w, "curve.csv", &t->curve, step) && (!t->evaluation.n || put_table(&w, "evaluation.csv", &t->evaluation, test)) &&
              put_picture(&w) && put_record(&w);
    gr_arena_free(&w.arena);
    return ok;
}
