/* Types, values and memory views. */
#include "wgsl/eval_int.h"

/* -------------------------------------------------------------------- types */

uint32_t eval_count(eval_lower *l, const gr_wgsl_type *array) { return gr_wgsl_spec_count(&l->spec, array); }

/* Saturates: callers compare with limits. */
uint32_t eval_leaves(eval_lower *l, const gr_wgsl_type *t) {
    uint64_t n = 0;
    switch (t->kind) {
        case GR_WT_VEC: n = t->n; break;
        case GR_WT_MAT: n = (uint64_t)t->n * t->rows; break;
        case GR_WT_ARRAY: n = t->leaves ? t->leaves : (uint64_t)eval_count(l, t) * eval_leaves(l, t->elem); break;
        case GR_WT_STRUCT:
            for (uint32_t i = 0; i < t->member_n; i++) n += eval_leaves(l, t->member[i].type);
            break;
        default: n = 1;
    }
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

const gr_wgsl_type *eval_scalar(const gr_wgsl_type *t) {
    while (t->kind == GR_WT_VEC || t->kind == GR_WT_MAT || t->kind == GR_WT_ATOMIC) t = t->elem;
    return t;
}

bool eval_is_float(const gr_wgsl_type *s) { return s->kind == GR_WT_F32 || s->kind == GR_WT_F16; }
char eval_class(const gr_wgsl_type *s) { return eval_is_float(s) ? 'F' : 'I'; }

bool eval_has_array(const gr_wgsl_type *t) {
    if (t->kind == GR_WT_ARRAY) return true;
    for (uint32_t i = 0; t->kind == GR_WT_STRUCT && i < t->member_n; i++)
        if (eval_has_array(t->member[i].type)) return true;
    return false;
}

const gr_wgsl_type *eval_element(const gr_wgsl_type *t) { return t->kind == GR_WT_MAT ? t->column : t->elem; }

/* Class of each leaf of t, in order; returns the next place. */
static vm_reg *leaf_registers(eval_lower *l, const gr_wgsl_type *t, vm_reg *out, bool variables) {
    if (t->kind == GR_WT_STRUCT) {
        for (uint32_t i = 0; i < t->member_n; i++) out = leaf_registers(l, t->member[i].type, out, variables);
        return out;
    }
    if (t->kind == GR_WT_ARRAY) {
        for (uint32_t i = 0, n = eval_count(l, t); i < n && !l->p->failed; i++) out = leaf_registers(l, t->elem, out, variables);
        return out;
    }
    char cls = eval_class(eval_scalar(t));
    for (uint32_t i = 0, n = eval_leaves(l, t); i < n; i++) *out++ = variables ? vm_var(l->p, cls) : 0;
    return out;
}

/* ------------------------------------------------------------------- values */

eval_value eval_new(eval_lower *l, const gr_wgsl_type *t) {
    eval_value v = {t, NULL, eval_leaves(l, t)};
    if (v.n > VM_MAX_LOCAL) vm_fail(l->p, "a value has more than 65,536 components"), v.n = 0;
    v.r = GR_NEW_N(l->arena, vm_reg, v.n);
    if (!v.r) vm_fail(l->p, NULL), v.n = 0;
    return v;
}

eval_value eval_part(eval_value v, const gr_wgsl_type *t, uint32_t leaf, uint32_t n) {
    return leaf + n <= v.n ? (eval_value){t, v.r + leaf, n} : (eval_value){t, NULL, 0};
}

typedef struct leaf_walk {
    eval_lower *l;
    const gr_wgsl_const *c;
    vm_reg *out;
    uint32_t at;
} leaf_walk;

static vm_reg const_leaf(eval_lower *l, const gr_wgsl_type *s, gr_wgsl_scalar v) {
    if (eval_is_float(s)) return vm_float(l->p, v.f);
    if (s->kind == GR_WT_BOOL) return vm_int(l->p, v.i ? 0xFFFFFFFFu : 0);
    return vm_int(l->p, (uint32_t)(uint64_t)v.i);
}

static void const_leaves(leaf_walk *w, const gr_wgsl_type *t) {
    if (t->kind == GR_WT_STRUCT) {
        for (uint32_t i = 0; i < t->member_n; i++) const_leaves(w, t->member[i].type);
    } else if (t->kind == GR_WT_ARRAY) {
        for (uint32_t i = 0, n = eval_count(w->l, t); i < n && !w->l->p->failed; i++) const_leaves(w, t->elem);
    } else {
        for (uint32_t i = 0, n = eval_leaves(w->l, t); i < n; i++, w->at++)
            w->out[w->at] = const_leaf(w->l, eval_scalar(t), w->c ? gr_wgsl_const_leaf(w->c, w->at) : (gr_wgsl_scalar){0});
    }
}

eval_value eval_const(eval_lower *l, const gr_wgsl_const *c) {
    eval_value v = eval_new(l, c->type);
    leaf_walk w = {l, c, v.r, 0};
    if (v.n) const_leaves(&w, c->type);
    return v;
}

eval_value eval_zero(eval_lower *l, const gr_wgsl_type *t) {
    eval_value v = eval_new(l, t);
    leaf_walk w = {l, NULL, v.r, 0};
    if (v.n) const_leaves(&w, t);
    return v;
}

eval_value eval_copy(eval_lower *l, eval_value v) {
    bool any = false;
    for (uint32_t i = 0; i < v.n; i++) any |= l->p->reg.v[v.r[i]].variable;
    if (!any) return v;
    eval_value c = eval_new(l, v.type);
    for (uint32_t i = 0; i < c.n; i++) c.r[i] = vm_copy(l->p, v.r[i]);
    return c;
}

/* --------------------------------------------------------------- references */

uint32_t eval_new_object(eval_lower *l, vm_object o) {
    vm_object *slot = GR_PUSH(l->p->arena, &l->p->object);
    if (!slot) return vm_fail(l->p, NULL), 0;
    *slot = o;
    return l->p->object.n - 1;
}

eval_ref eval_object_ref(eval_lower *l, uint32_t object, const gr_wgsl_type *t) {
    (void)l;
    return (eval_ref){.type = t, .object = object, .limit = UINT32_MAX};
}

static eval_ref in_registers(eval_lower *l, const gr_wgsl_type *t) {
    eval_value v = eval_new(l, t);
    if (v.n) leaf_registers(l, t, v.r, true);
    return (eval_ref){.type = v.n ? t : NULL, .object = EVAL_NO_OBJECT, .reg = v.r, .limit = UINT32_MAX};
}

/* Private memory is a stack: l->p->local_cells is restored at the end of each block. */
eval_ref eval_var_ref(eval_lower *l, const gr_wgsl_type *t, gr_str name, uint32_t at, bool memory, bool implicit_zero) {
    if (!memory) return in_registers(l, t);
    vm_program *p = l->p;
    uint32_t cells = eval_leaves(l, t);
    if (cells > VM_MAX_LOCAL || p->local_cells + cells > VM_MAX_LOCAL) {
        vm_fail(p, "function and private variables need more than 65,536 scalars an invocation");
        return (eval_ref){.object = EVAL_NO_OBJECT};
    }
    vm_object o = {.space = VM_LOCAL, .name = name, .cells = cells, .base = p->local_cells, .writable = true, .at = at,
                   .implicit_zero = implicit_zero};
    p->local_cells += cells;
    if (p->local_top < p->local_cells) p->local_top = p->local_cells;
    return eval_object_ref(l, eval_new_object(l, o), t);
}

static void table_cells(eval_lower *l, eval_value v, uint32_t *bits, double *wide) {
    for (uint32_t i = 0; i < v.n; i++) {
        const vm_register *r = &l->p->reg.v[v.r[i]];
        bits[i] = r->bits;
        wide[i] = r->value;
    }
}

eval_ref eval_table_ref(eval_lower *l, const gr_wgsl_const *c) {
    for (uint32_t i = 0; i < l->tables.n; i++)
        if (l->tables.v[i] == c) return eval_object_ref(l, l->table_object.v[i], c->type);
    eval_value v = eval_const(l, c);
    uint32_t *bits = GR_NEW_N(l->arena, uint32_t, v.n);
    double *wide = GR_NEW_N(l->arena, double, v.n);
    const gr_wgsl_const **key = GR_PUSH(l->arena, &l->tables);
    uint32_t *object = GR_PUSH(l->arena, &l->table_object);
    if (!bits || !wide || !key || !object || !v.n) return vm_fail(l->p, NULL), (eval_ref){.object = EVAL_NO_OBJECT};
    table_cells(l, v, bits, wide);
    vm_object o = {.space = VM_TABLE, .name = GR_STR("constant"), .cells = v.n, .base = l->p->table_cells, .bits = bits, .wide = wide};
    l->p->table_cells += v.n;
    *key = c;
    *object = eval_new_object(l, o);
    return eval_object_ref(l, *object, c->type);
}

static const vm_object *object_of(const eval_lower *l, const eval_ref *r) {
    return r->object == EVAL_NO_OBJECT ? NULL : &l->p->object.v[r->object];
}

static bool in_buffer(const eval_lower *l, const eval_ref *r) {
    const vm_object *o = object_of(l, r);
    return o && o->space == VM_BUFFER;
}

eval_ref eval_ref_member(eval_lower *l, eval_ref r, const gr_wgsl_member *m) {
    if (!r.type) return r;
    uint32_t leaf = 0;
    const gr_wgsl_type *t = r.type;
    for (uint32_t i = 0; i < m->index; i++) leaf += eval_leaves(l, t->member[i].type);
    if (r.object == EVAL_NO_OBJECT) r.leaf += leaf;
    else r.offset += in_buffer(l, &r) ? (uint32_t)(m->at / l->p->unit) : leaf;
    r.type = m->type;
    return r;
}

/* base + min(index, limit) * stride in one register, so that a further index can be added. */
static void settle_index(eval_lower *l, eval_ref *r) {
    vm_program *p = l->p;
    if (!r->index) return;
    vm_reg t = r->index;
    if (!r->exact) t = vm_lane(p, LANE_MIN_U, t, r->limit_reg ? r->limit_reg : vm_int(p, r->limit), 0);
    if (r->stride != 1) t = vm_lane(p, LANE_MUL_I, t, vm_int(p, r->stride), 0);
    r->base = r->base ? vm_lane(p, LANE_ADD_I, r->base, t, 0) : t;
    r->index = r->limit_reg = 0;
    r->limit = UINT32_MAX;
    r->exact = false;
}

/* Greatest value that a register can hold in any lane. */
static uint32_t greatest(const eval_lower *l, vm_reg r) {
    const vm_register *g = &l->p->reg.v[r];
    if (g->constant) return g->bits;
    if (g->input == VM_IN_INDEX) return l->p->invocations - 1;
    if (g->input >= VM_IN_LOCAL_X && g->input <= VM_IN_LOCAL_Z) return l->p->size[g->input - VM_IN_LOCAL_X] - 1;
    return UINT32_MAX;
}

static uint32_t element_stride(eval_lower *l, const eval_ref *r, const gr_wgsl_type *t) {
    const gr_wgsl_type *e = eval_element(t);
    if (!in_buffer(l, r)) return eval_leaves(l, e);
    if (t->kind == GR_WT_ARRAY) return (uint32_t)(t->stride / l->p->unit);
    uint64_t bytes = (e->size + e->align - 1) / e->align * e->align;
    return (uint32_t)(bytes / l->p->unit);
}

static void check(eval_lower *l, const eval_ref *r, vm_reg index, uint32_t limit, vm_reg limit_reg, bool is_signed) {
    vm_instr *i = l->p->sanitize ? vm_emit(l->p, VM_CHECK) : NULL;
    if (!i) return;
    i->a = index, i->e = limit_reg, i->limit = limit, i->object = r->object, i->sub = is_signed;
}

/* Last index of a runtime-sized array, as a uniform register. */
static vm_reg runtime_limit(eval_lower *l, const eval_ref *r, const gr_wgsl_type *t) {
    vm_reg d = vm_temp(l->p, 'I');
    vm_instr *i = d ? vm_emit(l->p, VM_LENGTH) : NULL;
    if (!i) return 0;
    i->d = d, i->object = r->object, i->offset = r->offset * l->p->unit, i->stride = (uint32_t)t->stride;
    return vm_lane(l->p, LANE_SUB_I, d, vm_int(l->p, 1), 0);
}

static eval_ref index_registers(eval_lower *l, eval_ref r, vm_reg index, uint32_t n) {
    const gr_wgsl_type *e = eval_element(r.type);
    uint32_t step = eval_leaves(l, e), bits;
    vm_program *p = l->p;
    r.type = e;
    if (vm_is_const(p, index, &bits)) {
        r.leaf += (bits < n ? bits : n - 1) * step;
        return r;
    }
    vm_reg at = vm_lane(p, LANE_MIN_U, index, vm_int(p, n - 1), 0);
    if (step != 1) at = vm_lane(p, LANE_MUL_I, at, vm_int(p, step), 0);
    if (r.index) {
        at = vm_lane(p, LANE_ADD_I, r.index, at, 0);
        r.count = r.count * r.stride / step;
        r.stride = step;
    } else {
        r.count = n;
        r.stride = step;
    }
    r.index = at;
    return r;
}

eval_ref eval_ref_index(eval_lower *l, eval_ref r, vm_reg index, bool is_signed) {
    if (!r.type || !index) return r.type = NULL, r;
    const gr_wgsl_type *t = r.type;
    bool runtime = t->kind == GR_WT_ARRAY && !t->count && !t->count_expr;
    uint32_t n = t->kind == GR_WT_ARRAY ? eval_count(l, t) : t->n, bits;
    if (n == 0 && !runtime) return vm_fail(l->p, "an array has no elements"), r.type = NULL, r;
    vm_reg limit_reg = runtime ? runtime_limit(l, &r, t) : 0;
    bool constant = vm_is_const(l->p, index, &bits);
    if (!constant || runtime || bits >= n) check(l, &r, index, n - 1, limit_reg, is_signed);
    if (r.object == EVAL_NO_OBJECT) return index_registers(l, r, index, n);
    uint32_t stride = element_stride(l, &r, t);
    r.type = eval_element(t);
    if (constant && (bits == 0 || !runtime)) {
        r.offset += (runtime || bits < n ? bits : n - 1) * stride;
        return r;
    }
    settle_index(l, &r);
    r.index = index, r.stride = stride, r.limit = n - 1, r.limit_reg = limit_reg;
    r.exact = !runtime && greatest(l, index) < n;
    return r;
}

eval_ref eval_pin(eval_lower *l, eval_ref r) {
    r.index = vm_copy(l->p, r.index);
    r.base = vm_copy(l->p, r.base);
    return r;
}

/* ----------------------------------------------------------- loads and stores */

void eval_address(vm_instr *i, const eval_ref *r) {
    i->object = r->object, i->a = r->index, i->b = r->base, i->e = r->limit_reg;
    i->limit = r->limit, i->stride = r->stride, i->offset = r->offset, i->exact = r->exact;
}

typedef struct access {
    eval_lower *l;
    eval_ref r;
    vm_reg *v;
    uint32_t at;
    bool store;
} access;

static void one_leaf(access *a, const gr_wgsl_type *s, uint32_t offset) {
    vm_program *p = a->l->p;
    bool half = s->kind == GR_WT_F16 && in_buffer(a->l, &a->r), f = eval_is_float(s);
    uint32_t op = a->store ? (half ? VM_STORE_H : f ? VM_STORE_F : VM_STORE_I) : half ? VM_LOAD_H : f ? VM_LOAD_F : VM_LOAD_I;
    vm_reg d = a->store ? 0 : vm_temp(p, f ? 'F' : 'I');
    vm_instr *i = vm_emit(p, op);
    if (!i) return;
    eval_address(i, &a->r);
    i->offset += offset;
    if (a->store) i->c = a->v[a->at++];
    else i->d = a->v[a->at++] = d;
}

static void each_leaf(access *a, const gr_wgsl_type *t, uint32_t offset) {
    eval_lower *l = a->l;
    if (l->p->failed) return;
    if (t->kind == GR_WT_STRUCT) {
        for (uint32_t i = 0, leaf = 0; i < t->member_n; leaf += eval_leaves(l, t->member[i].type), i++) {
            const gr_wgsl_member *m = &t->member[i];
            each_leaf(a, m->type, offset + (in_buffer(l, &a->r) ? (uint32_t)(m->at / l->p->unit) : leaf));
        }
        return;
    }
    if (t->kind != GR_WT_ARRAY && t->kind != GR_WT_VEC && t->kind != GR_WT_MAT) {
        one_leaf(a, eval_scalar(t), offset);
        return;
    }
    uint32_t n = t->kind == GR_WT_ARRAY ? eval_count(l, t) : t->n, stride = element_stride(l, &a->r, t);
    for (uint32_t i = 0; i < n; i++) each_leaf(a, eval_element(t), offset + i * stride);
}

/* A component chosen at run time: one selection a candidate. */
static vm_reg choose(eval_lower *l, const eval_ref *r, uint32_t k) {
    vm_program *p = l->p;
    vm_reg v = vm_copy(p, r->reg[r->leaf + k]);
    for (uint32_t c = 1; c < r->count; c++) {
        vm_reg hit = vm_lane(p, LANE_EQ_I, r->index, vm_int(p, c * r->stride), 0), from = r->reg[r->leaf + k + c * r->stride];
        v = vm_lane(p, p->reg.v[v].cls == 'F' ? LANE_SEL_F : LANE_SEL_I, v, from, hit);
        if (!v) return 0;
    }
    return v;
}

eval_value eval_load(eval_lower *l, eval_ref r) {
    if (!r.type || l->p->failed) return (eval_value){0};
    uint32_t n = eval_leaves(l, r.type);
    if (r.object == EVAL_NO_OBJECT && !r.index) return (eval_value){r.type, r.reg + r.leaf, n};
    eval_value v = eval_new(l, r.type);
    if (r.object == EVAL_NO_OBJECT) {
        for (uint32_t k = 0; k < v.n && !l->p->failed; k++) v.r[k] = choose(l, &r, k);
        return v;
    }
    if (n > 2) settle_index(l, &r);
    access a = {l, r, v.r, 0, false};
    if (v.n) each_leaf(&a, r.type, 0);
    return v;
}

static void store_registers(eval_lower *l, eval_ref r, eval_value v) {
    vm_program *p = l->p;
    if (v.n > 1 || r.index) v = eval_copy(l, v);
    for (uint32_t k = 0; k < v.n && !p->failed; k++) {
        if (!r.index) {
            vm_set(p, r.reg[r.leaf + k], v.r[k]);
            continue;
        }
        for (uint32_t c = 0; c < r.count && !p->failed; c++) {
            vm_reg hit = vm_lane(p, LANE_EQ_I, r.index, vm_int(p, c * r.stride), 0), to = r.reg[r.leaf + k + c * r.stride];
            vm_set(p, to, vm_lane(p, p->reg.v[to].cls == 'F' ? LANE_SEL_F : LANE_SEL_I, to, v.r[k], hit));
        }
    }
}

void eval_store(eval_lower *l, eval_ref r, eval_value v) {
    if (!r.type || !v.n || l->p->failed) return;
    if (r.object == EVAL_NO_OBJECT) {
        store_registers(l, r, v);
        return;
    }
    if (v.n > 2) settle_index(l, &r);
    access a = {l, r, v.r, 0, true};
    each_leaf(&a, r.type, 0);
}

void eval_clear(eval_lower *l, eval_ref r) {
    const vm_object *o = object_of(l, &r);
    if (!r.type || !o || o->space != VM_LOCAL) {
        if (r.type) eval_store(l, r, eval_zero(l, r.type));
        return;
    }
    vm_instr *i = vm_emit(l->p, VM_ZERO);
    if (i) i->object = r.object;
}
