/* Equal calls of equal operands become one. Ops have no effects and draw no random numbers but from
 * their parameters, so equality of op, operands and parameters is equality of results. */
#include "ladder/graph/graph_int.h"

typedef struct merging {
    gr_arena *a, *scratch;
    const gr_graph *g;
    gr_graph *out;
    gr_value_id *map;  /* old value -> new value */
    gr_map seen;       /* key bytes -> new node, or new value of a constant */
} merging;

enum { CONSTANT_INLINE = 64 }; /* longer constants are compared by their SHA-256 */

static void put_param(gr_buf *b, const gr_param *p) {
    gr_buf_put(b, (const char *)&p->i, sizeof p->i);
    gr_buf_put(b, (const char *)&p->f, sizeof p->f);
    gr_buf_put(b, (const char *)&p->n, sizeof p->n);
    if (p->li && p->n) gr_buf_put(b, (const char *)p->li, p->n * sizeof *p->li);
    if (p->lf && p->n) gr_buf_put(b, (const char *)p->lf, p->n * sizeof *p->lf);
}

/* Bytes that are equal exactly when the calls are. */
static void put_call(merging *m, gr_buf *b, const gr_graph_node *n) {
    gr_buf_put(b, (const char *)&n->call.op, sizeof n->call.op);
    gr_buf_put(b, (const char *)&n->again, sizeof n->again);
    gr_buf_put(b, (const char *)&n->call.operands_n, sizeof n->call.operands_n);
    for (uint32_t i = 0; i < n->call.operands_n; i++) {
        gr_value_id v = n->args[i] == GR_NO_VALUE ? GR_NO_VALUE : m->map[n->args[i]];
        gr_buf_put(b, (const char *)&v, sizeof v);
    }
    for (uint32_t i = 0; i < n->call.op->sig.params_n; i++) put_param(b, &n->call.params[i]);
}

static void put_constant(gr_buf *b, const gr_array *x) {
    gr_buf_puts(b, "constant");
    gr_buf_put(b, (const char *)&x->dtype, sizeof x->dtype);
    gr_buf_put(b, (const char *)&x->rank, sizeof x->rank);
    gr_buf_put(b, (const char *)x->dims, x->rank * sizeof *x->dims);
    gr_sha256 h = {0};
    if (x->bytes > CONSTANT_INLINE) h = gr_sha256_of(x->data, x->bytes);
    if (x->bytes > CONSTANT_INLINE) gr_buf_put(b, (const char *)h.b, sizeof h.b);
    else if (x->bytes) gr_buf_put(b, x->data, x->bytes);
}

/* True with *was set: there is an equal one at *at. Else the key is entered for `mine`. */
static bool look_up(merging *m, const gr_buf *b, uint32_t mine, bool *was, uint32_t *at) {
    *was = gr_map_get(&m->seen, gr_buf_view(b), at);
    if (*was) return true;
    gr_str key = gr_str_dup(m->scratch, gr_buf_view(b));
    return key.p && gr_map_put(m->scratch, &m->seen, key, mine);
}

/* Capacity is implied: it doubles whenever the number is a power of two. */
static bool add_name(merging *m, gr_graph_node *to, gr_str name) {
    uint32_t n = to->also_n;
    if ((n & (n - 1)) == 0) {
        gr_str *also = gr_arena_grow(m->a, to->also, n, n ? (size_t)n * 2 : 1, sizeof *also);
        if (!also) return false;
        to->also = also;
    }
    to->also[to->also_n++] = name;
    return true;
}

static bool add_names(merging *m, uint32_t at, const gr_graph_node *n) {
    gr_graph_node *to = &m->out->nodes[at];
    if (!add_name(m, to, n->node)) return false;
    for (uint32_t i = 0; i < n->also_n; i++)
        if (!add_name(m, to, n->also[i])) return false;
    return true;
}

/* A copied node gets a list of its own, with the capacity that add_name expects. */
static bool own_names(merging *m, const gr_graph_node *n) {
    gr_graph_node *to = &m->out->nodes[m->out->nodes_n - 1];
    to->also = NULL;
    to->also_n = 0;
    for (uint32_t i = 0; i < n->also_n; i++)
        if (!add_name(m, to, n->also[i])) return false;
    return true;
}

static bool merge_node(merging *m, gr_buf *b, uint32_t i) {
    const gr_graph_node *n = &m->g->nodes[i];
    bool was;
    uint32_t at = 0;
    gr_buf_clear(b);
    put_call(m, b, n);
    if (b->failed || !look_up(m, b, m->out->nodes_n, &was, &at)) return false;
    if (!was) return gr_graph_copy_node(m->a, m->out, m->g, i, m->map) && own_names(m, n);
    for (uint32_t r = 0; r < n->call.outputs_n; r++)
        if (n->results[r] != GR_NO_VALUE) m->map[n->results[r]] = m->out->nodes[at].results[r];
    return add_names(m, at, n);
}

static bool merge_value(merging *m, gr_buf *b, gr_value_id v) {
    const gr_graph_value *x = &m->g->values[v];
    if (x->source == GR_SOURCE_NODE) return true;
    if (x->source != GR_SOURCE_CONSTANT) return gr_graph_copy_value(m->a, m->out, m->g, v, m->map);
    bool was;
    gr_buf_clear(b);
    put_constant(b, &x->constant);
    if (b->failed || !look_up(m, b, m->out->values_n, &was, &m->map[v])) return false;
    return was || gr_graph_copy_value(m->a, m->out, m->g, v, m->map);
}

bool gr_graph_opt_common(gr_arena *a, gr_diags *d, const gr_graph *g, gr_graph *out) {
    gr_arena scratch = {0};
    gr_buf b = {0};
    merging m = {.a = a, .scratch = &scratch, .g = g, .out = out, .map = GR_NEW_N(&scratch, gr_value_id, g->values_n)};
    bool ok = m.map && gr_graph_start(a, g, out);
    for (uint32_t v = 0; v < g->values_n && ok; v++) ok = merge_value(&m, &b, v);
    for (uint32_t i = 0; i < g->nodes_n && ok; i++) ok = merge_node(&m, &b, i);
    ok = ok && gr_graph_copy_outputs(a, out, g, m.map);
    gr_buf_free(&b);
    gr_arena_free(&scratch);
    return ok || gr_report_oom(d);
}
