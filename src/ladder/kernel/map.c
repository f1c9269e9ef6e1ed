/* map.c: pointwise kernels generated from map bodies.
 *
 * One text per (op, dtypes, access pattern): sizes and strides are uniforms. Operands are read
 * where their broadcast strides say, after dimensions have been merged jointly; the
 * output is written in order. Where everything allows it an invocation does four neighbours of
 * the innermost dimension with one vec4 load and store each. */
#include "base/math.h"
#include "ladder/kernel/kernel_int.h"

enum { MAX_OPERANDS = 24, MAX_RESULTS = 48, MAX_PARAMS = 40, MAX_WORDS = 256, VEC_MIN = 1024 };

typedef enum reach { REACH_NONE = 0, REACH_ORDER, REACH_ONE, REACH_STRIDED } reach; /* i; 0; by coordinates */

typedef struct operand {
    gr_str name;
    gr_dtype type;
    gr_value_id value;
    uint32_t slot;  /* in views */
    reach reach;
    bool wide;      /* bound as vec4s */
} operand;

typedef struct map {
    gr_inst *in;
    gr_str expr, functions;
    operand x[MAX_OPERANDS];
    uint32_t n;
    gr_str absent[MAX_OPERANDS]; /* optional operands not given, named by the expression */
    gr_dtype absent_type[MAX_OPERANDS];
    uint32_t absent_n;
    uint32_t params[MAX_PARAMS], params_n;
    gr_views v;
    uint64_t stride[MAX_OPERANDS][GR_RANK_MAX];
    gr_dtype out[MAX_RESULTS]; /* several of a fused op alone: its expression gives a struct of them */
    uint32_t out_n;
    uint64_t items;
    uint32_t width, lanes;
    bool narrow;                         /* one element an invocation in any case */
    const char *prefix, *block, *struct_; /* of operand variables; the uniform variable and its type */
    uint32_t binding;                    /* the first */
} map;

/* ---- text search ------------------------------------------------------------- */

static bool word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 128;
}

bool gr_text_names(gr_str text, gr_str name) {
    for (size_t i = 0; name.n && i + name.n <= text.n; i++) {
        if (memcmp(text.p + i, name.p, name.n) != 0) continue;
        if (i + name.n < text.n && word_char(text.p[i + name.n])) continue;
        if (i > 0 && (word_char(text.p[i - 1]) || text.p[i - 1] == '.')) continue;
        return true;
    }
    return false;
}

/* ---- types ------------------------------------------------------------------- */

static const char *value_type(const map *m, gr_dtype t) {
    return t == GR_DTYPE_BOOL ? "bool" : gr_kernel_storage_type(m->in->t, t);
}

static const char *param_type(gr_param_kind k) {
    switch (k) {
    case GR_PARAM_I32: return "i32";
    case GR_PARAM_F32: return "f32";
    case GR_PARAM_BOOL: return "bool";
    default: return "u32";
    }
}

/* ---- gathering --------------------------------------------------------------- */

static bool too_many(const map *m) {
    return gr_report(m->in->d, GR_D_KERNEL_INVALID, m->in->at, "give the op a graph body or a kernel",
                     "%.*s: a map body takes at most %d operands and %d parameters", GR_STR_ARG(m->in->call->op->id), MAX_OPERANDS, MAX_PARAMS);
}

static gr_str map_expr(const gr_call *c) {
    return gr_map_expr(&c->op->map, c->operands_n ? c->operands[0].dtype : c->outputs[0].dtype, c->outputs[0].dtype);
}

static bool gather_operands(map *m) {
    const gr_call *c = m->in->call;
    for (uint32_t i = 0; i < c->op->sig.operands_n; i++) {
        const gr_sig_tensor *s = &c->op->sig.operands[i];
        uint32_t at = c->operand_first[i];
        if (!gr_text_names(m->expr, s->name)) continue;
        if (m->n == MAX_OPERANDS || m->absent_n == MAX_OPERANDS) return too_many(m);
        if (at == c->operand_first[i + 1] || c->operands[at].dtype == GR_DTYPE_NONE) {
            m->absent_type[m->absent_n] = c->outputs[0].dtype;
            m->absent[m->absent_n++] = s->name;
            continue;
        }
        m->x[m->n] = (operand){.name = s->name, .type = c->operands[at].dtype, .value = m->in->args[at], .slot = m->n};
        if (!gr_view_strides(&c->operands[at], &c->outputs[0], m->stride[m->n]))
            return gr_report(m->in->d, GR_D_KERNEL_INVALID, m->in->at, "operands of a map body broadcast to its output",
                             "%.*s: operand %.*s does not broadcast to the output", GR_STR_ARG(c->op->id), GR_STR_ARG(s->name));
        m->n++;
    }
    for (uint32_t i = 0; i < c->op->sig.params_n; i++) {
        const gr_sig_param *p = &c->op->sig.params[i];
        if (p->kind == GR_PARAM_DTYPE || p->kind >= GR_PARAM_U32_LIST || !gr_text_names(m->expr, p->name)) continue;
        if (m->params_n == MAX_PARAMS) return too_many(m);
        m->params[m->params_n++] = i;
    }
    return true;
}

/* ---- access pattern ------------------------------------------------------------ */

static bool narrow_enough(gr_dtype t) {
    return t != GR_DTYPE_I64 && t != GR_DTYPE_U64;
}

static bool can_widen(const map *m) {
    uint32_t last = m->v.rank - 1;
    if (m->in->t->kind == GR_TARGET_ORACLE || m->items < VEC_MIN || m->v.rank == 0 || m->v.dims[last] % 4) return false;
    for (uint32_t i = 0; i < m->out_n; i++)
        if (!narrow_enough(m->out[i])) return false;
    for (uint32_t i = 0; i < m->n; i++) {
        if (!narrow_enough(m->x[i].type)) return false;
        if (m->stride[i][last] == 0) continue;
        for (uint32_t k = 0; k < last; k++)
            if (m->stride[i][k] % 4) return false;
    }
    return true;
}

static void set_reach(map *m, operand *x) {
    uint64_t run = 1;
    bool order = true, one = true;
    for (uint32_t k = m->v.rank; k-- > 0; run *= m->v.dims[k]) {
        order = order && m->stride[x->slot][k] == run;
        one = one && m->stride[x->slot][k] == 0;
    }
    x->reach = one ? REACH_ONE : order ? REACH_ORDER : REACH_STRIDED;
}

static bool arrange(map *m) {
    const gr_type *y = &m->in->call->outputs[0];
    for (m->out_n = 0; m->out_n < m->in->call->outputs_n; m->out_n++) m->out[m->out_n] = m->in->call->outputs[m->out_n].dtype;
    m->v = (gr_views){.rank = y->rank, .n = m->n, .stride = m->stride};
    for (uint32_t k = 0; k < y->rank; k++) m->v.dims[k] = y->dim[k].n;
    if (!gr_type_count(y, &m->items)) return false; /* checked before */
    gr_views_merge(&m->v);
    for (uint32_t i = 0; i < m->n; i++) set_reach(m, &m->x[i]);
    m->width = !m->narrow && can_widen(m) ? 4 : 1;
    if (m->width == 1) return true;
    uint32_t last = m->v.rank - 1;
    for (uint32_t i = 0; i < m->n; i++) {
        m->x[i].wide = m->stride[i][last] == 1;
        for (uint32_t k = 0; m->x[i].wide && k < last; k++) m->stride[i][k] /= 4;
    }
    m->v.dims[last] /= 4;
    m->items /= 4;
    return true;
}

/* ---- key ------------------------------------------------------------------------ */

typedef struct key { char p[512]; uint32_t n; } key;
static void key_put(key *k, uint64_t v) {
    if (k->n < sizeof k->p) k->p[k->n++] = (char)v;
}

/* Everything that the text depends on. */
static void make_key(const map *m, key *k) {
    const gr_op *op = m->in->call->op;
    k->n = 0;
    for (uint32_t i = 0; i < sizeof op->hash.b; i++) key_put(k, op->hash.b[i]);
    for (size_t i = 0; i < op->id.n; i++) key_put(k, (unsigned char)op->id.p[i]);
    key_put(k, 0);
    for (uint32_t i = 0; i < m->out_n; i++) key_put(k, m->out[i]);
    key_put(k, m->width);
    key_put(k, m->v.rank);
    key_put(k, m->lanes);
    for (uint32_t i = 0; i < m->in->call->operands_n; i++) key_put(k, m->in->call->operands[i].dtype);
    for (uint32_t i = 0; i < m->n; i++) {
        uint64_t zero = 0;
        for (uint32_t r = 0; r < m->v.rank; r++) zero |= (uint64_t)(m->stride[i][r] == 0) << r;
        key_put(k, m->x[i].reach);
        key_put(k, m->x[i].wide);
        key_put(k, m->x[i].reach == REACH_STRIDED ? zero : 0);
        key_put(k, m->x[i].slot);
    }
}

/* ---- text ------------------------------------------------------------------------ */

/* Whether the expression calls one of the helper functions; else they are left out. */
static bool calls_functions(const map *m) {
    gr_str f = m->functions;
    for (size_t i = 0; i + 3 < f.n; i++) {
        if (memcmp(f.p + i, "fn ", 3) != 0 || (i > 0 && word_char(f.p[i - 1]))) continue;
        size_t from = i + 3, to;
        while (from < f.n && f.p[from] == ' ') from++;
        for (to = from; to < f.n && word_char(f.p[to]);) to++;
        if (gr_text_names(m->expr, (gr_str){f.p + from, to - from})) return true;
    }
    return false;
}

static void emit_alias(gr_buf *b, const map *m, gr_str name, const char *suffix, gr_dtype t) {
    gr_buf full = {0};
    gr_buf_printf(&full, "%.*s%s", GR_STR_ARG(name), suffix);
    gr_str s = gr_buf_view(&full);
    if (gr_text_names(m->expr, s) || (calls_functions(m) && gr_text_names(m->functions, s))) gr_buf_printf(b, "alias %.*s = %s;\n", GR_STR_ARG(s), value_type(m, t));
    gr_buf_free(&full);
}

static bool uses_f16(const map *m) {
    bool f16 = false;
    for (uint32_t i = 0; i < m->out_n; i++) f16 = f16 || m->out[i] == GR_DTYPE_F16;
    for (uint32_t i = 0; i < m->in->call->operands_n; i++) f16 = f16 || m->in->call->operands[i].dtype == GR_DTYPE_F16;
    return f16 || (calls_functions(m) && gr_text_names(m->functions, GR_STR("f16"))) || gr_text_names(m->expr, GR_STR("f16"));
}

static void emit_aliases(gr_buf *b, const map *m) {
    const gr_call *c = m->in->call;
    if (uses_f16(m)) gr_buf_puts(b, "enable f16;\n");
    gr_buf_puts(b, "\n");
    for (uint32_t i = 0; i < c->op->sig.dtypes_n; i++) {
        gr_dtype t;
        if (gr_call_dtype(c, c->op->sig.dtypes[i].var, &t)) emit_alias(b, m, c->op->sig.dtypes[i].var, "", t);
    }
    for (uint32_t i = 0; i < c->op->sig.params_n; i++)
        if (c->op->sig.params[i].kind == GR_PARAM_DTYPE) emit_alias(b, m, c->op->sig.params[i].name, "_type", (gr_dtype)c->params[i].i);
}

static void emit_shape(gr_buf *b, const map *m) {
    gr_buf_printf(b, "struct %s {\n    items: u32,\n", m->struct_);
    for (uint32_t k = 1; k < m->v.rank; k++) gr_buf_printf(b, "    dim%u: u32,\n", k);
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t k = 0; m->x[i].reach == REACH_STRIDED && k < m->v.rank; k++)
            if (m->stride[i][k]) gr_buf_printf(b, "    %.*s_stride%u: u32,\n", GR_STR_ARG(m->x[i].name), k);
    for (uint32_t i = 0; i < m->params_n; i++) {
        const gr_sig_param *p = &m->in->call->op->sig.params[m->params[i]];
        const char *t = param_type(p->kind);
        gr_buf_printf(b, "    param_%.*s: %s,\n", GR_STR_ARG(p->name), strcmp(t, "bool") == 0 ? "u32" : t);
    }
    gr_buf_puts(b, "}\n\n");
}

static void emit_array(gr_buf *b, const map *m, gr_dtype t, bool wide) {
    const char *s = gr_kernel_storage_type(m->in->t, t);
    if (wide) gr_buf_printf(b, "array<vec4<%s>>;\n", s);
    else gr_buf_printf(b, "array<%s>;\n", s);
}

static void emit_bindings(gr_buf *b, const map *m) {
    for (uint32_t i = 0; i < m->n; i++) {
        gr_buf_printf(b, "@group(0) @binding(%u) var<storage, read> %s%.*s: ", m->binding + i, m->prefix, GR_STR_ARG(m->x[i].name));
        emit_array(b, m, m->x[i].type, m->x[i].wide);
    }
    for (uint32_t i = 0; !m->narrow && i < m->out_n; i++) {
        gr_buf_printf(b, "@group(0) @binding(%u) var<storage, read_write> out_%.*s: ", m->n + i, GR_STR_ARG(m->in->call->op->sig.outputs[i].name));
        emit_array(b, m, m->out[i], m->width == 4);
    }
    gr_buf_printf(b, "@group(0) @binding(%u) var<uniform> %s: %s;\n\n", m->binding + m->n + (m->narrow ? 0 : m->out_n), m->block, m->struct_);
}

static void emit_function(gr_buf *b, const map *m) {
    const gr_call *c = m->in->call;
    const char *comma = "";
    if (calls_functions(m)) {
        gr_buf_str(b, m->functions);
        gr_buf_puts(b, m->functions.p[m->functions.n - 1] == '\n' ? "\n" : "\n\n");
    }
    if (c->op->fusion) return; /* `fused` is what is applied */
    gr_buf_puts(b, "fn map_body(");
    for (uint32_t i = 0; i < m->n; i++, comma = ", ") gr_buf_printf(b, "%s%.*s: %s", comma, GR_STR_ARG(m->x[i].name), value_type(m, m->x[i].type));
    for (uint32_t i = 0; i < m->params_n; i++, comma = ", ") {
        const gr_sig_param *p = &c->op->sig.params[m->params[i]];
        gr_buf_printf(b, "%s%.*s: %s", comma, GR_STR_ARG(p->name), param_type(p->kind));
    }
    gr_buf_printf(b, ") -> %s {\n", value_type(m, m->out[0]));
    for (uint32_t i = 0; i < m->absent_n; i++)
        gr_buf_printf(b, "    let %.*s = %s();\n", GR_STR_ARG(m->absent[i]), value_type(m, m->absent_type[i]));
    gr_buf_printf(b, "    return %.*s;\n}\n\n", GR_STR_ARG(m->expr));
}

static void emit_place(gr_buf *b, const map *m, const operand *x) {
    const char *plus = "";
    if (x->reach == REACH_ONE) gr_buf_puts(b, "0u");
    else if (x->reach == REACH_ORDER) gr_buf_puts(b, "i");
    else
        for (uint32_t k = 0; k < m->v.rank; k++) {
            if (m->stride[x->slot][k] == 0) continue;
            gr_buf_printf(b, "%sc%u * %s.%.*s_stride%u", plus, k, m->block, GR_STR_ARG(x->name), k);
            plus = " + ";
        }
}

/* map_body applied to component `c` of the loaded operands ("" for scalars). */
static void emit_apply(gr_buf *b, const map *m, const char *c) {
    const char *comma = "";
    gr_buf_puts(b, m->in->call->op->fusion ? "fused(" : "map_body(");
    for (uint32_t i = 0; i < m->n; i++, comma = ", ")
        gr_buf_printf(b, "%s%.*s_i%s%s", comma, GR_STR_ARG(m->x[i].name), m->x[i].wide ? c : "", m->x[i].type == GR_DTYPE_BOOL ? " != 0u" : "");
    for (uint32_t i = 0; i < m->params_n; i++, comma = ", ") {
        const gr_sig_param *p = &m->in->call->op->sig.params[m->params[i]];
        gr_buf_printf(b, "%s%s.param_%.*s%s", comma, m->block, GR_STR_ARG(p->name), p->kind == GR_PARAM_BOOL ? " != 0u" : "");
    }
    gr_buf_puts(b, ")");
}

static const char *const component[4] = {".x", ".y", ".z", ".w"};

/* Result `o` of the applied body as it is stored; `part` is the vector component. */
static void emit_stored(gr_buf *b, const map *m, uint32_t o, int part) {
    gr_dtype t = m->out[o];
    if (t == GR_DTYPE_BOOL) gr_buf_puts(b, "select(0u, 1u, ");
    if (t == GR_DTYPE_I8 || t == GR_DTYPE_U8) gr_buf_puts(b, "(");
    if (m->out_n > 1) gr_buf_printf(b, "results%d.%.*s", part, GR_STR_ARG(m->in->call->op->sig.outputs[o].name));
    else emit_apply(b, m, m->width == 1 ? "" : component[part]);
    if (t == GR_DTYPE_BOOL) gr_buf_puts(b, ")");
    if (t == GR_DTYPE_I8) gr_buf_puts(b, " << 24u) >> 24u");
    if (t == GR_DTYPE_U8) gr_buf_puts(b, " & 0xffu)");
}

static void emit_coordinates(gr_buf *b, const map *m) {
    bool strided = false;
    for (uint32_t i = 0; i < m->n; i++) strided = strided || m->x[i].reach == REACH_STRIDED;
    if (!strided) return;
    gr_buf_puts(b, "    // Coordinates in the merged dimensions, outermost first.\n");
    gr_buf_printf(b, "    let r%u = i;\n", m->v.rank - 1);
    for (uint32_t k = m->v.rank - 1; k > 0; k--)
        gr_buf_printf(b, "    let c%u = r%u %% %s.dim%u;\n    let r%u = r%u / %s.dim%u;\n", k, k, m->block, k, k - 1, k, m->block, k);
    gr_buf_puts(b, "    let c0 = r0;\n");
}

static void emit_loads(gr_buf *b, const map *m) {
    for (uint32_t i = 0; i < m->n; i++) {
        gr_buf_printf(b, "    let %.*s_i = %s%.*s[", GR_STR_ARG(m->x[i].name), m->prefix, GR_STR_ARG(m->x[i].name));
        emit_place(b, m, &m->x[i]);
        gr_buf_puts(b, "];\n");
    }
}

static void emit_store(gr_buf *b, const map *m, uint32_t o) {
    gr_buf_printf(b, "    out_%.*s[i] = ", GR_STR_ARG(m->in->call->op->sig.outputs[o].name));
    if (m->width == 1) {
        emit_stored(b, m, o, 0);
    } else {
        gr_buf_printf(b, "vec4<%s>(\n", gr_kernel_storage_type(m->in->t, m->out[o]));
        for (int k = 0; k < 4; k++) {
            gr_buf_puts(b, "        ");
            emit_stored(b, m, o, k);
            gr_buf_puts(b, k < 3 ? ",\n" : ")");
        }
    }
    gr_buf_puts(b, ";\n");
}

static void emit_main(gr_buf *b, const map *m) {
    gr_buf_printf(b, "@compute @workgroup_size(%u)\nfn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,\n"
                     "        @builtin(local_invocation_index) lane: u32) {\n"
                     "    let i = (group.y * groups.x + group.x) * %uu + lane;\n"
                     "    if (i >= shape.items) {\n        return;\n    }\n", m->lanes, m->lanes);
    emit_coordinates(b, m);
    emit_loads(b, m);
    for (uint32_t part = 0; m->out_n > 1 && part < m->width; part++) {
        gr_buf_printf(b, "    let results%u = ", part);
        emit_apply(b, m, m->width == 1 ? "" : component[part]);
        gr_buf_puts(b, ";\n");
    }
    for (uint32_t o = 0; o < m->out_n; o++) emit_store(b, m, o);
    gr_buf_puts(b, "}\n");
}

static gr_str emit(const map *m) {
    gr_buf b = {0};
    emit_aliases(&b, m);
    emit_shape(&b, m);
    emit_bindings(&b, m);
    emit_function(&b, m);
    emit_main(&b, m);
    gr_str s = b.failed ? (gr_str){0} : gr_str_dup(m->in->cache->arena, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

/* ---- uniform block ----------------------------------------------------------------- */

static uint32_t param_word(const gr_param *p, gr_param_kind kind) {
    if (kind == GR_PARAM_F32) return gr_bits_f32((float)p->f);
    if (kind == GR_PARAM_BOOL) return p->i != 0;
    return (uint32_t)(uint64_t)p->i;
}

static bool fill_shape(const map *m, gr_kernel_bind *bind) {
    uint32_t w[MAX_WORDS], n = 0;
    w[n++] = (uint32_t)m->items;
    for (uint32_t k = 1; k < m->v.rank; k++) w[n++] = (uint32_t)m->v.dims[k];
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t k = 0; m->x[i].reach == REACH_STRIDED && k < m->v.rank; k++)
            if (m->stride[i][k] && n < MAX_WORDS) w[n++] = (uint32_t)m->stride[i][k];
    for (uint32_t i = 0; i < m->params_n && n < MAX_WORDS; i++)
        w[n++] = param_word(&m->in->call->params[m->params[i]], m->in->call->op->sig.params[m->params[i]].kind);
    bind->bytes = (n * 4u + 15u) & ~15u;
    uint8_t *p = gr_arena_alloc(m->in->a, (size_t)bind->bytes, 1);
    if (!p) return false;
    memcpy(p, w, n * 4u);
    bind->data = p;
    return true;
}

static bool fill_kernel(const map *m, gr_kernel *k) {
    k->origin = m->in->call->op->fusion ? GR_STR("fused maps") : GR_STR("generated map");
    k->order = GR_ORDER_FIXED;
    k->entry = GR_STR("main");
    k->workgroup[0] = m->lanes;
    k->workgroup[1] = k->workgroup[2] = 1;
    k->grid[0] = (m->items + m->lanes - 1) / m->lanes;
    k->grid[1] = k->grid[2] = 1;
    k->linear = true;
    k->binds_n = m->n + m->out_n + 1;
    k->binds = GR_NEW_N(m->in->a, gr_kernel_bind, k->binds_n);
    if (!k->binds) return false;
    for (uint32_t i = 0; i < k->binds_n; i++) k->binds[i] = (gr_kernel_bind){.binding = i, .value = GR_NO_VALUE, .result = GR_NO_VALUE};
    for (uint32_t i = 0; i < m->n; i++) {
        k->binds[i].kind = GR_KB_VALUE_READ;
        k->binds[i].value = m->x[i].value;
    }
    for (uint32_t i = 0; i < m->out_n; i++) {
        k->binds[m->n + i].kind = GR_KB_VALUE_WRITE;
        k->binds[m->n + i].value = m->in->results[i];
        k->binds[m->n + i].writable = true;
    }
    k->binds[m->n + m->out_n].kind = GR_KB_UNIFORM;
    return fill_shape(m, &k->binds[m->n + m->out_n]);
}

/* Variable names live as long as the module's text: they are cut out of it. */
static void name_binds(const gr_kernel_module *mod, gr_kernel *k) {
    const char *p = mod->body.p;
    for (uint32_t i = 0; i < k->binds_n && p; i++) {
        p = strstr(p, "@binding(");
        if (p) p = strstr(p, "> ");
        if (!p) return;
        p += 2;
        k->binds[i].var = (gr_str){p, strcspn(p, ":")};
    }
}

static bool reference_text(map *m, gr_kernel_module *mod) {
    if (m->width == 1) {
        mod->reference = mod->body;
        return true;
    }
    map plain = *m; /* the same access, one element an invocation */
    plain.v.stride = plain.stride;
    uint32_t last = plain.v.rank - 1;
    plain.v.dims[last] *= 4;
    plain.width = 1;
    for (uint32_t i = 0; i < plain.n; i++) plain.x[i].wide = false;
    mod->reference = emit(&plain);
    return mod->reference.p != NULL;
}

bool gr_kernel_map(gr_inst *in) {
    map m = {.in = in, .expr = map_expr(in->call), .functions = in->call->op->map.functions, .prefix = "in_", .block = "shape", .struct_ = "Shape"};
    m.lanes = in->t->max_invocations < 256 ? in->t->max_invocations : 256;
    const gr_fusion *fusion = in->call->op->fusion;
    if ((!fusion && in->call->outputs_n != 1) || in->call->outputs_n > MAX_RESULTS || m.expr.n == 0)
        return gr_report(in->d, GR_D_KERNEL_MISSING, in->at, "add an expression for this dtype to [body.map]",
                         "%.*s: the map body has no expression for %s", GR_STR_ARG(in->call->op->id),
                         in->call->operands_n ? gr_dtype_name(in->call->operands[0].dtype) : "its output");
    GR_TRY(gather_operands(&m) && arrange(&m));
    if (m.n + m.out_n > in->t->max_storage_buffers)
        return gr_report(in->d, GR_D_KERNEL_MISSING, in->at, "give the op a graph body", "%.*s: its map body reads %u tensors and writes one; the adapter binds %u",
                         GR_STR_ARG(in->call->op->id), m.n, in->t->max_storage_buffers);
    key k;
    bool known;
    make_key(&m, &k);
    uint32_t at = gr_cache_module(in->cache, (gr_str){k.p, k.n}, &known);
    if (at == UINT32_MAX) return gr_report_oom(in->d);
    gr_kernel_module *mod = &in->cache->module.v[at];
    if (!known) {
        mod->generated = true;
        mod->fused = fusion != NULL;
        mod->op = in->call->op->id;
        mod->body = emit(&m);
        if (!mod->body.p || !reference_text(&m, mod)) return gr_report_oom(in->d);
    }
    if (!mod->body.p) return gr_report_oom(in->d);
    for (uint32_t i = 0; fusion && i < fusion->n; i++) gr_cache_name_node(in->cache, at, fusion->nodes[i]);
    if (!fusion) gr_cache_name_node(in->cache, at, in->node);
    gr_kernel *kernel = gr_inst_push(in);
    if (!kernel || !fill_kernel(&m, kernel)) return gr_report_oom(in->d);
    kernel->module = at;
    name_binds(mod, kernel);
    return true;
}

/* ---- computed where it is read ------------------------------------------------------ */

/* The binding after the last that the text declares. */
static uint32_t free_binding(gr_str text) {
    static const char word[] = "@binding(";
    uint32_t next = 0;
    for (size_t i = 0; i + sizeof word <= text.n; i++) {
        if (memcmp(text.p + i, word, sizeof word - 1) != 0) continue;
        uint32_t n = 0;
        for (size_t k = i + sizeof word - 1; k < text.n && n < 1000 && (text.p[k] == ' ' || (text.p[k] >= '0' && text.p[k] <= '9')); k++)
            if (text.p[k] != ' ') n = n * 10 + (uint32_t)(text.p[k] - '0');
        if (n + 1 > next) next = n + 1;
    }
    return next;
}

/* fn read_x(i: u32) -> f32: element i of the operand, from the maps that feed it. */
static gr_str emit_reader(const map *m, gr_str function) {
    gr_buf b = {0};
    emit_shape(&b, m);
    emit_bindings(&b, m);
    emit_function(&b, m);
    gr_buf_printf(&b, "fn %.*s(i: u32) -> %s {\n", GR_STR_ARG(function), value_type(m, m->out[0]));
    emit_coordinates(&b, m);
    emit_loads(&b, m);
    gr_buf_puts(&b, "    return ");
    emit_apply(&b, m, "");
    gr_buf_puts(&b, ";\n}\n");
    gr_str s = b.failed ? (gr_str){0} : gr_str_dup(m->in->a, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

static void reader_key(const map *m, gr_reader *r) {
    const gr_op *op = m->in->call->op;
    memcpy(r->key, op->hash.b, sizeof op->hash.b);
    r->key_n = sizeof op->hash.b;
    r->key[r->key_n++] = (char)m->v.rank;
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t zero = 0;
        for (uint32_t k = 0; k < m->v.rank; k++) zero |= (uint32_t)(m->stride[i][k] == 0) << k;
        r->key[r->key_n++] = (char)m->x[i].reach;
        r->key[r->key_n++] = (char)(m->x[i].reach == REACH_STRIDED ? zero : 0);
    }
}

static bool reader_binds(const map *m, gr_reader *r) {
    r->binds_n = m->n + 1;
    r->binds = GR_NEW_N(m->in->a, gr_kernel_bind, r->binds_n);
    if (!r->binds) return false;
    for (uint32_t i = 0; i < r->binds_n; i++) {
        char *var = i < m->n ? gr_arena_printf(m->in->a, "%s%.*s", m->prefix, GR_STR_ARG(m->x[i].name)) : gr_arena_printf(m->in->a, "%s", m->block);
        if (!var) return false;
        r->binds[i] = (gr_kernel_bind){.kind = i < m->n ? GR_KB_VALUE_READ : GR_KB_UNIFORM, .binding = m->binding + i, .var = gr_str_of(var),
                                       .value = i < m->n ? m->x[i].value : GR_NO_VALUE, .result = GR_NO_VALUE};
    }
    return fill_shape(m, &r->binds[m->n]);
}

bool gr_kernel_reader(gr_inst *in, const gr_kernel_decl *k, gr_reader *out) {
    const gr_bind *bind = gr_kernel_once(in->call, k, in->fused->at);
    gr_inst sub = *in;
    sub.call = in->fused->map;
    sub.args = in->map_args;
    if (!bind) return GR_BUG(in->d, "K4", "%.*s: no operand of %.*s may be computed where it is read", GR_STR_ARG(in->node), GR_STR_ARG(k->file));
    map m = {.in = &sub, .expr = map_expr(sub.call), .functions = sub.call->op->map.functions, .narrow = true, .prefix = "from_", .block = "read_shape",
             .struct_ = "ReadShape", .binding = free_binding(k->wgsl)};
    GR_TRY(gather_operands(&m) && arrange(&m));
    char *name = gr_arena_printf(in->a, "read_%.*s", GR_STR_ARG(bind->var));
    if (!name) return gr_report_oom(in->d);
    *out = (gr_reader){.var = bind->var, .function = gr_str_of(name)};
    out->text = emit_reader(&m, out->function);
    reader_key(&m, out);
    return (out->text.p && reader_binds(&m, out)) || gr_report_oom(in->d);
}
