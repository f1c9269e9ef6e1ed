/* adopt.h: what must change when a finding's verdict becomes the default. */
#ifndef GR_GATE_ADOPT_H
#define GR_GATE_ADOPT_H

#include "gate/finding.h"

/* Prints, for each key the finding decides: the default now, every line of the program's sources where it stands, the configurations that
 * leave the key out, whose path changes silently, and those that set it. */
bool gate_adopt(gate_index *x, gr_str id, gr_buf *out);

#endif
