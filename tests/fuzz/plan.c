/* The text of a plan: a failure is reported, and what is read and verified is printed as text that reads and prints the
 * same. */
#include "fuzz/lowered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const gr_kernels *k = fuzz_kernels();
    fuzz f = fuzz_open();
    gr_buf out = {0}, second = {0};
    gr_plan x, again;
    bool ok = gr_plan_parse(&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, k, &x);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok && gr_plan_verify(&f.d, &x)) {
        gr_plan_print(&out, &x);
        FUZZ_CHECK(gr_plan_parse(&f.a, &f.d, GR_STR("<again>"), gr_buf_view(&out), k, &again));
        gr_plan_print(&second, &again);
        FUZZ_CHECK(gr_str_eq(gr_buf_view(&out), gr_buf_view(&second)));
    }
    gr_buf_free(&second);
    gr_buf_free(&out);
    fuzz_close(&f);
    return 0;
}
