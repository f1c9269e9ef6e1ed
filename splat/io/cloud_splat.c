/* The .splat format of web viewers: 32 bytes a splat, nothing else. Position and scale as f32, colour and opacity as bytes, the
 * quaternion w x y z as bytes around 128. */
#include "splat/io/cloud.h"

#include "base/math.h"
#include "splat/io/bytes.h"

enum { RECORD = 32 };

bool gr_cloud_read_splat(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_cloud *out) {
    if (bytes.n % RECORD || bytes.n / RECORD > INT32_MAX)
        return gr_report(d, GR_D_SPLAT_SPLAT_SIZE, (gr_place){.document = name}, "the file was cut off, or is of another format",
                         "%zu bytes are no whole number of splats of %d bytes", bytes.n, RECORD);
    GR_TRY(gr_cloud_new(a, d, (uint32_t)(bytes.n / RECORD), 0, out));
    const uint8_t *p = (const uint8_t *)bytes.p;
    for (size_t i = 0; i < out->n; i++, p += RECORD) {
        for (size_t j = 0; j < 3; j++) {
            double s = gr_get_f32(p + 12 + 4 * j);
            out->mean[3 * i + j] = gr_get_f32(p + 4 * j);
            out->scale[3 * i + j] = (float)gr_log(s > 1e-30 ? s : 1e-30); /* 0 has no logarithm */
            out->sh[3 * i + j] = (float)((p[24 + j] / 255.0 - 0.5) / GR_SH_C0);
        }
        double o = p[27] / 255.0;
        o = o < 0.5 / 255 ? 0.5 / 255 : o > 254.5 / 255 ? 254.5 / 255 : o;
        out->opacity[i] = (float)gr_log(o / (1 - o));
        for (size_t j = 0; j < 4; j++) out->rotation[4 * i + j] = ((float)p[28 + j] - 128) / 128;
    }
    return true;
}

static char byte(double v) { return (char)(uint8_t)(v > 0 ? v < 255 ? gr_floor(v + 0.5) : 255 : 0); }

bool gr_cloud_write_splat(gr_buf *out, gr_diags *d, gr_str name, const gr_cloud *c) {
    uint32_t k = gr_sh_count(c->sh_degree);
    if (k > 1)
        gr_report(d, GR_D_SPLAT_LOSSY, (gr_place){.document = name}, "write .ply to keep everything, .spz to keep the harmonics in 8 bits",
                  ".splat keeps the base colour alone: %u coefficients of each splat are dropped", k - 1);
    for (size_t i = 0; i < c->n && !out->failed; i++) {
        const float *q = c->rotation + 4 * i;
        char tail[8];
        double norm = gr_sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
        for (size_t j = 0; j < 3; j++) gr_put_f32(out, c->mean[3 * i + j]);
        for (size_t j = 0; j < 3; j++) gr_put_f32(out, (float)gr_exp(c->scale[3 * i + j]));
        for (size_t j = 0; j < 3; j++) tail[j] = byte((c->sh[i * 3 * k + j] * GR_SH_C0 + 0.5) * 255);
        tail[3] = byte(255 / (1 + gr_exp(-(double)c->opacity[i])));
        for (size_t j = 0; j < 4; j++) tail[4 + j] = byte((norm > 0 ? q[j] / norm : j == 0) * 128 + 128);
        gr_buf_put(out, tail, 8);
    }
    return !out->failed || gr_report_oom(d);
}
