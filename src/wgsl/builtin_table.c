/* Overloads of operators and builtin functions, and their resolution.
 *
 * A row is a signature "P P -> R" over scalar variables T and U that range over classes. A
 * pattern is a scalar (T, U or a type name) and a shape: nothing a scalar, * a scalar or vector
 * of the row's one width, v a vector of that width, 2 3 4 a vector, m a matrix of the row's one
 * shape, s such a matrix that is square, t its transpose, c a vector as wide as its column count,
 * r as its row count. Resolution tries every member of the classes and keeps the candidate of
 * least conversion rank (specification, "Overload resolution"). */
#include "wgsl/wgsl_int.h"

#include <string.h>

enum {
    B = 1 << GR_WT_BOOL, AI = 1 << GR_WT_ABSTRACT_INT, AF = 1 << GR_WT_ABSTRACT_FLOAT, I = 1 << GR_WT_I32,
    U = 1 << GR_WT_U32, F = 1 << GR_WT_F32, H = 1 << GR_WT_F16,
    FLOATS = AF | F | H, INTS = AI | I | U, NUMBERS = FLOATS | INTS, SIGNED = FLOATS | AI | I, SCALARS = NUMBERS | B,
    CONCRETE = I | U | F | H, IU = I | U,
};

typedef struct row {
    uint16_t id; /* gr_wgsl_builtin or gr_wgsl_op */
    uint16_t t, u;
    const char *sig;
} row;

static const row builtin_rows[] = {
    {GR_WB_abs, NUMBERS, 0, "T* -> T*"},
    {GR_WB_acos, FLOATS, 0, "T* -> T*"},
    {GR_WB_acosh, FLOATS, 0, "T* -> T*"},
    {GR_WB_all, 0, 0, "bool* -> bool"},
    {GR_WB_any, 0, 0, "bool* -> bool"},
    {GR_WB_asin, FLOATS, 0, "T* -> T*"},
    {GR_WB_asinh, FLOATS, 0, "T* -> T*"},
    {GR_WB_atan, FLOATS, 0, "T* -> T*"},
    {GR_WB_atan2, FLOATS, 0, "T* T* -> T*"},
    {GR_WB_atanh, FLOATS, 0, "T* -> T*"},
    {GR_WB_ceil, FLOATS, 0, "T* -> T*"},
    {GR_WB_clamp, NUMBERS, 0, "T* T* T* -> T*"},
    {GR_WB_cos, FLOATS, 0, "T* -> T*"},
    {GR_WB_cosh, FLOATS, 0, "T* -> T*"},
    {GR_WB_countLeadingZeros, IU, 0, "T* -> T*"},
    {GR_WB_countOneBits, IU, 0, "T* -> T*"},
    {GR_WB_countTrailingZeros, IU, 0, "T* -> T*"},
    {GR_WB_cross, FLOATS, 0, "T3 T3 -> T3"},
    {GR_WB_degrees, FLOATS, 0, "T* -> T*"},
    {GR_WB_determinant, FLOATS, 0, "Ts -> T"},
    {GR_WB_distance, FLOATS, 0, "T* T* -> T"},
    {GR_WB_dot, NUMBERS, 0, "Tv Tv -> T"},
    {GR_WB_dot4I8Packed, 0, 0, "u32 u32 -> i32"},
    {GR_WB_dot4U8Packed, 0, 0, "u32 u32 -> u32"},
    {GR_WB_exp, FLOATS, 0, "T* -> T*"},
    {GR_WB_exp2, FLOATS, 0, "T* -> T*"},
    {GR_WB_extractBits, IU, 0, "T* u32 u32 -> T*"},
    {GR_WB_faceForward, FLOATS, 0, "Tv Tv Tv -> Tv"},
    {GR_WB_firstLeadingBit, IU, 0, "T* -> T*"},
    {GR_WB_firstTrailingBit, IU, 0, "T* -> T*"},
    {GR_WB_floor, FLOATS, 0, "T* -> T*"},
    {GR_WB_fma, FLOATS, 0, "T* T* T* -> T*"},
    {GR_WB_fract, FLOATS, 0, "T* -> T*"},
    {GR_WB_frexp, FLOATS, 0, "T* -> frexp"},
    {GR_WB_insertBits, IU, 0, "T* T* u32 u32 -> T*"},
    {GR_WB_inverseSqrt, FLOATS, 0, "T* -> T*"},
    {GR_WB_ldexp, FLOATS, AI | I, "T* U* -> T*"},
    {GR_WB_length, FLOATS, 0, "T* -> T"},
    {GR_WB_log, FLOATS, 0, "T* -> T*"},
    {GR_WB_log2, FLOATS, 0, "T* -> T*"},
    {GR_WB_max, NUMBERS, 0, "T* T* -> T*"},
    {GR_WB_min, NUMBERS, 0, "T* T* -> T*"},
    {GR_WB_mix, FLOATS, 0, "T* T* T* -> T*"},
    {GR_WB_mix, FLOATS, 0, "Tv Tv T -> Tv"},
    {GR_WB_modf, FLOATS, 0, "T* -> modf"},
    {GR_WB_normalize, FLOATS, 0, "Tv -> Tv"},
    {GR_WB_pack2x16float, 0, 0, "f322 -> u32"},
    {GR_WB_pack2x16snorm, 0, 0, "f322 -> u32"},
    {GR_WB_pack2x16unorm, 0, 0, "f322 -> u32"},
    {GR_WB_pack4x8snorm, 0, 0, "f324 -> u32"},
    {GR_WB_pack4x8unorm, 0, 0, "f324 -> u32"},
    {GR_WB_pack4xI8, 0, 0, "i324 -> u32"},
    {GR_WB_pack4xI8Clamp, 0, 0, "i324 -> u32"},
    {GR_WB_pack4xU8, 0, 0, "u324 -> u32"},
    {GR_WB_pack4xU8Clamp, 0, 0, "u324 -> u32"},
    {GR_WB_pow, FLOATS, 0, "T* T* -> T*"},
    {GR_WB_quadBroadcast, CONCRETE, IU, "T* U -> T*"},
    {GR_WB_quadSwapDiagonal, CONCRETE, 0, "T* -> T*"},
    {GR_WB_quadSwapX, CONCRETE, 0, "T* -> T*"},
    {GR_WB_quadSwapY, CONCRETE, 0, "T* -> T*"},
    {GR_WB_quantizeToF16, 0, 0, "f32* -> f32*"},
    {GR_WB_radians, FLOATS, 0, "T* -> T*"},
    {GR_WB_reflect, FLOATS, 0, "Tv Tv -> Tv"},
    {GR_WB_refract, FLOATS, 0, "Tv Tv T -> Tv"},
    {GR_WB_reverseBits, IU, 0, "T* -> T*"},
    {GR_WB_round, FLOATS, 0, "T* -> T*"},
    {GR_WB_saturate, FLOATS, 0, "T* -> T*"},
    {GR_WB_select, SCALARS, 0, "T* T* bool -> T*"},
    {GR_WB_select, SCALARS, 0, "Tv Tv boolv -> Tv"},
    {GR_WB_sign, SIGNED, 0, "T* -> T*"},
    {GR_WB_sin, FLOATS, 0, "T* -> T*"},
    {GR_WB_sinh, FLOATS, 0, "T* -> T*"},
    {GR_WB_smoothstep, FLOATS, 0, "T* T* T* -> T*"},
    {GR_WB_sqrt, FLOATS, 0, "T* -> T*"},
    {GR_WB_step, FLOATS, 0, "T* T* -> T*"},
    {GR_WB_storageBarrier, 0, 0, "-> void"},
    {GR_WB_subgroupAdd, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupAll, 0, 0, "bool -> bool"},
    {GR_WB_subgroupAnd, IU, 0, "T* -> T*"},
    {GR_WB_subgroupAny, 0, 0, "bool -> bool"},
    {GR_WB_subgroupBallot, 0, 0, "bool -> u324"},
    {GR_WB_subgroupBroadcast, CONCRETE, IU, "T* U -> T*"},
    {GR_WB_subgroupBroadcastFirst, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupElect, 0, 0, "-> bool"},
    {GR_WB_subgroupExclusiveAdd, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupExclusiveMul, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupInclusiveAdd, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupInclusiveMul, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupMax, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupMin, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupMul, CONCRETE, 0, "T* -> T*"},
    {GR_WB_subgroupOr, IU, 0, "T* -> T*"},
    {GR_WB_subgroupShuffle, CONCRETE, IU, "T* U -> T*"},
    {GR_WB_subgroupShuffleDown, CONCRETE, 0, "T* u32 -> T*"},
    {GR_WB_subgroupShuffleUp, CONCRETE, 0, "T* u32 -> T*"},
    {GR_WB_subgroupShuffleXor, CONCRETE, 0, "T* u32 -> T*"},
    {GR_WB_subgroupXor, IU, 0, "T* -> T*"},
    {GR_WB_tan, FLOATS, 0, "T* -> T*"},
    {GR_WB_tanh, FLOATS, 0, "T* -> T*"},
    {GR_WB_textureBarrier, 0, 0, "-> void"},
    {GR_WB_transpose, FLOATS, 0, "Tm -> Tt"},
    {GR_WB_trunc, FLOATS, 0, "T* -> T*"},
    {GR_WB_unpack2x16float, 0, 0, "u32 -> f322"},
    {GR_WB_unpack2x16snorm, 0, 0, "u32 -> f322"},
    {GR_WB_unpack2x16unorm, 0, 0, "u32 -> f322"},
    {GR_WB_unpack4x8snorm, 0, 0, "u32 -> f324"},
    {GR_WB_unpack4x8unorm, 0, 0, "u32 -> f324"},
    {GR_WB_unpack4xI8, 0, 0, "u32 -> i324"},
    {GR_WB_unpack4xU8, 0, 0, "u32 -> u324"},
    {GR_WB_workgroupBarrier, 0, 0, "-> void"},
};

static const row op_rows[] = {
    {GR_WO_ADD, NUMBERS, 0, "T* T* -> T*"}, {GR_WO_ADD, NUMBERS, 0, "Tv T -> Tv"}, {GR_WO_ADD, NUMBERS, 0, "T Tv -> Tv"},
    {GR_WO_ADD, FLOATS, 0, "Tm Tm -> Tm"},
    {GR_WO_SUB, NUMBERS, 0, "T* T* -> T*"}, {GR_WO_SUB, NUMBERS, 0, "Tv T -> Tv"}, {GR_WO_SUB, NUMBERS, 0, "T Tv -> Tv"},
    {GR_WO_SUB, FLOATS, 0, "Tm Tm -> Tm"},
    {GR_WO_MUL, NUMBERS, 0, "T* T* -> T*"}, {GR_WO_MUL, NUMBERS, 0, "Tv T -> Tv"}, {GR_WO_MUL, NUMBERS, 0, "T Tv -> Tv"},
    {GR_WO_MUL, FLOATS, 0, "Tm T -> Tm"}, {GR_WO_MUL, FLOATS, 0, "T Tm -> Tm"}, {GR_WO_MUL, FLOATS, 0, "Tm Tc -> Tr"},
    {GR_WO_MUL, FLOATS, 0, "Tr Tm -> Tc"}, {GR_WO_MUL, FLOATS, 0, "Tm Tn -> Tp"},
    {GR_WO_DIV, NUMBERS, 0, "T* T* -> T*"}, {GR_WO_DIV, NUMBERS, 0, "Tv T -> Tv"}, {GR_WO_DIV, NUMBERS, 0, "T Tv -> Tv"},
    {GR_WO_MOD, NUMBERS, 0, "T* T* -> T*"}, {GR_WO_MOD, NUMBERS, 0, "Tv T -> Tv"}, {GR_WO_MOD, NUMBERS, 0, "T Tv -> Tv"},
    {GR_WO_AND, INTS | B, 0, "T* T* -> T*"}, {GR_WO_OR, INTS | B, 0, "T* T* -> T*"}, {GR_WO_XOR, INTS, 0, "T* T* -> T*"},
    {GR_WO_SHL, INTS, 0, "T* u32* -> T*"}, {GR_WO_SHR, INTS, 0, "T* u32* -> T*"},
    {GR_WO_LOGICAL_AND, 0, 0, "bool bool -> bool"}, {GR_WO_LOGICAL_OR, 0, 0, "bool bool -> bool"},
    {GR_WO_EQ, SCALARS, 0, "T* T* -> bool*"}, {GR_WO_NE, SCALARS, 0, "T* T* -> bool*"},
    {GR_WO_LT, NUMBERS, 0, "T* T* -> bool*"}, {GR_WO_LE, NUMBERS, 0, "T* T* -> bool*"},
    {GR_WO_GT, NUMBERS, 0, "T* T* -> bool*"}, {GR_WO_GE, NUMBERS, 0, "T* T* -> bool*"},
    {GR_WO_NEG, SIGNED, 0, "T* -> T*"}, {GR_WO_NOT, 0, 0, "bool* -> bool*"}, {GR_WO_COMPLEMENT, INTS, 0, "T* -> T*"},
};

/* A parsed pattern: scalar 0 is T, 1 is U, else a kind. */
typedef struct pattern {
    uint8_t var; /* 1 T, 2 U, 0 fixed */
    gr_wgsl_kind kind;
    char shape; /* '\0' scalar, or the letters above; 'F' frexp, 'M' modf, 'V' void */
} pattern;

static const char *read_pattern(const char *s, pattern *p) {
    static const struct { const char *name; uint8_t kind; } fixed[] = {
        {"bool", GR_WT_BOOL}, {"u32", GR_WT_U32}, {"i32", GR_WT_I32}, {"f32", GR_WT_F32}};
    *p = (pattern){0};
    while (*s == ' ') s++;
    if (strncmp(s, "frexp", 5) == 0 || strncmp(s, "modf", 4) == 0 || strncmp(s, "void", 4) == 0) {
        p->shape = *s == 'f' ? 'F' : *s == 'm' ? 'M' : 'V';
        p->var = 1;
        return s + strcspn(s, " ");
    }
    if (*s == 'T' || *s == 'U') p->var = *s++ == 'T' ? 1 : 2;
    for (size_t i = 0; !p->var && !p->kind && i < sizeof fixed / sizeof *fixed; i++) {
        size_t n = strlen(fixed[i].name);
        if (strncmp(s, fixed[i].name, n) != 0) continue;
        p->kind = (gr_wgsl_kind)fixed[i].kind;
        s += n;
    }
    if (*s && *s != ' ') p->shape = *s++;
    return s;
}

typedef struct shape {
    uint8_t n;          /* width for * and v; 0 free */
    uint8_t cols, rows; /* of m; 0 free */
    uint8_t cols2;      /* columns of the right matrix of a product */
} shape;

static bool unify(uint8_t *slot, uint8_t v) {
    if (!*slot) *slot = v;
    return *slot == v;
}

/* Does t have the pattern's shape, given what earlier operands fixed? */
static bool match_shape(const pattern *p, const gr_wgsl_type *t, shape *s) {
    bool scalar = gr_wgsl_is_scalar(t), vec = t->kind == GR_WT_VEC, mat = t->kind == GR_WT_MAT;
    switch (p->shape) {
    case '\0': return scalar;
    case '*': return (scalar || vec) && unify(&s->n, scalar ? 1 : t->n);
    case 'v': return vec && unify(&s->n, t->n);
    case '2':
    case '3':
    case '4': return vec && t->n == p->shape - '0';
    case 'm': return mat && unify(&s->cols, t->n) && unify(&s->rows, t->rows);
    case 's': return mat && t->n == t->rows && unify(&s->cols, t->n) && unify(&s->rows, t->rows);
    case 'c': return vec && unify(&s->cols, t->n);
    case 'r': return vec && unify(&s->rows, t->n);
    case 'n': return mat && unify(&s->cols, t->rows) && unify(&s->cols2, t->n);
    default: return false;
    }
}

static const gr_wgsl_type *scalar_type(gr_wgsl_front *f, gr_wgsl_kind k) {
    switch (k) {
    case GR_WT_BOOL: return f->types.bool_;
    case GR_WT_ABSTRACT_INT: return f->types.abstract_int;
    case GR_WT_ABSTRACT_FLOAT: return f->types.abstract_float;
    case GR_WT_I32: return f->types.i32;
    case GR_WT_U32: return f->types.u32;
    case GR_WT_F32: return f->types.f32;
    default: return f->types.f16;
    }
}

static const gr_wgsl_type *pair_struct(gr_wgsl_front *f, bool frexp, const gr_wgsl_type *scalar, uint32_t n) {
    const gr_wgsl_type *e = n > 1 ? gr_wgsl_vec(f, scalar, n) : scalar;
    const gr_wgsl_type *x = !frexp ? e : scalar->kind == GR_WT_ABSTRACT_FLOAT ? f->types.abstract_int : f->types.i32;
    if (frexp && n > 1) x = gr_wgsl_vec(f, x, n);
    const char *kind = scalar->kind == GR_WT_ABSTRACT_FLOAT ? "abstract" : scalar->text.p;
    char *name = n > 1 ? gr_arena_printf(f->arena, "__%s_result_vec%u_%s", frexp ? "frexp" : "modf", n, kind)
                       : gr_arena_printf(f->arena, "__%s_result_%s", frexp ? "frexp" : "modf", kind);
    gr_str names[2] = {GR_STR("fract"), frexp ? GR_STR("exp") : GR_STR("whole")};
    const gr_wgsl_type *types[2] = {e, x};
    return name && e && x ? gr_wgsl_result_struct(f, gr_str_of(name), names, types, 2) : NULL;
}

static const gr_wgsl_type *build(gr_wgsl_front *f, const pattern *p, const shape *s, const gr_wgsl_kind k[3]) {
    const gr_wgsl_type *e = scalar_type(f, p->var ? k[p->var] : p->kind);
    switch (p->shape) {
    case '\0': return e;
    case '*': return s->n == 1 ? e : gr_wgsl_vec(f, e, s->n);
    case 'v': return gr_wgsl_vec(f, e, s->n);
    case '2':
    case '3':
    case '4': return gr_wgsl_vec(f, e, (uint32_t)(p->shape - '0'));
    case 'm':
    case 's': return gr_wgsl_mat(f, e, s->cols, s->rows);
    case 't': return gr_wgsl_mat(f, e, s->rows, s->cols);
    case 'c': return gr_wgsl_vec(f, e, s->cols);
    case 'r': return gr_wgsl_vec(f, e, s->rows);
    case 'n': return gr_wgsl_mat(f, e, s->cols2, s->cols);
    case 'p': return gr_wgsl_mat(f, e, s->cols2, s->rows);
    case 'F':
    case 'M': return pair_struct(f, p->shape == 'F', e, s->n);
    default: return f->types.void_;
    }
}

/* Sum of conversion ranks for one choice of T and U; -1 when some operand does not convert. */
static int rank_of(gr_wgsl_front *f, const pattern *p, const gr_wgsl_type *const *arg, uint32_t n, const gr_wgsl_kind k[3]) {
    int sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        int r = gr_wgsl_rank(gr_wgsl_scalar_of(arg[i]), scalar_type(f, p[i].var ? k[p[i].var] : p[i].kind));
        if (r < 0) return -1;
        sum += r;
    }
    return sum;
}

/* One row against the operands; on success the best kinds and their rank. */
static int match_row(gr_wgsl_front *f, const row *r, const gr_wgsl_type *const *arg, uint32_t n, bool abstract,
                     pattern p[9], shape *s, gr_wgsl_kind best[3]) {
    const char *c = r->sig;
    uint32_t params = 0;
    for (; *c != '-'; params++) {
        if (params >= n) return -1;
        c = read_pattern(c, &p[params]);
        while (*c == ' ') c++;
        if (!match_shape(&p[params], arg[params], s)) return -1;
    }
    if (params != n) return -1;
    read_pattern(c + 2, &p[n]);
    int least = -1;
    uint32_t drop = abstract ? 0 : AI | AF;
    for (int t = GR_WT_BOOL; t <= GR_WT_F16; t++) {
        if (r->t && !((r->t & ~drop) >> t & 1)) continue;
        for (int u = GR_WT_BOOL; u <= GR_WT_F16; u++) {
            if (r->u && !((r->u & ~drop) >> u & 1)) continue;
            gr_wgsl_kind k[3] = {GR_WT_NONE, (gr_wgsl_kind)t, (gr_wgsl_kind)u};
            int rank = rank_of(f, p, arg, n, k);
            if (rank >= 0 && (least < 0 || rank < least)) {
                least = rank;
                memcpy(best, k, sizeof k);
            }
            if (!r->u) break;
        }
        if (!r->t) break;
    }
    return least;
}

static bool match_rows(gr_wgsl_front *f, const row *rows, size_t rows_n, uint32_t id, const gr_wgsl_type *const *arg,
                       uint32_t n, bool abstract, gr_wgsl_match *out) {
    int least = -1;
    for (uint32_t i = 0; i < n; i++)
        if (!gr_wgsl_scalar_of(arg[i])) return false;
    for (size_t i = 0; i < rows_n; i++) {
        pattern p[9];
        shape s = {0};
        gr_wgsl_kind k[3] = {0};
        if (rows[i].id != id) continue;
        int rank = match_row(f, &rows[i], arg, n, abstract, p, &s, k);
        if (rank < 0 || (least >= 0 && rank >= least)) continue;
        least = rank;
        for (uint32_t j = 0; j < n; j++)
            if (!(out->param[j] = build(f, &p[j], &s, k))) return false;
        if (!(out->result = build(f, &p[n], &s, k))) return false;
    }
    return least >= 0;
}

/* Results of these cannot be dropped silently only when they have one; these never are constants. */
static bool const_evaluable(gr_wgsl_builtin b) {
    return !gr_str_starts(gr_str_of(gr_wgsl_builtin_text(b)), "subgroup") &&
           !gr_str_starts(gr_str_of(gr_wgsl_builtin_text(b)), "quad") && b != GR_WB_workgroupBarrier &&
           b != GR_WB_storageBarrier && b != GR_WB_textureBarrier;
}

bool gr_wgsl_match_builtin(gr_wgsl_front *f, gr_wgsl_builtin b, const gr_wgsl_type *const *arg, uint32_t n, bool all_const, gr_wgsl_match *out) {
    if (n > 8) return false;
    out->const_eval = const_evaluable(b) || b == GR_WB_quantizeToF16;
    return match_rows(f, builtin_rows, sizeof builtin_rows / sizeof *builtin_rows, b, arg, n, all_const && out->const_eval, out);
}

bool gr_wgsl_match_op(gr_wgsl_front *f, gr_wgsl_op op, const gr_wgsl_type *const *arg, uint32_t n, bool all_const, gr_wgsl_match *out) {
    out->const_eval = true;
    return match_rows(f, op_rows, sizeof op_rows / sizeof *op_rows, op, arg, n, all_const, out);
}

uint32_t gr_wgsl_builtin_arity(gr_wgsl_builtin b) {
    for (size_t i = 0; i < sizeof builtin_rows / sizeof *builtin_rows; i++) {
        if (builtin_rows[i].id != b) continue;
        uint32_t n = 0;
        pattern p;
        for (const char *c = builtin_rows[i].sig; *c != '-'; n++) {
            c = read_pattern(c, &p);
            while (*c == ' ') c++;
        }
        return n;
    }
    return 0;
}

static void describe_class(gr_buf *out, char var, uint32_t mask) {
    static const struct { uint16_t bit; const char *name; } part[] = {{B, "bool"}, {AI, "abstract-int"}, {AF, "abstract-float"},
                                                                      {I, "i32"}, {U, "u32"}, {F, "f32"}, {H, "f16"}};
    const char *sep = "";
    if (!mask) return;
    gr_buf_printf(out, ", %c in ", var);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (!(mask & part[i].bit) || (part[i].bit & (AI | AF))) continue;
        gr_buf_printf(out, "%s%s", sep, part[i].name);
        sep = " ";
    }
}

static void describe_pattern(gr_buf *out, const pattern *p, gr_wgsl_front *f) {
    const char *scalar = p->var == 1 ? "T" : p->var == 2 ? "U" : scalar_type(f, p->kind)->text.p;
    switch (p->shape) {
    case '*': gr_buf_printf(out, "%s or vecN<%s>", scalar, scalar); break;
    case 'v': gr_buf_printf(out, "vecN<%s>", scalar); break;
    case '2':
    case '3':
    case '4': gr_buf_printf(out, "vec%c<%s>", p->shape, scalar); break;
    case 'm': gr_buf_printf(out, "matCxR<%s>", scalar); break;
    case 's': gr_buf_printf(out, "matNxN<%s>", scalar); break;
    case 'c': gr_buf_printf(out, "vecC<%s>", scalar); break;
    case 'r': gr_buf_printf(out, "vecR<%s>", scalar); break;
    case 'n': gr_buf_printf(out, "matKxC<%s>", scalar); break;
    default: gr_buf_puts(out, scalar); break;
    }
}

static void describe_rows(gr_wgsl_front *f, const row *rows, size_t n, uint32_t id, const char *name, gr_buf *out) {
    const char *sep = "";
    for (size_t i = 0; i < n; i++) {
        if (rows[i].id != id) continue;
        const char *c = rows[i].sig, *comma = "";
        gr_buf_printf(out, "%s%s(", sep, name);
        while (*c != '-') {
            pattern p;
            c = read_pattern(c, &p);
            while (*c == ' ') c++;
            gr_buf_puts(out, comma);
            describe_pattern(out, &p, f);
            comma = ", ";
        }
        gr_buf_puts(out, ")");
        describe_class(out, 'T', rows[i].t);
        describe_class(out, 'U', rows[i].u);
        sep = "; ";
    }
}

void gr_wgsl_describe_builtin(gr_wgsl_front *f, gr_wgsl_builtin b, gr_buf *out) {
    describe_rows(f, builtin_rows, sizeof builtin_rows / sizeof *builtin_rows, b, gr_wgsl_builtin_text(b), out);
}

void gr_wgsl_describe_op(gr_wgsl_front *f, gr_wgsl_op op, gr_buf *out) {
    describe_rows(f, op_rows, sizeof op_rows / sizeof *op_rows, op, gr_wgsl_op_text(op), out);
}
