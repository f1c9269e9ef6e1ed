/* ONNX models: reading follows the file in memory, every failure is reported, and what is imported makes a document that parses. The rules
 * are the catalog's; nothing is computed. */
#include "fuzz/catalog.h"
#include "fuzz/fuzz.h"
#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    const gr_catalog *c = fuzz_catalog();
    gr_onnx_model m;
    gr_imported x = {0};
    static const gr_import_size sizes[] = {{{"N", 1}, 1}};
    gr_import_options o = {.weights = GR_STR("w.npz"), .sizes = sizes, .sizes_n = 1};
    f.a.limit = 400 * size + ((size_t)4 << 20);
    bool ok = gr_onnx_read(&f.a, &f.d, GR_STR("/nonexistent/fuzz.onnx"), (gr_str){(const char *)data, size}, &m);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok) {
        f.a.limit = (size_t)256 << 20; /* calls and texts, by the number of nodes */
        ok = gr_import_onnx(&f.a, &f.d, c, &m, &o, &x);
        if (!ok && gr_diags_ok(&f.d)) abort();
    }
    FUZZ_CHECK(!gr_diags_has(&f.d, GR_D_BASE_INVARIANT));
    if (ok) {
        gr_doc doc;
        FUZZ_CHECK(gr_json_parse(&f.a, &f.d, GR_STR("<document>"), x.document, &doc));
    }
    fuzz_close(&f);
    return 0;
}
