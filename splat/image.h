/* image.h: pictures as bytes: PNG, JPEG and WebP in, PNG out, scaled by area, laid on a background. */
#ifndef GR_SPLAT_IMAGE_H
#define GR_SPLAT_IMAGE_H

#include "base/diag.h"

/* Rows from the top, channels inmost, no padding. Heap memory of its owner. */
typedef struct gr_image {
    uint32_t width, height;
    uint32_t channels; /* 1 a mask, 3 RGB, 4 RGBA with straight alpha */
    uint8_t *px;
} gr_image;

enum { GR_IMAGE_SIDE_MAX = 65535, GR_IMAGE_PIXELS_MAX = 1 << 28 };

/* What the head of a file says, without decoding. */
typedef struct gr_image_info {
    uint32_t width, height; /* as stored */
    uint32_t orientation;   /* EXIF 1..8; 1 as stored */
    const char *format;     /* "PNG" "JPEG" "WebP" */
} gr_image_info;

/* Zeroed pixels; base/out-of-memory, splat/image-size. */
bool gr_image_new(gr_diags *d, gr_str name, uint32_t width, uint32_t height, uint32_t channels, gr_image *out);
void gr_image_free(gr_image *m);

/* splat/image-format when the bytes are none of the three; splat/image-damaged. `bytes` may be the first part of a file. */
bool gr_image_probe(gr_diags *d, gr_str name, gr_str bytes, gr_image_info *out);
/* The same for a file, of which only the head is read. */
bool gr_image_probe_file(gr_diags *d, gr_str path, gr_image_info *out);
/* Gray becomes RGB, palettes are resolved, 16 bits are rounded to 8, CMYK is converted; 4 channels only where the file has alpha. Pixels are as
 * stored: see gr_image_orient. A damaged end of a JPEG is the warning splat/image-cut. splat/library-missing. */
bool gr_image_decode(gr_diags *d, gr_str name, gr_str bytes, gr_image *out);
bool gr_image_load(gr_diags *d, gr_str path, gr_image *out);

/* Turns and mirrors as an EXIF orientation asks; 1 leaves it. */
bool gr_image_orient(gr_diags *d, gr_str name, gr_image *m, uint32_t orientation);
/* Area average to width x height (each not larger than m's): exact in integers, rounded once. Colours are weighted by alpha. */
bool gr_image_scale(gr_diags *d, gr_str name, const gr_image *m, uint32_t width, uint32_t height, gr_image *out);
/* RGB of one pixel over a background: (a c + (255 - a) b) / 255 rounded. */
void gr_image_over(const uint8_t rgba[4], const uint8_t background[3], uint8_t out[3]);
/* The whole picture over a background, as RGB. */
bool gr_image_composite(gr_diags *d, gr_str name, const gr_image *m, const uint8_t background[3], gr_image *out);

/* PNG of 1, 3 or 4 channels. stored: without compression, so that the bytes are the same whatever the zlib. */
bool gr_image_write_png(gr_buf *out, const gr_image *m, bool stored);
bool gr_image_save_png(gr_diags *d, gr_str path, const gr_image *m);

#endif
