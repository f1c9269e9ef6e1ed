/* cache.c: every distinct WGSL text once, and files with their aliases re-bound. */
#include "ladder/kernel/kernel_int.h"
#include "wgsl/subscript.h"

gr_kernel_cache *gr_kernel_cache_new(gr_arena *a) {
    gr_kernel_cache *c = GR_NEW(a, gr_kernel_cache);
    if (c) c->arena = a;
    return c;
}

uint32_t gr_cache_module(gr_kernel_cache *c, gr_str key, bool *known) {
    uint32_t i = 0;
    *known = gr_map_get(&c->by_key, key, &i);
    if (*known) return i;
    gr_str kept = gr_str_dup(c->arena, key);
    gr_kernel_module *fresh = kept.p ? GR_PUSH(c->arena, &c->module) : NULL;
    if (!fresh) return UINT32_MAX;
    i = c->module.n - 1;
    return gr_map_put(c->arena, &c->by_key, kept, i) ? i : UINT32_MAX;
}

void gr_cache_name_node(gr_kernel_cache *c, uint32_t module, gr_str node) {
    gr_kernel_module *m = &c->module.v[module];
    if (m->nodes_n && gr_str_eq(m->nodes[(m->nodes_n - 1) % GR_KERNEL_NODES_NAMED], node)) return;
    for (uint32_t i = 0; i < m->nodes_n; i++)
        if (gr_str_eq(m->nodes[i], node)) return;
    if (m->nodes_n < GR_KERNEL_NODES_NAMED) m->nodes[m->nodes_n++] = node;
    else m->nodes_more++;
}

/* Node ids come from documents: keep line breaks and control bytes out of a comment. */
static void put_name(gr_buf *b, gr_str s) {
    for (size_t i = 0; i < s.n; i++) gr_buf_putc(b, (unsigned char)s.p[i] < 32 ? '?' : s.p[i]);
}

static bool finish_module(gr_kernel_cache *c, gr_diags *d, gr_kernel_module *m) {
    if (m->text.p) return true;
    if (!m->body.p) return gr_report_oom(d); /* its text could not be made */
    if (!m->generated) {
        m->text = m->body;
    } else {
        gr_buf b = {0};
        gr_buf_puts(&b, "// ");
        put_name(&b, m->op);
        if (m->file.n) gr_buf_printf(&b, ": %.*s, with an operand computed where it is read.\n// Graph nodes: ", GR_STR_ARG(m->file));
        else gr_buf_puts(&b, m->fused ? " as one pointwise kernel, generated from the map bodies of its nodes.\n// Graph nodes: "
                                 : " as a pointwise kernel, generated from its map body.\n// Graph nodes: ");
        for (uint32_t i = 0; i < m->nodes_n; i++) {
            if (i) gr_buf_puts(&b, ", ");
            put_name(&b, m->nodes[i]);
        }
        if (m->nodes_more) gr_buf_printf(&b, " and %u more uses", m->nodes_more);
        gr_buf_puts(&b, "\n");
        gr_str head = gr_buf_view(&b);
        char *p = b.failed ? NULL : gr_arena_alloc(c->arena, head.n + m->body.n + 1, 1);
        if (p) {
            memcpy(p, head.p, head.n);
            memcpy(p + head.n, m->body.p, m->body.n);
            m->text = (gr_str){p, head.n + m->body.n};
        }
        gr_buf_free(&b);
    }
    if (!m->text.p) return gr_report_oom(d);
    m->hash = gr_sha256_of(m->text.p, m->text.n);
    return true;
}

bool gr_kernel_cache_finish(gr_kernel_cache *c, gr_diags *d, gr_kernel *list, uint32_t n) {
    for (uint32_t i = 0; i < c->module.n; i++) GR_TRY(finish_module(c, d, &c->module.v[i]));
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].wgsl.n) continue; /* from another cache, already complete */
        const gr_kernel_module *m = &c->module.v[list[i].module];
        list[i].wgsl = m->text;
        list[i].hash = m->hash;
        list[i].reference = m->reference;
    }
    return true;
}

/* ---- files ------------------------------------------------------------------ */

static bool alias_type(const gr_call *call, gr_str dtype, const gr_target *t, const char **wgsl, gr_dtype *out) {
    if (!gr_kernel_dtype(call, dtype, out)) return false;
    *wgsl = gr_kernel_storage_type(t, *out);
    return *wgsl != NULL;
}

/* The text with `alias NAME = ...;` replaced for every alias of the binding, and `enable f16;` in front when
 * a re-bound alias needs it. `parsed` tells where the declarations are. */
static gr_str rebind(gr_arena *a, const gr_wgsl_module *parsed, const gr_kernel_decl *k, const gr_wgsl_rebind *r, uint32_t n, bool f16) {
    gr_buf b = {0};
    size_t at = 0;
    if (f16 && !parsed->enable_f16) gr_buf_puts(&b, "enable f16;\n");
    for (uint32_t i = 0; i < parsed->decl_n; i++) {
        const gr_wgsl_decl *decl = parsed->decl[i];
        if (decl->kind != GR_WD_ALIAS || !decl->type_expr) continue;
        for (uint32_t j = 0; j < n; j++) {
            if (!gr_str_eq(decl->name, r[j].alias)) continue;
            gr_buf_put(&b, k->wgsl.p + at, decl->type_expr->offset - at);
            gr_buf_str(&b, r[j].type);
            at = decl->type_expr->end;
            break;
        }
    }
    gr_buf_put(&b, k->wgsl.p + at, k->wgsl.n - at);
    gr_str s = b.failed ? (gr_str){0} : gr_str_dup(a, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

/* The text with the reader's function in place of the variable. */
static gr_str read_through(gr_arena *a, gr_str text, const gr_reader *r) {
    gr_buf b = {0};
    bool f16 = gr_text_names(r->text, GR_STR("f16")) && !gr_text_names(text, GR_STR("enable"));
    if (f16) gr_buf_puts(&b, "enable f16;\n");
    gr_wgsl_put_subscripts(&b, text, r->var, r->function);
    gr_buf_puts(&b, "\n");
    gr_buf_str(&b, r->text);
    gr_str s = b.failed ? (gr_str){0} : gr_str_dup(a, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

static bool load_file(gr_kernel_cache *c, gr_diags *d, const gr_kernel_decl *k, const gr_wgsl_rebind *r, uint32_t n,
                      bool f16, const gr_reader *reader, gr_kernel_module *m) {
    gr_arena scratch = {0};
    const gr_wgsl_module *syntax = gr_wgsl_parse(&scratch, d, k->file, k->wgsl);
    m->body = syntax ? rebind(c->arena, syntax, k, r, n, f16) : (gr_str){0};
    gr_arena_free(&scratch);
    if (!syntax) return false;
    if (m->body.p && reader) m->body = read_through(c->arena, m->body, reader);
    if (!m->body.p) return gr_report_oom(d);
    m->wgsl = gr_wgsl_load(c->arena, d, k->file, m->body, NULL);
    return m->wgsl != NULL;
}

uint32_t gr_cache_file(gr_kernel_cache *c, gr_diags *d, const gr_call *call, const gr_kernel_decl *k, const gr_target *t, const gr_reader *reader) {
    gr_wgsl_rebind r[16];
    char key[256];
    uint32_t n = 0, len = 0;
    bool f16 = false, known;
    memcpy(key, k->hash.b, sizeof k->hash.b);
    len = sizeof k->hash.b;
    for (uint32_t i = 0; i < k->binding.aliases_n && n < 16; i++) {
        const char *wgsl;
        gr_dtype type;
        if (!alias_type(call, k->binding.aliases[i].dtype, t, &wgsl, &type)) continue;
        f16 = f16 || type == GR_DTYPE_F16;
        r[n++] = (gr_wgsl_rebind){k->binding.aliases[i].alias, gr_str_of(wgsl)};
        key[len++] = (char)('A' + (int)i);
        key[len++] = (char)('a' + (int)type);
    }
    if (reader) memcpy(key + len, reader->key, reader->key_n), len += reader->key_n;
    uint32_t at = gr_cache_module(c, (gr_str){key, len}, &known);
    if (at == UINT32_MAX) {
        gr_report_oom(d);
        return at;
    }
    gr_kernel_module m = c->module.v[at];
    if (!known) {
        m.op = call->op->id;
        const gr_kernel_decl *truth = gr_op_reference(call->op, call->operands_n ? call->operands[0].dtype : call->outputs[0].dtype);
        m.reference = truth ? truth->wgsl : (gr_str){0};
        m.generated = m.fused = reader != NULL;
        if (reader) m.file = k->file;
        load_file(c, d, k, r, n, f16, reader, &m);
        c->module.v[at] = m;
    }
    return m.wgsl ? at : UINT32_MAX; /* a file that failed was reported when it was met first */
}
