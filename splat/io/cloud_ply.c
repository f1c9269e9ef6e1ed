/* The standard 3DGS PLY (Kerbl et al., "3D Gaussian Splatting for Real-Time Radiance Field Rendering", 2023) and its chunked,
 * compressed sister as the PlayCanvas tools write it. */
#include "splat/io/cloud.h"

#include <stdio.h>

#include "base/math.h"
#include "splat/io/bytes.h"
#include "splat/io/ply.h"

enum { CHUNK = 256 };

static bool too_many(gr_diags *d, gr_str name, uint64_t n) {
    return gr_report(d, GR_D_SPLAT_PLY_DATA, (gr_place){.document = name}, NULL, "%llu splats are more than 2^31 - 1", (unsigned long long)n);
}

static bool missing(gr_diags *d, gr_str name, const char *property, const char *hint) {
    return gr_report(d, GR_D_SPLAT_PLY_PROPERTY, (gr_place){.document = name}, hint, "element vertex has no property %s", property);
}

/* ---- standard --------------------------------------------------------------------- */

/* f_rest_* present: 0, 9, 24 or 45; other counts are refused. */
static bool rest_degree(gr_diags *d, gr_str name, const gr_ply_element *e, uint32_t *degree) {
    char property[32];
    uint32_t n = 0;
    for (;; n++) {
        snprintf(property, sizeof property, "f_rest_%u", n);
        if (gr_ply_property_find(e, property) < 0) break;
    }
    for (uint32_t k = 0; k <= GR_SH_DEGREE_MAX; k++) {
        *degree = k;
        if (n == 3 * (gr_sh_count(k) - 1)) return true;
    }
    return gr_report(d, GR_D_SPLAT_PLY_PROPERTY, (gr_place){.document = name}, "degree 0 has none, 1 has 9, 2 has 24, 3 has 45",
                     "%u properties f_rest_* fit no degree of spherical harmonics", n);
}

static bool columns(gr_diags *d, const gr_ply *ply, const gr_ply_element *e, float *dst, uint32_t step, const char *const *names, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        int p = gr_ply_property_find(e, names[k]);
        if (p < 0) return missing(d, ply->name, names[k], "a point cloud is not a splat file: give it as data.points of a training");
        gr_ply_column_f32(ply, e, p, dst + k, step);
    }
    return true;
}

static bool read_standard(gr_arena *a, gr_diags *d, const gr_ply *ply, const gr_ply_element *e, gr_cloud *out) {
    static const char *const mean[] = {"x", "y", "z"}, *const scale[] = {"scale_0", "scale_1", "scale_2"}, *const opacity[] = {"opacity"},
                      *const rotation[] = {"rot_0", "rot_1", "rot_2", "rot_3"}, *const dc[] = {"f_dc_0", "f_dc_1", "f_dc_2"};
    uint32_t degree;
    if (e->count > INT32_MAX) return too_many(d, ply->name, e->count);
    GR_TRY(rest_degree(d, ply->name, e, &degree));
    GR_TRY(gr_cloud_new(a, d, (uint32_t)e->count, degree, out));
    uint32_t k = gr_sh_count(degree);
    GR_TRY(columns(d, ply, e, out->mean, 3, mean, 3));
    GR_TRY(columns(d, ply, e, out->scale, 3, scale, 3));
    GR_TRY(columns(d, ply, e, out->rotation, 4, rotation, 4));
    GR_TRY(columns(d, ply, e, out->opacity, 1, opacity, 1));
    GR_TRY(columns(d, ply, e, out->sh, 3 * k, dc, 3));
    for (uint32_t c = 0; c < 3; c++) /* the file keeps a colour channel's coefficients together */
        for (uint32_t i = 1; i < k; i++) {
            char name[32];
            snprintf(name, sizeof name, "f_rest_%u", c * (k - 1) + i - 1);
            gr_ply_column_f32(ply, e, gr_ply_property_find(e, name), out->sh + 3 * i + c, 3 * k);
        }
    return true;
}

static void write_header(gr_buf *b, const gr_cloud *c) {
    gr_buf_printf(b, "ply\nformat binary_little_endian 1.0\nelement vertex %u\n", c->n);
    static const char *const first[] = {"x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2"},
                      *const last[] = {"opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) gr_buf_printf(b, "property float %s\n", first[i]);
    for (uint32_t i = 0; i < 3 * (gr_sh_count(c->sh_degree) - 1); i++) gr_buf_printf(b, "property float f_rest_%u\n", i);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) gr_buf_printf(b, "property float %s\n", last[i]);
    gr_buf_puts(b, "end_header\n");
}

bool gr_cloud_write_ply(gr_buf *out, const gr_cloud *c) {
    uint32_t k = gr_sh_count(c->sh_degree);
    write_header(out, c);
    for (size_t i = 0; i < c->n && !out->failed; i++) {
        const float *sh = c->sh + i * 3 * k;
        for (int j = 0; j < 3; j++) gr_put_f32(out, c->mean[3 * i + (size_t)j]);
        for (int j = 0; j < 3; j++) gr_put_f32(out, 0);
        for (int j = 0; j < 3; j++) gr_put_f32(out, sh[j]);
        for (uint32_t j = 0; j < 3; j++)
            for (uint32_t m = 1; m < k; m++) gr_put_f32(out, sh[3 * m + j]);
        gr_put_f32(out, c->opacity[i]);
        for (int j = 0; j < 3; j++) gr_put_f32(out, c->scale[3 * i + (size_t)j]);
        for (int j = 0; j < 4; j++) gr_put_f32(out, c->rotation[4 * i + (size_t)j]);
    }
    return !out->failed;
}

/* ---- compressed ------------------------------------------------------------------- */

typedef struct packed {
    const gr_ply *ply;
    const gr_ply_element *chunk, *vertex, *sh;
    int bound[18];  /* columns of the chunk; the last six are -1 in old files: colours from 0 to 1 */
    int column[4];  /* position, rotation, scale, colour */
} packed;

static double unorm(uint32_t v, uint32_t bits) {
    uint32_t top = (1u << bits) - 1;
    return (double)(v & top) / top;
}

static double between(const packed *p, uint64_t chunk, int k, double t) {
    double lo = gr_ply_get(p->ply, p->chunk, chunk, p->bound[k]), hi = gr_ply_get(p->ply, p->chunk, chunk, p->bound[k + 3]);
    return lo * (1 - t) + hi * t;
}

static void unpack_11_10_11(uint32_t v, double t[3]) {
    t[0] = unorm(v >> 21, 11);
    t[1] = unorm(v >> 11, 10);
    t[2] = unorm(v, 11);
}

/* The three smallest of w x y z, in that order, 10 bits each from -1/sqrt 2 to 1/sqrt 2; the index of the fourth in the two top bits. */
static void unpack_rotation(uint32_t v, float q[4]) {
    double sum = 0;
    uint32_t largest = v >> 30, shift = 20;
    for (uint32_t i = 0; i < 4; i++) {
        if (i == largest) continue;
        double x = (unorm(v >> shift, 10) - 0.5) * 1.4142135623730951;
        q[i] = (float)x;
        sum += x * x;
        shift -= 10;
    }
    q[largest] = (float)gr_sqrt(sum < 1 ? 1 - sum : 0);
}

static void unpack_splat(const packed *p, uint64_t i, gr_cloud *out) {
    uint32_t v[4], k = gr_sh_count(out->sh_degree);
    uint64_t c = i / CHUNK;
    double t[3];
    for (int j = 0; j < 4; j++) v[j] = (uint32_t)gr_ply_get(p->ply, p->vertex, i, p->column[j]);
    unpack_11_10_11(v[0], t);
    for (int j = 0; j < 3; j++) out->mean[3 * i + (uint64_t)j] = (float)between(p, c, j, t[j]);
    unpack_rotation(v[1], out->rotation + 4 * i);
    unpack_11_10_11(v[2], t);
    for (int j = 0; j < 3; j++) out->scale[3 * i + (uint64_t)j] = (float)between(p, c, 6 + j, t[j]);
    for (int j = 0; j < 3; j++) {
        double x = unorm(v[3] >> (24 - 8 * j), 8);
        if (p->bound[12] >= 0) x = between(p, c, 12 + j, x);
        out->sh[i * 3 * k + (uint64_t)j] = (float)((x - 0.5) / GR_SH_C0);
    }
    double o = unorm(v[3], 8); /* 0 and 1 have no finite logit: half a step inside */
    o = o < 0.5 / 255 ? 0.5 / 255 : o > 254.5 / 255 ? 254.5 / 255 : o;
    out->opacity[i] = (float)gr_log(o / (1 - o));
}

static void unpack_sh(const packed *p, gr_cloud *out) {
    uint32_t k = gr_sh_count(out->sh_degree);
    for (uint32_t c = 0; p->sh && c < 3; c++)
        for (uint32_t m = 1; m < k; m++) {
            char name[32];
            snprintf(name, sizeof name, "f_rest_%u", c * (k - 1) + m - 1);
            int column = gr_ply_property_find(p->sh, name);
            for (uint64_t i = 0; i < out->n; i++) {
                double v = gr_ply_get(p->ply, p->sh, i, column), t = v <= 0 ? 0 : v >= 255 ? 1 : (v + 0.5) / 256;
                out->sh[i * 3 * k + 3 * m + c] = (float)((t - 0.5) * 8);
            }
        }
}

static bool packed_columns(gr_diags *d, packed *p) {
    static const char *const bound[] = {"min_x", "min_y", "min_z", "max_x", "max_y", "max_z", "min_scale_x", "min_scale_y", "min_scale_z",
        "max_scale_x", "max_scale_y", "max_scale_z", "min_r", "min_g", "min_b", "max_r", "max_g", "max_b"};
    static const char *const column[] = {"packed_position", "packed_rotation", "packed_scale", "packed_color"};
    for (int k = 0; k < 18; k++) {
        p->bound[k] = gr_ply_property_find(p->chunk, bound[k]);
        if (p->bound[k] < 0 && (k < 12 || p->bound[12] >= 0))
            return gr_report(d, GR_D_SPLAT_PLY_PROPERTY, (gr_place){.document = p->ply->name}, NULL, "element chunk has no property %s", bound[k]);
    }
    for (int k = 0; k < 4; k++) {
        p->column[k] = gr_ply_property_find(p->vertex, column[k]);
        if (p->column[k] < 0) return missing(d, p->ply->name, column[k], NULL);
    }
    return true;
}

static bool read_packed(gr_arena *a, gr_diags *d, const gr_ply *ply, const gr_ply_element *chunk, const gr_ply_element *vertex, gr_cloud *out) {
    packed p = {.ply = ply, .chunk = chunk, .vertex = vertex, .sh = gr_ply_find(ply, "sh")};
    uint32_t degree = 0;
    GR_TRY(packed_columns(d, &p));
    if (vertex->count > INT32_MAX) return too_many(d, ply->name, vertex->count);
    if (p.sh) GR_TRY(rest_degree(d, ply->name, p.sh, &degree));
    if (chunk->lists || vertex->lists || (p.sh && p.sh->lists) || chunk->count < (vertex->count + CHUNK - 1) / CHUNK ||
        (p.sh && p.sh->count < vertex->count))
        return gr_report(d, GR_D_SPLAT_PLY_DATA, (gr_place){.document = ply->name}, NULL,
                         "%llu chunks of %d and %llu rows of sh do not cover %llu splats", (unsigned long long)chunk->count, CHUNK,
                         (unsigned long long)(p.sh ? p.sh->count : 0), (unsigned long long)vertex->count);
    GR_TRY(gr_cloud_new(a, d, (uint32_t)vertex->count, degree, out));
    for (uint64_t i = 0; i < vertex->count; i++) unpack_splat(&p, i, out);
    unpack_sh(&p, out);
    return true;
}

bool gr_cloud_read_ply(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_cloud *out, gr_cloud_format *format) {
    gr_ply ply;
    GR_TRY(gr_ply_read(a, d, name, bytes, &ply));
    const gr_ply_element *vertex = gr_ply_find(&ply, "vertex"), *chunk = gr_ply_find(&ply, "chunk");
    if (!vertex || vertex->lists)
        return gr_report(d, GR_D_SPLAT_PLY_PROPERTY, (gr_place){.document = name}, NULL, "there is no element vertex of plain numbers");
    bool compressed = chunk && gr_ply_property_find(vertex, "packed_position") >= 0;
    *format = compressed ? GR_CLOUD_COMPRESSED_PLY : GR_CLOUD_PLY;
    return compressed ? read_packed(a, d, &ply, chunk, vertex, out) : read_standard(a, d, &ply, vertex, out);
}
