/* parts.c: one array of a file read part by part. */
#include "array/archive.h"

enum { HASH_CHUNK = 1 << 20 };

static bool not_in_parts(gr_diags *d, gr_str path, const char *why) {
    return gr_report(d, GR_D_ARRAY_NOT_IN_PARTS, (gr_place){.document = path}, "write it as .npy in C order (numpy.ascontiguousarray) or as .safetensors, or leave out \"stream\"",
                     "%.*s: %s", GR_STR_ARG(path), why);
}

static bool locate(gr_arena *a, gr_diags *d, gr_str path, gr_format format, gr_str select, gr_parts *p) {
    gr_archive f;
    uint32_t i;
    bool plain = false;
    if (format == GR_FORMAT_NPY) {
        GR_TRY(gr_npy_layout(a, d, &p->file, &p->type, &p->at, &plain));
        return plain || not_in_parts(d, path, "its elements are in Fortran order, big-endian or of 16 bits");
    }
    GR_TRY(gr_archive_read_contents(a, d, format, p->file, &f) && gr_archive_find(&f, d, select, &i));
    p->type = f.entries[i].type;
    p->at = f.entries[i].at;
    return gr_safetensors_is_plain(&f.entries[i]) || not_in_parts(d, path, "the array's elements are widened when they are read");
}

bool gr_parts_open(gr_arena *a, gr_diags *d, gr_str path, gr_parts *out) {
    gr_str file, select;
    gr_format format = gr_format_of(path, &file, &select);
    *out = (gr_parts){.file = {.fd = -1}};
    if (format != GR_FORMAT_NPY && format != GR_FORMAT_SAFETENSORS) return not_in_parts(d, path, "the format has no elements one after another");
    GR_TRY(gr_reader_open(d, file, &out->file));
    out->changed_at = gr_reader_written_at(&out->file);
    if (!locate(a, d, path, format, select, out)) {
        gr_parts_close(out);
        return false;
    }
    uint64_t n = 0;
    gr_dims_count(out->type.dims, out->type.rank, &n);
    out->type.bytes = (size_t)n * gr_dtype_size(out->type.dtype);
    return true;
}

static bool unchanged(const gr_parts *p, gr_diags *d) {
    if (gr_reader_written_at(&p->file) == p->changed_at) return true;
    return gr_report(d, GR_D_BASE_FILE_CHANGED, (gr_place){.document = p->file.name}, "leave the file alone while it is streamed", "%.*s was written while it is read in parts", GR_STR_ARG(p->file.name));
}

bool gr_parts_read(const gr_parts *p, gr_diags *d, uint64_t first, uint64_t n, void *to) {
    uint64_t size = gr_dtype_size(p->type.dtype), all = p->type.bytes / size;
    if (first > all || n > all - first) return GR_BUG(d, "A7", "elements %llu + %llu of %llu", (unsigned long long)first, (unsigned long long)n, (unsigned long long)all);
    GR_TRY(gr_reader_read(&p->file, d, p->at + first * size, (size_t)(n * size), to) && unchanged(p, d));
    for (uint64_t i = 0; p->type.dtype == GR_DTYPE_BOOL && i < n; i++) ((uint8_t *)to)[i] = ((uint8_t *)to)[i] != 0;
    return true;
}

bool gr_parts_hash(const gr_parts *p, gr_diags *d, gr_sha256 *out) {
    gr_sha256_state h;
    uint64_t size = gr_dtype_size(p->type.dtype), all = p->type.bytes / size, n;
    void *chunk = gr_heap_alloc(HASH_CHUNK, 1);
    bool ok = chunk ? true : gr_report_oom(d);
    gr_sha256_init(&h);
    for (uint64_t at = 0; ok && at < all; at += n) {
        n = all - at < HASH_CHUNK / size ? all - at : HASH_CHUNK / size;
        ok = gr_parts_read(p, d, at, n, chunk);
        if (ok) gr_sha256_update(&h, chunk, (size_t)(n * size));
    }
    gr_heap_free(chunk);
    if (ok) *out = gr_sha256_final(&h);
    return ok;
}

void gr_parts_close(gr_parts *p) { gr_reader_close(&p->file); }
