/* explain.c: any rung of a program as text, and one node followed through all of them. */
#include "api/session.h"

static const char *const rung_names[] = {"", "canvas", "flow", "graph", "kernel", "plan"};

static bool print_rung(gr_buf *out, const gr_program *p, gr_rung rung) {
    switch (rung) {
    case GR_RUNG_CANVAS: return p->has_canvas && gr_canvas_print(out, &p->canvas);
    case GR_RUNG_FLOW: if (p->has_flow) gr_flow_print(out, &p->flow); return p->has_flow;
    case GR_RUNG_GRAPH: if (p->has_graph) gr_graph_print(out, &p->graph); return p->has_graph;
    case GR_RUNG_KERNEL: if (p->has_kernels) gr_kernels_print(out, &p->kernels); return p->has_kernels;
    case GR_RUNG_PLAN: if (p->has_plan) gr_plan_print(out, &p->plan); return p->has_plan;
    default: return false;
    }
}

/* ---- following one node ---------------------------------------------------------- */

/* "mean" owns "mean" and, from an expanded body, "mean/1". */
static bool owns(gr_str node, gr_str wanted) {
    return gr_str_eq(node, wanted) ||
           (node.n > wanted.n && memcmp(node.p, wanted.p, wanted.n) == 0 && node.p[wanted.n] == '/');
}

/* The same, or a node that was found equal to one that `wanted` owns and stands for it from the graph on. */
static bool stands_for(const gr_graph_node *n, gr_str wanted) {
    if (owns(n->node, wanted)) return true;
    for (uint32_t i = 0; i < n->also_n; i++)
        if (owns(n->also[i], wanted)) return true;
    return false;
}

/* Kernels and steps carry the name of their graph node. */
static bool carries(const gr_graph *g, gr_str node, gr_str wanted) {
    if (owns(node, wanted)) return true;
    for (uint32_t i = 0; i < g->nodes_n; i++)
        if (gr_str_eq(g->nodes[i].node, node) && stands_for(&g->nodes[i], wanted)) return true;
    return false;
}

static void follow_canvas(gr_buf *out, const gr_program *p, gr_str node) {
    for (uint32_t i = 0; i < p->canvas.nodes_n; i++) {
        const gr_canvas_node *n = &p->canvas.nodes[i];
        if (!gr_str_eq(n->id, node)) continue;
        gr_buf_printf(out, "  node \"%.*s\"", GR_STR_ARG(n->id));
        if (n->op.n) gr_buf_printf(out, "  op %.*s", GR_STR_ARG(n->op));
        if (n->params) {
            gr_buf_puts(out, "  params ");
            gr_json_canonical(out, n->params);
        }
        gr_buf_printf(out, "  line %u\n", n->at.line);
    }
    for (uint32_t i = 0; i < p->canvas.links_n; i++) {
        const gr_canvas_link *l = &p->canvas.links[i];
        if (!gr_str_eq(l->from_node, node) && !gr_str_eq(l->to_node, node)) continue;
        gr_buf_printf(out, "  link %.*s%s%.*s -> %.*s%s%.*s\n", GR_STR_ARG(l->from_node), l->from_port.n ? "." : "", GR_STR_ARG(l->from_port),
                      GR_STR_ARG(l->to_node), l->to_port.n ? "." : "", GR_STR_ARG(l->to_port));
    }
}

static void follow_flow(gr_buf *out, const gr_flow *f, const gr_flow_seq *seq, gr_str node) {
    for (uint32_t i = 0; i < seq->steps_n; i++) {
        const gr_flow_step *s = &seq->steps[i];
        if (s->body) follow_flow(out, f, s->body, node);
        if (s->other) follow_flow(out, f, s->other, node);
        if (!gr_str_eq(s->node, node)) continue;
        gr_buf_printf(out, "  step %u", i);
        for (uint32_t r = 0; r < s->results_n; r++) gr_buf_printf(out, " %%%.*s", GR_STR_ARG(f->values[s->results[r]].name));
        if (s->op_id.n) gr_buf_printf(out, " = %.*s", GR_STR_ARG(s->op_id));
        for (uint32_t k = 0; k < s->args_n; k++)
            if (s->args[k] < f->values_n) gr_buf_printf(out, " %%%.*s", GR_STR_ARG(f->values[s->args[k]].name));
        gr_buf_putc(out, '\n');
    }
}

static void follow_graph(gr_buf *out, const gr_graph *g, gr_str node) {
    for (uint32_t v = 0; v < g->values_n; v++)
        if (g->values[v].source != GR_SOURCE_NODE && gr_str_eq(g->values[v].input, node)) {
            gr_buf_printf(out, "  %%%.*s = input : ", GR_STR_ARG(g->values[v].name));
            gr_type_print(out, &g->values[v].type);
            gr_buf_putc(out, '\n');
        }
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        const gr_graph_node *n = &g->nodes[i];
        if (!stands_for(n, node)) continue;
        for (uint32_t r = 0; r < n->call.outputs_n; r++) {
            gr_buf_printf(out, "  %%%.*s = %.*s", GR_STR_ARG(g->values[n->results[r]].name), GR_STR_ARG(n->call.op->id));
            for (uint32_t k = 0; k < n->call.operands_n; k++)
                if (n->args[k] != GR_NO_VALUE) gr_buf_printf(out, " %%%.*s", GR_STR_ARG(g->values[n->args[k]].name));
            gr_buf_puts(out, " : ");
            gr_type_print(out, &n->call.outputs[r]);
            gr_buf_printf(out, "   @ node \"%.*s\"", GR_STR_ARG(n->node));
            for (uint32_t k = 0; k < n->also_n; k++) gr_buf_printf(out, " also \"%.*s\"", GR_STR_ARG(n->also[k]));
            gr_buf_putc(out, '\n');
        }
    }
}

static void follow_kernel(gr_buf *out, const gr_graph *g, const gr_kernel *list, uint32_t n, gr_str node) {
    for (uint32_t i = 0; i < n; i++) {
        const gr_kernel *k = &list[i];
        if (!carries(g, k->node, node)) continue;
        char hash[72];
        gr_sha256_text(hash, k->hash);
        gr_buf_printf(out, "  kernel %u %.*s %.*s entry %.*s workgroup %u,%u,%u %.15s\n", i, GR_STR_ARG(k->op), GR_STR_ARG(k->origin),
                      GR_STR_ARG(k->entry), k->workgroup[0], k->workgroup[1], k->workgroup[2], hash);
        if (k->why.n) gr_buf_printf(out, "    why %.*s\n", GR_STR_ARG(k->why));
        gr_buf_puts(out, "    source\n");
        gr_str rest = k->wgsl;
        while (rest.n) {
            const char *eol = memchr(rest.p, '\n', rest.n);
            size_t len = eol ? (size_t)(eol - rest.p) : rest.n;
            gr_buf_printf(out, "      %.*s\n", (int)len, rest.p);
            rest = (gr_str){rest.p + len + (eol ? 1 : 0), rest.n - len - (eol ? 1 : 0)};
        }
    }
}

static const char *step_word(gr_step_kind k) {
    switch (k) {
    case GR_STEP_DISPATCH: return "dispatch";
    case GR_STEP_COPY: return "copy";
    case GR_STEP_CLEAR: return "clear";
    case GR_STEP_UPLOAD: return "upload";
    case GR_STEP_READBACK: return "readback";
    default: return "step";
    }
}

static void follow_plan(gr_buf *out, const gr_graph *g, const gr_plan *p, gr_str node) {
    for (uint32_t i = 0; i < p->steps_n; i++) {
        const gr_plan_step *s = &p->steps[i];
        if (!carries(g, s->node, node)) continue;
        gr_buf_printf(out, "  step %u %s", i, step_word(s->kind));
        if (s->kind == GR_STEP_DISPATCH) {
            gr_buf_printf(out, " kernel %u grid %u,%u,%u ", s->kernel, s->grid[0], s->grid[1], s->grid[2]);
            for (uint32_t b = 0; b < s->binds_n; b++)
                gr_buf_printf(out, " %.*s", GR_STR_ARG(p->buffers[s->binds[b].buffer].name));
        } else {
            gr_buf_printf(out, " %llu bytes", (unsigned long long)s->bytes);
        }
        gr_buf_putc(out, '\n');
    }
}

static bool node_exists(const gr_program *p, gr_str node) {
    for (uint32_t i = 0; p->has_canvas && i < p->canvas.nodes_n; i++)
        if (gr_str_eq(p->canvas.nodes[i].id, node)) return true;
    for (uint32_t i = 0; p->has_graph && i < p->graph.nodes_n; i++)
        if (stands_for(&p->graph.nodes[i], node)) return true;
    return false;
}

static void follow_rung(gr_buf *out, const gr_program *p, gr_rung rung, gr_str node) {
    gr_buf_printf(out, "%s\n", rung_names[rung]);
    if (rung == GR_RUNG_CANVAS && p->has_canvas) follow_canvas(out, p, node);
    if (rung == GR_RUNG_FLOW && p->has_flow) follow_flow(out, &p->flow, &p->flow.main, node);
    if (rung == GR_RUNG_GRAPH && p->has_graph) follow_graph(out, &p->graph, node);
    if (rung == GR_RUNG_KERNEL && p->has_kernels) follow_kernel(out, p->kernels.graph, p->kernels.list, p->kernels.n, node);
    if (rung == GR_RUNG_PLAN && p->has_plan) follow_plan(out, p->plan.graph, &p->plan, node);
}

/* ---- the call ------------------------------------------------------------------------ */

static bool explain_text(gr_buf *out, gr_program *p, gr_rung rung, const char *follow) {
    gr_diags *d = &p->session->diags;
    if (follow && !node_exists(p, gr_str_of(follow)))
        return gr_report(d, GR_D_CLI_NODE_UNKNOWN, (gr_place){.document = p->document}, "explain FILE --rung flow lists the nodes",
                         "there is no node \"%s\"", follow);
    gr_rung first = rung ? rung : p->has_canvas ? GR_RUNG_CANVAS : GR_RUNG_GRAPH, last = rung ? rung : GR_RUNG_PLAN;
    for (int r = (int)first; r <= (int)last; r++) {
        if (follow) {
            follow_rung(out, p, (gr_rung)r, gr_str_of(follow));
            continue;
        }
        if (!rung) gr_buf_printf(out, "%s---- %s ----\n", out->n ? "\n" : "", rung_names[r]);
        if (!print_rung(out, p, (gr_rung)r))
            return gr_report(d, GR_D_CLI_RUNG_MISSING, (gr_place){.document = p->document}, NULL, "there is no %s rung here", rung_names[r]);
    }
    return true;
}

/* {"rung", "hash" of the text, "text", and for the canvas and the plan their own JSON as "value"} */
static bool explain_json(gr_buf *out, gr_program *p, gr_rung rung, const char *follow) {
    gr_rung first = rung ? rung : p->has_canvas ? GR_RUNG_CANVAS : GR_RUNG_GRAPH, last = rung ? rung : GR_RUNG_PLAN;
    gr_buf_puts(out, "[");
    for (int r = (int)first; r <= (int)last; r++) {
        gr_buf text = {0};
        char hash[72];
        if (!explain_text(&text, p, (gr_rung)r, follow) || text.failed) {
            if (text.failed) gr_report_oom(&p->session->diags);
            gr_buf_free(&text);
            return false;
        }
        gr_sha256_text(hash, gr_sha256_of(text.p, text.n));
        gr_buf_printf(out, "%s\n  {\"rung\": \"%s\", \"hash\": \"%s\", \"text\": ", r == (int)first ? "" : ",", rung_names[r], hash);
        gr_json_string(out, gr_buf_view(&text));
        if (r == GR_RUNG_PLAN && !follow) {
            gr_buf_puts(out, ", \"value\": ");
            if (!gr_plan_print_json(out, &p->plan)) out->failed = true;
        }
        gr_buf_puts(out, "}");
        gr_buf_free(&text);
    }
    gr_buf_puts(out, "\n]\n");
    return true;
}

char *gr_explain(gr_program *p, gr_rung rung, const char *follow, bool json) {
    gr_buf out = {0};
    bool ok = json ? explain_json(&out, p, rung, follow) : explain_text(&out, p, rung, follow);
    return gr_text_take(p->session, &out, ok);
}

char *gr_plan_json(gr_program *p) {
    gr_buf out = {0};
    bool ok = p->has_plan && gr_plan_print_json(&out, &p->plan);
    if (ok) gr_buf_putc(&out, '\n');
    else if (p->has_plan) gr_report_oom(&p->session->diags);
    return gr_text_take(p->session, &out, ok);
}
