/* gradcheck_function.c: a call as a function of tensors, with its gradient beside it. */
#include "regime/gradcheck_int.h"

#include <stdio.h>

static bool stopped(const gr_op *op, uint32_t operand) {
    for (uint32_t i = 0; i < op->backward.stops_n; i++)
        if (gr_str_eq(op->backward.stops[i], op->sig.operands[operand].name)) return true;
    return false;
}

/* The operand of the signature that a flattened one belongs to. */
static uint32_t operand_of(const gr_call *c, uint32_t i) {
    uint32_t o = 0;
    while (o + 1 < c->op->sig.operands_n && c->operand_first[o + 1] <= i) o++;
    return o;
}

static void name_operand(const gr_call *c, uint32_t i, char *out, size_t size) {
    uint32_t o = operand_of(c, i);
    const gr_sig_tensor *t = &c->op->sig.operands[o];
    if (t->variadic) snprintf(out, size, "%.*s[%u]", GR_STR_ARG(t->name), i - c->operand_first[o]);
    else snprintf(out, size, "%.*s", GR_STR_ARG(t->name));
}

static void name_output(const gr_call *c, uint32_t i, char *out, size_t size) {
    const gr_sig *s = &c->op->sig;
    if (s->outputs_n == 1 && s->outputs[0].variadic) snprintf(out, size, "%.*s[%u]", GR_STR_ARG(s->outputs[0].name), i);
    else snprintf(out, size, "%.*s", GR_STR_ARG(s->outputs[i < s->outputs_n ? i : s->outputs_n - 1].name));
}

static bool add_input(gr_arena *a, gr_graph *g, char letter, uint32_t i, gr_type type, gr_value_id *out) {
    char name[16];
    snprintf(name, sizeof name, "%c%u", letter, i);
    *out = gr_graph_add_input(a, g, gr_str_of(name), type, GR_SOURCE_INPUT);
    return *out != GR_NO_VALUE;
}

static bool add_output(gr_arena *a, gr_graph *g, char letter, uint32_t i, gr_value_id v) {
    char name[16];
    snprintf(name, sizeof name, "%c%u", letter, i);
    return gr_graph_add_output(a, g, gr_str_of(name), v);
}

typedef struct maker {
    gr_arena *a;
    gr_diags *d;
    const gr_catalog *catalog;
    gr_gc_function *f;
    gr_value_id x[RUN_TENSORS], y[RUN_TENSORS]; /* in forward; GR_NO_VALUE: absent */
} maker;

/* Outputs that are no floats carry no derivative and are left out. */
static bool call_graph(maker *m, const gr_case *c) {
    gr_gc_function *f = m->f;
    const gr_call *call = &c->call;
    gr_value_id results[RUN_TENSORS];
    f->forward = (gr_graph){.name = GR_STR("gradcheck"), .document = call->op->id, .tier = GR_TIER_DEBUG};
    f->x_n = call->operands_n;
    for (uint32_t i = 0; i < call->operands_n; i++) {
        gr_gc_tensor *t = &f->x[i];
        const gr_type *type = &call->operands[i];
        m->x[i] = GR_NO_VALUE;
        if (type->dtype == GR_DTYPE_NONE) continue;
        *t = (gr_gc_tensor){.type = *type, .role = !gr_dtype_is_float(type->dtype) ? GC_FIXED : stopped(call->op, operand_of(call, i)) ? GC_STOPPED : GC_CHECKED};
        gr_type_count(type, &t->n);
        name_operand(call, i, t->name, sizeof t->name);
        if (!add_input(m->a, &f->forward, 'x', i, *type, &m->x[i])) return gr_report_oom(m->d);
    }
    GR_TRY(gr_graph_add_node(m->a, m->d, &f->forward, call->op, m->x, call->operands_n, c->args, c->args_n, GR_STR("op"), (gr_place){0}, results));
    for (uint32_t i = 0; i < call->outputs_n; i++) {
        const gr_type *type = &call->outputs[i];
        if (!gr_dtype_is_float(type->dtype)) continue;
        gr_gc_tensor *t = &f->y[f->y_n];
        *t = (gr_gc_tensor){.type = *type, .role = GC_CHECKED};
        gr_type_count(type, &t->n);
        name_output(call, i, t->name, sizeof t->name);
        m->y[f->y_n] = results[i];
        if (!add_output(m->a, &f->forward, 'y', f->y_n, results[i])) return gr_report_oom(m->d);
        f->y_n++;
    }
    return true;
}

static void first_complaint(gr_arena *a, const gr_diags *d, gr_str *why) {
    *why = d->list.n ? gr_str_dup(a, d->list.v[0].message) : GR_STR("the gradient could not be made");
}

/* The forward graph with cotangents as further inputs, then the gradient after it; of its outputs the gradients alone. gradients by x. */
static bool gradient_graph(maker *m, gr_graph *out, gr_value_id *gradients, gr_str *why) {
    gr_gc_function *f = m->f;
    gr_graph with = f->forward;
    gr_gradient_seed seed[RUN_TENSORS];
    gr_value_id wrt[RUN_TENSORS], made[RUN_TENSORS];
    uint32_t n = 0;
    with.values_cap = with.values_n, with.nodes_cap = with.nodes_n, with.outputs_cap = with.outputs_n; /* forward keeps its own arrays */
    with.names = (struct gr_graph_names){0};
    for (uint32_t i = 0; i < f->y_n; i++) {
        seed[i].value = m->y[i];
        if (!add_input(m->a, &with, 'c', i, f->y[i].type, &seed[i].cotangent)) return gr_report_oom(m->d);
    }
    for (uint32_t i = 0; i < f->x_n; i++)
        if (f->x[i].role == GC_CHECKED) wrt[n++] = m->x[i];
    gr_diags own;
    gr_diags_init(&own);
    bool ok = gr_graph_opt_gradient(m->a, &own, &with, m->catalog, seed, f->y_n, wrt, n, out, made);
    if (!ok) first_complaint(m->a, &own, why);
    gr_diags_free(&own);
    GR_TRY(ok);
    for (uint32_t v = with.values_n; v < out->values_n && f->lossless; v++)
        if (out->values[v].type.dtype == GR_DTYPE_F16) return *why = GR_STR("the backward of a call in f32 goes through f16"), false;
    out->outputs = NULL;
    out->outputs_n = out->outputs_cap = 0;
    n = 0;
    for (uint32_t i = 0; i < f->x_n; i++) {
        gradients[i] = f->x[i].role == GC_CHECKED ? made[n++] : GR_NO_VALUE;
        if (gradients[i] != GR_NO_VALUE && !add_output(m->a, out, 'x', i, gradients[i])) return gr_report_oom(m->d);
    }
    return true;
}

/* The gradient becomes the function: its inputs are operands and cotangents, its outputs the gradients. */
static bool promote(maker *m, const gr_graph *gradient, const gr_value_id *gradients) {
    gr_gc_function *f = m->f, old = *f;
    f->forward = *gradient;
    f->forward.outputs = NULL;
    f->forward.outputs_n = f->forward.outputs_cap = 0;
    for (uint32_t v = 0; v < gradient->values_n; v++) {
        gr_str name = gradient->values[v].input;
        if (gradient->values[v].source != GR_SOURCE_INPUT || name.n < 2) continue;
        uint32_t i = 0;
        for (size_t k = 1; k < name.n; k++) i = 10 * i + (uint32_t)(name.p[k] - '0');
        uint32_t to = name.p[0] == 'x' ? i : old.x_n + i;
        if (to >= RUN_TENSORS) return GR_BUG(m->d, "R7", "too many tensors for a second derivative");
        char *now = gr_arena_printf(m->a, "x%u", to);
        if (!now) return gr_report_oom(m->d);
        f->forward.values[v].input = gr_str_of(now);
        m->x[to] = v;
        if (name.p[0] != 'c') continue;
        f->x[to] = old.y[i];
        snprintf(f->x[to].name, sizeof f->x[to].name, "d_%.37s", old.y[i].name);
    }
    f->x_n = old.x_n + old.y_n;
    f->y_n = 0;
    for (uint32_t i = 0; i < old.x_n; i++) {
        if (gradients[i] == GR_NO_VALUE) continue;
        gr_gc_tensor *t = &f->y[f->y_n];
        *t = old.x[i];
        snprintf(t->name, sizeof t->name, "d_%.37s", old.x[i].name);
        m->y[f->y_n] = gradients[i];
        if (!add_output(m->a, &f->forward, 'y', f->y_n, gradients[i])) return gr_report_oom(m->d);
        f->y_n++;
    }
    return true;
}

bool gr_gc_function_make(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_case *c, bool second, gr_gc_function *out, gr_str *why) {
    maker m = {.a = a, .d = d, .catalog = catalog, .f = out};
    gr_value_id gradients[RUN_TENSORS];
    *out = (gr_gc_function){.lossless = c->call.op->category != GR_CATEGORY_LOSSY};
    *why = (gr_str){0};
    GR_TRY(call_graph(&m, c) && gradient_graph(&m, &out->gradient, gradients, why));
    if (!second) return true;
    gr_graph *first = GR_NEW(a, gr_graph);
    if (!first) return gr_report_oom(d);
    *first = out->gradient;
    return promote(&m, first, gradients) && gradient_graph(&m, &out->gradient, gradients, why);
}
