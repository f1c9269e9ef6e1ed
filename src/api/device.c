/* Which executor a session gets: a GPU, the CPU oracle with a banner, or neither.
 * Nothing here falls from GPU to CPU without saying so. */
#include "api/session.h"

/* why is NULL when the CPU was asked for; hint may be NULL. */
static bool open_cpu(gr_session *s, const char *why, const char *hint) {
    s->api = gr_oracle_api();
    s->target = gr_target_oracle();
    s->adapter = GR_STR("CPU oracle (WGSL evaluator)");
    s->target.adapter = s->adapter;
    if (!why) return true;
    char *banner = gr_arena_printf(&s->arena, "NO GPU: everything runs on the CPU oracle, slowly (%s)", why);
    if (!banner) return gr_report_oom(&s->diags);
    s->banner = gr_str_of(banner);
    gr_report(&s->diags, GR_D_RUN_ON_CPU, (gr_place){0}, hint ? hint : "install a Vulkan driver, or ask for the CPU with --device cpu", "%s", banner);
    return true;
}

#ifdef __wasi__
bool gr_session_open_device(gr_session *s) {
    if (s->wanted == GR_DEVICE_NONE_) {
        s->target = gr_target_webgpu_default();
        return true;
    }
    if (s->wanted == GR_DEVICE_GPU)
        return gr_report(&s->diags, GR_D_RUN_NO_ADAPTER, (gr_place){0}, "run plans from the page on navigator.gpu", "this build has no native WebGPU");
    return open_cpu(s, s->wanted == GR_DEVICE_AUTO ? "this build has no native WebGPU" : NULL, NULL);
}

void gr_session_close_device(gr_session *s) { (void)s; }

bool gr_session_library_hash(gr_session *s, gr_sha256 *out) {
    (void)s;
    (void)out;
    return false;
}
#else

#include "ladder/run/webgpu/device.h"

#include <string.h>

static gr_target target_of(const gr_gpu_info *i) {
    gr_target t = gr_target_webgpu_default();
    t.subgroups = i->subgroups;
    t.shader_f16 = i->shader_f16;
    t.timestamps = i->timestamps;
    t.max_storage_binding = i->limits.max_storage_binding;
    t.max_buffer = i->limits.max_buffer;
    t.max_workgroup_storage = i->limits.max_workgroup_storage;
    t.max_groups = i->limits.max_workgroups;
    t.max_invocations = i->limits.max_invocations;
    t.max_storage_buffers = i->limits.max_storage_buffers;
    t.subgroup_size = i->subgroup_max;
    return t;
}

static bool open_gpu(gr_session *s, gr_diags *d) {
    gr_gpu *g = gr_gpu_open(NULL, d);
    if (!g) return false;
    const gr_gpu_info *i = gr_gpu_get_info(g);
    s->device = g;
    s->api = gr_webgpu_api();
    s->target = target_of(i);
    char *text = gr_arena_printf(&s->arena, "%.*s (%s%s)", GR_STR_ARG(i->device), gr_gpu_type_text(i->type),
                                 i->type == GR_GPU_CPU ? ": a software adapter" : "");
    if (!text) return gr_report_oom(d);
    s->adapter = s->target.adapter = gr_str_of(text);
    s->library = gr_str_dup(&s->arena, i->library);
    if (i->type == GR_GPU_CPU) {
        char *b = gr_arena_printf(&s->arena, "NO HARDWARE GPU: WebGPU runs on a software adapter on the CPU (%.*s)", GR_STR_ARG(i->device));
        s->banner = gr_str_of(b);
    }
    return true;
}

/* What a banner says of a message that goes on in a list of lines: its words before the first ';'. */
static gr_str first_clause(gr_str message) {
    if (!memchr(message.p, '\n', message.n)) return message;
    const char *end = memchr(message.p, ';', message.n);
    return end ? (gr_str){message.p, (size_t)(end - message.p)} : message;
}

bool gr_session_open_device(gr_session *s) {
    if (s->wanted == GR_DEVICE_NONE_) {
        s->target = gr_target_webgpu_default();
        return true;
    }
    if (s->wanted == GR_DEVICE_CPU) return open_cpu(s, NULL, NULL);
    if (s->wanted == GR_DEVICE_GPU) return open_gpu(s, &s->diags);
    gr_diags tried;
    gr_diags_init(&tried);
    bool ok = open_gpu(s, &tried);
    if (!ok) {
        gr_buf why = {0};
        gr_str hint = {0};
        if (tried.list.n) {
            gr_buf_str(&why, first_clause(tried.list.v[0].message));
            hint = gr_str_dup(&s->arena, tried.list.v[0].hint);
        }
        ok = open_cpu(s, why.p ? why.p : "no adapter", hint.n ? hint.p : NULL);
        gr_buf_free(&why);
    }
    gr_diags_free(&tried);
    return ok;
}

void gr_session_close_device(gr_session *s) {
    if (s->device) gr_gpu_close(s->device, &s->diags);
    s->device = NULL;
}

bool gr_session_library_hash(gr_session *s, gr_sha256 *out) { return s->device && gr_gpu_library_hash(s->device, &s->diags, out); }
#endif
