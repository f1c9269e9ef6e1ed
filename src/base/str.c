#include "base/str.h"

#include "base/math.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool gr_str_starts(gr_str s, const char *prefix) {
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

bool gr_str_ends(gr_str s, const char *suffix) {
    size_t n = strlen(suffix);
    return s.n >= n && memcmp(s.p + s.n - n, suffix, n) == 0;
}

int gr_str_cmp(gr_str a, gr_str b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c) return c;
    return (a.n > b.n) - (a.n < b.n);
}

gr_str gr_str_dup(gr_arena *a, gr_str s) {
    char *p = gr_arena_strndup(a, s.p, s.n);
    return p ? (gr_str){p, s.n} : (gr_str){0};
}

int gr_str_distance(gr_str a, gr_str b) {
    enum { MAX = 48 };
    if (a.n > MAX || b.n > MAX) return 3;
    int row[MAX + 1];
    for (size_t j = 0; j <= b.n; j++) row[j] = (int)j;
    for (size_t i = 1; i <= a.n; i++) {
        int diag = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b.n; j++) {
            int up = row[j], best = diag + (a.p[i - 1] != b.p[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diag = up;
            row[j] = best;
        }
    }
    return row[b.n] > 3 ? 3 : row[b.n];
}

void gr_buf_free(gr_buf *b) {
    gr_heap_free(b->p);
    *b = (gr_buf){0};
}

void gr_buf_clear(gr_buf *b) {
    b->n = 0;
    if (b->p) b->p[0] = 0;
}

static bool buf_reserve(gr_buf *b, size_t extra) {
    if (b->failed) return false;
    if (extra < b->cap - b->n && b->cap) return true;
    size_t cap = b->cap ? b->cap : 256;
    while (cap - b->n <= extra) {
        if (cap > SIZE_MAX / 2) return !(b->failed = true);
        cap *= 2;
    }
    char *p = gr_heap_realloc(b->p, cap, 1);
    if (!p) return !(b->failed = true);
    b->p = p;
    b->cap = cap;
    return true;
}

void gr_buf_put(gr_buf *b, const char *s, size_t n) {
    if (!buf_reserve(b, n)) return;
    if (n) memcpy(b->p + b->n, s, n);
    b->n += n;
    b->p[b->n] = 0;
}

void gr_buf_putc(gr_buf *b, char c) { gr_buf_put(b, &c, 1); }
void gr_buf_puts(gr_buf *b, const char *z) { gr_buf_put(b, z, strlen(z)); }
void gr_buf_str(gr_buf *b, gr_str s) { gr_buf_put(b, s.p, s.n); }

void gr_buf_html(gr_buf *b, gr_str s) {
    for (size_t i = 0; i < s.n; i++)
        switch (s.p[i]) {
        case '&': gr_buf_puts(b, "&amp;"); break;
        case '<': gr_buf_puts(b, "&lt;"); break;
        case '>': gr_buf_puts(b, "&gt;"); break;
        case '"': gr_buf_puts(b, "&quot;"); break;
        case '\'': gr_buf_puts(b, "&#39;"); break;
        default: gr_buf_putc(b, s.p[i]);
        }
}

void gr_buf_printf(gr_buf *b, const char *fmt, ...) {
    va_list ap, ap2;
    va_start(ap, fmt);
    va_copy(ap2, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && buf_reserve(b, (size_t)n)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap2);
        b->n += (size_t)n;
    } else {
        b->failed = true;
    }
    va_end(ap2);
    va_end(ap);
}

/* %g with rising precision until it reads back: at most 17 tries, exact. */
static void put_shortest(gr_buf *b, double v, bool single) {
    if (isnan(v)) { gr_buf_puts(b, "nan"); return; }
    if (isinf(v)) { gr_buf_puts(b, v < 0 ? "-inf" : "inf"); return; }
    char t[40];
    if (v == gr_floor(v) && fabs(v) < 9007199254740992.0) {
        snprintf(t, sizeof t, "%s%.0f", v == 0 && signbit(v) ? "-" : "", fabs(v) == 0 ? 0.0 : v);
        gr_buf_puts(b, t);
        return;
    }
    for (int prec = 1; prec <= 17; prec++) {
        snprintf(t, sizeof t, "%.*g", prec, v);
        if (single ? strtof(t, NULL) == (float)v : strtod(t, NULL) == v) break;
    }
    gr_buf_puts(b, t);
}

void gr_buf_f64(gr_buf *b, double v) { put_shortest(b, v, false); }
void gr_buf_f32(gr_buf *b, float v) { put_shortest(b, (double)v, true); }

bool gr_vec_reserve_(gr_arena *a, void **v, uint32_t *cap, uint32_t n, size_t size) {
    if (*cap >= UINT32_MAX / 2) return false;
    uint32_t want = *cap ? *cap * 2 : 8;
    void *p = gr_arena_grow(a, *v, n, want, size);
    if (!p) return false;
    *v = p;
    *cap = want;
    return true;
}

static uint32_t hash_str(gr_str s) { /* FNV-1a, 64 bits folded */
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
    return (uint32_t)(h ^ h >> 32);
}

static gr_map_slot *map_find(const gr_map *m, gr_str key) {
    uint32_t i = hash_str(key) & (m->cap - 1);
    while (m->slot[i].used && !gr_str_eq(m->slot[i].key, key)) i = (i + 1) & (m->cap - 1);
    return &m->slot[i];
}

static bool map_grow(gr_arena *a, gr_map *m) {
    if (m->cap >= UINT32_MAX / 4) return false;
    gr_map big = {.cap = m->cap ? m->cap * 2 : 16};
    big.slot = GR_NEW_N(a, gr_map_slot, big.cap);
    if (!big.slot) return false;
    for (uint32_t i = 0; i < m->cap; i++)
        if (m->slot[i].used) *map_find(&big, m->slot[i].key) = m->slot[i];
    big.n = m->n;
    *m = big;
    return true;
}

bool gr_map_put(gr_arena *a, gr_map *m, gr_str key, uint32_t value) {
    if (m->n * 4 >= m->cap * 3 && !map_grow(a, m)) return false;
    gr_map_slot *s = map_find(m, key);
    if (!s->used) m->n++;
    *s = (gr_map_slot){key, value, true};
    return true;
}

bool gr_map_get(const gr_map *m, gr_str key, uint32_t *value) {
    if (!m->cap) return false;
    const gr_map_slot *s = map_find(m, key);
    if (s->used && value) *value = s->value;
    return s->used;
}
