/* Green, yellow and red: every diagnostic of the rung, and fixes that hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "lower.h"

#define BIG(extra) \
    "graph big {\n  tier debug\n" extra "  symbol n = 1000000\n  %x = input \"x\" : f32[n = 1000000]\n  %a = neg %x\n  %b = exp %a\n  output \"y\" %b\n}\n"

static bool warned(const gr_plan *p, gr_diag_name name) {
    for (uint32_t i = 0; i < p->warnings_n; i++)
        if (p->warnings[i] == name) return true;
    return false;
}

static void check_fixes(const gr_plan *p) {
    assert_true(p->fixes_n >= 2);
    for (uint32_t i = 0; i < p->fixes_n; i++) {
        assert_true(p->fixes[i].verified);
        assert_true(p->fixes[i].becomes == GR_GREEN || p->fixes[i].becomes == GR_YELLOW);
    }
}

static const char despike[] =
    "graph despike {\n  tier debug\n  tolerance default\n  budget gpu 256 MiB\n  symbol n = 108000\n  %x = input \"ecg\" : f32[n = 108000]\n"
    "  %y = user/kemal/windowed_median %x w=7 @ node \"median\"\n"
    "  %m = reduce_mean %y axes=[0] keep_dimensions=false @ node \"mean\"\n  %c = sub %y, %m @ node \"center\"\n  output \"clean\" %c\n}\n";

static void green(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, despike, &t, NULL);
    assert_int_equal(l.plan.verdict, GR_GREEN);
    assert_int_equal(l.plan.warnings_n, 0);
    gr_buf b = {0}, j = {0};
    gr_plan_print(&b, &l.plan);
    golden_check("tests/plan/despike.plan", gr_buf_view(&b));
    assert_true(gr_plan_print_json(&j, &l.plan));
    golden_check("tests/plan/despike.plan.json", gr_buf_view(&j));
    gr_doc doc;
    assert_true(gr_json_parse(&l.a, &l.d, GR_STR("plan"), gr_buf_view(&j), &doc));
    static const char *const keys[] = {"determinism_tier", "tolerance_class", "peak_memory", "verdict", "guarantee"};
    for (int i = 0; i < 5; i++) assert_non_null(gr_value_get(doc.root, keys[i]));
    gr_buf_free(&b);
    gr_buf_free(&j);
    low_end(&l);
}

static void streams_under_a_small_budget(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, BIG("  budget gpu 2 MiB\n"), &t, NULL);
    assert_int_equal(l.plan.verdict, GR_YELLOW);
    assert_true(warned(&l.plan, GR_D_PLAN_STREAMING_SLOWER));
    assert_true(l.plan.peak_total <= (2u << 20));
    assert_true(gr_diags_ok(&l.d));
    low_end(&l);
}

/* An input that stays on disk: on the CPU too, where nothing else can be streamed. The plan says what it reads, and is read back. */
static void streams_from_disk(void **state) {
    (void)state;
    static const char text[] = "graph g {\n  tier debug\n  budget gpu 2 MiB\n  budget cpu 2 MiB\n  %%x = input \"x\" : f32[n = 4194304]%s\n"
                               "  %%y = reduce_sum %%x\n  output \"y\" %%y\n}\n";
    for (int oracle = 0; oracle < 2; oracle++) {
        low l;
        char graph[300];
        gr_target t = oracle ? gr_target_oracle() : gr_target_webgpu_default();
        gr_buf b = {0}, again = {0};
        gr_plan_stream s;
        gr_plan read;
        low_begin(&l);
        snprintf(graph, sizeof graph, text, " stream");
        low_plan(&l, graph, &t, NULL);
        assert_int_equal(l.plan.verdict, GR_YELLOW);
        assert_true(l.plan.peak_total <= (2u << 20) && gr_diags_ok(&l.d));
        assert_true(gr_plan_streams(&l.plan, 0, &s) && s.disk && s.up == 16u << 20 && s.down == 0 && s.parts >= 8);
        gr_plan_print(&b, &l.plan);
        assert_non_null(strstr(b.p, "  streaming         %x from disk, 16 MiB up in "));
        assert_true(gr_plan_parse(&l.a, &l.d, GR_STR("g.plan"), gr_buf_view(&b), &l.kernels, &read));
        gr_plan_print(&again, &read);
        assert_string_equal(b.p, again.p);
        gr_buf_free(&b);
        gr_buf_free(&again);
        low_end(&l);
        low_begin(&l);
        snprintf(graph, sizeof graph, text, "");
        low_plan(&l, graph, &t, NULL);
        assert_int_equal(l.plan.verdict, oracle ? GR_RED : GR_YELLOW);
        low_end(&l);
    }
}

/* Work counts the terms of a sum once each, by eights: dimensions of a size in brackets, grouped channels and windows are not multiplied in twice. */
static void work_of_contractions(void **state) {
    (void)state;
    static const struct { const char *text; uint64_t results, terms; } calls[] = {
        {"  %x = input \"x\" : f32[64, 32]\n  %w = input \"w\" : f32[32, 48]\n  %y = matmul %x, %w\n", 64 * 48, 32},
        {"  %x = input \"x\" : f32[8, 16, 12, 12]\n  %w = input \"w\" : f32[24, 16, 3, 3]\n  %y = conv2d_nchw %x, %w padding=[1, 1, 1, 1]\n", 8 * 24 * 144, 16 * 9},
        {"  %x = input \"x\" : f32[8, 16, 12, 12]\n  %w = input \"w\" : f32[16, 1, 5, 5]\n  %y = conv2d_nchw %x, %w padding=[2, 2, 2, 2] groups=16\n", 8 * 16 * 144, 25},
        {"  %x = input \"x\" : f32[8, 16, 12, 12]\n  %w = input \"w\" : f32[8, 24, 12, 12]\n  %y = conv2d_filter_gradient %x, %w padding=[1, 1, 1, 1] window=[3, 3]\n", 24 * 16 * 9, 8 * 144},
        {"  %x = input \"x\" : f32[1000]\n  %y = user/kemal/windowed_median %x w=9\n", 992, 9 * 8},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        low l;
        char graph[500];
        gr_target t = gr_target_oracle();
        uint64_t work = 0, want = calls[i].results * (calls[i].terms / 8);
        low_begin(&l);
        snprintf(graph, sizeof graph, "graph g {\n  tier debug\n%s  output \"y\" %%y\n}\n", calls[i].text);
        low_plan(&l, graph, &t, NULL);
        for (uint32_t k = 0; k < l.plan.steps_n; k++) work += l.plan.steps[k].work;
        if (work < want || work > want + 100) print_error("%s: work %llu instead of %llu\n", calls[i].text, (unsigned long long)work, (unsigned long long)want);
        assert_true(work >= want && work <= want + 100);
        low_end(&l);
    }
}

static void over_budget(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, BIG("  budget gpu 4 KiB\n"), &t, NULL);
    assert_int_equal(l.plan.verdict, GR_RED);
    assert_true(warned(&l.plan, GR_D_PLAN_OVER_BUDGET));
    assert_true(gr_diags_has(&l.d, GR_D_PLAN_OVER_BUDGET));
    check_fixes(&l.plan);
    assert_non_null(strstr(l.plan.fixes[0].change.p, "raise the budget to "));
    low_end(&l);
}

static void budget_override(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    gr_plan_options o = {.budget_gpu = UINT64_C(64) << 20};
    low_begin(&l);
    low_plan(&l, BIG("  budget gpu 4 KiB\n"), &t, &o);
    assert_int_equal(l.plan.verdict, GR_GREEN);
    low_end(&l);
}

static void heavy_on_cpu(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_oracle();
    gr_plan_options o = {.cpu_yellow_seconds = 1e-3, .cpu_red_seconds = 1e9};
    low_begin(&l);
    low_plan(&l, BIG(""), &t, &o);
    assert_int_equal(l.plan.verdict, GR_YELLOW);
    assert_true(warned(&l.plan, GR_D_PLAN_HEAVY_ON_CPU));
    o.cpu_red_seconds = 2e-3;
    low_plan(&l, BIG(""), &t, &o);
    assert_int_equal(l.plan.verdict, GR_RED);
    assert_true(warned(&l.plan, GR_D_PLAN_TOO_HEAVY_ON_CPU));
    check_fixes(&l.plan);
    t.heavy_allowed = true;
    low_plan(&l, BIG(""), &t, &o);
    assert_int_equal(l.plan.verdict, GR_YELLOW);
    low_end(&l);
}

static void guarantee(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default(), cpu = gr_target_oracle();
    low_begin(&l);
    low_plan(&l, BIG("  guarantee bitwise_across_devices\n"), &t, NULL);
    assert_int_equal(l.plan.verdict, GR_RED);
    assert_true(warned(&l.plan, GR_D_PLAN_GUARANTEE_UNMEETABLE));
    check_fixes(&l.plan);
    gr_diags_clear(&l.d);
    low_plan(&l, BIG("  guarantee bitwise_across_devices\n"), &cpu, NULL);
    assert_int_equal(l.plan.verdict, GR_GREEN);
    gr_plan_options o = {.tier = GR_TIER_FAST};
    low_plan(&l, BIG("  guarantee replayable\n"), &t, &o);
    assert_int_equal(l.plan.verdict, GR_RED);
    check_fixes(&l.plan);
    low_end(&l);
}

static void tier_lowered(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    gr_plan_options o = {.tier = GR_TIER_PROD};
    low_begin(&l);
    low_plan(&l, BIG(""), &t, &o);
    assert_true(l.plan.tier_lowered);
    assert_int_equal(l.plan.tier, GR_TIER_PROD);
    assert_int_equal(l.plan.guarantee, GR_GUARANTEE_CONVERGENT);
    assert_true(warned(&l.plan, GR_D_CANVAS_TIER_LOWERED));
    assert_true(gr_diags_has(&l.d, GR_D_CANVAS_TIER_LOWERED));
    low_end(&l);
}

static void tolerance(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, BIG("  tolerance exact\n"), &t, NULL);
    assert_int_equal(l.plan.verdict, GR_RED);
    assert_true(warned(&l.plan, GR_D_PLAN_TOLERANCE_UNMET));
    check_fixes(&l.plan);
    low_end(&l);
}

/* A gather has no split clause: its operand is over the limit and nothing may cut it. */
static void not_splittable(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    t.max_storage_binding = 1 << 20;
    low_begin(&l);
    low_plan(&l, "graph g {\n  tier debug\n  symbol n = 1000000\n  %x = input \"x\" : f32[n = 1000000]\n  %i = input \"i\" : i32[10]\n"
                 "  %y = gather %x, %i axis=0 @ node \"pick\"\n  output \"y\" %y\n}\n", &t, NULL);
    assert_int_equal(l.plan.verdict, GR_RED);
    assert_true(warned(&l.plan, GR_D_PLAN_NOT_SPLITTABLE));
    assert_non_null(strstr(l.d.list.v[0].message.p, "node \"pick\""));
    check_fixes(&l.plan);
    low_end(&l);
}

static const char wide_grid[] =
    "struct P { n: u32 }\n@group(0) @binding(0) var<storage, read> x: array<f32>;\n@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
    "@group(0) @binding(2) var<uniform> p: P;\n@compute @workgroup_size(1)\nfn main(@builtin(workgroup_id) w: vec3<u32>) { if (w.x < p.n) { y[w.x] = x[w.x]; } }\n";
#define GRID_OP(split) \
    "signature = \"grid_copy(x: f32[n]) -> y: f32[n]\"\ncategory = \"movement\"\ntolerance = { class = \"exact\", reason = \"moved\" }\nsummary = \"s\"\n" \
    "description = \"d\"\ntags = [\"t\"]\nauthor = \"a\"\nlicense = \"Apache-2.0\"\nreferences = []\n[body]\nreference = \"k.wgsl\"\ncpu = \"reference\"\n" \
    "binding = \"\"\"\nbind x = read x\nbind y = write y\nbind p = uniform { n = n }\npass main grid n, 1, 1\n" split "\"\"\"\n[[kernel]]\nfile = \"k.wgsl\"\norder = \"fixed\"\n" \
    "binding = \"\"\"\nbind x = read x\nbind y = write y\nbind p = uniform { n = n }\npass main grid n, 1, 1\n" split "\"\"\"\n[backward]\nform = \"none\"\nreason = \"test\"\n"
static const char grid_graph[] = "graph g {\n  tier debug\n  symbol n = 100000\n  %x = input \"x\" : f32[n = 100000]\n  %y = test/grid_copy %x\n  output \"y\" %y\n}\n";

static void grids(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_op(&l, "test/grid_copy@1", GRID_OP(""), "k.wgsl", wide_grid, NULL, NULL);
    low_plan(&l, grid_graph, &t, NULL);
    assert_int_equal(l.plan.verdict, GR_RED);
    assert_true(warned(&l.plan, GR_D_PLAN_DISPATCH_TOO_LARGE));
    check_fixes(&l.plan);
    low_end(&l);
    low_begin(&l);
    low_op(&l, "test/grid_copy@1", GRID_OP("split n: y[lo..hi] needs x[lo..hi]\n"), "k.wgsl", wide_grid, NULL, NULL);
    low_plan(&l, grid_graph, &t, NULL);
    assert_int_equal(l.plan.verdict, GR_GREEN);
    uint32_t dispatches = 0;
    for (uint32_t i = 0; i < l.plan.steps_n; i++) dispatches += l.plan.steps[i].kind == GR_STEP_DISPATCH;
    assert_true(dispatches >= 2);
    low_end(&l);
}

/* A linear grid past 65,535 workgroups is folded into rows. */
static void folding(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[20000001]\n  %y = neg %x\n  output \"y\" %y\n}\n", &t, NULL);
    const gr_plan_step *s = NULL;
    for (uint32_t i = 0; i < l.plan.steps_n; i++)
        if (l.plan.steps[i].kind == GR_STEP_DISPATCH) s = &l.plan.steps[i];
    assert_non_null(s);
    assert_int_equal(s->grid[1], 2);
    assert_true((uint64_t)s->grid[0] * s->grid[1] * 256 >= 20000001);
    low_end(&l);
}

static void working_buffers_are_reused(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[1000]\n  %a = neg %x\n  %b = exp %a\n  %c = neg %b\n  %d = exp %c\n  %e = neg %d\n  output \"y\" %e\n}\n", &t, NULL);
    assert_int_equal(l.plan.peak[GR_MEM_WORKING], 2 * 4000 + 256);
    low_end(&l);
}

static void damaged_text(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, despike, &t, NULL);
    gr_buf b = {0};
    gr_plan_print(&b, &l.plan);
    for (size_t n = 0; n + 2 < b.n; n += 3) {
        gr_arena a = {0};
        gr_diags d;
        gr_plan back;
        gr_diags_init(&d);
        assert_false(gr_plan_parse(&a, &d, GR_STR("<cut>"), (gr_str){b.p, n}, &l.kernels, &back));
        assert_true(gr_diags_has(&d, GR_D_PLAN_SYNTAX));
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    uint32_t h = 1;
    for (int i = 0; i < 3000; i++) { /* one byte wrong: read or refused, never worse */
        gr_arena a = {0};
        gr_diags d;
        gr_plan back;
        h = h * 1664525u + 1013904223u;
        size_t at = (h >> 8) % b.n;
        char was = b.p[at];
        b.p[at] = "0 9{}\"b%,-:\nz"[h % 14];
        gr_diags_init(&d);
        if (gr_plan_parse(&a, &d, GR_STR("<changed>"), gr_buf_view(&b), &l.kernels, &back)) gr_plan_verify(&d, &back);
        else assert_false(gr_diags_ok(&d));
        b.p[at] = was;
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    gr_buf_free(&b);
    low_end(&l);
}

static void planted_faults_are_seen(void **state) {
    (void)state;
    low l;
    gr_target t = gr_target_webgpu_default();
    low_begin(&l);
    low_plan(&l, despike, &t, NULL);
    gr_plan *p = &l.plan;
    uint32_t at = 0;
    while (p->steps[at].kind != GR_STEP_DISPATCH) at++;
    gr_plan_step *s = &p->steps[at], good = *s;
    gr_step_bind bind = s->binds[0];
    s->binds[0].offset = 128;
    assert_false(gr_plan_verify(&l.d, p));
    s->binds[0] = bind;
    s->binds[0].bytes = UINT64_C(1) << 27;
    assert_false(gr_plan_verify(&l.d, p));
    s->binds[0] = bind;
    s->binds[0].buffer = s->binds[1].buffer;
    assert_false(gr_plan_verify(&l.d, p));
    s->binds[0] = bind;
    s->grid[0] = 65536;
    assert_false(gr_plan_verify(&l.d, p));
    *s = good;
    s->kernel = 99;
    assert_false(gr_plan_verify(&l.d, p));
    *s = good;
    p->steps[0].bytes -= 4; /* the upload leaves the last element unwritten */
    assert_false(gr_plan_verify(&l.d, p));
    p->steps[0].bytes += 4;
    p->peak_total++;
    assert_false(gr_plan_verify(&l.d, p));
    p->peak_total--;
    assert_true(gr_plan_verify(&l.d, p));
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {
        cmocka_unit_test(green), cmocka_unit_test(streams_under_a_small_budget), cmocka_unit_test(streams_from_disk), cmocka_unit_test(work_of_contractions), cmocka_unit_test(over_budget), cmocka_unit_test(budget_override),
        cmocka_unit_test(heavy_on_cpu), cmocka_unit_test(guarantee), cmocka_unit_test(tier_lowered), cmocka_unit_test(tolerance),
        cmocka_unit_test(not_splittable), cmocka_unit_test(grids), cmocka_unit_test(folding), cmocka_unit_test(working_buffers_are_reused),
        cmocka_unit_test(damaged_text), cmocka_unit_test(planted_faults_are_seen),
    };
    return cmocka_run_group_tests(t, NULL, NULL);
}
