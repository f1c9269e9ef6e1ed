/* One op on the GPU, timed by timestamp queries: `bench-op [--ops FOLDER] [--tier T] [--rounds N] OP operand=TYPE ... [parameter=VALUE ...]`
 * with TYPE as f32[4096,4096]. Prints one line of JSON: the median over rounds of the GPU seconds of all dispatches of a call, and of
 * the wall time of a submission. Two submissions are in flight, so that the GPU stays awake. Scripts beside this
 * file (beside-torch.py) set it beside other programs. Operands hold noise in [-1, 1); integers count up to 7. */
#include "bench.h"
#include "gradus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 16, ROUNDS_MAX = 1000, DISPATCHES = 256 };

typedef struct request {
    const char *op, *tier;
    const char *names[OPERANDS], *params[OPERANDS];
    gr_tensor in[OPERANDS];
    unsigned in_n, params_n, rounds;
} request;

/* "f32[3,4]"; false when it is not a type. */
static bool read_type(const char *text, gr_tensor *out) {
    static const char *const dtypes[] = {"f32", "f16", "i32", "u32", "bool", "u8", "i8"};
    const char *p = strchr(text, '[');
    if (!p) return false;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strlen(dtypes[i]) == (size_t)(p - text) && !strncmp(text, dtypes[i], (size_t)(p - text))) out->dtype = dtypes[i];
    if (!out->dtype) return false;
    for (p++; *p && *p != ']' && out->rank < 8; p++) {
        char *end;
        out->dims[out->rank++] = strtoull(p, &end, 10);
        if (end == p || (*end != ',' && *end != ']')) return false;
        p = end;
        if (*p == ']') break;
    }
    return *p == ']' && p[1] == 0;
}

static bool fill(gr_tensor *t, unsigned seed) {
    uint64_t n = 1;
    bool half = !strcmp(t->dtype, "f16"), byte = !strcmp(t->dtype, "u8") || !strcmp(t->dtype, "i8") || !strcmp(t->dtype, "bool");
    for (unsigned i = 0; i < t->rank; i++) n *= t->dims[i];
    t->bytes = (size_t)(n * (half ? 2 : byte ? 1 : 4));
    void *data = malloc(t->bytes ? t->bytes : 1);
    t->data = data;
    if (!data) return false;
    if (!strcmp(t->dtype, "f32")) bench_fill(data, n, seed);
    else if (half) for (uint64_t i = 0; i < n; i++) ((uint16_t *)data)[i] = (uint16_t)(0x3800 + i * 37 % 0x400);
    else if (byte) for (uint64_t i = 0; i < n; i++) ((uint8_t *)data)[i] = (uint8_t)(i % 2);
    else for (uint64_t i = 0; i < n; i++) ((uint32_t *)data)[i] = (uint32_t)(i % 8);
    return true;
}

/* Sum of the GPU seconds of a run's dispatches. */
static double gpu_seconds(gr_prepared *r, gr_run run, unsigned *dispatches) {
    const char *nodes[DISPATCHES];
    double seconds[DISPATCHES], sum = 0;
    *dispatches = gr_times(r, run, nodes, seconds, DISPATCHES);
    for (unsigned i = 0; i < *dispatches && i < DISPATCHES; i++) sum += seconds[i];
    return sum;
}

static bool time_op(gr_session *s, const request *q) {
    double gpu[ROUNDS_MAX] = {0}, wall[ROUNDS_MAX] = {0};
    unsigned dispatches = 0;
    gr_program *p = gr_compile_op(s, q->op, q->names, q->in, q->in_n, q->params, q->params_n, &(gr_compile_desc){.tier = q->tier});
    gr_prepared *r = p ? gr_prepare(p, &(gr_prepare_desc){.timestamps = true}) : NULL;
    bool ok = r != NULL;
    for (unsigned i = 0; ok && i < q->in_n; i++) ok = gr_write(r, i, &q->in[i]);
    for (unsigned i = 0; ok && i < q->rounds + 3; i++) { /* three to warm up */
        double start = bench_now();
        gr_run run = gr_submit(r);
        ok = run && gr_wait(r, run);
        if (ok && i >= 3) gpu[i - 3] = gpu_seconds(r, run, &dispatches), wall[i - 3] = bench_now() - start;
        gr_release(r, run);
    }
    if (ok) printf("{\"op\": \"%s\", \"adapter\": \"%s\", \"gpu_s\": %.9f, \"wall_s\": %.9f, \"dispatches\": %u, \"rounds\": %u}\n", q->op,
                   gr_session_adapter(s), bench_median(gpu, q->rounds), bench_median(wall, q->rounds), dispatches, q->rounds);
    gr_prepared_free(r);
    gr_program_free(p);
    return ok;
}

int main(int argc, char **argv) {
    request q = {.tier = "prod", .rounds = 20};
    gr_session *s = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_GPU});
    bool ok = s && !gr_session_exit_code(s);
    for (int i = 1; ok && i < argc; i++) {
        char *equal = strchr(argv[i], '=');
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--tier") && more) q.tier = argv[++i];
        else if (!strcmp(argv[i], "--rounds") && more) q.rounds = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--ops") && more) ok = gr_op_add(s, argv[++i], NULL);
        else if (!q.op) q.op = argv[i];
        else if (equal && q.in_n < OPERANDS && read_type(equal + 1, &q.in[q.in_n])) *equal = 0, q.names[q.in_n] = argv[i], ok = fill(&q.in[q.in_n], q.in_n + 1), q.in_n++;
        else if (equal && q.params_n < OPERANDS) q.in[q.in_n] = (gr_tensor){0}, q.params[q.params_n++] = argv[i];
        else ok = false;
    }
    if (q.rounds == 0 || q.rounds > ROUNDS_MAX) q.rounds = 20;
    ok = ok && q.op && time_op(s, &q);
    if (!ok) printf("{\"error\": \"bench-op could not run; see stderr\"}\n"), fprintf(stderr, "%s\n", s ? gr_session_report(s, false) : "no memory");
    for (unsigned i = 0; i < q.in_n; i++) free((void *)(uintptr_t)q.in[i].data);
    gr_session_free(s);
    return ok ? 0 : 1;
}
