#include "splat/image_decode.h"
#include "splat/io/zip.h"

#ifdef GR_HAVE_WEBP
#include <webp/decode.h>

bool gr_image_decode_webp(gr_diags *d, gr_str name, gr_str bytes, gr_image *out) {
    WebPBitstreamFeatures f;
    const uint8_t *p = (const uint8_t *)bytes.p;
    if (WebPGetFeatures(p, bytes.n, &f) != VP8_STATUS_OK) return gr_image_damaged(d, name, "WebP", "its head is damaged");
    if (f.has_animation) return gr_image_damaged(d, name, "WebP", "it is an animation");
    GR_TRY(gr_image_new(d, name, (uint32_t)f.width, (uint32_t)f.height, f.has_alpha ? 4 : 3, out));
    int stride = f.width * (int)out->channels;
    size_t n = (size_t)stride * (size_t)f.height;
    uint8_t *ok = f.has_alpha ? WebPDecodeRGBAInto(p, bytes.n, out->px, n, stride) : WebPDecodeRGBInto(p, bytes.n, out->px, n, stride);
    return ok || gr_image_damaged(d, name, "WebP", "its data is damaged or cut off");
}
#else
bool gr_image_decode_webp(gr_diags *d, gr_str name, gr_str bytes, gr_image *out) {
    (void)bytes, (void)out;
    return gr_library_missing(d, name, "WebP", "libwebp");
}
#endif
