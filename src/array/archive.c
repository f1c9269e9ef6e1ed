/* archive.c: one interface over the formats, and file names with '#'. */
#include "array/archive.h"

#include "base/file.h"

typedef struct ending { const char *text; gr_format format; } ending;
static const ending endings[] = {
    {".npy", GR_FORMAT_NPY}, {".csv", GR_FORMAT_CSV}, {".tsv", GR_FORMAT_CSV},
    {".npz", GR_FORMAT_NPZ}, {".wav", GR_FORMAT_WAV}, {".safetensors", GR_FORMAT_SAFETENSORS},
};
enum { ENDINGS_N = sizeof endings / sizeof *endings };

gr_format gr_format_of(gr_str path, gr_str *file, gr_str *select) {
    gr_str whole = path, rest = {0};
    for (size_t i = 0; i < path.n; i++) {
        gr_str before = {path.p, i};
        if (path.p[i] != '#' || !(gr_str_ends(before, ".npz") || gr_str_ends(before, ".wav") || gr_str_ends(before, ".safetensors"))) continue;
        whole = before;
        rest = (gr_str){path.p + i + 1, path.n - i - 1};
        break;
    }
    if (file) *file = whole;
    if (select) *select = rest;
    for (uint32_t k = 0; k < ENDINGS_N; k++)
        if (gr_str_ends(whole, endings[k].text)) return endings[k].format;
    return GR_FORMAT_NONE;
}

const char *gr_format_name(gr_format f) {
    for (uint32_t k = 0; k < ENDINGS_N; k++)
        if (endings[k].format == f) return endings[k].text + 1;
    return "none";
}

bool gr_format_is_archive(gr_format f) { return f == GR_FORMAT_NPZ || f == GR_FORMAT_SAFETENSORS; }

static bool unknown(gr_diags *d, gr_str path) {
    return gr_report(d, GR_D_ARRAY_UNKNOWN_FILE, (gr_place){.document = path}, "use .npy, .npz, .safetensors, .wav, .csv or .tsv",
                     "%.*s has an ending that we do not know", GR_STR_ARG(path));
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool check_names(gr_arena *a, gr_diags *d, const gr_archive *f) {
    gr_map seen = {0};
    for (uint32_t i = 0; i < f->n; i++) {
        if (gr_map_get(&seen, f->entries[i].name, NULL))
            return gr_report(d, GR_D_ARRAY_NAME, (gr_place){.document = f->file.name}, NULL, "two arrays are called \"%.*s\"", GR_STR_ARG(f->entries[i].name));
        if (!gr_map_put(a, &seen, f->entries[i].name, i)) return gr_report_oom(d);
    }
    return true;
}

bool gr_archive_read_contents(gr_arena *a, gr_diags *d, gr_format format, gr_reader file, gr_archive *out) {
    *out = (gr_archive){.format = format, .file = file};
    switch (format) {
    case GR_FORMAT_NPY:
    case GR_FORMAT_CSV:
        out->entries = GR_NEW(a, gr_entry);
        out->n = 1;
        return out->entries || gr_report_oom(d);
    case GR_FORMAT_NPZ: return gr_npz_contents(a, d, out) && check_names(a, d, out);
    case GR_FORMAT_WAV: return gr_wav_contents(a, d, out);
    case GR_FORMAT_SAFETENSORS: return gr_safetensors_contents(a, d, out);
    case GR_FORMAT_NONE: break;
    }
    return unknown(d, file.name);
}

bool gr_archive_open(gr_arena *a, gr_diags *d, gr_str path, gr_archive *out) {
    gr_reader file = {.fd = -1};
    gr_str name;
    gr_format format = gr_format_of(path, &name, NULL);
    *out = (gr_archive){.file = file};
    if (format == GR_FORMAT_NONE) return unknown(d, path);
    GR_TRY(gr_reader_open(d, name, &file));
    return gr_archive_read_contents(a, d, format, file, out);
}

void gr_archive_close(gr_archive *f) { gr_reader_close(&f->file); }

/* What there is, as far as a line holds it, and the nearest to what was asked for. */
static bool no_such(const gr_archive *f, gr_diags *d, gr_str name) {
    gr_buf list = {0};
    int best = 3;
    gr_str near = {0};
    for (uint32_t i = 0; i < f->n; i++) {
        int distance = gr_str_distance(name, f->entries[i].name);
        if (name.n && distance < best) best = distance, near = f->entries[i].name;
        if (i < 20) gr_buf_printf(&list, "%s%.*s", i ? ", " : "", GR_STR_ARG(f->entries[i].name));
    }
    if (f->n > 20) gr_buf_printf(&list, " and %u more", f->n - 20);
    gr_place at = {.document = f->file.name};
    const char *example = gr_format_name(f->format);
    if (!f->n) gr_report(d, GR_D_ARRAY_NO_SUCH_ARRAY, at, NULL, "the file holds no array");
    else if (name.n) gr_report(d, GR_D_ARRAY_NO_SUCH_ARRAY, at, NULL, "there is no array \"%.*s\"; there are %.*s", GR_STR_ARG(name), GR_STR_ARG(gr_buf_view(&list)));
    else gr_report(d, GR_D_ARRAY_NO_SUCH_ARRAY, at, NULL, "the file holds %u arrays: %.*s", f->n, GR_STR_ARG(gr_buf_view(&list)));
    if (near.n) gr_report_hint(d, "did you mean \"%.*s\"?", GR_STR_ARG(near));
    else if (f->n && !name.n) gr_report_hint(d, "say which: file.%s#%.*s", example, GR_STR_ARG(f->entries[0].name));
    gr_buf_free(&list);
    return false;
}

bool gr_archive_find(const gr_archive *f, gr_diags *d, gr_str name, uint32_t *i) {
    *i = 0;
    if (!name.n && (f->n == 1 || f->format == GR_FORMAT_WAV)) return true;
    for (uint32_t k = 0; name.n && k < f->n; k++)
        if (gr_str_eq(f->entries[k].name, name)) {
            *i = k;
            return true;
        }
    return no_such(f, d, name);
}

/* .npy and .csv are read whole: their only array is the file. */
static bool get_whole(const gr_archive *f, gr_arena *a, gr_diags *d, gr_array *out) {
    gr_arena temporary = {0};
    gr_str text;
    gr_csv table = {0};
    bool ok = gr_reader_part(&f->file, &temporary, d, 0, f->file.size, &text);
    if (ok && f->format == GR_FORMAT_NPY) ok = gr_npy_read(a, d, f->file.name, text, out);
    else if (ok) ok = gr_csv_read(a, d, f->file.name, text, GR_DTYPE_F32, &table);
    gr_arena_free(&temporary);
    if (!ok || f->format == GR_FORMAT_NPY) return ok;
    *out = table.values;
    if (table.columns == 1) out->rank = 1, out->dims[1] = 0;
    return true;
}

gr_str gr_archive_metadata(const gr_archive *f, const char *key) {
    for (uint32_t i = 0; i < f->metadata_n; i++)
        if (gr_str_eqz(f->metadata[i].key, key)) return f->metadata[i].value;
    return (gr_str){0};
}

bool gr_archive_get(const gr_archive *f, gr_arena *a, gr_diags *d, uint32_t i, gr_array *out) {
    const gr_entry *e = &f->entries[i];
    if (f->format == GR_FORMAT_NPZ) return gr_npz_get(f, a, d, e, out);
    if (f->format == GR_FORMAT_WAV) return gr_wav_get(f, a, d, e, out);
    if (f->format == GR_FORMAT_SAFETENSORS) return gr_safetensors_get(f, a, d, e, out);
    return get_whole(f, a, d, out);
}

bool gr_array_load(gr_arena *a, gr_diags *d, gr_str path, size_t limit, gr_array *out) {
    gr_arena contents = {0};
    gr_archive f;
    gr_str select;
    uint32_t i;
    gr_format_of(path, NULL, &select);
    bool ok = gr_archive_open(&contents, d, path, &f);
    if (ok && limit && f.file.size > limit)
        ok = gr_report(d, GR_D_BASE_FILE_TOO_LARGE, (gr_place){.document = path}, NULL, "%.*s is larger than the limit of %zu bytes", GR_STR_ARG(path), limit);
    ok = ok && gr_archive_find(&f, d, select, &i) && gr_archive_get(&f, a, d, i, out);
    gr_archive_close(&f);
    gr_arena_free(&contents);
    return ok;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

/* "rate=8000,bits=16" */
static bool read_options(gr_diags *d, gr_str path, gr_str text, gr_save_options *o) {
    while (text.n) {
        size_t n = 0, at;
        uint64_t v = 0;
        while (n < text.n && text.p[n] != ',') n++;
        gr_str part = {text.p, n};
        text = (gr_str){text.p + n + (n < text.n), text.n - n - (n < text.n)};
        bool rate = gr_str_starts(part, "rate="), ok = (rate || gr_str_starts(part, "bits=")) && n > 5;
        for (at = 5; ok && at < n; at++) {
            ok = part.p[at] >= '0' && part.p[at] <= '9' && v < 100000000;
            v = v * 10 + (uint64_t)(part.p[at] - '0');
        }
        if (!ok) return gr_report(d, GR_D_ARRAY_WAV, (gr_place){.document = path}, "write \"sound.wav#rate=44100,bits=16\"", "\"%.*s\" is neither a rate nor bits", GR_STR_ARG(part));
        *(rate ? &o->rate : &o->bits) = (uint32_t)v;
    }
    return true;
}

static bool check_written(gr_diags *d, const gr_named_array *arrays, uint32_t n) {
    gr_arena temporary = {0};
    gr_map seen = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        if (!arrays[i].name.n) ok = gr_report(d, GR_D_ARRAY_NAME, (gr_place){0}, "name it: \"file.npz#name\"", "an array has no name");
        else if (gr_map_get(&seen, arrays[i].name, NULL)) ok = gr_report(d, GR_D_ARRAY_NAME, (gr_place){0}, "give each its own name", "two arrays are called \"%.*s\"", GR_STR_ARG(arrays[i].name));
        else if (!gr_map_put(&temporary, &seen, arrays[i].name, i)) ok = gr_report_oom(d);
    }
    gr_arena_free(&temporary);
    return ok;
}

/* Samples, and the array "rate" beside them. */
static bool write_sound(gr_buf *b, gr_diags *d, gr_str path, gr_str select, const gr_named_array *arrays, uint32_t n, gr_save_options o) {
    const gr_named_array *samples = NULL;
    uint32_t left = n;
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eqz(arrays[i].name, "rate") && gr_array_count(&arrays[i].array) == 1 && n > 1) o.rate = (uint32_t)gr_array_get_i64(&arrays[i].array, 0), left--;
        else samples = &arrays[i];
    GR_TRY(read_options(d, path, select, &o));
    if (left != 1 || !samples) return gr_report(d, GR_D_ARRAY_WAV, (gr_place){.document = path}, "choose one of them", "a WAV file holds one array of samples, not %u", left);
    return gr_wav_write(b, d, &samples->array, o.rate, o.bits);
}

static bool write_one(gr_buf *b, gr_diags *d, gr_str path, gr_format format, const gr_named_array *arrays, uint32_t n) {
    if (n != 1)
        return gr_report(d, GR_D_ARRAY_NAME, (gr_place){.document = path}, "write .npz or .safetensors, or choose one with '#'", "a .%s file holds one array, not %u", gr_format_name(format), n);
    return format == GR_FORMAT_NPY ? gr_npy_write(b, &arrays->array) || gr_report_oom(d) : gr_csv_write(b, d, &arrays->array, NULL);
}

bool gr_archive_save(gr_diags *d, gr_str path, const gr_named_array *arrays, uint32_t n, const gr_save_options *options) {
    gr_save_options o = options ? *options : (gr_save_options){0};
    gr_str file, select;
    gr_format format = gr_format_of(path, &file, &select);
    gr_named_array renamed;
    gr_buf b = {0};
    if (format == GR_FORMAT_NONE || gr_str_ends(file, ".tsv")) return unknown(d, path);
    if (gr_format_is_archive(format) && select.n && n == 1) {
        renamed = (gr_named_array){select, arrays->array};
        arrays = &renamed;
    }
    bool ok = false;
    if (format == GR_FORMAT_WAV) ok = write_sound(&b, d, path, select, arrays, n, o);
    else if (!gr_format_is_archive(format)) ok = write_one(&b, d, path, format, arrays, n);
    else if (!check_written(d, arrays, n)) ok = false;
    else if (format == GR_FORMAT_NPZ) ok = gr_npz_write(&b, d, arrays, n, o.compress, 0xFFFFFFFF);
    else ok = gr_safetensors_write(&b, d, arrays, n, o.metadata, o.metadata_n);
    ok = ok && gr_file_write(d, file, b.p, b.n);
    gr_buf_free(&b);
    return ok;
}

/* The name of a single array is the file's: "out/clean.npz" holds "clean". */
bool gr_array_save(gr_diags *d, gr_str path, const gr_array *x) {
    gr_str file;
    gr_format format = gr_format_of(path, &file, NULL);
    size_t from = file.n, end = file.n;
    while (from > 0 && file.p[from - 1] != '/') from--;
    while (end > from && file.p[end - 1] != '.') end--;
    gr_named_array one = {.name = {file.p + from, end > from ? end - from - 1 : 0}, .array = *x};
    if (gr_format_is_archive(format) && !one.name.n) one.name = GR_STR("array");
    return gr_archive_save(d, path, &one, 1, NULL);
}
