/* split.c: a node cut along a dimension by its op's split clauses.
 *
 * A range clause says which part of each operand a part of the output needs, and which parameters the piece has; a combine clause says how
 * partial results over parts of the operands are joined. Clauses speak about the op, not about one kernel: all
 * of the op's are tried in order. */
#include "ladder/plan/split_int.h"

typedef struct part { int32_t axis; const gr_expr *lo, *hi; } part; /* axis -1: taken whole; exprs NULL: lo and hi */

typedef struct along {
    gr_cut *x;
    const gr_split *s;
    part *part;       /* by operand, then output */
    uint64_t size;    /* of the dimension that lo and hi range over */
    uint32_t lead;    /* tensor whose rows are counted and whose pages are followed */
    int64_t cut;      /* number of the axis that is cut, in the first output */
} along;

static const gr_type *full_type(const gr_cut *x, uint32_t i) { return i < x->in_n ? &x->c->operands[i] : &x->c->outputs[i - x->in_n]; }

/* ---- setting up a clause --------------------------------------------------------------- */

static int32_t find_tensor(const gr_cut *x, gr_str name) {
    bool is_output;
    uint32_t index;
    if (!gr_call_tensor(x->c, name, &is_output, &index)) return -1;
    return (int32_t)(is_output ? x->in_n + index : x->c->operand_first[index]);
}

/* The same of outputs alone: one that is written in place has its operand's name. */
static int32_t find_output(const gr_cut *x, gr_str name) {
    const gr_sig *sig = &x->c->op->sig;
    for (uint32_t i = 0; i < sig->outputs_n && i < x->out_n; i++)
        if (gr_str_eq(sig->outputs[i].name, name)) return (int32_t)(x->in_n + i);
    return -1;
}

/* Axis of the clause's dimension in a tensor. Of a rank variable, the dimension `from_end` before its last one; -1
 * when the tensor does not reach it or broadcasts along it. */
static int32_t axis_in(const gr_cut *x, gr_str tensor, uint32_t at, gr_str dim, uint32_t from_end) {
    uint32_t axis, span;
    if (!gr_call_axis(x->c, tensor, dim, &axis, &span) || from_end >= span) return -1;
    return (int32_t)(axis + span - 1 - from_end) < (int32_t)full_type(x, at)->rank ? (int32_t)(axis + span - 1 - from_end) : -1;
}

/* The first dimension of the clause's name in a tensor that has more than one element. */
static bool first_wide(const gr_cut *x, gr_str tensor, uint32_t at, gr_str dim, uint32_t *from_end) {
    uint32_t axis, span;
    if (!gr_call_axis(x->c, tensor, dim, &axis, &span)) return false;
    for (uint32_t i = 0; i < span && axis + i < full_type(x, at)->rank; i++) {
        *from_end = span - 1 - i;
        if (full_type(x, at)->dim[axis + i].n > 1) return true;
    }
    return false;
}

/* The axis that a range names, or the one of the clause's dimension; -1: none. */
static int32_t range_axis(along *g, const gr_range *r, uint32_t at, uint32_t from_end) {
    gr_cut_names names = {0, (int64_t)g->size, g->cut};
    gr_param axis = {0};
    if (!r->axis && g->s->dim.n) return axis_in(g->x, r->tensor, at, g->s->dim, from_end);
    gr_diags d;
    gr_diags_init(&d);
    bool ok = !r->axis || gr_expr_cut(g->x->b->a, &d, r->axis, g->x->c, &names, g->x->n->at, &axis);
    gr_diags_free(&d);
    int64_t n = r->axis ? axis.i : g->cut;
    return ok && n >= 0 && n < full_type(g->x, at)->rank ? (int32_t)n : -1;
}

/* Tensors of a name in flattened order: one, or those of a variadic operand or output. */
static uint32_t tensors_of(const gr_cut *x, gr_str name, uint32_t first) {
    const gr_sig *sig = &x->c->op->sig;
    if (first >= x->in_n) return sig->outputs_n == 1 && sig->outputs[0].variadic ? x->out_n : 1;
    for (uint32_t i = 0; i < sig->operands_n; i++)
        if (gr_str_eq(sig->operands[i].name, name)) return x->c->operand_first[i + 1] - x->c->operand_first[i];
    return 1;
}

/* The first output's axis: the clause's dimension, or g->cut. */
static bool setup_lead(along *g, uint32_t *from_end) {
    gr_cut *x = g->x;
    const gr_range *r = &g->s->outs[0];
    int32_t at = find_output(x, r->tensor);
    if (at < 0) return false;
    if (g->s->dim.n && !first_wide(x, r->tensor, (uint32_t)at, g->s->dim, from_end)) return false;
    int32_t axis = range_axis(g, r, (uint32_t)at, *from_end);
    if (axis < 0) return false;
    g->lead = (uint32_t)at;
    g->size = full_type(x, g->lead)->dim[axis].n;
    g->cut = axis;
    return true;
}

/* Does the clause's condition hold? */
static bool holds(const along *g) {
    gr_cut_names names = {0, (int64_t)g->size, g->cut};
    gr_param yes = {0};
    gr_diags d;
    if (!g->s->when) return true;
    gr_diags_init(&d);
    bool ok = gr_expr_cut(g->x->b->a, &d, g->s->when, g->x->c, &names, g->x->n->at, &yes);
    gr_diags_free(&d);
    return ok && yes.i != 0;
}

static bool setup_range(along *g) {
    gr_cut *x = g->x;
    uint32_t from_end = 0, covered = 0;
    if (g->s->outs_n == 0 || !setup_lead(g, &from_end) || !holds(g)) return false;
    for (uint32_t i = 0; i < g->s->outs_n; i++) {
        const gr_range *r = &g->s->outs[i];
        int32_t at = find_output(x, r->tensor);
        for (uint32_t k = 0; at >= 0 && k < tensors_of(x, r->tensor, (uint32_t)at); k++, covered++) {
            int32_t axis = range_axis(g, r, (uint32_t)at + k, from_end);
            if (axis < 0) return false;
            g->part[(uint32_t)at + k] = (part){axis, r->lo, r->hi};
        }
    }
    for (uint32_t i = 0; i < g->s->needs_n; i++) {
        const gr_range *r = &g->s->needs[i];
        int32_t at = find_tensor(x, r->tensor);
        if (at < 0) continue; /* an optional operand not given */
        for (uint32_t k = 0; k < tensors_of(x, r->tensor, (uint32_t)at); k++) {
            int32_t axis = range_axis(g, r, (uint32_t)at + k, from_end);
            bool broadcast = axis < 0 || (full_type(x, (uint32_t)at + k)->dim[axis].n == 1 && g->size > 1);
            if (!broadcast) g->part[(uint32_t)at + k] = (part){axis, r->lo, r->hi};
        }
    }
    return covered == x->out_n;
}

/* Every operand that has the dimension is cut; the first that does leads. */
static bool setup_combine(along *g) {
    gr_cut *x = g->x;
    const gr_sig *sig = &x->c->op->sig;
    uint32_t from_end = 0;
    bool found = false;
    if (x->out_n != 1 || x->n->results[0] == GR_NO_VALUE) return false;
    for (uint32_t i = 0; i < sig->operands_n; i++) {
        uint32_t at = x->c->operand_first[i];
        if (at == x->c->operand_first[i + 1] || x->n->args[at] == GR_NO_VALUE) continue;
        if (!found && !first_wide(x, sig->operands[i].name, at, g->s->dim, &from_end)) continue;
        int32_t axis = axis_in(x, sig->operands[i].name, at, g->s->dim, from_end);
        if (axis < 0) continue;
        uint64_t n = full_type(x, at)->dim[axis].n;
        if (!found) {
            g->lead = at;
            g->size = n;
        }
        if (found && n != g->size) continue; /* broadcast along it */
        g->part[at].axis = axis;
        found = true;
    }
    return found;
}

/* ---- pieces ------------------------------------------------------------------------------ */

static bool bounds(const along *g, uint32_t i, uint64_t lo, uint64_t hi, uint64_t *from, uint64_t *to) {
    const part *p = &g->part[i];
    gr_cut_names names = {(int64_t)lo, (int64_t)hi, g->cut};
    gr_param f = {.i = names.lo}, t = {.i = names.hi};
    gr_diags d;
    gr_diags_init(&d);
    bool ok = (!p->lo || gr_expr_cut(g->x->b->a, &d, p->lo, g->x->c, &names, g->x->n->at, &f)) &&
              (!p->hi || gr_expr_cut(g->x->b->a, &d, p->hi, g->x->c, &names, g->x->n->at, &t));
    gr_diags_free(&d);
    *from = (uint64_t)f.i;
    *to = (uint64_t)t.i;
    return ok && f.i >= 0 && t.i > f.i && *to <= full_type(g->x, i)->dim[p->axis].n;
}

/* Shapes and spans of the piece [lo, hi). False when it is over the limit or cannot be moved. */
static bool shape_piece(along *g, uint64_t lo, uint64_t hi, bool with_outputs) {
    gr_cut *x = g->x;
    for (uint32_t i = 0; i < x->in_n + (with_outputs ? x->out_n : 0); i++) {
        if (i < x->in_n && x->n->args[i] == GR_NO_VALUE) continue;
        gr_type *t = &x->type[i];
        *t = *full_type(x, i);
        x->span[i] = gr_whole_span(t);
        if (g->part[i].axis >= 0) {
            uint64_t from, to;
            uint32_t axis = (uint32_t)g->part[i].axis;
            if (!bounds(g, i, lo, hi, &from, &to) || !gr_axis_span(t, axis, from, to, &x->span[i])) return false;
            t->dim[axis] = (gr_dim){.n = to - from};
        }
        if (x->span[i].outer * x->span[i].run > x->limit) return false;
    }
    return gr_cut_set(x, g->s, &(gr_cut_names){(int64_t)lo, (int64_t)hi, g->cut});
}

static uint64_t row_bytes(const along *g) {
    const gr_type *t = full_type(g->x, g->lead);
    uint64_t n = gr_element_bytes(t->dtype);
    for (uint32_t k = (uint32_t)g->part[g->lead].axis + 1; k < t->rank; k++) n *= t->dim[k].n;
    return n;
}

/* The most rows of a piece within the limits, rounded so that pieces start aligned; 0 when one row is too much. */
static uint64_t rows_of_piece(along *g, bool with_outputs) {
    uint64_t lo = 0, hi = g->size, row = row_bytes(g), unit = 1;
    if (shape_piece(g, 0, g->size, with_outputs)) return g->size;
    while (lo + 1 < hi) { /* fits lo rows, not hi */
        uint64_t mid = lo + (hi - lo) / 2;
        if (shape_piece(g, 0, mid, with_outputs)) lo = mid;
        else if (mid % 2 && mid > 1 && shape_piece(g, 0, mid - 1, with_outputs)) lo = mid - 1, hi = mid; /* halves need even rows */
        else hi = mid;
    }
    while (unit < GR_PAGE_ALIGN && (unit * row) % GR_PAGE_ALIGN) unit *= 2;
    while (unit > 1 && unit > lo) unit /= 2;
    return lo / unit * unit;
}

static uint64_t piece_end(const along *g, uint64_t lo, uint64_t rows) {
    uint64_t hi = g->size - lo < rows ? g->size : lo + rows;
    const gr_cut *x = g->x;
    gr_value_id v = g->lead < x->in_n ? x->n->args[g->lead] : x->n->results[g->lead - x->in_n];
    if (v == GR_NO_VALUE) return hi;
    const gr_home *h = &x->b->home[v];
    uint64_t row = row_bytes(g);
    bool whole = gr_whole_span(full_type(x, g->lead)).run <= g->size * row + 3; /* no dimensions before the axis */
    if (h->kind != GR_HOME_PAGED || !whole || row == 0 || h->page_bytes % row) return hi;
    uint64_t per = h->page_bytes / row, end = (lo / per + 1) * per;
    return end < hi ? end : hi;
}

static gr_split_result run_range(along *g) {
    uint64_t rows = rows_of_piece(g, true);
    if (rows == 0) {
        gr_cut_why(g->x, "one row of the dimension is over the limit, or cannot be moved");
        return GR_SPLIT_IMPOSSIBLE;
    }
    if (g->size / rows > GR_MAX_PIECES) return GR_SPLIT_IMPOSSIBLE;
    for (uint64_t lo = 0; lo < g->size; lo = piece_end(g, lo, rows))
        if (!shape_piece(g, lo, piece_end(g, lo, rows), true)) { /* a piece may need nothing of an operand, or more than others */
            gr_cut_why(g->x, "a piece cannot be moved or is over the limit");
            return GR_SPLIT_IMPOSSIBLE;
        }
    for (uint64_t lo = 0, hi; lo < g->size; lo = hi) {
        hi = piece_end(g, lo, rows);
        gr_split_result r = shape_piece(g, lo, hi, true) ? gr_cut_instantiate(g->x, true) : GR_SPLIT_IMPOSSIBLE;
        if (r != GR_SPLIT_DONE) return lo == 0 ? r : GR_SPLIT_FAILED;
        if (!gr_cut_run(g->x, NULL)) return GR_SPLIT_FAILED;
    }
    return GR_SPLIT_DONE;
}

/* ---- joining partial results ---------------------------------------------------------------- */

typedef struct join {
    gr_kernel *kernels;
    uint32_t n;
    gr_loc y, other, partial; /* the result; the second accumulator; what a piece writes */
    uint64_t work;
} join;

static const gr_op *joining_op(const along *g) {
    for (int r = 1; r < GR_ROLE_COUNT; r++)
        if (gr_str_eqz(g->s->combine, gr_role_name((gr_role)r))) return gr_catalog_role(g->x->b->catalog, (gr_role)r);
    return gr_catalog_find(g->x->b->catalog, g->s->combine);
}

static bool prepare_join(along *g, join *j) {
    gr_cut *x = g->x;
    gr_builder *b = x->b;
    const gr_op *op = joining_op(g);
    gr_type pair[2] = {x->c->outputs[0], x->c->outputs[0]};
    gr_value_id args[2] = {0, 1}, result[1] = {2};
    gr_call call;
    gr_diags d;
    if (!op) return false;
    gr_diags_init(&d);
    bool ok = gr_call_resolve(b->a, &d, op, pair, 2, NULL, 0, x->n->at, &call) && call.outputs_n == 1 && gr_type_equal(&call.outputs[0], &pair[0]) &&
              gr_kernel_instantiate_in(b->cache, b->a, &d, &call, b->t, b->tier, args, result, x->n->node, x->node, x->n->at, &j->kernels, &j->n);
    gr_diags_free(&d);
    if (ok) j->work = gr_call_work(&call);
    return ok;
}

static bool temp_like(gr_builder *b, gr_value_id v, gr_loc *l) {
    *l = (gr_loc){.bytes = b->home[v].bytes, .value = v, .count = GR_NO_BUFFER, .temp = true};
    l->buffer = gr_pool_take(b, GR_STR("partial"), l->bytes, b->g->values[v].type.dtype == GR_DTYPE_F16);
    return l->buffer != GR_NO_BUFFER;
}

/* Piece i of n: the first writes the accumulator, the others a partial result that is then joined. Accumulators
 * alternate so that the last join writes y. */
static bool run_joined(along *g, join *j, uint64_t i, uint64_t n) {
    const gr_loc *to = (n - 1 - i) % 2 == 0 ? &j->y : &j->other, *from = to == &j->y ? &j->other : &j->y;
    GR_TRY(gr_cut_run(g->x, i == 0 ? to : &j->partial));
    if (i == 0) return true;
    gr_loc locs[3] = {*from, j->partial, *to};
    return gr_dispatch_all(g->x->b, j->kernels, j->n, locs, j->work);
}

static gr_split_result run_combine(along *g, uint64_t rows) {
    gr_cut *x = g->x;
    gr_builder *b = x->b;
    gr_value_id v = x->n->results[0];
    gr_span whole = gr_whole_span(&x->c->outputs[0]);
    join j = {0};
    uint64_t n = 0;
    if (!prepare_join(g, &j)) {
        gr_cut_why(x, "the op that joins partial results does not exist or does not fit them");
        return GR_SPLIT_IMPOSSIBLE;
    }
    for (uint64_t lo = 0; lo < g->size; lo = piece_end(g, lo, rows)) n++;
    if (!gr_span_place(b, v, whole, &j.y) || !temp_like(b, v, &j.other) || !temp_like(b, v, &j.partial)) return GR_SPLIT_FAILED;
    uint64_t i = 0;
    for (uint64_t lo = 0, hi; lo < g->size; lo = hi, i++) {
        hi = piece_end(g, lo, rows);
        if (!shape_piece(g, lo, hi, false) || gr_cut_instantiate(x, true) != GR_SPLIT_DONE || !run_joined(g, &j, i, n)) return GR_SPLIT_FAILED;
    }
    bool ok = gr_span_flush(b, v, whole, &j.y) && gr_span_done(b, &j.y) && gr_span_done(b, &j.other) && gr_span_done(b, &j.partial);
    return ok ? GR_SPLIT_DONE : GR_SPLIT_FAILED;
}

/* The output of a piece is smaller than the whole along exactly one axis: that axis was not reduced, and the
 * pieces of the output stand side by side. */
static bool find_output_axis(along *g, uint64_t rows) {
    gr_cut *x = g->x;
    const gr_type *whole = full_type(x, x->in_n), *got = &x->call.outputs[0];
    int32_t axis = -1;
    if (whole->rank != got->rank) return false;
    for (uint32_t k = 0; k < whole->rank; k++) {
        if (whole->dim[k].n == got->dim[k].n) continue;
        if (axis >= 0 || whole->dim[k].n != g->size || got->dim[k].n != rows) return false;
        axis = (int32_t)k;
    }
    if (axis < 0) return false;
    g->part[x->in_n] = (part){.axis = axis};
    return true;
}

static gr_split_result run_clause_combine(along *g) {
    gr_cut *x = g->x;
    uint64_t rows = rows_of_piece(g, false);
    if (rows == 0 || g->size / rows > GR_MAX_PIECES) {
        gr_cut_why(x, "one row of the dimension is over the limit, or cannot be moved");
        return GR_SPLIT_IMPOSSIBLE;
    }
    uint64_t first = piece_end(g, 0, rows);
    if (!shape_piece(g, 0, first, false)) return GR_SPLIT_IMPOSSIBLE;
    gr_split_result r = gr_cut_instantiate(x, false);
    if (r != GR_SPLIT_DONE) return r;
    const gr_type *whole = full_type(x, x->in_n);
    if (gr_type_equal(&x->call.outputs[0], whole)) {
        x->type[x->in_n] = *whole;
        if (gr_whole_span(whole).run <= x->limit) return run_combine(g, rows);
        gr_cut_why(x, "the partial results are over the limit themselves");
        return GR_SPLIT_IMPOSSIBLE;
    }
    return find_output_axis(g, first) ? run_range(g) : GR_SPLIT_IMPOSSIBLE;
}

/* ---- a node ------------------------------------------------------------------------------------ */

/* The clause with one axis: of its dimension, or number `cut`. */
static gr_split_result try_axis(gr_cut *x, const gr_split *s, uint32_t cut) {
    along g = {.x = x, .s = s, .cut = cut};
    g.part = GR_NEW_N(x->b->a, part, x->in_n + x->out_n);
    if (!g.part) return gr_report_oom(x->b->d) ? GR_SPLIT_DONE : GR_SPLIT_FAILED;
    for (uint32_t i = 0; i < x->in_n + x->out_n; i++) g.part[i].axis = -1;
    if (s->combine.n) return setup_combine(&g) && holds(&g) ? run_clause_combine(&g) : GR_SPLIT_IMPOSSIBLE;
    return setup_range(&g) ? run_range(&g) : GR_SPLIT_IMPOSSIBLE;
}

static gr_split_result try_clause(gr_cut *x, const gr_split *s) {
    gr_split_result r = GR_SPLIT_IMPOSSIBLE;
    uint32_t axes = s->dim.n || x->out_n == 0 ? 1 : full_type(x, x->in_n)->rank;
    size_t mark = x->why->n;
    gr_buf_printf(x->why, "%ssplit %.*s: ", mark ? "; " : "", s->dim.n ? (int)s->dim.n : 1, s->dim.n ? s->dim.p : "*");
    size_t named = x->why->n;
    if (s->flat) r = gr_split_flat(x, s);
    for (uint32_t cut = 0; !s->flat && cut < axes && r == GR_SPLIT_IMPOSSIBLE; cut++)
        if (s->dim.n || full_type(x, x->in_n)->dim[cut].n > 1) r = try_axis(x, s, cut);
    if (r == GR_SPLIT_IMPOSSIBLE && x->why->n == named) gr_buf_puts(x->why, "does not apply to these shapes");
    return r;
}

static gr_split_result try_list(gr_cut *x, const gr_split *s, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        gr_split_result r = try_clause(x, &s[i]);
        if (r != GR_SPLIT_IMPOSSIBLE) return r;
    }
    return GR_SPLIT_IMPOSSIBLE;
}

/* A count is that of a whole tensor. */
static bool any_bounded(const gr_cut *x) {
    for (uint32_t i = 0; i < x->c->op->sig.operands_n; i++)
        if (x->c->op->sig.operands[i].count.n) return true;
    for (uint32_t i = 0; i < x->in_n + x->out_n; i++)
        if (full_type(x, i)->bounded) return true;
    return false;
}

gr_split_result gr_split_node(gr_builder *b, uint32_t node, uint64_t piece_bytes, gr_buf *why) {
    gr_cut x;
    if (!gr_cut_begin(&x, b, node, piece_bytes, why)) return GR_SPLIT_FAILED;
    const gr_op *op = x.c->op;
    gr_split_result r = GR_SPLIT_IMPOSSIBLE;
    if (any_bounded(&x)) {
        gr_cut_why(&x, "bounded tensors are not cut");
        return r;
    }
    if (op->fusion && op->fusion->core) {
        gr_cut_why(&x, "an operand is computed where it is read");
        return r;
    }
    r = try_list(&x, op->splits, op->splits_n);
    for (uint32_t i = 0; i < op->kernels_n && r == GR_SPLIT_IMPOSSIBLE; i++) r = try_list(&x, op->kernels[i].binding.splits, op->kernels[i].binding.splits_n);
    if (r == GR_SPLIT_IMPOSSIBLE) r = try_list(&x, op->reference.binding.splits, op->reference.binding.splits_n);
    if (r == GR_SPLIT_IMPOSSIBLE && op->body == GR_BODY_MAP) r = gr_split_pointwise(&x);
    if (r == GR_SPLIT_IMPOSSIBLE && why->n == 0) gr_cut_why(&x, "the op has no split clause");
    return r;
}

gr_split_result gr_split_whole(gr_builder *b, uint32_t node) {
    gr_cut x;
    gr_buf why = {0};
    bool ok = gr_cut_begin(&x, b, node, b->lim.binding, &why) && !any_bounded(&x);
    gr_split_result r = ok ? GR_SPLIT_IMPOSSIBLE : GR_SPLIT_FAILED;
    ok = ok && !(x.c->op->fusion && x.c->op->fusion->core);
    for (uint32_t i = 0; ok && i < x.in_n + x.out_n; i++) {
        x.span[i] = gr_whole_span(&x.type[i]);
        ok = x.span[i].run <= x.limit && !x.type[i].bounded;
    }
    if (ok) r = gr_cut_instantiate(&x, true);
    if (r == GR_SPLIT_DONE && !gr_cut_run(&x, NULL)) r = GR_SPLIT_FAILED;
    gr_buf_free(&why);
    return r;
}
