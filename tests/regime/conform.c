/* The regime on the oracle: the catalog passes, planted faults are rejected and shrunk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "lower.h"
#include "regime/receipt.h"

static void conform(low *l, const gr_op *op, uint32_t cases, gr_conformance *c) {
    gr_regime_device device = gr_regime_oracle();
    gr_conform_options o = {.cases = cases};
    gr_diags_clear(&l->d);
    bool ok = gr_op_conform(&l->a, &l->d, l->catalog, op, &device, &o, c);
    if (!ok) low_show(&l->d);
    if (!ok) fail_msg("%.*s could not be run", GR_STR_ARG(op->id));
}

static void show(const gr_conformance *c) {
    gr_buf b = {0};
    gr_conformance_print(&b, c);
    fprintf(stderr, "%s\n", b.p ? b.p : "");
    gr_buf_free(&b);
}

/* One op in so many: the others run the same C, and their receipts say that they conform. */
#if defined(__SANITIZE_ADDRESS__)
enum { STRIDE = 40, ALONE = 12 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { STRIDE = 40, ALONE = 12 };
#else
enum { STRIDE = 8, ALONE = 24 };
#endif
#else
enum { STRIDE = 8, ALONE = 24 };
#endif

/* One line an op, with GRADUS_TABLE. */
static void row(const gr_conformance *c, double seconds) {
    printf("%-40.*s %s %4u cases %8llu passed %6llu ambiguous %6llu unresolved %7llu out of domain, worst %5.3f %6.1f s\n", GR_STR_ARG(c->op->id), c->passed ? "pass" : "FAIL", c->cases,
           (unsigned long long)c->counts.passed, (unsigned long long)c->counts.ambiguous, (unsigned long long)c->counts.unresolved,
           (unsigned long long)c->counts.out_of_domain, c->worst, seconds);
    fflush(stdout);
}

/* Every `stride`th op. GRADUS_OP=name conforms one op and shows it; GRADUS_CASES its number of cases; GRADUS_PART=2/5 the second fifth. */
static void sweep(uint32_t stride, uint32_t cases) {
    low l;
    gr_conformance c;
    const char *one = getenv("GRADUS_OP"), *many = getenv("GRADUS_CASES"), *some = getenv("GRADUS_PART");
    uint32_t failed = 0, ran = 0, part = 0, parts = stride, turn = 0;
    if (some && sscanf(some, "%u/%u", &part, &parts) != 2) fail_msg("GRADUS_PART is no 2/5");
    low_begin(&l);
    for (uint32_t i = 0; i < gr_catalog_count(l.catalog); i++) {
        const gr_op *op = gr_catalog_at(l.catalog, i);
        if (op->body == GR_BODY_CONTRACT_ONLY || op->kernels_n + (op->body == GR_BODY_MAP) == 0) continue;
        if (one ? !gr_str_eq(op->name, gr_str_of(one)) : turn++ % parts != part % parts) continue;
        double before = gr_clock_seconds();
        conform(&l, op, many ? (uint32_t)atoi(many) : cases, &c);
        ran++;
        if (getenv("GRADUS_TABLE")) row(&c, gr_clock_seconds() - before);
        if (c.passed && !one) continue;
        if (!c.passed) failed++;
        fprintf(stderr, "GRADUS_OP=%.*s\n", GR_STR_ARG(op->name));
        show(&c);
    }
    assert_true(ran > 0);
    assert_int_equal(failed, 0);
    low_end(&l);
}

static void a_sample_of_the_catalog_conforms(void **state) {
    (void)state;
    sweep(STRIDE, ALONE);
}

static void the_catalog_conforms(void **state) {
    (void)state;
    sweep(1, 200);
}

static void guard_of_the_median_shrinks_to_n_equal_w(void **state) {
    (void)state;
    low l;
    gr_conformance c, again;
    low_begin(&l);
    low_path(&l, "tests/regime/ops");
    conform(&l, gr_catalog_find(l.catalog, GR_STR("user/test/guard_median")), 60, &c);
    assert_false(c.passed);
    assert_true(gr_diags_has(&l.d, GR_D_REGIME_NOT_CONFORMING));
    unsigned n = 0, w = 7;
    assert_true(c.shrunk.n > 0);
    assert_true(sscanf(c.shrunk.p, "n = %u, w = %u", &n, &w) >= 1);
    assert_int_equal(n, w);
    assert_non_null(strstr(c.failure.p, "expected"));
    assert_non_null(strstr(c.failure.p, "got"));
    conform(&l, gr_catalog_find(l.catalog, GR_STR("user/test/guard_median")), 60, &again);
    assert_true(gr_str_eq(c.failure, again.failure)); /* deterministic */
    assert_null(gr_receipt_make(&l.a, &l.d, l.catalog, &c, NULL));
    conform(&l, gr_catalog_find(l.catalog, GR_STR("user/kemal/windowed_median")), 60, &c);
    if (!c.passed) show(&c);
    assert_true(c.passed);
    assert_non_null(gr_receipt_make(&l.a, &l.d, l.catalog, &c, NULL));
    low_end(&l);
}

#define HEAD "struct Params { n: u32, m: u32 }\n@group(0) @binding(0) var<storage, read> x: array<f32>;\n" \
    "@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n@group(0) @binding(2) var<uniform> p: Params;\n"
#define MAIN "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {\n" \
    "  let i = id.y * (groups.x * 64u) + id.x;\n  if (i >= p.n * p.m) { return; }\n"
#define BIND "binding = \"\"\"\nbind x = read x\nbind y = write y\nbind p = uniform { n = n, m = m }\npass main over n * m\n\"\"\"\n"

/* y of x: f32[n, m] by a right reference and a kernel. */
static const gr_op *planted(low *l, const char *id, const char *outcome, const char *category, const char *reference, const char *kernel) {
    char toml[1500];
    snprintf(toml, sizeof toml,
             "signature = \"%.*s(x: f32[n, m]) -> y: f32[%s] where m > 0\"\ncategory = \"%s\"\ntolerance = %s\nsummary = \"planted\"\n"
             "[body]\nreference = \"reference.wgsl\"\n" BIND "[[kernel]]\nfile = \"kernel.wgsl\"\norder = \"fixed\"\n" BIND
             "[backward]\nform = \"none\"\nreason = \"planted\"\n",
             (int)strcspn(id, "@"), id, outcome, category, strcmp(category, "movement") ? "\"tight\"" : "{ class = \"exact\", reason = \"bits are moved\" }");
    return low_op(l, id, toml, "reference.wgsl", reference, "kernel.wgsl", kernel);
}

#define PLUS_ONE HEAD MAIN "  y[i] = x[i] + 1.0;\n}\n"
#define MOVE HEAD MAIN "  y[i] = x[i];\n}\n"
#define ROWS HEAD MAIN "  if (i % p.m != 0u) { return; }\n  var s = 0.0;\n  for (var k = 0u; k < p.m; k++) { s += x[i + k]; }\n  y[i / p.m] = s;\n}\n"
#define FIRST HEAD MAIN "  if (i % p.m != 0u) { return; }\n  var best = 0u;\n  for (var k = 1u; k < p.m; k++) { if (x[i + k] > x[i + best]) { best = k; } }\n" \
    "  y[i / p.m] = f32(best);\n}\n"

static void planted_faults_are_rejected(void **state) {
    (void)state;
    static const struct { const char *name, *outcome, *category, *reference, *kernel; bool right; } fault[] = {
        {"right@1", "n, m", "pointwise", PLUS_ONE, PLUS_ONE, true},
        {"right_sum@1", "n", "reduction", ROWS, ROWS, true},
        {"off_by_one@1", "n, m", "pointwise", PLUS_ONE, HEAD MAIN "  y[i] = x[i + 1u] + 1.0;\n}\n", false},
        {"last_unwritten@1", "n, m", "pointwise", PLUS_ONE, HEAD MAIN "  if (i + 1u == p.n * p.m) { return; }\n  y[i] = x[i] + 1.0;\n}\n", false},
        {"wrong_tie@1", "n", "pointwise", FIRST,
         HEAD MAIN "  if (i % p.m != 0u) { return; }\n  var best = 0u;\n  for (var k = 1u; k < p.m; k++) { if (x[i + k] >= x[i + best]) { best = k; } }\n"
                   "  y[i / p.m] = f32(best);\n}\n", false},
        {"wrong_stride@1", "n, m", "movement", MOVE, HEAD MAIN "  y[i] = x[(i % p.n) * p.m + i / p.n];\n}\n", false},
        {"special_shape@1", "n, m", "pointwise", PLUS_ONE, HEAD MAIN "  y[i] = x[i] + select(1.0, 2.0, p.n * p.m > 64u);\n}\n", false},
        {"nan_everywhere@1", "n, m", "pointwise", PLUS_ONE, HEAD MAIN "  y[i] = bitcast<f32>(0x7fc00000u + (i >> 31u));\n}\n", false},
        {"zeros@1", "n, m", "pointwise", PLUS_ONE, HEAD MAIN "  y[i] = x[i] * 0.0;\n}\n", false},
        {"dropped_term@1", "n", "reduction", ROWS,
         HEAD MAIN "  if (i % p.m != 0u) { return; }\n  var s = 0.0;\n  for (var k = 0u; k < p.m; k++) { if (k != 63u) { s += x[i + k]; } }\n  y[i / p.m] = s;\n}\n", false},
        {"infinity_for_nan@1", "n, m", "pointwise", PLUS_ONE,
         HEAD MAIN "  let v = x[i];\n  y[i] = select(v, bitcast<f32>(0x7f800000u + (i >> 31u)), v != v) + 1.0;\n}\n", false},
    };
    low l;
    low_begin(&l);
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        gr_conformance c;
        conform(&l, planted(&l, fault[i].name, fault[i].outcome, fault[i].category, fault[i].reference, fault[i].kernel), 80, &c);
        if (c.passed != fault[i].right) show(&c);
        if (c.passed != fault[i].right) fail_msg("%s", fault[i].name);
    }
    low_end(&l);
}

/* A kernel that may write an `in` operand does not get as far as a run. */
static void an_input_cannot_be_overwritten(void **state) {
    (void)state;
    low l;
    low_begin(&l);
    char toml[900];
    snprintf(toml, sizeof toml,
             "signature = \"overwrites(x: f32[n, m]) -> y: f32[n, m]\"\ncategory = \"pointwise\"\ntolerance = \"tight\"\nsummary = \"planted\"\n"
             "[body]\nreference = \"reference.wgsl\"\n" BIND "[[kernel]]\nfile = \"kernel.wgsl\"\norder = \"fixed\"\n" BIND
             "[backward]\nform = \"none\"\nreason = \"planted\"\n");
    gr_str names[] = {GR_STR("op.toml"), GR_STR("reference.wgsl"), GR_STR("kernel.wgsl")};
    gr_str texts[] = {gr_str_of(toml), GR_STR(PLUS_ONE),
                      GR_STR("struct Params { n: u32, m: u32 }\n@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n"
                             "@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n@group(0) @binding(2) var<uniform> p: Params;\n" MAIN
                             "  y[i] = x[i] + 1.0;\n  x[i] = 0.0;\n}\n")};
    assert_null(gr_catalog_add(l.catalog, &l.d, GR_STR("overwrites@1"), names, texts, 3));
    assert_true(gr_diags_has(&l.d, GR_D_CONTRACT_BINDING_ACCESS) || gr_diags_has(&l.d, GR_D_CONTRACT_BINDING_TYPE));
    low_end(&l);
}

static const gr_op *alone(low *l, const char *map) {
    char toml[600];
    snprintf(toml, sizeof toml, "signature = \"plus(x: f32[..s]) -> y: f32[..s]\"\ncategory = \"pointwise\"\ntolerance = \"tight\"\nsummary = \"one\"\n"
             "[body.map]\ndefault = \"%s\"\n[backward]\nform = \"none\"\nreason = \"a test\"\n", map);
    gr_str name = GR_STR("op.toml"), text = gr_str_dup(&l->a, gr_str_of(toml));
    const gr_op *op = gr_op_alone(&l->a, &l->d, GR_STR("plus@1"), &name, &text, 1);
    if (!op) low_show(&l->d);
    assert_non_null(op);
    return op;
}

/* An altered op is judged by the body of another, and earns no receipt. */
static void an_altered_op_is_judged_by_the_reference(void **state) {
    (void)state;
    low l;
    gr_conformance c;
    low_begin(&l);
    gr_regime_device device = gr_regime_oracle();
    gr_conform_options o = {.cases = 24, .reference = alone(&l, "x + 1.0"), .no_shrink = true};
    assert_true(gr_op_conform(&l.a, &l.d, l.catalog, alone(&l, "1.0 + x"), &device, &o, &c));
    assert_true(c.passed && c.altered);
    assert_null(gr_receipt_make(&l.a, &l.d, l.catalog, &c, NULL));
    assert_true(gr_op_conform(&l.a, &l.d, l.catalog, alone(&l, "x + 1.0000005"), &device, &o, &c));
    assert_false(c.passed);
    assert_true(c.shrunk.n > 0);
    assert_int_equal(c.failure.n, 0);
    assert_null(gr_catalog_find(l.catalog, GR_STR("plus")));
    low_end(&l);
}

static void a_kernel_without_end_is_stopped(void **state) {
    (void)state;
    low l;
    gr_conformance c;
    low_begin(&l);
    gr_regime_device device = gr_regime_oracle();
    gr_conform_options o = {.cases = 24, .no_shrink = true, .step_limit = 1 << 16};
    const gr_op *op = planted(&l, "endless@1", "n, m", "pointwise", PLUS_ONE,
                              HEAD MAIN "  var s = 1.0;\n  for (var k = 0u; k < p.n; k += p.m - p.m) { s += 1.0; }\n  y[i] = x[i] + s;\n}\n");
    assert_true(gr_op_conform(&l.a, &l.d, l.catalog, op, &device, &o, &c));
    assert_false(c.passed);
    assert_non_null(strstr(c.reason.p, "stopped"));
    low_end(&l);
}

int main(int n, char **arg) {
    const struct CMUnitTest t[] = {cmocka_unit_test(guard_of_the_median_shrinks_to_n_equal_w), cmocka_unit_test(planted_faults_are_rejected),
                                   cmocka_unit_test(an_input_cannot_be_overwritten), cmocka_unit_test(an_altered_op_is_judged_by_the_reference),
                                   cmocka_unit_test(a_kernel_without_end_is_stopped), cmocka_unit_test(a_sample_of_the_catalog_conforms)};
    const struct CMUnitTest all[] = {cmocka_unit_test(the_catalog_conforms)};
    if (n > 1 && !strcmp(arg[1], "all")) return cmocka_run_group_tests(all, NULL, NULL);
    return cmocka_run_group_tests(t, NULL, NULL);
}
