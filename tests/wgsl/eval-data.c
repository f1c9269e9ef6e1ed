/* Structures, arrays, pointers, matrices in memory, f16, workgroups, atomics, subgroups. */
#include "wgsl/eval-harness.h"

#define WANT(...) sizeof((uint32_t[]){__VA_ARGS__}) / 4, {__VA_ARGS__}, false
#define FLOATS(...) sizeof((uint32_t[]){__VA_ARGS__}) / 4, {__VA_ARGS__}, true
#define ONE 0x3F800000
#define TWO 0x40000000
#define THREE 0x40400000
#define FOUR 0x40800000
static const harness_case cases[] = {
    {"struct", "struct S { a: u32, b: vec2<u32>, c: f32 }", "var s = S(1u, vec2<u32>(2u, 3u), 4.0); s.b.y += 5u; let t = s; s.a = 9u;\n"
     " o[0] = t.a; o[1] = t.b.y; o[2] = s.a; o[3] = u32(t.c);", 1, 1, WANT(1, 8, 9, 4)},
    {"nested struct", "struct A { v: array<u32, 3> } struct B { k: u32, a: array<A, 2> }", "var b: B; b.a[1].v[2] = 7u; b.k = 1u; let c = b;\n"
     " for (var j = 0u; j < 2u; j++) { for (var k = 0u; k < 3u; k++) { o[j * 3u + k] = c.a[j].v[k]; } } o[6] = c.k;", 1, 1, WANT(0, 0, 0, 0, 0, 7, 1)},
    {"struct result", "struct R { q: u32, r: u32 } fn dm(a: u32, b: u32) -> R { return R(a / b, a % b); }", "let d = dm(17u, 5u); o[0] = d.q; o[1] = d.r;", 1, 1,
     WANT(3, 2)},
    {"array value", "fn rev(a: array<u32, 4>) -> array<u32, 4> { var r: array<u32, 4>; for (var k = 0u; k < 4u; k++) { r[k] = a[3u - k]; } return r; }",
     "let a = array<u32, 4>(1u, 2u, 3u, 4u); let b = rev(a); for (var k = 0u; k < 4u; k++) { o[k] = b[k]; } o[4] = rev(b)[1];", 1, 1, WANT(4, 3, 2, 1, 2)},
    {"constant table", "const T = array<u32, 5>(10u, 20u, 30u, 40u, 50u);", "o[i] = T[i]; o[8u + i] = array<u32, 5>(1u, 2u, 3u, 4u, 5u)[4u - i];", 1, 5,
     WANT(10, 20, 30, 40, 50, 0, 0, 0, 5, 4, 3, 2, 1)},
    {"array of vectors", "", "var a: array<vec3<u32>, 3>; for (var k = 0u; k < 3u; k++) { a[k] = vec3<u32>(k, k + 1u, k + 2u); a[k][k] = 100u; }\n"
     " o[0] = a[0].x; o[1] = a[1].y; o[2] = a[2].z; o[3] = a[2].x;", 1, 1, WANT(100, 100, 100, 2)},
    {"two dimensions", "", "var a: array<array<u32, 3>, 2>; a[i][i + 1u] = i + 5u; o[i * 3u] = a[i][0]; o[i * 3u + 1u] = a[i][1]; o[i * 3u + 2u] = a[i][2];", 1, 2,
     WANT(0, 5, 0, 0, 0, 6)},
    {"vector index", "", "var v = vec4<u32>(1u, 2u, 3u, 4u); v[i] = 10u + i; o[i * 4u] = v.x; o[i * 4u + 1u] = v.y; o[i * 4u + 2u] = v[2]; o[i * 4u + 3u] = v[3u - i];", 1, 2,
     WANT(10, 2, 3, 4, 1, 11, 3, 3)},
    {"value index", "", "let v = vec4<u32>(5u, 6u, 7u, 8u); o[i] = v[3u - i];", 1, 4, WANT(8, 7, 6, 5)},
    {"matrix index", "", "var m = mat2x3<f32>(1.0, 2.0, 3.0, 4.0, 5.0, 6.0); m[i][i] = 9.0; let c = m[i]; f[i] = m[1u - i][2u - i] + c[i];", 1, 2, FLOATS(0x41700000, 0x41300000)},
    {"matrix columns", "", "var m: mat2x2<f32>; m[1] = vec2<f32>(3.0, 4.0); m[0].y = 2.0; f[0] = m[0][0]; f[1] = m[0][1]; f[2] = m[1][0]; f[3] = m[1].y;", 1, 1,
     FLOATS(0, TWO, THREE, FOUR)},
    {"pointer to element", "fn add(p: ptr<function, u32>, v: u32) { *p += v; }", "var a = array<u32, 3>(1u, 2u, 3u); let p = &a[1]; add(p, 5u); add(&a[i], 7u); *p *= 2u; o[0] = a[0]; o[1] = a[1];",
     1, 1, WANT(8, 14)},
    {"pointer keeps its index", "", "var a = array<u32, 3>(1u, 2u, 3u); var k = 0u; let p = &a[k]; k = 2u; *p = 50u; o[0] = a[0]; o[1] = a[2];", 1, 1, WANT(50, 3)},
    {"pointer to member", "struct S { a: u32, b: array<u32, 2> } fn bump(s: ptr<function, S>) { (*s).a += 1u; s.b[1] += 2u; }", "var s = S(1u, array<u32, 2>(2u, 3u)); bump(&s); o[0] = s.a; o[1] = s.b[1];",
     1, 1, WANT(2, 5)},
    {"private variable", "var<private> c: u32 = 5u; var<private> t: array<u32, 4>; fn next() -> u32 { c += 1u; t[c % 4u] += c; return c; }",
     "o[0] = next(); o[1] = next() * 10u + c; o[2] = t[2]; o[3] = t[3];", 1, 1, WANT(6, 77, 6, 7)},
    {"private is fresh", "var<private> c: u32;", "c += i + 1u; o[i] = c;", 3, 2, WANT(1, 2, 3, 4, 5, 6)},
    {"storage layout", "struct P { a: u32, v: vec3<u32>, m: mat2x2<f32>, t: array<vec2<u32>, 2> } @group(0) @binding(0) var<storage, read_write> q: P;",
     "q.a = 1u; q.v = vec3<u32>(2u, 3u, 4u); q.m[1] = vec2<f32>(1.0, 2.0); q.t[1].y = 9u; f[0] = q.m[1].y;", 1, 1, WANT(1, 0, 0, 0, 2, 3, 4, 0, 0, 0, ONE, TWO, 0, 0, 0, 9)},
    {"runtime array of structs", "struct E { k: u32, v: vec2<f32> } struct H { n: u32, e: array<E> } @group(0) @binding(0) var<storage, read_write> q: H;",
     "q.e[i].k = i + 1u; q.e[i].v.y = 1.0; if (i == 0u) { q.n = arrayLength(&q.e); }", 1, 3, WANT(15, 0, 1, 0, 0, ONE, 2, 0, 0, ONE, 3, 0, 0, ONE)},
    {"array length", "", "o[0] = arrayLength(&x); let p = &x; o[1] = arrayLength(p);", 1, 1, WANT(64, 64)},
    {"pointer to storage", "fn at(p: ptr<storage, array<f32>, read>, k: u32) -> f32 { return (*p)[k]; }", "f[0] = at(&x, 6u); f[1] = at(&x, 8u);", 1, 1, FLOATS(ONE, TWO)},
    {"index is clamped", "", "var a = array<u32, 3>(1u, 2u, 3u); o[0] = a[i + 5u]; let k = -1 - i32(i); o[1] = a[k]; o[2] = u32(x[1000u + i]); a[i + 9u] = 7u; o[3] = a[2]; o[100u + i] = 8u; o[4] = o[63];",
     1, 1, WANT(3, 3, 29, 7, 8)},
    {"gather and scatter", "", "o[(i * 5u) % 8u] = u32(x[(i * 3u) % 8u] + 2.0) + i;", 1, 8, WANT(0, 8, 5, 9, 6, 2, 7, 3)},
    {"last lane wins", "", "o[i / 4u] = i;", 1, 8, WANT(3, 7)},
    {"f16", "enable f16;", "let h = f16(x[6]) / 3.0h; f[0] = f32(h); var v = vec2<f16>(h, 2.0h); v *= 2.0h; f[1] = f32(v.x + v.y); o[0] = bitcast<u32>(v);", 1, 1, FLOATS(0x3EAAA000, 0x40956000)},
    {"workgroup memory", "var<workgroup> t: array<u32, 8>;", "t[l] = l + w.x * 10u; workgroupBarrier(); o[i] = t[7u - l];", 2, 8,
     WANT(7, 6, 5, 4, 3, 2, 1, 0, 17, 16, 15, 14, 13, 12, 11, 10)},
    {"workgroup memory starts at zero", "var<workgroup> t: array<u32, 4>; var<workgroup> c: u32;", "o[i] = t[l] + c; t[l] = 5u; if (l == 0u) { c = 9u; }", 3, 4,
     WANT(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
    {"tree sum", "var<workgroup> t: array<u32, 16>;", "t[l] = l + 1u; workgroupBarrier(); for (var s = 8u; s > 0u; s >>= 1u) { if (l < s) { t[l] += t[l + s]; } workgroupBarrier(); }\n"
     " if (l == 0u) { o[w.x] = t[0]; }", 2, 16, WANT(136, 136)},
    {"uniform load", "var<workgroup> n: u32;", "if (l == 3u) { n = 40u + w.x; } let k = workgroupUniformLoad(&n); o[i] = k + l;", 2, 4, WANT(40, 41, 42, 43, 41, 42, 43, 44)},
    {"workgroup atomics", "var<workgroup> a: atomic<u32>;", "let k = atomicAdd(&a, l); workgroupBarrier(); o[i] = k; if (l == 0u) { o[8] = atomicLoad(&a); }", 1, 5,
     WANT(0, 0, 1, 3, 6, 0, 0, 0, 10)},
    {"storage atomics", "@group(0) @binding(0) var<storage, read_write> q: array<atomic<u32>>;",
     "atomicAdd(&q[0], 2u); atomicSub(&q[1], 1u); atomicMax(&q[2], i); atomicMin(&q[3], i); atomicOr(&q[4], 1u << i); atomicXor(&q[5], 3u); atomicAnd(&q[6], i);\n"
     " atomicStore(&q[7], i); if (i == 5u) { let e = atomicExchange(&q[8], 77u); atomicStore(&q[9], e + 1u); }", 3, 2, WANT(12, 0xFFFFFFFA, 5, 0, 63, 0, 0, 5, 77, 1)},
    {"signed atomics", "@group(0) @binding(0) var<storage, read_write> q: array<atomic<i32>>;", "atomicMin(&q[0], -i32(i)); atomicMax(&q[1], -i32(i) - 1); atomicMax(&q[2], i32(i));", 1, 4,
     WANT(0xFFFFFFFD, 0, 3)},
    {"compare exchange", "@group(0) @binding(0) var<storage, read_write> q: array<atomic<u32>>;",
     "let r = atomicCompareExchangeWeak(&q[0], i, i + 1u); if (r.exchanged) { atomicAdd(&q[1], 1u); } atomicStore(&q[2u + i], r.old_value);", 1, 4, WANT(4, 4, 0, 1, 2, 3)},
    {"divergent atomics", "@group(0) @binding(0) var<storage, read_write> q: array<atomic<u32>>;", "if (i % 3u == 0u) { atomicAdd(&q[i / 6u], i); }", 2, 8, WANT(3, 15, 27)},
    {"fixed size atomics", "struct C { n: atomic<u32>, k: array<atomic<u32>, 3> } @group(0) @binding(0) var<storage, read_write> c: C;", "atomicAdd(&c.n, 1u); atomicAdd(&c.k[i % 3u], i);",
     1, 6, WANT(6, 3, 5, 7)},
    {"spin lock", "@group(0) @binding(0) var<storage, read_write> q: array<atomic<u32>>;", "var done = false; while (!done) { let r = atomicCompareExchangeWeak(&q[0], 0u, 1u);\n"
     " if (r.exchanged) { atomicAdd(&q[1], i); atomicStore(&q[0], 0u); done = true; } }", 1, 8, WANT(0, 28)},
    {"invocation ids", "", "if (i == 5u) { o[0] = g.x; o[1] = g.y; o[2] = g.z; o[3] = l; o[4] = w.x; }", 2, 4, WANT(5, 0, 0, 1, 1)},
    {"subgroup reductions", "enable subgroups;", "let v = i + 1u; o[0] = subgroupAdd(v); o[1] = subgroupMax(v); o[2] = subgroupMin(v); o[3] = subgroupMul(v); o[4] = subgroupOr(v); o[5] = subgroupXor(v); o[6] = subgroupAnd(v | 8u);", 1, 5,
     WANT(15, 5, 1, 120, 7, 1, 8)},
    {"subgroup scans", "enable subgroups;", "o[i] = subgroupInclusiveAdd(i + 1u); o[8u + i] = subgroupExclusiveAdd(i + 1u);", 1, 4, WANT(1, 3, 6, 10, 0, 0, 0, 0, 0, 1, 3, 6)},
    {"subgroup products", "enable subgroups;", "o[i] = subgroupInclusiveMul(i + 1u); o[8u + i] = subgroupExclusiveMul(i + 1u);", 1, 4, WANT(1, 2, 6, 24, 0, 0, 0, 0, 1, 1, 2, 6)},
    {"subgroup votes", "enable subgroups;", "o[0] = u32(subgroupAll(i < 9u)); o[1] = u32(subgroupAny(i == 3u)); o[2] = u32(subgroupAll(i > 0u)); let b = subgroupBallot(i % 2u == 0u); o[3] = b.x; o[4] = b.y; if (subgroupElect()) { o[5] = i + 70u; }", 1, 6,
     WANT(1, 1, 0, 0x15, 0, 70)},
    {"subgroup moves", "enable subgroups;", "let v = i * 10u; o[i] = subgroupShuffleXor(v, 1u); o[4u + i] = subgroupBroadcast(v, 2u); o[8u + i] = subgroupShuffle(v, 3u - i); o[12u + i] = subgroupBroadcastFirst(v + 1u);", 1, 4,
     WANT(10, 0, 30, 20, 20, 20, 20, 20, 30, 20, 10, 0, 1, 1, 1, 1)},
    {"subgroup floats", "enable subgroups;", "f[0] = subgroupAdd(x[i + 4u]); f[1] = subgroupMax(x[i + 4u]); let v = subgroupAdd(vec2<f32>(x[i + 4u], 1.0)); f[2] = v.y;", 1, 4, FLOATS(THREE, 0x3FC00000, FOUR)},
    {"quads", "enable subgroups;", "let v = i * 10u; o[i] = quadSwapX(v); o[8u + i] = quadBroadcast(v, 1u) + quadSwapDiagonal(v);", 1, 8, WANT(10, 0, 30, 20, 50, 40, 70, 60, 40, 30, 20, 10, 120, 110, 100, 90)},
    {"f32 alias", "alias T = f32; alias V = vec2<T>;", "let v = V(1.0, T(2)); f[0] = v.y;", 1, 1, FLOATS(TWO)},
    {"zero values", "struct S { a: u32, v: vec2<f32> }", "let s = S(); let m = mat2x2<f32>(); let a = array<u32, 3>(); o[0] = s.a + a[1] + u32(m[1].y); o[1] = 1u;", 1, 1, WANT(0, 1)},
    {"compare structs of lanes", "struct B2 { lo: f32, hi: f32 }", "var b = B2(x[i], x[i + 1u]); if (b.lo > -1.0) { let t = b.lo; b.lo = b.hi; b.hi = t; } f[i] = b.lo;", 1, 4,
     FLOATS(0xC0000000, 0xBFC00000, 0xBF800000, 0)},
    {"swap through copies", "", "var a = i; var b = i + 10u; let t = a; a = b; b = t; o[i] = a * 100u + b; var v = vec2<u32>(1u, 2u); v = v.yx; o[8] = v.x; o[9] = v.y;", 1, 2,
     WANT(1000, 1101, 0, 0, 0, 0, 0, 0, 2, 1)},
};

static void all(void **state) {
    (void)state;
    uint32_t bad = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) bad += !harness_check(&cases[k]);
    assert_int_equal(bad, 0);
}

static void grids_of_three_dimensions(void **state) {
    (void)state;
    harness h;
    harness_clear(&h);
    static const char text[] = HARNESS_IO
        "struct In { @builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>, @builtin(workgroup_id) w: vec3<u32> }\n"
        "@compute @workgroup_size(2, 1, 2)\n"
        "fn main(in: In, @builtin(num_workgroups) n: vec3<u32>, @builtin(local_invocation_index) k: u32) {\n"
        "  let at = in.g.x + 4u * (in.g.y + 2u * in.g.z);\n"
        "  let ok = in.l.x + 2u * in.l.z == k && in.l.y == 0u && all(n == vec3<u32>(2u, 2u, 2u)) && all(in.w == in.g / vec3<u32>(2u, 1u, 2u));\n"
        "  o[at] = in.g.x + 10u * in.g.y + 100u * in.g.z + select(0u, 1000u, ok);\n}\n";
    assert_true(harness_run(&h, text, NULL, 2, 2, 2, false));
    for (uint32_t z = 0; z < 4; z++)
        for (uint32_t y = 0; y < 2; y++)
            for (uint32_t x = 0; x < 4; x++) assert_int_equal(h.o[x + 4 * (y + 2 * z)], 1000 + x + 10 * y + 100 * z);
    assert_int_equal(h.stats.workgroups, 8);
    assert_int_equal(h.stats.invocations, 32);
    gr_diags_free(&h.d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(grids_of_three_dimensions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
