#include "ladder/run/webgpu/loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__APPLE__)
#define NPM_FILE "libwebgpu_wrapper.dylib"
#define SYSTEM_FILES {"libwebgpu_dawn.dylib", "libwgpu_native.dylib"}
#if defined(__aarch64__)
#define NPM_PACKAGE "bun-webgpu-darwin-arm64"
#else
#define NPM_PACKAGE "bun-webgpu-darwin-x64"
#endif
#else
#define NPM_FILE "libwebgpu_wrapper.so"
#define NPM_PACKAGE "bun-webgpu-linux-x64"
#define SYSTEM_FILES {"libwebgpu_dawn.so", "libwgpu_native.so"}
#endif

enum { PARENTS = 4 }; /* how many folders up a node_modules is looked for */

const gr_wgpu_dialect *gr_wgpu_dialect_at(uint32_t i) {
    static const gr_wgpu_dialect dialect[GR_WGPU_DIALECTS] = {
        {"published webgpu.h", 0x01, 0x09, 0x0B, 0x12},
        {"Dawn before the published header", 0x12, 0x03, 0x0A, 0x11},
    };
    return i < GR_WGPU_DIALECTS ? &dialect[i] : NULL;
}

/* What was tried, one line each, for the diagnostic. */
typedef struct search {
    gr_arena *a;
    gr_wgpu_lib *lib;
    gr_buf tried;
} search;

static bool bind(search *s, void *handle, const char *path) {
    gr_wgpu fn;
    const char *lacks = NULL;
#define GR_WGPU_BIND(name, result, parameters)                  \
    *(void **)&fn.name = dlsym(handle, "wgpu" #name);           \
    if (!fn.name && !lacks) lacks = "wgpu" #name;
    GR_WGPU_FUNCTIONS(GR_WGPU_BIND)
#undef GR_WGPU_BIND
    if (lacks) {
        gr_buf_printf(&s->tried, "\n  %s: has no %s", path, lacks);
        return false;
    }
    char *real = realpath(path, NULL);
    s->lib->fn = fn;
    s->lib->path = gr_str_dup(s->a, gr_str_of(real ? real : path));
    s->lib->dawn = dlsym(handle, "wgpuDeviceTick") != NULL;
    s->lib->instance_features = dlsym(handle, "wgpuGetInstanceFeatures") != NULL;
    free(real);
    return true;
}

static bool try_file(search *s, const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle) return bind(s, handle, path);
    const char *why = dlerror();
    gr_buf_printf(&s->tried, "\n  %s: %s", path, why ? why : "cannot be loaded");
    return false;
}

static bool try_if_there(search *s, const char *path) {
    char seen[PATH_MAX + 72];
    snprintf(seen, sizeof seen, "\n  %s:", path);
    if (s->tried.p && strstr(s->tried.p, seen)) return false;
    if (access(path, R_OK) == 0) return try_file(s, path);
    gr_buf_printf(&s->tried, "\n  %s: no such file", path);
    return false;
}

/* node_modules of a folder and of its parents. */
static bool try_tree(search *s, const char *folder, int parents) {
    char dir[PATH_MAX], path[PATH_MAX];
    if (snprintf(dir, sizeof dir, "%s", folder) >= (int)sizeof dir) return false;
    for (int up = 0; up <= parents; up++) {
        int n = snprintf(path, sizeof path, "%s/node_modules/%s/%s", dir, NPM_PACKAGE, NPM_FILE);
        if (n > 0 && n < (int)sizeof path && try_if_there(s, path)) return true;
        char *slash = strrchr(dir, '/');
        if (!slash || slash == dir) return false;
        *slash = 0;
    }
    return false;
}

static bool executable_folder(char *out, size_t cap) {
    ssize_t n = readlink("/proc/self/exe", out, cap - 1);
    if (n <= 0) return false;
    out[n] = 0;
    char *slash = strrchr(out, '/');
    if (!slash || slash == out) return false;
    *slash = 0;
    return true;
}

static bool try_all(search *s) {
    char dir[PATH_MAX], path[PATH_MAX + 64];
    const char *root = getenv("GRADUS_ROOT");
    if (root && *root && try_tree(s, root, 0)) return true;
    if (executable_folder(dir, sizeof dir)) {
        snprintf(path, sizeof path, "%s/../lib/gradus/%s", dir, NPM_FILE);
        if (try_if_there(s, path) || try_tree(s, dir, PARENTS)) return true;
    }
    if (getcwd(dir, sizeof dir) && try_tree(s, dir, PARENTS)) return true;
    static const char *const system_files[] = SYSTEM_FILES;
    for (size_t i = 0; i < sizeof system_files / sizeof *system_files; i++)
        if (try_file(s, system_files[i])) return true;
    return false;
}

bool gr_wgpu_load(gr_arena *a, gr_diags *d, gr_wgpu_lib *out) {
    *out = (gr_wgpu_lib){0};
    /* The Vulkan loader complains on standard error when this is unset. */
    setenv("XDG_RUNTIME_DIR", "/tmp", 0);
    search s = {.a = a, .lib = out};
    const char *named = getenv("GRADUS_WEBGPU");
    bool ok = named && *named ? try_file(&s, named) : try_all(&s);
    if (!ok)
        gr_report(d, GR_D_RUN_NO_WEBGPU_LIBRARY, (gr_place){0},
                  "run `npm install` in the source folder (it fetches " NPM_PACKAGE
                  "), or set GRADUS_WEBGPU to the path of a WebGPU library",
                  "no WebGPU library was found; looked at:%s", s.tried.p ? s.tried.p : "");
    gr_buf_free(&s.tried);
    return ok;
}

WGPUInstance gr_wgpu_create_instance(const gr_wgpu_lib *lib) {
    if (lib->instance_features) {
        /* Later revision: a list of instance features, timed waiting being number 1. */
        static const uint32_t timed_wait = 1;
        const struct {
            WGPUChainedStruct *next;
            size_t feature_n;
            const uint32_t *features;
            const void *limits;
        } late = {NULL, 1, &timed_wait, NULL};
        return lib->fn.CreateInstance((const WGPUInstanceDescriptor *)(const void *)&late);
    }
    WGPUInstanceDescriptor desc = {.capabilities = {.timedWaitAnyEnable = 1, .timedWaitAnyMaxCount = 1}};
    return lib->fn.CreateInstance(&desc);
}
