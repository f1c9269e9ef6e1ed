#include "gate/machine.h"

#include "base/file.h"
#include "base/hash.h"
#include "gate/proc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DAWN_PARENTS = 8, HASHED_MAX = 500 };

/* A small file under root, or "". Its absence is no complaint. */
static gr_str small(gr_arena *a, const char *root, const char *path) {
    gr_diags quiet;
    gr_diags_init(&quiet);
    gr_str text = {"", 0};
    char *full = gr_arena_printf(a, "%s%s", root, path);
    if (!full || !gr_file_read(a, &quiet, gr_str_of(full), 1 << 20, &text)) text = (gr_str){"", 0};
    gr_diags_free(&quiet);
    return text;
}

gate_load gate_load_now(const char *root) {
    gr_arena a = {0};
    gate_load l = {0};
    gr_str load = small(&a, root, "/proc/loadavg"), stat = small(&a, root, "/proc/stat");
    unsigned long long user, nice, system, idle, wait, irq, soft, steal;
    bool ok = load.n && sscanf(load.p, "%lf %lf %lf", &l.load1, &l.load5, &l.load15) == 3;
    if (stat.n && sscanf(stat.p, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal) == 8) {
        long hertz = sysconf(_SC_CLK_TCK);
        l.busy = (double)(user + nice + system + irq + soft + steal) / (double)(hertz > 0 ? hertz : 100);
        l.known = ok;
    }
    gr_arena_free(&a);
    return l;
}

gate_power gate_power_now(const char *root) {
    gr_arena a = {0};
    gr_diags quiet;
    gr_diags_init(&quiet);
    gr_str *names;
    uint32_t n = 0;
    bool battery = false, mains = false;
    char *folder = gr_arena_printf(&a, "%s/sys/class/power_supply", root);
    if (!folder || !gr_dir_list(&a, &quiet, gr_str_of(folder), &names, &n)) n = 0;
    for (uint32_t i = 0; i < n; i++) {
        char *type = gr_arena_printf(&a, "/sys/class/power_supply/%.*s/type", GR_STR_ARG(names[i]));
        char *online = gr_arena_printf(&a, "/sys/class/power_supply/%.*s/online", GR_STR_ARG(names[i]));
        if (!type || !online) break;
        gr_str kind = small(&a, root, type);
        battery = battery || gr_str_starts(kind, "Battery");
        mains = mains || ((gr_str_starts(kind, "Mains") || gr_str_starts(kind, "USB")) && gr_str_starts(small(&a, root, online), "1"));
    }
    gr_diags_free(&quiet);
    gr_arena_free(&a);
    return mains ? GATE_POWER_MAINS : battery ? GATE_POWER_BATTERY : GATE_POWER_UNKNOWN;
}

const char *gate_power_text(gate_power p) {
    return p == GATE_POWER_MAINS ? "mains" : p == GATE_POWER_BATTERY ? "battery" : "unknown";
}

int gate_gpu_others(gr_arena *a, int session) {
    gr_str text;
    const char *const argv[] = {"nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader,nounits", NULL};
    if (!gate_capture(a, argv, &text, NULL)) return -1;
    int others = 0;
    for (const char *at = text.p, *end = text.p + text.n; at < end;) {
        char *next;
        long pid = strtol(at, &next, 10);
        if (next != at && pid > 0 && getsid((pid_t)pid) != session && pid != getpid()) others++;
        while (next < end && *next != '\n') next++;
        at = next < end ? next + 1 : end;
    }
    return others;
}

static gr_str by_path(gr_arena *a, gr_str word) {
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t n = strcspn(at, ":");
        char *full = gr_arena_printf(a, "%.*s/%.*s", (int)n, at, GR_STR_ARG(word));
        if (full && access(full, X_OK) == 0) return gr_str_of(full);
        at += n + (at[n] == ':');
    }
    return GR_STR("");
}

gr_str gate_binary_of(gr_arena *a, const char *command) {
    while (*command == ' ') command++;
    size_t n = strcspn(command, " \t\n;|&<>()");
    gr_str word = gr_str_dup(a, (gr_str){command, n});
    if (!word.n || memchr(word.p, '\'', n) || memchr(word.p, '"', n) || memchr(word.p, '$', n) || memchr(word.p, '=', n)) return GR_STR("");
    if (gr_str_eqz(word, "gradus")) return gr_program_path(a);
    if (memchr(word.p, '/', n)) return access(word.p, R_OK) == 0 ? word : GR_STR("");
    return by_path(a, word);
}

/* The search of the engine's loader: named, GRADUS_ROOT, beside the program, upwards of it, upwards of here. */
gr_str gate_dawn_path(gr_arena *a) {
    static const char file[] = "node_modules/bun-webgpu-linux-x64/libwebgpu_wrapper.so";
    const char *named = getenv("GRADUS_WEBGPU"), *root = getenv("GRADUS_ROOT");
    if (named && *named) return access(named, R_OK) == 0 ? gr_str_dup(a, gr_str_of(named)) : GR_STR("");
    char *path = root && *root ? gr_arena_printf(a, "%s/%s", root, file) : NULL;
    if (path && access(path, R_OK) == 0) return gr_str_of(path);
    gr_str folder = gr_path_dir(gr_program_path(a));
    path = gr_arena_printf(a, "%.*s/../lib/gradus/libwebgpu_wrapper.so", GR_STR_ARG(folder));
    if (path && access(path, R_OK) == 0) return gr_str_of(path);
    char here[PATH_MAX];
    for (int from = 0; from < 2; from++) {
        for (int up = 0; up <= DAWN_PARENTS; up++) {
            path = gr_arena_printf(a, "%.*s/%s", GR_STR_ARG(folder), file);
            if (path && access(path, R_OK) == 0) return gr_str_of(path);
            folder = gr_path_dir(folder);
        }
        folder = getcwd(here, sizeof here) ? gr_str_of(here) : GR_STR(".");
    }
    return GR_STR("");
}

/* ---- git ------------------------------------------------------------------------------------------------- */

static gr_str trimmed(gr_str s) {
    while (s.n && (s.p[s.n - 1] == '\n' || s.p[s.n - 1] == ' ')) s.n--;
    return s;
}

typedef struct path_list { GR_VEC(gr_str) list; } path_list;

static void add_path(gr_arena *a, path_list *p, gr_str path) {
    for (uint32_t i = 0; i < p->list.n; i++)
        if (gr_str_eq(p->list.v[i], path)) return;
    gr_str *slot = path.n ? GR_PUSH(a, &p->list) : NULL;
    if (slot) *slot = path;
}

/* NUL-separated records; skips `prefix` bytes of each. */
static void add_records(gr_arena *a, path_list *p, gr_str text, size_t prefix) {
    for (size_t at = 0; at < text.n;) {
        const char *end = memchr(text.p + at, 0, text.n - at);
        size_t n = end ? (size_t)(end - text.p) - at : text.n - at;
        if (n > prefix) add_path(a, p, (gr_str){text.p + at + prefix, n - prefix});
        at += n + 1;
    }
}

gate_revision gate_revision_now(gr_arena *a) {
    gate_revision r = {.commit = {"", 0}};
    gr_str text;
    path_list p = {{0}};
    const char *const head[] = {"git", "rev-parse", "HEAD", NULL};
    const char *const status[] = {"git", "status", "--porcelain", "-z", "--no-renames", NULL};
    if (!gate_capture(a, head, &text, NULL)) return r;
    r.commit = trimmed(text);
    if (gate_capture(a, status, &text, NULL)) add_records(a, &p, text, 3);
    r.hashes = GR_NEW_N(a, gr_str, p.list.n);
    if (!r.hashes) return r;
    r.paths = p.list.v, r.path_n = p.list.n;
    for (uint32_t i = 0; i < r.path_n; i++) r.hashes[i] = i < HASHED_MAX ? gr_file_hash(a, r.paths[i]) : GR_STR("");
    return r;
}

/* Is path changed against the commit in r, to the content of that hash? */
static bool in(const gate_revision *r, gr_str path, gr_str hash) {
    for (uint32_t i = 0; i < r->path_n; i++)
        if (gr_str_eq(r->paths[i], path)) return gr_str_eq(r->hashes[i], hash);
    return false;
}

gate_revision gate_revision_diff(gr_arena *a, const gate_revision *before, const gate_revision *after) {
    path_list p = {{0}};
    gr_str text;
    if (before->commit.n && after->commit.n && !gr_str_eq(before->commit, after->commit)) {
        char *from = gr_arena_strndup(a, before->commit.p, before->commit.n), *to = gr_arena_strndup(a, after->commit.p, after->commit.n);
        const char *const diff[] = {"git", "diff", "--name-only", "--no-renames", "-z", from, to, NULL};
        if (from && to && gate_capture(a, diff, &text, NULL)) add_records(a, &p, text, 0);
    }
    for (uint32_t i = 0; i < before->path_n; i++)
        if (!in(after, before->paths[i], before->hashes[i])) add_path(a, &p, before->paths[i]);
    for (uint32_t i = 0; i < after->path_n; i++)
        if (!in(before, after->paths[i], after->hashes[i])) add_path(a, &p, after->paths[i]);
    return (gate_revision){.commit = after->commit, .paths = p.list.v, .path_n = p.list.n};
}

bool gate_path_is_code(gr_str path) {
    static const char *const documents[] = {".md", ".txt", ".png", ".jpg", ".svg", ".pdf", ".1", "LICENSE", ".gitignore", NULL};
    for (int i = 0; documents[i]; i++)
        if (gr_str_ends(path, documents[i])) return false;
    return !gr_str_starts(path, "docs/") && !gr_str_starts(path, "findings/") && !gr_str_starts(path, "out/");
}

gr_str gate_utc(gr_arena *a) {
    char text[32];
    time_t now = time(NULL);
    struct tm t;
    gmtime_r(&now, &t);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &t);
    return gr_str_dup(a, gr_str_of(text));
}
