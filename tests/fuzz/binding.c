/* The grammar of a buffer binding: a failure is reported, and what is read is printed as text that reads and prints the same. */
#include "contract/contract.h"

#include <stdlib.h>

static bool parse(gr_arena *a, gr_str text, gr_binding *out) {
    gr_diags d;
    gr_diags_init(&d);
    bool ok = gr_binding_parse(a, &d, GR_STR("<fuzz>"), text, out);
    if (ok != gr_diags_ok(&d)) abort();
    gr_diags_free(&d);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {.limit = 64 << 20};
    gr_buf out = {0}, second = {0};
    gr_binding x, again;
    if (parse(&a, (gr_str){(const char *)data, size}, &x)) {
        gr_binding_print(&out, &x);
        if (!parse(&a, gr_buf_view(&out), &again)) abort();
        gr_binding_print(&second, &again);
        if (!gr_str_eq(gr_buf_view(&out), gr_buf_view(&second))) abort();
    }
    gr_buf_free(&second);
    gr_buf_free(&out);
    gr_arena_free(&a);
    return 0;
}
