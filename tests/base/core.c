/* Arena, text, map and diagnostics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/diag.h"

static void arena_limits_and_faults(void **state) {
    (void)state;
    gr_arena a;
    gr_arena_init(&a, 64 * 1024);
    assert_non_null(gr_arena_alloc(&a, 100, 1));
    assert_null(gr_arena_alloc(&a, 1 << 20, 1));
    assert_true(gr_arena_failed(&a));
    assert_null(gr_arena_alloc(&a, SIZE_MAX / 2, 4));
    gr_arena_free(&a);
    gr_heap_fail_nth(1);
    assert_null(gr_arena_alloc(&a, 1, 1));
    assert_non_null(gr_arena_alloc(&a, 1, 1));
    gr_arena_free(&a);
}

static void map_finds_what_was_put(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_map m = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        char *k = gr_arena_printf(&a, "key%u", i);
        assert_true(gr_map_put(&a, &m, gr_str_of(k), i));
    }
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t v = 0;
        assert_true(gr_map_get(&m, gr_str_of(gr_arena_printf(&a, "key%u", i)), &v));
        assert_int_equal(v, i);
    }
    assert_false(gr_map_get(&m, GR_STR("absent"), NULL));
    gr_arena_free(&a);
}

static void numbers_print_shortest(void **state) {
    (void)state;
    gr_buf b = {0};
    gr_buf_f64(&b, 0.1);
    gr_buf_putc(&b, ' ');
    gr_buf_f32(&b, 0.1f);
    gr_buf_putc(&b, ' ');
    gr_buf_f64(&b, -0.0);
    gr_buf_putc(&b, ' ');
    gr_buf_f64(&b, 1e300);
    assert_string_equal(b.p, "0.1 0.1 -0 1e+300");
    gr_buf_free(&b);
}

static void diagnostics_carry_place_and_hint(void **state) {
    (void)state;
    gr_diags d;
    gr_diags_init(&d);
    gr_str text = GR_STR("{\n  \"a\": 1,\n  \"a\": 2\n}\n");
    assert_false(gr_report(&d, GR_D_BASE_JSON_DUPLICATE_KEY, gr_place_at(GR_STR("x.json"), text, 13),
                           "remove one of them", "key \"%s\" again", "a"));
    gr_buf b = {0};
    gr_diags_print(&b, &d, text);
    assert_non_null(strstr(b.p, "x.json:3:2: error base/json-duplicate-key: key \"a\" again"));
    assert_non_null(strstr(b.p, "hint: remove one of them"));
    assert_int_equal(gr_diags_exit_code(&d), 2);
    gr_report_oom(&d);
    assert_int_equal(gr_diags_exit_code(&d), 3);
    GR_BUG(&d, "B1", "planted");
    assert_int_equal(gr_diags_exit_code(&d), 1);
    gr_buf_free(&b);
    gr_diags_free(&d);
}

static void sink_is_bounded(void **state) {
    (void)state;
    gr_diags d;
    gr_diags_init(&d);
    for (int i = 0; i < GR_DIAGS_MAX + 10; i++) gr_report(&d, GR_D_BASE_JSON_SYNTAX, (gr_place){0}, NULL, "no %d", i);
    assert_int_equal(d.list.n, GR_DIAGS_MAX);
    assert_int_equal(d.dropped, 10);
    gr_diags_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_limits_and_faults),  cmocka_unit_test(map_finds_what_was_put),
        cmocka_unit_test(numbers_print_shortest),   cmocka_unit_test(diagnostics_carry_place_and_hint),
        cmocka_unit_test(sink_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
