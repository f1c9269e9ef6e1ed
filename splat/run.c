#include "splat/run.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "splat/result.h"

static void waiting(void *user, gr_str owner) {
    (void)user;
    fprintf(stderr, "waiting for the device, which is held by %.*s\n", owner.n ? (int)owner.n : 13, owner.n ? owner.p : "someone else");
}

static bool device_kind(const gr_args *args, gr_diags *d, gr_device_kind *out) {
    const char *name = gr_args_get(args, "device");
    if (!name || !strcmp(name, "auto")) *out = GR_DEVICE_AUTO;
    else if (!strcmp(name, "gpu")) *out = GR_DEVICE_GPU;
    else if (!strcmp(name, "cpu")) *out = GR_DEVICE_CPU;
    else return gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "--device takes gpu, cpu or auto, not \"%s\"", name);
    return true;
}

/* The warning of the session that must be seen, once. */
static void banner(const gr_run_setup *r) {
    const char *text = gr_session_banner(r->session);
    if (*text) fprintf(stderr, "%s\n", text);
}

bool gr_run_open(gr_run_setup *r, const gr_args *args, gr_diags *d) {
    gr_session_desc desc = {0};
    char owner[96];
    *r = (gr_run_setup){.d = d, .args = args, .terminal = isatty(2) != 0, .lock.fd = -1};
    bool ok = device_kind(args, d, &desc.device);
    ok = gr_config_load(&r->a, d, gr_str_of(args->arg[0]), args->many, args->many_n, &r->config) && ok;
    gr_setup s = gr_config_apply(&r->config);
    /* The data is looked at even when a key is wrong, so that one run finds everything. */
    if (s.scene.path.n) ok = gr_scene_load(&r->a, d, &s.scene, &r->scene) && ok;
    if (!ok) return false;
    snprintf(owner, sizeof owner, "gradus splat %s, process %d", args->verb->name, (int)getpid());
    GR_TRY(gr_lock_device(d, owner, waiting, NULL, &r->lock));
    r->session = gr_session_new(&desc);
    if (!r->session) return gr_report_oom(d);
    if (gr_session_exit_code(r->session)) return gr_session_drain(d, r->session);
    banner(r);
    r->desc = (gr_trainer_desc){.session = r->session, .config = &r->config, .scene = &r->scene};
    return true;
}

bool gr_run_trainer(gr_run_setup *r) {
    r->opened = true;
    return gr_trainer_new(r->d, &r->desc, &r->trainer);
}

int gr_run_close(gr_run_setup *r, bool ok) {
    if (r->opened) gr_trainer_free(&r->trainer);
    if (r->session) gr_session_drain(r->d, r->session);
    gr_session_free(r->session);
    gr_lock_release(&r->lock);
    gr_arena_free(&r->a);
    int code = gr_diags_exit_code(r->d);
    return ok ? code : code ? code : 2;
}

gr_str gr_run_folder(gr_run_setup *r) {
    const char *out = gr_args_get(r->args, "out"), *path = r->args->arg[0], *base = strrchr(path, '/');
    if (out) return gr_str_of(out);
    base = base ? base + 1 : path;
    const char *dot = strrchr(base, '.');
    return gr_str_of(gr_arena_printf(&r->a, "out/%.*s", dot ? (int)(dot - base) : (int)strlen(base), base));
}

/* "12 s", "3 min", "1.5 h" */
static void span(char *out, size_t n, double seconds) {
    if (!(seconds < 1e9)) snprintf(out, n, "?");
    else if (seconds < 100) snprintf(out, n, "%.0f s", seconds);
    else if (seconds < 6000) snprintf(out, n, "%.0f min", seconds / 60);
    else snprintf(out, n, "%.1f h", seconds / 3600);
}

static void line(gr_run_setup *r, const gr_trainer *t) {
    char left[32], psnr[32] = "";
    double speed = gr_result_speed(t);
    uint32_t steps = t->setup.train.max_steps;
    span(left, sizeof left, speed > 0 ? (steps - t->done) / speed : INFINITY);
    if (t->evaluation_n) snprintf(psnr, sizeof psnr, "  psnr %.2f", t->evaluation[t->evaluation_n - 1].psnr);
    fprintf(stderr, "%sstep %u/%u  loss %.5f%s  splats %u  %.1f steps/s  %.0f MiB  %s left%s", r->terminal ? "\r\033[K" : "", t->done, steps, gr_result_loss(t, 100), psnr, t->state.n,
            speed, (double)gr_step_created_bytes(t->step) / 1048576, left, r->terminal && t->done < steps ? "" : "\n");
    fflush(stderr);
}

void gr_run_progress(void *user, const gr_trainer *t, gr_trainer_event e) {
    gr_run_setup *r = user;
    double now = gr_clock_seconds();
    if (e == GR_TRAINER_SAVED) gr_result_losses(t);
    if (r->args->quiet || r->args->json) return;
    bool due = !r->terminal || now - r->shown > 0.1 || t->done == t->setup.train.max_steps;
    if (e == GR_TRAINER_LOGGED && due) line(r, t), r->shown = now;
    if (e == GR_TRAINER_EVALUATED) {
        const gr_evaluation *v = &t->evaluation[t->evaluation_n - 1];
        fprintf(stderr, "%sstep %u: psnr %.3f dB, ssim %.4f over %u held-out views\n", r->terminal ? "\r\033[K" : "", v->step, v->psnr, v->ssim, v->views);
    }
}
