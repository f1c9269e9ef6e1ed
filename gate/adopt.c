#include "gate/adopt.h"

#include "base/file.h"

#include <glob.h>

enum { SOURCE_MAX = 16 << 20 };

static bool word_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* Does `line` hold `word` with no word character beside it? */
static bool has_word(gr_str line, gr_str word) {
    for (size_t i = 0; word.n && i + word.n <= line.n; i++)
        if (memcmp(line.p + i, word.p, word.n) == 0 && (i == 0 || !word_char(line.p[i - 1])) && (i + word.n == line.n || !word_char(line.p[i + word.n])))
            return true;
    return false;
}

/* The last part of a dotted key, and a value without quotes: what sources write. */
static gr_str leaf(gr_str key) {
    size_t i = key.n;
    while (i && key.p[i - 1] != '.') i--;
    return (gr_str){key.p + i, key.n - i};
}
static gr_str bare(gr_str json) { return json.n >= 2 && json.p[0] == '"' ? (gr_str){json.p + 1, json.n - 2} : json; }

static void print_lines(gate_index *x, gr_str file, gr_str key, gr_str old, gr_buf *out) {
    gr_str text;
    if (!gr_file_read(x->a, x->d, file, SOURCE_MAX, &text)) return;
    uint32_t line = 1;
    for (size_t i = 0; i < text.n; line++) {
        const char *end = memchr(text.p + i, '\n', text.n - i);
        gr_str l = {text.p + i, end ? (size_t)(end - text.p) - i : text.n - i};
        i += l.n + 1;
        if (!has_word(l, leaf(key))) continue;
        while (l.n && (*l.p == ' ' || *l.p == '\t')) l.p++, l.n--;
        gr_buf_printf(out, "    %s %.*s:%u: %.*s\n", has_word(l, bare(old)) ? "change" : "look at", GR_STR_ARG(file), line, (int)(l.n < 160 ? l.n : 160), l.p);
    }
}

typedef void visit(gate_index *x, gr_str file, gr_str key, gr_str value, gr_buf *out);

static void each(gate_index *x, const gate_strs *patterns, visit *v, gr_str key, gr_str value, gr_buf *out) {
    for (uint32_t i = 0; i < patterns->n; i++) {
        glob_t g;
        if (glob(patterns->v[i].p, 0, NULL, &g) == 0) {
            for (size_t k = 0; k < g.gl_pathc; k++) v(x, gr_str_dup(x->a, gr_str_of(g.gl_pathv[k])), key, value, out);
            globfree(&g);
        }
    }
}

static void print_config(gate_index *x, gr_str file, gr_str key, gr_str value, gr_buf *out) {
    (void)value;
    gr_str text;
    gr_doc doc;
    gate_keys keys;
    if (!gr_file_read(x->a, x->d, file, SOURCE_MAX, &text) || !gr_toml_parse(x->a, x->d, file, text, &doc) || !gate_keys_of(x->a, x->d, doc.root, &keys)) return;
    const gate_key *k = gate_keys_find(&keys, key);
    if (k) gr_buf_printf(out, "    keeps %.*s: it sets %.*s\n", GR_STR_ARG(file), GR_STR_ARG(k->value));
    else gr_buf_printf(out, "    CHANGES SILENTLY %.*s: it leaves the key out\n", GR_STR_ARG(file));
}

bool gate_adopt(gate_index *x, gr_str id, gr_buf *out) {
    const gate_finding *f = gate_index_find(x, id);
    if (!f) return gr_report(x->d, GR_D_FINDINGS_LINK, (gr_place){.document = x->dir}, NULL, "there is no finding %.*s", GR_STR_ARG(id));
    gate_program *p = gate_index_program(x, f->program);
    if (!p) return gr_report(x->d, GR_D_FINDINGS_FIELD, (gr_place){.document = f->doc.name}, "programs.toml says where its defaults stand", "the finding names no known program");
    if (!f->decided.n) return gr_report(x->d, GR_D_FINDINGS_FIELD, (gr_place){.document = f->doc.name}, "a [default] table says what is to be the default", "the finding decides no default");
    GR_TRY(gate_program_read(x, p));
    for (uint32_t i = 0; i < f->decided.n; i++) {
        const gate_key *want = &f->decided.v[i], *now = gate_keys_find(&p->now, want->name);
        gr_str old = now ? now->value : (gr_str){"", 0};
        gr_buf_printf(out, "%.*s: %.*s -> %.*s%s\n", GR_STR_ARG(want->name), GR_STR_ARG(now ? old : GR_STR("absent")), GR_STR_ARG(want->value),
                      gr_str_eq(old, want->value) ? "  (it is the default already)" : "");
        gr_buf_puts(out, "  where the default stands\n");
        each(x, &p->sources, print_lines, want->name, old, out);
        gr_buf_puts(out, "  configurations\n");
        each(x, &p->configs, print_config, want->name, want->value, out);
    }
    return true;
}
