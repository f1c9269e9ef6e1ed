#include "base/scan.h"

#include <stdlib.h>

bool gr_scan_fail(gr_scan *s, const char *what) {
    if (!s->failed) gr_report(s->d, s->name, gr_place_at(s->document, s->text, s->token_at), NULL, "%s", what);
    s->failed = true;
    return false;
}

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
static bool is_mark(char c) { return c == '{' || c == '}' || c == '=' || c == ','; }

gr_str gr_scan_token(gr_scan *s) {
    const char *p = s->text.p;
    size_t n = s->text.n;
    while (s->at < n && is_space(p[s->at])) s->at++;
    s->token_at = s->at;
    if (s->failed || s->at >= n) return (gr_str){"", 0};
    size_t from = s->at++;
    if (p[from] == '"') {
        while (s->at < n && p[s->at] != '"') s->at += p[s->at] == '\\' ? 2 : 1;
        s->at = s->at < n ? s->at + 1 : n;
    } else if (!is_mark(p[from])) {
        while (s->at < n && !is_space(p[s->at]) && !is_mark(p[s->at]) && p[s->at] != '"') s->at++;
    }
    return (gr_str){p + from, s->at - from};
}

gr_str gr_scan_peek(gr_scan *s) {
    size_t at = s->at;
    gr_str t = gr_scan_token(s);
    s->at = at;
    return t;
}

bool gr_scan_is(gr_scan *s, const char *word) {
    if (s->failed || !gr_str_eqz(gr_scan_peek(s), word)) return false;
    gr_scan_token(s);
    return true;
}

bool gr_scan_expect(gr_scan *s, const char *word) {
    gr_str t = gr_scan_token(s);
    if (!s->failed && gr_str_eqz(t, word)) return true;
    if (s->failed) return false;
    gr_report(s->d, s->name, gr_place_at(s->document, s->text, s->token_at), NULL, "expected \"%s\", found \"%.*s\"", word,
              (int)(t.n < 40 ? t.n : 40), t.p);
    s->failed = true;
    return false;
}

bool gr_scan_u64(gr_scan *s, uint64_t *out) {
    gr_str t = gr_scan_token(s);
    *out = 0;
    if (t.n == 0 || t.n > 20) return gr_scan_fail(s, "expected a number");
    for (size_t i = 0; i < t.n; i++) {
        uint64_t digit = (uint64_t)(t.p[i] - '0');
        if (t.p[i] < '0' || t.p[i] > '9' || *out > (UINT64_MAX - digit) / 10) return gr_scan_fail(s, "expected a number");
        *out = *out * 10 + digit;
    }
    return true;
}

bool gr_scan_u32(gr_scan *s, uint32_t *out) {
    uint64_t v;
    *out = 0;
    GR_TRY(gr_scan_u64(s, &v));
    if (v > UINT32_MAX) return gr_scan_fail(s, "the number does not fit 32 bits");
    *out = (uint32_t)v;
    return true;
}

bool gr_scan_f64(gr_scan *s, double *out) {
    char z[64], *end;
    gr_str t = gr_scan_token(s);
    *out = 0;
    if (t.n == 0 || t.n >= sizeof z) return gr_scan_fail(s, "expected a number");
    memcpy(z, t.p, t.n);
    z[t.n] = 0;
    *out = strtod(z, &end);
    return *end == 0 || gr_scan_fail(s, "expected a number");
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

static bool escape(gr_str t, size_t *i, char *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = t.p[++*i];
    if (c == 'u') { /* the writer escapes control bytes only */
        if (*i + 4 >= t.n) return false;
        int h = hex_digit(t.p[*i + 3]), l = hex_digit(t.p[*i + 4]);
        if (t.p[*i + 1] != '0' || t.p[*i + 2] != '0' || h < 0 || h > 7 || l < 0) return false;
        *out = (char)(h * 16 + l);
        *i += 4;
        return true;
    }
    const char *p = strchr(from, c);
    if (!p || !c) return false;
    *out = to[p - from];
    return true;
}

bool gr_scan_string(gr_scan *s, gr_str *out) {
    gr_str t = gr_scan_token(s);
    *out = (gr_str){"", 0};
    if (t.n < 2 || t.p[0] != '"' || t.p[t.n - 1] != '"') return gr_scan_fail(s, "expected a quoted string");
    char *p = gr_arena_alloc(s->arena, t.n, 1);
    size_t n = 0;
    if (!p) {
        s->failed = true;
        return gr_report_oom(s->d);
    }
    for (size_t i = 1; i + 1 < t.n; i++) {
        p[n] = t.p[i];
        if (t.p[i] == '\\' && (i + 2 >= t.n || !escape(t, &i, &p[n]))) return gr_scan_fail(s, "an escape that strings do not have");
        n++;
    }
    *out = (gr_str){p, n};
    return true;
}

bool gr_scan_name(gr_scan *s, gr_str *out) {
    gr_str t = gr_scan_peek(s);
    if (t.n && t.p[0] == '"') return gr_scan_string(s, out);
    *out = gr_scan_token(s);
    return out->n > 0 || gr_scan_fail(s, "expected a name");
}

bool gr_scan_hash(gr_scan *s, gr_sha256 *out) {
    gr_str t = gr_scan_token(s);
    return (!s->failed && gr_sha256_parse(t, out)) || gr_scan_fail(s, "expected sha256: and 64 hex digits");
}

bool gr_scan_hex(gr_scan *s, uint8_t **out, uint64_t *n) {
    gr_str t = gr_scan_token(s);
    *n = 0;
    *out = NULL;
    if (gr_str_eqz(t, "-")) return true;
    if (t.n == 0 || t.n % 2) return gr_scan_fail(s, "expected hex digits");
    *out = gr_arena_alloc(s->arena, t.n / 2, 1);
    if (!*out) {
        s->failed = true;
        return gr_report_oom(s->d);
    }
    for (size_t i = 0; i < t.n / 2; i++) {
        int h = hex_digit(t.p[2 * i]), l = hex_digit(t.p[2 * i + 1]);
        if (h < 0 || l < 0) return gr_scan_fail(s, "expected hex digits");
        (*out)[i] = (uint8_t)(h * 16 + l);
    }
    *n = t.n / 2;
    return true;
}

bool gr_scan_block(gr_scan *s, gr_str *out) {
    *out = (gr_str){"", 0};
    GR_TRY(gr_scan_expect(s, "{"));
    const char *p = s->text.p;
    size_t end = s->text.n, n = 0, lines = 0, stop = s->at;
    while (stop < end) { /* the first line that starts with neither white space nor a bar ends the block */
        while (stop < end && is_space(p[stop])) stop++;
        if (stop >= end || p[stop] != '|') break;
        while (stop < end && p[stop] != '\n') stop++;
    }
    char *text = gr_arena_alloc(s->arena, stop - s->at + 1, 1);
    if (!text) {
        s->failed = true;
        return gr_report_oom(s->d);
    }
    for (;;) {
        while (s->at < end && is_space(p[s->at])) s->at++;
        s->token_at = s->at;
        if (s->at >= end || p[s->at] != '|') break;
        s->at++;
        if (s->at < end && p[s->at] == ' ') s->at++;
        if (lines++) text[n++] = '\n';
        while (s->at < end && p[s->at] != '\n') text[n++] = p[s->at++];
    }
    *out = (gr_str){text, n};
    return gr_scan_expect(s, "}");
}

void gr_scan_skip_line(gr_scan *s) {
    while (s->at < s->text.n && s->text.p[s->at] != '\n') s->at++;
}

bool gr_scan_at_end(gr_scan *s) {
    return !s->failed && gr_scan_peek(s).n == 0;
}

void gr_buf_block(gr_buf *b, gr_str text, const char *indent) {
    gr_buf_puts(b, "{\n");
    for (size_t from = 0; from <= text.n;) {
        const char *nl = from < text.n ? memchr(text.p + from, '\n', text.n - from) : NULL;
        size_t to = nl ? (size_t)(nl - text.p) : text.n;
        gr_buf_printf(b, "%s| ", indent);
        gr_buf_put(b, text.p + from, to - from);
        gr_buf_putc(b, '\n');
        from = to + 1;
    }
    gr_buf_printf(b, "%s}\n", indent);
}

void gr_buf_quoted(gr_buf *b, gr_str s) {
    gr_buf_putc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\') gr_buf_putc(b, '\\');
        if (c < 32) gr_buf_printf(b, "\\u%04x", c);
        else gr_buf_putc(b, (char)c);
    }
    gr_buf_putc(b, '"');
}

void gr_buf_name(gr_buf *b, gr_str s) {
    bool bare = s.n > 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bare = bare && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/');
    }
    if (bare) gr_buf_str(b, s);
    else gr_buf_quoted(b, s);
}

void gr_buf_hex(gr_buf *b, const uint8_t *p, uint64_t n) {
    static const char digit[] = "0123456789abcdef";
    if (n == 0) gr_buf_putc(b, '-');
    for (uint64_t i = 0; i < n; i++) {
        gr_buf_putc(b, digit[p[i] >> 4]);
        gr_buf_putc(b, digit[p[i] & 15]);
    }
}
