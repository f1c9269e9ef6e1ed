/* subscript.h: a storage array read through a function instead: text in, text out. */
#ifndef GR_WGSL_SUBSCRIPT_H
#define GR_WGSL_SUBSCRIPT_H

#include "base/str.h"

/* Whether the name stands for the module's variable alone: it is declared once at module scope, as `… name: array<…>;`, and
 * everywhere else stands before [. Members (.name) do not count. */
bool gr_wgsl_only_subscripted(gr_str text, gr_str name);

/* The text without the declaration of the variable, and with name[index] as function(index). */
void gr_wgsl_put_subscripts(gr_buf *out, gr_str text, gr_str name, gr_str function);

#endif
