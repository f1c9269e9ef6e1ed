/* survivors.c: see survivors.h. */
#include "survivors.h"

#include <string.h>

static bool cut_at(gr_str *rest, char c, gr_str *head) {
    const char *p = rest->n ? memchr(rest->p, c, rest->n) : NULL;
    if (!p) return false;
    *head = (gr_str){rest->p, (size_t)(p - rest->p)};
    *rest = (gr_str){p + 1, rest->n - head->n - 1};
    return true;
}

bool mutant_key_read(gr_str text, mutant_key *k) {
    k->change = text;
    return cut_at(&k->change, ' ', &k->op) && cut_at(&k->change, ' ', &k->file) && cut_at(&k->change, ' ', &k->kind) &&
           cut_at(&k->change, ' ', &k->place) && k->change.n > 0;
}

static bool read_line(gr_str line, survivor *x) {
    gr_str mark, key;
    if (!cut_at(&line, '\t', &mark) || !cut_at(&line, '\t', &key) || line.n == 0) return false;
    x->mark = gr_str_eqz(mark, "=") ? SURVIVOR_EQUAL : gr_str_eqz(mark, "!") ? SURVIVOR_HOLE : SURVIVOR_NONE;
    x->reason = line;
    return x->mark != SURVIVOR_NONE && mutant_key_read(key, &x->key);
}

bool survivors_read(gr_arena *a, gr_str text, survivors *out, uint32_t *bad) {
    gr_str rest = text, line;
    *bad = 0;
    for (uint32_t n = 1; cut_at(&rest, '\n', &line); n++) {
        survivor x = {.line = n};
        if (line.n == 0 || line.p[0] == '#') continue;
        if (!read_line(line, &x)) {
            if (*bad == 0) *bad = n;
            continue;
        }
        survivor *fresh = GR_PUSH(a, out);
        if (!fresh) return false;
        *fresh = x;
    }
    return true;
}

static bool matches(gr_str entry, gr_str is) { return gr_str_eqz(entry, "any") || gr_str_eq(entry, is); }

/* "1.24": which of the equal lines, and the column; "any.24": each of them. */
static bool same_place(gr_str entry, gr_str is) {
    gr_str line, of;
    if (!gr_str_starts(entry, "any.")) return matches(entry, is);
    return cut_at(&entry, '.', &line) && cut_at(&is, '.', &of) && gr_str_eq(entry, is);
}

survivor *survivors_find(survivors *s, const mutant_key *k) {
    for (uint32_t i = 0; i < s->n; i++) {
        const mutant_key *e = &s->v[i].key;
        if (!matches(e->op, k->op) || !matches(e->file, k->file) || !gr_str_eq(e->kind, k->kind) || !same_place(e->place, k->place) || !gr_str_eq(e->change, k->change)) continue;
        s->v[i].met++;
        return &s->v[i];
    }
    return NULL;
}
