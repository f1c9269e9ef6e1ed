/* The findings of a folder, checked against one another, their runs and the programs' defaults. */
#include "gate/finding.h"

#include "base/file.h"
#include "gate/proc.h"

#include <stdlib.h>

enum { FINDING_MAX = 4 << 20, RUNS_LINE = 200 };

static gr_place at(const gate_finding *f) { return (gr_place){.document = f->doc.name}; }

gate_finding *gate_index_find(const gate_index *x, gr_str id) {
    for (uint32_t i = 0; i < x->n; i++)
        if (gr_str_eq(x->v[i].id, id)) return &x->v[i];
    return NULL;
}

gate_program *gate_index_program(const gate_index *x, gr_str name) {
    for (uint32_t i = 0; i < x->program_n; i++)
        if (gr_str_eq(x->programs[i].name, name)) return &x->programs[i];
    return NULL;
}

/* ---- loading ------------------------------------------------------------------------------------------------ */

static bool read_strs(gate_index *x, const gr_doc *doc, const gr_value *t, const char *key, gate_strs *out) {
    gr_value *list = NULL;
    GR_TRY(gr_value_array(x->a, x->d, doc, t, key, false, &list));
    out->v = GR_NEW_N(x->a, gr_str, list ? list->array.n : 0);
    if (!out->v) return gr_report_oom(x->d);
    for (uint32_t i = 0; list && i < list->array.n; i++) {
        if (list->array.v[i]->kind != GR_V_STRING)
            return gr_report(x->d, GR_D_FINDINGS_FIELD, gr_value_place(doc, list->array.v[i], x->a), NULL, "%s holds something else than paths", key);
        out->v[out->n] = gr_str_dup(x->a, list->array.v[i]->s);
        if (!out->v[out->n++].p) return gr_report_oom(x->d);
    }
    return true;
}

static bool load_programs(gate_index *x) {
    static const char *const known[] = {"defaults", "sources", "configs", NULL};
    gr_str file = gr_path_join(x->a, x->dir, GR_STR("programs.toml")), text;
    gr_doc doc;
    if (!gr_file_exists(file)) return true;
    GR_TRY(gr_file_read(x->a, x->d, file, FINDING_MAX, &text) && gr_toml_parse(x->a, x->d, file, text, &doc));
    x->programs = GR_NEW_N(x->a, gate_program, doc.root->object.n);
    if (!x->programs) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < doc.root->object.n; i++) {
        const gr_member *m = &doc.root->object.v[i];
        gate_program *p = &x->programs[x->program_n];
        gr_str command = {"", 0};
        if (m->value->kind != GR_V_OBJECT) return gr_report(x->d, GR_D_FINDINGS_FIELD, gr_value_place(&doc, m->value, x->a), NULL, "a program is a table");
        *p = (gate_program){.name = m->key};
        GR_TRY(gr_value_known(x->a, x->d, &doc, m->value, known) & gr_value_str(x->a, x->d, &doc, m->value, "defaults", false, &command) &
               read_strs(x, &doc, m->value, "sources", &p->sources) & read_strs(x, &doc, m->value, "configs", &p->configs));
        p->defaults = gr_str_dup(x->a, command);
        x->program_n++;
    }
    return true;
}

static bool load_one(gate_index *x, gr_str name) {
    gr_str file = gr_path_join(x->a, x->dir, name), text;
    gate_finding *f = &x->v[x->n];
    GR_TRY(gr_file_read(x->a, x->d, file, FINDING_MAX, &text) && gate_finding_parse(x->a, x->d, file, text, f));
    x->n++;
    if (f->id.n + 5 == name.n && memcmp(f->id.p, name.p, f->id.n) == 0) return true;
    return gr_report(x->d, GR_D_FINDINGS_FIELD, at(f), "the file is called ID.toml", "the id is %.*s", GR_STR_ARG(f->id));
}

bool gate_index_load(gate_index *x) {
    gr_str *names;
    uint32_t n;
    bool ok = load_programs(x);
    GR_TRY(gr_dir_list(x->a, x->d, x->dir, &names, &n));
    if (n > GATE_FINDINGS_MAX) return gr_report(x->d, GR_D_FINDINGS_FIELD, (gr_place){.document = x->dir}, NULL, "more than %d files", GATE_FINDINGS_MAX);
    x->v = GR_NEW_N(x->a, gate_finding, n);
    if (!x->v) return gr_report_oom(x->d);
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_ends(names[i], ".toml") && !gr_str_eqz(names[i], "programs.toml")) ok = load_one(x, names[i]) && ok;
    return ok;
}

bool gate_program_read(gate_index *x, gate_program *p) {
    gr_str out, err;
    gr_doc doc;
    if (p->known || !p->defaults.n) return true;
    p->known = true;
    if (!gate_capture_shell(x->a, p->defaults.p, &out, &err))
        return gr_report(x->d, GR_D_FINDINGS_PROGRAM, (gr_place){.document = x->dir}, NULL, "%.*s, which prints the defaults of %.*s, failed: %.*s",
                         GR_STR_ARG(p->defaults), GR_STR_ARG(p->name), (int)(err.n < RUNS_LINE ? err.n : RUNS_LINE), err.p);
    bool json = gate_is_json(out);
    GR_TRY((json ? gr_json_parse : gr_toml_parse)(x->a, x->d, p->defaults, out, &doc));
    const gr_value *config = gr_value_get(doc.root, "config");
    return gate_keys_of(x->a, x->d, config && config->kind == GR_V_OBJECT ? config : doc.root, &p->now);
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

bool gate_citation(gr_str text, size_t *from, size_t *end, gr_str *id, uint32_t *n) {
    for (size_t i = *from; i + 2 < text.n; i++) {
        if ((unsigned char)text.p[i] != 0xc2 || (unsigned char)text.p[i + 1] != 0xa7) continue; /* § */
        size_t k = i + 2, start = i;
        *n = 0;
        while (k < text.n && text.p[k] >= '0' && text.p[k] <= '9' && *n < 100000) *n = 10 * *n + (uint32_t)(text.p[k++] - '0');
        if (k == i + 2) continue;
        if (start > *from && text.p[start - 1] == ' ') start--;
        size_t word = start;
        while (word > *from && ((text.p[word - 1] >= 'a' && text.p[word - 1] <= 'z') || (text.p[word - 1] >= '0' && text.p[word - 1] <= '9') || text.p[word - 1] == '-')) word--;
        *id = (gr_str){text.p + word, start - word};
        *from = id->n ? word : i, *end = k;
        return true;
    }
    return false;
}

static bool link_ok(gate_index *x, const gate_finding *f, const char *field, gr_str id) {
    if (gr_str_eq(id, f->id)) return gr_report(x->d, GR_D_FINDINGS_LINK, at(f), NULL, "%s names the finding itself", field);
    if (gate_index_find(x, id)) return true;
    return gr_report(x->d, GR_D_FINDINGS_LINK, at(f), NULL, "%s names %.*s, which is no finding here", field, GR_STR_ARG(id));
}

/* "see §2" cites this finding; a word that is a finding's id cites that one. A word with a hyphen that is none is a broken link. */
static bool citations_ok(gate_index *x, const gate_finding *f, gr_str text) {
    size_t from = 0, end;
    gr_str id;
    uint32_t n;
    bool ok = true;
    for (; gate_citation(text, &from, &end, &id, &n); from = end) {
        const gate_finding *to = id.n ? gate_index_find(x, id) : f;
        if (!to && memchr(id.p, '-', id.n)) ok = gr_report(x->d, GR_D_FINDINGS_LINK, at(f), NULL, "%.*s §%u: there is no such finding", GR_STR_ARG(id), n);
        if (!to) to = f;
        if (n < 1 || n > to->section_n)
            ok = gr_report(x->d, GR_D_FINDINGS_LINK, at(f), NULL, "%.*s §%u: it has %u sections", GR_STR_ARG(to->id), n, to->section_n);
    }
    return ok;
}

static bool text_ok(gate_index *x, const gate_finding *f, gr_str text) {
    return gate_figures_check(x->d, f, text, at(f)) & citations_ok(x, f, text);
}

static bool texts_ok(gate_index *x, const gate_finding *f) {
    bool ok = text_ok(x, f, f->title) & text_ok(x, f, f->differs);
    for (uint32_t i = 0; i < f->section_n; i++) ok &= text_ok(x, f, f->sections[i].title) & text_ok(x, f, f->sections[i].text);
    for (uint32_t i = 0; i < f->point_n; i++) ok &= text_ok(x, f, f->points[i].text);
    return ok;
}

static bool links_ok(gate_index *x, const gate_finding *f) {
    bool ok = !f->follow_up_of.n || link_ok(x, f, "follow_up_of", f->follow_up_of);
    for (uint32_t i = 0; i < f->links.n; i++) ok &= link_ok(x, f, "links", f->links.v[i]);
    uint32_t steps = 0;
    for (const gate_finding *p = f; p && p->follow_up_of.n; p = gate_index_find(x, p->follow_up_of))
        if (steps++ > x->n) return gr_report(x->d, GR_D_FINDINGS_LINK, at(f), NULL, "follow_up_of goes round in a circle");
    return ok;
}

/* Does the finding decide that the default is what `on` was? */
static bool takes_on(const gate_finding *f) {
    for (uint32_t i = 0; i < f->decided.n; i++) {
        const gate_key *on = gate_keys_find(&f->on, f->decided.v[i].name), *off = gate_keys_find(&f->off, f->decided.v[i].name);
        if (on && gr_str_eq(on->value, f->decided.v[i].value) && (!off || !gr_str_eq(off->value, on->value))) return true;
    }
    return false;
}

static bool verdict_ok(gate_index *x, const gate_finding *f) {
    if (!f->pairs.n) return true;
    if (takes_on(f) && f->verdict.decision != GATE_ADOPT)
        return gr_report(x->d, GR_D_FINDINGS_VERDICT, at(f), NULL, "[default] takes the value of on, and its runs do not support an adoption");
    if (takes_on(f) && f->status == GATE_REJECTED)
        return gr_report(x->d, GR_D_FINDINGS_VERDICT, at(f), NULL, "a rejected finding cannot make the value of on the default");
    if (f->status == GATE_REJECTED && f->verdict.decision == GATE_ADOPT && !f->verdict.fragile)
        return gr_report(x->d, GR_D_FINDINGS_VERDICT, at(f), NULL, "the finding is rejected, and its runs say adopt");
    return true;
}

static bool touches_same(const gate_finding *f, const gate_finding *g) {
    for (uint32_t i = 0; i < f->config_paths.n; i++)
        if (gate_strs_has(&g->config_paths, f->config_paths.v[i])) return true;
    return false;
}

static bool repeats_ok(gate_index *x, const gate_finding *f) {
    for (uint32_t i = 0; i < x->n; i++) {
        const gate_finding *g = &x->v[i];
        if (g == f || g->status != GATE_REJECTED || !touches_same(f, g) || gr_str_cmp(g->date, f->date) > 0) continue;
        if (gr_str_cmp(g->date, f->date) == 0 && gr_str_cmp(g->id, f->id) > 0) continue;
        if (f->differs.n || gr_str_eq(f->follow_up_of, g->id)) continue;
        return gr_report(x->d, GR_D_FINDINGS_REPEATS, at(f), "say in differs why this one is another case, or make it follow_up_of that one",
                         "it touches what %.*s touched, which was rejected", GR_STR_ARG(g->id));
    }
    return true;
}

const gate_finding *gate_index_deciding(const gate_index *x, gr_str program, gr_str key) {
    const gate_finding *best = NULL;
    for (uint32_t i = 0; i < x->n; i++) {
        const gate_finding *f = &x->v[i];
        if (!gr_str_eq(f->program, program) || !gate_keys_find(&f->decided, key)) continue;
        if (!best || gr_str_cmp(f->date, best->date) >= 0) best = f;
    }
    return best;
}

static bool defaults_ok(gate_index *x, const gate_finding *f, const gate_program *p) {
    bool ok = true;
    for (uint32_t i = 0; i < f->decided.n; i++) {
        const gate_key *want = &f->decided.v[i], *now = gate_keys_find(&p->now, want->name);
        if (gate_index_deciding(x, f->program, want->name) != f || (now && gr_str_eq(now->value, want->value))) continue;
        gr_str has = now ? now->value : GR_STR("no such key");
        ok = gr_report(x->d, GR_D_FINDINGS_DEFAULT, at(f), "gradus gate --adopt prints every place to change",
                       "%.*s decided that %.*s is %.*s by default, and %.*s has %.*s", GR_STR_ARG(f->id), GR_STR_ARG(want->name), GR_STR_ARG(want->value),
                       GR_STR_ARG(p->name), GR_STR_ARG(has));
    }
    return ok;
}

/* Keys that off left at the default of its day, which is another one today. What the finding itself decided is no surprise. */
static void baseline(gate_index *x, gate_finding *f, const gate_program *p) {
    gr_buf b = {0};
    for (uint32_t i = 0; i < f->defaults.n; i++) {
        const gate_key *then = &f->defaults.v[i], *now = gate_keys_find(&p->now, then->name), *off = gate_keys_find(&f->off, then->name);
        bool same = now && gr_str_eq(now->value, then->value), kept = off && gr_str_eq(off->value, then->value);
        if (same || !kept || gate_keys_find(&f->decided, then->name)) continue;
        gr_str is = now ? now->value : GR_STR("gone");
        gr_buf_printf(&b, "%s%.*s was %.*s and is %.*s", b.n ? ", " : "", GR_STR_ARG(then->name), GR_STR_ARG(then->value), GR_STR_ARG(is));
    }
    f->stale = b.n ? gr_str_dup(x->a, gr_buf_view(&b)) : (gr_str){"", 0};
    if (f->stale.n)
        gr_report(x->d, GR_D_FINDINGS_STALE, at(f), "measure again before comparing with it", "the baseline is not comparable any more: %.*s", GR_STR_ARG(f->stale));
    gr_buf_free(&b);
}

bool gate_index_check(gate_index *x) {
    bool ok = true;
    for (uint32_t i = 0; i < x->n; i++) {
        gate_finding *f = &x->v[i];
        gate_program *p = gate_index_program(x, f->program);
        ok &= links_ok(x, f) & texts_ok(x, f) & verdict_ok(x, f) & repeats_ok(x, f);
        if (f->program.n && !p) ok = gr_report(x->d, GR_D_FINDINGS_FIELD, at(f), "add it to programs.toml", "there is no program %.*s", GR_STR_ARG(f->program));
        if (!p || !p->defaults.n) continue;
        if (!gate_program_read(x, p)) ok = false;
        else ok &= defaults_ok(x, f, p), baseline(x, f, p);
    }
    return ok;
}
