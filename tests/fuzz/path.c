/* Camera paths: every frame is a camera with a size and a pose, or the file is refused. */
#include "fuzz.h"

#include "splat/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_frames frames;
    bool ok = gr_path_read(&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, 0, 0, &frames);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    for (uint32_t i = 0; ok && i < frames.list.n; i++) FUZZ_CHECK(frames.list.v[i].camera.width && frames.list.v[i].camera.height && frames.list.v[i].camera.fx > 0);
    fuzz_close(&f);
    return 0;
}
