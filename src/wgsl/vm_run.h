/* vm_run.h: a linked lane program and its state; private to vm_*.c. */
#ifndef GR_WGSL_VM_RUN_H
#define GR_WGSL_VM_RUN_H

#include "wgsl/vm.h"

typedef enum vm_kind {
    K_NONE = 0,
    K_LANE,    /* fn over n lanes */
    K_LANE_ONE, /* fn over one lane, the result repeated: a call on uniform values */
    K_BOUNDED, /* bounded over n lanes */
    K_ROW,     /* uniform a to a row d */
    K_COPY,    /* whole rows */
    K_SET,     /* masked */
    K_JUMP, K_JUMP_FALSE, K_JUMP_TRUE,
    K_IF, K_ELSE, K_ENDIF, K_LOOP, K_CONTINUING, K_ENDLOOP, K_ENDLOOP_UNIFORM, K_REGION, K_ENDREGION,
    K_LEAVE, K_LEAVE_IF, K_KILL,
    K_LOAD, K_STORE, K_ZERO, K_ATOMIC, K_BARRIER, K_LENGTH, K_SUBGROUP, K_CHECK, K_TRACE, K_END,
} vm_kind;

enum { OPERAND_D = 1, OPERAND_A = 2, OPERAND_B = 4, OPERAND_C = 8, OPERAND_E = 16 };

typedef struct vm_code {
    uint16_t kind;
    uint8_t sub;
    char cls;         /* 'I', 'F' or 'H' (f16 in memory) of a LOAD, STORE, SET, ROW */
    uint8_t row;      /* OPERAND_* bits: which operands are rows */
    uint8_t used;     /* OPERAND_* bits: which operands exist */
    bool exact;
    union { lane_fn fn; lane_bounded_fn bounded; };
    uint32_t d, a, b, c, e; /* bytes in the register file */
    uint32_t n;       /* lanes */
    uint32_t jump;
    uint32_t slot, low, high; /* mask slots */
    uint32_t object, limit, stride, offset, imm;
    uint32_t scope, at;
} vm_code;

/* Memory of an object. Elements are 4 bytes (2 for f16); wide, extra, gross, mark as in gr_eval_binding. */
typedef struct vm_memory {
    uint8_t *bytes;
    double *wide, *extra, *gross;
    uint8_t *mark;
    uint64_t size;    /* bytes (BUFFER) or cells */
    uint8_t shift32;  /* unit address to 4-byte element */
    uint8_t shift_wide; /* unit address to wide element */
    bool owned, local, shared; /* shared: a copy a workgroup of the batch */
} vm_memory;

/* Elements that an access touches: one for all lanes, a run from `at`, or a row. */
typedef enum vm_where_kind { WHERE_ONE = 1, WHERE_RUN, WHERE_ROW } vm_where_kind;
typedef struct vm_where {
    vm_where_kind kind;
    uint32_t at;
    const uint32_t *row;
} vm_where;

struct gr_eval_state {
    const vm_program *p;
    const vm_form *f;
    const lane_memory *lane;
    gr_diags *d; /* of the call in progress */
    uint32_t n;  /* lanes */
    vm_code *code; uint32_t code_n;
    uint8_t *regs;  /* register file */
    uint32_t pool_at[VM_POOLS], pool_stride[VM_POOLS];
    uint32_t scratch_at[3]; /* rows for operands */
    uint32_t *mask;         /* active lanes */
    uint32_t active;        /* their number */
    uint32_t *saved;        /* mask_slots rows */
    uint32_t *ambiguous, *ambiguous_saved; /* bounded: lanes under an ambiguous decision */
    bool decided;           /* some decision of the batch was ambiguous: else the rows above are all 0 */
    uint32_t *address, *address2; /* scratch rows */
    uint32_t *lane_index;   /* 0, 1, 2 ... */
    uint32_t *local[3], *local_index, *group_of; /* a lane: its place in its workgroup, its workgroup in the batch */
    uint32_t *group_base;   /* a lane: first cell of its workgroup's memory */
    vm_memory *memory;      /* by object */
    uint32_t grid[3];
    uint64_t workgroups;
    uint64_t first_group;   /* of the batch */
    uint32_t groups;        /* in the batch */
    vm_san *san;
    gr_eval_stats stats;
    uint64_t steps_left;
    uint32_t turn;          /* what a turn of a lane counts beyond 1 */
    bool failed;
    void *owned[32]; uint32_t owned_n; /* heap blocks */
};

static inline uint32_t vm_element(const vm_where *w, uint32_t lane) {
    return w->kind == WHERE_ROW ? w->row[lane] : w->kind == WHERE_RUN ? w->at + lane : w->at;
}

bool vm_link(vm_state *s);
/* shift: unit address to element. */
vm_where vm_resolve(vm_state *s, const vm_code *k, uint32_t shift);
void vm_load(vm_state *s, const vm_code *k);
void vm_store(vm_state *s, const vm_code *k);
void vm_zero(vm_state *s, const vm_code *k);
void vm_atomic_run(vm_state *s, const vm_code *k);
void vm_subgroup_run(vm_state *s, const vm_code *k);
/* Runs the batch that starts at first_group. */
bool vm_run_batch(vm_state *s);
static inline void *vm_at(const vm_state *s, uint32_t byte) { return s->regs + byte; }
/* Zeroed, aligned to 64, freed with the state; NULL when memory fails. */
void *vm_state_alloc(vm_state *s, size_t n, size_t size);
gr_place vm_place(const vm_state *s, uint32_t at);

/* Sanitizer. */
bool vm_san_init(vm_state *s, const gr_eval_binding *b, uint32_t n);
void vm_san_dispatch(vm_state *s); /* a dispatch begins */
void vm_san_batch(vm_state *s); /* a workgroup begins */
typedef enum vm_access { VM_ACCESS_NONE = 0, VM_ACCESS_READ, VM_ACCESS_WRITE, VM_ACCESS_ATOMIC } vm_access;
void vm_san_access(vm_state *s, const vm_code *k, const vm_where *w, vm_access access);
void vm_san_check(vm_state *s, const vm_code *k);
void vm_san_barrier(vm_state *s, const vm_code *k);
void vm_san_zero(vm_state *s, const vm_code *k);

#endif
