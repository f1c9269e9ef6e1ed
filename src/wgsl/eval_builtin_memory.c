/* Builtin functions on bits, memory, workgroups and subgroups. */
#include "wgsl/eval_builtin.h"

#define P (c->l->p)

static vm_reg lane1(eval_builtin *c, uint32_t op, vm_reg a) { return vm_lane(P, op, a, 0, 0); }
static vm_reg lane2(eval_builtin *c, uint32_t op, vm_reg a, vm_reg b) { return vm_lane(P, op, a, b, 0); }
static vm_reg shifted(eval_builtin *c, uint32_t op, vm_reg a, uint32_t by) { return by ? lane2(c, op, a, vm_int(P, by)) : a; }

/* ------------------------------------------------------------------ packing */

/* Joins components of `bits` bits, each made by `op` from a float or masked from an integer. */
static vm_reg pack(eval_builtin *c, uint32_t op, uint32_t bits) {
    vm_reg word = 0;
    for (uint32_t k = 0; k < c->arg[0].n; k++) {
        vm_reg x = op ? lane1(c, op, c->arg[0].r[k]) : lane2(c, LANE_AND, c->arg[0].r[k], vm_int(P, (1u << bits) - 1));
        x = shifted(c, LANE_SHL, x, k * bits);
        word = word ? lane2(c, LANE_OR, word, x) : x;
    }
    return word;
}

static void clamp_bytes(eval_builtin *c, bool is_signed) {
    eval_value v = eval_new(c->l, c->arg[0].type);
    for (uint32_t k = 0; k < v.n; k++) {
        vm_reg low = is_signed ? lane2(c, LANE_MAX_S, c->arg[0].r[k], vm_int(P, 0xFFFFFF80u)) : c->arg[0].r[k];
        v.r[k] = lane2(c, is_signed ? LANE_MIN_S : LANE_MIN_U, low, vm_int(P, is_signed ? 127 : 255));
    }
    c->arg[0] = v;
}

static eval_value unpack(eval_builtin *c, uint32_t op, uint32_t bits) {
    eval_value r = eval_new(c->l, c->e->type);
    for (uint32_t k = 0; k < r.n; k++) r.r[k] = lane1(c, op, shifted(c, LANE_SHR_U, c->arg[0].r[0], k * bits));
    return r;
}

static vm_reg byte_of(eval_builtin *c, vm_reg word, uint32_t k, bool is_signed) {
    return vm_lane(P, is_signed ? LANE_EXTRACT_S : LANE_EXTRACT_U, word, vm_int(P, 8 * k), vm_int(P, 8));
}

static eval_value unpack_bytes(eval_builtin *c, bool is_signed) {
    eval_value r = eval_new(c->l, c->e->type);
    for (uint32_t k = 0; k < r.n; k++) r.r[k] = byte_of(c, c->arg[0].r[0], k, is_signed);
    return r;
}

static vm_reg dot_bytes(eval_builtin *c, bool is_signed) {
    vm_reg sum = 0;
    for (uint32_t k = 0; k < 4; k++) {
        vm_reg a = byte_of(c, c->arg[0].r[0], k, is_signed), b = byte_of(c, c->arg[1].r[0], k, is_signed);
        vm_reg term = lane2(c, LANE_MUL_I, a, b);
        sum = sum ? lane2(c, LANE_ADD_I, sum, term) : term;
    }
    return sum;
}

static eval_value one(eval_builtin *c, vm_reg r) {
    eval_value v = eval_new(c->l, c->e->type);
    if (v.n) v.r[0] = r;
    return v;
}

static bool packing(eval_builtin *c, eval_value *out) {
    switch (c->e->call.builtin) {
        case GR_WB_pack2x16float: *out = one(c, pack(c, LANE_F2H, 16)); return true;
        case GR_WB_pack2x16snorm: *out = one(c, pack(c, LANE_SNORM16, 16)); return true;
        case GR_WB_pack2x16unorm: *out = one(c, pack(c, LANE_UNORM16, 16)); return true;
        case GR_WB_pack4x8snorm: *out = one(c, pack(c, LANE_SNORM8, 8)); return true;
        case GR_WB_pack4x8unorm: *out = one(c, pack(c, LANE_UNORM8, 8)); return true;
        case GR_WB_pack4xI8: case GR_WB_pack4xU8: *out = one(c, pack(c, LANE_NONE, 8)); return true;
        case GR_WB_pack4xI8Clamp: clamp_bytes(c, true); *out = one(c, pack(c, LANE_NONE, 8)); return true;
        case GR_WB_pack4xU8Clamp: clamp_bytes(c, false); *out = one(c, pack(c, LANE_NONE, 8)); return true;
        case GR_WB_unpack2x16float: *out = unpack(c, LANE_H2F, 16); return true;
        case GR_WB_unpack2x16snorm: *out = unpack(c, LANE_FROM_SNORM16, 16); return true;
        case GR_WB_unpack2x16unorm: *out = unpack(c, LANE_FROM_UNORM16, 16); return true;
        case GR_WB_unpack4x8snorm: *out = unpack(c, LANE_FROM_SNORM8, 8); return true;
        case GR_WB_unpack4x8unorm: *out = unpack(c, LANE_FROM_UNORM8, 8); return true;
        case GR_WB_unpack4xI8: *out = unpack_bytes(c, true); return true;
        case GR_WB_unpack4xU8: *out = unpack_bytes(c, false); return true;
        case GR_WB_dot4I8Packed: *out = one(c, dot_bytes(c, true)); return true;
        case GR_WB_dot4U8Packed: *out = one(c, dot_bytes(c, false)); return true;
        default: return false;
    }
}

/* ------------------------------------------------------------------ bitcast */

/* The value as 32-bit words: f16 components two a word. */
static vm_reg word_of(eval_builtin *c, eval_value v, uint32_t k) {
    const gr_wgsl_type *s = eval_scalar(v.type);
    if (s->kind != GR_WT_F16) return s->kind == GR_WT_F32 ? lane1(c, LANE_F2BITS, v.r[k]) : v.r[k];
    vm_reg high = shifted(c, LANE_SHL, lane1(c, LANE_F2H, v.r[2 * k + 1]), 16);
    return lane2(c, LANE_OR, lane1(c, LANE_F2H, v.r[2 * k]), high);
}

static eval_value bitcast(eval_builtin *c) {
    eval_value v = c->arg[0], r = eval_new(c->l, c->e->type);
    const gr_wgsl_type *to = eval_scalar(r.type), *from = eval_scalar(v.type);
    if (to->kind == from->kind) return v;
    for (uint32_t k = 0; k < r.n; k++) {
        vm_reg w = word_of(c, v, to->kind == GR_WT_F16 ? k / 2 : k);
        if (to->kind == GR_WT_F16) r.r[k] = lane1(c, LANE_H2F, shifted(c, LANE_SHR_U, w, k % 2 * 16));
        else r.r[k] = to->kind == GR_WT_F32 ? lane1(c, LANE_BITS2F, w) : w;
    }
    return r;
}

/* ------------------------------------------------------------------ atomics */

static uint8_t atomic_op(gr_wgsl_builtin b, bool is_signed) {
    switch (b) {
        case GR_WB_atomicLoad: return VM_ATOMIC_LOAD;
        case GR_WB_atomicStore: return VM_ATOMIC_STORE;
        case GR_WB_atomicAdd: return VM_ATOMIC_ADD;
        case GR_WB_atomicSub: return VM_ATOMIC_SUB;
        case GR_WB_atomicMax: return is_signed ? VM_ATOMIC_MAX_S : VM_ATOMIC_MAX_U;
        case GR_WB_atomicMin: return is_signed ? VM_ATOMIC_MIN_S : VM_ATOMIC_MIN_U;
        case GR_WB_atomicAnd: return VM_ATOMIC_AND;
        case GR_WB_atomicOr: return VM_ATOMIC_OR;
        case GR_WB_atomicXor: return VM_ATOMIC_XOR;
        case GR_WB_atomicExchange: return VM_ATOMIC_EXCHANGE;
        case GR_WB_atomicCompareExchangeWeak: return VM_ATOMIC_CAS;
        default: return VM_ATOMIC_NONE;
    }
}

static bool atomic(eval_builtin *c, eval_value *out) {
    const gr_wgsl_type *elem = c->pointer.type ? eval_scalar(c->pointer.type) : NULL;
    uint8_t op = atomic_op(c->e->call.builtin, elem && elem->kind == GR_WT_I32);
    if (!op) return false;
    *out = (eval_value){0};
    eval_ref r = c->pointer;
    if (!r.type) return true;
    if (r.limit_reg) { /* `e` is the comparand here: clamp by hand */
        vm_reg index = vm_lane(P, LANE_MIN_U, r.index, r.limit_reg, 0);
        r.index = index, r.limit_reg = 0, r.exact = true;
    }
    vm_reg d = vm_temp(P, 'I');
    vm_instr *i = vm_emit(P, VM_ATOMIC);
    if (!i) return true;
    eval_address(i, &r);
    i->sub = op;
    i->d = op == VM_ATOMIC_STORE ? 0 : d;
    i->c = c->e->call.arg_n > 1 ? c->arg[op == VM_ATOMIC_CAS ? 2 : 1].r[0] : 0;
    i->e = op == VM_ATOMIC_CAS ? c->arg[1].r[0] : 0;
    if (P->object.v[r.object].space == VM_BUFFER) P->storage_atomics = true;
    if (op == VM_ATOMIC_STORE) return true;
    *out = eval_new(c->l, c->e->type);
    if (out->n) out->r[0] = d;
    if (op == VM_ATOMIC_CAS && out->n > 1) out->r[1] = lane2(c, LANE_EQ_I, d, c->arg[1].r[0]);
    return true;
}

/* ------------------------------------------------- barriers, lengths, subgroups */

static void barrier(eval_builtin *c, uint8_t which) {
    vm_instr *i = vm_emit(P, VM_BARRIER);
    if (!i) return;
    i->sub = which;
    if (which == 4 && c->pointer.object != EVAL_NO_OBJECT) eval_address(i, &c->pointer);
}

static eval_value array_length(eval_builtin *c) {
    vm_reg d = vm_temp(P, 'I');
    const gr_wgsl_type *t = c->pointer.type;
    vm_instr *i = t ? vm_emit(P, VM_LENGTH) : NULL;
    if (!i) return (eval_value){0};
    i->d = d, i->object = c->pointer.object, i->offset = c->pointer.offset * P->unit, i->stride = (uint32_t)t->stride;
    return one(c, d);
}

static uint8_t subgroup_op(gr_wgsl_builtin b) {
    switch (b) {
        case GR_WB_subgroupAdd: return VM_SG_ADD;
        case GR_WB_subgroupExclusiveAdd: return VM_SG_EXCLUSIVE_ADD;
        case GR_WB_subgroupInclusiveAdd: return VM_SG_INCLUSIVE_ADD;
        case GR_WB_subgroupMul: return VM_SG_MUL;
        case GR_WB_subgroupExclusiveMul: return VM_SG_EXCLUSIVE_MUL;
        case GR_WB_subgroupInclusiveMul: return VM_SG_INCLUSIVE_MUL;
        case GR_WB_subgroupMin: return VM_SG_MIN;
        case GR_WB_subgroupMax: return VM_SG_MAX;
        case GR_WB_subgroupAnd: return VM_SG_AND;
        case GR_WB_subgroupOr: return VM_SG_OR;
        case GR_WB_subgroupXor: return VM_SG_XOR;
        case GR_WB_subgroupAll: return VM_SG_ALL;
        case GR_WB_subgroupAny: return VM_SG_ANY;
        case GR_WB_subgroupElect: return VM_SG_ELECT;
        case GR_WB_subgroupBallot: return VM_SG_BALLOT;
        case GR_WB_subgroupBroadcast: return VM_SG_BROADCAST;
        case GR_WB_subgroupBroadcastFirst: return VM_SG_FIRST;
        case GR_WB_subgroupShuffle: return VM_SG_SHUFFLE;
        case GR_WB_subgroupShuffleXor: return VM_SG_XOR_LANE;
        case GR_WB_subgroupShuffleUp: return VM_SG_UP;
        case GR_WB_subgroupShuffleDown: return VM_SG_DOWN;
        case GR_WB_quadBroadcast: return VM_SG_QUAD;
        case GR_WB_quadSwapX: return VM_SG_QUAD_X;
        case GR_WB_quadSwapY: return VM_SG_QUAD_Y;
        case GR_WB_quadSwapDiagonal: return VM_SG_QUAD_DIAGONAL;
        default: return VM_SG_NONE;
    }
}

static uint32_t number_class(const gr_wgsl_type *s) {
    return s->kind == GR_WT_F32 ? VM_NUM_F : s->kind == GR_WT_F16 ? VM_NUM_H : s->kind == GR_WT_I32 ? VM_NUM_S : VM_NUM_U;
}

static bool subgroup(eval_builtin *c, eval_value *out) {
    uint8_t op = subgroup_op(c->e->call.builtin);
    if (!op) return false;
    *out = eval_new(c->l, c->e->type);
    for (uint32_t k = 0; k < out->n; k++) {
        char cls = eval_class(eval_scalar(c->e->type));
        vm_reg d = vm_temp(P, cls);
        vm_instr *i = vm_emit(P, VM_SUBGROUP);
        if (!i) return true;
        i->sub = op, i->d = d;
        i->a = !c->e->call.arg_n ? vm_int(P, 0) : c->arg[0].r[op == VM_SG_BALLOT ? 0 : k];
        i->b = c->e->call.arg_n > 1 ? c->arg[1].r[0] : 0;
        i->imm = op == VM_SG_BALLOT ? k : c->scalar ? number_class(c->scalar) : 0;
        out->r[k] = d;
    }
    return true;
}

bool eval_builtin_other(eval_builtin *c, eval_value *out) {
    *out = (eval_value){0};
    switch (c->e->call.builtin) {
        case GR_WB_bitcast: *out = bitcast(c); return true;
        case GR_WB_arrayLength: *out = array_length(c); return true;
        case GR_WB_workgroupBarrier: barrier(c, 1); return true;
        case GR_WB_storageBarrier: barrier(c, 2); return true;
        case GR_WB_textureBarrier: return true;
        case GR_WB_workgroupUniformLoad:
            barrier(c, 4);
            *out = eval_load(c->l, c->pointer);
            barrier(c, 1);
            return true;
        default: return atomic(c, out) || subgroup(c, out) || packing(c, out);
    }
}
