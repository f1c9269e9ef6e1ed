/* image_decode.h: the decoders behind gr_image_decode. Each gives 3 or 4 channels as stored. */
#ifndef GR_SPLAT_IMAGE_DECODE_H
#define GR_SPLAT_IMAGE_DECODE_H

#include "splat/image.h"

bool gr_image_decode_png(gr_diags *d, gr_str name, gr_str bytes, gr_image *out);
bool gr_image_decode_jpeg(gr_diags *d, gr_str name, gr_str bytes, gr_image *out);
bool gr_image_decode_webp(gr_diags *d, gr_str name, gr_str bytes, gr_image *out);
bool gr_image_damaged(gr_diags *d, gr_str name, const char *format, const char *why);

#endif
