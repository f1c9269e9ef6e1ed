/* Kernels generated from map bodies: goldens, the front end's opinion, access patterns, uniform bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "lower.h"

#define HEAD "graph t {\n  tier debug\n"

static uint32_t word(const gr_kernel *k, uint32_t i) {
    uint32_t w;
    const gr_kernel_bind *b = &k->binds[k->binds_n - 1];
    assert_int_equal(b->kind, GR_KB_UNIFORM);
    assert_true(4u * i + 4 <= b->bytes);
    memcpy(&w, b->data + 4u * i, 4);
    return w;
}

static void golden(const char *path, const char *text, const gr_target *t) {
    low l;
    low_begin(&l);
    low_kernels(&l, text, t);
    gr_buf b = {0};
    for (uint32_t i = 0; i < l.kernels.n; i++) gr_buf_str(&b, l.kernels.list[i].wgsl);
    golden_check(path, gr_buf_view(&b));
    gr_buf_free(&b);
    low_end(&l);
}

static void texts(void **state) {
    (void)state;
    gr_target gpu = gr_target_webgpu_default(), cpu = gr_target_oracle();
    golden("tests/kernel/add-wide.wgsl", HEAD "  %a = input \"a\" : f32[4096]\n  %b = input \"b\" : f32[4096]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &gpu);
    golden("tests/kernel/add-scalar.wgsl", HEAD "  %a = input \"a\" : f32[8192]\n  %b = input \"b\" : f32[]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &gpu);
    golden("tests/kernel/sub-rows.wgsl", HEAD "  %a = input \"a\" : f32[64, 3, 50]\n  %b = input \"b\" : f32[64, 1, 50]\n  %y = sub %a, %b\n  output \"y\" %y\n}\n", &gpu);
    golden("tests/kernel/sub-rows-wide.wgsl", HEAD "  %a = input \"a\" : f32[64, 128]\n  %b = input \"b\" : f32[128]\n  %y = sub %a, %b\n  output \"y\" %y\n}\n", &gpu);
    golden("tests/kernel/equal.wgsl", HEAD "  %a = input \"a\" : f32[5]\n  %b = input \"b\" : f32[5]\n  %y = equal %a, %b\n  output \"y\" %y\n}\n", &gpu);
    golden("tests/kernel/where-u8.wgsl", HEAD "  %c = input \"c\" : bool[5]\n  %a = input \"a\" : u8[5]\n  %b = input \"b\" : u8[5]\n  %y = where %c, %a, %b\n  output \"y\" %y\n}\n", &gpu);
    golden("tests/kernel/add-i8.wgsl", HEAD "  %a = input \"a\" : i8[5]\n  %b = input \"b\" : i8[5]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &gpu);
    golden("tests/kernel/add-i64.wgsl", HEAD "  %a = input \"a\" : i64[5]\n  %b = input \"b\" : i64[5]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &gpu);
    golden("tests/kernel/add-cpu.wgsl", HEAD "  %a = input \"a\" : f32[4096]\n  %b = input \"b\" : f32[4096]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &cpu);
    gpu.shader_f16 = true;
    golden("tests/kernel/add-f16.wgsl", HEAD "  %a = input \"a\" : f16[4096]\n  %b = input \"b\" : f16[4096]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &gpu);
}

/* Tails: a count that four does not divide is not read as vec4s. */
static void tails_and_grids(void **state) {
    (void)state;
    low l;
    gr_target gpu = gr_target_webgpu_default();
    low_begin(&l);
    low_kernels(&l, HEAD "  %a = input \"a\" : f32[4097]\n  %b = input \"b\" : f32[4097]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &gpu);
    assert_int_equal(l.kernels.n, 1);
    assert_int_equal(word(&l.kernels.list[0], 0), 4097);
    assert_int_equal(l.kernels.list[0].grid[0], 17);
    assert_true(l.kernels.list[0].linear);
    low_kernels(&l, HEAD "  %a = input \"a\" : f32[4, 1024]\n  %b = input \"b\" : f32[4, 1]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &gpu);
    assert_int_equal(word(&l.kernels.list[0], 0), 1024); /* vec4s */
    assert_int_equal(word(&l.kernels.list[0], 1), 256);  /* inner dimension in vec4s */
    assert_int_equal(word(&l.kernels.list[0], 2), 1);    /* stride of b along the outer one */
    low_end(&l);
}

/* Dimensions merge as far as all operands allow. */
static void merging(void **state) {
    (void)state;
    low l;
    gr_target gpu = gr_target_webgpu_default();
    low_begin(&l);
    low_kernels(&l, HEAD "  %a = input \"a\" : f32[2, 3, 5, 7]\n  %b = input \"b\" : f32[5, 7]\n  %y = add %a, %b\n  output \"y\" %y\n}\n", &gpu);
    const gr_kernel *k = &l.kernels.list[0];
    assert_int_equal(word(k, 0), 210);
    assert_int_equal(word(k, 1), 35); /* one merged inner dimension; the rest is the outer one */
    assert_int_equal(word(k, 2), 1);
    low_kernels(&l, HEAD "  %a = input \"a\" : f32[2, 1, 5]\n  %b = input \"b\" : f32[1, 3, 1]\n  %y = mul %a, %b\n  output \"y\" %y\n}\n", &gpu);
    k = &l.kernels.list[0];
    assert_int_equal(word(k, 0), 30);
    assert_int_equal(word(k, 1), 3);
    assert_int_equal(word(k, 2), 5);
    assert_int_equal(word(k, 3), 5); /* a: 5, 0, 1 */
    assert_int_equal(word(k, 4), 1);
    assert_int_equal(word(k, 5), 1); /* b: 0, 1, 0 */
    low_end(&l);
}

static void nodes_share_texts(void **state) {
    (void)state;
    low l;
    gr_target gpu = gr_target_webgpu_default();
    low_begin(&l);
    low_kernels(&l, HEAD "  %a = input \"a\" : f32[8]\n  %b = add %a, %a @ node \"first\"\n  %c = add %b, %a @ node \"second\"\n  output \"y\" %c\n}\n", &gpu);
    assert_int_equal(l.kernels.n, 2);
    assert_ptr_equal(l.kernels.list[0].wgsl.p, l.kernels.list[1].wgsl.p);
    char *z = gr_arena_strndup(&l.a, l.kernels.list[0].wgsl.p, l.kernels.list[0].wgsl.n);
    assert_non_null(strstr(z, "// Graph nodes: first, second\n"));
    low_end(&l);
}

static void empty_gives_no_kernel(void **state) {
    (void)state;
    low l;
    gr_target gpu = gr_target_webgpu_default();
    low_begin(&l);
    low_kernels(&l, HEAD "  %a = input \"a\" : f32[0]\n  %y = neg %a\n  output \"y\" %y\n}\n", &gpu);
    assert_int_equal(l.kernels.n, 0);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {
        cmocka_unit_test(texts), cmocka_unit_test(tails_and_grids), cmocka_unit_test(merging),
        cmocka_unit_test(nodes_share_texts), cmocka_unit_test(empty_gives_no_kernel),
    };
    return cmocka_run_group_tests(t, NULL, NULL);
}
