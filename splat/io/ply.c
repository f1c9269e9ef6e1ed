#include "splat/io/ply.h"

#include "base/lex.h"
#include "splat/io/bytes.h"

enum { HEADER_MAX = 1 << 20, PROPERTIES_MAX = 4096, ELEMENTS_MAX = 64 };

static const struct { const char *name; gr_ply_type type; } type_names[] = {
    {"char", GR_PLY_I8}, {"int8", GR_PLY_I8}, {"uchar", GR_PLY_U8}, {"uint8", GR_PLY_U8},
    {"short", GR_PLY_I16}, {"int16", GR_PLY_I16}, {"ushort", GR_PLY_U16}, {"uint16", GR_PLY_U16},
    {"int", GR_PLY_I32}, {"int32", GR_PLY_I32}, {"uint", GR_PLY_U32}, {"uint32", GR_PLY_U32},
    {"float", GR_PLY_F32}, {"float32", GR_PLY_F32}, {"double", GR_PLY_F64}, {"float64", GR_PLY_F64},
};
static const uint8_t type_size[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};

static gr_ply_type type_of(gr_str s) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (gr_str_eqz(s, type_names[i].name)) return type_names[i].type;
    return GR_PLY_NONE;
}

/* ---- header ---------------------------------------------------------------------- */

typedef struct header {
    gr_arena *a;
    gr_diags *d;
    gr_ply *ply;
    gr_str text;     /* the whole file */
    size_t at;
    uint32_t line;
    uint32_t properties;
} header;

static bool fail(header *h, const char *what, gr_str got) {
    gr_place at = {.document = h->ply->name, .line = h->line, .col = 1};
    if (got.n > 60) got.n = 60;
    return gr_report(h->d, GR_D_SPLAT_PLY_HEADER, at, NULL, "%s: \"%.*s\"", what, GR_STR_ARG(got));
}

static bool next_line(header *h, gr_str *out) {
    size_t limit = h->text.n < HEADER_MAX ? h->text.n : HEADER_MAX;
    const char *p = h->text.p + h->at, *end = h->at < limit ? memchr(p, '\n', limit - h->at) : NULL;
    h->line++;
    if (!end) return fail(h, "the header does not end with end_header", (gr_str){0});
    h->at = (size_t)(end + 1 - h->text.p);
    *out = (gr_str){p, (size_t)(end - p)};
    if (out->n && out->p[out->n - 1] == '\r') out->n--;
    return true;
}

static gr_str word(gr_str *rest) {
    while (rest->n && (*rest->p == ' ' || *rest->p == '\t')) rest->p++, rest->n--;
    gr_str w = {rest->p, 0};
    while (w.n < rest->n && w.p[w.n] != ' ' && w.p[w.n] != '\t') w.n++;
    rest->p += w.n, rest->n -= w.n;
    return w;
}

static bool format_line(header *h, gr_str line) {
    gr_str whole = line, form = word(&line), version = word(&line);
    h->ply->form = gr_str_eqz(form, "ascii") ? GR_PLY_ASCII : gr_str_eqz(form, "binary_little_endian") ? GR_PLY_LITTLE
                 : gr_str_eqz(form, "binary_big_endian") ? GR_PLY_BIG : GR_PLY_FORM_NONE;
    if (!h->ply->form || !gr_str_eqz(version, "1.0")) return fail(h, "unknown format", whole);
    return true;
}

static bool element_line(header *h, gr_str line) {
    gr_str whole = line, name = word(&line), count = word(&line);
    gr_value v = {0};
    bool number = gr_number_parse(count, &v) && v.kind == GR_V_INT && v.i >= 0;
    if (!name.n || !number) return fail(h, "expected \"element NAME COUNT\", found", whole);
    if (h->ply->element.n >= ELEMENTS_MAX) return fail(h, "too many elements", whole);
    gr_ply_element *e = GR_PUSH(h->a, &h->ply->element);
    if (!e) return gr_report_oom(h->d);
    e->name = name;
    e->count = (uint64_t)v.i;
    return true;
}

static bool property_line(header *h, gr_str line) {
    gr_str whole = line, first = word(&line);
    bool list = gr_str_eqz(first, "list");
    gr_ply_type count = list ? type_of(word(&line)) : GR_PLY_NONE;
    gr_ply_type type = type_of(list ? word(&line) : first);
    gr_str name = word(&line);
    if (!h->ply->element.n) return fail(h, "a property before any element", whole);
    if (!type || (list && (!count || count >= GR_PLY_F32)) || !name.n) return fail(h, "unknown property", whole);
    if (h->properties++ >= PROPERTIES_MAX) return fail(h, "too many properties", whole);
    gr_ply_element *e = &h->ply->element.v[h->ply->element.n - 1];
    gr_ply_property *p = GR_PUSH(h->a, &e->property);
    if (!p) return gr_report_oom(h->d);
    *p = (gr_ply_property){name, type, count, e->stride};
    e->lists = e->lists || list;
    e->stride += type_size[type];
    return true;
}

static bool read_header(header *h) {
    gr_str line;
    GR_TRY(next_line(h, &line));
    if (!gr_str_eqz(line, "ply")) return fail(h, "the first line is not \"ply\"", line);
    for (;;) {
        GR_TRY(next_line(h, &line));
        gr_str rest = line, key = word(&rest);
        if (gr_str_eqz(key, "end_header")) break;
        if (gr_str_eqz(key, "comment") || gr_str_eqz(key, "obj_info") || !key.n) continue;
        if (gr_str_eqz(key, "format")) GR_TRY(format_line(h, rest));
        else if (gr_str_eqz(key, "element")) GR_TRY(element_line(h, rest));
        else if (gr_str_eqz(key, "property")) GR_TRY(property_line(h, rest));
        else return fail(h, "unknown line", line);
    }
    if (!h->ply->form) return fail(h, "the header has no format line", (gr_str){0});
    return true;
}

/* ---- rows ------------------------------------------------------------------------- */

static bool short_data(header *h, const gr_ply_element *e, uint64_t row) {
    return gr_report(h->d, GR_D_SPLAT_PLY_DATA, (gr_place){.document = h->ply->name}, "the file was cut off: copy it again",
                     "the file ends in row %llu of %llu of element %.*s", (unsigned long long)row, (unsigned long long)e->count,
                     GR_STR_ARG(e->name));
}

static double number_at(const uint8_t *p, gr_ply_type t, bool big) {
    uint8_t swapped[8];
    uint32_t n = type_size[t];
    if (big) {
        for (uint32_t i = 0; i < n; i++) swapped[i] = p[n - 1 - i];
        p = swapped;
    }
    switch (t) {
    case GR_PLY_I8: return (int8_t)*p;
    case GR_PLY_U8: return *p;
    case GR_PLY_I16: return (int16_t)gr_get_u16(p);
    case GR_PLY_U16: return gr_get_u16(p);
    case GR_PLY_I32: return (int32_t)gr_get_u32(p);
    case GR_PLY_U32: return gr_get_u32(p);
    case GR_PLY_F32: return gr_get_f32(p);
    case GR_PLY_F64: return gr_get_f64(p);
    case GR_PLY_NONE: break;
    }
    return 0;
}

/* Past one row of an element with lists. */
static bool skip_row(header *h, const gr_ply_element *e, uint64_t row) {
    const uint8_t *base = (const uint8_t *)h->text.p;
    for (uint32_t k = 0; k < e->property.n; k++) {
        const gr_ply_property *p = &e->property.v[k];
        double count = 1;
        if (p->list) {
            if (type_size[p->list] > h->text.n - h->at) return short_data(h, e, row);
            count = number_at(base + h->at, p->list, h->ply->form == GR_PLY_BIG);
            h->at += type_size[p->list];
        }
        if (count < 0 || count * type_size[p->type] > (double)(h->text.n - h->at)) return short_data(h, e, row);
        h->at += (size_t)count * type_size[p->type];
    }
    return true;
}

static bool binary_rows(header *h, gr_ply_element *e) {
    if (!e->lists) {
        if (e->stride && e->count > (h->text.n - h->at) / e->stride) return short_data(h, e, (h->text.n - h->at) / e->stride);
        e->data = (const uint8_t *)h->text.p + h->at;
        h->at += (size_t)(e->count * e->stride);
        return true;
    }
    for (uint64_t i = 0; i < e->count; i++) GR_TRY(skip_row(h, e, i));
    return true;
}

static void store(uint8_t *p, gr_ply_type t, double v) {
    float f = (float)v;
    /* Integers out of range saturate: a conversion would be undefined. */
    double w = v > 4294967295.0 ? 4294967295.0 : v < -2147483648.0 ? -2147483648.0 : v == v ? v : 0;
    uint32_t u = w < 0 ? (uint32_t)(int32_t)w : (uint32_t)w;
    uint64_t bits;
    if (t == GR_PLY_F64) {
        memcpy(&bits, &v, 8);
    } else {
        if (t == GR_PLY_F32) memcpy(&u, &f, 4);
        bits = u;
    }
    for (uint32_t i = 0; i < type_size[t]; i++) p[i] = (uint8_t)(bits >> (8 * i));
}

static bool ascii_row(header *h, gr_ply_element *e, uint64_t row, uint8_t *data) {
    gr_str line = {0};
    do {
        if (h->at >= h->text.n) return short_data(h, e, row);
        const char *p = h->text.p + h->at, *end = memchr(p, '\n', h->text.n - h->at);
        line = (gr_str){p, end ? (size_t)(end - p) : h->text.n - h->at};
        h->at += line.n + (end != NULL);
        h->line++;
        if (line.n && line.p[line.n - 1] == '\r') line.n--;
    } while (line.n == 0);
    if (e->lists) return true;
    for (uint32_t k = 0; k < e->property.n; k++) {
        gr_str w = word(&line);
        gr_value v = {0};
        gr_place at = {.document = h->ply->name, .line = h->line};
        if (!gr_number_parse(w, &v))
            return gr_report(h->d, GR_D_SPLAT_PLY_DATA, at, NULL, "property %.*s of element %.*s: \"%.*s\" is not a number",
                             GR_STR_ARG(e->property.v[k].name), GR_STR_ARG(e->name), (int)(w.n > 40 ? 40 : w.n), w.p);
        double x = v.kind == GR_V_INT ? (double)v.i : v.kind == GR_V_UINT ? (double)v.u : v.f;
        if (data) store(data + row * e->stride + e->property.v[k].offset, e->property.v[k].type, x);
    }
    return true;
}

static bool ascii_rows(header *h, gr_ply_element *e) {
    /* A value takes two bytes of text at least, so that memory follows the file. */
    if (e->count > (h->text.n - h->at + 1) / 2) return short_data(h, e, (h->text.n - h->at + 1) / 2);
    uint8_t *data = e->lists ? NULL : gr_arena_alloc(h->a, (size_t)e->count + 1, e->stride ? e->stride : 1);
    if (!e->lists && !data) return gr_report_oom(h->d);
    for (uint64_t i = 0; i < e->count; i++) GR_TRY(ascii_row(h, e, i, data));
    e->data = data;
    return true;
}

bool gr_ply_read(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_ply *out) {
    *out = (gr_ply){.name = name};
    header h = {.a = a, .d = d, .ply = out, .text = bytes};
    GR_TRY(read_header(&h));
    for (uint32_t i = 0; i < out->element.n; i++) {
        gr_ply_element *e = &out->element.v[i];
        if (e->property.n == 0) continue;
        GR_TRY(out->form == GR_PLY_ASCII ? ascii_rows(&h, e) : binary_rows(&h, e));
    }
    return true;
}

const gr_ply_element *gr_ply_find(const gr_ply *p, const char *element) {
    for (uint32_t i = 0; i < p->element.n; i++)
        if (gr_str_eqz(p->element.v[i].name, element)) return &p->element.v[i];
    return NULL;
}

int gr_ply_property_find(const gr_ply_element *e, const char *property) {
    for (uint32_t i = 0; i < e->property.n; i++)
        if (!e->property.v[i].list && gr_str_eqz(e->property.v[i].name, property)) return (int)i;
    return -1;
}

double gr_ply_get(const gr_ply *p, const gr_ply_element *e, uint64_t i, int property) {
    const gr_ply_property *q = &e->property.v[property];
    return number_at(e->data + i * e->stride + q->offset, q->type, p->form == GR_PLY_BIG);
}

void gr_ply_column_f32(const gr_ply *p, const gr_ply_element *e, int property, float *dst, uint32_t step) {
    const gr_ply_property *q = &e->property.v[property];
    bool bits = q->type == GR_PLY_F32 && p->form != GR_PLY_BIG;
    for (uint64_t i = 0; i < e->count; i++)
        dst[i * step] = bits ? gr_get_f32(e->data + i * e->stride + q->offset) : (float)gr_ply_get(p, e, i, property);
}
