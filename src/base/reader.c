#include "base/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool unreadable(gr_diags *d, gr_str path, const char *why) {
    return gr_report(d, GR_D_BASE_FILE_UNREADABLE, (gr_place){.document = path}, NULL, "cannot read %.*s: %s", GR_STR_ARG(path), why);
}

bool gr_reader_open(gr_diags *d, gr_str path, gr_reader *out) {
    struct stat st;
    *out = (gr_reader){.name = path, .fd = -1};
    if (path.n && memchr(path.p, 0, path.n)) return unreadable(d, path, strerror(EINVAL));
    char *z = gr_heap_alloc(path.n + 1, 1);
    if (!z) return gr_report_oom(d);
    if (path.n) memcpy(z, path.p, path.n);
    out->fd = open(z, O_RDONLY);
    int error = errno;
    gr_heap_free(z);
    if (out->fd < 0) return unreadable(d, path, strerror(error));
    const char *why = fstat(out->fd, &st) != 0 ? strerror(errno) : S_ISDIR(st.st_mode) ? strerror(EISDIR) : !S_ISREG(st.st_mode) ? "no regular file" : NULL;
    if (!why) out->size = (uint64_t)st.st_size;
    else gr_reader_close(out);
    return !why || unreadable(d, path, why);
}

gr_reader gr_reader_of(gr_str name, gr_str bytes) {
    return (gr_reader){.name = name, .size = bytes.n, .memory = bytes.p ? bytes.p : "", .fd = -1};
}

void gr_reader_close(gr_reader *s) {
    if (!s->memory && s->fd >= 0) close(s->fd);
    s->fd = -1;
}

int64_t gr_reader_written_at(const gr_reader *s) {
    struct stat st;
    if (s->memory || s->fd < 0 || fstat(s->fd, &st) != 0) return 0;
    return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

bool gr_reader_read(const gr_reader *s, gr_diags *d, uint64_t at, size_t n, void *to) {
    if (at > s->size || n > s->size - at)
        return GR_BUG(d, "reader", "%zu bytes at %llu of %llu", n, (unsigned long long)at, (unsigned long long)s->size);
    if (s->memory) {
        if (n) memcpy(to, s->memory + at, n);
        return true;
    }
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(s->fd, (char *)to + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return unreadable(d, s->name, strerror(errno));
        if (got == 0) return unreadable(d, s->name, "it became shorter while it was read");
        done += (size_t)got;
    }
    return true;
}

bool gr_reader_part(const gr_reader *s, gr_arena *a, gr_diags *d, uint64_t at, uint64_t n, gr_str *out) {
    char *p = n < SIZE_MAX ? gr_arena_alloc(a, (size_t)n + 1, 1) : NULL;
    if (!p) return gr_report_oom(d);
    *out = (gr_str){p, (size_t)n};
    return gr_reader_read(s, d, at, (size_t)n, p);
}
