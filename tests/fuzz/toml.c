/* TOML: nothing crashes, a failure is reported, and every value's place is inside the document. */
#include "fuzz.h"
#include "base/value.h"

static void walk(const gr_doc *doc, const gr_value *v) {
    FUZZ_CHECK(v->offset <= doc->text.n);
    if (v->kind == GR_V_ARRAY)
        for (uint32_t i = 0; i < v->array.n; i++) walk(doc, v->array.v[i]);
    if (v->kind == GR_V_OBJECT)
        for (uint32_t i = 0; i < v->object.n; i++) walk(doc, v->object.v[i].value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_doc doc;
    bool ok = gr_toml_parse(&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, &doc);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok) walk(&doc, doc.root);
    fuzz_close(&f);
    return 0;
}
