/* Grammar 1, the shape signature: parser and printer.
 *
 *   NAME ( operands [; params] ) -> outputs [where conditions] [VAR in dtypes]...
 *   operand   x: T[..s, m, k]   xs: T[..s]*   bias: T[n]?   x: T[m <= n]
 *   parameter w: u32 in 1..=31 odd = 7   axes: u32[*] = all   mode: a | b = a   type: dtype
 *   output    y: T[..f(s), n - w + 1]   y: T[m <= n]   ys: T[..split(s, axis, sizes)]*   z: T[n] if keep */
#include "contract/contract_int.h"

typedef struct sig_parser {
    gr_parser p;
    GR_VEC(gr_sig_tensor) operands, outputs;
    GR_VEC(gr_sig_param) params;
    GR_VEC(gr_expr *) where;
    GR_VEC(gr_sig_dtypes) dtypes;
} sig_parser;

static bool too_many(gr_parser *p, const char *what) {
    return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, p->tok.offset, NULL, "more than %d %s", GR_SIG_MAX, what);
}

/* ---- tensors ---- */

typedef GR_VEC(struct gr_shape_item) item_vec;

static bool parse_item(gr_parser *p, gr_sig_tensor *t, item_vec *items) {
    if (items->n >= GR_SIG_MAX) return too_many(p, "dimensions");
    struct gr_shape_item *it = GR_PUSH(p->a, items);
    if (!it) return gr_parser_oom(p);
    it->offset = p->tok.offset;
    it->kind = gr_parser_take(p, GR_P_DOTS) ? GR_ITEM_REST : GR_ITEM_DIM;
    it->e = gr_expr_parse_sum(p);
    GR_TRY(it->e);
    if (!gr_parser_is(p, GR_P_LE)) return true;
    if (it->kind != GR_ITEM_DIM || it->e->kind != GR_E_NAME || items->n > 1)
        return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, p->tok.offset, "write the count first, as in T[m <= n, c]",
                              "only the first dimension, a name, can be bounded by <=");
    gr_parser_next(p);
    t->count = it->e->name;
    it->e = gr_expr_parse_sum(p);
    return it->e != NULL;
}

static bool parse_shape(gr_parser *p, gr_sig_tensor *t) {
    item_vec items = {0};
    GR_TRY(gr_parser_expect(p, '[', "before the shape"));
    if (!gr_parser_is(p, ']')) {
        do GR_TRY(parse_item(p, t, &items));
        while (gr_parser_take(p, ','));
    }
    t->items = items.v;
    t->items_n = items.n;
    return gr_parser_expect(p, ']', "after the shape");
}

static bool parse_tensor(gr_parser *p, bool output, gr_sig_tensor *t) {
    GR_TRY(gr_parser_name(p, output ? "the name of an output" : "the name of an operand", &t->name, &t->offset));
    GR_TRY(gr_parser_expect(p, ':', "after the name"));
    GR_TRY(gr_parser_name(p, "a dtype or dtype variable", &t->dtype, NULL));
    GR_TRY(parse_shape(p, t));
    t->variadic = gr_parser_take(p, '*');
    if (!output) t->optional = gr_parser_take(p, '?');
    if (output && gr_parser_take_word(p, "if")) {
        t->when = gr_expr_parse(p);
        t->optional = true;
        return t->when != NULL;
    }
    return true;
}

static bool parse_operands(sig_parser *s) {
    if (gr_parser_is(&s->p, ';') || gr_parser_is(&s->p, ')')) return true;
    do {
        if (s->operands.n >= GR_SIG_MAX) return too_many(&s->p, "operands");
        gr_sig_tensor *t = GR_PUSH(s->p.a, &s->operands);
        if (!t) return gr_parser_oom(&s->p);
        GR_TRY(parse_tensor(&s->p, false, t));
    } while (gr_parser_take(&s->p, ','));
    return true;
}

static bool parse_outputs(sig_parser *s) {
    do {
        if (s->outputs.n >= GR_SIG_MAX) return too_many(&s->p, "outputs");
        gr_sig_tensor *t = GR_PUSH(s->p.a, &s->outputs);
        if (!t) return gr_parser_oom(&s->p);
        GR_TRY(parse_tensor(&s->p, true, t));
    } while (gr_parser_take(&s->p, ','));
    return true;
}

/* ---- parameters ---- */

static bool parse_list_length(gr_parser *p, gr_sig_param *q) {
    if (!gr_parser_take(p, '[')) return true;
    q->kind = q->kind == GR_PARAM_U32 ? GR_PARAM_U32_LIST : q->kind == GR_PARAM_I32 ? GR_PARAM_I32_LIST : GR_PARAM_F32_LIST;
    if (!gr_parser_take(p, '*')) {
        q->len = gr_expr_parse_sum(p);
        GR_TRY(q->len);
        if (q->len->kind == GR_E_INT) {
            if (q->len->i > 64) return gr_parser_fail(p, GR_D_CONTRACT_TOO_LARGE, q->len->offset, NULL, "a list of more than 64 entries");
            q->fixed_len = (uint32_t)q->len->i;
        }
    }
    return gr_parser_expect(p, ']', "after the length of the list");
}

/* nearest | linear: an enum; when every word is a dtype, a dtype parameter restricted to them. */
static bool parse_words(gr_parser *p, gr_sig_param *q, gr_str first) {
    GR_VEC(gr_str) words = {0};
    bool dtypes = true;
    for (gr_str word = first;;) {
        if (words.n >= GR_SIG_MAX) return too_many(p, "words");
        gr_str *w = GR_PUSH(p->a, &words);
        if (!w) return gr_parser_oom(p);
        *w = word;
        dtypes = dtypes && gr_dtype_find(word);
        if (!gr_parser_take(p, '|')) break;
        GR_TRY(gr_parser_word(p, "another word", &word));
    }
    q->kind = dtypes ? GR_PARAM_DTYPE : GR_PARAM_ENUM;
    q->words = words.v;
    q->words_n = words.n;
    return true;
}

static bool parse_param_type(gr_parser *p, gr_sig_param *q) {
    static const struct {
        const char *z;
        gr_param_kind kind;
    } scalar[] = {{"u32", GR_PARAM_U32}, {"i32", GR_PARAM_I32}, {"f32", GR_PARAM_F32}, {"bool", GR_PARAM_BOOL}, {"dtype", GR_PARAM_DTYPE}};
    gr_str word;
    uint32_t at;
    at = p->tok.offset;
    bool quoted = p->tok.kind == GR_TOK_STRING;
    GR_TRY(gr_parser_word(p, "the type of a parameter", &word));
    if (!gr_parser_is(p, '|') && !quoted) {
        for (size_t i = 0; i < sizeof scalar / sizeof *scalar; i++)
            if (gr_str_eqz(word, scalar[i].z)) q->kind = scalar[i].kind;
        if (!q->kind)
            return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, at,
                                  "the types are u32, i32, f32, bool, dtype, lists such as u32[2] and u32[*], and words: a | b",
                                  "%.*s is not the type of a parameter", GR_STR_ARG(word));
        return q->kind == GR_PARAM_BOOL || q->kind == GR_PARAM_DTYPE || parse_list_length(p, q);
    }
    return parse_words(p, q, word);
}

static bool parse_range(gr_parser *p, gr_sig_param *q) {
    if (!gr_parser_take_word(p, "in")) return true;
    if (!gr_parser_is(p, GR_P_DOTS) && !gr_parser_is(p, GR_P_DOTS_EQ)) {
        q->lo = gr_expr_parse_sum(p);
        GR_TRY(q->lo);
    }
    if (gr_parser_take(p, GR_P_DOTS_EQ)) {
        q->hi = gr_expr_parse_sum(p);
        return q->hi != NULL;
    }
    if (!gr_parser_take(p, GR_P_DOTS)) return gr_parser_expected(p, "'..=' and the upper end, or '..' for no upper end");
    return q->lo || gr_parser_expected(p, "a lower end before '..'");
}

static bool parse_default(gr_parser *p, gr_sig_param *q) {
    q->required = !gr_parser_take(p, '=');
    if (q->required) return true;
    bool word = q->kind == GR_PARAM_ENUM || q->kind == GR_PARAM_DTYPE;
    bool list_word =
        q->kind >= GR_PARAM_U32_LIST && (gr_parser_is_word(p, "all") || gr_parser_is_word(p, "reverse")) && gr_parser_peek(p).punct != '(';
    if (word || list_word) return gr_parser_word(p, "the default, a word", &q->def_word);
    q->def = gr_expr_parse_sum(p);
    return q->def != NULL;
}

static bool parse_param(gr_parser *p, gr_sig_param *q) {
    GR_TRY(gr_parser_name(p, "the name of a parameter", &q->name, &q->offset));
    GR_TRY(gr_parser_expect(p, ':', "after the name"));
    GR_TRY(parse_param_type(p, q) && parse_range(p, q));
    q->odd = gr_parser_take_word(p, "odd");
    q->even = !q->odd && gr_parser_take_word(p, "even");
    if ((q->odd || q->even) && q->kind != GR_PARAM_U32 && q->kind != GR_PARAM_I32)
        return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, q->offset, NULL, "only an integer can be odd or even");
    if ((q->lo || q->hi) && (q->kind == GR_PARAM_BOOL || q->kind == GR_PARAM_ENUM || q->kind == GR_PARAM_DTYPE))
        return gr_parser_fail(p, GR_D_CONTRACT_SYNTAX, q->offset, NULL, "only a number can have a range");
    return parse_default(p, q);
}

static bool parse_params(sig_parser *s) {
    if (!gr_parser_take(&s->p, ';')) return true;
    do {
        if (s->params.n >= GR_SIG_MAX) return too_many(&s->p, "parameters");
        gr_sig_param *q = GR_PUSH(s->p.a, &s->params);
        if (!q) return gr_parser_oom(&s->p);
        GR_TRY(parse_param(&s->p, q));
    } while (gr_parser_take(&s->p, ','));
    return true;
}

/* ---- where and dtype clauses ---- */

static bool at_dtype_clause(const gr_parser *p) {
    if (p->tok.kind != GR_TOK_NAME) return false;
    gr_tok next = gr_parser_peek(p);
    return next.kind == GR_TOK_NAME && gr_str_eqz(next.text, "in");
}

static bool parse_where(sig_parser *s) {
    while (!at_dtype_clause(&s->p)) {
        if (s->where.n >= GR_SIG_MAX) return too_many(&s->p, "conditions");
        gr_expr **e = GR_PUSH(s->p.a, &s->where);
        if (!e) return gr_parser_oom(&s->p);
        *e = gr_expr_parse(&s->p);
        GR_TRY(*e);
        if (!gr_parser_take(&s->p, ',')) return true;
    }
    return true;
}

static bool parse_dtypes(sig_parser *s) {
    gr_parser *p = &s->p;
    if (s->dtypes.n >= GR_SIG_MAX) return too_many(p, "dtype clauses");
    gr_sig_dtypes *c = GR_PUSH(p->a, &s->dtypes);
    GR_VEC(gr_dtype) list = {0};
    uint32_t at;
    if (!c) return gr_parser_oom(p);
    GR_TRY(gr_parser_name(p, "a dtype variable", &c->var, NULL));
    gr_parser_next(p); /* in */
    do {
        gr_str word;
        if (list.n && at_dtype_clause(p)) break; /* T in f32, f16, I in i32 */
        GR_TRY(gr_parser_name(p, "a dtype", &word, &at));
        gr_dtype t = gr_dtype_find(word);
        if (!t)
            return gr_parser_fail(p, GR_D_CONTRACT_DTYPE_UNKNOWN, at, "the dtypes are f16 f32 f64 i8 u8 i32 u32 i64 u64 bool",
                                  "%.*s is not a dtype", GR_STR_ARG(word));
        for (uint32_t i = 0; i < list.n; i++)
            if (list.v[i] == t) return gr_parser_fail(p, GR_D_CONTRACT_NAME_REPEATED, at, NULL, "%.*s is listed twice", GR_STR_ARG(word));
        gr_dtype *to = GR_PUSH(p->a, &list);
        if (!to) return gr_parser_oom(p);
        *to = t;
    } while (gr_parser_take(p, ','));
    c->v = list.v;
    c->n = list.n;
    return true;
}

static bool parse_clauses(sig_parser *s) {
    gr_parser *p = &s->p;
    while (p->tok.kind != GR_TOK_END) {
        gr_parser_take(p, ',');
        if (gr_parser_take_word(p, "where")) GR_TRY(parse_where(s));
        else if (at_dtype_clause(p)) GR_TRY(parse_dtypes(s));
        else return gr_parser_expected(p, "'where', a dtype clause such as 'T in f32, f16', or the end");
    }
    return true;
}

static bool parse_all(sig_parser *s, gr_sig *out) {
    gr_parser *p = &s->p;
    GR_TRY(gr_parser_name(p, "the name of the op", &out->name, NULL));
    GR_TRY(gr_parser_expect(p, '(', "after the name of the op"));
    GR_TRY(parse_operands(s) && parse_params(s));
    GR_TRY(gr_parser_expect(p, ')', "after operands and parameters"));
    GR_TRY(gr_parser_expect(p, GR_P_ARROW, "before the outputs"));
    return parse_outputs(s) && parse_clauses(s);
}

bool gr_sig_check(gr_diags *d, const gr_piece *src, const gr_sig *s);

bool gr_sig_parse_piece(gr_arena *a, gr_diags *d, const gr_piece *src, gr_sig *out) {
    sig_parser s = {0};
    *out = (gr_sig){.text = src->text};
    gr_parser_init(&s.p, a, d, *src, false);
    if (s.p.failed || !parse_all(&s, out)) return false;
    out->operands = s.operands.v, out->operands_n = s.operands.n;
    out->outputs = s.outputs.v, out->outputs_n = s.outputs.n;
    out->params = s.params.v, out->params_n = s.params.n;
    out->where = s.where.v, out->where_n = s.where.n;
    out->dtypes = s.dtypes.v, out->dtypes_n = s.dtypes.n;
    return gr_sig_check(d, src, out);
}

bool gr_sig_parse(gr_arena *a, gr_diags *d, gr_str document, gr_str text, gr_sig *out) {
    gr_piece src = {.document = document, .text = text};
    return gr_sig_parse_piece(a, d, &src, out);
}

/* ---- printer ---- */

static void print_tensor(gr_buf *out, const gr_sig_tensor *t) {
    gr_buf_printf(out, "%.*s: %.*s[", GR_STR_ARG(t->name), GR_STR_ARG(t->dtype));
    for (uint32_t i = 0; i < t->items_n; i++) {
        if (i) gr_buf_puts(out, ", ");
        if (t->items[i].kind == GR_ITEM_REST) gr_buf_puts(out, "..");
        if (i == 0 && t->count.n) gr_buf_printf(out, "%.*s <= ", GR_STR_ARG(t->count));
        gr_expr_print(out, t->items[i].e);
    }
    gr_buf_putc(out, ']');
    if (t->variadic) gr_buf_putc(out, '*');
    if (t->optional && !t->when) gr_buf_putc(out, '?');
    if (t->when) {
        gr_buf_puts(out, " if ");
        gr_expr_print(out, t->when);
    }
}

static void print_tensors(gr_buf *out, const gr_sig_tensor *t, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (i) gr_buf_puts(out, ", ");
        print_tensor(out, &t[i]);
    }
}

static void print_param_type(gr_buf *out, const gr_sig_param *q) {
    static const char *const names[] = {"", "u32", "i32", "f32", "bool", "", "dtype", "u32", "i32", "f32"};
    for (uint32_t i = 0; i < q->words_n; i++) gr_buf_printf(out, "%s%.*s", i ? " | " : "", GR_STR_ARG(q->words[i]));
    if (!q->words_n) gr_buf_puts(out, names[q->kind]);
    if (q->kind < GR_PARAM_U32_LIST) return;
    gr_buf_putc(out, '[');
    if (q->len) gr_expr_print(out, q->len);
    else gr_buf_putc(out, '*');
    gr_buf_putc(out, ']');
}

static void print_param(gr_buf *out, const gr_sig_param *q) {
    gr_buf_printf(out, "%.*s: ", GR_STR_ARG(q->name));
    print_param_type(out, q);
    if (q->lo || q->hi) gr_buf_puts(out, " in ");
    if (q->lo) gr_expr_print(out, q->lo);
    if (q->hi) {
        gr_buf_puts(out, "..=");
        gr_expr_print(out, q->hi);
    } else if (q->lo) {
        gr_buf_puts(out, "..");
    }
    if (q->odd) gr_buf_puts(out, " odd");
    if (q->even) gr_buf_puts(out, " even");
    if (q->def_word.n) gr_buf_printf(out, " = %.*s", GR_STR_ARG(q->def_word));
    if (q->def) {
        gr_buf_puts(out, " = ");
        gr_expr_print(out, q->def);
    }
}

void gr_sig_print(gr_buf *out, const gr_sig *s) {
    gr_buf_str(out, s->name);
    gr_buf_putc(out, '(');
    print_tensors(out, s->operands, s->operands_n);
    for (uint32_t i = 0; i < s->params_n; i++) {
        gr_buf_puts(out, i ? ", " : "; ");
        print_param(out, &s->params[i]);
    }
    gr_buf_puts(out, ") -> ");
    print_tensors(out, s->outputs, s->outputs_n);
    for (uint32_t i = 0; i < s->where_n; i++) {
        gr_buf_puts(out, i ? ", " : " where ");
        gr_expr_print(out, s->where[i]);
    }
    for (uint32_t i = 0; i < s->dtypes_n; i++) {
        gr_buf_printf(out, "%s %.*s in ", i ? "," : "", GR_STR_ARG(s->dtypes[i].var));
        for (uint32_t k = 0; k < s->dtypes[i].n; k++) gr_buf_printf(out, "%s%s", k ? ", " : "", gr_dtype_name(s->dtypes[i].v[k]));
    }
}
