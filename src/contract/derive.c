/* The gradient of an op with a map body by one operand, as an op made from content: op.toml and functions.wgsl written here
 * and read like any other. FOO by x is FOO.d_x: the operands and parameters of FOO, then the cotangent of its output; it
 * gives the cotangent times the derivative, in the shape of the output. */
#include "contract/derive_int.h"
#include "contract/instance_int.h"
#include "wgsl/derive.h"

typedef struct deriving_op {
    gr_arena *a;
    gr_diags *d;
    const gr_op *op;
    uint32_t operand;
    gr_str ct, result;  /* names of the cotangent operand and of the output */
    gr_wgsl_derived functions;
    struct { gr_dtype first, out; gr_str expr; } entry[64];
    uint32_t entries;
    bool active;        /* some entry is not zero */
} deriving_op;

/* ---- names ------------------------------------------------------------------------------- */

static bool taken(const gr_op *op, gr_str name) {
    bool found = gr_wgsl_text_names(op->sig.text, name) || gr_wgsl_text_names(op->map.functions, name);
    for (uint32_t i = 0; i < op->map.by_dtype_n && !found; i++) found = gr_wgsl_text_names(op->map.by_dtype[i].expr, name);
    return found;
}

/* "d_x", with as many _ as make it new in the op. */
static bool new_name(deriving_op *g, gr_str of, gr_str also, gr_str *out) {
    const char *p = gr_arena_printf(g->a, "d_%.*s", GR_STR_ARG(of));
    while (p && (taken(g->op, gr_str_of(p)) || gr_str_eqz(also, p))) p = gr_arena_printf(g->a, "%s_", p);
    *out = p ? gr_str_of(p) : (gr_str){0};
    return p || gr_report_oom(g->d);
}

/* How a tensor's dtype is written in WGSL: the alias of its variable or dtype parameter, or the type. */
static gr_str wgsl_type(deriving_op *g, const gr_sig_tensor *t) {
    gr_dtype fixed = gr_dtype_find(t->dtype);
    if (fixed) return gr_str_of(gr_dtype_wgsl(fixed) ? gr_dtype_wgsl(fixed) : "f32");
    if (gr_sig_find_param(&g->op->sig, t->dtype) < 0) return t->dtype;
    char *p = gr_arena_printf(g->a, "%.*s_type", GR_STR_ARG(t->dtype));
    return p ? gr_str_of(p) : GR_STR("f32");
}

/* ---- one choice of dtypes ------------------------------------------------------------------ */

/* The variable that is f16 in this choice. */
static gr_str f16_name(const gr_instance *in) {
    for (uint32_t i = 0; i < in->n; i++)
        if (in->v[i].t == GR_DTYPE_F16) return in->v[i].name;
    return (gr_str){0};
}

static bool add_entry(deriving_op *g, gr_dtype first, gr_dtype out, gr_str expr) {
    for (uint32_t i = 0; i < g->entries; i++) {
        if (g->entry[i].first != first || g->entry[i].out != out) continue;
        if (gr_str_eq(g->entry[i].expr, expr)) return true;
        return gr_report(g->d, GR_D_CONTRACT_BACKWARD_INVALID, (gr_place){.document = g->op->id}, "write the backward of the op as a declared one",
                         "the expression of %.*s depends on a dtype that its gradient does not see", GR_STR_ARG(g->op->id));
    }
    if (g->entries == sizeof g->entry / sizeof *g->entry) return gr_report(g->d, GR_D_CONTRACT_TOO_LARGE, (gr_place){.document = g->op->id}, NULL, "%.*s has too many choices of dtypes", GR_STR_ARG(g->op->id));
    g->entry[g->entries].first = first;
    g->entry[g->entries].out = out;
    g->entry[g->entries++].expr = expr;
    return true;
}

static bool derive_choice(deriving_op *g, const gr_instance *in) {
    const gr_sig *s = &g->op->sig;
    const gr_sig_tensor *x = &s->operands[g->operand], *y = &s->outputs[0];
    gr_dtype xt = gr_instance_dtype(in, x->dtype), yt = gr_instance_dtype(in, y->dtype), first = gr_instance_dtype(in, s->operands[0].dtype);
    if (!gr_dtype_is_float(xt) || !gr_dtype_is_float(yt) || !gr_map_expr(&g->op->map, first, yt).n) return true;
    bool convert = !gr_str_eq(x->dtype, y->dtype);
    gr_str tangent = g->ct, expr;
    if (convert) {
        char *p = gr_arena_printf(g->a, "%.*s(%.*s)", GR_STR_ARG(wgsl_type(g, x)), GR_STR_ARG(g->ct));
        if (!p) return gr_report_oom(g->d);
        tangent = gr_str_of(p);
    }
    gr_arena tmp = {0};
    gr_wgsl_module *m = gr_map_module(&tmp, g->d, g->op, in);
    bool ok = m && gr_wgsl_derive(g->a, g->d, m, GR_STR("map_body"), x->name, tangent, f16_name(in), &g->functions, &expr);
    gr_arena_free(&tmp);
    GR_TRY(ok);
    g->active = g->active || expr.n;
    if (!expr.n) expr = GR_STR("0.0");
    else if (convert) {
        char *p = gr_arena_printf(g->a, "%.*s(%.*s)", GR_STR_ARG(wgsl_type(g, x)), GR_STR_ARG(expr));
        if (!p) return gr_report_oom(g->d);
        expr = gr_str_of(p);
    }
    return add_entry(g, first, xt, expr);
}

/* Dtypes of one name: f16 first, so that what is generic is written with the name of its dtype. */
static uint32_t list_dtypes(const gr_sig *s, gr_str name, gr_dtype *out) {
    gr_dtype all[GR_DTYPE_COUNT];
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < s->operands_n + s->outputs_n && !n; i++) {
        const gr_sig_tensor *t = i < s->operands_n ? &s->operands[i] : &s->outputs[i - s->operands_n];
        if (gr_str_eq(t->dtype, name)) n = gr_sig_tensor_dtypes(s, t, all);
    }
    for (int half = 1; half >= 0; half--)
        for (uint32_t i = 0; i < n; i++)
            if (gr_dtype_wgsl(all[i]) && (all[i] == GR_DTYPE_F16) == half) out[k++] = all[i];
    return k;
}

/* Every combination of the dtypes that the expression is chosen by; other variables have their first. */
static bool derive_choices(deriving_op *g, gr_instance *in, uint32_t at) {
    const gr_sig *s = &g->op->sig;
    gr_dtype list[GR_DTYPE_COUNT];
    if (at == in->n) return derive_choice(g, in);
    uint32_t n = list_dtypes(s, in->v[at].name, list);
    bool decides = gr_str_eq(in->v[at].name, s->operands[0].dtype) || gr_str_eq(in->v[at].name, s->operands[g->operand].dtype) || gr_str_eq(in->v[at].name, s->outputs[0].dtype);
    for (uint32_t i = 0; i < n && (decides || i == 0); i++) {
        in->v[at].t = list[i];
        GR_TRY(derive_choices(g, in, at + 1));
    }
    return true;
}

static void list_names(const gr_sig *s, gr_instance *in) {
    for (uint32_t i = 0; i < s->operands_n + s->outputs_n; i++) {
        gr_str name = i < s->operands_n ? s->operands[i].dtype : s->outputs[i - s->operands_n].dtype;
        bool seen = gr_dtype_find(name) != GR_DTYPE_NONE;
        for (uint32_t k = 0; k < in->n; k++) seen = seen || gr_str_eq(in->v[k].name, name);
        if (!seen) in->v[in->n++].name = name;
    }
}

/* ---- op.toml ---------------------------------------------------------------------------------- */

/* Restricts a dtype variable to the floats that it may be. */
static bool only_floats(deriving_op *g, gr_str var, gr_sig_dtypes *list, uint32_t *n) {
    uint32_t at = 0, kept = 0;
    if (!gr_sig_is_dtype_var(&g->op->sig, var)) return true;
    while (at < *n && !gr_str_eq(list[at].var, var)) at++;
    gr_dtype *v = GR_NEW_N(g->a, gr_dtype, GR_DTYPE_COUNT);
    if (!v) return gr_report_oom(g->d);
    for (uint32_t i = 0; at < *n && i < list[at].n; i++)
        if (gr_dtype_is_float(list[at].v[i])) v[kept++] = list[at].v[i];
    if (at == *n) v[kept++] = GR_DTYPE_F32, v[kept++] = GR_DTYPE_F16, ++*n;
    list[at] = (gr_sig_dtypes){.var = var, .v = v, .n = kept};
    return true;
}

/* The signature: d_y behind the operands, d_x with the shape of y; the dtypes of x that are floats. */
static bool write_signature(deriving_op *g, gr_buf *out) {
    const gr_sig *s = &g->op->sig;
    gr_sig t = *s;
    gr_sig_tensor *operands = GR_NEW_N(g->a, gr_sig_tensor, s->operands_n + 1), *output = GR_NEW(g->a, gr_sig_tensor);
    gr_sig_dtypes *dtypes = GR_NEW_N(g->a, gr_sig_dtypes, s->dtypes_n + 2);
    char *name = gr_arena_printf(g->a, "%.*s_d_%.*s", GR_STR_ARG(s->name), GR_STR_ARG(s->operands[g->operand].name));
    if (!operands || !output || !dtypes || !name) return gr_report_oom(g->d);
    memcpy(operands, s->operands, s->operands_n * sizeof *operands);
    operands[s->operands_n] = s->outputs[0];
    operands[s->operands_n].name = g->ct;
    *output = s->outputs[0];
    output->name = g->result;
    output->dtype = s->operands[g->operand].dtype;
    if (s->dtypes_n) memcpy(dtypes, s->dtypes, s->dtypes_n * sizeof *dtypes);
    t.dtypes_n = s->dtypes_n;
    GR_TRY(only_floats(g, output->dtype, dtypes, &t.dtypes_n) && only_floats(g, s->outputs[0].dtype, dtypes, &t.dtypes_n));
    t.name = gr_str_of(name);
    t.operands = operands;
    t.operands_n = s->operands_n + 1;
    t.outputs = output;
    t.dtypes = dtypes;
    gr_sig_print(out, &t);
    return true;
}

static void write_map(deriving_op *g, bool functions, gr_buf *out) {
    bool one = true;
    for (uint32_t i = 1; i < g->entries; i++) one = one && gr_str_eq(g->entry[i].expr, g->entry[0].expr);
    if (functions) gr_buf_puts(out, "functions = \"functions.wgsl\"\n");
    if (one) {
        gr_buf_puts(out, "map = ");
        gr_json_string(out, g->entry[0].expr);
        gr_buf_putc(out, '\n');
        return;
    }
    gr_buf_puts(out, "[body.map]\n");
    for (uint32_t i = 0; i < g->entries; i++) {
        gr_buf_printf(out, "\"%s -> %s\" = ", gr_dtype_name(g->entry[i].first), gr_dtype_name(g->entry[i].out));
        gr_json_string(out, g->entry[i].expr);
        gr_buf_putc(out, '\n');
    }
}

static bool write_document(deriving_op *g, bool functions, gr_buf *out) {
    gr_buf sig = {0};
    bool ok = write_signature(g, &sig);
    gr_buf_puts(out, "signature = ");
    gr_json_string(out, gr_buf_view(&sig));
    gr_buf_free(&sig);
    gr_buf_printf(out, "\ncategory = \"%s\"\ntolerance = \"default\"\nsummary = \"The gradient of %.*s by %.*s.\"\n", g->op->category == GR_CATEGORY_TRANSCENDENTAL ? "transcendental" : "pointwise",
                  GR_STR_ARG(g->op->id), GR_STR_ARG(g->op->sig.operands[g->operand].name));
    if (g->op->license.n) {
        gr_buf_puts(out, "license = ");
        gr_json_string(out, g->op->license);
        gr_buf_putc(out, '\n');
    }
    gr_buf_puts(out, "[body]\n");
    write_map(g, functions, out);
    gr_buf_puts(out, "[backward]\nform = \"composed\"\n");
    return ok;
}

/* ---- the call --------------------------------------------------------------------------------------- */

bool gr_op_derive(gr_arena *a, gr_diags *d, const gr_op *op, uint32_t operand, gr_str *toml, gr_str *functions) {
    deriving_op *g = GR_NEW(a, deriving_op);
    gr_instance *in = GR_NEW(a, gr_instance);
    if (!g || !in) return gr_report_oom(d);
    *g = (deriving_op){.a = a, .d = d, .op = op, .operand = operand, .functions = {.arena = a}};
    gr_buf text = {0}, all = {0};
    list_names(&op->sig, in);
    bool ok = new_name(g, op->sig.outputs[0].name, (gr_str){0}, &g->ct) && new_name(g, op->sig.operands[operand].name, g->ct, &g->result) && derive_choices(g, in, 0);
    *toml = *functions = (gr_str){0};
    if (ok && g->active) {
        gr_buf_str(&all, op->map.functions);
        if (all.n && all.p[all.n - 1] != '\n') gr_buf_putc(&all, '\n');
        gr_buf_str(&all, gr_buf_view(&g->functions.text));
        ok = write_document(g, all.n > 0, &text);
        *toml = gr_str_dup(a, gr_buf_view(&text));
        *functions = gr_str_dup(a, gr_buf_view(&all));
        ok = ok && ((toml->p && functions->p && !text.failed && !all.failed) || gr_report_oom(d));
    }
    gr_buf_free(&g->functions.text);
    gr_buf_free(&text);
    gr_buf_free(&all);
    return ok;
}
