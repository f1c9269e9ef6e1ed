/* colmap.h: COLMAP models, binary and text. */
#ifndef GR_SPLAT_COLMAP_H
#define GR_SPLAT_COLMAP_H

#include "splat/camera.h"
#include "splat/io/points.h"

typedef struct gr_colmap_camera {
    uint32_t id;
    gr_camera camera;
} gr_colmap_camera;

typedef struct gr_colmap_image {
    uint32_t id, camera_id;
    gr_pose pose;
    gr_str name; /* may hold folders */
} gr_colmap_image;

typedef struct gr_colmap {
    GR_VEC(gr_colmap_camera) camera;
    GR_VEC(gr_colmap_image) image;
    gr_points points;
} gr_colmap;

/* One file each; names of views live in the arena. Text: splat/colmap-text with line and column; binary: splat/colmap-cut with the record.
 * splat/camera, splat/camera-model, splat/pose. Every mistake of a text file is reported. */
bool gr_colmap_cameras_bin(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_colmap *out);
bool gr_colmap_images_bin(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_colmap *out);
bool gr_colmap_points_bin(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_colmap *out);
bool gr_colmap_cameras_text(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_colmap *out);
bool gr_colmap_images_text(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_colmap *out);
bool gr_colmap_points_text(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_colmap *out);

/* Whether a folder holds a model (cameras and images, .bin or .txt). */
bool gr_colmap_here(gr_arena *a, gr_str folder);
/* The three files of a folder, binary where there is one; points may be absent. Every image's camera must exist
 * (splat/camera-unknown). Images come sorted by name. */
bool gr_colmap_load(gr_arena *a, gr_diags *d, gr_str folder, gr_colmap *out);

#endif
