/* Parameters and states between host and device, and the checkpoint: one .safetensors file with parameters, states, the best
 * parameters and the curves, written beside the old one and renamed, so that a kill leaves one whole file. */
#include "api/train.h"

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
static gr_sha256 data_hash(const gr_training *t) {
    const gr_program *p = program_of(t);
    gr_sha256_state h;
    gr_sha256_init(&h);
    for (uint32_t i = 0; i < p->loaded_n; i++) {
        bool parameter = false;
        for (uint32_t k = 0; k < t->slot_n; k++) parameter = parameter || gr_str_eq(t->slot[k].name, p->loaded[i].node);
        if (parameter) continue;
        gr_sha256_update(&h, p->loaded[i].node.p, p->loaded[i].node.n);
        gr_sha256_update(&h, p->loaded[i].hash.b, sizeof p->loaded[i].hash.b);
    }
    return gr_sha256_final(&h);
}

enum { IDENTITY_N = 5 };
typedef struct identity { const char *key, *what; char text[96]; } identity;

/* What a resumed training must have in common with the one that wrote the file. */
static void identify(const gr_training *t, identity id[IDENTITY_N]) {
    static const struct { const char *key, *what; } names[IDENTITY_N] = {
        {"format", "of another form"}, {"document", "of another document, or this one was changed"}, {"data", "of other data"},
        {"optimizer", "of another optimizer, or its content was changed"}, {"tier", "of another determinism tier"}};
    const gr_program *p = program_of(t);
    const gr_op *op = gr_catalog_find(t->session->catalog, t->train->op);
    for (int i = 0; i < IDENTITY_N; i++) id[i] = (identity){.key = names[i].key, .what = names[i].what};
    snprintf(id[0].text, sizeof id[0].text, "gradus-training/1");
    gr_sha256_text(id[1].text, p->canvas.hash);
    gr_sha256_text(id[2].text, data_hash(t));
    if (op) gr_sha256_text(id[3].text, op->hash);
    snprintf(id[4].text, sizeof id[4].text, "%s", gr_program_tier(p));
}

/* ---- writing: 8 bytes with the header's length, a JSON header, the data (huggingface/safetensors, format) -------- */

typedef struct saving {
    gr_training *t;
    gr_arena arena;
    gr_value *header;
    gr_buf data;
} saving;

static const char *stored_name(gr_dtype t) {
    static const char *const names[GR_DTYPE_COUNT] = {"", "F16", "F32", "F64", "I8", "U8", "I32", "U32", "I64", "U64", "BOOL"};
    return names[t < GR_DTYPE_COUNT ? t : 0];
}

static bool add_tensor(saving *s, const char *name, const gr_array *x) {
    gr_arena *a = &s->arena;
    gr_value *e = gr_value_new(a, GR_V_OBJECT), *shape = gr_value_new(a, GR_V_ARRAY), *at = gr_value_new(a, GR_V_ARRAY);
    if (!name || !e || !shape || !at) return false;
    for (uint32_t i = 0; i < x->rank; i++) GR_TRY(gr_value_push(a, shape, gr_value_new_i64(a, (int64_t)x->dims[i])));
    GR_TRY(gr_value_push(a, at, gr_value_new_i64(a, (int64_t)s->data.n)));
    gr_buf_put(&s->data, x->data, x->bytes);
    GR_TRY(!s->data.failed && gr_value_push(a, at, gr_value_new_i64(a, (int64_t)s->data.n)));
    return gr_value_set(a, e, "dtype", gr_value_new_str(a, gr_str_of(stored_name(x->dtype)))) && gr_value_set(a, e, "shape", shape) &&
           gr_value_set(a, e, "data_offsets", at) && gr_value_set(a, s->header, name, e);
}

static bool add_table(saving *s, const char *name, const gr_table *t) {
    gr_array x = {.dtype = GR_DTYPE_F64, .rank = 2, .dims = {t->n, t->width}, .data = t->v, .bytes = (size_t)t->n * t->width * sizeof(double)};
    return add_tensor(s, name, &x);
}

static bool add_progress(saving *s) {
    const gr_training *t = s->t;
    double v[5] = {(double)t->step, t->best, (double)t->best_step, (double)t->waited, t->gave_up};
    gr_array x = {.dtype = GR_DTYPE_F64, .rank = 1, .dims = {5}, .data = v, .bytes = sizeof v};
    return add_tensor(s, "training/progress", &x);
}

static bool add_slots(saving *s) {
    gr_training *t = s->t;
    for (uint32_t i = 0; i < t->slot_n; i++) {
        gr_array x = {0};
        GR_TRY(gr_slot_read(t, &t->slot[i], &x));
        bool ok = add_tensor(s, gr_arena_printf(&s->arena, "%.*s", GR_STR_ARG(t->slot[i].name)), &x);
        gr_heap_free(x.data);
        GR_TRY(ok);
        if (t->slot[i].best.data) GR_TRY(add_tensor(s, gr_arena_printf(&s->arena, "best/%.*s", GR_STR_ARG(t->slot[i].name)), &t->slot[i].best));
    }
    return true;
}

static bool add_metadata(saving *s) {
    gr_arena *a = &s->arena;
    gr_value *m = gr_value_new(a, GR_V_OBJECT);
    identity id[IDENTITY_N];
    identify(s->t, id);
    for (int i = 0; m && i < IDENTITY_N; i++) GR_TRY(gr_value_set(a, m, id[i].key, gr_value_new_str(a, gr_str_dup(a, gr_str_of(id[i].text)))));
    return gr_value_set(a, s->header, "__metadata__", m);
}

/* The header padded with blanks to a multiple of 8, then the data. */
static bool write_file(saving *s, gr_str path) {
    gr_diags *d = &s->t->session->diags;
    gr_buf head = {0}, all = {0};
    bool ok = gr_json_canonical(&head, s->header);
    while (ok && head.n % 8) gr_buf_putc(&head, ' ');
    for (int i = 0; i < 8; i++) gr_buf_putc(&all, (char)(head.n >> 8 * i & 255));
    gr_buf_str(&all, gr_buf_view(&head));
    gr_buf_str(&all, gr_buf_view(&s->data));
    ok = ok && !head.failed && !all.failed ? gr_dir_make(d, s->t->out) && gr_file_write(d, path, all.p, all.n) : gr_report_oom(d);
    gr_buf_free(&head);
    gr_buf_free(&all);
    return ok;
}

bool gr_training_save(gr_training *t) {
    saving s = {.t = t};
    gr_diags *d = &t->session->diags;
    uint32_t errors = d->errors;
    gr_str path = gr_training_checkpoint_path(t);
    s.header = gr_value_new(&s.arena, GR_V_OBJECT);
    bool ok = s.header && path.n && add_metadata(&s) && add_progress(&s) && add_table(&s, "training/curve", &t->curve) &&
              add_table(&s, "training/evaluation", &t->evaluation) && add_slots(&s);
    if (!ok && d->errors == errors) gr_report_oom(d);
    ok = ok && write_file(&s, path);
    gr_buf_free(&s.data);
    gr_arena_free(&s.arena);
    return ok;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

typedef struct loading {
    gr_training *t;
    gr_arena arena;
    gr_str path, data;
    gr_doc doc;
} loading;

static bool damaged(loading *l, const char *what, const char *name) {
    return gr_report(&l->t->session->diags, GR_D_RUN_CHECKPOINT_BAD, (gr_place){.document = l->path}, "train afresh without --resume, or restore the file", "%s%s%s", what, name ? " " : "", name ? name : "");
}

static bool open_file(loading *l) {
    gr_str text;
    uint64_t n = 0;
    GR_TRY(gr_file_read(&l->arena, &l->t->session->diags, l->path, SIZE_MAX / 2, &text));
    if (text.n < 8) return damaged(l, "the file is cut off", NULL);
    for (int i = 0; i < 8; i++) n |= (uint64_t)(uint8_t)text.p[i] << 8 * i;
    if (n > text.n - 8) return damaged(l, "the file is cut off", NULL);
    l->data = (gr_str){text.p + 8 + n, text.n - 8 - (size_t)n};
    GR_TRY(gr_json_parse(&l->arena, &l->t->session->diags, l->path, (gr_str){text.p + 8, (size_t)n}, &l->doc));
    return l->doc.root->kind == GR_V_OBJECT || damaged(l, "the header is no object", NULL);
}

static bool check_identity(loading *l) {
    const gr_value *m = gr_value_get(l->doc.root, "__metadata__");
    identity id[IDENTITY_N];
    identify(l->t, id);
    for (int i = 0; i < IDENTITY_N; i++) {
        const gr_value *v = m ? gr_value_get(m, id[i].key) : NULL;
        if (v && v->kind == GR_V_STRING && gr_str_eqz(v->s, id[i].text)) continue;
        return gr_report(&l->t->session->diags, GR_D_RUN_CHECKPOINT_OTHER, (gr_place){.document = l->path}, "train afresh without --resume, give another --out, or bring back what was changed",
                         "the checkpoint is %s", id[i].what);
    }
    return true;
}

/* A tensor of the file as a view; its type must be as `want` says, a first dimension of UINT64_MAX being any. */
static bool get_tensor(loading *l, const char *name, const gr_array *want, gr_array *out) {
    const gr_value *e = name ? gr_value_get(l->doc.root, name) : NULL, *type = gr_value_get(e, "dtype"), *shape = gr_value_get(e, "shape"), *at = gr_value_get(e, "data_offsets");
    *out = *want;
    bool ok = type && type->kind == GR_V_STRING && gr_str_eqz(type->s, stored_name(want->dtype)) && shape && shape->kind == GR_V_ARRAY && shape->array.n == want->rank &&
              at && at->kind == GR_V_ARRAY && at->array.n == 2 && at->array.v[0]->kind == GR_V_INT && at->array.v[1]->kind == GR_V_INT;
    if (!ok) return damaged(l, "it lacks, or has with another type,", name);
    for (uint32_t i = 0; ok && i < want->rank; i++) {
        const gr_value *v = shape->array.v[i];
        ok = v->kind == GR_V_INT && v->i >= 0 && (want->dims[i] == UINT64_MAX || want->dims[i] == (uint64_t)v->i);
        if (ok) out->dims[i] = (uint64_t)v->i;
    }
    int64_t lo = at->array.v[0]->i, hi = at->array.v[1]->i;
    ok = ok && gr_dims_bytes(out->dtype, out->dims, out->rank, &out->bytes) && lo >= 0 && hi >= lo && (uint64_t)hi <= l->data.n && (uint64_t)(hi - lo) == out->bytes;
    if (!ok) return damaged(l, "it has another shape, or too few bytes, of", name);
    out->data = gr_arena_alloc(&l->arena, out->bytes + 1, 1); /* aligned */
    if (!out->data) return gr_report_oom(&l->t->session->diags);
    memcpy(out->data, l->data.p + lo, out->bytes);
    return true;
}

static bool get_table(loading *l, const char *name, gr_table *t) {
    gr_array x, want = {.dtype = GR_DTYPE_F64, .rank = 2, .dims = {UINT64_MAX, t->width}};
    GR_TRY(get_tensor(l, name, &want, &x));
    t->n = 0;
    for (uint64_t i = 0; i < x.dims[0]; i++) GR_TRY(gr_table_add(t, &l->t->session->diags, (const double *)x.data + i * t->width));
    return true;
}

static bool get_progress(loading *l) {
    gr_training *t = l->t;
    gr_array x, want = {.dtype = GR_DTYPE_F64, .rank = 1, .dims = {5}};
    GR_TRY(get_tensor(l, "training/progress", &want, &x));
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

static bool get_slot(loading *l, gr_slot *s) {
    gr_training *t = l->t;
    gr_array x, want = array_of_type(&s->type);
    GR_TRY(get_tensor(l, gr_arena_printf(&l->arena, "%.*s", GR_STR_ARG(s->name)), &want, &x) && gr_slot_write(t, s, &x));
    if (s->is_state || t->best_step == 0) return true;
    GR_TRY(get_tensor(l, gr_arena_printf(&l->arena, "best/%.*s", GR_STR_ARG(s->name)), &want, &x));
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
    bool ok = open_file(&l) && check_identity(&l) && get_table(&l, "training/curve", &t->curve) && get_table(&l, "training/evaluation", &t->evaluation) && get_progress(&l);
    for (uint32_t i = 0; ok && i < t->slot_n; i++) ok = get_slot(&l, &t->slot[i]);
    gr_arena_free(&l.arena);
    return ok;
}
