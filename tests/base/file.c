/* Files and folders: round trips, limits, what happens on failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

typedef struct fixture {
    gr_arena a;
    gr_diags d;
    gr_str dir;
} fixture;

static int setup(void **state) {
    static fixture f;
    static char name[] = "/tmp/gr-file-XXXXXX";
    memcpy(name + sizeof name - 7, "XXXXXX", 6);
    f = (fixture){0};
    gr_diags_init(&f.d);
    if (!mkdtemp(name)) return 1;
    f.dir = gr_str_of(name);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gr_str *names;
    uint32_t n;
    if (gr_dir_list(&f->a, &f->d, f->dir, &names, &n))
        for (uint32_t i = 0; i < n; i++) remove(gr_path_join(&f->a, f->dir, names[i]).p);
    rmdir(f->dir.p);
    gr_arena_free(&f->a);
    gr_diags_free(&f->d);
    return 0;
}

static gr_str in(fixture *f, const char *name) { return gr_path_join(&f->a, f->dir, gr_str_of(name)); }

static void write_read_overwrite(void **state) {
    fixture *f = *state;
    gr_str p = in(f, "x"), got;
    assert_false(gr_file_exists(p));
    assert_true(gr_file_write(&f->d, p, "abc\0d", 5));
    assert_true(gr_file_exists(p));
    assert_true(gr_file_read(&f->a, &f->d, p, 0, &got));
    assert_int_equal(got.n, 5);
    assert_memory_equal(got.p, "abc\0d", 6);
    assert_true(gr_file_write(&f->d, p, "", 0));
    assert_true(gr_file_read(&f->a, &f->d, p, 0, &got));
    assert_int_equal(got.n, 0);
    gr_str *names;
    uint32_t n;
    assert_true(gr_dir_list(&f->a, &f->d, f->dir, &names, &n));
    assert_int_equal(n, 1); /* no temporary is left */
    assert_true(gr_diags_ok(&f->d));
}

static void limits_and_reasons(void **state) {
    fixture *f = *state;
    gr_str p = in(f, "x"), got;
    assert_true(gr_file_write(&f->d, p, "0123456789", 10));
    assert_true(gr_file_read(&f->a, &f->d, p, 10, &got));
    assert_false(gr_file_read(&f->a, &f->d, p, 9, &got));
    assert_true(gr_diags_has(&f->d, GR_D_BASE_FILE_TOO_LARGE));
    assert_false(gr_file_read(&f->a, &f->d, GR_STR("/dev/zero"), 1 << 20, &got));
    gr_diags_clear(&f->d);
    assert_false(gr_file_read(&f->a, &f->d, in(f, "absent"), 0, &got));
    assert_non_null(strstr(f->d.list.v[0].message.p, "absent"));
    assert_int_equal(gr_diags_exit_code(&f->d), 2);
    gr_diags_clear(&f->d);
    assert_false(gr_file_read(&f->a, &f->d, f->dir, 0, &got));
    assert_true(gr_diags_has(&f->d, GR_D_BASE_FILE_UNREADABLE));
    assert_false(gr_file_read(&f->a, &f->d, (gr_str){"a\0b", 3}, 0, &got));
    gr_diags_clear(&f->d);
    assert_false(gr_file_write(&f->d, in(f, "no/such/folder"), "x", 1));
    assert_true(gr_diags_has(&f->d, GR_D_BASE_FILE_UNWRITABLE));
    assert_int_equal(gr_diags_exit_code(&f->d), 3);
}

static void failed_write_leaves_nothing_behind(void **state) {
    fixture *f = *state;
    /* the target is a folder: the rename fails, the temporary goes */
    assert_true(gr_dir_make(&f->d, in(f, "sub")));
    assert_false(gr_file_write(&f->d, in(f, "sub"), "y", 1));
    gr_str *names;
    uint32_t n;
    assert_true(gr_dir_list(&f->a, &f->d, f->dir, &names, &n));
    assert_int_equal(n, 1);
}

static void folders(void **state) {
    fixture *f = *state;
    gr_str *names;
    uint32_t n;
    assert_true(gr_file_write(&f->d, in(f, "b"), "", 0));
    assert_true(gr_file_write(&f->d, in(f, "a"), "", 0));
    assert_true(gr_file_write(&f->d, in(f, "B"), "", 0));
    assert_true(gr_dir_list(&f->a, &f->d, f->dir, &names, &n));
    assert_int_equal(n, 3);
    assert_true(gr_str_eqz(names[0], "B") && gr_str_eqz(names[1], "a") && gr_str_eqz(names[2], "b"));
    assert_true(gr_dir_make(&f->d, in(f, "p//q/")));
    assert_true(gr_dir_make(&f->d, in(f, "p/q")));
    assert_true(gr_file_exists(in(f, "p/q")));
    assert_false(gr_dir_make(&f->d, in(f, "a/q")));
    assert_true(gr_diags_has(&f->d, GR_D_BASE_FILE_UNWRITABLE));
    assert_false(gr_dir_list(&f->a, &f->d, in(f, "absent"), &names, &n));
    assert_int_equal(remove(in(f, "p/q").p), 0);
}

static void paths(void **state) {
    fixture *f = *state;
    assert_string_equal(gr_path_join(&f->a, GR_STR("a"), GR_STR("b")).p, "a/b");
    assert_string_equal(gr_path_join(&f->a, GR_STR("a/"), GR_STR("b")).p, "a/b");
    assert_string_equal(gr_path_join(&f->a, GR_STR("a"), GR_STR("/b")).p, "/b");
    assert_string_equal(gr_path_join(&f->a, GR_STR(""), GR_STR("b")).p, "b");
    assert_true(gr_str_eqz(gr_path_dir(GR_STR("a/b/c")), "a/b"));
    assert_true(gr_str_eqz(gr_path_dir(GR_STR("c")), "."));
    assert_true(gr_str_eqz(gr_path_dir(GR_STR("/c")), "/"));
}

static void every_allocation_may_fail(void **state) {
    fixture *f = *state;
    gr_str p = in(f, "x");
    assert_true(gr_file_write(&f->d, p, "abc", 3));
    bool ok = false;
    for (uint64_t n = 1; !ok && n < 100; n++) {
        gr_arena a = {0};
        gr_diags d;
        gr_str got, *names;
        uint32_t count;
        gr_diags_init(&d);
        gr_heap_fail_nth(n);
        ok = gr_file_read(&a, &d, p, 0, &got) && gr_file_write(&d, p, "abc", 3) && gr_dir_make(&d, f->dir) &&
             gr_dir_list(&a, &d, f->dir, &names, &count);
        gr_heap_fail_nth(0);
        assert_true(ok || !gr_diags_ok(&d));
        gr_arena_free(&a);
        gr_diags_free(&d);
    }
    assert_true(ok);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void) {
    const struct CMUnitTest tests[] = {
        T(write_read_overwrite), T(limits_and_reasons), T(failed_write_leaves_nothing_behind), T(folders), T(paths),
        T(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
