/* Less common forms, planned and run on the oracle: bounded tensors with counts and indirect grids, operands updated in
 * place, passes that share scratch, results that nothing reads, copies that move nothing, empty tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/run.h"

#define META \
    "category = \"movement\"\ntolerance = { class = \"exact\", reason = \"moved\" }\nsummary = \"s\"\ndescription = \"d\"\ntags = [\"t\"]\nauthor = \"a\"\n" \
    "license = \"Apache-2.0\"\nreferences = []\n"
#define SUM_META \
    "category = \"reduction\"\ntolerance = \"default\"\nsummary = \"s\"\ndescription = \"d\"\ntags = [\"t\"]\nauthor = \"a\"\nlicense = \"Apache-2.0\"\nreferences = []\n"
#define BODY(binding) \
    "[body]\nreference = \"k.wgsl\"\ncpu = \"kernel\"\nbinding = \"\"\"\n" binding "\"\"\"\n[[kernel]]\nfile = \"k.wgsl\"\norder = \"fixed\"\nbinding = \"\"\"\n" binding \
    "\"\"\"\n[backward]\nform = \"none\"\nreason = \"test\"\n"

static const char keep_toml[] = "signature = \"keep_positive(x: f32[n]) -> y: f32[m <= n]\"\n" META
    BODY("bind x = read x\nbind y = write y\nbind live = count y\nbind p = uniform { n = n }\npass main over 1\n");
static const char keep_wgsl[] =
    "struct P { n: u32 }\n@group(0) @binding(0) var<storage, read> x: array<f32>;\n@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
    "@group(0) @binding(2) var<storage, read_write> live: array<u32>;\n@group(0) @binding(3) var<uniform> p: P;\n"
    "@compute @workgroup_size(1)\nfn main() {\n  var k = 0u;\n  for (var i = 0u; i < p.n; i++) { if (x[i] > 0.0) { y[k] = x[i]; k++; } }\n  live[0] = k;\n}\n";
static const char twice_toml[] = "signature = \"twice(x: f32[m <= n]) -> y: f32[m <= n]\"\n" SUM_META
    BODY("bind x = read x\nbind y = write y\nbind live = count x\nbind kept = count y\npass main indirect count(x) /^ 64\n");
static const char twice_wgsl[] =
    "@group(0) @binding(0) var<storage, read> x: array<f32>;\n@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
    "@group(0) @binding(2) var<storage, read> live: array<u32>;\n@group(0) @binding(3) var<storage, read_write> kept: array<u32>;\n@compute @workgroup_size(64)\n"
    "fn main(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {\n"
    "  let i = (w.y * g.x + w.x) * 64u + l;\n  if (i == 0u) { kept[0] = live[0]; }\n  if (i < live[0]) { y[i] = 2.0 * x[i]; }\n}\n";

/* Plans and runs text with an op or two of the test's own; outputs as bytes. */
static void run(low *l, const char *text, uint8_t **out, uint64_t *n) {
    gr_target t = gr_target_oracle();
    low_plan(l, text, &t, NULL);
    if (l->plan.verdict != GR_GREEN) low_show(&l->d);
    assert_int_equal(l->plan.verdict, GR_GREEN);
    run_plan(l, gr_oracle_api(), NULL, &l->plan, out, n);
}

static float at(const uint8_t *p, uint64_t i) {
    float f;
    memcpy(&f, p + 4 * i, 4);
    return f;
}

static void bounded(void **state) {
    (void)state;
    low l;
    uint8_t *out[3];
    uint64_t n[3];
    low_begin(&l);
    low_op(&l, "test/keep_positive@1", keep_toml, "k.wgsl", keep_wgsl, NULL, NULL);
    low_op(&l, "test/twice@1", twice_toml, "k.wgsl", twice_wgsl, NULL, NULL);
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[1000]\n  %k = test/keep_positive %x\n  %m = neg %k\n  output \"x\" %x\n  output \"k\" %k\n  output \"m\" %m\n}\n", out, n);
    assert_true(l.plan.tensors[1].count_buffer != UINT32_MAX && l.plan.tensors[2].count_buffer != UINT32_MAX);
    uint64_t k = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        if (!(at(out[0], i) > 0)) continue;
        assert_true(at(out[1], k) == at(out[0], i));
        assert_true(at(out[2], k) == -at(out[0], i));
        k++;
    }
    assert_true(k > 100);
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[1000]\n  %k = test/keep_positive %x\n  %m = test/twice %k\n  output \"k\" %k\n  output \"m\" %m\n}\n", out, n);
    uint32_t indirect = 0;
    for (uint32_t i = 0; i < l.plan.steps_n; i++) indirect += l.plan.steps[i].kind == GR_STEP_DISPATCH && l.plan.steps[i].indirect != UINT32_MAX;
    assert_int_equal(indirect, 1);
    for (uint64_t i = 0; i < k; i++) assert_true(at(out[1], i) == 2 * at(out[0], i));
    /* an operand without a count has all its elements */
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[1000]\n  %m = test/twice %x\n  output \"x\" %x\n  output \"m\" %m\n}\n", out, n);
    for (uint64_t i = 0; i < 1000; i++) assert_true(at(out[1], i) == 2 * at(out[0], i));
    low_end(&l);
}

/* What is kept stands at the front of a tensor of fixed size, made from the count on the device. */
static void compact_and_fill(void **state) {
    (void)state;
    low l;
    uint8_t *out[2];
    uint64_t n[2];
    low_begin(&l);
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[5000]\n  %zero = constant 0 : f32[]\n  %keep = greater %x, %zero\n  %k = compact %x, %keep\n"
            "  %y = fill_rest %k value=-7\n  output \"x\" %x\n  output \"y\" %y\n}\n", out, n);
    uint64_t k = 0;
    for (uint64_t i = 0; i < 5000; i++)
        if (at(out[0], i) > 0) assert_true(at(out[1], k++) == at(out[0], i));
    assert_true(k > 500 && k < 4500);
    for (; k < 5000; k++) assert_true(at(out[1], k) == -7);
    low_end(&l);
}

static const char bump_toml[] = "signature = \"bump(a: f32[n], by: f32[]) -> a: f32[n]\"\n" SUM_META
    BODY("bind acc = inout a\nbind by = read by\nbind p = uniform { n = n }\npass main over n\n");
static const char bump_wgsl[] =
    "struct P { n: u32 }\n@group(0) @binding(0) var<storage, read_write> acc: array<f32>;\n@group(0) @binding(1) var<storage, read> by: array<f32>;\n"
    "@group(0) @binding(2) var<uniform> p: P;\n@compute @workgroup_size(64)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>) { if (id.x < p.n) { acc[id.x] += by[0]; } }\n";

/* The operand is read again afterwards: the update must not be seen there. */
static void in_place(void **state) {
    (void)state;
    low l;
    uint8_t *out[2];
    uint64_t n[2];
    low_begin(&l);
    low_op(&l, "test/bump@1", bump_toml, "k.wgsl", bump_wgsl, NULL, NULL);
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[100]\n  %c = constant 0.5 : f32[]\n  %a = neg %x\n  %b = test/bump %a, %c\n  %d = sub %b, %a\n  output \"d\" %d\n  output \"a\" %a\n}\n", out, n);
    for (uint64_t i = 0; i < 100; i++) {
        float a = at(out[1], i), b = a + 0.5f;
        assert_true(at(out[0], i) == b - a);
    }
    low_end(&l);
}

static const char passes_toml[] = "signature = \"square_sum(x: f32[n]) -> y: f32[], z: f32[n]\"\n" SUM_META
    BODY("bind x = read x\nbind y = write y\nbind z = write z\nbind t = scratch f32[n]\nbind p = uniform { n = n }\npass first over n\npass second over 1\n");
static const char passes_wgsl[] =
    "struct P { n: u32 }\n@group(0) @binding(0) var<storage, read> x: array<f32>;\n@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
    "@group(0) @binding(2) var<storage, read_write> z: array<f32>;\n@group(0) @binding(3) var<storage, read_write> t: array<f32>;\n@group(0) @binding(4) var<uniform> p: P;\n"
    "@compute @workgroup_size(64)\nfn first(@builtin(global_invocation_id) id: vec3<u32>) { if (id.x < p.n) { t[id.x] = x[id.x] * x[id.x]; z[id.x] = x[id.x]; } }\n"
    "@compute @workgroup_size(1)\nfn second() { var s = 0.0; for (var i = 0u; i < p.n; i++) { s += t[i]; } y[0] = s; }\n";

static void passes_and_dead_results(void **state) {
    (void)state;
    low l;
    uint8_t *out[2];
    uint64_t n[2];
    low_begin(&l);
    low_op(&l, "test/square_sum@1", passes_toml, "k.wgsl", passes_wgsl, NULL, NULL);
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[50]\n  %s, %z = test/square_sum %x\n  output \"s\" %s\n  output \"x\" %x\n}\n", out, n);
    float want = 0;
    for (uint64_t i = 0; i < 50; i++) want += at(out[1], i) * at(out[1], i);
    assert_true(at(out[0], 0) == want);
    assert_int_equal(run_count(&l.plan, GR_STEP_DISPATCH), 2);
    low_end(&l);
}

static void copies_move_nothing(void **state) {
    (void)state;
    low l;
    uint8_t *out[2];
    uint64_t n[2];
    low_begin(&l);
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[50]\n  %a = neg %x\n  %b = identity %a\n  %c = neg %b\n  output \"c\" %c\n  output \"x\" %x\n}\n", out, n);
    assert_int_equal(run_count(&l.plan, GR_STEP_DISPATCH), 2);
    assert_memory_equal(out[0], out[1], 200);
    low_end(&l);
}

static void empty(void **state) {
    (void)state;
    low l;
    uint8_t *out[2];
    uint64_t n[2];
    low_begin(&l);
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[0, 3]\n  %y = neg %x\n  %s = reduce_sum %y axes=[0]\n  output \"y\" %y\n  output \"s\" %s\n}\n", out, n);
    assert_int_equal(n[0], 0);
    assert_int_equal(n[1], 12);
    for (uint64_t i = 0; i < 3; i++) assert_true(at(out[1], i) == 0);
    low_end(&l);
}

static void variadic(void **state) {
    (void)state;
    low l;
    uint8_t *out[4];
    uint64_t n[4];
    low_begin(&l);
    run(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[2, 3]\n  %y = input \"y\" : f32[2, 1]\n  %z = input \"z\" : f32[2, 0]\n  %c = concat %x, %z, %y, %x axis=1\n"
            "  output \"c\" %c\n  output \"x\" %x\n  output \"y\" %y\n}\n", out, n);
    for (uint64_t r = 0; r < 2; r++)
        for (uint64_t k = 0; k < 7; k++)
            assert_true(at(out[0], r * 7 + k) == (k < 3 ? at(out[1], r * 3 + k) : k == 3 ? at(out[2], r) : at(out[1], r * 3 + k - 4)));
    assert_int_equal(run_count(&l.plan, GR_STEP_DISPATCH), 3);
    low_end(&l);
}

/* Every failing allocation is reported or harmless; nothing crashes and nothing leaks. */
static void failing_memory(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    t.max_storage_binding = 65536;
    low_begin(&l);
    low_graph(&l, "graph g {\n  tier debug\n  symbol n = 50000\n  %x = input \"x\" : f32[n = 50000]\n  %y = user/kemal/windowed_median %x w=7\n  %m = reduce_sum %y\n  %c = sub %y, %m\n  output \"c\" %c\n}\n");
    bool done = false;
    for (uint64_t nth = 1; !done && nth < 4000; nth += nth < 200 ? 1 : 17) {
        gr_arena a = {0};
        gr_diags d;
        gr_kernels k;
        gr_plan p;
        gr_diags_init(&d);
        uint64_t before = gr_heap_count();
        gr_heap_fail_nth(nth);
        bool ok = gr_graph_lower(&a, &d, &l.graph, l.catalog, &t, &k) && gr_kernels_lower(&a, &d, &k, l.catalog, NULL, &p);
        done = gr_heap_count() - before < nth;
        gr_heap_fail_nth(0);
        if (!ok) assert_true(!gr_diags_ok(&d) || d.out_of_memory);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    assert_true(done);
    low_end(&l);
}

/* y = x x + relu(x) and a copy, in direction 1, 0: tangents pass through dispatches and copies; another direction leaves nothing of
 * the first behind. The trace says where relu's side changed. */
static void dual_numbers(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_oracle();
    gr_exec_options dual = {.threads = 1, .dual = true}, trace = {.threads = 2, .wide = true, .trace = true};
    const float x[] = {3, -2}, other[] = {-3, -2};
    const double first[] = {1, 0}, second[] = {0, 1}, exact[] = {0x1p-40 + 3, -2};
    uint64_t n;
    low_begin(&l);
    low_plan(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[2]\n  %q = mul %x, %x : f32[2]\n  %r = relu %x : f32[2]\n  %y = add %q, %r : f32[2]\n"
                 "  output \"y\" %y\n}\n", &t, NULL);
    const gr_exec_api *api = gr_oracle_api();
    gr_exec *e = api->prepare(NULL, &l.d, &l.plan, &dual);
    gr_value_id in = l.plan.graph->values[0].source == GR_SOURCE_INPUT ? 0 : GR_NO_VALUE, out = l.plan.graph->outputs[0].value;
    assert_non_null(e);
    assert_true(api->write(e, &l.d, in, x, sizeof x) && api->write_tangent(e, &l.d, in, first, 2));
    gr_ticket k = api->submit(e, &l.d);
    const double *dy = api->output_tangent(e, k, out, &n);
    assert_true(k && dy && dy[0] == 7 && dy[1] == 0);
    assert_true(api->write_wide(e, &l.d, in, exact, 2) && api->write_tangent(e, &l.d, in, second, 2));
    k = api->submit(e, &l.d);
    dy = api->output_tangent(e, k, out, &n);
    assert_true(dy[0] == 0 && dy[1] == -4);
    assert_true(api->output_wide(e, k, out, &n)[0] == exact[0] * exact[0] + exact[0]);
    api->release(e);
    e = api->prepare(NULL, &l.d, &l.plan, &trace);
    uint64_t was[3];
    for (int i = 0; i < 3; i++) {
        assert_true(api->write(e, &l.d, in, i == 1 ? other : x, sizeof x));
        was[i] = api->trace(e, api->submit(e, &l.d));
    }
    assert_true(was[0] == was[2] && was[0] != was[1]);
    assert_null(api->output_tangent(e, 3, out, &n));
    api->release(e);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {
        cmocka_unit_test(bounded), cmocka_unit_test(compact_and_fill), cmocka_unit_test(in_place), cmocka_unit_test(passes_and_dead_results), cmocka_unit_test(copies_move_nothing),
        cmocka_unit_test(empty), cmocka_unit_test(variadic), cmocka_unit_test(dual_numbers), cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(t, NULL, NULL);
}
