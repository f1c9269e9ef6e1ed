#include "splat/image.h"

#include "base/file.h"
#include "splat/image_decode.h"

bool gr_image_new(gr_diags *d, gr_str name, uint32_t width, uint32_t height, uint32_t channels, gr_image *out) {
    *out = (gr_image){width, height, channels, NULL};
    if (!width || !height || width > GR_IMAGE_SIDE_MAX || height > GR_IMAGE_SIDE_MAX || (uint64_t)width * height > GR_IMAGE_PIXELS_MAX)
        return gr_report(d, GR_D_SPLAT_IMAGE_SIZE, (gr_place){.document = name}, "scale it down first",
                         "%u x %u pixels: a picture has 1 to %d a side and at most %d in all", width, height, GR_IMAGE_SIDE_MAX, GR_IMAGE_PIXELS_MAX);
    out->px = gr_heap_alloc((size_t)width * height, channels);
    return out->px || gr_report_oom(d);
}

void gr_image_free(gr_image *m) {
    gr_heap_free(m->px);
    *m = (gr_image){0};
}

bool gr_image_damaged(gr_diags *d, gr_str name, const char *format, const char *why) {
    return gr_report(d, GR_D_SPLAT_IMAGE_DAMAGED, (gr_place){.document = name}, NULL, "the %s file cannot be decoded: %s", format, why);
}

bool gr_image_decode(gr_diags *d, gr_str name, gr_str bytes, gr_image *out) {
    gr_image_info info;
    *out = (gr_image){0};
    GR_TRY(gr_image_probe(d, name, bytes, &info));
    bool ok = info.format[0] == 'P' ? gr_image_decode_png(d, name, bytes, out)
            : info.format[0] == 'J' ? gr_image_decode_jpeg(d, name, bytes, out) : gr_image_decode_webp(d, name, bytes, out);
    if (!ok) gr_image_free(out);
    return ok;
}

bool gr_image_load(gr_diags *d, gr_str path, gr_image *out) {
    gr_arena a = {0};
    gr_str bytes;
    *out = (gr_image){0};
    bool ok = gr_file_read(&a, d, path, (size_t)1 << 30, &bytes) && gr_image_decode(d, path, bytes, out);
    gr_arena_free(&a);
    return ok;
}

/* ---- orientation -------------------------------------------------------------------- */

bool gr_image_orient(gr_diags *d, gr_str name, gr_image *m, uint32_t orientation) {
    gr_image t;
    if (orientation < 2 || orientation > 8) return true;
    bool swap = orientation >= 5;
    GR_TRY(gr_image_new(d, name, swap ? m->height : m->width, swap ? m->width : m->height, m->channels, &t));
    for (uint32_t y = 0; y < t.height; y++)
        for (uint32_t x = 0; x < t.width; x++) {
            /* Where pixel (x, y) of the upright picture is stored; orientations as in EXIF 2.3, table 4. */
            uint32_t sx = swap ? y : x, sy = swap ? x : y;
            if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8) sx = m->width - 1 - sx;
            if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7) sy = m->height - 1 - sy;
            memcpy(t.px + ((size_t)y * t.width + x) * m->channels, m->px + ((size_t)sy * m->width + sx) * m->channels, m->channels);
        }
    gr_image_free(m);
    *m = t;
    return true;
}

/* ---- scaling ------------------------------------------------------------------------- */

typedef struct span { uint32_t first, last; } span;

/* Source pixels under pixel j of n, of m in all. In units of 1/n of a source pixel j covers [j m, (j + 1) m). */
static span under(uint32_t j, uint32_t n, uint32_t m) {
    return (span){(uint32_t)((uint64_t)j * m / n), (uint32_t)((((uint64_t)j + 1) * m - 1) / n)};
}

static uint64_t overlap(uint32_t i, uint32_t j, uint32_t n, uint32_t m) {
    uint64_t a = (uint64_t)i * n, b = a + n, c = (uint64_t)j * m, e = c + m;
    return (b < e ? b : e) - (a > c ? a : c);
}

static void average(const gr_image *m, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint8_t *out) {
    span h = under(x, width, m->width), v = under(y, height, m->height);
    uint64_t sum[4] = {0}, alpha = 0, area = 0;
    for (uint32_t sy = v.first; sy <= v.last; sy++)
        for (uint32_t sx = h.first; sx <= h.last; sx++) {
            const uint8_t *p = m->px + ((size_t)sy * m->width + sx) * m->channels;
            uint64_t w = overlap(sx, x, width, m->width) * overlap(sy, y, height, m->height), a = m->channels == 4 ? p[3] : 1;
            for (uint32_t c = 0; c < m->channels && c < 3; c++) sum[c] += w * a * p[c];
            alpha += w * a;
            area += w;
        }
    for (uint32_t c = 0; c < m->channels && c < 3; c++) out[c] = (uint8_t)(alpha ? (sum[c] + alpha / 2) / alpha : 0);
    if (m->channels == 4) out[3] = (uint8_t)((alpha + area / 2) / area);
}

bool gr_image_scale(gr_diags *d, gr_str name, const gr_image *m, uint32_t width, uint32_t height, gr_image *out) {
    if (width > m->width || height > m->height)
        return GR_BUG(d, "S4", "%u x %u is larger than %u x %u", width, height, m->width, m->height);
    GR_TRY(gr_image_new(d, name, width, height, m->channels, out));
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) average(m, x, y, width, height, out->px + ((size_t)y * width + x) * m->channels);
    return true;
}

void gr_image_over(const uint8_t p[4], const uint8_t background[3], uint8_t out[3]) {
    for (int c = 0; c < 3; c++) out[c] = (uint8_t)((p[3] * p[c] + (255 - p[3]) * background[c] + 127) / 255);
}

bool gr_image_composite(gr_diags *d, gr_str name, const gr_image *m, const uint8_t background[3], gr_image *out) {
    GR_TRY(gr_image_new(d, name, m->width, m->height, 3, out));
    size_t n = (size_t)m->width * m->height;
    if (m->channels == 3) memcpy(out->px, m->px, 3 * n);
    else for (size_t i = 0; i < n; i++) gr_image_over(m->px + 4 * i, background, out->px + 3 * i);
    return true;
}
