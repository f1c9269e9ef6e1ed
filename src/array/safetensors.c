/* safetensors: a length of 8 bytes, a JSON object of that length, the elements. The object gives each array its dtype, shape and
 * data_offsets, which must cover the elements without hole or overlap; "__metadata__" is text to text. */
#include "array/archive.h"

#include "base/value.h"

#include <stdlib.h>

enum { HEADER_MAX = 100 << 20 };

typedef struct st_type { const char *name; uint32_t size; gr_dtype dtype; } st_type;

/* What is read: the format's own names. BF16, I16 and U16 widen. */
static const st_type types[] = {
    {"F64", 8, GR_DTYPE_F64}, {"F32", 4, GR_DTYPE_F32}, {"F16", 2, GR_DTYPE_F16}, {"BF16", 2, GR_DTYPE_F32},
    {"I64", 8, GR_DTYPE_I64}, {"U64", 8, GR_DTYPE_U64}, {"I32", 4, GR_DTYPE_I32}, {"U32", 4, GR_DTYPE_U32},
    {"I16", 2, GR_DTYPE_I32}, {"U16", 2, GR_DTYPE_U32}, {"I8", 1, GR_DTYPE_I8},   {"U8", 1, GR_DTYPE_U8},
    {"BOOL", 1, GR_DTYPE_BOOL},
};
enum { TYPES_N = sizeof types / sizeof *types };

typedef struct reader { gr_arena *a; gr_diags *d; gr_archive *f; uint64_t body; /* bytes of elements */ } reader;

static bool damaged(const reader *r, gr_str name, const char *what) {
    if (!name.n) return gr_report(r->d, GR_D_ARRAY_SAFETENSORS, (gr_place){.document = r->f->file.name}, "write the file again", "%s", what);
    return gr_report(r->d, GR_D_ARRAY_SAFETENSORS, (gr_place){.document = r->f->file.name}, "write the file again", "array \"%.*s\": %s",
                     GR_STR_ARG(name), what);
}

static bool integer(const gr_value *v, uint64_t *out) {
    if (v->kind == GR_V_INT && v->i >= 0) *out = (uint64_t)v->i;
    else if (v->kind == GR_V_UINT) *out = v->u;
    else return false;
    return true;
}

static bool read_shape(reader *r, const gr_value *v, gr_entry *e) {
    if (!v || v->kind != GR_V_ARRAY) return damaged(r, e->name, "\"shape\" is no list");
    if (v->array.n > GR_RANK_MAX)
        return gr_report(r->d, GR_D_ARRAY_TOO_LARGE, (gr_place){.document = r->f->file.name}, "reshape it", "array \"%.*s\" has %u dimensions, %d at most",
                         GR_STR_ARG(e->name), v->array.n, GR_RANK_MAX);
    e->type.rank = v->array.n;
    for (uint32_t i = 0; i < v->array.n; i++)
        if (!integer(v->array.v[i], &e->type.dims[i])) return damaged(r, e->name, "\"shape\" holds something else than sizes");
    return true;
}

/* The range, and that it is what type and shape need; a type that we do not read is looked at when the array is asked for. */
static bool read_range(reader *r, const gr_value *v, gr_entry *e) {
    uint64_t from, to, count;
    if (!v || v->kind != GR_V_ARRAY || v->array.n != 2 || !integer(v->array.v[0], &from) || !integer(v->array.v[1], &to))
        return damaged(r, e->name, "\"data_offsets\" is no pair of offsets");
    if (from > to || to > r->body) return damaged(r, e->name, "its offsets lie outside of the file");
    e->at = from;
    e->size = to - from;
    if (e->form == TYPES_N) return true;
    if (!gr_dims_count(e->type.dims, e->type.rank, &count) || count > r->body / types[e->form].size || count * types[e->form].size != e->size)
        return damaged(r, e->name, "its shape and its offsets disagree");
    return true;
}

static bool read_entry(reader *r, const gr_doc *doc, const gr_member *m, gr_entry *e) {
    static const char *const keys[] = {"dtype", "shape", "data_offsets", NULL};
    gr_str dtype;
    e->name = m->key;
    if (m->value->kind != GR_V_OBJECT) return damaged(r, m->key, "is no object");
    GR_TRY(gr_value_known(r->a, r->d, doc, m->value, keys) && gr_value_str(r->a, r->d, doc, m->value, "dtype", true, &dtype));
    e->stored = dtype;
    e->form = TYPES_N;
    for (uint32_t k = 0; k < TYPES_N; k++)
        if (gr_str_eqz(dtype, types[k].name)) e->form = k, e->type.dtype = types[k].dtype;
    return read_shape(r, gr_value_get(m->value, "shape"), e) && read_range(r, gr_value_get(m->value, "data_offsets"), e);
}

static bool read_metadata(reader *r, const gr_value *v) {
    if (v->kind != GR_V_OBJECT) return damaged(r, (gr_str){0}, "\"__metadata__\" is no object");
    r->f->metadata = GR_NEW_N(r->a, gr_text_pair, v->object.n);
    if (!r->f->metadata) return gr_report_oom(r->d);
    for (uint32_t i = 0; i < v->object.n; i++) {
        const gr_member *m = &v->object.v[i];
        if (m->value->kind != GR_V_STRING) return damaged(r, (gr_str){0}, "\"__metadata__\" holds something else than text");
        r->f->metadata[r->f->metadata_n++] = (gr_text_pair){m->key, m->value->s};
    }
    return true;
}

static int by_offset(const void *x, const void *y) {
    const gr_entry *a = *(const gr_entry *const *)x, *b = *(const gr_entry *const *)y;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

/* Elements are covered from the first to the last byte, each once. */
static bool check_cover(reader *r) {
    const gr_archive *f = r->f;
    gr_entry **order = GR_NEW_N(r->a, gr_entry *, f->n);
    uint64_t at = 0;
    if (!order) return gr_report_oom(r->d);
    for (uint32_t i = 0; i < f->n; i++) order[i] = &f->entries[i];
    if (f->n) qsort(order, f->n, sizeof *order, by_offset);
    for (uint32_t i = 0; i < f->n; at += order[i++]->size)
        if (order[i]->at != at) return damaged(r, order[i]->name, order[i]->at < at ? "its elements overlap another array's" : "there is a hole before its elements");
    return at == r->body || damaged(r, (gr_str){0}, "there are bytes behind the last array");
}

bool gr_safetensors_contents(gr_arena *a, gr_diags *d, gr_archive *f) {
    reader r = {.a = a, .d = d, .f = f};
    uint8_t raw[8];
    uint64_t n = 0;
    gr_str text;
    gr_doc doc = {.name = f->file.name};
    if (f->file.size < sizeof raw) return damaged(&r, (gr_str){0}, "the file is shorter than its header's length");
    GR_TRY(gr_reader_read(&f->file, d, 0, sizeof raw, raw));
    for (int i = 7; i >= 0; i--) n = n << 8 | raw[i];
    if (n > HEADER_MAX || n > f->file.size - 8) return damaged(&r, (gr_str){0}, "the header is longer than the file, or than 100 MiB");
    r.body = f->file.size - 8 - n;
    GR_TRY(gr_reader_part(&f->file, a, d, 8, n, &text));
    doc.text = text;
    if (!text.n || text.p[0] != '{') return damaged(&r, (gr_str){0}, "the header is no JSON object");
    GR_TRY(gr_json_parse(a, d, f->file.name, text, &doc));
    const gr_value *root = doc.root;
    f->entries = GR_NEW_N(a, gr_entry, root->object.n);
    if (!f->entries) return gr_report_oom(d);
    for (uint32_t i = 0; i < root->object.n; i++) {
        const gr_member *m = &root->object.v[i];
        if (gr_str_eqz(m->key, "__metadata__")) GR_TRY(read_metadata(&r, m->value));
        else GR_TRY(read_entry(&r, &doc, m, &f->entries[f->n++]));
    }
    GR_TRY(check_cover(&r));
    for (uint32_t i = 0; i < f->n; i++) f->entries[i].at += 8 + n;
    return true;
}

/* 16-bit elements to 32 bits. */
static void widen(const char *stored, gr_array *x, const uint8_t *raw) {
    uint64_t n = gr_array_count(x);
    uint32_t *to = x->data;
    bool bf16 = stored[0] == 'B', sign = stored[0] == 'I';
    for (uint64_t i = 0; i < n; i++) {
        uint32_t v = (uint32_t)raw[2 * i] | (uint32_t)raw[2 * i + 1] << 8;
        to[i] = bf16 ? v << 16 : sign && v >> 15 ? v | 0xFFFF0000u : v;
    }
}

bool gr_safetensors_get(const gr_archive *f, gr_arena *a, gr_diags *d, const gr_entry *e, gr_array *out) {
    gr_arena temporary = {0};
    gr_str raw;
    gr_array x;
    if (e->form == TYPES_N)
        return gr_report(d, GR_D_ARRAY_DTYPE, (gr_place){.document = f->file.name}, "convert it, for example to F32", "array \"%.*s\" has elements of type %.*s, which we do not read",
                         GR_STR_ARG(e->name), GR_STR_ARG(e->stored));
    GR_TRY(gr_array_new(a, d, e->type.dtype, e->type.dims, e->type.rank, &x));
    if (x.bytes == e->size) {
        GR_TRY(gr_reader_read(&f->file, d, e->at, x.bytes, x.data));
        for (size_t i = 0; x.dtype == GR_DTYPE_BOOL && i < x.bytes; i++) ((uint8_t *)x.data)[i] = ((uint8_t *)x.data)[i] != 0;
    } else {
        bool ok = gr_reader_part(&f->file, &temporary, d, e->at, e->size, &raw);
        if (ok) widen(types[e->form].name, &x, (const uint8_t *)raw.p);
        gr_arena_free(&temporary);
        GR_TRY(ok);
        gr_report(d, GR_D_ARRAY_WIDENED, (gr_place){.document = f->file.name}, NULL, "array \"%.*s\": %.*s was read as %s", GR_STR_ARG(e->name),
                  GR_STR_ARG(e->stored), gr_dtype_name(x.dtype));
    }
    *out = x;
    return true;
}

bool gr_safetensors_is_plain(const gr_entry *e) { return e->form < TYPES_N && types[e->form].size == gr_dtype_size(e->type.dtype); }

/* ---- writing ---------------------------------------------------------------------------------------- */

static int by_alignment(const void *x, const void *y) {
    const gr_named_array *a = *(const gr_named_array *const *)x, *b = *(const gr_named_array *const *)y;
    uint32_t s = gr_dtype_size(a->array.dtype), t = gr_dtype_size(b->array.dtype);
    if (s != t) return s > t ? -1 : 1;
    return gr_str_cmp(a->name, b->name);
}

static const char *name_of(gr_dtype t) {
    for (uint32_t k = 0; k < TYPES_N; k++)
        if (types[k].dtype == t && types[k].size == gr_dtype_size(t)) return types[k].name;
    return NULL;
}

static void put_header(gr_buf *h, const gr_named_array *const *order, uint32_t n, const gr_text_pair *metadata, uint32_t metadata_n) {
    uint64_t at = 0;
    gr_buf_putc(h, '{');
    for (uint32_t i = 0; i < metadata_n; i++) {
        gr_buf_puts(h, i ? "," : "\"__metadata__\":{");
        gr_json_string(h, metadata[i].key);
        gr_buf_putc(h, ':');
        gr_json_string(h, metadata[i].value);
    }
    if (metadata_n) gr_buf_puts(h, n ? "}," : "}");
    for (uint32_t i = 0; i < n; i++) {
        const gr_array *x = &order[i]->array;
        if (i) gr_buf_putc(h, ',');
        gr_json_string(h, order[i]->name);
        gr_buf_printf(h, ":{\"dtype\":\"%s\",\"shape\":[", name_of(x->dtype));
        for (uint32_t k = 0; k < x->rank; k++) gr_buf_printf(h, "%s%llu", k ? "," : "", (unsigned long long)x->dims[k]);
        gr_buf_printf(h, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at, (unsigned long long)(at + x->bytes));
        at += x->bytes;
    }
    gr_buf_putc(h, '}');
    while (h->n % 8 && !h->failed) gr_buf_putc(h, ' ');
}

bool gr_safetensors_write(gr_buf *out, gr_diags *d, const gr_named_array *arrays, uint32_t n, const gr_text_pair *metadata, uint32_t metadata_n) {
    const gr_named_array **order = gr_heap_alloc(n ? n : 1, sizeof *order);
    gr_buf header = {0};
    bool ok = order != NULL || gr_report_oom(d);
    for (uint32_t i = 0; ok && i < n; i++) {
        order[i] = &arrays[i];
        if (!name_of(arrays[i].array.dtype)) ok = GR_BUG(d, "A4", "array %u has no dtype", i);
    }
    if (ok && n) qsort(order, n, sizeof *order, by_alignment);
    for (uint32_t i = 0; ok && i < n; i++)
        if (gr_str_eqz(order[i]->name, "__metadata__"))
            ok = gr_report(d, GR_D_ARRAY_NAME, (gr_place){0}, "choose another name", "\"__metadata__\" cannot be an array's name in safetensors");
    if (ok) {
        put_header(&header, order, n, metadata, metadata_n);
        for (int i = 0; i < 8; i++) gr_buf_putc(out, (char)(header.n >> 8 * i & 255));
        gr_buf_put(out, header.p, header.n);
        for (uint32_t i = 0; i < n; i++)
            if (order[i]->array.bytes) gr_buf_put(out, order[i]->array.data, order[i]->array.bytes);
        ok = !(out->failed || header.failed) || gr_report_oom(d);
    }
    gr_buf_free(&header);
    gr_heap_free(order);
    return ok;
}
