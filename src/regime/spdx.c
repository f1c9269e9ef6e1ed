/* spdx.c: SPDX licence expressions.
 *
 *   or   = and *("OR" and)
 *   and  = with *("AND" with)
 *   with = "(" or ")" / simple ["WITH" exception]
 *   simple = identifier ["+"] / ["DocumentRef-"name":"]"LicenseRef-"name
 *
 * Operators are upper case, identifiers are compared without regard to case, as annex D says. */
#include "regime/publish.h"

enum { DEPTH = 32, LENGTH = 2000 };

static const char *const licenses[] = {
#define GR_SPDX_LICENSE(id) id,
#define GR_SPDX_EXCEPTION(id)
#include "regime/spdx.def"
#undef GR_SPDX_LICENSE
#undef GR_SPDX_EXCEPTION
};
static const char *const exceptions[] = {
#define GR_SPDX_LICENSE(id)
#define GR_SPDX_EXCEPTION(id) id,
#include "regime/spdx.def"
#undef GR_SPDX_LICENSE
#undef GR_SPDX_EXCEPTION
};

typedef struct parser {
    gr_diags *d;
    gr_place at;
    gr_str text, word; /* word: the current token, empty at the end */
    size_t next;
} parser;

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '+' || c == ':';
}

static void advance(parser *p) {
    while (p->next < p->text.n && p->text.p[p->next] == ' ') p->next++;
    size_t start = p->next;
    while (p->next < p->text.n && is_word(p->text.p[p->next])) p->next++;
    if (p->next == start && p->next < p->text.n) p->next++; /* a parenthesis, or what does not belong here */
    p->word = (gr_str){p->text.p + start, p->next - start};
}

static bool wrong(parser *p, const char *what) {
    gr_str w = p->word;
    if (!w.n) return gr_report(p->d, GR_D_REGIME_LICENSE_INVALID, p->at, "for example \"Apache-2.0\" or \"MIT OR Apache-2.0\"", "%s, but \"%.*s\" ends", what, GR_STR_ARG(p->text));
    return gr_report(p->d, GR_D_REGIME_LICENSE_INVALID, p->at, "for example \"Apache-2.0\" or \"MIT OR Apache-2.0\"", "%s, not \"%.*s\"", what,
                     (int)(w.n > 60 ? 60 : w.n), w.p);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same(gr_str x, const char *z) {
    size_t i = 0;
    for (; i < x.n && z[i]; i++)
        if (lower(x.p[i]) != lower(z[i])) return false;
    return i == x.n && !z[i];
}

static bool is_mark(char c) { return c == '-' || c == '.'; }

/* Whether z begins with x when hyphens and points are passed over: "Apache2", "GPL3". */
static bool begins(const char *z, gr_str x) {
    size_t i = 0;
    for (;; i++, z++) {
        while (i < x.n && is_mark(x.p[i])) i++;
        while (is_mark(*z)) z++;
        if (i >= x.n) return true;
        if (!*z || lower(*z) != lower(x.p[i])) return false;
    }
}

static bool known(parser *p, gr_str id, const char *const *list, size_t n, const char *what) {
    const char *near = NULL;
    int best = 3;
    for (size_t i = 0; i < n; i++) {
        if (same(id, list[i])) return true;
        int far = gr_str_distance(id, gr_str_of(list[i]));
        if (far < best) best = far, near = list[i];
    }
    for (size_t i = 0; i < n && !near && id.n >= 3; i++) /* the beginning of one */
        if (begins(list[i], id)) near = list[i];
    gr_report(p->d, GR_D_REGIME_LICENSE_INVALID, p->at, "a licence outside of the list is written LicenseRef-NAME", "\"%.*s\" is no %s of the SPDX list",
              (int)(id.n > 60 ? 60 : id.n), id.p, what);
    if (near) gr_report_hint(p->d, "did you mean %s?", near);
    return false;
}

static bool reference(gr_str w) {
    static const char doc[] = "DocumentRef-", ref[] = "LicenseRef-";
    if (gr_str_starts(w, doc)) {
        const char *colon = memchr(w.p, ':', w.n);
        if (!colon || (size_t)(colon - w.p) == sizeof doc - 1) return false;
        w = (gr_str){colon + 1, w.n - (size_t)(colon + 1 - w.p)};
    }
    return gr_str_starts(w, ref) && w.n > sizeof ref - 1 && !memchr(w.p, ':', w.n) && !memchr(w.p, '+', w.n);
}

static bool parse_simple(parser *p) {
    gr_str id = p->word;
    if (!id.n || !is_word(id.p[0]) || gr_str_eqz(id, "AND") || gr_str_eqz(id, "OR") || gr_str_eqz(id, "WITH")) return wrong(p, "a licence is expected");
    if (!reference(id)) {
        if (id.p[id.n - 1] == '+') id.n--; /* or any later version */
        GR_TRY(known(p, id, licenses, sizeof licenses / sizeof *licenses, "licence"));
    }
    advance(p);
    if (!gr_str_eqz(p->word, "WITH")) return true;
    advance(p);
    if (!p->word.n || !is_word(p->word.p[0])) return wrong(p, "an exception is expected");
    GR_TRY(known(p, p->word, exceptions, sizeof exceptions / sizeof *exceptions, "exception"));
    advance(p);
    return true;
}

static bool parse_or(parser *p, int depth);

static bool parse_with(parser *p, int depth) {
    if (!gr_str_eqz(p->word, "(")) return parse_simple(p);
    if (depth >= DEPTH) return wrong(p, "parentheses are nested too deep");
    advance(p);
    GR_TRY(parse_or(p, depth + 1));
    if (!gr_str_eqz(p->word, ")")) return wrong(p, "\")\" is expected");
    advance(p);
    return true;
}

static bool parse_and(parser *p, int depth) {
    GR_TRY(parse_with(p, depth));
    while (gr_str_eqz(p->word, "AND")) {
        advance(p);
        GR_TRY(parse_with(p, depth));
    }
    return true;
}

static bool parse_or(parser *p, int depth) {
    GR_TRY(parse_and(p, depth));
    while (gr_str_eqz(p->word, "OR")) {
        advance(p);
        GR_TRY(parse_and(p, depth));
    }
    return true;
}

bool gr_spdx_check(gr_diags *d, gr_place at, gr_str expression) {
    parser p = {.d = d, .at = at, .text = expression};
    if (expression.n > LENGTH) return gr_report(d, GR_D_REGIME_LICENSE_INVALID, at, NULL, "the licence expression has %zu characters", expression.n);
    advance(&p);
    GR_TRY(parse_or(&p, 0));
    return !p.word.n || wrong(&p, "AND, OR or the end is expected");
}
