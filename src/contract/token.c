/* Tokens of the three grammars. A comment runs from # to the end of its line. */
#include "contract/contract_int.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

gr_place gr_piece_place(const gr_piece *p, uint32_t offset) {
    gr_place at = gr_place_at(p->document, p->text, offset);
    if (at.line == 1 && p->col) at.col += p->col - 1;
    if (p->line) at.line += p->line - 1;
    at.pointer = p->pointer;
    return at;
}

bool gr_parser_fail(gr_parser *p, gr_diag_name name, uint32_t offset, const char *hint, const char *fmt, ...) {
    char t[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t, sizeof t, fmt, ap);
    va_end(ap);
    p->failed = true;
    return gr_report(p->d, name, gr_piece_place(&p->src, offset), hint, "%s", t);
}

bool gr_parser_oom(gr_parser *p) {
    p->failed = true;
    return gr_report_oom(p->d);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static char char_at(gr_str s, size_t i) { return i < s.n ? s.p[i] : 0; }

/* Digits, then a fraction only when a digit follows the point (1..=31 is a range), then an exponent. */
static size_t scan_number(gr_str s, size_t i, bool *is_float) {
    while (is_digit(char_at(s, i))) i++;
    if (char_at(s, i) == '.' && is_digit(char_at(s, i + 1))) {
        *is_float = true;
        for (i++; is_digit(char_at(s, i));) i++;
    }
    char c = char_at(s, i);
    if (c == 'e' || c == 'E') {
        size_t k = i + 1;
        if (char_at(s, k) == '+' || char_at(s, k) == '-') k++;
        if (is_digit(char_at(s, k))) {
            *is_float = true;
            for (i = k; is_digit(char_at(s, i));) i++;
        }
    }
    return i;
}

static void read_number(gr_parser *p, gr_tok *t) {
    bool is_float = false;
    size_t end = scan_number(p->src.text, t->offset, &is_float);
    t->text.n = end - t->offset;
    if (is_alpha(char_at(p->src.text, end)) || t->text.n > 40) {
        t->kind = GR_TOK_BAD;
        return;
    }
    char z[48];
    memcpy(z, t->text.p, t->text.n);
    z[t->text.n] = 0;
    t->kind = is_float ? GR_TOK_FLOAT : GR_TOK_INT;
    if (is_float) {
        t->f = strtod(z, NULL);
        if (isinf(t->f)) t->kind = GR_TOK_BAD;
        return;
    }
    for (size_t i = 0; i < t->text.n; i++) {
        int64_t digit = z[i] - '0';
        if (t->i > (INT64_MAX - digit) / 10) {
            t->kind = GR_TOK_BAD;
            return;
        }
        t->i = t->i * 10 + digit;
    }
}

static void read_punct(gr_parser *p, gr_tok *t) {
    static const struct {
        const char *z;
        int code;
    } two[] = {{"..=", GR_P_DOTS_EQ}, {"//", GR_P_FLOOR_DIV}, {"/^", GR_P_CEIL_DIV}, {"==", GR_P_EQ},  {"!=", GR_P_NE},
               {"<=", GR_P_LE},       {">=", GR_P_GE},        {"->", GR_P_ARROW},    {"..", GR_P_DOTS}};
    gr_str rest = {p->src.text.p + t->offset, p->src.text.n - t->offset};
    t->kind = GR_TOK_PUNCT;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        if (!gr_str_starts(rest, two[i].z)) continue;
        t->punct = two[i].code;
        t->text.n = strlen(two[i].z);
        return;
    }
    t->text.n = 1;
    t->punct = (unsigned char)rest.p[0];
    if (!strchr("()[]{},:;?*+-/%=<>|@", rest.p[0])) t->kind = GR_TOK_BAD;
}

static size_t skip_blank(const gr_parser *p, size_t i) {
    bool newlines = !p->lines || p->nest > 0;
    for (;; i++) {
        char c = char_at(p->src.text, i);
        if (c == '#') {
            while (i + 1 < p->src.text.n && p->src.text.p[i + 1] != '\n') i++;
        } else if (i >= p->src.text.n || !(c == ' ' || c == '\t' || c == '\r' || (c == '\n' && newlines))) {
            return i;
        }
    }
}

static gr_tok read_token(gr_parser *p) {
    size_t i = skip_blank(p, p->at);
    gr_tok t = {.offset = (uint32_t)i, .text = {p->src.text.p + i, 0}};
    char c = char_at(p->src.text, i);
    if (i >= p->src.text.n) return t;
    if (c == '\n') {
        t.kind = GR_TOK_LINE;
        t.text.n = 1;
    } else if (is_alpha(c)) {
        t.kind = GR_TOK_NAME;
        while (is_alpha(char_at(p->src.text, i + t.text.n)) || is_digit(char_at(p->src.text, i + t.text.n))) t.text.n++;
        if (t.text.n > 100) t.kind = GR_TOK_BAD;
    } else if (is_digit(c)) {
        read_number(p, &t);
    } else if (c == '"') { /* a word may stand in quotes; the text includes them */
        size_t n = 1;
        while (is_alpha(char_at(p->src.text, i + n)) || is_digit(char_at(p->src.text, i + n))) n++;
        t.kind = n > 1 && n < 100 && char_at(p->src.text, i + n) == '"' ? GR_TOK_STRING : GR_TOK_BAD;
        t.text.n = t.kind == GR_TOK_STRING ? n + 1 : 1;
    } else {
        read_punct(p, &t);
    }
    return t;
}

void gr_parser_next(gr_parser *p) {
    p->tok = read_token(p);
    p->at = p->tok.offset + p->tok.text.n;
    if (p->tok.kind != GR_TOK_PUNCT) return;
    int c = p->tok.punct;
    if (c == '(' || c == '[' || c == '{') p->nest++;
    if ((c == ')' || c == ']' || c == '}') && p->nest) p->nest--;
}

gr_tok gr_parser_peek(const gr_parser *p) {
    gr_parser copy = *p;
    return read_token(&copy);
}

void gr_parser_init(gr_parser *p, gr_arena *a, gr_diags *d, gr_piece src, bool lines) {
    *p = (gr_parser){.a = a, .d = d, .src = src, .lines = lines};
    if (!src.text.p) p->src.text = GR_STR("");
    if (src.text.n > GR_TEXT_MAX) {
        gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, 0, "the limit is 1 MiB", "a text of %zu bytes", src.text.n);
        p->src.text.n = 0;
    }
    gr_parser_next(p);
}

bool gr_parser_is(const gr_parser *p, int punct) { return p->tok.kind == GR_TOK_PUNCT && p->tok.punct == punct; }
bool gr_parser_is_word(const gr_parser *p, const char *word) { return p->tok.kind == GR_TOK_NAME && gr_str_eqz(p->tok.text, word); }

bool gr_parser_take(gr_parser *p, int punct) {
    if (!gr_parser_is(p, punct)) return false;
    gr_parser_next(p);
    return true;
}

bool gr_parser_take_word(gr_parser *p, const char *word) {
    if (!gr_parser_is_word(p, word)) return false;
    gr_parser_next(p);
    return true;
}

bool gr_parser_expected(gr_parser *p, const char *want) {
    const gr_tok *t = &p->tok;
    if (t->kind == GR_TOK_END)
        return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, t->offset, NULL, "expected %s, found the end of the text", want);
    if (t->kind == GR_TOK_LINE)
        return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, t->offset, NULL, "expected %s, found the end of the line", want);
    size_t n = t->text.n ? t->text.n : 1;
    if (n > 60) n = 60;
    unsigned char c = (unsigned char)t->text.p[0];
    if (c < 0x20 || c >= 0x7F)
        return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, t->offset, NULL, "expected %s, found the byte 0x%02x", want, c);
    return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, t->offset, NULL, "expected %s, found '%.*s'", want, (int)n, t->text.p);
}

bool gr_parser_expect(gr_parser *p, int punct, const char *where) {
    if (gr_parser_take(p, punct)) return true;
    char t[80];
    if (punct == GR_P_ARROW) snprintf(t, sizeof t, "'->' %s", where);
    else snprintf(t, sizeof t, "'%c' %s", punct, where);
    return gr_parser_expected(p, t);
}

bool gr_parser_name(gr_parser *p, const char *what, gr_str *out, uint32_t *offset) {
    if (p->tok.kind != GR_TOK_NAME) return gr_parser_expected(p, what);
    *out = p->tok.text;
    if (offset) *offset = p->tok.offset;
    gr_parser_next(p);
    return true;
}

bool gr_parser_word(gr_parser *p, const char *what, gr_str *out) {
    if (p->tok.kind != GR_TOK_STRING) return gr_parser_name(p, what, out, NULL);
    *out = (gr_str){p->tok.text.p + 1, p->tok.text.n - 2};
    gr_parser_next(p);
    return true;
}

void gr_parser_skip_line(gr_parser *p) {
    while (p->at < p->src.text.n && p->src.text.p[p->at] != '\n') p->at++;
    if (p->tok.kind == GR_TOK_LINE) p->at = p->tok.offset;
    p->nest = 0;
    gr_parser_next(p);
}

gr_nearest gr_nearest_start(gr_str word) { return (gr_nearest){.word = word, .distance = 3}; }
void gr_nearest_add(gr_nearest *n, gr_str candidate) {
    int far = gr_str_distance(n->word, candidate);
    if (far < n->distance && (size_t)far < candidate.n) {
        n->distance = far;
        n->best = candidate;
    }
}
