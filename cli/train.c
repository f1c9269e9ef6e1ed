/* gradus train: the plan and its verdict first, then steps with their loss, then the files. Ctrl-C leaves a checkpoint. */
#include "cli.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPARKS = 40 };

typedef struct watcher {
    gr_training *t;
    const cli_options *o;
    bool terminal;        /* a line that overwrites itself */
    double start, shown;  /* seconds: first step of this run, last time that a line was shown */
    uint64_t first;       /* steps done before this run */
    double sum[SPARKS];   /* of the loss, by part of the steps */
    uint64_t count[SPARKS];
    int percent;          /* last shown where there is no terminal */
} watcher;

static gr_training *volatile running; /* for the signal handler, which can be told nothing else */

static void on_signal(int number) {
    (void)number;
    if (running) gr_training_stop(running);
}

/* Means of the loss as bars of eight heights, between the least and the greatest of them. */
static void sparkline(const watcher *w, char *out) {
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < SPARKS; i++) {
        double v = w->sum[i] / (double)w->count[i];
        if (w->count[i] && v < least) least = v;
        if (w->count[i] && v > most) most = v;
    }
    *out = 0;
    for (int i = 0; i < SPARKS; i++) {
        double v = w->count[i] ? w->sum[i] / (double)w->count[i] : 0, x = most > least ? (v - least) / (most - least) : 0;
        if (w->count[i] && isfinite(v)) strcat(out, bars[(int)(x * 7.999)]);
    }
}

static void print_values(FILE *f, const watcher *w, const gr_train_event *e) {
    for (unsigned i = 0; i < e->values_n; i++) fprintf(f, "  %s %.5g", gr_training_quantity(w->t, i), e->values[i]);
}

static void on_step(watcher *w, const gr_train_event *e) {
    char line[4 * SPARKS + 1];
    double now = cli_now();
    uint64_t part = (e->step - 1) * SPARKS / e->steps;
    int percent = (int)(100.0 * (double)e->step / (double)e->steps);
    if (w->start <= 0) w->start = now, w->first = e->step - 1;
    w->sum[part < SPARKS ? part : SPARKS - 1] += e->values[0];
    w->count[part < SPARKS ? part : SPARKS - 1]++;
    bool due = w->terminal ? now - w->shown > 0.1 || e->step == e->steps : percent / 10 > w->percent / 10;
    if (w->o->quiet || w->o->json || !due) return;
    w->shown = now;
    w->percent = percent;
    sparkline(w, line);
    double each = (now - w->start) / (double)(e->step - w->first);
    fprintf(stderr, "%sstep %llu/%llu", w->terminal ? "\r\033[K" : "", (unsigned long long)e->step, (unsigned long long)e->steps);
    print_values(stderr, w, e);
    fprintf(stderr, "  rate %.3g  %s  %.0f s left%s", e->rate, line, each * (double)(e->steps - e->step), w->terminal ? "" : "\n");
    fflush(stderr);
}

static void on_evaluated(const watcher *w, const gr_train_event *e) {
    if (w->o->quiet || w->o->json) return;
    if (w->terminal) fputs("\r\033[K", stderr);
    printf("epoch %llu, step %llu:", (unsigned long long)e->epoch + 1, (unsigned long long)e->step);
    print_values(stdout, w, e);
    puts(e->best ? "  best" : "");
    fflush(stdout);
}

static void on_event(void *user, const gr_train_event *e) {
    watcher *w = user;
    if (e->kind == GR_TRAIN_EVENT_STEP) on_step(w, e);
    else if (e->kind == GR_TRAIN_EVENT_EVALUATED) on_evaluated(w, e);
}

typedef struct file_list { bool json; unsigned n; } file_list;

static void on_file(void *user, const char *path, const char *hash) {
    file_list *l = user;
    if (!l->json) {
        printf("wrote %s  %s\n", path, hash);
        return;
    }
    printf("%s\n    {\"path\": ", l->n++ ? "," : "");
    cli_json_string(stdout, path);
    printf(", \"hash\": \"%s\"}", hash);
}

/* Promises, memory by class and verdict of the step's plan: its head, up to the list of buffers. */
static void print_plan(gr_training *t) {
    char *plan = gr_explain(gr_training_program(t), GR_RUNG_PLAN, NULL, false);
    for (char *line = plan, *end; line && *line && (end = strchr(line, '\n')); line = end + 1) {
        if (!strncmp(line, "  buffer ", 9) || !strncmp(line, "}", 1)) break;
        fwrite(line, 1, (size_t)(end - line) + 1, stdout);
    }
    printf("  all plans         %.1f KiB: step, last batch and evaluation\n", (double)gr_training_planned_bytes(t) / 1024);
    gr_text_free(plan);
}

static void print_result(const watcher *w, double seconds) {
    gr_training *t = w->t;
    char last[72], best[72];
    uint64_t done = gr_training_step(t) - w->first;
    if (!gr_training_hash(t, false, last) || !gr_training_hash(t, true, best)) return;
    if (w->o->json) {
        printf(",\n  \"planned_bytes\": %llu,\n  \"created_bytes\": %llu", (unsigned long long)gr_training_planned_bytes(t), (unsigned long long)gr_training_created_bytes(t));
        printf(",\n  \"step\": %llu,\n  \"ended\": %s,\n  \"seconds\": %.6f,\n  \"parameters_hash\": \"%s\",\n  \"best_parameters_hash\": \"%s\"",
               (unsigned long long)gr_training_step(t), gr_training_ended(t) ? "true" : "false", seconds, last, best);
        return;
    }
    printf("%s after step %llu, %.3f s", gr_training_ended(t) ? "ended" : "stopped", (unsigned long long)gr_training_step(t), seconds);
    if (done) printf(", %.3f ms a step", 1e3 * seconds / (double)done);
    printf("\nparameters %s\n", last);
    if (strcmp(last, best)) printf("best       %s\n", best);
}

/* Ctrl-C and a polite kill ask for a checkpoint; a second one ends the process as usual. */
static bool run_watched(watcher *w) {
    struct sigaction ask = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, old[2];
    running = w->t;
    sigaction(SIGINT, &ask, &old[0]);
    sigaction(SIGTERM, &ask, &old[1]);
    bool ok = gr_training_run(w->t, 0);
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    running = NULL;
    if (w->terminal && !w->o->quiet && !w->o->json) fputs("\n", stderr);
    return ok;
}

/* out/NAME with NAME the document's file name without its ending. */
static void default_dir(const char *document, char *out, size_t n) {
    const char *base = strrchr(document, '/');
    base = base ? base + 1 : document;
    const char *dot = strrchr(base, '.');
    snprintf(out, n, "out/%.*s", dot ? (int)(dot - base) : (int)strlen(base), base);
}

static bool train(const cli_options *o, gr_session *s) {
    char dir[512];
    watcher w = {.o = o, .terminal = isatty(2) != 0, .percent = -10};
    gr_compile_desc c = cli_compile_desc(o);
    default_dir(o->arg[0], dir, sizeof dir);
    gr_train_desc desc = {.tier = c.tier, .budget_gpu = c.budget_gpu, .allow_heavy_cpu = c.allow_heavy_cpu, .parameters = o->parameters,
                          .out = o->out ? o->out : dir, .steps = o->steps, .resume = o->resume, .on_event = on_event, .user = &w};
    w.t = gr_session_exit_code(s) ? NULL : gr_training_open(s, o->arg[0], &desc);
    if (!w.t) {
        if (o->json) printf("{\n  \"diagnostics\": %s\n}\n", gr_session_report(s, true));
        return false;
    }
    gr_program *p = gr_training_program(w.t);
    if (o->json) {
        printf("{\n  \"executor\": \"%s\",\n  \"verdict\": \"%s\",\n  \"determinism_tier\": \"%s\",\n  \"guarantee\": \"%s\"", gr_session_executor(s), gr_program_verdict(p),
               gr_program_tier(p), gr_program_guarantee(p));
    } else if (!o->quiet) {
        print_plan(w.t);
        printf("executor %s on %s\n", gr_session_executor(s), gr_session_adapter(s));
        fflush(stdout);
    }
    double start = cli_now();
    file_list files = {.json = o->json};
    bool ok = run_watched(&w);
    if (ok) print_result(&w, cli_now() - start);
    if (o->json) printf(",\n  \"files\": [");
    ok = ok && gr_training_write(w.t, on_file, &files);
    if (o->json) printf("\n  ],\n  \"diagnostics\": %s\n}\n", gr_session_report(s, true));
    if (ok && !gr_training_ended(w.t) && !o->json) printf("a checkpoint is kept: go on with --resume\n");
    gr_training_free(w.t);
    return ok;
}

int cli_train(const cli_options *o) {
    if (o->arg_n != 1) return cli_usage(o, "train takes one document; see `gradus train --help`");
    gr_session *s = cli_session(o, false);
    if (!s) return 2;
    cli_banner(s);
    bool ok = train(o, s);
    int code = cli_finish(s, o);
    return code || ok ? code : 2;
}
