/* The loop that runs a batch of lanes. */
#include "wgsl/vm_run.h"

#include "wgsl/lane_fast.h"

static uint32_t *mask_slot(const vm_state *s, uint32_t slot) { return s->saved + (size_t)slot * s->n; }
static uint32_t *ambiguous_slot(const vm_state *s, uint32_t slot) { return s->ambiguous_saved + (size_t)slot * s->n; }
static size_t row_bytes(const vm_state *s) { return sizeof(uint32_t) * s->n; }
static bool bounded(const vm_state *s) { return s->p->kind == LANE_BOUNDED; }

/* The mark plane of a row: behind value, error and gross. */
static uint32_t *marks(const vm_state *s, uint32_t at, char cls, uint32_t n) {
    return (uint32_t *)(void *)((uint8_t *)vm_at(s, at) + (size_t)n * (cls == 'I' ? 4 : LANE_BOUNDED_PLANES));
}

/* ------------------------------------------------------------ moving values */

static uint32_t value_bytes(const vm_state *s, char cls) { return cls == 'I' || s->p->kind == LANE_F32 ? 4 : 8; }

static void repeat(void *d, const void *a, uint32_t bytes, uint32_t n) {
    if (bytes == 4) {
        uint32_t v;
        memcpy(&v, a, sizeof v);
        uint32_t *to = d;
        for (uint32_t i = 0; i < n; i++) to[i] = v;
    } else {
        uint64_t v;
        memcpy(&v, a, sizeof v);
        uint64_t *to = d;
        for (uint32_t i = 0; i < n; i++) to[i] = v;
    }
}

static void run_row(vm_state *s, const vm_code *k) {
    uint8_t *d = vm_at(s, k->d), *a = vm_at(s, k->a);
    uint32_t bytes = value_bytes(s, k->cls), n = k->n;
    repeat(d, a, bytes, n);
    bool planes = s->p->kind == LANE_BOUNDED || s->p->kind == LANE_DUAL;
    if (planes && k->cls != 'I') repeat(d + (size_t)n * 8, a + LANE_UNIT * 8, 8, n);
    if (bounded(s) && k->cls != 'I') repeat(d + (size_t)n * 16, a + LANE_UNIT * 16, 8, n);
    if (bounded(s)) repeat(marks(s, k->d, k->cls, n), marks(s, k->a, k->cls, LANE_UNIT), 4, n);
}

static size_t row_size(const vm_state *s, char cls, uint32_t n) {
    size_t each = cls == 'I' ? (bounded(s) ? 8 : 4) : s->p->kind == LANE_F32 ? 4 : s->p->kind == LANE_F64 ? 8 :
                  s->p->kind == LANE_DUAL ? 16 : LANE_BOUNDED_BYTES;
    return each * n;
}

static void run_copy(vm_state *s, const vm_code *k) {
    if (k->d != k->a) memcpy(vm_at(s, k->d), vm_at(s, k->a), row_size(s, k->cls, k->n));
}

static void run_set(vm_state *s, const vm_code *k) {
    uint32_t n = k->n;
    if (s->active == n) run_copy(s, k);
    else if (value_bytes(s, k->cls) == 4) s->lane->set32(vm_at(s, k->d), vm_at(s, k->a), s->mask, n);
    else s->lane->set64(vm_at(s, k->d), vm_at(s, k->a), s->mask, n);
    bool planes = s->p->kind == LANE_BOUNDED || s->p->kind == LANE_DUAL;
    if (!planes || (k->cls == 'I' && !bounded(s))) return;
    if (s->active != n && k->cls != 'I')
        s->lane->set64((uint64_t *)vm_at(s, k->d) + n, (const uint64_t *)vm_at(s, k->a) + n, s->mask, n);
    if (!bounded(s)) return;
    if (s->active != n && k->cls != 'I')
        s->lane->set64((uint64_t *)vm_at(s, k->d) + (size_t)2 * n, (const uint64_t *)vm_at(s, k->a) + (size_t)2 * n, s->mask, n);
    uint32_t *dm = marks(s, k->d, k->cls, n);
    if (s->active != n) s->lane->set32(dm, marks(s, k->a, k->cls, n), s->mask, n);
    for (uint32_t i = 0; s->decided && i < n; i++) dm[i] |= s->ambiguous[i];
}

/* ----------------------------------------------------------------- control */

static void restore(vm_state *s, uint32_t slot) {
    memcpy(s->mask, mask_slot(s, slot), row_bytes(s));
    s->active = s->lane->mask_count(s->mask, s->n);
}

/* Lanes for which the decision could have gone the other way. */
static void decide(vm_state *s, uint32_t cond, const uint32_t *among) {
    const uint32_t *m = marks(s, cond, 'I', s->n);
    uint32_t any = 0, n = s->n, *ambiguous = s->ambiguous;
    LANE_LOOP {
        uint32_t now = ambiguous[i] | (m[i] & among[i]);
        ambiguous[i] = now;
        any |= now;
    }
    s->decided |= any != 0;
}

static void mark_local(vm_state *s, uint32_t object) {
    const vm_object *o = &s->p->object.v[object];
    uint8_t *m = s->memory[object].mark;
    for (uint32_t c = 0; m && c < o->cells; c++)
        for (uint32_t i = 0; i < s->n; i++) m[(size_t)(o->base + c) * s->n + i] |= (uint8_t)(s->ambiguous[i] & 1);
}

/* Leaving a scope: what was written inside depends on the decisions made inside. */
static void settle(vm_state *s, const vm_code *k) {
    if (!s->decided) return;
    const vm_scope *c = &s->f->scope[k->scope];
    for (uint32_t v = 0; v < c->sets_n; v++) {
        if (c->sets[v] >> 31) {
            mark_local(s, c->sets[v] & 0x7FFFFFFFu);
            continue;
        }
        const vm_register *r = &s->f->reg[c->sets[v]];
        int pool = r->cls == 'F' ? VM_POOL_ROW_F : VM_POOL_ROW_I;
        uint32_t *m = marks(s, s->pool_at[pool] + r->slot * s->pool_stride[pool], r->cls, s->n);
        for (uint32_t i = 0; i < s->n; i++) m[i] |= s->ambiguous[i];
    }
    memcpy(s->ambiguous, ambiguous_slot(s, k->slot), row_bytes(s));
}

static void enter(vm_state *s, const vm_code *k) {
    memcpy(mask_slot(s, k->slot), s->mask, row_bytes(s));
    if (k->kind == K_LOOP) memcpy(mask_slot(s, k->slot + 1), s->mask, row_bytes(s));
    if (!bounded(s) || !s->decided) return;
    memcpy(ambiguous_slot(s, k->slot), s->ambiguous, row_bytes(s));
    if (k->kind == K_LOOP) memcpy(ambiguous_slot(s, k->slot + 1), s->ambiguous, row_bytes(s));
}

static void run_if(vm_state *s, const vm_code *k) {
    s->active = s->lane->mask_if(s->mask, mask_slot(s, k->slot), vm_at(s, k->a), s->n);
    if (!bounded(s)) return;
    if (s->decided) memcpy(ambiguous_slot(s, k->slot), s->ambiguous, row_bytes(s));
    else memset(ambiguous_slot(s, k->slot), 0, row_bytes(s));
    decide(s, k->a, mask_slot(s, k->slot));
}

/* The lanes of `gone` leave every scope in slots low..high-1. */
static void remove_lanes(vm_state *s, const vm_code *k, const uint32_t *gone) {
    for (uint32_t m = k->low; m < k->high; m++) s->lane->mask_and_not(mask_slot(s, m), gone, s->n);
    if (!bounded(s) || !s->decided) return;
    for (uint32_t m = k->low; m < k->high; m++)
        for (uint32_t i = 0; i < s->n; i++) ambiguous_slot(s, m)[i] |= s->ambiguous[i];
}

static void run_leave(vm_state *s, const vm_code *k) {
    if (s->active == 0) return;
    remove_lanes(s, k, s->mask);
    memset(s->mask, 0, row_bytes(s));
    s->active = 0;
}

static void run_leave_if(vm_state *s, const vm_code *k) {
    const uint32_t *cond = vm_at(s, k->a);
    uint32_t *gone = s->address;
    if (bounded(s)) decide(s, k->a, s->mask);
    const uint32_t *mask = s->mask, flip = k->sub ? ~0u : 0, n = s->n;
    LANE_LOOP { gone[i] = mask[i] & (cond[i] ^ flip); }
    if (s->lane->mask_count(gone, s->n) == 0 && !s->decided) return;
    remove_lanes(s, k, gone);
    s->lane->mask_and_not(s->mask, gone, s->n);
    s->active = s->lane->mask_count(s->mask, s->n);
}

/* Counts a loop iteration; false at the limit. */
static bool step(vm_state *s, const vm_code *k) {
    s->stats.steps++;
    s->stats.turns += (uint64_t)(s->active + GR_EVAL_TURN) * (1 + s->turn);
    if (s->stats.turns <= s->p->run_limit && s->steps_left--) return true;
    s->failed = true;
    gr_report(s->d, GR_D_WGSL_STEP_LIMIT, vm_place(s, k->at), "check the loop's exit, or raise the limit of steps",
              "the loop has run for %llu steps", (unsigned long long)(s->stats.turns > s->p->run_limit ? s->p->run_limit : s->p->step_limit));
    return false;
}

static uint32_t run_endloop(vm_state *s, const vm_code *k, uint32_t next) {
    restore(s, k->slot + 1);
    if (s->active && step(s, k)) return k->jump;
    restore(s, k->slot);
    if (bounded(s)) settle(s, k);
    return s->failed ? s->code_n - 1 : next;
}

static uint32_t run_endloop_uniform(vm_state *s, const vm_code *k, uint32_t next) {
    if (s->active && step(s, k)) return k->jump;
    return s->failed ? s->code_n - 1 : next;
}

static bool truth(const vm_state *s, const vm_code *k) {
    uint32_t v;
    memcpy(&v, vm_at(s, k->a), sizeof v);
    return v != 0;
}

static void run_trace(vm_state *s, const vm_code *k) {
    const uint32_t *v = vm_at(s, k->a);
    bool row = k->row & OPERAND_A;
    uint64_t h = s->stats.trace;
    for (uint32_t i = 0; i < (row ? s->n : 1); i++) {
        if (row && !s->mask[i]) continue;
        h = ((h ^ v[i]) + 0x632BE59BD9B4E019u) * 0x9E3779B97F4A7C15u; /* a 0 counts as well */
        h ^= h >> 29;
    }
    s->stats.trace = h;
}

static void run_length(vm_state *s, const vm_code *k) {
    uint64_t size = s->memory[k->object].size;
    uint32_t v = (uint32_t)((size - k->offset) / k->stride);
    repeat(vm_at(s, k->d), &v, 4, k->row & OPERAND_D ? s->n : LANE_UNIT);
}

static void run_lane_one(vm_state *s, const vm_code *k) {
    k->fn(vm_at(s, k->d), vm_at(s, k->a), vm_at(s, k->b), vm_at(s, k->c), 1);
    repeat(vm_at(s, k->d), vm_at(s, k->d), value_bytes(s, k->cls), LANE_UNIT);
}

static void run_other(vm_state *s, const vm_code *k) {
    switch (k->kind) {
        case K_ZERO: vm_zero(s, k); break;
        case K_ATOMIC: vm_atomic_run(s, k); break;
        case K_BARRIER: if (s->san) vm_san_barrier(s, k); break;
        case K_LENGTH: run_length(s, k); break;
        case K_SUBGROUP: vm_subgroup_run(s, k); break;
        case K_CHECK: if (s->san) vm_san_check(s, k); break;
        case K_TRACE: run_trace(s, k); break;
        case K_ROW: run_row(s, k); break;
        case K_LANE_ONE: run_lane_one(s, k); break;
        default: break;
    }
}

/* Mask operations; the next code. */
static uint32_t run_mask(vm_state *s, const vm_code *k, uint32_t next) {
    switch (k->kind) {
        case K_IF: run_if(s, k); return s->active ? next : k->jump;
        case K_ELSE:
            s->active = s->lane->mask_else(s->mask, mask_slot(s, k->slot), vm_at(s, k->a), s->n);
            return s->active ? next : k->jump;
        case K_ENDIF: case K_ENDREGION:
            restore(s, k->slot);
            if (bounded(s)) settle(s, k);
            return next;
        case K_LOOP: case K_REGION: enter(s, k); return next;
        case K_CONTINUING: restore(s, k->slot + 1); return s->active ? next : k->jump;
        case K_ENDLOOP: return run_endloop(s, k, next);
        case K_ENDLOOP_UNIFORM: return run_endloop_uniform(s, k, next);
        case K_LEAVE: run_leave(s, k); return next;
        case K_LEAVE_IF: run_leave_if(s, k); return s->active ? next : k->jump;
        case K_KILL:
            run_leave(s, k);
            return s->lane->mask_count(mask_slot(s, 0), s->n) ? next : s->code_n - 1;
        default: return next;
    }
}

static bool run_code(vm_state *s) {
    for (uint32_t pc = 0;;) {
        const vm_code *k = &s->code[pc++];
        uint8_t *r = s->regs;
        switch (k->kind) {
            case K_LANE: k->fn(r + k->d, r + k->a, r + k->b, r + k->c, k->n); break;
            case K_BOUNDED: k->bounded(s->p->table, r + k->d, r + k->a, r + k->b, r + k->c, k->n); break;
            case K_COPY: run_copy(s, k); break;
            case K_SET: run_set(s, k); break;
            case K_LOAD: vm_load(s, k); break;
            case K_STORE: vm_store(s, k); break;
            case K_JUMP: pc = k->jump; break;
            case K_JUMP_FALSE: if (!truth(s, k)) pc = k->jump; break;
            case K_JUMP_TRUE: if (truth(s, k)) pc = k->jump; break;
            case K_IF: case K_ELSE: case K_ENDIF: case K_LOOP: case K_CONTINUING: case K_ENDLOOP: case K_ENDLOOP_UNIFORM:
            case K_REGION: case K_ENDREGION: case K_LEAVE: case K_LEAVE_IF: case K_KILL: pc = run_mask(s, k, pc); break;
            case K_END: return !s->failed;
            default: run_other(s, k);
        }
    }
}

/* ----------------------------------------------------------------- a batch */

static void group_id(const vm_state *s, uint32_t g, uint32_t id[3]) {
    uint64_t at = s->first_group + g, plane = (uint64_t)s->grid[0] * s->grid[1];
    id[2] = (uint32_t)(at / plane);
    id[1] = (uint32_t)(at % plane / s->grid[0]);
    id[0] = (uint32_t)(at % s->grid[0]);
}

static uint32_t input_value(const vm_state *s, uint32_t in, uint32_t lane, const uint32_t id[3]) {
    const vm_program *p = s->p;
    if (in >= VM_IN_GLOBAL_X && in <= VM_IN_GLOBAL_Z)
        return id[in - VM_IN_GLOBAL_X] * p->size[in - VM_IN_GLOBAL_X] + s->local[in - VM_IN_GLOBAL_X][lane];
    if (in >= VM_IN_LOCAL_X && in <= VM_IN_LOCAL_Z) return s->local[in - VM_IN_LOCAL_X][lane];
    if (in >= VM_IN_GROUP_X && in <= VM_IN_GROUP_Z) return id[in - VM_IN_GROUP_X];
    if (in >= VM_IN_GRID_X && in <= VM_IN_GRID_Z) return s->grid[in - VM_IN_GRID_X];
    switch (in) {
        case VM_IN_INDEX: return s->local_index[lane];
        case VM_IN_SUBGROUP_LANE: return s->local_index[lane] % p->subgroup;
        case VM_IN_SUBGROUP_ID: return s->local_index[lane] / p->subgroup;
        case VM_IN_SUBGROUPS: return (p->invocations + p->subgroup - 1) / p->subgroup;
        default: return p->subgroup;
    }
}

static void fill_input(vm_state *s, uint32_t in, vm_reg r) {
    const vm_register *g = &s->f->reg[r];
    if (g->first == UINT32_MAX) return;
    int pool = g->varying ? VM_POOL_ROW_I : VM_POOL_ONE_I;
    uint32_t *row = vm_at(s, s->pool_at[pool] + g->slot * s->pool_stride[pool]);
    uint32_t id[3] = {0, 0, 0}, group = UINT32_MAX, n = g->varying ? s->n : LANE_UNIT;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = g->varying ? i : 0;
        if (s->group_of[lane] != group) group_id(s, group = s->group_of[lane], id);
        row[i] = input_value(s, in, lane, id);
    }
    if (bounded(s)) memset(row + n, 0, sizeof(uint32_t) * n);
}

static void clear_shared(vm_state *s) {
    for (uint32_t o = 0; o < s->p->object.n; o++) {
        vm_memory *m = &s->memory[o];
        if (!m->shared) continue;
        size_t cells = (size_t)s->p->workgroup_cells * s->f->groups;
        if (m->bytes) memset(m->bytes, 0, cells * 4);
        if (m->wide) memset(m->wide, 0, cells * 8);
        if (m->extra) memset(m->extra, 0, cells * 8);
        if (m->gross) memset(m->gross, 0, cells * 8);
        if (m->mark) memset(m->mark, 0, cells);
        return; /* all workgroup variables share one block */
    }
}

bool vm_run_batch(vm_state *s) {
    uint32_t lanes = s->groups * s->p->invocations;
    for (uint32_t i = 0; i < s->n; i++) s->mask[i] = i < lanes ? 0xFFFFFFFFu : 0;
    memcpy(mask_slot(s, 0), s->mask, row_bytes(s));
    s->active = lanes;
    s->steps_left = s->p->step_limit;
    s->decided = false;
    if (bounded(s)) {
        memset(s->ambiguous, 0, row_bytes(s));
        memset(s->ambiguous_saved, 0, row_bytes(s) * s->f->mask_slots);
    }
    for (uint32_t in = 1; in < VM_IN_COUNT; in++)
        if (s->p->input[in]) fill_input(s, in, s->p->input[in]);
    clear_shared(s);
    if (s->san) vm_san_batch(s);
    return run_code(s);
}
