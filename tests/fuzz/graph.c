/* The text of a graph: a failure is reported, and what is read holds its invariants and is printed as text that reads and
 * prints the same. */
#include "fuzz/catalog.h"
#include "ladder/graph/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {.limit = 256 << 20};
    gr_diags d;
    gr_buf out = {0}, second = {0};
    gr_graph x, again;
    gr_diags_init(&d);
    bool ok = gr_graph_parse(&a, &d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, fuzz_catalog(), &x);
    if (ok != gr_diags_ok(&d)) abort();
    if (ok) {
        if (!gr_graph_verify(&d, &x)) abort();
        gr_graph_print(&out, &x);
        if (!gr_graph_parse(&a, &d, GR_STR("<again>"), gr_buf_view(&out), fuzz_catalog(), &again)) abort();
        gr_graph_print(&second, &again);
        if (!gr_str_eq(gr_buf_view(&out), gr_buf_view(&second))) abort();
    }
    gr_buf_free(&second);
    gr_buf_free(&out);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}
