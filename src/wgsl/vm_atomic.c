/* Atomics, one active lane after the other in the order of lanes, or in the opposite one. */
#include "wgsl/vm_run.h"

static int32_t as_signed(uint32_t x) {
    int32_t v;
    memcpy(&v, &x, sizeof v);
    return v;
}

static uint32_t combine(uint8_t op, uint32_t old, uint32_t v) {
    switch (op) {
        case VM_ATOMIC_STORE: case VM_ATOMIC_EXCHANGE: return v;
        case VM_ATOMIC_ADD: return old + v;
        case VM_ATOMIC_SUB: return old - v;
        case VM_ATOMIC_MAX_S: return as_signed(old) > as_signed(v) ? old : v;
        case VM_ATOMIC_MAX_U: return old > v ? old : v;
        case VM_ATOMIC_MIN_S: return as_signed(old) < as_signed(v) ? old : v;
        case VM_ATOMIC_MIN_U: return old < v ? old : v;
        case VM_ATOMIC_AND: return old & v;
        case VM_ATOMIC_OR: return old | v;
        case VM_ATOMIC_XOR: return old ^ v;
        default: return old;
    }
}

void vm_atomic_run(vm_state *s, const vm_code *k) {
    if (s->active == 0) return;
    const vm_memory *m = &s->memory[k->object];
    vm_where w = vm_resolve(s, k, m->shift32);
    if (s->san) vm_san_access(s, k, &w, VM_ACCESS_ATOMIC);
    uint32_t *mem = (uint32_t *)(void *)m->bytes;
    uint32_t *d = k->used & OPERAND_D ? vm_at(s, k->d) : s->address2;
    const uint32_t *v = vm_at(s, k->c), *expected = vm_at(s, k->e);
    for (uint32_t turn = 0; turn < s->n; turn++) {
        uint32_t i = s->p->reverse ? s->n - 1 - turn : turn;
        if (!s->mask[i]) continue;
        uint32_t *cell = &mem[vm_element(&w, i)], old = *cell;
        if (k->sub == VM_ATOMIC_CAS) *cell = old == expected[i] ? v[i] : old;
        else if (k->sub != VM_ATOMIC_LOAD) *cell = combine(k->sub, old, v[i]);
        d[i] = old;
    }
    if (s->p->kind == LANE_BOUNDED && (k->used & OPERAND_D)) memset(d + s->n, 0, sizeof *d * s->n);
}
