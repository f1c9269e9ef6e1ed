/* cases.c: shapes, dtypes and parameters. The contract alone decides: every draw is kept only if gr_call_resolve takes it.
 *
 * Drawn are: small calls and their neighbours; then what chance would pass over: each kernel at the edge of its `when`, long
 * reductions, high ranks, lists with larger entries, each and two at a time, folded dispatches; then at random. */
#include "regime/conform_int.h"

#include <stdlib.h>

enum { ELEMENTS_MAX = 1 << 16 /* of a tensor */, ELEMENTS_ALL = 5 << 14, ATTEMPTS = 40, SMALLEST_MAX = 40, SEARCH = 400, SEARCH_KERNEL = 8000, MOST_DTYPES = 100, SMALL_ELEMENTS = 300, MEDIUM_ELEMENTS = 1 << 13 };

/* ---- a spec as a call --------------------------------------------------------------- */

static gr_value *list_value(gr_arena *a, const gr_spec_param *p, bool is_float) {
    gr_value *v = gr_value_new(a, GR_V_ARRAY);
    for (uint32_t i = 0; v && i < p->n; i++)
        if (!gr_value_push(a, v, is_float ? gr_value_new_f64(a, (double)p->li[i] / 2) : gr_value_new_i64(a, p->li[i]))) return NULL;
    return v;
}

static gr_value *param_value(gr_arena *a, const gr_sig_param *q, const gr_spec_param *p) {
    switch (q->kind) {
        case GR_PARAM_F32: return gr_value_new_f64(a, p->f);
        case GR_PARAM_BOOL: return gr_value_new_bool(a, p->i != 0);
        case GR_PARAM_ENUM: return gr_value_new_str(a, q->words[p->i]);
        case GR_PARAM_DTYPE: return gr_value_new_str(a, q->words_n ? q->words[p->i] : gr_str_of(gr_dtype_name((gr_dtype)p->i)));
        case GR_PARAM_U32_LIST: case GR_PARAM_I32_LIST: return list_value(a, p, false);
        case GR_PARAM_F32_LIST: return list_value(a, p, true);
        default: return gr_value_new_i64(a, p->i);
    }
}

static bool make_args(gr_arena *a, const gr_op *op, const gr_spec *s, gr_case *out) {
    out->args = GR_NEW_N(a, gr_arg, op->sig.params_n);
    out->args_n = 0;
    GR_TRY(out->args);
    for (uint32_t i = 0; i < op->sig.params_n; i++) {
        if (!s->param[i].given) continue;
        gr_arg *x = &out->args[out->args_n++];
        *x = (gr_arg){.name = op->sig.params[i].name, .value = param_value(a, &op->sig.params[i], &s->param[i])};
        GR_TRY(x->value);
    }
    return true;
}

static bool resolve(gr_arena *a, gr_diags *d, const gr_op *op, const gr_spec *s, gr_case *out) {
    gr_call drawn;
    GR_TRY(make_args(a, op, s, out));
    GR_TRY(gr_sig_bind(a, op, s->name, s->names_n, s->dtype, s->many, &drawn));
    GR_TRY(gr_sig_complete(a, d, &drawn, s->name, s->names_n, out->args, out->args_n));
    return gr_call_resolve(a, d, op, drawn.operands, drawn.operands_n, out->args, out->args_n, (gr_place){0}, &out->call);
}

bool gr_spec_resolve(gr_arena *a, const gr_op *op, const gr_spec *s, gr_case *out) {
    gr_diags quiet;
    gr_diags_init(&quiet);
    bool ok = resolve(a, &quiet, op, s, out) && out->call.operands_n <= RUN_TENSORS && out->call.outputs_n <= RUN_TENSORS;
    gr_diags_free(&quiet);
    return ok;
}

static bool count_elements(const gr_call *c, uint64_t *total) {
    *total = 0;
    for (uint32_t i = 0; i < c->operands_n + c->outputs_n; i++) {
        const gr_type *t = i < c->operands_n ? &c->operands[i] : &c->outputs[i - c->operands_n];
        uint64_t n = 0;
        if (t->dtype == GR_DTYPE_NONE) continue;
        if (t->dtype == GR_DTYPE_F64 || !gr_type_count(t, &n) || n > ELEMENTS_MAX) return false;
        *total += n;
    }
    return *total <= ELEMENTS_ALL;
}

/* What a GPU would run: on the oracle no feature is missing, so that the cases are the same everywhere. */
static gr_target every_kernel(void) {
    gr_target t = gr_target_oracle();
    t.kernels = true;
    return t;
}

/* Some pass needs more than FOLD_GROUPS workgroups of 64, and none more than may be folded; grids are not folded. */
static bool folds(const gr_call *c, int32_t kernel) {
    uint64_t n = 0;
    bool some = false;
    if (kernel < 0) return c->op->body == GR_BODY_MAP && gr_type_count(&c->outputs[0], &n) && n > FOLD_GROUPS * 64 && n <= FOLD_GROUPS * FOLD_GROUPS * 64;
    const gr_binding *b = &c->op->kernels[kernel].binding;
    for (uint32_t i = 0; i < b->passes_n; i++) {
        gr_diags quiet;
        int64_t items = 0;
        if (b->passes[i].kind == GR_PASS_INDIRECT) continue; /* as many workgroups as there are live elements: never folded by the plan */
        if (b->passes[i].kind != GR_PASS_OVER || b->passes[i].each.n) return false;
        gr_diags_init(&quiet);
        bool ok = gr_expr_int(&quiet, b->passes[i].size[0], c, NULL, NULL, (gr_place){0}, &items);
        gr_diags_free(&quiet);
        if (!ok || items > FOLD_GROUPS * FOLD_GROUPS * 64) return false;
        some = some || items > FOLD_GROUPS * 64;
    }
    return some;
}

/* The kernels that a call takes in the tiers debug and fast, as gr_kernel_which. */
typedef struct taken { int32_t in[2]; } taken;
static bool takes(const taken *k, int32_t kernel) { return k->in[0] == kernel || (kernel >= 0 && k->in[1] == kernel); } /* -1: none */

/* Fills elements; fold as above; both pointers may be NULL. */
static bool look(const gr_op *op, gr_spec *s, taken *kernel, bool *fold) {
    gr_arena a;
    gr_case c;
    gr_target t = every_kernel();
    gr_arena_init(&a, (size_t)4 << 20);
    bool ok = gr_spec_resolve(&a, op, s, &c) && count_elements(&c.call, &s->elements);
    if (ok && kernel) *kernel = (taken){{gr_kernel_which(&t, GR_TIER_DEBUG, &c.call), gr_kernel_which(&t, GR_TIER_FAST, &c.call)}};
    if (ok && kernel && fold) *fold = folds(&c.call, kernel->in[0]);
    gr_arena_free(&a);
    return ok;
}

bool gr_spec_legal(const gr_op *op, gr_spec *s) { return look(op, s, NULL, NULL); }

/* ---- drawing ------------------------------------------------------------------------- */

typedef struct maker {
    gr_arena *a;
    const gr_op *op;
    gr_rng r;
    gr_spec base; /* names of the signature */
    uint32_t drawn;
    bool thorough; /* many cases are wanted */
    bool rich;     /* entries of lists are 2 or 3 */
    bool large;    /* half of all lists have entries from 8 to 23, as large windows have */
    bool full;     /* no optional operand is absent */
    uint64_t shared; /* a size that several names take, where a `where` ties them; 0: none */
    GR_VEC(gr_spec) list;
} maker;

static uint64_t draw_size(gr_rng *r, uint32_t level) {
    static const uint64_t edge[] = {63, 64, 65, 255, 256, 257, 127, 1000, 33, 17};
    if (level >= 2 && gr_rng_below(r, 4) == 0) return edge[gr_rng_below(r, 10)];
    return 1 + gr_rng_below(r, level == 0 ? 3 : 9);
}

/* A shape related to an earlier one: the same, its tail, some dimensions 1, or one changed. */
static void related(gr_rng *r, const gr_sig_name *s, gr_sig_name *t) {
    uint32_t how = gr_rng_below(r, 6), cut = how == 1 && s->rank ? gr_rng_below(r, s->rank + 1) : 0;
    t->rank = s->rank - cut;
    for (uint32_t i = 0; i < t->rank; i++) {
        t->dims[i] = s->dims[i + cut];
        if (how == 2 && gr_rng_below(r, 2)) t->dims[i] = 1;
        if (how == 5 && t->dims[i]) t->dims[i] = 1 + gr_rng_below(r, (uint32_t)t->dims[i]);
    }
    if (how == 3 && t->rank) t->dims[gr_rng_below(r, t->rank)] = 1 + gr_rng_below(r, 4);
}

static void draw_names(maker *m, gr_spec *s, uint32_t level) {
    const gr_sig_name *first = NULL;
    for (uint32_t i = 0; i < s->names_n; i++) {
        gr_sig_name *x = &s->name[i];
        if (!x->rest) {
            x->dims[0] = draw_size(&m->r, level);
        } else if (first && gr_rng_below(&m->r, 4)) {
            related(&m->r, first, x);
        } else {
            x->rank = gr_rng_below(&m->r, 5);
            for (uint32_t k = 0; k < x->rank; k++) x->dims[k] = draw_size(&m->r, k + 1 == x->rank || x->rank < 3 ? level : 0);
        }
        if (x->rest && !first) first = x;
    }
    /* Sizes that agree are likelier to be legal together. */
    for (uint32_t i = 1; i < s->names_n; i++)
        if (!s->name[i].rest && gr_rng_below(&m->r, 6) == 0 && !s->name[i - 1].rest) s->name[i].dims[0] = s->name[i - 1].dims[0];
    s->many = 1 + gr_rng_below(&m->r, 3);
}

static int param_index(const gr_sig *s, gr_str name) {
    for (uint32_t i = 0; i < s->params_n; i++)
        if (gr_str_eq(s->params[i].name, name)) return (int)i;
    return -1;
}

/* Dtype variables take turns, so that each is met often, and all combinations. */
static void draw_dtypes(maker *m, gr_spec *s) {
    const gr_sig *sig = &m->op->sig;
    uint32_t turn = m->drawn;
    for (uint32_t t = 0; t < sig->operands_n; t++) {
        const gr_sig_tensor *x = &sig->operands[t];
        gr_dtype list[GR_DTYPE_COUNT];
        uint32_t n = gr_sig_tensor_dtypes(sig, x, list), first = 0;
        s->dtype[t] = n ? list[turn % n] : GR_DTYPE_F32;
        while (first < t && !gr_str_eq(sig->operands[first].dtype, x->dtype)) first++;
        if (first == t && n) turn /= n;
        for (uint32_t k = 0; k < t; k++)
            if (gr_str_eq(sig->operands[k].dtype, x->dtype) && s->dtype[k] != GR_DTYPE_NONE) s->dtype[t] = s->dtype[k];
        int p = param_index(sig, x->dtype);
        if (p >= 0 && s->param[p].given && sig->params[p].words_n) s->dtype[t] = gr_dtype_find(sig->params[p].words[s->param[p].i]);
        if (x->optional && !m->full && gr_rng_below(&m->r, 2)) s->dtype[t] = GR_DTYPE_NONE;
    }
}

static const gr_sig_name *first_rest(const gr_spec *s) {
    for (uint32_t i = 0; i < s->names_n; i++)
        if (s->name[i].rest) return &s->name[i];
    return NULL;
}

static void shuffle(gr_rng *r, int64_t *v, uint32_t n) {
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = gr_rng_below(r, i);
        int64_t t = v[i - 1];
        v[i - 1] = v[k], v[k] = t;
    }
}

/* Lists mean axes, sizes, paddings, permutations, shapes: each style makes one of them likely. */
static void draw_list(maker *m, const gr_spec *s, const gr_sig_param *q, const gr_call *c, gr_spec_param *p) {
    const gr_sig_name *x = first_rest(s);
    uint32_t rank = x ? x->rank : 2, style = gr_rng_below(&m->r, 8);
    int64_t length = -1;
    gr_diags quiet;
    gr_diags_init(&quiet);
    if (q->fixed_len) length = q->fixed_len;
    else if (!q->len || !gr_expr_int(&quiet, q->len, c, NULL, NULL, (gr_place){0}, &length)) length = -1;
    gr_diags_free(&quiet);
    bool fixed = length >= 0 && length <= SPEC_LIST;
    p->n = fixed ? (uint32_t)length : gr_rng_below(&m->r, 3) ? rank : gr_rng_below(&m->r, SPEC_LIST / 2 + 1);
    if (p->n > SPEC_LIST) p->n = SPEC_LIST;
    for (uint32_t i = 0; m->large && style < 4 && i < p->n; i++) p->li[i] = 8 + gr_rng_below(&m->r, 16);
    if (m->large && style < 4) return;
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t dim = x && i < x->rank ? (int64_t)x->dims[i] : 1;
        switch (m->rich && style < 6 ? 6 : style) {
            case 0: p->li[i] = 1; break;
            case 1: p->li[i] = 0; break;
            case 2: case 3: p->li[i] = i; break;
            case 4: p->li[i] = dim == 1 ? 1 + gr_rng_below(&m->r, 5) : dim; break;
            case 5: p->li[i] = dim > 1 ? 1 + gr_rng_below(&m->r, (uint32_t)dim) : dim; break;
            default: p->li[i] = m->rich ? 2 + gr_rng_below(&m->r, 2) : gr_rng_below(&m->r, 3); break;
        }
    }
    if (m->rich) return;
    if (style == 2) shuffle(&m->r, p->li, p->n);
    if (style == 3 && !fixed && rank && rank <= SPEC_LIST) { /* some axes in order */
        p->n = 0;
        for (uint32_t i = 0; i < rank; i++)
            if (gr_rng_below(&m->r, 2)) p->li[p->n++] = i;
    }
    if (style == 7 && !x && p->n) { /* a shape of its own: one large dimension */
        static const int64_t size[] = {63, 64, 65, 255, 256, 257, 1000};
        for (uint32_t i = 0; i < p->n; i++) p->li[i] = 1 + gr_rng_below(&m->r, 3);
        p->li[gr_rng_below(&m->r, p->n)] = size[gr_rng_below(&m->r, 7)];
    }
    if (style == 6 && !fixed && x) { /* all elements in one dimension */
        p->n = 1;
        p->li[0] = 1;
        for (uint32_t i = 0; i < rank; i++) p->li[0] *= (int64_t)x->dims[i];
    }
}

/* end: 0 random, 1 lowest, 2 highest. */
static void draw_integer(maker *m, const gr_sig_param *q, const gr_call *c, uint32_t end, gr_spec_param *p) {
    gr_diags quiet;
    gr_diags_init(&quiet);
    int64_t lo = q->kind == GR_PARAM_I32 ? -3 : 0, hi = 3;
    bool has_lo = q->lo && gr_expr_int(&quiet, q->lo, c, NULL, NULL, (gr_place){0}, &lo);
    bool has_hi = q->hi && gr_expr_int(&quiet, q->hi, c, NULL, NULL, (gr_place){0}, &hi);
    gr_diags_free(&quiet);
    if (!has_hi && hi < lo) hi = lo + 3;
    (void)has_lo;
    if (hi > lo + 1000000) hi = lo + 1000000;
    p->i = end == 1 || hi < lo ? lo : end == 2 ? hi : lo + (int64_t)gr_rng_below(&m->r, (uint32_t)(hi - lo) + 1);
    if (q->odd && p->i % 2 == 0) p->i += p->i < hi ? 1 : -1;
    if (q->even && p->i % 2 != 0) p->i += p->i < hi ? 1 : -1;
}

static void draw_float(maker *m, const gr_sig_param *q, const gr_call *c, uint32_t end, gr_spec_param *p) {
    static const double v[] = {0, 1, 0.5, -1.5, 2, 0.25, 3};
    gr_diags quiet;
    gr_diags_init(&quiet);
    p->f = v[gr_rng_below(&m->r, 7)];
    if (end == 1 && q->lo) gr_expr_float(&quiet, q->lo, c, (gr_place){0}, &p->f);
    if (end == 2 && q->hi) gr_expr_float(&quiet, q->hi, c, (gr_place){0}, &p->f);
    gr_diags_free(&quiet);
}

static void draw_param(maker *m, gr_spec *s, uint32_t i, const gr_call *c, uint32_t end) {
    const gr_sig_param *q = &m->op->sig.params[i];
    gr_spec_param *p = &s->param[i];
    *p = (gr_spec_param){.given = true};
    switch (q->kind) {
        case GR_PARAM_F32: draw_float(m, q, c, end, p); break;
        case GR_PARAM_BOOL: p->i = end ? end - 1 : gr_rng_below(&m->r, 2); break;
        case GR_PARAM_ENUM: p->i = gr_rng_below(&m->r, q->words_n); break;
        case GR_PARAM_DTYPE: p->i = q->words_n ? gr_rng_below(&m->r, q->words_n) : 1 + gr_rng_below(&m->r, GR_DTYPE_COUNT - 1); break;
        case GR_PARAM_U32: case GR_PARAM_I32: draw_integer(m, q, c, end, p); break;
        default: draw_list(m, s, q, c, p); break;
    }
}

/* end 3: defaults where there are. */
static void draw_params(maker *m, gr_spec *s, uint32_t end) {
    gr_arena scratch;
    gr_call c;
    gr_arena_init(&scratch, (size_t)1 << 20);
    if (gr_sig_bind(&scratch, m->op, s->name, s->names_n, s->dtype, s->many, &c))
        for (uint32_t i = 0; i < m->op->sig.params_n; i++) {
            bool keep = !m->op->sig.params[i].required && (end == 3 || (end == 0 && gr_rng_below(&m->r, 3) == 0));
            if (keep) s->param[i] = (gr_spec_param){0};
            else draw_param(m, s, i, &c, end);
        }
    gr_arena_free(&scratch);
}

/* ---- the list ------------------------------------------------------------------------- */

static bool add(maker *m, const gr_spec *s) {
    for (uint32_t i = 0; i < m->list.n; i++)
        if (!memcmp(&m->list.v[i], s, sizeof *s)) return true;
    gr_spec *x = GR_PUSH(m->a, &m->list);
    if (x) *x = *s;
    return x != NULL;
}

static uint64_t *size_at(gr_spec *s, uint32_t name, uint32_t axis) {
    gr_sig_name *x = &s->name[name];
    return axis < (x->rest ? x->rank : 1) ? &x->dims[axis] : NULL;
}

/* Every dimension alone is as small as the others allow, from 1. */
static void minimise(const maker *m, gr_spec *s) {
    for (uint32_t i = 0; i < s->names_n; i++)
        for (uint32_t k = 0; size_at(s, i, k); k++)
            for (uint64_t n = 1, most = *size_at(s, i, k); n < most; n++) {
                gr_spec t = *s;
                *size_at(&t, i, k) = n;
                if (!gr_spec_legal(m->op, &t)) continue;
                *s = t;
                break;
            }
}

/* The smallest legal call, its neighbours one larger in a dimension, and the empty ones. */
static bool around(maker *m, gr_spec *s) {
    minimise(m, s);
    GR_TRY(gr_spec_legal(m->op, s) ? add(m, s) : true);
    for (uint32_t i = 0; i < s->names_n; i++)
        for (uint32_t k = 0; size_at(s, i, k); k++)
            for (uint32_t change = 0; change < 3; change++) {
                gr_spec t = *s;
                uint64_t *n = size_at(&t, i, k);
                *n = change == 0 ? *n + 1 : change == 1 ? 0 : *n + 63;
                if (gr_spec_legal(m->op, &t)) GR_TRY(add(m, &t));
            }
    return true;
}

/* All dimensions alike, growing until the call is legal. */
static bool smallest(maker *m, uint32_t rank, uint32_t end) {
    for (uint64_t size = 1; size <= SMALLEST_MAX; size++)
        for (uint32_t tries = 0; tries < 4; tries++) {
            gr_spec s = m->base;
            for (uint32_t i = 0; i < s.names_n; i++) {
                s.name[i].rank = s.name[i].rest ? rank : 0;
                for (uint32_t k = 0; k < (s.name[i].rest ? rank : 1); k++) s.name[i].dims[k] = size;
            }
            s.many = 1 + (end == 0);
            draw_dtypes(m, &s);
            draw_params(m, &s, end);
            draw_dtypes(m, &s);
            m->drawn++;
            if (gr_spec_legal(m->op, &s)) return around(m, &s);
        }
    return true;
}

static bool at_random(maker *m, uint32_t level) {
    for (uint32_t tries = 0; tries < ATTEMPTS; tries++) {
        gr_spec s = m->base;
        draw_names(m, &s, level);
        draw_dtypes(m, &s);
        draw_params(m, &s, gr_rng_below(&m->r, 4));
        draw_dtypes(m, &s);
        if (!gr_spec_legal(m->op, &s)) continue;
        m->drawn++;
        return add(m, &s);
    }
    m->drawn++;
    return true;
}

/* ---- what chance would pass over -------------------------------------------------------- */

typedef enum shape_style { STYLE_MEDIUM, STYLE_TILES, STYLE_LONG, STYLE_RANK, STYLE_ROOM, STYLE_DENSE } shape_style;

static uint64_t styled_size(gr_rng *r, shape_style style) {
    static const uint64_t tile[] = {16, 17, 32, 33, 48, 64, 65, 80, 96, 100, 128, 132};
    static const uint64_t dense[] = {64, 68, 96, 128};
    switch (style) {
        case STYLE_TILES: return gr_rng_below(r, 2) ? tile[gr_rng_below(r, 12)] : 1 + gr_rng_below(r, 4);
        case STYLE_MEDIUM: return gr_rng_below(r, 5) ? 2 + gr_rng_below(r, 8) : 1;
        case STYLE_DENSE: return dense[gr_rng_below(r, 4)];
        case STYLE_ROOM: return gr_rng_below(r, 2) ? 6 + gr_rng_below(r, 12) : 1 + gr_rng_below(r, 3);
        default: return 1 + gr_rng_below(r, 3);
    }
}

/* Shapes of one style: sizes of tiles, one long dimension among short ones, many short dimensions. */
static void draw_style(maker *m, gr_spec *s, shape_style style, uint32_t rank) {
    static const uint64_t far[] = {1025, 2049, 4097, 1025, 4096, 16385, 20000};
    gr_sig_name *first = NULL;
    for (uint32_t i = 0; i < s->names_n; i++) {
        gr_sig_name *x = &s->name[i];
        if (x->rest && first && (style != STYLE_TILES || gr_rng_below(&m->r, 2))) {
            related(&m->r, first, x);
            continue;
        }
        x->rank = x->rest ? rank : 0;
        for (uint32_t k = 0; k < (x->rest ? x->rank : 1); k++) x->dims[k] = m->shared && gr_rng_below(&m->r, 2) ? m->shared : styled_size(&m->r, style);
        if (x->rest) first = x;
    }
    uint32_t long_name = s->names_n ? gr_rng_below(&m->r, s->names_n) : 0;
    uint64_t *n = s->names_n ? size_at(s, long_name, s->name[long_name].rest && rank ? gr_rng_below(&m->r, rank) : 0) : NULL;
    if (style == STYLE_LONG && n) *n = far[gr_rng_below(&m->r, 7)];
    s->many = 1 + gr_rng_below(&m->r, 2);
}

static bool draw_call(maker *m, gr_spec *s, shape_style style, uint32_t rank, uint32_t end) {
    *s = m->base;
    draw_style(m, s, style, rank);
    draw_dtypes(m, s);
    draw_params(m, s, end);
    draw_dtypes(m, s);
    return gr_spec_legal(m->op, s);
}

/* Every size as small as the kernel's condition lets it be, by halves and then by ones. */
static void shrink_to(const maker *m, gr_spec *s, int32_t kernel) {
    for (uint32_t i = 0; i < s->names_n; i++)
        for (uint32_t k = 0; size_at(s, i, k); k++)
            for (uint64_t cut = *size_at(s, i, k) / 2; cut; cut /= 2) {
                gr_spec t = *s;
                taken which;
                *size_at(&t, i, k) -= cut;
                if (*size_at(&t, i, k) && look(m->op, &t, &which, NULL) && takes(&which, kernel)) *s = t;
            }
}

/* The spec further by the first of the steps with which the kernel is still taken: in one size, or (axis NULL) in all. */
static bool add_step(maker *m, const gr_spec *s, int32_t kernel, const uint64_t *step, const uint64_t *axis) {
    for (; *step; step++) {
        gr_spec t = *s;
        taken which;
        for (uint32_t i = 0; i < t.names_n; i++)
            for (uint32_t k = 0; size_at(&t, i, k); k++)
                if (!axis || (const char *)size_at(&t, i, k) - (const char *)&t == (const char *)axis - (const char *)s) *size_at(&t, i, k) += *step;
        if (look(m->op, &t, &which, NULL) && takes(&which, kernel)) return add(m, &t);
    }
    return true;
}

static bool add_further(maker *m, gr_spec *s, int32_t kernel, const uint64_t *step) {
    for (uint32_t i = 0; m->thorough && s->elements <= MEDIUM_ELEMENTS && i < s->names_n; i++)
        for (uint32_t k = 0; size_at(s, i, k); k++) GR_TRY(add_step(m, s, kernel, step, size_at(s, i, k)));
    return add_step(m, s, kernel, step, NULL);
}

/* At the edge of its condition, a little, a tile and a workgroup further in every dimension, and as it was found. */
static bool add_kernel(maker *m, const gr_spec *found, int32_t kernel, uint32_t *have) {
    static const uint64_t little[] = {1, 2, 4, 8, 0}, tile[] = {67, 68, 72, 80, 64, 0}, group[] = {259, 260, 264, 0};
    gr_spec s = *found;
    shrink_to(m, &s, kernel);
    *have += 3;
    return add(m, &s) && add_further(m, &s, kernel, little) && add_further(m, &s, kernel, tile) &&
           (!m->thorough || add_further(m, &s, kernel, group)) && add(m, found);
}

/* Without f16, which a device may lack. */
static bool runs_anywhere(const gr_spec *s) {
    bool half = false;
    for (uint32_t i = 0; i < SPEC_OPERANDS; i++) half = half || s->dtype[i] == GR_DTYPE_F16;
    return !half;
}

static bool has_sizes(const gr_spec *s) {
    bool some = false;
    for (uint32_t i = 0; i < s->names_n; i++) some = some || !s->name[i].rest || s->name[i].rank;
    return some;
}

/* Every kernel that some call takes is taken by a few of the cases, each dtype of the signature in turn.
 * Edges: with parameters by default and drawn, with all operands, of shapes that have sizes to go further in, without f16 if possible. */
static bool cover_kernels(maker *m) {
    static const uint32_t rank[] = {2, 1, 0, 3, 2, 4, 1};
    uint32_t all_edges = m->thorough ? 3 : 1, want = m->thorough ? 9 : 3, *have = GR_NEW_N(m->a, uint32_t, m->op->kernels_n + 1), *edges = GR_NEW_N(m->a, uint32_t, m->op->kernels_n + 1);
    if (!have || !edges) return false;
    for (uint32_t i = 0; i < m->list.n; i++) {
        gr_spec s = m->list.v[i];
        taken which;
        if (!look(m->op, &s, &which, NULL)) continue;
        for (uint32_t k = 0; k < m->op->kernels_n; k++) have[k] += takes(&which, (int32_t)k);
    }
    for (uint32_t i = 0; i < SEARCH_KERNEL; i++) {
        bool all = true;
        gr_spec s;
        taken which;
        for (uint32_t k = 0; k < m->op->kernels_n; k++) all = all && have[k] >= want && (edges[k] & all_edges) == all_edges;
        if (all) break;
        m->full = i / 6 % 2;
        m->drawn++;
        m->shared = i < SEARCH_KERNEL / 2 ? 0 : styled_size(&m->r, STYLE_TILES);
        m->large = i >= SEARCH_KERNEL / 4 && i / 12 % 2;
        if (!draw_call(m, &s, i % 3 == 2 ? STYLE_LONG : i % 12 == 4 ? STYLE_DENSE : STYLE_TILES, rank[i % 7], i % 2 ? 3 : gr_rng_below(&m->r, 4))) continue;
        if (!look(m->op, &s, &which, NULL)) continue;
        for (uint32_t k = 0; k < m->op->kernels_n; k++) {
            uint32_t edge = m->full && has_sizes(&s) && (runs_anywhere(&s) || i > SEARCH_KERNEL / 4) ? m->thorough ? 1u << i % 2 : 1u : 0;
            if (!takes(&which, (int32_t)k) || (have[k] >= want && (edges[k] | edge) == edges[k])) continue;
            edges[k] |= edge;
            GR_TRY(add_kernel(m, &s, (int32_t)k, &have[k]));
        }
    }
    m->full = m->large = false;
    m->shared = 0;
    return true;
}

static bool some(maker *m, shape_style style, uint32_t rank, uint32_t want) {
    for (uint32_t i = 0, got = 0; i < SEARCH / 4 && got < want; i++) {
        gr_spec s;
        m->drawn++;
        if (!draw_call(m, &s, style, rank ? rank : 1 + gr_rng_below(&m->r, 3), gr_rng_below(&m->r, 2) ? 3 : 0)) continue;
        got++;
        GR_TRY(add(m, &s));
    }
    return true;
}

/* Sets the shapes of any rank to combs: one has 1 where the next has 2, in turn, so that no two dimensions merge; the outermost is
 * `first` in place of 2. False below two such shapes. */
static bool set_combs(gr_spec *s, uint32_t rank, uint32_t phase, uint64_t first) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < s->names_n; i++) {
        gr_sig_name *x = &s->name[i];
        if (!x->rest) continue;
        x->rank = rank;
        for (uint32_t k = 0; k < rank; k++) x->dims[k] = (k + set + phase) % 2 ? 1 : k ? 2 : first;
        set++;
    }
    return set > 1;
}

/* The smallest (or largest) case that takes the kernel; false: there is none. */
static bool end_of(const maker *m, int32_t kernel, bool largest, gr_spec *out) {
    bool found = false;
    taken which;
    for (uint32_t i = 0; i < m->list.n; i++) {
        gr_spec s = m->list.v[i];
        if (!s.elements || (found && (s.elements < out->elements) == largest) || !look(m->op, &s, &which, NULL) || !takes(&which, kernel)) continue;
        *out = s;
        found = true;
    }
    return found;
}

/* The smallest case of each kernel with one size far larger: several tiles, levels or turns of its loops, of two rows at least. */
static bool cover_stretches(maker *m) {
    static const uint64_t one[] = {1, 2, 4, 0}, far[] = {1301, 1300, 601, 600, 301, 300, 0};
    for (int32_t kernel = 0; kernel < (int32_t)m->op->kernels_n; kernel++) {
        gr_spec s;
        if (!end_of(m, kernel, false, &s)) continue;
        uint32_t first = m->list.n;
        GR_TRY(add_step(m, &s, kernel, one, NULL));
        if (m->list.n > first) s = m->list.v[first];
        for (uint32_t i = 0; i < s.names_n; i++)
            for (uint32_t k = 0; size_at(&s, i, k); k++) GR_TRY(add_step(m, &s, kernel, far, size_at(&s, i, k)));
    }
    return true;
}

/* The smallest case of each kernel with one size a prime that is no size of a tile: what goes by factors, or by remainders of tiles. */
static bool cover_primes(maker *m) {
    static const uint64_t prime[] = {61, 53, 47, 41, 37, 97, 31, 0};
    for (int32_t kernel = 0; kernel < (int32_t)m->op->kernels_n; kernel++) {
        gr_spec s;
        if (!end_of(m, kernel, false, &s)) continue;
        for (uint32_t i = 0; i < s.names_n; i++)
            for (uint32_t k = 0; size_at(&s, i, k); k++)
                for (uint32_t p = 0; prime[p]; p++) {
                    gr_spec t = s;
                    taken which;
                    *size_at(&t, i, k) = prime[p];
                    if (!look(m->op, &t, &which, NULL) || !takes(&which, kernel)) continue;
                    GR_TRY(add(m, &t));
                    break;
                }
    }
    return true;
}

/* The dtype that an optional operand of the spec would have. */
static gr_dtype absent_dtype(const gr_op *op, const gr_spec *s, uint32_t operand) {
    gr_dtype list[GR_DTYPE_COUNT];
    for (uint32_t t = 0; t < op->sig.operands_n; t++)
        if (s->dtype[t] != GR_DTYPE_NONE && gr_str_eq(op->sig.operands[t].dtype, op->sig.operands[operand].dtype)) return s->dtype[t];
    return gr_sig_tensor_dtypes(&op->sig, &op->sig.operands[operand], list) ? list[0] : GR_DTYPE_F32;
}

static bool has_optional(const gr_op *op) {
    bool some = false;
    for (uint32_t t = 0; t < op->sig.operands_n; t++) some = some || op->sig.operands[t].optional;
    return some;
}

/* Every optional operand there, or none. */
static gr_spec with_optional(const gr_op *op, const gr_spec *s, bool there) {
    gr_spec t = *s;
    for (uint32_t i = 0; i < op->sig.operands_n; i++)
        if (op->sig.operands[i].optional) t.dtype[i] = there ? absent_dtype(op, s, i) : GR_DTYPE_NONE;
    return t;
}

/* The largest cases of each kernel with all optional operands there, and with none: not too large, so that all are run. */
static bool cover_optional(maker *m) {
    enum { LONG_LEAST = 256, CASES = 3 };
    uint32_t n = has_optional(m->op) ? m->list.n : 0;
    for (int32_t kernel = 0; n && kernel < (int32_t)m->op->kernels_n; kernel++)
        for (uint32_t there = 0; there < 2; there++) {
            uint64_t below = ELEMENTS_MAX;
            for (uint32_t got = 0; got < CASES; got++) {
                gr_spec best = {0};
                for (uint32_t i = 0; i < n; i++) {
                    gr_spec s = with_optional(m->op, &m->list.v[i], there);
                    taken which;
                    if (m->list.v[i].elements <= best.elements || m->list.v[i].elements >= below || m->list.v[i].elements < LONG_LEAST) continue;
                    if (look(m->op, &s, &which, NULL) && takes(&which, kernel) && s.elements < below && s.elements > best.elements) best = s;
                }
                if (!best.elements) break;
                GR_TRY(add(m, &best));
                below = best.elements / 2;
            }
        }
    return true;
}

/* A kernel whose cases all have f16, which a device may lack, gets the same cases in f32. */
static bool cover_anywhere(maker *m) {
    for (int32_t kernel = 0; kernel < (int32_t)m->op->kernels_n; kernel++) {
        uint32_t have = 0, n = m->list.n;
        for (uint32_t i = 0; i < n && have < GR_LEAST_CASES; i++) {
            gr_spec s = m->list.v[i];
            taken which;
            have += runs_anywhere(&s) && look(m->op, &s, &which, NULL) && takes(&which, kernel);
        }
        for (uint32_t i = 0; i < n && have < GR_LEAST_CASES; i++) {
            gr_spec s = m->list.v[i];
            taken which;
            for (uint32_t t = 0; t < SPEC_OPERANDS; t++)
                if (s.dtype[t] == GR_DTYPE_F16) s.dtype[t] = GR_DTYPE_F32;
            if (runs_anywhere(&m->list.v[i]) || !look(m->op, &s, &which, NULL) || !takes(&which, kernel)) continue;
            GR_TRY(add(m, &s));
            have++;
        }
    }
    return true;
}

/* Combs on the smallest case of each kernel. */
static bool cover_combs(maker *m) {
    static const uint32_t rank[] = {3, 5, 5, 8};
    for (int32_t kernel = -1; kernel < (int32_t)m->op->kernels_n; kernel++) {
        gr_spec base;
        if (!end_of(m, kernel, false, &base)) continue;
        for (uint32_t i = 0; i < 4; i++)
            for (uint64_t first = 3; first > 1; first--) {
                gr_spec s = base;
                taken which;
                if (!set_combs(&s, rank[i], i / 2, first)) return true;
                if (!look(m->op, &s, &which, NULL) || !takes(&which, kernel)) continue;
                GR_TRY(add(m, &s));
                break;
            }
    }
    return true;
}

/* The first output's shape as the shape of a name: whole, along its last dimension, along the one before; then nothing is left. */
static bool along_output(const gr_op *op, const gr_spec *s, uint32_t how, gr_sig_name *x) {
    gr_arena a;
    gr_case c;
    gr_arena_init(&a, (size_t)4 << 20);
    bool ok = gr_spec_resolve(&a, op, s, &c) && c.call.outputs_n && c.call.outputs[0].rank >= 2;
    uint32_t rank = ok ? c.call.outputs[0].rank : 0;
    if (ok) x->rank = how == 1 ? 1 : rank;
    for (uint32_t k = 0; ok && k < x->rank; k++) x->dims[k] = how == 2 && k + 1 == rank ? 1 : c.call.outputs[0].dim[how == 1 ? rank - 1 : k].n;
    gr_arena_free(&a);
    return ok;
}

/* An operand that may be broadcast to the result is so in each way, on the smallest and the largest case of each kernel. */
static bool cover_broadcasts(maker *m) {
    for (int32_t kernel = 0; kernel < (int32_t)m->op->kernels_n; kernel++)
        for (uint32_t largest = 0; largest < 1u + m->thorough; largest++) {
            gr_spec base;
            if (!end_of(m, kernel, largest, &base)) continue;
            for (uint32_t i = 0; i < base.names_n; i++)
                for (uint32_t how = 0; base.name[i].rest && how < 3; how++) {
                    gr_spec s = base;
                    taken which;
                    for (uint32_t t = 0; t < m->op->sig.operands_n; t++) /* optional operands too */
                        if (s.dtype[t] == GR_DTYPE_NONE) s.dtype[t] = s.dtype[0];
                    if (along_output(m->op, &base, how, &s.name[i]) && look(m->op, &s, &which, NULL) && takes(&which, kernel)) GR_TRY(add(m, &s));
                }
        }
    return true;
}

/* With gap: two entries at least that are no neighbours, as in axes that cannot be merged. */
static bool larger_entry(const gr_spec_param *p, bool gap) {
    if (gap && (p->n < 2 || p->li[1] == p->li[0] + 1)) return false;
    for (uint32_t k = 0; p->given && k < p->n; k++)
        if (p->li[k] > 1) return true;
    return false;
}

/* How many combinations of dtypes the operands have: draw_dtypes goes through them. */
static uint32_t dtype_turns(const gr_sig *sig) {
    uint32_t turns = 1;
    for (uint32_t t = 0; t < sig->operands_n; t++) {
        gr_dtype list[GR_DTYPE_COUNT];
        uint32_t n = gr_sig_tensor_dtypes(sig, &sig->operands[t], list), first = 0;
        while (first < t && !gr_str_eq(sig->operands[first].dtype, sig->operands[t].dtype)) first++;
        if (first == t && n && turns < 1000) turns *= n;
    }
    return turns;
}

/* Each combination of dtypes, those of parameters included, on a call that is small enough for all kinds of values. */
static bool cover_dtypes(maker *m) {
    const gr_sig *sig = &m->op->sig;
    uint32_t turns = dtype_turns(sig), all = turns, q = 0;
    while (q < sig->params_n && sig->params[q].kind != GR_PARAM_DTYPE) q++;
    uint32_t words = q < sig->params_n ? sig->params[q].words_n : 0;
    if (words) all *= words;
    for (uint32_t c = 0; c < all && c < MOST_DTYPES; c++)
        for (uint32_t i = 0; i < ATTEMPTS; i++) {
            gr_spec s = m->base;
            draw_style(m, &s, i % 2 ? STYLE_MEDIUM : STYLE_RANK, 1 + i % 3);
            m->drawn = c % turns;
            draw_dtypes(m, &s);
            draw_params(m, &s, i % 2 ? 0 : 3);
            if (words) s.param[q] = (gr_spec_param){.given = true, .i = (int64_t)(c / turns)};
            draw_dtypes(m, &s);
            if (!gr_spec_legal(m->op, &s) || s.elements > SMALL_ELEMENTS || s.elements < 8) continue;
            GR_TRY(add(m, &s));
            break;
        }
    return true;
}

static bool is_list(const maker *m, uint32_t q) {
    gr_param_kind kind = m->op->sig.params[q].kind;
    return kind == GR_PARAM_U32_LIST || kind == GR_PARAM_I32_LIST;
}

/* Lists of steps, sizes and permutations are rarely legal by chance with more than 0 and 1 in them. */
static bool cover_lists(maker *m) {
    for (uint32_t q = 0; q < m->op->sig.params_n; q++) {
        if (!is_list(m, q)) continue;
        for (uint32_t i = 0, got = 0; i < SEARCH_KERNEL && got < (m->thorough ? 10u : 2u); i++) {
            gr_spec s;
            m->drawn++;
            if (!draw_call(m, &s, STYLE_MEDIUM, 1 + i % 4, 0) || !larger_entry(&s.param[q], got % 2 && i < SEARCH_KERNEL / 2)) continue;
            got++;
            GR_TRY(add(m, &s));
        }
    }
    return true;
}

static bool large_entries(const gr_spec_param *p) {
    bool large = p->given && p->n;
    for (uint32_t k = 0; k < p->n; k++) large = large && p->li[k] > 1;
    return large;
}

/* One list matters only beside another: steps where sizes are larger than 1, say. Every list and every two with entries of 2 and more. */
static bool cover_pairs(maker *m) {
    uint32_t n = m->op->sig.params_n;
    m->rich = true;
    for (uint32_t q = 0; q < n; q++)
        for (uint32_t p = q; is_list(m, q) && p < n; p++)
            for (uint32_t i = 0, got = 0; is_list(m, p) && i < SEARCH && got < (m->thorough ? 2u : 1u); i++) {
                gr_spec s;
                m->drawn++;
                if (!draw_call(m, &s, STYLE_ROOM, 1 + i % 4, 0) || !large_entries(&s.param[q]) || !large_entries(&s.param[p])) continue;
                got++;
                GR_TRY(add(m, &s));
            }
    m->rich = false;
    return true;
}

/* The list names two dimensions with another between them, all larger than 1: axes that cannot be merged. */
static bool names_gap(const gr_spec_param *p, const gr_sig_name *x) {
    for (uint32_t i = 1; x && p->given && i < p->n; i++) {
        int64_t a = p->li[i - 1], b = p->li[i];
        if (a < 0 || b < a + 2 || b >= (int64_t)x->rank || x->dims[a] < 2 || x->dims[b] < 2) continue;
        for (int64_t k = a + 1; k < b; k++)
            if (x->dims[k] > 1) return true;
    }
    return false;
}

static bool two_results(const gr_op *op, const gr_spec *s) {
    gr_arena a;
    gr_case c;
    uint64_t n = 0;
    gr_arena_init(&a, (size_t)4 << 20);
    bool ok = gr_spec_resolve(&a, op, s, &c) && c.call.outputs_n && gr_type_count(&c.call.outputs[0], &n) && n > 1;
    gr_arena_free(&a);
    return ok;
}

typedef struct ranks { uint32_t *rows, *gaps, left; } ranks; /* by kernel, small and large: cases so far; cases still wanted */

/* Takes the spec for its kernel where fewer than two of its size were taken so far. *done is set then. */
static bool take(maker *m, gr_spec *s, ranks *r, bool *done) {
    taken which;
    bool gap = false;
    *done = false;
    if (!look(m->op, s, &which, NULL) || which.in[1] < 0 || !two_results(m->op, s)) return true;
    for (uint32_t q = 0; q < m->op->sig.params_n; q++) gap = gap || names_gap(&s->param[q], first_rest(s));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *have = (gap ? r->gaps : r->rows) + 2 * which.in[i] + (s->elements > MEDIUM_ELEMENTS / 2);
        if (which.in[i] < 0 || (i && which.in[1] == which.in[0]) || *have == 2) continue;
        ++*have;
        --r->left;
        *done = true;
    }
    return !*done || add(m, s);
}

/* The spec with one size larger; where that was taken, with a second one larger. */
static bool take_further(maker *m, const gr_spec *s, ranks *r, uint32_t depth) {
    static const uint64_t further[] = {37, 300, 16400};
    for (uint32_t i = 0; i < 3 * s->names_n && depth; i++) {
        gr_spec t = *s;
        for (uint32_t k = 0; size_at(&t, i / 3, k); k++) {
            bool done;
            t = *s;
            *size_at(&t, i / 3, k) += further[i % 3];
            GR_TRY(take(m, &t, r, &done));
            if (done) GR_TRY(take_further(m, &t, r, depth - 1));
        }
    }
    return true;
}

/* Each kernel with shapes of rank 2 and more, and with lists that have gaps: rows, and views whose dimensions cannot be merged. */
static bool cover_ranks(maker *m) {
    static const shape_style style[] = {STYLE_MEDIUM, STYLE_TILES, STYLE_LONG};
    uint32_t n = m->op->kernels_n;
    ranks r = {GR_NEW_N(m->a, uint32_t, 2 * n), GR_NEW_N(m->a, uint32_t, 2 * n), 8 * n};
    if (!r.rows || !r.gaps) return false;
    for (uint32_t i = 0; i < SEARCH * n && r.left; i++) {
        gr_spec s;
        bool done;
        m->drawn++;
        if (!draw_call(m, &s, style[i % 3], 2 + i / 3 % 4, 0)) continue;
        GR_TRY(take(m, &s, &r, &done));
        if (i % 3 == 0) GR_TRY(take_further(m, &s, &r, 2));
    }
    return true;
}

/* A few of the cases again as on a device that takes few workgroups, each kernel twice. */
static bool cover_folds(maker *m) {
    uint32_t *have = GR_NEW_N(m->a, uint32_t, m->op->kernels_n + 1);
    if (!have) return false;
    for (uint32_t i = 0; i < SEARCH + m->list.n; i++) {
        gr_spec s;
        taken which;
        bool fold = false;
        if (i < SEARCH) {
            m->drawn++;
            if (!draw_call(m, &s, i % 3 == 0 ? STYLE_MEDIUM : i % 3 == 1 ? STYLE_TILES : STYLE_LONG, 1 + i % 4, i % 4 ? 3 : 0)) continue;
        } else {
            s = m->list.v[i - SEARCH];
        }
        if (s.fold || !look(m->op, &s, &which, &fold) || !fold || have[which.in[0] + 1] >= (m->thorough ? 3u : 1u)) continue;
        have[which.in[0] + 1]++;
        s.fold = true;
        GR_TRY(add(m, &s));
    }
    return true;
}

static bool splits(const gr_op *op) {
    bool yes = op->splits_n > 0;
    for (uint32_t k = 0; k < op->kernels_n; k++) yes = yes || op->kernels[k].binding.splits_n;
    return yes;
}

static bool cover(maker *m) {
    GR_TRY(cover_kernels(m) && cover_lists(m) && cover_pairs(m));
    if (m->thorough) GR_TRY(cover_dtypes(m) && cover_stretches(m) && cover_primes(m) && cover_ranks(m));
    if (m->op->category == GR_CATEGORY_REDUCTION || splits(m->op)) GR_TRY(some(m, STYLE_LONG, 0, m->thorough ? 6 : 2));
    if (first_rest(&m->base)) GR_TRY(some(m, STYLE_RANK, 5, m->thorough ? 4 : 1) && some(m, STYLE_RANK, 8, m->thorough ? 2 : 1) && cover_combs(m) && cover_broadcasts(m));
    return (!m->thorough || cover_optional(m)) && cover_anywhere(m) && cover_folds(m);
}

static int by_size(const void *a, const void *b) {
    const gr_spec *x = a, *y = b;
    if (x->elements != y->elements) return x->elements < y->elements ? -1 : 1;
    return memcmp(x, y, sizeof *x);
}

bool gr_cases_make(gr_arena *a, const gr_op *op, uint64_t seed, uint32_t want, gr_spec **out, uint32_t *n) {
    maker m = {.a = a, .op = op, .r = gr_rng_seed(seed), .thorough = want >= 100};
    gr_sig_name *names;
    *n = 0;
    GR_TRY(gr_sig_names(a, &op->sig, &names, &m.base.names_n));
    if (m.base.names_n > SPEC_NAMES || op->sig.params_n > SPEC_PARAMS || op->sig.operands_n > SPEC_OPERANDS) return true;
    for (uint32_t i = 0; i < m.base.names_n; i++) m.base.name[i] = names[i];
    static const uint32_t rank[] = {1, 2, 0, 3, 4}, end[] = {3, 1, 2, 0};
    for (uint32_t e = 0; e < 4; e++)
        for (uint32_t r = 0; r < 5 && m.list.n < want / 2; r++) GR_TRY(smallest(&m, rank[r], end[e]));
    GR_TRY(cover(&m));
    uint32_t total = m.list.n + want / 2 > want ? m.list.n + want / 2 : want;
    for (uint32_t i = 0; m.list.n < total && i < 2 * want; i++) GR_TRY(at_random(&m, i % 3));
    if (m.list.n) qsort(m.list.v, m.list.n, sizeof *m.list.v, by_size);
    *out = m.list.v;
    *n = m.list.n;
    return true;
}

void gr_spec_print(gr_buf *b, const gr_op *op, const gr_spec *s) {
    const char *comma = "";
    for (uint32_t i = 0; i < s->names_n; i++, comma = ", ") {
        gr_buf_printf(b, "%s%.*s = ", comma, GR_STR_ARG(s->name[i].name));
        if (!s->name[i].rest) gr_buf_printf(b, "%llu", (unsigned long long)s->name[i].dims[0]);
        for (uint32_t k = 0; s->name[i].rest && k < s->name[i].rank; k++)
            gr_buf_printf(b, "%s%llu", k ? ", " : "[", (unsigned long long)s->name[i].dims[k]);
        if (s->name[i].rest) gr_buf_puts(b, s->name[i].rank ? "]" : "[]");
    }
    for (uint32_t i = 0; i < op->sig.params_n; i++) {
        gr_arena a = {0};
        gr_value *v = s->param[i].given ? param_value(&a, &op->sig.params[i], &s->param[i]) : NULL;
        if (v) {
            gr_buf_printf(b, "%s%.*s = ", comma, GR_STR_ARG(op->sig.params[i].name));
            if (!gr_json_canonical(b, v)) gr_buf_f64(b, s->param[i].f);
            comma = ", ";
        }
        gr_arena_free(&a);
    }
}
