/* Reuse of working buffers against what is possible: the most bytes that live at one time, and for small graphs the best of all ways
 * to share whole buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "lower.h"

enum { LIVES = 64 };
typedef struct life { uint64_t bytes; uint32_t from, to; } life;

/* Working values: results of nodes that are no outputs, from their node to the last that reads them. */
static uint32_t lives_of(const gr_graph *g, life *list) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->values_n; v++) {
        const gr_graph_value *x = &g->values[v];
        bool output = x->source != GR_SOURCE_NODE || x->result == GR_FUSED;
        for (uint32_t i = 0; i < g->outputs_n; i++) output = output || g->outputs[i].value == v;
        if (output) continue;
        life l = {.from = x->node, .to = x->node};
        assert_true(gr_type_device_bytes(&x->type, &l.bytes));
        for (uint32_t i = 0; i < g->nodes_n; i++)
            for (uint32_t j = 0; j < g->nodes[i].call.operands_n; j++)
                if (g->nodes[i].args[j] == v) l.to = i;
        assert_true(n < LIVES);
        list[n++] = l;
    }
    return n;
}

static uint64_t most_alive(const gr_graph *g, const life *list, uint32_t n) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        uint64_t now = 0;
        for (uint32_t k = 0; k < n; k++)
            if (list[k].from <= i && i <= list[k].to) now += list[k].bytes;
        if (now > most) most = now;
    }
    return most;
}

/* The least bytes of buffers that are shared by values with disjoint lives: every way to share, one value after another. */
static void share(const life *list, uint32_t n, uint32_t at, uint32_t *buffer, uint32_t buffers, uint64_t *size, uint64_t sum, uint64_t *best) {
    if (sum >= *best) return;
    if (at == n) {
        *best = sum;
        return;
    }
    for (uint32_t b = 0; b <= buffers; b++) {
        bool free = true;
        for (uint32_t k = 0; k < at && b < buffers; k++) free = free && (buffer[k] != b || list[k].to < list[at].from || list[at].to < list[k].from);
        if (!free) continue;
        uint64_t old = b < buffers ? size[b] : 0, now = list[at].bytes > old ? list[at].bytes : old;
        buffer[at] = b;
        size[b] = now;
        share(list, n, at + 1, buffer, b == buffers ? buffers + 1 : buffers, size, sum - old + now, best);
        size[b] = old;
    }
}

static uint64_t working(const gr_plan *p) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->buffers_n; i++)
        if (p->buffers[i].kind == GR_BUFFER_STORAGE && p->buffers[i].memory == GR_MEM_WORKING) sum += p->buffers[i].bytes;
    return sum;
}

static void plan(low *l, const char *text, bool fuse) {
    gr_target t = gr_target_webgpu_default();
    t.fuse = fuse;
    low_plan(l, text, &t, NULL);
    assert_int_equal(l->plan.verdict, GR_GREEN);
}

/* Values of one size: as many buffers as values live at one time, and no more. */
static void one_size(void **state) {
    (void)state;
    low l;
    low_begin(&l);
    for (uint64_t seed = 0; seed < 60; seed++) {
        gr_rng r = gr_rng_seed(seed);
        life list[LIVES];
        gr_buf b = {0};
        gr_buf_puts(&b, "graph t {\n  tier debug\n  %v0 = input \"x\" : f32[16, 16]\n");
        for (uint32_t i = 1; i <= 20; i++) {
            uint32_t near = i < 5 ? i : 5, x = i - 1 - gr_rng_below(&r, near), y = gr_rng_below(&r, i);
            if (gr_rng_below(&r, 2)) gr_buf_printf(&b, "  %%v%u = transpose %%v%u\n", i, x);
            else gr_buf_printf(&b, "  %%v%u = matmul %%v%u, %%v%u\n", i, x, y);
        }
        gr_buf_puts(&b, "  output \"y\" %v20\n}\n");
        plan(&l, b.p, seed % 2);
        uint32_t n = lives_of(l.plan.graph, list);
        assert_int_equal(working(&l.plan), most_alive(l.plan.graph, list, n));
        gr_buf_free(&b);
    }
    low_end(&l);
}

/* Values of many sizes: never below the bound, seldom above the best way to share. */
static void many_sizes(void **state) {
    (void)state;
    uint64_t got = 0, best = 0;
    low l;
    low_begin(&l);
    for (uint64_t seed = 0; seed < 60; seed++) {
        gr_rng r = gr_rng_seed(1000 + seed);
        life list[LIVES];
        uint32_t buffer[LIVES], rows[12] = {16};
        uint64_t size[LIVES] = {0}, least = UINT64_MAX;
        gr_buf b = {0};
        gr_buf_puts(&b, "graph t {\n  tier debug\n  %v0 = input \"x\" : f32[16, 16]\n");
        for (uint32_t i = 1; i <= 9; i++) {
            uint32_t x = i - 1 - gr_rng_below(&r, i < 3 ? i : 3), y = gr_rng_below(&r, i);
            if (gr_rng_below(&r, 3) && rows[x] + rows[y] < 200) rows[i] = rows[x] + rows[y], gr_buf_printf(&b, "  %%v%u = concat %%v%u, %%v%u axis=0\n", i, x, y);
            else rows[i] = rows[x] / 2 + 1, gr_buf_printf(&b, "  %%v%u = slice %%v%u starts=[0, 0] sizes=[%u, 16]\n", i, x, rows[i]);
        }
        gr_buf_puts(&b, "  output \"y\" %v9\n}\n");
        plan(&l, b.p, false);
        uint32_t n = lives_of(l.plan.graph, list);
        share(list, n, 0, buffer, 0, size, 0, &least);
        assert_true(least >= most_alive(l.plan.graph, list, n) && working(&l.plan) >= least);
        got += working(&l.plan);
        best += least;
        gr_buf_free(&b);
    }
    print_message("working memory over the best way to share: %.3f\n", (double)got / (double)best);
    assert_true((double)got <= 1.15 * (double)best);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(one_size), cmocka_unit_test(many_sizes)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
