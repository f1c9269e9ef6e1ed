/* Spellings: predeclared types and enumerants, builtin functions, operators; and type expressions. */
#include "wgsl/wgsl_int.h"

#include <string.h>

const char *gr_wgsl_builtin_text(gr_wgsl_builtin b) {
    static const char *const text[GR_WB_COUNT] = {
        [GR_WB_NONE] = "",
#define GR_WGSL_BUILTIN(name) [GR_WB_##name] = #name,
#include "wgsl/builtin.def"
#undef GR_WGSL_BUILTIN
    };
    return b < GR_WB_COUNT ? text[b] : "";
}

gr_wgsl_builtin gr_wgsl_builtin_of(gr_str name) {
    for (int b = 1; b < GR_WB_COUNT; b++)
        if (gr_str_eqz(name, gr_wgsl_builtin_text((gr_wgsl_builtin)b))) return (gr_wgsl_builtin)b;
    return GR_WB_NONE;
}

const char *gr_wgsl_op_text(gr_wgsl_op op) {
    static const char *const text[] = {"",   "+",  "-",  "*",  "/", "%",  "&", "|",  "^", "<<", ">>",
                                       "&&", "||", "==", "!=", "<", "<=", ">", ">=", "-", "!",  "~"};
    return (size_t)op < sizeof text / sizeof *text ? text[op] : "";
}

static const char *const space_text[] = {"", "function", "private", "workgroup", "uniform", "storage"};
static const char *const access_text[] = {"", "read", "write", "read_write"};
static const char *const value_text[] = {
    "",
    "global_invocation_id",
    "local_invocation_id",
    "local_invocation_index",
    "workgroup_id",
    "num_workgroups",
    "subgroup_invocation_id",
    "subgroup_size",
    "subgroup_id",
    "num_subgroups",
};

const char *gr_wgsl_space_text(gr_wgsl_space s) { return space_text[s]; }
const char *gr_wgsl_access_text(gr_wgsl_access a) { return access_text[a]; }
const char *gr_wgsl_builtin_value_text(gr_wgsl_builtin_value v) { return value_text[v]; }

gr_wgsl_space gr_wgsl_space_of(gr_str name) {
    for (int i = 1; i <= GR_WGSL_SPACE_STORAGE; i++)
        if (gr_str_eqz(name, space_text[i])) return (gr_wgsl_space)i;
    return GR_WGSL_SPACE_NONE;
}

gr_wgsl_access gr_wgsl_access_of(gr_str name) {
    for (int i = 1; i <= GR_WGSL_READ_WRITE; i++)
        if (gr_str_eqz(name, access_text[i])) return (gr_wgsl_access)i;
    return GR_WGSL_ACCESS_NONE;
}

/* vecN, vecN[iufh], matCxR, matCxR[fh]: shape and scalar letter ('\0' without). */
static bool shape_of(gr_str s, gr_wgsl_kind *kind, uint8_t *n, uint8_t *rows, char *letter) {
    bool vec = gr_str_starts(s, "vec") && (s.n == 4 || s.n == 5);
    bool mat = gr_str_starts(s, "mat") && (s.n == 6 || s.n == 7);
    if (!vec && !mat) return false;
    *n = (uint8_t)(s.p[3] - '0');
    *rows = 0;
    if (*n < 2 || *n > 4) return false;
    size_t used = 4;
    if (mat) {
        *rows = (uint8_t)(s.p[5] - '0');
        if (s.p[4] != 'x' || *rows < 2 || *rows > 4) return false;
        used = 6;
    }
    *kind = vec ? GR_WT_VEC : GR_WT_MAT;
    *letter = s.n > used ? s.p[used] : '\0';
    return !*letter || memchr(vec ? "iufh" : "fh", *letter, vec ? 4 : 2) != NULL;
}

static const char *const scalar_names[] = {"bool", "i32", "u32", "f32", "f16"};

static bool is_unsupported_type(gr_str s) {
    return gr_str_starts(s, "texture_") || gr_str_eqz(s, "sampler") || gr_str_eqz(s, "sampler_comparison") ||
           gr_str_eqz(s, "binding_array") || gr_str_eqz(s, "buffer") || gr_str_starts(s, "subgroup_matrix_") ||
           gr_str_eqz(s, "texel_buffer") || gr_str_eqz(s, "input_attachment");
}

static bool is_unsupported_function(gr_str s) {
    static const char *const prefix[] = {"texture", "dpdx", "dpdy", "fwidth", "subgroupMatrix"};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (gr_str_starts(s, prefix[i])) return true;
    static const char *const name[] = {"bufferView",          "bufferArrayView", "bufferLength",
                                       "inputAttachmentLoad", "print",           "atomicStoreMax",
                                       "atomicStoreMin",      "hasResource",     "getResource"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (gr_str_eqz(s, name[i])) return true;
    return false;
}

static bool is_texel_format(gr_str s) {
    static const char *const name[] = {
        "rgba8unorm", "rgba8snorm",  "rgba8uint",    "rgba8sint",   "rgba16unorm",  "rgba16snorm", "rgba16uint",
        "rgba16sint", "rgba16float", "rg8unorm",     "rg8snorm",    "rg8uint",      "rg8sint",     "rg16unorm",
        "rg16snorm",  "rg16uint",    "rg16sint",     "rg16float",   "r32uint",      "r32sint",     "r32float",
        "rg32uint",   "rg32sint",    "rg32float",    "rgba32uint",  "rgba32sint",   "rgba32float", "bgra8unorm",
        "r8unorm",    "r8snorm",     "r8uint",       "r8sint",      "r16unorm",     "r16snorm",    "r16uint",
        "r16sint",    "r16float",    "rgb10a2unorm", "rgb10a2uint", "rg11b10ufloat"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (gr_str_eqz(s, name[i])) return true;
    return false;
}

gr_wgsl_name_class gr_wgsl_predeclared(gr_str s) {
    gr_wgsl_kind k;
    uint8_t n, rows;
    char letter;
    for (size_t i = 0; i < sizeof scalar_names / sizeof *scalar_names; i++)
        if (gr_str_eqz(s, scalar_names[i])) return GR_WGSL_NAME_TYPE;
    if (shape_of(s, &k, &n, &rows, &letter)) return GR_WGSL_NAME_TYPE;
    if (gr_str_eqz(s, "array") || gr_str_eqz(s, "atomic") || gr_str_eqz(s, "ptr")) return GR_WGSL_NAME_TYPE;
    if (gr_wgsl_builtin_of(s)) return GR_WGSL_NAME_FUNCTION;
    if (gr_wgsl_space_of(s) || gr_wgsl_access_of(s) || gr_str_eqz(s, "immediate") || is_texel_format(s))
        return GR_WGSL_NAME_ENUMERANT;
    if (is_unsupported_function(s) && !gr_str_starts(s, "texture_")) return GR_WGSL_NAME_FUNCTION;
    return is_unsupported_type(s) ? GR_WGSL_NAME_TYPE : GR_WGSL_NAME_NONE;
}

/* ---------------------------------------------------------- type expressions */

static const gr_wgsl_type *scalar_named(gr_wgsl_front *f, gr_str s) {
    const gr_wgsl_type *const t[] = {f->types.bool_, f->types.i32, f->types.u32, f->types.f32, f->types.f16};
    for (size_t i = 0; i < sizeof scalar_names / sizeof *scalar_names; i++)
        if (gr_str_eqz(s, scalar_names[i])) return t[i];
    return NULL;
}

static bool need_f16(gr_wgsl_front *f, uint32_t offset) {
    if (f->m->enable_f16 || (f->opt && f->opt->force_f16)) return true;
    return gr_wgsl_error(f, GR_D_WGSL_NOT_ENABLED, offset, "begin the module with `enable f16;`",
                         "the type f16 is used without its directive");
}

static bool targ_count(gr_wgsl_front *f, const gr_wgsl_expr *e, uint32_t least, uint32_t most) {
    uint32_t n = e->ident.targ_n;
    if (n >= least && n <= most) return true;
    if (most == 0)
        return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, "remove it", "the type %.*s takes no template list",
                             GR_STR_ARG(e->ident.name));
    if (least == most)
        return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, NULL, "%.*s takes %u template argument%s, not %u",
                             GR_STR_ARG(e->ident.name), least, least == 1 ? "" : "s", n);
    return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, NULL, "%.*s takes %u to %u template arguments, not %u",
                         GR_STR_ARG(e->ident.name), least, most, n);
}

static const gr_wgsl_type *check_vec_mat(gr_wgsl_front *f, gr_wgsl_expr *e, gr_wgsl_partial *p) {
    if (!targ_count(f, e, 1, 1)) return NULL;
    const gr_wgsl_type *s = gr_wgsl_check_type(f, e->ident.targ[0]);
    if (!s) return NULL;
    bool ok = p->kind == GR_WT_VEC ? gr_wgsl_is_scalar(s) : gr_wgsl_is_float_kind(s->kind);
    if (!ok) {
        gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->ident.targ[0]->offset, NULL, "%s takes %s, not %.*s",
                      p->kind == GR_WT_VEC ? "a vector" : "a matrix",
                      p->kind == GR_WT_VEC ? "bool, i32, u32, f32 or f16" : "f32 or f16", GR_STR_ARG(s->text));
        return NULL;
    }
    return p->kind == GR_WT_VEC ? gr_wgsl_vec(f, s, p->n) : gr_wgsl_mat(f, s, p->n, p->rows);
}

/* The element count of array<T, N>: const (then *count) or override (then *expr). */
static bool check_count(gr_wgsl_front *f, gr_wgsl_expr *e, uint32_t *count, gr_wgsl_expr **expr) {
    if (!gr_wgsl_check_value(f, &e)) return false;
    if (e->stage == GR_WGSL_RUNTIME)
        return gr_wgsl_error(f, GR_D_WGSL_NOT_CONST, e->offset, NULL,
                             "the element count of an array must be a const- or override-expression");
    if (!gr_wgsl_materialize(f, e)) return false;
    if (e->type->kind != GR_WT_I32 && e->type->kind != GR_WT_U32)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE, e->offset, NULL,
                             "the element count of an array must be i32 or u32, not %.*s", GR_STR_ARG(e->type->text));
    *expr = NULL;
    if (e->stage == GR_WGSL_OVERRIDE) {
        gr_wgsl_expr *name = e;
        while (name->kind == GR_WE_PAREN) name = name->unary.a;
        *expr = e;
        if (name->kind != GR_WE_IDENT) return true;
        gr_wgsl_expr **first = &f->named_count[name->ident.decl->id]; /* arrays sized by one override are one type */
        if (!*first) *first = e;
        *expr = *first;
        return true;
    }
    int64_t n = gr_wgsl_const_leaf(e->value, 0).i;
    if (n < 1)
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, e->offset, NULL,
                             "the element count of an array must be positive, not %lld", (long long)n);
    if (n > INT32_MAX)
        return gr_wgsl_error(f, GR_D_WGSL_LIMIT, e->offset, NULL, "an array of %lld elements is too large",
                             (long long)n);
    *count = (uint32_t)n;
    return true;
}

static bool check_element(gr_wgsl_front *f, const gr_wgsl_type *t, uint32_t offset) {
    if (!t->storable || !t->fixed_footprint || (t->kind == GR_WT_ARRAY && t->count_expr) || (!t->creation_fixed))
        return gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, offset, NULL, "%.*s cannot be an element of an array%s",
                             GR_STR_ARG(t->text), t->has_runtime ? ": it has a runtime-sized array" : "");
    return true;
}

static const gr_wgsl_type *check_array(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!targ_count(f, e, 1, 2)) return NULL;
    const gr_wgsl_type *t = gr_wgsl_check_type(f, e->ident.targ[0]);
    uint32_t count = 0;
    gr_wgsl_expr *expr = NULL;
    if (e->ident.targ_n == 2 && !check_count(f, e->ident.targ[1], &count, &expr)) return NULL;
    if (!t || !check_element(f, t, e->ident.targ[0]->offset)) return NULL;
    if (t->depth + 1 > GR_WGSL_MAX_TYPE_DEPTH) {
        gr_wgsl_error(f, GR_D_WGSL_LIMIT, e->offset, NULL, "types nest deeper than %d levels", GR_WGSL_MAX_TYPE_DEPTH);
        return NULL;
    }
    if (gr_wgsl_round_up(t->size, t->align) * count > UINT32_MAX) {
        gr_wgsl_error(f, GR_D_WGSL_LIMIT, e->offset, NULL, "the array has %llu bytes, more than 4294967295",
                      (unsigned long long)(gr_wgsl_round_up(t->size, t->align) * count));
        return NULL;
    }
    return gr_wgsl_array(f, t, count, expr);
}

static const gr_wgsl_type *check_atomic(gr_wgsl_front *f, gr_wgsl_expr *e) {
    if (!targ_count(f, e, 1, 1)) return NULL;
    const gr_wgsl_type *t = gr_wgsl_check_type(f, e->ident.targ[0]);
    if (!t) return NULL;
    if (t->kind == GR_WT_I32 || t->kind == GR_WT_U32) return gr_wgsl_atomic(f, t);
    gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->ident.targ[0]->offset, NULL, "atomic takes i32 or u32, not %.*s",
                  GR_STR_ARG(t->text));
    return NULL;
}

/* An enumerant as a template argument: a plain name that the module does not declare. */
static bool plain_name(gr_wgsl_front *f, const gr_wgsl_expr *e, const char *what, gr_str *name) {
    if (e->kind != GR_WE_IDENT || e->ident.targ || e->ident.decl)
        return gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, NULL, "expected %s here", what);
    *name = e->ident.name;
    return true;
}

static gr_wgsl_access default_access(gr_wgsl_space s) {
    return s == GR_WGSL_SPACE_UNIFORM || s == GR_WGSL_SPACE_STORAGE ? GR_WGSL_READ : GR_WGSL_READ_WRITE;
}

static const gr_wgsl_type *check_ptr(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_str name;
    if (!targ_count(f, e, 2, 3) || !plain_name(f, e->ident.targ[0], "an address space", &name)) return NULL;
    gr_wgsl_space s = gr_wgsl_space_of(name);
    if (!s) {
        gr_wgsl_error(f, gr_str_eqz(name, "immediate") ? GR_D_WGSL_UNSUPPORTED : GR_D_WGSL_ADDRESS_SPACE,
                      e->ident.targ[0]->offset, "function, private, workgroup, uniform or storage",
                      "'%.*s' is no address space of the subset", GR_STR_ARG(name));
        return NULL;
    }
    const gr_wgsl_type *t = gr_wgsl_check_type(f, e->ident.targ[1]);
    if (!t) return NULL;
    gr_wgsl_access a = default_access(s);
    if (e->ident.targ_n == 3) {
        if (!plain_name(f, e->ident.targ[2], "an access mode", &name)) return NULL;
        a = gr_wgsl_access_of(name);
        if (!a || s != GR_WGSL_SPACE_STORAGE) {
            gr_wgsl_error(f, GR_D_WGSL_ACCESS, e->ident.targ[2]->offset, NULL,
                          a ? "only pointers to storage take an access mode"
                            : "expected read, write or read_write, found '%.*s'",
                          GR_STR_ARG(name));
            return NULL;
        }
        if (a == GR_WGSL_WRITE) {
            gr_wgsl_error(f, GR_D_WGSL_ACCESS, e->ident.targ[2]->offset, NULL,
                          "the access mode write is for storage textures only");
            return NULL;
        }
    }
    if (!t->storable) {
        gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, e->ident.targ[1]->offset, NULL, "%.*s cannot be stored in memory",
                      GR_STR_ARG(t->text));
        return NULL;
    }
    if (t->has_atomic && s != GR_WGSL_SPACE_WORKGROUP && !(s == GR_WGSL_SPACE_STORAGE && a == GR_WGSL_READ_WRITE)) {
        gr_wgsl_error(f, GR_D_WGSL_ADDRESS_SPACE, e->offset, NULL,
                      "atomics must be in workgroup or read_write storage memory");
        return NULL;
    }
    if (t->has_runtime && s != GR_WGSL_SPACE_STORAGE) {
        gr_wgsl_error(f, GR_D_WGSL_TYPE_USE, e->offset, NULL, "runtime-sized arrays must be in storage memory");
        return NULL;
    }
    return gr_wgsl_ptr(f, s, t, a);
}

static bool predeclared_type(gr_wgsl_front *f, gr_wgsl_expr *e, gr_wgsl_partial *p, bool *bad) {
    gr_str s = e->ident.name;
    char letter = '\0';
    const gr_wgsl_type *t = scalar_named(f, s);
    *bad = true;
    if (t) {
        if (!targ_count(f, e, 0, 0) || (t->kind == GR_WT_F16 && !need_f16(f, e->offset))) return false;
    } else if (shape_of(s, &p->kind, &p->n, &p->rows, &letter)) {
        if (letter) {
            t = letter == 'i'   ? f->types.i32
                : letter == 'u' ? f->types.u32
                : letter == 'f' ? f->types.f32
                                : f->types.f16;
            if (!targ_count(f, e, 0, 0) || (letter == 'h' && !need_f16(f, e->offset))) return false;
            t = p->kind == GR_WT_VEC ? gr_wgsl_vec(f, t, p->n) : gr_wgsl_mat(f, t, p->n, p->rows);
        } else if (e->ident.targ) {
            t = check_vec_mat(f, e, p);
        } else {
            *bad = false;
            return true; /* partial */
        }
        if (!t) return false;
    } else if (gr_str_eqz(s, "array")) {
        p->kind = GR_WT_ARRAY;
        if (!e->ident.targ) {
            *bad = false;
            return true;
        }
        if (!(t = check_array(f, e))) return false;
    } else if (gr_str_eqz(s, "atomic")) {
        if (!(t = check_atomic(f, e))) return false;
    } else if (gr_str_eqz(s, "ptr")) {
        if (!(t = check_ptr(f, e))) return false;
    } else {
        *bad = is_unsupported_type(s);
        if (*bad)
            gr_wgsl_error(f, GR_D_WGSL_UNSUPPORTED, e->offset, "the subset has buffers only",
                          "the type %.*s is outside the compute subset", GR_STR_ARG(s));
        return false;
    }
    *bad = false;
    p->type = t;
    return true;
}

bool gr_wgsl_type_of_name(gr_wgsl_front *f, gr_wgsl_expr *e, gr_wgsl_partial *out, bool *bad) {
    gr_wgsl_decl *d = e->ident.decl;
    *out = (gr_wgsl_partial){0};
    *bad = false;
    if (!d) return predeclared_type(f, e, out, bad);
    if (d->kind != GR_WD_ALIAS && d->kind != GR_WD_STRUCT) return false;
    if (e->ident.targ) {
        *bad = !gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, "remove it", "the type %.*s takes no template list",
                              GR_STR_ARG(d->name));
        return false;
    }
    out->type = d->type;
    *bad = !d->type || (d->kind == GR_WD_STRUCT && d->type->align == 0); /* reported at its declaration */
    return !*bad;
}

const gr_wgsl_type *gr_wgsl_check_type(gr_wgsl_front *f, gr_wgsl_expr *e) {
    gr_wgsl_partial p;
    bool bad = false;
    if (e->kind != GR_WE_IDENT) {
        gr_wgsl_error(f, GR_D_WGSL_NAME_KIND, e->offset, NULL, "expected a type, found an expression");
        return NULL;
    }
    if (gr_wgsl_type_of_name(f, e, &p, &bad)) {
        if (p.type) return p.type;
        gr_wgsl_error(f, GR_D_WGSL_TEMPLATE, e->offset, "name the element type, as in vec3<f32>",
                      "the type %.*s needs a template list", GR_STR_ARG(e->ident.name));
    } else if (!bad) {
        bool known = e->ident.decl || gr_wgsl_predeclared(e->ident.name);
        gr_wgsl_error(f, known ? GR_D_WGSL_NAME_KIND : GR_D_WGSL_UNRESOLVED, e->offset, NULL,
                      known ? "'%.*s' is not a type" : "the type '%.*s' is declared nowhere",
                      GR_STR_ARG(e->ident.name));
    }
    return NULL;
}
