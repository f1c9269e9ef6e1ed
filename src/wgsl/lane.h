/* lane.h: operations on rows of lanes.
 *
 * A register is a row of n lanes, n a multiple of LANE_UNIT, aligned to 64 bytes. A float
 * row holds float (f32) or double (widened). The bounded and dual modes append planes to a
 * row: bounded float: double value[n], double error[n], double gross[n], uint32_t mark[n]; bounded integer:
 * uint32_t value[n], uint32_t mark[n]; dual float: double value[n], double tangent[n]. The
 * destination may be the same row as a source, never a partly overlapping one. Bools are 0 or
 * all ones. No operation here depends on which lanes are active.
 *
 * The loops of lane_ops.h are compiled once an instruction set; all give the same bits. */
#ifndef GR_WGSL_LANE_H
#define GR_WGSL_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LANE_UNIT = 16 };

typedef enum lane_op {
    LANE_NONE = 0,
#define LANE(name, shape, d, a, b, c) LANE_##name,
#include "wgsl/lane.def"
#undef LANE
    LANE_COUNT
} lane_op;

typedef enum lane_shape { LANE_NO_SHAPE = 0, LANE_UN, LANE_BIN, LANE_TER, LANE_CALL } lane_shape;

typedef struct lane_info {
    const char *name;
    lane_shape shape;
    char d, a, b, c; /* 'I', 'F' or '_' */
} lane_info;

const lane_info *gr_lane_info(uint32_t op);

typedef void (*lane_fn)(void *d, const void *a, const void *b, const void *c, uint32_t n);
typedef enum lane_form { LANE_VV = 0, LANE_VS, LANE_SV, LANE_FORMS } lane_form; /* S: the first lane serves all */
typedef struct lane_row { lane_fn form[LANE_FORMS]; } lane_row;

/* Memory and mask loops, compiled per instruction set too. Masks are rows of 0 / all ones. */
typedef struct lane_memory {
    /* t[i] = min(idx[i], limit) * stride + offset (+ base[i]) */
    void (*address)(uint32_t *t, const uint32_t *idx, uint32_t limit, uint32_t stride, uint32_t offset, uint32_t n);
    void (*address_add)(uint32_t *t, const uint32_t *idx, uint32_t limit, uint32_t stride, const uint32_t *base,
                        uint32_t offset, uint32_t n);
    bool (*consecutive)(const uint32_t *idx, uint32_t n); /* idx[i] == idx[0] + i, without wrapping */
    bool (*equal)(const uint32_t *idx, uint32_t n); /* all lanes hold idx[0] */
    void (*gather32)(uint32_t *d, const uint32_t *mem, const uint32_t *t, uint32_t n); /* t < 2^31 */
    void (*gather64)(uint64_t *d, const uint64_t *mem, const uint32_t *t, uint32_t n);
    void (*set32)(uint32_t *d, const uint32_t *a, const uint32_t *mask, uint32_t n); /* where the mask is set */
    void (*set64)(uint64_t *d, const uint64_t *a, const uint32_t *mask, uint32_t n);
    void (*put32)(uint32_t *d, const uint32_t *a, const uint32_t *mask, uint32_t n); /* the same, touching no other lane */
    void (*canonical)(uint32_t *d, const uint32_t *a, uint32_t n); /* floats, NaN to 0x7fc00000 */
    void (*mask_and_not)(uint32_t *m, const uint32_t *a, uint32_t n);
    uint32_t (*mask_count)(const uint32_t *m, uint32_t n);
    uint32_t (*mask_if)(uint32_t *m, uint32_t *saved, const uint32_t *cond, uint32_t n);   /* saved = m; m &= cond */
    uint32_t (*mask_else)(uint32_t *m, const uint32_t *saved, const uint32_t *cond, uint32_t n); /* m = saved & ~cond */
} lane_memory;

typedef enum lane_kind { LANE_KIND_NONE = 0, LANE_F32, LANE_F64, LANE_BOUNDED, LANE_DUAL } lane_kind;

/* Instruction sets: 1 generic, 2 AVX2, 3 AVX-512 (gr_eval_isa); an absent one gives the next lower. */
const lane_row *gr_lane_row(uint32_t isa, lane_kind kind, uint32_t op);
const lane_memory *gr_lane_memory(uint32_t isa);
uint32_t gr_lane_best_isa(void);

/* The f64 function behind a CALL operation with float sources; NULL for others. */
double (*gr_lane_call1(uint32_t op))(double);
double (*gr_lane_call2(uint32_t op))(double, double);

/* Bytes of a lane of a bounded float, and of its planes before the mark. */
enum { LANE_BOUNDED_PLANES = 24, LANE_BOUNDED_BYTES = LANE_BOUNDED_PLANES + 4 };

/* Error grants of the bounded mode, by operation: the error of result r at x (and y). */
typedef struct lane_accuracy { bool given; double ulps, absolute; } lane_accuracy;
typedef struct lane_bounded_table {
    double flush; /* 2^-126 where subnormals are flushed, else 0 */
    bool any_order; /* errors hold in any order of summation, not in the text's alone */
    lane_accuracy measured[LANE_COUNT];
} lane_bounded_table;
/* Bounded operations need the table: they are not lane_fn. */
typedef void (*lane_bounded_fn)(const lane_bounded_table *t, void *d, const void *a, const void *b, const void *c,
                                uint32_t n);
lane_bounded_fn gr_lane_bounded(uint32_t op);
lane_fn gr_lane_dual(uint32_t op);

#endif
