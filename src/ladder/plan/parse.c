/* parse.c: reads what print.c writes. The graph (types, tolerance classes, names) and the WGSL texts come
 * from the kernels that the plan was made of; a kernel made for pieces keeps only its hash. */
#include "base/scan.h"
#include "ladder/plan/plan_int.h"

typedef struct parser {
    gr_scan s;
    const gr_kernels *k;
    gr_plan *p;
    gr_map values;
    GR_VEC(gr_plan_buffer) buffers;
    GR_VEC(gr_kernel) kernels;
    GR_VEC(gr_plan_tensor) tensors;
    GR_VEC(gr_plan_step) steps;
    GR_VEC(gr_plan_fix) fixes;
} parser;

static bool oom(parser *p) {
    p->s.failed = true;
    return gr_report_oom(p->s.d);
}

static bool number_after(gr_str t, size_t *at, uint64_t *out) {
    size_t from = *at;
    *out = 0;
    while (*at < t.n && t.p[*at] >= '0' && t.p[*at] <= '9' && *out < UINT64_MAX / 16) *out = *out * 10 + (uint64_t)(t.p[(*at)++] - '0');
    return *at > from;
}

/* b7, k3: a letter and a number. */
static bool parse_id(parser *p, char letter, uint32_t *out) {
    gr_str t = gr_scan_token(&p->s);
    uint64_t v;
    size_t at = 1;
    if (t.n < 2 || t.p[0] != letter || !number_after(t, &at, &v) || at != t.n || v > UINT32_MAX) return gr_scan_fail(&p->s, "expected a buffer or kernel number");
    *out = (uint32_t)v;
    return true;
}

static bool find_value(parser *p, gr_str t, gr_value_id *v) {
    if (gr_str_eqz(t, "-")) {
        *v = GR_NO_VALUE;
        return true;
    }
    if (t.n > 1 && t.p[0] == '%' && gr_map_get(&p->values, (gr_str){t.p + 1, t.n - 1}, v)) return true;
    return gr_scan_fail(&p->s, "expected %name of a value of the graph");
}

static bool parse_word(parser *p, const char *const *names, int n, int *out) {
    gr_str t = gr_scan_token(&p->s);
    for (*out = 1; *out < n; ++*out)
        if (gr_str_eqz(t, names[*out])) return true;
    return gr_scan_fail(&p->s, "an unknown word");
}

static const char *const verdicts[] = {"none", "green", "yellow", "red"};
static const char *const buffer_kinds[] = {"none", "storage", "uniform", "staging-up", "staging-down", "indirect"};
static const char *const step_kinds[] = {"none", "dispatch", "copy", "clear", "upload", "readback"};

/* ---- head ------------------------------------------------------------------------------- */

static bool parse_budget(parser *p) {
    gr_scan *s = &p->s;
    if (!gr_scan_is(s, "cpu")) GR_TRY(gr_scan_expect(s, "gpu"));
    if (!gr_scan_is(s, "none")) {
        gr_str n = gr_scan_token(s), unit = gr_scan_token(s);
        if (unit.p < n.p || !gr_bytes_parse((gr_str){n.p, (size_t)(unit.p + unit.n - n.p)}, &p->p->budget)) return gr_scan_fail(s, "expected a size");
    }
    gr_scan_skip_line(s);
    return true;
}

static bool parse_verdict(parser *p) {
    int v;
    GR_TRY(parse_word(p, verdicts, 4, &v));
    p->p->verdict = (gr_verdict)v;
    GR_VEC(gr_diag_name) w = {0};
    while (!p->s.failed) {
        gr_diag_name name = gr_diag_find(gr_scan_peek(&p->s));
        if (name == GR_D_NONE) break;
        gr_scan_token(&p->s);
        gr_diag_name *slot = GR_PUSH(p->s.arena, &w);
        if (!slot) return oom(p);
        *slot = name;
    }
    p->p->warnings = w.v;
    p->p->warnings_n = w.n;
    while (gr_scan_is(&p->s, "fix")) {
        gr_plan_fix *f = GR_PUSH(p->s.arena, &p->fixes);
        if (!f) return oom(p);
        GR_TRY(parse_word(p, verdicts, 4, &v));
        f->becomes = (gr_verdict)v;
        f->verified = gr_scan_is(&p->s, "verified");
        if (!f->verified) GR_TRY(gr_scan_expect(&p->s, "unverified"));
        GR_TRY(gr_scan_string(&p->s, &f->change));
    }
    while (gr_scan_is(&p->s, "streaming")) gr_scan_skip_line(&p->s); /* the steps say it again */
    return true;
}

static bool parse_head(parser *p) {
    gr_scan *s = &p->s;
    gr_plan *q = p->p;
    gr_str adapter;
    uint64_t work;
    GR_TRY(gr_scan_expect(s, "determinism_tier"));
    q->tier = gr_tier_find(gr_scan_token(s));
    q->tier_lowered = gr_scan_is(s, "lowered");
    gr_scan_skip_line(s);
    GR_TRY(gr_scan_expect(s, "tolerance_class"));
    gr_scan_skip_line(s);
    GR_TRY(gr_scan_expect(s, "peak_memory"));
    gr_scan_skip_line(s);
    GR_TRY(gr_scan_expect(s, "budget") && parse_budget(p) && gr_scan_expect(s, "guarantee"));
    gr_str g = gr_scan_token(s);
    for (int i = GR_GUARANTEE_CONVERGENT; i <= GR_GUARANTEE_BITWISE; i++)
        if (gr_str_eqz(g, gr_guarantee_name((gr_guarantee)i))) q->guarantee = (gr_guarantee)i;
    gr_scan_skip_line(s);
    GR_TRY(gr_scan_expect(s, "verdict") && parse_verdict(p) && gr_scan_expect(s, "target"));
    gr_scan_token(s);
    GR_TRY(gr_scan_string(s, &adapter) && gr_scan_expect(s, "work") && gr_scan_u64(s, &work) && gr_scan_f64(s, &q->cpu_seconds));
    gr_scan_skip_line(s);
    q->work = work;
    return true;
}

/* ---- lists ------------------------------------------------------------------------------- */

static bool parse_buffer(parser *p) {
    gr_scan *s = &p->s;
    uint32_t id;
    int v;
    gr_plan_buffer *b = GR_PUSH(s->arena, &p->buffers);
    if (!b) return oom(p);
    GR_TRY(parse_id(p, 'b', &id));
    if (id != p->buffers.n - 1) return gr_scan_fail(s, "buffers are numbered in order");
    GR_TRY(parse_word(p, buffer_kinds, 6, &v));
    b->kind = (gr_buffer_kind)v;
    gr_str m = gr_scan_token(s);
    for (int i = 1; i < GR_MEM_COUNT; i++)
        if (gr_str_eqz(m, gr_memory_name((gr_memory)i))) b->memory = (gr_memory)i;
    if (b->memory == GR_MEM_NONE) return gr_scan_fail(s, "an unknown memory class");
    GR_TRY(gr_scan_u64(s, &b->bytes) && gr_scan_expect(s, "steps") && gr_scan_u32(s, &b->first) && gr_scan_u32(s, &b->last));
    b->keep = gr_scan_is(s, "keep");
    return gr_scan_string(s, &b->name);
}

/* The text of a kernel that the list has. */
static void find_text(const parser *p, gr_kernel *k) {
    for (uint32_t i = 0; i < p->k->n; i++) {
        if (!gr_sha256_eq(p->k->list[i].hash, k->hash)) continue;
        k->wgsl = p->k->list[i].wgsl;
        k->reference = p->k->list[i].reference;
        k->why = p->k->list[i].why;
        return;
    }
}

static bool parse_kernel_binds(parser *p, gr_kernel *k) {
    static const char *const kind[] = {"none", "read", "write", "inout", "scratch", "count", "uniform"};
    GR_VEC(gr_kernel_bind) binds = {0};
    GR_VEC(gr_kernel_override) overrides = {0};
    gr_scan *s = &p->s;
    while (gr_scan_is(s, "override")) {
        gr_kernel_override *o = GR_PUSH(s->arena, &overrides);
        if (!o) return oom(p);
        o->name = gr_scan_token(s);
        GR_TRY(gr_scan_expect(s, "=") && gr_scan_f64(s, &o->value));
    }
    while (!gr_scan_is(s, "end")) {
        int v;
        gr_kernel_bind *b = GR_PUSH(s->arena, &binds);
        if (!b) return oom(p);
        GR_TRY(parse_word(p, kind, 7, &v));
        *b = (gr_kernel_bind){.kind = (gr_operand_kind)v, .value = GR_NO_VALUE, .result = GR_NO_VALUE, .writable = gr_scan_is(s, "rw")};
        GR_TRY(gr_scan_u32(s, &b->group) && gr_scan_u32(s, &b->binding));
        b->var = gr_scan_token(s);
    }
    k->binds = binds.v;
    k->binds_n = binds.n;
    k->overrides = overrides.v;
    k->overrides_n = overrides.n;
    return true;
}

static bool parse_kernel(parser *p) {
    gr_scan *s = &p->s;
    uint32_t id;
    gr_kernel *k = GR_PUSH(s->arena, &p->kernels);
    if (!k) return oom(p);
    GR_TRY(parse_id(p, 'k', &id));
    if (id != p->kernels.n - 1) return gr_scan_fail(s, "kernels are numbered in order");
    k->op = gr_scan_token(s);
    k->indirect = GR_NO_VALUE;
    GR_TRY(gr_scan_string(s, &k->origin));
    k->order = gr_scan_is(s, "unordered") ? GR_ORDER_UNORDERED : GR_ORDER_FIXED;
    if (k->order == GR_ORDER_FIXED) GR_TRY(gr_scan_expect(s, "fixed"));
    GR_TRY(gr_scan_hash(s, &k->hash));
    k->entry = gr_scan_token(s);
    GR_TRY(gr_scan_expect(s, "workgroup") && gr_scan_u32(s, &k->workgroup[0]) && gr_scan_expect(s, ",") && gr_scan_u32(s, &k->workgroup[1]) &&
           gr_scan_expect(s, ",") && gr_scan_u32(s, &k->workgroup[2]) && parse_kernel_binds(p, k));
    find_text(p, k);
    return true;
}

static bool parse_tensor(parser *p) {
    gr_scan *s = &p->s;
    gr_plan_tensor *t = GR_PUSH(s->arena, &p->tensors);
    if (!t) return oom(p);
    t->first_buffer = t->count_buffer = GR_NO_BUFFER;
    GR_TRY(find_value(p, gr_scan_token(s), &t->value));
    if (t->value != p->tensors.n - 1) return gr_scan_fail(s, "tensors stand in the order of the graph's values");
    GR_TRY(gr_scan_u64(s, &t->bytes));
    gr_str next = gr_scan_peek(s);
    if (next.n > 1 && next.p[0] == 'b') {
        GR_TRY(parse_id(p, 'b', &t->first_buffer));
        t->pages = 1;
        t->page_bytes = t->bytes;
    }
    if (gr_scan_is(s, "pages")) GR_TRY(gr_scan_u32(s, &t->pages) && gr_scan_u64(s, &t->page_bytes));
    if (gr_scan_is(s, "offset")) GR_TRY(gr_scan_u64(s, &t->offset));
    if (gr_scan_is(s, "count")) GR_TRY(parse_id(p, 'b', &t->count_buffer));
    return gr_scan_expect(s, "end");
}

static bool parse_uniforms(parser *p) {
    GR_VEC(uint8_t) all = {0};
    while (gr_scan_is(&p->s, "uniform")) {
        uint64_t at, n;
        uint8_t *data;
        GR_TRY(gr_scan_u64(&p->s, &at) && gr_scan_hex(&p->s, &data, &n));
        if (at != all.n || n > GR_UNIFORM_SLOT) return gr_scan_fail(&p->s, "uniform slots follow each other, 256 bytes each");
        for (uint32_t i = 0; i < GR_UNIFORM_SLOT; i++) {
            uint8_t *slot = GR_PUSH(p->s.arena, &all);
            if (!slot) return oom(p);
            *slot = i < n ? data[i] : 0;
        }
    }
    p->p->uniforms = all.v;
    p->p->uniforms_bytes = all.n;
    return true;
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* VAR<-b1+256:64%name or VAR->...; the variable is the kernel's binding of the same number. */
static bool parse_step_bind(parser *p, const gr_kernel *k, uint32_t i, gr_step_bind *b) {
    gr_str t = gr_scan_token(&p->s);
    if (i >= k->binds_n) return gr_scan_fail(&p->s, "more bindings than the kernel has");
    const gr_kernel_bind *kb = &k->binds[i];
    size_t at = kb->var.n;
    uint64_t buffer = 0;
    *b = (gr_step_bind){.group = kb->group, .binding = kb->binding, .uniform = kb->kind == GR_KB_UNIFORM, .value = GR_NO_VALUE};
    if (t.n < at + 4 || memcmp(t.p, kb->var.p, at) != 0) return gr_scan_fail(&p->s, "expected the kernel's next variable");
    b->writable = t.p[at] == '-';
    if (memcmp(t.p + at, b->writable ? "->b" : "<-b", 3) != 0) return gr_scan_fail(&p->s, "expected <- or -> and a buffer");
    at += 3;
    bool ok = number_after(t, &at, &buffer);
    b->buffer = (gr_buffer_id)buffer;
    if (ok && at < t.n && t.p[at] == '+') ok = (++at, number_after(t, &at, &b->offset));
    ok = ok && at < t.n && t.p[at] == ':' && (++at, number_after(t, &at, &b->bytes));
    if (!ok) return gr_scan_fail(&p->s, "expected bN+OFFSET:BYTES");
    return at == t.n || find_value(p, (gr_str){t.p + at, t.n - at}, &b->value);
}

static bool parse_dispatch(parser *p, gr_plan_step *s) {
    gr_scan *z = &p->s;
    gr_scan_token(z); /* the op, again */
    GR_TRY(parse_id(p, 'k', &s->kernel));
    if (s->kernel >= p->kernels.n) return gr_scan_fail(z, "no such kernel");
    GR_TRY(gr_scan_expect(z, "grid") && gr_scan_u32(z, &s->grid[0]) && gr_scan_expect(z, ",") && gr_scan_u32(z, &s->grid[1]) &&
           gr_scan_expect(z, ",") && gr_scan_u32(z, &s->grid[2]));
    if (gr_scan_is(z, "indirect")) GR_TRY(parse_id(p, 'b', &s->indirect) && gr_scan_u64(z, &s->indirect_offset));
    const gr_kernel *k = &p->kernels.v[s->kernel];
    s->binds = GR_NEW_N(z->arena, gr_step_bind, k->binds_n);
    if (!s->binds) return oom(p);
    while (!z->failed && !gr_str_eqz(gr_scan_peek(z), "work")) {
        if (s->binds_n == k->binds_n) return gr_scan_fail(z, "more bindings than the kernel has");
        GR_TRY(parse_step_bind(p, k, s->binds_n, &s->binds[s->binds_n]));
        s->binds_n++;
    }
    return true;
}

static bool parse_end(parser *p, bool host, gr_value_id *v, gr_buffer_id *id, uint64_t *offset) {
    return (host ? find_value(p, gr_scan_token(&p->s), v) : parse_id(p, 'b', id)) && gr_scan_u64(&p->s, offset);
}

static bool parse_move(parser *p, gr_plan_step *s) {
    gr_scan *z = &p->s;
    if (s->kind != GR_STEP_CLEAR)
        GR_TRY(parse_end(p, s->kind == GR_STEP_UPLOAD, &s->value, &s->from, &s->from_offset) && gr_scan_expect(z, "->"));
    GR_TRY(parse_end(p, s->kind == GR_STEP_READBACK, &s->value, &s->to, &s->to_offset) && gr_scan_expect(z, "bytes") && gr_scan_u64(z, &s->bytes));
    return !gr_scan_is(z, "via") || (parse_id(p, 'b', &s->staging) && gr_scan_u64(z, &s->staging_offset));
}

static bool parse_step(parser *p) {
    gr_scan *z = &p->s;
    uint32_t number;
    int kind;
    gr_plan_step *s = GR_PUSH(z->arena, &p->steps);
    if (!s) return oom(p);
    *s = (gr_plan_step){.indirect = GR_NO_BUFFER, .from = GR_NO_BUFFER, .to = GR_NO_BUFFER, .staging = GR_NO_BUFFER, .value = GR_NO_VALUE};
    GR_TRY(parse_word(p, step_kinds, 6, &kind) && gr_scan_u32(z, &number));
    if (number != p->steps.n - 1) return gr_scan_fail(z, "steps are numbered in order");
    s->kind = (gr_step_kind)kind;
    return gr_scan_string(z, &s->node) && (kind == GR_STEP_DISPATCH ? parse_dispatch(p, s) : parse_move(p, s)) && gr_scan_expect(z, "work") &&
           gr_scan_u64(z, &s->work);
}

/* ---- the whole --------------------------------------------------------------------------------- */

static bool derive(parser *p) {
    gr_plan *q = p->p;
    const gr_graph *g = p->k->graph;
    q->buffers = p->buffers.v;
    q->buffers_n = p->buffers.n;
    q->kernels = p->kernels.v;
    q->kernels_n = p->kernels.n;
    q->tensors = p->tensors.v;
    q->tensors_n = p->tensors.n;
    q->steps = p->steps.v;
    q->steps_n = p->steps.n;
    q->fixes = p->fixes.v;
    q->fixes_n = p->fixes.n;
    for (uint32_t i = 0; i < q->buffers_n; i++) {
        q->peak[q->buffers[i].memory] += q->buffers[i].bytes;
        q->peak_total += q->buffers[i].bytes;
    }
    q->tolerance = g->tolerance;
    if (!gr_plan_list_classes(p->s.arena, q)) return oom(p);
    return true;
}

bool gr_plan_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, const gr_kernels *k, gr_plan *out) {
    parser p = {.s = {.arena = a, .d = d, .name = GR_D_PLAN_SYNTAX, .document = document, .text = text}, .k = k, .p = out};
    gr_str name;
    *out = (gr_plan){.graph = k->graph, .target = k->target};
    for (uint32_t v = 0; v < k->graph->values_n; v++)
        if (!gr_map_put(a, &p.values, k->graph->values[v].name, v)) return oom(&p);
    GR_TRY(gr_scan_expect(&p.s, "plan") && gr_scan_name(&p.s, &name) && gr_scan_expect(&p.s, "{") && parse_head(&p));
    while (gr_scan_is(&p.s, "buffer")) GR_TRY(parse_buffer(&p));
    while (gr_scan_is(&p.s, "kernel")) GR_TRY(parse_kernel(&p));
    while (gr_scan_is(&p.s, "tensor")) GR_TRY(parse_tensor(&p));
    GR_TRY(parse_uniforms(&p));
    while (!p.s.failed && !gr_scan_is(&p.s, "}")) GR_TRY(parse_step(&p));
    if (!gr_scan_at_end(&p.s)) return gr_scan_fail(&p.s, "text follows the closing brace");
    return derive(&p);
}
