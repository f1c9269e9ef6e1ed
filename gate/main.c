/* gradus gate: arguments, registration, detaching. */
#include "gate/gate.h"

#include "base/file.h"
#include "gate/adopt.h"
#include "gate/config.h"
#include "gate/series.h"

#include <argp.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { FLAGS_MAX = GATE_FLAGS_MAX, SEQUENTIAL_PAIRS = 12 };

typedef struct options {
    const char *off, *on, *name, *runner, *resolve, *result, *quality, *dir, *predict, *smoke_arguments, *resume, *adopt, *findings;
    const char *arg[2]; unsigned arg_n;
    gr_str flag[FLAGS_MAX]; unsigned flag_n;
    gr_str watch[GATE_WATCHED_MAX]; unsigned watch_n;
    double n, max, calibrate, guard, floor, load_limit, removed;
    bool sequential, smoke, detach, json, quiet, untouched, given_max;
} options;

enum { O_NAME = 256, O_N, O_RUNNER, O_RESOLVE, O_FLAG, O_OFF, O_ON, O_RESULT, O_QUALITY, O_GUARD, O_FLOOR, O_UNTOUCHED, O_SEQUENTIAL, O_MAX,
       O_CALIBRATE, O_SMOKE, O_PREDICT, O_REMOVED, O_LOAD, O_DIR, O_DETACH, O_RESUME, O_ADOPT, O_FINDINGS, O_JSON, O_WATCH };

static const struct argp_option option_table[] = {
    {"name", O_NAME, "NAME", 0, "The series' name: the same name and arguments resume it (default: the time)", 1},
    {"n", O_N, "N", 0, "Pairs of runs (default 3); with --sequential the first look", 1},
    {"runner", O_RUNNER, "CMD", 0, "What runs a configuration; {config}, {out} and {pair} are filled in (default gradus splat train {config} --out {out})", 1},
    {"resolve", O_RESOLVE, "CMD", 0, "What checks a configuration and prints it resolved; \"\" takes the file as it stands", 1},
    {"flag", O_FLAG, "KEY", 0, "A key in which the configurations differ; repeat (default: exactly one, whichever)", 1},
    {"off", O_OFF, "CMD", 0, "Two-command mode: the command as it is now", 2},
    {"on", O_ON, "CMD", 0, "Two-command mode: the command that may be better", 2},
    {"result", O_RESULT, "FILE", 0, "The result file of a run, {out} filled in (default {out}/result.toml; none with --off and --on)", 2},
    {"quality", O_QUALITY, "METRIC", 0, "The metric that must not fall, greater is better, or none (default psnr)", 3},
    {"guard", O_GUARD, "X", 0, "How far quality may fall (default 0.05)", 3},
    {"floor", O_FLOOR, "PERCENT", 0, "The least gain worth a default (default 1)", 3},
    {"gradients-untouched", O_UNTOUCHED, NULL, 0, "The flag does not touch gradients: a guard breach within off's own spread is noise", 3},
    {"sequential", O_SEQUENTIAL, NULL, 0, "Add pairs until the verdict is safe or --max pairs are run", 3},
    {"max", O_MAX, "N", 0, "With --sequential: the most pairs (default 12)", 3},
    {"calibrate", O_CALIBRATE, "N", 0, "Run off N times first (6 or more): the retry rule takes its sigma from them", 3},
    {"load-limit", O_LOAD, "CORES", 0, "Cores kept busy by others that count as load (default 0.5)", 3},
    {"predict", O_PREDICT, "A..B", 0, "What you expect, in per cent: -4..-2", 4},
    {"removed-work", O_REMOVED, "PERCENT", 0, "Share of off's time that the change removes in theory: the conversion rate is measured over it", 4},
    {"watch", O_WATCH, "FILE", 0, "A file besides the programs whose change voids the series, a script or data; repeat", 4},
    {"smoke", O_SMOKE, "ARGS", OPTION_ARG_OPTIONAL, "Run each arm once before, with ARGS appended; never counted", 4},
    {"dir", O_DIR, "DIR", 0, "Where series lie (default out/gate)", 5},
    {"detach", O_DETACH, NULL, 0, "Go on in the background; DIR/NAME/done appears at the end", 5},
    {"resume", O_RESUME, "NAME", 0, "Go on with a registered series, or print it again when it is complete", 5},
    {"adopt", O_ADOPT, "ID", 0, "Print where a default must change for a finding, and which configurations change silently", 6},
    {"findings", O_FINDINGS, "DIR", 0, "With --adopt: where findings lie (default findings)", 6},
    {"json", O_JSON, NULL, 0, "Print the verdict as JSON", 5},
    {"quiet", 'q', NULL, 0, "No progress", 5},
    {0}};

static void number(double *out, const char *arg, double low, double high, bool whole, struct argp_state *state, const char *name) {
    char *end;
    *out = strtod(arg, &end);
    if (end == arg || *end || !(*out >= low && *out <= high) || (whole && *out != floor(*out)))
        argp_error(state, "--%s takes a %snumber from %g to %g, not \"%s\"", name, whole ? "whole " : "", low, high, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case O_NAME: o->name = arg; break;
    case O_N: number(&o->n, arg, 1, GATE_PAIRS_MAX, true, state, "n"); break;
    case O_RUNNER: o->runner = arg; break;
    case O_RESOLVE: o->resolve = arg; break;
    case O_FLAG:
        if (o->flag_n == FLAGS_MAX) argp_error(state, "more than %d flags", FLAGS_MAX);
        else o->flag[o->flag_n++] = gr_str_of(arg);
        break;
    case O_WATCH:
        if (o->watch_n == GATE_WATCHED_MAX) argp_error(state, "more than %d watched files", GATE_WATCHED_MAX);
        else o->watch[o->watch_n++] = gr_str_of(arg);
        break;
    case O_OFF: o->off = arg; break;
    case O_ON: o->on = arg; break;
    case O_RESULT: o->result = arg; break;
    case O_QUALITY: o->quality = arg; break;
    case O_GUARD: number(&o->guard, arg, 0, 1e12, false, state, "guard"); break;
    case O_FLOOR: number(&o->floor, arg, 0, 99, false, state, "floor"); break;
    case O_UNTOUCHED: o->untouched = true; break;
    case O_SEQUENTIAL: o->sequential = true; break;
    case O_MAX: number(&o->max, arg, 1, GATE_PAIRS_MAX, true, state, "max"), o->given_max = true; break;
    case O_CALIBRATE: number(&o->calibrate, arg, GATE_CALIBRATE_MIN, GATE_PAIRS_MAX, true, state, "calibrate"); break;
    case O_SMOKE: o->smoke = true, o->smoke_arguments = arg ? arg : ""; break;
    case O_PREDICT: o->predict = arg; break;
    case O_REMOVED: number(&o->removed, arg, 0, 100, false, state, "removed-work"); break;
    case O_LOAD: number(&o->load_limit, arg, 0, 1e6, false, state, "load-limit"); break;
    case O_DIR: o->dir = arg; break;
    case O_DETACH: o->detach = true; break;
    case O_RESUME: o->resume = arg; break;
    case O_ADOPT: o->adopt = arg; break;
    case O_FINDINGS: o->findings = arg; break;
    case O_JSON: o->json = true; break;
    case 'q': o->quiet = true; break;
    case ARGP_KEY_ARG:
        if (o->arg_n == 2) argp_error(state, "gate takes two configurations, not \"%s\" too", arg);
        else o->arg[o->arg_n++] = arg;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static bool usage(gr_diags *d, const char *message) { return gr_report(d, GR_D_GATE_USAGE, (gr_place){0}, "gradus gate --help shows examples", "%s", message); }

/* "-4..-2" in per cent, or one number for both ends. */
static bool predict(gr_diags *d, const char *text, gate_series *s) {
    char *end;
    const char *dots = strstr(text, ".."), *second = dots ? dots + 2 : text;
    double low = strtod(text, &end), high = strtod(second, &end);
    if (dots) { /* "-4..": strtod would read "-4." */
        char first[32];
        snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
        char *stop;
        low = strtod(first, &stop);
        if (stop == first || *stop) return usage(d, "--predict takes per cent: -4..-2");
    }
    if (end == second || *end) return usage(d, "--predict takes per cent: -4..-2");
    if (!(low <= high) || low < -100 || high > 1e6) return usage(d, "--predict goes from the faster end to the slower: -4..-2");
    s->predicted = true, s->predict_low = low / 100, s->predict_high = high / 100;
    return true;
}

static bool name_ok(const char *name) {
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    return n > 0 && n <= 100 && name[n] == 0 && name[0] != '.';
}

/* ---- from options to a series ------------------------------------------------------------------------------------ */

static bool arm_of(gr_arena *a, gr_diags *d, const options *o, int which, gate_arm *arm) {
    const char *const runner = o->runner ? o->runner : "gradus splat train {config} --out {out}";
    const char *resolver = o->resolve ? o->resolve : o->runner ? "" : "gradus splat check {config} --json";
    arm->config = (gr_str){"", 0};
    arm->command = gr_str_of(o->off ? (which ? o->on : o->off) : runner);
    arm->binary = gate_binary_of(a, arm->command.p);
    arm->binary_hash = gr_file_hash(a, arm->binary);
    if (o->off) return true;
    arm->config = gr_str_of(o->arg[which]);
    return gate_config_resolve(a, d, arm->config, resolver, &arm->resolved);
}

static bool arguments_fit(gr_diags *d, const options *o) {
    if (!o->off != !o->on) return usage(d, "--off and --on go together");
    if (o->off && o->arg_n) return usage(d, "either two configurations, or --off and --on");
    if (!o->off && o->arg_n != 2) return usage(d, "gate takes two configurations, or --off CMD and --on CMD");
    if (o->off && (o->flag_n || o->runner || o->resolve)) return usage(d, "--flag, --runner and --resolve belong to configurations, not to --off and --on");
    if (o->given_max && !o->sequential) return usage(d, "--max belongs to --sequential");
    if (o->sequential && o->max < o->n) return usage(d, "--max is less than --n");
    if (!o->off && o->result && !*o->result) return usage(d, "a configuration's flags are read back from its result: --result may not be empty");
    return true;
}

static bool watch(gr_arena *a, gr_diags *d, const options *o, gate_series *s) {
    s->watched = GR_NEW_N(a, gr_str, o->watch_n), s->watched_hashes = GR_NEW_N(a, gr_str, o->watch_n);
    if (!s->watched || !s->watched_hashes) return gr_report_oom(d);
    for (s->watched_n = 0; s->watched_n < o->watch_n; s->watched_n++) {
        s->watched[s->watched_n] = o->watch[s->watched_n];
        s->watched_hashes[s->watched_n] = gr_file_hash(a, o->watch[s->watched_n]);
        if (!s->watched_hashes[s->watched_n].n)
            return gr_report(d, GR_D_BASE_FILE_UNREADABLE, (gr_place){.document = o->watch[s->watched_n]}, NULL, "a watched file cannot be read");
    }
    return true;
}

static bool series_of(gr_arena *a, gr_diags *d, const options *o, const char *name, gate_series *s) {
    GR_TRY(arguments_fit(d, o));
    *s = (gate_series){.name = gr_str_of(name), .started = gate_utc(a), .sequential = o->sequential, .smoke = o->smoke};
    s->n = (uint32_t)o->n, s->max = o->sequential ? (uint32_t)o->max : s->n, s->calibrate = (uint32_t)o->calibrate;
    s->smoke_arguments = gr_str_of(o->smoke_arguments ? o->smoke_arguments : "");
    s->result = gr_str_of(o->result ? o->result : o->off ? "" : "{out}/result.toml");
    s->quality = gr_str_of(o->quality ? o->quality : s->result.n && !o->off ? "psnr" : "none");
    if (gr_str_eqz(s->quality, "none")) s->quality = (gr_str){"", 0};
    if (s->quality.n && !s->result.n) return usage(d, "a quality metric is read from a result file: give --result");
    s->rule = gate_rule_default(), s->retry = gate_retry_default();
    s->rule.guard = o->guard, s->rule.floor = o->floor / 100, s->rule.gradients_untouched = o->untouched;
    s->load_limit = o->load_limit, s->removed = o->removed / 100;
    if (o->predict) GR_TRY(predict(d, o->predict, s));
    GR_TRY(arm_of(a, d, o, 0, &s->off) && arm_of(a, d, o, 1, &s->on));
    if (!o->off) GR_TRY(gate_config_flags(a, d, &s->off.resolved, &s->on.resolved, o->flag, o->flag_n, &s->flags, &s->flag_n));
    s->revision = gate_revision_now(a);
    s->dawn = gate_dawn_path(a), s->dawn_hash = gr_file_hash(a, s->dawn);
    return watch(a, d, o, s);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* The series goes on without a terminal; this process says where it is. */
static bool detach(gate_context *c, bool *parent) {
    gr_str log = gr_path_join(c->a, c->dir, GR_STR("gate.log"));
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) return gr_report(c->d, GR_D_GATE_RUN_FAILED, (gr_place){0}, NULL, "cannot detach");
    *parent = pid > 0;
    if (pid > 0) {
        printf("series %.*s goes on as process %d\n  log       %.*s\n  sentinel  %.*s/done\n", GR_STR_ARG(c->s.name), (int)pid, GR_STR_ARG(log), GR_STR_ARG(c->dir));
        return true;
    }
    setsid();
    signal(SIGHUP, SIG_IGN);
    int in = open("/dev/null", O_RDONLY), out = open(log.p, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (in >= 0) dup2(in, 0);
    if (out >= 0) dup2(out, 1), dup2(out, 2);
    return true;
}

static void print_report(const gate_context *c, bool json) {
    gr_str text;
    if (gr_file_read(c->a, c->d, gr_path_join(c->a, c->dir, gr_str_of(json ? "verdict.json" : "report.txt")), 0, &text)) fwrite(text.p, 1, text.n, stdout);
}

static bool adopt(gate_context *c, const options *o) {
    gate_index x = {.a = c->a, .d = c->d, .dir = gr_str_of(o->findings ? o->findings : "findings")};
    gr_buf b = {0};
    bool ok = gate_index_load(&x) && gate_adopt(&x, gr_str_of(o->adopt), &b);
    fwrite(b.p ? b.p : "", 1, b.n, stdout);
    gr_buf_free(&b);
    return ok;
}

static bool run(gate_context *c, const options *o) {
    if (o->adopt) return adopt(c, o);
    const char *name = o->resume ? o->resume : o->name ? o->name : NULL;
    char *made = gr_arena_printf(c->a, "ab-%.*s-%d", GR_STR_ARG(gate_utc(c->a)), (int)getpid());
    for (char *p = made; p && *p; p++)
        if (*p == ':') *p = '.';
    if (!name) name = made ? made : "";
    if (!name_ok(name)) return usage(c->d, "a series' name has letters, digits, '.', '_' and '-'");
    c->dir = gr_path_join(c->a, gr_str_of(o->dir ? o->dir : "out/gate"), gr_str_of(name));
    gate_series s;
    if (o->resume && (o->arg_n || o->off || o->on)) return usage(c->d, "--resume takes the commands from the registered series");
    if (o->resume) GR_TRY(gate_series_load(c));
    else GR_TRY(series_of(c->a, c->d, o, name, &s) && gate_series_register(c, &s));
    bool parent = false;
    if (o->detach) GR_TRY(detach(c, &parent));
    if (parent) return true;
    GR_TRY(gate_series_go(c));
    print_report(c, o->json);
    return true;
}

/* "gradus" in a runner is this program, wherever it lies. */
static void prefer_self(gr_arena *a) {
    const char *path = getenv("PATH");
    gr_str self = gate_binary_of(a, "gradus"), folder = gr_path_dir(self);
    char *with = gr_arena_printf(a, "%.*s:%s", GR_STR_ARG(folder), path ? path : "/usr/bin:/bin");
    if (with && self.n) setenv("PATH", with, 1);
}

static int finish(gr_diags *d, bool json, bool printed) {
    gr_buf b = {0};
    fflush(stdout);
    if (json && !printed) {
        gr_buf_puts(&b, "{\"diagnostics\": ");
        gr_diags_print_json(&b, d);
        gr_buf_puts(&b, "}\n");
        fwrite(b.p, 1, b.n, stdout);
    } else if (!json) {
        gr_diags_print(&b, d, (gr_str){0});
        fwrite(b.p ? b.p : "", 1, b.n, stderr);
    }
    gr_buf_free(&b);
    return gr_diags_exit_code(d);
}

int gr_gate_main(int argc, char **argv) {
    static const char doc[] =
        "Measure whether a change is an improvement: runs off, on, off, on, ..., judges, and says how sure it is.\v"
        "Examples:\n  gradus gate off.toml on.toml --name s4b --n 3\n"
        "  gradus gate --off './sort-old' --on './sort-new' --n 5\n"
        "  gradus gate off.toml on.toml --name s4b --runner './train {config} {out}' --sequential --predict -4..-2 --detach\n"
        "  gradus gate --resume s4b --json\n  gradus gate --adopt two-in-flight\n"
        "docs/gate.md says what the verdicts mean and what they cannot show.\n";
    const struct argp argp = {option_table, parse, "OFF.toml ON.toml\n--off CMD --on CMD\n--resume NAME\n--adopt ID", doc, NULL, NULL, NULL};
    static char name[] = "gradus gate";
    argv[0] = name;
    argp_err_exit_status = 2;
    options o = {.n = 3, .max = SEQUENTIAL_PAIRS, .guard = 0.05, .floor = 1, .load_limit = 0.5};
    if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0) return 2;
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    gate_context c = {.a = &a, .d = &d, .quiet = o.quiet, .root = ""};
    prefer_self(&a);
    bool ok = run(&c, &o);
    int code = finish(&d, o.json, ok);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return code;
}
