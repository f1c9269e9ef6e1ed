/* The memory classes against the buffers that a device really makes: thirty graphs of all kinds, planned, prepared and run on the
 * adapter. The plan's total is the bytes created, staging and readback included, but for a rounding; on the oracle too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gradus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APART_MAX = 64 }; /* bytes */

#define X "  %x = input \"x\" : f32[128, 256]\n"
static const struct graph { const char *name, *body, *loss; uint64_t budget; unsigned checkpoint; } graphs[] = {
    {"copy", X "  %y = identity %x\n", NULL, 0, 0},
    {"chain", X "  %a = exp %x\n  %b = neg %a\n  %y = abs %b\n", NULL, 0, 0},
    {"diamond", X "  %a = exp %x\n  %b = transpose %a\n  %c = transpose %b\n  %y = add %a, %c\n", NULL, 0, 0},
    {"several outputs", X "  %a = exp %x\n  %y = neg %a\n  output \"a\" %a\n", NULL, 0, 0},
    {"half", X "  %a = cast %x type=f16\n  %y = add %a, %a\n", NULL, 0, 0},
    {"bytes", X "  %a = cast %x type=u8\n  %y = add %a, %a\n", NULL, 0, 0},
    {"wide integers", X "  %a = cast %x type=i64\n  %y = add %a, %a\n", NULL, 0, 0},
    {"truth", X "  %a = greater %x, %x\n  %y = logical_not %a\n", NULL, 0, 0},
    {"sum", X "  %y = reduce_sum %x\n", NULL, 0, 0},
    {"rows", X "  %y = reduce_max %x axes=[1]\n", NULL, 0, 0},
    {"columns", X "  %y = reduce_mean %x axes=[0]\n", NULL, 0, 0},
    {"variance", X "  %m = reduce_mean %x axes=[1] keep_dimensions=true\n  %c = sub %x, %m\n  %q = mul %c, %c\n  %y = reduce_mean %q axes=[1]\n", NULL, 0, 0},
    {"softmax", X "  %y = softmax %x axis=1\n", NULL, 0, 0},
    {"norm", X "  %y = layer_norm %x\n", NULL, 0, 0},
    {"transposed", X "  %y = transpose %x\n", NULL, 0, 0},
    {"reshaped", X "  %y = reshape %x new_shape=[256, 128]\n", NULL, 0, 0},
    {"joined", X "  %y = concat %x, %x axis=0\n", NULL, 0, 0},
    {"cut", X "  %y = slice %x starts=[0, 0] sizes=[64, 256]\n", NULL, 0, 0},
    {"padded", X "  %y = pad %x beginning_padding=[1, 1] ending_padding=[1, 1]\n", NULL, 0, 0},
    {"product", X "  %w = parameter \"w\" : f32[256, 64]\n  %y = matmul %x, %w\n", NULL, 0, 0},
    {"layers", X "  %w = parameter \"w\" : f32[256, 256]\n  %a = matmul %x, %w\n  %b = relu %a\n  %c = matmul %b, %w\n  %y = gelu %c\n", NULL, 0, 0},
    {"images", "  %x = input \"x\" : f32[2, 4, 32, 32]\n  %w = parameter \"w\" : f32[4, 4, 3, 3]\n  %a = conv2d %x, %w padding=[1, 1, 1, 1]\n  %b = relu %a\n  %y = max_pool2d %b window_dimensions=[2, 2] strides=[2, 2]\n", NULL, 0, 0},
    {"sorted", "  %x = input \"x\" : f32[20000]\n  %y = sort %x axis=0\n", NULL, 0, 0},
    {"spectrum", "  %x = input \"x\" : f32[4096]\n  %y = real_fft %x\n", NULL, 0, 0},
    {"gathered", X "  %i = input \"i\" : i32[30]\n  %y = gather %x, %i axis=0\n", NULL, 0, 0},
    {"bounded", "  %x = input \"x\" : f32[10000]\n  %k = input \"k\" : bool[10000]\n  %y = compact %x, %k\n", NULL, 0, 0},
    {"small", "  %x = input \"x\" : f32[3]\n  %y = neg %x\n", NULL, 0, 0},
    {"empty", "  %x = input \"x\" : f32[0, 4]\n  %y = neg %x\n", NULL, 0, 0},
    {"backward", X "  %w = parameter \"w\" : f32[256, 64]\n  %a = matmul %x, %w\n  %b = gelu %a\n  %c = mul %b, %b\n  %y = reduce_sum %c\n", "y", 0, 0},
    {"recomputed", X "  %a = sin %x\n  %b = transpose %a\n  %c = cos %b\n  %d = transpose %c\n  %e = sin %d\n  %y = reduce_sum %e\n", "y", 0, 2},
    {"streamed", X "  %a = transpose %x\n  %b = exp %a\n  %y = neg %b\n", NULL, 256 << 10, 0},
};

static uint64_t number_after(const char *text, const char *key) {
    const char *p = strstr(text, key);
    if (!p) print_error("%s\n", text);
    assert_non_null(p);
    return strtoull(p + strlen(key), NULL, 10);
}

static void write_zeros(gr_program *p, gr_prepared *r) {
    for (unsigned i = 0; i < gr_program_inputs(p); i++) {
        gr_tensor t = gr_program_input_type(p, i);
        t.bytes = strcmp(t.dtype, "bool") == 0 ? 1 : 4;
        for (unsigned k = 0; k < t.rank; k++) t.bytes *= (size_t)t.dims[k];
        void *zeros = calloc(1, t.bytes + 1);
        assert_non_null(zeros);
        t.data = zeros;
        assert_true(gr_write(r, i, &t));
        free(zeros);
    }
}

static void compare(gr_session *s, const struct graph *g) {
    char text[1200];
    snprintf(text, sizeof text, "graph t {\n  tier debug\n%s  output \"y\" %%y\n}\n", g->body);
    gr_compile_desc d = {.budget_gpu = g->budget, .checkpoint = g->checkpoint, .gradient = g->loss ? &g->loss : NULL, .gradient_n = g->loss != NULL};
    gr_program *p = gr_compile_text(s, "t.graph", text, strlen(text), &d);
    gr_prepared *r = p ? gr_prepare(p, NULL) : NULL;
    if (!r) print_error("%s: %s\n", g->name, gr_session_report(s, false));
    assert_non_null(r);
    write_zeros(p, r);
    gr_run done = gr_submit(r);
    if (!done || !gr_wait(r, done)) print_error("%s: %s\n", g->name, gr_session_report(s, false));
    assert_true(done != 0);
    char *plan = gr_plan_json(p);
    assert_non_null(plan);
    uint64_t planned = number_after(plan, "\"peak_total\": "), made = gr_created_bytes(r);
    uint64_t apart = planned > made ? planned - made : made - planned;
    if (getenv("GRADUS_SHOW")) printf("%-16s planned %10llu made %10llu\n", g->name, (unsigned long long)planned, (unsigned long long)made);
    if (apart > APART_MAX) print_error("%s: planned %llu, made %llu\n", g->name, (unsigned long long)planned, (unsigned long long)made);
    assert_true(apart <= APART_MAX);
    if (g->budget) assert_true(planned <= g->budget);
    gr_text_free(plan);
    gr_prepared_free(r);
    gr_program_free(p);
}

static void on(gr_device_kind kind) {
    gr_session *s = gr_session_new(&(gr_session_desc){.device = kind, .threads = 1});
    assert_non_null(s);
    if (gr_session_exit_code(s)) {
        gr_session_free(s);
        skip();
    }
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        if (kind == GR_DEVICE_GPU || !graphs[i].budget) compare(s, &graphs[i]);
    gr_session_free(s);
}

static void on_adapter(void **state) {
    (void)state;
    on(GR_DEVICE_GPU);
}

static void on_oracle(void **state) {
    (void)state;
    on(GR_DEVICE_CPU);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(on_adapter), cmocka_unit_test(on_oracle)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
