/* Registers to slots: a linear scan over live intervals, a pool a class. */
#include "wgsl/vm.h"

typedef struct pool {
    uint32_t *free, free_n; /* a stack: the latest freed is warm in cache */
    uint32_t n;
} pool;

lane_form vm_lane_form(const vm_program *p, const vm_form *f, const vm_instr *i, bool row[3]) {
    const vm_reg src[3] = {i->a, i->b, i->c};
    bool planes = p->kind == LANE_BOUNDED || p->kind == LANE_DUAL;
    bool wide = f->reg[i->d].varying;
    for (int k = 0; k < 3; k++) row[k] = wide && src[k] && !f->reg[src[k]].varying;
    if (planes || gr_lane_info(i->op)->shape != LANE_BIN || row[0] == row[1]) return LANE_VV;
    lane_form form = row[1] ? LANE_VS : LANE_SV;
    row[0] = row[1] = false;
    return form;
}

/* Constants that some instruction needs as a row. */
static void want_rows(const vm_program *p, vm_form *f) {
    for (uint32_t k = 0; k < f->code_n; k++) {
        const vm_instr *i = &f->code[k];
        bool row[3] = {false, false, false};
        if (i->op > LANE_NONE && i->op < LANE_COUNT) vm_lane_form(p, f, i, row);
        if (i->op == VM_SET_I || i->op == VM_SET_F) row[0] = f->reg[i->d].varying;
        if (i->op >= VM_STORE_I && i->op <= VM_STORE_H) row[2] = true;
        const vm_reg src[3] = {i->a, i->b, i->c};
        for (int s = 0; s < 3; s++)
            if (row[s] && f->reg[src[s]].constant) f->reg[src[s]].row = true;
    }
}

static int pool_of(const vm_register *r) {
    return r->cls == 'F' ? (r->varying ? VM_POOL_ROW_F : VM_POOL_ONE_F) : r->varying ? VM_POOL_ROW_I : VM_POOL_ONE_I;
}

static uint32_t take(pool *q) { return q->free_n ? q->free[--q->free_n] : q->n++; }

typedef struct scan {
    vm_form *f;
    pool pool[VM_POOLS];
    uint32_t *by_last; /* registers chained by the instruction at which they die */
    uint32_t *next;
    uint32_t *by_first, *next_first; /* variables by the instruction at which they begin to live */
} scan;

static void expire(scan *s, uint32_t k) {
    for (uint32_t r = s->by_last[k]; r; r = s->next[r]) {
        pool *q = &s->pool[pool_of(&s->f->reg[r])];
        q->free[q->free_n++] = s->f->reg[r].slot;
    }
    s->by_last[k] = 0;
}

static void place(scan *s, vm_reg r, uint32_t k) {
    vm_register *g = &s->f->reg[r];
    if (!r || g->placed) return;
    g->placed = true;
    g->slot = take(&s->pool[pool_of(g)]);
    if (g->constant) return; /* for ever */
    uint32_t dies = g->last < k ? k : g->last;
    s->next[r] = s->by_last[dies];
    s->by_last[dies] = r;
}

static void scan_code(scan *s) {
    vm_form *f = s->f;
    for (uint32_t r = 1; r < f->reg_n; r++)
        if (f->reg[r].constant && f->reg[r].first != UINT32_MAX) place(s, r, 0);
    for (uint32_t r = 1; r < f->reg_n; r++)
        if (f->reg[r].input && f->reg[r].first != UINT32_MAX) place(s, r, 0);
    for (uint32_t k = 0; k < f->code_n; k++) {
        const vm_instr *i = &f->code[k];
        for (uint32_t r = s->by_first[k]; r; r = s->next_first[r]) place(s, r, k);
        if (!i->op) {
            expire(s, k);
            continue;
        }
        bool apart = i->op >= VM_FIRST; /* only lane loops may write over a source */
        if (!apart) expire(s, k);
        place(s, i->d, k);
        expire(s, k);
    }
}

static bool prepare(scan *s, gr_arena *a) {
    s->by_last = GR_NEW_N(a, uint32_t, s->f->code_n + 1);
    s->next = GR_NEW_N(a, uint32_t, s->f->reg_n);
    s->by_first = GR_NEW_N(a, uint32_t, s->f->code_n + 1);
    s->next_first = GR_NEW_N(a, uint32_t, s->f->reg_n);
    if (!s->by_last || !s->next || !s->by_first || !s->next_first) return false;
    for (uint32_t r = 1; r < s->f->reg_n; r++) {
        const vm_register *g = &s->f->reg[r];
        if (!g->variable || g->first == UINT32_MAX) continue;
        s->next_first[r] = s->by_first[g->first];
        s->by_first[g->first] = r;
    }
    for (int k = 0; k < VM_POOLS; k++)
        if (!(s->pool[k].free = GR_NEW_N(a, uint32_t, s->f->reg_n))) return false;
    return true;
}

bool vm_allocate(vm_program *p, vm_form *f) {
    gr_arena scratch = {0};
    scan s = {.f = f};
    bool ok = prepare(&s, &scratch);
    if (ok) {
        want_rows(p, f);
        scan_code(&s);
        for (uint32_t r = 1; r < f->reg_n; r++)
            if (f->reg[r].row) f->reg[r].row_slot = s.pool[f->reg[r].cls == 'F' ? VM_POOL_ROW_F : VM_POOL_ROW_I].n++;
        for (int k = 0; k < VM_POOLS; k++) f->pool[k] = s.pool[k].n;
    }
    gr_arena_free(&scratch);
    return ok ? true : gr_report_oom(p->d);
}
