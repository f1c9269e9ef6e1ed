/* pieces.c: one piece of a node: its shapes, its kernels, its memory. */
#include "ladder/plan/split_int.h"

uint64_t gr_element_bytes(gr_dtype t) {
    gr_type two = {.dtype = t, .rank = 1, .dim = {{.n = 2}}};
    uint64_t bytes = 0;
    return gr_type_device_bytes(&two, &bytes) ? bytes / 2 : 4;
}

gr_span gr_whole_span(const gr_type *t) {
    uint64_t bytes = 0;
    gr_type_device_bytes(t, &bytes); /* counted when its home was made */
    return (gr_span){1, bytes, 0, bytes};
}

bool gr_axis_span(const gr_type *t, uint32_t axis, uint64_t lo, uint64_t hi, gr_span *s) {
    uint64_t inner = gr_element_bytes(t->dtype), outer = 1, total = 0;
    for (uint32_t k = axis + 1; k < t->rank; k++) inner *= t->dim[k].n;
    for (uint32_t k = 0; k < axis; k++) outer *= t->dim[k].n;
    if (hi > t->dim[axis].n || lo >= hi || !gr_type_device_bytes(t, &total)) return false;
    *s = (gr_span){outer, t->dim[axis].n * inner, lo * inner, (hi - lo) * inner};
    if (outer == 1 && hi == t->dim[axis].n) s->run = total - s->lo; /* with the padding of the last word */
    return s->lo % 4 == 0 && s->run % 4 == 0 && (outer == 1 || (s->stride % 4 == 0 && outer <= GR_MAX_RUNS));
}

void gr_cut_why(gr_cut *x, const char *what) {
    bool begins = x->why->n == 0 || x->why->p[x->why->n - 1] == ' '; /* behind "split n: " */
    gr_buf_printf(x->why, "%s%s", begins ? "" : "; ", what);
}

bool gr_cut_begin(gr_cut *x, gr_builder *b, uint32_t node, uint64_t limit, gr_buf *why) {
    const gr_graph_node *n = &b->g->nodes[node];
    uint32_t all = n->call.operands_n + n->call.outputs_n, params = n->call.op->sig.params_n;
    *x = (gr_cut){.b = b, .node = node, .n = n, .c = &n->call, .in_n = n->call.operands_n, .out_n = n->call.outputs_n, .why = why};
    x->limit = limit < b->lim.binding ? limit : b->lim.binding;
    x->type = GR_NEW_N(b->a, gr_type, all);
    x->span = GR_NEW_N(b->a, gr_span, all);
    x->loc = GR_NEW_N(b->a, gr_loc, all);
    x->local = GR_NEW_N(b->a, gr_value_id, all);
    x->args = GR_NEW_N(b->a, gr_arg, params);
    if (!x->type || !x->span || !x->loc || !x->local || !x->args) return gr_report_oom(b->d);
    for (uint32_t i = 0; i < all; i++) {
        x->type[i] = i < x->in_n ? n->call.operands[i] : n->call.outputs[i - x->in_n];
        x->local[i] = (i < x->in_n ? n->args[i] : n->results[i - x->in_n]) == GR_NO_VALUE ? GR_NO_VALUE : i;
    }
    for (uint32_t i = 0; i < params; i++)
        x->args[i] = (gr_arg){.name = n->call.op->sig.params[i].name, .resolved = n->call.params[i], .is_resolved = true, .at = n->at};
    return true;
}

static bool set_one(gr_cut *x, gr_diags *d, const gr_split_set *s, const gr_cut_names *names) {
    gr_param value, index = {0}, *p = NULL;
    for (uint32_t i = 0; i < x->c->op->sig.params_n; i++)
        if (gr_str_eq(x->args[i].name, s->name)) p = &x->args[i].resolved;
    if (!p || !gr_expr_cut(x->b->a, d, s->value, x->c, names, x->n->at, &value)) return false;
    if (!s->index) {
        p->i = value.i;
        p->n = value.n;
        p->li = value.li;
        return true;
    }
    if (!gr_expr_cut(x->b->a, d, s->index, x->c, names, x->n->at, &index) || index.i < 0 || index.i >= p->n) return false;
    int64_t *list = GR_NEW_N(x->b->a, int64_t, p->n);
    if (!list) return gr_report_oom(d);
    memcpy(list, p->li, p->n * sizeof *list);
    list[index.i] = value.i;
    p->li = list;
    return true;
}

bool gr_cut_set(gr_cut *x, const gr_split *s, const gr_cut_names *names) {
    bool ok = true;
    gr_diags d;
    gr_diags_init(&d);
    for (uint32_t i = 0; i < x->c->op->sig.params_n; i++) x->args[i].resolved = x->c->params[i];
    for (uint32_t i = 0; s && i < s->sets_n && ok; i++) ok = set_one(x, &d, &s->sets[i], names);
    gr_diags_free(&d);
    return ok;
}

static bool over_limits(const gr_cut *x) {
    for (uint32_t i = 0; i < x->kernels_n; i++)
        for (uint32_t j = 0; j < x->kernels[i].binds_n; j++)
            if (x->kernels[i].binds[j].kind == GR_KB_SCRATCH && x->kernels[i].binds[j].bytes > x->b->lim.binding) return true;
    return false;
}

static bool same_shape(const gr_type *x, const gr_type *y) {
    if (x->rank != y->rank) return false;
    for (uint32_t k = 0; k < x->rank; k++)
        if (x->dim[k].n != y->dim[k].n) return false;
    return true;
}

static gr_split_result refused(gr_cut *x, gr_diags *d) {
    gr_cut_why(x, d->list.n ? "a piece is refused: " : "a piece is refused");
    if (d->list.n) gr_buf_str(x->why, d->list.v[0].message);
    return d->out_of_memory ? GR_SPLIT_FAILED : GR_SPLIT_IMPOSSIBLE;
}

gr_split_result gr_cut_instantiate(gr_cut *x, bool check_outputs) {
    gr_builder *b = x->b;
    gr_diags d;
    gr_split_result r = GR_SPLIT_DONE;
    gr_diags_init(&d);
    x->kernels = NULL;
    x->kernels_n = 0;
    if (!gr_call_resolve(b->a, &d, x->c->op, x->type, x->in_n, x->args, x->c->op->sig.params_n, x->n->at, &x->call)) {
        r = refused(x, &d);
    } else if (x->call.outputs_n != x->out_n) {
        r = GR_SPLIT_IMPOSSIBLE;
    } else {
        for (uint32_t i = 0; check_outputs && i < x->out_n; i++)
            if (!same_shape(&x->call.outputs[i], &x->type[x->in_n + i])) {
                gr_cut_why(x, "a piece has another output shape than its split clause says");
                r = GR_SPLIT_IMPOSSIBLE;
            }
        if (r == GR_SPLIT_DONE && !gr_kernel_instantiate_in(b->cache, b->a, &d, &x->call, b->t, b->tier, x->local, x->local + x->in_n, x->n->node,
                                                            x->node, x->n->at, &x->kernels, &x->kernels_n))
            r = refused(x, &d);
        else if (r == GR_SPLIT_DONE && (!gr_kernels_fit(b, x->kernels, x->kernels_n) || over_limits(x))) {
            gr_cut_why(x, "a piece still dispatches too many workgroups or needs too much scratch");
            r = GR_SPLIT_IMPOSSIBLE;
        }
    }
    gr_diags_free(&d);
    return r;
}

bool gr_cut_run(gr_cut *x, const gr_loc *out_loc) {
    gr_builder *b = x->b;
    for (uint32_t i = 0; i < x->in_n; i++) {
        x->loc[i] = (gr_loc){.buffer = GR_NO_BUFFER, .value = GR_NO_VALUE, .count = GR_NO_BUFFER};
        if (x->n->args[i] != GR_NO_VALUE) GR_TRY(gr_span_fetch(b, x->n->args[i], x->span[i], &x->loc[i]));
    }
    for (uint32_t i = 0; i < x->out_n; i++) {
        uint32_t at = x->in_n + i;
        if (out_loc) x->loc[at] = out_loc[i];
        else if (x->n->results[i] != GR_NO_VALUE) GR_TRY(gr_span_place(b, x->n->results[i], x->span[at], &x->loc[at]));
    }
    GR_TRY(gr_dispatch_all(b, x->kernels, x->kernels_n, x->loc, gr_call_work(&x->call)));
    for (uint32_t i = 0; i < x->in_n; i++) GR_TRY(gr_span_done(b, &x->loc[i]));
    for (uint32_t i = 0; !out_loc && i < x->out_n; i++) {
        uint32_t at = x->in_n + i;
        if (x->n->results[i] == GR_NO_VALUE) continue;
        GR_TRY(gr_span_flush(b, x->n->results[i], x->span[at], &x->loc[at]) && gr_span_done(b, &x->loc[at]));
    }
    return true;
}
