/* The check of an op document: claims, bodies, fragments, the example. */
#include "contract/contract_int.h"

typedef struct op_checker {
    gr_arena *a;
    gr_diags *d;
    const gr_op *op;
    bool ok;
} op_checker;

static gr_place place_of(op_checker *c, const char *key) {
    const gr_value *root = c->op->source->doc.root, *v = gr_value_get(root, key);
    return gr_value_place(&c->op->source->doc, v ? v : root, c->a);
}

/* ---- tolerance ---- */

static void check_tolerance(op_checker *c) {
    static const struct {
        gr_tolerance strict, loose;
    } may[] = {[GR_CATEGORY_SELECTION] = {GR_TOLERANCE_EXACT, GR_TOLERANCE_EXACT},
               [GR_CATEGORY_MOVEMENT] = {GR_TOLERANCE_EXACT, GR_TOLERANCE_EXACT},
               [GR_CATEGORY_INTEGER] = {GR_TOLERANCE_EXACT, GR_TOLERANCE_EXACT},
               [GR_CATEGORY_COMPARISON] = {GR_TOLERANCE_EXACT, GR_TOLERANCE_EXACT},
               [GR_CATEGORY_POINTWISE] = {GR_TOLERANCE_TIGHT, GR_TOLERANCE_DEFAULT},
               [GR_CATEGORY_TRANSCENDENTAL] = {GR_TOLERANCE_TIGHT, GR_TOLERANCE_DEFAULT},
               [GR_CATEGORY_REDUCTION] = {GR_TOLERANCE_TIGHT, GR_TOLERANCE_DEFAULT},
               [GR_CATEGORY_LOSSY] = {GR_TOLERANCE_LOOSE, GR_TOLERANCE_LOOSE}};
    const gr_op *op = c->op;
    gr_tolerance t = op->tolerance;
    if (t < may[op->category].strict) {
        c->ok = gr_report(c->d, GR_D_CONTRACT_TOLERANCE_TOO_STRICT, place_of(c, "tolerance"), NULL,
                          "%.*s claims %s, but the category %s can keep %s at best", GR_STR_ARG(op->id), gr_tolerance_name(t),
                          gr_category_name(op->category), gr_tolerance_name(may[op->category].strict));
        gr_report_hint(c->d, "claim %s", gr_tolerance_name(may[op->category].strict));
    } else if (t > may[op->category].loose) {
        c->ok = gr_report(c->d, GR_D_CONTRACT_TOLERANCE_TOO_LOOSE, place_of(c, "tolerance"), NULL,
                          "%.*s claims %s, but the category %s keeps %s", GR_STR_ARG(op->id), gr_tolerance_name(t),
                          gr_category_name(op->category), gr_tolerance_name(may[op->category].loose));
        gr_report_hint(c->d, "claim %s, or the category that the op belongs to", gr_tolerance_name(may[op->category].loose));
    } else if ((t == GR_TOLERANCE_EXACT || t == GR_TOLERANCE_LOOSE) && !op->tolerance_reason.n) {
        c->ok = gr_report(c->d, GR_D_CONTRACT_REASON_MISSING, place_of(c, "tolerance"),
                          "write tolerance = { class = \"...\", reason = \"...\" }", "the claim %s needs a reason", gr_tolerance_name(t));
    }
}

/* A reduction is tight only in a fixed order. */
static void check_order(op_checker *c) {
    const gr_op *op = c->op;
    for (uint32_t i = 0; i < op->kernels_n; i++)
        if (op->category == GR_CATEGORY_REDUCTION && op->tolerance == GR_TOLERANCE_TIGHT && op->kernels[i].order == GR_ORDER_UNORDERED)
            c->ok = gr_report(c->d, GR_D_CONTRACT_TOLERANCE_TOO_STRICT, place_of(c, "tolerance"), "claim default",
                              "%.*s claims tight, but its kernel %.*s adds in no fixed order", GR_STR_ARG(op->id),
                              GR_STR_ARG(op->kernels[i].file));
}

/* ---- fragments ---- */

typedef struct values {
    GR_VEC(gr_str) names;
    gr_map known;
} values;

enum { ALWAYS = 1, UNDER_A_CONDITION }; /* entries of known */

static bool define_as(op_checker *c, values *v, gr_str name, uint32_t how) { return gr_map_put(c->a, &v->known, name, how) || gr_report_oom(c->d); }
static bool define(op_checker *c, values *v, gr_str name) { return define_as(c, v, name, ALWAYS); }

static void check_params(op_checker *c, const gr_piece *src, const gr_frag_node *n) {
    gr_scope scope = {.sig = &c->op->sig, .outputs = true};
    for (uint32_t i = 0; i < n->params_n; i++) /* a bare unknown word is an enum word of the called op */
        if (!n->params[i].word.n && !gr_expr_check(c->d, src, &scope, n->params[i].expr, GR_K_ANY)) c->ok = false;
    if (n->when && !gr_expr_check(c->d, src, &scope, n->when, GR_K_BOOL)) c->ok = false;
    if (!n->constant) return;
    gr_kind_of k = gr_expr_check(c->d, src, &scope, n->constant, GR_K_ANY);
    bool number = k == GR_K_INT || k == GR_K_FLOAT || k == GR_K_NUMBER || k == GR_K_BOOL;
    if (k && !number)
        gr_report(c->d, GR_D_CONTRACT_EXPRESSION_KIND, gr_piece_place(src, n->constant->offset), NULL, "a constant is one number");
    c->ok = c->ok && number;
    int p = gr_sig_find_param(&c->op->sig, n->constant_dtype);
    bool dtype = gr_dtype_find(n->constant_dtype) || gr_sig_is_dtype_var(&c->op->sig, n->constant_dtype) ||
                 (p >= 0 && c->op->sig.params[p].kind == GR_PARAM_DTYPE);
    if (!dtype)
        c->ok = gr_report(c->d, GR_D_CONTRACT_DTYPE_UNKNOWN, gr_piece_place(src, n->offset), NULL,
                          "%.*s is neither a dtype nor a dtype variable", GR_STR_ARG(n->constant_dtype));
}

static void undefined(op_checker *c, const gr_piece *src, const gr_frag_node *n, gr_str name) {
    c->ok = gr_report(c->d, GR_D_CONTRACT_VALUE_UNDEFINED, gr_piece_place(src, n->offset),
                      "define it in a line above, or use an operand's name", "%%%.*s is used before it is defined", GR_STR_ARG(name));
}

static void check_nodes(op_checker *c, const gr_piece *src, const gr_frag *f, values *v) {
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        const gr_frag_node *n = &f->nodes[i];
        for (uint32_t k = 0; k < n->args_n; k++)
            if (!gr_map_get(&v->known, n->args[k], NULL)) undefined(c, src, n, n->args[k]);
        check_params(c, src, n);
        for (uint32_t k = 0; k < n->results_n; k++) {
            uint32_t how = 0;
            if (gr_map_get(&v->known, n->results[k], &how) && (how != UNDER_A_CONDITION || !n->when))
                c->ok = gr_report(c->d, GR_D_CONTRACT_VALUE_REPEATED, gr_piece_place(src, n->offset),
                                  "give the second one another name, or both of them conditions that exclude each other",
                                  "%%%.*s is defined already", GR_STR_ARG(n->results[k]));
            else if (!how) c->ok = define_as(c, v, n->results[k], n->when ? UNDER_A_CONDITION : ALWAYS) && c->ok;
        }
    }
}

static void need(op_checker *c, const gr_piece *src, const values *v, gr_str prefix, gr_str name, const char *hint) {
    char *full = gr_arena_printf(c->a, "%.*s%.*s", GR_STR_ARG(prefix), GR_STR_ARG(name));
    if (!full) {
        c->ok = gr_report_oom(c->d);
        return;
    }
    if (!gr_map_get(&v->known, gr_str_of(full), NULL))
        c->ok = gr_report(c->d, GR_D_CONTRACT_RESULT_MISSING, gr_piece_place(src, 0), hint, "%%%s is not defined", full);
}

static void check_graph_body(op_checker *c) {
    const gr_sig *s = &c->op->sig;
    values v = {0};
    for (uint32_t i = 0; i < s->operands_n; i++) c->ok = define(c, &v, s->operands[i].name) && c->ok;
    for (uint32_t i = 0; i < s->outputs_n; i++)
        if (gr_sig_find_operand(s, s->outputs[i].name) >= 0)
            c->ok = gr_report(c->d, GR_D_CONTRACT_BODY_UNFIT, gr_piece_place(&c->op->source->graph, 0), "write a reference",
                              "the output %.*s is updated in place, which a graph body cannot do", GR_STR_ARG(s->outputs[i].name));
    check_nodes(c, &c->op->source->graph, &c->op->graph, &v);
    for (uint32_t i = 0; i < s->outputs_n; i++)
        need(c, &c->op->source->graph, &v, (gr_str){0}, s->outputs[i].name, "every output of the signature is the result of a line");
}

/* ---- backward ---- */

static bool has(const gr_str *list, uint32_t n, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eq(list[i], name)) return true;
    return false;
}

static bool may_be_float(const gr_sig *s, const gr_sig_tensor *t) {
    gr_dtype list[GR_DTYPE_COUNT];
    uint32_t n = gr_sig_tensor_dtypes(s, t, list);
    for (uint32_t i = 0; i < n; i++)
        if (gr_dtype_is_float(list[i])) return true;
    return false;
}

static bool uses(const gr_frag *f, gr_str name) {
    for (uint32_t i = 0; i < f->nodes_n; i++)
        if (has(f->nodes[i].args, f->nodes[i].args_n, name)) return true;
    return false;
}

/* What the document says it saves must be what it uses; without the key it is inferred. */
static void check_saves(op_checker *c) {
    const gr_sig *s = &c->op->sig;
    const gr_backward *b = &c->op->backward;
    gr_place at = gr_piece_place(&c->op->source->backward, 0);
    for (uint32_t i = 0; b->saves && i < b->saves_n; i++) {
        bool tensor = gr_sig_find_operand(s, b->saves[i]) >= 0 || gr_sig_find_output(s, b->saves[i]) >= 0;
        if (!tensor || !uses(&b->graph, b->saves[i]))
            c->ok = gr_report(c->d, GR_D_CONTRACT_SAVES_WRONG, at, "saves lists the operands and outputs that the graph uses",
                              "%.*s is saved and %s", GR_STR_ARG(b->saves[i]), tensor ? "not used" : "no operand or output");
    }
    for (uint32_t k = 0; b->saves && k < s->operands_n + s->outputs_n; k++) {
        gr_str name = k < s->operands_n ? s->operands[k].name : s->outputs[k - s->operands_n].name;
        if (uses(&b->graph, name) && !has(b->saves, b->saves_n, name))
            c->ok = gr_report(c->d, GR_D_CONTRACT_SAVES_WRONG, at, "add it to saves", "%.*s is used and not saved", GR_STR_ARG(name));
    }
}

static void check_declared(op_checker *c) {
    const gr_sig *s = &c->op->sig;
    const gr_backward *b = &c->op->backward;
    values v = {0};
    for (uint32_t i = 0; i < s->operands_n; i++) c->ok = define(c, &v, s->operands[i].name) && c->ok;
    for (uint32_t i = 0; i < s->outputs_n; i++) {
        char *d_y = gr_arena_printf(c->a, "d_%.*s", GR_STR_ARG(s->outputs[i].name));
        c->ok = d_y && define(c, &v, s->outputs[i].name) && define(c, &v, gr_str_of(d_y)) && c->ok;
        if (!d_y) {
            gr_report_oom(c->d);
            return;
        }
    }
    check_nodes(c, &c->op->source->backward, &b->graph, &v);
    for (uint32_t i = 0; i < b->stops_n; i++)
        if (gr_sig_find_operand(s, b->stops[i]) < 0)
            c->ok = gr_report(c->d, GR_D_CONTRACT_BACKWARD_INVALID, gr_piece_place(&c->op->source->backward, 0), NULL,
                              "stops names %.*s, which is no operand", GR_STR_ARG(b->stops[i]));
    for (uint32_t i = 0; i < s->operands_n; i++)
        if (may_be_float(s, &s->operands[i]) && !has(b->stops, b->stops_n, s->operands[i].name))
            need(c, &c->op->source->backward, &v, GR_STR("d_"), s->operands[i].name, "define it, or list the operand in stops = [...]");
    check_saves(c);
}

static void check_backward(op_checker *c) {
    const gr_op *op = c->op;
    if (op->backward.form == GR_BACKWARD_DECLARED) check_declared(c);
    if (op->backward.form == GR_BACKWARD_COMPOSED && op->body != GR_BODY_MAP && op->body != GR_BODY_GRAPH)
        c->ok = gr_report(c->d, GR_D_CONTRACT_BACKWARD_INVALID, place_of(c, "backward"),
                          "write form = \"declared\" with a graph, or \"none\" with a reason",
                          "a composed backward needs a map or a graph body to be derived from");
}

/* ---- bodies ---- */

static void check_map(op_checker *c) {
    const gr_sig *s = &c->op->sig;
    bool fits = s->outputs_n == 1 && !s->outputs[0].variadic && !s->outputs[0].count.n && s->operands_n > 0;
    for (uint32_t i = 0; i < s->operands_n; i++)
        fits = fits && !s->operands[i].variadic && !gr_str_eq(s->operands[i].name, s->outputs[0].name);
    for (uint32_t i = 0; i < s->params_n; i++) fits = fits && s->params[i].kind < GR_PARAM_U32_LIST;
    if (!fits)
        c->ok = gr_report(c->d, GR_D_CONTRACT_BODY_UNFIT, place_of(c, "body"), "write a graph or a reference",
                          "a map body needs operands, one output, scalar parameters and nothing variadic");
}

/* ---- optimizer ---- */

static void optimizer_bad(op_checker *c, gr_str name, const char *what) {
    c->ok = gr_report(c->d, GR_D_CONTRACT_OPTIMIZER_INVALID, place_of(c, "optimizer"), "name operands of the signature; weight and state are outputs too",
                      "\"%.*s\" %s", (int)(name.n > 60 ? 60 : name.n), name.p, what);
}

/* How many of the table's names an operand has. */
static uint32_t optimizer_uses(const gr_optimizer *o, gr_str operand) {
    uint32_t n = 0;
    const gr_str parts[5] = {o->weight, o->gradient, o->step, o->rate, o->factor};
    for (int i = 0; i < 5; i++) n += parts[i].n && gr_str_eq(parts[i], operand);
    for (uint32_t i = 0; i < o->state_n; i++) n += gr_str_eq(o->state[i], operand);
    return n;
}

static void check_optimizer(op_checker *c) {
    const gr_sig *s = &c->op->sig;
    const gr_optimizer *o = &c->op->optimizer;
    const gr_str read[4] = {o->gradient, o->step, o->rate, o->factor};
    if (!o->declared || !s->name.n) return;
    for (uint32_t i = 0; i <= o->state_n; i++) {
        gr_str name = i ? o->state[i - 1] : o->weight;
        if (gr_sig_find_operand(s, name) < 0 || gr_sig_find_output(s, name) < 0) optimizer_bad(c, name, "is not updated in place: no operand and output of that name");
    }
    for (int i = 0; i < 4; i++)
        if (read[i].n && gr_sig_find_operand(s, read[i]) < 0) optimizer_bad(c, read[i], "is no operand");
    for (uint32_t i = 0; i < s->operands_n; i++) {
        uint32_t uses = optimizer_uses(o, s->operands[i].name);
        if (uses > 1) optimizer_bad(c, s->operands[i].name, "is named twice");
        if (s->operands[i].variadic || (!uses && !s->operands[i].optional)) optimizer_bad(c, s->operands[i].name, "would have nothing: it is variadic, or not named");
    }
    for (uint32_t i = 0; i < s->outputs_n; i++)
        if (!optimizer_uses(o, s->outputs[i].name)) optimizer_bad(c, s->outputs[i].name, "is an output that nobody keeps");
}

/* ---- example ---- */

static void check_example_table(op_checker *c, const char *key, bool (*known)(const gr_sig *, gr_str)) {
    gr_value *t = NULL;
    const gr_doc *doc = &c->op->source->doc;
    c->ok = gr_value_object(c->a, c->d, doc, c->op->example, key, false, &t) && c->ok;
    for (uint32_t i = 0; t && i < t->object.n; i++) {
        const gr_member *m = &t->object.v[i];
        if (known(&c->op->sig, m->key)) continue;
        c->ok = gr_report(c->d, GR_D_CONTRACT_EXAMPLE_INVALID, gr_value_place(doc, m->value, c->a), NULL,
                          "%.*s is not one of the %s of the signature", (int)(m->key.n > 60 ? 60 : m->key.n), m->key.p, key);
    }
}

static bool is_operand(const gr_sig *s, gr_str n) { return gr_sig_find_operand(s, n) >= 0; }
static bool is_output(const gr_sig *s, gr_str n) { return gr_sig_find_output(s, n) >= 0; }
static bool is_param(const gr_sig *s, gr_str n) { return gr_sig_find_param(s, n) >= 0; }

static void check_example(op_checker *c) {
    static const char *const keys[] = {"inputs", "params", "outputs", "dtypes", NULL};
    if (!c->op->example) return;
    c->ok = gr_value_known(c->a, c->d, &c->op->source->doc, c->op->example, keys) && c->ok;
    check_example_table(c, "inputs", is_operand);
    check_example_table(c, "params", is_param);
    check_example_table(c, "outputs", is_output);
}

bool gr_op_check_document(gr_arena *scratch, gr_diags *d, const gr_op *op) {
    op_checker c = {scratch, d, op, true};
    check_tolerance(&c);
    check_order(&c);
    if (op->body == GR_BODY_GRAPH) check_graph_body(&c);
    if (op->body == GR_BODY_MAP) check_map(&c);
    check_backward(&c);
    check_optimizer(&c);
    check_example(&c);
    return c.ok;
}

bool gr_op_check_graph(gr_arena *scratch, gr_diags *d, const gr_op *op) {
    op_checker c = {scratch, d, op, true};
    check_graph_body(&c);
    return c.ok;
}

bool gr_op_check(gr_arena *scratch, gr_diags *d, const gr_op *op) {
    bool ok = gr_op_check_document(scratch, d, op);
    ok = gr_op_check_wgsl(scratch, d, op, true) && ok;
    return gr_op_check_category(scratch, d, op) && ok;
}

bool gr_op_check_metadata(gr_arena *scratch, gr_diags *d, const gr_op *op) {
    op_checker c = {scratch, d, op, true};
    const struct {
        const char *key;
        bool there;
    } bar[] = {{"summary", op->summary.n > 0},  {"description", op->description.n > 0},
               {"tags", op->tags_n > 0},        {"author", op->author.n > 0},
               {"license", op->license.n > 0},  {"references", gr_value_get(op->source->doc.root, "references") != NULL},
               {"example", op->example != NULL}};
    for (size_t i = 0; i < sizeof bar / sizeof *bar; i++)
        if (!bar[i].there)
            c.ok = gr_report(d, GR_D_CONTRACT_METADATA_MISSING, place_of(&c, bar[i].key), "built-in and published ops have all of it",
                             "%.*s has no %s", GR_STR_ARG(op->id), bar[i].key);
    return c.ok;
}
