/* rng.h: Philox4x32-10, counter-based: the same bits on every platform and on GPUs.
 * Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef GR_BASE_RNG_H
#define GR_BASE_RNG_H

#include <stdint.h>

typedef struct gr_u32x4 { uint32_t v[4]; } gr_u32x4;
gr_u32x4 gr_philox(uint64_t key, uint64_t counter_hi, uint64_t counter_lo);

/* A sequential view for tests and generators. */
typedef struct gr_rng { uint64_t key, at; gr_u32x4 block; uint32_t left; } gr_rng;
gr_rng gr_rng_seed(uint64_t key);
uint32_t gr_rng_u32(gr_rng *r);
uint32_t gr_rng_below(gr_rng *r, uint32_t n); /* uniform in [0, n), unbiased; n > 0 */
double gr_rng_f64(gr_rng *r);                 /* [0, 1), 53 bits */
float gr_rng_f32(gr_rng *r);                  /* [0, 1), top 24 bits */

#endif
