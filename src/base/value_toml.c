/* TOML 1.0 reader: structure (lines, keys, tables). Scalars are in value_toml_scalar.c.
 *
 * After an error the reader goes on at the next line, so that one run shows every
 * mistake, up to GR_READER_ERRORS. */
#include "base/value_toml_int.h"

/* How a table came to be decides who may add to it. */
typedef enum table_state {
    TABLE_IMPLICIT = 1, /* [a.b] made a: may still be opened by [a] */
    TABLE_HEADER,       /* opened by [a] or an element of [[a]] */
    TABLE_DOTTED,       /* made by a.b = 1: may grow only in the same section */
    TABLE_INLINE,       /* { } : closed */
} table_state;

/* Every object of the tree is a table, every array a list: the value comes first, so that
 * a gr_value pointer of that kind may be cast back. */
typedef struct table {
    gr_value v;
    table_state state;
    uint32_t section; /* the section whose dotted keys made it */
    uint32_t depth;
    gr_map index; /* of keys to members, once there are many */
} table;

typedef struct list {
    gr_value v;
    bool of_tables; /* [[a]]; otherwise static and closed */
    uint32_t depth;
} list;

typedef struct key {
    GR_VEC(gr_str) part;
    GR_VEC(uint32_t) offset;
} key;

bool gr_toml_fail(gr_toml *t, gr_diag_name name, size_t at, const char *hint, const char *what) {
    t->errors++;
    return gr_report(t->d, name, gr_place_at(t->name, (gr_str){t->p, t->n}, at), hint, "%s", what);
}

bool gr_toml_oom(gr_toml *t) {
    t->errors = GR_READER_ERRORS; /* stop */
    return gr_report_oom(t->d);
}

bool gr_toml_expected(gr_toml *t, const char *want, const char *hint) {
    char m[160];
    unsigned char c = (unsigned char)gr_toml_peek(t, 0);
    int len = t->at < t->n ? (int)gr_utf8_decode(t->p + t->at, t->n - t->at, NULL) : 0;
    if (t->at >= t->n) snprintf(m, sizeof m, "expected %s, found the end of the text", want);
    else if (c == '\n' || c == '\r') snprintf(m, sizeof m, "expected %s, found the end of the line", want);
    else if (c < 0x20 || c == 0x7F) snprintf(m, sizeof m, "expected %s, found the byte 0x%02x", want, c);
    else snprintf(m, sizeof m, "expected %s, found '%.*s'", want, len, t->p + t->at);
    return gr_toml_fail(t, GR_D_BASE_TOML_SYNTAX, t->at, hint, m);
}

static bool key_error(gr_toml *t, gr_str k, uint32_t at, const char *hint, const char *why) {
    t->errors++;
    int n = k.n > 80 ? 80 : (int)k.n;
    return gr_report(t->d, GR_D_BASE_TOML_DUPLICATE_KEY, gr_place_at(t->name, (gr_str){t->p, t->n}, at), hint, "\"%.*s\" %s", n, k.p, why);
}

/* ---- blanks ---- */

static void skip_blank(gr_toml *t) {
    while (gr_toml_peek(t, 0) == ' ' || gr_toml_peek(t, 0) == '\t') t->at++;
}

static bool at_newline(const gr_toml *t) {
    return gr_toml_peek(t, 0) == '\n' || (gr_toml_peek(t, 0) == '\r' && gr_toml_peek(t, 1) == '\n');
}

static bool skip_comment(gr_toml *t) {
    if (gr_toml_peek(t, 0) != '#') return true;
    for (; t->at < t->n && !at_newline(t); t->at++)
        if (gr_toml_is_control(t->p[t->at])) return gr_toml_fail(t, GR_D_BASE_TOML_SYNTAX, t->at, NULL, "a control character in a comment");
    return true;
}

/* Blanks, comments and newlines, as inside arrays. */
static bool skip_lines(gr_toml *t) {
    for (;;) {
        skip_blank(t);
        GR_TRY(skip_comment(t));
        if (!at_newline(t)) return true;
        t->at += gr_toml_peek(t, 0) == '\r' ? 2 : 1;
    }
}

static bool end_of_line(gr_toml *t) {
    skip_blank(t);
    GR_TRY(skip_comment(t));
    if (t->at < t->n && !at_newline(t)) return gr_toml_expected(t, "the end of the line", "one key = value a line");
    if (t->at < t->n) t->at += gr_toml_peek(t, 0) == '\r' ? 2 : 1;
    return true;
}

/* ---- tables ---- */

static table *new_table(gr_toml *t, table_state state, uint32_t depth, size_t offset) {
    table *x = GR_NEW(t->a, table);
    if (!x) {
        gr_toml_oom(t);
        return NULL;
    }
    x->v.kind = GR_V_OBJECT;
    x->v.offset = (uint32_t)offset;
    x->state = state;
    x->section = t->section;
    x->depth = depth;
    return x;
}

static gr_value *find(const table *x, gr_str k) {
    uint32_t i;
    if (!x->index.cap) return gr_value_get_str(&x->v, k);
    return gr_map_get(&x->index, k, &i) ? x->v.object.v[i].value : NULL;
}

static bool add(gr_toml *t, table *x, gr_str k, gr_value *v, uint32_t at) {
    if (!gr_value_add(t->a, &x->v, k, v, at)) return gr_toml_oom(t);
    uint32_t n = x->v.object.n, first = x->index.cap ? n - 1 : 0;
    if (n < 12) return true;
    for (uint32_t i = first; i < n; i++)
        if (!gr_map_put(t->a, &x->index, x->v.object.v[i].key, i)) return gr_toml_oom(t);
    return true;
}

static bool too_deep(gr_toml *t, size_t at) {
    return gr_toml_fail(t, GR_D_BASE_TOO_DEEP, at, "the limit is 128 levels", "tables and arrays nest too deeply");
}

/* The table under k in x, made with `state` when absent; NULL when reported. Walking on by a
 * header may pass through tables of any making but inline; by a dotted key only through its own. */
static table *step_down(gr_toml *t, table *x, gr_str k, uint32_t at, table_state state) {
    gr_value *v = find(x, k);
    if (!v) {
        if (x->depth + 1 >= GR_VALUE_DEPTH) {
            too_deep(t, at);
            return NULL;
        }
        table *made = new_table(t, state, x->depth + 1, at);
        return made && add(t, x, k, &made->v, at) ? made : NULL;
    }
    if (v->kind == GR_V_ARRAY && ((list *)v)->of_tables && state == TABLE_IMPLICIT) return (table *)v->array.v[v->array.n - 1];
    if (v->kind != GR_V_OBJECT) {
        key_error(t, k, at, NULL,
                  v->kind == GR_V_ARRAY ? "is an array and cannot be extended here" : "already has a value that is not a table");
        return NULL;
    }
    table *next = (table *)v;
    if (next->state == TABLE_INLINE) {
        key_error(t, k, at, "put the keys between its braces", "is an inline table, which is closed");
        return NULL;
    }
    if (state == TABLE_IMPLICIT) return next;
    if (next->state == TABLE_HEADER || (next->state == TABLE_DOTTED && next->section != t->section)) {
        key_error(t, k, at, "put the keys under the header that defined it",
                  "is a table defined elsewhere, which dotted keys cannot extend");
        return NULL;
    }
    next->state = TABLE_DOTTED;
    next->section = t->section;
    return next;
}

/* ---- keys ---- */

static bool is_bare(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; }

static bool parse_key_part(gr_toml *t, gr_str *out) {
    char c = gr_toml_peek(t, 0);
    if (c == '"' || c == '\'') {
        if (gr_toml_peek(t, 1) == c && gr_toml_peek(t, 2) == c)
            return gr_toml_fail(t, GR_D_BASE_TOML_SYNTAX, t->at, NULL, "a key cannot be a multi-line string");
        return gr_toml_string(t, out);
    }
    size_t start = t->at;
    while (is_bare(gr_toml_peek(t, 0))) t->at++;
    if (t->at == start) return gr_toml_expected(t, "a key", "bare keys take letters, digits, _ and -; quote anything else");
    *out = (gr_str){t->p + start, t->at - start};
    return true;
}

static bool parse_key(gr_toml *t, key *k) {
    for (;;) {
        skip_blank(t);
        uint32_t at = (uint32_t)t->at;
        gr_str part;
        GR_TRY(parse_key_part(t, &part));
        gr_str *s = GR_PUSH(t->a, &k->part);
        uint32_t *o = GR_PUSH(t->a, &k->offset);
        if (!s || !o) return gr_toml_oom(t);
        *s = part;
        *o = at;
        if (k->part.n > GR_VALUE_DEPTH) return too_deep(t, at);
        skip_blank(t);
        if (gr_toml_peek(t, 0) != '.') return true;
        t->at++;
    }
}

/* ---- values ---- */

static gr_value *parse_value(gr_toml *t, uint32_t depth);

static bool parse_pair(gr_toml *t, table *into) {
    key k = {0};
    GR_TRY(parse_key(t, &k));
    if (gr_toml_peek(t, 0) != '=') return gr_toml_expected(t, "'=' after the key", NULL);
    t->at++;
    skip_blank(t);
    table *x = into;
    for (uint32_t i = 0; i + 1 < k.part.n; i++) {
        x = step_down(t, x, k.part.v[i], k.offset.v[i], TABLE_DOTTED);
        GR_TRY(x);
    }
    uint32_t last = k.part.n - 1;
    if (find(x, k.part.v[last])) return key_error(t, k.part.v[last], k.offset.v[last], "keep one of the two", "is defined twice");
    gr_value *v = parse_value(t, x->depth + 1);
    return v && add(t, x, k.part.v[last], v, k.offset.v[last]);
}

static gr_value *parse_array(gr_toml *t, uint32_t depth) {
    list *x = GR_NEW(t->a, list);
    if (!x) {
        gr_toml_oom(t);
        return NULL;
    }
    x->v.kind = GR_V_ARRAY;
    x->v.offset = (uint32_t)t->at;
    x->depth = depth;
    t->at++;
    for (;;) {
        GR_TRY_NULL(skip_lines(t));
        if (gr_toml_peek(t, 0) == ']') break;
        gr_value *e = parse_value(t, depth + 1);
        if (!e) return NULL;
        if (!gr_value_push(t->a, &x->v, e)) {
            gr_toml_oom(t);
            return NULL;
        }
        GR_TRY_NULL(skip_lines(t));
        if (gr_toml_peek(t, 0) == ']') break;
        if (gr_toml_peek(t, 0) != ',') {
            gr_toml_expected(t, "',' or ']'", NULL);
            return NULL;
        }
        t->at++;
    }
    t->at++;
    return &x->v;
}

static bool inline_members(gr_toml *t, table *x) {
    skip_blank(t);
    if (gr_toml_peek(t, 0) == '}') return true;
    for (;;) {
        GR_TRY(parse_pair(t, x));
        skip_blank(t);
        if (gr_toml_peek(t, 0) == '}') return true;
        if (gr_toml_peek(t, 0) != ',')
            return gr_toml_expected(t, "',' or '}'", at_newline(t) ? "an inline table stays on one line in TOML 1.0; use a [table]" : NULL);
        t->at++;
        skip_blank(t);
        if (gr_toml_peek(t, 0) == '}') return gr_toml_expected(t, "a key", "TOML 1.0 takes no comma before '}'");
    }
}

/* Each inline table is a section of its own for the rule on dotted keys. */
static gr_value *parse_inline(gr_toml *t, uint32_t depth) {
    uint32_t outer = t->section;
    t->section = ++t->sections;
    table *x = new_table(t, TABLE_DOTTED, depth, t->at);
    if (!x) return NULL;
    t->at++;
    bool ok = inline_members(t, x);
    t->section = outer;
    if (!ok) return NULL;
    t->at++;
    x->state = TABLE_INLINE;
    return &x->v;
}

static gr_value *parse_value(gr_toml *t, uint32_t depth) {
    char c = gr_toml_peek(t, 0);
    if (c != '[' && c != '{') return gr_toml_scalar(t);
    if (depth >= GR_VALUE_DEPTH) {
        too_deep(t, t->at);
        return NULL;
    }
    return c == '[' ? parse_array(t, depth) : parse_inline(t, depth);
}

/* ---- headers ---- */

static bool open_table(gr_toml *t, table *x, gr_str k, uint32_t at) {
    gr_value *v = find(x, k);
    if (v && v->kind == GR_V_OBJECT && ((table *)v)->state == TABLE_IMPLICIT) {
        t->current = (table *)v;
        t->current->state = TABLE_HEADER;
        v->offset = at;
        return true;
    }
    if (v)
        return key_error(t, k, at, v->kind == GR_V_ARRAY ? "write [[...]] to add an element to an array of tables" : "merge the two tables",
                         "is defined already");
    if (x->depth + 1 >= GR_VALUE_DEPTH) return too_deep(t, at);
    table *made = new_table(t, TABLE_HEADER, x->depth + 1, at);
    GR_TRY(made && add(t, x, k, &made->v, at));
    t->current = made;
    return true;
}

static bool open_element(gr_toml *t, table *x, gr_str k, uint32_t at) {
    gr_value *v = find(x, k);
    if (v && (v->kind != GR_V_ARRAY || !((list *)v)->of_tables))
        return key_error(t, k, at, NULL,
                         v->kind == GR_V_ARRAY ? "is an array of values, which [[...]] cannot extend"
                                               : "is defined already and is not an array of tables");
    if (x->depth + 2 >= GR_VALUE_DEPTH) return too_deep(t, at);
    if (!v) {
        list *made = GR_NEW(t->a, list);
        if (!made) return gr_toml_oom(t);
        *made = (list){.v = {.kind = GR_V_ARRAY, .offset = at}, .of_tables = true, .depth = x->depth + 1};
        v = &made->v;
        GR_TRY(add(t, x, k, v, at));
    }
    table *e = new_table(t, TABLE_HEADER, x->depth + 2, at);
    GR_TRY(e);
    if (!gr_value_push(t->a, v, &e->v)) return gr_toml_oom(t);
    t->current = e;
    return true;
}

static bool parse_header(gr_toml *t) {
    bool element = gr_toml_peek(t, 1) == '[';
    t->at += element ? 2 : 1;
    t->section = ++t->sections;
    key k = {0};
    GR_TRY(parse_key(t, &k));
    for (int i = 0; i < (element ? 2 : 1); i++, t->at++)
        if (gr_toml_peek(t, 0) != ']') return gr_toml_expected(t, element ? "']]'" : "']'", NULL);
    table *x = t->root;
    for (uint32_t i = 0; i + 1 < k.part.n; i++) {
        x = step_down(t, x, k.part.v[i], k.offset.v[i], TABLE_IMPLICIT);
        GR_TRY(x);
    }
    uint32_t last = k.part.n - 1;
    GR_TRY(element ? open_element(t, x, k.part.v[last], k.offset.v[last]) : open_table(t, x, k.part.v[last], k.offset.v[last]));
    return end_of_line(t);
}

static bool parse_line(gr_toml *t) {
    if (gr_toml_peek(t, 0) != '[') return parse_pair(t, t->current) && end_of_line(t);
    if (parse_header(t)) return true;
    /* Keys below a header that failed go into a table nobody sees, not into the last one. */
    t->current = new_table(t, TABLE_HEADER, 1, t->at);
    return false;
}

static void parse_lines(gr_toml *t) {
    while (t->errors < GR_READER_ERRORS) {
        if (!skip_lines(t) || (t->at < t->n && !parse_line(t))) {
            while (t->at < t->n && t->p[t->at] != '\n') t->at++;
        }
        if (t->at >= t->n || !t->current) return;
    }
}

bool gr_toml_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_doc *out) {
    gr_toml t = {.a = a, .d = d, .name = name, .p = text.p ? text.p : "", .n = text.n};
    *out = (gr_doc){.name = name, .text = text};
    if (text.n >= UINT32_MAX)
        return gr_report(d, GR_D_BASE_FILE_TOO_LARGE, (gr_place){.document = name}, "the limit is 4 GiB", "the text has %zu bytes", text.n);
    size_t bad = gr_utf8_check((gr_str){t.p, t.n});
    if (bad < t.n) return gr_toml_fail(&t, GR_D_BASE_BAD_UTF8, bad, "save the file as UTF-8", "not valid UTF-8");
    if (gr_str_starts((gr_str){t.p, t.n}, "\xEF\xBB\xBF")) t.at = 3;
    t.root = t.current = new_table(&t, TABLE_HEADER, 0, 0);
    if (!t.root) return false;
    parse_lines(&t);
    if (t.errors) return false;
    out->root = &t.root->v;
    return true;
}
