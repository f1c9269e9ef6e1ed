/* Malformed contracts: each with the name and place of its first diagnostic. */
#include "kit.h"

/* ---- signatures, alone ---- */

typedef struct bad { const char *text; gr_diag_name name; uint32_t line, col; } bad;

static const bad signatures[] = {
    {"", GR_D_CONTRACT_SYNTAX, 1, 1},
    {"f", GR_D_CONTRACT_SYNTAX, 1, 2},
    {"f(x: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 12},
    {"f(x: f32[n])", GR_D_CONTRACT_SYNTAX, 1, 13},
    {"f(x: f32[n]) ->", GR_D_CONTRACT_SYNTAX, 1, 16},
    {"f(x f32[n]) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 5},
    {"f(x: f32) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 9},
    {"f(x: f32[n,]) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 12},
    {"f(x: f32[n]) -> y: f32[n + ]", GR_D_CONTRACT_SYNTAX, 1, 28},
    {"f(x: f32[n]) -> y: f32[n] where", GR_D_CONTRACT_SYNTAX, 1, 32},
    {"f(x: f32[n]) -> y: f32[n] nonsense", GR_D_CONTRACT_SYNTAX, 1, 27},
    {"f(x: f32[n])\n  -> y: f32[n] $", GR_D_CONTRACT_SYNTAX, 2, 16},
    {"f(x: f32[n]; w: u64 = 1) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 17},
    {"f(x: f32[n]; w: u32 in 1..=) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 28},
    {"f(x: f32[n]; w: f32 odd) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 14},
    {"f(x: f32[n]; w: bool in 0..=1) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 14},
    {"f(x: f32[a, m <= n]) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 15},
    {"f(x: f32[n]) -> y: f32[q]", GR_D_CONTRACT_NAME_UNKNOWN, 1, 24},
    {"f(xs: f32[n]) -> y: f32[size(xd)]", GR_D_CONTRACT_NAME_UNKNOWN, 1, 30},
    {"f(x: f32[..s]) -> y: f32[..brodcast(s, s)]", GR_D_CONTRACT_NAME_UNKNOWN, 1, 28},
    {"f(x: f32[..s]) -> y: f32[..drop(s)]", GR_D_CONTRACT_ARGUMENT_COUNT, 1, 28},
    {"f(x: f32[..s]) -> y: f32[s]", GR_D_CONTRACT_EXPRESSION_KIND, 1, 26},
    {"f(x: f32[n]) -> y: f32[..n]", GR_D_CONTRACT_EXPRESSION_KIND, 1, 26},
    {"f(x: f32[n]) -> y: f32[n + 1.5]", GR_D_CONTRACT_EXPRESSION_KIND, 1, 24},
    {"f(x: f32[n]) -> y: f32[n] where n + 1", GR_D_CONTRACT_EXPRESSION_KIND, 1, 33},
    {"f(x: f32[n]; w: u32[2]) -> y: f32[w]", GR_D_CONTRACT_EXPRESSION_KIND, 1, 35},
    {"f(x: f32[n], x: f32[n]) -> y: f32[n]", GR_D_CONTRACT_NAME_REPEATED, 1, 14},
    {"f(x: f32[n]; n: u32) -> y: f32[n, x]", GR_D_CONTRACT_EXPRESSION_KIND, 1, 35},
    {"f(x: f32[n]; x: u32) -> y: f32[n]", GR_D_CONTRACT_NAME_REPEATED, 1, 14},
    {"f(x: f32[lo]) -> y: f32[lo]", GR_D_CONTRACT_NAME_REPEATED, 1, 10},
    {"f(x: T[n]) -> y: U[n]", GR_D_CONTRACT_DTYPE_UNKNOWN, 1, 15},
    {"f(x: T[n]) -> y: T[n] T in f32, f8", GR_D_CONTRACT_DTYPE_UNKNOWN, 1, 33},
    {"f(x: T[n]) -> y: T[n] T in f32, f32", GR_D_CONTRACT_NAME_REPEATED, 1, 33},
    {"f(x: T[n]) -> y: T[n] U in f32", GR_D_CONTRACT_NAME_UNKNOWN, 1, 1},
    {"f(x: f32[..s, ..t]) -> y: f32[..s]", GR_D_CONTRACT_PATTERN_INVALID, 1, 10},
    {"f(x: f32[..s], z: f32[..s, ..t]) -> y: f32[..s]", GR_D_CONTRACT_PATTERN_INVALID, 1, 28},
    {"f(x: f32[n]*, y: f32[n]*) -> z: f32[n]", GR_D_CONTRACT_PATTERN_INVALID, 1, 15},
    {"f(x: f32[n]) -> y: f32[n]*", GR_D_CONTRACT_PATTERN_INVALID, 1, 17},
    {"f(x: f32[n]) -> x: f32[n + 1]", GR_D_CONTRACT_PATTERN_INVALID, 1, 17},
    {"f(x: f32[n], b: f32[c]?) -> y: f32[c]", GR_D_CONTRACT_DIMENSION_UNBOUND, 1, 36},
    {"f(x: f32[n]; w: u32 in 1..=9 = 10) -> y: f32[n]", GR_D_CONTRACT_DEFAULT_INVALID, 1, 32},
    {"f(x: f32[n]; w: u32 odd = 2) -> y: f32[n]", GR_D_CONTRACT_DEFAULT_INVALID, 1, 27},
    {"f(x: f32[n]; w: u32 = -1) -> y: f32[n]", GR_D_CONTRACT_DEFAULT_INVALID, 1, 23},
    {"f(x: f32[n]; w: bool = 1) -> y: f32[n]", GR_D_CONTRACT_DEFAULT_INVALID, 1, 24},
    {"f(x: f32[n]; m: a | b = c) -> y: f32[n]", GR_D_CONTRACT_DEFAULT_INVALID, 1, 14},
    {"f(x: f32[n]; t: f32 | i32 = u8) -> y: t[n]", GR_D_CONTRACT_DEFAULT_INVALID, 1, 14},
    {"f(; axes: u32[*] = all) -> y: f32[..axes]", GR_D_CONTRACT_DEFAULT_INVALID, 1, 5},
    {"f(x: f32[n]) -> y: f32[count_of(x)]", GR_D_CONTRACT_NAME_UNKNOWN, 1, 24},
    {"f(x: f32[n]) -> y: f32[99999999999999999999]", GR_D_CONTRACT_SYNTAX, 1, 24},
    {"f(x: f32[n]) -> y: f32[1e999]", GR_D_CONTRACT_SYNTAX, 1, 24},
    {"f(x: f32[\xFF]) -> y: f32[n]", GR_D_CONTRACT_SYNTAX, 1, 10},
};

static const bad bindings[] = {
    {"bind", GR_D_CONTRACT_SYNTAX, 1, 5},
    {"bind x read x", GR_D_CONTRACT_SYNTAX, 1, 8},
    {"bind x = reed x", GR_D_CONTRACT_SYNTAX, 1, 10},
    {"bind x = read", GR_D_CONTRACT_SYNTAX, 1, 14},
    {"bind x = read x y", GR_D_CONTRACT_SYNTAX, 1, 17},
    {"bind p = uniform n = n", GR_D_CONTRACT_SYNTAX, 1, 18},
    {"bind p = uniform { n }", GR_D_CONTRACT_SYNTAX, 1, 22},
    {"bind p = uniform { n = n", GR_D_CONTRACT_SYNTAX, 1, 25},
    {"bind t = scratch f32", GR_D_CONTRACT_SYNTAX, 1, 21},
    {"alias T", GR_D_CONTRACT_SYNTAX, 1, 8},
    {"pass main", GR_D_CONTRACT_SYNTAX, 1, 10},
    {"pass main over", GR_D_CONTRACT_SYNTAX, 1, 15},
    {"pass main grid 1, 2, 3, 4", GR_D_CONTRACT_SYNTAX, 1, 25},
    {"pass main indirect x", GR_D_CONTRACT_SYNTAX, 1, 20},
    {"pass main repeat over n", GR_D_CONTRACT_SYNTAX, 1, 18},
    {"pass main repeat k over n", GR_D_CONTRACT_SYNTAX, 1, 18},
    {"pass main repeat k in 0 over n", GR_D_CONTRACT_SYNTAX, 1, 25},
    {"pass main repeat k in 0..n", GR_D_CONTRACT_SYNTAX, 1, 27},
    {"pass main repeat k in 0..n over n\npass main repeat j over n", GR_D_CONTRACT_SYNTAX, 2, 18},
    {"split n", GR_D_CONTRACT_SYNTAX, 1, 8},
    {"split n: y[lo, hi]", GR_D_CONTRACT_SYNTAX, 1, 14},
    {"split * y[lo..hi]", GR_D_CONTRACT_SYNTAX, 1, 9},
    {"split *: combine accumulate", GR_D_CONTRACT_SYNTAX, 1, 18},
    {"split n when: y[lo..hi]", GR_D_CONTRACT_SYNTAX, 1, 13},
    {"split n: y[1: lo..hi] with", GR_D_CONTRACT_SYNTAX, 1, 27},
    {"split flat with s = 1, t[0 = 2", GR_D_CONTRACT_SYNTAX, 1, 28},
    {"bind x = read x\nbond y = write y\npass main over n", GR_D_CONTRACT_SYNTAX, 2, 1},
    {"bind v = uniform { v = kept(x) }", GR_D_CONTRACT_SYNTAX, 1, 30},
};

static const bad fragments[] = {
    {"y = neg %x", GR_D_CONTRACT_SYNTAX, 1, 1},
    {"%y neg %x", GR_D_CONTRACT_SYNTAX, 1, 4},
    {"%y = %x", GR_D_CONTRACT_SYNTAX, 1, 6},
    {"%y = neg x", GR_D_CONTRACT_SYNTAX, 1, 11},
    {"%y = neg %x axes=", GR_D_CONTRACT_SYNTAX, 1, 18},
    {"%y = neg %x a=1 a=2", GR_D_CONTRACT_PARAMETER_REPEATED, 1, 17},
    {"%y = constant 1", GR_D_CONTRACT_SYNTAX, 1, 16},
    {"%y = constant 1 : T[2]", GR_D_CONTRACT_SYNTAX, 1, 21},
    {"%a = neg %x\n%y = ", GR_D_CONTRACT_SYNTAX, 2, 6},
    {"%y = user/ %x", GR_D_CONTRACT_SYNTAX, 1, 12},
    {"%y = neg %x if", GR_D_CONTRACT_SYNTAX, 1, 15},
    {"%y = neg %x if given(x) x", GR_D_CONTRACT_SYNTAX, 1, 25},
};

static int check_first(const kit *k, const bad *b, bool ok) {
    const gr_diag *g = k->d.list.n ? &k->d.list.v[0] : NULL;
    if (!ok && g && g->name == b->name && g->place.line == b->line && g->place.col == b->col) return 0;
    print_error("%s\n", b->text);
    if (g) print_error("   %s at %u:%u: %s\n", gr_diag_text(g->name), g->place.line, g->place.col, g->message.p);
    else print_error("   %s\n", ok ? "accepted" : "refused without a word");
    return 1;
}

static void malformed_grammar_is_named_and_placed(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        kit k;
        kit_open(&k);
        wrong += check_first(&k, &signatures[i], kit_sig(&k, signatures[i].text));
        kit_close(&k);
    }
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++) {
        kit k;
        gr_binding b;
        kit_open(&k);
        wrong += check_first(&k, &bindings[i], gr_binding_parse(&k.a, &k.d, GR_STR("b"), gr_str_of(bindings[i].text), &b));
        kit_close(&k);
    }
    for (size_t i = 0; i < sizeof fragments / sizeof *fragments; i++) {
        kit k;
        gr_frag f;
        kit_open(&k);
        wrong += check_first(&k, &fragments[i], gr_frag_parse(&k.a, &k.d, GR_STR("f"), gr_str_of(fragments[i].text), &f));
        kit_close(&k);
    }
    assert_int_equal(wrong, 0);
}

/* ---- whole ops: one text replaced in a good op ---- */

static const char good_toml[] =
    "signature = \"median(x: f32[n]; w: u32 in 1..=31 odd = 7) -> y: f32[n - w + 1] where n >= w\"\n" /* 1 */
    "category = \"selection\"\n"
    "tolerance = { class = \"exact\", reason = \"no arithmetic\" }\n"
    "summary = \"Median.\"\n"
    "\n" /* 5 */
    "[body]\n"
    "reference = \"reference.wgsl\"\n"
    "cpu = \"kernel\"\n"
    "binding = \"\"\"\n"
    "bind x = read x\n" /* 10 */
    "bind y = write y\n"
    "bind p = uniform { count = n - w + 1, w = w }\n"
    "pass main over n - w + 1\n"
    "\"\"\"\n"
    "\n" /* 15 */
    "[[kernel]]\n"
    "file = \"kernel.wgsl\"\n"
    "order = \"fixed\"\n"
    "binding = \"\"\"\n"
    "bind x = read x\n" /* 20 */
    "bind y = write y\n"
    "bind p = uniform { count = n - w + 1, w = w }\n"
    "pass main over n - w + 1\n"
    "split n: y[lo..hi] needs x[lo..hi + w - 1]\n"
    "\"\"\"\n" /* 25 */
    "\n"
    "[backward]\n"
    "form = \"declared\"\n"
    "saves = [\"x\"]\n"
    "graph = \"\"\"\n" /* 30 */
    "%d_x = median_backward %x %d_y w=w\n"
    "\"\"\"\n"
    "\n"
    "[example]\n"
    "inputs = { x = [1.0, 9.0] }\n"; /* 35 */

static const char good_wgsl[] =
    "struct Params { count: u32, w: u32 }\n"
    "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
    "@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
    "@group(0) @binding(2) var<uniform> p: Params;\n"
    "@compute @workgroup_size(64)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
    "  let i = id.x;\n"
    "  if (i >= p.count) { return; }\n"
    "  var m = x[i];\n"
    "  for (var j = 1u; j < p.w; j++) { m = max(m, x[i + j]); }\n"
    "  y[i] = m;\n"
    "}\n";

typedef struct bad_op { const char *from, *to; gr_diag_name name; uint32_t line, col; } bad_op;

static const bad_op documents[] = {
    {"signature = ", "signature == ", GR_D_BASE_TOML_SYNTAX, 1, 12},
    {"signature = \"median(", "signature = \"meridian(", GR_D_CONTRACT_ID_MISMATCH, 1, 14},
    {"n - w + 1] where", "n - v + 1] where", GR_D_CONTRACT_NAME_UNKNOWN, 1, 72},
    {"signature", "signatur", GR_D_BASE_KEY_UNKNOWN, 1, 1},
    {"\"selection\"", "\"selecting\"", GR_D_CONTRACT_WORD_UNKNOWN, 2, 12},
    {"category = \"selection\"", "category = 1", GR_D_BASE_VALUE_TYPE, 2, 12},
    {"category = \"selection\"\n", "", GR_D_BASE_KEY_MISSING, 1, 1},
    {"category = \"selection\"", "category = \"pointwise\"", GR_D_CONTRACT_TOLERANCE_TOO_STRICT, 3, 13},
    {"category = \"selection\"", "category = \"reduction\"", GR_D_CONTRACT_TOLERANCE_TOO_STRICT, 3, 13},
    {"category = \"selection\"", "category = \"lossy\"", GR_D_CONTRACT_TOLERANCE_TOO_STRICT, 3, 13},
    {"{ class = \"exact\", reason = \"no arithmetic\" }", "\"tight\"", GR_D_CONTRACT_TOLERANCE_TOO_LOOSE, 3, 13},
    {"{ class = \"exact\", reason = \"no arithmetic\" }", "\"loose\"", GR_D_CONTRACT_TOLERANCE_TOO_LOOSE, 3, 13},
    {"{ class = \"exact\", reason = \"no arithmetic\" }", "\"exact\"", GR_D_CONTRACT_REASON_MISSING, 3, 13},
    {"class = \"exact\"", "class = \"exakt\"", GR_D_CONTRACT_WORD_UNKNOWN, 3, 23},
    {"reason = \"no arithmetic\"", "raison = \"x\"", GR_D_BASE_KEY_UNKNOWN, 3, 32},
    {"summary = \"Median.\"", "role = \"sorter\"\nsummary = \"M\"", GR_D_CONTRACT_WORD_UNKNOWN, 4, 8},
    {"summary = \"Median.\"", "index = [\"axis\"]\nsummary = \"M\"", GR_D_CONTRACT_NAME_UNKNOWN, 4, 9},
    {"summary = \"Median.\"", "zero_sign = \"plus\"\nsummary = \"M\"", GR_D_CONTRACT_WORD_UNKNOWN, 4, 13},
    {"summary = \"Median.\"", "split = \"split k: y[lo..hi]\"\nsummary = \"M\"", GR_D_CONTRACT_SPLIT_INVALID, 4, 16},
    {"summary = \"Median.\"", "split = \"pass main over n\"\nsummary = \"M\"", GR_D_CONTRACT_SYNTAX, 4, 10},
    {"reference = \"reference.wgsl\"", "reference = \"missing.wgsl\"", GR_D_CONTRACT_FILE_MISSING, 7, 13},
    {"reference = \"reference.wgsl\"\n", "", GR_D_CONTRACT_BODY_INVALID, 6, 2},
    {"reference = \"reference.wgsl\"\n", "reference = \"reference.wgsl\"\nmap = \"x\"\n", GR_D_CONTRACT_BODY_INVALID, 6, 2},
    {"cpu = \"kernel\"", "cpu = \"gpu\"", GR_D_CONTRACT_WORD_UNKNOWN, 8, 7},
    {"cpu = \"kernel\"", "cpu = \"graph\"", GR_D_CONTRACT_BODY_INVALID, 8, 7},
    {"bind x = read x\nbind y = write y", "bind x = read z\nbind y = write y", GR_D_CONTRACT_NAME_UNKNOWN, 10, 6},
    {"bind x = read x\nbind y = write y", "bind x = read x\nbind y = write x", GR_D_CONTRACT_NAME_UNKNOWN, 11, 6},
    {"bind x = read x\nbind y = write y", "bind x = read x\nbind y = read y", GR_D_CONTRACT_NAME_UNKNOWN, 11, 6},
    {"bind x = read x\nbind y = write y", "bind x = inout x\nbind y = write y", GR_D_CONTRACT_NAME_UNKNOWN, 10, 6},
    {"bind x = read x\nbind y = write y", "bind x = count x\nbind y = write y", GR_D_CONTRACT_NAME_UNKNOWN, 10, 6},
    {"bind x = read x\nbind y = write y", "bind x = read x[*]\nbind y = write y", GR_D_CONTRACT_SYNTAX, 10, 6},
    {"bind x = read x\nbind y = write y", "bind x = read x\nbind x = read x\nbind y = write y", GR_D_CONTRACT_NAME_REPEATED, 11, 6},
    {"bind y = write y\n", "", GR_D_CONTRACT_OUTPUT_UNBOUND, 10, 1},
    {"bind y = write y\n", "bind y = write y\nalias T = Q\n", GR_D_CONTRACT_DTYPE_UNKNOWN, 12, 7},
    {"bind y = write y\n", "bind y = write y\nbind t = scratch Q[n]\n", GR_D_CONTRACT_DTYPE_UNKNOWN, 12, 6},
    {"bind y = write y\n", "bind y = write y\noverride N = n\n", GR_D_CONTRACT_BINDING_UNKNOWN, 12, 10},
    {"count = n - w + 1, w = w }", "count = n - q + 1, w = w }", GR_D_CONTRACT_NAME_UNKNOWN, 12, 32},
    {"count = n - w + 1, w = w }", "count = x, w = w }", GR_D_CONTRACT_EXPRESSION_KIND, 12, 28},
    {"count = n - w + 1, w = w }", "w = w, count = n - w + 1 }", GR_D_CONTRACT_BINDING_FIELD, 12, 20},
    {"count = n - w + 1, w = w }", "count = n - w + 1 }", GR_D_CONTRACT_BINDING_FIELD, 12, 6},
    {"count = n - w + 1, w = w }", "count = n - w + 1, w = w, v = w }", GR_D_CONTRACT_BINDING_FIELD, 12, 46},
    {"count = n - w + 1, w = w }", "count = n - w + 1, w = view(x) }", GR_D_CONTRACT_BINDING_FIELD, 12, 39},
    {"count = n - w + 1, w = w }", "count = n - w + 1, w = 0.5 }", GR_D_CONTRACT_BINDING_FIELD, 12, 39},
    {"count = n - w + 1, w = w }", "count = n - w + 1, w = view(q) }", GR_D_CONTRACT_NAME_UNKNOWN, 12, 39},
    {"count = n - w + 1, w = w }", "count = n - w + 1, count = w }", GR_D_CONTRACT_NAME_REPEATED, 12, 39},
    {"pass main over n - w + 1\n", "", GR_D_CONTRACT_PASS_MISSING, 10, 1},
    {"pass main over n - w + 1\n", "pass start over n - w + 1\n", GR_D_CONTRACT_PASS_UNKNOWN, 13, 6},
    {"pass main over n - w + 1\n", "pass main each x over n\n", GR_D_CONTRACT_NAME_UNKNOWN, 13, 6},
    {"pass main over n - w + 1\n", "pass main indirect count(x)\n", GR_D_CONTRACT_NAME_UNKNOWN, 13, 6},
    {"pass main over n - w + 1\n", "pass main repeat w in 0..2 over n\n", GR_D_CONTRACT_NAME_REPEATED, 13, 6},
    {"pass main over n - w + 1\n", "pass main repeat k in 0..q over n\n", GR_D_CONTRACT_NAME_UNKNOWN, 13, 26},
    {"pass main over n - w + 1\n", "pass main repeat k in 0..2 over n\npass main over k\n", GR_D_CONTRACT_NAME_UNKNOWN, 14, 16},
    {"w = w }\npass main over n - w + 1\n", "w = w + k }\npass main repeat k in 0..2 over n\npass main over n\n", GR_D_CONTRACT_NAME_UNKNOWN, 14, 6},
    {"pass main over n - w + 1\n", "bind t = scratch f32[k]\npass main repeat k in 0..2 over n\n", GR_D_CONTRACT_NAME_UNKNOWN, 13, 22},
    {"pass main over n - w + 1\n", "pass main over 1.5\n", GR_D_CONTRACT_EXPRESSION_KIND, 13, 16},
    {"file = \"kernel.wgsl\"\n", "", GR_D_BASE_KEY_MISSING, 16, 3},
    {"order = \"fixed\"", "order = \"random\"", GR_D_CONTRACT_WORD_UNKNOWN, 18, 9},
    {"order = \"fixed\"", "order = \"fixed\"\ndtypes = [\"f33\"]", GR_D_CONTRACT_DTYPE_UNKNOWN, 19, 10},
    {"order = \"fixed\"", "order = \"fixed\"\nrequires = [\"luck\"]", GR_D_CONTRACT_WORD_UNKNOWN, 19, 12},
    {"order = \"fixed\"", "order = \"fixed\"\nwhen = \"n > q\"", GR_D_CONTRACT_NAME_UNKNOWN, 19, 13},
    {"order = \"fixed\"", "order = \"fixed\"\nwhen = \"n + 1\"", GR_D_CONTRACT_EXPRESSION_KIND, 19, 9},
    {"split n: y[lo..hi] needs x[lo..hi + w - 1]", "split k: y[lo..hi]", GR_D_CONTRACT_SPLIT_INVALID, 24, 7},
    {"split n: y[lo..hi] needs x[lo..hi + w - 1]", "split n: x[lo..hi]", GR_D_CONTRACT_NAME_UNKNOWN, 24, 10},
    {"split n: y[lo..hi] needs x[lo..hi + w - 1]", "split *: y[lo..hi] with q = 1", GR_D_CONTRACT_SPLIT_INVALID, 24, 25},
    {"split n: y[lo..hi] needs x[lo..hi + w - 1]", "split *: y[lo..hi] with w[cut] = 1", GR_D_CONTRACT_SPLIT_INVALID, 24, 25},
    {"split n: y[lo..hi] needs x[lo..hi + w - 1]", "split * when cut: y[lo..hi]", GR_D_CONTRACT_EXPRESSION_KIND, 24, 14},
    {"split n: y[lo..hi] needs x[lo..hi + w - 1]", "split n: y[lo..hi] needs x[lo..hi + q]", GR_D_CONTRACT_NAME_UNKNOWN, 24, 37},
    {"form = \"declared\"", "form = \"composed\"", GR_D_CONTRACT_BACKWARD_INVALID, 30, 9},
    {"form = \"declared\"\nsaves = [\"x\"]\ngraph = \"\"\"\n%d_x = median_backward %x %d_y w=w\n\"\"\"\n", "form = \"composed\"\n", GR_D_CONTRACT_BACKWARD_INVALID, 27, 2},
    {"form = \"declared\"\nsaves = [\"x\"]\ngraph = \"\"\"\n%d_x = median_backward %x %d_y w=w\n\"\"\"\n", "form = \"none\"\n", GR_D_CONTRACT_REASON_MISSING, 27, 2},
    {"form = \"declared\"\n", "", GR_D_BASE_KEY_MISSING, 27, 2},
    {"saves = [\"x\"]", "saves = []", GR_D_CONTRACT_SAVES_WRONG, 31, 1},
    {"saves = [\"x\"]", "saves = [\"x\", \"y\"]", GR_D_CONTRACT_SAVES_WRONG, 31, 1},
    {"%d_x = median_backward %x %d_y w=w", "%d_x = median_backward %x %g w=w", GR_D_CONTRACT_VALUE_UNDEFINED, 31, 1},
    {"%d_x = median_backward %x %d_y w=w", "%g = median_backward %x %d_y w=w", GR_D_CONTRACT_RESULT_MISSING, 31, 1},
    {"%d_x = median_backward %x %d_y w=w", "%d_x = neg %x\n%d_x = neg %x", GR_D_CONTRACT_VALUE_REPEATED, 32, 1},
    {"%d_x = median_backward %x %d_y w=w", "%d_x = neg %x w=w + q", GR_D_CONTRACT_NAME_UNKNOWN, 31, 21},
    {"%d_x = median_backward %x %d_y w=w", "%d_x = neg %x if w > 1\n%d_x = neg %x", GR_D_CONTRACT_VALUE_REPEATED, 32, 1},
    {"%d_x = median_backward %x %d_y w=w", "%d_x = neg %x\n%d_x = neg %x if w > 1", GR_D_CONTRACT_VALUE_REPEATED, 32, 1},
    {"%d_x = median_backward %x %d_y w=w", "%d_x = neg %x if w + 1", GR_D_CONTRACT_EXPRESSION_KIND, 31, 18},
    {"%d_x = median_backward %x %d_y w=w", "%d_x = neg %x if q", GR_D_CONTRACT_NAME_UNKNOWN, 31, 18},
    {"inputs = { x = [1.0, 9.0] }", "inputs = { z = [1.0] }", GR_D_CONTRACT_EXAMPLE_INVALID, 35, 16},
    {"inputs = { x = [1.0, 9.0] }", "params = { z = 1 }", GR_D_CONTRACT_EXAMPLE_INVALID, 35, 16},
    {"inputs = { x = [1.0, 9.0] }", "input = { z = 1 }", GR_D_BASE_KEY_UNKNOWN, 35, 1},
};

/* Places in op.toml too, unless the diagnostic names the WGSL. */
static const bad_op shaders[] = {
    {"var m = x[i];", "var m = x[i] + 1.0;", GR_D_CONTRACT_CATEGORY_FALSE, 2, 12},
    {"max(m, x[i + j])", "0.5 * (m + x[i + j])", GR_D_CONTRACT_CATEGORY_FALSE, 2, 12},
    {"y[i] = m;", "y[i] = sqrt(m);", GR_D_CONTRACT_CATEGORY_FALSE, 2, 12},
    {"y[i] = m;", "y[i] = -m;", GR_D_CONTRACT_CATEGORY_FALSE, 2, 12},
    {"var m = x[i];", "var m = x[i]; m += 1.0;", GR_D_CONTRACT_CATEGORY_FALSE, 2, 12},
    {"count: u32, w: u32", "w: u32, count: u32", GR_D_CONTRACT_BINDING_FIELD, 12, 20},
    {"count: u32, w: u32", "count: u32, w: u32, z: u32", GR_D_CONTRACT_BINDING_FIELD, 12, 6},
    {"x: array<f32>", "x: array<i32>", GR_D_WGSL_TYPE, 0, 0},
    {"var<storage, read> x", "var<storage, read_write> x", GR_D_CONTRACT_BINDING_ACCESS, 10, 6},
    {"if (i >= p.count)", "if (i >= arrayLength(&x) || i >= p.count)", GR_D_CONTRACT_ARRAY_LENGTH, 13, 6},
    {"fn main(", "fn start(", GR_D_CONTRACT_PASS_UNKNOWN, 13, 6},
    {"y[i] = m;", "y[i] = m", GR_D_WGSL_SYNTAX, 0, 0},
    {"@compute", "var<workgroup> t: array<f32, 4>;\n@compute", GR_D_NONE, 0, 0},
    {"y[i] = m;", "workgroupBarrier(); y[i] = m;", GR_D_WGSL_NON_UNIFORM, 0, 0},
    {"y[i] = m;", "q[0] = m; y[i] = m;", GR_D_WGSL_UNRESOLVED, 0, 0},
    {"@compute", "@group(0) @binding(3) var<storage, read_write> q: array<f32>;\n@compute", GR_D_NONE, 0, 0},
    {"@compute @workgroup_size(64)", "@group(0) @binding(3) var<storage, read> q: array<f32>;\nfn g() -> f32 { return q[0]; }\n@compute @workgroup_size(64)", GR_D_NONE, 0, 0},
    {"  y[i] = m;\n}\n", "  y[i] = select(m, q[0], m > q[0]);\n}\n@group(0) @binding(3) var<storage, read> q: array<f32>;\n", GR_D_CONTRACT_BINDING_MISSING, 13, 6},
    {"  y[i] = m;\n}\n", "  t = 0.0; y[i] = m;\n}\nvar<workgroup> t: f32;\n", GR_D_CONTRACT_REFERENCE_IMPURE, 13, 6},
    {"@compute @workgroup_size(64)", "override N: u32;\n@compute @workgroup_size(N)", GR_D_CONTRACT_BINDING_MISSING, 13, 6},
};

static char *replaced(gr_arena *a, const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (!at) fail_msg("the good op does not hold: %s", from);
    return gr_arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static bool add_op(kit *k, const char *toml, const char *reference) {
    gr_catalog *c = gr_catalog_new();
    const gr_str names[] = {GR_STR("op.toml"), GR_STR("reference.wgsl"), GR_STR("kernel.wgsl")};
    const gr_str texts[] = {gr_str_of(toml), gr_str_of(reference), gr_str_of(good_wgsl)};
    const gr_op *op = gr_catalog_add(c, &k->d, GR_STR("median@1"), names, texts, 3);
    bool ok = op != NULL && gr_diags_ok(&k->d);
    assert_true((op != NULL) == gr_diags_ok(&k->d));
    gr_catalog_free(c);
    return ok;
}

static void malformed_ops_are_named_and_placed(void **state) {
    (void)state;
    int wrong = 0;
    kit k;
    kit_open(&k);
    if (!add_op(&k, good_toml, good_wgsl)) { kit_show(&k); fail(); }
    kit_close(&k);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        kit_open(&k);
        bad b = {documents[i].to, documents[i].name, documents[i].line, documents[i].col};
        wrong += check_first(&k, &b, add_op(&k, replaced(&k.a, good_toml, documents[i].from, documents[i].to), good_wgsl));
        kit_close(&k);
    }
    for (size_t i = 0; i < sizeof shaders / sizeof *shaders; i++) {
        kit_open(&k);
        bad b = {shaders[i].to, shaders[i].name, shaders[i].line, shaders[i].col};
        bool ok = add_op(&k, good_toml, replaced(&k.a, good_wgsl, shaders[i].from, shaders[i].to));
        if (!b.line && k.d.list.n) b.line = k.d.list.v[0].place.line, b.col = k.d.list.v[0].place.col;
        if (!b.name) { wrong += !ok; if (!ok) { print_error("%s\n", b.text); kit_show(&k); } }
        else wrong += check_first(&k, &b, ok);
        kit_close(&k);
    }
    assert_int_equal(wrong, 0);
}

/* The median of an even window is a mean of two samples: claiming selection is the lie that the check is for. */
static void an_even_median_is_no_selection(void **state) {
    (void)state;
    kit k;
    kit_open(&k);
    char *even = replaced(&k.a, good_wgsl, "y[i] = m;", "y[i] = middle(m, x[i]);");
    even = replaced(&k.a, even, "@compute", "fn middle(a: f32, b: f32) -> f32 { return (a + b) * 0.5; }\n@compute");
    assert_false(add_op(&k, good_toml, even));
    assert_true(gr_diags_has(&k.d, GR_D_CONTRACT_CATEGORY_FALSE));
    assert_int_equal(k.d.list.v[0].related[0].place.line, 5);
    kit_close(&k);
}

static void damaged_ops_do_no_harm(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 1500; round++) {
        kit k;
        kit_open(&k);
        char *t = gr_arena_strndup(&k.a, good_toml, sizeof good_toml - 1);
        for (int i = 0; i < 3; i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            t[seed % (sizeof good_toml - 1)] = "()[]{}=.,:;?*+-/%\"'\n w1nxy\x01"[seed >> 32 & 31 ? (seed >> 37) % 26 : 3];
        }
        add_op(&k, t, good_wgsl);
        kit_close(&k);
    }
}

static void memory_failure_is_reported(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 2000; n++) {
        kit k;
        kit_open(&k);
        uint64_t before = gr_heap_count();
        gr_heap_fail_nth(n);
        gr_catalog *c = gr_catalog_new();
        const gr_str names[] = {GR_STR("op.toml"), GR_STR("reference.wgsl"), GR_STR("kernel.wgsl")};
        const gr_str texts[] = {gr_str_of(good_toml), gr_str_of(good_wgsl), gr_str_of(good_wgsl)};
        const gr_op *op = c ? gr_catalog_add(c, &k.d, GR_STR("median@1"), names, texts, 3) : NULL;
        bool reached = gr_heap_count() - before >= n;
        gr_heap_fail_nth(0);
        assert_true(op || !c || !gr_diags_ok(&k.d));
        gr_catalog_free(c);
        kit_close(&k);
        if (!reached) return;
    }
    fail_msg("the sweep did not end");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_grammar_is_named_and_placed), cmocka_unit_test(malformed_ops_are_named_and_placed), cmocka_unit_test(an_even_median_is_no_selection),
        cmocka_unit_test(damaged_ops_do_no_harm),                cmocka_unit_test(memory_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
