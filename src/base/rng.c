#include "base/rng.h"

/* Constants of the paper: two odd multipliers and the Weyl increments of the key. */
enum { ROUNDS = 10 };
#define MUL_A 0xD2511F53u
#define MUL_B 0xCD9E8D57u
#define WEYL_A 0x9E3779B9u
#define WEYL_B 0xBB67AE85u

gr_u32x4 gr_philox(uint64_t key, uint64_t counter_hi, uint64_t counter_lo) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = (uint32_t)counter_lo, c1 = (uint32_t)(counter_lo >> 32);
    uint32_t c2 = (uint32_t)counter_hi, c3 = (uint32_t)(counter_hi >> 32);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t a = (uint64_t)MUL_A * c0, b = (uint64_t)MUL_B * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += WEYL_A;
        k1 += WEYL_B;
    }
    return (gr_u32x4){{c0, c1, c2, c3}};
}

gr_rng gr_rng_seed(uint64_t key) { return (gr_rng){.key = key}; }

uint32_t gr_rng_u32(gr_rng *r) {
    if (r->left == 0) {
        r->block = gr_philox(r->key, 0, r->at++);
        r->left = 4;
    }
    return r->block.v[4 - r->left--];
}

/* Multiply-shift; draws below 2^32 mod n would favour some results and are thrown away. */
uint32_t gr_rng_below(gr_rng *r, uint32_t n) {
    uint32_t reject = (0u - n) % n;
    uint64_t m;
    do m = (uint64_t)gr_rng_u32(r) * n;
    while ((uint32_t)m < reject);
    return (uint32_t)(m >> 32);
}

double gr_rng_f64(gr_rng *r) {
    uint64_t hi = gr_rng_u32(r);
    uint64_t bits = hi << 32 | gr_rng_u32(r);
    return (double)(bits >> 11) * 0x1p-53;
}

float gr_rng_f32(gr_rng *r) { return (float)(gr_rng_u32(r) >> 8) * 0x1p-24f; }
