/* What is inside the gzip layer of SPZ, which a fuzzer does not get through by itself. */
#include "fuzz.h"

#include "splat/io/cloud.h"
#include "splat/io/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_buf b = {0};
    gr_cloud c;
    if (gr_gzip(&b, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size})) {
        bool ok = gr_cloud_read_spz(&f.a, &f.d, GR_STR("<fuzz>"), gr_buf_view(&b), &c);
        FUZZ_CHECK(ok == gr_diags_ok(&f.d));
        FUZZ_CHECK(!ok || c.n <= size);
    }
    gr_buf_free(&b);
    fuzz_close(&f);
    return 0;
}
