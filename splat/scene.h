/* scene.h: a data set as training sees it: views with pictures and cameras, points, and how large it all is.
 *
 * Three kinds of folders are known: COLMAP models (sparse/0, sparse, colmap/sparse/0 or the folder itself), NeRF synthetic
 * (transforms_train.json beside transforms_test.json) and nerfstudio (transforms.json). Coordinates stay those of the data. */
#ifndef GR_SPLAT_SCENE_H
#define GR_SPLAT_SCENE_H

#include "splat/camera.h"
#include "splat/io/points.h"

typedef struct gr_view {
    gr_str name;           /* as the data calls it */
    gr_str path, mask;     /* files; mask empty when there is none */
    gr_camera camera;      /* of the picture as it is trained on: turned, scaled; still with its distortion */
    gr_pose pose;          /* world to camera */
    uint32_t orientation;  /* EXIF, applied after decoding */
    bool test;             /* held out */
} gr_view;

typedef struct gr_scene {
    const char *kind; /* "COLMAP" "NeRF synthetic" "nerfstudio" */
    gr_str source;    /* the model's folder, or the JSON file */
    GR_VEC(gr_view) view; /* sorted by name; of NeRF synthetic in the order of its files */
    uint32_t train_n, test_n;
    gr_points points; /* n 0 when there are none */
    double centre[3]; /* mean of the training cameras' centres, outliers left out */
    double extent;    /* 1.1 times the largest distance of a camera from it */
} gr_scene;

typedef struct gr_scene_desc {
    gr_str path;
    gr_str images;       /* folder of pictures below path (COLMAP); empty: "images" */
    gr_str points;       /* a PLY to start from instead of the model's; empty: none */
    uint32_t downscale;  /* 1 as they are */
    uint32_t test_every; /* view i is held out when i % test_every == 0; 0 none. A data set's own split wins */
} gr_scene_desc;

/* splat/no-views lists the folders looked in; splat/image-missing (a warning, the view is left out), splat/image-shape,
 * splat/images-unregistered (a note), splat/outlier-camera (a warning), splat/transforms and what the readers report. */
bool gr_scene_load(gr_arena *a, gr_diags *d, const gr_scene_desc *desc, gr_scene *out);
/* Centre and extent from the training cameras: one farther from their median than 6 times the median distance is left out and named. All in one
 * place: 1.1 times the median distance of the points, or 1. */
void gr_scene_measure(gr_diags *d, gr_scene *s);

/* The picture of a view: decoded, turned, scaled, without distortion. */
typedef struct gr_picture {
    gr_image image; /* RGB or RGBA of view->camera's size */
    gr_image mask;  /* 1 channel, 255 where a pixel counts, 0 where not; px NULL when all count */
} gr_picture;
bool gr_picture_load(gr_diags *d, const gr_view *v, gr_picture *out);
void gr_picture_free(gr_picture *p);

/* Readers of the three kinds: views without sizes checked, for gr_scene_load and the fuzz targets. `folder` holds the JSON file; a NeRF
 * camera without a size gets that of its first picture. */
bool gr_transforms_read(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_str folder, bool test, gr_scene *out, gr_str *ply);

#endif
