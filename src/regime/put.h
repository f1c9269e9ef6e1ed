/* put.h: members of JSON objects. Each returns false when memory fails. */
#ifndef GR_REGIME_PUT_H
#define GR_REGIME_PUT_H

#include "base/hash.h"
#include "base/value.h"

static inline bool gr_put_str(gr_arena *a, gr_value *o, const char *key, gr_str s) { return gr_value_set(a, o, key, gr_value_new_str(a, s)); }
static inline bool gr_put_count(gr_arena *a, gr_value *o, const char *key, uint64_t n) {
    return gr_value_set(a, o, key, gr_value_new_i64(a, (int64_t)n));
}
static inline gr_value *gr_hash_value(gr_arena *a, gr_sha256 h) {
    char text[72];
    gr_sha256_text(text, h);
    gr_str s = gr_str_dup(a, gr_str_of(text));
    return s.p ? gr_value_new_str(a, s) : NULL;
}
static inline bool gr_put_hash(gr_arena *a, gr_value *o, const char *key, gr_sha256 h) { return gr_value_set(a, o, key, gr_hash_value(a, h)); }

#endif
