/* TOML: nothing crashes, a failure is reported, and the place of every value is inside the document. */
#include "base/value.h"

#include <stdlib.h>

static void walk(const gr_doc *doc, const gr_value *v) {
    if (v->offset > doc->text.n) abort();
    if (v->kind == GR_V_ARRAY)
        for (uint32_t i = 0; i < v->array.n; i++) walk(doc, v->array.v[i]);
    if (v->kind == GR_V_OBJECT)
        for (uint32_t i = 0; i < v->object.n; i++) walk(doc, v->object.v[i].value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {0};
    gr_diags d;
    gr_doc doc;
    gr_diags_init(&d);
    bool ok = gr_toml_parse(&a, &d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, &doc);
    if (ok != gr_diags_ok(&d)) abort();
    if (ok) walk(&doc, doc.root);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}
