#include "splat/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

enum { CURVE_POINTS = 500 };

double gr_result_speed(const gr_trainer *t) { return t->done > t->first && t->seconds > 0 ? (t->done - t->first) / t->seconds : 0; }

double gr_result_loss(const gr_trainer *t, uint32_t most) {
    const gr_history *h = &t->history;
    uint32_t n = h->n < most ? h->n : most;
    double sum = 0;
    for (uint32_t i = h->n - n; i < h->n; i++) sum += h->loss[i];
    return n ? sum / n : (double)NAN;
}

static bool save(const gr_trainer *t, const char *name, gr_buf *b) {
    gr_arena a = {0};
    bool ok = b->failed ? gr_report_oom(t->d) : gr_file_write(t->d, gr_path_join(&a, t->desc.out, gr_str_of(name)), b->p ? b->p : "", b->n);
    gr_buf_free(b);
    gr_arena_free(&a);
    return ok;
}

/* ---- losses.csv ----------------------------------------------------------------------------------- */

/* The lines of the file as it is that belong to steps up to `last`. */
static void earlier_lines(gr_buf *b, const gr_trainer *t, uint32_t last) {
    gr_arena a = {0};
    gr_diags quiet;
    gr_str text = {0};
    gr_diags_init(&quiet);
    gr_str path = gr_path_join(&a, t->desc.out, GR_STR("losses.csv"));
    if (last && gr_file_exists(path) && gr_file_read(&a, &quiet, path, 0, &text)) {
        uint32_t want = 1;
        for (const char *at = text.p; at && *at && want <= last;) {
            size_t n = strcspn(at, "\n");
            if (strtoul(at, NULL, 10) == want) gr_buf_put(b, at, n), gr_buf_putc(b, '\n'), want++;
            at += n + (at[n] == '\n');
        }
    }
    gr_diags_free(&quiet);
    gr_arena_free(&a);
}

bool gr_result_losses(const gr_trainer *t) {
    const gr_history *h = &t->history;
    gr_buf b = {0};
    gr_buf_puts(&b, "step,loss,splats\n");
    earlier_lines(&b, t, h->first);
    for (uint32_t i = 0; i < h->n; i++) {
        gr_buf_printf(&b, "%u,", h->first + i + 1);
        gr_buf_f64(&b, h->loss[i]);
        gr_buf_printf(&b, ",%u\n", h->splats[i]);
    }
    return save(t, "losses.csv", &b);
}

/* ---- result.toml ------------------------------------------------------------------------------------ */

static void number(gr_buf *b, const char *key, double v) {
    gr_buf_printf(b, "%s = ", key);
    size_t at = b->n;
    gr_buf_f64(b, v);
    if (b->p && !strpbrk(b->p + at, ".en")) gr_buf_puts(b, ".0");
    gr_buf_putc(b, '\n');
}

static void text(gr_buf *b, const char *key, gr_str v) {
    gr_buf_printf(b, "%s = ", key);
    gr_json_string(b, v);
    gr_buf_putc(b, '\n');
}

static void metrics(gr_buf *b, gr_trainer *t) {
    gr_step_counters c = gr_step_count(t->step);
    gr_buf_puts(b, "[metrics]\n");
    if (t->history.n) number(b, "final_loss", t->history.loss[t->history.n - 1]);
    if (t->evaluation_n) number(b, "psnr", t->evaluation[t->evaluation_n - 1].psnr), number(b, "ssim", t->evaluation[t->evaluation_n - 1].ssim);
    gr_buf_printf(b, "splats = %u\nsteps = %u\n", t->state.n, t->done);
    number(b, "elapsed_s", t->seconds);
    number(b, "steps_per_s", gr_result_speed(t));
    number(b, "refine_s", t->refining);
    number(b, "pictures_s", t->loading);
    number(b, "evaluate_s", t->evaluating);
    gr_buf_printf(b, "peak_in_flight = %u\nsync_iters = %u\npairs_most = %u\npairs_dropped = %llu\nmemory_bytes = %llu\n", c.peak_in_flight, c.sync_iters, c.pairs_most,
                  (unsigned long long)c.dropped, (unsigned long long)gr_step_created_bytes(t->step));
    if (t->first) gr_buf_printf(b, "resumed_from = %u\n", t->first);
}

/* Points of a curve: the mean over equal stretches of steps, placed at the last of each. */
static void curves(gr_buf *b, const gr_trainer *t) {
    const gr_history *h = &t->history;
    uint32_t stretch = h->n / CURVE_POINTS + 1;
    gr_buf steps = {0}, losses = {0}, splats = {0};
    for (uint32_t i = 0; i < h->n; i += stretch) {
        uint32_t end = i + stretch < h->n ? i + stretch : h->n;
        double sum = 0;
        for (uint32_t k = i; k < end; k++) sum += h->loss[k];
        gr_buf_printf(&steps, "%s%u", i ? ", " : "", h->first + end);
        gr_buf_puts(&losses, i ? ", " : "");
        gr_buf_f64(&losses, sum / (end - i));
        gr_buf_printf(&splats, "%s%u", i ? ", " : "", h->splats[end - 1]);
    }
    gr_buf_printf(b, "\n[curve.loss]\nstep = [%s]\nvalue = [%s]\n", gr_buf_view(&steps).p, gr_buf_view(&losses).p);
    gr_buf_printf(b, "\n[curve.splats]\nstep = [%s]\nvalue = [%s]\n", gr_buf_view(&steps).p, gr_buf_view(&splats).p);
    gr_buf_puts(b, "\n[curve.psnr]\nstep = [");
    for (uint32_t i = 0; i < t->evaluation_n; i++) gr_buf_printf(b, "%s%u", i ? ", " : "", t->evaluation[i].step);
    gr_buf_puts(b, "]\nvalue = [");
    for (uint32_t i = 0; i < t->evaluation_n; i++) gr_buf_puts(b, i ? ", " : ""), gr_buf_f64(b, t->evaluation[i].psnr);
    gr_buf_puts(b, "]\n");
    gr_buf_free(&steps);
    gr_buf_free(&losses);
    gr_buf_free(&splats);
}

bool gr_result_toml(gr_buf *b, gr_trainer *t) {
    gr_arena a = {0};
    gr_provenance p = gr_provenance_of(&a, t);
    metrics(b, t);
    curves(b, t);
    gr_buf_putc(b, '\n');
    gr_config_print(b, t->desc.config, "config.", false);
    gr_buf_puts(b, "\n[provenance]\n");
    text(b, "version", p.version), text(b, "binary", p.binary), text(b, "library", p.library), text(b, "revision", p.revision);
    text(b, "data", gr_str_of(t->data_hash)), text(b, "profile", p.profile), text(b, "executor", p.executor), text(b, "adapter", p.adapter);
    gr_buf_printf(b, "seed = %llu\n", (unsigned long long)t->setup.train.seed);
    text(b, "tier", gr_str_of(t->setup.train.tier)), text(b, "guarantee", p.guarantee), text(b, "parameters", p.parameters);
    gr_arena_free(&a);
    return !b->failed || gr_report_oom(t->d);
}

static bool evaluation_csv(const gr_trainer *t) {
    gr_buf b = {0};
    gr_buf_puts(&b, "view,psnr,ssim\n");
    for (uint32_t i = 0; i < t->score_n; i++) {
        gr_str name = t->desc.scene->view.v[t->score[i].view].name;
        bool quote = memchr(name.p, ',', name.n) || memchr(name.p, '"', name.n);
        if (quote) gr_json_string(&b, name);
        else gr_buf_str(&b, name);
        gr_buf_putc(&b, ','), gr_buf_f64(&b, t->score[i].score.psnr);
        gr_buf_putc(&b, ','), gr_buf_f64(&b, t->score[i].score.ssim);
        gr_buf_putc(&b, '\n');
    }
    return save(t, "evaluation.csv", &b);
}

bool gr_result_write(gr_trainer *t) {
    gr_arena a = {0};
    gr_buf toml = {0}, html = {0};
    gr_cloud c = gr_state_cloud(&t->state);
    c.antialiased = t->setup.train.antialiased;
    bool ok = gr_result_losses(t) && evaluation_csv(t) && gr_cloud_save(t->d, gr_path_join(&a, t->desc.out, GR_STR("splats.ply")), &c);
    ok = ok && gr_result_toml(&toml, t) && gr_report_html(&html, t);
    if (ok) ok = save(t, "result.toml", &toml);
    if (ok) ok = save(t, "report.html", &html);
    gr_buf_free(&toml);
    gr_buf_free(&html);
    gr_arena_free(&a);
    return ok;
}
