/* Workflow documents: a failure is reported, and what is read is printed as text that reads and prints the same. */
#include "ladder/canvas/canvas.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {0};
    gr_diags d;
    gr_canvas c, again;
    gr_buf out = {0}, second = {0};
    gr_diags_init(&d);
    bool ok = gr_canvas_parse(&a, &d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, &c);
    if (ok != gr_diags_ok(&d)) abort();
    if (ok && gr_canvas_verify(&d, &c)) {
        if (!gr_canvas_print(&out, &c)) abort();
        if (!gr_canvas_parse(&a, &d, GR_STR("<again>"), gr_buf_view(&out), &again)) abort();
        if (!gr_canvas_print(&second, &again) || !gr_str_eq(gr_buf_view(&out), gr_buf_view(&second))) abort();
    }
    gr_buf_free(&second);
    gr_buf_free(&out);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}
