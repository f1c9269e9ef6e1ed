/* bench-eval.c: the evaluator against plain C at -O2, one core.
 *
 * Usage: bench-eval [catalog root]. Prints nanoseconds and the ratio of each pair; exit 0. */
#include "base/clock.h"
#include "base/file.h"
#include "wgsl/eval.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 1000000, W = 7, N = 512 };

static const char matmul_text[] =
    "@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
    "@group(0) @binding(1) var<storage, read> b: array<f32>;\n"
    "@group(0) @binding(2) var<storage, read_write> y: array<f32>;\n"
    "struct P { m: u32, n: u32, k: u32, pad: u32 }\n"
    "@group(0) @binding(3) var<uniform> p: P;\n"
    "@compute @workgroup_size(64)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
    "  let i = id.x;\n"
    "  if (i >= p.m * p.n) { return; }\n"
    "  let row = i / p.n; let column = i % p.n;\n"
    "  var sum = 0.0;\n"
    "  for (var k = 0u; k < p.k; k++) { sum += a[row * p.k + k] * b[k * p.n + column]; }\n"
    "  y[i] = sum;\n"
    "}\n";

static void c_matmul(const float *a, const float *b, float *y, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            y[i * n + j] = sum;
        }
}

static void c_median(const float *x, float *y, int n, int w) {
    for (int i = 0; i + w <= n; i++) {
        float s[31];
        for (int k = 0; k < w; k++) {
            float v = x[i + k];
            int at = k;
            while (at > 0 && s[at - 1] > v) s[at] = s[at - 1], at--;
            s[at] = v;
        }
        y[i] = s[w / 2];
    }
}

static double now(void) { return gr_clock_seconds(); }

static double run(const char *name, gr_str text, const gr_eval_binding *b, uint32_t n, uint32_t gx, uint32_t gy, gr_eval_mode mode,
                  gr_eval_isa isa) {
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    gr_wgsl_module *m = gr_wgsl_load(&a, &d, gr_str_of(name), text, NULL);
    gr_eval_options opt = {.mode = mode, .isa = isa};
    gr_eval_program *p = m ? gr_eval_compile(&a, &d, m, GR_STR(""), &opt) : NULL;
    const uint32_t grid[3] = {gx, gy, 1};
    double t = now();
    bool ok = p && gr_eval_dispatch(p, &d, b, n, grid, NULL);
    t = now() - t;
    if (getenv("BENCH_PRINT") && p) {
        gr_buf out = {0};
        gr_eval_print(&out, p);
        puts(out.p);
        gr_buf_free(&out);
    }
    if (!ok) {
        gr_buf out = {0};
        gr_diags_print(&out, &d, text);
        puts(out.p ? out.p : "");
        gr_buf_free(&out);
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
    return t;
}

static gr_str read_text(gr_arena *a, const char *root, const char *path) {
    gr_diags d;
    gr_diags_init(&d);
    gr_str text = {0};
    gr_file_read(a, &d, gr_path_join(a, gr_str_of(root), gr_str_of(path)), 0, &text);
    gr_diags_free(&d);
    return text;
}

static float *noise(size_t n) {
    float *v = malloc(n * sizeof *v);
    uint32_t s = 1;
    for (size_t i = 0; v && i < n; i++) v[i] = (float)((s = s * 1664525u + 1013904223u) >> 8) * 0x1p-24f - 0.5f;
    return v;
}

static void median(gr_arena *a, const char *root) {
    float *x = noise(SAMPLES), *y = malloc(SAMPLES * 4), *want = malloc(SAMPLES * 4);
    uint32_t params[4] = {SAMPLES - W + 1, W, 0, 0};
    double c = now();
    c_median(x, want, SAMPLES, W);
    c = now() - c;
    printf("median c            %8.1f ms\n", c * 1e3);
    static const char *const files[] = {"examples/ops/user/kemal/windowed_median@1/reference.wgsl",
                                        "examples/ops/user/kemal/windowed_median@1/kernel.wgsl"};
    gr_eval_binding b[] = {{.binding = 0, .bytes = x, .size = SAMPLES * 4},
                           {.binding = 1, .bytes = y, .size = SAMPLES * 4},
                           {.binding = 2, .bytes = params, .size = sizeof params}};
    for (int k = 0; k < 2; k++)
        for (int isa = 1; isa <= 3; isa++) {
            memset(y, 0, SAMPLES * 4);
            double t = run(files[k], read_text(a, root, files[k]), b, 3, 15625, 1, GR_EVAL_F32, (gr_eval_isa)isa);
            bool same = memcmp(y, want, (size_t)(SAMPLES - W + 1) * 4) == 0;
            printf("median %-9s %-7s %8.1f ms  ratio %6.2f  %s\n", k ? "kernel" : "reference", gr_eval_isa_text((gr_eval_isa)isa),
                   t * 1e3, t / c, same ? "same bits" : "DIFFERS");
        }
    double t = run(files[0], read_text(a, root, files[0]), b, 3, 15625, 1, GR_EVAL_WIDENED, GR_EVAL_ISA_AUTO);
    printf("median widened              %8.1f ms  ratio %6.2f\n", t * 1e3, t / c);
    t = run(files[0], read_text(a, root, files[0]), b, 3, 15625, 1, GR_EVAL_BOUNDED, GR_EVAL_ISA_AUTO);
    printf("median bounded              %8.1f ms  ratio %6.2f\n", t * 1e3, t / c);
    free(x), free(y), free(want);
}

static void matmul(void) {
    float *x = noise((size_t)N * N), *z = noise((size_t)N * N), *y = malloc((size_t)N * N * 4), *want = malloc((size_t)N * N * 4);
    uint32_t params[4] = {N, N, N, 0};
    double c = now();
    c_matmul(x, z, want, N);
    c = now() - c;
    printf("matmul c ijk        %8.1f ms\n", c * 1e3);
    gr_eval_binding b[] = {{.binding = 0, .bytes = x, .size = (size_t)N * N * 4}, {.binding = 1, .bytes = z, .size = (size_t)N * N * 4},
                           {.binding = 2, .bytes = y, .size = (size_t)N * N * 4}, {.binding = 3, .bytes = params, .size = sizeof params}};
    for (int isa = 1; isa <= 3; isa++) {
        double t = run("matmul", gr_str_of(matmul_text), b, 4, N * N / 64, 1, GR_EVAL_F32, (gr_eval_isa)isa);
        bool same = memcmp(y, want, (size_t)N * N * 4) == 0;
        printf("matmul f32     %-7s %8.1f ms  ratio %6.2f  %s\n", gr_eval_isa_text((gr_eval_isa)isa), t * 1e3, t / c,
               same ? "same bits" : "DIFFERS");
    }
    free(x), free(z), free(y), free(want);
}

int main(int argc, char **argv) {
    gr_arena a = {0};
    median(&a, argc > 1 ? argv[1] : ".");
    matmul();
    gr_arena_free(&a);
    return 0;
}
