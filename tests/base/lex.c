/* The scanner of the rungs' texts, JSON in one line, the index of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/lex.h"
#include "base/rng.h"

#include <math.h>

static void tokens_have_kinds_and_places(void **state) {
    (void)state;
    static const struct { gr_token_kind kind; const char *text; uint32_t line, col; } want[] = {
        {GR_TOKEN_VALUE, "a/b~2", 1, 1}, {GR_TOKEN_MARK, "=", 1, 8}, {GR_TOKEN_WORD, "user/x@1", 1, 10}, {GR_TOKEN_STRING, "\"é\\\"\"", 1, 19},
        {GR_TOKEN_NUMBER, "-1.5e-3", 1, 25}, {GR_TOKEN_LINE, "\n", 1, 42}, {GR_TOKEN_NUMBER, "-inf", 2, 1}, {GR_TOKEN_WORD, "info", 2, 6},
        {GR_TOKEN_NUMBER, "nan", 2, 11}, {GR_TOKEN_MARK, "-", 2, 15}, {GR_TOKEN_WORD, "x", 2, 17}, {GR_TOKEN_MARK, "é", 2, 19}, {GR_TOKEN_WORD, "y", 2, 20}, {GR_TOKEN_END, "", 2, 21}};
    gr_arena a = {0};
    gr_diags d;
    gr_lex l;
    gr_diags_init(&d);
    gr_lex_init(&l, &a, &d, GR_D_GRAPH_SYNTAX, GR_STR("t"), GR_STR("%a/b~2 = user/x@1 \"é\\\"\" -1.5e-3 # comment\n-inf info nan - x éy"));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        gr_token t = gr_lex_take(&l);
        assert_int_equal(t.kind, want[i].kind);
        assert_true(gr_str_eqz(t.text, want[i].text));
        assert_int_equal(t.line, want[i].line);
        assert_int_equal(t.col, want[i].col);
    }
    assert_false(gr_lex_expected(&l, "more", NULL));
    assert_true(gr_diags_has(&d, GR_D_GRAPH_SYNTAX));
    gr_diags_free(&d);
    gr_arena_free(&a);
}

static void numbers_keep_their_kind(void **state) {
    (void)state;
    gr_value v;
    assert_true(gr_number_parse(GR_STR("18446744073709551615"), &v) && v.kind == GR_V_UINT && v.u == UINT64_MAX);
    assert_true(gr_number_parse(GR_STR("-9223372036854775808"), &v) && v.kind == GR_V_INT && v.i == INT64_MIN);
    assert_true(gr_number_parse(GR_STR("18446744073709551616"), &v) && v.kind == GR_V_FLOAT && v.f == 0x1p64);
    assert_true(gr_number_parse(GR_STR("-0"), &v) && v.kind == GR_V_FLOAT && signbit(v.f));
    assert_true(gr_number_parse(GR_STR("-inf"), &v) && v.f < 0 && isinf(v.f));
    static const char *const bad[] = {"", "-", "1.2.3", "1e", ".5", "0x10", "1_000", "--1", "infinity", "+1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(gr_number_parse(gr_str_of(bad[i]), &v));
}

static void json_in_one_line_reads_back(void **state) {
    (void)state;
    static const char text[] = "{ \"k\": [1, -0, 2.5, true, null, \"a\\\"b\\n\", inf, -inf, nan], \"o\": {}, \"l\": [] }";
    gr_arena a = {0};
    gr_diags d;
    gr_lex l;
    gr_buf b = {0};
    gr_diags_init(&d);
    gr_lex_init(&l, &a, &d, GR_D_GRAPH_SYNTAX, GR_STR("t"), GR_STR("{ k: [1,\n -0, 2.5, true, null, \"a\\\"b\\n\",\n inf, -inf, nan], \"o\": {\n}, l: [] }"));
    gr_value *v = gr_lex_json(&l);
    assert_non_null(v);
    gr_json_inline(&b, v);
    assert_string_equal(b.p, text);
    gr_buf_clear(&b);
    gr_lex_init(&l, &a, &d, GR_D_GRAPH_SYNTAX, GR_STR("t"), GR_STR(text));
    assert_non_null(v = gr_lex_json(&l));
    gr_json_inline(&b, v);
    assert_string_equal(b.p, text);
    char deep[400];
    memset(deep, '[', sizeof deep);
    gr_lex_init(&l, &a, &d, GR_D_GRAPH_SYNTAX, GR_STR("t"), (gr_str){deep, sizeof deep});
    assert_null(gr_lex_json(&l));
    assert_true(gr_diags_has(&d, GR_D_BASE_TOO_DEEP));
    gr_buf_free(&b);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

static void index_of_lines_agrees_with_counting(void **state) {
    (void)state;
    static const char *const pieces[] = {"a", "\n", "é", "€uro", "long run of letters without an end of line ", "\n\n", "😀"};
    gr_arena a = {0};
    gr_buf b = {0};
    gr_lines lines;
    gr_rng r = gr_rng_seed(3);
    for (int i = 0; i < 400; i++) gr_buf_puts(&b, pieces[gr_rng_below(&r, 7)]);
    assert_true(gr_lines_init(&a, gr_buf_view(&b), &lines));
    for (size_t i = 0; i <= b.n; i++) {
        uint32_t line, col, want_line, want_col;
        gr_lines_at(&lines, i, &line, &col);
        gr_text_line_col(gr_buf_view(&b), i, &want_line, &want_col);
        assert_int_equal(line, want_line);
        assert_int_equal(col, want_col);
    }
    gr_buf_free(&b);
    gr_arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_have_kinds_and_places),
        cmocka_unit_test(numbers_keep_their_kind),
        cmocka_unit_test(json_in_one_line_reads_back),
        cmocka_unit_test(index_of_lines_agrees_with_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
