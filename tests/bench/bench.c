#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *v, unsigned n) {
    qsort(v, n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

void bench_row(const char *what, double ratio, double target, bool at_most) {
    bool met = at_most ? ratio <= target : ratio >= target;
    if (target == 0) printf("  %-62s %8.3f\n", what, ratio);
    else printf("  %-62s %8.3f   target %s %g   %s\n", what, ratio, at_most ? "<=" : ">=", target, met ? "met" : "MISSED");
    fflush(stdout);
}

void bench_fill(float *x, uint64_t n, uint32_t seed) {
    uint32_t s = seed * 2654435761u + 1u;
    for (uint64_t i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        x[i] = (float)(s >> 8) / 8388608.0f - 1.0f;
    }
}
