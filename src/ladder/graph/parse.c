/* The text of docs/graph.md. Types are inferred by the contract; where the text gives them they must
 * agree. Stops at the first error of a line and goes on with the next line. */
#include "ladder/flow/head.h"
#include "ladder/graph/graph_int.h"

enum { ERRORS_MAX = 50, OPERANDS_MAX = 65536, FILL_MAX = 1 << 26 /* elements of a constant written as one number */ };

typedef struct parser {
    gr_lex l;
    gr_arena *a;
    const gr_catalog *catalog;
    gr_graph *g;
    gr_map names, outputs, symbols;
    GR_VEC(gr_graph_symbol) symbol;
    GR_VEC(gr_place) symbol_at;
} parser;

typedef GR_VEC(gr_token) token_vec;
typedef GR_VEC(gr_value_id) id_vec;
typedef GR_VEC(gr_arg) arg_vec;
typedef GR_VEC(gr_str) str_vec;

static bool oom(parser *p) {
    p->l.errors++;
    return gr_report_oom(p->l.d);
}

static bool complain(parser *p, gr_token t, gr_diag_name name, const char *hint, const char *what, gr_str s) {
    p->l.errors++;
    return gr_report(p->l.d, name, gr_lex_place(&p->l, t), hint, what, s.n > 120 ? 120 : (int)s.n, s.p);
}

/* ---- types ------------------------------------------------------------------------ */

/* "8", "n = 8", "n - 6 = 8", behind "<= " when bounded. */
static bool read_dim(parser *p, gr_dim *out) {
    if (p->l.now.kind == GR_TOKEN_WORD) {
        gr_token t = p->l.now;
        GR_TRY(gr_lex_word(&p->l, "a symbol", &out->base));
        if (!gr_symbol_valid(out->base)) return complain(p, t, GR_D_GRAPH_TYPE_BAD, "names have letters, digits and _", "'%.*s' is no name of a dimension", out->base);
        bool minus = gr_lex_is_mark(&p->l, '-');
        if (minus || gr_lex_is_mark(&p->l, '+')) {
            uint64_t add;
            gr_lex_take(&p->l);
            GR_TRY(gr_lex_u64(&p->l, "what is added", &add));
            if (add > (uint64_t)1 << 62) return complain(p, t, GR_D_GRAPH_TYPE_BAD, NULL, "the offset of '%.*s' is too large", out->base);
            out->add = minus ? -(int64_t)add : (int64_t)add;
        }
        GR_TRY(gr_lex_mark(&p->l, '='));
    }
    gr_token t = p->l.now;
    GR_TRY(gr_lex_u64(&p->l, "a size", &out->n));
    return out->n <= (uint64_t)1 << 62 || complain(p, t, GR_D_GRAPH_TYPE_BAD, NULL, "the size %.*s is over 2^62", t.text);
}

static bool read_type(parser *p, gr_type *out) {
    gr_token t = p->l.now;
    gr_str word;
    uint64_t count;
    *out = (gr_type){0};
    GR_TRY(gr_lex_word(&p->l, "a type such as f32[4]", &word));
    out->dtype = gr_dtype_find(word);
    if (!out->dtype) return complain(p, t, GR_D_GRAPH_TYPE_BAD, "f16, f32, f64, i8, u8, i32, u32, i64, u64, bool", "there is no dtype '%.*s'", word);
    GR_TRY(gr_lex_mark(&p->l, '['));
    while (!gr_lex_try_mark(&p->l, ']')) {
        if (out->rank && !gr_lex_mark(&p->l, ',')) return false;
        if (!out->rank && gr_lex_try_mark(&p->l, '<')) {
            GR_TRY(gr_lex_mark(&p->l, '='));
            out->bounded = true;
        }
        if (out->rank == GR_RANK_MAX) return complain(p, t, GR_D_GRAPH_TYPE_BAD, "at most 8 dimensions", "%.*s[...] has over 8 dimensions", word);
        GR_TRY(read_dim(p, &out->dim[out->rank++]));
    }
    return gr_type_count(out, &count) || complain(p, t, GR_D_GRAPH_TYPE_BAD, "at most 2^62 elements", "%.*s[...] has too many elements", word);
}

/* A symbol's size: declared, or by the first type of an input that names it. */
static bool see_symbol(parser *p, gr_token t, gr_str name, uint64_t n) {
    uint32_t at;
    if (gr_map_get(&p->symbols, name, &at)) {
        if (p->symbol.v[at].n == n) return true;
        p->l.errors++;
        gr_report(p->l.d, GR_D_GRAPH_SYMBOL_CONFLICT, gr_lex_place(&p->l, t), "give both the same size, or another name", "%.*s is %llu here and %llu before", GR_STR_ARG(name),
                  (unsigned long long)n, (unsigned long long)p->symbol.v[at].n);
        gr_report_related(p->l.d, p->symbol_at.v[at], "%llu here", (unsigned long long)p->symbol.v[at].n);
        return false;
    }
    gr_graph_symbol *s = GR_PUSH(p->a, &p->symbol);
    gr_place *place = GR_PUSH(p->a, &p->symbol_at);
    if (!s || !place || !gr_map_put(p->a, &p->symbols, name, p->symbol.n - 1)) return oom(p);
    *s = (gr_graph_symbol){name, n};
    *place = gr_lex_place(&p->l, t);
    return true;
}

static bool see_symbols(parser *p, gr_token t, const gr_type *type) {
    for (uint32_t i = 0; i < type->rank; i++) {
        const gr_dim *d = &type->dim[i];
        if (!d->base.n) continue;
        if (d->add > 0 && (uint64_t)d->add > d->n) return complain(p, t, GR_D_GRAPH_TYPE_BAD, NULL, "the dimension of '%.*s' is less than its offset", d->base);
        GR_TRY(see_symbol(p, t, d->base, d->n - (uint64_t)d->add));
    }
    return true;
}

static bool read_symbol(parser *p) {
    gr_str name;
    uint64_t n;
    gr_token t = p->l.now;
    GR_TRY(gr_lex_word(&p->l, "a symbol's name", &name));
    if (!gr_symbol_valid(name)) return complain(p, t, GR_D_GRAPH_SYNTAX, "names have letters, digits and _", "'%.*s' is no name of a dimension", name);
    if (gr_map_get(&p->symbols, name, NULL)) return complain(p, t, GR_D_GRAPH_NAME_TWICE, NULL, "the symbol %.*s is declared twice", name);
    return gr_lex_mark(&p->l, '=') && gr_lex_u64(&p->l, "a size", &n) && see_symbol(p, t, name, n) && gr_lex_line(&p->l);
}

/* ---- values ------------------------------------------------------------------------ */

static bool is_free(parser *p, gr_token t) {
    if (!gr_map_get(&p->names, t.text, NULL)) return true;
    return complain(p, t, GR_D_GRAPH_NAME_TWICE, "every value has one name", "%%%.*s is defined twice", t.text);
}

/* The builder has not renamed it: all names go through here, and equal ones are complained about. */
static bool enter(parser *p, gr_token t, gr_value_id v) {
    GR_TRY(is_free(p, t));
    if (v == GR_NO_VALUE || !gr_map_put(p->a, &p->names, t.text, v)) return oom(p);
    return true;
}

static bool read_input(parser *p, gr_token result, gr_source source) {
    gr_str node;
    gr_type type;
    GR_TRY(gr_lex_string(&p->l, "the canvas node's name in quotes", &node));
    if (!node.n) return complain(p, result, GR_D_GRAPH_SYNTAX, "write the canvas node's id", "the input's name is empty%.*s", node);
    GR_TRY(gr_lex_mark(&p->l, ':'));
    gr_token t = p->l.now;
    GR_TRY(read_type(p, &type) && see_symbols(p, t, &type));
    gr_str name = gr_graph_unique(p->a, p->g, result.text), input = gr_str_dup(p->a, node);
    bool on_disk = source == GR_SOURCE_INPUT && gr_lex_try_word(&p->l, "stream");
    if (!name.p || !input.p) return oom(p);
    return enter(p, result, gr_graph_append_value(p->a, p->g, (gr_graph_value){.name = name, .type = type, .source = source, .input = input, .on_disk = on_disk}));
}

/* ---- constants ---------------------------------------------------------------------- */

static bool fits(gr_dtype t, const gr_value *v) {
    if (gr_dtype_is_float(t)) return v->kind != GR_V_BOOL;
    if (v->kind == GR_V_BOOL) return t == GR_DTYPE_BOOL;
    if (v->kind == GR_V_UINT) return t == GR_DTYPE_U64;
    if (v->kind != GR_V_INT || t == GR_DTYPE_BOOL) return false;
    uint32_t bits = gr_dtype_size(t) * 8;
    if (gr_dtype_is_signed(t)) return bits == 64 || (v->i >= -((int64_t)1 << (bits - 1)) && v->i < (int64_t)1 << (bits - 1));
    return v->i >= 0 && (bits == 64 || v->i < (int64_t)1 << bits);
}

static bool read_element(parser *p, gr_value *out) {
    gr_token t = p->l.now;
    if (t.kind == GR_TOKEN_WORD && (gr_lex_is_word(&p->l, "true") || gr_lex_is_word(&p->l, "false"))) *out = (gr_value){.kind = GR_V_BOOL, .b = t.text.p[0] == 't'};
    else if (t.kind != GR_TOKEN_NUMBER || !gr_number_parse(t.text, out)) return gr_lex_expected(&p->l, "a number, true or false", NULL);
    gr_lex_take(&p->l);
    return true;
}

static bool store(parser *p, gr_token t, gr_array *x, uint64_t i, const gr_value *v) {
    if (!fits(x->dtype, v)) return complain(p, t, GR_D_GRAPH_CONSTANT_BAD, "write a number that the dtype holds", "the element '%.*s' does not fit the constant's dtype", t.text);
    if (v->kind == GR_V_FLOAT) gr_array_set_f64(x, i, v->f);
    else if (gr_dtype_is_float(x->dtype)) gr_array_set_f64(x, i, v->kind == GR_V_INT ? (double)v->i : (double)v->u);
    else gr_array_set_i64(x, i, v->kind == GR_V_BOOL ? v->b : v->kind == GR_V_INT ? v->i : (int64_t)v->u);
    return true;
}

typedef struct element { gr_token t; gr_value v; } element;
typedef GR_VEC(element) element_vec;

static bool read_elements(parser *p, gr_arena *scratch, element_vec *v, bool *list) {
    *list = gr_lex_try_mark(&p->l, '[');
    if (*list) gr_lex_skip_lines(&p->l);
    if (*list && gr_lex_try_mark(&p->l, ']')) return true;
    do {
        gr_lex_skip_lines(&p->l);
        element *e = GR_PUSH(scratch, v);
        if (!e) return oom(p);
        e->t = p->l.now;
        GR_TRY(read_element(p, &e->v));
    } while (*list && gr_lex_try_mark(&p->l, ','));
    if (*list) gr_lex_skip_lines(&p->l);
    return !*list || gr_lex_mark(&p->l, ']');
}

/* One number stands for every element. */
static bool make_constant(parser *p, gr_token result, const element_vec *v, bool list, const gr_type *type) {
    uint64_t dims[GR_RANK_MAX], n;
    gr_array x;
    for (uint32_t i = 0; i < type->rank; i++) dims[i] = type->dim[i].n;
    gr_type_count(type, &n);
    if (list ? v->n != n : n > FILL_MAX) return complain(p, result, GR_D_GRAPH_CONSTANT_BAD, "give as many elements as the type has, or one number for all", "%%%.*s has another number of elements than its type", result.text);
    for (uint32_t i = 0; i < type->rank; i++)
        if (type->dim[i].base.n || type->bounded) return complain(p, result, GR_D_GRAPH_CONSTANT_BAD, "write the size alone", "%%%.*s is a constant: its dimensions are numbers", result.text);
    if (!gr_array_new(p->a, p->l.d, type->dtype, dims, type->rank, &x)) return p->l.errors++, false;
    for (uint64_t i = 0; i < n; i++) {
        const element *e = &v->v[list ? i : 0];
        GR_TRY(store(p, e->t, &x, i, &e->v));
    }
    gr_str name = gr_graph_unique(p->a, p->g, result.text);
    if (!name.p) return oom(p);
    return enter(p, result, gr_graph_append_value(p->a, p->g, (gr_graph_value){.name = name, .type = *type, .source = GR_SOURCE_CONSTANT, .constant = x}));
}

static bool read_constant(parser *p, gr_token result) {
    gr_arena scratch = {0};
    element_vec v = {0};
    gr_type type = {0};
    bool list, ok = read_elements(p, &scratch, &v, &list) && gr_lex_mark(&p->l, ':') && read_type(p, &type) && make_constant(p, result, &v, list, &type);
    gr_arena_free(&scratch);
    return ok;
}

/* ---- nodes ---------------------------------------------------------------------------- */

static bool is_absent(const gr_lex *l) { return gr_lex_is_word(l, "_"); }

static bool read_operands(parser *p, id_vec *args) {
    while (p->l.now.kind == GR_TOKEN_VALUE || is_absent(&p->l)) {
        gr_token t = gr_lex_take(&p->l);
        gr_value_id *slot = GR_PUSH(p->a, args);
        if (!slot) return oom(p);
        *slot = GR_NO_VALUE;
        if (t.kind == GR_TOKEN_VALUE && !gr_map_get(&p->names, t.text, slot)) return complain(p, t, GR_D_GRAPH_NAME_UNKNOWN, "define it in an earlier line", "%%%.*s is not defined", t.text);
        if (t.kind == GR_TOKEN_VALUE && *slot == GR_NO_VALUE) return false; /* its line failed and was reported */
        if (args->n > OPERANDS_MAX) return complain(p, t, GR_D_GRAPH_TOO_LARGE, NULL, "over 65536 operands at %%%.*s", t.text);
        if (!gr_lex_try_mark(&p->l, ',')) return true;
    }
    return args->n == 0 || gr_lex_expected(&p->l, "a value", NULL);
}

static bool read_params(parser *p, arg_vec *params) {
    while (p->l.now.kind == GR_TOKEN_WORD) {
        gr_arg *arg = GR_PUSH(p->a, params);
        if (!arg) return oom(p);
        arg->at = gr_lex_place(&p->l, p->l.now);
        GR_TRY(gr_lex_word(&p->l, "a parameter", &arg->name) && gr_lex_mark(&p->l, '='));
        GR_TRY(arg->value = gr_lex_json(&p->l));
    }
    return true;
}

/* Types behind ':' of all results, "_" for one that is absent. Optional. */
static bool read_types(parser *p, gr_type *types, gr_token *at, uint32_t n, bool *given) {
    *given = gr_lex_try_mark(&p->l, ':');
    for (uint32_t i = 0; *given && i < n; i++) {
        if (i) GR_TRY(gr_lex_mark(&p->l, ','));
        at[i] = p->l.now;
        types[i] = (gr_type){0};
        if (is_absent(&p->l)) gr_lex_take(&p->l);
        else GR_TRY(read_type(p, &types[i]));
    }
    return true;
}

typedef struct marks { bool backward; uint64_t again; } marks;

static bool read_marks(parser *p, marks *m) {
    m->backward = gr_lex_try_word(&p->l, "backward");
    if (!gr_lex_try_word(&p->l, "again")) return true;
    gr_token t = p->l.now;
    GR_TRY(gr_lex_u64(&p->l, "the number of the recomputation", &m->again));
    return m->again <= UINT32_MAX || complain(p, t, GR_D_GRAPH_SYNTAX, "number recomputations from 1", "%.*s is too large", t.text);
}

/* "@ node "mean", "average" backward again 1": what it is the same as, and which part of the work it is. */
static bool read_nodes(parser *p, gr_str fallback, str_vec *names, marks *m) {
    gr_str *slot;
    if (gr_lex_try_mark(&p->l, '@')) {
        if (!gr_lex_try_word(&p->l, "node")) return gr_lex_expected(&p->l, "node", "a line ends with @ node \"name\"");
        do {
            if (!(slot = GR_PUSH(p->a, names))) return oom(p);
            gr_token t = p->l.now;
            GR_TRY(gr_lex_string(&p->l, "a node's name in quotes", slot));
            if (!slot->n) return complain(p, t, GR_D_GRAPH_SYNTAX, "write the canvas node's id", "a node's name is empty%.*s", *slot);
        } while (gr_lex_try_mark(&p->l, ','));
        return read_marks(p, m);
    }
    if (!(slot = GR_PUSH(p->a, names))) return oom(p);
    *slot = fallback;
    return true;
}

static bool same_symbols(const gr_type *x, const gr_type *y) {
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dim[i].base.n && (!gr_str_eq(x->dim[i].base, y->dim[i].base) || x->dim[i].add != y->dim[i].add)) return false;
    return true;
}

static bool check_type(parser *p, gr_token t, gr_token result, const gr_type *text, const gr_type *inferred) {
    if (gr_type_equal(text, inferred) && same_symbols(text, inferred)) return true;
    gr_buf want = {0}, got = {0};
    gr_type_print(&want, inferred);
    gr_type_print(&got, text);
    p->l.errors++;
    gr_report(p->l.d, GR_D_GRAPH_TYPE_MISMATCH, gr_lex_place(&p->l, t), NULL, "%%%.*s is written as %s and is %s", GR_STR_ARG(result.text), got.p ? got.p : "?", want.p ? want.p : "?");
    gr_report_hint(p->l.d, "write %s, or leave the type out", want.p ? want.p : "the inferred type");
    gr_buf_free(&want);
    gr_buf_free(&got);
    return false;
}

static gr_str first_name(const token_vec *results) {
    for (uint32_t i = 0; i < results->n; i++)
        if (results->v[i].kind == GR_TOKEN_VALUE) return results->v[i].text;
    return GR_STR("node");
}

static const gr_op *find_op(parser *p) {
    gr_token t = p->l.now;
    gr_str id;
    GR_TRY_NULL(gr_lex_word(&p->l, "an op's name, input, parameter or constant", &id));
    const gr_op *op = gr_catalog_find(p->catalog, id);
    if (op) return op;
    gr_str near = gr_catalog_near(p->catalog, id);
    complain(p, t, GR_D_GRAPH_OP_UNKNOWN, "load the folder that holds it", "there is no op %.*s", id);
    if (near.n) gr_report_hint(p->l.d, "did you mean \"%.*s\"?", GR_STR_ARG(near));
    return NULL;
}

static bool finish_node(parser *p, const gr_op *op, const token_vec *results, const id_vec *args, const arg_vec *params, const str_vec *nodes, const marks *m,
                        const gr_type *types, const gr_token *types_at, bool typed, gr_place op_at) {
    gr_str *names = GR_NEW_N(p->a, gr_str, results->n);
    gr_value_id *made;
    uint32_t n, errors = p->l.d->errors;
    if (!names) return oom(p);
    for (uint32_t i = 0; i < results->n; i++) names[i] = results->v[i].kind == GR_TOKEN_VALUE ? results->v[i].text : (gr_str){0};
    if (!gr_graph_append(p->a, p->l.d, p->g, op, args->v, args->n, params->v, params->n, nodes->v[0], results->n ? gr_lex_place(&p->l, results->v[0]) : op_at, names, results->n, &made, &n)) {
        p->l.errors += p->l.d->errors > errors || p->l.d->out_of_memory;
        return false;
    }
    gr_graph_node *node = &p->g->nodes[p->g->nodes_n - 1];
    node->also = nodes->v + 1;
    node->also_n = nodes->n - 1;
    node->backward = m->backward;
    node->again = (uint32_t)m->again;
    if (n != results->n) {
        p->l.errors++;
        gr_report(p->l.d, GR_D_GRAPH_RESULTS, node->at, "name every result on the left: _ for one that is absent, () for none", "the call gives %u results, %u stand before '='", n, results->n);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool present = made[i] != GR_NO_VALUE;
        if (present != (results->v[i].kind == GR_TOKEN_VALUE)) return complain(p, results->v[i], GR_D_GRAPH_RESULTS, "name what is there, write _ for what is absent", "'%.*s' is not what the call gives", results->v[i].text);
        if (!present) continue;
        GR_TRY(enter(p, results->v[i], made[i]));
        if (typed) GR_TRY(check_type(p, types_at[i], results->v[i], &types[i], &p->g->values[made[i]].type));
    }
    return true;
}

static bool read_node(parser *p, const token_vec *results) {
    id_vec args = {0};
    arg_vec params = {0};
    str_vec nodes = {0};
    marks m = {0};
    bool typed;
    gr_type *types = GR_NEW_N(p->a, gr_type, results->n);
    gr_token *types_at = GR_NEW_N(p->a, gr_token, results->n);
    if (!types || !types_at) return oom(p);
    gr_place at = gr_lex_place(&p->l, p->l.now);
    const gr_op *op = find_op(p);
    return op && read_operands(p, &args) && read_params(p, &params) && read_types(p, types, types_at, results->n, &typed) &&
           read_nodes(p, first_name(results), &nodes, &m) && finish_node(p, op, results, &args, &params, &nodes, &m, types, types_at, typed, at);
}

/* ---- lines ------------------------------------------------------------------------------ */

static bool read_output(parser *p) {
    gr_token t = p->l.now;
    gr_str name, value;
    gr_value_id v;
    GR_TRY(gr_lex_string(&p->l, "the output's name in quotes", &name));
    if (gr_map_get(&p->outputs, name, NULL)) return complain(p, t, GR_D_GRAPH_NAME_TWICE, "give it another name", "there are two outputs \"%.*s\"", name);
    if (!gr_map_put(p->a, &p->outputs, name, 0)) return oom(p);
    t = p->l.now;
    GR_TRY(gr_lex_value(&p->l, "a value such as %y", &value));
    if (!gr_map_get(&p->names, value, &v)) return complain(p, t, GR_D_GRAPH_NAME_UNKNOWN, "define it in an earlier line", "%%%.*s is not defined", value);
    if (v == GR_NO_VALUE) return false; /* its line failed and was reported */
    return gr_graph_add_output(p->a, p->g, name, v) || oom(p);
}

/* "%a, _, %b =", or "() =" of a call that gives nothing. */
static bool read_results(parser *p, token_vec *results) {
    if (gr_lex_try_mark(&p->l, '(')) return gr_lex_mark(&p->l, ')') && gr_lex_mark(&p->l, '=');
    do {
        gr_token t = p->l.now, *slot;
        if (t.kind != GR_TOKEN_VALUE && !is_absent(&p->l)) return gr_lex_expected(&p->l, "a line: %value = ..., or output", NULL);
        gr_lex_take(&p->l);
        if (t.kind == GR_TOKEN_VALUE) GR_TRY(is_free(p, t));
        if (!(slot = GR_PUSH(p->a, results))) return oom(p);
        *slot = t;
    } while (gr_lex_try_mark(&p->l, ','));
    return gr_lex_mark(&p->l, '=');
}

static bool read_definition(parser *p, const token_vec *results) {
    static const struct { const char *word; gr_source source; } starts[4] = {{"input", GR_SOURCE_INPUT}, {"parameter", GR_SOURCE_PARAMETER}, {"constant", GR_SOURCE_CONSTANT}, {"state", GR_SOURCE_STATE}};
    for (int i = 0; i < 4; i++) {
        if (!gr_lex_try_word(&p->l, starts[i].word)) continue;
        if (results->n != 1 || results->v[0].kind != GR_TOKEN_VALUE) return gr_lex_expected(&p->l, "one value before '='", NULL);
        return starts[i].source == GR_SOURCE_CONSTANT ? read_constant(p, results->v[0]) : read_input(p, results->v[0], starts[i].source);
    }
    return read_node(p, results);
}

/* What a failed line should have defined is known as failed, so that its uses are not complained about. */
static bool read_line(parser *p) {
    token_vec results = {0};
    if (gr_lex_try_word(&p->l, "output")) return read_output(p);
    if (read_results(p, &results) && read_definition(p, &results)) return true;
    for (uint32_t i = 0; i < results.n; i++)
        if (results.v[i].kind == GR_TOKEN_VALUE && !gr_map_get(&p->names, results.v[i].text, NULL) && !gr_map_put(p->a, &p->names, results.v[i].text, GR_NO_VALUE)) return oom(p);
    return false;
}

static bool read_lines(parser *p) {
    gr_lex_skip_lines(&p->l);
    while (!gr_lex_is_mark(&p->l, '}') && p->l.now.kind != GR_TOKEN_END) {
        if (read_line(p) && gr_lex_line(&p->l)) continue;
        if (p->l.errors >= ERRORS_MAX || p->l.d->out_of_memory) return false;
        gr_lex_recover(&p->l);
    }
    gr_lex_mark(&p->l, '}');
    gr_lex_skip_lines(&p->l);
    return p->l.now.kind == GR_TOKEN_END || gr_lex_expected(&p->l, "the end of the text", NULL);
}

static bool read_header(parser *p) {
    gr_head h = {0};
    bool was = true;
    if (!gr_lex_try_word(&p->l, "graph")) return gr_lex_expected(&p->l, "graph NAME {", NULL);
    GR_TRY(gr_name_parse(&p->l, "the graph's name", &p->g->name) && gr_lex_mark(&p->l, '{'));
    gr_lex_skip_lines(&p->l);
    while (was) {
        GR_TRY(gr_head_parse(&p->l, &h, &was));
        if (was || !gr_lex_try_word(&p->l, "symbol")) continue;
        GR_TRY(read_symbol(p));
        was = true;
    }
    gr_graph *g = p->g;
    g->document = h.document;
    g->tier = h.tier, g->tolerance = h.tolerance, g->guarantee = h.guarantee;
    g->seed = h.seed, g->budget_gpu = h.budget_gpu, g->budget_cpu = h.budget_cpu, g->budget_cpu_seconds = h.budget_cpu_seconds;
    return true;
}

bool gr_graph_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, const gr_catalog *catalog, gr_graph *out) {
    parser p = {.a = a, .catalog = catalog, .g = out};
    uint32_t errors = d->errors;
    *out = (gr_graph){0};
    gr_lex_init(&p.l, a, d, GR_D_GRAPH_SYNTAX, document, text);
    gr_lex_skip_lines(&p.l);
    bool ok = read_header(&p) && read_lines(&p);
    out->symbols = p.symbol.v;
    out->symbols_n = p.symbol.n;
    if (ok && d->errors == errors && !out->tier) gr_report(d, GR_D_CANVAS_TIER_MISSING, (gr_place){.document = document, .line = 1, .col = 1}, "add a line: tier debug, tier prod or tier fast", "the graph declares no determinism tier, and there is no default");
    if (ok && d->errors == errors && !out->outputs_n) gr_report(d, GR_D_GRAPH_NO_OUTPUT, gr_lex_place(&p.l, p.l.now), "add a line: output \"result\" %value", "the graph has no output");
    return ok && p.l.errors == 0 && d->errors == errors && !d->out_of_memory;
}
