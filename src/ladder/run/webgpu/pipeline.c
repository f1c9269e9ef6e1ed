#include "ladder/run/webgpu/gpu_int.h"

#include <stdio.h>

/* -------------------------------------------------------------- shader modules */

typedef struct messages {
    gr_diags *d; /* may be NULL */
    gr_str name, text;
    uint32_t errors, reported;
} messages;

enum { MESSAGES_MAX = 100 }; /* of one module: each costs a walk over its text for line and column */

static void report_message(messages *m, const WGPUCompilationMessage *x) {
    bool error = x->type == WGPUCompilationMessageType_Error;
    if (error) m->errors++;
    if (!m->d || (!error && x->type != WGPUCompilationMessageType_Warning) || m->reported++ >= MESSAGES_MAX) return;
    char text[1500];
    gpu_copy_text(text, sizeof text, x->message);
    gr_place at = {.document = m->name};
    if (x->lineNum > 0 && x->offset <= m->text.n) at = gr_place_at(m->name, m->text, (size_t)x->offset);
    gr_report(m->d, error ? GR_D_RUN_WGSL_REJECTED : GR_D_RUN_WGSL_WARNING, at, NULL, "%s", text);
}

static void on_info(uint32_t status, const WGPUCompilationInfo *info, void *u1, void *u2) {
    (void)status, (void)u2;
    messages *m = u1;
    for (size_t i = 0; info && i < info->messageCount; i++) report_message(m, &info->messages[i]);
}

/* NULL when rejected; what the library says is in d (which may be NULL). */
static WGPUShaderModule compile(gr_gpu *g, gr_diags *d, gr_str name, gr_str text) {
    WGPUShaderSourceWGSL source = {.chain = {NULL, WGPUSType_ShaderSourceWGSL}, .code = gpu_view(text)};
    char said[1500] = "";
    gpu_scope_begin(g);
    WGPUShaderModule module = g->lib.fn.DeviceCreateShaderModule(
        g->device, &(WGPUShaderModuleDescriptor){.nextInChain = &source.chain, .label = gpu_view(name)});
    uint32_t error = gpu_scope_end(g, said, sizeof said);
    if (!module) return NULL;
    messages m = {.d = d, .name = name, .text = text};
    WGPUFuture f = g->lib.fn.ShaderModuleGetCompilationInfo(
        module, (WGPUCompilationInfoCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_info, &m, NULL});
    gpu_wait(g, f, UINT64_MAX);
    if (error && m.errors == 0 && d) gr_report(d, GR_D_RUN_WGSL_REJECTED, (gr_place){.document = name}, NULL, "%s", said);
    if (error || m.errors) {
        g->lib.fn.ShaderModuleRelease(module);
        return NULL;
    }
    return module;
}

bool gr_gpu_check_wgsl(gr_gpu *g, gr_str name, gr_str text, gr_diags *d) {
    if (g->lost) return d && gpu_report_lost(g, d, "checking WGSL");
    WGPUShaderModule module = compile(g, d, name, text);
    if (module) g->lib.fn.ShaderModuleRelease(module);
    return module != NULL;
}

/* The key must live as long as the map: copied into the device's arena. */
static bool remember(gr_gpu *g, gr_map *map, gr_sha256 key, uint32_t at) {
    gr_str k = gr_str_dup(&g->arena, (gr_str){(const char *)key.b, sizeof key.b});
    return k.p && gr_map_put(&g->arena, map, k, at);
}

static bool recall(const gr_map *map, gr_sha256 key, uint32_t *at) {
    return gr_map_get(map, (gr_str){(const char *)key.b, sizeof key.b}, at);
}

static WGPUShaderModule module_get(gr_gpu *g, gr_diags *d, gr_str name, gr_str text) {
    gr_sha256 key = gr_sha256_of(text.p, text.n);
    uint32_t at;
    if (recall(&g->modules_by_hash, key, &at)) return g->modules.v[at].module;
    WGPUShaderModule module = compile(g, d, name, text);
    if (!module) return NULL;
    gpu_module *m = GR_PUSH(&g->arena, &g->modules);
    if (!m || !remember(g, &g->modules_by_hash, key, g->modules.n - 1)) {
        if (m) g->modules.n--;
        g->lib.fn.ShaderModuleRelease(module);
        gr_report_oom(d);
        return NULL;
    }
    m->module = module;
    g->counts.modules++;
    return module;
}

/* ------------------------------------------------------------------- pipelines */

static void hash_str(gr_sha256_state *h, gr_str s) {
    uint64_t n = s.n;
    gr_sha256_update(h, &n, sizeof n);
    if (s.n) gr_sha256_update(h, s.p, s.n);
}

static gr_sha256 pipeline_key(const gr_gpu_pipeline_desc *x) {
    gr_sha256_state h;
    gr_sha256_init(&h);
    hash_str(&h, x->wgsl);
    hash_str(&h, x->entry);
    for (uint32_t i = 0; i < x->overrides_n; i++) {
        hash_str(&h, x->overrides[i].key);
        gr_sha256_update(&h, &x->overrides[i].value, sizeof(double));
    }
    for (uint32_t i = 0; i < x->bindings_n; i++) {
        const gr_gpu_binding *b = &x->bindings[i];
        const uint64_t v[] = {b->group, b->binding, b->access, b->min_bytes};
        gr_sha256_update(&h, v, sizeof v);
    }
    return gr_sha256_final(&h);
}

static int binding_order(const gr_gpu_binding *x, const gr_gpu_binding *y) {
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->binding < y->binding ? -1 : x->binding > y->binding;
}

static bool copy_bindings(gr_gpu *g, gr_diags *d, const gr_gpu_pipeline_desc *x, gr_gpu_pipeline *p) {
    p->bindings = GR_NEW_N(&g->arena, gr_gpu_binding, x->bindings_n);
    if (!p->bindings) return gr_report_oom(d);
    p->bindings_n = x->bindings_n;
    for (uint32_t i = 0; i < x->bindings_n; i++) {
        if (x->bindings[i].group >= GR_GPU_GROUPS_MAX || x->bindings[i].group >= g->info.limits.max_bind_groups)
            return gr_report(d, GR_D_RUN_GPU_LIMIT, (gr_place){.document = x->name}, "use @group(0)",
                             "@group(%u) is over the adapter's %u bind groups", x->bindings[i].group, g->info.limits.max_bind_groups);
        uint32_t k = i;
        for (; k > 0 && binding_order(&p->bindings[k - 1], &x->bindings[i]) > 0; k--) p->bindings[k] = p->bindings[k - 1];
        if (k > 0 && binding_order(&p->bindings[k - 1], &x->bindings[i]) == 0)
            return GR_BUG(d, "W3", "%.*s: binding %u of group %u is given twice", GR_STR_ARG(x->name), x->bindings[i].binding,
                          x->bindings[i].group);
        p->bindings[k] = x->bindings[i];
        if (x->bindings[i].group >= p->groups_n) p->groups_n = x->bindings[i].group + 1;
    }
    return true;
}

static uint32_t binding_type(gr_gpu_access a) {
    if (a == GR_GPU_READ) return WGPUBufferBindingType_ReadOnlyStorage;
    return a == GR_GPU_READ_WRITE ? WGPUBufferBindingType_Storage : WGPUBufferBindingType_Uniform;
}

/* Without the array size between visibility and buffer. */
typedef struct short_entry {
    WGPUChainedStruct *next;
    uint32_t binding;
    WGPUFlags visibility;
    WGPUBufferBindingLayout buffer;
    char rest[sizeof(WGPUBindGroupLayoutEntry) - offsetof(WGPUBindGroupLayoutEntry, sampler)];
} short_entry;

static WGPUBindGroupLayout make_group_layout(gr_gpu *g, const gr_gpu_binding *b, uint32_t n) {
    WGPUBindGroupLayoutEntry *e = gr_heap_alloc((size_t)n + 1, sizeof *e); /* one spare: a probe may read past the end */
    if (!e) return NULL;
    short_entry *shorter = (short_entry *)(void *)e;
    for (uint32_t i = 0; i < n; i++) {
        const WGPUBufferBindingLayout buffer = {
            NULL, binding_type(b[i].access), b[i].access == GR_GPU_UNIFORM_DYNAMIC, b[i].min_bytes};
        if (g->lib.short_entries)
            shorter[i] = (short_entry){.binding = b[i].binding, .visibility = WGPUShaderStage_Compute, .buffer = buffer};
        else
            e[i] = (WGPUBindGroupLayoutEntry){.binding = b[i].binding, .visibility = WGPUShaderStage_Compute, .buffer = buffer};
    }
    WGPUBindGroupLayout layout =
        g->lib.fn.DeviceCreateBindGroupLayout(g->device, &(WGPUBindGroupLayoutDescriptor){.entryCount = n, .entries = e});
    gr_heap_free(e);
    return layout;
}

bool gpu_probe_layout(gr_gpu *g) {
    static const gr_gpu_binding one = {0, 0, GR_GPU_READ, 4};
    for (int shorter = 0; shorter < 2; shorter++) {
        g->lib.short_entries = shorter;
        gpu_scope_begin(g);
        WGPUBindGroupLayout layout = make_group_layout(g, &one, 1);
        bool ok = gpu_scope_end(g, NULL, 0) == 0 && layout;
        if (layout) g->lib.fn.BindGroupLayoutRelease(layout);
        if (ok) return true;
    }
    return false;
}

static bool make_layouts(gr_gpu *g, gr_gpu_pipeline *p) {
    uint32_t at = 0;
    for (uint32_t k = 0; k < p->groups_n; k++) {
        uint32_t first = at;
        while (at < p->bindings_n && p->bindings[at].group == k) at++;
        p->group_layout[k] = make_group_layout(g, p->bindings + first, at - first);
        if (!p->group_layout[k]) return false;
    }
    p->layout = g->lib.fn.DeviceCreatePipelineLayout(
        g->device, &(WGPUPipelineLayoutDescriptor){.bindGroupLayoutCount = p->groups_n, .bindGroupLayouts = p->group_layout});
    return p->layout != NULL;
}

static void release_pipeline(gr_gpu *g, gr_gpu_pipeline *p) {
    if (p->pipeline) g->lib.fn.ComputePipelineRelease(p->pipeline);
    if (p->layout) g->lib.fn.PipelineLayoutRelease(p->layout);
    for (uint32_t k = 0; k < p->groups_n; k++)
        if (p->group_layout[k]) g->lib.fn.BindGroupLayoutRelease(p->group_layout[k]);
    p->pipeline = NULL;
}

static WGPUComputePipeline make_pipeline(gr_gpu *g, const gr_gpu_pipeline_desc *x, const gr_gpu_pipeline *p, WGPUShaderModule module) {
    WGPUConstantEntry *constants = gr_heap_alloc(x->overrides_n ? x->overrides_n : 1, sizeof *constants);
    if (!constants) return NULL;
    for (uint32_t i = 0; i < x->overrides_n; i++)
        constants[i] = (WGPUConstantEntry){.key = gpu_view(x->overrides[i].key), .value = x->overrides[i].value};
    WGPUComputePipelineDescriptor desc = {.label = gpu_viewz(p->name), .layout = p->layout};
    desc.compute.module = module;
    desc.compute.entryPoint = gpu_view(x->entry);
    desc.compute.constantCount = x->overrides_n;
    desc.compute.constants = constants;
    WGPUComputePipeline made = g->lib.fn.DeviceCreateComputePipeline(g->device, &desc);
    gr_heap_free(constants);
    return made;
}

static bool build(gr_gpu *g, gr_diags *d, const gr_gpu_pipeline_desc *x, gr_gpu_pipeline *p) {
    snprintf(p->name, sizeof p->name, "%.*s:%.*s", GR_STR_ARG(x->name), GR_STR_ARG(x->entry));
    GR_TRY(copy_bindings(g, d, x, p));
    WGPUShaderModule module = module_get(g, d, x->name, x->wgsl);
    if (!module) return gpu_usable(g, d, p->name) && false;
    char said[2000] = "";
    gpu_scope_begin(g);
    bool made = make_layouts(g, p) && (p->pipeline = make_pipeline(g, x, p, module)) != NULL;
    uint32_t error = gpu_scope_end(g, said, sizeof said);
    GR_TRY(gpu_usable(g, d, p->name));
    if (!made && !error) return gr_report_oom(d);
    if (error)
        return gr_report(d, GR_D_RUN_WGSL_REJECTED, (gr_place){.document = x->name}, NULL, "entry point %.*s: %s",
                         GR_STR_ARG(x->entry), said);
    return true;
}

bool gr_gpu_check_entry(gr_gpu *g, gr_str name, gr_str text, gr_str entry, const gr_gpu_override *overrides, uint32_t overrides_n, gr_diags *d) {
    if (g->lost) return d && gpu_report_lost(g, d, "checking WGSL");
    WGPUShaderModule module = compile(g, d, name, text);
    if (!module) return false;
    const gr_gpu_pipeline own_layout = {.name = "check"};
    char said[2000] = "";
    gpu_scope_begin(g);
    WGPUComputePipeline made = make_pipeline(g, &(gr_gpu_pipeline_desc){.name = name, .entry = entry, .overrides = overrides, .overrides_n = overrides_n}, &own_layout, module);
    uint32_t error = gpu_scope_end(g, said, sizeof said);
    if (made) g->lib.fn.ComputePipelineRelease(made);
    g->lib.fn.ShaderModuleRelease(module);
    if (error && d) gr_report(d, GR_D_RUN_WGSL_REJECTED, (gr_place){.document = name}, NULL, "entry point %.*s: %s", GR_STR_ARG(entry), said);
    return made && !error;
}

const gr_gpu_pipeline *gr_gpu_pipeline_get(gr_gpu *g, gr_diags *d, const gr_gpu_pipeline_desc *desc) {
    if (!gpu_usable(g, d, "making a pipeline")) return NULL;
    gr_sha256 key = pipeline_key(desc);
    uint32_t at;
    if (recall(&g->pipelines_by_hash, key, &at)) {
        g->counts.pipeline_hits++;
        return g->pipelines.v[at];
    }
    gr_gpu_pipeline *p = GR_NEW(&g->arena, gr_gpu_pipeline);
    if (!p) {
        gr_report_oom(d);
        return NULL;
    }
    bool ok = build(g, d, desc, p);
    gr_gpu_pipeline **slot = ok ? GR_PUSH(&g->arena, &g->pipelines) : NULL;
    if (slot) *slot = p;
    if (!slot || !remember(g, &g->pipelines_by_hash, key, g->pipelines.n - 1)) {
        if (slot) g->pipelines.n--;
        if (ok) gr_report_oom(d);
        release_pipeline(g, p);
        return NULL;
    }
    g->counts.pipelines++;
    return p;
}

/* ----------------------------------------------------------------- bind groups */

static uint64_t group_hash(WGPUBindGroupLayout layout, const gr_gpu_bind *b, uint32_t n) {
    uint64_t h = 1469598103934665603ull ^ (uint64_t)(uintptr_t)layout; /* FNV-1a over words */
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t v[] = {b[i].binding, b[i].buffer.slot, b[i].buffer.gen, b[i].offset, b[i].bytes};
        for (size_t k = 0; k < sizeof v / sizeof *v; k++) h = (h ^ v[k]) * 1099511628211ull;
    }
    return h ^ (h >> 29);
}

static bool same_bind(const gr_gpu_bind *x, const gr_gpu_bind *y) {
    return x->binding == y->binding && x->buffer.slot == y->buffer.slot && x->buffer.gen == y->buffer.gen &&
           x->offset == y->offset && x->bytes == y->bytes;
}

static bool same_group(const gpu_group *e, uint64_t hash, WGPUBindGroupLayout layout, const gr_gpu_bind *b, uint32_t n) {
    bool same = e->hash == hash && e->layout == layout && e->binds_n == n;
    for (uint32_t i = 0; i < n && same; i++) same = same_bind(&e->binds[i], &b[i]);
    return same;
}

static WGPUBindGroup make_group(gr_gpu *g, WGPUBindGroupLayout layout, const gr_gpu_bind *b, uint32_t n) {
    WGPUBindGroupEntry *e = gr_heap_alloc(n ? n : 1, sizeof *e);
    if (!e) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        gpu_slot *s = gpu_slot_of(g, b[i].buffer);
        e[i] = (WGPUBindGroupEntry){.binding = b[i].binding, .buffer = s ? s->buffer : NULL, .offset = b[i].offset, .size = b[i].bytes};
    }
    WGPUBindGroup group = g->lib.fn.DeviceCreateBindGroup(
        g->device, &(WGPUBindGroupDescriptor){.layout = layout, .entryCount = n, .entries = e});
    gr_heap_free(e);
    return group;
}

WGPUBindGroup gpu_group_get(gr_gpu *g, gr_diags *d, const gr_gpu_pipeline *p, uint32_t group, const gr_gpu_bind *binds, uint32_t n) {
    WGPUBindGroupLayout layout = p->group_layout[group];
    uint64_t hash = group_hash(layout, binds, n);
    gpu_group **bucket = &g->bucket[hash % GPU_GROUP_BUCKETS];
    for (gpu_group *e = *bucket; e; e = e->next)
        if (same_group(e, hash, layout, binds, n)) {
            g->counts.group_hits++;
            return e->group;
        }
    gpu_group *e = gr_heap_alloc(1, sizeof *e);
    gr_gpu_bind *copy = gr_heap_alloc(n ? n : 1, sizeof *copy);
    WGPUBindGroup made = e && copy ? make_group(g, layout, binds, n) : NULL;
    if (!made) {
        gr_heap_free(e);
        gr_heap_free(copy);
        gr_report_oom(d);
        return NULL;
    }
    if (n) memcpy(copy, binds, n * sizeof *copy);
    *e = (gpu_group){.group = made, .layout = layout, .binds = copy, .binds_n = n, .hash = hash, .next = *bucket};
    *bucket = e;
    for (uint32_t i = 0; i < n; i++) g->slots[binds[i].buffer.slot].groups++;
    g->counts.groups++;
    return made;
}

static void free_group(gr_gpu *g, gpu_group *e) {
    for (uint32_t i = 0; i < e->binds_n; i++)
        if (gpu_slot_of(g, e->binds[i].buffer)) g->slots[e->binds[i].buffer.slot].groups--;
    g->lib.fn.BindGroupRelease(e->group);
    gr_heap_free(e->binds);
    gr_heap_free(e);
}

static bool names(const gpu_group *e, gr_gpu_buffer b) {
    for (uint32_t i = 0; i < e->binds_n; i++)
        if (e->binds[i].buffer.slot == b.slot && e->binds[i].buffer.gen == b.gen) return true;
    return false;
}

void gpu_groups_forget(gr_gpu *g, gr_gpu_buffer b) {
    for (int i = 0; i < GPU_GROUP_BUCKETS && g->slots[b.slot].groups; i++)
        for (gpu_group **at = &g->bucket[i]; *at;) {
            gpu_group *e = *at;
            if (!names(e, b)) {
                at = &e->next;
                continue;
            }
            *at = e->next;
            free_group(g, e);
        }
}

void gpu_pipelines_close(gr_gpu *g) {
    for (int i = 0; i < GPU_GROUP_BUCKETS; i++)
        while (g->bucket[i]) {
            gpu_group *e = g->bucket[i];
            g->bucket[i] = e->next;
            free_group(g, e);
        }
    for (uint32_t i = 0; i < g->pipelines.n; i++) release_pipeline(g, g->pipelines.v[i]);
    for (uint32_t i = 0; i < g->modules.n; i++) g->lib.fn.ShaderModuleRelease(g->modules.v[i].module);
}
