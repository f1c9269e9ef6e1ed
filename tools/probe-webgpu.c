/* Asks one question: does the WebGPU library named by argv[1] find an adapter on this machine?
 * Prints the adapter's description and exits 0, or prints why not and exits 1. It stands alone so that
 * tools/install-deps can compile it before anything else exists; the engine has its own, larger loader.
 * The struct layouts are those of the standard C API (webgpu.h), restricted to what is used here. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct { const char *data; size_t length; } text_view;
typedef struct { void *next; size_t feature_count; const uint32_t *features; const void *limits; } instance_desc;
typedef struct { void *next; uint32_t mode; void (*callback)(uint32_t, void *, text_view, void *, void *); void *user[2]; } request_info;
typedef struct { uint64_t id; } future;
typedef struct { future future; uint32_t completed; } wait_info;
typedef struct { void *next; text_view vendor, architecture, device, description; char rest[512]; } adapter_info;

static void take_adapter(uint32_t status, void *adapter, text_view why, void *out, void *unused) {
  (void)unused;
  if (status == 1) *(void **)out = adapter;
  else if (why.data) fprintf(stderr, "%.*s\n", (int)(why.length > 400 ? 400 : why.length), why.data);
}

/* POSIX promises that a data pointer from dlsym holds a function; memcpy says so without a cast. */
static int find(void *lib, const char *name, void *slot) {
  void *p = dlsym(lib, name);
  memcpy(slot, &p, sizeof p);
  if (!p) fprintf(stderr, "%s is missing from the library\n", name);
  return p != NULL;
}

int main(int argc, char **argv) {
  void *(*create)(const instance_desc *);
  future (*request)(void *, const void *, request_info);
  uint32_t (*wait)(void *, size_t, wait_info *, uint64_t);
  uint32_t (*describe)(void *, adapter_info *);
  if (argc != 2) return fprintf(stderr, "usage: probe-webgpu LIBRARY\n"), 2;
  void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!lib) return fprintf(stderr, "%s\n", dlerror()), 1;
  if (!find(lib, "wgpuCreateInstance", &create) || !find(lib, "wgpuInstanceRequestAdapter", &request) ||
      !find(lib, "wgpuInstanceWaitAny", &wait) || !find(lib, "wgpuAdapterGetInfo", &describe)) return 1;
  uint32_t timed_wait_any = 1;
  void *instance = create(&(instance_desc){.feature_count = 1, .features = &timed_wait_any});
  void *adapter = NULL;
  if (!instance) return fprintf(stderr, "no WebGPU instance\n"), 1;
  wait_info pending = {.future = request(instance, NULL, (request_info){.mode = 1, .callback = take_adapter, .user = {&adapter}})};
  wait(instance, 1, &pending, UINT64_C(20000000000));
  if (!adapter) return fprintf(stderr, "no adapter\n"), 1;
  adapter_info info = {0};
  describe(adapter, &info);
  printf("%.*s (%.*s)\n", (int)info.device.length, info.device.data, (int)info.description.length, info.description.data);
  return 0;
}
