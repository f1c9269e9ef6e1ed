/* Integer and bool operators and builtins: programs with exact results. */
#include "wgsl/eval-harness.h"

#define WANT(...) sizeof((uint32_t[]){__VA_ARGS__}) / 4, {__VA_ARGS__}, false
#define NEG(x) (uint32_t)(-(x))
/* Operands come from memory or from a lane so that no constant is folded. */
#define V "let z = o[63]; " /* zero */
static const harness_case cases[] = {
    {"wrapping", "", V "o[0] = z - 1u; o[1] = (z + 0x80000000u) * 2u; o[2] = u32(i32(z) - 5); o[3] = (z + 65537u) * 65537u;", 1, 1,
     WANT(0xFFFFFFFF, 0, NEG(5), 131073)},
    {"unsigned division", "", V "o[0] = (z + 17u) / (z + 5u); o[1] = (z + 17u) % (z + 5u); o[2] = (z + 17u) / z; o[3] = (z + 17u) % z;\n"
     " o[4] = (z + 0xFFFFFFFFu) / (z + 2u); o[5] = (z + 0xFFFFFFFFu) % (z + 10u); o[6] = (z + 0xFFFFFFFEu) / (z + 0xFFFFFFFFu);", 1, 1,
     WANT(3, 2, 17, 0, 0x7FFFFFFF, 5, 0)},
    {"signed division", "", V "let s = i32(z); o[0] = u32((s - 17) / (s + 5)); o[1] = u32((s - 17) % (s + 5)); o[2] = u32((s + 17) / (s - 5));\n"
     " o[3] = u32((s + 17) % (s - 5)); o[4] = u32((s - 7) / s); o[5] = u32((s - 7) % s);\n"
     " let m = s - 2147483647 - 1; o[6] = u32(m / (s - 1)); o[7] = u32(m % (s - 1));", 1, 1,
     WANT(NEG(3), NEG(2), NEG(3), 2, NEG(7), 0, 0x80000000, 0)},
    {"division by each lane", "", "o[i] = 1000u / i + 100000u % (i + 1u);", 1, 6, WANT(1000, 1000, 501, 333, 250, 204)},
    {"shifts", "", V "o[0] = (z + 1u) << (z + 31u); o[1] = (z + 0x80000000u) >> (z + 31u); o[2] = u32((i32(z) - 16) >> (z + 2u));\n"
     " o[3] = (z + 3u) << (z + 33u); o[4] = (z + 12u) >> (z + 34u);", 1, 1, WANT(0x80000000, 1, NEG(4), 6, 3)},
    {"bit operators", "", V "let a = z + 0xF0F0u; let b = z + 0xFF00u; o[0] = a & b; o[1] = a | b; o[2] = a ^ b; o[3] = ~a;", 1, 1,
     WANT(0xF000, 0xFFF0, 0x0FF0, 0xFFFF0F0F)},
    {"unsigned comparison", "", V "let a = z + 0x80000000u; o[0] = u32(a > z); o[1] = u32(a < z); o[2] = u32(a >= a); o[3] = u32(a <= z); o[4] = u32(a == z); o[5] = u32(a != z);",
     1, 1, WANT(1, 0, 1, 0, 0, 1)},
    {"signed comparison", "", V "let a = i32(z) - 1; let b = i32(z) + 1; o[0] = u32(a < b); o[1] = u32(a > b); o[2] = u32(a <= b); o[3] = u32(a >= b);", 1, 1,
     WANT(1, 0, 1, 0)},
    {"bools", "", V "let t = z == 0u; let n = z != 0u; o[0] = u32(t & n); o[1] = u32(t | n); o[2] = u32(!t); o[3] = u32(t == n); o[4] = u32(t != n); o[5] = u32(bool(z + 2u));",
     1, 1, WANT(0, 1, 0, 0, 1, 1)},
    {"bool vectors", "", V "let a = vec3<bool>(z == 0u, z == 1u, true); o[0] = u32(all(a)); o[1] = u32(any(a)); let b = !a; o[2] = u32(any(b));\n"
     " let c = a & vec3<bool>(true, true, false); o[3] = u32(c.x) + 2u * u32(c.y) + 4u * u32(c.z);", 1, 1, WANT(0, 1, 1, 1)},
    {"abs", "", V "let s = i32(z); o[0] = u32(abs(s - 9)); o[1] = u32(abs(s - 2147483647 - 1)); o[2] = abs(z + 7u);", 1, 1, WANT(9, 0x80000000, 7)},
    {"sign", "", V "let s = i32(z); o[0] = u32(sign(s - 9)); o[1] = u32(sign(s)); o[2] = u32(sign(s + 4));", 1, 1, WANT(NEG(1), 0, 1)},
    {"min max clamp", "", V "let s = i32(z); o[0] = u32(min(s - 1, s)); o[1] = u32(max(s - 1, s)); o[2] = min(z - 1u, z); o[3] = max(z - 1u, z);\n"
     " o[4] = u32(clamp(s - 9, s - 3, s + 3)); o[5] = clamp(z + 9u, z + 1u, z + 3u);", 1, 1, WANT(NEG(1), 0, 0, 0xFFFFFFFF, NEG(3), 3)},
    {"count bits", "", V "o[0] = countLeadingZeros(z); o[1] = countLeadingZeros(z + 1u); o[2] = countTrailingZeros(z); o[3] = countTrailingZeros(z + 24u);\n"
     " o[4] = countOneBits(z + 0xFFu); o[5] = countOneBits(z - 1u); o[6] = u32(countLeadingZeros(i32(z) - 1));", 1, 1, WANT(32, 31, 32, 3, 8, 32, 0)},
    {"first bit", "", V "o[0] = firstLeadingBit(z); o[1] = firstLeadingBit(z + 5u); o[2] = u32(firstLeadingBit(i32(z) - 1)); o[3] = u32(firstLeadingBit(i32(z) - 2));\n"
     " o[4] = u32(firstLeadingBit(i32(z) + 5)); o[5] = firstTrailingBit(z); o[6] = firstTrailingBit(z + 12u); o[7] = firstLeadingBit(z + 0x80000000u);", 1, 1,
     WANT(0xFFFFFFFF, 2, 0xFFFFFFFF, 0, 2, 0xFFFFFFFF, 2, 31)},
    {"reverse", "", V "o[0] = reverseBits(z + 1u); o[1] = reverseBits(z + 0x12345678u);", 1, 1, WANT(0x80000000, 0x1E6A2C48)},
    {"extractBits", "", V "let v = z + 0x89ABCDEFu; o[0] = extractBits(v, 4u, 8u); o[1] = u32(extractBits(bitcast<i32>(v), 4u, 8u)); o[2] = extractBits(v, 28u, 4u);\n"
     " o[3] = u32(extractBits(bitcast<i32>(v), 28u, 4u)); o[4] = extractBits(v, 0u, 32u); o[5] = extractBits(v, z + 30u, z + 8u); o[6] = extractBits(v, z + 40u, z + 8u); o[7] = extractBits(v, 3u, 0u);",
     1, 1, WANT(0xDE, 0xFFFFFFDE, 8, 0xFFFFFFF8, 0x89ABCDEF, 2, 0, 0)},
    {"insertBits", "", V "let v = z - 1u; o[0] = insertBits(v, z + 0u, 4u, 8u); o[1] = insertBits(z, v, 28u, 4u); o[2] = insertBits(z, v, z + 30u, z + 9u); o[3] = insertBits(z, v, 0u, 32u);\n"
     " o[4] = insertBits(z + 5u, v, z + 32u, z + 4u); o[5] = insertBits(z + 5u, v, 2u, 0u);", 1, 1, WANT(0xFFFFF00F, 0xF0000000, 0xC0000000, 0xFFFFFFFF, 5, 5)},
    {"integer dot", "", V "let a = vec3<i32>(i32(z) + 1, 2, -3); o[0] = u32(dot(a, vec3<i32>(4, 5, 6))); o[1] = dot(vec2<u32>(z + 2u, 3u), vec2<u32>(5u, 7u));", 1, 1,
     WANT(NEG(4), 31)},
    {"dot4", "", V "let a = z + 0x01FF0203u; o[0] = dot4U8Packed(a, z + 0x01010101u); o[1] = u32(dot4I8Packed(a, z + 0x01010101u));", 1, 1, WANT(0x105, 5)},
    {"pack bytes", "", V "let s = vec4<i32>(i32(z) - 1, 2, 300, -200); o[0] = pack4xI8(s); o[1] = pack4xI8Clamp(s); let u = vec4<u32>(z + 1u, 2u, 300u, 255u); o[2] = pack4xU8(u); o[3] = pack4xU8Clamp(u);",
     1, 1, WANT(0x382C02FF, 0x807F02FF, 0xFF2C0201, 0xFFFF0201)},
    {"unpack bytes", "", V "let v = z + 0x80FF017Fu; let s = unpack4xI8(v); let u = unpack4xU8(v); o[0] = u32(s.x); o[1] = u32(s.y); o[2] = u32(s.z); o[3] = u32(s.w); o[4] = u.z; o[5] = u.w;",
     1, 1, WANT(127, 1, NEG(1), NEG(128), 255, 128)},
    {"vector operators", "", V "let a = vec3<u32>(z + 1u, 2u, 3u); let b = a * 2u + vec3<u32>(10u); let c = 100u - b; o[0] = b.x; o[1] = b.y; o[2] = b.z; o[3] = c.z; let d = a.zyx; o[4] = d.x; let e = a.xx; o[5] = e.y;",
     1, 1, WANT(12, 14, 16, 84, 3, 1)},
    {"vector comparison", "", V "let a = vec3<i32>(i32(z), 5, -5); let b = a < vec3<i32>(1, 1, 1); o[0] = u32(b.x); o[1] = u32(b.y); o[2] = u32(b.z); let c = select(vec3<i32>(7), a, b); o[3] = u32(c.y); o[4] = u32(c.z);",
     1, 1, WANT(1, 0, 1, 7, NEG(5))},
    {"compound assignment", "", V "var v = z + 10u; v += 5u; v -= 3u; v *= 4u; v /= 5u; o[0] = v; v %= 4u; o[1] = v; v <<= 3u; o[2] = v; v |= 7u; o[3] = v; v &= 5u; o[4] = v; v ^= 1u; o[5] = v; v >>= 1u; o[6] = v;",
     1, 1, WANT(9, 1, 8, 15, 5, 4, 2)},
    {"increment", "", "var v = 5u; v++; o[0] = v; v--; v--; o[1] = v; o[2] = 7u; o[2]++;", 1, 1, WANT(6, 4, 8)},
    {"conversions", "", V "let s = i32(z) - 1; o[0] = u32(s); o[1] = u32(i32(z + 0xFFFFFFFEu)); o[2] = u32(bool(s)); o[3] = u32(i32(true));", 1, 1,
     WANT(0xFFFFFFFF, 0xFFFFFFFE, 1, 1)},
    {"bitcast vectors", "", V "let v = bitcast<vec2<i32>>(vec2<u32>(z - 1u, 5u)); o[0] = u32(v.x); o[1] = u32(v.y); let f2 = bitcast<vec2<f32>>(vec2<u32>(0x3F800000u + z, 0x40000000u)); f[0] = f2.x + f2.y; o[2] = u32(f2.x + f2.y);",
     1, 1, WANT(0xFFFFFFFF, 5, 3)},
    {"override", "override k: u32 = 5u; @id(7) override m: i32 = -2; override both = k * 2u;", "o[0] = k; o[1] = u32(m); o[2] = both;", 1, 1, WANT(5, NEG(2), 10)},
    {"module constants", "const a = 3; const b = a * 4 + 1; const c = vec2<u32>(7u, 8u);", "o[0] = u32(b); o[1] = c.y; const d = b - 3; o[2] = u32(d);", 1, 1, WANT(13, 8, 10)},
};

static void all(void **state) {
    (void)state;
    uint32_t bad = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) bad += !harness_check(&cases[k]);
    assert_int_equal(bad, 0);
}

/* The same operators lane by lane against C, over values that meet every edge. */
static void lanes_agree_with_c(void **state) {
    (void)state;
    static const uint32_t v[] = {0, 1, 2, 3, 7, 31, 32, 33, 255, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 1000003, 12345};
    enum { N = sizeof v / sizeof *v };
    for (uint32_t isa = 1; isa <= 3; isa++)
        for (uint32_t y = 0; y < N; y++) {
            _Alignas(64) uint32_t a[N], b[N], d[N];
            for (uint32_t k = 0; k < N; k++) a[k] = v[k], b[k] = v[y];
#define AGREE(op, expr) \
    gr_lane_row(isa, LANE_F32, LANE_##op)->form[LANE_VV](d, a, b, b, N); \
    for (uint32_t k = 0; k < N; k++) { \
        uint32_t x = a[k], w = b[k]; \
        int64_t sx = (int32_t)x, sw = (int32_t)w; \
        (void)sx, (void)sw; \
        assert_int_equal(d[k], (uint32_t)(expr)); \
    }
            AGREE(ADD_I, x + w)
            AGREE(MUL_I, x * w)
            AGREE(DIV_U, w ? x / w : x)
            AGREE(MOD_U, w ? x % w : 0)
            AGREE(DIV_S, w ? sx / sw : sx)
            AGREE(MOD_S, w ? sx % sw : 0)
            AGREE(SHL, x << (w & 31))
            AGREE(SHR_S, sx >> (w & 31))
            AGREE(MIN_S, sx < sw ? sx : sw)
            AGREE(MAX_U, x > w ? x : w)
            AGREE(LT_S, sx < sw ? ~0u : 0)
            AGREE(LE_U, x <= w ? ~0u : 0)
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(lanes_agree_with_c)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
