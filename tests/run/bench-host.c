/* What the host does in a training step of examples/train_digits_cnn.json, beside the work itself: giving a batch and two numbers, with and
 * without hashes for a record, and submitting. Medians of alternating rounds of one process. */
#include "gradus.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 41, WRITES = 20 };

static int by_size(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[n / 2];
}

static gr_buffer **buffers_of(gr_session *s, gr_program *p) {
    gr_buffer **b = calloc(gr_program_inputs(p) + 1, sizeof(gr_buffer *));
    for (unsigned i = 0; b && i < gr_program_inputs(p); i++) {
        gr_tensor t = gr_program_input_type(p, i);
        bool batch = !strcmp(gr_program_input_name(p, i), "table"), scalar = t.rank == 0;
        if (!batch && !scalar) b[i] = gr_buffer_new(s, gr_program_input_name(p, i), t.bytes < 16 ? 16 : (t.bytes + 15) / 16 * 16);
    }
    return b;
}

static void write_step(gr_prepared *r, gr_program *p, void *zeros) {
    for (unsigned i = 0; i < gr_program_inputs(p); i++) {
        gr_tensor t = gr_program_input_type(p, i);
        if (strcmp(gr_program_input_name(p, i), "table") && t.rank) continue;
        t.data = zeros;
        gr_write(r, i, &t);
    }
}

static double time_writes(gr_prepared *r, gr_program *p, void *zeros) {
    double start = gr_clock_seconds();
    for (int i = 0; i < WRITES; i++) write_step(r, p, zeros);
    return (gr_clock_seconds() - start) / WRITES;
}

static int on(gr_device_kind kind) {
    gr_session *s = gr_session_new(&(gr_session_desc){.device = kind, .threads = 1});
    gr_program *p = s && !gr_session_exit_code(s) ? gr_compile_file(s, "examples/train_digits_cnn.json", &(gr_compile_desc){.train = GR_TRAIN_STEP}) : NULL;
    if (!p) {
        printf("skipped: %s\n", s ? gr_session_report(s, false) : "no memory");
        gr_session_free(s);
        return 0;
    }
    gr_buffer **b = buffers_of(s, p);
    gr_prepared *r[2];
    static float zeros[65536];
    double write[2][ROUNDS], submit[ROUNDS], step[ROUNDS];
    for (int i = 0; i < 2; i++) r[i] = gr_prepare(p, &(gr_prepare_desc){.inputs = b, .unrecorded = i});
    if (!r[0] || !r[1]) return puts(gr_session_report(s, false)), 1;
    for (int k = 0; k < ROUNDS; k++) {
        for (int i = 0; i < 2; i++) write[i][k] = time_writes(r[i], p, zeros);
        double start = gr_clock_seconds();
        gr_run run = gr_submit(r[1]);
        submit[k] = gr_clock_seconds() - start;
        if (!run || !gr_wait(r[1], run)) return puts(gr_session_report(s, false)), 1;
        step[k] = gr_clock_seconds() - start;
        gr_release(r[1], run);
    }
    double hashed = median(write[0], ROUNDS), plain = median(write[1], ROUNDS);
    printf("%s: writes of a step %.1f us with hashes, %.1f us without, ratio %.2f; submit %.1f us; step %.1f us\n", gr_session_executor(s), hashed * 1e6, plain * 1e6,
           hashed / plain, median(submit, ROUNDS) * 1e6, median(step, ROUNDS) * 1e6);
    for (int i = 0; i < 2; i++) gr_prepared_free(r[i]);
    for (unsigned i = 0; i < gr_program_inputs(p); i++) gr_buffer_free(b[i]);
    free(b);
    gr_program_free(p);
    gr_session_free(s);
    return 0;
}

int main(void) { return on(GR_DEVICE_CPU) || on(GR_DEVICE_GPU); }
