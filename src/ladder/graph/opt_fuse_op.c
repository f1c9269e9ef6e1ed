/* The op that stands for fused maps: a signature, a WGSL function for each of their bodies, and one that calls them in order.
 *
 *     fused(x0: f32[..s0], x1: f32[..s1]; p0: f32) -> y0: f32[..broadcast(s0, s1)]
 *
 * Names of dtypes in a body become the types of the call; what a functions.wgsl declares gets a prefix, so that helpers of several
 * ops stand side by side. Bodies are not changed otherwise. */
#include "base/hash.h"
#include "ladder/graph/opt_fuse_int.h"
#include "wgsl/derive.h"

/* ---- what a body reads -------------------------------------------------------------- */

gr_str gr_fuse_expr(const gr_call *c) {
    return gr_map_expr(&c->op->map, c->operands_n ? c->operands[0].dtype : c->outputs[0].dtype, c->outputs[0].dtype);
}

/* Operands of a map body are not variadic: flattened operand i is operand i of the signature where it is given. */
bool gr_fuse_reads(const gr_call *c, gr_str expr, uint32_t i) {
    return i < c->op->sig.operands_n && gr_graph_present(&c->operands[i]) && gr_wgsl_text_names(expr, c->op->sig.operands[i].name);
}

static bool reads_param(const gr_sig_param *p, gr_str expr) {
    return p->kind != GR_PARAM_DTYPE && p->kind < GR_PARAM_U32_LIST && gr_wgsl_text_names(expr, p->name);
}

uint32_t gr_fuse_params(const gr_call *c, gr_str expr) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->op->sig.params_n; i++) n += reads_param(&c->op->sig.params[i], expr);
    return n;
}

static gr_param_kind scalar_kind(gr_dtype t) {
    switch (t) {
    case GR_DTYPE_F32:
    case GR_DTYPE_F16: return GR_PARAM_F32;
    case GR_DTYPE_I32:
    case GR_DTYPE_I8: return GR_PARAM_I32;
    case GR_DTYPE_U32:
    case GR_DTYPE_U8: return GR_PARAM_U32;
    case GR_DTYPE_BOOL: return GR_PARAM_BOOL;
    default: return GR_PARAM_NONE;
    }
}

bool gr_fuse_scalar(const gr_graph_value *v) {
    uint64_t n;
    return v->source == GR_SOURCE_CONSTANT && gr_type_count(&v->type, &n) && n == 1 && scalar_kind(v->type.dtype) != GR_PARAM_NONE;
}

/* ---- writing -------------------------------------------------------------------------- */

typedef struct body { /* a body for one choice of dtypes */
    const gr_call *call;
    gr_str expr;
} body;

typedef struct writer {
    gr_arena *a;
    gr_diags *d;
    const gr_fuse_group *f;
    body bodies[GR_FUSE_NODES_MAX];
    uint32_t bodies_n;
    gr_buf functions, main, sig;
    gr_arg args[GR_FUSE_PARAMS_MAX];
    uint32_t args_n;
} writer;

static const char *value_type(gr_dtype t) {
    const char *z = gr_dtype_wgsl(t);
    return t == GR_DTYPE_BOOL ? "bool" : z ? z : "f32"; /* f64: the oracle's f32 */
}

static bool word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 128; }
static bool word_char(char c) { return word_start(c) || (c >= '0' && c <= '9'); }

/* A word (a number too), a comment or one byte from *at on. */
static gr_str next_token(gr_str s, size_t *at) {
    size_t from = *at;
    if (from + 1 < s.n && s.p[from] == '/' && s.p[from + 1] == '/') {
        while (*at < s.n && s.p[*at] != '\n') ++*at;
    } else if (from + 1 < s.n && s.p[from] == '/' && s.p[from + 1] == '*') {
        for (*at += 2; *at < s.n && !(s.p[*at - 1] == '*' && s.p[*at] == '/' && *at > from + 2);) ++*at;
        if (*at < s.n) ++*at;
    } else if (word_char(s.p[from])) {
        while (*at < s.n && word_char(s.p[*at])) ++*at;
    } else {
        ++*at;
    }
    return (gr_str){s.p + from, *at - from};
}

/* One declaration of a functions.wgsl, the comment before it included. */
typedef struct declaration { gr_str name, text; } declaration;

static bool opens_declaration(gr_str word) {
    return gr_str_eqz(word, "fn") || gr_str_eqz(word, "const") || gr_str_eqz(word, "alias") || gr_str_eqz(word, "struct");
}

/* The declaration at or after *at; false at the end. */
static bool next_declaration(gr_str s, size_t *at, declaration *out) {
    int depth = 0;
    gr_str before = {0};
    *out = (declaration){0};
    if (*at >= s.n) return false;
    out->text.p = s.p + *at;
    while (*at < s.n) {
        gr_str t = next_token(s, at);
        char c = t.n == 1 ? t.p[0] : 0;
        if (depth == 0 && !out->name.n && opens_declaration(before) && word_start(t.p[0])) out->name = t;
        if (c == '{') depth++;
        if (c == '}') depth--;
        if (word_start(t.p[0])) before = t;
        out->text.n = (size_t)(s.p + *at - out->text.p);
        if (depth == 0 && out->name.n && (c == ';' || c == '}')) return true;
    }
    return false;
}

static bool declares(gr_str functions, gr_str word) {
    declaration x;
    for (size_t at = 0; next_declaration(functions, &at, &x);)
        if (gr_str_eq(x.name, word)) return true;
    return false;
}

/* The type that a name of the signature stands for: a dtype variable, or `<param>_type` of a dtype parameter. */
static const char *type_named(const gr_call *c, gr_str word) {
    gr_dtype t;
    if (gr_call_dtype(c, word, &t)) return value_type(t);
    for (uint32_t i = 0; i < c->op->sig.params_n; i++) {
        const gr_sig_param *p = &c->op->sig.params[i];
        if (p->kind == GR_PARAM_DTYPE && word.n == p->name.n + 5 && memcmp(word.p, p->name.p, p->name.n) == 0 && memcmp(word.p + p->name.n, "_type", 5) == 0)
            return value_type((gr_dtype)c->params[i].i);
    }
    return NULL;
}

/* Text of body k with its types in place of their names and its helpers' names prefixed. */
static void put_text(gr_buf *b, const writer *w, uint32_t k, gr_str text) {
    const gr_call *c = w->bodies[k].call;
    char before = 0;
    for (size_t at = 0; at < text.n;) {
        gr_str t = next_token(text, &at);
        const char *type = before != '.' && word_start(t.p[0]) ? type_named(c, t) : NULL;
        if (type) gr_buf_puts(b, type);
        else {
            if (before != '.' && word_start(t.p[0]) && declares(c->op->map.functions, t)) gr_buf_printf(b, "f%u_", k);
            gr_buf_str(b, t);
        }
        before = t.p[t.n - 1];
    }
}

enum { HELPERS_MAX = 64 };

bool gr_fuse_can_write(const gr_call *c) {
    declaration x;
    uint32_t n = 0;
    for (size_t at = 0; n <= HELPERS_MAX && next_declaration(c->op->map.functions, &at, &x);) n++;
    return n <= HELPERS_MAX && gr_fuse_params(c, gr_fuse_expr(c)) <= GR_FUSE_PARAMS_MAX;
}

/* The helpers that the expression needs, those that they need included, in the order of their file. */
static void put_helpers(gr_buf *b, const writer *w, uint32_t k) {
    const body *x = &w->bodies[k];
    gr_str functions = x->call->op->map.functions;
    declaration list[HELPERS_MAX];
    bool needed[HELPERS_MAX] = {false}, more = true;
    uint32_t n = 0;
    for (size_t at = 0; n < HELPERS_MAX && next_declaration(functions, &at, &list[n]);) n++;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < n; i++) {
            bool use = gr_wgsl_text_names(x->expr, list[i].name);
            for (uint32_t j = 0; j < n && !use; j++) use = needed[j] && j != i && gr_wgsl_text_names(list[j].text, list[i].name);
            more = more || (use && !needed[i]);
            needed[i] = needed[i] || use;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!needed[i]) continue;
        size_t from = 0;
        while (from < list[i].text.n && (list[i].text.p[from] == '\n' || list[i].text.p[from] == ' ')) from++;
        put_text(b, w, k, (gr_str){list[i].text.p + from, list[i].text.n - from});
        gr_buf_puts(b, "\n\n");
    }
}

static const char *param_type(gr_param_kind k) {
    return k == GR_PARAM_I32 ? "i32" : k == GR_PARAM_F32 ? "f32" : k == GR_PARAM_BOOL ? "bool" : "u32";
}

/* fn op0_sub(a: f32, b: f32) -> f32 { return a - b; } */
static void put_body(writer *w, uint32_t k) {
    const body *x = &w->bodies[k];
    const gr_sig *s = &x->call->op->sig;
    gr_buf *b = &w->functions;
    const char *comma = "";
    put_helpers(b, w, k);
    gr_buf_printf(b, "fn op%u_%.*s(", k, GR_STR_ARG(s->name));
    for (uint32_t i = 0; i < s->operands_n; i++) {
        if (!gr_fuse_reads(x->call, x->expr, i)) continue;
        gr_buf_printf(b, "%s%.*s: %s", comma, GR_STR_ARG(s->operands[i].name), value_type(x->call->operands[i].dtype));
        comma = ", ";
    }
    for (uint32_t i = 0; i < s->params_n; i++) {
        if (!reads_param(&s->params[i], x->expr)) continue;
        gr_buf_printf(b, "%s%.*s: %s", comma, GR_STR_ARG(s->params[i].name), param_type(s->params[i].kind));
        comma = ", ";
    }
    gr_buf_printf(b, ") -> %s {\n", value_type(x->call->outputs[0].dtype));
    for (uint32_t i = 0; i < s->operands_n; i++)
        if (!gr_fuse_reads(x->call, x->expr, i) && gr_wgsl_text_names(x->expr, s->operands[i].name))
            gr_buf_printf(b, "    let %.*s = %s();\n", GR_STR_ARG(s->operands[i].name), value_type(x->call->outputs[0].dtype));
    gr_buf_puts(b, "    return ");
    put_text(b, w, k, x->expr);
    gr_buf_puts(b, ";\n}\n\n");
}

static bool same_body(const gr_call *x, const gr_call *y) {
    if (x->op != y->op || x->operands_n != y->operands_n || x->outputs[0].dtype != y->outputs[0].dtype) return false;
    for (uint32_t i = 0; i < x->operands_n; i++)
        if (x->operands[i].dtype != y->operands[i].dtype) return false;
    return true;
}

/* The number of the body of a call, written at its first use. */
static uint32_t body_of(writer *w, const gr_call *c) {
    for (uint32_t k = 0; k < w->bodies_n; k++)
        if (same_body(w->bodies[k].call, c)) return k;
    w->bodies[w->bodies_n] = (body){c, gr_fuse_expr(c)};
    put_body(w, w->bodies_n);
    return w->bodies_n++;
}

/* ---- the calls in order ------------------------------------------------------------------ */

static uint32_t find(const gr_value_id *list, uint32_t n, gr_value_id v) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == v) return i;
    return UINT32_MAX;
}

/* How a value is written: v3 of a call inside, x2 from outside, p1 a constant. */
static void put_value(writer *w, gr_value_id v) {
    const gr_fuse_group *f = w->f;
    const gr_graph_value *gv = &f->g->values[v];
    uint32_t at = find(f->in, f->in_n, v);
    if (at != UINT32_MAX) {
        gr_buf_printf(&w->main, "x%u", at);
        return;
    }
    at = find(f->constant, f->constants_n, v);
    if (at != UINT32_MAX) gr_buf_printf(&w->main, gv->type.dtype == GR_DTYPE_F16 ? "f16(p%u)" : "p%u", at);
    else gr_buf_printf(&w->main, "v%u", find(f->node, f->nodes_n, gv->node));
}

static bool add_param(writer *w, gr_param p) {
    if (w->args_n == GR_FUSE_PARAMS_MAX) return GR_BUG(w->d, "G4", "a fused node has too many parameters");
    char *name = gr_arena_printf(w->a, "p%u", w->args_n);
    if (!name) return gr_report_oom(w->d);
    p.given = true;
    w->args[w->args_n++] = (gr_arg){.name = gr_str_of(name), .resolved = p, .is_resolved = true};
    return true;
}

static bool add_constant(writer *w, gr_value_id v) {
    const gr_array *c = &w->f->g->values[v].constant;
    gr_param p = {.kind = scalar_kind(c->dtype)};
    if (p.kind == GR_PARAM_F32) p.f = gr_array_get_f64(c, 0);
    else p.i = gr_array_get_i64(c, 0);
    return add_param(w, p);
}

/* let v2 = op1_mul(v0, x1, p3); i8 and u8 are wrapped as a store would. */
static bool put_call(writer *w, uint32_t i) {
    const gr_graph_node *n = &w->f->g->nodes[w->f->node[i]];
    const gr_sig *s = &n->call.op->sig;
    gr_str expr = gr_fuse_expr(&n->call);
    gr_dtype t = n->call.outputs[0].dtype;
    uint32_t k = body_of(w, &n->call);
    const char *comma = "";
    bool wrapped = t == GR_DTYPE_I8 || t == GR_DTYPE_U8;
    gr_buf_printf(&w->main, "    let v%u = %sop%u_%.*s(", i, wrapped ? "(" : "", k, GR_STR_ARG(s->name));
    for (uint32_t j = 0; j < s->operands_n; j++) {
        if (!gr_fuse_reads(&n->call, expr, j)) continue;
        gr_buf_puts(&w->main, comma);
        put_value(w, n->args[j]);
        comma = ", ";
    }
    for (uint32_t j = 0; j < s->params_n; j++) {
        if (!reads_param(&s->params[j], expr)) continue;
        gr_param p = n->call.params[j];
        if (p.kind == GR_PARAM_ENUM) p.kind = GR_PARAM_U32;
        gr_buf_printf(&w->main, "%sp%u", comma, w->args_n);
        comma = ", ";
        GR_TRY(add_param(w, p));
    }
    gr_buf_puts(&w->main, !wrapped ? ");\n" : t == GR_DTYPE_I8 ? ") << 24u) >> 24u;\n" : ") & 0xffu);\n");
    return true;
}

/* x0: f32, x1: f32, p0: f32 */
static void put_names(writer *w, gr_buf *b, bool types) {
    const char *comma = "";
    for (uint32_t i = 0; i < w->f->in_n; i++, comma = ", ") {
        gr_buf_printf(b, "%sx%u", comma, i);
        if (types) gr_buf_printf(b, ": %s", value_type(w->f->g->values[w->f->in[i]].type.dtype));
    }
    for (uint32_t i = 0; i < w->args_n; i++, comma = ", ") {
        gr_buf_printf(b, "%sp%u", comma, i);
        if (types) gr_buf_printf(b, ": %s", param_type(w->args[i].resolved.kind));
    }
}

static uint32_t inner(const writer *w, uint32_t out) { return find(w->f->node, w->f->nodes_n, w->f->g->values[w->f->out[out]].node); }

static void put_fused(writer *w) {
    gr_buf *b = &w->functions;
    const gr_fuse_group *f = w->f;
    if (f->out_n > 1) {
        gr_buf_puts(b, "struct Results {\n");
        for (uint32_t i = 0; i < f->out_n; i++) gr_buf_printf(b, "    y%u: %s,\n", i, value_type(f->g->values[f->out[i]].type.dtype));
        gr_buf_puts(b, "}\n\n");
    }
    gr_buf_puts(b, "fn fused(");
    put_names(w, b, true);
    gr_buf_printf(b, ") -> %s {\n", f->out_n > 1 ? "Results" : value_type(f->g->values[f->out[0]].type.dtype));
    gr_buf_str(b, gr_buf_view(&w->main));
    if (f->out_n == 1) {
        gr_buf_printf(b, "    return v%u;\n}\n", inner(w, 0));
        return;
    }
    gr_buf_puts(b, "    return Results(");
    for (uint32_t i = 0; i < f->out_n; i++) gr_buf_printf(b, "%sv%u", i ? ", " : "", inner(w, i));
    gr_buf_puts(b, ");\n}\n");
}

/* ---- the op --------------------------------------------------------------------------------- */

static void put_signature(writer *w) {
    const gr_fuse_group *f = w->f;
    gr_buf *b = &w->sig, shape = {0};
    uint32_t open = 0;
    for (uint32_t i = 0; i < f->in_n; i++) { /* broadcast takes 8 shapes: the eighth may be a broadcast of the rest */
        bool opens = i % 7 == 0 && f->in_n - i > 1;
        gr_buf_printf(&shape, "%s%ss%u", i ? ", " : "", opens ? "broadcast(" : "", i);
        open += opens;
    }
    while (open--) gr_buf_puts(&shape, ")");
    gr_buf_puts(b, "fused(");
    for (uint32_t i = 0; i < f->in_n; i++) gr_buf_printf(b, "%sx%u: %s[..s%u]", i ? ", " : "", i, gr_dtype_name(f->g->values[f->in[i]].type.dtype), i);
    for (uint32_t i = 0; i < w->args_n; i++) gr_buf_printf(b, "%sp%u: %s", i ? ", " : "; ", i, param_type(w->args[i].resolved.kind));
    gr_buf_puts(b, ") -> ");
    for (uint32_t i = 0; i < f->out_n; i++)
        gr_buf_printf(b, "%sy%u: %s[..%.*s]", i ? ", " : "", i, gr_dtype_name(f->g->values[f->out[i]].type.dtype), GR_STR_ARG(gr_buf_view(&shape)));
    if (shape.failed) b->failed = true;
    gr_buf_free(&shape);
}

/* "fused/sub.exp@1": the first four, then how many more. */
static gr_str make_id(writer *w) {
    const gr_fuse_group *f = w->f;
    gr_buf b = {0};
    gr_buf_puts(&b, "fused/");
    for (uint32_t i = 0; i < f->nodes_n && i < 4; i++) gr_buf_printf(&b, "%s%.*s", i ? "." : "", GR_STR_ARG(f->g->nodes[f->node[i]].call.op->sig.name));
    if (f->nodes_n > 4) gr_buf_printf(&b, ".%u_more", f->nodes_n - 4);
    gr_buf_puts(&b, "@1");
    gr_str s = b.failed ? (gr_str){0} : gr_str_dup(w->a, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

static gr_fusion *make_fusion(writer *w) {
    const gr_fuse_group *f = w->f;
    gr_fusion *x = GR_NEW(w->a, gr_fusion);
    gr_buf why = {0};
    if (!x) return NULL;
    x->n = f->nodes_n;
    x->ops = GR_NEW_N(w->a, const gr_op *, f->nodes_n);
    x->nodes = GR_NEW_N(w->a, gr_str, f->nodes_n);
    gr_buf_printf(&why, "%u maps fused:", f->nodes_n);
    for (uint32_t i = 0; x->ops && x->nodes && i < f->nodes_n; i++) {
        const gr_graph_node *n = &f->g->nodes[f->node[i]];
        x->ops[i] = n->call.op;
        x->nodes[i] = n->node;
        gr_buf_printf(&why, "%s %.*s", i ? "," : "", GR_STR_ARG(n->call.op->id));
    }
    x->why = why.failed ? (gr_str){0} : gr_str_dup(w->a, gr_buf_view(&why));
    gr_buf_free(&why);
    return x->ops && x->nodes && x->why.p ? x : NULL;
}

/* Claims are those of the loosest and costliest of the ops. */
static bool fill_op(writer *w, gr_op *op) {
    *op = (gr_op){.id = make_id(w), .name = GR_STR("fused"), .version = 1, .body = GR_BODY_MAP, .cpu = GR_STR("map"), .fusion = make_fusion(w), .zero_sign = GR_STR("same"),
                  .category = GR_CATEGORY_SELECTION, .tolerance = GR_TOLERANCE_EXACT, .backward = {.form = GR_BACKWARD_NONE}};
    gr_buf call = {0};
    gr_buf_puts(&call, "fused(");
    put_names(w, &call, false);
    gr_buf_puts(&call, ")");
    op->map.functions = gr_str_dup(w->a, gr_buf_view(&w->functions));
    op->map.by_dtype = gr_arena_alloc(w->a, 1, sizeof *op->map.by_dtype);
    op->map.by_dtype_n = 1;
    gr_str sig = gr_str_dup(w->a, gr_buf_view(&w->sig));
    if (op->map.by_dtype) op->map.by_dtype[0].expr = gr_str_dup(w->a, gr_buf_view(&call));
    bool ok = op->id.p && op->fusion && op->map.functions.p && op->map.by_dtype && op->map.by_dtype[0].expr.p && sig.p && !call.failed;
    gr_buf_free(&call);
    if (!ok) return gr_report_oom(w->d);
    for (uint32_t i = 0; i < op->fusion->n; i++) {
        if (op->fusion->ops[i]->category > op->category) op->category = op->fusion->ops[i]->category;
        if (op->fusion->ops[i]->tolerance > op->tolerance) op->tolerance = op->fusion->ops[i]->tolerance;
    }
    gr_sha256_state s;
    gr_sha256_init(&s);
    gr_sha256_update(&s, sig.p, sig.n);
    gr_sha256_update(&s, op->map.functions.p, op->map.functions.n);
    op->hash = gr_sha256_final(&s);
    return gr_sig_parse(w->a, w->d, op->id, sig, &op->sig);
}

static bool make(writer *w, gr_place at, gr_call *out) {
    const gr_fuse_group *f = w->f;
    for (uint32_t i = 0; i < f->constants_n; i++) GR_TRY(add_constant(w, f->constant[i]));
    for (uint32_t i = 0; i < f->nodes_n; i++) GR_TRY(put_call(w, i));
    put_fused(w);
    put_signature(w);
    if (w->functions.failed || w->main.failed || w->sig.failed) return gr_report_oom(w->d);
    gr_op *op = GR_NEW(w->a, gr_op);
    gr_type types[GR_FUSE_OPERANDS_MAX];
    if (!op) return gr_report_oom(w->d);
    GR_TRY(fill_op(w, op));
    for (uint32_t i = 0; i < f->in_n; i++) types[i] = f->g->values[f->in[i]].type;
    for (uint32_t i = 0; i < w->args_n; i++) w->args[i].at = at;
    GR_TRY(gr_call_resolve(w->a, w->d, op, types, f->in_n, w->args, w->args_n, at, out));
    for (uint32_t i = 0; i < f->out_n; i++) {
        const gr_type *t = &f->g->values[f->out[i]].type;
        if (!gr_type_equal(&out->outputs[i], t)) return GR_BUG(w->d, "G5", "a fused node gives another shape than the node that it stands for");
        out->outputs[i] = *t; /* with its symbols */
    }
    return true;
}

bool gr_fuse_make(gr_arena *a, gr_diags *d, const gr_fuse_group *f, gr_place at, gr_call *out) {
    writer *w = GR_NEW(a, writer);
    if (!w) return gr_report_oom(d);
    w->a = a;
    w->d = d;
    w->f = f;
    bool ok = make(w, at, out);
    gr_buf_free(&w->functions);
    gr_buf_free(&w->main);
    gr_buf_free(&w->sig);
    return ok;
}
