/* Operators and conversions, component by component. */
#include "wgsl/eval_int.h"

void eval_trace(eval_lower *l, vm_reg bools) {
    vm_instr *i = l->p->trace && bools ? vm_emit(l->p, VM_TRACE) : NULL;
    if (i) i->a = bools;
}

vm_reg eval_round(eval_lower *l, const gr_wgsl_type *s, vm_reg r) {
    bool rounds = l->p->kind == LANE_F32 || l->p->kind == LANE_BOUNDED;
    return s->kind == GR_WT_F16 && rounds ? vm_lane(l->p, LANE_ROUND16, r, 0, 0) : r;
}

/* The operation has a form that rounds to f16 itself, right behind the f32 block. */
static uint32_t half_form(uint32_t op) {
    if (op >= LANE_EXP && op <= LANE_LDEXP) return op - LANE_EXP + LANE_EXP_H;
    if (op == LANE_INVERSE_SQRT) return LANE_INVERSE_SQRT_H;
    return op;
}

vm_reg eval_fn1(eval_lower *l, uint32_t op, const gr_wgsl_type *s, vm_reg a) {
    uint32_t form = s->kind == GR_WT_F16 ? half_form(op) : op;
    vm_reg r = vm_lane(l->p, form, a, 0, 0);
    return form == op ? eval_round(l, s, r) : r;
}

static uint32_t float_op(gr_wgsl_op op) {
    switch (op) {
        case GR_WO_ADD: return LANE_ADD_F;
        case GR_WO_SUB: return LANE_SUB_F;
        case GR_WO_MUL: return LANE_MUL_F;
        case GR_WO_DIV: return LANE_DIV_F;
        case GR_WO_MOD: return LANE_MOD_F;
        default: return LANE_NONE;
    }
}

static uint32_t integer_op(gr_wgsl_op op, bool is_signed, bool is_bool) {
    switch (op) {
        case GR_WO_ADD: return LANE_ADD_I;
        case GR_WO_SUB: return LANE_SUB_I;
        case GR_WO_MUL: return LANE_MUL_I;
        case GR_WO_DIV: return is_signed ? LANE_DIV_S : LANE_DIV_U;
        case GR_WO_MOD: return is_signed ? LANE_MOD_S : LANE_MOD_U;
        case GR_WO_AND: return is_bool ? LANE_LAND : LANE_AND;
        case GR_WO_OR: return is_bool ? LANE_LOR : LANE_OR;
        case GR_WO_LOGICAL_AND: return LANE_LAND;
        case GR_WO_LOGICAL_OR: return LANE_LOR;
        case GR_WO_XOR: return LANE_XOR;
        case GR_WO_SHL: return LANE_SHL;
        case GR_WO_SHR: return is_signed ? LANE_SHR_S : LANE_SHR_U;
        default: return LANE_NONE;
    }
}

static vm_reg compare(eval_lower *l, gr_wgsl_op op, const gr_wgsl_type *s, vm_reg a, vm_reg b) {
    bool f = eval_is_float(s), is_signed = s->kind == GR_WT_I32;
    bool swap = op == GR_WO_GT || op == GR_WO_GE, less = op == GR_WO_LT || op == GR_WO_GT;
    uint32_t lane = op == GR_WO_EQ ? (f ? LANE_EQ_F : LANE_EQ_I) : op == GR_WO_NE ? (f ? LANE_NE_F : LANE_NE_I)
                  : less ? (f ? LANE_LT_F : is_signed ? LANE_LT_S : LANE_LT_U) : f ? LANE_LE_F : is_signed ? LANE_LE_S : LANE_LE_U;
    vm_reg r = vm_lane(l->p, lane, swap ? b : a, swap ? a : b, 0);
    if (f) eval_trace(l, r);
    return r;
}

vm_reg eval_arith(eval_lower *l, gr_wgsl_op op, const gr_wgsl_type *s, vm_reg a, vm_reg b) {
    if (op >= GR_WO_EQ && op <= GR_WO_GE) return compare(l, op, s, a, b);
    if (eval_is_float(s)) return eval_round(l, s, vm_lane(l->p, float_op(op), a, b, 0));
    return vm_lane(l->p, integer_op(op, s->kind == GR_WT_I32, s->kind == GR_WT_BOOL), a, b, 0);
}

/* ----------------------------------------------------------------- matrices */

/* sum over k of a[k] * b[k], in order. */
static vm_reg inner(eval_lower *l, const gr_wgsl_type *s, const vm_reg *a, uint32_t a_step, const vm_reg *b, uint32_t b_step, uint32_t n) {
    vm_reg sum = eval_arith(l, GR_WO_MUL, s, a[0], b[0]);
    for (uint32_t k = 1; k < n; k++)
        sum = eval_arith(l, GR_WO_ADD, s, sum, eval_arith(l, GR_WO_MUL, s, a[k * a_step], b[k * b_step]));
    return sum;
}

static eval_value multiply(eval_lower *l, const gr_wgsl_type *result, eval_value a, eval_value b) {
    const gr_wgsl_type *s = eval_scalar(result);
    eval_value v = eval_new(l, result);
    uint32_t rows = a.type->kind == GR_WT_MAT ? a.type->rows : 1;
    uint32_t inner_n = a.type->kind == GR_WT_MAT ? a.type->n : a.n;
    uint32_t columns = b.type->kind == GR_WT_MAT ? b.type->n : 1;
    for (uint32_t c = 0; c < columns && !l->p->failed; c++)
        for (uint32_t r = 0; r < rows; r++)
            v.r[c * rows + r] = inner(l, s, a.r + r, rows, b.r + c * inner_n, 1, inner_n);
    return v;
}

eval_value eval_binary(eval_lower *l, gr_wgsl_op op, const gr_wgsl_type *result, eval_value a, eval_value b) {
    if (!a.n || !b.n || l->p->failed) return (eval_value){0};
    bool product = op == GR_WO_MUL && (a.type->kind == GR_WT_MAT || b.type->kind == GR_WT_MAT);
    if (product && a.n > 1 && b.n > 1) return multiply(l, result, a, b);
    const gr_wgsl_type *s = eval_scalar(a.type);
    eval_value v = eval_new(l, result);
    for (uint32_t k = 0; k < v.n && !l->p->failed; k++)
        v.r[k] = eval_arith(l, op, s, a.r[a.n > 1 ? k : 0], b.r[b.n > 1 ? k : 0]);
    return v;
}

/* -------------------------------------------------------------- conversions */

static vm_reg to_float(eval_lower *l, const gr_wgsl_type *to, const gr_wgsl_type *from, vm_reg r) {
    vm_program *p = l->p;
    if (eval_is_float(from)) return to->kind == from->kind || to->kind == GR_WT_F32 ? r : eval_round(l, to, r);
    vm_reg one = from->kind == GR_WT_BOOL ? vm_lane(p, LANE_B2I, r, 0, 0) : r;
    return eval_round(l, to, vm_lane(p, from->kind == GR_WT_I32 ? LANE_S2F : LANE_U2F, one, 0, 0));
}

vm_reg eval_convert(eval_lower *l, const gr_wgsl_type *to, const gr_wgsl_type *from, vm_reg r) {
    vm_program *p = l->p;
    if (to->kind == from->kind) return r;
    if (eval_is_float(to)) return to_float(l, to, from, r);
    if (to->kind == GR_WT_BOOL) {
        if (!eval_is_float(from)) return vm_lane(p, LANE_I2B, r, 0, 0);
        vm_reg b = vm_lane(p, LANE_NE_F, r, vm_float(p, 0), 0);
        return eval_trace(l, b), b;
    }
    if (eval_is_float(from)) {
        vm_reg i = vm_lane(p, to->kind == GR_WT_I32 ? LANE_F2S : LANE_F2U, r, 0, 0);
        return eval_trace(l, i), i;
    }
    return from->kind == GR_WT_BOOL ? vm_lane(p, LANE_B2I, r, 0, 0) : r; /* i32 and u32: the same bits */
}

static eval_value converted(eval_lower *l, const gr_wgsl_type *to, eval_value v) {
    eval_value r = eval_new(l, to);
    for (uint32_t k = 0; k < r.n && k < v.n && !l->p->failed; k++)
        r.r[k] = eval_convert(l, eval_scalar(to), eval_scalar(v.type), v.r[k]);
    return r;
}

static eval_value gather(eval_lower *l, const gr_wgsl_expr *e) {
    eval_value r = eval_new(l, e->type);
    uint32_t at = 0;
    for (uint32_t k = 0; k < e->call.arg_n && !l->p->failed; k++) {
        eval_value a = eval_expr(l, e->call.arg[k]);
        bool later = false;
        for (uint32_t j = k + 1; j < e->call.arg_n; j++) later |= eval_calls_user(e->call.arg[j]);
        if (later) a = eval_copy(l, a);
        for (uint32_t i = 0; i < a.n && at < r.n; i++) r.r[at++] = a.r[i];
    }
    return r;
}

eval_value eval_construct(eval_lower *l, const gr_wgsl_expr *e) {
    if (e->call.construct == GR_WN_ZERO || e->call.arg_n == 0) return eval_zero(l, e->type);
    switch (e->call.construct) {
        case GR_WN_IDENTITY: return eval_expr(l, e->call.arg[0]);
        case GR_WN_SCALAR: case GR_WN_VECTOR: case GR_WN_MATRIX: return converted(l, e->type, eval_expr(l, e->call.arg[0]));
        case GR_WN_SPLAT: {
            eval_value a = eval_expr(l, e->call.arg[0]), r = eval_new(l, e->type);
            for (uint32_t k = 0; k < r.n && a.n; k++) r.r[k] = a.r[0];
            return r;
        }
        default: return gather(l, e);
    }
}
