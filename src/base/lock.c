#include "base/lock.h"

#ifdef __wasi__ /* one process, no device to share */

bool gr_lock_take(gr_diags *d, const char *path, const char *owner, gr_lock_waiting *waiting, void *user, gr_lock *out) {
    (void)d, (void)path, (void)owner, (void)waiting, (void)user;
    *out = (gr_lock){0};
    return true;
}
bool gr_lock_device(gr_diags *d, const char *owner, gr_lock_waiting *waiting, void *user, gr_lock *out) {
    return gr_lock_take(d, NULL, owner, waiting, user, out);
}
void gr_lock_release(gr_lock *l) { *l = (gr_lock){0}; }

#else

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* Another user's file may be readable only, which is enough for flock. */
static int open_lock(const char *path) {
    int fd = open(path, O_RDWR | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
    return fd >= 0 ? fd : open(path, O_RDONLY | O_NOFOLLOW);
}

static void tell_waiting(int fd, gr_lock_waiting *waiting, void *user) {
    char text[256];
    ssize_t n = pread(fd, text, sizeof text, 0);
    gr_str owner = {text, n > 0 ? (size_t)n : 0};
    while (owner.n && (owner.p[owner.n - 1] == '\n' || owner.p[owner.n - 1] == 0)) owner.n--;
    if (waiting) waiting(user, owner);
}

/* Best effort: the lock holds without its text too. */
static void sign(int fd, const char *owner) {
    if (ftruncate(fd, 0) != 0) return;
    ssize_t put = pwrite(fd, owner, strlen(owner), 0);
    (void)put;
}

bool gr_lock_take(gr_diags *d, const char *path, const char *owner, gr_lock_waiting *waiting, void *user, gr_lock *out) {
    *out = (gr_lock){0};
    int fd = open_lock(path), rc;
    if (fd < 0) return gr_report(d, GR_D_BASE_FILE_UNREADABLE, gr_place_doc(path), NULL, "cannot open the lock %s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        tell_waiting(fd, waiting, user);
        do rc = flock(fd, LOCK_EX);
        while (rc != 0 && errno == EINTR);
        if (rc != 0) {
            close(fd);
            return gr_report(d, GR_D_BASE_FILE_UNREADABLE, gr_place_doc(path), NULL, "cannot lock %s: %s", path, strerror(errno));
        }
    }
    sign(fd, owner);
    *out = (gr_lock){fd, true};
    return true;
}

bool gr_lock_device(gr_diags *d, const char *owner, gr_lock_waiting *waiting, void *user, gr_lock *out) {
    const char *held = getenv("GRADUS_DEVICE_LOCKED"), *path = getenv("GRADUS_DEVICE_LOCK");
    *out = (gr_lock){0};
    if (held && *held) return true;
    return gr_lock_take(d, path && *path ? path : "/tmp/gradus-device.lock", owner, waiting, user, out);
}

void gr_lock_release(gr_lock *l) {
    if (!l->held) return;
    sign(l->fd, "");
    flock(l->fd, LOCK_UN);
    close(l->fd);
    *l = (gr_lock){0};
}

#endif
