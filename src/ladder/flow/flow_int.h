/* flow_int.h: what the files of this rung share. Private to src/ladder/flow. */
#ifndef GR_FLOW_INT_H
#define GR_FLOW_INT_H

#include "ladder/flow/flow.h"

/* The invariants of README.md; written: complaints are the writer's (flow/invalid), else ours. */
bool gr_flow_check(gr_diags *d, const gr_flow *f, bool written);

#endif
