/* eval_int.h: lowering a checked module to a lane program; private to eval*.c.
 *
 * A value is a list of registers, one a scalar leaf of its type in memory order. A variable
 * without arrays inside lives in registers; one with an array, or one that is indexed in
 * ways registers cannot serve, in private memory. Pointers never exist at run time: a
 * pointer value is an eval_ref, a root and a path with its indices already evaluated. */
#ifndef GR_WGSL_EVAL_INT_H
#define GR_WGSL_EVAL_INT_H

#include "wgsl/eval.h"
#include "wgsl/vm.h"

typedef struct eval_value {
    const gr_wgsl_type *type;
    vm_reg *r; /* n registers; those of a variable are its own, not copies */
    uint32_t n;
} eval_value;

/* A memory view. Either registers reg[leaf ...] (object == EVAL_NO_OBJECT), where `index` is a
 * leaf offset to add at run time, a multiple of `stride` below count * stride; or an object at
 * offset + base + min(index, limit) * stride. */
enum { EVAL_NO_OBJECT = 0xFFFFFFFFu };
typedef struct eval_ref {
    const gr_wgsl_type *type; /* store type; NULL after a reported failure */
    uint32_t object;
    vm_reg *reg; uint32_t leaf, count;
    vm_reg index, base;
    vm_reg limit_reg; /* a uniform register, or 0 */
    uint32_t limit, stride, offset;
    bool exact; /* index is in range by construction */
} eval_ref;

typedef struct eval_binding {
    bool is_ref; /* a variable, or a let or parameter that is a pointer */
    eval_value value;
    eval_ref ref;
} eval_binding;

/* An inlined function. */
typedef struct eval_call {
    const gr_wgsl_function *fn;
    eval_binding *local; /* by slot */
    eval_value result;
    bool region;         /* returns leave `scope` */
    uint32_t scope;
    uint32_t break_scope, continue_scope;
    bool break_falls;    /* break at the end of a switch clause: nothing to do */
    struct eval_call *caller;
} eval_call;

typedef struct eval_lower {
    vm_program *p;
    gr_diags *d;
    gr_arena *arena;
    const gr_wgsl_module *m;
    gr_wgsl_spec spec;
    eval_binding *global; /* by module var slot */
    eval_call *call;
    uint32_t depth, calls;
    GR_VEC(const gr_wgsl_const *) tables; /* constants already put into objects */
    GR_VEC(uint32_t) table_object;
} eval_lower;

/* Types. */
uint32_t eval_leaves(eval_lower *l, const gr_wgsl_type *t);
uint32_t eval_count(eval_lower *l, const gr_wgsl_type *array);
const gr_wgsl_type *eval_scalar(const gr_wgsl_type *t); /* of a scalar, vector or matrix */
char eval_class(const gr_wgsl_type *scalar);
bool eval_has_array(const gr_wgsl_type *t);
const gr_wgsl_type *eval_element(const gr_wgsl_type *t); /* of VEC, MAT (a column), ARRAY */
bool eval_is_float(const gr_wgsl_type *scalar);

/* Values. */
eval_value eval_new(eval_lower *l, const gr_wgsl_type *t);
eval_value eval_part(eval_value v, const gr_wgsl_type *t, uint32_t leaf, uint32_t n);
eval_value eval_const(eval_lower *l, const gr_wgsl_const *c);
eval_value eval_zero(eval_lower *l, const gr_wgsl_type *t);
eval_value eval_copy(eval_lower *l, eval_value v);

/* References. */
eval_ref eval_var_ref(eval_lower *l, const gr_wgsl_type *t, gr_str name, uint32_t at, bool memory, bool implicit_zero);
eval_ref eval_object_ref(eval_lower *l, uint32_t object, const gr_wgsl_type *t);
eval_ref eval_table_ref(eval_lower *l, const gr_wgsl_const *c);
eval_ref eval_ref_member(eval_lower *l, eval_ref r, const gr_wgsl_member *m);
/* index: a register and, for constants, its value is used; is_signed for messages. */
eval_ref eval_ref_index(eval_lower *l, eval_ref r, vm_reg index, bool is_signed);
eval_value eval_load(eval_lower *l, eval_ref r);
void eval_store(eval_lower *l, eval_ref r, eval_value v);
void eval_clear(eval_lower *l, eval_ref r);
/* The indices as they are now, for a view that outlives the statement or a call. */
eval_ref eval_pin(eval_lower *l, eval_ref r);
/* Fills the address fields of a memory instruction. */
void eval_address(vm_instr *i, const eval_ref *r);
uint32_t eval_new_object(eval_lower *l, vm_object o);

/* Expressions. */
eval_value eval_expr(eval_lower *l, const gr_wgsl_expr *e);
eval_ref eval_reference(eval_lower *l, const gr_wgsl_expr *e); /* is_ref expressions */
eval_ref eval_pointer(eval_lower *l, const gr_wgsl_expr *e);   /* of pointer type */
bool eval_calls_user(const gr_wgsl_expr *e);
eval_value eval_call_function(eval_lower *l, const gr_wgsl_expr *e);
eval_value eval_call_builtin(eval_lower *l, const gr_wgsl_expr *e);
eval_value eval_construct(eval_lower *l, const gr_wgsl_expr *e);

/* Operators on scalars and values. */
vm_reg eval_round(eval_lower *l, const gr_wgsl_type *scalar, vm_reg r); /* f16: to its precision */
vm_reg eval_arith(eval_lower *l, gr_wgsl_op op, const gr_wgsl_type *scalar, vm_reg a, vm_reg b);
vm_reg eval_fn1(eval_lower *l, uint32_t op, const gr_wgsl_type *scalar, vm_reg a);
eval_value eval_binary(eval_lower *l, gr_wgsl_op op, const gr_wgsl_type *result, eval_value a, eval_value b);
vm_reg eval_convert(eval_lower *l, const gr_wgsl_type *to, const gr_wgsl_type *from, vm_reg r);
void eval_trace(eval_lower *l, vm_reg bools);

/* Statements. */
bool eval_body(eval_lower *l, const gr_wgsl_stmt *s); /* false: what follows is unreachable */

#endif
