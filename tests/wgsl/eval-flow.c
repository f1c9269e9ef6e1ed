/* Control flow, functions, memory: programs with exact results. */
#include "wgsl/eval-harness.h"

#define WANT(...) sizeof((uint32_t[]){__VA_ARGS__}) / 4, {__VA_ARGS__}, false
static const harness_case cases[] = {
    {"add", "", "o[0] = 1u + u32(g.x); o[1] = 7u;", 1, 1, WANT(1, 7)},
    {"for", "", "var s = 0u; for (var k = 0u; k < 10u; k++) { s += k; } o[0] = s;", 1, 1, WANT(45)},
    {"array", "", "var a: array<u32, 8>; for (var k = 0u; k < 8u; k++) { a[k] = k * k; }\n"
     "  var s = 0u; for (var k = 0u; k < 8u; k++) { s += a[7u - k]; } o[0] = s;", 1, 1, WANT(140)},
    {"early return", "fn sq(x: u32) -> u32 { if (x > 3u) { return x; } return x * x; }",
     "o[0] = sq(3u); o[1] = sq(5u); o[2] = sq(o[0]);", 1, 1, WANT(9, 5, 9)},
    {"divergent if", "", "o[i] = i * 3u; if (i % 2u == 1u) { o[i] = 100u + i; }", 1, 8, WANT(0, 101, 6, 103, 12, 105, 18, 107, 0)},
    {"workgroup memory", "var<workgroup> t: array<u32, 8>;", "t[l] = l + w.x * 10u; workgroupBarrier(); o[i] = t[7u - l];", 2, 8,
     WANT(7, 6, 5, 4, 3, 2, 1, 0, 17, 16, 15, 14, 13, 12, 11, 10)},
};

static void all(void **state) {
    (void)state;
    uint32_t bad = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) bad += !harness_check(&cases[k]);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
