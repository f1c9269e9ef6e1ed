/* Compiling an entry point: specialise, lay out memory, lower, analyse. */
#include "wgsl/eval_int.h"

static const gr_wgsl_entry *find_entry(const gr_wgsl_module *m, gr_diags *d, gr_str name) {
    const gr_wgsl_entry *e = name.n ? gr_wgsl_find_entry(m, name) : m->entry_n == 1 ? &m->entry[0] : NULL;
    if (!e)
        gr_report(d, GR_D_WGSL_NO_ENTRY, (gr_place){.document = m->name}, "name a function with @compute",
                  "no entry point \"%.*s\" among %u", GR_STR_ARG(name), m->entry_n);
    return e;
}

/* ------------------------------------------------------------------- memory */

static uint64_t least_size(eval_lower *l, const gr_wgsl_type *t) {
    if (t->kind == GR_WT_ARRAY && !t->count && !t->count_expr) return t->stride;
    if (t->kind == GR_WT_STRUCT && t->has_runtime) {
        const gr_wgsl_member *last = &t->member[t->member_n - 1];
        return last->at + last->type->stride;
    }
    return gr_wgsl_spec_size(&l->spec, t);
}

static eval_ref buffer(eval_lower *l, const gr_wgsl_decl *v) {
    vm_object o = {.space = VM_BUFFER, .name = v->name, .minimum = least_size(l, v->type), .group = v->group,
                   .binding = v->binding, .writable = v->access == GR_WGSL_READ_WRITE || v->access == GR_WGSL_WRITE,
                   .has_f16 = v->type->has_f16, .storage = v->space == GR_WGSL_SPACE_STORAGE,
                   .atomic = v->type->has_atomic, .at = v->offset};
    return eval_object_ref(l, eval_new_object(l, o), v->type);
}

static eval_ref shared(eval_lower *l, const gr_wgsl_decl *v) {
    uint32_t cells = eval_leaves(l, v->type);
    l->p->at = v->offset;
    if (cells > VM_MAX_WORKGROUP || l->p->workgroup_cells + cells > VM_MAX_WORKGROUP)
        return vm_fail(l->p, "workgroup variables need more than 4,194,304 scalars"), (eval_ref){.object = EVAL_NO_OBJECT};
    vm_object o = {.space = VM_WORKGROUP, .name = v->name, .cells = cells, .base = l->p->workgroup_cells, .writable = true,
                   .atomic = v->type->has_atomic, .at = v->offset};
    l->p->workgroup_cells += cells;
    return eval_object_ref(l, eval_new_object(l, o), v->type);
}

static void private_variable(eval_lower *l, const gr_wgsl_decl *v) {
    eval_binding *b = &l->global[v->slot];
    bool memory = eval_has_array(v->type) || (l->p->sanitize && !v->init);
    l->p->at = v->offset;
    eval_value init = v->init ? eval_expr(l, v->init) : (eval_value){0};
    b->ref = eval_var_ref(l, v->type, v->name, v->offset, memory, !v->init);
    if (v->init) eval_store(l, b->ref, init);
    else eval_clear(l, b->ref);
}

static bool variables(eval_lower *l, const gr_wgsl_function *fn) {
    l->global = GR_NEW_N(l->arena, eval_binding, l->m->vars_n + 1);
    if (!l->global) return vm_fail(l->p, NULL);
    for (uint32_t k = 0; k < fn->uses_n && !l->p->failed; k++) {
        const gr_wgsl_decl *v = fn->uses[k];
        if (v->kind != GR_WD_VAR) continue;
        eval_binding *b = &l->global[v->slot];
        b->is_ref = true;
        if (v->space == GR_WGSL_SPACE_PRIVATE) private_variable(l, v);
        else b->ref = v->space == GR_WGSL_SPACE_WORKGROUP ? shared(l, v) : buffer(l, v);
    }
    return !l->p->failed;
}

/* ------------------------------------------------------------------- inputs */

static void read_builtin(eval_lower *l, gr_wgsl_builtin_value b, vm_reg *out) {
    static const struct { uint8_t input, n; } map[] = {
        [GR_WV_GLOBAL_INVOCATION_ID] = {VM_IN_GLOBAL_X, 3}, [GR_WV_LOCAL_INVOCATION_ID] = {VM_IN_LOCAL_X, 3},
        [GR_WV_LOCAL_INVOCATION_INDEX] = {VM_IN_INDEX, 1}, [GR_WV_WORKGROUP_ID] = {VM_IN_GROUP_X, 3},
        [GR_WV_NUM_WORKGROUPS] = {VM_IN_GRID_X, 3}, [GR_WV_SUBGROUP_INVOCATION_ID] = {VM_IN_SUBGROUP_LANE, 1},
        [GR_WV_SUBGROUP_SIZE] = {VM_IN_SUBGROUP_SIZE, 1}, [GR_WV_SUBGROUP_ID] = {VM_IN_SUBGROUP_ID, 1},
        [GR_WV_NUM_SUBGROUPS] = {VM_IN_SUBGROUPS, 1},
    };
    for (uint32_t k = 0; b < sizeof map / sizeof *map && k < map[b].n; k++)
        out[k] = vm_read_input(l->p, (vm_input)(map[b].input + k));
}

static void parameters(eval_lower *l, const gr_wgsl_function *fn) {
    for (uint32_t k = 0; k < fn->param_n && !l->p->failed; k++) {
        const gr_wgsl_decl *d = fn->param[k];
        eval_value v = eval_zero(l, d->type);
        if (d->type->kind != GR_WT_STRUCT) {
            if (v.n) read_builtin(l, d->builtin, v.r);
        } else {
            for (uint32_t i = 0, leaf = 0; i < d->type->member_n && v.n; i++) {
                read_builtin(l, (gr_wgsl_builtin_value)d->type->member[i].builtin, v.r + leaf);
                leaf += eval_leaves(l, d->type->member[i].type);
            }
        }
        l->call->local[d->slot] = (eval_binding){.value = v};
    }
}

/* ------------------------------------------------------------------ options */

static uint32_t builtin_lane(gr_str name) {
    static const struct { const char *name; uint16_t op; } map[] = {
        {"acos", LANE_ACOS}, {"acosh", LANE_ACOSH}, {"asin", LANE_ASIN}, {"asinh", LANE_ASINH}, {"atan", LANE_ATAN},
        {"atanh", LANE_ATANH}, {"atan2", LANE_ATAN2}, {"cos", LANE_COS}, {"cosh", LANE_COSH}, {"degrees", LANE_DEGREES},
        {"exp", LANE_EXP}, {"exp2", LANE_EXP2}, {"inverseSqrt", LANE_INVERSE_SQRT}, {"log", LANE_LOG}, {"log2", LANE_LOG2},
        {"pow", LANE_POW}, {"radians", LANE_RADIANS}, {"sin", LANE_SIN}, {"sinh", LANE_SINH}, {"sqrt", LANE_SQRT},
        {"tan", LANE_TAN}, {"tanh", LANE_TANH}, {"/", LANE_DIV_F},
    };
    for (size_t k = 0; k < sizeof map / sizeof *map; k++)
        if (gr_str_eqz(name, map[k].name)) return map[k].op;
    return LANE_NONE;
}

static bool accuracy(vm_program *p, const gr_eval_options *opt) {
    p->table = GR_NEW(p->arena, lane_bounded_table);
    if (!p->table) return vm_fail(p, NULL);
    p->table->flush = opt->flush_subnormals ? 0x1p-126 : 0;
    p->table->any_order = opt->any_order;
    for (uint32_t k = 0; k < opt->accuracy_n; k++) {
        uint32_t op = builtin_lane(opt->accuracy[k].builtin);
        if (op) p->table->measured[op] = (lane_accuracy){true, opt->accuracy[k].ulps, opt->accuracy[k].absolute};
    }
    return true;
}

static bool configure(vm_program *p, const eval_lower *l, const gr_eval_options *opt, const gr_wgsl_entry *e) {
    static const lane_kind kinds[] = {LANE_F32, LANE_F32, LANE_F64, LANE_BOUNDED, LANE_DUAL, LANE_F32};
    p->mode = opt->mode == GR_EVAL_NO_MODE ? GR_EVAL_F32 : opt->mode;
    p->kind = kinds[p->mode];
    p->sanitize = p->mode == GR_EVAL_SANITIZER;
    p->isa = opt->isa;
    p->subgroup = opt->subgroup_size ? opt->subgroup_size : 32;
    p->step_limit = opt->step_limit ? opt->step_limit : (uint64_t)1 << 32;
    p->run_limit = opt->run_limit ? opt->run_limit : UINT64_MAX;
    p->trace = opt->trace;
    p->reverse = opt->reverse && p->sanitize;
    memcpy(p->size, l->spec.workgroup_size, sizeof p->size);
    p->invocations = p->size[0] * p->size[1] * p->size[2];
    p->unit = 4;
    for (uint32_t k = 0; k < e->resource_n; k++)
        if (e->resource[k]->type->has_f16) p->unit = 2;
    if (p->invocations == 0 || (uint64_t)p->size[0] * p->size[1] * p->size[2] > 4096)
        return vm_fail(p, "a workgroup has no invocations or more than 4,096");
    return accuracy(p, opt);
}

/* ------------------------------------------------------------------ compile */

static bool lower_entry(eval_lower *l, const gr_wgsl_function *fn) {
    eval_call root = {.fn = fn, .local = GR_NEW_N(l->arena, eval_binding, fn->local_n + 1)};
    if (!root.local) return vm_fail(l->p, NULL);
    l->call = &root;
    if (!variables(l, fn)) return false;
    parameters(l, fn);
    eval_body(l, fn->body);
    l->p->at = fn->body->end;
    vm_emit(l->p, VM_END);
    l->call = NULL;
    return !l->p->failed;
}

gr_eval_program *gr_eval_compile(gr_arena *arena, gr_diags *d, const gr_wgsl_module *m, gr_str entry,
                                 const gr_eval_options *given) {
    static const gr_eval_options defaults;
    const gr_eval_options *opt = given ? given : &defaults;
    const gr_wgsl_entry *e = find_entry(m, d, entry);
    if (!e) return NULL;
    vm_program *p = GR_NEW(arena, vm_program);
    if (!p) return gr_report_oom(d), NULL;
    *p = (vm_program){.arena = arena, .module = m, .d = d};
    eval_lower l = {.p = p, .d = d, .arena = arena, .m = m};
    if (!gr_wgsl_specialize(arena, d, m, e->name, opt->override, opt->override_n, &l.spec)) return NULL;
    bool ok = vm_init(p) && configure(p, &l, opt, e) && lower_entry(&l, e->fn) && vm_analyse(p, !p->sanitize) &&
              (p->invocations > 1 || p->sanitize || vm_analyse(p, false));
    p->d = NULL;
    return ok ? p : NULL;
}

bool gr_eval_program_threads(const gr_eval_program *p) { return !p->storage_atomics && !p->sanitize; }
const uint32_t *gr_eval_program_workgroup_size(const gr_eval_program *p) { return p->size; }
uint32_t gr_eval_program_batch(const gr_eval_program *p) { return p->form[0].groups; }
gr_eval_isa gr_eval_isa_best(void) { return (gr_eval_isa)gr_lane_best_isa(); }

const char *gr_eval_isa_text(gr_eval_isa isa) {
    static const char *const names[] = {"auto", "generic", "avx2", "avx512"};
    return isa < sizeof names / sizeof *names ? names[isa] : "?";
}

static void print_table(gr_buf *out, const vm_object *o) {
    gr_buf_puts(out, "table");
    for (uint32_t k = 0; k < o->cells; k++) gr_buf_printf(out, " %x", o->bits[k]);
    gr_buf_putc(out, '\n');
}

void gr_eval_print(gr_buf *out, const gr_eval_program *p) {
    for (uint32_t k = 0; k < p->object.n; k++)
        if (p->object.v[k].space == VM_TABLE) print_table(out, &p->object.v[k]);
    for (uint32_t k = 0; k < p->form_n; k++) vm_print(out, p, &p->form[k]);
}
