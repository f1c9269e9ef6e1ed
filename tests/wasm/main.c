/* gradus-probe [ROOT]: prints facts of the core that must be the same bits on every platform, one a line as
 * "name value". tests/wasm/test.mjs compares the output of the native and the wasm build. ROOT is the
 * source tree (examples/ and catalog/ are read from it). A new part of the core adds a section_ function. */
#include "base/hash.h"
#include "base/rng.h"
#include "base/value.h"
#include "gradus.h"
#include "wgsl/eval.h"

#include "base/math_golden.h"

#include <inttypes.h>
#include <stdio.h>

static void put_hash(const char *name, gr_sha256 h) {
    char text[72];
    gr_sha256_text(text, h);
    printf("%s %s\n", name, text);
}

static void section_hash(void) {
    static uint8_t bytes[100000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 31u + (i >> 8));
    put_hash("hash.empty", gr_sha256_of("", 0));
    put_hash("hash.abc", gr_sha256_of("abc", 3));
    put_hash("hash.bytes", gr_sha256_of(bytes, sizeof bytes));
}

static void section_rng(void) {
    gr_rng r = gr_rng_seed(UINT64_C(0x1234567890abcdef));
    gr_sha256_state s;
    gr_sha256_init(&s);
    for (int i = 0; i < 10000; i++) {
        uint32_t u = gr_rng_u32(&r);
        double f = gr_rng_f64(&r);
        gr_sha256_update(&s, &u, sizeof u);
        gr_sha256_update(&s, &f, sizeof f);
    }
    put_hash("rng.stream", gr_sha256_final(&s));
}

/* Numbers as text: shortest forms of random bit patterns. */
static void section_text(void) {
    gr_rng r = gr_rng_seed(7);
    gr_buf b = {0};
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)gr_rng_u32(&r) << 32 | gr_rng_u32(&r);
        double f;
        memcpy(&f, &bits, sizeof f);
        gr_buf_f64(&b, f);
        gr_buf_putc(&b, '\n');
        uint32_t low = (uint32_t)bits;
        float g;
        memcpy(&g, &low, sizeof g);
        gr_buf_f32(&b, g);
        gr_buf_putc(&b, '\n');
    }
    put_hash("text.numbers", gr_sha256_of(b.p, b.n));
    gr_buf_free(&b);
}

static void section_math(void) {
    printf("math.golden 0x%016" PRIX64 "\n", golden_hash());
}

/* A document of every kind of value, canonical. */
static void section_value(void) {
    static const char text[] = "{\"b\": [1, -0.0, 1e300, 9007199254740993, 0.1], \"a\": {\"\\u20ac\": \"\\ud83d\\ude00\\n\"}, \"c\": null}";
    gr_arena a = {0};
    gr_diags d;
    gr_doc doc;
    gr_buf b = {0};
    gr_diags_init(&d);
    if (gr_json_parse(&a, &d, GR_STR("<probe>"), gr_str_of(text), &doc) && gr_json_canonical(&b, doc.root))
        printf("value.canonical %s\n", b.p);
    gr_buf_free(&b);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

enum { WORDS = 64 };

/* Every lane computes with its own input; f collects results of builtins, o integers and bits. */
static const char eval_text[] =
    "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
    "@group(0) @binding(1) var<storage, read_write> f: array<f32>;\n"
    "@group(0) @binding(2) var<storage, read> x: array<f32>;\n"
    "var<workgroup> shared_sum: array<f32, 32>;\n"
    "fn poly(v: vec3<f32>) -> f32 { return dot(v, vec3f(1.5, -0.25, 3.0)) + length(v); }\n"
    "@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {\n"
    "  let v = x[g.x];\n"
    "  var s = exp(v * 0.1) + log(abs(v) + 1.0) + sin(v) * cos(v) + tanh(v) + pow(abs(v) + 0.5, 1.7);\n"
    "  for (var i = 0u; i < g.x % 7u; i++) { s += sqrt(f32(i) + abs(v)) / (f32(i) + 0.3); }\n"
    "  if (s > 4.0) { s = atan2(s, v - 1.0) + inverseSqrt(s); } else { s += poly(vec3f(v, s, 0.5)) + fract(s) + round(v); }\n"
    "  shared_sum[l] = s;\n"
    "  workgroupBarrier();\n"
    "  f[g.x] = s + shared_sum[31u - l] * smoothstep(-3.0, 9.0, v);\n"
    "  o[g.x] = bitcast<u32>(s) ^ pack2x16float(vec2f(v, s)) ^ (u32(i32(v)) << 3u) ^ reverseBits(g.x * 2654435761u);\n"
    "}\n";

typedef struct lanes {
    uint32_t o[WORDS];
    float f[WORDS], x[WORDS];
    double fw[WORDS], fe[WORDS], xw[WORDS], xe[WORDS];
    uint8_t om[WORDS], fm[WORDS], xm[WORDS];
} lanes;

static void section_eval_mode(const char *name, gr_eval_mode mode, bool wide) {
    static lanes m;
    gr_arena a = {0};
    gr_diags d;
    m = (lanes){0};
    gr_diags_init(&d);
    for (int i = 0; i < WORDS; i++) {
        m.x[i] = (float)i * 0.37f - 3.0f;
        m.xw[i] = (double)m.x[i];
        m.xe[i] = mode == GR_EVAL_DUAL ? 1.0 : 0.0;
    }
    gr_wgsl_module *module = gr_wgsl_load(&a, &d, GR_STR("probe.wgsl"), gr_str_of(eval_text), NULL);
    gr_eval_program *p = module ? gr_eval_compile(&a, &d, module, GR_STR(""), &(gr_eval_options){.mode = mode}) : NULL;
    gr_eval_binding b[] = {
        {.binding = 0, .bytes = m.o, .size = sizeof m.o, .mark = m.om},
        {.binding = 1, .bytes = m.f, .size = sizeof m.f, .wide = wide ? m.fw : NULL, .extra = wide ? m.fe : NULL, .mark = m.fm},
        {.binding = 2, .bytes = m.x, .size = sizeof m.x, .wide = wide ? m.xw : NULL, .extra = wide ? m.xe : NULL, .mark = m.xm},
    };
    const uint32_t grid[3] = {WORDS / 32, 1, 1};
    if (p && gr_eval_dispatch(p, &d, b, 3, grid, NULL)) {
        put_hash(name, gr_sha256_of(&m, sizeof m));
    } else {
        gr_buf out = {0};
        gr_diags_print(&out, &d, gr_str_of(eval_text));
        printf("%s failed:\n%s\n", name, out.p ? out.p : "");
        gr_buf_free(&out);
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
}

static void section_eval(void) {
    section_eval_mode("eval.f32", GR_EVAL_F32, false);
    section_eval_mode("eval.widened", GR_EVAL_WIDENED, true);
    section_eval_mode("eval.bounded", GR_EVAL_BOUNDED, true);
    section_eval_mode("eval.dual", GR_EVAL_DUAL, true);
    section_eval_mode("eval.sanitizer", GR_EVAL_SANITIZER, false);
}

/* Hash of one rung's text. */
static void put_rung(gr_program *p, const char *document, const char *name, gr_rung rung) {
    char *text = gr_explain(p, rung, NULL, false);
    char label[96];
    snprintf(label, sizeof label, "%s.%s", document, name);
    if (text) put_hash(label, gr_sha256_of(text, strlen(text)));
    else printf("%s none\n", label);
    gr_text_free(text);
}

static void put_results(gr_program *p, gr_prepared *r, const char *document) {
    gr_run run = r ? gr_submit(r) : 0;
    if (!run || !gr_wait(r, run)) return;
    for (unsigned i = 0; i < gr_program_outputs(p); i++) {
        gr_tensor t = gr_result(r, run, i);
        char label[96];
        snprintf(label, sizeof label, "%s.output.%s", document, gr_program_output_name(p, i));
        put_hash(label, gr_sha256_of(t.data, t.bytes));
    }
    gr_release(r, run);
}

/* Compiles a document of examples/ and runs it on the oracle. */
static void section_example(const char *root, const char *document) {
    char catalog[512], path[512];
    snprintf(catalog, sizeof catalog, "%s/catalog", root);
    snprintf(path, sizeof path, "%s/examples/%s.json", root, document);
    gr_session *s = gr_session_new(&(gr_session_desc){.catalog = catalog, .device = GR_DEVICE_CPU});
    gr_program *p = gr_compile_file(s, path, &(gr_compile_desc){0});
    if (p) {
        put_rung(p, document, "canvas", GR_RUNG_CANVAS);
        put_rung(p, document, "flow", GR_RUNG_FLOW);
        put_rung(p, document, "graph", GR_RUNG_GRAPH);
        put_rung(p, document, "kernel", GR_RUNG_KERNEL);
        put_rung(p, document, "plan", GR_RUNG_PLAN);
        gr_prepared *r = gr_prepare(p, &(gr_prepare_desc){0});
        put_results(p, r, document);
        gr_prepared_free(r);
    }
    printf("%s.exit %d\n", document, gr_session_exit_code(s));
    if (gr_session_exit_code(s)) printf("%s\n", gr_session_report(s, false));
    gr_program_free(p);
    gr_session_free(s);
}

int main(int argc, char **argv) {
    const char *root = argc > 1 ? argv[1] : ".";
    section_hash();
    section_rng();
    section_text();
    section_math();
    section_value();
    section_eval();
    section_example(root, "despike");
    section_example(root, "center");
    return 0;
}
