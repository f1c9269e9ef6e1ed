/* transforms.json: every frame is a camera with a size and a pose, or the file is refused. */
#include "fuzz.h"

#include "splat/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_scene s = {0};
    gr_str ply;
    bool ok = gr_transforms_read(&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, GR_STR("/nowhere"), false, &s, &ply);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok) gr_scene_measure(&f.d, &s);
    FUZZ_CHECK(!ok || s.extent > 0);
    fuzz_close(&f);
    return 0;
}
