/* Every document of tests/bad/canvas gives the diagnostic and place of expect.txt, first of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "ladder/canvas/canvas.h"

static bool read_all(gr_arena *a, gr_diags *d, gr_str name, gr_str text) {
    gr_canvas c;
    return gr_canvas_parse(a, d, name, text, &c) && gr_canvas_load_calls(a, d, &c) && gr_canvas_verify(d, &c);
}

/* "name.json canvas/what 3:7 /pointer" */
static void put_first(gr_buf *out, gr_str file, const gr_diags *d) {
    const gr_diag *g = NULL;
    for (uint32_t i = 0; i < d->list.n && !g; i++)
        if (d->list.v[i].severity == GR_ERROR) g = &d->list.v[i];
    gr_buf_str(out, file);
    if (!g) gr_buf_puts(out, " nothing\n");
    else gr_buf_printf(out, " %s %u:%u%s%.*s\n", gr_diag_text(g->name), g->place.line, g->place.col, g->place.pointer.n ? " " : "", GR_STR_ARG(g->place.pointer));
}

static void every_bad_document_is_named_and_placed(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags d;
    gr_buf out = {0};
    gr_str *names, dir = golden_path(&a, "tests/bad/canvas");
    uint32_t n, seen = 0;
    gr_diags_init(&d);
    assert_true(gr_dir_list(&a, &d, dir, &names, &n));
    for (uint32_t i = 0; i < n; i++) {
        if (!gr_str_ends(names[i], ".json")) continue;
        gr_diags_clear(&d);
        gr_str path = gr_path_join(&a, dir, names[i]), text;
        assert_true(gr_file_read(&a, &d, path, 0, &text));
        assert_false(read_all(&a, &d, path, text));
        assert_true(d.errors > 0);
        put_first(&out, names[i], &d);
        for (uint32_t k = 0; k < d.list.n; k++) assert_true(d.list.v[k].message.n > 0);
        seen++;
    }
    assert_true(seen >= 60);
    golden_check("tests/bad/canvas/expect.txt", gr_buf_view(&out));
    gr_buf_free(&out);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

/* Cutting a good document anywhere, or changing one byte, must never crash or hang. */
static void damaged_documents_are_survived(void **state) {
    (void)state;
    gr_arena keep = {0};
    gr_str text = golden_read(&keep, "tests/canvas/every.json");
    char *copy = gr_arena_strndup(&keep, text.p, text.n);
    static const char poison[] = "{}[]\",:0-e\\\xff";
    for (size_t i = 0; i < text.n; i++) {
        gr_arena a = {0};
        gr_diags d;
        gr_diags_init(&d);
        read_all(&a, &d, GR_STR("cut.json"), (gr_str){text.p, i});
        copy[i] = poison[i % (sizeof poison - 1)];
        read_all(&a, &d, GR_STR("changed.json"), (gr_str){copy, text.n});
        copy[i] = text.p[i];
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    gr_arena_free(&keep);
}

/* A document with an error at every node stops after a bounded number of them. */
static void errors_are_bounded(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags d;
    gr_buf t = {0};
    gr_diags_init(&d);
    gr_buf_puts(&t, "{ \"gradus\": \"canvas/1\", \"tier\": \"debug\", \"nodes\": [");
    for (int i = 0; i < 50000; i++) gr_buf_printf(&t, "%s{ \"id\": \"a.b\", \"block\": \"input\" }", i ? "," : "");
    gr_buf_puts(&t, "] }");
    assert_false(read_all(&a, &d, GR_STR("many.json"), gr_buf_view(&t)));
    assert_true(d.errors >= GR_CANVAS_ERRORS_MAX && d.errors < GR_CANVAS_ERRORS_MAX + 10);
    gr_buf_free(&t);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bad_document_is_named_and_placed),
        cmocka_unit_test(damaged_documents_are_survived),
        cmocka_unit_test(errors_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
