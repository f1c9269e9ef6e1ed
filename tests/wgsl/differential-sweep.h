/* differential-sweep.h: small programs, one operator or builtin function each, over vectors of every width, and the
 * same with constant arguments. Include after differential.h. */
#ifndef GR_TESTS_DIFFERENTIAL_SWEEP_H
#define GR_TESTS_DIFFERENTIAL_SWEEP_H

#include "wgsl/differential.h"

/* `signature` is RESULT:ARGS, a letter each: i u f h b, w for a u32 that stays scalar, I for i and u in turn,
 * S for i and f, N for all three. A digit before the result fixes its width. Arguments are a, b, c, d. */
enum { W1 = 1, W2 = 2, W3 = 4, W4 = 8, WV = W2 | W3 | W4, WA = W1 | WV };
typedef struct sweep_row {
    const char *expr, *signature;
    unsigned widths;
    diff_fill fill; /* 0: special values */
    bool constant;  /* exact: also with constant arguments */
} sweep_row;

static const sweep_row sweep_rows[] = {
    {"a + b", "N:NN", WA, 0, true}, {"a - b", "N:NN", WA, 0, true}, {"a * b", "N:NN", WA, 0, true},
    {"a / b", "I:II", WA, 0, true}, {"a % b", "I:II", WA, 0, true}, {"a / b", "f:ff", WA, DIFF_POSITIVE, false},
    {"a % b", "f:ff", WA, DIFF_POSITIVE, false}, {"-a", "S:S", WA, 0, true},
    {"a & b", "I:II", WA, 0, true}, {"a | b", "I:II", WA, 0, true}, {"a ^ b", "I:II", WA, 0, true}, {"~a", "I:I", WA, 0, true},
    {"a << b", "I:Iu", WA, 0, true}, {"a >> b", "I:Iu", WA, 0, true},
    {"a == b", "b:NN", WA, 0, true}, {"a != b", "b:NN", WA, 0, true}, {"a < b", "b:NN", WA, 0, true},
    {"a <= b", "b:NN", WA, 0, true}, {"a > b", "b:NN", WA, 0, true}, {"a >= b", "b:NN", WA, 0, true},
    {"a == b", "b:bb", WA, 0, true}, {"a != b", "b:bb", WA, 0, true}, {"a & b", "b:bb", WA, 0, true}, {"a | b", "b:bb", WA, 0, true},
    {"!a", "b:b", WA, 0, true}, {"all(a)", "1b:b", WV, 0, true}, {"any(a)", "1b:b", WV, 0, true},
    {"select(a, b, c)", "N:NNb", WA, 0, true}, {"select(a, b, c)", "b:bbb", WA, 0, true},
    {"abs(a)", "N:N", WA, 0, true}, {"sign(a)", "S:S", WA, 0, true}, {"min(a, b)", "N:NN", WA, 0, true},
    {"max(a, b)", "N:NN", WA, 0, true}, {"clamp(a, min(b, c), max(b, c))", "N:NNN", WA, 0, true},
    {"countOneBits(a)", "I:I", WA, 0, true}, {"countLeadingZeros(a)", "I:I", WA, 0, true}, {"countTrailingZeros(a)", "I:I", WA, 0, true},
    {"firstLeadingBit(a)", "I:I", WA, 0, true}, {"firstTrailingBit(a)", "I:I", WA, 0, true}, {"reverseBits(a)", "I:I", WA, 0, true},
    {"extractBits(a, b, c)", "I:Iww", WA, 0, true}, {"insertBits(a, b, c, d)", "I:IIww", WA, 0, true},
    {"dot(a, b)", "1I:II", WV, 0, true}, {"dot4U8Packed(a, b)", "u:uu", W1, 0, true}, {"dot4I8Packed(a, b)", "i:uu", W1, 0, true},
    {"pack4xI8(a)", "1u:i", W4, 0, true}, {"pack4xU8(a)", "1u:u", W4, 0, true}, {"pack4xI8Clamp(a)", "1u:i", W4, 0, true},
    {"pack4xU8Clamp(a)", "1u:u", W4, 0, true}, {"unpack4xI8(a)", "4i:w", W1, 0, true}, {"unpack4xU8(a)", "4u:w", W1, 0, true},
    {"pack4x8snorm(a * 0.99f)", "1u:f", W4, DIFF_UNIT, false}, {"pack4x8unorm(a * 0.99f)", "1u:f", W4, DIFF_UNIT, false},
        {"pack2x16snorm(a * 0.99f)", "1u:f", W2, DIFF_UNIT, false}, {"pack2x16unorm(a * 0.99f)", "1u:f", W2, DIFF_UNIT, false},
    {"pack2x16float(floor(a))", "1u:f", W2, 0, false}, {"unpack4x8snorm(a)", "4f:w", W1, DIFF_RANDOM, false},
    {"unpack4x8unorm(a)", "4f:w", W1, DIFF_RANDOM, false}, {"unpack2x16snorm(a)", "2f:w", W1, DIFF_RANDOM, false},
    {"unpack2x16unorm(a)", "2f:w", W1, DIFF_RANDOM, false}, {"unpack2x16float(a & 0xbfffbfffu)", "2f:w", W1, DIFF_RANDOM, false},
    {"floor(a)", "f:f", WA, 0, true}, {"ceil(a)", "f:f", WA, 0, true}, {"trunc(a)", "f:f", WA, 0, true}, {"round(a)", "f:f", WA, 0, true},
    {"floor(a)", "f:f", W1, DIFF_RANDOM, false}, {"round(a)", "f:f", W1, DIFF_RANDOM, false}, {"saturate(a)", "f:f", WA, 0, true},
    {"fract(a)", "f:f", WA, 0, false}, {"step(a, b)", "f:ff", WA, 0, true}, {"mix(a, b, c)", "f:fff", WA, DIFF_RANDOM, false},
    {"mix(a, b, 0.25f)", "f:ff", WV, DIFF_RANDOM, false}, {"smoothstep(a, a + b, c)", "f:fff", WA, DIFF_POSITIVE, false},
    {"modf(a).fract", "f:f", WA, 0, false}, {"modf(a).whole", "f:f", WA, 0, true}, {"frexp(a).fract", "f:f", WA, 0, true},
    {"frexp(a).exp", "i:f", WA, 0, true}, {"ldexp(a, b % 20)", "f:fi", WA, 0, true}, {"quantizeToF16(a)", "f:f", WA, DIFF_RANDOM, false},
    {"fma(a, b, c)", "f:fff", WA, DIFF_RANDOM, false}, {"sin(a * 3f)", "f:f", WA, DIFF_UNIT, false}, {"cos(a * 3f)", "f:f", WA, DIFF_UNIT, false},
    {"tan(a)", "f:f", WA, DIFF_UNIT, false}, {"asin(a)", "f:f", WA, DIFF_UNIT, false}, {"acos(a)", "f:f", WA, DIFF_UNIT, false},
    {"atan(a)", "f:f", WA, 0, false}, {"atan2(a, b)", "f:ff", WA, DIFF_POSITIVE, false}, {"atan2(a, b - 5f)", "f:ff", W1, DIFF_POSITIVE, false},
    {"sinh(a * 4f)", "f:f", WA, DIFF_UNIT, false}, {"cosh(a * 4f)", "f:f", WA, DIFF_UNIT, false}, {"tanh(a * 4f)", "f:f", WA, DIFF_UNIT, false},
    {"asinh(a)", "f:f", WA, DIFF_POSITIVE, false}, {"acosh(a + 1.5f)", "f:f", WA, DIFF_POSITIVE, false}, {"atanh(a * 0.9f)", "f:f", WA, DIFF_UNIT, false},
    {"exp(a * 10f)", "f:f", WA, DIFF_UNIT, false}, {"exp2(a * 10f)", "f:f", WA, DIFF_UNIT, false}, {"log(a)", "f:f", WA, DIFF_POSITIVE, false},
    {"log2(a)", "f:f", WA, DIFF_POSITIVE, false}, {"pow(a, b)", "f:ff", WA, DIFF_POSITIVE, false}, {"pow(a, b * 2f)", "f:ff", W1, DIFF_UNIT, false},
    {"sqrt(a)", "f:f", WA, DIFF_POSITIVE, false}, {"inverseSqrt(a)", "f:f", WA, DIFF_POSITIVE, false}, {"degrees(a)", "f:f", WA, DIFF_UNIT, false},
    {"radians(a)", "f:f", WA, DIFF_RANDOM, false}, {"length(a)", "1f:f", WA, DIFF_RANDOM, false}, {"distance(a, b)", "1f:ff", WA, DIFF_RANDOM, false},
    {"normalize(a)", "f:f", WV, DIFF_POSITIVE, false}, {"dot(a, b)", "1f:ff", WV, DIFF_RANDOM, false}, {"cross(a, b)", "f:ff", W3, DIFF_RANDOM, false},
    {"reflect(a, b)", "f:ff", WV, DIFF_UNIT, false}, {"refract(a, normalize(b), 0.6f)", "f:ff", WV, DIFF_POSITIVE, false},
    {"faceForward(a, b, c)", "f:fff", WV, DIFF_RANDOM, false},
    {"$(a)", "i:f", WA, 0, true}, {"$(a)", "u:f", WA, 0, true}, {"$(a)", "f:i", WA, 0, true}, {"$(a)", "f:u", WA, 0, true},
    {"$(a)", "i:u", WA, 0, true}, {"$(a)", "u:i", WA, 0, true}, {"$(a)", "I:b", WA, 0, true}, {"$(a)", "f:b", WA, 0, true}, {"$(a)", "b:N", WA, 0, true},
    {"$(a * 100000f)", "I:f", WA, 0, false}, {"$(a * 1e9f)", "I:f", W1, DIFF_RANDOM, false},
    {"bitcast<$>(a)", "I:f", WA, 0, true}, {"bitcast<$>(a)", "I:I", WA, 0, true}, {"bitcast<$>(a)", "i:u", WA, 0, true},
    {"bitcast<$>((a & @(0xbf7fffffu)) | @(0x00800000u))", "f:u", WA, DIFF_RANDOM, false},
    {"a + b", "h:hh", WA, DIFF_RANDOM, false}, {"a * b - c", "h:hhh", WA, DIFF_RANDOM, false}, {"a / b", "h:hh", WA, DIFF_POSITIVE, false},
    {"min(abs(a), b)", "h:hh", WA, 0, false}, {"floor(a) + trunc(b)", "h:hh", WA, 0, false}, {"a < b", "b:hh", WA, 0, false}, {"-a", "h:h", WA, 0, false},
    {"sign(a)", "h:h", W1, 0, false}, {"$(a)", "f:h", WA, 0, false}, {"$(floor(a))", "h:f", WA, DIFF_RANDOM, false}, {"$(a)", "i:h", WA, 0, false},
    {"$(a % 1000)", "h:i", WA, DIFF_RANDOM, false}, {"sqrt(a)", "h:h", WA, DIFF_POSITIVE, false},
    {"dot(a, b)", "1h:hh", WV, DIFF_UNIT, false}, {"frexp(a).fract", "h:h", W1, 0, false}, {"ldexp(a, b % 4)", "h:hi", W1, DIFF_UNIT, false},
    {"mix(a, b, c)", "h:hhh", W1 | W3, DIFF_UNIT, false}, {"clamp(a, h(-1), h(1))", "h:h", W1, DIFF_RANDOM, false}, {"select(a, b, c)", "h:hhb", WA, 0, false},
};
enum { SWEEP_ROWS = sizeof sweep_rows / sizeof *sweep_rows };

typedef struct sweep_case {
    char result, arg[4];
    uint32_t result_width, arg_width[4], args;
} sweep_case;

static const char *sweep_scalar(char c) { return c == 'i' ? "i32" : c == 'f' ? "f32" : c == 'h' ? "f16" : c == 'b' ? "bool" : "u32"; }
static void sweep_type(gr_buf *b, char c, uint32_t width) {
    if (width == 1) gr_buf_puts(b, sweep_scalar(c));
    else gr_buf_printf(b, "vec%u<%s>", width, sweep_scalar(c));
}
static void sweep_stored(gr_buf *b, char c, uint32_t width) { sweep_type(b, c == 'b' ? 'u' : c, width); }

/* Of a row with its generic letter read as `letter`. */
static sweep_case sweep_read(const sweep_row *row, char letter, uint32_t width) {
    sweep_case c = {.result_width = width};
    const char *s = row->signature;
    if (*s >= '1' && *s <= '4') c.result_width = (uint32_t)(*s++ - '0');
    c.result = *s >= 'a' ? *s : letter;
    for (s += 2; *s; s++) {
        c.arg[c.args] = *s >= 'a' ? *s == 'w' ? 'u' : *s : letter;
        c.arg_width[c.args++] = *s == 'w' ? 1 : width;
    }
    return c;
}

/* Letters that a row's signature stands for: at least one. */
static const char *sweep_letters(const sweep_row *row) {
    return strchr(row->signature, 'N') ? "iuf" : strchr(row->signature, 'S') ? "if" : strchr(row->signature, 'I') ? "iu" : "-";
}

/* The expression, with $ for the result type and @ for that of a. */
static void sweep_expr(gr_buf *b, const sweep_row *row, const sweep_case *c) {
    if (c->result == 'b' && c->result_width == 1) gr_buf_puts(b, "select(0u, 1u, ");
    else if (c->result == 'b') gr_buf_printf(b, "select(vec%uu(0), vec%uu(1), ", c->result_width, c->result_width);
    for (const char *s = row->expr; *s; s++) {
        if (*s == '@') sweep_type(b, c->arg[0], c->arg_width[0]);
        else if (*s == '$') sweep_type(b, c->result, c->result_width);
        else gr_buf_putc(b, *s);
    }
    if (c->result == 'b') gr_buf_puts(b, ")");
}

static bool sweep_has(const sweep_case *c, char letter) {
    bool has = c->result == letter;
    for (uint32_t k = 0; k < c->args; k++) has |= c->arg[k] == letter;
    return has;
}

static void sweep_head(gr_buf *b, const sweep_case *c) {
    if (sweep_has(c, 'h')) gr_buf_puts(b, "enable f16;\nalias h = f16;\n");
    gr_buf_puts(b, "@group(0) @binding(9) var<storage, read_write> o: array<");
    sweep_stored(b, c->result, c->result_width);
    gr_buf_puts(b, ">;\n");
}

/* One invocation an element. */
static void sweep_program(gr_buf *b, const sweep_row *row, const sweep_case *c) {
    sweep_head(b, c);
    for (uint32_t k = 0; k < c->args; k++) {
        gr_buf_printf(b, "@group(0) @binding(%u) var<storage, read> x%u: array<", k, k);
        sweep_stored(b, c->arg[k], c->arg_width[k]);
        gr_buf_puts(b, ">;\n");
    }
    gr_buf_puts(b, "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) gid: vec3<u32>) {\n  let i = gid.x;\n");
    for (uint32_t k = 0; k < c->args; k++) {
        if (c->arg[k] != 'b') gr_buf_printf(b, "  let %c = x%u[i];\n", 'a' + (char)k, k);
        else if (c->arg_width[k] == 1) gr_buf_printf(b, "  let %c = (x%u[i] & 1u) != 0u;\n", 'a' + (char)k, k);
        else gr_buf_printf(b, "  let %c = (x%u[i] & vec%uu(1)) != vec%uu(0);\n", 'a' + (char)k, k, c->arg_width[k], c->arg_width[k]);
    }
    gr_buf_puts(b, "  o[i] = "), sweep_expr(b, row, c), gr_buf_puts(b, ";\n}\n");
}

/* ------------------------------------------------------- constant arguments */

/* No -0: the sign of a constant zero is not defined. */
static void sweep_literal(gr_buf *b, char c, uint32_t k) {
    uint32_t v = diff_ints[k % 16];
    switch (c) {
        case 'b': gr_buf_puts(b, k & 1 ? "true" : "false"); return;
        case 'u': gr_buf_printf(b, "%uu", v); return;
        case 'i': gr_buf_printf(b, v == 0x80000000 ? "i32(-2147483648)" : "%di", (int)(int32_t)v); return;
        default: gr_buf_f64(b, k % 16 == 1 ? 0.25 : (double)diff_floats[k % 16]), gr_buf_putc(b, 'f');
    }
}

static void sweep_constant_line(gr_buf *b, const sweep_row *row, const sweep_case *c, uint32_t line, gr_rng *rng) {
    gr_buf_puts(b, "  { ");
    for (uint32_t k = 0; k < c->args; k++) {
        gr_buf_printf(b, "const %c = ", 'a' + (char)k), sweep_type(b, c->arg[k], c->arg_width[k]), gr_buf_putc(b, '(');
        for (uint32_t j = 0; j < c->arg_width[k]; j++) gr_buf_puts(b, j ? ", " : ""), sweep_literal(b, c->arg[k], gr_rng_below(rng, 16));
        gr_buf_puts(b, "); ");
    }
    gr_buf_printf(b, "o[%u] = ", line), sweep_expr(b, row, c), gr_buf_puts(b, "; }\n");
}

/* Lines that are const-expression errors (overflow, a shift too far) are left out. */
static void sweep_constant_program(gr_buf *b, const sweep_row *row, const sweep_case *c, gr_rng *rng) {
    static const char open[] = "@compute @workgroup_size(1) fn main() {\n";
    sweep_head(b, c);
    gr_buf_puts(b, open);
    for (uint32_t line = 0, tries = 0; line < 24 && tries < 60; tries++) {
        gr_buf alone = {0}, one = {0};
        gr_arena a = {0};
        gr_diags d;
        gr_diags_init(&d);
        sweep_constant_line(&one, row, c, line, rng);
        sweep_head(&alone, c), gr_buf_puts(&alone, open), gr_buf_puts(&alone, one.p), gr_buf_puts(&alone, "}\n");
        if (gr_wgsl_load(&a, &d, GR_STR("line"), gr_buf_view(&alone), NULL)) gr_buf_puts(b, one.p), line++;
        gr_buf_free(&alone), gr_buf_free(&one);
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
    gr_buf_puts(b, "}\n");
}

#endif
