/* record.h: what every record says of a program: promises, plan, ops, receipts, engine. Not for clients. */
#ifndef GR_API_RECORD_H
#define GR_API_RECORD_H

#include "api/session.h"

/* Sets document, promises, plan, executor, ops, receipts, effects and the hashes of loaded data into an object. False when reported. */
bool gr_record_program(gr_arena *a, gr_value *obj, gr_program *p);

#endif
