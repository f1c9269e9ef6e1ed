/* NPY: magic, version, header length, a Python dictionary of three keys, then the elements.
 * Format: numpy.lib.format, "NPY format" in the NumPy documentation. */
#include "array/archive.h"

#include <stdio.h>

enum { HEADER_MAX = 1 << 16, ALIGN_TO = 64 };

typedef struct npy_type {
    char kind; /* f i u b, as NumPy writes it */
    uint32_t size;
    gr_dtype dtype;
    bool widened;
} npy_type;

static const npy_type types[] = {
    {'f', 2, GR_DTYPE_F16, false}, {'f', 4, GR_DTYPE_F32, false}, {'f', 8, GR_DTYPE_F64, false},
    {'i', 1, GR_DTYPE_I8, false},  {'u', 1, GR_DTYPE_U8, false},  {'i', 4, GR_DTYPE_I32, false},
    {'u', 4, GR_DTYPE_U32, false}, {'i', 8, GR_DTYPE_I64, false}, {'u', 8, GR_DTYPE_U64, false},
    {'b', 1, GR_DTYPE_BOOL, false}, {'i', 2, GR_DTYPE_I32, true}, {'u', 2, GR_DTYPE_U32, true},
};

/* The header being read: text is the dictionary, at the next byte. */
typedef struct header {
    gr_diags *d;
    gr_str name, text;
    size_t at;
    size_t base; /* of text in the file, for messages */
    const npy_type *type;
    bool big_endian, fortran;
    bool has_descr, has_order, has_shape;
    gr_array array; /* dtype, rank, dims */
} header;

static bool damaged(header *h, const char *what) {
    return gr_report(h->d, GR_D_ARRAY_NPY_HEADER, (gr_place){.document = h->name},
                     "write the file again with numpy.save", "%s at byte %zu", what, h->base + h->at);
}

static void skip_space(header *h) {
    while (h->at < h->text.n && (h->text.p[h->at] == ' ' || h->text.p[h->at] == '\n' || h->text.p[h->at] == '\t')) h->at++;
}

static bool accept(header *h, char c) {
    skip_space(h);
    if (h->at >= h->text.n || h->text.p[h->at] != c) return false;
    h->at++;
    return true;
}

static bool quoted(header *h, gr_str *out) {
    skip_space(h);
    char q = h->at < h->text.n ? h->text.p[h->at] : 0;
    if (q != '\'' && q != '"') return damaged(h, "a quoted text is missing");
    size_t from = ++h->at;
    while (h->at < h->text.n && h->text.p[h->at] != q) {
        if (h->text.p[h->at] == '\\') return damaged(h, "an escape is not allowed here");
        h->at++;
    }
    if (h->at >= h->text.n) return damaged(h, "a quoted text does not end");
    *out = (gr_str){h->text.p + from, h->at++ - from};
    return true;
}

static bool refuse_type(header *h, gr_str descr) {
    const char *hint = "convert it, for example with x.astype('float32')";
    if (descr.n >= 2 && descr.p[1] == 'O') hint = "arrays of Python objects are never read: they can run code";
    return gr_report(h->d, GR_D_ARRAY_NPY_DTYPE, (gr_place){.document = h->name}, hint,
                     "elements of type '%.*s' are not supported", (int)(descr.n < 40 ? descr.n : 40), descr.p);
}

/* '<f4': byte order, kind, size in bytes */
static bool read_descr(header *h) {
    gr_str s;
    skip_space(h);
    if (h->at < h->text.n && h->text.p[h->at] == '[') return refuse_type(h, GR_STR("record"));
    GR_TRY(quoted(h, &s));
    if (s.n < 2) return refuse_type(h, s);
    size_t i = 0;
    char order = s.p[0];
    if (order == '<' || order == '>' || order == '|' || order == '=') i = 1;
    if (s.n - i != 2 || s.p[i + 1] < '1' || s.p[i + 1] > '9') return refuse_type(h, s);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (types[k].kind != s.p[i] || types[k].size != (uint32_t)(s.p[i + 1] - '0')) continue;
        if (order == '|' && types[k].size != 1) break;
        h->type = &types[k];
        h->array.dtype = types[k].dtype;
        h->big_endian = order == '>';
        return true;
    }
    return refuse_type(h, s);
}

static bool read_bool(header *h) {
    skip_space(h);
    gr_str rest = {h->text.p + h->at, h->text.n - h->at};
    h->fortran = gr_str_starts(rest, "True");
    if (!h->fortran && !gr_str_starts(rest, "False")) return damaged(h, "'fortran_order' is neither True nor False");
    h->at += h->fortran ? 4 : 5;
    return true;
}

static bool read_dim(header *h) {
    uint64_t v = 0;
    size_t from = h->at;
    for (; h->at < h->text.n && h->text.p[h->at] >= '0' && h->text.p[h->at] <= '9'; h->at++) {
        uint64_t digit = (uint64_t)(h->text.p[h->at] - '0');
        if (v > (UINT64_MAX - digit) / 10) return damaged(h, "a dimension is too large");
        v = v * 10 + digit;
    }
    if (h->at == from) return damaged(h, "'shape' is not a tuple of non-negative integers");
    accept(h, 'L'); /* Python 2 wrote long integers so */
    if (h->array.rank == GR_RANK_MAX)
        return gr_report(h->d, GR_D_ARRAY_TOO_LARGE, (gr_place){.document = h->name}, "reshape it",
                         "the array has more than %d dimensions", GR_RANK_MAX);
    h->array.dims[h->array.rank++] = v;
    return true;
}

static bool read_shape(header *h) {
    if (!accept(h, '(')) return damaged(h, "'shape' is not a tuple");
    while (!accept(h, ')')) {
        GR_TRY(read_dim(h));
        if (accept(h, ',')) continue;
        if (!accept(h, ')')) return damaged(h, "'shape' does not end");
        break;
    }
    return true;
}

static bool read_entry(header *h) {
    gr_str key;
    GR_TRY(quoted(h, &key));
    if (!accept(h, ':')) return damaged(h, "':' is missing");
    bool *seen = gr_str_eqz(key, "descr")           ? &h->has_descr
                 : gr_str_eqz(key, "fortran_order") ? &h->has_order
                 : gr_str_eqz(key, "shape")         ? &h->has_shape
                                                    : NULL;
    if (!seen) return damaged(h, "an unknown key");
    if (*seen) return damaged(h, "a key twice");
    *seen = true;
    if (seen == &h->has_descr) return read_descr(h);
    return seen == &h->has_order ? read_bool(h) : read_shape(h);
}

static bool read_dictionary(header *h) {
    if (!accept(h, '{')) return damaged(h, "the dictionary is missing");
    while (!accept(h, '}')) {
        GR_TRY(read_entry(h));
        if (accept(h, ',')) continue;
        if (!accept(h, '}')) return damaged(h, "the dictionary does not end");
        break;
    }
    skip_space(h);
    if (h->at != h->text.n) return damaged(h, "text behind the dictionary");
    if (!h->has_descr || !h->has_order || !h->has_shape) return damaged(h, "one of 'descr', 'fortran_order', 'shape' is missing");
    return true;
}

/* Magic, version and length; leaves the dictionary in h->text. */
static bool read_prefix(header *h, gr_str bytes) {
    if (bytes.n < 10 || memcmp(bytes.p, "\x93NUMPY", 6) != 0) return damaged(h, "the NPY magic is missing");
    const uint8_t *p = (const uint8_t *)bytes.p;
    h->at = 6;
    if (p[6] < 1 || p[6] > 3 || p[7] != 0) return damaged(h, "the version is none of 1.0, 2.0, 3.0");
    h->at = 8;
    h->base = p[6] == 1 ? 10 : 12;
    if (bytes.n < h->base) return damaged(h, "the file ends in its header");
    uint32_t n = (uint32_t)p[8] | (uint32_t)p[9] << 8;
    if (p[6] > 1) n |= (uint32_t)p[10] << 16 | (uint32_t)p[11] << 24;
    if (n > HEADER_MAX) return damaged(h, "the header is longer than 65,536 bytes");
    if (n > bytes.n - h->base) return damaged(h, "the file ends in its header");
    h->text = (gr_str){bytes.p + h->base, n};
    h->at = 0;
    return true;
}

static void swap_bytes(uint8_t *p, size_t n, uint32_t size) {
    for (size_t i = 0; i < n; i += size)
        for (uint32_t k = 0; k < size / 2; k++) {
            uint8_t t = p[i + k];
            p[i + k] = p[i + size - 1 - k];
            p[i + size - 1 - k] = t;
        }
}

/* Column-major to row-major: walks the target in order and keeps the source's offset. */
static void from_fortran(uint8_t *to, const uint8_t *from, const gr_array *x, uint32_t size) {
    uint64_t n = gr_array_count(x), stride[GR_RANK_MAX], index[GR_RANK_MAX] = {0}, at = 0, product = 1;
    for (uint32_t k = 0; k < x->rank; k++) stride[k] = product, product *= x->dims[k];
    for (uint64_t i = 0; i < n; i++) {
        memcpy(to + i * size, from + at * size, size);
        for (uint32_t k = x->rank; k-- > 0;) {
            at += stride[k];
            if (++index[k] < x->dims[k]) break;
            at -= stride[k] * x->dims[k];
            index[k] = 0;
        }
    }
}

/* NumPy stores a bool as 0 or 1, but a file may hold anything. 16-bit integers grow. */
static void finish_elements(gr_array *x, const npy_type *type, const uint8_t *file) {
    uint64_t n = gr_array_count(x);
    if (type->dtype == GR_DTYPE_BOOL)
        for (uint64_t i = 0; i < n; i++) ((uint8_t *)x->data)[i] = ((uint8_t *)x->data)[i] != 0;
    if (!type->widened) return;
    for (uint64_t i = 0; i < n; i++) {
        uint16_t v = (uint16_t)(file[2 * i] | file[2 * i + 1] << 8);
        gr_array_set_i64(x, i, type->kind == 'i' ? (int16_t)v : v);
    }
}

static bool read_elements(gr_arena *a, header *h, gr_str body, gr_array *out) {
    gr_array *x = &h->array;
    uint64_t n;
    uint32_t size = h->type->size;
    if (!gr_dims_count(x->dims, x->rank, &n) || n > SIZE_MAX / 2 / 8)
        return gr_report(h->d, GR_D_ARRAY_TOO_LARGE, (gr_place){.document = h->name}, NULL,
                         "the shape has more elements than memory can hold");
    if (n * size != body.n) /* checked before anything is allocated */
        return gr_report(h->d, GR_D_ARRAY_NPY_SIZE, (gr_place){.document = h->name},
                         body.n < n * size ? "the file is cut off: copy it again" : NULL,
                         "the shape needs %llu bytes of elements, the file has %zu", (unsigned long long)(n * size), body.n);
    gr_array y;
    GR_TRY(gr_array_new(a, h->d, x->dtype, x->dims, x->rank, &y));
    uint8_t *raw = h->type->widened ? gr_arena_alloc(a, body.n, 1) : y.data;
    if (!raw) return gr_report_oom(h->d);
    if (h->fortran && x->rank > 1) from_fortran(raw, (const uint8_t *)body.p, x, size);
    else if (body.n) memcpy(raw, body.p, body.n);
    if (h->big_endian) swap_bytes(raw, body.n, size);
    finish_elements(&y, h->type, raw);
    if (h->type->widened)
        gr_report(h->d, GR_D_ARRAY_WIDENED, (gr_place){.document = h->name}, NULL, "16-bit integers were read as %s",
                  gr_dtype_name(y.dtype));
    *out = y;
    return true;
}

bool gr_npy_read(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_array *out) {
    header h = {.d = d, .name = name};
    GR_TRY(read_prefix(&h, bytes));
    GR_TRY(read_dictionary(&h));
    size_t skip = h.base + h.text.n;
    return read_elements(a, &h, (gr_str){bytes.p + skip, bytes.n - skip}, out);
}

bool gr_npy_layout(gr_arena *a, gr_diags *d, const gr_reader *file, gr_array *type, uint64_t *at, bool *plain) {
    header h = {.d = d, .name = file->name};
    uint64_t n, most = 12 + HEADER_MAX;
    gr_str start;
    GR_TRY(gr_reader_part(file, a, d, 0, file->size < most ? file->size : most, &start));
    GR_TRY(read_prefix(&h, start) && read_dictionary(&h));
    *at = h.base + h.text.n;
    *type = h.array;
    if (!gr_dims_count(type->dims, type->rank, &n) || n > SIZE_MAX / 2 / 8)
        return gr_report(d, GR_D_ARRAY_TOO_LARGE, (gr_place){.document = h.name}, NULL, "the shape has more elements than memory can hold");
    if (n * h.type->size != file->size - *at)
        return gr_report(d, GR_D_ARRAY_NPY_SIZE, (gr_place){.document = h.name}, NULL, "the shape needs %llu bytes of elements, the file has %llu",
                         (unsigned long long)(n * h.type->size), (unsigned long long)(file->size - *at));
    *plain = !h.type->widened && !(h.big_endian && h.type->size > 1) && !(h.fortran && type->rank > 1);
    return true;
}

static const char *descr_of(gr_dtype t) {
    switch (t) {
    case GR_DTYPE_F16: return "<f2";
    case GR_DTYPE_F32: return "<f4";
    case GR_DTYPE_F64: return "<f8";
    case GR_DTYPE_I8: return "|i1";
    case GR_DTYPE_U8: return "|u1";
    case GR_DTYPE_I32: return "<i4";
    case GR_DTYPE_U32: return "<u4";
    case GR_DTYPE_I64: return "<i8";
    case GR_DTYPE_U64: return "<u8";
    case GR_DTYPE_BOOL: return "|b1";
    case GR_DTYPE_NONE:
    case GR_DTYPE_COUNT: break;
    }
    return NULL;
}

bool gr_npy_write(gr_buf *out, const gr_array *x) {
    char dict[512]; /* 8 dimensions of 20 digits and 60 bytes around them fit */
    const char *descr = descr_of(x->dtype);
    if (!descr || x->rank > GR_RANK_MAX) return false;
    int n = snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (uint32_t i = 0; i < x->rank; i++)
        n += snprintf(dict + n, sizeof dict - (size_t)n, "%s%llu%s", i ? " " : "", (unsigned long long)x->dims[i],
                      x->rank == 1 || i + 1 < x->rank ? "," : "");
    n += snprintf(dict + n, sizeof dict - (size_t)n, "), }");
    uint32_t length = (uint32_t)(10 + n + 1 + ALIGN_TO - 1) / ALIGN_TO * ALIGN_TO - 10; /* elements start aligned */
    char prefix[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(length & 255), (char)(length >> 8)};
    gr_buf_put(out, prefix, sizeof prefix);
    gr_buf_put(out, dict, (size_t)n);
    for (uint32_t i = (uint32_t)n; i + 1 < length; i++) gr_buf_putc(out, ' ');
    gr_buf_putc(out, '\n');
    gr_buf_put(out, x->data, x->bytes);
    return !out->failed;
}
