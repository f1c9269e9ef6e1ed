/* The type table: interning, layout of each type, conversion ranks. */
#include "wgsl/wgsl_int.h"

#include <stdio.h>
#include <string.h>

static uint32_t hash_mix(uint32_t h, uint64_t v) {
    h ^= (uint32_t)(v ^ v >> 32);
    h *= 0x9E3779B1u;
    return h ^ h >> 15;
}

static uint32_t type_hash(const gr_wgsl_type *t) {
    uint32_t h = hash_mix(17, (uint64_t)t->kind << 24 | (uint64_t)t->n << 16 | (uint64_t)t->rows << 8 | (uint64_t)t->space << 4 | t->access);
    h = hash_mix(h, t->elem ? t->elem->id + 1u : 0);
    h = hash_mix(h, t->count);
    h = hash_mix(h, (uintptr_t)t->count_expr);
    for (size_t i = 0; t->kind == GR_WT_STRUCT && i < t->name.n; i++) h = hash_mix(h, (unsigned char)t->name.p[i]);
    return h;
}

static bool type_same(const gr_wgsl_type *a, const gr_wgsl_type *b) {
    return a->kind == b->kind && a->n == b->n && a->rows == b->rows && a->space == b->space && a->access == b->access &&
           a->elem == b->elem && a->count == b->count && a->count_expr == b->count_expr &&
           (a->kind != GR_WT_STRUCT || gr_str_eq(a->name, b->name));
}

static bool grow_table(gr_wgsl_front *f) {
    gr_wgsl_types *ts = &f->types;
    uint32_t cap = ts->cap ? ts->cap * 2 : 128;
    uint32_t *slot = GR_NEW_N(f->arena, uint32_t, cap);
    if (!slot) return gr_wgsl_oom(f);
    for (uint32_t i = 0; i < ts->list.n; i++) {
        if (ts->list.v[i]->kind == GR_WT_STRUCT && ts->list.v[i]->decl) continue;
        uint32_t h = type_hash(ts->list.v[i]);
        while (slot[h & (cap - 1)]) h++;
        slot[h & (cap - 1)] = i + 1;
    }
    ts->slot = slot;
    ts->cap = cap;
    return true;
}

static bool add_type(gr_wgsl_front *f, gr_wgsl_type *t) {
    gr_wgsl_type **p = GR_PUSH(f->arena, &f->types.list);
    if (!p) return gr_wgsl_oom(f);
    t->id = f->types.list.n - 1;
    *p = t;
    return true;
}

bool gr_wgsl_add_struct(gr_wgsl_front *f, gr_wgsl_type *t) { return add_type(f, t); }

static void set_scalar(gr_wgsl_type *t) {
    bool abstract = gr_wgsl_is_abstract_kind(t->kind);
    t->size = t->kind == GR_WT_F16 ? 2 : abstract ? 0 : 4;
    t->align = (uint32_t)t->size;
    t->leaves = 1;
    t->storable = !abstract;
    t->constructible = t->creation_fixed = t->fixed_footprint = true;
    t->host_shareable = !abstract && t->kind != GR_WT_BOOL;
    t->has_bool = t->kind == GR_WT_BOOL;
    t->has_f16 = t->kind == GR_WT_F16;
}

static void inherit(gr_wgsl_type *t, const gr_wgsl_type *e) {
    t->storable = e->storable;
    t->constructible = e->constructible && e->creation_fixed;
    t->host_shareable = e->host_shareable;
    t->creation_fixed = e->creation_fixed;
    t->fixed_footprint = e->fixed_footprint;
    t->has_atomic = e->has_atomic;
    t->has_runtime = e->has_runtime;
    t->has_bool = e->has_bool;
    t->has_f16 = e->has_f16;
    t->depth = (uint8_t)(e->depth < 255 ? e->depth + 1 : 255);
}

static uint32_t mul_leaves(uint32_t a, uint64_t b) {
    uint64_t n = a * b;
    return n >> 31 ? 0 : (uint32_t)n;
}

static void set_array(gr_wgsl_type *t) {
    const gr_wgsl_type *e = t->elem;
    inherit(t, e);
    t->align = e->align;
    t->stride = gr_wgsl_round_up(e->size, e->align);
    t->size = t->stride * t->count;
    t->leaves = t->count ? mul_leaves(e->leaves, t->count) : 0;
    if (!t->count) {
        t->constructible = t->creation_fixed = false;
        if (!t->count_expr) t->fixed_footprint = false, t->has_runtime = true;
    }
}

/* Layout and predicates of everything but structs. */
static void complete(gr_wgsl_type *t) {
    static const uint8_t vec_align[5] = {0, 1, 2, 4, 4};
    switch (t->kind) {
    case GR_WT_VEC:
        inherit(t, t->elem);
        t->size = t->elem->size * t->n;
        t->align = t->elem->align * vec_align[t->n];
        t->leaves = t->n;
        break;
    case GR_WT_MAT:
        inherit(t, t->column);
        t->align = t->column->align;
        t->stride = gr_wgsl_round_up(t->column->size, t->column->align);
        t->size = t->stride * t->n;
        t->leaves = (uint32_t)t->n * t->rows;
        break;
    case GR_WT_ARRAY: set_array(t); break;
    case GR_WT_ATOMIC:
        set_scalar(t);
        t->size = t->align = 4;
        t->storable = t->host_shareable = true;
        t->constructible = false;
        t->has_atomic = true;
        break;
    case GR_WT_PTR:
    case GR_WT_VOID: break;
    default: set_scalar(t); break;
    }
}

static char *type_text(gr_wgsl_front *f, const gr_wgsl_type *t) {
    gr_arena *a = f->arena;
    const gr_wgsl_type *e = t->elem;
    switch (t->kind) {
    case GR_WT_VOID: return "void";
    case GR_WT_BOOL: return "bool";
    case GR_WT_ABSTRACT_INT: return "abstract-int";
    case GR_WT_ABSTRACT_FLOAT: return "abstract-float";
    case GR_WT_I32: return "i32";
    case GR_WT_U32: return "u32";
    case GR_WT_F32: return "f32";
    case GR_WT_F16: return "f16";
    case GR_WT_VEC: return gr_arena_printf(a, "vec%d<%.*s>", t->n, GR_STR_ARG(e->text));
    case GR_WT_MAT: return gr_arena_printf(a, "mat%dx%d<%.*s>", t->n, t->rows, GR_STR_ARG(e->text));
    case GR_WT_ATOMIC: return gr_arena_printf(a, "atomic<%.*s>", GR_STR_ARG(e->text));
    case GR_WT_ARRAY:
        if (t->count) return gr_arena_printf(a, "array<%.*s, %u>", GR_STR_ARG(e->text), t->count);
        if (t->count_expr) {
            gr_str c = gr_wgsl_slice(f, t->count_expr->offset, t->count_expr->end);
            return gr_arena_printf(a, "array<%.*s, %.*s>", GR_STR_ARG(e->text), GR_STR_ARG(c));
        }
        return gr_arena_printf(a, "array<%.*s>", GR_STR_ARG(e->text));
    case GR_WT_PTR:
        return gr_arena_printf(a, "ptr<%s, %.*s, %s>", gr_wgsl_space_text(t->space), GR_STR_ARG(e->text),
                               gr_wgsl_access_text(t->access));
    default: return "?";
    }
}

static gr_wgsl_type *intern(gr_wgsl_front *f, gr_wgsl_type key) {
    gr_wgsl_types *ts = &f->types;
    if ((ts->list.n + 1) * 2 > ts->cap && !grow_table(f)) return NULL;
    uint32_t h = type_hash(&key);
    for (;; h++) {
        uint32_t s = ts->slot[h & (ts->cap - 1)];
        if (!s) break;
        if (type_same(ts->list.v[s - 1], &key)) return ts->list.v[s - 1];
    }
    gr_wgsl_type *t = GR_NEW(f->arena, gr_wgsl_type);
    if (!t) {
        gr_wgsl_oom(f);
        return NULL;
    }
    *t = key;
    if (t->kind != GR_WT_STRUCT) {
        complete(t);
        t->text = gr_str_of(type_text(f, t));
        if (!t->text.p) {
            gr_wgsl_oom(f);
            return NULL;
        }
    }
    if (!add_type(f, t)) return NULL;
    ts->slot[h & (ts->cap - 1)] = t->id + 1;
    return t;
}

bool gr_wgsl_types_init(gr_wgsl_front *f) {
    gr_wgsl_type **const at[] = {&f->types.void_, &f->types.bool_, &f->types.abstract_int, &f->types.abstract_float,
                                 &f->types.i32,   &f->types.u32,   &f->types.f32,          &f->types.f16};
    for (int k = GR_WT_VOID; k <= GR_WT_F16; k++)
        if (!(*at[k - GR_WT_VOID] = intern(f, (gr_wgsl_type){.kind = (gr_wgsl_kind)k}))) return false;
    return true;
}

const gr_wgsl_type *gr_wgsl_vec(gr_wgsl_front *f, const gr_wgsl_type *elem, uint32_t n) {
    return elem ? intern(f, (gr_wgsl_type){.kind = GR_WT_VEC, .elem = elem, .n = (uint8_t)n}) : NULL;
}

const gr_wgsl_type *gr_wgsl_mat(gr_wgsl_front *f, const gr_wgsl_type *elem, uint32_t columns, uint32_t rows) {
    const gr_wgsl_type *column = gr_wgsl_vec(f, elem, rows);
    if (!column) return NULL;
    return intern(f, (gr_wgsl_type){.kind = GR_WT_MAT, .elem = elem, .n = (uint8_t)columns, .rows = (uint8_t)rows, .column = column});
}

const gr_wgsl_type *gr_wgsl_array(gr_wgsl_front *f, const gr_wgsl_type *elem, uint32_t count, gr_wgsl_expr *count_expr) {
    return elem ? intern(f, (gr_wgsl_type){.kind = GR_WT_ARRAY, .elem = elem, .count = count, .count_expr = count_expr}) : NULL;
}

const gr_wgsl_type *gr_wgsl_atomic(gr_wgsl_front *f, const gr_wgsl_type *elem) {
    return intern(f, (gr_wgsl_type){.kind = GR_WT_ATOMIC, .elem = elem});
}

const gr_wgsl_type *gr_wgsl_ptr(gr_wgsl_front *f, gr_wgsl_space s, const gr_wgsl_type *elem, gr_wgsl_access a) {
    return elem ? intern(f, (gr_wgsl_type){.kind = GR_WT_PTR, .elem = elem, .space = s, .access = a}) : NULL;
}

/* ------------------------------------------------------------------ structs */

void gr_wgsl_layout_struct(gr_wgsl_type *t) {
    uint64_t at = 0, leaves = 0, align = 1;
    t->storable = t->constructible = t->host_shareable = t->creation_fixed = t->fixed_footprint = true;
    t->depth = 0;
    for (uint32_t i = 0; i < t->member_n; i++) {
        gr_wgsl_member *m = &t->member[i];
        const gr_wgsl_type *e = m->type;
        at = gr_wgsl_round_up(at, m->align);
        m->at = at;
        at += m->size;
        if (m->align > align) align = m->align;
        leaves += e->leaves;
        if (!e->leaves || leaves >> 31) leaves = 1ull << 32; /* unknown or too many: stays so */
        t->storable &= e->storable;
        t->constructible &= e->constructible;
        t->host_shareable &= e->host_shareable;
        t->creation_fixed &= e->creation_fixed;
        t->fixed_footprint &= e->fixed_footprint;
        t->has_atomic |= e->has_atomic;
        t->has_runtime |= e->has_runtime;
        t->has_bool |= e->has_bool;
        t->has_f16 |= e->has_f16;
        if (e->depth >= t->depth) t->depth = (uint8_t)(e->depth < 255 ? e->depth + 1 : 255);
    }
    if (!t->depth) t->depth = 1;
    t->align = (uint32_t)align;
    t->size = gr_wgsl_round_up(at, align);
    t->leaves = leaves >> 31 ? 0 : (uint32_t)leaves;
}

const gr_wgsl_type *gr_wgsl_result_struct(gr_wgsl_front *f, gr_str name, const gr_str *names,
                                          const gr_wgsl_type *const *types, uint32_t n) {
    gr_wgsl_type *t = intern(f, (gr_wgsl_type){.kind = GR_WT_STRUCT, .name = name});
    if (!t || t->member) return t;
    t->name = gr_str_dup(f->arena, name);
    t->text = t->name;
    t->member = GR_NEW_N(f->arena, gr_wgsl_member, n);
    if (!t->member || !t->name.p) {
        gr_wgsl_oom(f);
        return NULL;
    }
    t->member_n = n;
    for (uint32_t i = 0; i < n; i++)
        t->member[i] = (gr_wgsl_member){.name = names[i], .index = i, .type = types[i], .size = types[i]->size, .align = types[i]->align};
    gr_wgsl_layout_struct(t);
    t->storable = true;
    return t;
}

/* -------------------------------------------------------------- conversions */

bool gr_wgsl_is_abstract(const gr_wgsl_type *t) {
    while (t->kind == GR_WT_ARRAY) t = t->elem;
    if (t->kind == GR_WT_STRUCT) return !t->decl && t->member_n && gr_wgsl_is_abstract(t->member[0].type);
    const gr_wgsl_type *s = gr_wgsl_scalar_of(t);
    return s && gr_wgsl_is_abstract_kind(s->kind);
}

/* abstract result structs convert to the ones of f32 and f16 with the same spelling of shape */
static const gr_wgsl_type *struct_with_scalar(gr_wgsl_front *f, const gr_wgsl_type *t, const gr_wgsl_type *scalar) {
    if (t->decl || t->member_n != 2) return NULL;
    const gr_wgsl_type *a = gr_wgsl_with_scalar(f, t->member[0].type, scalar), *b = t->member[1].type;
    const gr_wgsl_type *bs = gr_wgsl_scalar_of(b);
    bool frexp = gr_str_starts(t->name, "__frexp");
    b = gr_wgsl_with_scalar(f, b, frexp ? (bs && bs->kind == GR_WT_ABSTRACT_INT ? f->types.i32 : bs) : scalar);
    if (!a || !b) return NULL;
    char name[64];
    const char *base = frexp ? "__frexp_result" : "__modf_result";
    if (a->kind == GR_WT_VEC) snprintf(name, sizeof name, "%s_vec%d_%.*s", base, a->n, GR_STR_ARG(scalar->text));
    else snprintf(name, sizeof name, "%s_%.*s", base, GR_STR_ARG(scalar->text));
    gr_str names[2] = {t->member[0].name, t->member[1].name};
    const gr_wgsl_type *types[2] = {a, b};
    char *kept = gr_arena_strndup(f->arena, name, strlen(name));
    return kept ? gr_wgsl_result_struct(f, gr_str_of(kept), names, types, 2) : NULL;
}

const gr_wgsl_type *gr_wgsl_with_scalar(gr_wgsl_front *f, const gr_wgsl_type *t, const gr_wgsl_type *scalar) {
    if (gr_wgsl_is_scalar(t)) return scalar;
    if (t->kind == GR_WT_VEC) return gr_wgsl_vec(f, scalar, t->n);
    if (t->kind == GR_WT_MAT) return gr_wgsl_mat(f, scalar, t->n, t->rows);
    if (t->kind == GR_WT_ARRAY) {
        const gr_wgsl_type *e = gr_wgsl_with_scalar(f, t->elem, scalar);
        return e ? gr_wgsl_array(f, e, t->count, t->count_expr) : NULL;
    }
    return t->kind == GR_WT_STRUCT ? struct_with_scalar(f, t, scalar) : NULL;
}

static int scalar_rank(gr_wgsl_kind from, gr_wgsl_kind to) {
    if (from == to) return 0;
    if (from == GR_WT_ABSTRACT_FLOAT) return to == GR_WT_F32 ? 1 : to == GR_WT_F16 ? 2 : -1;
    if (from != GR_WT_ABSTRACT_INT) return -1;
    switch (to) {
    case GR_WT_I32: return 3;
    case GR_WT_U32: return 4;
    case GR_WT_ABSTRACT_FLOAT: return 5;
    case GR_WT_F32: return 6;
    case GR_WT_F16: return 7;
    default: return -1;
    }
}

int gr_wgsl_rank(const gr_wgsl_type *from, const gr_wgsl_type *to) {
    if (from == to) return 0;
    while (from->kind == GR_WT_ARRAY && to->kind == GR_WT_ARRAY && from->count == to->count && from->count) {
        from = from->elem;
        to = to->elem;
        if (from == to) return 0;
    }
    if (from->kind == GR_WT_STRUCT && to->kind == GR_WT_STRUCT && !from->decl && !to->decl && from->member_n == 2 &&
        to->member_n == 2 && gr_str_eq(from->member[0].name, to->member[0].name)) {
        int a = gr_wgsl_rank(from->member[0].type, to->member[0].type), b = gr_wgsl_rank(from->member[1].type, to->member[1].type);
        return a < 0 || b < 0 ? -1 : a;
    }
    if (from->kind != to->kind && !(gr_wgsl_is_scalar(from) && gr_wgsl_is_scalar(to))) return -1;
    if (from->n != to->n || from->rows != to->rows) return -1;
    const gr_wgsl_type *a = gr_wgsl_scalar_of(from), *b = gr_wgsl_scalar_of(to);
    return a && b ? scalar_rank(a->kind, b->kind) : -1;
}

const gr_wgsl_type *gr_wgsl_concrete(gr_wgsl_front *f, const gr_wgsl_type *t) {
    if (!gr_wgsl_is_abstract(t)) return t;
    const gr_wgsl_type *e = t;
    while (e->kind == GR_WT_ARRAY) e = e->elem;
    if (e->kind == GR_WT_STRUCT) return gr_wgsl_with_scalar(f, t, f->types.f32);
    return gr_wgsl_with_scalar(f, t, gr_wgsl_scalar_of(e)->kind == GR_WT_ABSTRACT_INT ? f->types.i32 : f->types.f32);
}
