#include "wgsl/subscript.h"

#include <string.h>

static bool word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 128; }
static bool word_char(char c) { return word_start(c) || (c >= '0' && c <= '9'); }

/* A word (a number too), a comment, white space or one byte from *at on. */
static gr_str token(gr_str s, size_t *at) {
    size_t from = *at, i = from + 1;
    char c = s.p[from], next = from + 1 < s.n ? s.p[from + 1] : 0;
    if (c == '/' && next == '/') {
        while (i < s.n && s.p[i] != '\n') i++;
    } else if (c == '/' && next == '*') {
        for (i = from + 2; i + 1 < s.n && !(s.p[i] == '*' && s.p[i + 1] == '/');) i++;
        i = i + 2 > s.n ? s.n : i + 2;
    } else if (word_char(c)) {
        while (i < s.n && word_char(s.p[i])) i++;
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t' || s.p[i] == '\r')) i++;
    }
    *at = i;
    return (gr_str){s.p + from, i - from};
}

static bool is_blank(gr_str t) { return t.p[0] == ' ' || t.p[0] == '\n' || t.p[0] == '\t' || t.p[0] == '\r' || (t.n > 1 && t.p[0] == '/'); }

/* The first byte after blanks and comments. */
static char follows(gr_str s, size_t at) {
    while (at < s.n) {
        gr_str t = token(s, &at);
        if (!is_blank(t)) return t.p[0];
    }
    return 0;
}

typedef struct walk {
    gr_str s;
    size_t at, item; /* item: where the module-scope item begins */
    int depth;
    bool begun;      /* the item */
    char before;     /* the token before */
} walk;

/* The next token that is not blank; keeps depth and item up to date. */
static bool step(walk *w, gr_str *t) {
    while (w->at < w->s.n) {
        size_t from = w->at;
        *t = token(w->s, &w->at);
        if (is_blank(*t)) continue;
        if (!w->begun) w->item = from;
        w->begun = true;
        if (t->p[0] == '{') w->depth++;
        if (t->p[0] == '}') w->depth--;
        if (w->depth == 0 && (t->p[0] == '}' || t->p[0] == ';')) w->begun = false;
        return true;
    }
    return false;
}

/* The token is the name of the variable where it is declared. */
static bool is_declaration(const walk *w) { return w->depth == 0 && w->before == '>' && follows(w->s, w->at) == ':'; }

bool gr_wgsl_only_subscripted(gr_str text, gr_str name) {
    walk w = {.s = text};
    gr_str t;
    uint32_t declared = 0;
    for (; step(&w, &t); w.before = t.p[t.n - 1]) {
        if (!gr_str_eq(t, name) || w.before == '.') continue;
        if (is_declaration(&w)) declared++;
        else if (follows(text, w.at) != '[' || w.before == '&') return false;
    }
    return declared == 1;
}

void gr_wgsl_put_subscripts(gr_buf *out, gr_str text, gr_str name, gr_str function) {
    enum { NESTED = 64 };
    bool call[NESTED] = {false};
    uint32_t open = 0;
    size_t done = 0;
    walk w = {.s = text};
    gr_str t;
    for (; step(&w, &t); w.before = t.p[t.n - 1]) {
        size_t from = (size_t)(t.p - text.p);
        if (gr_str_eq(t, name) && w.before != '.') {
            bool declaration = is_declaration(&w);
            gr_buf_put(out, text.p + done, (declaration ? w.item : from) - done);
            if (!declaration) gr_buf_str(out, function);
            while (step(&w, &t) && t.p[0] != (declaration ? ';' : '[')) {}
            if (!declaration) gr_buf_putc(out, '(');
            if (!declaration && open < NESTED) call[open] = true;
            if (!declaration) open++;
            done = w.at;
        } else if (t.p[0] == '[') {
            if (open < NESTED) call[open] = false;
            open++;
        } else if (t.p[0] == ']' && open) {
            open--;
            if (open >= NESTED || !call[open]) continue;
            gr_buf_put(out, text.p + done, from - done);
            gr_buf_putc(out, ')');
            done = w.at;
        }
    }
    gr_buf_put(out, text.p + done, text.n - done);
}
