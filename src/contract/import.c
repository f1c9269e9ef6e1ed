/* [import] of op.toml: rules that bring operators of other systems into the catalog (docs/grammars.md). */
#include "contract/contract_int.h"

typedef struct reader { gr_arena *a; gr_diags *d; gr_op *op; const gr_doc *doc; } reader;

static bool bad(reader *r, const gr_value *v, const char *hint, const char *what) {
    return gr_report(r->d, GR_D_IMPORT_RULE, gr_value_place(r->doc, v, r->a), hint, "%s", what);
}

static bool strings(reader *r, const gr_value *rule, const char *key, gr_str **out, uint32_t *n) {
    gr_value *list = NULL;
    GR_TRY(gr_value_array(r->a, r->d, r->doc, rule, key, false, &list));
    if (!list) return true;
    *out = GR_NEW_N(r->a, gr_str, list->array.n);
    if (!*out) return gr_report_oom(r->d);
    for (uint32_t i = 0; i < list->array.n; i++) {
        if (list->array.v[i]->kind != GR_V_STRING) return bad(r, list->array.v[i], "write names in quotes", "the list holds something else than names");
        (*out)[(*n)++] = list->array.v[i]->s;
    }
    return true;
}

static bool has(const gr_str *list, uint32_t n, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eq(list[i], name)) return true;
    return false;
}

/* Without `inputs` they are the operands in order. Each name is an operand or a parameter, each operand is named. */
static bool check_inputs(reader *r, const gr_value *v, gr_import_rule *rule) {
    const gr_sig *s = &rule->shell.sig;
    if (!rule->inputs) {
        rule->inputs = GR_NEW_N(r->a, gr_str, s->operands_n);
        if (!rule->inputs) return gr_report_oom(r->d);
        for (uint32_t i = 0; i < s->operands_n; i++) rule->inputs[rule->inputs_n++] = s->operands[i].name;
        return true;
    }
    for (uint32_t i = 0; i < rule->inputs_n; i++)
        if (gr_sig_find_operand(s, rule->inputs[i]) < 0 && gr_sig_find_param(s, rule->inputs[i]) < 0)
            return bad(r, v, "name operands and parameters of its signature", "`inputs` names what the signature does not have");
    for (uint32_t i = 0; i < s->operands_n; i++)
        if (!has(rule->inputs, rule->inputs_n, s->operands[i].name)) return bad(r, v, "name every operand in `inputs`", "an operand of the signature is no input");
    return true;
}

static bool integer(reader *r, const gr_value *v, const char *key, int64_t *out) { return gr_value_i64(r->a, r->d, r->doc, v, key, false, out); }

/* Exactly one of graph, fold and value says what the result is. */
static bool read_result(reader *r, const gr_value *v, gr_import_rule *rule) {
    struct gr_op_source *src = rule->shell.source;
    const gr_value *graph = gr_value_get(v, "graph"), *value = gr_value_get(v, "value");
    gr_str s;
    if ((graph != NULL) + (value != NULL) + (rule->fold.n != 0) != 1) return bad(r, v, "give one of them", "a rule has one of `graph`, `value` and `fold`");
    if (graph) {
        GR_TRY(gr_value_str(r->a, r->d, r->doc, v, "graph", true, &s));
        src->graph = gr_piece_of_value(r->a, r->doc, graph);
        rule->shell.body = GR_BODY_GRAPH;
        return gr_frag_parse_piece(r->a, r->d, &src->graph, &rule->shell.graph) && gr_op_check_graph(r->a, r->d, &rule->shell);
    }
    if (!value) return true;
    GR_TRY(gr_value_str(r->a, r->d, r->doc, v, "value", true, &s));
    gr_piece piece = gr_piece_of_value(r->a, r->doc, value);
    gr_scope scope = {.sig = &rule->shell.sig};
    rule->value = gr_expr_parse_piece(r->a, r->d, &piece);
    return rule->value && gr_expr_check(r->d, &piece, &scope, rule->value, GR_K_ANY);
}

static bool read_rule(reader *r, const gr_value *v, gr_import_rule *rule) {
    static const char *const keys[] = {"signature", "graph", "value", "fold", "inputs", "ignore", "domain", "since", "until", NULL};
    gr_str s;
    if (v->kind != GR_V_OBJECT) return bad(r, v, "write [[import.onnx]]", "a rule is a table");
    GR_TRY(gr_value_known(r->a, r->d, r->doc, v, keys) && gr_value_str(r->a, r->d, r->doc, v, "signature", true, &s));
    struct gr_op_source *src = GR_NEW(r->a, struct gr_op_source);
    if (!src) return gr_report_oom(r->d);
    src->doc = *r->doc;
    src->signature = gr_piece_of_value(r->a, r->doc, gr_value_get(v, "signature"));
    rule->shell.source = src;
    GR_TRY(gr_sig_parse_piece(r->a, r->d, &src->signature, &rule->shell.sig));
    rule->shell.id = rule->shell.name = rule->shell.sig.name;
    GR_TRY(gr_value_str(r->a, r->d, r->doc, v, "domain", false, &rule->domain) && gr_value_str(r->a, r->d, r->doc, v, "fold", false, &rule->fold) &&
           integer(r, v, "since", &rule->since) && integer(r, v, "until", &rule->until) && strings(r, v, "inputs", &rule->inputs, &rule->inputs_n) &&
           strings(r, v, "ignore", &rule->ignore, &rule->ignore_n));
    return check_inputs(r, v, rule) && read_result(r, v, rule);
}

/* `onnx = "Relu"`: the operator is the op: inputs by position, attributes by name. */
static bool read_short(reader *r, const gr_value *v, gr_import_rule *rule) {
    rule->shell.sig = r->op->sig;
    rule->shell.id = rule->shell.name = rule->shell.sig.name = v->s;
    rule->direct = true;
    return check_inputs(r, v, rule);
}

bool gr_op_read_imports(gr_arena *a, gr_diags *d, gr_op *op) {
    reader r = {.a = a, .d = d, .op = op, .doc = &op->source->doc};
    const gr_value *v = gr_value_get(op->import_, "onnx");
    bool list = v && v->kind == GR_V_ARRAY, ok = true;
    if (!v) return true;
    if (!list && v->kind != GR_V_STRING) return bad(&r, v, "write onnx = \"Relu\", or tables [[import.onnx]]", "\"onnx\" is neither a name nor rules");
    uint32_t n = list ? v->array.n : 1;
    op->imports = GR_NEW_N(a, gr_import_rule, n);
    if (!op->imports) return gr_report_oom(d);
    for (uint32_t i = 0; i < n; i++) {
        gr_import_rule *rule = &op->imports[op->imports_n++];
        *rule = (gr_import_rule){.until = INT64_MAX};
        ok = (list ? read_rule(&r, v->array.v[i], rule) : read_short(&r, v, rule)) && ok;
    }
    return ok;
}
