/* inputs.h: finding, reading and listing what a program takes. Not for clients. */
#ifndef GR_API_INPUTS_H
#define GR_API_INPUTS_H

#include "api/session.h"

/* Reads every input and parameter file of the canvas (relative to the document), converted to the
 * declared dtype (note run/input-converted). Inputs without a file and with a declared shape give a
 * type only. */
bool gr_program_load_inputs(gr_program *p, gr_input_type **types, uint32_t *types_n);
/* Fills program->inputs: graph values that are inputs or parameters, in order. */
bool gr_program_list_inputs(gr_program *p);

#endif
