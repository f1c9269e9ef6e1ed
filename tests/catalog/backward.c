/* Backwards of ops that move elements or look at windows, and the backwards of these, against central differences on the
 * oracle in f32. All are linear or bilinear, where a difference is exact for any step, but for pools that choose or take roots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/run.h"

typedef struct row {
    const char *inputs; /* lines of graph text */
    const char *call;   /* gives %y */
    const char *wrt;    /* names, with blanks */
    float step;
} row;

static const row rows[] = {
    {"%x = input \"x\" : f32[5, 6]", "transpose %x", "x", 0.5f},
    {"%x = input \"x\" : f32[5, 6]", "reshape %x new_shape=[3, 10]", "x", 0.5f},
    {"%x = input \"x\" : f32[5, 1]", "expand %x new_shape=[2, 5, 3]", "x", 0.5f},
    {"%x = input \"x\" : f32[5, 6]", "slice %x starts=[1, 0] sizes=[4, 5] strides=[2, 3]", "x", 0.5f},
    {"%x = input \"x\" : f32[5, 6]\n  %u = input \"u\" : f32[2, 2]", "place %x, %u starts=[1, 0] strides=[2, 3]", "x u", 0.5f},
    {"%x = input \"x\" : f32[5, 6]", "reverse %x axes=[1]", "x", 0.5f},
    {"%x = input \"x\" : f32[5, 6]", "cumulative_sum %x axis=0 exclusive=true reversed=true", "x", 0.5f},
    {"%x = input \"x\" : f32[2, 5, 6]", "triangular %x upper=false diagonal=1", "x", 0.5f},
    {"%x = input \"x\" : f32[6, 4]", "sum_blocks %x shape=[2, 4]", "x", 0.5f},
    {"%x = input \"x\" : f32[1, 2, 9, 7]\n  %g = input \"g\" : f32[1, 2, 4, 3]", "max_pool2d_gradient %x, %g window=[3, 2] strides=[2, 2]", "g", 0.5f},
    {"%g = input \"g\" : f32[1, 2, 4, 3]", "pool2d_gradient %g window=[3, 2] strides=[2, 2] padding=[1, 0, 0, 1] mean=false", "g", 0.5f},
    {"%x = input \"x\" : f32[2, 4, 9, 8]\n  %g = input \"g\" : f32[2, 6, 4, 4]", "conv2d_filter_gradient %x, %g window=[2, 3] groups=2 strides=[2, 2] padding=[0, 0, 1, 0]", "x g", 0.5f},
    {"%x = input \"x\" : f32[3, 4]\n  %z = input \"z\" : f32[3, 5]", "concat %x, %z, %x axis=1", "x z", 0.5f},
    {"%x = input \"x\" : f32[3, 4]", "pad %x beginning_padding=[1, 2] ending_padding=[2, 0] value=3", "x", 0.5f},
    {"%x = input \"x\" : f32[3, 4]", "pad %x beginning_padding=[1, 2] ending_padding=[2, 0] mode=edge", "x", 0.5f},
    {"%x = input \"x\" : f32[3, 4]", "pad %x beginning_padding=[2, 3] ending_padding=[2, 1] mode=reflection", "x", 0.5f},
    {"%x = input \"x\" : f32[3, 4]", "tile %x repetitions=[2, 3]", "x", 0.5f},
    {"%x = input \"x\" : f32[5, 3]\n  %i = input \"i\" : i32[20]", "gather %x, %i axis=0", "x", 0.5f},
    {"%x = input \"x\" : f32[4, 7, 3]\n  %i = input \"i\" : i32[3, 4]", "gather %x, %i axis=1", "x", 0.5f},
    {"%x = input \"x\" : f32[4, 7]\n  %i = input \"i\" : i32[4, 9]", "gather_elements %x, %i axis=1", "x", 0.5f},
    {"%x = input \"x\" : f32[4, 3, 5]\n  %i = input \"i\" : i32[11, 2]", "gather_nd %x, %i", "x", 0.5f},
    {"%x = input \"x\" : f32[4, 3]\n  %i = input \"i\" : i32[6, 3]\n  %u = input \"u\" : f32[6, 3]", "scatter_elements %x, %i, %u axis=0", "x u", 0.5f},
    {"%x = input \"x\" : f32[4, 3]\n  %i = input \"i\" : i32[2, 3, 1]\n  %u = input \"u\" : f32[2, 3, 3]", "scatter_nd %x, %i, %u", "x u", 0.5f},
    {"%x = input \"x\" : f32[4, 3]\n  %i = input \"i\" : i32[6, 3]\n  %u = input \"u\" : f32[6, 3]", "scatter_add %x, %i, %u axis=0", "x u", 0.5f},
    {"%x = input \"x\" : f32[4, 3]\n  %i = input \"i\" : i32[2, 3, 1]\n  %u = input \"u\" : f32[2, 3, 3]", "scatter_nd_add %x, %i, %u", "x u", 0.5f},
    {"%x = input \"x\" : f32[3, 4]\n  %w = input \"w\" : f32[4, 5]", "gemm %x, %w", "x w", 0.5f},
    {"%x = input \"x\" : f32[4, 3]\n  %w = input \"w\" : f32[4, 5]\n  %c = input \"c\" : f32[5]", "gemm %x, %w, %c alpha=0.5 beta=2 a_transpose=true", "x w c", 0.5f},
    {"%x = input \"x\" : f32[3, 4]\n  %w = input \"w\" : f32[5, 4]\n  %c = input \"c\" : f32[3, 1]", "gemm %x, %w, %c alpha=2 b_transpose=true", "x w c", 0.5f},
    {"%x = input \"x\" : f32[4, 3]\n  %w = input \"w\" : f32[5, 4]", "gemm %x, %w a_transpose=true b_transpose=true", "x w", 0.5f},
    {"%x = input \"x\" : f32[2, 2, 7, 6]\n  %f = input \"f\" : f32[3, 2, 3, 2]\n  %b = input \"b\" : f32[3]", "conv2d %x, %f, %b padding=[1, 0, 2, 1]", "x f b", 0.5f},
    {"%x = input \"x\" : f32[1, 4, 9, 8]\n  %f = input \"f\" : f32[6, 2, 2, 3]", "conv2d %x, %f groups=2 strides=[2, 3] dilations=[3, 1] padding=[1, 1, 0, 1]", "x f", 0.5f},
    {"%x = input \"x\" : f32[2, 3, 4, 5]\n  %f = input \"f\" : f32[3, 2, 3, 2]\n  %b = input \"b\" : f32[2]", "conv_transpose2d %x, %f, %b strides=[2, 3] padding=[1, 0, 0, 1] output_padding=[1, 2]", "x f b", 0.5f},
    {"%x = input \"x\" : f32[1, 4, 4, 5]\n  %f = input \"f\" : f32[4, 2, 3, 2]", "conv_transpose2d %x, %f groups=2 dilations=[2, 1]", "x f", 0.5f},
    {"%x = input \"x\" : f32[2, 2, 7, 6]", "average_pool2d %x window_dimensions=[3, 2] strides=[2, 2] padding=[1, 1, 0, 1] output_shape_rounding=ceil", "x", 0.5f},
    {"%x = input \"x\" : f32[1, 2, 9, 7]", "average_pool2d %x window_dimensions=[3, 2] dilations=[2, 3]", "x", 0.5f},
    {"%x = input \"x\" : f32[1, 2, 9, 7]", "max_pool2d %x window_dimensions=[3, 2] strides=[2, 1] padding=[1, 0, 0, 1]", "x", 1.0f / 4096},
    {"%x = input \"x\" : f32[1, 2, 7, 7]", "max_pool2d %x window_dimensions=[3, 3] dilations=[2, 1] output_shape_rounding=ceil strides=[2, 3]", "x", 1.0f / 4096},
    {"%x = input \"x\" : f32[1, 2, 7, 7]", "l2_pool2d %x window_dimensions=[3, 2] strides=[2, 2] padding=[1, 0, 0, 1] output_shape_rounding=ceil", "x", 1.0f / 64},
    {"%x = input \"x\" : f32[1, 2, 5, 4]", "resample2d %x sizes=[8, 9]", "x", 0.5f},
    {"%x = input \"x\" : f32[2, 5, 4, 2]", "resample2d %x sizes=[8, 3] axes=[1, 2] mode=linear", "x", 0.5f},
    {"%q = input \"q\" : i32[4, 6]\n  %s = input \"s\" : f32[2, 3]\n  %z = input \"z\" : i32[2, 3]", "dequantize_linear %q, %s, %z", "s", 0.5f},
    {"%x = input \"x\" : f32[4, 6]", "floor %x", "x", 1.0f / 4096},
    {"%x = input \"x\" : f32[4, 6]", "sign %x", "x", 1.0f / 4096},
};

enum { NAMES = 8, OUTPUTS = 8 };

typedef struct check {
    low l;
    const row *r;
    const char *wrt[NAMES + 1]; /* the last: ct */
    uint32_t n;
    char names[64];
} check;

static uint32_t seed_of(gr_str name, uint32_t more) {
    uint32_t seed = more;
    for (size_t i = 0; i < name.n; i++) seed = seed * 31 + (uint8_t)name.p[i];
    return seed;
}

/* Element i of a float value, and of the direction in which it is moved. */
static float base_at(gr_str name, uint64_t i) { return (float)(int)(run_hash(seed_of(name, 7) * 0x9e3779b9u + (uint32_t)i) % 2001) / 100.0f - 10.0f; }
static float way_at(gr_str name, uint64_t i) { return (float)(int)(run_hash(seed_of(name, 11) * 0x9e3779b9u + (uint32_t)i) % 201) / 100.0f - 1.0f; }

static bool moves(const check *c, gr_str name, bool cotangent) {
    for (uint32_t i = 0; i < c->n; i++)
        if (gr_str_eqz(name, c->wrt[i])) return true;
    return cotangent && gr_str_eqz(name, "ct");
}

static bool usable(void *user, const gr_graph *g, uint32_t node) { return gr_kernel_usable(user, g->tier, &g->nodes[node].call); }

/* Runs g with what moves at base + h way; outputs in the arena. */
static void run_at(check *c, const gr_graph *g, float h, bool cotangent, float **out) {
    low *l = &c->l;
    gr_target t = gr_target_oracle();
    gr_graph expanded;
    bool ok = gr_graph_opt_expand(&l->a, &l->d, g, l->catalog, false, usable, &t, &expanded) && gr_graph_opt_dead(&l->a, &l->d, &expanded, &l->graph);
    g = &l->graph;
    ok = ok && gr_graph_lower(&l->a, &l->d, g, l->catalog, &t, &l->kernels) && gr_kernels_lower(&l->a, &l->d, &l->kernels, l->catalog, NULL, &l->plan);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    gr_exec *e = gr_oracle_api()->prepare(NULL, &l->d, &l->plan, NULL);
    assert_non_null(e);
    for (uint32_t v = 0; v < g->values_n; v++) {
        const gr_graph_value *x = &g->values[v];
        uint64_t bytes = 0;
        if (x->source != GR_SOURCE_INPUT) continue;
        gr_type_device_bytes(&x->type, &bytes);
        uint8_t *data = gr_arena_alloc(&l->a, bytes + 4, 4);
        run_fill(&x->type, seed_of(x->name, 0), data, bytes);
        for (uint64_t i = 0; i < bytes / 4; i++) {
            float f = base_at(x->name, i) + (moves(c, x->name, cotangent) ? h * way_at(x->name, i) : 0);
            uint32_t small = run_hash((uint32_t)i * 13 + 5) % 3; /* an index that every operand has */
            memcpy(data + 4 * i, x->type.dtype == GR_DTYPE_F32 ? (const void *)&f : (const void *)&small, 4);
        }
        assert_true(gr_oracle_api()->write(e, &l->d, v, data, bytes));
    }
    gr_ticket k = gr_oracle_api()->submit(e, &l->d);
    ok = k && gr_oracle_api()->wait(e, &l->d, k);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    for (uint32_t i = 0; i < g->outputs_n; i++) {
        uint64_t n = 0, count = 0;
        const void *bytes = gr_oracle_api()->output(e, k, g->outputs[i].value, &n, &count);
        out[i] = gr_arena_alloc(&l->a, n + 4, 4);
        if (n) memcpy(out[i], bytes, n);
    }
    gr_oracle_api()->ticket_release(e, k);
    gr_oracle_api()->release(e);
}

static gr_value_id named(const gr_graph *g, const char *name) {
    for (gr_value_id v = 0; v < g->values_n; v++)
        if (gr_str_eqz(g->values[v].name, name)) return v;
    fail_msg("no value %s", name);
    return GR_NO_VALUE;
}

static double dot(const gr_graph *g, gr_value_id v, const float *x, float (*with)(gr_str, uint64_t), const char *name, double *size) {
    uint64_t n = 0;
    double sum = 0;
    gr_type_count(&g->values[v].type, &n);
    for (uint64_t i = 0; i < n; i++) {
        double term = (double)x[i] * (double)with(gr_str_of(name), i);
        sum += term;
        *size += gr_fabs(term);
    }
    return sum;
}

/* The derivative along the ways by differences of what the outputs of f are dotted with, against the gradient's own. */
static void compare(check *c, const gr_graph *f, const char *const *with, const gr_graph *d, const gr_value_id *made, const char *const *by, uint32_t by_n, bool cotangent) {
    float *up[OUTPUTS], *down[OUTPUTS], *got[OUTPUTS];
    double want = 0, is = 0, size = 0;
    run_at(c, f, c->r->step, cotangent, up);
    run_at(c, f, -c->r->step, cotangent, down);
    run_at(c, d, 0, cotangent, got);
    for (uint32_t i = 0; i < f->outputs_n; i++)
        want += (dot(f, f->outputs[i].value, up[i], base_at, with[i], &size) - dot(f, f->outputs[i].value, down[i], base_at, with[i], &size)) / (2 * (double)c->r->step);
    size = 1;
    for (uint32_t i = 0; i < by_n; i++) is += dot(d, made[i], got[i], way_at, by[i], &size);
    double slack = c->r->step < 0.1f ? 2e-3 : 2e-5;
    if (gr_fabs(want - is) > slack * (size + gr_fabs(want))) fail_msg("%s (%s derivative): differences give %.9g, the backward %.9g", c->r->call, cotangent ? "second" : "first", want, is);
}

/* The text of the graph: inputs, for each name of wrt an input v_NAME like it, and, once y's type is known, ct. */
static void read_forward(check *c, const gr_graph *typed) {
    gr_buf t = {0};
    gr_buf_printf(&t, "graph g {\n  tier debug\n  %s\n", c->r->inputs);
    for (uint32_t i = 0; typed && i < c->n; i++) {
        gr_buf_printf(&t, "  %%v_%s = input \"v_%s\" : ", c->wrt[i], c->wrt[i]);
        gr_type_print(&t, &typed->values[named(typed, c->wrt[i])].type);
        gr_buf_putc(&t, '\n');
    }
    if (typed) {
        gr_buf_puts(&t, "  %ct = input \"ct\" : ");
        gr_type_print(&t, &typed->values[named(typed, "y")].type);
        gr_buf_putc(&t, '\n');
    }
    gr_buf_printf(&t, "  %%y = %s\n  output \"y\" %%y\n}\n", c->r->call);
    low_graph(&c->l, t.p);
    gr_buf_free(&t);
}

/* The gradient of g, with the derivatives as its only outputs. */
static gr_graph derive(check *c, const gr_graph *g, const gr_gradient_seed *seeds, uint32_t seeds_n, uint32_t wrt_n, gr_value_id *made) {
    gr_graph out;
    gr_value_id wrt[NAMES + 1] = {0};
    for (uint32_t i = 0; i < wrt_n; i++) wrt[i] = named(g, c->wrt[i]);
    bool ok = gr_graph_opt_gradient(&c->l.a, &c->l.d, g, c->l.catalog, seeds, seeds_n, wrt, wrt_n, &out, made);
    if (!ok) low_show(&c->l.d);
    assert_true(ok);
    out.outputs = NULL;
    out.outputs_n = out.outputs_cap = 0;
    for (uint32_t i = 0; i < wrt_n; i++) assert_true(gr_graph_add_output(&c->l.a, &out, gr_str_of(gr_arena_printf(&c->l.a, "d%u", i)), made[i]));
    return out;
}

static void check_row(const row *r) {
    check c = {.r = r};
    char *rest = c.names;
    const char *v[NAMES], *ct[1] = {"ct"};
    gr_gradient_seed seeds[NAMES];
    gr_value_id made[NAMES + 1], again[NAMES + 1];
    snprintf(c.names, sizeof c.names, "%s", r->wrt);
    for (char *w; c.n < NAMES && (w = strtok_r(rest, " ", &rest));) c.wrt[c.n++] = w;
    low_begin(&c.l);
    read_forward(&c, NULL);
    gr_graph forward = c.l.graph;
    read_forward(&c, &forward);
    forward = c.l.graph;
    seeds[0] = (gr_gradient_seed){named(&forward, "y"), named(&forward, "ct")};
    gr_graph first = derive(&c, &forward, seeds, 1, c.n, made);
    compare(&c, &forward, ct, &first, made, c.wrt, c.n, false);
    for (uint32_t i = 0; i < c.n; i++) {
        v[i] = gr_arena_printf(&c.l.a, "v_%s", c.wrt[i]);
        seeds[i] = (gr_gradient_seed){made[i], named(&first, v[i])};
    }
    c.wrt[c.n] = "ct";
    gr_graph second = derive(&c, &first, seeds, c.n, c.n + 1, again);
    compare(&c, &first, v, &second, again, c.wrt, c.n + 1, true);
    low_end(&c.l);
}

static void backwards(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(backwards)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
