/* checkpoint.h: a training on disk, between two steps.
 *
 * One safetensors file: the arrays of gr_state, and in its metadata the step, the configuration as resolved, and hashes. It is written beside
 * and renamed: a full disk leaves the earlier one. What was read back goes on as if it had never been written. */
#ifndef GR_SPLAT_CHECKPOINT_H
#define GR_SPLAT_CHECKPOINT_H

#include "splat/config.h"
#include "splat/state.h"

typedef struct gr_checkpoint {
    uint32_t step;        /* done */
    const gr_config *config;
    const char *data_hash; /* "sha256:..." of the data set; may be NULL */
    double extent;         /* of the scene */
} gr_checkpoint;

/* base/file-unwritable, base/out-of-memory. */
bool gr_checkpoint_save(gr_diags *d, gr_str path, const gr_checkpoint *c, const gr_state *s);

typedef struct gr_checkpoint_read {
    uint32_t step, n, sh_degree;
    gr_str config;    /* as TOML */
    gr_str data_hash;
    double extent;
} gr_checkpoint_read;

/* What a checkpoint says of itself. splat/checkpoint for a file that is none or damaged. */
bool gr_checkpoint_look(gr_arena *a, gr_diags *d, gr_str path, gr_checkpoint_read *out);
/* Reads it into s, a new state of the given capacity (free it whatever is returned). splat/checkpoint when it holds more splats than
 * that, another degree of harmonics, or arrays that do not fit each other. */
bool gr_checkpoint_load(gr_arena *a, gr_diags *d, gr_str path, uint32_t cap, uint32_t sh_degree, gr_checkpoint_read *out, gr_state *s);
/* Whether a training of configuration c may go on from one of `then`: every key that shapes the result is the same; those that differ are
 * named by splat/checkpoint-config. Paths, logging, caches and the backend's order of work may differ. */
bool gr_checkpoint_fits(gr_arena *a, gr_diags *d, gr_str path, const gr_checkpoint_read *then, const gr_config *c);
/* "sha256:..." of the keys that shape the result. */
void gr_checkpoint_config_hash(const gr_config *c, char out[72]);

#endif
