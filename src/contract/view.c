/* Views and lists of uniform fields, resolved over a call. */
#include "contract/contract_int.h"

#include <stdio.h>

/* Dimensions and strides before merging, outermost first. */
typedef struct strided {
    uint32_t rank;
    int64_t dim[GR_RANK_MAX], stride[GR_RANK_MAX], offset;
} strided;

typedef struct viewer {
    gr_evaluator v;
    const gr_binding *b;
    const gr_bind_field *f;
} viewer;

static bool fail(viewer *w, gr_diag_name name, const char *what) {
    char t[200];
    snprintf(t, sizeof t, "the field %.*s: %s", GR_STR_ARG(w->f->name), what);
    w->v.whole = NULL;
    return gr_eval_fail(&w->v, name, NULL, "%s", t);
}

/* C order. Every size fits u32, as the standard View has it. */
static bool contiguous(viewer *w, const gr_type *x, strided *s) {
    int64_t step = 1;
    *s = (strided){.rank = x->rank};
    for (uint32_t i = x->rank; i-- > 0;) {
        if (x->dim[i].n > UINT32_MAX || step > UINT32_MAX) return fail(w, GR_D_CONTRACT_OVERFLOW, "a size does not fit 32 bits");
        s->dim[i] = (int64_t)x->dim[i].n;
        s->stride[i] = step;
        step *= s->dim[i] ? s->dim[i] : 1;
    }
    return true;
}

static const gr_type *tensor_of(viewer *w, gr_str name) {
    const gr_type *x = gr_call_type(w->v.c, name);
    if (!x) fail(w, GR_D_CONTRACT_NAME_UNKNOWN, "its tensor is not given here");
    return x;
}

/* x broadcast to dims of y, which x's own were checked against by the signature. */
static bool broadcast(viewer *w, const strided *x, const strided *y, strided *out) {
    if (x->rank > y->rank) return fail(w, GR_D_CONTRACT_NOT_BROADCASTABLE, "it has more dimensions than its target");
    *out = (strided){.rank = y->rank};
    uint32_t front = y->rank - x->rank;
    for (uint32_t i = 0; i < y->rank; i++) {
        out->dim[i] = y->dim[i];
        if (i < front) continue;
        int64_t n = x->dim[i - front];
        if (n != y->dim[i] && n != 1) return fail(w, GR_D_CONTRACT_NOT_BROADCASTABLE, "it does not broadcast to its target");
        out->stride[i] = n == 1 ? 0 : x->stride[i - front];
    }
    return true;
}

/* A list argument; NULL when reported. */
static bool list_arg(viewer *w, uint32_t i, gr_val *out) {
    GR_TRY(gr_eval_list(&w->v, w->f->args[i], out));
    return out->kind == GR_K_LIST || fail(w, GR_D_CONTRACT_EXPRESSION_KIND, "a list of integers is needed");
}

static bool axis_at(viewer *w, const gr_val *l, uint32_t i, uint32_t rank, uint32_t *axis) {
    if (l->list[i].i < 0 || l->list[i].i >= rank) return fail(w, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, "an axis is not one of the tensor");
    *axis = (uint32_t)l->list[i].i;
    return true;
}

static bool choose(viewer *w, const strided *x, bool reduced, strided *out) {
    gr_val axes;
    uint32_t bits = 0, axis = 0;
    GR_TRY(list_arg(w, 0, &axes));
    for (uint32_t i = 0; i < axes.len; i++) {
        GR_TRY(axis_at(w, &axes, i, x->rank, &axis));
        bits |= 1u << axis;
    }
    *out = (strided){.rank = 0};
    for (uint32_t i = 0; i < x->rank; i++) {
        if ((bits >> i & 1) != reduced) continue;
        out->dim[out->rank] = x->dim[i];
        out->stride[out->rank++] = x->stride[i];
    }
    return true;
}

static bool permuted(viewer *w, const strided *x, strided *out) {
    gr_val p;
    uint32_t axis = 0;
    GR_TRY(list_arg(w, 0, &p));
    if (p.len != x->rank) return fail(w, GR_D_CONTRACT_SHAPE_MISMATCH, "the permutation has another length than the tensor has dimensions");
    *out = (strided){.rank = x->rank};
    for (uint32_t i = 0; i < x->rank; i++) {
        GR_TRY(axis_at(w, &p, i, x->rank, &axis));
        out->dim[i] = x->dim[axis];
        out->stride[i] = x->stride[axis];
    }
    return true;
}

static bool sliced(viewer *w, const strided *x, strided *out) {
    gr_val starts, sizes, steps = {0};
    GR_TRY(list_arg(w, 0, &starts) && list_arg(w, 1, &sizes));
    if (w->f->args[2]) GR_TRY(list_arg(w, 2, &steps));
    bool has_steps = w->f->args[2] != NULL;
    if (starts.len != x->rank || sizes.len != x->rank || (has_steps && steps.len != x->rank))
        return fail(w, GR_D_CONTRACT_SHAPE_MISMATCH, "starts, sizes and steps need one entry a dimension");
    *out = (strided){.rank = x->rank};
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t from = starts.list[i].i, n = sizes.list[i].i, step = has_steps ? steps.list[i].i : 1;
        if (from < 0 || n < 0 || step < 1 || from > x->dim[i] || n > x->dim[i] - from)
            return fail(w, GR_D_CONTRACT_SHAPE_MISMATCH, "the slice leaves the tensor");
        out->dim[i] = n / step + (n % step != 0);
        out->stride[i] = x->stride[i] * step;
        out->offset += from * x->stride[i];
    }
    return true;
}

/* The dimensions before the last `inner` ones, broadcast to those of the target. */
static bool batch(viewer *w, const strided *x, strided *out) {
    const gr_type *y = tensor_of(w, w->f->arg[0]);
    strided target, front = *x;
    int64_t inner;
    GR_TRY(y && contiguous(w, y, &target) && gr_expr_int(w->v.d, w->f->args[1], w->v.c, NULL, NULL, w->v.at, &inner));
    if (inner < 0 || inner > x->rank || inner > target.rank)
        return fail(w, GR_D_CONTRACT_AXIS_OUT_OF_RANGE, "fewer dimensions than it sets aside");
    front.rank -= (uint32_t)inner;
    target.rank -= (uint32_t)inner;
    return broadcast(w, &front, &target, out);
}

static bool listed(viewer *w, strided *out) {
    const gr_bind_field *f = w->f;
    const gr_type *x = tensor_of(w, f->tensor), *y;
    strided s, target;
    GR_TRY(x && contiguous(w, x, &s));
    switch (f->view) {
    case GR_VIEW_BROADCAST: y = tensor_of(w, f->arg[0]); return y && contiguous(w, y, &target) && broadcast(w, &s, &target, out);
    case GR_VIEW_KEPT:
    case GR_VIEW_REDUCED: return choose(w, &s, f->view == GR_VIEW_REDUCED, out);
    case GR_VIEW_PERMUTED: return permuted(w, &s, out);
    case GR_VIEW_SLICED: return sliced(w, &s, out);
    case GR_VIEW_BATCH: return batch(w, &s, out);
    default: *out = s; return true;
    }
}

/* Dimensions of size 1 say nothing and go. Views on one target have its dimensions, so the
 * same ones go from all of them. */
static void drop_ones(strided *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->rank; i++) {
        if (s->dim[i] == 1) continue;
        s->dim[n] = s->dim[i];
        s->stride[n++] = s->stride[i];
    }
    s->rank = n;
}

static bool unmerged(viewer *w, strided *out) {
    GR_TRY(listed(w, out));
    drop_ones(out);
    return true;
}

/* Does dimension i continue into i + 1, so that one index runs over both? */
static bool continues(const strided *s, uint32_t i) { return s->stride[i] == s->stride[i + 1] * s->dim[i + 1]; }

/* Views on one target are merged alike: a bit says that dimension i joins i + 1 in all of them. */
static bool joins(viewer *w, const strided *mine, uint32_t *bits) {
    *bits = 0;
    for (uint32_t i = 0; i + 1 < mine->rank; i++)
        if (continues(mine, i)) *bits |= 1u << i;
    if (w->f->view != GR_VIEW_BROADCAST) return true;
    const gr_bind_field *own = w->f;
    for (uint32_t k = 0; k < w->b->binds_n; k++) {
        for (uint32_t j = 0; j < w->b->binds[k].fields_n; j++) {
            const gr_bind_field *f = &w->b->binds[k].fields[j];
            if (f->kind != GR_FIELD_VIEW || f->view != GR_VIEW_BROADCAST || !gr_str_eq(f->arg[0], own->arg[0]) ||
                !gr_call_type(w->v.c, f->tensor))
                continue;
            strided s;
            w->f = f;
            bool ok = unmerged(w, &s);
            w->f = own;
            GR_TRY(ok);
            for (uint32_t i = 0; i + 1 < s.rank; i++)
                if (!continues(&s, i)) *bits &= ~(1u << i);
        }
    }
    return true;
}

static bool merge(viewer *w, strided *s, gr_view *out) {
    uint32_t bits;
    GR_TRY(joins(w, s, &bits));
    uint64_t size = 1;
    *out = (gr_view){.offset = (uint32_t)s->offset};
    for (uint32_t i = 0; i < s->rank; i++) {
        bool joined = i > 0 && (bits >> (i - 1) & 1);
        uint32_t at = joined ? out->rank - 1 : out->rank++;
        uint64_t n = joined ? (uint64_t)out->dims[at] * (uint64_t)s->dim[i] : (uint64_t)s->dim[i];
        size = s->dim[i] ? size * (uint64_t)s->dim[i] : 0;
        if (n > UINT32_MAX || size > UINT32_MAX || s->stride[i] > UINT32_MAX)
            return fail(w, GR_D_CONTRACT_OVERFLOW, "a size does not fit 32 bits");
        out->dims[at] = (uint32_t)n;
        out->strides[at] = (uint32_t)s->stride[i];
    }
    out->size = (uint32_t)size;
    return true;
}

bool gr_view_resolve(gr_diags *d, const gr_binding *b, const gr_bind_field *f, const gr_call *c, gr_place at, gr_view *out) {
    gr_arena tmp;
    gr_arena_init(&tmp, (size_t)16 << 20);
    viewer w = {.v = {.a = &tmp, .d = d, .c = c, .at = at}, .b = b, .f = f};
    strided s = {0};
    *out = (gr_view){0};
    const gr_type *x = gr_call_type(c, f->tensor);
    bool ok = true;
    if (x) { /* an optional operand that is absent has the zero view */
        ok = unmerged(&w, &s);
        if (ok) ok = merge(&w, &s, out);
    }
    gr_arena_free(&tmp);
    return ok;
}

bool gr_list_resolve(gr_diags *d, const gr_bind_field *f, const gr_call *c, gr_place at, double out[32], uint32_t *n) {
    gr_arena tmp;
    gr_val l;
    gr_arena_init(&tmp, (size_t)16 << 20);
    gr_evaluator v = {.a = &tmp, .d = d, .c = c, .at = at};
    bool ok = gr_eval_list(&v, f->expr, &l);
    if (ok && l.len > 32)
        ok = gr_eval_fail(&v, GR_D_CONTRACT_TOO_LARGE, NULL, "the field %.*s has %u entries, at most 32 fit", GR_STR_ARG(f->name), l.len);
    for (uint32_t i = 0; ok && i < l.len; i++) out[i] = l.kind == GR_K_FLOATS ? l.floats[i] : (double)l.list[i].i;
    if (ok) *n = l.len;
    gr_arena_free(&tmp);
    return ok;
}

/* ---- the axis that a name rules ---- */

static bool mentions(const gr_expr *e, gr_str name) {
    if (e->kind == GR_E_NAME && gr_str_eq(e->name, name)) return true;
    for (uint32_t i = 0; i < e->arg_n; i++)
        if (mentions(e->arg[i], name)) return true;
    return false;
}

bool gr_call_axis(const gr_call *c, gr_str tensor, gr_str dim, uint32_t *axis, uint32_t *span) {
    const gr_type *x = gr_call_type(c, tensor);
    int t = gr_sig_find_operand(&c->op->sig, tensor), y = gr_sig_find_output(&c->op->sig, tensor);
    if (!x || (t < 0 && y < 0)) return false;
    const gr_sig_tensor *s = t >= 0 ? &c->op->sig.operands[t] : &c->op->sig.outputs[y];
    uint32_t fixed = 0, at = 0, rest = 0;
    for (uint32_t i = 0; i < s->items_n; i++) {
        if (s->items[i].kind == GR_ITEM_DIM) fixed++;
        else rest++;
    }
    for (uint32_t i = 0; i < s->items_n; i++) {
        /* with several parts of free rank (outputs) only the first has a known place */
        uint32_t n = s->items[i].kind == GR_ITEM_DIM ? 1 : rest == 1 ? x->rank - fixed : 0;
        if (mentions(s->items[i].e, dim)) {
            *axis = at;
            *span = n;
            return n > 0 || rest == 1;
        }
        at += n;
    }
    return false;
}
