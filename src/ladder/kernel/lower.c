/* lower.c: kernels to plan. The planner itself is the next rung's (plan/build.c). */
#include "ladder/kernel/kernel_int.h"
#include "ladder/plan/plan.h"

bool gr_kernels_lower(gr_arena *a, gr_diags *d, const gr_kernels *k, const gr_catalog *catalog, const gr_plan_options *o, gr_plan *out) {
    return gr_plan_make(a, d, k, catalog, o, out);
}
