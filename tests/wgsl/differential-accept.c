/* The WebGPU implementation accepts and refuses the programs of tests/wgsl/valid and
 * tests/wgsl/invalid as we do. Only its compiler is wanted, so that its adapter without a driver
 * ("null") is enough; without a library the test skips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "corpus.h"
#include "ladder/run/webgpu/loader.h"

#include <stdio.h>

typedef struct compiler {
    gr_wgpu_lib lib;
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice device;
    uint32_t wrong;
    char said[300];
    uint32_t error;
} compiler;

static void on_adapter(uint32_t status, WGPUAdapter adapter, WGPUStringView message, void *u1, void *u2) {
    (void)status, (void)message, (void)u2;
    ((compiler *)u1)->adapter = adapter;
}

static void on_device(uint32_t status, WGPUDevice device, WGPUStringView message, void *u1, void *u2) {
    (void)status, (void)message, (void)u2;
    ((compiler *)u1)->device = device;
}

static void on_scope(uint32_t status, uint32_t type, WGPUStringView message, void *u1, void *u2) {
    (void)status, (void)u2;
    compiler *c = u1;
    c->error = type;
    size_t n = message.data ? message.length < sizeof c->said - 1 ? message.length : sizeof c->said - 1 : 0;
    memcpy(c->said, n ? message.data : "", n);
    c->said[n] = '\0';
}

static void finish(compiler *c, WGPUFuture f) {
    WGPUFutureWaitInfo w = {f, 0};
    c->lib.fn.InstanceWaitAny(c->instance, 1, &w, 60ull * 1000000000ull);
}

static bool request_device(compiler *c, const uint32_t *features, size_t n) {
    WGPUDeviceDescriptor desc = {.requiredFeatureCount = n, .requiredFeatures = features};
    c->device = NULL;
    finish(c, c->lib.fn.AdapterRequestDevice(c->adapter, &desc, (WGPURequestDeviceCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_device, c, NULL}));
    return c->device != NULL;
}

/* Empty string when accepted. */
static bool accepts(compiler *c, gr_str text) {
    WGPUShaderSourceWGSL source = {.chain = {NULL, WGPUSType_ShaderSourceWGSL}, .code = {text.p, text.n}};
    c->lib.fn.DevicePushErrorScope(c->device, WGPUErrorFilter_Validation);
    WGPUShaderModule m = c->lib.fn.DeviceCreateShaderModule(c->device, &(WGPUShaderModuleDescriptor){.nextInChain = &source.chain});
    c->error = 0;
    finish(c, c->lib.fn.DevicePopErrorScope(c->device, (WGPUPopErrorScopeCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_scope, c, NULL}));
    if (m) c->lib.fn.ShaderModuleRelease(m);
    return c->error == WGPUErrorType_NoError;
}

static void drop_device(compiler *c) {
    c->lib.fn.DeviceDestroy(c->device);
    c->lib.fn.DeviceRelease(c->device);
    c->device = NULL;
}

/* The numbers of f16 and subgroups differ between libraries: the right ones prove themselves. */
static bool open_compiler(gr_arena *a, gr_diags *d, compiler *c) {
    if (!gr_wgpu_load(a, d, &c->lib) || !(c->instance = gr_wgpu_create_instance(&c->lib))) return false;
    WGPURequestAdapterOptions o = {.featureLevel = WGPUFeatureLevel_Core, .backendType = WGPUBackendType_Null};
    finish(c, c->lib.fn.InstanceRequestAdapter(c->instance, &o, (WGPURequestAdapterCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_adapter, c, NULL}));
    if (!c->adapter) return false;
    for (uint32_t i = 0; i < GR_WGPU_DIALECTS; i++) {
        const gr_wgpu_dialect *x = gr_wgpu_dialect_at(i);
        if (!request_device(c, (uint32_t[]){x->shader_f16, x->subgroups}, 2)) continue;
        if (accepts(c, GR_STR("enable f16, subgroups;\nfn f(x: f16) -> f16 { return subgroupAdd(x); }\n"))) return true;
        drop_device(c);
    }
    return false;
}

static void compare(void *ctx, const corpus_file *file) {
    compiler *c = ctx;
    if (accepts(c, file->text) == file->valid) return;
    print_error("%.*s: we %s it, the implementation does not agree\n  %s\n", GR_STR_ARG(file->path), file->valid ? "accept" : "refuse", c->said);
    c->wrong++;
}

static void same_verdicts(void **state) {
    (void)state;
    compiler c = {0};
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    if (!open_compiler(&a, &d, &c)) {
        gr_buf b = {0};
        gr_diags_print(&b, &d, (gr_str){0});
        fprintf(stderr, "SKIPPED, no WebGPU library offers a compiler with f16 and subgroups:\n%s", b.p ? b.p : "");
        gr_buf_free(&b);
        gr_diags_free(&d);
        gr_arena_free(&a);
        skip();
    }
    corpus_walk(true, compare, &c);
    corpus_walk(false, compare, &c);
    drop_device(&c);
    gr_diags_free(&d);
    gr_arena_free(&a);
    assert_int_equal(c.wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
