/* JSON: acceptance compared with jansson, values, places, canonical form (RFC 8785), faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/value.h"

static bool parses(const char *text, size_t n) {
    gr_arena a = {0};
    gr_diags d;
    gr_doc doc;
    gr_diags_init(&d);
    bool ok = gr_json_parse(&a, &d, GR_STR("t.json"), (gr_str){text, n}, &doc);
    assert_true(ok == gr_diags_ok(&d));
    gr_diags_free(&d);
    gr_arena_free(&a);
    return ok;
}

static bool jansson_parses(const char *text, size_t n) {
    json_error_t e;
    json_t *j = json_loadb(text, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
    if (j) json_decref(j);
    return j != NULL;
}

static const char *const same_as_jansson[] = {
    "", " ", "null", "true", "false", "nul", "True", "truex", "1", "-1", "+1", "01", "-01", "1.", ".5", "1.5", "1e5", "1E+5", "1e", "1e+", "-", "--1",
    "1 2", "1,", "[", "]", "[]", "[ ]", "[1]", "[1,]", "[,1]", "[1 2]", "[1,2,3]", "{", "}", "{}", "{ }", "{\"a\":1}", "{\"a\":1,}", "{,}", "{a:1}",
    "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{\"a\":1,\"b\":2}", "{\"a\":1,\"a\":2}", "{\"\":1}", "{1:2}", "\"\"", "\"a\"", "\"a", "'a'",
    "\"\\n\"", "\"\\x\"", "\"\\u0041\"", "\"\\u004\"", "\"\\u00zz\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83dx\"", "\"\\ud83d\\u0041\"",
    "\"\t\"", "\"\n\"", "\"\\\"", "\"\\\\\"", "\"\xC3\xA9\"", "\"\xC3\"", "\"\xC0\xAF\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xFF\"", "\xEF\xBB\xBF{}",
    "1e400", "-1e400", "1e-400", "9223372036854775807", "[[[[1]]]]", "[1}", "{\"a\":[}", "//x\n1", "/*x*/1", "NaN", "Infinity", "-Infinity", "0x10", "1_0",
    "{\"a\":{\"b\":[{\"c\":null}]}}", "\f1", "\v1", ("\xC2\xA0" "1"), "[1\n,\r\n2\t]", "\"\x7F\"", "0", "-0", "-0.0", "0e0", "1.0E-3", "{\"a\":1}}", "[\"a\",]",
    "{\"k\":1,\"l\":2,\"m\":3,\"n\":4,\"o\":5,\"p\":6,\"q\":7,\"r\":8,\"s\":9,\"k\":0}",
};

static void accepts_what_jansson_accepts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof same_as_jansson / sizeof *same_as_jansson; i++) {
        const char *t = same_as_jansson[i];
        if (parses(t, strlen(t)) != jansson_parses(t, strlen(t))) fail_msg("differs from jansson: %s", t);
    }
}

/* Texts grown from a small grammar, then damaged in one byte. */
static void grow(gr_rng *r, gr_buf *b, int depth) {
    static const char *const leaf[] = {"null", "true", "-12", "0.5", "1e3", "\"x\"", "\"\\u00e9\\n\"", "\"\xC3\xA9\"", "9007199254740993", "\"\""};
    uint32_t pick = gr_rng_below(r, depth > 4 ? 1 : 3), n = gr_rng_below(r, 5);
    if (pick == 0) { gr_buf_puts(b, leaf[gr_rng_below(r, 10)]); return; }
    gr_buf_putc(b, pick == 1 ? '[' : '{');
    for (uint32_t i = 0; i < n; i++) {
        if (i) gr_buf_puts(b, " ,\n");
        if (pick == 2) gr_buf_printf(b, "\"k%u\" : ", gr_rng_below(r, 20));
        grow(r, b, depth + 1);
    }
    gr_buf_putc(b, pick == 1 ? ']' : '}');
}

static void generated_texts_agree_with_jansson(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(7);
    static const char damage[] = "{}[],:\"\\0-e.x\x01\xC3 ";
    for (int i = 0; i < 20000; i++) {
        gr_buf b = {0};
        grow(&r, &b, 0);
        if (i % 2 && b.n) b.p[gr_rng_below(&r, (uint32_t)b.n)] = damage[gr_rng_below(&r, sizeof damage - 1)];
        if (parses(b.p, b.n) != jansson_parses(b.p, b.n)) fail_msg("differs from jansson: %s", b.p);
        gr_buf_free(&b);
    }
}

static gr_value *must(gr_arena *a, gr_doc *doc, const char *text) {
    gr_diags d;
    gr_diags_init(&d);
    assert_true(gr_json_parse(a, &d, GR_STR("t.json"), gr_str_of(text), doc));
    gr_diags_free(&d);
    return doc->root;
}

static void numbers_keep_their_digits(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_doc doc;
    gr_value *v = must(&a, &doc, "[9007199254740993, -9223372036854775808, 9223372036854775808, 18446744073709551615, 18446744073709551616, -0, 1.5, 5e-324]");
    assert_int_equal(v->array.v[0]->i, 9007199254740993);
    assert_true(v->array.v[1]->kind == GR_V_INT && v->array.v[1]->i == INT64_MIN);
    assert_true(v->array.v[2]->kind == GR_V_UINT && v->array.v[3]->u == UINT64_MAX);
    assert_true(v->array.v[4]->kind == GR_V_FLOAT && v->array.v[4]->f == 0x1p64);
    assert_true(v->array.v[5]->kind == GR_V_FLOAT && signbit(v->array.v[5]->f));
    assert_true(v->array.v[6]->f == 1.5 && v->array.v[7]->f == 5e-324);
    gr_arena_free(&a);
}

typedef struct bad { const char *text; gr_diag_name name; uint32_t line, col; } bad;
static const bad bads[] = {
    {"{\n  \"a\": 1,\n  \"a\": 2\n}", GR_D_BASE_JSON_DUPLICATE_KEY, 3, 3},
    {"[1,\n 2,\n]", GR_D_BASE_JSON_SYNTAX, 3, 1},
    {"{\"\xC3\xA9\": tru}", GR_D_BASE_JSON_SYNTAX, 1, 7},
    {"\"\xC3\xA9\\q\"", GR_D_BASE_JSON_SYNTAX, 1, 3},
    {"[\"\\ud800\"]", GR_D_BASE_BAD_UTF8, 1, 3},
    {"[1,\n\"\xFF\"]", GR_D_BASE_BAD_UTF8, 2, 2},
    {"[1] x", GR_D_BASE_JSON_SYNTAX, 1, 5},
    {"{\"a\": 1e999}", GR_D_BASE_JSON_SYNTAX, 1, 7},
    {"\"abc", GR_D_BASE_JSON_SYNTAX, 1, 1},
    {"{\"a\" 1}", GR_D_BASE_JSON_SYNTAX, 1, 6},
    {"", GR_D_BASE_JSON_SYNTAX, 1, 1},
};

static void errors_have_names_and_places(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        gr_arena a = {0};
        gr_diags d;
        gr_doc doc;
        gr_diags_init(&d);
        assert_false(gr_json_parse(&a, &d, GR_STR("t.json"), gr_str_of(bads[i].text), &doc));
        const gr_diag *g = &d.list.v[0];
        if (g->name != bads[i].name || g->place.line != bads[i].line || g->place.col != bads[i].col)
            fail_msg("%s: got %s at %u:%u", bads[i].text, gr_diag_text(g->name), g->place.line, g->place.col);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
}

static void depth_is_limited(void **state) {
    (void)state;
    char t[400];
    memset(t, '[', 200);
    memset(t + 200, ']', 200);
    assert_true(parses(t + 200 - 128, 256));
    assert_false(parses(t + 200 - 129, 258));
    size_t n = 1 << 20;
    char *deep = malloc(n);
    memset(deep, '[', n);
    assert_false(parses(deep, n));
    free(deep);
}

static void typed_access_reports(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_doc doc;
    gr_diags d;
    gr_diags_init(&d);
    gr_value *v = must(&a, &doc, "{\"n\": 3.0,\n \"s\": [1, {\"x/y\": \"t\"}],\n \"toll\": 1}");
    int64_t i = 0;
    gr_str s = GR_STR("kept");
    assert_true(gr_value_i64(&a, &d, &doc, v, "n", true, &i) && i == 3);
    assert_true(gr_value_str(&a, &d, &doc, v, "absent", false, &s) && gr_str_eqz(s, "kept"));
    assert_false(gr_value_str(&a, &d, &doc, v, "s", true, &s));
    assert_false(gr_value_str(&a, &d, &doc, v->object.v[1].value->array.v[1], "x/y", true, &s) == false);
    assert_false(gr_value_i64(&a, &d, &doc, v->object.v[1].value->array.v[1], "x/y", true, &i));
    assert_false(gr_value_i64(&a, &d, &doc, v, "m", true, &i));
    static const char *const known[] = {"n", "s", "tol", NULL};
    assert_false(gr_value_known(&a, &d, &doc, v, known));
    assert_int_equal(d.list.n, 4);
    assert_true(d.list.v[0].name == GR_D_BASE_VALUE_TYPE && d.list.v[0].place.line == 2 && gr_str_eqz(d.list.v[0].place.pointer, "/s"));
    assert_true(gr_str_eqz(d.list.v[1].place.pointer, "/s/1/x~1y"));
    assert_true(d.list.v[2].name == GR_D_BASE_KEY_MISSING);
    assert_true(d.list.v[3].name == GR_D_BASE_KEY_UNKNOWN && d.list.v[3].place.line == 3 && d.list.v[3].place.col == 2);
    assert_non_null(strstr(d.list.v[3].hint.p, "\"tol\""));
    gr_diags_free(&d);
    gr_arena_free(&a);
}

/* RFC 8785, appendix B: bits of a double and its text. */
static const struct { uint64_t bits; const char *text; } ecma[] = {
    {0x0000000000000000, "0"}, {0x8000000000000000, "0"}, {0x0000000000000001, "5e-324"}, {0x8000000000000001, "-5e-324"},
    {0x7fefffffffffffff, "1.7976931348623157e+308"}, {0xffefffffffffffff, "-1.7976931348623157e+308"}, {0x4340000000000000, "9007199254740992"},
    {0xc340000000000000, "-9007199254740992"}, {0x4430000000000000, "295147905179352830000"}, {0x44b52d02c7e14af5, "9.999999999999997e+22"},
    {0x44b52d02c7e14af6, "1e+23"}, {0x44b52d02c7e14af7, "1.0000000000000001e+23"}, {0x444b1ae4d6e2ef4e, "999999999999999700000"},
    {0x444b1ae4d6e2ef4f, "999999999999999900000"}, {0x444b1ae4d6e2ef50, "1e+21"}, {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
    {0x3eb0c6f7a0b5ed8d, "0.000001"}, {0x41b3de4355555553, "333333333.3333332"}, {0x41b3de4355555554, "333333333.33333325"},
    {0x41b3de4355555555, "333333333.3333333"}, {0x41b3de4355555556, "333333333.3333334"}, {0x41b3de4355555557, "333333333.33333343"},
    {0xbecbf647612f3696, "-0.0000033333333333333333"}, {0x43143ff3c1cb0959, "1424953923781206.2"}, {0x3d30000000000000, "5.684341886080802e-14"},
};

static void canonical_numbers_are_ecmascript(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ecma / sizeof *ecma; i++) {
        gr_value v = {.kind = GR_V_FLOAT};
        memcpy(&v.f, &ecma[i].bits, 8);
        gr_buf b = {0};
        assert_true(gr_json_canonical(&b, &v));
        assert_string_equal(b.p, ecma[i].text);
        gr_buf_free(&b);
    }
    gr_value nan = {.kind = GR_V_FLOAT, .f = (double)NAN};
    gr_buf b = {0};
    assert_false(gr_json_canonical(&b, &nan));
    gr_buf_free(&b);
}

static void canonical_sorts_by_utf16(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_doc doc;
    must(&a, &doc, "{\"\\u20ac\":\"Euro\",\"\\r\":1,\"\\ufb33\":2,\"1\":3,\"\\ud83d\\ude00\":4,\"\\u0080\":5,\"\\u00f6\":[1.0, \"\\u000f\\/\\\"\\u007f\"]}");
    gr_buf b = {0};
    assert_true(gr_json_canonical(&b, doc.root));
    assert_string_equal(b.p, "{\"\\r\":1,\"1\":3,\"\xC2\x80\":5,\"\xC3\xB6\":[1,\"\\u000f/\\\"\x7F\"],\"\xE2\x82\xAC\":\"Euro\",\"\xF0\x9F\x98\x80\":4,\"\xEF\xAC\xB3\":2}");
    gr_buf_free(&b);
    gr_arena_free(&a);
}

static void written_trees_read_back(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(11);
    for (int i = 0; i < 2000; i++) {
        gr_buf b = {0}, c = {0}, p = {0}, again = {0};
        gr_arena a = {0};
        gr_diags d;
        gr_doc x, y, z;
        gr_diags_init(&d);
        grow(&r, &b, 0);
        if (gr_json_parse(&a, &d, GR_STR("x"), gr_buf_view(&b), &x)) {
            assert_true(gr_json_canonical(&c, x.root) && gr_json_pretty(&p, x.root));
            assert_true(gr_json_parse(&a, &d, GR_STR("y"), gr_buf_view(&c), &y));
            assert_true(gr_json_parse(&a, &d, GR_STR("z"), gr_buf_view(&p), &z));
            assert_true(gr_value_equal(x.root, y.root) && gr_value_equal(x.root, z.root));
            assert_true(gr_json_canonical(&again, z.root));
            assert_string_equal(c.p, again.p);
        }
        gr_diags_free(&d);
        gr_arena_free(&a);
        gr_buf_free(&b);
        gr_buf_free(&c);
        gr_buf_free(&p);
        gr_buf_free(&again);
    }
}

static void trees_are_built(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_doc doc;
    gr_value *o = gr_value_new(&a, GR_V_OBJECT), *l = gr_value_new(&a, GR_V_ARRAY);
    for (int i = 0; i < 100; i++) assert_true(gr_value_push(&a, l, gr_value_new_i64(&a, i)));
    assert_true(gr_value_set(&a, o, "l", l) && gr_value_set(&a, o, "t", gr_value_new_bool(&a, true)));
    assert_true(gr_value_set(&a, o, "s", gr_value_new_str(&a, GR_STR("old"))) && gr_value_set(&a, o, "s", gr_value_new_str(&a, GR_STR("x\n"))));
    assert_true(gr_value_set(&a, o, "f", gr_value_new_f64(&a, 0.5)) && !gr_value_set(&a, o, "n", NULL));
    assert_int_equal(o->object.n, 4);
    assert_int_equal(l->array.v[99]->i, 99);
    gr_value *v = must(&a, &doc, "{\"f\":5e-1,\"s\":\"x\\n\",\"t\":true,\"l\":[0,1,2,3,4]}"); /* a parsed node grows too */
    for (int i = 5; i < 100; i++) assert_true(gr_value_push(&a, gr_value_get(v, "l"), gr_value_new_i64(&a, i)));
    assert_true(gr_value_equal(o, v));
    assert_true(gr_value_set(&a, v, "more", gr_value_new_i64(&a, 1)) && !gr_value_equal(o, v));
    gr_buf p = {0};
    gr_value_get(v, "l")->array.n = 3;
    assert_true(gr_json_pretty(&p, v));
    assert_string_equal(p.p, "{\n  \"f\": 0.5,\n  \"s\": \"x\\n\",\n  \"t\": true,\n  \"l\": [0, 1, 2],\n  \"more\": 1\n}\n");
    gr_buf_free(&p);
    gr_arena_free(&a);
}

static void memory_failure_is_reported(void **state) {
    (void)state;
    gr_str text = GR_STR("{\"a\": [1, \"b\\n\", {\"c\": 1.5}], \"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1}");
    for (uint64_t n = 1; n < 100; n++) {
        gr_arena a = {0};
        gr_diags d;
        gr_doc doc;
        gr_buf b = {0};
        gr_diags_init(&d);
        uint64_t before = gr_heap_count();
        gr_heap_fail_nth(n);
        bool ok = gr_json_parse(&a, &d, GR_STR("t"), text, &doc);
        bool wrote = ok && gr_json_canonical(&b, doc.root);
        bool reached = gr_heap_count() - before >= n;
        gr_heap_fail_nth(0);
        assert_true(ok || d.out_of_memory);
        assert_true(!reached || !ok || !wrote);
        gr_buf_free(&b);
        gr_diags_free(&d);
        gr_arena_free(&a);
        if (!reached) return;
    }
    fail_msg("the sweep did not end");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_jansson_accepts),    cmocka_unit_test(generated_texts_agree_with_jansson),
        cmocka_unit_test(numbers_keep_their_digits),       cmocka_unit_test(errors_have_names_and_places),
        cmocka_unit_test(depth_is_limited),                cmocka_unit_test(typed_access_reports),
        cmocka_unit_test(canonical_numbers_are_ecmascript), cmocka_unit_test(canonical_sorts_by_utf16),
        cmocka_unit_test(written_trees_read_back),         cmocka_unit_test(trees_are_built),
        cmocka_unit_test(memory_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
