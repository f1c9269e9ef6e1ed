/* example.c: the example that an op shows is run, and must be true. */
#include "base/math.h"
#include "regime/publish.h"
#include "regime/regime_int.h"

static bool all_of(const gr_value *v, gr_value_kind kind) {
    if (v->kind != GR_V_ARRAY) return v->kind == kind;
    for (uint32_t i = 0; i < v->array.n; i++)
        if (!all_of(v->array.v[i], kind)) return false;
    return true;
}

/* Elements of a nested list in C order; false when it is ragged or holds something else than numbers. */
static bool fill(gr_array *x, uint64_t *at, const gr_value *v, uint32_t depth) {
    if (v->kind == GR_V_ARRAY) {
        if (depth >= x->rank || v->array.n != x->dims[depth]) return false;
        for (uint32_t i = 0; i < v->array.n; i++)
            if (!fill(x, at, v->array.v[i], depth + 1)) return false;
        return true;
    }
    if (depth != x->rank || *at >= gr_array_count(x)) return false;
    if (v->kind == GR_V_INT) gr_array_set_i64(x, (*at)++, v->i);
    else if (v->kind == GR_V_FLOAT) gr_array_set_f64(x, (*at)++, v->f);
    else if (v->kind == GR_V_BOOL) gr_array_set_i64(x, (*at)++, v->b);
    else return false;
    return true;
}

static bool to_array(gr_arena *a, gr_diags *d, const gr_value *v, const gr_value *named, gr_array *x) {
    gr_dtype t = all_of(v, GR_V_BOOL) ? GR_DTYPE_BOOL : all_of(v, GR_V_INT) ? GR_DTYPE_I32 : GR_DTYPE_F32;
    uint64_t dims[GR_RANK_MAX], at = 0;
    uint32_t rank = 0;
    if (named && named->kind == GR_V_STRING) t = gr_dtype_find(named->s);
    for (const gr_value *w = v; w->kind == GR_V_ARRAY && rank < GR_RANK_MAX; w = w->array.v[0]) {
        dims[rank++] = w->array.n;
        if (w->array.n == 0) break;
    }
    return t != GR_DTYPE_NONE && gr_array_new(a, d, t, dims, rank, x) && fill(x, &at, v, 0) && at == gr_array_count(x);
}

static gr_type type_of(const gr_array *x) {
    gr_type t = {.dtype = x->dtype, .rank = x->rank};
    for (uint32_t i = 0; i < x->rank; i++) t.dim[i].n = x->dims[i];
    return t;
}

typedef struct example {
    gr_arena *a;
    gr_diags *d;
    const gr_op *op;
    gr_place at;
    gr_case c;
    gr_array in[GR_EXAMPLE_TENSORS];
    gr_type types[GR_EXAMPLE_TENSORS];
    uint32_t n;
} example;

static bool invalid(example *e, const char *what, gr_str name) {
    return gr_report(e->d, GR_D_CONTRACT_EXAMPLE_INVALID, e->at, NULL, "%s %.*s", what, GR_STR_ARG(name));
}

static bool add_input(example *e, gr_str name, const gr_value *v, gr_example *out) {
    const gr_value *dtypes = gr_value_get(e->op->example, "dtypes");
    if (e->n >= GR_EXAMPLE_TENSORS) return invalid(e, "too many operands at", name);
    gr_array *x = &e->in[e->n];
    if (v && !to_array(e->a, e->d, v, dtypes ? gr_value_get_str(dtypes, name) : NULL, x)) return invalid(e, "no array of numbers:", name);
    e->types[e->n++] = v ? type_of(x) : (gr_type){.dtype = GR_DTYPE_NONE};
    if (v) out->in[out->in_n++] = (gr_example_tensor){name, *x};
    return true;
}

/* Operands in the order of the signature, absent optional ones as dtype NONE. */
static bool read_inputs(example *e, gr_example *out) {
    const gr_value *inputs = gr_value_get(e->op->example, "inputs");
    for (uint32_t i = 0; i < e->op->sig.operands_n; i++) {
        const gr_sig_tensor *t = &e->op->sig.operands[i];
        const gr_value *v = inputs ? gr_value_get_str(inputs, t->name) : NULL;
        if (!v && !t->optional && !t->variadic) return invalid(e, "it has no value for", t->name);
        if (t->variadic && v && v->kind != GR_V_ARRAY) return invalid(e, "a list of arrays is needed for", t->name);
        if (!t->variadic) GR_TRY(add_input(e, t->name, v, out));
        for (uint32_t k = 0; t->variadic && v && k < v->array.n; k++) GR_TRY(add_input(e, t->name, v->array.v[k], out));
    }
    return true;
}

static bool make_call(example *e, gr_example *out) {
    out->params = gr_value_get(e->op->example, "params");
    uint32_t n = out->params && out->params->kind == GR_V_OBJECT ? out->params->object.n : 0;
    e->c.args = GR_NEW_N(e->a, gr_arg, n);
    if (!e->c.args) return gr_report_oom(e->d);
    for (uint32_t i = 0; i < n; i++)
        e->c.args[e->c.args_n++] = (gr_arg){.name = out->params->object.v[i].key, .value = out->params->object.v[i].value, .at = e->at};
    return read_inputs(e, out) && gr_call_resolve(e->a, e->d, e->op, e->types, e->n, e->c.args, e->c.args_n, e->at, &e->c.call);
}

static bool close(double x, double y) { return gr_fabs(x - y) <= 1e-5 * (1 + gr_fabs(y)) || x == y || (x != x && y != y); }

static bool compare(example *e, gr_str name, const gr_array *got, const gr_value *v) {
    gr_array want;
    uint64_t at = 0;
    GR_TRY(gr_array_new(e->a, e->d, got->dtype, got->dims, got->rank, &want));
    if (!fill(&want, &at, v, 0) || at != gr_array_count(got))
        return gr_report(e->d, GR_D_REGIME_EXAMPLE_WRONG, e->at, NULL, "the output %.*s has another shape than the example says", GR_STR_ARG(name));
    for (uint64_t i = 0; i < at; i++) {
        double x = gr_array_get_f64(got, i), y = gr_array_get_f64(&want, i);
        if (close(x, y)) continue;
        return gr_report(e->d, GR_D_REGIME_EXAMPLE_WRONG, e->at, "write down what the op gives, or mend the op", "%.*s[%llu] is %.9g, the example says %.9g",
                         GR_STR_ARG(name), (unsigned long long)i, x, y);
    }
    return true;
}

/* Outputs of the call by name; those of a variadic output share one, and the example has a list of them. */
static bool take_outputs(example *e, const gr_array *got, gr_example *out) {
    const gr_value *outputs = gr_value_get(e->op->example, "outputs");
    const gr_sig *s = &e->op->sig;
    bool ok = true, many = s->outputs_n == 1 && s->outputs[0].variadic;
    for (uint32_t i = 0, k = 0; i < e->c.call.outputs_n && k < GR_EXAMPLE_TENSORS; i++) {
        if (e->c.call.outputs[i].dtype == GR_DTYPE_NONE) continue;
        gr_str name = s->outputs[many ? 0 : i].name;
        const gr_value *v = outputs ? gr_value_get_str(outputs, name) : NULL;
        if (many && v) v = v->kind == GR_V_ARRAY && i < v->array.n ? v->array.v[i] : NULL;
        out->out[out->out_n++] = (gr_example_tensor){name, got[k]};
        if (v) ok = compare(e, name, &got[k], v) && ok;
        k++;
    }
    return ok;
}

bool gr_example_run(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, gr_example *out) {
    example e = {.a = a, .d = d, .op = op, .at = {.document = op->folder.n ? op->folder : op->id, .pointer = GR_STR("/example")}};
    gr_regime_device oracle = gr_regime_oracle();
    gr_setting g = {.catalog = catalog, .op = op, .device = &oracle};
    gr_exec_options plain = {.threads = 1};
    gr_target target = gr_target_oracle();
    gr_array got[RUN_TENSORS];
    gr_side side;
    int changed = -1;
    bool missing, fence = false;
    *out = (gr_example){0};
    if (!op->example) return invalid(&e, "there is no example of", op->id);
    GR_TRY(make_call(&e, out));
    if (!gr_side_open(&side, d, &g, &e.c, &target, gr_oracle_api(), NULL, &plain, false, &missing))
        return missing ? invalid(&e, "nothing runs the example of", op->id) : false;
    bool ok = gr_side_run(&side, d, e.in, 0, got, &changed, &fence);
    for (uint32_t i = 0; ok && i < side.out_n; i++) { /* out of the side's arena */
        gr_array copy;
        ok = gr_array_new(a, d, got[i].dtype, got[i].dims, got[i].rank, &copy);
        if (ok && copy.bytes) memcpy(copy.data, got[i].data, copy.bytes);
        got[i] = copy;
    }
    gr_side_close(&side);
    return ok && take_outputs(&e, got, out);
}
