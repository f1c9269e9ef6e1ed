/* The evaluator against a WebGPU implementation: programs by hand (tests/wgsl/run, tests/wgsl/valid), one for every
 * operator and builtin function, and random ones. A failure prints the program with everything dropped that it does
 * not need, and its seed: GRADUS_SEED=N GRADUS_ROUNDS=1 runs it alone. Without an adapter the tests skip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "wgsl/differential-random.h"
#include "wgsl/differential-sweep.h"
#include "wgsl/corpus.h"

typedef struct suite {
    gr_gpu *gpu;
    uint32_t run, wrong, absent;
    diff_counts counts, all;
    uint32_t all_run;
} suite;

static void judge(suite *s, const diff_program *p) {
    gr_buf said = {0};
    uint64_t before = s->counts.ambiguous;
    if (getenv("GRADUS_TRACE")) fprintf(stderr, "# %.*s\n", GR_STR_ARG(p->name)); /* names what crashes a driver */
    diff_verdict v = diff_once(s->gpu, p, &s->counts, &said);
    if (v == DIFF_ABSENT) s->absent++;
    else s->run++;
    if (getenv("GRADUS_TRACE") && s->counts.ambiguous > before) fprintf(stderr, "#   %llu ambiguous\n", (unsigned long long)(s->counts.ambiguous - before));
    if (v != DIFF_SAME && v != DIFF_ABSENT) {
        if (s->wrong++ < 5) diff_explain(s->gpu, p, v, &said);
        else print_error("%.*s: also wrong\n%s", GR_STR_ARG(p->name), said.p ? said.p : "");
    }
    gr_buf_free(&said);
}

/* Prints the counts; fails on differences. */
static void finish(suite *s, const char *what) {
    fprintf(stderr, "# %s: %u programs, %llu scalars changed, %llu of them floats, %llu ambiguous; %u without an output, a feature or fit data\n", what, s->run,
            (unsigned long long)s->counts.scalars, (unsigned long long)s->counts.floats, (unsigned long long)s->counts.ambiguous, s->absent);
    uint32_t wrong = s->wrong;
    s->all_run += s->run;
    s->all.scalars += s->counts.scalars, s->all.ambiguous += s->counts.ambiguous;
    s->run = s->wrong = s->absent = 0;
    s->counts = (diff_counts){0};
    assert_int_equal(wrong, 0);
}

static suite *suite_of(void **state) {
    if (!((suite *)*state)->gpu) skip();
    return *state;
}

static void sweep_one(suite *s, const sweep_row *row, char letter, uint32_t width, bool constant) {
    const sweep_case c = sweep_read(row, letter, width);
    gr_rng rng = gr_rng_seed(width);
    gr_buf text = {0}, name = {0};
    if (constant) sweep_constant_program(&text, row, &c, &rng);
    else sweep_program(&text, row, &c);
    gr_buf_printf(&name, "%s%s (%s), width %u", constant ? "constant " : "", row->expr, row->signature, width);
    judge(s, &(diff_program){gr_buf_view(&name), gr_buf_view(&text), {0}, {constant ? 1 : DIFF_ELEMENTS / 64, 1, 1}, row->fill ? row->fill : DIFF_SPECIAL, 1, false});
    gr_buf_free(&name);
    gr_buf_free(&text);
}

static void sweep(suite *s, bool constant) {
    for (uint32_t k = 0; k < SWEEP_ROWS; k++)
        for (const char *letter = sweep_letters(&sweep_rows[k]); *letter; letter++)
            for (uint32_t width = 1; width <= 4; width++)
                if ((sweep_rows[k].widths >> (width - 1) & 1) && (!constant || sweep_rows[k].constant)) sweep_one(s, &sweep_rows[k], *letter, width, constant);
}

static void operators_and_builtins(void **state) {
    suite *s = suite_of(state);
    sweep(s, false);
    finish(s, "operators and builtins");
}

static void constants(void **state) {
    suite *s = suite_of(state);
    sweep(s, true);
    finish(s, "the same with constants");
}

static void random_one(suite *s, random_kind kind, uint64_t seed) {
    random_gen g = {.rng = gr_rng_seed(seed * RANDOM_KINDS + kind), .kind = kind};
    gr_buf name = {0};
    random_program(&g);
    gr_buf_printf(&name, "random: %s", random_kind_text[kind]);
    judge(s, &(diff_program){gr_buf_view(&name), gr_buf_view(&g.out), {0}, {1, 1, 1}, DIFF_RANDOM, seed, false});
    gr_buf_free(&name);
    gr_buf_free(&g.out);
}

static void random_programs(void **state, random_kind kind) {
    suite *s = suite_of(state);
    const char *seed = getenv("GRADUS_SEED"), *rounds = getenv("GRADUS_ROUNDS");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1, n = rounds ? strtoull(rounds, NULL, 10) : 8;
    for (uint64_t k = 0; k < n; k++) random_one(s, kind, first + k);
    finish(s, random_kind_text[kind]);
}

static void random_integers(void **state) { random_programs(state, RANDOM_INTEGERS); }
static void random_floats(void **state) { random_programs(state, RANDOM_FLOATS); }
static void random_memory(void **state) { random_programs(state, RANDOM_MEMORY); }
static void random_workgroups(void **state) { random_programs(state, RANDOM_WORKGROUP); }
static void random_subgroups(void **state) { random_programs(state, RANDOM_SUBGROUP); }
static void random_halves(void **state) { random_programs(state, RANDOM_HALF); }

/* "// run: grid=N fill=NAME" in the first line, both optional. */
static void header(diff_program *p) {
    static const char *const fills[] = {"", "special", "random", "unit", "positive", "bits"};
    const char *end = memchr(p->text.p, '\n', p->text.n);
    gr_buf line = {0};
    if (end) gr_buf_put(&line, p->text.p, (size_t)(end - p->text.p));
    const char *grid = line.p ? strstr(line.p, "grid=") : NULL, *fill = line.p ? strstr(line.p, "fill=") : NULL;
    if (line.p && strncmp(line.p, "// run:", 7) == 0) p->any_data = false;
    if (grid) p->grid[0] = (uint32_t)strtoul(grid + 5, NULL, 10);
    for (uint32_t k = DIFF_SPECIAL; fill && k <= DIFF_BITS; k++)
        if (strncmp(fill + 5, fills[k], strlen(fills[k])) == 0) p->fill = (diff_fill)k;
    gr_buf_free(&line);
}

/* Every entry point; a group of workgroups only where the file says so. */
static void run_file(void *ctx, const corpus_file *f) {
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    gr_wgsl_module *m = gr_wgsl_load(&a, &d, f->path, f->text, NULL);
    if (!m) judge(ctx, &(diff_program){f->path, f->text, {0}, {1, 1, 1}, DIFF_SPECIAL, 1, false}); /* says why */
    for (uint32_t k = 0; m && k < m->entry_n; k++) {
        diff_program p = {f->path, f->text, m->entry[k].name, {1, 1, 1}, DIFF_UNIT, 1, true};
        header(&p);
        judge(ctx, &p);
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
}

static void by_hand(void **state) {
    suite *s = suite_of(state);
    corpus_walk_in("tests/wgsl/run", true, run_file, s);
    finish(s, "by hand");
}

static void valid_corpus(void **state) {
    suite *s = suite_of(state);
    corpus_walk(true, run_file, s);
    finish(s, "tests/wgsl/valid");
}

/* Of all that went before, at least 500 programs, at most 5 % was skipped. */
static void few_are_ambiguous(void **state) {
    suite *s = suite_of(state);
    assert_true(s->all_run >= 500);
    assert_true(s->all.ambiguous * 20 <= s->all.scalars);
}

static int open_gpu(void **state) {
    static suite s;
    gr_diags d;
    gr_diags_init(&d);
    s.gpu = gr_gpu_open(NULL, &d);
    if (!s.gpu) {
        gr_buf b = {0};
        gr_diags_print(&b, &d, (gr_str){0});
        fprintf(stderr, "SKIPPED, there is no adapter:\n%s", b.p ? b.p : "");
        gr_buf_free(&b);
    }
    gr_diags_free(&d);
    *state = &s;
    return 0;
}

static int close_gpu(void **state) {
    suite *s = *state;
    fprintf(stderr, "# %u programs in all\n", s->all_run);
    gr_gpu_close(s->gpu, NULL);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(valid_corpus),
        cmocka_unit_test(random_integers),
        cmocka_unit_test(random_floats),
        cmocka_unit_test(random_memory),
        cmocka_unit_test(random_workgroups),
        cmocka_unit_test(random_subgroups),
        cmocka_unit_test(random_halves),
        cmocka_unit_test(operators_and_builtins),
        cmocka_unit_test(constants),
        cmocka_unit_test(few_are_ambiguous),
    };
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
