/* state.h: what a training holds of its splats on the host: values, Adam's moments, and the statistics of refinement.
 *
 * Arrays have rows of a fixed capacity, of which the first n count: memory is planned once and nothing grows. The device's copy has the
 * same rows (step.h). */
#ifndef GR_SPLAT_STATE_H
#define GR_SPLAT_STATE_H

#include "splat/io/cloud.h"

typedef enum gr_group { GR_GROUP_MEANS = 0, GR_GROUP_SCALE, GR_GROUP_ROTATION, GR_GROUP_OPACITY, GR_GROUP_SH, GR_GROUPS } gr_group;
const char *gr_group_name(gr_group g); /* "means" "scale" "rotation" "opacity" "sh" */
/* Numbers a splat: 3 (as in gr_cloud), 3, 4, 1, and 3 a coefficient. */
uint32_t gr_group_width(gr_group g, uint32_t sh_degree);

typedef struct gr_state {
    uint32_t n, cap, sh_degree;
    float *value[GR_GROUPS], *m[GR_GROUPS], *v[GR_GROUPS]; /* (cap, width); heap */
    /* Since the last refinement: the norm of the gradient by the projected mean, in units of half a picture's width and height, summed over
     * the views in which a splat was seen; and how many those were. (cap) */
    float *grad_sum, *grad_count;
} gr_state;

/* Zeroed, n = 0. base/out-of-memory; free it whatever is returned. */
bool gr_state_new(gr_diags *d, uint32_t cap, uint32_t sh_degree, gr_state *out);
void gr_state_free(gr_state *s);
/* Takes the values of a cloud of at most cap splats and of the same degree; moments and statistics are zeroed. */
void gr_state_set(gr_state *s, const gr_cloud *c);
/* The values as a cloud: a view, which s owns. */
gr_cloud gr_state_cloud(const gr_state *s);
/* Row `to` becomes a copy of row `from`, moments and statistics included. */
void gr_state_move(gr_state *s, uint32_t to, uint32_t from);
/* Moments of a row become 0: it is another splat now. */
void gr_state_forget(gr_state *s, uint32_t row);
void gr_state_clear_statistics(gr_state *s);
/* Whether every value of a row is finite. */
bool gr_state_finite(const gr_state *s, uint32_t row);
/* "sha256:..." of the values of all splats, group by group; with the moments when asked for. */
void gr_state_hash(const gr_state *s, bool moments, char out[72]);

#endif
