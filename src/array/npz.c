/* NPZ: a ZIP archive of NPY files. ZIP as PKWARE's APPNOTE describes it: the central directory at the end is the table of
 * contents; members are stored or deflated; sizes beyond 32 bits stand in ZIP64 fields. No encryption, no parts. */
#include "array/archive.h"

#include <stdlib.h>
#ifdef GR_HAVE_ZLIB
#include <zlib.h>
#endif

enum { END_SIZE = 22, END64_SIZE = 56, LOCATOR_SIZE = 20, CENTRAL_SIZE = 46, LOCAL_SIZE = 30, COMMENT_MAX = 65535, STORED = 0, DEFLATED = 8 };
/* Deflate makes at most 1,032 bytes of one. */
enum { RATIO_MAX = 1032 };

typedef struct reader { gr_arena *a; gr_diags *d; gr_archive *f; } reader;

static uint64_t number(const char *p, int n) {
    uint64_t v = 0;
    while (n-- > 0) v = v << 8 | (uint8_t)p[n];
    return v;
}

static bool damaged(const reader *r, gr_str name, const char *what) {
    return gr_report(r->d, GR_D_ARRAY_ZIP, (gr_place){.document = r->f->file.name}, "write the file again with numpy.savez", "%s%.*s%s", name.n ? "member " : "",
                     GR_STR_ARG(name), name.n ? gr_arena_printf(r->a, ": %s", what) : what);
}

/* ---- the table of contents ---------------------------------------------------------------------------- */

typedef struct directory { uint64_t n, size, at; } directory;

/* The ZIP64 end record, which a locator before the end record points at. */
static bool read_end64(reader *r, uint64_t end, directory *dir) {
    char locator[LOCATOR_SIZE], e[END64_SIZE];
    if (end < LOCATOR_SIZE) return damaged(r, (gr_str){0}, "the ZIP64 locator is missing");
    GR_TRY(gr_reader_read(&r->f->file, r->d, end - LOCATOR_SIZE, sizeof locator, locator));
    uint64_t at = number(locator + 8, 8);
    if (number(locator, 4) != 0x07064b50) return damaged(r, (gr_str){0}, "the ZIP64 locator is missing");
    if (at > end || end - at < END64_SIZE) return damaged(r, (gr_str){0}, "the ZIP64 end record lies outside of the file");
    GR_TRY(gr_reader_read(&r->f->file, r->d, at, sizeof e, e));
    if (number(e, 4) != 0x06064b50) return damaged(r, (gr_str){0}, "the ZIP64 end record is missing");
    *dir = (directory){number(e + 32, 8), number(e + 40, 8), number(e + 48, 8)};
    return true;
}

/* The last end record whose comment reaches to the end of the file. */
static bool find_directory(reader *r, gr_arena *temporary, directory *dir) {
    uint64_t size = r->f->file.size, tail = size < END_SIZE + COMMENT_MAX ? size : END_SIZE + COMMENT_MAX;
    gr_str t;
    GR_TRY(gr_reader_part(&r->f->file, temporary, r->d, size - tail, tail, &t));
    for (size_t i = t.n >= END_SIZE ? t.n - END_SIZE + 1 : 0; i-- > 0;) {
        const char *e = t.p + i;
        if (number(e, 4) != 0x06054b50 || number(e + 20, 2) != t.n - i - END_SIZE) continue;
        uint64_t end = size - tail + i;
        if (number(e + 4, 2) || number(e + 6, 2)) return damaged(r, (gr_str){0}, "it is one of several parts");
        *dir = (directory){number(e + 10, 2), number(e + 12, 4), number(e + 16, 4)};
        if (dir->n == 0xFFFF || dir->size == 0xFFFFFFFF || dir->at == 0xFFFFFFFF) GR_TRY(read_end64(r, end, dir));
        if (dir->at > end || dir->size > end - dir->at) return damaged(r, (gr_str){0}, "the directory lies outside of the file");
        return true;
    }
    return damaged(r, (gr_str){0}, "there is no end record: it is no ZIP archive, or was cut off");
}

/* Values that did not fit 32 bits, in the order of the format. */
static bool read_extra(reader *r, gr_entry *e, gr_str extra, uint64_t *local) {
    while (extra.n >= 4) {
        uint64_t id = number(extra.p, 2), n = number(extra.p + 2, 2);
        if (n > extra.n - 4) break;
        const char *p = extra.p + 4, *end = p + n;
        extra = (gr_str){end, extra.n - 4 - n};
        if (id != 1) continue;
        uint64_t *const wide[] = {&e->plain, &e->size, local};
        for (int k = 0; k < 3; k++) {
            if (*wide[k] != 0xFFFFFFFF) continue;
            if (end - p < 8) return damaged(r, e->name, "its ZIP64 field is too short");
            *wide[k] = number(p, 8);
            p += 8;
        }
        return true;
    }
    return (e->plain != 0xFFFFFFFF && e->size != 0xFFFFFFFF && *local != 0xFFFFFFFF) || damaged(r, e->name, "its ZIP64 field is missing");
}

/* Where the member's bytes begin, from its local header. */
static bool find_bytes(reader *r, gr_entry *e, uint64_t local, uint64_t end) {
    char h[LOCAL_SIZE];
    if (local > end || end - local < LOCAL_SIZE) return damaged(r, e->name, "it lies outside of the file");
    GR_TRY(gr_reader_read(&r->f->file, r->d, local, sizeof h, h));
    if (number(h, 4) != 0x04034b50) return damaged(r, e->name, "its local header is missing");
    e->at = local + LOCAL_SIZE + number(h + 26, 2) + number(h + 28, 2);
    if (e->at > end || e->size > end - e->at) return damaged(r, e->name, "it lies outside of the file");
    return true;
}

static bool read_member(reader *r, gr_str *rest, uint64_t end, gr_entry *e) {
    const char *p = rest->p;
    if (rest->n < CENTRAL_SIZE || number(p, 4) != 0x02014b50) return damaged(r, (gr_str){0}, "the directory is cut off");
    uint64_t flags = number(p + 8, 2), name_n = number(p + 28, 2), extra_n = number(p + 30, 2), comment_n = number(p + 32, 2), local = number(p + 42, 4);
    if (name_n + extra_n + comment_n > rest->n - CENTRAL_SIZE) return damaged(r, (gr_str){0}, "the directory is cut off");
    gr_str extra = {p + CENTRAL_SIZE + name_n, extra_n};
    *rest = (gr_str){extra.p + extra_n + comment_n, rest->n - CENTRAL_SIZE - name_n - extra_n - comment_n};
    *e = (gr_entry){.name = {p + CENTRAL_SIZE, name_n}, .form = (uint32_t)number(p + 10, 2), .crc = (uint32_t)number(p + 16, 4), .size = number(p + 20, 4), .plain = number(p + 24, 4)};
    if (gr_str_ends(e->name, ".npy")) e->name.n -= 4;
    if (flags & 1) return damaged(r, e->name, "it is encrypted");
    if (e->form != STORED && e->form != DEFLATED) return damaged(r, e->name, "it is compressed by another method than deflate");
    GR_TRY(read_extra(r, e, extra, &local) && find_bytes(r, e, local, end));
    if (e->form == STORED ? e->plain != e->size : e->plain / RATIO_MAX > e->size) return damaged(r, e->name, "its size is not possible");
    return true;
}

static int by_offset(const void *x, const void *y) {
    const gr_entry *a = *(const gr_entry *const *)x, *b = *(const gr_entry *const *)y;
    return (a->at > b->at) - (a->at < b->at);
}

/* Members do not share bytes: a small file cannot be a large one many times over. */
static bool check_overlap(reader *r) {
    const gr_archive *f = r->f;
    gr_entry **order = GR_NEW_N(r->a, gr_entry *, f->n);
    if (!order) return gr_report_oom(r->d);
    for (uint32_t i = 0; i < f->n; i++) order[i] = &f->entries[i];
    if (f->n) qsort(order, f->n, sizeof *order, by_offset);
    for (uint32_t i = 1; i < f->n; i++)
        if (order[i - 1]->at + order[i - 1]->size > order[i]->at) return damaged(r, order[i]->name, "it overlaps another member");
    return true;
}

bool gr_npz_contents(gr_arena *a, gr_diags *d, gr_archive *f) {
    reader r = {.a = a, .d = d, .f = f};
    gr_arena temporary = {0};
    directory dir = {0};
    gr_str rest;
    bool found = find_directory(&r, &temporary, &dir);
    gr_arena_free(&temporary);
    GR_TRY(found);
    if (dir.n > dir.size / CENTRAL_SIZE) return damaged(&r, (gr_str){0}, "the directory is shorter than its members need");
    GR_TRY(gr_reader_part(&f->file, a, d, dir.at, dir.size, &rest));
    f->entries = GR_NEW_N(a, gr_entry, dir.n);
    if (!f->entries) return gr_report_oom(d);
    for (uint64_t i = 0; i < dir.n; i++) {
        gr_entry *e = &f->entries[f->n];
        GR_TRY(read_member(&r, &rest, dir.at, e));
        if (!gr_str_ends(e->name, "/")) f->n++; /* a folder is no array */
    }
    return check_overlap(&r);
}

/* ---- elements ------------------------------------------------------------------------------------------ */

#ifdef GR_HAVE_ZLIB
static uint32_t checksum(gr_str bytes) {
    uLong c = crc32(0, NULL, 0);
    for (size_t at = 0, n; at < bytes.n; at += n) {
        n = bytes.n - at < 1u << 30 ? bytes.n - at : 1u << 30;
        c = crc32(c, (const Bytef *)bytes.p + at, (uInt)n);
    }
    return (uint32_t)c;
}

/* Raw deflate, in steps since zlib counts in 32 bits. */
static bool inflate_all(gr_str in, gr_str out) {
    z_stream z = {0};
    size_t at = 0, made = 0;
    int code = inflateInit2(&z, -MAX_WBITS);
    while (code == Z_OK) {
        size_t n = in.n - at < 1u << 30 ? in.n - at : 1u << 30, m = out.n - made < 1u << 30 ? out.n - made : 1u << 30;
        z.next_in = (Bytef *)(uintptr_t)in.p + at;
        z.avail_in = (uInt)n;
        z.next_out = (Bytef *)(uintptr_t)out.p + made;
        z.avail_out = (uInt)m;
        code = inflate(&z, Z_NO_FLUSH);
        size_t took = n - z.avail_in, gave = m - z.avail_out;
        at += took;
        made += gave;
        if (code == Z_OK && !took && !gave) break; /* no progress: cut off or longer than said */
    }
    inflateEnd(&z);
    return code == Z_STREAM_END && at == in.n && made == out.n;
}
#else
/* Without zlib: the checksum by its definition (polynomial 0xEDB88320), and no inflating. */
static uint32_t checksum(gr_str bytes) {
    uint32_t c = 0xFFFFFFFFu;
    for (size_t i = 0; i < bytes.n; i++) {
        c ^= (uint8_t)bytes.p[i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
    }
    return ~c;
}
#endif

static bool get_plain(const reader *r, gr_arena *temporary, const gr_entry *e, gr_str *plain) {
    gr_str raw;
    GR_TRY(gr_reader_part(&r->f->file, temporary, r->d, e->at, e->size, &raw));
    *plain = raw;
    if (e->form != DEFLATED) return true;
#ifdef GR_HAVE_ZLIB
    char *p = e->plain < SIZE_MAX ? gr_arena_alloc(temporary, (size_t)e->plain + 1, 1) : NULL;
    if (!p) return gr_report_oom(r->d);
    *plain = (gr_str){p, (size_t)e->plain};
    return inflate_all(raw, *plain) || damaged(r, e->name, "its compressed bytes are damaged");
#else
    return gr_report(r->d, GR_D_ARRAY_NO_ZLIB, (gr_place){.document = r->f->file.name}, "write it with numpy.savez instead of savez_compressed",
                     "member %.*s is compressed", GR_STR_ARG(e->name));
#endif
}

bool gr_npz_get(const gr_archive *f, gr_arena *a, gr_diags *d, const gr_entry *e, gr_array *out) {
    gr_arena temporary = {0};
    reader r = {.a = &temporary, .d = d, .f = (gr_archive *)(uintptr_t)f};
    gr_str plain;
    bool ok = get_plain(&r, &temporary, e, &plain);
    if (ok && checksum(plain) != e->crc) ok = damaged(&r, e->name, "its checksum does not match");
    const char *name = ok ? gr_arena_printf(&temporary, "%.*s#%.*s", GR_STR_ARG(f->file.name), GR_STR_ARG(e->name)) : NULL;
    if (ok) ok = name ? gr_npy_read(a, d, gr_str_of(name), plain, out) : gr_report_oom(d);
    gr_arena_free(&temporary);
    return ok;
}

/* ---- writing --------------------------------------------------------------------------------------------- */

typedef struct written { uint64_t at, size, plain; uint32_t crc, form; } written;
typedef struct writer { gr_buf *out; gr_diags *d; uint64_t zip64_from; bool compress; } writer;

static void put(gr_buf *b, uint64_t v, int n) {
    for (int i = 0; i < n; i++) gr_buf_putc(b, (char)(v >> 8 * i & 255));
}

static void put32(const writer *w, uint64_t v) { put(w->out, v >= w->zip64_from ? 0xFFFFFFFF : v, 4); }

/* Deflated where that is shorter. */
static bool pack(const writer *w, gr_buf *npy, written *m) {
    *m = (written){.at = w->out->n, .size = npy->n, .plain = npy->n, .crc = checksum(gr_buf_view(npy)), .form = STORED};
#ifdef GR_HAVE_ZLIB
    z_stream z = {0};
    if (!w->compress || npy->n > (size_t)1 << 30) return true;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return gr_report_oom(w->d);
    uLong bound = deflateBound(&z, (uLong)npy->n);
    char *to = gr_heap_alloc(bound, 1);
    z.next_in = (Bytef *)npy->p;
    z.avail_in = (uInt)npy->n;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)bound;
    int code = to ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
    deflateEnd(&z);
    if (code == Z_STREAM_END && bound - z.avail_out < npy->n) {
        m->size = bound - z.avail_out;
        m->form = DEFLATED;
        gr_buf_clear(npy);
        gr_buf_put(npy, to, m->size);
    }
    gr_heap_free(to);
    return code == Z_STREAM_END || gr_report_oom(w->d);
#else
    return !w->compress || gr_report(w->d, GR_D_ARRAY_NO_ZLIB, (gr_place){0}, "leave compression out", "nothing can be compressed");
#endif
}

static bool is_wide(const writer *w, const written *m, bool central) {
    return m->size >= w->zip64_from || m->plain >= w->zip64_from || (central && m->at >= w->zip64_from);
}

/* What both headers of a member have in common, from the version to the name's length. 1980-01-01 for every member: the bytes
 * are a function of the arrays. UTF-8 names by flag 0x800. */
static void put_common(const writer *w, const written *m, gr_str name, bool central) {
    put(w->out, is_wide(w, m, central) ? 45 : 20, 2);
    put(w->out, 0x800, 2);
    put(w->out, m->form, 2);
    put(w->out, 0, 2);
    put(w->out, 0x21, 2);
    put(w->out, m->crc, 4);
    if (is_wide(w, m, false)) put(w->out, 0xFFFFFFFFFFFFFFFF, 8);
    else put(w->out, m->size, 4), put(w->out, m->plain, 4);
    put(w->out, name.n + 4, 2);
}

static void put_name(const writer *w, gr_str name) {
    gr_buf_str(w->out, name);
    gr_buf_puts(w->out, ".npy");
}

static bool put_member(const writer *w, const gr_named_array *x, written *m) {
    gr_buf npy = {0};
    bool ok = (gr_npy_write(&npy, &x->array) || gr_report_oom(w->d)) && pack(w, &npy, m);
    if (ok) {
        bool wide = is_wide(w, m, false);
        put(w->out, 0x04034b50, 4);
        put_common(w, m, x->name, false);
        put(w->out, wide ? 20 : 0, 2);
        put_name(w, x->name);
        if (wide) put(w->out, 1, 2), put(w->out, 16, 2), put(w->out, m->plain, 8), put(w->out, m->size, 8);
        gr_buf_put(w->out, npy.p, npy.n);
    }
    gr_buf_free(&npy);
    return ok;
}

static void put_central(const writer *w, const gr_named_array *x, const written *m) {
    bool sizes = is_wide(w, m, false), at = m->at >= w->zip64_from;
    uint64_t n = (sizes ? 16u : 0u) + (at ? 8u : 0u);
    put(w->out, 0x02014b50, 4);
    put(w->out, 45, 2);
    put_common(w, m, x->name, true);
    put(w->out, n ? n + 4 : 0, 2);
    for (int i = 0; i < 5; i++) put(w->out, 0, 2); /* comment, part, attributes */
    put32(w, m->at);
    put_name(w, x->name);
    if (n) put(w->out, 1, 2), put(w->out, n, 2);
    if (sizes) put(w->out, m->plain, 8), put(w->out, m->size, 8);
    if (at) put(w->out, m->at, 8);
}

static void put_end(const writer *w, uint64_t n, uint64_t from) {
    uint64_t end = w->out->n, size = end - from;
    bool wide = n >= 0xFFFF || size >= w->zip64_from || from >= w->zip64_from;
    if (wide) {
        put(w->out, 0x06064b50, 4);
        put(w->out, END64_SIZE - 12, 8);
        put(w->out, 45, 2), put(w->out, 45, 2);
        put(w->out, 0, 8);
        put(w->out, n, 8), put(w->out, n, 8), put(w->out, size, 8), put(w->out, from, 8);
        put(w->out, 0x07064b50, 4);
        put(w->out, 0, 4), put(w->out, end, 8), put(w->out, 1, 4);
    }
    put(w->out, 0x06054b50, 4);
    put(w->out, 0, 4);
    put(w->out, wide ? 0xFFFF : n, 2), put(w->out, wide ? 0xFFFF : n, 2);
    put(w->out, wide ? 0xFFFFFFFF : size, 4), put(w->out, wide ? 0xFFFFFFFF : from, 4);
    put(w->out, 0, 2);
}

bool gr_npz_write(gr_buf *out, gr_diags *d, const gr_named_array *arrays, uint32_t n, bool compress, uint64_t zip64_from) {
    writer w = {.out = out, .d = d, .zip64_from = zip64_from, .compress = compress};
    written *m = gr_heap_alloc(n ? n : 1, sizeof *m);
    bool ok = m != NULL || gr_report_oom(d);
    for (uint32_t i = 0; ok && i < n; i++) {
        if (arrays[i].name.n > 60000) ok = gr_report(d, GR_D_ARRAY_NAME, (gr_place){0}, "choose a shorter name", "a name of %zu bytes does not fit a ZIP archive", arrays[i].name.n);
        ok = ok && put_member(&w, &arrays[i], &m[i]);
    }
    uint64_t from = out->n;
    for (uint32_t i = 0; ok && i < n; i++) put_central(&w, &arrays[i], &m[i]);
    if (ok) put_end(&w, n, from);
    gr_heap_free(m);
    return ok && (!out->failed || gr_report_oom(d));
}
