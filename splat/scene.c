#include "splat/scene.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/math.h"
#include "splat/io/colmap.h"

enum { NAMED_MAX = 5, DEPTH_MAX = 8 };

static gr_str under(gr_arena *a, gr_str folder, const char *name) { return gr_path_join(a, folder, gr_str_of(name)); }

/* ---- kinds ---------------------------------------------------------------------------- */

static const char *const model_folders[] = {"sparse/0", "sparse", "colmap/sparse/0", ""};

static bool no_views(gr_diags *d, const gr_scene_desc *desc) {
    if (!gr_file_exists(desc->path))
        return gr_report(d, GR_D_SPLAT_NO_VIEWS, (gr_place){.document = desc->path}, "data.path is the folder of the data set", "there is no folder %.*s", GR_STR_ARG(desc->path));
    return gr_report(d, GR_D_SPLAT_NO_VIEWS, (gr_place){.document = desc->path}, "a COLMAP model, NeRF synthetic or nerfstudio data is read",
                     "no views: looked for cameras.bin or .txt with images.bin or .txt in %.*s/sparse/0, %.*s/sparse, %.*s/colmap/sparse/0 and %.*s itself, "
                     "and for transforms_train.json and transforms.json in %.*s", GR_STR_ARG(desc->path), GR_STR_ARG(desc->path), GR_STR_ARG(desc->path),
                     GR_STR_ARG(desc->path), GR_STR_ARG(desc->path));
}

static gr_str mask_of(gr_arena *a, gr_str root, gr_str name) {
    gr_str stem = name;
    while (stem.n && stem.p[stem.n - 1] != '.' && stem.p[stem.n - 1] != '/') stem.n--;
    if (stem.n && stem.p[stem.n - 1] == '.') stem.n--;
    else stem = name;
    const char *tries[] = {gr_arena_printf(a, "masks/%.*s", GR_STR_ARG(name)), gr_arena_printf(a, "masks/%.*s.png", GR_STR_ARG(name)),
                           gr_arena_printf(a, "masks/%.*s.png", GR_STR_ARG(stem))};
    for (int i = 0; i < 3; i++) {
        gr_str path = tries[i] ? under(a, root, tries[i]) : (gr_str){0};
        if (path.n && gr_file_exists(path)) return path;
    }
    return (gr_str){0};
}

/* Whether a name ends as a picture's does. */
static bool is_picture(gr_str s) {
    static const char *const ends[] = {".png", ".jpg", ".jpeg", ".webp", ".PNG", ".JPG", ".JPEG", ".WEBP"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (gr_str_ends(s, ends[i])) return true;
    return false;
}

/* Pictures of a folder and below that the model does not use. */
static uint32_t unregistered(gr_arena *a, gr_str folder, gr_str prefix, const gr_map *known, int depth, gr_str *first) {
    gr_diags quiet;
    gr_str *names;
    uint32_t n = 0, count = 0;
    gr_diags_init(&quiet);
    bool ok = gr_dir_list(a, &quiet, folder, &names, &n);
    gr_diags_free(&quiet);
    for (uint32_t i = 0; ok && i < n; i++) {
        gr_str name = gr_path_join(a, prefix, names[i]);
        if (is_picture(names[i])) {
            if (gr_map_get(known, name, NULL)) continue;
            if (count++ == 0 && !first->n) *first = name;
        } else if (depth < DEPTH_MAX) {
            count += unregistered(a, gr_path_join(a, folder, names[i]), name, known, depth + 1, first);
        }
    }
    return count;
}

static bool tell_unregistered(gr_arena *a, gr_diags *d, gr_str folder, const gr_scene *s) {
    gr_map known = {0};
    gr_str first = {0};
    for (uint32_t i = 0; i < s->view.n; i++)
        if (!gr_map_put(a, &known, s->view.v[i].name, i)) return gr_report_oom(d);
    uint32_t n = unregistered(a, folder, (gr_str){0}, &known, 0, &first);
    if (n)
        gr_report(d, GR_D_SPLAT_IMAGES_UNREGISTERED, (gr_place){.document = folder}, NULL, "%u pictures are not in the model and are not used; the first is %.*s", n, GR_STR_ARG(first));
    return true;
}

static bool load_colmap(gr_arena *a, gr_diags *d, const gr_scene_desc *desc, gr_str folder, gr_scene *out) {
    gr_colmap m;
    gr_str images = gr_path_join(a, desc->path, desc->images.n ? desc->images : GR_STR("images"));
    GR_TRY(gr_colmap_load(a, d, folder, &m));
    out->kind = "COLMAP";
    out->source = folder;
    out->points = m.points;
    for (uint32_t i = 0; i < m.image.n; i++) {
        gr_view *v = GR_PUSH(a, &out->view);
        if (!v) return gr_report_oom(d);
        uint32_t k = 0;
        while (m.camera.v[k].id != m.image.v[i].camera_id) k++;
        *v = (gr_view){.name = m.image.v[i].name, .path = gr_path_join(a, images, m.image.v[i].name), .camera = m.camera.v[k].camera,
                       .pose = m.image.v[i].pose, .orientation = 1, .test = desc->test_every && i % desc->test_every == 0,
                       .mask = mask_of(a, desc->path, m.image.v[i].name)};
    }
    if (!gr_file_exists(images))
        return gr_report(d, GR_D_SPLAT_NO_VIEWS, (gr_place){.document = images}, "data.images names the folder of the pictures below data.path",
                         "no views: the model has %u pictures, but there is no folder %.*s", out->view.n, GR_STR_ARG(images));
    return tell_unregistered(a, d, images, out);
}

static bool load_json(gr_arena *a, gr_diags *d, gr_str path, bool test, gr_scene *out, gr_str *ply) {
    gr_str text;
    GR_TRY(gr_file_read(a, d, path, (size_t)1 << 30, &text));
    return gr_transforms_read(a, d, path, text, gr_path_dir(path), test, out, ply);
}

static bool load_nerf(gr_arena *a, gr_diags *d, const gr_scene_desc *desc, gr_scene *out) {
    gr_str train = under(a, desc->path, "transforms_train.json"), test = under(a, desc->path, "transforms_test.json"), ply;
    out->kind = "NeRF synthetic";
    out->source = train;
    bool ok = load_json(a, d, train, false, out, &ply);
    if (gr_file_exists(test)) ok = load_json(a, d, test, true, out, &ply) && ok;
    return ok;
}

static int by_name(const void *x, const void *y) { return gr_str_cmp(((const gr_view *)x)->name, ((const gr_view *)y)->name); }

static bool load_nerfstudio(gr_arena *a, gr_diags *d, const gr_scene_desc *desc, gr_str path, gr_scene *out) {
    gr_str ply, bytes;
    bool own = false;
    out->kind = "nerfstudio";
    out->source = path;
    GR_TRY(load_json(a, d, path, false, out, &ply));
    if (out->view.n) qsort(out->view.v, out->view.n, sizeof *out->view.v, by_name);
    for (uint32_t i = 0; i < out->view.n; i++) own = own || out->view.v[i].test;
    for (uint32_t i = 0; !own && desc->test_every && i < out->view.n; i += desc->test_every) out->view.v[i].test = true;
    if (!ply.n) return true;
    gr_str file = gr_path_join(a, desc->path, ply);
    return gr_file_read(a, d, file, (size_t)8 << 30, &bytes) && gr_points_read_ply(a, d, file, bytes, &out->points);
}

static bool load_kind(gr_arena *a, gr_diags *d, const gr_scene_desc *desc, gr_scene *out) {
    for (size_t i = 0; i < sizeof model_folders / sizeof *model_folders; i++) {
        gr_str folder = *model_folders[i] ? under(a, desc->path, model_folders[i]) : desc->path;
        if (gr_colmap_here(a, folder)) return load_colmap(a, d, desc, folder, out);
    }
    if (gr_file_exists(under(a, desc->path, "transforms_train.json"))) return load_nerf(a, d, desc, out);
    gr_str studio = under(a, desc->path, "transforms.json");
    return gr_file_exists(studio) ? load_nerfstudio(a, d, desc, studio, out) : no_views(d, desc);
}

/* ---- pictures and sizes ------------------------------------------------------------------ */

static bool fits(const gr_camera *c, uint32_t width, uint32_t height) {
    double sx = (double)width / c->width, sy = (double)height / c->height;
    /* A side may be a pixel off after scaling. */
    return gr_fabs(sx - sy) <= 0.01 * sx || gr_fabs(c->height * sx - height) <= 1 || gr_fabs(c->width * sy - width) <= 1;
}

/* A picture is turned as its EXIF says, unless its camera fits it as it is stored: models are made from either. */
static bool settle_size(gr_diags *d, gr_view *v, uint32_t downscale) {
    gr_image_info info;
    GR_TRY(gr_image_probe_file(d, v->path, &info));
    uint32_t width = info.width, height = info.height;
    v->orientation = 1;
    if (!fits(&v->camera, width, height) && info.orientation >= 5) {
        v->orientation = info.orientation;
        width = info.height, height = info.width;
    }
    if (!fits(&v->camera, width, height))
        return gr_report(d, GR_D_SPLAT_IMAGE_SHAPE, (gr_place){.document = v->path}, "the pictures must be those that the model was made from, or all scaled alike",
                         "the picture has %u x %u pixels, its camera %u x %u: another shape", width, height, v->camera.width, v->camera.height);
    width = (width + downscale / 2) / downscale, height = (height + downscale / 2) / downscale;
    v->camera = gr_camera_resize(&v->camera, width ? width : 1, height ? height : 1);
    return true;
}

static bool settle(gr_diags *d, const gr_scene_desc *desc, gr_scene *s) {
    uint32_t kept = 0, missing = 0, n = s->view.n;
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        gr_view v = s->view.v[i];
        if (!gr_file_exists(v.path)) {
            if (missing++ < NAMED_MAX)
                gr_report(d, GR_D_SPLAT_IMAGE_MISSING, (gr_place){.document = v.path}, NULL, "there is no picture %.*s: the view is left out", GR_STR_ARG(v.path));
            continue;
        }
        ok = settle_size(d, &v, desc->downscale ? desc->downscale : 1) && ok;
        s->view.v[kept++] = v;
        if (v.test) s->test_n++;
        else s->train_n++;
    }
    s->view.n = kept;
    if (missing > NAMED_MAX)
        gr_report(d, GR_D_SPLAT_IMAGE_MISSING, (gr_place){.document = s->source}, NULL, "%u of %u pictures are missing", missing, n);
    if (ok && !s->train_n)
        return gr_report(d, GR_D_SPLAT_NO_VIEWS, (gr_place){.document = s->source}, missing ? "data.images names the folder of the pictures" : NULL,
                         "no views to train on: %u in the data, %u without a picture, %u held out for tests", n, missing, s->test_n);
    return ok;
}

/* ---- extent ------------------------------------------------------------------------------- */

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *v, uint32_t n) {
    qsort(v, n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

static double distance(const double a[3], const double b[3]) {
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return gr_sqrt(x * x + y * y + z * z);
}

/* Median distance of the points from the centre: where every camera stands in one place. */
static double points_extent(const gr_scene *s, double *scratch, uint32_t most) {
    uint32_t n = s->points.n < most ? s->points.n : most;
    for (uint32_t i = 0; i < n; i++) {
        const float *p = s->points.position + 3 * ((size_t)i * s->points.n / n);
        scratch[i] = distance((double[3]){p[0], p[1], p[2]}, s->centre);
    }
    return n ? median(scratch, n) : 0;
}

void gr_scene_measure(gr_diags *d, gr_scene *s) {
    enum { POINTS = 65536 };
    uint32_t n = s->view.n, m = 0, kept = 0, *which = gr_heap_alloc(n, sizeof *which);
    double (*c)[3] = gr_heap_alloc(n, sizeof *c), *scratch = gr_heap_alloc(n > POINTS ? n : POINTS, sizeof *scratch), middle[3], far = 0;
    s->extent = 1;
    memset(s->centre, 0, sizeof s->centre);
    if (!c || !scratch || !which) gr_report_oom(d), n = 0;
    for (uint32_t i = 0; i < s->view.n && n; i++)
        if (!s->view.v[i].test) which[m] = i, gr_pose_centre(&s->view.v[i].pose, c[m++]);
    n = m;
    for (int k = 0; n && k < 3; k++) {
        for (uint32_t i = 0; i < n; i++) scratch[i] = c[i][k];
        middle[k] = median(scratch, n);
    }
    for (uint32_t i = 0; i < n; i++) scratch[i] = distance(c[i], middle);
    double usual = n ? median(scratch, n) : 0;
    for (uint32_t i = 0; i < n; i++) {
        double away = distance(c[i], middle);
        if (usual > 0 && away > 6 * usual) {
            gr_report(d, GR_D_SPLAT_OUTLIER_CAMERA, (gr_place){.document = s->view.v[which[i]].name}, "it is trained on, but does not count for the scene's extent; was it registered rightly?",
                      "the camera of %.*s stands %.3g from the others' middle, %.3g times as far as half of them", GR_STR_ARG(s->view.v[which[i]].name), away, away / usual);
            continue;
        }
        memmove(c[kept++], c[i], sizeof *c);
    }
    for (uint32_t i = 0; i < kept; i++)
        for (int k = 0; k < 3; k++) s->centre[k] += c[i][k] / kept;
    for (uint32_t i = 0; i < kept; i++) far = distance(c[i], s->centre) > far ? distance(c[i], s->centre) : far;
    if (kept && !(far > 1e-9)) far = points_extent(s, scratch, POINTS);
    if (far > 1e-9) s->extent = 1.1 * far;
    gr_heap_free(c);
    gr_heap_free(which);
    gr_heap_free(scratch);
}

bool gr_scene_load(gr_arena *a, gr_diags *d, const gr_scene_desc *desc, gr_scene *out) {
    gr_str bytes;
    *out = (gr_scene){0};
    GR_TRY(load_kind(a, d, desc, out));
    GR_TRY(settle(d, desc, out));
    if (desc->points.n)
        GR_TRY(gr_file_read(a, d, desc->points, (size_t)8 << 30, &bytes) && gr_points_read_ply(a, d, desc->points, bytes, &out->points));
    gr_scene_measure(d, out);
    return true;
}
