/* train_step.c: the graph of a training step: the workflow, its backward, and an update of every parameter. */
#include "api/session.h"

typedef struct stepping {
    gr_program *p;
    gr_arena *a;
    gr_diags *d;
    const gr_canvas_node *block;
    const gr_op *op;
    gr_value_id step, rate;        /* inputs; GR_NO_VALUE where the optimizer takes none */
    gr_value_id scale, factor;     /* the loss scale, an input; what gradients are multiplied by. GR_NO_VALUE: none */
    gr_value_id *weight, *gradient; /* parameters that are trained */
    uint32_t n;
} stepping;

/* Only what is linked to the train block is computed. */
static void keep_quantities(stepping *x) {
    gr_graph *g = &x->p->drawn;
    uint32_t kept = 0;
    gr_str id = x->block->id;
    for (uint32_t i = 0; i < g->outputs_n; i++) {
        gr_str name = g->outputs[i].name;
        if (name.n > id.n && name.p[id.n] == '.' && !memcmp(name.p, id.p, id.n)) g->outputs[kept++] = g->outputs[i];
    }
    g->outputs_n = kept;
}

static gr_str named(stepping *x, gr_str a, const char *middle, gr_str b) {
    char *p = gr_arena_printf(x->a, "%.*s%s%.*s", GR_STR_ARG(a), middle, GR_STR_ARG(b));
    return p ? gr_str_of(p) : (gr_str){0};
}

static bool find_loss(stepping *x, gr_value_id *out) {
    const gr_graph *g = &x->p->drawn;
    gr_str name = named(x, x->block->id, ".", GR_STR("loss"));
    for (uint32_t i = 0; i < g->outputs_n; i++) {
        const gr_type *t = &g->values[g->outputs[i].value].type;
        uint64_t count = 0;
        if (!gr_type_count(t, &count) || count != 1 || t->bounded || !gr_dtype_is_float(t->dtype)) {
            gr_buf b = {0};
            gr_type_print(&b, t);
            gr_report(x->d, GR_D_GRAPH_NOTHING_TO_TRAIN, x->block->at, "reduce it to a single float", "\"%.*s\" is %s", GR_STR_ARG(g->outputs[i].name), b.p ? b.p : "?");
            gr_buf_free(&b);
            return false;
        }
        if (gr_str_eq(g->outputs[i].name, name)) *out = g->outputs[i].value;
    }
    return name.p || gr_report_oom(x->d);
}

static bool is_frozen(const stepping *x, gr_str id) {
    const gr_canvas *c = &x->p->canvas;
    for (uint32_t i = 0; i < c->nodes_n; i++)
        if (c->nodes[i].block == GR_BLOCK_PARAMETER && gr_str_eq(c->nodes[i].id, id)) return c->nodes[i].frozen;
    return true;
}

static bool find_weights(stepping *x) {
    const gr_graph *g = &x->p->drawn;
    x->weight = GR_NEW_N(x->a, gr_value_id, g->values_n);
    if (!x->weight) return gr_report_oom(x->d);
    for (gr_value_id v = 0; v < g->values_n; v++)
        if (g->values[v].source == GR_SOURCE_PARAMETER && gr_dtype_is_float(g->values[v].type.dtype) && !is_frozen(x, g->values[v].input)) x->weight[x->n++] = v;
    if (x->n) return true;
    return gr_report(x->d, GR_D_GRAPH_NOTHING_TO_TRAIN, x->block->at, "add a node with \"block\": \"parameter\", \"shape\" and \"init\"", "the document has no parameter to train");
}

static bool find_optimizer(stepping *x) {
    gr_session *s = x->p->session;
    gr_str id = x->block->train->op;
    x->op = gr_catalog_find(s->catalog, id);
    if (x->op && x->op->optimizer.declared) return true;
    if (!x->op && gr_session_report_broken(s, id)) return false;
    gr_str near = gr_catalog_near(s->catalog, id);
    gr_report(x->d, x->op ? GR_D_GRAPH_OPTIMIZER_UNFIT : GR_D_FLOW_OP_UNKNOWN, x->block->at, "name an op that has an [optimizer] table in op.toml; load the folder that holds it",
              x->op ? "\"%.*s\" is no optimizer: it has no [optimizer] table" : "there is no op \"%.*s\"", id.n > 120 ? 120 : (int)id.n, id.p);
    if (!x->op && near.n) gr_report_hint(x->d, "did you mean \"%.*s\"?", GR_STR_ARG(near));
    return false;
}

/* The backward of the loss by every weight; the graph becomes a longer one. */
static bool add_backward(stepping *x, gr_value_id loss) {
    gr_graph *g = GR_NEW(x->a, gr_graph);
    gr_gradient_seed seed = {loss, x->scale};
    x->gradient = GR_NEW_N(x->a, gr_value_id, x->n);
    if (!g || !x->gradient) return gr_report_oom(x->d);
    GR_TRY(gr_graph_opt_gradient(x->a, x->d, &x->p->drawn, x->p->session->catalog, &seed, 1, x->weight, x->n, g, x->gradient));
    x->p->drawn = *g;
    return true;
}

static bool add_scalar(stepping *x, gr_str operand, const char *name, gr_dtype dtype, gr_value_id *out) {
    *out = GR_NO_VALUE;
    if (!operand.n) return true;
    gr_str input = named(x, x->block->id, ".", gr_str_of(name));
    if (input.p) *out = gr_graph_add_input(x->a, &x->p->drawn, input, (gr_type){.dtype = dtype}, GR_SOURCE_INPUT);
    return *out != GR_NO_VALUE || gr_report_oom(x->d);
}

static bool is_state(const gr_optimizer *o, gr_str name) {
    for (uint32_t i = 0; i < o->state_n; i++)
        if (gr_str_eq(o->state[i], name)) return true;
    return false;
}

/* What goes into operand i for weight k. */
static bool operand_value(stepping *x, uint32_t i, uint32_t k, gr_value_id *out) {
    const gr_optimizer *o = &x->op->optimizer;
    gr_graph *g = &x->p->drawn;
    gr_str name = x->op->sig.operands[i].name;
    *out = GR_NO_VALUE;
    if (gr_str_eq(name, o->weight)) *out = x->weight[k];
    else if (gr_str_eq(name, o->gradient)) *out = x->gradient[k];
    else if (o->step.n && gr_str_eq(name, o->step)) *out = x->step;
    else if (gr_str_eq(name, o->rate)) *out = x->rate;
    else if (o->factor.n && gr_str_eq(name, o->factor)) *out = x->factor;
    else if (is_state(o, name)) {
        gr_type t = g->values[x->weight[k]].type;
        gr_str input = named(x, g->values[x->weight[k]].input, ".", name);
        t.dtype = gr_dtype_find(x->op->sig.operands[i].dtype);
        if (!t.dtype) t.dtype = g->values[x->weight[k]].type.dtype;
        if (input.p) *out = gr_graph_add_input(x->a, g, input, t, GR_SOURCE_STATE);
        return *out != GR_NO_VALUE || gr_report_oom(x->d);
    }
    return true;
}

static bool make_params(stepping *x, gr_arg **out, uint32_t *n) {
    const gr_value *v = x->block->train->params;
    *n = v ? v->object.n : 0;
    *out = GR_NEW_N(x->a, gr_arg, *n);
    if (!*out) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < *n; i++) {
        gr_place at = x->block->at;
        gr_str pointer = named(x, at.pointer, "/optimizer/params/", v->object.v[i].key);
        if (pointer.p) at.pointer = pointer;
        (*out)[i] = (gr_arg){.name = v->object.v[i].key, .value = v->object.v[i].value, .at = at};
    }
    return true;
}

/* One call of the optimizer. Its results are outputs under the names of what they update: "w", "w.m". */
static bool add_update(stepping *x, uint32_t k) {
    gr_graph *g = &x->p->drawn;
    const gr_sig *sig = &x->op->sig;
    gr_value_id *args = GR_NEW_N(x->a, gr_value_id, sig->operands_n), *results = GR_NEW_N(x->a, gr_value_id, sig->outputs_n);
    gr_str id = g->values[x->weight[k]].input, node = named(x, x->block->id, "/", id);
    gr_arg *params;
    uint32_t params_n;
    if (!args || !results || !node.p) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < sig->operands_n; i++) GR_TRY(operand_value(x, i, k, &args[i]));
    GR_TRY(make_params(x, &params, &params_n));
    if (!gr_graph_add_node(x->a, x->d, g, x->op, args, sig->operands_n, params, params_n, node, x->block->at, results)) return false;
    g->nodes[g->nodes_n - 1].backward = true;
    for (uint32_t i = 0; i < sig->outputs_n; i++) {
        bool weight = gr_str_eq(sig->outputs[i].name, x->op->optimizer.weight);
        gr_str name = weight ? id : named(x, id, ".", sig->outputs[i].name);
        if (!name.p || !gr_graph_add_output(x->a, g, name, results[i])) return gr_report_oom(x->d);
    }
    return true;
}

/* ---- mixed precision and clipping -------------------------------------------------- */

static bool unfit(stepping *x, const char *what) {
    return gr_report(x->d, GR_D_GRAPH_OPTIMIZER_UNFIT, x->block->at, "take an optimizer of the catalog, or leave out \"clip\" and \"precision\"",
                     "the [optimizer] table of \"%.*s\" names no %s", GR_STR_ARG(x->op->id), what);
}

/* An op that the optimizer's table names. */
static bool helper(stepping *x, gr_str id, const char *what, const gr_op **out) {
    *out = id.n ? gr_catalog_find(x->p->session->catalog, id) : NULL;
    return *out || unfit(x, what);
}

/* The forward in f16 where ops say so; the loss stays an f32. */
static bool mix(stepping *x) {
    const gr_target *t = &x->p->target;
    const gr_op *convert;
    gr_graph *g = GR_NEW(x->a, gr_graph);
    if (t->kind == GR_TARGET_WEBGPU && !t->shader_f16)
        return gr_report(x->d, GR_D_KERNEL_NO_F16, x->block->at, "leave out \"precision\", or train on the CPU (--device cpu) or an adapter with shader-f16",
                         "\"%.*s\" computes in f16, and %.*s has no shader-f16", GR_STR_ARG(x->block->id), GR_STR_ARG(t->adapter));
    if (!g) return gr_report_oom(x->d);
    GR_TRY(helper(x, x->op->optimizer.convert, "op that converts to f16 (convert)", &convert));
    GR_TRY(gr_graph_opt_mixed(x->a, x->d, &x->p->drawn, convert, g));
    x->p->drawn = *g;
    return true;
}

static gr_arg number_arg(const char *name, double v, gr_place at) {
    return (gr_arg){.name = gr_str_of(name), .at = at, .is_resolved = true, .resolved = {.kind = GR_PARAM_F32, .given = true, .f = v}};
}

/* The sum of the squares of all gradients. */
static bool sum_squares(stepping *x, const gr_op *square, gr_value_id *total) {
    const gr_op *add = gr_catalog_role(x->p->session->catalog, GR_ROLE_ACCUMULATE);
    if (!add) return unfit(x, "op of the role accumulate");
    for (uint32_t k = 0; k < x->n; k++) {
        gr_value_id one, both[2];
        gr_str node = named(x, x->block->id, "/square/", x->p->drawn.values[x->weight[k]].input);
        if (!node.p) return gr_report_oom(x->d);
        GR_TRY(gr_graph_add_node(x->a, x->d, &x->p->drawn, square, &x->gradient[k], 1, NULL, 0, node, x->block->at, &one));
        x->p->drawn.nodes[x->p->drawn.nodes_n - 1].backward = true;
        both[0] = *total;
        both[1] = one;
        if (k == 0) *total = one;
        else GR_TRY(gr_graph_add_node(x->a, x->d, &x->p->drawn, add, both, 2, NULL, 0, named(x, node, "/", GR_STR("sum")), x->block->at, total));
        x->p->drawn.nodes[x->p->drawn.nodes_n - 1].backward = true;
    }
    return true;
}

static bool clip_values(stepping *x, double most) {
    const gr_op *clip;
    GR_TRY(helper(x, x->op->optimizer.clip, "op that clips values (clip)", &clip));
    for (uint32_t k = 0; k < x->n; k++) {
        gr_value_id args[2] = {x->gradient[k], x->scale};
        gr_arg most_arg = number_arg("max_value", most, x->block->at);
        gr_str node = named(x, x->block->id, "/clip/", x->p->drawn.values[x->weight[k]].input);
        if (!node.p) return gr_report_oom(x->d);
        GR_TRY(gr_graph_add_node(x->a, x->d, &x->p->drawn, clip, args, 2, &most_arg, 1, node, x->block->at, &x->gradient[k]));
        x->p->drawn.nodes[x->p->drawn.nodes_n - 1].backward = true;
    }
    return true;
}

/* What every update multiplies its gradient by, as an output too: 0 tells the loop that the step was left out. */
static bool add_factor(stepping *x) {
    const gr_canvas_train *t = x->block->train;
    const gr_optimizer *o = &x->op->optimizer;
    const gr_op *square, *scale;
    gr_value_id total = GR_NO_VALUE;
    if (!t->mixed && !(t->clip_norm > 0) && !(t->clip_value > 0)) return true;
    if (!o->factor.n) return unfit(x, "operand that multiplies the gradient (factor)");
    GR_TRY(helper(x, o->square, "op for sums of squares (square)", &square) && helper(x, o->scale, "op for the factor (scale)", &scale));
    GR_TRY(sum_squares(x, square, &total));
    gr_value_id args[2] = {total, x->scale};
    gr_arg norm = number_arg("max_norm", t->clip_norm, x->block->at);
    gr_str node = named(x, x->block->id, "/", GR_STR("factor"));
    if (!node.p) return gr_report_oom(x->d);
    GR_TRY(gr_graph_add_node(x->a, x->d, &x->p->drawn, scale, args, 2, &norm, 1, node, x->block->at, &x->factor));
    x->p->drawn.nodes[x->p->drawn.nodes_n - 1].backward = true;
    if (!gr_graph_add_output(x->a, &x->p->drawn, node, x->factor)) return gr_report_oom(x->d);
    return !(t->clip_value > 0) || clip_values(x, t->clip_value);
}

/* The loss scale comes in as an input, the cotangent of the loss. */
static bool add_scale(stepping *x, gr_value_id loss) {
    const gr_type *t = &x->p->drawn.values[loss].type;
    if (!x->block->train->mixed) return true;
    if (t->rank || t->dtype != GR_DTYPE_F32)
        return gr_report(x->d, GR_D_GRAPH_NOTHING_TO_TRAIN, x->block->at, "reduce it to f32[]", "mixed precision scales a loss without dimensions");
    return add_scalar(x, GR_STR("scale"), "scale", GR_DTYPE_F32, &x->scale);
}

bool gr_program_make_step(gr_program *p) {
    stepping x = {.p = p, .a = &p->arena[GR_RUNG_GRAPH], .d = &p->session->diags, .block = gr_canvas_training(&p->canvas)};
    gr_value_id loss = GR_NO_VALUE;
    x.scale = x.factor = GR_NO_VALUE;
    keep_quantities(&x);
    if (p->train == GR_TRAIN_STEP || x.block->train->mixed) GR_TRY(find_optimizer(&x));
    if (x.block->train->mixed) GR_TRY(mix(&x));
    GR_TRY(find_loss(&x, &loss));
    if (p->train != GR_TRAIN_STEP) return true;
    GR_TRY(find_weights(&x) && add_scale(&x, loss) && add_backward(&x, loss) && add_factor(&x));
    GR_TRY(add_scalar(&x, x.op->optimizer.step, "step", GR_DTYPE_I32, &x.step) && add_scalar(&x, x.op->optimizer.rate, "rate", GR_DTYPE_F32, &x.rate));
    for (uint32_t k = 0; k < x.n; k++) GR_TRY(add_update(&x, k));
    return true;
}
