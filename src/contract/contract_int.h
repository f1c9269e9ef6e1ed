/* contract_int.h: what the files of src/contract share. */
#ifndef GR_CONTRACT_INT_H
#define GR_CONTRACT_INT_H

#include "contract/contract.h"

enum {
    GR_EXPR_DEPTH = 64,    /* nesting of an expression */
    GR_EXPR_ARGS = 64,     /* arguments of a function, entries of a list literal */
    GR_SIG_MAX = 64,       /* operands, outputs, parameters, clauses of a signature */
    GR_BINDING_MAX = 256,  /* clauses of a binding */
    GR_FRAG_MAX = 1024,    /* nodes of a fragment */
    GR_TEXT_MAX = 1 << 20, /* bytes of one piece of grammar */
};

/* ---- text in its document ---------------------------------------------------- */

/* A piece of grammar and where its first character stands, so that a diagnostic inside a TOML
 * string names the line of op.toml. */
typedef struct gr_piece {
    gr_str document, pointer, text;
    uint32_t line, col; /* of text[0]; 0 means 1 */
} gr_piece;
gr_place gr_piece_place(const gr_piece *p, uint32_t offset);

/* ---- tokens -------------------------------------------------------------------- */

typedef enum gr_tok_kind { GR_TOK_END = 0, GR_TOK_NAME, GR_TOK_INT, GR_TOK_FLOAT, GR_TOK_STRING, GR_TOK_PUNCT, GR_TOK_LINE, GR_TOK_BAD } gr_tok_kind;
/* Punctuation of one character is that character. */
enum { GR_P_FLOOR_DIV = 256, GR_P_CEIL_DIV, GR_P_EQ, GR_P_NE, GR_P_LE, GR_P_GE, GR_P_ARROW, GR_P_DOTS, GR_P_DOTS_EQ };

typedef struct gr_tok {
    gr_tok_kind kind;
    int punct;
    gr_str text;
    int64_t i;
    double f;
    uint32_t offset;
} gr_tok;

typedef struct gr_parser {
    gr_arena *a;
    gr_diags *d;
    gr_piece src;
    size_t at;     /* behind tok */
    gr_tok tok;    /* the current token */
    uint32_t nest; /* open brackets: a newline counts only outside of them */
    uint32_t depth;
    bool lines;    /* newlines are tokens */
    bool failed;
} gr_parser;

void gr_parser_init(gr_parser *p, gr_arena *a, gr_diags *d, gr_piece src, bool lines);
void gr_parser_next(gr_parser *p);
gr_tok gr_parser_peek(const gr_parser *p); /* the token after tok */
bool gr_parser_is(const gr_parser *p, int punct);
bool gr_parser_is_word(const gr_parser *p, const char *word);
bool gr_parser_take(gr_parser *p, int punct); /* consumes it when it is next */
bool gr_parser_take_word(gr_parser *p, const char *word);
bool gr_parser_expect(gr_parser *p, int punct, const char *where);
bool gr_parser_name(gr_parser *p, const char *what, gr_str *out, uint32_t *offset);
bool gr_parser_word(gr_parser *p, const char *what, gr_str *out); /* a name, or one in double quotes */
/* contract/syntax at the current token: "expected WANT, found ..." */
bool gr_parser_expected(gr_parser *p, const char *want);
bool gr_parser_fail(gr_parser *p, gr_diag_name name, uint32_t offset, const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool gr_parser_oom(gr_parser *p);
/* Skips to the next line (lines mode). */
void gr_parser_skip_line(gr_parser *p);

/* ---- expressions ------------------------------------------------------------------ */

typedef enum gr_expr_kind {
    GR_E_NONE = 0, GR_E_INT, GR_E_FLOAT, GR_E_BOOL, GR_E_NAME,
    GR_E_INDEX, /* arg[0][arg[1]] */
    GR_E_CALL,  /* fn over arg */
    GR_E_LIST, GR_E_NEG, GR_E_NOT, GR_E_BINARY,
} gr_expr_kind;

typedef enum gr_fn {
    GR_FN_NONE = 0,
#define GR_FN(id, text, min, max, result, args) GR_FN_##id,
#include "contract/functions.def"
#undef GR_FN
    GR_FN_COUNT
} gr_fn;

/* Binary operators: the token's code for punctuation, or these. */
enum { GR_OP_AND = 512, GR_OP_OR };

struct gr_expr {
    gr_expr_kind kind;
    int op;
    gr_fn fn;
    int64_t i;
    double f;
    gr_str name; /* NAME; FLOAT: as written */
    gr_expr **arg;
    uint32_t arg_n;
    uint32_t offset, end;
};

gr_expr *gr_expr_parse(gr_parser *p);     /* any expression; NULL when reported */
gr_expr *gr_expr_parse_sum(gr_parser *p); /* without comparisons, and, or, not */
int gr_expr_power(const gr_expr *e); /* how tightly its operator binds; comparisons are 4 */
void gr_expr_print(gr_buf *out, const gr_expr *e);
bool gr_expr_same(const gr_expr *x, const gr_expr *y); /* same tree, offsets apart */
gr_expr *gr_expr_new(gr_parser *p, gr_expr_kind kind, uint32_t offset);

/* What an expression gives, for the check at load. */
typedef enum gr_kind_of {
    GR_K_NONE = 0, GR_K_INT, GR_K_FLOAT, GR_K_BOOL, GR_K_LIST, GR_K_FLOATS, GR_K_WORD,
    GR_K_TENSOR, /* the name of an operand or output, argument of size(x) and its like */
    GR_K_SHAPES, /* shapes of all operands of a variadic one */
    GR_K_NUMBER, /* expected only: INT or FLOAT */
    GR_K_ANY,
} gr_kind_of;

/* Names an expression may use. */
typedef struct gr_scope {
    const gr_sig *sig;
    bool outputs;  /* outputs may be named (bindings, fragments) */
    bool ranges;   /* lo, hi and cut of split ranges */
    bool dispatch; /* count_of, index, prefix */
    const gr_binding *turns; /* names that its passes repeat; may be NULL */
} gr_scope;

gr_kind_of gr_scope_find(const gr_scope *s, gr_str name);
bool gr_expr_mentions(const gr_expr *e, gr_str name); /* as a name, anywhere in it; false for NULL */
/* Checks names and kinds of e, reporting into d; gives its kind, NONE when reported. */
gr_kind_of gr_expr_check(gr_diags *d, const gr_piece *src, const gr_scope *s, const gr_expr *e, gr_kind_of want);

/* ---- shapes in a signature --------------------------------------------------------- */

typedef enum gr_item_kind { GR_ITEM_NONE = 0, GR_ITEM_DIM, GR_ITEM_REST } gr_item_kind;
struct gr_shape_item {
    gr_item_kind kind; /* DIM: one dimension; REST: `..e`, a list of dimensions */
    gr_expr *e;
    uint32_t offset;
};

/* ---- evaluation --------------------------------------------------------------------- */

typedef struct gr_int { /* an integer that may remember the symbol it came from */
    int64_t i;
    gr_str base;
    int64_t add;
} gr_int;

typedef struct gr_val {
    gr_kind_of kind; /* INT FLOAT BOOL LIST FLOATS WORD SHAPES */
    gr_int n;        /* INT; BOOL in n.i */
    double f;
    gr_str word;
    uint32_t len;    /* LIST, FLOATS, SHAPES */
    gr_int *list;
    double *floats;
    const struct gr_shape *shapes;
} gr_val;

typedef struct gr_shape {
    uint32_t rank;
    gr_dim dim[GR_RANK_MAX];
} gr_shape;

typedef struct gr_env_dim { gr_str name; gr_dim d; uint32_t tensor, axis; } gr_env_dim;
typedef struct gr_env_rest { gr_str name; uint32_t tensor; gr_shape *shapes; uint32_t shapes_n; } gr_env_rest;
typedef struct gr_env_dtype { gr_str name; gr_dtype t; uint32_t tensor; } gr_env_dtype;
struct gr_env {
    GR_VEC(gr_env_dim) dims;
    GR_VEC(gr_env_rest) rests;
    GR_VEC(gr_env_dtype) dtypes;
};

typedef struct gr_evaluator {
    gr_arena *a; /* for lists */
    gr_diags *d;
    const gr_call *c;
    const int64_t *lo, *hi, *cut;
    gr_place at;
    const char *what;      /* "dimension 1 of y", for messages */
    const gr_expr *whole;  /* the expression being evaluated */
    const gr_expr *minus;  /* the first subtraction that went below zero, and its sides */
    int64_t minus_a, minus_b;
    uint32_t depth;
} gr_evaluator;

bool gr_eval(gr_evaluator *v, const gr_expr *e, gr_val *out);
/* An integer at least 0; below zero is contract/underflow with both sides and their origin. */
bool gr_eval_dim(gr_evaluator *v, const gr_expr *e, gr_int *out);
bool gr_eval_list(gr_evaluator *v, const gr_expr *e, gr_val *out); /* LIST */
/* A shape function; args are evaluated. split gives SHAPES. */
bool gr_eval_shape_fn(gr_evaluator *v, const gr_expr *e, const gr_val *arg, gr_val *out);
/* A function of indices as other systems write them: from the end, by axis, with steps (wrap and what follows it in functions.def). */
bool gr_eval_index_fn(gr_evaluator *v, const gr_expr *e, const gr_val *arg, gr_val *out);
/* contract/NAME with the evaluator's place and trail of values. */
bool gr_eval_fail(gr_evaluator *v, gr_diag_name name, const char *hint, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* "n = 3 (dimension 0 of x), w = 7 (parameter)" for the names in e. */
void gr_eval_origins(gr_buf *out, const gr_evaluator *v, const gr_expr *e);
bool gr_eval_new_list(gr_evaluator *v, uint32_t n, gr_val *out);

/* Operand or output of that name with the variadic index of the call; NULL when absent or unknown. */
const gr_type *gr_call_type(const gr_call *c, gr_str name);
int gr_sig_find_param(const gr_sig *s, gr_str name);   /* index or -1 */
int gr_sig_find_operand(const gr_sig *s, gr_str name);
int gr_sig_find_output(const gr_sig *s, gr_str name);
const gr_sig_dtypes *gr_sig_find_dtypes(const gr_sig *s, gr_str var);
bool gr_sig_is_dtype_var(const gr_sig *s, gr_str name);

/* ---- parsing with places ---------------------------------------------------------------- */

bool gr_sig_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src, gr_sig *out);
bool gr_binding_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src, gr_binding *out);
bool gr_frag_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src, gr_frag *out);
/* Only `split` clauses. */
bool gr_splits_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src, gr_split **out, uint32_t *n);
void gr_split_print(gr_buf *out, const gr_split *s);
gr_expr *gr_expr_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src);
/* Names and kinds of a binding against a signature; decides which uniform fields are lists. */
bool gr_binding_check_names(gr_diags *d, const gr_piece *src, const gr_sig *s, gr_binding *b);
bool gr_splits_check(gr_diags *d, const gr_piece *src, const gr_sig *s, const gr_split *split, uint32_t n);

/* "did you mean" over names: the nearest within distance 2, or {0}. */
typedef struct gr_nearest { gr_str word, best; int distance; } gr_nearest;
gr_nearest gr_nearest_start(gr_str word);
void gr_nearest_add(gr_nearest *n, gr_str candidate);

/* ---- op documents -------------------------------------------------------------------------- */

/* Where the pieces of an op stand, kept for later checks. */
struct gr_op_source {
    gr_doc doc; /* op.toml */
    gr_piece signature, reference, split, backward, graph;
    gr_piece *kernels, *variants; /* bindings, as in gr_op */
    gr_str *files, *texts; /* all files of the folder */
    uint32_t files_n;
};

bool gr_op_read(gr_arena *a, gr_diags *d, gr_str id, gr_str folder, const gr_str *names, const gr_str *texts, uint32_t n, gr_op *out);
/* The table [import] of op.toml into op->imports; parse fails report. */
bool gr_op_read_imports(gr_arena *a, gr_diags *d, gr_op *op);
/* The graph body of op as check_document checks it: values defined once, results there, expressions over its signature. */
bool gr_op_check_graph(gr_arena *scratch, gr_diags *d, const gr_op *op);
/* A string value of op.toml as a piece whose first character has the place it has there. */
gr_piece gr_piece_of_value(gr_arena *a, const gr_doc *doc, const gr_value *v);
/* deep: every dtype instantiation of every WGSL file; otherwise each file as it stands. */
bool gr_op_check_wgsl(gr_arena *scratch, gr_diags *d, const gr_op *op, bool deep);
bool gr_op_check_document(gr_arena *scratch, gr_diags *d, const gr_op *op);
/* Category against the bodies of the WGSL reference or the map. */
bool gr_op_check_category(gr_arena *scratch, gr_diags *d, const gr_op *op);

/* The words of op.toml in the order of their enums: "none" first, NULL at the end. */
extern const char *const gr_category_words[], *const gr_tolerance_words[], *const gr_role_words[];

#endif
