/* Graph fragments: graph bodies and declared backwards. One node a line:
 *   %y = reduce_sum %x axes=axes keep_dimensions=true
 *   %v, %i = top_k %x k=3
 *   %c = constant size(x) / 2 : T[]
 *   %y = mul %n %scale if given(scale) */
#include "contract/contract_int.h"

typedef GR_VEC(gr_str) str_vec;

static bool end_node(gr_parser *p) {
    if (p->tok.kind == GR_TOK_END || p->tok.kind == GR_TOK_LINE) return true;
    return gr_parser_expected(p, "a value, a parameter such as axes=[0], `if`, or the end of the line");
}

static bool parse_value(gr_parser *p, str_vec *list) {
    GR_TRY(gr_parser_expect(p, '%', "before the name of a value"));
    if (list->n >= GR_SIG_MAX) return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "more than %d values", GR_SIG_MAX);
    gr_str *s = GR_PUSH(p->a, list);
    if (!s) return gr_parser_oom(p);
    return gr_parser_name(p, "the name of a value", s, NULL);
}

/* The id of an op: words joined by / and an optional @version, without blanks. */
static bool parse_op(gr_parser *p, gr_str *out) {
    gr_str word;
    uint32_t start = p->tok.offset;
    GR_TRY(gr_parser_name(p, "the name of an op", &word, NULL));
    size_t end = start + word.n;
    while (gr_parser_is(p, '/') && p->tok.offset == end) {
        gr_parser_next(p);
        end = p->tok.offset + p->tok.text.n;
        GR_TRY(gr_parser_name(p, "the rest of the op's id", &word, NULL));
    }
    if (gr_parser_is(p, '@') && p->tok.offset == end) {
        gr_parser_next(p);
        if (p->tok.kind != GR_TOK_INT) return gr_parser_expected(p, "the version of the op");
        end = p->tok.offset + p->tok.text.n;
        gr_parser_next(p);
    }
    *out = (gr_str){p->src.text.p + start, end - start};
    return true;
}

static bool parse_param(gr_parser *p, gr_frag_param *q) {
    GR_TRY(gr_parser_name(p, "the name of a parameter", &q->name, &q->offset));
    GR_TRY(gr_parser_expect(p, '=', "after the name of the parameter"));
    q->expr = gr_expr_parse(p);
    GR_TRY(q->expr);
    if (q->expr->kind == GR_E_NAME) q->word = q->expr->name;
    if (q->expr->kind == GR_E_LIST) {
        q->list = q->expr->arg;
        q->list_n = q->expr->arg_n;
    }
    return true;
}

static bool parse_constant(gr_parser *p, gr_frag_node *n) {
    n->constant = gr_expr_parse(p);
    GR_TRY(n->constant);
    GR_TRY(gr_parser_expect(p, ':', "before the type of the constant"));
    GR_TRY(gr_parser_name(p, "a dtype or dtype variable", &n->constant_dtype, NULL));
    return gr_parser_expect(p, '[', "as in T[]") && gr_parser_expect(p, ']', "as in T[]: a constant is one element");
}

static bool parse_call(gr_parser *p, gr_frag_node *n) {
    str_vec args = {0};
    GR_VEC(gr_frag_param) params = {0};
    GR_TRY(parse_op(p, &n->op));
    while (gr_parser_is(p, '%')) {
        GR_TRY(parse_value(p, &args));
        gr_parser_take(p, ',');
    }
    while (p->tok.kind == GR_TOK_NAME && !gr_parser_is_word(p, "if")) {
        if (params.n >= GR_SIG_MAX)
            return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "more than %d parameters", GR_SIG_MAX);
        gr_frag_param *q = GR_PUSH(p->a, &params);
        if (!q) return gr_parser_oom(p);
        GR_TRY(parse_param(p, q));
        for (uint32_t i = 0; i + 1 < params.n; i++)
            if (gr_str_eq(params.v[i].name, q->name))
                return gr_parser_fail(p, GR_D_CONTRACT_PARAMETER_REPEATED, q->offset, "keep one of the two",
                                      "the parameter %.*s is given twice", GR_STR_ARG(q->name));
    }
    n->args = args.v, n->args_n = args.n;
    n->params = params.v, n->params_n = params.n;
    return true;
}

static bool parse_node(gr_parser *p, gr_frag_node *n) {
    str_vec results = {0};
    n->offset = p->tok.offset;
    do GR_TRY(parse_value(p, &results));
    while (gr_parser_take(p, ','));
    n->results = results.v, n->results_n = results.n;
    GR_TRY(gr_parser_expect(p, '=', "after the results"));
    GR_TRY(gr_parser_take_word(p, "constant") ? parse_constant(p, n) : parse_call(p, n));
    if (!gr_parser_take_word(p, "if")) return true;
    n->when = gr_expr_parse(p);
    return n->when != NULL;
}

bool gr_frag_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src, gr_frag *out) {
    gr_parser p;
    GR_VEC(gr_frag_node) nodes = {0};
    *out = (gr_frag){.text = src->text};
    gr_parser_init(&p, a, d, *src, true);
    bool ok = !p.failed;
    for (uint32_t errors = 0; p.tok.kind != GR_TOK_END && errors < 20;) {
        if (p.tok.kind == GR_TOK_LINE) {
            gr_parser_next(&p);
            continue;
        }
        if (nodes.n >= GR_FRAG_MAX) {
            ok = gr_parser_fail(&p, GR_D_CONTRACT_TOO_LARGE, p.tok.offset, NULL, "more than %d nodes", GR_FRAG_MAX);
            break;
        }
        gr_frag_node *n = GR_PUSH(a, &nodes);
        if (!n) {
            ok = gr_parser_oom(&p);
            break;
        }
        if (parse_node(&p, n) && end_node(&p)) continue;
        ok = false;
        errors++;
        gr_parser_skip_line(&p);
    }
    out->nodes = nodes.v;
    out->nodes_n = nodes.n;
    return ok;
}

bool gr_frag_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, gr_frag *out) {
    gr_piece src = {.document = document, .text = text};
    return gr_frag_parse_piece(a, d, &src, out);
}

void gr_frag_print(gr_buf *out, const gr_frag *f) {
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        const gr_frag_node *n = &f->nodes[i];
        for (uint32_t k = 0; k < n->results_n; k++) gr_buf_printf(out, "%s%%%.*s", k ? ", " : "", GR_STR_ARG(n->results[k]));
        gr_buf_puts(out, " = ");
        if (n->constant) {
            gr_buf_puts(out, "constant ");
            gr_expr_print(out, n->constant);
            gr_buf_printf(out, " : %.*s[]", GR_STR_ARG(n->constant_dtype));
        }
        gr_buf_str(out, n->op);
        for (uint32_t k = 0; k < n->args_n; k++) gr_buf_printf(out, "%s%%%.*s", k ? ", " : " ", GR_STR_ARG(n->args[k]));
        for (uint32_t k = 0; k < n->params_n; k++) {
            gr_buf_printf(out, " %.*s=", GR_STR_ARG(n->params[k].name));
            gr_expr_print(out, n->params[k].expr);
        }
        if (n->when) {
            gr_buf_puts(out, " if ");
            gr_expr_print(out, n->when);
        }
        gr_buf_putc(out, '\n');
    }
}

/* ---- in the caller's environment ---- */

bool gr_frag_placed(gr_diags *d, const gr_frag_node *n, const gr_call *outer, gr_place at, bool *placed) {
    *placed = true;
    return !n->when || gr_expr_true(d, n->when, outer, at, placed);
}

static bool to_param(gr_arena *a, gr_diags *d, const gr_val *x, gr_param *out) {
    *out = (gr_param){.given = true};
    switch (x->kind) {
    case GR_K_INT:
        out->kind = x->n.i < 0 ? GR_PARAM_I32 : GR_PARAM_U32;
        out->i = x->n.i;
        return true;
    case GR_K_FLOAT:
        out->kind = GR_PARAM_F32;
        out->f = x->f;
        return true;
    case GR_K_BOOL:
        out->kind = GR_PARAM_BOOL;
        out->i = x->n.i;
        return true;
    case GR_K_WORD:
        out->kind = GR_PARAM_ENUM;
        out->word = x->word;
        return true;
    case GR_K_FLOATS:
        out->kind = GR_PARAM_F32_LIST;
        out->n = x->len;
        out->lf = x->floats;
        return true;
    default: break;
    }
    out->kind = GR_PARAM_I32_LIST;
    out->n = x->len;
    out->li = GR_NEW_N(a, int64_t, x->len);
    if (!out->li) return gr_report_oom(d);
    for (uint32_t i = 0; i < x->len; i++) out->li[i] = x->list[i].i;
    return true;
}

bool gr_frag_args(gr_arena *a, gr_diags *d, const gr_frag_node *n, const gr_call *outer, gr_place at, gr_arg **args, uint32_t *args_n) {
    *args = GR_NEW_N(a, gr_arg, n->params_n);
    *args_n = n->params_n;
    if (!*args) return gr_report_oom(d);
    for (uint32_t i = 0; i < n->params_n; i++) {
        gr_evaluator v = {.a = a, .d = d, .c = outer, .at = at, .whole = n->params[i].expr};
        gr_val x;
        GR_TRY(gr_eval(&v, n->params[i].expr, &x));
        if (x.kind == GR_K_SHAPES) GR_TRY(gr_eval_list(&v, n->params[i].expr, &x));
        (*args)[i] = (gr_arg){.name = n->params[i].name, .is_resolved = true, .at = at};
        GR_TRY(to_param(a, d, &x, &(*args)[i].resolved));
    }
    return true;
}
