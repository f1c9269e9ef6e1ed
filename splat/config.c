#include "splat/config.h"

#include <stddef.h>
#include <stdio.h>

#include "base/file.h"

typedef enum kind { TEXT, WHOLE, REAL, SWITCH, CHOICE } kind;

/* Choices by their name, so that the table says BACKWARD and the code knows it is one. */
enum { KIND_TEXT = TEXT, KIND_WHOLE = WHOLE, KIND_REAL = REAL, KIND_SWITCH = SWITCH, KIND_BACKGROUND = CHOICE, KIND_INIT = CHOICE,
       KIND_TIER = CHOICE, KIND_LOSS = CHOICE, KIND_WINDOW = CHOICE, KIND_STRATEGY = CHOICE, KIND_SCHEDULE = CHOICE, KIND_BACKWARD = CHOICE,
       KIND_BINNING = CHOICE, KIND_LOSS_PATH = CHOICE, KIND_SSIM_REDUCE = CHOICE, KIND_PIPELINING = CHOICE, KIND_HOST_SCHEDULE = CHOICE };

typedef struct key_row {
    const char *table, *name, *type, *only, *about;
    kind kind;
    double least, most;
    size_t offset;
} key_row;

static const key_row keys[GR_KEY_COUNT] = {
#define GR_KEY(table, name, type, value, least, most, only, about) \
    {#table, #name, #type, only, about, (kind)KIND_##type, least, most, offsetof(gr_config, table##_##name)},
#include "splat/config.def"
};

static const struct { const char *choice, *text, *finding; gr_verdict verdict; } choices[GR_CHOICE_COUNT] = {
    {"", "", "", GR_VERDICT_NONE},
#define GR_CHOICE(choice, value, text, verdict, finding) {#choice, text, finding, GR_VERDICT_##verdict},
#include "splat/config.def"
};

const char *gr_choice_text(gr_choice c) { return choices[c].text; }
gr_verdict gr_choice_verdict(gr_choice c) { return choices[c].verdict; }
const char *gr_choice_finding(gr_choice c) { return choices[c].finding; }
const char *gr_key_table(gr_key k) { return keys[k].table; }
const char *gr_key_name(gr_key k) { return keys[k].name; }

const char *gr_verdict_text(gr_verdict v) {
    static const char *const text[] = {"", "default", "adopted", "rejected", "kept, not gated"};
    return text[v];
}

#define DEFAULT_TEXT(v) gr_str_of(v)
#define DEFAULT_WHOLE(v) (v)
#define DEFAULT_REAL(v) (v)
#define DEFAULT_SWITCH(v) (v)
#define DEFAULT_BACKGROUND(v) (v)
#define DEFAULT_INIT(v) (v)
#define DEFAULT_TIER(v) (v)
#define DEFAULT_LOSS(v) (v)
#define DEFAULT_WINDOW(v) (v)
#define DEFAULT_STRATEGY(v) (v)
#define DEFAULT_SCHEDULE(v) (v)
#define DEFAULT_BACKWARD(v) (v)
#define DEFAULT_BINNING(v) (v)
#define DEFAULT_LOSS_PATH(v) (v)
#define DEFAULT_SSIM_REDUCE(v) (v)
#define DEFAULT_PIPELINING(v) (v)
#define DEFAULT_HOST_SCHEDULE(v) (v)

gr_config gr_config_default(void) {
    return (gr_config){
#define GR_KEY(table, name, type, value, least, most, only, about) .table##_##name = DEFAULT_##type(value),
#include "splat/config.def"
    };
}

/* ---- reading ---------------------------------------------------------------------------- */

typedef struct reader {
    gr_arena *a;
    gr_diags *d;
    gr_doc doc;
    gr_config *c;
} reader;

static void *field(gr_config *c, gr_key k) { return (char *)c + keys[k].offset; }
static const void *field_const(const gr_config *c, gr_key k) { return (const char *)c + keys[k].offset; }

/* "one of "adc", "mcmc"" */
static void list_choices(gr_buf *b, const char *choice) {
    bool first = true;
    bool number = !strcmp(choice, "WINDOW");
    for (uint32_t i = 1; i < GR_CHOICE_COUNT; i++) {
        if (strcmp(choices[i].choice, choice)) continue;
        gr_buf_printf(b, number ? "%s%s" : "%s\"%s\"", first ? "" : ", ", choices[i].text);
        first = false;
    }
}

static bool wrong(reader *r, gr_key k, const gr_value *v) {
    gr_buf want = {0}, got = {0};
    switch (keys[k].kind) {
    case TEXT: gr_buf_puts(&want, "a string"); break;
    case WHOLE: gr_buf_printf(&want, "a whole number from %.0f to %.0f", keys[k].least, keys[k].most); break;
    case REAL: gr_buf_printf(&want, "a number from %g to %g", keys[k].least, keys[k].most); break;
    case SWITCH: gr_buf_puts(&want, "true or false"); break;
    case CHOICE: gr_buf_puts(&want, "one of "), list_choices(&want, keys[k].type); break;
    }
    if (v->kind == GR_V_ARRAY || v->kind == GR_V_OBJECT) gr_buf_puts(&got, v->kind == GR_V_ARRAY ? "an array" : "a table");
    else if (!gr_json_canonical(&got, v)) gr_buf_clear(&got), gr_buf_puts(&got, "that");
    gr_report(r->d, GR_D_SPLAT_CONFIG_VALUE, gr_value_place(&r->doc, v, r->a), keys[k].about, "%s.%s takes %.*s, not %.*s", keys[k].table, keys[k].name,
              GR_STR_ARG(gr_buf_view(&want)), (int)(got.n > 80 ? 80 : got.n), got.p ? got.p : "");
    gr_buf_free(&want);
    gr_buf_free(&got);
    return false;
}

static bool as_number(const gr_value *v, double *out) {
    if (v->kind == GR_V_INT) *out = (double)v->i;
    else if (v->kind == GR_V_UINT) *out = (double)v->u;
    else if (v->kind == GR_V_FLOAT) *out = v->f;
    else return false;
    return true;
}

static gr_choice find_choice(const char *choice, gr_str text) {
    for (uint32_t i = 1; i < GR_CHOICE_COUNT; i++)
        if (!strcmp(choices[i].choice, choice) && gr_str_eqz(text, choices[i].text)) return (gr_choice)i;
    return GR_TIER_NONE_SET;
}

static bool read_choice(reader *r, gr_key k, const gr_value *v) {
    char digits[32];
    gr_str text = v->kind == GR_V_STRING ? v->s : (gr_str){0};
    bool number = !strcmp(keys[k].type, "WINDOW");
    if (v->kind == GR_V_INT && number) {
        snprintf(digits, sizeof digits, "%lld", (long long)v->i);
        text = gr_str_of(digits);
    } else if (number) {
        return wrong(r, k, v);
    }
    gr_choice c = find_choice(keys[k].type, text);
    if (!c) return wrong(r, k, v);
    *(gr_choice *)field(r->c, k) = c;
    return true;
}

static bool read_key(reader *r, gr_key k, const gr_value *v) {
    double x = 0;
    void *to = field(r->c, k);
    r->c->given[k] = true;
    switch (keys[k].kind) {
    case TEXT:
        if (v->kind != GR_V_STRING) return wrong(r, k, v);
        *(gr_str *)to = gr_str_dup(r->a, v->s);
        return ((gr_str *)to)->p || gr_report_oom(r->d);
    case WHOLE:
        if ((v->kind != GR_V_INT && v->kind != GR_V_UINT) || !as_number(v, &x) || x < keys[k].least || x > keys[k].most) return wrong(r, k, v);
        *(uint32_t *)to = (uint32_t)x;
        return true;
    case REAL:
        if (!as_number(v, &x) || !(x >= keys[k].least && x <= keys[k].most)) return wrong(r, k, v);
        *(double *)to = x;
        return true;
    case SWITCH:
        if (v->kind != GR_V_BOOL) return wrong(r, k, v);
        *(bool *)to = v->b;
        return true;
    case CHOICE: return read_choice(r, k, v);
    }
    return false;
}

static int find_key(gr_str table, gr_str name) {
    for (int k = 0; k < GR_KEY_COUNT; k++)
        if (gr_str_eqz(table, keys[k].table) && gr_str_eqz(name, keys[k].name)) return k;
    return -1;
}

/* The nearest known word: of another table too, since a key in the wrong table is a common slip. */
static bool unknown(reader *r, gr_str table, const gr_member *m) {
    gr_place at = gr_value_place(&r->doc, m->value, r->a);
    int best = 3;
    const key_row *near_row = NULL;
    gr_text_line_col(r->doc.text, m->offset, &at.line, &at.col);
    for (int k = 0; k < GR_KEY_COUNT; k++) {
        int far = gr_str_distance(m->key, gr_str_of(table.n ? keys[k].name : keys[k].table));
        if (far < best || (far == best && far < 3 && gr_str_eqz(table, keys[k].table))) best = far, near_row = &keys[k];
    }
    gr_report(r->d, GR_D_SPLAT_CONFIG_KEY, at, NULL, table.n ? "there is no key %.*s.%.*s" : "there is no table %.*s%.*s", GR_STR_ARG(table), GR_STR_ARG(m->key));
    if (near_row) gr_report_hint(r->d, table.n ? "did you mean %s.%s?" : "did you mean [%s]?", near_row->table, near_row->name);
    else gr_report_hint(r->d, "`gradus splat check --help` lists the keys");
    return false;
}

static bool known_table(gr_str name) {
    for (int k = 0; k < GR_KEY_COUNT; k++)
        if (gr_str_eqz(name, keys[k].table)) return true;
    return false;
}

bool gr_config_read(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_config *c) {
    reader r = {.a = a, .d = d, .c = c};
    bool ok = true;
    GR_TRY(gr_toml_parse(a, d, name, text, &r.doc));
    for (uint32_t i = 0; i < r.doc.root->object.n; i++) {
        const gr_member *t = &r.doc.root->object.v[i];
        if (!known_table(t->key)) {
            ok = unknown(&r, (gr_str){0}, t);
            continue;
        }
        if (t->value->kind != GR_V_OBJECT) {
            ok = gr_report(d, GR_D_SPLAT_CONFIG_VALUE, gr_value_place(&r.doc, t->value, a), "write [table] and key = value", "%.*s is a table", GR_STR_ARG(t->key));
            continue;
        }
        for (uint32_t j = 0; j < t->value->object.n; j++) {
            const gr_member *m = &t->value->object.v[j];
            int k = find_key(t->key, m->key);
            ok = (k < 0 ? unknown(&r, t->key, m) : read_key(&r, (gr_key)k, m->value)) && ok;
        }
    }
    return ok;
}

/* ---- combinations ------------------------------------------------------------------------- */

static bool clash(gr_diags *d, gr_str name, const char *what, const char *hint) {
    return gr_report(d, GR_D_SPLAT_CONFIG_COMBINATION, (gr_place){.document = name}, hint, "%s", what);
}

/* "table.key=value": whether that is so. */
static bool holds(const gr_config *c, const char *only) {
    const char *dot = strchr(only, '.'), *equal = strchr(only, '=');
    int k = find_key((gr_str){only, (size_t)(dot - only)}, (gr_str){dot + 1, (size_t)(equal - dot - 1)});
    return k >= 0 && !strcmp(gr_choice_text(*(const gr_choice *)field_const(c, (gr_key)k)), equal + 1);
}

static void idle_keys(gr_diags *d, gr_str name, const gr_config *c) {
    for (int k = 0; k < GR_KEY_COUNT; k++)
        if (c->given[k] && *keys[k].only && !holds(c, keys[k].only))
            gr_report(d, GR_D_SPLAT_CONFIG_NO_EFFECT, (gr_place){.document = name}, NULL, "%s.%s is set and has no effect without %s", keys[k].table, keys[k].name, keys[k].only);
    if (c->backend_ssim_reduce == GR_SSIM_REDUCE_HOST_LAGGED && c->backend_host_schedule != GR_HOST_SCHEDULE_BACKWARD_SHADOW)
        gr_report(d, GR_D_SPLAT_CONFIG_NO_EFFECT, (gr_place){.document = name}, NULL, "backend.ssim_reduce = \"host_lagged\" has no effect without host_schedule = \"backward_shadow\": it behaves as \"host\"");
    if (c->refine_start > c->refine_stop)
        gr_report(d, GR_D_SPLAT_CONFIG_NO_EFFECT, (gr_place){.document = name}, NULL, "refine.start = %u is after refine.stop = %u: nothing is ever refined", c->refine_start, c->refine_stop);
}

bool gr_config_verify(gr_diags *d, gr_str name, const gr_config *c) {
    uint32_t before = d->errors;
    if (!c->train_tier)
        gr_report(d, GR_D_CANVAS_TIER_MISSING, (gr_place){.document = name, .pointer = GR_STR("/train/tier")}, "write tier = \"debug\", \"prod\" or \"fast\" under [train]", "train.tier is missing, and has no default");
    if (!c->data_path.n)
        gr_report(d, GR_D_BASE_KEY_MISSING, (gr_place){.document = name, .pointer = GR_STR("/data/path")}, "write path = \"...\" under [data]", "data.path, the folder of the data set, is missing");
    if (c->backend_host_schedule == GR_HOST_SCHEDULE_BACKWARD_SHADOW && c->backend_pipelining != GR_PIPELINING_DEPTH2)
        clash(d, name, "backend.host_schedule = \"backward_shadow\" needs backend.pipelining = \"depth2\"", "set pipelining = \"depth2\", or host_schedule = \"off\"");
    if (c->backend_ssim_reduce == GR_SSIM_REDUCE_GPU && c->backend_loss_path == GR_LOSS_PATH_HOST)
        clash(d, name, "backend.ssim_reduce = \"gpu\" sums a map that backend.loss_path = \"host\" does not leave on the GPU", "set ssim_reduce = \"host\"");
    idle_keys(d, name, c);
    return d->errors == before;
}

bool gr_config_load(gr_arena *a, gr_diags *d, gr_str path, const char *const *set, uint32_t n, gr_config *out) {
    gr_str text;
    *out = gr_config_default();
    GR_TRY(gr_file_read(a, d, path, (size_t)16 << 20, &text));
    bool ok = gr_config_read(a, d, path, text, out);
    gr_str folder = gr_path_dir(path);
    if (out->data_path.n) out->data_path = gr_path_join(a, folder, out->data_path);
    if (out->data_points.n) out->data_points = gr_path_join(a, folder, out->data_points);
    for (uint32_t i = 0; i < n; i++) ok = gr_config_read(a, d, GR_STR("--set"), gr_str_of(set[i]), out) && ok;
    return gr_config_verify(d, path, out) && ok;
}

/* ---- printing ------------------------------------------------------------------------------- */

void gr_config_value(gr_buf *b, const gr_config *c, gr_key k) {
    const void *p = field_const(c, k);
    gr_choice v;
    switch (keys[k].kind) {
    case TEXT: gr_json_string(b, *(const gr_str *)p); break;
    case WHOLE: gr_buf_printf(b, "%u", *(const uint32_t *)p); break;
    case REAL: {
        size_t at = b->n;
        gr_buf_f64(b, *(const double *)p);
        if (b->p && !strpbrk(b->p + at, ".e")) gr_buf_puts(b, ".0"); /* TOML tells numbers apart */
        break;
    }
    case SWITCH: gr_buf_puts(b, *(const bool *)p ? "true" : "false"); break;
    case CHOICE:
        v = *(const gr_choice *)p;
        gr_buf_printf(b, !v || !strcmp(keys[k].type, "WINDOW") ? "%s" : "\"%s\"", choices[v].text);
        break;
    }
}

static void comment(gr_buf *b, const gr_config *c, gr_key k, size_t width) {
    gr_choice v = keys[k].kind == CHOICE ? *(const gr_choice *)field_const(c, k) : GR_TIER_NONE_SET;
    while (width++ < 36) gr_buf_putc(b, ' ');
    gr_buf_puts(b, " # ");
    if (v && choices[v].verdict) gr_buf_printf(b, "%s%s%s. ", gr_verdict_text(choices[v].verdict), *choices[v].finding ? ", " : "", choices[v].finding);
    gr_buf_puts(b, keys[k].about);
}

void gr_config_print(gr_buf *b, const gr_config *c, const char *prefix, bool comments) {
    const char *table = "";
    for (int k = 0; k < GR_KEY_COUNT; k++) {
        bool unset = keys[k].kind == CHOICE && !*(const gr_choice *)field_const(c, (gr_key)k);
        if (strcmp(table, keys[k].table)) gr_buf_printf(b, "%s[%s%s]\n", *table ? "\n" : "", prefix, keys[k].table);
        table = keys[k].table;
        if (unset && !comments) continue;
        size_t at = b->n;
        gr_buf_printf(b, unset ? "# %s = " : "%s = ", keys[k].name);
        gr_config_value(b, c, (gr_key)k);
        if (comments) comment(b, c, (gr_key)k, b->n - at);
        gr_buf_putc(b, '\n');
    }
}

void gr_config_json(gr_buf *b, const gr_config *c) {
    const char *table = "";
    gr_buf_putc(b, '{');
    for (int k = 0; k < GR_KEY_COUNT; k++) {
        bool first = strcmp(table, keys[k].table) != 0;
        if (first) gr_buf_printf(b, "%s\"%s\": {", *table ? "}, " : "", keys[k].table);
        table = keys[k].table;
        gr_buf_printf(b, "%s\"%s\": ", first ? "" : ", ", keys[k].name);
        if (keys[k].kind == CHOICE && !*(const gr_choice *)field_const(c, (gr_key)k)) gr_buf_puts(b, "null");
        else gr_config_value(b, c, (gr_key)k);
    }
    gr_buf_puts(b, "}}");
}

void gr_config_help(gr_buf *b) {
    gr_config c = gr_config_default();
    gr_buf_puts(b, "Keys, defaults and what they do; values of a choice with their verdicts:\n");
    const char *table = "";
    for (int k = 0; k < GR_KEY_COUNT; k++) {
        if (strcmp(table, keys[k].table)) gr_buf_printf(b, "\n[%s]\n", keys[k].table);
        table = keys[k].table;
        size_t at = b->n;
        gr_buf_printf(b, "  %s = ", keys[k].name);
        gr_config_value(b, &c, (gr_key)k);
        for (size_t width = b->n - at; width < 38; width++) gr_buf_putc(b, ' ');
        gr_buf_printf(b, " %s\n", keys[k].about);
        for (uint32_t i = 1; keys[k].kind == CHOICE && i < GR_CHOICE_COUNT; i++)
            if (!strcmp(choices[i].choice, keys[k].type))
                gr_buf_printf(b, "      %-18s %s%s%s\n", choices[i].text, gr_verdict_text(choices[i].verdict), *choices[i].finding ? ", " : "", choices[i].finding);
    }
}
