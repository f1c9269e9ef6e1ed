/* bench.h: the cases of an op with their operands and truths, made once, on which many altered kernels are tried.
 *
 * A bench sees what `gradus op conform` sees on the oracle: the same cases (of a seed that follows from the op's name, so that an
 * edit of a kernel leaves them alone), runs, probes and comparison, by the same functions. The reference runs once a case,
 * and only once some altered kernel has survived all smaller cases. */
#ifndef GR_TESTS_BENCH_H
#define GR_TESTS_BENCH_H

#include "altered.h"

typedef struct bench bench;

/* Of an op of the catalog; cases as in gr_conform_options. NULL when memory fails. Both outlive the bench. */
bench *bench_new(const gr_catalog *catalog, const gr_op *op, uint32_t cases);
void bench_free(bench *b);

/* What a try may cost, and a weakness that is planted in the checker, to see that it shows. */
typedef struct bench_budget {
    uint32_t cases; /* 0: all */
    bool blind;     /* results are not compared with the truth */
} bench_budget;

typedef enum bench_fate {
    BENCH_NONE = 0,
    BENCH_INVALID,  /* it does not compile, or the contract refuses it: why is the diagnostic */
    BENCH_KILLED,   /* why, and at: the case */
    BENCH_EQUAL,    /* in every case it is the same program of lanes */
    BENCH_SURVIVED,
    BENCH_BUG,      /* the op itself fails, or the regime could not carry it out */
} bench_fate;

/* cases: how many ran; place: which of them killed, counted from 0. */
typedef struct bench_result { bench_fate fate; char why[400], at[200]; uint32_t cases, place; } bench_result;

/* changed: all files of the op, `file` being the one that differs. Cases that do not run it are passed over. */
void bench_try(bench *b, const altered_files *changed, gr_str file, const bench_budget *limit, bench_result *r);

#endif
