#include "splat/io/zip.h"

#ifdef GR_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#ifdef GR_HAVE_ZSTD
#include <zstd.h>
#endif

bool gr_library_missing(gr_diags *d, gr_str name, const char *format, const char *library) {
    return gr_report(d, GR_D_SPLAT_LIBRARY_MISSING, (gr_place){.document = name}, "tools/install-deps, then build again",
                     "%s needs %s, which was not there when this program was built", format, library);
}

#ifdef GR_HAVE_ZLIB
static bool inflate_all(z_stream *z, gr_buf *b, size_t limit) {
    char step[1 << 14];
    for (;;) {
        z->next_out = (Bytef *)step;
        z->avail_out = sizeof step;
        int r = inflate(z, Z_NO_FLUSH);
        gr_buf_put(b, step, sizeof step - z->avail_out);
        if (b->n > limit || b->failed || (r != Z_OK && r != Z_STREAM_END)) return false;
        if (r == Z_STREAM_END) return true;
        if (z->avail_in == 0 && z->avail_out != 0) return false;
    }
}

bool gr_gunzip(gr_arena *a, gr_diags *d, gr_diag_name what, gr_str name, gr_str packed, size_t limit, gr_str *out) {
    z_stream z = {.next_in = (const Bytef *)packed.p, .avail_in = (uInt)packed.n};
    gr_buf b = {0};
    if (packed.n > UINT32_MAX) return gr_report(d, what, (gr_place){.document = name}, NULL, "the file is over 4 GiB");
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) return gr_report_oom(d);
    bool ok = inflate_all(&z, &b, limit), full = b.failed, large = b.n > limit;
    inflateEnd(&z);
    if (ok) *out = gr_str_dup(a, gr_buf_view(&b));
    if (full || (ok && !out->p)) ok = gr_report_oom(d);
    else if (!ok)
        gr_report(d, what, (gr_place){.document = name}, "copy the file again", large ? "the packed data grows beyond %zu bytes" : "the gzip data is damaged or cut off after %zu bytes",
                  large ? limit : b.n);
    gr_buf_free(&b);
    return ok;
}

static bool deflate_all(z_stream *z, gr_buf *out) {
    char step[1 << 14];
    int r;
    do {
        z->next_out = (Bytef *)step;
        z->avail_out = sizeof step;
        r = deflate(z, Z_FINISH);
        gr_buf_put(out, step, sizeof step - z->avail_out);
    } while (r == Z_OK && !out->failed);
    return r == Z_STREAM_END && !out->failed;
}

static bool pack(gr_buf *out, gr_str bytes, int window) {
    z_stream z = {.next_in = (const Bytef *)bytes.p, .avail_in = (uInt)bytes.n};
    if (bytes.n > UINT32_MAX || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    bool ok = deflate_all(&z, out);
    deflateEnd(&z);
    return ok;
}

bool gr_gzip(gr_buf *out, gr_diags *d, gr_str name, gr_str bytes) {
    (void)name;
    return pack(out, bytes, 16 + MAX_WBITS) || gr_report_oom(d);
}
#else
bool gr_gunzip(gr_arena *a, gr_diags *d, gr_diag_name what, gr_str name, gr_str packed, size_t limit, gr_str *out) {
    (void)a, (void)what, (void)packed, (void)limit, (void)out;
    return gr_library_missing(d, name, "gzip", "zlib");
}

bool gr_gzip(gr_buf *out, gr_diags *d, gr_str name, gr_str bytes) {
    (void)out, (void)bytes;
    return gr_library_missing(d, name, "gzip", "zlib");
}
#endif

/* RFC 1950 with the stored blocks of RFC 1951. */
static bool store(gr_buf *out, gr_str bytes) {
    uint32_t s1 = 1, s2 = 0;
    gr_buf_put(out, "\x78\x01", 2);
    for (size_t at = 0; at == 0 || at < bytes.n;) {
        size_t n = bytes.n - at < 65535 ? bytes.n - at : 65535;
        char head[5] = {at + n == bytes.n, (char)n, (char)(n >> 8), (char)~n, (char)(~n >> 8)};
        gr_buf_put(out, head, 5);
        gr_buf_put(out, bytes.p + at, n);
        for (size_t i = 0; i < n; i++) s1 = (s1 + (uint8_t)bytes.p[at + i]) % 65521, s2 = (s2 + s1) % 65521;
        at += n;
        if (n == 0) break;
    }
    char tail[4] = {(char)(s2 >> 8), (char)s2, (char)(s1 >> 8), (char)s1};
    gr_buf_put(out, tail, 4);
    return !out->failed;
}

bool gr_zlib(gr_buf *out, gr_str bytes, bool stored) {
#ifdef GR_HAVE_ZLIB
    if (!stored) return pack(out, bytes, MAX_WBITS);
#endif
    (void)stored;
    return store(out, bytes);
}

bool gr_unzstd(gr_diags *d, gr_diag_name what, gr_str name, gr_str packed, uint8_t *dst, size_t n) {
#ifdef GR_HAVE_ZSTD
    size_t got = ZSTD_decompress(dst, n, packed.p, packed.n);
    if (!ZSTD_isError(got) && got == n) return true;
    return gr_report(d, what, (gr_place){.document = name}, "copy the file again", "a zstd stream of %zu bytes does not unpack to %zu", packed.n, n);
#else
    (void)what, (void)packed, (void)dst, (void)n;
    return gr_library_missing(d, name, "zstd", "libzstd");
#endif
}
