/* points.h: coloured points to start from. */
#ifndef GR_SPLAT_POINTS_H
#define GR_SPLAT_POINTS_H

#include "base/diag.h"

typedef struct gr_points {
    uint32_t n;
    float *position; /* (n,3) */
    uint8_t *colour; /* (n,3); mid gray where the file has none */
} gr_points;

bool gr_points_new(gr_arena *a, gr_diags *d, uint64_t n, gr_points *out);
/* A PLY with element vertex: x y z and, where there are, red green blue (bytes, or floats from 0 to 1). splat/ply-*. */
bool gr_points_read_ply(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_points *out);
/* Drops points that are not finite; splat/points-not-finite says how many. */
void gr_points_clean(gr_diags *d, gr_str name, gr_points *p);

#endif
