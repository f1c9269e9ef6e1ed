/* The catalog of the repository: every op loads, checks and prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "contract/contract.h"

static gr_str root_path(gr_arena *a, const char *below) {
    const char *root = getenv("GRADUS_ROOT");
    return gr_str_of(gr_arena_printf(a, "%s/%s", root ? root : ".", below));
}

static void fail_with(const gr_diags *d) {
    gr_buf b = {0};
    gr_diags_print(&b, d, (gr_str){0});
    fprintf(stderr, "%s", b.p ? b.p : "");
    gr_buf_free(&b);
    fail();
}

static void every_op_loads_and_checks(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    gr_catalog *c = gr_catalog_new();
    bool ok = gr_catalog_load(c, &d, root_path(&a, "catalog"));
    ok = gr_catalog_load(c, &d, root_path(&a, "examples/ops")) && ok;
    ok = gr_catalog_check(c, &d) && ok;
    for (uint32_t i = 0; i < gr_catalog_count(c); i++) {
        const gr_op *op = gr_catalog_at(c, i);
        gr_arena scratch = {0};
        ok = gr_op_check(&scratch, &d, op) && ok;
        bool built_in = !strstr(op->folder.p, "/user/");
        ok = (!built_in || gr_op_check_metadata(&scratch, &d, op)) && ok;
        gr_arena_free(&scratch);
    }
    if (!ok || !gr_diags_ok(&d)) fail_with(&d);
    assert_in_range(gr_catalog_count(c), 40, 1000);
    for (int r = GR_ROLE_NONE + 1; r < GR_ROLE_COUNT; r++) assert_non_null(gr_catalog_role(c, (gr_role)r));
    gr_catalog_free(c);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

/* Contracts of ops whose bodies are still to be written: they show that the grammars can say them. */
static void contracts_without_bodies_check(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    gr_catalog *c = gr_catalog_new();
    bool ok = gr_catalog_load(c, &d, root_path(&a, "tests/contract/contracts"));
    for (uint32_t i = 0; i < gr_catalog_count(c); i++) assert_int_equal(gr_catalog_at(c, i)->body, GR_BODY_CONTRACT_ONLY);
    if (!ok || !gr_diags_ok(&d)) fail_with(&d);
    assert_in_range(gr_catalog_count(c), 5, 200);
    gr_catalog_free(c);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_op_loads_and_checks), cmocka_unit_test(contracts_without_bodies_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
