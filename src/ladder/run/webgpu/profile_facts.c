#include "ladder/run/webgpu/profile_int.h"

#include "base/math.h"
#include "base/rng.h"

enum { FACTS_MAX = 40, TRIPLES = 4096 };

typedef struct facts {
    gr_gpu *g;
    gr_diags *d;
    gr_gpu_profile *out;
} facts;

static void fact(facts *f, const char *name, const char *value, const char *about) {
    if (f->out->facts_n < FACTS_MAX) f->out->facts[f->out->facts_n++] = (gr_profile_fact){name, value, about};
}

/* ------------------------------------------------------------- special values */

/* Bits of the operands, read at run time so that nothing is folded. */
enum { NAN_, INF, ZERO, NEG_ZERO, SUBNORMAL, BIG_SCALE, MIN_NORMAL, HALF, LARGEST, TWO, ONE, TINY, ZERO_2, INF_2, OPERANDS };
static const uint32_t operand_bits[OPERANDS] = {
    [NAN_] = 0x7FC00000, [INF] = 0x7F800000,        [ZERO] = 0,          [NEG_ZERO] = 0x80000000,
    [SUBNORMAL] = 0x00080000 /* 2^-130 */,          [BIG_SCALE] = 0x5D800000 /* 2^60 */,
    [MIN_NORMAL] = 0x00800000, [HALF] = 0x3F000000, [LARGEST] = 0x7F7FFFFF, [TWO] = 0x40000000,
    [ONE] = 0x3F800000,        [TINY] = 0x33000000 /* 2^-25 */, [ZERO_2] = 0, [INF_2] = 0x7F800000,
};

enum {
    NAN_NE, NAN_EQ, NAN_LT_ONE, INF_MINUS_INF, NAN_TIMES_ZERO, INF_TIMES_ZERO, ZERO_BY_ZERO, ONE_BY_ZERO, OVERFLOWING, NAN_PLUS_ONE,
    MIN_NAN_ONE, MAX_NAN_ONE, CLAMP_NAN, SUBNORMAL_IN, SUBNORMAL_OUT, SUBNORMAL_ADD, SUBNORMAL_COPY, SUBNORMAL_COMPARE, NEGATED_ZERO,
    ADD_NEG_ZEROS, MIN_ZEROS, TWO_SUM, TWO_SUM_FENCED, PACK_TIE, PACK_ABOVE_TIE, U32_OF_NEGATIVE, I32_OF_BIG, SQRT_NEGATIVE, LOG_ZERO, INF_MINUS_OTHER, MAX_SUBNORMAL, MIN_SUBNORMAL, LOG_SUBNORMAL, RESULTS
};

static const char special_text[] =
    "@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
    "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
    "fn bits(x: f32) -> u32 { return bitcast<u32>(x); }\n"
    "fn fence(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ bitcast<u32>(a[2])); }\n"
    "@compute @workgroup_size(1) fn main() {\n"
    "  let nan = a[0]; let inf = a[1]; let zero = a[2]; let neg_zero = a[3]; let sub = a[4]; let big = a[5];\n"
    "  let min_normal = a[6]; let half = a[7]; let largest = a[8]; let two = a[9]; let one = a[10]; let tiny = a[11];\n"
    "  y[0] = select(0u, 1u, nan != nan);\n"
    "  y[1] = select(0u, 1u, nan == nan);\n"
    "  y[2] = select(0u, 1u, nan < one);\n"
    "  y[3] = bits(inf - inf);\n"
    "  y[4] = bits(nan * zero);\n"
    "  y[5] = bits(inf * zero);\n"
    "  y[6] = bits(zero / a[12]);\n"
    "  y[7] = bits(one / zero);\n"
    "  y[8] = bits(largest * two);\n"
    "  y[9] = bits(nan + one);\n"
    "  y[10] = bits(min(nan, one));\n"
    "  y[11] = bits(max(nan, one));\n"
    "  y[12] = bits(clamp(nan, half, one));\n"
    "  y[13] = bits(sub * big);\n"
    "  y[14] = bits(min_normal * half);\n"
    "  y[15] = bits(sub + sub);\n"
    "  y[16] = bits(a[4]);\n"
    "  y[17] = select(0u, 1u, sub > zero);\n"
    "  y[18] = bits(-zero);\n"
    "  y[19] = bits(neg_zero + neg_zero);\n"
    "  y[20] = bits(min(zero, neg_zero));\n"
    "  let s = one + tiny; let t = s - one; y[21] = bits((one - (s - t)) + (tiny - t));\n"
    "  let fs = fence(one + tiny); let ft = fence(fs - one); let fu = fence(fs - ft);\n"
    "  y[22] = bits(fence(one - fu) + fence(tiny - ft));\n"
    "  y[23] = pack2x16float(vec2<f32>(one + 0.00048828125 * one, zero));\n"
    "  y[24] = pack2x16float(vec2<f32>(one + 0.0006103515625 * one, zero));\n"
    "  y[25] = u32(-two);\n"
    "  y[26] = bitcast<u32>(i32(largest));\n"
    "  y[27] = bits(sqrt(-one));\n"
    "  y[28] = bits(log(zero));\n"
    "  y[29] = bits(inf - a[13]);\n"
    "  y[30] = bits(max(sub, zero));\n"
    "  y[31] = bits(min(sub, one));\n"
    "  y[32] = bits(log(sub));\n"
    "}\n";

static const char *class_of(uint32_t bits) {
    uint32_t size = bits & 0x7FFFFFFFu;
    if (size > 0x7F800000u) return "nan";
    if (size == 0x7F800000u) return bits >> 31 ? "-infinity" : "infinity";
    if (size == 0x7F7FFFFFu) return bits >> 31 ? "-largest" : "largest";
    if (size == 0) return bits >> 31 ? "-zero" : "zero";
    if (size == 0x3F800000u) return bits >> 31 ? "-one" : "one";
    return size < 0x00800000u ? "subnormal" : "a number";
}

static const char *boolean(uint32_t v) { return v ? "true" : "false"; }
static const char *kept(uint32_t bits) { return bits & 0x7FFFFFFFu ? "kept" : "flushed"; }

static void special_nan(facts *f, const uint32_t *y) {
    fact(f, "nan_not_equal_itself", boolean(y[NAN_NE]), "x != x for a NaN x");
    fact(f, "nan_equal_itself", boolean(y[NAN_EQ]), "x == x for a NaN x");
    fact(f, "nan_less", boolean(y[NAN_LT_ONE]), "x < 1 for a NaN x");
    fact(f, "nan_plus_one", class_of(y[NAN_PLUS_ONE]), "x + 1 for a NaN x");
    fact(f, "nan_times_zero", class_of(y[NAN_TIMES_ZERO]), "x * 0 for a NaN x");
    fact(f, "min_with_nan", class_of(y[MIN_NAN_ONE]), "min(x, 1) for a NaN x");
    fact(f, "max_with_nan", class_of(y[MAX_NAN_ONE]), "max(x, 1) for a NaN x");
    fact(f, "clamp_nan", class_of(y[CLAMP_NAN]), "clamp(x, 0.5, 1) for a NaN x");
    fact(f, "infinity_minus_itself", class_of(y[INF_MINUS_INF]), "x - x for infinity");
    fact(f, "infinity_difference", class_of(y[INF_MINUS_OTHER]), "x - y for two infinities");
    fact(f, "infinity_times_zero", class_of(y[INF_TIMES_ZERO]), "x * 0 for infinity");
    fact(f, "zero_by_zero", class_of(y[ZERO_BY_ZERO]), "0 / 0");
    fact(f, "one_by_zero", class_of(y[ONE_BY_ZERO]), "1 / 0");
    fact(f, "overflow", class_of(y[OVERFLOWING]), "2 * the largest finite f32");
    fact(f, "sqrt_of_negative", class_of(y[SQRT_NEGATIVE]), "sqrt(-1)");
    fact(f, "log_of_zero", class_of(y[LOG_ZERO]), "log(0)");
}

static void special_rest(facts *f, const uint32_t *y) {
    fact(f, "subnormal_operands", kept(y[SUBNORMAL_IN]), "2^-130 * 2^60");
    fact(f, "subnormal_results", kept(y[SUBNORMAL_OUT]), "2^-126 * 0.5");
    fact(f, "subnormal_sums", kept(y[SUBNORMAL_ADD]), "2^-130 + 2^-130");
    fact(f, "subnormal_copies", kept(y[SUBNORMAL_COPY]), "load and store of 2^-130");
    fact(f, "subnormal_compares", boolean(y[SUBNORMAL_COMPARE]), "2^-130 > 0");
    fact(f, "subnormal_max", kept(y[MAX_SUBNORMAL]), "max(2^-130, 0)");
    fact(f, "subnormal_min", kept(y[MIN_SUBNORMAL]), "min(2^-130, 1)");
    fact(f, "log_of_subnormal", class_of(y[LOG_SUBNORMAL]), "log(2^-130)");
    fact(f, "negated_zero", class_of(y[NEGATED_ZERO]), "-x for 0");
    fact(f, "sum_of_negative_zeros", class_of(y[ADD_NEG_ZEROS]), "(-0) + (-0)");
    fact(f, "min_of_zeros", class_of(y[MIN_ZEROS]), "min(0, -0)");
    fact(f, "two_sum", y[TWO_SUM] == operand_bits[TINY] ? "kept" : "optimised away", "the error term of 1 + 2^-25 by Knuth's TwoSum");
    fact(f, "two_sum_fenced", y[TWO_SUM_FENCED] == operand_bits[TINY] ? "kept" : "wrong", "the same with bitcast(bitcast(v) ^ runtime zero) between");
    bool tie_even = (y[PACK_TIE] & 0xFFFF) == 0x3C00, above_up = (y[PACK_ABOVE_TIE] & 0xFFFF) == 0x3C01;
    fact(f, "pack2x16float", tie_even && above_up ? "nearest even" : above_up ? "nearest, ties up" : "toward zero", "rounding of f32 to f16");
    fact(f, "u32_of_negative", y[U32_OF_NEGATIVE] == 0 ? "clamped" : "not clamped", "u32(-2.0)");
    fact(f, "i32_of_large", y[I32_OF_BIG] == 0x7FFFFF80u || y[I32_OF_BIG] == 0x7FFFFFFFu ? "clamped" : "not clamped", "i32 of the largest f32");
    f->out->flushes_subnormals = !(y[SUBNORMAL_IN] & 0x7FFFFFFF) || !(y[SUBNORMAL_OUT] & 0x7FFFFFFF) || !(y[SUBNORMAL_ADD] & 0x7FFFFFFF);
    f->out->flushes_selections = !y[SUBNORMAL_COMPARE] || !(y[MAX_SUBNORMAL] & 0x7FFFFFFF) || !(y[MIN_SUBNORMAL] & 0x7FFFFFFF);
}

static bool special(facts *f) {
    uint32_t a[OPERANDS], y[RESULTS] = {0};
    memcpy(a, operand_bits, sizeof a);
    gr_gpu_arg args[] = {{0, 0, GR_GPU_READ, a, sizeof a}, {0, 1, GR_GPU_READ_WRITE, y, sizeof y}};
    GR_TRY(gr_gpu_run_wgsl(f->g, GR_STR("profile/special.wgsl"), GR_STR(special_text), GR_STR("main"), NULL, 0, args, 2, (uint32_t[]){1, 1, 1}, f->d));
    special_nan(f, y);
    special_rest(f, y);
    return true;
}

/* ---------------------------------------------------------------- contraction */

/* Two modules: where a product is also stored, a compiler has no reason to fuse it. */
#define CONTRACT_HEAD                                                          \
    "@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;\n"          \
    "@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;\n"    \
    "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n  let v = a[id.x];\n"
static const char contract_text[] = CONTRACT_HEAD "  y[id.x].x = v.x * v.y + v.z;\n}\n";
static const char others_text[] = CONTRACT_HEAD "  y[id.x].y = fma(v.x, v.y, v.z);\n  y[id.x].z = v.x * v.y;\n  y[id.x].w = v.x + v.y;\n}\n";

static const char *share(uint32_t n, uint32_t of, const char *all, const char *none) { return n == of ? all : n == 0 ? none : "mixed"; }

typedef struct tally { uint32_t decisive, fused, fma_fused, products, sums; } tally;

static void count_triple(tally *t, const float *v, const float *y) {
    double x = (double)v[0], m = (double)v[1], c = (double)v[2];
    float product = (float)(x * m); /* exact in f64, so rounded once */
    float separate = (float)((double)product + c), fused = (float)gr_fma(x, m, c);
    t->products += gr_bits_f32(y[2]) == gr_bits_f32(product);
    t->sums += gr_bits_f32(y[3]) == gr_bits_f32((float)(x + m));
    if (separate == fused) return;
    t->decisive++;
    t->fused += y[0] == fused;
    t->fma_fused += y[1] == fused;
}

static bool contraction(facts *f) {
    float *a = gr_heap_alloc(TRIPLES * 4, sizeof *a), *y = gr_heap_alloc(TRIPLES * 4, sizeof *y);
    if (!a || !y) {
        gr_heap_free(a);
        gr_heap_free(y);
        return gr_report_oom(f->d);
    }
    gr_rng r = gr_rng_seed(11);
    for (int i = 0; i < TRIPLES * 4; i++) a[i] = 1 + gr_rng_f32(&r);
    for (int i = 0; i < TRIPLES; i++) a[4 * i + 2] = -a[4 * i] * a[4 * i + 1] * (1 + (gr_rng_f32(&r) - 0.5f) * 1e-3f);
    gr_gpu_arg args[] = {{0, 0, GR_GPU_READ, a, TRIPLES * 16}, {0, 1, GR_GPU_READ_WRITE, y, TRIPLES * 16}};
    const uint32_t grid[3] = {TRIPLES / 64, 1, 1};
    bool ok = gr_gpu_run_wgsl(f->g, GR_STR("profile/contraction.wgsl"), GR_STR(contract_text), GR_STR("main"), NULL, 0, args, 2, grid, f->d) &&
              gr_gpu_run_wgsl(f->g, GR_STR("profile/fma.wgsl"), GR_STR(others_text), GR_STR("main"), NULL, 0, args, 2, grid, f->d);
    tally t = {0};
    for (int i = 0; ok && i < TRIPLES; i++) count_triple(&t, a + 4 * i, y + 4 * i);
    gr_heap_free(a);
    gr_heap_free(y);
    if (!ok) return false;
    fact(f, "contraction", share(t.fused, t.decisive, "fused", "separate"), "a * b + c where one and two roundings differ");
    fact(f, "fma", share(t.fma_fused, t.decisive, "fused", "separate"), "fma(a, b, c) likewise");
    fact(f, "product_rounding", share(t.products, TRIPLES, "nearest even", "other"), "a * b");
    fact(f, "sum_rounding", share(t.sums, TRIPLES, "nearest even", "other"), "a + b");
    f->out->contracts = t.fused > 0;
    return true;
}

/* ----------------------------------------------------------- f16 and subgroups */

static const char f16_text[] =
    "enable f16;\n"
    "@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
    "@group(0) @binding(1) var<storage, read_write> h: array<f16>;\n"
    "@group(0) @binding(2) var<storage, read_write> y: array<f32>;\n"
    "@compute @workgroup_size(1) fn main() {\n"
    "  for (var i = 0u; i < 4u; i++) { h[i] = f16(a[i]); y[i] = f32(f16(a[i])); }\n"
    "  h[4] = h[3] + h[3];\n"
    "  h[5] = f16(a[3]) * f16(a[4]);\n"
    "}\n";

static bool half(facts *f) {
    if (!gr_gpu_get_info(f->g)->shader_f16) {
        fact(f, "f16", "not available", "the feature shader-f16");
        return true;
    }
    /* a tie (to even: down), just above it, below half of the smallest step, the smallest subnormal; 2^10 */
    float a[5] = {1.00048828125f, 1.0006103515625f, 1.0003662109375f, 5.9604644775390625e-8f, 1024}, y[4] = {0};
    uint16_t h[6] = {0};
    gr_gpu_arg args[] = {{0, 0, GR_GPU_READ, a, sizeof a}, {0, 1, GR_GPU_READ_WRITE, h, sizeof h}, {0, 2, GR_GPU_READ_WRITE, y, sizeof y}};
    GR_TRY(gr_gpu_run_wgsl(f->g, GR_STR("profile/f16.wgsl"), GR_STR(f16_text), GR_STR("main"), NULL, 0, args, 3, (uint32_t[]){1, 1, 1}, f->d));
    bool up = h[1] == 0x3C01;
    fact(f, "f16_store", up && h[0] == 0x3C00 && h[2] == 0x3C00 ? "nearest even" : up ? "nearest, ties up" : "toward zero", "f16(x) through memory");
    fact(f, "f16_in_registers", y[1] == a[1] ? "not rounded" : "rounded", "f32(f16(x)) without memory between");
    fact(f, "f16_subnormals", h[3] == 1 && h[4] == 2 && h[5] == 0x0400 ? "kept" : "flushed", "2^-24 stored, doubled, times 2^10");
    return true;
}

static const char subgroup_text[] =
    "enable subgroups;\n"
    "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n"
    "@compute @workgroup_size(128) fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_size) n: u32) { y[id.x] = n; }\n";

static bool subgroups(facts *f) {
    if (!gr_gpu_get_info(f->g)->subgroups) return true;
    uint32_t y[512] = {0};
    gr_gpu_arg arg = {0, 0, GR_GPU_READ_WRITE, y, sizeof y};
    GR_TRY(gr_gpu_run_wgsl(f->g, GR_STR("profile/subgroups.wgsl"), GR_STR(subgroup_text), GR_STR("main"), NULL, 0, &arg, 1, (uint32_t[]){4, 1, 1}, f->d));
    f->out->subgroup_min = f->out->subgroup_max = y[0];
    for (int i = 0; i < 512; i++) {
        if (y[i] < f->out->subgroup_min) f->out->subgroup_min = y[i];
        if (y[i] > f->out->subgroup_max) f->out->subgroup_max = y[i];
    }
    return true;
}

bool profile_facts(gr_arena *a, gr_diags *d, gr_gpu *g, gr_gpu_profile *out) {
    out->facts = GR_NEW_N(a, gr_profile_fact, FACTS_MAX);
    if (!out->facts) return gr_report_oom(d);
    facts f = {g, d, out};
    return contraction(&f) && special(&f) && half(&f) && subgroups(&f);
}
