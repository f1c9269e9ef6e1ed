/* lower.h: what the tests of the lower rungs share: the real catalog, graphs from text, kernels, plans, runs.
 * Include after cmocka.h. */
#ifndef GR_TESTS_LOWER_H
#define GR_TESTS_LOWER_H

#include "base/file.h"
#include "ladder/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct low {
    gr_arena a;
    gr_diags d;
    gr_catalog *catalog;
    gr_graph graph;
    gr_kernels kernels;
    gr_plan plan;
} low;

static inline void low_show(const gr_diags *d) {
    gr_buf b = {0};
    gr_diags_print(&b, d, (gr_str){0});
    fprintf(stderr, "%s", b.p ? b.p : "");
    gr_buf_free(&b);
}

static inline void low_path(low *l, const char *sub) {
    const char *root = getenv("GRADUS_ROOT");
    gr_str path = gr_path_join(&l->a, gr_str_of(root ? root : "."), gr_str_of(sub));
    bool ok = gr_catalog_load(l->catalog, &l->d, path);
    if (!ok) low_show(&l->d);
    assert_true(ok);
}

/* The catalog and the example ops. */
static inline void low_begin(low *l) {
    *l = (low){0};
    gr_diags_init(&l->d);
    l->catalog = gr_catalog_new();
    assert_non_null(l->catalog);
    low_path(l, "catalog");
    low_path(l, "examples/ops");
}

static inline void low_end(low *l) {
    gr_catalog_free(l->catalog);
    gr_diags_free(&l->d);
    gr_arena_free(&l->a);
}

/* An op from the text of its op.toml and further (name, text) pairs ended by NULL. */
static inline const gr_op *low_op(low *l, const char *id, const char *toml, const char *file, const char *text, const char *file2, const char *text2) {
    gr_str names[3] = {GR_STR("op.toml"), gr_str_of(file), gr_str_of(file2)}, texts[3] = {gr_str_of(toml), gr_str_of(text), gr_str_of(text2)};
    const gr_op *op = gr_catalog_add(l->catalog, &l->d, gr_str_of(id), names, texts, file2 ? 3u : file ? 2u : 1u);
    if (!op) low_show(&l->d);
    assert_non_null(op);
    return op;
}

static inline void low_graph(low *l, const char *text) {
    bool ok = gr_graph_parse(&l->a, &l->d, GR_STR("test.graph"), gr_str_dup(&l->a, gr_str_of(text)), l->catalog, &l->graph);
    if (!ok) low_show(&l->d);
    assert_true(ok);
}

static inline bool low_try_kernels(low *l, const char *text, const gr_target *t) {
    low_graph(l, text);
    return gr_graph_lower(&l->a, &l->d, &l->graph, l->catalog, t, &l->kernels);
}

static inline void low_kernels(low *l, const char *text, const gr_target *t) {
    bool ok = low_try_kernels(l, text, t) && gr_kernels_verify(&l->d, &l->kernels);
    if (!ok) low_show(&l->d);
    assert_true(ok);
}

/* Plans; the verdict may be anything. The plan must verify, and its text must survive a round trip. */
static inline void low_plan(low *l, const char *text, const gr_target *t, const gr_plan_options *o) {
    low_kernels(l, text, t);
    bool ok = gr_kernels_lower(&l->a, &l->d, &l->kernels, l->catalog, o, &l->plan);
    if (ok) {
        gr_diags d;
        gr_diags_init(&d);
        ok = gr_plan_verify(&d, &l->plan);
        if (!ok) low_show(&d);
        gr_buf first = {0}, second = {0};
        gr_plan back;
        gr_plan_print(&first, &l->plan);
        ok = ok && gr_plan_parse(&l->a, &d, GR_STR("<plan>"), gr_buf_view(&first), &l->kernels, &back);
        if (ok) {
            gr_plan_print(&second, &back);
            ok = gr_str_eq(gr_buf_view(&first), gr_buf_view(&second));
        }
        if (!ok) {
            low_show(&d);
            fprintf(stderr, "%.*s\n", (int)(first.n < 20000 ? first.n : 20000), first.p ? first.p : "");
        }
        gr_buf_free(&first);
        gr_buf_free(&second);
        gr_diags_free(&d);
    } else {
        low_show(&l->d);
    }
    assert_true(ok);
}

#endif
