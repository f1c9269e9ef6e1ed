/* SPDX expressions: taken or reported, never both; blanks around a taken one change nothing. */
#include "fuzz.h"
#include "regime/publish.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_str text = gr_str_dup(&f.a, (gr_str){(const char *)data, size});
    bool ok = text.p && gr_spdx_check(&f.d, (gr_place){0}, text);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    char *wide = gr_arena_printf(&f.a, "  (%.*s) ", (int)text.n, text.p ? text.p : "");
    if (ok && size < 1900 && !memchr(data, 0, size)) {
        bool nested = gr_spdx_check(&f.d, (gr_place){0}, gr_str_of(wide));
        gr_str deepest = GR_STR("nested too deep");
        FUZZ_CHECK(nested || strstr(f.d.list.v[0].message.p, deepest.p));
    }
    fuzz_close(&f);
    return 0;
}
