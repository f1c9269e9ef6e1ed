/* The workflow document: what is read, printed, checked; failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "golden.h"
#include "ladder/canvas/canvas.h"

typedef struct box {
    gr_arena a;
    gr_diags d;
} box;

static void open_box(box *b) {
    *b = (box){0};
    gr_diags_init(&b->d);
}

static void close_box(box *b) {
    gr_diags_free(&b->d);
    gr_arena_free(&b->a);
}

static void every_key_is_read(void **state) {
    (void)state;
    box b;
    gr_canvas c;
    open_box(&b);
    gr_str text = golden_read(&b.a, "tests/canvas/every.json");
    bool ok = gr_canvas_parse(&b.a, &b.d, GR_STR("every.json"), text, &c) && gr_canvas_verify(&b.d, &c);
    golden_show(&b.d, text);
    assert_true(ok);
    assert_int_equal(c.tier, GR_TIER_PROD);
    assert_int_equal(c.tolerance, GR_TOLERANCE_TIGHT);
    assert_int_equal(c.guarantee, GR_GUARANTEE_REPLAYABLE);
    assert_true(c.seed == UINT64_MAX);
    assert_true(c.budget_gpu == (uint64_t)256 << 20 && c.budget_cpu == (uint64_t)3 << 29);
    assert_int_equal(c.nodes_n, 14);
    assert_true(c.nodes[12].on_disk && !c.nodes[13].on_disk);
    assert_int_equal(c.links_n, 10);
    assert_int_equal(c.nodes[0].shape_n, 2);
    assert_true(gr_str_eqz(c.nodes[0].shape[0].symbol, "n") && c.nodes[0].shape[1].n == 4);
    assert_true(gr_str_eqz(c.nodes[0].at.pointer, "/nodes/0"));
    assert_int_equal(c.nodes[0].at.line, 7);
    assert_int_equal(c.nodes[0].at.col, 5);
    assert_int_equal(c.nodes[1].constant.dtype, GR_DTYPE_F32);
    assert_int_equal(c.nodes[2].constant.rank, 2);
    assert_true(gr_array_get_f64(&c.nodes[2].constant, 2) == 3);
    assert_int_equal(c.nodes[3].constant.dtype, GR_DTYPE_BOOL);
    assert_true(c.nodes[4].shape_given && c.nodes[4].shape_n == 0);
    assert_true(gr_str_eqz(c.nodes[7].body->nodes[2].at.pointer, "/nodes/7/body/nodes/2"));
    close_box(&b);
}

static void print_is_canonical(void **state) {
    (void)state;
    box b;
    gr_canvas c, again;
    gr_buf one = {0}, two = {0};
    open_box(&b);
    gr_str text = golden_read(&b.a, "tests/canvas/every.json");
    assert_true(gr_canvas_parse(&b.a, &b.d, GR_STR("every.json"), text, &c));
    assert_true(gr_canvas_print(&one, &c));
    golden_check("tests/canvas/every.golden.json", gr_buf_view(&one));
    bool ok = gr_canvas_parse(&b.a, &b.d, GR_STR("every.golden.json"), gr_buf_view(&one), &again);
    golden_show(&b.d, gr_buf_view(&one));
    assert_true(ok && gr_canvas_verify(&b.d, &again));
    assert_true(gr_canvas_print(&two, &again));
    assert_string_equal(one.p, two.p);
    gr_buf_free(&one);
    gr_buf_free(&two);
    close_box(&b);
}

/* The hash is of the content, not of blanks and the order of keys. */
static void hash_ignores_layout_of_text(void **state) {
    (void)state;
    static const char *const texts[3] = {
        "{\"gradus\":\"canvas/1\",\"tier\":\"debug\",\"nodes\":[]}",
        "{ \"tier\": \"debug\",\n  \"nodes\": [],\n  \"gradus\": \"canvas/1\" }\n",
        "{\"gradus\":\"canvas/1\",\"tier\":\"fast\",\"nodes\":[]}"};
    box b;
    gr_canvas c[3];
    open_box(&b);
    for (int i = 0; i < 3; i++) assert_true(gr_canvas_parse(&b.a, &b.d, GR_STR("h.json"), gr_str_of(texts[i]), &c[i]));
    assert_true(gr_sha256_eq(c[0].hash, c[1].hash));
    assert_false(gr_sha256_eq(c[0].hash, c[2].hash));
    char t[72];
    gr_str form = GR_STR("{\"gradus\":\"canvas/1\",\"nodes\":[],\"tier\":\"debug\"}"); /* RFC 8785 */
    gr_sha256_text(t, gr_sha256_of(form.p, form.n));
    char u[72];
    gr_sha256_text(u, c[0].hash);
    assert_string_equal(t, u);
    close_box(&b);
}

static void sizes_are_read_and_shown(void **state) {
    (void)state;
    static const struct { const char *text; uint64_t bytes; } good[] = {
        {"4096", 4096}, {"256 MiB", (uint64_t)256 << 20}, {"1.5 GiB", (uint64_t)3 << 29}, {"2kB", 2000}, {"0.5 KiB", 512}, {"7 B", 7}};
    static const char *const bad[] = {"", "MiB", "-1", "1..5 GiB", "1 mib", "1e3", "0x10", "1 GiB ", "99999999999 TiB", "inf"};
    uint64_t v;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(gr_bytes_parse(gr_str_of(good[i].text), &v));
        assert_true(v == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(gr_bytes_parse(gr_str_of(bad[i]), &v));
    static const struct { uint64_t bytes; const char *text; } shown[] = {
        {0, "0 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {432128, "422 KiB"}, {1258291, "1.2 MiB"}, {(uint64_t)256 << 20, "256 MiB"}, {UINT64_MAX, "16 EiB"}};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        gr_buf b = {0};
        gr_bytes_print(&b, shown[i].bytes);
        assert_string_equal(b.p, shown[i].text);
        gr_buf_free(&b);
    }
}

static void print_chain(gr_buf *t, int n) {
    gr_buf_puts(t, "{\"gradus\":\"canvas/1\",\"tier\":\"debug\",\"nodes\":[{\"id\":\"x\",\"block\":\"input\"}");
    for (int i = 0; i < n; i++) gr_buf_printf(t, ",{\"id\":\"n%d\",\"op\":\"neg\"}", i);
    gr_buf_puts(t, ",{\"id\":\"y\",\"block\":\"output\"}],\"links\":[{\"from\":\"x\",\"to\":\"n0\"}");
    for (int i = 1; i < n; i++) gr_buf_printf(t, ",{\"from\":\"n%d\",\"to\":\"n%d\"}", i - 1, i);
    gr_buf_printf(t, ",{\"from\":\"n%d\",\"to\":\"y\"}]}", n - 1);
}

/* One line of text, so that columns would be quadratic if they were counted from its start. */
static void ten_thousand_nodes_are_quick(void **state) {
    (void)state;
    box b;
    gr_canvas c;
    gr_buf t = {0};
    open_box(&b);
    print_chain(&t, 50000);
    double start = gr_clock_seconds();
    assert_true(gr_canvas_parse(&b.a, &b.d, GR_STR("chain.json"), gr_buf_view(&t), &c));
    assert_true(gr_canvas_verify(&b.d, &c));
    assert_true(gr_clock_seconds() - start < 5);
    gr_buf_free(&t);
    close_box(&b);
}

/* Fails the n-th allocation for every n until all succeed: no crash, and the failure is said. */
static void failing_memory_is_reported(void **state) {
    (void)state;
    gr_arena keep = {0};
    gr_str text = golden_read(&keep, "tests/canvas/every.json");
    bool done = false;
    for (uint64_t n = 1; !done && n < 10000; n++) {
        box b;
        gr_canvas c;
        gr_buf out = {0};
        open_box(&b);
        gr_heap_fail_nth(n);
        uint64_t before = gr_heap_count();
        bool ok = gr_canvas_parse(&b.a, &b.d, GR_STR("every.json"), text, &c) && gr_canvas_verify(&b.d, &c);
        bool printed = ok && gr_canvas_print(&out, &c);
        done = gr_heap_count() - before < n;
        gr_heap_fail_nth(0);
        if (done) assert_true(ok && printed);
        else if (!ok) assert_true(b.d.out_of_memory || b.d.errors);
        gr_buf_free(&out);
        close_box(&b);
    }
    assert_true(done);
    gr_arena_free(&keep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(print_is_canonical),
        cmocka_unit_test(hash_ignores_layout_of_text),
        cmocka_unit_test(sizes_are_read_and_shown),
        cmocka_unit_test(ten_thousand_nodes_are_quick),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
