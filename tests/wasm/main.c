/* gradus-probe [ROOT]: prints facts of the core that must be the same bits on every platform, one a line as
 * "name value". tests/wasm/test.mjs compares the output of the native and the wasm build. ROOT is the
 * source tree (examples/ and catalog/ are read from it). A new part of the core adds a section_ function. */
#include "base/hash.h"
#include "base/rng.h"
#include "base/value.h"

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

int main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    section_hash();
    section_rng();
    section_text();
    section_math();
    section_value();
    return 0;
}
