/* Writers: RFC 8785 canonical JSON and a pretty form. */
#include "base/value_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WRITE_DEPTH = 4 * GR_VALUE_DEPTH };

/* ---- numbers ---- */

/* Adds one unit in the last place to n decimal digits; a carry out leaves "1000..." and
 * raises the exponent. */
static void digits_up(char *t, int n, int *exp10) {
    int i = n - 1;
    while (i >= 0 && t[i] == '9') t[i--] = '0';
    if (i >= 0) {
        t[i]++;
        return;
    }
    t[0] = '1'; /* all nines: 10^n, whose further digits are zero already */
    ++*exp10;
}

static bool reads_back(const char *t, int n, int exp10, double v) {
    char z[48];
    snprintf(z, sizeof z, "%c.%.*se%d", t[0], n - 1, t + 1, exp10);
    return strtod(z, NULL) == v;
}

/* Shortest digits d1 d2 .. dn with v = d1.d2..dn * 10^exp10, v > 0 finite. For each length
 * the nearest decimal is tried and then the one above it: below a power of two doubles lie
 * twice as dense, so the nearest may fail where its upper neighbour reads back. */
static int shortest(char t[20], double v, int *exp10) {
    for (int n = 1; n <= 17; n++) {
        char z[40];
        snprintf(z, sizeof z, "%.*e", n - 1, v);
        char *e = strchr(z, 'e');
        *exp10 = (int)strtol(e + 1, NULL, 10);
        t[0] = z[0];
        memcpy(t + 1, z + 2, (size_t)(n - 1));
        if (reads_back(t, n, *exp10, v)) return n;
        char up[20];
        int up_exp = *exp10;
        memcpy(up, t, (size_t)n);
        digits_up(up, n, &up_exp);
        if (!reads_back(up, n, up_exp, v)) continue;
        memcpy(t, up, (size_t)n);
        *exp10 = up_exp;
        return n;
    }
    return 17;
}

static void zeros(gr_buf *out, int n) {
    while (n-- > 0) gr_buf_putc(out, '0');
}

void gr_number_ecma(gr_buf *out, double v) {
    if (v == 0) {
        gr_buf_putc(out, '0');
        return;
    }
    if (v < 0) {
        gr_buf_putc(out, '-');
        v = -v;
    }
    char t[20];
    int e, k = shortest(t, v, &e), n = e + 1; /* k digits, the point after n of them */
    if (k <= n && n <= 21) {
        gr_buf_put(out, t, (size_t)k);
        zeros(out, n - k);
    } else if (0 < n && n <= 21) {
        gr_buf_put(out, t, (size_t)n);
        gr_buf_putc(out, '.');
        gr_buf_put(out, t + n, (size_t)(k - n));
    } else if (-6 < n && n <= 0) {
        gr_buf_puts(out, "0.");
        zeros(out, -n);
        gr_buf_put(out, t, (size_t)k);
    } else {
        gr_buf_putc(out, t[0]);
        if (k > 1) gr_buf_putc(out, '.');
        gr_buf_put(out, t + 1, (size_t)(k - 1));
        gr_buf_printf(out, "e%c%d", n > 0 ? '+' : '-', abs(n - 1));
    }
}

/* ---- strings ---- */

static void put_char(gr_buf *out, unsigned char c) {
    static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
    const char *e = c ? strchr(from, c) : NULL;
    if (e) {
        gr_buf_putc(out, '\\');
        gr_buf_putc(out, to[e - from]);
    } else if (c < 0x20) gr_buf_printf(out, "\\u%04x", c);
    else gr_buf_putc(out, (char)c);
}

/* RFC 8785 3.2.2.2. A byte that is not UTF-8 is written as U+FFFD, so the output is JSON always. */
void gr_json_string(gr_buf *out, gr_str s) {
    gr_buf_putc(out, '"');
    for (size_t i = 0; i < s.n;) {
        uint32_t len = gr_utf8_decode(s.p + i, s.n - i, NULL);
        if (len == 1) put_char(out, (unsigned char)s.p[i]);
        else if (len) gr_buf_put(out, s.p + i, len);
        else gr_buf_puts(out, "\xEF\xBF\xBD");
        i += len ? len : 1;
    }
    gr_buf_putc(out, '"');
}

/* Order of UTF-16 code units, on UTF-8: the order of bytes, save that a pair of surrogates
 * (lead byte F0..F4) sorts below U+E000..U+FFFF (lead bytes EE, EF). */
static int utf16_cmp(gr_str a, gr_str b) {
    size_t n = a.n < b.n ? a.n : b.n;
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a.p[i], y = (unsigned char)b.p[i];
        if (x == y) continue;
        if (x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0)) return x >= 0xF0 ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return (a.n > b.n) - (a.n < b.n);
}

static int by_key(const void *x, const void *y) {
    return utf16_cmp((*(const gr_member *const *)x)->key, (*(const gr_member *const *)y)->key);
}

/* ---- trees ---- */

typedef struct writer {
    gr_buf *out;
    bool pretty;
} writer;

static bool write_value(writer *w, const gr_value *v, int depth);

static void new_line(writer *w, int depth) {
    if (!w->pretty) return;
    gr_buf_putc(w->out, '\n');
    for (int i = 0; i < depth; i++) gr_buf_puts(w->out, "  ");
}

static bool text_ok(const writer *w, gr_str s) { return w->pretty || gr_utf8_check(s) == s.n; }

static bool write_member(writer *w, const gr_member *m, int depth) {
    if (!text_ok(w, m->key)) return false;
    gr_json_string(w->out, m->key);
    gr_buf_puts(w->out, w->pretty ? ": " : ":");
    return write_value(w, m->value, depth);
}

static bool write_object(writer *w, const gr_value *v, int depth) {
    uint32_t n = v->object.n;
    gr_member **m = n ? gr_heap_alloc(n, sizeof *m) : NULL;
    if (n && !m) return !(w->out->failed = true);
    for (uint32_t i = 0; i < n; i++) m[i] = &v->object.v[i];
    if (!w->pretty && n) qsort(m, n, sizeof *m, by_key);
    bool ok = true;
    gr_buf_putc(w->out, '{');
    for (uint32_t i = 0; i < n && ok; i++) {
        if (i) gr_buf_putc(w->out, ',');
        new_line(w, depth + 1);
        ok = write_member(w, m[i], depth + 1);
    }
    if (n) new_line(w, depth);
    gr_buf_putc(w->out, '}');
    gr_heap_free(m);
    return ok;
}

/* Arrays of scalars stay on one line in the pretty form. */
static bool is_flat(const gr_value *v) {
    for (uint32_t i = 0; i < v->array.n; i++) {
        const gr_value *e = v->array.v[i];
        if (e && (e->kind == GR_V_ARRAY || e->kind == GR_V_OBJECT)) return false;
    }
    return true;
}

static bool write_array(writer *w, const gr_value *v, int depth) {
    bool flat = !w->pretty || is_flat(v);
    gr_buf_putc(w->out, '[');
    for (uint32_t i = 0; i < v->array.n; i++) {
        if (i) gr_buf_puts(w->out, w->pretty && flat ? ", " : ",");
        if (!flat) new_line(w, depth + 1);
        GR_TRY(write_value(w, v->array.v[i], depth + 1));
    }
    if (!flat && v->array.n) new_line(w, depth);
    gr_buf_putc(w->out, ']');
    return true;
}

static bool write_value(writer *w, const gr_value *v, int depth) {
    if (!v || depth > WRITE_DEPTH) return false;
    switch (v->kind) {
    case GR_V_NULL: gr_buf_puts(w->out, "null"); return true;
    case GR_V_BOOL: gr_buf_puts(w->out, v->b ? "true" : "false"); return true;
    case GR_V_INT: gr_buf_printf(w->out, "%lld", (long long)v->i); return true;
    case GR_V_UINT: gr_buf_printf(w->out, "%llu", (unsigned long long)v->u); return true;
    case GR_V_FLOAT:
        if (v->f - v->f != 0) return false;
        if (w->pretty && v->f == 0 && signbit(v->f)) gr_buf_puts(w->out, "-0");
        else gr_number_ecma(w->out, v->f);
        return true;
    case GR_V_STRING:
    case GR_V_DATETIME:
        if (!text_ok(w, v->s)) return false;
        gr_json_string(w->out, v->s);
        return true;
    case GR_V_ARRAY: return write_array(w, v, depth);
    case GR_V_OBJECT: return write_object(w, v, depth);
    case GR_V_NONE: break;
    }
    return false;
}

bool gr_json_canonical(gr_buf *out, const gr_value *v) {
    writer w = {out, false};
    return write_value(&w, v, 0) && !out->failed;
}

bool gr_json_pretty(gr_buf *out, const gr_value *v) {
    writer w = {out, true};
    GR_TRY(write_value(&w, v, 0));
    gr_buf_putc(out, '\n');
    return !out->failed;
}
