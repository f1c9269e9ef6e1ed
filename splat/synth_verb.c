/* gradus splat synth DIR. */
#include <stdio.h>

#include "splat/synth.h"
#include "splat/verbs.h"

static int run(const gr_args *args, gr_diags *d) {
    gr_synth_desc desc = {.width = 128, .height = 96, .views = 24, .shapes = 32, .points = 2000, .seed = 1};
    uint32_t seed = 1;
    gr_arena a = {0};
    bool ok = gr_args_u32(args, d, "width", 8, 4096, &desc.width);
    desc.height = desc.width * 3 / 4;
    ok = gr_args_u32(args, d, "height", 8, 4096, &desc.height) && ok;
    ok = gr_args_u32(args, d, "views", 2, 1000, &desc.views) && ok;
    ok = gr_args_u32(args, d, "shapes", 1, GR_SYNTH_SHAPES_MAX, &desc.shapes) && ok;
    ok = gr_args_u32(args, d, "points", 0, 1000000, &desc.points) && ok;
    ok = gr_args_u32(args, d, "seed", 0, 1000000000, &seed) && ok;
    desc.seed = seed;
    ok = ok && gr_synth_write(&a, d, gr_str_of(args->arg[0]), &desc);
    if (ok && args->json)
        printf("{\"views\": %u, \"width\": %u, \"height\": %u, \"shapes\": %u, \"points\": %u, \"seed\": %u}\n", desc.views, desc.width, desc.height, desc.shapes, desc.points, seed);
    else if (ok && !args->quiet)
        printf("%s: %u views of %u x %u pixels of %u shapes, %u points, seed %u\n", args->arg[0], desc.views, desc.width, desc.height, desc.shapes, desc.points, seed);
    gr_arena_free(&a);
    return ok ? 0 : gr_diags_exit_code(d);
}

const gr_verb gr_verb_synth = {
    "synth", "DIR", "Make a procedural scene: pictures, a COLMAP model and a configuration, the same bytes everywhere.",
    "  gradus splat synth scene\n  gradus splat synth big --width 512 --views 60 --seed 7\n", 1, 1, run,
    {{"width", "N", "Pixels across (default 128)", false}, {"height", "N", "Pixels down (default three quarters of the width)", false}, {"views", "N", "Pictures (default 24)", false},
     {"shapes", "N", "Ellipsoids (default 32)", false}, {"points", "N", "Points to start from (default 2000)", false}, {"seed", "N", "Another scene (default 1)", false}}, NULL};
