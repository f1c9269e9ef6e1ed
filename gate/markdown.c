/* CommonMark to HTML by md4c's parser, with our own writer: nothing of the text reaches the page unescaped. */
#include "gate/finding.h"

#include <math.h>
#include <stdio.h>

void gate_html_signed(gr_buf *b, const char *z) {
    for (; *z; z++)
        if (*z == '-' && z[1] >= '0' && z[1] <= '9') gr_buf_puts(b, "\xE2\x88\x92");
        else if (*z == ' ' && z[1] == '%') gr_buf_puts(b, "\xC2\xA0");
        else gr_buf_putc(b, *z);
}

void gate_html_percent(gr_buf *b, double share, int decimals) {
    char z[64];
    double v = 100 * share;
    snprintf(z, sizeof z, "%+.*f %%", decimals, fabs(v) < 0.5 * pow(10, -decimals) ? 0 : v);
    gate_html_signed(b, z);
}

/* Text with its citations as links to sections. */
static void cited(gr_buf *b, const gate_index *x, const gate_finding *f, gr_str s) {
    size_t from = 0, end = 0, at = 0;
    gr_str id;
    uint32_t n;
    for (; gate_citation(s, &from, &end, &id, &n); from = at = end) {
        const gate_finding *to = id.n ? gate_index_find(x, id) : f;
        gr_str shown = {s.p + from, end - from};
        if (!to) { /* a word before it that is no finding */
            to = f;
            while ((unsigned char)*shown.p != 0xc2) shown.p++, shown.n--;
        }
        gr_buf_html(b, (gr_str){s.p + at, (size_t)(shown.p - s.p) - at});
        gr_buf_printf(b, "<a href=\"%.*s.html#s%u\">", GR_STR_ARG(to->id), n);
        gr_buf_html(b, shown);
        gr_buf_puts(b, "</a>");
    }
    gr_buf_html(b, (gr_str){s.p + at, s.n - at});
}

#ifdef GATE_HAVE_MD4C

#include <md4c.h>

typedef struct writer {
    gr_buf *b;
    const gate_index *x;
    const gate_finding *f;
    int image, code; /* depth: inside, text is not cited */
} writer;

static gr_str view(const MD_ATTRIBUTE *a) { return (gr_str){a->text, a->size}; }

/* Pages link to pages and mail, never to a script. */
static bool harmless(gr_str s) {
    static const char *const schemes[] = {"http://", "https://", "mailto:", NULL};
    for (int i = 0; schemes[i]; i++)
        if (gr_str_starts(s, schemes[i])) return true;
    for (size_t i = 0; i < s.n && s.p[i] != '/' && s.p[i] != '#' && s.p[i] != '?'; i++)
        if (s.p[i] == ':' || s.p[i] == '&' || (unsigned char)s.p[i] < 0x21) return false;
    return true;
}

static void link_open(writer *w, gr_str to) {
    gr_buf_puts(w->b, "<a href=\"");
    if (harmless(to)) gr_buf_html(w->b, to);
    else gr_buf_puts(w->b, "#");
    gr_buf_puts(w->b, "\">");
}

static const char *block_tag(MD_BLOCKTYPE t, void *detail, char heading[4]) {
    switch (t) {
    case MD_BLOCK_QUOTE: return "blockquote";
    case MD_BLOCK_UL: return "ul";
    case MD_BLOCK_OL: return "ol";
    case MD_BLOCK_LI: return "li";
    case MD_BLOCK_P: return "p";
    case MD_BLOCK_TABLE: return "table";
    case MD_BLOCK_THEAD: return "thead";
    case MD_BLOCK_TBODY: return "tbody";
    case MD_BLOCK_TR: return "tr";
    case MD_BLOCK_TH: return "th";
    case MD_BLOCK_TD: return "td";
    case MD_BLOCK_H: { /* below the page's h1 and the section's h2 */
        unsigned level = ((MD_BLOCK_H_DETAIL *)detail)->level + 2;
        heading[0] = 'h', heading[1] = (char)('0' + (level > 6 ? 6 : level)), heading[2] = 0;
        return heading;
    }
    default: return NULL;
    }
}

static int enter_block(MD_BLOCKTYPE t, void *detail, void *user) {
    writer *w = user;
    char heading[4];
    const char *tag = block_tag(t, detail, heading);
    if (t == MD_BLOCK_HR) gr_buf_puts(w->b, "<hr>\n");
    if (t == MD_BLOCK_CODE || t == MD_BLOCK_HTML) gr_buf_puts(w->b, "<pre tabindex=\"0\"><code>"), w->code++;
    if (tag) gr_buf_printf(w->b, "<%s>", tag);
    return 0;
}

static int leave_block(MD_BLOCKTYPE t, void *detail, void *user) {
    writer *w = user;
    char heading[4];
    const char *tag = block_tag(t, detail, heading);
    if (t == MD_BLOCK_CODE || t == MD_BLOCK_HTML) gr_buf_puts(w->b, "</code></pre>\n"), w->code--;
    if (tag) gr_buf_printf(w->b, "</%s>\n", tag);
    return 0;
}

static int enter_span(MD_SPANTYPE t, void *detail, void *user) {
    writer *w = user;
    switch (t) {
    case MD_SPAN_EM: gr_buf_puts(w->b, "<em>"); break;
    case MD_SPAN_STRONG: gr_buf_puts(w->b, "<strong>"); break;
    case MD_SPAN_CODE: gr_buf_puts(w->b, "<code>"), w->code++; break;
    case MD_SPAN_A: link_open(w, view(&((MD_SPAN_A_DETAIL *)detail)->href)), w->code++; break;
    case MD_SPAN_IMG: w->image++; break; /* its text stands for it: pages load nothing */
    default: break;
    }
    return 0;
}

static int leave_span(MD_SPANTYPE t, void *detail, void *user) {
    (void)detail;
    writer *w = user;
    switch (t) {
    case MD_SPAN_EM: gr_buf_puts(w->b, "</em>"); break;
    case MD_SPAN_STRONG: gr_buf_puts(w->b, "</strong>"); break;
    case MD_SPAN_CODE: gr_buf_puts(w->b, "</code>"), w->code--; break;
    case MD_SPAN_A: gr_buf_puts(w->b, "</a>"), w->code--; break;
    case MD_SPAN_IMG: w->image--; break;
    default: break;
    }
    return 0;
}

static int text(MD_TEXTTYPE t, const MD_CHAR *s, MD_SIZE n, void *user) {
    writer *w = user;
    gr_str v = {s, n};
    if (t == MD_TEXT_BR) gr_buf_puts(w->b, "<br>\n");
    else if (t == MD_TEXT_SOFTBR) gr_buf_putc(w->b, '\n');
    else if (t == MD_TEXT_NULLCHAR) gr_buf_puts(w->b, "\xEF\xBF\xBD");
    else if (w->code || t != MD_TEXT_NORMAL) gr_buf_html(w->b, v);
    else cited(w->b, w->x, w->f, v);
    return 0;
}

void gate_markdown(gr_buf *b, const gate_index *x, const gate_finding *f, gr_str source) {
    gr_buf expanded = {0};
    gate_figures_expand(&expanded, f, source);
    writer w = {.b = b, .x = x, .f = f};
    MD_PARSER p = {.flags = MD_FLAG_NOHTML | MD_FLAG_TABLES, .enter_block = enter_block, .leave_block = leave_block, .enter_span = enter_span, .leave_span = leave_span, .text = text};
    if (expanded.failed || md_parse(expanded.p ? expanded.p : "", (MD_SIZE)expanded.n, &p, &w) != 0) b->failed = true;
    gr_buf_free(&expanded);
}

#else

void gate_markdown(gr_buf *b, const gate_index *x, const gate_finding *f, gr_str source) {
    gr_buf expanded = {0};
    gate_figures_expand(&expanded, f, source);
    gr_str s = gr_buf_view(&expanded);
    for (size_t i = 0; i < s.n;) {
        const char *gap = strstr(s.p + i, "\n\n");
        size_t n = gap ? (size_t)(gap - s.p) - i : s.n - i;
        gr_buf_puts(b, "<p>");
        cited(b, x, f, (gr_str){s.p + i, n});
        gr_buf_puts(b, "</p>\n");
        for (i += n; i < s.n && s.p[i] == '\n'; i++) continue;
    }
    b->failed = b->failed || expanded.failed;
    gr_buf_free(&expanded);
}

#endif
