/* Grammar 2 and fragments: printing, views, lists, expressions over a call. */
#include "kit.h"

static const char every_clause[] =
    "# a comment\n"
    "alias T = T\n"
    "bind src = read x once\n"
    "bind xs = read xs[*]\n"
    "bind dst = write y   # behind a clause\n"
    "bind acc = inout a\n"
    "bind tmp = scratch f32[n /^ 256]\n"
    "bind cnt = count y\n"
    "bind p = uniform { n = n, w = w - 1, a = view(a, y), o = view(x), pads = padding,\n"
    "                   k = kept(x, axes), r = reduced(x, axes), q = permuted(x, inverse(p)), s = sliced(x, starts, sizes, steps), b = batch(a, y, 2) }\n"
    "bind e = uniform {}\n"
    "override TILE = min(n, 64)\n"
    "pass main over size(y)\n"
    "pass second over size(y) /^ 4\n"
    "pass third grid m /^ 64, n /^ 64, 1\n"
    "pass fourth indirect count(x) /^ 64\n"
    "pass fifth indirect count(x)\n"
    "pass sixth each xs over size(xs)\n"
    "pass seventh repeat k in 0..bit_length(n - 1) over n /^ (k + 1)\n"
    "pass eighth repeat k grid k, 1\n"
    "split n: y[lo..hi] needs x[lo..hi + w - 1], z[2 * lo..2 * hi]\n"
    "split s: combine accumulate\n"
    "split k: combine user/kemal/merge@2\n"
    "split k when groups == 1 and n > 2: y[lo..hi]\n"
    "split * when cut != axis: y[1 + cut: lo..hi] needs x[permutation[cut]: lo..hi], z[lo..hi] with starts[cut] = 0, count = hi - lo\n"
    "split flat with new_shape = [hi - lo]\n"
    "split flat\n";

static void bindings_print_and_parse(void **state) {
    (void)state;
    kit k;
    gr_binding b, again;
    gr_buf out = {0}, second = {0};
    kit_open(&k);
    if (!gr_binding_parse(&k.a, &k.d, GR_STR("b"), gr_str_of(every_clause), &b)) { kit_show(&k); fail(); }
    assert_true(b.aliases_n == 1 && b.binds_n == 8 && b.overrides_n == 1 && b.passes_n == 8 && b.splits_n == 7);
    assert_true(b.binds[0].once && !b.binds[1].once && b.binds[1].each && b.binds[6].fields_n == 10 && b.binds[6].fields[9].view == GR_VIEW_BATCH);
    gr_binding_print(&out, &b);
    assert_true(gr_binding_parse(&k.a, &k.d, GR_STR("b"), gr_buf_view(&out), &again));
    gr_binding_print(&second, &again);
    assert_string_equal(out.p, second.p);
    gr_buf_free(&out);
    gr_buf_free(&second);
    kit_close(&k);
}

static void fragments_print_and_parse(void **state) {
    (void)state;
    kit k;
    gr_frag f, again;
    gr_buf out = {0}, second = {0};
    kit_open(&k);
    gr_str text = GR_STR("%s = reduce_sum %x axes=axes keep_dimensions=true\n# note\n%v, %i = top_k %x k=3\n%c = constant -0.5 * sqrt(2) : T[]\n"
                         "%t = transpose %x permutation=[1, 0]\n%y = user/kemal/median@2 %s, %c w=w + 1 mode=edge\n"
                         "%z = neg %y if given(x) and not (w == 1)\n%z = constant 1 : T[] if if(w == 1, true, false)\n");
    if (!gr_frag_parse(&k.a, &k.d, GR_STR("f"), text, &f)) { kit_show(&k); fail(); }
    assert_true(f.nodes_n == 7 && !f.nodes[4].when && f.nodes[5].when && f.nodes[6].when && f.nodes[1].results_n == 2 && f.nodes[3].params[0].list_n == 2 && gr_str_eqz(f.nodes[4].op, "user/kemal/median@2") && f.nodes[4].args_n == 2);
    gr_frag_print(&out, &f);
    assert_true(gr_frag_parse(&k.a, &k.d, GR_STR("f"), gr_buf_view(&out), &again));
    gr_frag_print(&second, &again);
    assert_string_equal(out.p, second.p);
    gr_buf_free(&out);
    gr_buf_free(&second);
    kit_close(&k);
}

static void show_view(gr_buf *b, const gr_view *v) {
    gr_buf_clear(b);
    gr_buf_printf(b, "+%u n%u", v->offset, v->size);
    for (uint32_t i = 0; i < v->rank; i++) gr_buf_printf(b, " %u:%u", v->dims[i], v->strides[i]);
}

/* signature | operands | params | fields | "name offset size dim:stride ..." of each */
static const struct { const char *sig, *operands, *params, *fields, *views; } views[] = {
    {"f(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]", "f32[2, 3, 4]; f32[2, 3, 4]", NULL, "a = view(a, y), b = view(b, y)", "+0 n24 24:1; +0 n24 24:1"},
    {"f(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]", "f32[2, 3, 4]; f32[4]", NULL, "a = view(a, y), b = view(b, y)", "+0 n24 6:4 4:1; +0 n24 6:0 4:1"},
    {"f(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]", "f32[2, 3, 4]; f32[2, 1, 1]", NULL, "a = view(a, y), b = view(b, y)", "+0 n24 2:12 12:1; +0 n24 2:1 12:0"},
    {"f(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]", "f32[2, 1, 4]; f32[3, 1]", NULL, "a = view(a, y), b = view(b, y)", "+0 n24 2:4 3:0 4:1; +0 n24 2:0 3:1 4:0"},
    {"f(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]", "f32[]; f32[]", NULL, "a = view(a, y), b = view(b, y)", "+0 n1; +0 n1"},
    {"f(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]", "f32[5, 1, 3]; f32[5, 1, 3]", NULL, "a = view(a, y)", "+0 n15 15:1"},
    {"f(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]", "f32[5, 0, 3]; f32[3]", NULL, "a = view(a), b = view(b, y)", "+0 n0 5:3 0:1; +0 n0 0:0 3:1"},
    {"f(x: T[..s]; axes: u32[*]) -> y: T[..drop(s, axes, false)]", "f32[2, 3, 4, 5]", "{\"axes\":[1,2]}", "k = kept(x, axes), r = reduced(x, axes)", "+0 n10 2:60 5:1; +0 n12 12:5"},
    {"f(x: T[..s]; axes: u32[*]) -> y: T[..drop(s, axes, false)]", "f32[2, 3, 4, 5]", "{\"axes\":[]}", "k = kept(x, axes), r = reduced(x, axes)", "+0 n120 120:1; +0 n1"},
    {"f(x: T[..s]; p: u32[*] = reverse) -> y: T[..permute(s, p)]", "f32[2, 3, 4]", NULL, "x = permuted(x, p)", "+0 n24 4:1 3:4 2:12"},
    {"f(x: T[..s]; p: u32[*] = reverse) -> y: T[..permute(s, p)]", "f32[2, 3, 4]", "{\"p\":[2,0,1]}", "x = permuted(x, p)", "+0 n24 4:1 6:4"},
    {"f(x: T[..s]; b: u32[*], n: u32[*], t: u32[*] = 1) -> y: T[..slice(s, b, n, t)]", "f32[6, 5]", "{\"b\":[1,2],\"n\":[5,3],\"t\":[2,1]}", "x = sliced(x, b, n, t)", "+7 n9 3:10 3:1"},
    {"f(x: T[..s]; b: u32[*], n: u32[*], t: u32[*] = 1) -> y: T[..slice(s, b, n, t)]", "f32[6, 5]", "{\"b\":[1,0],\"n\":[2,5]}", "x = sliced(x, b, n)", "+5 n10 10:1"},
    {"f(a: T[..s, m, k], b: T[..t, k, n]) -> y: T[..broadcast(s, t), m, n]", "f32[5, 1, 2, 3]; f32[7, 3, 4]", NULL, "a = batch(a, y, 2), b = batch(b, y, 2)", "+0 n35 5:6 7:0; +0 n35 5:0 7:12"},
};

static void views_are_resolved(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        kit k;
        gr_call c;
        gr_binding b;
        gr_view v;
        gr_buf one = {0}, all = {0};
        kit_open(&k);
        char *text = gr_arena_printf(&k.a, "bind p = uniform { %s }", views[i].fields);
        bool ok = kit_sig(&k, views[i].sig) && kit_call(&k, views[i].operands, views[i].params, &c) && gr_binding_parse(&k.a, &k.d, GR_STR("b"), gr_str_of(text), &b);
        for (uint32_t f = 0; ok && f < b.binds[0].fields_n; f++) {
            ok = gr_view_resolve(&k.d, &b, &b.binds[0].fields[f], &c, gr_place_doc("call"), &v);
            show_view(&one, &v);
            gr_buf_printf(&all, "%s%s", f ? "; " : "", one.p);
        }
        if (!ok) { kit_show(&k); fail_msg("%s", views[i].fields); }
        if (strcmp(all.p, views[i].views) != 0) fail_msg("%s of %s: %s, not %s", views[i].fields, views[i].operands, all.p, views[i].views);
        gr_buf_free(&one);
        gr_buf_free(&all);
        kit_close(&k);
    }
}

/* expression | value, over one call; "!" is refused. */
static const struct { const char *expr, *value; } exprs[] = {
    {"n - w + 1", "4"}, {"n /^ 4", "3"}, {"n /^ 5", "2"}, {"-n /^ 4", "-2"}, {"-n % 4", "2"}, {"n // 4", "2"}, {"n % 4", "2"}, {"n / 4", "!"}, {"n / 5", "2"}, {"-n // 4", "-3"}, {"-(n /^ 4)", "-3"},
    {"2 * (n + 1) - 3", "19"}, {"min(n, w, 3)", "3"}, {"max(1.5, 2)", "2"}, {"size(x)", "40"}, {"rank(x)", "2"}, {"dim(x, 1)", "4"}, {"prod(s)", "4"},
    {"len(pads)", "3"}, {"pads[2]", "9"}, {"pads[3]", "!"}, {"sum(pads)", "18"}, {"last(pads)", "9"}, {"if(n > 5, 1, 2)", "1"}, {"if(keep, 1, 2)", "2"},
    {"n >= w and not keep", "1"}, {"n < w or keep", "0"}, {"mode == edge", "1"}, {"mode == constant", "0"}, {"mode", "1"}, {"T == f32", "1"}, {"T != f16", "1"},
    {"pads == [4, 5, 9]", "1"}, {"floor(n * scale)", "15"}, {"ceil(n / 4.0)", "3"}, {"reduced_size(x, [0])", "10"}, {"inner_size(x, [0])", "4"}, {"inner_size(x, [0, 1])", "1"}, {"inner_size(x, [])", "1"}, {"prod_from(x, 0)", "40"}, {"prod_after(x, 0)", "4"},
    {"n // (w - w)", "!"}, {"9223372036854775807 + 1", "!"}, {"9223372036854775807 * n", "!"}, {"distinct(pads)", "1"}, {"below(pads, 10)", "1"}, {"divides([2], s)", "1"},
    {"expands([1], s)", "1"}, {"broadcastable(s, [3])", "0"}, {"given(x)", "1"}, {"given(z)", "0"}, {"number(x)", "1"}, {"size(z)", "!"}, {"1 - 2 - 3", "-4"}, {"7 - (2 - 3)", "8"},
    {"sqrt(n * n)", "10"},
    {"bit_length(0)", "0"}, {"bit_length(1)", "1"}, {"bit_length(n)", "4"}, {"bit_length(16)", "5"}, {"bit_length(-n)", "0"}, {"bit_length(9223372036854775807)", "63"},
    {"len(factors(1, 8))", "0"}, {"len(factors(1000, 8))", "4"}, {"factors(1000, 8)[0]", "8"}, {"factors(1000, 8)[1]", "5"}, {"prod(factors(360, 5))", "360"},
    {"factors(97 * 2, 8)[1]", "97"}, {"len(factors(1024, 2))", "10"}, {"factors(1021 * 1021, 8)[1]", "1021"}, {"sum(filled(3, n))", "30"}, {"len(filled(-1, 0))", "0"}, {"filled(65, 0)", "!"}, {"factors(n, 1)", "!"}, {"factors(1099511627777, 2)", "!"}, {"tail(s, 2)[0]", "!"},
};

static void expressions_are_computed(void **state) {
    (void)state;
    kit k;
    gr_call c;
    kit_open(&k);
    bool ok = kit_sig(&k, "f(x: T[n, ..s], z: T[]?; w: u32 = 7, pads: u32[3] = [4, 5, 9], keep: bool = false, mode: constant | edge = edge, scale: f32 = 1.5) -> y: T[n] T in f32, f16") && kit_call(&k, "f32[10, 4]", NULL, &c);
    if (!ok) { kit_show(&k); fail(); }
    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++) {
        gr_frag f;
        char *text = gr_arena_printf(&k.a, "%%y = constant %s : T[]", exprs[i].expr);
        if (!gr_frag_parse(&k.a, &k.d, GR_STR("f"), gr_str_of(text), &f)) { kit_show(&k); fail(); }
        double v = 0;
        int64_t n = 0;
        bool word = strcmp(exprs[i].expr, "mode") == 0;
        gr_diags_clear(&k.d);
        bool got = word ? gr_expr_int(&k.d, f.nodes[0].constant, &c, NULL, NULL, gr_place_doc("call"), &n) : gr_expr_float(&k.d, f.nodes[0].constant, &c, gr_place_doc("call"), &v);
        if (word) v = (double)n;
        assert_true(got == gr_diags_ok(&k.d));
        if (exprs[i].value[0] == '!' ? got : !got || v != strtod(exprs[i].value, NULL)) fail_msg("%s: %g, not %s", exprs[i].expr, v, exprs[i].value);
    }
    kit_close(&k);
}

static void lists_and_fragment_parameters(void **state) {
    (void)state;
    kit k;
    gr_call c;
    gr_binding b;
    gr_frag f;
    gr_arg *args;
    uint32_t n;
    double list[32];
    kit_open(&k);
    assert_true(kit_sig(&k, "f(x: T[..s]; axes: u32[*] = all, w: f32[2] = [0.5, 2]) -> y: T[..s]") && kit_call(&k, "f16[10, 4]", NULL, &c));
    assert_true(gr_binding_parse(&k.a, &k.d, GR_STR("b"), GR_STR("bind p = uniform { s = s, w = w, d = drop(s, axes, true) }"), &b));
    assert_true(gr_list_resolve(&k.d, &b.binds[0].fields[0], &c, gr_place_doc("call"), list, &n) && n == 2 && list[0] == 10);
    assert_true(gr_list_resolve(&k.d, &b.binds[0].fields[1], &c, gr_place_doc("call"), list, &n) && n == 2 && list[0] == 0.5);
    assert_true(gr_list_resolve(&k.d, &b.binds[0].fields[2], &c, gr_place_doc("call"), list, &n) && n == 2 && list[1] == 1);
    assert_true(gr_frag_parse(&k.a, &k.d, GR_STR("f"), GR_STR("%y = g %x shape=shape(x) k=rank(x) - 3 keep=true type=T mode=edge w=w[1] l=[axes[1], 7]"), &f));
    assert_true(gr_frag_args(&k.a, &k.d, &f.nodes[0], &c, gr_place_doc("call"), &args, &n) && n == 7);
    assert_true(args[0].resolved.kind == GR_PARAM_I32_LIST && args[0].resolved.li[1] == 4 && args[1].resolved.i == -1 && args[2].resolved.kind == GR_PARAM_BOOL);
    assert_true(gr_str_eqz(args[3].resolved.word, "f16") && gr_str_eqz(args[4].resolved.word, "edge") && args[5].resolved.f == 2 && args[6].resolved.li[0] == 1);
    kit_close(&k);
}

/* Inside `pass ... each xs` names mean the current tensor. */
static void each_pass_sees_its_tensor(void **state) {
    (void)state;
    kit k;
    gr_call c;
    gr_binding b;
    int64_t v;
    kit_open(&k);
    assert_true(kit_sig(&k, "concat(xs: T[..s]*; axis: u32) -> y: T[..concat(s, axis)]") && kit_call(&k, "f32[2, 3]; f32[2, 1]; f32[2, 4]", "{\"axis\":1}", &c));
    assert_true(gr_binding_parse(&k.a, &k.d, GR_STR("b"), GR_STR("pass a over size(xs)\npass b over prefix(xs, axis)\npass c over index(xs)"), &b));
    static const int64_t want[3][3] = {{6, 0, 0}, {2, 3, 1}, {8, 4, 2}};
    for (c.each = 0; c.each < 3; c.each++)
        for (uint32_t p = 0; p < 3; p++) assert_true(gr_expr_int(&k.d, b.passes[p].size[0], &c, NULL, NULL, gr_place_doc("call"), &v) && v == want[c.each][p]);
    kit_close(&k);
}

/* Inside `pass ... repeat k` the name means the turn; elsewhere it is none. */
static void repeated_pass_sees_its_turn(void **state) {
    (void)state;
    kit k;
    gr_call c;
    gr_binding b;
    int64_t v;
    kit_open(&k);
    assert_true(kit_sig(&k, "f(x: T[n]) -> y: T[n]") && kit_call(&k, "f32[9]", NULL, &c));
    assert_true(gr_binding_parse(&k.a, &k.d, GR_STR("b"), GR_STR("pass a repeat turn in 1..n - 6 over n * turn\npass b repeat turn over n + turn"), &b));
    assert_true(b.passes[0].from && b.passes[0].to && !b.passes[1].from && gr_str_eqz(b.passes[1].repeat, "turn"));
    assert_true(gr_expr_int(&k.d, b.passes[0].to, &c, NULL, NULL, gr_place_doc("call"), &v) && v == 3);
    assert_false(gr_expr_int(&k.d, b.passes[0].size[0], &c, NULL, NULL, gr_place_doc("call"), &v));
    c.repeat = GR_STR("turn");
    for (c.turn = 1; c.turn < 3; c.turn++)
        assert_true(gr_expr_int(&k.d, b.passes[0].size[0], &c, NULL, NULL, gr_place_doc("call"), &v) && v == 9 * c.turn);
    kit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bindings_print_and_parse), cmocka_unit_test(fragments_print_and_parse),     cmocka_unit_test(views_are_resolved),
        cmocka_unit_test(expressions_are_computed), cmocka_unit_test(lists_and_fragment_parameters), cmocka_unit_test(each_pass_sees_its_tensor),
        cmocka_unit_test(repeated_pass_sees_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
