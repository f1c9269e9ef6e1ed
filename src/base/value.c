#include "base/value_int.h"

#include <stdlib.h>

/* ---- UTF-8 and numbers ---- */

uint32_t gr_utf8_decode(const char *p, size_t n, uint32_t *cp) {
    const unsigned char *u = (const unsigned char *)p;
    uint32_t c = u[0], len = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (len == 0 || len > n) return 0;
    static const uint32_t mask[5] = {0, 0x7F, 0x1F, 0x0F, 0x07}, least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t v = c & mask[len];
    for (uint32_t i = 1; i < len; i++) {
        if ((u[i] & 0xC0) != 0x80) return 0;
        v = v << 6 | (u[i] & 0x3Fu);
    }
    if (v < least[len] || v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF)) return 0;
    if (cp) *cp = v;
    return len;
}

uint32_t gr_utf8_encode(char out[4], uint32_t cp) {
    uint32_t len = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (uint32_t i = len; i-- > 1; cp >>= 6) out[i] = (char)(0x80 | (cp & 0x3F));
    out[0] = (char)(lead[len] | cp);
    return len;
}

size_t gr_utf8_check(gr_str s) {
    size_t i = 0;
    while (i < s.n) {
        uint32_t len = (unsigned char)s.p[i] < 0x80 ? 1 : gr_utf8_decode(s.p + i, s.n - i, NULL);
        if (!len) return i;
        i += len;
    }
    return s.n;
}

bool gr_number_f64(gr_arena *a, const char *t, size_t n, double *out) {
    char local[64], *z = local; /* strtod needs a terminator; the source need not have one */
    if (n >= sizeof local && !(z = gr_arena_alloc(a, n + 1, 1))) return false;
    memcpy(z, t, n);
    z[n] = 0;
    *out = strtod(z, NULL);
    return true;
}

/* ---- places ---- */

typedef struct trail {
    const struct trail *up;
    gr_str key;
    uint32_t index;
    bool is_key;
} trail;

static void put_trail(gr_buf *b, const trail *t) {
    if (!t) return;
    put_trail(b, t->up);
    gr_buf_putc(b, '/');
    if (!t->is_key) {
        gr_buf_printf(b, "%u", t->index);
        return;
    }
    for (size_t i = 0; i < t->key.n; i++) { /* RFC 6901: ~0 is ~, ~1 is / */
        if (t->key.p[i] == '~') gr_buf_puts(b, "~0");
        else if (t->key.p[i] == '/') gr_buf_puts(b, "~1");
        else gr_buf_putc(b, t->key.p[i]);
    }
}

static bool find_trail(gr_buf *b, const gr_value *at, const gr_value *want, const trail *up, int depth) {
    if (at == want) {
        put_trail(b, up);
        return true;
    }
    if (!at || depth > GR_VALUE_DEPTH) return false;
    trail t = {.up = up};
    if (at->kind == GR_V_ARRAY) {
        for (t.index = 0; t.index < at->array.n; t.index++)
            if (find_trail(b, at->array.v[t.index], want, &t, depth + 1)) return true;
    } else if (at->kind == GR_V_OBJECT) {
        t.is_key = true;
        for (uint32_t i = 0; i < at->object.n; i++) {
            t.key = at->object.v[i].key;
            if (find_trail(b, at->object.v[i].value, want, &t, depth + 1)) return true;
        }
    }
    return false;
}

gr_place gr_value_place(const gr_doc *doc, const gr_value *v, gr_arena *a) {
    if (!v) return (gr_place){.document = doc->name};
    gr_place at = gr_place_at(doc->name, doc->text, v->offset);
    gr_buf b = {0};
    if (find_trail(&b, doc->root, v, NULL, 0) && !b.failed) at.pointer = gr_str_dup(a, gr_buf_view(&b));
    gr_buf_free(&b);
    return at;
}

/* ---- lookup and typed access ---- */

gr_value *gr_value_get_str(const gr_value *v, gr_str key) {
    if (!v || v->kind != GR_V_OBJECT) return NULL;
    for (uint32_t i = 0; i < v->object.n; i++)
        if (gr_str_eq(v->object.v[i].key, key)) return v->object.v[i].value;
    return NULL;
}

gr_value *gr_value_get(const gr_value *v, const char *key) { return gr_value_get_str(v, gr_str_of(key)); }

static const char *kind_words(const gr_value *v) {
    switch (v->kind) {
    case GR_V_NULL: return "null";
    case GR_V_BOOL: return "a boolean";
    case GR_V_INT:
    case GR_V_UINT: return "an integer";
    case GR_V_FLOAT: return "a float";
    case GR_V_STRING: return "a string";
    case GR_V_ARRAY: return "an array";
    case GR_V_OBJECT: return "a table of keys";
    case GR_V_DATETIME: return "a date or time";
    case GR_V_NONE: break;
    }
    return "nothing";
}

/* The member, or NULL with *ok saying whether that is fine (absent and not needed). */
static gr_value *fetch(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, bool *ok) {
    gr_value *v = gr_value_get(obj, key);
    *ok = v || !need;
    if (!*ok) {
        gr_report(d, GR_D_BASE_KEY_MISSING, gr_value_place(doc, obj, a), NULL, "the key \"%s\" is needed here", key);
        gr_report_hint(d, "add the key \"%s\"", key);
    }
    return v;
}

static bool wrong_type(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *v, const char *key, const char *want) {
    gr_report(d, GR_D_BASE_VALUE_TYPE, gr_value_place(doc, v, a), NULL, "\"%s\" is %s where %s is needed", key, kind_words(v), want);
    gr_report_hint(d, "write %s for \"%s\"", want, key);
    return false;
}

bool gr_value_str(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, gr_str *out) {
    bool ok;
    gr_value *v = fetch(a, d, doc, obj, key, need, &ok);
    if (!v) return ok;
    if (v->kind != GR_V_STRING) return wrong_type(a, d, doc, v, key, "a string");
    *out = v->s;
    return true;
}

bool gr_value_i64(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, int64_t *out) {
    bool ok;
    gr_value *v = fetch(a, d, doc, obj, key, need, &ok);
    if (!v) return ok;
    if (v->kind == GR_V_FLOAT && v->f >= -0x1p63 && v->f < 0x1p63 && (double)(int64_t)v->f == v->f) {
        *out = (int64_t)v->f;
        return true;
    }
    if (v->kind == GR_V_UINT) return wrong_type(a, d, doc, v, key, "an integer below 2^63");
    if (v->kind != GR_V_INT) return wrong_type(a, d, doc, v, key, "an integer");
    *out = v->i;
    return true;
}

bool gr_value_f64(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, double *out) {
    bool ok;
    gr_value *v = fetch(a, d, doc, obj, key, need, &ok);
    if (!v) return ok;
    if (v->kind == GR_V_FLOAT) *out = v->f;
    else if (v->kind == GR_V_INT) *out = (double)v->i;
    else if (v->kind == GR_V_UINT) *out = (double)v->u;
    else return wrong_type(a, d, doc, v, key, "a number");
    return true;
}

bool gr_value_bool(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, bool *out) {
    bool ok;
    gr_value *v = fetch(a, d, doc, obj, key, need, &ok);
    if (!v) return ok;
    if (v->kind != GR_V_BOOL) return wrong_type(a, d, doc, v, key, "true or false");
    *out = v->b;
    return true;
}

bool gr_value_object(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, gr_value **out) {
    bool ok;
    gr_value *v = fetch(a, d, doc, obj, key, need, &ok);
    if (!v) return ok;
    if (v->kind != GR_V_OBJECT) return wrong_type(a, d, doc, v, key, "a table of keys");
    *out = v;
    return true;
}

bool gr_value_array(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *key, bool need, gr_value **out) {
    bool ok;
    gr_value *v = fetch(a, d, doc, obj, key, need, &ok);
    if (!v) return ok;
    if (v->kind != GR_V_ARRAY) return wrong_type(a, d, doc, v, key, "an array");
    *out = v;
    return true;
}

static void unknown_key(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_member *m, const char *const *known) {
    gr_place at = gr_value_place(doc, m->value, a);
    gr_text_line_col(doc->text, m->offset, &at.line, &at.col);
    int shown = m->key.n > 80 ? 80 : (int)m->key.n;
    gr_report(d, GR_D_BASE_KEY_UNKNOWN, at, NULL, "the key \"%.*s\" is not known here", shown, m->key.p);
    const char *near = NULL;
    int best = 3;
    gr_buf all = {0};
    for (const char *const *k = known; *k; k++) {
        int far = gr_str_distance(m->key, gr_str_of(*k));
        if (far < best) {
            best = far;
            near = *k;
        }
        gr_buf_printf(&all, "%s%s", k == known ? "" : ", ", *k);
    }
    if (near) gr_report_hint(d, "did you mean \"%s\"?", near);
    else if (!all.failed) gr_report_hint(d, "the keys taken here are: %s", all.p ? all.p : "none");
    gr_buf_free(&all);
}

bool gr_value_known(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *obj, const char *const *known) {
    if (!obj || obj->kind != GR_V_OBJECT) return true;
    uint32_t bad = 0;
    for (uint32_t i = 0; i < obj->object.n && bad < GR_READER_ERRORS; i++) {
        bool found = false;
        for (const char *const *k = known; *k && !found; k++) found = gr_str_eqz(obj->object.v[i].key, *k);
        if (!found && ++bad) unknown_key(a, d, doc, &obj->object.v[i], known);
    }
    return bad == 0;
}

/* ---- building ---- */

gr_value *gr_value_new(gr_arena *a, gr_value_kind kind) {
    gr_value *v = GR_NEW(a, gr_value);
    if (v) v->kind = kind;
    return v;
}

gr_value *gr_value_new_str(gr_arena *a, gr_str s) {
    gr_value *v = gr_value_new(a, GR_V_STRING);
    if (!v) return NULL;
    v->s = gr_str_dup(a, s);
    return v->s.p ? v : NULL;
}

gr_value *gr_value_new_i64(gr_arena *a, int64_t i) {
    gr_value *v = gr_value_new(a, GR_V_INT);
    if (v) v->i = i;
    return v;
}

gr_value *gr_value_new_f64(gr_arena *a, double f) {
    gr_value *v = gr_value_new(a, GR_V_FLOAT);
    if (v) v->f = f;
    return v;
}

gr_value *gr_value_new_bool(gr_arena *a, bool b) {
    gr_value *v = gr_value_new(a, GR_V_BOOL);
    if (v) v->b = b;
    return v;
}

/* Room for one more at n. Capacity is implied: grown whenever n is 0 or a power of two >= 4,
 * so that the node itself stays small. Every node, parsed or built, grows through here. */
static void *room(gr_arena *a, void *v, uint32_t n, size_t size) {
    if (n && (n < 4 || (n & (n - 1)))) return v;
    if (n > UINT32_MAX / 2) return NULL;
    return gr_arena_grow(a, v, n, n ? (size_t)n * 2 : 4, size);
}

bool gr_value_add(gr_arena *a, gr_value *obj, gr_str key, gr_value *v, uint32_t offset) {
    gr_member *m = room(a, obj->object.v, obj->object.n, sizeof *m);
    if (!m) return false;
    obj->object.v = m;
    m[obj->object.n++] = (gr_member){key, v, offset};
    return true;
}

bool gr_value_set(gr_arena *a, gr_value *obj, const char *key, gr_value *v) {
    if (!v || !obj || obj->kind != GR_V_OBJECT) return false;
    gr_str k = gr_str_of(key);
    for (uint32_t i = 0; i < obj->object.n; i++)
        if (gr_str_eq(obj->object.v[i].key, k)) {
            obj->object.v[i].value = v;
            return true;
        }
    k = gr_str_dup(a, k);
    return k.p && gr_value_add(a, obj, k, v, 0);
}

bool gr_value_push(gr_arena *a, gr_value *array, gr_value *v) {
    if (!v || !array || array->kind != GR_V_ARRAY) return false;
    gr_value **p = room(a, array->array.v, array->array.n, sizeof *p);
    if (!p) return false;
    array->array.v = p;
    p[array->array.n++] = v;
    return true;
}

/* ---- equality ---- */

static bool is_number(const gr_value *v) { return v->kind == GR_V_INT || v->kind == GR_V_UINT || v->kind == GR_V_FLOAT; }

/* Exact: an integer equals a float only when the float is that integer. */
static bool number_equal(const gr_value *x, const gr_value *y) {
    if (x->kind == GR_V_FLOAT && y->kind == GR_V_FLOAT) return x->f == y->f || (x->f != x->f && y->f != y->f);
    if (x->kind == GR_V_FLOAT) {
        const gr_value *t = x;
        x = y;
        y = t;
    }
    if (y->kind != GR_V_FLOAT) {
        bool nx = x->kind == GR_V_INT && x->i < 0, ny = y->kind == GR_V_INT && y->i < 0;
        return nx == ny && (x->kind == GR_V_INT ? (uint64_t)x->i : x->u) == (y->kind == GR_V_INT ? (uint64_t)y->i : y->u);
    }
    if (x->kind == GR_V_INT) return y->f >= -0x1p63 && y->f < 0x1p63 && (int64_t)y->f == x->i && (double)(int64_t)y->f == y->f;
    return y->f >= 0 && y->f < 0x1p64 && (uint64_t)y->f == x->u && (double)(uint64_t)y->f == y->f;
}

static bool equal(const gr_value *x, const gr_value *y, int depth);

static bool object_equal(const gr_value *x, const gr_value *y, int depth) {
    if (x->object.n != y->object.n) return false;
    for (uint32_t i = 0; i < x->object.n; i++) {
        const gr_member *m = &x->object.v[i], *o = &y->object.v[i];
        const gr_value *other = gr_str_eq(m->key, o->key) ? o->value : gr_value_get_str(y, m->key);
        if (!other || !equal(m->value, other, depth + 1)) return false;
    }
    return true;
}

static bool equal(const gr_value *x, const gr_value *y, int depth) {
    if (x == y) return true;
    if (!x || !y || depth > 2 * GR_VALUE_DEPTH) return false;
    if (is_number(x) && is_number(y)) return number_equal(x, y);
    if (x->kind != y->kind) return false;
    if (x->kind == GR_V_BOOL) return x->b == y->b;
    if (x->kind == GR_V_STRING || x->kind == GR_V_DATETIME) return gr_str_eq(x->s, y->s);
    if (x->kind == GR_V_OBJECT) return object_equal(x, y, depth);
    if (x->kind != GR_V_ARRAY) return true;
    if (x->array.n != y->array.n) return false;
    for (uint32_t i = 0; i < x->array.n; i++)
        if (!equal(x->array.v[i], y->array.v[i], depth + 1)) return false;
    return true;
}

bool gr_value_equal(const gr_value *x, const gr_value *y) { return equal(x, y, 0); }
