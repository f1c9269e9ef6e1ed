/* JSON: whatever parses prints, pretty and canonical, to text that parses and prints as the same text. (Equal trees
 * would be too much: RFC 8785 writes the float 77649263173028272 as 77649263173028270, an integer to the reader.) */
#include "base/value.h"

#include <stdlib.h>

static bool parse(gr_arena *a, gr_str text, gr_doc *doc) {
    gr_diags d;
    gr_diags_init(&d);
    bool ok = gr_json_parse(a, &d, GR_STR("<fuzz>"), text, doc);
    if (ok != gr_diags_ok(&d)) abort(); /* a failure is reported, a success is silent */
    gr_diags_free(&d);
    return ok;
}

static void round_trip(gr_arena *a, const gr_doc *doc, bool (*print)(gr_buf *, const gr_value *)) {
    gr_buf out = {0};
    gr_buf second = {0};
    gr_doc again;
    if (!print(&out, doc->root) || !parse(a, gr_buf_view(&out), &again) || !print(&second, again.root)) abort();
    if (!gr_str_eq(gr_buf_view(&out), gr_buf_view(&second))) abort();
    gr_buf_free(&second);
    gr_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {0};
    gr_doc doc;
    if (parse(&a, (gr_str){(const char *)data, size}, &doc)) {
        round_trip(&a, &doc, gr_json_pretty);
        round_trip(&a, &doc, gr_json_canonical);
    }
    gr_arena_free(&a);
    return 0;
}
