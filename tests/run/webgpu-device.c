/* The device layer on whatever adapter there is: every test skips where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ladder/run/webgpu/commands.h"

#include <stdio.h>
#include <stdlib.h>

/* NULL after a message: the caller skips. Any other failure than a missing library or adapter fails the test. */
static gr_gpu *open_or_skip(const gr_gpu_options *o) {
    gr_diags d;
    gr_diags_init(&d);
    gr_gpu *g = gr_gpu_open(o, &d);
    bool absent = gr_diags_has(&d, GR_D_RUN_NO_WEBGPU_LIBRARY) || gr_diags_has(&d, GR_D_RUN_NO_ADAPTER);
    if (!g) {
        gr_buf b = {0};
        gr_diags_print(&b, &d, (gr_str){0});
        fprintf(stderr, "%s%s", absent ? "SKIPPED, there is no adapter:\n" : "", b.p);
        gr_buf_free(&b);
    }
    gr_diags_free(&d);
    if (!g && absent) skip();
    assert_non_null(g);
    return g;
}

static void print_and_fail(const gr_diags *d) {
    gr_buf b = {0};
    gr_diags_print(&b, d, (gr_str){0});
    print_error("%s", b.p ? b.p : "");
    gr_buf_free(&b);
}
#define ASSERT_OK(x, d) do { bool ok_ = (x); if (!ok_) print_and_fail(d); assert_true(ok_); } while (0)

static void close_clean(gr_gpu *g, gr_diags *d) {
    gr_gpu_close(g, d);
    if (d->list.n) print_and_fail(d);
    assert_false(gr_diags_has(d, GR_D_RUN_GPU_LEAK));
    gr_diags_free(d);
}

static const char scale_text[] = "struct P { n: u32, factor: u32 }\n"
                                 "@group(0) @binding(0) var<storage, read> src: array<u32>;\n"
                                 "@group(0) @binding(1) var<storage, read_write> dst: array<u32>;\n"
                                 "@group(0) @binding(2) var<uniform> p: P;\n"
                                 "override ADD: u32 = 0;\n"
                                 "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
                                 "  if (id.x < p.n) { dst[id.x] = src[id.x] * p.factor + ADD; }\n"
                                 "}\n";
static const gr_gpu_binding scale_bindings[] = {
    {0, 0, GR_GPU_READ, 0}, {0, 1, GR_GPU_READ_WRITE, 0}, {0, 2, GR_GPU_UNIFORM_DYNAMIC, 8}};

static const gr_gpu_pipeline *scale_pipeline(gr_gpu *g, gr_diags *d, double add) {
    gr_gpu_override o = {GR_STR("ADD"), add};
    return gr_gpu_pipeline_get(g, d, &(gr_gpu_pipeline_desc){.name = GR_STR("scale.wgsl"), .wgsl = GR_STR(scale_text), .entry = GR_STR("main"), .overrides = &o, .overrides_n = 1, .bindings = scale_bindings, .bindings_n = 3});
}

static void info_says_what_it_is(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    const gr_gpu_info *i = gr_gpu_get_info(g);
    assert_true(i->type != GR_GPU_NO_TYPE);
    assert_true(i->limits.max_buffer >= 256u << 20 && i->limits.max_workgroups >= 65535);
    assert_true(i->limits.max_storage_binding >= 128u << 20 && i->limits.max_invocations >= 256);
    gr_buf b = {0};
    gr_gpu_info_print(&b, i);
    print_message("%s", b.p);
    gr_buf_clear(&b);
    gr_gpu_info_print_json(&b, i);
    assert_non_null(strstr(b.p, "\"type\":\""));
    gr_buf_free(&b);
    gr_sha256 h;
    assert_true(gr_gpu_library_hash(g, &d, &h));
    if (i->subgroups) assert_true(gr_gpu_check_wgsl(g, GR_STR("s"), GR_STR("enable subgroups;\n"), &d));
    if (!i->subgroups) assert_false(gr_gpu_check_wgsl(g, GR_STR("s"), GR_STR("enable subgroups;\n"), NULL));
    assert_int_equal(i->shader_f16, gr_gpu_check_wgsl(g, GR_STR("h"), GR_STR("enable f16;\n"), NULL));
    close_clean(g, &d);
}

static void one_shot_computes(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    uint32_t src[100], dst[100] = {0}, p[2] = {100, 3};
    for (uint32_t i = 0; i < 100; i++) src[i] = i;
    gr_gpu_arg a[] = {{0, 0, GR_GPU_READ, src, sizeof src}, {0, 1, GR_GPU_READ_WRITE, dst, sizeof dst}, {0, 2, GR_GPU_UNIFORM, p, sizeof p}};
    gr_gpu_override o = {GR_STR("ADD"), 7};
    ASSERT_OK(gr_gpu_run_wgsl(g, GR_STR("scale"), GR_STR(scale_text), GR_STR("main"), &o, 1, a, 3, (uint32_t[]){2, 1, 1}, &d), &d);
    for (uint32_t i = 0; i < 100; i++) assert_int_equal(dst[i], 3 * i + 7);
    close_clean(g, &d);
}

static void rejected_wgsl_has_a_place(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    assert_false(gr_gpu_check_wgsl(g, GR_STR("bad.wgsl"), GR_STR("fn f() {\n  /* \xc3\xa9 */ let x: i32 = 1.5;\n}\n"), &d));
    assert_true(gr_diags_has(&d, GR_D_RUN_WGSL_REJECTED));
    assert_int_equal(d.list.v[0].place.line, 2);
    assert_int_equal(d.list.v[0].place.col, 24);
    assert_true(gr_str_eqz(d.list.v[0].place.document, "bad.wgsl"));
    assert_true(gr_gpu_check_wgsl(g, GR_STR("good.wgsl"), GR_STR("fn f() {}\n"), NULL));
    gr_diags_clear(&d);
    gr_gpu_pipeline_desc x = {.name = GR_STR("p.wgsl"), .wgsl = GR_STR("@compute @workgroup_size(1) fn main() {}"), .entry = GR_STR("absent")};
    assert_null(gr_gpu_pipeline_get(g, &d, &x));
    assert_true(gr_diags_has(&d, GR_D_RUN_WGSL_REJECTED));
    gr_diags_clear(&d);
    close_clean(g, &d);
}

static void override_errors_show_at_the_entry(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    gr_str text = GR_STR("override W: u32 = 64;\nvar<workgroup> w: array<u32, W>;\n"
                         "@compute @workgroup_size(W) fn main(@builtin(local_invocation_index) i: u32) { w[i] = i; }\n");
    gr_gpu_override o = {GR_STR("W"), 0};
    assert_true(gr_gpu_check_wgsl(g, GR_STR("o.wgsl"), text, &d));
    ASSERT_OK(gr_gpu_check_entry(g, GR_STR("o.wgsl"), text, GR_STR("main"), NULL, 0, &d), &d);
    assert_false(gr_gpu_check_entry(g, GR_STR("o.wgsl"), text, GR_STR("main"), &o, 1, &d));
    assert_false(gr_gpu_check_entry(g, GR_STR("o.wgsl"), text, GR_STR("absent"), NULL, 0, NULL));
    assert_true(gr_diags_has(&d, GR_D_RUN_WGSL_REJECTED));
    gr_diags_clear(&d);
    close_clean(g, &d);
}

typedef struct scale_case {
    gr_gpu_buffer src, dst, uniforms, indirect;
    gr_gpu_commands *c;
    uint32_t read;
} scale_case;

enum { CASE_N = 1000, CASE_DISPATCHES = 8 };

/* dst = src * 2^8 in eight dispatches ping-ponging through one uniform buffer of 256-byte slots. */
static void make_case(gr_gpu *g, gr_diags *d, scale_case *s, bool indirect, bool timed) {
    uint32_t src[CASE_N], u[CASE_DISPATCHES * 64] = {0}, sizes[5] = {0, 0, (CASE_N + 63) / 64, 1, 1};
    for (uint32_t i = 0; i < CASE_N; i++) src[i] = i;
    for (uint32_t i = 0; i < CASE_DISPATCHES; i++) u[64 * i] = CASE_N, u[64 * i + 1] = i == 0 ? 3 : 2;
    s->src = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = "src", .bytes = sizeof src, .usage = GR_GPU_STORAGE, .tag = 1, .data = src});
    s->dst = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = "dst", .bytes = sizeof src, .usage = GR_GPU_STORAGE, .tag = 2});
    s->uniforms = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = "uniforms", .bytes = sizeof u, .usage = GR_GPU_UNIFORMS, .tag = 3, .data = u});
    s->indirect = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = "sizes", .bytes = sizeof sizes, .usage = GR_GPU_INDIRECT | GR_GPU_STORAGE, .tag = 3, .data = sizes});
    const gr_gpu_pipeline *p = scale_pipeline(g, d, 0);
    s->c = gr_gpu_commands_new(g, d, "scale");
    ASSERT_OK(s->src.gen && s->dst.gen && s->uniforms.gen && s->indirect.gen && p && s->c, d);
    for (uint32_t i = 0; i < CASE_DISPATCHES; i++) {
        char name[32];
        snprintf(name, sizeof name, "scale %u", i);
        gr_gpu_bind b[] = {{0, 2, s->uniforms, 256 * i, 8}, {0, 0, i % 2 ? s->dst : s->src, 0, 0}, {0, 1, i % 2 ? s->src : s->dst, 0, 0}};
        gr_gpu_dispatch x = {.name = name, .pipeline = p, .binds = b, .binds_n = 3, .grid = {(CASE_N + 63) / 64, 1, 1}};
        if (indirect) x.indirect = s->indirect, x.indirect_offset = 8;
        ASSERT_OK(gr_gpu_add_dispatch(s->c, d, &x), d);
    }
    gr_gpu_commands_time(s->c, timed);
    ASSERT_OK(gr_gpu_add_read(s->c, d, s->src, 0, CASE_N * 4, &s->read), d);
}

static void free_case(gr_gpu *g, scale_case *s) {
    gr_gpu_commands_free(s->c);
    gr_gpu_buffer_free(g, s->src);
    gr_gpu_buffer_free(g, s->dst);
    gr_gpu_buffer_free(g, s->uniforms);
    gr_gpu_buffer_free(g, s->indirect);
}

static void check_case(gr_gpu_run *r, uint32_t read, uint32_t factor) {
    uint64_t n = 0;
    const uint32_t *p = gr_gpu_run_data(r, read, &n);
    assert_non_null(p);
    assert_int_equal(n, CASE_N * 4);
    for (uint32_t i = 0; i < CASE_N; i++) assert_int_equal(p[i], i * factor);
}

static void lists_run_again_two_in_flight(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(&(gr_gpu_options){.debug = true});
    gr_diags d;
    gr_diags_init(&d);
    for (int indirect = 0; indirect < 2; indirect++) {
        scale_case s;
        make_case(g, &d, &s, indirect, false);
        gr_gpu_counts before = gr_gpu_get_counts(g);
        gr_gpu_run *r[4];
        for (int i = 0; i < 4; i++) { /* the third and fourth wait for the first and second */
            r[i] = gr_gpu_submit(s.c, &d);
            ASSERT_OK(r[i] != NULL, &d);
        }
        uint32_t factor = 1;
        for (int i = 0; i < 4; i++) {
            ASSERT_OK(gr_gpu_run_wait(r[i], &d, 60), &d);
            assert_true(gr_gpu_run_done(r[i]));
            factor *= 3 * 128;
            check_case(r[i], s.read, factor);
            gr_gpu_run_free(r[i]);
        }
        gr_gpu_counts after = gr_gpu_get_counts(g);
        assert_int_equal(after.groups, before.groups);
        assert_int_equal(after.submissions, before.submissions + 4);
        free_case(g, &s);
    }
    assert_int_equal(gr_gpu_memory_of(g, 1).now, 0);
    assert_int_equal(gr_gpu_memory_of(g, 1).peak, (CASE_N * 4 + 15) / 16 * 16);
    close_clean(g, &d);
}

static void timestamps_are_monotone(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    if (!gr_gpu_get_info(g)->timestamps) {
        gr_gpu_close(g, NULL);
        print_message("SKIPPED: the adapter has no timestamps\n");
        skip();
    }
    scale_case s;
    make_case(g, &d, &s, false, true);
    for (int again = 0; again < 3; again++) {
        gr_gpu_run *r = gr_gpu_submit(s.c, &d);
        ASSERT_OK(r && gr_gpu_run_wait(r, &d, 60), &d);
        uint64_t last = 0, begin, end;
        for (uint32_t i = 0; i < CASE_DISPATCHES; i++) {
            assert_true(gr_gpu_run_time(r, i, &begin, &end));
            assert_true(begin >= last && end >= begin);
            last = begin;
        }
        assert_false(gr_gpu_run_time(r, CASE_DISPATCHES, &begin, &end));
        gr_gpu_run_free(r);
    }
    free_case(g, &s);
    close_clean(g, &d);
}

static void copies_clears_and_tickets(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    uint32_t v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    gr_gpu_buffer a = gr_gpu_buffer_new(g, &d, &(gr_gpu_buffer_desc){.name = "a", .bytes = 32, .usage = GR_GPU_STORAGE});
    gr_gpu_buffer b = gr_gpu_buffer_new(g, &d, &(gr_gpu_buffer_desc){.name = "b", .bytes = 32, .usage = GR_GPU_STORAGE});
    ASSERT_OK(gr_gpu_write(g, &d, a, 0, v, 30), &d); /* the last half word is cut, its other half zero */
    gr_gpu_commands *c = gr_gpu_commands_new(g, &d, "copies");
    ASSERT_OK(gr_gpu_add_copy(c, &d, a, 4, b, 8, 16) && gr_gpu_add_clear(c, &d, b, 12, 4), &d);
    assert_false(gr_gpu_add_copy(c, &d, a, 4, b, 20, 16));
    assert_true(d.worst == GR_DIAG_BUG);
    gr_diags_clear(&d);
    gr_gpu_run *r = gr_gpu_submit(c, &d);
    gr_gpu_run *t = gr_gpu_read(g, &d, b, 0, 32), *u = gr_gpu_read(g, &d, a, 28, 4);
    ASSERT_OK(r && t && u && gr_gpu_run_wait(t, &d, 60) && gr_gpu_run_wait(u, &d, 60) && gr_gpu_run_wait(r, &d, 60), &d);
    const uint32_t want[8] = {0, 0, 2, 0, 4, 5, 0, 0};
    assert_memory_equal(gr_gpu_run_data(t, 0, NULL), want, 32);
    assert_int_equal(*(const uint32_t *)gr_gpu_run_data(u, 0, NULL), 8);
    gr_gpu_run_free(r);
    gr_gpu_run_free(t);
    gr_gpu_run_free(u);
    gr_gpu_commands_free(c);
    gr_gpu_buffer_free(g, a);
    assert_int_equal(gr_gpu_buffer_bytes(g, a), 0);
    gr_gpu_buffer_free(g, a); /* stale: nothing happens */
    gr_gpu_buffer_free(g, b);
    close_clean(g, &d);
}

static void pipelines_are_cached(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    const gr_gpu_pipeline *p[8];
    gr_gpu_counts before = gr_gpu_get_counts(g);
    for (int again = 0; again < 3; again++)
        for (int i = 0; i < 8; i++) {
            const gr_gpu_pipeline *x = scale_pipeline(g, &d, i);
            ASSERT_OK(x != NULL, &d);
            if (again) assert_ptr_equal(x, p[i]);
            p[i] = x;
        }
    gr_gpu_counts after = gr_gpu_get_counts(g);
    assert_int_equal(after.modules - before.modules, 1);
    assert_int_equal(after.pipelines - before.pipelines, 8);
    assert_int_equal(after.pipeline_hits - before.pipeline_hits, 16);
    close_clean(g, &d);
}

static void lost_device_unwinds(void **state) {
    (void)state;
    for (int when = 0; when < 2; when++) {
        gr_gpu *g = open_or_skip(NULL);
        gr_diags d;
        gr_diags_init(&d);
        scale_case s;
        make_case(g, &d, &s, false, false);
        gr_gpu_run *first = gr_gpu_submit(s.c, &d);
        gr_gpu_inject(g, when ? GR_FAULT_LOST_AFTER_SUBMIT : GR_FAULT_LOST_BEFORE_SUBMIT, 1);
        gr_gpu_run *second = gr_gpu_submit(s.c, &d);
        if (when) assert_false(gr_gpu_run_wait(second, &d, 60));
        if (!when) assert_null(second);
        assert_true(gr_gpu_lost(g));
        assert_true(gr_diags_has(&d, GR_D_RUN_DEVICE_LOST));
        assert_int_equal(d.worst, GR_DIAG_ENVIRONMENT);
        assert_true(gr_str_starts(d.list.v[d.list.n - 1].trail, "scale: dispatch 0 scale 0"));
        gr_gpu_run_free(second);
        gr_gpu_run_free(first);
        gr_diags_clear(&d);
        assert_null(gr_gpu_submit(s.c, &d));
        assert_null(scale_pipeline(g, &d, 99));
        assert_int_equal(gr_gpu_buffer_new(g, &d, &(gr_gpu_buffer_desc){.name = "x", .bytes = 4, .usage = GR_GPU_STORAGE}).gen, 0);
        assert_int_equal(d.errors, 3);
        gr_diags_clear(&d);
        free_case(g, &s);
        close_clean(g, &d);
    }
}

static void out_of_memory_names_the_buffer(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    gr_gpu_inject(g, GR_FAULT_OUT_OF_MEMORY, 2);
    gr_gpu_buffer a = gr_gpu_buffer_new(g, &d, &(gr_gpu_buffer_desc){.name = "first", .bytes = 1024, .usage = GR_GPU_STORAGE});
    gr_gpu_buffer b = gr_gpu_buffer_new(g, &d, &(gr_gpu_buffer_desc){.name = "second", .bytes = 4096, .usage = GR_GPU_STORAGE});
    assert_true(a.gen && !b.gen);
    assert_true(gr_diags_has(&d, GR_D_RUN_GPU_OUT_OF_MEMORY));
    assert_non_null(strstr(d.list.v[0].message.p, "'second' of 4096 bytes"));
    gr_diags_clear(&d);
    b = gr_gpu_buffer_new(g, &d, &(gr_gpu_buffer_desc){.name = "huge", .bytes = UINT64_MAX, .usage = GR_GPU_STORAGE});
    assert_true(!b.gen && gr_diags_has(&d, GR_D_RUN_GPU_LIMIT));
    assert_non_null(strstr(d.list.v[0].message.p, "'huge'"));
    gr_diags_clear(&d);
    b = gr_gpu_buffer_new(g, &d, &(gr_gpu_buffer_desc){.name = "third", .bytes = 4096, .usage = GR_GPU_STORAGE});
    ASSERT_OK(b.gen != 0, &d);
    assert_int_equal(gr_gpu_memory_total(g).now, 1024 + 4096);
    gr_gpu_buffer_free(g, a);
    gr_gpu_buffer_free(g, b);
    close_clean(g, &d);
}

static void leaks_are_named(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    scale_case s;
    make_case(g, &d, &s, false, false);
    gr_gpu_run *r = gr_gpu_submit(s.c, &d);
    assert_non_null(r);
    gr_gpu_close(g, &d);
    assert_int_equal(d.warnings, 6); /* the run, its commands, four buffers */
    gr_buf b = {0};
    gr_diags_print(&b, &d, (gr_str){0});
    assert_non_null(strstr(b.p, "'uniforms'"));
    assert_non_null(strstr(b.p, "commands 'scale'"));
    gr_buf_free(&b);
    gr_diags_free(&d);
}

static void freed_buffer_is_an_error_not_a_crash(void **state) {
    (void)state;
    gr_gpu *g = open_or_skip(NULL);
    gr_diags d;
    gr_diags_init(&d);
    scale_case s;
    make_case(g, &d, &s, false, false);
    gr_gpu_buffer_free(g, s.dst);
    assert_null(gr_gpu_submit(s.c, &d));
    assert_int_equal(d.worst, GR_DIAG_BUG);
    gr_diags_clear(&d);
    free_case(g, &s);
    close_clean(g, &d);
}

/* Every allocation of ours fails once, from opening to closing: named, never a crash, nothing leaks (the sanitizer looks). */
static void failing_allocations_unwind(void **state) {
    (void)state;
    gr_gpu_close(open_or_skip(NULL), NULL);
    uint32_t failures = 0;
    for (uint64_t nth = 1; nth < 400; nth++) {
        gr_diags d;
        gr_diags_init(&d);
        uint32_t src[4] = {1, 2, 3, 4}, dst[4] = {0}, p[2] = {4, 3};
        gr_gpu_arg a[] = {{0, 0, GR_GPU_READ, src, sizeof src}, {0, 1, GR_GPU_READ_WRITE, dst, sizeof dst}, {0, 2, GR_GPU_UNIFORM, p, sizeof p}};
        gr_heap_fail_nth(nth);
        gr_gpu *g = gr_gpu_open(NULL, &d);
        bool ok = g && gr_gpu_run_wgsl(g, GR_STR("scale"), GR_STR(scale_text), GR_STR("main"), NULL, 0, a, 3, (uint32_t[]){1, 1, 1}, &d);
        gr_gpu_close(g, &d);
        gr_heap_fail_nth(0);
        assert_true(ok ? dst[3] == 12 : d.errors > 0 || d.out_of_memory);
        assert_false(gr_diags_has(&d, GR_D_RUN_GPU_LEAK));
        gr_diags_free(&d);
        failures += !ok;
        if (ok && nth > failures + 20) break; /* past the last allocation */
    }
    assert_true(failures > 10);
}

static void probe_has_three_outcomes(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_gpu_probe p;
    assert_true(gr_gpu_find(&a, &(gr_gpu_options){.adapter = "none"}, true, &p));
    assert_int_equal(p.outcome, GR_PROBE_CPU);
    assert_false(p.software);
    assert_true(gr_str_starts(p.banner, "NO GPU"));
    assert_true(gr_gpu_find(&a, &(gr_gpu_options){.adapter = "none"}, false, &p));
    assert_int_equal(p.outcome, GR_PROBE_NEITHER);
    assert_true(gr_gpu_find(&a, NULL, true, &p));
    assert_true(p.banner.n > 0);
    if (p.software) assert_int_equal(p.outcome, GR_PROBE_CPU);
    if (p.outcome == GR_PROBE_GPU) assert_true(p.info.type != GR_GPU_CPU);
    print_message("probe: %.*s\n", GR_STR_ARG(p.banner));
    gr_arena_free(&a);
    gr_diags d;
    gr_diags_init(&d);
    assert_null(gr_gpu_open(&(gr_gpu_options){.adapter = "no such adapter"}, &d));
    assert_int_equal(gr_diags_exit_code(&d), 3);
    gr_diags_free(&d);
}

/* Without a driver the library offers a null adapter, which accepts everything and computes nothing: never taken. */
static void null_adapter_is_no_adapter(void **state) {
    (void)state;
    static const char *const names[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"};
    char *before[2];
    for (int i = 0; i < 2; i++) {
        before[i] = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
        setenv(names[i], "/nowhere/icd.json", 1);
    }
    gr_diags d;
    gr_diags_init(&d);
    assert_null(gr_gpu_open(NULL, &d));
    assert_true(gr_diags_has(&d, GR_D_RUN_NO_ADAPTER) || gr_diags_has(&d, GR_D_RUN_NO_WEBGPU_LIBRARY));
    gr_diags_free(&d);
    for (int i = 0; i < 2; i++) {
        if (before[i]) setenv(names[i], before[i], 1);
        if (!before[i]) unsetenv(names[i]);
        free(before[i]);
    }
}

static void missing_library_says_where_it_looked(void **state) {
    (void)state;
    char *before = getenv("GRADUS_WEBGPU") ? strdup(getenv("GRADUS_WEBGPU")) : NULL;
    setenv("GRADUS_WEBGPU", "/nowhere/libwebgpu.so", 1);
    gr_diags d;
    gr_diags_init(&d);
    assert_null(gr_gpu_open(NULL, &d));
    assert_true(gr_diags_has(&d, GR_D_RUN_NO_WEBGPU_LIBRARY));
    assert_non_null(strstr(d.list.v[0].message.p, "/nowhere/libwebgpu.so"));
    gr_diags_free(&d);
    if (before) setenv("GRADUS_WEBGPU", before, 1);
    if (!before) unsetenv("GRADUS_WEBGPU");
    free(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info_says_what_it_is),
        cmocka_unit_test(one_shot_computes),
        cmocka_unit_test(rejected_wgsl_has_a_place),
        cmocka_unit_test(override_errors_show_at_the_entry),
        cmocka_unit_test(lists_run_again_two_in_flight),
        cmocka_unit_test(timestamps_are_monotone),
        cmocka_unit_test(copies_clears_and_tickets),
        cmocka_unit_test(pipelines_are_cached),
        cmocka_unit_test(lost_device_unwinds),
        cmocka_unit_test(out_of_memory_names_the_buffer),
        cmocka_unit_test(leaks_are_named),
        cmocka_unit_test(freed_buffer_is_an_error_not_a_crash),
        cmocka_unit_test(failing_allocations_unwind),
        cmocka_unit_test(probe_has_three_outcomes),
        cmocka_unit_test(null_adapter_is_no_adapter),
        cmocka_unit_test(missing_library_says_where_it_looked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
