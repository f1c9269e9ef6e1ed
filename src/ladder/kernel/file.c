/* file.c: the passes of a WGSL file, its variables bound as the op's binding clauses say. */
#include "ladder/kernel/kernel_int.h"

/* One pass of one operand of an `each`. */
typedef struct pass_ctx {
    gr_inst *in;
    const gr_kernel_decl *k;
    const gr_pass *pass;
    gr_call call; /* a copy, with `each` and the turn of `repeat` set */
    const gr_wgsl_module *m;
    const gr_wgsl_entry *entry;
    uint32_t module;
    const gr_reader *reader; /* NULL: every operand is bound */
} pass_ctx;

static bool misfit(const pass_ctx *p, gr_str var, const char *what) {
    return gr_report(p->in->d, GR_D_KERNEL_BINDING, p->in->at, "compare the [[kernel]] binding with the module",
                     "%.*s, %.*s, pass %.*s: %.*s %s", GR_STR_ARG(p->call.op->id), GR_STR_ARG(p->k->file),
                     GR_STR_ARG(p->pass->entry), GR_STR_ARG(var), what);
}

static bool output_value(const pass_ctx *p, gr_str name, gr_value_id *v, bool *is_output, uint32_t *index) {
    const gr_sig *sig = &p->call.op->sig;
    for (uint32_t i = 0; i < sig->outputs_n; i++) {
        if (!gr_str_eq(sig->outputs[i].name, name)) continue;
        *index = sig->outputs[i].variadic ? p->call.each : i; /* a variadic output is the only one */
        *v = p->in->results[*index];
        *is_output = true;
        return true;
    }
    return false;
}

/* Value of a tensor name: an operand (the current one of a variadic), or an output. An operand that is updated in
 * place has the name of its output: `output` says which is meant. */
static bool tensor_value(const pass_ctx *p, gr_str name, bool output, gr_value_id *v, bool *is_output, uint32_t *index) {
    const gr_call *c = &p->call;
    if (output && output_value(p, name, v, is_output, index)) return true;
    for (uint32_t i = 0; i < c->op->sig.operands_n; i++) {
        if (!gr_str_eq(c->op->sig.operands[i].name, name)) continue;
        uint32_t at = c->operand_first[i] + (c->op->sig.operands[i].variadic ? c->each : 0);
        *is_output = false;
        *index = i;
        *v = at < c->operand_first[i + 1] && c->operands[at].dtype != GR_DTYPE_NONE ? p->in->args[at] : GR_NO_VALUE;
        return true;
    }
    return output_value(p, name, v, is_output, index);
}

static bool uses(const gr_wgsl_entry *e, const gr_wgsl_decl *var) {
    for (uint32_t i = 0; i < e->resource_n; i++)
        if (e->resource[i] == var) return true;
    return false;
}

static bool scratch_bytes(const pass_ctx *p, const gr_bind *bind, uint64_t *bytes) {
    gr_dtype type;
    int64_t n;
    if (!gr_kernel_dtype(&p->call, bind->dtype, &type)) return misfit(p, bind->var, "has an unknown dtype");
    GR_TRY(gr_expr_int(p->in->d, bind->size, &p->call, NULL, NULL, p->in->at, &n));
    gr_type t = {.dtype = type, .rank = 1, .dim = {{.n = n < 1 ? 1 : (uint64_t)n}}};
    return gr_type_device_bytes(&t, bytes) || misfit(p, bind->var, "is too large a scratch buffer");
}

static gr_operand_kind bind_kind(gr_bind_kind k) {
    switch (k) {
    case GR_BIND_READ: return GR_KB_VALUE_READ;
    case GR_BIND_WRITE: return GR_KB_VALUE_WRITE;
    case GR_BIND_INOUT: return GR_KB_VALUE_INOUT;
    case GR_BIND_SCRATCH: return GR_KB_SCRATCH;
    case GR_BIND_COUNT: return GR_KB_COUNT;
    case GR_BIND_UNIFORM: return GR_KB_UNIFORM;
    default: return GR_KB_NONE;
    }
}

static bool fill_bind(pass_ctx *p, const gr_bind *bind, const gr_wgsl_decl *var, gr_kernel_bind *b) {
    bool is_output = false;
    uint32_t index = 0;
    *b = (gr_kernel_bind){.kind = bind_kind(bind->kind), .group = var->group, .binding = var->binding, .var = bind->var,
                          .value = GR_NO_VALUE, .result = GR_NO_VALUE,
                          .writable = var->space == GR_WGSL_SPACE_STORAGE && var->access != GR_WGSL_READ};
    if (bind->kind == GR_BIND_UNIFORM) return gr_uniform_fill(p->in, p->k, &p->call, bind, var, &b->data, &b->bytes);
    if (bind->kind == GR_BIND_SCRATCH) {
        for (const gr_bind *x = p->k->binding.binds; x < bind; x++) b->scratch += x->kind == GR_BIND_SCRATCH;
        return scratch_bytes(p, bind, &b->bytes);
    }
    bool output = bind->kind == GR_BIND_WRITE || (bind->kind == GR_BIND_COUNT && b->writable);
    if (!tensor_value(p, bind->tensor, output, &b->value, &is_output, &index)) return misfit(p, bind->var, "binds a name that the signature does not have");
    if (bind->kind == GR_BIND_INOUT) {
        bool ignored;
        uint32_t at;
        if (!output_value(p, bind->tensor, &b->result, &ignored, &at)) b->result = GR_NO_VALUE;
        return true;
    }
    if (!is_output || b->value != GR_NO_VALUE) return true;
    b->bytes = 4; /* absent under its condition; or written and never read: */
    return p->call.outputs[index].dtype == GR_DTYPE_NONE || gr_type_device_bytes(&p->call.outputs[index], &b->bytes);
}

static bool fill_binds(pass_ctx *p, gr_kernel *k) {
    const gr_binding *g = &p->k->binding;
    k->binds = GR_NEW_N(p->in->a, gr_kernel_bind, p->entry->resource_n + 1);
    if (!k->binds) return gr_report_oom(p->in->d);
    for (uint32_t i = 0; i < g->binds_n; i++) {
        if (p->reader && gr_str_eq(g->binds[i].var, p->reader->var)) continue;
        const gr_wgsl_decl *var = gr_wgsl_find_decl(p->m, g->binds[i].var);
        if (!var || var->kind != GR_WD_VAR || !var->has_binding) return misfit(p, g->binds[i].var, "is no resource of the module");
        if (!uses(p->entry, var)) continue;
        if (k->binds_n == p->entry->resource_n) return misfit(p, g->binds[i].var, "is bound twice");
        GR_TRY(fill_bind(p, &g->binds[i], var, &k->binds[k->binds_n++]));
    }
    for (uint32_t i = 0; p->reader && i < p->reader->binds_n; i++) {
        const gr_wgsl_decl *var = gr_wgsl_find_decl(p->m, p->reader->binds[i].var);
        if (var && uses(p->entry, var) && k->binds_n < p->entry->resource_n) k->binds[k->binds_n++] = p->reader->binds[i];
    }
    if (k->binds_n != p->entry->resource_n) return misfit(p, p->pass->entry, "uses a resource that no clause binds");
    return true;
}

static bool fill_overrides(pass_ctx *p, gr_kernel *k) {
    const gr_binding *g = &p->k->binding;
    if (g->overrides_n == 0) return true;
    k->overrides = GR_NEW_N(p->in->a, gr_kernel_override, g->overrides_n);
    if (!k->overrides) return gr_report_oom(p->in->d);
    for (uint32_t i = 0; i < g->overrides_n; i++) {
        bool used = false;
        for (uint32_t j = 0; j < p->entry->overrides_n; j++) used = used || gr_str_eq(p->entry->overrides[j]->name, g->overrides[i].name);
        if (!used) continue;
        double v;
        GR_TRY(gr_expr_float(p->in->d, g->overrides[i].value, &p->call, p->in->at, &v));
        k->overrides[k->overrides_n++] = (gr_kernel_override){g->overrides[i].name, v};
    }
    return true;
}

static bool fill_workgroup(pass_ctx *p, gr_kernel *k) {
    const gr_target *t = p->in->t;
    uint64_t bytes = p->entry->workgroup_bytes;
    memcpy(k->workgroup, p->entry->workgroup_size, sizeof k->workgroup);
    if (k->overrides_n || !k->workgroup[0] || !k->workgroup[1] || !k->workgroup[2]) {
        gr_wgsl_override_value v[32];
        gr_wgsl_spec spec;
        gr_arena scratch = {0};
        uint32_t n = 0;
        for (; n < k->overrides_n && n < 32; n++) v[n] = (gr_wgsl_override_value){k->overrides[n].name, k->overrides[n].value};
        bool ok = gr_wgsl_specialize(&scratch, p->in->d, p->m, p->pass->entry, v, n, &spec);
        if (ok) memcpy(k->workgroup, spec.workgroup_size, sizeof k->workgroup);
        if (ok) bytes = spec.workgroup_bytes;
        gr_arena_free(&scratch);
        GR_TRY(ok);
    }
    uint64_t lanes = (uint64_t)k->workgroup[0] * k->workgroup[1] * k->workgroup[2];
    if (lanes > t->max_invocations || bytes > t->max_workgroup_storage || p->entry->resource_n > t->max_storage_buffers + 1u)
        return gr_report(p->in->d, GR_D_KERNEL_MISSING, p->in->at, "declare what the kernel needs in its `requires`, so that another is tried",
                         "%.*s, %.*s: %llu invocations and %llu bytes of workgroup memory in a workgroup, %u resources; the adapter has %u, %llu and %u",
                         GR_STR_ARG(p->call.op->id), GR_STR_ARG(p->k->file), (unsigned long long)lanes, (unsigned long long)bytes,
                         p->entry->resource_n, t->max_invocations, (unsigned long long)t->max_workgroup_storage, t->max_storage_buffers);
    return true;
}

static bool eval(pass_ctx *p, const gr_expr *e, uint64_t none, uint64_t *out) {
    int64_t v = (int64_t)none;
    if (e) GR_TRY(gr_expr_int(p->in->d, e, &p->call, NULL, NULL, p->in->at, &v));
    *out = v < 0 ? 0 : (uint64_t)v;
    return true;
}

static bool fill_grid(pass_ctx *p, gr_kernel *k) {
    const gr_pass *pass = p->pass;
    uint64_t lanes = (uint64_t)k->workgroup[0] * k->workgroup[1] * k->workgroup[2], items, per;
    k->grid[1] = k->grid[2] = 1;
    switch (pass->kind) {
    case GR_PASS_OVER:
        GR_TRY(eval(p, pass->size[0], 1, &items));
        k->grid[0] = items / lanes + (items % lanes != 0);
        k->linear = true;
        return true;
    case GR_PASS_GRID:
        for (int i = 0; i < 3; i++) GR_TRY(eval(p, pass->size[i], 1, &k->grid[i]));
        return true;
    case GR_PASS_INDIRECT: {
        bool is_output;
        uint32_t index;
        gr_value_id v;
        if (!tensor_value(p, pass->count_of, false, &v, &is_output, &index) || v == GR_NO_VALUE) return misfit(p, pass->count_of, "has no count");
        const gr_type *t = is_output ? &p->call.outputs[index] : &p->call.operands[p->call.operand_first[index]];
        GR_TRY(eval(p, pass->size[0], 1, &per));
        k->indirect_per = per == 0 || per > UINT32_MAX ? 1 : (uint32_t)per;
        items = t->rank ? t->dim[0].n : 1;
        k->grid[0] = items / k->indirect_per + (items % k->indirect_per != 0);
        k->linear = true;
        k->indirect = t->bounded ? v : GR_NO_VALUE; /* a static tensor's count is its size */
        return true;
    }
    default: return GR_BUG(p->in->d, "K1", "pass %.*s has no kind", GR_STR_ARG(pass->entry));
    }
}

static bool one_pass(pass_ctx *p) {
    gr_kernel *k = gr_inst_push(p->in);
    if (!k) return gr_report_oom(p->in->d);
    k->origin = p->k->file;
    k->order = p->k->order == GR_ORDER_NONE ? GR_ORDER_FIXED : p->k->order;
    k->entry = p->pass->entry;
    k->module = p->module;
    GR_TRY(fill_overrides(p, k) && fill_workgroup(p, k) && fill_grid(p, k) && fill_binds(p, k));
    if (k->grid[0] == 0 || k->grid[1] == 0 || k->grid[2] == 0) --*p->in->n; /* nothing to do */
    return true;
}

static uint32_t each_count(const gr_call *c, gr_str name) {
    for (uint32_t i = 0; i < c->op->sig.operands_n; i++)
        if (gr_str_eq(c->op->sig.operands[i].name, name)) return c->operand_first[i + 1] - c->operand_first[i];
    return c->op->sig.outputs_n == 1 && gr_str_eq(c->op->sig.outputs[0].name, name) ? c->outputs_n : 0;
}

static bool enter_pass(pass_ctx *p, const gr_pass *pass) {
    p->pass = pass;
    p->entry = gr_wgsl_find_entry(p->m, pass->entry);
    return p->entry || misfit(p, pass->entry, "is no entry point of the module");
}

static bool each_pass(pass_ctx *p, const gr_pass *pass) {
    GR_TRY(enter_pass(p, pass));
    uint32_t times = pass->each.n ? each_count(p->in->call, pass->each) : 1;
    for (p->call.each = 0; p->call.each < times; p->call.each++) GR_TRY(one_pass(p));
    p->call.each = 0;
    return true;
}

enum { TURNS_MAX = 4096 };

/* A loop of n passes in order, turn after turn. */
static bool repeated_passes(pass_ctx *p, const gr_pass *pass, uint32_t n) {
    int64_t from, to;
    GR_TRY(gr_expr_int(p->in->d, pass->from, &p->call, NULL, NULL, p->in->at, &from) &&
           gr_expr_int(p->in->d, pass->to, &p->call, NULL, NULL, p->in->at, &to));
    if (to > from && (uint64_t)to - (uint64_t)from > TURNS_MAX) return misfit(p, pass->repeat, "takes more than 4,096 turns");
    p->call.repeat = pass->repeat;
    for (p->call.turn = from; p->call.turn < to; p->call.turn++)
        for (uint32_t i = 0; i < n; i++) GR_TRY(enter_pass(p, &pass[i]) && one_pass(p));
    p->call.repeat = (gr_str){0};
    p->call.turn = 0;
    return true;
}

bool gr_kernel_file(gr_inst *in, const gr_kernel_decl *k) {
    pass_ctx p = {.in = in, .k = k, .call = *in->call};
    gr_reader reader;
    if (in->fused) {
        GR_TRY(gr_kernel_reader(in, k, &reader));
        p.reader = &reader;
    }
    p.module = gr_cache_file(in->cache, in->d, in->call, k, in->t, p.reader);
    if (p.module == UINT32_MAX) {
        if (gr_diags_ok(in->d))
            gr_report(in->d, GR_D_KERNEL_INVALID, in->at, NULL, "%.*s: %.*s does not load", GR_STR_ARG(in->call->op->id), GR_STR_ARG(k->file));
        return false;
    }
    for (uint32_t i = 0; in->fused && i < in->fused->n; i++) gr_cache_name_node(in->cache, p.module, in->fused->nodes[i]);
    gr_cache_name_node(in->cache, p.module, in->node);
    p.m = in->cache->module.v[p.module].wgsl;
    for (uint32_t i = 0, n; i < k->binding.passes_n; i += n) {
        const gr_pass *pass = &k->binding.passes[i];
        for (n = 1; pass->repeat.n && i + n < k->binding.passes_n && pass[n].repeat.n && !pass[n].from;) n++;
        p.pass = pass;
        GR_TRY(pass->from ? repeated_passes(&p, pass, n) : each_pass(&p, pass));
    }
    return true;
}
