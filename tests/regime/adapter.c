/* A sample of the catalog conforms on the machine's adapter, through the public interface. Skipped, and said so, without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gradus.h"

#include <stdio.h>
#include <string.h>

static void a_sample_conforms(void **state) {
    (void)state;
    static const char *const sample[] = {"add@1", "gather@1", "conv2d@1", "softmax@1", "where@1"};
    gr_session_desc desc = {.device = GR_DEVICE_GPU};
    gr_session *s = gr_session_new(&desc);
    assert_non_null(s);
    if (gr_session_exit_code(s) == 3) {
        fprintf(stderr, "skipped: no adapter\n");
        gr_session_free(s);
        skip();
    }
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        char *receipt, *text = gr_conform(s, sample[i], false, 12, &receipt);
        if (!receipt) fprintf(stderr, "%s\n%s\n", text ? text : "", gr_session_report(s, false));
        assert_non_null(text);
        assert_non_null(receipt);
        assert_non_null(strstr(receipt, "\"profile\""));
        gr_text_free(text);
        gr_text_free(receipt);
    }
    gr_session_free(s);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(a_sample_conforms)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
