/* One graph lowered once a process: what the texts of kernels and plans refer to. */
#ifndef GR_FUZZ_LOWERED_H
#define GR_FUZZ_LOWERED_H

#include "fuzz/catalog.h"
#include "fuzz/fuzz.h"
#include "ladder/plan/plan.h"

static const char fuzz_graph_text[] =
    "graph despike {\n  tier debug\n  tolerance default\n  budget gpu 256 MiB\n  symbol n = 108000\n  %x = input \"ecg\" : f32[n = 108000]\n"
    "  %y = user/kemal/windowed_median %x w=7 @ node \"median\"\n"
    "  %m = reduce_mean %y axes=[0] keep_dimensions=false @ node \"mean\"\n  %c = sub %y, %m @ node \"center\"\n  output \"clean\" %c\n}\n";

static inline const gr_kernels *fuzz_kernels(void) {
    static gr_arena a;
    static gr_graph g;
    static gr_kernels k;
    static bool made;
    if (made) return &k;
    gr_target t = gr_target_webgpu_default();
    gr_diags d;
    gr_diags_init(&d);
    FUZZ_CHECK(gr_graph_parse(&a, &d, GR_STR("fuzz.graph"), GR_STR(fuzz_graph_text), fuzz_catalog(), &g));
    FUZZ_CHECK(gr_graph_lower(&a, &d, &g, fuzz_catalog(), &t, &k));
    gr_diags_free(&d);
    made = true;
    return &k;
}

#endif
