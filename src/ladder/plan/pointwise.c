/* pointwise.c: map bodies cut without a clause: any range of the output needs the same range of each operand. */
#include "ladder/plan/split_int.h"

static uint64_t count_of(const gr_type *t) {
    uint64_t n = 0;
    return gr_type_count(t, &n) ? n : 0;
}

static bool absent(const gr_cut *x, uint32_t i) { return i < x->in_n && x->n->args[i] == GR_NO_VALUE; }
static gr_value_id value_at(const gr_cut *x, uint32_t i) { return i < x->in_n ? x->n->args[i] : x->n->results[i - x->in_n]; }
static const gr_type *full_type(const gr_cut *x, uint32_t i) { return i < x->in_n ? &x->c->operands[i] : &x->c->outputs[i - x->in_n]; }

/* Every result is there; those of a fused node have one shape. */
static bool has_results(const gr_cut *x) {
    for (uint32_t i = 0; i < x->out_n; i++)
        if (x->n->results[i] == GR_NO_VALUE || count_of(full_type(x, x->in_n + i)) != count_of(full_type(x, x->in_n))) return false;
    return x->out_n > 0;
}

/* ---- flat: every operand has all elements or one ------------------------------------ */

static bool is_flat(const gr_cut *x, uint64_t count) {
    for (uint32_t i = 0; i < x->in_n; i++)
        if (!absent(x, i) && count_of(full_type(x, i)) != count && count_of(full_type(x, i)) != 1) return false;
    return true;
}

/* Where the piece from lo must end: at the limit, and where a page of some tensor ends. */
static uint64_t flat_end(const gr_cut *x, uint64_t lo, uint64_t count, uint64_t most) {
    uint64_t hi = count - lo < most ? count : lo + most;
    for (uint32_t i = 0; i < x->in_n + x->out_n; i++) {
        if (absent(x, i) || count_of(full_type(x, i)) != count) continue;
        const gr_home *h = &x->b->home[value_at(x, i)];
        if (h->kind != GR_HOME_PAGED) continue;
        uint64_t per = h->page_bytes / gr_element_bytes(full_type(x, i)->dtype), end = (lo / per + 1) * per;
        if (end < hi) hi = end;
    }
    return hi;
}

static void flat_piece(gr_cut *x, uint64_t lo, uint64_t hi, uint64_t count) {
    for (uint32_t i = 0; i < x->in_n + x->out_n; i++) {
        if (absent(x, i)) continue;
        gr_type t = *full_type(x, i);
        if (count_of(&t) == count) {
            uint64_t e = gr_element_bytes(t.dtype), total = gr_whole_span(&t).run;
            x->span[i] = (gr_span){1, total, lo * e, hi == count ? total - lo * e : (hi - lo) * e};
            t.rank = 1;
            t.dim[0] = (gr_dim){.n = hi - lo};
        } else {
            x->span[i] = gr_whole_span(&t);
            t.rank = 0;
        }
        x->type[i] = t;
    }
}

gr_split_result gr_split_flat(gr_cut *x, const gr_split *s) {
    uint64_t widest = 4, most, count = count_of(full_type(x, x->in_n));
    if (!has_results(x) || !is_flat(x, count)) return GR_SPLIT_IMPOSSIBLE;
    for (uint32_t i = 0; i < x->in_n + x->out_n; i++) {
        uint64_t e = absent(x, i) ? 0 : gr_element_bytes(full_type(x, i)->dtype);
        if (e > widest) widest = e;
    }
    most = x->limit / widest / GR_PAGE_ALIGN * GR_PAGE_ALIGN;
    if (most == 0) most = x->limit / widest / 4 * 4;
    if (most == 0 || count / most > GR_MAX_PIECES) return GR_SPLIT_IMPOSSIBLE;
    for (uint64_t lo = 0, hi; lo < count; lo = hi) {
        hi = flat_end(x, lo, count, most);
        flat_piece(x, lo, hi, count);
        if (!gr_cut_set(x, s, &(gr_cut_names){(int64_t)lo, (int64_t)hi, 0})) return lo == 0 ? GR_SPLIT_IMPOSSIBLE : GR_SPLIT_FAILED;
        gr_split_result r = gr_cut_instantiate(x, true);
        if (r != GR_SPLIT_DONE) return lo == 0 ? r : GR_SPLIT_FAILED;
        if (!gr_cut_run(x, NULL)) return GR_SPLIT_FAILED;
    }
    return GR_SPLIT_DONE;
}

/* ---- rows: one index of every dimension before `axis`, a range of it ------------------- */

typedef struct rows {
    gr_cut *x;
    const gr_type *y;
    uint32_t axis;
    uint64_t index[GR_RANK_MAX], lo, hi;
} rows;

/* Elements of one index of y's dimension `axis`, in tensor t. */
static uint64_t inner_count(const gr_type *t, const gr_type *y, uint32_t axis) {
    uint64_t n = 1;
    for (uint32_t k = axis + 1; k < y->rank; k++)
        if (k + t->rank >= y->rank) n *= t->dim[k + t->rank - y->rank].n;
    return n;
}

static bool rows_piece(const rows *r) {
    gr_cut *x = r->x;
    for (uint32_t i = 0; i < x->in_n + x->out_n; i++) {
        if (absent(x, i)) continue;
        const gr_type *t = full_type(x, i);
        uint64_t e = gr_element_bytes(t->dtype), at = 0, total = gr_whole_span(t).run, inner = inner_count(t, r->y, r->axis), stride = inner;
        gr_type piece = {.dtype = t->dtype};
        for (uint32_t k = r->axis + 1; k-- > 0;) { /* innermost of the fixed dimensions first */
            if (k + t->rank < r->y->rank) break;
            uint64_t n = t->dim[k + t->rank - r->y->rank].n;
            if (n > 1) at += stride * (k == r->axis ? r->lo : r->index[k]);
            stride *= n;
        }
        uint64_t take = inner;
        if (r->axis + t->rank >= r->y->rank) {
            uint64_t n = t->dim[r->axis + t->rank - r->y->rank].n > 1 ? r->hi - r->lo : 1;
            piece.dim[piece.rank++] = (gr_dim){.n = n};
            take *= n;
        }
        for (uint32_t k = r->axis + 1; k < r->y->rank; k++)
            if (k + t->rank >= r->y->rank) piece.dim[piece.rank++] = (gr_dim){.n = t->dim[k + t->rank - r->y->rank].n};
        x->type[i] = piece;
        x->span[i] = (gr_span){1, total, at * e, take * e};
        if ((at + take) * e + 4 > total && (at + take) * e <= total) x->span[i].run = total - at * e;
        if (x->span[i].lo % 4 || x->span[i].run % 4 || x->span[i].run > x->limit) return false;
    }
    return true;
}

static bool next_index(rows *r) {
    for (uint32_t k = r->axis; k-- > 0;) {
        if (++r->index[k] < r->y->dim[k].n) return true;
        r->index[k] = 0;
    }
    return false;
}

/* The end of a piece of rows: the limit, or the end of an output's page. */
static uint64_t rows_end(const rows *r, uint64_t most) {
    const gr_cut *x = r->x;
    uint64_t n = r->y->dim[r->axis].n, hi = n - r->lo < most ? n : r->lo + most;
    for (uint32_t i = 0; i < x->out_n; i++) {
        const gr_home *h = &x->b->home[x->n->results[i]];
        uint64_t row = inner_count(r->y, r->y, r->axis) * gr_element_bytes(full_type(x, x->in_n + i)->dtype);
        if (h->kind != GR_HOME_PAGED || r->axis != 0 || row == 0 || h->page_bytes % row) continue;
        uint64_t per = h->page_bytes / row, end = (r->lo / per + 1) * per;
        if (end < hi) hi = end;
    }
    return hi;
}

static gr_split_result split_rows(gr_cut *x) {
    rows r = {.x = x, .y = full_type(x, x->in_n)};
    uint64_t e = 4, most = 0, pieces = 1;
    for (uint32_t i = 0; i < x->in_n + x->out_n; i++)
        if (!absent(x, i) && gr_element_bytes(full_type(x, i)->dtype) > e) e = gr_element_bytes(full_type(x, i)->dtype);
    for (r.axis = 0; r.axis < r.y->rank; r.axis++) {
        uint64_t row = inner_count(r.y, r.y, r.axis) * e;
        most = row ? x->limit / row : 0;
        if (most) break;
        pieces *= r.y->dim[r.axis].n;
        if (pieces > GR_MAX_PIECES) return GR_SPLIT_IMPOSSIBLE;
    }
    if (r.axis == r.y->rank) return GR_SPLIT_IMPOSSIBLE;
    bool first = true;
    do {
        for (r.lo = 0; r.lo < r.y->dim[r.axis].n; r.lo = r.hi) {
            r.hi = rows_end(&r, most);
            gr_split_result got = rows_piece(&r) ? gr_cut_instantiate(x, true) : GR_SPLIT_IMPOSSIBLE;
            if (got != GR_SPLIT_DONE) return first ? got : GR_SPLIT_FAILED;
            if (!gr_cut_run(x, NULL)) return GR_SPLIT_FAILED;
            first = false;
        }
    } while (next_index(&r));
    return GR_SPLIT_DONE;
}

gr_split_result gr_split_pointwise(gr_cut *x) {
    if (!has_results(x)) return GR_SPLIT_IMPOSSIBLE;
    gr_split_result r = gr_split_flat(x, NULL);
    return r == GR_SPLIT_IMPOSSIBLE ? split_rows(x) : r;
}
