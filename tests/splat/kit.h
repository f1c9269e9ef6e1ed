/* kit.h: what the tests of splat/ share: an arena and a sink, files of the shared folder, what was reported. */
#ifndef GR_TESTS_SPLAT_KIT_H
#define GR_TESTS_SPLAT_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

static gr_arena arena;
static gr_diags diags;

__attribute__((unused)) static int setup(void **state) {
    (void)state;
    arena = (gr_arena){.limit = (size_t)1 << 30};
    gr_diags_init(&diags);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gr_arena_free(&arena);
    gr_diags_free(&diags);
    return 0;
}

/* The text of everything reported, for failures and for asserting on words. */
__attribute__((unused)) static const char *said(void) {
    static gr_buf b;
    gr_buf_clear(&b);
    gr_diags_print(&b, &diags, (gr_str){0});
    gr_str copy = gr_str_dup(&arena, gr_buf_view(&b));
    gr_buf_free(&b);
    return copy.p;
}

/* Exactly this complaint, with these words in it; the sink is empty afterwards. */
__attribute__((unused)) static void expect(gr_diag_name name, const char *words) {
    const char *text = said();
    if (!gr_diags_has(&diags, name) || (words && !strstr(text, words))) fail_msg("expected %s with \"%s\", got: %s", gr_diag_text(name), words ? words : "", text);
    gr_diags_clear(&diags);
}

/* Nothing but notes and warnings was reported. */
__attribute__((unused)) static void fine(bool ok) {
    if (!ok || !gr_diags_ok(&diags)) fail_msg("refused: %s", said());
}

#define near_(got, want, eps) near_at((double)(got), (double)(want), (double)(eps), __FILE__, __LINE__)
__attribute__((unused)) static void near_at(double got, double want, double eps, const char *file, int line) {
    double off = got > want ? got - want : want - got;
    if (!(off <= eps)) {
        print_error("%.17g instead of %.17g, off by %g\n", got, want, off);
        _fail(file, line);
    }
}

/* A path under ../shared/data of the checkout; the test is skipped when it is absent. */
__attribute__((unused)) static gr_str shared(const char *path) {
    const char *root = getenv("GRADUS_ROOT");
    gr_str full = {0};
    full.p = gr_arena_printf(&arena, "%s/../shared/data/%s", root ? root : ".", path);
    full.n = strlen(full.p);
    if (!gr_file_exists(full)) {
        print_message("no %s\n", full.p);
        skip();
    }
    return full;
}

#endif
