/* The plan executor on a device, with plans written by hand. Skips where there is no adapter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ladder/run/run.h"
#include "ladder/run/webgpu/commands.h"
#include "ladder/run/webgpu/exec.h"

#include <stdio.h>

#define WGSL(...) #__VA_ARGS__
/* y = x * 2 + p.add, and z = y * y */
static const char wgsl_add[] = WGSL(
    struct P { n: u32, add: u32 }
    @group(0) @binding(0) var<storage, read> src: array<f32>;
    @group(0) @binding(1) var<storage, read_write> dst: array<f32>;
    @group(0) @binding(2) var<uniform> p: P;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
      if (id.x < p.n) { dst[id.x] = src[id.x] * 2 + f32(p.add); }
    });
static const char wgsl_square[] = WGSL(
    @group(0) @binding(0) var<storage, read> src: array<f32>;
    @group(0) @binding(1) var<storage, read_write> dst: array<f32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
      if (id.x < 1000) { dst[id.x] = src[id.x] * src[id.x]; }
    });

enum { N = 1000, BYTES = N * 4, X = 0, Y = 1, Z = 2, VALUES = 3 };
enum { BX, BY, BZ, BU, BUP, BDOWN, BUFFERS };

typedef struct fixture {
    gr_gpu *g;
    gr_diags d;
    gr_graph graph;
    gr_graph_value value[VALUES];
    gr_graph_output output[1];
    gr_kernel kernel[2];
    gr_plan_buffer buffer[BUFFERS];
    gr_plan_tensor tensor[VALUES];
    gr_step_bind bind[2][3];
    gr_plan_step step[64];
    uint8_t uniforms[256];
    gr_plan plan;
} fixture;

static void fail_with(const gr_diags *d) {
    gr_buf b = {0};
    gr_diags_print(&b, d, (gr_str){0});
    print_error("%s", b.p ? b.p : "");
    gr_buf_free(&b);
}
#define ASSERT_OK(x, d) do { bool ok_ = (x); if (!ok_) fail_with(d); assert_true(ok_); } while (0)

static gr_kernel kernel(const char *op, const char *text) {
    return (gr_kernel){.op = gr_str_of(op), .node = gr_str_of(op), .origin = GR_STR("kernel.wgsl"), .wgsl = gr_str_of(text), .hash = gr_sha256_of(text, strlen(text)), .entry = GR_STR("main"), .indirect = GR_NO_VALUE};
}

static void push_step(fixture *f, gr_plan_step s) {
    s.node = gr_str_of(s.kind == GR_STEP_DISPATCH ? (s.kernel ? "square" : "add") : "move");
    if (s.kind == GR_STEP_DISPATCH) {
        s.binds = f->bind[s.kernel];
        s.binds_n = s.kernel ? 2 : 3;
        s.grid[0] = (N + 63) / 64, s.grid[1] = s.grid[2] = 1;
        s.work = N;
        s.indirect = UINT32_MAX;
        f->plan.work += N;
    }
    f->step[f->plan.steps_n++] = s;
}

static void dispatch(fixture *f, uint32_t k) { push_step(f, (gr_plan_step){.kind = GR_STEP_DISPATCH, .kernel = k}); }
static void upload(fixture *f, gr_value_id v, gr_buffer_id to, uint64_t at, uint64_t n, gr_buffer_id staging, uint64_t staging_at) {
    push_step(f, (gr_plan_step){.kind = GR_STEP_UPLOAD, .to = to, .to_offset = at, .from_offset = at, .bytes = n, .value = v, .staging = staging, .staging_offset = staging_at});
}
static void readback(fixture *f, gr_value_id v, gr_buffer_id from, uint64_t at, uint64_t n, gr_buffer_id staging, uint64_t staging_at) {
    push_step(f, (gr_plan_step){.kind = GR_STEP_READBACK, .from = from, .from_offset = at, .to_offset = at, .bytes = n, .value = v, .staging = staging, .staging_offset = staging_at});
}

/* Values and buffers of x -> y -> z; the steps are each test's. */
static void make(fixture *f, uint64_t staging_bytes) {
    static const char *const names[] = {"x", "y", "z", "uniforms", "up", "down"};
    *f = (fixture){0};
    gr_diags_init(&f->d);
    f->g = gr_gpu_open(NULL, &f->d);
    if (!f->g) {
        bool absent = gr_diags_has(&f->d, GR_D_RUN_NO_WEBGPU_LIBRARY) || gr_diags_has(&f->d, GR_D_RUN_NO_ADAPTER);
        fail_with(&f->d);
        gr_diags_free(&f->d);
        assert_true(absent);
        print_message("SKIPPED, there is no adapter\n");
        skip();
    }
    gr_diags_clear(&f->d);
    for (uint32_t i = 0; i < VALUES; i++) {
        f->value[i] = (gr_graph_value){.name = gr_str_of(names[i]), .type = {.dtype = GR_DTYPE_F32, .rank = 1, .dim = {{.n = N}}}, .source = i ? GR_SOURCE_NODE : GR_SOURCE_INPUT};
        f->tensor[i] = (gr_plan_tensor){.value = i, .first_buffer = i, .pages = 1, .page_bytes = BYTES, .bytes = BYTES, .count_buffer = UINT32_MAX};
    }
    for (uint32_t i = 0; i < BUFFERS; i++)
        f->buffer[i] = (gr_plan_buffer){.name = gr_str_of(names[i]), .kind = i == BU ? GR_BUFFER_UNIFORM : i == BUP ? GR_BUFFER_STAGING_UP : i == BDOWN ? GR_BUFFER_STAGING_DOWN : GR_BUFFER_STORAGE, .memory = i == BY ? GR_MEM_WORKING : GR_MEM_DATA, .bytes = i == BU ? 256 : i >= BUP ? staging_bytes : BYTES};
    f->kernel[0] = kernel("add", wgsl_add);
    f->kernel[1] = kernel("square", wgsl_square);
    const gr_step_bind b[2][3] = {{{0, 0, BX, 0, BYTES, false, false, X}, {0, 1, BY, 0, BYTES, true, false, Y}, {0, 2, BU, 0, 8, false, true, GR_NO_VALUE}},
                                  {{0, 0, BY, 0, BYTES, false, false, Y}, {0, 1, BZ, 0, BYTES, true, false, Z}}};
    memcpy(f->bind, b, sizeof b);
    const uint32_t u[2] = {N, 5};
    memcpy(f->uniforms, u, sizeof u);
    f->output[0] = (gr_graph_output){GR_STR("z"), Z};
    f->graph = (gr_graph){.name = GR_STR("case"), .values = f->value, .values_n = VALUES, .outputs = f->output, .outputs_n = 1};
    f->plan = (gr_plan){.graph = &f->graph, .kernels = f->kernel, .kernels_n = 2, .buffers = f->buffer, .buffers_n = BUFFERS, .tensors = f->tensor, .tensors_n = VALUES, .uniforms = f->uniforms, .uniforms_bytes = 256, .steps = f->step};
}

static void close_case(fixture *f) {
    gr_gpu_close(f->g, &f->d);
    if (f->d.list.n) fail_with(&f->d);
    assert_int_equal(f->d.list.n, 0);
    gr_diags_free(&f->d);
}

static void write_x(fixture *f, gr_exec *e, float scale) {
    float x[N];
    for (int i = 0; i < N; i++) x[i] = scale * (float)i;
    ASSERT_OK(gr_webgpu_api()->write(e, &f->d, X, x, sizeof x), &f->d);
}

static void check_z(gr_exec *e, gr_ticket t, float scale) {
    uint64_t n = 0, count = 0;
    const float *z = gr_webgpu_api()->output(e, t, Z, &n, &count);
    assert_non_null(z);
    assert_int_equal(n, BYTES);
    assert_int_equal(count, N);
    for (int i = 0; i < N; i++) {
        float y = scale * (float)i * 2 + 5;
        assert_true(z[i] == y * y);
    }
}

static void plain(fixture *f) {
    upload(f, X, BX, 0, BYTES, BUP, 0);
    dispatch(f, 0);
    dispatch(f, 1);
    readback(f, Z, BZ, 0, BYTES, BDOWN, 0);
}

static void runs_again_and_counts_bytes(void **state) {
    (void)state;
    fixture f;
    make(&f, BYTES);
    plain(&f);
    const gr_exec_api *api = gr_webgpu_api();
    gr_exec *e = api->prepare(f.g, &f.d, &f.plan, &(gr_exec_options){.timestamps = true});
    ASSERT_OK(e != NULL, &f.d);
    assert_int_equal(api->submit(e, &f.d), 0);
    assert_true(gr_diags_has(&f.d, GR_D_RUN_INPUT_MISSING));
    gr_diags_clear(&f.d);
    for (int i = 1; i < 6; i++) {
        if (i != 3) write_x(&f, e, (float)i); /* the third finds its input on the device */
        gr_ticket t = api->submit(e, &f.d);
        ASSERT_OK(t && api->wait(e, &f.d, t) && api->poll(e, t), &f.d);
        check_z(e, t, i == 3 ? 2 : (float)i);
        gr_step_time times[4];
        if (gr_gpu_get_info(f.g)->timestamps) {
            assert_int_equal(api->times(e, t, times, 4), 2);
            assert_int_equal(times[0].step, 1);
            assert_int_equal(times[1].step, 2);
            assert_true(times[0].seconds >= 0 && times[0].seconds < 10);
        }
        if (i % 2) api->ticket_release(e, t);
    }
    uint64_t planned = 0;
    for (uint32_t i = 0; i < BUFFERS; i++) planned += f.buffer[i].bytes;
    uint64_t created = api->created_bytes(e);
    assert_true(created >= planned && created < planned + 4096);
    api->release(e);
    close_case(&f);
}

static void two_runs_in_flight(void **state) {
    (void)state;
    fixture f;
    make(&f, BYTES);
    plain(&f);
    const gr_exec_api *api = gr_webgpu_api();
    gr_exec *e = api->prepare(f.g, &f.d, &f.plan, NULL);
    ASSERT_OK(e != NULL, &f.d);
    gr_ticket last = 0;
    for (int i = 1; i < 20; i++) {
        write_x(&f, e, (float)i);
        gr_ticket t = api->submit(e, &f.d);
        ASSERT_OK(t != 0, &f.d);
        if (last) {
            ASSERT_OK(api->wait(e, &f.d, last), &f.d);
            check_z(e, last, (float)(i - 1));
        }
        last = t;
    }
    assert_false(api->wait(e, &f.d, last - 2));
    assert_true(gr_diags_has(&f.d, GR_D_RUN_TICKET_UNKNOWN));
    gr_diags_clear(&f.d);
    api->release(e); /* with one in flight */
    close_case(&f);
}

/* Staging of a quarter: eight submissions; y goes down to the host and up again between the kernels. */
static void streams_through_small_staging(void **state) {
    (void)state;
    fixture f;
    make(&f, 1024);
    const uint64_t part = 1000;
    for (uint64_t i = 0; i < 4; i++) upload(&f, X, BX, i * part, part, BUP, 0);
    dispatch(&f, 0);
    for (uint64_t i = 0; i < 4; i++) readback(&f, Y, BY, i * part, part, BDOWN, 0);
    push_step(&f, (gr_plan_step){.kind = GR_STEP_CLEAR, .to = BY, .bytes = BYTES});
    for (uint64_t i = 0; i < 4; i++) upload(&f, Y, BY, i * part, part, BUP, 24);
    dispatch(&f, 1);
    for (uint64_t i = 0; i < 4; i++) readback(&f, Z, BZ, i * part, part, BDOWN, 0);
    const gr_exec_api *api = gr_webgpu_api();
    gr_exec *e = api->prepare(f.g, &f.d, &f.plan, NULL);
    ASSERT_OK(e != NULL, &f.d);
    gr_ticket t[2];
    for (int i = 0; i < 2; i++) {
        write_x(&f, e, (float)(i + 1));
        t[i] = api->submit(e, &f.d);
        ASSERT_OK(t[i] != 0, &f.d);
    }
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(api->wait(e, &f.d, t[i]), &f.d);
        check_z(e, t[i], (float)(i + 1));
    }
    api->release(e);
    close_case(&f);
}

static void works_without_plan_staging(void **state) {
    (void)state;
    fixture f;
    make(&f, 16);
    f.plan.buffers_n = BUP;
    upload(&f, X, BX, 0, BYTES, UINT32_MAX, 0);
    dispatch(&f, 0);
    dispatch(&f, 1);
    readback(&f, Z, BZ, 0, BYTES, UINT32_MAX, 0);
    const gr_exec_api *api = gr_webgpu_api();
    gr_exec *e = api->prepare(f.g, &f.d, &f.plan, NULL);
    ASSERT_OK(e != NULL, &f.d);
    write_x(&f, e, 3);
    gr_ticket t = api->submit(e, &f.d);
    ASSERT_OK(t && api->wait(e, &f.d, t), &f.d);
    check_z(e, t, 3);
    api->release(e);
    close_case(&f);
}

static void lost_device_unwinds(void **state) {
    (void)state;
    for (int when = 0; when < 2; when++) {
        fixture f;
        make(&f, BYTES);
        plain(&f);
        const gr_exec_api *api = gr_webgpu_api();
        gr_exec *e = api->prepare(f.g, &f.d, &f.plan, NULL);
        ASSERT_OK(e != NULL, &f.d);
        write_x(&f, e, 1);
        gr_gpu_inject(f.g, when ? GR_FAULT_LOST_AFTER_SUBMIT : GR_FAULT_LOST_BEFORE_SUBMIT, 1);
        gr_ticket t = api->submit(e, &f.d);
        assert_true(when ? t != 0 : t == 0);
        if (when) assert_false(api->wait(e, &f.d, t));
        assert_true(gr_diags_has(&f.d, GR_D_RUN_DEVICE_LOST));
        assert_non_null(strstr(f.d.list.v[0].trail.p, "dispatch 1 square (square)"));
        assert_int_equal(gr_diags_exit_code(&f.d), 3);
        gr_diags_clear(&f.d);
        assert_int_equal(api->submit(e, &f.d), 0);
        assert_null(api->prepare(f.g, &f.d, &f.plan, NULL));
        gr_diags_clear(&f.d);
        api->release(e);
        gr_gpu_close(f.g, &f.d);
        f.g = gr_gpu_open(NULL, &f.d); /* the session goes on */
        gr_diags_clear(&f.d);
        e = api->prepare(f.g, &f.d, &f.plan, NULL);
        ASSERT_OK(e != NULL, &f.d);
        write_x(&f, e, 2);
        t = api->submit(e, &f.d);
        ASSERT_OK(t && api->wait(e, &f.d, t), &f.d);
        check_z(e, t, 2);
        api->release(e);
        close_case(&f);
    }
}

static void no_memory_shows_before_the_first_dispatch(void **state) {
    (void)state;
    for (uint32_t nth = 1; nth <= BUFFERS; nth++) {
        fixture f;
        make(&f, BYTES);
        plain(&f);
        gr_gpu_inject(f.g, GR_FAULT_OUT_OF_MEMORY, nth);
        assert_null(gr_webgpu_api()->prepare(f.g, &f.d, &f.plan, NULL));
        assert_true(gr_diags_has(&f.d, GR_D_RUN_GPU_OUT_OF_MEMORY));
        assert_int_equal(gr_gpu_memory_total(f.g).now, 0);
        gr_diags_clear(&f.d);
        close_case(&f);
    }
}

static void failing_allocations_unwind(void **state) {
    (void)state;
    fixture f;
    make(&f, BYTES);
    plain(&f);
    const gr_exec_api *api = gr_webgpu_api();
    float x[N];
    for (int i = 0; i < N; i++) x[i] = (float)i;
    uint32_t failures = 0;
    for (uint64_t nth = 1; nth < 400; nth++) {
        gr_heap_fail_nth(nth);
        gr_exec *e = api->prepare(f.g, &f.d, &f.plan, &(gr_exec_options){.timestamps = true});
        bool ok = e && api->write(e, &f.d, X, x, sizeof x);
        gr_ticket t = ok ? api->submit(e, &f.d) : 0;
        ok = t && api->wait(e, &f.d, t);
        gr_heap_fail_nth(0);
        if (ok) check_z(e, t, 1);
        assert_true(ok || f.d.errors > 0 || f.d.out_of_memory);
        api->release(e);
        gr_diags_clear(&f.d);
        failures += !ok;
        if (ok && nth > failures + 30) break;
    }
    assert_true(failures > 5);
    close_case(&f);
}

static void shared_buffers_replace_storage(void **state) {
    (void)state;
    fixture f;
    make(&f, BYTES);
    plain(&f);
    const gr_exec_api *api = gr_webgpu_api();
    gr_exec *e = api->prepare(f.g, &f.d, &f.plan, NULL);
    gr_persist *x = api->persist_new(f.g, &f.d, GR_STR("shared x"), BYTES), *z = api->persist_new(f.g, &f.d, GR_STR("shared z"), BYTES);
    gr_persist *small = api->persist_new(f.g, &f.d, GR_STR("small"), 16);
    ASSERT_OK(e && x && z && small && api->attach(e, &f.d, X, x) && api->attach(e, &f.d, Z, z), &f.d);
    assert_false(api->attach(e, &f.d, X, small));
    assert_false(api->persist_write(x, &f.d, 2, "ab", 2));
    gr_diags_clear(&f.d);
    float v[N], got[N];
    for (int i = 0; i < N; i++) v[i] = (float)i;
    ASSERT_OK(api->persist_write(x, &f.d, 0, v, sizeof v), &f.d);
    gr_ticket t = api->submit(e, &f.d);
    ASSERT_OK(t && api->wait(e, &f.d, t) && api->persist_read(z, &f.d, 0, got, sizeof got), &f.d);
    for (int i = 0; i < N; i++) assert_true(got[i] == (2 * v[i] + 5) * (2 * v[i] + 5));
    uint8_t odd[3];
    ASSERT_OK(api->persist_read(z, &f.d, 5, odd, 3), &f.d);
    assert_memory_equal(odd, (uint8_t *)got + 5, 3);
    api->release(e);
    api->persist_free(x);
    api->persist_free(z);
    api->persist_free(small);
    close_case(&f);
}

static void bounded_outputs_give_their_count(void **state) {
    (void)state;
    fixture f;
    make(&f, BYTES);
    plain(&f);
    f.value[Z].type.bounded = true;
    f.tensor[Z].count_buffer = BX; /* the first input word stands for a count */
    const gr_exec_api *api = gr_webgpu_api();
    gr_exec *e = api->prepare(f.g, &f.d, &f.plan, NULL);
    ASSERT_OK(e != NULL, &f.d);
    uint32_t x[N] = {17};
    for (int over = 0; over < 2; over++) {
        if (over) x[0] = N + 1;
        ASSERT_OK(api->write(e, &f.d, X, x, sizeof x), &f.d);
        gr_ticket t = api->submit(e, &f.d);
        ASSERT_OK(t != 0, &f.d);
        uint64_t n, count;
        assert_int_equal(api->wait(e, &f.d, t), !over);
        if (!over) {
            assert_non_null(api->output(e, t, Z, &n, &count));
            assert_int_equal(count, 17);
        }
    }
    assert_true(gr_diags_has(&f.d, GR_D_RUN_BOUND_EXCEEDED));
    gr_diags_clear(&f.d);
    api->release(e);
    close_case(&f);
}

static void reading_and_writing_one_buffer_is_named(void **state) {
    (void)state;
    fixture f;
    make(&f, BYTES);
    plain(&f);
    f.bind[1][1].buffer = BY;
    assert_null(gr_webgpu_api()->prepare(f.g, &f.d, &f.plan, NULL));
    assert_int_equal(f.d.worst, GR_DIAG_BUG);
    assert_non_null(strstr(f.d.list.v[0].trail.p, "node square -> op square"));
    gr_diags_clear(&f.d);
    close_case(&f);
}

static bool stop_soon(void *user, const char *node, uint64_t done, uint64_t total) {
    (void)node;
    assert_true(done <= total);
    return --*(int *)user > 0;
}

static void progress_is_told_and_may_stop(void **state) {
    (void)state;
    fixture f;
    make(&f, 1024);
    for (uint64_t i = 0; i < 4; i++) upload(&f, X, BX, i * 1000, 1000, BUP, 0);
    dispatch(&f, 0);
    dispatch(&f, 1);
    for (uint64_t i = 0; i < 4; i++) readback(&f, Z, BZ, i * 1000, 1000, BDOWN, 0);
    const gr_exec_api *api = gr_webgpu_api();
    int left = 100;
    gr_exec *e = api->prepare(f.g, &f.d, &f.plan, &(gr_exec_options){.progress = stop_soon, .progress_user = &left});
    ASSERT_OK(e != NULL, &f.d);
    write_x(&f, e, 1);
    gr_ticket t = api->submit(e, &f.d);
    ASSERT_OK(t && api->wait(e, &f.d, t), &f.d);
    assert_true(left < 100);
    left = 2;
    write_x(&f, e, 2);
    assert_int_equal(api->submit(e, &f.d), 0);
    assert_true(gr_diags_has(&f.d, GR_D_RUN_STOPPED));
    gr_diags_clear(&f.d);
    left = 100;
    t = api->submit(e, &f.d);
    ASSERT_OK(t && api->wait(e, &f.d, t), &f.d);
    check_z(e, t, 2);
    api->release(e);
    close_case(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_again_and_counts_bytes),
        cmocka_unit_test(two_runs_in_flight),
        cmocka_unit_test(streams_through_small_staging),
        cmocka_unit_test(works_without_plan_staging),
        cmocka_unit_test(lost_device_unwinds),
        cmocka_unit_test(no_memory_shows_before_the_first_dispatch),
        cmocka_unit_test(failing_allocations_unwind),
        cmocka_unit_test(shared_buffers_replace_storage),
        cmocka_unit_test(bounded_outputs_give_their_count),
        cmocka_unit_test(reading_and_writing_one_buffer_is_named),
        cmocka_unit_test(progress_is_told_and_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
