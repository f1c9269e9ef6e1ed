/* Evaluation of expressions over a call. */
#include "contract/contract_int.h"

#include "base/checked.h"
#include "base/math.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- reports ---- */

static const gr_env_dim *find_dim(const gr_call *c, gr_str name) {
    for (uint32_t i = 0; c->env && i < c->env->dims.n; i++)
        if (gr_str_eq(c->env->dims.v[i].name, name)) return &c->env->dims.v[i];
    return NULL;
}

static const gr_env_rest *find_rest(const gr_call *c, gr_str name) {
    for (uint32_t i = 0; c->env && i < c->env->rests.n; i++)
        if (gr_str_eq(c->env->rests.v[i].name, name)) return &c->env->rests.v[i];
    return NULL;
}

static void put_separator(gr_buf *out, size_t start) {
    if (out->n > start) gr_buf_puts(out, ", ");
}

static void put_param(gr_buf *out, const gr_param *p, gr_str name) {
    gr_buf_printf(out, "%.*s = ", GR_STR_ARG(name));
    if (p->kind == GR_PARAM_F32) gr_buf_f64(out, p->f);
    else if (p->kind == GR_PARAM_ENUM || p->kind == GR_PARAM_DTYPE) gr_buf_str(out, p->word);
    else if (p->kind == GR_PARAM_BOOL) gr_buf_puts(out, p->i ? "true" : "false");
    else if (p->kind == GR_PARAM_U32 || p->kind == GR_PARAM_I32) gr_buf_printf(out, "%lld", (long long)p->i);
    else {
        gr_buf_putc(out, '[');
        for (uint32_t i = 0; i < p->n && i < 16; i++) {
            if (i) gr_buf_puts(out, ", ");
            if (p->lf) gr_buf_f64(out, p->lf[i]);
            else gr_buf_printf(out, "%lld", (long long)p->li[i]);
        }
        gr_buf_puts(out, p->n > 16 ? ", ...]" : "]");
    }
    gr_buf_puts(out, p->given ? " (parameter)" : " (parameter, its default)");
}

static void put_origin(gr_buf *out, const gr_call *c, gr_str name, size_t start) {
    const gr_env_dim *d = find_dim(c, name);
    const gr_env_rest *r = find_rest(c, name);
    int p = gr_sig_find_param(&c->op->sig, name);
    if (d) {
        put_separator(out, start);
        gr_buf_printf(out, "%.*s = %llu (dimension %u of %.*s)", GR_STR_ARG(name), (unsigned long long)d->d.n, d->axis,
                      GR_STR_ARG(c->op->sig.operands[d->tensor].name));
    } else if (r && r->shapes_n) {
        put_separator(out, start);
        gr_buf_printf(out, "%.*s = [", GR_STR_ARG(name));
        for (uint32_t i = 0; i < r->shapes[0].rank; i++)
            gr_buf_printf(out, "%s%llu", i ? ", " : "", (unsigned long long)r->shapes[0].dim[i].n);
        gr_buf_printf(out, "] (of %.*s)", GR_STR_ARG(c->op->sig.operands[r->tensor].name));
    } else if (p >= 0 && c->params) {
        put_separator(out, start);
        put_param(out, &c->params[p], name);
    }
}

static void origins(gr_buf *out, const gr_call *c, const gr_expr *e, size_t start, gr_str *seen, uint32_t *seen_n) {
    if (e->kind == GR_E_NAME && *seen_n < 8) {
        for (uint32_t i = 0; i < *seen_n; i++)
            if (gr_str_eq(seen[i], e->name)) return;
        seen[(*seen_n)++] = e->name;
        put_origin(out, c, e->name, start);
    }
    for (uint32_t i = 0; i < e->arg_n; i++) origins(out, c, e->arg[i], start, seen, seen_n);
}

void gr_eval_origins(gr_buf *out, const gr_evaluator *v, const gr_expr *e) {
    gr_str seen[8];
    uint32_t n = 0;
    origins(out, v->c, e, out->n, seen, &n);
}

bool gr_eval_fail(gr_evaluator *v, gr_diag_name name, const char *hint, const char *fmt, ...) {
    char t[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t, sizeof t, fmt, ap);
    va_end(ap);
    gr_buf b = {0};
    gr_buf_printf(&b, "%.*s: ", GR_STR_ARG(v->c->op->id));
    if (v->what) gr_buf_printf(&b, "%s: ", v->what);
    gr_buf_puts(&b, t);
    if (v->whole) {
        size_t at = b.n;
        gr_buf_puts(&b, "; ");
        gr_eval_origins(&b, v, v->whole);
        if (b.n == at + 2 && b.p) b.n = at;
    }
    gr_report(v->d, name, v->at, hint, "%.*s", (int)b.n, b.p ? b.p : t);
    gr_buf_free(&b);
    return false;
}

static bool fail_expr(gr_evaluator *v, gr_diag_name name, const gr_expr *e, const char *what) {
    gr_buf b = {0};
    gr_expr_print(&b, e);
    gr_eval_fail(v, name, NULL, "%.*s: %s", (int)(b.n > 120 ? 120 : b.n), b.p ? b.p : "", what);
    gr_buf_free(&b);
    return false;
}

/* ---- values ---- */

static void set_int(gr_val *out, int64_t i) { *out = (gr_val){.kind = GR_K_INT, .n = {.i = i}}; }
static void set_bool(gr_val *out, bool b) { *out = (gr_val){.kind = GR_K_BOOL, .n = {.i = b}}; }
static void set_float(gr_val *out, double f) { *out = (gr_val){.kind = GR_K_FLOAT, .f = f}; }
static void set_dim(gr_val *out, gr_dim d) { *out = (gr_val){.kind = GR_K_INT, .n = {(int64_t)d.n, d.base, d.add}}; }

bool gr_eval_new_list(gr_evaluator *v, uint32_t n, gr_val *out) {
    *out = (gr_val){.kind = GR_K_LIST, .len = n, .list = GR_NEW_N(v->a, gr_int, n)};
    return out->list || gr_report_oom(v->d);
}

static bool list_of_shape(gr_evaluator *v, const gr_dim *dim, uint32_t rank, gr_val *out) {
    GR_TRY(gr_eval_new_list(v, rank, out));
    for (uint32_t i = 0; i < rank; i++) out->list[i] = (gr_int){(int64_t)dim[i].n, dim[i].base, dim[i].add};
    return true;
}

static bool param_value(gr_evaluator *v, const gr_param *p, gr_val *out) {
    switch (p->kind) {
    case GR_PARAM_U32:
    case GR_PARAM_I32: set_int(out, p->i); return true;
    case GR_PARAM_BOOL: set_bool(out, p->i != 0); return true;
    case GR_PARAM_F32: set_float(out, p->f); return true;
    case GR_PARAM_ENUM:
    case GR_PARAM_DTYPE: *out = (gr_val){.kind = GR_K_WORD, .word = p->word}; return true;
    case GR_PARAM_F32_LIST: *out = (gr_val){.kind = GR_K_FLOATS, .len = p->n, .floats = p->lf}; return true;
    case GR_PARAM_U32_LIST:
    case GR_PARAM_I32_LIST:
        GR_TRY(gr_eval_new_list(v, p->n, out));
        for (uint32_t i = 0; i < p->n; i++) out->list[i].i = p->li[i];
        return true;
    case GR_PARAM_NONE: break;
    }
    return gr_eval_fail(v, GR_D_CONTRACT_NAME_UNKNOWN, NULL, "a parameter is used before it is known");
}

static bool eval_name(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    const gr_call *c = v->c;
    if (v->lo && gr_str_eqz(e->name, "lo")) {
        set_int(out, *v->lo);
        return true;
    }
    if (v->hi && gr_str_eqz(e->name, "hi")) {
        set_int(out, *v->hi);
        return true;
    }
    if (v->cut && gr_str_eqz(e->name, "cut")) {
        set_int(out, *v->cut);
        return true;
    }
    if (c->repeat.n && gr_str_eq(c->repeat, e->name)) {
        set_int(out, c->turn);
        return true;
    }
    int p = gr_sig_find_param(&c->op->sig, e->name);
    if (p >= 0 && c->params) return param_value(v, &c->params[p], out);
    const gr_env_dim *d = find_dim(c, e->name);
    if (d) {
        set_dim(out, d->d);
        return true;
    }
    const gr_env_rest *r = find_rest(c, e->name);
    if (r && c->op->sig.operands[r->tensor].variadic) {
        *out = (gr_val){.kind = GR_K_SHAPES, .len = r->shapes_n, .shapes = r->shapes};
        return true;
    }
    if (r && r->shapes_n) return list_of_shape(v, r->shapes[0].dim, r->shapes[0].rank, out);
    gr_dtype t;
    if (gr_call_dtype(c, e->name, &t)) {
        *out = (gr_val){.kind = GR_K_WORD, .word = gr_str_of(gr_dtype_name(t))};
        return true;
    }
    const gr_type *x = gr_call_type(c, e->name);
    if (x) return list_of_shape(v, x->dim, x->rank, out); /* a tensor as an argument means its shape */
    if (gr_sig_find_operand(&c->op->sig, e->name) >= 0)
        return fail_expr(v, GR_D_CONTRACT_NAME_UNKNOWN, e, "is an operand that is not given here");
    *out = (gr_val){.kind = GR_K_WORD, .word = e->name};
    return true;
}

/* ---- arithmetic ---- */

static double as_float(const gr_val *x) { return x->kind == GR_K_FLOAT ? x->f : (double)x->n.i; }

static bool want_number(gr_evaluator *v, const gr_expr *e, const gr_val *x) {
    if (x->kind == GR_K_INT || x->kind == GR_K_FLOAT) return true;
    return fail_expr(v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is not a number");
}

/* n - w keeps the symbol of n: base + add. Two symbols give none. */
static void keep_symbol(gr_int *out, gr_int x, gr_int y, bool minus) {
    int64_t add;
    if (x.base.n && !y.base.n && (minus ? gr_sub_i64(x.add, y.i, &add) : gr_add_i64(x.add, y.i, &add))) {
        out->base = x.base;
        out->add = add;
    } else if (!minus && y.base.n && !x.base.n && gr_add_i64(y.add, x.i, &add)) {
        out->base = y.base;
        out->add = add;
    }
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

static bool underflow(gr_evaluator *v, const gr_expr *e, int64_t value);

static bool divide(gr_evaluator *v, const gr_expr *e, int64_t a, int64_t b, gr_val *out) {
    if (b == 0) return fail_expr(v, GR_D_CONTRACT_DIVISION_BY_ZERO, e, "divides by zero");
    if (a == INT64_MIN && b == -1) return fail_expr(v, GR_D_CONTRACT_OVERFLOW, e, "is too large");
    if (a < 0 && v->minus) return underflow(v, e->arg[0], a); /* a size below zero would be rounded away */
    if (e->op == GR_P_FLOOR_DIV) set_int(out, floor_div(a, b));
    else if (e->op == GR_P_CEIL_DIV) set_int(out, floor_div(a, b) + (a % b != 0));
    else if (e->op == '%') set_int(out, a - floor_div(a, b) * b);
    else if (a % b == 0) set_int(out, a / b);
    else {
        char t[100];
        snprintf(t, sizeof t, "%lld / %lld leaves the remainder %lld", (long long)a, (long long)b, (long long)(a % b));
        fail_expr(v, GR_D_CONTRACT_NOT_DIVISIBLE, e, t);
        gr_report_hint(v->d, "// rounds down and /^ rounds up");
        return false;
    }
    return true;
}

static bool int_op(gr_evaluator *v, const gr_expr *e, gr_int x, gr_int y, gr_val *out) {
    gr_int r = {0};
    bool fits = false;
    switch (e->op) {
    case '+': fits = gr_add_i64(x.i, y.i, &r.i); break;
    case '-': fits = gr_sub_i64(x.i, y.i, &r.i); break;
    case '*': fits = gr_mul_i64(x.i, y.i, &r.i); break;
    default: return divide(v, e, x.i, y.i, out);
    }
    if (!fits) return fail_expr(v, GR_D_CONTRACT_OVERFLOW, e, "is too large");
    if (e->op == '+' || e->op == '-') keep_symbol(&r, x, y, e->op == '-');
    if (e->op == '-' && r.i < 0 && x.i >= 0 && !v->minus) {
        v->minus = e;
        v->minus_a = x.i;
        v->minus_b = y.i;
    }
    *out = (gr_val){.kind = GR_K_INT, .n = r};
    return true;
}

static bool float_op(gr_evaluator *v, const gr_expr *e, double a, double b, gr_val *out) {
    switch (e->op) {
    case '+': set_float(out, a + b); return true;
    case '-': set_float(out, a - b); return true;
    case '*': set_float(out, a * b); return true;
    case '/':
        if (b == 0) return fail_expr(v, GR_D_CONTRACT_DIVISION_BY_ZERO, e, "divides by zero");
        set_float(out, a / b);
        return true;
    default: return fail_expr(v, GR_D_CONTRACT_EXPRESSION_KIND, e, "takes integers");
    }
}

static bool lists_equal(const gr_val *x, const gr_val *y) {
    if (x->len != y->len) return false;
    for (uint32_t i = 0; i < x->len; i++) {
        double a = x->kind == GR_K_FLOATS ? x->floats[i] : (double)x->list[i].i,
               b = y->kind == GR_K_FLOATS ? y->floats[i] : (double)y->list[i].i;
        if (a != b) return false;
    }
    return true;
}

static bool is_list(const gr_val *x) { return x->kind == GR_K_LIST || x->kind == GR_K_FLOATS; }

static bool compare(gr_evaluator *v, const gr_expr *e, const gr_val *x, const gr_val *y, gr_val *out) {
    bool equality = e->op == GR_P_EQ || e->op == GR_P_NE, same;
    if (equality && x->kind == GR_K_WORD && y->kind == GR_K_WORD) same = gr_str_eq(x->word, y->word);
    else if (equality && x->kind == GR_K_BOOL && y->kind == GR_K_BOOL) same = x->n.i == y->n.i;
    else if (equality && is_list(x) && is_list(y)) same = lists_equal(x, y);
    else {
        GR_TRY(want_number(v, e->arg[0], x) && want_number(v, e->arg[1], y));
        bool ints = x->kind == GR_K_INT && y->kind == GR_K_INT;
        int c = ints ? (x->n.i > y->n.i) - (x->n.i < y->n.i) : (as_float(x) > as_float(y)) - (as_float(x) < as_float(y));
        set_bool(out, e->op == '<'       ? c < 0
                      : e->op == '>'     ? c > 0
                      : e->op == GR_P_LE ? c <= 0
                      : e->op == GR_P_GE ? c >= 0
                                         : (c == 0) == (e->op == GR_P_EQ));
        return true;
    }
    set_bool(out, same == (e->op == GR_P_EQ));
    return true;
}

static bool eval_bool(gr_evaluator *v, const gr_expr *e, bool *out) {
    gr_val x;
    GR_TRY(gr_eval(v, e, &x));
    if (x.kind != GR_K_BOOL) return fail_expr(v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is not a condition");
    *out = x.n.i != 0;
    return true;
}

static bool eval_binary(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    if (e->op == GR_OP_AND || e->op == GR_OP_OR) {
        bool x, y;
        GR_TRY(eval_bool(v, e->arg[0], &x));
        if (x == (e->op == GR_OP_OR)) {
            set_bool(out, x);
            return true;
        } /* the right side may be undefined then */
        GR_TRY(eval_bool(v, e->arg[1], &y));
        set_bool(out, y);
        return true;
    }
    gr_val x, y;
    GR_TRY(gr_eval(v, e->arg[0], &x) && gr_eval(v, e->arg[1], &y));
    if (gr_expr_power(e) == 4) return compare(v, e, &x, &y, out);
    GR_TRY(want_number(v, e->arg[0], &x) && want_number(v, e->arg[1], &y));
    if (x.kind == GR_K_INT && y.kind == GR_K_INT) return int_op(v, e, x.n, y.n, out);
    return float_op(v, e, as_float(&x), as_float(&y), out);
}

/* ---- functions of numbers ---- */

static bool to_int(gr_evaluator *v, const gr_expr *e, double f, gr_val *out) {
    if (!(f >= -9e15 && f <= 9e15)) return fail_expr(v, GR_D_CONTRACT_OVERFLOW, e, "is too large");
    set_int(out, (int64_t)f);
    return true;
}

static bool extreme(gr_evaluator *v, const gr_expr *e, const gr_val *x, gr_val *out) {
    bool floats = false;
    for (uint32_t i = 0; i < e->arg_n; i++) {
        GR_TRY(want_number(v, e->arg[i], &x[i]));
        floats = floats || x[i].kind == GR_K_FLOAT;
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < e->arg_n; i++) {
        bool less = floats ? as_float(&x[i]) < as_float(&x[best]) : x[i].n.i < x[best].n.i;
        bool more = floats ? as_float(&x[i]) > as_float(&x[best]) : x[i].n.i > x[best].n.i;
        if (e->fn == GR_FN_MIN ? less : more) best = i;
    }
    *out = x[best];
    if (floats) set_float(out, as_float(&x[best]));
    return true;
}

/* The tensors of one operand name, or all outputs. */
static const gr_type *tensors_of(const gr_call *c, gr_str name, uint32_t *n) {
    int t = gr_sig_find_operand(&c->op->sig, name);
    if (t < 0) {
        *n = c->outputs_n;
        return c->outputs;
    }
    *n = c->operand_first[t + 1] - c->operand_first[t];
    return c->operands + c->operand_first[t];
}

static bool tensor_fn(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    gr_str name = e->arg[0]->kind == GR_E_NAME ? e->arg[0]->name : (gr_str){0};
    uint32_t n;
    const gr_type *list = tensors_of(v->c, name, &n);
    if (e->fn == GR_FN_GIVEN) {
        const gr_type *x = gr_call_type(v->c, name);
        set_bool(out, x && x->dtype);
        return true;
    }
    if (e->fn == GR_FN_NUMBER) {
        set_int(out, n);
        return true;
    }
    if (e->fn == GR_FN_INDEX) {
        set_int(out, v->c->each);
        return true;
    }
    if (e->fn == GR_FN_COUNT_OF) { /* at planning time a bounded tensor counts as full */
        const gr_type *x = gr_call_type(v->c, name);
        if (!x || !x->rank) return fail_expr(v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is no tensor with a count");
        set_int(out, (int64_t)x->dim[0].n);
        return true;
    }
    gr_val axis;
    GR_TRY(gr_eval(v, e->arg[1], &axis));
    int64_t sum = 0;
    for (uint32_t i = 0; i < v->c->each && i < n; i++) {
        if (axis.n.i < 0 || axis.n.i >= list[i].rank)
            return fail_expr(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, e, "names an axis that is not there");
        sum += (int64_t)list[i].dim[axis.n.i].n;
    }
    set_int(out, sum);
    return true;
}

/* Digits of n in base 2; none for 0 and below. */
static int64_t bit_length(int64_t n) {
    int64_t bits = 0;
    for (; n > 0; n >>= 1) bits++;
    return bits;
}

enum { FACTORS_MAX = 64 };

/* n as a product: the greatest divisors up to most first, then what is left as primes. n below 2 has no factors. */
static bool factors(gr_evaluator *v, const gr_expr *e, int64_t n, int64_t most, gr_val *out) {
    int64_t list[FACTORS_MAX], limit = (int64_t)1 << 40;
    uint32_t count = 0;
    if (most < 2 || most > 65536) return fail_expr(v, GR_D_CONTRACT_OVERFLOW, e, "takes a greatest factor from 2 to 65536");
    if (n > limit) return fail_expr(v, GR_D_CONTRACT_OVERFLOW, e, "is too large to be factored");
    for (int64_t d = most; d > 1 && n > 1; d -= n % d != 0)
        if (n % d == 0) list[count++] = d, n /= d;
    for (int64_t d = 2; n > 1; d++) {
        if (d * d > n) d = n;
        for (; n % d == 0; n /= d) list[count++] = d;
    }
    GR_TRY(gr_eval_new_list(v, count, out));
    for (uint32_t i = 0; i < count; i++) out->list[i].i = list[i];
    return true;
}

static bool eval_if(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    bool c;
    GR_TRY(eval_bool(v, e->arg[0], &c));
    return gr_eval(v, e->arg[c ? 1 : 2], out);
}

static bool eval_call(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    gr_val x[8] = {{0}};
    if (e->fn == GR_FN_IF) return eval_if(v, e, out);
    if (e->fn == GR_FN_GIVEN || e->fn == GR_FN_NUMBER || e->fn == GR_FN_INDEX || e->fn == GR_FN_COUNT_OF || e->fn == GR_FN_PREFIX)
        return tensor_fn(v, e, out);
    for (uint32_t i = 0; i < e->arg_n; i++) GR_TRY(gr_eval(v, e->arg[i], &x[i]));
    switch (e->fn) {
    case GR_FN_MIN:
    case GR_FN_MAX: return extreme(v, e, x, out);
    case GR_FN_FLOOR: GR_TRY(want_number(v, e, &x[0])); return to_int(v, e, gr_floor(as_float(&x[0])), out);
    case GR_FN_CEIL: GR_TRY(want_number(v, e, &x[0])); return to_int(v, e, gr_ceil(as_float(&x[0])), out);
    case GR_FN_BIT_LENGTH: set_int(out, bit_length(x[0].n.i)); return true;
    case GR_FN_FACTORS: return factors(v, e, x[0].n.i, x[1].n.i, out);
    case GR_FN_SQRT:
    case GR_FN_EXP:
    case GR_FN_LOG:
        GR_TRY(want_number(v, e, &x[0]));
        set_float(out, e->fn == GR_FN_SQRT  ? gr_sqrt(as_float(&x[0]))
                       : e->fn == GR_FN_EXP ? gr_exp(as_float(&x[0]))
                                            : gr_log(as_float(&x[0])));
        return true;
    default: return gr_eval_shape_fn(v, e, x, out);
    }
}

/* ---- the tree ---- */

static bool eval_index(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    gr_val l, i;
    GR_TRY(gr_eval(v, e->arg[0], &l) && gr_eval(v, e->arg[1], &i));
    if (!is_list(&l) || i.kind != GR_K_INT) return fail_expr(v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is not an element of a list");
    if (i.n.i < 0 || i.n.i >= l.len) {
        char t[100];
        snprintf(t, sizeof t, "index %lld of a list of %u", (long long)i.n.i, l.len);
        return fail_expr(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, e, t);
    }
    if (l.kind == GR_K_FLOATS) set_float(out, l.floats[i.n.i]);
    else *out = (gr_val){.kind = GR_K_INT, .n = l.list[i.n.i]};
    return true;
}

static bool eval_list_literal(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    GR_TRY(gr_eval_new_list(v, e->arg_n, out));
    for (uint32_t i = 0; i < e->arg_n; i++) {
        gr_val x;
        GR_TRY(gr_eval(v, e->arg[i], &x) && want_number(v, e->arg[i], &x));
        if (x.kind == GR_K_FLOAT && out->kind == GR_K_LIST) {
            out->kind = GR_K_FLOATS;
            out->floats = GR_NEW_N(v->a, double, e->arg_n);
            if (!out->floats) return gr_report_oom(v->d);
            for (uint32_t k = 0; k < i; k++) out->floats[k] = (double)out->list[k].i;
        }
        if (out->kind == GR_K_FLOATS) out->floats[i] = as_float(&x);
        else out->list[i] = x.n;
    }
    return true;
}

static bool eval_neg(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    gr_val x;
    GR_TRY(gr_eval(v, e->arg[0], &x) && want_number(v, e->arg[0], &x));
    if (x.kind == GR_K_FLOAT) set_float(out, -x.f);
    else if (x.n.i == INT64_MIN) return fail_expr(v, GR_D_CONTRACT_OVERFLOW, e, "is too large");
    else set_int(out, -x.n.i);
    return true;
}

static bool eval_kind(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    bool b;
    switch (e->kind) {
    case GR_E_INT: set_int(out, e->i); return true;
    case GR_E_FLOAT: set_float(out, e->f); return true;
    case GR_E_BOOL: set_bool(out, e->i != 0); return true;
    case GR_E_NAME: return eval_name(v, e, out);
    case GR_E_INDEX: return eval_index(v, e, out);
    case GR_E_CALL: return eval_call(v, e, out);
    case GR_E_LIST: return eval_list_literal(v, e, out);
    case GR_E_NEG: return eval_neg(v, e, out);
    case GR_E_NOT:
        GR_TRY(eval_bool(v, e->arg[0], &b));
        set_bool(out, !b);
        return true;
    case GR_E_BINARY: return eval_binary(v, e, out);
    case GR_E_NONE: break;
    }
    return false;
}

bool gr_eval(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    *out = (gr_val){0};
    if (v->depth > 4 * GR_EXPR_DEPTH) return gr_eval_fail(v, GR_D_CONTRACT_TOO_LARGE, NULL, "an expression nests too deeply");
    v->depth++;
    bool ok = eval_kind(v, e, out);
    v->depth--;
    return ok;
}

static bool underflow(gr_evaluator *v, const gr_expr *e, int64_t value) {
    gr_buf b = {0}, m = {0};
    gr_expr_print(&b, e);
    gr_buf_printf(&m, "%.*s is %lld, below zero", (int)(b.n > 100 ? 100 : b.n), b.p ? b.p : "", (long long)value);
    if (v->minus) {
        gr_buf_clear(&b);
        gr_expr_print(&b, v->minus);
        gr_buf_printf(&m, ": %.*s is %lld - %lld", (int)(b.n > 100 ? 100 : b.n), b.p ? b.p : "", (long long)v->minus_a,
                      (long long)v->minus_b);
    }
    gr_eval_fail(v, GR_D_CONTRACT_UNDERFLOW, "make the first of the two larger or the second smaller", "%s", m.p ? m.p : "below zero");
    gr_buf_free(&b);
    gr_buf_free(&m);
    return false;
}

bool gr_eval_dim(gr_evaluator *v, const gr_expr *e, gr_int *out) {
    gr_val x;
    v->whole = e;
    v->minus = NULL;
    GR_TRY(gr_eval(v, e, &x));
    if (x.kind != GR_K_INT) return fail_expr(v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is not an integer");
    if (x.n.i < 0) return underflow(v, e, x.n.i);
    *out = x.n;
    return true;
}

bool gr_eval_list(gr_evaluator *v, const gr_expr *e, gr_val *out) {
    v->whole = e;
    v->minus = NULL;
    GR_TRY(gr_eval(v, e, out));
    if (out->kind == GR_K_INT) {
        gr_int one = out->n;
        GR_TRY(gr_eval_new_list(v, 1, out));
        out->list[0] = one;
    }
    if (out->kind == GR_K_SHAPES && out->len == 1) return list_of_shape(v, out->shapes[0].dim, out->shapes[0].rank, out);
    if (out->kind != GR_K_LIST && out->kind != GR_K_FLOATS) return fail_expr(v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is not a list");
    return true;
}

/* ---- public ---- */

static bool run(gr_diags *d, const gr_expr *e, const gr_call *c, const int64_t *lo, const int64_t *hi, gr_place at, gr_arena *tmp,
                gr_val *out) {
    gr_evaluator v = {.a = tmp, .d = d, .c = c, .lo = lo, .hi = hi, .at = at, .whole = e};
    gr_arena_init(tmp, (size_t)16 << 20);
    return gr_eval(&v, e, out);
}

bool gr_expr_int(gr_diags *d, const gr_expr *e, const gr_call *c, const int64_t *lo, const int64_t *hi, gr_place at, int64_t *out) {
    gr_arena tmp;
    gr_val x;
    bool ok = run(d, e, c, lo, hi, at, &tmp, &x);
    int p = ok && x.kind == GR_K_WORD && e->kind == GR_E_NAME ? gr_sig_find_param(&c->op->sig, e->name) : -1;
    if (p >= 0) { /* an enum is its index */
        x.n.i = c->params[p].i;
    } else if (ok && x.kind != GR_K_INT && x.kind != GR_K_BOOL) {
        gr_evaluator v = {.d = d, .c = c, .at = at, .whole = e};
        ok = fail_expr(&v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is not an integer");
    }
    if (ok) *out = x.n.i;
    gr_arena_free(&tmp);
    return ok;
}

bool gr_expr_cut(gr_arena *a, gr_diags *d, const gr_expr *e, const gr_call *c, const gr_cut_names *names, gr_place at, gr_param *out) {
    gr_val x;
    gr_evaluator v = {.a = a, .d = d, .c = c, .lo = &names->lo, .hi = &names->hi, .cut = &names->cut, .at = at, .whole = e};
    GR_TRY(gr_eval(&v, e, &x));
    *out = (gr_param){.given = true, .kind = GR_PARAM_I32, .i = x.n.i};
    if (x.kind == GR_K_INT || x.kind == GR_K_BOOL) return true;
    if (x.kind != GR_K_LIST) return fail_expr(&v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is neither an integer nor a list of integers");
    out->kind = GR_PARAM_I32_LIST;
    out->n = x.len;
    out->li = GR_NEW_N(a, int64_t, x.len);
    if (!out->li) return gr_report_oom(d);
    for (uint32_t i = 0; i < x.len; i++) out->li[i] = x.list[i].i;
    return true;
}

bool gr_expr_float(gr_diags *d, const gr_expr *e, const gr_call *c, gr_place at, double *out) {
    gr_arena tmp;
    gr_val x;
    bool ok = run(d, e, c, NULL, NULL, at, &tmp, &x);
    if (ok && x.kind != GR_K_INT && x.kind != GR_K_BOOL && x.kind != GR_K_FLOAT) {
        gr_evaluator v = {.d = d, .c = c, .at = at, .whole = e};
        ok = fail_expr(&v, GR_D_CONTRACT_EXPRESSION_KIND, e, "is not a number");
    }
    if (ok) *out = as_float(&x);
    gr_arena_free(&tmp);
    return ok;
}

bool gr_expr_true(gr_diags *d, const gr_expr *e, const gr_call *c, gr_place at, bool *out) {
    gr_arena tmp;
    gr_evaluator v = {.a = &tmp, .d = d, .c = c, .at = at, .whole = e};
    gr_arena_init(&tmp, (size_t)16 << 20);
    bool ok = eval_bool(&v, e, out);
    gr_arena_free(&tmp);
    return ok;
}
