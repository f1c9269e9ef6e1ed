/* The public interface misused: calls out of order, wrong sizes, objects freed in any order, shared buffers, and every
 * allocation failing once. On the CPU, and where there is an adapter on it too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "gradus.h"

#include <stdio.h>
#include <string.h>

enum { N = 8 };
static const char text[] = "graph t {\n"
                           "  document \"t\"\n  tier debug\n  tolerance default\n  seed 0\n"
                           "  %x = input \"x\" : f32[8]\n"
                           "  %e = mul@1 %x, %x : f32[8] @ node \"e\"\n"
                           "  %s = reduce_sum@1 %e axes=[0] keep_dimensions=true : f32[1] @ node \"s\"\n"
                           "  %y = add@1 %e, %s : f32[8] @ node \"y\"\n"
                           "  output \"y\" %y\n}\n";
static const float ones[N] = {1, 1, 1, 1, 1, 1, 1, 1}, twos[N] = {2, 2, 2, 2, 2, 2, 2, 2};

static gr_tensor tensor(const float *x) { return (gr_tensor){.dtype = "f32", .rank = 1, .dims = {N}, .data = x, .bytes = N * 4}; }

static gr_session *session(gr_device_kind kind) { return gr_session_new(&(gr_session_desc){.device = kind, .threads = 1}); }

static gr_program *program(gr_session *s) { return gr_compile_text(s, "t.graph", text, sizeof text - 1, NULL); }

/* The session for one device; NULL where there is no adapter. */
static gr_session *open_or_skip(gr_device_kind kind) {
    gr_session *s = session(kind);
    assert_non_null(s);
    if (kind == GR_DEVICE_CPU || gr_session_exit_code(s) == 0) return s;
    print_message("no adapter: only the CPU is tested\n");
    gr_session_free(s);
    return NULL;
}

static void complained(gr_session *s, const char *name) {
    const char *report = gr_session_report(s, false);
    if (!strstr(report, name)) print_error("wanted %s, got: %s\n", name, report);
    assert_non_null(strstr(report, name));
    gr_session_clear(s);
}

static void is(gr_prepared *r, gr_run run, float want) {
    gr_tensor t = gr_result(r, run, 0);
    assert_true(t.data != NULL && t.bytes == N * 4);
    for (int i = 0; i < N; i++) assert_true(((const float *)t.data)[i] == want);
}

static void out_of_order_on(gr_device_kind kind) {
    gr_session *s = open_or_skip(kind);
    if (!s) return;
    gr_program *p = program(s);
    gr_prepared *r = gr_prepare(p, NULL);
    assert_non_null(r);
    assert_true(gr_submit(r) == 0); /* before any input */
    complained(s, "run/input-missing");
    assert_false(gr_wait(r, 0));
    complained(s, "run/ticket-unknown");
    assert_false(gr_wait(r, 77));
    complained(s, "run/ticket-unknown");
    assert_false(gr_done(r, 77));
    assert_null(gr_result(r, 77, 0).data);
    assert_null(gr_result_wide(r, 77, 0).data);
    gr_release(r, 77);
    assert_int_equal(gr_times(r, 77, NULL, NULL, 0), 0);

    gr_tensor x = tensor(ones), bad = x;
    assert_false(gr_write(r, 1, &x));
    complained(s, "run/input-size");
    bad.bytes = 4;
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");
    bad = x, bad.dims[0] = 7, bad.bytes = 28;
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");
    bad = x, bad.rank = 9;
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");
    bad = x, bad.rank = 2000000000;
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");
    bad = x, bad.dims[0] = UINT64_MAX;
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");
    bad = x, bad.dtype = "i32";
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");
    bad = x, bad.dtype = "float";
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");
    bad = x, bad.dtype = NULL;
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");
    bad = x, bad.data = NULL;
    assert_false(gr_write(r, 0, &bad));
    complained(s, "run/input-size");

    assert_true(gr_write(r, 0, &x));
    gr_run run = gr_submit(r);
    assert_true(run && gr_wait(r, run) && gr_wait(r, run));
    is(r, run, 9);
    is(r, run, 9);
    assert_null(gr_result(r, run, 1).data);
    gr_release(r, run);
    gr_release(r, run);
    assert_null(gr_result(r, run, 0).data);
    gr_prepared_free(r);
    gr_program_free(p);
    gr_session_free(s);
}

static void calls_out_of_order(void **state) {
    (void)state;
    out_of_order_on(GR_DEVICE_CPU);
    out_of_order_on(GR_DEVICE_GPU);
}

static void two_in_flight_on(gr_device_kind kind) {
    gr_session *s = open_or_skip(kind);
    if (!s) return;
    gr_program *p = program(s), *q = program(s);
    gr_prepared *r = gr_prepare(p, NULL), *r2 = gr_prepare(p, NULL), *r3 = gr_prepare(q, NULL);
    gr_tensor x = tensor(ones), y = tensor(twos);
    assert_true(r && r2 && r3 && gr_write(r, 0, &x) && gr_write(r2, 0, &y) && gr_write(r3, 0, &y));
    gr_run a = gr_submit(r);
    assert_true(gr_write(r, 0, &y)); /* for the next run only */
    gr_run b = gr_submit(r), c = gr_submit(r2), d = gr_submit(r3);
    assert_true(a && b && c && d && a != b);
    assert_true(gr_wait(r3, d) && gr_wait(r, b) && gr_wait(r, a) && gr_wait(r2, c));
    is(r, a, 9);
    is(r, b, 36);
    is(r2, c, 36);
    is(r3, d, 36);
    gr_run e = gr_submit(r); /* the third: the first is gone */
    assert_true(e && gr_wait(r, e));
    is(r, e, 36);
    is(r, b, 36);
    assert_false(gr_wait(r, a));
    complained(s, "run/ticket-unknown");
    assert_true(gr_submit(r) && gr_submit(r2)); /* freed in flight */
    gr_prepared_free(r2);
    gr_prepared_free(r);
    gr_prepared_free(r3);
    gr_program_free(p);
    gr_program_free(q);
    gr_session_free(s);
}

static void runs_overlap(void **state) {
    (void)state;
    two_in_flight_on(GR_DEVICE_CPU);
    two_in_flight_on(GR_DEVICE_GPU);
}

static void any_order_on(gr_device_kind kind) {
    gr_session *s = open_or_skip(kind);
    if (!s) return;
    gr_program *p = program(s);
    gr_prepared *r = gr_prepare(p, NULL);
    gr_buffer *in = gr_buffer_new(s, "in", N * 4);
    assert_true(r && in && gr_buffer_write(in, 0, twos, sizeof twos) && gr_attach_input(r, 0, in));
    gr_session_free(s);
    gr_program_free(p);
    gr_buffer_free(in);
    gr_run run = gr_submit(r);
    assert_true(run && gr_wait(r, run));
    is(r, run, 36);
    gr_prepared_free(r);
    gr_session_free(NULL);
    gr_program_free(NULL);
    gr_prepared_free(NULL);
    gr_buffer_free(NULL);
    gr_text_free(NULL);
}

static void objects_are_freed_in_any_order(void **state) {
    (void)state;
    any_order_on(GR_DEVICE_CPU);
    any_order_on(GR_DEVICE_GPU);
}

/* The output of one program is the input of the next, with no copy over the host. */
static void chain_on(gr_device_kind kind) {
    gr_session *s = open_or_skip(kind), *other = session(GR_DEVICE_CPU);
    if (!s) {
        gr_session_free(other);
        return;
    }
    gr_program *p = program(s);
    gr_prepared *first = gr_prepare(p, NULL), *second = gr_prepare(p, NULL);
    gr_buffer *between = gr_buffer_new(s, "between", N * 4), *small = gr_buffer_new(s, "small", 4), *foreign = gr_buffer_new(other, "foreign", N * 4);
    gr_tensor x = tensor(ones);
    float got[N];
    assert_true(first && second && between && small && foreign);
    assert_false(gr_attach_input(second, 0, small));
    complained(s, "run/buffer-range");
    assert_false(gr_attach_input(second, 0, foreign));
    complained(s, "run/buffer-range");
    assert_false(gr_attach_input(second, 0, NULL));
    complained(s, "run/buffer-range");
    assert_false(gr_attach_output(second, 1, between));
    complained(s, "run/input-size");
    assert_true(gr_write(first, 0, &x));
    gr_run run = gr_submit(first); /* before the attachment: what was bound must be bound anew */
    assert_true(run && gr_wait(first, run));
    assert_true(gr_attach_output(first, 0, between) && gr_attach_input(second, 0, between));
    for (int i = 0; i < 3; i++) {
        gr_run a = gr_submit(first), b = gr_submit(second);
        assert_true(a && b && gr_wait(first, a) && gr_wait(second, b));
        assert_null(gr_result(first, a, 0).data);
        is(second, b, 81 + 8 * 81);
    }
    assert_true(gr_buffer_read(between, 0, got, sizeof got) && got[0] == 9 && got[7] == 9);
    assert_false(gr_buffer_read(between, 4, got, sizeof got));
    complained(s, "run/buffer-range");
    assert_false(gr_buffer_write(between, UINT64_MAX, got, 4));
    complained(s, "run/buffer-range");
    gr_buffer_free(between);
    gr_buffer_free(small);
    gr_buffer_free(foreign);
    gr_prepared_free(first);
    gr_prepared_free(second);
    gr_program_free(p);
    gr_session_free(s);
    gr_session_free(other);
}

static void buffers_are_shared(void **state) {
    (void)state;
    chain_on(GR_DEVICE_CPU);
    chain_on(GR_DEVICE_GPU);
}

static void a_shared_input_counts_in_f64_too(void **state) {
    (void)state;
    gr_session *s = session(GR_DEVICE_CPU);
    gr_program *p = program(s);
    gr_prepared *r = gr_prepare(p, &(gr_prepare_desc){.wide = true});
    gr_buffer *b = gr_buffer_new(s, "b", N * 4);
    assert_true(r && b && gr_buffer_write(b, 0, twos, sizeof twos) && gr_attach_input(r, 0, b));
    gr_run run = gr_submit(r);
    assert_true(run && gr_wait(r, run));
    gr_tensor t = gr_result_wide(r, run, 0);
    assert_true(t.data && ((const double *)t.data)[7] == 36.0);
    gr_buffer_free(b);
    gr_prepared_free(r);
    gr_program_free(p);
    gr_session_free(s);
}

static void a_session_without_a_device_only_compiles(void **state) {
    (void)state;
    gr_session *s = session(GR_DEVICE_NONE_);
    gr_program *p = program(s);
    assert_non_null(p);
    assert_null(gr_prepare(p, NULL));
    complained(s, "run/no-executor");
    assert_null(gr_buffer_new(s, "b", 4));
    complained(s, "run/no-executor");
    assert_string_equal(gr_session_executor(s), "none");
    assert_null(gr_program_input_name(p, 1));
    assert_null(gr_program_output_type(p, 1).dtype);
    assert_null(gr_catalog_id(s, 100000));
    assert_null(gr_explain(p, GR_RUNG_CANVAS, NULL, false));
    complained(s, "cli/rung-missing");
    gr_program_free(p);
    gr_session_free(s);
}

static void a_red_plan_is_refused(void **state) {
    (void)state;
    gr_session *s = session(GR_DEVICE_CPU);
    gr_program *p = gr_compile_text(s, "t.graph", text, sizeof text - 1, &(gr_compile_desc){.budget_gpu = 1});
    if (p && !strcmp(gr_program_verdict(p), "red")) {
        gr_session_clear(s);
        assert_null(gr_prepare(p, NULL));
        complained(s, "run/red");
    }
    gr_program_free(p);
    gr_session_free(s);
}

/* One job from session to result; what it got to is what failed to be made. False unless all went well. */
static bool job(gr_session **out, int *code) {
    gr_session *s = session(GR_DEVICE_CPU);
    gr_program *p = s ? program(s) : NULL;
    gr_prepared *r = p ? gr_prepare(p, NULL) : NULL;
    gr_tensor x = tensor(ones);
    gr_run run = r && gr_write(r, 0, &x) ? gr_submit(r) : 0;
    bool ok = run && gr_wait(r, run);
    ok = ok && gr_result(r, run, 0).data;
    gr_heap_fail_nth(0);
    *code = s ? gr_session_exit_code(s) : 3;
    if (!ok && r) { /* what was prepared works after the failure has passed */
        gr_session_clear(s);
        assert_true(gr_write(r, 0, &x));
        run = gr_submit(r);
        assert_true(run && gr_wait(r, run));
        is(r, run, 9);
    }
    gr_prepared_free(r);
    gr_program_free(p);
    *out = s;
    return ok;
}

/* Every allocation of the job fails once (of the many of the catalog a sample). */
static void every_allocation_may_fail(void **state) {
    (void)state;
    gr_session *s = NULL;
    int code;
    uint64_t before = gr_heap_count();
    s = session(GR_DEVICE_CPU);
    uint64_t catalog = gr_heap_count() - before;
    gr_session_free(s);
    before = gr_heap_count();
    assert_true(job(&s, &code));
    uint64_t all = gr_heap_count() - before;
    gr_session_free(s);
    unsigned survived = 0;
    for (uint64_t n = 1; n <= all; n += n < catalog && n > 20 ? catalog / 25 + 1 : 1) {
        gr_heap_fail_nth(n);
        bool ok = job(&s, &code);
        if (!ok && code != 3) print_error("allocation %llu of %llu: exit code %d: %s\n", (unsigned long long)n, (unsigned long long)all, code, s ? gr_session_report(s, false) : "");
        assert_true(ok || code == 3);
        survived += ok;
        gr_session_free(s);
    }
    print_message("%llu allocations, %llu of them for the catalog; %u jobs did without one\n", (unsigned long long)all, (unsigned long long)catalog, survived);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_out_of_order), cmocka_unit_test(runs_overlap), cmocka_unit_test(objects_are_freed_in_any_order),
        cmocka_unit_test(buffers_are_shared), cmocka_unit_test(a_shared_input_counts_in_f64_too),
        cmocka_unit_test(a_session_without_a_device_only_compiles), cmocka_unit_test(a_red_plan_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
