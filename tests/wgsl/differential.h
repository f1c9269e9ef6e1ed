/* differential.h: one WGSL program on a WebGPU device and in the evaluator, compared scalar by scalar.
 *
 * Integers must be equal, floats within the bound of the evaluator's bounded mode; what that mode marks as
 * ambiguous, unbounded or not finite is skipped and counted. The f32 and the sanitizer mode must agree with the
 * device in the same way. Buffers are found by reflection and filled from a seed. Include after cmocka.h. */
#ifndef GR_TESTS_DIFFERENTIAL_H
#define GR_TESTS_DIFFERENTIAL_H

#include "base/math.h"
#include "base/rng.h"
#include "ladder/run/webgpu/device.h"
#include "wgsl/eval.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIFF_BINDINGS = 16, DIFF_ELEMENTS = 256 /* of a runtime-sized array */, DIFF_STEPS = 200000 };

typedef enum diff_fill {
    DIFF_NO_FILL = 0,
    DIFF_SPECIAL, /* special values: binding 0 runs through them fastest, binding 1 next: all pairs in 256 elements */
    DIFF_RANDOM,  /* small, special and random ones */
    DIFF_UNIT,    /* floats in [-1, 1] */
    DIFF_POSITIVE, /* floats in [2^-6, 64] */
    DIFF_BITS,    /* floats of any bits; programs may only copy and bitcast them */
} diff_fill;

typedef struct diff_program {
    gr_str name, text, entry; /* entry: empty for the only one */
    uint32_t grid[3];
    diff_fill fill;
    uint64_t seed;
    bool any_data; /* not written for data like ours: where the sanitizer objects or loops grow long, nothing is compared */
} diff_program;

typedef enum diff_verdict {
    DIFF_NO_VERDICT = 0,
    DIFF_SAME,
    DIFF_DIFFERENT,
    DIFF_BROKEN,  /* we refuse it, or it runs for too long */
    DIFF_REFUSED, /* we accept it, the device does not */
    DIFF_ABSENT,  /* the device lacks a feature, or nothing is written */
} diff_verdict;

typedef struct diff_counts {
    uint64_t scalars, floats; /* that the device changed */
    uint64_t ambiguous;
} diff_counts;

typedef struct diff_buffer {
    const gr_wgsl_decl *var;
    size_t bytes;
    bool writes, half; /* half: wide, extra and mark have an element every two bytes */
    uint8_t *start, *gpu, *single, *checked, *bounded;
    double *wide, *extra;
    uint8_t *mark;
} diff_buffer;

typedef struct diff {
    gr_gpu *gpu;
    gr_arena a;
    gr_diags d;
    const diff_program *p;
    const gr_wgsl_entry *entry;
    diff_buffer buffer[DIFF_BINDINGS];
    uint32_t n;
    diff_counts *counts;
    gr_buf *said; /* what differs, for people; may be NULL */
    uint32_t differences;
} diff;

/* ------------------------------------------------------------ scalar leaves */

typedef void diff_visit(void *ctx, gr_wgsl_kind kind, uint64_t at);

static inline void diff_leaves(const gr_wgsl_type *t, uint64_t at, uint64_t bytes, diff_visit *fn, void *ctx) {
    switch (t->kind) {
        case GR_WT_VEC:
            for (uint32_t k = 0; k < t->n; k++) diff_leaves(t->elem, at + k * t->elem->size, bytes, fn, ctx);
            return;
        case GR_WT_MAT:
            for (uint32_t k = 0; k < t->n; k++) diff_leaves(t->column, at + k * (t->size / t->n), bytes, fn, ctx);
            return;
        case GR_WT_ARRAY: {
            uint64_t n = t->count ? t->count : (bytes - at) / t->stride;
            for (uint64_t k = 0; k < n; k++) diff_leaves(t->elem, at + k * t->stride, bytes, fn, ctx);
            return;
        }
        case GR_WT_STRUCT:
            for (uint32_t k = 0; k < t->member_n; k++) diff_leaves(t->member[k].type, at + t->member[k].at, bytes, fn, ctx);
            return;
        case GR_WT_ATOMIC: fn(ctx, t->elem->kind, at); return;
        default: fn(ctx, t->kind, at);
    }
}

static inline uint64_t diff_size(const gr_wgsl_type *t) {
    const gr_wgsl_type *last = t->kind == GR_WT_STRUCT ? t->member[t->member_n - 1].type : t;
    uint64_t tail = last->kind == GR_WT_ARRAY && !last->count ? last->stride * DIFF_ELEMENTS : 0;
    uint64_t size = (t->kind == GR_WT_STRUCT || !tail ? t->size : 0) + tail;
    return (size + 15) / 16 * 16;
}

/* ------------------------------------------------------------------- filling */

typedef struct diff_filler {
    gr_rng rng;
    diff_fill fill;
    uint32_t ordinal, at; /* of the buffer, of the leaf in it */
    uint8_t *bytes;
} diff_filler;

static const uint32_t diff_ints[16] = {0, 1, 2, 3, 7, 8, 16, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF9, 0x12345678, 0x00FF8000};
static const float diff_floats[16] = {0, -0.0f, 1, -1, 0.5f, -0.5f, 1.5f, -1.5f, 2.5f, -2.5f, 0.1f, 3.1415927f, -100.75f, 1e5f, 65504, 1e-3f};

static inline uint32_t diff_pick(diff_filler *f) {
    return f->ordinal == 0 ? f->at % 16 : f->ordinal == 1 ? f->at / 16 % 16 : gr_rng_below(&f->rng, 16);
}

static inline uint32_t diff_fill_int(diff_filler *f) {
    if (f->fill == DIFF_SPECIAL) return diff_ints[diff_pick(f)];
    switch (gr_rng_below(&f->rng, 4)) {
        case 0: return gr_rng_u32(&f->rng);
        case 1: return diff_ints[gr_rng_below(&f->rng, 16)];
        default: return gr_rng_below(&f->rng, 24) - 4;
    }
}

static inline float diff_fill_float(diff_filler *f) {
    float u = gr_rng_f32(&f->rng);
    switch (f->fill) {
        case DIFF_SPECIAL: return diff_floats[diff_pick(f)];
        case DIFF_UNIT: return f->at % 8 == 0 ? diff_floats[f->at / 8 % 6] : 2 * u - 1;
        case DIFF_POSITIVE: return f->at % 8 == 0 ? (float)(1 + f->at / 8 % 8) * 0.25f : 0.015625f + u * u * 63;
        default: return gr_rng_below(&f->rng, 3) == 0 ? diff_floats[gr_rng_below(&f->rng, 13)] : 16 * u - 8;
    }
}

static inline void diff_fill_leaf(void *ctx, gr_wgsl_kind kind, uint64_t at) {
    diff_filler *f = ctx;
    uint32_t bits = kind == GR_WT_F32 && f->fill != DIFF_BITS ? gr_bits_f32(diff_fill_float(f)) : kind == GR_WT_F16 ? 0 : diff_fill_int(f);
    if (kind == GR_WT_F16) {
        float v = f->fill == DIFF_BITS ? 0 : diff_fill_float(f);
        uint16_t half = f->fill == DIFF_BITS ? (uint16_t)gr_rng_u32(&f->rng) : gr_f16_from_f32(v > 60000 ? 60000 : v);
        memcpy(f->bytes + at, &half, 2);
    } else memcpy(f->bytes + at, &bits, 4);
    f->at++;
}

/* ------------------------------------------------------------------- running */

static inline void *diff_copy(diff *x, const void *from, size_t n) {
    void *p = gr_arena_alloc(&x->a, (n + 15) / 16, 16);
    assert_non_null(p);
    if (from) memcpy(p, from, n);
    else memset(p, 0, n);
    return p;
}

static inline void diff_widen_leaf(void *ctx, gr_wgsl_kind kind, uint64_t at) {
    diff_buffer *b = ctx;
    float v;
    uint16_t half;
    if (kind == GR_WT_F32) memcpy(&v, b->start + at, 4), b->wide[at / (b->half ? 2 : 4)] = (double)v;
    if (kind == GR_WT_F16) memcpy(&half, b->start + at, 2), b->wide[at / 2] = (double)gr_f32_from_f16(half);
}

static inline void diff_buffer_new(diff *x, const gr_wgsl_decl *var) {
    diff_buffer *b = &x->buffer[x->n];
    b->var = var;
    b->bytes = (size_t)diff_size(var->type);
    b->half = var->type->has_f16;
    b->writes = var->space == GR_WGSL_SPACE_STORAGE && var->access == GR_WGSL_READ_WRITE;
    b->start = diff_copy(x, NULL, b->bytes);
    diff_filler f = {gr_rng_seed(x->p->seed * 64 + x->n), x->p->fill, x->n, 0, b->start};
    diff_leaves(var->type, 0, b->bytes, diff_fill_leaf, &f);
    b->gpu = diff_copy(x, b->start, b->bytes);
    b->single = diff_copy(x, b->start, b->bytes);
    b->checked = diff_copy(x, b->start, b->bytes);
    b->bounded = diff_copy(x, b->start, b->bytes);
    size_t cells = b->bytes / 2;
    b->wide = diff_copy(x, NULL, cells * 8);
    b->extra = diff_copy(x, NULL, cells * 8);
    b->mark = diff_copy(x, NULL, cells);
    diff_leaves(var->type, 0, b->bytes, diff_widen_leaf, b);
    x->n++;
}

static inline bool diff_run_gpu(diff *x) {
    gr_gpu_arg arg[DIFF_BINDINGS];
    for (uint32_t k = 0; k < x->n; k++) {
        const diff_buffer *b = &x->buffer[k];
        gr_gpu_access access = b->var->space == GR_WGSL_SPACE_UNIFORM ? GR_GPU_UNIFORM : b->writes ? GR_GPU_READ_WRITE : GR_GPU_READ;
        arg[k] = (gr_gpu_arg){b->var->group, b->var->binding, access, b->gpu, b->bytes};
    }
    return gr_gpu_run_wgsl(x->gpu, x->p->name, x->p->text, x->entry->name, NULL, 0, arg, x->n, x->p->grid, &x->d);
}

static inline bool diff_run_eval(diff *x, const gr_wgsl_module *m, gr_eval_mode mode) {
    uint32_t size = gr_gpu_get_info(x->gpu)->subgroup_min;
    const gr_eval_options opt = {.mode = mode, .step_limit = DIFF_STEPS, .any_order = true, /* a product of matrices has none */ .subgroup_size = size >= 4 && size <= 128 ? size : 0};
    gr_eval_program *p = gr_eval_compile(&x->a, &x->d, m, x->entry->name, &opt);
    gr_eval_binding bind[DIFF_BINDINGS];
    bool bounded = mode == GR_EVAL_BOUNDED;
    for (uint32_t k = 0; k < x->n; k++) {
        diff_buffer *b = &x->buffer[k];
        bind[k] = (gr_eval_binding){.group = b->var->group, .binding = b->var->binding, .size = b->bytes,
            .bytes = bounded ? b->bounded : mode == GR_EVAL_SANITIZER ? b->checked : b->single,
            .wide = bounded ? b->wide : NULL, .extra = bounded ? b->extra : NULL, .mark = bounded ? b->mark : NULL};
    }
    return p && gr_eval_dispatch(p, &x->d, bind, x->n, x->p->grid, NULL);
}

/* ----------------------------------------------------------------- comparing */

typedef struct diff_comparer {
    diff *x;
    const diff_buffer *b;
} diff_comparer;

static inline void diff_say(diff_comparer *c, uint64_t at, const char *what, double gpu, double single, double wide, double extra) {
    if (c->x->differences++ >= 8 || !c->x->said) return;
    gr_buf_printf(c->x->said, "  %.*s, byte %llu (element %llu): %s: device %.9g, f32 mode %.9g, bounded %.17g +- %.3g\n", GR_STR_ARG(c->b->var->name),
                  (unsigned long long)at, (unsigned long long)at / 4, what, gpu, single, wide, extra);
}

static inline double diff_float_at(const uint8_t *bytes, gr_wgsl_kind kind, uint64_t at) {
    float v;
    uint16_t half;
    if (kind == GR_WT_F32) return memcpy(&v, bytes + at, 4), (double)v;
    return memcpy(&half, bytes + at, 2), (double)gr_f32_from_f16(half);
}

static inline void diff_compare_float(diff_comparer *c, gr_wgsl_kind kind, uint64_t at) {
    const diff_buffer *b = c->b;
    uint64_t cell = at / (b->half ? 2 : 4);
    double wide = b->wide[cell], extra = b->extra[cell], most = kind == GR_WT_F32 ? (double)FLT_MAX : 65504;
    extra += gr_fabs(wide) < (kind == GR_WT_F32 ? 0x1p-125 : 0x1p-13) ? (kind == GR_WT_F32 ? 0x1p-126 : 0x1p-14) : 0; /* subnormals may be flushed */
    double gpu = diff_float_at(b->gpu, kind, at), single = diff_float_at(b->single, kind, at);
    if (memcmp(b->gpu + at, b->single + at, kind == GR_WT_F32 ? 4 : 2) == 0 && memcmp(b->gpu + at, b->start + at, kind == GR_WT_F32 ? 4 : 2) == 0) return; /* not written, or equal: any bits */
    if (b->mark[cell] || !(gr_fabs(wide) + extra <= most)) {
        c->x->counts->ambiguous++;
        return;
    }
    if (!(gr_fabs(gpu - wide) <= extra)) diff_say(c, at, "the device is out of bounds", gpu, single, wide, extra);
    else if (!(gr_fabs(single - wide) <= extra)) diff_say(c, at, "the f32 mode is out of bounds", gpu, single, wide, extra);
}

static inline void diff_compare_leaf(void *ctx, gr_wgsl_kind kind, uint64_t at) {
    diff_comparer *c = ctx;
    const diff_buffer *b = c->b;
    size_t n = kind == GR_WT_F16 ? 2 : 4;
    if (memcmp(b->gpu + at, b->start + at, n) != 0) c->x->counts->scalars++;
    if (memcmp(b->single + at, b->checked + at, n) != 0) diff_say(c, at, "the sanitizer mode differs", 0, diff_float_at(b->single, GR_WT_F32, at), diff_float_at(b->checked, GR_WT_F32, at), 0);
    if (kind == GR_WT_F32 || kind == GR_WT_F16) {
        if (memcmp(b->gpu + at, b->start + at, n) != 0) c->x->counts->floats++;
        diff_compare_float(c, kind, at);
        return;
    }
    uint32_t gpu, single, bounded;
    memcpy(&gpu, b->gpu + at, 4), memcpy(&single, b->single + at, 4), memcpy(&bounded, b->bounded + at, 4);
    if (b->mark[at / (b->half ? 2 : 4)]) c->x->counts->ambiguous++;
    else if (gpu != single) diff_say(c, at, "integers differ", gpu, single, bounded, 0);
    else if (gpu != bounded) diff_say(c, at, "the bounded mode differs", gpu, single, bounded, 0);
}

static inline diff_verdict diff_judge(diff *x, const gr_wgsl_module *m) {
    bool writes = false;
    const gr_gpu_info *info = gr_gpu_get_info(x->gpu);
    if ((m->enable_f16 && !info->shader_f16) || (m->enable_subgroups && !info->subgroups)) return DIFF_ABSENT;
    if (x->entry->overrides_n || x->entry->resource_n > DIFF_BINDINGS) return DIFF_ABSENT;
    for (uint32_t k = 0; k < x->entry->resource_n; k++) {
        if (diff_size(x->entry->resource[k]->type) > 1 << 22) return DIFF_ABSENT;
        diff_buffer_new(x, x->entry->resource[k]);
        writes |= x->buffer[k].writes;
    }
    if (!writes) return DIFF_ABSENT;
    if (!diff_run_eval(x, m, GR_EVAL_F32) || !diff_run_eval(x, m, GR_EVAL_BOUNDED) || !diff_run_eval(x, m, GR_EVAL_SANITIZER)) return x->p->any_data ? DIFF_ABSENT : DIFF_BROKEN;
    if (!diff_run_gpu(x)) return DIFF_REFUSED;
    for (uint32_t k = 0; k < x->n; k++) {
        diff_comparer c = {x, &x->buffer[k]};
        if (c.b->writes) diff_leaves(c.b->var->type, 0, c.b->bytes, diff_compare_leaf, &c);
    }
    return x->differences ? DIFF_DIFFERENT : DIFF_SAME;
}

/* counts grow; what differs or is refused is described in said (may be NULL). */
static inline diff_verdict diff_once(gr_gpu *g, const diff_program *p, diff_counts *counts, gr_buf *said) {
    diff x = {.gpu = g, .a = {.limit = (size_t)512 << 20}, .p = p, .counts = counts, .said = said};
    gr_diags_init(&x.d);
    gr_wgsl_module *m = gr_wgsl_load(&x.a, &x.d, p->name, p->text, NULL);
    x.entry = m ? p->entry.n || m->entry_n != 1 ? gr_wgsl_find_entry(m, p->entry) : &m->entry[0] : NULL;
    diff_verdict v = !m ? DIFF_BROKEN : !x.entry ? DIFF_ABSENT : diff_judge(&x, m);
    if (said && (v == DIFF_BROKEN || v == DIFF_REFUSED)) gr_diags_print(said, &x.d, p->text);
    gr_diags_free(&x.d);
    gr_arena_free(&x.a);
    return v;
}

/* ----------------------------------------------------------------- shrinking */

/* The line after the block that opens in the line at p; the next line when none opens. */
static inline const char *diff_block_end(const char *p, const char *end) {
    int depth = 0;
    while (p < end) {
        for (; p < end && *p != '\n'; p++) depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
        if (p < end) p++;
        if (depth <= 0) break;
    }
    return p;
}

static inline bool diff_persists(gr_gpu *g, const diff_program *p, const gr_buf *text) {
    diff_counts none = {0};
    diff_program q = *p;
    q.text = gr_buf_view(text);
    return diff_once(g, &q, &none, NULL) == DIFF_DIFFERENT;
}

/* Drops lines and blocks while the two still differ; lines with barriers stay. */
static inline void diff_shrink(gr_gpu *g, const diff_program *p, gr_buf *text) {
    gr_buf_str(text, p->text);
    for (int budget = 250, gone = 1; gone && budget > 0;) {
        gone = 0;
        for (size_t at = 0; at < text->n && budget > 0;) {
            const char *line = text->p + at, *all = text->p + text->n, *next = memchr(line, '\n', text->n - at), *end = diff_block_end(line, all);
            next = next ? next + 1 : all;
            gr_buf shorter = {0};
            gr_buf_put(&shorter, text->p, at);
            gr_buf_put(&shorter, end, (size_t)(all - end));
            bool fixed = false;
            for (const char *c = line; c + 7 < end; c++) fixed |= memcmp(c, "Barrier", 7) == 0;
            bool drop = !fixed && budget-- > 0 && diff_persists(g, p, &shorter);
            if (drop) {
                gr_buf_free(text);
                *text = shorter;
                gone = 1;
            } else {
                gr_buf_free(&shorter);
                at = (size_t)(next - text->p);
            }
        }
    }
}

static inline void diff_explain(gr_gpu *g, const diff_program *p, diff_verdict v, const gr_buf *said) {
    print_error("%.*s (seed %llu): %s\n%s", GR_STR_ARG(p->name), (unsigned long long)p->seed,
                v == DIFF_DIFFERENT ? "the results differ" : v == DIFF_REFUSED ? "the device refuses it" : "we refuse it or it does not end", said->p ? said->p : "");
    if (v != DIFF_DIFFERENT) {
        print_error("%.*s\n", GR_STR_ARG(p->text));
        return;
    }
    gr_buf text = {0}, again = {0};
    diff_shrink(g, p, &text);
    diff_program q = *p;
    q.text = gr_buf_view(&text);
    diff_counts none = {0};
    diff_once(g, &q, &none, &again);
    print_error("shrunk:\n%s\n%s", text.p, again.p ? again.p : "");
    gr_buf_free(&text);
    gr_buf_free(&again);
}

#endif
