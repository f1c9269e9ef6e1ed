/* lock.h: one owner at a time of this machine's device, over processes, by flock(2).
 *
 * Measurements that share a GPU measure each other. Whoever times a device takes the lock first; the text of the lock file
 * says who holds it. The lock goes with the last process that has the descriptor: children inherit it, so that a
 * run whose parent was killed still holds the device until it ends. */
#ifndef GR_BASE_LOCK_H
#define GR_BASE_LOCK_H

#include "base/diag.h"

typedef struct gr_lock { int fd; bool held; } gr_lock; /* zero: not held */

/* Called once before waiting, with what the holder said of itself (may be empty). */
typedef void gr_lock_waiting(void *user, gr_str owner);

/* Waits for the lock file at path, made when absent. base/file-unreadable when it cannot be opened. */
bool gr_lock_take(gr_diags *d, const char *path, const char *owner, gr_lock_waiting *waiting, void *user, gr_lock *out);
/* The device's lock: the file that GRADUS_DEVICE_LOCK names, else /tmp/gradus-device.lock. Under a gate, which holds it for its
 * runs (GRADUS_DEVICE_LOCKED=1), nothing is taken. */
bool gr_lock_device(gr_diags *d, const char *owner, gr_lock_waiting *waiting, void *user, gr_lock *out);
/* Lets go for every process that inherited it. */
void gr_lock_release(gr_lock *l);

#endif
