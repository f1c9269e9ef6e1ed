/* Values of const-expressions, and of override-expressions at pipeline creation.
 *
 * Floats are held in f64 and rounded to their type after every operation; + - * / of f32 and f16
 * computed in f64 and rounded once are the correctly rounded results. Concrete integers wrap;
 * abstract ones overflow into an error, as do all floats. */
#include "wgsl/wgsl_int.h"

#include "base/math.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool gr_wgsl_const_error(gr_wgsl_front *f, uint32_t offset, const char *fmt, ...) {
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return gr_wgsl_error(f, GR_D_WGSL_CONST_ERROR, offset, NULL, "%s", text);
}

gr_wgsl_const *gr_wgsl_new_const(gr_wgsl_front *f, const gr_wgsl_type *t, bool leaves) {
    gr_wgsl_const *c = GR_NEW(f->arena, gr_wgsl_const);
    if (!c) {
        gr_wgsl_oom(f);
        return NULL;
    }
    c->type = t;
    c->n = t->leaves;
    if (!leaves) return c;
    f->eval_leaves += c->n;
    if (c->n > GR_WGSL_MAX_CONST_LEAVES || f->eval_leaves > 32ull * GR_WGSL_MAX_CONST_LEAVES) {
        gr_wgsl_error(f, GR_D_WGSL_LIMIT, 0, "move the table into a buffer",
                      "the constants of the module hold too many scalars");
        return NULL;
    }
    gr_wgsl_scalar *v = GR_NEW_N(f->arena, gr_wgsl_scalar, c->n);
    if (!v) {
        gr_wgsl_oom(f);
        return NULL;
    }
    c->leaf = v;
    return c;
}

/* Leaves of a constant under construction. */
static gr_wgsl_scalar *leaves(gr_wgsl_const *c) {
    union {
        const gr_wgsl_scalar *from;
        gr_wgsl_scalar *to;
    } u = {c->leaf};
    return u.to;
}

const gr_wgsl_const *gr_wgsl_const_i(gr_wgsl_front *f, const gr_wgsl_type *t, int64_t i) {
    gr_wgsl_const *c = gr_wgsl_new_const(f, t, true);
    if (c) leaves(c)[0].i = i;
    return c;
}

const gr_wgsl_const *gr_wgsl_const_f(gr_wgsl_front *f, const gr_wgsl_type *t, double v) {
    gr_wgsl_const *c = gr_wgsl_new_const(f, t, true);
    if (c) leaves(c)[0].f = v;
    return c;
}

bool gr_wgsl_round_float(gr_wgsl_kind k, double v, double *out) {
    if (v != v) return false;
    if (k == GR_WT_F32) {
        if (gr_fabs(v) >= 3.4028235677973366e38) return false; /* largest finite and half a step */
        *out = (double)(float)v;
        return true;
    }
    if (k == GR_WT_F16) {
        if (gr_fabs(v) >= 65520.0) return false;
        *out = (double)gr_f32_from_f16(gr_f16_from_f64(v));
        return true;
    }
    *out = v;
    return gr_fabs(v) <= 1.7976931348623157e308;
}

double gr_wgsl_largest(gr_wgsl_kind k) {
    return k == GR_WT_F32 ? 3.4028234663852886e38 : k == GR_WT_F16 ? 65504.0 : 1.7976931348623157e308;
}

static void show(char *out, size_t n, gr_wgsl_kind k, gr_wgsl_scalar s) {
    if (gr_wgsl_is_float_kind(k)) {
        gr_buf b = {0};
        gr_buf_f64(&b, s.f);
        snprintf(out, n, "%s", b.p ? b.p : "?");
        gr_buf_free(&b);
    } else if (k == GR_WT_BOOL) {
        snprintf(out, n, "%s", s.i ? "true" : "false");
    } else {
        snprintf(out, n, "%lld", (long long)s.i);
    }
}

static bool not_in(gr_wgsl_front *f, uint32_t offset, gr_wgsl_kind from, gr_wgsl_scalar s, const gr_wgsl_type *to) {
    char text[64];
    show(text, sizeof text, from, s);
    return gr_wgsl_const_error(f, offset, "the value %s cannot be represented as %.*s", text, GR_STR_ARG(to->text));
}

/* ---------------------------------------------------------------- conversion */

static bool float_to_int(gr_wgsl_kind to, double v, int64_t *out) {
    double lo = to == GR_WT_I32 ? -2147483648.0 : 0, hi = to == GR_WT_I32 ? 2147483647.0 : 4294967295.0;
    v = gr_trunc(v);
    *out = (int64_t)(v < lo ? lo : v > hi ? hi : v);
    return v >= lo && v <= hi;
}

static bool convert_scalar(gr_wgsl_front *f, gr_wgsl_kind from, const gr_wgsl_type *tt, bool automatic, uint32_t offset,
                           gr_wgsl_scalar s, gr_wgsl_scalar *out) {
    gr_wgsl_kind to = tt->kind;
    bool from_float = gr_wgsl_is_float_kind(from);
    if (from == to) {
        *out = s;
    } else if (to == GR_WT_BOOL) {
        out->i = from_float ? s.f != 0 : s.i != 0;
    } else if (gr_wgsl_is_float_kind(to)) {
        double v = from_float ? s.f : (double)s.i;
        if (to == GR_WT_F32 && !from_float) v = (double)(float)s.i; /* one rounding from the integer */
        if (gr_fabs(v) > gr_wgsl_largest(to) || !gr_wgsl_round_float(to, v, &out->f))
            return not_in(f, offset, from, s, tt);
    } else if (from_float) {
        bool fits = float_to_int(to, s.f, &out->i); /* a value constructor saturates */
        if (!fits && automatic) return not_in(f, offset, from, s, tt);
    } else if (from == GR_WT_ABSTRACT_INT) {
        int64_t lo = to == GR_WT_I32 ? INT32_MIN : 0, hi = to == GR_WT_I32 ? INT32_MAX : UINT32_MAX;
        if (s.i < lo || s.i > hi) return not_in(f, offset, from, s, tt);
        out->i = s.i;
    } else {
        out->i = to == GR_WT_I32 ? (int64_t)(int32_t)(uint32_t)s.i : to == GR_WT_U32 ? (int64_t)(uint32_t)s.i : s.i;
    }
    return true;
}

/* Kind of each leaf in turn: arrays and structs are walked with an explicit position. */
static gr_wgsl_kind leaf_kind(const gr_wgsl_type *t, uint32_t i) {
    for (;;) {
        const gr_wgsl_type *s = gr_wgsl_scalar_of(t);
        if (s) return s->kind;
        if (t->kind == GR_WT_ARRAY) {
            i %= t->elem->leaves;
            t = t->elem;
            continue;
        }
        if (t->kind != GR_WT_STRUCT) return GR_WT_NONE;
        uint32_t k = 0;
        while (k + 1 < t->member_n && i >= t->member[k].type->leaves) i -= t->member[k++].type->leaves;
        t = t->member[k].type;
    }
}

static const gr_wgsl_type *leaf_type(gr_wgsl_front *f, gr_wgsl_kind k) {
    const gr_wgsl_type *const t[] = {f->types.bool_, f->types.abstract_int, f->types.abstract_float,
                                     f->types.i32,   f->types.u32,          f->types.f32,
                                     f->types.f16};
    return k >= GR_WT_BOOL && k <= GR_WT_F16 ? t[k - GR_WT_BOOL] : NULL;
}

const gr_wgsl_const *gr_wgsl_const_convert(gr_wgsl_front *f, const gr_wgsl_const *c, const gr_wgsl_type *to,
                                           bool automatic, uint32_t offset) {
    if (c->type == to) return c;
    gr_wgsl_const *r = gr_wgsl_new_const(f, to, c->leaf != NULL);
    if (!r) return NULL;
    for (uint32_t i = 0; c->leaf && i < r->n; i++) {
        const gr_wgsl_type *t = leaf_type(f, leaf_kind(to, i));
        if (!t || !convert_scalar(f, leaf_kind(c->type, i), t, automatic, offset, c->leaf[i], &leaves(r)[i]))
            return NULL;
    }
    return r;
}

/* ---------------------------------------------------------------- arithmetic */

typedef enum arith_error { FINE = 0, OVERFLOWS, BY_ZERO, SHIFT_WIDTH, SHIFT_SIGN, SHIFT_LOST } arith_error;

static bool mul_overflows(int64_t a, int64_t b, int64_t *out) {
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    bool negative = (a < 0) != (b < 0);
    if (y && x > UINT64_MAX / y) return true;
    uint64_t p = x * y;
    if (p > (uint64_t)INT64_MAX + negative) return true;
    *out = negative ? (int64_t)(0 - p) : (int64_t)p;
    return false;
}

static arith_error arith_abstract(gr_wgsl_op op, int64_t a, int64_t b, int64_t *r) {
    switch (op) {
    case GR_WO_ADD:
        if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return OVERFLOWS;
        *r = a + b;
        return FINE;
    case GR_WO_SUB:
        if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b) return OVERFLOWS;
        *r = a - b;
        return FINE;
    case GR_WO_MUL: return mul_overflows(a, b, r) ? OVERFLOWS : FINE;
    default:
        if (b == 0) return BY_ZERO;
        if (a == INT64_MIN && b == -1) return OVERFLOWS;
        *r = op == GR_WO_DIV ? a / b : a % b;
        return FINE;
    }
}

static int64_t wrap(gr_wgsl_kind k, uint64_t v) {
    return k == GR_WT_I32 ? (int64_t)(int32_t)(uint32_t)v : k == GR_WT_U32 ? (int64_t)(uint32_t)v : (int64_t)v;
}

static arith_error arith_int(gr_wgsl_kind k, gr_wgsl_op op, int64_t a, int64_t b, int64_t *r) {
    if (op == GR_WO_AND || op == GR_WO_OR || op == GR_WO_XOR) {
        *r = op == GR_WO_AND ? (a & b) : op == GR_WO_OR ? (a | b) : (a ^ b);
        return FINE;
    }
    if (k == GR_WT_ABSTRACT_INT) return arith_abstract(op, a, b, r);
    if (op == GR_WO_DIV || op == GR_WO_MOD) {
        if (b == 0) return BY_ZERO;
        if (k == GR_WT_I32 && a == INT32_MIN && b == -1) return OVERFLOWS;
        *r = op == GR_WO_DIV ? a / b : a % b;
        return FINE;
    }
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    *r = wrap(k, op == GR_WO_ADD ? x + y : op == GR_WO_SUB ? x - y : x * y);
    return FINE;
}

static arith_error arith_shift(gr_wgsl_kind k, gr_wgsl_op op, int64_t a, int64_t by, int64_t *r) {
    uint32_t bits = k == GR_WT_ABSTRACT_INT ? 64 : 32;
    if (op == GR_WO_SHR) {
        if (by >= bits) {
            if (k != GR_WT_ABSTRACT_INT) return SHIFT_WIDTH;
            *r = a < 0 ? -1 : 0;
            return FINE;
        }
        *r = a >= 0 ? a >> by : ~(~a >> by);
        return FINE;
    }
    if (by >= bits) {
        if (k != GR_WT_ABSTRACT_INT) return SHIFT_WIDTH;
        if (a != 0) return OVERFLOWS;
        *r = 0;
        return FINE;
    }
    uint64_t u = (uint64_t)a;
    if (k == GR_WT_U32) {
        if ((u << by) >> 32) return SHIFT_LOST;
    } else { /* the by + 1 highest bits must agree */
        int64_t top = a >= 0 ? a >> (bits - 1 - by) : ~(~a >> (bits - 1 - by));
        if (top != 0 && top != -1) return SHIFT_SIGN;
    }
    *r = wrap(k, u << by);
    return FINE;
}

static arith_error arith_float(gr_wgsl_kind k, gr_wgsl_op op, double a, double b, double *r) {
    if ((op == GR_WO_DIV || op == GR_WO_MOD) && b == 0) return BY_ZERO;
    double v = op == GR_WO_ADD   ? a + b
               : op == GR_WO_SUB ? a - b
               : op == GR_WO_MUL ? a * b
               : op == GR_WO_DIV ? a / b
                                 : gr_fmod(a, b);
    return gr_wgsl_round_float(k, v, r) ? FINE : OVERFLOWS;
}

static bool compare(gr_wgsl_kind k, gr_wgsl_op op, gr_wgsl_scalar a, gr_wgsl_scalar b) {
    bool fl = gr_wgsl_is_float_kind(k);
    bool eq = fl ? a.f == b.f : a.i == b.i, lt = fl ? a.f < b.f : a.i < b.i;
    switch (op) {
    case GR_WO_EQ: return eq;
    case GR_WO_NE: return !eq;
    case GR_WO_LT: return lt;
    case GR_WO_LE: return lt || eq;
    case GR_WO_GT: return !lt && !eq;
    default: return !lt;
    }
}

static bool report_arith(gr_wgsl_front *f, uint32_t offset, arith_error err, const gr_wgsl_type *t, gr_wgsl_op op,
                         gr_wgsl_scalar a, gr_wgsl_scalar b, gr_wgsl_kind kb) {
    char x[64], y[64];
    show(x, sizeof x, t->kind, a);
    show(y, sizeof y, kb, b);
    const char *o = gr_wgsl_op_text(op);
    switch (err) {
    case FINE: return true;
    case BY_ZERO: return gr_wgsl_const_error(f, offset, "%s %s %s divides by zero", x, o, y);
    case SHIFT_WIDTH:
        return gr_wgsl_const_error(f, offset, "%s %s %s shifts by as many bits as %.*s has, or more", x, o, y,
                                   GR_STR_ARG(t->text));
    case SHIFT_SIGN: return gr_wgsl_const_error(f, offset, "%s %s %s changes the sign", x, o, y);
    case SHIFT_LOST: return gr_wgsl_const_error(f, offset, "%s %s %s shifts out bits that are set", x, o, y);
    default:
        return gr_wgsl_const_error(f, offset, "%s %s %s is outside the range of %.*s", x, o, y, GR_STR_ARG(t->text));
    }
}

bool gr_wgsl_scalar_op(gr_wgsl_front *f, uint32_t offset, gr_wgsl_kind k, gr_wgsl_op op, gr_wgsl_scalar a,
                       gr_wgsl_scalar b, gr_wgsl_scalar *r) {
    arith_error err = FINE;
    gr_wgsl_kind kb = k;
    if (op >= GR_WO_EQ && op <= GR_WO_GE) r->i = compare(k, op, a, b);
    else if (op == GR_WO_LOGICAL_AND) r->i = a.i && b.i;
    else if (op == GR_WO_LOGICAL_OR) r->i = a.i || b.i;
    else if (op == GR_WO_SHL || op == GR_WO_SHR) err = arith_shift(k, op, a.i, b.i, &r->i), kb = GR_WT_U32;
    else if (gr_wgsl_is_float_kind(k)) err = arith_float(k, op, a.f, b.f, &r->f);
    else err = arith_int(k, op, a.i, b.i, &r->i);
    return err == FINE || report_arith(f, offset, err, leaf_type(f, k), op, a, b, kb);
}

static const gr_wgsl_const *eval_product(gr_wgsl_front *f, const gr_wgsl_expr *e, const gr_wgsl_const *a,
                                         const gr_wgsl_const *b) {
    /* a: R x K columns first (a vector on the left is 1 x K), b: K x C. */
    const gr_wgsl_type *ta = a->type, *tb = b->type;
    uint32_t rows = ta->kind == GR_WT_MAT ? ta->rows : 1, inner = ta->n, cols = tb->kind == GR_WT_MAT ? tb->n : 1;
    gr_wgsl_kind k = e->type->elem->kind;
    gr_wgsl_const *r = gr_wgsl_new_const(f, e->type, true);
    if (!r) return NULL;
    for (uint32_t c = 0; c < cols; c++)
        for (uint32_t i = 0; i < rows; i++) {
            gr_wgsl_scalar sum = {0}, p;
            for (uint32_t j = 0; j < inner; j++) {
                if (!gr_wgsl_scalar_op(f, e->binary.op_offset, k, GR_WO_MUL, gr_wgsl_const_leaf(a, j * rows + i),
                                       gr_wgsl_const_leaf(b, c * inner + j), &p))
                    return NULL;
                if (j == 0) sum = p;
                else if (!gr_wgsl_scalar_op(f, e->binary.op_offset, k, GR_WO_ADD, sum, p, &sum)) return NULL;
            }
            leaves(r)[c * rows + i] = sum;
        }
    return r;
}

static const gr_wgsl_const *value_of(gr_wgsl_front *f, gr_wgsl_expr *e) {
    return e->value ? e->value : gr_wgsl_eval(f, e);
}

static const gr_wgsl_const *eval_binary(gr_wgsl_front *f, gr_wgsl_expr *e) {
    const gr_wgsl_const *a = value_of(f, e->binary.a), *b;
    gr_wgsl_op op = e->binary.op;
    if (!a) return NULL;
    if ((op == GR_WO_LOGICAL_AND || op == GR_WO_LOGICAL_OR) && gr_wgsl_const_leaf(a, 0).i == (op == GR_WO_LOGICAL_OR))
        return a;
    if (!(b = value_of(f, e->binary.b))) return NULL;
    bool ma = a->type->kind == GR_WT_MAT, mb = b->type->kind == GR_WT_MAT;
    if (op == GR_WO_MUL && ((ma && !gr_wgsl_is_scalar(b->type)) || (mb && !gr_wgsl_is_scalar(a->type))))
        return eval_product(f, e, a, b);
    gr_wgsl_const *r = gr_wgsl_new_const(f, e->type, true);
    gr_wgsl_kind k = gr_wgsl_scalar_of(a->type)->kind;
    for (uint32_t i = 0; r && i < r->n; i++)
        if (!gr_wgsl_scalar_op(f, e->binary.op_offset, k, op, gr_wgsl_const_leaf(a, a->n == 1 ? 0 : i),
                               gr_wgsl_const_leaf(b, b->n == 1 ? 0 : i), &leaves(r)[i]))
            return NULL;
    return r;
}

static const gr_wgsl_const *eval_unary(gr_wgsl_front *f, gr_wgsl_expr *e) {
    const gr_wgsl_const *a = value_of(f, e->unary.a);
    gr_wgsl_const *r = a ? gr_wgsl_new_const(f, e->type, true) : NULL;
    if (!r) return NULL;
    gr_wgsl_kind k = gr_wgsl_scalar_of(a->type)->kind;
    for (uint32_t i = 0; i < r->n; i++) {
        gr_wgsl_scalar s = gr_wgsl_const_leaf(a, i), *o = &leaves(r)[i];
        if (e->unary.op == GR_WO_NOT) o->i = !s.i;
        else if (e->unary.op == GR_WO_COMPLEMENT) o->i = wrap(k, ~(uint64_t)s.i);
        else if (gr_wgsl_is_float_kind(k)) o->f = -s.f;
        else o->i = wrap(k, 0 - (uint64_t)s.i);
    }
    return r;
}

/* ---------------------------------------------------------------- composites */

static const gr_wgsl_const *slice(gr_wgsl_front *f, const gr_wgsl_const *c, const gr_wgsl_type *t, uint32_t from) {
    gr_wgsl_const *r = gr_wgsl_new_const(f, t, false);
    if (r) r->leaf = c->leaf ? c->leaf + from : NULL;
    return r;
}

static const gr_wgsl_const *eval_index(gr_wgsl_front *f, gr_wgsl_expr *e) {
    const gr_wgsl_const *b = value_of(f, e->index.base), *i = b ? value_of(f, e->index.index) : NULL;
    if (!i) return NULL;
    int64_t at = gr_wgsl_const_leaf(i, 0).i, n = b->type->kind == GR_WT_ARRAY ? b->type->count : b->type->n;
    if (at < 0 || at >= n) {
        gr_wgsl_error(f, GR_D_WGSL_INDEX, e->index.index->offset, NULL,
                      "the index %lld is outside %.*s: the last is %lld", (long long)at, GR_STR_ARG(b->type->text),
                      (long long)n - 1);
        return NULL;
    }
    return slice(f, b, e->type, (uint32_t)at * e->type->leaves);
}

static const gr_wgsl_const *eval_member(gr_wgsl_front *f, gr_wgsl_expr *e) {
    const gr_wgsl_const *b = value_of(f, e->member.base);
    if (!b) return NULL;
    if (!e->member.swizzle_n) {
        uint32_t at = 0;
        for (uint32_t i = 0; i < e->member.field->index; i++) at += b->type->member[i].type->leaves;
        return slice(f, b, e->type, at);
    }
    gr_wgsl_const *r = gr_wgsl_new_const(f, e->type, true);
    for (uint32_t i = 0; r && i < r->n; i++) leaves(r)[i] = gr_wgsl_const_leaf(b, e->member.swizzle[i]);
    return r;
}

static const gr_wgsl_const *eval_construct(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_wgsl_construct k = e->call.construct;
    if (k == GR_WN_ZERO) return gr_wgsl_new_const(f, e->type, false);
    if (k == GR_WN_IDENTITY || k == GR_WN_SCALAR || k == GR_WN_VECTOR || k == GR_WN_MATRIX) {
        const gr_wgsl_const *a = value_of(f, e->call.arg[0]);
        return a ? gr_wgsl_const_convert(f, a, e->type, false, e->call.arg[0]->offset) : NULL;
    }
    gr_wgsl_const *r = gr_wgsl_new_const(f, e->type, true);
    uint32_t at = 0;
    if (!r) return NULL;
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        const gr_wgsl_const *a = value_of(f, e->call.arg[i]);
        if (!a) return NULL;
        uint32_t copies = k == GR_WN_SPLAT ? r->n : 1;
        for (uint32_t c = 0; c < copies; c++)
            for (uint32_t j = 0; j < a->n && at < r->n; j++) leaves(r)[at++] = gr_wgsl_const_leaf(a, j);
    }
    return r;
}

static const gr_wgsl_const *eval_builtin_call(gr_wgsl_front *f, gr_wgsl_expr *e) {
    const gr_wgsl_const *arg[8];
    for (uint32_t i = 0; i < e->call.arg_n && i < 8; i++)
        if (!(arg[i] = value_of(f, e->call.arg[i]))) return NULL;
    gr_wgsl_const *r = gr_wgsl_new_const(f, e->type, true);
    return r && gr_wgsl_eval_builtin(f, e, arg, r) ? r : NULL;
}

static const gr_wgsl_const *eval_ident(gr_wgsl_front *f, const gr_wgsl_expr *e) {
    const gr_wgsl_decl *d = e->ident.decl;
    if (d->kind == GR_WD_CONST) return d->value;
    if (d->kind != GR_WD_OVERRIDE || !f->spec) return NULL;
    const gr_wgsl_const *c = f->spec->override_value[d->override_index];
    if (!c)
        gr_wgsl_error(f, GR_D_WGSL_OVERRIDE, d->offset, "give the pipeline constant a value",
                      "the override '%.*s' has no value", GR_STR_ARG(d->name));
    return c;
}

const gr_wgsl_const *gr_wgsl_eval(gr_wgsl_front *f, gr_wgsl_expr *e) {
    switch (e->kind) {
    case GR_WE_LITERAL: return e->value;
    case GR_WE_IDENT: return eval_ident(f, e);
    case GR_WE_PAREN: return value_of(f, e->unary.a);
    case GR_WE_UNARY: return eval_unary(f, e);
    case GR_WE_BINARY: return eval_binary(f, e);
    case GR_WE_INDEX: return eval_index(f, e);
    case GR_WE_MEMBER: return eval_member(f, e);
    case GR_WE_CALL:
        if (e->call.call == GR_WC_CONSTRUCT) return eval_construct(f, e);
        return e->call.call == GR_WC_BUILTIN ? eval_builtin_call(f, e) : NULL;
    default: return NULL;
    }
}
