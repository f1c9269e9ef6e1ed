#include "gate/finding.h"

#include "base/file.h"
#include "gate/proc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FINDING_MAX = 4 << 20 };

const char *gate_status_text(gate_status s) {
    return s == GATE_STABLE ? "stable" : s == GATE_PROVISIONAL ? "provisional" : s == GATE_REJECTED ? "rejected" : "";
}

bool gate_strs_has(const gate_strs *s, gr_str v) {
    for (uint32_t i = 0; i < s->n; i++)
        if (gr_str_eq(s->v[i], v)) return true;
    return false;
}

/* ---- reading one -------------------------------------------------------------------------------------------- */

typedef struct reader { gr_arena *a; gr_diags *d; gate_finding *f; } reader;

static bool wrong(reader *r, const gr_value *v, const char *hint, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static bool wrong(reader *r, const gr_value *v, const char *hint, const char *fmt, ...) {
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return gr_report(r->d, GR_D_FINDINGS_FIELD, gr_value_place(&r->f->doc, v, r->a), hint, "%s", message);
}

static bool str(reader *r, const gr_value *o, const char *key, bool need, gr_str *out) {
    const gr_value *v = gr_value_get(o, key);
    *out = (gr_str){"", 0};
    if (v && v->kind == GR_V_DATETIME) *out = v->s;
    else GR_TRY(gr_value_str(r->a, r->d, &r->f->doc, o, key, need, out));
    if (need && out->n == 0) return wrong(r, v ? v : o, NULL, "%s is empty", key);
    *out = gr_str_dup(r->a, *out);
    return out->p || gr_report_oom(r->d);
}

static bool strs(reader *r, const gr_value *o, const char *key, bool need, gate_strs *out) {
    gr_value *list = NULL;
    *out = (gate_strs){0};
    GR_TRY(gr_value_array(r->a, r->d, &r->f->doc, o, key, need, &list));
    if (!list) return true;
    out->v = GR_NEW_N(r->a, gr_str, list->array.n);
    if (!out->v) return gr_report_oom(r->d);
    for (uint32_t i = 0; i < list->array.n; i++) {
        if (list->array.v[i]->kind != GR_V_STRING || !list->array.v[i]->s.n) return wrong(r, list->array.v[i], NULL, "%s holds something else than words", key);
        out->v[out->n++] = list->array.v[i]->s;
    }
    return !need || out->n || wrong(r, list, NULL, "%s is empty", key);
}

static bool num(reader *r, const gr_value *o, const char *key, bool need, double low, double high, double *out) {
    GR_TRY(gr_value_f64(r->a, r->d, &r->f->doc, o, key, need, out));
    const gr_value *v = gr_value_get(o, key);
    return !v || (*out >= low && *out <= high) || wrong(r, v, NULL, "%s is %g, not from %g to %g", key, *out, low, high);
}

static bool keys(reader *r, const gr_value *root, const char *key, gate_keys *out) {
    gr_value *t = NULL;
    *out = (gate_keys){0};
    GR_TRY(gr_value_object(r->a, r->d, &r->f->doc, root, key, false, &t));
    return gate_keys_of(r->a, r->d, t, out);
}

static bool one_of(reader *r, const gr_value *o, const char *key, gr_str v, const char *const *words) {
    gr_buf b = {0};
    for (uint32_t i = 0; words[i]; i++) {
        if (gr_str_eqz(v, words[i])) return gr_buf_free(&b), true;
        gr_buf_printf(&b, "%s%s", i ? ", " : "", words[i]);
    }
    wrong(r, gr_value_get(o, key) ? gr_value_get(o, key) : o, b.p, "%s is \"%.*s\"", key, GR_STR_ARG(v));
    gr_buf_free(&b);
    return false;
}

/* "2024-05-01", perhaps with a time after it. */
static bool date_ok(gr_str s) {
    if (s.n < 10 || (s.n > 10 && s.p[10] != 'T' && s.p[10] != ' ')) return false;
    for (size_t i = 0; i < 10; i++)
        if (i == 4 || i == 7 ? s.p[i] != '-' : s.p[i] < '0' || s.p[i] > '9') return false;
    int month = atoi((char[]){s.p[5], s.p[6], 0}), day = atoi((char[]){s.p[8], s.p[9], 0});
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool id_ok(gr_str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] == '-' && i))) return false;
    return s.n > 0 && s.n <= 80;
}

static bool read_head(reader *r, const gr_value *o) {
    static const char *const known[] = {"format", "id", "title", "date", "task", "milestone", "program", "status", "polarity", "axes", "tags",
                                        "follow_up_of", "links", "config_paths", "differs", "quality", "rule", "prediction", "default",
                                        "defaults", "off", "on", "provenance", "runs", "points", "sections", NULL};
    static const char *const statuses[] = {"stable", "provisional", "rejected", NULL}, *const polarities[] = {"positive", "negative", "neutral", NULL};
    gate_finding *f = r->f;
    gr_str status;
    bool ok = gr_value_known(r->a, r->d, &f->doc, o, known);
    ok &= str(r, o, "id", true, &f->id) & str(r, o, "title", true, &f->title) & str(r, o, "date", true, &f->date) & str(r, o, "task", true, &f->task) &
          str(r, o, "milestone", true, &f->milestone) & str(r, o, "program", false, &f->program) & str(r, o, "status", true, &status) &
          str(r, o, "polarity", true, &f->polarity) & str(r, o, "follow_up_of", false, &f->follow_up_of) & str(r, o, "differs", false, &f->differs) &
          str(r, o, "quality", false, &f->quality) & strs(r, o, "axes", true, &f->axes) & strs(r, o, "tags", false, &f->tags) &
          strs(r, o, "links", false, &f->links) & strs(r, o, "config_paths", false, &f->config_paths);
    GR_TRY(ok);
    if (!id_ok(f->id)) return wrong(r, gr_value_get(o, "id"), "small letters, digits and hyphens", "the id is \"%.*s\"", GR_STR_ARG(f->id));
    if (!date_ok(f->date)) return wrong(r, gr_value_get(o, "date"), "2024-05-01", "the date is \"%.*s\"", GR_STR_ARG(f->date));
    GR_TRY(one_of(r, o, "status", status, statuses) & one_of(r, o, "polarity", f->polarity, polarities));
    f->status = gr_str_eqz(status, "stable") ? GATE_STABLE : gr_str_eqz(status, "rejected") ? GATE_REJECTED : GATE_PROVISIONAL;
    return true;
}

static bool table(reader *r, const gr_value *o, const char *key, gr_value **out) {
    *out = NULL;
    GR_TRY(gr_value_object(r->a, r->d, &r->f->doc, o, key, false, out));
    if (!*out) *out = gr_value_new(r->a, GR_V_OBJECT);
    return *out || gr_report_oom(r->d);
}

static bool read_rule(reader *r, const gr_value *o) {
    gate_finding *f = r->f;
    gr_value *rule, *prediction;
    double looks = 1;
    f->rule = gate_rule_default();
    GR_TRY(table(r, o, "rule", &rule) && table(r, o, "prediction", &prediction));
    f->predicted = gr_value_get(prediction, "low") && gr_value_get(prediction, "high");
    bool ok = num(r, rule, "floor", false, 0, 1, &f->rule.floor) & num(r, rule, "sigmas", false, 0, 1e6, &f->rule.sigmas) &
              num(r, rule, "guard", false, 0, 1e12, &f->rule.guard) & num(r, rule, "alpha", false, 1e-9, 0.5, &f->rule.alpha) &
              num(r, rule, "looks", false, 1, GATE_PAIRS_MAX, &looks) &
              gr_value_bool(r->a, r->d, &f->doc, rule, "gradients_untouched", false, &f->rule.gradients_untouched) &
              num(r, prediction, "low", false, -1, 1e6, &f->predict_low) & num(r, prediction, "high", false, -1, 1e6, &f->predict_high) &
              num(r, prediction, "removed_work", false, 0, 1, &f->removed);
    f->rule.looks = (uint32_t)looks;
    return ok;
}

/* Elements of an array of tables; at most `most`. */
static bool tables(reader *r, const gr_value *o, const char *key, uint32_t most, gr_value **list, uint32_t *n) {
    *list = NULL, *n = 0;
    GR_TRY(gr_value_array(r->a, r->d, &r->f->doc, o, key, false, list));
    if (!*list) return true;
    if ((*list)->array.n > most) return wrong(r, *list, NULL, "more than %u %s", most, key);
    for (uint32_t i = 0; i < (*list)->array.n; i++)
        if ((*list)->array.v[i]->kind != GR_V_OBJECT) return wrong(r, (*list)->array.v[i], NULL, "%s are tables", key);
    *n = (*list)->array.n;
    return true;
}

static bool read_row(reader *r, const gr_value *t, gate_row *row) {
    static const char *const known[] = {"arm", "pair", "elapsed_s", "quality", "counts", "load1", "other_cores", "note", NULL}, *const arms[] = {"off", "on", NULL};
    gr_str arm;
    double pair = 0;
    *row = (gate_row){.counts = true, .load1 = NAN, .other_cores = NAN};
    bool ok = gr_value_known(r->a, r->d, &r->f->doc, t, known) & str(r, t, "arm", true, &arm) & num(r, t, "pair", true, 1, GATE_PAIRS_MAX, &pair) &
              num(r, t, "elapsed_s", true, 1e-12, 1e12, &row->elapsed) & num(r, t, "quality", false, -1e300, 1e300, &row->quality) &
              num(r, t, "load1", false, 0, 1e9, &row->load1) & num(r, t, "other_cores", false, 0, 1e9, &row->other_cores) &
              gr_value_bool(r->a, r->d, &r->f->doc, t, "counts", false, &row->counts) & str(r, t, "note", false, &row->note);
    GR_TRY(ok && one_of(r, t, "arm", arm, arms));
    row->on = gr_str_eqz(arm, "on"), row->pair = (uint32_t)pair, row->has_quality = gr_value_get(t, "quality") != NULL;
    return true;
}

/* Every pair from 1 on has one counted run of each arm. */
static bool pair_up(reader *r, const gr_value *at) {
    gate_finding *f = r->f;
    uint32_t seen[2][GATE_PAIRS_MAX + 1] = {{0}}, most = 0;
    f->pairs = (gate_pairs){.quality = f->quality.n > 0};
    for (uint32_t i = 0; i < f->row_n; i++) {
        const gate_row *row = &f->rows[i];
        if (!row->counts) continue;
        seen[row->on][row->pair]++;
        if (row->pair > most) most = row->pair;
        (row->on ? f->pairs.on : f->pairs.off)[row->pair - 1] = row->elapsed;
        (row->on ? f->pairs.q_on : f->pairs.q_off)[row->pair - 1] = row->quality;
        if (f->quality.n && !row->has_quality) return wrong(r, at, NULL, "the finding guards %.*s, and a run that counts has no quality", GR_STR_ARG(f->quality));
    }
    for (uint32_t i = 1; i <= most; i++)
        if (seen[0][i] != 1 || seen[1][i] != 1)
            return gr_report(r->d, GR_D_FINDINGS_RUNS, gr_value_place(&f->doc, at, r->a), "a run that was repeated says counts = false",
                             "pair %u has %u counted runs of off and %u of on", i, seen[0][i], seen[1][i]);
    f->pairs.n = most;
    if (most) f->verdict = gate_judge(&f->pairs, &f->rule);
    return true;
}

static bool read_lists(reader *r, const gr_value *o) {
    static const char *const point_keys[] = {"text", "state", "date", NULL}, *const section_keys[] = {"title", "text", NULL};
    static const char *const states[] = {"open", "closed", "moot", NULL};
    gate_finding *f = r->f;
    gr_value *runs, *list;
    GR_TRY(tables(r, o, "runs", GATE_RUNS_MAX, &runs, &f->row_n));
    f->rows = GR_NEW_N(r->a, gate_row, f->row_n);
    if (!f->rows) return gr_report_oom(r->d);
    for (uint32_t i = 0; i < f->row_n; i++) GR_TRY(read_row(r, runs->array.v[i], &f->rows[i]));
    if (f->row_n) GR_TRY(pair_up(r, runs));
    GR_TRY(tables(r, o, "points", 1000, &list, &f->point_n));
    f->points = GR_NEW_N(r->a, gate_point, f->point_n);
    for (uint32_t i = 0; f->points && i < f->point_n; i++) {
        const gr_value *t = list->array.v[i];
        gate_point *p = &f->points[i];
        GR_TRY(gr_value_known(r->a, r->d, &f->doc, t, point_keys) & str(r, t, "text", true, &p->text) & str(r, t, "state", true, &p->state) & str(r, t, "date", true, &p->date));
        GR_TRY(one_of(r, t, "state", p->state, states));
        if (!date_ok(p->date)) return wrong(r, gr_value_get(t, "date"), "2024-05-01", "the date is \"%.*s\"", GR_STR_ARG(p->date));
    }
    GR_TRY(tables(r, o, "sections", 1000, &list, &f->section_n));
    f->sections = GR_NEW_N(r->a, gate_section, f->section_n);
    for (uint32_t i = 0; f->sections && i < f->section_n; i++) {
        const gr_value *t = list->array.v[i];
        GR_TRY(gr_value_known(r->a, r->d, &f->doc, t, section_keys) & str(r, t, "title", true, &f->sections[i].title) & str(r, t, "text", true, &f->sections[i].text));
    }
    return (f->points && f->sections) || gr_report_oom(r->d);
}

static bool decided_keys_are_touched(reader *r, const gr_value *o) {
    for (uint32_t i = 0; i < r->f->decided.n; i++)
        if (!gate_strs_has(&r->f->config_paths, r->f->decided.v[i].name))
            return wrong(r, gr_value_get(o, "default"), "name it in config_paths", "[default] decides %.*s, which the finding does not touch", GR_STR_ARG(r->f->decided.v[i].name));
    return true;
}

bool gate_finding_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_finding *out) {
    *out = (gate_finding){0};
    reader r = {a, d, out};
    GR_TRY(gr_toml_parse(a, d, name, text, &out->doc));
    const gr_value *o = out->doc.root;
    return read_head(&r, o) && read_rule(&r, o) && keys(&r, o, "default", &out->decided) && keys(&r, o, "defaults", &out->defaults) &&
           keys(&r, o, "off", &out->off) && keys(&r, o, "on", &out->on) && keys(&r, o, "provenance", &out->provenance) && read_lists(&r, o) &&
           decided_keys_are_touched(&r, o);
}

/* ---- writing one -------------------------------------------------------------------------------------------- */

static void print_rows(gr_buf *b, const gate_finding *f) {
    for (uint32_t i = 0; i < f->row_n; i++) {
        const gate_row *r = &f->rows[i];
        gr_buf_puts(b, "\n[[runs]]\n");
        gate_toml_str(b, "arm", r->on ? GR_STR("on") : GR_STR("off"));
        gate_toml_num(b, "pair", r->pair);
        gate_toml_num(b, "elapsed_s", r->elapsed);
        if (r->has_quality) gate_toml_num(b, "quality", r->quality);
        if (!r->counts) gate_toml_bool(b, "counts", false);
        gate_toml_num(b, "load1", r->load1);
        gate_toml_num(b, "other_cores", r->other_cores);
        if (r->note.n) gate_toml_str(b, "note", r->note);
    }
}

static void print_tables(gr_buf *b, const gate_finding *f) {
    gr_buf_puts(b, "\n[rule]\n");
    gate_toml_num(b, "floor", f->rule.floor), gate_toml_num(b, "sigmas", f->rule.sigmas), gate_toml_num(b, "guard", f->rule.guard);
    gate_toml_num(b, "alpha", f->rule.alpha), gate_toml_num(b, "looks", f->rule.looks);
    gate_toml_bool(b, "gradients_untouched", f->rule.gradients_untouched);
    if (f->predicted || f->removed > 0) gr_buf_puts(b, "\n[prediction]\n");
    if (f->predicted) gate_toml_num(b, "low", f->predict_low), gate_toml_num(b, "high", f->predict_high);
    if (f->removed > 0) gate_toml_num(b, "removed_work", f->removed);
    gate_toml_keys(b, "default", &f->decided);
    gate_toml_keys(b, "defaults", &f->defaults);
    gate_toml_keys(b, "off", &f->off);
    gate_toml_keys(b, "on", &f->on);
    gate_toml_keys(b, "provenance", &f->provenance);
}

void gate_finding_print(gr_buf *b, const gate_finding *f) {
    gr_buf_puts(b, "format = 1\n");
    gate_toml_str(b, "id", f->id), gate_toml_str(b, "title", f->title), gate_toml_str(b, "date", f->date);
    gate_toml_str(b, "task", f->task), gate_toml_str(b, "milestone", f->milestone);
    if (f->program.n) gate_toml_str(b, "program", f->program);
    gate_toml_str(b, "status", gr_str_of(gate_status_text(f->status))), gate_toml_str(b, "polarity", f->polarity);
    gate_toml_strs(b, "axes", f->axes.v, f->axes.n), gate_toml_strs(b, "tags", f->tags.v, f->tags.n);
    if (f->follow_up_of.n) gate_toml_str(b, "follow_up_of", f->follow_up_of);
    gate_toml_strs(b, "links", f->links.v, f->links.n);
    gate_toml_strs(b, "config_paths", f->config_paths.v, f->config_paths.n);
    if (f->differs.n) gate_toml_str(b, "differs", f->differs);
    if (f->quality.n) gate_toml_str(b, "quality", f->quality);
    print_tables(b, f);
    print_rows(b, f);
    for (uint32_t i = 0; i < f->point_n; i++) {
        gr_buf_puts(b, "\n[[points]]\n");
        gate_toml_str(b, "text", f->points[i].text), gate_toml_str(b, "state", f->points[i].state), gate_toml_str(b, "date", f->points[i].date);
    }
    for (uint32_t i = 0; i < f->section_n; i++) {
        gr_buf_puts(b, "\n[[sections]]\n");
        gate_toml_str(b, "title", f->sections[i].title), gate_toml_str(b, "text", f->sections[i].text);
    }
}
