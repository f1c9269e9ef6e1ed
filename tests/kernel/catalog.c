/* Every op of the catalog: it has a kernel for the WebGPU default limits, and its example comes out right on the oracle, by its
 * CPU body and by its reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math.h"
#include "ladder/run/run.h"
#include "lower.h"

enum { MAX_VALUES = 16 };

static bool all_of(const gr_value *v, gr_value_kind kind) {
    if (v->kind != GR_V_ARRAY) return v->kind == kind;
    for (uint32_t i = 0; i < v->array.n; i++)
        if (!all_of(v->array.v[i], kind)) return false;
    return true;
}

static double number(const gr_value *v) {
    return v->kind == GR_V_BOOL ? (double)v->b : v->kind == GR_V_INT ? (double)v->i : v->f;
}

static void fill(gr_array *x, uint64_t *at, const gr_value *v) {
    if (v->kind != GR_V_ARRAY) {
        gr_array_set_f64(x, (*at)++, number(v));
        return;
    }
    for (uint32_t i = 0; i < v->array.n; i++) fill(x, at, v->array.v[i]);
}

/* named: the dtype that the example says, or NULL. */
static void to_array(low *l, const gr_value *v, const gr_value *named, gr_array *x) {
    gr_dtype t = named ? gr_dtype_find(named->s) : all_of(v, GR_V_BOOL) ? GR_DTYPE_BOOL : all_of(v, GR_V_INT) ? GR_DTYPE_I32 : GR_DTYPE_F32;
    uint64_t dims[GR_RANK_MAX], at = 0;
    uint32_t rank = 0;
    for (const gr_value *w = v; w->kind == GR_V_ARRAY; w = w->array.v[0]) {
        dims[rank++] = w->array.n;
        if (w->array.n == 0) break;
    }
    assert_true(gr_array_new(&l->a, &l->d, t, dims, rank, x));
    fill(x, &at, v);
}

typedef struct example {
    gr_array in[MAX_VALUES];
    uint32_t n;
} example;

static gr_type type_of(const gr_array *x) {
    gr_type t = {.dtype = x->dtype, .rank = x->rank};
    for (uint32_t i = 0; i < x->rank; i++) t.dim[i].n = x->dims[i];
    return t;
}

/* The example as a graph of one node; false when the op has none. */
static bool build(low *l, const gr_op *op, example *e) {
    const gr_value *inputs = op->example ? gr_value_get(op->example, "inputs") : NULL, *params = op->example ? gr_value_get(op->example, "params") : NULL;
    const gr_value *dtypes = op->example ? gr_value_get(op->example, "dtypes") : NULL;
    gr_value_id args[MAX_VALUES], results[MAX_VALUES];
    gr_arg given[MAX_VALUES];
    uint32_t given_n = 0, args_n = 0;
    e->n = 0;
    if (!op->example) return false;
    l->graph = (gr_graph){.name = GR_STR("example"), .document = op->id, .tier = GR_TIER_DEBUG};
    for (uint32_t i = 0; i < op->sig.operands_n; i++) {
        const gr_value *v = inputs ? gr_value_get_str(inputs, op->sig.operands[i].name) : NULL;
        uint32_t many = op->sig.operands[i].variadic && v ? v->array.n : 1;
        for (uint32_t k = 0; v && k < many; k++) {
            gr_array *x = &e->in[e->n];
            to_array(l, op->sig.operands[i].variadic ? v->array.v[k] : v, dtypes ? gr_value_get_str(dtypes, op->sig.operands[i].name) : NULL, x);
            e->n++;
            args[args_n++] = gr_graph_add_input(&l->a, &l->graph, op->sig.operands[i].name, type_of(x), GR_SOURCE_INPUT);
        }
        if (!v && op->sig.operands[i].optional) args[args_n++] = GR_NO_VALUE;
    }
    for (uint32_t i = 0; params && i < params->object.n; i++)
        given[given_n++] = (gr_arg){.name = params->object.v[i].key, .value = params->object.v[i].value};
    bool ok = gr_graph_add_node(&l->a, &l->d, &l->graph, op, args, args_n, given, given_n, op->name, (gr_place){0}, results);
    for (uint32_t i = 0; ok && i < op->sig.outputs_n; i++) ok = results[i] == GR_NO_VALUE || gr_graph_add_output(&l->a, &l->graph, op->sig.outputs[i].name, results[i]);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    return true;
}

static void lower_to(low *l, const gr_op *op, const gr_target *t) {
    bool ok = gr_graph_lower(&l->a, &l->d, &l->graph, l->catalog, t, &l->kernels) && gr_kernels_verify(&l->d, &l->kernels) &&
              gr_kernels_lower(&l->a, &l->d, &l->kernels, l->catalog, NULL, &l->plan) && gr_plan_verify(&l->d, &l->plan);
    if (!ok || l->plan.verdict != GR_GREEN) low_show(&l->d);
    if (!ok || l->plan.verdict != GR_GREEN) fail_msg("%.*s on %.*s", GR_STR_ARG(op->id), GR_STR_ARG(t->adapter));
}

static void compare(low *l, const gr_op *op, gr_exec *e, gr_ticket ticket) {
    const gr_value *outputs = gr_value_get(op->example, "outputs");
    for (uint32_t i = 0; outputs && i < l->plan.graph->outputs_n; i++) {
        const gr_value *v = gr_value_get_str(outputs, l->plan.graph->outputs[i].name);
        gr_value_id id = l->plan.graph->outputs[i].value;
        const gr_type *t = &l->plan.graph->values[id].type;
        uint64_t dims[GR_RANK_MAX], n, count, at = 0;
        gr_array got, want;
        if (!v) continue;
        for (uint32_t k = 0; k < t->rank; k++) dims[k] = t->dim[k].n;
        const void *bytes = gr_oracle_api()->output(e, ticket, id, &n, &count);
        if (t->bounded) dims[0] = count;
        assert_true(gr_array_new(&l->a, &l->d, t->dtype, dims, t->rank, &got) && gr_array_new(&l->a, &l->d, t->dtype, dims, t->rank, &want));
        gr_unpack(&got, bytes);
        fill(&want, &at, v);
        assert_int_equal(at, gr_array_count(&want));
        for (uint64_t k = 0; k < at; k++) {
            double x = gr_array_get_f64(&got, k), y = gr_array_get_f64(&want, k);
            if (!(gr_fabs(x - y) <= 1e-5 * (1 + gr_fabs(y))) && x != y && !(x != x && y != y))
                fail_msg("%.*s: output %.*s[%u] is %g, the example says %g", GR_STR_ARG(op->id), GR_STR_ARG(l->plan.graph->outputs[i].name), (unsigned)k, x, y);
        }
    }
}

static void run_example(low *l, const gr_op *op, const example *ex) {
    const gr_exec_api *api = gr_oracle_api();
    gr_exec *e = api->prepare(NULL, &l->d, &l->plan, NULL);
    if (!e) low_show(&l->d);
    assert_non_null(e);
    uint32_t at = 0;
    for (uint32_t v = 0; v < l->plan.graph->values_n; v++) {
        if (l->plan.graph->values[v].source != GR_SOURCE_INPUT) continue;
        uint64_t bytes = 0;
        gr_type_device_bytes(&l->plan.graph->values[v].type, &bytes);
        void *packed = gr_arena_alloc(&l->a, bytes + 4, 1);
        gr_pack(packed, &ex->in[at++]);
        assert_true(api->write(e, &l->d, v, packed, bytes));
    }
    gr_ticket t = api->submit(e, &l->d);
    bool ok = t && api->wait(e, &l->d, t);
    if (!ok) low_show(&l->d);
    assert_true(ok);
    compare(l, op, e, t);
    api->ticket_release(e, t);
    api->release(e);
}

static void examples(void **state) {
    (void)state;
    low l;
    gr_target cpu = gr_target_oracle(), reference = cpu, gpu = gr_target_webgpu_default();
    uint32_t ran = 0;
    reference.reference = true;
    low_begin(&l);
    for (uint32_t i = 0; i < gr_catalog_count(l.catalog); i++) {
        const gr_op *op = gr_catalog_at(l.catalog, i);
        example ex;
        if (op->body == GR_BODY_CONTRACT_ONLY || !build(&l, op, &ex)) continue;
        lower_to(&l, op, &gpu);
        lower_to(&l, op, &cpu);
        run_example(&l, op, &ex);
        lower_to(&l, op, &reference);
        run_example(&l, op, &ex);
        ran++;
    }
    assert_true(ran >= 30);
    low_end(&l);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(examples)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
