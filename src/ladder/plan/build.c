/* build.c: one attempt at a plan under given limits: homes, uploads, every node in order, readbacks. */
#include "ladder/plan/plan_int.h"

static bool oom(gr_builder *b) { return gr_report_oom(b->d); }

/* ---- lifetimes --------------------------------------------------------------------- */

static void find_last_uses(gr_builder *b) {
    const gr_graph *g = b->g;
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        const gr_graph_node *n = &g->nodes[i];
        for (uint32_t j = 0; j < n->call.outputs_n; j++)
            if (n->results[j] != GR_NO_VALUE) b->home[n->results[j]].last_node = i;
        for (uint32_t j = 0; j < n->call.operands_n; j++)
            if (n->args[j] != GR_NO_VALUE) b->home[n->args[j]].last_node = i, b->home[n->args[j]].used = true;
    }
    for (uint32_t i = 0; i < g->outputs_n; i++) b->home[g->outputs[i].value].last_node = UINT32_MAX, b->home[g->outputs[i].value].used = true;
}

static bool release(gr_builder *b, gr_value_id v, uint32_t node) {
    gr_home *h = &b->home[v];
    if (h->last_node != node || h->kind == GR_HOME_NONE) return true;
    h->last_node = UINT32_MAX - 1; /* once */
    gr_home *owner = &b->home[h->owner];
    if (--owner->sharers || !owner->pooled) return true;
    if (owner->kind == GR_HOME_PAGED) return gr_pool_give_pages(b, owner, b->g->values[h->owner].type.dtype == GR_DTYPE_F16);
    return owner->kind != GR_HOME_SINGLE || gr_pool_give(b, owner->first);
}

static bool release_node(gr_builder *b, uint32_t node) {
    const gr_graph_node *n = &b->g->nodes[node];
    for (uint32_t j = 0; j < n->call.operands_n; j++)
        if (n->args[j] != GR_NO_VALUE) GR_TRY(release(b, n->args[j], node));
    for (uint32_t j = 0; j < n->call.outputs_n; j++)
        if (n->results[j] != GR_NO_VALUE) GR_TRY(release(b, n->results[j], node));
    return true;
}

/* Sources that are updated in place at the end of their life, the update being an output: both live in one buffer, which stays on
 * the device between runs (P11). */
static bool find_updates(gr_builder *b) {
    const gr_graph *g = b->g;
    b->update = GR_NEW_N(b->a, gr_value_id, g->values_n);
    if (!b->update) return oom(b);
    for (gr_value_id v = 0; v < g->values_n; v++) b->update[v] = GR_NO_VALUE;
    for (uint32_t i = 0; i < b->k->n; i++)
        for (uint32_t j = 0; j < b->k->list[i].binds_n; j++) {
            const gr_kernel_bind *k = &b->k->list[i].binds[j];
            if (k->kind != GR_KB_VALUE_INOUT || k->value == GR_NO_VALUE || k->result == GR_NO_VALUE) continue;
            const gr_graph_value *v = &g->values[k->value], *r = &g->values[k->result];
            uint64_t bytes = 0;
            bool kept = v->source == GR_SOURCE_PARAMETER || v->source == GR_SOURCE_STATE;
            if (!kept || b->home[k->value].last_node != b->k->list[i].graph_node || b->home[k->result].last_node != UINT32_MAX) continue;
            if (gr_type_equal(&v->type, &r->type) && gr_type_device_bytes(&v->type, &bytes) && bytes && bytes <= b->lim.binding) b->update[k->value] = k->result;
        }
    return true;
}

/* ---- sources -------------------------------------------------------------------------- */

static bool upload_value(gr_builder *b, gr_value_id v) {
    const gr_home *h = &b->home[v];
    if (h->kind == GR_HOME_EMPTY || h->kind == GR_HOME_HOST) return true;
    for (uint32_t i = 0; i < h->pages; i++) {
        uint64_t at = i * h->page_bytes, n = h->bytes - at < h->page_bytes ? h->bytes - at : h->page_bytes;
        GR_TRY(gr_step_upload(b, v, h->first + i, 0, at, n));
    }
    return true;
}

static bool make_sources(gr_builder *b) {
    for (uint32_t v = 0; v < b->g->values_n; v++) {
        gr_source s = b->g->values[v].source;
        if (s == GR_SOURCE_NODE || (s == GR_SOURCE_CONSTANT && !b->home[v].used)) continue; /* fusion makes parameters of scalar constants */
        bool kept = s == GR_SOURCE_PARAMETER || s == GR_SOURCE_STATE;
        GR_TRY(gr_home_make(b, v, s == GR_SOURCE_STATE ? GR_MEM_OPTIMIZER_STATE : kept ? GR_MEM_PARAMETERS : GR_MEM_DATA, false));
        gr_home *h = &b->home[v];
        for (uint32_t i = 0; kept && i < h->pages; i++) b->buffers.v[h->first + i].keep = true;
        if (b->update[v] == GR_NO_VALUE) GR_TRY(upload_value(b, v));
    }
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------ */

static bool copies_only(const gr_builder *b, const gr_graph_node *n) {
    if (n->call.op->role != GR_ROLE_COPY || n->call.outputs_n != 1 || n->call.operands_n != 1 || n->args[0] == GR_NO_VALUE || n->results[0] == GR_NO_VALUE)
        return false;
    const gr_home *from = &b->home[n->args[0]], *to = &b->home[n->results[0]];
    if (from->kind != GR_HOME_SINGLE || b->g->values[n->args[0]].type.bounded) return false;
    /* An output keeps its own buffer, so that a shared buffer can be attached to it. */
    return to->last_node != UINT32_MAX && b->home[from->owner].pooled && gr_type_equal(&n->call.operands[0], &n->call.outputs[0]);
}

/* The result of a copy lives where its operand does: buffers are written once, so sharing is safe. */
static void alias_result(gr_builder *b, const gr_graph_node *n) {
    gr_home *to = &b->home[n->results[0]];
    const gr_home *from = &b->home[n->args[0]];
    uint32_t last = to->last_node;
    *to = *from;
    to->last_node = last;
    b->home[from->owner].sharers++;
}

/* An update lives where the source does. */
static bool alias_update(gr_builder *b, const gr_graph_node *n, gr_value_id result) {
    for (uint32_t i = 0; i < n->call.operands_n; i++) {
        gr_value_id v = n->args[i];
        if (v == GR_NO_VALUE || b->update[v] != result) continue;
        gr_home *to = &b->home[result];
        uint32_t last = to->last_node;
        *to = b->home[v];
        to->last_node = last;
        b->home[v].sharers++;
        return true;
    }
    return false;
}

/* Activations are what a backward keeps of the forward; what it computes again is working memory. */
static gr_memory class_of(const gr_builder *b, const gr_graph_node *n, gr_value_id v) {
    uint32_t last = b->home[v].last_node;
    if (last == UINT32_MAX) return GR_MEM_DATA;
    if (n->again) return GR_MEM_WORKING;
    if (n->backward) return GR_MEM_GRADIENTS;
    return last < b->g->nodes_n && b->g->nodes[last].backward ? GR_MEM_ACTIVATIONS : GR_MEM_WORKING;
}

/* A buffer that serves several values in turn counts for the first class in the order of gr_memory. */
static void count_as(gr_builder *b, const gr_home *h, gr_memory class) {
    bool real = h->kind == GR_HOME_SINGLE || h->kind == GR_HOME_PAGED;
    for (uint32_t i = 0; real && i < h->pages; i++)
        if (class < b->buffers.v[h->first + i].memory) b->buffers.v[h->first + i].memory = class;
}

static bool make_results(gr_builder *b, const gr_graph_node *n) {
    for (uint32_t j = 0; j < n->call.outputs_n; j++) {
        if (n->results[j] == GR_NO_VALUE || alias_update(b, n, n->results[j])) continue;
        gr_memory class = class_of(b, n, n->results[j]);
        bool output = class == GR_MEM_DATA;
        GR_TRY(gr_home_make(b, n->results[j], output ? GR_MEM_DATA : GR_MEM_WORKING, !output));
        count_as(b, &b->home[n->results[j]], class);
    }
    return true;
}

static bool must_cut(const gr_builder *b, const gr_graph_node *n, const gr_kernel *list, uint32_t count, bool *over) {
    bool cut = false;
    *over = false;
    for (uint32_t j = 0; j < n->call.operands_n + n->call.outputs_n; j++) {
        gr_value_id v = j < n->call.operands_n ? n->args[j] : n->results[j - n->call.operands_n];
        if (v == GR_NO_VALUE) continue;
        cut = cut || b->home[v].kind == GR_HOME_PAGED || b->home[v].kind == GR_HOME_HOST;
        *over = *over || b->home[v].bytes > b->lim.binding;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < list[i].binds_n; j++)
            *over = *over || (list[i].binds[j].kind == GR_KB_SCRATCH && list[i].binds[j].bytes > b->lim.binding);
    return cut || *over;
}

/* A bounded result whose kernel counts nothing has its operand's count. */
static bool pass_counts(gr_builder *b, const gr_graph_node *n, const gr_kernel *list, uint32_t count) {
    for (uint32_t j = 0; j < n->call.outputs_n; j++) {
        if (n->results[j] == GR_NO_VALUE) continue;
        gr_buffer_id to = b->home[n->results[j]].count, from = GR_NO_BUFFER;
        bool counted = to == GR_NO_BUFFER;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t x = 0; x < list[i].binds_n; x++)
                counted = counted || (list[i].binds[x].kind == GR_KB_COUNT && list[i].binds[x].value == n->results[j]);
        for (uint32_t i = 0; i < n->call.operands_n && from == GR_NO_BUFFER; i++)
            if (n->args[i] != GR_NO_VALUE) from = b->home[n->args[i]].count;
        if (counted || from == GR_NO_BUFFER) continue;
        gr_plan_step *s = gr_step_push(b, GR_STEP_COPY);
        if (!s) return false;
        s->from = from;
        s->to = to;
        s->bytes = 16;
        gr_pool_touch(b, from);
        gr_pool_touch(b, to);
    }
    return true;
}

static bool report_uncut(gr_builder *b, const gr_graph_node *n, bool grid, const gr_buf *why) {
    uint64_t most = 0;
    for (uint32_t j = 0; j < n->call.operands_n + n->call.outputs_n; j++) {
        gr_value_id v = j < n->call.operands_n ? n->args[j] : n->results[j - n->call.operands_n];
        if (v != GR_NO_VALUE && b->home[v].bytes > most) most = b->home[v].bytes;
    }
    gr_str w = gr_buf_view(why);
    if (grid)
        gr_report(b->d, GR_D_PLAN_DISPATCH_TOO_LARGE, n->at, "give the op a split clause, a linear pass, or a smaller input",
                  "node \"%.*s\": %.*s needs more than %u workgroups in one dimension: %.*s", GR_STR_ARG(n->node), GR_STR_ARG(n->call.op->id),
                  b->t->max_groups, GR_STR_ARG(w));
    else
        gr_report(b->d, GR_D_PLAN_NOT_SPLITTABLE, n->at, "give the op a split clause, run with --device cpu, or make the input smaller",
                  "node \"%.*s\": %.*s has a tensor of %llu bytes, the binding limit is %llu, and it cannot be cut: %.*s", GR_STR_ARG(n->node),
                  GR_STR_ARG(n->call.op->id), (unsigned long long)most, (unsigned long long)b->lim.binding, GR_STR_ARG(w));
    gr_report_trail(b->d, "node %.*s -> op %.*s", GR_STR_ARG(n->node), GR_STR_ARG(n->call.op->id));
    return false;
}

/* Smaller and smaller pieces: a grid may be too large where the memory would do. */
static bool cut_node(gr_builder *b, uint32_t node, bool over, bool grid) {
    const gr_graph_node *n = &b->g->nodes[node];
    gr_buf why = {0};
    gr_split_result r = GR_SPLIT_IMPOSSIBLE;
    uint64_t piece = b->lim.piece;
    for (int round = 0; round < (grid ? 12 : 6) && r == GR_SPLIT_IMPOSSIBLE; round++, piece /= 2) {
        gr_buf_clear(&why);
        r = gr_split_node(b, node, piece, &why);
    }
    if (r == GR_SPLIT_IMPOSSIBLE && !over && !grid) r = gr_split_whole(b, node);
    if (r != GR_SPLIT_DONE && gr_diags_ok(b->d)) report_uncut(b, n, grid, &why);
    gr_buf_free(&why);
    return r == GR_SPLIT_DONE;
}

static bool build_node(gr_builder *b, uint32_t node, const gr_kernel *list, uint32_t count) {
    const gr_graph_node *n = &b->g->nodes[node];
    bool over;
    b->node = node;
    if (copies_only(b, n)) {
        alias_result(b, n);
        return release_node(b, node);
    }
    GR_TRY(make_results(b, n));
    bool grid = !gr_kernels_fit(b, list, count);
    if (count && (must_cut(b, n, list, count, &over) || grid)) GR_TRY(cut_node(b, node, over, grid));
    else GR_TRY(gr_dispatch_all(b, list, count, NULL, count ? gr_call_work(&n->call) : 0) && pass_counts(b, n, list, count));
    return release_node(b, node);
}

static bool build_nodes(gr_builder *b) {
    uint32_t at = 0;
    bool ok = true;
    for (uint32_t i = 0; i < b->g->nodes_n && ok; i++) {
        uint32_t first = at;
        while (at < b->k->n && b->k->list[at].graph_node == i) at++;
        ok = build_node(b, i, first ? b->k->list + first : b->k->list, at - first); /* without kernels the list is NULL */
    }
    return ok;
}

static bool read_outputs(gr_builder *b) {
    b->node = UINT32_MAX;
    for (uint32_t i = 0; i < b->g->outputs_n; i++) {
        gr_value_id v = b->g->outputs[i].value;
        const gr_home *h = &b->home[v];
        bool again = false;
        for (uint32_t j = 0; j < i; j++) again = again || b->g->outputs[j].value == v;
        if (again || h->owner != v) continue; /* an update of a source stays there */
        if (h->kind == GR_HOME_EMPTY || h->kind == GR_HOME_HOST) continue;
        for (uint32_t p = 0; p < h->pages; p++) {
            uint64_t from = p * h->page_bytes, n = h->bytes - from < h->page_bytes ? h->bytes - from : h->page_bytes;
            GR_TRY(gr_step_readback(b, v, h->first + p, 0, from, n));
        }
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool fill_tensors(gr_builder *b) {
    gr_plan *p = b->p;
    p->tensors_n = b->g->values_n;
    p->tensors = GR_NEW_N(b->a, gr_plan_tensor, p->tensors_n);
    if (!p->tensors) return oom(b);
    for (uint32_t v = 0; v < p->tensors_n; v++) {
        const gr_home *h = &b->home[v];
        bool stored = h->kind == GR_HOME_SINGLE || h->kind == GR_HOME_PAGED;
        p->tensors[v] = (gr_plan_tensor){.value = v, .first_buffer = stored ? h->first : GR_NO_BUFFER, .pages = stored ? h->pages : 0,
                                         .page_bytes = stored ? h->page_bytes : 0, .bytes = h->bytes, .count_buffer = h->count};
    }
    return true;
}

static void sum_memory(gr_plan *p) {
    for (int m = 0; m < GR_MEM_COUNT; m++) p->peak[m] = 0;
    p->peak_total = p->work = 0;
    for (uint32_t i = 0; i < p->buffers_n; i++) {
        if (p->buffers[i].first == UINT32_MAX) p->buffers[i].first = p->buffers[i].last = 0;
        p->peak[p->buffers[i].memory] += p->buffers[i].bytes;
        p->peak_total += p->buffers[i].bytes;
    }
    for (uint32_t i = 0; i < p->steps_n; i++) p->work += p->steps[i].work;
}

static bool finish(gr_builder *b) {
    gr_plan *p = b->p;
    if (b->uniforms.n > b->buffers.v[0].bytes) b->buffers.v[0].bytes = b->uniforms.n;
    GR_TRY(gr_kernel_cache_finish(b->cache, b->d, b->kernels.v, b->kernels.n));
    p->kernels = b->kernels.v;
    p->kernels_n = b->kernels.n;
    p->buffers = b->buffers.v;
    p->buffers_n = b->buffers.n;
    p->uniforms = b->uniforms.v;
    p->uniforms_bytes = b->uniforms.n;
    p->steps = b->steps.v;
    p->steps_n = b->steps.n;
    GR_TRY(fill_tensors(b));
    sum_memory(p);
    return true;
}

bool gr_plan_attempt(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, gr_tier tier,
                     const gr_plan_limits *lim, gr_plan *p) {
    gr_builder b = {.a = a, .d = d, .k = k, .catalog = catalog, .g = k->graph, .t = &k->target, .tier = tier, .lim = *lim, .p = p,
                    .up = GR_NO_BUFFER, .down = GR_NO_BUFFER, .empty = GR_NO_BUFFER, .indirect_kernel = UINT32_MAX, .node = UINT32_MAX};
    *p = (gr_plan){.graph = k->graph, .target = k->target, .tier = tier};
    b.home = GR_NEW_N(a, gr_home, k->graph->values_n);
    b.cache = gr_kernel_cache_new(a);
    if (!b.home || !b.cache) return oom(&b);
    for (uint32_t i = 0; i < k->graph->values_n; i++) b.home[i].count = b.home[i].first = GR_NO_BUFFER;
    find_last_uses(&b);
    GR_TRY(find_updates(&b));
    if (gr_pool_new(&b, GR_STR("uniforms"), GR_BUFFER_UNIFORM, GR_MEM_WORKING, GR_UNIFORM_SLOT) == GR_NO_BUFFER) return false;
    return make_sources(&b) && build_nodes(&b) && read_outputs(&b) && finish(&b);
}
