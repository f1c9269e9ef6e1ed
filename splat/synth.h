/* synth.h: a procedural scene: striped ellipsoids on a disc, ray traced, with cameras and points that fit it.
 *
 * The same bytes on every machine: deterministic arithmetic (base/math.h), the counter-based generator, PNG without compression. */
#ifndef GR_SPLAT_SYNTH_H
#define GR_SPLAT_SYNTH_H

#include "splat/camera.h"

enum { GR_SYNTH_SHAPES_MAX = 256, GR_SYNTH_SAMPLES = 2 }; /* samples along each side of a pixel */

typedef struct gr_synth_desc {
    uint32_t width, height, views, shapes, points;
    uint64_t seed;
} gr_synth_desc;

/* Unit sphere p -> centre + rotation (radius p): rotation by rows, as in gr_pose. z is up. */
typedef struct gr_ellipsoid {
    double centre[3], rotation[9], radius[3];
    double colour[2][3]; /* of the stripes, 0 to 1 */
    double stripes[3];   /* direction and frequency of the stripes, in the unit sphere's coordinates */
} gr_ellipsoid;

typedef struct gr_synth {
    gr_ellipsoid shape[GR_SYNTH_SHAPES_MAX + 1]; /* the first is the disc */
    uint32_t n;
} gr_synth;

void gr_synth_make(const gr_synth_desc *desc, gr_synth *out);
/* View i of n on a spiral around the scene, looking at its middle. */
gr_pose gr_synth_pose(const gr_synth_desc *desc, uint32_t i);
gr_camera gr_synth_camera(const gr_synth_desc *desc);
/* The nearest shape on the ray origin + t direction with t > 0; -1 for none. */
int gr_synth_hit(const gr_synth *s, const double origin[3], const double direction[3], double *t);
/* Light of a surface point of shape k: stripes under one lamp and the sky, the same from everywhere. */
void gr_synth_shade(const gr_synth *s, int k, const double point[3], double rgb[3]);
bool gr_synth_render(gr_diags *d, const gr_synth *s, const gr_camera *c, const gr_pose *p, gr_image *out);
/* Pictures to dir/images, dir/sparse/0/{cameras,images,points3D}.txt and dir/train.toml. */
bool gr_synth_write(gr_arena *a, gr_diags *d, gr_str dir, const gr_synth_desc *desc);

#endif
