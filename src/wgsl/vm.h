/* vm.h: the lane program between the syntax tree and the lane loops.
 *
 * eval_*.c builds a program with the vm_emit functions; vm_analyse decides what is uniform,
 * which scopes need masks and where registers live; a state links it for a number of lanes.
 *
 * Registers are virtual rows of one scalar a lane. A temporary is written by one instruction
 * and never masked. A variable (vm_var) is written by VM_SET_*, masked unless every lane that
 * may read it later is active. Control is structured: every IF, LOOP and REGION is a scope;
 * leaving instructions name the scope they leave. Invariants:
 *   V1  a temporary's definition dominates its uses in text order;
 *   V2  every memory address is in range for every lane, active or not: an index is clamped
 *       by its `limit`, an object is at least as large as limits and offsets reach;
 *   V3  a uniform register holds one value for all lanes that can reach the instruction. */
#ifndef GR_WGSL_VM_H
#define GR_WGSL_VM_H

#include "base/diag.h"
#include "wgsl/eval.h"
#include "wgsl/lane.h"

typedef uint32_t vm_reg; /* 0: none */

typedef enum vm_op { /* lane_op values come first */
    VM_FIRST = LANE_COUNT,
    VM_SET_I, /* variable d = a */
    VM_SET_F,
    VM_IF,    /* a: condition */
    VM_ELSE,
    VM_ENDIF,
    VM_LOOP,
    VM_CONTINUING, /* every loop has one */
    VM_ENDLOOP,
    VM_REGION, /* an inlined function or a switch: can be left early */
    VM_ENDREGION,
    VM_LEAVE,    /* scope: break or return */
    VM_LEAVE_IF, /* scope, a; sub 1: leave where a is false. Only directly inside the loop `scope` */
    VM_CONTINUE, /* scope: a loop */
    VM_LOAD_I,   /* d = object[min(a, limit) * stride + b + offset]; see vm_instr */
    VM_LOAD_F,
    VM_LOAD_H,   /* f16 of a buffer */
    VM_STORE_I,  /* object[...] = c */
    VM_STORE_F,
    VM_STORE_H,
    VM_ZERO,     /* object (LOCAL) = 0 */
    VM_ATOMIC,   /* sub: vm_atomic; c: value, d: the old value; e: comparand of CAS */
    VM_BARRIER,  /* sub: 1 workgroup, 2 storage, 4 workgroupUniformLoad (before its load) */
    VM_LENGTH,   /* d = elements of the runtime-sized array at `offset` bytes, stride in bytes, of object */
    VM_SUBGROUP, /* sub: vm_subgroup; a: value, b: lane or delta; d; imm: lane class */
    VM_CHECK,    /* sanitizer: a < limit (+ e) for active lanes */
    VM_TRACE,    /* a: a row of bools into the trace hash */
    VM_END,
    VM_OP_COUNT
} vm_op;

typedef enum vm_atomic {
    VM_ATOMIC_NONE = 0, VM_ATOMIC_LOAD, VM_ATOMIC_STORE, VM_ATOMIC_ADD, VM_ATOMIC_SUB, VM_ATOMIC_MAX_S, VM_ATOMIC_MAX_U,
    VM_ATOMIC_MIN_S, VM_ATOMIC_MIN_U, VM_ATOMIC_AND, VM_ATOMIC_OR, VM_ATOMIC_XOR, VM_ATOMIC_EXCHANGE, VM_ATOMIC_CAS,
} vm_atomic;

typedef enum vm_subgroup {
    VM_SG_NONE = 0, VM_SG_ADD, VM_SG_EXCLUSIVE_ADD, VM_SG_INCLUSIVE_ADD, VM_SG_MUL, VM_SG_EXCLUSIVE_MUL,
    VM_SG_INCLUSIVE_MUL, VM_SG_MIN, VM_SG_MAX, VM_SG_AND, VM_SG_OR, VM_SG_XOR, VM_SG_ALL, VM_SG_ANY, VM_SG_ELECT,
    VM_SG_BALLOT, /* imm: which word of the four */
    VM_SG_BROADCAST, VM_SG_FIRST, VM_SG_SHUFFLE, VM_SG_XOR_LANE, VM_SG_UP, VM_SG_DOWN,
    VM_SG_QUAD, VM_SG_QUAD_X, VM_SG_QUAD_Y, VM_SG_QUAD_DIAGONAL,
} vm_subgroup;
/* Numeric class of a subgroup value. */
enum { VM_NUM_U = 1, VM_NUM_S, VM_NUM_F, VM_NUM_H };

typedef struct vm_instr {
    uint16_t op;
    uint8_t sub;
    uint8_t exact;    /* LOAD, STORE: the address needs no clamp (limit is not read) */
    vm_reg d, a, b, c, e;
    uint32_t object;  /* memory operations */
    uint32_t scope;   /* scope operations */
    uint32_t limit;   /* greatest index; e, where set, holds it instead (a uniform register) */
    uint32_t stride, offset; /* in units of the object */
    uint32_t imm;
    uint32_t at;      /* place in the module's text */
    uint32_t parent;  /* scope that holds the instruction */
} vm_instr;

typedef enum vm_space { VM_NO_SPACE = 0, VM_LOCAL, VM_WORKGROUP, VM_TABLE, VM_BUFFER } vm_space;

/* Memory. LOCAL (one a lane), WORKGROUP (one a workgroup) and TABLE (constants) are counted in
 * cells, one a scalar leaf; BUFFER in units of program->unit bytes. */
typedef struct vm_object {
    vm_space space;
    gr_str name;
    uint32_t cells;       /* LOCAL, WORKGROUP, TABLE */
    uint32_t base;        /* first cell in the space's memory */
    uint64_t minimum;     /* BUFFER: least size in bytes */
    uint32_t group, binding;
    bool writable, has_f16, storage;
    bool atomic;          /* sanitizer: starts at zero by intent */
    bool implicit_zero;   /* LOCAL: declared without an initialiser */
    const uint32_t *bits; /* TABLE: f32 and integer cells */
    const double *wide;   /* TABLE: the same as f64 */
    uint32_t at;
} vm_object;

typedef enum vm_scope_kind { VM_SCOPE_NONE = 0, VM_SCOPE_ROOT, VM_SCOPE_IF, VM_SCOPE_LOOP, VM_SCOPE_REGION } vm_scope_kind;
typedef struct vm_scope {
    vm_scope_kind kind;
    uint32_t parent, depth;
    uint32_t begin, middle, end; /* instructions; middle: ELSE (0: none) or CONTINUING */
    /* by vm_analyse */
    bool masked;       /* IF: varying condition; LOOP, REGION: lanes leave at different times */
    bool continue_masked; /* LOOP: a continue under masks */
    uint32_t diverged; /* depth of the deepest scope that lanes leave for from inside; 0: none */
    uint32_t slot, slots; /* first mask slot and number */
    uint32_t *sets, sets_n; /* bounded: outer variables written inside */
} vm_scope;

typedef enum vm_input {
    VM_IN_NONE = 0, VM_IN_GLOBAL_X, VM_IN_GLOBAL_Y, VM_IN_GLOBAL_Z, VM_IN_LOCAL_X, VM_IN_LOCAL_Y, VM_IN_LOCAL_Z,
    VM_IN_INDEX, VM_IN_GROUP_X, VM_IN_GROUP_Y, VM_IN_GROUP_Z, VM_IN_GRID_X, VM_IN_GRID_Y, VM_IN_GRID_Z,
    VM_IN_SUBGROUP_LANE, VM_IN_SUBGROUP_SIZE, VM_IN_SUBGROUP_ID, VM_IN_SUBGROUPS, VM_IN_COUNT
} vm_input;

typedef struct vm_register {
    char cls; /* 'I' or 'F' */
    bool variable, constant, varying;
    bool placed;        /* has a slot */
    bool row;           /* a constant that is needed as a row of all lanes too */
    uint8_t input;      /* vm_input */
    uint32_t scope;     /* of declaration */
    uint32_t first, last; /* live instructions */
    uint32_t uses;        /* as a source */
    uint32_t slot;      /* in its pool */
    uint32_t row_slot;  /* `row` */
    uint32_t bits;      /* constant of class I, or the f32 bits */
    double value;       /* constant of class F */
} vm_register;

enum { VM_POOL_ROW_I = 0, VM_POOL_ROW_F, VM_POOL_ONE_I, VM_POOL_ONE_F, VM_POOLS };

/* One analysed form. A module whose workgroup has one invocation gets two: `packed` many
 * workgroups a batch, and alone. */
typedef struct vm_form {
    vm_instr *code; uint32_t code_n;
    vm_register *reg; uint32_t reg_n;
    vm_scope *scope; uint32_t scope_n;
    uint32_t pool[VM_POOLS]; /* slots */
    uint32_t mask_slots;
    uint32_t groups; /* workgroups a batch */
    uint32_t lanes;  /* a multiple of LANE_UNIT */
} vm_form;

typedef struct gr_eval_program vm_program;
struct gr_eval_program {
    gr_arena *arena;
    const gr_wgsl_module *module;
    gr_eval_mode mode;
    lane_kind kind;
    uint32_t isa;
    uint32_t unit; /* bytes of a buffer unit: 4, or 2 where the module uses f16 */
    uint32_t size[3], invocations, subgroup;
    uint64_t step_limit;
    uint64_t run_limit;
    bool trace, storage_atomics, sanitize, reverse;
    lane_bounded_table *table;
    GR_VEC(vm_instr) code;
    GR_VEC(vm_register) reg; /* [0] unused */
    GR_VEC(vm_scope) scope;  /* [0] is the entry point */
    GR_VEC(vm_object) object;
    uint32_t local_cells, workgroup_cells, table_cells;
    uint32_t local_top; /* greatest local_cells */
    vm_reg input[VM_IN_COUNT];
    vm_form form[2]; uint32_t form_n;
    /* builder */
    uint32_t current; /* scope */
    uint32_t at;      /* place given to emitted instructions */
    bool failed;      /* out of memory or too large; reported */
    gr_diags *d;
    uint32_t *constants, constants_cap, constants_n; /* hash of constant registers */
};

/* ---------------------------------------------------------------- building */

/* Limits against blow-up. */
enum { VM_MAX_CODE = 1 << 20, VM_MAX_LOCAL = 1 << 16, VM_MAX_WORKGROUP = 1 << 22 };

bool vm_init(vm_program *p);
vm_reg vm_temp(vm_program *p, char cls);
vm_reg vm_var(vm_program *p, char cls); /* declared in the current scope */
vm_reg vm_int(vm_program *p, uint32_t v);
vm_reg vm_float(vm_program *p, double v);
vm_reg vm_read_input(vm_program *p, vm_input in);
bool vm_is_const(const vm_program *p, vm_reg r, uint32_t *bits); /* integer constants */
/* Appends; NULL when memory or the limit fails (p->failed, reported). */
vm_instr *vm_emit(vm_program *p, uint32_t op);
vm_reg vm_lane(vm_program *p, uint32_t op, vm_reg a, vm_reg b, vm_reg c);
void vm_set(vm_program *p, vm_reg var, vm_reg value);
vm_reg vm_copy(vm_program *p, vm_reg value);
uint32_t vm_open(vm_program *p, uint32_t op, vm_reg cond); /* IF, LOOP, REGION: the scope */
void vm_middle(vm_program *p, uint32_t op);                /* ELSE, CONTINUING */
void vm_close(vm_program *p);
void vm_leave(vm_program *p, uint32_t scope);
void vm_leave_if(vm_program *p, uint32_t loop, vm_reg cond, bool negate);
void vm_continue(vm_program *p, uint32_t loop);
/* False after wgsl/eval-too-large or out of memory. */
bool vm_fail(vm_program *p, const char *what);

/* Uniformity, masks, register slots: fills form[form_n++]. */
bool vm_analyse(vm_program *p, bool packed);
bool vm_allocate(vm_program *p, vm_form *f);
/* Under masks that other lanes escape? Of a SET, of a leaving instruction. */
bool vm_write_masked(const vm_form *f, const vm_instr *set);
bool vm_leave_masked(const vm_form *f, const vm_instr *i);
/* How a lane operation takes its operands: LANE_VV with rows, VS or SV with one uniform
 * operand. Operands for which *row is set must be made rows first. */
lane_form vm_lane_form(const vm_program *p, const vm_form *f, const vm_instr *i, bool row[3]);
void vm_print(gr_buf *out, const vm_program *p, const vm_form *f);
/* Sources of an instruction that are registers: d is never among them. */
static inline void vm_sources(const vm_instr *i, vm_reg out[4]) {
    out[0] = i->a, out[1] = i->b, out[2] = i->c, out[3] = i->e;
}
const char *vm_op_name(uint32_t op);
bool vm_is_temp_op(uint32_t op); /* pure or load: writes d, a temporary */

/* --------------------------------------------------------------- sanitizer */

typedef struct vm_san vm_san;
typedef struct gr_eval_state vm_state;

#endif
