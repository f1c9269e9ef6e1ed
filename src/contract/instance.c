/* Instances: WGSL modules of an op for a choice of dtypes. */
#include "contract/instance_int.h"

gr_dtype gr_instance_dtype(const gr_instance *in, gr_str name) {
    for (uint32_t i = 0; i < in->n; i++)
        if (gr_str_eq(in->v[i].name, name)) return in->v[i].t;
    return gr_dtype_find(name);
}

/* ---- choices ---- */

typedef struct choice {
    gr_str name;
    gr_dtype list[GR_DTYPE_COUNT];
    uint32_t n;
} choice;

static bool allowed(const gr_dtype *only, uint32_t n, gr_dtype t) {
    for (uint32_t i = 0; i < n; i++)
        if (only[i] == t) return true;
    return n == 0;
}

/* Dtypes that a device has; floats first, so that the first choice shows float arithmetic. */
static void fill_choice(const gr_sig *s, const gr_sig_tensor *t, const gr_dtype *only, uint32_t only_n, choice *c) {
    gr_dtype all[GR_DTYPE_COUNT];
    uint32_t n = gr_sig_tensor_dtypes(s, t, all);
    c->name = t->dtype;
    for (int floats = 1; floats >= 0; floats--)
        for (uint32_t i = 0; i < n; i++)
            if (gr_dtype_is_float(all[i]) == floats && gr_dtype_wgsl(all[i]) && allowed(only, only_n, all[i])) c->list[c->n++] = all[i];
    for (uint32_t i = 1; i < c->n; i++) /* f32 before f16 */
        if (c->list[i] == GR_DTYPE_F32) {
            c->list[i] = c->list[0];
            c->list[0] = GR_DTYPE_F32;
        }
}

static uint32_t gather(const gr_sig *s, const gr_dtype *only, uint32_t only_n, choice *c) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->operands_n + s->outputs_n; i++) {
        const gr_sig_tensor *t = i < s->operands_n ? &s->operands[i] : &s->outputs[i - s->operands_n];
        bool seen = gr_dtype_find(t->dtype) != GR_DTYPE_NONE;
        for (uint32_t k = 0; k < n; k++) seen = seen || gr_str_eq(c[k].name, t->dtype);
        if (!seen) fill_choice(s, t, only, only_n, &c[n++]);
    }
    return n;
}

bool gr_instances(const gr_sig *s, const gr_dtype *only, uint32_t only_n, bool deep, gr_instance_fn *fn, void *user) {
    choice c[2 * GR_SIG_MAX] = {{{0}, {0}, 0}};
    gr_instance in = {.n = gather(s, only, only_n, c)};
    for (uint32_t i = 0; i < in.n; i++) {
        in.v[i].name = c[i].name;
        in.v[i].t = c[i].n ? c[i].list[0] : GR_DTYPE_NONE;
    }
    bool ok = fn(user, &in);
    for (uint32_t i = 0; i < in.n && deep; i++) {
        for (uint32_t k = 1; k < c[i].n; k++) {
            in.v[i].t = c[i].list[k];
            ok = fn(user, &in) && ok;
        }
        if (c[i].n) in.v[i].t = c[i].list[0];
    }
    return ok;
}

/* ---- files ---- */

gr_wgsl_module *gr_file_module(gr_arena *scratch, gr_diags *d, const gr_op *op, const gr_kernel_decl *k, const gr_instance *in) {
    uint32_t n = k->binding.aliases_n;
    gr_wgsl_rebind *r = GR_NEW_N(scratch, gr_wgsl_rebind, n);
    gr_str base = op->folder.n ? op->folder : op->id;
    char *name = gr_arena_printf(scratch, "%.*s/%.*s", GR_STR_ARG(base), GR_STR_ARG(k->file));
    if (!r || !name) {
        gr_report_oom(d);
        return NULL;
    }
    for (uint32_t i = 0; i < n && in; i++) {
        const char *type = gr_dtype_wgsl(gr_instance_dtype(in, k->binding.aliases[i].dtype));
        r[i] = (gr_wgsl_rebind){k->binding.aliases[i].alias, gr_str_of(type ? type : "f32")};
    }
    gr_wgsl_options opt = {.rebind = r, .rebind_n = in ? n : 0, .force_f16 = in != NULL};
    return gr_wgsl_load(scratch, d, gr_str_of(name), k->wgsl, &opt);
}

/* ---- map bodies ---- */

static const char *value_type(gr_dtype t) { return t == GR_DTYPE_BOOL ? "bool" : gr_dtype_wgsl(t); }

static const char *param_type(const gr_sig_param *p) {
    return p->kind == GR_PARAM_I32 ? "i32" : p->kind == GR_PARAM_F32 ? "f32" : p->kind == GR_PARAM_BOOL ? "bool" : "u32";
}

gr_str gr_map_expr(const gr_map_body *m, gr_dtype first, gr_dtype out) {
    gr_str found = {0};
    int best = -1;
    for (uint32_t i = 0; i < m->by_dtype_n; i++) {
        gr_dtype x = m->by_dtype[i].dtype, y = m->by_dtype[i].out;
        int score = (x != GR_DTYPE_NONE) + 2 * (y != GR_DTYPE_NONE);
        if ((x && x != first) || (y && y != out) || score <= best) continue;
        best = score;
        found = m->by_dtype[i].expr;
    }
    return found;
}

static bool holds(const gr_kernel_decl *k, gr_dtype t) {
    for (uint32_t i = 0; i < k->dtypes_n; i++)
        if (k->dtypes[i] == t) return true;
    return k->dtypes_n == 0;
}

const gr_kernel_decl *gr_op_reference(const gr_op *op, gr_dtype first) {
    if (op->body != GR_BODY_REFERENCE) return NULL;
    if (holds(&op->reference, first)) return &op->reference;
    for (uint32_t i = 0; i < op->variants_n; i++)
        if (holds(&op->variants[i], first)) return &op->variants[i];
    return NULL;
}

static void emit_map(gr_buf *b, const gr_op *op, const gr_instance *in, gr_str expr) {
    const gr_sig *s = &op->sig;
    gr_buf_puts(b, "enable f16;\n");
    for (uint32_t i = 0; i < in->n; i++) {
        bool param = gr_sig_find_param(s, in->v[i].name) >= 0;
        const char *t = value_type(in->v[i].t);
        if (t) gr_buf_printf(b, "alias %.*s%s = %s;\n", GR_STR_ARG(in->v[i].name), param ? "_type" : "", t);
    }
    gr_buf_str(b, op->map.functions);
    gr_buf_puts(b, "\nfn map_body(");
    for (uint32_t i = 0; i < s->operands_n; i++)
        gr_buf_printf(b, "%s%.*s: %s", i ? ", " : "", GR_STR_ARG(s->operands[i].name),
                      value_type(gr_instance_dtype(in, s->operands[i].dtype)));
    for (uint32_t i = 0; i < s->params_n; i++)
        if (s->params[i].kind != GR_PARAM_DTYPE) gr_buf_printf(b, ", %.*s: %s", GR_STR_ARG(s->params[i].name), param_type(&s->params[i]));
    gr_buf_printf(b, ") -> %s {\n    return %.*s;\n}\n", value_type(gr_instance_dtype(in, s->outputs[0].dtype)), GR_STR_ARG(expr));
}

static gr_place map_place(gr_arena *a, const gr_op *op, gr_dtype first) {
    const gr_value *body = gr_value_get(op->source->doc.root, "body"), *map = gr_value_get(body, "map");
    const gr_value *own = map ? gr_value_get(map, gr_dtype_name(first)) : NULL;
    if (!own && map) own = gr_value_get(map, "default");
    return gr_value_place(&op->source->doc, own ? own : map ? map : body, a);
}

static void map_fails(gr_arena *a, gr_diags *d, const gr_op *op, gr_dtype first, const gr_diags *inner) {
    if (inner->out_of_memory || !inner->list.n) {
        gr_report_oom(d);
        return;
    }
    gr_str why = inner->list.v[0].message;
    gr_report(d, GR_D_CONTRACT_MAP_INVALID, map_place(a, op, first), NULL, "for %s: %.*s", gr_dtype_name(first), GR_STR_ARG(why));
    if (inner->list.v[0].hint.n) gr_report_hint(d, "%.*s", GR_STR_ARG(inner->list.v[0].hint));
}

gr_wgsl_module *gr_map_module(gr_arena *scratch, gr_diags *d, const gr_op *op, const gr_instance *in) {
    gr_dtype first = gr_instance_dtype(in, op->sig.operands[0].dtype);
    gr_str expr = gr_map_expr(&op->map, first, gr_instance_dtype(in, op->sig.outputs[0].dtype));
    if (!expr.n) {
        gr_report(d, GR_D_CONTRACT_MAP_INVALID, map_place(scratch, op, first), "add `default`, or a key for the dtype",
                  "there is no expression for %s", gr_dtype_name(first));
        return NULL;
    }
    gr_buf b = {0};
    emit_map(&b, op, in, expr);
    gr_str text = b.failed ? (gr_str){0} : gr_str_dup(scratch, gr_buf_view(&b));
    gr_buf_free(&b);
    if (!text.p) {
        gr_report_oom(d);
        return NULL;
    }
    gr_diags inner;
    gr_diags_init(&inner);
    gr_wgsl_module *m = gr_wgsl_load(scratch, &inner, GR_STR("map"), text, NULL);
    if (!m) map_fails(scratch, d, op, first, &inner);
    gr_diags_free(&inner);
    return m;
}
