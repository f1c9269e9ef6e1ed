/* COLMAP's binary files: a count, then records without padding, little-endian. */
#include <stdio.h>

#include "splat/io/bytes.h"
#include "splat/io/colmap.h"

static bool cut(gr_diags *d, gr_str name, const char *what, uint64_t i, uint64_t n, size_t at) {
    return gr_report(d, GR_D_SPLAT_COLMAP_CUT, (gr_place){.document = name}, "the file was cut off: copy it again",
                     "the file ends in %s %llu of %llu, %zu bytes in", what, (unsigned long long)i, (unsigned long long)n, at);
}

/* The count in front, believed only as far as the file can hold records of `least` bytes. */
static bool count_of(gr_diags *d, gr_str name, gr_bytes *b, const char *what, size_t least, uint64_t *n) {
    *n = gr_bytes_u64(b);
    if (b->short_) return cut(d, name, "the count of its records,", 0, 0, b->at);
    if (*n > gr_bytes_left(b) / least) return cut(d, name, what, gr_bytes_left(b) / least, *n, b->n);
    return true;
}

bool gr_colmap_cameras_bin(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_colmap *out) {
    gr_bytes b = gr_bytes_of(bytes);
    uint64_t n;
    GR_TRY(count_of(d, name, &b, "camera", 24 + 3 * 8, &n));
    for (uint64_t i = 0; i < n; i++) {
        double params[8];
        char who[32];
        uint32_t id = gr_bytes_u32(&b), model = gr_bytes_u32(&b);
        uint64_t width = gr_bytes_u64(&b), height = gr_bytes_u64(&b);
        if (b.short_) return cut(d, name, "camera", i, n, b.at);
        snprintf(who, sizeof who, "camera %u", id);
        if (model >= GR_CAMERA_MODELS)
            return gr_report(d, GR_D_SPLAT_CAMERA_MODEL, (gr_place){.document = name}, "undistort the pictures with COLMAP's image_undistorter",
                             "%s has model number %u; models 0 to %d (SIMPLE_PINHOLE to OPENCV_FISHEYE) are known", who, model, GR_CAMERA_MODELS - 1);
        for (uint32_t k = 0; k < gr_camera_model_params((gr_camera_model)model); k++) params[k] = gr_bytes_f64(&b);
        if (b.short_) return cut(d, name, "camera", i, n, b.at);
        gr_colmap_camera *c = GR_PUSH(a, &out->camera);
        if (!c) return gr_report_oom(d);
        c->id = id;
        GR_TRY(gr_camera_make(d, name, who, (gr_camera_model)model, width > UINT32_MAX ? 0 : (uint32_t)width, height > UINT32_MAX ? 0 : (uint32_t)height, params, &c->camera));
    }
    return true;
}

/* A name ends with a zero byte. */
static bool read_name(gr_arena *a, gr_diags *d, gr_bytes *b, gr_str *out) {
    const uint8_t *p = b->p + b->at, *end = gr_bytes_left(b) ? memchr(p, 0, gr_bytes_left(b)) : NULL;
    if (!end) {
        b->short_ = true;
        return true;
    }
    *out = gr_str_dup(a, (gr_str){(const char *)p, (size_t)(end - p)});
    b->at += out->n + 1;
    return out->p || gr_report_oom(d);
}

bool gr_colmap_images_bin(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_colmap *out) {
    gr_bytes b = gr_bytes_of(bytes);
    uint64_t n;
    GR_TRY(count_of(d, name, &b, "image", 4 + 56 + 4 + 1 + 8, &n));
    for (uint64_t i = 0; i < n; i++) {
        double q[4], t[3];
        gr_colmap_image *m = GR_PUSH(a, &out->image);
        if (!m) return gr_report_oom(d);
        m->id = gr_bytes_u32(&b);
        for (int k = 0; k < 4; k++) q[k] = gr_bytes_f64(&b);
        for (int k = 0; k < 3; k++) t[k] = gr_bytes_f64(&b);
        m->camera_id = gr_bytes_u32(&b);
        if (!b.short_) GR_TRY(read_name(a, d, &b, &m->name));
        uint64_t points = gr_bytes_u64(&b);
        if (points > gr_bytes_left(&b) / 24) b.short_ = true;
        else gr_bytes_take(&b, (size_t)points * 24);
        if (b.short_) return cut(d, name, "image", i, n, b.at);
        if (!gr_pose_from_quaternion(q, t, &m->pose))
            return gr_report(d, GR_D_SPLAT_POSE, (gr_place){.document = name}, NULL, "image %u (%.*s): quaternion %g %g %g %g, translation %g %g %g are no pose",
                             m->id, GR_STR_ARG(m->name), q[0], q[1], q[2], q[3], t[0], t[1], t[2]);
    }
    return true;
}

bool gr_colmap_points_bin(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_colmap *out) {
    gr_bytes b = gr_bytes_of(bytes);
    uint64_t n;
    GR_TRY(count_of(d, name, &b, "point", 8 + 24 + 3 + 8 + 8, &n));
    GR_TRY(gr_points_new(a, d, n, &out->points));
    for (uint64_t i = 0; i < n; i++) {
        gr_bytes_u64(&b);
        for (uint64_t k = 0; k < 3; k++) out->points.position[3 * i + k] = (float)gr_bytes_f64(&b);
        const uint8_t *rgb = gr_bytes_take(&b, 3);
        if (rgb) memcpy(out->points.colour + 3 * i, rgb, 3);
        gr_bytes_f64(&b);
        uint64_t track = gr_bytes_u64(&b);
        if (track > gr_bytes_left(&b) / 8) b.short_ = true;
        else gr_bytes_take(&b, (size_t)track * 8);
        if (b.short_) return cut(d, name, "point", i, n, b.at);
    }
    gr_points_clean(d, name, &out->points);
    return true;
}
