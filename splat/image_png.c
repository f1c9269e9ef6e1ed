#include "base/file.h"
#include "splat/image_decode.h"
#include "splat/io/zip.h"

#ifdef GR_HAVE_SPNG
#include <spng.h>

/* RGBA of 8 or 16 bits in, what the file has out: 3 channels where nothing can be transparent. */
static void narrow(const uint8_t *p, bool wide, gr_image *out) {
    size_t n = (size_t)out->width * out->height;
    for (size_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < out->channels; c++) {
            uint16_t v;
            if (wide) memcpy(&v, p + (4 * i + c) * 2, 2);
            else v = p[4 * i + c];
            out->px[i * out->channels + c] = (uint8_t)(wide ? ((uint32_t)v * 255 + 32767) / 65535 : v);
        }
}

static bool decode(gr_diags *d, gr_str name, spng_ctx *ctx, gr_str bytes, gr_image *out) {
    struct spng_ihdr head;
    struct spng_trns trns;
    size_t size;
    int r = spng_set_image_limits(ctx, GR_IMAGE_SIDE_MAX, GR_IMAGE_SIDE_MAX);
    if (!r) r = spng_set_chunk_limits(ctx, (size_t)1 << 24, (size_t)1 << 26);
    if (!r) r = spng_set_png_buffer(ctx, bytes.p, bytes.n);
    if (!r) r = spng_get_ihdr(ctx, &head);
    if (r) return gr_image_damaged(d, name, "PNG", spng_strerror(r));
    bool wide = head.bit_depth == 16, alpha = (head.color_type & 4) || spng_get_trns(ctx, &trns) == 0;
    int format = wide ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8;
    GR_TRY(gr_image_new(d, name, head.width, head.height, alpha ? 4 : 3, out));
    r = spng_decoded_image_size(ctx, format, &size);
    if (r) return gr_image_damaged(d, name, "PNG", spng_strerror(r));
    uint8_t *p = gr_heap_alloc(size, 1);
    if (!p) return gr_report_oom(d);
    r = spng_decode_image(ctx, p, size, format, SPNG_DECODE_TRNS);
    if (!r) narrow(p, wide, out);
    gr_heap_free(p);
    return !r || gr_image_damaged(d, name, "PNG", spng_strerror(r));
}

bool gr_image_decode_png(gr_diags *d, gr_str name, gr_str bytes, gr_image *out) {
    spng_ctx *ctx = spng_ctx_new(0);
    if (!ctx) return gr_report_oom(d);
    bool ok = decode(d, name, ctx, bytes, out);
    spng_ctx_free(ctx);
    return ok;
}
#else
bool gr_image_decode_png(gr_diags *d, gr_str name, gr_str bytes, gr_image *out) {
    (void)bytes, (void)out;
    return gr_library_missing(d, name, "PNG", "libspng");
}
#endif

/* ---- writing -------------------------------------------------------------------------- */

/* ISO 3309, bit by bit: pictures are small beside what made them. */
static uint32_t crc(uint32_t c, const char *p, size_t n) {
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++) table[i] = table[i] & 1 ? 0xedb88320u ^ table[i] >> 1 : table[i] >> 1;
    }
    for (size_t i = 0; i < n; i++) c = table[(c ^ (uint8_t)p[i]) & 255] ^ c >> 8;
    return c;
}

static void put_be(gr_buf *b, uint32_t v) {
    const char p[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};
    gr_buf_put(b, p, 4);
}

static void chunk(gr_buf *out, const char *type, gr_str data) {
    put_be(out, (uint32_t)data.n);
    gr_buf_put(out, type, 4);
    gr_buf_put(out, data.p, data.n);
    put_be(out, ~crc(crc(~0u, type, 4), data.p, data.n));
}

/* One row behind its filter: none, left or above, whichever has the least sum of differences. */
static void filter_row(gr_buf *b, const uint8_t *row, const uint8_t *above, size_t n, size_t channels, bool plain) {
    uint64_t cost[3] = {0};
    for (size_t i = 0; i < n && !plain; i++) {
        int v = row[i], left = i < channels ? 0 : row[i - channels], up = above ? above[i] : 0;
        const int e[3] = {v, (int8_t)(v - left), (int8_t)(v - up)};
        for (int k = 0; k < 3; k++) cost[k] += (uint64_t)(k == 0 ? (v < 128 ? v : 256 - v) : e[k] < 0 ? -e[k] : e[k]);
    }
    int best = plain ? 0 : cost[1] < cost[0] ? cost[2] < cost[1] ? 2 : 1 : cost[2] < cost[0] ? 2 : 0;
    gr_buf_putc(b, (char)best);
    for (size_t i = 0; i < n; i++) {
        int from = best == 1 ? (i < channels ? 0 : row[i - channels]) : best == 2 && above ? above[i] : 0;
        gr_buf_putc(b, (char)(row[i] - from));
    }
}

bool gr_image_write_png(gr_buf *out, const gr_image *m, bool stored) {
    static const char colour[] = {0, 0, 0, 2, 6};
    gr_buf head = {0}, rows = {0}, packed = {0};
    size_t n = (size_t)m->width * m->channels;
    put_be(&head, m->width);
    put_be(&head, m->height);
    const char tail[5] = {8, colour[m->channels], 0, 0, 0};
    gr_buf_put(&head, tail, 5);
    for (size_t y = 0; y < m->height; y++) filter_row(&rows, m->px + y * n, y ? m->px + (y - 1) * n : NULL, n, m->channels, stored);
    bool ok = !rows.failed && gr_zlib(&packed, gr_buf_view(&rows), stored);
    gr_buf_put(out, "\x89PNG\r\n\x1a\n", 8);
    chunk(out, "IHDR", gr_buf_view(&head));
    chunk(out, "IDAT", gr_buf_view(&packed));
    chunk(out, "IEND", (gr_str){"", 0});
    ok = ok && !out->failed && !head.failed;
    gr_buf_free(&head);
    gr_buf_free(&rows);
    gr_buf_free(&packed);
    return ok;
}

bool gr_image_save_png(gr_diags *d, gr_str path, const gr_image *m) {
    gr_buf b = {0};
    bool ok = (gr_image_write_png(&b, m, false) || gr_report_oom(d)) && gr_file_write(d, path, b.p, b.n);
    gr_buf_free(&b);
    return ok;
}
