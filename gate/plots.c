/* The two plots of a finding. Colours come from the page's style, so that they follow light and dark. */
#include "gate/finding.h"

#include <math.h>

enum { W = 720, LEFT = 64, RIGHT = 96, ROW = 34, TOP = 26 };

typedef struct axis { double low, high; } axis;

static double place(axis a, double v) { return LEFT + (v - a.low) / (a.high - a.low) * (W - LEFT - RIGHT); }

/* A step of 1, 2 or 5 times a power of ten, for about five ticks. */
static double step_of(axis a) {
    double raw = (a.high - a.low) / 5, power = pow(10, floor(log10(raw))), m = raw / power;
    return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

static void ticks(gr_buf *b, axis a, double bottom, const char *unit, double scale) {
    double step = step_of((axis){a.low * scale, a.high * scale});
    for (double v = ceil(a.low * scale / step) * step; v <= a.high * scale + step * 1e-9; v += step) {
        double x = place(a, v / scale), shown = fabs(v) < step * 1e-9 ? 0 : v;
        gr_buf_printf(b, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/><text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s%.6g%s</text>\n",
                      x, x, TOP - 10, bottom, x, bottom + 18, shown < 0 ? "\xE2\x88\x92" : "", fabs(shown), unit);
    }
}

void gate_plot_pairs(gr_buf *b, const gate_finding *f) {
    const gate_pairs *p = &f->pairs;
    axis a = {p->off[0], p->off[0]};
    for (uint32_t i = 0; i < p->n; i++) a.low = fmin(a.low, fmin(p->off[i], p->on[i])), a.high = fmax(a.high, fmax(p->off[i], p->on[i]));
    double room = fmax((a.high - a.low) * 0.08, a.high * 1e-6), bottom = TOP + ROW * (double)p->n;
    a.low -= room, a.high += room;
    gr_buf_printf(b, "<svg class=\"plot\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"pairs-title\"><title id=\"pairs-title\">Elapsed seconds of off and on, pair by pair</title>\n", W, bottom + 30);
    ticks(b, a, bottom, " s", 1);
    for (uint32_t i = 0; i < p->n; i++) {
        double y = TOP + ROW * (i + 0.5), off = place(a, p->off[i]), on = place(a, p->on[i]), delta = 100 * (p->on[i] / p->off[i] - 1);
        gr_buf_printf(b, "<text class=\"label\" x=\"8\" y=\"%.1f\">pair %u</text><line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", y + 4, i + 1,
                      delta < 0 ? "gain" : "loss", off, on, y, y);
        gr_buf_printf(b, "<circle class=\"off\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>off %.4g s</title></circle><circle class=\"on\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"><title>on %.4g s</title></circle>",
                      off, y, p->off[i], on, y, p->on[i]);
        gr_buf_printf(b, "<text class=\"label\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", W - 8, y + 4);
        gate_html_percent(b, delta / 100, 2);
        gr_buf_puts(b, "</text>\n");
    }
    gr_buf_printf(b, "</svg>\n<p class=\"key\"><span class=\"dot off\"></span>off <span class=\"dot on\"></span>on; left is faster</p>\n");
}

void gate_plot_interval(gr_buf *b, const gate_finding *f) {
    const gate_verdict *v = &f->verdict;
    bool open = !isfinite(v->low);
    axis a = {fmin(v->all.threshold, v->all.delta), fmax(0, v->all.delta)};
    if (!open) a.low = fmin(a.low, v->low), a.high = fmax(a.high, v->high);
    if (f->predicted) a.low = fmin(a.low, f->predict_low), a.high = fmax(a.high, f->predict_high);
    double room = fmax((a.high - a.low) * 0.08, 0.001), y = TOP + 34, bottom = TOP + 74;
    a.low -= room, a.high += room;
    gr_buf_printf(b, "<svg class=\"plot\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"interval-title\"><title id=\"interval-title\">Delta of %+.2f per cent", W, bottom + 30, 100 * v->all.delta);
    if (!open) gr_buf_printf(b, ", between %+.2f and %+.2f", 100 * v->low, 100 * v->high);
    gr_buf_printf(b, "; the gain must reach %+.2f</title>\n", 100 * v->all.threshold);
    gr_buf_printf(b, "<rect class=\"zone\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\"/>\n", LEFT, TOP - 10, place(a, v->all.threshold) - LEFT, bottom - TOP + 10);
    ticks(b, a, bottom, " %", 100);
    if (f->predicted)
        gr_buf_printf(b, "<rect class=\"predicted\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"10\" rx=\"3\"><title>predicted</title></rect>", place(a, f->predict_low), y + 22,
                      fmax(2, place(a, f->predict_high) - place(a, f->predict_low)));
    gr_buf_printf(b, "<line class=\"zero\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>", place(a, 0), place(a, 0), TOP - 10, bottom);
    if (!open) gr_buf_printf(b, "<line class=\"interval\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", place(a, v->low), place(a, v->high), y, y);
    gr_buf_printf(b, "<circle class=\"on\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"/>\n</svg>\n", place(a, v->all.delta), y);
    gr_buf_printf(b, "<p class=\"key\"><span class=\"dot on\"></span>mean delta and its interval <span class=\"swatch zone\"></span>a gain worth adopting%s</p>\n",
                  f->predicted ? " <span class=\"swatch predicted\"></span>predicted" : "");
}
