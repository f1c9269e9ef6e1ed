/* Builtin functions in const-expressions, and checks on constant operands of runtime calls.
 *
 * Float functions are the f64 kernels of base/math.h, rounded once to the type. A domain error or
 * a result that is not finite is an error of the program. */
#include "wgsl/wgsl_int.h"

#include "base/math.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct call {
    gr_wgsl_front *f;
    const gr_wgsl_expr *e;
    const gr_wgsl_const *const *arg;
    gr_wgsl_scalar *out;
    uint32_t n;     /* leaves of the result */
    gr_wgsl_kind k; /* scalar kind of the first operand */
} call;

static double fv(const call *c, uint32_t a, uint32_t i) {
    return gr_wgsl_const_leaf(c->arg[a], c->arg[a]->n == 1 ? 0 : i).f;
}
static int64_t iv(const call *c, uint32_t a, uint32_t i) {
    return gr_wgsl_const_leaf(c->arg[a], c->arg[a]->n == 1 ? 0 : i).i;
}

static bool fail(const call *c, const char *what) {
    return gr_wgsl_const_error(c->f, c->e->offset, "%s: %s", gr_wgsl_builtin_text(c->e->call.builtin), what);
}

/* Rounds to the kind of the operands. */
static bool put(const call *c, double v, gr_wgsl_scalar *out) {
    if (gr_wgsl_round_float(c->k, v, &out->f)) return true;
    return fail(c, v != v ? "the result is not a number" : "the result is outside the range of its type");
}

static double round_to(const call *c, double v) {
    double r = 0;
    return gr_wgsl_round_float(c->k, v, &r) ? r : v;
}

/* ------------------------------------------------- one float to one float */

static double fn_saturate(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
static double fn_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
static double fn_fract(double x) { return x - gr_floor(x); }
static double fn_degrees(double x) { return x * 57.29577951308232; }
static double fn_radians(double x) { return x * 0.017453292519943295; }

static double (*unary_of(gr_wgsl_builtin b))(double) {
    switch (b) {
    case GR_WB_abs: return gr_fabs;
    case GR_WB_acos: return gr_acos;
    case GR_WB_acosh: return gr_acosh;
    case GR_WB_asin: return gr_asin;
    case GR_WB_asinh: return gr_asinh;
    case GR_WB_atan: return gr_atan;
    case GR_WB_atanh: return gr_atanh;
    case GR_WB_ceil: return gr_ceil;
    case GR_WB_cos: return gr_cos;
    case GR_WB_cosh: return gr_cosh;
    case GR_WB_degrees: return fn_degrees;
    case GR_WB_exp: return gr_exp;
    case GR_WB_exp2: return gr_exp2;
    case GR_WB_floor: return gr_floor;
    case GR_WB_fract: return fn_fract;
    case GR_WB_inverseSqrt: return gr_inverse_sqrt;
    case GR_WB_log: return gr_log;
    case GR_WB_log2: return gr_log2;
    case GR_WB_radians: return fn_radians;
    case GR_WB_round: return gr_round_even;
    case GR_WB_saturate: return fn_saturate;
    case GR_WB_sign: return fn_sign;
    case GR_WB_sin: return gr_sin;
    case GR_WB_sinh: return gr_sinh;
    case GR_WB_sqrt: return gr_sqrt;
    case GR_WB_tan: return gr_tan;
    case GR_WB_tanh: return gr_tanh;
    case GR_WB_trunc: return gr_trunc;
    default: return NULL;
    }
}

/* Where the specification makes the argument an error. */
static bool in_domain(gr_wgsl_builtin b, double x) {
    switch (b) {
    case GR_WB_acos:
    case GR_WB_asin: return x >= -1 && x <= 1;
    case GR_WB_acosh: return x >= 1;
    case GR_WB_atanh: return x > -1 && x < 1;
    case GR_WB_log:
    case GR_WB_log2:
    case GR_WB_inverseSqrt: return x > 0;
    case GR_WB_sqrt: return x >= 0;
    default: return true;
    }
}

static bool eval_unary_float(const call *c, double (*fn)(double)) {
    for (uint32_t i = 0; i < c->n; i++) {
        double x = fv(c, 0, i);
        if (!in_domain(c->e->call.builtin, x)) return fail(c, "the argument is outside the domain");
        if (!put(c, fn(x), &c->out[i])) return false;
    }
    return true;
}

/* ------------------------------------------------------- several to one */

static double select_float(const call *c, uint32_t i) {
    double a = fv(c, 0, i), b = c->e->call.arg_n > 1 ? fv(c, 1, i) : 0, d = c->e->call.arg_n > 2 ? fv(c, 2, i) : 0, t;
    switch (c->e->call.builtin) {
    case GR_WB_atan2: return gr_atan2(a, b);
    case GR_WB_pow: return gr_pow(a, b);
    case GR_WB_min: return b < a ? b : a;
    case GR_WB_max: return a < b ? b : a;
    case GR_WB_clamp: t = a < b ? b : a; return t > d ? d : t;
    case GR_WB_step: return a <= b ? 1 : 0;
    case GR_WB_fma: return gr_fma(a, b, d);
    case GR_WB_mix: return round_to(c, a * round_to(c, 1 - d)) + round_to(c, b * d);
    default: /* smoothstep */
        t = fn_saturate(round_to(c, round_to(c, d - a) / round_to(c, b - a)));
        return round_to(c, t * t) * round_to(c, 3 - round_to(c, 2 * t));
    }
}

static bool eval_float_lanes(const call *c) {
    gr_wgsl_builtin b = c->e->call.builtin;
    for (uint32_t i = 0; i < c->n; i++) {
        if (b == GR_WB_clamp && fv(c, 1, i) > fv(c, 2, i)) return fail(c, "the low bound is above the high one");
        if (b == GR_WB_smoothstep && fv(c, 0, i) == fv(c, 1, i)) return fail(c, "the two edges are equal");
        if (b == GR_WB_pow && (fv(c, 0, i) < 0 || (fv(c, 0, i) == 0 && fv(c, 1, i) <= 0)))
            return fail(c, "the base is negative, or both zero");
        if (!put(c, select_float(c, i), &c->out[i])) return false;
    }
    return true;
}

static bool eval_int_lanes(const call *c) {
    gr_wgsl_builtin b = c->e->call.builtin;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t x = iv(c, 0, i), y = c->e->call.arg_n > 1 ? iv(c, 1, i) : 0, z = c->e->call.arg_n > 2 ? iv(c, 2, i) : 0,
                r = x;
        if (b == GR_WB_clamp && y > z) return fail(c, "the low bound is above the high one");
        if (b == GR_WB_min) r = y < x ? y : x;
        else if (b == GR_WB_max) r = x < y ? y : x;
        else if (b == GR_WB_clamp) r = (x < y ? y : x) > z ? z : (x < y ? y : x);
        else if (b == GR_WB_sign) r = x > 0 ? 1 : x < 0 ? -1 : 0;
        else if (b == GR_WB_abs && x < 0) {
            if (c->k == GR_WT_ABSTRACT_INT && x == INT64_MIN) r = x;
            else r = c->k == GR_WT_I32 && x == INT32_MIN ? x : -x;
        }
        c->out[i].i = r;
    }
    return true;
}

/* ------------------------------------------------------------------- bits */

static uint32_t count_ones(uint32_t x) {
    uint32_t n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}
static uint32_t leading_zeros(uint32_t x) {
    uint32_t n = 0;
    while (n < 32 && !(x >> (31 - n))) n++;
    return n;
}
static uint32_t trailing_zeros(uint32_t x) {
    uint32_t n = 0;
    while (n < 32 && !(x >> n & 1)) n++;
    return n;
}
static uint32_t reverse(uint32_t x) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) r = r << 1 | (x >> i & 1);
    return r;
}

static uint32_t bit_op(const call *c, uint32_t x, bool is_signed) {
    switch (c->e->call.builtin) {
    case GR_WB_countLeadingZeros: return leading_zeros(x);
    case GR_WB_countOneBits: return count_ones(x);
    case GR_WB_countTrailingZeros: return trailing_zeros(x);
    case GR_WB_reverseBits: return reverse(x);
    case GR_WB_firstTrailingBit: return x ? trailing_zeros(x) : UINT32_MAX;
    default: /* firstLeadingBit */
        if (is_signed && x >> 31) x = ~x;
        return x ? 31 - leading_zeros(x) : UINT32_MAX;
    }
}

static bool eval_bits(const call *c) {
    bool is_signed = c->k == GR_WT_I32;
    gr_wgsl_builtin b = c->e->call.builtin;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t x = (uint32_t)iv(c, 0, i), r;
        if (b == GR_WB_extractBits || b == GR_WB_insertBits) {
            uint32_t k = b == GR_WB_insertBits ? 2 : 1;
            int64_t o = iv(c, k, 0), n = iv(c, k + 1, 0);
            if (o + n > 32) return fail(c, "offset + count is more than 32");
            uint32_t mask = n >= 32 ? UINT32_MAX : (1u << n) - 1;
            if (b == GR_WB_insertBits) {
                r = n ? (x & ~(mask << o)) | (((uint32_t)iv(c, 1, i) & mask) << o) : x;
            } else {
                r = n ? x >> o & mask : 0;
                if (is_signed && n && r >> (n - 1) & 1) r |= ~mask;
            }
        } else {
            r = bit_op(c, x, is_signed);
        }
        c->out[i].i = is_signed ? (int64_t)(int32_t)r : (int64_t)r;
    }
    return true;
}

/* ------------------------------------------------------------------ vectors */

/* Sum of products, each step rounded; integers through the operators for their rules. */
static bool dot(const call *c, uint32_t a, uint32_t b, uint32_t n, gr_wgsl_scalar *out) {
    gr_wgsl_scalar sum = {0}, p;
    for (uint32_t i = 0; i < n; i++) {
        if (!gr_wgsl_scalar_op(c->f, c->e->offset, c->k, GR_WO_MUL, gr_wgsl_const_leaf(c->arg[a], i),
                               gr_wgsl_const_leaf(c->arg[b], i), &p))
            return false;
        if (i == 0) sum = p;
        else if (!gr_wgsl_scalar_op(c->f, c->e->offset, c->k, GR_WO_ADD, sum, p, &sum)) return false;
    }
    *out = sum;
    return true;
}

static bool eval_length(const call *c) {
    double sum = 0;
    for (uint32_t i = 0; i < c->arg[0]->n; i++) {
        double d = gr_wgsl_const_leaf(c->arg[0], i).f;
        if (c->e->call.arg_n > 1) d = round_to(c, d - gr_wgsl_const_leaf(c->arg[1], i).f);
        if (c->arg[0]->n == 1) return put(c, gr_fabs(d), &c->out[0]);
        sum += d * d;
    }
    double s;
    if (!gr_wgsl_round_float(c->k, sum, &s)) return fail(c, "the result is outside the range of its type");
    return put(c, gr_sqrt(sum), &c->out[0]);
}

static bool eval_normalize(const call *c) {
    double sum = 0;
    for (uint32_t i = 0; i < c->n; i++) sum += fv(c, 0, i) * fv(c, 0, i);
    if (sum == 0) return fail(c, "a vector of zeros has no direction");
    for (uint32_t i = 0; i < c->n; i++)
        if (!put(c, fv(c, 0, i) / gr_sqrt(sum), &c->out[i])) return false;
    return true;
}

static bool eval_cross(const call *c) {
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
        double p, q;
        if (!gr_wgsl_round_float(c->k, fv(c, 0, j) * fv(c, 1, k), &p) ||
            !gr_wgsl_round_float(c->k, fv(c, 0, k) * fv(c, 1, j), &q))
            return fail(c, "the result is outside the range of its type");
        if (!put(c, p - q, &c->out[i])) return false;
    }
    return true;
}

static bool eval_reflect(const call *c) {
    gr_wgsl_scalar d;
    if (!dot(c, 0, 1, c->n, &d)) return false;
    for (uint32_t i = 0; i < c->n; i++)
        if (!put(c, fv(c, 0, i) - round_to(c, round_to(c, 2 * d.f) * fv(c, 1, i)), &c->out[i])) return false;
    return true;
}

static bool eval_refract(const call *c) {
    gr_wgsl_scalar d;
    if (!dot(c, 1, 0, c->n, &d)) return false;
    double eta = gr_wgsl_const_leaf(c->arg[2], 0).f, k = 1 - eta * eta * (1 - d.f * d.f);
    for (uint32_t i = 0; i < c->n; i++) {
        double v = k < 0 ? 0 : eta * fv(c, 0, i) - (eta * d.f + gr_sqrt(k)) * fv(c, 1, i);
        if (!put(c, v, &c->out[i])) return false;
    }
    return true;
}

static bool eval_face_forward(const call *c) {
    gr_wgsl_scalar d;
    if (!dot(c, 2, 1, c->n, &d)) return false;
    for (uint32_t i = 0; i < c->n; i++) c->out[i].f = d.f < 0 ? fv(c, 0, i) : -fv(c, 0, i);
    return true;
}

/* Determinant by cofactors of the first column, in f64. */
static double det(const double *m, uint32_t n, uint32_t stride) {
    if (n == 1) return m[0];
    if (n == 2) return m[0] * m[stride + 1] - m[stride] * m[1];
    double sum = 0, minor[9];
    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t col = 1; col < n; col++)
            for (uint32_t i = 0, k = 0; i < n; i++)
                if (i != r) minor[(col - 1) * (n - 1) + k++] = m[col * stride + i];
        double t = m[r] * det(minor, n - 1, n - 1);
        sum += r & 1 ? -t : t;
    }
    return sum;
}

static bool eval_determinant(const call *c) {
    double m[16];
    uint32_t n = c->arg[0]->type->n;
    for (uint32_t i = 0; i < n * n; i++) m[i] = gr_wgsl_const_leaf(c->arg[0], i).f;
    return put(c, det(m, n, n), &c->out[0]);
}

static bool eval_transpose(const call *c) {
    const gr_wgsl_type *t = c->arg[0]->type;
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t j = 0; j < t->rows; j++) c->out[j * t->n + i] = gr_wgsl_const_leaf(c->arg[0], i * t->rows + j);
    return true;
}

/* ------------------------------------------------------------- split floats */

/* fract in [0.5, 1) and exponent; zero gives zero. */
static bool eval_frexp_modf(const call *c) {
    uint32_t n = c->arg[0]->n;
    for (uint32_t i = 0; i < n; i++) {
        double x = gr_wgsl_const_leaf(c->arg[0], i).f;
        if (c->e->call.builtin == GR_WB_modf) {
            c->out[i].f = x - gr_trunc(x);
            c->out[n + i].f = gr_trunc(x);
        } else {
            int e = 0;
            c->out[i].f = gr_frexp(x, &e);
            c->out[n + i].i = e;
        }
    }
    return true;
}

static bool eval_ldexp(const call *c) {
    int64_t bias = c->k == GR_WT_F16 ? 15 : c->k == GR_WT_F32 ? 127 : 1023;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t e = iv(c, 1, i);
        if (e > bias + 1) return fail(c, "the exponent is too large");
        if (!put(c, gr_ldexp(fv(c, 0, i), e < -4000 ? -4000 : (int)e), &c->out[i])) return false;
    }
    return true;
}

/* -------------------------------------------------------------- pack, unpack */

static bool eval_pack(const call *c) {
    uint32_t r = 0;
    gr_wgsl_builtin b = c->e->call.builtin;
    for (uint32_t i = 0; i < c->arg[0]->n; i++) {
        gr_wgsl_scalar s = gr_wgsl_const_leaf(c->arg[0], i);
        double x = s.f < -1 ? -1 : s.f > 1 ? 1 : s.f, p = s.f < 0 ? 0 : s.f > 1 ? 1 : s.f;
        switch (b) {
        case GR_WB_pack4x8snorm: r |= ((uint32_t)(int32_t)gr_floor(0.5 + 127 * x) & 0xFF) << 8 * i; break;
        case GR_WB_pack4x8unorm: r |= ((uint32_t)gr_floor(0.5 + 255 * p) & 0xFF) << 8 * i; break;
        case GR_WB_pack2x16snorm: r |= ((uint32_t)(int32_t)gr_floor(0.5 + 32767 * x) & 0xFFFF) << 16 * i; break;
        case GR_WB_pack2x16unorm: r |= ((uint32_t)gr_floor(0.5 + 65535 * p) & 0xFFFF) << 16 * i; break;
        case GR_WB_pack2x16float:
            if (gr_fabs(s.f) > 65504) return fail(c, "the argument is outside the range of f16");
            r |= (uint32_t)gr_f16_from_f64(s.f) << 16 * i;
            break;
        case GR_WB_pack4xI8Clamp: r |= ((uint32_t)(s.i < -128 ? -128 : s.i > 127 ? 127 : s.i) & 0xFF) << 8 * i; break;
        case GR_WB_pack4xU8Clamp: r |= (uint32_t)(s.i > 255 ? 255 : s.i) << 8 * i; break;
        default: r |= ((uint32_t)s.i & 0xFF) << 8 * i; break; /* pack4xI8, pack4xU8 */
        }
    }
    c->out[0].i = r;
    return true;
}

static bool eval_unpack(const call *c) {
    uint32_t v = (uint32_t)iv(c, 0, 0);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t u8 = v >> 8 * (i & 3) & 0xFF, u16 = v >> 16 * (i & 1) & 0xFFFF;
        double r = 0;
        switch (c->e->call.builtin) {
        case GR_WB_unpack4xI8: c->out[i].i = (int8_t)u8; continue;
        case GR_WB_unpack4xU8: c->out[i].i = u8; continue;
        case GR_WB_unpack4x8snorm: r = (int8_t)u8 / 127.0; break;
        case GR_WB_unpack4x8unorm: r = u8 / 255.0; break;
        case GR_WB_unpack2x16snorm: r = (int16_t)u16 / 32767.0; break;
        case GR_WB_unpack2x16unorm: r = u16 / 65535.0; break;
        default: r = (double)gr_f32_from_f16((uint16_t)u16); break;
        }
        if (r < -1 && c->e->call.builtin != GR_WB_unpack2x16float) r = -1;
        if (!gr_wgsl_round_float(GR_WT_F32, r, &c->out[i].f)) return fail(c, "the result is not finite");
    }
    return true;
}

static bool eval_dot_packed(const call *c) {
    bool is_signed = c->e->call.builtin == GR_WB_dot4I8Packed;
    int64_t sum = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t a = (uint32_t)iv(c, 0, 0) >> 8 * i & 0xFF, b = (uint32_t)iv(c, 1, 0) >> 8 * i & 0xFF;
        sum += is_signed ? (int64_t)(int8_t)a * (int8_t)b : (int64_t)a * b;
    }
    c->out[0].i = sum;
    return true;
}

/* ------------------------------------------------------------------ bitcast */

static uint32_t scalar_bytes(gr_wgsl_kind k) { return k == GR_WT_F16 ? 2 : 4; }

static uint32_t to_bits(gr_wgsl_kind k, gr_wgsl_scalar s) {
    if (k == GR_WT_F32) return gr_bits_f32((float)s.f);
    return k == GR_WT_F16 ? gr_f16_from_f64(s.f) : (uint32_t)s.i;
}

static bool eval_bitcast(const call *c) {
    gr_wgsl_kind to = gr_wgsl_scalar_of(c->e->type)->kind;
    uint32_t word[4] = {0}, from_size = scalar_bytes(c->k), to_size = scalar_bytes(to);
    for (uint32_t i = 0; i < c->arg[0]->n; i++) {
        uint32_t at = i * from_size;
        word[at / 4] |= to_bits(c->k, gr_wgsl_const_leaf(c->arg[0], i)) << 8 * (at % 4);
    }
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t at = i * to_size, w = word[at / 4] >> 8 * (at % 4);
        if (to == GR_WT_F32 || to == GR_WT_F16) {
            bool special = to == GR_WT_F32 ? (w & 0x7F800000) == 0x7F800000 : (w & 0x7C00) == 0x7C00;
            if (special) return fail(c, "the result is infinite or not a number");
            c->out[i].f = to == GR_WT_F32 ? (double)gr_f32_bits(w) : (double)gr_f32_from_f16((uint16_t)w);
        } else {
            c->out[i].i = to == GR_WT_I32 ? (int64_t)(int32_t)w : (int64_t)w;
        }
    }
    return true;
}

static bool eval_quantize(const call *c) {
    for (uint32_t i = 0; i < c->n; i++) {
        if (gr_fabs(fv(c, 0, i)) > 65504) return fail(c, "the argument is outside the range of f16");
        c->out[i].f = (double)gr_f32_from_f16(gr_f16_from_f64(fv(c, 0, i)));
    }
    return true;
}

static bool eval_logic(const call *c) {
    bool all = true, any = false;
    if (c->e->call.builtin == GR_WB_select) {
        for (uint32_t i = 0; i < c->n; i++) c->out[i] = gr_wgsl_const_leaf(c->arg[iv(c, 2, i) ? 1 : 0], i);
        return true;
    }
    for (uint32_t i = 0; i < c->arg[0]->n; i++) {
        all &= iv(c, 0, i) != 0;
        any |= iv(c, 0, i) != 0;
    }
    c->out[0].i = c->e->call.builtin == GR_WB_all ? all : any;
    return true;
}

bool gr_wgsl_eval_builtin(gr_wgsl_front *f, const gr_wgsl_expr *e, const gr_wgsl_const *const *arg, gr_wgsl_const *r) {
    union {
        const gr_wgsl_scalar *from;
        gr_wgsl_scalar *to;
    } u = {r->leaf};
    call c = {.f = f, .e = e, .arg = arg, .out = u.to, .n = r->n, .k = gr_wgsl_scalar_of(arg[0]->type)->kind};
    bool is_float = gr_wgsl_is_float_kind(c.k);
    double (*fn)(double) = is_float ? unary_of(e->call.builtin) : NULL;
    if (fn) return eval_unary_float(&c, fn);
    switch (e->call.builtin) {
    case GR_WB_all:
    case GR_WB_any:
    case GR_WB_select: return eval_logic(&c);
    case GR_WB_bitcast: return eval_bitcast(&c);
    case GR_WB_length:
    case GR_WB_distance: return eval_length(&c);
    case GR_WB_normalize: return eval_normalize(&c);
    case GR_WB_dot: return dot(&c, 0, 1, arg[0]->n, &c.out[0]);
    case GR_WB_cross: return eval_cross(&c);
    case GR_WB_reflect: return eval_reflect(&c);
    case GR_WB_refract: return eval_refract(&c);
    case GR_WB_faceForward: return eval_face_forward(&c);
    case GR_WB_determinant: return eval_determinant(&c);
    case GR_WB_transpose: return eval_transpose(&c);
    case GR_WB_frexp:
    case GR_WB_modf: return eval_frexp_modf(&c);
    case GR_WB_ldexp: return eval_ldexp(&c);
    case GR_WB_quantizeToF16: return eval_quantize(&c);
    case GR_WB_dot4I8Packed:
    case GR_WB_dot4U8Packed: return eval_dot_packed(&c);
    case GR_WB_countLeadingZeros:
    case GR_WB_countOneBits:
    case GR_WB_countTrailingZeros:
    case GR_WB_reverseBits:
    case GR_WB_firstTrailingBit:
    case GR_WB_firstLeadingBit:
    case GR_WB_extractBits:
    case GR_WB_insertBits: return eval_bits(&c);
    default: break;
    }
    gr_str name = gr_str_of(gr_wgsl_builtin_text(e->call.builtin));
    if (gr_str_starts(name, "pack")) return eval_pack(&c);
    if (gr_str_starts(name, "unpack")) return eval_unpack(&c);
    return is_float ? eval_float_lanes(&c) : eval_int_lanes(&c);
}

/* ------------------------------------------ constant operands of runtime calls */

static bool any_zero(const gr_wgsl_const *c) {
    for (uint32_t i = 0; i < c->n; i++)
        if (gr_wgsl_const_leaf(c, i).i == 0) return true;
    return false;
}

static bool check_binary(gr_wgsl_front *f, const gr_wgsl_expr *e, gr_wgsl_op op, const gr_wgsl_type *left,
                         const gr_wgsl_expr *b) {
    const gr_wgsl_type *s = gr_wgsl_scalar_of(left);
    if (!b->value || !s || !gr_wgsl_is_int_kind(s->kind)) return true;
    if ((op == GR_WO_DIV || op == GR_WO_MOD) && any_zero(b->value))
        return gr_wgsl_const_error(f, e->offset, "an integer is divided by the constant zero");
    for (uint32_t i = 0; (op == GR_WO_SHL || op == GR_WO_SHR) && i < b->value->n; i++)
        if (gr_wgsl_const_leaf(b->value, i).i >= 32)
            return gr_wgsl_const_error(f, e->offset, "a shift by %lld is not less than the 32 bits of %.*s",
                                       (long long)gr_wgsl_const_leaf(b->value, i).i, GR_STR_ARG(s->text));
    return true;
}

static bool check_compound(gr_wgsl_front *f, const gr_wgsl_expr *e) {
    return check_binary(f, e, e->binary.op, e->binary.a->type, e->binary.b);
}

static const gr_wgsl_const *arg_const(const gr_wgsl_expr *e, uint32_t i) {
    return i < e->call.arg_n ? e->call.arg[i]->value : NULL;
}

static bool partial_builtin(gr_wgsl_front *f, const gr_wgsl_expr *e) {
    gr_wgsl_builtin b = e->call.builtin;
    const char *name = gr_wgsl_builtin_text(b);
    const gr_wgsl_const *a0 = arg_const(e, 0), *a1 = arg_const(e, 1), *a2 = arg_const(e, 2), *a3 = arg_const(e, 3);
    bool is_float = e->call.arg_n && gr_wgsl_scalar_of(e->call.arg[0]->type) &&
                    gr_wgsl_is_float_kind(gr_wgsl_scalar_of(e->call.arg[0]->type)->kind);
    const gr_wgsl_const *lo = b == GR_WB_clamp        ? a1
                              : b == GR_WB_smoothstep ? a0
                                                      : NULL,
                        *hi = b == GR_WB_clamp        ? a2
                              : b == GR_WB_smoothstep ? a1
                                                      : NULL;
    for (uint32_t i = 0; lo && hi && i < lo->n; i++) {
        gr_wgsl_scalar x = gr_wgsl_const_leaf(lo, i), y = gr_wgsl_const_leaf(hi, i);
        bool bad = b == GR_WB_smoothstep ? x.f == y.f : is_float ? x.f > y.f : x.i > y.i;
        if (bad)
            return gr_wgsl_const_error(f, e->offset,
                                       b == GR_WB_smoothstep ? "%s: the two edges are equal"
                                                             : "%s: the low bound is above the high one",
                                       name);
    }
    if (b == GR_WB_extractBits || b == GR_WB_insertBits) {
        const gr_wgsl_const *o = b == GR_WB_insertBits ? a2 : a1, *n = b == GR_WB_insertBits ? a3 : a2;
        if (o && n && gr_wgsl_const_leaf(o, 0).i + gr_wgsl_const_leaf(n, 0).i > 32)
            return gr_wgsl_const_error(f, e->offset, "%s: offset + count is more than 32", name);
    }
    if (b == GR_WB_ldexp && a1) {
        int64_t bias = gr_wgsl_scalar_of(e->call.arg[0]->type)->kind == GR_WT_F16 ? 15 : 127;
        for (uint32_t i = 0; i < a1->n; i++)
            if (gr_wgsl_const_leaf(a1, i).i > bias + 1)
                return gr_wgsl_const_error(f, e->offset, "%s: the exponent is too large", name);
    }
    return true;
}

bool gr_wgsl_check_partial(gr_wgsl_front *f, const gr_wgsl_expr *e) {
    if (e->kind == GR_WE_BINARY) return check_compound(f, e);
    if (e->kind == GR_WE_CALL && e->call.call == GR_WC_BUILTIN) return partial_builtin(f, e);
    return true;
}

bool gr_wgsl_check_compound(gr_wgsl_front *f, const gr_wgsl_stmt *s) {
    gr_wgsl_expr e = {.offset = s->offset};
    return check_binary(f, &e, s->assign.op, s->assign.lhs->type, s->assign.rhs);
}
