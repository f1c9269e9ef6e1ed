#include "base/lex.h"
#include "ladder/flow/head.h"
#include "ladder/graph/graph_int.h"

static void print_value(gr_buf *out, const gr_graph *g, gr_value_id v) {
    if (v == GR_NO_VALUE) gr_buf_putc(out, '_');
    else gr_buf_printf(out, "%%%.*s", GR_STR_ARG(g->values[v].name));
}

static void print_element(gr_buf *out, const gr_array *x, uint64_t i) {
    switch (x->dtype) {
    case GR_DTYPE_BOOL: gr_buf_puts(out, gr_array_get_i64(x, i) ? "true" : "false"); break;
    case GR_DTYPE_F32: gr_buf_f32(out, (float)gr_array_get_f64(x, i)); break;
    case GR_DTYPE_F16:
    case GR_DTYPE_F64: gr_buf_f64(out, gr_array_get_f64(x, i)); break;
    case GR_DTYPE_U64: gr_buf_printf(out, "%llu", (unsigned long long)(uint64_t)gr_array_get_i64(x, i)); break;
    default: gr_buf_printf(out, "%lld", (long long)gr_array_get_i64(x, i)); break;
    }
}

/* One element stands for all when they are the same bits. */
static bool all_same(const gr_array *x, uint64_t n) {
    size_t size = gr_dtype_size(x->dtype);
    for (uint64_t i = 1; i < n; i++)
        if (memcmp((const char *)x->data + i * size, x->data, size) != 0) return false;
    return n > 0;
}

static void print_constant(gr_buf *out, const gr_array *x) {
    uint64_t n = gr_array_count(x);
    if (all_same(x, n)) {
        print_element(out, x, 0);
        return;
    }
    gr_buf_putc(out, '[');
    for (uint64_t i = 0; i < n; i++) {
        if (i) gr_buf_puts(out, ", ");
        print_element(out, x, i);
    }
    gr_buf_putc(out, ']');
}

static void print_source(gr_buf *out, const gr_graph *g, gr_value_id v) {
    const gr_graph_value *x = &g->values[v];
    gr_buf_puts(out, "  ");
    print_value(out, g, v);
    if (x->source == GR_SOURCE_CONSTANT) {
        gr_buf_puts(out, " = constant ");
        print_constant(out, &x->constant);
    } else {
        gr_buf_printf(out, " = %s ", x->source == GR_SOURCE_INPUT ? "input" : x->source == GR_SOURCE_STATE ? "state" : "parameter");
        gr_json_string(out, x->input);
    }
    gr_buf_puts(out, " : ");
    gr_type_print(out, &x->type);
    gr_buf_puts(out, x->on_disk ? " stream\n" : "\n");
}

static void print_param(gr_buf *out, const gr_param *p) {
    switch (p->kind) {
    case GR_PARAM_BOOL: gr_buf_puts(out, p->i ? "true" : "false"); break;
    case GR_PARAM_F32: gr_buf_f32(out, (float)p->f); break;
    case GR_PARAM_ENUM:
    case GR_PARAM_DTYPE: gr_name_print(out, p->word); break;
    case GR_PARAM_U32_LIST:
    case GR_PARAM_I32_LIST:
    case GR_PARAM_F32_LIST:
        gr_buf_putc(out, '[');
        for (uint32_t i = 0; i < p->n; i++) {
            if (i) gr_buf_puts(out, ", ");
            if (p->kind == GR_PARAM_F32_LIST) gr_buf_f32(out, (float)p->lf[i]);
            else gr_buf_printf(out, "%lld", (long long)p->li[i]);
        }
        gr_buf_putc(out, ']');
        break;
    case GR_PARAM_U32:
    case GR_PARAM_I32:
    case GR_PARAM_NONE: gr_buf_printf(out, "%lld", (long long)p->i); break;
    }
}

/* "%y = add@1 %a, %b w=7 : f32[4] @ node "y"": parameters as given, types of all results. */
static void print_node(gr_buf *out, const gr_graph *g, const gr_graph_node *n) {
    const gr_call *c = &n->call;
    if (!c->outputs_n) gr_buf_puts(out, "  ()");
    for (uint32_t i = 0; i < c->outputs_n; i++) {
        gr_buf_puts(out, i ? ", " : "  ");
        print_value(out, g, n->results[i]);
    }
    gr_buf_printf(out, " = %.*s", GR_STR_ARG(c->op->id));
    for (uint32_t i = 0; i < c->operands_n; i++) {
        gr_buf_puts(out, i ? ", " : " ");
        print_value(out, g, n->args[i]);
    }
    for (uint32_t i = 0; i < c->op->sig.params_n; i++) {
        if (!c->params[i].given) continue;
        gr_buf_printf(out, " %.*s=", GR_STR_ARG(c->op->sig.params[i].name));
        print_param(out, &c->params[i]);
    }
    for (uint32_t i = 0; i < c->outputs_n; i++) {
        gr_buf_puts(out, i ? ", " : " : "); /* none for no results */
        if (n->results[i] == GR_NO_VALUE) gr_buf_putc(out, '_');
        else gr_type_print(out, &g->values[n->results[i]].type);
    }
    gr_buf_puts(out, " @ node ");
    gr_json_string(out, n->node);
    for (uint32_t i = 0; i < n->also_n; i++) {
        gr_buf_puts(out, ", ");
        gr_json_string(out, n->also[i]);
    }
    if (n->backward) gr_buf_puts(out, " backward");
    if (n->again) gr_buf_printf(out, " again %u", n->again);
    gr_buf_putc(out, '\n');
}

void gr_graph_print(gr_buf *out, const gr_graph *g) {
    gr_head h = {.document = g->document, .tier = g->tier, .tolerance = g->tolerance, .guarantee = g->guarantee, .seed = g->seed,
                 .budget_gpu = g->budget_gpu, .budget_cpu = g->budget_cpu, .budget_cpu_seconds = g->budget_cpu_seconds};
    gr_buf_puts(out, "graph ");
    gr_name_print(out, g->name);
    gr_buf_puts(out, " {\n");
    gr_head_print(out, &h);
    for (uint32_t i = 0; i < g->symbols_n; i++) gr_buf_printf(out, "  symbol %.*s = %llu\n", GR_STR_ARG(g->symbols[i].name), (unsigned long long)g->symbols[i].n);
    gr_buf_putc(out, '\n');
    for (gr_value_id v = 0; v < g->values_n; v++)
        if (g->values[v].source != GR_SOURCE_NODE) print_source(out, g, v);
    for (uint32_t i = 0; i < g->nodes_n; i++) print_node(out, g, &g->nodes[i]);
    for (uint32_t i = 0; i < g->outputs_n; i++) {
        gr_buf_puts(out, "  output ");
        gr_json_string(out, g->outputs[i].name);
        gr_buf_putc(out, ' ');
        print_value(out, g, g->outputs[i].value);
        gr_buf_putc(out, '\n');
    }
    gr_buf_puts(out, "}\n");
}
