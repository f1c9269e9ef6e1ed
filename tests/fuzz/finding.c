/* Findings: nothing crashes, a failure is reported, what is printed reads back as it was, and its text becomes a page. */
#include "fuzz.h"
#include "gate/finding.h"

static void again(fuzz *f, const gate_finding *x) {
    gate_finding back;
    gr_buf first = {0}, second = {0};
    gate_finding_print(&first, x);
    FUZZ_CHECK(gate_finding_parse(&f->a, &f->d, GR_STR("<printed>"), gr_buf_view(&first), &back));
    gate_finding_print(&second, &back);
    FUZZ_CHECK(gr_str_eq(gr_buf_view(&first), gr_buf_view(&second)));
    gr_buf_free(&first), gr_buf_free(&second);
}

/* Markup stays ours: no tag that the writer does not write. */
static void as_page(fuzz *f, gate_finding *x, gr_str text) {
    gate_index index = {.a = &f->a, .d = &f->d, .v = x, .n = 1};
    gr_buf b = {0};
    gate_markdown(&b, &index, x, text);
    FUZZ_CHECK(!b.p || (!strstr(b.p, "<script") && !strstr(b.p, "<img") && !strstr(b.p, "href=\"javascript")));
    gr_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_str text = {(const char *)data, size};
    gate_finding x;
    bool ok = gate_finding_parse(&f.a, &f.d, GR_STR("<fuzz>"), text, &x);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok) {
        again(&f, &x);
        as_page(&f, &x, text);
        for (uint32_t i = 0; i < x.section_n; i++) {
            as_page(&f, &x, x.sections[i].text);
            gate_figures_check(&f.d, &x, x.sections[i].text, (gr_place){0});
        }
    } else {
        x = (gate_finding){.id = GR_STR("none")};
        as_page(&f, &x, text);
    }
    fuzz_close(&f);
    return 0;
}
