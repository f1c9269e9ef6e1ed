/* eval-harness.h: runs one WGSL text and compares what it wrote.
 *
 * A case's text sees two outputs, `o: array<u32>` at binding 0 and `f: array<f32>` at binding 1,
 * both of HARNESS_WORDS words, and one input `x: array<f32>` at binding 2 of HARNESS_WORDS
 * words with x[i] = i * 0.5 - 2. */
#ifndef GR_TESTS_EVAL_HARNESS_H
#define GR_TESTS_EVAL_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math.h"
#include "wgsl/eval.h"
#include "wgsl/lane.h"

enum { HARNESS_WORDS = 64 };

typedef struct harness {
    uint32_t o[HARNESS_WORDS];
    float f[HARNESS_WORDS], x[HARNESS_WORDS];
    double fw[HARNESS_WORDS], fe[HARNESS_WORDS], fg[HARNESS_WORDS], xw[HARNESS_WORDS], xe[HARNESS_WORDS];
    uint8_t om[HARNESS_WORDS], fm[HARNESS_WORDS], xm[HARNESS_WORDS];
    gr_eval_stats stats;
    gr_diags d;
    bool ok;
} harness;

#define HARNESS_IO \
    "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n" \
    "@group(0) @binding(1) var<storage, read_write> f: array<f32>;\n" \
    "@group(0) @binding(2) var<storage, read> x: array<f32>;\n"

static inline void harness_clear(harness *h) {
    memset(h, 0, sizeof *h);
    for (int i = 0; i < HARNESS_WORDS; i++) {
        h->x[i] = (float)i * 0.5f - 2.0f;
        h->xw[i] = (double)h->x[i];
    }
    gr_diags_init(&h->d);
}

/* Compiles and runs `text` on a grid; with `wide`, floats live in fw, xw. Diagnostics stay in h->d. */
static inline bool harness_run(harness *h, const char *text, const gr_eval_options *opt, uint32_t gx, uint32_t gy, uint32_t gz,
                               bool wide) {
    gr_arena a;
    gr_arena_init(&a, (size_t)256 << 20);
    gr_wgsl_module *m = gr_wgsl_load(&a, &h->d, GR_STR("case.wgsl"), gr_str_of(text), NULL);
    gr_eval_program *p = m ? gr_eval_compile(&a, &h->d, m, GR_STR(""), opt) : NULL;
    gr_eval_binding b[] = {
        {.binding = 0, .bytes = h->o, .size = sizeof h->o, .mark = h->om},
        {.binding = 1, .bytes = h->f, .size = sizeof h->f, .wide = wide ? h->fw : NULL, .extra = wide ? h->fe : NULL, .gross = wide ? h->fg : NULL, .mark = h->fm},
        {.binding = 2, .bytes = h->x, .size = sizeof h->x, .wide = wide ? h->xw : NULL, .extra = wide ? h->xe : NULL, .mark = h->xm},
    };
    const uint32_t grid[3] = {gx, gy, gz};
    h->ok = p && gr_eval_dispatch(p, &h->d, b, 3, grid, &h->stats);
    gr_arena_free(&a);
    return h->ok;
}

static inline void harness_explain(const harness *h, const char *name, const char *text) {
    gr_buf out = {0};
    gr_diags_print(&out, &h->d, gr_str_of(text));
    print_message("case %s:\n%s\n%s\n", name, text, out.p ? out.p : "");
    gr_buf_free(&out);
}

/* One expectation table row: after `body` ran, o or f begins with these words. */
typedef struct harness_case {
    const char *name;
    const char *module; /* module-scope text; NULL for none */
    const char *body;   /* of main; g: global id, i: its x, l: local index */
    uint32_t groups, size; /* grid x and workgroup size x; 0 means 1 */
    uint32_t n;
    uint32_t want[16];
    bool floats; /* want holds the bits of f */
} harness_case;

static inline uint32_t harness_bits(float v) { return gr_bits_f32(v); }

static inline char *harness_text(const harness_case *c, char *buf, size_t room) {
    bool enable = c->module && strncmp(c->module, "enable", 6) == 0;
    snprintf(buf, room,
             "%s" HARNESS_IO "%s\n@compute @workgroup_size(%u)\nfn main(@builtin(global_invocation_id) g: vec3<u32>, "
             "@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) w: vec3<u32>) {\n  let i = g.x;\n  %s\n}\n",
             enable ? c->module : "", c->module && !enable ? c->module : "", c->size ? c->size : 1, c->body);
    return buf;
}

/* All instruction sets must give the same words; returns false after printing. */
static inline bool harness_check(const harness_case *c) {
    static char text[16384];
    harness_text(c, text, sizeof text);
    bool good = true;
    for (int isa = GR_EVAL_ISA_GENERIC; isa <= GR_EVAL_ISA_AVX512 && good; isa++) {
        static harness h;
        harness_clear(&h);
        const gr_eval_options opt = {.mode = GR_EVAL_F32, .isa = (gr_eval_isa)isa};
        good = harness_run(&h, text, &opt, c->groups ? c->groups : 1, 1, 1, false);
        for (uint32_t k = 0; good && k < c->n; k++) {
            uint32_t got = c->floats ? gr_bits_f32(h.f[k]) : h.o[k];
            if (got == c->want[k]) continue;
            good = false;
            print_message("word %u: got %u (0x%08x, %g), want %u (0x%08x, %g), isa %d\n", k, got, got,
                          (double)gr_f32_bits(got), c->want[k], c->want[k], (double)gr_f32_bits(c->want[k]), isa);
        }
        if (!good) harness_explain(&h, c->name, text);
        gr_diags_free(&h.d);
    }
    return good;
}

#endif
