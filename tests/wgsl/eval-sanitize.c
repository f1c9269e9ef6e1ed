/* The sanitizer: planted faults are found, with name and line; sound kernels are not accused. */
#include "wgsl/eval-harness.h"
#include "wgsl/vm.h"

static harness h;

/* Lines of the text: 1..3 are HARNESS_IO. */
#define MAIN(size, body) \
    "@compute @workgroup_size(" #size ")\nfn main(@builtin(global_invocation_id) g: vec3<u32>,\n  @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) w: vec3<u32>) {\n" \
    "  let i = g.x;\n" body "\n}\n"

typedef struct fault {
    const char *name, *text;
    gr_diag_name want; /* NONE: nothing may be reported */
    uint32_t line;     /* 0: any */
    const char *says;  /* part of the message */
} fault;

static const fault faults[] = {
    {"off by one", HARNESS_IO MAIN(4, "  f[i] = x[i + 61u];"), GR_D_WGSL_OUT_OF_BOUNDS, 8, "\"x\", which has 64 elements"},
    {"off by one, guarded", HARNESS_IO MAIN(4, "  if (i + 61u < 64u) { f[i] = x[i + 61u]; }"), GR_D_NONE, 0, NULL},
    {"off by one in a condition", HARNESS_IO MAIN(4, "  if (i + 61u < 64u && x[i + 61u] > 0.0) { f[i] = 1.0; }"), GR_D_NONE, 0, NULL},
    {"negative index", HARNESS_IO MAIN(4, "  var a: array<u32, 4> = array<u32, 4>(1u, 2u, 3u, 4u);\n  o[i] = a[i32(i) - 1];"), GR_D_WGSL_OUT_OF_BOUNDS, 9, "index -1 in \"a\""},
    {"store past the end", HARNESS_IO MAIN(4, "  o[i * 30u] = 1u;"), GR_D_WGSL_OUT_OF_BOUNDS, 8, "index 90"},
    {"past a vector", HARNESS_IO MAIN(4, "  var v = vec3<f32>(1.0, 2.0, 3.0);\n  f[i] = v[i];"), GR_D_WGSL_OUT_OF_BOUNDS, 9, "a vector or matrix"},
    {"past workgroup memory", HARNESS_IO "var<workgroup> t: array<u32, 4>;\n" MAIN(4, "  t[l + 1u] = l;"), GR_D_WGSL_OUT_OF_BOUNDS, 9, "\"t\", which has 4"},
    {"past a constant table", HARNESS_IO MAIN(4, "  o[i] = array<u32, 3>(1u, 2u, 3u)[i];"), GR_D_WGSL_OUT_OF_BOUNDS, 8, "has 3 elements"},
    {"missing barrier", HARNESS_IO "var<workgroup> t: array<u32, 4>;\n" MAIN(4, "  t[l] = l;\n  o[i] = t[3u - l];"), GR_D_WGSL_DATA_RACE, 10, "workgroup variable \"t\""},
    {"barrier in place", HARNESS_IO "var<workgroup> t: array<u32, 4>;\n" MAIN(4, "  t[l] = l;\n  workgroupBarrier();\n  o[i] = t[3u - l];"), GR_D_NONE, 0, NULL},
    {"read before overwrite", HARNESS_IO "var<workgroup> t: array<u32, 4>;\n" MAIN(4, "  t[l] = l;\n  workgroupBarrier();\n  let v = t[3u - l];\n  t[l] = v + 1u;\n  o[i] = v;"),
     GR_D_WGSL_DATA_RACE, 12, "writes word"},
    {"missing barrier in a tree", HARNESS_IO "var<workgroup> t: array<u32, 8>;\n" MAIN(8, "  t[l] = l;\n  workgroupBarrier();\n"
     "  for (var s = 4u; s > 0u; s >>= 1u) {\n    if (l < s) { t[l] += t[l + s]; }\n  }\n  o[i] = l;"), GR_D_WGSL_DATA_RACE, 12, "\"t\""},
    {"sound tree", HARNESS_IO "var<workgroup> t: array<u32, 8>;\n" MAIN(8, "  t[l] = l;\n  workgroupBarrier();\n"
     "  for (var s = 4u; s > 0u; s >>= 1u) {\n    if (l < s) { t[l] += t[l + s]; }\n    workgroupBarrier();\n  }\n  if (l == 0u) { o[w.x] = t[0]; }"), GR_D_NONE, 0, NULL},
    {"two writers", HARNESS_IO MAIN(4, "  o[i / 2u] = i;"), GR_D_WGSL_DATA_RACE, 8, "storage variable \"o\""},
    {"storage needs its own barrier", HARNESS_IO MAIN(4, "  o[i] = i;\n  workgroupBarrier();\n  o[8u + i] = o[3u - i];"), GR_D_WGSL_DATA_RACE, 10, "storage variable"},
    {"storage barrier", HARNESS_IO MAIN(4, "  o[i] = i;\n  storageBarrier();\n  o[32u + i] = o[w.x * 4u + 3u - l];"), GR_D_NONE, 0, NULL},
    {"across workgroups", HARNESS_IO MAIN(4, "  o[i] = i;\n  storageBarrier();\n  o[32u + i] = o[i ^ 4u];"), GR_D_WGSL_DATA_RACE, 8, "another workgroup"},
    {"shared counter without atomics", HARNESS_IO MAIN(4, "  if (l == 0u) { o[0] += 1u; }"), GR_D_WGSL_DATA_RACE, 8, "another workgroup"},
    {"atomics do not race", "@group(0) @binding(0) var<storage, read_write> q: array<atomic<u32>>;\n" MAIN(4, "  atomicAdd(&q[0], i);"), GR_D_NONE, 0, NULL},
    {"own words do not race", HARNESS_IO MAIN(4, "  for (var k = 0u; k < 3u; k++) { f[i] += x[i]; }"), GR_D_NONE, 0, NULL},
    {"unwritten workgroup memory", HARNESS_IO "var<workgroup> t: array<u32, 8>;\n" MAIN(4, "  t[l] = l;\n  workgroupBarrier();\n  o[i] = t[l + 1u];"),
     GR_D_WGSL_UNINITIALISED_READ, 11, "workgroup variable \"t\""},
    {"workgroup counters start at zero", HARNESS_IO "var<workgroup> c: atomic<u32>;\n" MAIN(4, "  atomicAdd(&c, 1u);"), GR_D_NONE, 0, NULL},
    {"variable never written", HARNESS_IO MAIN(4, "  var s: u32;\n  s += i;\n  o[i] = s;"), GR_D_WGSL_IMPLICIT_ZERO, 9, "\"s\""},
    {"array partly written", HARNESS_IO MAIN(4, "  var a: array<f32, 4>;\n  for (var k = 0u; k < 3u; k++) { a[k] = 1.0; }\n  f[i] = a[l];"), GR_D_WGSL_IMPLICIT_ZERO, 10, "word 3 of private variable \"a\""},
    {"written on one path", HARNESS_IO MAIN(4, "  var s: u32;\n  if (i > 1u) { s = 4u; }\n  o[i] = s;"), GR_D_WGSL_IMPLICIT_ZERO, 10, "\"s\""},
    {"written everywhere", HARNESS_IO MAIN(4, "  var s: u32;\n  if (i > 1u) { s = 4u; } else { s = 5u; }\n  o[i] = s;"), GR_D_NONE, 0, NULL},
    {"endless loop", HARNESS_IO MAIN(4, "  var k = 0u;\n  while (k < 10u) {\n    if (o[63] == 1u) { k++; }\n  }"), GR_D_WGSL_STEP_LIMIT, 9, NULL},
};

static const gr_diag *find(gr_diag_name name) {
    for (uint32_t k = 0; k < h.d.list.n; k++)
        if (h.d.list.v[k].name == name) return &h.d.list.v[k];
    return NULL;
}

static bool judge(const fault *t) {
    if (t->want == GR_D_NONE) return h.ok && h.d.list.n == 0;
    const gr_diag *g = find(t->want);
    if (!g || (t->line && g->place.line != t->line) || h.ok != (g->severity != GR_ERROR)) return false;
    char message[512];
    snprintf(message, sizeof message, "%.*s", GR_STR_ARG(g->message));
    return !t->says || strstr(message, t->says);
}

static void planted_faults(void **state) {
    (void)state;
    uint32_t bad = 0;
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        const gr_eval_options opt = {.mode = GR_EVAL_SANITIZER, .step_limit = 1000};
        gr_diags_free(&h.d);
        harness_clear(&h);
        harness_run(&h, faults[k].text, &opt, 2, 1, 1, false);
        if (judge(&faults[k])) continue;
        bad++;
        harness_explain(&h, faults[k].name, faults[k].text);
    }
    assert_int_equal(bad, 0);
}

/* What the sanitizer computes is what f32 mode computes. */
static void results_are_those_of_f32(void **state) {
    (void)state;
    static harness plain;
    static const char text[] = HARNESS_IO "var<workgroup> t: array<f32, 8>;\n"
        MAIN(8, "  var a: array<f32, 4>; for (var k = 0u; k < 4u; k++) { a[k] = x[i + k] * 0.3; }\n  t[l] = a[l % 4u];\n"
                "  workgroupBarrier();\n  f[i] = t[7u - l] + a[3]; o[i] = u32(f[i] + 100.0);");
    gr_eval_options opt = {.mode = GR_EVAL_SANITIZER};
    gr_diags_free(&h.d);
    harness_clear(&h);
    harness_clear(&plain);
    assert_true(harness_run(&h, text, &opt, 3, 1, 1, false));
    opt.mode = GR_EVAL_F32;
    assert_true(harness_run(&plain, text, &opt, 3, 1, 1, false));
    assert_memory_equal(h.f, plain.f, sizeof h.f);
    assert_memory_equal(h.o, plain.o, sizeof h.o);
    gr_diags_free(&plain.d);
}

static void unwritten_storage_is_found(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags_clear(&h.d);
    static const char text[] = HARNESS_IO MAIN(4, "  if (i < 3u) { f[i] = 1.0; }\n  f[8u + i] = f[i] + x[i];");
    gr_wgsl_module *m = gr_wgsl_load(&a, &h.d, GR_STR("t"), gr_str_of(text), NULL);
    const gr_eval_options opt = {.mode = GR_EVAL_SANITIZER};
    gr_eval_program *p = m ? gr_eval_compile(&a, &h.d, m, GR_STR(""), &opt) : NULL;
    assert_non_null(p);
    const gr_eval_binding b[] = {{.binding = 0, .bytes = h.o, .size = sizeof h.o},
                                 {.binding = 1, .bytes = h.f, .size = sizeof h.f, .uninitialised = true},
                                 {.binding = 2, .bytes = h.x, .size = sizeof h.x}};
    const uint32_t grid[3] = {1, 1, 1};
    gr_eval_stats stats;
    assert_false(gr_eval_dispatch(p, &h.d, b, 3, grid, &stats));
    const gr_diag *g = find(GR_D_WGSL_UNINITIALISED_READ);
    assert_non_null(g);
    assert_int_equal(g->place.line, 9);
    assert_int_equal(stats.findings, 1);
    gr_arena_free(&a);
}

/* A state runs again: what an earlier dispatch did to a word is no race. */
static void dispatches_do_not_race(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags_free(&h.d);
    harness_clear(&h);
    static const char text[] = HARNESS_IO MAIN(4, "  f[i + u32(x[0])] = 1.0;\n  o[i] = u32(f[i + u32(x[0])]);");
    gr_wgsl_module *m = gr_wgsl_load(&a, &h.d, GR_STR("t"), gr_str_of(text), NULL);
    const gr_eval_options opt = {.mode = GR_EVAL_SANITIZER};
    gr_eval_program *p = m ? gr_eval_compile(&a, &h.d, m, GR_STR(""), &opt) : NULL;
    assert_non_null(p);
    const gr_eval_binding b[] = {{.binding = 0, .bytes = h.o, .size = sizeof h.o}, {.binding = 1, .bytes = h.f, .size = sizeof h.f, .uninitialised = true},
                                 {.binding = 2, .bytes = h.x, .size = sizeof h.x}};
    const uint32_t grid[3] = {2, 1, 1};
    gr_eval_state *s = gr_eval_state_new(p, &h.d, b, 3, grid);
    assert_non_null(s);
    h.x[0] = 0;
    assert_true(gr_eval_state_run(s, &h.d, 0, 2));
    h.x[0] = 4; /* the second workgroup's words are now the first one's */
    assert_true(gr_eval_state_run(s, &h.d, 0, 2));
    assert_int_equal(gr_eval_state_stats(s).findings, 0);
    gr_eval_state_free(s);
    gr_arena_free(&a);
}

/* Of workgroups and of the lanes of an atomic; a maximum is the same in any order. */
static void the_opposite_order(void **state) {
    (void)state;
    static const char text[] = "@group(0) @binding(0) var<storage, read_write> o: array<atomic<u32>>;\n"
                               MAIN(4, "  atomicStore(&o[0], i); atomicMax(&o[1], i);");
    for (uint32_t reverse = 0; reverse < 2; reverse++) {
        gr_arena a = {0};
        gr_diags_free(&h.d);
        harness_clear(&h);
        gr_wgsl_module *m = gr_wgsl_load(&a, &h.d, GR_STR("t"), gr_str_of(text), NULL);
        const gr_eval_options opt = {.mode = GR_EVAL_SANITIZER, .reverse = reverse != 0};
        gr_eval_program *p = m ? gr_eval_compile(&a, &h.d, m, GR_STR(""), &opt) : NULL;
        assert_non_null(p);
        const gr_eval_binding b[] = {{.binding = 0, .bytes = h.o, .size = sizeof h.o}};
        const uint32_t grid[3] = {3, 1, 1};
        assert_true(gr_eval_dispatch(p, &h.d, b, 1, grid, NULL));
        assert_int_equal(h.o[0], reverse ? 0 : 11);
        assert_int_equal(h.o[1], 11);
        gr_arena_free(&a);
    }
}

/* The front end refuses such kernels; a hand-made lane program shows that the check stands alone. */
static void barrier_under_masks(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags_clear(&h.d);
    gr_wgsl_module *m = gr_wgsl_load(&a, &h.d, GR_STR("t"), GR_STR("@compute @workgroup_size(4)\nfn main() {\n}\n"), NULL);
    assert_non_null(m);
    vm_program *p = GR_NEW(&a, vm_program);
    *p = (vm_program){.arena = &a, .module = m, .d = &h.d, .mode = GR_EVAL_SANITIZER, .kind = LANE_F32, .unit = 4, .size = {4, 1, 1},
                      .invocations = 4, .subgroup = 32, .step_limit = 1000, .sanitize = true};
    assert_true(vm_init(p));
    vm_reg index = vm_read_input(p, VM_IN_INDEX);
    vm_emit(p, VM_BARRIER)->sub = 1;
    vm_open(p, VM_IF, vm_lane(p, LANE_LT_U, index, vm_int(p, 2), 0));
    p->at = 28;
    vm_emit(p, VM_BARRIER)->sub = 1;
    vm_close(p);
    vm_emit(p, VM_END);
    assert_true(vm_analyse(p, false));
    const uint32_t grid[3] = {1, 1, 1};
    gr_eval_stats stats;
    assert_false(gr_eval_dispatch(p, &h.d, NULL, 0, grid, &stats));
    const gr_diag *g = find(GR_D_WGSL_NON_UNIFORM_BARRIER);
    assert_non_null(g);
    assert_int_equal(g->place.line, 2);
    assert_int_equal(stats.findings, 1);
    gr_diags_free(&h.d);
    gr_arena_free(&a);
}

int main(void) {
    gr_diags_init(&h.d);
    const struct CMUnitTest tests[] = {cmocka_unit_test(planted_faults), cmocka_unit_test(results_are_those_of_f32),
                                       cmocka_unit_test(unwritten_storage_is_found), cmocka_unit_test(dispatches_do_not_race), cmocka_unit_test(barrier_under_masks), cmocka_unit_test(the_opposite_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
