/* differential-random.h: random well-typed compute programs for the differential test.
 *
 * The same variables are in scope everywhere, two of each scalar type and one of each vector type, so that any expression may stand anywhere; every line
 * can be dropped without making the rest ill-formed, except blocks as a whole. No out-of-bounds index, no unbounded
 * loop, no race, no constant-expression error, floats kept small. Include after differential.h. */
#ifndef GR_TESTS_DIFFERENTIAL_RANDOM_H
#define GR_TESTS_DIFFERENTIAL_RANDOM_H

#include "wgsl/differential.h"

enum { RANDOM_LANES = 64, RANDOM_MEMBERS = 6 };

typedef enum random_kind { RANDOM_NONE = 0, RANDOM_INTEGERS, RANDOM_FLOATS, RANDOM_MEMORY, RANDOM_WORKGROUP, RANDOM_SUBGROUP, RANDOM_HALF, RANDOM_KINDS } random_kind;
static const char *const random_kind_text[] = {"", "integers and control flow", "floats", "memory layout", "workgroup memory and atomics", "subgroups", "f16"};

typedef struct random_member {
    char scalar;      /* i u f h */
    uint32_t width;   /* 1..4 */
    uint32_t columns; /* not 0: a matrix */
    uint32_t count;   /* not 0: an array */
} random_member;

typedef struct random_gen {
    gr_rng rng;
    gr_buf out;
    random_kind kind;
    uint32_t loops, budget, functions, lets;
    bool in_function, in_loop, in_switch;
    random_member member[RANDOM_MEMBERS]; /* of structs S and U */
    uint32_t members;
    bool has_struct;
} random_gen;

static uint32_t below(random_gen *g, uint32_t n) { return gr_rng_below(&g->rng, n); }
static bool one_in(random_gen *g, uint32_t n) { return below(g, n) == 0; }
static void put(random_gen *g, const char *z) { gr_buf_puts(&g->out, z); }
#define PUT(...) gr_buf_printf(&g->out, __VA_ARGS__)

static const char *scalar_text(char t) { return t == 'i' ? "i32" : t == 'u' ? "u32" : t == 'f' ? "f32" : t == 'h' ? "f16" : "bool"; }
static void type(random_gen *g, char t, uint32_t w) {
    if (w == 1) put(g, scalar_text(t));
    else PUT("vec%u<%s>", w, scalar_text(t));
}

static void expr(random_gen *g, char t, uint32_t w, int depth);

/* A variable's name is type, width, number: i1a, f3b. */
static void variable(random_gen *g, char t, uint32_t w) { PUT("%c%u%c", t, w, w > 1 ? 'a' : 'a' + (char)below(g, 2)); }

static void literal(random_gen *g, char t) {
    static const char *const floats[] = {"0.5", "1.0", "-2.0", "0.25", "3.0", "-0.75", "1.5"};
    uint32_t v = diff_ints[below(g, 16)];
    switch (t) {
        case 'i': PUT("%di", one_in(g, 3) && v != 0x80000000u ? (int)(int32_t)v : (int)below(g, 20) - 5); return;
        case 'u': PUT("%uu", one_in(g, 3) ? v : below(g, 20)); return;
        case 'b': put(g, one_in(g, 2) ? "true" : "false"); return;
        default: PUT("%s%c", floats[below(g, 7)], t);
    }
}

static bool has_matrices(const random_gen *g) { return g->kind == RANDOM_FLOATS && !g->in_function; }
static bool allowed(const random_gen *g, char t) { return t != 'h' || g->kind == RANDOM_HALF; }

/* Reads of memory; the index is masked. */
static bool memory_leaf(random_gen *g, char t, uint32_t w, int depth) {
    if (t == 'u' && w == 1 && one_in(g, 2)) {
        put(g, one_in(g, 2) ? "au[" : "in_u["), expr(g, 'u', 1, depth - 1), put(g, " & 7u]");
        return true;
    }
    if (t == 'f' && w == 4 && one_in(g, 2)) return put(g, "af["), expr(g, 'u', 1, depth - 1), put(g, " & 3u]"), true;
    if (t == 'i' && w == 2 && one_in(g, 2)) return put(g, "pi["), expr(g, 'u', 1, depth - 1), put(g, " & 3u]"), true;
    for (uint32_t k = 0; g->has_struct && k < g->members; k++) {
        const random_member *m = &g->member[k];
        if (m->scalar != t || m->width != w || one_in(g, 2)) continue;
        put(g, !m->count && one_in(g, 3) ? "us" : one_in(g, 2) ? "ss" : "sb[id]");
        PUT(".m%u", k);
        if (m->count) put(g, "["), expr(g, 'u', 1, depth - 1), PUT(" %% %uu]", m->count);
        if (m->columns) put(g, "["), expr(g, 'u', 1, depth - 1), PUT(" %% %uu]", m->columns);
        return true;
    }
    return false;
}

static void leaf(random_gen *g, char t, uint32_t w, int depth) {
    if (depth > 0 && memory_leaf(g, t, w, depth)) return;
    if (w > 1 && one_in(g, 4)) {
        type(g, t, w), put(g, "("), variable(g, t, 1), put(g, ")");
        return;
    }
    if (w == 1 && t != 'b' && one_in(g, 4)) {
        uint32_t v = 2 + below(g, 3);
        variable(g, t, v), PUT(".%c", "xyzw"[below(g, v)]);
        return;
    }
    if (g->in_function && t == 'i' && w == 1 && one_in(g, 3)) put(g, "(*q)");
    else if (g->in_function && t == 'u' && w == 4 && one_in(g, 2)) put(g, "(*r)");
    else if (t == 'u' && w == 1 && one_in(g, 4)) put(g, "id");
    else variable(g, t, w);
}

static void call1(random_gen *g, const char *fn, char t, uint32_t w, int depth) { PUT("%s(", fn), expr(g, t, w, depth - 1), put(g, ")"); }
static void call2(random_gen *g, const char *fn, char t, uint32_t w, int depth) {
    PUT("%s(", fn), expr(g, t, w, depth - 1), put(g, ", "), expr(g, t, w, depth - 1), put(g, ")");
}

static void compare(random_gen *g, uint32_t w, int depth) {
    static const char *const ops[] = {"<", "<=", "==", "!=", ">", ">="};
    char t = one_in(g, 2) ? 'i' : 'u';
    if (one_in(g, 8)) put(g, "("), variable(g, 'f', w), PUT(" %s ", ops[below(g, 6)]), variable(g, 'f', w), put(g, ")");
    else put(g, "("), expr(g, t, w, depth - 1), PUT(" %s ", ops[below(g, 6)]), expr(g, t, w, depth - 1), put(g, ")");
}

static void expr_bool(random_gen *g, uint32_t w, int depth) {
    switch (below(g, 8)) {
        case 0: put(g, "(!"), expr(g, 'b', w, depth - 1), put(g, ")"); return;
        case 1: put(g, "("), expr(g, 'b', w, depth - 1), put(g, one_in(g, 2) ? " & " : " | "), expr(g, 'b', w, depth - 1), put(g, ")"); return;
        case 2:
            if (w > 1) break;
            put(g, "("), expr(g, 'b', 1, depth - 1), put(g, one_in(g, 2) ? " && " : " || "), expr(g, 'b', 1, depth - 1), put(g, ")");
            return;
        case 3:
            if (w > 1) break;
            put(g, one_in(g, 2) ? "all(" : "any("), expr(g, 'b', 2 + below(g, 3), depth - 1), put(g, ")");
            return;
        default: break;
    }
    compare(g, w, depth);
}

static void expr_int(random_gen *g, char t, uint32_t w, int depth) {
    static const char *const ops[] = {"+", "-", "*", "/", "%", "&", "|", "^"};
    static const char *const fns[] = {"abs", "countOneBits", "countLeadingZeros", "countTrailingZeros", "firstLeadingBit", "firstTrailingBit", "reverseBits"};
    switch (below(g, 16)) {
        case 0: put(g, "("), expr(g, t, w, depth - 1), put(g, one_in(g, 2) ? " << " : " >> "), expr(g, 'u', w, depth - 1), put(g, ")"); return;
        case 1: call1(g, fns[below(g, 7)], t, w, depth); return;
        case 2: call2(g, one_in(g, 2) ? "min" : "max", t, w, depth); return;
        case 3: PUT("select("), expr(g, t, w, depth - 1), put(g, ", "), expr(g, t, w, depth - 1), put(g, ", "), expr(g, 'b', one_in(g, 2) ? w : 1, depth - 1), put(g, ")"); return;
        case 4: type(g, t, w), put(g, "("), expr(g, t == 'i' ? 'u' : 'i', w, depth - 1), put(g, ")"); return;
        case 5: type(g, t, w), put(g, "("), expr(g, 'b', w, depth - 1), put(g, ")"); return;
        case 6: put(g, "bitcast<"), type(g, t, w), put(g, ">("), expr(g, t == 'i' ? 'u' : 'i', w, depth - 1), put(g, ")"); return;
        case 7: put(g, t == 'i' ? "(-" : "(~"), expr(g, t, w, depth - 1), put(g, ")"); return;
        case 8: put(g, "extractBits("), expr(g, t, w, depth - 1), put(g, ", "), expr(g, 'u', 1, depth - 1), put(g, ", "), expr(g, 'u', 1, depth - 1), put(g, ")"); return;
        case 9:
            if (w > 1) break;
            call2(g, "dot", t, 2 + below(g, 3), depth);
            return;
        case 10:
            if (w > 1 || !g->functions || g->in_function) break;
            PUT("%s(f%u(", scalar_text(t), below(g, g->functions)), variable(g, 'i', 1), put(g, ", "), expr(g, 'f', 3, 1), put(g, ", &i1b, &u4a))");
            return;
        case 11: put(g, "("), variable(g, t, w), PUT(" %s ", ops[(uint32_t[]){0, 1, 2, 5, 6, 7}[below(g, w > 1 ? 3 : 6)]]), literal(g, t), put(g, ")"); return;
        default: break;
    }
    put(g, "("), expr(g, t, w, depth - 1), PUT(" %s ", ops[below(g, 8)]), expr(g, t, w, depth - 1), put(g, ")");
}

static void expr_float(random_gen *g, char t, uint32_t w, int depth) {
    static const char *const ops[] = {"+", "-", "*"};
    static const char *const fns[] = {"abs", "floor", "ceil", "trunc", "round", "sign", "fract", "saturate"};
    switch (below(g, 14)) {
        case 0: call1(g, fns[below(g, one_in(g, 4) ? 8 : 1)], t, w, depth); return;
        case 1: call2(g, one_in(g, 2) ? "min" : "max", t, w, depth); return;
        case 2: PUT("select("), expr(g, t, w, depth - 1), put(g, ", "), expr(g, t, w, depth - 1), put(g, ", "), expr(g, 'b', one_in(g, 2) ? w : 1, depth - 1), put(g, ")"); return;
        case 3: type(g, t, w), put(g, "("), expr(g, 'i', w, depth - 1), put(g, " % "), type(g, 'i', w), put(g, "(16))"); return;
        case 4: type(g, t, w), put(g, "("), expr(g, 'b', w, depth - 1), put(g, ")"); return;
        case 5: put(g, "(-"), expr(g, t, w, depth - 1), put(g, ")"); return;
        case 6: put(g, "("), expr(g, t, w, depth - 1), put(g, " / (abs("), expr(g, t, w, depth - 1), put(g, ") + "), type(g, t, w), put(g, "(0.5)))"); return;
        case 7: put(g, "sqrt(abs("), expr(g, t, w, depth - 1), put(g, "))"); return;
        case 8: put(g, "mix("), variable(g, t, w), put(g, ", "), expr(g, t, w, depth - 1), put(g, ", "), literal(g, t), put(g, ")"); return;
        case 9:
            if (w > 1) break;
            call2(g, "dot", t, 2 + below(g, 3), 1);
            return;
        case 10:
            if (w == 1 || t == 'h' || !has_matrices(g)) break;
            if (one_in(g, 2)) PUT("(mx%u * ", w), expr(g, t, 3, depth - 1), put(g, ")");
            else put(g, "("), expr(g, t, w, depth - 1), PUT(" * mq%u)", w);
            return;
        case 11:
            if (t != 'f' || g->kind != RANDOM_HALF) break;
            type(g, 'f', w), put(g, "("), expr(g, 'h', w, depth - 1), put(g, ")");
            return;
        default: break;
    }
    put(g, "("), expr(g, t, w, depth - 1), PUT(" %s ", ops[below(g, 3)]), expr(g, t, w, depth - 1), put(g, ")");
}

/* A vector from parts: constructor, swizzle. */
static bool vector_parts(random_gen *g, char t, uint32_t w, int depth) {
    if (w == 1) {
        uint32_t v = 2 + below(g, 3);
        put(g, "("), expr(g, t, v, depth - 1), PUT(")[("), expr(g, 'u', 1, depth - 1), PUT(") %% %uu]", v);
        return true;
    }
    if (one_in(g, 2)) {
        uint32_t v = 2 + below(g, 3);
        put(g, "("), expr(g, t, v, depth - 1), put(g, ").");
        for (uint32_t k = 0; k < w; k++) gr_buf_putc(&g->out, "xyzw"[below(g, v)]);
        return true;
    }
    type(g, t, w), put(g, "(");
    for (uint32_t left = w; left;) {
        uint32_t n = 1 + below(g, left);
        n = n == w ? w - 1 : n;
        put(g, left < w ? ", " : ""), expr(g, t, n, depth - 1);
        left -= n;
    }
    put(g, ")");
    return true;
}

static void expr(random_gen *g, char t, uint32_t w, int depth) {
    if (!allowed(g, t)) t = 'f';
    if (depth <= 0) leaf(g, t, w, 0);
    else if (one_in(g, 4)) leaf(g, t, w, depth);
    else if (one_in(g, 6)) vector_parts(g, t, w, depth);
    else if (t == 'b') expr_bool(g, w, depth);
    else if (t == 'i' || t == 'u') expr_int(g, t, w, depth);
    else expr_float(g, t, w, depth);
}

/* Floats are clamped where they are stored, so that loops do not let them grow. */
static void stored(random_gen *g, char t, uint32_t w, int depth) {
    if (t != 'f' && t != 'h') {
        expr(g, t, w, depth);
        return;
    }
    put(g, "clamp("), expr(g, t, w, t == 'h' ? 1 : depth - 1), put(g, ", "), type(g, t, w), put(g, "(-16), "), type(g, t, w), put(g, "(16))");
}

/* ---------------------------------------------------------------- statements */

static char any_scalar(random_gen *g) {
    switch (g->kind) {
        case RANDOM_FLOATS: return "fffiub"[below(g, 6)];
        case RANDOM_HALF: return "hhhfiu"[below(g, 6)];
        default: return "iiuuufb"[below(g, 7)];
    }
}

static void block(random_gen *g, int depth);

static void assign(random_gen *g) {
    char t = any_scalar(g);
    uint32_t w = 1 + below(g, 4);
    static const char *const ops[] = {"+=", "-=", "*=", "&=", "|=", "^=", "/=", "%="};
    switch (below(g, 9)) {
        case 0:
            if (t == 'b' || t == 'f' || t == 'h') break;
            variable(g, t, w), PUT(" %s ", ops[below(g, 8)]), expr(g, t, w, 2), put(g, ";\n");
            return;
        case 1:
            if (w == 1) break;
            variable(g, t, w), PUT(".%c = ", "xyzw"[below(g, w)]), stored(g, t, 1, 2), put(g, ";\n");
            return;
        case 2:
            if (w == 1) break;
            variable(g, t, w), put(g, "[("), expr(g, 'u', 1, 1), PUT(") %% %uu] = ", w), stored(g, t, 1, 2), put(g, ";\n");
            return;
        case 3: put(g, "au["), expr(g, 'u', 1, 1), put(g, " & 7u] = "), expr(g, 'u', 1, 2), put(g, ";\n"); return;
        case 4: put(g, "af["), expr(g, 'u', 1, 1), put(g, " & 3u]"), put(g, one_in(g, 2) ? ".y = " : " = f4a * "), put(g, "0.5f;\n"); return;
        case 5: put(g, "pi["), expr(g, 'u', 1, 1), put(g, " & 3u] = "), expr(g, 'i', 2, 2), put(g, ";\n"); return;
        case 6:
            if (t != 'i' && t != 'u') break;
            variable(g, t, 1), put(g, one_in(g, 2) ? "++;\n" : "--;\n");
            return;
        case 7:
            if (!g->in_function) break;
            if (one_in(g, 2)) put(g, "*q = "), expr(g, 'i', 1, 2), put(g, ";\n");
            else put(g, one_in(g, 2) ? "(*r).z = " : "r[1] = "), expr(g, 'u', 1, 2), put(g, ";\n");
            return;
        default: break;
    }
    variable(g, t, w), put(g, " = "), stored(g, t, w, 3), put(g, ";\n");
}

static void assign_member(random_gen *g) {
    uint32_t k = below(g, g->members);
    const random_member *m = &g->member[k];
    if (one_in(g, 6)) {
        put(g, one_in(g, 2) ? "ss = sb[id];\n" : "sb[id] = ss;\n");
        return;
    }
    if (one_in(g, 4)) {
        PUT("let p%u = &%s.m%u", g->lets, one_in(g, 2) ? "ss" : "sb[id]", k);
        if (m->count) put(g, "["), variable(g, 'u', 1), PUT(" %% %uu]", m->count);
        if (m->columns) put(g, "["), variable(g, 'u', 1), PUT(" %% %uu]", m->columns);
        PUT(";\n*p%u = ", g->lets++);
    } else {
        PUT("%s.m%u", one_in(g, 2) ? "ss" : "sb[id]", k);
        if (m->count) put(g, "["), expr(g, 'u', 1, 1), PUT(" %% %uu]", m->count);
        if (m->columns) put(g, "["), expr(g, 'u', 1, 1), PUT(" %% %uu]", m->columns);
        put(g, " = ");
    }
    stored(g, m->scalar, m->width, 2), put(g, ";\n");
}

static void loop(random_gen *g, int depth) {
    uint32_t k = g->loops++;
    bool was = g->in_loop, was_switch = g->in_switch;
    g->in_loop = true, g->in_switch = false;
    switch (below(g, 3)) {
        case 0: PUT("for (var k%u = 0u; k%u < (", k, k), variable(g, 'u', 1), PUT(" & 7u); k%u++) ", k), block(g, depth); break;
        case 1:
            PUT("{\nvar k%u = 0u;\nwhile (k%u < 6u && ", k, k), expr(g, 'b', 1, 2), PUT(") {\nk%u++;\n", k), block(g, depth), put(g, "}\n}\n");
            break;
        default:
            PUT("{\nvar k%u = 0u;\nloop {\nif (k%u > 4u) { break; }\n", k, k), block(g, depth);
            PUT("continuing {\nk%u += 1u;\nu1a += k%u;\nbreak if (", k, k), expr(g, 'b', 1, 1), put(g, ");\n}\n}\n}\n");
    }
    g->in_loop = was, g->in_switch = was_switch;
}

static void choice(random_gen *g, int depth) {
    bool was = g->in_switch;
    g->in_switch = true;
    bool is_signed = one_in(g, 2);
    put(g, "switch "), expr(g, is_signed ? 'i' : 'u', 1, 1), put(g, is_signed ? " % 4i {\n" : " % 4u {\n");
    put(g, is_signed ? "case -1i, 0i: " : "case 0u: "), block(g, depth);
    bool joined = one_in(g, 2);
    put(g, joined ? "case 1, 3, default: " : "case 1, 3: "), block(g, depth), put(g, "case 2: "), block(g, depth);
    if (!joined) put(g, "default: "), block(g, depth);
    put(g, "}\n");
    g->in_switch = was;
}

static void statement(random_gen *g, int depth) {
    if (g->budget == 0) return;
    g->budget--;
    switch (depth <= 0 ? below(g, 6) : below(g, 15)) {
        case 6: case 7: put(g, "if ("), expr(g, 'b', 1, 2), put(g, ") "), block(g, depth - 1); return;
        case 8:
            put(g, "if ("), expr(g, 'b', 1, 2), put(g, ") "), block(g, depth - 1);
            g->out.n--, put(g, " else "), block(g, depth - 1);
            return;
        case 9: case 10: loop(g, depth - 1); return;
        case 11: choice(g, depth - 1); return;
        case 12:
            if (!g->in_loop) break;
            put(g, "if ("), expr(g, 'b', 1, 1), put(g, one_in(g, 2) || g->in_switch ? ") { continue; }\n" : ") { break; }\n");
            return;
        case 13:
            if (!g->in_function) break;
            put(g, "if ("), expr(g, 'b', 1, 1), put(g, ") { return "), expr(g, 'i', 1, 1), put(g, "; }\n");
            return;
        case 14: {
            char t = any_scalar(g);
            uint32_t w = 1 + below(g, 4), k = g->lets++;
            PUT("{\nlet t%u = ", k), expr(g, t, w, 2), put(g, ";\n"), assign(g), variable(g, t, w), PUT(" = t%u;\n}\n", k);
            return;
        }
        default: break;
    }
    if (g->has_struct && !g->in_function && one_in(g, 2)) assign_member(g);
    else assign(g);
}

static void block(random_gen *g, int depth) {
    put(g, "{\n");
    for (uint32_t k = 1 + below(g, 4); k > 0; k--) statement(g, depth);
    put(g, "}\n");
}

/* -------------------------------------------------------------- declarations */

static void declare_variables(random_gen *g) {
    static const char scalars[] = "iufbh";
    for (const char *t = scalars; *t; t++)
        for (uint32_t w = 1; w <= 4 && allowed(g, *t); w++)
            for (uint32_t k = 0; k < (w > 1 ? 1u : 2u); k++) {
                PUT("var %c%u%c = ", *t, w, 'a' + (char)k), type(g, *t, w), put(g, "(");
                for (uint32_t j = 0; j < w; j++) {
                    uint32_t at = below(g, 64);
                    put(g, j ? ", " : "");
                    if (*t == 'b') PUT("in_u[%u] > 7u", at);
                    else if (*t == 'h') PUT("f16(in_f[%u])", at);
                    else PUT("in_%c[%s%u]", *t, g->in_function ? "" : "id + ", at);
                }
                put(g, ");\n");
            }
    put(g, "var au = array<u32, 8>(1u, 2u, 3u, 4u, 5u, 6u, 7u, in_u[9]);\nvar af: array<vec4<f32>, 4>;\nvar pi = array(vec2(1i), vec2(-2i), i2a, -i2a);\n");
    for (uint32_t w = 2; w <= 4 && has_matrices(g); w++) {
        PUT("var mx%u = mat3x%u<f32>(", w, w);
        for (uint32_t k = 0; k < 3 * w; k++) PUT("%sin_f[%u] * 0.25f", k ? ", " : "", k);
        PUT(");\nlet mq%u = mat%ux%u<f32>(", w, w, w);
        for (uint32_t k = 0; k < w; k++) PUT("%sf%ua", k ? ", " : "", w);
        put(g, ");\n");
    }
}

static void function(random_gen *g) {
    PUT("fn f%u(a: i32, b: vec3<f32>, q: ptr<function, i32>, r: ptr<function, vec4<u32>>) -> i32 {\nlet id = u32(a) & 15u;\n", g->functions);
    g->in_function = true;
    declare_variables(g);
    put(g, "i1a = a;\nf3a = b;\n");
    g->budget = 4;
    for (int k = 0; k < 3; k++) statement(g, 2);
    put(g, "return "), expr(g, 'i', 1, 2), put(g, ";\n}\n");
    g->in_function = false;
    g->functions++;
}

static void member_type(random_gen *g, const random_member *m) {
    if (m->count) put(g, "array<");
    if (m->columns) PUT("mat%ux%u<%s>", m->columns, m->width, scalar_text(m->scalar));
    else type(g, m->scalar, m->width);
    if (m->count) PUT(", %u>", m->count);
}

/* S in storage with odd alignments and sizes; U in uniform memory, without its arrays, whose stride may not do there. */
static void structs(random_gen *g) {
    g->members = 2 + below(g, RANDOM_MEMBERS - 1);
    for (uint32_t k = 0; k < g->members; k++) {
        random_member *m = &g->member[k];
        *m = (random_member){g->kind == RANDOM_HALF ? "hhiuf"[below(g, 5)] : "iuff"[below(g, 4)], 1 + below(g, 4), 0, 0};
        if ((m->scalar == 'f' || m->scalar == 'h') && m->width > 1 && one_in(g, 3)) m->columns = 2 + below(g, 3);
        if (one_in(g, 3)) m->count = 2 + below(g, 3);
    }
    put(g, "struct S {\n");
    for (uint32_t k = 0; k < g->members; k++) {
        if (one_in(g, 5)) PUT("@align(%u) ", 16u << below(g, 2));
        if (one_in(g, 6)) PUT("@size(%u) ", 512);
        PUT("m%u: ", k), member_type(g, &g->member[k]), put(g, ",\n");
    }
    put(g, "}\nstruct U {\n");
    for (uint32_t k = 0; k < g->members; k++) {
        const random_member *m = &g->member[k];
        PUT("m%u: ", k);
        if (m->count) put(g, "vec4<u32>");
        else member_type(g, m);
        put(g, ",\n");
    }
    put(g, "}\n@group(0) @binding(6) var<storage, read_write> sb: array<S>;\n@group(0) @binding(7) var<uniform> us: U;\n");
    g->has_struct = true;
}

/* ------------------------------------------------------ phases between barriers */

static void workgroup_phase(random_gen *g, uint32_t k) {
    static const char *const order_free[] = {"Add", "Max", "Min", "And", "Or", "Xor", "Sub"};
    PUT("wu[l] = "), expr(g, 'u', 1, 3), put(g, ";\nwf[l] = "), stored(g, 'f', 4, 2), put(g, ";\nworkgroupBarrier();\n");
    PUT("u1a ^= wu[(l + %uu) & 63u];\n", below(g, 64));
    put(g, "f4a = wf[l ^ "), PUT("%uu];\ni4a += vec4<i32>(wf[63u - l]);\n", below(g, 64));
    PUT("let w%u = workgroupUniformLoad(&wu[%u]);\nu1b += w%u;\n", k, below(g, 64), k);
    uint32_t op = below(g, 7);
    PUT("if ("), expr(g, 'b', 1, 2), PUT(") {\natomic%s(&wa[%u + (", order_free[op], k % 4 * 4), expr(g, 'u', 1, 2), put(g, " & 3u)], "), expr(g, 'u', 1, 2), put(g, ");\n}\n");
    put(g, "workgroupBarrier();\n");
    PUT("u2a.x += atomicLoad(&wa[%u + (l & 3u)]);\nworkgroupBarrier();\n", k % 4 * 4);
    op = below(g, 7);
    PUT("atomic%s(&ga[%u + (", order_free[op], k % 4 * 4), expr(g, 'u', 1, 1), put(g, " & 3u)], "), expr(g, 'i', 1, 2), put(g, ");\n");
}

static void subgroup_phase(random_gen *g) {
    static const char *const ints[] = {"Add", "Mul", "Min", "Max", "And", "Or", "Xor", "InclusiveAdd", "ExclusiveAdd", "InclusiveMul", "ExclusiveMul", "BroadcastFirst"};
    static const char *const floats[] = {"Min", "Max", "Add", "InclusiveAdd", "BroadcastFirst"};
    static const char *const shuffles[] = {"ShuffleXor", "ShuffleXor", "Broadcast"};
    char t = one_in(g, 2) ? 'u' : 'i';
    uint32_t w = 1 + below(g, 4);
    switch (below(g, 8)) {
        case 0: case 1: PUT("%c%ua = subgroup%s(", t, w, ints[below(g, 12)]), expr(g, t, w, 2), put(g, ");\n"); return;
        case 2: PUT("f%ua = clamp(subgroup%s(", w, floats[below(g, 5)]), stored(g, 'f', w, 2), PUT("), "), type(g, 'f', w), put(g, "(-16), "), type(g, 'f', w), put(g, "(16));\n"); return;
        case 3: PUT("%c%ua = subgroup%s(", t, w, shuffles[below(g, 3)]), expr(g, t, w, 2), PUT(", %uu);\n", below(g, 4)); return;
        case 4: PUT("%c%ua = subgroupShuffle(", t, w), expr(g, t, w, 2), PUT(", (sid + %uu) %% ssize);\n", below(g, 8)); return;
        case 5: PUT("u4a = subgroupBallot("), expr(g, 'b', 1, 2), put(g, ");\n"); return;
        case 6: PUT("b1a = subgroup%s(", one_in(g, 2) ? "All" : "Any"), expr(g, 'b', 1, 2), put(g, ") != subgroupElect();\n"); return;
        default: PUT("%c%ua = quad%s(", t, w, (const char *[]){"SwapX", "SwapY", "SwapDiagonal"}[below(g, 3)]), expr(g, t, w, 2), put(g, ");\n"); return;
    }
}

static void results(random_gen *g) {
    static const char scalars[] = "iufbh";
    uint32_t o = 0, f = 0;
    for (const char *t = scalars; *t; t++)
        for (uint32_t w = 1; w <= 4 && allowed(g, *t); w++)
            for (uint32_t k = 0; k < (w > 1 ? 1u : 2u); k++)
                for (uint32_t j = 0; j < w; j++) {
                    bool real = *t == 'f' || *t == 'h';
                    PUT("%s[id * 64u + %uu] = %s(%c%u%c", real ? "out_f" : "out_u", real ? f++ : o++, real ? "f32" : "u32", *t, w, 'a' + (char)k);
                    if (w > 1) PUT(".%c", "xyzw"[j]);
                    put(g, ");\n");
                }
    for (uint32_t k = 0; k < 3; k++) PUT("out_u[id * 64u + %uu] = au[%u] + u32(pi[%u].y);\n", o++, k + 1, k);
}

static void random_program(random_gen *g) {
    if (g->kind == RANDOM_HALF) put(g, "enable f16;\n");
    if (g->kind == RANDOM_SUBGROUP) put(g, "enable subgroups;\n");
    put(g, "@group(0) @binding(0) var<storage, read> in_i: array<i32>;\n@group(0) @binding(1) var<storage, read> in_u: array<u32>;\n"
           "@group(0) @binding(2) var<storage, read> in_f: array<f32>;\n@group(0) @binding(3) var<storage, read_write> out_u: array<u32, 4096>;\n"
           "@group(0) @binding(4) var<storage, read_write> out_f: array<f32, 4096>;\n");
    if (g->kind == RANDOM_MEMORY || (g->kind == RANDOM_HALF && one_in(g, 2))) structs(g);
    bool shared = g->kind == RANDOM_WORKGROUP;
    if (shared) put(g, "@group(0) @binding(5) var<storage, read_write> ga: array<atomic<i32>, 16>;\nvar<workgroup> wu: array<u32, 64>;\nvar<workgroup> wf: array<vec4<f32>, 64>;\nvar<workgroup> wa: array<atomic<u32>, 16>;\n");
    for (uint32_t k = g->kind == RANDOM_HALF ? 0 : below(g, 2); k > 0; k--) {
        bool has = g->has_struct;
        g->has_struct = false;
        function(g);
        g->has_struct = has;
    }
    PUT("@compute @workgroup_size(%s) fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) l: u32", one_in(g, 2) ? "64" : "16, 2, 2");
    if (g->kind == RANDOM_SUBGROUP) put(g, ", @builtin(subgroup_invocation_id) sid: u32, @builtin(subgroup_size) ssize: u32");
    put(g, ") {\nlet id = l;\n");
    declare_variables(g);
    if (g->has_struct) put(g, "var ss = sb[id];\n");
    uint32_t phases = shared || g->kind == RANDOM_SUBGROUP ? 3 : 1;
    for (uint32_t k = 0; k < phases; k++) {
        g->budget = 14 / phases;
        for (uint32_t j = 0; j < 6 / phases; j++) statement(g, 3);
        if (shared) workgroup_phase(g, k);
        for (int j = 0; g->kind == RANDOM_SUBGROUP && j < 4; j++) subgroup_phase(g);
    }
    results(g);
    put(g, "}\n");
}

#endif
