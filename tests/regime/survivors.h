/* survivors.h: the list of mutants that are known to survive, tests/regime/survivors.txt. */
#ifndef GR_TESTS_SURVIVORS_H
#define GR_TESTS_SURVIVORS_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

/* A mutant's name that survives edits elsewhere in its file: the op's id, the file, the kind, which of the equal lines and which
 * column in it, and then "`line` => `what stands there instead`". */
typedef struct mutant_key { gr_str op, file, kind, place, change; } mutant_key;

typedef enum survivor_mark { SURVIVOR_NONE = 0, SURVIVOR_EQUAL /* as right as the kernel */, SURVIVOR_HOLE /* wrong, and no case shows it */ } survivor_mark;
typedef struct survivor { survivor_mark mark; mutant_key key; gr_str reason; uint32_t line, met; /* met: mutants that it named so far */ } survivor;
typedef struct survivors { survivor *v; uint32_t n, cap; } survivors;

/* Lines "=" or "!", key, reason, with tabs between; "#" begins a comment. Views into the text. *bad: the first line that is neither, 0 when
 * there is none. False when memory fails. */
bool survivors_read(gr_arena *a, gr_str text, survivors *out, uint32_t *bad);
/* "op file kind place change" taken apart; false when it has fewer parts. */
bool mutant_key_read(gr_str text, mutant_key *out);
/* The first entry that names the mutant, counted in `met`; NULL: none. In an entry, `any` as op, file, place or number of the line stands for all. */
survivor *survivors_find(survivors *s, const mutant_key *key);

#endif
