/* plain.h: what a person would write in C without thinking about speed: the yardstick of the oracle.
 * Compiled with -O2, one core. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include <stddef.h>

/* y[i] = median of x[i .. i + w - 1], n - w + 1 results; w odd, at most 31. Insertion sort a window. */
void plain_windowed_median(const float *x, size_t n, size_t w, float *y);
/* y (n x n) = a (n x n) times b (n x n), row-major, in ijk order. */
void plain_matmul(const float *a, const float *b, size_t n, float *y);

#endif
