/* Loading a module: the list of stages, and small public look-ups. */
#include "wgsl/wgsl_int.h"

#include <stdarg.h>
#include <stdio.h>

/* Offset to line and column through a table of line starts, so that many reports stay cheap. */
static bool index_lines(gr_wgsl_front *f) {
    gr_str s = f->m->text;
    uint32_t n = 1;
    for (size_t i = 0; i < s.n; i++) n += s.p[i] == '\n';
    f->line = GR_NEW_N(f->arena, uint32_t, n);
    if (!f->line) return gr_wgsl_oom(f);
    f->line_n = 1;
    for (uint32_t i = 0; i < s.n; i++)
        if (s.p[i] == '\n') f->line[f->line_n++] = i + 1;
    return true;
}

gr_place gr_wgsl_where(const gr_wgsl_front *f, uint32_t offset) {
    gr_place at = {.document = f->m->name};
    uint32_t lo = 0, hi = f->line_n;
    if (!f->line_n || offset > f->m->text.n) return at;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->line[mid] <= offset) lo = mid;
        else hi = mid;
    }
    at.line = lo + 1;
    at.col = 1;
    for (uint32_t i = f->line[lo]; i < offset; i++) at.col += ((unsigned char)f->m->text.p[i] & 0xC0) != 0x80;
    return at;
}

bool gr_wgsl_error(gr_wgsl_front *f, gr_diag_name name, uint32_t offset, const char *hint, const char *fmt, ...) {
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    /* Places cost a walk along their line: a flood of errors gets only the document. */
    bool flood = f->diags->errors > f->first_errors + GR_DIAGS_MAX;
    return gr_report(f->diags, name, flood ? (gr_place){.document = f->m->name} : gr_wgsl_where(f, offset), hint, "%s",
                     text);
}

void gr_wgsl_related(gr_wgsl_front *f, uint32_t offset, const char *fmt, ...) {
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (f->diags->errors <= f->first_errors + GR_DIAGS_MAX)
        gr_report_related(f->diags, gr_wgsl_where(f, offset), "%s", text);
}

bool gr_wgsl_oom(gr_wgsl_front *f) {
    f->oom = true;
    return gr_report_oom(f->diags);
}

/* Re-bound aliases: the replacement type is lexed as a text of its own, its nodes get the place of the alias. */
static bool rebind(gr_wgsl_front *f, const gr_wgsl_rebind *r) {
    gr_wgsl_decl *d = NULL;
    for (uint32_t i = 0; i < f->m->decl_n; i++)
        if (f->m->decl[i]->kind == GR_WD_ALIAS && gr_str_eq(f->m->decl[i]->name, r->alias)) d = f->m->decl[i];
    if (!d)
        return gr_wgsl_error(f, GR_D_WGSL_UNRESOLVED, 0, NULL, "the module has no alias '%.*s' to re-bind",
                             GR_STR_ARG(r->alias));
    gr_str text = f->m->text;
    gr_wgsl_tok *tok = f->tok;
    uint32_t tok_n = f->tok_n, pos = f->pos;
    f->m->text = r->type;
    f->pos = 0;
    gr_wgsl_expr *e = gr_wgsl_lex(f) ? gr_wgsl_parse_type(f) : NULL;
    bool whole = e && gr_wgsl_is(f, GR_TK_EOF);
    f->m->text = text;
    f->tok = tok;
    f->tok_n = tok_n;
    f->pos = pos;
    if (!whole)
        return gr_wgsl_error(f, GR_D_WGSL_SYNTAX, d->offset, NULL, "'%.*s' is no type to re-bind '%.*s' to",
                             GR_STR_ARG(r->type), GR_STR_ARG(r->alias));
    for (uint32_t i = 0; i < e->ident.targ_n; i++) e->ident.targ[i]->offset = e->ident.targ[i]->end = d->offset;
    e->offset = e->end = d->offset;
    d->type_expr = e;
    return true;
}

static bool front_init(gr_wgsl_front *f, gr_arena *arena, gr_diags *d, gr_str name, gr_str text,
                       const gr_wgsl_options *opt) {
    *f = (gr_wgsl_front){.arena = arena, .diags = d, .opt = opt, .first_errors = d->errors};
    f->m = GR_NEW(arena, gr_wgsl_module);
    if (!f->m) return gr_wgsl_oom(f);
    *f->m = (gr_wgsl_module){.name = name, .text = text, .arena = arena};
    if (text.n > GR_WGSL_MAX_TEXT) {
        f->m->text.n = 0;
        return gr_wgsl_error(f, GR_D_WGSL_LIMIT, 0, NULL, "the text has %zu bytes, more than %d", text.n,
                             GR_WGSL_MAX_TEXT);
    }
    return index_lines(f) && gr_wgsl_types_init(f) && gr_wgsl_lex(f);
}

static bool run_checks(gr_wgsl_front *f) {
    gr_wgsl_decl **order = NULL;
    for (uint32_t i = 0; f->opt && i < f->opt->rebind_n; i++) GR_TRY(rebind(f, &f->opt->rebind[i]));
    bool ok = gr_wgsl_check_directives(f);
    ok &= gr_wgsl_resolve(f, &order);
    if (!ok && (f->oom || !order || f->diags->errors > f->first_errors)) return false;
    GR_TRY(gr_wgsl_check_module(f, order));
    GR_TRY(gr_wgsl_check_behaviour(f));
    GR_TRY(gr_wgsl_reflect(f));
    ok = gr_wgsl_check_alias(f);
    return gr_wgsl_check_uniformity(f) && ok;
}

gr_wgsl_module *gr_wgsl_load(gr_arena *arena, gr_diags *d, gr_str name, gr_str text, const gr_wgsl_options *opt) {
    gr_wgsl_front f;
    if (!front_init(&f, arena, d, name, text, opt) || !gr_wgsl_parse_module(&f) || !run_checks(&f)) {
        if (f.oom) gr_report_oom(d);
        return NULL;
    }
    return d->errors == f.first_errors ? f.m : NULL;
}

gr_wgsl_module *gr_wgsl_parse(gr_arena *arena, gr_diags *d, gr_str name, gr_str text) {
    gr_wgsl_front f;
    return front_init(&f, arena, d, name, text, NULL) && gr_wgsl_parse_module(&f) ? f.m : NULL;
}

gr_place gr_wgsl_place(const gr_wgsl_module *m, uint32_t offset) { return gr_place_at(m->name, m->text, offset); }

const gr_wgsl_entry *gr_wgsl_find_entry(const gr_wgsl_module *m, gr_str name) {
    for (uint32_t i = 0; i < m->entry_n; i++)
        if (gr_str_eq(m->entry[i].name, name)) return &m->entry[i];
    return NULL;
}

const gr_wgsl_decl *gr_wgsl_find_decl(const gr_wgsl_module *m, gr_str name) {
    for (uint32_t i = 0; i < m->decl_n; i++)
        if (gr_str_eq(m->decl[i]->name, name)) return m->decl[i];
    return NULL;
}
