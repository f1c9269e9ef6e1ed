/* step_int.h: what the files of the step share. */
#ifndef GR_SPLAT_STEP_INT_H
#define GR_SPLAT_STEP_INT_H

#include "splat/step.h"

/* Numbers of a row of geometry: mean, scale, rotation, opacity; and of a camera: rotation, translation, fx fy cx cy, degree. */
enum { GR_STEP_ROW = 11, GR_STEP_CAMERA = 17 };

/* Buffers that outlive runs, by the names that inputs and outputs of the graphs have. */
typedef enum gr_step_buffer {
    GR_STEP_GEOMETRY = 0, GR_STEP_SH, GR_STEP_GEOMETRY_M, GR_STEP_GEOMETRY_V, GR_STEP_SH_M, GR_STEP_SH_V, GR_STEP_SEEN,
    GR_STEP_CAMERA_, GR_STEP_BACKGROUND, GR_STEP_TRUTH, GR_STEP_RATE, GR_STEP_SH_RATE, GR_STEP_T, GR_STEP_WEIGHT, GR_STEP_LIVE, GR_STEP_KEY, GR_STEP_STRENGTH,
    GR_STEP_SPLAT, GR_STEP_RECT, GR_STEP_PLACE, GR_STEP_FIRST, GR_STEP_TILE, GR_STEP_OWNER, GR_STEP_RANK, GR_STEP_RANGE, GR_STEP_COUNT, GR_STEP_IMAGE,
    GR_STEP_MAP, GR_STEP_MAP_ODD, /* SSIM by pixel, of even and of odd steps */
    GR_STEP_BUFFERS
} gr_step_buffer;

uint32_t gr_step_tiles(uint32_t width, uint32_t height); /* of 16 x 16 pixels */
const char *gr_step_buffer_name(gr_step_buffer b); /* "geometry"; both maps are "map" */
uint64_t gr_step_buffer_bytes(const gr_step_desc *d, gr_step_buffer b);
/* Whether a graph takes or gives the map of SSIM: only when the host sums it. */
bool gr_step_has_map(const gr_setup *s);

/* The plans of a size. LOSS is the loss alone, of views that are not trained on; NOISE moves means behind an update. */
typedef enum gr_step_part { GR_STEP_FORWARD = 0, GR_STEP_UPDATE, GR_STEP_LOSS, GR_STEP_NOISE, GR_STEP_PARTS } gr_step_part;
bool gr_step_text(gr_buf *out, const gr_step_desc *d, uint32_t width, uint32_t height, gr_step_part part);

/* Of step.c, for step_state.c. set_live: rows were written; a prefetched forward is void. */
gr_session *gr_step_session(gr_step *s);
gr_buffer *gr_step_buffer_at(gr_step *s, gr_step_buffer b);
const gr_step_desc *gr_step_described(const gr_step *s);
void gr_step_set_live(gr_step *s, uint32_t n);

#endif
