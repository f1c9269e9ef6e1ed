/* print.c: the text form of a kernel list: the target, every distinct text once, then the kernels in order. */
#include "base/scan.h"
#include "ladder/kernel/kernel_int.h"

static void print_target(gr_buf *b, const gr_target *t) {
    gr_buf_printf(b, "  target %s ", t->kind == GR_TARGET_ORACLE ? "oracle" : "webgpu");
    gr_buf_quoted(b, t->adapter);
    if (t->reference) gr_buf_puts(b, " reference");
    if (t->subgroups) gr_buf_puts(b, " subgroups");
    if (t->shader_f16) gr_buf_puts(b, " shader-f16");
    if (t->timestamps) gr_buf_puts(b, " timestamps");
    if (t->heavy_allowed) gr_buf_puts(b, " heavy-allowed");
    gr_buf_printf(b, "\n  limits binding %llu buffer %llu workgroup-storage %llu groups %u invocations %u storage-buffers %u subgroup %u\n",
                  (unsigned long long)t->max_storage_binding, (unsigned long long)t->max_buffer, (unsigned long long)t->max_workgroup_storage,
                  t->max_groups, t->max_invocations, t->max_storage_buffers, t->subgroup_size);
}

static void print_hash(gr_buf *b, gr_sha256 h) {
    char text[72];
    gr_sha256_text(text, h);
    gr_buf_puts(b, text);
}

/* Every distinct text before its first use. */
static bool print_module(gr_buf *b, gr_arena *scratch, gr_map *seen, gr_sha256 hash, gr_str text) {
    char z[72];
    gr_sha256_text(z, hash);
    gr_str key = gr_str_dup(scratch, gr_str_of(z));
    if (!key.p) return false;
    if (gr_map_get(seen, key, NULL)) return true;
    gr_buf_printf(b, "  module %s ", z);
    gr_buf_block(b, text, "  ");
    return gr_map_put(scratch, seen, key, 0);
}

static void print_value(gr_buf *b, const gr_kernels *k, gr_value_id v) {
    if (v == GR_NO_VALUE) gr_buf_puts(b, "none");
    else if (k->graph && v < k->graph->values_n) gr_buf_printf(b, "%%%.*s", GR_STR_ARG(k->graph->values[v].name));
    else gr_buf_printf(b, "%%?%u", v);
}

static void print_bind(gr_buf *b, const gr_kernels *k, const gr_kernel_bind *x) {
    static const char *const kind[] = {"none", "read", "write", "inout", "scratch", "count", "uniform"};
    gr_buf_printf(b, "    bind %u.%u %s%s %.*s = ", x->group, x->binding, kind[x->kind], x->writable ? " rw" : "", GR_STR_ARG(x->var));
    switch (x->kind) {
    case GR_KB_UNIFORM: gr_buf_hex(b, x->data, x->bytes); break;
    case GR_KB_SCRATCH: gr_buf_printf(b, "%u %llu", x->scratch, (unsigned long long)x->bytes); break;
    default: print_value(b, k, x->value);
    }
    if (x->kind == GR_KB_VALUE_INOUT) {
        gr_buf_puts(b, " ");
        print_value(b, k, x->result);
    }
    gr_buf_putc(b, '\n');
}

static void print_kernel(gr_buf *b, const gr_kernels *k, const gr_kernel *x, uint32_t i) {
    gr_buf_printf(b, "  kernel %u ", i);
    gr_buf_quoted(b, x->node);
    gr_buf_printf(b, " %.*s {\n    node %u origin ", GR_STR_ARG(x->op), x->graph_node);
    gr_buf_quoted(b, x->origin);
    gr_buf_printf(b, " order %s\n    why ", x->order == GR_ORDER_UNORDERED ? "unordered" : "fixed");
    gr_buf_quoted(b, x->why);
    gr_buf_puts(b, "\n    module ");
    print_hash(b, x->hash);
    if (x->reference.n) {
        gr_buf_puts(b, "\n    reference ");
        print_hash(b, gr_sha256_of(x->reference.p, x->reference.n));
    }
    gr_buf_printf(b, "\n    entry %.*s workgroup %u,%u,%u\n", GR_STR_ARG(x->entry), x->workgroup[0], x->workgroup[1], x->workgroup[2]);
    for (uint32_t j = 0; j < x->overrides_n; j++) {
        gr_buf_printf(b, "    override %.*s = ", GR_STR_ARG(x->overrides[j].name));
        gr_buf_f64(b, x->overrides[j].value);
        gr_buf_putc(b, '\n');
    }
    for (uint32_t j = 0; j < x->binds_n; j++) print_bind(b, k, &x->binds[j]);
    gr_buf_printf(b, "    grid %llu,%llu,%llu%s\n", (unsigned long long)x->grid[0], (unsigned long long)x->grid[1],
                  (unsigned long long)x->grid[2], x->linear ? " over" : "");
    if (x->indirect != GR_NO_VALUE) {
        gr_buf_puts(b, "    indirect ");
        print_value(b, k, x->indirect);
        gr_buf_printf(b, " per %u\n", x->indirect_per);
    }
    gr_buf_puts(b, "  }\n");
}

void gr_kernels_print(gr_buf *out, const gr_kernels *k) {
    gr_arena scratch = {0};
    gr_map seen = {0}, hashed = {0};
    bool ok = true;
    gr_buf_puts(out, "kernels ");
    gr_buf_name(out, k->graph ? k->graph->name : (gr_str){"", 0});
    gr_buf_puts(out, " {\n");
    gr_buf_printf(out, "  tier %s\n", gr_tier_name(k->tier));
    print_target(out, &k->target);
    for (uint32_t i = 0; ok && i < k->n; i++) {
        const gr_kernel *x = &k->list[i];
        ok = print_module(out, &scratch, &seen, x->hash, x->wgsl);
        /* references are few and shared: hash each text once */
        gr_str at = {(const char *)&x->reference.p, sizeof x->reference.p};
        if (ok && x->reference.n && !gr_map_get(&hashed, at, NULL))
            ok = print_module(out, &scratch, &seen, gr_sha256_of(x->reference.p, x->reference.n), x->reference) && gr_map_put(&scratch, &hashed, at, 0);
    }
    for (uint32_t i = 0; i < k->n; i++) print_kernel(out, k, &k->list[i], i);
    gr_buf_puts(out, "}\n");
    out->failed = out->failed || !ok;
    gr_arena_free(&scratch);
}
