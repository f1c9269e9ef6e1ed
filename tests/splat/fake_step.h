/* fake_step.h: step.h without a device: enough of a step that splats change by what they are shown, for the tests of the loop around it. */
#ifndef GR_TESTS_SPLAT_FAKE_STEP_H
#define GR_TESTS_SPLAT_FAKE_STEP_H

#include "splat/step.h"

typedef struct fake_seen {
    uint32_t steps, wrong_next; /* steps; steps that did not get the view which the step before had announced */
    uint32_t writes, reads;
    uint32_t fail_at, nan_at;   /* step that fails; step whose loss is NaN; 0 none */
    uint64_t most_bytes;        /* more is refused; 0 none */
} fake_seen;
extern fake_seen fake;

#endif
