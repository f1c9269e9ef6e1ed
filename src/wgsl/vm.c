#include "wgsl/vm.h"

bool vm_fail(vm_program *p, const char *what) {
    if (p->failed) return false;
    p->failed = true;
    if (!what) return gr_report_oom(p->d);
    return gr_report(p->d, GR_D_WGSL_EVAL_TOO_LARGE, gr_wgsl_place(p->module, p->at),
                     "make the functions, loops or private arrays smaller: every call is inlined", "%s", what);
}

bool vm_init(vm_program *p) {
    vm_register *none = GR_PUSH(p->arena, &p->reg);
    if (!none) return vm_fail(p, NULL);
    none->cls = 'I';
    vm_scope *s = GR_PUSH(p->arena, &p->scope);
    if (!s) return vm_fail(p, NULL);
    s->kind = VM_SCOPE_ROOT;
    return true;
}

static vm_reg new_reg(vm_program *p, char cls) {
    if (p->reg.n >= VM_MAX_CODE) return vm_fail(p, "the kernel needs more than 1,048,576 registers"), 0;
    vm_register *r = GR_PUSH(p->arena, &p->reg);
    if (!r) return vm_fail(p, NULL), 0;
    r->cls = cls;
    r->scope = p->current;
    return p->reg.n - 1;
}

vm_reg vm_temp(vm_program *p, char cls) { return new_reg(p, cls); }

vm_reg vm_var(vm_program *p, char cls) {
    vm_reg r = new_reg(p, cls);
    if (r) p->reg.v[r].variable = true;
    return r;
}

static uint32_t constant_hash(char cls, uint64_t bits) {
    uint64_t h = (bits ^ (uint64_t)cls << 56) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 32);
}

static bool grow_constants(vm_program *p) {
    uint32_t cap = p->constants_cap ? p->constants_cap * 2 : 64;
    uint32_t *slot = GR_NEW_N(p->arena, uint32_t, cap);
    if (!slot) return vm_fail(p, NULL);
    for (uint32_t i = 0; i < p->constants_cap; i++) {
        uint32_t r = p->constants[i];
        if (!r) continue;
        uint64_t bits;
        memcpy(&bits, &p->reg.v[r].value, sizeof bits);
        uint32_t at = constant_hash(p->reg.v[r].cls, p->reg.v[r].cls == 'I' ? p->reg.v[r].bits : bits) & (cap - 1);
        while (slot[at]) at = (at + 1) & (cap - 1);
        slot[at] = r;
    }
    p->constants = slot;
    p->constants_cap = cap;
    return true;
}

static vm_reg constant(vm_program *p, char cls, uint32_t bits, double value) {
    if (p->constants_n * 2 >= p->constants_cap && !grow_constants(p)) return 0;
    uint64_t key = bits;
    if (cls == 'F') memcpy(&key, &value, sizeof key);
    uint32_t at = constant_hash(cls, key) & (p->constants_cap - 1);
    for (; p->constants[at]; at = (at + 1) & (p->constants_cap - 1)) {
        const vm_register *r = &p->reg.v[p->constants[at]];
        if (r->cls == cls && r->bits == bits && memcmp(&r->value, &value, sizeof value) == 0) return p->constants[at];
    }
    vm_reg r = new_reg(p, cls);
    if (!r) return 0;
    p->reg.v[r].constant = true;
    p->reg.v[r].bits = bits;
    p->reg.v[r].value = value;
    p->constants[at] = r;
    p->constants_n++;
    return r;
}

vm_reg vm_int(vm_program *p, uint32_t v) { return constant(p, 'I', v, 0); }

vm_reg vm_float(vm_program *p, double v) {
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return constant(p, 'F', bits, v);
}

bool vm_is_const(const vm_program *p, vm_reg r, uint32_t *bits) {
    if (!r || !p->reg.v[r].constant || p->reg.v[r].cls != 'I') return false;
    *bits = p->reg.v[r].bits;
    return true;
}

vm_reg vm_read_input(vm_program *p, vm_input in) {
    if (in >= VM_IN_LOCAL_X && in <= VM_IN_LOCAL_Z && p->size[in - VM_IN_LOCAL_X] == 1) return vm_int(p, 0);
    if (in >= VM_IN_GLOBAL_X && in <= VM_IN_GLOBAL_Z && p->size[in - VM_IN_GLOBAL_X] == 1)
        in = (vm_input)(VM_IN_GROUP_X + (in - VM_IN_GLOBAL_X));
    if (in == VM_IN_INDEX && p->invocations == 1) return vm_int(p, 0);
    if (in == VM_IN_SUBGROUP_SIZE) return vm_int(p, p->subgroup);
    if (!p->input[in]) {
        vm_reg r = new_reg(p, 'I');
        if (!r) return 0;
        p->reg.v[r].input = (uint8_t)in;
        p->input[in] = r;
    }
    return p->input[in];
}

vm_instr *vm_emit(vm_program *p, uint32_t op) {
    if (p->failed) return NULL;
    if (p->code.n >= VM_MAX_CODE) return vm_fail(p, "the kernel needs more than 1,048,576 lane instructions"), NULL;
    vm_instr *i = GR_PUSH(p->arena, &p->code);
    if (!i) return vm_fail(p, NULL), NULL;
    i->op = (uint16_t)op;
    i->at = p->at;
    i->parent = p->current;
    return i;
}

vm_reg vm_lane(vm_program *p, uint32_t op, vm_reg a, vm_reg b, vm_reg c) {
    vm_reg d = vm_temp(p, gr_lane_info(op)->d);
    vm_instr *i = d ? vm_emit(p, op) : NULL;
    if (!i) return 0;
    i->d = d, i->a = a, i->b = b, i->c = c;
    return d;
}

void vm_set(vm_program *p, vm_reg var, vm_reg value) {
    if (!var || !value || var == value) return;
    vm_instr *i = vm_emit(p, p->reg.v[var].cls == 'F' ? VM_SET_F : VM_SET_I);
    if (i) i->d = var, i->a = value;
}

vm_reg vm_copy(vm_program *p, vm_reg value) {
    if (!value || !p->reg.v[value].variable) return value; /* nothing can change it */
    return vm_lane(p, p->reg.v[value].cls == 'F' ? LANE_MOV_F : LANE_MOV_I, value, 0, 0);
}

uint32_t vm_open(vm_program *p, uint32_t op, vm_reg cond) {
    vm_scope *s = GR_PUSH(p->arena, &p->scope);
    if (!s) return vm_fail(p, NULL), 0;
    uint32_t id = p->scope.n - 1;
    s->kind = op == VM_IF ? VM_SCOPE_IF : op == VM_LOOP ? VM_SCOPE_LOOP : VM_SCOPE_REGION;
    s->parent = p->current;
    s->depth = p->scope.v[p->current].depth + 1;
    vm_instr *i = vm_emit(p, op);
    if (!i) return 0;
    s->begin = p->code.n - 1;
    i->scope = id;
    i->a = cond;
    p->current = id;
    return id;
}

void vm_middle(vm_program *p, uint32_t op) {
    vm_scope *s = &p->scope.v[p->current];
    vm_instr *i = vm_emit(p, op);
    if (!i) return;
    i->scope = p->current;
    if (op == VM_ELSE) i->a = p->code.v[s->begin].a;
    s->middle = p->code.n - 1;
}

void vm_close(vm_program *p) {
    vm_scope *s = &p->scope.v[p->current];
    uint32_t op = s->kind == VM_SCOPE_IF ? VM_ENDIF : s->kind == VM_SCOPE_LOOP ? VM_ENDLOOP : VM_ENDREGION;
    vm_instr *i = vm_emit(p, op);
    if (!i) return;
    i->scope = p->current;
    s->end = p->code.n - 1;
    p->current = s->parent;
}

static void leave(vm_program *p, uint32_t op, uint32_t scope, vm_reg cond, bool negate) {
    vm_instr *i = vm_emit(p, op);
    if (!i) return;
    i->scope = scope;
    i->a = cond;
    i->sub = negate;
}
void vm_leave(vm_program *p, uint32_t scope) { leave(p, VM_LEAVE, scope, 0, false); }
void vm_leave_if(vm_program *p, uint32_t loop, vm_reg cond, bool negate) { leave(p, VM_LEAVE_IF, loop, cond, negate); }
void vm_continue(vm_program *p, uint32_t loop) { leave(p, VM_CONTINUE, loop, 0, false); }

bool vm_is_temp_op(uint32_t op) {
    return (op > LANE_NONE && op < LANE_COUNT) || op == VM_LOAD_I || op == VM_LOAD_F || op == VM_LOAD_H;
}

const char *vm_op_name(uint32_t op) {
    static const char *const names[VM_OP_COUNT - VM_FIRST] = {
        [VM_SET_I - VM_FIRST] = "set_i", [VM_SET_F - VM_FIRST] = "set_f", [VM_IF - VM_FIRST] = "if",
        [VM_ELSE - VM_FIRST] = "else", [VM_ENDIF - VM_FIRST] = "endif", [VM_LOOP - VM_FIRST] = "loop",
        [VM_CONTINUING - VM_FIRST] = "continuing", [VM_ENDLOOP - VM_FIRST] = "endloop",
        [VM_REGION - VM_FIRST] = "region", [VM_ENDREGION - VM_FIRST] = "endregion", [VM_LEAVE - VM_FIRST] = "leave",
        [VM_LEAVE_IF - VM_FIRST] = "leave_if", [VM_CONTINUE - VM_FIRST] = "continue", [VM_LOAD_I - VM_FIRST] = "load_i",
        [VM_LOAD_F - VM_FIRST] = "load_f", [VM_LOAD_H - VM_FIRST] = "load_h", [VM_STORE_I - VM_FIRST] = "store_i",
        [VM_STORE_F - VM_FIRST] = "store_f", [VM_STORE_H - VM_FIRST] = "store_h", [VM_ZERO - VM_FIRST] = "zero",
        [VM_ATOMIC - VM_FIRST] = "atomic", [VM_BARRIER - VM_FIRST] = "barrier", [VM_LENGTH - VM_FIRST] = "length",
        [VM_SUBGROUP - VM_FIRST] = "subgroup", [VM_CHECK - VM_FIRST] = "check", [VM_TRACE - VM_FIRST] = "trace",
        [VM_END - VM_FIRST] = "end",
    };
    if (op < LANE_COUNT) return op ? gr_lane_info(op)->name : "nop";
    return op > VM_FIRST && op < VM_OP_COUNT ? names[op - VM_FIRST] : "?";
}

/* ---------------------------------------------------------------- printing */

static void print_reg(gr_buf *out, const vm_form *f, vm_reg r) {
    const vm_register *g = &f->reg[r];
    if (g->constant && g->cls == 'I') gr_buf_printf(out, " %u", g->bits);
    else if (g->constant) gr_buf_putc(out, ' '), gr_buf_f64(out, g->value);
    else gr_buf_printf(out, " %s%c%u", g->varying ? "%" : "$", g->variable ? 'v' : g->input ? 'i' : 't', r);
}

static void print_instr(gr_buf *out, const vm_program *p, const vm_form *f, const vm_instr *i) {
    gr_buf_printf(out, "%s", vm_op_name(i->op));
    if (i->sub) gr_buf_printf(out, ".%u", i->sub);
    if (i->d) print_reg(out, f, i->d), gr_buf_puts(out, " =");
    vm_reg src[4];
    vm_sources(i, src);
    for (int k = 0; k < 4; k++)
        if (src[k]) print_reg(out, f, src[k]);
    if (i->object < p->object.n && ((i->op >= VM_LOAD_I && i->op <= VM_ATOMIC) || i->op == VM_LENGTH || i->op == VM_CHECK))
        gr_buf_printf(out, " @%.*s limit %u stride %u offset %u", GR_STR_ARG(p->object.v[i->object].name), i->limit,
                      i->stride, i->offset);
    if (i->op >= VM_IF && i->op <= VM_CONTINUE)
        gr_buf_printf(out, " s%u%s", i->scope, f->scope[i->scope].masked ? " masked" : "");
    gr_buf_putc(out, '\n');
}

void vm_print(gr_buf *out, const vm_program *p, const vm_form *f) {
    uint32_t depth = 0;
    gr_buf_printf(out, "form lanes %u groups %u rows %u+%u ones %u+%u masks %u\n", f->lanes, f->groups,
                  f->pool[VM_POOL_ROW_I], f->pool[VM_POOL_ROW_F], f->pool[VM_POOL_ONE_I], f->pool[VM_POOL_ONE_F],
                  f->mask_slots);
    for (uint32_t k = 0; k < f->code_n; k++) {
        const vm_instr *i = &f->code[k];
        if (!i->op) continue;
        bool closes = i->op == VM_ENDIF || i->op == VM_ENDLOOP || i->op == VM_ENDREGION;
        bool turns = i->op == VM_ELSE || i->op == VM_CONTINUING;
        if (closes) depth--;
        for (uint32_t t = turns ? 1 : 0; t < depth + 1; t++) gr_buf_puts(out, "  ");
        print_instr(out, p, f, i);
        if (i->op == VM_IF || i->op == VM_LOOP || i->op == VM_REGION) depth++;
    }
}
