/* cache.h: pictures decoded in the background, within a bound.
 *
 * Views are asked for by index. Threads decode what was announced; what was used longest ago is dropped when the bound is reached. Which
 * thread decodes what when changes nothing of what a caller gets. */
#ifndef GR_SPLAT_CACHE_H
#define GR_SPLAT_CACHE_H

#include "splat/scene.h"

typedef struct gr_cache gr_cache;

/* The scene must outlive the cache. bytes: of pictures kept, at least two are kept whatever their size; threads 0: decode in gr_cache_get. */
gr_cache *gr_cache_new(gr_diags *d, const gr_scene *scene, uint64_t bytes, uint32_t threads);
void gr_cache_free(gr_cache *c);
/* Asks for views that will be wanted soon, in that order; those that do not fit are skipped. */
void gr_cache_announce(gr_cache *c, const uint32_t *views, uint32_t n);
/* The picture, when it must be, after waiting; pinned until gr_cache_release. NULL when it cannot be decoded (reported each time). */
const gr_picture *gr_cache_get(gr_cache *c, gr_diags *d, uint32_t view);
void gr_cache_release(gr_cache *c, uint32_t view);

typedef struct gr_cache_stats {
    uint64_t bytes, peak;     /* held now, and at most so far */
    uint64_t decoded, waited; /* pictures decoded; calls of get that had to wait or decode */
} gr_cache_stats;
gr_cache_stats gr_cache_measure(gr_cache *c);

#endif
