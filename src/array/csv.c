/* Numeric CSV. Two passes: the first counts good rows, so that memory is bounded by the text. */
#include "array/array.h"

#include <stdlib.h>

enum { CELL_MAX = 255 };

typedef struct reader {
    gr_arena *a;
    gr_diags *d;
    gr_str name, text;
    size_t at;
    uint32_t line; /* of the line returned last, from 1 */
    char separator;
    uint32_t columns;
} reader;

typedef struct cell {
    gr_str text; /* trimmed, without quotes */
    size_t offset; /* in the line */
    bool quoted, open; /* open: its quote does not end */
} cell;

static gr_str trim(gr_str s) {
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s.p++, s.n--;
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r')) s.n--;
    return s;
}

/* The next line that is neither blank nor a comment; without its newline. */
static bool next_line(reader *r, gr_str *line) {
    while (r->at < r->text.n) {
        const char *from = r->text.p + r->at, *end = memchr(from, '\n', r->text.n - r->at);
        size_t n = end ? (size_t)(end - from) : r->text.n - r->at;
        r->at += n + (end != NULL);
        r->line++;
        *line = (gr_str){from, n};
        if (n && from[n - 1] == '\r') line->n--;
        gr_str t = trim(*line);
        bool only_tabs = t.n == 0 && memchr(from, '\t', n) != NULL && r->separator == '\t';
        if ((t.n || only_tabs) && !(t.n && t.p[0] == '#')) return true;
    }
    return false;
}

static void rewind_to(reader *r, size_t at, uint32_t line) { r->at = at, r->line = line; }

/* Cells of a line one after the other; *at starts at 0. False behind the last. */
static bool next_cell(const reader *r, gr_str line, size_t *at, cell *c) {
    if (*at > line.n) return false;
    size_t i = *at;
    bool sep_is_tab = r->separator == '\t';
    while (i < line.n && (line.p[i] == ' ' || (line.p[i] == '\t' && !sep_is_tab))) i++;
    *c = (cell){.offset = i};
    if (i < line.n && line.p[i] == '"') {
        size_t from = ++i;
        while (i < line.n && (line.p[i] != '"' || (i + 1 < line.n && line.p[i + 1] == '"'))) i += line.p[i] == '"' ? 2 : 1;
        c->quoted = true;
        c->open = i >= line.n;
        c->text = (gr_str){line.p + from, (i < line.n ? i : line.n) - from};
    }
    const char *end = i < line.n ? memchr(line.p + i, r->separator, line.n - i) : NULL;
    size_t stop = end ? (size_t)(end - line.p) : line.n;
    if (!c->quoted) c->text = trim((gr_str){line.p + c->offset, stop > c->offset ? stop - c->offset : 0});
    *at = stop + 1;
    return true;
}

static uint32_t count_cells(const reader *r, gr_str line) {
    uint32_t n = 0;
    cell c;
    for (size_t at = 0; n < UINT32_MAX && next_cell(r, line, &at, &c);) n++;
    return n;
}

/* The strongest one outside quotes: tab, then ';', then ','. */
static char find_separator(gr_str line) {
    bool quoted = false, semicolon = false;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '"') quoted = !quoted;
        if (!quoted && line.p[i] == '\t') return '\t';
        semicolon = semicolon || (!quoted && line.p[i] == ';');
    }
    return semicolon ? ';' : ',';
}

static size_t digits(gr_str s, size_t i) {
    size_t n = 0;
    while (i + n < s.n && s.p[i + n] >= '0' && s.p[i + n] <= '9') n++;
    return n;
}

static bool equals_lower(gr_str s, const char *z) {
    size_t n = strlen(z);
    if (s.n != n) return false;
    for (size_t i = 0; i < n; i++)
        if ((s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + 32 : s.p[i]) != z[i]) return false;
    return true;
}

/* A decimal number, nan or inf with sign: what strtod then reads. *integer: no point and no exponent. */
static bool is_number(gr_str s, bool *integer) {
    size_t i = s.n && (s.p[0] == '+' || s.p[0] == '-');
    *integer = false;
    gr_str rest = {s.p + i, s.n - i};
    if (equals_lower(rest, "nan") || equals_lower(rest, "inf") || equals_lower(rest, "infinity")) return true;
    size_t whole = digits(s, i), part = 0;
    i += whole;
    *integer = true;
    if (i < s.n && s.p[i] == '.') {
        part = digits(s, ++i);
        i += part;
        *integer = false;
    }
    if (whole + part == 0) return false;
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        if (i < s.n && (s.p[i] == '+' || s.p[i] == '-')) i++;
        size_t exponent = digits(s, i);
        if (exponent == 0) return false;
        i += exponent;
        *integer = false;
    }
    return i == s.n;
}

static bool is_truth(gr_str s) { return equals_lower(s, "true") || equals_lower(s, "false"); }

static bool is_missing(gr_str s) {
    return s.n == 0 || equals_lower(s, "na") || equals_lower(s, "n/a") || equals_lower(s, "null") || gr_str_eqz(s, "?");
}

static gr_place place(const reader *r, gr_str line, size_t offset) {
    uint32_t l, col;
    gr_text_line_col(line, offset, &l, &col);
    return (gr_place){.document = r->name, .line = r->line, .col = col};
}

static int shown(gr_str s) { return (int)(s.n < 40 ? s.n : 40); }

/* Whole numbers keep all digits; lo and hi are the ends of the type. */
static bool parse_integer(gr_str s, int64_t lo, uint64_t hi, int64_t *out) {
    bool negative = s.p[0] == '-';
    uint64_t v = 0, most = negative ? 0 - (uint64_t)lo : hi;
    for (size_t i = negative || s.p[0] == '+'; i < s.n; i++) {
        uint64_t digit = (uint64_t)(s.p[i] - '0');
        if (v > (UINT64_MAX - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *out = (int64_t)(negative ? 0 - v : v);
    return v <= most;
}

static void integer_range(gr_dtype t, int64_t *lo, uint64_t *hi) {
    uint32_t bits = 8 * gr_dtype_size(t);
    *hi = UINT64_MAX >> (64 - bits);
    *lo = 0;
    if (t == GR_DTYPE_BOOL) *hi = 1;
    else if (gr_dtype_is_signed(t)) *hi >>= 1, *lo = -(int64_t)*hi - 1;
}

/* Stores one number; false when it does not fit the type. */
static bool store_number(gr_array *x, uint64_t i, gr_str s, bool integer) {
    char z[CELL_MAX + 1];
    memcpy(z, s.p, s.n);
    z[s.n] = 0;
    bool named = s.p[s.n - 1] > '9' && (s.p[s.n - 1] | 32) != 'e'; /* nan, inf */
    if (x->dtype == GR_DTYPE_F32) {
        float f = strtof(z, NULL);
        ((float *)x->data)[i] = f;
        return named || f - f == 0;
    }
    double v = strtod(z, NULL);
    if (gr_dtype_is_float(x->dtype)) {
        gr_array_set_f64(x, i, v);
        v = gr_array_get_f64(x, i);
        return named || v - v == 0;
    }
    int64_t lo, n = 0;
    uint64_t hi;
    integer_range(x->dtype, &lo, &hi);
    if (integer && !parse_integer(s, lo, hi, &n)) return false;
    if (!integer) { /* 1e3 and 5.0 are whole numbers too */
        if (!(v >= (double)lo && v <= (double)hi && v > -0x1p53 && v < 0x1p53)) return false;
        n = (int64_t)v;
        if ((double)n != v) return false;
    }
    gr_array_set_i64(x, i, n);
    return true;
}

static bool bad_number(reader *r, gr_str line, const cell *c) {
    const char *hint = NULL;
    if (c->open) hint = "a quote that is opened must end on the same line";
    else if (r->separator != ',' && memchr(c->text.p, ',', c->text.n)) hint = "write decimals with a point, not a comma";
    else if (c->text.n > CELL_MAX) hint = "a number has at most 255 characters";
    return gr_report(r->d, GR_D_ARRAY_CSV_NUMBER, place(r, line, c->offset), hint, "'%.*s' is not a number",
                     shown(c->text), c->text.p);
}

static bool read_cell(reader *r, gr_str line, const cell *c, gr_array *x, uint64_t i) {
    bool integer;
    if (!c->open && is_missing(c->text))
        return gr_report(r->d, GR_D_ARRAY_CSV_MISSING, place(r, line, c->offset),
                         "fill it in, or write nan if the value is unknown", "the value is missing");
    if (x->dtype == GR_DTYPE_BOOL && is_truth(c->text)) {
        gr_array_set_i64(x, i, c->text.n == 4);
        return true;
    }
    if (c->open || c->text.n > CELL_MAX || !is_number(c->text, &integer)) return bad_number(r, line, c);
    if (store_number(x, i, c->text, integer)) return true;
    return gr_report(r->d, GR_D_ARRAY_CSV_RANGE, place(r, line, c->offset), "choose a wider type",
                     "%.*s does not fit %s", shown(c->text), c->text.p, gr_dtype_name(x->dtype));
}

/* A header names most columns: at least half of the cells are neither numbers nor empty. */
static bool is_header(const reader *r, gr_str line, gr_dtype t) {
    uint32_t words = 0;
    cell c;
    bool integer;
    for (size_t at = 0; next_cell(r, line, &at, &c);)
        words += !is_missing(c.text) && !is_number(c.text, &integer) && !(t == GR_DTYPE_BOOL && is_truth(c.text));
    return words > 0 && words >= r->columns - words;
}

static gr_str unquote(gr_arena *a, const cell *c) {
    gr_str s = gr_str_dup(a, c->text);
    if (!s.p || !c->quoted) return s;
    char *p = (char *)(uintptr_t)s.p;
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        p[n++] = s.p[i];
        if (s.p[i] == '"' && i + 1 < s.n && s.p[i + 1] == '"') i++;
    }
    p[n] = 0;
    return (gr_str){p, n};
}

static bool read_names(reader *r, gr_str line, gr_csv *csv) {
    csv->names = GR_NEW_N(r->a, gr_str, r->columns);
    if (!csv->names) return gr_report_oom(r->d);
    cell c;
    uint32_t i = 0;
    for (size_t at = 0; i < r->columns && next_cell(r, line, &at, &c); i++) {
        csv->names[i] = unquote(r->a, &c);
        if (!csv->names[i].p) return gr_report_oom(r->d);
    }
    return true;
}

/* A report costs a walk over its line, so a hopeless file is left once the sink is full. */
static bool hopeless(const reader *r) { return r->d->list.n >= GR_DIAGS_MAX; }

/* Rows with the right number of cells; the others are reported. */
static uint64_t count_rows(reader *r) {
    gr_str line;
    uint64_t rows = 0;
    while (!hopeless(r) && next_line(r, &line)) {
        uint32_t n = count_cells(r, line);
        if (n == r->columns) rows++;
        else
            gr_report(r->d, GR_D_ARRAY_CSV_COLUMNS, place(r, line, 0), NULL, "%u cells, where the first line has %u", n,
                      r->columns);
    }
    return rows;
}

static bool read_rows(reader *r, gr_array *x) {
    gr_str line;
    cell c;
    uint64_t i = 0;
    bool ok = true;
    while (!hopeless(r) && next_line(r, &line)) {
        if (count_cells(r, line) != r->columns) continue;
        for (size_t at = 0; !hopeless(r) && next_cell(r, line, &at, &c); i++) ok = read_cell(r, line, &c, x, i) && ok;
    }
    return ok && !hopeless(r);
}

bool gr_csv_read(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_dtype t, gr_csv *out) {
    reader r = {.a = a, .d = d, .name = name, .text = text};
    if (gr_str_starts(text, "\xEF\xBB\xBF")) r.at = 3;
    gr_csv csv = {0};
    size_t start = r.at;
    gr_str line;
    uint32_t errors = d->errors;
    if (!next_line(&r, &line))
        return gr_report(d, GR_D_ARRAY_CSV_EMPTY, (gr_place){.document = name}, NULL, "the file holds no line of numbers");
    r.separator = find_separator(line);
    r.columns = csv.columns = count_cells(&r, line);
    if (is_header(&r, line, t)) {
        GR_TRY(read_names(&r, line, &csv));
        start = r.at;
    } else {
        rewind_to(&r, start, 0);
    }
    uint32_t start_line = r.line;
    uint64_t dims[2] = {count_rows(&r), r.columns};
    if (dims[0] == 0 && d->errors == errors)
        return gr_report(d, GR_D_ARRAY_CSV_EMPTY, (gr_place){.document = name}, NULL, "the file holds no line of numbers");
    GR_TRY(gr_array_new(a, d, t, dims, 2, &csv.values));
    rewind_to(&r, start, start_line);
    if (!read_rows(&r, &csv.values) || d->errors != errors) return false;
    *out = csv;
    return true;
}

/* A name is quoted where a reader would take it apart; line ends, which a cell cannot hold, become '_'. */
static void put_name(gr_buf *out, gr_str s) {
    bool plain = s.n > 0 && s.p[0] != '#' && s.p[0] != ' ' && s.p[s.n - 1] != ' ' && !gr_str_starts(s, "\xEF\xBB\xBF");
    for (size_t i = 0; i < s.n; i++) plain = plain && s.p[i] && !strchr("\",;\t", s.p[i]);
    if (!plain) gr_buf_putc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"') gr_buf_putc(out, '"');
        gr_buf_putc(out, s.p[i] == '\n' || s.p[i] == '\r' ? '_' : s.p[i]);
    }
    if (!plain) gr_buf_putc(out, '"');
}

bool gr_csv_write(gr_buf *out, gr_diags *d, const gr_array *x, const gr_str *names) {
    if (x->rank > 2)
        return gr_report(d, GR_D_ARRAY_CSV_RANK, (gr_place){0}, "write NPY, or slice or reshape it to two dimensions",
                         "an array of %u dimensions is no table", x->rank);
    uint64_t columns = x->rank == 2 ? x->dims[1] : 1, n = gr_array_count(x);
    for (uint64_t i = 0; names && i < columns; i++) {
        if (i) gr_buf_putc(out, ',');
        put_name(out, names[i]);
        if (i + 1 == columns) gr_buf_putc(out, '\n');
    }
    for (uint64_t i = 0; i < n; i++) {
        gr_array_print_element(out, x, i);
        gr_buf_putc(out, (i + 1) % columns ? ',' : '\n');
    }
    return out->failed ? gr_report_oom(d) : true;
}
