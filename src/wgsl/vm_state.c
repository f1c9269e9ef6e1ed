/* A program's state: register file, masks, memory, bindings. */
#include "base/math.h"
#include "wgsl/vm_run.h"

void *vm_state_alloc(vm_state *s, size_t n, size_t size) {
    if (s->owned_n >= sizeof s->owned / sizeof *s->owned || (size && n > (SIZE_MAX - 64) / size)) return NULL;
    uint8_t *p = gr_heap_alloc(n * size + 64, 1);
    if (!p) return NULL;
    s->owned[s->owned_n++] = p;
    return p + (64 - (uintptr_t)p % 64) % 64;
}

gr_place vm_place(const vm_state *s, uint32_t at) { return gr_wgsl_place(s->p->module, at); }

void gr_eval_state_free(gr_eval_state *s) {
    if (!s) return;
    while (s->owned_n) gr_heap_free(s->owned[--s->owned_n]);
    gr_heap_free(s);
}

/* ------------------------------------------------------------ register file */

static uint32_t lane_bytes(const vm_program *p, char cls) {
    if (cls == 'I') return p->kind == LANE_BOUNDED ? 8 : 4;
    return p->kind == LANE_F32 ? 4 : p->kind == LANE_F64 ? 8 : p->kind == LANE_DUAL ? 16 : LANE_BOUNDED_BYTES;
}

/* One line of padding a row keeps rows from meeting in the same cache sets. */
static uint64_t lay_out(vm_state *s) {
    uint64_t at = 0;
    for (int k = 0; k < VM_POOLS; k++) {
        bool row = k == VM_POOL_ROW_I || k == VM_POOL_ROW_F;
        char cls = k == VM_POOL_ROW_F || k == VM_POOL_ONE_F ? 'F' : 'I';
        uint32_t stride = lane_bytes(s->p, cls) * (row ? s->n : LANE_UNIT);
        if (row) stride += 64;
        s->pool_at[k] = (uint32_t)at;
        s->pool_stride[k] = stride;
        at += (uint64_t)stride * s->f->pool[k];
    }
    for (int k = 0; k < 3; k++) {
        s->scratch_at[k] = (uint32_t)at;
        at += lane_bytes(s->p, 'F') * (s->n + LANE_UNIT) + lane_bytes(s->p, 'I') * (uint64_t)s->n;
        at = (at + 63) / 64 * 64;
    }
    return at;
}

static void put_constant(vm_state *s, const vm_register *g, uint32_t at, uint32_t n) {
    uint32_t *u = vm_at(s, at);
    double *v = vm_at(s, at);
    for (uint32_t i = 0; i < n; i++) {
        if (g->cls == 'I' || s->p->kind == LANE_F32) u[i] = g->bits;
        else v[i] = g->value;
        if (g->cls == 'F' && s->p->kind == LANE_BOUNDED) v[(size_t)2 * n + i] = g->value - g->value == 0 ? gr_fabs(g->value) : 0;
    }
}

static void put_constants(vm_state *s) {
    for (uint32_t r = 1; r < s->f->reg_n; r++) {
        const vm_register *g = &s->f->reg[r];
        if (!g->constant || !g->placed) continue;
        int one = g->cls == 'F' ? VM_POOL_ONE_F : VM_POOL_ONE_I, row = g->cls == 'F' ? VM_POOL_ROW_F : VM_POOL_ROW_I;
        put_constant(s, g, s->pool_at[one] + g->slot * s->pool_stride[one], LANE_UNIT);
        if (g->row) put_constant(s, g, s->pool_at[row] + g->row_slot * s->pool_stride[row], s->n);
    }
}

static void lane_tables(vm_state *s) {
    const vm_program *p = s->p;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t local = i % p->invocations;
        s->lane_index[i] = i;
        s->local_index[i] = local;
        s->group_of[i] = i / p->invocations < s->f->groups ? i / p->invocations : s->f->groups - 1;
        s->local[0][i] = local % p->size[0];
        s->local[1][i] = local / p->size[0] % p->size[1];
        s->local[2][i] = local / p->size[0] / p->size[1];
        s->group_base[i] = s->group_of[i] * p->workgroup_cells;
    }
}

static bool make_rows(vm_state *s) {
    uint64_t bytes = lay_out(s);
    if (bytes > UINT32_MAX) return gr_report_oom(s->d);
    s->regs = vm_state_alloc(s, (size_t)bytes + 256, 1);
    uint32_t **rows[] = {&s->mask, &s->address, &s->address2, &s->lane_index, &s->local[0], &s->local[1], &s->local[2],
                         &s->local_index, &s->group_of, &s->group_base, &s->ambiguous};
    uint32_t *block = vm_state_alloc(s, sizeof rows / sizeof *rows * s->n, sizeof *block);
    s->saved = vm_state_alloc(s, (size_t)s->f->mask_slots * s->n, sizeof *s->saved);
    s->ambiguous_saved = vm_state_alloc(s, (size_t)s->f->mask_slots * s->n, sizeof *s->saved);
    if (!s->regs || !block || !s->saved || !s->ambiguous_saved) return gr_report_oom(s->d);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) *rows[k] = block + k * s->n;
    lane_tables(s);
    put_constants(s);
    return true;
}

/* ------------------------------------------------------------------- memory */

static bool own_memory(vm_state *s, size_t cells, vm_memory *m) {
    lane_kind kind = s->p->kind;
    m->owned = true;
    m->bytes = vm_state_alloc(s, cells, 4);
    if (kind != LANE_F32) m->wide = vm_state_alloc(s, cells, 8);
    if (kind == LANE_BOUNDED || kind == LANE_DUAL) m->extra = vm_state_alloc(s, cells, 8);
    if (kind == LANE_BOUNDED) m->gross = vm_state_alloc(s, cells, 8), m->mark = vm_state_alloc(s, cells, 1);
    bool ok = m->bytes && (kind == LANE_F32 || m->wide) && (m->extra || (kind != LANE_BOUNDED && kind != LANE_DUAL)) &&
              ((m->gross && m->mark) || kind != LANE_BOUNDED);
    return ok ? true : gr_report_oom(s->d);
}

static bool bind_buffer(vm_state *s, const vm_object *o, vm_memory *m, const gr_eval_binding *b, uint32_t n) {
    const gr_eval_binding *is = NULL;
    for (uint32_t k = 0; k < n; k++)
        if (b[k].group == o->group && b[k].binding == o->binding) is = &b[k];
    if (!is || (!is->bytes && is->size))
        return gr_report(s->d, GR_D_WGSL_BINDING_MISSING, vm_place(s, o->at), "give memory for every variable that the entry point uses",
                         "no memory for \"%.*s\" at @group(%u) @binding(%u)", GR_STR_ARG(o->name), o->group, o->binding);
    if (is->size < o->minimum || (uint64_t)is->size > UINT32_MAX)
        return gr_report(s->d, GR_D_WGSL_BINDING_SIZE, vm_place(s, o->at), NULL,
                         "\"%.*s\" needs at least %llu bytes and less than 4 GiB; the binding has %llu",
                         GR_STR_ARG(o->name), (unsigned long long)o->minimum, (unsigned long long)is->size);
    bool wide = s->p->kind != LANE_F32;
    m->bytes = is->bytes;
    m->wide = wide ? is->wide : NULL;
    m->extra = wide ? is->extra : NULL;
    m->gross = s->p->kind == LANE_BOUNDED && wide ? is->gross : NULL;
    m->mark = s->p->kind == LANE_BOUNDED ? is->mark : NULL;
    m->size = is->size;
    m->shift32 = s->p->unit == 2 ? 1 : 0;
    m->shift_wide = s->p->unit == 2 && !o->has_f16 ? 1 : 0;
    return true;
}

static bool make_memory(vm_state *s, const gr_eval_binding *b, uint32_t n) {
    const vm_program *p = s->p;
    vm_memory local = {.local = true}, shared = {.shared = true}, table = {0};
    s->memory = vm_state_alloc(s, p->object.n + 1, sizeof *s->memory);
    if (!s->memory) return gr_report_oom(s->d);
    if (p->local_top) GR_TRY(own_memory(s, (size_t)p->local_top * s->n, &local));
    if (p->workgroup_cells) GR_TRY(own_memory(s, (size_t)p->workgroup_cells * s->f->groups, &shared));
    if (p->table_cells) GR_TRY(own_memory(s, p->table_cells, &table));
    bool ok = true;
    for (uint32_t k = 0; k < p->object.n; k++) {
        const vm_object *o = &p->object.v[k];
        vm_memory *m = &s->memory[k];
        if (o->space == VM_BUFFER) ok &= bind_buffer(s, o, m, b, n);
        else *m = o->space == VM_LOCAL ? local : o->space == VM_WORKGROUP ? shared : table;
        if (o->space != VM_TABLE) continue;
        memcpy(m->bytes + (size_t)o->base * 4, o->bits, (size_t)o->cells * 4);
        if (m->wide) memcpy(m->wide + o->base, o->wide, (size_t)o->cells * 8);
    }
    return ok;
}

/* --------------------------------------------------------------------- API */

gr_eval_state *gr_eval_state_new(const gr_eval_program *p, gr_diags *d, const gr_eval_binding *b, uint32_t n,
                                 const uint32_t grid[3]) {
    for (int k = 0; k < 3; k++)
        if (grid[k] > 65535)
            return gr_report(d, GR_D_WGSL_GRID_TOO_LARGE, (gr_place){.document = p->module->name}, "fold the grid over more dimensions",
                             "%u x %u x %u workgroups", grid[0], grid[1], grid[2]), NULL;
    vm_state *s = gr_heap_alloc(1, sizeof *s);
    if (!s) return gr_report_oom(d), NULL;
    s->p = p;
    s->d = d;
    memcpy(s->grid, grid, sizeof s->grid);
    s->workgroups = (uint64_t)grid[0] * grid[1] * grid[2];
    s->f = &p->form[s->workgroups > 1 || p->form_n == 1 ? 0 : 1];
    s->n = s->f->lanes;
    s->lane = gr_lane_memory(p->isa);
    bool ok = make_rows(s) && make_memory(s, b, n) && vm_link(s) && (!p->sanitize || vm_san_init(s, b, n));
    s->d = NULL;
    if (ok) return s;
    gr_eval_state_free(s);
    return NULL;
}

bool gr_eval_state_run(gr_eval_state *s, gr_diags *d, uint64_t first, uint64_t count) {
    uint64_t end = count > s->workgroups - (first < s->workgroups ? first : s->workgroups) ? s->workgroups : first + count;
    uint64_t findings = s->stats.findings;
    s->d = d;
    s->failed = false;
    if (s->san && first == 0) vm_san_dispatch(s);
    for (uint64_t at = first; at < end && !s->failed; at += s->groups) {
        s->groups = end - at < s->f->groups ? (uint32_t)(end - at) : s->f->groups;
        s->first_group = s->p->reverse ? end - (at - first) - s->groups : at;
        s->stats.workgroups += s->groups;
        s->stats.invocations += (uint64_t)s->groups * s->p->invocations;
        vm_run_batch(s);
    }
    s->d = NULL;
    return !s->failed && s->stats.findings == findings;
}

uint64_t gr_eval_state_workgroups(const gr_eval_state *s) { return s->workgroups; }
gr_eval_stats gr_eval_state_stats(const gr_eval_state *s) { return s->stats; }
void gr_eval_state_restart(gr_eval_state *s) { s->stats = (gr_eval_stats){0}; }

bool gr_eval_dispatch(const gr_eval_program *p, gr_diags *d, const gr_eval_binding *b, uint32_t n, const uint32_t grid[3],
                      gr_eval_stats *stats) {
    gr_eval_state *s = gr_eval_state_new(p, d, b, n, grid);
    if (!s) return false;
    bool ok = gr_eval_state_run(s, d, 0, gr_eval_state_workgroups(s));
    if (stats) *stats = gr_eval_state_stats(s);
    gr_eval_state_free(s);
    return ok;
}
