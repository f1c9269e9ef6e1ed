/* cloud.h: a set of splats in host memory, and the files that hold one.
 *
 * Coordinates are those of training: x right, y down, z forward where the scene came from COLMAP. Values are kept as they are
 * trained: logarithm of the scale, logit of the opacity, a quaternion that need not be of unit length. */
#ifndef GR_SPLAT_CLOUD_H
#define GR_SPLAT_CLOUD_H

#include "base/diag.h"

#define GR_SH_C0 0.28209479177387814 /* the constant spherical harmonic, 1 / (2 sqrt(pi)) */

enum { GR_SH_DEGREE_MAX = 3, GR_SH_MAX = 16 };

/* Coefficients of a degree: 1, 4, 9, 16. */
static inline uint32_t gr_sh_count(uint32_t degree) { return (degree + 1) * (degree + 1); }

typedef struct gr_cloud {
    uint32_t n;
    uint32_t sh_degree; /* 0..GR_SH_DEGREE_MAX */
    float *mean;        /* (n,3) */
    float *scale;       /* (n,3) natural logarithm of the standard deviation along each axis */
    float *rotation;    /* (n,4) w x y z */
    float *opacity;     /* (n) logit */
    float *sh;          /* (n,k,3) k = gr_sh_count(sh_degree); coefficient 0 is the base colour; red green blue inmost */
    bool antialiased;   /* trained with Mip compensation (kept by SPZ alone) */
} gr_cloud;

/* Zeroed arrays in the arena. base/out-of-memory. */
bool gr_cloud_new(gr_arena *a, gr_diags *d, uint32_t n, uint32_t sh_degree, gr_cloud *out);
/* The same splats with another degree: higher coefficients are dropped, or zero. */
bool gr_cloud_degree(gr_arena *a, gr_diags *d, const gr_cloud *c, uint32_t sh_degree, gr_cloud *out);

typedef enum gr_cloud_format {
    GR_CLOUD_NONE = 0,
    GR_CLOUD_PLY,            /* the standard 3DGS PLY: lossless */
    GR_CLOUD_COMPRESSED_PLY, /* chunked, 16 bytes a splat: read only */
    GR_CLOUD_SPZ,            /* versions 1 to 4 read, 3 written */
    GR_CLOUD_SPLAT,          /* 32 bytes a splat, no SH */
} gr_cloud_format;

const char *gr_cloud_format_name(gr_cloud_format f);
/* By content, and for .splat, which has no mark, by the ending of `name`. */
gr_cloud_format gr_cloud_format_of(gr_str name, gr_str bytes);

/* Reads any of them. splat/unknown-file; splat/ply-header, splat/ply-data, splat/ply-property; splat/spz; splat/splat-size;
 * splat/library-missing; splat/not-finite (a warning with the count). Memory follows the file's size. */
bool gr_cloud_read(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_cloud *out, gr_cloud_format *format);
bool gr_cloud_load(gr_arena *a, gr_diags *d, gr_str path, gr_cloud *out, gr_cloud_format *format);
/* By the ending: .ply, .spz, .splat. What a format cannot keep is the warning splat/lossy. */
bool gr_cloud_write(gr_buf *out, gr_diags *d, gr_str name, const gr_cloud *c, gr_cloud_format format);
bool gr_cloud_save(gr_diags *d, gr_str path, const gr_cloud *c);

/* The formats one by one. */
bool gr_cloud_read_ply(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_cloud *out, gr_cloud_format *format);
bool gr_cloud_write_ply(gr_buf *out, const gr_cloud *c);
bool gr_cloud_read_spz(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_cloud *out);
bool gr_cloud_write_spz(gr_buf *out, gr_diags *d, gr_str name, const gr_cloud *c);
bool gr_cloud_read_splat(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_cloud *out);
bool gr_cloud_write_splat(gr_buf *out, gr_diags *d, gr_str name, const gr_cloud *c);

#endif
