#include "base/lex.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 256, SHOWN = 60, KEYS_MAX = 1000 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_first(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name(char c) { return is_first(c) || is_digit(c) || (c && strchr("./@~-", c)); }

static char look(const gr_lex *l, size_t ahead) { return l->at + ahead < l->text.n ? l->text.p[l->at + ahead] : 0; }

static void step(gr_lex *l) {
    char c = l->text.p[l->at++];
    if (c == '\n') l->line++, l->col = 1;
    else if (((unsigned char)c & 0xC0) != 0x80) l->col++;
}

static void skip_blank(gr_lex *l) {
    while (l->at < l->text.n) {
        char c = look(l, 0);
        if (c == '#') while (l->at < l->text.n && look(l, 0) != '\n') step(l);
        else if (c == ' ' || c == '\t' || c == '\r') step(l);
        else return;
    }
}

/* "inf" after an optional minus; true moves past it. */
static bool scan_special(gr_lex *l) {
    size_t sign = look(l, 0) == '-';
    gr_str rest = {l->text.p + l->at + sign, l->text.n - l->at - sign};
    if (!gr_str_starts(rest, "inf") && !gr_str_starts(rest, "nan")) return false;
    if (is_name(look(l, sign + 3))) return false;
    for (size_t i = 0; i < sign + 3; i++) step(l);
    return true;
}

static void scan_number(gr_lex *l) {
    step(l);
    while (is_digit(look(l, 0)) || look(l, 0) == '.' || look(l, 0) == 'e' || look(l, 0) == 'E' ||
           ((look(l, 0) == '-' || look(l, 0) == '+') && strchr("eE", l->text.p[l->at - 1])))
        step(l);
}

static gr_token_kind scan_string(gr_lex *l) {
    step(l);
    while (l->at < l->text.n && look(l, 0) != '"' && look(l, 0) != '\n') {
        if (look(l, 0) == '\\' && l->at + 1 < l->text.n && look(l, 1) != '\n') step(l);
        step(l);
    }
    if (look(l, 0) != '"') return GR_TOKEN_NONE;
    step(l);
    return GR_TOKEN_STRING;
}

static gr_token_kind scan(gr_lex *l) {
    char c = look(l, 0);
    if (l->at >= l->text.n) return GR_TOKEN_END;
    if (c == '\n') { step(l); return GR_TOKEN_LINE; }
    if (c == '"') return scan_string(l);
    if (is_digit(c) || (c == '-' && is_digit(look(l, 1)))) { scan_number(l); return GR_TOKEN_NUMBER; }
    if ((c == '-' || c == 'i' || c == 'n') && scan_special(l)) return GR_TOKEN_NUMBER;
    if (c == '%' && is_name(look(l, 1))) {
        step(l);
        while (is_name(look(l, 0))) step(l);
        return GR_TOKEN_VALUE;
    }
    if (is_first(c)) {
        while (is_name(look(l, 0))) step(l);
        return GR_TOKEN_WORD;
    }
    step(l);
    while (((unsigned char)look(l, 0) & 0xC0) == 0x80) step(l); /* a character whole */
    return GR_TOKEN_MARK;
}

static void scan_next(gr_lex *l) {
    skip_blank(l);
    gr_token t = {.line = l->line, .col = l->col};
    size_t from = l->at;
    t.kind = scan(l);
    t.text = (gr_str){l->text.p + from, l->at - from};
    if (t.kind == GR_TOKEN_VALUE) t.text = (gr_str){t.text.p + 1, t.text.n - 1};
    l->now = t;
}

void gr_lex_init(gr_lex *l, gr_arena *a, gr_diags *d, gr_diag_name syntax, gr_str document, gr_str text) {
    if (!text.p) text = GR_STR("");
    *l = (gr_lex){.a = a, .d = d, .syntax = syntax, .document = document, .text = text, .line = 1, .col = 1};
    scan_next(l);
}

gr_token gr_lex_take(gr_lex *l) {
    gr_token t = l->now;
    scan_next(l);
    return t;
}

gr_place gr_lex_place(const gr_lex *l, gr_token t) {
    return (gr_place){.document = l->document, .line = t.line, .col = t.col};
}

bool gr_lex_expected(gr_lex *l, const char *what, const char *hint) {
    gr_token t = l->now;
    l->errors++;
    gr_place at = gr_lex_place(l, t);
    int n = t.text.n > SHOWN ? SHOWN : (int)t.text.n;
    if (t.kind == GR_TOKEN_END) return gr_report(l->d, l->syntax, at, hint, "expected %s, found the end of the text", what);
    if (t.kind == GR_TOKEN_LINE) return gr_report(l->d, l->syntax, at, hint, "expected %s, found the end of the line", what);
    if (t.kind == GR_TOKEN_NONE) return gr_report(l->d, l->syntax, at, "close the string on its line", "a string without its closing quote");
    return gr_report(l->d, l->syntax, at, hint, "expected %s, found '%s%.*s'", what, t.kind == GR_TOKEN_VALUE ? "%" : "", n, t.text.p);
}

bool gr_lex_is_mark(const gr_lex *l, char c) { return l->now.kind == GR_TOKEN_MARK && l->now.text.p[0] == c; }
bool gr_lex_is_word(const gr_lex *l, const char *word) { return l->now.kind == GR_TOKEN_WORD && gr_str_eqz(l->now.text, word); }

bool gr_lex_try_mark(gr_lex *l, char c) {
    bool is = gr_lex_is_mark(l, c);
    if (is) scan_next(l);
    return is;
}

bool gr_lex_try_word(gr_lex *l, const char *word) {
    bool is = gr_lex_is_word(l, word);
    if (is) scan_next(l);
    return is;
}

bool gr_lex_mark(gr_lex *l, char c) {
    char what[4] = {'\'', c, '\'', 0};
    return gr_lex_try_mark(l, c) || gr_lex_expected(l, what, NULL);
}

static bool take_kind(gr_lex *l, gr_token_kind kind, const char *what, gr_str *out) {
    if (l->now.kind != kind) return gr_lex_expected(l, what, NULL);
    *out = gr_lex_take(l).text;
    return true;
}

bool gr_lex_word(gr_lex *l, const char *what, gr_str *out) { return take_kind(l, GR_TOKEN_WORD, what, out); }
bool gr_lex_value(gr_lex *l, const char *what, gr_str *out) { return take_kind(l, GR_TOKEN_VALUE, what, out); }

bool gr_lex_string(gr_lex *l, const char *what, gr_str *out) {
    gr_token t = l->now;
    GR_TRY(take_kind(l, GR_TOKEN_STRING, what, out));
    gr_str inner = {t.text.p + 1, t.text.n - 2};
    if (!memchr(inner.p, '\\', inner.n)) {
        *out = inner;
        return true;
    }
    gr_doc doc;
    if (!gr_json_parse(l->a, l->d, l->document, t.text, &doc)) {
        l->errors++;
        return false;
    }
    *out = doc.root->s;
    return true;
}

/* ---- numbers ---- */

static bool read_u64(gr_str s, uint64_t *out) {
    uint64_t v = 0;
    if (!s.n) return false;
    for (size_t i = 0; i < s.n; i++) {
        uint64_t x = (uint64_t)(s.p[i] - '0');
        if (!is_digit(s.p[i]) || v > (UINT64_MAX - x) / 10) return false;
        v = v * 10 + x;
    }
    *out = v;
    return true;
}

static bool read_float(gr_str s, double *out) {
    char z[128], *end;
    if (!s.n || s.n >= sizeof z) return false;
    for (size_t i = 0; i < s.n; i++) /* strtod takes more, such as 0x10 */
        if (!is_digit(s.p[i]) && (!s.p[i] || !strchr(".eE+-", s.p[i]))) return false;
    memcpy(z, s.p, s.n);
    z[s.n] = 0;
    *out = strtod(z, &end);
    return end == z + s.n;
}

bool gr_number_parse(gr_str s, gr_value *out) {
    bool minus = s.n && s.p[0] == '-';
    gr_str digits = {s.p + minus, s.n - minus};
    uint64_t u;
    if (read_u64(digits, &u) && !(minus && (u == 0 || u > (uint64_t)1 << 63))) {
        out->kind = !minus && u > INT64_MAX ? GR_V_UINT : GR_V_INT;
        if (out->kind == GR_V_UINT) out->u = u;
        else out->i = minus ? (int64_t)(0 - u) : (int64_t)u;
        return true;
    }
    out->kind = GR_V_FLOAT;
    if (gr_str_eqz(digits, "inf")) out->f = minus ? -(double)INFINITY : (double)INFINITY;
    else if (gr_str_eqz(digits, "nan")) out->f = (double)NAN;
    else return digits.n && is_digit(digits.p[0]) && read_float(s, &out->f);
    return true;
}

bool gr_lex_u64(gr_lex *l, const char *what, uint64_t *out) {
    if (l->now.kind != GR_TOKEN_NUMBER || !read_u64(l->now.text, out)) return gr_lex_expected(l, what, NULL);
    scan_next(l);
    return true;
}

/* ---- lines ---- */

void gr_lex_skip_lines(gr_lex *l) {
    while (l->now.kind == GR_TOKEN_LINE) scan_next(l);
}

bool gr_lex_line(gr_lex *l) {
    if (l->now.kind == GR_TOKEN_END || gr_lex_is_mark(l, '}')) return true;
    if (l->now.kind != GR_TOKEN_LINE) return gr_lex_expected(l, "the end of the line", "one statement a line");
    gr_lex_skip_lines(l);
    return true;
}

void gr_lex_recover(gr_lex *l) {
    while (l->now.kind != GR_TOKEN_END && l->now.kind != GR_TOKEN_LINE) scan_next(l);
    gr_lex_skip_lines(l);
}

/* ---- JSON inside a text ---- */

static gr_value *lex_json(gr_lex *l, int depth);

static gr_value *oom(gr_lex *l) {
    l->errors++;
    gr_report_oom(l->d);
    return NULL;
}

static gr_value *json_array(gr_lex *l, gr_value *v, int depth) {
    v->kind = GR_V_ARRAY;
    for (bool first = true;; first = false) {
        gr_lex_skip_lines(l);
        if (gr_lex_try_mark(l, ']')) return v;
        if (!first && !gr_lex_mark(l, ',')) return NULL;
        gr_value *e = lex_json(l, depth + 1);
        GR_TRY_NULL(e);
        if (!gr_value_push(l->a, v, e)) return oom(l);
    }
}

/* Keys are strings or words; of two equal keys the later counts. */
static gr_value *json_object(gr_lex *l, gr_value *v, int depth) {
    v->kind = GR_V_OBJECT;
    for (bool first = true;; first = false) {
        gr_lex_skip_lines(l);
        if (gr_lex_try_mark(l, '}')) return v;
        if (!first && !gr_lex_mark(l, ',')) return NULL;
        gr_lex_skip_lines(l);
        gr_str key;
        bool word = l->now.kind == GR_TOKEN_WORD;
        GR_TRY_NULL(word ? gr_lex_word(l, "a key", &key) : gr_lex_string(l, "a key", &key));
        GR_TRY_NULL(gr_lex_mark(l, ':'));
        gr_value *e = lex_json(l, depth + 1);
        GR_TRY_NULL(e);
        if (v->object.n >= KEYS_MAX) return gr_lex_expected(l, "at most 1000 keys in an object", NULL), NULL;
        char *z = gr_arena_strndup(l->a, key.p, key.n);
        if (!z || !gr_value_set(l->a, v, z, e)) return oom(l);
    }
}

static gr_value *json_word(gr_lex *l, gr_value *v) {
    gr_str w = gr_lex_take(l).text;
    if (gr_str_eqz(w, "null")) v->kind = GR_V_NULL;
    else if (gr_str_eqz(w, "true") || gr_str_eqz(w, "false")) {
        v->kind = GR_V_BOOL;
        v->b = w.p[0] == 't';
    } else {
        v->kind = GR_V_STRING;
        v->s = w;
    }
    return v;
}

static gr_value *lex_json(gr_lex *l, int depth) {
    if (depth > GR_VALUE_DEPTH) {
        l->errors++;
        gr_report(l->d, GR_D_BASE_TOO_DEEP, gr_lex_place(l, l->now), "the limit is 128 levels", "lists and objects nest too deeply");
        return NULL;
    }
    gr_lex_skip_lines(l);
    gr_value *v = gr_value_new(l->a, GR_V_NONE);
    if (!v) return oom(l);
    if (gr_lex_try_mark(l, '[')) return json_array(l, v, depth);
    if (gr_lex_try_mark(l, '{')) return json_object(l, v, depth);
    if (l->now.kind == GR_TOKEN_WORD) return json_word(l, v);
    if (l->now.kind == GR_TOKEN_STRING) {
        v->kind = GR_V_STRING;
        return gr_lex_string(l, "a string", &v->s) ? v : NULL;
    }
    if (l->now.kind == GR_TOKEN_NUMBER && gr_number_parse(l->now.text, v)) {
        scan_next(l);
        return v;
    }
    gr_lex_expected(l, "a JSON value", NULL);
    return NULL;
}

gr_value *gr_lex_json(gr_lex *l) { return lex_json(l, 0); }

static void inline_value(gr_buf *out, const gr_value *v, int depth) {
    if (!v || depth > 4 * GR_VALUE_DEPTH) { gr_buf_puts(out, "null"); return; }
    switch (v->kind) {
    case GR_V_NONE:
    case GR_V_NULL: gr_buf_puts(out, "null"); break;
    case GR_V_BOOL: gr_buf_puts(out, v->b ? "true" : "false"); break;
    case GR_V_INT: gr_buf_printf(out, "%lld", (long long)v->i); break;
    case GR_V_UINT: gr_buf_printf(out, "%llu", (unsigned long long)v->u); break;
    case GR_V_FLOAT: gr_buf_f64(out, v->f); break;
    case GR_V_STRING:
    case GR_V_DATETIME: gr_json_string(out, v->s); break;
    case GR_V_ARRAY:
        gr_buf_putc(out, '[');
        for (uint32_t i = 0; i < v->array.n; i++) {
            if (i) gr_buf_puts(out, ", ");
            inline_value(out, v->array.v[i], depth + 1);
        }
        gr_buf_putc(out, ']');
        break;
    case GR_V_OBJECT:
        gr_buf_putc(out, '{');
        for (uint32_t i = 0; i < v->object.n; i++) {
            gr_buf_puts(out, i ? ", " : " ");
            gr_json_string(out, v->object.v[i].key);
            gr_buf_puts(out, ": ");
            inline_value(out, v->object.v[i].value, depth + 1);
        }
        gr_buf_puts(out, v->object.n ? " }" : "}");
        break;
    }
}

void gr_json_inline(gr_buf *out, const gr_value *v) { inline_value(out, v, 0); }

/* ---- index of lines ---- */

bool gr_lines_init(gr_arena *a, gr_str text, gr_lines *out) {
    *out = (gr_lines){.text = text};
    out->mark = gr_arena_alloc(a, text.n / STEP + 1, sizeof *out->mark);
    if (!out->mark) return false;
    uint32_t line = 1, col = 1;
    for (size_t i = 0; i <= text.n; i++) {
        if (i % STEP == 0) out->mark[i / STEP].line = line, out->mark[i / STEP].col = col;
        if (i == text.n) break;
        if (text.p[i] == '\n') line++, col = 1;
        else if (((unsigned char)text.p[i] & 0xC0) != 0x80) col++;
    }
    return true;
}

void gr_lines_at(const gr_lines *l, size_t offset, uint32_t *line, uint32_t *col) {
    if (offset > l->text.n) offset = l->text.n;
    size_t i = offset / STEP * STEP;
    *line = l->mark[i / STEP].line;
    *col = l->mark[i / STEP].col;
    for (; i < offset; i++) {
        if (l->text.p[i] == '\n') ++*line, *col = 1;
        else if (((unsigned char)l->text.p[i] & 0xC0) != 0x80) ++*col;
    }
}
