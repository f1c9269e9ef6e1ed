/* Pictures: the heads that we read ourselves agree with the decoders, and what is decoded can be turned, scaled and written. */
#include "fuzz.h"

#include "splat/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_str bytes = {(const char *)data, size};
    gr_image_info info;
    gr_image m, s;
    if (gr_image_probe(&f.d, GR_STR("<fuzz>"), bytes, &info) && (uint64_t)info.width * info.height < 1 << 20 &&
        gr_image_decode(&f.d, GR_STR("<fuzz>"), bytes, &m)) {
        gr_buf b = {0};
        FUZZ_CHECK(m.width == info.width && m.height == info.height);
        FUZZ_CHECK(gr_image_orient(&f.d, GR_STR("<fuzz>"), &m, 1 + (uint32_t)size % 8));
        FUZZ_CHECK(gr_image_scale(&f.d, GR_STR("<fuzz>"), &m, (m.width + 1) / 2, (m.height + 2) / 3, &s));
        FUZZ_CHECK(gr_image_write_png(&b, &s, size % 2));
        gr_buf_free(&b);
        gr_image_free(&s);
        gr_image_free(&m);
    }
    fuzz_close(&f);
    return 0;
}
