/* Every example of docs/grammars.md parses, prints canonically and checks. */
#include "kit.h"

#include "base/file.h"
#include "contract/contract_int.h"

typedef struct page { kit k; gr_str text; uint32_t blocks; } page;

/* The next fenced block: its info word and its lines. */
static bool next_block(gr_str *text, gr_str *info, gr_str *body) {
    const char *p = text->p, *end = text->p + text->n;
    while (p < end && (end - p < 3 || memcmp(p, "```", 3) != 0)) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        p = eol ? eol + 1 : end;
    }
    if (p >= end) return false;
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    *info = (gr_str){p + 3, (size_t)(eol - p - 3)};
    const char *close = strstr(eol, "\n```");
    assert_non_null(close);
    *body = (gr_str){eol + 1, (size_t)(close - eol)};
    text->p = close + 4;
    text->n = (size_t)(end - text->p);
    return true;
}

static void fail_block(kit *k, gr_str body) {
    kit_show(k);
    fail_msg("%.*s", GR_STR_ARG(body));
}

/* A line that does not begin with a blank or a comment starts a signature. */
static void check_signatures(page *p, gr_str body) {
    const char *at = body.p, *end = body.p + body.n, *start = NULL;
    while (at <= end) {
        const char *eol = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        bool fresh = at >= end || (*at != ' ' && *at != '\n');
        if (fresh && start) {
            gr_str text = {start, (size_t)((at < end ? at : end) - start)};
            gr_buf b = {0}, c = {0};
            gr_sig s, again;
            if (!gr_sig_parse(&p->k.a, &p->k.d, GR_STR("grammars.md"), text, &s)) fail_block(&p->k, text);
            gr_sig_print(&b, &s);
            if (!gr_sig_parse(&p->k.a, &p->k.d, GR_STR("printed"), gr_buf_view(&b), &again)) fail_block(&p->k, text);
            gr_sig_print(&c, &again);
            assert_string_equal(b.p, c.p);
            gr_buf_free(&b);
            gr_buf_free(&c);
            p->blocks++;
            start = NULL;
        }
        if (fresh && at < end && *at != '#') start = at;
        if (!eol) break;
        at = eol + 1;
        if (at >= end) at = end;
    }
}

static gr_sig head_signature(page *p, gr_str body) {
    gr_sig s = {0};
    const char *eol = memchr(body.p, '\n', body.n);
    gr_str text = {body.p + 2, (size_t)(eol - body.p - 2)};
    if (body.p[0] != '#' || !gr_sig_parse(&p->k.a, &p->k.d, GR_STR("head"), text, &s)) fail_block(&p->k, body);
    return s;
}

static void check_binding(page *p, gr_str body) {
    gr_sig s = head_signature(p, body);
    gr_binding b, again;
    gr_piece src = {.document = GR_STR("grammars.md"), .text = body};
    gr_buf first = {0}, second = {0};
    if (!gr_binding_parse_piece(&p->k.a, &p->k.d, &src, &b) || !gr_binding_check_names(&p->k.d, &src, &s, &b)) fail_block(&p->k, body);
    gr_binding_print(&first, &b);
    assert_true(gr_binding_parse(&p->k.a, &p->k.d, GR_STR("printed"), gr_buf_view(&first), &again));
    gr_binding_print(&second, &again);
    assert_string_equal(first.p, second.p);
    gr_buf_free(&first);
    gr_buf_free(&second);
    p->blocks++;
}

static void check_fragment(page *p, gr_str body) {
    gr_sig s = head_signature(p, body);
    gr_scope scope = {.sig = &s, .outputs = true};
    gr_piece src = {.document = GR_STR("grammars.md"), .text = body};
    gr_frag f;
    if (!gr_frag_parse_piece(&p->k.a, &p->k.d, &src, &f)) fail_block(&p->k, body);
    for (uint32_t i = 0; i < f.nodes_n; i++)
        for (uint32_t k = 0; k < f.nodes[i].params_n; k++)
            if (!f.nodes[i].params[k].word.n && !gr_expr_check(&p->k.d, &src, &scope, f.nodes[i].params[k].expr, GR_K_ANY)) fail_block(&p->k, body);
    p->blocks++;
}

static void examples_of_the_page_hold(void **state) {
    (void)state;
    page p = {.blocks = 0};
    gr_str info, body;
    const char *root = getenv("GRADUS_ROOT");
    kit_open(&p.k);
    char *path = gr_arena_printf(&p.k.a, "%s/docs/grammars.md", root ? root : ".");
    assert_true(gr_file_read(&p.k.a, &p.k.d, gr_str_of(path), 0, &p.text));
    while (next_block(&p.text, &info, &body)) {
        if (gr_str_eqz(info, "sig")) check_signatures(&p, body);
        if (gr_str_eqz(info, "binding")) check_binding(&p, body);
        if (gr_str_eqz(info, "frag")) check_fragment(&p, body);
    }
    assert_in_range(p.blocks, 30, 100);
    kit_close(&p.k);
}

/* Every function of the expression language is on the page. */
static void functions_are_documented(void **state) {
    (void)state;
    static const char *const names[] = {
#define GR_FN(id, text, min, max, result, args) text,
#include "contract/functions.def"
#undef GR_FN
    };
    kit k;
    gr_str text;
    const char *root = getenv("GRADUS_ROOT");
    kit_open(&k);
    assert_true(gr_file_read(&k.a, &k.d, gr_str_of(gr_arena_printf(&k.a, "%s/docs/grammars.md", root ? root : ".")), 0, &text));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool found = strstr(text.p, gr_arena_printf(&k.a, "`%s(", names[i])) || strstr(text.p, gr_arena_printf(&k.a, "`%s`", names[i]));
        if (!found && !strstr(text.p, gr_arena_printf(&k.a, "%s(", names[i]))) fail_msg("%s is not documented", names[i]);
    }
    kit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_of_the_page_hold), cmocka_unit_test(functions_are_documented)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
