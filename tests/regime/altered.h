/* altered.h: an op whose files were changed, tried against the body of the unchanged one. For tests of the regime itself. */
#ifndef GR_TESTS_ALTERED_H
#define GR_TESTS_ALTERED_H

#include "base/file.h"
#include "regime/gradcheck.h"

#include <stdio.h>

enum { ALTERED_FILES = 24, ALTERED_STEPS = 1 << 20 };

/* The texts of an op's folder. */
typedef struct altered_files { gr_str name[ALTERED_FILES], text[ALTERED_FILES]; uint32_t n; } altered_files;

static inline bool altered_read(gr_arena *a, gr_diags *d, gr_str folder, altered_files *out) {
    gr_str *names;
    uint32_t n;
    *out = (altered_files){0};
    GR_TRY(gr_dir_list(a, d, folder, &names, &n));
    for (uint32_t i = 0; i < n && out->n < ALTERED_FILES; i++) {
        if (!gr_str_ends(names[i], ".toml") && !gr_str_ends(names[i], ".wgsl")) continue;
        out->name[out->n] = names[i];
        GR_TRY(gr_file_read(a, d, gr_path_join(a, folder, names[i]), 1 << 22, &out->text[out->n++]));
    }
    return true;
}

static inline int altered_find(const altered_files *f, gr_str name) {
    for (uint32_t i = 0; i < f->n; i++)
        if (gr_str_eq(f->name[i], name)) return (int)i;
    return -1;
}

/* text with [from, to) replaced. */
static inline gr_str altered_text(gr_arena *a, gr_str text, size_t from, size_t to, gr_str with) {
    char *p = gr_arena_alloc(a, text.n + with.n + 1, 1);
    if (!p) return (gr_str){0};
    memcpy(p, text.p, from);
    memcpy(p + from, with.p, with.n);
    memcpy(p + from + with.n, text.p + to, text.n - to);
    return (gr_str){p, text.n - (to - from) + with.n};
}

/* ALTERED_REJECTED needs an observation: a case whose result is wrong. That too much could not be compared, or that
 * a control was taken, says nothing about this op: it counts as survived. */
typedef enum altered_fate {
    ALTERED_NONE = 0,
    ALTERED_INVALID,   /* it does not compile, or the contract refuses it: why is the diagnostic */
    ALTERED_REJECTED,  /* why is the reason of the conformance */
    ALTERED_SURVIVED,
    ALTERED_BUG,       /* the regime could not carry it out: its own fault */
} altered_fate;

typedef struct altered_result { altered_fate fate; char why[400], at[200]; gr_conformance c; } altered_result;

static inline void altered_why(altered_result *r, const gr_diags *d, altered_fate otherwise) {
    r->fate = d->worst == GR_DIAG_USER ? otherwise : ALTERED_BUG;
    for (uint32_t i = 0; i < d->list.n; i++) {
        const gr_diag *g = &d->list.v[i];
        if (g->severity != GR_ERROR) continue;
        snprintf(r->why, sizeof r->why, "%s: %.*s", gr_diag_text(g->name), GR_STR_ARG(g->message));
        return;
    }
}

/* base: the unchanged op, of the catalog. cases as in gr_conform_options. */
static inline void altered_try(const gr_catalog *catalog, const gr_op *base, const gr_regime_device *device, const altered_files *f, uint32_t cases,
                               altered_result *r) {
    gr_arena a;
    gr_diags d;
    gr_arena_init(&a, (size_t)1 << 30);
    gr_diags_init(&d);
    *r = (altered_result){0};
    const gr_op *op = gr_op_alone(&a, &d, base->id, f->name, f->text, f->n);
    gr_conform_options o = {.cases = cases, .reference = base, .no_shrink = true, .step_limit = ALTERED_STEPS};
    if (!op) {
        altered_why(r, &d, ALTERED_INVALID);
    } else if (!gr_op_conform(&a, &d, catalog, op, device, &o, &r->c)) {
        altered_why(r, &d, ALTERED_INVALID);
    } else {
        bool seen = r->c.shrunk.n || gr_str_starts(r->c.reason, "no call could be split");
        r->fate = r->c.passed || !seen ? ALTERED_SURVIVED : ALTERED_REJECTED;
        snprintf(r->why, sizeof r->why, "%.*s", GR_STR_ARG(r->c.reason));
        snprintf(r->at, sizeof r->at, "%.*s", GR_STR_ARG(r->c.shrunk));
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
}

/* The same by gradcheck: derivatives of the body against the changed backward. */
static inline void altered_gradcheck(const gr_catalog *catalog, const gr_op *base, const altered_files *f, uint32_t probes, altered_result *r) {
    gr_arena a;
    gr_diags d;
    gr_gradcheck g;
    gr_arena_init(&a, (size_t)1 << 30);
    gr_diags_init(&d);
    *r = (altered_result){0};
    const gr_op *op = gr_op_alone(&a, &d, base->id, f->name, f->text, f->n);
    gr_gradcheck_options o = {.probes = probes, .cases = probes && probes < 100 ? 16 : 0};
    if (!op || !gr_op_gradcheck(&a, &d, catalog, op, &o, &g)) {
        altered_why(r, &d, ALTERED_INVALID);
    } else {
        r->fate = g.state == GR_GRADCHECK_FAILED ? ALTERED_REJECTED : ALTERED_SURVIVED;
        snprintf(r->why, sizeof r->why, "gradient: %.*s", GR_STR_ARG(g.reason));
        snprintf(r->at, sizeof r->at, "%.*s", GR_STR_ARG(g.shrunk));
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
}

#endif
