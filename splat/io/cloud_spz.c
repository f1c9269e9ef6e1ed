/* SPZ of Niantic: 9 bytes of position, 3 of scale, 3 or 4 of rotation, opacity, colour and harmonics in bytes. Versions 1 to 3 are
 * one gzip stream behind a 16-byte header, 4 has a plain 32-byte header and one zstd stream an attribute. Coordinates are right,
 * up, back: y and z change their sign against ours. */
#include "splat/io/cloud.h"

#include "base/math.h"
#include "splat/io/bytes.h"
#include "splat/io/zip.h"

enum { MAGIC = 0x5053474e, HEADER = 16, HEADER_4 = 32, FRACTION = 12, COLOUR_SCALE_PERCENT = 15, FLAG_ANTIALIASED = 1 };

/* The sign of each harmonic of degrees 1 to 3 under (x, y, z) -> (x, -y, -z). */
static const float sh_sign[GR_SH_MAX] = {1, -1, -1, 1, -1, 1, 1, -1, 1, -1, 1, -1, -1, 1, -1, 1};

typedef struct spz {
    uint32_t version, n, degree, fraction;
    bool antialiased;
    const uint8_t *position, *alpha, *colour, *scale, *rotation, *sh;
} spz;

static bool fail(gr_diags *d, gr_str name, const char *what, uint64_t got) {
    return gr_report(d, GR_D_SPLAT_SPZ, (gr_place){.document = name}, NULL, "%s: %llu", what, (unsigned long long)got);
}

static bool header(gr_diags *d, gr_str name, const uint8_t *p, spz *s) {
    s->version = gr_get_u32(p + 4);
    s->n = gr_get_u32(p + 8);
    s->degree = p[12];
    s->fraction = p[13];
    s->antialiased = p[14] & FLAG_ANTIALIASED;
    if (gr_get_u32(p) != MAGIC) return fail(d, name, "the header does not begin with the mark of SPZ but with", gr_get_u32(p));
    if (s->version < 1 || s->version > 4) return fail(d, name, "versions 1 to 4 are known, the file has version", s->version);
    if (s->degree > 4) return fail(d, name, "spherical harmonics have degrees 0 to 4, the file has", s->degree);
    if (s->fraction > 23) return fail(d, name, "positions have up to 23 fractional bits, the file has", s->fraction);
    if (s->n > INT32_MAX) return fail(d, name, "more splats than can be held", s->n);
    return true;
}

/* Bytes a splat of each attribute in file order. */
static void sizes(const spz *s, size_t out[6]) {
    out[0] = s->version == 1 ? 6 : 9;
    out[1] = 1, out[2] = 3, out[3] = 3;
    out[4] = s->version >= 3 ? 4 : 3;
    out[5] = 3 * ((size_t)(s->degree + 1) * (s->degree + 1) - 1);
}

static bool place(gr_diags *d, gr_str name, spz *s, const uint8_t *p, size_t n) {
    const uint8_t **part[6] = {&s->position, &s->alpha, &s->colour, &s->scale, &s->rotation, &s->sh};
    size_t size[6], at = 0;
    sizes(s, size);
    for (int i = 0; i < 6; i++) {
        *part[i] = p + at;
        at += size[i] * s->n;
    }
    if (at <= n) return true;
    return gr_report(d, GR_D_SPLAT_SPZ, (gr_place){.document = name}, "the file was cut off: copy it again",
                     "%u splats need %zu bytes, the file has %zu", s->n, at, n);
}

/* Version 4: a table of (packed, unpacked) sizes, then the streams; empty attributes have none. */
static bool streams(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, spz *s) {
    const uint8_t *p = (const uint8_t *)bytes.p;
    uint32_t count = p[15], toc = gr_get_u32(p + 16), used = 0;
    size_t size[6], total = 0, at;
    sizes(s, size);
    for (int i = 0; i < 6; i++) total += size[i] * s->n, used += size[i] * s->n > 0;
    if (count != used || toc < HEADER_4 || toc > bytes.n || 16u * count > bytes.n - toc) return fail(d, name, "the table of streams does not fit; streams", count);
    at = toc + 16u * count;
    if (s->n && total / 4096 > bytes.n) return fail(d, name, "the file is too small for its splats", s->n);
    uint8_t *out = gr_arena_alloc(a, total + 1, 1), *to = out;
    if (!out) return gr_report_oom(d);
    for (uint32_t i = 0, k = 0; k < 6; k++) {
        uint64_t packed = i < count ? gr_get_u64(p + toc + 16u * i) : 0, plain = i < count ? gr_get_u64(p + toc + 16u * i + 8) : 0;
        if (size[k] * s->n == 0) continue;
        if (plain != size[k] * s->n || packed > bytes.n - at) return fail(d, name, "a stream has another size than its splats need", plain);
        GR_TRY(gr_unzstd(d, GR_D_SPLAT_SPZ, name, (gr_str){bytes.p + at, (size_t)packed}, to, (size_t)plain));
        at += (size_t)packed, to += plain, i++;
    }
    return place(d, name, s, out, total);
}

static bool unpack(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, spz *s) {
    gr_str plain;
    if (gr_str_starts(bytes, "NGSP")) {
        if (bytes.n < HEADER_4) return fail(d, name, "the file is shorter than a header; bytes", bytes.n);
        GR_TRY(header(d, name, (const uint8_t *)bytes.p, s));
        if (s->version < 4) return fail(d, name, "the file is not packed, as it must be in version", s->version);
        return streams(a, d, name, bytes, s);
    }
    size_t limit = bytes.n < ((size_t)4 << 30) / 1032 ? bytes.n * 1032 : (size_t)4 << 30;
    GR_TRY(gr_gunzip(a, d, GR_D_SPLAT_SPZ, name, bytes, limit, &plain));
    if (plain.n < HEADER) return fail(d, name, "the file is shorter than a header; bytes", plain.n);
    GR_TRY(header(d, name, (const uint8_t *)plain.p, s));
    if (s->version > 3) return fail(d, name, "a gzip file has version 1 to 3, not", s->version);
    return place(d, name, s, (const uint8_t *)plain.p + HEADER, plain.n - HEADER);
}

static void rotation_of(const spz *s, size_t i, float q[4]) {
    double v[4] = {0}, sum = 0; /* x y z w */
    uint32_t largest = 3;
    if (s->version < 3) {
        for (size_t j = 0; j < 3; j++) v[j] = s->rotation[3 * i + j] / 127.5 - 1;
    } else {
        uint32_t bits = gr_get_u32(s->rotation + 4 * i);
        largest = bits >> 30;
        for (int j = 3; j >= 0; j--) {
            if ((uint32_t)j == largest) continue;
            v[j] = 0.70710678118654752 * (bits & 511) / 511.0 * (bits & 512 ? -1 : 1);
            bits >>= 10;
        }
    }
    for (int j = 0; j < 4; j++) sum += v[j] * v[j];
    v[largest] = gr_sqrt(sum < 1 ? 1 - sum : 0);
    q[0] = (float)v[3], q[1] = (float)v[0], q[2] = (float)-v[1], q[3] = (float)-v[2];
}

static float position_of(const spz *s, size_t i, size_t j) {
    if (s->version == 1) return gr_f32_from_f16(gr_get_u16(s->position + 6 * i + 2 * j));
    const uint8_t *p = s->position + 9 * i + 3 * j;
    int32_t v = (int32_t)((uint32_t)p[0] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 24) / 256;
    return (float)((double)v / (double)(1u << s->fraction));
}

bool gr_cloud_read_spz(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_cloud *out) {
    spz s = {0};
    GR_TRY(unpack(a, d, name, bytes, &s));
    uint32_t degree = s.degree < GR_SH_DEGREE_MAX ? s.degree : GR_SH_DEGREE_MAX, k = gr_sh_count(degree), rest = (s.degree + 1) * (s.degree + 1) - 1;
    if (s.degree > GR_SH_DEGREE_MAX)
        gr_report(d, GR_D_SPLAT_LOSSY, (gr_place){.document = name}, NULL, "harmonics of degree %u are read up to degree %d", s.degree, GR_SH_DEGREE_MAX);
    GR_TRY(gr_cloud_new(a, d, s.n, degree, out));
    out->antialiased = s.antialiased;
    for (size_t i = 0; i < s.n; i++) {
        double o = s.alpha[i] / 255.0;
        o = o < 0.5 / 255 ? 0.5 / 255 : o > 254.5 / 255 ? 254.5 / 255 : o;
        out->opacity[i] = (float)gr_log(o / (1 - o));
        rotation_of(&s, i, out->rotation + 4 * i);
        for (size_t j = 0; j < 3; j++) {
            out->mean[3 * i + j] = position_of(&s, i, j) * (j ? -1.0f : 1.0f);
            out->scale[3 * i + j] = (float)s.scale[3 * i + j] / 16 - 10;
            out->sh[i * 3 * k + j] = (float)((s.colour[3 * i + j] / 255.0 - 0.5) * 100 / COLOUR_SCALE_PERCENT);
            for (size_t m = 1; m < k; m++)
                out->sh[i * 3 * k + 3 * m + j] = sh_sign[m] * ((float)s.sh[i * 3 * rest + 3 * (m - 1) + j] - 128) / 128;
        }
    }
    return true;
}

/* ---- writing ------------------------------------------------------------------------ */

static uint8_t byte(double v) { return (uint8_t)(v > 0 ? v < 255 ? gr_floor(v + 0.5) : 255 : 0); }

/* Away from zero at halves, as round() of the reference writer does. */
static double rounded(double v) { return v < 0 ? -gr_floor(0.5 - v) : gr_floor(v + 0.5); }

static uint32_t rotation_bits(const float q[4]) {
    double v[4] = {q[1], -(double)q[2], -(double)q[3], q[0]}, norm = 0;
    uint32_t largest = 0, bits;
    for (int j = 0; j < 4; j++) norm += v[j] * v[j];
    norm = gr_sqrt(norm);
    if (!(norm > 0)) v[0] = v[1] = v[2] = 0, v[3] = norm = 1;
    for (uint32_t j = 1; j < 4; j++)
        if (gr_fabs(v[j]) > gr_fabs(v[largest])) largest = j;
    bool negate = v[largest] < 0;
    bits = largest;
    for (uint32_t j = 0; j < 4; j++) {
        if (j == largest) continue;
        uint32_t magnitude = (uint32_t)(511 * (gr_fabs(v[j]) / norm / 0.70710678118654752) + 0.5);
        bits = bits << 10 | (uint32_t)((v[j] < 0) != negate) << 9 | (magnitude < 511 ? magnitude : 511);
    }
    return bits;
}

/* A harmonic in 8 bits of which only the top 5 (degree 1) or 4 vary, so that it packs well; 0 stays 0. */
static char sh_byte(double v, size_t coefficient) {
    int bucket = coefficient < 4 ? 8 : 16;
    double x = rounded(v * 128) + 128;
    int q = x > 0 ? x < 255 ? (int)x : 255 : 0;
    q = (q + bucket / 2) / bucket * bucket;
    return (char)(uint8_t)(q < 255 ? q : 255);
}

static uint32_t put_positions(gr_buf *b, const gr_cloud *c) {
    uint32_t clamped = 0;
    for (size_t i = 0; i < 3 * (size_t)c->n; i++) {
        double v = rounded((double)c->mean[i] * (1 << FRACTION) * (i % 3 ? -1 : 1));
        if (!(v >= -8388608)) v = -8388608, clamped++;
        if (v > 8388607) v = 8388607, clamped++;
        uint32_t u = (uint32_t)(int32_t)v;
        const char p[3] = {(char)u, (char)(u >> 8), (char)(u >> 16)};
        gr_buf_put(b, p, 3);
    }
    return clamped;
}

static void put_rest(gr_buf *b, const gr_cloud *c) {
    uint32_t k = gr_sh_count(c->sh_degree);
    for (size_t i = 0; i < c->n; i++) gr_buf_putc(b, (char)byte(255 / (1 + gr_exp(-(double)c->opacity[i]))));
    for (size_t i = 0; i < 3 * (size_t)c->n; i++)
        gr_buf_putc(b, (char)byte((double)c->sh[i / 3 * 3 * k + i % 3] * COLOUR_SCALE_PERCENT / 100 * 255 + 127.5));
    for (size_t i = 0; i < 3 * (size_t)c->n; i++) gr_buf_putc(b, (char)byte(((double)c->scale[i] + 10) * 16));
    for (size_t i = 0; i < c->n; i++) gr_put_u32(b, rotation_bits(c->rotation + 4 * i));
    for (size_t i = 0; i < c->n; i++)
        for (size_t m = 1; m < k; m++)
            for (size_t j = 0; j < 3; j++) gr_buf_putc(b, sh_byte((double)(sh_sign[m] * c->sh[i * 3 * k + 3 * m + j]), m));
}

bool gr_cloud_write_spz(gr_buf *out, gr_diags *d, gr_str name, const gr_cloud *c) {
    gr_buf b = {0};
    const char tail[4] = {(char)c->sh_degree, FRACTION, c->antialiased ? FLAG_ANTIALIASED : 0, 0};
    gr_put_u32(&b, MAGIC);
    gr_put_u32(&b, 3);
    gr_put_u32(&b, c->n);
    gr_buf_put(&b, tail, 4);
    uint32_t clamped = put_positions(&b, c);
    put_rest(&b, c);
    if (clamped)
        gr_report(d, GR_D_SPLAT_LOSSY, (gr_place){.document = name}, "write .ply, or move the scene nearer to the origin",
                  "%u coordinates are outside -2048 to 2048, which SPZ holds with %d fractional bits, and were brought to the edge", clamped, FRACTION);
    bool ok = b.failed ? gr_report_oom(d) : gr_gzip(out, d, name, gr_buf_view(&b));
    gr_buf_free(&b);
    return ok;
}
