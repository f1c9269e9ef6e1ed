#include "ladder/flow/head.h"
#include "ladder/flow/flow.h"

typedef struct writer {
    gr_buf *out;
    const gr_flow *f;
    int indent;
} writer;

static void indent(writer *w) {
    for (int i = 0; i < w->indent; i++) gr_buf_puts(w->out, "  ");
}

static void value(writer *w, gr_flow_ref r) {
    gr_buf_putc(w->out, '%');
    gr_buf_str(w->out, r < w->f->values_n ? w->f->values[r].name : GR_STR("?"));
}

static void quoted(writer *w, const char *before, gr_str s) {
    gr_buf_puts(w->out, before);
    gr_json_string(w->out, s);
}

static void print_typed(writer *w, const gr_canvas_node *n) {
    if (n->file.n) quoted(w, " file=", n->file);
    if (n->dtype) gr_buf_printf(w->out, " dtype=%s", gr_dtype_name(n->dtype));
    if (!n->shape_given) return;
    gr_buf_puts(w->out, " shape=[");
    for (uint32_t i = 0; i < n->shape_n; i++) {
        if (i) gr_buf_puts(w->out, ", ");
        if (n->shape[i].fixed) gr_buf_printf(w->out, "%llu", (unsigned long long)n->shape[i].n);
        else gr_buf_str(w->out, n->shape[i].symbol);
    }
    gr_buf_putc(w->out, ']');
}

static void print_source(writer *w, const gr_flow_step *s) {
    const gr_canvas_node *n = s->source;
    value(w, s->results[0]);
    gr_buf_printf(w->out, " = %s", gr_block_name(s->kind).p);
    quoted(w, " ", s->node);
    if (s->kind != GR_BLOCK_CONSTANT) {
        print_typed(w, n);
        return;
    }
    gr_buf_putc(w->out, ' ');
    gr_json_inline(w->out, n->value);
    if (n->dtype) gr_buf_printf(w->out, " dtype=%s", gr_dtype_name(n->dtype));
}

static void print_output(writer *w, const gr_flow_step *s) {
    quoted(w, "output ", s->node);
    gr_buf_putc(w->out, ' ');
    value(w, s->args[0]);
    for (uint32_t i = 0; i < s->source->files_n; i++) quoted(w, i ? ", " : " files=[", s->source->files[i]);
    if (s->source->files_n) gr_buf_putc(w->out, ']');
    if (!s->source->plot) return;
    gr_buf_puts(w->out, " plot=");
    gr_json_inline(w->out, s->source->plot);
}

static void print_operand(writer *w, const gr_flow_step *s, uint32_t p) {
    const gr_sig_tensor *t = &s->op->sig.operands[p];
    uint32_t first = s->arg_first[p], last = s->arg_first[p + 1];
    if (!t->variadic && (first == last || s->args[first] == GR_FLOW_NONE)) return;
    if (t->variadic && first == last) return;
    gr_buf_printf(w->out, " %.*s=%s", GR_STR_ARG(t->name), t->variadic ? "[" : "");
    for (uint32_t i = first; i < last; i++) {
        if (i > first) gr_buf_puts(w->out, ", ");
        value(w, s->args[i]);
    }
    if (t->variadic) gr_buf_putc(w->out, ']');
}

static void print_op(writer *w, const gr_flow_step *s) {
    for (uint32_t i = 0; i < s->results_n; i++) {
        if (i) gr_buf_puts(w->out, ", ");
        value(w, s->results[i]);
    }
    gr_buf_puts(w->out, " = ");
    gr_buf_str(w->out, s->op_id);
    for (uint32_t p = 0; s->op && p < s->op->sig.operands_n; p++) print_operand(w, s, p);
    for (uint32_t i = 0; s->params && i < s->params->object.n; i++) {
        gr_buf_putc(w->out, ' ');
        gr_name_print(w->out, s->params->object.v[i].key);
        gr_buf_putc(w->out, '=');
        gr_json_inline(w->out, s->params->object.v[i].value);
    }
    quoted(w, " @ node ", s->node);
}

static void print_seq(writer *w, const gr_flow_seq *q);

static void print_body(writer *w, const char *word, const gr_flow_seq *q) {
    gr_buf_printf(w->out, " %s{\n", word);
    w->indent++;
    if (q) print_seq(w, q);
    w->indent--;
    indent(w);
    gr_buf_putc(w->out, '}');
}

static void print_nest(writer *w, const gr_flow_step *s) {
    gr_buf_puts(w->out, gr_block_name(s->kind).p);
    quoted(w, " ", s->node);
    if (s->kind == GR_BLOCK_REPEAT) gr_buf_printf(w->out, " count=%lld", (long long)s->count);
    if (s->kind == GR_BLOCK_BRANCH) {
        gr_buf_puts(w->out, " if=");
        if (s->condition == GR_FLOW_NONE) gr_buf_puts(w->out, s->taken ? "true" : "false");
        else value(w, s->condition);
    }
    for (uint32_t i = 0; i < s->args_n; i++) {
        gr_buf_puts(w->out, i ? ", " : " in ");
        gr_name_print(w->out, s->ports[i]);
        gr_buf_putc(w->out, '=');
        value(w, s->args[i]);
    }
    for (uint32_t i = 0; i < s->results_n; i++) {
        gr_buf_puts(w->out, i ? ", " : " out ");
        gr_name_print(w->out, s->outs[i]);
        gr_buf_putc(w->out, '=');
        value(w, s->results[i]);
    }
    bool first = true;
    for (uint32_t i = 0; s->kind == GR_BLOCK_REPEAT && i < s->results_n; i++) {
        if (s->carry[i] == GR_FLOW_NONE) continue;
        gr_buf_puts(w->out, first ? " carry " : ", ");
        gr_name_print(w->out, s->outs[i]);
        gr_buf_putc(w->out, '=');
        gr_name_print(w->out, s->ports[s->carry[i]]);
        first = false;
    }
    print_body(w, "", s->body);
    if (s->kind == GR_BLOCK_BRANCH) print_body(w, "else ", s->other);
}

static void print_seq(writer *w, const gr_flow_seq *q) {
    for (uint32_t i = 0; i < q->steps_n; i++) {
        const gr_flow_step *s = &q->steps[i];
        indent(w);
        switch (s->kind) {
        case GR_BLOCK_INPUT:
        case GR_BLOCK_CONSTANT:
        case GR_BLOCK_PARAMETER: print_source(w, s); break;
        case GR_BLOCK_OUTPUT: print_output(w, s); break;
        case GR_BLOCK_OP: print_op(w, s); break;
        case GR_BLOCK_REPEAT:
        case GR_BLOCK_BRANCH:
        case GR_BLOCK_CALL: print_nest(w, s); break;
        case GR_BLOCK_TRAIN:
        case GR_BLOCK_NONE: break;
        }
        gr_buf_putc(w->out, '\n');
    }
}

void gr_flow_print(gr_buf *out, const gr_flow *f) {
    writer w = {.out = out, .f = f, .indent = 1};
    gr_head h = {.document = f->document, .tier = f->tier, .tolerance = f->tolerance, .guarantee = f->guarantee, .seed = f->seed,
                 .budget_gpu = f->budget_gpu, .budget_cpu = f->budget_cpu, .budget_cpu_seconds = f->budget_cpu_seconds};
    gr_buf_puts(out, "flow ");
    gr_name_print(out, f->name);
    gr_buf_puts(out, " {\n");
    gr_head_print(out, &h);
    gr_buf_putc(out, '\n');
    print_seq(&w, &f->main);
    gr_buf_puts(out, "}\n");
}
