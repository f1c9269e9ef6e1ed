/* transforms.json: NeRF synthetic (camera_angle_x) and nerfstudio (fl_x, cx, ..., for all frames or one by one). */
#include <stdio.h>

#include "base/file.h"
#include "base/math.h"
#include "base/value.h"
#include "splat/scene.h"

typedef struct reader {
    gr_arena *a;
    gr_diags *d;
    gr_doc doc;
    gr_str folder;
} reader;

static bool fail(reader *r, const gr_value *at, const char *hint, const char *what) {
    return gr_report(r->d, GR_D_SPLAT_TRANSFORMS, gr_value_place(&r->doc, at, r->a), hint, "%s", what);
}

/* A number of the frame, or else of the file; false when neither has it. */
static bool number(reader *r, const gr_value *frame, const char *key, double *out, bool *ok) {
    const gr_value *from = gr_value_get(frame, key) ? frame : r->doc.root;
    if (!gr_value_get(from, key)) return false;
    *ok = gr_value_f64(r->a, r->d, &r->doc, from, key, false, out) && *ok;
    return true;
}

static bool matrix(reader *r, const gr_value *frame, double m[16]) {
    gr_value *rows;
    GR_TRY(gr_value_array(r->a, r->d, &r->doc, frame, "transform_matrix", true, &rows));
    bool good = rows->array.n == 4 || rows->array.n == 3;
    m[12] = m[13] = m[14] = 0, m[15] = 1;
    for (uint32_t i = 0; good && i < rows->array.n; i++) {
        const gr_value *row = rows->array.v[i];
        good = row->kind == GR_V_ARRAY && row->array.n == 4;
        for (uint32_t j = 0; good && j < 4; j++) {
            const gr_value *v = row->array.v[j];
            good = v->kind == GR_V_FLOAT || v->kind == GR_V_INT || v->kind == GR_V_UINT;
            m[4 * i + j] = v->kind == GR_V_FLOAT ? v->f : v->kind == GR_V_INT ? (double)v->i : (double)v->u;
        }
    }
    return good || fail(r, rows, "camera to world, four rows of four numbers", "transform_matrix is no matrix of 4 x 4 numbers");
}

static gr_camera_model model_of(reader *r, const gr_value *frame, bool *ok) {
    gr_str name = {0};
    const gr_value *from = gr_value_get(frame, "camera_model") ? frame : r->doc.root;
    *ok = gr_value_str(r->a, r->d, &r->doc, from, "camera_model", false, &name) && *ok;
    if (!name.n) return GR_CAMERA_OPENCV;
    if (gr_str_eqz(name, "OPENCV_FISHEYE")) return GR_CAMERA_OPENCV_FISHEYE;
    if (gr_camera_model_find(name) < GR_CAMERA_MODELS) return GR_CAMERA_OPENCV;
    gr_report(r->d, GR_D_SPLAT_CAMERA_MODEL, gr_value_place(&r->doc, gr_value_get(from, "camera_model"), r->a), NULL,
              "camera_model \"%.*s\" is unknown; SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV and OPENCV_FISHEYE are known", GR_STR_ARG(name));
    *ok = false;
    return GR_CAMERA_OPENCV;
}

/* Sizes and focal lengths: w, h from the file or the picture; fl_x or camera_angle_x; what is missing follows from the other axis. */
static bool camera(reader *r, const gr_value *frame, const gr_view *v, gr_camera *out) {
    static const char *const names[2][4] = {{"k1", "k2", "p1", "p2"}, {"k1", "k2", "k3", "k4"}};
    double w = 0, h = 0, angle = 0, p[8] = {0};
    bool ok = true, sized = number(r, frame, "w", &w, &ok) & number(r, frame, "h", &h, &ok);
    gr_camera_model m = model_of(r, frame, &ok);
    gr_image_info info = {0};
    if (!sized) {
        if (!gr_file_exists(v->path)) info.width = info.height = 1; /* left out later, with the reason */
        else GR_TRY(gr_image_probe_file(r->d, v->path, &info));
        w = info.width, h = info.height;
    }
    if (!(w >= 1 && w <= GR_IMAGE_SIDE_MAX && h >= 1 && h <= GR_IMAGE_SIDE_MAX)) return fail(r, frame, NULL, "w and h are no size in pixels");
    p[2] = w / 2, p[3] = h / 2;
    if (!number(r, frame, "fl_x", &p[0], &ok)) {
        if (!number(r, frame, "camera_angle_x", &angle, &ok)) return fail(r, frame, "give camera_angle_x, or fl_x and fl_y", "there is no focal length");
        p[0] = 0.5 * w / gr_tan(0.5 * angle);
    }
    if (!number(r, frame, "fl_y", &p[1], &ok)) p[1] = number(r, frame, "camera_angle_y", &angle, &ok) ? 0.5 * h / gr_tan(0.5 * angle) : p[0];
    number(r, frame, "cx", &p[2], &ok);
    number(r, frame, "cy", &p[3], &ok);
    for (int i = 0; i < 4; i++) number(r, frame, names[m == GR_CAMERA_OPENCV_FISHEYE][i], &p[4 + i], &ok);
    char who[64];
    gr_place at = gr_value_place(&r->doc, frame, r->a);
    snprintf(who, sizeof who, "the frame at line %u", at.line);
    return ok && gr_camera_make(r->d, r->doc.name, who, m, (uint32_t)w, (uint32_t)h, p, out);
}

/* file_path may leave the ending out, as NeRF synthetic does. */
static gr_str picture_path(reader *r, gr_str name) {
    static const char *const endings[] = {"", ".png", ".jpg", ".jpeg", ".webp", ".JPG", ".PNG"};
    gr_str first = {0};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *full = gr_arena_printf(r->a, "%.*s%s", GR_STR_ARG(name), endings[i]);
        gr_str path = gr_path_join(r->a, r->folder, gr_str_of(full));
        if (i == 0) first = path;
        gr_image_info info;
        gr_diags quiet; /* a folder "r_0" beside "r_0.png" is no picture */
        gr_diags_init(&quiet);
        bool good = gr_file_exists(path) && gr_image_probe_file(&quiet, path, &info);
        gr_diags_free(&quiet);
        if (good) return path;
    }
    return first;
}

static bool frame_view(reader *r, const gr_value *frame, bool test, gr_scene *out) {
    double m[16];
    gr_str mask = {0};
    gr_view v = {.test = test, .orientation = 1};
    if (frame->kind != GR_V_OBJECT) return fail(r, frame, NULL, "a frame is no object");
    bool ok = gr_value_str(r->a, r->d, &r->doc, frame, "file_path", true, &v.name);
    ok = gr_value_str(r->a, r->d, &r->doc, frame, "mask_path", false, &mask) && ok;
    ok = matrix(r, frame, m) && ok;
    if (ok && !gr_pose_from_opengl(m, &v.pose))
        ok = fail(r, gr_value_get(frame, "transform_matrix"), "its first three columns are a rotation, its fourth the camera's place", "transform_matrix turns and moves nothing: it is no pose");
    GR_TRY(ok);
    if (gr_str_starts(v.name, "./")) v.name.p += 2, v.name.n -= 2;
    v.path = picture_path(r, v.name);
    if (mask.n) v.mask = gr_path_join(r->a, r->folder, mask);
    GR_TRY(camera(r, frame, &v, &v.camera));
    gr_view *slot = GR_PUSH(r->a, &out->view);
    if (!slot) return gr_report_oom(r->d);
    *slot = v;
    return true;
}

/* nerfstudio's own split: names of files. */
static bool split(reader *r, gr_scene *out) {
    gr_value *names = NULL;
    GR_TRY(gr_value_array(r->a, r->d, &r->doc, r->doc.root, "test_filenames", false, &names));
    for (uint32_t i = 0; names && i < names->array.n; i++) {
        gr_str s = names->array.v[i]->kind == GR_V_STRING ? names->array.v[i]->s : (gr_str){0};
        if (gr_str_starts(s, "./")) s.p += 2, s.n -= 2;
        for (uint32_t k = 0; k < out->view.n; k++) out->view.v[k].test = out->view.v[k].test || gr_str_eq(out->view.v[k].name, s);
    }
    return true;
}

bool gr_transforms_read(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_str folder, bool test, gr_scene *out, gr_str *ply) {
    reader r = {.a = a, .d = d, .folder = folder};
    gr_value *frames;
    bool ok = true;
    GR_TRY(gr_json_parse(a, d, name, text, &r.doc));
    if (r.doc.root->kind != GR_V_OBJECT) return fail(&r, r.doc.root, NULL, "the file is no object");
    GR_TRY(gr_value_array(a, d, &r.doc, r.doc.root, "frames", true, &frames));
    for (uint32_t i = 0; i < frames->array.n; i++) ok = frame_view(&r, frames->array.v[i], test, out) && ok;
    *ply = (gr_str){0};
    ok = gr_value_str(a, d, &r.doc, r.doc.root, "ply_file_path", false, ply) && ok;
    return split(&r, out) && ok;
}
