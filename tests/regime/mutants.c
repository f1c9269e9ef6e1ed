/* mutants: changes every kernel and map expression of the catalog by one small wrong step and asks whether
 * conformance rejects it. docs/faulty.md says what the numbers mean.
 *
 *   mutants [--sample PERCENT] [--seed N] [--op NAME]... [--part K/N] [--log FILE] [--list | --check] [--need PERCENT]
 *
 * --list prints names, --check only looks whether every entry of tests/regime/survivors.txt names a mutant. In a sample, mutants that
 * are listed there are tried on a few cases only. With a log, mutants that it holds already are not run again. Exit code 1 below the
 * rate needed, and when a listed survivor is killed. */
#include "bench.h"

#include "base/clock.h"
#include "mutate.h"
#include "survivors.h"

#include <stdio.h>
#include <stdlib.h>

enum { FEW = 12, QUICK = 24, KINDS = 16, OPS = 64 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(SANITIZED)
enum { THINNED = 100 }; /* the sanitizers look at this program, not at kernels: they take few */
#else
enum { THINNED = 1 };
#endif

typedef struct tally { uint32_t invalid, killed, equal, listed, escaped, known, bugs; } tally; /* known: of the escaped, those that are listed */

typedef struct work {
    gr_arena a;
    gr_catalog *catalog;
    bench *quick, *bench; /* of the op at hand: a few cases, and all of them once a mutant has survived these */
    double sample;
    uint64_t seed;
    const char *only[OPS];
    uint32_t only_n;
    uint32_t part, parts; /* of the ops, every parts-th */
    bool list, check;
    FILE *log;
    gr_str done; /* text of the log so far */
    survivors listed;
    uint32_t stale;
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
    if (text.n == 0) return false;
    size_t n = strlen(key);
    const char *p = text.p, *end = text.p + text.n;
    while (p && (p = memmem(p, (size_t)(end - p), key, n)) != NULL) {
        if ((p == text.p || p[-1] == '\n') && (p + n == end || p[n] == '\t' || p[n] == '\n')) return true;
        p += n;
    }
    return false;
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

static const char *survived(work *w, tally *k, const survivor *known) {
    if (known && known->mark == SURVIVOR_EQUAL) return w->sum.listed++, k->listed++, "listed";
    w->sum.escaped++, k->escaped++;
    if (known) w->sum.known++, k->known++;
    return known ? "known" : "escaped";
}

static const char *settle(work *w, const char *key, const bench_result *r, tally *k, const survivor *known) {
    switch (r->fate) {
        case BENCH_INVALID: return w->sum.invalid++, k->invalid++, "invalid";
        case BENCH_EQUAL: return w->sum.equal++, k->equal++, "equal";
        case BENCH_SURVIVED: return survived(w, k, known);
        case BENCH_KILLED: break;
        default: return w->sum.bugs++, k->bugs++, "bug";
    }
    w->sum.killed++, k->killed++;
    if (known) printf("survivors.txt:%u: stale, it is killed: %s\n  %s at %s\n", known->line, key, r->why, r->at), w->stale++;
    return "killed";
}

static void run_mutant(work *w, const gr_op *op, const char *key, const altered_files *changed, const target *t, const mutant *m, const survivor *known) {
    bench_result r = {.fate = BENCH_BUG};
    double began = gr_clock_seconds();
    if (!w->quick) w->quick = bench_new(w->catalog, op, QUICK);
    if (w->quick) bench_try(w->quick, changed, changed->name[t->file], &(bench_budget){.cases = known && w->sample < 100 / THINNED ? FEW : 0}, &r);
    bool deeper = (r.fate == BENCH_SURVIVED || r.fate == BENCH_EQUAL) && !(known && w->sample < 100 / THINNED);
    if (deeper && !w->bench) w->bench = bench_new(w->catalog, op, 0);
    if (deeper && w->bench) bench_try(w->bench, changed, changed->name[t->file], &(bench_budget){0}, &r);
    const char *fate = settle(w, key, &r, kind_of(w, m->kind), known);
    if (w->log) fprintf(w->log, "%s\t%s\t%s\t%s\t%u of %u\t%.0f ms\n", key, fate, r.why, r.at, r.place, r.cases, 1000 * (gr_clock_seconds() - began)), fflush(w->log);
    if (!w->log && (!strcmp(fate, "escaped") || !strcmp(fate, "bug"))) printf("%s %s\n  %s\n", fate, key, r.why);
}

static void try_mutant(work *w, const gr_op *op, const altered_files *f, const target *t, const mutant *m) {
    gr_arena a = {0};
    altered_files changed = *f;
    mutant_key k;
    const char *key = key_of(&a, op, f->name[t->file], t->text, m);
    const survivor *known = key && mutant_key_read(gr_str_of(key), &k) ? survivors_find(&w->listed, &k) : NULL;
    if (key && sampled(w, key) && !holds(w->done, key)) {
        changed.text[t->file] = altered_text(&a, f->text[t->file], m->from + t->shift, m->to + t->shift, m->with);
        if (w->list && !w->check) printf("%s\n", key);
        if (!w->list) run_mutant(w, op, key, &changed, t, m, known);
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
    bench_free(w->quick);
    bench_free(w->bench);
    w->quick = w->bench = NULL;
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
        if (!strcmp(arg[i], "--list") || !strcmp(arg[i], "--check")) {
            w->list = true;
            w->check = arg[i][2] == 'c';
            continue;
        }
        if (!strcmp(arg[i], "--sample")) w->sample = atof(v);
        else if (!strcmp(arg[i], "--seed")) w->seed = strtoull(v, NULL, 10);
        else if (!strcmp(arg[i], "--need")) *need = atof(v);
        else if (!strcmp(arg[i], "--log")) log = v;
        else if (!strcmp(arg[i], "--part") && sscanf(v, "%u/%u", &w->part, &w->parts) == 2 && w->part < w->parts) {}
        else if (!strcmp(arg[i], "--op") && w->only_n < OPS) w->only[w->only_n++] = v;
        else return false;
        i++;
    }
    if (log && gr_file_exists(gr_str_of(log))) gr_file_read(&w->a, &d, gr_str_of(log), 0, &w->done);
    if (log) w->log = fopen(log, "a");
    const char *root = getenv("GRADUS_ROOT");
    gr_str top = gr_str_of(root ? root : "."), known = gr_path_join(&w->a, top, GR_STR("tests/regime/survivors.txt"));
    uint32_t bad = 1;
    gr_str text = {0};
    bool ok = gr_file_read(&w->a, &d, known, 0, &text) && survivors_read(&w->a, text, &w->listed, &bad);
    if (bad) fprintf(stderr, "%.*s:%u: not a mark, a key and a reason with tabs between\n", GR_STR_ARG(known), bad);
    ok = ok && !bad && w->catalog && gr_catalog_load(w->catalog, &d, gr_path_join(&w->a, top, GR_STR("catalog")));
    gr_diags_free(&d);
    return ok;
}

static void row(const char *name, const tally *t) {
    uint32_t counted = t->killed + t->escaped;
    printf("%-12s %8u %8u %8u %8u %8u %8u %7.1f %%\n", name, t->invalid, t->killed, t->equal, t->listed, t->escaped, t->known, counted ? 100.0 * t->killed / counted : 100.0);
}

/* Entries that name no mutant of the ops that were gone through: all of them, or nothing is said. */
static uint32_t stale_entries(const work *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; w->only_n == 0 && w->parts == 1 && i < w->listed.n; i++) {
        if (w->listed.v[i].met) continue;
        fprintf(stderr, "survivors.txt:%u: stale, it names no mutant\n", w->listed.v[i].line);
        n++;
    }
    return n;
}

static void print_rates(const work *w) {
    printf("%-12s %8s %8s %8s %8s %8s %8s %9s\n", "kind", "invalid", "killed", "equal", "listed", "escaped", "known", "rate");
    for (uint32_t i = 0; i < w->kinds_n; i++) row(w->kind[i], &w->by_kind[i]);
    row("all", &w->sum);
    if (w->sum.bugs) printf("%u could not be carried out\n", w->sum.bugs);
}

int main(int n, char **arg) {
    work w = {.sample = 100, .seed = 1, .parts = 1, .catalog = gr_catalog_new()};
    double need = 95;
    if (!options(&w, n, arg, &need)) return fprintf(stderr, "mutants [--sample PERCENT] [--seed N] [--op NAME]... [--part K/N] [--log FILE] [--list | --check] [--need PERCENT]\n"), 2;
    w.sample /= THINNED;
    for (uint32_t i = 0; i < gr_catalog_count(w.catalog); i++) {
        const gr_op *op = gr_catalog_at(w.catalog, i);
        bool wanted = w.only_n == 0 && i % w.parts == w.part;
        for (uint32_t k = 0; k < w.only_n; k++) wanted = wanted || gr_str_eq(op->name, gr_str_of(w.only[k]));
        if (wanted) mutate_op(&w, op);
    }
    uint32_t stale = stale_entries(&w), counted = w.sum.killed + w.sum.escaped;
    bool enough = THINNED > 1 || counted == 0 || 100.0 * w.sum.killed >= need * counted;
    if (!w.list) print_rates(&w);
    if (w.log) fclose(w.log);
    gr_catalog_free(w.catalog);
    gr_arena_free(&w.a);
    return w.sum.bugs || w.stale || stale || !enough ? 1 : 0;
}
