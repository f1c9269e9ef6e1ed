/* Loads and stores of a row of lanes. Every address is in range by V2. */
#include "base/math.h"
#include "wgsl/vm_run.h"

#include "wgsl/lane_fast.h"

static uint32_t first_of(const vm_state *s, uint32_t at) {
    uint32_t v;
    memcpy(&v, vm_at(s, at), sizeof v);
    return v;
}

static uint32_t limit_of(const vm_state *s, const vm_code *k) {
    if (k->exact) return UINT32_MAX;
    return (k->used & OPERAND_E) && k->kind != K_ATOMIC ? first_of(s, k->e) : k->limit;
}

static void shift_row(uint32_t *t, uint32_t shift, uint32_t n) {
    for (uint32_t i = 0; shift && i < n; i++) t[i] >>= shift;
}

/* A row of unit addresses becomes one of elements: private memory has a column a lane, workgroup
 * memory a block a workgroup. */
static vm_where finish_row(vm_state *s, const vm_code *k, uint32_t shift) {
    const vm_memory *m = &s->memory[k->object];
    uint32_t *t = s->address;
    shift_row(t, shift, s->n);
    if (m->local) s->lane->address_add(t, t, UINT32_MAX, s->n, s->lane_index, 0, s->n);
    else if (m->shared && s->f->groups > 1) s->lane->address_add(t, t, UINT32_MAX, 1, s->group_base, 0, s->n);
    return (vm_where){WHERE_ROW, 0, t};
}

static vm_where finish_one(vm_state *s, const vm_code *k, uint32_t address, uint32_t shift) {
    const vm_memory *m = &s->memory[k->object];
    if (m->local) return (vm_where){WHERE_RUN, address * s->n, NULL};
    if (m->shared && s->f->groups > 1) {
        s->lane->address(s->address, s->group_base, UINT32_MAX, 1, address, s->n);
        return (vm_where){WHERE_ROW, 0, s->address};
    }
    return (vm_where){WHERE_ONE, address >> shift, NULL};
}

/* A rising index over adjacent elements is a run. */
static bool is_run(const vm_state *s, const vm_code *k, const uint32_t *idx, uint32_t limit, uint32_t shift) {
    const vm_memory *m = &s->memory[k->object];
    if (m->local || (m->shared && s->f->groups > 1) || k->stride != 1u << shift) return false;
    return idx[s->n - 1] <= limit && s->lane->consecutive(idx, s->n);
}

vm_where vm_resolve(vm_state *s, const vm_code *k, uint32_t shift) {
    bool a_row = k->row & OPERAND_A, b_row = k->row & OPERAND_B;
    uint32_t limit = limit_of(s, k), offset = k->offset;
    if ((k->used & OPERAND_A) && !a_row) {
        uint32_t i = first_of(s, k->a);
        offset += (i < limit ? i : limit) * k->stride;
    }
    if ((k->used & OPERAND_B) && !b_row) offset += first_of(s, k->b);
    const uint32_t *idx = vm_at(s, k->a), *base = vm_at(s, k->b);
    if (a_row && b_row) s->lane->address_add(s->address, idx, limit, k->stride, base, offset, s->n);
    else if (a_row && is_run(s, k, idx, limit, shift))
        return (vm_where){WHERE_RUN, (idx[0] * k->stride + offset) >> shift, NULL};
    else if (a_row && s->lane->equal(idx, s->n))
        return finish_one(s, k, offset + (idx[0] < limit ? idx[0] : limit) * k->stride, shift);
    else if (a_row) s->lane->address(s->address, idx, limit, k->stride, offset, s->n);
    else if (b_row) s->lane->address(s->address, base, UINT32_MAX, 1, offset, s->n);
    else return finish_one(s, k, offset, shift);
    return finish_row(s, k, shift);
}

/* -------------------------------------------------------------------- loads */

static void load32(vm_state *s, uint32_t *d, const uint8_t *bytes, const vm_where *w, uint32_t n) {
    const uint32_t *mem = (const uint32_t *)(const void *)bytes;
    if (w->kind == WHERE_ROW) s->lane->gather32(d, mem, w->row, n);
    else if (w->kind == WHERE_RUN) memcpy(d, mem + w->at, sizeof *d * n);
    else for (uint32_t i = 0, v = mem[w->at]; i < n; i++) d[i] = v;
}

static void load64(vm_state *s, double *d, const double *mem, const vm_where *w, uint32_t n) {
    if (w->kind == WHERE_ROW) s->lane->gather64((uint64_t *)(void *)d, (const uint64_t *)(const void *)mem, w->row, n);
    else if (w->kind == WHERE_RUN) memcpy(d, mem + w->at, sizeof *d * n);
    else for (uint32_t i = 0; i < n; i++) d[i] = mem[w->at];
}

static float half_at(const uint8_t *bytes, uint32_t element) {
    uint16_t h;
    memcpy(&h, bytes + (size_t)element * 2, sizeof h);
    return gr_f32_from_f16(h);
}

static float single_at(const uint8_t *bytes, uint32_t element) {
    float f;
    memcpy(&f, bytes + (size_t)element * 4, sizeof f);
    return f;
}

static void load_marks(uint32_t *d, const uint8_t *mark, const vm_where *w, uint32_t n) {
    if (!mark) memset(d, 0, sizeof *d * n);
    for (uint32_t i = 0; mark && i < n; i++) d[i] = mark[vm_element(w, i)] ? 0xFFFFFFFFu : 0;
}

static void load_int(vm_state *s, const vm_code *k, uint32_t n) {
    const vm_memory *m = &s->memory[k->object];
    vm_where w = vm_resolve(s, k, m->shift32);
    if (s->san) vm_san_access(s, k, &w, VM_ACCESS_READ);
    uint32_t *d = vm_at(s, k->d);
    load32(s, d, m->bytes, &w, n);
    if (s->p->kind != LANE_BOUNDED) return;
    if (m->mark && m->shift_wide != m->shift32) w = vm_resolve(s, k, m->shift_wide);
    load_marks(d + n, m->mark, &w, n);
}

static void load_f32_mode(vm_state *s, const vm_code *k, uint32_t n) {
    const vm_memory *m = &s->memory[k->object];
    vm_where w = vm_resolve(s, k, k->cls == 'H' ? 0 : m->shift32);
    if (s->san) vm_san_access(s, k, &w, VM_ACCESS_READ);
    float *d = vm_at(s, k->d);
    if (k->cls == 'F') load32(s, vm_at(s, k->d), m->bytes, &w, n);
    else for (uint32_t i = 0; i < n; i++) d[i] = half_at(m->bytes, vm_element(&w, i));
}

/* At least the value's own magnitude: what was never stored reads as that. */
static void load_gross(vm_state *s, double *d, const double *mem, const vm_where *w, uint32_t n) {
    double *gross = d + (size_t)2 * n;
    if (mem) load64(s, gross, mem, w, n);
    for (uint32_t i = 0; i < n; i++) {
        double own = d[i] - d[i] == 0 ? gr_fabs(d[i]) : 0;
        gross[i] = mem && gross[i] > own ? gross[i] : own;
    }
}

static void load_wide(vm_state *s, const vm_code *k, uint32_t n) {
    const vm_memory *m = &s->memory[k->object];
    uint32_t shift = m->wide ? m->shift_wide : k->cls == 'H' ? 0 : m->shift32;
    vm_where w = vm_resolve(s, k, shift);
    double *d = vm_at(s, k->d);
    if (m->wide) load64(s, d, m->wide, &w, n);
    else for (uint32_t i = 0; i < n; i++) {
        uint32_t e = vm_element(&w, i);
        d[i] = (double)(k->cls == 'H' ? half_at(m->bytes, e) : single_at(m->bytes, e));
    }
    if (s->p->kind == LANE_F64) return;
    if (m->wide && m->extra) load64(s, d + n, m->extra, &w, n);
    else memset(d + n, 0, sizeof *d * n);
    if (s->p->kind != LANE_BOUNDED) return;
    load_gross(s, d, m->wide ? m->gross : NULL, &w, n);
    uint32_t *marks = (uint32_t *)(void *)(d + (size_t)3 * n);
    if (!m->wide && m->mark && m->shift_wide != shift) w = vm_resolve(s, k, m->shift_wide);
    load_marks(marks, m->mark, &w, n);
}

void vm_load(vm_state *s, const vm_code *k) {
    uint32_t n = k->row & OPERAND_D ? s->n : LANE_UNIT;
    if (k->cls == 'I') load_int(s, k, n);
    else if (s->p->kind == LANE_F32) load_f32_mode(s, k, n);
    else load_wide(s, k, n);
}

/* ------------------------------------------------------------------- stores */

static void store32(vm_state *s, uint8_t *bytes, const uint32_t *v, const vm_where *w) {
    uint32_t *mem = (uint32_t *)(void *)bytes;
    if (w->kind == WHERE_RUN && s->active == s->n) memcpy(mem + w->at, v, sizeof *v * s->n);
    else if (w->kind == WHERE_RUN) s->lane->put32(mem + w->at, v, s->mask, s->n); /* neighbours may belong to another thread */
    else
        for (uint32_t i = 0; i < s->n; i++)
            if (s->mask[i]) mem[vm_element(w, i)] = v[i];
}

static void store_marks(vm_state *s, uint8_t *mark, const uint32_t *v, const vm_where *w) {
    for (uint32_t i = 0; mark && i < s->n; i++)
        if (s->mask[i]) mark[vm_element(w, i)] = (uint8_t)((v[i] | s->ambiguous[i]) & 1);
}

static void store_int(vm_state *s, const vm_code *k) {
    const vm_memory *m = &s->memory[k->object];
    vm_where w = vm_resolve(s, k, m->shift32);
    if (s->san) vm_san_access(s, k, &w, VM_ACCESS_WRITE);
    const uint32_t *v = vm_at(s, k->c);
    store32(s, m->bytes, v, &w);
    if (s->p->kind != LANE_BOUNDED) return;
    if (m->mark && m->shift_wide != m->shift32) w = vm_resolve(s, k, m->shift_wide);
    store_marks(s, m->mark, v + s->n, &w);
}

static void store_half(vm_state *s, uint8_t *bytes, const vm_where *w, const void *v, bool wide) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->mask[i]) continue;
        uint16_t h = wide ? gr_f16_from_f64(((const double *)v)[i]) : gr_f16_from_f32(((const float *)v)[i]);
        memcpy(bytes + (size_t)vm_element(w, i) * 2, &h, sizeof h);
    }
}

static void store_f32_mode(vm_state *s, const vm_code *k) {
    const vm_memory *m = &s->memory[k->object];
    vm_where w = vm_resolve(s, k, k->cls == 'H' ? 0 : m->shift32);
    if (s->san) vm_san_access(s, k, &w, VM_ACCESS_WRITE);
    if (k->cls == 'H') {
        store_half(s, m->bytes, &w, vm_at(s, k->c), false);
        return;
    }
    s->lane->canonical(s->address2, vm_at(s, k->c), s->n);
    store32(s, m->bytes, s->address2, &w);
}

static void store_narrow(vm_state *s, const vm_code *k, const vm_where *w, const double *v) {
    const vm_memory *m = &s->memory[k->object];
    if (k->cls == 'H') {
        store_half(s, m->bytes, w, v, true);
        return;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->mask[i]) continue;
        uint32_t b = v[i] == v[i] ? gr_bits_f32((float)v[i]) : 0x7FC00000u;
        memcpy(m->bytes + (size_t)vm_element(w, i) * 4, &b, sizeof b);
    }
}

static void store_wide(vm_state *s, const vm_code *k) {
    const vm_memory *m = &s->memory[k->object];
    uint32_t shift = m->wide ? m->shift_wide : k->cls == 'H' ? 0 : m->shift32, n = s->n;
    vm_where w = vm_resolve(s, k, shift);
    const double *v = vm_at(s, k->c);
    if (!m->wide) store_narrow(s, k, &w, v);
    else for (uint32_t i = 0; i < n; i++)
        if (s->mask[i]) m->wide[vm_element(&w, i)] = v[i];
    if (s->p->kind == LANE_F64) return;
    for (uint32_t i = 0; m->wide && m->extra && i < n; i++)
        if (s->mask[i]) m->extra[vm_element(&w, i)] = v[n + i];
    if (s->p->kind != LANE_BOUNDED) return;
    for (uint32_t i = 0; m->wide && m->gross && i < n; i++)
        if (s->mask[i]) m->gross[vm_element(&w, i)] = v[(size_t)2 * n + i];
    if (!m->wide && m->mark && m->shift_wide != shift) w = vm_resolve(s, k, m->shift_wide);
    store_marks(s, m->mark, (const uint32_t *)(const void *)(v + (size_t)3 * n), &w);
}

void vm_store(vm_state *s, const vm_code *k) {
    if (s->active == 0) return;
    if (k->cls == 'I') store_int(s, k);
    else if (s->p->kind == LANE_F32) store_f32_mode(s, k);
    else store_wide(s, k);
}

void vm_zero(vm_state *s, const vm_code *k) {
    const vm_object *o = &s->p->object.v[k->object];
    const vm_memory *m = &s->memory[k->object];
    size_t at = (size_t)o->base * s->n, n = (size_t)o->cells * s->n;
    memset(m->bytes + at * 4, 0, n * 4);
    if (m->wide) memset(m->wide + at, 0, n * 8);
    if (m->extra) memset(m->extra + at, 0, n * 8);
    if (m->gross) memset(m->gross + at, 0, n * 8);
    if (m->mark) memset(m->mark + at, 0, n);
    if (s->san) vm_san_zero(s, k);
}
