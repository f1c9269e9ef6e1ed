/* JSON: whatever parses prints, pretty and canonical, to text that parses and prints as the same text. (Equal trees
 * would be too much: RFC 8785 writes the float 77649263173028272 as 77649263173028270, an integer to the reader.) */
#include "fuzz.h"
#include "base/value.h"

static void round_trip(fuzz *f, const gr_doc *doc, bool (*print)(gr_buf *, const gr_value *)) {
    gr_buf out = {0}, second = {0};
    gr_doc again;
    FUZZ_CHECK(print(&out, doc->root));
    FUZZ_CHECK(gr_json_parse(&f->a, &f->d, GR_STR("<again>"), gr_buf_view(&out), &again));
    FUZZ_CHECK(print(&second, again.root) && gr_str_eq(gr_buf_view(&out), gr_buf_view(&second)));
    gr_buf_free(&second);
    gr_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_doc doc;
    bool ok = gr_json_parse(&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, &doc);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok) {
        round_trip(&f, &doc, gr_json_pretty);
        round_trip(&f, &doc, gr_json_canonical);
    }
    fuzz_close(&f);
    return 0;
}
