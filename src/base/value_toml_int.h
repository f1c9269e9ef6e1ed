/* value_toml_int.h: the TOML reader's state, shared by its two files. */
#ifndef GR_BASE_VALUE_TOML_INT_H
#define GR_BASE_VALUE_TOML_INT_H

#include "base/value_int.h"

#include <stdio.h>

typedef struct gr_toml {
    gr_arena *a;
    gr_diags *d;
    gr_str name;
    const char *p; /* text, n bytes, valid UTF-8 */
    size_t n, at;
    struct table *root, *current; /* current: where the last header put us */
    uint32_t section, sections; /* number of the open header or inline table; how many so far */
    uint32_t errors;
} gr_toml;

static inline char gr_toml_peek(const gr_toml *t, size_t ahead) {
    return t->at + ahead < t->n ? t->p[t->at + ahead] : 0;
}
/* Characters that neither strings nor comments may hold. */
static inline bool gr_toml_is_control(char c) {
    unsigned char u = (unsigned char)c;
    return (u < 0x20 && u != '\t') || u == 0x7F;
}

bool gr_toml_fail(gr_toml *t, gr_diag_name name, size_t at, const char *hint, const char *what);
bool gr_toml_expected(gr_toml *t, const char *want, const char *hint);
bool gr_toml_oom(gr_toml *t);

/* A basic or literal string, one line or many, at the opening quote. */
bool gr_toml_string(gr_toml *t, gr_str *out);
/* Any value but an array or table. NULL when reported. */
gr_value *gr_toml_scalar(gr_toml *t);

#endif
