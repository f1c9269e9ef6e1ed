/* TOML 1.0 scalars: strings, numbers, booleans, dates and times. */
#include "base/value_toml_int.h"

#include <math.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* ---- strings ---- */

static bool fail(gr_toml *t, size_t at, const char *hint, const char *what) {
    return gr_toml_fail(t, GR_D_BASE_TOML_SYNTAX, at, hint, what);
}

static int hex_value(char c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_unicode(gr_toml *t, char *out, size_t *n) {
    size_t start = t->at - 1;
    uint32_t len = gr_toml_peek(t, 0) == 'u' ? 4 : 8, cp = 0;
    for (uint32_t i = 1; i <= len; i++) {
        int h = hex_value(gr_toml_peek(t, i));
        if (h < 0) return fail(t, start, NULL, len == 4 ? "\\u needs four hexadecimal digits" : "\\U needs eight hexadecimal digits");
        cp = cp << 4 | (uint32_t)h;
    }
    if (cp >= 0xD800 && cp <= 0xDFFF)
        return gr_toml_fail(t, GR_D_BASE_BAD_UTF8, start, "write the character itself", "an escape that is half of a surrogate pair");
    if (cp > 0x10FFFF) return fail(t, start, NULL, "an escape beyond U+10FFFF");
    *n += gr_utf8_encode(out + *n, cp);
    t->at += len + 1;
    return true;
}

/* A backslash before the end of a line drops all white space up to the next character. */
static bool skip_continuation(gr_toml *t) {
    size_t i = t->at;
    bool newline = false;
    for (; i < t->n; i++) {
        char c = t->p[i];
        if (c == '\n' || (c == '\r' && i + 1 < t->n && t->p[i + 1] == '\n')) newline = true;
        else if (c != ' ' && c != '\t') break;
    }
    if (newline) t->at = i;
    return newline;
}

static bool parse_escape(gr_toml *t, bool multi, char *out, size_t *n) {
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    char c = gr_toml_peek(t, 0);
    const char *e = c ? strchr(from, c) : NULL;
    if (e) {
        out[(*n)++] = to[e - from];
        t->at++;
        return true;
    }
    if (c == 'u' || c == 'U') return parse_unicode(t, out, n);
    if (multi && skip_continuation(t)) return true;
    return fail(t, t->at - 1, "the escapes are \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX; a literal string in '...' has none",
                "unknown escape in a string");
}

/* Upper bound of the bytes up to the closing quotes, or 0 with a report when there are none. */
static size_t string_extent(gr_toml *t, char q, bool multi, size_t start) {
    for (size_t i = t->at; i < t->n; i++) {
        char c = t->p[i];
        if (c == '\n' && !multi) break;
        if (c == '\\' && q == '"') i++;
        else if (c == q && !multi) return i - t->at + 1;
        else if (c == q && i + 2 < t->n && t->p[i + 1] == q && t->p[i + 2] == q) return i - t->at + 3;
    }
    fail(t, start, multi ? NULL : "a string on several lines takes three quotes", "a string without its closing quote");
    return 0;
}

/* At a quote of a multi-line string: a run of 3 to 5 closes it and leaves up to 2 as content. */
static bool closes(gr_toml *t, char q, char *out, size_t *n) {
    uint32_t run = 0;
    while (run < 5 && gr_toml_peek(t, run) == q) run++;
    uint32_t keep = run < 3 ? run : run - 3;
    for (uint32_t i = 0; i < keep; i++) out[(*n)++] = q;
    t->at += run;
    return run >= 3;
}

static bool string_body(gr_toml *t, char q, bool multi, char *out, size_t *n) {
    while (t->at < t->n) {
        char c = t->p[t->at];
        if (c == q && multi) {
            if (closes(t, q, out, n)) return true;
        } else if (c == q) {
            t->at++;
            return true;
        } else if (c == '\\' && q == '"') {
            t->at++;
            GR_TRY(parse_escape(t, multi, out, n));
        } else if (multi && (c == '\n' || (c == '\r' && gr_toml_peek(t, 1) == '\n'))) {
            out[(*n)++] = '\n';
            t->at += c == '\r' ? 2 : 1;
        } else if (gr_toml_is_control(c)) {
            return fail(t, t->at, "escape it as \\u00XX", "a control character in a string");
        } else {
            out[(*n)++] = c;
            t->at++;
        }
    }
    return fail(t, t->at, NULL, "a string without its closing quote");
}

bool gr_toml_string(gr_toml *t, gr_str *out) {
    size_t start = t->at;
    char q = gr_toml_peek(t, 0);
    bool multi = gr_toml_peek(t, 1) == q && gr_toml_peek(t, 2) == q;
    t->at += multi ? 3 : 1;
    if (multi && gr_toml_peek(t, 0) == '\r' && gr_toml_peek(t, 1) == '\n') t->at += 2;
    else if (multi && gr_toml_peek(t, 0) == '\n') t->at++;
    size_t cap = string_extent(t, q, multi, start);
    if (!cap) return false;
    char *p = gr_arena_alloc(t->a, cap + 8, 1); /* + up to two quotes before the closing three */
    if (!p) return gr_toml_oom(t);
    size_t n = 0;
    GR_TRY(string_body(t, q, multi, p, &n));
    *out = (gr_str){p, n};
    return true;
}

/* ---- dates and times ---- */

/* Exactly n digits at offset i, as a number; -1 otherwise. */
static int digits(gr_str s, size_t i, int n) {
    int v = 0;
    for (int k = 0; k < n; k++, i++) {
        if (i >= s.n || !is_digit(s.p[i])) return -1;
        v = v * 10 + (s.p[i] - '0');
    }
    return v;
}

static bool has(gr_str s, size_t i, char c) { return i < s.n && s.p[i] == c; }

/* YYYY-MM-DD: 10, or 0 when it is none, or a day that does not exist. */
static size_t scan_date(gr_str s) {
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int y = digits(s, 0, 4), m = digits(s, 5, 2), d = digits(s, 8, 2);
    if (y < 0 || m < 1 || m > 12 || d < 1 || !has(s, 4, '-') || !has(s, 7, '-')) return 0;
    bool leap = m == 2 && (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0));
    return d <= days[m - 1] + leap ? 10 : 0;
}

/* HH:MM:SS[.fraction] from i: the offset behind it, or 0. A 60th second is legal (RFC 3339). */
static size_t scan_time(gr_str s, size_t i) {
    int h = digits(s, i, 2), m = digits(s, i + 3, 2), sec = digits(s, i + 6, 2);
    if (h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 60 || !has(s, i + 2, ':') || !has(s, i + 5, ':')) return 0;
    i += 8;
    if (!has(s, i, '.')) return i;
    size_t first = ++i;
    while (i < s.n && is_digit(s.p[i])) i++;
    return i > first ? i : 0;
}

static size_t scan_zone(gr_str s, size_t i) {
    if (has(s, i, 'Z') || has(s, i, 'z')) return i + 1;
    if (!has(s, i, '+') && !has(s, i, '-')) return i;
    int h = digits(s, i + 1, 2), m = digits(s, i + 4, 2);
    return h < 0 || h > 23 || m < 0 || m > 59 || !has(s, i + 3, ':') ? 0 : i + 6;
}

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '+' || c == '-' || c == '.' || c == ':';
}

static bool parse_datetime(gr_toml *t, gr_value *v) {
    gr_str s = {t->p + t->at, t->n - t->at};
    size_t n = 0;
    if (has(s, 4, '-')) {
        n = scan_date(s);
        bool space = n && has(s, n, ' ') && digits(s, n + 1, 2) >= 0 && has(s, n + 3, ':');
        if (n && (has(s, n, 'T') || has(s, n, 't') || space)) {
            n = scan_time(s, n + 1);
            if (n) n = scan_zone(s, n);
        }
    } else {
        n = scan_time(s, 0);
    }
    if (!n || (n < s.n && is_word(s.p[n])))
        return fail(t, t->at, "write 1979-05-27T07:32:00Z, 1979-05-27 07:32:00, 1979-05-27 or 07:32:00", "not a date or time that exists");
    v->kind = GR_V_DATETIME;
    v->s = (gr_str){s.p, n};
    t->at += n;
    return true;
}

/* ---- numbers ---- */

/* Copies w without its underscores, each of which must stand between two digits of the base. */
static bool drop_underscores(gr_toml *t, gr_str w, bool hex, gr_str *out) {
    char *p = gr_arena_alloc(t->a, w.n + 1, 1);
    if (!p) return gr_toml_oom(t);
    size_t n = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (w.p[i] != '_') {
            p[n++] = w.p[i];
            continue;
        }
        bool before = i > 0 && (hex ? hex_value(w.p[i - 1]) >= 0 : is_digit(w.p[i - 1]));
        bool after = i + 1 < w.n && (hex ? hex_value(w.p[i + 1]) >= 0 : is_digit(w.p[i + 1]));
        if (!before || !after) return fail(t, t->at + i, NULL, "an underscore must stand between two digits");
    }
    *out = (gr_str){p, n};
    return true;
}

static bool parse_integer(gr_toml *t, gr_value *v, gr_str s, uint64_t base, bool negative) {
    uint64_t u = 0, most = negative ? (uint64_t)1 << 63 : INT64_MAX;
    for (size_t i = 0; i < s.n; i++) {
        int h = hex_value(s.p[i]);
        if (h < 0 || (uint64_t)h >= base) return fail(t, t->at, NULL, "not a number");
        if (u > (most - (uint64_t)h) / base) return fail(t, t->at, "the range is -2^63 to 2^63 - 1", "an integer beyond 64 bits");
        u = u * base + (uint64_t)h;
    }
    v->kind = GR_V_INT;
    v->i = negative ? (int64_t)(0 - u) : (int64_t)u;
    return true;
}

/* digits [. digits] [e [sign] digits], s without sign: 0 wrong, 1 integer, 2 float. */
static int number_form(gr_str s) {
    size_t i = 0;
    while (i < s.n && is_digit(s.p[i])) i++;
    if (i == 0 || (i > 1 && s.p[0] == '0')) return 0;
    if (i == s.n) return 1;
    if (s.p[i] == '.') {
        size_t first = ++i;
        while (i < s.n && is_digit(s.p[i])) i++;
        if (i == first) return 0;
    }
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        if (i < s.n && (s.p[i] == '+' || s.p[i] == '-')) i++;
        size_t first = i;
        while (i < s.n && is_digit(s.p[i])) i++;
        if (i == first) return 0;
    }
    return i == s.n ? 2 : 0;
}

static bool parse_decimal(gr_toml *t, gr_value *v, gr_str w) {
    bool sign = w.n && (w.p[0] == '+' || w.p[0] == '-'), negative = sign && w.p[0] == '-';
    gr_str s, body = sign ? (gr_str){w.p + 1, w.n - 1} : w;
    if (gr_str_eqz(body, "inf") || gr_str_eqz(body, "nan")) {
        v->kind = GR_V_FLOAT;
        v->f = gr_str_eqz(body, "inf") ? (double)INFINITY : (double)NAN;
        if (negative) v->f = -v->f;
        return true;
    }
    GR_TRY(drop_underscores(t, body, false, &s));
    int form = number_form(s);
    if (form == 0) return fail(t, t->at, s.n > 1 && s.p[0] == '0' && is_digit(s.p[1]) ? "remove the leading zero" : NULL, "not a number");
    if (form == 1) return parse_integer(t, v, s, 10, negative);
    v->kind = GR_V_FLOAT;
    if (!gr_number_f64(t->a, s.p, s.n, &v->f)) return gr_toml_oom(t);
    if (v->f - v->f != 0)
        return fail(t, t->at, "the largest is about 1.797e308; write inf for infinity", "a number beyond the range of a double");
    if (negative) v->f = -v->f;
    return true;
}

static bool parse_number(gr_toml *t, gr_value *v) {
    size_t n = 0;
    while (is_word(gr_toml_peek(t, n))) n++;
    gr_str w = {t->p + t->at, n}, s;
    uint64_t base = gr_str_starts(w, "0x") ? 16 : gr_str_starts(w, "0o") ? 8 : gr_str_starts(w, "0b") ? 2 : 0;
    if (base) {
        if (n == 2) return fail(t, t->at, NULL, "a prefix without digits");
        GR_TRY(drop_underscores(t, (gr_str){w.p + 2, n - 2}, true, &s));
        GR_TRY(parse_integer(t, v, s, base, false));
    } else {
        GR_TRY(parse_decimal(t, v, w));
    }
    t->at += n;
    return true;
}

/* ---- any scalar ---- */

static bool parse_scalar(gr_toml *t, gr_value *v) {
    char c = gr_toml_peek(t, 0);
    gr_str rest = {t->p + t->at, t->n - t->at};
    if (c == '"' || c == '\'') {
        v->kind = GR_V_STRING;
        return gr_toml_string(t, &v->s);
    }
    size_t n = 0;
    while (is_word(gr_toml_peek(t, n))) n++;
    gr_str w = {rest.p, n};
    if (gr_str_eqz(w, "true") || gr_str_eqz(w, "false")) {
        v->kind = GR_V_BOOL;
        v->b = w.p[0] == 't';
        t->at += n;
        return true;
    }
    if (digits(rest, 0, 2) >= 0 && (has(rest, 2, ':') || (digits(rest, 0, 4) >= 0 && has(rest, 4, '-')))) return parse_datetime(t, v);
    if (is_digit(c) || c == '+' || c == '-' || gr_str_eqz(w, "inf") || gr_str_eqz(w, "nan")) return parse_number(t, v);
    return gr_toml_expected(t, "a value", n ? "strings take quotes; booleans are true and false" : NULL);
}

gr_value *gr_toml_scalar(gr_toml *t) {
    gr_value *v = gr_value_new(t->a, GR_V_NONE);
    if (!v) {
        gr_toml_oom(t);
        return NULL;
    }
    v->offset = (uint32_t)t->at;
    return parse_scalar(t, v) ? v : NULL;
}
