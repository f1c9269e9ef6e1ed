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

/* ------------------------------------------------------ pipeline constants */

/* The body of an entry point of one workgroup of `size`, under one value of the override o; the
 * declarations come first. NULL key: no value given. */
static const struct { const char *decls, *size, *body, *key; double value; } pipelines[] = {
    {"override o: i32;", "1", "out[0] = 1 / o;", "o", 1},
    {"override o: i32;", "1", "out[0] = 1 / o;", "o", 0},
    {"override o: i32;", "1", "out[0] = 1 / o;", NULL, 0},
    {"override o: i32;", "1", "out[0] = 1;", NULL, 0},
    {"override o: i32 = 3;", "1", "out[0] = out[1] % o;", NULL, 0},
    {"override o: i32 = 3;", "1", "out[0] = out[1] % o;", "o", 0},
    {"override o: i32 = 3;", "1", "out[0] = out[1] % o;", "nosuch", 0},
    {"@id(4) override o: i32 = 3;", "1", "out[0] = o;", "4", 9},
    {"@id(4) override o: i32 = 3;", "1", "out[0] = o;", "o", 9},
    {"override o: i32 = 3;", "1", "out[0] = o;", "o", 2147483648.0},
    {"override o: i32 = 3;", "1", "out[0] = o;", "o", 1.5},
    {"override o: u32 = 3;", "1", "out[0] = i32(o);", "o", -1},
    {"override o: f32 = 3;", "1", "out[0] = i32(o);", "o", 1e39},
    {"override o: f32 = 3;", "1", "out[0] = i32(o);", "o", 1e38},
    {"override o: bool = true;", "1", "out[0] = i32(o);", "o", 7},
    {"override o: u32 = 3;", "1", "out[0] = out[1] << o;", "o", 31},
    {"override o: u32 = 3;", "1", "out[0] = out[1] << o;", "o", 32},
    {"override o: u32 = 3;", "1", "var a = out[0]; a >>= o; out[0] = a;", "o", 32},
    {"override o: i32 = 3;", "1", "var a = out[0]; a /= o; out[0] = a;", "o", 0},
    {"override o: i32 = 1;", "1", "let a = array(1, 2, 3); out[0] = a[o];", "o", 2},
    {"override o: i32 = 1;", "1", "let a = array(1, 2, 3); out[0] = a[o];", "o", 3},
    {"override o: i32 = 1;", "1", "let a = array(1, 2, 3); out[0] = a[o];", "o", -1},
    {"override o: i32 = 1;", "1", "out[o] = 1;", "o", -1},
    {"override o: i32 = 1; override p = 1 / o;", "1", "out[0] = p;", "o", 0},
    {"override o: i32 = 1; override p = 1 / o;", "1", "out[0] = o;", "o", 0},
    {"override o: f32 = 1;", "1", "out[0] = i32(sqrt(o));", "o", -1},
    {"override o: f32 = 1;", "1", "out[0] = i32(f32(out[1]) + log(o));", "o", 0},
    {"override o: f32 = 1;", "1", "out[0] = i32(o * o);", "o", 1e30},
    {"override o: i32 = 1;", "1", "out[0] = o + 2147483647;", "o", 2},
    {"override o: i32 = 8;", "o", "out[0] = 1;", "o", 0},
    {"override o: i32 = 8;", "o", "out[0] = 1;", "o", -4},
    {"override o: i32 = 8;", "o", "out[0] = 1;", "o", 16},
    {"override o: u32 = 8; var<workgroup> w: array<i32, o>;", "1", "out[0] = w[0];", "o", 0},
    {"override o: u32 = 8; var<workgroup> w: array<i32, o>;", "1", "out[0] = w[0];", "o", 100},
    {"override o: i32 = 8; var<workgroup> w: array<i32, o - 9>;", "1", "out[0] = w[0];", NULL, 0},
    {"override o: i32 = 1;", "1", "if o > 0 && 1 / o == 1 { out[0] = 1; }", "o", 0},
    {"override o: u32 = 1;", "1", "out[0] = i32(extractBits(u32(out[1]), 8u, o));", "o", 25},
    {"override o: f32 = 1;", "1", "out[0] = i32(clamp(f32(out[1]), 2.0, o));", "o", 1},
    {"override o: i32 = 1; var<private> v = 10 / o;", "1", "out[0] = v;", "o", 0},
    {"override o: i32 = 1; fn g() -> i32 { return 1 / o; }", "1", "out[0] = g();", "o", 0},
    {"override o: i32 = 1; fn g() -> i32 { return 1 / o; }", "1", "out[0] = 1;", "o", 0},
};

static bool pipeline_accepts(compiler *c, gr_str text, const char *key, double value) {
    WGPUShaderSourceWGSL source = {.chain = {NULL, WGPUSType_ShaderSourceWGSL}, .code = {text.p, text.n}};
    WGPUConstantEntry constant = {.key = {key, key ? strlen(key) : 0}, .value = value};
    WGPUComputePipelineDescriptor desc = {.compute = {.entryPoint = {"main", 4}, .constantCount = key ? 1 : 0, .constants = &constant}};
    c->lib.fn.DevicePushErrorScope(c->device, WGPUErrorFilter_Validation);
    desc.compute.module = c->lib.fn.DeviceCreateShaderModule(c->device, &(WGPUShaderModuleDescriptor){.nextInChain = &source.chain});
    WGPUComputePipeline p = c->lib.fn.DeviceCreateComputePipeline(c->device, &desc);
    c->error = 0;
    finish(c, c->lib.fn.DevicePopErrorScope(c->device, (WGPUPopErrorScopeCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_scope, c, NULL}));
    if (p) c->lib.fn.ComputePipelineRelease(p);
    c->lib.fn.ShaderModuleRelease(desc.compute.module);
    return c->error == WGPUErrorType_NoError;
}

static bool we_accept(gr_str text, const char *key, double value, char *why, size_t n) {
    gr_arena a = {0};
    gr_diags d;
    gr_wgsl_spec s;
    gr_buf b = {0};
    gr_diags_init(&d);
    gr_wgsl_module *m = gr_wgsl_load(&a, &d, GR_STR("pipeline.wgsl"), text, NULL);
    bool ok = m && gr_wgsl_specialize(&a, &d, m, GR_STR("main"), &(gr_wgsl_override_value){gr_str_of(key), value}, key ? 1 : 0, &s);
    gr_diags_print(&b, &d, (gr_str){0});
    snprintf(why, n, "%s", b.p ? b.p : "");
    gr_buf_free(&b);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return ok;
}

static void same_pipelines(void **state) {
    (void)state;
    compiler c = {0};
    gr_arena a = {0};
    gr_diags d;
    gr_diags_init(&d);
    if (!open_compiler(&a, &d, &c)) {
        fprintf(stderr, "SKIPPED, no WebGPU library offers a compiler with f16 and subgroups\n");
        skip();
    }
    size_t accepted = 0, n = sizeof pipelines / sizeof *pipelines;
    for (size_t i = 0; i < n; i++) {
        char text[500], why[600];
        snprintf(text, sizeof text, "%s\n@group(0) @binding(0) var<storage, read_write> out: array<i32>;\n@compute @workgroup_size(%s) fn main() { %s }\n",
                 pipelines[i].decls, pipelines[i].size, pipelines[i].body);
        bool theirs = pipeline_accepts(&c, gr_str_of(text), pipelines[i].key, pipelines[i].value);
        bool ours = we_accept(gr_str_of(text), pipelines[i].key, pipelines[i].value, why, sizeof why);
        accepted += theirs;
        if (ours == theirs) continue;
        print_error("%s%s = %g: we %s it\n  they say: %s\n  we say: %s\n", text, pipelines[i].key ? pipelines[i].key : "nothing", pipelines[i].value, ours ? "accept" : "refuse", c.said, why);
        c.wrong++;
    }
    drop_device(&c);
    gr_diags_free(&d);
    gr_arena_free(&a);
    assert_int_equal(c.wrong, 0);
    assert_true(accepted >= 10 && n - accepted >= 20); /* both verdicts occur */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_verdicts), cmocka_unit_test(same_pipelines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
