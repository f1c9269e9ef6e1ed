/* dispatch.c: kernels into dispatch steps: bindings, uniform slots, folded and indirect grids, work. */
#include "ladder/plan/plan_int.h"

bool gr_grid_fold(uint64_t n, uint32_t max, uint32_t grid[3]) {
    uint64_t y = n / max + (n % max != 0);
    if (n == 0 || max == 0 || y > max) return false;
    grid[0] = (uint32_t)(n / y + (n % y != 0));
    grid[1] = (uint32_t)y;
    grid[2] = 1;
    return true;
}

static bool grid_fits(const gr_builder *b, const gr_kernel *k, uint32_t grid[3]) {
    if (k->linear) return gr_grid_fold(k->grid[0], b->t->max_groups, grid);
    for (int i = 0; i < 3; i++) {
        if (k->grid[i] > b->t->max_groups) return false;
        grid[i] = (uint32_t)k->grid[i];
    }
    return true;
}

bool gr_kernels_fit(const gr_builder *b, const gr_kernel *list, uint32_t n) {
    uint32_t grid[3];
    for (uint32_t i = 0; i < n; i++)
        if (!grid_fits(b, &list[i], grid)) return false;
    return true;
}

/* ---- work ----------------------------------------------------------------------- */

static bool word_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* The next identifier inside square brackets at or after *at; empty at the end. depth: of brackets, 0 at first. */
static gr_str next_dim_name(gr_str text, size_t *at, int *depth) {
    while (*at < text.n) {
        char c = text.p[*at];
        *depth += (c == '[') - (c == ']' && *depth > 0);
        if (!*depth || !word_char(c)) {
            ++*at;
            continue;
        }
        size_t from = *at;
        while (*at < text.n && word_char(text.p[*at])) ++*at;
        if (text.p[from] < '0' || text.p[from] > '9') return (gr_str){text.p + from, *at - from};
    }
    return (gr_str){0};
}

/* Whether a minus stands before p in its size: R in H + 2 - (R - 1). */
static bool behind_minus(const char *start, const char *p) {
    int nested = 0;
    for (; p > start && !(nested == 0 && (*p == '[' || *p == ',')); p--) {
        if (*p == '-' && nested == 0) return true;
        nested += (*p == ')' || *p == ']') - ((*p == '(' || *p == '[') && nested > 0);
    }
    return false;
}

/* A u32 parameter behind a minus in a size of an output (w in n - w + 1) is the length of a window. */
static uint64_t window(const gr_call *c, gr_str outputs) {
    uint64_t length = 1;
    size_t at = 0;
    int depth = 0;
    for (gr_str w = next_dim_name(outputs, &at, &depth); w.n; w = next_dim_name(outputs, &at, &depth))
        for (uint32_t i = 0; behind_minus(outputs.p, w.p) && i < c->op->sig.params_n; i++) {
            const gr_sig_param *p = &c->op->sig.params[i];
            if (p->kind == GR_PARAM_U32 && gr_str_eq(p->name, w) && c->params[i].i > 1 && c->params[i].i < 65536 && length < 65536)
                length *= (uint64_t)c->params[i].i;
        }
    return length;
}

/* Whether a dimension stays in the result: some output has its name, not behind a minus, where it is the length of what is summed over. */
static bool is_kept(gr_str outputs, gr_str name) {
    size_t at = 0;
    int depth = 0;
    for (gr_str w = next_dim_name(outputs, &at, &depth); w.n; w = next_dim_name(outputs, &at, &depth))
        if (gr_str_eq(w, name) && !behind_minus(outputs.p, w.p)) return true;
    return false;
}

/* The size of a dimension that no output keeps, from its text "C / groups" in operand `at`, the k-th from its end; 1 when it is kept. */
static uint64_t summed(const gr_call *c, uint32_t at, uint32_t k, gr_str text, gr_str outputs) {
    size_t i = 0;
    int depth = 1;
    uint64_t n = 1;
    gr_str w = next_dim_name(text, &i, &depth);
    if (!w.n || is_kept(outputs, w) || !gr_call_dim(c, w, &n)) return 1;
    return at < c->operands_n && c->operands[at].dtype != GR_DTYPE_NONE && k < c->operands[at].rank ? c->operands[at].dim[c->operands[at].rank - 1 - k].n : n;
}

/* The terms of one result: the dimensions of an operand that no output keeps. Of several operands, the one with the most of them
 * says how many (a filter, not the picture under it); the fewer terms where two have as many, since windows overlap. */
static uint64_t terms(const gr_call *c, gr_str operands, gr_str outputs) {
    uint64_t best = 1;
    uint32_t best_names = 0, tensor = 0;
    size_t from = 0;
    int depth = 0;
    for (size_t i = 0; i < operands.n && (depth || operands.p[i] != ';'); i++) {
        if (operands.p[i] == '[' && depth++ == 0) from = i;
        if (operands.p[i] != ']' || --depth) continue;
        uint64_t n = 1;
        uint32_t names = 0, k = 0, at = tensor < c->op->sig.operands_n ? c->operand_first[tensor] : UINT32_MAX;
        int inner = 0;
        for (size_t end = i, b = i; b-- > from;) { /* from the last dimension on */
            inner += (operands.p[b] == ']' || operands.p[b] == ')') - ((operands.p[b] == '[' || operands.p[b] == '(') && b > from);
            if (b > from && (operands.p[b] != ',' || inner)) continue;
            uint64_t dim = summed(c, at, k++, (gr_str){operands.p + b + 1, end - b - 1}, outputs);
            if (dim > 1 && n < UINT32_MAX) n *= dim, names++;
            end = b;
        }
        tensor++;
        if (names > best_names || (names && names == best_names && n < best)) best = n, best_names = names;
    }
    return best;
}

uint64_t gr_call_work(const gr_call *c) {
    const uint64_t terms_a_unit = 8; /* a multiply and an add in a loop take this part of an element that is read and written */
    uint64_t total = 0, y = 0, n = 0;
    for (uint32_t i = 0; i < c->operands_n; i++)
        if (c->operands[i].dtype != GR_DTYPE_NONE && gr_type_count(&c->operands[i], &n)) total += n;
    for (uint32_t i = 0; i < c->outputs_n; i++)
        if (gr_type_count(&c->outputs[i], &n)) y += n;
    gr_str text = c->op->sig.text;
    size_t arrow = 0;
    while (arrow + 1 < text.n && !(text.p[arrow] == '-' && text.p[arrow + 1] == '>')) arrow++;
    size_t end = arrow;
    while (end < text.n && !gr_str_starts((gr_str){text.p + end, text.n - end}, " where ") && !gr_str_starts((gr_str){text.p + end, text.n - end}, "\n  where ")) end++;
    gr_str before = {text.p, arrow}, after = {text.p + arrow, end - arrow};
    uint64_t each = terms(c, before, after), windows = window(c, after);
    uint64_t inner = each > terms_a_unit ? each / terms_a_unit * windows : windows;
    uint64_t product = y && inner > (UINT64_C(1) << 58) / y ? UINT64_C(1) << 58 : y * inner;
    uint64_t whole = total + y > product ? total + y : product, calls = c->op->fusion ? c->op->fusion->n - 1 : 0;
    const gr_type *computed = calls && c->op->fusion->core ? &c->op->fusion->core->operands[c->op->fusion->at] : c->outputs;
    if (calls && gr_type_count(computed, &n) && n < (UINT64_C(1) << 50)) whole += calls * n;
    return whole;
}

/* ---- kernels, once each ------------------------------------------------------------ */

typedef struct key { char p[512]; size_t n; } key;
static void put(key *k, const void *p, size_t n) {
    if (k->n + n > sizeof k->p) n = sizeof k->p - k->n;
    memcpy(k->p + k->n, p, n);
    k->n += n;
}

static uint32_t kernel_id(gr_builder *b, const gr_kernel *k) {
    key id = {.n = 0};
    bool text = k->wgsl.n != 0;
    put(&id, &text, 1);
    if (text) put(&id, k->hash.b, sizeof k->hash.b);
    else put(&id, &k->module, sizeof k->module);
    put(&id, k->entry.p, k->entry.n);
    for (uint32_t i = 0; i < k->overrides_n; i++) {
        put(&id, "\0", 1);
        put(&id, k->overrides[i].name.p, k->overrides[i].name.n);
        put(&id, &k->overrides[i].value, sizeof k->overrides[i].value);
    }
    uint32_t at;
    gr_str s = {id.p, id.n};
    if (gr_map_get(&b->kernel_ids, s, &at)) return at;
    s = gr_str_dup(b->a, s);
    gr_kernel *slot = s.p ? GR_PUSH(b->a, &b->kernels) : NULL;
    if (!slot || !gr_map_put(b->a, &b->kernel_ids, s, b->kernels.n - 1)) {
        gr_report_oom(b->d);
        return UINT32_MAX;
    }
    *slot = *k;
    return b->kernels.n - 1;
}

/* ---- uniforms ----------------------------------------------------------------------- */

/* The slot of a block's bytes; equal blocks share one. UINT64_MAX when memory fails. */
static uint64_t uniform_slot(gr_builder *b, const uint8_t *data, uint64_t bytes) {
    uint32_t at;
    gr_str s = {(const char *)data, (size_t)bytes};
    if (gr_map_get(&b->uniform_ids, s, &at)) return (uint64_t)at * GR_UNIFORM_SLOT;
    uint64_t from = b->uniforms.n, slots = (bytes + GR_UNIFORM_SLOT - 1) / GR_UNIFORM_SLOT;
    uint64_t to = from + slots * GR_UNIFORM_SLOT;
    if (to > (UINT64_C(1) << 31)) return UINT64_MAX;
    if (to > b->uniforms.cap) {
        uint64_t cap = to < 4096 ? 4096 : 2 * to;
        uint8_t *grown = gr_arena_grow(b->a, b->uniforms.v, b->uniforms.n, (size_t)cap, 1);
        if (!grown) return UINT64_MAX;
        b->uniforms.v = grown;
        b->uniforms.cap = (uint32_t)cap;
    }
    memset(b->uniforms.v + from, 0, (size_t)(to - from));
    memcpy(b->uniforms.v + from, data, (size_t)bytes);
    b->uniforms.n = (uint32_t)to;
    return gr_map_put(b->a, &b->uniform_ids, s, (uint32_t)(from / GR_UNIFORM_SLOT)) ? from : UINT64_MAX;
}

/* ---- one dispatch -------------------------------------------------------------------- */

enum { MAX_SCRATCH = 16, MAX_SPARE = 16 };
typedef struct group { /* the kernels of one node or piece */
    gr_builder *b;
    const gr_loc *locs;
    gr_buffer_id scratch[MAX_SCRATCH];
    gr_buffer_id spare[MAX_SPARE]; /* written stand-ins for results that nothing reads */
    uint32_t spare_n;
    uint64_t work;
} group;

static gr_loc loc_of(const group *g, gr_value_id v) {
    gr_builder *b = g->b;
    if (v == GR_NO_VALUE) return (gr_loc){.buffer = GR_NO_BUFFER, .value = v, .count = GR_NO_BUFFER};
    if (g->locs) return g->locs[v];
    const gr_home *h = &b->home[v];
    return (gr_loc){.buffer = h->kind == GR_HOME_SINGLE ? h->first : GR_NO_BUFFER, .bytes = h->bytes, .value = h->owner, .count = h->count};
}

static gr_buffer_id stand_in(group *g, bool writable, uint64_t bytes) {
    gr_builder *b = g->b;
    if (writable) {
        if (g->spare_n == MAX_SPARE) return GR_NO_BUFFER;
        gr_buffer_id id = gr_pool_take(b, GR_STR("spare"), bytes, false);
        if (id != GR_NO_BUFFER) g->spare[g->spare_n++] = id;
        return id;
    }
    if (b->empty == GR_NO_BUFFER) b->empty = gr_pool_new(b, GR_STR("empty"), GR_BUFFER_STORAGE, GR_MEM_WORKING, 16);
    return b->empty;
}

/* An operand updated in place for a result that nothing reads: the update goes to a copy. */
static bool bind_copy(group *g, const gr_kernel_bind *k, gr_step_bind *s) {
    gr_builder *b = g->b;
    gr_loc l = loc_of(g, k->value);
    s->bytes = l.bytes > 16 ? l.bytes : 16;
    s->buffer = stand_in(g, true, s->bytes);
    if (s->buffer == GR_NO_BUFFER || l.buffer == GR_NO_BUFFER) return s->buffer != GR_NO_BUFFER;
    gr_plan_step *copy = gr_step_push(b, GR_STEP_COPY);
    if (!copy) return false;
    copy->from = l.buffer;
    copy->from_offset = l.offset;
    copy->to = s->buffer;
    copy->bytes = l.bytes;
    gr_pool_touch(b, copy->from);
    gr_pool_touch(b, copy->to);
    return true;
}

static bool full_count(group *g, gr_value_id v, gr_buffer_id *count);

static bool fill_bind(group *g, const gr_kernel_bind *k, gr_step_bind *s) {
    gr_builder *b = g->b;
    *s = (gr_step_bind){.group = k->group, .binding = k->binding, .writable = k->writable, .value = GR_NO_VALUE};
    gr_loc l;
    switch (k->kind) {
    case GR_KB_UNIFORM:
        s->uniform = true;
        s->buffer = 0;
        s->bytes = k->bytes;
        s->offset = uniform_slot(b, k->data, k->bytes);
        return s->offset != UINT64_MAX || gr_report_oom(b->d);
    case GR_KB_SCRATCH:
        s->buffer = g->scratch[k->scratch % MAX_SCRATCH];
        s->bytes = k->bytes;
        return true;
    case GR_KB_COUNT:
        l = loc_of(g, k->value);
        s->buffer = l.count;
        s->bytes = 16;
        s->value = l.value;
        if (l.count == GR_NO_BUFFER && !k->writable && k->value != GR_NO_VALUE) {
            s->value = GR_NO_VALUE;
            return full_count(g, k->value, &s->buffer);
        }
        break;
    case GR_KB_VALUE_INOUT:
        if (k->result == GR_NO_VALUE) return bind_copy(g, k, s);
        /* fall through */
    default:
        l = loc_of(g, k->kind == GR_KB_VALUE_INOUT && k->result != GR_NO_VALUE ? k->result : k->value);
        s->buffer = l.buffer;
        s->offset = l.offset;
        s->bytes = l.bytes;
        s->value = l.value;
    }
    if (s->buffer == GR_NO_BUFFER) {
        s->bytes = k->bytes > 16 ? k->bytes : 16;
        s->buffer = stand_in(g, k->writable, s->bytes);
        s->offset = 0;
        s->value = GR_NO_VALUE;
    }
    return s->buffer != GR_NO_BUFFER;
}

static const char indirect_text[] =
    "// Workgroups of an indirect dispatch from the count of a bounded tensor.\n"
    "struct Shape { bound: u32, per: u32, most: u32, pad: u32 }\n"
    "@group(0) @binding(0) var<storage, read> count: array<u32>;\n"
    "@group(0) @binding(1) var<storage, read_write> groups: array<u32>;\n"
    "@group(0) @binding(2) var<uniform> shape: Shape;\n\n"
    "@compute @workgroup_size(1)\n"
    "fn main() {\n"
    "    let items = min(count[0], shape.bound);\n"
    "    let n = items / shape.per + select(0u, 1u, items % shape.per != 0u);\n"
    "    let rows = max(n / shape.most + select(0u, 1u, n % shape.most != 0u), 1u);\n"
    "    groups[0] = n / rows + select(0u, 1u, n % rows != 0u);\n"
    "    groups[1] = rows;\n"
    "    groups[2] = 1u;\n"
    "}\n";

static gr_kernel single_kernel(const char *op, const char *origin, const char *why, gr_str text) {
    return (gr_kernel){.op = gr_str_of(op), .origin = gr_str_of(origin), .why = gr_str_of(why), .order = GR_ORDER_FIXED, .wgsl = text,
                       .hash = gr_sha256_of(text.p, text.n), .entry = GR_STR("main"), .workgroup = {1, 1, 1}, .grid = {1, 1, 1}, .indirect = GR_NO_VALUE};
}

static bool indirect_kernel(gr_builder *b) {
    if (b->indirect_kernel != UINT32_MAX) return true;
    static const gr_str text = {indirect_text, sizeof indirect_text - 1};
    gr_kernel k = single_kernel("(indirect)", "generated indirect", "the count of a bounded tensor sets the grid", text);
    k.binds_n = 3;
    k.binds = GR_NEW_N(b->a, gr_kernel_bind, 3);
    if (!k.binds) return gr_report_oom(b->d);
    k.binds[0] = (gr_kernel_bind){.kind = GR_KB_COUNT, .binding = 0, .var = GR_STR("count"), .value = GR_NO_VALUE, .result = GR_NO_VALUE};
    k.binds[1] = (gr_kernel_bind){.kind = GR_KB_SCRATCH, .binding = 1, .var = GR_STR("groups"), .value = GR_NO_VALUE, .result = GR_NO_VALUE, .writable = true, .bytes = 16};
    k.binds[2] = (gr_kernel_bind){.kind = GR_KB_UNIFORM, .binding = 2, .var = GR_STR("shape"), .value = GR_NO_VALUE, .result = GR_NO_VALUE, .bytes = 16};
    b->indirect_kernel = kernel_id(b, &k);
    return b->indirect_kernel != UINT32_MAX;
}

/* A dispatch that turns a count into workgroups; *args gets the buffer that holds them. */
static bool count_to_groups(group *g, const gr_kernel *k, gr_buffer_id count, gr_buffer_id *args) {
    gr_builder *b = g->b;
    uint64_t bound = k->grid[0] * k->indirect_per;
    uint32_t words[4] = {bound > UINT32_MAX ? UINT32_MAX : (uint32_t)bound, k->indirect_per, b->t->max_groups, 0};
    uint8_t *data = gr_arena_alloc(b->a, 16, 1);
    if (!data) return gr_report_oom(b->d);
    memcpy(data, words, 16);
    GR_TRY(indirect_kernel(b));
    *args = gr_pool_new(b, GR_STR("indirect"), GR_BUFFER_INDIRECT, GR_MEM_WORKING, 16);
    uint64_t slot = uniform_slot(b, data, 16);
    gr_step_bind *binds = GR_NEW_N(b->a, gr_step_bind, 3);
    if (*args == GR_NO_BUFFER || slot == UINT64_MAX || !binds) return gr_report_oom(b->d);
    gr_plan_step *s = gr_step_push(b, GR_STEP_DISPATCH);
    if (!s) return false;
    binds[0] = (gr_step_bind){.binding = 0, .buffer = count, .bytes = 16, .value = GR_NO_VALUE};
    binds[1] = (gr_step_bind){.binding = 1, .buffer = *args, .bytes = 16, .writable = true, .value = GR_NO_VALUE};
    binds[2] = (gr_step_bind){.binding = 2, .buffer = 0, .offset = slot, .bytes = 16, .uniform = true, .value = GR_NO_VALUE};
    s->kernel = b->indirect_kernel;
    s->binds = binds;
    s->binds_n = 3;
    s->grid[0] = s->grid[1] = s->grid[2] = 1;
    s->work = 1;
    for (int i = 0; i < 3; i++) gr_pool_touch(b, binds[i].buffer);
    return true;
}

static const char count_text[] =
    "// The count of a tensor that holds all its elements.\n"
    "struct Shape { size: u32 }\n"
    "@group(0) @binding(0) var<storage, read_write> count: array<u32>;\n"
    "@group(0) @binding(1) var<uniform> shape: Shape;\n\n"
    "@compute @workgroup_size(1)\n"
    "fn main() {\n"
    "    count[0] = shape.size;\n"
    "}\n";

static bool count_kernel(gr_builder *b, uint32_t *id) {
    static const gr_str text = {count_text, sizeof count_text - 1};
    gr_kernel k = single_kernel("(count)", "generated count", "an operand that may be bounded is not", text);
    k.binds_n = 2;
    k.binds = GR_NEW_N(b->a, gr_kernel_bind, 2);
    if (!k.binds) return gr_report_oom(b->d);
    k.binds[0] = (gr_kernel_bind){.kind = GR_KB_SCRATCH, .binding = 0, .var = GR_STR("count"), .value = GR_NO_VALUE, .result = GR_NO_VALUE, .writable = true, .bytes = 16};
    k.binds[1] = (gr_kernel_bind){.kind = GR_KB_UNIFORM, .binding = 1, .var = GR_STR("shape"), .value = GR_NO_VALUE, .result = GR_NO_VALUE, .bytes = 16};
    *id = kernel_id(b, &k);
    return *id != UINT32_MAX;
}

/* A count for an operand without one: a dispatch writes the size of its first dimension into a buffer of the node's. */
static bool full_count(group *g, gr_value_id v, gr_buffer_id *count) {
    gr_builder *b = g->b;
    const gr_type *t = &b->g->values[v].type;
    uint32_t kernel = 0, words[4] = {t->rank ? (uint32_t)t->dim[0].n : 1, 0, 0, 0};
    uint8_t *data = gr_arena_alloc(b->a, 16, 1);
    gr_step_bind *binds = GR_NEW_N(b->a, gr_step_bind, 2);
    if (!data || !binds) return gr_report_oom(b->d);
    memcpy(data, words, 16);
    GR_TRY(count_kernel(b, &kernel));
    *count = stand_in(g, true, 16);
    uint64_t slot = uniform_slot(b, data, 16);
    if (*count == GR_NO_BUFFER || slot == UINT64_MAX) return gr_report_oom(b->d);
    gr_plan_step *s = gr_step_push(b, GR_STEP_DISPATCH);
    if (!s) return false;
    binds[0] = (gr_step_bind){.binding = 0, .buffer = *count, .bytes = 16, .writable = true, .value = GR_NO_VALUE};
    binds[1] = (gr_step_bind){.binding = 1, .buffer = 0, .offset = slot, .bytes = 16, .uniform = true, .value = GR_NO_VALUE};
    s->kernel = kernel;
    s->binds = binds;
    s->binds_n = 2;
    s->grid[0] = s->grid[1] = s->grid[2] = 1;
    s->work = 1;
    for (int i = 0; i < 2; i++) gr_pool_touch(b, binds[i].buffer);
    return true;
}

static bool dispatch(group *g, const gr_kernel *k) {
    gr_builder *b = g->b;
    gr_buffer_id args = GR_NO_BUFFER;
    uint32_t id = kernel_id(b, k);
    if (id == UINT32_MAX) return false;
    if (k->indirect != GR_NO_VALUE) {
        gr_loc l = loc_of(g, k->indirect);
        if (l.count == GR_NO_BUFFER) return GR_BUG(b->d, "P9", "an indirect dispatch of %.*s has no count", GR_STR_ARG(k->op));
        GR_TRY(count_to_groups(g, k, l.count, &args));
    }
    gr_step_bind *binds = GR_NEW_N(b->a, gr_step_bind, k->binds_n);
    if (!binds) return gr_report_oom(b->d);
    for (uint32_t i = 0; i < k->binds_n; i++) GR_TRY(fill_bind(g, &k->binds[i], &binds[i]));
    gr_plan_step *s = gr_step_push(b, GR_STEP_DISPATCH);
    if (!s) return false;
    s->kernel = id;
    s->binds = binds;
    s->binds_n = k->binds_n;
    s->indirect = args;
    s->work = g->work;
    if (!grid_fits(b, k, s->grid)) return GR_BUG(b->d, "P6", "a grid of %.*s was not checked", GR_STR_ARG(k->op));
    gr_pool_touch(b, args);
    for (uint32_t i = 0; i < k->binds_n; i++) gr_pool_touch(b, binds[i].buffer);
    return true;
}

/* ---- a node or a piece ----------------------------------------------------------------- */

static bool take_scratch(group *g, const gr_kernel *list, uint32_t n) {
    uint64_t bytes[MAX_SCRATCH] = {0};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < list[i].binds_n; j++) {
            const gr_kernel_bind *k = &list[i].binds[j];
            if (k->kind == GR_KB_SCRATCH && bytes[k->scratch % MAX_SCRATCH] < k->bytes) bytes[k->scratch % MAX_SCRATCH] = k->bytes;
        }
    for (int i = 0; i < MAX_SCRATCH; i++) {
        g->scratch[i] = bytes[i] ? gr_pool_take(g->b, GR_STR("scratch"), bytes[i], false) : GR_NO_BUFFER;
        if (bytes[i] && g->scratch[i] == GR_NO_BUFFER) return false;
    }
    return true;
}

static bool clear_count(gr_builder *b, gr_buffer_id count) {
    gr_plan_step *s = gr_step_push(b, GR_STEP_CLEAR);
    if (!s) return false;
    s->to = count;
    s->bytes = 16;
    gr_pool_touch(b, count);
    return true;
}

/* Counts start at 0; results updated in place start as a copy of their operand. */
static bool before(group *g, const gr_kernel *list, uint32_t n) {
    gr_builder *b = g->b;
    gr_value_id done[32];
    uint32_t done_n = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < list[i].binds_n; j++) {
            const gr_kernel_bind *k = &list[i].binds[j];
            bool count = k->kind == GR_KB_COUNT && k->writable, inout = k->kind == GR_KB_VALUE_INOUT && k->result != GR_NO_VALUE;
            gr_value_id v = count ? k->value : k->result;
            bool known = !count && !inout;
            for (uint32_t x = 0; x < done_n; x++) known = known || done[x] == v;
            if (known || done_n == 32) continue;
            done[done_n++] = v;
            gr_loc to = loc_of(g, v), from = loc_of(g, k->value);
            if (count) {
                GR_TRY(clear_count(b, to.count));
                continue;
            }
            if (to.buffer == GR_NO_BUFFER || from.buffer == GR_NO_BUFFER || (to.buffer == from.buffer && to.offset == from.offset)) continue;
            gr_plan_step *s = gr_step_push(b, GR_STEP_COPY);
            if (!s) return false;
            s->from = from.buffer;
            s->from_offset = from.offset;
            s->to = to.buffer;
            s->to_offset = to.offset;
            s->bytes = from.bytes < to.bytes ? from.bytes : to.bytes;
            gr_pool_touch(b, s->from);
            gr_pool_touch(b, s->to);
        }
    return true;
}

bool gr_dispatch_all(gr_builder *b, const gr_kernel *list, uint32_t n, const gr_loc *locs, uint64_t work) {
    group g = {.b = b, .locs = locs, .work = n ? work / n + 1 : 0};
    GR_TRY(take_scratch(&g, list, n) && before(&g, list, n));
    for (uint32_t i = 0; i < n; i++) GR_TRY(dispatch(&g, &list[i]));
    for (int i = 0; i < MAX_SCRATCH; i++)
        if (g.scratch[i] != GR_NO_BUFFER) GR_TRY(gr_pool_give(b, g.scratch[i]));
    for (uint32_t i = 0; i < g.spare_n; i++) GR_TRY(gr_pool_give(b, g.spare[i]));
    return true;
}
