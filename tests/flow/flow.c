/* Canvas to flow: order, names, ports; the text form; failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "ladder/flow/flow.h"
#include "ops.h"

typedef struct box {
    gr_arena a;
    gr_diags d;
    gr_catalog *catalog;
    gr_canvas canvas;
    gr_flow flow;
} box;

static void open_box(box *b, gr_catalog *c) {
    *b = (box){.catalog = c};
    gr_diags_init(&b->d);
}

static void close_box(box *b) {
    gr_diags_free(&b->d);
    gr_arena_free(&b->a);
    gr_catalog_free(b->catalog);
}

/* A document of version, tier and the given nodes and links. */
static bool lower(box *b, const char *nodes, const char *links) {
    char *text = gr_arena_printf(&b->a, "{ \"gradus\": \"canvas/1\", \"tier\": \"debug\", \"name\": \"t\", \"nodes\": [ %s ], \"links\": [ %s ] }", nodes, links);
    return text && gr_canvas_parse(&b->a, &b->d, GR_STR("t.json"), gr_str_of(text), &b->canvas) && gr_canvas_lower(&b->a, &b->d, &b->canvas, b->catalog, &b->flow);
}

static const gr_diag *first_error(const gr_diags *d) {
    for (uint32_t i = 0; i < d->list.n; i++)
        if (d->list.v[i].severity == GR_ERROR) return &d->list.v[i];
    return NULL;
}

static void print(box *b, gr_buf *out) {
    gr_flow_print(out, &b->flow);
    assert_false(out->failed);
}

/* parse(print(x)) prints the same, and both keep the invariants. */
static void check_round_trip(box *b) {
    gr_buf one = {0}, two = {0};
    gr_flow again;
    assert_true(gr_flow_verify(&b->d, &b->flow));
    print(b, &one);
    bool ok = gr_flow_parse(&b->a, &b->d, GR_STR("t.flow"), gr_buf_view(&one), b->catalog, &again) && gr_flow_verify(&b->d, &again);
    golden_show(&b->d, gr_buf_view(&one));
    assert_true(ok);
    gr_flow_print(&two, &again);
    assert_string_equal(one.p, two.p);
    gr_buf_free(&one);
    gr_buf_free(&two);
}

static void every_block_is_lowered(void **state) {
    (void)state;
    box b;
    gr_buf out = {0};
    open_box(&b, test_catalog());
    gr_str text = golden_read(&b.a, "tests/flow/every.json");
    bool ok = gr_canvas_parse(&b.a, &b.d, GR_STR("every.json"), text, &b.canvas) && gr_canvas_lower(&b.a, &b.d, &b.canvas, b.catalog, &b.flow);
    golden_show(&b.d, text);
    assert_true(ok);
    print(&b, &out);
    golden_check("tests/flow/every.flow", gr_buf_view(&out));
    check_round_trip(&b);
    gr_buf_free(&out);
    close_box(&b);
}

static void examples_are_lowered(void **state) {
    (void)state;
    static const char *const names[] = {"despike", "center"};
    for (int i = 0; i < 2; i++) {
        box b;
        gr_buf out = {0};
        open_box(&b, real_catalog());
        char *document = gr_arena_printf(&b.a, "examples/%s.json", names[i]), *golden = gr_arena_printf(&b.a, "tests/flow/%s.flow", names[i]);
        gr_str text = golden_read(&b.a, document);
        bool ok = gr_canvas_parse(&b.a, &b.d, gr_str_of(document), text, &b.canvas) && gr_canvas_lower(&b.a, &b.d, &b.canvas, b.catalog, &b.flow);
        golden_show(&b.d, text);
        assert_true(ok);
        assert_int_equal(b.d.warnings, 0);
        print(&b, &out);
        golden_check(golden, gr_buf_view(&out));
        check_round_trip(&b);
        gr_buf_free(&out);
        close_box(&b);
    }
}

/* Drawn last to first; ready steps come in the order of drawing. */
static void order_is_stable(void **state) {
    (void)state;
    box b;
    open_box(&b, test_catalog());
    assert_true(lower(&b,
                      "{\"id\":\"y\",\"block\":\"output\"},{\"id\":\"c\",\"op\":\"t/add\"},{\"id\":\"b\",\"op\":\"t/one\"},{\"id\":\"a\",\"op\":\"t/one\"},"
                      "{\"id\":\"x\",\"block\":\"input\"}",
                      "{\"from\":\"c\",\"to\":\"y\"},{\"from\":\"b\",\"to\":\"c.b\"},{\"from\":\"a\",\"to\":\"c.a\"},{\"from\":\"x\",\"to\":\"a\"},{\"from\":\"x\",\"to\":\"b\"}"));
    static const char *const want[] = {"x", "b", "a", "c", "y"};
    assert_int_equal(b.flow.main.steps_n, 5);
    for (uint32_t i = 0; i < 5; i++) assert_true(gr_str_eqz(b.flow.main.steps[i].node, want[i]));
    const gr_flow_step *c = &b.flow.main.steps[3];
    assert_true(gr_str_eqz(b.flow.values[c->args[0]].name, "a") && gr_str_eqz(b.flow.values[c->args[1]].name, "b"));
    assert_true(gr_str_eqz(c->op_id, "t/add@2"));
    close_box(&b);
}

static void wrong_ports_are_named(void **state) {
    (void)state;
#define X "{\"id\":\"x\",\"block\":\"input\"},{\"id\":\"y\",\"block\":\"output\"},"
    static const struct { const char *nodes, *links, *name, *pointer, *word; } cases[] = {
        {X "{\"id\":\"m\",\"op\":\"t/adds\"}", "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"m\",\"to\":\"y\"}", "flow/op-unknown", "/nodes/2/op", "did you mean \"t/add@"},
        {X "{\"id\":\"m\",\"op\":\"t/add@7\"}", "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"m\",\"to\":\"y\"}", "flow/op-unknown", "/nodes/2/op", "did you mean"},
        {X "{\"id\":\"m\",\"op\":\"t/add\"}", "{\"from\":\"x\",\"to\":\"m.a\"},{\"from\":\"m\",\"to\":\"y\"}", "flow/operand-open", "/nodes/2", "add a link to \"m.b\""},
        {X "{\"id\":\"m\",\"op\":\"t/add\"}", "{\"from\":\"x\",\"to\":\"m.a\"},{\"from\":\"x\",\"to\":\"m.c\"},{\"from\":\"m\",\"to\":\"y\"}", "flow/port-unknown", "/links/1/to", "its operands are: a, b"},
        {X "{\"id\":\"m\",\"op\":\"t/add\"}", "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"m\",\"to\":\"y\"}", "flow/port-unknown", "/links/0/to", "must say which"},
        {X "{\"id\":\"m\",\"op\":\"t/one\"}", "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"x\",\"to\":\"m.x\"},{\"from\":\"m\",\"to\":\"y\"}", "flow/port-twice", "/links/1", "linked twice"},
        {X "{\"id\":\"m\",\"op\":\"t/pair\"}", "{\"from\":\"x\",\"to\":\"m.x\"},{\"from\":\"m\",\"to\":\"y\"}", "flow/port-unknown", "/links/1/from", "its outputs are: values, places"},
        {X "{\"id\":\"m\",\"op\":\"t/one\"}", "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"m.z\",\"to\":\"y\"}", "flow/port-unknown", "/links/1/from", "no output \"z\""},
        {X "{\"id\":\"m\",\"op\":\"t/join\"}", "{\"from\":\"m\",\"to\":\"y\"}", "flow/operand-open", "/nodes/2", "\"xs\""},
        {X "{\"id\":\"m\",\"op\":\"t/cut\"}", "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"m.ys\",\"to\":\"y\"}", "flow/port-unknown", "/links/1/from", "no output \"ys\""},
        {X "{\"id\":\"m\",\"block\":\"call\",\"file\":\"a.json\"}", "{\"from\":\"x\",\"to\":\"y\"}", "flow/call-not-loaded", "/nodes/2", "a.json"},
    };
#undef X
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        box b;
        gr_buf t = {0};
        open_box(&b, test_catalog());
        assert_false(lower(&b, cases[i].nodes, cases[i].links));
        const gr_diag *g = first_error(&b.d);
        assert_non_null(g);
        gr_diag_print(&t, g, (gr_str){0});
        if (strcmp(gr_diag_text(g->name), cases[i].name) != 0 || !strstr(t.p, cases[i].word)) fprintf(stderr, "case %zu: %s", i, t.p);
        assert_string_equal(gr_diag_text(g->name), cases[i].name);
        assert_true(gr_str_eqz(g->place.pointer, cases[i].pointer));
        assert_non_null(strstr(t.p, cases[i].word));
        gr_buf_free(&t);
        close_box(&b);
    }
}

static void unused_results_warn(void **state) {
    (void)state;
    box b;
    open_box(&b, test_catalog());
    assert_true(lower(&b, "{\"id\":\"x\",\"block\":\"input\"},{\"id\":\"m\",\"op\":\"t/one\"},{\"id\":\"y\",\"block\":\"output\"}", "{\"from\":\"x\",\"to\":\"m\"},{\"from\":\"x\",\"to\":\"y\"}"));
    assert_true(gr_diags_has(&b.d, GR_D_FLOW_OUTPUT_UNUSED));
    assert_int_equal(b.d.warnings, 1);
    close_box(&b);
}

static void called_documents_join_their_demands(void **state) {
    (void)state;
    box b;
    open_box(&b, test_catalog());
    gr_str path = golden_path(&b.a, "tests/flow/caller.json");
    gr_str text = golden_read(&b.a, "tests/flow/caller.json");
    bool ok = gr_canvas_parse(&b.a, &b.d, path, text, &b.canvas) && gr_canvas_load_calls(&b.a, &b.d, &b.canvas) && gr_canvas_lower(&b.a, &b.d, &b.canvas, b.catalog, &b.flow);
    golden_show(&b.d, text);
    assert_true(ok);
    assert_int_equal(b.canvas.tier, GR_TIER_FAST);
    assert_int_equal(b.flow.tier, GR_TIER_DEBUG);
    assert_int_equal(b.flow.tolerance, GR_TOLERANCE_TIGHT);
    assert_int_equal(b.flow.guarantee, GR_GUARANTEE_REPLAYABLE);
    assert_true(gr_diags_has(&b.d, GR_D_FLOW_TIER_RAISED));
    const gr_flow_step *call = &b.flow.main.steps[1];
    assert_int_equal(call->kind, GR_BLOCK_CALL);
    assert_true(gr_str_ends(call->body->steps[0].at.document, "tests/flow/called.json"));
    check_round_trip(&b);
    close_box(&b);
}

static void bad_texts_are_named_and_placed(void **state) {
    (void)state;
    static const struct { const char *text, *name; unsigned line, col; } cases[] = {
        {"", "flow/syntax", 1, 1},
        {"graph x {\n}\n", "flow/syntax", 1, 1},
        {"flow x {\n  tier fastest\n}\n", "flow/syntax", 2, 8},
        {"flow x {\n  budget gpu 3 parsecs\n}\n", "flow/syntax", 2, 14},
        {"flow x {\n  seed -1\n}\n", "flow/syntax", 2, 8},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  %a = input \"b\"\n  output \"o\" %a\n}\n", "flow/name-twice", 4, 3},
        {"flow x {\n  tier debug\n  output \"o\" %a\n}\n", "flow/name-unknown", 3, 14},
        {"flow x {\n  tier debug\n  %a = input \"a\" shap=[1]\n  output \"o\" %a\n}\n", "flow/syntax", 3, 18},
        {"flow x {\n  tier debug\n  %a = input \"a\" dtype=float\n  output \"o\" %a\n}\n", "flow/syntax", 3, 24},
        {"flow x {\n  tier debug\n  %a = input \"a\" shape=[1, 2\n  output \"o\" %a\n}\n", "flow/syntax", 3, 29},
        {"flow x {\n  tier debug\n  %a = constant \"a\" [1, [2]]\n  output \"o\" %a\n}\n", "canvas/value-bad", 3, 3},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  %b = t/ad x=%a @ node \"b\"\n  output \"o\" %b\n}\n", "flow/op-unknown", 4, 8},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  %b = t/one z=%a @ node \"b\"\n  output \"o\" %b\n}\n", "flow/port-unknown", 4, 14},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  %b = t/one x=%a x=%a @ node \"b\"\n  output \"o\" %b\n}\n", "flow/port-twice", 4, 19},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  %b = t/add a=%a @ node \"b\"\n  output \"o\" %b\n}\n", "flow/operand-open", 4, 8},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  %b, %c = t/one x=%a @ node \"b\"\n  output \"o\" %b\n}\n", "flow/syntax", 4, 12},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  %b = t/one x=%a\n  output \"o\" %b\n}\n", "flow/syntax", 4, 18},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  repeat \"r\" count=2 in s=%a out y=%b {\n    output \"r/y\" %a\n  }\n  output \"o\" %b\n}\n", "flow/name-unknown", 5, 18},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  repeat \"r\" count=2 in s=%a out y=%b {\n    %s = input \"r/t\"\n    output \"r/y\" %s\n  }\n  output \"o\" %b\n}\n", "flow/invalid", 4, 3},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  repeat \"r\" count=2 in s=%a out y=%b carry y=z {\n    %s = input \"r/s\"\n    output \"r/y\" %s\n  }\n  output \"o\" %b\n}\n", "flow/syntax", 4, 45},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  output \"o\" %a\n  output \"o\" %a\n}\n", "flow/invalid", 5, 3},
        {"flow x {\n  tier debug\n  %a = input \"a\"\n  output \"o\" %a\n", "flow/syntax", 5, 1},
        {"flow x {\n  tier debug\n  %a = input \"a\n  output \"o\" %a\n}\n", "flow/syntax", 3, 14},
        {"flow x {\n  tier debug\n  %a = input \"a\" 7\n  output \"o\" %a\n}\n", "flow/syntax", 3, 18},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        box b;
        open_box(&b, test_catalog());
        assert_false(gr_flow_parse(&b.a, &b.d, GR_STR("bad.flow"), gr_str_of(cases[i].text), b.catalog, &b.flow));
        const gr_diag *g = first_error(&b.d);
        assert_non_null(g);
        if (strcmp(gr_diag_text(g->name), cases[i].name) != 0 || g->place.line != cases[i].line || g->place.col != cases[i].col) {
            fprintf(stderr, "case %zu: ", i);
            golden_show(&b.d, gr_str_of(cases[i].text));
        }
        assert_string_equal(gr_diag_text(g->name), cases[i].name);
        assert_int_equal(g->place.line, cases[i].line);
        assert_int_equal(g->place.col, cases[i].col);
        close_box(&b);
    }
}

/* Cut or changed anywhere, a text is answered without a crash. */
static void damaged_texts_are_survived(void **state) {
    (void)state;
    gr_arena keep = {0};
    gr_catalog *c = test_catalog();
    gr_str text = golden_read(&keep, "tests/flow/every.flow");
    char *copy = gr_arena_strndup(&keep, text.p, text.n);
    static const char poison[] = "{}[]\"%,=@-0\n#\xff";
    for (size_t i = 0; i < text.n; i++) {
        gr_arena a = {0};
        gr_diags d;
        gr_flow f;
        gr_diags_init(&d);
        gr_flow_parse(&a, &d, GR_STR("cut"), (gr_str){text.p, i}, c, &f);
        copy[i] = poison[i % (sizeof poison - 1)];
        if (gr_flow_parse(&a, &d, GR_STR("changed"), (gr_str){copy, text.n}, c, &f)) assert_true(gr_flow_verify(&d, &f));
        copy[i] = text.p[i];
        assert_true(d.worst != GR_DIAG_BUG);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    gr_catalog_free(c);
    gr_arena_free(&keep);
}

/* A planted breach of every invariant is found. */
static void verifier_finds_planted_faults(void **state) {
    (void)state;
    for (int fault = 0; fault < 9; fault++) {
        box b;
        open_box(&b, test_catalog());
        gr_str text = golden_read(&b.a, "tests/flow/every.json");
        assert_true(gr_canvas_parse(&b.a, &b.d, GR_STR("every.json"), text, &b.canvas) && gr_canvas_lower(&b.a, &b.d, &b.canvas, b.catalog, &b.flow));
        gr_flow_seq *q = &b.flow.main;
        gr_flow_step *op = NULL, *nest = NULL, *repeat = NULL;
        for (uint32_t i = 0; i < q->steps_n; i++) {
            if (q->steps[i].kind == GR_BLOCK_OP && q->steps[i].args_n == 2) op = &q->steps[i];
            if (q->steps[i].kind == GR_BLOCK_CALL) nest = &q->steps[i];
            if (q->steps[i].kind == GR_BLOCK_REPEAT) repeat = &q->steps[i];
        }
        assert_true(op && nest && repeat);
        switch (fault) {
        case 0: op->args[0] = b.flow.values_n - 1; break;       /* F1: later, or of another scope */
        case 1: op->results[0] = q->steps[0].results[0]; break; /* F2 */
        case 2: op->results_n = 0; break;                       /* F3 */
        case 3: op->arg_first[1] = 2; break;                    /* F4 */
        case 4: nest->ports[0] = GR_STR("nothing"); break;      /* F5 */
        case 5: nest->outs[0] = GR_STR("nothing"); break;       /* F6 */
        case 6: repeat->count = -1; break;                      /* F7 */
        case 7: repeat->carry[0] = 99; repeat->count = 0; break; /* F7 */
        default: op->kind = GR_BLOCK_NONE; break;               /* F8 */
        }
        uint32_t before = b.d.errors;
        assert_false(gr_flow_verify(&b.d, &b.flow));
        assert_true(b.d.errors > before);
        assert_int_equal(b.d.worst, GR_DIAG_BUG);
        close_box(&b);
    }
}

static void failing_memory_is_reported(void **state) {
    (void)state;
    gr_arena keep = {0};
    gr_catalog *c = test_catalog();
    gr_str text = golden_read(&keep, "tests/flow/every.json");
    bool done = false;
    for (uint64_t n = 1; !done && n < 20000; n++) {
        gr_arena a = {0};
        gr_diags d;
        gr_canvas canvas;
        gr_flow f, again;
        gr_buf out = {0};
        gr_diags_init(&d);
        gr_heap_fail_nth(n);
        uint64_t before = gr_heap_count();
        bool ok = gr_canvas_parse(&a, &d, GR_STR("every.json"), text, &canvas) && gr_canvas_lower(&a, &d, &canvas, c, &f) && gr_flow_verify(&d, &f);
        if (ok) gr_flow_print(&out, &f);
        ok = ok && !out.failed && gr_flow_parse(&a, &d, GR_STR("every.flow"), gr_buf_view(&out), c, &again);
        done = gr_heap_count() - before < n;
        gr_heap_fail_nth(0);
        if (done) assert_true(ok);
        else if (!ok) assert_true(d.out_of_memory || out.failed || d.errors);
        assert_true(d.worst != GR_DIAG_BUG);
        gr_buf_free(&out);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    assert_true(done);
    gr_catalog_free(c);
    gr_arena_free(&keep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_lowered),
        cmocka_unit_test(examples_are_lowered),
        cmocka_unit_test(order_is_stable),
        cmocka_unit_test(wrong_ports_are_named),
        cmocka_unit_test(unused_results_warn),
        cmocka_unit_test(called_documents_join_their_demands),
        cmocka_unit_test(bad_texts_are_named_and_placed),
        cmocka_unit_test(damaged_texts_are_survived),
        cmocka_unit_test(verifier_finds_planted_faults),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
