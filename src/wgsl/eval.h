/* eval.h: the WGSL evaluator: one entry point, compiled for lanes, run over a grid.
 *
 * A checked module is lowered to a flat lane program: every scalar is a register of many
 * lanes, control flow is structured and masked, functions are inlined. Lanes of a workgroup
 * advance together, so a barrier costs nothing, and the result is a function of module,
 * options, bindings and grid alone: the same bits with every compiler, instruction set and
 * platform. The compiled program is immutable: several threads may run it, each with its own
 * gr_eval_state. The evaluator itself starts no threads, and allocates nothing while running.
 *
 * Outside sanitizer mode an index out of range is clamped to the last element (an i32 index
 * counts as u32, so that a negative one is also the last), as Dawn's robustness does; it
 * never reads or writes outside a binding. Integers wrap; x / 0 = x, x % 0 = 0; shift
 * amounts count modulo 32; float to integer saturates to what both types
 * represent, NaN becomes 0. Atomics run in the
 * order of lanes, workgroups in the order of their linear id x + gx * (y + gy * z), or both in the
 * opposite order: what changes with it is a race that atomics hide. */
#ifndef GR_WGSL_EVAL_H
#define GR_WGSL_EVAL_H

#include "wgsl/wgsl.h"

typedef enum gr_eval_mode {
    GR_EVAL_NO_MODE = 0,
    GR_EVAL_F32,       /* each operation rounded once, NaN canonical (0x7fc00000) at stores and bitcasts */
    GR_EVAL_WIDENED,   /* floats are f64; constants and overrides are rounded to their type first */
    GR_EVAL_BOUNDED,   /* widened, with a running error bound and an ambiguity mark a value */
    GR_EVAL_DUAL,      /* forward-mode derivative in f64 */
    GR_EVAL_SANITIZER, /* f32 with checks; faults become diagnostics, results are those of f32 */
} gr_eval_mode;

typedef enum gr_eval_isa { /* instruction sets of the lane loops; all give the same bits */
    GR_EVAL_ISA_AUTO = 0,
    GR_EVAL_ISA_GENERIC,
    GR_EVAL_ISA_AVX2,
    GR_EVAL_ISA_AVX512,
} gr_eval_isa;

/* Measured worst error of a builtin, division or square root on a profile: the bounded mode
 * adds the lesser of WGSL's grant and 2 * (ulps * ulp(r) + absolute). Names as in WGSL; division is "/". */
typedef struct gr_eval_accuracy {
    gr_str builtin;
    double ulps, absolute;
} gr_eval_accuracy;

/* All zero is f32 mode with defaults. Views must outlive gr_eval_compile only. */
typedef struct gr_eval_options {
    gr_eval_mode mode; /* NO_MODE means F32 */
    gr_eval_isa isa;
    const gr_wgsl_override_value *override; uint32_t override_n;
    uint32_t subgroup_size;    /* power of two 4..128; 0 means 32 */
    uint64_t step_limit;       /* loop iterations of one batch of lanes; 0 means 2^32 */
    uint64_t run_limit;        /* turns (gr_eval_stats) since the state was made or restarted; 0 means none */
    bool flush_subnormals;     /* bounded: every float operation may lose up to 2^-126 */
    bool any_order;            /* bounded: errors hold for sums in any order, not for the text's order alone */
    bool reverse;              /* sanitizer: workgroups, and the lanes of an atomic, take their turns from the last to the first */
    bool trace;                /* fill gr_eval_stats.trace */
    const gr_eval_accuracy *accuracy; uint32_t accuracy_n;
} gr_eval_options;

typedef struct gr_eval_program gr_eval_program;

/* Lowers entry point `entry` ("" = the only one). Lives in `arena` (give it a limit for
 * untrusted modules); keeps pointers into the module. NULL after a report: override errors of
 * gr_wgsl_specialize, wgsl/eval-too-large. */
gr_eval_program *gr_eval_compile(gr_arena *arena, gr_diags *d, const gr_wgsl_module *m, gr_str entry,
                                 const gr_eval_options *opt);

/* Memory for one resource variable.
 *
 * `bytes` has WGSL's layout. It is authoritative for integers, atomics and packed data, and
 * for floats too in the f32 and sanitizer modes.
 * In the widened, bounded and dual modes a float at byte offset o lives in wide[o / e], where
 * e is 4, or 2 when the variable's type has an f16 anywhere inside; `extra` beside it is the
 * error bound (bounded) or the tangent (dual), `gross` (bounded) the sum of absolute contributions: what the value
 * would be had nothing cancelled; `mark` (one byte) is not 0 where the value is
 * ambiguous (bounded). Marks of integers are at mark[o / e] too. Values in `wide` are taken as
 * they are: whoever fills them rounds to f32 or not.
 * wide == NULL: floats are read from bytes and converted, and rounded to f32 or f16 when
 * stored. extra == NULL reads as 0, mark == NULL as unmarked, and gross as at least the value's magnitude; stores to absent ones are dropped.
 * wide, extra, gross and mark hold size / e elements. `bytes` is aligned to 4. */
typedef struct gr_eval_binding {
    uint32_t group, binding;
    void *bytes;
    size_t size; /* bytes; below 4 GiB; a runtime-sized array takes what there is */
    double *wide, *extra, *gross;
    uint8_t *mark;
    bool uninitialised; /* sanitizer: reading what the dispatch has not written is a fault */
    gr_str name;        /* for messages; empty: the variable's name */
} gr_eval_binding;

enum { GR_EVAL_TURN = 32 }; /* what an iteration costs beside its lanes, in lanes */

typedef struct gr_eval_stats {
    uint64_t workgroups, invocations;
    uint64_t steps;    /* loop iterations of lane batches */
    uint64_t turns;    /* what they cost: GR_EVAL_TURN each and one a lane, several times that in programs that call sin and the like */
    uint64_t findings; /* sanitizer: faults met, repeated ones counted */
    uint64_t trace;    /* hash of every branch and selection taken (options.trace); equal when
                          two runs took the same path */
} gr_eval_stats;

typedef struct gr_eval_state gr_eval_state;

/* Binds memory (it must outlive the state) for a grid in workgroups. Heap-owned; NULL after a
 * report: wgsl/binding-missing, wgsl/binding-size, wgsl/grid-too-large. */
gr_eval_state *gr_eval_state_new(const gr_eval_program *p, gr_diags *d, const gr_eval_binding *b, uint32_t n,
                                 const uint32_t grid[3]);
void gr_eval_state_free(gr_eval_state *s);
/* Runs workgroups first..first+count-1 by linear id; may be called again and again. False
 * after a report of severity error (sanitizer findings, wgsl/step-limit). */
bool gr_eval_state_run(gr_eval_state *s, gr_diags *d, uint64_t first, uint64_t count);
uint64_t gr_eval_state_workgroups(const gr_eval_state *s); /* of the whole grid */
/* Totals since the state was made or restarted. */
gr_eval_stats gr_eval_state_stats(const gr_eval_state *s);
void gr_eval_state_restart(gr_eval_state *s); /* the totals from 0 again */

/* The whole grid on this thread. stats may be NULL. */
bool gr_eval_dispatch(const gr_eval_program *p, gr_diags *d, const gr_eval_binding *b, uint32_t n,
                      const uint32_t grid[3], gr_eval_stats *stats);

/* False when workgroups must run in order on one thread: storage atomics, or the sanitizer. */
bool gr_eval_program_threads(const gr_eval_program *p);
const uint32_t *gr_eval_program_workgroup_size(const gr_eval_program *p); /* 3 numbers */
/* Workgroups run together in one batch: ranges given to threads are best multiples of it. */
uint32_t gr_eval_program_batch(const gr_eval_program *p);
const char *gr_eval_isa_text(gr_eval_isa isa);
gr_eval_isa gr_eval_isa_best(void); /* of this machine */
/* The lane program as text, for people. */
void gr_eval_print(gr_buf *out, const gr_eval_program *p);

#endif
