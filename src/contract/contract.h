/* contract.h: an op as content: signature, binding, split, backward, body, kernels.
 *
 * The engine owns exactly three grammars: the shape signature, the buffer binding
 * (with split clauses) and the backward. Everything else of an op is WGSL or TOML.
 * Nothing here names an op; the seven roles are looked up in the catalog.
 *
 * Life of the parts: gr_catalog owns the ops (one arena); ops are immutable. A
 * gr_call is one use of an op: operand types and parameter values resolved
 * against its signature; it lives in the arena of whoever made it. */
#ifndef GR_CONTRACT_H
#define GR_CONTRACT_H

#include "array/array.h"
#include "base/hash.h"
#include "base/value.h"

/* ---- tensor types ---------------------------------------------------------- */

/* A dimension: its size and, where it came from a named symbolic dimension, `base + add`
 * (N - 6 is {107994, "N", -6}). base.n == 0 means no symbol. */
typedef struct gr_dim {
    uint64_t n;
    gr_str base;
    int64_t add;
} gr_dim;

/* Shape and dtype of a tensor. bounded: data plus a count; the first dimension's n is the bound. */
typedef struct gr_type {
    gr_dtype dtype;
    uint32_t rank;
    gr_dim dim[GR_RANK_MAX];
    bool bounded;
} gr_type;

/* Elements; false on overflow beyond 2^62. */
bool gr_type_count(const gr_type *t, uint64_t *count);
/* Bytes on a device: f16 2, 64-bit integers 8, all others 4 an element (bool, i8, u8 are stored as
 * one 32-bit word), rounded up to 4. */
bool gr_type_device_bytes(const gr_type *t, uint64_t *bytes);
bool gr_type_equal(const gr_type *x, const gr_type *y); /* dtype, rank, sizes; symbols ignored */
void gr_type_print(gr_buf *out, const gr_type *t);      /* f32[N - 6 = 107994, 4], f32[] */
/* WGSL storage type of a dtype: f32 f16 i32 u32 vec2<u32>; NULL for f64 (oracle only). */
const char *gr_dtype_wgsl(gr_dtype t);

/* ---- expressions over an op's names ---------------------------------------- */

/* Integer and float expressions: literals, dimension names, parameters, list[i], + - * / // /^ %,
 * comparisons, and or not, min max, size(x), rank(x), dim(x, i), prod(s), len(list), reduced_size(x, axes),
 * inner_size(x, axes) (the product of the sizes behind the last of the axes),
 * count_of(x) in indirect passes; prod_from(x, axis) and prod_after(x, axis): the product of the sizes from the axis
 * on, or after it; prefix(xs, axis): the sum of the sizes along the axis of the variadic tensors before the current one.
 * Enum words may be compared: mode == edge, type == i64. List-valued (fragment parameters only): [a, b], a list parameter, a rank
 * variable, shape(x), and the shape functions of the signature, e.g. drop(s, axes, true); inverse(permutation),
 * swap_last(r): 0 .. r-1 with the last two swapped, broadcast_axes(s, shape): the axes along which `shape` was
 * broadcast to s, spans(sizes, steps): (sizes - 1) * steps + 1.
 * Shape functions: broadcast drop permute concat split replace slice reshape expand pad sum_to tile resize unsqueeze squeeze;
 * a list parameter may stand as a whole shape (..shape). */
typedef struct gr_expr gr_expr;

/* ---- grammar 1: shape signature -------------------------------------------- */

typedef enum gr_param_kind {
    GR_PARAM_NONE = 0,
    GR_PARAM_U32, GR_PARAM_I32, GR_PARAM_F32, GR_PARAM_BOOL,
    GR_PARAM_ENUM,  /* one of the listed words */
    GR_PARAM_DTYPE, /* a dtype name */
    GR_PARAM_U32_LIST, GR_PARAM_I32_LIST, GR_PARAM_F32_LIST,
} gr_param_kind;

/* A parameter's value. Lists in v (u32 and i32 as i64, f32 as double). */
typedef struct gr_param {
    gr_param_kind kind;
    bool given;     /* false: the default was taken */
    int64_t i;      /* U32, I32, BOOL, ENUM (index), DTYPE (gr_dtype) */
    double f;       /* F32, already rounded to f32 */
    gr_str word;    /* ENUM and DTYPE text */
    uint32_t n;     /* list length */
    int64_t *li;    /* U32_LIST, I32_LIST */
    double *lf;     /* F32_LIST */
} gr_param;

typedef struct gr_sig_param {
    gr_str name;
    gr_param_kind kind;
    uint32_t fixed_len; /* lists: N of u32[N]; 0 for [*] and [expression] */
    gr_expr *len;       /* lists: length of u32[rank(s)] and of u32[N]; NULL for [*] */
    bool required;      /* no default */
    bool odd, even;     /* constraints after `in` */
    gr_expr *lo, *hi;   /* `in lo..=hi`, may be NULL */
    gr_str *words;      /* ENUM */
    uint32_t words_n;
    gr_expr *def;       /* default as expression; list defaults are a scalar broadcast or a list literal */
    gr_str def_word;    /* `all`, `reverse`, an enum word, a dtype */
    uint32_t offset;    /* in the signature text */
} gr_sig_param;

typedef struct gr_sig_tensor { /* operand or output */
    gr_str name;
    gr_str dtype;       /* a dtype, a dtype variable, or a dtype parameter's name */
    bool variadic, optional;
    struct gr_shape_item *items; /* opaque to others */
    uint32_t items_n;
    gr_str count;       /* `m` of `m <= n`: a bounded tensor; its first item is the bound */
    gr_expr *when;      /* outputs: `if keep`, present only then (else its dtype is NONE); NULL always */
    uint32_t offset;
} gr_sig_tensor;

typedef struct gr_sig_dtypes { /* T in f32, f16 */
    gr_str var;
    gr_dtype *v;
    uint32_t n;
} gr_sig_dtypes;

typedef struct gr_sig {
    gr_str text, name;
    gr_sig_tensor *operands, *outputs;
    uint32_t operands_n, outputs_n;
    gr_sig_param *params;
    uint32_t params_n;
    gr_expr **where;
    uint32_t where_n;
    gr_sig_dtypes *dtypes;
    uint32_t dtypes_n;
} gr_sig;

/* document and base_offset/text place diagnostics inside op.toml. */
bool gr_sig_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, gr_sig *out);
void gr_sig_print(gr_buf *out, const gr_sig *s); /* canonical; parse(print(s)) prints the same */

/* ---- grammar 2: buffer binding and split ----------------------------------- */

/* Text, one clause a line ('#' comments):
 *   alias T = T                          WGSL alias name = dtype variable or dtype of the signature
 *   bind src = read x                    storage, read
 *   bind xs  = read xs[*]                variadic: the kernel is run once an operand (see `each`)
 *   bind dst = write y                   storage, read_write, every element written
 *   bind acc = inout a                   storage, read_write, operand updated in place
 *   bind tmp = scratch f32[n /^ 256]     storage, read_write, uninitialised
 *   bind cnt = count y                   count buffer of a bounded tensor (u32)
 *   bind P   = uniform { n = n, w = w, a = view(a, y), pads = padding }
 *   override TILE = min(n, 64)           pipeline constant
 *   pass main over size(y)               one invocation an item, 1-D, folded past 65,535 workgroups:
 *                                        the kernel's linear index is
 *                                        (wid.y * nwg.x + wid.x) * workgroup_size + lid
 *   pass main over size(y) /^ 4          any expression
 *   pass main grid m /^ 64, n /^ 64, 1   workgroups, at most 65,535 each
 *   pass main indirect count(x) /^ 64    workgroups from a bounded operand's count
 *   pass main each xs over size(xs)      once for every variadic operand; `index(xs)`, `prefix(xs, axis)` allowed
 *   pass main repeat k in 0..bit_length(n) over n   once for every k below the end; k may be used in its grid, in uniforms and
 *                                        overrides of its entry point
 *   pass next repeat k over n            the same loop: both run for one k before the next
 *   split n: y[lo..hi] needs x[lo..hi + w - 1]
 *   split * when cut != axis: y[lo..hi] needs x[permutation[cut]: lo..hi] with sizes[cut] = hi - lo
 *                                        any axis, its number is cut; the axis of a range; parameters of the piece
 *   split flat with new_shape = [hi - lo] any range of the elements in order
 *   split s: combine accumulate          partial results over pieces of the dimension joined by a role or an op
 * View forms (all strides and offsets in elements of contiguous C order; adjacent dimensions merged):
 *   view(x)               x's own dimensions
 *   view(x, y)            x broadcast to y's shape: strides 0 where broadcast; merged jointly over all
 *                         views on the same y in this kernel, so that their dims are equal
 *   kept(x, axes)         the dimensions of x not in the list parameter `axes`
 *   reduced(x, axes)      the dimensions of x in `axes`; length: reduced_size(x, axes)
 *   permuted(x, list)     dimension i of the view is dimension list[i] of x
 *   sliced(x, starts, sizes, steps)  offset and strides of a strided slice; dims are the result's
 *   batch(x, y, 2)        the dimensions of x before its last 2, broadcast to those of y before its last 2; strides in
 *                         elements of x (a batched matrix's first element); rank 0 gives offset 0 for index 0
 * Merging keeps the linear order of the listed dimensions. A field may also be a list parameter or a rank
 * variable (`pads = padding`, `dims = s`), which fills array<vec4<u32|i32|f32>, N>, or a dtype-typed scalar. In WGSL:
 *   struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> } */
typedef enum gr_bind_kind {
    GR_BIND_NONE = 0, GR_BIND_READ, GR_BIND_WRITE, GR_BIND_INOUT, GR_BIND_SCRATCH, GR_BIND_COUNT, GR_BIND_UNIFORM,
} gr_bind_kind;

typedef enum gr_field_kind { GR_FIELD_NONE = 0, GR_FIELD_EXPR, GR_FIELD_VIEW, GR_FIELD_LIST } gr_field_kind;
typedef enum gr_view_form { GR_VIEW_NONE = 0, GR_VIEW_PLAIN, GR_VIEW_BROADCAST, GR_VIEW_KEPT, GR_VIEW_REDUCED, GR_VIEW_PERMUTED, GR_VIEW_SLICED, GR_VIEW_BATCH } gr_view_form;
typedef struct gr_bind_field {
    gr_str name;
    gr_field_kind kind;
    gr_expr *expr;           /* EXPR */
    gr_view_form view;       /* VIEW */
    gr_str tensor;           /* VIEW: operand or output. LIST: the parameter's or rank variable's name */
    gr_str arg[3];           /* VIEW: target tensor, or names of list parameters; empty where args is no name */
    gr_expr *args[3];        /* VIEW: the same as expressions: lists may be computed, sliced(y, [0, prefix(xs, 1)], shape(xs)) */
    uint32_t offset;
} gr_bind_field;

typedef struct gr_bind {
    gr_str var;       /* WGSL variable */
    gr_bind_kind kind;
    gr_str tensor;    /* READ WRITE INOUT COUNT */
    gr_str dtype;     /* SCRATCH: dtype or dtype variable */
    gr_expr *size;    /* SCRATCH: elements */
    gr_bind_field *fields;
    uint32_t fields_n;
    bool each;        /* written xs[*]: the tensor of the pass that runs */
    bool once;        /* READ: each element is read about once, so that it may be computed where it is read */
    uint32_t offset;
} gr_bind;

typedef enum gr_pass_kind { GR_PASS_NONE = 0, GR_PASS_OVER, GR_PASS_GRID, GR_PASS_INDIRECT } gr_pass_kind;
typedef struct gr_pass {
    gr_str entry, each; /* each: variadic operand or empty */
    gr_str repeat;      /* the name that counts turns, or empty */
    gr_expr *from, *to; /* the turns, from below to; NULL in both: a further pass of the loop that the pass before it is in */
    gr_pass_kind kind;
    gr_expr *size[3];   /* OVER: invocations in [0]; GRID: workgroups; INDIRECT: items of the count that a workgroup
                           takes in [0], the K of `count(x) /^ K` (NULL: 1) */
    gr_str count_of;    /* INDIRECT */
    uint32_t offset;
} gr_pass;

typedef struct gr_range { /* tensor[axis: lo..hi] with expressions over lo, hi, cut and the op's names */
    gr_str tensor;
    gr_expr *axis; /* NULL: the axis of the clause's dimension, or cut */
    gr_expr *lo, *hi;
    uint32_t offset;
} gr_range;
typedef struct gr_split_set { /* name = value, or name[index] = value: a parameter of the piece */
    gr_str name;
    gr_expr *index, *value; /* index NULL: all of it */
    uint32_t offset;
} gr_split_set;
typedef struct gr_split {
    gr_str dim;          /* dimension or rank variable that is cut; empty: any axis of the first output, whose number is `cut` */
    bool flat;           /* any range of the elements in order, the same of every tensor */
    gr_expr *when;       /* may be NULL: the clause always holds */
    gr_str combine;      /* role or op name; empty for a range split */
    gr_range *outs, *needs;
    uint32_t outs_n, needs_n;
    gr_split_set *sets;
    uint32_t sets_n;
    uint32_t offset;
} gr_split;

typedef struct gr_bind_alias { gr_str alias, dtype; uint32_t offset; } gr_bind_alias;
typedef struct gr_bind_override { gr_str name; gr_expr *value; uint32_t offset; } gr_bind_override;

typedef struct gr_binding {
    gr_str text;
    gr_bind *binds;     uint32_t binds_n;
    gr_pass *passes;    uint32_t passes_n;
    gr_split *splits;   uint32_t splits_n;
    gr_bind_alias *aliases; uint32_t aliases_n;
    gr_bind_override *overrides; uint32_t overrides_n;
} gr_binding;

bool gr_binding_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, gr_binding *out);
void gr_binding_print(gr_buf *out, const gr_binding *b);

/* ---- graph fragments: graph bodies and declared backwards ------------------- */

/* Text, one node a line: `%s = reduce_sum %x axes=axes keep_dimensions=true`,
 * several results `%v, %i = top_k %x k=3`, lists `permutation=[1, 0]`, constants
 * `%c = constant 0.5 : T[]` (a scalar of a dtype or dtype variable). Operand and output names
 * of the signature are predefined (`%x`) or to be defined (`%y`). In a backward the
 * cotangents are `%d_y` and the results `%d_x`. A line that ends in `if condition` is there only when the condition
 * over the outer call holds; lines that all have one may define the same name, and one of them holds. */
typedef struct gr_frag_param { gr_str name; gr_expr *expr; gr_str word; gr_expr **list; uint32_t list_n; uint32_t offset; } gr_frag_param;
typedef struct gr_frag_node {
    gr_str *results; uint32_t results_n; /* without % */
    gr_str op;                           /* empty for `constant` */
    gr_str *args;    uint32_t args_n;
    gr_frag_param *params; uint32_t params_n;
    gr_expr *constant; gr_str constant_dtype;
    gr_expr *when;                       /* NULL = always there */
    uint32_t offset;
} gr_frag_node;
typedef struct gr_frag { gr_str text; gr_frag_node *nodes; uint32_t nodes_n; } gr_frag;
bool gr_frag_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, gr_frag *out);
void gr_frag_print(gr_buf *out, const gr_frag *f);

/* ---- grammar 3: backward ---------------------------------------------------- */

typedef enum gr_backward_form { GR_BACKWARD_UNSET = 0, GR_BACKWARD_COMPOSED, GR_BACKWARD_DECLARED, GR_BACKWARD_NONE } gr_backward_form;
typedef struct gr_backward {
    gr_backward_form form;
    gr_frag graph;       /* DECLARED */
    gr_str *saves; uint32_t saves_n;
    gr_str convention;   /* subgradient convention */
    gr_str *stops; uint32_t stops_n; /* float operands that get no gradient, declared so */
    gr_str reason;       /* NONE */
} gr_backward;

/* ---- the op ------------------------------------------------------------------ */

typedef enum gr_category {
    GR_CATEGORY_NONE = 0, GR_CATEGORY_SELECTION, GR_CATEGORY_MOVEMENT, GR_CATEGORY_INTEGER, GR_CATEGORY_COMPARISON,
    GR_CATEGORY_POINTWISE, GR_CATEGORY_TRANSCENDENTAL, GR_CATEGORY_REDUCTION, GR_CATEGORY_LOSSY,
} gr_category;
typedef enum gr_tolerance { GR_TOLERANCE_NONE = 0, GR_TOLERANCE_EXACT, GR_TOLERANCE_TIGHT, GR_TOLERANCE_DEFAULT, GR_TOLERANCE_LOOSE } gr_tolerance;
typedef enum gr_role {
    GR_ROLE_NONE = 0, GR_ROLE_ACCUMULATE, GR_ROLE_FILL, GR_ROLE_SUM_TO_SHAPE, GR_ROLE_EXPAND, GR_ROLE_COPY, GR_ROLE_SLICE, GR_ROLE_PLACE,
    GR_ROLE_COUNT
} gr_role;
typedef enum gr_body_kind { GR_BODY_NONE = 0, GR_BODY_MAP, GR_BODY_GRAPH, GR_BODY_REFERENCE, GR_BODY_CONTRACT_ONLY } gr_body_kind;
typedef enum gr_order { GR_ORDER_NONE = 0, GR_ORDER_FIXED, GR_ORDER_UNORDERED } gr_order;

/* A map body: a WGSL scalar expression over operand names (each `T` of its operand) and
 * scalar parameters, by dtype where they differ; functions holds WGSL helper functions.
 * The WGSL type of a name or of the result: f32, f16, i32 (i32, i8), u32 (u32, u8), bool, vec2<u32> (low word first: i64,
 * u64); i8 and u8 results are wrapped by the engine. Every dtype variable (`T`) and `<param>_type` for a dtype parameter
 * (`type_type`) is an alias that expression and functions may use. A bool, u32, i32 or f32 parameter has its own
 * type, an enum is its index as u32. by_dtype chooses by the dtypes of the first operand and of the output; in op.toml the
 * keys are `i64`, `"i64 -> f32"`, `"-> f32"` and `default`. The first entry that names both wins, then one that
 * names the output, then one that names the operand. */
typedef struct gr_map_body {
    struct { gr_dtype dtype, out; gr_str expr; } *by_dtype; /* NONE: any */
    uint32_t by_dtype_n;
    gr_str functions; /* WGSL text or empty */
} gr_map_body;

typedef struct gr_kernel_decl { /* [[kernel]], also the reference body */
    gr_str file, wgsl; /* name and text */
    gr_sha256 hash;    /* of the text */
    gr_order order;
    gr_str *requires_; uint32_t requires_n; /* features: subgroups, shader-f16 */
    gr_dtype *dtypes;  uint32_t dtypes_n;   /* allowed for every alias; 0 = all of the signature */
    gr_expr *when;     /* NULL = always */
    gr_binding binding;
} gr_kernel_decl;

/* Calls that a rewrite of the graph made one (ladder/graph, opt_fuse). */
typedef struct gr_fusion {
    const struct gr_op **ops; /* of the calls, in order */
    gr_str *nodes;            /* the graph nodes that they came from */
    uint32_t n;
    gr_str why;               /* "2 maps fused: sub@1, exp@1" */
    /* NULL: one map. Else `map` computes operand `at` of `core` (flattened) where the kernel of core reads it: operands of the
     * fused call are those of map, then those of core without `at`. */
    const struct gr_call *core, *map;
    uint32_t at;
} gr_fusion;

/* [optimizer]: an op that updates weights in place, and what its operands are to a training loop. */
typedef struct gr_optimizer {
    bool declared;
    gr_str weight, gradient;         /* weight is an output too */
    gr_str *state; uint32_t state_n; /* further operands updated in place; zeros before the first step */
    gr_str step, rate;               /* i32[]: the step's number from 1; f32[]: the learning rate. Empty: none */
    gr_str factor;                   /* f32[]: what the gradient is multiplied by; not over 0: nothing is changed. Empty: none */
    /* Ops that make the factor and f16 gradients (docs/authoring.md); empty: no clipping, no mixed precision. */
    gr_str square, scale, clip, convert;
} gr_optimizer;

typedef struct gr_op {
    gr_str id;        /* "matmul@1", "user/kemal/windowed_median@1" */
    gr_str name;      /* signature name: "matmul" */
    uint32_t version;
    gr_str folder;
    gr_sha256 hash;   /* of the folder's content */
    gr_sig sig;
    gr_category category;
    gr_tolerance tolerance;
    gr_str tolerance_reason, zero_sign; /* "same" | "any" */
    gr_role role;
    gr_optimizer optimizer;
    bool mixed;       /* mixed_precision: its f32 operands become f16 where a training says so */
    gr_str *index; uint32_t index_n; /* operands whose elements are indices: must fit i32 (run/index-out-of-range) */
    gr_body_kind body;
    gr_map_body map;
    gr_frag graph;
    gr_kernel_decl reference;
    gr_kernel_decl *variants; uint32_t variants_n; /* [[body.variant]]: references for other dtypes */
    gr_kernel_decl *kernels; uint32_t kernels_n;
    gr_split *splits; uint32_t splits_n; /* [split] of the op itself, valid for all bodies */
    gr_str cpu;       /* "kernel" | "reference" | "graph" | "map" */
    gr_backward backward;
    gr_str summary, description, author, license;
    gr_str *references; uint32_t references_n;
    struct gr_op_source *source; /* op.toml and where its pieces stand; opaque */
    const gr_fusion *fusion; /* NULL: content. Else made by a rewrite: no folder, no source, in no catalog */
    gr_str *tags; uint32_t tags_n;
    gr_value *example, *import_; /* [example], [import] tables, may be NULL */
    struct gr_import_rule *imports; uint32_t imports_n; /* of [import] onnx, in order */
} gr_op;

/* How an operator of another system becomes ops (docs/grammars.md): a signature that says what the operator is given and a
 * graph fragment over it. The shell is that signature as an op without kernels, for gr_call_resolve. */
typedef struct gr_import_rule {
    gr_op shell;             /* sig.name: the operator's name. Short form `onnx = "Relu"`: the op's own signature */
    const gr_op *home;       /* the op whose document holds the rule; set by who collects rules */
    gr_str domain;           /* empty: the system's own operators */
    int64_t since, until;    /* versions of the operator set, both included */
    gr_str *inputs; uint32_t inputs_n; /* names of the operator's inputs by position: operands, or parameters that must be known */
    gr_str *ignore; uint32_t ignore_n; /* attributes without meaning here */
    bool direct;             /* short form: a call of home */
    gr_str fold;             /* an op of two operands, over all inputs from the left; or empty */
    gr_expr *value;          /* the result is this list of integers; or NULL */
} gr_import_rule;

typedef struct gr_catalog gr_catalog;
gr_catalog *gr_catalog_new(void); /* NULL when memory fails */
void gr_catalog_free(gr_catalog *c);
/* Loads every op folder below root ("name@version" folders; nested folders prefix the id:
 * examples/ops/user/kemal/windowed_median@1 below root examples/ops is user/kemal/windowed_median@1).
 * All complaints of all ops are reported; ops with errors are left out. */
bool gr_catalog_load(gr_catalog *c, gr_diags *d, gr_str root);
/* The same, but what is wrong with an op goes to on_broken alone, and the rest is loaded; false when root cannot be read. */
typedef void gr_on_broken_op(void *user, gr_str folder, gr_str id, const gr_diags *why);
bool gr_catalog_load_each(gr_catalog *c, gr_diags *d, gr_str root, gr_on_broken_op *on_broken, void *user);
/* One op folder under a given id. */
const gr_op *gr_catalog_load_op(gr_catalog *c, gr_diags *d, gr_str folder, gr_str id);
/* The same in the place of an op of that id, if there is one: what names it from then on means this folder. */
const gr_op *gr_catalog_load_op_over(gr_catalog *c, gr_diags *d, gr_str folder, gr_str id);
/* One op from memory: file names and texts (op.toml among them). */
const gr_op *gr_catalog_add(gr_catalog *c, gr_diags *d, gr_str id, const gr_str *names, const gr_str *texts, uint32_t n);
/* The same op in no catalog: it lives in a, other ops cannot name it, roles are not claimed. NULL when reported. */
const gr_op *gr_op_alone(gr_arena *a, gr_diags *d, gr_str id, const gr_str *names, const gr_str *texts, uint32_t n);
/* "matmul" finds the highest version, "matmul@1" that one, "user/ada/foo.d_x@1" what gr_catalog_derive makes of
 * user/ada/foo@1. NULL when absent (no diagnostic). */
const gr_op *gr_catalog_find(const gr_catalog *c, gr_str id);
const gr_op *gr_catalog_role(const gr_catalog *c, gr_role role);
/* The gradient of an op with a composed map body by one operand of its signature: a map op made from content, found again
 * under its id, the op's with ".d_OPERAND" before the version. It takes the operands, then the cotangent of the output, and the
 * same parameters, and gives the cotangent times the derivative in the shape of the output. Its own backward is
 * composed. *out is NULL when the gradient is zero everywhere. False when the map cannot be derived (reported). Made once
 * and owned by the catalog, which one thread at a time uses. */
bool gr_catalog_derive(const gr_catalog *c, gr_diags *d, const gr_op *op, uint32_t operand, const gr_op **out);
uint32_t gr_catalog_count(const gr_catalog *c);
const gr_op *gr_catalog_at(const gr_catalog *c, uint32_t i); /* sorted by id */
/* Fragments of all ops against each other, once every root is loaded: contract/op-unknown and its like. */
bool gr_catalog_check(const gr_catalog *c, gr_diags *d);
bool gr_catalog_check_op(const gr_catalog *c, gr_diags *d, const gr_op *op); /* those of one op alone */
/* The nearest id by edit distance, for hints; {0} when nothing is near. */
gr_str gr_catalog_near(const gr_catalog *c, gr_str id);

/* The whole check of one op (done at load too): grammar, WGSL, binding against reflection,
 * category, tolerance, roles, splits, backward. */
bool gr_op_check(gr_arena *scratch, gr_diags *d, const gr_op *op);
/* What sharing an op asks for and a private one may lack: description, tags, author, licence, references, example. */
bool gr_op_check_metadata(gr_arena *scratch, gr_diags *d, const gr_op *op);
/* The expression of a map body for dtypes; empty when there is none. */
gr_str gr_map_expr(const gr_map_body *m, gr_dtype first, gr_dtype out);
/* The reference for a call's dtypes: the first of the references whose `dtypes` hold the first operand's (or the
 * output's where there is no operand); NULL when none does. */
const gr_kernel_decl *gr_op_reference(const gr_op *op, gr_dtype first);
void gr_op_print(gr_buf *out, const gr_op *op); /* for `catalog NAME` */
/* The files that are an op's content, which op->hash covers: names and texts. Folders inside it (receipts/) are not content. */
uint32_t gr_op_files(const gr_op *op);
gr_str gr_op_file(const gr_op *op, uint32_t i, gr_str *text);
const gr_value *gr_op_document(const gr_op *op); /* op.toml as a tree */
const char *gr_category_name(gr_category c);
const char *gr_tolerance_name(gr_tolerance t);
const char *gr_role_name(gr_role r);

/* ---- a call: the signature applied ------------------------------------------- */

/* One operand given by position; a variadic operand takes several in a row. */
typedef struct gr_call {
    const gr_op *op;
    gr_type *operands;       /* flattened */
    uint32_t operands_n;
    uint32_t *operand_first; /* operands_n of the signature + 1 entries: start of each signature operand */
    gr_param *params;        /* by signature order */
    gr_type *outputs;
    uint32_t outputs_n;
    struct gr_env *env;      /* dims, rank variables, dtype variables by name */
    uint32_t each;           /* inside a pass `each xs`: which of the variadic operands is current; size(xs), dim(xs, i),
                                rank(xs), index(xs) and prefix(xs, axis) mean that one. 0 elsewhere */
    gr_str repeat;           /* inside a pass `repeat k`: k and its value; empty elsewhere */
    int64_t turn;
} gr_call;

/* A parameter as given: by name with a value (JSON types) or, for fragments, already resolved. */
typedef struct gr_arg { gr_str name; const gr_value *value; gr_param resolved; bool is_resolved; gr_place at; } gr_arg;

/* Infers outputs and checks everything; reports contract/… with `at` as place of the call.
 * `given[i]` of operands: types in order; optional operands absent are passed as dtype NONE
 * when named, or left out at the end. */
bool gr_call_resolve(gr_arena *a, gr_diags *d, const gr_op *op, const gr_type *operands, uint32_t operands_n,
                     const gr_arg *args, uint32_t args_n, gr_place at, gr_call *out);

/* ---- proposing a call, for case generation: values of the signature's names give operand types ---- */

/* A name that operand patterns bind: a dimension (its size in dims[0]) or a rank variable. */
typedef struct gr_sig_name { gr_str name; bool rest; uint32_t rank; uint64_t dims[GR_RANK_MAX]; } gr_sig_name;
/* In the order of the signature, without values. False when memory fails. */
bool gr_sig_names(gr_arena *a, const gr_sig *s, gr_sig_name **out, uint32_t *n);
/* A call whose names have these values, `many` tensors for a variadic operand; dtypes by signature operand, NONE for an
 * absent optional one. Parameters are not set and shapes that are expressions are empty: ranges of parameters may be
 * evaluated on it. gr_sig_complete then reads parameters and computes those shapes; the types in `operands` are
 * for gr_call_resolve, which alone says whether the call is legal. */
bool gr_sig_bind(gr_arena *a, const gr_op *op, const gr_sig_name *names, uint32_t names_n, const gr_dtype *dtypes, uint32_t many, gr_call *out);
bool gr_sig_complete(gr_arena *a, gr_diags *d, gr_call *c, const gr_sig_name *names, uint32_t names_n, const gr_arg *args, uint32_t args_n);
/* The dtypes that an operand of the signature may have; out holds GR_DTYPE_COUNT. */
uint32_t gr_sig_tensor_dtypes(const gr_sig *s, const gr_sig_tensor *t, gr_dtype *out);

/* A resolved View for a field of one pass: dims and strides merged as the form says; for BROADCAST all fields of the
 * same target in `b` are merged jointly. Errors as diagnostics. */
typedef struct gr_view { uint32_t rank, dims[GR_RANK_MAX], strides[GR_RANK_MAX], offset, size; } gr_view;
bool gr_view_resolve(gr_diags *d, const gr_binding *b, const gr_bind_field *f, const gr_call *c, gr_place at, gr_view *out);
/* The values of a LIST field; out holds up to 32. */
bool gr_list_resolve(gr_diags *d, const gr_bind_field *f, const gr_call *c, gr_place at, double out[32], uint32_t *n);

/* An expression of a split clause, with the extra names of ranges: an integer, 0 or 1 for a condition, or a list of integers
 * (memory from a), into p's kind. */
typedef struct gr_cut_names { int64_t lo, hi, cut; } gr_cut_names;
bool gr_expr_cut(gr_arena *a, gr_diags *d, const gr_expr *e, const gr_call *c, const gr_cut_names *names, gr_place at, gr_param *out);

/* Expressions over a call. lo and hi are the extra names of split ranges (pass NULL, NULL otherwise). */
bool gr_expr_int(gr_diags *d, const gr_expr *e, const gr_call *c, const int64_t *lo, const int64_t *hi, gr_place at, int64_t *out);
bool gr_expr_float(gr_diags *d, const gr_expr *e, const gr_call *c, gr_place at, double *out);
bool gr_expr_true(gr_diags *d, const gr_expr *e, const gr_call *c, gr_place at, bool *out);
/* A named dimension, a rank variable's dims, a dtype variable; false when unknown. */
bool gr_call_dim(const gr_call *c, gr_str name, uint64_t *out);
bool gr_call_dtype(const gr_call *c, gr_str name, gr_dtype *out);
bool gr_call_shape(const gr_call *c, gr_str name, uint32_t *rank, uint64_t dims[GR_RANK_MAX]);
/* The operand or output of that signature name (first of a variadic); NULL when absent. */
const gr_type *gr_call_tensor(const gr_call *c, gr_str name, bool *is_output, uint32_t *index);
/* The axis of a tensor that a name of the signature rules, for split clauses: the first axis whose size in
 * the signature mentions `dim` (n in x: f32[n] and in y: f32[n - w + 1]: 0; m in a: T[..s, m, k]: rank - 2). A rank
 * variable: the first axis that its dimensions take in that tensor (also inside broadcast(s, t), drop(s, ...) and the
 * like), with *span axes in all. False when the tensor does not depend on it. */
bool gr_call_axis(const gr_call *c, gr_str tensor, gr_str dim, uint32_t *axis, uint32_t *span);
/* Fragment parameters evaluated in the caller's environment, ready to pass as gr_arg. */
bool gr_frag_args(gr_arena *a, gr_diags *d, const gr_frag_node *n, const gr_call *outer, gr_place at, gr_arg **args, uint32_t *args_n);
/* Whether the line is there for this outer call: its condition holds or it has none. False when the condition has no value. */
bool gr_frag_placed(gr_diags *d, const gr_frag_node *n, const gr_call *outer, gr_place at, bool *placed);

#endif
