/* Number literals to constants, with the exact range rules of the specification. */
#include "wgsl/wgsl_int.h"

#include "base/math.h"

#include <stdlib.h>
#include <string.h>

static const gr_wgsl_const *range_error(gr_wgsl_front *f, uint32_t offset, gr_str text, const char *type) {
    gr_wgsl_error(f, GR_D_WGSL_LITERAL_RANGE, offset, NULL, "the literal %.*s cannot be represented as %s",
                  GR_STR_ARG(text), type);
    return NULL;
}

/* Digits to u64; false on overflow. */
static bool read_integer(gr_str s, uint64_t base, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        if (v > (UINT64_MAX - digit) / base) return false;
        v = v * base + digit;
    }
    *out = v;
    return true;
}

static const gr_wgsl_const *parse_integer(gr_wgsl_front *f, uint32_t offset, gr_str text) {
    gr_str s = text;
    char suffix = s.p[s.n - 1];
    bool hex = s.n > 2 && (s.p[1] | 32) == 'x';
    if (suffix == 'i' || suffix == 'u') s.n--;
    else suffix = 0;
    if (hex) s.p += 2, s.n -= 2;
    uint64_t v = 0;
    const gr_wgsl_type *t = suffix == 'i' ? f->types.i32 : suffix == 'u' ? f->types.u32 : f->types.abstract_int;
    uint64_t most = suffix == 'i' ? INT32_MAX : suffix == 'u' ? UINT32_MAX : INT64_MAX;
    if (!read_integer(s, hex ? 16 : 10, &v) || v > most) return range_error(f, offset, text, t->text.p);
    return gr_wgsl_const_i(f, t, (int64_t)v);
}

/* A hexadecimal float: mantissa bits kept exactly, extra nonzero bits noted as inexact. */
static bool read_hex_float(gr_str s, double *out, bool *exact) {
    uint64_t mantissa = 0;
    int64_t exponent = 0;
    bool point = false, sticky = false;
    size_t i = 2;
    for (; i < s.n && (s.p[i] | 32) != 'p'; i++) {
        char c = s.p[i];
        if (c == '.') {
            point = true;
            continue;
        }
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        if (mantissa >> 60) sticky |= digit != 0, exponent += point ? 0 : 4;
        else mantissa = mantissa << 4 | digit, exponent -= point ? 4 : 0;
    }
    if (i < s.n) {
        bool negative = s.p[i + 1] == '-';
        int64_t e = 0;
        for (i += s.p[i + 1] == '-' || s.p[i + 1] == '+' ? 2 : 1; i < s.n; i++)
            if (e < 1000000) e = e * 10 + (s.p[i] - '0');
        exponent += negative ? -e : e;
    }
    *exact = !sticky;
    *out = 0;
    if (!mantissa) return true;
    while (!(mantissa & 1)) mantissa >>= 1, exponent++;
    if (mantissa >> 53) *exact = false;
    if (exponent > 1100) return false;
    if (exponent < -1200) {
        *exact = false;
        return true;
    }
    double v = gr_ldexp((double)mantissa, (int)exponent);
    if (gr_ldexp(v, (int)-exponent) != (double)mantissa && exponent > -1074) *exact = false;
    if (exponent < -1074) *exact = false;
    *out = v;
    return !(v > 1.7976931348623157e308);
}

static const gr_wgsl_const *parse_hex_float(gr_wgsl_front *f, uint32_t offset, gr_str text, gr_str body,
                                            const gr_wgsl_type *t) {
    double v, r;
    bool exact;
    if (!read_hex_float(body, &v, &exact)) return range_error(f, offset, text, t->text.p);
    if (!gr_wgsl_round_float(t->kind, v, &r)) return range_error(f, offset, text, t->text.p);
    if (!exact || r != v) {
        gr_wgsl_error(f, GR_D_WGSL_LITERAL_RANGE, offset, "write fewer digits, or a decimal literal",
                      "the hexadecimal literal %.*s is not exactly representable as %s", GR_STR_ARG(text), t->text.p);
        return NULL;
    }
    return gr_wgsl_const_f(f, t, r);
}

const gr_wgsl_const *gr_wgsl_parse_number(gr_wgsl_front *f, uint32_t offset, gr_str text, bool is_float) {
    if (!is_float) return parse_integer(f, offset, text);
    bool hex = text.n > 2 && (text.p[1] | 32) == 'x';
    char suffix = text.p[text.n - 1];
    bool has_suffix = suffix == 'h' || suffix == 'f';
    if (hex && has_suffix && !memchr(text.p, 'p', text.n) && !memchr(text.p, 'P', text.n)) has_suffix = false;
    const gr_wgsl_type *t = !has_suffix ? f->types.abstract_float : suffix == 'h' ? f->types.f16 : f->types.f32;
    gr_str body = {text.p, text.n - has_suffix};
    if (hex) return parse_hex_float(f, offset, text, body, t);
    char *z = gr_arena_strndup(f->arena, body.p, body.n);
    if (!z) {
        gr_wgsl_oom(f);
        return NULL;
    }
    double v = strtod(z, NULL), r;
    if (v > gr_wgsl_largest(t->kind) || !gr_wgsl_round_float(t->kind, v, &r)) return range_error(f, offset, text, t->text.p);
    return gr_wgsl_const_f(f, t, r);
}
