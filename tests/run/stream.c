/* Inputs of the class "disk": a reduction over a file, and a training epoch over rows of one, that are larger than the budget, with the
 * bytes of buffers and the peak of resident memory bounded. With --whole a file of 2 GiB and a budget of 256 MiB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gradus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

enum { COLUMNS = 256, BATCH = 512 };
static const uint64_t mib = 1 << 20;
static uint64_t file_bytes, budget; /* of the sizes that are tested */
static double small_sum, big_sum;   /* over small.npy and big.npy */
static char streamed[2][72];        /* parameters after the streamed epoch, on the oracle and on the adapter */
static char dir[512];

static char *path_of(const char *name) {
    static char path[4][700];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", dir, name);
    return path[at];
}

static void write_text(const char *name, const char *text) {
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_true(fwrite(text, 1, strlen(text), f) == strlen(text));
    assert_int_equal(fclose(f), 0);
}

/* The NPY header of an array, padded to 128 bytes. */
static void put_header(FILE *f, const char *descr, const char *order, const char *shape) {
    char h[129];
    int n = snprintf(h + 10, sizeof h - 10, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape);
    memcpy(h, "\x93NUMPY\x01", 8);
    h[7] = 0;
    h[8] = 118;
    h[9] = 0;
    memset(h + 10 + n, ' ', (size_t)(117 - n));
    h[127] = '\n';
    assert_true(fwrite(h, 1, 128, f) == 128);
}

/* f32 rows: element k of row r is (r + k) % 7, so that sums of it are exact in f32; the rest of a row is left out as a hole where it is 0
 * in the large file, which is 0 but for every 4096th row. */
static double write_rows(const char *name, uint64_t rows, bool holes) {
    char shape[64];
    float row[COLUMNS];
    double sum = 0;
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    snprintf(shape, sizeof shape, "(%llu, %d)", (unsigned long long)rows, COLUMNS);
    put_header(f, "<f4", "False", shape);
    for (uint64_t r = 0; r < rows; r++) {
        if (holes && r % 4096 && r + 1 < rows) continue;
        for (uint64_t k = 0; k < COLUMNS; k++) sum += row[k] = (float)((r + k) % 7);
        assert_int_equal(fseeko(f, (off_t)(128 + r * sizeof row), SEEK_SET), 0);
        assert_true(fwrite(row, sizeof row, 1, f) == 1);
    }
    assert_int_equal(fclose(f), 0);
    return sum;
}

static void write_sum(const char *name, const char *file, const char *stream) {
    char text[1200];
    snprintf(text, sizeof text,
             "{ \"gradus\": \"canvas/1\", \"name\": \"sum\", \"tier\": \"debug\", \"budget\": { \"gpu\": %llu, \"cpu\": %llu }, \"nodes\": [\n"
             "{ \"id\": \"x\", \"block\": \"input\", \"file\": \"%s\"%s },\n"
             "{ \"id\": \"total\", \"op\": \"reduce_sum\" }, { \"id\": \"out\", \"block\": \"output\" } ],\n"
             "\"links\": [ { \"from\": \"x\", \"to\": \"total\" }, { \"from\": \"total\", \"to\": \"out\" } ] }\n",
             (unsigned long long)budget, (unsigned long long)budget, file, stream);
    write_text(name, text);
}

static uint64_t resident(void) {
    struct rusage u;
    assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
    return (uint64_t)u.ru_maxrss * 1024;
}

/* What a run may add to the peak of resident memory: the budget, which a software adapter takes from the same memory, the plan's own
 * texts, and what libraries keep. */
static void check_resident(uint64_t before, const char *what) {
    uint64_t now = resident(), may = budget + (budget < 64 * mib ? 24 * mib : 160 * mib);
    if (getenv("GRADUS_SHOW")) printf("%s: resident peak grew by %.1f MiB\n", what, (double)(now - before) / (double)mib);
#ifndef SANITIZED
    if (now - before > may) print_error("%s: resident peak grew by %llu, may by %llu\n", what, (unsigned long long)(now - before), (unsigned long long)may);
    assert_true(now - before <= may);
#else
    (void)what, (void)may;
#endif
}

static gr_session *session(gr_device_kind kind) {
    gr_session *s = gr_session_new(&(gr_session_desc){.device = kind, .threads = 1});
    assert_non_null(s);
    if (gr_session_exit_code(s) == 0) return s;
    gr_session_free(s);
    return NULL;
}

static void fail_with(gr_session *s) {
    print_error("%s", gr_session_report(s, false));
    assert_true(false);
}

/* One run of a document whose output is a single float. */
static float run_sum(gr_session *s, const char *name, uint64_t most, const char *says) {
    gr_program *p = gr_compile_file(s, path_of(name), NULL);
    if (!p) fail_with(s);
    char *plan = gr_explain(p, GR_RUNG_PLAN, NULL, false), *json = gr_plan_json(p);
    assert_non_null(plan);
    assert_non_null(json);
    if (!strstr(plan, says)) print_error("no \"%s\" in\n%.1500s\n", says, plan);
    assert_non_null(strstr(plan, says));
    if (most) assert_non_null(strstr(json, "\"streaming\": [{ \"value\": \"x\", \"from\": \"disk\", \"up\": "));
    gr_text_free(plan);
    gr_text_free(json);
    gr_prepared *r = gr_prepare(p, NULL);
    if (!r) fail_with(s);
    float got = 0;
    for (int i = 0; i < 2; i++) { /* a second run reads the file again */
        gr_run run = gr_submit(r);
        if (!run || !gr_wait(r, run)) fail_with(s);
        gr_tensor t = gr_result(r, run, 0);
        assert_non_null(t.data);
        memcpy(&got, t.data, sizeof got);
        char *record = gr_run_record(r, run);
        if (!record) fail_with(s);
        assert_non_null(strstr(record, "\"x\":\"sha256:"));
        gr_text_free(record);
        gr_release(r, run);
        if (most > 64 * mib) break;
    }
    if (most) assert_true(gr_created_bytes(r) <= most);
    gr_prepared_free(r);
    gr_program_free(p);
    return got;
}

static void reduce_on(gr_device_kind kind, const char *what) {
    write_sum("small.json", "small.npy", ", \"stream\": \"disk\"");
    write_sum("big.json", "big.npy", ", \"stream\": \"disk\"");
    gr_session *s = session(kind);
    if (!s) skip();
    assert_true(run_sum(s, "small.json", 0, "%x from disk, 64 KiB up in 1 part a run") == (float)small_sum); /* fits: uploaded once, whole */
    uint64_t before = resident();
    float got = run_sum(s, "big.json", budget, "yellow plan/streaming-slower");
    bool near = (double)got <= big_sum * 1.000001 && (double)got >= big_sum * 0.999999;
    if (!near) print_error("%g instead of %g\n", (double)got, big_sum);
    assert_true(near);
    check_resident(before, what);
    gr_session_free(s);
}

static void write_training(const char *name, const char *file, const char *stream) {
    char text[2000];
    snprintf(text, sizeof text,
             "{ \"gradus\": \"canvas/1\", \"name\": \"epoch\", \"tier\": \"debug\", \"seed\": 3, \"budget\": { \"gpu\": %llu, \"cpu\": %llu }, \"nodes\": [\n"
             "{ \"id\": \"rows\", \"block\": \"input\", \"file\": \"%s\", \"dtype\": \"f32\", \"shape\": [\"n\", %d]%s },\n"
             "{ \"id\": \"cut\", \"op\": \"split\", \"params\": { \"splits\": [%d, 1], \"axis\": 1 } },\n"
             "{ \"id\": \"w\", \"block\": \"parameter\", \"shape\": [%d, 1], \"init\": \"zeros\" },\n"
             "{ \"id\": \"guess\", \"op\": \"matmul\" }, { \"id\": \"loss\", \"op\": \"mse\" },\n"
             "{ \"id\": \"fit\", \"block\": \"train\", \"optimizer\": \"sgd\", \"rate\": 0.0001, \"batch\": { \"dimension\": \"n\", \"size\": %d, \"order\": \"given\" }, \"epochs\": 1 } ],\n"
             "\"links\": [ { \"from\": \"rows\", \"to\": \"cut\" }, { \"from\": \"cut.ys.0\", \"to\": \"guess.a\" }, { \"from\": \"w\", \"to\": \"guess.b\" },\n"
             "{ \"from\": \"guess\", \"to\": \"loss.x\" }, { \"from\": \"cut.ys.1\", \"to\": \"loss.target\" }, { \"from\": \"loss\", \"to\": \"fit.loss\" } ] }\n",
             (unsigned long long)budget, (unsigned long long)budget, file, COLUMNS, stream, COLUMNS - 1, COLUMNS - 1, BATCH);
    write_text(name, text);
}

/* An epoch: every row of the file once. */
static void train_epoch(gr_session *s, const char *name, char hash[72]) {
    gr_training *t = gr_training_open(s, path_of(name), NULL);
    if (!t) fail_with(s);
    char *plan = gr_explain(gr_training_program(t), GR_RUNG_PLAN, NULL, false);
    assert_non_null(plan);
    if (strstr(name, "disk")) assert_non_null(strstr(plan, "%rows from disk, 512 KiB up in 1 part a run"));
    gr_text_free(plan);
    if (!gr_training_run(t, 0)) fail_with(s);
    assert_true(gr_training_step(t) == file_bytes / (COLUMNS * 4) / BATCH);
    assert_true(gr_training_created_bytes(t) <= budget);
    assert_true(gr_training_hash(t, false, hash));
    gr_training_free(t);
}

static void train_on(gr_device_kind kind, const char *what) {
    write_training("disk.json", "big.npy", ", \"stream\": \"disk\"");
    gr_session *s = session(kind);
    if (!s) skip();
    uint64_t before = resident();
    train_epoch(s, "disk.json", streamed[kind == GR_DEVICE_GPU]);
    check_resident(before, what);
    gr_session_free(s);
}

/* Behind all measurements, since it holds the whole file: the same epoch gives the same bits. */
static void as_from_memory(void **state) {
    (void)state;
    char held[72];
    if (file_bytes > 64 * mib) skip();
    write_training("memory.json", "big.npy", "");
    for (int i = 0; i < 2; i++) {
        gr_session *s = streamed[i][0] ? session(i ? GR_DEVICE_GPU : GR_DEVICE_CPU) : NULL;
        if (!s) continue;
        train_epoch(s, "memory.json", held);
        assert_string_equal(streamed[i], held);
        gr_session_free(s);
    }
}

static void reduction_on_the_oracle(void **state) { (void)state, reduce_on(GR_DEVICE_CPU, "reduction, oracle"); }
static void reduction_on_the_adapter(void **state) { (void)state, reduce_on(GR_DEVICE_GPU, "reduction, adapter"); }
static void epoch_on_the_oracle(void **state) { (void)state, train_on(GR_DEVICE_CPU, "epoch, oracle"); }
static void epoch_on_the_adapter(void **state) { (void)state, train_on(GR_DEVICE_GPU, "epoch, adapter"); }

/* ---- types, and what is refused ---------------------------------------------------- */

static void write_npy(const char *name, const char *descr, const char *order, const char *shape, const void *data, size_t n) {
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    put_header(f, descr, order, shape);
    assert_true(fwrite(data, 1, n, f) == n);
    assert_int_equal(fclose(f), 0);
}

static float sum_of(gr_session *s, const char *file, const char *cast) {
    char text[1200];
    snprintf(text, sizeof text,
             "{ \"gradus\": \"canvas/1\", \"tier\": \"debug\", \"nodes\": [ { \"id\": \"x\", \"block\": \"input\", \"file\": \"%s\", \"stream\": \"disk\"%s },\n"
             "{ \"id\": \"f\", \"op\": \"cast\", \"params\": { \"type\": \"f32\" } }, { \"id\": \"total\", \"op\": \"reduce_sum\" }, { \"id\": \"out\", \"block\": \"output\" } ],\n"
             "\"links\": [ { \"from\": \"x\", \"to\": \"f\" }, { \"from\": \"f\", \"to\": \"total\" }, { \"from\": \"total\", \"to\": \"out\" } ] }\n",
             file, cast);
    write_text("type.json", text);
    return run_sum(s, "type.json", 0, "%x from disk, ");
}

/* Files of other types are the device's words part by part; a 16-bit array of odd length is padded. */
static void types(void **state) {
    (void)state;
    const uint8_t bytes[5] = {1, 2, 250, 4, 5}, truth[5] = {1, 0, 7, 0, 1};
    const double doubles[3] = {0.5, 1.25, -3};
    const uint16_t halves[3] = {0x3C00, 0x4000, 0x4200}; /* 1, 2, 3 */
    const int64_t wide[3] = {5, -7, 100};
    gr_session *s = session(GR_DEVICE_CPU);
    assert_non_null(s);
    write_npy("u8.npy", "|u1", "False", "(5,)", bytes, sizeof bytes);
    write_npy("bool.npy", "|b1", "False", "(5,)", truth, sizeof truth);
    write_npy("f64.npy", "<f8", "False", "(3,)", doubles, sizeof doubles);
    write_npy("f16.npy", "<f2", "False", "(3,)", halves, sizeof halves);
    write_npy("i64.npy", "<i8", "False", "(3,)", wide, sizeof wide);
    assert_true(sum_of(s, "u8.npy", "") == 262);
    assert_true(sum_of(s, "bool.npy", "") == 3);
    assert_true(sum_of(s, "f64.npy", "") == -1.25f);
    assert_true(sum_of(s, "f16.npy", "") == 6);
    assert_true(sum_of(s, "i64.npy", "") == 98);
    assert_true(sum_of(s, "u8.npy", ", \"dtype\": \"f32\"") == 262);
    gr_tensor t = {.dtype = "f32", .rank = 1, .dims = {2}, .data = (const float[2]){3, 4}, .bytes = 8};
    const char *names[1] = {"a"};
    assert_true(gr_tensors_save(s, path_of("w.safetensors"), names, &t, 1));
    assert_true(sum_of(s, "w.safetensors#a", "") == 7);
    gr_session_free(s);
}

static void refuse(const char *file, const char *more, const char *name) {
    char text[800];
    gr_session *s = session(GR_DEVICE_CPU);
    assert_non_null(s);
    snprintf(text, sizeof text,
             "{ \"gradus\": \"canvas/1\", \"tier\": \"debug\", \"nodes\": [ { \"id\": \"x\", \"block\": \"input\"%s%s%s%s }, { \"id\": \"y\", \"op\": \"neg\" }, { \"id\": \"out\", \"block\": \"output\" } ],\n"
             "\"links\": [ { \"from\": \"x\", \"to\": \"y\" }, { \"from\": \"y\", \"to\": \"out\" } ] }\n",
             file ? ", \"file\": \"" : "", file ? file : "", file ? "\"" : "", more);
    write_text("refused.json", text);
    gr_program *p = gr_compile_file(s, path_of("refused.json"), NULL);
    const char *report = gr_session_report(s, false);
    if (p || !strstr(report, name)) print_error("%s: %s\n", name, report);
    assert_null(p);
    assert_non_null(strstr(report, name));
    gr_session_free(s);
}

static void refusals(void **state) {
    (void)state;
    const float x[4] = {1, 2, 3, 4};
    const int16_t h[2] = {1, 2};
    write_npy("fortran.npy", "<f4", "True", "(2, 2)", x, sizeof x);
    write_npy("big-endian.npy", ">f4", "False", "(4,)", x, sizeof x);
    write_npy("short.npy", "<i2", "False", "(2,)", h, sizeof h);
    write_npy("cut.npy", "<f4", "False", "(5,)", x, sizeof x);
    write_text("table.csv", "1\n2\n");
    refuse("fortran.npy", ", \"stream\": \"disk\"", "array/not-in-parts");
    refuse("big-endian.npy", ", \"stream\": \"disk\"", "array/not-in-parts");
    refuse("short.npy", ", \"stream\": \"disk\"", "array/not-in-parts");
    refuse("table.csv", ", \"stream\": \"disk\"", "array/not-in-parts");
    refuse("cut.npy", ", \"stream\": \"disk\"", "array/npy-size");
    refuse("none.npy", ", \"stream\": \"disk\"", "base/file-unreadable");
    refuse(NULL, ", \"stream\": \"disk\", \"dtype\": \"f32\", \"shape\": [3]", "canvas/stream-bad");
    refuse("cut.npy", ", \"stream\": \"tape\"", "canvas/stream-bad");
    refuse("cut.npy", ", \"stream\": \"disk\", \"window\": { \"size\": 2 }", "canvas/stream-bad");
}

/* A file that is written while it is read in parts is no input that a record could speak of. */
static void changed_file(void **state) {
    (void)state;
    const float x[4] = {1, 2, 3, 4};
    gr_session *s = session(GR_DEVICE_CPU);
    assert_non_null(s);
    write_npy("x.npy", "<f4", "False", "(4,)", x, sizeof x);
    write_sum("changed.json", "x.npy", ", \"stream\": \"disk\"");
    gr_program *p = gr_compile_file(s, path_of("changed.json"), NULL);
    assert_non_null(p);
    usleep(20000); /* the clock of file times ticks coarsely */
    FILE *f = fopen(path_of("x.npy"), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 130, SEEK_SET), 0);
    assert_true(fwrite("!", 1, 1, f) == 1);
    assert_int_equal(fclose(f), 0);
    assert_null(gr_prepare(p, NULL));
    assert_non_null(strstr(gr_session_report(s, false), "base/file-changed"));
    gr_program_free(p);
    gr_session_free(s);
}

static int make_dir(void **state) {
    (void)state;
    snprintf(dir, sizeof dir, "%s/gradus-stream-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(dir)) return -1;
    small_sum = write_rows("small.npy", 64, false);
    big_sum = write_rows("big.npy", file_bytes / (COLUMNS * 4), file_bytes > 1024 * mib);
    return 0;
}

static int remove_dir(void **state) {
    (void)state;
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

int main(int argc, char **argv) {
    bool whole = argc > 1 && strcmp(argv[1], "--whole") == 0;
    file_bytes = whole ? 2048 * mib : 64 * mib;
    budget = whole ? 256 * mib : 4 * mib;
    const struct CMUnitTest t[] = {cmocka_unit_test(reduction_on_the_oracle), cmocka_unit_test(epoch_on_the_oracle), cmocka_unit_test(reduction_on_the_adapter),
                                   cmocka_unit_test(epoch_on_the_adapter),    cmocka_unit_test(types),               cmocka_unit_test(refusals),
                                   cmocka_unit_test(changed_file),         cmocka_unit_test(as_from_memory)};
    return cmocka_run_group_tests(t, make_dir, remove_dir);
}
