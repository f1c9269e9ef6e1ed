/* Philox4x32-10: the known answers published with the paper, and the sequential view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"

static void expect(uint64_t key, uint64_t hi, uint64_t lo, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    gr_u32x4 r = gr_philox(key, hi, lo);
    assert_int_equal(r.v[0], a);
    assert_int_equal(r.v[1], b);
    assert_int_equal(r.v[2], c);
    assert_int_equal(r.v[3], d);
}

static void known_answers(void **state) {
    (void)state;
    expect(0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
    expect(UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
    /* counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0 (digits of pi) */
    expect(0x299f31d0a4093822u, 0x0370734413198a2eu, 0x85a308d3243f6a88u, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
           0x24126ea1);
}

static void sequence_is_the_counter(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(42);
    for (uint64_t block = 0; block < 3; block++) {
        gr_u32x4 want = gr_philox(42, 0, block);
        for (int i = 0; i < 4; i++) assert_int_equal(gr_rng_u32(&r), want.v[i]);
    }
}

static void below_is_uniform_and_floats_in_range(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(1);
    uint32_t seen[7] = {0};
    for (int i = 0; i < 70000; i++) seen[gr_rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++) assert_in_range(seen[i], 9600, 10400);
    assert_int_equal(gr_rng_below(&r, 1), 0);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double u = gr_rng_f64(&r);
        float v = gr_rng_f32(&r);
        assert_true(u >= 0 && u < 1 && v >= 0 && v < 1);
        sum += u + (double)v;
    }
    assert_true(sum > 99000 && sum < 101000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(sequence_is_the_counter),
        cmocka_unit_test(below_is_uniform_and_floats_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
