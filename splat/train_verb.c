/* gradus splat train, resume and bench. */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "base/file.h"
#include "splat/result.h"
#include "splat/run.h"
#include "splat/verbs.h"

static volatile sig_atomic_t asked; /* by a signal, which can be told nothing else */

static void on_signal(int number) {
    (void)number;
    asked = 1;
}

/* Ctrl-C and a polite kill ask for a checkpoint; a second one ends the process as usual. */
static bool run_watched(gr_run_setup *r, uint32_t steps) {
    struct sigaction ask = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, old[2];
    asked = 0;
    sigaction(SIGINT, &ask, &old[0]);
    sigaction(SIGTERM, &ask, &old[1]);
    bool ok = gr_trainer_run(&r->trainer, steps);
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    return ok;
}

static void print_result(const gr_run_setup *r) {
    const gr_trainer *t = &r->trainer;
    const gr_evaluation *e = t->evaluation_n ? &t->evaluation[t->evaluation_n - 1] : NULL;
    char hash[72];
    gr_buf b = {0};
    gr_state_hash(&t->state, false, hash);
    if (r->args->json) {
        gr_buf_printf(&b, "{\"step\": %u, \"stopped\": %s, \"splats\": %u, \"loss\": ", t->done, t->stopped ? "true" : "false", t->state.n);
        if (t->history.n) gr_buf_f64(&b, t->history.loss[t->history.n - 1]);
        else gr_buf_puts(&b, "null");
        if (e) gr_buf_puts(&b, ", \"psnr\": "), gr_buf_f64(&b, e->psnr), gr_buf_puts(&b, ", \"ssim\": "), gr_buf_f64(&b, e->ssim);
        gr_buf_puts(&b, ", \"seconds\": ");
        gr_buf_f64(&b, t->seconds);
        gr_buf_printf(&b, ", \"parameters\": \"%s\", \"out\": ", hash);
        gr_json_string(&b, t->desc.out);
        gr_buf_puts(&b, "}\n");
    } else {
        gr_buf_printf(&b, "%s step %u, %u splats, %.2f s, %.1f steps/s", t->stopped ? "stopped after" : "ended with", t->done, t->state.n, t->seconds, gr_result_speed(t));
        if (e && e->step == t->done) gr_buf_printf(&b, ", psnr %.3f dB, ssim %.4f", e->psnr, e->ssim);
        gr_buf_printf(&b, "\nparameters %s\n%.*s: %s\n", hash, GR_STR_ARG(t->desc.out),
                      t->stopped ? "checkpoint.safetensors, losses.csv; go on with `gradus splat resume`" : "splats.ply, report.html, result.toml, losses.csv, evaluation.csv, test/, checkpoint.safetensors");
    }
    fwrite(b.p, 1, b.n, stdout);
    gr_buf_free(&b);
}

static bool train(gr_run_setup *r, bool resume) {
    gr_checkpoint_read then;
    char now[72];
    r->desc.out = gr_run_folder(r);
    r->desc.timestamps = gr_args_get(r->args, "times") != NULL;
    r->desc.stop = &asked;
    r->desc.on_event = gr_run_progress;
    r->desc.user = r;
    if (resume) {
        r->desc.checkpoint = gr_trainer_checkpoint_path(&r->a, r->desc.out);
        GR_TRY(gr_checkpoint_look(&r->a, r->d, r->desc.checkpoint, &then) && gr_checkpoint_fits(&r->a, r->d, r->desc.checkpoint, &then, &r->config));
        gr_scene_hash(&r->scene, now);
        if (then.data_hash.n && !gr_str_eqz(then.data_hash, now))
            return gr_report(r->d, GR_D_SPLAT_CHECKPOINT_CONFIG, (gr_place){.document = r->desc.checkpoint}, "train anew, or bring back the data set as it was",
                             "the data set is not the one that the checkpoint was trained on");
    }
    GR_TRY(gr_dir_make(r->d, r->desc.out) && gr_run_trainer(r));
    bool ok = run_watched(r, 0);
    if (!ok) { /* the losses until then are worth having */
        gr_result_losses(&r->trainer);
        return false;
    }
    if (!r->trainer.stopped) ok = gr_result_write(&r->trainer);
    if (ok && (!r->args->quiet || r->args->json)) print_result(r);
    return ok;
}

static int run_train(const gr_args *args, gr_diags *d) {
    gr_run_setup r;
    bool ok = gr_run_open(&r, args, d) && train(&r, false);
    return gr_run_close(&r, ok);
}

static int run_resume(const gr_args *args, gr_diags *d) {
    gr_run_setup r;
    bool ok = gr_run_open(&r, args, d) && train(&r, true);
    return gr_run_close(&r, ok);
}

const gr_verb gr_verb_train = {
    "train", "CONFIG", "Train a scene: splats, pictures of the held-out views, a report. Ctrl-C leaves a checkpoint.",
    "  gradus splat train examples/splat/synth.toml\n  gradus splat train garden.toml --out runs/garden --set refine.cap_max=2000000\n", 1, 1, run_train,
    {{"out", "DIR", "Folder of the results (default out/NAME)", false}, {"times", NULL, "Time every stage on the device, for the report", false}, GR_RUN_OPTIONS}, gr_config_help};

const gr_verb gr_verb_resume = {
    "resume", "CONFIG", "Go on from the checkpoint in the folder of the results; in debug to the same bits as without the break.",
    "  gradus splat resume examples/splat/synth.toml\n", 1, 1, run_resume,
    {{"out", "DIR", "Folder of the results (default out/NAME)", false}, {"times", NULL, "Time every stage on the device, for the report", false}, GR_RUN_OPTIONS}, NULL};

/* ---- bench ---------------------------------------------------------------------------------------- */

static void print_stages(gr_buf *b, const gr_trainer *t, double steps, bool json) {
    gr_step_time times[GR_STEP_STAGES_MAX];
    unsigned n = gr_step_times(t->step, times);
    double device = 0;
    for (unsigned i = 0; i < n && i < GR_STEP_STAGES_MAX; i++) {
        double ms = 1e3 * times[i].seconds / steps;
        device += ms;
        if (json) gr_buf_printf(b, "%s\"%s\": %.6f", i ? ", " : "", times[i].stage, ms);
        else gr_buf_printf(b, "  %-18s %9.4f ms  %llu runs\n", times[i].stage, ms, (unsigned long long)times[i].runs);
    }
    if (json) gr_buf_printf(b, "}, \"device_ms\": %.6f", device);
    else if (n) gr_buf_printf(b, "  %-18s %9.4f ms, %.0f %% of the time\n", "device in all", device, t->seconds > 0 ? 100 * device * steps / 1e3 / t->seconds : 0);
}

/* Stages count from the making of the step: warm-up included, whose steps are counted with them. */
static void print_bench(const gr_run_setup *r, uint32_t warm, double warm_seconds) {
    const gr_trainer *t = &r->trainer;
    gr_step_counters c = gr_step_count(t->step);
    uint32_t n = t->done - t->first - warm;
    double seconds = t->seconds - warm_seconds, speed = seconds > 0 ? n / seconds : 0;
    gr_buf b = {0};
    if (r->args->json) {
        gr_buf_printf(&b, "{\"steps\": %u, \"warmup\": %u, \"seconds\": %.6f, \"steps_per_s\": %.4f, \"splats\": %u, \"memory_bytes\": %llu, \"peak_in_flight\": %u, \"sync_iters\": %u, "
                      "\"pairs_most\": %u, \"pairs_dropped\": %llu, \"refine_s\": %.6f, \"pictures_s\": %.6f, \"stages_ms\": {", n, warm, seconds, speed, t->state.n,
                      (unsigned long long)gr_step_created_bytes(t->step), c.peak_in_flight, c.sync_iters, c.pairs_most, (unsigned long long)c.dropped, t->refining, t->loading);
        print_stages(&b, t, t->done - t->first, true);
        gr_buf_puts(&b, "}\n");
    } else {
        gr_buf_printf(&b, "%u steps in %.3f s after %u to warm up: %.2f steps/s, %.3f ms a step\n", n, seconds, warm, speed, n ? 1e3 * seconds / n : 0);
        gr_buf_printf(&b, "%u splats, %.1f MiB, at most %u pairs, %llu of them without room\n", t->state.n, (double)gr_step_created_bytes(t->step) / 1048576, c.pairs_most, (unsigned long long)c.dropped);
        gr_buf_printf(&b, "peak_in_flight %u, sync_iters %u, %llu forwards prefetched\n", c.peak_in_flight, c.sync_iters, (unsigned long long)c.prefetched);
        print_stages(&b, t, t->done - t->first, false);
        gr_buf_printf(&b, "  %-18s %9.4f ms\n  %-18s %9.4f ms\n", "refine (host)", 1e3 * t->refining / (t->done - t->first), "pictures (host)", 1e3 * t->loading / (t->done - t->first));
    }
    fwrite(b.p, 1, b.n, stdout);
    gr_buf_free(&b);
}

static bool bench(gr_run_setup *r) {
    uint32_t steps = 0, warm = 10;
    GR_TRY(gr_args_u32(r->args, r->d, "steps", 1, 100000000, &steps) && gr_args_u32(r->args, r->d, "warmup", 0, 1000000, &warm));
    r->desc.no_evaluation = true;
    r->desc.timestamps = !gr_args_get(r->args, "no-times");
    GR_TRY(gr_run_trainer(r));
    if (warm >= r->trainer.setup.train.max_steps) warm = 0;
    if (warm) GR_TRY(run_watched(r, warm));
    double before = r->trainer.seconds;
    GR_TRY(run_watched(r, steps));
    print_bench(r, warm, before);
    return true;
}

static int run_bench(const gr_args *args, gr_diags *d) {
    gr_run_setup r;
    bool ok = gr_run_open(&r, args, d) && bench(&r);
    return gr_run_close(&r, ok);
}

const gr_verb gr_verb_bench = {
    "bench", "CONFIG", "Train without evaluation or files and print the time of a step by stage.",
    "  gradus splat bench examples/splat/synth.toml --steps 200\n", 1, 1, run_bench,
    {{"steps", "N", "Steps to time (default: all of the configuration)", false}, {"warmup", "N", "Steps before, not timed (default 10)", false},
     {"no-times", NULL, "Do not time stages on the device", false}, GR_RUN_OPTIONS}, NULL};

/* ---- explain -------------------------------------------------------------------------------------- */

static bool rung_of(const gr_args *args, gr_diags *d, gr_rung *out) {
    const char *name = gr_args_get(args, "rung");
    if (!name || !strcmp(name, "plan")) *out = GR_RUNG_PLAN;
    else if (!strcmp(name, "graph")) *out = GR_RUNG_GRAPH;
    else if (!strcmp(name, "kernel")) *out = GR_RUNG_KERNEL;
    else return gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "--rung takes graph, kernel or plan, not \"%s\"", name);
    return true;
}

static bool explain(gr_run_setup *r) {
    gr_rung rung = GR_RUNG_NONE;
    GR_TRY(rung_of(r->args, r->d, &rung) && gr_run_trainer(r));
    char *text = gr_step_explain(r->trainer.step, rung);
    if (!text) return gr_report_oom(r->d);
    fputs(text, stdout);
    gr_text_free(text);
    return true;
}

static int run_explain(const gr_args *args, gr_diags *d) {
    gr_run_setup r;
    bool ok = gr_run_open(&r, args, d) && explain(&r);
    return gr_run_close(&r, ok);
}

const gr_verb gr_verb_explain = {
    "explain", "CONFIG", "The step of a training on the ladder: both plans with their dispatches, buffers and bytes.",
    "  gradus splat explain examples/splat/synth.toml\n  gradus splat explain garden.toml --rung graph --set refine.cap_max=2000000\n", 1, 1, run_explain,
    {{"rung", "NAME", "graph, kernel or plan (default plan)", false}, GR_RUN_OPTIONS}, NULL};
