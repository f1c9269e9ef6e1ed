/* The invariants of README.md, by number. User errors: everything is reported, up to a bound. */
#include "ladder/canvas/canvas_int.h"

#include "array/archive.h"

#include <stdio.h>

typedef struct checker {
    gr_arena *a; /* scratch */
    gr_diags *d;
    uint32_t errors_before;
    int depth;
} checker;

static bool enough(const checker *k) { return k->d->errors - k->errors_before >= GR_CANVAS_ERRORS_MAX || k->d->out_of_memory; }

static bool is_source(gr_block b) { return b == GR_BLOCK_INPUT || b == GR_BLOCK_CONSTANT || b == GR_BLOCK_PARAMETER; }
static bool is_nest(gr_block b) { return b == GR_BLOCK_REPEAT || b == GR_BLOCK_BRANCH || b == GR_BLOCK_CALL; }

/* Nearest id for a hint; bounded work. */
static void hint_near(checker *k, const gr_canvas *c, gr_str id) {
    int best = 3;
    gr_str near = {0};
    for (uint32_t i = 0; i < c->nodes_n && i < 10000; i++) {
        int far = gr_str_distance(id, c->nodes[i].id);
        if (far < best) best = far, near = c->nodes[i].id;
    }
    if (near.n) gr_report_hint(k->d, "did you mean \"%.*s\"?", GR_STR_ARG(near));
    else gr_report_hint(k->d, "add a node with this id, or name one of the %u there are", c->nodes_n);
}

/* C2 */
static void check_ids(checker *k, const gr_canvas *c, const gr_canvas_index *x) {
    for (uint32_t i = 0; i < c->nodes_n && !enough(k); i++) {
        uint32_t first = i;
        gr_map_get(&x->ids, c->nodes[i].id, &first);
        if (first == i) continue;
        gr_report(k->d, GR_D_CANVAS_ID_TWICE, gr_canvas_below(k->a, c->nodes[i].at, "id"), "rename one of the two", "\"%.*s\" is the id of two nodes", GR_STR_ARG(c->nodes[i].id));
        gr_report_related(k->d, c->nodes[first].at, "first here");
    }
}

/* C3, C4: both ends exist and face the right way. */
static void check_ends(checker *k, const gr_canvas *c, const gr_canvas_index *x) {
    for (uint32_t i = 0; i < c->links_n && !enough(k); i++) {
        const gr_canvas_link *l = &c->links[i];
        const gr_str names[2] = {l->from_node, l->to_node};
        const uint32_t ends[2] = {x->from[i], x->to[i]};
        for (int e = 0; e < 2; e++) {
            if (ends[e] != UINT32_MAX) continue;
            gr_report(k->d, GR_D_CANVAS_LINK_NODE, gr_canvas_below(k->a, l->at, e ? "to" : "from"), NULL, "there is no node \"%.*s\"", GR_STR_ARG(names[e]));
            hint_near(k, c, names[e]);
        }
        gr_block from = ends[0] != UINT32_MAX ? c->nodes[ends[0]].block : GR_BLOCK_NONE;
        if (from == GR_BLOCK_OUTPUT || from == GR_BLOCK_TRAIN)
            gr_report(k->d, GR_D_CANVAS_LINK_DIRECTION, gr_canvas_below(k->a, l->at, "from"), "link from the node that feeds it", "\"%.*s\" is a block of kind %s: nothing comes out of it", GR_STR_ARG(names[0]), gr_block_name(from).p);
        if (ends[1] != UINT32_MAX && is_source(c->nodes[ends[1]].block))
            gr_report(k->d, GR_D_CANVAS_LINK_DIRECTION, gr_canvas_below(k->a, l->at, "to"), "swap from and to, or link to another node", "\"%.*s\" is a block of kind %s: nothing goes into it", GR_STR_ARG(names[1]),
                      gr_block_name(c->nodes[ends[1]].block).p);
    }
}

static void unknown_port(checker *k, gr_place at, const gr_canvas_node *n, gr_str port, const gr_canvas_ports *ports, const char *what) {
    gr_buf all = {0};
    for (uint32_t i = 0; i < ports->n && i < 20; i++) gr_buf_printf(&all, "%s%.*s", i ? ", " : "", GR_STR_ARG(ports->ids[i]));
    if (port.n) gr_report(k->d, GR_D_CANVAS_PORT_UNKNOWN, at, NULL, "\"%.*s\" has no %s \"%.*s\"", GR_STR_ARG(n->id), what, GR_STR_ARG(port));
    else gr_report(k->d, GR_D_CANVAS_PORT_UNKNOWN, at, NULL, "\"%.*s\" has %u %ss: the link must say which", GR_STR_ARG(n->id), ports->n, what);
    gr_report_hint(k->d, "its %ss are: %s", what, all.n ? all.p : "none");
    gr_buf_free(&all);
}

/* Number of the port that a link's end names; UINT32_MAX when reported. */
static uint32_t find_port(checker *k, gr_place at, const gr_canvas_node *n, gr_str port, const gr_canvas_ports *ports, const char *what) {
    uint32_t p = 0;
    if (!port.n && ports->n == 1) return 0;
    if (port.n && gr_map_get(&ports->at, port, &p)) return p;
    unknown_port(k, at, n, port, ports, what);
    return UINT32_MAX;
}

/* C5: what comes from sources and nested canvases is named rightly. Ops' ports are flow's business. */
static void check_from_ports(checker *k, const gr_canvas *c, const gr_canvas_index *x, const gr_canvas_ports *outs) {
    static const gr_canvas_ports none = {0};
    for (uint32_t i = 0; i < c->links_n && !enough(k); i++) {
        const gr_canvas_link *l = &c->links[i];
        if (x->from[i] == UINT32_MAX) continue;
        const gr_canvas_node *n = &c->nodes[x->from[i]];
        gr_place at = gr_canvas_below(k->a, l->at, "from");
        if (is_source(n->block) && l->from_port.n) unknown_port(k, at, n, l->from_port, &none, "named output");
        if (is_nest(n->block) && n->body) find_port(k, at, n, l->from_port, &outs[x->from[i]], "output");
    }
}

static void twice(checker *k, gr_place at, gr_place first, gr_str node, gr_str port) {
    gr_report(k->d, GR_D_CANVAS_PORT_TWICE, at, "remove one of the two links", "\"%.*s%s%.*s\" is linked twice", GR_STR_ARG(node), port.n ? "." : "", GR_STR_ARG(port));
    gr_report_related(k->d, first, "first here");
}

/* C6 for an output block. */
static void check_output(checker *k, const gr_canvas *c, const gr_canvas_index *x, uint32_t i) {
    static const gr_canvas_ports none = {0};
    const gr_canvas_node *n = &c->nodes[i];
    uint32_t first = x->in_first[i], last = x->in_first[i + 1];
    if (first == last) gr_report(k->d, GR_D_CANVAS_PORT_OPEN, n->at, "link a node to it, or remove it", "the output \"%.*s\" has no link", GR_STR_ARG(n->id));
    for (uint32_t e = first; e < last && !enough(k); e++) {
        const gr_canvas_link *l = &c->links[x->in[e]];
        if (l->to_port.n) unknown_port(k, gr_canvas_below(k->a, l->at, "to"), n, l->to_port, &none, "named input");
        else if (e > first) twice(k, l->at, c->links[x->in[first]].at, n->id, GR_STR(""));
    }
}

/* Whether a path stays below the folder that it is joined to. */
static bool stays_below(gr_str path) {
    bool ok = path.n && path.p[0] != '/' && !memchr(path.p, 0, path.n);
    for (size_t i = 0; i < path.n; i++) /* a part ".." */
        if ((i == 0 || path.p[i - 1] == '/') && path.n - i >= 2 && path.p[i] == '.' && path.p[i + 1] == '.' && (path.n - i == 2 || path.p[i + 2] == '/')) ok = false;
    return ok;
}

/* C13, for the outermost canvas: only its files are written. */
static bool check_files(checker *k, const gr_canvas *c) {
    gr_map seen = {0};
    for (uint32_t i = 0; i < c->nodes_n; i++)
        for (uint32_t f = 0; c->nodes[i].block == GR_BLOCK_OUTPUT && f < c->nodes[i].files_n && !enough(k); f++) {
            const gr_canvas_node *n = &c->nodes[i];
            gr_str path = n->files[f];
            gr_place at = gr_canvas_below(k->a, n->at, "files");
            uint32_t first = i;
            if (!stays_below(path))
                gr_report(k->d, GR_D_CANVAS_OUTPUT_FILE, at, "write a path below the output folder, such as \"clean.npy\"", "\"%.*s\" leaves the output folder", GR_STR_ARG(path));
            else if (!gr_str_ends(path, ".svg") && (gr_format_of(path, NULL, NULL) == GR_FORMAT_NONE || gr_str_ends(path, ".tsv")))
                gr_report(k->d, GR_D_CANVAS_OUTPUT_FILE, at, "use .npy, .npz, .safetensors, .wav, .csv or, for a plot, .svg", "\"%.*s\" has an ending that we cannot write", GR_STR_ARG(path));
            else if (gr_map_get(&seen, path, &first)) {
                gr_report(k->d, GR_D_CANVAS_OUTPUT_FILE, at, "give each its own file", "\"%.*s\" is written twice", GR_STR_ARG(path));
                gr_report_related(k->d, c->nodes[first].at, "first here");
            } else if (!gr_map_put(k->a, &seen, path, i)) return gr_report_oom(k->d);
        }
    return true;
}

/* C14, for the outermost canvas: what a plot shows is there, so that no run is made in vain. */
static bool check_plots(checker *k, const gr_canvas *c) {
    gr_map outputs = {0};
    for (uint32_t i = 0; i < c->nodes_n; i++)
        if (c->nodes[i].block == GR_BLOCK_OUTPUT && !gr_map_put(k->a, &outputs, c->nodes[i].id, i)) return gr_report_oom(k->d);
    for (uint32_t i = 0; i < c->nodes_n && !enough(k); i++) {
        const gr_canvas_node *n = &c->nodes[i];
        const gr_value *lines = n->block == GR_BLOCK_OUTPUT && n->plot ? gr_value_get(n->plot, "lines") : NULL;
        for (uint32_t l = 0; lines && l < lines->array.n && !enough(k); l++) {
            const gr_value *output = gr_value_get(lines->array.v[l], "output");
            if (!output || output->kind != GR_V_STRING || gr_map_get(&outputs, output->s, NULL)) continue;
            gr_report(k->d, GR_D_CANVAS_PLOT_OUTPUT, gr_canvas_below(k->a, n->at, "plot"), NULL, "line %u of the plot shows \"%.*s\", which is no output", l + 1,
                      GR_STR_ARG(output->s));
            hint_near(k, c, output->s);
        }
    }
    return true;
}

/* C16: what a train block is linked to has names of its own, and the loss is there. */
static bool check_train_links(checker *k, const gr_canvas *c, const gr_canvas_index *x, uint32_t i) {
    const gr_canvas_node *n = &c->nodes[i];
    const gr_canvas_train *t = n->train;
    gr_map seen = {0};
    for (uint32_t e = x->in_first[i]; e < x->in_first[i + 1] && !enough(k); e++) {
        const gr_canvas_link *l = &c->links[x->in[e]];
        gr_place at = gr_canvas_below(k->a, l->at, "to");
        uint32_t first = e;
        if (!l->to_port.n || memchr(l->to_port.p, '.', l->to_port.n))
            gr_report(k->d, GR_D_CANVAS_TRAIN_LINK, at, "write \"fit.loss\", or \"fit.accuracy\" for a further quantity", "a link to \"%.*s\" must say what it brings", GR_STR_ARG(n->id));
        else if (gr_map_get(&seen, l->to_port, &first)) twice(k, l->at, c->links[x->in[first]].at, n->id, l->to_port);
        else if (!gr_map_put(k->a, &seen, l->to_port, e)) return gr_report_oom(k->d);
    }
    if (!gr_map_get(&seen, GR_STR("loss"), NULL)) {
        gr_report(k->d, GR_D_CANVAS_TRAIN_LINK, n->at, NULL, "the train block \"%.*s\" has no loss", GR_STR_ARG(n->id));
        gr_report_hint(k->d, "link a single float to \"%.*s.loss\"", GR_STR_ARG(n->id));
    }
    if (t && !gr_map_get(&seen, t->metric, NULL) && !gr_str_eqz(t->metric, "loss"))
        gr_report(k->d, GR_D_CANVAS_TRAIN_LINK, gr_canvas_below(k->a, n->at, "stop"), "name a quantity that is linked to the block", "nothing brings \"%.*s\" to \"%.*s\"",
                  t->metric.n > 60 ? 60 : (int)t->metric.n, t->metric.p, GR_STR_ARG(n->id));
    return true;
}

/* C15: batches are taken along the first dimension of inputs with data, and along no other. */
static void check_batch(checker *k, const gr_canvas *c, const gr_canvas_node *train) {
    gr_str name = train->train->dimension;
    bool found = false;
    for (uint32_t i = 0; i < c->nodes_n && !enough(k); i++) {
        const gr_canvas_node *n = &c->nodes[i];
        if (n->block != GR_BLOCK_INPUT && n->block != GR_BLOCK_PARAMETER) continue;
        for (uint32_t s = 0; s < n->shape_n; s++) {
            if (n->shape[s].fixed || !gr_str_eq(n->shape[s].symbol, name)) continue;
            if (n->block == GR_BLOCK_PARAMETER || s || !n->file.n) {
                gr_report(k->d, GR_D_CANVAS_TRAIN_BATCH, n->at, NULL, "batches are taken along \"%.*s\", %s \"%.*s\"", GR_STR_ARG(name),
                          n->block == GR_BLOCK_PARAMETER ? "a dimension of the parameter" : s ? "which is not the first dimension of" : "and there is no file for", GR_STR_ARG(n->id));
                gr_report_hint(k->d, "rows of inputs with a \"file\" make batches: \"shape\": [\"%.*s\", ...]", GR_STR_ARG(name));
            }
            found = true;
        }
    }
    if (found || enough(k)) return;
    gr_report(k->d, GR_D_CANVAS_TRAIN_BATCH, gr_canvas_below(k->a, train->at, "batch"), NULL, "no input has a dimension \"%.*s\" to take batches along", name.n > 60 ? 60 : (int)name.n, name.p);
    gr_report_hint(k->d, "declare \"shape\": [\"%.*s\", ...] at an input with a file", name.n > 60 ? 60 : (int)name.n, name.p);
}

/* C15, for the outermost canvas: one train block at most. */
static void check_training(checker *k, const gr_canvas *c) {
    const gr_canvas_node *first = gr_canvas_training(c);
    for (uint32_t i = 0; first && i < c->nodes_n && !enough(k); i++) {
        const gr_canvas_node *n = &c->nodes[i];
        if (n->block != GR_BLOCK_TRAIN || n == first) continue;
        gr_report(k->d, GR_D_CANVAS_TRAIN_TWICE, n->at, "keep one; put the other into a document of its own", "\"%.*s\" is a second train block", GR_STR_ARG(n->id));
        gr_report_related(k->d, first->at, "first here");
    }
    if (first && first->train) check_batch(k, c, first);
}

/* C6 for a block with canvases inside: each of its inputs has exactly one link. */
static bool check_inputs(checker *k, const gr_canvas *c, const gr_canvas_index *x, uint32_t i, const gr_canvas_ports *ins) {
    const gr_canvas_node *n = &c->nodes[i];
    uint32_t *by = GR_NEW_N(k->a, uint32_t, ins->n); /* link number + 1 */
    if (!by) return gr_report_oom(k->d);
    for (uint32_t e = x->in_first[i]; e < x->in_first[i + 1] && !enough(k); e++) {
        const gr_canvas_link *l = &c->links[x->in[e]];
        uint32_t p = find_port(k, gr_canvas_below(k->a, l->at, "to"), n, l->to_port, ins, "input");
        if (p == UINT32_MAX) continue;
        if (by[p]) twice(k, l->at, c->links[by[p] - 1].at, n->id, ins->ids[p]);
        else by[p] = x->in[e] + 1;
    }
    for (uint32_t p = 0; p < ins->n && !enough(k); p++)
        if (!by[p]) gr_report(k->d, GR_D_CANVAS_PORT_OPEN, n->at, "link a node to it", "the input \"%.*s\" of \"%.*s\" has no link", GR_STR_ARG(ins->ids[p]), GR_STR_ARG(n->id));
    return true;
}

/* C8 */
static bool check_carry(checker *k, const gr_canvas_node *n, const gr_canvas_ports *ins, const gr_canvas_ports *outs) {
    gr_place at = gr_canvas_below(k->a, n->at, "carry");
    uint8_t *taken = GR_NEW_N(k->a, uint8_t, ins->n);
    if (!taken) return gr_report_oom(k->d);
    for (uint32_t i = 0; n->carry && i < n->carry->object.n && !enough(k); i++) {
        const gr_member *m = &n->carry->object.v[i];
        uint32_t p = 0;
        if (!gr_map_get(&outs->at, m->key, NULL)) gr_report(k->d, GR_D_CANVAS_CARRY, at, "name an output block of the body", "the body has no output \"%.*s\"", GR_STR_ARG(m->key));
        else if (!gr_map_get(&ins->at, m->value->s, &p)) gr_report(k->d, GR_D_CANVAS_CARRY, at, "name an input block of the body", "the body has no input \"%.*s\"", GR_STR_ARG(m->value->s));
        else if (taken[p]++) gr_report(k->d, GR_D_CANVAS_CARRY, at, "carry one output into an input", "two outputs are carried into \"%.*s\"", GR_STR_ARG(m->value->s));
    }
    for (uint32_t i = 0; n->count == 0 && i < outs->n && !enough(k); i++)
        if (!gr_value_get_str(n->carry, outs->ids[i]))
            gr_report(k->d, GR_D_CANVAS_CARRY, at, "repeat at least once, or carry it", "with a count of 0 the output \"%.*s\" has no value", GR_STR_ARG(outs->ids[i]));
    return true;
}

/* C9 */
static void check_branch(checker *k, const gr_canvas *c, const gr_canvas_index *x, uint32_t i, const gr_canvas_ports *outs, const gr_canvas_ports *other) {
    const gr_canvas_node *n = &c->nodes[i];
    bool literal = gr_str_eqz(n->condition, "true") || gr_str_eqz(n->condition, "false");
    gr_place at = gr_canvas_below(k->a, n->at, "condition");
    if (!literal && x->condition[i] == UINT32_MAX) {
        gr_report(k->d, GR_D_CANVAS_CONDITION, at, NULL, "there is no node \"%.*s\" to ask", GR_STR_ARG(n->condition));
        hint_near(k, c, n->condition);
    } else if (!literal && (c->nodes[x->condition[i]].block == GR_BLOCK_OUTPUT || x->condition[i] == i)) {
        gr_report(k->d, GR_D_CANVAS_CONDITION, at, "name a constant, an input or an op", "\"%.*s\" gives no value to a branch", GR_STR_ARG(n->condition));
    }
    for (int side = 0; side < 2; side++) {
        const gr_canvas_ports *have = side ? other : outs, *need = side ? outs : other;
        for (uint32_t p = 0; p < need->n && !enough(k); p++)
            if (!gr_map_get(&have->at, need->ids[p], NULL))
                gr_report(k->d, GR_D_CANVAS_BRANCH_OUTPUTS, gr_canvas_below(k->a, n->at, side ? "else" : "then"), "give both sides the same outputs", "the side has no output \"%.*s\"", GR_STR_ARG(need->ids[p]));
    }
}

static bool check_scope(checker *k, const gr_canvas *c, bool inner, bool called);

/* Inputs of a block with canvases inside: for a branch those of both sides. */
static bool join_ports(checker *k, gr_canvas_ports *to, const gr_canvas_ports *more) {
    gr_str *ids = gr_arena_grow(k->a, to->ids, to->n, (size_t)to->n + more->n, sizeof *ids);
    if (!ids) return gr_report_oom(k->d);
    to->ids = ids;
    for (uint32_t i = 0; i < more->n; i++) {
        if (gr_map_get(&to->at, more->ids[i], NULL)) continue;
        if (!gr_map_put(k->a, &to->at, more->ids[i], to->n)) return gr_report_oom(k->d);
        to->ids[to->n++] = more->ids[i];
    }
    return true;
}

static void tier_missing(gr_diags *d, const gr_canvas *c) {
    gr_report(d, GR_D_CANVAS_TIER_MISSING, c->at_tier, "add \"tier\": \"debug\" (same bits every run), \"prod\" (within the tolerance) or \"fast\" (throughput first)",
              "the document declares no determinism tier, and there is no default");
}

static bool check_nest(checker *k, const gr_canvas *c, const gr_canvas_index *x, uint32_t i, gr_canvas_ports *outs) {
    const gr_canvas_node *n = &c->nodes[i];
    gr_canvas_ports ins, ins2, outs2;
    if (!n->body) return true; /* a call that is not loaded */
    if (n->file.n && !n->body->tier) tier_missing(k->d, n->body);
    if (!gr_canvas_ports_make(k->a, n->body, GR_BLOCK_INPUT, &ins) || !gr_canvas_ports_make(k->a, n->body, GR_BLOCK_OUTPUT, outs)) return gr_report_oom(k->d);
    if (n->block == GR_BLOCK_REPEAT) GR_TRY(check_carry(k, n, &ins, outs));
    if (n->block == GR_BLOCK_BRANCH) {
        if (!gr_canvas_ports_make(k->a, n->other, GR_BLOCK_INPUT, &ins2) || !gr_canvas_ports_make(k->a, n->other, GR_BLOCK_OUTPUT, &outs2)) return gr_report_oom(k->d);
        check_branch(k, c, x, i, outs, &outs2);
        GR_TRY(join_ports(k, &ins, &ins2));
        if (n->other) GR_TRY(check_scope(k, n->other, true, false));
    }
    GR_TRY(check_inputs(k, c, x, i, &ins));
    return check_scope(k, n->body, true, n->file.n != 0);
}

/* C10 */
static void check_inner(checker *k, const gr_canvas_node *n, bool called) {
    if (n->block == GR_BLOCK_PARAMETER)
        gr_report(k->d, GR_D_CANVAS_NESTED_BLOCK, n->at, "make it an input and link a parameter of the outermost canvas to it", "\"%.*s\" is a parameter inside a nested canvas", GR_STR_ARG(n->id));
    else if (n->block == GR_BLOCK_TRAIN)
        gr_report(k->d, GR_D_CANVAS_NESTED_BLOCK, n->at, "give the loss by an output of the canvas, and train in the outermost one", "\"%.*s\" is a train block inside a nested canvas", GR_STR_ARG(n->id));
    else if (!called && (n->block == GR_BLOCK_INPUT ? n->file.n != 0 : n->files_n || n->plot))
        gr_report(k->d, GR_D_CANVAS_NESTED_BLOCK, n->at, "files belong to blocks of the outermost canvas", "\"%.*s\" of a nested canvas names a file or plot", GR_STR_ARG(n->id));
}

/* C7: walks back from a node of the circle along unfinished nodes until one comes again. */
static bool check_cycle(checker *k, const gr_canvas *c, const gr_canvas_index *x) {
    uint32_t n = c->nodes_n, at = UINT32_MAX, steps = 0;
    if (x->order_n == n) return true;
    uint8_t *done = GR_NEW_N(k->a, uint8_t, n);
    uint32_t *next = GR_NEW_N(k->a, uint32_t, n), *seen = GR_NEW_N(k->a, uint32_t, n);
    if (!done || !next || !seen) return gr_report_oom(k->d);
    for (uint32_t i = 0; i < x->order_n; i++) done[x->order[i]] = 1;
    for (uint32_t i = n; i-- > 0;)
        if (!done[i]) at = i;
    while (!seen[at]) {
        uint32_t before = UINT32_MAX;
        for (uint32_t e = x->in_first[at]; e < x->in_first[at + 1] && before == UINT32_MAX; e++) {
            uint32_t f = x->from[x->in[e]];
            if (f != UINT32_MAX && !done[f]) before = f;
        }
        if (before == UINT32_MAX) before = x->condition[at];
        seen[at] = ++steps;
        next[before] = at;
        at = before;
    }
    gr_buf path = {0};
    uint32_t start = at, shown = 0;
    do {
        if (shown++ < 8) gr_buf_printf(&path, "%.*s -> ", GR_STR_ARG(c->nodes[at].id));
        at = next[at];
    } while (at != start);
    if (shown > 8) gr_buf_puts(&path, "... -> ");
    gr_buf_str(&path, c->nodes[start].id);
    gr_report(k->d, GR_D_CANVAS_CYCLE, c->nodes[start].at, "remove one of these links; to feed a result back use a repeat block", "%s", path.failed ? "nodes depend on each other" : path.p);
    gr_buf_free(&path);
    return true;
}

static bool check_scope(checker *k, const gr_canvas *c, bool inner, bool called) {
    gr_canvas_index x;
    if (k->depth > GR_CANVAS_DEPTH_MAX) return gr_report(k->d, GR_D_CANVAS_TOO_DEEP, c->at, "flatten the calls", "canvases nest deeper than %d", GR_CANVAS_DEPTH_MAX);
    gr_canvas_ports *outs = GR_NEW_N(k->a, gr_canvas_ports, c->nodes_n);
    if (!outs || !gr_canvas_index_make(k->a, c, &x)) return gr_report_oom(k->d);
    k->depth++;
    bool output = false, ok = true;
    check_ids(k, c, &x);
    check_ends(k, c, &x);
    for (uint32_t i = 0; i < c->nodes_n && ok && !enough(k); i++) {
        const gr_canvas_node *n = &c->nodes[i];
        if (inner) check_inner(k, n, called);
        if (n->block == GR_BLOCK_OUTPUT) check_output(k, c, &x, i), output = true;
        if (n->block == GR_BLOCK_TRAIN) ok = check_train_links(k, c, &x, i), output = true;
        if (is_nest(n->block)) ok = ok && check_nest(k, c, &x, i, &outs[i]);
    }
    check_from_ports(k, c, &x, outs);
    if (!output && !enough(k)) gr_report(k->d, GR_D_CANVAS_EMPTY, c->at, "add a node { \"id\": \"result\", \"block\": \"output\" } and link to it", "the canvas has no output block");
    ok = ok && !enough(k) && check_cycle(k, c, &x);
    k->depth--;
    return ok;
}

bool gr_canvas_verify(gr_diags *d, const gr_canvas *c) {
    gr_arena scratch = {0};
    checker k = {.a = &scratch, .d = d, .errors_before = d->errors};
    if (!c->tier) tier_missing(d, c);
    check_training(&k, c);
    if (check_files(&k, c) && check_plots(&k, c)) check_scope(&k, c, false, false);
    gr_arena_free(&scratch);
    return d->errors == k.errors_before && !d->out_of_memory;
}
