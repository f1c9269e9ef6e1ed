/* checked.h: 64-bit integer arithmetic that says when it does not fit. */
#ifndef GR_BASE_CHECKED_H
#define GR_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* True when the exact result fits; *r is set then. */
static inline bool gr_add_i64(int64_t a, int64_t b, int64_t *r) { return !__builtin_add_overflow(a, b, r); }
static inline bool gr_sub_i64(int64_t a, int64_t b, int64_t *r) { return !__builtin_sub_overflow(a, b, r); }
static inline bool gr_mul_i64(int64_t a, int64_t b, int64_t *r) { return !__builtin_mul_overflow(a, b, r); }
static inline bool gr_mul_u64(uint64_t a, uint64_t b, uint64_t *r) { return !__builtin_mul_overflow(a, b, r); }

#endif
