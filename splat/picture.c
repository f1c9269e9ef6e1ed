/* The picture of a view, ready for training. */
#include "splat/scene.h"

void gr_picture_free(gr_picture *p) {
    gr_image_free(&p->image);
    gr_image_free(&p->mask);
}

/* m becomes width x height; larger sizes are never asked for (scene.c scales down). */
static bool scale(gr_diags *d, gr_str name, gr_image *m, uint32_t width, uint32_t height) {
    gr_image s;
    if (m->width == width && m->height == height) return true;
    if (m->width < width || m->height < height)
        return gr_report(d, GR_D_SPLAT_IMAGE_SHAPE, (gr_place){.document = name}, NULL, "%u x %u pixels are fewer than the %u x %u that are needed", m->width, m->height, width, height);
    GR_TRY(gr_image_scale(d, name, m, width, height, &s));
    gr_image_free(m);
    *m = s;
    return true;
}

static bool undistort(gr_diags *d, const gr_view *v, gr_image *m, gr_image *seen) {
    gr_image flat;
    GR_TRY(gr_camera_undistort(d, v->path, &v->camera, m, &flat, seen));
    gr_image_free(m);
    *m = flat;
    return true;
}

/* A mask file's first channel (its alpha where it has one) from 128 on counts; combined with what the camera saw. */
static bool load_mask(gr_diags *d, const gr_view *v, gr_picture *out) {
    gr_image m = {0}, seen = {0};
    bool ok = gr_image_load(d, v->mask, &m) && gr_image_orient(d, v->mask, &m, v->orientation) && scale(d, v->mask, &m, v->camera.width, v->camera.height);
    if (ok && gr_camera_distorted(&v->camera)) ok = undistort(d, v, &m, &seen);
    if (ok && !out->mask.px) {
        ok = gr_image_new(d, v->mask, m.width, m.height, 1, &out->mask);
        if (ok) memset(out->mask.px, 255, (size_t)m.width * m.height);
    }
    for (size_t i = 0; ok && i < (size_t)m.width * m.height; i++) {
        const uint8_t *p = m.px + i * m.channels;
        if ((m.channels == 4 && p[3] < 128) || p[0] < 128) out->mask.px[i] = 0;
    }
    gr_image_free(&m);
    gr_image_free(&seen);
    return ok;
}

bool gr_picture_load(gr_diags *d, const gr_view *v, gr_picture *out) {
    *out = (gr_picture){0};
    bool ok = gr_image_load(d, v->path, &out->image) && gr_image_orient(d, v->path, &out->image, v->orientation) &&
              scale(d, v->path, &out->image, v->camera.width, v->camera.height);
    if (ok && gr_camera_distorted(&v->camera)) ok = undistort(d, v, &out->image, &out->mask);
    if (ok && v->mask.n) ok = load_mask(d, v, out);
    if (!ok) gr_picture_free(out);
    return ok;
}
