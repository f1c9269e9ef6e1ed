/* Control flow and functions: programs with exact results. */
#include "wgsl/eval-harness.h"

#define WANT(...) sizeof((uint32_t[]){__VA_ARGS__}) / 4, {__VA_ARGS__}, false
static const harness_case cases[] = {
    {"straight", "", "o[0] = 1u + u32(g.x); o[1] = 7u;", 1, 1, WANT(1, 7)},
    {"for", "", "var s = 0u; for (var k = 0u; k < 10u; k++) { s += k; } o[0] = s;", 1, 1, WANT(45)},
    {"for without parts", "", "var k = 0u; for (;;) { if (k == 5u) { break; } k++; } o[0] = k;", 1, 1, WANT(5)},
    {"for never entered", "", "var s = 9u; for (var k = 3u; k < 3u; k++) { s = 0u; } o[0] = s;", 1, 1, WANT(9)},
    {"while", "", "var k = 1u; while (k < 100u) { k *= 3u; } o[0] = k;", 1, 1, WANT(243)},
    {"loop break if", "", "var k = 0u; loop { k += 2u; continuing { k += 1u; break if k > 10u; } } o[0] = k;", 1, 1, WANT(12)},
    {"loop continue", "", "var s = 0u; var k = 0u; loop { if (k >= 8u) { break; } if (k % 2u == 0u) { continue; }\n"
     " s += k; continuing { k++; } } o[0] = s; o[1] = k;", 1, 1, WANT(16, 8)},
    {"continuing sees body", "", "var s = 0u; loop { let t = s + 3u; continuing { s = t; break if s > 7u; } } o[0] = s;", 1, 1, WANT(9)},
    {"nested loops", "", "var s = 0u; for (var a = 0u; a < 4u; a++) { for (var b = 0u; b <= a; b++) { s += a * b; } } o[0] = s;", 1, 1,
     WANT(25)},
    {"inner break", "", "var s = 0u; for (var a = 0u; a < 4u; a++) { for (var b = 0u; b < 4u; b++) { if (b == a) { break; } s++; } }\n"
     " o[0] = s;", 1, 1, WANT(6)},
    {"if chain", "", "for (var k = 0u; k < 4u; k++) { if (k == 0u) { o[k] = 5u; } else if (k == 1u) { o[k] = 6u; } else { o[k] = 7u; } }",
     1, 1, WANT(5, 6, 7, 7)},
    {"switch", "", "for (var k = 0u; k < 6u; k++) { switch k { case 0u: { o[k] = 1u; } case 1u, 2u: { o[k] = 2u; }\n"
     " case 4u, default: { o[k] = 3u; } } }", 1, 1, WANT(1, 2, 2, 3, 3, 3)},
    {"switch default first", "", "for (var k = 0; k < 3; k++) { switch k { default: { o[k] = 9u; } case 1: { o[k] = 8u; } } }", 1, 1,
     WANT(9, 8, 9)},
    {"switch tail break", "", "switch 1u { case 1u: { o[0] = 4u; break; } default: { o[0] = 5u; } } o[1] = 1u;", 1, 1, WANT(4, 1)},
    {"switch early break", "", "for (var k = 0u; k < 3u; k++) { switch k { case 1u: { o[k] = 4u; if (o[0] == 5u) { break; } o[k] = 6u; }\n"
     " default: { o[k] = 5u; } } }", 1, 1, WANT(5, 4, 5)},
    {"continue in switch", "", "var s = 0u; for (var k = 0u; k < 5u; k++) { switch k { case 2u: { continue; } default: { } } s += k; } o[0] = s;",
     1, 1, WANT(8)},
    {"break in switch in loop", "", "var s = 0u; loop { switch s { case 3u: { s = 10u; break; } default: { s++; } }\n"
     " if (s >= 10u) { break; } } o[0] = s;", 1, 1, WANT(10)},
    {"short circuit", "fn bump(p: ptr<function, u32>) -> bool { *p += 1u; return true; }",
     "var c = 0u; let a = false && bump(&c); let b = true || bump(&c); let d = true && bump(&c); o[0] = c; o[1] = u32(a); o[2] = u32(b);",
     1, 1, WANT(1, 0, 1)},
    {"early return", "fn sq(x: u32) -> u32 { if (x > 3u) { return x; } return x * x; }",
     "o[0] = sq(3u); o[1] = sq(5u); o[2] = sq(o[0]);", 1, 1, WANT(9, 5, 9)},
    {"return in loop", "fn find(n: u32) -> u32 { for (var k = 0u; k < 100u; k++) { if (k * k >= n) { return k; } } return 999u; }",
     "o[0] = find(10u); o[1] = find(100u); o[2] = find(1000000u);", 1, 1, WANT(4, 10, 999)},
    {"return in switch", "fn f1(k: u32) -> u32 { switch k { case 0u: { return 7u; } case 1u: { return 8u; } default: { } } return 9u; }",
     "o[0] = f1(0u); o[1] = f1(1u); o[2] = f1(2u);", 1, 1, WANT(7, 8, 9)},
    {"void function", "fn put(k: u32, v: u32) { o[k] = v; }", "put(0u, 3u); put(1u, 4u);", 1, 1, WANT(3, 4)},
    {"void early return", "fn put(k: u32) { if (k == 1u) { return; } o[k] = k + 1u; }", "put(0u); put(1u); put(2u);", 1, 1, WANT(1, 0, 3)},
    {"pointer parameter", "fn inc(p: ptr<function, u32>) { *p = *p + 5u; }", "var a = 1u; inc(&a); inc(&a); o[0] = a;", 1, 1, WANT(11)},
    {"argument is a snapshot", "fn both(a: u32, p: ptr<function, u32>) -> u32 { *p = 100u; return a; }",
     "var v = 4u; o[0] = both(v, &v); o[1] = v;", 1, 1, WANT(4, 100)},
    {"operand is a snapshot", "fn put(p: ptr<function, u32>) -> u32 { *p = 50u; return 1u; }", "var v = 4u; o[0] = v + put(&v);", 1, 1, WANT(5)},
    {"call chain", "fn a1(x: u32) -> u32 { return x + 1u; } fn b1(x: u32) -> u32 { return a1(x) * 2u; } fn c1(x: u32) -> u32 { return b1(x) + a1(x); }",
     "o[0] = c1(3u);", 1, 1, WANT(12)},
    {"shadowing", "", "let v = 1u; var r = v; { let v = 2u; r += v; { let v = 4u; r += v; } } o[0] = r + v;", 1, 1, WANT(8)},
    {"var is fresh each iteration", "", "for (var k = 0u; k < 3u; k++) { var t: u32; t += k; o[k] = t; }", 1, 1, WANT(0, 1, 2)},
    {"array is fresh each iteration", "", "for (var k = 0u; k < 3u; k++) { var t: array<u32, 2>; t[k % 2u] += k + 1u; o[k] = t[0] + t[1]; }", 1, 1,
     WANT(1, 2, 3)},
    {"divergent if", "", "o[i] = i * 3u; if (i % 2u == 1u) { o[i] = 100u + i; }", 1, 8, WANT(0, 101, 6, 103, 12, 105, 18, 107, 0)},
    {"divergent else", "", "var v = 0u; if (i < 3u) { v = i; } else { v = 50u + i; } o[i] = v;", 1, 6, WANT(0, 1, 2, 53, 54, 55, 0)},
    {"divergent trip count", "", "var s = 0u; for (var k = 0u; k < i; k++) { s += k; } o[i] = s;", 1, 6, WANT(0, 0, 1, 3, 6, 10)},
    {"divergent while", "", "var n = i + 1u; var c = 0u; while (n != 1u) { if (n % 2u == 0u) { n /= 2u; } else { n = 3u * n + 1u; } c++; } o[i] = c;",
     1, 8, WANT(0, 1, 7, 2, 5, 8, 16, 3)},
    {"divergent break", "", "var k = 0u; loop { if (k == i) { break; } k++; if (k > 3u) { break; } } o[i] = k;", 1, 6, WANT(0, 1, 2, 3, 4, 4)},
    {"divergent continue", "", "var s = 0u; for (var k = 0u; k < 6u; k++) { if (k == i) { continue; } s += k; } o[i] = s;", 1, 6,
     WANT(15, 14, 13, 12, 11, 10)},
    {"divergent return", "fn h(v: u32) -> u32 { if (v == 1u) { return 10u; } var r = v * 2u; if (v > 2u) { r += 1u; return r; } return r + 100u; }",
     "o[i] = h(i);", 1, 5, WANT(100, 10, 104, 7, 9)},
    {"divergent return in loop", "fn h(v: u32) -> u32 { for (var k = 0u; k < 5u; k++) { if (k * v >= 6u) { return k; } } return 77u; }",
     "o[i] = h(i);", 1, 5, WANT(77, 77, 3, 2, 2)},
    {"guard keeps loops whole", "", "if (i >= 3u) { return; } var s = 0u; for (var k = 0u; k < 4u; k++) { s += k + i; } o[i] = s;", 1, 5,
     WANT(6, 10, 14, 0, 0)},
    {"return of some lanes in a loop", "", "for (var k = 0u; k < 5u; k++) { if (k == i) { return; } o[i] = k + 1u; } o[i] += 50u;", 1, 7,
     WANT(0, 1, 2, 3, 4, 55, 55)},
    {"divergent switch", "", "switch i % 4u { case 0u: { o[i] = 1u; } case 2u: { o[i] = 2u; } default: { o[i] = 3u; } }", 1, 6,
     WANT(1, 3, 2, 3, 1, 3)},
    {"divergent switch with break", "", "var v = 0u; switch i { case 0u, 1u: { v = 5u; if (i == 1u) { break; } v = 6u; } case 2u: { v = 7u; }\n"
     " default: { } } o[i] = v + 1u;", 1, 4, WANT(7, 6, 8, 1)},
    {"divergent short circuit", "", "var v = 0u; if (i > 1u && 12u / (i - 1u) > 3u) { v = 1u; } o[i] = v;", 1, 6, WANT(0, 0, 1, 1, 1, 0)},
    {"nested divergence", "", "var v = 0u; if (i < 4u) { if (i % 2u == 0u) { v = 1u; } else { for (var k = 0u; k < i; k++) { v += 10u; } } }\n"
     " else { v = 3u; } o[i] = v;", 1, 6, WANT(1, 10, 1, 30, 3, 3)},
    {"break out of nested divergence", "", "var v = 0u; for (var k = 0u; k < 10u; k++) { if (i > 1u) { if (k == i) { break; } } v++; } o[i] = v;", 1, 5,
     WANT(10, 10, 2, 3, 4)},
    {"uniform value, divergent write", "", "var v = 7u; if (i == 2u) { v = 8u; } o[i] = v;", 1, 4, WANT(7, 7, 8, 7)},
    {"inner variable stays uniform", "", "if (i < 2u) { var c = 0u; for (var k = 0u; k < 3u; k++) { c += 2u; } o[i] = c; } else { o[i] = 1u; }", 1, 4,
     WANT(6, 6, 1, 1)},
    {"many workgroups", "", "o[i] = w.x * 10u + l;", 5, 3, WANT(0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42, 0)},
    {"phony", "fn side() -> u32 { o[0] = 5u; return 1u; }", "_ = side(); _ = i;", 1, 1, WANT(5)},
    {"select is not control", "", "o[i] = select(10u, 20u, i == 1u);", 1, 3, WANT(10, 20, 10)},
    {"const loop bound", "const N = 4;", "var s = 0; for (var k = 0; k < N; k++) { s += k; } o[0] = u32(s);", 1, 1, WANT(6)},
    {"const_assert", "const_assert 2 > 1;", "const_assert true; o[0] = 1u;", 1, 1, WANT(1)},
    {"recursion by hand", "", "var stack: array<u32, 8>; var top = 1u; stack[0] = 5u; var sum = 0u;\n"
     " while (top > 0u) { top--; let v = stack[top]; sum += v; if (v > 1u) { stack[top] = v / 2u; stack[top + 1u] = v - v / 2u - 1u; top += 2u; } } o[0] = sum;",
     1, 1, WANT(11)},
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
