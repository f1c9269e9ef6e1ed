/* plan_int.h: what the files of the plan rung share: the builder, where values live, pieces. */
#ifndef GR_PLAN_INT_H
#define GR_PLAN_INT_H

#include "ladder/plan/plan.h"

enum {
    GR_NO_BUFFER = 0xffffffffu,
    GR_BIND_ALIGN = 256,   /* offset of a binding */
    GR_PAGE_ALIGN = 1024,  /* page sizes: the same element index is aligned for 2, 4 and 8 byte elements */
    GR_UNIFORM_SLOT = 256,
    GR_MAX_PIECES = 65536, /* pieces of one node */
    GR_MAX_RUNS = 4096,    /* copies that gather one piece that is not contiguous */
};

/* Where a value lives between steps. */
typedef enum gr_home_kind { GR_HOME_NONE = 0, GR_HOME_SINGLE, GR_HOME_PAGED, GR_HOME_HOST, GR_HOME_EMPTY } gr_home_kind;
typedef struct gr_home {
    gr_home_kind kind;
    gr_buffer_id first;
    uint32_t pages;
    uint64_t page_bytes, bytes;
    gr_buffer_id count;
    uint32_t last_node;   /* last node that reads it; UINT32_MAX: an output */
    bool used;            /* by a node, or as an output */
    bool pooled;          /* its buffers go back to the pool after last_node */
    gr_value_id owner;    /* the value whose buffers these are: itself, or the source of an alias */
    uint32_t sharers;     /* aliases still alive, the owner included */
} gr_home;

/* Pages of a working value whose last reader is done: consecutive buffers. */
typedef struct gr_free_pages { gr_buffer_id first; uint32_t pages; uint64_t page_bytes, bytes; bool halves; } gr_free_pages;

/* A piece of a value as `outer` runs of `run` bytes, `stride` bytes apart, from byte `lo`. */
typedef struct gr_span { uint64_t outer, stride, lo, run; } gr_span;

/* What a kernel's binding of a value gets. */
typedef struct gr_loc {
    gr_buffer_id buffer;
    uint64_t offset, bytes;
    gr_value_id value;
    gr_buffer_id count;
    bool temp;            /* from the pool, given back after the piece */
} gr_loc;

/* How one attempt at a plan treats big tensors; the settings that streaming varies. */
typedef struct gr_plan_limits {
    uint64_t binding;     /* bytes of one binding */
    uint64_t page;        /* tensors over `binding` are cut into pages of at most this */
    uint64_t piece;       /* bytes of one tensor of a piece */
    uint64_t stream_over; /* larger values live on the host; UINT64_MAX: none */
    uint64_t staging;     /* bytes of a staging buffer, at most */
} gr_plan_limits;

typedef struct gr_builder {
    gr_arena *a;
    gr_diags *d;
    const gr_kernels *k;
    const gr_catalog *catalog;
    const gr_graph *g;
    const gr_target *t;
    gr_tier tier;
    gr_plan_limits lim;
    gr_plan *p;
    gr_home *home;        /* by value */
    gr_value_id *update;  /* by value: the output that is this source updated in place, or GR_NO_VALUE */
    GR_VEC(gr_plan_step) steps;
    GR_VEC(gr_plan_buffer) buffers;
    GR_VEC(gr_buffer_id) free_list;
    GR_VEC(gr_free_pages) free_pages;
    bool *halves;         /* by buffer: holds f16; such buffers are reused among themselves */
    uint32_t halves_cap;
    GR_VEC(gr_kernel) kernels;
    gr_map kernel_ids, uniform_ids;
    GR_VEC(uint8_t) uniforms;
    gr_kernel_cache *cache; /* texts of pieces */
    gr_buffer_id up, down, empty; /* staging and the stand-in for absent or empty operands */
    uint64_t up_at, down_at;
    uint32_t indirect_kernel; /* in kernels */
    uint32_t node;        /* being planned */
    bool streamed;        /* some value lives on the host */
} gr_builder;

/* ---- pool.c ------------------------------------------------------------------ */

/* A buffer of its own. GR_NO_BUFFER when memory fails (reported). */
gr_buffer_id gr_pool_new(gr_builder *b, gr_str name, gr_buffer_kind kind, gr_memory memory, uint64_t bytes);
/* A working buffer: the best fitting free one, else the largest free one grown, else a new one. */
gr_buffer_id gr_pool_take(gr_builder *b, gr_str name, uint64_t bytes, bool halves);
bool gr_pool_give(gr_builder *b, gr_buffer_id id);
/* Pages of the same form are reused as they are. GR_NO_BUFFER: none are free. */
gr_buffer_id gr_pool_take_pages(gr_builder *b, uint32_t pages, uint64_t page_bytes, uint64_t bytes, bool halves);
bool gr_pool_give_pages(gr_builder *b, const gr_home *h, bool halves);
void gr_pool_touch(gr_builder *b, gr_buffer_id id); /* used by the step about to be pushed */

/* ---- move.c ------------------------------------------------------------------ */

gr_plan_step *gr_step_push(gr_builder *b, gr_step_kind kind);
bool gr_step_upload(gr_builder *b, gr_value_id v, gr_buffer_id to, uint64_t to_offset, uint64_t host_offset, uint64_t bytes);
bool gr_step_readback(gr_builder *b, gr_value_id v, gr_buffer_id from, uint64_t from_offset, uint64_t host_offset, uint64_t bytes);
/* A value's buffers (or host place) are made: pages where it is over the binding limit. */
bool gr_home_make(gr_builder *b, gr_value_id v, gr_memory memory, bool pooled);
/* The piece of v for reading: bound where it lies, or gathered into a working buffer. */
bool gr_span_fetch(gr_builder *b, gr_value_id v, gr_span s, gr_loc *out);
/* Where a piece of v is to be written; gr_span_flush moves it home when that is elsewhere. */
bool gr_span_place(gr_builder *b, gr_value_id v, gr_span s, gr_loc *out);
bool gr_span_flush(gr_builder *b, gr_value_id v, gr_span s, const gr_loc *l);
bool gr_span_done(gr_builder *b, const gr_loc *l); /* gives a temporary back */

/* ---- dispatch.c --------------------------------------------------------------- */

/* Folds n workgroups into two dimensions of at most max. False when they do not fit. */
bool gr_grid_fold(uint64_t n, uint32_t max, uint32_t grid[3]);
/* Whether every kernel of the list has a grid that the target dispatches. */
bool gr_kernels_fit(const gr_builder *b, const gr_kernel *list, uint32_t n);
/* The dispatches of one node or piece. locs: by local value id (operands, then results) when the kernels were
 * instantiated for a piece; NULL: the kernels name graph values, taken from their homes. */
bool gr_dispatch_all(gr_builder *b, const gr_kernel *list, uint32_t n, const gr_loc *locs, uint64_t work);
/* Work units, roughly: outputs times an eighth of the terms of each (the named dimensions of an operand that no output keeps) and the windows of
 * their sizes; at least the elements read and written. */
uint64_t gr_call_work(const gr_call *c);

/* ---- split.c ------------------------------------------------------------------ */

/* Plans a node piece by piece. False with nothing reported when no clause allows it: *why then says so. */
typedef enum gr_split_result { GR_SPLIT_NONE = 0, GR_SPLIT_DONE, GR_SPLIT_IMPOSSIBLE, GR_SPLIT_FAILED } gr_split_result;
gr_split_result gr_split_node(gr_builder *b, uint32_t node, uint64_t piece_bytes, gr_buf *why);
/* One piece, whole: every operand fetched, every result placed. */
gr_split_result gr_split_whole(gr_builder *b, uint32_t node);

/* ---- build.c, verdict.c, fix.c -------------------------------------------------- */

/* One attempt. Reports what makes it impossible and returns false. */
bool gr_plan_attempt(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, gr_tier tier,
                     const gr_plan_limits *lim, gr_plan *p);
/* Everything but the fixes: attempts, guarantee, tolerance, verdict. A red plan still returns true. */
bool gr_plan_settle(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, const gr_plan_options *o, gr_plan *p);
/* Fills node_class: the nodes of the plan's graph, those inside a fused node one by one. False when memory fails. */
bool gr_plan_list_classes(gr_arena *a, gr_plan *p);
/* The graph that the kernels came from, lowered again for another tier or target; it keeps the tier that the document declares. */
bool gr_plan_lower_again(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, gr_tier tier, const gr_target *t, gr_kernels *out);
/* Changes that turn a red plan, each verified by planning again. */
bool gr_plan_find_fixes(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, const gr_plan_options *o, gr_plan *p);
bool gr_plan_warn(gr_arena *a, gr_plan *p, gr_diag_name name, gr_verdict at_least);

#endif
