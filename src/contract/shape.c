/* Shape functions: the fixed vocabulary that a signature computes shapes with. */
#include "contract/contract_int.h"

#include "base/checked.h"

#include <stdio.h>

typedef struct text {
    char t[160];
} text;

static text show(const gr_int *l, uint32_t n) {
    text s;
    size_t at = (size_t)snprintf(s.t, sizeof s.t, "[");
    for (uint32_t i = 0; i < n && at < sizeof s.t - 32; i++)
        at += (size_t)snprintf(s.t + at, sizeof s.t - at, "%s%lld", i ? ", " : "", (long long)l[i].i);
    snprintf(s.t + at, sizeof s.t - at, "]");
    return s;
}

static gr_int plain(int64_t i) { return (gr_int){.i = i}; }

/* Any shape-like value as a list: a list, one integer, or the first shape of a variadic operand. */
static bool as_list(gr_evaluator *v, const gr_val *x, gr_val *out) {
    if (x->kind == GR_K_LIST) {
        *out = *x;
        return true;
    }
    if (x->kind == GR_K_INT) {
        GR_TRY(gr_eval_new_list(v, 1, out));
        out->list[0] = x->n;
        return true;
    }
    if (x->kind == GR_K_SHAPES && x->len) {
        const gr_shape *s = &x->shapes[0];
        GR_TRY(gr_eval_new_list(v, s->rank, out));
        for (uint32_t i = 0; i < s->rank; i++) out->list[i] = (gr_int){(int64_t)s->dim[i].n, s->dim[i].base, s->dim[i].add};
        return true;
    }
    return gr_eval_fail(v, GR_D_CONTRACT_EXPRESSION_KIND, NULL, "a shape or a list of integers is needed");
}

static bool rank_ok(gr_evaluator *v, uint32_t n) {
    return n <= GR_RANK_MAX || gr_eval_fail(v, GR_D_CONTRACT_RANK_TOO_LARGE, NULL, "%u dimensions; the most is %d", n, GR_RANK_MAX);
}

static bool axis_ok(gr_evaluator *v, int64_t axis, uint32_t rank) {
    if (axis >= 0 && axis < rank) return true;
    if (!rank) return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "axis %lld of a scalar, which has none", (long long)axis);
    return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, "axes count from 0, outermost first", "axis %lld of a shape with %u dimensions",
                        (long long)axis, rank);
}

/* A set of axes as bits; each in range and named once. */
static bool axis_set(gr_evaluator *v, const gr_val *axes, uint32_t rank, uint32_t *bits) {
    *bits = 0;
    GR_TRY(rank_ok(v, rank));
    for (uint32_t i = 0; i < axes->len; i++) {
        GR_TRY(axis_ok(v, axes->list[i].i, rank));
        uint32_t bit = 1u << axes->list[i].i;
        if (*bits & bit)
            return gr_eval_fail(v, GR_D_CONTRACT_AXIS_REPEATED, "name each axis once", "axis %lld is named twice in %s",
                                (long long)axes->list[i].i, show(axes->list, axes->len).t);
        *bits |= bit;
    }
    return true;
}

static bool product(gr_evaluator *v, const gr_val *l, int64_t *out) {
    for (uint32_t i = 0; i < l->len; i++)
        if (l->list[i].i == 0) {
            *out = 0;
            return true;
        } /* whatever the others are */
    *out = 1;
    for (uint32_t i = 0; i < l->len; i++)
        if (!gr_mul_i64(*out, l->list[i].i, out))
            return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "the product of %s is too large", show(l->list, l->len).t);
    return true;
}

static bool same_length(gr_evaluator *v, const gr_val *l, uint32_t rank, const char *what) {
    return l->len == rank || gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, "give one entry a dimension",
                                          "%s has %u entries for %u dimensions", what, l->len, rank);
}

/* ---- broadcast ---- */

static gr_int wider(gr_int a, gr_int b) {
    if (a.i == b.i) return a.base.n ? a : b;
    return a.i == 1 ? b : a;
}

/* acc = acc broadcast with s; NumPy's rule, aligned at the last dimension. */
static bool broadcast_into(gr_evaluator *v, gr_val *acc, const gr_val *s, bool report) {
    uint32_t n = acc->len > s->len ? acc->len : s->len;
    gr_val r;
    GR_TRY(gr_eval_new_list(v, n, &r));
    for (uint32_t i = 0; i < n; i++) { /* from the last dimension */
        gr_int a = i < acc->len ? acc->list[acc->len - 1 - i] : plain(1), b = i < s->len ? s->list[s->len - 1 - i] : plain(1);
        if (a.i != b.i && a.i != 1 && b.i != 1) {
            if (report)
                gr_eval_fail(v, GR_D_CONTRACT_NOT_BROADCASTABLE, "aligned at the last dimension, two sizes must be equal or one of them 1",
                             "%s and %s: %lld meets %lld", show(acc->list, acc->len).t, show(s->list, s->len).t, (long long)a.i,
                             (long long)b.i);
            return false;
        }
        r.list[n - 1 - i] = wider(a, b);
    }
    *acc = r;
    return true;
}

static bool list_of(gr_evaluator *v, const gr_shape *s, gr_val *out) {
    gr_val x = {.kind = GR_K_SHAPES, .len = 1, .shapes = s};
    return as_list(v, &x, out);
}

/* Calls over every shape of the arguments: variadic ones give many. */
static bool fold(gr_evaluator *v, const gr_expr *e, const gr_val *arg, bool (*step)(gr_evaluator *, gr_val *, const gr_val *, bool),
                 bool report, gr_val *out) {
    bool first = true;
    GR_TRY(gr_eval_new_list(v, 0, out));
    for (uint32_t i = 0; i < e->arg_n; i++) {
        uint32_t many = arg[i].kind == GR_K_SHAPES ? arg[i].len : 1;
        for (uint32_t k = 0; k < many; k++) {
            gr_val s;
            GR_TRY(arg[i].kind == GR_K_SHAPES ? list_of(v, &arg[i].shapes[k], &s) : as_list(v, &arg[i], &s));
            if (first) *out = s;
            else GR_TRY(step(v, out, &s, report));
            first = false;
        }
    }
    return true;
}

static bool same_step(gr_evaluator *v, gr_val *acc, const gr_val *s, bool report) {
    (void)report;
    bool same = acc->len == s->len;
    for (uint32_t i = 0; same && i < s->len; i++) same = acc->list[i].i == s->list[i].i;
    return same || gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, NULL, "the shapes %s and %s must be equal", show(acc->list, acc->len).t,
                                show(s->list, s->len).t);
}

/* s widened to `to`: only dimensions of s that are 1 may grow. */
static bool expand(gr_evaluator *v, const gr_val *s, const gr_val *to, bool report, gr_val *out) {
    bool ok = s->len <= to->len;
    for (uint32_t i = 0; ok && i < s->len; i++) {
        int64_t a = s->list[s->len - 1 - i].i, b = to->list[to->len - 1 - i].i;
        ok = a == b || a == 1;
    }
    if (!ok && report)
        return gr_eval_fail(v, GR_D_CONTRACT_NOT_BROADCASTABLE, "only dimensions of size 1, or new ones in front, can grow",
                            "%s does not expand to %s", show(s->list, s->len).t, show(to->list, to->len).t);
    *out = *to;
    return ok;
}

/* ---- axes ---- */

static bool drop(gr_evaluator *v, const gr_val *s, const gr_val *axes, bool keep, gr_val *out) {
    uint32_t bits, n = 0;
    GR_TRY(axis_set(v, axes, s->len, &bits) && gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) {
        if (!(bits >> i & 1)) out->list[n++] = s->list[i];
        else if (keep) out->list[n++] = plain(1);
    }
    out->len = n;
    return true;
}

static bool reduced_size(gr_evaluator *v, const gr_val *s, const gr_val *axes, gr_val *out) {
    uint32_t bits;
    gr_val kept = *s;
    int64_t n;
    GR_TRY(axis_set(v, axes, s->len, &bits) && gr_eval_new_list(v, s->len, &kept));
    kept.len = 0;
    for (uint32_t i = 0; i < s->len; i++)
        if (bits >> i & 1) kept.list[kept.len++] = s->list[i];
    GR_TRY(product(v, &kept, &n));
    *out = (gr_val){.kind = GR_K_INT, .n = plain(n)};
    return true;
}

/* The product of the sizes behind the last of the axes: how many elements lie side by side when they are reduced; 1 without axes. */
static bool inner_size(gr_evaluator *v, const gr_val *s, const gr_val *axes, gr_val *out) {
    uint32_t bits, first = s->len;
    gr_val inner = *s;
    int64_t n;
    GR_TRY(axis_set(v, axes, s->len, &bits));
    while (first > 0 && bits && !(bits >> (first - 1) & 1)) first--;
    inner.list = s->list + first;
    inner.len = s->len - first;
    GR_TRY(product(v, &inner, &n));
    *out = (gr_val){.kind = GR_K_INT, .n = plain(n)};
    return true;
}

static bool nonempty(gr_evaluator *v, const gr_val *s, const gr_val *axes, gr_val *out) {
    gr_val n;
    GR_TRY(reduced_size(v, s, axes, &n));
    int64_t all;
    GR_TRY(product(v, s, &all));
    bool bad = n.n.i == 0;
    if (bad)
        return gr_eval_fail(v, GR_D_CONTRACT_EMPTY_REDUCTION, "reduce over axes that have elements",
                            "there is nothing to reduce: the axes %s of %s hold no element", show(axes->list, axes->len).t,
                            show(s->list, s->len).t);
    *out = (gr_val){.kind = GR_K_BOOL, .n = plain(1)};
    return true;
}

static bool permute(gr_evaluator *v, const gr_val *s, const gr_val *p, gr_val *out) {
    uint32_t bits;
    GR_TRY(same_length(v, p, s->len, "the permutation") && axis_set(v, p, s->len, &bits) && gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) out->list[i] = s->list[p->list[i].i];
    return true;
}

/* The dimensions of s named by the list, in its order; repeats are fine. */
static bool take(gr_evaluator *v, const gr_val *s, const gr_val *axes, gr_val *out) {
    GR_TRY(gr_eval_new_list(v, axes->len, out));
    for (uint32_t i = 0; i < axes->len; i++) {
        GR_TRY(axis_ok(v, axes->list[i].i, s->len));
        out->list[i] = s->list[axes->list[i].i];
    }
    return true;
}

static bool cut(gr_evaluator *v, const gr_val *s, int64_t n, bool tail, gr_val *out) {
    if (n < 0 || n > s->len)
        return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "%s(%s, %lld): the shape has %u dimensions", tail ? "tail" : "head",
                            show(s->list, s->len).t, (long long)n, s->len);
    *out = *s;
    out->list = tail ? s->list + n : s->list;
    out->len = tail ? s->len - (uint32_t)n : (uint32_t)n;
    return true;
}

/* Puts the list in place of dimension axis (replace) or before it (insert). */
static bool replace(gr_evaluator *v, const gr_val *s, int64_t axis, const gr_val *by, uint32_t skip, gr_val *out) {
    if (skip) GR_TRY(axis_ok(v, axis, s->len));
    if (axis < 0 || axis > s->len)
        return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "position %lld in a shape with %u dimensions", (long long)axis,
                            s->len);
    uint32_t a = (uint32_t)axis, n = s->len - skip + by->len;
    GR_TRY(rank_ok(v, n) && gr_eval_new_list(v, n, out));
    for (uint32_t i = 0; i < a; i++) out->list[i] = s->list[i];
    for (uint32_t i = 0; i < by->len; i++) out->list[a + i] = by->list[i];
    for (uint32_t i = a + skip; i < s->len; i++) out->list[i - skip + by->len] = s->list[i];
    return true;
}

/* ---- joining and cutting ---- */

static bool concat_shapes(gr_evaluator *v, const gr_shape *s, uint32_t n, int64_t axis, gr_val *out) {
    gr_val x;
    GR_TRY(list_of(v, &s[0], out) && axis_ok(v, axis, out->len));
    gr_int sum = out->list[axis];
    for (uint32_t k = 1; k < n; k++) {
        GR_TRY(list_of(v, &s[k], &x));
        bool same = x.len == out->len;
        for (uint32_t i = 0; same && i < x.len; i++) same = i == axis || x.list[i].i == out->list[i].i;
        if (!same)
            return gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, "all dimensions but the joined one must be equal",
                                "%s and %s cannot be joined along axis %lld", show(out->list, out->len).t, show(x.list, x.len).t,
                                (long long)axis);
        int64_t t;
        if (!gr_add_i64(sum.i, x.list[axis].i, &t))
            return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "the joined dimension is too large");
        sum = plain(t);
    }
    out->list[axis] = sum;
    return true;
}

static bool concat(gr_evaluator *v, const gr_val *s, int64_t axis, gr_val *out) {
    if (s->kind == GR_K_SHAPES) return concat_shapes(v, s->shapes, s->len, axis, out);
    GR_TRY(as_list(v, s, out));
    return axis_ok(v, axis, out->len);
}

/* One shape a size, cut along the axis. */
static bool split(gr_evaluator *v, const gr_val *s, int64_t axis, const gr_val *sizes, gr_val *out) {
    GR_TRY(axis_ok(v, axis, s->len) && rank_ok(v, s->len));
    int64_t sum = 0;
    for (uint32_t i = 0; i < sizes->len; i++)
        if (sizes->list[i].i < 0 || !gr_add_i64(sum, sizes->list[i].i, &sum))
            return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "the sizes %s cannot be added", show(sizes->list, sizes->len).t);
    if (sum != s->list[axis].i)
        return gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, "the sizes must add up to the dimension",
                            "the sizes %s add up to %lld, dimension %lld is %lld", show(sizes->list, sizes->len).t, (long long)sum,
                            (long long)axis, (long long)s->list[axis].i);
    gr_shape *made = GR_NEW_N(v->a, gr_shape, sizes->len);
    if (!made) return gr_report_oom(v->d);
    for (uint32_t k = 0; k < sizes->len; k++) {
        made[k].rank = s->len;
        for (uint32_t i = 0; i < s->len; i++) {
            gr_int x = i == axis ? sizes->list[k] : s->list[i];
            made[k].dim[i] = (gr_dim){(uint64_t)x.i, x.base, x.add};
        }
    }
    *out = (gr_val){.kind = GR_K_SHAPES, .len = sizes->len, .shapes = made};
    return true;
}

/* Windows of `sizes` from `starts`, every steps-th element: ceil(size / step) remain. */
static bool slice(gr_evaluator *v, const gr_val *s, const gr_val *starts, const gr_val *sizes, const gr_val *steps, gr_val *out) {
    GR_TRY(same_length(v, starts, s->len, "starts") && same_length(v, sizes, s->len, "sizes"));
    if (steps) GR_TRY(same_length(v, steps, s->len, "steps"));
    GR_TRY(gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) {
        int64_t end, from = starts->list[i].i, n = sizes->list[i].i, step = steps ? steps->list[i].i : 1;
        if (from < 0 || n < 0 || !gr_add_i64(from, n, &end) || end > s->list[i].i)
            return gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, "start + size must not pass the end",
                                "start %lld and size %lld leave dimension %u, which is %lld", (long long)from, (long long)n, i,
                                (long long)s->list[i].i);
        if (step < 1)
            return gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, NULL, "step %lld in dimension %u must be at least 1", (long long)step, i);
        out->list[i] = n == s->list[i].i && step == 1 ? s->list[i] : plain(n / step + (n % step != 0));
    }
    return true;
}

static bool reshape(gr_evaluator *v, const gr_val *s, const gr_val *to, gr_val *out) {
    int64_t a, b;
    GR_TRY(product(v, s, &a) && product(v, to, &b));
    if (a != b)
        return gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, "the number of elements must stay", "%s has %lld elements, %s has %lld",
                            show(s->list, s->len).t, (long long)a, show(to->list, to->len).t, (long long)b);
    *out = *to;
    return true;
}

/* s + before + after, or s * by when after is NULL. */
static bool grow(gr_evaluator *v, const gr_val *s, const gr_val *by, const gr_val *after, const char *what, gr_val *out) {
    GR_TRY(same_length(v, by, s->len, what));
    if (after) GR_TRY(same_length(v, after, s->len, what));
    GR_TRY(gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) {
        int64_t n = s->list[i].i, r;
        bool ok = after ? gr_add_i64(n, by->list[i].i, &r) && gr_add_i64(r, after->list[i].i, &r) : gr_mul_i64(n, by->list[i].i, &r);
        if (!ok) return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "dimension %u is too large", i);
        out->list[i] = r == n ? s->list[i] : plain(r);
    }
    return true;
}

/* s without the padding, each dimension at least 0. */
static bool unpad(gr_evaluator *v, const gr_val *s, const gr_val *before, const gr_val *after, gr_val *out) {
    GR_TRY(same_length(v, before, s->len, "the padding") && same_length(v, after, s->len, "the padding"));
    GR_TRY(gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) {
        int64_t n = s->list[i].i, r;
        if (!gr_sub_i64(n, before->list[i].i, &r) || !gr_sub_i64(r, after->list[i].i, &r) || r < 0)
            return gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, NULL, "dimension %u, which is %lld, cannot hold a padding of %lld and %lld",
                                i, (long long)n, (long long)before->list[i].i, (long long)after->list[i].i);
        out->list[i] = r == n ? s->list[i] : plain(r);
    }
    return true;
}

/* The shape that was repeated to s. */
static bool untile(gr_evaluator *v, const gr_val *s, const gr_val *by, gr_val *out) {
    GR_TRY(same_length(v, by, s->len, "the repetitions") && gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) {
        int64_t n = s->list[i].i, k = by->list[i].i;
        if (k < 1 || n % k)
            return gr_eval_fail(v, GR_D_CONTRACT_NOT_DIVISIBLE, NULL, "dimension %u, which is %lld, is not %lld repetitions of something", i,
                                (long long)n, (long long)k);
        out->list[i] = k == 1 ? s->list[i] : plain(n / k);
    }
    return true;
}

/* Dimension `axis` of every shape of a variadic operand. */
static bool extents(gr_evaluator *v, const gr_val *s, int64_t axis, gr_val *out) {
    uint32_t n = s->kind == GR_K_SHAPES ? s->len : 1;
    gr_val x;
    GR_TRY(gr_eval_new_list(v, n, out));
    for (uint32_t i = 0; i < n; i++) {
        GR_TRY(s->kind == GR_K_SHAPES ? list_of(v, &s->shapes[i], &x) : as_list(v, s, &x));
        GR_TRY(axis_ok(v, axis, x.len));
        out->list[i] = x.list[axis];
    }
    return true;
}

/* The shape `to` that s sums down to: to must broadcast to s. */
static bool sum_to(gr_evaluator *v, const gr_val *s, const gr_val *to, gr_val *out) {
    gr_val t;
    if (!expand(v, to, s, false, &t))
        return gr_eval_fail(v, GR_D_CONTRACT_NOT_BROADCASTABLE, "the target must broadcast to the shape that is summed",
                            "%s does not sum down to %s", show(s->list, s->len).t, show(to->list, to->len).t);
    *out = *to;
    return true;
}

/* The axes along which `to` was broadcast to s: new ones in front, and those where it is 1 and s is not. */
static bool broadcast_axes(gr_evaluator *v, const gr_val *s, const gr_val *to, gr_val *out) {
    gr_val t;
    GR_TRY(sum_to(v, s, to, &t) && gr_eval_new_list(v, s->len, out));
    uint32_t n = 0, front = s->len - to->len;
    for (uint32_t i = 0; i < s->len; i++)
        if (i < front || (to->list[i - front].i == 1 && s->list[i].i != 1)) out->list[n++] = plain(i);
    out->len = n;
    return true;
}

/* The dimensions named by axes get the sizes. */
static bool resize(gr_evaluator *v, const gr_val *s, const gr_val *axes, const gr_val *sizes, gr_val *out) {
    uint32_t bits;
    GR_TRY(same_length(v, sizes, axes->len, "sizes") && axis_set(v, axes, s->len, &bits) && gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) out->list[i] = s->list[i];
    for (uint32_t i = 0; i < axes->len; i++) out->list[axes->list[i].i] = sizes->list[i];
    return true;
}

/* Dimensions of 1 put in, at their places in the result; squeeze takes them out. */
static bool unsqueeze(gr_evaluator *v, const gr_val *s, const gr_val *axes, gr_val *out) {
    uint32_t bits, n = s->len + axes->len, from = 0;
    GR_TRY(rank_ok(v, n) && axis_set(v, axes, n, &bits) && gr_eval_new_list(v, n, out));
    for (uint32_t i = 0; i < n; i++) out->list[i] = bits >> i & 1 ? plain(1) : s->list[from++];
    return true;
}

static bool squeeze(gr_evaluator *v, const gr_val *s, const gr_val *axes, gr_val *out) {
    for (uint32_t i = 0; i < axes->len; i++) {
        GR_TRY(axis_ok(v, axes->list[i].i, s->len));
        if (s->list[axes->list[i].i].i != 1)
            return gr_eval_fail(v, GR_D_CONTRACT_SHAPE_MISMATCH, "only dimensions of size 1 can go", "dimension %lld of %s is not 1",
                                (long long)axes->list[i].i, show(s->list, s->len).t);
    }
    return drop(v, s, axes, false, out);
}

static bool inverse(gr_evaluator *v, const gr_val *p, gr_val *out) {
    uint32_t bits;
    GR_TRY(axis_set(v, p, p->len, &bits) && gr_eval_new_list(v, p->len, out));
    for (uint32_t i = 0; i < p->len; i++) out->list[p->list[i].i] = plain(i);
    return true;
}

static bool swap_last(gr_evaluator *v, int64_t n, gr_val *out) {
    if (n < 2 || n > GR_RANK_MAX)
        return gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "%lld dimensions have no last two to swap", (long long)n);
    GR_TRY(gr_eval_new_list(v, (uint32_t)n, out));
    for (uint32_t i = 0; i < out->len; i++) out->list[i] = plain(i);
    out->list[n - 2] = plain(n - 1);
    out->list[n - 1] = plain(n - 2);
    return true;
}

/* What a window of `sizes` elements spans when stepped by `steps`. */
static bool spans(gr_evaluator *v, const gr_val *sizes, const gr_val *steps, gr_val *out) {
    GR_TRY(same_length(v, steps, sizes->len, "steps") && gr_eval_new_list(v, sizes->len, out));
    for (uint32_t i = 0; i < sizes->len; i++) {
        int64_t n = sizes->list[i].i, r = 0;
        if (n > 0 && (!gr_mul_i64(n - 1, steps->list[i].i, &r) || !gr_add_i64(r, 1, &r)))
            return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "a span is too large");
        out->list[i] = plain(r);
    }
    return true;
}

/* Product of the sizes from position `axis` on. */
static bool product_from(gr_evaluator *v, const gr_val *s, int64_t axis, bool after, gr_val *out) {
    gr_val rest;
    int64_t n;
    GR_TRY(axis_ok(v, axis, s->len) && cut(v, s, axis + after, true, &rest) && product(v, &rest, &n));
    *out = (gr_val){.kind = GR_K_INT, .n = plain(n)};
    return true;
}

/* ---- lists ---- */

/* n entries of one value. */
static bool filled(gr_evaluator *v, int64_t n, gr_int value, gr_val *out) {
    if (n > 64) return gr_eval_fail(v, GR_D_CONTRACT_TOO_LARGE, NULL, "filled has %lld entries", (long long)n);
    GR_TRY(gr_eval_new_list(v, n > 0 ? (uint32_t)n : 0, out));
    for (uint32_t i = 0; i < out->len; i++) out->list[i] = value;
    return true;
}

static bool range(gr_evaluator *v, int64_t lo, int64_t hi, gr_val *out) {
    if (hi < lo) hi = lo;
    if (hi - lo > 64) return gr_eval_fail(v, GR_D_CONTRACT_TOO_LARGE, NULL, "a range of more than 64 entries");
    GR_TRY(gr_eval_new_list(v, (uint32_t)(hi - lo), out));
    for (uint32_t i = 0; i < out->len; i++) out->list[i] = plain(lo + i);
    return true;
}

static bool join(gr_evaluator *v, const gr_val *arg, uint32_t n, gr_val *out) {
    GR_TRY(gr_eval_new_list(v, 64, out));
    out->len = 0;
    for (uint32_t k = 0; k < n; k++) {
        gr_val l;
        GR_TRY(as_list(v, &arg[k], &l));
        for (uint32_t i = 0; i < l.len; i++) {
            if (out->len == 64) return gr_eval_fail(v, GR_D_CONTRACT_TOO_LARGE, NULL, "a list of more than 64 entries");
            out->list[out->len++] = l.list[i];
        }
    }
    return true;
}

static bool reverse(gr_evaluator *v, const gr_val *s, gr_val *out) {
    GR_TRY(gr_eval_new_list(v, s->len, out));
    for (uint32_t i = 0; i < s->len; i++) out->list[i] = s->list[s->len - 1 - i];
    return true;
}

static bool truth(gr_val *out, bool b) {
    *out = (gr_val){.kind = GR_K_BOOL, .n = plain(b)};
    return true;
}

static bool integer(gr_val *out, int64_t i) {
    *out = (gr_val){.kind = GR_K_INT, .n = plain(i)};
    return true;
}

static bool distinct(const gr_val *l) {
    for (uint32_t i = 0; i < l->len; i++)
        for (uint32_t k = 0; k < i; k++)
            if (l->list[i].i == l->list[k].i) return false;
    return true;
}

static bool divides(const gr_val *t, const gr_val *s) { /* each entry of t divides that of s */
    if (t->len != s->len) return false;
    for (uint32_t i = 0; i < s->len; i++)
        if (t->list[i].i == 0 ? s->list[i].i != 0 : s->list[i].i % t->list[i].i) return false;
    return true;
}

/* Is every entry at least 0 and below the bound, or the bound of its place? */
static bool below(const gr_val *l, const gr_val *bound) {
    bool one = bound->kind == GR_K_INT;
    if (!one && bound->len != l->len) return false;
    for (uint32_t i = 0; i < l->len; i++)
        if (l->list[i].i < 0 || l->list[i].i >= (one ? bound->n.i : bound->list[i].i)) return false;
    return true;
}

static bool sum(gr_evaluator *v, const gr_val *l, gr_val *out) {
    int64_t s = 0;
    for (uint32_t i = 0; i < l->len; i++)
        if (!gr_add_i64(s, l->list[i].i, &s))
            return gr_eval_fail(v, GR_D_CONTRACT_OVERFLOW, NULL, "the sum of %s is too large", show(l->list, l->len).t);
    return integer(out, s);
}

static bool dim(gr_evaluator *v, const gr_val *s, int64_t i, gr_val *out) {
    GR_TRY(axis_ok(v, i, s->len));
    *out = (gr_val){.kind = GR_K_INT, .n = s->list[i]};
    return true;
}

static bool last(gr_evaluator *v, const gr_val *s, gr_val *out) {
    return s->len ? dim(v, s, s->len - 1, out) : gr_eval_fail(v, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, NULL, "the last entry of an empty list");
}

static bool want_int(gr_evaluator *v, const gr_val *x, const char *what) {
    return x->kind == GR_K_INT || gr_eval_fail(v, GR_D_CONTRACT_EXPRESSION_KIND, NULL, "%s is not an integer", what);
}

bool gr_eval_shape_fn(gr_evaluator *v, const gr_expr *e, const gr_val *arg, gr_val *out) {
    gr_val s, t, u, w;
    int64_t n;
    if (e->fn >= GR_FN_WRAP) return gr_eval_index_fn(v, e, arg, out);
    switch (e->fn) { /* those that see all shapes of a variadic operand */
    case GR_FN_BROADCAST: return fold(v, e, arg, broadcast_into, true, out);
    case GR_FN_SAME: return fold(v, e, arg, same_step, true, out);
    case GR_FN_BROADCASTABLE: return truth(out, fold(v, e, arg, broadcast_into, false, &s));
    case GR_FN_CONCAT: return want_int(v, &arg[1], "the axis") && concat(v, &arg[0], arg[1].n.i, out);
    case GR_FN_EXTENTS: return want_int(v, &arg[1], "the axis") && extents(v, &arg[0], arg[1].n.i, out);
    case GR_FN_JOIN: return join(v, arg, e->arg_n, out);
    case GR_FN_RANGE: return want_int(v, &arg[0], "an end") && want_int(v, &arg[1], "an end") && range(v, arg[0].n.i, arg[1].n.i, out);
    case GR_FN_FILLED: return want_int(v, &arg[0], "the length") && want_int(v, &arg[1], "the value") && filled(v, arg[0].n.i, arg[1].n, out);
    case GR_FN_LEN:
        if (arg[0].kind == GR_K_FLOATS) return integer(out, arg[0].len);
        break;
    default: break;
    }
    GR_TRY(as_list(v, &arg[0], &s));
    switch (e->fn) { /* those of one shape */
    case GR_FN_SIZE:
    case GR_FN_PROD: return product(v, &s, &n) && integer(out, n);
    case GR_FN_RANK:
    case GR_FN_LEN: return integer(out, s.len);
    case GR_FN_SUM: return sum(v, &s, out);
    case GR_FN_LAST: return last(v, &s, out);
    case GR_FN_DISTINCT: return truth(out, distinct(&s));
    case GR_FN_SHAPE: *out = s; return true;
    case GR_FN_REVERSE: return reverse(v, &s, out);
    case GR_FN_DIM: return want_int(v, &arg[1], "the index") && dim(v, &s, arg[1].n.i, out);
    case GR_FN_BELOW:
        if (arg[1].kind == GR_K_INT) return truth(out, below(&s, &arg[1]));
        return as_list(v, &arg[1], &t) && truth(out, below(&s, &t));
    case GR_FN_HEAD:
    case GR_FN_TAIL: return want_int(v, &arg[1], "the position") && cut(v, &s, arg[1].n.i, e->fn == GR_FN_TAIL, out);
    case GR_FN_REPLACE:
    case GR_FN_INSERT:
        return want_int(v, &arg[1], "the axis") && as_list(v, &arg[2], &t) && replace(v, &s, arg[1].n.i, &t, e->fn == GR_FN_REPLACE, out);
    case GR_FN_INVERSE: return inverse(v, &s, out);
    case GR_FN_SWAP_LAST: return want_int(v, &arg[0], "the rank") && swap_last(v, arg[0].n.i, out);
    case GR_FN_PROD_FROM:
    case GR_FN_PROD_AFTER: return want_int(v, &arg[1], "the axis") && product_from(v, &s, arg[1].n.i, e->fn == GR_FN_PROD_AFTER, out);
    case GR_FN_SPLIT: return want_int(v, &arg[1], "the axis") && as_list(v, &arg[2], &t) && split(v, &s, arg[1].n.i, &t, out);
    default: break;
    }
    GR_TRY(as_list(v, &arg[1], &t));
    switch (e->fn) { /* those of two and more */
    case GR_FN_REDUCED_SIZE: return reduced_size(v, &s, &t, out);
    case GR_FN_INNER_SIZE: return inner_size(v, &s, &t, out);
    case GR_FN_NONEMPTY: return nonempty(v, &s, &t, out);
    case GR_FN_EXPANDS: return truth(out, expand(v, &s, &t, false, &u));
    case GR_FN_DIVIDES: return truth(out, divides(&s, &t));
    case GR_FN_DROP: return drop(v, &s, &t, arg[2].n.i != 0, out);
    case GR_FN_PERMUTE: return permute(v, &s, &t, out);
    case GR_FN_RESHAPE: return reshape(v, &s, &t, out);
    case GR_FN_EXPAND: return expand(v, &s, &t, true, out);
    case GR_FN_TILE: return grow(v, &s, &t, NULL, "the repetitions", out);
    case GR_FN_UNTILE: return untile(v, &s, &t, out);
    case GR_FN_TAKE: return take(v, &s, &t, out);
    case GR_FN_SUM_TO: return sum_to(v, &s, &t, out);
    case GR_FN_BROADCAST_AXES: return broadcast_axes(v, &s, &t, out);
    case GR_FN_UNSQUEEZE: return unsqueeze(v, &s, &t, out);
    case GR_FN_SQUEEZE: return squeeze(v, &s, &t, out);
    case GR_FN_SPANS: return spans(v, &s, &t, out);
    case GR_FN_RESIZE: return as_list(v, &arg[2], &u) && resize(v, &s, &t, &u, out);
    case GR_FN_PAD: return as_list(v, &arg[2], &u) && grow(v, &s, &t, &u, "the padding", out);
    case GR_FN_UNPAD: return as_list(v, &arg[2], &u) && unpad(v, &s, &t, &u, out);
    case GR_FN_SLICE:
        GR_TRY(as_list(v, &arg[2], &u));
        if (e->arg_n < 4) return slice(v, &s, &t, &u, NULL, out);
        return as_list(v, &arg[3], &w) && slice(v, &s, &t, &u, &w, out);
    default: return gr_eval_fail(v, GR_D_CONTRACT_EXPRESSION_KIND, NULL, "%.*s has no value", GR_STR_ARG(e->name));
    }
}
