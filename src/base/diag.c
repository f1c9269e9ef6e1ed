#include "base/diag.h"

#include "base/value.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct name_row {
    const char *text, *summary;
    gr_severity severity;
    gr_diag_kind kind;
} name_row;

static const name_row names[GR_D_COUNT] = {
#define GR_DIAG(id, text, severity, kind, summary) [GR_D_##id] = {text, summary, severity, kind},
#include "base/names/all.def"
#undef GR_DIAG
};

static const name_row *row(gr_diag_name name) {
    static const name_row none = {"", "", GR_ERROR, GR_DIAG_BUG};
    return name > GR_D_NONE && name < GR_D_COUNT ? &names[name] : &none;
}

const char *gr_diag_text(gr_diag_name name) { return row(name)->text; }
const char *gr_diag_summary(gr_diag_name name) { return row(name)->summary; }
gr_severity gr_diag_severity(gr_diag_name name) { return row(name)->severity; }
gr_diag_kind gr_diag_kind_of(gr_diag_name name) { return row(name)->kind; }

gr_diag_name gr_diag_find(gr_str text) {
    for (int i = GR_D_NONE + 1; i < GR_D_COUNT; i++)
        if (gr_str_eqz(text, names[i].text)) return (gr_diag_name)i;
    return GR_D_NONE;
}

void gr_diags_init(gr_diags *d) {
    *d = (gr_diags){0};
    gr_arena_init(&d->arena, (size_t)64 << 20);
}

void gr_diags_free(gr_diags *d) {
    gr_arena_free(&d->arena);
    *d = (gr_diags){0};
}

void gr_diags_clear(gr_diags *d) {
    gr_diags_free(d);
    gr_diags_init(d);
}

bool gr_diags_has(const gr_diags *d, gr_diag_name name) {
    for (uint32_t i = 0; i < d->list.n; i++)
        if (d->list.v[i].name == name) return true;
    return false;
}

static void count(gr_diags *d, gr_diag_name name) {
    if (row(name)->severity == GR_ERROR) {
        d->errors++;
        if (row(name)->kind > d->worst) d->worst = row(name)->kind;
    } else if (row(name)->severity == GR_WARNING) {
        d->warnings++;
    }
}

static gr_str vformat(gr_arena *a, const char *fmt, va_list ap) {
    va_list ap2;
    va_copy(ap2, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = n < 0 ? NULL : gr_arena_alloc(a, (size_t)n + 1, 1);
    if (p) vsnprintf(p, (size_t)n + 1, fmt, ap2);
    va_end(ap2);
    return p ? (gr_str){p, (size_t)n} : (gr_str){0};
}

static gr_place dup_place(gr_arena *a, gr_place at) {
    at.document = gr_str_dup(a, at.document);
    at.pointer = gr_str_dup(a, at.pointer);
    return at;
}

static bool report_v(gr_diags *d, gr_diag_name name, gr_place at, const char *hint, const char *fmt, va_list ap) {
    count(d, name);
    if (d->list.n >= GR_DIAGS_MAX) {
        d->dropped++;
        return false;
    }
    gr_diag *g = GR_PUSH(&d->arena, &d->list);
    if (!g) {
        d->out_of_memory = true;
        return false;
    }
    g->name = name;
    g->severity = row(name)->severity;
    g->place = dup_place(&d->arena, at);
    g->message = vformat(&d->arena, fmt, ap);
    if (hint) g->hint = gr_str_dup(&d->arena, gr_str_of(hint));
    return false;
}

bool gr_report(gr_diags *d, gr_diag_name name, gr_place at, const char *hint, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report_v(d, name, at, hint, fmt, ap);
    va_end(ap);
    return false;
}

static gr_diag *newest(gr_diags *d) { return d->list.n && !d->dropped ? &d->list.v[d->list.n - 1] : NULL; }

void gr_report_related(gr_diags *d, gr_place at, const char *fmt, ...) {
    gr_diag *g = newest(d);
    if (!g || g->related_n >= sizeof g->related / sizeof *g->related) return;
    va_list ap;
    va_start(ap, fmt);
    g->related[g->related_n++] = (gr_related){dup_place(&d->arena, at), vformat(&d->arena, fmt, ap)};
    va_end(ap);
}

void gr_report_hint(gr_diags *d, const char *fmt, ...) {
    gr_diag *g = newest(d);
    if (!g) return;
    va_list ap;
    va_start(ap, fmt);
    g->hint = vformat(&d->arena, fmt, ap);
    va_end(ap);
}

void gr_report_trail(gr_diags *d, const char *fmt, ...) {
    gr_diag *g = newest(d);
    if (!g) return;
    va_list ap;
    va_start(ap, fmt);
    g->trail = vformat(&d->arena, fmt, ap);
    va_end(ap);
}

bool gr_report_oom(gr_diags *d) {
    if (!d->out_of_memory) count(d, GR_D_BASE_OUT_OF_MEMORY);
    d->out_of_memory = true;
    return false;
}

bool gr_report_bug(gr_diags *d, const char *invariant, const char *file, int line, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report_v(d, GR_D_BASE_INVARIANT, (gr_place){0},
             "this is a bug of Gradus: report it with this text and the input", fmt, ap);
    va_end(ap);
    gr_report_trail(d, "invariant %s at %s:%d", invariant, file, line);
    return false;
}

static const char *severity_word(gr_severity s) {
    return s == GR_ERROR ? "error" : s == GR_WARNING ? "warning" : "note";
}

static void print_place(gr_buf *out, const gr_place *at) {
    gr_buf_str(out, at->document);
    if (at->line) gr_buf_printf(out, "%s%u:%u", at->document.n ? ":" : "", at->line, at->col);
    if (at->pointer.n) gr_buf_printf(out, "%s%.*s", at->document.n || at->line ? " at " : "", GR_STR_ARG(at->pointer));
}

static void print_caret(gr_buf *out, const gr_place *at, gr_str source) {
    if (!at->line || !source.n) return;
    const char *p = source.p, *end = source.p + source.n;
    for (uint32_t l = 1; l < at->line; l++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p) return;
        p++;
    }
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    size_t n = (size_t)((eol ? eol : end) - p);
    if (n > 200) return;
    gr_buf_printf(out, "%6u | %.*s\n       | ", at->line, (int)n, p);
    for (uint32_t c = 1; c < at->col && c <= n; c++) gr_buf_putc(out, p[c - 1] == '\t' ? '\t' : ' ');
    gr_buf_puts(out, "^\n");
}

void gr_diag_print(gr_buf *out, const gr_diag *g, gr_str source) {
    size_t at = out->n;
    print_place(out, &g->place);
    if (out->n > at) gr_buf_puts(out, ": ");
    gr_buf_printf(out, "%s %s: %.*s\n", severity_word(g->severity), gr_diag_text(g->name), GR_STR_ARG(g->message));
    print_caret(out, &g->place, source);
    if (g->hint.n) gr_buf_printf(out, "  hint: %.*s\n", GR_STR_ARG(g->hint));
    for (uint32_t i = 0; i < g->related_n; i++) {
        gr_buf_puts(out, "  related: ");
        print_place(out, &g->related[i].place);
        gr_buf_printf(out, ": %.*s\n", GR_STR_ARG(g->related[i].message));
    }
    if (g->trail.n) gr_buf_printf(out, "  trail: %.*s\n", GR_STR_ARG(g->trail));
}

void gr_diags_print(gr_buf *out, const gr_diags *d, gr_str source) {
    for (uint32_t i = 0; i < d->list.n; i++) gr_diag_print(out, &d->list.v[i], source);
    if (d->dropped) gr_buf_printf(out, "%u further diagnostics not shown\n", d->dropped);
    if (d->out_of_memory)
        gr_buf_printf(out, "error %s: %s\n", gr_diag_text(GR_D_BASE_OUT_OF_MEMORY), gr_diag_summary(GR_D_BASE_OUT_OF_MEMORY));
}

static void json_place(gr_buf *out, const gr_place *at) {
    gr_buf_puts(out, "{\"document\":");
    gr_json_string(out, at->document);
    gr_buf_puts(out, ",\"pointer\":");
    gr_json_string(out, at->pointer);
    gr_buf_printf(out, ",\"line\":%u,\"col\":%u}", at->line, at->col);
}

static void json_diag(gr_buf *out, const gr_diag *g) {
    gr_buf_printf(out, "{\"severity\":\"%s\",\"name\":\"%s\",\"where\":", severity_word(g->severity), gr_diag_text(g->name));
    json_place(out, &g->place);
    gr_buf_puts(out, ",\"message\":");
    gr_json_string(out, g->message);
    gr_buf_puts(out, ",\"hint\":");
    gr_json_string(out, g->hint);
    gr_buf_puts(out, ",\"related\":[");
    for (uint32_t i = 0; i < g->related_n; i++) {
        gr_buf_puts(out, i ? ",{\"where\":" : "{\"where\":");
        json_place(out, &g->related[i].place);
        gr_buf_puts(out, ",\"message\":");
        gr_json_string(out, g->related[i].message);
        gr_buf_putc(out, '}');
    }
    gr_buf_puts(out, "],\"trail\":");
    gr_json_string(out, g->trail);
    gr_buf_putc(out, '}');
}

void gr_diags_print_json(gr_buf *out, const gr_diags *d) {
    gr_buf_putc(out, '[');
    for (uint32_t i = 0; i < d->list.n; i++) {
        if (i) gr_buf_putc(out, ',');
        json_diag(out, &d->list.v[i]);
    }
    if (d->out_of_memory) {
        gr_diag g = {.name = GR_D_BASE_OUT_OF_MEMORY, .severity = GR_ERROR,
                     .message = gr_str_of(gr_diag_summary(GR_D_BASE_OUT_OF_MEMORY))};
        if (d->list.n) gr_buf_putc(out, ',');
        json_diag(out, &g);
    }
    gr_buf_putc(out, ']');
}

int gr_diags_exit_code(const gr_diags *d) {
    if (!d->errors) return 0;
    return d->worst == GR_DIAG_BUG ? 1 : d->worst == GR_DIAG_ENVIRONMENT ? 3 : 2;
}

void gr_text_line_col(gr_str text, size_t offset, uint32_t *line, uint32_t *col) {
    if (offset > text.n) offset = text.n;
    *line = *col = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text.p[i] == '\n') {
            ++*line;
            *col = 1;
        } else if (((unsigned char)text.p[i] & 0xC0) != 0x80) {
            ++*col;
        }
    }
}

gr_place gr_place_at(gr_str document, gr_str text, size_t offset) {
    gr_place at = {.document = document};
    gr_text_line_col(text, offset, &at.line, &at.col);
    return at;
}
