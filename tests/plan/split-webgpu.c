/* Plans in pieces, in pages and streamed from the host, run on a WebGPU device with its limits lowered, against the same
 * graphs planned whole on the same device. Skips where there is no adapter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ladder/run/webgpu/device.h"
#include "ladder/run/webgpu/exec.h"
#include "plan/run.h"

static gr_gpu *gpu;

static int open_device(void **state) {
    (void)state;
    gr_diags d;
    gr_gpu_options o = {0};
    gr_diags_init(&d);
    gpu = gr_gpu_open(&o, &d);
    if (!gpu) print_message("SKIPPED, there is no adapter\n");
    gr_diags_free(&d);
    return 0;
}

static int close_device(void **state) {
    (void)state;
    gr_diags d;
    gr_diags_init(&d);
    if (gpu) gr_gpu_close(gpu, &d);
    gr_diags_free(&d);
    return 0;
}

static void compare(const char *text, uint64_t limit, uint64_t budget, gr_verdict verdict) {
    if (!gpu) skip();
    low l;
    uint8_t *want[4], *got[4];
    uint64_t want_n[4], got_n[4];
    gr_target whole = gr_webgpu_target(gpu), small = whole;
    if (limit) small.max_storage_binding = limit;
    gr_plan_options o = {.budget_gpu = budget};
    low_begin(&l);
    low_plan(&l, text, &whole, NULL);
    run_plan(&l, gr_webgpu_api(), gpu, &l.plan, want, want_n);
    low_plan(&l, text, &small, &o);
    if (l.plan.verdict != verdict) low_show(&l.d);
    assert_int_equal(l.plan.verdict, verdict);
    run_plan(&l, gr_webgpu_api(), gpu, &l.plan, got, got_n);
    for (uint32_t i = 0; i < l.plan.graph->outputs_n; i++) {
        assert_int_equal(want_n[i], got_n[i]);
        assert_memory_equal(want[i], got[i], want_n[i]);
    }
    low_end(&l);
}

#define POINTWISE "graph g {\n  tier debug\n  %a = input \"a\" : f32[100001]\n  %b = input \"b\" : f32[]\n  %s = mul %a, %b\n  %r = relu %s\n  output \"r\" %r\n  output \"s\" %s\n}\n"
#define ROWS "graph g {\n  tier debug\n  %a = input \"a\" : i32[300, 400]\n  %b = input \"b\" : i32[400]\n  %y = add %a, %b\n  %s = reduce_sum %y axes=[0]\n  %t = reduce_sum %y\n  output \"y\" %y\n  output \"s\" %s\n  output \"t\" %t\n}\n"
#define MEDIAN "graph g {\n  tier debug\n  %x = input \"x\" : f32[200000]\n  %y = user/kemal/windowed_median %x w=7\n  %z = neg %y\n  output \"z\" %z\n}\n"

static void pages(void **state) {
    (void)state;
    compare(POINTWISE, 65536, 0, GR_GREEN);
    compare(ROWS, 65536, 0, GR_GREEN);
    compare(MEDIAN, 65536, 0, GR_GREEN);
}

static void streamed(void **state) {
    (void)state;
    compare(POINTWISE, 0, 400000, GR_YELLOW);
    compare(ROWS, 0, 500000, GR_YELLOW);
    compare(MEDIAN, 0, 600000, GR_YELLOW);
}

/* The bytes that the executor creates are those that the plan foresaw. */
static void peak_is_what_is_created(void **state) {
    (void)state;
    if (!gpu) skip();
    low l;
    gr_target t = gr_webgpu_target(gpu);
    low_begin(&l);
    low_plan(&l, MEDIAN, &t, NULL);
    gr_exec *e = gr_webgpu_api()->prepare(gpu, &l.d, &l.plan, NULL);
    assert_non_null(e);
    uint64_t created = gr_webgpu_api()->created_bytes(e), foreseen = l.plan.peak_total, slack = foreseen / 20 > (1u << 20) ? foreseen / 20 : (1u << 20);
    assert_true(created <= foreseen + slack && foreseen <= created + slack);
    gr_webgpu_api()->release(e);
    low_end(&l);
}

/* 300 MiB at the adapter's own limits. The input is written as it stands in host memory; outputs are checked against
 * plain C. */
enum { BIG = 78643200 };

static float big_at(uint64_t i) { return (float)(run_hash((uint32_t)i) % 251); }

static void run_big(low *l, const char *text, const float *x, void (*check)(const float *x, const void *y, uint64_t n)) {
    gr_target t = gr_webgpu_target(gpu);
    if (t.max_storage_binding > UINT64_C(128) << 20) t.max_storage_binding = UINT64_C(128) << 20;
    low_plan(l, text, &t, NULL);
    if (l->plan.verdict != GR_GREEN) low_show(&l->d);
    assert_int_equal(l->plan.verdict, GR_GREEN);
    assert_int_equal(l->plan.tensors[0].pages, 3);
    const gr_exec_api *api = gr_webgpu_api();
    gr_exec *e = api->prepare(gpu, &l->d, &l->plan, NULL);
    if (!e) low_show(&l->d);
    assert_non_null(e);
    assert_true(api->write(e, &l->d, 0, x, (uint64_t)BIG * 4));
    gr_ticket ticket = api->submit(e, &l->d);
    bool ok = ticket && api->wait(e, &l->d, ticket);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    uint64_t n, count;
    const void *y = api->output(e, ticket, l->plan.graph->outputs[0].value, &n, &count);
    check(x, y, n);
    api->ticket_release(e, ticket);
    api->release(e);
}

static void check_neg(const float *x, const void *y, uint64_t n) {
    assert_int_equal(n, (uint64_t)BIG * 4);
    const float *f = y;
    for (uint64_t i = 0; i < BIG; i++)
        if (f[i] != -x[i]) fail_msg("neg differs at %llu", (unsigned long long)i);
}

/* Of integers: pieces and their order change nothing. */
static void check_sum(const float *x, const void *y, uint64_t n) {
    assert_int_equal(n, 4);
    const int32_t *v = (const int32_t *)(const void *)x;
    int32_t sum = 0, got;
    for (uint64_t i = 0; i < BIG; i++) sum += v[i];
    memcpy(&got, y, 4);
    assert_int_equal(got, sum);
}

static void check_median(const float *x, const void *y, uint64_t n) {
    assert_int_equal(n, (uint64_t)(BIG - 2) * 4);
    const float *f = y;
    for (uint64_t i = 0; i + 2 < BIG; i++) {
        float a = x[i], b = x[i + 1], c = x[i + 2], lo = a < b ? a : b, hi = a < b ? b : a, m = c < lo ? lo : c > hi ? hi : c;
        if (f[i] != m) fail_msg("median differs at %llu", (unsigned long long)i);
    }
}

static void three_hundred_mib(void **state) {
    (void)state;
    if (!gpu) skip();
    low l;
    float *x = malloc((size_t)BIG * 4);
    if (!x) skip();
    for (uint64_t i = 0; i < BIG; i++) x[i] = big_at(i);
    low_begin(&l);
    run_big(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[78643200]\n  %y = neg %x\n  output \"y\" %y\n}\n", x, check_neg);
    run_big(&l, "graph g {\n  tier debug\n  %x = input \"x\" : f32[78643200]\n  %y = user/kemal/windowed_median %x w=3\n  output \"y\" %y\n}\n", x, check_median);
    for (uint64_t i = 0; i < BIG; i++) {
        int32_t v = (int32_t)(run_hash((uint32_t)i) % 17);
        memcpy(&x[i], &v, 4);
    }
    run_big(&l, "graph g {\n  tier debug\n  %x = input \"x\" : i32[78643200]\n  %y = reduce_sum %x\n  output \"y\" %y\n}\n", x, check_sum);
    low_end(&l);
    free(x);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(pages), cmocka_unit_test(streamed), cmocka_unit_test(peak_is_what_is_created), cmocka_unit_test(three_hundred_mib)};
    return cmocka_run_group_tests(t, open_device, close_device);
}
