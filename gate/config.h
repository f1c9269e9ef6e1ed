/* config.h: what two arms differ in. */
#ifndef GR_GATE_CONFIG_H
#define GR_GATE_CONFIG_H

#include "gate/record.h"

/* Reads a configuration file (TOML) and lays flat what it resolves to: what `resolver`, a shell command with {config} in it, prints as
 * TOML or JSON (its member "config" when there is one), or the file as it stands when resolver is "". gate/config-refused. */
bool gate_config_resolve(gr_arena *a, gr_diags *d, gr_str file, const char *resolver, gate_keys *out);

/* The flags of a series. named: the keys that --flag gave; none means one key, whichever it is.
 * gate/flags-differ lists what differs beyond or beside them. */
bool gate_config_flags(gr_arena *a, gr_diags *d, const gate_keys *off, const gate_keys *on, const gr_str *named, uint32_t named_n,
                       gate_flag **out, uint32_t *n);

#endif
