#include "splat/camera.h"

#include "base/math.h"

static const struct { const char *name; uint32_t params; } models[GR_CAMERA_MODELS] = {
    {"SIMPLE_PINHOLE", 3}, {"PINHOLE", 4}, {"SIMPLE_RADIAL", 4}, {"RADIAL", 5}, {"OPENCV", 8}, {"OPENCV_FISHEYE", 8},
};

const char *gr_camera_model_name(gr_camera_model m) { return m < GR_CAMERA_MODELS ? models[m].name : "unknown"; }
uint32_t gr_camera_model_params(gr_camera_model m) { return m < GR_CAMERA_MODELS ? models[m].params : 0; }

gr_camera_model gr_camera_model_find(gr_str name) {
    uint32_t m = 0;
    while (m < GR_CAMERA_MODELS && !gr_str_eqz(name, models[m].name)) m++;
    return (gr_camera_model)m;
}

static bool finite_(double v) { return v - v == 0; }

bool gr_camera_make(gr_diags *d, gr_str document, const char *who, gr_camera_model m, uint32_t width, uint32_t height, const double *v, gr_camera *out) {
    bool one = m == GR_CAMERA_SIMPLE_PINHOLE || m == GR_CAMERA_SIMPLE_RADIAL || m == GR_CAMERA_RADIAL, good = true;
    uint32_t at = one ? 3 : 4; /* after f cx cy, or fx fy cx cy */
    *out = (gr_camera){.width = width, .height = height, .fx = v[0], .fy = v[one ? 0 : 1], .cx = v[at - 2], .cy = v[at - 1]};
    out->fisheye = m == GR_CAMERA_OPENCV_FISHEYE;
    for (uint32_t i = at; i < models[m].params; i++) {
        if (m == GR_CAMERA_OPENCV && i >= 6) out->p[i - 6] = v[i];
        else out->k[i - at] = v[i];
    }
    for (uint32_t i = 0; i < models[m].params; i++) good = good && finite_(v[i]);
    if (!good || !(out->fx > 0) || !(out->fy > 0) || !width || !height || width > GR_IMAGE_SIDE_MAX || height > GR_IMAGE_SIDE_MAX)
        return gr_report(d, GR_D_SPLAT_CAMERA, (gr_place){.document = document}, "focal lengths are positive pixels, sides 1 to 65535",
                         "%s: %s of %u x %u pixels with focal lengths %g and %g is no camera", who, models[m].name, width, height, out->fx, out->fy);
    return true;
}

bool gr_camera_distorted(const gr_camera *c) {
    return c->fisheye || c->k[0] != 0 || c->k[1] != 0 || c->p[0] != 0 || c->p[1] != 0;
}

gr_camera gr_camera_resize(const gr_camera *c, uint32_t width, uint32_t height) {
    gr_camera r = *c;
    double sx = (double)width / c->width, sy = (double)height / c->height;
    r.width = width, r.height = height;
    r.fx *= sx, r.cx *= sx;
    r.fy *= sy, r.cy *= sy;
    return r;
}

gr_camera gr_camera_pinhole(const gr_camera *c) {
    return (gr_camera){.width = c->width, .height = c->height, .fx = c->fx, .fy = c->fy, .cx = c->cx, .cy = c->cy};
}

/* OpenCV's models: radial r (1 + k1 r^2 + k2 r^4) with tangential terms; fisheye theta (1 + k1 theta^2 + ... + k4 theta^8). */
bool gr_camera_distort(const gr_camera *c, double x, double y, double *u, double *v) {
    double r2 = x * x + y * y;
    if (c->fisheye) {
        double r = gr_sqrt(r2), theta = gr_atan(r), t2 = theta * theta;
        double radial = 1 + t2 * (c->k[0] + t2 * (c->k[1] + t2 * (c->k[2] + t2 * c->k[3])));
        double slope = 1 + t2 * (3 * c->k[0] + t2 * (5 * c->k[1] + t2 * (7 * c->k[2] + t2 * 9 * c->k[3])));
        double scale = r > 1e-12 ? theta * radial / r : 1;
        *u = x * scale, *v = y * scale;
        return slope > 0;
    }
    double radial = 1 + r2 * (c->k[0] + r2 * c->k[1]), slope = 1 + r2 * (3 * c->k[0] + r2 * 5 * c->k[1]);
    *u = x * radial + 2 * c->p[0] * x * y + c->p[1] * (r2 + 2 * x * x);
    *v = y * radial + 2 * c->p[1] * x * y + c->p[0] * (r2 + 2 * y * y);
    return slope > 0;
}

/* Between the four pixels around (x, y), where pixel centres are at halves; the border's own pixels continue half a pixel out. */
static void sample(const gr_image *m, double x, double y, uint8_t *out) {
    double fx = gr_floor(x - 0.5), fy = gr_floor(y - 0.5), wx = x - 0.5 - fx, wy = y - 0.5 - fy;
    int64_t ix = (int64_t)fx, iy = (int64_t)fy;
    const uint8_t *p[4];
    for (int i = 0; i < 4; i++) {
        int64_t sx = ix + (i & 1), sy = iy + (i >> 1);
        sx = sx < 0 ? 0 : sx < m->width ? sx : (int64_t)m->width - 1;
        sy = sy < 0 ? 0 : sy < m->height ? sy : (int64_t)m->height - 1;
        p[i] = m->px + ((size_t)sy * m->width + (size_t)sx) * m->channels;
    }
    for (uint32_t c = 0; c < m->channels; c++) {
        double top = p[0][c] * (1 - wx) + p[1][c] * wx, bottom = p[2][c] * (1 - wx) + p[3][c] * wx;
        out[c] = (uint8_t)gr_floor(top * (1 - wy) + bottom * wy + 0.5);
    }
}

bool gr_camera_undistort(gr_diags *d, gr_str name, const gr_camera *c, const gr_image *m, gr_image *out, gr_image *mask) {
    *mask = (gr_image){0};
    GR_TRY(gr_image_new(d, name, m->width, m->height, m->channels, out));
    if (!gr_image_new(d, name, m->width, m->height, 1, mask)) {
        gr_image_free(out);
        return false;
    }
    for (uint32_t y = 0; y < m->height; y++)
        for (uint32_t x = 0; x < m->width; x++) {
            double u, v;
            size_t i = (size_t)y * m->width + x;
            if (!gr_camera_distort(c, (x + 0.5 - c->cx) / c->fx, (y + 0.5 - c->cy) / c->fy, &u, &v)) continue;
            u = u * c->fx + c->cx, v = v * c->fy + c->cy;
            if (!(u >= 0 && v >= 0 && u <= m->width && v <= m->height)) continue;
            sample(m, u, v, out->px + i * m->channels);
            mask->px[i] = 255;
        }
    return true;
}

bool gr_pose_from_quaternion(const double q[4], const double t[3], gr_pose *out) {
    double n = gr_sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), w = q[0] / n, x = q[1] / n, y = q[2] / n, z = q[3] / n;
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), 1 - 2 * (x * x + z * z),
                         2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
    memcpy(out->r, r, sizeof r);
    memcpy(out->t, t, sizeof out->t);
    return finite_(n) && n > 1e-12 && finite_(t[0]) && finite_(t[1]) && finite_(t[2]);
}

bool gr_pose_from_opengl(const double m[16], gr_pose *out) {
    double column[3][3], centre[3] = {m[3], m[7], m[11]}, scale = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) column[j][i] = m[4 * i + j] * (j ? -1 : 1);
    for (int i = 0; i < 3; i++) scale += column[0][i] * column[0][i];
    scale = gr_sqrt(scale);
    if (!finite_(scale) || !(scale > 1e-9)) return false;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) out->r[3 * j + i] = column[j][i] / scale;
    for (int j = 0; j < 3; j++) out->t[j] = -(out->r[3 * j] * centre[0] + out->r[3 * j + 1] * centre[1] + out->r[3 * j + 2] * centre[2]);
    for (int j = 0; j < 3; j++) /* rows of unit length, at right angles */
        for (int k = j; k < 3; k++) {
            double dot = 0;
            for (int i = 0; i < 3; i++) dot += out->r[3 * j + i] * out->r[3 * k + i];
            if (!(gr_fabs(dot - (j == k)) < 1e-2)) return false;
        }
    const double *r = out->r;
    double det = r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
    return det > 0 && finite_(out->t[0]) && finite_(out->t[1]) && finite_(out->t[2]);
}

void gr_pose_centre(const gr_pose *p, double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = -(p->r[i] * p->t[0] + p->r[3 + i] * p->t[1] + p->r[6 + i] * p->t[2]);
}
