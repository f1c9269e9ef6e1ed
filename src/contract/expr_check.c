/* The check of an expression at load: names against a signature, kinds of values. */
#include "contract/contract_int.h"

typedef struct fn_row {
    const char *text, *args;
    uint32_t min, max;
    gr_kind_of result;
} fn_row;

static const fn_row fns[GR_FN_COUNT] = {
#define GR_FN(id, text, min, max, result, args) [GR_FN_##id] = {text, args, min, max, result},
#include "contract/functions.def"
#undef GR_FN
};

int gr_sig_find_param(const gr_sig *s, gr_str name) {
    for (uint32_t i = 0; i < s->params_n; i++)
        if (gr_str_eq(s->params[i].name, name)) return (int)i;
    return -1;
}

static int find_tensor(const gr_sig_tensor *t, uint32_t n, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eq(t[i].name, name)) return (int)i;
    return -1;
}

int gr_sig_find_operand(const gr_sig *s, gr_str name) { return find_tensor(s->operands, s->operands_n, name); }
int gr_sig_find_output(const gr_sig *s, gr_str name) { return find_tensor(s->outputs, s->outputs_n, name); }

static gr_kind_of param_kind(gr_param_kind k) {
    switch (k) {
    case GR_PARAM_U32:
    case GR_PARAM_I32: return GR_K_INT;
    case GR_PARAM_F32: return GR_K_FLOAT;
    case GR_PARAM_BOOL: return GR_K_BOOL;
    case GR_PARAM_ENUM:
    case GR_PARAM_DTYPE: return GR_K_WORD;
    case GR_PARAM_U32_LIST:
    case GR_PARAM_I32_LIST: return GR_K_LIST;
    case GR_PARAM_F32_LIST: return GR_K_FLOATS;
    case GR_PARAM_NONE: break;
    }
    return GR_K_NONE;
}

/* The kind of a name that an operand's pattern binds: a bare name in a dimension or after `..`. */
static gr_kind_of find_in_patterns(const gr_sig *s, gr_str name) {
    for (uint32_t i = 0; i < s->operands_n; i++) {
        const gr_sig_tensor *t = &s->operands[i];
        for (uint32_t k = 0; k < t->items_n; k++) {
            const struct gr_shape_item *it = &t->items[k];
            if (it->e->kind != GR_E_NAME || !gr_str_eq(it->e->name, name)) continue;
            if (it->kind == GR_ITEM_DIM) return GR_K_INT;
            return t->variadic ? GR_K_SHAPES : GR_K_LIST;
        }
    }
    return GR_K_NONE;
}

gr_kind_of gr_scope_find(const gr_scope *s, gr_str name) {
    if (s->ranges && (gr_str_eqz(name, "lo") || gr_str_eqz(name, "hi") || gr_str_eqz(name, "cut"))) return GR_K_INT;
    for (uint32_t i = 0; s->turns && i < s->turns->passes_n; i++)
        if (name.n && gr_str_eq(s->turns->passes[i].repeat, name)) return GR_K_INT;
    int p = gr_sig_find_param(s->sig, name);
    if (p >= 0) return param_kind(s->sig->params[p].kind);
    gr_kind_of k = find_in_patterns(s->sig, name);
    if (k) return k;
    if (gr_sig_find_operand(s->sig, name) >= 0) return GR_K_TENSOR;
    if (s->outputs && gr_sig_find_output(s->sig, name) >= 0) return GR_K_TENSOR;
    return GR_K_NONE;
}

bool gr_expr_mentions(const gr_expr *e, gr_str name) {
    if (!e) return false;
    if (e->kind == GR_E_NAME && gr_str_eq(e->name, name)) return true;
    for (uint32_t i = 0; i < e->arg_n; i++)
        if (gr_expr_mentions(e->arg[i], name)) return true;
    return false;
}

static bool is_word(const gr_sig *s, gr_str name) {
    if (gr_dtype_find(name)) return true;
    for (uint32_t i = 0; i < s->params_n; i++)
        for (uint32_t k = 0; k < s->params[i].words_n; k++)
            if (gr_str_eq(s->params[i].words[k], name)) return true;
    return gr_sig_is_dtype_var(s, name);
}

static const char *kind_text(gr_kind_of k) {
    switch (k) {
    case GR_K_INT: return "an integer";
    case GR_K_FLOAT: return "a float";
    case GR_K_NUMBER: return "a number";
    case GR_K_BOOL: return "a condition";
    case GR_K_LIST: return "a list of integers";
    case GR_K_FLOATS: return "a list of floats";
    case GR_K_WORD: return "a word";
    case GR_K_TENSOR: return "a tensor";
    case GR_K_SHAPES: return "the shapes of a variadic operand";
    case GR_K_ANY: return "a value";
    case GR_K_NONE: break;
    }
    return "nothing";
}

typedef struct checker {
    gr_diags *d;
    const gr_piece *src;
    const gr_scope *s;
} checker;

static gr_kind_of check(const checker *c, const gr_expr *e, gr_kind_of want);

static gr_kind_of unknown_name(const checker *c, const gr_expr *e) {
    gr_report(c->d, GR_D_CONTRACT_NAME_UNKNOWN, gr_piece_place(c->src, e->offset), NULL, "%.*s is not a name of this signature",
              GR_STR_ARG(e->name));
    gr_nearest n = gr_nearest_start(e->name);
    const gr_sig *s = c->s->sig;
    for (uint32_t i = 0; i < s->params_n; i++) gr_nearest_add(&n, s->params[i].name);
    for (uint32_t i = 0; i < s->operands_n; i++) {
        gr_nearest_add(&n, s->operands[i].name);
        for (uint32_t k = 0; k < s->operands[i].items_n; k++)
            if (s->operands[i].items[k].e->kind == GR_E_NAME) gr_nearest_add(&n, s->operands[i].items[k].e->name);
    }
    if (n.best.n && n.word.n > 1) gr_report_hint(c->d, "did you mean %.*s?", GR_STR_ARG(n.best));
    return GR_K_NONE;
}

static bool fits(gr_kind_of is, gr_kind_of want) {
    if (want == GR_K_ANY || is == GR_K_ANY || is == want) return true;
    bool number = is == GR_K_INT || is == GR_K_FLOAT || is == GR_K_NUMBER;
    if (want == GR_K_NUMBER || want == GR_K_FLOAT) return number;
    if (want == GR_K_INT) return is == GR_K_NUMBER; /* min and max of integers: settled when evaluated */
    if (want == GR_K_SHAPES) return is == GR_K_LIST || is == GR_K_TENSOR;
    if (want == GR_K_FLOATS) return is == GR_K_LIST;
    return false;
}

static gr_kind_of wrong_kind(const checker *c, const gr_expr *e, gr_kind_of is, gr_kind_of want) {
    gr_report(c->d, GR_D_CONTRACT_EXPRESSION_KIND, gr_piece_place(c->src, e->offset), NULL, "%s stands where %s is needed", kind_text(is),
              kind_text(want));
    return GR_K_NONE;
}

static gr_kind_of arg_kind(char letter) {
    switch (letter) {
    case 'i': return GR_K_INT;
    case 'f': return GR_K_NUMBER;
    case 'b': return GR_K_BOOL;
    case 'v': return GR_K_SHAPES;
    case 't': return GR_K_TENSOR;
    default: return GR_K_ANY;
    }
}

/* s and l take several kinds; x any list. */
static bool arg_fits(char letter, gr_kind_of k) {
    if (letter == 's') return k == GR_K_LIST || k == GR_K_TENSOR || k == GR_K_SHAPES;
    if (letter == 'l') return k == GR_K_LIST || k == GR_K_INT || k == GR_K_NUMBER || k == GR_K_ANY;
    if (letter == 'x') return k == GR_K_LIST || k == GR_K_FLOATS;
    if (letter == '*') return k != GR_K_TENSOR && k != GR_K_SHAPES;
    return true;
}

static gr_kind_of check_call(const checker *c, const gr_expr *e) {
    const fn_row *f = &fns[e->fn];
    if (!c->s->dispatch && (e->fn == GR_FN_COUNT_OF || e->fn == GR_FN_INDEX || e->fn == GR_FN_PREFIX)) {
        gr_report(c->d, GR_D_CONTRACT_NAME_UNKNOWN, gr_piece_place(c->src, e->offset),
                  "it is known only while a kernel is dispatched: use it in a binding", "%s has no value here", f->text);
        return GR_K_NONE;
    }
    bool all_int = true;
    gr_kind_of last = GR_K_NONE;
    size_t letters = strlen(f->args);
    for (uint32_t i = 0; i < e->arg_n; i++) {
        char letter = f->args[i < letters ? i : letters - 1];
        last = check(c, e->arg[i], arg_kind(letter));
        if (!last) return GR_K_NONE;
        if (!arg_fits(letter, last))
            return wrong_kind(c, e->arg[i], last, letter == 'l' || letter == 'x' ? GR_K_LIST : letter == 's' ? GR_K_LIST : GR_K_NUMBER);
        all_int = all_int && last == GR_K_INT;
    }
    if (e->fn == GR_FN_IF) return last;
    return f->result == GR_K_NUMBER ? (all_int ? GR_K_INT : GR_K_FLOAT) : f->result;
}

static gr_kind_of check_binary(const checker *c, const gr_expr *e) {
    if (e->op == GR_OP_AND || e->op == GR_OP_OR) {
        bool ok = check(c, e->arg[0], GR_K_BOOL) && check(c, e->arg[1], GR_K_BOOL);
        return ok ? GR_K_BOOL : GR_K_NONE;
    }
    bool equality = e->op == GR_P_EQ || e->op == GR_P_NE;
    gr_kind_of x = check(c, e->arg[0], equality ? GR_K_ANY : GR_K_NUMBER);
    gr_kind_of y = x ? check(c, e->arg[1], equality ? GR_K_ANY : GR_K_NUMBER) : GR_K_NONE;
    if (!x || !y) return GR_K_NONE;
    if (equality && !fits(y, x) && !fits(x, y)) return wrong_kind(c, e->arg[1], y, x);
    if (gr_expr_power(e) == 4) return GR_K_BOOL;
    bool integer = x == GR_K_INT && y == GR_K_INT;
    if (e->op == GR_P_FLOOR_DIV || e->op == GR_P_CEIL_DIV || e->op == '%') {
        if (!integer && x != GR_K_NUMBER && y != GR_K_NUMBER) return wrong_kind(c, e, GR_K_FLOAT, GR_K_INT);
        return GR_K_INT;
    }
    return integer ? GR_K_INT : x == GR_K_FLOAT || y == GR_K_FLOAT ? GR_K_FLOAT : GR_K_NUMBER;
}

static gr_kind_of check_kind(const checker *c, const gr_expr *e) {
    gr_kind_of k;
    switch (e->kind) {
    case GR_E_INT: return GR_K_INT;
    case GR_E_FLOAT: return GR_K_FLOAT;
    case GR_E_BOOL: return GR_K_BOOL;
    case GR_E_NAME: k = gr_scope_find(c->s, e->name); return k ? k : is_word(c->s->sig, e->name) ? GR_K_WORD : unknown_name(c, e);
    case GR_E_INDEX:
        k = check(c, e->arg[0], GR_K_ANY);
        if (!k || !check(c, e->arg[1], GR_K_INT)) return GR_K_NONE;
        if (k != GR_K_LIST && k != GR_K_FLOATS) return wrong_kind(c, e->arg[0], k, GR_K_LIST);
        return k == GR_K_LIST ? GR_K_INT : GR_K_FLOAT;
    case GR_E_CALL: return check_call(c, e);
    case GR_E_LIST: {
        bool floats = false;
        for (uint32_t i = 0; i < e->arg_n; i++) {
            k = check(c, e->arg[i], GR_K_NUMBER);
            if (!k) return GR_K_NONE;
            floats = floats || k == GR_K_FLOAT;
        }
        return floats ? GR_K_FLOATS : GR_K_LIST;
    }
    case GR_E_NEG: return check(c, e->arg[0], GR_K_NUMBER);
    case GR_E_NOT: return check(c, e->arg[0], GR_K_BOOL);
    case GR_E_BINARY: return check_binary(c, e);
    case GR_E_NONE: break;
    }
    return GR_K_NONE;
}

static gr_kind_of check(const checker *c, const gr_expr *e, gr_kind_of want) {
    gr_kind_of k = check_kind(c, e);
    return !k || fits(k, want) ? k : wrong_kind(c, e, k, want);
}

gr_kind_of gr_expr_check(gr_diags *d, const gr_piece *src, const gr_scope *s, const gr_expr *e, gr_kind_of want) {
    checker c = {d, src, s};
    return check(&c, e, want);
}
