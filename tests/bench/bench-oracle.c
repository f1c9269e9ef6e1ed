/* The oracle in f32 beside committed plain C on one core, in turn, in one run. */
#include "bench.h"
#include "gradus.h"
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };

static int fail(gr_session *s) {
    fputs(gr_session_report(s, false), stderr);
    gr_session_free(s);
    return 1;
}

/* Median seconds of a run of one op; out gets the first output's data. */
static bool time_op(gr_session *s, const char *id, const char *const *names, const gr_tensor *in, unsigned n, const char *const *params,
                    unsigned params_n, double *seconds, float *out, size_t out_bytes) {
    gr_compile_desc cd = {.tier = "debug", .allow_heavy_cpu = true};
    gr_program *p = gr_compile_op(s, id, names, in, n, params, params_n, &cd);
    gr_prepared *r = p ? gr_prepare(p, NULL) : NULL;
    bool ok = r != NULL;
    double t[ROUNDS];
    for (unsigned i = 0; ok && i < n; i++) ok = gr_write(r, i, &in[i]);
    for (int i = 0; ok && i < ROUNDS; i++) {
        double start = bench_now();
        gr_run run = gr_submit(r);
        ok = run && gr_wait(r, run);
        t[i] = bench_now() - start;
        gr_tensor y = ok ? gr_result(r, run, 0) : (gr_tensor){0};
        ok = ok && y.bytes == out_bytes;
        if (ok) memcpy(out, y.data, out_bytes);
    }
    if (ok) *seconds = bench_median(t, ROUNDS);
    gr_prepared_free(r);
    gr_program_free(p);
    return ok;
}

static bool median(gr_session *s) {
    enum { N = 1000000, W = 7 };
    float *x = malloc(N * sizeof *x), *plain = malloc(N * sizeof *plain), *ours = malloc(N * sizeof *ours);
    const char *const names[] = {"x"}, *const params[] = {"w=7"};
    gr_tensor in = {.dtype = "f32", .rank = 1, .dims = {N}, .data = x, .bytes = N * sizeof *x};
    double t[ROUNDS], oracle = 0;
    bench_fill(x, N, 7);
    for (int i = 0; i < ROUNDS; i++) {
        double start = bench_now();
        plain_windowed_median(x, N, W, plain);
        t[i] = bench_now() - start;
    }
    bool ok = time_op(s, "user/kemal/windowed_median@1", names, &in, 1, params, 1, &oracle, ours, (N - W + 1) * sizeof *ours);
    if (ok && memcmp(plain, ours, (N - W + 1) * sizeof *ours)) printf("  RESULTS DIFFER\n");
    if (ok) bench_row("oracle / plain C: windowed median, 1e6 samples, w = 7", oracle / bench_median(t, ROUNDS), 10, true);
    free(x), free(plain), free(ours);
    return ok;
}

static bool matmul(gr_session *s) {
    enum { N = 512 };
    size_t bytes = (size_t)N * N * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *plain = malloc(bytes), *ours = malloc(bytes);
    const char *const names[] = {"a", "b"};
    gr_tensor in[2] = {{.dtype = "f32", .rank = 2, .dims = {N, N}, .data = a, .bytes = bytes}, {.dtype = "f32", .rank = 2, .dims = {N, N}, .data = b, .bytes = bytes}};
    double t[ROUNDS], oracle = 0, worst = 0;
    bench_fill(a, N * N, 1);
    bench_fill(b, N * N, 2);
    for (int i = 0; i < ROUNDS; i++) {
        double start = bench_now();
        plain_matmul(a, b, N, plain);
        t[i] = bench_now() - start;
    }
    bool ok = time_op(s, "matmul", names, in, 2, NULL, 0, &oracle, ours, bytes);
    for (size_t i = 0; ok && i < (size_t)N * N; i++) {
        double d = (double)plain[i] - (double)ours[i];
        if (d < 0) d = -d;
        if (d > worst) worst = d;
    }
    if (ok && worst > 1e-3) printf("  RESULTS DIFFER by %g\n", worst);
    if (ok) bench_row("oracle / plain C: matmul 512, ijk", oracle / bench_median(t, ROUNDS), 15, true);
    free(a), free(b), free(plain), free(ours);
    return ok;
}

int main(void) {
    const char *const roots[] = {"examples/ops", NULL};
    gr_session *s = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_CPU, .op_roots = roots, .threads = 1});
    if (!s || gr_session_exit_code(s)) return s ? fail(s) : 1;
    printf("oracle, f32, one thread, against plain C -O2, one core\n");
    if (!median(s) || !matmul(s)) return fail(s);
    gr_session_free(s);
    return 0;
}
