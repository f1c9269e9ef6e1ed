/* Held-out views: rendered, scored, written. */
#include "splat/trainer.h"

#include "base/file.h"

bool gr_trainer_render(gr_trainer *t, const gr_camera *c, const gr_pose *p, float **rgb) {
    gr_step_view v = {.camera = gr_camera_pinhole(c), .pose = *p, .degree = t->setup.train.sh_degree};
    gr_tick k = gr_schedule_tick(&t->setup, 1, t->done ? t->done : t->setup.train.max_steps);
    if (!t->desc.cloud.n) v.degree = k.sh_degree;
    gr_trainer_background(t, v.background);
    *rgb = gr_heap_alloc(3 * (size_t)c->width * c->height, sizeof **rgb);
    if (!*rgb) return gr_report_oom(t->d);
    if (gr_step_render(t->step, &v, *rgb, NULL, NULL)) return true;
    gr_session_drain(t->d, t->desc.session);
    return t->d->errors ? false : GR_BUG(t->d, "S11", "rendering failed and said nothing");
}

/* The name of a view as that of one file: folders become underscores, the ending goes. */
static gr_str file_name(gr_arena *a, gr_str view) {
    gr_buf b = {0};
    size_t n = view.n;
    for (size_t i = n; i > 0 && view.p[i - 1] != '/'; i--)
        if (view.p[i - 1] == '.') {
            n = i - 1;
            break;
        }
    for (size_t i = 0; i < n; i++) gr_buf_putc(&b, view.p[i] == '/' || view.p[i] == '\\' ? '_' : view.p[i]);
    gr_buf_puts(&b, ".png");
    gr_str out = gr_str_dup(a, gr_buf_view(&b));
    gr_buf_free(&b);
    return out;
}

static bool write_picture(gr_trainer *t, gr_str folder, const gr_view *v, const float *rgb) {
    gr_arena a = {0};
    gr_image m = {0};
    bool ok = gr_picture_bytes(t->d, rgb, v->camera.width, v->camera.height, &m) && gr_image_save_png(t->d, gr_path_join(&a, folder, file_name(&a, v->name)), &m);
    gr_image_free(&m);
    gr_arena_free(&a);
    return ok;
}

static bool one_view(gr_trainer *t, uint32_t view, gr_str folder, gr_score *out) {
    const gr_view *v = &t->desc.scene->view.v[view];
    float *rgb = NULL, background[3];
    const gr_picture *p = gr_cache_get(t->cache, t->d, view);
    if (!p) return false;
    gr_trainer_background(t, background);
    bool ok = gr_trainer_render(t, &v->camera, &v->pose, &rgb) && gr_score_picture(t->d, rgb, &p->image, &p->mask, background, out);
    if (ok && folder.n) ok = write_picture(t, folder, v, rgb);
    gr_cache_release(t->cache, view);
    gr_heap_free(rgb);
    return ok;
}

static bool keep(gr_trainer *t, const gr_evaluation *e) {
    if (t->evaluation_n == t->evaluation_cap) {
        uint32_t cap = t->evaluation_cap ? 2 * t->evaluation_cap : 16;
        gr_evaluation *v = gr_heap_realloc(t->evaluation, cap, sizeof *v);
        if (!v) return gr_report_oom(t->d);
        t->evaluation = v;
        t->evaluation_cap = cap;
    }
    if (t->evaluation_n && t->evaluation[t->evaluation_n - 1].step == e->step) t->evaluation_n--; /* once more, with pictures */
    t->evaluation[t->evaluation_n++] = *e;
    return true;
}

bool gr_trainer_evaluate(gr_trainer *t, gr_str folder) {
    uint32_t n = t->desc.scene->view.n - t->order.n;
    gr_evaluation e = {.step = t->done, .splats = t->state.n, .views = n, .seconds = t->seconds};
    if (folder.n && n) GR_TRY(gr_dir_make(t->d, folder));
    t->score_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        gr_view_score s = {.view = t->test[i]};
        GR_TRY(one_view(t, s.view, folder, &s.score));
        t->score[t->score_n++] = s;
        e.psnr += s.score.psnr / n;
        e.ssim += s.score.ssim / n;
    }
    if (!n) return true;
    GR_TRY(keep(t, &e));
    if (t->desc.on_event) t->desc.on_event(t->desc.user, t, GR_TRAINER_EVALUATED);
    return true;
}
