/* The tree's own ops, loaded once a process: for the targets whose text names ops. */
#ifndef GR_FUZZ_CATALOG_H
#define GR_FUZZ_CATALOG_H

#include "contract/contract.h"

#include <stdlib.h>

static inline const gr_catalog *fuzz_catalog(void) {
    static gr_catalog *c;
    if (c) return c;
    const char *root = getenv("GRADUS_ROOT");
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    c = gr_catalog_new();
    const char *own = gr_arena_printf(&a, "%s/catalog", root ? root : ".");
    const char *users = gr_arena_printf(&a, "%s/examples/ops", root ? root : ".");
    if (!c || !own || !users || !gr_catalog_load(c, &d, gr_str_of(own)) || !gr_catalog_load(c, &d, gr_str_of(users))) abort();
    gr_diags_free(&d);
    gr_arena_free(&a);
    return c;
}

#endif
