/* Size and EXIF orientation from the head of a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "splat/image_decode.h"
#include "splat/io/bytes.h"

enum { HEAD = 1 << 20 };

static uint32_t be16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t be32(const uint8_t *p) { return be16(p) << 16 | be16(p + 2); }

/* The orientation in a TIFF block: tag 0x112 of the first directory. 1 when there is none or it is damaged. */
static uint32_t tiff_orientation(const uint8_t *p, size_t n) {
    if (n < 14 || (memcmp(p, "II*\0", 4) && memcmp(p, "MM\0*", 4))) return 1;
    bool big = p[0] == 'M';
    size_t at = big ? be32(p + 4) : gr_get_u32(p + 4);
    if (at > n - 2) return 1;
    uint32_t count = big ? be16(p + at) : gr_get_u16(p + at);
    at += 2;
    for (uint32_t i = 0; i < count && at + 12 <= n; i++, at += 12) {
        uint32_t tag = big ? be16(p + at) : gr_get_u16(p + at), value = big ? be16(p + at + 8) : gr_get_u16(p + at + 8);
        if (tag == 0x112) return value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}

static bool png(const uint8_t *p, size_t n, gr_image_info *out) {
    if (n < 24) return false;
    out->width = be32(p + 16);
    out->height = be32(p + 20);
    for (size_t at = 8; at + 12 <= n;) { /* eXIf comes before the picture, as a rule */
        size_t size = be32(p + at);
        if (!memcmp(p + at + 4, "IDAT", 4) || size > n - at - 12) break;
        if (!memcmp(p + at + 4, "eXIf", 4)) out->orientation = tiff_orientation(p + at + 8, size);
        at += size + 12;
    }
    return true;
}

static bool jpeg(const uint8_t *p, size_t n, gr_image_info *out) {
    for (size_t at = 2; at + 4 <= n;) {
        if (p[at] != 0xff) return false;
        uint8_t marker = p[at + 1];
        if (marker == 0xff) { /* fill */
            at++;
            continue;
        }
        size_t size = be16(p + at + 2);
        bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (size < 2 || marker == 0xda || marker == 0xd9 || at + 2 + size > n) return false;
        if (marker == 0xe1 && size >= 8 && !memcmp(p + at + 4, "Exif\0", 6)) out->orientation = tiff_orientation(p + at + 10, size - 8);
        if (frame) {
            if (size < 7) return false;
            out->height = be16(p + at + 5);
            out->width = be16(p + at + 7);
            return true;
        }
        at += 2 + size;
    }
    return false;
}

/* The three kinds of first chunk: lossy, lossless, extended (which alone may carry EXIF, at the end: not looked at). */
static bool webp(const uint8_t *p, size_t n, gr_image_info *out) {
    if (n < 30) return false;
    if (!memcmp(p + 12, "VP8 ", 4)) {
        out->width = gr_get_u16(p + 26) & 0x3fff;
        out->height = gr_get_u16(p + 28) & 0x3fff;
    } else if (!memcmp(p + 12, "VP8L", 4)) {
        uint32_t bits = gr_get_u32(p + 21);
        out->width = (bits & 0x3fff) + 1;
        out->height = (bits >> 14 & 0x3fff) + 1;
    } else if (!memcmp(p + 12, "VP8X", 4)) {
        out->width = (gr_get_u32(p + 24) & 0xffffff) + 1;
        out->height = (gr_get_u32(p + 26) >> 8) + 1;
    } else {
        return false;
    }
    return true;
}

bool gr_image_probe(gr_diags *d, gr_str name, gr_str bytes, gr_image_info *out) {
    const uint8_t *p = (const uint8_t *)bytes.p;
    bool ok;
    *out = (gr_image_info){.orientation = 1};
    if (bytes.n >= 8 && !memcmp(p, "\x89PNG\r\n\x1a\n", 8)) out->format = "PNG", ok = png(p, bytes.n, out);
    else if (bytes.n >= 3 && !memcmp(p, "\xff\xd8\xff", 3)) out->format = "JPEG", ok = jpeg(p, bytes.n, out);
    else if (bytes.n >= 12 && !memcmp(p, "RIFF", 4) && !memcmp(p + 8, "WEBP", 4)) out->format = "WebP", ok = webp(p, bytes.n, out);
    else
        return gr_report(d, GR_D_SPLAT_IMAGE_FORMAT, (gr_place){.document = name}, "pictures are PNG, JPEG or WebP",
                         "%.*s is no picture of a known format: its first bytes are those of none", GR_STR_ARG(name));
    if (!ok) return gr_image_damaged(d, name, out->format, "its head does not say how large it is");
    if (!out->width || !out->height) return gr_image_damaged(d, name, out->format, "a side is 0 pixels long");
    return true;
}

bool gr_image_probe_file(gr_diags *d, gr_str path, gr_image_info *out) {
    char *z = gr_heap_alloc(path.n + 1, 1), *head = gr_heap_alloc(HEAD, 1);
    bool ok = z && head;
    if (!ok) gr_report_oom(d);
    if (ok) {
        memcpy(z, path.p, path.n);
        FILE *f = fopen(z, "rb");
        size_t n = f ? fread(head, 1, HEAD, f) : 0;
        int error = errno;
        ok = f && !ferror(f);
        if (!ok) gr_report(d, GR_D_BASE_FILE_UNREADABLE, (gr_place){.document = path}, NULL, "cannot read %.*s: %s", GR_STR_ARG(path), strerror(error));
        if (f) fclose(f);
        ok = ok && gr_image_probe(d, path, (gr_str){head, n}, out);
    }
    gr_heap_free(z);
    gr_heap_free(head);
    return ok;
}
