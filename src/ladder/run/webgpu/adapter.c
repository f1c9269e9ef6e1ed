#include "ladder/run/webgpu/gpu_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const uint64_t answer_ns = 60ull * 1000000000ull; /* how long the library may take to answer */

enum { CANDIDATES = 3 };

typedef struct answer {
    void *object;
    uint32_t status;
    char message[300];
} answer;

typedef struct candidate {
    WGPUAdapter adapter;
    gr_gpu_info info;
} candidate;

static void on_adapter(uint32_t status, WGPUAdapter adapter, WGPUStringView message, void *u1, void *u2) {
    (void)u2;
    answer *a = u1;
    a->status = status;
    a->object = adapter;
    gpu_copy_text(a->message, sizeof a->message, message);
}

static void on_device(uint32_t status, WGPUDevice device, WGPUStringView message, void *u1, void *u2) {
    (void)u2;
    answer *a = u1;
    a->status = status;
    a->object = device;
    gpu_copy_text(a->message, sizeof a->message, message);
}

static bool wait_answer(const gr_wgpu_lib *lib, WGPUInstance instance, WGPUFuture f) {
    WGPUFutureWaitInfo info = {.future = f};
    return lib->fn.InstanceWaitAny(instance, 1, &info, answer_ns) == WGPUWaitStatus_Success && info.completed;
}

static WGPUAdapter ask(const gr_wgpu_lib *lib, WGPUInstance instance, uint32_t power, bool fallback) {
    answer a = {0};
    WGPURequestAdapterOptions o = {
        .featureLevel = WGPUFeatureLevel_Core, .powerPreference = power, .forceFallbackAdapter = fallback};
    WGPUFuture f = lib->fn.InstanceRequestAdapter(
        instance, &o, (WGPURequestAdapterCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_adapter, &a, NULL});
    if (!wait_answer(lib, instance, f) || a.status != WGPURequestStatus_Success) return NULL;
    return a.object;
}

/* ---------------------------------------------------------------- description */

static gr_str dup_view(gr_arena *a, WGPUStringView v) {
    size_t n = v.data ? (v.length == WGPU_STRLEN ? strlen(v.data) : v.length) : 0;
    return gr_str_dup(a, (gr_str){v.data ? v.data : "", n});
}

static const char *backend_text(uint32_t b) {
    static const char *const text[] = {"undefined", "null",   "webgpu", "d3d11",  "d3d12",
                                       "metal",     "vulkan", "opengl", "opengles"};
    return b < sizeof text / sizeof *text ? text[b] : "unknown";
}

static gr_gpu_type type_from(uint32_t t) {
    switch (t) {
    case WGPUAdapterType_DiscreteGPU: return GR_GPU_DISCRETE;
    case WGPUAdapterType_IntegratedGPU: return GR_GPU_INTEGRATED;
    case WGPUAdapterType_CPU: return GR_GPU_CPU;
    default: return GR_GPU_UNKNOWN;
    }
}

void gpu_limits_from(gr_gpu_limits *out, const WGPULimits *l) {
    *out = (gr_gpu_limits){
        .max_buffer = l->maxBufferSize,
        .max_storage_binding = l->maxStorageBufferBindingSize,
        .max_uniform_binding = l->maxUniformBufferBindingSize,
        .uniform_alignment = l->minUniformBufferOffsetAlignment,
        .storage_alignment = l->minStorageBufferOffsetAlignment,
        .max_bind_groups = l->maxBindGroups,
        .max_bindings_per_group = l->maxBindingsPerBindGroup,
        .max_storage_buffers = l->maxStorageBuffersPerShaderStage,
        .max_uniform_buffers = l->maxUniformBuffersPerShaderStage,
        .max_dynamic_uniforms = l->maxDynamicUniformBuffersPerPipelineLayout,
        .max_workgroup_storage = l->maxComputeWorkgroupStorageSize,
        .max_invocations = l->maxComputeInvocationsPerWorkgroup,
        .max_workgroup_size = {l->maxComputeWorkgroupSizeX, l->maxComputeWorkgroupSizeY, l->maxComputeWorkgroupSizeZ},
        .max_workgroups = l->maxComputeWorkgroupsPerDimension,
    };
}

static bool has(const WGPUSupportedFeatures *f, uint32_t number) {
    for (size_t i = 0; i < f->featureCount; i++)
        if (f->features[i] == number) return true;
    return false;
}

static bool describe(gr_arena *a, const gr_wgpu_lib *lib, WGPUAdapter adapter, gr_gpu_info *out) {
    WGPUAdapterInfo i = {0};
    WGPULimits l = {0};
    if (lib->fn.AdapterGetInfo(adapter, &i) != WGPUStatus_Success) return false;
    *out = (gr_gpu_info){
        .vendor = dup_view(a, i.vendor),
        .architecture = dup_view(a, i.architecture),
        .device = dup_view(a, i.device),
        .description = dup_view(a, i.description),
        .backend = gr_str_of(backend_text(i.backendType)),
        .type = type_from(i.adapterType),
        .vendor_id = i.vendorID,
        .device_id = i.deviceID,
        .subgroup_min = i.subgroupMinSize,
        .subgroup_max = i.subgroupMaxSize,
        .library = lib->path,
    };
    bool computes = i.backendType != WGPUBackendType_Null; /* Dawn offers it where there is no driver: it runs nothing */
    lib->fn.AdapterInfoFreeMembers(i);
    if (!computes) return false;
    if (lib->fn.AdapterGetLimits(adapter, &l) != WGPUStatus_Success) return false;
    gpu_limits_from(&out->limits, &l);
    return true;
}

static bool same_adapter(const gr_gpu_info *x, const gr_gpu_info *y) {
    return gr_str_eq(x->device, y->device) && gr_str_eq(x->description, y->description) &&
           gr_str_eq(x->backend, y->backend) && x->type == y->type && x->vendor_id == y->vendor_id &&
           x->device_id == y->device_id;
}

/* --------------------------------------------------------------------- choice */

/* The standard API cannot list adapters: ask in three ways and drop repeats. */
static uint32_t collect(gr_arena *a, const gr_wgpu_lib *lib, WGPUInstance instance, bool low_power, candidate *out) {
    const uint32_t high = WGPUPowerPreference_HighPerformance, low = WGPUPowerPreference_LowPower;
    uint32_t n = 0;
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        WGPUAdapter x = ask(lib, instance, (i == 1) != low_power ? low : high, i == 2);
        if (!x) continue;
        bool fresh = describe(a, lib, x, &out[n].info);
        for (uint32_t k = 0; k < n && fresh; k++) fresh = !same_adapter(&out[k].info, &out[n].info);
        if (fresh)
            out[n++].adapter = x;
        else
            lib->fn.AdapterRelease(x);
    }
    return n;
}

static void describe_line(gr_buf *b, const gr_gpu_info *i) {
    gr_buf_printf(b, "%.*s %.*s %.*s %.*s %s", GR_STR_ARG(i->vendor), GR_STR_ARG(i->architecture), GR_STR_ARG(i->device),
                  GR_STR_ARG(i->description), gr_gpu_type_text(i->type));
}

static bool matches(const gr_gpu_info *i, const char *wanted) {
    gr_buf b = {0};
    describe_line(&b, i);
    size_t n = strlen(wanted);
    bool found = false;
    for (size_t k = 0; b.p && k + n <= b.n && !found; k++) found = strncasecmp(b.p + k, wanted, n) == 0;
    gr_buf_free(&b);
    return found;
}

static const char *wanted_adapter(const gr_gpu_options *o) {
    const char *w = o && o->adapter ? o->adapter : getenv("GRADUS_ADAPTER");
    return w && *w ? w : NULL;
}

static int pick(const candidate *c, uint32_t n, const gr_gpu_options *o, const char *wanted) {
    if (wanted && strcasecmp(wanted, "none") == 0) return -1;
    for (int hardware = 1; hardware >= 0; hardware--)
        for (uint32_t i = 0; i < n; i++) {
            if ((c[i].info.type != GR_GPU_CPU) != hardware) continue;
            if (!hardware && o && o->hardware_only) continue;
            if (!wanted || matches(&c[i].info, wanted)) return (int)i;
        }
    return -1;
}

static void report_none(gr_diags *d, const candidate *c, uint32_t n, const gr_gpu_options *o, const char *wanted) {
    gr_buf b = {0};
    gr_buf_printf(&b, "no adapter fits");
    if (wanted) gr_buf_printf(&b, " '%s'", wanted);
    if (o && o->hardware_only) gr_buf_puts(&b, " (hardware only)");
    gr_buf_puts(&b, n ? "; found:" : "; the library found none at all");
    for (uint32_t i = 0; i < n; i++) {
        gr_buf_puts(&b, "\n  ");
        describe_line(&b, &c[i].info);
    }
    gr_report(d, GR_D_RUN_NO_ADAPTER, (gr_place){0},
              "install a Vulkan driver for the GPU (or mesa-vulkan-drivers for a software adapter), or set GRADUS_ADAPTER "
              "to a part of an adapter's name",
              "%s", b.p ? b.p : "no adapter");
    gr_buf_free(&b);
}

bool gpu_adapter_choose(gr_arena *a, gr_diags *d, const gr_wgpu_lib *lib, WGPUInstance instance, const gr_gpu_options *o,
                        WGPUAdapter *out, gr_gpu_info *info) {
    candidate c[CANDIDATES];
    uint32_t n = collect(a, lib, instance, o && o->low_power, c);
    const char *wanted = wanted_adapter(o);
    int at = pick(c, n, o, wanted);
    if (at < 0)
        report_none(d, c, n, o, wanted);
    else {
        *out = c[at].adapter;
        *info = c[at].info;
    }
    for (uint32_t i = 0; i < n; i++)
        if ((int)i != at) lib->fn.AdapterRelease(c[i].adapter);
    return at >= 0;
}

/* --------------------------------------------------------------------- device */

static void on_lost(const WGPUDevice *device, uint32_t reason, WGPUStringView message, void *u1, void *u2) {
    (void)device, (void)u2;
    gr_gpu *g = u1;
    g->lost = true;
    g->lost_reason = reason;
    gpu_copy_text(g->lost_message, sizeof g->lost_message, message);
}

static void on_error(const WGPUDevice *device, uint32_t type, WGPUStringView message, void *u1, void *u2) {
    (void)device, (void)type, (void)u2;
    gr_gpu *g = u1;
    if (g->errors++ == 0) gpu_copy_text(g->error_message, sizeof g->error_message, message);
}

/* Dawn rounds timestamps to 0.1 ms unless told otherwise. */
static const char *const toggles_off[] = {"timestamp_quantization"};
typedef struct toggles {
    WGPUChainedStruct chain;
    size_t on_n;
    const char *const *on;
    size_t off_n;
    const char *const *off;
} toggles;

static bool request(gr_gpu *g, const uint32_t *features, uint32_t n, answer *a) {
    WGPULimits limits = {0};
    if (g->lib.fn.AdapterGetLimits(g->adapter, &limits) != WGPUStatus_Success) return false;
    limits.nextInChain = NULL;
    toggles t = {.chain = {NULL, WGPUSType_DawnTogglesDescriptor}, .off_n = 1, .off = toggles_off};
    WGPUDeviceDescriptor desc = {
        .nextInChain = g->lib.dawn ? &t.chain : NULL,
        .label = gpu_viewz("gradus"),
        .requiredFeatureCount = n,
        .requiredFeatures = features,
        .requiredLimits = &limits,
        .defaultQueue = {.label = gpu_viewz("gradus")},
        .deviceLostCallbackInfo = {NULL, WGPUCallbackMode_AllowProcessEvents, on_lost, g, NULL},
        .uncapturedErrorCallbackInfo = {NULL, on_error, g, NULL},
    };
    *a = (answer){0};
    WGPUFuture f = g->lib.fn.AdapterRequestDevice(
        g->adapter, &desc, (WGPURequestDeviceCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_device, a, NULL});
    return wait_answer(&g->lib, g->instance, f) && a->status == WGPURequestStatus_Success && a->object;
}

static void drop_device(gr_gpu *g) {
    if (g->queue) g->lib.fn.QueueRelease(g->queue);
    if (g->device) {
        g->lib.fn.DeviceDestroy(g->device);
        g->lib.fn.DeviceRelease(g->device);
    }
    g->lib.fn.InstanceProcessEvents(g->instance);
    g->queue = NULL;
    g->device = NULL;
    g->lost = false;
    g->errors = 0;
}

/* Does the number mean what the dialect says? Only what the feature allows must work. */
static bool proves(gr_gpu *g, const char *wgsl) {
    gr_diags d;
    gr_diags_init(&d);
    bool ok = gr_gpu_check_wgsl(g, GR_STR("probe"), gr_str_of(wgsl), &d);
    gr_diags_free(&d);
    return ok;
}

static bool proves_timestamps(gr_gpu *g) {
    gpu_scope_begin(g);
    WGPUQuerySet q = g->lib.fn.DeviceCreateQuerySet(g->device, &(WGPUQuerySetDescriptor){.type = WGPUQueryType_Timestamp, .count = 2});
    bool ok = gpu_scope_end(g, NULL, 0) == 0 && q;
    if (q) g->lib.fn.QuerySetRelease(q);
    return ok;
}

/* Opens a device with the features that the dialect reads out of the adapter's list, and
 * keeps it when each of them proves true. */
static bool try_dialect(gr_gpu *g, const gr_wgpu_dialect *x, const WGPUSupportedFeatures *f, answer *a) {
    uint32_t want[3] = {0}, n = 0;
    bool ts = has(f, x->timestamp_query), f16 = has(f, x->shader_f16), sub = has(f, x->subgroups);
    if (ts) want[n++] = x->timestamp_query;
    if (f16) want[n++] = x->shader_f16;
    if (sub) want[n++] = x->subgroups;
    if (!request(g, want, n, a)) return false;
    g->device = a->object;
    g->queue = g->lib.fn.DeviceGetQueue(g->device);
    bool ok = gpu_probe_layout(g) && (!ts || proves_timestamps(g)) &&
              (!f16 || proves(g, "enable f16;\nfn f(x: f16) -> f16 { return x; }\n")) &&
              (!sub || proves(g, "enable subgroups;\nfn f(x: f32) -> f32 { return subgroupAdd(x); }\n"));
    if (!ok) {
        drop_device(g);
        return false;
    }
    g->info.timestamps = ts;
    g->info.shader_f16 = f16;
    g->info.subgroups = sub;
    g->info.features = gr_str_of(x->name);
    return true;
}

bool gpu_device_open(gr_gpu *g, gr_diags *d) {
    WGPUSupportedFeatures f = {0};
    g->lib.fn.AdapterGetFeatures(g->adapter, &f);
    static const gr_wgpu_dialect plain = {"none of the known numberings: optional features are off", 0, 0, 0, 0};
    answer a = {0};
    bool ok = false;
    for (uint32_t i = 0; i < GR_WGPU_DIALECTS && !ok; i++) {
        const gr_wgpu_dialect *x = gr_wgpu_dialect_at(i);
        if (has(&f, x->core)) ok = try_dialect(g, x, &f, &a);
    }
    if (!ok) ok = try_dialect(g, &plain, &(WGPUSupportedFeatures){0}, &a);
    if (f.features) g->lib.fn.SupportedFeaturesFreeMembers(f);
    if (!ok)
        return gr_report(d, GR_D_RUN_DEVICE_REFUSED, (gr_place){0}, "another adapter may be chosen with GRADUS_ADAPTER",
                         "the adapter %.*s gave no device: %s", GR_STR_ARG(g->info.description),
                         a.message[0] ? a.message : "no reason given");
    WGPULimits l = {0};
    if (g->lib.fn.DeviceGetLimits(g->device, &l) == WGPUStatus_Success) gpu_limits_from(&g->info.limits, &l);
    return true;
}

/* ---------------------------------------------------------------------- probe */

static gr_str banner(gr_arena *a, const gr_gpu_probe *p, bool cpu_allowed, const char *why) {
    char *text;
    if (p->outcome == GR_PROBE_GPU)
        text = gr_arena_printf(a, "GPU: %.*s (%s, %.*s)", GR_STR_ARG(p->info.device), gr_gpu_type_text(p->info.type),
                               GR_STR_ARG(p->info.backend));
    else if (p->software)
        text = gr_arena_printf(a, "NO GPU: the only adapter is software (type cpu: %.*s)%s", GR_STR_ARG(p->info.device),
                               cpu_allowed ? "; running on the CPU" : ", and the CPU is not allowed");
    else
        text = gr_arena_printf(a, "NO GPU (%s)%s", why, cpu_allowed ? "; running on the CPU" : ", and the CPU is not allowed");
    return gr_str_of(text);
}

bool gr_gpu_find(gr_arena *a, const gr_gpu_options *o, bool cpu_allowed, gr_gpu_probe *out) {
    *out = (gr_gpu_probe){.outcome = cpu_allowed ? GR_PROBE_CPU : GR_PROBE_NEITHER};
    gr_diags d;
    gr_diags_init(&d);
    gr_wgpu_lib lib;
    const char *why = "no WebGPU library";
    if (gr_wgpu_load(a, &d, &lib)) {
        WGPUInstance instance = gr_wgpu_create_instance(&lib);
        WGPUAdapter adapter = NULL;
        why = "no adapter";
        if (instance && gpu_adapter_choose(a, &d, &lib, instance, o, &adapter, &out->info)) {
            out->software = out->info.type == GR_GPU_CPU;
            if (!out->software) out->outcome = GR_PROBE_GPU;
            lib.fn.AdapterRelease(adapter);
        }
        if (instance) lib.fn.InstanceRelease(instance);
    }
    out->banner = banner(a, out, cpu_allowed, why);
    gr_diags_free(&d);
    return out->banner.p != NULL && !gr_arena_failed(a);
}
