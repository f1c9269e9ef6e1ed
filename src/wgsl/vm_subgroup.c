/* Subgroup operations: a subgroup is p->subgroup consecutive invocations of a workgroup by
 * local index; inactive lanes take no part. Reductions and scans go in the order of lanes.
 * Reading an inactive or absent lane gives the reader's own value. */
#include "wgsl/vm_run.h"

typedef struct group {
    uint32_t first, end; /* lanes of the batch */
} group;

static group group_of(const vm_state *s, uint32_t lane) {
    uint32_t start = lane - s->local_index[lane], local = s->local_index[lane] / s->p->subgroup * s->p->subgroup;
    uint32_t left = s->p->invocations - local, size = left < s->p->subgroup ? left : s->p->subgroup;
    return (group){start + local, start + local + size};
}

/* One scalar with its planes. */
typedef struct cell {
    uint32_t u;
    double v, extra, gross;
    uint32_t mark;
} cell;

typedef struct rows {
    const vm_state *s;
    char cls;
} rows;

static cell get(const rows *r, uint32_t at, uint32_t lane) {
    const vm_state *s = r->s;
    const uint32_t *u = vm_at(s, at);
    const double *v = vm_at(s, at);
    cell c = {0};
    if (r->cls == 'I') {
        c.u = u[lane];
        if (s->p->kind == LANE_BOUNDED) c.mark = u[s->n + lane];
    } else if (s->p->kind == LANE_F32) {
        c.u = u[lane];
    } else {
        c.v = v[lane];
        if (s->p->kind != LANE_F64) c.extra = v[s->n + lane];
        if (s->p->kind != LANE_BOUNDED) return c;
        c.gross = v[(size_t)2 * s->n + lane];
        c.mark = ((const uint32_t *)(const void *)(v + (size_t)3 * s->n))[lane];
    }
    return c;
}

static void put(const rows *r, uint32_t at, uint32_t lane, cell c) {
    const vm_state *s = r->s;
    uint32_t *u = vm_at(s, at);
    double *v = vm_at(s, at);
    if (r->cls == 'I') {
        u[lane] = c.u;
        if (s->p->kind == LANE_BOUNDED) u[s->n + lane] = c.mark;
    } else if (s->p->kind == LANE_F32) {
        u[lane] = c.u;
    } else {
        v[lane] = c.v;
        if (s->p->kind != LANE_F64) v[s->n + lane] = c.extra;
        if (s->p->kind != LANE_BOUNDED) return;
        v[(size_t)2 * s->n + lane] = c.gross;
        ((uint32_t *)(void *)(v + (size_t)3 * s->n))[lane] = c.mark;
    }
}

/* The lane operation that a reduction folds with. */
static uint32_t fold_op(uint8_t sub, uint32_t num) {
    bool f = num == VM_NUM_F || num == VM_NUM_H;
    switch (sub) {
        case VM_SG_ADD: case VM_SG_EXCLUSIVE_ADD: case VM_SG_INCLUSIVE_ADD: return f ? LANE_ADD_F : LANE_ADD_I;
        case VM_SG_MUL: case VM_SG_EXCLUSIVE_MUL: case VM_SG_INCLUSIVE_MUL: return f ? LANE_MUL_F : LANE_MUL_I;
        case VM_SG_MIN: return f ? LANE_MIN_F : num == VM_NUM_S ? LANE_MIN_S : LANE_MIN_U;
        case VM_SG_MAX: return f ? LANE_MAX_F : num == VM_NUM_S ? LANE_MAX_S : LANE_MAX_U;
        case VM_SG_AND: case VM_SG_ALL: return LANE_AND;
        case VM_SG_XOR: return LANE_XOR;
        default: return LANE_OR;
    }
}

/* One lane operation on single cells, through rows of LANE_UNIT lanes. */
static cell apply(const vm_state *s, uint32_t op, char cls, cell x, cell y) {
    enum { ROOM = LANE_UNIT * 5 };
    _Alignas(64) double buffer[3][ROOM];
    memset(buffer, 0, sizeof buffer);
    vm_state row = {.p = s->p, .n = LANE_UNIT, .regs = (uint8_t *)buffer};
    const rows r = {&row, cls};
    put(&r, 0, 0, x);
    put(&r, sizeof buffer[0], 0, y);
    if (s->p->kind == LANE_BOUNDED)
        gr_lane_bounded(op)(s->p->table, buffer[2], buffer[0], buffer[1], buffer[1], LANE_UNIT);
    else if (s->p->kind == LANE_DUAL) gr_lane_dual(op)(buffer[2], buffer[0], buffer[1], buffer[1], LANE_UNIT);
    else gr_lane_row(s->p->isa, s->p->kind, op)->form[LANE_VV](buffer[2], buffer[0], buffer[1], buffer[1], LANE_UNIT);
    return get(&r, 2 * sizeof buffer[0], 0);
}

static cell fold_two(const vm_state *s, const vm_code *k, cell x, cell y) {
    cell c = apply(s, fold_op(k->sub, k->imm), k->cls, x, y);
    return k->imm == VM_NUM_H && (s->p->kind == LANE_F32 || s->p->kind == LANE_BOUNDED) ? apply(s, LANE_ROUND16, 'F', c, c) : c;
}

static cell identity(const vm_code *k) {
    bool mul = k->sub == VM_SG_EXCLUSIVE_MUL, f = k->cls == 'F';
    cell c = {.u = mul ? (f ? 0x3F800000u : 1u) : 0, .v = mul ? 1 : 0, .gross = mul ? 1 : 0};
    return c;
}

static void reduce(vm_state *s, const vm_code *k, const rows *r, group g) {
    cell total = {0};
    bool any = false;
    for (uint32_t i = g.first; i < g.end; i++) {
        if (!s->mask[i]) continue;
        cell c = get(r, k->a, i);
        total = any ? fold_two(s, k, total, c) : c;
        any = true;
    }
    for (uint32_t i = g.first; i < g.end; i++) put(r, k->d, i, total);
}

static void scan(vm_state *s, const vm_code *k, const rows *r, group g, bool inclusive) {
    cell total = identity(k);
    bool any = false;
    for (uint32_t i = g.first; i < g.end; i++) {
        if (!s->mask[i]) continue;
        cell c = get(r, k->a, i), next = any ? fold_two(s, k, total, c) : c;
        put(r, k->d, i, inclusive ? next : total);
        total = next;
        any = true;
    }
}

static uint32_t first_active(const vm_state *s, group g) {
    for (uint32_t i = g.first; i < g.end; i++)
        if (s->mask[i]) return i;
    return g.first;
}

static void ballot(vm_state *s, const vm_code *k, group g) {
    const uint32_t *v = vm_at(s, k->a);
    uint32_t *d = vm_at(s, k->d), bits = 0;
    for (uint32_t i = g.first; i < g.end; i++) {
        uint32_t at = i - g.first;
        if (s->mask[i] && v[i] && at / 32 == k->imm) bits |= 1u << (at % 32);
    }
    for (uint32_t i = g.first; i < g.end; i++) d[i] = bits;
}

static uint32_t source_lane(const vm_state *s, const vm_code *k, group g, uint32_t i) {
    const uint32_t *b = vm_at(s, k->b);
    uint32_t at = i - g.first, from = at;
    switch (k->sub) {
        case VM_SG_FIRST: return first_active(s, g);
        case VM_SG_BROADCAST: case VM_SG_SHUFFLE: from = b[i]; break;
        case VM_SG_XOR_LANE: from = at ^ b[i]; break;
        case VM_SG_UP: from = at - b[i]; break;
        case VM_SG_DOWN: from = at + b[i]; break;
        case VM_SG_QUAD: from = (at & ~3u) + (b[i] & 3); break;
        case VM_SG_QUAD_X: from = at ^ 1; break;
        case VM_SG_QUAD_Y: from = at ^ 2; break;
        default: from = at ^ 3; break;
    }
    return from < g.end - g.first && s->mask[g.first + from] ? g.first + from : i;
}

static void move(vm_state *s, const vm_code *k, const rows *r, group g) {
    for (uint32_t i = g.first; i < g.end; i++)
        if (s->mask[i]) put(r, k->d, i, get(r, k->a, source_lane(s, k, g, i)));
}

static void run_group(vm_state *s, const vm_code *k, const rows *r, group g) {
    switch (k->sub) {
        case VM_SG_EXCLUSIVE_ADD: case VM_SG_EXCLUSIVE_MUL: scan(s, k, r, g, false); break;
        case VM_SG_INCLUSIVE_ADD: case VM_SG_INCLUSIVE_MUL: scan(s, k, r, g, true); break;
        case VM_SG_BALLOT: ballot(s, k, g); break;
        case VM_SG_ELECT:
            for (uint32_t i = g.first, one = first_active(s, g); i < g.end; i++)
                put(r, k->d, i, (cell){.u = i == one ? 0xFFFFFFFFu : 0});
            break;
        default:
            if (k->sub >= VM_SG_BROADCAST) move(s, k, r, g);
            else reduce(s, k, r, g);
    }
}

void vm_subgroup_run(vm_state *s, const vm_code *k) {
    const rows r = {s, k->cls};
    for (uint32_t lane = 0; lane < s->groups * s->p->invocations;) {
        group g = group_of(s, lane);
        run_group(s, k, &r, g);
        lane = g.end;
    }
}
