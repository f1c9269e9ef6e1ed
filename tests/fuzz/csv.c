/* CSV: memory follows the file, a failure is reported, and what is read is written as a text that reads as the same
 * text. The size of the input picks the dtype. */
#include "array/array.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {.limit = 64 * size + (1 << 20)};
    gr_diags d;
    gr_csv x, y;
    gr_buf out = {0}, again = {0};
    gr_dtype t = (gr_dtype)(1 + size % (GR_DTYPE_COUNT - 1));
    gr_diags_init(&d);
    bool ok = gr_csv_read(&a, &d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, t, &x);
    if (ok != gr_diags_ok(&d) || d.out_of_memory) abort();
    if (ok) {
        gr_arena b = {0};
        if (!gr_csv_write(&out, &d, &x.values, x.names)) abort();
        if (!gr_csv_read(&b, &d, GR_STR("<again>"), gr_buf_view(&out), t, &y)) abort();
        if (!gr_csv_write(&again, &d, &y.values, y.names)) abort();
        if (!gr_str_eq(gr_buf_view(&out), gr_buf_view(&again))) abort();
        gr_arena_free(&b);
    }
    gr_buf_free(&again);
    gr_buf_free(&out);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}
