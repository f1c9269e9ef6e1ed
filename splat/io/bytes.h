/* bytes.h: little-endian numbers in untrusted bytes. */
#ifndef GR_SPLAT_BYTES_H
#define GR_SPLAT_BYTES_H

#include "base/str.h"

static inline uint16_t gr_get_u16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t gr_get_u32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t gr_get_u64(const uint8_t *p) { return gr_get_u32(p) | (uint64_t)gr_get_u32(p + 4) << 32; }
static inline float gr_get_f32(const uint8_t *p) {
    uint32_t u = gr_get_u32(p);
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
static inline double gr_get_f64(const uint8_t *p) {
    uint64_t u = gr_get_u64(p);
    double f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline void gr_put_u32(gr_buf *b, uint32_t v) {
    const char p[4] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};
    gr_buf_put(b, p, 4);
}
static inline void gr_put_u64(gr_buf *b, uint64_t v) {
    gr_put_u32(b, (uint32_t)v);
    gr_put_u32(b, (uint32_t)(v >> 32));
}
static inline void gr_put_f32(gr_buf *b, float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    gr_put_u32(b, u);
}
static inline void gr_put_f64(gr_buf *b, double f) {
    uint64_t u;
    memcpy(&u, &f, sizeof u);
    gr_put_u64(b, u);
}

/* A cursor: a read past the end sets `short_` and gives zeros, so that a record is checked once. */
typedef struct gr_bytes {
    const uint8_t *p;
    size_t n, at;
    bool short_;
} gr_bytes;

static inline gr_bytes gr_bytes_of(gr_str s) { return (gr_bytes){(const uint8_t *)s.p, s.n, 0, false}; }
static inline size_t gr_bytes_left(const gr_bytes *b) { return b->n - b->at; }
/* n bytes, or NULL when there are fewer. */
static inline const uint8_t *gr_bytes_take(gr_bytes *b, size_t n) {
    if (b->short_ || n > gr_bytes_left(b)) {
        b->short_ = true;
        return NULL;
    }
    b->at += n;
    return b->p + b->at - n;
}
static inline uint32_t gr_bytes_u32(gr_bytes *b) {
    const uint8_t *p = gr_bytes_take(b, 4);
    return p ? gr_get_u32(p) : 0;
}
static inline uint64_t gr_bytes_u64(gr_bytes *b) {
    const uint8_t *p = gr_bytes_take(b, 8);
    return p ? gr_get_u64(p) : 0;
}
static inline double gr_bytes_f64(gr_bytes *b) {
    const uint8_t *p = gr_bytes_take(b, 8);
    return p ? gr_get_f64(p) : 0;
}

#endif
