/* golden.h: texts kept beside the tests. GRADUS_BLESS=1 rewrites them; the diff is the review.
 *
 * Paths are relative to GRADUS_ROOT. Include after cmocka.h. */
#ifndef GR_TESTS_GOLDEN_H
#define GR_TESTS_GOLDEN_H

#include "base/diag.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

static inline gr_str golden_path(gr_arena *a, const char *path) {
    const char *root = getenv("GRADUS_ROOT");
    return gr_path_join(a, gr_str_of(root ? root : "."), gr_str_of(path));
}

/* The file's text; fails the test when it cannot be read. */
static inline gr_str golden_read(gr_arena *a, const char *path) {
    gr_diags d;
    gr_str text = {0};
    gr_diags_init(&d);
    bool ok = gr_file_read(a, &d, golden_path(a, path), 0, &text);
    if (!ok) {
        gr_buf b = {0};
        gr_diags_print(&b, &d, (gr_str){0});
        fprintf(stderr, "%s", b.p ? b.p : "");
        gr_buf_free(&b);
    }
    gr_diags_free(&d);
    assert_true(ok);
    return text;
}

static inline void golden_first_difference(const char *path, gr_str want, gr_str got) {
    size_t i = 0, line = 1, start = 0;
    while (i < want.n && i < got.n && want.p[i] == got.p[i]) {
        if (want.p[i++] == '\n') line++, start = i;
    }
    const gr_str side[2] = {want, got};
    fprintf(stderr, "%s differs at line %zu\n", path, line);
    for (int k = 0; k < 2; k++) {
        size_t end = start;
        while (end < side[k].n && side[k].p[end] != '\n') end++;
        fprintf(stderr, "  %s %.*s\n", k ? "got: " : "want:", (int)(end > start ? end - start : 0), side[k].p + (start < side[k].n ? start : 0));
    }
    fprintf(stderr, "rewrite it with GRADUS_BLESS=1 in the environment of this test\n");
}

/* Compares text with the file, or writes the file when GRADUS_BLESS is set. */
static inline void golden_check(const char *path, gr_str text) {
    gr_arena a = {0};
    if (getenv("GRADUS_BLESS")) {
        gr_diags d;
        gr_diags_init(&d);
        assert_true(gr_file_write(&d, golden_path(&a, path), text.p, text.n));
        gr_diags_free(&d);
    } else {
        gr_str want = golden_read(&a, path);
        if (!gr_str_eq(want, text)) {
            golden_first_difference(path, want, text);
            fail();
        }
    }
    gr_arena_free(&a);
}

/* Prints diagnostics to stderr: call before asserting that there are none. */
static inline void golden_show(const gr_diags *d, gr_str source) {
    gr_buf b = {0};
    if (d->list.n || d->out_of_memory) gr_diags_print(&b, d, source);
    if (b.n) fprintf(stderr, "%s", b.p);
    gr_buf_free(&b);
}

#endif
