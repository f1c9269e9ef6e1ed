/* propose.c: operand types from values of the names in a signature: the way back from gr_call_resolve. */
#include "contract/call_int.h"

static bool binds(const gr_sig *s, const struct gr_shape_item *it) {
    return it->e->kind == GR_E_NAME && gr_sig_find_param(s, it->e->name) < 0;
}

static uint32_t rests_of(const gr_sig_tensor *t) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->items_n; i++) n += t->items[i].kind == GR_ITEM_REST;
    return n;
}

static const gr_sig_name *named(const gr_sig_name *list, uint32_t n, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eq(list[i].name, name)) return &list[i];
    return NULL;
}

bool gr_sig_names(gr_arena *a, const gr_sig *s, gr_sig_name **out, uint32_t *n) {
    GR_VEC(gr_sig_name) v = {0};
    for (uint32_t t = 0; t < s->operands_n; t++) {
        const gr_sig_tensor *x = &s->operands[t];
        for (uint32_t i = 0; i < x->items_n && rests_of(x) < 2; i++) {
            if (!binds(s, &x->items[i]) || named(v.v, v.n, x->items[i].e->name)) continue;
            gr_sig_name *name = GR_PUSH(a, &v);
            GR_TRY(name);
            *name = (gr_sig_name){.name = x->items[i].e->name, .rest = x->items[i].kind == GR_ITEM_REST};
        }
    }
    *out = v.v;
    *n = v.n;
    return true;
}

/* Dimensions of an operand all of whose parts are names; false where one is an expression. */
static bool plain_shape(const gr_sig *s, const gr_sig_tensor *t, const gr_sig_name *names, uint32_t n, gr_type *x) {
    x->rank = 0;
    for (uint32_t i = 0; i < t->items_n; i++) {
        const gr_sig_name *v = binds(s, &t->items[i]) ? named(names, n, t->items[i].e->name) : NULL;
        uint32_t rank = v && v->rest ? v->rank : 1;
        if (!v || x->rank + rank > GR_RANK_MAX) {
            x->rank = 0;
            return false;
        }
        for (uint32_t k = 0; k < rank; k++) x->dim[x->rank++].n = v->dims[k];
    }
    return true;
}

static bool bind_names(gr_arena *a, gr_call *c, const gr_sig_name *names, uint32_t n, uint32_t many) {
    for (uint32_t i = 0; i < n; i++) {
        if (!names[i].rest) {
            gr_env_dim *v = GR_PUSH(a, &c->env->dims);
            GR_TRY(v);
            *v = (gr_env_dim){.name = names[i].name, .d.n = names[i].dims[0]};
            continue;
        }
        gr_env_rest *r = GR_PUSH(a, &c->env->rests);
        GR_TRY(r);
        *r = (gr_env_rest){.name = names[i].name, .shapes = GR_NEW_N(a, gr_shape, many), .shapes_n = many};
        GR_TRY(r->shapes);
        for (uint32_t k = 0; k < many; k++) {
            r->shapes[k].rank = names[i].rank;
            for (uint32_t j = 0; j < names[i].rank; j++) r->shapes[k].dim[j].n = names[i].dims[j];
        }
    }
    return true;
}

bool gr_sig_bind(gr_arena *a, const gr_op *op, const gr_sig_name *names, uint32_t names_n, const gr_dtype *dtypes, uint32_t many, gr_call *out) {
    const gr_sig *s = &op->sig;
    if (many == 0) many = 1;
    *out = (gr_call){.op = op, .env = GR_NEW(a, struct gr_env), .operand_first = GR_NEW_N(a, uint32_t, s->operands_n + 1),
                     .operands = GR_NEW_N(a, gr_type, (size_t)s->operands_n + many)};
    if (!out->env || !out->operand_first || !out->operands) return false;
    for (uint32_t t = 0; t < s->operands_n; t++) {
        out->operand_first[t] = out->operands_n;
        for (uint32_t k = s->operands[t].variadic ? many : 1; k; k--) {
            gr_type *x = &out->operands[out->operands_n++];
            x->dtype = dtypes[t];
            plain_shape(s, &s->operands[t], names, names_n, x);
        }
        if (!gr_sig_is_dtype_var(s, s->operands[t].dtype) || dtypes[t] == GR_DTYPE_NONE) continue;
        gr_env_dtype *v = GR_PUSH(a, &out->env->dtypes);
        GR_TRY(v);
        *v = (gr_env_dtype){s->operands[t].dtype, dtypes[t], t};
    }
    out->operand_first[s->operands_n] = out->operands_n;
    return bind_names(a, out, names, names_n, many);
}

bool gr_sig_complete(gr_arena *a, gr_diags *d, gr_call *c, const gr_sig_name *names, uint32_t names_n, const gr_arg *args, uint32_t args_n) {
    const gr_sig *s = &c->op->sig;
    gr_caller k = {.a = a, .d = d, .out = c};
    GR_TRY(gr_call_params(&k, args, args_n, true));
    for (uint32_t t = 0; t < s->operands_n; t++) {
        gr_type x = {0};
        if (plain_shape(s, &s->operands[t], names, names_n, &x)) continue;
        gr_evaluator v = {.a = a, .d = d, .c = c, .what = "a proposed shape"};
        x.rank = 0;
        for (uint32_t i = 0; i < s->operands[t].items_n; i++) {
            gr_val l;
            GR_TRY(gr_eval_list(&v, s->operands[t].items[i].e, &l)); /* one dimension is a list of one */
            if (l.kind != GR_K_LIST || x.rank + l.len > GR_RANK_MAX) return false;
            for (uint32_t j = 0; j < l.len; j++) {
                if (l.list[j].i < 0) return false;
                x.dim[x.rank++].n = (uint64_t)l.list[j].i;
            }
        }
        for (uint32_t i = c->operand_first[t]; i < c->operand_first[t + 1]; i++) {
            x.dtype = c->operands[i].dtype;
            c->operands[i] = x;
        }
    }
    return true;
}
