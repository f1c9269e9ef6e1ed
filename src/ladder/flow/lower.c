/* Flow to graph: types the inputs, resolves every call, inlines calls, unrolls repeats, takes the known
 * side of branches. Goes on after an error with the steps that do not need the failed one. */
#include "ladder/flow/flow_int.h"
#include "ladder/graph/graph.h"

#include <stdio.h>

enum {
    STEPS_MAX = 4000000, /* lowered in all, so that nested repeats of nothing end too */
    ERRORS_MAX = 100,    /* lowering stops there */
};

typedef struct lowering {
    gr_arena *a, *scratch;
    gr_diags *d;
    const gr_flow *f;
    const gr_catalog *catalog;
    gr_graph *g;
    gr_value_id *env;    /* by flow value: what it is now; GR_NO_VALUE when it failed */
    gr_map actual;       /* node -> index of inputs */
    const gr_input_type *inputs;
    gr_map symbols;
    GR_VEC(gr_graph_symbol) symbol;
    GR_VEC(gr_place) symbol_at;
    uint32_t steps, errors_before;
} lowering;

/* ---- inputs ------------------------------------------------------------------------ */

static bool symbol_conflict(lowering *l, const gr_flow_step *s, uint32_t axis, const gr_graph_symbol *first, uint64_t n, gr_place first_at) {
    gr_report(l->d, GR_D_GRAPH_SYMBOL_CONFLICT, s->at, NULL, "dimension %u of \"%.*s\" is %llu, but %.*s is %llu", axis, GR_STR_ARG(s->node), (unsigned long long)n, GR_STR_ARG(first->name), (unsigned long long)first->n);
    gr_report_hint(l->d, "use data whose sizes agree, or name the dimension otherwise than \"%.*s\"", GR_STR_ARG(first->name));
    gr_report_related(l->d, first_at, "%.*s is %llu here", GR_STR_ARG(first->name), (unsigned long long)first->n);
    return false;
}

static bool bind_symbol(lowering *l, const gr_flow_step *s, uint32_t axis, gr_str name, uint64_t n) {
    uint32_t at;
    if (gr_map_get(&l->symbols, name, &at)) return l->symbol.v[at].n == n || symbol_conflict(l, s, axis, &l->symbol.v[at], n, l->symbol_at.v[at]);
    gr_graph_symbol *y = GR_PUSH(l->a, &l->symbol);
    gr_place *place = GR_PUSH(l->scratch, &l->symbol_at);
    gr_str copy = gr_str_dup(l->a, name);
    if (!y || !place || !copy.p || !gr_map_put(l->scratch, &l->symbols, copy, l->symbol.n - 1)) return gr_report_oom(l->d);
    *y = (gr_graph_symbol){copy, n};
    *place = s->at;
    return true;
}

static bool mismatch(lowering *l, const gr_flow_step *s, const gr_type *actual, const char *what) {
    gr_buf b = {0};
    gr_type_print(&b, actual);
    gr_report(l->d, GR_D_GRAPH_INPUT_MISMATCH, s->at, "change the declared dtype or shape, or the data", "the data of \"%.*s\" is %s, declared is another %s", GR_STR_ARG(s->node), b.p ? b.p : "?", what);
    gr_buf_free(&b);
    return false;
}

/* Declared shape against the data; names take their sizes from it. */
static bool type_from_data(lowering *l, const gr_flow_step *s, const gr_type *actual, gr_type *out) {
    const gr_canvas_node *n = s->source;
    *out = *actual;
    for (uint32_t i = 0; i < out->rank; i++) out->dim[i].base = (gr_str){0};
    if (n->dtype && n->dtype != actual->dtype) return mismatch(l, s, actual, "dtype");
    if (!n->shape_given) return true;
    if (n->shape_n != actual->rank) return mismatch(l, s, actual, "number of dimensions");
    bool ok = true;
    for (uint32_t i = 0; i < n->shape_n; i++) {
        const gr_canvas_dim *dim = &n->shape[i];
        if (dim->fixed && dim->n != actual->dim[i].n) return mismatch(l, s, actual, "size");
        if (dim->fixed) continue;
        ok = bind_symbol(l, s, i, dim->symbol, actual->dim[i].n) && ok;
        uint32_t at = 0;
        if (gr_map_get(&l->symbols, dim->symbol, &at)) out->dim[i] = (gr_dim){.n = actual->dim[i].n, .base = l->symbol.v[at].name};
    }
    return ok;
}

static bool type_as_declared(lowering *l, const gr_flow_step *s, gr_type *out) {
    const gr_canvas_node *n = s->source;
    if (!n->dtype || !n->shape_given)
        return gr_report(l->d, GR_D_GRAPH_INPUT_UNTYPED, s->at, "declare \"dtype\" and \"shape\", or give a file", "\"%.*s\" has no data and declares no %s", GR_STR_ARG(s->node), n->dtype ? "shape" : "dtype");
    *out = (gr_type){.dtype = n->dtype, .rank = n->shape_n};
    bool ok = true;
    for (uint32_t i = 0; i < n->shape_n; i++) {
        const gr_canvas_dim *dim = &n->shape[i];
        uint32_t at;
        if (dim->fixed) out->dim[i].n = dim->n;
        else if (gr_map_get(&l->symbols, dim->symbol, &at)) out->dim[i] = (gr_dim){.n = l->symbol.v[at].n, .base = l->symbol.v[at].name};
        else ok = gr_report(l->d, GR_D_GRAPH_SYMBOL_UNBOUND, s->at, "give an input that names it a file, or write its size", "nothing says how large \"%.*s\" of \"%.*s\" is", GR_STR_ARG(dim->symbol), GR_STR_ARG(s->node));
    }
    return ok;
}

static bool type_input(lowering *l, const gr_flow_step *s, bool with_data, gr_type *out) {
    uint32_t at = 0;
    uint64_t count;
    bool known = gr_map_get(&l->actual, s->node, &at);
    if (known != with_data) return true;
    if (known ? !type_from_data(l, s, &l->inputs[at].type, out) : !type_as_declared(l, s, out)) {
        out->dtype = GR_DTYPE_NONE;
        return !l->d->out_of_memory;
    }
    if (gr_type_count(out, &count)) return true;
    out->dtype = GR_DTYPE_NONE;
    gr_report(l->d, GR_D_GRAPH_INPUT_MISMATCH, s->at, "make it smaller", "\"%.*s\" has over 2^62 elements", GR_STR_ARG(s->node));
    return true;
}

/* Two rounds: first inputs with data, which size the symbols, then those that are only declared. */
static bool lower_inputs(lowering *l) {
    const gr_flow_seq *q = &l->f->main;
    gr_type *types = GR_NEW_N(l->scratch, gr_type, q->steps_n);
    if (!types) return gr_report_oom(l->d);
    for (uint32_t k = 0; k < 2 * q->steps_n; k++) {
        const gr_flow_step *s = &q->steps[k % q->steps_n];
        if (s->kind == GR_BLOCK_INPUT || s->kind == GR_BLOCK_PARAMETER) GR_TRY(type_input(l, s, k < q->steps_n, &types[k % q->steps_n]));
    }
    for (uint32_t i = 0; i < q->steps_n; i++) {
        const gr_flow_step *s = &q->steps[i];
        if (!types[i].dtype) continue;
        gr_value_id v = gr_graph_add_input(l->a, l->g, s->node, types[i], s->kind == GR_BLOCK_INPUT ? GR_SOURCE_INPUT : GR_SOURCE_PARAMETER);
        if (v == GR_NO_VALUE) return gr_report_oom(l->d);
        uint32_t at = 0;
        l->g->values[v].on_disk = gr_map_get(&l->actual, s->node, &at) && l->inputs[at].on_disk;
        l->env[s->results[0]] = v;
    }
    return true;
}

/* ---- steps ---------------------------------------------------------------------------- */

static bool lower_seq(lowering *l, const gr_flow_seq *q, gr_str path);

static gr_str local_id(gr_str path) {
    size_t i = path.n;
    while (i && path.p[i - 1] != '/') i--;
    return (gr_str){path.p + i, path.n - i};
}

/* Where this round of a body is: path + id of the step. */
static gr_str name_in(lowering *l, gr_str path, const gr_flow_step *s) {
    if (!path.n) return s->node;
    gr_str id = local_id(s->node);
    char *p = gr_arena_printf(l->a, "%.*s%.*s", GR_STR_ARG(path), GR_STR_ARG(id));
    return p ? gr_str_of(p) : (gr_str){0};
}

static bool too_large(lowering *l, const gr_flow_step *s) {
    return gr_report(l->d, GR_D_GRAPH_TOO_LARGE, s->at, "repeat fewer times", "unrolling takes over %d steps or %d values", STEPS_MAX, GR_GRAPH_VALUES_MAX);
}

static bool lower_constant(lowering *l, const gr_flow_step *s, gr_str path) {
    if (l->g->values_n >= GR_GRAPH_VALUES_MAX) return too_large(l, s);
    gr_str name = name_in(l, path, s);
    gr_value_id v = name.p ? gr_graph_add_constant(l->a, l->g, name, s->source->constant) : GR_NO_VALUE;
    if (v == GR_NO_VALUE) return gr_report_oom(l->d);
    l->env[s->results[0]] = v;
    return true;
}

/* A list, or a number, in which names of dimensions stand for their sizes: ["n", 64]. v itself when it has none. */
static const gr_value *with_sizes(lowering *l, const gr_value *v, int depth) {
    uint32_t at;
    if (v->kind == GR_V_STRING && gr_map_get(&l->symbols, v->s, &at)) return gr_value_new_i64(l->scratch, (int64_t)l->symbol.v[at].n);
    if (v->kind != GR_V_ARRAY || !depth) return v;
    bool named = false;
    for (uint32_t i = 0; i < v->array.n; i++) named = named || v->array.v[i]->kind == GR_V_STRING;
    gr_value *made = named ? gr_value_new(l->scratch, GR_V_ARRAY) : NULL;
    for (uint32_t i = 0; made && i < v->array.n; i++) {
        gr_value *x = (gr_value *)(uintptr_t)with_sizes(l, v->array.v[i], depth - 1);
        if (!x || !gr_value_push(l->scratch, made, x)) return NULL;
    }
    return named ? made : v;
}

/* Whether a parameter of the op is made of integers, so that a word in it can only be a dimension. */
static bool takes_sizes(const gr_op *op, gr_str name) {
    for (uint32_t i = 0; i < op->sig.params_n; i++) {
        gr_param_kind k = op->sig.params[i].kind;
        if (gr_str_eq(op->sig.params[i].name, name)) return k == GR_PARAM_U32 || k == GR_PARAM_I32 || k == GR_PARAM_U32_LIST || k == GR_PARAM_I32_LIST;
    }
    return false;
}

/* The parameters as the contract takes them; places are those of the step. */
static bool make_params(lowering *l, const gr_flow_step *s, gr_arg **out, uint32_t *n) {
    *n = s->params ? s->params->object.n : 0;
    *out = GR_NEW_N(l->scratch, gr_arg, *n);
    if (!*out) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < *n; i++) {
        const gr_member *m = &s->params->object.v[i];
        gr_place at = s->at;
        if (at.pointer.n) {
            char *p = gr_arena_printf(l->scratch, "%.*s/params/%.*s", GR_STR_ARG(at.pointer), GR_STR_ARG(m->key));
            if (p) at.pointer = gr_str_of(p);
        }
        const gr_value *value = takes_sizes(s->op, m->key) ? with_sizes(l, m->value, 1) : m->value;
        if (!value) return gr_report_oom(l->d);
        (*out)[i] = (gr_arg){.name = m->key, .value = value, .at = at};
    }
    return true;
}

static bool lower_op(lowering *l, const gr_flow_step *s, gr_str path) {
    gr_value_id *args = GR_NEW_N(l->scratch, gr_value_id, s->args_n);
    gr_arg *params;
    uint32_t params_n;
    if (!args) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < s->args_n; i++) {
        args[i] = s->args[i] == GR_FLOW_NONE ? GR_NO_VALUE : l->env[s->args[i]];
        if (s->args[i] != GR_FLOW_NONE && args[i] == GR_NO_VALUE) return true; /* it failed and was reported */
    }
    gr_str name = name_in(l, path, s);
    if (!name.p) return gr_report_oom(l->d);
    GR_TRY(make_params(l, s, &params, &params_n));
    if (!gr_graph_add_node(l->a, l->d, l->g, s->op, args, s->args_n, params, params_n, name, s->at, NULL)) return !l->d->out_of_memory && !gr_diags_has(l->d, GR_D_GRAPH_TOO_LARGE) && l->d->errors - l->errors_before < ERRORS_MAX;
    const gr_graph_node *n = &l->g->nodes[l->g->nodes_n - 1];
    if (s->results_n > n->call.outputs_n) {
        gr_report(l->d, GR_D_GRAPH_OUTPUT_INDEX, s->at, "link one of those there are; they are counted from 0", "\"%.*s\" gives %u tensors, a link takes number %u", GR_STR_ARG(s->node), n->call.outputs_n, s->results_n - 1);
        return true;
    }
    for (uint32_t i = 0; i < s->results_n; i++) l->env[s->results[i]] = n->results[i];
    return true;
}

/* ---- blocks with bodies ---- */

/* The body's inputs are what the ports bring now. */
static void bind_body(lowering *l, const gr_flow_seq *q, const gr_value_id *args, const gr_map *ports) {
    for (uint32_t i = 0; i < q->steps_n; i++) {
        uint32_t p = 0;
        if (q->steps[i].kind != GR_BLOCK_INPUT) continue;
        gr_map_get(ports, local_id(q->steps[i].node), &p);
        l->env[q->steps[i].results[0]] = args[p];
    }
}

static void read_body(lowering *l, const gr_flow_seq *q, const gr_map *outs, gr_value_id *results) {
    for (uint32_t i = 0; i < q->steps_n; i++) {
        uint32_t r = 0;
        if (q->steps[i].kind != GR_BLOCK_OUTPUT) continue;
        gr_map_get(outs, local_id(q->steps[i].node), &r);
        results[r] = l->env[q->steps[i].args[0]];
    }
}

typedef struct nest {
    gr_map ports, outs;
    gr_value_id *args, *results;
} nest;

static bool open_nest(lowering *l, const gr_flow_step *s, nest *n) {
    *n = (nest){.args = GR_NEW_N(l->scratch, gr_value_id, s->args_n), .results = GR_NEW_N(l->scratch, gr_value_id, s->results_n)};
    if (!n->args || !n->results) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < s->args_n; i++) {
        n->args[i] = l->env[s->args[i]];
        if (!gr_map_put(l->scratch, &n->ports, s->ports[i], i)) return gr_report_oom(l->d);
    }
    for (uint32_t i = 0; i < s->results_n; i++) {
        n->results[i] = GR_NO_VALUE;
        if (!gr_map_put(l->scratch, &n->outs, s->outs[i], i)) return gr_report_oom(l->d);
    }
    return true;
}

static bool run_body(lowering *l, const gr_flow_step *s, const gr_flow_seq *q, nest *n, gr_str path, const char *tail) {
    gr_str name = name_in(l, path, s);
    char *inner = name.p ? gr_arena_printf(l->a, "%.*s/%s", GR_STR_ARG(name), tail) : NULL;
    if (!inner) return gr_report_oom(l->d);
    bind_body(l, q, n->args, &n->ports);
    GR_TRY(lower_seq(l, q, gr_str_of(inner)));
    read_body(l, q, &n->outs, n->results);
    return true;
}

static bool lower_repeat(lowering *l, const gr_flow_step *s, nest *n, gr_str path) {
    for (uint32_t r = 0; r < s->results_n; r++)
        if (s->carry[r] != GR_FLOW_NONE) n->results[r] = n->args[s->carry[r]];
    for (int64_t i = 0; i < s->count; i++) {
        char tail[32];
        snprintf(tail, sizeof tail, "%lld/", (long long)i);
        GR_TRY(run_body(l, s, s->body, n, path, tail));
        for (uint32_t r = 0; r < s->results_n; r++)
            if (s->carry[r] != GR_FLOW_NONE) n->args[s->carry[r]] = n->results[r];
        if (l->steps++ > STEPS_MAX) return too_large(l, s);
    }
    return true;
}

/* Which side: 1 then, 0 else, -1 reported, or the question failed. */
static int side_of(lowering *l, const gr_flow_step *s) {
    if (s->condition == GR_FLOW_NONE) return s->taken;
    gr_value_id v = l->env[s->condition];
    if (v == GR_NO_VALUE) return -1;
    const gr_graph_value *x = &l->g->values[v];
    uint64_t count = 0;
    if (x->type.dtype != GR_DTYPE_BOOL || !gr_type_count(&x->type, &count) || count != 1) {
        gr_report(l->d, GR_D_FLOW_BRANCH_NOT_BOOL, s->at, "ask a constant with the value true or false", "the branch \"%.*s\" asks %%%.*s, which is no single boolean", GR_STR_ARG(s->node), GR_STR_ARG(x->name));
        return -1;
    }
    if (x->source == GR_SOURCE_CONSTANT) return gr_array_get_i64(&x->constant, 0) != 0;
    gr_report(l->d, GR_D_FLOW_BRANCH_NOT_STATIC, s->at, "make it a constant block, or compute both sides and select between them with an op",
              "the branch \"%.*s\" asks %%%.*s, which is known only at run time", GR_STR_ARG(s->node), GR_STR_ARG(x->name));
    return -1;
}

static bool lower_nest(lowering *l, const gr_flow_step *s, gr_str path) {
    nest n;
    bool ok = open_nest(l, s, &n);
    int side = ok && s->kind == GR_BLOCK_BRANCH ? side_of(l, s) : 1;
    if (ok && s->kind == GR_BLOCK_REPEAT) ok = lower_repeat(l, s, &n, path);
    else if (ok && s->kind == GR_BLOCK_CALL) ok = run_body(l, s, s->body, &n, path, "");
    else if (ok && side >= 0) ok = run_body(l, s, side ? s->body : s->other, &n, path, side ? "then/" : "else/");
    for (uint32_t i = 0; ok && i < s->results_n; i++) l->env[s->results[i]] = n.results[i];
    return ok;
}

static bool lower_output(lowering *l, const gr_flow_step *s) {
    gr_value_id v = l->env[s->args[0]];
    return v == GR_NO_VALUE || gr_graph_add_output(l->a, l->g, s->node, v) || gr_report_oom(l->d);
}

static bool lower_seq(lowering *l, const gr_flow_seq *q, gr_str path) {
    for (uint32_t i = 0; i < q->steps_n; i++) {
        const gr_flow_step *s = &q->steps[i];
        if (l->steps++ > STEPS_MAX) return too_large(l, s);
        switch (s->kind) {
        case GR_BLOCK_INPUT:
        case GR_BLOCK_PARAMETER: break; /* bound before */
        case GR_BLOCK_CONSTANT: GR_TRY(lower_constant(l, s, path)); break;
        case GR_BLOCK_OUTPUT: if (!path.n) GR_TRY(lower_output(l, s)); break;
        case GR_BLOCK_OP: GR_TRY(lower_op(l, s, path)); break;
        case GR_BLOCK_REPEAT:
        case GR_BLOCK_BRANCH:
        case GR_BLOCK_CALL: GR_TRY(lower_nest(l, s, path)); break;
        case GR_BLOCK_TRAIN:
        case GR_BLOCK_NONE: return GR_BUG(l->d, "F8", "step \"%.*s\" has no kind", GR_STR_ARG(s->node));
        }
    }
    return true;
}

bool gr_flow_lower(gr_arena *a, gr_diags *d, const gr_flow *f, const gr_catalog *catalog,
                   const gr_input_type *inputs, uint32_t inputs_n, gr_graph *out) {
    gr_arena scratch = {0};
    *out = (gr_graph){.document = f->document, .name = f->name, .tier = f->tier, .tolerance = f->tolerance, .guarantee = f->guarantee,
                      .seed = f->seed, .budget_gpu = f->budget_gpu, .budget_cpu = f->budget_cpu, .budget_cpu_seconds = f->budget_cpu_seconds};
    lowering l = {.a = a, .scratch = &scratch, .d = d, .f = f, .catalog = catalog, .g = out, .inputs = inputs, .errors_before = d->errors, .env = GR_NEW_N(&scratch, gr_value_id, f->values_n)};
    uint32_t errors = d->errors;
    bool ok = l.env || gr_report_oom(d);
    for (uint32_t i = 0; ok && i < f->values_n; i++) l.env[i] = GR_NO_VALUE;
    for (uint32_t i = 0; ok && i < inputs_n; i++) ok = gr_map_put(&scratch, &l.actual, inputs[i].node, i) || gr_report_oom(d);
    ok = ok && lower_inputs(&l) && lower_seq(&l, &f->main, GR_STR(""));
    out->symbols = l.symbol.v;
    out->symbols_n = l.symbol.n;
    gr_arena_free(&scratch);
    return ok && d->errors == errors && !d->out_of_memory;
}
