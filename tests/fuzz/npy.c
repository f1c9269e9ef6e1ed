/* NPY: memory follows the file, a failure is reported, and what is read is written and read again bit for bit. */
#include "array/array.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {.limit = 12 * size + (1 << 20)};
    gr_diags d;
    gr_array x, y;
    gr_buf out = {0};
    gr_diags_init(&d);
    bool ok = gr_npy_read(&a, &d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, &x);
    if (ok != gr_diags_ok(&d) || d.out_of_memory) abort();
    if (ok) {
        if (!gr_npy_write(&out, &x) || !gr_npy_read(&a, &d, GR_STR("<again>"), gr_buf_view(&out), &y)) abort();
        if (!gr_array_same_bits(&x, &y)) abort();
    }
    gr_buf_free(&out);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}
