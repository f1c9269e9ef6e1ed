/* COLMAP's six files: the first byte chooses. Memory follows the file, a failure is reported. */
#include "fuzz.h"

#include "splat/io/colmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bool (*const read[])(gr_arena *, gr_diags *, gr_str, gr_str, gr_colmap *) = {
        gr_colmap_cameras_bin, gr_colmap_images_bin, gr_colmap_points_bin, gr_colmap_cameras_text, gr_colmap_images_text, gr_colmap_points_text};
    if (size == 0) return 0;
    fuzz f = fuzz_open();
    gr_colmap m = {0};
    f.a.limit = 64 * size + (1 << 20);
    bool ok = read[data[0] % 6](&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data + 1, size - 1}, &m);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    for (uint32_t i = 0; ok && i < m.camera.n; i++) {
        double u, v;
        FUZZ_CHECK(m.camera.v[i].camera.fx > 0);
        gr_camera_distort(&m.camera.v[i].camera, 0.5, -2, &u, &v);
    }
    fuzz_close(&f);
    return 0;
}
