/* Configurations: a failure is reported, and what is read is printed and read again as the same values. */
#include "fuzz.h"

#include "splat/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_config c = gr_config_default(), again = gr_config_default();
    gr_buf x = {0}, y = {0};
    bool ok = gr_config_read(&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, &c);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok) {
        gr_config_print(&x, &c, "", false);
        FUZZ_CHECK(gr_config_read(&f.a, &f.d, GR_STR("<again>"), gr_buf_view(&x), &again));
        gr_config_print(&y, &again, "", true);
        gr_buf_clear(&y);
        gr_config_print(&y, &again, "", false);
        FUZZ_CHECK(x.n == y.n && memcmp(x.p, y.p, x.n) == 0);
        gr_config_verify(&f.d, GR_STR("<fuzz>"), &c);
        gr_config_apply(&c);
    }
    gr_buf_free(&x);
    gr_buf_free(&y);
    fuzz_close(&f);
    return 0;
}
