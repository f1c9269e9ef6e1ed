/* Executor overhead: a chain of small dispatches through a prepared plan, against as many of a plain kernel in a bare
 * loop over the device layer; and the compile time of a large graph. The two kernels differ, so on a software adapter
 * their times count too: bench-webgpu sends identical dispatches both ways. */
#include "bench.h"
#include "gradus.h"
#include "ladder/run/webgpu/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, CHAIN = 200, ELEMENTS = 1024, BIG = 10000 };

/* A graph of n dependent relu/neg nodes on a small vector, as text. */
static char *chain_text(unsigned n) {
    size_t cap = 200 + (size_t)n * 80, at = 0;
    char *t = malloc(cap);
    if (!t) return NULL;
    at += (size_t)snprintf(t + at, cap - at, "graph chain {\n  tier prod\n  %%v0 = input \"v0\" : f32[%d]\n", ELEMENTS);
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(t + at, cap - at, "  %%v%u = %s %%v%u : f32[%d] @ node \"n%u\"\n", i + 1, i % 2 ? "relu@1" : "neg@1", i, ELEMENTS, i);
    at += (size_t)snprintf(t + at, cap - at, "  output \"y\" %%v%u\n}\n", n);
    return t;
}

static gr_program *compile_chain(gr_session *s, unsigned n, bool fuse) {
    char *text = chain_text(n);
    gr_program *p = text ? gr_compile_text(s, "chain.graph", text, strlen(text), &(gr_compile_desc){.no_fuse = !fuse}) : NULL;
    free(text);
    return p;
}

static double plan_seconds(gr_session *s) {
    float x[ELEMENTS];
    bench_fill(x, ELEMENTS, 5);
    gr_tensor in = {.dtype = "f32", .rank = 1, .dims = {ELEMENTS}, .data = x, .bytes = sizeof x};
    gr_program *p = compile_chain(s, CHAIN, false);
    gr_prepared *r = p ? gr_prepare(p, NULL) : NULL;
    double t[ROUNDS], result = 0;
    bool ok = r && gr_write(r, 0, &in);
    for (int i = 0; ok && i < ROUNDS + 2; i++) {
        double start = bench_now();
        gr_run run = gr_submit(r);
        ok = run && gr_wait(r, run);
        if (i >= 2) t[i - 2] = bench_now() - start;
        gr_release(r, run);
    }
    if (ok) result = bench_median(t, ROUNDS);
    gr_prepared_free(r);
    gr_program_free(p);
    return result;
}

static const char step_wgsl[] =
    "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
    "@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
    "@compute @workgroup_size(64)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>) { if (id.x < 1024u) { y[id.x] = -x[id.x]; } }\n";

static double bare_seconds(gr_gpu *g, gr_diags *d) {
    gr_gpu_binding layout[2] = {{0, 0, GR_GPU_READ, 0}, {0, 1, GR_GPU_READ_WRITE, 0}};
    gr_gpu_pipeline_desc pd = {.name = GR_STR("bare"), .wgsl = GR_STR(step_wgsl), .entry = GR_STR("main"), .bindings = layout, .bindings_n = 2};
    const gr_gpu_pipeline *p = gr_gpu_pipeline_get(g, d, &pd);
    gr_gpu_buffer b[2];
    for (int i = 0; i < 2; i++) b[i] = gr_gpu_buffer_new(g, d, &(gr_gpu_buffer_desc){.name = "b", .bytes = ELEMENTS * 4, .usage = GR_GPU_STORAGE});
    gr_gpu_commands *c = gr_gpu_commands_new(g, d, "bare loop");
    bool ok = p && c;
    uint32_t read = 0;
    for (int i = 0; ok && i < CHAIN; i++) {
        gr_gpu_bind binds[2] = {{0, 0, b[i % 2], 0, 0}, {0, 1, b[(i + 1) % 2], 0, 0}};
        ok = gr_gpu_add_dispatch(c, d, &(gr_gpu_dispatch){.name = "step", .pipeline = p, .binds = binds, .binds_n = 2, .grid = {ELEMENTS / 64, 1, 1}});
    }
    ok = ok && gr_gpu_add_read(c, d, b[CHAIN % 2], 0, ELEMENTS * 4, &read);
    double t[ROUNDS], result = 0;
    for (int i = 0; ok && i < ROUNDS + 2; i++) {
        double start = bench_now();
        gr_gpu_run *r = gr_gpu_submit(c, d);
        ok = r && gr_gpu_run_wait(r, d, -1);
        if (i >= 2) t[i - 2] = bench_now() - start;
        gr_gpu_run_free(r);
    }
    if (ok) result = bench_median(t, ROUNDS);
    if (c) gr_gpu_commands_free(c);
    for (int i = 0; i < 2; i++) gr_gpu_buffer_free(g, b[i]);
    return result;
}

static void compile_time(void) {
    gr_session *s = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_NONE_});
    if (!s) return;
    double start = bench_now();
    gr_program *p = compile_chain(s, BIG, true);
    double seconds = bench_now() - start;
    if (p) bench_row("compile a graph of 10,000 nodes (seconds)", seconds, 1, true);
    else printf("  compile failed: %s", gr_session_report(s, false));
    gr_program_free(p);
    gr_session_free(s);
}

int main(void) {
    printf("executor and compiler\n");
    compile_time();
    gr_session *s = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_GPU});
    if (!s || gr_session_exit_code(s)) {
        printf("  overhead skipped: %s", s ? gr_session_report(s, false) : "no memory\n");
        gr_session_free(s);
        return 0;
    }
    gr_diags d;
    gr_diags_init(&d);
    gr_gpu *g = gr_gpu_open(NULL, &d);
    double bare = g ? bare_seconds(g, &d) : 0, plan = plan_seconds(s);
    if (bare > 0 && plan > 0) {
        printf("  on %s: %.1f us a dispatch in the plan, %.1f us bare\n", gr_session_adapter(s), plan / CHAIN * 1e6, bare / CHAIN * 1e6);
        bench_row("plan / bare loop: 200 small dispatches", plan / bare, 1.3, true);
    } else {
        printf("  failed: %s", gr_session_report(s, false));
    }
    if (g) gr_gpu_close(g, &d);
    gr_diags_free(&d);
    gr_session_free(s);
    return 0;
}
