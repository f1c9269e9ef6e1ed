/* mutants: changes every kernel and map expression of the catalog by one small wrong step and asks whether
 * conformance rejects it. docs/faulty.md says what the numbers mean.
 *
 *   mutants [--sample PERCENT] [--seed N] [--op NAME]... [--log FILE] [--list] [--need PERCENT] [--quick]
 *
 * A mutant is tried on 24 cases, and one that survives on the suite's own number, but for --quick.
 * With a log, mutants that it holds already are not run again. Exit code 1 below the rate needed. */
#include "altered.h"
#include "base/clock.h"
#include "mutate.h"
#include "wgsl/eval.h"

#include <stdio.h>
#include <stdlib.h>

enum { QUICK = 24, FULL = 0 /* the suite's own number */, KINDS = 16, OPS = 64 };

typedef struct tally { uint32_t invalid, killed, equal, listed, escaped, bugs; } tally;

typedef struct work {
    gr_arena a;
    gr_catalog *catalog;
    gr_regime_device device;
    double sample;
    uint64_t seed;
    const char *only[OPS];
    uint32_t only_n;
    bool list, quick;
    FILE *log;
    gr_str done, listed; /* text of the log so far, of the list of survivors */
    tally sum, by_kind[KINDS];
    const char *kind[KINDS];
    uint32_t kinds_n;
} work;

/* A text that is mutated: a file, or an expression of op.toml. */
typedef struct target { uint32_t file, shift; gr_str text; bool expr; } target;

static tally *kind_of(work *w, const char *kind) {
    uint32_t i = 0;
    while (i < w->kinds_n && strcmp(w->kind[i], kind)) i++;
    if (i == w->kinds_n && i < KINDS) w->kind[w->kinds_n++] = kind;
    return &w->by_kind[i];
}

/* ---- naming a mutant: its line, the place in it, what stands there instead ---- */

static gr_str line_at(gr_str text, uint32_t at, uint32_t *from) {
    uint32_t a = at, b = at;
    while (a > 0 && text.p[a - 1] != '\n') a--;
    while (text.p[a] == ' ' && a < at) a++;
    while (b < text.n && text.p[b] != '\n') b++;
    *from = a;
    return (gr_str){text.p + a, b - a};
}

static uint32_t same_before(gr_str text, gr_str line) {
    uint32_t n = 0;
    for (const char *p = text.p; p < line.p; p++) n += line.n && (size_t)(line.p - p) >= line.n && !memcmp(p, line.p, line.n);
    return n;
}

static const char *key_of(gr_arena *a, const gr_op *op, gr_str file, gr_str text, const mutant *m) {
    uint32_t from, cut = m->with.n < 80 ? (uint32_t)m->with.n : 80;
    gr_str line = line_at(text, m->from, &from);
    char *key = gr_arena_printf(a, "%.*s %.*s %s %u.%u `%.*s` => `%.*s`", GR_STR_ARG(op->id), GR_STR_ARG(file), m->kind, same_before(text, line), m->from - from,
                                GR_STR_ARG(line), (int)cut, m->with.p);
    for (char *p = key; p && *p; p++)
        if (*p == '\n' || *p == '\t') *p = ' ';
    return key;
}

/* Whether some line of the text begins with the key. */
static bool holds(gr_str text, const char *key) {
    size_t n = strlen(key);
    const char *p = text.p, *end = text.p + text.n;
    while (p && (p = memmem(p, (size_t)(end - p), key, n)) != NULL) {
        if ((p == text.p || p[-1] == '\n') && (p + n == end || p[n] == '\t' || p[n] == '\n')) return true;
        p += n;
    }
    return false;
}

/* ---- equal by construction: every entry point is the same program of lanes ---- */

static bool program_text(gr_str text, gr_buf *out) {
    gr_arena a;
    gr_diags d;
    gr_arena_init(&a, (size_t)256 << 20);
    gr_diags_init(&d);
    gr_wgsl_options o = {0};
    gr_eval_options eo = {0};
    gr_wgsl_module *m = gr_wgsl_load(&a, &d, GR_STR("mutant"), text, &o);
    bool ok = m && m->entry_n;
    for (uint32_t i = 0; ok && i < m->entry_n; i++) {
        gr_eval_program *p = gr_eval_compile(&a, &d, m, m->entry[i].name, &eo);
        if (p) gr_eval_print(out, p);
        ok = p != NULL;
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
    return ok;
}

static bool same_program(gr_str x, gr_str y) {
    gr_buf a = {0}, b = {0};
    bool same = program_text(x, &a) && program_text(y, &b) && gr_str_eq(gr_buf_view(&a), gr_buf_view(&b));
    gr_buf_free(&a);
    gr_buf_free(&b);
    return same;
}

/* ---- one mutant ---- */

static bool sampled(const work *w, const char *key) {
    uint32_t x;
    char text[24];
    gr_sha256_state s;
    gr_sha256_init(&s);
    gr_sha256_update(&s, text, (size_t)snprintf(text, sizeof text, "%llu ", (unsigned long long)w->seed));
    gr_sha256_update(&s, key, strlen(key));
    gr_sha256 h = gr_sha256_final(&s);
    memcpy(&x, h.b, sizeof x);
    return x % 10000 < w->sample * 100;
}

static const char *settle(work *w, const char *key, const target *t, gr_str changed, altered_result *r, tally *k) {
    switch (r->fate) {
        case ALTERED_INVALID: return w->sum.invalid++, k->invalid++, "invalid";
        case ALTERED_REJECTED: return w->sum.killed++, k->killed++, "killed";
        case ALTERED_SURVIVED: break;
        default: return w->sum.bugs++, k->bugs++, "bug";
    }
    if (!t->expr && same_program(t->text, changed)) return w->sum.equal++, k->equal++, "equal";
    if (holds(w->listed, key)) return w->sum.listed++, k->listed++, "listed";
    return w->sum.escaped++, k->escaped++, "escaped";
}

static void try_mutant(work *w, const gr_op *op, const altered_files *f, const target *t, const mutant *m) {
    gr_arena a = {0};
    altered_result r;
    altered_files changed = *f;
    const char *key = key_of(&a, op, f->name[t->file], t->text, m);
    if (key && sampled(w, key) && !holds(w->done, key)) {
        if (w->list) {
            printf("%s\n", key);
        } else {
            double began = gr_clock_seconds();
            changed.text[t->file] = altered_text(&a, f->text[t->file], m->from + t->shift, m->to + t->shift, m->with);
            altered_try(w->catalog, op, &w->device, &changed, QUICK, &r);
            if (r.fate == ALTERED_SURVIVED && !w->quick && !holds(w->listed, key)) altered_try(w->catalog, op, &w->device, &changed, FULL, &r);
            const char *fate = settle(w, key, t, changed.text[t->file], &r, kind_of(w, m->kind));
            if (w->log) fprintf(w->log, "%s\t%s\t%s\t%s\t%.0f ms\n", key, fate, r.why, r.at, 1000 * (gr_clock_seconds() - began)), fflush(w->log);
            if (!w->log && (!strcmp(fate, "escaped") || !strcmp(fate, "bug"))) printf("%s %s\n  %s\n", fate, key, r.why);
        }
    }
    gr_arena_free(&a);
}

static void mutate_text(work *w, const gr_op *op, const altered_files *f, const target *t) {
    gr_arena a = {0};
    mutants list = {0};
    if (!(t->expr ? mutants_of_expr(&a, t->text, &list) : mutants_of_module(&a, t->text, &list)))
        fprintf(stderr, "%.*s %.*s could not be read\n", GR_STR_ARG(op->id), GR_STR_ARG(f->name[t->file])), w->sum.bugs++;
    for (uint32_t i = 0; i < list.n; i++) try_mutant(w, op, f, t, &list.v[i]);
    gr_arena_free(&a);
}

/* ---- the texts of an op ---- */

static void mutate_maps(work *w, gr_arena *a, const gr_op *op, const altered_files *f) {
    int at = altered_find(f, GR_STR("op.toml"));
    gr_diags d;
    gr_doc doc;
    gr_diags_init(&d);
    if (at >= 0 && gr_toml_parse(a, &d, GR_STR("op.toml"), f->text[at], &doc)) {
        const gr_value *map = gr_value_get(gr_value_get(doc.root, "body"), "map");
        uint32_t n = !map ? 0 : map->kind == GR_V_OBJECT ? map->object.n : 1;
        for (uint32_t i = 0; i < n; i++) {
            const gr_value *v = map->kind == GR_V_OBJECT ? map->object.v[i].value : map;
            uint32_t from = v->offset + 1;
            if (v->kind != GR_V_STRING || from + v->s.n > f->text[at].n || memcmp(f->text[at].p + from, v->s.p, v->s.n)) continue;
            mutate_text(w, op, f, &(target){(uint32_t)at, from, v->s, true});
        }
    }
    gr_diags_free(&d);
}

static void mutate_op(work *w, const gr_op *op) {
    gr_arena a = {0};
    gr_diags d;
    altered_files f;
    gr_diags_init(&d);
    if (altered_read(&a, &d, op->folder, &f)) {
        mutate_maps(w, &a, op, &f);
        for (uint32_t i = 0; i < f.n; i++) {
            bool is = op->map.functions.n && gr_str_eq(f.text[i], op->map.functions);
            for (uint32_t k = 0; k < op->kernels_n; k++) is = is || gr_str_eq(op->kernels[k].file, f.name[i]);
            if (is) mutate_text(w, op, &f, &(target){i, 0, f.text[i], false});
        }
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
}

/* ---- the whole ---- */

static bool options(work *w, int n, char **arg, double *need) {
    gr_diags d;
    gr_diags_init(&d);
    const char *log = NULL;
    for (int i = 1; i < n; i++) {
        const char *v = i + 1 < n ? arg[i + 1] : "";
        if (!strcmp(arg[i], "--list") || !strcmp(arg[i], "--quick")) {
            *(arg[i][2] == 'l' ? &w->list : &w->quick) = true;
            continue;
        }
        if (!strcmp(arg[i], "--sample")) w->sample = atof(v);
        else if (!strcmp(arg[i], "--seed")) w->seed = strtoull(v, NULL, 10);
        else if (!strcmp(arg[i], "--need")) *need = atof(v);
        else if (!strcmp(arg[i], "--log")) log = v;
        else if (!strcmp(arg[i], "--op") && w->only_n < OPS) w->only[w->only_n++] = v;
        else return false;
        i++;
    }
    if (log && gr_file_exists(gr_str_of(log))) gr_file_read(&w->a, &d, gr_str_of(log), 0, &w->done);
    if (log) w->log = fopen(log, "a");
    const char *root = getenv("GRADUS_ROOT");
    gr_str top = gr_str_of(root ? root : "."), known = gr_path_join(&w->a, top, GR_STR("tests/regime/survivors.txt"));
    if (gr_file_exists(known)) gr_file_read(&w->a, &d, known, 0, &w->listed);
    bool ok = w->catalog && gr_catalog_load(w->catalog, &d, gr_path_join(&w->a, top, GR_STR("catalog")));
    gr_diags_free(&d);
    return ok;
}

static void row(const char *name, const tally *t) {
    uint32_t counted = t->killed + t->escaped;
    printf("%-12s %8u %8u %8u %8u %8u %7.1f %%\n", name, t->invalid, t->killed, t->equal, t->listed, t->escaped, counted ? 100.0 * t->killed / counted : 100.0);
}

int main(int n, char **arg) {
    work w = {.sample = 100, .seed = 1, .device = gr_regime_oracle(), .catalog = gr_catalog_new()};
    double need = 95;
    if (!options(&w, n, arg, &need)) return fprintf(stderr, "mutants [--sample PERCENT] [--seed N] [--op NAME]... [--log FILE] [--list] [--need PERCENT] [--quick]\n"), 2;
    for (uint32_t i = 0; i < gr_catalog_count(w.catalog); i++) {
        const gr_op *op = gr_catalog_at(w.catalog, i);
        bool wanted = w.only_n == 0;
        for (uint32_t k = 0; k < w.only_n; k++) wanted = wanted || gr_str_eq(op->name, gr_str_of(w.only[k]));
        if (wanted) mutate_op(&w, op);
    }
    printf("%-12s %8s %8s %8s %8s %8s %9s\n", "kind", "invalid", "killed", "equal", "listed", "escaped", "rate");
    for (uint32_t i = 0; i < w.kinds_n; i++) row(w.kind[i], &w.by_kind[i]);
    row("all", &w.sum);
    if (w.sum.bugs) printf("%u could not be carried out\n", w.sum.bugs);
    if (w.log) fclose(w.log);
    gr_catalog_free(w.catalog);
    gr_arena_free(&w.a);
    uint32_t counted = w.sum.killed + w.sum.escaped;
    return w.sum.bugs || (counted && 100.0 * w.sum.killed < need * counted) ? 1 : 0;
}
