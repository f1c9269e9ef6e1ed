/* Receipts: what is taken is canonical and has its own digest, so that writing it gives the same bytes; anything else is reported. */
#include "fuzz.h"
#include "regime/receipt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_receipt r;
    gr_str text = gr_str_dup(&f.a, (gr_str){(const char *)data, size});
    bool ok = text.p && gr_receipt_parse(&f.a, &f.d, GR_STR("<fuzz>"), text, &r);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok) {
        gr_buf b = {0}, shown = {0};
        FUZZ_CHECK(gr_receipt_write(&b, r.doc.root) && gr_str_eq(gr_buf_view(&b), text));
        gr_receipt_print(&shown, &r);
        FUZZ_CHECK(shown.n > 0 && !shown.failed);
        gr_buf_free(&b);
        gr_buf_free(&shown);
    }
    fuzz_close(&f);
    return 0;
}
