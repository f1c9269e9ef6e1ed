/* The mutants derived from a text: each kind at its place, every one another text, and one that is wrong is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lower.h"
#include "bench.h"
#include "mutate.h"
#include "survivors.h"

static const char TEXT[] =
    "const N = 4u;\n"
    "@group(0) @binding(0) var<storage, read_write> y: array<f32>;\n"
    "@compute @workgroup_size(4)\n"
    "fn main(@builtin(local_invocation_index) i: u32) {\n"
    "  if (i >= N) { return; }\n"
    "  var s = 0.5;\n"
    "  for (var k = 0u; k < i; k++) { s -= max(s, y[k]); }\n"
    "  workgroupBarrier();\n"
    "  y[i] = s - 1.0;\n"
    "}\n";

static bool has(const mutants *m, const char *kind, const char *text, const char *with) {
    for (uint32_t i = 0; i < m->n; i++) {
        const mutant *x = &m->v[i];
        bool same = x->to - x->from == strlen(text) && !memcmp(TEXT + x->from, text, strlen(text));
        if (same && !strcmp(x->kind, kind) && gr_str_eqz(x->with, with)) return true;
    }
    return false;
}

static void each_kind_is_derived(void **state) {
    (void)state;
    gr_arena a = {0};
    mutants m = {0};
    assert_true(mutants_of_module(&a, GR_STR(TEXT), &m));
    assert_true(has(&m, "constant", "4u", "5u"));
    assert_true(has(&m, "constant", "0.5", "1.5"));
    assert_true(has(&m, "comparison", ">=", ">"));
    assert_true(has(&m, "comparison", "<", "<="));
    assert_true(has(&m, "negate", "(i >= N)", "!((i >= N))"));
    assert_true(has(&m, "swap", "k < i", "((i) < (k))"));
    assert_true(has(&m, "drop", "if (i >= N) { return; }", " "));
    assert_true(has(&m, "drop", "return", " "));
    assert_true(has(&m, "drop", "k++", " "));
    assert_true(has(&m, "assignment", "-", "+"));
    assert_true(has(&m, "builtin", "max", "min"));
    assert_true(has(&m, "index", "k", "(k) + 1"));
    assert_true(has(&m, "barrier", "workgroupBarrier()", " "));
    assert_true(has(&m, "arithmetic", "-", "+"));
    for (uint32_t i = 0; i < m.n; i++) {
        gr_str changed = altered_text(&a, GR_STR(TEXT), m.v[i].from, m.v[i].to, m.v[i].with);
        assert_true(m.v[i].from < m.v[i].to && m.v[i].to < sizeof TEXT);
        assert_false(gr_str_eqz(changed, TEXT));
    }
    mutants e = {0};
    assert_true(mutants_of_expr(&a, GR_STR("a + b"), &e));
    assert_int_equal(e.n, 1);
    assert_int_equal(e.v[0].from, 2);
    assert_false(mutants_of_module(&a, GR_STR("fn ("), &e));
    gr_arena_free(&a);
}

/* The op of the catalog survives unchanged; a mutant of its map is rejected; one that is no WGSL is invalid. */
static void a_mutant_meets_its_fate(void **state) {
    (void)state;
    low l;
    altered_files f;
    altered_result r;
    low_begin(&l);
    gr_regime_device device = gr_regime_oracle();
    const gr_op *op = gr_catalog_find(l.catalog, GR_STR("sub"));
    assert_true(altered_read(&l.a, &l.d, op->folder, &f));
    uint32_t toml = (uint32_t)altered_find(&f, GR_STR("op.toml"));
    gr_str right = f.text[toml];
    altered_try(l.catalog, op, &device, &f, 24, &r);
    assert_int_equal(r.fate, ALTERED_SURVIVED);
    const char *at = strstr(right.p, "a - b");
    assert_non_null(at);
    f.text[toml] = altered_text(&l.a, right, (size_t)(at - right.p), (size_t)(at - right.p) + 5, GR_STR("b - a"));
    altered_try(l.catalog, op, &device, &f, 24, &r);
    assert_int_equal(r.fate, ALTERED_REJECTED);
    f.text[toml] = altered_text(&l.a, right, (size_t)(at - right.p), (size_t)(at - right.p) + 5, GR_STR("b - - "));
    altered_try(l.catalog, op, &device, &f, 24, &r);
    assert_int_equal(r.fate, ALTERED_INVALID);
    low_end(&l);
}

typedef struct score { uint32_t killed, equal, survived, other; } score;

/* All mutants of a kernel on a bench, with the weakness of the budget. */
static score score_of(low *l, bench *b, const altered_files *f, uint32_t file, const bench_budget *budget) {
    score s = {0};
    mutants list = {0};
    assert_true(mutants_of_module(&l->a, f->text[file], &list));
    for (uint32_t i = 0; i < list.n; i++) {
        altered_files changed = *f;
        bench_result r;
        changed.text[file] = altered_text(&l->a, f->text[file], list.v[i].from, list.v[i].to, list.v[i].with);
        bench_try(b, &changed, f->name[file], budget, &r);
        *(r.fate == BENCH_KILLED ? &s.killed : r.fate == BENCH_EQUAL ? &s.equal : r.fate == BENCH_SURVIVED ? &s.survived : &s.other) += 1;
    }
    return s;
}

/* A checker that compares nothing lets most mutants live, so that the rate tells it from ours. */
static void a_weak_checker_is_found(void **state) {
    (void)state;
    low l;
    altered_files f;
    low_begin(&l);
    const gr_op *op = gr_catalog_find(l.catalog, GR_STR("triangular"));
    assert_true(altered_read(&l.a, &l.d, op->folder, &f));
    bench *b = bench_new(l.catalog, op, 24);
    assert_non_null(b);
    uint32_t file = (uint32_t)altered_find(&f, op->kernels[0].file);
    score weak = score_of(&l, b, &f, file, &(bench_budget){.blind = true}), ours = score_of(&l, b, &f, file, &(bench_budget){0});
    assert_true(ours.killed >= 20 && 20 * ours.killed >= 19 * (ours.killed + ours.survived));
    assert_true(20 * weak.killed < 19 * (weak.killed + weak.survived));
    assert_true(weak.killed + 10 <= ours.killed);
    assert_int_equal(weak.equal, ours.equal);
    bench_free(b);
    low_end(&l);
}

/* What a bench says of the unaltered op, of another text of the same lanes, of one that is no WGSL. */
static void a_bench_knows_what_is_equal(void **state) {
    (void)state;
    low l;
    altered_files f;
    bench_result r;
    low_begin(&l);
    const gr_op *op = gr_catalog_find(l.catalog, GR_STR("triangular"));
    assert_true(altered_read(&l.a, &l.d, op->folder, &f));
    bench *b = bench_new(l.catalog, op, 24);
    assert_non_null(b);
    uint32_t file = (uint32_t)altered_find(&f, op->kernels[0].file);
    bench_try(b, &f, f.name[file], NULL, &r);
    assert_int_equal(r.fate, BENCH_EQUAL);
    gr_str right = f.text[file];
    f.text[file] = altered_text(&l.a, right, right.n, right.n, GR_STR("fn unused(a: u32) -> u32 { return a; }\n"));
    bench_try(b, &f, f.name[file], NULL, &r);
    assert_int_equal(r.fate, BENCH_EQUAL);
    f.text[file] = altered_text(&l.a, right, 0, right.n, GR_STR("fn ("));
    bench_try(b, &f, f.name[file], NULL, &r);
    assert_int_equal(r.fate, BENCH_INVALID);
    bench_free(b);
    low_end(&l);
}

static void survivors_are_named(void **state) {
    (void)state;
    gr_arena a = {0};
    survivors s = {0};
    mutant_key k;
    uint32_t bad;
    assert_true(survivors_read(&a, GR_STR("# comment\n\n=\tsort@1 any swap 0.3 `a < b` => `b < a`\tties\n!\tany any drop any.0 `x();` => ` `\trare\n"), &s, &bad));
    assert_int_equal(bad, 0);
    assert_int_equal(s.n, 2);
    assert_true(mutant_key_read(GR_STR("sort@1 kernel.wgsl swap 0.3 `a < b` => `b < a`"), &k));
    survivor *x = survivors_find(&s, &k);
    assert_non_null(x);
    assert_int_equal(x->mark, SURVIVOR_EQUAL);
    assert_int_equal(x->met, 1);
    assert_true(gr_str_eqz(x->reason, "ties"));
    assert_true(mutant_key_read(GR_STR("sort@1 kernel.wgsl swap 1.3 `a < b` => `b < a`"), &k));
    assert_null(survivors_find(&s, &k));
    assert_true(mutant_key_read(GR_STR("fft@1 kernel.wgsl drop 4.1 `x();` => ` `"), &k));
    assert_null(survivors_find(&s, &k));
    assert_true(mutant_key_read(GR_STR("fft@1 kernel.wgsl drop 4.0 `x();` => ` `"), &k));
    assert_int_equal(survivors_find(&s, &k)->mark, SURVIVOR_HOLE);
    assert_false(mutant_key_read(GR_STR("fft@1 kernel.wgsl drop"), &k));
    assert_true(survivors_read(&a, GR_STR("=\tsort@1 any swap 0.3 `a`\n"), &s, &bad));
    assert_int_equal(bad, 1);
    gr_arena_free(&a);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(each_kind_is_derived), cmocka_unit_test(a_mutant_meets_its_fate), cmocka_unit_test(a_weak_checker_is_found),
                                   cmocka_unit_test(a_bench_knows_what_is_equal), cmocka_unit_test(survivors_are_named)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
