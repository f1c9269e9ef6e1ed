/* gradient.c: the outputs that gr_compile_desc asks to differentiate become further outputs of the graph. */
#include "api/session.h"

typedef struct asking {
    gr_program *p;
    const gr_compile_desc *desc;
    bool ones; /* an output of several elements takes ones for its cotangent */
} asking;

static gr_arena *arena(const asking *q) { return &q->p->arena[GR_RUNG_GRAPH]; }
static gr_diags *diags(const asking *q) { return &q->p->session->diags; }

static bool find_output(const asking *q, const char *name, gr_value_id *out) {
    const gr_graph *g = &q->p->drawn;
    for (uint32_t i = 0; i < g->outputs_n; i++) {
        if (!gr_str_eqz(g->outputs[i].name, name)) continue;
        *out = g->outputs[i].value;
        return true;
    }
    gr_report(diags(q), GR_D_GRAPH_NAME_UNKNOWN, (gr_place){.document = q->p->document}, NULL, "there is no output \"%s\" to differentiate", name);
    if (g->outputs_n) gr_report_hint(diags(q), "for example \"%.*s\"", GR_STR_ARG(g->outputs[0].name));
    return false;
}

static bool is_source(const gr_graph_value *v) { return v->source == GR_SOURCE_INPUT || v->source == GR_SOURCE_PARAMETER; }

static bool find_input(const asking *q, const char *name, gr_value_id *out) {
    const gr_graph *g = &q->p->drawn;
    for (gr_value_id v = 0; v < g->values_n; v++) {
        if (!is_source(&g->values[v]) || !gr_str_eqz(g->values[v].input, name)) continue;
        *out = v;
        return true;
    }
    return gr_report(diags(q), GR_D_GRAPH_NAME_UNKNOWN, (gr_place){.document = q->p->document}, "name an input or a parameter", "there is no input \"%s\" to differentiate by", name);
}

static gr_str prefixed(const asking *q, gr_str name) {
    char *p = gr_arena_printf(arena(q), "d_%.*s", GR_STR_ARG(name));
    return p ? gr_str_of(p) : (gr_str){0};
}

static bool is_listed(const char *const *list, unsigned n, const char *name) {
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(list[i], name)) return true;
    return false;
}

/* An input "d_NAME" with the type of the output. */
static bool add_cotangent(asking *q, const char *name, gr_value_id of, gr_value_id *out) {
    gr_graph *g = &q->p->drawn;
    gr_str input = prefixed(q, gr_str_of(name));
    if (!input.p) return gr_report_oom(diags(q));
    for (gr_value_id v = 0; v < g->values_n; v++)
        if (is_source(&g->values[v]) && gr_str_eq(g->values[v].input, input))
            return gr_report(diags(q), GR_D_GRAPH_NAME_TWICE, (gr_place){.document = q->p->document}, "rename the input", "the cotangent of \"%s\" would be an input %.*s, and there is one", name, GR_STR_ARG(input));
    *out = gr_graph_add_input(arena(q), g, input, g->values[of].type, GR_SOURCE_INPUT);
    return *out != GR_NO_VALUE || gr_report_oom(diags(q));
}

/* A constant of ones for an output of several elements. */
static bool add_ones(asking *q, const char *name, gr_value_id of, gr_value_id *out) {
    gr_graph *g = &q->p->drawn;
    const gr_type t = g->values[of].type;
    uint64_t dims[GR_RANK_MAX], n;
    gr_array x;
    *out = GR_NO_VALUE;
    if (!gr_dtype_is_float(t.dtype) || !gr_type_count(&t, &n) || n == 1) return true;
    for (uint32_t i = 0; i < t.rank; i++) dims[i] = t.dim[i].n;
    GR_TRY(gr_array_new(arena(q), diags(q), t.dtype, dims, t.rank, &x));
    for (uint64_t i = 0; i < n; i++) gr_array_set_f64(&x, i, 1);
    *out = gr_graph_add_constant(arena(q), g, prefixed(q, gr_str_of(name)), x);
    return *out != GR_NO_VALUE || gr_report_oom(diags(q));
}

static bool collect_seeds(asking *q, gr_gradient_seed *seeds) {
    const gr_compile_desc *d = q->desc;
    for (unsigned i = 0; i < d->gradient_n; i++) {
        GR_TRY(find_output(q, d->gradient[i], &seeds[i].value));
        seeds[i].cotangent = GR_NO_VALUE;
        if (is_listed(d->cotangent, d->cotangent_n, d->gradient[i])) GR_TRY(add_cotangent(q, d->gradient[i], seeds[i].value, &seeds[i].cotangent));
        else if (q->ones) GR_TRY(add_ones(q, d->gradient[i], seeds[i].value, &seeds[i].cotangent));
    }
    for (unsigned i = 0; i < d->cotangent_n; i++)
        if (!is_listed(d->gradient, d->gradient_n, d->cotangent[i]))
            return gr_report(diags(q), GR_D_GRAPH_NAME_UNKNOWN, (gr_place){.document = q->p->document}, "ask for its gradient too", "a cotangent is given for \"%s\", which is not differentiated", d->cotangent[i]);
    return true;
}

/* Those named, or every float that was there before cotangents were added. */
static bool collect_wrt(asking *q, uint32_t values_n, gr_value_id **out, uint32_t *n) {
    const gr_graph *g = &q->p->drawn;
    *out = GR_NEW_N(arena(q), gr_value_id, q->desc->wrt_n + values_n);
    *n = 0;
    if (!*out) return gr_report_oom(diags(q));
    for (unsigned i = 0; i < q->desc->wrt_n; i++) GR_TRY(find_input(q, q->desc->wrt[i], &(*out)[(*n)++]));
    for (gr_value_id v = 0; v < values_n && !q->desc->wrt_n; v++)
        if (is_source(&g->values[v]) && gr_dtype_is_float(g->values[v].type.dtype)) (*out)[(*n)++] = v;
    return true;
}

bool gr_program_differentiate(gr_program *p, const gr_compile_desc *desc, bool ones) {
    asking q = {p, desc, ones};
    gr_graph *g = GR_NEW(arena(&q), gr_graph);
    gr_gradient_seed *seeds = GR_NEW_N(arena(&q), gr_gradient_seed, desc->gradient_n);
    gr_value_id *wrt, *made;
    uint32_t n, before = p->drawn.values_n;
    if (!g || !seeds) return gr_report_oom(diags(&q));
    GR_TRY(collect_seeds(&q, seeds) && collect_wrt(&q, before, &wrt, &n));
    made = GR_NEW_N(arena(&q), gr_value_id, n);
    if (!made) return gr_report_oom(diags(&q));
    GR_TRY(gr_graph_opt_gradient(arena(&q), diags(&q), &p->drawn, p->session->catalog, seeds, desc->gradient_n, wrt, n, g, made));
    for (uint32_t i = 0; i < n; i++) {
        gr_str name = prefixed(&q, g->values[wrt[i]].input);
        for (uint32_t o = 0; o < g->outputs_n; o++)
            if (gr_str_eq(g->outputs[o].name, name))
                return gr_report(diags(&q), GR_D_GRAPH_NAME_TWICE, (gr_place){.document = p->document}, "rename the output", "the gradient by \"%.*s\" would be an output %.*s, and there is one", GR_STR_ARG(g->values[wrt[i]].input), GR_STR_ARG(name));
        if (!name.p || !gr_graph_add_output(arena(&q), g, name, made[i])) return gr_report_oom(diags(&q));
    }
    p->drawn = *g;
    return true;
}
