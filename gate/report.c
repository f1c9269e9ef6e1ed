/* What a series came to, for people and for programs. */
#include "gate/series.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>

double gate_conversion(const gate_series *s, const gate_verdict *v) { return s->removed > 0 ? -v->all.delta / s->removed : NAN; }

static const char *decision_text(gate_decision d) {
    return d == GATE_ADOPT ? "adopt" : d == GATE_REJECT ? "reject" : d == GATE_UNDECIDED ? "undecided" : "none";
}

static const char *guard_text(gate_guard g) {
    return g == GATE_GUARD_HELD ? "held" : g == GATE_GUARD_NOISE ? "noise" : g == GATE_GUARD_BREACHED ? "breached" : "none";
}

typedef struct judged { gate_pairs p; gate_rule rule; gate_verdict v; } judged;

static judged judge(const gate_context *c) {
    judged j = {.p = gate_pairs_of(c), .rule = gate_rule_of(c)};
    if (j.p.n) j.v = gate_judge(&j.p, &j.rule);
    return j;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void print_runs(gr_buf *b, const gate_context *c, const judged *j) {
    const char *q = c->s.quality.n ? c->s.quality.p : "";
    gr_buf_printf(b, "\n  pair      off s       on s     delta%s%s\n", *q ? "   off and on " : "", q);
    for (uint32_t i = 0; i < j->p.n; i++) {
        char slot[32];
        const gate_run *off = gate_counted(c, gate_slot(slot, "off", i + 1)), *on = gate_counted(c, gate_slot(slot, "on", i + 1));
        gr_buf_printf(b, "  %4u %10.4g %10.4g  %+6.2f %%", i + 1, j->p.off[i], j->p.on[i], 100 * (j->p.on[i] / j->p.off[i] - 1));
        if (j->p.quality) gr_buf_printf(b, "   %.5g  %.5g", j->p.q_off[i], j->p.q_on[i]);
        if (gate_run_loaded(off, c->s.load_limit)) gr_buf_puts(b, "  off was loaded");
        if (gate_run_loaded(on, c->s.load_limit)) gr_buf_puts(b, "  on was loaded");
        gr_buf_putc(b, '\n');
    }
}

static void print_retries(gr_buf *b, const gate_context *c) {
    for (uint32_t i = 0; i < c->runs.n; i++) {
        const gate_run *r = &c->runs.v[i], *first = gate_first(c, r->slot.p);
        if (r->ok && r->retry && first)
            gr_buf_printf(b, "  %.*s was retried by the registered rule: %.4g s before, %.4g s counts\n", GR_STR_ARG(r->slot), first->elapsed, r->elapsed);
        if (!r->ok) gr_buf_printf(b, "  %.*s attempt %u does not count: %.*s\n", GR_STR_ARG(r->slot), r->attempt, GR_STR_ARG(r->why));
    }
}

static void line(gr_buf *b, const char *name, const char *answer) { gr_buf_printf(b, "  %-24s %s", name, answer); }

static void print_left_out(gr_buf *b, const judged *j) {
    char name[48];
    if (j->p.n < 3) return;
    for (uint32_t i = 0; i < j->p.n; i++) {
        snprintf(name, sizeof name, "without pair %u", i + 1);
        line(b, name, j->v.without[i].holds ? "holds" : "does not hold");
        gr_buf_printf(b, ", %+.2f %%%s\n", 100 * j->v.without[i].delta, j->v.without[i].holds == j->v.all.holds ? "" : "  flips");
    }
    snprintf(name, sizeof name, "without the worst run");
    line(b, name, j->v.without_worst.holds ? "holds" : "does not hold");
    gr_buf_printf(b, ", %+.2f %% (%s-%u)%s\n", 100 * j->v.without_worst.delta, j->v.worst_is_on ? "on" : "off", j->v.worst_pair + 1,
                  j->v.without_worst.holds == j->v.all.holds ? "" : "  flips");
}

static void print_criteria(gr_buf *b, const gate_context *c, const judged *j) {
    const gate_verdict *v = &j->v;
    line(b, "gain", v->all.gain ? "yes" : "no");
    gr_buf_printf(b, ", %+.2f %% against %+.2f %% (the greater of %g sigma_off, which is %.2f %%, and %g %%)\n", 100 * v->all.delta, 100 * v->all.threshold,
                  j->rule.sigmas, 100 * v->all.sigma_off, 100 * j->rule.floor);
    line(b, "every pair faster", v->all.signs ? "yes\n" : "no\n");
    line(b, "quality guard", guard_text(v->all.guard));
    if (v->all.guard == GATE_GUARD_NONE) gr_buf_puts(b, ", no quality metric");
    else gr_buf_printf(b, ", %.*s %+.4f against -%g", GR_STR_ARG(c->s.quality), v->all.quality, j->rule.guard);
    if (v->all.guard == GATE_GUARD_NOISE) gr_buf_printf(b, "; off differs from off by %.4f and the flag does not touch gradients", v->guard_spread);
    gr_buf_putc(b, '\n');
    line(b, "paired test", v->significant ? "yes" : "no");
    gr_buf_printf(b, ", p = %.3g against %.3g", v->p, v->alpha);
    if (j->rule.looks > 1) gr_buf_printf(b, " (%g shared by %u looks)", j->rule.alpha, j->rule.looks);
    gr_buf_putc(b, '\n');
    print_left_out(b, j);
}

static void print_after(gr_buf *b, const gate_context *c, const judged *j) {
    const gate_series *s = &c->s;
    if (s->predicted) {
        const char *where = j->v.all.delta < s->predict_low ? "faster than predicted" : j->v.all.delta > s->predict_high ? "slower than predicted" : "as predicted";
        gr_buf_printf(b, "  predicted %+.3g to %+.3g %%, measured %+.2f %%: %s\n", 100 * s->predict_low, 100 * s->predict_high, 100 * j->v.all.delta, where);
    }
    if (s->removed > 0)
        gr_buf_printf(b, "  conversion: %.0f %% of the removed work (%.3g %% of off's time) came back as time\n", 100 * gate_conversion(s, &j->v), 100 * s->removed);
    const gate_run *off = gate_counted(c, "smoke-off"), *on = gate_counted(c, "smoke-on");
    if (off && on) gr_buf_printf(b, "  smoke: off %.4g s, on %.4g s; not extrapolable\n", off->elapsed, on->elapsed);
    gate_retry r = gate_retry_of(c);
    if (r.sigma > 0) gr_buf_printf(b, "  calibration: %u runs of off against off, sigma %.2f %%\n", s->calibrate, 100 * r.sigma);
}

static void print_revision(gr_buf *b, const gate_context *c, const gate_revision *diff) {
    uint32_t code = 0;
    if (!c->s.revision.commit.n) return;
    for (uint32_t i = 0; i < diff->path_n; i++) code += gate_path_is_code(diff->paths[i]);
    gr_buf_printf(b, "  revision %.12s%s", c->s.revision.commit.p, c->s.revision.path_n ? " with changes" : "");
    if (!diff->path_n) gr_buf_puts(b, ", the same at the end\n");
    else gr_buf_printf(b, ", changed during the series in %u paths, %s\n", diff->path_n, code ? "code among them" : "none of them code");
    for (uint32_t i = 0; i < diff->path_n && i < 20; i++)
        gr_buf_printf(b, "    %.*s%s\n", GR_STR_ARG(diff->paths[i]), gate_path_is_code(diff->paths[i]) ? "  (code)" : "");
}

static void report_text(gr_buf *b, const gate_context *c, const gate_revision *diff) {
    judged j = judge(c);
    gr_buf_printf(b, "series %.*s: %u pairs, off against on\n", GR_STR_ARG(c->s.name), j.p.n);
    for (uint32_t i = 0; i < c->s.flag_n; i++)
        gr_buf_printf(b, "  flag %.*s: %.*s -> %.*s\n", GR_STR_ARG(c->s.flags[i].name), GR_STR_ARG(c->s.flags[i].off), GR_STR_ARG(c->s.flags[i].on));
    if (!j.p.n) {
        gr_buf_puts(b, "  no pair is complete\n");
        return;
    }
    print_runs(b, c, &j);
    print_retries(b, c);
    gr_buf_printf(b, "\n  off %.4g s, on %.4g s, delta %+.2f %%", gate_mean(j.p.off, j.p.n), gate_mean(j.p.on, j.p.n), 100 * j.v.all.delta);
    if (isfinite(j.v.low)) gr_buf_printf(b, ", between %+.2f and %+.2f %% (each side at %.3g)", 100 * j.v.low, 100 * j.v.high, j.v.alpha);
    gr_buf_printf(b, "\n\nverdict: %s%s\n", decision_text(j.v.decision), j.v.fragile ? ", fragile: it hangs on one pair or run" : "");
    print_criteria(b, c, &j);
    gr_buf_putc(b, '\n');
    print_after(b, c, &j);
    print_revision(b, c, diff);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void key(gr_buf *b, const char *name) {
    if (b->n && b->p[b->n - 1] != '{' && b->p[b->n - 1] != '[') gr_buf_puts(b, ", ");
    gr_buf_printf(b, "\"%s\": ", name);
}
static void num(gr_buf *b, const char *name, double v) {
    key(b, name);
    if (isfinite(v)) gr_buf_f64(b, v);
    else gr_buf_puts(b, "null");
}
static void text(gr_buf *b, const char *name, gr_str v) { key(b, name), gr_json_string(b, v); }
static void flag(gr_buf *b, const char *name, bool v) { key(b, name), gr_buf_puts(b, v ? "true" : "false"); }
static void next(gr_buf *b) {
    if (b->p[b->n - 1] != '[') gr_buf_puts(b, ", ");
}

static void json_criteria(gr_buf *b, const char *name, const gate_criteria *c) {
    if (name) key(b, name);
    else next(b);
    gr_buf_putc(b, '{');
    num(b, "delta", c->delta), num(b, "sigma_off", c->sigma_off), num(b, "threshold", c->threshold), num(b, "quality", c->quality);
    text(b, "guard", gr_str_of(guard_text(c->guard)));
    flag(b, "gain", c->gain), flag(b, "signs", c->signs), flag(b, "holds", c->holds);
    gr_buf_putc(b, '}');
}

static void json_runs(gr_buf *b, const gate_context *c) {
    key(b, "runs");
    gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < c->runs.n; i++) {
        const gate_run *r = &c->runs.v[i];
        next(b);
        gr_buf_putc(b, '{');
        text(b, "slot", r->slot), num(b, "attempt", r->attempt), flag(b, "ok", r->ok), flag(b, "retry", r->retry);
        flag(b, "counts", r->ok && gate_counted(c, r->slot.p) == r);
        if (r->why.n) text(b, "why", r->why);
        if (r->ok) {
            num(b, "elapsed_s", r->elapsed), num(b, "clock_s", r->clock);
            if (r->has_quality) num(b, "quality", r->quality);
            if (r->before.known) num(b, "load1_before", r->before.load1), num(b, "load1_after", r->after.load1), num(b, "other_cores", r->other_cores);
            num(b, "gpu_others", r->gpu_others);
            text(b, "power", gr_str_of(gate_power_text(r->power_after)));
            flag(b, "loaded", gate_run_loaded(r, c->s.load_limit));
        }
        gr_buf_putc(b, '}');
    }
    gr_buf_putc(b, ']');
}

static void json_verdict(gr_buf *b, const judged *j) {
    const gate_verdict *v = &j->v;
    key(b, "verdict");
    gr_buf_putc(b, '{');
    text(b, "decision", gr_str_of(decision_text(v->decision)));
    flag(b, "fragile", v->fragile);
    num(b, "pairs", j->p.n), num(b, "p", v->p), num(b, "alpha", v->alpha), num(b, "low", v->low), num(b, "high", v->high);
    json_criteria(b, "all", &v->all);
    key(b, "without_pair");
    gr_buf_putc(b, '[');
    for (uint32_t i = 0; j->p.n >= 3 && i < j->p.n; i++) json_criteria(b, NULL, &v->without[i]);
    gr_buf_putc(b, ']');
    if (j->p.n >= 3) json_criteria(b, "without_worst_run", &v->without_worst);
    gr_buf_putc(b, '}');
}

static void report_json(gr_buf *b, const gate_context *c, const gate_revision *diff) {
    judged j = judge(c);
    gr_buf_putc(b, '{');
    text(b, "series", c->s.name), text(b, "started", c->s.started);
    text(b, "state", gr_str_of(gate_state_text(c->state)));
    key(b, "flags"), gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < c->s.flag_n; i++) {
        next(b), gr_buf_putc(b, '{');
        text(b, "name", c->s.flags[i].name), text(b, "off", c->s.flags[i].off), text(b, "on", c->s.flags[i].on);
        gr_buf_putc(b, '}');
    }
    gr_buf_putc(b, ']');
    json_runs(b, c);
    if (j.p.n) json_verdict(b, &j);
    if (c->s.predicted) {
        num(b, "predicted_low", c->s.predict_low), num(b, "predicted_high", c->s.predict_high);
        flag(b, "as_predicted", j.v.all.delta >= c->s.predict_low && j.v.all.delta <= c->s.predict_high);
    }
    if (c->s.removed > 0) num(b, "conversion", gate_conversion(&c->s, &j.v));
    text(b, "revision", c->s.revision.commit);
    key(b, "changed"), gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < diff->path_n; i++) {
        next(b), gr_buf_putc(b, '{');
        text(b, "path", diff->paths[i]), flag(b, "code", gate_path_is_code(diff->paths[i]));
        gr_buf_putc(b, '}');
    }
    gr_buf_puts(b, "]}\n");
}

static bool write_file(gate_context *c, const char *name, gr_buf *b) {
    bool ok = b->failed ? gr_report_oom(c->d) : gr_file_write(c->d, gr_path_join(c->a, c->dir, gr_str_of(name)), b->p, b->n);
    gr_buf_free(b);
    return ok;
}

bool gate_report_write(gate_context *c) {
    gate_revision now = {0}, diff = {0};
    if (c->s.revision.commit.n) now = gate_revision_now(c->a), diff = gate_revision_diff(c->a, &c->s.revision, &now);
    bool code = false;
    for (uint32_t i = 0; i < diff.path_n; i++) code = code || gate_path_is_code(diff.paths[i]);
    if (code)
        gr_report(c->d, GR_D_GATE_REVISION_CHANGED, (gr_place){.document = c->dir}, "the report lists the paths",
                  "code changed in the source tree during the series; the program itself did not");
    gr_buf text_buf = {0}, json_buf = {0};
    report_text(&text_buf, c, &diff);
    report_json(&json_buf, c, &diff);
    bool ok = write_file(c, "report.txt", &text_buf);
    return write_file(c, "verdict.json", &json_buf) && ok;
}
