#include "splat/io/colmap.h"

#include <stdlib.h>

#include "base/file.h"

static gr_str path_of(gr_arena *a, gr_str folder, const char *file) { return gr_path_join(a, folder, gr_str_of(file)); }

static bool there(gr_arena *a, gr_str folder, const char *bin, const char *txt) {
    return gr_file_exists(path_of(a, folder, bin)) || gr_file_exists(path_of(a, folder, txt));
}

bool gr_colmap_here(gr_arena *a, gr_str folder) {
    return there(a, folder, "cameras.bin", "cameras.txt") && there(a, folder, "images.bin", "images.txt");
}

typedef bool reader(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_colmap *out);

static bool read_one(gr_arena *a, gr_diags *d, gr_str folder, const char *bin, reader *binary, const char *txt, reader *text, gr_colmap *out) {
    gr_str path = path_of(a, folder, bin), bytes;
    bool is_binary = gr_file_exists(path);
    if (!is_binary) path = path_of(a, folder, txt);
    GR_TRY(gr_file_read(a, d, path, (size_t)8 << 30, &bytes));
    return (is_binary ? binary : text)(a, d, path, bytes, out);
}

static int by_name(const void *x, const void *y) {
    return gr_str_cmp(((const gr_colmap_image *)x)->name, ((const gr_colmap_image *)y)->name);
}

static bool cameras_known(gr_diags *d, gr_str folder, const gr_colmap *m) {
    bool ok = true;
    for (uint32_t i = 0; i < m->image.n; i++) {
        uint32_t k = 0;
        while (k < m->camera.n && m->camera.v[k].id != m->image.v[i].camera_id) k++;
        if (k < m->camera.n) continue;
        ok = gr_report(d, GR_D_SPLAT_CAMERA_UNKNOWN, (gr_place){.document = folder}, NULL, "image %u (%.*s) was taken by camera %u, which the model does not have",
                       m->image.v[i].id, GR_STR_ARG(m->image.v[i].name), m->image.v[i].camera_id);
    }
    return ok;
}

bool gr_colmap_load(gr_arena *a, gr_diags *d, gr_str folder, gr_colmap *out) {
    *out = (gr_colmap){0};
    bool ok = read_one(a, d, folder, "cameras.bin", gr_colmap_cameras_bin, "cameras.txt", gr_colmap_cameras_text, out);
    ok = read_one(a, d, folder, "images.bin", gr_colmap_images_bin, "images.txt", gr_colmap_images_text, out) && ok;
    if (there(a, folder, "points3D.bin", "points3D.txt"))
        ok = read_one(a, d, folder, "points3D.bin", gr_colmap_points_bin, "points3D.txt", gr_colmap_points_text, out) && ok;
    GR_TRY(ok && cameras_known(d, folder, out));
    if (out->image.n) qsort(out->image.v, out->image.n, sizeof *out->image.v, by_name);
    return true;
}
