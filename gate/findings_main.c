/* gradus findings: new, check, render, list. */
#include "gate/gate.h"

#include "base/file.h"
#include "gate/finding.h"
#include "gate/series.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIST_MAX = 64 };

typedef struct list { gr_str v[LIST_MAX]; uint32_t n; } list;
typedef struct options {
    const char *verb, *dir, *out, *status, *id, *series, *series_dir, *title, *task, *milestone, *program, *differs, *follow;
    list touches, tags, axes;
    bool json;
} options;

enum { O_DIR = 256, O_OUT, O_STATUS, O_TAG, O_AXIS, O_TOUCHES, O_ID, O_SERIES, O_SERIES_DIR, O_TITLE, O_TASK, O_MILESTONE, O_PROGRAM, O_DIFFERS, O_FOLLOW, O_JSON };

static const struct argp_option option_table[] = {
    {"findings", O_DIR, "DIR", 0, "Where findings lie (default findings)", 1},
    {"out", 'o', "DIR", 0, "render: where the pages go (default out/findings)", 1},
    {"status", O_STATUS, "STATUS", 0, "list: stable, provisional or rejected; new: the status", 2},
    {"tag", O_TAG, "TAG", 0, "list: findings with this tag; new: a tag", 2},
    {"axis", O_AXIS, "AXIS", 0, "list: findings on this axis; new: an axis (default speed)", 2},
    {"touches", O_TOUCHES, "KEY", 0, "list, new: a configuration key; new shows the rejected findings that touched it", 2},
    {"id", O_ID, "ID", 0, "new: its id; without one, only what was rejected is shown", 3},
    {"series", O_SERIES, "NAME", 0, "new: a complete series of gradus gate, whose runs it takes", 3},
    {"series-dir", O_SERIES_DIR, "DIR", 0, "new: where series lie (default out/gate)", 3},
    {"title", O_TITLE, "TEXT", 0, "new: its title", 3},
    {"task", O_TASK, "TEXT", 0, "new: what was being done", 3},
    {"milestone", O_MILESTONE, "TEXT", 0, "new: when", 3},
    {"program", O_PROGRAM, "NAME", 0, "new: whose defaults it is about, a table of programs.toml", 3},
    {"differs", O_DIFFERS, "TEXT", 0, "new: why it differs from the rejected findings that touched the same", 3},
    {"follow-up-of", O_FOLLOW, "ID", 0, "new: the finding it follows", 3},
    {"json", O_JSON, NULL, 0, "list: print JSON", 4},
    {0}};

static void push(list *l, const char *arg, struct argp_state *state) {
    if (l->n == LIST_MAX) argp_error(state, "more than %d values", LIST_MAX);
    else l->v[l->n++] = gr_str_of(arg);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case O_DIR: o->dir = arg; break;
    case 'o': o->out = arg; break;
    case O_STATUS: o->status = arg; break;
    case O_TAG: push(&o->tags, arg, state); break;
    case O_AXIS: push(&o->axes, arg, state); break;
    case O_TOUCHES: push(&o->touches, arg, state); break;
    case O_ID: o->id = arg; break;
    case O_SERIES: o->series = arg; break;
    case O_SERIES_DIR: o->series_dir = arg; break;
    case O_TITLE: o->title = arg; break;
    case O_TASK: o->task = arg; break;
    case O_MILESTONE: o->milestone = arg; break;
    case O_PROGRAM: o->program = arg; break;
    case O_DIFFERS: o->differs = arg; break;
    case O_FOLLOW: o->follow = arg; break;
    case O_JSON: o->json = true; break;
    case ARGP_KEY_ARG:
        if (o->verb) argp_error(state, "one of new, check, render, list, not \"%s\" too", arg);
        else o->verb = arg;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static bool usage(gr_diags *d, const char *message) { return gr_report(d, GR_D_GATE_USAGE, (gr_place){0}, "gradus findings --help shows examples", "%s", message); }

/* ---- list ---------------------------------------------------------------------------------------------------------- */

static bool any_of(const list *want, const gate_strs *has) {
    for (uint32_t i = 0; i < want->n; i++)
        if (!gate_strs_has(has, want->v[i])) return false;
    return true;
}

static bool touched(const list *want, const gate_strs *paths) {
    for (uint32_t i = 0; i < want->n; i++)
        if (gate_strs_has(paths, want->v[i])) return true;
    return want->n == 0;
}

static void print_line(const gate_finding *f) {
    char delta[32] = "";
    if (f->pairs.n) snprintf(delta, sizeof delta, "%+.2f %%", 100 * f->verdict.all.delta);
    gr_buf title = {0};
    gate_figures_expand(&title, f, f->title);
    printf("%-28.*s %-12s %10s  %s\n", GR_STR_ARG(f->id), gate_status_text(f->status), delta, title.p ? title.p : "");
    gr_buf_free(&title);
}

static void print_json(const gate_finding *f, bool first) {
    gr_buf b = {0}, title = {0};
    gate_figures_expand(&title, f, f->title);
    gr_buf_puts(&b, first ? "{\"id\": " : ", {\"id\": ");
    gr_json_string(&b, f->id), gr_buf_puts(&b, ", \"title\": "), gr_json_string(&b, gr_buf_view(&title));
    gr_buf_free(&title);
    gr_buf_printf(&b, ", \"status\": \"%s\", \"date\": ", gate_status_text(f->status)), gr_json_string(&b, f->date);
    if (f->pairs.n) gr_buf_puts(&b, ", \"delta\": "), gr_buf_f64(&b, f->verdict.all.delta);
    gr_buf_putc(&b, '}');
    fwrite(b.p ? b.p : "", 1, b.n, stdout);
    gr_buf_free(&b);
}

static bool list_findings(gate_index *x, const options *o) {
    bool first = true, ok = gate_index_load(x);
    if (o->json) putchar('[');
    for (uint32_t i = 0; i < x->n; i++) {
        const gate_finding *f = &x->v[i];
        if ((o->status && strcmp(o->status, gate_status_text(f->status))) || !any_of(&o->tags, &f->tags) || !any_of(&o->axes, &f->axes) ||
            !touched(&o->touches, &f->config_paths))
            continue;
        if (o->json) print_json(f, first);
        else print_line(f);
        first = false;
    }
    if (o->json) puts("]");
    return ok;
}

/* ---- new ----------------------------------------------------------------------------------------------------------- */

static uint32_t show_rejected(const gate_index *x, const list *touches) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        const gate_finding *f = &x->v[i];
        if (f->status != GATE_REJECTED || !touches->n || !touched(touches, &f->config_paths)) continue;
        if (!n++) puts("rejected before:");
        print_line(f);
    }
    return n;
}

static bool ask(gr_arena *a, gr_str *out) {
    char text[1000];
    if (!isatty(0) || !isatty(1)) return false;
    fputs("Why does this one differ? ", stdout);
    fflush(stdout);
    if (!fgets(text, sizeof text, stdin)) return false;
    text[strcspn(text, "\n")] = 0;
    *out = gr_str_dup(a, gr_str_of(text));
    return out->n > 0;
}

static bool take_rows(gate_context *c, gate_finding *f) {
    f->rows = GR_NEW_N(c->a, gate_row, c->runs.n);
    if (!f->rows) return gr_report_oom(c->d);
    for (uint32_t i = 0; i < c->runs.n; i++) {
        const gate_run *r = &c->runs.v[i];
        bool on = gr_str_starts(r->slot, "on-"), off = gr_str_starts(r->slot, "off-");
        if (!r->ok || (!on && !off)) continue;
        bool counts = gate_counted(c, r->slot.p) == r;
        f->rows[f->row_n++] = (gate_row){.on = on, .counts = counts, .pair = (uint32_t)strtoul(r->slot.p + (on ? 3 : 4), NULL, 10), .elapsed = r->elapsed,
                                         .has_quality = r->has_quality, .quality = r->quality, .load1 = r->before.known ? r->after.load1 : NAN,
                                         .other_cores = r->before.known ? r->other_cores : NAN,
                                         .note = counts ? r->retry ? GR_STR("retried by the registered rule") : (gr_str){"", 0} : GR_STR("repeated: loaded and an outlier")};
    }
    return true;
}

static bool take_series(gate_index *x, const options *o, list *touches, gate_finding *f) {
    gate_context c = {.a = x->a, .d = x->d, .root = "", .dir = gr_path_join(x->a, gr_str_of(o->series_dir ? o->series_dir : "out/gate"), gr_str_of(o->series))};
    GR_TRY(gate_series_load(&c));
    if (c.state != GATE_COMPLETE) return gr_report(x->d, GR_D_GATE_RECORD_INVALID, (gr_place){.document = c.dir}, NULL, "the series is %s", gate_state_text(c.state));
    GR_TRY(take_rows(&c, f));
    f->quality = c.s.quality, f->rule = gate_rule_of(&c);
    f->predicted = c.s.predicted, f->predict_low = c.s.predict_low, f->predict_high = c.s.predict_high, f->removed = c.s.removed;
    f->off = c.s.off.resolved, f->on = c.s.on.resolved;
    for (uint32_t i = 0; i < c.s.flag_n && touches->n < LIST_MAX && !o->touches.n; i++) touches->v[touches->n++] = c.s.flags[i].name;
    gr_str names[] = {GR_STR("series"), GR_STR("started"), GR_STR("revision"), GR_STR("binary_hash"), GR_STR("dawn_hash")};
    gr_str values[] = {c.s.name, c.s.started, c.s.revision.commit, c.s.on.binary_hash, c.s.dawn_hash};
    f->provenance.v = GR_NEW_N(x->a, gate_key, 5);
    if (!f->provenance.v) return gr_report_oom(x->d);
    for (int i = 0; i < 5; i++) {
        gr_buf b = {0};
        gr_json_string(&b, values[i]);
        f->provenance.v[f->provenance.n++] = (gate_key){names[i], gr_str_dup(x->a, gr_buf_view(&b))};
        gr_buf_free(&b);
    }
    gate_pairs p = gate_pairs_of(&c);
    f->pairs = p, f->verdict = gate_judge(&p, &f->rule);
    return true;
}

/* An adoption decides the value of on for what it touches; a rejection that of off. */
static bool decide(gate_index *x, gate_finding *f) {
    const gate_keys *side = f->verdict.decision == GATE_ADOPT ? &f->on : &f->off;
    f->decided.v = GR_NEW_N(x->a, gate_key, f->config_paths.n);
    if (!f->decided.v) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < f->config_paths.n; i++) {
        const gate_key *k = gate_keys_find(side, f->config_paths.v[i]);
        if (k && f->verdict.decision != GATE_UNDECIDED) f->decided.v[f->decided.n++] = *k;
    }
    gate_program *p = gate_index_program(x, f->program);
    if (!p) return true;
    GR_TRY(gate_program_read(x, p));
    f->defaults = p->now;
    return true;
}

static void describe(const options *o, gate_finding *f, gr_arena *a) {
    static gr_str speed[] = {{"speed", 5}};
    const char *words = f->verdict.decision == GATE_ADOPT ? "positive" : f->verdict.decision == GATE_REJECT ? "negative" : "neutral";
    f->id = gr_str_of(o->id), f->date = (gr_str){gate_utc(a).p, 10};
    f->title = gr_str_of(o->title ? o->title : o->id), f->task = gr_str_of(o->task ? o->task : "measure"), f->milestone = gr_str_of(o->milestone ? o->milestone : "none");
    f->program = gr_str_of(o->program ? o->program : ""), f->follow_up_of = gr_str_of(o->follow ? o->follow : ""), f->polarity = gr_str_of(words);
    f->status = f->verdict.decision == GATE_REJECT ? GATE_REJECTED : f->verdict.decision == GATE_ADOPT && !f->verdict.fragile ? GATE_STABLE : GATE_PROVISIONAL;
    if (o->status) f->status = !strcmp(o->status, "stable") ? GATE_STABLE : !strcmp(o->status, "rejected") ? GATE_REJECTED : GATE_PROVISIONAL;
    f->axes = (gate_strs){o->axes.n ? (gr_str *)(uintptr_t)o->axes.v : speed, o->axes.n ? o->axes.n : 1};
    f->tags = (gate_strs){(gr_str *)(uintptr_t)o->tags.v, o->tags.n};
}

static bool write_new(gate_index *x, gate_finding *f) {
    static gate_section sections[] = {{{"What was found", 14}, {"Over {pairs} pairs the change takes {delta} ({low} to {high}).", 58}},
                                      {{"Without runs", 12}, {"Nothing was measured.", 21}}};
    char *name = gr_arena_printf(x->a, "%.*s.toml", GR_STR_ARG(f->id));
    gr_str file = gr_path_join(x->a, x->dir, name ? gr_str_of(name) : GR_STR(""));
    if (gr_file_exists(file)) return gr_report(x->d, GR_D_FINDINGS_EXISTS, (gr_place){.document = file}, "choose another --id", "the finding is there already");
    sections[0].text.n = strlen(sections[0].text.p);
    f->sections = f->pairs.n ? &sections[0] : &sections[1], f->section_n = 1;
    gr_buf b = {0};
    gate_finding_print(&b, f);
    gate_finding back;
    bool ok = !b.failed && gate_finding_parse(x->a, x->d, file, gr_str_dup(x->a, gr_buf_view(&b)), &back) && gr_dir_make(x->d, x->dir) && gr_file_write(x->d, file, b.p, b.n);
    gr_buf_free(&b);
    if (ok) printf("wrote %.*s: say in its sections what was done, what was seen and what it means\n", GR_STR_ARG(file));
    return ok;
}

static bool new_finding(gate_index *x, const options *o) {
    list touches = o->touches;
    gate_finding f = {.rule = gate_rule_default(), .differs = gr_str_of(o->differs ? o->differs : "")};
    if (gr_file_exists(x->dir)) GR_TRY(gate_index_load(x));
    if (o->series) GR_TRY(take_series(x, o, &touches, &f));
    uint32_t rejected = show_rejected(x, &touches);
    if (!o->id) return touches.n || usage(x->d, "new takes --id, or --touches to see what was rejected");
    if (rejected && !f.differs.n && !ask(x->a, &f.differs))
        return gr_report(x->d, GR_D_FINDINGS_REPEATS, (gr_place){0}, "--differs 'why this one is another case'", "%u rejected findings touched the same", rejected);
    f.config_paths = (gate_strs){touches.v, touches.n};
    describe(o, &f, x->a);
    if (f.pairs.n) GR_TRY(decide(x, &f));
    return write_new(x, &f);
}

/* ---- the command --------------------------------------------------------------------------------------------------- */

static bool check(gate_index *x) {
    bool ok = gate_index_load(x);
    ok = gate_index_check(x) && ok;
    printf("%u findings%s\n", x->n, ok ? ", all of them hold" : "");
    return ok;
}

static bool run(gate_index *x, const options *o) {
    if (!o->verb) return usage(x->d, "findings takes new, check, render or list");
    if (!strcmp(o->verb, "new")) return new_finding(x, o);
    if (!strcmp(o->verb, "check")) return check(x);
    if (!strcmp(o->verb, "list")) return list_findings(x, o);
    if (strcmp(o->verb, "render")) return usage(x->d, "findings takes new, check, render or list");
    bool ok = gate_index_load(x);
    ok = gate_index_check(x) && ok;
    return gate_site_render(x, gr_str_of(o->out ? o->out : "out/findings")) && ok;
}

int gr_findings_main(int argc, char **argv) {
    static const char doc[] = "What was learned: findings as files, checked against their runs, shown as pages.\v"
                              "Examples:\n  gradus findings new --touches backend.pipelining\n"
                              "  gradus findings new --id two-in-flight --series s4b --program splat --title 'Two steps in flight'\n"
                              "  gradus findings check\n  gradus findings list --status rejected --axis speed\n"
                              "  gradus findings render --out out/findings\n"
                              "docs/findings.md has the schema.\n";
    static char name[] = "gradus findings";
    const struct argp argp = {option_table, parse, "new\ncheck\nrender\nlist", doc, NULL, NULL, NULL};
    argv[0] = name;
    argp_err_exit_status = 2;
    options o = {0};
    if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0) return 2;
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    gate_index x = {.a = &a, .d = &d, .dir = gr_str_of(o.dir ? o.dir : "findings")};
    run(&x, &o);
    gr_buf b = {0};
    gr_diags_print(&b, &d, (gr_str){0});
    fflush(stdout);
    fwrite(b.p ? b.p : "", 1, b.n, stderr);
    gr_buf_free(&b);
    int code = gr_diags_exit_code(&d);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return code;
}
