/* corpus.h: walking tests/wgsl/valid and tests/wgsl/invalid. Include after cmocka.h. */
#ifndef GR_TESTS_WGSL_CORPUS_H
#define GR_TESTS_WGSL_CORPUS_H

#include "base/file.h"
#include "wgsl/wgsl.h"

#include <stdlib.h>

/* One program: its path, text, and for invalid ones what the first line expects. */
typedef struct corpus_file {
    gr_str path, text;
    bool valid;
    gr_str expect; /* diagnostic name */
    uint32_t line;
} corpus_file;

/* "// expect: wgsl/name LINE" in the first line. */
static inline bool corpus_header(corpus_file *c) {
    static const char head[] = "// expect: ";
    if (!gr_str_starts(c->text, head)) return false;
    const char *p = c->text.p + sizeof head - 1, *space = strchr(p, ' ');
    if (!space) return false;
    c->expect = (gr_str){p, (size_t)(space - p)};
    c->line = (uint32_t)strtoul(space, NULL, 10);
    return c->line > 0;
}

typedef void corpus_visit(void *ctx, const corpus_file *c);

/* Calls fn for every program of a folder below the source root; gives their number. */
static inline uint32_t corpus_walk_in(const char *folder, bool valid, corpus_visit *fn, void *ctx) {
    gr_arena a = {0};
    gr_diags d;
    gr_str *names = NULL;
    uint32_t n = 0, seen = 0;
    const char *root = getenv("GRADUS_ROOT");
    gr_diags_init(&d);
    gr_str dir = gr_path_join(&a, gr_str_of(root ? root : "."), gr_str_of(folder));
    assert_true(gr_dir_list(&a, &d, dir, &names, &n));
    for (uint32_t i = 0; i < n; i++) {
        gr_arena one = {0};
        corpus_file c = {.valid = valid, .path = gr_path_join(&a, dir, names[i])};
        if (!gr_str_ends(names[i], ".wgsl")) continue;
        assert_true(gr_file_read(&one, &d, c.path, 0, &c.text));
        if (!valid && !corpus_header(&c)) fail_msg("%.*s has no `// expect:` line", GR_STR_ARG(c.path));
        fn(ctx, &c);
        seen++;
        gr_arena_free(&one);
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
    return seen;
}

static inline uint32_t corpus_walk(bool valid, corpus_visit *fn, void *ctx) {
    return corpus_walk_in(valid ? "tests/wgsl/valid" : "tests/wgsl/invalid", valid, fn, ctx);
}

#endif
