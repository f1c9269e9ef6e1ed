/* faulty: runs the planted faults in the .toml files beside it against the regime and prints TAP and a table by kind.
 *
 *   faulty [--only NAME] [--quick] [--verbose]
 *
 * A fault is a table of these keys:
 *   name, kind, why    what it is called, its kind, what is wrong, in a few words
 *   op                 the op whose files are changed; its own body stays the truth
 *   edit               [[file, text, instead] ...]; each text must stand there once, or with `all = true` any number of
 *                      times; with `any = true` it is enough that one of the edits applies
 *   by                 how it must be rejected, alternatives separated by |: differs or split (the default), unwritten, stopped,
 *                      order (invocations in the opposite order), stale (after runs on other operands), changed, fence, split, refused (by the contract or WGSL); gradient: by gradcheck, which is run then
 *   control            true: no fault at all; it must pass
 *
 * A fault that escapes must be named in docs/faulty.md. At least 98 % must be rejected, for a reason that fits. */
#include "regime/altered.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUICK = 24, KINDS = 96, NEED_PERCENT = 98 };

typedef struct fault { gr_str name, kind, op, by, why; const gr_value *edit; bool control, all, any; } fault;
typedef struct tally { gr_str kind; uint32_t planted, rejected; } tally;

typedef struct work {
    gr_arena a;
    gr_diags d;
    gr_catalog *catalog;
    gr_regime_device device;
    gr_str root, known;
    const char *only;
    bool quick, verbose;
    tally kind[KINDS];
    uint32_t kinds_n, planted, rejected, controls, tests, failures;
} work;

static gr_str text_of(const gr_value *t, const char *key) {
    const gr_value *v = gr_value_get(t, key);
    return v && v->kind == GR_V_STRING ? v->s : (gr_str){0};
}

static bool truth_of(const gr_value *t, const char *key) {
    const gr_value *v = gr_value_get(t, key);
    return v && v->kind == GR_V_BOOL && v->b;
}

static void tap(work *w, bool ok, const fault *f, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void tap(work *w, bool ok, const fault *f, const char *fmt, ...) {
    va_list ap;
    w->tests++;
    w->failures += !ok;
    printf("%sok %u - %.*s: ", ok ? "" : "not ", w->tests, GR_STR_ARG(f->name));
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
}

/* ---- the changed files ---- */

static uint32_t replace(gr_arena *a, gr_str *text, gr_str find, gr_str put) {
    uint32_t n = 0;
    for (size_t at = 0; find.n && at + find.n <= text->n;) {
        if (memcmp(text->p + at, find.p, find.n)) {
            at++;
            continue;
        }
        *text = altered_text(a, *text, at, at + find.n, put);
        at += put.n;
        n++;
    }
    return n;
}

static bool change(work *w, gr_arena *a, const fault *f, altered_files *files) {
    uint32_t applied = 0, n = f->edit && f->edit->kind == GR_V_ARRAY ? f->edit->array.n : 0;
    for (uint32_t i = 0; i < n; i++) {
        const gr_value *e = f->edit->array.v[i];
        if (e->kind != GR_V_ARRAY || e->array.n != 3) return tap(w, false, f, "an edit has three texts"), false;
        int at = altered_find(files, e->array.v[0]->s);
        uint32_t times = at < 0 ? 0 : replace(a, &files->text[at], e->array.v[1]->s, e->array.v[2]->s);
        if (times == 0 && f->any) continue;
        if (times == 0 || (times > 1 && !f->all && !f->any))
            return tap(w, false, f, "%.*s holds the text %u times: %.*s", GR_STR_ARG(e->array.v[0]->s), times, GR_STR_ARG(e->array.v[1]->s)), false;
        applied++;
    }
    return applied > 0 ? true : (tap(w, false, f, "no edit applies"), false);
}

/* ---- whether the reason fits ---- */

static const char *reason_of(const altered_result *r) {
    static const struct { const char *word, *text; } reasons[] = {
        {"differs", "a result differs from the reference"}, {"unwritten", "an element is not written"}, {"stopped", "run was stopped"},
        {"order", "in the opposite order"}, {"stale", "the same operands give another"}, {"changed", "was changed"}, {"fence", "behind an output"}, {"split", "split"}, {"limits", "more than"},
        {"limits", "less than"}, {"gradient", "gradient"}, {"controls", "control"}, {"influence", "influence"},
    };
    if (r->fate == ALTERED_INVALID) return "refused";
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(r->why, reasons[i].text)) return reasons[i].word;
    return "unknown";
}

static bool fits(gr_str by, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= by.n; i++)
        if (!memcmp(by.p + i, word, n) && (i == 0 || by.p[i - 1] == '|') && (i + n == by.n || by.p[i + n] == '|')) return true;
    return false;
}

static bool documented(const work *w, gr_str name) {
    char key[80];
    snprintf(key, sizeof key, "`%.*s`", GR_STR_ARG(name));
    return w->known.n && memmem(w->known.p, w->known.n, key, strlen(key)) != NULL;
}

/* ---- one fault ---- */

static tally *kind_of(work *w, gr_str kind) {
    uint32_t i = 0;
    while (i < w->kinds_n && !gr_str_eq(w->kind[i].kind, kind)) i++;
    if (i == w->kinds_n && i + 1 < KINDS) w->kind[w->kinds_n++].kind = gr_str_dup(&w->a, kind);
    return &w->kind[i];
}

static void judge(work *w, const fault *f, const altered_result *r) {
    const char *reason = reason_of(r);
    bool rejected = r->fate == ALTERED_REJECTED || r->fate == ALTERED_INVALID;
    if (r->fate == ALTERED_BUG) {
        tap(w, false, f, "could not be carried out: %s", r->why);
    } else if (f->control) {
        w->controls++;
        tap(w, r->fate == ALTERED_SURVIVED, f, "%s", rejected ? r->why : "a right kernel passes");
    } else {
        tally *k = kind_of(w, f->kind);
        bool good = rejected && fits(f->by, reason);
        w->planted++, k->planted++;
        w->rejected += good, k->rejected += good;
        if (good) tap(w, true, f, "%s%s%s", reason, r->at[0] ? " at " : "", r->at);
        else if (rejected) tap(w, false, f, "rejected, but %s: %s", reason, r->why);
        else tap(w, documented(w, f->name), f, "escaped%s", documented(w, f->name) ? ", as docs/faulty.md says" : "");
    }
    if (w->verbose && r->why[0]) printf("# %s\n", r->why);
}

static void run_fault(work *w, const fault *f) {
    gr_arena a = {0};
    gr_diags d;
    altered_files files;
    altered_result r;
    gr_diags_init(&d);
    const gr_op *op = gr_catalog_find(w->catalog, f->op);
    if (!op || !altered_read(&a, &d, op->folder, &files)) tap(w, false, f, "there is no op %.*s", GR_STR_ARG(f->op));
    else if (change(w, &a, f, &files)) {
        bool more = !w->quick || !documented(w, f->name), backward = fits(f->by, "gradient");
        if (backward) altered_gradcheck(w->catalog, op, &files, 48, &r);
        else altered_try(w->catalog, op, &w->device, &files, QUICK, &r);
        if (r.fate == ALTERED_SURVIVED && more && !f->control) {
            if (backward) altered_gradcheck(w->catalog, op, &files, 0, &r);
            else altered_try(w->catalog, op, &w->device, &files, 0, &r);
        }
        judge(w, f, &r);
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
}

/* ---- the files ---- */

static void run_file(work *w, gr_str path) {
    gr_arena a = {0};
    gr_str text;
    gr_doc doc;
    if (!gr_file_read(&a, &w->d, path, 1 << 22, &text) || !gr_toml_parse(&a, &w->d, path, text, &doc)) {
        w->failures++;
        return gr_arena_free(&a);
    }
    const gr_value *list = gr_value_get(doc.root, "fault");
    for (uint32_t i = 0; list && i < list->array.n; i++) {
        const gr_value *t = list->array.v[i];
        fault f = {text_of(t, "name"), text_of(t, "kind"), text_of(t, "op"), text_of(t, "by"), text_of(t, "why"), gr_value_get(t, "edit"),
                   truth_of(t, "control"), truth_of(t, "all"), truth_of(t, "any")};
        if (f.by.n == 0) f.by = GR_STR("differs|split");
        if (!f.name.n || !f.why.n || (!f.control && !f.kind.n)) tap(w, false, &f, "a fault has a name, a kind and a why");
        else if (!w->only || gr_str_eqz(f.name, w->only)) run_fault(w, &f);
    }
    gr_arena_free(&a);
}

static bool begin(work *w) {
    const char *root = getenv("GRADUS_ROOT");
    gr_str docs;
    gr_diags_init(&w->d);
    w->root = gr_str_of(root ? root : ".");
    w->catalog = gr_catalog_new();
    w->device = gr_regime_oracle();
    docs = gr_path_join(&w->a, w->root, GR_STR("docs/faulty.md"));
    if (gr_file_exists(docs)) gr_file_read(&w->a, &w->d, docs, 1 << 22, &w->known);
    return w->catalog && gr_catalog_load(w->catalog, &w->d, gr_path_join(&w->a, w->root, GR_STR("catalog"))) &&
           gr_catalog_load(w->catalog, &w->d, gr_path_join(&w->a, w->root, GR_STR("examples/ops"))) &&
           gr_catalog_load(w->catalog, &w->d, gr_path_join(&w->a, w->root, GR_STR("tests/faulty/ops")));
}

static void print_table(const work *w) {
    printf("# %-40s %8s %8s %8s\n", "kind", "planted", "rejected", "escaped");
    for (uint32_t i = 0; i < w->kinds_n; i++)
        printf("# %-40.*s %8u %8u %8u\n", GR_STR_ARG(w->kind[i].kind), w->kind[i].planted, w->kind[i].rejected, w->kind[i].planted - w->kind[i].rejected);
    printf("# %-40s %8u %8u %8u\n# %u controls\n", "all", w->planted, w->rejected, w->planted - w->rejected, w->controls);
}

int main(int n, char **arg) {
    work w = {0};
    gr_str *names, folder;
    uint32_t count = 0;
    for (int i = 1; i < n; i++) {
        if (!strcmp(arg[i], "--quick")) w.quick = true;
        else if (!strcmp(arg[i], "--verbose")) w.verbose = true;
        else if (!strcmp(arg[i], "--only") && i + 1 < n) w.only = arg[++i];
        else return fprintf(stderr, "faulty [--only NAME] [--quick] [--verbose]\n"), 2;
    }
    if (!begin(&w)) return fprintf(stderr, "the catalog does not load\n"), 1;
    folder = gr_path_join(&w.a, w.root, GR_STR("tests/faulty"));
    if (!gr_dir_list(&w.a, &w.d, folder, &names, &count)) return 1;
    for (uint32_t i = 0; i < count; i++)
        if (gr_str_ends(names[i], ".toml")) run_file(&w, gr_path_join(&w.a, folder, names[i]));
    print_table(&w);
    bool enough = w.only || w.quick || 100 * w.rejected >= NEED_PERCENT * w.planted;
    printf("%sok %u - at least %d %% of the planted faults are rejected\n1..%u\n", enough ? "" : "not ", w.tests + 1, NEED_PERCENT, w.tests + 1);
    if (w.d.errors) {
        gr_buf b = {0};
        gr_diags_print(&b, &w.d, (gr_str){0});
        fprintf(stderr, "%s", b.p ? b.p : "");
        gr_buf_free(&b);
    }
    int code = w.failures || !enough || w.d.errors ? 1 : 0;
    gr_catalog_free(w.catalog);
    gr_diags_free(&w.d);
    gr_arena_free(&w.a);
    return code;
}
