/* Builtin functions: numeric ones component by component, the rest in eval_builtin_memory.c.
 *
 * Functions that WGSL defines by a formula over other operations (mix, smoothstep, length,
 * dot, reflect ...) are lowered as that formula, each operation rounded; the others are the f64
 * kernel rounded once. */
#include "wgsl/eval_builtin.h"

#define P (c->l->p)

static bool is_float(const eval_builtin *c) { return eval_is_float(c->scalar); }
static bool is_signed(const eval_builtin *c) { return c->scalar->kind == GR_WT_I32; }
static vm_reg rounded(eval_builtin *c, vm_reg r) { return eval_round(c->l, c->scalar, r); }
static vm_reg num(eval_builtin *c, double v) { return is_float(c) ? vm_float(P, v) : vm_int(P, (uint32_t)(int32_t)v); }
static vm_reg add(eval_builtin *c, vm_reg a, vm_reg b) { return eval_arith(c->l, GR_WO_ADD, c->scalar, a, b); }
static vm_reg sub(eval_builtin *c, vm_reg a, vm_reg b) { return eval_arith(c->l, GR_WO_SUB, c->scalar, a, b); }
static vm_reg mul(eval_builtin *c, vm_reg a, vm_reg b) { return eval_arith(c->l, GR_WO_MUL, c->scalar, a, b); }
static vm_reg quotient(eval_builtin *c, vm_reg a, vm_reg b) { return eval_arith(c->l, GR_WO_DIV, c->scalar, a, b); }

/* A choice is part of the trace: which operand, which side of a kink. */
static void trace_less(eval_builtin *c, vm_reg a, vm_reg b) {
    if (P->trace && is_float(c)) eval_trace(c->l, vm_lane(P, LANE_LT_F, a, b, 0));
}
static void trace_value(eval_builtin *c, vm_reg r) {
    if (P->trace && is_float(c)) eval_trace(c->l, vm_lane(P, LANE_F2S, r, 0, 0));
}

static vm_reg lesser(eval_builtin *c, vm_reg a, vm_reg b) {
    trace_less(c, b, a);
    return vm_lane(P, is_float(c) ? LANE_MIN_F : is_signed(c) ? LANE_MIN_S : LANE_MIN_U, a, b, 0);
}
static vm_reg greater(eval_builtin *c, vm_reg a, vm_reg b) {
    trace_less(c, a, b);
    return vm_lane(P, is_float(c) ? LANE_MAX_F : is_signed(c) ? LANE_MAX_S : LANE_MAX_U, a, b, 0);
}
static vm_reg clamped(eval_builtin *c, vm_reg x, vm_reg low, vm_reg high) { return lesser(c, greater(c, x, low), high); }

static vm_reg dot(eval_builtin *c, eval_value a, eval_value b) {
    vm_reg sum = mul(c, a.r[0], b.r[0]);
    for (uint32_t k = 1; k < a.n; k++) sum = add(c, sum, mul(c, a.r[k], b.r[k]));
    return sum;
}
static vm_reg length(eval_builtin *c, eval_value a) {
    if (a.n == 1) return vm_lane(P, LANE_ABS_F, a.r[0], 0, 0);
    return eval_fn1(c->l, LANE_SQRT, c->scalar, dot(c, a, a));
}

/* ------------------------------------------------ one function of one component */

static vm_reg unary_step(eval_builtin *c, uint32_t op, vm_reg x) {
    vm_reg r = vm_lane(P, op, x, 0, 0);
    trace_value(c, r);
    return r;
}

static vm_reg absolute(eval_builtin *c, vm_reg x) {
    if (is_float(c)) return trace_less(c, x, num(c, 0)), vm_lane(P, LANE_ABS_F, x, 0, 0);
    return is_signed(c) ? vm_lane(P, LANE_ABS_I, x, 0, 0) : x;
}

static vm_reg sign(eval_builtin *c, vm_reg x) {
    return is_float(c) ? unary_step(c, LANE_SIGN_F, x) : vm_lane(P, LANE_SIGN_I, x, 0, 0);
}

static vm_reg fract(eval_builtin *c, vm_reg x) {
    if (P->trace) unary_step(c, LANE_FLOOR, x);
    return rounded(c, vm_lane(P, LANE_FRACT, x, 0, 0));
}

static vm_reg integer_bits(eval_builtin *c, vm_reg x) {
    switch (c->e->call.builtin) {
        case GR_WB_countLeadingZeros: return vm_lane(P, LANE_CLZ, x, 0, 0);
        case GR_WB_countTrailingZeros: return vm_lane(P, LANE_CTZ, x, 0, 0);
        case GR_WB_countOneBits: return vm_lane(P, LANE_POPCOUNT, x, 0, 0);
        case GR_WB_reverseBits: return vm_lane(P, LANE_REVERSE, x, 0, 0);
        case GR_WB_firstTrailingBit: return vm_lane(P, LANE_TRAILING, x, 0, 0);
        case GR_WB_firstLeadingBit: return vm_lane(P, is_signed(c) ? LANE_LEADING_S : LANE_LEADING_U, x, 0, 0);
        default: return 0;
    }
}

static uint32_t call_op(gr_wgsl_builtin b) {
    switch (b) {
        case GR_WB_acos: return LANE_ACOS;
        case GR_WB_acosh: return LANE_ACOSH;
        case GR_WB_asin: return LANE_ASIN;
        case GR_WB_asinh: return LANE_ASINH;
        case GR_WB_atan: return LANE_ATAN;
        case GR_WB_atanh: return LANE_ATANH;
        case GR_WB_cos: return LANE_COS;
        case GR_WB_cosh: return LANE_COSH;
        case GR_WB_degrees: return LANE_DEGREES;
        case GR_WB_exp: return LANE_EXP;
        case GR_WB_exp2: return LANE_EXP2;
        case GR_WB_inverseSqrt: return LANE_INVERSE_SQRT;
        case GR_WB_log: return LANE_LOG;
        case GR_WB_log2: return LANE_LOG2;
        case GR_WB_radians: return LANE_RADIANS;
        case GR_WB_sin: return LANE_SIN;
        case GR_WB_sinh: return LANE_SINH;
        case GR_WB_sqrt: return LANE_SQRT;
        case GR_WB_tan: return LANE_TAN;
        case GR_WB_tanh: return LANE_TANH;
        default: return LANE_NONE;
    }
}

static vm_reg component1(eval_builtin *c, vm_reg x) {
    gr_wgsl_builtin b = c->e->call.builtin;
    uint32_t op = call_op(b);
    if (op) return eval_fn1(c->l, op, c->scalar, x);
    switch (b) {
        case GR_WB_abs: return absolute(c, x);
        case GR_WB_sign: return sign(c, x);
        case GR_WB_fract: return fract(c, x);
        case GR_WB_ceil: return unary_step(c, LANE_CEIL, x);
        case GR_WB_floor: return unary_step(c, LANE_FLOOR, x);
        case GR_WB_round: return unary_step(c, LANE_ROUND, x);
        case GR_WB_trunc: return unary_step(c, LANE_TRUNC, x);
        case GR_WB_saturate: return clamped(c, x, num(c, 0), num(c, 1));
        case GR_WB_quantizeToF16: return vm_lane(P, LANE_H2F, vm_lane(P, LANE_F2H, x, 0, 0), 0, 0);
        default: return integer_bits(c, x);
    }
}

/* ---------------------------------------------------- two and three components */

static vm_reg binary_call(eval_builtin *c, uint32_t op, vm_reg a, vm_reg b) {
    bool half = c->scalar->kind == GR_WT_F16;
    return vm_lane(P, half ? op - LANE_EXP + LANE_EXP_H : op, a, b, 0);
}

static vm_reg component2(eval_builtin *c, vm_reg a, vm_reg b) {
    switch (c->e->call.builtin) {
        case GR_WB_min: return lesser(c, a, b);
        case GR_WB_max: return greater(c, a, b);
        case GR_WB_atan2: return binary_call(c, LANE_ATAN2, a, b);
        case GR_WB_pow: return binary_call(c, LANE_POW, a, b);
        case GR_WB_ldexp: return binary_call(c, LANE_LDEXP, a, b);
        case GR_WB_step: { /* 1 where edge <= x */
            vm_reg on = vm_lane(P, LANE_LE_F, a, b, 0);
            eval_trace(c->l, on);
            return vm_lane(P, LANE_SEL_F, num(c, 0), num(c, 1), on);
        }
        default: return 0;
    }
}

static vm_reg smoothstep(eval_builtin *c, vm_reg low, vm_reg high, vm_reg x) {
    vm_reg t = clamped(c, quotient(c, sub(c, x, low), sub(c, high, low)), num(c, 0), num(c, 1));
    return mul(c, mul(c, t, t), sub(c, num(c, 3), mul(c, num(c, 2), t)));
}

static vm_reg component3(eval_builtin *c, vm_reg x, vm_reg y, vm_reg z) {
    switch (c->e->call.builtin) {
        case GR_WB_clamp: return clamped(c, x, y, z);
        case GR_WB_fma: return vm_lane(P, c->scalar->kind == GR_WT_F16 ? LANE_FMA_H : LANE_FMA, x, y, z);
        case GR_WB_mix: return add(c, mul(c, x, sub(c, num(c, 1), z)), mul(c, y, z));
        case GR_WB_smoothstep: return smoothstep(c, x, y, z);
        case GR_WB_select: return vm_lane(P, eval_is_float(c->scalar) ? LANE_SEL_F : LANE_SEL_I, x, y, z);
        case GR_WB_extractBits: return vm_lane(P, is_signed(c) ? LANE_EXTRACT_S : LANE_EXTRACT_U, x, y, z);
        default: return 0;
    }
}

static vm_reg at(eval_value v, uint32_t k) { return v.r[v.n > 1 ? k : 0]; }

static eval_value by_component(eval_builtin *c) {
    eval_value r = eval_new(c->l, c->e->type);
    const eval_value *a = c->arg;
    for (uint32_t k = 0; k < r.n && !P->failed; k++) {
        uint32_t n = c->e->call.arg_n;
        if (n == 1) r.r[k] = component1(c, at(a[0], k));
        else if (n == 2) r.r[k] = component2(c, at(a[0], k), at(a[1], k));
        else if (n == 3) r.r[k] = component3(c, at(a[0], k), at(a[1], k), at(a[2], k));
        else r.r[k] = vm_lane(P, LANE_INSERT, at(a[0], k), at(a[1], k), vm_lane(P, LANE_FIELD, a[2].r[0], a[3].r[0], 0));
    }
    return r;
}

/* ------------------------------------------------------------------- geometry */

static eval_value scale(eval_builtin *c, eval_value v, vm_reg by, vm_reg (*f)(eval_builtin *, vm_reg, vm_reg)) {
    eval_value r = eval_new(c->l, v.type);
    for (uint32_t k = 0; k < r.n; k++) r.r[k] = f(c, v.r[k], by);
    return r;
}

static eval_value difference(eval_builtin *c, eval_value a, eval_value b) {
    eval_value r = eval_new(c->l, a.type);
    for (uint32_t k = 0; k < r.n; k++) r.r[k] = sub(c, a.r[k], b.r[k]);
    return r;
}

static eval_value scalar_value(eval_builtin *c, vm_reg r) {
    eval_value v = eval_new(c->l, c->e->type);
    if (v.n) v.r[0] = r;
    return v;
}

static eval_value cross(eval_builtin *c) {
    eval_value r = eval_new(c->l, c->e->type);
    const vm_reg *a = c->arg[0].r, *b = c->arg[1].r;
    for (uint32_t k = 0; k < r.n; k++) {
        uint32_t i = (k + 1) % 3, j = (k + 2) % 3;
        r.r[k] = sub(c, mul(c, a[i], b[j]), mul(c, a[j], b[i]));
    }
    return r;
}

/* e1 - 2 * dot(e2, e1) * e2 */
static eval_value reflect(eval_builtin *c) {
    vm_reg twice = mul(c, num(c, 2), dot(c, c->arg[1], c->arg[0]));
    return difference(c, c->arg[0], scale(c, c->arg[1], twice, mul));
}

/* k = 1 - e3 * e3 * (1 - dot(e2, e1)^2); 0 when k < 0, else e3 * e1 - (e3 * dot(e2, e1) + sqrt(k)) * e2 */
static eval_value refract(eval_builtin *c) {
    vm_reg eta = c->arg[2].r[0], d = dot(c, c->arg[1], c->arg[0]);
    vm_reg k = sub(c, num(c, 1), mul(c, mul(c, eta, eta), sub(c, num(c, 1), mul(c, d, d))));
    vm_reg none = vm_lane(P, LANE_LT_F, k, num(c, 0), 0);
    eval_trace(c->l, none);
    vm_reg root = eval_fn1(c->l, LANE_SQRT, c->scalar, greater(c, k, num(c, 0)));
    eval_value v = difference(c, scale(c, c->arg[0], eta, mul), scale(c, c->arg[1], add(c, mul(c, eta, d), root), mul));
    for (uint32_t i = 0; i < v.n; i++) v.r[i] = vm_lane(P, LANE_SEL_F, v.r[i], num(c, 0), none);
    return v;
}

static eval_value face_forward(eval_builtin *c) {
    vm_reg front = vm_lane(P, LANE_LT_F, dot(c, c->arg[1], c->arg[2]), num(c, 0), 0);
    eval_trace(c->l, front);
    eval_value r = eval_new(c->l, c->e->type);
    for (uint32_t k = 0; k < r.n; k++) {
        vm_reg back = vm_lane(P, LANE_NEG_F, c->arg[0].r[k], 0, 0);
        r.r[k] = vm_lane(P, LANE_SEL_F, back, c->arg[0].r[k], front);
    }
    return r;
}

/* Laplace along the first column left; `rows` are those still in the minor. */
static vm_reg minor(eval_builtin *c, eval_value m, uint32_t n, uint32_t column, const uint32_t *rows) {
    uint32_t left = n - column;
    if (left == 1) return m.r[column * n + rows[0]];
    vm_reg sum = 0;
    for (uint32_t k = 0; k < left; k++) {
        uint32_t rest[4];
        for (uint32_t j = 0, w = 0; j < left; j++)
            if (j != k) rest[w++] = rows[j];
        vm_reg term = mul(c, m.r[column * n + rows[k]], minor(c, m, n, column + 1, rest));
        sum = k == 0 ? term : k & 1 ? sub(c, sum, term) : add(c, sum, term);
    }
    return sum;
}

static eval_value transpose(eval_builtin *c) {
    eval_value r = eval_new(c->l, c->e->type);
    uint32_t columns = c->arg[0].type->n, rows = c->arg[0].type->rows;
    for (uint32_t i = 0; i < columns && r.n; i++)
        for (uint32_t j = 0; j < rows; j++) r.r[j * columns + i] = c->arg[0].r[i * rows + j];
    return r;
}

static eval_value geometry(eval_builtin *c) {
    static const uint32_t rows[4] = {0, 1, 2, 3};
    switch (c->e->call.builtin) {
        case GR_WB_dot: return scalar_value(c, dot(c, c->arg[0], c->arg[1]));
        case GR_WB_length: return scalar_value(c, length(c, c->arg[0]));
        case GR_WB_distance: return scalar_value(c, length(c, difference(c, c->arg[0], c->arg[1])));
        case GR_WB_normalize: return scale(c, c->arg[0], length(c, c->arg[0]), quotient);
        case GR_WB_cross: return cross(c);
        case GR_WB_reflect: return reflect(c);
        case GR_WB_refract: return refract(c);
        case GR_WB_faceForward: return face_forward(c);
        case GR_WB_determinant: return scalar_value(c, minor(c, c->arg[0], c->arg[0].type->n, 0, rows));
        case GR_WB_transpose: return transpose(c);
        default: return (eval_value){0};
    }
}

/* ------------------------------------------------------------ modf, frexp, bools */

static eval_value pair(eval_builtin *c, bool exponent) {
    eval_value r = eval_new(c->l, c->e->type);
    uint32_t n = r.n / 2;
    for (uint32_t k = 0; k < n && !P->failed; k++) {
        vm_reg x = c->arg[0].r[k];
        vm_reg whole = exponent ? vm_lane(P, LANE_FREXP_E, x, 0, 0) : unary_step(c, LANE_TRUNC, x);
        r.r[k] = exponent ? vm_lane(P, LANE_FREXP_M, x, 0, 0) : sub(c, x, whole);
        r.r[n + k] = whole;
    }
    return r;
}

static eval_value any_all(eval_builtin *c, uint32_t op) {
    vm_reg r = c->arg[0].r[0];
    for (uint32_t k = 1; k < c->arg[0].n; k++) r = vm_lane(P, op, r, c->arg[0].r[k], 0);
    return scalar_value(c, r);
}

static bool arguments(eval_builtin *c) {
    const gr_wgsl_expr *e = c->e;
    for (uint32_t k = 0; k < e->call.arg_n; k++) {
        if (k >= sizeof c->arg / sizeof *c->arg) return false;
        if (e->call.arg[k]->type->kind == GR_WT_PTR) {
            c->pointer = eval_pointer(c->l, e->call.arg[k]);
            continue;
        }
        c->arg[k] = eval_expr(c->l, e->call.arg[k]);
        for (uint32_t j = k + 1; j < e->call.arg_n; j++)
            if (eval_calls_user(e->call.arg[j])) c->arg[k] = eval_copy(c->l, c->arg[k]);
        if (!c->arg[k].n) return false;
    }
    if (e->call.arg_n) c->scalar = eval_scalar(c->e->call.arg[0]->type);
    P->at = e->offset;
    return !P->failed;
}

eval_value eval_call_builtin(eval_lower *l, const gr_wgsl_expr *e) {
    eval_builtin call = {.l = l, .e = e}, *c = &call;
    if (!arguments(c)) return (eval_value){0};
    switch (e->call.builtin) {
        case GR_WB_dot: case GR_WB_length: case GR_WB_distance: case GR_WB_normalize: case GR_WB_cross: case GR_WB_reflect:
        case GR_WB_refract: case GR_WB_faceForward: case GR_WB_determinant: case GR_WB_transpose: return geometry(c);
        case GR_WB_modf: return pair(c, false);
        case GR_WB_frexp: return pair(c, true);
        case GR_WB_all: return any_all(c, LANE_LAND);
        case GR_WB_any: return any_all(c, LANE_LOR);
        default: break;
    }
    eval_value r;
    return eval_builtin_other(c, &r) ? r : by_component(c);
}
