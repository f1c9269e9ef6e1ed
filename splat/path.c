#include "splat/path.h"

#include <stdlib.h>

#include "base/math.h"
#include "base/value.h"

static const double degree = 0.017453292519943295;

typedef struct reader {
    gr_arena *a;
    gr_diags *d;
    gr_doc doc;
    uint32_t width, height;
} reader;

static bool wrong(reader *r, const gr_value *at, const char *what, uint32_t frame) {
    return gr_report(r->d, GR_D_SPLAT_CAMERA_PATH, gr_value_place(&r->doc, at, r->a), "a path has camera_path with camera_to_world, or frames with transform_matrix", "frame %u: %s", frame, what);
}

static bool number(const gr_value *v, double *out) {
    if (!v || (v->kind != GR_V_INT && v->kind != GR_V_FLOAT)) return false;
    *out = v->kind == GR_V_INT ? (double)v->i : v->f;
    return gr_fabs(*out) < 1e30;
}

/* 16 numbers in a row, or 3 or 4 rows of 4. */
static bool matrix(const gr_value *v, double out[16]) {
    const gr_value *flat[16];
    uint32_t n = 0;
    if (!v || v->kind != GR_V_ARRAY) return false;
    for (uint32_t i = 0; i < v->array.n; i++) {
        const gr_value *x = v->array.v[i];
        uint32_t inner = x->kind == GR_V_ARRAY ? x->array.n : 1;
        for (uint32_t j = 0; j < inner; j++) {
            if (n == 16) return false;
            flat[n++] = x->kind == GR_V_ARRAY ? x->array.v[j] : x;
        }
    }
    static const double last[4] = {0, 0, 0, 1};
    memcpy(out + 12, last, sizeof last);
    for (uint32_t i = 0; i < n; i++)
        if (!number(flat[i], &out[i])) return false;
    return n == 12 || n == 16;
}

static gr_camera pinhole(uint32_t width, uint32_t height, double focal) {
    return (gr_camera){.width = width, .height = height, .fx = focal, .fy = focal, .cx = 0.5 * width, .cy = 0.5 * height};
}

/* The camera of a frame: its own keys before those of the document. */
static bool camera_of(reader *r, const gr_value *frame, gr_camera *out) {
    const gr_value *root = r->doc.root;
    double fov = 0, fx = 0, w = 0, x = 0;
    if (number(gr_value_get(frame, "fov"), &fov) && fov > 0 && fov < 180) *out = pinhole(r->width, r->height, 0.5 * r->height / gr_tan(0.5 * fov * degree));
    else if (number(gr_value_get(root, "camera_angle_x"), &fov) && fov > 0 && fov < 3.1) *out = pinhole(r->width, r->height, 0.5 * r->width / gr_tan(0.5 * fov));
    else if (number(gr_value_get(root, "fl_x"), &fx) && number(gr_value_get(root, "w"), &w) && fx > 0 && w > 0) {
        double scale = r->width / w;
        *out = pinhole(r->width, r->height, fx * scale);
        if (number(gr_value_get(root, "fl_y"), &x) && x > 0) out->fy = x * scale;
        if (number(gr_value_get(root, "cx"), &x)) out->cx = x * scale;
        if (number(gr_value_get(root, "cy"), &x)) out->cy = x * scale;
    } else return false;
    return true;
}

/* A side in pixels: as asked for, else the first key that is there. */
static uint32_t side(const reader *r, uint32_t asked, const char *key, const char *other) {
    double v = 0;
    if (asked) return asked;
    if (!number(gr_value_get(r->doc.root, key), &v) && !number(gr_value_get(r->doc.root, other), &v)) return 0;
    return v >= 1 && v <= GR_IMAGE_SIDE_MAX ? (uint32_t)v : 0;
}

bool gr_path_read(gr_arena *a, gr_diags *d, gr_str name, gr_str text, uint32_t width, uint32_t height, gr_frames *out) {
    reader r = {.a = a, .d = d};
    *out = (gr_frames){0};
    GR_TRY(gr_json_parse(a, d, name, text, &r.doc));
    bool viewer = gr_value_get(r.doc.root, "camera_path") != NULL;
    const gr_value *list = gr_value_get(r.doc.root, viewer ? "camera_path" : "frames");
    r.width = side(&r, width, "render_width", "w");
    r.height = side(&r, height, "render_height", "h");
    if (!list || list->kind != GR_V_ARRAY || !list->array.n || list->array.n > GR_FRAMES_MAX) return wrong(&r, r.doc.root, "the file has no list of frames", 0);
    if (!r.width || !r.height) return wrong(&r, r.doc.root, "the file gives no size for the pictures; set --width and --height", 0);
    for (uint32_t i = 0; i < list->array.n; i++) {
        const gr_value *v = list->array.v[i];
        double m[16];
        gr_frame *f = GR_PUSH(a, &out->list);
        if (!f) return gr_report_oom(d);
        if (!matrix(gr_value_get(v, viewer ? "camera_to_world" : "transform_matrix"), m)) return wrong(&r, v, "the matrix of the camera is not 4 x 4 numbers", i);
        if (!gr_pose_from_opengl(m, &f->pose)) return wrong(&r, v, "the matrix of the camera places none", i);
        if (!camera_of(&r, v, &f->camera)) return wrong(&r, v, "there is no field of view: fov, camera_angle_x, or fl_x with w", i);
    }
    return true;
}

/* ---- orbit ------------------------------------------------------------------------------------------ */

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static double median(double *v, uint32_t n) {
    qsort(v, n, sizeof *v, ascending);
    return n ? v[n / 2] : 0;
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void unit(double v[3]) {
    double n = gr_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) v[k] = n > 0 ? v[k] / n : 0;
}

/* Looks from `eye` at `at` with `up` up. */
static gr_pose look(const double eye[3], const double at[3], const double up[3]) {
    gr_pose p = {{0}, {0}};
    double forward[3], right[3], down[3];
    for (int k = 0; k < 3; k++) forward[k] = at[k] - eye[k];
    unit(forward);
    cross(forward, up, right);
    unit(right);
    cross(forward, right, down);
    for (int k = 0; k < 3; k++) p.r[k] = right[k], p.r[3 + k] = down[k], p.r[6 + k] = forward[k];
    for (int k = 0; k < 3; k++) p.t[k] = -(p.r[3 * k] * eye[0] + p.r[3 * k + 1] * eye[1] + p.r[3 * k + 2] * eye[2]);
    return p;
}

static bool middle(gr_diags *d, const gr_cloud *c, double centre[3], double *distance) {
    double *v = gr_heap_alloc((size_t)c->n + 1, sizeof *v);
    if (!v) return gr_report_oom(d);
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < c->n; i++) v[i] = (double)c->mean[3 * i + k];
        centre[k] = median(v, c->n);
    }
    for (size_t i = 0; i < c->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < 3; k++) sum += ((double)c->mean[3 * i + k] - centre[k]) * ((double)c->mean[3 * i + k] - centre[k]);
        v[i] = gr_sqrt(sum);
    }
    *distance = median(v, c->n);
    gr_heap_free(v);
    return true;
}

bool gr_path_orbit(gr_arena *a, gr_diags *d, const gr_cloud *c, const gr_orbit *o, gr_frames *out) {
    double centre[3], spread = 0, up[3] = {o->up[0], o->up[1], o->up[2]}, side_[3], ahead[3];
    *out = (gr_frames){0};
    GR_TRY(middle(d, c, centre, &spread));
    double distance = o->distance > 0 ? o->distance : spread > 0 ? 3 * spread : 1;
    unit(up);
    const double other[3] = {up[1], up[2], up[0]};
    cross(up, other, side_);
    unit(side_);
    cross(side_, up, ahead);
    double level = distance * gr_cos(o->elevation * degree), rise = distance * gr_sin(o->elevation * degree);
    for (uint32_t i = 0; i < o->frames; i++) {
        double angle = 360 * degree * i / o->frames, eye[3];
        gr_frame *f = GR_PUSH(a, &out->list);
        if (!f) return gr_report_oom(d);
        for (int k = 0; k < 3; k++) eye[k] = centre[k] + level * (gr_cos(angle) * side_[k] + gr_sin(angle) * ahead[k]) + rise * up[k];
        f->pose = look(eye, centre, up);
        f->camera = pinhole(o->width, o->height, 0.5 * o->height / gr_tan(0.5 * o->fov * degree));
    }
    return true;
}
