/* What is uniform, which scopes need masks, where registers live.
 *
 * A register is uniform when all lanes that can reach a use hold one value. A variable written
 * under control that lanes take differently is varying, unless the lanes that miss the write
 * never come back while the variable lives: lanes that leave the entry point never do, lanes
 * that return from a function do not read its variables. So a guard `if (i >= n) { return; }`
 * leaves loop counters below it uniform. */
#include "wgsl/vm.h"

typedef struct analysis {
    const vm_program *p;
    vm_form *f;
    bool single; /* one lane does everything: what would vary is uniform */
    bool changed;
} analysis;

static void set_flag(analysis *z, bool *flag, bool value) {
    if (value && !*flag) *flag = z->changed = true;
}

/* Are lanes missing at `from` that may read something declared in `home` later? */
static bool divergent(const vm_form *f, uint32_t from, uint32_t home) {
    for (uint32_t s = from; s != home && s != 0; s = f->scope[s].parent) {
        const vm_scope *c = &f->scope[s];
        if (c->kind == VM_SCOPE_IF && c->masked) return true;
        if (c->kind != VM_SCOPE_IF && c->diverged > f->scope[home].depth) return true;
    }
    return f->scope[home].kind == VM_SCOPE_LOOP && f->scope[home].continue_masked;
}

/* Do lanes leave `target` from `from` while others stay or have left? */
static bool leaves_apart(const vm_form *f, uint32_t from, uint32_t target) {
    for (uint32_t s = from; s != target; s = f->scope[s].parent)
        if (f->scope[s].masked) return true;
    return f->scope[target].masked;
}

static void visit_leave(analysis *z, const vm_instr *i) {
    vm_form *f = z->f;
    bool apart = leaves_apart(f, i->parent, i->scope) || (i->op == VM_LEAVE_IF && f->reg[i->a].varying);
    if (!apart || i->scope == 0) return;
    vm_scope *t = &f->scope[i->scope];
    set_flag(z, &t->masked, true);
    if (i->op == VM_CONTINUE) set_flag(z, &t->continue_masked, true);
    uint32_t depth = t->depth + (i->op == VM_CONTINUE);
    for (uint32_t s = i->parent;; s = f->scope[s].parent) {
        if (f->scope[s].diverged < depth) f->scope[s].diverged = depth, z->changed = true;
        if (s == i->scope) break;
    }
}

/* Results that may carry an ambiguity mark must be rows in the bounded mode. */
static bool may_mark(uint32_t op) {
    switch (op) {
        case LANE_EQ_F: case LANE_NE_F: case LANE_LT_F: case LANE_LE_F: case LANE_F2S: case LANE_F2U: case LANE_FLOOR:
        case LANE_CEIL: case LANE_TRUNC: case LANE_ROUND: case LANE_FRACT: case LANE_SIGN_F: case LANE_MOD_F:
        case LANE_FREXP_E: case LANE_FREXP_M: case LANE_F2BITS: case LANE_F2H: case LANE_SNORM8: case LANE_UNORM8:
        case LANE_SNORM16: case LANE_UNORM16: return true;
        default: return false;
    }
}

static bool load_varies(const analysis *z, const vm_instr *i) {
    const vm_object *o = &z->p->object.v[i->object];
    bool plain = o->space == VM_TABLE || (o->space == VM_BUFFER && !o->storage);
    if (z->p->kind == LANE_BOUNDED && !plain) return true;
    if (z->p->sanitize && !plain) return true;
    if (z->single) return false;
    return o->space == VM_LOCAL || (o->space == VM_WORKGROUP && z->f->groups > 1);
}

static bool result_varies(const analysis *z, const vm_instr *i) {
    if (i->op == VM_ATOMIC || i->op == VM_SUBGROUP) return true;
    if (i->op >= VM_LOAD_I && i->op <= VM_LOAD_H) return load_varies(z, i);
    if (z->p->kind == LANE_BOUNDED && may_mark(i->op)) return true;
    return false;
}

static void visit(analysis *z, const vm_instr *i) {
    vm_form *f = z->f;
    vm_reg src[4];
    vm_sources(i, src);
    bool varying = false;
    for (int k = 0; k < 4; k++) varying |= f->reg[src[k]].varying;
    switch (i->op) {
        case VM_IF: set_flag(z, &f->scope[i->scope].masked, varying); break;
        case VM_LEAVE: case VM_LEAVE_IF: case VM_CONTINUE: visit_leave(z, i); break;
        case VM_SET_I: case VM_SET_F:
            set_flag(z, &f->reg[i->d].varying, varying || divergent(f, i->parent, f->reg[i->d].scope));
            break;
        default:
            if (i->d) set_flag(z, &f->reg[i->d].varying, varying || result_varies(z, i));
    }
}

static bool input_varies(const vm_program *p, bool packed, uint32_t in) {
    switch (in) {
        case VM_IN_GRID_X: case VM_IN_GRID_Y: case VM_IN_GRID_Z: case VM_IN_SUBGROUPS: return false;
        case VM_IN_GROUP_X: case VM_IN_GROUP_Y: case VM_IN_GROUP_Z: return packed;
        default: return packed || p->invocations > 1;
    }
}

static bool is_control(uint32_t op) { return op >= VM_IF && op <= VM_CONTINUE; }

static bool touches(const vm_instr *i, vm_reg r) {
    return i->d == r || i->a == r || i->b == r || i->c == r || i->e == r;
}

/* The instruction in the same straight run that computes set->a, when nothing between them
 * touches the variable; NULL when there is none. */
static vm_instr *definition(vm_form *f, uint32_t k) {
    const vm_instr *set = &f->code[k];
    for (uint32_t back = 1; back <= 64 && back <= k; back++) {
        vm_instr *i = &f->code[k - back];
        if (is_control(i->op)) return NULL;
        if (i->d == set->a) return vm_is_temp_op(i->op) ? i : NULL;
        if (i->op && touches(i, set->d)) return NULL;
    }
    return NULL;
}

/* A value computed only to be put into a variable is computed there. */
static void forward(vm_form *f) {
    for (uint32_t k = 1; k < f->code_n; k++) {
        vm_instr *set = &f->code[k];
        if (set->op != VM_SET_I && set->op != VM_SET_F) continue;
        const vm_register *from = &f->reg[set->a], *to = &f->reg[set->d];
        if (from->variable || from->constant || from->input || from->uses != 1) continue;
        if (from->varying != to->varying || divergent(f, set->parent, to->scope)) continue;
        vm_instr *def = definition(f, k);
        if (!def) continue;
        def->d = set->d;
        set->op = LANE_NONE;
        set->a = set->d = 0;
    }
}

/* The loops between an occurrence and what it must outlive: a variable lives through every loop
 * inside its own scope, a temporary through every loop that begins after it. */
static void extend(const vm_form *f, vm_register *r, uint32_t k, uint32_t parent) {
    uint32_t first = k, last = k;
    for (uint32_t s = parent; s != 0; s = f->scope[s].parent) {
        const vm_scope *c = &f->scope[s];
        if (r->variable && s == r->scope) break;
        if (c->kind != VM_SCOPE_LOOP || (!r->variable && r->first >= c->begin)) continue;
        if (r->variable) first = c->begin;
        last = c->end;
    }
    if (r->first > first) r->first = first;
    if (r->last < last) r->last = last;
}

/* First and last instruction at which each register holds something. */
static void intervals(vm_form *f) {
    for (uint32_t r = 0; r < f->reg_n; r++) f->reg[r].first = UINT32_MAX, f->reg[r].last = f->reg[r].uses = 0;
    for (uint32_t k = 0; k < f->code_n; k++) {
        const vm_instr *i = &f->code[k];
        if (!i->op) continue;
        vm_reg used[5] = {i->d};
        vm_sources(i, used + 1);
        for (int u = 0; u < 5; u++) {
            vm_register *r = &f->reg[used[u]];
            if (!used[u]) continue;
            if (u) r->uses++;
            if (r->first == UINT32_MAX) r->first = r->input ? 0 : k;
            extend(f, r, k, i->parent);
        }
    }
}

static void slots_of_scopes(vm_form *f) {
    f->mask_slots = 1; /* 0: the lanes that have not left the entry point */
    for (uint32_t s = 1; s < f->scope_n; s++) {
        vm_scope *c = &f->scope[s], *up = &f->scope[c->parent];
        c->slot = c->parent ? up->slot + up->slots : 1;
        c->slots = !c->masked ? 0 : c->kind == VM_SCOPE_LOOP ? 2 : 1;
        if (c->slot + c->slots > f->mask_slots) f->mask_slots = c->slot + c->slots;
    }
}

static bool copy_form(const vm_program *p, vm_form *f) {
    f->code_n = p->code.n, f->reg_n = p->reg.n, f->scope_n = p->scope.n;
    f->code = GR_NEW_N(p->arena, vm_instr, f->code_n);
    f->reg = GR_NEW_N(p->arena, vm_register, f->reg_n);
    f->scope = GR_NEW_N(p->arena, vm_scope, f->scope_n);
    if (!f->code || !f->reg || !f->scope) return gr_report_oom(p->d);
    memcpy(f->code, p->code.v, sizeof *f->code * f->code_n);
    memcpy(f->reg, p->reg.v, sizeof *f->reg * f->reg_n);
    memcpy(f->scope, p->scope.v, sizeof *f->scope * f->scope_n);
    return true;
}

/* Writes of variables (and private memory, as object | 1 << 31) that outlive a masked scope. */
static bool list_sets(const vm_program *p, vm_form *f) {
    for (uint32_t s = 1; s < f->scope_n; s++) {
        vm_scope *c = &f->scope[s];
        if (!c->masked) continue;
        GR_VEC(uint32_t) list = {0};
        for (uint32_t k = c->begin; k < c->end; k++) {
            const vm_instr *i = &f->code[k];
            bool set = (i->op == VM_SET_I || i->op == VM_SET_F) && f->reg[i->d].first < c->begin && f->reg[i->d].varying;
            bool store = i->op >= VM_STORE_I && i->op <= VM_STORE_H && p->object.v[i->object].space == VM_LOCAL;
            if (!set && !store) continue;
            uint32_t *slot = GR_PUSH(p->arena, &list);
            if (!slot) return gr_report_oom(p->d);
            *slot = set ? i->d : i->object | 1u << 31;
        }
        c->sets = list.v, c->sets_n = list.n;
    }
    return true;
}

enum { LANES_WANTED = 256 };

bool vm_analyse(vm_program *p, bool packed) {
    vm_form *f = &p->form[p->form_n];
    GR_TRY(copy_form(p, f));
    f->groups = packed && p->invocations < LANES_WANTED ? LANES_WANTED / p->invocations : 1;
    f->lanes = (f->groups * p->invocations + LANE_UNIT - 1) / LANE_UNIT * LANE_UNIT;
    analysis z = {p, f, f->groups == 1 && p->invocations == 1, true};
    for (uint32_t r = 1; r < f->reg_n; r++)
        f->reg[r].varying = f->reg[r].input && input_varies(p, f->groups > 1, f->reg[r].input);
    while (z.changed) {
        z.changed = false;
        for (uint32_t k = 0; k < f->code_n; k++) visit(&z, &f->code[k]);
    }
    intervals(f);
    forward(f);
    intervals(f);
    slots_of_scopes(f);
    if (p->kind == LANE_BOUNDED) GR_TRY(list_sets(p, f));
    GR_TRY(vm_allocate(p, f));
    p->form_n++;
    return true;
}

bool vm_write_masked(const vm_form *f, const vm_instr *set) {
    return divergent(f, set->parent, f->reg[set->d].scope);
}

bool vm_leave_masked(const vm_form *f, const vm_instr *i) {
    return leaves_apart(f, i->parent, i->scope) || (i->op == VM_LEAVE_IF && f->reg[i->a].varying);
}
