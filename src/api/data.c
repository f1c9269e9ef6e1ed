/* data.c: data files as a whole: what they hold, and arrays from several into one. */
#include "api/session.h"
#include "api/train.h"

#include "array/archive.h"
#include "base/file.h"

enum { SHOWN = 64 };

/* ---- showing ------------------------------------------------------------------------------------------- */

typedef struct shown { gr_session *s; gr_arena *a; const gr_archive *f; gr_buf out; bool json; } shown;

static void show_type(shown *w, const gr_entry *e, const gr_array *x) {
    if (w->json) {
        gr_buf_printf(&w->out, ", \"dtype\": \"%s\", \"shape\": [", gr_dtype_name(x->dtype));
        for (uint32_t k = 0; k < x->rank; k++) gr_buf_printf(&w->out, "%s%llu", k ? ", " : "", (unsigned long long)x->dims[k]);
        gr_buf_puts(&w->out, "]");
        if (e->stored.n) gr_buf_puts(&w->out, ", \"stored\": "), gr_json_string(&w->out, e->stored);
        return;
    }
    gr_buf_puts(&w->out, "  ");
    gr_array_print_type(&w->out, x);
    gr_buf text = {0};
    gr_buf_printf(&text, "%s", gr_dtype_name(x->dtype));
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= 'a' && text.p[i] <= 'z') text.p[i] = (char)(text.p[i] - 32);
    if (e->stored.n && !gr_str_eq(e->stored, gr_buf_view(&text))) gr_buf_printf(&w->out, " stored as %.*s", GR_STR_ARG(e->stored));
    gr_buf_free(&text);
}

/* One array; elements are read for its hash and let go again. */
static void show_entry(shown *w, uint32_t i, bool elements) {
    gr_arena temporary = {0};
    const gr_entry *e = &w->f->entries[i];
    gr_array x = e->type;
    char hash[72] = "";
    bool read = gr_archive_get(w->f, &temporary, &w->s->diags, i, &x);
    if (read) gr_sha256_text(hash, gr_sha256_of(x.data, x.bytes));
    if (w->json) gr_buf_puts(&w->out, i && !elements ? ", {\"name\": " : "{\"name\": "), gr_json_string(&w->out, e->name);
    else gr_buf_printf(&w->out, "  %.*s", GR_STR_ARG(e->name.n ? e->name : GR_STR("-")));
    show_type(w, e, &x);
    if (w->json) gr_buf_printf(&w->out, ", \"bytes\": %zu, \"hash\": %s%s%s}", x.bytes, read ? "\"" : "", read ? hash : "null", read ? "\"" : "");
    else gr_buf_printf(&w->out, "  %s\n", read ? hash : "cannot be read");
    if (read && elements && !w->json) gr_array_print(&w->out, &x, SHOWN);
    gr_arena_free(&temporary);
}

static void show_metadata(shown *w) {
    const gr_archive *f = w->f;
    if (w->json) gr_buf_puts(&w->out, "], \"metadata\": {");
    for (uint32_t i = 0; i < f->metadata_n; i++) {
        if (!w->json) {
            gr_buf_printf(&w->out, "  metadata %.*s: %.*s\n", GR_STR_ARG(f->metadata[i].key), GR_STR_ARG(f->metadata[i].value));
            continue;
        }
        if (i) gr_buf_puts(&w->out, ", ");
        gr_json_string(&w->out, f->metadata[i].key);
        gr_buf_puts(&w->out, ": ");
        gr_json_string(&w->out, f->metadata[i].value);
    }
    if (w->json) gr_buf_puts(&w->out, "}}\n");
}

static bool show_archive(shown *w, gr_str select) {
    const gr_archive *f = w->f;
    uint32_t one = 0;
    if (select.n) GR_TRY(gr_archive_find(f, &w->s->diags, select, &one));
    if (w->json) {
        gr_buf_puts(&w->out, "{\"file\": ");
        gr_json_string(&w->out, f->file.name);
        gr_buf_printf(&w->out, ", \"format\": \"%s\", \"bytes\": %llu, \"arrays\": [", gr_format_name(f->format), (unsigned long long)f->file.size);
    } else {
        gr_buf_printf(&w->out, "%.*s: %s, %u array%s, %llu bytes\n", GR_STR_ARG(f->file.name), gr_format_name(f->format), f->n, f->n == 1 ? "" : "s", (unsigned long long)f->file.size);
    }
    for (uint32_t i = 0; i < f->n; i++)
        if (!select.n || i == one) show_entry(w, i, select.n != 0);
    show_metadata(w);
    return true;
}

char *gr_data_show(gr_session *s, const char *path, bool json) {
    gr_arena a = {0};
    gr_archive f;
    gr_str select;
    shown w = {.s = s, .a = &a, .f = &f, .json = json};
    gr_format_of(gr_str_of(path), NULL, &select);
    bool ok = gr_archive_open(&a, &s->diags, gr_str_of(path), &f) && show_archive(&w, select);
    if (ok && w.out.failed) ok = gr_report_oom(&s->diags);
    gr_archive_close(&f);
    gr_arena_free(&a);
    if (!ok) gr_buf_free(&w.out);
    return ok ? w.out.p : NULL;
}

/* ---- converting ----------------------------------------------------------------------------------------- */

typedef struct collected { gr_session *s; gr_arena a; GR_VEC(gr_named_array) arrays; gr_save_options options; bool one; } collected;

/* The file's name without folder and ending. */
static gr_str stem(gr_str path) {
    size_t from = path.n, end = path.n;
    while (from > 0 && path.p[from - 1] != '/') from--;
    while (end > from && path.p[end - 1] != '.') end--;
    return (gr_str){path.p + from, end > from ? end - from - 1 : 0};
}

static bool add_array(collected *c, const gr_archive *f, uint32_t i, gr_str name, bool alone) {
    gr_named_array *x = GR_PUSH(&c->a, &c->arrays);
    if (!x) return gr_report_oom(&c->s->diags);
    gr_str own = f->entries[i].name;
    if (!name.n) x->name = own.n ? own : stem(f->file.name);
    else if (alone) x->name = name;
    else x->name = gr_str_of(gr_arena_printf(&c->a, "%.*s.%.*s", GR_STR_ARG(name), GR_STR_ARG(own)));
    return gr_archive_get(f, &c->a, &c->s->diags, i, &x->array);
}

/* "FILE", "FILE#name" or "NAME=FILE": all arrays of the file, or one. */
static bool add_source(collected *c, const char *text) {
    size_t n = strcspn(text, "=#");
    bool named = text[n] == '=';
    gr_str name = {text, named ? n : 0}, select;
    gr_str path = gr_str_of(named ? text + n + 1 : text);
    gr_diags *d = &c->s->diags;
    gr_archive f;
    uint32_t i = 0;
    gr_format format = gr_format_of(path, NULL, &select);
    bool ok = gr_archive_open(&c->a, d, path, &f);
    bool alone = select.n || f.n == 1 || (format == GR_FORMAT_WAV && c->one);
    if (ok && alone) ok = gr_archive_find(&f, d, select, &i) && add_array(c, &f, i, name, true);
    for (i = 0; ok && !alone && i < f.n; i++) ok = add_array(c, &f, i, name, false);
    if (ok && f.metadata_n && !c->options.metadata) c->options.metadata = f.metadata, c->options.metadata_n = f.metadata_n;
    gr_archive_close(&f);
    return ok;
}

bool gr_data_convert(gr_session *s, const char *const *from, unsigned from_n, const char *to, bool compress) {
    gr_format format = gr_format_of(gr_str_of(to), NULL, NULL);
    collected c = {.s = s, .options = {.compress = compress}, .one = !gr_format_is_archive(format) && format != GR_FORMAT_WAV};
    bool ok = true;
    for (unsigned i = 0; ok && i < from_n; i++) ok = add_source(&c, from[i]);
    ok = ok && gr_dir_make(&s->diags, gr_path_dir(gr_str_of(to))) && gr_archive_save(&s->diags, gr_str_of(to), c.arrays.v, c.arrays.n, &c.options);
    gr_arena_free(&c.a);
    return ok;
}

/* ---- trained parameters out -------------------------------------------------------------------------------- */

/* Parameters are called as their nodes; states have a '.' in their names, what belongs to the training a '/'. */
static bool add_checkpoint(collected *c, gr_str path, bool last) {
    gr_diags *d = &c->s->diags;
    gr_archive f;
    bool ok = gr_archive_open(&c->a, d, path, &f);
    if (ok && !gr_str_eqz(gr_archive_metadata(&f, "format"), GR_TRAIN_FORMAT))
        ok = gr_report(d, GR_D_RUN_CHECKPOINT_BAD, (gr_place){.document = path}, "name the output folder of `gradus train`, or its checkpoint.safetensors", "%.*s was not written by a training", GR_STR_ARG(path));
    for (uint32_t i = 0; ok && i < f.n; i++) {
        gr_str name = f.entries[i].name;
        uint32_t best = i;
        if (gr_str_has(name, '/') || gr_str_has(name, '.')) continue;
        for (uint32_t k = 0; !last && k < f.n; k++) {
            gr_str other = f.entries[k].name;
            size_t n = sizeof GR_TRAIN_BEST - 1;
            if (gr_str_starts(other, GR_TRAIN_BEST) && gr_str_eq((gr_str){other.p + n, other.n - n}, name)) best = k;
        }
        ok = add_array(c, &f, best, name, true);
    }
    gr_archive_close(&f);
    return ok;
}

static bool add_folder(collected *c, gr_str folder) {
    gr_str *names;
    uint32_t n;
    GR_TRY(gr_dir_list(&c->a, &c->s->diags, folder, &names, &n));
    for (uint32_t i = 0; i < n; i++) {
        gr_str path = gr_path_join(&c->a, folder, names[i]);
        if (!path.n) return gr_report_oom(&c->s->diags);
        if (gr_str_ends(names[i], ".npy")) GR_TRY(add_source(c, path.p));
    }
    return c->arrays.n || gr_report(&c->s->diags, GR_D_RUN_CHECKPOINT_BAD, (gr_place){.document = folder}, "name the output folder of `gradus train`",
                                    "%.*s holds neither a checkpoint nor parameters", GR_STR_ARG(folder));
}

bool gr_export(gr_session *s, const char *from, const char *to, bool last, bool compress, unsigned *n) {
    static const gr_text_pair made_by[] = {{{"format", 6}, {"gradus", 6}}};
    collected c = {.s = s, .options = {.compress = compress}};
    gr_str path = gr_str_of(from), checkpoint = gr_path_join(&c.a, path, GR_STR("checkpoint.safetensors"));
    gr_format format = gr_format_of(gr_str_of(to), NULL, NULL);
    bool ok = checkpoint.n || gr_report_oom(&s->diags);
    if (ok && !gr_format_is_archive(format)) ok = gr_report(&s->diags, GR_D_ARRAY_UNKNOWN_FILE, (gr_place){0}, "write .safetensors or .npz", "%s cannot hold several arrays with names", to);
    if (ok && gr_str_ends(path, ".safetensors")) ok = add_checkpoint(&c, path, last);
    else if (ok && gr_file_exists(checkpoint)) ok = add_checkpoint(&c, checkpoint, last);
    else if (ok) ok = add_folder(&c, path);
    c.options.metadata = made_by;
    c.options.metadata_n = 1;
    ok = ok && gr_dir_make(&s->diags, gr_path_dir(gr_str_of(to))) && gr_archive_save(&s->diags, gr_str_of(to), c.arrays.v, c.arrays.n, &c.options);
    if (n) *n = c.arrays.n;
    gr_arena_free(&c.a);
    return ok;
}

bool gr_tensors_save(gr_session *s, const char *path, const char *const *names, const gr_tensor *tensors, unsigned n) {
    gr_arena a = {0};
    gr_named_array *list = GR_NEW_N(&a, gr_named_array, n);
    for (unsigned i = 0; list && i < n; i++) {
        const gr_tensor *t = &tensors[i];
        list[i].name = gr_str_of(names[i]);
        list[i].array = (gr_array){.dtype = gr_dtype_find(gr_str_of(t->dtype)), .rank = t->rank, .data = (void *)(uintptr_t)t->data, .bytes = t->bytes};
        for (unsigned k = 0; k < t->rank && k < GR_RANK_MAX; k++) list[i].array.dims[k] = t->dims[k];
    }
    bool ok = list ? gr_dir_make(&s->diags, gr_path_dir(gr_str_of(path))) && gr_archive_save(&s->diags, gr_str_of(path), list, n, NULL) : gr_report_oom(&s->diags);
    gr_arena_free(&a);
    return ok;
}
