/* NPY: round trips, orders, versions, damaged files, NumPy itself where present. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "array/array.h"
#include "base/file.h"
#include "base/rng.h"

static gr_arena arena;
static gr_diags diags;

static int setup(void **state) {
    (void)state;
    arena = (gr_arena){.limit = 64 << 20};
    gr_diags_init(&diags);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gr_arena_free(&arena);
    gr_diags_free(&diags);
    return 0;
}

/* A file of the given version, dictionary and element bytes. */
static gr_str file(int version, const char *dict, const void *body, size_t n) {
    size_t length = strlen(dict), prefix = version == 1 ? 10 : 12;
    char *p = gr_arena_alloc(&arena, prefix + length + n, 1);
    memcpy(p, "\x93NUMPY", 6);
    p[6] = (char)version;
    for (size_t i = 0; i < prefix - 8; i++) p[8 + i] = (char)(length >> 8 * i);
    memcpy(p + prefix, dict, length);
    if (n) memcpy(p + prefix + length, body, n);
    return (gr_str){p, prefix + length + n};
}

static bool read(gr_str bytes, gr_array *x) {
    gr_diags_clear(&diags);
    return gr_npy_read(&arena, &diags, GR_STR("x.npy"), bytes, x);
}

static void every_dtype_and_rank_round_trips(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(3);
    for (int t = 1; t < GR_DTYPE_COUNT; t++)
        for (uint32_t rank = 0; rank <= GR_RANK_MAX; rank++) {
            uint64_t dims[GR_RANK_MAX];
            for (uint32_t k = 0; k < rank; k++) dims[k] = gr_rng_below(&r, 4);
            gr_array x, y;
            gr_buf b = {0};
            assert_true(gr_array_new(&arena, &diags, (gr_dtype)t, dims, rank, &x));
            for (size_t i = 0; i < x.bytes; i++) ((uint8_t *)x.data)[i] = (uint8_t)gr_rng_below(&r, t == GR_DTYPE_BOOL ? 2 : 256);
            assert_true(gr_npy_write(&b, &x));
            assert_int_equal((b.n - x.bytes) % 64, 0);
            assert_true(read(gr_buf_view(&b), &y));
            assert_true(gr_array_same_bits(&x, &y));
            gr_buf_free(&b);
        }
}

static void orders_and_versions(void **state) {
    (void)state;
    gr_array x;
    const uint8_t big[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 255, 255};
    assert_true(read(file(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", big, 12), &x));
    assert_true(gr_diags_has(&diags, GR_D_ARRAY_WIDENED) && gr_diags_ok(&diags));
    assert_int_equal(x.dtype, GR_DTYPE_I32);
    const int32_t want[] = {1, 3, 5, 2, 4, -1};
    assert_memory_equal(x.data, want, sizeof want);
    const uint8_t f[] = {0x3F, 0x80, 0, 0};
    assert_true(read(file(2, "{\"shape\":(),\"descr\":\">f4\",\"fortran_order\":False}", f, 4), &x));
    assert_true(x.rank == 0 && gr_array_get_f64(&x, 0) == 1);
    assert_true(read(file(3, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}\n", "\0\1\7", 3), &x));
    assert_memory_equal(x.data, "\0\1\1", 3);
    assert_true(read(file(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (1L,)}", "\xFF\xFF", 2), &x));
    assert_int_equal(gr_array_get_i64(&x, 0), 65535);
    assert_true(read(file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 18446744073709551615)}", "", 0), &x));
    assert_int_equal(gr_array_count(&x), 0);
    uint8_t cube[24];
    for (int i = 0; i < 24; i++) cube[i] = (uint8_t)i;
    assert_true(read(file(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}", cube, 24), &x));
    for (uint64_t i = 0; i < 2; i++)
        for (uint64_t j = 0; j < 3; j++)
            for (uint64_t k = 0; k < 4; k++) assert_int_equal(gr_array_get_i64(&x, (i * 3 + j) * 4 + k), i + 2 * j + 6 * k);
}

typedef struct bad_file {
    const char *dict;
    size_t body;
    gr_diag_name name;
} bad_file;

static void damaged_files_are_refused(void **state) {
    (void)state;
    static const bad_file list[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, GR_D_ARRAY_NPY_DTYPE},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, GR_D_ARRAY_NPY_DTYPE},
        {"{'descr': '<U12', 'fortran_order': False, 'shape': (1,)}", 48, GR_D_ARRAY_NPY_DTYPE},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, GR_D_ARRAY_NPY_DTYPE},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}", 4, GR_D_ARRAY_NPY_DTYPE},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", 4, GR_D_ARRAY_NPY_DTYPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 4, GR_D_ARRAY_NPY_SIZE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 5, GR_D_ARRAY_NPY_SIZE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", 0, GR_D_ARRAY_TOO_LARGE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905,)}", 4, GR_D_ARRAY_TOO_LARGE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", 4, GR_D_ARRAY_NPY_SIZE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4, GR_D_ARRAY_TOO_LARGE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4', 'fortran_order': False}", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", 4, GR_D_ARRAY_NPY_HEADER},
        {"{'descr': '<f4", 4, GR_D_ARRAY_NPY_HEADER},
        {"", 4, GR_D_ARRAY_NPY_HEADER},
    };
    static const char zeros[64];
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        gr_array x;
        if (read(file(1, list[i].dict, zeros, list[i].body), &x)) fail_msg("accepted: %s", list[i].dict);
        if (!gr_diags_has(&diags, list[i].name)) fail_msg("%s: got %s", list[i].dict, gr_diag_text(diags.list.v[0].name));
        assert_true(gr_str_eqz(diags.list.v[0].place.document, "x.npy"));
    }
    assert_true(arena.total < 1 << 20); /* nothing was allocated for the shapes above */
}

static void every_truncation_and_flip_is_survived(void **state) {
    (void)state;
    gr_str good = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "abcdefgh", 8);
    gr_array x;
    for (size_t n = 0; n < good.n; n++) assert_false(read((gr_str){good.p, n}, &x));
    char *p = gr_arena_alloc(&arena, good.n, 1);
    for (size_t i = 0; i < good.n * 8; i++) {
        memcpy(p, good.p, good.n);
        p[i / 8] = (char)(p[i / 8] ^ 1 << i % 8);
        bool ok = read((gr_str){p, good.n}, &x);
        assert_true(ok == gr_diags_ok(&diags));
    }
    assert_false(read(file(4, "{}", "", 0), &x));
}

static void numpy_agrees(void **state) {
    (void)state;
    const char *python = "/usr/bin/python3";
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) skip();
    char dir[] = "/tmp/gr-npy-XXXXXX", command[400];
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof command,
             "%s -c \"import numpy as n; a=n.arange(24,dtype='>f8').reshape(2,3,4)/7; n.save('%s/a',n.asfortranarray(a)); "
             "n.save('%s/b',a.astype('<f2'))\"",
             python, dir, dir);
    assert_int_equal(system(command), 0);
    gr_array a, b;
    gr_str path_a = gr_str_of(gr_arena_printf(&arena, "%s/a.npy", dir)), path_b = gr_str_of(gr_arena_printf(&arena, "%s/b.npy", dir));
    assert_true(gr_array_load(&arena, &diags, path_a, 0, &a));
    assert_true(gr_array_load(&arena, &diags, path_b, 0, &b));
    for (uint64_t i = 0; i < 24; i++) assert_true(gr_array_get_f64(&a, i) == (double)i / 7);
    gr_array c;
    assert_true(gr_array_convert(&arena, &diags, &a, GR_DTYPE_F16, &c, NULL));
    assert_true(gr_array_same_bits(&b, &c));
    assert_true(gr_array_save(&diags, path_a, &b));
    snprintf(command, sizeof command,
             "%s -c \"import numpy as n; a=n.load('%s/a.npy'); b=n.load('%s/b.npy'); "
             "assert a.dtype==b.dtype and a.shape==b.shape and (a==b).all()\"; e=$?; rm -r %s; exit $e",
             python, dir, dir, dir);
    assert_int_equal(system(command), 0);
}

static void the_shared_series_loads(void **state) {
    (void)state;
    const char *root = getenv("GRADUS_ROOT");
    gr_str path = gr_str_of(gr_arena_printf(&arena, "%s/../shared/data/series/ecg208.npy", root ? root : "."));
    if (!gr_file_exists(path)) {
        print_message("no %s\n", path.p);
        skip();
    }
    gr_array x;
    assert_true(gr_array_load(&arena, &diags, path, 0, &x));
    assert_true(x.dtype == GR_DTYPE_F32 && x.rank == 1 && x.dims[0] == 108000);
}

/* Whatever allocation fails, the reader says so and nothing leaks or crashes. */
static void failing_memory_is_reported(void **state) {
    (void)state;
    uint8_t cube[48] = {1};
    gr_str good = file(1, "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3, 4)}", cube, 48);
    bool ok = false;
    for (uint64_t n = 1; !ok && n < 50; n++) {
        gr_arena a = {0};
        gr_array x;
        gr_buf b = {0};
        gr_diags_clear(&diags);
        gr_heap_fail_nth(n);
        ok = gr_npy_read(&a, &diags, GR_STR("x.npy"), good, &x);
        if (!ok) assert_true(diags.out_of_memory);
        ok = ok && gr_npy_write(&b, &x);
        gr_heap_fail_nth(0);
        if (ok) assert_int_equal(gr_array_get_i64(&x, 0), 256);
        gr_buf_free(&b);
        gr_arena_free(&a);
    }
    assert_true(ok);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void) {
    const struct CMUnitTest tests[] = {
        T(every_dtype_and_rank_round_trips), T(orders_and_versions), T(damaged_files_are_refused),
        T(every_truncation_and_flip_is_survived), T(failing_memory_is_reported), T(numpy_agrees),
        T(the_shared_series_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
