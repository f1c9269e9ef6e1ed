/* report.html: one file, no script, light and dark. */
#include "splat/result.h"

#include <math.h>
#include <stdlib.h>

enum { W = 860, LEFT = 62, RIGHT = 26, TOP = 16, HEIGHT = 210, COLUMNS = 420, WORST = 4, PICTURE_WIDTH = 480 };

static const char style[] =
    ":root{color-scheme:light dark;--paper:#f7f7f4;--card:#fff;--ink:#1b1e23;--soft:#667080;--line:#e3e2dc;--accent:#0b6e74;--fill:#0b6e7418;--bar:#0b6e74;--bar2:#c58a2b}"
    "@media (prefers-color-scheme:dark){:root{--paper:#121418;--card:#1b1e24;--ink:#e9e7e2;--soft:#98a1ae;--line:#30353d;--accent:#6cc9c4;--fill:#6cc9c422;--bar:#4fb3ae;--bar2:#d9a653}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 ui-sans-serif,system-ui,'Segoe UI',Roboto,sans-serif}"
    "main{max-width:60rem;margin:0 auto;padding:2.2rem 1.25rem 5rem}h1{font-size:1.7rem;margin:.2rem 0;letter-spacing:-.01em}h2{font-size:1.1rem;margin:2.4rem 0 .6rem}"
    ".sub{color:var(--soft);margin:0 0 1.4rem;overflow-wrap:anywhere}.hero{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.8rem}"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:.9rem 1.1rem}.big{font-size:1.75rem;font-weight:650;letter-spacing:-.02em;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".big small{font-size:.9rem;font-weight:500;color:var(--soft)}.what{color:var(--soft);font-size:.8rem}"
    "svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);font-size:12px}.grid{stroke:var(--line)}.curve{fill:none;stroke:var(--accent);stroke-width:2;stroke-linejoin:round}"
    ".area{fill:var(--fill)}.dot{fill:var(--card);stroke:var(--accent);stroke-width:2}.bar{fill:var(--bar)}.bar.host{fill:var(--bar2)}svg .name{fill:var(--ink)}"
    ".views{display:grid;gap:1rem}figure{margin:0}.row{display:grid;grid-template-columns:repeat(3,1fr);gap:.5rem}.row img{width:100%;height:auto;display:block;border-radius:6px;image-rendering:auto}"
    ".row span{display:block;font-size:.75rem;color:var(--soft);margin-bottom:.2rem}figcaption{font-size:.9rem;margin-bottom:.5rem;font-variant-numeric:tabular-nums}"
    "table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}th{text-align:left;color:var(--soft);font-weight:600}td,th{padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line)}"
    "td.n,th.n{text-align:right}.scroll{overflow-x:auto}pre{font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;overflow-x:auto;margin:.6rem 0 0}summary{cursor:pointer;color:var(--accent)}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem;font-size:.88rem;margin:.6rem 0 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
    "@media(max-width:40rem){.row{grid-template-columns:1fr}dl{grid-template-columns:1fr}svg text{font-size:20px}}";

/* ---- text --------------------------------------------------------------------------------------- */

static void base64(gr_buf *b, const uint8_t *p, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
        char four[4] = {digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=', i + 2 < n ? digits[v & 63] : '='};
        gr_buf_put(b, four, 4);
    }
}

static void figure(gr_buf *b, const char *what, int digits, double v, const char *unit) {
    gr_buf_printf(b, "<div class=card><div class=big>%.*f <small>%s</small></div><div class=what>%s</div></div>\n", digits, v, unit, what);
}

/* ---- curves ----------------------------------------------------------------------------------------- */

typedef struct curve { const char *name, *unit; double *x, *y; uint32_t n; bool dots, from_zero; } curve;
typedef struct axis { double low, high; } axis;

static double step_of(double range) {
    double raw = range / 5, power = pow(10, floor(log10(raw))), m = raw / power;
    return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

static axis room(const double *v, uint32_t n, bool from_zero) {
    axis a = {v[0], v[0]};
    for (uint32_t i = 0; i < n; i++) a.low = fmin(a.low, v[i]), a.high = fmax(a.high, v[i]);
    double spare = fmax((a.high - a.low) * 0.06, fabs(a.high) * 1e-3 + 1e-9);
    return (axis){from_zero ? 0 : a.low - spare, a.high + spare};
}

static double across(axis a, double v) { return LEFT + (v - a.low) / (a.high - a.low) * (W - LEFT - RIGHT); }
static double down(axis a, double v) { return TOP + HEIGHT - (v - a.low) / (a.high - a.low) * HEIGHT; }

static void grid(gr_buf *b, axis x, axis y) {
    double sx = step_of(x.high - x.low), sy = step_of(y.high - y.low);
    for (double v = ceil(y.low / sy) * sy; v <= y.high; v += sy)
        gr_buf_printf(b, "<line class=grid x1=%d x2=%d y1=%.1f y2=%.1f /><text x=%d y=%.1f text-anchor=end>%.6g</text>\n", LEFT, W - RIGHT, down(y, v), down(y, v), LEFT - 8, down(y, v) + 4, fabs(v) < sy * 1e-9 ? 0 : v);
    for (double v = ceil(x.low / sx) * sx; v <= x.high; v += sx)
        gr_buf_printf(b, "<text x=%.1f y=%d text-anchor=middle>%.6g</text>\n", across(x, v), TOP + HEIGHT + 20, v);
}

static void draw_curve(gr_buf *b, const curve *c) {
    gr_buf_printf(b, "<h2>%s</h2>\n<div class=card>", c->name);
    axis x = {c->n > 1 ? 0 : c->x[0] - 1, c->x[c->n - 1] + (c->n > 1 ? 0 : 1)}, y = room(c->y, c->n, c->from_zero);
    gr_buf_printf(b, "<svg viewBox=\"0 0 %d %d\" role=img aria-label=\"%s by step, at the end %.5g%s\">\n", W, TOP + HEIGHT + 28, c->name, c->y[c->n - 1], c->unit);
    grid(b, x, y);
    gr_buf_printf(b, "<path class=area d=\"M%.1f %d", across(x, c->x[0]), TOP + HEIGHT);
    for (uint32_t i = 0; i < c->n; i++) gr_buf_printf(b, "L%.1f %.1f", across(x, c->x[i]), down(y, c->y[i]));
    gr_buf_printf(b, "L%.1f %dZ\"/>\n<path class=curve d=\"", across(x, c->x[c->n - 1]), TOP + HEIGHT);
    for (uint32_t i = 0; i < c->n; i++) gr_buf_printf(b, "%c%.1f %.1f", i ? 'L' : 'M', across(x, c->x[i]), down(y, c->y[i]));
    gr_buf_puts(b, "\"/>\n");
    for (uint32_t i = 0; c->dots && i < c->n; i++)
        gr_buf_printf(b, "<circle class=dot cx=%.1f cy=%.1f r=4><title>step %.0f: %.5g%s</title></circle>\n", across(x, c->x[i]), down(y, c->y[i]), c->x[i], c->y[i], c->unit);
    gr_buf_puts(b, "</svg></div>\n");
}

static bool curves(gr_buf *b, const gr_trainer *t) {
    const gr_history *h = &t->history;
    uint32_t stretch = h->n / COLUMNS + 1, most = (h->n > t->evaluation_n ? h->n : t->evaluation_n) + 1;
    double *x = gr_heap_alloc(most, sizeof *x), *y = gr_heap_alloc(most, sizeof *y), *z = gr_heap_alloc(most, sizeof *z);
    bool ok = (x && y && z) || gr_report_oom(t->d);
    uint32_t n = 0;
    for (uint32_t i = 0; ok && i < h->n; i += stretch, n++) {
        uint32_t end = i + stretch < h->n ? i + stretch : h->n;
        for (uint32_t k = i; k < end; k++) y[n] += h->loss[k] / (end - i);
        x[n] = h->first + end, z[n] = h->splats[end - 1];
    }
    if (ok && n) draw_curve(b, &(curve){"Loss", "", x, y, n, false, true}), draw_curve(b, &(curve){"Splats", "", x, z, n, false, true});
    n = ok ? t->evaluation_n : 0;
    for (uint32_t i = 0; i < n; i++) x[i] = t->evaluation[i].step, y[i] = t->evaluation[i].psnr;
    if (n) draw_curve(b, &(curve){"PSNR of held-out views", " dB", x, y, n, true, false});
    gr_heap_free(x);
    gr_heap_free(y);
    gr_heap_free(z);
    return ok;
}

/* ---- time ------------------------------------------------------------------------------------------------ */

typedef struct bar { const char *name; double ms; bool host; } bar;

static int longer(const void *x, const void *y) {
    const bar *a = x, *b = y;
    return a->ms > b->ms ? -1 : a->ms < b->ms;
}

static void stages(gr_buf *b, const gr_trainer *t) {
    gr_step_time times[GR_STEP_STAGES_MAX];
    bar bars[GR_STEP_STAGES_MAX + 2];
    double steps = t->done - t->first;
    unsigned n = gr_step_times(t->step, times), k = 0;
    if (n > GR_STEP_STAGES_MAX) n = GR_STEP_STAGES_MAX;
    if (!(steps > 0)) return;
    for (unsigned i = 0; i < n; i++) bars[k++] = (bar){times[i].stage, 1e3 * times[i].seconds / steps, false};
    bars[k++] = (bar){"refine (host)", 1e3 * t->refining / steps, true};
    bars[k++] = (bar){"pictures (host)", 1e3 * t->loading / steps, true};
    qsort(bars, k, sizeof *bars, longer);
    gr_buf_printf(b, "<h2>Time of a step</h2>\n<div class=card><svg viewBox=\"0 0 %d %u\" role=img aria-label=\"Milliseconds of a step by stage\">\n", W, 26 * k + 8);
    for (unsigned i = 0; i < k; i++) {
        double width = bars[0].ms > 0 ? bars[i].ms / bars[0].ms * (W - 330) : 0;
        gr_buf_printf(b, "<text class=name x=170 y=%u text-anchor=end>%s</text><rect class=\"bar%s\" x=182 y=%u width=%.1f height=14 rx=3 /><text x=%.1f y=%u>%.3f ms</text>\n", 26 * i + 19, bars[i].name,
                      bars[i].host ? " host" : "", 26 * i + 8, fmax(width, 1), 190 + width, 26 * i + 19, bars[i].ms);
    }
    gr_buf_printf(b, "</svg><p class=what>Means over %.0f steps; %.3f ms a step on the clock%s. Device stages and the host's part run at the same time where they can.</p></div>\n", steps,
                  1e3 * t->seconds / steps, n ? "" : "; device stages were not timed (--times)");
}

/* ---- pictures ----------------------------------------------------------------------------------------------- */

static bool embed(gr_buf *b, gr_diags *d, const gr_image *m, const char *what) {
    gr_image small = {0};
    const gr_image *shown = m;
    gr_buf png = {0};
    if (m->width > PICTURE_WIDTH) {
        uint32_t height = (uint32_t)((uint64_t)m->height * PICTURE_WIDTH / m->width);
        GR_TRY(gr_image_scale(d, GR_STR("report"), m, PICTURE_WIDTH, height ? height : 1, &small));
        shown = &small;
    }
    bool ok = gr_image_write_png(&png, shown, false);
    gr_buf_printf(b, "<div><span>%s</span><img alt=\"%s\" width=%u height=%u src=\"data:image/png;base64,", what, what, shown->width, shown->height);
    base64(b, (const uint8_t *)gr_buf_view(&png).p, png.n);
    gr_buf_puts(b, "\"></div>\n");
    gr_buf_free(&png);
    gr_image_free(&small);
    return ok || gr_report_oom(d);
}

/* Black, violet, orange, white by the mean absolute error, a quarter of the range being white. */
static void heat(double error, uint8_t out[3]) {
    double v = fmin(1, 4 * error);
    const double r = fmin(1, 1.6 * v), g = fmax(0, 1.5 * v - 0.5), blue = v < 0.35 ? 1.6 * v : v < 0.7 ? 0.56 - 1.3 * (v - 0.35) : 0.1 + 3 * (v - 0.7);
    const double c[3] = {r, g, blue};
    for (int k = 0; k < 3; k++) out[k] = (uint8_t)(255 * fmin(1, fmax(0, c[k])) + 0.5);
}

static bool compare(gr_diags *d, const float *rgb, const gr_picture *p, const float background[3], gr_image *truth, gr_image *error) {
    GR_TRY(gr_image_new(d, GR_STR("truth"), p->image.width, p->image.height, 3, truth) && gr_image_new(d, GR_STR("error"), p->image.width, p->image.height, 3, error));
    for (size_t i = 0; i < (size_t)p->image.width * p->image.height; i++) {
        double want[3], sum = 0;
        gr_truth_pixel(&p->image, background, i, want);
        for (int k = 0; k < 3; k++) {
            truth->px[3 * i + (size_t)k] = (uint8_t)(255 * want[k] + 0.5);
            sum += fabs(want[k] - fmin(1, fmax(0, (double)rgb[3 * i + (size_t)k]))) / 3;
        }
        heat(p->mask.px && p->mask.px[i] < 128 ? 0 : sum, error->px + 3 * i);
    }
    return true;
}

static bool show_view(gr_buf *b, gr_trainer *t, const gr_view_score *s) {
    const gr_view *v = &t->desc.scene->view.v[s->view];
    gr_image rendered = {0}, truth = {0}, error = {0};
    float *rgb = NULL, background[3];
    const gr_picture *p = gr_cache_get(t->cache, t->d, s->view);
    if (!p) return false;
    gr_trainer_background(t, background);
    bool ok = gr_trainer_render(t, &v->camera, &v->pose, &rgb) && gr_picture_bytes(t->d, rgb, v->camera.width, v->camera.height, &rendered) &&
              compare(t->d, rgb, p, background, &truth, &error);
    gr_cache_release(t->cache, s->view);
    if (ok) {
        gr_buf_puts(b, "<figure class=card><figcaption><b>");
        gr_buf_html(b, v->name);
        gr_buf_printf(b, "</b> &ensp; %.2f dB &ensp; SSIM %.4f</figcaption><div class=row>\n", s->score.psnr, s->score.ssim);
        ok = embed(b, t->d, &truth, "photo") && embed(b, t->d, &rendered, "rendered") && embed(b, t->d, &error, "error, white from a quarter of the range");
        gr_buf_puts(b, "</div></figure>\n");
    }
    gr_image_free(&rendered);
    gr_image_free(&truth);
    gr_image_free(&error);
    gr_heap_free(rgb);
    return ok;
}

static int worse(const void *x, const void *y) {
    const gr_view_score *a = x, *b = y;
    if (a->score.psnr != b->score.psnr) return a->score.psnr < b->score.psnr ? -1 : 1;
    return a->view < b->view ? -1 : a->view > b->view;
}

static bool views(gr_buf *b, gr_trainer *t) {
    gr_view_score *s = gr_heap_alloc((size_t)t->score_n + 1, sizeof *s);
    if (!s) return gr_report_oom(t->d);
    bool ok = true;
    if (t->score_n) {
        memcpy(s, t->score, t->score_n * sizeof *s);
        qsort(s, t->score_n, sizeof *s, worse);
        gr_buf_printf(b, "<h2>The worst held-out views</h2>\n<div class=views>\n");
        for (uint32_t i = 0; ok && i < t->score_n && i < WORST; i++) ok = show_view(b, t, &s[i]);
        gr_buf_puts(b, "</div>\n<h2>All held-out views</h2>\n<div class=\"card scroll\"><table><tr><th>view<th class=n>PSNR, dB<th class=n>SSIM</tr>\n");
        for (uint32_t i = 0; i < t->score_n; i++) {
            gr_buf_puts(b, "<tr><td>");
            gr_buf_html(b, t->desc.scene->view.v[s[i].view].name);
            gr_buf_printf(b, "<td class=n>%.2f<td class=n>%.4f</tr>\n", s[i].score.psnr, s[i].score.ssim);
        }
        gr_buf_puts(b, "</table></div>\n");
    }
    gr_heap_free(s);
    return ok;
}

/* ---- the page ------------------------------------------------------------------------------------------------- */

static void term(gr_buf *b, const char *name, gr_str v) {
    if (!v.n) return;
    gr_buf_printf(b, "<dt>%s<dd>", name);
    gr_buf_html(b, v);
    gr_buf_putc(b, '\n');
}

static void details(gr_buf *b, gr_trainer *t) {
    gr_arena a = {0};
    gr_buf config = {0};
    gr_provenance p = gr_provenance_of(&a, t);
    gr_buf_puts(b, "<h2>What was run</h2>\n<div class=card><dl>\n");
    term(b, "device", p.adapter), term(b, "tier", gr_str_of(t->setup.train.tier)), term(b, "guarantee", p.guarantee);
    term(b, "parameters", p.parameters), term(b, "data set", gr_str_of(t->data_hash)), term(b, "program", p.binary), term(b, "WebGPU library", p.library);
    term(b, "profile", p.profile), term(b, "revision", p.revision), term(b, "version", p.version);
    gr_buf_puts(b, "</dl></div>\n<details class=card style=\"margin-top:1rem\"><summary>Configuration as resolved</summary><pre>");
    gr_config_print(&config, t->desc.config, "", false);
    gr_buf_html(b, gr_buf_view(&config));
    gr_buf_puts(b, "</pre></details>\n");
    gr_buf_free(&config);
    gr_arena_free(&a);
}

bool gr_report_html(gr_buf *b, gr_trainer *t) {
    const gr_scene *s = t->desc.scene;
    const gr_evaluation *e = t->evaluation_n ? &t->evaluation[t->evaluation_n - 1] : NULL;
    gr_buf_printf(b, "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\"><title>Splat training</title><style>%s</style>\n<main>\n", style);
    gr_buf_printf(b, "<h1>Step %u of %u</h1><p class=sub>", t->done, t->setup.train.max_steps);
    gr_buf_html(b, s->source);
    gr_buf_printf(b, " &middot; %s &middot; %u views trained on, %u held out, up to %u x %u pixels</p>\n<div class=hero>\n", s->kind, t->order.n, s->view.n - t->order.n, t->width, t->height);
    if (e) figure(b, "PSNR, held out", 2, e->psnr, "dB"), figure(b, "SSIM, held out", 4, e->ssim, "");
    figure(b, "splats", 0, t->state.n, "");
    figure(b, "training time", 1, t->seconds, "s");
    figure(b, "speed", 1, gr_result_speed(t), "steps/s");
    figure(b, "device memory", 1, (double)gr_step_created_bytes(t->step) / 1048576, "MiB");
    gr_buf_puts(b, "</div>\n");
    bool ok = curves(b, t) && views(b, t);
    stages(b, t);
    details(b, t);
    gr_buf_puts(b, "</main></html>\n");
    return ok && (!b->failed || gr_report_oom(t->d));
}
