/* RFC 8259 reader: strict, recursive to GR_VALUE_DEPTH, stops at the first syntax error. */
#include "base/value_int.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct json {
    gr_arena *a;
    gr_diags *d;
    gr_str name;
    const char *p; /* text */
    size_t n, at;
    uint32_t depth, errors;
} json;

static gr_value *parse_value(json *j);

static void *fail_at(json *j, gr_diag_name name, size_t at, const char *hint, const char *what) {
    j->errors++;
    gr_report(j->d, name, gr_place_at(j->name, (gr_str){j->p, j->n}, at), hint, "%s", what);
    return NULL;
}

static void *oom(json *j) {
    j->errors++;
    gr_report_oom(j->d);
    return NULL;
}

/* "expected X, found 'c'" at the reading position. */
static void *unexpected(json *j, const char *want, const char *hint) {
    char t[160];
    unsigned char c = j->at < j->n ? (unsigned char)j->p[j->at] : 0;
    int len = j->at < j->n ? (int)gr_utf8_decode(j->p + j->at, j->n - j->at, NULL) : 0;
    if (j->at >= j->n) snprintf(t, sizeof t, "expected %s, found the end of the text", want);
    else if (c < 0x20 || c == 0x7F) snprintf(t, sizeof t, "expected %s, found the byte 0x%02x", want, c);
    else snprintf(t, sizeof t, "expected %s, found '%.*s'", want, len, j->p + j->at);
    return fail_at(j, GR_D_BASE_JSON_SYNTAX, j->at, hint, t);
}

static char peek(const json *j) { return j->at < j->n ? j->p[j->at] : 0; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip_space(json *j) {
    while (j->at < j->n && (j->p[j->at] == ' ' || j->p[j->at] == '\t' || j->p[j->at] == '\n' || j->p[j->at] == '\r')) j->at++;
}

static int hex4(const json *j, size_t at) {
    int v = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = i < j->n ? j->p[i] : 0;
        int h = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (h < 0) return -1;
        v = v * 16 + h;
    }
    return v;
}

/* After the backslash at j->at - 1: writes the character; false when reported. */
static bool parse_escape(json *j, char *out, size_t *n) {
    size_t start = j->at - 1;
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *e = peek(j) ? strchr(from, peek(j)) : NULL;
    if (e) {
        out[(*n)++] = to[e - from];
        j->at++;
        return true;
    }
    if (peek(j) != 'u')
        return fail_at(j, GR_D_BASE_JSON_SYNTAX, start, "the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX",
                       "unknown escape in a string");
    int hi = hex4(j, j->at + 1);
    if (hi < 0) return fail_at(j, GR_D_BASE_JSON_SYNTAX, start, NULL, "\\u needs four hexadecimal digits");
    j->at += 5;
    uint32_t cp = (uint32_t)hi;
    if (hi >= 0xD800 && hi <= 0xDBFF && j->at + 1 < j->n && j->p[j->at] == '\\' && j->p[j->at + 1] == 'u') {
        int lo = hex4(j, j->at + 2);
        if (lo >= 0xDC00 && lo <= 0xDFFF) {
            cp = 0x10000u + ((cp - 0xD800u) << 10) + ((uint32_t)lo - 0xDC00u);
            j->at += 6;
        }
    }
    if (cp >= 0xD800 && cp <= 0xDFFF)
        return fail_at(j, GR_D_BASE_BAD_UTF8, start, "write both halves of the pair, or the character itself",
                       "a surrogate without its other half");
    *n += gr_utf8_encode(out + *n, cp);
    return true;
}

/* Position on the opening quote. A string without escapes is a view of the text. */
static bool parse_string(json *j, gr_str *out) {
    size_t start = ++j->at, end = start;
    while (end < j->n && j->p[end] != '"' && j->p[end] != '\\' && (unsigned char)j->p[end] >= 0x20) end++;
    if (end < j->n && j->p[end] == '"') {
        *out = (gr_str){j->p + start, end - start};
        j->at = end + 1;
        return true;
    }
    size_t stop = end; /* decoded text is never longer than its source */
    while (stop < j->n && j->p[stop] != '"') stop += j->p[stop] == '\\' ? 2 : 1;
    if (stop >= j->n) return fail_at(j, GR_D_BASE_JSON_SYNTAX, start - 1, NULL, "a string without its closing quote");
    char *t = gr_arena_alloc(j->a, stop - start + 1, 1);
    if (!t) return oom(j);
    size_t n = 0;
    for (j->at = start; j->p[j->at] != '"';) {
        char c = j->p[j->at];
        if ((unsigned char)c < 0x20)
            return fail_at(j, GR_D_BASE_JSON_SYNTAX, j->at, "write \\n, \\t or \\u00XX", "a control character in a string must be escaped");
        j->at++;
        if (c != '\\') t[n++] = c;
        else GR_TRY(parse_escape(j, t, &n));
    }
    j->at++;
    *out = (gr_str){t, n};
    return true;
}

static bool digits(json *j) {
    if (!is_digit(peek(j))) return unexpected(j, "a digit", NULL);
    while (is_digit(peek(j))) j->at++;
    return true;
}

/* Digits of an integer: false when beyond 64 bits. */
static bool read_u64(const char *p, size_t n, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)(p[i] - '0');
        if (v > (UINT64_MAX - x) / 10) return false;
        v = v * 10 + x;
    }
    *out = v;
    return true;
}

/* -0 stays a float, since an integer has no sign of zero. */
static bool set_integer(gr_value *v, bool negative, const char *p, size_t n) {
    uint64_t u;
    if (!read_u64(p, n, &u) || (negative && (u == 0 || u > (uint64_t)1 << 63))) return false;
    v->kind = !negative && u > INT64_MAX ? GR_V_UINT : GR_V_INT;
    if (v->kind == GR_V_UINT) v->u = u;
    else v->i = negative ? (int64_t)(0 - u) : (int64_t)u;
    return true;
}

static gr_value *parse_number(json *j, gr_value *v) {
    size_t start = j->at;
    bool negative = peek(j) == '-', integer = true;
    if (negative) j->at++;
    size_t first = j->at;
    GR_TRY_NULL(digits(j));
    if (j->p[first] == '0' && j->at - first > 1)
        return fail_at(j, GR_D_BASE_JSON_SYNTAX, first, "remove the leading zero", "a number must not start with 0");
    size_t last = j->at;
    if (peek(j) == '.') {
        integer = false;
        j->at++;
        GR_TRY_NULL(digits(j));
    }
    if (peek(j) == 'e' || peek(j) == 'E') {
        integer = false;
        j->at++;
        if (peek(j) == '+' || peek(j) == '-') j->at++;
        GR_TRY_NULL(digits(j));
    }
    if (integer && set_integer(v, negative, j->p + first, last - first)) return v;
    v->kind = GR_V_FLOAT;
    if (!gr_number_f64(j->a, j->p + start, j->at - start, &v->f)) return oom(j);
    if (v->f - v->f != 0)
        return fail_at(j, GR_D_BASE_JSON_SYNTAX, start, "the largest is about 1.797e308", "a number beyond the range of a double");
    return v;
}

static gr_value *parse_word(json *j, gr_value *v) {
    static const struct {
        const char *z;
        gr_value_kind kind;
        bool b;
    } word[] = {{"null", GR_V_NULL, false}, {"true", GR_V_BOOL, true}, {"false", GR_V_BOOL, false}};
    gr_str rest = {j->p + j->at, j->n - j->at};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        if (!gr_str_starts(rest, word[i].z)) continue;
        v->kind = word[i].kind;
        if (v->kind == GR_V_BOOL) v->b = word[i].b;
        j->at += strlen(word[i].z);
        return v;
    }
    return unexpected(j, "a value",
                      gr_str_starts(rest, "NaN") || gr_str_starts(rest, "Infinity") ? "JSON has no NaN and no infinity"
                      : peek(j) == '\''                                             ? "strings take double quotes"
                                                                                    : NULL);
}

static gr_value *parse_array(json *j, gr_value *v) {
    v->kind = GR_V_ARRAY;
    j->at++;
    skip_space(j);
    if (peek(j) == ']') {
        j->at++;
        return v;
    }
    for (;;) {
        gr_value *e = parse_value(j);
        if (!e) return NULL;
        if (!gr_value_push(j->a, v, e)) return oom(j);
        skip_space(j);
        if (peek(j) == ']') {
            j->at++;
            return v;
        }
        if (peek(j) != ',') return unexpected(j, "',' or ']'", NULL);
        j->at++;
        skip_space(j);
        if (peek(j) == ']') return unexpected(j, "a value", "remove the comma before ']'");
    }
}

static int by_key(const void *x, const void *y) {
    const gr_member *a = *(gr_member *const *)x, *b = *(gr_member *const *)y;
    int c = gr_str_cmp(a->key, b->key);
    return c ? c : (a->offset > b->offset) - (a->offset < b->offset);
}

static void duplicate(json *j, const gr_member *second, const gr_member *first) {
    if (j->errors >= GR_READER_ERRORS) return;
    gr_str text = {j->p, j->n};
    int n = second->key.n > 80 ? 80 : (int)second->key.n;
    j->errors++;
    gr_report(j->d, GR_D_BASE_JSON_DUPLICATE_KEY, gr_place_at(j->name, text, second->offset), "keep one of the two",
              "the key \"%.*s\" is there twice", n, second->key.p);
    gr_report_related(j->d, gr_place_at(j->name, text, first->offset), "first here");
}

/* Sorting keeps the check O(n log n) whatever the keys are. */
static bool check_keys(json *j, const gr_value *v) {
    uint32_t n = v->object.n;
    gr_member *m = v->object.v;
    if (n <= 8) {
        for (uint32_t i = 1; i < n; i++)
            for (uint32_t k = 0; k < i; k++)
                if (gr_str_eq(m[i].key, m[k].key)) {
                    duplicate(j, &m[i], &m[k]);
                    break;
                }
        return true;
    }
    gr_member **s = gr_heap_alloc(n, sizeof *s);
    if (!s) return oom(j);
    for (uint32_t i = 0; i < n; i++) s[i] = &m[i];
    qsort(s, n, sizeof *s, by_key);
    for (uint32_t i = 1; i < n; i++)
        if (gr_str_eq(s[i]->key, s[i - 1]->key)) duplicate(j, s[i], s[i - 1]);
    gr_heap_free(s);
    return true;
}

static bool parse_member(json *j, gr_value *v) {
    if (peek(j) != '"') return unexpected(j, "a key in double quotes", peek(j) == '}' ? "remove the comma before '}'" : NULL);
    uint32_t offset = (uint32_t)j->at;
    gr_str key;
    GR_TRY(parse_string(j, &key));
    skip_space(j);
    if (peek(j) != ':') return unexpected(j, "':' after the key", NULL);
    j->at++;
    gr_value *e = parse_value(j);
    GR_TRY(e);
    return gr_value_add(j->a, v, key, e, offset) || oom(j);
}

static gr_value *parse_object(json *j, gr_value *v) {
    v->kind = GR_V_OBJECT;
    j->at++;
    skip_space(j);
    if (peek(j) == '}') {
        j->at++;
        return v;
    }
    for (;;) {
        GR_TRY_NULL(parse_member(j, v));
        skip_space(j);
        if (peek(j) == '}') {
            j->at++;
            return check_keys(j, v) ? v : NULL;
        }
        if (peek(j) != ',') return unexpected(j, "',' or '}'", NULL);
        j->at++;
        skip_space(j);
    }
}

static gr_value *parse_value(json *j) {
    skip_space(j);
    char c = peek(j);
    if (c == '[' || c == '{') {
        if (j->depth >= GR_VALUE_DEPTH)
            return fail_at(j, GR_D_BASE_TOO_DEEP, j->at, "the limit is 128 levels", "arrays and objects nest too deeply");
    }
    gr_value *v = gr_value_new(j->a, GR_V_NONE);
    if (!v) return oom(j);
    v->offset = (uint32_t)j->at;
    if (c == '"') {
        v->kind = GR_V_STRING;
        return parse_string(j, &v->s) ? v : NULL;
    }
    if (c == '-' || is_digit(c)) return parse_number(j, v);
    if (c != '[' && c != '{') return parse_word(j, v);
    j->depth++;
    v = c == '[' ? parse_array(j, v) : parse_object(j, v);
    j->depth--;
    return v;
}

bool gr_json_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_doc *out) {
    json j = {.a = a, .d = d, .name = name, .p = text.p ? text.p : "", .n = text.n};
    *out = (gr_doc){.name = name, .text = text};
    if (text.n >= UINT32_MAX)
        return gr_report(d, GR_D_BASE_FILE_TOO_LARGE, (gr_place){.document = name}, "the limit is 4 GiB", "the text has %zu bytes", text.n);
    size_t bad = gr_utf8_check((gr_str){j.p, j.n});
    if (bad < j.n) return fail_at(&j, GR_D_BASE_BAD_UTF8, bad, "save the file as UTF-8", "not valid UTF-8");
    if (gr_str_starts((gr_str){j.p, j.n}, "\xEF\xBB\xBF"))
        return fail_at(&j, GR_D_BASE_JSON_SYNTAX, 0, "save the file without it", "the text starts with a byte order mark");
    gr_value *v = parse_value(&j);
    if (!v) return false;
    skip_space(&j);
    if (j.at < j.n) return unexpected(&j, "the end of the text", "a document holds one value");
    if (j.errors) return false;
    out->root = v;
    return true;
}
