/* Functions of indices as other systems write them: counted from the end, given by axis, with steps of either sign. They serve
 * the [import] rules of ops, which bring such lists into the form that signatures take.
 *
 *   wrap(list, n)                     entries below zero counted from n; all must lie in [0, n)
 *   spread(axes, values, n, rest)     n entries: values at the axes, rest elsewhere
 *   settle(s, shape, zero)            a target shape for s: -1 is what is left; 0 is s's own size there unless zero
 *   without_ones(s)                   s without its dimensions of size 1
 *   portions(n, parts)                n in equal parts, rounded up; the last has what is left
 *   magnitudes(list), negatives(list) absolute values; the positions of entries below zero
 *   window_starts(s, from, to, step)  where the window from..to by step begins along each axis, and how far it
 *   window_sizes(s, from, to, step)   reaches; along an axis with a step below zero both count in the reversed axis */
#include "contract/contract_int.h"

static bool list_of(gr_evaluator *v, const gr_val *x, gr_val *out) {
    if (x->kind == GR_K_LIST) {
        *out = *x;
        return true;
    }
    if (x->kind == GR_K_INT) {
        GR_TRY(gr_eval_new_list(v, 1, out));
        out->list[0] = x->n;
        return true;
    }
    if (x->kind == GR_K_SHAPES && x->len == 1) {
        GR_TRY(gr_eval_new_list(v, x->shapes[0].rank, out));
        for (uint32_t i = 0; i < out->len; i++) out->list[i].i = (int64_t)x->shapes[0].dim[i].n;
        return true;
    }
    return gr_eval_fail(v, GR_D_CONTRACT_EXPRESSION_KIND, NULL, "a list of integers is needed");
}

static bool out_of_range(gr_evaluator *v, int64_t i, int64_t n) {
    return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "%lld is not in [-%lld, %lld)", (long long)i, (long long)n, (long long)n);
}

static bool wrap(gr_evaluator *v, const gr_val *x, int64_t n, gr_val *out) {
    GR_TRY(gr_eval_new_list(v, x->len, out));
    for (uint32_t i = 0; i < x->len; i++) {
        int64_t k = x->list[i].i;
        if (k < -n || k >= n) return out_of_range(v, k, n);
        out->list[i].i = k < 0 ? k + n : k;
    }
    return true;
}

static bool spread(gr_evaluator *v, const gr_val *axes, const gr_val *values, int64_t n, int64_t rest, gr_val *out) {
    if (n < 0 || n > 4096) return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "a list of %lld entries", (long long)n);
    if (axes->len != values->len) return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "%u axes and %u values", axes->len, values->len);
    GR_TRY(gr_eval_new_list(v, (uint32_t)n, out));
    for (uint32_t i = 0; i < out->len; i++) out->list[i].i = rest;
    for (uint32_t i = 0; i < axes->len; i++) {
        int64_t k = axes->list[i].i;
        if (k < -n || k >= n) return out_of_range(v, k, n);
        out->list[k < 0 ? k + n : k].i = values->list[i].i;
    }
    return true;
}

static bool settle(gr_evaluator *v, const gr_val *s, const gr_val *shape, bool zero, gr_val *out) {
    int64_t count = 1, known = 1;
    uint32_t free = UINT32_MAX;
    GR_TRY(gr_eval_new_list(v, shape->len, out));
    for (uint32_t i = 0; i < s->len; i++)
        if (__builtin_mul_overflow(count, s->list[i].i, &count)) return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "the shape has too many elements");
    for (uint32_t i = 0; i < shape->len; i++) {
        int64_t k = shape->list[i].i;
        if (k == 0 && !zero) {
            if (i >= s->len) return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "entry %u of the shape is 0, but there is no dimension %u", i, i);
            k = s->list[i].i;
        }
        if (k < -1 || (k == -1 && free != UINT32_MAX)) return gr_eval_fail(v, GR_D_CONTRACT_OPERAND_DIMENSION, NULL, "entry %u of the shape is %lld", i, (long long)k);
        if (k == -1) free = i;
        else if (__builtin_mul_overflow(known, k, &known)) return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "the shape has too many elements");
        out->list[i].i = k;
    }
    if (free == UINT32_MAX) return true;
    if (!known || count % known) return gr_eval_fail(v, GR_D_CONTRACT_NOT_DIVISIBLE, NULL, "%lld elements do not fill a shape of %lld times something", (long long)count, (long long)known);
    out->list[free].i = count / known;
    return true;
}

static bool without_ones(gr_evaluator *v, const gr_val *s, gr_val *out) {
    GR_TRY(gr_eval_new_list(v, s->len, out));
    out->len = 0;
    for (uint32_t i = 0; i < s->len; i++)
        if (s->list[i].i != 1) out->list[out->len++] = s->list[i];
    return true;
}

static bool portions(gr_evaluator *v, int64_t n, int64_t parts, gr_val *out) {
    if (parts < 1 || parts > 4096 || n < 0) return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "%lld in %lld parts", (long long)n, (long long)parts);
    int64_t each = n / parts + (n % parts != 0);
    GR_TRY(gr_eval_new_list(v, (uint32_t)parts, out));
    for (uint32_t i = 0; i < out->len; i++, n -= n < each ? n : each) out->list[i].i = n < each ? n : each;
    return true;
}

static bool signs(gr_evaluator *v, const gr_val *x, bool positions, gr_val *out) {
    GR_TRY(gr_eval_new_list(v, x->len, out));
    if (positions) out->len = 0;
    for (uint32_t i = 0; i < x->len; i++) {
        int64_t k = x->list[i].i;
        if (!positions) out->list[i].i = k < 0 ? -k : k;
        else if (k < 0) out->list[out->len++].i = i;
    }
    return true;
}

static int64_t clamp(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }

/* Along one axis of size n. */
static void window(int64_t n, int64_t from, int64_t to, int64_t step, int64_t *start, int64_t *size) {
    from += from < 0 ? n : 0;
    to += to < 0 ? n : 0;
    if (step > 0) {
        *start = clamp(from, 0, n);
        *size = clamp(to, 0, n) - *start;
    } else {
        *start = n - 1 - clamp(from, -1, n - 1);
        *size = n - 1 - clamp(to, -1, n - 1) - *start;
    }
    if (*size < 0) *size = 0;
    if (*start > n) *start = n;
}

static bool windows(gr_evaluator *v, const gr_val *s, const gr_val *from, const gr_val *to, const gr_val *step, bool sizes, gr_val *out) {
    if (from->len != s->len || to->len != s->len || step->len != s->len)
        return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "a window of %u, %u and %u entries for %u axes", from->len, to->len, step->len, s->len);
    GR_TRY(gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) {
        int64_t start, size;
        if (step->list[i].i == 0) return gr_eval_fail(v, GR_D_CONTRACT_DIVISION_BY_ZERO, NULL, "the step along axis %u is 0", i);
        window(s->list[i].i, from->list[i].i, to->list[i].i, step->list[i].i, &start, &size);
        out->list[i].i = sizes ? size : start;
    }
    return true;
}

bool gr_eval_index_fn(gr_evaluator *v, const gr_expr *e, const gr_val *arg, gr_val *out) {
    gr_val x = {0}, y = {0}, z = {0}, w = {0};
    if (e->fn == GR_FN_PORTIONS) return portions(v, arg[0].n.i, arg[1].n.i, out);
    GR_TRY(list_of(v, &arg[0], &x));
    switch (e->fn) {
    case GR_FN_WRAP: return wrap(v, &x, arg[1].n.i, out);
    case GR_FN_SPREAD: return list_of(v, &arg[1], &y) && spread(v, &x, &y, arg[2].n.i, arg[3].n.i, out);
    case GR_FN_SETTLE: return list_of(v, &arg[1], &y) && settle(v, &x, &y, arg[2].n.i != 0, out);
    case GR_FN_WITHOUT_ONES: return without_ones(v, &x, out);
    case GR_FN_MAGNITUDES:
    case GR_FN_NEGATIVES: return signs(v, &x, e->fn == GR_FN_NEGATIVES, out);
    case GR_FN_WINDOW_STARTS:
    case GR_FN_WINDOW_SIZES:
        return list_of(v, &arg[1], &y) && list_of(v, &arg[2], &z) && list_of(v, &arg[3], &w) && windows(v, &x, &y, &z, &w, e->fn == GR_FN_WINDOW_SIZES, out);
    default: return gr_eval_fail(v, GR_D_CONTRACT_EXPRESSION_KIND, NULL, "%.*s has no value", GR_STR_ARG(e->name));
    }
}
