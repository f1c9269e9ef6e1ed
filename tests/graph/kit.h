/* kit.h: what the graph tests share. Include after cmocka.h. */
#ifndef GR_TESTS_GRAPH_KIT_H
#define GR_TESTS_GRAPH_KIT_H

#include "ladder/graph/graph.h"
#include "ops.h"

typedef struct box {
    gr_arena a;
    gr_diags d;
    gr_catalog *catalog;
} box;

static inline void open_box(box *b, gr_catalog *c) {
    *b = (box){.catalog = c};
    gr_diags_init(&b->d);
}

static inline void close_box(box *b) {
    gr_diags_free(&b->d);
    gr_arena_free(&b->a);
    gr_catalog_free(b->catalog);
}

static inline const gr_diag *first_error(const gr_diags *d) {
    for (uint32_t i = 0; i < d->list.n; i++)
        if (d->list.v[i].severity == GR_ERROR) return &d->list.v[i];
    return NULL;
}

static inline gr_type type_of(gr_dtype t, uint32_t rank, const uint64_t *dims) {
    gr_type x = {.dtype = t, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) x.dim[i].n = dims[i];
    return x;
}

/* A graph written without its header; the test fails when it does not parse. */
static inline void read_graph(box *b, const char *lines, gr_graph *out) {
    char *text = gr_arena_printf(&b->a, "graph t {\n  tier debug\n%s}\n", lines);
    bool ok = gr_graph_parse(&b->a, &b->d, GR_STR("t.graph"), gr_str_of(text), b->catalog, out);
    golden_show(&b->d, gr_str_of(text));
    assert_true(ok);
    assert_true(gr_graph_verify(&b->d, out));
}

/* The printed lines of a graph behind its header's blank line. */
static inline void check_lines(const gr_graph *g, const char *want) {
    gr_buf b = {0};
    gr_graph_print(&b, g);
    const char *lines = strstr(b.p, "\n\n");
    assert_non_null(lines);
    gr_str got = {lines + 2, strlen(lines + 2) - 2}; /* without the closing brace */
    if (!gr_str_eqz(got, want)) fprintf(stderr, "want:\n%sgot:\n%.*s", want, GR_STR_ARG(got));
    assert_true(gr_str_eqz(got, want));
    gr_buf_free(&b);
}

/* parse(print(x)) prints the same. */
static inline void check_round_trip(box *b, const gr_graph *g) {
    gr_buf one = {0}, two = {0};
    gr_graph again;
    gr_graph_print(&one, g);
    assert_false(one.failed);
    bool ok = gr_graph_parse(&b->a, &b->d, GR_STR("again.graph"), gr_buf_view(&one), b->catalog, &again);
    golden_show(&b->d, gr_buf_view(&one));
    assert_true(ok && gr_graph_verify(&b->d, &again));
    gr_graph_print(&two, &again);
    assert_string_equal(one.p, two.p);
    gr_buf_free(&one);
    gr_buf_free(&two);
}

#endif
