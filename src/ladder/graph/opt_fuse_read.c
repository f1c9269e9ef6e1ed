/* Maps computed where a kernel reads them. A reduction over (x - m)^2 reads x and m and squares the difference as it goes: the kernel is the
 * one of the op, with a function in place of the array (docs/kernel.md). The op says by `once` in its binding that it
 * reads each element about once.
 *
 * Maps are taken in from the operand up while what they read costs no more than what they give. A map that other nodes use as well is
 * computed again there, which is cheaper than storing it as long as it reads about what it gives; it goes when
 * nothing uses it any more. */
#include "ladder/graph/opt_fuse_int.h"

enum { MAPS_MAX = 16, AGAIN_MAX = 12, TRANSCENDENTAL_COST = 4 };

typedef struct taker {
    gr_arena *a, *scratch;
    gr_diags *d;
    const gr_graph *g;
    const gr_fuse_rules *rules;
    gr_fuse_facts k;
    bool *takes;       /* by node: takes a map in */
    uint32_t *uses;    /* by value: consumers left */
    bool *gone;        /* by node */
    gr_graph *out;
} taker;

static bool has(const gr_value_id *list, uint32_t n, gr_value_id v) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

static uint64_t bytes_of(const taker *x, gr_value_id v) {
    uint64_t n = 0;
    return gr_type_device_bytes(&x->g->values[v].type, &n) ? n : UINT64_MAX / 64;
}

/* The map that gives v, where nothing but maps and kernels that may take it in use it: else it is stored anyway. */
static bool may_take(const taker *x, uint32_t node, gr_value_id v, uint32_t *p) {
    const gr_graph_value *gv = &x->g->values[v];
    if (gv->source != GR_SOURCE_NODE || x->k.wanted[v] || !x->k.map[gv->node]) return false;
    *p = gv->node;
    const gr_graph_node *m = &x->g->nodes[*p], *n = &x->g->nodes[node];
    if (m->backward != n->backward || m->again != n->again || gr_fuse_bounded(&m->call)) return false;
    for (uint32_t i = x->k.first[v]; i < x->k.first[v + 1]; i++)
        if (!x->k.map[x->k.use[i]] && x->k.use[i] != node && !x->takes[x->k.use[i]]) return false;
    return true;
}

/* Operands and parameters of the maps; false when they are too many, or do not span the shape. */
static bool measure(const taker *x, uint32_t buffers, gr_fuse_group *f) {
    const gr_type *shape = &x->g->values[f->out[0]].type;
    uint32_t again = 0;
    f->in_n = f->constants_n = f->params_n = 0;
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        const gr_graph_node *n = &x->g->nodes[f->node[i]];
        bool full = true;
        for (uint32_t k = 0; k < shape->rank; k++) full = full && n->call.outputs[0].rank == shape->rank && n->call.outputs[0].dim[k].n == shape->dim[k].n;
        if (!full) again += n->call.op->category == GR_CATEGORY_TRANSCENDENTAL ? TRANSCENDENTAL_COST : 1;
        f->params_n += x->k.params[f->node[i]];
        for (uint32_t j = 0; j < n->call.operands_n; j++) {
            gr_value_id v = n->args[j];
            if (!(x->k.reads[f->node[i]] >> j & 1) || has(f->in, f->in_n, v) || has(f->constant, f->constants_n, v)) continue;
            if (x->g->values[v].source == GR_SOURCE_NODE && has(f->node, f->nodes_n, x->g->values[v].node)) continue;
            bool scalar = gr_fuse_scalar(&x->g->values[v]);
            if (scalar ? f->constants_n == GR_FUSE_PARAMS_MAX : f->in_n == GR_FUSE_OPERANDS_MAX) return false;
            if (scalar) f->constant[f->constants_n++] = v;
            else f->in[f->in_n++] = v;
        }
    }
    f->params_n += f->constants_n;
    return again <= AGAIN_MAX && f->params_n <= GR_FUSE_PARAMS_MAX && f->in_n <= buffers && gr_fuse_spans(x->g, shape, f);
}

static void insert(gr_fuse_group *f, uint32_t node) {
    uint32_t k = f->nodes_n++;
    for (; k > 0 && f->node[k - 1] > node; k--) f->node[k] = f->node[k - 1];
    f->node[k] = node;
}

/* Worth it for a value that others use: reading what the map reads is not much more than reading the value. */
static bool cheap_again(const taker *x, uint32_t p, gr_value_id v) {
    const gr_graph_node *m = &x->g->nodes[p];
    uint64_t reads = 0, gives = bytes_of(x, v);
    if (x->k.first[v + 1] - x->k.first[v] == 1) return true;
    for (uint32_t j = 0; j < m->call.operands_n; j++)
        if (x->k.reads[p] >> j & 1) reads += bytes_of(x, m->args[j]);
    return reads <= gives + gives / 4;
}

/* Takes in what feeds the maps, as long as it fits. */
static void grow(const taker *x, uint32_t node, uint32_t buffers, gr_fuse_group *f) {
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < f->in_n && !more; i++) {
            gr_fuse_group with = *f;
            uint32_t p;
            if (f->nodes_n == MAPS_MAX || !may_take(x, node, f->in[i], &p) || !cheap_again(x, p, f->in[i])) continue;
            insert(&with, p);
            more = measure(x, buffers, &with);
            if (more) *f = with;
        }
    }
}

static bool reads_dtype(gr_dtype t) { return t == GR_DTYPE_F32 || t == GR_DTYPE_F16 || t == GR_DTYPE_I32 || t == GR_DTYPE_U32; }

/* The maps that operand i takes in; false: none. */
static bool find(const taker *x, uint32_t node, uint32_t i, gr_fuse_group *f) {
    const gr_graph_node *n = &x->g->nodes[node];
    gr_value_id v = n->args[i];
    uint32_t p, count = 0;
    if (v == GR_NO_VALUE || !reads_dtype(n->call.operands[i].dtype) || gr_fuse_bounded(&n->call) || !may_take(x, node, v, &p)) return false;
    for (uint32_t j = 0; j < n->call.operands_n; j++) count += n->args[j] == v;
    uint64_t elements = 0;
    uint32_t buffers = count == 1 ? x->rules->absorbs(x->rules->user, x->g, node, i) : 0;
    if (!buffers || !gr_type_count(&n->call.operands[i], &elements) || elements < 2) return false;
    *f = (gr_fuse_group){.g = x->g, .nodes_n = 1, .node = {p}, .out_n = 1, .out = {v}};
    if (!measure(x, buffers, f)) return false;
    grow(x, node, buffers, f);
    return true;
}

/* ---- the fused node ------------------------------------------------------------------------ */

static bool name_fusion(taker *x, const gr_graph_node *n, const gr_call *map, gr_op *op, gr_fusion *f) {
    const gr_fusion *m = map->op->fusion;
    f->n = m->n + 1;
    f->ops = GR_NEW_N(x->a, const gr_op *, f->n);
    f->nodes = GR_NEW_N(x->a, gr_str, f->n);
    if (!f->ops || !f->nodes) return gr_report_oom(x->d);
    memcpy(f->ops, m->ops, m->n * sizeof *f->ops);
    memcpy(f->nodes, m->nodes, m->n * sizeof *f->nodes);
    f->ops[m->n] = n->call.op;
    f->nodes[m->n] = n->node;
    gr_str stem = {map->op->id.p, map->op->id.n - 2}; /* without @1 */
    char *id = gr_arena_printf(x->a, "%.*s.%.*s@1", GR_STR_ARG(stem), GR_STR_ARG(n->call.op->sig.name));
    gr_buf why = {0};
    gr_buf_puts(&why, "computed where it is read:");
    for (uint32_t i = 0; i < m->n; i++) gr_buf_printf(&why, "%s %.*s", i ? "," : "", GR_STR_ARG(m->ops[i]->id));
    f->why = why.failed ? (gr_str){0} : gr_str_dup(x->a, gr_buf_view(&why));
    gr_buf_free(&why);
    if (!id || !f->why.p) return gr_report_oom(x->d);
    op->id = gr_str_of(id);
    return true;
}

/* Operands of the fused call: those of the map, then the others of the core. */
static bool fill_call(taker *x, gr_graph_node *n, const gr_fuse_group *f, const gr_call *core, uint32_t at) {
    uint32_t count = f->in_n + core->operands_n - 1, k = f->in_n;
    gr_value_id *args = GR_NEW_N(x->a, gr_value_id, count);
    n->call.operands = GR_NEW_N(x->a, gr_type, count);
    if (!args || !n->call.operands) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < f->in_n; i++) {
        args[i] = f->in[i];
        n->call.operands[i] = x->g->values[f->in[i]].type;
    }
    for (uint32_t i = 0; i < core->operands_n; i++) {
        if (i == at) continue;
        args[k] = n->args[i];
        n->call.operands[k++] = core->operands[i];
    }
    n->args = args;
    n->call.operands_n = count;
    return true;
}

static bool add_names(taker *x, gr_graph_node *n, const gr_fuse_group *f) {
    uint32_t room = n->also_n + f->nodes_n, k = n->also_n;
    for (uint32_t i = 0; i < f->nodes_n; i++) room += x->g->nodes[f->node[i]].also_n;
    gr_str *also = GR_NEW_N(x->a, gr_str, room);
    if (!also) return gr_report_oom(x->d);
    if (k) memcpy(also, n->also, k * sizeof *also);
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        const gr_graph_node *m = &x->g->nodes[f->node[i]];
        also[k++] = m->node;
        for (uint32_t j = 0; j < m->also_n; j++) also[k++] = m->also[j];
    }
    n->also = also;
    n->also_n = k;
    return true;
}

static bool take(taker *x, gr_graph_node *n, const gr_fuse_group *f, uint32_t at) {
    gr_call *core = GR_NEW(x->a, gr_call), *map = GR_NEW(x->a, gr_call);
    gr_op *op = GR_NEW(x->a, gr_op);
    gr_fusion *fusion = GR_NEW(x->a, gr_fusion);
    if (!core || !map || !op || !fusion) return gr_report_oom(x->d);
    *core = n->call;
    GR_TRY(gr_fuse_make(x->a, x->d, f, n->at, map));
    *op = *core->op;
    op->splits_n = 0;
    op->fusion = fusion;
    fusion->core = core;
    fusion->map = map;
    fusion->at = at;
    n->call.op = op;
    return name_fusion(x, &(gr_graph_node){.call = *core, .node = n->node}, map, op, fusion) && fill_call(x, n, f, core, at) && add_names(x, n, f);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool start(taker *x) {
    const gr_graph *g = x->g;
    x->takes = GR_NEW_N(x->scratch, bool, g->nodes_n);
    x->gone = GR_NEW_N(x->scratch, bool, g->nodes_n);
    x->uses = GR_NEW_N(x->scratch, uint32_t, g->values_n);
    if (!x->takes || !x->gone || !x->uses) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < g->nodes_n; i++)
        for (uint32_t j = 0; !x->k.map[i] && j < g->nodes[i].call.operands_n && !x->takes[i]; j++)
            x->takes[i] = g->nodes[i].args[j] != GR_NO_VALUE && x->rules->absorbs && x->rules->absorbs(x->rules->user, g, i, j) > 0;
    *x->out = *g;
    x->out->values = GR_NEW_N(x->a, gr_graph_value, g->values_n);
    x->out->nodes = GR_NEW_N(x->a, gr_graph_node, g->nodes_n);
    if (!x->out->values || !x->out->nodes) return gr_report_oom(x->d);
    if (g->values_n) memcpy(x->out->values, g->values, g->values_n * sizeof *g->values);
    if (g->nodes_n) memcpy(x->out->nodes, g->nodes, g->nodes_n * sizeof *g->nodes);
    x->out->values_cap = g->values_n;
    x->out->nodes_cap = g->nodes_n;
    return true;
}

static bool take_in(taker *x, gr_fuse_group *f) {
    for (uint32_t i = 0; i < x->g->nodes_n; i++) {
        gr_graph_node *n = &x->out->nodes[i];
        for (uint32_t j = 0; x->takes[i] && j < x->g->nodes[i].call.operands_n; j++) {
            if (!find(x, i, j, f)) continue;
            for (uint32_t k = 0; k < f->nodes_n; k++) { /* where it is computed, should its own node go */
                gr_graph_value *v = &x->out->values[x->g->nodes[f->node[k]].results[0]];
                v->result = GR_FUSED;
                v->node = i;
            }
            GR_TRY(take(x, n, f, j));
            break;
        }
    }
    return true;
}

/* Maps that nothing uses any more go, from the last to the first. */
static void drop_unused(taker *x) {
    for (uint32_t i = 0; i < x->out->nodes_n; i++)
        for (uint32_t j = 0; j < x->out->nodes[i].call.operands_n; j++)
            if (x->out->nodes[i].args[j] != GR_NO_VALUE) x->uses[x->out->nodes[i].args[j]]++;
    for (uint32_t i = x->out->nodes_n; i-- > 0;) {
        const gr_graph_node *n = &x->out->nodes[i];
        if (!x->k.map[i] || x->uses[n->results[0]] || x->out->values[n->results[0]].result != GR_FUSED) continue;
        x->gone[i] = true;
        for (uint32_t j = 0; j < n->call.operands_n; j++)
            if (n->args[j] != GR_NO_VALUE) x->uses[n->args[j]]--;
    }
}

/* What is left, and the new numbers of nodes in the values. */
static void close_ranks(taker *x) {
    uint32_t kept = 0, *number = x->uses; /* not needed any more; there is a value for every node that counts */
    const gr_graph *g = x->g;
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        if (x->gone[i]) continue;
        gr_graph_node n = x->out->nodes[i];
        for (uint32_t r = 0; r < n.call.outputs_n; r++) {
            if (n.results[r] == GR_NO_VALUE) continue;
            x->out->values[n.results[r]].node = kept;
            x->out->values[n.results[r]].result = r;
            number[n.results[r]] = kept;
        }
        x->out->nodes[kept++] = n;
    }
    for (uint32_t v = 0; v < g->values_n; v++) {
        gr_graph_value *gv = &x->out->values[v];
        if (gv->source != GR_SOURCE_NODE || gv->result != GR_FUSED) continue;
        const gr_graph_node *user = &g->nodes[gv->node]; /* the node that took it in, by a result of its own */
        for (uint32_t r = 0; r < user->call.outputs_n; r++)
            if (user->results[r] != GR_NO_VALUE) gv->node = number[user->results[r]];
    }
    x->out->nodes_n = kept;
}

bool gr_fuse_reads_in_place(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_fuse_rules *rules, gr_graph *out) {
    gr_arena scratch = {0};
    taker x = {.a = a, .scratch = &scratch, .d = d, .g = g, .rules = rules, .out = out};
    gr_fuse_group *f = GR_NEW(&scratch, gr_fuse_group);
    bool ok = f ? gr_fuse_note(&scratch, d, g, rules, &x.k) && start(&x) && take_in(&x, f) : gr_report_oom(d);
    if (ok) {
        drop_unused(&x);
        close_ranks(&x);
    }
    gr_arena_free(&scratch);
    return ok;
}
