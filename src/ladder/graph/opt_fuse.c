/* Map fusion: which maps become one node.
 *
 * Nodes are taken in order; each joins the groups of the maps that feed it, the latest first, where the union
 *   - computes in one shape: that of the node. A value of a smaller shape may be computed again for every element that
 *     it is broadcast to, where that is cheap and nothing else wants it;
 *   - can run as one: no path leads from it through another node back into it;
 *   - stays within the storage buffers that a kernel may bind.
 * Then the groups are put in an order that their operands allow. Work is linear in the nodes, times the size of a group. */
#include "ladder/graph/opt_fuse_int.h"

enum {
    AGAIN_MAX = 12,  /* cost of what is computed again for every element of a broadcast */
    TRANSCENDENTAL_COST = 4,
    SPAN_MAX = 4096, /* positions between the first and the last member of a group */
    SEARCH_MAX = 4096,
};

typedef enum apart { TOGETHER = 0, NOT_A_MAP, OTHER_PASS, BOUNDED, SHAPE_WANTED, COSTLY_AGAIN, SHAPE_GIVEN, PATH, BUFFERS, TOO_LARGE } apart;

static const char *const reason[] = {
    "", "its op is no map", "it belongs to the forward, or is computed again for the backward", "it is bounded", "it is used elsewhere in a smaller shape",
    "it is broadcast, and costly to compute for every element", "its shape is given by a parameter", "what is between them has to run in between",
    "one kernel would bind more storage buffers than the target allows", "the node would be too large",
};

/* Why node `node` was not joined with the group of its operand's producer. */
typedef struct refusal { uint32_t node, producer; apart why; } refusal;

typedef struct fuser {
    gr_arena *a, *scratch;
    gr_diags *d;
    const gr_graph *g;
    const gr_fuse_rules *rules;
    gr_fuse_facts k;
    uint32_t *group;               /* by node: the first of its group's members */
    uint32_t *next, *last, *size;  /* members as a list from the first, ascending; last and size by first member */
    uint32_t *low;                 /* by position: the first member of the groups that begin before it and end at it or behind */
    uint32_t *mark, stamp;         /* by node */
    GR_VEC(refusal) refused;       /* in the order of the nodes */
    uint32_t *refused_at;          /* by node: its first */
    uint32_t *stack;
    gr_graph *out;
    bool *placed;
    uint32_t *number;              /* by first member: of the node in `out` */
} fuser;

/* ---- groups of one ----------------------------------------------------------------------- */

static bool note_nodes(fuser *x) {
    uint32_t n = x->g->nodes_n;
    x->placed = GR_NEW_N(x->scratch, bool, n);
    uint32_t **const lists[] = {&x->group, &x->next, &x->last, &x->size, &x->mark, &x->stack, &x->low, &x->refused_at, &x->number};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = GR_NEW_N(x->scratch, uint32_t, (size_t)n + 1);
        if (!*lists[i]) return gr_report_oom(x->d);
    }
    if (!x->placed) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < n; i++) {
        x->group[i] = x->last[i] = x->low[i] = i;
        x->next[i] = UINT32_MAX;
        x->size[i] = 1;
    }
    return true;
}

/* ---- whether a union may be ---------------------------------------------------------------- */

static bool holds(const gr_value_id *list, uint32_t n, gr_value_id v) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

/* Members of two groups in order; false when they are too many. */
static bool join(const fuser *x, uint32_t a, uint32_t b, gr_fuse_group *f) {
    f->nodes_n = 0;
    if (x->size[a] + (a == b ? 0 : x->size[b]) > GR_FUSE_NODES_MAX) return false;
    uint32_t i = a, j = a == b ? UINT32_MAX : b;
    if ((x->last[a] > x->last[b] ? x->last[a] : x->last[b]) - (a < b ? a : b) > SPAN_MAX) return false;
    while (i != UINT32_MAX || j != UINT32_MAX) {
        uint32_t *from = i < j ? &i : &j; /* UINT32_MAX is past every node */
        f->node[f->nodes_n++] = *from;
        *from = x->next[*from];
    }
    return true;
}

static bool inside(const fuser *x, uint32_t node) { return x->mark[node] == x->stamp; }

static void mark_members(fuser *x, const gr_fuse_group *f) {
    x->stamp++;
    for (uint32_t i = 0; i < f->nodes_n; i++) x->mark[f->node[i]] = x->stamp;
}

/* Whether the group's value is stored: an output, or read by another node; so is one that nothing reads. */
static bool is_stored(const fuser *x, gr_value_id v) {
    if (x->k.wanted[v] || x->k.first[v] == x->k.first[v + 1]) return true;
    for (uint32_t i = x->k.first[v]; i < x->k.first[v + 1]; i++)
        if (!inside(x, x->k.use[i])) return true;
    return false;
}

static bool same_shape(const gr_type *x, const gr_type *y) {
    if (x->rank != y->rank) return false;
    for (uint32_t k = 0; k < x->rank; k++)
        if (x->dim[k].n != y->dim[k].n) return false;
    return true;
}

static uint32_t cost_of(const gr_call *c) { return c->op->category == GR_CATEGORY_TRANSCENDENTAL ? TRANSCENDENTAL_COST : 1; }

/* Results that are stored, and what smaller values cost to compute for every element. */
static apart list_results(const fuser *x, const gr_type *shape, gr_fuse_group *f) {
    uint32_t again = 0;
    f->out_n = 0;
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        const gr_graph_node *n = &x->g->nodes[f->node[i]];
        bool full = same_shape(&n->call.outputs[0], shape), stored = is_stored(x, n->results[0]);
        if (stored && !full) return SHAPE_WANTED;
        if (!full) again += cost_of(&n->call);
        if (stored) f->out[f->out_n++] = n->results[0];
    }
    return again > AGAIN_MAX ? COSTLY_AGAIN : TOGETHER;
}

static apart list_operands(const fuser *x, gr_fuse_group *f) {
    f->in_n = f->constants_n = f->params_n = 0;
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        const gr_graph_node *n = &x->g->nodes[f->node[i]];
        f->params_n += x->k.params[f->node[i]];
        for (uint32_t j = 0; j < n->call.operands_n; j++) {
            gr_value_id v = n->args[j];
            if (!(x->k.reads[f->node[i]] >> j & 1) || holds(f->in, f->in_n, v) || holds(f->constant, f->constants_n, v)) continue;
            const gr_graph_value *gv = &x->g->values[v];
            if (gv->source == GR_SOURCE_NODE && inside(x, gv->node)) continue;
            if (gr_fuse_scalar(gv)) {
                if (f->constants_n == GR_FUSE_PARAMS_MAX) return TOO_LARGE;
                f->constant[f->constants_n++] = v;
                continue;
            }
            if (f->in_n == GR_FUSE_OPERANDS_MAX) return TOO_LARGE;
            f->in[f->in_n++] = v;
        }
    }
    f->params_n += f->constants_n;
    if (f->params_n > GR_FUSE_PARAMS_MAX) return TOO_LARGE;
    return f->in_n + f->out_n > x->rules->buffers ? BUFFERS : TOGETHER;
}

/* Adds the groups of the nodes that feed a member, those that can lie after the group's first member; a member among them: false. */
static bool push_producers(fuser *x, uint32_t node, uint32_t from, uint32_t visited, bool first, uint32_t *n) {
    const gr_graph_node *m = &x->g->nodes[node];
    for (uint32_t j = 0; j < m->call.operands_n; j++) {
        if (m->args[j] == GR_NO_VALUE || x->g->values[m->args[j]].source != GR_SOURCE_NODE) continue;
        uint32_t p = x->g->values[m->args[j]].node, group = x->group[p];
        if (x->mark[p] == visited - 1) { /* a member of the union */
            if (!first) return false;
            continue;
        }
        if (x->mark[group] == visited || x->last[group] < from) continue;
        x->mark[group] = visited;
        x->stack[(*n)++] = group;
    }
    return true;
}

/* No node before this position is behind one at `from` or later: no group lies on both sides of it. */
static uint32_t floor_of(const fuser *x, uint32_t from) {
    while (x->low[from] < from) from = x->low[from];
    return from;
}

/* Whether a path leads out of the union and back. Groups made before count as one node each. */
static bool path_outside(fuser *x, const gr_fuse_group *f) {
    uint32_t n = 0, seen = 0, visited = ++x->stamp, from = floor_of(x, f->node[0]);
    for (uint32_t i = 0; i < f->nodes_n; i++) push_producers(x, f->node[i], from, visited, true, &n);
    while (n) {
        if (++seen > SEARCH_MAX) return true;
        for (uint32_t m = x->stack[--n]; m != UINT32_MAX; m = x->next[m])
            if (!push_producers(x, m, from, visited, false, &n)) return true;
    }
    return false;
}

static apart try_union(fuser *x, uint32_t node, uint32_t group, gr_fuse_group *f) {
    const gr_type *shape = &x->g->nodes[node].call.outputs[0];
    if (!join(x, x->group[node], group, f)) return TOO_LARGE;
    mark_members(x, f);
    apart why = list_results(x, shape, f);
    if (!why) why = list_operands(x, f);
    if (!why && !gr_fuse_spans(x->g, shape, f)) why = SHAPE_GIVEN;
    if (!why && path_outside(x, f)) why = PATH;
    return why;
}

static void unite(fuser *x, const gr_fuse_group *f) {
    uint32_t head = f->node[0];
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        x->group[f->node[i]] = head;
        x->next[f->node[i]] = i + 1 < f->nodes_n ? f->node[i + 1] : UINT32_MAX;
    }
    x->last[head] = f->node[f->nodes_n - 1];
    x->size[head] = f->nodes_n;
    for (uint32_t p = head + 1; p <= x->last[head]; p++)
        if (head < x->low[p]) x->low[p] = head;
}

/* ---- grouping ---------------------------------------------------------------------------------- */

static apart fits(const fuser *x, uint32_t node, uint32_t p) {
    const gr_graph_node *n = &x->g->nodes[node], *m = &x->g->nodes[p];
    if (!x->k.map[p]) return NOT_A_MAP;
    if (n->backward != m->backward || n->again != m->again) return OTHER_PASS;
    return gr_fuse_bounded(&n->call) || gr_fuse_bounded(&m->call) ? BOUNDED : TOGETHER;
}

/* The operands' producers from the last to the first. */
static uint32_t list_producers(const fuser *x, uint32_t node, uint32_t *list) {
    const gr_graph_node *n = &x->g->nodes[node];
    uint32_t count = 0;
    for (uint32_t j = 0; j < n->call.operands_n && count < GR_FUSE_OPERANDS_MAX; j++) {
        if (!(x->k.reads[node] >> j & 1) || x->g->values[n->args[j]].source != GR_SOURCE_NODE) continue;
        uint32_t p = x->g->values[n->args[j]].node, k = count;
        if (holds(list, count, p)) continue;
        for (; k > 0 && list[k - 1] < p; k--) list[k] = list[k - 1];
        list[k] = p;
        count++;
    }
    return count;
}

static bool refuse(fuser *x, uint32_t node, uint32_t producer, apart why) {
    refusal *r = GR_PUSH(x->scratch, &x->refused);
    if (!r) return gr_report_oom(x->d);
    *r = (refusal){node, producer, why};
    return true;
}

static bool group_node(fuser *x, uint32_t i, gr_fuse_group *f) {
    uint32_t p[GR_FUSE_OPERANDS_MAX], n = list_producers(x, i, p);
    for (uint32_t j = 0; j < n; j++) {
        if (x->group[p[j]] == x->group[i]) continue;
        apart why = fits(x, i, p[j]);
        if (!why) why = try_union(x, i, x->group[p[j]], f);
        if (why) GR_TRY(refuse(x, i, p[j], why));
        else unite(x, f);
    }
    return true;
}

static bool group_nodes(fuser *x, gr_fuse_group *f) {
    for (uint32_t i = 0; i < x->g->nodes_n; i++) {
        x->refused_at[i] = x->refused.n;
        if (x->k.map[i]) GR_TRY(group_node(x, i, f));
    }
    x->refused_at[x->g->nodes_n] = x->refused.n;
    return true;
}

/* ---- why not ---------------------------------------------------------------------------------------- */

/* `"mean" apart: its op is no map; "c" apart: …` of the operands that come from other nodes. */
static bool explain(fuser *x, const gr_fuse_group *f, gr_graph_node *made) {
    gr_buf b = {0};
    for (uint32_t i = 0; i < f->nodes_n; i++)
        for (uint32_t k = x->refused_at[f->node[i]]; k < x->refused_at[f->node[i] + 1]; k++) {
            const refusal *r = &x->refused.v[k];
            if (x->group[r->producer] == x->group[r->node] || b.n > 2048) continue;
            gr_buf_printf(&b, "%s\"%.*s\" apart: %s", b.n ? "; " : "", GR_STR_ARG(x->g->nodes[r->producer].node), reason[r->why]);
        }
    made->apart = gr_str_dup(x->a, gr_buf_view(&b));
    bool ok = made->apart.p && !b.failed;
    gr_buf_free(&b);
    return ok || gr_report_oom(x->d);
}

/* ---- the new graph ------------------------------------------------------------------------------------- */

/* Canvas nodes that the fused node stands for, its own name aside. */
static bool name_node(fuser *x, const gr_fuse_group *f, gr_graph_node *n) {
    uint32_t room = f->nodes_n;
    for (uint32_t i = 0; i < f->nodes_n; i++) room += x->g->nodes[f->node[i]].also_n;
    n->also = GR_NEW_N(x->a, gr_str, room);
    n->also_n = 0;
    if (!n->also) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        const gr_graph_node *m = &x->g->nodes[f->node[i]];
        if (i + 1 < f->nodes_n) n->also[n->also_n++] = m->node;
        for (uint32_t k = 0; k < m->also_n; k++) n->also[n->also_n++] = m->also[k];
    }
    return true;
}

static bool fused_node(fuser *x, const gr_fuse_group *f, gr_graph_node *n) {
    GR_TRY(gr_fuse_make(x->a, x->d, f, n->at, &n->call) && name_node(x, f, n));
    n->args = GR_NEW_N(x->a, gr_value_id, f->in_n);
    n->results = GR_NEW_N(x->a, gr_value_id, f->out_n);
    if (!n->args || !n->results) return gr_report_oom(x->d);
    memcpy(n->args, f->in, f->in_n * sizeof *n->args);
    memcpy(n->results, f->out, f->out_n * sizeof *n->results);
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        gr_graph_value *v = &x->out->values[x->g->nodes[f->node[i]].results[0]];
        v->node = x->out->nodes_n;
        v->result = GR_FUSED;
    }
    for (uint32_t i = 0; i < f->out_n; i++) x->out->values[f->out[i]].result = i;
    return true;
}

static bool place_group(fuser *x, uint32_t group, gr_fuse_group *f) {
    uint32_t last = x->last[group];
    gr_graph_node n = x->g->nodes[last];
    if (x->size[group] == 1) {
        for (uint32_t r = 0; r < n.call.outputs_n; r++)
            if (n.results[r] != GR_NO_VALUE) x->out->values[n.results[r]].node = x->out->nodes_n;
        f->nodes_n = 1;
        f->node[0] = group;
    } else {
        apart why = try_union(x, last, group, f);
        if (why) return GR_BUG(x->d, "G1", "a fused node stopped being possible: %s", reason[why]);
        GR_TRY(fused_node(x, f, &n));
    }
    if (x->k.map[group]) GR_TRY(explain(x, f, &n));
    x->out->nodes[x->out->nodes_n++] = n;
    return true;
}

/* A group that feeds this one and is not placed; UINT32_MAX: none. */
static uint32_t missing(const fuser *x, uint32_t group) {
    for (uint32_t m = group; m != UINT32_MAX; m = x->next[m]) {
        const gr_graph_node *n = &x->g->nodes[m];
        for (uint32_t j = 0; j < n->call.operands_n; j++) {
            if (n->args[j] == GR_NO_VALUE || x->g->values[n->args[j]].source != GR_SOURCE_NODE) continue;
            uint32_t p = x->group[x->g->values[n->args[j]].node];
            if (p != group && !x->placed[p]) return p;
        }
    }
    return UINT32_MAX;
}

/* Every group at its last member, after what feeds it. */
static bool place_all(fuser *x, gr_fuse_group *f) {
    for (uint32_t i = 0; i < x->g->nodes_n; i++) {
        if (x->last[x->group[i]] != i || x->placed[x->group[i]]) continue;
        uint32_t depth = 0;
        uint32_t *stack = GR_NEW_N(x->scratch, uint32_t, 1), cap = 1;
        for (uint32_t g = x->group[i];;) {
            uint32_t p = missing(x, g);
            if (p != UINT32_MAX) {
                if (depth == cap) stack = gr_arena_grow(x->scratch, stack, cap, (size_t)2 * cap, sizeof *stack), cap *= 2;
                if (!stack) return gr_report_oom(x->d);
                stack[depth++] = g;
                g = p;
                continue;
            }
            x->number[g] = x->out->nodes_n;
            GR_TRY(place_group(x, g, f));
            x->placed[g] = true;
            if (!depth) break;
            g = stack[--depth];
        }
    }
    return true;
}

/* Values that the first pass put into a node have its new number. */
static void renumber(fuser *x) {
    for (uint32_t v = 0; v < x->g->values_n; v++) {
        const gr_graph_value *gv = &x->g->values[v];
        if (gv->source == GR_SOURCE_NODE && gv->result == GR_FUSED) x->out->values[v].node = x->number[x->group[gv->node]];
    }
}

static bool start(fuser *x) {
    GR_TRY(gr_graph_start(x->a, x->g, x->out) || gr_report_oom(x->d));
    if (x->g->values_n) memcpy(x->out->values, x->g->values, x->g->values_n * sizeof *x->g->values);
    if (x->g->outputs_n) memcpy(x->out->outputs, x->g->outputs, x->g->outputs_n * sizeof *x->g->outputs);
    x->out->values_n = x->g->values_n;
    x->out->outputs_n = x->g->outputs_n;
    return true;
}

bool gr_fuse_groups(gr_arena *a, gr_diags *d, const gr_graph *g, const gr_fuse_rules *rules, gr_graph *out) {
    gr_arena scratch = {0};
    fuser x = {.a = a, .scratch = &scratch, .d = d, .g = g, .rules = rules, .out = out};
    gr_fuse_group *f = GR_NEW(&scratch, gr_fuse_group);
    if (f) f->g = g;
    bool ok = f ? gr_fuse_note(&scratch, d, g, rules, &x.k) && note_nodes(&x) && start(&x) : gr_report_oom(d);
    ok = ok && group_nodes(&x, f) && place_all(&x, f);
    if (ok) renumber(&x);
    gr_arena_free(&scratch);
    return ok;
}
