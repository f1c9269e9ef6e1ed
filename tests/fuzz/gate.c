/* Files of a series: nothing crashes, a failure is reported, and what is printed reads back as it was. */
#include "fuzz.h"
#include "gate/record.h"

static void again_series(fuzz *f, const gate_series *s) {
    gate_series back;
    gr_buf first = {0}, second = {0};
    gate_series_print(&first, s);
    FUZZ_CHECK(gate_series_parse(&f->a, &f->d, GR_STR("<printed>"), gr_buf_view(&first), &back));
    gate_series_print(&second, &back);
    FUZZ_CHECK(gr_str_eq(gr_buf_view(&first), gr_buf_view(&second)));
    gr_buf_free(&first), gr_buf_free(&second);
}

static void again_run(fuzz *f, const gate_run *r) {
    gate_run back;
    gr_buf first = {0}, second = {0};
    gate_run_print(&first, r);
    FUZZ_CHECK(gate_run_parse(&f->a, &f->d, GR_STR("<printed>"), gr_buf_view(&first), &back));
    gate_run_print(&second, &back);
    FUZZ_CHECK(gr_str_eq(gr_buf_view(&first), gr_buf_view(&second)));
    gr_buf_free(&first), gr_buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int which = 0; which < 3; which++) {
        fuzz f = fuzz_open();
        gr_str name = GR_STR("<fuzz>"), text = {(const char *)data, size};
        gate_series s;
        gate_run r;
        gate_result result;
        bool ok = which == 0 ? gate_series_parse(&f.a, &f.d, name, text, &s) : which == 1 ? gate_run_parse(&f.a, &f.d, name, text, &r)
                                                                            : gate_result_parse(&f.a, &f.d, name, text, &result);
        FUZZ_CHECK(ok == gr_diags_ok(&f.d));
        if (ok && which == 0) again_series(&f, &s);
        if (ok && which == 1) again_run(&f, &r);
        fuzz_close(&f);
    }
    return 0;
}
