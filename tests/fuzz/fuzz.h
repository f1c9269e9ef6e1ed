/* fuzz.h: what every fuzz target needs. */
#ifndef GR_TESTS_FUZZ_H
#define GR_TESTS_FUZZ_H

#include "base/diag.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken property is a crash that says which. */
#define FUZZ_CHECK(x) \
    do { \
        if (!(x)) { \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #x); \
            abort(); \
        } \
    } while (0)

typedef struct fuzz {
    gr_arena a; /* limited: input of a few kilobytes may not ask for more */
    gr_diags d;
} fuzz;

static inline fuzz fuzz_open(void) {
    fuzz f = {.a = {.limit = (size_t)256 << 20}};
    gr_diags_init(&f.d);
    return f;
}

static inline void fuzz_close(fuzz *f) {
    FUZZ_CHECK(!gr_diags_has(&f->d, GR_D_BASE_OUT_OF_MEMORY));
    gr_diags_free(&f->d);
    gr_arena_free(&f->a);
}

#endif
