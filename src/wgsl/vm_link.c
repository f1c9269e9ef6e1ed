/* Linking: virtual registers become places in a register file for a number of lanes, scopes
 * become jumps or mask operations. */
#include "wgsl/vm_run.h"

typedef struct linker {
    vm_state *s;
    GR_VEC(vm_code) out;
    uint32_t *start; /* instruction to first code */
    gr_arena arena;
} linker;

static uint32_t place_of(const vm_state *s, vm_reg r) {
    const vm_register *g = &s->f->reg[r];
    int pool = g->cls == 'F' ? (g->varying ? VM_POOL_ROW_F : VM_POOL_ONE_F) : g->varying ? VM_POOL_ROW_I : VM_POOL_ONE_I;
    return s->pool_at[pool] + g->slot * s->pool_stride[pool];
}

static uint32_t row_place(const vm_state *s, vm_reg r) {
    const vm_register *g = &s->f->reg[r];
    int pool = g->cls == 'F' ? VM_POOL_ROW_F : VM_POOL_ROW_I;
    return s->pool_at[pool] + g->row_slot * s->pool_stride[pool];
}

static vm_code *push(linker *l, vm_kind kind, const vm_instr *i) {
    vm_code *k = GR_PUSH(&l->arena, &l->out);
    if (!k) return NULL;
    k->kind = (uint16_t)kind;
    k->at = i->at;
    k->scope = i->scope;
    k->sub = i->sub;
    k->n = l->s->n;
    return k;
}

static void operand(const vm_state *s, vm_code *k, uint8_t bit, uint32_t *at, vm_reg r) {
    if (!r) return;
    *at = place_of(s, r);
    k->used |= bit;
    if (s->f->reg[r].varying) k->row |= bit;
}

/* Where a row with the value of uniform r is; emits the broadcast unless r is a constant. */
static bool as_row(linker *l, const vm_instr *i, vm_reg r, uint32_t scratch, uint32_t *at) {
    const vm_register *g = &l->s->f->reg[r];
    if (g->row) return *at = row_place(l->s, r), true;
    vm_code *k = push(l, K_ROW, i);
    if (!k) return false;
    k->cls = g->cls;
    k->d = *at = l->s->scratch_at[scratch];
    k->a = place_of(l->s, r);
    return true;
}

/* What a turn of a loop counts in programs that call functions such as sin: that much more for each call. */
enum { TURN_CALL = 2, TURN_MOST = 16 };

static bool link_lane(linker *l, const vm_instr *i) {
    vm_state *s = l->s;
    const vm_program *p = s->p;
    bool row[3];
    lane_form form = vm_lane_form(p, s->f, i, row);
    const vm_reg src[3] = {i->a, i->b, i->c};
    uint32_t at[3] = {0, 0, 0};
    for (uint32_t k = 0; k < 3; k++) {
        if (src[k] && row[k]) GR_TRY(as_row(l, i, src[k], k, &at[k]));
        else if (src[k]) at[k] = place_of(s, src[k]);
    }
    bool one = !s->f->reg[i->d].varying;
    bool call = gr_lane_info(i->op)->shape == LANE_CALL && (p->kind == LANE_F32 || p->kind == LANE_F64);
    if (!one && gr_lane_info(i->op)->shape == LANE_CALL && s->turn < TURN_MOST) s->turn += TURN_CALL;
    vm_code *k = push(l, p->kind == LANE_BOUNDED ? K_BOUNDED : one && call ? K_LANE_ONE : K_LANE, i);
    if (!k) return false;
    k->d = place_of(s, i->d), k->a = at[0], k->b = at[1], k->c = at[2];
    k->cls = gr_lane_info(i->op)->d;
    k->n = k->kind == K_LANE_ONE ? 1 : one ? LANE_UNIT : s->n;
    if (p->kind == LANE_BOUNDED) k->bounded = gr_lane_bounded(i->op);
    else k->fn = p->kind == LANE_DUAL ? gr_lane_dual(i->op) : gr_lane_row(p->isa, p->kind, i->op)->form[form];
    return k->fn != NULL || GR_BUG(s->d, "V4", "lane operation %s has no loop", vm_op_name(i->op));
}

static bool link_set(linker *l, const vm_instr *i) {
    vm_state *s = l->s;
    bool wide = s->f->reg[i->d].varying;
    uint32_t from = place_of(s, i->a);
    if (wide && !s->f->reg[i->a].varying) GR_TRY(as_row(l, i, i->a, 0, &from));
    vm_code *k = push(l, wide && vm_write_masked(s->f, i) ? K_SET : K_COPY, i);
    if (!k) return false;
    k->cls = s->f->reg[i->d].cls;
    k->d = place_of(s, i->d);
    k->a = from;
    k->n = wide ? s->n : LANE_UNIT;
    return true;
}

static bool link_memory(linker *l, const vm_instr *i, vm_kind kind, char cls) {
    vm_state *s = l->s;
    uint32_t value = 0;
    bool spread = i->c && !s->f->reg[i->c].varying;
    if (spread) GR_TRY(as_row(l, i, i->c, 0, &value));
    uint32_t comparand = 0;
    bool spread_e = kind == K_ATOMIC && i->e && !s->f->reg[i->e].varying;
    if (spread_e) GR_TRY(as_row(l, i, i->e, 1, &comparand));
    vm_code *k = push(l, kind, i);
    if (!k) return false;
    k->cls = cls;
    operand(s, k, OPERAND_D, &k->d, i->d);
    operand(s, k, OPERAND_A, &k->a, i->a);
    operand(s, k, OPERAND_B, &k->b, i->b);
    operand(s, k, OPERAND_C, &k->c, i->c);
    operand(s, k, OPERAND_E, &k->e, i->e);
    if (spread) k->c = value, k->row |= OPERAND_C;
    if (spread_e) k->e = comparand, k->row |= OPERAND_E;
    k->object = i->object, k->limit = i->limit, k->stride = i->stride, k->exact = i->exact, k->imm = i->imm;
    k->offset = i->offset;
    if (i->object < s->p->object.n && s->p->object.v[i->object].space != VM_BUFFER) k->offset += s->p->object.v[i->object].base;
    return true;
}

static bool link_subgroup(linker *l, const vm_instr *i) {
    vm_state *s = l->s;
    uint32_t value = 0, lane = 0;
    if (i->a && !s->f->reg[i->a].varying) GR_TRY(as_row(l, i, i->a, 0, &value));
    else if (i->a) value = place_of(s, i->a);
    if (i->b && !s->f->reg[i->b].varying) GR_TRY(as_row(l, i, i->b, 1, &lane));
    else if (i->b) lane = place_of(s, i->b);
    vm_code *k = push(l, K_SUBGROUP, i);
    if (!k) return false;
    k->d = place_of(s, i->d), k->a = value, k->b = lane;
    k->cls = s->f->reg[i->d].cls, k->imm = i->imm;
    return true;
}

static uint32_t top_slot(const vm_form *f, uint32_t scope) {
    return scope ? f->scope[scope].slot + f->scope[scope].slots : 1;
}

/* jump holds an instruction index until all is linked; UINT32_MAX is the end. */
static bool link_leave(linker *l, const vm_instr *i) {
    const vm_form *f = l->s->f;
    const vm_scope *t = &f->scope[i->scope];
    bool masked = vm_leave_masked(f, i);
    uint32_t target = i->scope == 0 ? UINT32_MAX : i->op == VM_CONTINUE ? t->middle : t->end + 1;
    if (!masked) {
        vm_kind kind = i->op != VM_LEAVE_IF ? K_JUMP : i->sub ? K_JUMP_FALSE : K_JUMP_TRUE;
        vm_code *k = push(l, kind, i);
        if (!k) return false;
        k->jump = target;
        operand(l->s, k, OPERAND_A, &k->a, i->a);
        return true;
    }
    uint32_t cond = 0;
    bool spread = i->op == VM_LEAVE_IF && !f->reg[i->a].varying;
    if (spread) GR_TRY(as_row(l, i, i->a, 0, &cond));
    vm_code *k = push(l, i->scope == 0 ? K_KILL : i->op == VM_LEAVE_IF ? K_LEAVE_IF : K_LEAVE, i);
    if (!k) return false;
    operand(l->s, k, OPERAND_A, &k->a, i->a);
    if (spread) k->a = cond;
    k->low = i->scope == 0 ? 0 : t->slot + (i->op == VM_CONTINUE ? 2 : 1);
    k->high = top_slot(f, i->parent);
    k->jump = i->op == VM_LEAVE_IF ? t->middle : UINT32_MAX;
    if (i->op == VM_LEAVE_IF && t->middle <= (uint32_t)(i - f->code)) k->jump = t->end; /* break if */
    return true;
}

static bool link_scope(linker *l, const vm_instr *i) {
    const vm_form *f = l->s->f;
    const vm_scope *c = &f->scope[i->scope];
    vm_kind kind = K_NONE;
    uint32_t jump = 0;
    switch (i->op) {
        case VM_IF: kind = c->masked ? K_IF : K_JUMP_FALSE, jump = c->middle ? (c->masked ? c->middle : c->middle + 1) : c->end; break;
        case VM_ELSE: kind = c->masked ? K_ELSE : K_JUMP, jump = c->end; break;
        case VM_ENDIF: kind = c->masked ? K_ENDIF : K_NONE; break;
        case VM_LOOP: kind = c->masked ? K_LOOP : K_NONE; break;
        case VM_CONTINUING: kind = c->masked ? K_CONTINUING : K_NONE, jump = c->end; break;
        case VM_ENDLOOP: kind = c->masked ? K_ENDLOOP : K_ENDLOOP_UNIFORM, jump = c->begin + 1; break;
        case VM_REGION: kind = c->masked ? K_REGION : K_NONE; break;
        case VM_ENDREGION: kind = c->masked ? K_ENDREGION : K_NONE; break;
        default: break;
    }
    if (kind == K_NONE) return true;
    vm_code *k = push(l, kind, i);
    if (!k) return false;
    k->jump = jump;
    k->slot = c->slot;
    operand(l->s, k, OPERAND_A, &k->a, i->a);
    return true;
}

static bool link_other(linker *l, const vm_instr *i) {
    static const uint8_t kinds[VM_OP_COUNT - VM_FIRST] = {
        [VM_BARRIER - VM_FIRST] = K_BARRIER, [VM_LENGTH - VM_FIRST] = K_LENGTH, [VM_CHECK - VM_FIRST] = K_CHECK,
        [VM_TRACE - VM_FIRST] = K_TRACE, [VM_END - VM_FIRST] = K_END, [VM_ZERO - VM_FIRST] = K_ZERO,
    };
    return link_memory(l, i, (vm_kind)kinds[i->op - VM_FIRST], 'I');
}

static bool link_instr(linker *l, const vm_instr *i) {
    if (i->op == LANE_NONE) return true;
    if (i->op < LANE_COUNT) return link_lane(l, i);
    switch (i->op) {
        case VM_SET_I: case VM_SET_F: return link_set(l, i);
        case VM_LEAVE: case VM_LEAVE_IF: case VM_CONTINUE: return link_leave(l, i);
        case VM_LOAD_I: return link_memory(l, i, K_LOAD, 'I');
        case VM_LOAD_F: return link_memory(l, i, K_LOAD, 'F');
        case VM_LOAD_H: return link_memory(l, i, K_LOAD, 'H');
        case VM_STORE_I: return link_memory(l, i, K_STORE, 'I');
        case VM_STORE_F: return link_memory(l, i, K_STORE, 'F');
        case VM_STORE_H: return link_memory(l, i, K_STORE, 'H');
        case VM_ATOMIC: return link_memory(l, i, K_ATOMIC, 'I');
        case VM_SUBGROUP: return link_subgroup(l, i);
        default: return i->op >= VM_IF && i->op <= VM_ENDREGION ? link_scope(l, i) : link_other(l, i);
    }
}

static void patch(linker *l) {
    for (uint32_t k = 0; k < l->out.n; k++) {
        vm_code *c = &l->out.v[k];
        c->jump = c->jump == UINT32_MAX ? l->out.n - 1 : l->start[c->jump];
    }
}

bool vm_link(vm_state *s) {
    linker l = {.s = s};
    const vm_form *f = s->f;
    l.start = GR_NEW_N(&l.arena, uint32_t, f->code_n + 2);
    bool ok = l.start != NULL;
    for (uint32_t k = 0; ok && k < f->code_n; k++) {
        l.start[k] = l.out.n;
        ok = link_instr(&l, &f->code[k]);
    }
    if (ok) {
        l.start[f->code_n] = l.out.n;
        patch(&l);
        s->code_n = l.out.n;
        s->code = vm_state_alloc(s, l.out.n, sizeof *s->code);
        if (s->code) memcpy(s->code, l.out.v, sizeof *s->code * l.out.n);
    }
    gr_arena_free(&l.arena);
    return ok && s->code ? true : gr_report_oom(s->d);
}
