/* TOML 1.0: a table of valid texts with their JSON, a table of invalid ones with name and place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/value.h"

static const struct { const char *toml, *json; } valid[] = {
    {"", "{}"}, {"\n\n# only a comment", "{}"}, {"\xEF\xBB\xBF" "a = 1", "{\"a\":1}"}, {"a=1\r\nb=2\r\n", "{\"a\":1,\"b\":2}"},
    {"key = \"value\" # c", "{\"key\":\"value\"}"}, {"bare_key-1 = 1\n1234 = 2", "{\"1234\":2,\"bare_key-1\":1}"},
    {"\"a b\" = 1\n'q\"' = 2\n\"\" = 3", "{\"\":3,\"a b\":1,\"q\\\"\":2}"}, {"\"\\u00e9\" = 1", "{\"\xC3\xA9\":1}"},
    {"a.b.c = 1\na . d = 2\na.\"b\".e = 3", "{\"a\":{\"b\":{\"c\":1,\"e\":3},\"d\":2}}"}, {"3.14159 = 'pi'", "{\"3\":{\"14159\":\"pi\"}}"},
    {"i = [0, +0, -0, +17, -17, 1_000, 5_3_4]", "{\"i\":[0,0,0,17,-17,1000,534]}"},
    {"i = [0xDEADBEEF, 0xdead_beef, 0o755, 0b1101_0110]", "{\"i\":[3735928559,3735928559,493,214]}"},
    {"i = [9223372036854775807, -9223372036854775808, 0x7fffffffffffffff]", "{\"i\":[9223372036854775807,-9223372036854775808,9223372036854775807]}"},
    {"f = [1.0, +3.1415, -0.01, 5e+22, 1e06, -2E-2, 6.626e-34, 224_617.445_991_228, 1e1_0]", "{\"f\":[1,3.1415,-0.01,5e+22,1000000,-0.02,6.626e-34,224617.445991228,10000000000]}"},
    {"b = [true, false]", "{\"b\":[true,false]}"},
    {"s = \"\\b\\t\\n\\f\\r\\\"\\\\\\u03B4\\U0001F600\"", "{\"s\":\"\\b\\t\\n\\f\\r\\\"\\\\\xCE\xB4\xF0\x9F\x98\x80\"}"},
    {"s = '\\n <\\i\\c*\\s*>'", "{\"s\":\"\\\\n <\\\\i\\\\c*\\\\s*>\"}"},
    {"s = \"\"\"\nRoses\r\nViolets\"\"\"", "{\"s\":\"Roses\\nViolets\"}"}, {"s = \"\"\"a \\\n\n   b \\   \n c\"\"\"", "{\"s\":\"a b c\"}"},
    {"s = \"\"\"two \"\" three \"\"\\\" end\"\"\"\"\"", "{\"s\":\"two \\\"\\\" three \\\"\\\"\\\" end\\\"\\\"\"}"}, {"s = \"\"\"\"\"\"", "{\"s\":\"\"}"},
    {"s = \"\"\"\"one\"\"\"\"", "{\"s\":\"\\\"one\\\"\"}"}, {"s = '''\nI'm ''here'' \\'''", "{\"s\":\"I'm ''here'' \\\\\"}"}, {"s = '''''two'''''", "{\"s\":\"''two''\"}"},
    {"s = ''''x''''", "{\"s\":\"'x'\"}"}, {"s = \"\"\"\\\n  \"\"\"", "{\"s\":\"\"}"},
    {"d = 1979-05-27T07:32:00Z", "{\"d\":\"1979-05-27T07:32:00Z\"}"}, {"d = 1979-05-27 07:32:00.999-07:00", "{\"d\":\"1979-05-27 07:32:00.999-07:00\"}"},
    {"d = [1979-05-27t07:32:00, 1979-05-27, 07:32:00.5, 2000-02-29, 1990-12-31T23:59:60Z]", "{\"d\":[\"1979-05-27t07:32:00\",\"1979-05-27\",\"07:32:00.5\",\"2000-02-29\",\"1990-12-31T23:59:60Z\"]}"},
    {"d = 1979-05-27 # a date", "{\"d\":\"1979-05-27\"}"}, {"d = 1979-05-27 ", "{\"d\":\"1979-05-27\"}"},
    {"a = [ ]\nb = [1, 'x', [2.5], {c = 1}, ]", "{\"a\":[],\"b\":[1,\"x\",[2.5],{\"c\":1}]}"}, {"a = [ # one\n 1 , # two\n\n 2\n # end\n]", "{\"a\":[1,2]}"},
    {"t = { }\np = { x = 1, y.z = 2, \"q\" = [\n1] }", "{\"p\":{\"q\":[1],\"x\":1,\"y\":{\"z\":2}},\"t\":{}}"},
    {"[a]\nx = 1\n[b]\nx = 2", "{\"a\":{\"x\":1},\"b\":{\"x\":2}}"}, {"[ a . 'b c' ] # x\ny = 1", "{\"a\":{\"b c\":{\"y\":1}}}"},
    {"[x.y.z.w]\na = 1\n[x]\nb = 2", "{\"x\":{\"b\":2,\"y\":{\"z\":{\"w\":{\"a\":1}}}}}"}, {"[a.b]\n[a]\n[a.c]", "{\"a\":{\"b\":{},\"c\":{}}}"},
    {"[fruit]\napple.color = 1\napple.taste.sweet = true\n[fruit.apple.texture]\nsmooth = true", "{\"fruit\":{\"apple\":{\"color\":1,\"taste\":{\"sweet\":true},\"texture\":{\"smooth\":true}}}}"},
    {"[[p]]\nn = 1\n[[p]]\n[[p]]\nn = 3", "{\"p\":[{\"n\":1},{},{\"n\":3}]}"},
    {"[[f]]\nname = 'a'\n[f.p]\nc = 1\n[[f.v]]\nn = 1\n[[f.v]]\nn = 2\n[[f]]\nname = 'b'\n[[f.v]]\nn = 3",
     "{\"f\":[{\"name\":\"a\",\"p\":{\"c\":1},\"v\":[{\"n\":1},{\"n\":2}]},{\"name\":\"b\",\"v\":[{\"n\":3}]}]}"},
    {"[a.b.c]\nz = 1\n[a]\nb.x = 2", "{\"a\":{\"b\":{\"c\":{\"z\":1},\"x\":2}}}"}, {"[tbl]\na.b = 1\n[tbl.a.few]\nc = 1", "{\"tbl\":{\"a\":{\"b\":1,\"few\":{\"c\":1}}}}"},
    {"[[a.b]]\nx.y = 1\nx.z = 2\n[[a.b]]\nx.y = 1", "{\"a\":{\"b\":[{\"x\":{\"y\":1,\"z\":2}},{\"x\":{\"y\":1}}]}}"},
    {"k00=0\nk01=1\nk02=2\nk03=3\nk04=4\nk05=5\nk06=6\nk07=7\nk08=8\nk09=9\nk10=10\nk11=11\nk12.a=1\nk12.b=2\nk13=13",
     "{\"k00\":0,\"k01\":1,\"k02\":2,\"k03\":3,\"k04\":4,\"k05\":5,\"k06\":6,\"k07\":7,\"k08\":8,\"k09\":9,\"k10\":10,\"k11\":11,\"k12\":{\"a\":1,\"b\":2},\"k13\":13}"},
};

static void valid_texts_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
        gr_arena a = {0};
        gr_diags d;
        gr_doc doc;
        gr_buf b = {0};
        gr_diags_init(&d);
        bool ok = gr_toml_parse(&a, &d, GR_STR("t.toml"), gr_str_of(valid[i].toml), &doc);
        if (!ok) fail_msg("refused: %s: %s", valid[i].toml, d.list.v[0].message.p);
        assert_true(gr_json_canonical(&b, doc.root));
        assert_string_equal(b.p, valid[i].json);
        gr_buf_free(&b);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
}

enum { S = GR_D_BASE_TOML_SYNTAX, D = GR_D_BASE_TOML_DUPLICATE_KEY };
static const struct { const char *text; int name; uint32_t line, col; } invalid[] = {
    {"a", S, 1, 2}, {"a =", S, 1, 4}, {"= 1", S, 1, 1}, {"a = 1 b = 2", S, 1, 7}, {"a = 1\n\nb", S, 3, 2}, {"a b = 1", S, 1, 3}, {"a. = 1", S, 1, 4}, {".a = 1", S, 1, 1},
    {"a..b = 1", S, 1, 3}, {"\"\"\"a\"\"\" = 1", S, 1, 1}, {"a = abc", S, 1, 5}, {"a = True", S, 1, 5}, {"\xC3\xA9 = 1", S, 1, 1}, {"a = 'x\ny'", S, 1, 5}, {"a = \"x", S, 1, 5},
    {"a = \"\\x41\"", S, 1, 6}, {"a = \"\\ud800\"", GR_D_BASE_BAD_UTF8, 1, 6}, {"a = \"\\U00110000\"", S, 1, 6}, {"a = \"\\u12\"", S, 1, 6}, {"a = \"\x01\"", S, 1, 6}, {"a = '\x7F'", S, 1, 6},
    {"a = 1 # \x01", S, 1, 9}, {"a = 1\rb = 2", S, 1, 6}, {"a = \"\"\"x", S, 1, 5}, {"a = \"\"\"x \\ y\"\"\"", S, 1, 10}, {"a = '''x''", S, 1, 5}, {"a = \"\"\"x\"\"\"\"\"\"", S, 1, 14},
    {"a = 01", S, 1, 5}, {"a = +01", S, 1, 5}, {"a = 1_", S, 1, 6}, {"a = _1", S, 1, 5}, {"a = 1__0", S, 1, 6}, {"a = 0x", S, 1, 5}, {"a = 0x_1", S, 1, 5}, {"a = +0x1", S, 1, 5},
    {"a = 0o8", S, 1, 5}, {"a = 0b2", S, 1, 5}, {"a = 0X1", S, 1, 5}, {"a = 9223372036854775808", S, 1, 5}, {"a = -9223372036854775809", S, 1, 5}, {"a = 0xffffffffffffffff", S, 1, 5},
    {"a = 1.", S, 1, 5}, {"a = .1", S, 1, 5}, {"a = 1.e5", S, 1, 5}, {"a = 1e", S, 1, 5}, {"a = 1e_5", S, 1, 7}, {"a = 1_.5", S, 1, 6}, {"a = 1._5", S, 1, 7}, {"a = 00.5", S, 1, 5}, {"a = 1e999", S, 1, 5},
    {"a = Inf", S, 1, 5}, {"a = NaN", S, 1, 5}, {"a = ++1", S, 1, 5}, {"a = 1.2.3", S, 1, 5},
    {"a = 1979-13-01", S, 1, 5}, {"a = 1979-02-30", S, 1, 5}, {"a = 1900-02-29", S, 1, 5}, {"a = 1979-00-10", S, 1, 5}, {"a = 1979-05-27T24:00:00", S, 1, 5}, {"a = 1979-05-27T07:60:00", S, 1, 5},
    {"a = 1979-05-27T07:32", S, 1, 5}, {"a = 07:32", S, 1, 5}, {"a = 07:32:61", S, 1, 5}, {"a = 1979-05-27T07:32:00.", S, 1, 5}, {"a = 1979-05-27T07:32:00+24:00", S, 1, 5}, {"a = 1979-5-27", S, 1, 5},
    {"a = 79-05-27", S, 1, 5}, {"a = 1979-05-27T", S, 1, 5}, {"a = 07:32:00Z", S, 1, 5}, {"a = 1979-05-27x", S, 1, 5},
    {"a = [1 2]", S, 1, 8}, {"a = [1,,2]", S, 1, 8}, {"a = [,1]", S, 1, 6}, {"a = [1", S, 1, 7}, {"a = [\n1\n", S, 3, 1}, {"a = ]", S, 1, 5},
    {"a = {x = 1,}", S, 1, 12}, {"a = {x = 1 y = 2}", S, 1, 12}, {"a = {x = 1\n}", S, 1, 11}, {"a = {\n}", S, 1, 6}, {"a = {x}", S, 1, 7}, {"a = {, x = 1}", S, 1, 6}, {"a = {x = 1", S, 1, 11},
    {"[a", S, 1, 3}, {"[]", S, 1, 2}, {"[a]]", S, 1, 4}, {"[[a]", S, 1, 5}, {"[a] x = 1", S, 1, 5}, {"[a.]", S, 1, 4}, {"[a\n]", S, 1, 3}, {"[ [a] ]", S, 1, 3}, {"[[a] ]", S, 1, 5}, {"[a b]", S, 1, 4},
    {"a = 1\na = 2", D, 2, 1}, {"a = 1\n\"a\" = 2", D, 2, 1}, {"a = 1\na.b = 2", D, 2, 1}, {"a.b = 1\na = 2", D, 2, 1}, {"a.b = 1\na.b.c = 2", D, 2, 3}, {"[a]\n[a]", D, 2, 2}, {"[a]\nb = 1\n[a.b]", D, 3, 4},
    {"a = 1\n[a]", D, 2, 2}, {"a = 1\n[a.b]", D, 2, 2}, {"a = {}\n[a]", D, 2, 2}, {"a = {b = 1}\na.c = 2", D, 2, 1}, {"a = {}\n[a.b]", D, 2, 2}, {"a = {b = {}}\na.b.c = 1", D, 2, 1},
    {"a = {b = 1, b = 2}", D, 1, 13}, {"a = {b.c = 1, b = 2}", D, 1, 15}, {"a = {b = {}, b.c = 2}", D, 1, 14}, {"a = []\n[[a]]", D, 2, 3}, {"a = [{}]\n[a.b]", D, 2, 2}, {"[[a]]\n[a]", D, 2, 2}, {"[a]\n[[a]]", D, 2, 3},
    {"[a.b]\n[[a]]", D, 2, 3}, {"[fruit]\napple.color = 1\n[fruit.apple]", D, 3, 8}, {"[fruit]\napple.taste.sweet = 1\n[fruit.apple.taste]", D, 3, 14}, {"[a.b.c]\nz = 9\n[a]\nb.c.t = 1", D, 4, 3},
    {"[a.b.c.d]\nz = 9\n[a]\nb.c.d.k.t = 1", D, 4, 5}, {"[[a.b]]\n[a]\nb.y = 2", D, 3, 1}, {"a.b = 1\n[a]\nc = 2", D, 2, 2}, {"[a]\nb.c = 1\n[a.b]\nd = 1", D, 3, 4}, {"[[a]]\nb = 1\n[[a.b]]", D, 3, 5},
    {"a = 1\nb = \"\xFF\"", GR_D_BASE_BAD_UTF8, 2, 6}, {"a = \"\xED\xA0\x80\"", GR_D_BASE_BAD_UTF8, 1, 6},
};

static void invalid_texts_are_refused(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        gr_arena a = {0};
        gr_diags d;
        gr_doc doc;
        gr_diags_init(&d);
        bool ok = gr_toml_parse(&a, &d, GR_STR("t.toml"), gr_str_of(invalid[i].text), &doc);
        if (ok) {
            print_error("accepted: %s\n", invalid[i].text);
            wrong++;
        } else {
            const gr_diag *g = &d.list.v[0];
            bool same = (int)g->name == invalid[i].name && g->place.line == invalid[i].line && g->place.col == invalid[i].col;
            if (!same) print_error("%s: got %s at %u:%u: %s\n", invalid[i].text, gr_diag_text(g->name), g->place.line, g->place.col, g->message.p);
            wrong += !same;
        }
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

static void special_floats_and_kinds(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags d;
    gr_doc doc;
    gr_diags_init(&d);
    assert_true(gr_toml_parse(&a, &d, GR_STR("t"), GR_STR("f = [inf, +inf, -inf, nan, -nan, -0.0]\nd = 1979-05-27\n[t]\nk = [1]"), &doc));
    gr_value *f = gr_value_get(doc.root, "f");
    assert_true(isinf(f->array.v[0]->f) && f->array.v[2]->f < 0 && isnan(f->array.v[3]->f) && isnan(f->array.v[4]->f) && signbit(f->array.v[5]->f));
    assert_int_equal(gr_value_get(doc.root, "d")->kind, GR_V_DATETIME);
    gr_value *k = gr_value_get(gr_value_get(doc.root, "t"), "k");
    gr_place at = gr_value_place(&doc, k->array.v[0], &a);
    assert_true(at.line == 4 && at.col == 6 && gr_str_eqz(at.pointer, "/t/k/0"));
    gr_diags_free(&d);
    gr_arena_free(&a);
}

static void every_error_of_a_text_is_reported(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags d;
    gr_doc doc;
    gr_diags_init(&d);
    assert_false(gr_toml_parse(&a, &d, GR_STR("t"), GR_STR("a = \nb = 1\nb = 2\n[x\ny = 01\n[b]\nb = 1\n"), &doc));
    assert_int_equal(d.list.n, 5);
    assert_true(d.list.v[1].place.line == 3 && d.list.v[3].place.line == 5 && d.list.v[4].place.line == 6);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

static bool reads(const char *p, size_t n, bool *oom) {
    gr_arena a;
    gr_diags d;
    gr_doc doc;
    gr_arena_init(&a, (size_t)64 << 20);
    gr_diags_init(&d);
    bool ok = gr_toml_parse(&a, &d, GR_STR("t"), (gr_str){p, n}, &doc);
    assert_true(ok == gr_diags_ok(&d));
    *oom = d.out_of_memory;
    gr_diags_free(&d);
    gr_arena_free(&a);
    return ok;
}

static void depth_is_limited(void **state) {
    (void)state;
    size_t n = 1 << 18;
    char *t = malloc(n);
    bool oom;
    memset(t, '[', n);
    t[0] = 'a', t[1] = '=';
    assert_false(reads(t, n, &oom));
    for (size_t i = 0; i < n; i += 2) t[i] = 'a', t[i + 1] = '.';
    assert_false(reads(t, n, &oom));
    t[0] = '[';
    assert_false(reads(t, n, &oom));
    free(t);
}

/* Damaged texts neither crash nor accept and report at once. */
static void damaged_texts_do_no_harm(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(5);
    static const char bytes[] = "[]{}=.,\"'#\\\n\r\t 019ae_-+:TZx\x01\xC3\xA9";
    for (int round = 0; round < 40000; round++) {
        const char *from = valid[gr_rng_below(&r, sizeof valid / sizeof *valid)].toml;
        size_t n = strlen(from);
        char *t = malloc(n + 1);
        memcpy(t, from, n);
        for (uint32_t k = gr_rng_below(&r, 4); n && k > 0; k--) t[gr_rng_below(&r, (uint32_t)n)] = bytes[gr_rng_below(&r, sizeof bytes - 1)];
        if (gr_rng_below(&r, 3) == 0) n = gr_rng_below(&r, (uint32_t)n + 1);
        bool oom;
        reads(t, n, &oom);
        free(t);
    }
}

static void memory_failure_is_reported(void **state) {
    (void)state;
    gr_buf b = {0};
    for (int i = 0; i < 4000; i++) gr_buf_printf(&b, "[t%d]\na.b = \"x\\n\"\nl = [1, {c = 2}]\n[[e]]\nk = 1_0.5\n", i);
    uint64_t n = 1;
    for (; n < 100; n++) {
        uint64_t before = gr_heap_count();
        bool oom;
        gr_heap_fail_nth(n);
        bool ok = reads(b.p, b.n, &oom), reached = gr_heap_count() - before >= n;
        gr_heap_fail_nth(0);
        if (!reached) break;
        assert_true(!ok && oom);
    }
    assert_in_range(n, 3, 99);
    gr_buf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts_read),          cmocka_unit_test(invalid_texts_are_refused),
        cmocka_unit_test(special_floats_and_kinds),  cmocka_unit_test(every_error_of_a_text_is_reported),
        cmocka_unit_test(depth_is_limited),          cmocka_unit_test(damaged_texts_do_no_harm),
        cmocka_unit_test(memory_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
