/* The document's keys one by one. Each reader function takes what it can and reports the rest, so
 * that one reading shows all complaints; GR_CANVAS_ERRORS_MAX bounds them. */
#include "ladder/canvas/canvas_int.h"
#include "base/lex.h"

#include <math.h>

typedef struct reader {
    gr_arena *a;
    gr_diags *d;
    gr_doc doc;
    gr_lines lines;
    uint32_t nodes, links; /* of the whole document */
    uint32_t errors_before;
} reader;

static bool enough(const reader *r) { return r->d->errors - r->errors_before >= GR_CANVAS_ERRORS_MAX || r->d->out_of_memory; }

static gr_place place(reader *r, const gr_value *v) { return gr_value_place(&r->doc, v, r->a); }

/* The place of a value whose pointer is known: no search. */
static gr_place place_at(reader *r, const gr_value *v, gr_str pointer) {
    gr_place at = {.document = r->doc.name, .pointer = pointer};
    gr_lines_at(&r->lines, v->offset, &at.line, &at.col);
    return at;
}

static bool str(reader *r, const gr_value *o, const char *key, bool need, gr_str *out) {
    return gr_value_str(r->a, r->d, &r->doc, o, key, need, out);
}

static bool is_object(reader *r, const gr_value *v, const char *what) {
    if (v->kind == GR_V_OBJECT) return true;
    gr_report(r->d, GR_D_BASE_VALUE_TYPE, place(r, v), NULL, "%s must be an object with keys", what);
    return false;
}

/* "expected one of ..." for words that are enums. */
static bool bad_word(reader *r, gr_diag_name name, const gr_value *o, const char *key, gr_str got, const char *all) {
    int n = got.n > 60 ? 60 : (int)got.n;
    gr_report(r->d, name, place(r, gr_value_get(o, key)), NULL, "\"%s\" is \"%.*s\"", key, n, got.p);
    gr_report_hint(r->d, "write one of %s", all);
    return false;
}

/* ---- pieces of nodes ---- */

static bool read_dtype(reader *r, const gr_value *o, gr_canvas_node *n) {
    gr_str s = {0};
    GR_TRY(str(r, o, "dtype", false, &s));
    if (!s.p) return true;
    n->dtype = gr_dtype_find(s);
    return n->dtype || bad_word(r, GR_D_CANVAS_DTYPE_UNKNOWN, o, "dtype", s, "f16, f32, f64, i8, u8, i32, u32, i64, u64, bool");
}

static bool read_dim(reader *r, const gr_value *v, gr_canvas_dim *out) {
    if (v->kind == GR_V_STRING && gr_symbol_valid(v->s)) {
        out->symbol = v->s;
        return true;
    }
    if (v->kind == GR_V_INT && v->i >= 0 && v->i < (int64_t)1 << 40) {
        *out = (gr_canvas_dim){.n = (uint64_t)v->i, .fixed = true};
        return true;
    }
    return gr_report(r->d, GR_D_CANVAS_SHAPE_BAD, place(r, v), "write [\"n\", 4]: sizes below 2^40, or names of letters, digits and _",
                     "a dimension must be a size or a name");
}

static bool read_shape(reader *r, const gr_value *o, gr_canvas_node *n) {
    gr_value *v = NULL;
    GR_TRY(gr_value_array(r->a, r->d, &r->doc, o, "shape", false, &v));
    if (!v) return true;
    if (v->array.n > GR_RANK_MAX)
        return gr_report(r->d, GR_D_CANVAS_SHAPE_BAD, place(r, v), "at most 8 dimensions", "the shape has %u dimensions", v->array.n);
    n->shape = GR_NEW_N(r->a, gr_canvas_dim, v->array.n);
    if (!n->shape) return gr_report_oom(r->d);
    n->shape_n = v->array.n;
    n->shape_given = true;
    bool ok = true;
    for (uint32_t i = 0; i < v->array.n; i++) ok = read_dim(r, v->array.v[i], &n->shape[i]) && ok;
    return ok;
}

static bool read_input(reader *r, const gr_value *o, gr_canvas_node *n) {
    bool ok = str(r, o, "file", false, &n->file);
    ok = read_dtype(r, o, n) && ok;
    ok = read_shape(r, o, n) && ok;
    if (n->block == GR_BLOCK_INPUT) {
        ok = gr_canvas_read_window(r->a, r->d, &r->doc, o, n) && ok;
        return gr_canvas_read_stream(r->a, r->d, &r->doc, o, n) && ok;
    }
    bool trainable = true;
    ok = gr_value_bool(r->a, r->d, &r->doc, o, "trainable", false, &trainable) && ok;
    n->frozen = !trainable;
    return gr_canvas_read_init(r->a, r->d, &r->doc, o, n) && ok;
}

static bool read_constant(reader *r, const gr_value *o, gr_canvas_node *n) {
    GR_TRY(read_dtype(r, o, n));
    n->value = gr_value_get(o, "value");
    if (!n->value) return gr_report(r->d, GR_D_BASE_KEY_MISSING, n->at, "add \"value\": a number or nested lists of numbers", "a constant needs a \"value\"");
    gr_place at = n->at; /* the pointer without a search: there may be many constants */
    gr_lines_at(&r->lines, n->value->offset, &at.line, &at.col);
    return gr_canvas_constant(r->a, r->d, n->value, n->dtype, gr_canvas_below(r->a, at, "value"), &n->constant);
}

/* ---- plots ---- */

static const char *const plot_keys[] = {"title", "x_label", "from", "to", "lines", NULL};
static const char *const line_keys[] = {"output", "label", "panel", "y_label", "x0", "dx", NULL};

static bool read_line(reader *r, const gr_value *v) {
    GR_TRY(is_object(r, v, "a line of a plot"));
    gr_str s = {0};
    int64_t panel = 0;
    double f = 0;
    bool ok = gr_value_known(r->a, r->d, &r->doc, v, line_keys);
    ok = str(r, v, "output", true, &s) && ok;
    ok = str(r, v, "label", false, &s) && ok;
    ok = str(r, v, "y_label", false, &s) && ok;
    ok = gr_value_i64(r->a, r->d, &r->doc, v, "panel", false, &panel) && ok;
    ok = gr_value_f64(r->a, r->d, &r->doc, v, "x0", false, &f) && ok;
    ok = gr_value_f64(r->a, r->d, &r->doc, v, "dx", false, &f) && ok;
    if (panel < 0 || panel >= GR_CANVAS_PANELS_MAX)
        return gr_report(r->d, GR_D_CANVAS_PLOT_BAD, place(r, gr_value_get(v, "panel")), "panels are counted from 0 to 31", "\"panel\" is %lld", (long long)panel);
    return ok;
}

static bool read_plot(reader *r, const gr_value *v) {
    GR_TRY(is_object(r, v, "a plot"));
    gr_str s = {0};
    double f = 0;
    gr_value *lines = NULL;
    bool ok = gr_value_known(r->a, r->d, &r->doc, v, plot_keys);
    ok = str(r, v, "title", false, &s) && ok;
    ok = str(r, v, "x_label", false, &s) && ok;
    ok = gr_value_f64(r->a, r->d, &r->doc, v, "from", false, &f) && ok;
    ok = gr_value_f64(r->a, r->d, &r->doc, v, "to", false, &f) && ok;
    ok = gr_value_array(r->a, r->d, &r->doc, v, "lines", true, &lines) && ok;
    for (uint32_t i = 0; lines && i < lines->array.n && !enough(r); i++) ok = read_line(r, lines->array.v[i]) && ok;
    if (lines && (lines->array.n == 0 || lines->array.n > GR_CANVAS_LINES_MAX))
        return gr_report(r->d, GR_D_CANVAS_PLOT_BAD, place(r, lines), "1 to 64 lines", "the plot has %u lines", lines->array.n);
    return ok;
}

static bool read_output(reader *r, const gr_value *o, gr_canvas_node *n) {
    gr_value *files = NULL;
    bool ok = gr_value_array(r->a, r->d, &r->doc, o, "files", false, &files);
    n->files = GR_NEW_N(r->a, gr_str, files ? files->array.n : 0);
    if (!n->files) return gr_report_oom(r->d);
    for (uint32_t i = 0; files && i < files->array.n; i++) {
        const gr_value *f = files->array.v[i];
        if (f->kind == GR_V_STRING && f->s.n) n->files[n->files_n++] = f->s;
        else ok = gr_report(r->d, GR_D_BASE_VALUE_TYPE, place(r, f), "write \"out/clean.npy\"", "a file of \"files\" must be a path");
        if (enough(r)) return false;
    }
    n->plot = gr_value_get(o, "plot");
    return n->plot ? read_plot(r, n->plot) && ok : ok;
}

/* ---- nodes with canvases inside ---- */

static bool read_scope(reader *r, const gr_value *o, gr_str pointer, int depth, gr_canvas *c);

static const char *const inner_keys[] = {"name", "description", "nodes", "links", "layout", NULL};

static bool read_body(reader *r, const gr_value *o, const char *key, bool need, const gr_canvas_node *n, int depth, gr_canvas **out) {
    gr_value *v = NULL;
    GR_TRY(gr_value_object(r->a, r->d, &r->doc, o, key, need, &v));
    if (!v) return true;
    if (depth >= GR_CANVAS_DEPTH_MAX)
        return gr_report(r->d, GR_D_CANVAS_TOO_DEEP, place(r, v), "put inner parts into documents of their own", "canvases nest deeper than %d", GR_CANVAS_DEPTH_MAX);
    gr_canvas *c = GR_NEW(r->a, gr_canvas);
    if (!c) return gr_report_oom(r->d);
    gr_place at = gr_canvas_below(r->a, n->at, key);
    bool ok = gr_value_known(r->a, r->d, &r->doc, v, inner_keys);
    c->at = place_at(r, v, at.pointer);
    ok = read_scope(r, v, at.pointer, depth + 1, c) && ok;
    *out = c;
    return ok;
}

static bool read_repeat(reader *r, const gr_value *o, gr_canvas_node *n, int depth) {
    gr_value *carry = NULL;
    bool ok = gr_value_i64(r->a, r->d, &r->doc, o, "count", true, &n->count);
    if (ok && (n->count < 0 || n->count > GR_CANVAS_COUNT_MAX))
        ok = gr_report(r->d, GR_D_CANVAS_REPEAT_COUNT, place(r, gr_value_get(o, "count")), "write a number from 0 to 1000000", "\"count\" is %lld", (long long)n->count);
    ok = gr_value_object(r->a, r->d, &r->doc, o, "carry", true, &carry) && ok;
    n->carry = carry;
    for (uint32_t i = 0; carry && i < carry->object.n && !enough(r); i++)
        if (carry->object.v[i].value->kind != GR_V_STRING)
            ok = gr_report(r->d, GR_D_CANVAS_CARRY, place(r, carry->object.v[i].value), "write { \"next\": \"state\" }: an output of the body and the input it feeds", "a carried output must name an input");
    return read_body(r, o, "body", true, n, depth, &n->body) && ok;
}

static bool read_branch(reader *r, const gr_value *o, gr_canvas_node *n, int depth) {
    const gr_value *v = gr_value_get(o, "condition");
    bool ok = true;
    if (v && v->kind == GR_V_BOOL) n->condition = v->b ? GR_STR("true") : GR_STR("false");
    else ok = str(r, o, "condition", true, &n->condition);
    ok = read_body(r, o, "then", true, n, depth, &n->body) && ok;
    return read_body(r, o, "else", true, n, depth, &n->other) && ok;
}

static bool read_call(reader *r, const gr_value *o, gr_canvas_node *n, int depth) {
    bool ok = str(r, o, "file", false, &n->file);
    ok = read_body(r, o, "body", false, n, depth, &n->body) && ok;
    if (ok && !n->file.n == !n->body)
        return gr_report(r->d, GR_D_CANVAS_CALL, n->at, "give \"file\": a document, or \"body\": a canvas", n->body ? "a call has both a file and a body" : "a call names no document");
    return ok;
}

/* ---- a node ---- */

#define COMMON "id", "block", "label"
static const char *const node_keys[][16] = {
    [GR_BLOCK_INPUT] = {COMMON, "file", "dtype", "shape", "window", "stream", NULL},
    [GR_BLOCK_CONSTANT] = {COMMON, "value", "dtype", NULL},
    [GR_BLOCK_PARAMETER] = {COMMON, "file", "dtype", "shape", "init", "trainable", NULL},
    [GR_BLOCK_OUTPUT] = {COMMON, "files", "plot", NULL},
    [GR_BLOCK_OP] = {COMMON, "op", "params", NULL},
    [GR_BLOCK_REPEAT] = {COMMON, "count", "carry", "body", NULL},
    [GR_BLOCK_BRANCH] = {COMMON, "condition", "then", "else", NULL},
    [GR_BLOCK_CALL] = {COMMON, "file", "body", NULL},
    [GR_BLOCK_TRAIN] = {COMMON, "optimizer", "rate", "batch", "epochs", "steps", "evaluate", "stop", "checkpoint", "segments", "clip", "precision", NULL},
};

/* Letters, digits, _ and -: an id becomes a value's name, a port's prefix and part of file names. */
static bool id_valid(gr_str s) {
    if (!s.n || s.n > GR_CANVAS_ID_MAX || s.p[0] == '-') return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return false;
    }
    return true;
}

static bool read_id(reader *r, const gr_value *o, gr_canvas_node *n) {
    GR_TRY(str(r, o, "id", true, &n->id));
    if (id_valid(n->id)) return true;
    int shown = n->id.n > 60 ? 60 : (int)n->id.n;
    return gr_report(r->d, GR_D_CANVAS_ID_BAD, place(r, gr_value_get(o, "id")), "use 1 to 64 letters, digits, _ and -; put other text into \"label\"",
                     "\"%.*s\" cannot be an id", shown, n->id.p);
}

static bool read_block(reader *r, const gr_value *o, gr_canvas_node *n) {
    gr_str s = {0};
    GR_TRY(str(r, o, "block", false, &s));
    if (!s.p && gr_value_get(o, "op")) n->block = GR_BLOCK_OP;
    else if (!s.p) return gr_report(r->d, GR_D_BASE_KEY_MISSING, n->at, "add \"op\": an op's name, or \"block\": input, constant, parameter, output, repeat, branch, call or train", "the node says neither \"op\" nor \"block\"");
    else n->block = gr_block_find(s);
    return n->block || bad_word(r, GR_D_CANVAS_BLOCK_UNKNOWN, o, "block", s, "input, constant, parameter, output, op, repeat, branch, call, train");
}

static bool read_op(reader *r, const gr_value *o, gr_canvas_node *n) {
    gr_value *params = NULL;
    bool ok = str(r, o, "op", true, &n->op);
    ok = gr_value_object(r->a, r->d, &r->doc, o, "params", false, &params) && ok;
    n->params = params;
    return ok;
}

static bool read_node(reader *r, const gr_value *o, gr_str pointer, int depth, gr_canvas_node *n) {
    n->at = place_at(r, o, pointer);
    GR_TRY(is_object(r, o, "a node"));
    bool ok = read_id(r, o, n);
    GR_TRY(read_block(r, o, n));
    ok = gr_value_known(r->a, r->d, &r->doc, o, node_keys[n->block]) && ok;
    ok = str(r, o, "label", false, &n->label) && ok;
    switch (n->block) {
    case GR_BLOCK_INPUT:
    case GR_BLOCK_PARAMETER: return read_input(r, o, n) && ok;
    case GR_BLOCK_CONSTANT: return read_constant(r, o, n) && ok;
    case GR_BLOCK_OUTPUT: return read_output(r, o, n) && ok;
    case GR_BLOCK_OP: return read_op(r, o, n) && ok;
    case GR_BLOCK_REPEAT: return read_repeat(r, o, n, depth) && ok;
    case GR_BLOCK_BRANCH: return read_branch(r, o, n, depth) && ok;
    case GR_BLOCK_CALL: return read_call(r, o, n, depth) && ok;
    case GR_BLOCK_TRAIN: return gr_canvas_read_train(r->a, r->d, &r->doc, o, n) && ok;
    case GR_BLOCK_NONE: break;
    }
    return ok;
}

/* ---- links ---- */

/* "y", or "ys.3": one of a port that gives or takes several. */
static bool port_valid(gr_str s) {
    const char *dot = memchr(s.p, '.', s.n);
    if (!dot) return id_valid(s);
    size_t digits = s.n - (size_t)(dot - s.p) - 1;
    for (size_t i = 1; i <= digits; i++)
        if (dot[i] < '0' || dot[i] > '9') return false;
    return digits >= 1 && digits <= 5 && id_valid((gr_str){s.p, (size_t)(dot - s.p)});
}

static bool read_end(reader *r, const gr_value *o, const char *key, gr_str *node, gr_str *port) {
    gr_str s = {0};
    GR_TRY(str(r, o, key, true, &s));
    const char *dot = s.n ? memchr(s.p, '.', s.n) : NULL;
    *node = dot ? (gr_str){s.p, (size_t)(dot - s.p)} : s;
    *port = dot ? (gr_str){dot + 1, s.n - node->n - 1} : (gr_str){0};
    bool ok = id_valid(*node) && (!dot || port_valid(*port));
    return ok || gr_report(r->d, GR_D_CANVAS_LINK_END, place(r, gr_value_get(o, key)), "write \"node\", \"node.port\" or, for one of several, \"node.port.0\"", "\"%.*s\" is no end of a link", s.n > 60 ? 60 : (int)s.n, s.p);
}

static bool read_link(reader *r, const gr_value *o, gr_str pointer, gr_canvas_link *l) {
    static const char *const keys[] = {"from", "to", NULL};
    l->at = place_at(r, o, pointer);
    GR_TRY(is_object(r, o, "a link"));
    bool ok = gr_value_known(r->a, r->d, &r->doc, o, keys);
    ok = read_end(r, o, "from", &l->from_node, &l->from_port) && ok;
    return read_end(r, o, "to", &l->to_node, &l->to_port) && ok;
}

/* ---- a scope: nodes, links, layout ---- */

static gr_str item_pointer(reader *r, gr_str base, const char *list, uint32_t i) {
    char *p = gr_arena_printf(r->a, "%.*s/%s/%u", GR_STR_ARG(base), list, i);
    return p ? gr_str_of(p) : (gr_str){0};
}

static bool too_many(reader *r, const gr_value *v, const char *what, uint32_t n, int max) {
    return gr_report(r->d, GR_D_CANVAS_TOO_LARGE, place(r, v), "cut the document into parts joined by call", "the document has over %d %s (%u here)", max, what, n);
}

static bool read_nodes(reader *r, const gr_value *o, gr_str pointer, int depth, gr_canvas *c) {
    gr_value *v = NULL;
    GR_TRY(gr_value_array(r->a, r->d, &r->doc, o, "nodes", true, &v));
    if (v->array.n > GR_CANVAS_NODES_MAX || r->nodes + v->array.n > GR_CANVAS_NODES_MAX) return too_many(r, v, "nodes", v->array.n, GR_CANVAS_NODES_MAX);
    r->nodes += v->array.n;
    c->nodes = GR_NEW_N(r->a, gr_canvas_node, v->array.n);
    if (!c->nodes) return gr_report_oom(r->d);
    c->nodes_n = v->array.n;
    bool ok = true;
    for (uint32_t i = 0; i < v->array.n && !enough(r); i++) {
        gr_str p = item_pointer(r, pointer, "nodes", i);
        if (!p.p) return gr_report_oom(r->d);
        ok = read_node(r, v->array.v[i], p, depth, &c->nodes[i]) && ok;
    }
    return ok;
}

static bool read_links(reader *r, const gr_value *o, gr_str pointer, gr_canvas *c) {
    gr_value *v = NULL;
    GR_TRY(gr_value_array(r->a, r->d, &r->doc, o, "links", false, &v));
    if (!v) return true;
    if (v->array.n > GR_CANVAS_LINKS_MAX || r->links + v->array.n > GR_CANVAS_LINKS_MAX) return too_many(r, v, "links", v->array.n, GR_CANVAS_LINKS_MAX);
    r->links += v->array.n;
    c->links = GR_NEW_N(r->a, gr_canvas_link, v->array.n);
    if (!c->links) return gr_report_oom(r->d);
    c->links_n = v->array.n;
    bool ok = true;
    for (uint32_t i = 0; i < v->array.n && !enough(r); i++) {
        gr_str p = item_pointer(r, pointer, "links", i);
        if (!p.p) return gr_report_oom(r->d);
        ok = read_link(r, v->array.v[i], p, &c->links[i]) && ok;
    }
    return ok;
}

static bool read_layout(reader *r, const gr_value *o, gr_canvas *c) {
    gr_value *v = NULL;
    GR_TRY(gr_value_object(r->a, r->d, &r->doc, o, "layout", false, &v));
    c->layout = v;
    bool ok = true;
    for (uint32_t i = 0; v && i < v->object.n && !enough(r); i++) {
        const gr_value *p = v->object.v[i].value;
        bool pair = p->kind == GR_V_ARRAY && p->array.n == 2;
        for (uint32_t k = 0; pair && k < 2; k++) {
            gr_value_kind kind = p->array.v[k]->kind;
            pair = kind == GR_V_INT || kind == GR_V_FLOAT;
        }
        if (!pair) ok = gr_report(r->d, GR_D_BASE_VALUE_TYPE, place(r, p), "write \"ecg\": [0, 120]", "a position of the layout must be two numbers");
    }
    return ok;
}

static bool read_scope(reader *r, const gr_value *o, gr_str pointer, int depth, gr_canvas *c) {
    c->document = r->doc.name;
    bool ok = str(r, o, "name", false, &c->name);
    ok = str(r, o, "description", false, &c->description) && ok;
    ok = read_nodes(r, o, pointer, depth, c) && ok;
    if (!enough(r)) ok = read_links(r, o, pointer, c) && ok;
    if (!enough(r)) ok = read_layout(r, o, c) && ok;
    return ok;
}

/* ---- what only a document declares ---- */

static bool read_version(reader *r, const gr_value *o) {
    gr_str s = {0};
    GR_TRY(str(r, o, "gradus", true, &s));
    return gr_str_eqz(s, "canvas/1") || bad_word(r, GR_D_CANVAS_VERSION, o, "gradus", s, "\"canvas/1\" (another version needs another Gradus)");
}

static bool read_demands(reader *r, const gr_value *o, gr_canvas *c) {
    gr_str s = {0}, t = {0}, g = {0};
    bool ok = str(r, o, "tier", false, &s);
    if (s.p && !(c->tier = gr_tier_find(s))) ok = bad_word(r, GR_D_CANVAS_TIER_UNKNOWN, o, "tier", s, "debug, prod, fast");
    ok = str(r, o, "tolerance", false, &t) && ok;
    for (int i = GR_TOLERANCE_EXACT; i <= GR_TOLERANCE_LOOSE; i++)
        if (gr_str_eqz(t, gr_tolerance_name((gr_tolerance)i))) c->tolerance = (gr_tolerance)i;
    if (t.p && !c->tolerance) ok = bad_word(r, GR_D_CANVAS_TOLERANCE_UNKNOWN, o, "tolerance", t, "exact, tight, default, loose");
    ok = str(r, o, "guarantee", false, &g) && ok;
    if (g.p && !(c->guarantee = gr_guarantee_find(g))) ok = bad_word(r, GR_D_CANVAS_GUARANTEE_UNKNOWN, o, "guarantee", g, "convergent, replayable, bitwise_across_devices");
    return ok;
}

static bool read_seed(reader *r, const gr_value *o, gr_canvas *c) {
    const gr_value *v = gr_value_get(o, "seed");
    if (!v) return true;
    c->seed_given = true;
    if (v->kind == GR_V_UINT) c->seed = v->u;
    else if (v->kind == GR_V_INT && v->i >= 0) c->seed = (uint64_t)v->i;
    else return gr_report(r->d, GR_D_CANVAS_SEED, place(r, v), "write an integer from 0 to 18446744073709551615", "\"seed\" is not such an integer");
    return true;
}

static bool read_bytes(reader *r, const gr_value *o, const char *key, uint64_t *out) {
    const gr_value *v = gr_value_get(o, key);
    if (!v) return true;
    if (v->kind == GR_V_STRING && gr_bytes_parse(v->s, out) && *out) return true;
    if (v->kind == GR_V_INT && v->i > 0 && v->i < (int64_t)1 << 62) {
        *out = (uint64_t)v->i;
        return true;
    }
    return gr_report(r->d, GR_D_CANVAS_BUDGET, place(r, v), "write \"256 MiB\", \"1.5 GiB\" or a number of bytes", "\"%s\" is no size", key);
}

static bool read_budget(reader *r, const gr_value *o, gr_canvas *c) {
    static const char *const keys[] = {"gpu", "cpu", "cpu_seconds", NULL};
    gr_value *v = NULL;
    GR_TRY(gr_value_object(r->a, r->d, &r->doc, o, "budget", false, &v));
    if (!v) return true;
    bool ok = gr_value_known(r->a, r->d, &r->doc, v, keys);
    ok = read_bytes(r, v, "gpu", &c->budget_gpu) && ok;
    ok = read_bytes(r, v, "cpu", &c->budget_cpu) && ok;
    ok = gr_value_f64(r->a, r->d, &r->doc, v, "cpu_seconds", false, &c->budget_cpu_seconds) && ok;
    if (!(c->budget_cpu_seconds >= 0) || (gr_value_get(v, "cpu_seconds") && ok && c->budget_cpu_seconds == 0))
        return gr_report(r->d, GR_D_CANVAS_BUDGET, place(r, gr_value_get(v, "cpu_seconds")), "write a positive number of seconds", "\"cpu_seconds\" is not positive");
    return ok;
}

static bool hash_document(reader *r, gr_canvas *c) {
    gr_buf b = {0};
    bool ok = gr_json_canonical(&b, r->doc.root);
    if (ok) c->hash = gr_sha256_of(b.p, b.n);
    gr_buf_free(&b);
    return ok || gr_report_oom(r->d);
}

bool gr_canvas_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, gr_canvas *out) {
    static const char *const keys[] = {"gradus", "name", "description", "tier", "tolerance", "guarantee", "seed", "budget", "nodes", "links", "layout", NULL};
    *out = (gr_canvas){0};
    reader r = {.a = a, .d = d, .errors_before = d->errors};
    GR_TRY(gr_json_parse(a, d, document, text, &r.doc));
    if (!gr_lines_init(a, text, &r.lines)) return gr_report_oom(d);
    const gr_value *o = r.doc.root;
    GR_TRY(is_object(&r, o, "a canvas"));
    out->at = place_at(&r, o, GR_STR(""));
    out->at_tier = gr_value_get(o, "tier") ? place_at(&r, gr_value_get(o, "tier"), GR_STR("/tier")) : out->at;
    bool ok = read_version(&r, o);
    ok = gr_value_known(a, d, &r.doc, o, keys) && ok;
    ok = read_demands(&r, o, out) && ok;
    ok = read_seed(&r, o, out) && ok;
    ok = read_budget(&r, o, out) && ok;
    ok = read_scope(&r, o, GR_STR(""), 0, out) && ok;
    return ok && hash_document(&r, out) && d->errors == r.errors_before && !d->out_of_memory;
}
