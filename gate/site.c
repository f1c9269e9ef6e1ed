/* Findings as pages: an index whose filters are style alone, and a page a finding. */
#include "gate/finding.h"

#include "assets.h"
#include "base/file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void text(gr_buf *b, gr_str s) { gr_buf_html(b, s); }

/* Titles and points: figures filled in, no markup. */
static void line(gr_buf *b, const gate_finding *f, gr_str s) {
    gr_buf t = {0};
    gate_figures_expand(&t, f, s);
    text(b, gr_buf_view(&t));
    b->failed = b->failed || t.failed;
    gr_buf_free(&t);
}

/* A word as part of an id or class: other characters become hyphens and a number keeps two of them apart. */
static void slug(gr_buf *b, gr_str s, uint32_t number) {
    bool pure = true;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        pure = pure && ok;
        gr_buf_putc(b, ok ? c : '-');
    }
    if (!pure) gr_buf_printf(b, "-%u", number);
}

static void head(gr_buf *b, const char *style, const gate_finding *f, gr_str title) {
    gr_buf_puts(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    if (f) line(b, f, title);
    else text(b, title);
    gr_buf_printf(b, "</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n%s</head>\n<body>\n", style);
}

static void delta(gr_buf *b, const gate_finding *f) {
    if (f->pairs.n) gate_html_percent(b, f->verdict.all.delta, 1);
}

/* ---- the index ----------------------------------------------------------------------------------------------- */

typedef struct words { GR_VEC(gr_str) list; } words;

static void add_word(gr_arena *a, words *w, gr_str s) {
    for (uint32_t i = 0; i < w->list.n; i++)
        if (gr_str_eq(w->list.v[i], s)) return;
    gr_str *slot = GR_PUSH(a, &w->list);
    if (slot) *slot = s;
}

static uint32_t word_at(const words *w, gr_str s) {
    for (uint32_t i = 0; i < w->list.n; i++)
        if (gr_str_eq(w->list.v[i], s)) return i;
    return 0;
}

static int by_bytes(const void *x, const void *y) { return gr_str_cmp(*(const gr_str *)x, *(const gr_str *)y); }

typedef struct groups { words status, axis, tag; } groups;

static void collect(const gate_index *x, groups *g) {
    for (int s = GATE_STABLE; s <= GATE_REJECTED; s++)
        for (uint32_t i = 0; i < x->n; i++)
            if (x->v[i].status == (gate_status)s) add_word(x->a, &g->status, gr_str_of(gate_status_text((gate_status)s)));
    for (uint32_t i = 0; i < x->n; i++) {
        for (uint32_t k = 0; k < x->v[i].axes.n; k++) add_word(x->a, &g->axis, x->v[i].axes.v[k]);
        for (uint32_t k = 0; k < x->v[i].tags.n; k++) add_word(x->a, &g->tag, x->v[i].tags.v[k]);
    }
    if (g->axis.list.n) qsort(g->axis.list.v, g->axis.list.n, sizeof(gr_str), by_bytes);
    if (g->tag.list.n) qsort(g->tag.list.v, g->tag.list.n, sizeof(gr_str), by_bytes);
}

static void filter_style(gr_buf *b, const char *group, const words *w) {
    for (uint32_t i = 0; i < w->list.n; i++) {
        gr_buf_printf(b, "main:has(#%s-", group), slug(b, w->list.v[i], i);
        gr_buf_printf(b, ":checked) .findings > li:not(.%s-", group), slug(b, w->list.v[i], i);
        gr_buf_printf(b, ") { display: none }\n#%s-", group), slug(b, w->list.v[i], i);
        gr_buf_puts(b, ":checked + label { background: var(--accent); border-color: var(--accent); color: var(--paper) }\n");
    }
    gr_buf_printf(b, "#%s-all:checked + label { background: var(--accent); border-color: var(--accent); color: var(--paper) }\n", group);
}

static void filter_set(gr_buf *b, const char *group, const words *w) {
    if (w->list.n < 2) return;
    gr_buf_printf(b, "<fieldset><legend>%s</legend><span><input class=\"filter\" type=\"radio\" name=\"%s\" id=\"%s-all\" checked><label for=\"%s-all\">all</label></span>\n", group, group, group, group);
    for (uint32_t i = 0; i < w->list.n; i++) {
        gr_buf_printf(b, "<span><input class=\"filter\" type=\"radio\" name=\"%s\" id=\"%s-", group, group), slug(b, w->list.v[i], i);
        gr_buf_printf(b, "\"><label for=\"%s-", group), slug(b, w->list.v[i], i);
        gr_buf_puts(b, "\">"), text(b, w->list.v[i]), gr_buf_puts(b, "</label></span>\n");
    }
    gr_buf_puts(b, "</fieldset>\n");
}

static void class_words(gr_buf *b, const char *group, const words *w, const gate_strs *has) {
    for (uint32_t i = 0; i < has->n; i++) gr_buf_printf(b, " %s-", group), slug(b, has->v[i], word_at(w, has->v[i]));
}

static void item(gr_buf *b, const groups *g, const gate_finding *f) {
    gr_buf_printf(b, "<li class=\"status-%s", gate_status_text(f->status));
    class_words(b, "axis", &g->axis, &f->axes), class_words(b, "tag", &g->tag, &f->tags);
    gr_buf_printf(b, "\"><h2><a href=\"%.*s.html\">", GR_STR_ARG(f->id));
    line(b, f, f->title);
    gr_buf_puts(b, "</a></h2><span class=\"delta\">");
    delta(b, f);
    gr_buf_printf(b, "</span><div class=\"more\"><span class=\"badge %s\">%s</span><span class=\"meta\">", gate_status_text(f->status), gate_status_text(f->status));
    text(b, (gr_str){f->date.p, 10}), gr_buf_puts(b, " · "), text(b, f->task), gr_buf_puts(b, " · "), text(b, f->milestone);
    gr_buf_puts(b, "</span>");
    for (uint32_t i = 0; i < f->axes.n; i++) gr_buf_puts(b, "<span class=\"tag\">"), text(b, f->axes.v[i]), gr_buf_puts(b, "</span>");
    for (uint32_t i = 0; i < f->tags.n; i++) gr_buf_puts(b, "<span class=\"tag\">#"), text(b, f->tags.v[i]), gr_buf_puts(b, "</span>");
    gr_buf_puts(b, "</div></li>\n");
}

static int newest_first(const void *x, const void *y) {
    const gate_finding *f = *(const gate_finding *const *)x, *g = *(const gate_finding *const *)y;
    int c = gr_str_cmp(g->date, f->date);
    return c ? c : gr_str_cmp(f->id, g->id);
}

static void index_page(gr_buf *b, const gate_index *x) {
    groups g = {0};
    gr_buf style = {0};
    collect(x, &g);
    gr_buf_puts(&style, "<style>\n");
    filter_style(&style, "status", &g.status), filter_style(&style, "axis", &g.axis), filter_style(&style, "tag", &g.tag);
    gr_buf_puts(&style, "</style>\n");
    head(b, style.p ? style.p : "", NULL, GR_STR("Findings"));
    gr_buf_free(&style);
    gr_buf_printf(b, "<header class=\"top\"><h1>Findings</h1><p class=\"meta\">What was tried, measured and decided, newest first. %u in all.</p></header>\n<main>\n<div class=\"filters\">\n", x->n);
    filter_set(b, "status", &g.status), filter_set(b, "axis", &g.axis), filter_set(b, "tag", &g.tag);
    gr_buf_puts(b, "</div>\n<ol class=\"findings\">\n");
    const gate_finding **sorted = GR_NEW_N(x->a, const gate_finding *, x->n);
    for (uint32_t i = 0; sorted && i < x->n; i++) sorted[i] = &x->v[i];
    if (sorted && x->n) qsort(sorted, x->n, sizeof *sorted, newest_first);
    for (uint32_t i = 0; sorted && i < x->n; i++) item(b, &g, sorted[i]);
    gr_buf_puts(b, x->n ? "</ol>\n" : "</ol>\n<p class=\"empty\">There are no findings yet.</p>\n");
    gr_buf_puts(b, "</main>\n<script src=\"script.js\"></script>\n</body>\n</html>\n");
}

/* ---- a finding ------------------------------------------------------------------------------------------------ */

static const char *decision(const gate_finding *f) {
    return f->verdict.decision == GATE_ADOPT ? "adopt" : f->verdict.decision == GATE_REJECT ? "reject" : "undecided";
}

static void hero(gr_buf *b, const gate_finding *f) {
    const gate_verdict *v = &f->verdict;
    gr_buf_puts(b, "<div class=\"card\"><div class=\"hero\"><span class=\"big\">");
    delta(b, f);
    gr_buf_printf(b, "</span><span>verdict <strong class=\"%s\">%s</strong>%s over %u pairs</span>", v->decision == GATE_ADOPT ? "yes" : v->decision == GATE_REJECT ? "no" : "provisional", decision(f),
                  v->fragile ? ", <strong class=\"provisional\">fragile</strong>," : "", f->pairs.n);
    if (isfinite(v->low)) {
        gr_buf_puts(b, "<span class=\"meta\">between "), gate_html_percent(b, v->low, 2);
        gr_buf_puts(b, " and "), gate_html_percent(b, v->high, 2);
        gr_buf_printf(b, ", each side at %.3g</span>", v->alpha);
    }
    gr_buf_puts(b, "</div>\n");
    gate_plot_interval(b, f);
    gr_buf_puts(b, "</div>\n");
}

static void criterion(gr_buf *b, const char *name, bool holds, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void criterion(gr_buf *b, const char *name, bool holds, const char *fmt, ...) {
    char detail[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    gr_buf_printf(b, "<tr><td>%s</td><td class=\"%s\">%s</td><td>", name, holds ? "yes" : "no", holds ? "yes" : "no");
    gate_html_signed(b, detail);
    gr_buf_puts(b, "</td></tr>\n");
}

static void criteria(gr_buf *b, const gate_finding *f) {
    const gate_verdict *v = &f->verdict;
    static const char *const guards[] = {"no quality metric", "held", "breached within the noise of off, gradients untouched", "breached"};
    char name[40];
    gr_buf_puts(b, "<h2>What the verdict stands on</h2>\n<div class=\"scroll\"><table><thead><tr><th>criterion</th><th>holds</th><th></th></tr></thead><tbody>\n");
    criterion(b, "gain", v->all.gain, "%+.2f %% against %+.2f %%; sigma of off %.2f %%", 100 * v->all.delta, 100 * v->all.threshold, 100 * v->all.sigma_off);
    criterion(b, "every pair faster", v->all.signs, " ");
    if (f->quality.n) criterion(b, "quality", v->all.guard != GATE_GUARD_BREACHED, "%+.4f, %s", v->all.quality, guards[v->all.guard]);
    criterion(b, "paired test", v->significant, "p = %.3g against %.3g", v->p, v->alpha);
    for (uint32_t i = 0; f->pairs.n >= 3 && i < f->pairs.n; i++) {
        snprintf(name, sizeof name, "without pair %u", i + 1);
        criterion(b, name, v->without[i].holds, "%+.2f %%%s", 100 * v->without[i].delta, v->without[i].holds == v->all.holds ? "" : ", flips");
    }
    if (f->pairs.n >= 3)
        criterion(b, "without the worst run", v->without_worst.holds, "%+.2f %% (%s %u)%s", 100 * v->without_worst.delta, v->worst_is_on ? "on" : "off", v->worst_pair + 1,
                  v->without_worst.holds == v->all.holds ? "" : ", flips");
    gr_buf_puts(b, "</tbody></table></div>\n");
    if (f->predicted) {
        gr_buf_puts(b, "<p>Predicted "), gate_html_percent(b, f->predict_low, 1), gr_buf_puts(b, " to "), gate_html_percent(b, f->predict_high, 1);
        gr_buf_printf(b, ": %s.</p>\n",
                      v->all.delta < f->predict_low ? "faster than predicted" : v->all.delta > f->predict_high ? "slower than predicted" : "as predicted");
    }
    if (f->removed > 0)
        gr_buf_printf(b, "<p>Conversion: %.0f %% of the removed work (%.3g %% of off’s time) came back as time.</p>\n", -100 * v->all.delta / f->removed, 100 * f->removed);
}

static void runs(gr_buf *b, const gate_finding *f) {
    gr_buf_puts(b, "<h2>Runs</h2>\n");
    gate_plot_pairs(b, f);
    gr_buf_puts(b, "<div class=\"scroll\"><table><thead><tr><th>pair</th><th>arm</th><th class=\"num\">elapsed, s</th>");
    if (f->quality.n) gr_buf_puts(b, "<th class=\"num\">"), text(b, f->quality), gr_buf_puts(b, "</th>");
    gr_buf_puts(b, "<th class=\"num\">load</th><th class=\"num\">cores busy by others</th><th>note</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < f->row_n; i++) {
        const gate_row *r = &f->rows[i];
        gr_buf_printf(b, "<tr%s><td class=\"num\">%u</td><td>%s</td><td class=\"num\">%.5g</td>", r->counts ? "" : " class=\"dropped\"", r->pair, r->on ? "on" : "off", r->elapsed);
        if (f->quality.n) gr_buf_printf(b, "<td class=\"num\">%.4f</td>", r->quality);
        gr_buf_puts(b, "<td class=\"num\">");
        if (isfinite(r->load1)) gr_buf_printf(b, "%.2f", r->load1);
        gr_buf_puts(b, "</td><td class=\"num\">");
        if (isfinite(r->other_cores)) gr_buf_printf(b, "%.2f", r->other_cores);
        gr_buf_puts(b, "</td><td class=\"note\">"), text(b, r->note), gr_buf_puts(b, "</td></tr>\n");
    }
    gr_buf_puts(b, "</tbody></table></div>\n");
}

static void sections(gr_buf *b, const gate_index *x, const gate_finding *f) {
    for (uint32_t i = 0; i < f->section_n; i++) {
        gr_buf_printf(b, "<section id=\"s%u\"><h2><a class=\"anchor\" href=\"#s%u\" aria-label=\"section %u\">§%u</a>", i + 1, i + 1, i + 1, i + 1);
        line(b, f, f->sections[i].title);
        gr_buf_puts(b, "</h2>\n");
        gate_markdown(b, x, f, f->sections[i].text);
        gr_buf_puts(b, "</section>\n");
    }
}

static void points(gr_buf *b, const gate_finding *f) {
    if (!f->point_n) return;
    gr_buf_puts(b, "<h2>Open points</h2>\n<ul>\n");
    for (uint32_t i = 0; i < f->point_n; i++) {
        const gate_point *p = &f->points[i];
        gr_buf_printf(b, "<li><span class=\"badge %s\">", gr_str_eqz(p->state, "open") ? "provisional" : gr_str_eqz(p->state, "closed") ? "stable" : "tag");
        text(b, p->state), gr_buf_puts(b, "</span> "), line(b, f, p->text), gr_buf_puts(b, " <span class=\"meta\">"), text(b, (gr_str){p->date.p, 10}), gr_buf_puts(b, "</span></li>\n");
    }
    gr_buf_puts(b, "</ul>\n");
}

static void related(gr_buf *b, const char *how, const gate_finding *g, bool *any) {
    if (!*any) gr_buf_puts(b, "<h2>Related</h2>\n<ul>\n");
    *any = true;
    gr_buf_printf(b, "<li><span class=\"meta\">%s</span> <a href=\"%.*s.html\">", how, GR_STR_ARG(g->id));
    line(b, g, g->title);
    gr_buf_printf(b, "</a> <span class=\"badge %s\">%s</span></li>\n", gate_status_text(g->status), gate_status_text(g->status));
}

/* Both ways: what it names, and what names it. */
static void links(gr_buf *b, const gate_index *x, const gate_finding *f) {
    bool any = false;
    const gate_finding *g = gate_index_find(x, f->follow_up_of);
    if (g) related(b, "follows", g, &any);
    for (uint32_t i = 0; i < f->links.n; i++)
        if ((g = gate_index_find(x, f->links.v[i]))) related(b, "see", g, &any);
    for (uint32_t i = 0; i < x->n; i++) {
        if (gr_str_eq(x->v[i].follow_up_of, f->id)) related(b, "followed by", &x->v[i], &any);
        if (gate_strs_has(&x->v[i].links, f->id) && !gate_strs_has(&f->links, x->v[i].id)) related(b, "seen from", &x->v[i], &any);
    }
    if (any) gr_buf_puts(b, "</ul>\n");
}

static void pair_of(gr_buf *b, gr_str name, gr_str value) {
    gr_buf_puts(b, "<dt>"), text(b, name), gr_buf_puts(b, "</dt><dd><code>"), text(b, value), gr_buf_puts(b, "</code></dd>\n");
}

static void configuration(gr_buf *b, const gate_finding *f) {
    if (f->config_paths.n || f->decided.n) {
        gr_buf_puts(b, "<h2>Configuration</h2>\n<div class=\"scroll\"><table><thead><tr><th>key</th><th>off</th><th>on</th><th>default by this finding</th></tr></thead><tbody>\n");
        for (uint32_t i = 0; i < f->config_paths.n; i++) {
            gr_str key = f->config_paths.v[i];
            const gate_key *cells[] = {gate_keys_find(&f->off, key), gate_keys_find(&f->on, key), gate_keys_find(&f->decided, key)};
            gr_buf_puts(b, "<tr><td><code>"), text(b, key), gr_buf_puts(b, "</code></td>");
            for (int k = 0; k < 3; k++) {
                gr_buf_puts(b, "<td>");
                if (cells[k]) gr_buf_puts(b, "<code>"), text(b, cells[k]->value), gr_buf_puts(b, "</code>");
                gr_buf_puts(b, "</td>");
            }
            gr_buf_puts(b, "</tr>\n");
        }
        gr_buf_puts(b, "</tbody></table></div>\n");
    }
    if (f->off.n) {
        gr_buf_puts(b, "<details><summary>The whole configuration of off, as resolved</summary><dl>\n");
        for (uint32_t i = 0; i < f->off.n; i++) pair_of(b, f->off.v[i].name, f->off.v[i].value);
        gr_buf_puts(b, "</dl></details>\n");
    }
    if (!f->provenance.n) return;
    gr_buf_puts(b, "<h2>Provenance</h2>\n<dl>\n");
    for (uint32_t i = 0; i < f->provenance.n; i++) pair_of(b, f->provenance.v[i].name, f->provenance.v[i].value);
    gr_buf_puts(b, "</dl>\n");
}

static void finding_page(gr_buf *b, const gate_index *x, const gate_finding *f) {
    head(b, "", f, f->title);
    gr_buf_puts(b, "<header class=\"top\"><p class=\"crumb\"><a href=\"index.html\">Findings</a></p><h1>");
    line(b, f, f->title);
    gr_buf_printf(b, "</h1><p class=\"meta\"><span class=\"badge %s\">%s</span> ", gate_status_text(f->status), gate_status_text(f->status));
    text(b, (gr_str){f->date.p, 10}), gr_buf_puts(b, " · "), text(b, f->task), gr_buf_puts(b, " · "), text(b, f->milestone), gr_buf_puts(b, " · "), text(b, f->polarity);
    gr_buf_puts(b, " · <code>"), text(b, f->id), gr_buf_puts(b, "</code> ");
    for (uint32_t i = 0; i < f->axes.n; i++) gr_buf_puts(b, "<span class=\"tag\">"), text(b, f->axes.v[i]), gr_buf_puts(b, "</span>");
    for (uint32_t i = 0; i < f->tags.n; i++) gr_buf_puts(b, "<span class=\"tag\">#"), text(b, f->tags.v[i]), gr_buf_puts(b, "</span>");
    gr_buf_puts(b, "</p></header>\n<main>\n");
    if (f->stale.n) gr_buf_puts(b, "<div class=\"card stale\"><strong>Not comparable any more.</strong> Since these runs a default has changed: "), text(b, f->stale), gr_buf_puts(b, ".</div>\n");
    if (f->differs.n) gr_buf_puts(b, "<p class=\"meta\">Why this is not the rejected case: "), line(b, f, f->differs), gr_buf_puts(b, "</p>\n");
    if (f->pairs.n) hero(b, f);
    sections(b, x, f);
    if (f->pairs.n) runs(b, f), criteria(b, f);
    points(b, f), links(b, x, f), configuration(b, f);
    gr_buf_puts(b, "</main>\n</body>\n</html>\n");
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

static bool put(gate_index *x, gr_str folder, const char *name, gr_buf *b) {
    bool ok = b->failed ? gr_report_oom(x->d) : gr_file_write(x->d, gr_path_join(x->a, folder, gr_str_of(name)), b->p, b->n);
    gr_buf_clear(b);
    return ok;
}

bool gate_site_render(gate_index *x, gr_str out) {
    gr_buf b = {0};
    bool ok = gr_dir_make(x->d, out);
    index_page(&b, x);
    ok = ok && put(x, out, "index.html", &b);
    gr_buf_puts(&b, embedded_style_css);
    ok = ok && put(x, out, "style.css", &b);
    gr_buf_puts(&b, embedded_script_js);
    ok = ok && put(x, out, "script.js", &b);
    for (uint32_t i = 0; ok && i < x->n; i++) {
        char *name = gr_arena_printf(x->a, "%.*s.html", GR_STR_ARG(x->v[i].id));
        finding_page(&b, x, &x->v[i]);
        ok = name ? put(x, out, name, &b) : gr_report_oom(x->d);
    }
    gr_buf_free(&b);
    if (ok) printf("wrote %.*s/index.html and %u pages\n", GR_STR_ARG(out), x->n);
    return ok;
}
