/* Generated signatures and bindings: parse(print(x)) is x; damaged ones do no harm. */
#include "kit.h"

#include "base/rng.h"

typedef struct gen { gr_rng r; gr_buf b; } gen;

static uint32_t pick(gen *g, uint32_t n) { return gr_rng_below(&g->r, n); }
static void put(gen *g, const char *s) { gr_buf_puts(&g->b, s); }
static void one_of(gen *g, const char *const *list, uint32_t n) { put(g, list[pick(g, n)]); }

static void expr(gen *g, int depth);

static void args(gen *g, const char *fn, uint32_t n, int depth) {
    put(g, fn);
    put(g, "(");
    for (uint32_t i = 0; i < n; i++) {
        if (i) put(g, ", ");
        expr(g, depth + 1);
    }
    put(g, ")");
}

/* An integer expression over n, m, w and pads. */
static void expr(gen *g, int depth) {
    static const char *const ops[] = {" + ", " - ", "*", " / ", "//", " /^ ", " % "}, *const leaf[] = {"n", "m", "w", "1", "64", "pads[1]", "s[0]", "rank(s)", "size(x)", "prod(s)"};
    uint32_t k = depth > 4 ? 0 : pick(g, 6);
    if (k <= 1) { one_of(g, leaf, 10); return; }
    if (k == 2) { put(g, "-"); expr(g, depth + 1); return; }
    if (k == 3) { args(g, pick(g, 2) ? "min" : "max", 2, depth); return; }
    bool wrap = pick(g, 2);
    if (wrap) put(g, "(");
    expr(g, depth + 1);
    one_of(g, ops, 7);
    expr(g, depth + 1);
    if (wrap) put(g, ")");
}

static void condition(gen *g, int depth) {
    static const char *const ops[] = {"<", "<=", ">", " >= ", "==", "!="}, *const join[] = {" and ", " or "};
    uint32_t k = depth > 3 ? 0 : pick(g, 4);
    if (k == 1) { put(g, "not ("); condition(g, depth + 1); put(g, ")"); return; }
    if (k == 2) {
        put(g, "(");
        condition(g, depth + 1);
        one_of(g, join, 2);
        condition(g, depth + 1);
        put(g, ")");
        return;
    }
    expr(g, 3);
    one_of(g, ops, 6);
    expr(g, 3);
}

static void shape(gen *g) {
    static const char *const fn[] = {"..s", "..broadcast(s, s)", "..drop(s, [0], keep)", "..permute(s, reverse(s))", "..replace(s, 0, [n, m])", "..tile(s, pads)", "..head(s, 1)"};
    for (uint32_t i = pick(g, 3) + 1; i > 0; i--) {
        if (pick(g, 2)) one_of(g, fn, 7);
        else expr(g, 0);
        if (i > 1) put(g, ",  ");
    }
}

static void signature(gen *g) {
    static const char *const ranges[] = {"", " in 1..=31", " in 0..", " in ..=9", " in 1..=n odd"};
    gr_buf_clear(&g->b);
    put(g, "op(x: T[n, m, ..s]");
    if (pick(g, 2)) put(g, ", z: U[m]?");
    if (pick(g, 3) == 0) put(g, ", xs: f32[..t]*");
    put(g, "; w: u32");
    one_of(g, ranges, 5);
    put(g, ", pads: u32[");
    put(g, pick(g, 2) ? "4" : "*");
    put(g, "] = 0, keep: bool = false, mode: a | \"b\" = b) -> y: T[");
    shape(g);
    put(g, "]");
    if (pick(g, 3) == 0) { put(g, ", v: i32["); shape(g); put(g, "] if keep"); }
    if (pick(g, 2)) {
        put(g, " where ");
        condition(g, 0);
        if (pick(g, 2)) { put(g, " , "); condition(g, 0); }
    }
    if (pick(g, 2)) put(g, "\n T in f32, f16");
}

static void generated_signatures_round_trip(void **state) {
    (void)state;
    gen g = {gr_rng_seed(1), {0}};
    uint32_t parsed = 0;
    for (int i = 0; i < 5000; i++) {
        kit k;
        gr_sig again;
        gr_buf first = {0}, second = {0};
        kit_open(&k);
        signature(&g);
        if (kit_sig(&k, g.b.p)) {
            parsed++;
            gr_sig_print(&first, &k.op.sig);
            if (!gr_sig_parse(&k.a, &k.d, GR_STR("again"), gr_buf_view(&first), &again)) { kit_show(&k); fail_msg("%s", first.p); }
            gr_sig_print(&second, &again);
            assert_string_equal(first.p, second.p);
        }
        gr_buf_free(&first);
        gr_buf_free(&second);
        kit_close(&k);
    }
    assert_in_range(parsed, 4500, 5000);
    gr_buf_free(&g.b);
}

/* Values agree before and after printing: precedence survives. */
static void printed_expressions_keep_their_value(void **state) {
    (void)state;
    gen g = {gr_rng_seed(2), {0}};
    kit k;
    gr_call c;
    uint32_t computed = 0;
    kit_open(&k);
    assert_true(kit_sig(&k, "f(x: T[n, m, ..s]; w: u32 = 7, pads: u32[3] = [4, 5, 9]) -> y: T[n]") && kit_call(&k, "f32[10, 4, 3]", NULL, &c));
    for (int i = 0; i < 20000; i++) {
        gr_frag f, again;
        gr_buf printed = {0};
        int64_t x = 0, y = 0;
        gr_buf_clear(&g.b);
        put(&g, "%y = constant ");
        expr(&g, 0);
        put(&g, " : T[]");
        assert_true(gr_frag_parse(&k.a, &k.d, GR_STR("f"), gr_buf_view(&g.b), &f));
        gr_frag_print(&printed, &f);
        gr_str text = gr_str_dup(&k.a, gr_buf_view(&printed)), first = gr_str_dup(&k.a, gr_buf_view(&g.b));
        assert_true(gr_frag_parse(&k.a, &k.d, GR_STR("f"), text, &again));
        gr_frag_parse(&k.a, &k.d, GR_STR("f"), first, &f);
        bool a = gr_expr_int(&k.d, f.nodes[0].constant, &c, NULL, NULL, gr_place_doc("call"), &x), b = gr_expr_int(&k.d, again.nodes[0].constant, &c, NULL, NULL, gr_place_doc("call"), &y);
        if (a != b || (a && x != y)) fail_msg("%s is %lld, printed %s it is %lld", first.p, (long long)x, text.p, (long long)y);
        computed += a;
        gr_buf_free(&printed);
        gr_diags_clear(&k.d);
    }
    assert_in_range(computed, 2000, 20000);
    gr_buf_free(&g.b);
    kit_close(&k);
}

static void damaged_signatures_do_no_harm(void **state) {
    (void)state;
    gen g = {gr_rng_seed(3), {0}};
    static const char bytes[] = "()[],;:?*+-/^%=<>.|\"@ \nxnw1#\xC3\x01";
    for (int i = 0; i < 20000; i++) {
        kit k;
        gr_call c;
        kit_open(&k);
        signature(&g);
        for (uint32_t n = pick(&g, 4); n > 0; n--) g.b.p[pick(&g, (uint32_t)g.b.n)] = bytes[pick(&g, sizeof bytes - 1)];
        bool ok = kit_sig(&k, g.b.p);
        assert_true(ok == gr_diags_ok(&k.d));
        if (ok) kit_call(&k, "f32[10, 4, 3]", "{\"w\":3}", &c);
        kit_close(&k);
    }
    gr_buf_free(&g.b);
}

static void deep_and_long_texts_are_refused(void **state) {
    (void)state;
    static const char *const heads[] = {"f(x: f32[n]) -> y: f32[", "f(x: f32[n]) -> y: f32[n", "f(x: f32[n]) -> y: f32["}, *const parts[] = {"(", " + n", "-"};
    for (int i = 0; i < 3; i++) {
        kit k;
        gr_buf b = {0};
        kit_open(&k);
        gr_buf_puts(&b, heads[i]);
        for (int n = 0; n < 100000; n++) gr_buf_puts(&b, parts[i]);
        assert_false(kit_sig(&k, b.p));
        assert_true(gr_diags_has(&k.d, GR_D_CONTRACT_TOO_LARGE));
        gr_buf_free(&b);
        kit_close(&k);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_signatures_round_trip), cmocka_unit_test(printed_expressions_keep_their_value),
        cmocka_unit_test(damaged_signatures_do_no_harm),   cmocka_unit_test(deep_and_long_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
