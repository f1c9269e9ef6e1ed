/* kernel.c: targets, and one call turned into its passes. */
#include "ladder/kernel/kernel_int.h"

gr_target gr_target_oracle(void) {
    return (gr_target){
        .kind = GR_TARGET_ORACLE, .subgroups = true, .shader_f16 = true,
        .max_storage_binding = (UINT64_C(1) << 32) - 256, .max_buffer = (UINT64_C(1) << 32) - 256,
        .max_workgroup_storage = 65536, .max_groups = 65535, .max_invocations = 1024,
        .max_storage_buffers = 64, .subgroup_size = 32, .adapter = GR_STR("oracle"),
    };
}

gr_target gr_target_webgpu_default(void) {
    return (gr_target){
        .kind = GR_TARGET_WEBGPU,
        .max_storage_binding = UINT64_C(128) << 20, .max_buffer = UINT64_C(256) << 20,
        .max_workgroup_storage = 16384, .max_groups = 65535, .max_invocations = 256,
        .max_storage_buffers = 8, .adapter = GR_STR("WebGPU default limits"),
    };
}

gr_kernel *gr_inst_push(gr_inst *in) {
    uint32_t n = *in->n;
    if ((n & (n - 1)) == 0) { /* full: room is the next power of two */
        gr_kernel *grown = gr_arena_grow(in->a, *in->list, n, n ? 2 * (size_t)n : 1, sizeof **in->list);
        if (!grown) return NULL;
        *in->list = grown;
    }
    gr_kernel *k = &(*in->list)[n];
    memset(k, 0, sizeof *k);
    k->op = in->call->op->id;
    k->node = in->node;
    k->graph_node = in->graph_node;
    k->why = in->why;
    k->indirect = GR_NO_VALUE;
    k->module = UINT32_MAX;
    ++*in->n;
    return k;
}

/* 32-bit indices reach every element, also with the unused invocations of the last row of a folded grid. */
static bool indexable(gr_inst *in) {
    const gr_call *c = in->call;
    for (uint32_t i = 0; i < c->operands_n + c->outputs_n; i++) {
        const gr_type *x = i < c->operands_n ? &c->operands[i] : &c->outputs[i - c->operands_n];
        uint64_t n = 0;
        if (x->dtype == GR_DTYPE_NONE) continue;
        if (!gr_type_count(x, &n) || n > UINT32_MAX - (UINT32_C(1) << 26))
            return gr_report(in->d, GR_D_KERNEL_TOO_LARGE, in->at, "cut the tensor, or use an op with a split clause",
                             "%.*s: a tensor has more elements than 32-bit indices reach", GR_STR_ARG(in->node));
    }
    return true;
}

static bool writes_nothing(const gr_call *c) {
    for (uint32_t i = 0; i < c->outputs_n; i++) {
        uint64_t n = 0;
        if (!gr_type_count(&c->outputs[i], &n) || n != 0) return false;
    }
    return c->outputs_n > 0;
}

static bool report_missing(gr_inst *in, const gr_choice *c) {
    const gr_target *t = in->t;
    gr_str why = gr_buf_view(&c->why);
    const char *hint = in->call->op->body == GR_BODY_CONTRACT_ONLY ? "the op is a contract without a body: it cannot run yet"
                       : t->kind == GR_TARGET_WEBGPU ? "run with --device cpu, or add a [[kernel]] that this adapter can run"
                                                     : "give the op a map, graph or reference body";
    return gr_report(in->d, GR_D_KERNEL_MISSING, in->at, hint, "%.*s has no kernel for %.*s: %.*s", GR_STR_ARG(in->call->op->id),
                     GR_STR_ARG(t->adapter), GR_STR_ARG(why.n ? why : GR_STR("it declares none")));
}

/* Instantiates the core of a fused call: its operands are those that follow the map's, and none where the map is. */
static bool enter_core(gr_inst *in) {
    const gr_fusion *f = in->call->op->fusion;
    gr_value_id *args = GR_NEW_N(in->a, gr_value_id, f->core->operands_n);
    if (!args) return gr_report_oom(in->d);
    for (uint32_t i = 0, from = f->map->operands_n; i < f->core->operands_n; i++) args[i] = i == f->at ? GR_NO_VALUE : in->args[from++];
    in->fused = f;
    in->map_args = in->args;
    in->args = args;
    in->call = f->core;
    return true;
}

bool gr_kernel_instantiate_in(gr_kernel_cache *cache, gr_arena *a, gr_diags *d, const gr_call *call, const gr_target *t, gr_tier tier,
                              const gr_value_id *args, const gr_value_id *results, gr_str node, uint32_t graph_node,
                              gr_place at, gr_kernel **list, uint32_t *n) {
    if (writes_nothing(call)) return true;
    gr_inst in = {.cache = cache, .a = a, .d = d, .call = call, .t = t, .args = args, .results = results, .node = node, .graph_node = graph_node, .at = at, .list = list, .n = n};
    uint32_t first = *n;
    if (call->op->fusion && call->op->fusion->core) GR_TRY(enter_core(&in));
    gr_choice c = {.want_why = true};
    gr_kernel_choose(t, tier, call, &c);
    in.why = in.fused ? gr_str_of(gr_arena_printf(a, "%.*s; %.*s", GR_STR_ARG(in.fused->why), GR_STR_ARG(gr_buf_view(&c.why)))) : gr_str_dup(a, gr_buf_view(&c.why));
    bool ok = in.why.p && !c.why.failed;
    if (!ok) gr_report_oom(d);
    else if (c.kind == GR_CHOICE_NONE) ok = report_missing(&in, &c);
    else ok = indexable(&in) && (c.kind == GR_CHOICE_MAP ? gr_kernel_map(&in) : gr_kernel_file(&in, c.decl));
    gr_buf_free(&c.why);
    for (uint32_t i = first; ok && i < *n; i++) (*list)[i].op = call->op->id;
    return ok;
}

bool gr_kernel_instantiate(gr_arena *a, gr_diags *d, const gr_call *call, const gr_target *t, gr_tier tier,
                           const gr_value_id *args, const gr_value_id *results, gr_str node, uint32_t graph_node,
                           gr_place at, gr_kernel **list, uint32_t *n) {
    gr_kernel_cache *cache = gr_kernel_cache_new(a);
    if (!cache) return gr_report_oom(d);
    uint32_t first = *n;
    GR_TRY(gr_kernel_instantiate_in(cache, a, d, call, t, tier, args, results, node, graph_node, at, list, n));
    return gr_kernel_cache_finish(cache, d, *list + first, *n - first);
}
