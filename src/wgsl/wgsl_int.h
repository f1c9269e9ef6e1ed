/* wgsl_int.h: what the files of the front end share. Not included outside src/wgsl. */
#ifndef GR_WGSL_INT_H
#define GR_WGSL_INT_H

#include "wgsl/wgsl.h"

/* ------------------------------------------------------------------- limits */

enum {
    GR_WGSL_MAX_TEXT = 16 << 20,       /* bytes */
    GR_WGSL_MAX_PARSE_DEPTH = 128,     /* nesting of blocks, parentheses, prefix operators and calls */
    GR_WGSL_MAX_EXPR_DEPTH = 513,      /* height of an expression tree */
    GR_WGSL_MAX_STMT_DEPTH = 127,      /* nesting of statements; each else-if is one level */
    GR_WGSL_MAX_TYPE_DEPTH = 255,      /* nesting of composite types; the language asks for at least 15 */
    GR_WGSL_MAX_MEMBERS = 16383,       /* of a structure; the language asks for at least 1023 */
    GR_WGSL_MAX_PARAMS = 255,          /* of a function (language limit) */
    GR_WGSL_MAX_CASES = 1023,          /* selectors of a switch (language limit) */
    GR_WGSL_MAX_ELEMENTS = 65535,      /* of an array outside storage memory, as implementations do */
    GR_WGSL_MAX_CONST_LEAVES = 1 << 20,/* scalars materialised for one constant */
    GR_WGSL_MAX_SYNTAX_ERRORS = 20,
};

/* -------------------------------------------------------------------- tokens */

typedef enum gr_wgsl_tok_kind {
    GR_TK_EOF = 0,
    GR_TK_IDENT,
    GR_TK_INT,   /* decimal or hexadecimal, with suffix */
    GR_TK_FLOAT,
#define GR_WGSL_KEYWORD(name) GR_TK_##name,
#define GR_WGSL_PUNCT(id, text) GR_TK_##id,
#include "wgsl/token.def"
#undef GR_WGSL_KEYWORD
#undef GR_WGSL_PUNCT
    GR_TK_COUNT
} gr_wgsl_tok_kind;

typedef struct gr_wgsl_tok {
    uint16_t kind;
    bool template_mark; /* '<' or '>' that opens or closes a template list */
    uint32_t offset, end;
} gr_wgsl_tok;

/* ------------------------------------------------------------------- context */

/* The type table: interned types, open addressing on a structural hash. */
typedef struct gr_wgsl_types {
    GR_VEC(gr_wgsl_type *) list;
    uint32_t *slot; /* id + 1 */
    uint32_t cap;
    gr_wgsl_type *void_, *bool_, *abstract_int, *abstract_float, *i32, *u32, *f32, *f16;
} gr_wgsl_types;

typedef struct gr_wgsl_front gr_wgsl_front;
struct gr_wgsl_front {
    gr_arena *arena;
    gr_diags *diags;
    gr_wgsl_module *m;
    const gr_wgsl_options *opt;
    gr_wgsl_types types;
    uint32_t *line; uint32_t line_n; /* offsets of line starts */
    /* parser */
    gr_wgsl_tok *tok; uint32_t tok_n, pos;
    uint32_t depth, stmt_depth, syntax_errors;
    bool oom;
    gr_map names; /* module scope: name to index in m->decl */
    /* checker */
    gr_wgsl_function *fn; /* being checked */
    uint32_t not_evaluated; /* > 0 inside a short-circuited operand */
    const gr_wgsl_spec *spec; /* when evaluating override-expressions at pipeline creation */
    uint32_t *stamp; /* by declaration id: index + 1 of the last function that used it */
    gr_wgsl_expr **named_count; /* by declaration id: the count expression that first named this override */
    uint32_t first_errors; /* errors in the sink before this module */
    uint64_t eval_leaves; /* constant scalars made so far: bounds memory and time */
};

/* Report at a byte offset. Returns false. */
bool gr_wgsl_error(gr_wgsl_front *f, gr_diag_name name, uint32_t offset, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void gr_wgsl_related(gr_wgsl_front *f, uint32_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
gr_place gr_wgsl_where(const gr_wgsl_front *f, uint32_t offset);
/* Memory failed: reported once; returns false. */
bool gr_wgsl_oom(gr_wgsl_front *f);
static inline gr_str gr_wgsl_slice(const gr_wgsl_front *f, uint32_t from, uint32_t to) {
    return (gr_str){f->m->text.p + from, to - from};
}

/* --------------------------------------------------------------------- stages */

bool gr_wgsl_lex(gr_wgsl_front *f);           /* fills tok; false when the text has bad tokens */
bool gr_wgsl_is_reserved(gr_str word);
bool gr_wgsl_xid_start(uint32_t cp);
bool gr_wgsl_xid_continue(uint32_t cp);
const char *gr_wgsl_tok_text(gr_wgsl_tok_kind k); /* "identifier", "'{'" */

bool gr_wgsl_parse_module(gr_wgsl_front *f);  /* fills m->decl */
/* Number literal to constant; reports range errors. */
const gr_wgsl_const *gr_wgsl_parse_number(gr_wgsl_front *f, uint32_t offset, gr_str text, bool is_float);

bool gr_wgsl_resolve(gr_wgsl_front *f, gr_wgsl_decl ***order); /* names to declarations; order: dependencies first, m->decl_n long */
bool gr_wgsl_check_module(gr_wgsl_front *f, gr_wgsl_decl **order);
bool gr_wgsl_check_stmt(gr_wgsl_front *f, gr_wgsl_stmt *s);
bool gr_wgsl_check_assert(gr_wgsl_front *f, gr_wgsl_expr **e);
bool gr_wgsl_check_init(gr_wgsl_front *f, gr_wgsl_decl *d, bool abstract_ok);
bool gr_wgsl_check_const(gr_wgsl_front *f, gr_wgsl_decl *d);
bool gr_wgsl_check_builtin_value(gr_wgsl_front *f, const gr_wgsl_attr *a, const gr_wgsl_type *t, uint8_t *out);
bool gr_wgsl_check_diagnostic_attrs(gr_wgsl_front *f, const gr_wgsl_attr *a, uint32_t n);
bool gr_wgsl_check_directives(gr_wgsl_front *f);
bool gr_wgsl_check_behaviour(gr_wgsl_front *f);
bool gr_wgsl_check_alias(gr_wgsl_front *f);
bool gr_wgsl_check_uniformity(gr_wgsl_front *f);
bool gr_wgsl_reflect(gr_wgsl_front *f);

/* Every expression node below s in text order, children after parents; stops when fn gives false. */
typedef bool gr_wgsl_visit(void *ctx, gr_wgsl_expr *e);
bool gr_wgsl_visit_expr(gr_wgsl_expr *e, gr_wgsl_visit *fn, void *ctx);
bool gr_wgsl_visit_stmt(gr_wgsl_stmt *s, gr_wgsl_visit *fn, void *ctx);
/* The variable or parameter whose memory a reference or pointer expression reaches; NULL for none. */
gr_wgsl_decl *gr_wgsl_root(const gr_wgsl_expr *e);

/* ----------------------------------------------------------------- parser bits */

const gr_wgsl_tok *gr_wgsl_peek(gr_wgsl_front *f);
const gr_wgsl_tok *gr_wgsl_peek_at(gr_wgsl_front *f, uint32_t ahead);
bool gr_wgsl_is(gr_wgsl_front *f, gr_wgsl_tok_kind k);
bool gr_wgsl_accept(gr_wgsl_front *f, gr_wgsl_tok_kind k);
/* Consumes k or reports "expected k for WHAT". */
bool gr_wgsl_expect(gr_wgsl_front *f, gr_wgsl_tok_kind k, const char *what);
bool gr_wgsl_expect_name(gr_wgsl_front *f, const char *what, gr_str *name, uint32_t *offset);
bool gr_wgsl_syntax(gr_wgsl_front *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Recursion guard: enter reports wgsl/too-deep and returns false past the limit. */
bool gr_wgsl_enter(gr_wgsl_front *f);
void gr_wgsl_leave(gr_wgsl_front *f);

gr_wgsl_expr *gr_wgsl_new_expr(gr_wgsl_front *f, gr_wgsl_expr_kind k, uint32_t offset);
gr_wgsl_expr *gr_wgsl_parse_expr(gr_wgsl_front *f);
gr_wgsl_expr *gr_wgsl_parse_unary(gr_wgsl_front *f);
gr_wgsl_expr *gr_wgsl_parse_lhs(gr_wgsl_front *f);
gr_wgsl_expr *gr_wgsl_parse_type(gr_wgsl_front *f); /* identifier with optional template list */
bool gr_wgsl_parse_template_list(gr_wgsl_front *f, gr_wgsl_expr ***v, uint32_t *n); /* at a template '<' */
bool gr_wgsl_parse_attrs(gr_wgsl_front *f, gr_wgsl_attr **v, uint32_t *n);
gr_wgsl_stmt *gr_wgsl_parse_block(gr_wgsl_front *f);
/* `const`, `let`, `var` after attributes; no semicolon. local tells where. */
gr_wgsl_decl *gr_wgsl_parse_variable(gr_wgsl_front *f, bool local);
gr_wgsl_decl *gr_wgsl_new_decl(gr_wgsl_front *f, gr_wgsl_decl_kind k);
const gr_wgsl_attr *gr_wgsl_find_attr(const gr_wgsl_attr *v, uint32_t n, gr_wgsl_attr_kind k);

/* ----------------------------------------------------------------------- types */

bool gr_wgsl_types_init(gr_wgsl_front *f);
const gr_wgsl_type *gr_wgsl_vec(gr_wgsl_front *f, const gr_wgsl_type *elem, uint32_t n);
const gr_wgsl_type *gr_wgsl_mat(gr_wgsl_front *f, const gr_wgsl_type *elem, uint32_t columns, uint32_t rows);
/* count 0 and count_expr NULL: runtime-sized. Types with a count_expr are distinct per expression node
 * (a plain override name always gives its first node). */
const gr_wgsl_type *gr_wgsl_array(gr_wgsl_front *f, const gr_wgsl_type *elem, uint32_t count, gr_wgsl_expr *count_expr);
const gr_wgsl_type *gr_wgsl_atomic(gr_wgsl_front *f, const gr_wgsl_type *elem);
const gr_wgsl_type *gr_wgsl_ptr(gr_wgsl_front *f, gr_wgsl_space s, const gr_wgsl_type *elem, gr_wgsl_access a);
/* Result structs of modf, frexp, atomicCompareExchangeWeak, interned by name. */
const gr_wgsl_type *gr_wgsl_result_struct(gr_wgsl_front *f, gr_str name, const gr_str *names,
                                          const gr_wgsl_type *const *types, uint32_t n);
void gr_wgsl_layout_struct(gr_wgsl_type *t); /* offsets and size from members' size and align */
bool gr_wgsl_add_struct(gr_wgsl_front *f, gr_wgsl_type *t); /* gives a declared struct its id */
/* Uniform and storage layout rules; reports. */
bool gr_wgsl_check_layout(gr_wgsl_front *f, const gr_wgsl_type *t, gr_wgsl_space s, uint32_t offset);

static inline uint64_t gr_wgsl_round_up(uint64_t x, uint64_t align) { return align ? (x + align - 1) / align * align : x; }
static inline bool gr_wgsl_is_scalar(const gr_wgsl_type *t) { return t->kind >= GR_WT_BOOL && t->kind <= GR_WT_F16; }
static inline bool gr_wgsl_is_abstract_kind(gr_wgsl_kind k) { return k == GR_WT_ABSTRACT_INT || k == GR_WT_ABSTRACT_FLOAT; }
static inline bool gr_wgsl_is_float_kind(gr_wgsl_kind k) { return k == GR_WT_ABSTRACT_FLOAT || k == GR_WT_F32 || k == GR_WT_F16; }
static inline bool gr_wgsl_is_int_kind(gr_wgsl_kind k) { return k == GR_WT_ABSTRACT_INT || k == GR_WT_I32 || k == GR_WT_U32; }
/* The scalar at the leaves of a scalar, vector or matrix; t itself when scalar; NULL otherwise. */
static inline const gr_wgsl_type *gr_wgsl_scalar_of(const gr_wgsl_type *t) {
    if (gr_wgsl_is_scalar(t)) return t;
    return t->kind == GR_WT_VEC || t->kind == GR_WT_MAT ? t->elem : NULL;
}
bool gr_wgsl_is_abstract(const gr_wgsl_type *t); /* abstract scalar anywhere in scalar, vec, mat, array, result struct */
/* The same shape over another scalar. */
const gr_wgsl_type *gr_wgsl_with_scalar(gr_wgsl_front *f, const gr_wgsl_type *t, const gr_wgsl_type *scalar);
/* Conversion rank of the specification; -1 when there is no automatic conversion. */
int gr_wgsl_rank(const gr_wgsl_type *from, const gr_wgsl_type *to);
/* What an abstract type becomes when nothing asks for another: i32, f32. */
const gr_wgsl_type *gr_wgsl_concrete(gr_wgsl_front *f, const gr_wgsl_type *t);
/* Resolves a type expression. NULL after a report. */
const gr_wgsl_type *gr_wgsl_check_type(gr_wgsl_front *f, gr_wgsl_expr *e);
/* As check_type, but vec2 / mat2x2 / array without a template list give a partial type, for constructors. */
typedef struct gr_wgsl_partial {
    const gr_wgsl_type *type; /* complete type, or NULL */
    gr_wgsl_kind kind;        /* VEC, MAT, ARRAY when incomplete */
    uint8_t n, rows;
} gr_wgsl_partial;
typedef enum gr_wgsl_name_class {
    GR_WGSL_NAME_NONE = 0, GR_WGSL_NAME_TYPE, GR_WGSL_NAME_FUNCTION, GR_WGSL_NAME_ENUMERANT,
} gr_wgsl_name_class;
gr_wgsl_name_class gr_wgsl_predeclared(gr_str name);
/* True and fills out when the identifier is a type; false without a report when it is none. *bad after a report. */
bool gr_wgsl_type_of_name(gr_wgsl_front *f, gr_wgsl_expr *e, gr_wgsl_partial *out, bool *bad);
gr_wgsl_space gr_wgsl_space_of(gr_str name);
gr_wgsl_access gr_wgsl_access_of(gr_str name);

/* ----------------------------------------------------------------- expressions */

/* Types e; after it e may be a reference. False after a report. */
bool gr_wgsl_check_expr(gr_wgsl_front *f, gr_wgsl_expr *e);
/* Types *e and applies the load rule: afterwards a value. */
bool gr_wgsl_check_value(gr_wgsl_front *f, gr_wgsl_expr **e);
/* Converts a checked value to a type it converts to automatically; reports with `what` otherwise. */
bool gr_wgsl_convert(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *to, const char *what);
/* Abstract to i32 / f32. */
bool gr_wgsl_materialize(gr_wgsl_front *f, gr_wgsl_expr *e);
/* Converts silently known-convertible value (rank >= 0); reports range errors. */
bool gr_wgsl_coerce(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_type *to);
/* After type and stage are set: the constant's value, or the checks on constant operands. */
bool gr_wgsl_finish(gr_wgsl_front *f, gr_wgsl_expr *e);
bool gr_wgsl_check_call(gr_wgsl_front *f, gr_wgsl_expr *e);
bool gr_wgsl_check_construct(gr_wgsl_front *f, gr_wgsl_expr *e, const gr_wgsl_partial *p);
bool gr_wgsl_check_builtin(gr_wgsl_front *f, gr_wgsl_expr *e, gr_wgsl_builtin b);
bool gr_wgsl_load_args(gr_wgsl_front *f, gr_wgsl_expr *e); /* checks every argument as a value */
gr_wgsl_builtin gr_wgsl_builtin_of(gr_str name);
gr_wgsl_stage gr_wgsl_args_stage(const gr_wgsl_expr *e);

/* Overload resolution over the tables. */
typedef struct gr_wgsl_match {
    const gr_wgsl_type *param[8];
    const gr_wgsl_type *result;
    bool const_eval; /* may be a const-expression */
} gr_wgsl_match;
/* all_const: every operand is a const-expression, so that the variables may be abstract. */
bool gr_wgsl_match_builtin(gr_wgsl_front *f, gr_wgsl_builtin b, const gr_wgsl_type *const *arg, uint32_t n, bool all_const,
                           gr_wgsl_match *out);
bool gr_wgsl_match_op(gr_wgsl_front *f, gr_wgsl_op op, const gr_wgsl_type *const *arg, uint32_t n, bool all_const,
                      gr_wgsl_match *out);
uint32_t gr_wgsl_builtin_arity(gr_wgsl_builtin b);
/* The overloads in words, for the hint of a failed match. */
void gr_wgsl_describe_builtin(gr_wgsl_front *f, gr_wgsl_builtin b, gr_buf *out);
void gr_wgsl_describe_op(gr_wgsl_front *f, gr_wgsl_op op, gr_buf *out);

/* ------------------------------------------------------------------- constants */

gr_wgsl_const *gr_wgsl_new_const(gr_wgsl_front *f, const gr_wgsl_type *t, bool leaves);
const gr_wgsl_const *gr_wgsl_const_i(gr_wgsl_front *f, const gr_wgsl_type *t, int64_t i);
const gr_wgsl_const *gr_wgsl_const_f(gr_wgsl_front *f, const gr_wgsl_type *t, double v);
/* Value of e from its children's values (const stage), or, with f->spec, of override-expressions.
 * NULL after a report. */
const gr_wgsl_const *gr_wgsl_eval(gr_wgsl_front *f, gr_wgsl_expr *e);
/* Converts a constant leaf by leaf; automatic: range errors are reported; else value-constructor rules. */
const gr_wgsl_const *gr_wgsl_const_convert(gr_wgsl_front *f, const gr_wgsl_const *c, const gr_wgsl_type *to,
                                           bool automatic, uint32_t offset);
bool gr_wgsl_eval_builtin(gr_wgsl_front *f, const gr_wgsl_expr *e, const gr_wgsl_const *const *arg, gr_wgsl_const *out);
/* Checks that need only some operands constant: x / 0, shifts, index, clamp... Reports. */
bool gr_wgsl_check_partial(gr_wgsl_front *f, const gr_wgsl_expr *e);
bool gr_wgsl_check_compound(gr_wgsl_front *f, const gr_wgsl_stmt *s); /* the same for `a op= b` */
/* One scalar operation at kind k of the left operand; reports. */
bool gr_wgsl_scalar_op(gr_wgsl_front *f, uint32_t offset, gr_wgsl_kind k, gr_wgsl_op op, gr_wgsl_scalar a, gr_wgsl_scalar b,
                       gr_wgsl_scalar *r);
bool gr_wgsl_const_error(gr_wgsl_front *f, uint32_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
double gr_wgsl_largest(gr_wgsl_kind k); /* finite value of a float kind */
/* Rounds v into the float kind; false when it leaves the range or is NaN. */
bool gr_wgsl_round_float(gr_wgsl_kind k, double v, double *out);

#endif
