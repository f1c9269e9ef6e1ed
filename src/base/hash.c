#include "base/hash.h"

#ifndef __wasm__
#include <openssl/evp.h>
#endif

/* Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t ror(uint32_t x, int n) { return x >> n | x << (32 - n); }
static uint32_t load_be(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* One 64-byte block; names as in FIPS 180-4, 6.2.2. */
static void compress(uint32_t h[8], const uint8_t *block) {
    uint32_t w[64];
    for (int t = 0; t < 16; t++) w[t] = load_be(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = ror(w[t - 15], 7) ^ ror(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = ror(w[t - 2], 17) ^ ror(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    uint32_t v[8];
    memcpy(v, h, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t S1 = ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25);
        uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + S1 + choose + K[t] + w[t];
        uint32_t S0 = ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + S0 + majority;
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
}

void gr_sha256_init(gr_sha256_state *s) {
    *s = (gr_sha256_state){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void gr_sha256_update(gr_sha256_state *s, const void *p, size_t n) {
    const uint8_t *b = p;
    s->bytes += n;
    while (n) {
        if (s->fill == 0 && n >= 64) {
            compress(s->h, b);
            b += 64, n -= 64;
            continue;
        }
        size_t take = 64 - s->fill < n ? 64 - s->fill : n;
        memcpy(s->block + s->fill, b, take);
        b += take, n -= take;
        s->fill += (uint32_t)take;
        if (s->fill == 64) {
            compress(s->h, s->block);
            s->fill = 0;
        }
    }
}

gr_sha256 gr_sha256_final(gr_sha256_state *s) {
    uint64_t bits = s->bytes * 8;
    static const uint8_t pad[64] = {0x80};
    gr_sha256_update(s, pad, s->fill < 56 ? 56 - s->fill : 120 - s->fill);
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    gr_sha256_update(s, length, 8);
    gr_sha256 out;
    for (int i = 0; i < 32; i++) out.b[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
    return out;
}

gr_sha256 gr_sha256_portable(const void *p, size_t n) {
    gr_sha256_state s;
    gr_sha256_init(&s);
    gr_sha256_update(&s, p, n);
    return gr_sha256_final(&s);
}

#ifdef __wasm__
gr_sha256 gr_sha256_of(const void *p, size_t n) { return gr_sha256_portable(p, n); }
#else
gr_sha256 gr_sha256_of(const void *p, size_t n) {
    gr_sha256 out;
    unsigned got = 0;
    if (EVP_Digest(p, n, out.b, &got, EVP_sha256(), NULL) == 1 && got == sizeof out.b) return out;
    return gr_sha256_portable(p, n); /* a crippled OpenSSL (no memory, no provider) */
}
#endif

bool gr_sha256_eq(gr_sha256 a, gr_sha256 b) { return memcmp(a.b, b.b, sizeof a.b) == 0; }

void gr_sha256_text(char out[72], gr_sha256 h) {
    static const char hex[] = "0123456789abcdef";
    memcpy(out, "sha256:", 7);
    for (int i = 0; i < 32; i++) {
        out[7 + 2 * i] = hex[h.b[i] >> 4];
        out[8 + 2 * i] = hex[h.b[i] & 15];
    }
    out[71] = 0;
}

/* Only lower-case digits: one value has one text. */
static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool gr_sha256_parse(gr_str text, gr_sha256 *out) {
    if (text.n != 71 || !gr_str_starts(text, "sha256:")) return false;
    gr_sha256 h;
    for (int i = 0; i < 32; i++) {
        int hi = hex_digit(text.p[7 + 2 * i]), lo = hex_digit(text.p[8 + 2 * i]);
        if (hi < 0 || lo < 0) return false;
        h.b[i] = (uint8_t)(hi << 4 | lo);
    }
    *out = h;
    return true;
}
