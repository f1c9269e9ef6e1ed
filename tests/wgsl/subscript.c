/* Arrays read through a function: what may be rewritten, and into what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wgsl/subscript.h"

static const struct { const char *text; bool may; } uses[] = {
    {"@group(0) @binding(0) var<storage, read> x: array<f32>;\nfn f(i: u32) -> f32 { return x[i]; }\n", true},
    {"@group(0) @binding(0) var<storage, read> x: array<f32>;\n// x is read\nfn f(i: u32) -> f32 { return x /* at */ [x[i]] + v.x; }\n", true},
    {"@group(0) @binding(0) var<storage, read> x: array<f32>;\nfn f() -> u32 { return arrayLength(&x); }\n", false},
    {"@group(0) @binding(0) var<storage, read> x: array<f32>;\nfn f(x: u32) -> u32 { return x; }\n", false},
    {"@group(0) @binding(0) var<storage, read> x: array<f32>;\nfn f() { g(&x[1]); }\n", false},
    {"fn f(i: u32) -> f32 { return x[i]; }\n", false},
    {"@group(0) @binding(0) var<storage, read> xs: array<f32>;\nfn f(i: u32) -> f32 { return xs[i]; }\n", false},
    {"", false},
};

static void only_subscripted(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        bool got = gr_wgsl_only_subscripted(gr_str_of(uses[i].text), GR_STR("x"));
        if (got != uses[i].may) print_error("%s\n", uses[i].text);
        assert_int_equal(got, uses[i].may);
    }
}

static void rewritten(const char *text, const char *want) {
    gr_buf b = {0};
    gr_wgsl_put_subscripts(&b, gr_str_of(text), GR_STR("x"), GR_STR("read_x"));
    if (!gr_str_eqz(gr_buf_view(&b), want)) print_error("%.*s\n", (int)b.n, b.p ? b.p : "");
    assert_true(gr_str_eqz(gr_buf_view(&b), want));
    gr_buf_free(&b);
}

static void put_subscripts(void **state) {
    (void)state;
    rewritten("alias T = f32;\n// first\n@group(0) @binding(0) var<storage, read> x: array<T>;\n@group(0) @binding(1) var<storage, read_write> y: array<T>;\nfn f() { y[1] = x[y[2]]; }\n",
              "alias T = f32;\n// first\n\n@group(0) @binding(1) var<storage, read_write> y: array<T>;\nfn f() { y[1] = read_x(y[2]); }\n");
    rewritten("@group(0) @binding(0) var<storage, read> x: array<u32>;\nfn f(a: array<u32, 2>) -> u32 { return x[x[a[0]] + p.x] + x [ 3 ]; // x[4]\n}\n",
              "\nfn f(a: array<u32, 2>) -> u32 { return read_x(read_x(a[0]) + p.x) + read_x( 3 ); // x[4]\n}\n");
    rewritten("fn f() {}", "fn f() {}");
    rewritten("", "");
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(only_subscripted), cmocka_unit_test(put_subscripts)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
