/* WGSL: a failure is reported, what parses prints as text that parses and prints the same, what checks still
 * checks after printing. */
#include "wgsl/wgsl.h"

#include <stdlib.h>

enum { ARENA_LIMIT = 256 << 20 };

static gr_wgsl_module *parse(gr_arena *a, gr_diags *d, gr_str text) {
    gr_wgsl_module *m = gr_wgsl_parse(a, d, GR_STR("<fuzz>"), text);
    if ((m != NULL) != gr_diags_ok(d)) abort();
    return m;
}

static void round_trip(gr_arena *a, gr_diags *d, gr_str text, bool checks) {
    gr_buf out = {0}, again = {0};
    gr_wgsl_module *m = parse(a, d, text);
    if (checks && !m) abort();
    if (m) {
        gr_wgsl_print(&out, m);
        m = parse(a, d, gr_buf_view(&out));
        if (!m) abort();
        gr_wgsl_print(&again, m);
        if (!gr_str_eq(gr_buf_view(&out), gr_buf_view(&again))) abort();
        if (checks && !gr_wgsl_load(a, d, GR_STR("<again>"), gr_buf_view(&out), NULL)) abort();
    }
    gr_buf_free(&again);
    gr_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_arena a = {.limit = ARENA_LIMIT};
    gr_diags d;
    gr_str text = {(const char *)data, size};
    gr_diags_init(&d);
    bool checks = gr_wgsl_load(&a, &d, GR_STR("<fuzz>"), text, NULL) != NULL;
    if (checks != gr_diags_ok(&d)) abort();
    gr_diags_clear(&d);
    round_trip(&a, &d, text, checks);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}
