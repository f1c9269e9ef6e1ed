/* Executor overhead per dispatch against a bare loop over the same library: a ratio, alternating, best of many.
 * `make bench` runs it; it fails above the bound of the issue. */
#include "ladder/run/run.h"
#include "ladder/run/webgpu/gpu_int.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { DISPATCHES = 2000, ROUNDS = 30 };
static const double bound = 1.3;

static const char text[] = "struct P { add: u32 }\n"
                           "@group(0) @binding(0) var<storage, read> src: array<u32>;\n"
                           "@group(0) @binding(1) var<storage, read_write> dst: array<u32>;\n"
                           "@group(0) @binding(2) var<uniform> p: P;\n"
                           "@compute @workgroup_size(64) fn main(@builtin(local_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] + p.add; }\n";

typedef struct bench {
    gr_gpu *g;
    gr_diags d;
    gr_graph_value value[1];
    gr_graph graph;
    gr_kernel kernel;
    gr_plan_buffer buffer[4];
    gr_plan_tensor tensor[1];
    gr_step_bind bind[2][3];
    gr_plan_step step[DISPATCHES + 1];
    uint8_t uniforms[256];
    gr_plan plan;
    gr_exec *e;
} bench;

static void make_plan(bench *b) {
    static const char *const names[] = {"even", "odd", "uniforms", "down"};
    static const gr_buffer_kind kinds[] = {GR_BUFFER_STORAGE, GR_BUFFER_STORAGE, GR_BUFFER_UNIFORM, GR_BUFFER_STAGING_DOWN};
    for (int i = 0; i < 4; i++) b->buffer[i] = (gr_plan_buffer){.name = gr_str_of(names[i]), .kind = kinds[i], .memory = GR_MEM_WORKING, .bytes = 256};
    b->value[0] = (gr_graph_value){.name = GR_STR("y"), .type = {.dtype = GR_DTYPE_U32, .rank = 1, .dim = {{.n = 64}}}, .source = GR_SOURCE_NODE};
    b->tensor[0] = (gr_plan_tensor){.pages = 1, .page_bytes = 256, .bytes = 256, .count_buffer = UINT32_MAX};
    b->kernel = (gr_kernel){.op = GR_STR("bench"), .origin = GR_STR("kernel.wgsl"), .wgsl = GR_STR(text), .entry = GR_STR("main")};
    for (uint32_t k = 0; k < 2; k++) {
        const gr_step_bind x[3] = {{0, 0, k, 0, 256, false, false, 0}, {0, 1, 1 - k, 0, 256, true, false, 0}, {0, 2, 2, 0, 4, false, true, GR_NO_VALUE}};
        memcpy(b->bind[k], x, sizeof x);
    }
    for (uint32_t i = 0; i < DISPATCHES; i++)
        b->step[i] = (gr_plan_step){.kind = GR_STEP_DISPATCH, .binds = b->bind[i % 2], .binds_n = 3, .grid = {1, 1, 1}, .indirect = UINT32_MAX, .node = GR_STR("add")};
    b->step[DISPATCHES] = (gr_plan_step){.kind = GR_STEP_READBACK, .from = 0, .bytes = 256, .staging = 3};
    b->uniforms[0] = 1;
    b->graph = (gr_graph){.name = GR_STR("bench"), .values = b->value, .values_n = 1};
    b->plan = (gr_plan){.graph = &b->graph, .kernels = &b->kernel, .kernels_n = 1, .buffers = b->buffer, .buffers_n = 4, .tensors = b->tensor, .tensors_n = 1, .uniforms = b->uniforms, .uniforms_bytes = 256, .steps = b->step, .steps_n = DISPATCHES + 1};
}

/* ---- the bare loop: the same pipeline and buffers, nothing but calls of the library */

typedef struct bare {
    const gr_gpu_pipeline *p;
    WGPUBindGroup group[2];
    WGPUBuffer even, down;
    gr_gpu_buffer buffer[3];
    bool mapped;
} bare;

static void on_mapped(uint32_t status, WGPUStringView message, void *u1, void *u2) {
    (void)message, (void)u2;
    ((bare *)u1)->mapped = status == WGPUMapAsyncStatus_Success;
}

static bool bare_make(bench *b, bare *x) {
    static const gr_gpu_binding layout[] = {{0, 0, GR_GPU_READ, 0}, {0, 1, GR_GPU_READ_WRITE, 0}, {0, 2, GR_GPU_UNIFORM_DYNAMIC, 0}};
    gr_gpu *g = b->g;
    x->p = gr_gpu_pipeline_get(g, &b->d, &(gr_gpu_pipeline_desc){.name = GR_STR("bare"), .wgsl = GR_STR(text), .entry = GR_STR("main"), .bindings = layout, .bindings_n = 3});
    for (int i = 0; i < 3; i++)
        x->buffer[i] = gr_gpu_buffer_new(g, &b->d, &(gr_gpu_buffer_desc){.name = "bare", .bytes = 256, .usage = i == 2 ? GR_GPU_UNIFORMS : GR_GPU_STORAGE, .data = i == 2 ? b->uniforms : NULL});
    if (!x->p || !x->buffer[2].gen) return false;
    for (uint32_t k = 0; k < 2; k++) {
        const gr_gpu_bind bind[3] = {{0, 0, x->buffer[k], 0, 256}, {0, 1, x->buffer[1 - k], 0, 256}, {0, 2, x->buffer[2], 0, 16}};
        x->group[k] = gpu_group_get(g, &b->d, x->p, 0, bind, 3);
    }
    x->even = gpu_slot_of(g, x->buffer[0])->buffer;
    x->down = g->lib.fn.DeviceCreateBuffer(g->device, &(WGPUBufferDescriptor){.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, .size = 256});
    return x->group[0] && x->group[1] && x->down;
}

static bool bare_run(bench *b, bare *x) {
    const gr_wgpu *w = &b->g->lib.fn;
    const uint32_t zero = 0;
    WGPUCommandEncoder e = w->DeviceCreateCommandEncoder(b->g->device, &(WGPUCommandEncoderDescriptor){0});
    WGPUComputePassEncoder pass = w->CommandEncoderBeginComputePass(e, &(WGPUComputePassDescriptor){0});
    w->ComputePassEncoderSetPipeline(pass, x->p->pipeline);
    for (uint32_t i = 0; i < DISPATCHES; i++) {
        w->ComputePassEncoderSetBindGroup(pass, 0, x->group[i % 2], 1, &zero);
        w->ComputePassEncoderDispatchWorkgroups(pass, 1, 1, 1);
    }
    w->ComputePassEncoderEnd(pass);
    w->ComputePassEncoderRelease(pass);
    w->CommandEncoderCopyBufferToBuffer(e, x->even, 0, x->down, 0, 256);
    WGPUCommandBuffer c = w->CommandEncoderFinish(e, &(WGPUCommandBufferDescriptor){0});
    w->QueueSubmit(b->g->queue, 1, &c);
    w->CommandBufferRelease(c);
    w->CommandEncoderRelease(e);
    x->mapped = false;
    gpu_wait(b->g, w->BufferMapAsync(x->down, WGPUMapMode_Read, 0, 256, (WGPUBufferMapCallbackInfo){NULL, WGPUCallbackMode_WaitAnyOnly, on_mapped, x, NULL}), UINT64_MAX);
    w->BufferUnmap(x->down);
    return x->mapped;
}

static bool exec_run(bench *b) {
    const gr_exec_api *api = gr_webgpu_api();
    gr_ticket t = api->submit(b->e, &b->d);
    return t && api->wait(b->e, &b->d, t);
}

static bool measure(bench *b, bare *x, double *ours, double *theirs) {
    *ours = *theirs = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double t0 = gr_clock_seconds();
        GR_TRY(bare_run(b, x));
        double t1 = gr_clock_seconds();
        GR_TRY(exec_run(b));
        double t2 = gr_clock_seconds();
        if (t1 - t0 < *theirs) *theirs = t1 - t0;
        if (t2 - t1 < *ours) *ours = t2 - t1;
    }
    return true;
}

int main(void) {
    static bench b;
    bare x = {0};
    gr_diags_init(&b.d);
    b.g = gr_gpu_open(NULL, &b.d);
    if (!b.g) {
        printf("SKIPPED: there is no adapter\n");
        return 77;
    }
    make_plan(&b);
    b.e = gr_webgpu_api()->prepare(b.g, &b.d, &b.plan, NULL);
    double ours, theirs;
    bool ok = b.e && bare_make(&b, &x) && measure(&b, &x, &ours, &theirs);
    if (ok)
        printf("{\"bench\": \"dispatch overhead\", \"adapter\": \"%.*s\", \"executor_us\": %.3f, \"bare_us\": %.3f, \"ratio\": %.3f, \"bound\": %.1f}\n",
               GR_STR_ARG(b.g->info.device), ours / DISPATCHES * 1e6, theirs / DISPATCHES * 1e6, ours / theirs, bound);
    gr_buf text_of = {0};
    gr_diags_print(&text_of, &b.d, (gr_str){0});
    if (!ok) fprintf(stderr, "%s", text_of.p ? text_of.p : "");
    gr_buf_free(&text_of);
    gr_webgpu_api()->release(b.e);
    for (int i = 0; i < 3; i++) gr_gpu_buffer_free(b.g, x.buffer[i]);
    if (x.down) b.g->lib.fn.BufferRelease(x.down);
    gr_gpu_close(b.g, NULL);
    gr_diags_free(&b.d);
    return ok && ours / theirs <= bound ? EXIT_SUCCESS : EXIT_FAILURE;
}
