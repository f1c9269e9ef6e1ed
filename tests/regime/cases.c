/* The cases reach what a kernel may be wrong at: each kernel of an op, folded dispatches, high ranks, long rows, every dtype. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lower.h"
#include "regime/regime_int.h"

typedef struct reach { uint32_t kernel[16], fold, high, longest, cases; } reach;

static void reach_of(const gr_op *op, const gr_spec *list, uint32_t n, reach *r) {
    gr_target t = gr_target_oracle();
    t.kernels = true;
    *r = (reach){.cases = n};
    for (uint32_t i = 0; i < n; i++) {
        gr_arena a = {0};
        gr_case c;
        assert_true(gr_spec_resolve(&a, op, &list[i], &c));
        int32_t which = gr_kernel_which(&t, GR_TIER_DEBUG, &c.call);
        if (which >= 0 && which < 16) r->kernel[which]++;
        r->fold += list[i].fold;
        for (uint32_t k = 0; k < list[i].names_n; k++) r->high += list[i].name[k].rest && list[i].name[k].rank > 4;
        for (uint32_t k = 0; k < c.call.operands_n; k++)
            for (uint32_t d = 0; d < c.call.operands[k].rank; d++)
                if (c.call.operands[k].dim[d].n > r->longest) r->longest = (uint32_t)c.call.operands[k].dim[d].n;
        gr_arena_free(&a);
    }
}

static bool has_rest(const gr_op *op) {
    gr_arena a = {0};
    gr_sig_name *names;
    uint32_t n = 0;
    bool rest = false;
    assert_true(gr_sig_names(&a, &op->sig, &names, &n));
    for (uint32_t i = 0; i < n; i++) rest = rest || names[i].rest;
    gr_arena_free(&a);
    return rest;
}

/* What conformance refuses (regime/kernel-not-reached): a kernel that not even the full number of cases runs. */
static bool reached_in_full(const gr_op *op, uint32_t kernel) {
    gr_arena a = {0};
    gr_spec *list;
    uint32_t n;
    reach r;
    assert_true(gr_cases_make(&a, op, 7, 200, &list, &n));
    reach_of(op, list, n, &r);
    gr_arena_free(&a);
    return r.kernel[kernel] > 0;
}

static void every_kernel_is_reached(void **state) {
    (void)state;
    low l;
    uint32_t missed = 0, folded = 0;
    low_begin(&l);
    for (uint32_t i = 0; i < gr_catalog_count(l.catalog); i++) {
        const gr_op *op = gr_catalog_at(l.catalog, i);
        gr_arena a = {0};
        gr_spec *list;
        uint32_t n;
        reach r;
        assert_true(gr_cases_make(&a, op, 7, 24, &list, &n));
        reach_of(op, list, n, &r);
        for (uint32_t k = 0; k < op->kernels_n && k < 16; k++) {
            if (op->kernels[k].order == GR_ORDER_UNORDERED || r.kernel[k] || reached_in_full(op, k)) continue;
            fprintf(stderr, "%.*s: no case runs %.*s\n", GR_STR_ARG(op->id), GR_STR_ARG(op->kernels[k].file));
            missed++;
        }
        folded += r.fold > 0;
        bool runs = op->kernels_n > 0 || op->body == GR_BODY_MAP;
        if (runs && r.fold == 0) fprintf(stderr, "%.*s: no case is folded\n", GR_STR_ARG(op->id));
        if (has_rest(op) && r.high == 0) fprintf(stderr, "%.*s: no case has more than four dimensions\n", GR_STR_ARG(op->id));
        if (op->category == GR_CATEGORY_REDUCTION && r.longest < 1025) fprintf(stderr, "%.*s: no row is long (%u)\n", GR_STR_ARG(op->id), r.longest);
        if (r.cases > 90) fprintf(stderr, "%.*s: %u cases of 24\n", GR_STR_ARG(op->id), r.cases);
        gr_arena_free(&a);
    }
    assert_int_equal(missed, 0);
    assert_true(folded > 60);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(every_kernel_is_reached)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
