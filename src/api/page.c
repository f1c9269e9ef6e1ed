/* page.c: one page of Markdown an op, made of its content: what it takes and gives, a run of its example, its receipt. */
#include "api/receipt.h"

#include "base/file.h"
#include "regime/publish.h"

typedef struct page {
    gr_session *s;
    gr_arena *a;
    const gr_op *op;
    gr_buf *b;
} page;

/* A cell of a table: no line breaks, bars escaped. */
static void put_cell(gr_buf *b, gr_str s) {
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '|') gr_buf_puts(b, "\\|");
        else gr_buf_putc(b, s.p[i] == '\n' ? ' ' : s.p[i]);
    }
}

static void row(page *p, const char *key, gr_str value) {
    if (!value.n) return;
    gr_buf_printf(p->b, "| %s | ", key);
    put_cell(p->b, value);
    gr_buf_puts(p->b, " |\n");
}

static gr_str joined(page *p, const gr_str *list, uint32_t n) {
    gr_buf t = {0};
    for (uint32_t i = 0; i < n; i++) gr_buf_printf(&t, "%s%.*s", i ? ", " : "", GR_STR_ARG(list[i]));
    gr_str s = gr_str_dup(p->a, gr_buf_view(&t));
    gr_buf_free(&t);
    return s;
}

/* ---- the signature in parts ---------------------------------------------------------- */

/* A declaration from its offset to the comma, semicolon or parenthesis that ends it; a `..` or `..=` is part of it. */
static gr_str declaration(const gr_sig *s, uint32_t offset) {
    size_t i = offset;
    int depth = 0;
    for (; i < s->text.n; i++) {
        char c = s->text.p[i];
        if (c == '(' || c == '[') depth++;
        if ((c == ')' || c == ']') && depth-- == 0) break;
        if ((c == ',' || c == ';') && depth == 0) break;
    }
    while (i > offset && (s->text.p[i - 1] == ' ' || s->text.p[i - 1] == '\n')) i--;
    return (gr_str){s->text.p + offset, i - offset};
}

static gr_str trimmed(gr_str s) {
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\n')) s = (gr_str){s.p + 1, s.n - 1};
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\n')) s.n--;
    return s;
}

/* What stands after the separator, and *before it; the whole text is before when there is none. A word is found between blanks. */
static gr_str cut(gr_str s, const char *separator, gr_str *before) {
    size_t n = strlen(separator);
    for (size_t i = 0; i + n <= s.n; i++) {
        if (memcmp(s.p + i, separator, n)) continue;
        *before = trimmed((gr_str){s.p, i});
        return trimmed((gr_str){s.p + i + n, s.n - i - n});
    }
    *before = trimmed(s);
    return (gr_str){0};
}

static void put_parameters(page *p) {
    const gr_sig *s = &p->op->sig;
    if (!s->params_n) return;
    gr_buf_puts(p->b, "\n## Parameters\n\n| name | type | range | default |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < s->params_n; i++) {
        gr_str name, type, range, rest = cut(declaration(s, s->params[i].offset), ":", &name);
        gr_str def = cut(rest, " = ", &type);
        range = cut(type, " in ", &type);
        gr_buf_printf(p->b, "| `%.*s` | ", GR_STR_ARG(s->params[i].name));
        put_cell(p->b, type);
        gr_buf_puts(p->b, " | ");
        put_cell(p->b, range);
        gr_buf_puts(p->b, " | ");
        put_cell(p->b, def.n ? def : GR_STR("must be given"));
        gr_buf_puts(p->b, " |\n");
    }
}

/* ---- facts ---------------------------------------------------------------------------- */

static gr_str backward_text(page *p) {
    static const char *const forms[] = {"unset", "derived from the body", "declared", "none"};
    const gr_backward *w = &p->op->backward;
    gr_buf t = {0};
    gr_buf_puts(&t, forms[w->form]);
    if (w->reason.n) gr_buf_printf(&t, ": %.*s", GR_STR_ARG(w->reason));
    if (w->saves_n) gr_buf_printf(&t, "; saves %.*s", GR_STR_ARG(joined(p, w->saves, w->saves_n)));
    if (w->stops_n) gr_buf_printf(&t, "; no gradient for %.*s", GR_STR_ARG(joined(p, w->stops, w->stops_n)));
    if (w->convention.n) gr_buf_printf(&t, "; %.*s", GR_STR_ARG(w->convention));
    gr_str s = gr_str_dup(p->a, gr_buf_view(&t));
    gr_buf_free(&t);
    return s;
}

static gr_str kernels_text(page *p) {
    gr_buf t = {0};
    for (uint32_t i = 0; i < p->op->kernels_n; i++) {
        const gr_kernel_decl *k = &p->op->kernels[i];
        gr_buf_printf(&t, "%s`%.*s`%s", i ? ", " : "", GR_STR_ARG(k->file), k->order == GR_ORDER_UNORDERED ? " (unordered)" : "");
        if (k->requires_n) gr_buf_printf(&t, " (needs %.*s)", GR_STR_ARG(joined(p, k->requires_, k->requires_n)));
    }
    if (!t.n) gr_buf_puts(&t, p->op->body == GR_BODY_MAP ? "generated from the map" : "those of its graph");
    gr_str s = gr_str_dup(p->a, gr_buf_view(&t));
    gr_buf_free(&t);
    return s;
}

/* An operator that rules bring in, once however many rules it has. */
static void put_operator(gr_buf *b, const gr_op *op, uint32_t i) {
    gr_str name = op->imports[i].shell.sig.name;
    for (uint32_t k = 0; k < i; k++)
        if (gr_str_eq(op->imports[k].shell.sig.name, name)) return;
    gr_buf_printf(b, "%s`%.*s`", i ? " " : "", GR_STR_ARG(name));
}

static gr_str imports_text(page *p) {
    const gr_value *t = p->op->import_;
    gr_buf b = {0};
    for (uint32_t i = 0; t && i < t->object.n; i++) {
        const gr_value *v = t->object.v[i].value;
        gr_buf_printf(&b, "%s%.*s ", b.n ? ", " : "", GR_STR_ARG(t->object.v[i].key));
        if (v->kind == GR_V_STRING) gr_buf_printf(&b, "`%.*s`", GR_STR_ARG(v->s));
        for (uint32_t k = 0; v->kind == GR_V_ARRAY && k < p->op->imports_n; k++) put_operator(&b, p->op, k);
    }
    gr_str s = gr_str_dup(p->a, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

static void put_facts(page *p) {
    static const char *const bodies[] = {"none", "a map: one expression an element", "a graph of other ops", "WGSL", "a contract only"};
    const gr_op *op = p->op;
    gr_buf_puts(p->b, "| | |\n|---|---|\n");
    row(p, "id", op->id);
    row(p, "category", gr_str_of(gr_category_name(op->category)));
    row(p, "class", gr_str_of(gr_tolerance_name(op->tolerance)));
    row(p, "because", op->tolerance_reason);
    row(p, "reference", gr_str_of(bodies[op->body]));
    row(p, "kernels", kernels_text(p));
    row(p, "backward", backward_text(p));
    if (op->role) row(p, "role", gr_str_of(gr_role_name(op->role)));
    row(p, "import", imports_text(p));
    row(p, "tags", joined(p, op->tags, op->tags_n));
    row(p, "author", op->author);
    row(p, "licence", op->license);
}

/* ---- the example, run --------------------------------------------------------------------- */

static uint64_t put_nested(gr_buf *b, const gr_array *x, uint32_t depth, uint64_t at) {
    if (depth == x->rank) {
        gr_array_print_element(b, x, at);
        return at + 1;
    }
    gr_buf_putc(b, '[');
    for (uint64_t i = 0; i < x->dims[depth]; i++) {
        if (i) gr_buf_puts(b, ", ");
        at = put_nested(b, x, depth + 1, at);
    }
    gr_buf_putc(b, ']');
    return at;
}

static void put_tensors(page *p, const gr_example_tensor *t, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        gr_buf_printf(p->b, "%.*s = ", GR_STR_ARG(t[i].name));
        if (gr_array_count(&t[i].array) <= 256) put_nested(p->b, &t[i].array, 0, 0);
        else gr_buf_puts(p->b, "...");
        gr_buf_puts(p->b, "   # ");
        gr_array_print_type(p->b, &t[i].array);
        gr_buf_putc(p->b, '\n');
    }
}

static bool put_example(page *p) {
    gr_example e;
    if (!p->op->example) return true;
    GR_TRY(gr_example_run(p->a, &p->s->diags, p->s->catalog, p->op, &e));
    gr_buf_puts(p->b, "\n## Example\n\nRun on the CPU oracle when this page was made.\n\n```text\n");
    put_tensors(p, e.in, e.in_n);
    for (uint32_t i = 0; e.params && i < e.params->object.n; i++) {
        gr_buf_printf(p->b, "%.*s = ", GR_STR_ARG(e.params->object.v[i].key));
        if (!gr_json_canonical(p->b, e.params->object.v[i].value)) gr_buf_puts(p->b, "...");
        gr_buf_putc(p->b, '\n');
    }
    gr_buf_putc(p->b, '\n');
    put_tensors(p, e.out, e.out_n);
    gr_buf_puts(p->b, "```\n");
    return true;
}

/* ---- receipts and references ------------------------------------------------------------------ */

static const gr_value *at(const gr_value *v, const char *a, const char *b, const char *c) {
    v = v ? gr_value_get(v, a) : NULL;
    if (v && b) v = gr_value_get(v, b);
    return v && c ? gr_value_get(v, c) : v;
}

static bool put_receipts(page *p) {
    gr_value *list;
    gr_trust trust;
    GR_TRY(gr_op_trust(p->s, p->a, p->op, &list, &trust));
    gr_buf_puts(p->b, "\n## Receipts\n\n");
    if (!list->array.n) gr_buf_puts(p->b, "None.\n");
    else gr_buf_puts(p->b, "| adapter | suite | cases | elements passed | worst, of the tolerance | gradcheck |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < list->array.n; i++) {
        const gr_value *r = list->array.v[i], *adapter = gr_value_get(r, "adapter"), *worst = at(r, "result", "worst_over_bound", NULL);
        const gr_value *passed = at(r, "result", "counts", "passed"), *grad = at(r, "result", "gradcheck", NULL);
        if (!adapter || !worst || !passed) continue;
        gr_buf_puts(p->b, "| ");
        put_cell(p->b, adapter->s);
        gr_buf_printf(p->b, " | %.*s | %lld | %lld | ", GR_STR_ARG(gr_value_get(r, "suite")->s), (long long)gr_value_get(r, "cases")->i, (long long)passed->i);
        gr_buf_f64(p->b, worst->kind == GR_V_FLOAT ? (double)(int64_t)(worst->f * 1000 + 0.5) / 1000 : (double)worst->i);
        gr_buf_printf(p->b, " | %s |\n", grad && grad->kind != GR_V_NULL ? "passed" : "none");
    }
    return true;
}

static bool put_page(page *p) {
    const gr_op *op = p->op;
    gr_buf_printf(p->b, "<!-- Made by tools/gen-docs from the content of %.*s; `make docs` makes it anew. -->\n\n# %.*s\n\n%.*s\n", GR_STR_ARG(op->id),
                  GR_STR_ARG(op->name), GR_STR_ARG(op->summary));
    if (op->description.n) gr_buf_printf(p->b, "%.*s\n", GR_STR_ARG(op->description));
    gr_buf_puts(p->b, "\n```text\n");
    gr_buf_str(p->b, trimmed(op->sig.text));
    gr_buf_puts(p->b, "\n```\n\n");
    put_facts(p);
    put_parameters(p);
    GR_TRY(put_example(p) && put_receipts(p));
    if (op->references_n) gr_buf_puts(p->b, "\n## References\n\n");
    for (uint32_t i = 0; i < op->references_n; i++) gr_buf_printf(p->b, "- %.*s\n", GR_STR_ARG(op->references[i]));
    return true;
}

char *gr_op_page(gr_session *s, const char *what) {
    gr_arena a = {0};
    gr_buf b = {0};
    page p = {s, &a, gr_session_op(s, gr_str_of(what)), &b};
    bool ok = p.op && put_page(&p);
    gr_arena_free(&a);
    return gr_text_take(s, &b, ok);
}

/* ---- the index ------------------------------------------------------------------------------------ */

typedef struct tag_list { gr_str name; GR_VEC(const gr_op *) ops; } tag_list;
typedef GR_VEC(tag_list) tag_lists;

static tag_list *tag_of(gr_arena *a, tag_lists *tags, gr_str name) {
    uint32_t at = 0;
    while (at < tags->n && gr_str_cmp(tags->v[at].name, name) < 0) at++;
    if (at < tags->n && gr_str_eq(tags->v[at].name, name)) return &tags->v[at];
    tag_list *last = GR_PUSH(a, tags);
    if (!last) return NULL;
    memmove(tags->v + at + 1, tags->v + at, (tags->n - 1 - at) * sizeof *tags->v);
    tags->v[at] = (tag_list){.name = name};
    return &tags->v[at];
}

char *gr_catalog_page(gr_session *s) {
    gr_arena a = {0};
    gr_buf b = {0};
    tag_lists tags = {0};
    bool ok = true;
    gr_buf_puts(&b, "<!-- Made by tools/gen-docs from the content of catalog/; `make docs` makes it anew. -->\n\n# The ops\n\n| op | summary |\n|---|---|\n");
    for (uint32_t i = 0; ok && i < gr_catalog_count(s->catalog); i++) {
        const gr_op *op = gr_catalog_at(s->catalog, i);
        if (gr_str_starts(op->id, "user/")) continue;
        gr_buf_printf(&b, "| [%.*s](%.*s.md) | ", GR_STR_ARG(op->name), GR_STR_ARG(op->name));
        put_cell(&b, op->summary);
        gr_buf_puts(&b, " |\n");
        for (uint32_t k = 0; ok && k < op->tags_n; k++) {
            tag_list *t = tag_of(&a, &tags, op->tags[k]);
            const gr_op **slot = t ? GR_PUSH(&a, &t->ops) : NULL;
            ok = slot != NULL;
            if (slot) *slot = op;
        }
    }
    gr_buf_puts(&b, "\n## By tag\n\n");
    for (uint32_t i = 0; i < tags.n; i++) {
        gr_buf_printf(&b, "- **%.*s**:", GR_STR_ARG(tags.v[i].name));
        for (uint32_t k = 0; k < tags.v[i].ops.n; k++) {
            gr_str name = tags.v[i].ops.v[k]->name;
            gr_buf_printf(&b, "%s[%.*s](%.*s.md)", k ? ", " : " ", GR_STR_ARG(name), GR_STR_ARG(name));
        }
        gr_buf_putc(&b, '\n');
    }
    gr_arena_free(&a);
    if (!ok) gr_report_oom(&s->diags);
    return gr_text_take(s, &b, ok);
}
