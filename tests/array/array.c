/* Element types, counts, conversions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "array/array.h"
#include "base/math.h"

static void dtypes_have_names_and_sizes(void **state) {
    (void)state;
    for (int t = 1; t < GR_DTYPE_COUNT; t++) {
        assert_int_equal(gr_dtype_find(gr_str_of(gr_dtype_name((gr_dtype)t))), t);
        assert_in_range(gr_dtype_size((gr_dtype)t), 1, 8);
    }
    assert_int_equal(gr_dtype_find(GR_STR("none")), GR_DTYPE_NONE);
    assert_int_equal(gr_dtype_find(GR_STR("f3")), GR_DTYPE_NONE);
    assert_string_equal(gr_dtype_name((gr_dtype)77), "none");
    assert_int_equal(gr_dtype_size(GR_DTYPE_NONE), 0);
    assert_true(gr_dtype_is_float(GR_DTYPE_F16) && !gr_dtype_is_float(GR_DTYPE_I8));
    assert_true(gr_dtype_is_signed(GR_DTYPE_I8) && !gr_dtype_is_signed(GR_DTYPE_U64));
}

static void counts_do_not_overflow(void **state) {
    (void)state;
    uint64_t n;
    size_t bytes;
    assert_true(gr_dims_count(NULL, 0, &n) && n == 1);
    assert_true(gr_dims_count((uint64_t[]){2, 3, 4}, 3, &n) && n == 24);
    assert_false(gr_dims_count((uint64_t[]){1ull << 32, 1ull << 32}, 2, &n));
    assert_true(gr_dims_count((uint64_t[]){1ull << 32, 1ull << 32, 0}, 3, &n) && n == 0);
    assert_false(gr_dims_bytes(GR_DTYPE_F64, (uint64_t[]){1ull << 61}, 1, &bytes));
    assert_false(gr_dims_bytes(GR_DTYPE_NONE, (uint64_t[]){1}, 1, &bytes));
    gr_arena a = {0};
    gr_diags d;
    gr_array x;
    gr_diags_init(&d);
    assert_false(gr_array_new(&a, &d, GR_DTYPE_U8, (uint64_t[9]){1}, 9, &x));
    assert_true(gr_diags_has(&d, GR_D_ARRAY_TOO_LARGE));
    a.limit = 1 << 20;
    assert_false(gr_array_new(&a, &d, GR_DTYPE_U8, (uint64_t[]){1 << 21}, 1, &x));
    assert_true(d.out_of_memory);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

typedef struct conversion {
    double from;
    gr_dtype to;
    double want;
} conversion;

static void values_convert(void **state) {
    (void)state;
    static const conversion list[] = {
        {1.9, GR_DTYPE_I32, 1},          {-1.9, GR_DTYPE_I32, -1},       {3e9, GR_DTYPE_I32, INT32_MAX},
        {-3e9, GR_DTYPE_I32, INT32_MIN}, {-1, GR_DTYPE_U8, 0},           {300, GR_DTYPE_U8, 255},
        {NAN, GR_DTYPE_I8, 0},           {NAN, GR_DTYPE_BOOL, 1},        {-0.0, GR_DTYPE_BOOL, 0},
        {0.1, GR_DTYPE_BOOL, 1},         {65519.99, GR_DTYPE_F16, 65504}, {65520, GR_DTYPE_F16, INFINITY},
        {1e40, GR_DTYPE_F32, INFINITY},  {0x1p64, GR_DTYPE_U64, 0x1p64}, {-1e30, GR_DTYPE_I64, -0x1p63},
        {1e19, GR_DTYPE_U64, 1e19},      {INFINITY, GR_DTYPE_U32, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        uint64_t room[1];
        gr_array y = {.dtype = list[i].to, .data = room, .bytes = gr_dtype_size(list[i].to)};
        gr_array_set_f64(&y, 0, list[i].from);
        assert_true(gr_array_get_f64(&y, 0) == list[i].want);
    }
}

static void integers_wrap_and_changes_are_counted(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags d;
    gr_array x, y;
    uint64_t inexact;
    gr_diags_init(&d);
    assert_true(gr_array_new(&a, &d, GR_DTYPE_I64, (uint64_t[]){2, 2}, 2, &x));
    int64_t values[] = {-1, 300, INT64_MIN, (1ll << 53) + 1};
    for (uint64_t i = 0; i < 4; i++) gr_array_set_i64(&x, i, values[i]);
    assert_true(gr_array_convert(&a, &d, &x, GR_DTYPE_U8, &y, &inexact));
    assert_int_equal(inexact, 4);
    assert_int_equal(gr_array_get_i64(&y, 0), 255);
    assert_int_equal(gr_array_get_i64(&y, 1), 44);
    assert_true(gr_array_convert(&a, &d, &x, GR_DTYPE_U64, &y, &inexact));
    assert_int_equal(inexact, 2);
    assert_true(gr_array_get_f64(&y, 0) == 0x1p64);
    assert_true(gr_array_convert(&a, &d, &x, GR_DTYPE_F64, &y, &inexact));
    assert_int_equal(inexact, 1);
    assert_true(gr_array_convert(&a, &d, &x, GR_DTYPE_F32, &y, &inexact));
    assert_int_equal(inexact, 1);
    /* one rounding: through f64 this would round to even twice and give 2^24 * 2^30 */
    gr_array_set_i64(&x, 0, (((1ll << 24) + 1) << 30) / 2 * 2 + 1);
    assert_true(gr_array_convert(&a, &d, &x, GR_DTYPE_F32, &y, NULL));
    assert_true(((float *)y.data)[0] == (float)((((1ll << 24) + 1) << 30) + 1));
    assert_true(gr_array_same_type(&x, &x) && !gr_array_same_type(&x, &y));
    assert_true(gr_array_same_bits(&y, &y));
    gr_diags_free(&d);
    gr_arena_free(&a);
}

/* Data of a caller, or within a file, lies anywhere; the sanitizers see a load that needs alignment. */
static void data_may_lie_anywhere(void **state) {
    (void)state;
    _Alignas(8) unsigned char bytes[8 * 3 + 1] = {0};
    for (int t = 1; t < GR_DTYPE_COUNT; t++) {
        gr_array x = {.dtype = (gr_dtype)t, .rank = 1, .dims = {3}, .data = bytes + 1};
        for (uint64_t i = 0; i < 3; i++) gr_array_set_i64(&x, i, 1);
        for (uint64_t i = 0; i < 3; i++) assert_true(gr_array_get_i64(&x, i) == 1 && gr_array_get_f64(&x, i) == 1);
    }
}

static void arrays_print(void **state) {
    (void)state;
    float f[] = {1, 0.1f, -0.0f, INFINITY, 5, 6};
    gr_array x = {.dtype = GR_DTYPE_F32, .rank = 2, .dims = {2, 3}, .data = f, .bytes = sizeof f};
    gr_buf b = {0};
    gr_array_print(&b, &x, 0);
    assert_string_equal(b.p, "f32[2, 3]\n1 0.1 -0\ninf 5 6\n");
    gr_buf_clear(&b);
    gr_array_print(&b, &x, 4);
    assert_string_equal(b.p, "f32[2, 3]\n1 0.1 -0\ninf\n...\n");
    gr_buf_clear(&b);
    x.rank = 0;
    gr_array_print(&b, &x, 0);
    assert_string_equal(b.p, "f32[]\n1\n");
    gr_buf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes_have_names_and_sizes),
        cmocka_unit_test(counts_do_not_overflow),
        cmocka_unit_test(values_convert),
        cmocka_unit_test(integers_wrap_and_changes_are_counted),
        cmocka_unit_test(data_may_lie_anywhere),
        cmocka_unit_test(arrays_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
