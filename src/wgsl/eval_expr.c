/* Expressions to registers. */
#include "wgsl/eval_int.h"

/* A call of a user function somewhere inside: it may change variables. */
bool eval_calls_user(const gr_wgsl_expr *e) {
    if (!e || e->value) return false;
    switch (e->kind) {
        case GR_WE_PAREN: case GR_WE_UNARY: case GR_WE_ADDRESS_OF: case GR_WE_DEREF: case GR_WE_LOAD:
            return eval_calls_user(e->unary.a);
        case GR_WE_BINARY: return eval_calls_user(e->binary.a) || eval_calls_user(e->binary.b);
        case GR_WE_INDEX: return eval_calls_user(e->index.base) || eval_calls_user(e->index.index);
        case GR_WE_MEMBER: return eval_calls_user(e->member.base);
        case GR_WE_CALL:
            if (e->call.call == GR_WC_FUNCTION) return true;
            for (uint32_t k = 0; k < e->call.arg_n; k++)
                if (eval_calls_user(e->call.arg[k])) return true;
            return e->call.call == GR_WC_BUILTIN && e->type && e->type->kind == GR_WT_VOID;
        default: return false;
    }
}

/* Evaluating it when WGSL would not must not be seen: no calls, no atomics, no checks. */
static bool can_be_eager(const eval_lower *l, const gr_wgsl_expr *e) {
    if (e->value) return true;
    switch (e->kind) {
        case GR_WE_LITERAL: case GR_WE_IDENT: return true;
        case GR_WE_LOAD: case GR_WE_PAREN: case GR_WE_UNARY: case GR_WE_DEREF: case GR_WE_ADDRESS_OF:
            return can_be_eager(l, e->unary.a);
        case GR_WE_BINARY: return can_be_eager(l, e->binary.a) && can_be_eager(l, e->binary.b);
        case GR_WE_INDEX: return !l->p->sanitize && can_be_eager(l, e->index.base) && can_be_eager(l, e->index.index);
        case GR_WE_MEMBER: return can_be_eager(l, e->member.base);
        default: break;
    }
    if (e->kind != GR_WE_CALL || e->call.call == GR_WC_FUNCTION) return false;
    if (e->call.call == GR_WC_BUILTIN && ((e->call.builtin >= GR_WB_atomicAdd && e->call.builtin <= GR_WB_atomicXor) ||
                                          (e->call.builtin >= GR_WB_quadBroadcast && e->call.builtin <= GR_WB_quadSwapY) ||
                                          (e->call.builtin >= GR_WB_subgroupAdd && e->call.builtin <= GR_WB_subgroupXor) ||
                                          e->call.builtin == GR_WB_workgroupUniformLoad))
        return false;
    for (uint32_t k = 0; k < e->call.arg_n; k++)
        if (!can_be_eager(l, e->call.arg[k])) return false;
    return true;
}

static eval_value short_circuit(eval_lower *l, const gr_wgsl_expr *e) {
    vm_program *p = l->p;
    bool both = e->binary.op == GR_WO_LOGICAL_AND;
    eval_value a = eval_expr(l, e->binary.a), r = eval_new(l, e->type);
    if (!a.n || !r.n) return r;
    if (can_be_eager(l, e->binary.b)) {
        eval_value b = eval_expr(l, e->binary.b);
        if (b.n) r.r[0] = vm_lane(p, both ? LANE_LAND : LANE_LOR, a.r[0], b.r[0], 0);
        return r;
    }
    vm_reg result = vm_var(p, 'I');
    vm_set(p, result, a.r[0]);
    vm_reg cond = both ? vm_copy(p, result) : vm_lane(p, LANE_NOT, result, 0, 0);
    vm_open(p, VM_IF, cond);
    eval_value b = eval_expr(l, e->binary.b);
    if (b.n) vm_set(p, result, b.r[0]);
    vm_close(p);
    r.r[0] = result;
    return r;
}

static eval_value binary(eval_lower *l, const gr_wgsl_expr *e) {
    if (e->binary.op == GR_WO_LOGICAL_AND || e->binary.op == GR_WO_LOGICAL_OR) return short_circuit(l, e);
    eval_value a = eval_expr(l, e->binary.a);
    if (eval_calls_user(e->binary.b)) a = eval_copy(l, a);
    eval_value b = eval_expr(l, e->binary.b);
    l->p->at = e->offset;
    return eval_binary(l, e->binary.op, e->type, a, b);
}

static eval_value unary(eval_lower *l, const gr_wgsl_expr *e) {
    eval_value a = eval_expr(l, e->unary.a), r = eval_new(l, e->type);
    uint32_t op = e->unary.op != GR_WO_NEG ? LANE_NOT : eval_is_float(eval_scalar(e->type)) ? LANE_NEG_F : LANE_NEG_I;
    for (uint32_t k = 0; k < a.n && k < r.n; k++) r.r[k] = vm_lane(l->p, op, a.r[k], 0, 0);
    return r;
}

static const eval_binding *binding_of(const eval_lower *l, const gr_wgsl_decl *d) {
    if (d->module_scope) return &l->global[d->slot];
    return l->call ? &l->call->local[d->slot] : NULL;
}

static eval_value identifier(eval_lower *l, const gr_wgsl_expr *e) {
    const gr_wgsl_decl *d = e->ident.decl;
    if (d->kind == GR_WD_CONST && d->value) return eval_const(l, d->value);
    if (d->kind == GR_WD_OVERRIDE) {
        const gr_wgsl_const *c = l->spec.override_value[d->override_index];
        return c ? eval_const(l, c) : eval_zero(l, e->type);
    }
    const eval_binding *b = binding_of(l, d);
    return b->is_ref ? eval_load(l, b->ref) : b->value;
}

/* Values that lie in memory already: constants, and lets of array type. */
static bool addressable(eval_lower *l, const gr_wgsl_expr *e, eval_ref *out) {
    if (e->value) return *out = eval_table_ref(l, e->value), true;
    if (e->kind == GR_WE_PAREN) return addressable(l, e->unary.a, out);
    if (e->kind == GR_WE_IDENT && e->ident.decl) {
        const gr_wgsl_decl *d = e->ident.decl;
        if (d->kind == GR_WD_CONST && d->value) return *out = eval_table_ref(l, d->value), true;
        if (d->kind != GR_WD_LET && d->kind != GR_WD_PARAM) return false;
        const eval_binding *b = binding_of(l, d);
        if (b->is_ref) *out = b->ref;
        return b->is_ref;
    }
    if (e->kind == GR_WE_MEMBER && !e->member.swizzle_n && addressable(l, e->member.base, out))
        return *out = eval_ref_member(l, *out, e->member.field), true;
    if (e->kind == GR_WE_LOAD) return *out = eval_reference(l, e->unary.a), true;
    return false;
}

static eval_value index_value(eval_lower *l, const gr_wgsl_expr *e) {
    const gr_wgsl_type *t = e->index.base->type;
    bool is_signed = eval_scalar(e->index.index->type)->kind == GR_WT_I32;
    eval_ref r = {0};
    if (t->kind != GR_WT_VEC && t->kind != GR_WT_MAT && addressable(l, e->index.base, &r)) {
        eval_value i = eval_expr(l, e->index.index);
        return i.n ? eval_load(l, eval_ref_index(l, r, i.r[0], is_signed)) : i;
    }
    eval_value base = eval_expr(l, e->index.base);
    if (eval_calls_user(e->index.index)) base = eval_copy(l, base);
    eval_value i = eval_expr(l, e->index.index);
    if (!i.n || !base.n) return i;
    l->p->at = e->offset;
    if (t->kind == GR_WT_ARRAY && !vm_is_const(l->p, i.r[0], &(uint32_t){0})) {
        r = eval_var_ref(l, t, GR_STR("array value"), e->offset, true, false);
        eval_store(l, r, base);
    } else {
        r = (eval_ref){.type = t, .object = EVAL_NO_OBJECT, .reg = base.r, .limit = UINT32_MAX};
    }
    return eval_load(l, eval_ref_index(l, r, i.r[0], is_signed));
}

static eval_value member_value(eval_lower *l, const gr_wgsl_expr *e) {
    eval_value base = eval_expr(l, e->member.base);
    if (!base.n) return base;
    if (!e->member.swizzle_n) {
        uint32_t leaf = 0;
        for (uint32_t k = 0; k < e->member.field->index; k++) leaf += eval_leaves(l, base.type->member[k].type);
        return eval_part(base, e->type, leaf, eval_leaves(l, e->type));
    }
    eval_value r = eval_new(l, e->type);
    for (uint32_t k = 0; k < r.n && k < e->member.swizzle_n; k++) r.r[k] = base.r[e->member.swizzle[k]];
    return r;
}

eval_value eval_expr(eval_lower *l, const gr_wgsl_expr *e) {
    if (l->p->failed) return (eval_value){0};
    if (e->value) return eval_const(l, e->value);
    l->p->at = e->offset;
    switch (e->kind) {
        case GR_WE_IDENT: return identifier(l, e);
        case GR_WE_PAREN: return eval_expr(l, e->unary.a);
        case GR_WE_UNARY: return unary(l, e);
        case GR_WE_LOAD: return eval_load(l, eval_reference(l, e->unary.a));
        case GR_WE_BINARY: return binary(l, e);
        case GR_WE_INDEX: return index_value(l, e);
        case GR_WE_MEMBER: return member_value(l, e);
        case GR_WE_CALL:
            if (e->call.call == GR_WC_FUNCTION) return eval_call_function(l, e);
            return e->call.call == GR_WC_BUILTIN ? eval_call_builtin(l, e) : eval_construct(l, e);
        default:
            GR_BUG(l->d, "V5", "expression kind %d has no lowering", (int)e->kind);
            return l->p->failed = true, (eval_value){0};
    }
}

/* ----------------------------------------------------- references, pointers */

eval_ref eval_pointer(eval_lower *l, const gr_wgsl_expr *e) {
    if (e->kind == GR_WE_PAREN) return eval_pointer(l, e->unary.a);
    if (e->kind == GR_WE_ADDRESS_OF) return eval_reference(l, e->unary.a);
    if (e->kind == GR_WE_IDENT && e->ident.decl) {
        const eval_binding *b = binding_of(l, e->ident.decl);
        if (b && b->is_ref) return b->ref;
    }
    GR_BUG(l->d, "V6", "pointer expression kind %d has no root", (int)e->kind);
    l->p->failed = true;
    return (eval_ref){.object = EVAL_NO_OBJECT};
}

eval_ref eval_reference(eval_lower *l, const gr_wgsl_expr *e) {
    eval_ref none = {.object = EVAL_NO_OBJECT};
    if (l->p->failed) return none;
    l->p->at = e->offset;
    switch (e->kind) {
        case GR_WE_IDENT: return binding_of(l, e->ident.decl)->ref;
        case GR_WE_PAREN: return eval_reference(l, e->unary.a);
        case GR_WE_DEREF: return eval_pointer(l, e->unary.a);
        case GR_WE_INDEX: {
            eval_ref r = eval_reference(l, e->index.base);
            eval_value i = eval_expr(l, e->index.index);
            l->p->at = e->offset;
            return i.n ? eval_ref_index(l, r, i.r[0], eval_scalar(e->index.index->type)->kind == GR_WT_I32) : none;
        }
        case GR_WE_MEMBER: {
            eval_ref r = eval_reference(l, e->member.base);
            if (!e->member.swizzle_n) return eval_ref_member(l, r, e->member.field);
            return eval_ref_index(l, r, vm_int(l->p, e->member.swizzle[0]), false);
        }
        default:
            GR_BUG(l->d, "V7", "reference kind %d has no lowering", (int)e->kind);
            return l->p->failed = true, none;
    }
}
