/* Behaviour analysis (filled in next). */
#include "wgsl/wgsl_int.h"

bool gr_wgsl_check_behaviour(gr_wgsl_front *f) { return f != NULL; }
