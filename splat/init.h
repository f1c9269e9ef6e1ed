/* init.h: the splats that a training starts from. */
#ifndef GR_SPLAT_INIT_H
#define GR_SPLAT_INIT_H

#include "splat/io/cloud.h"
#include "splat/io/points.h"

/* One splat a point: scale = log of the root mean squared distance to the 3 nearest others (fewer when there are fewer), at least
 * 1e-7 squared and at most `largest` (the scene's extent), so that coincident points are no points of size 0 and one far away is not
 * larger than the scene; opacity 0.1; coefficient 0 = (rgb - 0.5) / C0, the others 0; no rotation. More points than `cap`: every point has
 * the same chance to stay, drawn with `seed`. */
bool gr_cloud_from_points(gr_arena *a, gr_diags *d, const gr_points *p, uint32_t sh_degree, double largest, uint32_t cap, uint64_t seed, gr_cloud *out);
/* n splats uniform in [-extent, extent]^3 with uniform colours, otherwise as above. */
bool gr_cloud_random(gr_arena *a, gr_diags *d, uint32_t n, double extent, uint64_t seed, uint32_t sh_degree, gr_cloud *out);
/* Mean squared distance of each of n points (n,3) to its 3 nearest others; 0 for a single point. */
bool gr_points_spread(gr_diags *d, const float *position, uint32_t n, double *out);

#endif
