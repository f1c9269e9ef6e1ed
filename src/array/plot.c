#include "array/plot.h"

#include "base/math.h"

#include <stdio.h>

/* Pixels. */
static const double LEFT = 78, RIGHT = 18, TITLE = 34, LEGEND = 20, GAP = 14, BOTTOM = 48;
enum { SIZE_MAX_PX = 8192 };

/* Okabe and Ito's palette without its yellow, which is too light on white. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
enum { COLOURS = sizeof colours / sizeof *colours };

typedef struct range {
    double lo, hi;
    bool any;
} range;

/* Ticks at step * i, lo <= i <= hi; decimals behind the point in labels, -1 for an exponent form. */
typedef struct ticks {
    double step;
    int64_t lo, hi;
    int decimals;
} ticks;

typedef struct panel {
    range y;
    ticks t;
    gr_str label;
    double top; /* of the frame */
    uint32_t lines;
} panel;

typedef struct drawing {
    gr_buf *out;
    const gr_plot *p;
    uint32_t panel_n, width, height; /* height of a frame */
    double frame_w;
    range x;
    ticks t;
    panel panels[GR_PLOT_PANELS_MAX];
} drawing;

static bool is_finite(double v) { return v - v == 0; }
static double x_step(const gr_plot_line *l) { return l->dx == 0 ? 1 : l->dx; }

static void include(range *r, double v) {
    const double most = 1e300; /* so that hi - lo is finite */
    if (!is_finite(v)) return;
    v = v > most ? most : v < -most ? -most : v;
    if (!r->any || v < r->lo) r->lo = v;
    if (!r->any || v > r->hi) r->hi = v;
    r->any = true;
}

static double magnitude(range r) { return gr_fabs(r.lo) > gr_fabs(r.hi) ? gr_fabs(r.lo) : gr_fabs(r.hi); }

/* Room around the values; a range without extent gets one. */
static void widen(range *r, double margin) {
    if (!r->any) *r = (range){0, 1, true};
    double span = r->hi - r->lo, size = magnitude(*r);
    double add = span > size * 1e-12 ? span * margin : size > 0 ? size * 0.1 : 1;
    if (margin == 0 && span > size * 1e-12) return;
    r->lo -= add;
    r->hi += add;
}

static double power_of_ten(int k) {
    double v = 1;
    for (int i = k < 0 ? -k : k; i > 0; i--) v *= 10;
    return k < 0 ? 1 / v : v;
}

/* The least of 1, 2, 5 times a power of ten that gives at most `most` intervals. A tick within a
 * thousandth of a step outside still shows: 300 on an axis that ends at 299.997. */
static ticks choose_ticks(range r, double most) {
    double raw = (r.hi - r.lo) / most;
    int k = -300;
    while (k < 300 && power_of_ten(k) * 5 < raw) k++;
    double unit = power_of_ten(k); /* 5 * unit >= raw */
    ticks t = {.step = unit >= raw ? unit : unit * 2 >= raw ? unit * 2 : unit * 5};
    t.lo = (int64_t)gr_ceil(r.lo / t.step - 1e-3);
    t.hi = (int64_t)gr_floor(r.hi / t.step + 1e-3);
    t.decimals = k < -6 || magnitude(r) >= 1e7 ? -1 : k > 0 ? 0 : -k;
    return t;
}

static void put_tick(gr_buf *out, const ticks *t, int64_t i) {
    double v = (double)i * t->step;
    if (t->decimals >= 0) gr_buf_printf(out, "%.*f", t->decimals, i == 0 ? 0.0 : v);
    else gr_buf_printf(out, "%.6g", v);
}

/* Length of a well-formed UTF-8 sequence at p, 0 when there is none. */
static size_t utf8_length(const uint8_t *p, size_t n) {
    size_t k = p[0] < 0x80 ? 1 : p[0] >= 0xC2 && p[0] < 0xE0 ? 2 : p[0] >= 0xE0 && p[0] < 0xF0 ? 3 : p[0] >= 0xF0 && p[0] < 0xF5 ? 4 : 0;
    if (k == 0 || k > n) return 0;
    for (size_t i = 1; i < k; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F)) return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) return 0;
    if (p[0] == 0xEF && p[1] == 0xBF && p[2] >= 0xBE) return 0; /* U+FFFE, U+FFFF are no XML characters */
    return k;
}

/* Text as XML: escaped; what XML cannot hold becomes '?'. */
static void put_text(gr_buf *out, gr_str s) {
    for (size_t i = 0; i < s.n;) {
        size_t k = utf8_length((const uint8_t *)s.p + i, s.n - i);
        char c = s.p[i];
        if (k == 0) gr_buf_putc(out, '?');
        else if (c == '&') gr_buf_puts(out, "&amp;");
        else if (c == '<') gr_buf_puts(out, "&lt;");
        else if (c == '>') gr_buf_puts(out, "&gt;");
        else if (c == '"') gr_buf_puts(out, "&quot;");
        else if (k == 1 && (uint8_t)c < 32) gr_buf_putc(out, ' ');
        else gr_buf_put(out, s.p + i, k);
        i += k ? k : 1;
    }
}

static bool check(gr_diags *d, const gr_plot *p) {
    const char *wrong = NULL;
    if (p->line_n > GR_PLOT_LINES_MAX) wrong = "more than 64 lines";
    if (p->width > SIZE_MAX_PX || p->panel_height > SIZE_MAX_PX) wrong = "larger than 8192 pixels";
    if ((p->width && p->width < 200) || (p->panel_height && p->panel_height < 40)) wrong = "smaller than 200 by 40 pixels";
    for (uint32_t i = 0; !wrong && i < p->line_n; i++) {
        const gr_plot_line *l = &p->lines[i];
        if (l->panel >= GR_PLOT_PANELS_MAX) wrong = "more than 32 panels";
        if (!is_finite(l->x0 + x_step(l) * (double)gr_array_count(&l->y))) wrong = "an x axis without end";
    }
    if (!wrong) return true;
    return gr_report(d, GR_D_ARRAY_PLOT, (gr_place){0}, NULL, "the plot has %s", wrong);
}

static void measure(drawing *g) {
    for (uint32_t i = 0; i < g->p->line_n; i++) {
        const gr_plot_line *l = &g->p->lines[i];
        panel *q = &g->panels[l->panel];
        uint64_t n = gr_array_count(&l->y);
        if (l->panel + 1 > g->panel_n) g->panel_n = l->panel + 1;
        if (q->label.n == 0) q->label = l->y_label;
        if (l->label.n) q->lines++;
        for (uint64_t k = 0; k < n; k++) include(&q->y, gr_array_get_f64(&l->y, k));
        if (n) include(&g->x, l->x0), include(&g->x, l->x0 + x_step(l) * (double)(n - 1));
    }
    if (g->panel_n == 0) g->panel_n = 1;
    widen(&g->x, 0);
    g->t = choose_ticks(g->x, g->frame_w / 80);
    double top = g->p->title.n ? TITLE : GAP;
    for (uint32_t k = 0; k < g->panel_n; k++) {
        panel *q = &g->panels[k];
        widen(&q->y, 0.05);
        q->t = choose_ticks(q->y, (double)g->height / 32);
        q->top = top + (q->lines ? LEGEND : 4);
        top = q->top + (double)g->height + GAP;
    }
}

/* 0 at lo, 1 at hi; what lies far outside (it was cut off by include) stays a short number. */
static double along(range r, double v) {
    double u = (v - r.lo) / (r.hi - r.lo);
    return u < -1 ? -1 : u > 2 ? 2 : u;
}
static double map_x(const drawing *g, double v) { return LEFT + along(g->x, v) * g->frame_w; }
static double map_y(const drawing *g, const panel *q, double v) {
    return q->top + (double)g->height * (1 - along(q->y, v));
}

static void draw_axes(drawing *g, const panel *q, bool last) {
    gr_buf *o = g->out;
    double bottom = q->top + (double)g->height, right = LEFT + g->frame_w;
    gr_buf_puts(o, "<g stroke=\"#e3e3e3\" stroke-width=\"1\">\n");
    for (int64_t i = q->t.lo; i <= q->t.hi; i++) {
        double y = map_y(g, q, (double)i * q->t.step);
        gr_buf_printf(o, "<path d=\"M%.0f %.2fH%.2f\"/>\n", LEFT, y, right);
    }
    for (int64_t i = g->t.lo; i <= g->t.hi; i++) {
        double x = map_x(g, (double)i * g->t.step);
        gr_buf_printf(o, "<path d=\"M%.2f %.2fV%.2f\"/>\n", x, q->top, bottom);
    }
    gr_buf_puts(o, "</g>\n<g text-anchor=\"end\">\n");
    for (int64_t i = q->t.lo; i <= q->t.hi; i++) {
        gr_buf_printf(o, "<text x=\"%.0f\" y=\"%.2f\">", LEFT - 6, map_y(g, q, (double)i * q->t.step) + 4);
        put_tick(o, &q->t, i);
        gr_buf_puts(o, "</text>\n");
    }
    gr_buf_puts(o, "</g>\n");
    if (q->label.n) {
        double y = q->top + (double)g->height / 2;
        gr_buf_printf(o, "<text x=\"16\" y=\"%.2f\" text-anchor=\"middle\" transform=\"rotate(-90 16 %.2f)\">", y, y);
        put_text(o, q->label);
        gr_buf_puts(o, "</text>\n");
    }
    if (!last) return;
    gr_buf_puts(o, "<g text-anchor=\"middle\">\n");
    for (int64_t i = g->t.lo; i <= g->t.hi; i++) {
        gr_buf_printf(o, "<text x=\"%.2f\" y=\"%.2f\">", map_x(g, (double)i * g->t.step), bottom + 17);
        put_tick(o, &g->t, i);
        gr_buf_puts(o, "</text>\n");
    }
    if (g->p->x_label.n) {
        gr_buf_printf(o, "<text x=\"%.2f\" y=\"%.2f\">", LEFT + g->frame_w / 2, bottom + 38);
        put_text(o, g->p->x_label);
        gr_buf_puts(o, "</text>\n");
    }
    gr_buf_puts(o, "</g>\n");
}

static void draw_frame(drawing *g, const panel *q) {
    gr_buf_printf(g->out,
                  "<rect x=\"%.0f\" y=\"%.2f\" width=\"%.2f\" height=\"%u\" fill=\"none\" stroke=\"#606060\"/>\n", LEFT,
                  q->top, g->frame_w, g->height);
}

/* The pen: starts a new stroke after a gap. */
typedef struct pen {
    bool down;
} pen;

static void pen_to(drawing *g, const panel *q, const gr_plot_line *l, uint64_t i, pen *p) {
    double x = map_x(g, l->x0 + x_step(l) * (double)i), y = map_y(g, q, gr_array_get_f64(&l->y, i));
    gr_buf_printf(g->out, "%c%.2f %.2f", p->down ? 'L' : 'M', x, y);
    p->down = true;
}

/* All samples of one pixel column: the first, the least and greatest, the last, in their order. */
static void draw_column(drawing *g, const panel *q, const gr_plot_line *l, uint64_t from, uint64_t to, pen *p) {
    uint64_t lo = from, hi = from;
    double lo_v = gr_array_get_f64(&l->y, from), hi_v = lo_v;
    for (uint64_t i = from + 1; i < to; i++) {
        double v = gr_array_get_f64(&l->y, i);
        if (v < lo_v) lo = i, lo_v = v;
        if (v > hi_v) hi = i, hi_v = v;
    }
    uint64_t a = lo < hi ? lo : hi, b = lo < hi ? hi : lo;
    pen_to(g, q, l, from, p);
    if (a != from) pen_to(g, q, l, a, p);
    if (b != a) pen_to(g, q, l, b, p);
    if (to - 1 != b && to - 1 != from) pen_to(g, q, l, to - 1, p);
}

/* The first sample of the next pixel column, with `column` samples a column. */
static uint64_t column_end(uint64_t i, uint64_t n, double column) {
    if (column <= 2) return i + 1;
    double end = gr_ceil(gr_floor((double)i / column + 1) * column);
    return end < (double)n ? (uint64_t)end : n;
}

static void draw_line(drawing *g, const gr_plot_line *l, uint32_t colour) {
    const panel *q = &g->panels[l->panel];
    uint64_t n = gr_array_count(&l->y);
    double column = (g->x.hi - g->x.lo) / g->frame_w / gr_fabs(x_step(l)); /* samples a pixel */
    pen p = {false};
    gr_buf_printf(g->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.4\" stroke-linejoin=\"round\" stroke-linecap=\"round\" d=\"",
                  colours[colour % COLOURS]);
    for (uint64_t i = 0; i < n;) {
        if (!is_finite(gr_array_get_f64(&l->y, i))) {
            p.down = false;
            i++;
            continue;
        }
        uint64_t stop = i + 1, end = column_end(i, n, column);
        while (stop < n && stop < end && is_finite(gr_array_get_f64(&l->y, stop))) stop++;
        draw_column(g, q, l, i, stop, &p);
        i = stop;
    }
    gr_buf_puts(g->out, "\"/>\n");
}

static uint32_t code_points(gr_str s) {
    uint32_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += ((uint8_t)s.p[i] & 0xC0) != 0x80;
    return n;
}

static void draw_legend(drawing *g, uint32_t panel_index) {
    double x = LEFT, y = g->panels[panel_index].top - 7;
    for (uint32_t i = 0; i < g->p->line_n; i++) {
        const gr_plot_line *l = &g->p->lines[i];
        if (l->panel != panel_index || l->label.n == 0) continue;
        gr_buf_printf(g->out, "<path stroke=\"%s\" stroke-width=\"3\" d=\"M%.2f %.2fh18\"/>\n<text x=\"%.2f\" y=\"%.2f\">",
                      colours[i % COLOURS], x, y - 4, x + 23, y);
        put_text(g->out, l->label);
        gr_buf_puts(g->out, "</text>\n");
        x += 40 + 7 * (double)code_points(l->label);
    }
}

static void draw_head(drawing *g, double total) {
    gr_buf *o = g->out;
    gr_buf_printf(o,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%.0f\" viewBox=\"0 0 %u %.0f\" "
                  "font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#202020\" role=\"img\">\n<title>",
                  g->width, total, g->width, total);
    put_text(o, g->p->title.n ? g->p->title : GR_STR("plot"));
    gr_buf_puts(o, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    if (g->p->title.n == 0) return;
    gr_buf_printf(o, "<text x=\"%.0f\" y=\"22\" font-size=\"15\" font-weight=\"600\">", LEFT);
    put_text(o, g->p->title);
    gr_buf_puts(o, "</text>\n");
}

bool gr_plot_svg(gr_buf *out, gr_diags *d, const gr_plot *plot) {
    GR_TRY(check(d, plot));
    drawing g = {.out = out, .p = plot};
    g.width = plot->width ? plot->width : 960;
    g.height = plot->panel_height ? plot->panel_height : 200;
    g.frame_w = (double)g.width - LEFT - RIGHT;
    measure(&g);
    draw_head(&g, g.panels[g.panel_n - 1].top + (double)g.height + BOTTOM);
    for (uint32_t k = 0; k < g.panel_n; k++) {
        draw_axes(&g, &g.panels[k], k + 1 == g.panel_n);
        draw_legend(&g, k);
        for (uint32_t i = 0; i < plot->line_n; i++)
            if (plot->lines[i].panel == k) draw_line(&g, &plot->lines[i], i);
        draw_frame(&g, &g.panels[k]);
    }
    gr_buf_puts(out, "</svg>\n");
    return out->failed ? gr_report_oom(d) : true;
}
