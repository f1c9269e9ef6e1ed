/* The text of docs/flow.md. Every step gets a canvas node of its own as source, so that a parsed flow
 * lowers like a drawn one. Stops at the first syntax error of a line and goes on with the next line. */
#include "ladder/flow/flow_int.h"
#include "ladder/flow/head.h"

enum { ERRORS_MAX = 50 };

typedef struct parser {
    gr_lex l;
    gr_arena *a;
    const gr_catalog *catalog;
    gr_map names;                 /* value name -> ref */
    GR_VEC(gr_flow_value) values;
    GR_VEC(uint32_t) scope_of;    /* by value */
    uint32_t scope, scopes;       /* the one being read, and how many there are */
    int depth;
} parser;

typedef GR_VEC(gr_flow_ref) ref_vec;
typedef GR_VEC(gr_str) str_vec;
typedef GR_VEC(gr_token) token_vec;

static bool oom(parser *p) {
    p->l.errors++;
    return gr_report_oom(p->l.d);
}

static bool complain(parser *p, gr_token t, gr_diag_name name, const char *hint, const char *what, gr_str s) {
    p->l.errors++;
    return gr_report(p->l.d, name, gr_lex_place(&p->l, t), hint, what, s.n > 120 ? 120 : (int)s.n, s.p);
}

/* A value being defined. */
static bool define(parser *p, gr_token t, gr_str node, gr_str port, gr_flow_ref *out) {
    if (gr_map_get(&p->names, t.text, NULL)) return complain(p, t, GR_D_FLOW_NAME_TWICE, "every value has one name in the whole flow", "%%%.*s is defined twice", t.text);
    gr_flow_value *v = GR_PUSH(p->a, &p->values);
    uint32_t *s = GR_PUSH(p->a, &p->scope_of);
    if (!v || !s || !gr_map_put(p->a, &p->names, t.text, p->values.n - 1)) return oom(p);
    *v = (gr_flow_value){t.text, node, port};
    *s = p->scope;
    *out = p->values.n - 1;
    return true;
}

/* A value being used: defined before, in this scope. */
static bool use(parser *p, gr_flow_ref *out) {
    gr_token t = p->l.now;
    gr_str name;
    GR_TRY(gr_lex_value(&p->l, "a value such as %x", &name));
    if (!gr_map_get(&p->names, name, out)) return complain(p, t, GR_D_FLOW_NAME_UNKNOWN, "define it in an earlier line", "%%%.*s is not defined here", name);
    if (*out == GR_FLOW_NONE) return false; /* its line failed and was reported */
    if (p->scope_of.v[*out] != p->scope) return complain(p, t, GR_D_FLOW_NAME_UNKNOWN, "bring it in through an input of the body", "%%%.*s belongs to another scope", name);
    return true;
}

/* The last part of a path is the id within its canvas. */
static gr_str local_id(gr_str path) {
    size_t i = path.n;
    while (i && path.p[i - 1] != '/') i--;
    return (gr_str){path.p + i, path.n - i};
}

static bool start_step(parser *p, gr_flow_step *s, gr_block kind, gr_token at) {
    gr_canvas_node *n = GR_NEW(p->a, gr_canvas_node);
    if (!n) return oom(p);
    n->block = kind;
    n->at = gr_lex_place(&p->l, at);
    *s = (gr_flow_step){.kind = kind, .source = n, .at = n->at, .condition = GR_FLOW_NONE};
    return true;
}

static gr_canvas_node *source(gr_flow_step *s) { return (gr_canvas_node *)(uintptr_t)s->source; }

static bool read_node_name(parser *p, gr_flow_step *s) {
    gr_token t = p->l.now;
    GR_TRY(gr_lex_string(&p->l, "the node's name in quotes", &s->node));
    if (!s->node.n) return complain(p, t, p->l.syntax, "write the canvas node's id", "a node's name is empty%.*s", s->node);
    source(s)->id = local_id(s->node);
    return true;
}

/* ---- sources and outputs ---- */

static bool read_shape(parser *p, gr_canvas_node *n) {
    GR_TRY(gr_lex_mark(&p->l, '['));
    n->shape = GR_NEW_N(p->a, gr_canvas_dim, GR_RANK_MAX);
    if (!n->shape) return oom(p);
    n->shape_given = true;
    while (!gr_lex_try_mark(&p->l, ']')) {
        if (n->shape_n && !gr_lex_mark(&p->l, ',')) return false;
        if (n->shape_n == GR_RANK_MAX) return gr_lex_expected(&p->l, "at most 8 dimensions", NULL);
        gr_canvas_dim *d = &n->shape[n->shape_n++];
        d->fixed = p->l.now.kind == GR_TOKEN_NUMBER;
        gr_token t = p->l.now;
        if (d->fixed) GR_TRY(gr_lex_u64(&p->l, "a size", &d->n));
        else GR_TRY(gr_lex_word(&p->l, "a size or a symbol", &d->symbol));
        if (d->fixed ? d->n >= (uint64_t)1 << 40 : !gr_symbol_valid(d->symbol)) return complain(p, t, p->l.syntax, "sizes below 2^40, or names of letters, digits and _", "'%.*s' is no dimension", t.text);
    }
    return true;
}

static bool read_attribute(parser *p, gr_canvas_node *n, gr_token t, gr_str key) {
    gr_str word;
    bool typed = n->block == GR_BLOCK_INPUT || n->block == GR_BLOCK_PARAMETER;
    if (typed && gr_str_eqz(key, "file")) return gr_lex_string(&p->l, "a file name in quotes", &n->file);
    if (typed && gr_str_eqz(key, "shape")) return read_shape(p, n);
    if (n->block != GR_BLOCK_OUTPUT && gr_str_eqz(key, "dtype")) {
        gr_token at = p->l.now;
        GR_TRY(gr_lex_word(&p->l, "a dtype", &word));
        n->dtype = gr_dtype_find(word);
        return n->dtype || complain(p, at, p->l.syntax, "f16, f32, f64, i8, u8, i32, u32, i64, u64, bool", "there is no dtype %.*s", word);
    }
    if (n->block == GR_BLOCK_OUTPUT && gr_str_eqz(key, "plot")) return (n->plot = gr_lex_json(&p->l)) != NULL;
    if (n->block == GR_BLOCK_OUTPUT && gr_str_eqz(key, "files")) {
        gr_value *v = gr_lex_json(&p->l);
        GR_TRY(v);
        n->files_n = v->kind == GR_V_ARRAY ? v->array.n : 0;
        n->files = GR_NEW_N(p->a, gr_str, n->files_n);
        if (!n->files) return oom(p);
        for (uint32_t i = 0; i < n->files_n; i++) {
            if (v->array.v[i]->kind != GR_V_STRING) return complain(p, t, p->l.syntax, "write [\"a.npy\"]", "%.*s takes names in quotes", key);
            n->files[i] = v->array.v[i]->s;
        }
        return true;
    }
    return complain(p, t, p->l.syntax, "see docs/flow.md for what a block takes", "the block has no %.*s", key);
}

static bool read_attributes(parser *p, gr_flow_step *s) {
    while (p->l.now.kind == GR_TOKEN_WORD) {
        gr_token t = gr_lex_take(&p->l);
        GR_TRY(gr_lex_mark(&p->l, '='));
        GR_TRY(read_attribute(p, source(s), t, t.text));
    }
    return true;
}

static bool read_source(parser *p, gr_flow_step *s, gr_token result) {
    GR_TRY(read_node_name(p, s));
    if (s->kind == GR_BLOCK_CONSTANT) GR_TRY(source(s)->value = gr_lex_json(&p->l));
    GR_TRY(read_attributes(p, s));
    gr_canvas_node *n = source(s);
    if (s->kind == GR_BLOCK_CONSTANT && !gr_canvas_constant(p->a, p->l.d, n->value, n->dtype, s->at, &n->constant)) {
        p->l.errors++;
        return false;
    }
    s->results = GR_NEW_N(p->a, gr_flow_ref, 1);
    if (!s->results) return oom(p);
    s->results_n = 1;
    return define(p, result, s->node, GR_STR(""), &s->results[0]);
}

static bool read_output(parser *p, gr_flow_step *s) {
    GR_TRY(read_node_name(p, s));
    s->args = GR_NEW_N(p->a, gr_flow_ref, 1);
    if (!s->args) return oom(p);
    s->args_n = 1;
    GR_TRY(use(p, &s->args[0]));
    return read_attributes(p, s);
}

/* ---- ops ---- */

/* Operands as found, by signature operand; flattened at the end of the line. */
static bool read_operand(parser *p, const gr_sig_tensor *t, ref_vec *to) {
    bool list = t->variadic && gr_lex_try_mark(&p->l, '[');
    do {
        gr_flow_ref r;
        GR_TRY(use(p, &r));
        gr_flow_ref *slot = GR_PUSH(p->a, to);
        if (!slot) return oom(p);
        *slot = r;
    } while (list && gr_lex_try_mark(&p->l, ','));
    return !list || gr_lex_mark(&p->l, ']');
}

static bool flatten(parser *p, gr_flow_step *s, const ref_vec *by, gr_token t) {
    const gr_sig *sig = &s->op->sig;
    uint32_t n = 0;
    for (uint32_t i = 0; i < sig->operands_n; i++) n += by[i].n ? by[i].n : 1;
    s->args = GR_NEW_N(p->a, gr_flow_ref, n);
    s->arg_first = GR_NEW_N(p->a, uint32_t, (size_t)sig->operands_n + 1);
    if (!s->args || !s->arg_first) return oom(p);
    for (uint32_t i = 0; i < sig->operands_n; i++) {
        s->arg_first[i] = s->args_n;
        for (uint32_t k = 0; k < by[i].n; k++) s->args[s->args_n++] = by[i].v[k];
        if (by[i].n || (sig->operands[i].variadic && sig->operands[i].optional)) continue;
        if (!sig->operands[i].optional) return complain(p, t, GR_D_FLOW_OPERAND_OPEN, "write NAME=%value", "the operand %.*s is not given", sig->operands[i].name);
        s->args[s->args_n++] = GR_FLOW_NONE;
    }
    s->arg_first[sig->operands_n] = s->args_n;
    return true;
}

static bool read_op_words(parser *p, gr_flow_step *s, ref_vec *by) {
    gr_value *params = NULL;
    while (p->l.now.kind == GR_TOKEN_WORD || p->l.now.kind == GR_TOKEN_STRING) {
        gr_token t = p->l.now;
        gr_str key;
        uint32_t i = 0;
        GR_TRY(gr_name_parse(&p->l, "a name", &key));
        GR_TRY(gr_lex_mark(&p->l, '='));
        while (i < s->op->sig.operands_n && !gr_str_eq(s->op->sig.operands[i].name, key)) i++;
        if (i < s->op->sig.operands_n) {
            if (by[i].n) return complain(p, t, GR_D_FLOW_PORT_TWICE, "give it once; several as [%a, %b] where the op allows it", "the operand %.*s is given twice", key);
            GR_TRY(read_operand(p, &s->op->sig.operands[i], &by[i]));
            continue;
        }
        if (p->l.now.kind == GR_TOKEN_VALUE) return complain(p, t, GR_D_FLOW_PORT_UNKNOWN, "see `gradus catalog NAME` for its operands", "the op has no operand %.*s", key);
        gr_value *v = gr_lex_json(&p->l);
        GR_TRY(v);
        if (!params && !(params = gr_value_new(p->a, GR_V_OBJECT))) return oom(p);
        char *z = gr_arena_strndup(p->a, key.p, key.n);
        if (!z || !gr_value_set(p->a, params, z, v)) return oom(p);
    }
    s->params = source(s)->params = params;
    return true;
}

static bool read_op(parser *p, gr_flow_step *s, const gr_token *results, uint32_t results_n) {
    gr_token t = p->l.now;
    gr_str id;
    GR_TRY(gr_lex_word(&p->l, "an op's name, input, constant or parameter", &id));
    s->op = gr_catalog_find(p->catalog, id);
    if (!s->op) {
        gr_str near = gr_catalog_near(p->catalog, id);
        complain(p, t, GR_D_FLOW_OP_UNKNOWN, NULL, "there is no op %.*s", id);
        if (near.n) gr_report_hint(p->l.d, "did you mean \"%.*s\"?", GR_STR_ARG(near));
        return false;
    }
    s->op_id = s->op->id;
    source(s)->op = id;
    ref_vec *by = gr_arena_alloc(p->a, (size_t)s->op->sig.operands_n, sizeof *by);
    if (!by) return oom(p);
    GR_TRY(read_op_words(p, s, by));
    GR_TRY(gr_lex_mark(&p->l, '@'));
    if (!gr_lex_try_word(&p->l, "node")) return gr_lex_expected(&p->l, "node", "a step ends with @ node \"name\"");
    GR_TRY(read_node_name(p, s));
    GR_TRY(flatten(p, s, by, t));
    const gr_sig_tensor *several = s->op->sig.outputs_n == 1 && s->op->sig.outputs[0].variadic ? s->op->sig.outputs : NULL;
    if (!several && results_n != s->op->sig.outputs_n) return complain(p, t, p->l.syntax, "name each output on the left", "another number of results than %.*s has outputs", s->op->id);
    s->results = GR_NEW_N(p->a, gr_flow_ref, results_n);
    if (!s->results) return oom(p);
    for (uint32_t i = 0; i < results_n; i++) {
        char *port = several ? gr_arena_printf(p->a, "%.*s.%u", GR_STR_ARG(several->name), i) : NULL;
        if (several && !port) return oom(p);
        GR_TRY(define(p, results[i], s->node, several ? gr_str_of(port) : s->op->sig.outputs[i].name, &s->results[i]));
    }
    s->results_n = results_n;
    return true;
}

/* ---- blocks with bodies ---- */

static bool read_seq(parser *p, gr_flow_seq *out);

static bool read_body(parser *p, gr_flow_seq **out) {
    *out = GR_NEW(p->a, gr_flow_seq);
    if (!*out) return oom(p);
    if (p->depth > GR_CANVAS_DEPTH_MAX) return gr_lex_expected(&p->l, "bodies nested at most 16 deep", NULL);
    uint32_t outer = p->scope;
    GR_TRY(gr_lex_mark(&p->l, '{'));
    p->scope = ++p->scopes;
    p->depth++;
    bool ok = read_seq(p, *out) && gr_lex_mark(&p->l, '}');
    p->depth--;
    p->scope = outer;
    return ok;
}

static bool push_name(parser *p, str_vec *v, gr_str s) {
    gr_str *slot = GR_PUSH(p->a, v);
    if (!slot) return oom(p);
    *slot = s;
    return true;
}

static bool read_in(parser *p, gr_flow_step *s) {
    str_vec ports = {0};
    ref_vec args = {0};
    if (!gr_lex_try_word(&p->l, "in")) return true;
    do {
        gr_str name;
        gr_flow_ref r, *slot;
        GR_TRY(gr_name_parse(&p->l, "an input's name", &name) && gr_lex_mark(&p->l, '=') && use(p, &r));
        GR_TRY(push_name(p, &ports, name));
        if (!(slot = GR_PUSH(p->a, &args))) return oom(p);
        *slot = r;
    } while (gr_lex_try_mark(&p->l, ','));
    s->ports = ports.v;
    s->args = args.v;
    s->args_n = args.n;
    return true;
}

static bool read_out(parser *p, str_vec *outs, token_vec *results) {
    if (!gr_lex_try_word(&p->l, "out")) return true;
    do {
        gr_str name, value;
        GR_TRY(gr_name_parse(&p->l, "an output's name", &name) && gr_lex_mark(&p->l, '='));
        gr_token t = p->l.now, *slot;
        GR_TRY(gr_lex_value(&p->l, "a value such as %y", &value) && push_name(p, outs, name));
        if (!(slot = GR_PUSH(p->a, results))) return oom(p);
        *slot = t;
    } while (gr_lex_try_mark(&p->l, ','));
    return true;
}

static uint32_t find_name(const gr_str *v, uint32_t n, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eq(v[i], name)) return i;
    return UINT32_MAX;
}

static bool read_carry(parser *p, gr_flow_step *s) {
    s->carry = GR_NEW_N(p->a, uint32_t, s->results_n);
    if (!s->carry) return oom(p);
    for (uint32_t i = 0; i < s->results_n; i++) s->carry[i] = GR_FLOW_NONE;
    if (!gr_lex_try_word(&p->l, "carry")) return true;
    do {
        gr_str out, in;
        gr_token t = p->l.now;
        GR_TRY(gr_name_parse(&p->l, "an output's name", &out) && gr_lex_mark(&p->l, '=') && gr_name_parse(&p->l, "an input's name", &in));
        uint32_t r = find_name(s->outs, s->results_n, out), a = find_name(s->ports, s->args_n, in);
        if (r == UINT32_MAX || a == UINT32_MAX || s->carry[r] != GR_FLOW_NONE) return complain(p, t, p->l.syntax, "write carry OUT=IN with names of out and in", "%.*s cannot be carried so", out);
        s->carry[r] = a;
    } while (gr_lex_try_mark(&p->l, ','));
    return true;
}

/* The key before a body: count of a repeat, question of a branch. */
static bool read_how(parser *p, gr_flow_step *s) {
    if (s->kind == GR_BLOCK_REPEAT) {
        uint64_t n;
        if (!gr_lex_try_word(&p->l, "count")) return gr_lex_expected(&p->l, "count=", NULL);
        GR_TRY(gr_lex_mark(&p->l, '=') && gr_lex_u64(&p->l, "a count", &n));
        if (n > GR_CANVAS_COUNT_MAX) return gr_lex_expected(&p->l, "a count up to 1000000", NULL);
        s->count = (int64_t)n;
    }
    if (s->kind != GR_BLOCK_BRANCH) return true;
    if (!gr_lex_try_word(&p->l, "if")) return gr_lex_expected(&p->l, "if=", NULL);
    GR_TRY(gr_lex_mark(&p->l, '='));
    s->taken = gr_lex_is_word(&p->l, "true");
    if (gr_lex_try_word(&p->l, "true") || gr_lex_try_word(&p->l, "false")) return true;
    return use(p, &s->condition);
}

static bool read_nest(parser *p, gr_flow_step *s) {
    str_vec outs = {0};
    token_vec results = {0};
    GR_TRY(read_node_name(p, s) && read_how(p, s) && read_in(p, s) && read_out(p, &outs, &results));
    s->outs = outs.v;
    s->results = GR_NEW_N(p->a, gr_flow_ref, results.n);
    if (!s->results) return oom(p);
    for (uint32_t i = 0; i < results.n; i++) GR_TRY(define(p, results.v[i], s->node, s->outs[i], &s->results[i]));
    s->results_n = results.n;
    if (s->kind == GR_BLOCK_REPEAT) GR_TRY(read_carry(p, s));
    GR_TRY(read_body(p, &s->body));
    if (s->kind != GR_BLOCK_BRANCH) return true;
    if (!gr_lex_try_word(&p->l, "else")) return gr_lex_expected(&p->l, "else", "a branch has two sides");
    return read_body(p, &s->other);
}

/* ---- steps and the whole ---- */

static bool read_definition(parser *p, gr_flow_step *s, gr_token at, const token_vec *results) {
    static const struct { const char *word; gr_block kind; } starts[] = {{"input", GR_BLOCK_INPUT}, {"constant", GR_BLOCK_CONSTANT}, {"parameter", GR_BLOCK_PARAMETER}};
    for (int i = 0; i < 3; i++) {
        if (!gr_lex_try_word(&p->l, starts[i].word)) continue;
        GR_TRY(start_step(p, s, starts[i].kind, at));
        return results->n == 1 ? read_source(p, s, results->v[0]) : gr_lex_expected(&p->l, "one value on the left", NULL);
    }
    return start_step(p, s, GR_BLOCK_OP, at) && read_op(p, s, results->v, results->n);
}

/* What a failed line should have defined is known as failed, so that its uses are not complained about. */
static bool read_step(parser *p, gr_flow_step *s) {
    static const struct { const char *word; gr_block kind; } starts[] = {
        {"output", GR_BLOCK_OUTPUT}, {"repeat", GR_BLOCK_REPEAT}, {"branch", GR_BLOCK_BRANCH}, {"call", GR_BLOCK_CALL}};
    gr_token at = p->l.now, *slot;
    token_vec results = {0};
    for (int i = 0; i < 4; i++) {
        if (!gr_lex_try_word(&p->l, starts[i].word)) continue;
        GR_TRY(start_step(p, s, starts[i].kind, at));
        return starts[i].kind == GR_BLOCK_OUTPUT ? read_output(p, s) : read_nest(p, s);
    }
    do {
        gr_token t = p->l.now;
        gr_str name;
        GR_TRY(gr_lex_value(&p->l, "a step: %value = ..., output, repeat, branch or call", &name));
        if (!(slot = GR_PUSH(p->a, &results))) return oom(p);
        *slot = t;
    } while (gr_lex_try_mark(&p->l, ','));
    if (gr_lex_mark(&p->l, '=') && read_definition(p, s, at, &results)) return true;
    for (uint32_t i = 0; i < results.n; i++)
        if (!gr_map_get(&p->names, results.v[i].text, NULL) && !gr_map_put(p->a, &p->names, results.v[i].text, GR_FLOW_NONE)) return oom(p);
    return false;
}

static bool read_seq(parser *p, gr_flow_seq *out) {
    GR_VEC(gr_flow_step) steps = {0};
    gr_lex_skip_lines(&p->l);
    while (!gr_lex_is_mark(&p->l, '}') && p->l.now.kind != GR_TOKEN_END) {
        gr_flow_step *s = GR_PUSH(p->a, &steps);
        if (!s) return oom(p);
        if ((!read_step(p, s) || !gr_lex_line(&p->l))) {
            if (p->l.errors >= ERRORS_MAX || p->l.d->out_of_memory) return false;
            gr_lex_recover(&p->l);
        }
        if (steps.n > GR_CANVAS_NODES_MAX) return gr_lex_expected(&p->l, "at most 100000 steps", NULL);
    }
    out->steps = steps.v;
    out->steps_n = steps.n;
    return true;
}

bool gr_flow_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, const gr_catalog *catalog, gr_flow *out) {
    parser p = {.a = a, .catalog = catalog};
    gr_head h = {0};
    bool was = true;
    *out = (gr_flow){0};
    gr_lex_init(&p.l, a, d, GR_D_FLOW_SYNTAX, document, text);
    gr_lex_skip_lines(&p.l);
    if (!gr_lex_try_word(&p.l, "flow")) return gr_lex_expected(&p.l, "flow NAME {", NULL);
    GR_TRY(gr_name_parse(&p.l, "the flow's name", &out->name) && gr_lex_mark(&p.l, '{'));
    gr_lex_skip_lines(&p.l);
    while (was && p.l.errors == 0) gr_head_parse(&p.l, &h, &was);
    bool ok = p.l.errors == 0 && read_seq(&p, &out->main) && gr_lex_mark(&p.l, '}');
    gr_lex_skip_lines(&p.l);
    if (ok && p.l.now.kind != GR_TOKEN_END) gr_lex_expected(&p.l, "the end of the text", NULL);
    out->document = h.document;
    out->tier = h.tier, out->tolerance = h.tolerance, out->guarantee = h.guarantee;
    out->seed = h.seed, out->budget_gpu = h.budget_gpu, out->budget_cpu = h.budget_cpu, out->budget_cpu_seconds = h.budget_cpu_seconds;
    out->values = p.values.v;
    out->values_n = p.values.n;
    return ok && p.l.errors == 0 && !d->out_of_memory && gr_flow_check(d, out, true);
}
