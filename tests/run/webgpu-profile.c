/* The measured profile: the same twice, and within what WGSL grants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ladder/run/webgpu/profile.h"

#include <stdio.h>

static const gr_profile_error *error_of(const gr_gpu_profile *p, const char *builtin) {
    for (uint32_t i = 0; i < p->errors_n; i++)
        if (strcmp(p->errors[i].builtin, builtin) == 0) return &p->errors[i];
    fail_msg("no %s in the profile", builtin);
    return NULL;
}

static void print(const gr_gpu_profile *p) {
    gr_buf b = {0};
    gr_gpu_profile_print(&b, p);
    fputs(b.p, stdout);
    gr_buf_free(&b);
}

static void profile_is_stable_and_within_the_grant(void **state) {
    (void)state;
    gr_diags d;
    gr_diags_init(&d);
    gr_gpu *g = gr_gpu_open(NULL, &d);
    if (!g) {
        assert_true(gr_diags_has(&d, GR_D_RUN_NO_WEBGPU_LIBRARY) || gr_diags_has(&d, GR_D_RUN_NO_ADAPTER));
        gr_diags_free(&d);
        print_message("SKIPPED: there is no adapter\n");
        skip();
    }
    gr_arena a = {0};
    gr_gpu_profile p[2];
    gr_buf text[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        assert_true(gr_gpu_profile_measure(&a, &d, g, &p[i]));
        gr_value *v = gr_gpu_profile_value(&a, &p[i]);
        assert_non_null(v);
        assert_true(gr_json_canonical(&text[i], v));
    }
    print(&p[0]);
    assert_true(gr_str_eq(gr_buf_view(&text[0]), gr_buf_view(&text[1])));
    /* WGSL's accuracy table; sums and products may be either neighbour. */
    static const struct { const char *builtin; double ulps, absolute; } grant[] = {
        {"+", 1, 0}, {"-", 1, 0}, {"*", 1, 0}, {"/", 2.5, 0}, {"inverseSqrt", 2, 0}, {"floor", 0, 0}, {"ceil", 0, 0},
        {"trunc", 0, 0}, {"round", 0, 0}, {"abs", 0, 0}, {"sign", 0, 0}, {"min", 0, 0}, {"max", 0, 0}, {"atan", 4096, 0},
    };
    for (size_t i = 0; i < sizeof grant / sizeof *grant; i++) assert_true(error_of(&p[0], grant[i].builtin)->worst_ulps <= grant[i].ulps);
    assert_true(error_of(&p[0], "sin")->absolute <= 0x1p-11);
    assert_true(error_of(&p[0], "cos")->absolute <= 0x1p-11);
    assert_true(p[0].accuracy_n > 20 && p[0].facts_n > 25);
    for (int i = 0; i < 2; i++) gr_buf_free(&text[i]);
    gr_arena_free(&a);
    gr_gpu_close(g, &d);
    assert_int_equal(d.warnings + d.errors, 0);
    gr_diags_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(profile_is_stable_and_within_the_grant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
