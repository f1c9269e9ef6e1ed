/* The mutants derived from a text: each kind at its place, every one another text, and one that is wrong is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lower.h"
#include "altered.h"
#include "mutate.h"

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

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(each_kind_is_derived), cmocka_unit_test(a_mutant_meets_its_fate)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
