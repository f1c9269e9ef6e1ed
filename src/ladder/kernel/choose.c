/* choose.c: which body or kernel of an op runs on a target, and why the others do not. */
#include "ladder/kernel/kernel_int.h"

const char *gr_kernel_storage_type(const gr_target *t, gr_dtype type) {
    if (type == GR_DTYPE_F64) return t->kind == GR_TARGET_ORACLE ? "f32" : NULL;
    return gr_dtype_wgsl(type);
}

bool gr_kernel_dtype(const gr_call *c, gr_str name, gr_dtype *out) {
    *out = gr_dtype_find(name);
    if (*out != GR_DTYPE_NONE || gr_call_dtype(c, name, out)) return true;
    for (uint32_t i = 0; i < c->op->sig.params_n; i++) {
        if (c->op->sig.params[i].kind != GR_PARAM_DTYPE || !gr_str_eq(c->op->sig.params[i].name, name)) continue;
        *out = (gr_dtype)c->params[i].i;
        return true;
    }
    return false;
}

static bool feature_met(const gr_target *t, gr_str f) {
    if (t->kind == GR_TARGET_ORACLE) return true;
    if (gr_str_eqz(f, "subgroups")) return t->subgroups;
    if (gr_str_eqz(f, "shader-f16")) return t->shader_f16;
    if (gr_str_eqz(f, "timestamps") || gr_str_eqz(f, "timestamp-query")) return t->timestamps;
    return false;
}

/* Limits are written as features with a number: "invocations=512", "workgroup-storage=32768". */
static bool limit_met(const gr_target *t, gr_str f, bool *is_limit) {
    static const char *const name[] = {"invocations=", "workgroup-storage=", "storage-buffers=", "storage-binding="};
    uint64_t have[] = {t->max_invocations, t->max_workgroup_storage, t->max_storage_buffers, t->max_storage_binding};
    for (uint32_t i = 0; i < 4; i++) {
        size_t k = strlen(name[i]);
        if (!gr_str_starts(f, name[i])) continue;
        uint64_t need = 0;
        for (; k < f.n && f.p[k] >= '0' && f.p[k] <= '9' && need < (UINT64_MAX >> 4); k++) need = need * 10 + (uint64_t)(f.p[k] - '0');
        *is_limit = true;
        return have[i] >= need;
    }
    *is_limit = false;
    return false;
}

static bool requires_met(const gr_target *t, const gr_kernel_decl *k, gr_choice *c) {
    for (uint32_t i = 0; i < k->requires_n; i++) {
        bool is_limit;
        bool ok = limit_met(t, k->requires_[i], &is_limit) || (!is_limit && feature_met(t, k->requires_[i]));
        if (ok || t->kind == GR_TARGET_ORACLE) continue;
        if (c->want_why) gr_buf_printf(&c->why, "needs %.*s", GR_STR_ARG(k->requires_[i]));
        return false;
    }
    return true;
}

static bool dtype_met(const gr_target *t, const gr_kernel_decl *k, gr_dtype type, gr_choice *c) {
    if (type == GR_DTYPE_F16 && !t->shader_f16 && t->kind == GR_TARGET_WEBGPU) {
        if (c->want_why) gr_buf_puts(&c->why, "f16 needs shader-f16");
        return false;
    }
    if (!gr_kernel_storage_type(t, type)) {
        if (c->want_why) gr_buf_printf(&c->why, "%s exists on the oracle only", gr_dtype_name(type));
        return false;
    }
    if (!k || k->dtypes_n == 0) return true;
    for (uint32_t i = 0; i < k->dtypes_n; i++)
        if (k->dtypes[i] == type) return true;
    if (c->want_why) gr_buf_printf(&c->why, "not for %s", gr_dtype_name(type));
    return false;
}

static bool dtypes_met(const gr_target *t, const gr_call *call, const gr_kernel_decl *k, gr_choice *c) {
    for (uint32_t i = 0; k && i < k->binding.aliases_n; i++) {
        gr_dtype type;
        if (gr_kernel_dtype(call, k->binding.aliases[i].dtype, &type)) GR_TRY(dtype_met(t, k, type, c));
    }
    for (uint32_t i = 0; k && k->binding.aliases_n == 0 && i < call->op->sig.dtypes_n; i++) {
        gr_dtype type;
        if (gr_call_dtype(call, call->op->sig.dtypes[i].var, &type)) GR_TRY(dtype_met(t, k, type, c));
    }
    for (uint32_t i = 0; i < call->operands_n; i++)
        if (call->operands[i].dtype != GR_DTYPE_NONE) GR_TRY(dtype_met(t, NULL, call->operands[i].dtype, c));
    for (uint32_t i = 0; i < call->outputs_n; i++) /* an absent one has no dtype */
        if (call->outputs[i].dtype != GR_DTYPE_NONE) GR_TRY(dtype_met(t, NULL, call->outputs[i].dtype, c));
    return true;
}

static bool when_met(const gr_call *call, const gr_kernel_decl *k, gr_choice *c) {
    if (!k->when) return true;
    gr_diags ignored;
    gr_diags_init(&ignored);
    bool yes = false;
    if (!gr_expr_true(&ignored, k->when, call, (gr_place){0}, &yes)) yes = false;
    gr_diags_free(&ignored);
    if (!yes && c->want_why) gr_buf_puts(&c->why, "its `when` is false for these shapes");
    return yes;
}

static bool kernel_matches(const gr_target *t, gr_tier tier, const gr_call *call, const gr_kernel_decl *k, bool any_order, gr_choice *c) {
    GR_TRY(requires_met(t, k, c) && dtypes_met(t, call, k, c) && when_met(call, k, c));
    if (k->order != GR_ORDER_UNORDERED || any_order) return true;
    if (c->want_why) gr_buf_printf(&c->why, "unordered, which %s does not allow", gr_tier_name(tier));
    return false;
}

/* First match in file order; false when none. `why` then holds the reasons. */
static bool first_kernel(const gr_target *t, gr_tier tier, const gr_call *call, bool any_order, gr_choice *c) {
    const gr_op *op = call->op;
    for (uint32_t i = 0; i < op->kernels_n; i++) {
        size_t mark = c->why.n;
        if (c->want_why) gr_buf_printf(&c->why, "%s%.*s passed over: ", mark ? "; " : "", GR_STR_ARG(op->kernels[i].file));
        if (!kernel_matches(t, tier, call, &op->kernels[i], any_order, c)) continue;
        c->why.n = mark;
        if (c->want_why) {
            gr_buf_printf(&c->why, "%s%.*s: ", mark ? "; " : "", GR_STR_ARG(op->kernels[i].file));
            if (op->kernels_n == 1) gr_buf_puts(&c->why, "the only kernel, matches");
            else gr_buf_printf(&c->why, "kernel %u of %u, the first that matches", i + 1, op->kernels_n);
        }
        c->kind = GR_CHOICE_FILE;
        c->decl = &op->kernels[i];
        return true;
    }
    return false;
}

static bool any_kernel(const gr_target *t, gr_tier tier, const gr_call *call, gr_choice *c) {
    if (first_kernel(t, tier, call, tier == GR_TIER_FAST, c)) return true;
    /* prod takes an unordered kernel only where the op offers no fixed-order one that matches. */
    if (tier != GR_TIER_PROD) return false;
    c->why.n = 0;
    return first_kernel(t, tier, call, true, c);
}

static bool body_choice(const gr_target *t, const gr_call *call, gr_body_kind body, gr_choice *c) {
    const gr_op *op = call->op;
    if (op->body != body || !dtypes_met(t, call, NULL, c)) return false;
    if (body == GR_BODY_MAP) {
        if (c->want_why && op->fusion) gr_buf_str(&c->why, op->fusion->why);
        else if (c->want_why) gr_buf_printf(&c->why, "%sgenerated from the map body", c->why.n ? "; " : "");
        c->kind = GR_CHOICE_MAP;
        return true;
    }
    if (body != GR_BODY_REFERENCE || t->kind != GR_TARGET_ORACLE) return false;
    const gr_kernel_decl *r = gr_op_reference(op, call->operands_n ? call->operands[0].dtype : call->outputs[0].dtype);
    if (!r) return false;
    if (c->want_why) gr_buf_printf(&c->why, "%sthe reference, as the op says for the CPU", c->why.n ? "; " : "");
    c->kind = GR_CHOICE_FILE;
    c->decl = r;
    return true;
}

const gr_bind *gr_kernel_once(const gr_call *core, const gr_kernel_decl *k, uint32_t operand) {
    static const char *const taken[] = {"fused", "Results", "ReadShape", "read_shape"};
    const gr_bind *found = NULL;
    uint32_t s = 0;
    while (s < core->op->sig.operands_n && core->operand_first[s + 1] <= operand) s++;
    if (s == core->op->sig.operands_n) return NULL;
    for (uint32_t i = 0; i < k->binding.binds_n; i++) {
        const gr_bind *b = &k->binding.binds[i];
        if (!gr_str_eq(b->tensor, core->op->sig.operands[s].name)) continue;
        if (found || !b->once || b->kind != GR_BIND_READ) return NULL;
        found = b;
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (gr_text_names(k->wgsl, gr_str_of(taken[i]))) return NULL;
    return found;
}

uint32_t gr_kernel_absorbs(const gr_target *t, gr_tier tier, const gr_call *call, uint32_t i) {
    gr_choice c = {0};
    uint32_t storage = 0;
    gr_kernel_choose(t, tier, call, &c);
    if (call->op->fusion || c.kind != GR_CHOICE_FILE || !gr_kernel_once(call, c.decl, i)) return 0;
    for (uint32_t k = 0; k < c.decl->binding.binds_n; k++) storage += c.decl->binding.binds[k].kind != GR_BIND_UNIFORM;
    return storage > t->max_storage_buffers ? 0 : t->max_storage_buffers - storage + 1;
}

void gr_kernel_choose(const gr_target *t, gr_tier tier, const gr_call *call, gr_choice *c) {
    const gr_op *op = call->op;
    if (op->fusion && op->fusion->core) {
        gr_kernel_choose(t, tier, op->fusion->core, c);
        return;
    }
    if (t->kind == GR_TARGET_ORACLE) {
        if (t->kernels && (any_kernel(t, tier, call, c) || body_choice(t, call, GR_BODY_MAP, c) || op->kernels_n || op->body == GR_BODY_GRAPH)) return;
        bool kernel = !t->reference && gr_str_eqz(op->cpu, "kernel");
        if (kernel && any_kernel(t, tier, call, c)) return;
        if (!t->reference && gr_str_eqz(op->cpu, "graph") && op->body == GR_BODY_GRAPH) return;
        if (body_choice(t, call, GR_BODY_MAP, c) || body_choice(t, call, GR_BODY_REFERENCE, c)) return;
        if (!t->reference && !kernel && op->body != GR_BODY_GRAPH) any_kernel(t, tier, call, c);
        return;
    }
    if (any_kernel(t, tier, call, c)) return;
    if (op->body == GR_BODY_MAP) body_choice(t, call, GR_BODY_MAP, c);
}

/* Over the binding limit, without a way to cut it: a graph body may still be cut op by op. */
static bool needs_expansion(const gr_target *t, const gr_call *call, const gr_choice *c) {
    const gr_op *op = call->op;
    if (op->body != GR_BODY_GRAPH || op->splits_n || (c->decl && c->decl->binding.splits_n)) return false;
    for (uint32_t i = 0; i < call->operands_n + call->outputs_n; i++) {
        const gr_type *x = i < call->operands_n ? &call->operands[i] : &call->outputs[i - call->operands_n];
        uint64_t bytes = 0;
        if (x->dtype != GR_DTYPE_NONE && (!gr_type_device_bytes(x, &bytes) || bytes > t->max_storage_binding)) return true;
    }
    return false;
}

bool gr_kernel_usable(const gr_target *t, gr_tier tier, const gr_call *call) {
    gr_choice c = {0};
    gr_kernel_choose(t, tier, call, &c);
    return c.kind != GR_CHOICE_NONE && !needs_expansion(t, call, &c);
}

bool gr_kernel_is_map(const gr_target *t, gr_tier tier, const gr_call *call) {
    gr_choice c = {0};
    gr_kernel_choose(t, tier, call, &c);
    return c.kind == GR_CHOICE_MAP;
}

int32_t gr_kernel_which(const gr_target *t, gr_tier tier, const gr_call *call) {
    gr_choice c = {0};
    gr_kernel_choose(t, tier, call, &c);
    for (uint32_t i = 0; c.kind == GR_CHOICE_FILE && i < call->op->kernels_n; i++)
        if (c.decl == &call->op->kernels[i]) return (int32_t)i;
    return -1;
}

bool gr_kernel_allowed(const gr_target *t, gr_tier tier, const gr_kernel_decl *k) {
    gr_choice c = {0};
    bool half = k->dtypes_n > 0 && t->kind == GR_TARGET_WEBGPU && !t->shader_f16;
    for (uint32_t i = 0; i < k->dtypes_n; i++) half = half && k->dtypes[i] == GR_DTYPE_F16;
    return !half && (k->order != GR_ORDER_UNORDERED || tier == GR_TIER_FAST) && requires_met(t, k, &c);
}
