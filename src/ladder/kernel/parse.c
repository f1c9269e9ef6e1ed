/* parse.c: reads what print.c writes. Values are looked up by name in the graph. */
#include "base/scan.h"
#include "ladder/kernel/kernel_int.h"

typedef struct parser {
    gr_scan s;
    const gr_graph *graph;
    gr_kernels *out;
    gr_map values;  /* name -> id */
    gr_map modules; /* hash text -> index into texts */
    GR_VEC(gr_str) texts;
    GR_VEC(gr_kernel) list;
} parser;

static bool oom(parser *p) {
    p->s.failed = true;
    return gr_report_oom(p->s.d);
}

static bool index_values(parser *p) {
    for (uint32_t i = 0; p->graph && i < p->graph->values_n; i++)
        if (!gr_map_put(p->s.arena, &p->values, p->graph->values[i].name, i)) return oom(p);
    return true;
}

static bool parse_target(parser *p) {
    gr_target *t = &p->out->target;
    gr_scan *s = &p->s;
    GR_TRY(gr_scan_expect(s, "target"));
    if (gr_scan_is(s, "oracle")) t->kind = GR_TARGET_ORACLE;
    else if (gr_scan_is(s, "webgpu")) t->kind = GR_TARGET_WEBGPU;
    else return gr_scan_fail(s, "a target is oracle or webgpu");
    GR_TRY(gr_scan_string(s, &t->adapter));
    t->reference = gr_scan_is(s, "reference");
    t->subgroups = gr_scan_is(s, "subgroups");
    t->shader_f16 = gr_scan_is(s, "shader-f16");
    t->timestamps = gr_scan_is(s, "timestamps");
    t->heavy_allowed = gr_scan_is(s, "heavy-allowed");
    return gr_scan_expect(s, "limits") && gr_scan_expect(s, "binding") && gr_scan_u64(s, &t->max_storage_binding) &&
           gr_scan_expect(s, "buffer") && gr_scan_u64(s, &t->max_buffer) && gr_scan_expect(s, "workgroup-storage") &&
           gr_scan_u64(s, &t->max_workgroup_storage) && gr_scan_expect(s, "groups") && gr_scan_u32(s, &t->max_groups) &&
           gr_scan_expect(s, "invocations") && gr_scan_u32(s, &t->max_invocations) && gr_scan_expect(s, "storage-buffers") &&
           gr_scan_u32(s, &t->max_storage_buffers) && gr_scan_expect(s, "subgroup") && gr_scan_u32(s, &t->subgroup_size);
}

static bool parse_module(parser *p) {
    gr_str key = gr_scan_peek(&p->s), text;
    gr_sha256 h;
    GR_TRY(gr_scan_hash(&p->s, &h) && gr_scan_block(&p->s, &text));
    if (!gr_sha256_eq(h, gr_sha256_of(text.p, text.n))) return gr_scan_fail(&p->s, "the text does not have the hash above it");
    gr_str *slot = GR_PUSH(p->s.arena, &p->texts);
    if (!slot || !gr_map_put(p->s.arena, &p->modules, key, p->texts.n - 1)) return oom(p);
    *slot = text;
    return true;
}

static bool parse_text(parser *p, gr_str *text, gr_sha256 *hash) {
    gr_str key = gr_scan_peek(&p->s);
    uint32_t i;
    GR_TRY(gr_scan_hash(&p->s, hash));
    if (!gr_map_get(&p->modules, key, &i)) return gr_scan_fail(&p->s, "no module with this hash stands above");
    *text = p->texts.v[i];
    return true;
}

static bool parse_value(parser *p, gr_value_id *v) {
    gr_str t = gr_scan_token(&p->s);
    *v = GR_NO_VALUE;
    if (gr_str_eqz(t, "none")) return true;
    if (t.n > 1 && t.p[0] == '%' && gr_map_get(&p->values, (gr_str){t.p + 1, t.n - 1}, v)) return true;
    return gr_scan_fail(&p->s, "expected none or %name of a value of the graph");
}

/* "a,b,c" is three tokens and two commas. */
static bool parse_three(parser *p, uint64_t v[3]) {
    return gr_scan_u64(&p->s, &v[0]) && gr_scan_expect(&p->s, ",") && gr_scan_u64(&p->s, &v[1]) && gr_scan_expect(&p->s, ",") &&
           gr_scan_u64(&p->s, &v[2]);
}

static bool parse_slot(parser *p, gr_kernel_bind *b) {
    gr_str t = gr_scan_token(&p->s);
    uint64_t v[2] = {0};
    int part = 0;
    for (size_t i = 0; i < t.n; i++) {
        if (t.p[i] == '.' && part == 0) part = 1;
        else if (t.p[i] >= '0' && t.p[i] <= '9' && v[part] < 100000) v[part] = v[part] * 10 + (uint64_t)(t.p[i] - '0');
        else return gr_scan_fail(&p->s, "expected group.binding");
    }
    b->group = (uint32_t)v[0];
    b->binding = (uint32_t)v[1];
    return part == 1 || gr_scan_fail(&p->s, "expected group.binding");
}

static bool parse_bind(parser *p, gr_kernel_bind *b) {
    static const char *const kind[] = {"none", "read", "write", "inout", "scratch", "count", "uniform"};
    gr_scan *s = &p->s;
    uint8_t *data;
    *b = (gr_kernel_bind){.value = GR_NO_VALUE, .result = GR_NO_VALUE};
    GR_TRY(parse_slot(p, b));
    for (int i = 1; i < 7 && b->kind == GR_KB_NONE; i++)
        if (gr_scan_is(s, kind[i])) b->kind = (gr_operand_kind)i;
    if (b->kind == GR_KB_NONE) return gr_scan_fail(s, "expected read, write, inout, scratch, count or uniform");
    b->writable = gr_scan_is(s, "rw");
    b->var = gr_scan_token(s);
    GR_TRY(gr_scan_expect(s, "="));
    if (b->kind == GR_KB_UNIFORM) {
        GR_TRY(gr_scan_hex(s, &data, &b->bytes));
        b->data = data;
        return true;
    }
    if (b->kind == GR_KB_SCRATCH) return gr_scan_u32(s, &b->scratch) && gr_scan_u64(s, &b->bytes);
    GR_TRY(parse_value(p, &b->value));
    return b->kind != GR_KB_VALUE_INOUT || parse_value(p, &b->result);
}

static bool parse_lists(parser *p, gr_kernel *k) {
    GR_VEC(gr_kernel_override) overrides = {0};
    GR_VEC(gr_kernel_bind) binds = {0};
    while (gr_scan_is(&p->s, "override")) {
        gr_kernel_override *o = GR_PUSH(p->s.arena, &overrides);
        if (!o) return oom(p);
        o->name = gr_scan_token(&p->s);
        GR_TRY(gr_scan_expect(&p->s, "=") && gr_scan_f64(&p->s, &o->value));
    }
    while (gr_scan_is(&p->s, "bind")) {
        gr_kernel_bind *b = GR_PUSH(p->s.arena, &binds);
        if (!b) return oom(p);
        GR_TRY(parse_bind(p, b));
    }
    k->overrides = overrides.v;
    k->overrides_n = overrides.n;
    k->binds = binds.v;
    k->binds_n = binds.n;
    return true;
}

static bool parse_kernel(parser *p) {
    gr_scan *s = &p->s;
    gr_kernel *k = GR_PUSH(s->arena, &p->list);
    uint64_t wg[3];
    uint32_t number;
    gr_sha256 ignored;
    if (!k) return oom(p);
    k->indirect = GR_NO_VALUE;
    GR_TRY(gr_scan_u32(s, &number));
    if (number != p->list.n - 1) return gr_scan_fail(s, "kernels are numbered in order");
    GR_TRY(gr_scan_string(s, &k->node));
    k->op = gr_scan_token(s);
    GR_TRY(gr_scan_expect(s, "{") && gr_scan_expect(s, "node") && gr_scan_u32(s, &k->graph_node) && gr_scan_expect(s, "origin") &&
           gr_scan_string(s, &k->origin) && gr_scan_expect(s, "order"));
    k->order = gr_scan_is(s, "unordered") ? GR_ORDER_UNORDERED : GR_ORDER_FIXED;
    if (k->order == GR_ORDER_FIXED) GR_TRY(gr_scan_expect(s, "fixed"));
    GR_TRY(gr_scan_expect(s, "why") && gr_scan_string(s, &k->why) && gr_scan_expect(s, "module") && parse_text(p, &k->wgsl, &k->hash));
    if (gr_scan_is(s, "reference")) GR_TRY(parse_text(p, &k->reference, &ignored));
    GR_TRY(gr_scan_expect(s, "entry"));
    k->entry = gr_scan_token(s);
    GR_TRY(gr_scan_expect(s, "workgroup") && parse_three(p, wg));
    for (int i = 0; i < 3; i++) k->workgroup[i] = wg[i] > UINT32_MAX ? 0 : (uint32_t)wg[i];
    GR_TRY(parse_lists(p, k) && gr_scan_expect(s, "grid") && parse_three(p, k->grid));
    k->linear = gr_scan_is(s, "over");
    if (gr_scan_is(s, "indirect"))
        GR_TRY(parse_value(p, &k->indirect) && gr_scan_expect(s, "per") && gr_scan_u32(s, &k->indirect_per));
    return gr_scan_expect(s, "}");
}

bool gr_kernels_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, const gr_graph *g, gr_kernels *out) {
    parser p = {.s = {.arena = a, .d = d, .name = GR_D_KERNEL_SYNTAX, .document = document, .text = text}, .graph = g, .out = out};
    gr_str name;
    *out = (gr_kernels){.graph = g};
    GR_TRY(index_values(&p) && gr_scan_expect(&p.s, "kernels") && gr_scan_name(&p.s, &name) && gr_scan_expect(&p.s, "{") && gr_scan_expect(&p.s, "tier"));
    out->tier = gr_tier_find(gr_scan_token(&p.s));
    if (out->tier == GR_TIER_NONE) return gr_scan_fail(&p.s, "a tier is debug, prod or fast");
    GR_TRY(parse_target(&p));
    while (gr_scan_is(&p.s, "module")) GR_TRY(parse_module(&p));
    while (gr_scan_is(&p.s, "kernel")) GR_TRY(parse_kernel(&p));
    GR_TRY(gr_scan_expect(&p.s, "}"));
    if (!gr_scan_at_end(&p.s)) return gr_scan_fail(&p.s, "text follows the closing brace");
    out->list = p.list.v;
    out->n = p.list.n;
    return true;
}
