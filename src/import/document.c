/* document.c: the workflow document: a block a line, then the links. */
#include "import/import_int.h"

#include <stdio.h>

enum { ID_MAX = 64, INLINE_MAX = 16 };

typedef struct writer {
    importer *m;
    gr_map ids;
    gr_buf nodes, links;
    GR_VEC(gr_named_array) weights;
    gr_map weight_names;
    uint32_t nodes_n;
} writer;

/* ---- names -------------------------------------------------------------------------------------------------- */

/* A name as an id of a block: letters, digits, _ and -, at most 64, no one's yet. */
static gr_str new_id(writer *w, gr_str name) {
    char base[ID_MAX + 1], id[ID_MAX + 16];
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < ID_MAX - 8; i++) {
        char c = name.p[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c == '-' && n);
        if (fine || n) base[n++] = fine ? c : '_';
    }
    while (n > 1 && base[n - 1] == '_') n--;
    if (!n) base[n++] = 'v';
    base[n] = 0;
    snprintf(id, sizeof id, "%s", base);
    for (uint32_t k = 2; gr_map_get(&w->ids, gr_str_of(id), NULL); k++) snprintf(id, sizeof id, "%s_%u", base, k);
    gr_str s = gr_str_dup(w->m->a, gr_str_of(id));
    if (!s.p || !gr_map_put(w->m->a, &w->ids, s, 0)) gr_report_oom(w->m->d);
    return s;
}

static void begin(writer *w, gr_str id, gr_str label) {
    gr_buf_puts(&w->nodes, w->nodes_n++ ? ",\n    {\"id\": " : "    {\"id\": ");
    gr_json_string(&w->nodes, id);
    if (label.n && !gr_str_eq(id, label)) gr_buf_puts(&w->nodes, ", \"label\": "), gr_json_string(&w->nodes, label);
}

static void put_shape(gr_buf *b, const gr_type *t) {
    gr_buf_printf(b, ", \"dtype\": \"%s\", \"shape\": [", gr_dtype_name(t->dtype));
    for (uint32_t i = 0; i < t->rank; i++) gr_buf_printf(b, "%s%llu", i ? ", " : "", (unsigned long long)t->dim[i].n);
    gr_buf_putc(b, ']');
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static void put_float(gr_buf *b, double v, bool single) {
    if (v != v || v - v != 0) gr_buf_puts(b, v != v ? "\"nan\"" : v > 0 ? "\"inf\"" : "\"-inf\"");
    else if (single) gr_buf_f32(b, (float)v);
    else gr_buf_f64(b, v);
}

static void put_element(gr_buf *b, const gr_array *x, uint64_t i) {
    if (x->dtype == GR_DTYPE_BOOL) gr_buf_puts(b, gr_array_get_i64(x, i) ? "true" : "false");
    else if (gr_dtype_is_float(x->dtype)) put_float(b, gr_array_get_f64(x, i), x->dtype == GR_DTYPE_F32);
    else gr_array_print_element(b, x, i);
}

static void put_nested(gr_buf *b, const gr_array *x, uint32_t axis, uint64_t *at) {
    if (axis == x->rank) {
        put_element(b, x, (*at)++);
        return;
    }
    gr_buf_putc(b, '[');
    for (uint64_t i = 0; i < x->dims[axis]; i++) {
        if (i) gr_buf_puts(b, ", ");
        put_nested(b, x, axis + 1, at);
    }
    gr_buf_putc(b, ']');
}

/* A name for an array in the weights' file: the value's, or with a number. */
static gr_str weight_name(writer *w, gr_str name) {
    gr_str s = name.n ? name : GR_STR("value");
    for (uint32_t k = 2; gr_map_get(&w->weight_names, s, NULL); k++) s = gr_str_of(gr_arena_printf(w->m->a, "%.*s_%u", GR_STR_ARG(name), k));
    if (!gr_map_put(w->m->a, &w->weight_names, s, 0)) gr_report_oom(w->m->d);
    return s;
}

/* Weights that can be trained are parameters; other arrays are inputs with a file. */
static bool put_array(writer *w, value *v) {
    gr_named_array *to = GR_PUSH(w->m->a, &w->weights);
    if (!to) return gr_report_oom(w->m->d);
    *to = (gr_named_array){weight_name(w, v->name), *v->known};
    bool trained = v->from == FROM_WEIGHT && gr_dtype_is_float(v->type.dtype);
    gr_buf_printf(&w->nodes, ", \"block\": \"%s\", \"file\": ", trained ? "parameter" : "input");
    gr_buf file = {0};
    gr_buf_printf(&file, "%.*s#%.*s", GR_STR_ARG(w->m->o->weights), GR_STR_ARG(to->name));
    gr_json_string(&w->nodes, gr_buf_view(&file));
    gr_buf_free(&file);
    put_shape(&w->nodes, &v->type);
    gr_buf_putc(&w->nodes, '}');
    return true;
}

static bool put_value(writer *w, value *v) {
    if (v->from == FROM_OP || !v->live) return true;
    uint64_t at = 0, count = 1;
    for (uint32_t i = 0; i < v->type.rank; i++) count *= v->type.dim[i].n;
    v->id = new_id(w, v->name);
    begin(w, v->id, v->name);
    if (v->from == FROM_INPUT) {
        gr_buf_puts(&w->nodes, ", \"block\": \"input\"");
        put_shape(&w->nodes, &v->type);
        gr_buf_putc(&w->nodes, '}');
        return true;
    }
    if (v->from == FROM_WEIGHT || count > INLINE_MAX || count == 0) return put_array(w, v);
    gr_buf_puts(&w->nodes, ", \"block\": \"constant\", \"value\": ");
    put_nested(&w->nodes, v->known, 0, &at);
    gr_buf_printf(&w->nodes, ", \"dtype\": \"%s\"}", gr_dtype_name(v->type.dtype));
    return true;
}

/* ---- calls -------------------------------------------------------------------------------------------------------- */

bool import_param_is_written(const gr_param *p) { return p->given; }

void import_print_param(gr_buf *b, const gr_param *p) {
    bool list = p->kind >= GR_PARAM_U32_LIST;
    if (list) gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < (list ? p->n : 1); i++) {
        if (i) gr_buf_puts(b, ", ");
        if (p->kind == GR_PARAM_F32 || p->kind == GR_PARAM_F32_LIST) put_float(b, list ? p->lf[i] : p->f, true);
        else if (p->kind == GR_PARAM_BOOL) gr_buf_puts(b, p->i ? "true" : "false");
        else if (p->kind == GR_PARAM_ENUM || p->kind == GR_PARAM_DTYPE) gr_json_string(b, p->word);
        else gr_buf_printf(b, "%lld", (long long)(list ? p->li[i] : p->i));
    }
    if (list) gr_buf_putc(b, ']');
}

static void put_call(writer *w, call *c) {
    const gr_sig *s = &c->op->sig;
    bool any = false;
    c->id = new_id(w, c->name.n ? c->name : c->op->name);
    begin(w, c->id, (gr_str){0});
    gr_buf_puts(&w->nodes, ", \"op\": ");
    gr_json_string(&w->nodes, c->op->id);
    for (uint32_t i = 0; i < s->params_n; i++) {
        if (!import_param_is_written(&c->resolved.params[i])) continue;
        gr_buf_puts(&w->nodes, any ? ", " : ", \"params\": {");
        any = true;
        gr_json_string(&w->nodes, s->params[i].name);
        gr_buf_puts(&w->nodes, ": ");
        import_print_param(&w->nodes, &c->resolved.params[i]);
    }
    gr_buf_puts(&w->nodes, any ? "}}" : "}");
}

/* Where a value comes from, as a link says it. */
static gr_str source_of(writer *w, uint32_t i) {
    const value *v = &w->m->values.v[i];
    if (v->from != FROM_OP) return v->id;
    const call *c = &w->m->calls.v[v->call];
    const gr_sig *s = &c->op->sig;
    if (s->outputs_n == 1 && !s->outputs[0].variadic) return c->id;
    const char *z = s->outputs[0].variadic ? gr_arena_printf(w->m->a, "%.*s.%.*s.%u", GR_STR_ARG(c->id), GR_STR_ARG(s->outputs[0].name), v->port)
                                           : gr_arena_printf(w->m->a, "%.*s.%.*s", GR_STR_ARG(c->id), GR_STR_ARG(s->outputs[v->port].name));
    return gr_str_of(z ? z : "");
}

static void put_link(writer *w, gr_str from, gr_str to, gr_str port) {
    gr_buf_puts(&w->links, w->links.n ? ",\n    {\"from\": " : "    {\"from\": ");
    gr_json_string(&w->links, from);
    gr_buf_printf(&w->links, ", \"to\": \"%.*s", GR_STR_ARG(to));
    if (port.n) gr_buf_printf(&w->links, ".%.*s", GR_STR_ARG(port));
    gr_buf_puts(&w->links, "\"}");
}

static void put_links(writer *w, const call *c) {
    const gr_sig *s = &c->op->sig;
    for (uint32_t i = 0; i < s->operands_n; i++)
        for (uint32_t k = c->resolved.operand_first[i]; k < c->resolved.operand_first[i + 1]; k++)
            if (c->in[k] != NO_VALUE) put_link(w, source_of(w, c->in[k]), c->id, s->operands[i].name);
}

static void put_output(writer *w, gr_str id, gr_str name, uint32_t v) {
    begin(w, id, name);
    gr_buf_printf(&w->nodes, ", \"block\": \"output\", \"files\": [\"%.*s.npy\"]}", GR_STR_ARG(id));
    put_link(w, source_of(w, v), id, (gr_str){0});
}

/* ---- all ------------------------------------------------------------------------------------------------------------- */

static bool finish(writer *w, gr_imported *out) {
    importer *m = w->m;
    gr_buf b = {0};
    gr_buf_printf(&b, "{\n  \"gradus\": \"canvas/1\",\n  \"tier\": \"%.*s\",\n", GR_STR_ARG(m->o->tier.n ? m->o->tier : GR_STR("debug")));
    if (m->m->name.n) gr_buf_puts(&b, "  \"name\": "), gr_json_string(&b, m->m->name), gr_buf_puts(&b, ",\n");
    gr_buf_printf(&b, "  \"nodes\": [\n%.*s\n  ],\n", GR_STR_ARG(gr_buf_view(&w->nodes)));
    gr_buf_printf(&b, "  \"links\": [\n%.*s\n  ]\n}\n", GR_STR_ARG(gr_buf_view(&w->links)));
    bool ok = !b.failed && !w->nodes.failed && !w->links.failed && !m->d->out_of_memory;
    if (ok) out->document = gr_str_dup(m->a, gr_buf_view(&b));
    gr_buf_free(&b);
    out->weights = w->weights.v;
    out->weights_n = w->weights.n;
    return (ok && out->document.p) || gr_report_oom(m->d);
}

bool import_document(importer *m, const uint32_t *outputs, gr_imported *out) {
    writer w = {.m = m};
    gr_str *ids = GR_NEW_N(m->a, gr_str, m->m->outputs_n);
    bool ok = ids != NULL || gr_report_oom(m->d);
    for (uint32_t i = 0; ok && i < m->values.n; i++) /* inputs keep their names, whatever else is called so */
        if (m->values.v[i].from == FROM_INPUT) m->values.v[i].live = true, ok = put_value(&w, &m->values.v[i]), m->values.v[i].live = false; /* once */
    for (uint32_t i = 0; ok && i < m->m->outputs_n; i++) ids[i] = new_id(&w, m->m->outputs[i].name); /* and so do outputs */
    for (uint32_t i = 0; ok && i < m->values.n; i++) ok = put_value(&w, &m->values.v[i]);
    for (uint32_t i = 0; ok && i < m->calls.n; i++)
        if (m->calls.v[i].live) put_call(&w, &m->calls.v[i]), out->nodes_n++;
    for (uint32_t i = 0; ok && i < m->calls.n; i++)
        if (m->calls.v[i].live) put_links(&w, &m->calls.v[i]);
    for (uint32_t i = 0; ok && i < m->m->outputs_n; i++) put_output(&w, ids[i], m->m->outputs[i].name, outputs[i]);
    ok = ok && finish(&w, out);
    gr_buf_free(&w.nodes);
    gr_buf_free(&w.links);
    return ok;
}
