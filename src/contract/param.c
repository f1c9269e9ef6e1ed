/* Parameters of a call: given values, defaults, ranges. */
#include "contract/call_int.h"

static bool is_list(gr_param_kind k) { return k >= GR_PARAM_U32_LIST; }

static const char *kind_text(const gr_sig_param *q) {
    static const char *const t[] = {
        "nothing", "an integer of 0 or more",         "an integer",         "a number",         "true or false", "one of its words",
        "a dtype", "a list of integers of 0 or more", "a list of integers", "a list of numbers"};
    return t[q->kind];
}

static bool wrong_type(gr_caller *k, const gr_sig_param *q, const char *why) {
    gr_call_fail(k, GR_D_CONTRACT_PARAMETER_TYPE, NULL, "the parameter %.*s takes %s%s%s", GR_STR_ARG(q->name), kind_text(q),
                 why[0] ? "; " : "", why);
    gr_buf b = {0};
    for (uint32_t i = 0; i < q->words_n; i++) gr_buf_printf(&b, "%s%.*s", i ? ", " : "", GR_STR_ARG(q->words[i]));
    if (b.n) gr_report_hint(k->d, "the words are: %s", b.p);
    gr_buf_free(&b);
    return false;
}

/* A number that came from a document or an expression. */
typedef struct number {
    bool ok, integer;
    int64_t i;
    double f;
} number;

static number of_value(const gr_value *v) {
    if (v->kind == GR_V_INT) return (number){true, true, v->i, (double)v->i};
    if (v->kind == GR_V_UINT) return (number){true, false, 0, (double)v->u};
    if (v->kind == GR_V_FLOAT) {
        bool whole = v->f >= -9e15 && v->f <= 9e15 && (double)(int64_t)v->f == v->f;
        return (number){true, whole, whole ? (int64_t)v->f : 0, v->f};
    }
    if (v->kind == GR_V_STRING && gr_str_eqz(v->s, "inf")) return (number){true, false, 0, 1e308 * 10};
    if (v->kind == GR_V_STRING && gr_str_eqz(v->s, "-inf")) return (number){true, false, 0, -1e308 * 10};
    return (number){0};
}

static bool set_number(gr_caller *k, const gr_sig_param *q, number n, int64_t *i, double *f) {
    if (!n.ok) return wrong_type(k, q, "");
    if (q->kind == GR_PARAM_F32 || q->kind == GR_PARAM_F32_LIST) {
        *f = (double)(float)n.f;
        return true;
    }
    if (!n.integer) return wrong_type(k, q, "the value is no integer");
    bool u = q->kind == GR_PARAM_U32 || q->kind == GR_PARAM_U32_LIST;
    if (n.i < (u ? 0 : INT32_MIN) || n.i > (u ? (int64_t)UINT32_MAX : INT32_MAX))
        return gr_call_fail(k, GR_D_CONTRACT_PARAMETER_RANGE, NULL, "the parameter %.*s is %lld, which is no %s", GR_STR_ARG(q->name),
                            (long long)n.i, u ? "u32" : "i32");
    *i = n.i;
    return true;
}

/* Is `given` the word? A hyphen in it stands for an underscore: nearest-neighbor is nearest_neighbor. */
static bool is_word(gr_str word, gr_str given) {
    if (word.n != given.n) return false;
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] != given.p[i] && !(word.p[i] == '_' && given.p[i] == '-')) return false;
    return true;
}

static bool set_word(gr_caller *k, const gr_sig_param *q, gr_str word, gr_param *out) {
    out->word = word;
    gr_nearest near = gr_nearest_start(word);
    for (uint32_t i = 0; i < q->words_n; i++) {
        gr_nearest_add(&near, q->words[i]);
        if (!is_word(q->words[i], word)) continue;
        out->word = q->words[i];
        out->i = q->kind == GR_PARAM_DTYPE ? (int64_t)gr_dtype_find(word) : (int64_t)i;
        return true;
    }
    gr_dtype t = gr_dtype_find(word);
    if (q->kind == GR_PARAM_DTYPE && !q->words_n && t) {
        out->word = gr_str_of(gr_dtype_name(t));
        out->i = (int64_t)t;
        return true;
    }
    wrong_type(k, q, "");
    if (near.best.n) gr_report_hint(k->d, "did you mean %.*s?", GR_STR_ARG(near.best));
    return false;
}

static bool new_list(gr_caller *k, gr_param *out, uint32_t n) {
    out->n = n;
    if (out->kind == GR_PARAM_F32_LIST) out->lf = GR_NEW_N(k->a, double, n);
    else out->li = GR_NEW_N(k->a, int64_t, n);
    return out->lf || out->li || gr_report_oom(k->d);
}

static bool set_entry(gr_caller *k, const gr_sig_param *q, gr_param *out, uint32_t i, number n) {
    int64_t v = 0;
    double f = 0;
    GR_TRY(set_number(k, q, n, &v, &f));
    if (out->lf) out->lf[i] = f;
    else out->li[i] = v;
    return true;
}

/* ---- given values ---- */

static bool from_value(gr_caller *k, const gr_sig_param *q, const gr_value *v, gr_param *out) {
    if (is_list(q->kind)) {
        bool one = v->kind != GR_V_ARRAY;
        uint32_t n = one ? 1 : v->array.n;
        if (one && !of_value(v).ok) return wrong_type(k, q, "");
        if (n > 4096) return gr_call_fail(k, GR_D_CONTRACT_TOO_LARGE, NULL, "the parameter %.*s has %u entries", GR_STR_ARG(q->name), n);
        GR_TRY(new_list(k, out, n));
        for (uint32_t i = 0; i < n; i++) GR_TRY(set_entry(k, q, out, i, of_value(one ? v : v->array.v[i])));
        return true;
    }
    switch (q->kind) {
    case GR_PARAM_BOOL:
        if (v->kind != GR_V_BOOL) return wrong_type(k, q, "");
        out->i = v->b;
        return true;
    case GR_PARAM_ENUM:
    case GR_PARAM_DTYPE:
        if (v->kind != GR_V_STRING) return wrong_type(k, q, "the value is no string");
        return set_word(k, q, v->s, out);
    default: return set_number(k, q, of_value(v), &out->i, &out->f);
    }
}

static number of_param(const gr_param *p, uint32_t i) {
    if (p->kind == GR_PARAM_F32) return (number){true, false, 0, p->f};
    if (p->kind == GR_PARAM_F32_LIST) return (number){true, false, 0, p->lf[i]};
    if (p->kind == GR_PARAM_U32 || p->kind == GR_PARAM_I32) return (number){true, true, p->i, (double)p->i};
    if (p->kind == GR_PARAM_U32_LIST || p->kind == GR_PARAM_I32_LIST) return (number){true, true, p->li[i], (double)p->li[i]};
    return (number){0};
}

static bool from_param(gr_caller *k, const gr_sig_param *q, const gr_param *p, gr_param *out) {
    if (is_list(q->kind)) {
        GR_TRY(new_list(k, out, is_list(p->kind) ? p->n : 1));
        for (uint32_t i = 0; i < out->n; i++) GR_TRY(set_entry(k, q, out, i, of_param(p, i)));
        return true;
    }
    switch (q->kind) {
    case GR_PARAM_BOOL:
        if (p->kind != GR_PARAM_BOOL) return wrong_type(k, q, "");
        out->i = p->i;
        return true;
    case GR_PARAM_ENUM:
    case GR_PARAM_DTYPE:
        if (p->kind != GR_PARAM_ENUM && p->kind != GR_PARAM_DTYPE) return wrong_type(k, q, "");
        return set_word(k, q, p->word, out);
    default:
        if (is_list(p->kind)) return wrong_type(k, q, "the value is a list");
        return set_number(k, q, of_param(p, 0), &out->i, &out->f);
    }
}

/* ---- defaults ---- */

static uint32_t first_rank(const gr_call *c) { return c->operands_n ? c->operands[0].rank : 0; }

static bool list_length(gr_caller *k, const gr_sig_param *q, uint32_t *n) {
    *n = first_rank(k->out); /* [*]: one entry an axis of the first operand */
    if (!q->len) return true;
    int64_t len;
    GR_TRY(gr_expr_int(k->d, q->len, k->out, NULL, NULL, k->at, &len));
    if (len < 0 || len > 4096)
        return gr_call_fail(k, GR_D_CONTRACT_TOO_LARGE, NULL, "the parameter %.*s would have %lld entries", GR_STR_ARG(q->name),
                            (long long)len);
    *n = (uint32_t)len;
    return true;
}

static bool default_axes(gr_caller *k, const gr_sig_param *q, gr_param *out) {
    uint32_t n = first_rank(k->out);
    GR_TRY(new_list(k, out, n));
    bool all = gr_str_eqz(q->def_word, "all");
    for (uint32_t i = 0; i < n; i++) out->li[i] = all ? i : n - 1 - i;
    return true;
}

static number of_val(const gr_val *x, uint32_t i) {
    if (x->kind == GR_K_INT) return (number){true, true, x->n.i, (double)x->n.i};
    if (x->kind == GR_K_FLOAT) return (number){true, false, 0, x->f};
    if (x->kind == GR_K_LIST) return (number){true, true, x->list[i].i, (double)x->list[i].i};
    if (x->kind == GR_K_FLOATS) return (number){true, false, 0, x->floats[i]};
    return (number){0};
}

static bool default_value(gr_caller *k, const gr_sig_param *q, gr_param *out) {
    if (q->def_word.n && is_list(q->kind)) return default_axes(k, q, out);
    if (q->def_word.n) {
        gr_dtype t;
        bool var = q->kind == GR_PARAM_DTYPE && gr_call_dtype(k->out, q->def_word, &t);
        return set_word(k, q, var ? gr_str_of(gr_dtype_name(t)) : q->def_word, out);
    }
    gr_evaluator v = {.a = k->a, .d = k->d, .c = k->out, .at = k->at, .what = "a default", .whole = q->def};
    gr_val x;
    GR_TRY(gr_eval(&v, q->def, &x));
    if (q->kind == GR_PARAM_BOOL) {
        out->i = x.n.i;
        return true;
    }
    if (!is_list(q->kind)) return set_number(k, q, of_val(&x, 0), &out->i, &out->f);
    bool list = x.kind == GR_K_LIST || x.kind == GR_K_FLOATS;
    uint32_t n = x.len;
    if (!list) GR_TRY(list_length(k, q, &n));
    GR_TRY(new_list(k, out, n));
    for (uint32_t i = 0; i < n; i++) GR_TRY(set_entry(k, q, out, i, of_val(&x, list ? i : 0)));
    return true;
}

/* ---- ranges ---- */

static double entry(const gr_param *p, uint32_t i) {
    if (p->lf) return p->lf[i];
    if (p->li) return (double)p->li[i];
    return p->kind == GR_PARAM_F32 ? p->f : (double)p->i;
}

static bool out_of_range(gr_caller *k, const gr_sig_param *q, double v, double lo, double hi) {
    gr_buf b = {0};
    gr_buf_printf(&b, "the parameter %.*s is ", GR_STR_ARG(q->name));
    gr_buf_f64(&b, v);
    gr_buf_puts(&b, ", it must be ");
    if (q->lo && q->hi) {
        gr_buf_f64(&b, lo);
        gr_buf_puts(&b, " to ");
        gr_buf_f64(&b, hi);
    } else if (q->lo || q->hi) {
        gr_buf_puts(&b, q->lo ? "at least " : "at most ");
        gr_buf_f64(&b, q->lo ? lo : hi);
    }
    if (q->odd || q->even) gr_buf_printf(&b, "%s%s", q->lo || q->hi ? " and " : "", q->odd ? "odd" : "even");
    gr_call_fail(k, GR_D_CONTRACT_PARAMETER_RANGE, NULL, "%s", b.p ? b.p : "out of range");
    gr_buf_free(&b);
    return false;
}

static bool in_range(gr_caller *k, const gr_sig_param *q, const gr_param *p) {
    double lo = 0, hi = 0;
    if (q->lo) GR_TRY(gr_expr_float(k->d, q->lo, k->out, k->at, &lo));
    if (q->hi) GR_TRY(gr_expr_float(k->d, q->hi, k->out, k->at, &hi));
    for (uint32_t i = 0; i < (is_list(p->kind) ? p->n : 1); i++) {
        double v = entry(p, i);
        bool bad = (q->lo && !(v >= lo)) || (q->hi && !(v <= hi));
        bad = bad || (q->odd && p->i % 2 == 0) || (q->even && p->i % 2 != 0);
        if (bad) return out_of_range(k, q, v, lo, hi);
    }
    if (!is_list(p->kind) || !q->len) return true;
    uint32_t n;
    GR_TRY(list_length(k, q, &n));
    return p->n == n || gr_call_fail(k, GR_D_CONTRACT_PARAMETER_TYPE, NULL, "the parameter %.*s has %u entries, it takes %u",
                                     GR_STR_ARG(q->name), p->n, n);
}

/* ---- all ---- */

static bool unknown(gr_caller *k, const gr_arg *arg) {
    const gr_sig *s = &k->out->op->sig;
    gr_nearest near = gr_nearest_start(arg->name);
    gr_buf b = {0};
    for (uint32_t i = 0; i < s->params_n; i++) {
        gr_nearest_add(&near, s->params[i].name);
        gr_buf_printf(&b, "%s%.*s", i ? ", " : "", GR_STR_ARG(s->params[i].name));
    }
    int n = arg->name.n > 80 ? 80 : (int)arg->name.n;
    gr_call_fail(k, GR_D_CONTRACT_PARAMETER_UNKNOWN, NULL, "there is no parameter %.*s", n, arg->name.p);
    if (near.best.n) gr_report_hint(k->d, "did you mean %.*s?", GR_STR_ARG(near.best));
    else gr_report_hint(k->d, b.n ? "its parameters are: %s" : "it has no parameters%s", b.n ? b.p : "");
    gr_buf_free(&b);
    return false;
}

static bool read_given(gr_caller *k, const gr_arg *args, uint32_t n) {
    const gr_sig *s = &k->out->op->sig;
    gr_place call = k->at;
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        int p = gr_sig_find_param(s, args[i].name);
        k->at = args[i].at.document.n || args[i].at.line ? args[i].at : call;
        if (p < 0) {
            ok = unknown(k, &args[i]);
            continue;
        }
        gr_param *out = &k->out->params[p];
        if (out->given) {
            ok = gr_call_fail(k, GR_D_CONTRACT_PARAMETER_REPEATED, "keep one of the two", "the parameter %.*s is given twice",
                              GR_STR_ARG(args[i].name));
            continue;
        }
        out->given = true;
        bool one = args[i].is_resolved ? from_param(k, &s->params[p], &args[i].resolved, out)
                                       : args[i].value && from_value(k, &s->params[p], args[i].value, out);
        ok = one && ok;
    }
    k->at = call;
    return ok;
}

bool gr_call_params(gr_caller *k, const gr_arg *args, uint32_t n, bool names_known) {
    const gr_sig *s = &k->out->op->sig;
    gr_param *params = GR_NEW_N(k->a, gr_param, s->params_n);
    if (!params) return gr_report_oom(k->d);
    k->out->params = params;
    for (uint32_t i = 0; i < s->params_n; i++) params[i].kind = s->params[i].kind;
    bool ok = read_given(k, args, n);
    for (uint32_t i = 0; i < s->params_n; i++) {
        const gr_sig_param *q = &s->params[i];
        if (!params[i].given && q->required) {
            ok = gr_call_fail(k, GR_D_CONTRACT_PARAMETER_MISSING, NULL, "the parameter %.*s is needed: it has no default",
                              GR_STR_ARG(q->name));
            gr_report_hint(k->d, "give %.*s, %s", GR_STR_ARG(q->name), kind_text(q));
        } else if (!params[i].given && names_known && ok) {
            ok = default_value(k, q, &params[i]);
        }
    }
    for (uint32_t i = 0; i < s->params_n && ok && names_known; i++) ok = in_range(k, &s->params[i], &params[i]);
    return ok;
}
