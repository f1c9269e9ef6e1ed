/* The fault sweep: the whole way from a session to written outputs, with the n-th allocation failing. Whatever fails, it
 * is said, nothing crashes or leaks, and the same work done again in full gives the same bits.
 * `faults N` takes every N-th allocation (the suite `api`); alone it takes all (make soak). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/hash.h"
#include "gradus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t step = 1;

typedef struct outcome { bool done, said; char hash[72]; /* of the result, the plan, the trace and the record */ } outcome;

static bool run_document(gr_session *s, const char *path, outcome *o) {
    gr_program *p = gr_compile_file(s, path, NULL);
    char *plan = p ? gr_plan_json(p) : NULL, *text = p ? gr_explain(p, GR_RUNG_NONE, "centered", false) : NULL;
    gr_prepared *r = p ? gr_prepare(p, NULL) : NULL;
    gr_run run = r ? gr_submit(r) : 0;
    bool ok = run && gr_wait(r, run);
    char *record = ok ? gr_run_record(r, run) : NULL;
    gr_tensor y = {0};
    if (ok) y = gr_result(r, run, 0);
    ok = ok && y.data && plan && text && record;
    if (ok) {
        gr_buf all = {0};
        gr_heap_fail_nth(0);
        gr_buf_printf(&all, "%s%s%s", plan, text, record);
        gr_buf_put(&all, y.data, y.bytes);
        gr_sha256_text(o->hash, gr_sha256_of(all.p, all.n));
        gr_buf_free(&all);
    }
    gr_text_free(record);
    gr_text_free(text);
    gr_text_free(plan);
    gr_prepared_free(r);
    gr_program_free(p);
    return ok;
}

/* Session included when with_session, else only what a session does. */
static outcome once(gr_session *given, const char *path, uint64_t nth) {
    outcome o = {0};
    gr_heap_fail_nth(nth);
    gr_session *s = given ? given : gr_session_new(&(gr_session_desc){.device = GR_DEVICE_CPU, .threads = 1});
    o.done = s && gr_session_exit_code(s) == 0 && run_document(s, path, &o);
    gr_heap_fail_nth(0);
    o.said = !s || gr_session_exit_code(s) != 0;
    if (given) gr_session_clear(given);
    else gr_session_free(s);
    return o;
}

static void sweep(bool with_session, const char *path) {
    gr_session *s = NULL;
    if (!with_session) {
        s = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_CPU, .threads = 1});
        assert_non_null(s);
        assert_int_equal(gr_session_exit_code(s), 0);
    }
    uint64_t before = gr_heap_count();
    outcome whole = once(s, path, 0);
    uint64_t count = gr_heap_count() - before;
    assert_true(whole.done && !whole.said);
    uint64_t failed = 0, silent = 0, other = 0;
    for (uint64_t nth = 1; nth <= count; nth += step) {
        outcome o = once(s, path, nth);
        if (!o.done && !o.said) fprintf(stderr, "allocation %llu fails and nothing is said\n", (unsigned long long)nth), silent++;
        if (o.done && strcmp(o.hash, whole.hash)) fprintf(stderr, "allocation %llu fails and the result is another\n", (unsigned long long)nth), other++;
        failed += !o.done;
    }
    fprintf(stderr, "%llu allocations, each %llu. looked at, %llu of these needed\n", (unsigned long long)count, (unsigned long long)step,
            (unsigned long long)failed);
    assert_int_equal(silent, 0);
    assert_int_equal(other, 0);
    assert_true(failed > 5);
    outcome again = once(s, path, 0);
    assert_true(again.done);
    assert_string_equal(again.hash, whole.hash);
    gr_session_free(s);
}

static void program(void **state) {
    (void)state;
    sweep(false, "examples/center.json");
}

static void session(void **state) {
    (void)state;
    sweep(true, "examples/center.json");
}

int main(int argc, char **argv) {
    if (argc > 1) step = strtoull(argv[1], NULL, 10);
    if (!step) step = 1;
    const struct CMUnitTest t[] = {cmocka_unit_test(program),
        cmocka_unit_test(session)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
