#include "gate/record.h"

#include <string.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- flat configurations ---------------------------------------------------------------------------------- */

const gate_key *gate_keys_find(const gate_keys *k, gr_str name) {
    for (uint32_t i = 0; i < k->n; i++)
        if (gr_str_eq(k->v[i].name, name)) return &k->v[i];
    return NULL;
}

typedef struct flat { gr_arena *a; gr_diags *d; GR_VEC(gate_key) list; } flat;

/* Canonical JSON; what JSON cannot hold (inf, nan, a date) becomes its text as a string. */
static gr_str value_text(gr_arena *a, const gr_value *v) {
    gr_buf b = {0};
    if (v->kind == GR_V_DATETIME) gr_json_string(&b, v->s);
    else if (!gr_json_canonical(&b, v)) {
        gr_buf_clear(&b);
        gr_buf_putc(&b, '"');
        if (v->kind == GR_V_FLOAT) gr_buf_f64(&b, v->f);
        else gr_buf_puts(&b, "not representable");
        gr_buf_putc(&b, '"');
    }
    gr_str s = gr_str_dup(a, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

static bool flatten(flat *f, gr_str prefix, const gr_value *table) {
    for (uint32_t i = 0; i < table->object.n; i++) {
        const gr_member *m = &table->object.v[i];
        char *name = prefix.n ? gr_arena_printf(f->a, "%.*s.%.*s", GR_STR_ARG(prefix), GR_STR_ARG(m->key))
                              : gr_arena_strndup(f->a, m->key.p, m->key.n);
        if (!name) return gr_report_oom(f->d);
        if (m->value->kind == GR_V_OBJECT) {
            GR_TRY(flatten(f, gr_str_of(name), m->value));
            continue;
        }
        if (f->list.n >= GATE_KEYS_MAX)
            return gr_report(f->d, GR_D_GATE_CONFIG_REFUSED, (gr_place){0}, NULL, "more than %d keys", GATE_KEYS_MAX);
        gate_key *k = GR_PUSH(f->a, &f->list);
        if (!k) return gr_report_oom(f->d);
        *k = (gate_key){gr_str_of(name), value_text(f->a, m->value)};
        if (!k->value.p) return gr_report_oom(f->d);
    }
    return true;
}

bool gate_keys_of(gr_arena *a, gr_diags *d, const gr_value *table, gate_keys *out) {
    flat f = {.a = a, .d = d};
    *out = (gate_keys){0};
    if (!table || table->kind != GR_V_OBJECT) return true;
    GR_TRY(flatten(&f, (gr_str){"", 0}, table));
    *out = (gate_keys){f.list.v, f.list.n};
    return true;
}

bool gate_number(const gate_keys *k, const char *name, double *out) {
    const gate_key *key = gate_keys_find(k, gr_str_of(name));
    if (!key || key->value.n == 0 || key->value.n > 40) return false;
    char text[48], *end;
    memcpy(text, key->value.p, key->value.n);
    text[key->value.n] = 0;
    double v = strtod(text, &end);
    if (*end || !isfinite(v)) return false;
    *out = v;
    return true;
}

bool gate_run_loaded(const gate_run *r, double load_limit) {
    return (r->before.known && r->other_cores > load_limit) || r->gpu_others > 0 || r->power_before != r->power_after;
}

/* ---- writing TOML ------------------------------------------------------------------------------------------ */

static bool bare(gr_str key) {
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return false;
    }
    return key.n > 0;
}

/* A JSON string is a TOML basic string, but for DEL, which TOML wants escaped. */
static void string(gr_buf *b, gr_str s) {
    gr_buf t = {0};
    gr_json_string(&t, s);
    for (size_t i = 0; i < t.n; i++)
        if (t.p[i] == 0x7f) gr_buf_puts(b, "\\u007f");
        else gr_buf_putc(b, t.p[i]);
    b->failed = b->failed || t.failed;
    gr_buf_free(&t);
}

void gate_toml_key(gr_buf *b, gr_str key) {
    if (bare(key)) gr_buf_str(b, key);
    else string(b, key);
    gr_buf_puts(b, " = ");
}

void gate_toml_str(gr_buf *b, const char *key, gr_str v) {
    gate_toml_key(b, gr_str_of(key));
    string(b, v);
    gr_buf_putc(b, '\n');
}

void gate_toml_num(gr_buf *b, const char *key, double v) {
    if (isnan(v)) return;
    gate_toml_key(b, gr_str_of(key));
    gr_buf_f64(b, v);
    gr_buf_putc(b, '\n');
}

void gate_toml_bool(gr_buf *b, const char *key, bool v) {
    gate_toml_key(b, gr_str_of(key));
    gr_buf_puts(b, v ? "true\n" : "false\n");
}

void gate_toml_strs(gr_buf *b, const char *key, const gr_str *v, uint32_t n) {
    gate_toml_key(b, gr_str_of(key));
    gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i) gr_buf_puts(b, ", ");
        string(b, v[i]);
    }
    gr_buf_puts(b, "]\n");
}

/* Canonical JSON of a scalar or a list of scalars is TOML; null and lists with objects in them go as strings. */
static void json_as_toml(gr_buf *b, gr_str json) {
    bool holds_object = json.n && json.p[0] == '[' && memchr(json.p, '{', json.n);
    if (gr_str_eqz(json, "null") || holds_object || !json.n) string(b, json);
    else if (json.p[0] == '"') { /* read the escapes and write them TOML's way */
        for (size_t i = 0; i < json.n; i++)
            if (json.p[i] == 0x7f) gr_buf_puts(b, "\\u007f");
            else gr_buf_putc(b, json.p[i]);
    } else gr_buf_str(b, json);
}

void gate_toml_keys(gr_buf *b, const char *table, const gate_keys *k) {
    if (!k->n) return;
    gr_buf_printf(b, "\n[%s]\n", table);
    for (uint32_t i = 0; i < k->n; i++) {
        gate_toml_key(b, k->v[i].name);
        json_as_toml(b, k->v[i].value);
        gr_buf_putc(b, '\n');
    }
}

/* ---- the series -------------------------------------------------------------------------------------------- */

static void print_arm(gr_buf *b, const char *name, const gate_arm *arm) {
    char table[32];
    gr_buf_printf(b, "\n[%s]\n", name);
    if (arm->config.n) gate_toml_str(b, "config", arm->config);
    gate_toml_str(b, "command", arm->command);
    gate_toml_str(b, "binary", arm->binary);
    gate_toml_str(b, "binary_hash", arm->binary_hash);
    snprintf(table, sizeof table, "%s.resolved", name);
    gate_toml_keys(b, table, &arm->resolved);
}

static void print_rules(gr_buf *b, const gate_series *s) {
    gr_buf_puts(b, "\n[rule]\n");
    gate_toml_num(b, "floor", s->rule.floor);
    gate_toml_num(b, "sigmas", s->rule.sigmas);
    gate_toml_num(b, "guard", s->rule.guard);
    gate_toml_num(b, "alpha", s->rule.alpha);
    gate_toml_bool(b, "gradients_untouched", s->rule.gradients_untouched);
    gr_buf_puts(b, "\n[retry]\n");
    gate_toml_num(b, "sigmas", s->retry.sigmas);
    gate_toml_num(b, "floor", s->retry.floor);
    gate_toml_num(b, "load_limit", s->load_limit);
    if (!s->predicted && s->removed == 0) return;
    gr_buf_puts(b, "\n[prediction]\n");
    if (s->predicted) gate_toml_num(b, "low", s->predict_low), gate_toml_num(b, "high", s->predict_high);
    if (s->removed != 0) gate_toml_num(b, "removed_work", s->removed);
}

void gate_series_print(gr_buf *b, const gate_series *s) {
    gr_buf_puts(b, "format = 1\n");
    gate_toml_str(b, "name", s->name);
    gate_toml_str(b, "started", s->started);
    gate_toml_str(b, "result", s->result);
    gate_toml_str(b, "quality", s->quality);
    gate_toml_num(b, "n", s->n);
    gate_toml_bool(b, "sequential", s->sequential);
    gate_toml_num(b, "max", s->max);
    gate_toml_num(b, "calibrate", s->calibrate);
    gate_toml_bool(b, "smoke", s->smoke);
    gate_toml_str(b, "smoke_arguments", s->smoke_arguments);
    print_rules(b, s);
    gr_buf_puts(b, "\n[provenance]\n");
    gate_toml_str(b, "revision", s->revision.commit);
    gate_toml_strs(b, "changed", s->revision.paths, s->revision.path_n);
    gate_toml_strs(b, "changed_hashes", s->revision.hashes, s->revision.path_n);
    gate_toml_str(b, "dawn", s->dawn);
    gate_toml_str(b, "dawn_hash", s->dawn_hash);
    gate_toml_strs(b, "watched", s->watched, s->watched_n);
    gate_toml_strs(b, "watched_hashes", s->watched_hashes, s->watched_n);
    print_arm(b, "off", &s->off);
    print_arm(b, "on", &s->on);
    for (uint32_t i = 0; i < s->flag_n; i++) {
        gr_buf_puts(b, "\n[[flags]]\n");
        gate_toml_str(b, "name", s->flags[i].name);
        gate_toml_str(b, "off", s->flags[i].off);
        gate_toml_str(b, "on", s->flags[i].on);
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

typedef struct reader { gr_arena *a; gr_diags *d; gr_doc doc; } reader;

static bool str(reader *r, const gr_value *o, const char *key, gr_str *out) {
    *out = (gr_str){"", 0};
    GR_TRY(gr_value_str(r->a, r->d, &r->doc, o, key, false, out));
    *out = gr_str_dup(r->a, *out); /* NUL-terminated */
    return out->p || gr_report_oom(r->d);
}

static bool invalid(reader *r, const gr_value *v, const char *what) {
    return gr_report(r->d, GR_D_GATE_RECORD_INVALID, gr_value_place(&r->doc, v, r->a), NULL, "%s", what);
}

/* A number within [low, high]; *out keeps its value when the key is absent. */
static bool number(reader *r, const gr_value *o, const char *key, double low, double high, double *out) {
    GR_TRY(gr_value_f64(r->a, r->d, &r->doc, o, key, false, out));
    if (*out >= low && *out <= high) return true;
    return gr_report(r->d, GR_D_GATE_RECORD_INVALID, gr_value_place(&r->doc, gr_value_get(o, key) ? gr_value_get(o, key) : o, r->a), NULL,
                     "%s is %g, not from %g to %g", key, *out, low, high);
}

static bool count(reader *r, const gr_value *o, const char *key, uint32_t most, uint32_t *out) {
    int64_t v = *out;
    GR_TRY(gr_value_i64(r->a, r->d, &r->doc, o, key, false, &v));
    if (v < 0 || v > most) return invalid(r, o, "a count is out of range");
    *out = (uint32_t)v;
    return true;
}

static bool boolean(reader *r, const gr_value *o, const char *key, bool *out) {
    return gr_value_bool(r->a, r->d, &r->doc, o, key, false, out);
}

static bool strings(reader *r, const gr_value *o, const char *key, gr_str **v, uint32_t *n) {
    gr_value *list = NULL;
    *v = NULL, *n = 0;
    GR_TRY(gr_value_array(r->a, r->d, &r->doc, o, key, false, &list));
    if (!list) return true;
    *v = GR_NEW_N(r->a, gr_str, list->array.n);
    if (!*v) return gr_report_oom(r->d);
    for (uint32_t i = 0; i < list->array.n; i++) {
        if (list->array.v[i]->kind != GR_V_STRING) return invalid(r, list->array.v[i], "not a string");
        (*v)[(*n)++] = list->array.v[i]->s;
    }
    return true;
}

static bool table(reader *r, const gr_value *o, const char *key, gr_value **out) {
    *out = NULL;
    GR_TRY(gr_value_object(r->a, r->d, &r->doc, o, key, false, out));
    if (!*out) *out = gr_value_new(r->a, GR_V_OBJECT);
    return *out || gr_report_oom(r->d);
}

static bool read_arm(reader *r, const gr_value *root, const char *name, gate_arm *arm) {
    gr_value *t, *resolved;
    GR_TRY(table(r, root, name, &t));
    bool ok = str(r, t, "config", &arm->config) & str(r, t, "command", &arm->command) & str(r, t, "binary", &arm->binary) &
              str(r, t, "binary_hash", &arm->binary_hash);
    GR_TRY(ok && table(r, t, "resolved", &resolved));
    return gate_keys_of(r->a, r->d, resolved, &arm->resolved);
}

static bool read_flags(reader *r, const gr_value *root, gate_series *s) {
    gr_value *list = NULL;
    GR_TRY(gr_value_array(r->a, r->d, &r->doc, root, "flags", false, &list));
    uint32_t n = list ? list->array.n : 0;
    if (n > GATE_FLAGS_MAX) return invalid(r, list, "too many flags");
    s->flags = GR_NEW_N(r->a, gate_flag, n);
    if (!s->flags) return gr_report_oom(r->d);
    for (s->flag_n = 0; s->flag_n < n; s->flag_n++) {
        const gr_value *t = list->array.v[s->flag_n];
        gate_flag *f = &s->flags[s->flag_n];
        if (t->kind != GR_V_OBJECT) return invalid(r, t, "a flag is a table");
        GR_TRY(str(r, t, "name", &f->name) & str(r, t, "off", &f->off) & str(r, t, "on", &f->on));
    }
    return true;
}

static bool read_rules(reader *r, const gr_value *root, gate_series *s) {
    gr_value *rule, *retry, *prediction;
    GR_TRY(table(r, root, "rule", &rule) && table(r, root, "retry", &retry) && table(r, root, "prediction", &prediction));
    s->rule = gate_rule_default();
    s->retry = gate_retry_default();
    s->load_limit = 0.5;
    s->predicted = gr_value_get(prediction, "low") != NULL;
    return number(r, rule, "floor", 0, 1, &s->rule.floor) & number(r, rule, "sigmas", 0, 1e6, &s->rule.sigmas) &
           number(r, rule, "guard", 0, 1e12, &s->rule.guard) & number(r, rule, "alpha", 1e-9, 0.5, &s->rule.alpha) &
           boolean(r, rule, "gradients_untouched", &s->rule.gradients_untouched) & number(r, retry, "sigmas", 0, 1e6, &s->retry.sigmas) &
           number(r, retry, "floor", 0, 1, &s->retry.floor) & number(r, retry, "load_limit", 0, 1e6, &s->load_limit) &
           number(r, prediction, "low", -1, 1e6, &s->predict_low) & number(r, prediction, "high", -1, 1e6, &s->predict_high) &
           number(r, prediction, "removed_work", 0, 1, &s->removed);
}

static bool read_series(reader *r, gate_series *s) {
    const gr_value *root = r->doc.root;
    gr_value *provenance;
    uint32_t hashes = 0, watched = 0;
    *s = (gate_series){.n = 3, .max = 3};
    bool ok = str(r, root, "name", &s->name) & str(r, root, "started", &s->started) & str(r, root, "result", &s->result) &
              str(r, root, "quality", &s->quality) & count(r, root, "n", GATE_PAIRS_MAX, &s->n) & count(r, root, "max", GATE_PAIRS_MAX, &s->max) &
              count(r, root, "calibrate", GATE_PAIRS_MAX, &s->calibrate) & boolean(r, root, "sequential", &s->sequential) &
              boolean(r, root, "smoke", &s->smoke) & str(r, root, "smoke_arguments", &s->smoke_arguments);
    GR_TRY(ok && read_rules(r, root, s) && table(r, root, "provenance", &provenance));
    ok = str(r, provenance, "revision", &s->revision.commit) & strings(r, provenance, "changed", &s->revision.paths, &s->revision.path_n) &
         strings(r, provenance, "changed_hashes", &s->revision.hashes, &hashes) & str(r, provenance, "dawn", &s->dawn) &
         str(r, provenance, "dawn_hash", &s->dawn_hash) & strings(r, provenance, "watched", &s->watched, &s->watched_n) &
         strings(r, provenance, "watched_hashes", &s->watched_hashes, &watched);
    if (ok && (watched != s->watched_n || watched > GATE_WATCHED_MAX))
        return invalid(r, provenance, "watched and watched_hashes differ in length, or are too many");
    if (ok && hashes != s->revision.path_n) return invalid(r, provenance, "changed and changed_hashes differ in length");
    if (ok && (s->n == 0 || s->max < s->n || !s->name.n)) return invalid(r, root, "a series has a name and n from 1 to max");
    return ok && read_arm(r, root, "off", &s->off) && read_arm(r, root, "on", &s->on) && read_flags(r, root, s);
}

bool gate_series_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_series *out) {
    reader r = {.a = a, .d = d};
    return gr_toml_parse(a, d, name, text, &r.doc) && read_series(&r, out);
}

/* ---- a run ------------------------------------------------------------------------------------------------- */

static void print_load(gr_buf *b, const char *key, const gate_load *l) {
    gate_toml_key(b, gr_str_of(key));
    gr_buf_putc(b, '[');
    gr_buf_f64(b, l->load1), gr_buf_puts(b, ", ");
    gr_buf_f64(b, l->load5), gr_buf_puts(b, ", ");
    gr_buf_f64(b, l->load15), gr_buf_puts(b, "]\n");
}

void gate_run_print(gr_buf *b, const gate_run *r) {
    gr_buf_puts(b, "format = 1\n");
    gate_toml_str(b, "slot", r->slot);
    gate_toml_num(b, "attempt", r->attempt);
    gate_toml_bool(b, "ok", r->ok);
    gate_toml_bool(b, "retry", r->retry);
    gate_toml_str(b, "why", r->why);
    gate_toml_str(b, "started", r->started);
    gate_toml_num(b, "elapsed_s", r->elapsed);
    gate_toml_num(b, "clock_s", r->clock);
    if (r->has_quality) gate_toml_num(b, "quality", r->quality);
    gate_toml_bool(b, "load_known", r->before.known);
    if (r->before.known) {
        print_load(b, "load_before", &r->before);
        print_load(b, "load_after", &r->after);
        gate_toml_num(b, "other_cores", r->other_cores);
    }
    gate_toml_num(b, "gpu_others", r->gpu_others);
    gate_toml_str(b, "power_before", gr_str_of(gate_power_text(r->power_before)));
    gate_toml_str(b, "power_after", gr_str_of(gate_power_text(r->power_after)));
    gate_toml_keys(b, "metrics", &r->metrics);
}

static bool read_load(reader *r, const char *key, bool known, gate_load *out) {
    gr_value *list = NULL;
    GR_TRY(gr_value_array(r->a, r->d, &r->doc, r->doc.root, key, false, &list));
    double v[3] = {0};
    for (uint32_t i = 0; list && i < 3 && i < list->array.n; i++) {
        const gr_value *e = list->array.v[i];
        v[i] = e->kind == GR_V_FLOAT ? e->f : e->kind == GR_V_INT ? (double)e->i : 0;
    }
    *out = (gate_load){.load1 = v[0], .load5 = v[1], .load15 = v[2], .known = known};
    return true;
}

static gate_power power_of(gr_str text) {
    return gr_str_eqz(text, "mains") ? GATE_POWER_MAINS : gr_str_eqz(text, "battery") ? GATE_POWER_BATTERY : GATE_POWER_UNKNOWN;
}

static bool read_run(reader *r, gate_run *out) {
    const gr_value *root = r->doc.root;
    gr_value *metrics;
    gr_str before, after;
    bool known = false;
    double others = -1;
    *out = (gate_run){.gpu_others = -1};
    bool ok = str(r, root, "slot", &out->slot) & count(r, root, "attempt", UINT32_MAX, &out->attempt) & boolean(r, root, "ok", &out->ok) &
              boolean(r, root, "retry", &out->retry) & str(r, root, "why", &out->why) & str(r, root, "started", &out->started) &
              number(r, root, "elapsed_s", 0, 1e12, &out->elapsed) & number(r, root, "clock_s", 0, 1e12, &out->clock) &
              number(r, root, "quality", -1e300, 1e300, &out->quality) & boolean(r, root, "load_known", &known) &
              number(r, root, "other_cores", 0, 1e6, &out->other_cores) & number(r, root, "gpu_others", -1, 1e6, &others) &
              str(r, root, "power_before", &before) & str(r, root, "power_after", &after);
    GR_TRY(ok && read_load(r, "load_before", known, &out->before) && read_load(r, "load_after", known, &out->after));
    out->has_quality = gr_value_get(root, "quality") != NULL;
    out->gpu_others = (int)others;
    out->power_before = power_of(before), out->power_after = power_of(after);
    if (out->ok && !(out->elapsed > 0)) return invalid(r, root, "a run that counts took some time");
    return table(r, root, "metrics", &metrics) && gate_keys_of(r->a, r->d, metrics, &out->metrics);
}

bool gate_is_json(gr_str text) {
    size_t i = 0;
    while (i < text.n && memchr(" \t\r\n", text.p[i], 4)) i++;
    return i < text.n && text.p[i] == '{';
}

bool gate_run_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_run *out) {
    reader r = {.a = a, .d = d};
    return gr_toml_parse(a, d, name, text, &r.doc) && read_run(&r, out);
}

bool gate_result_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_result *out) {
    reader r = {.a = a, .d = d};
    gr_value *metrics, *config;
    *out = (gate_result){0};
    bool json = gate_is_json(text);
    if (!(json ? gr_json_parse : gr_toml_parse)(a, d, name, text, &r.doc)) return false;
    if (r.doc.root->kind != GR_V_OBJECT) return gr_report(d, GR_D_GATE_RESULT_INVALID, gr_place_doc(""), NULL, "a result is a table");
    return table(&r, r.doc.root, "metrics", &metrics) && table(&r, r.doc.root, "config", &config) &&
           gate_keys_of(a, d, metrics, &out->metrics) && gate_keys_of(a, d, config, &out->config);
}
