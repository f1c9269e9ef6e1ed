/* bench.h: timing for the bench programs. Ratios within one run count, seconds do not. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

double bench_now(void); /* seconds, monotonic */
/* Median of n numbers (sorts them). */
double bench_median(double *v, unsigned n);
/* Prints one row: what, measured ratio, target, and whether it is met. Target 0: no target. `at_most`: smaller is better. */
void bench_row(const char *what, double ratio, double target, bool at_most);
/* Deterministic noise in [-1, 1). */
void bench_fill(float *x, uint64_t n, uint32_t seed);

#endif
