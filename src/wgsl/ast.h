/* ast.h: the typed syntax tree of a WGSL module.
 *
 * The parser builds it, the checker fills in types, declarations and constants in place.
 * After a successful gr_wgsl_load these hold (numbered, W1...):
 *   W1  every expression that is evaluated has a type; no abstract type is left where a
 *       runtime value is needed (a node with a `value` may have abstract children: a
 *       reader takes the value and never descends);
 *   W2  an expression with is_ref is a memory view: its `type` is the store type, `space`
 *       and `access` are set. It becomes a value only under a GR_WE_LOAD node, which the
 *       checker inserted (LOAD.type == operand.type). Operands of & and the left side of
 *       an assignment stay references;
 *   W3  every identifier expression has `decl` (a variable, parameter, constant, function,
 *       struct, alias) or names a builtin type, function or enumerant inside a call or a
 *       type; calls have `call` and one of function / builtin / construct set;
 *   W4  types are interned: two types are equal iff their pointers are;
 *   W5  GR_WS_* children that can be absent are NULL; for loops, ifs and loops own blocks.
 * Everything lives in the module's arena. Nothing here is ever freed singly. */
#ifndef GR_WGSL_AST_H
#define GR_WGSL_AST_H

#include "base/str.h"

typedef struct gr_wgsl_type gr_wgsl_type;
typedef struct gr_wgsl_member gr_wgsl_member;
typedef struct gr_wgsl_expr gr_wgsl_expr;
typedef struct gr_wgsl_stmt gr_wgsl_stmt;
typedef struct gr_wgsl_decl gr_wgsl_decl;
typedef struct gr_wgsl_function gr_wgsl_function;
typedef struct gr_wgsl_attr gr_wgsl_attr;

/* ------------------------------------------------------------------ types */

typedef enum gr_wgsl_kind {
    GR_WT_NONE = 0,
    GR_WT_VOID, /* result of a function without one */
    GR_WT_BOOL,
    GR_WT_ABSTRACT_INT,   /* i64 in const-expressions only */
    GR_WT_ABSTRACT_FLOAT, /* f64 in const-expressions only */
    GR_WT_I32,
    GR_WT_U32,
    GR_WT_F32,
    GR_WT_F16,
    GR_WT_VEC,    /* elem = scalar, n = 2..4 */
    GR_WT_MAT,    /* elem = float scalar, n = columns, rows, column = the column's vector type */
    GR_WT_ARRAY,  /* elem; fixed: count > 0; runtime-sized: count == 0 and no count_expr; else override-sized */
    GR_WT_STRUCT, /* name, member */
    GR_WT_ATOMIC, /* elem = i32 or u32 */
    GR_WT_PTR,    /* elem = store type, space, access */
} gr_wgsl_kind;

typedef enum gr_wgsl_space {
    GR_WGSL_SPACE_NONE = 0,
    GR_WGSL_SPACE_FUNCTION,
    GR_WGSL_SPACE_PRIVATE,
    GR_WGSL_SPACE_WORKGROUP,
    GR_WGSL_SPACE_UNIFORM,
    GR_WGSL_SPACE_STORAGE,
} gr_wgsl_space;

typedef enum gr_wgsl_access {
    GR_WGSL_ACCESS_NONE = 0,
    GR_WGSL_READ,
    GR_WGSL_WRITE,
    GR_WGSL_READ_WRITE,
} gr_wgsl_access;

struct gr_wgsl_member {
    gr_str name;
    uint32_t offset; /* of the name in the text */
    uint32_t index;  /* in its struct */
    gr_wgsl_attr *attr; uint32_t attr_n;
    gr_wgsl_expr *type_expr;
    const gr_wgsl_type *type;
    uint64_t at;          /* byte offset in the struct */
    uint64_t size, align; /* after @size and @align; size is 0 for a runtime-sized array */
    uint8_t builtin;      /* gr_wgsl_builtin_value when an entry-point input */
};

struct gr_wgsl_type {
    gr_wgsl_kind kind;
    uint32_t id; /* dense in the module */
    uint8_t n;    /* VEC width, MAT columns */
    uint8_t rows; /* MAT */
    uint8_t depth; /* nesting of composites, at most 255 */
    gr_wgsl_space space; gr_wgsl_access access; /* PTR */
    const gr_wgsl_type *elem;   /* VEC, MAT: scalar; ARRAY: element; ATOMIC, PTR: store type */
    const gr_wgsl_type *column; /* MAT */
    uint32_t count;             /* ARRAY, fixed */
    gr_wgsl_expr *count_expr;   /* ARRAY sized by an override-expression (not a const one) */
    gr_str name;                /* STRUCT */
    gr_wgsl_decl *decl;         /* STRUCT; NULL for builtin results such as __modf_result_f32 */
    gr_wgsl_member *member; uint32_t member_n; /* STRUCT */
    /* Layout by the WGSL rules; 0 where undefined (abstract, pointers, and size where the
     * element count is not known yet). A runtime-sized array has its stride and align; a
     * struct ending in one has the size it would have with no elements. bool counts 4. */
    uint64_t size, stride;
    uint32_t align;
    uint32_t leaves; /* scalar leaves of a fixed-size type, in memory order; 0 otherwise or beyond 2^31 */
    bool storable, constructible, host_shareable, creation_fixed, fixed_footprint;
    bool has_atomic, has_runtime, has_bool, has_f16; /* anywhere inside */
    uint8_t layout_checked; /* bit set of address spaces whose layout rules it was tested against */
    gr_str text; /* as a user writes it: array<vec3<f32>, 4> */
};

/* -------------------------------------------------------------- constants */

/* One scalar. bool (0, 1), i32 (sign-extended), u32 (zero-extended), abstract-int: i.
 * f32, f16, abstract-float: f, already rounded to its type; never NaN or infinite. */
typedef union gr_wgsl_scalar {
    int64_t i;
    double f;
} gr_wgsl_scalar;

/* A constant: the leaves of its type in memory order (matrices column by column, structs
 * member by member). leaf == NULL means the zero value. */
typedef struct gr_wgsl_const {
    const gr_wgsl_type *type;
    uint32_t n; /* == type->leaves */
    const gr_wgsl_scalar *leaf;
} gr_wgsl_const;

static inline gr_wgsl_scalar gr_wgsl_const_leaf(const gr_wgsl_const *c, uint32_t i) {
    return c->leaf ? c->leaf[i] : (gr_wgsl_scalar){.i = 0}; /* +0.0 has the same bits */
}

/* ------------------------------------------------------------ expressions */

typedef enum gr_wgsl_stage { /* when an expression can be evaluated, earliest first */
    GR_WGSL_STAGE_NONE = 0,
    GR_WGSL_CONST,
    GR_WGSL_OVERRIDE, /* at pipeline creation */
    GR_WGSL_RUNTIME,
} gr_wgsl_stage;

typedef enum gr_wgsl_expr_kind {
    GR_WE_NONE = 0,
    GR_WE_LITERAL,    /* value is set */
    GR_WE_IDENT,      /* ident */
    GR_WE_PAREN,      /* unary.a */
    GR_WE_UNARY,      /* unary.op: NEG, NOT, COMPLEMENT */
    GR_WE_ADDRESS_OF, /* unary.a is a reference; type is a PTR */
    GR_WE_DEREF,      /* unary.a is a PTR value; is_ref. `implicit` when written p.x or p[i] */
    GR_WE_LOAD,       /* unary.a is a reference; always implicit */
    GR_WE_BINARY,     /* binary */
    GR_WE_INDEX,      /* index: base is a reference or a value of VEC, MAT, ARRAY */
    GR_WE_MEMBER,     /* member: a struct field, or a swizzle when swizzle_n > 0 */
    GR_WE_CALL,       /* call */
} gr_wgsl_expr_kind;

typedef enum gr_wgsl_op {
    GR_WO_NONE = 0,
    GR_WO_ADD, GR_WO_SUB, GR_WO_MUL, GR_WO_DIV, GR_WO_MOD,
    GR_WO_AND, GR_WO_OR, GR_WO_XOR, GR_WO_SHL, GR_WO_SHR,
    GR_WO_LOGICAL_AND, GR_WO_LOGICAL_OR, /* short-circuit */
    GR_WO_EQ, GR_WO_NE, GR_WO_LT, GR_WO_LE, GR_WO_GT, GR_WO_GE,
    GR_WO_NEG, GR_WO_NOT, GR_WO_COMPLEMENT, /* unary - ! ~ */
} gr_wgsl_op;

typedef enum gr_wgsl_builtin {
    GR_WB_NONE = 0,
#define GR_WGSL_BUILTIN(name) GR_WB_##name,
#include "wgsl/builtin.def"
#undef GR_WGSL_BUILTIN
    GR_WB_COUNT
} gr_wgsl_builtin;

typedef enum gr_wgsl_call_kind {
    GR_WC_NONE = 0,
    GR_WC_FUNCTION,  /* call.function; type VOID when it returns nothing */
    GR_WC_BUILTIN,   /* call.builtin; argument and result types tell the overload. The pointer
                        argument of atomics and workgroupUniformLoad is a PTR value. */
    GR_WC_CONSTRUCT, /* call.construct; type is the result */
} gr_wgsl_call_kind;

typedef enum gr_wgsl_construct {
    GR_WN_NONE = 0,
    GR_WN_ZERO,       /* T() */
    GR_WN_IDENTITY,   /* argument already has the type */
    GR_WN_SCALAR,     /* scalar conversion, f32(i) */
    GR_WN_SPLAT,      /* vec3<f32>(x): argument is a scalar of the element type */
    GR_WN_VECTOR,     /* element-wise conversion of a vector of the same width */
    GR_WN_COMPONENTS, /* vector from scalars and vectors of its element type, in order */
    GR_WN_MATRIX,     /* element-wise conversion of a matrix of the same shape */
    GR_WN_COLUMNS,    /* matrix from column vectors */
    GR_WN_SCALARS,    /* matrix from columns * rows scalars, column by column */
    GR_WN_ELEMENTS,   /* array from its elements */
    GR_WN_MEMBERS,    /* struct from its members */
} gr_wgsl_construct;

struct gr_wgsl_expr {
    gr_wgsl_expr_kind kind;
    uint32_t offset, end; /* bytes of the text: [offset, end) */
    const gr_wgsl_type *type; /* NULL for names of types, enumerants and functions */
    bool is_ref;              /* see W2 */
    bool implicit;            /* inserted by the checker: a printer skips it */
    uint16_t height;          /* of the tree below; at most 513 after the parser, a little more with implicit nodes */
    gr_wgsl_space space; gr_wgsl_access access; /* when is_ref */
    gr_wgsl_stage stage;
    const gr_wgsl_const *value; /* set iff stage is CONST and the expression is a value */
    union {
        struct { gr_str text; } literal; /* as written */
        struct {
            gr_str name;
            gr_wgsl_expr **targ; uint32_t targ_n; /* template list; targ NULL when none */
            gr_wgsl_decl *decl;
        } ident;
        struct { gr_wgsl_op op; gr_wgsl_expr *a; } unary; /* UNARY, PAREN, ADDRESS_OF, DEREF, LOAD */
        struct { gr_wgsl_op op; uint32_t op_offset; gr_wgsl_expr *a, *b; } binary;
        struct { gr_wgsl_expr *base, *index; } index;
        struct {
            gr_wgsl_expr *base;
            gr_str name; uint32_t name_offset;
            const gr_wgsl_member *field;      /* struct member */
            uint8_t swizzle[4], swizzle_n;    /* components 0..3 of a vector; n == 1 gives a scalar */
        } member;
        struct {
            gr_wgsl_expr *callee; /* an IDENT */
            gr_wgsl_expr **arg; uint32_t arg_n;
            gr_wgsl_call_kind call;
            gr_wgsl_function *function;
            gr_wgsl_builtin builtin;
            gr_wgsl_construct construct;
        } call;
    };
};

/* ------------------------------------------------------------- statements */

typedef enum gr_wgsl_stmt_kind {
    GR_WS_NONE = 0,
    GR_WS_BLOCK,
    GR_WS_DECL,         /* var, let or const in decl */
    GR_WS_ASSIGN,       /* assign; op NONE is plain, lhs NULL is the phony `_ =` */
    GR_WS_INCREMENT,    /* assign.lhs */
    GR_WS_DECREMENT,
    GR_WS_IF,
    GR_WS_SWITCH,
    GR_WS_LOOP,
    GR_WS_FOR,
    GR_WS_WHILE,
    GR_WS_BREAK,
    GR_WS_CONTINUE,
    GR_WS_RETURN,       /* expr or NULL */
    GR_WS_CALL,         /* expr is a CALL; its value is dropped */
    GR_WS_CONST_ASSERT, /* expr; already checked */
    GR_WS_DISCARD,      /* fragment only: never in a loaded module */
    GR_WS_EMPTY,
} gr_wgsl_stmt_kind;

typedef struct gr_wgsl_case {
    uint32_t offset;
    gr_wgsl_expr **selector; uint32_t selector_n; /* a NULL entry is `default`; values are const, of the
                                                     selector type of the switch */
    bool has_default;
    bool spelled_default; /* written `default {` */
    gr_wgsl_stmt *body;   /* BLOCK */
} gr_wgsl_case;

/* How a statement can end (the behaviours of the specification). */
enum { GR_WGSL_NEXT = 1, GR_WGSL_BREAK = 2, GR_WGSL_CONTINUE = 4, GR_WGSL_RETURN = 8 };

struct gr_wgsl_stmt {
    gr_wgsl_stmt_kind kind;
    uint8_t behaviour; /* bit set of the above; 0 where the statement is unreachable */
    uint32_t offset, end;
    gr_wgsl_attr *attr; uint32_t attr_n; /* before the statement */
    union {
        struct { gr_wgsl_stmt **v; uint32_t n; } block;
        gr_wgsl_decl *decl;
        gr_wgsl_expr *expr; /* RETURN, CALL, CONST_ASSERT */
        struct { gr_wgsl_op op; gr_wgsl_expr *lhs, *rhs; } assign; /* lhs is a reference (no LOAD); rhs a value */
        struct { gr_wgsl_expr *cond; gr_wgsl_stmt *then, *otherwise; } branch; /* IF; otherwise: BLOCK, IF or NULL */
        struct {
            gr_wgsl_expr *cond; gr_wgsl_case *v; uint32_t n;
            gr_wgsl_attr *body_attr; uint32_t body_attr_n;
        } select; /* SWITCH; exactly one case has the default */
        struct { gr_wgsl_stmt *body, *continuing; gr_wgsl_expr *break_if; } loop; /* LOOP; continuing BLOCK or NULL */
        struct { gr_wgsl_stmt *init; gr_wgsl_expr *cond; gr_wgsl_stmt *update, *body; } loop_for; /* all but body may be NULL */
        struct { gr_wgsl_expr *cond; gr_wgsl_stmt *body; } loop_while;
    };
};

/* ----------------------------------------------------------- declarations */

typedef enum gr_wgsl_builtin_value {
    GR_WV_NONE = 0,
    GR_WV_GLOBAL_INVOCATION_ID,   /* vec3<u32> */
    GR_WV_LOCAL_INVOCATION_ID,    /* vec3<u32> */
    GR_WV_LOCAL_INVOCATION_INDEX, /* u32 */
    GR_WV_WORKGROUP_ID,           /* vec3<u32> */
    GR_WV_NUM_WORKGROUPS,         /* vec3<u32> */
    GR_WV_SUBGROUP_INVOCATION_ID, /* u32 */
    GR_WV_SUBGROUP_SIZE,          /* u32 */
    GR_WV_SUBGROUP_ID,            /* u32 */
    GR_WV_NUM_SUBGROUPS,          /* u32 */
} gr_wgsl_builtin_value;

typedef enum gr_wgsl_attr_kind {
    GR_WA_NONE = 0,
    GR_WA_ALIGN, GR_WA_BINDING, GR_WA_BUILTIN, GR_WA_COMPUTE, GR_WA_CONST, GR_WA_DIAGNOSTIC, GR_WA_GROUP,
    GR_WA_ID, GR_WA_MUST_USE, GR_WA_SIZE, GR_WA_WORKGROUP_SIZE,
    GR_WA_STAGE_IO, /* vertex, fragment, location, interpolate, invariant, blend_src: outside the subset */
} gr_wgsl_attr_kind;

struct gr_wgsl_attr {
    gr_wgsl_attr_kind kind;
    uint32_t offset, end;
    gr_str name;
    gr_wgsl_expr **arg; uint32_t arg_n;
    bool has_parens;
    gr_str rule; /* DIAGNOSTIC: "a.b" or "derivative_uniformity"; severity is arg[0]'s name */
};

typedef enum gr_wgsl_decl_kind {
    GR_WD_NONE = 0,
    GR_WD_CONST,        /* value */
    GR_WD_OVERRIDE,     /* override_index */
    GR_WD_LET,          /* slot */
    GR_WD_VAR,          /* space, access; slot */
    GR_WD_PARAM,        /* slot; builtin for entry points */
    GR_WD_FUNCTION,     /* function */
    GR_WD_STRUCT,       /* type */
    GR_WD_ALIAS,        /* type */
    GR_WD_CONST_ASSERT, /* init */
} gr_wgsl_decl_kind;

struct gr_wgsl_decl {
    gr_wgsl_decl_kind kind;
    uint32_t offset;     /* of the name (of the keyword for const_assert) */
    uint32_t start, end; /* of the whole declaration, attributes included */
    uint32_t id;         /* dense over all declarations of the module, locals included */
    gr_str name;
    gr_wgsl_attr *attr; uint32_t attr_n;
    gr_wgsl_expr **targ; uint32_t targ_n; /* template list of var */
    gr_wgsl_expr *type_expr;              /* as written, or NULL */
    gr_wgsl_expr *init;                   /* a value of `type`, or NULL */
    const gr_wgsl_type *type;             /* VAR: store type; else the value's type */
    const gr_wgsl_const *value;           /* CONST */
    gr_wgsl_space space; gr_wgsl_access access; /* VAR */
    bool module_scope;
    bool has_binding; uint32_t group, binding;
    bool has_id; uint32_t override_id; /* @id */
    uint32_t override_index;           /* in module->overrides */
    /* LET, VAR, PARAM in a function: index in function->locals. Module-scope VAR: index in module->vars. */
    uint32_t slot;
    gr_wgsl_builtin_value builtin; /* PARAM of an entry point */
    gr_wgsl_function *function;    /* FUNCTION: itself; locals: the one they are in; else NULL */
    bool used;                     /* named somewhere in the module */
};

struct gr_wgsl_function {
    gr_wgsl_decl *decl;
    uint32_t index; /* in module->functions, which lists callees before callers */
    gr_wgsl_decl **param; uint32_t param_n;
    gr_wgsl_attr *result_attr; uint32_t result_attr_n;
    gr_wgsl_expr *result_expr;   /* as written, or NULL */
    const gr_wgsl_type *result;  /* VOID when none */
    gr_wgsl_stmt *body;          /* BLOCK */
    gr_wgsl_decl **local; uint32_t local_n; /* LET, VAR, PARAM; parameters first */
    bool must_use;
    bool is_entry; /* a compute entry point */
    gr_wgsl_expr *workgroup_size[3]; /* of an entry point: const or override expressions; NULL means 1 */
    gr_wgsl_function **calls; uint32_t calls_n; /* direct callees, each once */
    gr_wgsl_decl **uses; uint32_t uses_n; /* module-scope vars and overrides statically used, callees included */
    uint64_t builtins[(GR_WB_COUNT + 63) / 64]; /* bit set of builtin functions used, callees included */
};

/* A directive, kept for printing: enable, requires, diagnostic. */
typedef struct gr_wgsl_directive {
    uint32_t offset, end;
    gr_str keyword;
    gr_str *name; uint32_t name_n; /* diagnostic: severity, rule */
} gr_wgsl_directive;

#endif
