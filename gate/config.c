#include "gate/config.h"

#include "base/file.h"
#include "gate/proc.h"

#include <stdlib.h>

enum { CONFIG_MAX = 16 << 20 };

static bool refused(gr_diags *d, gr_str file, const char *what, gr_str why) {
    while (why.n && (why.p[why.n - 1] == '\n' || why.p[why.n - 1] == ' ')) why.n--;
    return gr_report(d, GR_D_GATE_CONFIG_REFUSED, (gr_place){.document = file}, NULL, "%s: %.*s", what, (int)(why.n < 2000 ? why.n : 2000), why.p);
}

/* The printed configuration: member "config" or the whole. */
static bool read_printed(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_keys *out) {
    gr_doc doc;
    bool json = gate_is_json(text);
    GR_TRY((json ? gr_json_parse : gr_toml_parse)(a, d, name, text, &doc));
    const gr_value *config = gr_value_get(doc.root, "config");
    return gate_keys_of(a, d, config && config->kind == GR_V_OBJECT ? config : doc.root, out);
}

bool gate_config_resolve(gr_arena *a, gr_diags *d, gr_str file, const char *resolver, gate_keys *out) {
    gr_str text, printed, complaint;
    gr_doc doc;
    GR_TRY(gr_file_read(a, d, file, CONFIG_MAX, &text) && gr_toml_parse(a, d, file, text, &doc));
    if (!*resolver) return gate_keys_of(a, d, doc.root, out);
    char *path = gr_arena_strndup(a, file.p, file.n);
    const char *pairs[] = {"config", path};
    char *command = path ? gate_fill(a, resolver, pairs, 1) : NULL;
    if (!command) return gr_report_oom(d);
    if (!gate_capture_shell(a, command, &printed, &complaint)) return refused(d, file, command, complaint.n ? complaint : printed);
    GR_TRY(read_printed(a, d, gr_str_of(command), printed, out));
    return out->n || refused(d, file, command, GR_STR("it printed no configuration"));
}

/* Names that one side has and the other has not, or has with another value. */
typedef struct difference { gr_arena *a; GR_VEC(gate_flag) list; } difference;

static void compare(difference *x, const gate_keys *off, const gate_keys *on) {
    for (uint32_t i = 0; i < off->n; i++) {
        const gate_key *o = gate_keys_find(on, off->v[i].name);
        if (o && gr_str_eq(o->value, off->v[i].value)) continue;
        gate_flag *f = GR_PUSH(x->a, &x->list);
        if (f) *f = (gate_flag){off->v[i].name, off->v[i].value, o ? o->value : GR_STR("")};
    }
    for (uint32_t i = 0; i < on->n; i++) {
        if (gate_keys_find(off, on->v[i].name)) continue;
        gate_flag *f = GR_PUSH(x->a, &x->list);
        if (f) *f = (gate_flag){on->v[i].name, GR_STR(""), on->v[i].value};
    }
}

static bool among(const gr_str *v, uint32_t n, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eq(v[i], name)) return true;
    return false;
}

static bool differs(gr_diags *d, const difference *x, const char *what) {
    gr_buf b = {0};
    for (uint32_t i = 0; i < x->list.n && i < 20; i++) {
        const gate_flag *f = &x->list.v[i];
        gr_buf_printf(&b, "%s%.*s (%.*s -> %.*s)", i ? ", " : "", GR_STR_ARG(f->name), GR_STR_ARG(f->off.n ? f->off : GR_STR("absent")),
                      GR_STR_ARG(f->on.n ? f->on : GR_STR("absent")));
    }
    gr_report(d, GR_D_GATE_FLAGS_DIFFER, (gr_place){0}, "name every key that is meant to differ with --flag, and make the rest equal",
              "%s; the configurations differ in %u: %s", what, x->list.n, b.p ? b.p : "nothing");
    gr_buf_free(&b);
    return false;
}

bool gate_config_flags(gr_arena *a, gr_diags *d, const gate_keys *off, const gate_keys *on, const gr_str *named, uint32_t named_n,
                       gate_flag **out, uint32_t *n) {
    difference x = {.a = a};
    compare(&x, off, on);
    if (named_n == 0 && x.list.n != 1) return differs(d, &x, "exactly one key is to differ when no --flag names it");
    if (x.list.n > GATE_FLAGS_MAX) return differs(d, &x, "too many keys differ");
    for (uint32_t i = 0; i < x.list.n && named_n; i++)
        if (!among(named, named_n, x.list.v[i].name)) return differs(d, &x, gr_arena_printf(a, "%.*s differs and is not named", GR_STR_ARG(x.list.v[i].name)));
    for (uint32_t i = 0; i < named_n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < x.list.n; k++) found = found || gr_str_eq(x.list.v[k].name, named[i]);
        if (!found) return differs(d, &x, gr_arena_printf(a, "%.*s is named and does not differ", GR_STR_ARG(named[i])));
    }
    *out = x.list.v, *n = x.list.n;
    return true;
}
