/* inputs.h: finding, reading and listing what a program takes. Not for clients. */
#ifndef GR_API_INPUTS_H
#define GR_API_INPUTS_H

#include "api/session.h"

/* Reads every input and parameter file of the canvas (relative to the document), converted to the
 * declared dtype (note run/input-converted). Inputs without a file and with a declared shape give a
 * type only. */
bool gr_program_load_inputs(gr_program *p, gr_input_type **types, uint32_t *types_n);
/* ---- stream.c: inputs of the class "disk" ---------------------------------------- */

/* Opens a file for reading in parts; the program closes it at its end. */
bool gr_loaded_open(gr_program *p, const gr_canvas_node *n, gr_str path, gr_loaded *out);
void gr_program_close_files(gr_program *p);
/* user: a gr_loaded. Bytes [at, at + n) of the input in device layout, as gr_host_source wants them. */
bool gr_loaded_read_device(void *user, gr_diags *d, uint64_t at, uint64_t n, void *to);
/* n rows of any loaded input, one behind another in host layout; rows that follow each other are read together. */
bool gr_loaded_rows(const gr_loaded *l, gr_diags *d, const uint64_t *rows, uint64_t n, void *to);
/* Over the data as it is in memory or in the file, which is then read once. */
bool gr_loaded_hash(const gr_loaded *l, gr_diags *d, gr_sha256 *out);

/* Fills program->inputs: graph values that are inputs or parameters, in order. */
bool gr_program_list_inputs(gr_program *p);

#endif
