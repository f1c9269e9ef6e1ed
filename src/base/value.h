/* value.h: one tree of values for JSON and TOML, with a position on every node.
 *
 * JSON: RFC 8259; duplicate keys, lone surrogates, bad UTF-8, trailing text and
 * nesting beyond GR_VALUE_DEPTH are errors. Integers that fit i64 or u64 keep all
 * digits (2^53+1 survives). TOML: 1.0 in full. Output: RFC 8785 canonical JSON and
 * a pretty form. */
#ifndef GR_BASE_VALUE_H
#define GR_BASE_VALUE_H

#include "base/diag.h"

enum { GR_VALUE_DEPTH = 128 };

typedef enum gr_value_kind {
    GR_V_NONE = 0,
    GR_V_NULL, /* JSON only */
    GR_V_BOOL,
    GR_V_INT,    /* i64 in .i; a positive beyond INT64_MAX is GR_V_UINT */
    GR_V_UINT,
    GR_V_FLOAT,  /* f64 in .f; TOML inf and nan allowed, JSON never makes them */
    GR_V_STRING,
    GR_V_ARRAY,
    GR_V_OBJECT, /* members in document order */
    GR_V_DATETIME, /* TOML only; text kept in .s */
} gr_value_kind;

typedef struct gr_value gr_value;
typedef struct gr_member {
    gr_str key;
    gr_value *value;
    uint32_t offset; /* of the key */
} gr_member;

struct gr_value {
    gr_value_kind kind;
    uint32_t offset; /* byte offset in the source where the value starts */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f;
        gr_str s;
        struct { gr_value **v; uint32_t n; } array;
        struct { gr_member *v; uint32_t n; } object;
    };
};

/* A parsed document: text is a view kept by the caller for the life of the tree. */
typedef struct gr_doc {
    gr_str name; /* for diagnostics */
    gr_str text;
    gr_value *root;
} gr_doc;

/* Parse into arena. Report every syntax error met (JSON stops at the first). False on error.
 * Text is limited to UINT32_MAX - 1 bytes. */
bool gr_json_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_doc *out);
bool gr_toml_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_doc *out);

/* Place of a value: line:col from its offset, pointer as an RFC 6901 path found by search. */
gr_place gr_value_place(const gr_doc *doc, const gr_value *v, gr_arena *a);

/* Lookup; NULL when absent or v is not an object. */
gr_value *gr_value_get(const gr_value *v, const char *key);
gr_value *gr_value_get_str(const gr_value *v, gr_str key);

/* Typed access with diagnostics (base/value-type, base/key-missing). `need` false: an absent
 * key leaves *out as it is and returns true. Integer-valued floats count as integers in JSON. */
bool gr_value_str(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, gr_str *out);
bool gr_value_i64(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, int64_t *out);
bool gr_value_f64(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, double *out);
bool gr_value_bool(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, bool *out);
bool gr_value_object(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, gr_value **out);
bool gr_value_array(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, gr_value **out);
/* Reports base/key-unknown for every member whose key is not in `known` (NULL-terminated),
 * with a "did you mean" hint. True when all are known. */
bool gr_value_known(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *const *known);

/* Building trees (for writers). NULL when memory fails. */
gr_value *gr_value_new(gr_arena *a, gr_value_kind kind);
gr_value *gr_value_new_str(gr_arena *a, gr_str s);
gr_value *gr_value_new_i64(gr_arena *a, int64_t i);
gr_value *gr_value_new_f64(gr_arena *a, double f);
gr_value *gr_value_new_bool(gr_arena *a, bool b);
bool gr_value_set(gr_arena *a, gr_value *obj, const char *key, gr_value *v); /* NULL v fails; replaces */
bool gr_value_push(gr_arena *a, gr_value *array, gr_value *v);
bool gr_value_equal(const gr_value *x, const gr_value *y); /* numbers by value, members in any order */

/* RFC 8785 canonical form (keys sorted by UTF-16 code units, ECMAScript numbers). NaN and
 * infinity cannot be written: false. Integers beyond 2^53 are written in full digits. */
bool gr_json_canonical(gr_buf *out, const gr_value *v);
/* Two-space indentation, document order, ends with a newline. */
bool gr_json_pretty(gr_buf *out, const gr_value *v);
void gr_json_string(gr_buf *out, gr_str s); /* one quoted, escaped string */

#endif
