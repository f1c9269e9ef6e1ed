/* kit.h: what the contract tests share: an op made from a signature, calls, one expected diagnostic. */
#ifndef TESTS_CONTRACT_KIT_H
#define TESTS_CONTRACT_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "contract/contract.h"

typedef struct kit {
    gr_arena a;
    gr_diags d;
    gr_op op;
} kit;

static inline void kit_open(kit *k) {
    *k = (kit){0};
    gr_diags_init(&k->d);
}

static inline void kit_close(kit *k) {
    gr_diags_free(&k->d);
    gr_arena_free(&k->a);
}

static inline void kit_show(const kit *k) {
    gr_buf b = {0};
    gr_diags_print(&b, &k->d, (gr_str){0});
    fprintf(stderr, "%s", b.p ? b.p : "no diagnostics\n");
    gr_buf_free(&b);
}

static inline bool kit_sig(kit *k, const char *text) {
    k->op = (gr_op){.id = GR_STR("op@1"), .name = GR_STR("op"), .version = 1};
    return gr_sig_parse(&k->a, &k->d, GR_STR("op.toml"), gr_str_of(text), &k->op.sig);
}

/* "f32[2, 3]", "i32[<= 5]", "-" for an absent optional operand. */
static inline gr_type kit_type(const char *text) {
    gr_type t = {0};
    const char *p = strchr(text, '[');
    if (!p) return t;
    t.dtype = gr_dtype_find((gr_str){text, (size_t)(p - text)});
    for (p++; *p && *p != ']';) {
        if (*p == '<') { t.bounded = true; p += 2; continue; }
        if (*p == ' ' || *p == ',') { p++; continue; }
        char *end;
        t.dim[t.rank++].n = strtoull(p, &end, 10);
        p = end;
    }
    return t;
}

/* operands: types joined by ';'. params: a JSON object or NULL. */
static inline bool kit_call(kit *k, const char *operands, const char *params, gr_call *out) {
    gr_type types[16];
    gr_arg args[16];
    uint32_t n = 0, m = 0;
    char *copy = gr_arena_strndup(&k->a, operands, strlen(operands));
    for (char *p = copy; p && *p;) {
        char *end = strchr(p, ';');
        if (end) *end++ = 0;
        while (*p == ' ') p++;
        types[n++] = kit_type(p);
        p = end;
    }
    gr_doc doc = {0};
    if (params) assert_true(gr_json_parse(&k->a, &k->d, GR_STR("params"), gr_str_of(params), &doc));
    for (uint32_t i = 0; params && i < doc.root->object.n; i++) args[m++] = (gr_arg){.name = doc.root->object.v[i].key, .value = doc.root->object.v[i].value};
    return gr_call_resolve(&k->a, &k->d, &k->op, types, n, args, m, gr_place_doc("call"), out);
}

/* Output types joined by "; ". */
static inline void kit_outputs(gr_buf *b, const gr_call *c) {
    gr_buf_clear(b);
    for (uint32_t i = 0; i < c->outputs_n; i++) {
        if (i) gr_buf_puts(b, "; ");
        if (c->outputs[i].dtype) gr_type_print(b, &c->outputs[i]);
        else gr_buf_putc(b, '-');
    }
}

#endif
