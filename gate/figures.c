/* Figures that follow from the runs table: written by placeholders, or typed and then checked. */
#include "gate/finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum unit { UNIT_NONE = 0, UNIT_SHARE, UNIT_SECONDS, UNIT_QUALITY, UNIT_COUNT } unit;
typedef struct figure { const char *name; uint32_t pair; double value; unit unit; } figure;
enum { FIGURES_MAX = 32 + 6 * GATE_PAIRS_MAX };
typedef struct figures { figure v[FIGURES_MAX]; uint32_t n; } figures;

static void add(figures *x, const char *name, uint32_t pair, double value, unit u) {
    if (x->n < FIGURES_MAX && isfinite(value)) x->v[x->n++] = (figure){name, pair, value, u};
}

static void add_pairs(figures *x, const gate_pairs *p) {
    for (uint32_t i = 0; i < p->n; i++) {
        add(x, "off", i + 1, p->off[i], UNIT_SECONDS), add(x, "on", i + 1, p->on[i], UNIT_SECONDS);
        add(x, "delta", i + 1, p->on[i] / p->off[i] - 1, UNIT_SHARE);
        if (!p->quality) continue;
        add(x, "quality_off", i + 1, p->q_off[i], UNIT_QUALITY), add(x, "quality_on", i + 1, p->q_on[i], UNIT_QUALITY);
        add(x, "quality", i + 1, p->q_on[i] - p->q_off[i], UNIT_QUALITY);
    }
}

static void figures_of(const gate_finding *f, figures *x) {
    const gate_pairs *p = &f->pairs;
    const gate_verdict *v = &f->verdict;
    x->n = 0;
    if (f->predicted) add(x, "predicted_low", 0, f->predict_low, UNIT_SHARE), add(x, "predicted_high", 0, f->predict_high, UNIT_SHARE);
    if (f->removed > 0) add(x, "removed_work", 0, f->removed, UNIT_SHARE);
    add(x, "floor", 0, f->rule.floor, UNIT_SHARE), add(x, "guard", 0, f->rule.guard, UNIT_QUALITY);
    if (!p->n) return;
    double off = gate_mean(p->off, p->n), on = gate_mean(p->on, p->n);
    add(x, "pairs", 0, p->n, UNIT_COUNT);
    add(x, "off", 0, off, UNIT_SECONDS), add(x, "on", 0, on, UNIT_SECONDS), add(x, "saved", 0, off - on, UNIT_SECONDS);
    add(x, "delta", 0, v->all.delta, UNIT_SHARE), add(x, "gain", 0, -v->all.delta, UNIT_SHARE), add(x, "low", 0, v->low, UNIT_SHARE), add(x, "high", 0, v->high, UNIT_SHARE);
    add(x, "sigma_off", 0, v->all.sigma_off, UNIT_SHARE), add(x, "sigma_on", 0, gate_sigma(p->on, p->n) / on, UNIT_SHARE);
    add(x, "sigma_delta", 0, v->sigma_delta, UNIT_SHARE), add(x, "threshold", 0, v->all.threshold, UNIT_SHARE), add(x, "p", 0, v->p, UNIT_COUNT);
    if (f->removed > 0) add(x, "conversion", 0, -v->all.delta / f->removed, UNIT_SHARE);
    if (p->quality) {
        add(x, "quality", 0, v->all.quality, UNIT_QUALITY), add(x, "quality_spread", 0, v->guard_spread, UNIT_QUALITY);
        add(x, "quality_off", 0, gate_mean(p->q_off, p->n), UNIT_QUALITY), add(x, "quality_on", 0, gate_mean(p->q_on, p->n), UNIT_QUALITY);
    }
    add_pairs(x, p);
}

static void write(gr_buf *b, const gate_finding *f, const figure *g) {
    switch (g->unit) {
    case UNIT_SHARE: gr_buf_printf(b, "%.2f %%", 100 * g->value); break;
    case UNIT_SECONDS: gr_buf_printf(b, "%.4g s", g->value); break;
    case UNIT_QUALITY: gr_buf_printf(b, "%.3f%s", g->value, gr_str_eqz(f->quality, "psnr") ? " dB" : ""); break;
    default: gr_buf_printf(b, "%.3g", g->value); break;
    }
}

/* "{name}" or "{name 3}" at text.p[at]: its length, the figure when there is one. 0 when it has not that form. */
static size_t placeholder(gr_str text, size_t at, const figures *x, const figure **out) {
    size_t i = at + 1, name = i;
    *out = NULL;
    while (i < text.n && ((text.p[i] >= 'a' && text.p[i] <= 'z') || text.p[i] == '_')) i++;
    size_t name_n = i - name;
    uint32_t pair = 0;
    if (i < text.n && text.p[i] == ' ')
        for (i++; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && pair < 1000; i++) pair = 10 * pair + (uint32_t)(text.p[i] - '0');
    if (!name_n || i >= text.n || text.p[i] != '}') return 0;
    for (uint32_t k = 0; k < x->n; k++)
        if (x->v[k].pair == pair && gr_str_eqz((gr_str){text.p + name, name_n}, x->v[k].name)) *out = &x->v[k];
    return i + 1 - at;
}

/* Passes over a code span at `at`; returns where it ends, or at. */
static size_t over_code(gr_str text, size_t at) {
    size_t ticks = 0;
    while (at + ticks < text.n && text.p[at + ticks] == '`') ticks++;
    if (!ticks) return at;
    for (size_t i = at + ticks, run = 0; i <= text.n; i++) {
        if (i < text.n && text.p[i] == '`') run++;
        else if (run == ticks) return i;
        else run = 0;
    }
    return at + ticks;
}

void gate_figures_expand(gr_buf *b, const gate_finding *f, gr_str text) {
    figures x;
    const figure *g;
    figures_of(f, &x);
    for (size_t i = 0; i < text.n;) {
        size_t code = over_code(text, i), n = text.p[i] == '{' ? placeholder(text, i, &x, &g) : 0;
        if (code > i) gr_buf_put(b, text.p + i, code - i), i = code;
        else if (n && g) write(b, f, g), i += n;
        else gr_buf_putc(b, text.p[i++]);
    }
}

/* ---- typed figures ------------------------------------------------------------------------------------------- */

typedef struct typed { double value, precision; unit unit; size_t end; } typed;

static bool digit(char c) { return c >= '0' && c <= '9'; }

static bool word_end(gr_str s, size_t i) {
    return i >= s.n || !((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') || digit(s.p[i]) || s.p[i] == '_');
}

static unit unit_at(gr_str s, size_t *at, double *scale) {
    static const struct { const char *text; unit unit; double scale; } units[] = {
        {"%", UNIT_SHARE, 0.01}, {"per cent", UNIT_SHARE, 0.01}, {"ms", UNIT_SECONDS, 1e-3}, {"s", UNIT_SECONDS, 1}, {"dB", UNIT_QUALITY, 1}};
    size_t i = *at;
    if (i < s.n && s.p[i] == ' ') i++;
    else if (i + 1 < s.n && (unsigned char)s.p[i] == 0xc2 && (unsigned char)s.p[i + 1] == 0xa0) i += 2; /* no-break space */
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        size_t n = strlen(units[k].text);
        if (i + n > s.n || memcmp(s.p + i, units[k].text, n) != 0 || (k && !word_end(s, i + n))) continue;
        *at = i + n, *scale = units[k].scale;
        return units[k].unit;
    }
    return UNIT_NONE;
}

/* A decimal number that no word runs into, with a unit behind it. */
static bool typed_at(gr_str s, size_t at, typed *out) {
    char text[32];
    size_t i = at, n = 0, decimals = 0;
    bool dot = false;
    if (!digit(s.p[at]) || (at && (!word_end(s, at - 1) || s.p[at - 1] == '.'))) return false;
    for (; i < s.n && n < sizeof text - 1 && (digit(s.p[i]) || (!dot && s.p[i] == '.' && i + 1 < s.n && digit(s.p[i + 1]))); i++) {
        decimals += dot;
        dot = dot || s.p[i] == '.';
        text[n++] = s.p[i];
    }
    text[n] = 0;
    double scale = 1;
    out->end = i;
    out->unit = unit_at(s, &out->end, &scale);
    out->value = strtod(text, NULL) * scale;
    out->precision = 0.5 * pow(10, -(double)decimals) * scale;
    return out->unit != UNIT_NONE;
}

/* Signs are words in prose ("3.1 % faster"): magnitudes are compared. */
static const figure *nearest(const figures *x, const typed *t) {
    const figure *best = NULL;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->v[i].unit == t->unit && (!best || fabs(fabs(x->v[i].value) - t->value) < fabs(fabs(best->value) - t->value))) best = &x->v[i];
    return best;
}

static bool differs(gr_diags *d, const gate_finding *f, gr_str text, size_t at, const typed *t, const figure *best, gr_place place) {
    gr_buf b = {0};
    if (best) write(&b, f, best);
    gr_report(d, GR_D_FINDINGS_FIGURE, place, "write {delta} and the like instead, or `12 %` when it is no figure of this series",
              "\"%.*s\" follows from nothing in the runs table%s%s%s%s%s", (int)(t->end - at), text.p + at, best ? "; the nearest is " : "", best ? best->name : "",
              best ? ", " : "", b.p ? b.p : "", "");
    gr_buf_free(&b);
    return false;
}

bool gate_figures_check(gr_diags *d, const gate_finding *f, gr_str text, gr_place at) {
    figures x;
    const figure *g;
    typed t;
    bool ok = true;
    figures_of(f, &x);
    for (size_t i = 0; i < text.n;) {
        size_t code = over_code(text, i), n = text.p[i] == '{' ? placeholder(text, i, &x, &g) : 0;
        if (n && !g)
            ok = gr_report(d, GR_D_FINDINGS_FIGURE, at, "docs/findings.md lists the figures", "%.*s is no figure of this finding", (int)n, text.p + i);
        if (code > i) i = code;
        else if (n) i += n;
        else if (typed_at(text, i, &t)) {
            const figure *best = nearest(&x, &t);
            if (!best || fabs(fabs(best->value) - t.value) > t.precision * (1 + 1e-9)) ok = differs(d, f, text, i, &t, best, at);
            i = t.end;
        } else i++;
    }
    return ok;
}
