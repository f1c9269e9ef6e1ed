/* Initial values of parameters: counter-based, so that an element depends on seed, id and its number alone. */
#include "ladder/canvas/canvas_int.h"
#include "base/math.h"
#include "base/rng.h"

/* How many inputs a result has and how many results an input goes into. A matrix is [in, out] as the second operand of a product is;
 * more dimensions are [out, in, ...] as those of a convolution's filter. */
static void fans_of(const gr_canvas_node *n, double *in, double *out) {
    double area = 1;
    for (uint32_t i = 2; i < n->shape_n; i++) area *= (double)n->shape[i].n;
    double first = n->shape_n ? (double)n->shape[0].n : 1, second = n->shape_n > 1 ? (double)n->shape[1].n : 1;
    *in = n->shape_n <= 2 ? first : second * area;
    *out = n->shape_n <= 2 ? second : first * area;
    if (n->init.fan_in > 0) *in = n->init.fan_in;
    if (n->init.fan_out > 0) *out = n->init.fan_out;
}

/* The standard deviation by fan. */
static double deviation(const gr_canvas_node *n) {
    double in, out, variance = 1;
    fans_of(n, &in, &out);
    switch (n->init.kind) {
    case GR_INIT_LECUN_UNIFORM:
    case GR_INIT_LECUN_NORMAL: variance = 1 / in; break;
    case GR_INIT_KAIMING_UNIFORM:
    case GR_INIT_KAIMING_NORMAL: variance = 2 / in; break;
    case GR_INIT_XAVIER_UNIFORM:
    case GR_INIT_XAVIER_NORMAL: variance = 2 / (in + out); break;
    default: break;
    }
    return n->init.gain * gr_sqrt(variance);
}

/* [0, 1) with 53 bits from two words. */
static double unit(uint32_t hi, uint32_t lo) { return (double)(((uint64_t)hi << 32 | lo) >> 11) * 0x1p-53; }

/* N(0, 1) by Box and Muller from one block of random bits. */
static double normal(gr_u32x4 x) {
    double u = 1 - unit(x.v[0], x.v[1]), v = unit(x.v[2], x.v[3]);
    return gr_sqrt(-2 * gr_log(u)) * gr_cos(6.28318530717958647692 * v);
}

static double element(const gr_canvas_node *n, gr_u32x4 x, double spread) {
    const gr_canvas_init *i = &n->init;
    double u = unit(x.v[0], x.v[1]);
    switch (i->kind) {
    case GR_INIT_ONES: return 1;
    case GR_INIT_CONSTANT: return i->a;
    case GR_INIT_UNIFORM: return i->a + (i->b - i->a) * u;
    case GR_INIT_NORMAL: return i->a + i->b * normal(x);
    case GR_INIT_LECUN_UNIFORM:
    case GR_INIT_KAIMING_UNIFORM:
    case GR_INIT_XAVIER_UNIFORM: return spread * gr_sqrt(3) * (2 * u - 1); /* the same deviation as the normal one */
    case GR_INIT_LECUN_NORMAL:
    case GR_INIT_KAIMING_NORMAL:
    case GR_INIT_XAVIER_NORMAL: return spread * normal(x);
    default: return 0;
    }
}

bool gr_canvas_initial(gr_arena *a, gr_diags *d, const gr_canvas_node *n, uint64_t seed, gr_array *out) {
    uint64_t dims[GR_RANK_MAX], stream = 0, count;
    gr_sha256 id = gr_sha256_of(n->id.p, n->id.n);
    for (int i = 0; i < 8; i++) stream = stream << 8 | id.b[i];
    for (uint32_t i = 0; i < n->shape_n; i++) dims[i] = n->shape[i].n;
    GR_TRY(gr_array_new(a, d, n->dtype ? n->dtype : GR_DTYPE_F32, dims, n->shape_n, out));
    count = gr_array_count(out);
    double spread = deviation(n);
    for (uint64_t i = 0; i < count; i++) gr_array_set_f64(out, i, element(n, gr_philox(seed, stream, i), spread));
    return true;
}
