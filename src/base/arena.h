/* arena.h: bump allocation with one owner and one release.
 *
 * Every rung output lives in one arena; inside it nothing is freed singly.
 * An allocation can fail: the caller checks for NULL and returns. The first
 * failure is remembered (gr_arena_failed) so that whoever owns the arena can
 * report base/out-of-memory once. */
#ifndef GR_BASE_ARENA_H
#define GR_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gr_arena_chunk gr_arena_chunk;

typedef struct gr_arena {
    gr_arena_chunk *chunk; /* newest first; NULL when empty */
    size_t total;          /* bytes obtained from the system */
    size_t limit;          /* 0 means no limit; beyond it allocation fails */
    bool failed;           /* sticky */
} gr_arena;

/* A zero gr_arena is a valid empty arena; init only sets the limit (bytes, 0 = none). */
void gr_arena_init(gr_arena *a, size_t limit);
/* Releases all memory; the arena is empty and usable again. */
void gr_arena_free(gr_arena *a);
bool gr_arena_failed(const gr_arena *a);

/* Zeroed memory for n objects of size bytes, aligned to 16. NULL on overflow,
 * limit or system failure. n == 0 or size == 0 gives a valid unique pointer. */
void *gr_arena_alloc(gr_arena *a, size_t n, size_t size);
/* Grows the last or any earlier allocation: copies old_n objects into a new block. */
void *gr_arena_grow(gr_arena *a, const void *old, size_t old_n, size_t new_n, size_t size);
char *gr_arena_strndup(gr_arena *a, const char *s, size_t n);
char *gr_arena_printf(gr_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define GR_NEW(a, T) ((T *)gr_arena_alloc((a), 1, sizeof(T)))
#define GR_NEW_N(a, T, n) ((T *)gr_arena_alloc((a), (n), sizeof(T)))

/* Heap calls that honour fault injection; arenas and long-lived owners use these. */
void *gr_heap_alloc(size_t n, size_t size); /* zeroed; NULL on failure */
void *gr_heap_realloc(void *p, size_t n, size_t size);
void gr_heap_free(void *p);

/* Test hook: the n-th following heap allocation (1 = the next) fails once;
 * 0 disarms. Thread-local; compiled in always, costs one branch. */
void gr_heap_fail_nth(uint64_t n);
/* Number of heap allocations made by this thread, for fault sweeps. */
uint64_t gr_heap_count(void);

#endif
