#include "base/file.h"

#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 1 << 16, PATH_BYTES = 4096 /* no system call takes a longer path */ };

static gr_place place_of(gr_str path) { return (gr_place){.document = path}; }

/* NUL-terminated copy on the heap; the caller frees it. NULL when memory fails or the path
 * holds a NUL (no such file can exist). */
static char *path_z(gr_str path) {
    if (path.n && memchr(path.p, 0, path.n)) return NULL;
    char *z = gr_heap_alloc(path.n + 1, 1);
    if (z && path.n) memcpy(z, path.p, path.n);
    return z;
}

static bool unreadable(gr_diags *d, gr_str path, int error) {
    return gr_report(d, GR_D_BASE_FILE_UNREADABLE, place_of(path), NULL, "cannot read %.*s: %s", GR_STR_ARG(path),
                     strerror(error));
}

static bool unwritable(gr_diags *d, gr_str path, int error) {
    return gr_report(d, GR_D_BASE_FILE_UNWRITABLE, place_of(path), NULL, "cannot write %.*s: %s", GR_STR_ARG(path),
                     strerror(error));
}

static bool too_large(gr_diags *d, gr_str path, size_t limit) {
    return gr_report(d, GR_D_BASE_FILE_TOO_LARGE, place_of(path), NULL, "%.*s is larger than the limit of %zu bytes",
                     GR_STR_ARG(path), limit);
}

/* A file whose size is known: one allocation, and one byte more is asked for, so that a file
 * that grew meanwhile is noticed. */
static bool read_sized(gr_arena *a, gr_diags *d, gr_str path, int fd, size_t size, size_t limit, gr_str *out) {
    char *p = gr_arena_alloc(a, size + 1, 1);
    if (!p) return gr_report_oom(d);
    size_t n = 0;
    while (n <= size) {
        ssize_t got = read(fd, p + n, size + 1 - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return unreadable(d, path, errno);
        if (got == 0) break;
        n += (size_t)got;
    }
    if (n > size) return too_large(d, path, limit < size ? limit : size);
    p[n] = 0;
    *out = (gr_str){p, n};
    return true;
}

/* A pipe or device: grows on the heap up to the limit, then one copy into the arena. */
static bool read_stream(gr_arena *a, gr_diags *d, gr_str path, int fd, size_t limit, gr_str *out) {
    gr_buf b = {0};
    char *step = gr_heap_alloc(READ_STEP, 1);
    bool ok = step != NULL || gr_report_oom(d);
    while (ok) {
        ssize_t got = read(fd, step, READ_STEP);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) ok = unreadable(d, path, errno);
        if (got <= 0) break;
        gr_buf_put(&b, step, (size_t)got);
        if (b.failed) ok = gr_report_oom(d);
        else if (b.n > limit) ok = too_large(d, path, limit);
    }
    if (ok) {
        *out = gr_str_dup(a, gr_buf_view(&b));
        if (!out->p) ok = gr_report_oom(d);
    }
    gr_heap_free(step);
    gr_buf_free(&b);
    return ok;
}

bool gr_file_read(gr_arena *a, gr_diags *d, gr_str path, size_t limit, gr_str *out) {
    if (limit == 0) limit = (size_t)1 << 30;
    char *z = path_z(path);
    if (!z) return path.n && memchr(path.p, 0, path.n) ? unreadable(d, path, EINVAL) : gr_report_oom(d);
    int fd = open(z, O_RDONLY);
    int error = errno;
    gr_heap_free(z);
    if (fd < 0) return unreadable(d, path, error);
    struct stat st;
    bool ok;
    if (fstat(fd, &st) != 0) ok = unreadable(d, path, errno);
    else if (S_ISDIR(st.st_mode)) ok = unreadable(d, path, EISDIR);
    else if (!S_ISREG(st.st_mode)) ok = read_stream(a, d, path, fd, limit, out);
    else if ((uintmax_t)st.st_size > limit) ok = too_large(d, path, limit);
    else if (st.st_size == 0) ok = read_stream(a, d, path, fd, limit, out); /* /proc files say 0 */
    else ok = read_sized(a, d, path, fd, (size_t)st.st_size, limit, out);
    close(fd);
    return ok;
}

static bool write_all(int fd, const char *p, size_t n) {
    while (n) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

/* A name beside path that no file has: PATH.tmpN, made exclusively. */
static int open_beside(char *name, size_t cap, const char *z) {
    for (int i = 0; i < 1000; i++) {
        snprintf(name, cap, "%s.tmp%d", z, i);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

bool gr_file_write(gr_diags *d, gr_str path, const void *p, size_t n) {
    size_t cap = path.n + 16;
    char *z = path_z(path), *beside = gr_heap_alloc(cap, 1);
    bool ok = z && beside, made = false;
    if (!ok) gr_report_oom(d);
    if (ok) {
        int fd = open_beside(beside, cap, z);
        made = fd >= 0;
        ok = made && write_all(fd, p, n) && fsync(fd) == 0;
        int error = errno;
        if (made && close(fd) != 0 && ok) ok = false, error = errno;
        if (ok && rename(beside, z) != 0) ok = false, error = errno;
        if (!ok) unwritable(d, path, error);
        if (!ok && made) unlink(beside);
    }
    gr_heap_free(z);
    gr_heap_free(beside);
    return ok;
}

/* No allocation: short memory is never an absent file. */
static bool look_at(gr_str path, struct stat *st) {
    char z[PATH_BYTES];
    if (path.n >= sizeof z || (path.n && memchr(path.p, 0, path.n))) return false;
    if (path.n) memcpy(z, path.p, path.n);
    z[path.n] = 0;
    return stat(z, st) == 0;
}

bool gr_file_exists(gr_str path) {
    struct stat st;
    return look_at(path, &st);
}

bool gr_file_same(gr_str x, gr_str y) {
    struct stat a, b;
    return look_at(x, &a) && look_at(y, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

gr_str gr_file_hash(gr_arena *a, gr_str path) {
    gr_arena scratch = {0};
    gr_diags quiet;
    gr_diags_init(&quiet);
    gr_str text, out = {0};
    char hex[72];
    if (path.n && gr_file_read(&scratch, &quiet, path, 0, &text)) {
        gr_sha256_text(hex, gr_sha256_of(text.p, text.n));
        out = gr_str_dup(a, gr_str_of(hex));
    }
    gr_diags_free(&quiet);
    gr_arena_free(&scratch);
    return out.p ? out : GR_STR("");
}

gr_str gr_program_path(gr_arena *a) {
#ifdef __linux__
    char path[PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    gr_str out = n > 0 && (size_t)n < sizeof path ? gr_str_dup(a, (gr_str){path, (size_t)n}) : (gr_str){0};
    if (out.p) return out;
#endif
    (void)a;
    return GR_STR("");
}

static int by_bytes(const void *x, const void *y) { return gr_str_cmp(*(const gr_str *)x, *(const gr_str *)y); }

static bool list_open(gr_arena *a, gr_diags *d, gr_str path, DIR *dir, gr_str **names, uint32_t *n) {
    GR_VEC(gr_str) list = {0};
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(dir);
        if (!e && errno) return unreadable(d, path, errno);
        if (!e) break;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        gr_str name = gr_str_dup(a, gr_str_of(e->d_name));
        gr_str *slot = GR_PUSH(a, &list);
        if (!name.p || !slot) return gr_report_oom(d);
        *slot = name;
    }
    if (list.n) qsort(list.v, list.n, sizeof *list.v, by_bytes);
    *names = list.v;
    *n = list.n;
    return true;
}

bool gr_dir_list(gr_arena *a, gr_diags *d, gr_str path, gr_str **names, uint32_t *n) {
    char *z = path_z(path);
    if (!z) return gr_report_oom(d);
    DIR *dir = opendir(z);
    int error = errno;
    gr_heap_free(z);
    if (!dir) return unreadable(d, path, error);
    bool ok = list_open(a, d, path, dir, names, n);
    closedir(dir);
    return ok;
}

static bool make_one(const char *z) {
    if (mkdir(z, 0777) == 0) return true;
    int error = errno;
    struct stat st;
    if (stat(z, &st) == 0) {
        errno = ENOTDIR;
        return S_ISDIR(st.st_mode);
    }
    errno = error;
    return false;
}

bool gr_dir_make(gr_diags *d, gr_str path) {
    char *z = path_z(path);
    if (!z) return gr_report_oom(d);
    bool ok = true;
    for (size_t i = 1; ok && i < path.n; i++) {
        if (z[i] != '/' || z[i - 1] == '/') continue;
        z[i] = 0;
        ok = make_one(z);
        z[i] = '/';
    }
    ok = ok && make_one(z);
    if (!ok) unwritable(d, path, errno);
    gr_heap_free(z);
    return ok;
}

gr_str gr_path_join(gr_arena *a, gr_str dir, gr_str name) {
    gr_str none = {"", 0};
    if (dir.n == 0 || (name.n && name.p[0] == '/')) {
        gr_str copy = gr_str_dup(a, name);
        return copy.p ? copy : none;
    }
    bool slash = dir.p[dir.n - 1] != '/';
    if (name.n > SIZE_MAX - dir.n - 2) return none;
    size_t n = dir.n + slash + name.n;
    char *p = gr_arena_alloc(a, n + 1, 1);
    if (!p) return none;
    memcpy(p, dir.p, dir.n);
    if (slash) p[dir.n] = '/';
    if (name.n) memcpy(p + dir.n + slash, name.p, name.n);
    return (gr_str){p, n};
}

gr_str gr_path_dir(gr_str path) {
    size_t n = path.n;
    while (n && path.p[n - 1] != '/') n--;
    if (n == 0) return GR_STR(".");
    while (n > 1 && path.p[n - 1] == '/') n--;
    return (gr_str){path.p, n};
}
