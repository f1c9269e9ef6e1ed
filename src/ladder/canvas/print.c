/* Canonical pretty JSON: fixed order of keys, one node or link a line, defaults left out. */
#include "ladder/canvas/canvas_int.h"
#include "base/lex.h"

typedef struct writer {
    gr_buf *out;
    int indent;
} writer;

static void line(writer *w) {
    gr_buf_putc(w->out, '\n');
    for (int i = 0; i < w->indent; i++) gr_buf_puts(w->out, "  ");
}

/* ", " or nothing, then "key": */
static void key(gr_buf *out, bool *first, const char *k) {
    gr_buf_printf(out, "%s\"%s\": ", *first ? "" : ", ", k);
    *first = false;
}

static void key_str(gr_buf *out, bool *first, const char *k, gr_str s) {
    if (!s.n) return;
    key(out, first, k);
    gr_json_string(out, s);
}

static void key_value(gr_buf *out, bool *first, const char *k, const gr_value *v) {
    if (!v) return;
    key(out, first, k);
    gr_json_inline(out, v);
}

static void print_typed(gr_buf *out, bool *first, const gr_canvas_node *n) {
    key_str(out, first, "file", n->file);
    if (n->dtype) key_str(out, first, "dtype", gr_str_of(gr_dtype_name(n->dtype)));
    if (!n->shape_given) return;
    key(out, first, "shape");
    gr_buf_putc(out, '[');
    for (uint32_t i = 0; i < n->shape_n; i++) {
        if (i) gr_buf_puts(out, ", ");
        if (n->shape[i].fixed) gr_buf_printf(out, "%llu", (unsigned long long)n->shape[i].n);
        else gr_json_string(out, n->shape[i].symbol);
    }
    gr_buf_putc(out, ']');
}

static void print_files(gr_buf *out, bool *first, const gr_canvas_node *n) {
    if (!n->files_n) return;
    key(out, first, "files");
    for (uint32_t i = 0; i < n->files_n; i++) {
        gr_buf_puts(out, i ? ", " : "[");
        gr_json_string(out, n->files[i]);
    }
    gr_buf_putc(out, ']');
}

static void print_scope(writer *w, const gr_canvas *c);

static void print_body(writer *w, bool *first, const char *k, const gr_canvas *c) {
    if (!c) return;
    gr_buf_putc(w->out, ',');
    *first = true;
    w->indent++;
    line(w);
    key(w->out, first, k);
    gr_buf_putc(w->out, '{');
    w->indent++;
    print_scope(w, c);
    w->indent--;
    line(w);
    gr_buf_putc(w->out, '}');
    w->indent--;
}

static void print_node(writer *w, const gr_canvas_node *n) {
    gr_buf *out = w->out;
    bool first = true;
    gr_buf_puts(out, "{ ");
    key_str(out, &first, "id", n->id);
    if (n->block != GR_BLOCK_OP) key_str(out, &first, "block", gr_block_name(n->block));
    key_str(out, &first, "op", n->op);
    key_str(out, &first, "label", n->label);
    if (n->block == GR_BLOCK_INPUT || n->block == GR_BLOCK_PARAMETER) print_typed(out, &first, n);
    if (n->window) gr_buf_printf(out, ", \"window\": { \"size\": %llu, \"stride\": %llu }", (unsigned long long)n->window, (unsigned long long)n->stride);
    if (n->on_disk) gr_buf_puts(out, ", \"stream\": \"disk\"");
    if (n->init.kind) gr_canvas_print_init(out, &n->init);
    if (n->frozen) gr_buf_puts(out, ", \"trainable\": false");
    if (n->train) gr_canvas_print_train(out, n->train);
    key_value(out, &first, "params", n->params);
    key_value(out, &first, "value", n->value);
    if (n->block == GR_BLOCK_CONSTANT && n->dtype) key_str(out, &first, "dtype", gr_str_of(gr_dtype_name(n->dtype)));
    print_files(out, &first, n);
    key_value(out, &first, "plot", n->plot);
    if (n->block == GR_BLOCK_REPEAT) {
        key(out, &first, "count");
        gr_buf_printf(out, "%lld", (long long)n->count);
        key_value(out, &first, "carry", n->carry);
    }
    key_str(out, &first, "condition", n->condition);
    if (n->block == GR_BLOCK_CALL) key_str(out, &first, "file", n->file);
    if (n->block != GR_BLOCK_CALL || !n->file.n) print_body(w, &first, n->block == GR_BLOCK_BRANCH ? "then" : "body", n->body);
    print_body(w, &first, "else", n->other);
    gr_buf_puts(out, " }");
}

static void print_end(gr_buf *out, const char *k, gr_str node, gr_str port) {
    gr_buf_printf(out, "\"%s\": \"%.*s%s%.*s\"", k, GR_STR_ARG(node), port.n ? "." : "", GR_STR_ARG(port));
}

static void print_link(writer *w, const gr_canvas_link *l) {
    gr_buf_puts(w->out, "{ ");
    print_end(w->out, "from", l->from_node, l->from_port);
    gr_buf_puts(w->out, ", ");
    print_end(w->out, "to", l->to_node, l->to_port);
    gr_buf_puts(w->out, " }");
}

/* Name to layout: what every canvas has. */
static void print_scope(writer *w, const gr_canvas *c) {
    gr_buf *out = w->out;
    bool first = true;
    const struct { const char *k; gr_str s; } text[2] = {{"name", c->name}, {"description", c->description}};
    for (int i = 0; i < 2; i++) {
        if (!text[i].s.n) continue;
        line(w);
        first = true;
        key_str(out, &first, text[i].k, text[i].s);
        gr_buf_putc(out, ',');
    }
    line(w);
    gr_buf_puts(out, "\"nodes\": [");
    w->indent++;
    for (uint32_t i = 0; i < c->nodes_n; i++) {
        if (i) gr_buf_putc(out, ',');
        line(w);
        print_node(w, &c->nodes[i]);
    }
    w->indent--;
    if (c->nodes_n) line(w);
    gr_buf_puts(out, "],");
    line(w);
    gr_buf_puts(out, "\"links\": [");
    w->indent++;
    for (uint32_t i = 0; i < c->links_n; i++) {
        if (i) gr_buf_putc(out, ',');
        line(w);
        print_link(w, &c->links[i]);
    }
    w->indent--;
    if (c->links_n) line(w);
    gr_buf_putc(out, ']');
    if (!c->layout) return;
    gr_buf_putc(out, ',');
    line(w);
    first = true;
    key_value(out, &first, "layout", c->layout);
}

static void print_budget(writer *w, const gr_canvas *c) {
    if (!c->budget_gpu && !c->budget_cpu && !(c->budget_cpu_seconds > 0)) return;
    bool first = true;
    line(w);
    gr_buf_puts(w->out, "\"budget\": { ");
    const struct { const char *k; uint64_t bytes; } b[2] = {{"gpu", c->budget_gpu}, {"cpu", c->budget_cpu}};
    for (int i = 0; i < 2; i++) {
        if (!b[i].bytes) continue;
        key(w->out, &first, b[i].k);
        gr_buf_printf(w->out, "%llu", (unsigned long long)b[i].bytes);
    }
    if (c->budget_cpu_seconds > 0) {
        key(w->out, &first, "cpu_seconds");
        gr_buf_f64(w->out, c->budget_cpu_seconds);
    }
    gr_buf_puts(w->out, " },");
}

bool gr_canvas_print(gr_buf *out, const gr_canvas *c) {
    writer w = {.out = out, .indent = 1};
    gr_buf_putc(out, '{');
    const struct { const char *k; gr_str s; } head[4] = {
        {"gradus", GR_STR("canvas/1")},
        {"tier", c->tier ? gr_str_of(gr_tier_name(c->tier)) : (gr_str){0}},
        {"tolerance", c->tolerance ? gr_str_of(gr_tolerance_name(c->tolerance)) : (gr_str){0}},
        {"guarantee", c->guarantee ? gr_str_of(gr_guarantee_name(c->guarantee)) : (gr_str){0}}};
    for (int i = 0; i < 4; i++) {
        if (!head[i].s.n) continue;
        bool first = true;
        line(&w);
        key_str(out, &first, head[i].k, head[i].s);
        gr_buf_putc(out, ',');
    }
    if (c->seed_given) {
        line(&w);
        gr_buf_printf(out, "\"seed\": %llu,", (unsigned long long)c->seed);
    }
    print_budget(&w, c);
    print_scope(&w, c);
    gr_buf_puts(out, "\n}\n");
    return !out->failed;
}
