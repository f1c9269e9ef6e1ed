/* str.h: string views, a growing text buffer, a typed vector and a string map. */
#ifndef GR_BASE_STR_H
#define GR_BASE_STR_H

#include "base/arena.h"

#include <string.h>

/* A view: not owned, not necessarily NUL-terminated. */
typedef struct gr_str {
    const char *p;
    size_t n;
} gr_str;

#define GR_STR(lit) ((gr_str){(lit), sizeof(lit) - 1})
#define GR_STR_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

static inline gr_str gr_str_of(const char *z) { return (gr_str){z, z ? strlen(z) : 0}; }
static inline bool gr_str_eq(gr_str a, gr_str b) {
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool gr_str_eqz(gr_str a, const char *z) { return gr_str_eq(a, gr_str_of(z)); }
bool gr_str_starts(gr_str s, const char *prefix);
bool gr_str_ends(gr_str s, const char *suffix);
static inline bool gr_str_has(gr_str s, char c) { return s.n && memchr(s.p, c, s.n); }
int gr_str_cmp(gr_str a, gr_str b); /* byte order */
/* Copies into the arena, NUL-terminated behind the view. {NULL,0} on failure. */
gr_str gr_str_dup(gr_arena *a, gr_str s);
/* Edit distance capped at 3, for "did you mean" hints; 3 also means far. */
int gr_str_distance(gr_str a, gr_str b);

/* Growing text in heap memory; always NUL-terminated when non-NULL.
 * A failed growth sets failed and later writes do nothing, so that a printer
 * checks once at its end. Owner calls gr_buf_free. */
typedef struct gr_buf {
    char *p;
    size_t n, cap;
    bool failed;
} gr_buf;

void gr_buf_free(gr_buf *b);
void gr_buf_clear(gr_buf *b); /* keeps memory */
void gr_buf_put(gr_buf *b, const char *s, size_t n);
void gr_buf_putc(gr_buf *b, char c);
void gr_buf_puts(gr_buf *b, const char *z);
void gr_buf_str(gr_buf *b, gr_str s);
void gr_buf_html(gr_buf *b, gr_str s); /* escaped, for text and for attributes in quotes of either kind */
void gr_buf_printf(gr_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline gr_str gr_buf_view(const gr_buf *b) { return (gr_str){b->p ? b->p : "", b->n}; }

/* Shortest decimal that reads back as the same value; "nan", "inf", "-inf" for
 * those; integers below 2^53 without exponent. Locale-independent. */
void gr_buf_f64(gr_buf *b, double v);
void gr_buf_f32(gr_buf *b, float v);

/* Typed vector in an arena: GR_VEC(int) v = {0}; *GR_PUSH(a, &v) = 3;
 * GR_PUSH gives NULL when memory fails. Elements are zeroed. Growth moves. */
#define GR_VEC(T) struct { T *v; uint32_t n, cap; }
#define GR_PUSH(a, vec) \
    ((vec)->n < (vec)->cap || \
             gr_vec_reserve_((a), (void **)&(vec)->v, &(vec)->cap, (vec)->n, sizeof *(vec)->v) \
         ? &(vec)->v[(vec)->n++] : NULL)
bool gr_vec_reserve_(gr_arena *a, void **v, uint32_t *cap, uint32_t n, size_t size);

/* String-keyed map to a 32-bit value; keys are views that must outlive the map. */
typedef struct gr_map_slot {
    gr_str key;
    uint32_t value;
    bool used;
} gr_map_slot;
typedef struct gr_map {
    gr_map_slot *slot;
    uint32_t n, cap; /* cap is a power of two or zero */
} gr_map;
/* Inserts or overwrites; false when memory fails. */
bool gr_map_put(gr_arena *a, gr_map *m, gr_str key, uint32_t value);
/* True when found; *value may be NULL. */
bool gr_map_get(const gr_map *m, gr_str key, uint32_t *value);

#endif
