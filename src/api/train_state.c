/* Parameters and states between host and device, and the checkpoint: one .safetensors file with parameters, states, the best
 * parameters and the curves, written beside the old one and renamed, so that a kill leaves one whole file. */
#include "api/train.h"
#include "api/inputs.h"

#include "array/archive.h"
#include "base/file.h"

#include <stdio.h>

/* ---- slots ------------------------------------------------------------------------------ */

static gr_array array_of_type(const gr_type *t) {
    gr_array x = {.dtype = t->dtype, .rank = t->rank};
    for (uint32_t i = 0; i < t->rank; i++) x.dims[i] = t->dim[i].n;
    return x;
}

bool gr_slot_read(gr_training *t, const gr_slot *s, gr_array *out) {
    gr_diags *d = &t->session->diags;
    gr_array x = array_of_type(&s->type);
    if (!gr_dims_bytes(x.dtype, x.dims, x.rank, &x.bytes)) return GR_BUG(d, "T1", "a parameter has no size");
    void *packed = gr_heap_alloc((size_t)s->bytes + 1, 1);
    x.data = gr_heap_alloc(x.bytes + 1, 1);
    bool ok = packed && x.data ? gr_buffer_read(s->buffer, 0, packed, s->bytes) : gr_report_oom(d);
    if (ok) gr_unpack(&x, packed);
    gr_heap_free(packed);
    if (ok) *out = x;
    else gr_heap_free(x.data);
    return ok;
}

bool gr_slot_write(gr_training *t, const gr_slot *s, const gr_array *value) {
    void *packed = gr_heap_alloc((size_t)s->bytes + 1, 1);
    if (!packed) return gr_report_oom(&t->session->diags);
    gr_pack(packed, value);
    bool ok = gr_buffer_write(s->buffer, 0, packed, s->bytes);
    gr_heap_free(packed);
    return ok;
}

bool gr_slot_keep_best(gr_training *t) {
    for (uint32_t i = 0; i < t->slot_n && !t->slot[i].is_state; i++) {
        gr_array x = {0};
        GR_TRY(gr_slot_read(t, &t->slot[i], &x));
        gr_heap_free(t->slot[i].best.data);
        t->slot[i].best = x;
    }
    return true;
}

/* ---- what a checkpoint is of ---------------------------------------------------------------- */

gr_str gr_training_checkpoint_path(gr_training *t) { return gr_path_join(&t->arena, t->out, GR_STR("checkpoint.safetensors")); }

static const gr_program *program_of(const gr_training *t) { return t->loop[GR_LOOP_STEP].program; }

/* Over the data that rows are taken from, and all other inputs: not the parameters, which the checkpoint holds. */
static bool data_hash(const gr_training *t, gr_sha256 *out) {
    const gr_program *p = program_of(t);
    gr_sha256_state h;
    gr_sha256_init(&h);
    for (uint32_t i = 0; i < p->loaded_n; i++) {
        bool parameter = false;
        for (uint32_t k = 0; k < t->slot_n; k++) parameter = parameter || gr_str_eq(t->slot[k].name, p->loaded[i].node);
        if (parameter) continue;
        gr_sha256_update(&h, p->loaded[i].node.p, p->loaded[i].node.n);
        gr_sha256 data;
        GR_TRY(gr_loaded_hash(&p->loaded[i], &t->session->diags, &data));
        gr_sha256_update(&h, data.b, sizeof data.b);
    }
    *out = gr_sha256_final(&h);
    return true;
}

enum { IDENTITY_N = 5 };
typedef struct identity { const char *key, *what; char text[96]; } identity;

/* What a resumed training must have in common with the one that wrote the file. */
static bool identify(const gr_training *t, identity id[IDENTITY_N]) {
    static const struct { const char *key, *what; } names[IDENTITY_N] = {
        {"format", "of another form"}, {"document", "of another document, or this one was changed"}, {"data", "of other data"},
        {"optimizer", "of another optimizer, or its content was changed"}, {"tier", "of another determinism tier"}};
    const gr_program *p = program_of(t);
    const gr_op *op = gr_catalog_find(t->session->catalog, t->train->op);
    for (int i = 0; i < IDENTITY_N; i++) id[i] = (identity){.key = names[i].key, .what = names[i].what};
    snprintf(id[0].text, sizeof id[0].text, GR_TRAIN_FORMAT);
    gr_sha256_text(id[1].text, p->canvas.hash);
    gr_sha256 data;
    GR_TRY(data_hash(t, &data));
    gr_sha256_text(id[2].text, data);
    if (op) gr_sha256_text(id[3].text, op->hash);
    snprintf(id[4].text, sizeof id[4].text, "%s", gr_program_tier(p));
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------ */

typedef struct saving {
    gr_training *t;
    gr_arena arena;
    gr_named_array *list;
    uint32_t n;
} saving;

static void add(saving *s, const char *name, gr_array x) {
    if (name) s->list[s->n++] = (gr_named_array){gr_str_of(name), x};
}

static gr_array array_of_table(const gr_table *t) {
    return (gr_array){.dtype = GR_DTYPE_F64, .rank = 2, .dims = {t->n, t->width}, .data = t->v, .bytes = (size_t)t->n * t->width * sizeof(double)};
}

/* Names of a slot, and of the best of it; both are no names of nodes. */
static char *name_of(gr_arena *a, const char *prefix, gr_str name) { return gr_arena_printf(a, "%s%.*s", prefix, GR_STR_ARG(name)); }

static bool add_slots(saving *s) {
    gr_training *t = s->t;
    for (uint32_t i = 0; i < t->slot_n; i++) {
        gr_array x = {0};
        char *name = name_of(&s->arena, "", t->slot[i].name), *best = name_of(&s->arena, GR_TRAIN_BEST, t->slot[i].name);
        if (!name || !best) return gr_report_oom(&t->session->diags);
        GR_TRY(gr_slot_read(t, &t->slot[i], &x));
        gr_heap_free(t->slot[i].copy.data); /* owns it until the next */
        t->slot[i].copy = x;
        add(s, name, x);
        if (t->slot[i].best.data) add(s, best, t->slot[i].best);
    }
    return true;
}

bool gr_training_save(gr_training *t) {
    saving s = {.t = t};
    identity id[IDENTITY_N];
    gr_text_pair pairs[IDENTITY_N];
    double progress[5] = {(double)t->step, t->best, (double)t->best_step, (double)t->waited, t->gave_up};
    gr_diags *d = &t->session->diags;
    gr_str path = gr_training_checkpoint_path(t);
    double scale[3] = {t->mixed.scale, (double)t->mixed.good, (double)t->mixed.skipped};
    s.list = GR_NEW_N(&s.arena, gr_named_array, 4 + 2 * (size_t)t->slot_n);
    bool ok = s.list && path.n ? true : gr_report_oom(d);
    ok = ok && identify(t, id);
    for (int i = 0; ok && i < IDENTITY_N; i++) pairs[i] = (gr_text_pair){gr_str_of(id[i].key), gr_str_of(id[i].text)};
    if (ok) add(&s, "training/progress", (gr_array){.dtype = GR_DTYPE_F64, .rank = 1, .dims = {5}, .data = progress, .bytes = sizeof progress});
    if (ok && t->train->mixed) add(&s, "training/scale", (gr_array){.dtype = GR_DTYPE_F64, .rank = 1, .dims = {3}, .data = scale, .bytes = sizeof scale});
    if (ok) add(&s, "training/curve", array_of_table(&t->curve));
    if (ok) add(&s, "training/evaluation", array_of_table(&t->evaluation));
    ok = ok && add_slots(&s) && gr_dir_make(d, t->out) &&
         gr_archive_save(d, path, s.list, s.n, &(gr_save_options){.metadata = pairs, .metadata_n = IDENTITY_N});
    gr_arena_free(&s.arena);
    return ok;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

typedef struct loading {
    gr_training *t;
    gr_arena arena;
    gr_str path;
    gr_archive file;
} loading;

static bool damaged(loading *l, const char *what, const char *name) {
    return gr_report(&l->t->session->diags, GR_D_RUN_CHECKPOINT_BAD, (gr_place){.document = l->path}, "train afresh without --resume, or restore the file", "%s%s%s", what, name ? " " : "", name ? name : "");
}

static bool check_identity(loading *l) {
    identity id[IDENTITY_N];
    GR_TRY(identify(l->t, id));
    for (int i = 0; i < IDENTITY_N; i++) {
        if (gr_str_eqz(gr_archive_metadata(&l->file, id[i].key), id[i].text)) continue;
        return gr_report(&l->t->session->diags, GR_D_RUN_CHECKPOINT_OTHER, (gr_place){.document = l->path}, "train afresh without --resume, give another --out, or bring back what was changed",
                         "the checkpoint is %s", id[i].what);
    }
    return true;
}

/* An array of the file; its type must be as `want` says, a first dimension of UINT64_MAX being any. */
static bool get_array(loading *l, const char *name, const gr_array *want, gr_array *out) {
    gr_diags *d = &l->t->session->diags;
    uint32_t i;
    GR_TRY(name ? gr_archive_find(&l->file, d, gr_str_of(name), &i) && gr_archive_get(&l->file, &l->arena, d, i, out) : gr_report_oom(d));
    bool ok = out->dtype == want->dtype && out->rank == want->rank;
    for (uint32_t k = 0; ok && k < want->rank; k++) ok = want->dims[k] == UINT64_MAX || want->dims[k] == out->dims[k];
    return ok || damaged(l, "it has another type of", name);
}

static bool get_table(loading *l, const char *name, gr_table *t) {
    gr_array x, want = {.dtype = GR_DTYPE_F64, .rank = 2, .dims = {UINT64_MAX, t->width}};
    GR_TRY(get_array(l, name, &want, &x));
    t->n = 0;
    for (uint64_t i = 0; i < x.dims[0]; i++) GR_TRY(gr_table_add(t, &l->t->session->diags, (const double *)x.data + i * t->width));
    return true;
}

static bool get_progress(loading *l) {
    gr_training *t = l->t;
    gr_array x, want = {.dtype = GR_DTYPE_F64, .rank = 1, .dims = {5}};
    GR_TRY(get_array(l, "training/progress", &want, &x));
    const double *v = x.data;
    if (!(v[0] >= 0 && v[0] < 0x1p53 && v[2] >= 0 && v[2] <= v[0] && v[3] >= 0 && v[3] < 0x1p53) || (double)t->curve.n < v[0] || (double)t->curve.n > v[0])
        return damaged(l, "its steps do not fit its curve", NULL);
    t->step = (uint64_t)v[0];
    t->best = v[1];
    t->best_step = (uint64_t)v[2];
    t->waited = (uint64_t)v[3];
    t->gave_up = v[4] > 0;
    return true;
}

static bool get_scale(loading *l) {
    gr_training *t = l->t;
    gr_array x, want = {.dtype = GR_DTYPE_F64, .rank = 1, .dims = {3}};
    if (!t->train->mixed) return true;
    GR_TRY(get_array(l, "training/scale", &want, &x));
    const double *v = x.data;
    if (!(v[0] > 0 && v[0] < 0x1p60 && v[1] >= 0 && v[1] < 0x1p53 && v[2] >= 0 && v[2] <= (double)t->step)) return damaged(l, "its loss scale is none", NULL);
    t->mixed.scale = v[0];
    t->mixed.good = (uint64_t)v[1];
    t->mixed.skipped = (uint64_t)v[2];
    return true;
}

static bool get_slot(loading *l, gr_slot *s) {
    gr_training *t = l->t;
    gr_array x, want = array_of_type(&s->type);
    GR_TRY(get_array(l, name_of(&l->arena, "", s->name), &want, &x) && gr_slot_write(t, s, &x));
    if (s->is_state || t->best_step == 0) return true;
    GR_TRY(get_array(l, name_of(&l->arena, GR_TRAIN_BEST, s->name), &want, &x));
    gr_heap_free(s->best.data);
    s->best = x;
    s->best.data = gr_heap_alloc(x.bytes + 1, 1);
    if (!s->best.data) return gr_report_oom(&t->session->diags);
    memcpy(s->best.data, x.data, x.bytes);
    return true;
}

bool gr_training_load(gr_training *t, bool *found) {
    loading l = {.t = t, .path = gr_training_checkpoint_path(t)};
    *found = l.path.n && gr_file_exists(l.path);
    if (!*found) return true;
    bool opened = gr_archive_open(&l.arena, &t->session->diags, l.path, &l.file);
    bool ok = opened && check_identity(&l) && get_table(&l, "training/curve", &t->curve) && get_table(&l, "training/evaluation", &t->evaluation) && get_progress(&l) && get_scale(&l);
    for (uint32_t i = 0; ok && i < t->slot_n; i++) ok = get_slot(&l, &t->slot[i]);
    gr_archive_close(&l.file);
    gr_arena_free(&l.arena);
    return ok;
}
