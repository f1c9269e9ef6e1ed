#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_MIN = 16 * 1024, ALIGN = 16 };

struct gr_arena_chunk {
    gr_arena_chunk *prev;
    size_t used, cap; /* bytes after the header */
    size_t pad;       /* keeps data 16-aligned behind the header */
};

/* The two counters below are the only state outside a session: they serve
 * fault injection in tests and are per thread, so sessions cannot meet in them. */
static _Thread_local uint64_t heap_fail_in;
static _Thread_local uint64_t heap_calls;

static bool fault_now(void) {
    heap_calls++;
    return heap_fail_in != 0 && --heap_fail_in == 0;
}

void gr_heap_fail_nth(uint64_t n) { heap_fail_in = n; }
uint64_t gr_heap_count(void) { return heap_calls; }

void *gr_heap_alloc(size_t n, size_t size) {
    if (fault_now()) return NULL;
    if (n == 0 || size == 0) n = size = 1;
    return calloc(n, size);
}

void *gr_heap_realloc(void *p, size_t n, size_t size) {
    if (fault_now()) return NULL;
    if (size != 0 && n > SIZE_MAX / size) return NULL;
    return realloc(p, n && size ? n * size : 1);
}

void gr_heap_free(void *p) { free(p); }

void gr_arena_init(gr_arena *a, size_t limit) {
    *a = (gr_arena){.limit = limit};
}

void gr_arena_free(gr_arena *a) {
    for (gr_arena_chunk *c = a->chunk, *prev; c; c = prev) {
        prev = c->prev;
        gr_heap_free(c);
    }
    *a = (gr_arena){.limit = a->limit};
}

bool gr_arena_failed(const gr_arena *a) { return a->failed; }

static bool add_chunk(gr_arena *a, size_t need) {
    size_t cap = a->chunk ? a->chunk->cap * 2 : CHUNK_MIN;
    if (cap > (size_t)8 << 20) cap = (size_t)8 << 20;
    if (cap < need) cap = need;
    if (cap > SIZE_MAX - sizeof(gr_arena_chunk)) return false;
    size_t bytes = cap + sizeof(gr_arena_chunk);
    if (a->limit && (bytes > a->limit || a->total > a->limit - bytes)) return false;
    gr_arena_chunk *c = gr_heap_alloc(1, bytes);
    if (!c) return false;
    c->prev = a->chunk;
    c->cap = cap;
    a->chunk = c;
    a->total += bytes;
    return true;
}

void *gr_arena_alloc(gr_arena *a, size_t n, size_t size) {
    if (size != 0 && n > (SIZE_MAX - ALIGN) / size) {
        a->failed = true;
        return NULL;
    }
    size_t bytes = (n * size + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes == 0) bytes = ALIGN;
    if ((!a->chunk || a->chunk->cap - a->chunk->used < bytes) && !add_chunk(a, bytes)) {
        a->failed = true;
        return NULL;
    }
    void *p = (char *)(a->chunk + 1) + a->chunk->used;
    a->chunk->used += bytes;
    return p;
}

void *gr_arena_grow(gr_arena *a, const void *old, size_t old_n, size_t new_n, size_t size) {
    void *p = gr_arena_alloc(a, new_n, size);
    if (p && old_n) memcpy(p, old, (old_n < new_n ? old_n : new_n) * size);
    return p;
}

char *gr_arena_strndup(gr_arena *a, const char *s, size_t n) {
    if (n == SIZE_MAX) return NULL;
    char *p = gr_arena_alloc(a, n + 1, 1);
    if (p && n) memcpy(p, s, n);
    return p;
}

char *gr_arena_printf(gr_arena *a, const char *fmt, ...) {
    va_list ap, ap2;
    va_start(ap, fmt);
    va_copy(ap2, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = n < 0 ? NULL : gr_arena_alloc(a, (size_t)n + 1, 1);
    if (p) vsnprintf(p, (size_t)n + 1, fmt, ap2);
    va_end(ap2);
    va_end(ap);
    return p;
}
