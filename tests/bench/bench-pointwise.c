/* Pointwise ops against a bare vec4 compute copy of the same GPU, 256 MiB an operand, by timestamp
 * queries. Each case is a chain of CHAIN dependent dispatches in one submission, so that the GPU is awake; the median
 * of all of them counts. Bandwidth counts every byte that must be read or written once. `bench-pointwise MIB [CASE]`: another
 * size, one case alone. Without CASE every case runs in a process of its own: on the H200 buffers made after others were
 * freed in the same process were seen at 0.4 times the bandwidth (docs/performance.md). */
#include "bench.h"
#include "gradus.h"
#include "ladder/run/webgpu/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, CHAIN = 10, TIMES = ROUNDS * CHAIN };

static const char copy_wgsl[] =
    "@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;\n"
    "@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;\n"
    "@compute @workgroup_size(256)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {\n"
    "  let i = id.y * (n.x * 256u) + id.x;\n"
    "  if (i < arrayLength(&x)) { y[i] = x[i]; }\n"
    "}\n";

/* Bytes a second of the bare copy; 0 on failure. */
static double bare_copy(gr_gpu *g, gr_diags *d, uint64_t bytes) {
    gr_gpu_binding layout[2] = {{0, 0, GR_GPU_READ, 0}, {0, 1, GR_GPU_READ_WRITE, 0}};
    gr_gpu_pipeline_desc pd = {.name = GR_STR("bare copy"), .wgsl = GR_STR(copy_wgsl), .entry = GR_STR("main"), .bindings = layout, .bindings_n = 2};
    const gr_gpu_pipeline *p = gr_gpu_pipeline_get(g, d, &pd);
    gr_gpu_buffer x = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = "x", .bytes = bytes, .usage = GR_GPU_STORAGE});
    gr_gpu_buffer y = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = "y", .bytes = bytes, .usage = GR_GPU_STORAGE});
    uint64_t groups = (bytes / 16 + 255) / 256;
    uint32_t gy = (uint32_t)((groups + 65534) / 65535), gx = (uint32_t)((groups + gy - 1) / gy);
    gr_gpu_commands *c = gr_gpu_commands_new(g, d, "bare copy");
    bool ok = p && c;
    for (int i = 0; ok && i < CHAIN; i++) {
        gr_gpu_bind binds[2] = {{0, 0, i % 2 ? y : x, 0, 0}, {0, 1, i % 2 ? x : y, 0, 0}};
        ok = gr_gpu_add_dispatch(c, d, &(gr_gpu_dispatch){.name = "copy", .pipeline = p, .binds = binds, .binds_n = 2, .grid = {gx, gy, 1}});
    }
    if (ok) gr_gpu_commands_time(c, true);
    double t[TIMES] = {0};
    for (uint32_t i = 0; ok && i < TIMES; i += CHAIN) {
        gr_gpu_run *r = gr_gpu_submit(c, d);
        ok = r && gr_gpu_run_wait(r, d, -1);
        for (uint32_t k = 0; ok && k < CHAIN; k++) {
            uint64_t begin = 0, end = 0;
            ok = gr_gpu_run_time(r, k, &begin, &end);
            t[i + k] = (double)(end - begin) * 1e-9;
        }
        gr_gpu_run_free(r);
    }
    if (c) gr_gpu_commands_free(c);
    gr_gpu_buffer_free(g, x);
    gr_gpu_buffer_free(g, y);
    return ok ? 2.0 * (double)bytes / bench_median(t, TIMES) : 0;
}

typedef struct shape_case {
    const char *what, *op;
    unsigned rank;
    uint64_t a[2], b[2];
    unsigned operands;
    double target;
    bool fuse; /* the chain is one dispatch, which reads the operands and writes the last result */
} shape_case;

static uint64_t elements(unsigned rank, const uint64_t *dims) {
    uint64_t n = 1;
    for (unsigned i = 0; i < rank; i++) n *= dims[i];
    return n;
}

static gr_tensor tensor_of(unsigned rank, const uint64_t *dims, const float *data) {
    gr_tensor t = {.dtype = "f32", .rank = rank, .data = data, .bytes = (size_t)(elements(rank, dims) * 4)};
    for (unsigned i = 0; i < rank; i++) t.dims[i] = dims[i];
    return t;
}

static int put_shape(char *t, size_t n, unsigned rank, const uint64_t *dims) {
    if (rank == 1) return snprintf(t, n, "f32[%llu]", (unsigned long long)dims[0]);
    return snprintf(t, n, "f32[%llu, %llu]", (unsigned long long)dims[0], (unsigned long long)dims[1]);
}

/* A chain of CHAIN nodes on v0; the second operand, if any, is the same in all. */
static void chain_text(const shape_case *c, char *t, size_t n) {
    char a[64], b[64];
    int at = snprintf(t, n, "graph bench {\n  tier prod\n");
    put_shape(a, sizeof a, c->rank, c->a);
    at += snprintf(t + at, n - (size_t)at, "  %%v0 = input \"v0\" : %s\n", a);
    put_shape(b, sizeof b, c->rank, c->b);
    if (c->operands == 2) at += snprintf(t + at, n - (size_t)at, "  %%w = input \"w\" : %s\n", b);
    for (int i = 0; i < CHAIN; i++)
        at += snprintf(t + at, n - (size_t)at, "  %%v%d = %s@1 %%v%d%s : %s @ node \"op\"\n", i + 1, c->op, i, c->operands == 2 ? ", %w" : "", a);
    snprintf(t + at, n - (size_t)at, "  output \"y\" %%v%d\n}\n", CHAIN);
}

/* Median seconds of one dispatch, by timestamps. */
static double time_case(gr_session *s, const shape_case *c, const float *data) {
    char text[8192];
    gr_tensor in[2] = {tensor_of(c->rank, c->a, data), tensor_of(c->rank, c->b, data)};
    chain_text(c, text, sizeof text);
    gr_program *p = gr_compile_text(s, "bench.graph", text, strlen(text), &(gr_compile_desc){.no_fuse = !c->fuse});
    gr_prepared *r = p ? gr_prepare(p, &(gr_prepare_desc){.timestamps = true}) : NULL;
    double t[TIMES] = {0}, result = 0;
    unsigned taken = 0;
    bool ok = r != NULL;
    for (unsigned i = 0; ok && i < c->operands; i++) ok = gr_write(r, i, &in[i]);
    for (int i = 0; ok && i < ROUNDS; i++) {
        const char *nodes[64];
        double seconds[64];
        gr_run run = gr_submit(r);
        ok = run && gr_wait(r, run);
        unsigned n = ok ? gr_times(r, run, nodes, seconds, 64) : 0;
        for (unsigned k = 0; k < n && k < 64 && taken < TIMES; k++)
            if (nodes[k] && !strcmp(nodes[k], "op") && seconds[k] > 0) t[taken++] = seconds[k];
        gr_release(r, run);
    }
    if (ok && taken) result = bench_median(t, taken);
    gr_prepared_free(r);
    gr_program_free(p);
    return result;
}

enum { CASES_N = 10 };

static int run_all(const char *self, uint64_t mib) {
    for (size_t i = 0; i < CASES_N; i++) {
        char command[4200];
        snprintf(command, sizeof command, "'%s' %llu %zu", self, (unsigned long long)mib, i);
        if (system(command) != 0) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 256;
    size_t only = argc > 2 ? strtoull(argv[2], NULL, 10) : SIZE_MAX;
    if (mib == 0 || mib > 4096) mib = 256;
    if (only == SIZE_MAX) return run_all(argv[0], mib);
    gr_diags d;
    gr_diags_init(&d);
    gr_gpu *g = gr_gpu_open(NULL, &d);
    while (g && mib > 1 && mib << 20 > gr_gpu_get_info(g)->limits.max_storage_binding) mib /= 2; /* what the bare copy can bind */
    uint64_t n = mib << 18, side = 1; /* elements; a square as near as powers of two allow */
    while (side * side * 4 <= n) side *= 2;
    uint64_t rows = n / side;
    float *data = malloc((size_t)n * 4);
    gr_session *s = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_GPU});
    if (!data || !s || gr_session_exit_code(s)) {
        printf("skipped: %s", s ? gr_session_report(s, false) : "no memory\n");
        if (g) gr_gpu_close(g, &d);
        gr_diags_free(&d);
        gr_session_free(s);
        free(data);
        return 0;
    }
    bench_fill(data, n, 3);
    double copy = g ? bare_copy(g, &d, n * 4) : 0;
    if (g) gr_gpu_close(g, &d);
    printf("pointwise on %s, %llu MiB an operand, bandwidth over a bare vec4 copy's (%.0f GB/s)\n", gr_session_adapter(s),
           (unsigned long long)mib, copy / 1e9);
    const shape_case cases[CASES_N] = {
        {"add, contiguous", "add", 1, {n}, {n}, 2, 0.8, false},
        {"relu, contiguous", "relu", 1, {n}, {0}, 1, 0.8, false},
        {"exp, contiguous", "exp", 1, {n}, {0}, 1, 0.8, false},
        {"mul by a scalar", "mul", 1, {n}, {1}, 2, 0.8, false},
        {"add a row to every row", "add", 2, {rows, side}, {1, side}, 2, 0.5, false},
        {"add a column to every column", "add", 2, {rows, side}, {rows, 1}, 2, 0.5, false},
        {"transpose (square)", "transpose", 2, {side, side}, {0}, 1, 0.5, false},
        {"ten fused: add, contiguous", "add", 1, {n}, {n}, 2, 0.85, true},
        {"ten fused: sub of a row", "sub", 2, {rows, side}, {1, side}, 2, 0.85, true},
        {"ten fused: sigmoid", "sigmoid", 1, {n}, {0}, 1, 0.85, true},
    };
    for (size_t i = 0; copy > 0 && i < CASES_N; i++) {
        const shape_case *c = &cases[i];
        if (only != i) continue;
        double seconds = time_case(s, c, data);
        uint64_t moved = 4 * (2 * elements(c->rank, c->a) + (c->operands == 2 ? elements(c->rank, c->b) : 0));
        if (seconds > 0) bench_row(c->what, (double)moved / seconds / copy, c->target, false);
        else printf("  %-40s failed: %s", c->what, gr_session_report(s, false));
    }
    gr_diags_free(&d);
    gr_session_free(s);
    free(data);
    return 0;
}
