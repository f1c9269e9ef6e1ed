/* stream.c: inputs whose data stays in a file: parts of it in device layout, rows of it, its hash. */
#include "api/inputs.h"

enum { CHUNK = 1 << 16 }; /* elements read at a time where they are converted; even, as halves share words */

bool gr_loaded_open(gr_program *p, const gr_canvas_node *n, gr_str path, gr_loaded *out) {
    gr_diags *d = &p->session->diags;
    gr_disk *disk = GR_NEW(&p->arena[0], gr_disk);
    if (!disk) return gr_report_oom(d);
    GR_TRY(gr_parts_open(&p->arena[0], d, path, &disk->parts));
    out->disk = disk;
    out->array = disk->parts.type;
    gr_dtype stored = disk->parts.type.dtype, want = n->dtype ? n->dtype : stored == GR_DTYPE_F64 ? GR_DTYPE_F32 : stored;
    out->array.dtype = want;
    if (!gr_dims_bytes(want, out->array.dims, out->array.rank, &out->array.bytes)) return gr_report_oom(d);
    if (want != stored)
        gr_report(d, GR_D_RUN_INPUT_CONVERTED, n->at, NULL, "input \"%.*s\": %s read as %s, part by part", GR_STR_ARG(n->id), gr_dtype_name(stored), gr_dtype_name(want));
    return true;
}

/* Elements [first, first + n) in host layout, as the dtype that the program takes. */
static bool read_host(const gr_loaded *l, gr_arena *a, gr_diags *d, uint64_t first, uint64_t n, gr_array *out) {
    const gr_parts *p = &l->disk->parts;
    gr_array raw;
    GR_TRY(gr_array_new(a, d, p->type.dtype, &n, 1, &raw) && gr_parts_read(p, d, first, n, raw.data));
    *out = raw;
    return raw.dtype == l->array.dtype || gr_array_convert(a, d, &raw, l->array.dtype, out, NULL);
}

bool gr_loaded_read_device(void *user, gr_diags *d, uint64_t at, uint64_t n, void *to) {
    const gr_loaded *l = user;
    uint64_t size = l->array.dtype == GR_DTYPE_F16 ? 2 : gr_dtype_size(l->array.dtype) == 8 ? 8 : 4, count = gr_array_count(&l->array);
    uint64_t first = at / size, end = (at + n) / size < count ? (at + n) / size : count;
    uint8_t *p = to;
    bool ok = true;
    if (at % 4 || at % size || first > end) return GR_BUG(d, "A7", "bytes %llu + %llu of a streamed input", (unsigned long long)at, (unsigned long long)n);
    memset(p + (end - first) * size, 0, (size_t)(n - (end - first) * size)); /* the padding of halves */
    if (l->array.dtype == l->disk->parts.type.dtype && gr_pack_copies(l->array.dtype)) return gr_parts_read(&l->disk->parts, d, first, end - first, p);
    for (uint64_t i = first; ok && i < end; i += CHUNK) {
        uint64_t part = end - i < CHUNK ? end - i : CHUNK;
        gr_arena a = {0};
        gr_array x;
        ok = read_host(l, &a, d, i, part, &x);
        if (ok) gr_pack(p + (i - first) * size, &x);
        gr_arena_free(&a);
    }
    return ok;
}

/* `rows` rows from row `first`, in host layout. */
static bool read_rows(const gr_loaded *l, gr_diags *d, uint64_t first, uint64_t rows, size_t row_bytes, void *to) {
    uint64_t n = l->array.dims[0] ? gr_array_count(&l->array) / l->array.dims[0] : 0;
    gr_arena a = {0};
    gr_array x;
    if (!l->disk) return memcpy(to, (const char *)l->array.data + first * row_bytes, (size_t)rows * row_bytes), true;
    if (l->array.dtype == l->disk->parts.type.dtype) return gr_parts_read(&l->disk->parts, d, first * n, rows * n, to);
    bool ok = read_host(l, &a, d, first * n, rows * n, &x);
    if (ok) memcpy(to, x.data, (size_t)rows * row_bytes);
    gr_arena_free(&a);
    return ok;
}

bool gr_loaded_rows(const gr_loaded *l, gr_diags *d, const uint64_t *rows, uint64_t n, void *to) {
    size_t row = l->array.dims[0] ? l->array.bytes / (size_t)l->array.dims[0] : 0;
    for (uint64_t k = 0, run; row && k < n; k += run) {
        for (run = 1; k + run < n && rows[k + run] == rows[k] + run;) run++;
        GR_TRY(read_rows(l, d, rows[k], run, row, (char *)to + k * row));
    }
    return true;
}

bool gr_loaded_hash(const gr_loaded *l, gr_diags *d, gr_sha256 *out) {
    if (l->disk && !l->disk->hashed) GR_TRY(l->disk->hashed = gr_parts_hash(&l->disk->parts, d, &l->disk->hash));
    *out = l->disk ? l->disk->hash : l->hash;
    return true;
}

void gr_program_close_files(gr_program *p) {
    for (uint32_t i = 0; !p->data && i < p->loaded_n; i++)
        if (p->loaded[i].disk) gr_parts_close(&p->loaded[i].disk->parts);
}
