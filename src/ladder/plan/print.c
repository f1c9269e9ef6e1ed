/* print.c: the plan as text: the verdict first, then buffers, kernels, tensors, uniforms and steps. */
#include "base/scan.h"
#include "ladder/plan/plan_int.h"

enum { NAMED_CLASSES = 12 };

static const char *verdict_name(gr_verdict v) {
    static const char *const name[] = {"none", "green", "yellow", "red"};
    return name[v <= GR_RED ? v : 0];
}

static const char *const buffer_kinds[] = {"none", "storage", "uniform", "staging-up", "staging-down", "indirect"};
static const char *const step_kinds[] = {"none", "dispatch", "copy", "clear", "upload", "readback"};

/* Human units where they say it exactly. */
static void put_exact_bytes(gr_buf *b, uint64_t n) {
    gr_buf t = {0};
    uint64_t back = 0;
    gr_bytes_print(&t, n);
    if (!t.failed && gr_bytes_parse(gr_buf_view(&t), &back) && back == n) gr_buf_str(b, gr_buf_view(&t));
    else gr_buf_printf(b, "%llu B", (unsigned long long)n);
    gr_buf_free(&t);
}

static void put_memory(gr_buf *b, const gr_plan *p) {
    gr_buf_puts(b, "  peak_memory       ");
    for (int m = 1; m < GR_MEM_COUNT; m++) {
        gr_buf_printf(b, "%s%s ", m > 1 ? ", " : "", gr_memory_name((gr_memory)m));
        if (p->peak[m]) gr_bytes_print(b, p->peak[m]);
        else gr_buf_putc(b, '0');
    }
    gr_buf_puts(b, ", total ");
    gr_bytes_print(b, p->peak_total);
    gr_buf_putc(b, '\n');
}

static void put_classes(gr_buf *b, const gr_plan *p) {
    gr_buf_printf(b, "  tolerance_class   %-21s ", p->tolerance == GR_TOLERANCE_NONE ? "none" : gr_tolerance_name(p->tolerance));
    for (uint32_t i = 0; i < p->node_class_n && i < NAMED_CLASSES; i++) {
        if (i) gr_buf_puts(b, ", ");
        gr_buf_str(b, p->node_class[i]);
    }
    if (p->node_class_n > NAMED_CLASSES) gr_buf_printf(b, " and %u more nodes", p->node_class_n - NAMED_CLASSES);
    gr_buf_putc(b, '\n');
}

static const char *guarantee_scope(const gr_plan *p) {
    if (p->guarantee != GR_GUARANTEE_REPLAYABLE) return "within the classes above";
    return p->target.kind == GR_TARGET_ORACLE ? "on any machine" : "on this profile";
}

static void put_value(gr_buf *b, const gr_plan *p, gr_value_id v);

/* "%x from disk, 2 GiB up in 32 parts" */
static void put_streams(gr_buf *b, const gr_plan *p) {
    gr_plan_stream s;
    for (uint32_t v = 0; v < p->tensors_n; v++) {
        if (!gr_plan_streams(p, v, &s)) continue;
        gr_buf_puts(b, "  streaming         ");
        put_value(b, p, v);
        gr_buf_puts(b, s.disk ? " from disk" : s.up && s.down ? " through the host" : s.up ? " from the host" : " to the host");
        for (int down = 0; down < 2; down++) {
            uint64_t n = down ? s.down : s.up;
            if (!n) continue;
            gr_buf_puts(b, ", ");
            gr_bytes_print(b, n);
            gr_buf_puts(b, down ? " down" : " up");
        }
        gr_buf_printf(b, " in %u part%s a run\n", s.parts, s.parts == 1 ? "" : "s");
    }
}

static void put_head(gr_buf *b, const gr_plan *p) {
    const gr_graph *g = p->graph;
    uint64_t declared = p->target.kind == GR_TARGET_ORACLE ? g->budget_cpu : g->budget_gpu;
    gr_buf_printf(b, "  determinism_tier  %-21s ", gr_tier_name(p->tier));
    if (p->tier == g->tier) gr_buf_puts(b, "declared in the canvas\n");
    else gr_buf_printf(b, "%s from %s\n", p->tier_lowered ? "lowered" : "overridden", g->tier == GR_TIER_NONE ? "none" : gr_tier_name(g->tier));
    put_classes(b, p);
    put_memory(b, p);
    gr_buf_printf(b, "  budget            %s ", p->target.kind == GR_TARGET_ORACLE ? "cpu" : "gpu");
    if (p->budget) put_exact_bytes(b, p->budget);
    else gr_buf_puts(b, "none");
    gr_buf_printf(b, " %s\n", p->budget == declared ? "declared" : "overridden");
    gr_buf_printf(b, "  guarantee         %s %s\n", gr_guarantee_name(p->guarantee), guarantee_scope(p));
    gr_buf_printf(b, "  verdict           %s", verdict_name(p->verdict));
    for (uint32_t i = 0; i < p->warnings_n; i++) gr_buf_printf(b, " %s", gr_diag_text(p->warnings[i]));
    gr_buf_putc(b, '\n');
    for (uint32_t i = 0; i < p->fixes_n; i++) {
        gr_buf_printf(b, "  fix               %s %s ", verdict_name(p->fixes[i].becomes), p->fixes[i].verified ? "verified" : "unverified");
        gr_buf_quoted(b, p->fixes[i].change);
        gr_buf_putc(b, '\n');
    }
    put_streams(b, p);
    gr_buf_printf(b, "  target            %s ", p->target.kind == GR_TARGET_ORACLE ? "oracle" : "webgpu");
    gr_buf_quoted(b, p->target.adapter);
    gr_buf_printf(b, "\n  work              %llu ", (unsigned long long)p->work);
    gr_buf_f64(b, p->cpu_seconds);
    gr_buf_puts(b, " s on the CPU\n");
}

static void put_buffers(gr_buf *b, const gr_plan *p) {
    for (uint32_t i = 0; i < p->buffers_n; i++) {
        const gr_plan_buffer *x = &p->buffers[i];
        gr_buf_printf(b, "  buffer b%u %s %s %llu steps %u %u%s ", i, buffer_kinds[x->kind], gr_memory_name(x->memory), (unsigned long long)x->bytes,
                      x->first, x->last, x->keep ? " keep" : "");
        gr_buf_quoted(b, x->name);
        gr_buf_putc(b, '\n');
    }
}

static void put_kernel(gr_buf *b, const gr_kernel *k, uint32_t i) {
    static const char *const kind[] = {"none", "read", "write", "inout", "scratch", "count", "uniform"};
    char hash[72];
    gr_sha256_text(hash, k->hash);
    gr_buf_printf(b, "  kernel k%u %.*s ", i, GR_STR_ARG(k->op));
    gr_buf_quoted(b, k->origin);
    gr_buf_printf(b, " %s %s %.*s workgroup %u,%u,%u", k->order == GR_ORDER_UNORDERED ? "unordered" : "fixed", hash, GR_STR_ARG(k->entry),
                  k->workgroup[0], k->workgroup[1], k->workgroup[2]);
    for (uint32_t j = 0; j < k->overrides_n; j++) {
        gr_buf_printf(b, " override %.*s = ", GR_STR_ARG(k->overrides[j].name));
        gr_buf_f64(b, k->overrides[j].value);
    }
    for (uint32_t j = 0; j < k->binds_n; j++)
        gr_buf_printf(b, " %s%s %u %u %.*s", kind[k->binds[j].kind], k->binds[j].writable ? " rw" : "", k->binds[j].group, k->binds[j].binding,
                      GR_STR_ARG(k->binds[j].var));
    gr_buf_puts(b, " end\n");
}

static void put_value(gr_buf *b, const gr_plan *p, gr_value_id v) {
    if (v == GR_NO_VALUE) gr_buf_putc(b, '-');
    else gr_buf_printf(b, "%%%.*s", GR_STR_ARG(p->graph->values[v].name));
}

static void put_tensors(gr_buf *b, const gr_plan *p) {
    for (uint32_t v = 0; v < p->tensors_n; v++) {
        const gr_plan_tensor *t = &p->tensors[v];
        gr_buf_puts(b, "  tensor ");
        put_value(b, p, v);
        gr_buf_printf(b, " %llu", (unsigned long long)t->bytes);
        if (t->pages) gr_buf_printf(b, " b%u", t->first_buffer);
        if (t->pages > 1) gr_buf_printf(b, " pages %u %llu", t->pages, (unsigned long long)t->page_bytes);
        if (t->offset) gr_buf_printf(b, " offset %llu", (unsigned long long)t->offset);
        if (t->count_buffer != GR_NO_BUFFER) gr_buf_printf(b, " count b%u", t->count_buffer);
        gr_buf_puts(b, " end\n");
    }
}

/* One slot a line, without the zeros at its end. */
static void put_uniforms(gr_buf *b, const gr_plan *p) {
    for (uint64_t at = 0; at < p->uniforms_bytes; at += GR_UNIFORM_SLOT) {
        uint64_t n = p->uniforms_bytes - at < GR_UNIFORM_SLOT ? p->uniforms_bytes - at : GR_UNIFORM_SLOT;
        while (n && p->uniforms[at + n - 1] == 0) n--;
        n = (n + 3) & ~UINT64_C(3);
        gr_buf_printf(b, "  uniform %llu ", (unsigned long long)at);
        gr_buf_hex(b, p->uniforms + at, n);
        gr_buf_putc(b, '\n');
    }
}

static void put_dispatch(gr_buf *b, const gr_plan *p, const gr_plan_step *s) {
    const gr_kernel *k = &p->kernels[s->kernel];
    gr_buf_printf(b, " %.*s k%u grid %u,%u,%u", GR_STR_ARG(k->op), s->kernel, s->grid[0], s->grid[1], s->grid[2]);
    if (s->indirect != GR_NO_BUFFER) gr_buf_printf(b, " indirect b%u %llu", s->indirect, (unsigned long long)s->indirect_offset);
    for (uint32_t i = 0; i < s->binds_n; i++) {
        const gr_step_bind *x = &s->binds[i];
        gr_str var = i < k->binds_n ? k->binds[i].var : GR_STR("?");
        gr_buf_printf(b, " %.*s%sb%u", GR_STR_ARG(var), x->writable ? "->" : "<-", x->buffer);
        if (x->offset) gr_buf_printf(b, "+%llu", (unsigned long long)x->offset);
        gr_buf_printf(b, ":%llu", (unsigned long long)x->bytes);
        if (x->value != GR_NO_VALUE) put_value(b, p, x->value);
    }
}

static void put_move(gr_buf *b, const gr_plan *p, const gr_plan_step *s) {
    unsigned long long from = s->from_offset, to = s->to_offset, n = s->bytes;
    switch (s->kind) {
    case GR_STEP_COPY: gr_buf_printf(b, " b%u %llu -> b%u %llu bytes %llu", s->from, from, s->to, to, n); break;
    case GR_STEP_CLEAR: gr_buf_printf(b, " b%u %llu bytes %llu", s->to, to, n); break;
    case GR_STEP_UPLOAD:
        gr_buf_putc(b, ' ');
        put_value(b, p, s->value);
        gr_buf_printf(b, " %llu -> b%u %llu bytes %llu", from, s->to, to, n);
        break;
    default:
        gr_buf_printf(b, " b%u %llu -> ", s->from, from);
        put_value(b, p, s->value);
        gr_buf_printf(b, " %llu bytes %llu", to, n);
    }
    if (s->staging != GR_NO_BUFFER) gr_buf_printf(b, " via b%u %llu", s->staging, (unsigned long long)s->staging_offset);
}

static void put_step(gr_buf *b, const gr_plan *p, uint32_t i) {
    const gr_plan_step *s = &p->steps[i];
    gr_buf_printf(b, "  %s %u ", step_kinds[s->kind], i);
    gr_buf_quoted(b, s->node);
    if (s->kind == GR_STEP_DISPATCH) put_dispatch(b, p, s);
    else put_move(b, p, s);
    gr_buf_printf(b, " work %llu\n", (unsigned long long)s->work);
}

void gr_plan_print(gr_buf *b, const gr_plan *p) {
    gr_buf_puts(b, "plan ");
    gr_buf_name(b, p->graph->name);
    gr_buf_puts(b, " {\n");
    put_head(b, p);
    put_buffers(b, p);
    for (uint32_t i = 0; i < p->kernels_n; i++) put_kernel(b, &p->kernels[i], i);
    put_tensors(b, p);
    put_uniforms(b, p);
    for (uint32_t i = 0; i < p->steps_n; i++) put_step(b, p, i);
    gr_buf_puts(b, "}\n");
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void key(gr_buf *b, const char *k) { gr_buf_printf(b, "  \"%s\": ", k); }

static void json_steps(gr_buf *b, const gr_plan *p) {
    bool first = true;
    gr_buf_puts(b, "  \"dispatches\": [");
    for (uint32_t i = 0; i < p->steps_n; i++) {
        const gr_plan_step *s = &p->steps[i];
        char hash[72];
        if (s->kind != GR_STEP_DISPATCH) continue;
        gr_sha256_text(hash, p->kernels[s->kernel].hash);
        gr_buf_printf(b, "%s\n    { \"step\": %u, \"node\": ", first ? "" : ",", i);
        gr_buf_quoted(b, s->node);
        gr_buf_puts(b, ", \"op\": ");
        gr_buf_quoted(b, p->kernels[s->kernel].op);
        gr_buf_printf(b, ", \"kernel\": \"%s\", \"grid\": [%u, %u, %u] }", hash, s->grid[0], s->grid[1], s->grid[2]);
        first = false;
    }
    gr_buf_printf(b, "%s],\n", first ? "" : "\n  ");
}

static void json_lists(gr_buf *b, const gr_plan *p) {
    key(b, "warnings");
    gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < p->warnings_n; i++) gr_buf_printf(b, "%s\"%s\"", i ? ", " : "", gr_diag_text(p->warnings[i]));
    gr_buf_puts(b, "],\n");
    key(b, "fixes");
    gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < p->fixes_n; i++) {
        gr_buf_printf(b, "%s{ \"change\": ", i ? ", " : "");
        gr_buf_quoted(b, p->fixes[i].change);
        gr_buf_printf(b, ", \"becomes\": \"%s\", \"verified\": %s }", verdict_name(p->fixes[i].becomes), p->fixes[i].verified ? "true" : "false");
    }
    gr_buf_puts(b, "],\n");
    key(b, "streaming");
    gr_buf_putc(b, '[');
    bool first = true;
    gr_plan_stream s;
    for (uint32_t v = 0; v < p->tensors_n; v++) {
        if (!gr_plan_streams(p, v, &s)) continue;
        gr_buf_puts(b, first ? "{ \"value\": " : ", { \"value\": ");
        first = false;
        gr_buf_quoted(b, p->graph->values[v].name);
        gr_buf_printf(b, ", \"from\": \"%s\", \"up\": %llu, \"down\": %llu, \"parts\": %u }", s.disk ? "disk" : "host", (unsigned long long)s.up,
                      (unsigned long long)s.down, s.parts);
    }
    gr_buf_puts(b, "],\n");
    key(b, "node_classes");
    gr_buf_putc(b, '[');
    for (uint32_t i = 0; i < p->node_class_n; i++) {
        if (i) gr_buf_puts(b, ", ");
        gr_buf_quoted(b, p->node_class[i]);
    }
    gr_buf_puts(b, "],\n");
}

bool gr_plan_print_json(gr_buf *b, const gr_plan *p) {
    char hash[72];
    gr_sha256 h;
    if (!gr_plan_hash(p, &h)) return false;
    gr_sha256_text(hash, h);
    gr_buf_puts(b, "{\n");
    key(b, "name");
    gr_buf_quoted(b, p->graph->name);
    gr_buf_printf(b, ",\n  \"plan\": \"%s\",\n  \"determinism_tier\": \"%s\",\n  \"tier_lowered\": %s,\n", hash, gr_tier_name(p->tier), p->tier_lowered ? "true" : "false");
    gr_buf_printf(b, "  \"tolerance_class\": %s%s%s,\n", p->tolerance ? "\"" : "", p->tolerance ? gr_tolerance_name(p->tolerance) : "null", p->tolerance ? "\"" : "");
    key(b, "peak_memory");
    gr_buf_putc(b, '{');
    for (int m = 1; m < GR_MEM_COUNT; m++)
        gr_buf_printf(b, "%s \"%s\": %llu", m > 1 ? "," : "", gr_memory_name((gr_memory)m), (unsigned long long)p->peak[m]);
    gr_buf_printf(b, " },\n  \"peak_total\": %llu,\n  \"budget\": ", (unsigned long long)p->peak_total);
    if (p->budget) gr_buf_printf(b, "%llu,\n", (unsigned long long)p->budget);
    else gr_buf_puts(b, "null,\n");
    gr_buf_printf(b, "  \"verdict\": \"%s\",\n  \"guarantee\": \"%s\",\n", verdict_name(p->verdict), gr_guarantee_name(p->guarantee));
    json_lists(b, p);
    gr_buf_printf(b, "  \"target\": { \"kind\": \"%s\", \"adapter\": ", p->target.kind == GR_TARGET_ORACLE ? "oracle" : "webgpu");
    gr_buf_quoted(b, p->target.adapter);
    gr_buf_puts(b, " },\n");
    json_steps(b, p);
    gr_buf_printf(b, "  \"steps\": %u,\n  \"buffers\": %u,\n  \"work\": %llu,\n  \"cpu_seconds\": ", p->steps_n, p->buffers_n, (unsigned long long)p->work);
    gr_buf_f64(b, p->cpu_seconds);
    gr_buf_puts(b, "\n}\n");
    return !b->failed;
}
