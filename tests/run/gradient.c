/* Gradients of random graphs in f64 on the oracle, against central differences: broadcasts, fan-out, reductions, shapes with
 * ones, empty tensors and single numbers; and the gradient of the gradient against differences of the gradient. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math.h"
#include "ladder/run/run.h"
#include "lower.h"
#include "plan/run.h"

enum { GRAPHS = 200, SECOND = 40, NODES_MAX = 14, INPUTS_MAX = 5, ELEMENTS_MAX = 64, POOL_MAX = 64 };

/* ---- random numbers and graphs ---------------------------------------------------------- */

typedef struct maker {
    low *l;
    gr_graph g;
    uint64_t random;
    gr_value_id pool[POOL_MAX];
    uint32_t n;
} maker;

static uint32_t below(maker *m, uint32_t n) {
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((m->random >> 33) % n);
}

static gr_arg arg_of(maker *m, const char *name, const char *json) {
    gr_doc *doc = GR_NEW(&m->l->a, gr_doc);
    assert_true(gr_json_parse(&m->l->a, &m->l->d, GR_STR("arg"), gr_str_dup(&m->l->a, gr_str_of(json)), doc));
    return (gr_arg){.name = gr_str_of(name), .value = doc->root};
}

/* Adds a call when it is legal; its first result is then in the pool. */
static bool call(maker *m, const char *op, const gr_value_id *args, uint32_t n, const char *name, const char *json, const char *name2, const char *json2, gr_value_id *out) {
    gr_diags quiet;
    gr_arg p[2];
    uint32_t params = 0;
    if (name) p[params++] = arg_of(m, name, json);
    if (name2) p[params++] = arg_of(m, name2, json2);
    gr_diags_init(&quiet);
    const gr_op *o = gr_catalog_find(m->l->catalog, gr_str_of(op));
    assert_non_null(o);
    gr_value_id made[16];
    bool ok = gr_graph_add_node(&m->l->a, &quiet, &m->g, o, args, n, p, params, GR_STR("n"), (gr_place){0}, made);
    gr_diags_free(&quiet);
    uint64_t count = 0;
    if (!ok) return false;
    gr_value_id first = made[0];
    if (out) *out = first;
    if (gr_dtype_is_float(m->g.values[first].type.dtype) && gr_type_count(&m->g.values[first].type, &count) && count <= 4 * ELEMENTS_MAX && m->n < POOL_MAX) m->pool[m->n++] = first;
    return true;
}

static gr_value_id constant(maker *m, double v) {
    gr_array x;
    assert_true(gr_array_new(&m->l->a, &m->l->d, GR_DTYPE_F32, NULL, 0, &x));
    gr_array_set_f64(&x, 0, v);
    return gr_graph_add_constant(&m->l->a, &m->g, GR_STR("c"), x);
}

/* x * x + 1/2, for ops that need a positive operand. */
static gr_value_id positive(maker *m, gr_value_id x) {
    gr_value_id two[2] = {x, x}, square, sum;
    if (!call(m, "mul", two, 2, NULL, NULL, NULL, NULL, &square)) return x;
    gr_value_id half[2] = {square, constant(m, 0.5)};
    return call(m, "add", half, 2, NULL, NULL, NULL, NULL, &sum) ? sum : x;
}

/* tanh keeps what grows fast small. */
static gr_value_id tame(maker *m, gr_value_id x) {
    gr_value_id y;
    return call(m, "tanh", &x, 1, NULL, NULL, NULL, NULL, &y) ? y : x;
}

static const char *axes_of(maker *m, gr_value_id x, char out[64]) {
    uint32_t rank = m->g.values[x].type.rank, n = 0;
    size_t at = (size_t)snprintf(out, 64, "[");
    for (uint32_t i = 0; i < rank; i++)
        if (below(m, 2)) at += (size_t)snprintf(out + at, 64 - at, "%s%u", n++ ? ", " : "", i);
    snprintf(out + at, 64 - at, "]");
    return out;
}

static const char *axis_of(maker *m, gr_value_id x, char out[64]) {
    uint32_t rank = m->g.values[x].type.rank;
    snprintf(out, 64, "%u", rank ? below(m, rank) : 0);
    return out;
}

/* A list made of the dimensions; "more" has a 2 in front, "flat" is their product alone. */
static const char *dims_of(maker *m, gr_value_id x, const char *how, char out[64]) {
    const gr_type *t = &m->g.values[x].type;
    bool flat = !strcmp(how, "flat"), more = !strcmp(how, "more");
    size_t at = (size_t)snprintf(out, 64, more ? t->rank ? "[2, " : "[2" : "[");
    uint64_t all = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        uint64_t n = t->dim[i].n, v = !strcmp(how, "half") ? (n + 1) / 2 : !strcmp(how, "zero") ? 0 : !strcmp(how, "one") ? 1 : !strcmp(how, "two") ? 2 : n;
        all *= n;
        if (!flat) at += (size_t)snprintf(out + at, 64 - at, "%s%llu", i ? ", " : "", (unsigned long long)v);
    }
    if (flat) at += (size_t)snprintf(out + at, 64 - at, "%llu", (unsigned long long)all);
    snprintf(out + at, 64 - at, "]");
    return out;
}

static void grow(maker *m) {
    static const char *const unary[] = {"sin", "cos", "tanh", "sigmoid", "erf", "gelu", "softplus", "softsign", "elu", "leaky_relu", "neg", "identity", "abs", "relu", "hard_swish", "mish", "silu", "selu", "celu", "t/wave", "t/steps"};
    static const char *const reduce[] = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_l2", "reduce_l1", "reduce_log_sum_exp", "reduce_sum_square", "reduce_product"};
    static const char *const along[] = {"softmax", "cumulative_sum", "log_softmax", "lp_normalization", "layer_norm", "rms_norm", "hardmax"};
    static const char *const binary[] = {"add", "sub", "mul", "max", "min", "t/blend", "prelu"};
    char one[64], two[64];
    gr_value_id x = m->pool[below(m, m->n)], y = m->pool[below(m, m->n)], p[3] = {x, y, m->pool[below(m, m->n)]}, q[2];
    switch (below(m, 22)) {
    case 0: case 1: case 2: case 3: call(m, unary[below(m, sizeof unary / sizeof *unary)], &x, 1, NULL, NULL, NULL, NULL, NULL); return;
    case 4: case 5: case 6: case 7: call(m, binary[below(m, sizeof binary / sizeof *binary)], p, 2, NULL, NULL, NULL, NULL, NULL); return;
    case 8: q[0] = x, q[1] = positive(m, y), call(m, "div", q, 2, NULL, NULL, NULL, NULL, NULL); return;
    case 9: q[0] = positive(m, x), q[1] = tame(m, y), call(m, "pow", q, 2, NULL, NULL, NULL, NULL, NULL); return;
    case 10: q[0] = positive(m, x), call(m, below(m, 2) ? "log" : below(m, 2) ? "sqrt" : "reciprocal", q, 1, NULL, NULL, NULL, NULL, NULL); return;
    case 11: q[0] = tame(m, x), call(m, "exp", q, 1, NULL, NULL, NULL, NULL, NULL); return;
    case 12: case 13: case 14: {
        const char *op = reduce[below(m, sizeof reduce / sizeof *reduce)];
        q[0] = !strcmp(op, "reduce_l2") ? positive(m, x) : x;
        call(m, op, q, 1, "axes", axes_of(m, x, one), "keep_dimensions", below(m, 2) ? "true" : "false", NULL);
        return;
    }
    case 15: call(m, "matmul", p, 2, NULL, NULL, NULL, NULL, NULL); return;
    case 16: call(m, along[below(m, sizeof along / sizeof *along)], &x, 1, "axis", axis_of(m, x, one), NULL, NULL, NULL); return;
    case 17: call(m, "transpose", &x, 1, NULL, NULL, NULL, NULL, NULL); return;
    case 18: call(m, "slice", &x, 1, "starts", dims_of(m, x, "zero", one), "sizes", dims_of(m, x, "half", two), NULL); return;
    case 19: call(m, below(m, 2) ? "expand" : "reshape", &x, 1, "new_shape", dims_of(m, x, below(m, 2) ? "more" : "flat", one), NULL, NULL, NULL); return;
    case 20: call(m, "concat", p, 3, "axis", axis_of(m, x, one), NULL, NULL, NULL); return;
    default: {
        gr_value_id c[3] = {x, x, y};
        q[0] = x, q[1] = constant(m, 0.1);
        if (call(m, "greater", q, 2, NULL, NULL, NULL, NULL, &c[0])) call(m, "where", c, 3, NULL, NULL, NULL, NULL, NULL);
        if (below(m, 2)) call(m, "tile", &x, 1, "repetitions", dims_of(m, x, "two", one), NULL, NULL, NULL);
        else call(m, "pad", &x, 1, "beginning_padding", dims_of(m, x, "one", one), "ending_padding", dims_of(m, x, "zero", two), NULL);
    }
    }
}

/* loss: the sum of the last values, each weighed by one of another size. */
static gr_value_id finish(maker *m) {
    gr_value_id loss = GR_NO_VALUE;
    for (uint32_t i = 0; i < 3 && i < m->n; i++) {
        gr_value_id x = tame(m, m->pool[m->n - 1 - i]), w[2] = {x, x}, s = GR_NO_VALUE, sum[2];
        assert_true(call(m, "sin", &x, 1, NULL, NULL, NULL, NULL, &w[1]) && call(m, "mul", w, 2, NULL, NULL, NULL, NULL, &w[0]) && call(m, "reduce_sum", w, 1, NULL, NULL, NULL, NULL, &s));
        sum[0] = loss, sum[1] = s;
        if (loss == GR_NO_VALUE) loss = s;
        else assert_true(call(m, "add", sum, 2, NULL, NULL, NULL, NULL, &loss));
    }
    return loss;
}

static uint32_t add_inputs(maker *m, gr_value_id *in) {
    static const struct { uint32_t rank; uint64_t d[3]; } shapes[] = {{0, {0}}, {1, {1}}, {1, {3}}, {2, {2, 3}}, {2, {3, 2}}, {2, {1, 3}}, {2, {2, 1}}, {3, {2, 1, 3}}, {2, {3, 3}}, {2, {0, 3}}};
    uint32_t n = 2 + below(m, INPUTS_MAX - 2);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = below(m, 10);
        gr_type t = {.dtype = GR_DTYPE_F32, .rank = shapes[k].rank};
        for (uint32_t r = 0; r < t.rank; r++) t.dim[r].n = shapes[k].d[r];
        char name[8];
        snprintf(name, sizeof name, "x%u", i);
        in[i] = m->pool[m->n++] = gr_graph_add_input(&m->l->a, &m->g, gr_str_of(name), t, GR_SOURCE_INPUT);
    }
    return n;
}

/* ---- running ------------------------------------------------------------------------------- */

typedef struct job { gr_exec *e; gr_graph *g; gr_kernels kernels; gr_plan plan; gr_graph *low; } job;

static uint64_t count_of(const gr_graph *g, gr_value_id v) {
    uint64_t n = 0;
    gr_type_count(&g->values[v].type, &n);
    return n;
}

/* The job keeps its place: the executor points into it. */
static job *start(low *l, gr_graph *g) {
    job *j = GR_NEW(&l->a, job);
    assert_non_null(j);
    *j = (job){.g = g, .low = GR_NEW(&l->a, gr_graph)};
    gr_target t = gr_target_oracle();
    t.reference = true;
    gr_plan_options po = {0};
    gr_exec_options o = {.wide = true, .threads = 1};
    gr_graph expanded, common;
    bool ok = gr_graph_verify(&l->d, g) && gr_graph_opt_expand(&l->a, &l->d, g, l->catalog, true, NULL, NULL, &expanded) && gr_graph_opt_common(&l->a, &l->d, &expanded, &common) &&
              gr_graph_opt_dead(&l->a, &l->d, &common, j->low) && gr_graph_lower(&l->a, &l->d, j->low, l->catalog, &t, &j->kernels) && gr_kernels_lower(&l->a, &l->d, &j->kernels, l->catalog, &po, &j->plan);
    if (ok) j->e = gr_oracle_api()->prepare(NULL, &l->d, &j->plan, &o);
    if (!j->e) low_show(&l->d);
    assert_non_null(j->e);
    return j;
}

/* Inputs by name from x; outputs by position. */
static void run_job(low *l, job *j, const double (*x)[ELEMENTS_MAX], gr_ticket *ticket) {
    const gr_exec_api *api = gr_oracle_api();
    static const uint8_t zeros[ELEMENTS_MAX * 8];
    for (uint32_t v = 0; v < j->plan.graph->values_n; v++) {
        const gr_graph_value *value = &j->plan.graph->values[v];
        if (value->source != GR_SOURCE_INPUT && value->source != GR_SOURCE_PARAMETER) continue;
        uint32_t i = (uint32_t)(value->input.p[1] - '0');
        uint64_t n = 0, bytes = 0;
        gr_type_count(&value->type, &n);
        gr_type_device_bytes(&value->type, &bytes);
        bool ok = api->write(j->e, &l->d, v, zeros, bytes) && api->write_wide(j->e, &l->d, v, x[i], n);
        if (!ok) low_show(&l->d);
        assert_true(ok);
    }
    *ticket = api->submit(j->e, &l->d);
    bool ok = *ticket && api->wait(j->e, &l->d, *ticket);
    if (!ok) low_show(&l->d);
    assert_true(ok);
}

static const double *output(job *j, gr_ticket t, uint32_t i, uint64_t *n) { return gr_oracle_api()->output_wide(j->e, t, j->plan.graph->outputs[i].value, n); }

static double first_output(low *l, job *j, const double (*x)[ELEMENTS_MAX]) {
    gr_ticket t;
    uint64_t n = 0;
    run_job(l, j, x, &t);
    const double *y = output(j, t, 0, &n);
    assert_true(n == 1);
    double v = y[0];
    gr_oracle_api()->ticket_release(j->e, t);
    return v;
}

/* ---- comparison --------------------------------------------------------------------------------- */

typedef struct tally { uint32_t probes, skipped; double worst; } tally;

static double difference(low *l, job *j, double (*x)[ELEMENTS_MAX], double *at, double h) {
    double keep = *at, f[4];
    const double step[4] = {-2, -1, 1, 2};
    for (int i = 0; i < 4; i++) {
        *at = keep + step[i] * h;
        f[i] = first_output(l, j, (const double (*)[ELEMENTS_MAX])x);
    }
    *at = keep;
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}

/* Output 0 of `value` differentiated by differences; outputs of `gradient` from 1 on are its gradients. A kink within the
 * step shows as two steps that disagree: such a probe is skipped. */
static void compare(low *l, uint64_t seed, job *value, job *gradient, double (*x)[ELEMENTS_MAX], uint32_t inputs, const gr_value_id *in, double tolerance, tally *t) {
    gr_ticket ticket;
    run_job(l, gradient, (const double (*)[ELEMENTS_MAX])x, &ticket);
    for (uint32_t i = 0; i < inputs; i++) {
        uint64_t n = 0;
        const double *d = output(gradient, ticket, 1 + i, &n);
        assert_true(n == count_of(value->g, in[i]));
        for (uint64_t k = 0; k < n; k++) {
            double a = difference(l, value, x, &x[i][k], 1e-3), b = difference(l, value, x, &x[i][k], 2.5e-4);
            t->probes++;
            if (!(gr_fabs(a - b) <= 1e-7 * (1 + gr_fabs(b)))) { /* also of a loss that is NaN: the mean of nothing */
                t->skipped++;
                continue;
            }
            double off = gr_fabs(d[k] - b) / (1 + gr_fabs(b));
            if (off > t->worst) t->worst = off;
            if (off <= tolerance) continue;
            gr_buf text = {0};
            gr_graph_print(&text, gradient->g);
            print_message("seed %llu: d / d x%u[%llu] is %.12g, differences say %.12g\n%s", (unsigned long long)seed, i, (unsigned long long)k, d[k], b, text.p);
            gr_buf_free(&text);
            fail();
        }
    }
    gr_oracle_api()->ticket_release(gradient->e, ticket);
}

static void add_test_ops(low *l) {
    static const char *const head = "category = \"transcendental\"\ntolerance = \"default\"\nsummary = \"A test.\"\n";
    static const struct { const char *id, *signature, *body; } ops[] = {
        {"t/wave@1", "wave(x: T[..s]; k: f32 = 1.5) -> y: T[..s]  T in f32, f16", "map = \"sin(f32(x) * k) * exp(-f32(x) * f32(x))\""},
        {"t/steps@1", "steps(x: f32[..s]) -> y: f32[..s]", "map = \"floor(x) * 0.25 + select(x * x, tanh(x), x > 0.3)\""},
        {"t/blend@1", "blend(a: f32[..s], b: f32[..t]) -> y: f32[..broadcast(s, t)]", "map = \"mix(a, b, 0.3) * cos(a - b)\""},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        gr_str body = gr_str_of(ops[i].body);
        if (i == 0) body = GR_STR("map = \"T(sin(f32(x) * k) * exp(-f32(x) * f32(x)))\"");
        char *toml = gr_arena_printf(&l->a, "signature = \"%s\"\n%s[body]\n%.*s\n[backward]\nform = \"composed\"\n", ops[i].signature, head, GR_STR_ARG(body));
        low_op(l, ops[i].id, toml, NULL, NULL, NULL, NULL);
    }
}

static void fill_inputs(maker *m, double (*x)[ELEMENTS_MAX]) {
    for (int i = 0; i < INPUTS_MAX; i++)
        for (int k = 0; k < ELEMENTS_MAX; k++) x[i][k] = ((double)below(m, 1u << 20) - (1 << 19)) / (double)(1 << 19) * 1.3;
}

/* The gradient as a graph with loss and gradients as outputs. */
static gr_graph *differentiate(low *l, const gr_graph *g, gr_value_id loss, const gr_value_id *in, uint32_t inputs, gr_value_id *made) {
    gr_graph *out = GR_NEW(&l->a, gr_graph);
    gr_gradient_seed seed = {loss, GR_NO_VALUE};
    bool ok = gr_graph_opt_gradient(&l->a, &l->d, g, l->catalog, &seed, 1, in, inputs, out, made);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    return out;
}

static void name_outputs(low *l, gr_graph *g, gr_value_id loss, const gr_value_id *made, uint32_t n) {
    g->outputs = NULL;
    g->outputs_n = g->outputs_cap = 0;
    assert_true(gr_graph_add_output(&l->a, g, GR_STR("loss"), loss));
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "d_x%u", i);
        assert_true(gr_graph_add_output(&l->a, g, gr_str_of(name), made[i]));
    }
}

static void stop(job *j) { gr_oracle_api()->release(j->e); }

/* The sum over the gradients, weighed by their own sine: its gradient needs second derivatives. */
static gr_value_id again_loss(maker *m, const gr_value_id *made, uint32_t n) {
    m->n = 0;
    for (uint32_t i = 0; i < n; i++) m->pool[m->n++] = made[i];
    return finish(m);
}

static void one_graph(low *l, uint64_t seed, bool second, tally *first_order, tally *second_order) {
    maker m = {.l = l, .g = {.name = GR_STR("random"), .tier = GR_TIER_DEBUG}, .random = seed * 0x9e3779b97f4a7c15u + 1};
    gr_value_id in[INPUTS_MAX], made[INPUTS_MAX], made2[INPUTS_MAX];
    double x[INPUTS_MAX][ELEMENTS_MAX];
    for (int i = 0; i < 8; i++) below(&m, 2);
    uint32_t inputs = add_inputs(&m, in), nodes = 3 + below(&m, second ? 4 : NODES_MAX - 3);
    while (m.g.nodes_n < nodes) grow(&m);
    gr_value_id loss = finish(&m);
    fill_inputs(&m, x);
    gr_graph *value = GR_NEW(&l->a, gr_graph), *gradient = differentiate(l, &m.g, loss, in, inputs, made);
    *value = m.g;
    name_outputs(l, value, loss, NULL, 0);
    gr_graph plain = *gradient;
    name_outputs(l, gradient, loss, made, inputs);
    job *f = start(l, value), *d = start(l, gradient);
    compare(l, seed, f, d, x, inputs, in, 1e-9, first_order);
    stop(f);
    stop(d);
    if (!second) return;
    m.g = plain;
    m.g.values_cap = m.g.values_n, m.g.nodes_cap = m.g.nodes_n;
    gr_value_id loss2 = again_loss(&m, made, inputs);
    gr_graph *value2 = GR_NEW(&l->a, gr_graph), *gradient2 = differentiate(l, &m.g, loss2, in, inputs, made2);
    *value2 = m.g;
    name_outputs(l, value2, loss2, NULL, 0);
    name_outputs(l, gradient2, loss2, made2, inputs);
    f = start(l, value2), d = start(l, gradient2);
    compare(l, seed, f, d, x, inputs, in, 1e-7, second_order);
    stop(f);
    stop(d);
}

static void random_graphs(void **state) {
    (void)state;
    tally first_order = {0}, second_order = {0};
    const char *one = getenv("GRADUS_SEED");
    uint64_t from = one ? strtoull(one, NULL, 10) : 0, to = one ? from + 1 : GRAPHS;
    low shared;
    low_begin(&shared);
    add_test_ops(&shared);
    for (uint64_t seed = from; seed < to; seed++) {
        low l = {.catalog = shared.catalog};
        gr_diags_init(&l.d);
        one_graph(&l, seed, seed < SECOND, &first_order, &second_order);
        gr_diags_free(&l.d);
        gr_arena_free(&l.a);
    }
    print_message("first order: %u probes, %u skipped, worst %.2g; second: %u probes, %u skipped, worst %.2g\n", first_order.probes, first_order.skipped, first_order.worst,
                  second_order.probes, second_order.skipped, second_order.worst);
    assert_true(one || (first_order.probes > 1000 && second_order.probes > 100));
    assert_true(first_order.skipped * 10 <= first_order.probes && second_order.skipped * 4 <= second_order.probes);
    low_end(&shared);
}

/* ---- control flow --------------------------------------------------------------------------------- */

/* A repeat with a carried state, a branch on a constant inside it, and a call: unrolled and inlined, then differentiated. */
static const char canvas[] =
    "{ \"gradus\": \"canvas/1\", \"tier\": \"debug\", \"name\": \"t\", \"nodes\": [\n"
    "{ \"id\": \"x0\", \"block\": \"input\", \"dtype\": \"f32\", \"shape\": [2, 3] }, { \"id\": \"x1\", \"block\": \"parameter\", \"dtype\": \"f32\", \"shape\": [3] },\n"
    "{ \"id\": \"loop\", \"block\": \"repeat\", \"count\": 3, \"carry\": { \"next\": \"state\" }, \"body\": { \"nodes\": [\n"
    "  { \"id\": \"state\", \"block\": \"input\" }, { \"id\": \"gain\", \"block\": \"input\" }, { \"id\": \"step\", \"op\": \"mul\" }, { \"id\": \"bend\", \"op\": \"sin\" },\n"
    "  { \"id\": \"pick\", \"block\": \"branch\", \"condition\": true, \"then\": { \"nodes\": [ { \"id\": \"a\", \"block\": \"input\" }, { \"id\": \"e\", \"op\": \"tanh\" }, { \"id\": \"y\", \"block\": \"output\" } ],\n"
    "    \"links\": [ { \"from\": \"a\", \"to\": \"e\" }, { \"from\": \"e\", \"to\": \"y\" } ] }, \"else\": { \"nodes\": [ { \"id\": \"a\", \"block\": \"input\" }, { \"id\": \"y\", \"block\": \"output\" } ],\n"
    "    \"links\": [ { \"from\": \"a\", \"to\": \"y\" } ] } }, { \"id\": \"next\", \"block\": \"output\" } ],\n"
    "  \"links\": [ { \"from\": \"state\", \"to\": \"step.a\" }, { \"from\": \"gain\", \"to\": \"step.b\" }, { \"from\": \"step\", \"to\": \"bend\" }, { \"from\": \"bend\", \"to\": \"pick\" }, { \"from\": \"pick\", \"to\": \"next\" } ] } },\n"
    "{ \"id\": \"part\", \"block\": \"call\", \"body\": { \"nodes\": [ { \"id\": \"a\", \"block\": \"input\" }, { \"id\": \"g\", \"op\": \"gelu\" }, { \"id\": \"y\", \"block\": \"output\" } ],\n"
    "  \"links\": [ { \"from\": \"a\", \"to\": \"g\" }, { \"from\": \"g\", \"to\": \"y\" } ] } },\n"
    "{ \"id\": \"sum\", \"op\": \"reduce_sum\" }, { \"id\": \"loss\", \"block\": \"output\" } ],\n"
    "\"links\": [ { \"from\": \"x0\", \"to\": \"loop.state\" }, { \"from\": \"x1\", \"to\": \"loop.gain\" }, { \"from\": \"loop\", \"to\": \"part\" }, { \"from\": \"part\", \"to\": \"sum\" }, { \"from\": \"sum\", \"to\": \"loss\" } ] }\n";

static void control_flow(void **state) {
    (void)state;
    low l;
    gr_canvas c;
    gr_flow f;
    gr_graph *g;
    double x[INPUTS_MAX][ELEMENTS_MAX];
    gr_value_id in[2], made[2];
    tally t = {0};
    low_begin(&l);
    g = GR_NEW(&l.a, gr_graph);
    bool ok = gr_canvas_parse(&l.a, &l.d, GR_STR("t.json"), gr_str_of(canvas), &c) && gr_canvas_verify(&l.d, &c) && gr_canvas_lower(&l.a, &l.d, &c, l.catalog, &f) && gr_flow_verify(&l.d, &f) &&
              gr_flow_lower(&l.a, &l.d, &f, l.catalog, NULL, 0, g);
    if (!ok) low_show(&l.d);
    assert_true(ok);
    for (gr_value_id v = 0; v < g->values_n; v++)
        if (g->values[v].source == GR_SOURCE_INPUT || g->values[v].source == GR_SOURCE_PARAMETER) in[g->values[v].input.p[1] - '0'] = v;
    gr_value_id loss = g->outputs[0].value;
    maker m = {.random = 7};
    fill_inputs(&m, x);
    gr_graph *d = differentiate(&l, g, loss, in, 2, made);
    name_outputs(&l, d, loss, made, 2);
    job *value = start(&l, g), *gradient = start(&l, d);
    compare(&l, 0, value, gradient, x, 2, in, 1e-9, &t);
    print_message("%u probes, worst %.2g\n", t.probes, t.worst);
    assert_true(t.probes == 9 && t.skipped == 0);
    stop(value);
    stop(gradient);
    low_end(&l);
}

/* ---- recomputation ------------------------------------------------------------------------------ */

enum { LAYERS = 16 };

/* A chain of layers with one weight, its loss and the gradient by the weight. */
static void chain(low *l, gr_graph *out) {
    gr_buf text = {0};
    gr_graph g;
    gr_value_id x = GR_NO_VALUE, w = GR_NO_VALUE, loss = GR_NO_VALUE, made[2];
    gr_buf_puts(&text, "graph chain {\n  tier debug\n  %h0 = input \"x\" : f32[B = 64, 32]\n  %w = parameter \"w\" : f32[32, 32]\n");
    for (int i = 0; i < LAYERS; i++)
        gr_buf_printf(&text, "  %%m%d = matmul %%h%d, %%w\n  %%t%d = tanh %%m%d\n  %%k%d = cast %%t%d type=f32\n  %%h%d = add %%k%d, %%h%d\n", i, i, i, i, i, i, i + 1, i, i);
    gr_buf_printf(&text, "  %%g = gelu %%h%d\n  %%loss = reduce_mean %%g\n  output \"loss\" %%loss\n}\n", LAYERS);
    low_graph(l, text.p);
    gr_buf_free(&text);
    g = l->graph;
    for (gr_value_id v = 0; v < g.values_n; v++) {
        if (gr_str_eqz(g.values[v].name, "h0")) x = v;
        if (gr_str_eqz(g.values[v].name, "w")) w = v;
        if (gr_str_eqz(g.values[v].name, "loss")) loss = v;
    }
    gr_value_id in[2] = {w, x};
    gr_graph *d = differentiate(l, &g, loss, in, 2, made);
    name_outputs(l, d, loss, made, 2);
    *out = *d;
}

typedef struct measured { uint64_t peak, activations; uint8_t *bytes[3]; uint64_t n[3]; gr_verdict verdict; gr_plan plan; } measured;

/* Expanded as a program is, cut into segments, planned, and run in f32. */
static measured measure(low *l, const gr_graph *g, uint32_t segments, uint64_t budget, bool go) {
    measured m = {0};
    gr_graph *expanded = GR_NEW(&l->a, gr_graph), *common = GR_NEW(&l->a, gr_graph), *less = GR_NEW(&l->a, gr_graph);
    gr_kernels *k = GR_NEW(&l->a, gr_kernels);
    gr_plan *p = GR_NEW(&l->a, gr_plan);
    gr_target t = gr_target_oracle();
    gr_plan_options o = {0};
    bool ok = gr_graph_opt_expand(&l->a, &l->d, g, l->catalog, false, NULL, NULL, expanded) && gr_graph_opt_common(&l->a, &l->d, expanded, common);
    *less = *common;
    if (segments) ok = ok && gr_graph_opt_checkpoint(&l->a, &l->d, common, segments, less);
    less->budget_cpu = budget;
    ok = ok && gr_graph_verify(&l->d, less) && gr_graph_lower(&l->a, &l->d, less, l->catalog, &t, k) && gr_kernels_lower(&l->a, &l->d, k, l->catalog, &o, p) && gr_plan_verify(&l->d, p);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    m.peak = p->peak_total, m.activations = p->peak[GR_MEM_ACTIVATIONS], m.verdict = p->verdict, m.plan = *p;
    if (go) run_plan(l, gr_oracle_api(), NULL, p, m.bytes, m.n);
    return m;
}

static void recomputing_gives_the_same_bits_in_less_memory(void **state) {
    (void)state;
    low l;
    gr_graph g;
    low_begin(&l);
    chain(&l, &g);
    measured all = measure(&l, &g, 0, 0, true);
    assert_true(all.activations > 0 && all.plan.peak[GR_MEM_GRADIENTS] > 0);
    for (uint32_t segments = 2; segments <= 8; segments *= 2) {
        measured less = measure(&l, &g, segments, 0, true);
        print_message("%u segments: peak %llu of %llu, activations %llu of %llu\n", segments, (unsigned long long)less.peak, (unsigned long long)all.peak,
                      (unsigned long long)less.activations, (unsigned long long)all.activations);
        assert_true(less.activations < all.activations && less.peak < all.peak);
        for (int i = 0; i < 3; i++) {
            assert_true(less.n[i] == all.n[i] && less.n[i] > 0);
            assert_memory_equal(less.bytes[i], all.bytes[i], less.n[i]);
        }
    }
    low_end(&l);
}

static void a_budget_that_recomputing_meets_is_a_fix(void **state) {
    (void)state;
    low l;
    gr_graph g;
    low_begin(&l);
    chain(&l, &g);
    uint64_t all = measure(&l, &g, 0, 0, false).peak, least = measure(&l, &g, 4, 0, false).peak;
    measured red = measure(&l, &g, 0, (all + least) / 2, false);
    assert_int_equal(red.verdict, GR_RED);
    bool found = false;
    for (uint32_t i = 0; i < red.plan.fixes_n; i++) found = found || (strstr(red.plan.fixes[i].change.p, "--checkpoint") && red.plan.fixes[i].verified);
    assert_true(found);
    assert_int_not_equal(measure(&l, &g, 4, (all + least) / 2, false).verdict, GR_RED);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs), cmocka_unit_test(control_flow), cmocka_unit_test(recomputing_gives_the_same_bits_in_less_memory), cmocka_unit_test(a_budget_that_recomputing_meets_is_a_fix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
