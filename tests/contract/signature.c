/* Grammar 1: parsing, printing, and calls with their inferred types. */
#include "kit.h"

/* signature | operands | params | outputs */
static const struct { const char *sig, *operands, *params, *outputs; } good[] = {
    {"windowed_median(x: f32[n]; w: u32 in 1..=31 odd = 7) -> y: f32[n - w + 1]   where n >= w", "f32[108000]", NULL, "f32[107994]"},
    {"windowed_median(x: f32[n]; w: u32 in 1..=31 odd = 7) -> y: f32[n - w + 1]   where n >= w", "f32[7]", NULL, "f32[1]"},
    {"add(a: T[..s], b: T[..t]) -> y: T[broadcast(s, t)]  T in f32, f16, i32, u32", NULL, NULL, NULL},
    {"add(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]  T in f32, f16, i32, u32", "f32[2, 3]; f32[3]", NULL, "f32[2, 3]"},
    {"add(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]  T in f32, f16, i32, u32", "i32[]; i32[4, 1, 0]", NULL, "i32[4, 1, 0]"},
    {"matmul(a: T[..s, m, k], b: T[..t, k, n]) -> y: T[..broadcast(s, t), m, n]  T in f32, f16", "f16[5, 1, 2, 3]; f16[7, 3, 4]", NULL, "f16[5, 7, 2, 4]"},
    {"reduce_sum(x: T[..s]; axes: u32[*] = all, keep_dimensions: bool = false) -> y: T[..drop(s, axes, keep_dimensions)]", "f32[2, 3, 4]", NULL, "f32[]"},
    {"reduce_sum(x: T[..s]; axes: u32[*] = all, keep_dimensions: bool = false) -> y: T[..drop(s, axes, keep_dimensions)]", "f32[2, 3, 4]", "{\"axes\":[2,0],\"keep_dimensions\":true}", "f32[1, 3, 1]"},
    {"conv2d(x: T[N, C, H, W], filter: T[O, C / groups, R, S], bias: T[O]?; strides: u32[2] = 1, dilations: u32[2] = 1, padding: u32[4] = 0, groups: u32 = 1) -> "
     "y: T[N, O, (H + padding[0] + padding[1] - (R - 1) * dilations[0] - 1) // strides[0] + 1, (W + padding[2] + padding[3] - (S - 1) * dilations[1] - 1) // strides[1] + 1]",
     "f32[1, 4, 8, 8]; f32[6, 2, 3, 3]; f32[6]", "{\"groups\":2,\"strides\":[2,1],\"padding\":[1,1,1,1]}", "f32[1, 6, 4, 8]"},
    {"conv2d(x: T[N, C, H, W], filter: T[O, C / groups, R, S], bias: T[O]?; groups: u32 = 1) -> y: T[N, O, H - R + 1, W - S + 1]", "f32[1, 4, 8, 8]; f32[6, 4, 3, 3]", NULL, "f32[1, 6, 6, 6]"},
    {"concat(xs: T[..s]*; axis: u32) -> y: T[..concat(s, axis)]", "u8[2, 3]; u8[2, 1]; u8[2, 4]", "{\"axis\":1}", "u8[2, 8]"},
    {"transpose(x: T[..s]; permutation: u32[*] = reverse) -> y: T[..permute(s, permutation)]", "f32[2, 3, 4]", NULL, "f32[4, 3, 2]"},
    {"gather(x: T[..s], indices: I[..i]; axis: u32 = 0) -> y: T[..replace(s, axis, i)]  I in i32, u32, i64", "f32[9, 4]; i64[2, 5]", "{\"axis\":1}", "f32[9, 2, 5]"},
    {"gather(x: T[..s], indices: I[..i]; axis: u32 = 0) -> y: T[..replace(s, axis, i)]  I in i32, u32, i64", "bool[9, 4]; i32[]", NULL, "bool[4]"},
    {"cast(x: T[..s]; type: dtype) -> y: type[..s]", "f32[3]", "{\"type\":\"i8\"}", "i8[3]"},
    {"top_k(x: T[..s, n]; k: u32 in 1..=n) -> values: T[..s, k], indices: i32[..s, k]", "f32[2, 9]", "{\"k\":9}", "f32[2, 9]; i32[2, 9]"},
    {"compact(x: T[n], keep: bool[n]) -> y: T[m <= n]", "f32[8]; bool[8]", NULL, "f32[<= 8]"},
    {"take(x: T[m <= n]; c: u32 = 2) -> y: T[c]", "f32[<= 8]", NULL, "f32[2]"},
    {"split(x: T[..s]; splits: u32[*], axis: u32 = 0) -> ys: T[..split(s, axis, splits)]*", "f32[6, 2]", "{\"splits\":[1,2,3]}", "f32[1, 2]; f32[2, 2]; f32[3, 2]"},
    {"slice(x: T[..s]; starts: u32[*], sizes: u32[*], strides: u32[*] = 1) -> y: T[..slice(s, starts, sizes, strides)]", "f32[6, 5]", "{\"starts\":[1,0],\"sizes\":[5,5],\"strides\":[2,5]}", "f32[3, 1]"},
    {"pad(x: T[..s]; before: u32[*], after: u32[rank(s)], mode: \"constant\" | edge = \"constant\", value: f32 = -inf) -> y: T[..pad(s, before, after)]", "f32[3]", "{\"before\":[1],\"after\":[2],\"mode\":\"edge\"}", "f32[6]"},
    {"fill(; shape: u32[*], value: f32 = 0, type: f32 | i32 = f32) -> y: type[..shape]", "", "{\"shape\":[2,0]}", "f32[2, 0]"},
    {"adam(p: f32[..s], g: f32[..s]; rate: f32 in 0.. = 1e-3, step: u32 in 1..) -> p: f32[..s]", "f32[3]; f32[3]", "{\"step\":1}", "f32[3]"},
    {"gru(x: T[n, d]; all_steps: bool = false) -> h: T[d], hs: T[n, d] if all_steps", "f32[4, 2]", NULL, "f32[2]; -"},
    {"gru(x: T[n, d]; all_steps: bool = false) -> h: T[d], hs: T[n, d] if all_steps", "f32[4, 2]", "{\"all_steps\":true}", "f32[2]; f32[4, 2]"},
    {"gemm(a: T[p, q], b: T[r, c]; ta: bool = false) -> y: T[if(ta, q, p), c] where if(ta, p, q) == r", "f32[3, 2]; f32[3, 5]", "{\"ta\":true}", "f32[2, 5]"},
    {"norm(x: T[..s], scale: T[s[axis]]; axis: u32 = 1) -> y: T[..s]", "f32[4, 7]; f32[7]", NULL, "f32[4, 7]"},
    {"layer(x: T[..s], scale: T[..take(s, axes)]; axes: u32[*] = range(1, rank(s))) -> y: T[..s]", "f32[4, 7, 2]; f32[7, 2]", NULL, "f32[4, 7, 2]"},
    {"resample(x: T[..s]; scales: f32[2] = 2, axes: u32[2] = [2, 3]) -> y: T[..resize(s, axes, [floor(dim(x, axes[0]) * scales[0]), floor(dim(x, axes[1]) * scales[1])])]", "f32[1, 1, 3, 5]", "{\"scales\":[1.5,2]}", "f32[1, 1, 4, 10]"},
    {"pool(x: T[h]; up: bool = false) -> y: T[if(up, h /^ 2, h // 2)]", "f32[5]", "{\"up\":true}", "f32[3]"},
    {"gather_nd(x: T[..s], i: I[..r, k]) -> y: T[..r, ..tail(s, k)]", "f32[4, 5, 6]; u32[7, 2]", NULL, "f32[7, 6]"},
    {"sum_to(x: T[..s]; shape: u32[*]) -> y: T[..sum_to(s, shape)]", "f32[4, 5]", "{\"shape\":[5]}", "f32[5]"},
    {"f(x: T[..s]) -> y: T[..unsqueeze(s, [0, 3])], z: T[..squeeze(s, [1])], w: T[..tile(s, [2, 3])]", "f32[4, 1]", NULL, "f32[1, 4, 1, 1]; f32[4]; f32[8, 3]"},
    {"f(x: T[..s]) -> y: T[..insert(s, 1, 9)], z: T[..join(head(s, 1), reverse(s))], w: T[..expand(s, [3, 4, 2])]", "f32[4, 2]", NULL, "f32[4, 9, 2]; f32[4, 2, 4]; f32[3, 4, 2]"},
    {"add_n(xs: T[..s]*, scale: T[]?) -> y: T[..broadcast(s)]", "f32[4, 1]; f32[3]; -", NULL, "f32[4, 3]"},
    {"two(n: i32[4, w]; w: u32 = 2) -> y: i32[w]", "i32[4, 2]", NULL, "i32[2]"},
    {"same(xs: T[n, ..s]*) -> y: T[n, ..same(s)]", "f32[4, 2]; f32[4, 2]", NULL, "f32[4, 2]"},
    {"one() -> y: f32[]", "", NULL, "f32[]"},
    {"f(x: T[..s]) -> y: T[..unpad(s, [1, 0], [2, 3])], z: T[..untile(s, [2, 3])]", "f32[4, 3]", NULL, "f32[1, 0]; f32[2, 1]"},
    {"f(xs: T[..s]*) -> y: T[..extents(s, 1)]", "f32[4, 3]; f32[4, 5]", NULL, "f32[3, 5]"},
    {"scatter_nd(x: T[..s], at: I[..i, k], u: T[..i, ..tail(s, k)]) -> y: T[..s]", "f32[4, 5, 6]; u32[7, 2]; f32[7, 6]", NULL, "f32[4, 5, 6]"},
};

static void signatures_give_types(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!good[i].outputs) continue;
        kit k;
        gr_call c;
        gr_buf b = {0};
        kit_open(&k);
        if (!kit_sig(&k, good[i].sig) || !kit_call(&k, good[i].operands, good[i].params, &c)) {
            kit_show(&k);
            fail_msg("%s", good[i].sig);
        }
        kit_outputs(&b, &c);
        if (strcmp(b.p, good[i].outputs) != 0) fail_msg("%s: %s, not %s", good[i].sig, b.p, good[i].outputs);
        gr_buf_free(&b);
        kit_close(&k);
    }
}

static void printing_is_canonical(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!good[i].outputs) continue;
        kit k;
        gr_sig again;
        gr_buf b = {0}, c = {0};
        kit_open(&k);
        assert_true(kit_sig(&k, good[i].sig));
        gr_sig_print(&b, &k.op.sig);
        assert_true(gr_sig_parse(&k.a, &k.d, GR_STR("again"), gr_buf_view(&b), &again));
        gr_sig_print(&c, &again);
        assert_string_equal(b.p, c.p);
        gr_buf_free(&b);
        gr_buf_free(&c);
        kit_close(&k);
    }
}

static void symbols_are_kept(void **state) {
    (void)state;
    kit k;
    gr_call c;
    gr_buf b = {0};
    kit_open(&k);
    assert_true(kit_sig(&k, good[0].sig));
    gr_type x = {.dtype = GR_DTYPE_F32, .rank = 1, .dim = {{108000, GR_STR("N"), 0}}};
    assert_true(gr_call_resolve(&k.a, &k.d, &k.op, &x, 1, NULL, 0, gr_place_doc("call"), &c));
    kit_outputs(&b, &c);
    assert_string_equal(b.p, "f32[N - 6 = 107994]");
    x.dim[0] = (gr_dim){107994, GR_STR("N"), -6};
    assert_true(gr_call_resolve(&k.a, &k.d, &k.op, &x, 1, NULL, 0, gr_place_doc("call"), &c));
    kit_outputs(&b, &c);
    assert_string_equal(b.p, "f32[N - 12 = 107988]");
    gr_buf_free(&b);
    kit_close(&k);
}

typedef struct bad_call { const char *sig, *operands, *params; gr_diag_name name; const char *text; } bad_call;
#define MEDIAN "m(x: f32[n]; w: u32 in 1..=31 odd = 7) -> y: f32[n - w + 1]"
#define ADD "add(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)] T in f32, i32"
#define SUM "r(x: T[..s]; axes: u32[*] = all, keep: bool = false) -> y: T[..drop(s, axes, keep)]"
static const bad_call bad_calls[] = {
    {MEDIAN, "f32[3]", NULL, GR_D_CONTRACT_UNDERFLOW, "dimension 0 of y: n - w + 1 is -3, below zero: n - w is 3 - 7; n = 3 (dimension 0 of x), w = 7 (parameter, its default)"},
    {MEDIAN " where n >= w", "f32[6]", NULL, GR_D_CONTRACT_WHERE_FALSE, "n >= w does not hold; n = 6 (dimension 0 of x), w = 7"},
    {MEDIAN, "f32[9]", "{\"w\":8}", GR_D_CONTRACT_PARAMETER_RANGE, "is 8, it must be 1 to 31 and odd"},
    {MEDIAN, "f32[99]", "{\"w\":33}", GR_D_CONTRACT_PARAMETER_RANGE, "is 33"},
    {MEDIAN, "f32[9]", "{\"w\":-1}", GR_D_CONTRACT_PARAMETER_RANGE, "no u32"},
    {MEDIAN, "f32[9]", "{\"w\":1.5}", GR_D_CONTRACT_PARAMETER_TYPE, "no integer"},
    {MEDIAN, "f32[9]", "{\"w\":\"7\"}", GR_D_CONTRACT_PARAMETER_TYPE, "takes an integer"},
    {MEDIAN, "f32[9]", "{\"v\":7}", GR_D_CONTRACT_PARAMETER_UNKNOWN, "no parameter v"},
    {MEDIAN, "f32[9]", "{\"w\":4294967296}", GR_D_CONTRACT_PARAMETER_RANGE, "no u32"},
    {MEDIAN, "f32[9, 2]", NULL, GR_D_CONTRACT_OPERAND_RANK, "operand x is f32[9, 2], it takes 1 dimension"},
    {MEDIAN, "i32[9]", NULL, GR_D_CONTRACT_OPERAND_DTYPE, "operand x is i32, it takes f32"},
    {MEDIAN, "f32[9]; f32[9]", NULL, GR_D_CONTRACT_OPERAND_COUNT, "2 operands are given, it takes 1: x"},
    {MEDIAN, "f32[<= 9]", NULL, GR_D_CONTRACT_OPERAND_BOUNDED, "operand x has a count"},
    {ADD, "f32[2]; i32[2]", NULL, GR_D_CONTRACT_OPERAND_DTYPE, "operand b is i32, but T is f32 from operand a"},
    {ADD, "f16[2]; f16[2]", NULL, GR_D_CONTRACT_OPERAND_DTYPE, "operand a is f16, it takes f32, i32"},
    {ADD, "f32[2]; f32[3]", NULL, GR_D_CONTRACT_NOT_BROADCASTABLE, "[2] and [3]: 2 meets 3"},
    {ADD, "f32[2]", NULL, GR_D_CONTRACT_OPERAND_COUNT, "1 operands are given, it takes 2: a, b"},
    {SUM, "f32[2, 3]", "{\"axes\":[2]}", GR_D_CONTRACT_AXIS_OUT_OF_RANGE, "axis 2 of a shape with 2 dimensions"},
    {SUM, "f32[2, 3]", "{\"axes\":[1,1]}", GR_D_CONTRACT_AXIS_REPEATED, "axis 1 is named twice in [1, 1]"},
    {SUM, "f32[2, 3]", "{\"keep\":1}", GR_D_CONTRACT_PARAMETER_TYPE, "true or false"},
    {"mm(a: T[m, k], b: T[k, n]) -> y: T[m, n]", "f32[2, 3]; f32[4, 5]", NULL, GR_D_CONTRACT_OPERAND_DIMENSION, "dimension 0 of b is 4, but k is 3 from dimension 1 of a"},
    {"f(x: T[..s]) -> y: T[..untile(s, [3])]", "f32[4]", NULL, GR_D_CONTRACT_NOT_DIVISIBLE, "is not 3 repetitions"},
    {"f(x: T[..s]) -> y: T[..unpad(s, [3], [2])]", "f32[4]", NULL, GR_D_CONTRACT_SHAPE_MISMATCH, "cannot hold a padding of 3 and 2"},
    {"f(xs: T[..s]*) -> y: T[..extents(s, 2)]", "f32[4, 3]", NULL, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, "axis 2"},
    {"c(x: T[n, c], f: T[o, c / g]; g: u32) -> y: T[o]", "f32[2, 4]; f32[2, 3]", "{\"g\":2}", GR_D_CONTRACT_OPERAND_DIMENSION, "dimension 1 of f: it is 3, but c / g is 2"},
    {"c(x: T[n, c], f: T[o, c / g]; g: u32) -> y: T[o]", "f32[2, 4]; f32[2, 3]", "{\"g\":3}", GR_D_CONTRACT_NOT_DIVISIBLE, "4 / 3 leaves the remainder 1"},
    {"c(x: T[n, c], f: T[o, c / g]; g: u32) -> y: T[o]", "f32[2, 4]; f32[2, 3]", "{\"g\":0}", GR_D_CONTRACT_DIVISION_BY_ZERO, "divides by zero"},
    {"c(x: T[n, c], f: T[o, c / g]; g: u32) -> y: T[o]", "f32[2, 4]; f32[2, 3]", NULL, GR_D_CONTRACT_PARAMETER_MISSING, "the parameter g is needed"},
    {"p(x: f32[h]; r: u32, d: u32) -> y: f32[(h - (r - 1) * d - 1) // 2 + 1]", "f32[3]", "{\"r\":3,\"d\":2}", GR_D_CONTRACT_UNDERFLOW, "below zero"},
    {"e(x: f32[..s]; shape: u32[*]) -> y: f32[..expand(s, shape)]", "f32[2, 3]", "{\"shape\":[4,3]}", GR_D_CONTRACT_NOT_BROADCASTABLE, "[2, 3] does not expand to [4, 3]"},
    {"r(x: f32[..s]; shape: u32[*]) -> y: f32[..reshape(s, shape)]", "f32[2, 3]", "{\"shape\":[4]}", GR_D_CONTRACT_SHAPE_MISMATCH, "[2, 3] has 6 elements, [4] has 4"},
    {"c(xs: T[..s]*; axis: u32) -> y: T[..concat(s, axis)]", "f32[2, 3]; f32[3, 3]", "{\"axis\":1}", GR_D_CONTRACT_SHAPE_MISMATCH, "[2, 3] and [3, 3] cannot be joined along axis 1"},
    {"s(x: T[..s]; splits: u32[*], axis: u32 = 0) -> ys: T[..split(s, axis, splits)]*", "f32[5]", "{\"splits\":[2,2]}", GR_D_CONTRACT_SHAPE_MISMATCH, "add up to 4, dimension 0 is 5"},
    {"s(x: T[..s]; from: u32[*], n: u32[*]) -> y: T[..slice(s, from, n)]", "f32[5]", "{\"from\":[3],\"n\":[3]}", GR_D_CONTRACT_SHAPE_MISMATCH, "start 3 and size 3 leave dimension 0, which is 5"},
    {"t(x: T[..s]; p: u32[*] = reverse) -> y: T[..permute(s, p)]", "f32[5, 4]", "{\"p\":[0]}", GR_D_CONTRACT_SHAPE_MISMATCH, "has 1 entries for 2 dimensions"},
    {"m(x: T[..s]; axes: u32[*] = all) -> y: T[..drop(s, axes, false)] where reduced_size(x, axes) > 0", "f32[5, 0]", NULL, GR_D_CONTRACT_EMPTY_REDUCTION, "nothing to reduce"},
    {"a(x: T[..s]; axis: u32) -> y: i32[..drop(s, axis, false)] where dim(x, axis) > 0", "f32[5, 0]", "{\"axis\":1}", GR_D_CONTRACT_EMPTY_REDUCTION, "nothing to reduce"},
    {"m(x: T[..s]; mode: a | b = a) -> y: T[..s]", "f32[5]", "{\"mode\":\"c\"}", GR_D_CONTRACT_PARAMETER_TYPE, "one of its words"},
    {"c(x: T[..s]; type: dtype) -> y: type[..s]", "f32[5]", "{\"type\":\"f31\"}", GR_D_CONTRACT_PARAMETER_TYPE, "a dtype"},
    {"l(x: T[..s]; k: u32[2] = 1) -> y: T[..s]", "f32[5]", "{\"k\":[1,2,3]}", GR_D_CONTRACT_PARAMETER_TYPE, "has 3 entries, it takes 2"},
    {"f(x: f32[a, b]; k: u32) -> y: f32[a * b * k * k * k * k * k * k * k * k]", "f32[4000000, 4000000]", "{\"k\":4294967295}", GR_D_CONTRACT_OVERFLOW, "too large"},
    {"f(x: f32[a]) -> y: f32[a * 4611686018427387904]", "f32[3]", NULL, GR_D_CONTRACT_OVERFLOW, "a * 4611686018427387904: is too large"},
    {"f(x: f32[..s]) -> y: f32[..s, 1]", "f32[1, 1, 1, 1, 1, 1, 1, 1]", NULL, GR_D_CONTRACT_RANK_TOO_LARGE, "more than 8"},
    {"f(x: f32[..s], y: f32[..s]) -> z: f32[..s]", "f32[1, 2]; f32[2]", NULL, GR_D_CONTRACT_OPERAND_DIMENSION, "the shape of y is [2], but s is [1, 2] from operand x"},
    {"scatter_nd(x: T[..s], at: I[..i, k], u: T[..i, ..tail(s, k)]) -> y: T[..s]", "f32[4, 5, 6]; u32[7, 2]; f32[7, 5]", NULL, GR_D_CONTRACT_OPERAND_DIMENSION, "the shape of u: it is [7, 5], but the signature says [7, 6]"},
    {"cat(xs: T[..s]*) -> y: T[..broadcast(s)]", "", NULL, GR_D_CONTRACT_OPERAND_COUNT, "0 operands are given, it takes 1 or more: xs*"},
};

static void bad_calls_are_explained(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof bad_calls / sizeof *bad_calls; i++) {
        const bad_call *b = &bad_calls[i];
        kit k;
        gr_call c;
        kit_open(&k);
        if (!kit_sig(&k, b->sig)) { kit_show(&k); fail_msg("%s", b->sig); }
        bool ok = kit_call(&k, b->operands, b->params, &c);
        const gr_diag *g = k.d.list.n ? &k.d.list.v[0] : NULL;
        bool same = !ok && g && g->name == b->name && (!b->text || strstr(g->message.p, b->text));
        if (!same) {
            print_error("%s | %s | %s: %s\n", b->sig, b->operands, b->params ? b->params : "", ok ? "accepted" : gr_diag_text(g->name));
            kit_show(&k);
            wrong++;
        }
        kit_close(&k);
    }
    assert_int_equal(wrong, 0);
}

static void names_of_a_call_are_found(void **state) {
    (void)state;
    kit k;
    gr_call c;
    uint64_t n, dims[GR_RANK_MAX];
    uint32_t rank, index, axis, span;
    gr_dtype t;
    bool output;
    kit_open(&k);
    assert_true(kit_sig(&k, "matmul(a: T[..s, m, k], b: T[..t, k, n]) -> y: T[..broadcast(s, t), m, n]"));
    assert_true(kit_call(&k, "f16[5, 2, 3]; f16[3, 4]", NULL, &c));
    assert_true(gr_call_dim(&c, GR_STR("k"), &n) && n == 3 && !gr_call_dim(&c, GR_STR("q"), &n));
    assert_true(gr_call_shape(&c, GR_STR("s"), &rank, dims) && rank == 1 && dims[0] == 5);
    assert_true(gr_call_dtype(&c, GR_STR("T"), &t) && t == GR_DTYPE_F16);
    assert_true(gr_call_tensor(&c, GR_STR("y"), &output, &index)->rank == 3 && output && index == 0);
    assert_true(gr_call_axis(&c, GR_STR("a"), GR_STR("m"), &axis, &span) && axis == 1 && span == 1);
    assert_true(gr_call_axis(&c, GR_STR("y"), GR_STR("m"), &axis, &span) && axis == 1);
    assert_true(gr_call_axis(&c, GR_STR("y"), GR_STR("s"), &axis, &span) && axis == 0 && span == 1);
    assert_false(gr_call_axis(&c, GR_STR("b"), GR_STR("m"), &axis, &span));
    kit_close(&k);
}

static void memory_failure_is_reported(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 200; n++) {
        kit k;
        gr_call c;
        kit_open(&k);
        gr_arena_init(&k.a, 0);
        uint64_t before = gr_heap_count();
        gr_heap_fail_nth(n);
        bool ok = kit_sig(&k, good[8].sig);
        gr_type types[2] = {kit_type("f32[1, 4, 8, 8]"), kit_type("f32[6, 4, 3, 3]")};
        ok = ok && gr_call_resolve(&k.a, &k.d, &k.op, types, 2, NULL, 0, gr_place_doc("call"), &c);
        bool reached = gr_heap_count() - before >= n;
        gr_heap_fail_nth(0);
        assert_true(ok != reached && (ok || k.d.out_of_memory));
        kit_close(&k);
        if (!reached) return;
    }
    fail_msg("the sweep did not end");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_give_types),     cmocka_unit_test(printing_is_canonical),      cmocka_unit_test(symbols_are_kept),
        cmocka_unit_test(bad_calls_are_explained),   cmocka_unit_test(names_of_a_call_are_found),  cmocka_unit_test(memory_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
