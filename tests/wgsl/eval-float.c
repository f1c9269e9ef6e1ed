/* Float operators and builtins: programs with exact f32 results. z is 0 at run time. */
#include "wgsl/eval-harness.h"

#define WANT(...) sizeof((uint32_t[]){__VA_ARGS__}) / 4, {__VA_ARGS__}, false
#define FLOATS(...) sizeof((uint32_t[]){__VA_ARGS__}) / 4, {__VA_ARGS__}, true
static const harness_case cases[] = {
    {"arithmetic", "", "let z = x[4]; f[0] = z + 1.5; f[1] = z - 0.1; f[2] = (z + 0.1) * 3.0; f[3] = (z + 1.0) / 3.0; f[4] = -(z + 2.0);", 1, 1, FLOATS(0x3FC00000, 0xBDCCCCCD, 0x3E99999A, 0x3EAAAAAB, 0xC0000000)},
    {"rounding is once", "", "let z = x[4]; f[0] = (z + 16777216.0) + 1.0; f[1] = (z + 1.0) + 5.9604645e-8; f[2] = (z + 1.0) + 1.1920929e-7;", 1, 1, FLOATS(0x4B800000, 0x3F800000, 0x3F800001)},
    {"no contraction", "", "let z = x[4]; let a = z + 1.000000238418579; f[0] = a * a - 1.0; f[1] = fma(a, a, -1.0);", 1, 1, FLOATS(0x35000000, 0x35000001)},
    {"infinities and nan", "", "let z = x[4]; f[0] = 1.0 / z; f[1] = -1.0 / z; f[2] = z / z; f[3] = (z + 3e38) * 10.0; f[4] = f[0] - f[0];", 1, 1, FLOATS(0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800000, 0x7FC00000)},
    {"signed zero", "", "let z = x[4]; f[0] = -z; f[1] = z * -1.0; f[2] = (-z) + z; f[3] = abs(-z);", 1, 1, FLOATS(0x80000000, 0x80000000, 0x00000000, 0x00000000)},
    {"subnormals stay", "", "let z = x[4]; f[0] = (z + 1e-38) * 0.01; f[1] = (z + 1.4e-45) * 1.0;", 1, 1, FLOATS(0x116c2, 0x00000001)},
    {"remainder", "", "let z = x[4]; f[0] = (z + 7.5) % 2.0; f[1] = (z - 7.5) % 2.0; f[2] = (z + 7.5) % -2.0; f[3] = (z + 1e10) % 3.0; f[4] = (z + 1.0) % z;", 1, 1, FLOATS(0x3FC00000, 0xBFC00000, 0x3FC00000, 0x3F800000, 0x7FC00000)},
    {"comparison", "", "let z = x[4]; let n = z / z; o[0] = u32(z < 1.0); o[1] = u32(n < 1.0); o[2] = u32(n >= 1.0); o[3] = u32(n == n); o[4] = u32(n != n); o[5] = u32(-z == z); o[6] = u32(z >= 0.0); o[7] = u32(z > 0.0);", 1, 1, WANT(0x1, 0x0, 0x0, 0x0, 0x1, 0x1, 0x1, 0x0)},
    {"min max", "", "let z = x[4]; let n = z / z; f[0] = min(z + 1.0, z + 2.0); f[1] = max(z + 1.0, z + 2.0); f[2] = min(n, z + 3.0); f[3] = max(z + 3.0, n); f[4] = min(n, n); f[5] = min(z, -z); f[6] = min(-z, z);", 1, 1, FLOATS(0x3F800000, 0x40000000, 0x40400000, 0x40400000, 0x7FC00000, 0x00000000, 0x80000000)},
    {"clamp saturate", "", "let z = x[4]; f[0] = clamp(z + 5.0, 1.0, 3.0); f[1] = clamp(z - 5.0, 1.0, 3.0); f[2] = saturate(z + 7.0); f[3] = saturate(z - 7.0); f[4] = saturate(z + 0.25);", 1, 1, FLOATS(0x40400000, 0x3F800000, 0x3F800000, 0x00000000, 0x3E800000)},
    {"floor", "", "let z = x[4]; f[0] = floor(z + 1.5); f[1] = floor(z - 1.5); f[2] = floor(-z); f[3] = floor(z - 0.25); f[4] = floor(z + 8388609.0); f[5] = floor(z + 3e30);", 1, 1, FLOATS(0x3F800000, 0xC0000000, 0x80000000, 0xBF800000, 0x4B000001, 0x72177617)},
    {"ceil", "", "let z = x[4]; f[0] = ceil(z + 1.5); f[1] = ceil(z - 1.5); f[2] = ceil(z - 0.25); f[3] = ceil(z + 2.0);", 1, 1, FLOATS(0x40000000, 0xBF800000, 0x80000000, 0x40000000)},
    {"trunc", "", "let z = x[4]; f[0] = trunc(z + 1.75); f[1] = trunc(z - 1.75); f[2] = trunc(z - 0.25);", 1, 1, FLOATS(0x3F800000, 0xBF800000, 0x80000000)},
    {"round to even", "", "let z = x[4]; f[0] = round(z + 0.5); f[1] = round(z + 1.5); f[2] = round(z + 2.5); f[3] = round(z - 0.5); f[4] = round(z - 1.5); f[5] = round(z + 2.6); f[6] = round(z + 4194304.5);", 1, 1, FLOATS(0x00000000, 0x40000000, 0x40000000, 0x80000000, 0xC0000000, 0x40400000, 0x4A800000)},
    {"fract", "", "let z = x[4]; f[0] = fract(z + 1.25); f[1] = fract(z - 1.25);", 1, 1, FLOATS(0x3E800000, 0x3F400000)},
    {"sign", "", "let z = x[4]; f[0] = sign(z + 4.0); f[1] = sign(z - 4.0); f[2] = sign(z);", 1, 1, FLOATS(0x3F800000, 0xBF800000, 0x00000000)},
    {"sqrt", "", "let z = x[4]; f[0] = sqrt(z + 2.0); f[1] = sqrt(z - 1.0); f[2] = inverseSqrt(z + 4.0); f[3] = sqrt(z);", 1, 1, FLOATS(0x3FB504F3, 0x7FC00000, 0x3F000000, 0x00000000)},
    {"exponentials", "", "let z = x[4]; f[0] = exp(z + 1.0); f[1] = exp2(z + 0.5); f[2] = log(z + 10.0); f[3] = log2(z + 8.0); f[4] = pow(z + 2.0, 0.5); f[5] = exp(z + 100.0); f[6] = log(z);", 1, 1, FLOATS(0x402DF854, 0x3FB504F3, 0x40135D8E, 0x40400000, 0x3FB504F3, 0x7F800000, 0xFF800000)},
    {"trigonometry", "", "let z = x[4]; f[0] = sin(z + 1.0); f[1] = cos(z + 1.0); f[2] = tan(z + 1.0); f[3] = asin(z + 0.5); f[4] = acos(z + 0.5); f[5] = atan(z + 2.0); f[6] = atan2(z - 1.0, z - 2.0);", 1, 1, FLOATS(0x3F576AA4, 0x3F0A5140, 0x3FC75923, 0x3F060A92, 0x3F860A92, 0x3F8DB70D, 0xC02B6374)},
    {"hyperbolic", "", "let z = x[4]; f[0] = sinh(z + 1.0); f[1] = cosh(z + 1.0); f[2] = tanh(z + 1.0); f[3] = asinh(z + 1.0); f[4] = acosh(z + 2.0); f[5] = atanh(z + 0.5);", 1, 1, FLOATS(0x3F966CFE, 0x3FC583AB, 0x3F42F7D6, 0x3F61A1B3, 0x3FA89214, 0x3F0C9F54)},
    {"degrees", "", "let z = x[4]; f[0] = degrees(z + 1.0); f[1] = radians(z + 90.0);", 1, 1, FLOATS(0x42652EE1, 0x3FC90FDB)},
    {"ldexp", "", "let z = x[4]; f[0] = ldexp(z + 1.5, 4); f[1] = ldexp(z + 1.0, i32(z) - 149); f[2] = ldexp(z + 1.0, i32(z) + 200); f[3] = ldexp(z + 3.0, -2);", 1, 1, FLOATS(0x41C00000, 0x00000001, 0x7F800000, 0x3F400000)},
    {"frexp", "", "let z = x[4]; let r = frexp(z + 12.0); f[0] = r.fract; f[1] = f32(r.exp); let v = frexp(vec2<f32>(z + 0.5, z - 3.0)); f[2] = v.fract.y; f[3] = f32(v.exp.x); f[4] = frexp(z).fract;", 1, 1, FLOATS(0x3F400000, 0x40800000, 0xBF400000, 0x00000000, 0x00000000)},
    {"modf", "", "let z = x[4]; let r = modf(z - 2.75); f[0] = r.fract; f[1] = r.whole; let v = modf(vec2<f32>(z + 1.5, z + 3.0)); f[2] = v.fract.x; f[3] = v.whole.y;", 1, 1, FLOATS(0xBF400000, 0xC0000000, 0x3F000000, 0x40400000)},
    {"step smoothstep mix", "", "let z = x[4]; f[0] = step(z + 1.0, 0.5); f[1] = step(z + 1.0, 1.0); f[2] = smoothstep(z, 2.0, 1.0); f[3] = smoothstep(z, 2.0, 3.0); f[4] = mix(z + 1.0, 3.0, 0.25); let m = mix(vec2<f32>(z), vec2<f32>(4.0, 8.0), 0.5); f[5] = m.x; f[6] = m.y;", 1, 1, FLOATS(0x00000000, 0x3F800000, 0x3F000000, 0x3F800000, 0x3FC00000, 0x40000000, 0x40800000)},
    {"float to integer", "", "let z = x[4]; o[0] = u32(i32(z + 3.9)); o[1] = u32(i32(z - 3.9)); o[2] = u32(i32(z + 3e10)); o[3] = u32(i32(z - 3e10)); o[4] = u32(i32(z / z)); o[5] = u32(z + 4.9); o[6] = u32(z - 4.9); o[7] = u32(z + 5e9); o[8] = u32(z + 4294967040.0); o[9] = u32(z + 2147483648.0); o[10] = u32(i32(z + 2147483520.0));", 1, 1, WANT(0x3, 0xfffffffd, 0x7fffff80, 0x80000000, 0x0, 0x4, 0x0, 0xffffff00, 0xffffff00, 0x80000000, 0x7fffff80)},
    {"integer to float", "", "let z = x[4]; let k = u32(z); f[0] = f32(k + 16777217u); f[1] = f32(i32(k) - 16777217); f[2] = f32(k + 4294967295u); f[3] = f32(k + 4294967167u); f[4] = f32(i32(k) - 2147483647); f[5] = f32(k == 0u);", 1, 1, FLOATS(0x4B800000, 0xCB800000, 0x4F800000, 0x4F7FFFFF, 0xCF000000, 0x3F800000)},
    {"bool of float", "", "let z = x[4]; o[0] = u32(bool(z)); o[1] = u32(bool(z + 0.1)); o[2] = u32(bool(-z)); o[3] = u32(bool(z / z));", 1, 1, WANT(0x0, 0x1, 0x0, 0x1)},
    {"bitcast", "", "let z = x[4]; o[0] = bitcast<u32>(z + 1.0); o[1] = bitcast<u32>(z / z); o[2] = bitcast<u32>(-z); o[3] = u32(bitcast<f32>(u32(z) + 0x40A00000u));", 1, 1, WANT(0x3f800000, 0x7fc00000, 0x80000000, 0x5)},
    {"nan is canonical when bitcast", "", "let z = x[4]; let n = bitcast<f32>(u32(z) + 0xFFC12345u); o[0] = bitcast<u32>(n); f[0] = n; o[1] = bitcast<u32>(f[0]);", 1, 1, WANT(0x7fc00000, 0x7fc00000)},
    {"quantize", "", "let z = x[4]; o[0] = bitcast<u32>(quantizeToF16(z + 1.0005)); o[1] = bitcast<u32>(quantizeToF16(z + 0.1));", 1, 1, WANT(0x3F802000, 0x3DCCC000)},
    {"pack 16", "", "let z = x[4]; o[0] = pack2x16float(vec2<f32>(z + 1.0, z - 2.0)); o[1] = pack2x16snorm(vec2<f32>(z + 1.0, z - 0.5)); o[2] = pack2x16unorm(vec2<f32>(z + 1.0, z + 0.5));", 1, 1, WANT(0xc0003c00, 0xc0017fff, 0x8000ffff)},
    {"pack 8", "", "let z = x[4]; o[0] = pack4x8snorm(vec4<f32>(z + 1.0, z - 1.0, z + 0.5, z)); o[1] = pack4x8unorm(vec4<f32>(z + 1.0, z + 2.0, z + 0.5, z - 1.0));", 1, 1, WANT(0x40817f, 0x80ffff)},
    {"unpack", "", "let z = x[4]; let k = u32(z); let a = unpack2x16float(k + 0xC0003C00u); f[0] = a.x; f[1] = a.y; let b = unpack4x8snorm(k + 0x0080817Fu); f[2] = b.x; f[3] = b.y; f[4] = b.z; let d = unpack4x8unorm(k + 0x33u); f[5] = d.x; let e = unpack2x16unorm(k + 0xFFFF0000u); f[6] = e.y; f[7] = unpack2x16snorm(k + 0x8000u).x;", 1, 1, FLOATS(0x3F800000, 0xC0000000, 0x3F800000, 0xBF800000, 0xBF800000, 0x3E4CCCCD, 0x3F800000, 0xBF800000)},
    {"geometry", "", "let z = x[4]; let a = vec3<f32>(z + 3.0, 4.0, 0.0); f[0] = length(a); f[1] = dot(a, vec3<f32>(1.0, 2.0, 3.0)); let n = normalize(a); f[2] = n.x; f[3] = distance(a, vec3<f32>(3.0, 0.0, 0.0)); let k = cross(vec3<f32>(z + 1.0, 0.0, 0.0), vec3<f32>(0.0, 1.0, 0.0)); f[4] = k.z; f[5] = length(z - 3.0);", 1, 1, FLOATS(0x40A00000, 0x41300000, 0x3F19999A, 0x40800000, 0x3F800000, 0x40400000)},
    {"reflect refract", "", "let z = x[4]; let r = reflect(vec2<f32>(z + 1.0, -1.0), vec2<f32>(0.0, 1.0)); f[0] = r.x; f[1] = r.y; let t = refract(vec2<f32>(z, -1.0), vec2<f32>(0.0, 1.0), 1.0); f[2] = t.y; let q = refract(vec2<f32>(z + 1.0, 0.0), vec2<f32>(0.0, 1.0), 2.0); f[3] = q.x; let w2 = faceForward(vec2<f32>(z + 1.0, 2.0), vec2<f32>(1.0, 0.0), vec2<f32>(1.0, 0.0)); f[4] = w2.y;", 1, 1, FLOATS(0x3F800000, 0x3F800000, 0xBF800000, 0x00000000, 0xC0000000)},
    {"matrix", "", "let z = x[4]; let m = mat2x2<f32>(z + 1.0, 2.0, 3.0, 4.0); let v = m * vec2<f32>(1.0, 1.0); f[0] = v.x; f[1] = v.y; let r = vec2<f32>(1.0, 1.0) * m; f[2] = r.x; f[3] = r.y; let p = m * m; f[4] = p[0][0]; f[5] = p[1][1]; f[6] = determinant(m); f[7] = transpose(m)[0][1];", 1, 1, FLOATS(0x40800000, 0x40C00000, 0x40400000, 0x40E00000, 0x40E00000, 0x41B00000, 0xC0000000, 0x40400000)},
    {"matrix shapes", "", "let z = x[4]; let a = mat3x2<f32>(z + 1.0, 2.0, 3.0, 4.0, 5.0, 6.0); let b = mat2x3<f32>(1.0, 0.0, 0.0, 0.0, 1.0, 0.0); let p = a * b; f[0] = p[0][0]; f[1] = p[1][1]; let v = a * vec3<f32>(1.0, 1.0, 1.0); f[2] = v.x; f[3] = v.y; let s = a + a * 2.0; f[4] = s[2].y; let d = a - a; f[5] = d[1].x; f[6] = (3.0 * a)[0].y;", 1, 1, FLOATS(0x3F800000, 0x40800000, 0x41100000, 0x41400000, 0x41900000, 0x00000000, 0x40C00000)},
    {"determinants", "", "let z = x[4]; f[0] = determinant(mat3x3<f32>(z + 2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 4.0)); f[1] = determinant(mat4x4<f32>(z + 1.0, 0.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 5.0, 0.0, 0.0, 6.0));", 1, 1, FLOATS(0x41900000, 0xC2400000)},
    {"swizzles", "", "let z = x[4]; let v = vec4<f32>(z + 1.0, 2.0, 3.0, 4.0); f[0] = v.wzyx.x; f[1] = v.xy.y; f[2] = v.rgba.b; var m = v; m.y = 9.0; f[3] = m.y; m = m.yxwz; f[4] = m.x; f[5] = m.w; f[6] = vec3<f32>(v.xy, 7.0).z;", 1, 1, FLOATS(0x40800000, 0x40000000, 0x40400000, 0x41100000, 0x41100000, 0x40400000, 0x40E00000)},
    {"lanes", "", "f[i] = x[i] * 2.0;", 2, 4, FLOATS(0xC0800000, 0xC0400000, 0xC0000000, 0xBF800000, 0x00000000, 0x3F800000, 0x40000000, 0x40400000)},
};

static void all(void **state) {
    (void)state;
    uint32_t bad = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) bad += !harness_check(&cases[k]);
    assert_int_equal(bad, 0);
}

/* f32 loops of all instruction sets agree bit for bit over values of every class. */
static void suites_agree(void **state) {
    (void)state;
    enum { N = 64 };
    _Alignas(64) uint32_t a[N], b[N], c[N], m[N], want[N], got[N];
    uint32_t s = 12345;
    for (uint32_t round = 0; round < 200; round++) {
        for (uint32_t k = 0; k < N; k++) {
            uint32_t *v[] = {&a[k], &b[k], &c[k]};
            for (int j = 0; j < 3; j++) {
                s = s * 1664525u + 1013904223u;
                *v[j] = s % 7 == 0 ? (s >> 3 & 1 ? 0x7FC00000u : 0xFF800000u) : s % 7 == 1 ? s & 0x807FFFFFu : s % 7 < 4 ? (s & 0x83FFFFFFu) + 0x3E000000u : s;
                if ((*v[j] & 0x7FFFFFFFu) > 0x7F800000u) *v[j] = 0x7FC00000u;
            }
            m[k] = s & 4096 ? ~0u : 0;
        }
        for (uint32_t op = 1; op < LANE_COUNT; op++) {
            const lane_info *info = gr_lane_info(op);
            if (info->shape == LANE_CALL) continue;
            const void *third = info->c == 'I' && op != LANE_EXTRACT_S && op != LANE_EXTRACT_U && op != LANE_INSERT ? m : c;
            for (int form = 0; form < LANE_FORMS; form++) {
                if (!gr_lane_row(1, LANE_F32, op)->form[form]) continue;
                gr_lane_row(1, LANE_F32, op)->form[form](want, a, b, third, N);
                for (uint32_t isa = 2; isa <= 3; isa++) {
                    gr_lane_row(isa, LANE_F32, op)->form[form](got, a, b, third, N);
                    for (uint32_t k = 0; k < N; k++) {
                        bool nan = info->d == 'F' && (got[k] & 0x7FFFFFFFu) > 0x7F800000u && (want[k] & 0x7FFFFFFFu) > 0x7F800000u;
                        if (got[k] != want[k] && !nan) print_message("%s form %d isa %u: %08x %08x: %08x want %08x\n", info->name, form, isa, a[k], b[k], got[k], want[k]);
                        assert_true(nan || got[k] == want[k]);
                    }
                }
            }
        }
    }
}

static void fma_rounds_once(void **state) {
    (void)state;
    enum { N = 16 };
    _Alignas(64) float a[N], b[N], c[N], d[N];
    uint32_t s = 7;
    for (uint32_t round = 0; round < 20000; round++) {
        for (uint32_t k = 0; k < N; k++) {
            float *v[] = {&a[k], &b[k], &c[k]};
            for (int j = 0; j < 3; j++) s = s * 1664525u + 1013904223u, *v[j] = gr_f32_bits((s & 0x807FFFFFu) | (100u + (s >> 23) % 50u) << 23);
            if (k & 1) c[k] = -(a[k] * b[k]);
        }
        gr_lane_row(0, LANE_F32, LANE_FMA)->form[0](d, a, b, c, N);
        for (uint32_t k = 0; k < N; k++) assert_true(d[k] == __builtin_fmaf(a[k], b[k], c[k]));
    }
}

static void f16_rounds_like_base(void **state) {
    (void)state;
    enum { N = 16 };
    _Alignas(64) float a[N], d[N];
    for (uint32_t at = 0; at < 0xFFFFFFFFu - 4099 * N; at += 4099 * N) {
        for (uint32_t k = 0; k < N; k++) a[k] = gr_f32_bits(at + k * 4099);
        gr_lane_row(0, LANE_F32, LANE_ROUND16)->form[0](d, a, a, a, N);
        for (uint32_t k = 0; k < N; k++) {
            float want = gr_f32_from_f16(gr_f16_from_f32(a[k]));
            assert_true(want != want ? d[k] != d[k] : gr_bits_f32(want) == gr_bits_f32(d[k]));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(suites_agree), cmocka_unit_test(fma_rounds_once),
                                       cmocka_unit_test(f16_rounds_like_base)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
