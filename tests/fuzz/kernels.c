/* The text of kernels: a failure is reported, and what is read and verified is printed as text that reads and prints
 * the same. */
#include "fuzz/lowered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const gr_graph *g = fuzz_kernels()->graph;
    fuzz f = fuzz_open();
    gr_buf out = {0}, second = {0};
    gr_kernels x, again;
    bool ok = gr_kernels_parse(&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, g, &x);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok && gr_kernels_verify(&f.d, &x)) {
        gr_kernels_print(&out, &x);
        FUZZ_CHECK(gr_kernels_parse(&f.a, &f.d, GR_STR("<again>"), gr_buf_view(&out), g, &again));
        gr_kernels_print(&second, &again);
        FUZZ_CHECK(gr_str_eq(gr_buf_view(&out), gr_buf_view(&second)));
    }
    gr_buf_free(&second);
    gr_buf_free(&out);
    fuzz_close(&f);
    return 0;
}
