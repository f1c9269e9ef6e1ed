/* kernel_int.h: what the files of the kernel rung share. */
#ifndef GR_KERNEL_INT_H
#define GR_KERNEL_INT_H

#include "ladder/kernel/kernel.h"
#include "wgsl/wgsl.h"

enum { GR_KERNEL_NODES_NAMED = 12 }; /* node names in the header of a generated kernel */

/* One distinct WGSL text. */
typedef struct gr_kernel_module {
    gr_str body;       /* generated: without its header; from a file: the text with aliases re-bound */
    gr_str reference;  /* scalar text of the map body, or the op's reference; may be empty */
    bool generated, fused;
    gr_str file;       /* of a fused one: the file whose operand is computed; empty: maps alone */
    gr_str op;
    gr_str nodes[GR_KERNEL_NODES_NAMED]; /* distinct graph nodes, in order of use */
    uint32_t nodes_n, nodes_more;
    const gr_wgsl_module *wgsl; /* parsed, of files only */
    gr_str text;       /* set by gr_kernel_cache_finish */
    gr_sha256 hash;
} gr_kernel_module;

struct gr_kernel_cache {
    gr_arena *arena;
    gr_map by_key;
    GR_VEC(gr_kernel_module) module;
};

/* One node being instantiated. */
typedef struct gr_inst {
    gr_kernel_cache *cache;
    gr_arena *a;
    gr_diags *d;
    const gr_call *call;
    const gr_target *t;
    const gr_value_id *args, *results;
    gr_str node, why;
    uint32_t graph_node;
    gr_place at;
    gr_kernel **list;
    uint32_t *n;
    const gr_fusion *fused;       /* call is its core: an operand is computed where it is read */
    const gr_value_id *map_args;  /* what that reads */
} gr_inst;

/* An operand that is computed where it is read: WGSL for the end of the module, and what it binds. */
typedef struct gr_reader {
    gr_str var, function, text; /* the variable of the file, the function that stands for it */
    char key[96]; uint32_t key_n;
    gr_kernel_bind *binds; uint32_t binds_n; /* the last is the uniform block */
} gr_reader;

/* Appends a zeroed kernel with op, node, why and result ids unset; NULL when memory fails. The list has room
 * for the next power of two of its length. */
gr_kernel *gr_inst_push(gr_inst *in);
/* Registers a text under a key; *known says that it was there. UINT32_MAX when memory fails. */
uint32_t gr_cache_module(gr_kernel_cache *c, gr_str key, bool *known);
void gr_cache_name_node(gr_kernel_cache *c, uint32_t module, gr_str node);
/* A file's module with the aliases of the call; reports what the front end reports. UINT32_MAX on failure. */
uint32_t gr_cache_file(gr_kernel_cache *c, gr_diags *d, const gr_call *call, const gr_kernel_decl *k, const gr_target *t, const gr_reader *r);

/* ---- choice --------------------------------------------------------------- */

typedef enum gr_choice_kind { GR_CHOICE_NONE = 0, GR_CHOICE_FILE, GR_CHOICE_MAP } gr_choice_kind;
typedef struct gr_choice {
    gr_choice_kind kind;
    const gr_kernel_decl *decl; /* FILE: a kernel, or the reference */
    gr_buf why;                 /* owner: the caller; left empty when want_why was not set */
    bool want_why;
} gr_choice;
void gr_kernel_choose(const gr_target *t, gr_tier tier, const gr_call *call, gr_choice *out);

/* ---- bodies --------------------------------------------------------------- */

/* WGSL type of an element in storage: gr_dtype_wgsl, and f32 for f64 on the oracle (NULL elsewhere). */
/* A dtype by its name, a dtype variable's, or a dtype parameter's. */
bool gr_kernel_dtype(const gr_call *c, gr_str name, gr_dtype *out);
const char *gr_kernel_storage_type(const gr_target *t, gr_dtype type);
bool gr_kernel_map(gr_inst *in);
/* The clause that reads the operand of the fused core; NULL: none that may be replaced. */
const gr_bind *gr_kernel_once(const gr_call *core, const gr_kernel_decl *k, uint32_t operand);
/* What stands for the operand that in->fused computes, from the first free binding of the file on. */
bool gr_kernel_reader(gr_inst *in, const gr_kernel_decl *k, gr_reader *out);
bool gr_kernel_file(gr_inst *in, const gr_kernel_decl *k);
/* Whether text names the identifier, not counting members after a dot. */
bool gr_text_names(gr_str text, gr_str name);

/* ---- views ---------------------------------------------------------------- */

/* Several operands over one index space; dims outermost first, strides in elements. */
typedef struct gr_views {
    uint32_t rank, n;
    uint64_t dims[GR_RANK_MAX];
    uint64_t (*stride)[GR_RANK_MAX];
} gr_views;
/* Strides of x broadcast to y's shape (0 where broadcast). False when it does not broadcast. */
bool gr_view_strides(const gr_type *x, const gr_type *y, uint64_t stride[GR_RANK_MAX]);
/* Drops dimensions of size 1 and merges neighbours wherever all views allow it. */
void gr_views_merge(gr_views *v);

/* The bytes of a uniform block for one pass: fields laid out as the module's struct says. */
bool gr_uniform_fill(gr_inst *in, const gr_kernel_decl *k, const gr_call *call, const gr_bind *bind,
                     const gr_wgsl_decl *var, const uint8_t **data, uint64_t *bytes);

#endif
