/* Map fusion against its reference path: random graphs of maps, broadcasts, reductions and several outputs, compiled with and
 * without fusion. On the oracle the bits are the same; on an adapter the results are within what one rounding an operation explains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/str.h"
#include "gradus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 64, NODES = 14, GRAPHS_CPU = 200, GRAPHS_GPU = 25 };

typedef struct value { const char *dtype; uint64_t dims[3]; unsigned rank; bool input; } value;
typedef struct drawn { /* a graph */
    gr_buf text;
    value v[VALUES];
    uint32_t n, inputs;
    gr_rng rng;
    bool tame; /* no operation that magnifies a rounding */
} drawn;

static uint32_t below(drawn *g, uint32_t n) { return gr_rng_below(&g->rng, n); }

static void put_type(drawn *g, const value *v) {
    gr_buf_printf(&g->text, "%s[", v->dtype);
    for (unsigned i = 0; i < v->rank; i++) gr_buf_printf(&g->text, "%s%llu", i ? ", " : "", (unsigned long long)v->dims[i]);
    gr_buf_puts(&g->text, "]");
}

/* Dimensions of `base`, each whole or 1, of the last `rank`. */
static void draw_inputs(drawn *g, const uint64_t base[3], const char *const *dtypes, uint32_t dtypes_n) {
    g->inputs = 3 + below(g, 3);
    for (uint32_t i = 0; i < g->inputs; i++) {
        value v = {.dtype = i < 2 ? "f32" : dtypes[below(g, dtypes_n)], .rank = i == 0 ? 3 : below(g, 4), .input = true};
        for (unsigned k = 0; k < v.rank; k++) v.dims[k] = i && below(g, 3) == 0 ? 1 : base[3 - v.rank + k];
        gr_buf_printf(&g->text, "  %%v%u = input \"v%u\" : ", i, i);
        put_type(g, &v);
        gr_buf_puts(&g->text, "\n");
        g->v[g->n++] = v;
    }
}

static uint32_t pick(drawn *g, const char *dtype) {
    for (int i = 0; i < 40; i++) {
        uint32_t v = g->n - 1 - below(g, below(g, 2) ? g->n : g->n < 5 ? g->n : 5); /* late ones more often */
        if (!dtype || strcmp(g->v[v].dtype, dtype) == 0) return v;
    }
    return 0;
}

static value joined(const value *a, const value *b, const char *dtype) {
    value y = {.dtype = dtype, .rank = a->rank > b->rank ? a->rank : b->rank};
    for (unsigned k = 0; k < y.rank; k++) {
        uint64_t m = k + a->rank >= y.rank ? a->dims[k + a->rank - y.rank] : 1, n = k + b->rank >= y.rank ? b->dims[k + b->rank - y.rank] : 1;
        y.dims[k] = m == 1 ? n : m;
    }
    return y;
}

static bool is_float(const value *v) { return v->dtype[0] == 'f'; }

/* One more node; the kinds of maps, and now and then what is none. */
static void draw_node(drawn *g) {
    static const char *const unary[] = {"abs", "neg", "sigmoid", "linear alpha=0.75 beta=-0.25", "leaky_relu alpha=0.125", "hard_swish", "floor", "exp", "sin", "sign"};
    static const char *const binary[] = {"add", "sub", "mul", "max", "min", "div"}, *const compare[] = {"greater", "lesser_or_equal", "equal"};
    static const char *const to[] = {"f32", "f16", "i32", "u8", "i8", "bool"};
    uint32_t kind = below(g, 12), a = pick(g, NULL), b;
    value y = g->v[a];
    y.input = false;
    gr_buf_printf(&g->text, "  %%v%u = ", g->n);
    if (kind < 4 && is_float(&y)) {
        const char *op = unary[below(g, g->tame ? 6 : 10)];
        size_t name = strcspn(op, " ");
        gr_buf_printf(&g->text, "%.*s %%v%u%s\n", (int)name, op, a, op + name);
    } else if (kind < 8 && strcmp(y.dtype, "bool") != 0) {
        b = pick(g, y.dtype);
        if (strcmp(g->v[b].dtype, y.dtype) != 0) b = a;
        y = joined(&g->v[a], &g->v[b], y.dtype);
        gr_buf_printf(&g->text, "%s %%v%u, %%v%u\n", binary[below(g, g->tame ? 5 : is_float(&y) ? 6 : 5)], a, b);
    } else if (kind == 8 && !g->tame) {
        b = pick(g, y.dtype);
        if (strcmp(g->v[b].dtype, y.dtype) != 0) b = a;
        y = joined(&g->v[a], &g->v[b], "bool");
        gr_buf_printf(&g->text, "%s %%v%u, %%v%u\n", strcmp(g->v[a].dtype, "bool") == 0 ? "equal" : compare[below(g, 3)], a, b);
    } else if (kind == 9 && strcmp(g->v[b = pick(g, "bool")].dtype, "bool") == 0) {
        y = joined(&y, &g->v[b], y.dtype);
        gr_buf_printf(&g->text, "where %%v%u, %%v%u, %%v%u\n", b, a, a);
    } else if (kind == 10 && y.rank) {
        uint32_t axis = below(g, y.rank);
        if (!is_float(&y)) { /* sums of narrow integers are not offered */
            gr_buf_printf(&g->text, "cast %%v%u type=f32\n", a);
            y.dtype = "f32";
        } else {
            gr_buf_printf(&g->text, "reduce_sum %%v%u axes=[%u] keep_dimensions=true\n", a, axis);
            y.dims[axis] = 1;
        }
    } else {
        y.dtype = g->tame ? "f32" : to[below(g, 6)];
        gr_buf_printf(&g->text, "cast %%v%u type=%s\n", a, y.dtype);
    }
    g->v[g->n++] = y;
}

static void draw(drawn *g, uint64_t seed, bool tame) {
    static const uint64_t base[][3] = {{4, 16, 32}, {3, 5, 7}, {2, 1, 600}, {1, 1, 1}, {2, 0, 3}, {9, 1, 4}};
    static const char *const some[] = {"f32", "f16", "i32", "bool", "u8", "i8"};
    *g = (drawn){.rng = gr_rng_seed(seed), .tame = tame};
    gr_buf_puts(&g->text, "graph t {\n  tier debug\n");
    draw_inputs(g, base[below(g, tame ? 4 : 6)], some, tame ? 1 : 6);
    gr_buf_printf(&g->text, "  %%v%u = constant 0.5 : f32[]\n  %%v%u = constant 3 : i32[]\n", g->n, g->n + 1);
    g->v[g->n++] = (value){.dtype = "f32"};
    g->v[g->n++] = (value){.dtype = "i32"};
    for (uint32_t i = 0; i < NODES; i++) draw_node(g);
    gr_buf_printf(&g->text, "  output \"y\" %%v%u\n", g->n - 1);
    for (uint32_t i = 0; i < 2; i++) gr_buf_printf(&g->text, "  output \"o%u\" %%v%u\n", i, g->inputs + 2 + below(g, NODES));
    gr_buf_puts(&g->text, "}\n");
}

/* Bytes of an input: numbers of either sign, and now and then one that is none. */
static void *fill(drawn *g, gr_tensor *t, size_t bytes) {
    static const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-42f, 3e38f};
    uint8_t *p = malloc(bytes + 4);
    assert_non_null(p);
    size_t size = strcmp(t->dtype, "f32") == 0 || strcmp(t->dtype, "i32") == 0 ? 4 : strcmp(t->dtype, "f16") == 0 ? 2 : 1;
    for (size_t i = 0; i < bytes / size; i++) {
        float f = gr_rng_f32(&g->rng) * 4.0f - 2.0f;
        int32_t n = (int32_t)below(g, 200) - 100;
        uint16_t half = (uint16_t)((below(g, 2) << 15) | (12u + below(g, 6)) << 10 | below(g, 1024));
        if (!g->tame && below(g, 20) == 0) f = odd[below(g, 7)];
        if (strcmp(t->dtype, "f32") == 0) memcpy(p + i * 4, &f, 4);
        else if (size == 4) memcpy(p + i * 4, &n, 4);
        else if (size == 2) memcpy(p + i * 2, &half, 2);
        else p[i] = strcmp(t->dtype, "bool") == 0 ? n & 1 : (uint8_t)n;
    }
    t->data = p;
    t->bytes = bytes;
    return p;
}

typedef struct both { gr_program *p[2]; gr_prepared *r[2]; gr_run run[2]; } both;

static void run_both(gr_session *s, drawn *g, both *b) {
    for (int k = 0; k < 2; k++) {
        b->p[k] = gr_compile_text(s, "t.graph", g->text.p, g->text.n, &(gr_compile_desc){.no_fuse = k == 1});
        b->r[k] = b->p[k] ? gr_prepare(b->p[k], NULL) : NULL;
        if (!b->r[k]) print_error("%s\n%s\n", gr_session_report(s, false), g->text.p);
        assert_non_null(b->r[k]);
    }
    assert_int_equal(gr_program_inputs(b->p[0]), gr_program_inputs(b->p[1]));
    for (unsigned i = 0; i < gr_program_inputs(b->p[0]); i++) {
        gr_tensor t = gr_program_input_type(b->p[0], i);
        size_t n = strcmp(t.dtype, "f32") == 0 || strcmp(t.dtype, "i32") == 0 ? 4 : strcmp(t.dtype, "f16") == 0 ? 2 : 1;
        for (unsigned k = 0; k < t.rank; k++) n *= (size_t)t.dims[k];
        void *data = fill(g, &t, n);
        for (int k = 0; k < 2; k++) assert_true(gr_write(b->r[k], i, &t));
        free(data);
    }
    for (int k = 0; k < 2; k++) {
        b->run[k] = gr_submit(b->r[k]);
        if (!b->run[k] || !gr_wait(b->r[k], b->run[k])) print_error("%s\n%s\n", gr_session_report(s, false), g->text.p);
        assert_true(b->run[k] != 0);
    }
}

static void free_both(both *b) {
    for (int k = 0; k < 2; k++) {
        gr_prepared_free(b->r[k]);
        gr_program_free(b->p[k]);
    }
}

/* The graph that failed, and what fusion made of it. */
static void show(drawn *g, both *b, uint64_t seed, unsigned output) {
    char *kernels = gr_explain(b->p[0], GR_RUNG_KERNEL, NULL, false);
    print_error("seed %llu, output %u:\n%s%s\n", (unsigned long long)seed, output, g->text.p, kernels ? kernels : "");
    gr_text_free(kernels);
}

/* How many kernels were made of several maps. */
static unsigned fused(both *b) {
    char *kernels = gr_explain(b->p[0], GR_RUNG_KERNEL, NULL, false);
    unsigned n = 0;
    assert_non_null(kernels);
    for (const char *p = kernels; (p = strstr(p, "origin \"fused maps\"")) != NULL; p++) n++;
    gr_text_free(kernels);
    return n;
}

static void same_bits(void **state) {
    (void)state;
    gr_session *s = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_CPU, .threads = 1});
    unsigned kernels = 0;
    assert_non_null(s);
    for (uint64_t seed = 0; seed < GRAPHS_CPU; seed++) {
        drawn g;
        both b;
        draw(&g, seed, false);
        run_both(s, &g, &b);
        for (unsigned o = 0; o < 3; o++) {
            gr_tensor x = gr_result(b.r[0], b.run[0], o), y = gr_result(b.r[1], b.run[1], o);
            bool same = x.bytes == y.bytes && (!x.bytes || memcmp(x.data, y.data, x.bytes) == 0);
            if (!same) show(&g, &b, seed, o);
            assert_true(same);
        }
        kernels += fused(&b);
        free_both(&b);
        gr_buf_free(&g.text);
    }
    assert_true(kernels > GRAPHS_CPU);
    gr_session_free(s);
}

/* Tame graphs magnify a rounding by less than 2^8 in all; a GPU compiler may contract within a fused kernel. */
static bool close_to(float x, float y, float most) { return x == y || (isnan(x) && isnan(y)) || fabsf(x - y) <= 0x1p-15f * (most > 1.0f ? most : 1.0f); }

static void close_on_adapter(void **state) {
    (void)state;
    gr_session *s = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_GPU});
    assert_non_null(s);
    if (gr_session_exit_code(s)) {
        gr_session_free(s);
        skip();
    }
    for (uint64_t seed = 1000; seed < 1000 + GRAPHS_GPU; seed++) {
        drawn g;
        both b;
        draw(&g, seed, true);
        run_both(s, &g, &b);
        for (unsigned o = 0; o < 3; o++) {
            gr_tensor x = gr_result(b.r[0], b.run[0], o), y = gr_result(b.r[1], b.run[1], o);
            const float *p = x.data, *q = y.data;
            float most = 0;
            bool same = x.bytes == y.bytes;
            for (size_t i = 0; same && i < x.bytes / 4; i++) if (fabsf(q[i]) > most) most = fabsf(q[i]);
            for (size_t i = 0; same && i < x.bytes / 4; i++) same = close_to(p[i], q[i], most);
            if (!same) show(&g, &b, seed, o);
            assert_true(same);
        }
        free_both(&b);
        gr_buf_free(&g.text);
    }
    gr_session_free(s);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(same_bits), cmocka_unit_test(close_on_adapter)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
