/* verify.c: the kernel rung's invariants K1.. (README.md), checked on any list. */
#include "ladder/kernel/kernel_int.h"

typedef struct check {
    gr_diags *d;
    const gr_kernels *k;
    const gr_kernel *x;
    gr_arena scratch;
    gr_map modules; /* hash -> index of the first kernel with it */
    const gr_wgsl_module **loaded;
} check;

static bool broken(check *c, const char *invariant, const char *what) {
    return gr_report(c->d, GR_D_KERNEL_INVALID, c->k->graph ? gr_place_at(c->k->graph->document, GR_STR(""), 0) : (gr_place){0}, NULL,
                     "%s: kernel \"%.*s\" (%.*s): %s", invariant, GR_STR_ARG(c->x->node), GR_STR_ARG(c->x->op), what);
}

static const gr_wgsl_module *module_of(check *c, uint32_t i) {
    gr_str key = {(const char *)c->x->hash.b, sizeof c->x->hash.b};
    uint32_t first = 0;
    if (gr_map_get(&c->modules, key, &first)) return c->loaded[first];
    c->loaded[i] = gr_wgsl_load(&c->scratch, c->d, c->x->origin, c->x->wgsl, NULL);
    if (!gr_map_put(&c->scratch, &c->modules, key, i)) gr_report_oom(c->d);
    return c->loaded[i];
}

static const gr_kernel_bind *bind_at(const gr_kernel *k, uint32_t group, uint32_t binding) {
    for (uint32_t i = 0; i < k->binds_n; i++)
        if (k->binds[i].group == group && k->binds[i].binding == binding) return &k->binds[i];
    return NULL;
}

static bool check_resources(check *c, const gr_wgsl_entry *e) {
    const gr_kernel *k = c->x;
    if (k->binds_n != e->resource_n) return broken(c, "K4", "binds more or fewer resources than the entry point uses");
    for (uint32_t i = 0; i < e->resource_n; i++) {
        const gr_wgsl_decl *v = e->resource[i];
        const gr_kernel_bind *b = bind_at(k, v->group, v->binding);
        if (!b || !gr_str_eq(b->var, v->name)) return broken(c, "K4", "a resource of the entry point is not bound");
        if ((b->kind == GR_KB_UNIFORM) != (v->space == GR_WGSL_SPACE_UNIFORM)) return broken(c, "K4", "a uniform is bound as storage, or the reverse");
        if (b->kind == GR_KB_UNIFORM && (!b->data || b->bytes < v->type->size)) return broken(c, "K5", "a uniform block is shorter than its struct");
        bool writes = v->space == GR_WGSL_SPACE_STORAGE && v->access != GR_WGSL_READ;
        if (b->writable != writes) return broken(c, "K4", "a binding's access differs from its variable's");
        if ((b->kind == GR_KB_VALUE_WRITE || b->kind == GR_KB_VALUE_INOUT) && !writes) return broken(c, "K4", "a result is bound read-only");
    }
    return true;
}

static bool check_values(check *c) {
    const gr_kernel *k = c->x;
    uint32_t n = c->k->graph ? c->k->graph->values_n : 0;
    for (uint32_t i = 0; i < k->binds_n; i++) {
        const gr_kernel_bind *b = &k->binds[i];
        if (b->value != GR_NO_VALUE && b->value >= n) return broken(c, "K3", "a binding names no value of the graph");
        if (b->kind == GR_KB_VALUE_WRITE && b->value == GR_NO_VALUE && b->bytes == 0) return broken(c, "K3", "an output binding names no value");
        if (b->kind == GR_KB_NONE) return broken(c, "K3", "a binding has no kind");
    }
    return true;
}

static bool check_grid(check *c) {
    const gr_kernel *k = c->x;
    const gr_target *t = &c->k->target;
    uint64_t lanes = (uint64_t)k->workgroup[0] * k->workgroup[1] * k->workgroup[2];
    for (int i = 0; i < 3; i++)
        if (k->grid[i] == 0 || k->workgroup[i] == 0) return broken(c, "K6", "grid and workgroup sizes are at least 1");
    if (lanes > t->max_invocations) return broken(c, "K6", "a workgroup has more invocations than the target allows");
    if (k->linear && (k->grid[1] != 1 || k->grid[2] != 1)) return broken(c, "K6", "a linear grid has one dimension");
    if (k->indirect != GR_NO_VALUE && k->indirect_per == 0) return broken(c, "K6", "an indirect grid takes at least one item a workgroup");
    return true;
}

static bool check_kernel(check *c, uint32_t i) {
    const gr_kernel *k = c->x;
    if (!gr_sha256_eq(k->hash, gr_sha256_of(k->wgsl.p, k->wgsl.n))) return broken(c, "K2", "the hash is not that of the text");
    const gr_wgsl_module *m = module_of(c, i);
    if (!m) return broken(c, "K2", "the module does not load");
    const gr_wgsl_entry *e = gr_wgsl_find_entry(m, k->entry);
    if (!e) return broken(c, "K2", "the entry point is not in the module");
    if (c->k->graph && k->graph_node >= c->k->graph->nodes_n) return broken(c, "K3", "belongs to no node of the graph");
    return check_values(c) && check_resources(c, e) && check_grid(c);
}

bool gr_kernels_verify(gr_diags *d, const gr_kernels *k) {
    check c = {.d = d, .k = k};
    bool ok = true;
    c.loaded = GR_NEW_N(&c.scratch, const gr_wgsl_module *, k->n + 1);
    if (!c.loaded) ok = gr_report_oom(d);
    for (uint32_t i = 0; ok && i < k->n; i++) {
        c.x = &k->list[i];
        ok = check_kernel(&c, i);
        if (ok && i && k->list[i].graph_node < k->list[i - 1].graph_node) ok = broken(&c, "K7", "kernels follow the order of the graph's nodes");
    }
    gr_arena_free(&c.scratch);
    return ok;
}
