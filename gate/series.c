#include "gate/series.h"

#include "base/file.h"
#include "base/lock.h"
#include "gate/proc.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GPU_EVERY_TICKS = 10, RECORD_MAX = 1 << 20, RESULT_MAX = 64 << 20 };

const char *gate_state_text(gate_state s) {
    static const char *const texts[] = {"open", "complete", "void", "failed", "stopped"};
    return texts[s];
}

const char *gate_slot(char out[32], const char *arm, uint32_t pair) {
    snprintf(out, 32, "%s-%u", arm, pair);
    return out;
}

static gr_str path(gate_context *c, const char *name) { return gr_path_join(c->a, c->dir, gr_str_of(name)); }

static bool write_text(gate_context *c, const char *name, gr_buf *b) {
    bool ok = !b->failed ? gr_file_write(c->d, path(c, name), b->p, b->n) : gr_report_oom(c->d);
    gr_buf_free(b);
    return ok;
}

/* ---- what is on disk ------------------------------------------------------------------------------------------ */

const gate_run *gate_first(const gate_context *c, const char *slot) {
    for (uint32_t i = 0; i < c->runs.n; i++)
        if (c->runs.v[i].ok && !c->runs.v[i].retry && gr_str_eqz(c->runs.v[i].slot, slot)) return &c->runs.v[i];
    return NULL;
}

const gate_run *gate_counted(const gate_context *c, const char *slot) {
    for (uint32_t i = 0; i < c->runs.n; i++)
        if (c->runs.v[i].ok && c->runs.v[i].retry && gr_str_eqz(c->runs.v[i].slot, slot)) return &c->runs.v[i];
    return gate_first(c, slot);
}

static uint32_t attempts_of(const gate_context *c, const char *slot) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->runs.n; i++)
        if (gr_str_eqz(c->runs.v[i].slot, slot) && c->runs.v[i].attempt > most) most = c->runs.v[i].attempt;
    return most;
}

/* An attempt without its record was interrupted: it keeps its number and never counts. */
static bool load_attempt(gate_context *c, gr_str slot, gr_str number) {
    char *name = gr_arena_printf(c->a, "runs/%.*s/%.*s/run.toml", GR_STR_ARG(slot), GR_STR_ARG(number));
    gate_run *run = GR_PUSH(c->a, &c->runs);
    if (!name || !run) return gr_report_oom(c->d);
    *run = (gate_run){.slot = slot, .attempt = (uint32_t)strtoul(number.p, NULL, 10), .why = GR_STR("interrupted"), .gpu_others = -1};
    gr_str text, full = path(c, name);
    if (!gr_file_exists(full)) return true;
    gate_run read;
    GR_TRY(gr_file_read(c->a, c->d, full, RECORD_MAX, &text) && gate_run_parse(c->a, c->d, full, text, &read));
    if (gr_str_eq(read.slot, slot) && read.attempt == run->attempt) return *run = read, true;
    return gr_report(c->d, GR_D_GATE_RECORD_INVALID, (gr_place){.document = full}, NULL, "the record says slot %.*s, attempt %u",
                     GR_STR_ARG(read.slot), read.attempt);
}

static bool load_runs(gate_context *c) {
    gr_str *slots, *attempts, runs = path(c, "runs");
    uint32_t slot_n, attempt_n;
    c->runs.n = 0;
    if (!gr_file_exists(runs)) return true;
    GR_TRY(gr_dir_list(c->a, c->d, runs, &slots, &slot_n));
    for (uint32_t i = 0; i < slot_n; i++) {
        GR_TRY(gr_dir_list(c->a, c->d, gr_path_join(c->a, runs, slots[i]), &attempts, &attempt_n));
        for (uint32_t k = 0; k < attempt_n; k++)
            if (attempts[k].p[0] >= '1' && attempts[k].p[0] <= '9') GR_TRY(load_attempt(c, slots[i], attempts[k]));
    }
    return true;
}

static gate_state state_of(gate_context *c) {
    gr_str text, state = {"", 0};
    gr_doc doc;
    gr_str done = path(c, "done");
    if (!gr_file_exists(done) || !gr_file_read(c->a, c->d, done, RECORD_MAX, &text) || !gr_toml_parse(c->a, c->d, done, text, &doc)) return GATE_OPEN;
    gr_value_str(c->a, c->d, &doc, doc.root, "state", true, &state);
    for (int s = GATE_COMPLETE; s <= GATE_STOPPED; s++)
        if (gr_str_eqz(state, gate_state_text((gate_state)s))) return (gate_state)s;
    return GATE_OPEN;
}

bool gate_series_load(gate_context *c) {
    gr_str text, file = path(c, "series.toml");
    GR_TRY(gr_file_read(c->a, c->d, file, RECORD_MAX, &text) && gate_series_parse(c->a, c->d, file, text, &c->s) && load_runs(c));
    c->state = state_of(c);
    return gr_diags_ok(c->d);
}

/* Alike but for when it was begun and what the source and the binaries were then: those are looked at run by run. */
static bool alike(const gate_series *old, const gate_series *new) {
    gate_series copy = *new;
    copy.started = old->started, copy.revision = old->revision;
    copy.dawn = old->dawn, copy.dawn_hash = old->dawn_hash;
    copy.off.binary_hash = old->off.binary_hash, copy.on.binary_hash = old->on.binary_hash;
    if (copy.watched_n == old->watched_n) copy.watched_hashes = old->watched_hashes;
    gr_buf x = {0}, y = {0};
    gate_series_print(&x, old), gate_series_print(&y, &copy);
    bool same = !x.failed && !y.failed && gr_str_eq(gr_buf_view(&x), gr_buf_view(&y));
    gr_buf_free(&x), gr_buf_free(&y);
    return same;
}

bool gate_series_register(gate_context *c, const gate_series *s) {
    gr_str file = path(c, "series.toml");
    if (!gr_file_exists(file)) {
        gr_buf b = {0};
        gate_series_print(&b, s);
        GR_TRY(gr_dir_make(c->d, path(c, "runs")) && write_text(c, "series.toml", &b));
    }
    GR_TRY(gate_series_load(c));
    if (alike(&c->s, s)) return true;
    return gr_report(c->d, GR_D_GATE_SERIES_DIFFERS, (gr_place){.document = file}, "give this series another --name, or --resume the old one",
                     "a series of that name is registered with other commands, configurations or rules");
}

/* ---- rules ---------------------------------------------------------------------------------------------------- */

gate_pairs gate_pairs_of(const gate_context *c) {
    gate_pairs p = {.quality = c->s.quality.n > 0};
    for (uint32_t i = 1; i <= c->s.max; i++) {
        char slot[32];
        const gate_run *off = gate_counted(c, gate_slot(slot, "off", i)), *on = gate_counted(c, gate_slot(slot, "on", i));
        if (!off || !on) break;
        p.off[p.n] = off->elapsed, p.on[p.n] = on->elapsed;
        p.q_off[p.n] = off->quality, p.q_on[p.n] = on->quality;
        p.n++;
    }
    return p;
}

gate_rule gate_rule_of(const gate_context *c) {
    gate_rule r = c->s.rule;
    r.looks = c->s.sequential ? c->s.max - c->s.n + 1 : 1;
    return r;
}

gate_retry gate_retry_of(const gate_context *c) {
    gate_retry r = c->s.retry;
    double v[GATE_PAIRS_MAX];
    uint32_t n = 0;
    char slot[32];
    for (uint32_t i = 1; i <= c->s.calibrate; i++) {
        const gate_run *run = gate_counted(c, gate_slot(slot, "calibrate", i));
        if (run) v[n++] = run->elapsed;
    }
    if (n >= GATE_CALIBRATE_MIN) r.sigma = gate_sigma(v, n) / gate_mean(v, n);
    return r;
}

/* ---- one attempt ---------------------------------------------------------------------------------------------- */

static const gate_arm *arm_of(const gate_context *c, const char *slot) {
    return !strncmp(slot, "on-", 3) || !strcmp(slot, "smoke-on") ? &c->s.on : &c->s.off;
}

/* ctime moves with every change of content, and nobody sets it back. */
static gate_seen look(gr_str file) {
    struct stat st;
    if (!file.n || stat(file.p, &st) != 0) return (gate_seen){.file = file, .size = -1};
    return (gate_seen){file, st.st_size, st.st_ctim.tv_sec, st.st_ctim.tv_nsec, st.st_ino};
}

static bool same_file(gate_context *c, uint32_t at, gr_str file, gr_str registered, const char *what) {
    gate_seen now = look(file), *was = &c->seen[at];
    if (!registered.n) return true;
    if (was->file.n && was->size == now.size && was->seconds == now.seconds && was->nanoseconds == now.nanoseconds && was->inode == now.inode)
        return true;
    gr_str hash = gr_file_hash(c->a, file);
    if (gr_str_eq(hash, registered)) return *was = now, true;
    c->state = GATE_VOID;
    return gr_report(c->d, GR_D_GATE_SERIES_VOID, (gr_place){.document = file}, "start anew under another --name",
                     "%s changed during the series: it was %.*s and is %.*s", what, GR_STR_ARG(registered), GR_STR_ARG(hash));
}

static bool files_unchanged(gate_context *c) {
    bool same = same_file(c, 0, c->s.off.binary, c->s.off.binary_hash, "the program of off") &&
                same_file(c, 1, c->s.on.binary, c->s.on.binary_hash, "the program of on") &&
                same_file(c, 2, c->s.dawn, c->s.dawn_hash, "the WebGPU library");
    for (uint32_t i = 0; same && i < c->s.watched_n; i++) same = same_file(c, 3 + i, c->s.watched[i], c->s.watched_hashes[i], "a watched file");
    return same;
}

typedef struct sampler { gate_context *c; gate_run *run; int ticks; } sampler;

static void tick(void *user, int session) {
    sampler *s = user;
    if (s->run->gpu_others < 0 || s->ticks++ % GPU_EVERY_TICKS) return; /* nvidia-smi is not free */
    int others = gate_gpu_others(s->c->a, session);
    if (others > s->run->gpu_others) s->run->gpu_others = others;
}

static void note(const gate_context *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(const gate_context *c, const char *fmt, ...) {
    if (c->quiet) return;
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

static bool failed(gate_context *c, gate_run *run, const char *why) {
    run->why = gr_str_dup(c->a, gr_str_of(why));
    return run->why.p || gr_report_oom(c->d);
}

/* Each flag as the run itself resolved it. One that differs is no chance: the series ends. */
static bool flags_hold(gate_context *c, const gate_arm *arm, const gate_result *result, gr_str file) {
    for (uint32_t i = 0; i < c->s.flag_n; i++) {
        const gate_flag *f = &c->s.flags[i];
        const gate_key *k = gate_keys_find(&result->config, f->name);
        gr_str want = arm == &c->s.on ? f->on : f->off, got = k ? k->value : GR_STR("");
        if (gr_str_eq(want, got)) continue;
        c->state = GATE_FAILED;
        return gr_report(c->d, GR_D_GATE_FLAG_UNRESOLVED, (gr_place){.document = file},
                         "the program must write its resolved configuration as [config], and the key must be wired",
                         "%.*s is registered as %.*s and the run resolved it as %.*s", GR_STR_ARG(f->name), GR_STR_ARG(want.n ? want : GR_STR("absent")),
                         GR_STR_ARG(got.n ? got : GR_STR("absent")));
    }
    return true;
}

/* Fills elapsed, quality and metrics; run->why says what is wrong with the result. False ends the series. */
static bool take_result(gate_context *c, const gate_arm *arm, const char *out, gate_run *run) {
    run->elapsed = run->clock;
    if (!c->s.result.n) return true;
    const char *pattern = c->s.result.p, *at = strstr(pattern, "{out}");
    char *name = at ? gr_arena_printf(c->a, "%.*s%s%s", (int)(at - pattern), pattern, out, at + 5) : gr_arena_printf(c->a, "%s", pattern);
    if (!name) return gr_report_oom(c->d);
    gr_diags quiet;
    gr_diags_init(&quiet);
    gr_str text;
    gate_result result;
    bool ok = gr_file_read(c->a, &quiet, gr_str_of(name), RESULT_MAX, &text) && gate_result_parse(c->a, &quiet, gr_str_of(name), text, &result);
    bool reported = ok || failed(c, run, quiet.list.n ? gr_arena_printf(c->a, "%.*s", GR_STR_ARG(quiet.list.v[0].message)) : "no result");
    gr_diags_free(&quiet);
    if (!ok) return reported;
    run->metrics = result.metrics;
    gate_number(&result.metrics, "elapsed_s", &run->elapsed);
    if (!(run->elapsed > 0)) return failed(c, run, "the result's elapsed_s is not positive");
    if (!flags_hold(c, arm, &result, gr_str_of(name))) return false;
    if (c->s.quality.n && !(run->has_quality = gate_number(&result.metrics, c->s.quality.p, &run->quality)))
        return failed(c, run, gr_arena_printf(c->a, "the result has no metric %s; --quality names another, or none", c->s.quality.p));
    return true;
}

static char *command_of(gate_context *c, const char *slot, const gate_arm *arm, const char *out) {
    const char *dash = strrchr(slot, '-'), *pair = dash && dash[1] >= '0' && dash[1] <= '9' ? dash + 1 : "0";
    const char *pairs[] = {"config", arm->config.p, "out", out, "pair", pair};
    char *command = gate_fill(c->a, arm->command.p, pairs, 3);
    if (command && !strncmp(slot, "smoke-", 6) && c->s.smoke_arguments.n) command = gr_arena_printf(c->a, "%s %s", command, c->s.smoke_arguments.p);
    return command;
}

/* Runs the command of a slot. False when the series must end; run->why empty when the attempt counts. */
static bool carry_out(gate_context *c, const char *slot, gate_run *run) {
    const gate_arm *arm = arm_of(c, slot);
    char *folder = gr_arena_printf(c->a, "%.*s/runs/%s/%u", GR_STR_ARG(c->dir), slot, run->attempt);
    char *out = gr_arena_printf(c->a, "%s/out", folder), *log = gr_arena_printf(c->a, "%s/log.txt", folder);
    char *command = out ? command_of(c, slot, arm, out) : NULL;
    char *e_slot = gr_arena_printf(c->a, "GRADUS_GATE_SLOT=%s", slot), *e_try = gr_arena_printf(c->a, "GRADUS_GATE_ATTEMPT=%u", run->attempt);
    char *e_out = gr_arena_printf(c->a, "GRADUS_GATE_OUT=%s", out ? out : "");
    if (!log || !command || !e_slot || !e_try || !e_out) return gr_report_oom(c->d);
    GR_TRY(gr_dir_make(c->d, gr_str_of(out)));
    const char *environment[] = {e_slot, e_try, e_out, "GRADUS_DEVICE_LOCKED=1", NULL};
    sampler s = {.c = c, .run = run};
    gate_proc p = {.command = command, .log = log, .environment = environment, .tick = tick, .user = &s};
    gate_exit end;
    run->gpu_others = gate_gpu_others(c->a, -1);
    run->before = gate_load_now(c->root), run->power_before = gate_power_now(c->root);
    GR_TRY(gate_proc_run(c->d, &p, &end));
    run->after = gate_load_now(c->root), run->power_after = gate_power_now(c->root);
    run->clock = end.elapsed;
    run->other_cores = fmax(0, (run->after.busy - run->before.busy - end.cpu) / fmax(end.elapsed, 1e-9));
    if (end.interrupted) {
        c->state = GATE_STOPPED;
        return gr_report(c->d, GR_D_GATE_STOPPED, (gr_place){.document = c->dir}, "the same command, or gradus gate --resume, goes on from here",
                         "stopped during %s; finished runs are kept", slot);
    }
    if (end.signal) return failed(c, run, gr_arena_printf(c->a, "ended by signal %d", end.signal));
    if (end.code) return failed(c, run, gr_arena_printf(c->a, "exit code %d", end.code));
    return take_result(c, arm, out, run);
}

static bool attempt(gate_context *c, const char *slot, bool retry, bool *ok) {
    GR_TRY(files_unchanged(c));
    gate_run *run = GR_PUSH(c->a, &c->runs);
    gr_str name = gr_str_dup(c->a, gr_str_of(slot));
    if (!run || !name.p) return gr_report_oom(c->d);
    *run = (gate_run){.slot = name, .attempt = attempts_of(c, slot) + 1, .retry = retry, .started = gate_utc(c->a)};
    note(c, "%s%s", slot, retry ? " again, by the retry rule" : run->attempt > 1 ? " again" : "");
    if (!carry_out(c, slot, run)) return false;
    run->ok = *ok = run->why.n == 0;
    if (run->ok) note(c, "%s  %.4g s%s", slot, run->elapsed, gate_run_loaded(run, c->s.load_limit) ? "  (the machine was loaded)" : "");
    else note(c, "%s  attempt %u failed: %.*s", slot, run->attempt, GR_STR_ARG(run->why));
    gr_buf b = {0};
    gate_run_print(&b, run);
    char *file = gr_arena_printf(c->a, "runs/%s/%u/run.toml", slot, run->attempt);
    if (!file) return gr_buf_free(&b), gr_report_oom(c->d);
    return write_text(c, file, &b);
}

static bool ensure(gate_context *c, const char *slot) {
    bool ok = gate_first(c, slot) != NULL;
    for (int i = 0; i < GATE_ATTEMPTS && !ok; i++) GR_TRY(attempt(c, slot, false, &ok));
    if (ok) return true;
    const gate_run *last = &c->runs.v[c->runs.n - 1];
    c->state = GATE_FAILED;
    return gr_report(c->d, GR_D_GATE_RUN_FAILED, (gr_place){.document = c->dir}, "its logs are under runs/; the same command tries again",
                     "%s failed %d times, the last time: %.*s", slot, GATE_ATTEMPTS, GR_STR_ARG(last->why));
}

/* ---- retries --------------------------------------------------------------------------------------------------- */

/* Judged on the first values of the pairs, so that a resumed series decides as an uninterrupted one. */
static bool retry_arm(gate_context *c, const char *arm, uint32_t n) {
    double v[GATE_PAIRS_MAX];
    char slot[32];
    gate_retry rule = gate_retry_of(c);
    for (uint32_t i = 0; i < n; i++) v[i] = gate_first(c, gate_slot(slot, arm, i + 1))->elapsed;
    for (uint32_t i = 0; i < n; i++) {
        const gate_run *first = gate_first(c, gate_slot(slot, arm, i + 1));
        double z = 0;
        bool ok = false;
        if (gate_counted(c, slot) != first || !gate_run_loaded(first, c->s.load_limit) || !gate_outlier(v, n, i, &rule, &z)) continue;
        note(c, "%s was loaded and lies %.1f sigma off: one retry", slot, z);
        for (int k = 0; k < GATE_ATTEMPTS && !ok; k++) GR_TRY(attempt(c, slot, true, &ok));
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static bool run_pairs(gate_context *c) {
    char slot[32];
    for (uint32_t pair = 1; pair <= c->s.max; pair++) {
        GR_TRY(ensure(c, gate_slot(slot, "off", pair)));
        GR_TRY(ensure(c, gate_slot(slot, "on", pair)));
        /* A look before a pair that is there was taken before a kill, and was not the last. */
        if (pair < c->s.n || gate_pairs_of(c).n > pair) continue;
        GR_TRY(retry_arm(c, "off", pair) && retry_arm(c, "on", pair));
        gate_pairs p = gate_pairs_of(c);
        gate_rule rule = gate_rule_of(c);
        gate_verdict v = gate_judge(&p, &rule);
        if (!c->s.sequential || gate_safe(&v)) break;
    }
    return true;
}

static bool run_all(gate_context *c) {
    char slot[32];
    if (c->s.smoke) GR_TRY(ensure(c, "smoke-off") && ensure(c, "smoke-on"));
    for (uint32_t i = 1; i <= c->s.calibrate; i++) GR_TRY(ensure(c, gate_slot(slot, "calibrate", i)));
    const char *blocked = gate_retry_blocked(c->s.max, gate_load_now(c->root).known, &(gate_retry){.sigma = c->s.calibrate});
    if (blocked) gr_report(c->d, GR_D_GATE_RETRY_BLOCKED, (gr_place){0}, NULL, "no run of this series can be retried: %s", blocked);
    return run_pairs(c) && files_unchanged(c);
}

static void waiting(void *user, gr_str owner) {
    note(user, "waiting for the device: %.*s", GR_STR_ARG(owner.n ? owner : GR_STR("another gate or trainer holds it")));
}

static int lock_series(gate_context *c) {
    gr_str file = path(c, "lock");
    int fd = open(file.p, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    if (fd >= 0) close(fd);
    gr_report(c->d, GR_D_GATE_SERIES_RUNNING, (gr_place){.document = c->dir}, NULL, "another process is at work on this series");
    return -1;
}

static bool write_done(gate_context *c) {
    gr_buf b = {0};
    gate_toml_str(&b, "state", gr_str_of(gate_state_text(c->state)));
    gate_toml_str(&b, "finished", gate_utc(c->a));
    gate_toml_num(&b, "exit_code", gr_diags_exit_code(c->d));
    return write_text(c, "done", &b);
}

bool gate_series_go(gate_context *c) {
    if (c->state == GATE_VOID)
        return gr_report(c->d, GR_D_GATE_SERIES_VOID, (gr_place){.document = c->dir}, "start anew under another --name", "this series is void");
    int series = lock_series(c);
    if (series < 0) return false;
    gr_lock device = {0};
    const char *user = getenv("USER");
    char *owner = gr_arena_printf(c->a, "gradus gate %.*s, pid %d, %s, since %.*s", GR_STR_ARG(c->s.name), (int)getpid(), user ? user : "unknown user",
                                  GR_STR_ARG(gate_utc(c->a)));
    bool ok = load_runs(c); /* again: another process may have finished some meanwhile */
    if (ok && c->state != GATE_COMPLETE) {
        unlink(path(c, "done").p);
        c->state = GATE_OPEN;
        ok = gr_lock_device(c->d, owner ? owner : "gradus gate", waiting, c, &device) && run_all(c);
        if (c->state == GATE_OPEN) c->state = ok ? GATE_COMPLETE : GATE_FAILED;
        if (ok) ok = gate_report_write(c);
        ok = write_done(c) && ok;
        gr_lock_release(&device);
    }
    close(series);
    return ok;
}
