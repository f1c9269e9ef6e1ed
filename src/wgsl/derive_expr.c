/* Tangents of expressions. A tangent is written as a term: a primary expression or a product, so that it can be
 * multiplied; sums stand in parentheses. */
#include "wgsl/derive_int.h"

#include "base/math.h"

#include <stdarg.h>
#include <stdio.h>

bool gr_derive_is_float(const gr_wgsl_type *t) {
    if (!t) return false;
    switch (t->kind) {
    case GR_WT_F32:
    case GR_WT_F16:
    case GR_WT_ABSTRACT_FLOAT: return true;
    case GR_WT_VEC:
    case GR_WT_MAT:
    case GR_WT_ARRAY: return gr_derive_is_float(t->elem);
    case GR_WT_STRUCT:
        for (uint32_t i = 0; i < t->member_n; i++)
            if (gr_derive_is_float(t->member[i].type)) return true;
        return false;
    default: return false;
    }
}

void gr_derive_refuse(deriving *x, const gr_wgsl_expr *e, const char *fmt, ...) {
    char what[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (!x->failed) gr_report(x->d, GR_D_WGSL_NOT_DIFFERENTIABLE, gr_wgsl_place(x->m, e ? e->offset : 0), "write the gradient of the op as a declared backward", "%s", what);
    x->failed = true;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Text of the module without comments, line ends as blanks. */
void gr_derive_slice(deriving *x, uint32_t from, uint32_t to) {
    const char *s = x->m->text.p;
    for (uint32_t i = from, depth; i < to; i++) {
        if (s[i] == '/' && i + 1 < to && s[i + 1] == '/') {
            while (i < to && s[i] != '\n') i++;
            gr_buf_putc(&x->out, ' ');
        } else if (s[i] == '/' && i + 1 < to && s[i + 1] == '*') {
            for (depth = 1, i += 2; i < to && depth; i++) {
                if (s[i] == '*' && i + 1 < to && s[i + 1] == '/') depth--, i++;
                else if (s[i] == '/' && i + 1 < to && s[i + 1] == '*') depth++, i++;
            }
            i--;
        } else {
            gr_buf_putc(&x->out, s[i] == '\n' || s[i] == '\r' ? ' ' : s[i]);
        }
    }
    if (x->out.n > GR_WGSL_DERIVE_MAX) gr_derive_refuse(x, NULL, "the derivative has over %d bytes of text", GR_WGSL_DERIVE_MAX);
}

static const gr_wgsl_expr *inner(const gr_wgsl_expr *e) {
    while (e->kind == GR_WE_LOAD || (e->kind == GR_WE_DEREF && e->implicit)) e = e->unary.a;
    return e;
}

void gr_derive_source(deriving *x, const gr_wgsl_expr *e, bool primary) {
    e = inner(e);
    bool wrap = primary && (e->kind == GR_WE_BINARY || e->kind == GR_WE_UNARY || e->kind == GR_WE_DEREF || e->kind == GR_WE_ADDRESS_OF);
    wrap = wrap || (primary && e->kind == GR_WE_LITERAL && x->m->text.p[e->offset] == '-');
    if (wrap) gr_buf_putc(&x->out, '(');
    gr_derive_slice(x, e->offset, e->end);
    if (wrap) gr_buf_putc(&x->out, ')');
}

/* One number in the type of t: 0.0, vec2(0.0). Abstract, so that it takes the type of what stands beside it. */
static void number(deriving *x, const gr_wgsl_expr *at, const gr_wgsl_type *t, const char *text) {
    if (t->kind == GR_WT_VEC) gr_buf_printf(&x->out, "vec%d(%s)", t->n, text);
    else if (t->kind == GR_WT_F32 || t->kind == GR_WT_F16 || t->kind == GR_WT_ABSTRACT_FLOAT) gr_buf_puts(&x->out, text);
    else gr_derive_refuse(x, at, "a zero of the type %.*s is needed for a derivative, and only numbers and vectors have one", GR_STR_ARG(t->text));
}

void gr_derive_zero(deriving *x, const gr_wgsl_expr *at, const gr_wgsl_type *t) { number(x, at, t, "0.0"); }

void gr_derive_tangent_or_zero(deriving *x, const gr_wgsl_expr *e) {
    if (gr_derive_active(x, e)) gr_derive_tangent(x, e);
    else gr_derive_zero(x, e, e->type);
}

/* Writes a template: A, B, C are the arguments, E the expression itself, as primary expressions; a, b, c the tangents of
 * the arguments; Z and O zero and one of the expression's type; other characters as they stand ('$' before a letter
 * keeps it). */
static void form(deriving *x, const gr_wgsl_expr *e, gr_wgsl_expr *const *arg, const char *t) {
    for (bool word = false; *t && !x->failed; t++) {
        bool letter = (*t >= 'a' && *t <= 'z') || (*t >= 'A' && *t <= 'Z');
        bool next = (t[1] >= 'a' && t[1] <= 'z') || (t[1] >= 'A' && t[1] <= 'Z') || (t[1] >= '0' && t[1] <= '9');
        if (!letter || word || next) {
            gr_buf_putc(&x->out, *t);
            word = letter || (word && *t >= '0' && *t <= '9');
            continue;
        }
        switch (*t) {
        case 'A': gr_derive_source(x, arg[0], true); break;
        case 'B': gr_derive_source(x, arg[1], true); break;
        case 'C': gr_derive_source(x, arg[2], true); break;
        case 'E': gr_derive_source(x, e, true); break;
        case 'a': gr_derive_tangent_or_zero(x, arg[0]); break;
        case 'b': gr_derive_tangent_or_zero(x, arg[1]); break;
        case 'c': gr_derive_tangent_or_zero(x, arg[2]); break;
        case 'Z': number(x, e, e->type, "0.0"); break;
        case 'O': number(x, e, e->type, "1.0"); break;
        default: gr_buf_putc(&x->out, *t); break;
        }
    }
}

/* ---- activity --------------------------------------------------------------------------------- */

static bool any_active(const deriving *x, const gr_wgsl_expr *e) {
    for (uint32_t i = 0; i < e->call.arg_n; i++)
        if (gr_derive_active(x, e->call.arg[i])) return true;
    return false;
}

/* Constant between their steps. */
static bool is_staircase(gr_wgsl_builtin b) {
    return b == GR_WB_floor || b == GR_WB_ceil || b == GR_WB_round || b == GR_WB_trunc || b == GR_WB_sign || b == GR_WB_step;
}

static bool is_builtin(const gr_wgsl_expr *e, gr_wgsl_builtin b) { return e->kind == GR_WE_CALL && e->call.call == GR_WC_BUILTIN && e->call.builtin == b; }

static bool active_call(const deriving *x, const gr_wgsl_expr *e) {
    if (e->call.call == GR_WC_BUILTIN && is_staircase(e->call.builtin)) return false;
    return any_active(x, e);
}

bool gr_derive_active(const deriving *x, const gr_wgsl_expr *e) {
    if (!e || e->value || !gr_derive_is_float(e->type)) return false;
    switch (e->kind) {
    case GR_WE_IDENT: return e->ident.decl && x->active[e->ident.decl->id];
    case GR_WE_PAREN:
    case GR_WE_UNARY:
    case GR_WE_DEREF:
    case GR_WE_LOAD: return gr_derive_active(x, e->unary.a);
    case GR_WE_BINARY: return gr_derive_active(x, e->binary.a) || gr_derive_active(x, e->binary.b);
    case GR_WE_INDEX: return gr_derive_active(x, e->index.base);
    case GR_WE_MEMBER: return gr_derive_active(x, e->member.base) && !(is_builtin(inner(e->member.base), GR_WB_modf) && gr_str_eqz(e->member.name, "whole"));
    case GR_WE_CALL: return active_call(x, e);
    default: return false;
    }
}

/* ---- operators ---------------------------------------------------------------------------------- */

static bool is_vector(const gr_wgsl_expr *e) { return e->type && e->type->kind == GR_WT_VEC; }

/* The tangent of one side of a sum, as wide as the sum. */
static void side(deriving *x, const gr_wgsl_expr *e, const gr_wgsl_expr *part) {
    bool widen = is_vector(e) && !is_vector(part);
    if (widen) gr_buf_printf(&x->out, "vec%d(", e->type->n);
    gr_derive_tangent(x, part);
    if (widen) gr_buf_putc(&x->out, ')');
}

static void sum(deriving *x, const gr_wgsl_expr *e, bool a, bool b, char sign) {
    if (a && !b) side(x, e, e->binary.a);
    if (!b) return;
    if (!a && sign == '+') {
        side(x, e, e->binary.b);
        return;
    }
    gr_buf_putc(&x->out, '(');
    if (a) gr_derive_tangent(x, e->binary.a);
    gr_buf_puts(&x->out, a ? sign == '+' ? " + " : " - " : "-");
    if (a) gr_derive_tangent(x, e->binary.b);
    else side(x, e, e->binary.b);
    gr_buf_putc(&x->out, ')');
}

static void binary(deriving *x, const gr_wgsl_expr *e) {
    gr_wgsl_expr *arg[2] = {e->binary.a, e->binary.b};
    bool a = gr_derive_active(x, arg[0]), b = gr_derive_active(x, arg[1]);
    switch (e->binary.op) {
    case GR_WO_ADD: sum(x, e, a, b, '+'); return;
    case GR_WO_SUB: sum(x, e, a, b, '-'); return;
    case GR_WO_MUL: form(x, e, arg, a && b ? "(a * B + A * b)" : a ? "a * B" : "A * b"); return;
    case GR_WO_DIV: form(x, e, arg, a && b ? "(a / B - A / B / B * b)" : a ? "a / B" : "(-(A / B / B) * b)"); return;
    case GR_WO_MOD:
        if (!b) side(x, e, arg[0]);
        else form(x, e, arg, a ? "(a - trunc(A / B) * b)" : "(-trunc(A / B) * b)");
        return;
    default: gr_derive_refuse(x, e, "the operator %s of floats has no derivative", gr_wgsl_op_text(e->binary.op));
    }
}

/* ---- calls ----------------------------------------------------------------------------------------- */

/* Tangents of functions of one argument. exp2 and log2 add what rounding to f32 takes off their factor. */
static const char *slope_of(gr_wgsl_builtin b) {
    switch (b) {
    case GR_WB_exp: return "a * E";
    case GR_WB_exp2: return "a * (E * 0.693147182464599609375 - E * 1.904654299957767e-9)";
    case GR_WB_log: return "a / A";
    case GR_WB_log2: return "a * (1.44269502162933349609375 / A + 1.925963033500867e-8 / A)";
    case GR_WB_sin: return "a * cos(A)";
    case GR_WB_cos: return "(-sin(A) * a)";
    case GR_WB_tan: return "a * (1.0 + E * E)";
    case GR_WB_asin: return "a / sqrt((1.0 - A) * (1.0 + A))";
    case GR_WB_acos: return "(-a / sqrt((1.0 - A) * (1.0 + A)))";
    case GR_WB_atan: return "a / (1.0 + A * A)";
    case GR_WB_sinh: return "a * cosh(A)";
    case GR_WB_cosh: return "a * sinh(A)";
    case GR_WB_tanh: return "a * ((1.0 - E) * (1.0 + E))";
    case GR_WB_asinh: return "a / sqrt(A * A + 1.0)";
    case GR_WB_acosh: return "a / sqrt((A - 1.0) * (A + 1.0))";
    case GR_WB_atanh: return "a / ((1.0 - A) * (1.0 + A))";
    case GR_WB_degrees: return "degrees(a)";
    case GR_WB_radians: return "radians(a)";
    case GR_WB_sqrt: return "a * 0.5 / E";
    case GR_WB_inverseSqrt: return "(-0.5 * E / A * a)";
    case GR_WB_abs: return "a * (2.0 * step(Z, A) - 1.0)";
    case GR_WB_fract:
    case GR_WB_quantizeToF16: return "a";
    case GR_WB_saturate: return "select(a, Z, (A < Z) | (O < A))";
    case GR_WB_transpose: return "transpose(a)";
    case GR_WB_normalize: return "((a - E * dot(E, a)) / length(A))";
    default: return NULL;
    }
}

/* Of several: as wide as `a`, `b`, `c` allow; the arguments are of the expression's type where WGSL says so. */
static const char *rule_of(const deriving *x, const gr_wgsl_expr *e) {
    bool a = gr_derive_active(x, e->call.arg[0]), b = e->call.arg_n > 1 && gr_derive_active(x, e->call.arg[1]), c = e->call.arg_n > 2 && gr_derive_active(x, e->call.arg[2]);
    bool vector = is_vector(e->call.arg[0]);
    switch (e->call.builtin) {
    case GR_WB_min: return "select(a, b, B < A)";
    case GR_WB_max: return "select(a, b, A < B)";
    case GR_WB_clamp: return b || c ? "select(select(a, b, A < B), c, C < max(A, B))" : "select(a, Z, (A < B) | (C < max(A, B)))";
    case GR_WB_select: return "select(a, b, C)";
    case GR_WB_mix: return c ? a || b ? "(a * (1.0 - C) + b * C + c * (B - A))" : "c * (B - A)" : a && b ? "(a * (1.0 - C) + b * C)" : a ? "a * (1.0 - C)" : "b * C";
    case GR_WB_fma:
        if (a && b) return c ? "(a * B + A * b + c)" : "(a * B + A * b)";
        return a ? c ? "(a * B + c)" : "a * B" : b ? c ? "(A * b + c)" : "A * b" : "c";
    case GR_WB_pow: return a && b ? "(a * B * pow(A, B - 1.0) + E * log(A) * b)" : a ? "a * B * pow(A, B - 1.0)" : "E * log(A) * b";
    case GR_WB_atan2: return a && b ? "((a * B - A * b) / (A * A + B * B))" : a ? "a * B / (A * A + B * B)" : "(-A * b / (A * A + B * B))";
    case GR_WB_smoothstep:
        if (!a && !b) return "6.0 * clamp((C - A) / (B - A), Z, O) * (1.0 - clamp((C - A) / (B - A), Z, O)) * c / (B - A)";
        return "6.0 * clamp((C - A) / (B - A), Z, O) * (1.0 - clamp((C - A) / (B - A), Z, O)) * ((c - a) / (B - A) - (C - A) / (B - A) / (B - A) * (b - a))";
    case GR_WB_ldexp: return "ldexp(a, B)";
    case GR_WB_dot: return a && b ? "(dot(a, B) + dot(A, b))" : a ? "dot(a, B)" : "dot(A, b)";
    case GR_WB_length: return vector ? "dot(A, a) / E" : "a * (2.0 * step(0.0, A) - 1.0)";
    case GR_WB_distance:
        if (!vector) return "(a - b) * (2.0 * step(B, A) - 1.0)";
        return a && b ? "dot(A - B, a - b) / E" : a ? "dot(A - B, a) / E" : "dot(B - A, b) / E";
    case GR_WB_cross: return a && b ? "(cross(a, B) + cross(A, b))" : a ? "cross(a, B)" : "cross(A, b)";
    case GR_WB_reflect: return "(a - 2.0 * (dot(b, A) + dot(B, a)) * B - 2.0 * dot(B, A) * b)";
    case GR_WB_faceForward: return "a * (1.0 - 2.0 * step(0.0, dot(B, C)))";
    default: return NULL;
    }
}

/* pow of a constant: its logarithm is written in two parts, since a constant is rounded to f32 and their sum is not. */
static bool power_of_constant(deriving *x, const gr_wgsl_expr *e) {
    const gr_wgsl_const *base = e->call.builtin == GR_WB_pow ? e->call.arg[0]->value : NULL;
    if (!base || base->type->kind == GR_WT_VEC || !(gr_wgsl_const_leaf(base, 0).f > 0)) return false;
    double all = gr_log(gr_wgsl_const_leaf(base, 0).f), part = (double)(float)all;
    gr_buf hi = {0}, lo = {0};
    gr_buf_f64(&hi, part);
    gr_buf_f64(&lo, all - part);
    form(x, e, e->call.arg, "b * (E * (");
    gr_buf_printf(&x->out, "%s%s) + ", hi.p ? hi.p : "", hi.p && strpbrk(hi.p, ".e") ? "" : ".0");
    form(x, e, e->call.arg, "E * (");
    gr_buf_printf(&x->out, "%s%s))", lo.p ? lo.p : "", lo.p && strpbrk(lo.p, ".e") ? "" : ".0");
    x->out.failed = x->out.failed || hi.failed || lo.failed;
    gr_buf_free(&hi);
    gr_buf_free(&lo);
    return true;
}

static void builtin(deriving *x, const gr_wgsl_expr *e) {
    if (power_of_constant(x, e)) return;
    const char *rule = slope_of(e->call.builtin);
    if (!rule && e->call.arg_n) rule = rule_of(x, e);
    if (!rule) {
        gr_derive_refuse(x, e, "the builtin %s has no derivative", gr_wgsl_builtin_text(e->call.builtin));
        return;
    }
    form(x, e, e->call.arg, rule);
}

static void construct(deriving *x, const gr_wgsl_expr *e) {
    if (e->call.construct == GR_WN_MEMBERS) {
        gr_derive_refuse(x, e, "a structure has no derivative");
        return;
    }
    gr_derive_slice(x, e->call.callee->offset, e->call.callee->end);
    gr_buf_putc(&x->out, '(');
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        if (i) gr_buf_puts(&x->out, ", ");
        gr_derive_tangent_or_zero(x, e->call.arg[i]);
    }
    gr_buf_putc(&x->out, ')');
}

/* f(x, y) becomes f_d1(x, y, the tangent of x). */
static void call(deriving *x, const gr_wgsl_expr *e) {
    uint64_t mask = 0;
    if (e->call.arg_n > 64) {
        gr_derive_refuse(x, e, "a function of over 64 parameters has no derivative here");
        return;
    }
    for (uint32_t i = 0; i < e->call.arg_n; i++)
        if (gr_derive_active(x, e->call.arg[i])) mask |= (uint64_t)1 << i;
    gr_str name = gr_derive_function(x, e, e->call.function, mask);
    if (!name.n) return;
    gr_buf_printf(&x->out, "%.*s(", GR_STR_ARG(name));
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        if (i) gr_buf_puts(&x->out, ", ");
        gr_derive_source(x, e->call.arg[i], false);
    }
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        if (!(mask >> i & 1)) continue;
        gr_buf_puts(&x->out, ", ");
        gr_derive_tangent(x, e->call.arg[i]);
    }
    gr_buf_putc(&x->out, ')');
}

/* The tangent of what an index or member is taken of. */
static void part_of(deriving *x, const gr_wgsl_expr *base) {
    base = inner(base);
    bool bare = base->kind == GR_WE_IDENT || base->kind == GR_WE_INDEX || base->kind == GR_WE_MEMBER;
    if (!bare) gr_buf_putc(&x->out, '(');
    gr_derive_tangent(x, base);
    if (!bare) gr_buf_putc(&x->out, ')');
}

static void member(deriving *x, const gr_wgsl_expr *e) {
    const gr_wgsl_expr *base = inner(e->member.base);
    if (is_builtin(base, GR_WB_modf)) { /* .fract; .whole has none */
        gr_derive_tangent(x, base->call.arg[0]);
        return;
    }
    if (is_builtin(base, GR_WB_frexp)) {
        form(x, base, base->call.arg, "ldexp(a, -");
        gr_derive_source(x, base, true);
        gr_buf_puts(&x->out, ".exp)");
        return;
    }
    part_of(x, base);
    gr_buf_printf(&x->out, ".%.*s", GR_STR_ARG(e->member.name));
}

void gr_derive_tangent(deriving *x, const gr_wgsl_expr *e) {
    if (x->failed) return;
    switch (e->kind) {
    case GR_WE_IDENT: gr_buf_str(&x->out, x->shadow[e->ident.decl->id]); return;
    case GR_WE_PAREN:
    case GR_WE_LOAD: gr_derive_tangent(x, e->unary.a); return;
    case GR_WE_UNARY:
        gr_buf_puts(&x->out, "(-(");
        gr_derive_tangent(x, e->unary.a);
        gr_buf_puts(&x->out, "))");
        return;
    case GR_WE_BINARY: binary(x, e); return;
    case GR_WE_INDEX:
        part_of(x, e->index.base);
        gr_buf_putc(&x->out, '[');
        gr_derive_source(x, e->index.index, false);
        gr_buf_putc(&x->out, ']');
        return;
    case GR_WE_MEMBER: member(x, e); return;
    case GR_WE_CALL:
        if (e->call.call == GR_WC_FUNCTION) call(x, e);
        else if (e->call.call == GR_WC_CONSTRUCT) construct(x, e);
        else builtin(x, e);
        return;
    default: gr_derive_refuse(x, e, "a pointer to a value with a derivative cannot be followed");
    }
}
