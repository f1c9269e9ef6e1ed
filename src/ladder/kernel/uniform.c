/* uniform.c: the bytes of a uniform block, laid out as the module's struct says. */
#include "base/math.h"
#include "ladder/kernel/kernel_int.h"

typedef struct block {
    gr_inst *in;
    const gr_kernel_decl *kernel;
    const gr_call *call;
    const gr_bind *bind;
    uint8_t *bytes;
    uint64_t size;
} block;

static bool misfit(block *b, gr_str field, const char *what) {
    return gr_report(b->in->d, GR_D_KERNEL_BINDING, b->in->at, "compare the [[kernel]] binding with the module's struct",
                     "%.*s, %.*s: field %.*s of %.*s: %s", GR_STR_ARG(b->call->op->id), GR_STR_ARG(b->kernel->file),
                     GR_STR_ARG(field), GR_STR_ARG(b->bind->var), what);
}

static bool put(block *b, uint64_t at, const void *p, size_t n) {
    if (at > b->size || n > b->size - at) return false;
    memcpy(b->bytes + at, p, n);
    return true;
}

static bool put_u32(block *b, uint64_t at, uint64_t v) {
    uint32_t w = (uint32_t)v;
    return v <= UINT32_MAX && put(b, at, &w, 4);
}

static bool put_float(block *b, uint64_t at, const gr_wgsl_type *t, double v) {
    if (t->kind == GR_WT_F16) {
        uint16_t h = gr_f16_from_f64(v);
        return put(b, at, &h, 2);
    }
    uint32_t w = gr_bits_f32((float)v);
    return put(b, at, &w, 4);
}

static bool put_int(block *b, uint64_t at, const gr_wgsl_type *t, int64_t v) {
    if (t->kind == GR_WT_F32 || t->kind == GR_WT_F16) return put_float(b, at, t, (double)v);
    bool fits = t->kind == GR_WT_I32 ? v >= INT32_MIN && v <= INT32_MAX : v >= 0 && v <= UINT32_MAX;
    uint32_t w = (uint32_t)(uint64_t)v;
    return fits && put(b, at, &w, 4);
}

static bool is_scalar(const gr_wgsl_type *t) {
    return t->kind == GR_WT_U32 || t->kind == GR_WT_I32 || t->kind == GR_WT_F32 || t->kind == GR_WT_F16;
}

/* The dtype that a member's alias stands for in this call; NONE when its type is no alias of the binding. */
static gr_dtype alias_dtype(const block *b, const gr_wgsl_member *m) {
    gr_dtype t;
    if (!m || !m->type_expr || m->type_expr->kind != GR_WE_IDENT) return GR_DTYPE_NONE;
    for (uint32_t i = 0; i < b->kernel->binding.aliases_n; i++) {
        const gr_bind_alias *x = &b->kernel->binding.aliases[i];
        if (gr_str_eq(x->alias, m->type_expr->ident.name) && gr_kernel_dtype(b->call, x->dtype, &t)) return t;
    }
    return GR_DTYPE_NONE;
}

/* A number as an element of an integer or bool tensor: toward zero, saturated to the dtype's range. */
static bool fill_element(block *b, const gr_bind_field *f, gr_dtype t, uint64_t at) {
    static const double low[GR_DTYPE_COUNT] = {[GR_DTYPE_I8] = -128, [GR_DTYPE_I32] = -2147483648.0, [GR_DTYPE_I64] = -9223372036854775808.0};
    static const double high[GR_DTYPE_COUNT] = {[GR_DTYPE_I8] = 127, [GR_DTYPE_U8] = 255, [GR_DTYPE_I32] = 2147483647.0, [GR_DTYPE_U32] = 4294967295.0};
    double v;
    GR_TRY(gr_expr_float(b->in->d, f->expr, b->call, b->in->at, &v));
    uint64_t bits = 0;
    bool wide = t == GR_DTYPE_I64 || t == GR_DTYPE_U64;
    if (t == GR_DTYPE_BOOL) bits = v != 0;
    else if (v != v) bits = 0;
    else if (t == GR_DTYPE_I64) bits = v >= 9223372036854775808.0 ? INT64_MAX : (uint64_t)(v <= low[t] ? INT64_MIN : (int64_t)v);
    else if (t == GR_DTYPE_U64) bits = v >= 18446744073709551616.0 ? UINT64_MAX : v <= 0 ? 0 : (uint64_t)v;
    else bits = (uint64_t)(int64_t)(v < low[t] ? low[t] : v > high[t] ? high[t] : v);
    uint32_t w[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    return put(b, at, w, wide ? 8 : 4) || misfit(b, f->name, "outside the struct");
}

static bool fill_expr(block *b, const gr_bind_field *f, const gr_wgsl_type *t, uint64_t at) {
    if (!is_scalar(t)) return misfit(b, f->name, "an expression fills a u32, i32, f32 or f16 member");
    if (t->kind == GR_WT_F32 || t->kind == GR_WT_F16) {
        double v;
        GR_TRY(gr_expr_float(b->in->d, f->expr, b->call, b->in->at, &v));
        return put_float(b, at, t, v) || misfit(b, f->name, "outside the struct");
    }
    int64_t v;
    GR_TRY(gr_expr_int(b->in->d, f->expr, b->call, NULL, NULL, b->in->at, &v));
    return put_int(b, at, t, v) || misfit(b, f->name, "the value does not fit its 32-bit member");
}

/* Offset of element i of a list member: array<T, N>, array<vec4<T>, N> or vecN<T>. */
static bool list_slot(const gr_wgsl_type *t, uint32_t i, uint64_t *at, const gr_wgsl_type **scalar) {
    if (t->kind == GR_WT_VEC) {
        *scalar = t->elem;
        *at = i * t->elem->size;
        return i < t->n;
    }
    if (t->kind != GR_WT_ARRAY || !t->elem) return false;
    uint32_t per = t->elem->kind == GR_WT_VEC ? t->elem->n : 1;
    *scalar = per > 1 ? t->elem->elem : t->elem;
    *at = (i / per) * t->stride + (i % per) * (*scalar)->size;
    return i / per < t->count && is_scalar(*scalar);
}

static bool fill_list(block *b, const gr_bind_field *f, const gr_wgsl_type *t, uint64_t at) {
    double v[32];
    uint64_t off = 0;
    uint32_t n = 0;
    const gr_wgsl_type *scalar = NULL;
    GR_TRY(gr_list_resolve(b->in->d, f, b->call, b->in->at, v, &n));
    for (uint32_t i = 0; i < n; i++) {
        if (!list_slot(t, i, &off, &scalar)) return misfit(b, f->name, "the list is longer than its array");
        bool is_float = scalar->kind == GR_WT_F32 || scalar->kind == GR_WT_F16;
        if (!(is_float ? put_float(b, at + off, scalar, v[i]) : put_int(b, at + off, scalar, (int64_t)v[i])))
            return misfit(b, f->name, "an element of the list does not fit its member");
    }
    return true;
}

static bool put_list(block *b, uint64_t at, const gr_wgsl_type *t, const uint32_t *v, uint32_t n) {
    uint64_t off;
    const gr_wgsl_type *scalar;
    for (uint32_t i = 0; i < n; i++)
        if (!list_slot(t, i, &off, &scalar) || !put_u32(b, at + off, v[i])) return false;
    return true;
}

/* The standard View, by member names. */
static bool fill_view(block *b, const gr_bind_field *f, const gr_wgsl_type *t, uint64_t at) {
    gr_view v;
    if (t->kind != GR_WT_STRUCT) return misfit(b, f->name, "a view fills a struct View");
    GR_TRY(gr_view_resolve(b->in->d, &b->kernel->binding, f, b->call, b->in->at, &v));
    for (uint32_t i = 0; i < t->member_n; i++) {
        const gr_wgsl_member *m = &t->member[i];
        bool ok = true;
        if (gr_str_eqz(m->name, "rank")) ok = put_u32(b, at + m->at, v.rank);
        else if (gr_str_eqz(m->name, "offset")) ok = put_u32(b, at + m->at, v.offset);
        else if (gr_str_eqz(m->name, "size")) ok = put_u32(b, at + m->at, v.size);
        else if (gr_str_eqz(m->name, "dims")) ok = put_list(b, at + m->at, m->type, v.dims, v.rank);
        else if (gr_str_eqz(m->name, "strides")) ok = put_list(b, at + m->at, m->type, v.strides, v.rank);
        if (!ok) return misfit(b, f->name, "the struct is not the standard View");
    }
    return true;
}

static bool fill_field(block *b, const gr_bind_field *f, const gr_wgsl_member *m, const gr_wgsl_type *t, uint64_t at) {
    gr_dtype element;
    switch (f->kind) {
    case GR_FIELD_EXPR:
        element = alias_dtype(b, m);
        return element && !gr_dtype_is_float(element) ? fill_element(b, f, element, at) : fill_expr(b, f, t, at);
    case GR_FIELD_VIEW: return fill_view(b, f, t, at);
    case GR_FIELD_LIST: return fill_list(b, f, t, at);
    default: return misfit(b, f->name, "has no kind");
    }
}

bool gr_uniform_fill(gr_inst *in, const gr_kernel_decl *k, const gr_call *call, const gr_bind *bind,
                     const gr_wgsl_decl *var, const uint8_t **data, uint64_t *bytes) {
    block b = {in, k, call, bind, NULL, var->type->size};
    if (b.size == 0 || b.size > 65536) return misfit(&b, bind->var, "a uniform block has 1 to 65,536 bytes");
    b.size = (b.size + 15) & ~UINT64_C(15);
    b.bytes = gr_arena_alloc(in->a, (size_t)b.size, 1);
    if (!b.bytes) return gr_report_oom(in->d);
    for (uint32_t i = 0; i < bind->fields_n; i++) {
        const gr_bind_field *f = &bind->fields[i];
        if (var->type->kind != GR_WT_STRUCT) {
            GR_TRY(fill_field(&b, f, NULL, var->type, 0));
            continue;
        }
        const gr_wgsl_member *m = NULL;
        for (uint32_t j = 0; j < var->type->member_n; j++)
            if (gr_str_eq(var->type->member[j].name, f->name)) m = &var->type->member[j];
        if (!m) return misfit(&b, f->name, "the struct has no such member");
        GR_TRY(fill_field(&b, f, m, m->type, m->at));
    }
    *data = b.bytes;
    *bytes = b.size;
    return true;
}
