/* profile_int.h: the parts of a profile's measurement. */
#ifndef GR_RUN_WEBGPU_PROFILE_INT_H
#define GR_RUN_WEBGPU_PROFILE_INT_H

#include "ladder/run/webgpu/profile.h"

/* profile_facts.c */
bool profile_facts(gr_arena *a, gr_diags *d, gr_gpu *g, gr_gpu_profile *out);
/* profile_errors.c */
bool profile_errors(gr_arena *a, gr_diags *d, gr_gpu *g, gr_gpu_profile *out);

#endif
