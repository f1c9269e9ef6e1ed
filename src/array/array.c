#include "array/array.h"

#include <string.h>

#include "base/math.h"

typedef struct dtype_row {
    const char *name;
    uint32_t size;
    bool is_float, is_signed;
} dtype_row;

static const dtype_row dtypes[GR_DTYPE_COUNT] = {
    [GR_DTYPE_NONE] = {"none", 0, false, false}, [GR_DTYPE_F16] = {"f16", 2, true, true},
    [GR_DTYPE_F32] = {"f32", 4, true, true},     [GR_DTYPE_F64] = {"f64", 8, true, true},
    [GR_DTYPE_I8] = {"i8", 1, false, true},      [GR_DTYPE_U8] = {"u8", 1, false, false},
    [GR_DTYPE_I32] = {"i32", 4, false, true},    [GR_DTYPE_U32] = {"u32", 4, false, false},
    [GR_DTYPE_I64] = {"i64", 8, false, true},    [GR_DTYPE_U64] = {"u64", 8, false, false},
    [GR_DTYPE_BOOL] = {"bool", 1, false, false},
};

static const dtype_row *row_of(gr_dtype t) {
    return &dtypes[(unsigned)t < GR_DTYPE_COUNT ? t : GR_DTYPE_NONE];
}

const char *gr_dtype_name(gr_dtype t) { return row_of(t)->name; }
uint32_t gr_dtype_size(gr_dtype t) { return row_of(t)->size; }
bool gr_dtype_is_float(gr_dtype t) { return row_of(t)->is_float; }
bool gr_dtype_is_signed(gr_dtype t) { return row_of(t)->is_signed; }

gr_dtype gr_dtype_find(gr_str name) {
    for (int t = 1; t < GR_DTYPE_COUNT; t++)
        if (gr_str_eqz(name, dtypes[t].name)) return (gr_dtype)t;
    return GR_DTYPE_NONE;
}

bool gr_dims_count(const uint64_t *dims, uint32_t rank, uint64_t *count) {
    uint64_t n = 1;
    bool fits = true;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] == 0) {
            *count = 0;
            return true;
        }
        fits = fits && n <= UINT64_MAX / dims[i];
        if (fits) n *= dims[i];
    }
    *count = n;
    return fits;
}

bool gr_dims_bytes(gr_dtype t, const uint64_t *dims, uint32_t rank, size_t *bytes) {
    uint64_t n;
    uint32_t size = gr_dtype_size(t);
    if (size == 0 || rank > GR_RANK_MAX || !gr_dims_count(dims, rank, &n)) return false;
    if (n > (uint64_t)(SIZE_MAX / 2) / size) return false;
    *bytes = (size_t)n * size;
    return true;
}

uint64_t gr_array_count(const gr_array *x) {
    uint64_t n = 0;
    return gr_dims_count(x->dims, x->rank, &n) ? n : 0;
}

bool gr_array_same_type(const gr_array *x, const gr_array *y) {
    return x->dtype == y->dtype && x->rank == y->rank && memcmp(x->dims, y->dims, x->rank * sizeof *x->dims) == 0;
}

bool gr_array_same_bits(const gr_array *x, const gr_array *y) {
    return gr_array_same_type(x, y) && x->bytes == y->bytes && (x->bytes == 0 || memcmp(x->data, y->data, x->bytes) == 0);
}

bool gr_array_new(gr_arena *a, gr_diags *d, gr_dtype t, const uint64_t *dims, uint32_t rank, gr_array *out) {
    gr_array x = {.dtype = t, .rank = rank};
    if (!gr_dims_bytes(t, dims, rank, &x.bytes))
        return gr_report(d, GR_D_ARRAY_TOO_LARGE, (gr_place){0}, "use fewer dimensions, fewer elements or a smaller type",
                         "an array of %u dimensions of %s does not fit (at most %d dimensions)", rank, gr_dtype_name(t),
                         GR_RANK_MAX);
    if (rank) memcpy(x.dims, dims, rank * sizeof *dims);
    x.data = gr_arena_alloc(a, x.bytes, 1);
    if (!x.data) return gr_report_oom(d);
    *out = x;
    return true;
}

/* One element as the widest type of its kind. */
typedef struct number {
    enum { NUMBER_FLOAT = 1, NUMBER_SIGNED, NUMBER_UNSIGNED } kind;
    double f;
    int64_t i;
    uint64_t u;
} number;

/* An element in its own type. A caller's data may lie at any address: elements are copied. */
typedef union element {
    uint16_t half;
    float f32;
    double f64;
    int8_t i8;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint32_t u32;
    uint64_t u64;
} element;

#define LOAD(member) (memcpy(&e, (const uint8_t *)x->data + i * sizeof e.member, sizeof e.member), e.member)
static number load(const gr_array *x, uint64_t i) {
    element e;
    switch (x->dtype) {
    case GR_DTYPE_F16: return (number){.kind = NUMBER_FLOAT, .f = (double)gr_f32_from_f16(LOAD(half))};
    case GR_DTYPE_F32: return (number){.kind = NUMBER_FLOAT, .f = (double)LOAD(f32)};
    case GR_DTYPE_F64: return (number){.kind = NUMBER_FLOAT, .f = LOAD(f64)};
    case GR_DTYPE_I8: return (number){.kind = NUMBER_SIGNED, .i = LOAD(i8)};
    case GR_DTYPE_I32: return (number){.kind = NUMBER_SIGNED, .i = LOAD(i32)};
    case GR_DTYPE_I64: return (number){.kind = NUMBER_SIGNED, .i = LOAD(i64)};
    case GR_DTYPE_U8: return (number){.kind = NUMBER_UNSIGNED, .u = LOAD(u8)};
    case GR_DTYPE_U32: return (number){.kind = NUMBER_UNSIGNED, .u = LOAD(u32)};
    case GR_DTYPE_U64: return (number){.kind = NUMBER_UNSIGNED, .u = LOAD(u64)};
    case GR_DTYPE_BOOL: return (number){.kind = NUMBER_UNSIGNED, .u = LOAD(u8) != 0};
    case GR_DTYPE_NONE:
    case GR_DTYPE_COUNT: break;
    }
    return (number){.kind = NUMBER_UNSIGNED};
}

/* Integers to binary32 in one rounding: through binary64 they would be rounded twice. */
static float to_f32(number v) {
    if (v.kind == NUMBER_FLOAT) return (float)v.f;
    return v.kind == NUMBER_SIGNED ? (float)v.i : (float)v.u;
}
static double to_f64(number v) {
    if (v.kind == NUMBER_FLOAT) return v.f;
    return v.kind == NUMBER_SIGNED ? (double)v.i : (double)v.u;
}
/* The bits modulo 2^64; floats saturate at lo and hi. */
static uint64_t to_int(number v, int64_t lo, uint64_t hi) {
    if (v.kind == NUMBER_SIGNED) return (uint64_t)v.i;
    if (v.kind == NUMBER_UNSIGNED) return v.u;
    if (gr_isnan(v.f)) return 0;
    if (v.f <= (double)lo) return (uint64_t)lo;
    if (v.f >= (double)hi) return hi;
    return v.f < 0 ? (uint64_t)(int64_t)v.f : (uint64_t)v.f;
}
static bool is_zero(number v) {
    return v.kind == NUMBER_FLOAT ? v.f == 0 : v.kind == NUMBER_SIGNED ? v.i == 0 : v.u == 0;
}

#define STORE(T, v) (memcpy((uint8_t *)x->data + i * sizeof(T), &(T){(T)(v)}, sizeof(T)))
static void store(gr_array *x, uint64_t i, number v) {
    switch (x->dtype) {
    case GR_DTYPE_F16: STORE(uint16_t, gr_f16_from_f64(to_f64(v))); break; /* 2^53 is beyond binary16 */
    case GR_DTYPE_F32: STORE(float, to_f32(v)); break;
    case GR_DTYPE_F64: STORE(double, to_f64(v)); break;
    case GR_DTYPE_I8: STORE(int8_t, to_int(v, INT8_MIN, INT8_MAX)); break;
    case GR_DTYPE_U8: STORE(uint8_t, to_int(v, 0, UINT8_MAX)); break;
    case GR_DTYPE_I32: STORE(int32_t, to_int(v, INT32_MIN, INT32_MAX)); break;
    case GR_DTYPE_U32: STORE(uint32_t, to_int(v, 0, UINT32_MAX)); break;
    case GR_DTYPE_I64: STORE(int64_t, to_int(v, INT64_MIN, INT64_MAX)); break;
    case GR_DTYPE_U64: STORE(uint64_t, to_int(v, 0, UINT64_MAX)); break;
    case GR_DTYPE_BOOL: STORE(uint8_t, !is_zero(v)); break;
    case GR_DTYPE_NONE:
    case GR_DTYPE_COUNT: break;
    }
}

double gr_array_get_f64(const gr_array *x, uint64_t i) { return to_f64(load(x, i)); }
int64_t gr_array_get_i64(const gr_array *x, uint64_t i) { return (int64_t)to_int(load(x, i), INT64_MIN, INT64_MAX); }
void gr_array_set_f64(gr_array *x, uint64_t i, double v) { store(x, i, (number){.kind = NUMBER_FLOAT, .f = v}); }
void gr_array_set_i64(gr_array *x, uint64_t i, int64_t v) { store(x, i, (number){.kind = NUMBER_SIGNED, .i = v}); }

/* The same mathematical value (NaN is NaN). Mixed float and integer: 2^64 and beyond are no integers. */
static bool same_value(number p, number q) {
    if (p.kind == NUMBER_FLOAT && q.kind == NUMBER_FLOAT) return p.f == q.f || (gr_isnan(p.f) && gr_isnan(q.f));
    if (q.kind == NUMBER_FLOAT) return same_value(q, p);
    if (p.kind == NUMBER_FLOAT) {
        if (!(p.f >= -0x1p63 && p.f < 0x1p64) || p.f != gr_trunc(p.f)) return false;
        p = p.f < 0 ? (number){.kind = NUMBER_SIGNED, .i = (int64_t)p.f}
                    : (number){.kind = NUMBER_UNSIGNED, .u = (uint64_t)p.f};
    }
    bool p_neg = p.kind == NUMBER_SIGNED && p.i < 0, q_neg = q.kind == NUMBER_SIGNED && q.i < 0;
    return p_neg == q_neg && to_int(p, 0, 0) == to_int(q, 0, 0);
}

bool gr_array_convert(gr_arena *a, gr_diags *d, const gr_array *x, gr_dtype t, gr_array *out, uint64_t *inexact) {
    gr_array y;
    GR_TRY(gr_array_new(a, d, t, x->dims, x->rank, &y));
    uint64_t n = gr_array_count(x), changed = 0;
    for (uint64_t i = 0; i < n; i++) {
        number v = load(x, i);
        store(&y, i, v);
        changed += !same_value(v, load(&y, i));
    }
    if (inexact) *inexact = changed;
    *out = y;
    return true;
}

void gr_array_print_type(gr_buf *out, const gr_array *x) {
    gr_buf_printf(out, "%s[", gr_dtype_name(x->dtype));
    for (uint32_t i = 0; i < x->rank; i++) gr_buf_printf(out, "%s%llu", i ? ", " : "", (unsigned long long)x->dims[i]);
    gr_buf_putc(out, ']');
}

void gr_array_print_element(gr_buf *out, const gr_array *x, uint64_t i) {
    number v = load(x, i);
    if (v.kind == NUMBER_FLOAT && x->dtype == GR_DTYPE_F64) gr_buf_f64(out, v.f);
    else if (v.kind == NUMBER_FLOAT) gr_buf_f32(out, (float)v.f);
    else if (v.kind == NUMBER_SIGNED) gr_buf_printf(out, "%lld", (long long)v.i);
    else gr_buf_printf(out, "%llu", (unsigned long long)v.u);
}

void gr_array_print(gr_buf *out, const gr_array *x, uint64_t limit) {
    uint64_t n = gr_array_count(x), shown = limit && limit < n ? limit : n;
    uint64_t row = x->rank && x->dims[x->rank - 1] ? x->dims[x->rank - 1] : 1;
    gr_array_print_type(out, x);
    gr_buf_putc(out, '\n');
    for (uint64_t i = 0; i < shown; i++) {
        gr_array_print_element(out, x, i);
        gr_buf_putc(out, (i + 1) % row == 0 || i + 1 == shown ? '\n' : ' ');
    }
    if (shown < n) gr_buf_puts(out, "...\n");
}
