#include "ladder/canvas/canvas_int.h"

#include "base/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- words ---- */

static const char *const tiers[] = {"none", "debug", "prod", "fast"};
static const char *const guarantees[] = {"none", "convergent", "replayable", "bitwise_across_devices"};
static const char *const blocks[] = {"none", "input", "constant", "parameter", "output", "op", "repeat", "branch", "call", "train"};

static int find_word(const char *const *words, int n, gr_str name) {
    for (int i = 1; i < n; i++)
        if (gr_str_eqz(name, words[i])) return i;
    return 0;
}

const char *gr_tier_name(gr_tier t) { return tiers[t <= GR_TIER_FAST ? t : 0]; }
gr_tier gr_tier_find(gr_str name) { return (gr_tier)find_word(tiers, 4, name); }
const char *gr_guarantee_name(gr_guarantee g) { return guarantees[g <= GR_GUARANTEE_BITWISE ? g : 0]; }
gr_guarantee gr_guarantee_find(gr_str name) { return (gr_guarantee)find_word(guarantees, 4, name); }
gr_str gr_block_name(gr_block b) { return gr_str_of(blocks[b <= GR_BLOCK_TRAIN ? b : 0]); }
gr_block gr_block_find(gr_str name) { return (gr_block)find_word(blocks, 10, name); }

bool gr_symbol_valid(gr_str s) {
    if (!s.n || s.n > GR_CANVAS_ID_MAX || (s.p[0] >= '0' && s.p[0] <= '9')) return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

/* ---- bytes as text ---- */

static const struct { const char *unit; double scale; } units[] = {
    {"", 1}, {"B", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
    {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};

/* Digits with at most one point: strtod would also take signs, hexadecimal and words. */
static bool read_amount(gr_str s, double *out) {
    char z[32];
    uint32_t points = 0, digits = 0;
    if (!s.n || s.n >= sizeof z) return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '.') points++;
        else if (s.p[i] >= '0' && s.p[i] <= '9') digits++;
        else return false;
        z[i] = s.p[i];
    }
    z[s.n] = 0;
    *out = strtod(z, NULL);
    return digits && points <= 1;
}

bool gr_bytes_parse(gr_str text, uint64_t *bytes) {
    size_t n = 0;
    while (n < text.n && ((text.p[n] >= '0' && text.p[n] <= '9') || text.p[n] == '.')) n++;
    double amount;
    if (!read_amount((gr_str){text.p, n}, &amount)) return false;
    while (n < text.n && text.p[n] == ' ') n++;
    gr_str unit = {text.p + n, text.n - n};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!gr_str_eqz(unit, units[i].unit)) continue;
        double v = gr_floor(amount * units[i].scale);
        if (!(v < 0x1p62)) return false;
        *bytes = (uint64_t)v;
        return true;
    }
    return false;
}

/* Three figures at most; exact below 1 KiB. */
void gr_bytes_print(gr_buf *out, uint64_t bytes) {
    int u = 0;
    double v = (double)bytes;
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    while (u < 6 && v >= 1023.5) v /= 1024, u++;
    if (u == 0) gr_buf_printf(out, "%llu B", (unsigned long long)bytes);
    else if (v < 9.95 && v != gr_floor(v)) gr_buf_printf(out, "%.1f %s", v, names[u]);
    else gr_buf_printf(out, "%.0f %s", v, names[u]);
}

/* ---- constants ---- */

typedef struct constant {
    gr_diags *d;
    gr_place at;
    gr_array *out;
    uint64_t done;
    bool all_bool;
} constant;

static bool is_special(const gr_value *v, double *f) {
    if (v->kind != GR_V_STRING) return false;
    *f = gr_str_eqz(v->s, "inf") ? (double)INFINITY : gr_str_eqz(v->s, "-inf") ? -(double)INFINITY : (double)NAN;
    return *f == *f || gr_str_eqz(v->s, "nan");
}

/* Shape of the first path down; whether the rest agrees is seen while filling. */
static bool find_shape(constant *c, const gr_value *v) {
    c->out->rank = 0;
    for (; v && v->kind == GR_V_ARRAY; v = v->array.n ? v->array.v[0] : NULL) {
        if (c->out->rank == GR_RANK_MAX) return gr_report(c->d, GR_D_CANVAS_VALUE_BAD, c->at, "at most 8 dimensions", "the constant nests deeper than 8 lists");
        c->out->dims[c->out->rank++] = v->array.n;
    }
    return true;
}

static void see_kinds(constant *c, const gr_value *v) {
    if (v->kind != GR_V_ARRAY) c->all_bool = c->all_bool && v->kind == GR_V_BOOL;
    else
        for (uint32_t i = 0; i < v->array.n && c->all_bool; i++) see_kinds(c, v->array.v[i]);
}

static bool out_of_range(constant *c, double v) {
    gr_buf b = {0};
    gr_buf_f64(&b, v);
    gr_report(c->d, GR_D_CANVAS_VALUE_RANGE, c->at, "declare another dtype or change the value", "element %llu is %s, which %s cannot hold",
              (unsigned long long)c->done, b.p ? b.p : "?", gr_dtype_name(c->out->dtype));
    gr_buf_free(&b);
    return false;
}

/* Largest and least of an integer dtype; 64-bit ones are handled by kind. */
static bool integer_fits(gr_dtype t, const gr_value *v) {
    int64_t i = v->i;
    switch (t) {
    case GR_DTYPE_I8: return v->kind == GR_V_INT && i >= INT8_MIN && i <= INT8_MAX;
    case GR_DTYPE_U8: return v->kind == GR_V_INT && i >= 0 && i <= UINT8_MAX;
    case GR_DTYPE_I32: return v->kind == GR_V_INT && i >= INT32_MIN && i <= INT32_MAX;
    case GR_DTYPE_U32: return v->kind == GR_V_INT && i >= 0 && i <= UINT32_MAX;
    case GR_DTYPE_I64: return v->kind == GR_V_INT;
    case GR_DTYPE_U64: return v->kind == GR_V_UINT || i >= 0;
    case GR_DTYPE_BOOL: return v->kind == GR_V_INT && (i == 0 || i == 1);
    default: return true;
    }
}

static bool put_element(constant *c, const gr_value *v) {
    gr_dtype t = c->out->dtype;
    gr_value n = *v;
    double f;
    if (is_special(v, &f)) n = (gr_value){.kind = GR_V_FLOAT, .f = f};
    if (n.kind == GR_V_BOOL) n = (gr_value){.kind = GR_V_INT, .i = v->b};
    if (n.kind == GR_V_FLOAT && !gr_dtype_is_float(t)) {
        if (!(n.f == gr_floor(n.f)) || fabs(n.f) >= 0x1p63) return out_of_range(c, n.f);
        n = (gr_value){.kind = GR_V_INT, .i = (int64_t)n.f};
    }
    if (n.kind == GR_V_FLOAT) gr_array_set_f64(c->out, c->done, n.f);
    else if (n.kind != GR_V_INT && n.kind != GR_V_UINT)
        return gr_report(c->d, GR_D_CANVAS_VALUE_BAD, c->at, "numbers, true, false, \"inf\", \"-inf\" and \"nan\" are values",
                         "element %llu of the constant is no number", (unsigned long long)c->done);
    else if (gr_dtype_is_float(t)) gr_array_set_f64(c->out, c->done, n.kind == GR_V_INT ? (double)n.i : (double)n.u);
    else if (!integer_fits(t, &n)) return out_of_range(c, n.kind == GR_V_INT ? (double)n.i : (double)n.u);
    else gr_array_set_i64(c->out, c->done, n.kind == GR_V_INT ? n.i : (int64_t)n.u);
    if (n.kind == GR_V_FLOAT && isfinite(n.f) && !isfinite(gr_array_get_f64(c->out, c->done))) return out_of_range(c, n.f);
    c->done++;
    return true;
}

static bool fill(constant *c, const gr_value *v, uint32_t depth) {
    bool leaf = v->kind != GR_V_ARRAY;
    if (leaf != (depth == c->out->rank) || (!leaf && v->array.n != c->out->dims[depth]))
        return gr_report(c->d, GR_D_CANVAS_VALUE_BAD, c->at, "make all rows of one length", "the constant's lists have different lengths or depths");
    if (leaf) return put_element(c, v);
    for (uint32_t i = 0; i < v->array.n; i++) GR_TRY(fill(c, v->array.v[i], depth + 1));
    return true;
}

bool gr_canvas_constant(gr_arena *a, gr_diags *d, const gr_value *value, gr_dtype t, gr_place at, gr_array *out) {
    *out = (gr_array){0};
    constant c = {.d = d, .at = at, .out = out, .all_bool = true};
    GR_TRY(find_shape(&c, value));
    if (t == GR_DTYPE_NONE) {
        see_kinds(&c, value);
        t = c.all_bool && value->kind != GR_V_ARRAY ? GR_DTYPE_BOOL : GR_DTYPE_F32;
        if (value->kind == GR_V_ARRAY && value->array.n && c.all_bool) t = GR_DTYPE_BOOL;
    }
    gr_array shape = *out;
    GR_TRY(gr_array_new(a, d, t, shape.dims, shape.rank, out));
    return fill(&c, value, 0);
}

/* ---- index of one scope ---- */

typedef struct heap { uint32_t *v, n; } heap;

static void heap_push(heap *h, uint32_t x) {
    uint32_t i = h->n++;
    for (; i && h->v[(i - 1) / 2] > x; i = (i - 1) / 2) h->v[i] = h->v[(i - 1) / 2];
    h->v[i] = x;
}

static uint32_t heap_pop(heap *h) {
    uint32_t top = h->v[0], last = h->v[--h->n], i = 0;
    for (;;) {
        uint32_t k = 2 * i + 1;
        if (k >= h->n) break;
        if (k + 1 < h->n && h->v[k + 1] < h->v[k]) k++;
        if (h->v[k] >= last) break;
        h->v[i] = h->v[k];
        i = k;
    }
    h->v[i] = last;
    return top;
}

/* Entries of `by` below n are counted into first[0..n] and listed in item by node. */
static bool group(gr_arena *a, uint32_t n, const uint32_t *by, uint32_t m, uint32_t **first_out, uint32_t **item_out) {
    uint32_t *first = GR_NEW_N(a, uint32_t, (size_t)n + 2), *item = GR_NEW_N(a, uint32_t, m);
    if (!first || !item) return false;
    for (uint32_t k = 0; k < m; k++)
        if (by[k] < n) first[by[k] + 2]++;
    for (uint32_t i = 0; i < n; i++) first[i + 2] += first[i + 1];
    for (uint32_t k = 0; k < m; k++)
        if (by[k] < n) item[first[by[k] + 1]++] = k;
    *first_out = first;
    *item_out = item;
    return true;
}

static bool make_order(gr_arena *a, const gr_canvas *c, gr_canvas_index *x) {
    uint32_t n = c->nodes_n, m = c->links_n, edges_n = m + n;
    /* A branch's question is one more edge. */
    uint32_t *from = GR_NEW_N(a, uint32_t, edges_n), *to = GR_NEW_N(a, uint32_t, edges_n), *first, *out;
    uint32_t *open = GR_NEW_N(a, uint32_t, n);
    heap h = {.v = GR_NEW_N(a, uint32_t, n)};
    x->order = GR_NEW_N(a, uint32_t, n);
    if (!from || !to || !open || !h.v || !x->order) return false;
    for (uint32_t k = 0; k < edges_n; k++) {
        from[k] = k < m ? x->from[k] : x->condition[k - m];
        to[k] = k < m ? x->to[k] : k - m;
        if (from[k] >= n || to[k] >= n) from[k] = to[k] = UINT32_MAX;
        else open[to[k]]++;
    }
    if (!group(a, n, from, edges_n, &first, &out)) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!open[i]) heap_push(&h, i);
    while (h.n) {
        uint32_t i = heap_pop(&h);
        x->order[x->order_n++] = i;
        for (uint32_t k = first[i]; k < first[i + 1]; k++)
            if (--open[to[out[k]]] == 0) heap_push(&h, to[out[k]]);
    }
    return true;
}

bool gr_canvas_index_make(gr_arena *a, const gr_canvas *c, gr_canvas_index *x) {
    *x = (gr_canvas_index){0};
    uint32_t n = c->nodes_n, m = c->links_n;
    x->from = GR_NEW_N(a, uint32_t, m);
    x->to = GR_NEW_N(a, uint32_t, m);
    x->condition = GR_NEW_N(a, uint32_t, n);
    if (!x->from || !x->to || !x->condition) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!gr_map_get(&x->ids, c->nodes[i].id, NULL) && !gr_map_put(a, &x->ids, c->nodes[i].id, i)) return false;
    for (uint32_t k = 0; k < m; k++) {
        x->from[k] = x->to[k] = UINT32_MAX;
        gr_map_get(&x->ids, c->links[k].from_node, &x->from[k]);
        gr_map_get(&x->ids, c->links[k].to_node, &x->to[k]);
    }
    for (uint32_t i = 0; i < n; i++) {
        x->condition[i] = UINT32_MAX;
        if (c->nodes[i].block == GR_BLOCK_BRANCH) gr_map_get(&x->ids, c->nodes[i].condition, &x->condition[i]);
    }
    return group(a, n, x->to, m, &x->in_first, &x->in) && make_order(a, c, x);
}

bool gr_canvas_ports_make(gr_arena *a, const gr_canvas *c, gr_block block, gr_canvas_ports *out) {
    *out = (gr_canvas_ports){0};
    out->ids = GR_NEW_N(a, gr_str, c ? c->nodes_n : 0);
    if (!out->ids) return false;
    for (uint32_t i = 0; c && i < c->nodes_n; i++) {
        gr_str id = c->nodes[i].id;
        if (c->nodes[i].block != block || gr_map_get(&out->at, id, NULL)) continue;
        if (!gr_map_put(a, &out->at, id, out->n)) return false;
        out->ids[out->n++] = id;
    }
    return true;
}

gr_place gr_canvas_below(gr_arena *a, gr_place at, const char *key) {
    char *p = gr_arena_printf(a, "%.*s/%s", GR_STR_ARG(at.pointer), key);
    if (p) at.pointer = gr_str_of(p);
    return at;
}
