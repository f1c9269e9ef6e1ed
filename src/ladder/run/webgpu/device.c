#include "ladder/run/webgpu/gpu_int.h"

#include "base/file.h"
#include "base/value.h"

#include <stdio.h>
#include <stdlib.h>

void gpu_copy_text(char *out, size_t cap, WGPUStringView text) {
    size_t n = text.data ? (text.length == WGPU_STRLEN ? strlen(text.data) : text.length) : 0;
    if (cap == 0) return;
    if (n > cap - 1) n = cap - 1;
    if (n) memcpy(out, text.data, n);
    out[n] = 0;
}

const char *gr_gpu_type_text(gr_gpu_type t) {
    static const char *const text[] = {"", "discrete", "integrated", "cpu", "unknown"};
    return (unsigned)t < 5 ? text[t] : "";
}

const gr_gpu_info *gr_gpu_get_info(const gr_gpu *g) { return &g->info; }
bool gr_gpu_lost(const gr_gpu *g) { return g->lost; }
gr_gpu_counts gr_gpu_get_counts(const gr_gpu *g) { return g->counts; }

void gr_gpu_inject(gr_gpu *g, gr_gpu_fault fault, uint32_t nth) {
    g->fault = fault;
    g->fault_in = nth;
}

bool gpu_fault_strikes(gr_gpu *g, gr_gpu_fault fault) {
    if (g->fault != fault || g->fault_in == 0 || --g->fault_in > 0) return false;
    g->fault = GR_FAULT_NONE;
    return true;
}

/* -------------------------------------------------------------- open and close */

static bool open_parts(gr_gpu *g, const gr_gpu_options *o, gr_diags *d) {
    GR_TRY(gr_wgpu_load(&g->arena, d, &g->lib));
    g->instance = gr_wgpu_create_instance(&g->lib);
    if (!g->instance)
        return gr_report(d, GR_D_RUN_NO_WEBGPU_LIBRARY, (gr_place){0}, "another library may be named with GRADUS_WEBGPU",
                         "%.*s makes no instance that can wait with a timeout", GR_STR_ARG(g->lib.path));
    GR_TRY(gpu_adapter_choose(&g->arena, d, &g->lib, g->instance, o, &g->adapter, &g->info));
    GR_TRY(gpu_device_open(g, d));
    if (gr_arena_failed(&g->arena)) return gr_report_oom(d);
    return true;
}

gr_gpu *gr_gpu_open(const gr_gpu_options *o, gr_diags *d) {
    gr_gpu *g = gr_heap_alloc(1, sizeof *g);
    if (!g) {
        gr_report_oom(d);
        return NULL;
    }
    const char *debug = getenv("GRADUS_GPU_DEBUG");
    g->debug = (o && o->debug) || (debug && *debug && strcmp(debug, "0") != 0);
    if (!open_parts(g, o, d)) {
        gr_gpu_close(g, NULL);
        return NULL;
    }
    if (g->info.type == GR_GPU_CPU)
        gr_report(d, GR_D_RUN_SOFTWARE_ADAPTER, (gr_place){0}, NULL, "%.*s is a software adapter (type cpu)",
                  GR_STR_ARG(g->info.description));
    return g;
}

void gr_gpu_close(gr_gpu *g, gr_diags *leaks) {
    if (!g) return;
    if (g->device) {
        gpu_commands_close(g, leaks);
        gpu_buffers_close(g, leaks);
        gpu_pipelines_close(g);
        if (g->queue) g->lib.fn.QueueRelease(g->queue);
        g->lib.fn.DeviceDestroy(g->device);
        g->lib.fn.DeviceRelease(g->device);
    }
    if (g->adapter) g->lib.fn.AdapterRelease(g->adapter);
    if (g->instance) {
        g->lib.fn.InstanceProcessEvents(g->instance);
        g->lib.fn.InstanceRelease(g->instance); /* cancels what still waits: W2 */
    }
    gpu_runs_free(g);
    gpu_stages_free(g);
    gr_heap_free(g->slots);
    gr_arena_free(&g->arena);
    gr_heap_free(g);
}

bool gr_gpu_library_hash(gr_gpu *g, gr_diags *d, gr_sha256 *out) {
    if (!g->hashed) {
        gr_arena a = {0};
        gr_str bytes;
        bool ok = gr_file_read(&a, d, g->lib.path, 0, &bytes);
        if (ok) g->library_hash = gr_sha256_of(bytes.p, bytes.n);
        gr_arena_free(&a);
        GR_TRY(ok);
        g->hashed = true;
    }
    *out = g->library_hash;
    return true;
}

/* -------------------------------------------------------- waiting, errors, loss */

bool gpu_wait(gr_gpu *g, WGPUFuture f, uint64_t timeout_ns) {
    WGPUFutureWaitInfo info = {.future = f};
    return g->lib.fn.InstanceWaitAny(g->instance, 1, &info, timeout_ns) == WGPUWaitStatus_Success && info.completed;
}

typedef struct scope_answer {
    uint32_t type;
    char message[2000];
} scope_answer;

static void on_scope(uint32_t status, uint32_t type, WGPUStringView message, void *u1, void *u2) {
    (void)u2;
    scope_answer *s = u1;
    s->type = status == WGPUPopErrorScopeStatus_Success ? type : 0;
    gpu_copy_text(s->message, sizeof s->message, message);
}

void gpu_scope_begin(gr_gpu *g) {
    g->lib.fn.DevicePushErrorScope(g->device, WGPUErrorFilter_Internal);
    g->lib.fn.DevicePushErrorScope(g->device, WGPUErrorFilter_OutOfMemory);
    g->lib.fn.DevicePushErrorScope(g->device, WGPUErrorFilter_Validation);
}

uint32_t gpu_scope_end(gr_gpu *g, char *message, size_t cap) {
    uint32_t found = 0;
    for (int i = 0; i < GPU_SCOPES; i++) {
        scope_answer s = {0};
        WGPUFuture f = g->lib.fn.DevicePopErrorScope(
            g->device, (WGPUPopErrorScopeCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_scope, &s, NULL});
        /* Without end: the answer must not outlive s (W2). It comes at once, a lost device included. */
        gpu_wait(g, f, UINT64_MAX);
        if (s.type > WGPUErrorType_NoError && !found) {
            found = s.type;
            if (message) gpu_copy_text(message, cap, gpu_viewz(s.message));
        }
    }
    return found;
}

static const char *lost_text(const gr_gpu *g) {
    return g->lost_message[0] ? g->lost_message : g->lost_reason == WGPUDeviceLostReason_Destroyed ? "destroyed" : "no reason given";
}

bool gpu_report_lost(gr_gpu *g, gr_diags *d, const char *doing) {
    gr_report(d, GR_D_RUN_DEVICE_LOST, (gr_place){0},
              "the session goes on: open the device again; if it happens again, smaller pieces (a lower budget) or --device cpu help",
              "the device %.*s was lost: %s", GR_STR_ARG(g->info.device), lost_text(g));
    if (doing) gr_report_trail(d, "%s", doing);
    return false;
}

bool gpu_usable(gr_gpu *g, gr_diags *d, const char *doing) { return !g->lost || gpu_report_lost(g, d, doing); }

bool gpu_settle(gr_gpu *g, gr_diags *d, const char *doing) {
    g->lib.fn.InstanceProcessEvents(g->instance);
    if (g->lost) return gpu_report_lost(g, d, doing);
    if (g->errors == 0) return true;
    gr_report(d, GR_D_RUN_GPU_REFUSED, (gr_place){0}, NULL, "%s: %s (%u in all; invariant W3)", doing ? doing : "device",
              g->error_message, g->errors);
    g->errors = 0;
    return false;
}

/* ------------------------------------------------------------------- printing */

static const char *yes(bool b) { return b ? "yes" : "no"; }

void gr_gpu_info_print(gr_buf *out, const gr_gpu_info *i) {
    const gr_gpu_limits *l = &i->limits;
    gr_buf_printf(out, "adapter    %.*s\n", GR_STR_ARG(i->device));
    gr_buf_printf(out, "  driver     %.*s (vendor %.*s, %.*s)\n", GR_STR_ARG(i->description), GR_STR_ARG(i->vendor),
                  GR_STR_ARG(i->architecture));
    gr_buf_printf(out, "  type       %s%s, %.*s\n", gr_gpu_type_text(i->type),
                  i->type == GR_GPU_CPU ? " (software: no GPU)" : "", GR_STR_ARG(i->backend));
    gr_buf_printf(out, "  library    %.*s\n", GR_STR_ARG(i->library));
    gr_buf_printf(out, "  features   timestamps %s, f16 %s, subgroups %s (size %u to %u)\n", yes(i->timestamps),
                  yes(i->shader_f16), yes(i->subgroups), i->subgroup_min, i->subgroup_max);
    gr_buf_printf(out, "  buffers    %llu bytes at most, storage binding %llu, uniform binding %llu\n",
                  (unsigned long long)l->max_buffer, (unsigned long long)l->max_storage_binding,
                  (unsigned long long)l->max_uniform_binding);
    gr_buf_printf(out, "  workgroup  %u invocations, %u bytes of storage, %u groups a dimension\n", l->max_invocations,
                  l->max_workgroup_storage, l->max_workgroups);
}

static void member_str(gr_buf *out, const char *key, gr_str v) {
    gr_buf_printf(out, "\"%s\":", key);
    gr_json_string(out, v);
    gr_buf_putc(out, ',');
}

void gr_gpu_info_print_json(gr_buf *out, const gr_gpu_info *i) {
    const gr_gpu_limits *l = &i->limits;
    gr_buf_putc(out, '{');
    member_str(out, "vendor", i->vendor);
    member_str(out, "architecture", i->architecture);
    member_str(out, "device", i->device);
    member_str(out, "description", i->description);
    member_str(out, "backend", i->backend);
    member_str(out, "type", gr_str_of(gr_gpu_type_text(i->type)));
    gr_buf_printf(out, "\"software\":%s,\"vendor_id\":%u,\"device_id\":%u,", i->type == GR_GPU_CPU ? "true" : "false",
                  i->vendor_id, i->device_id);
    gr_buf_printf(out, "\"features\":{\"timestamps\":%s,\"shader_f16\":%s,\"subgroups\":%s,\"subgroup_min\":%u,\"subgroup_max\":%u},",
                  i->timestamps ? "true" : "false", i->shader_f16 ? "true" : "false", i->subgroups ? "true" : "false",
                  i->subgroup_min, i->subgroup_max);
    gr_buf_printf(out, "\"limits\":{\"max_buffer\":%llu,\"max_storage_binding\":%llu,\"max_uniform_binding\":%llu,",
                  (unsigned long long)l->max_buffer, (unsigned long long)l->max_storage_binding,
                  (unsigned long long)l->max_uniform_binding);
    gr_buf_printf(out, "\"max_storage_buffers\":%u,\"max_workgroup_storage\":%u,\"max_invocations\":%u,\"max_workgroups\":%u}}",
                  l->max_storage_buffers, l->max_workgroup_storage, l->max_invocations, l->max_workgroups);
}
