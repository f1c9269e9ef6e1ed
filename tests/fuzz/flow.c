/* The text of a flow: a failure is reported, and what is read holds its invariants and is printed as text that reads and
 * prints the same. */
#include "fuzz/catalog.h"
#include "ladder/flow/flow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {.limit = 256 << 20};
    gr_diags d;
    gr_buf out = {0}, second = {0};
    gr_flow x, again;
    gr_diags_init(&d);
    bool ok = gr_flow_parse(&a, &d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, fuzz_catalog(), &x);
    if (ok != gr_diags_ok(&d)) abort();
    if (ok) {
        if (!gr_flow_verify(&d, &x)) abort();
        gr_flow_print(&out, &x);
        if (!gr_flow_parse(&a, &d, GR_STR("<again>"), gr_buf_view(&out), fuzz_catalog(), &again)) abort();
        gr_flow_print(&second, &again);
        if (!gr_str_eq(gr_buf_view(&out), gr_buf_view(&second))) abort();
    }
    gr_buf_free(&second);
    gr_buf_free(&out);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}
