/* The options --gradient, --cotangent and --wrt, and files that are given for inputs. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

bool cli_pair(const char *text, char **name, const char **rest) {
    const char *eq = strchr(text, '=');
    *name = eq && eq != text ? strndup(text, (size_t)(eq - text)) : NULL;
    *rest = eq ? eq + 1 : NULL;
    return *name && **rest;
}

static bool add(const cli_options *o, cli_gradient *g, const char **list, unsigned *n, char *text) {
    if (!text || g->owned_n == CLI_LIST_MAX || *n == CLI_LIST_MAX) {
        free(text);
        return cli_usage(o, "too many names for the gradient") == 0;
    }
    g->owned[g->owned_n++] = text;
    list[(*n)++] = text;
    return true;
}

/* "a,b" into its names. */
static bool add_names(const cli_options *o, cli_gradient *g, const char *text) {
    while (*text) {
        size_t n = strcspn(text, ",");
        if (n && !add(o, g, g->wrt, &g->wrt_n, strndup(text, n))) return false;
        text += n + (text[n] == ',');
    }
    return true;
}

static bool has(const char *const *list, unsigned n, const char *name) {
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(list[i], name)) return true;
    return false;
}

bool cli_gradient_read(const cli_options *o, cli_gradient *g) {
    *g = (cli_gradient){0};
    for (unsigned i = 0; i < o->gradient_n; i++)
        if (!add(o, g, g->gradient, &g->gradient_n, strdup(o->gradient[i]))) return false;
    for (unsigned i = 0; i < o->cotangent_n; i++) {
        char *name;
        const char *path;
        if (!cli_pair(o->cotangent[i], &name, &path)) {
            free(name);
            return cli_usage(o, "--cotangent takes OUTPUT=FILE, not \"%s\"", o->cotangent[i]) == 0;
        }
        g->file[g->cotangent_n] = path;
        if (!add(o, g, g->cotangent, &g->cotangent_n, name)) return false;
        if (!has(g->gradient, g->gradient_n, name) && !add(o, g, g->gradient, &g->gradient_n, strdup(name))) return false;
    }
    for (unsigned i = 0; i < o->wrt_n; i++)
        if (!add_names(o, g, o->wrt[i])) return false;
    if (g->wrt_n && !g->gradient_n) return cli_usage(o, "--wrt says by what: say of what with --gradient OUTPUT") == 0;
    return true;
}

void cli_gradient_free(cli_gradient *g) {
    for (unsigned i = 0; i < g->owned_n; i++) free(g->owned[i]);
    g->owned_n = 0;
}

void cli_gradient_desc(const cli_gradient *g, gr_compile_desc *d) {
    d->gradient = g->gradient;
    d->gradient_n = g->gradient_n;
    d->cotangent = g->cotangent;
    d->cotangent_n = g->cotangent_n;
    d->wrt = g->wrt;
    d->wrt_n = g->wrt_n;
}

/* The file's tensor into the input of that name. */
static bool write_input(gr_session *s, gr_program *p, gr_prepared *r, const char *name, const char *path) {
    gr_tensor t;
    if (!gr_tensor_load(s, path, &t)) return false;
    bool ok = false, found = false;
    for (unsigned i = 0; i < gr_program_inputs(p) && !found; i++) {
        found = !strcmp(gr_program_input_name(p, i), name);
        if (found) ok = gr_write(r, i, &t);
    }
    gr_tensor_free(&t);
    if (!found) cli_complain(s, "there is no input \"%s\" for %s", name, path);
    return ok;
}

bool cli_gradient_write(const cli_gradient *g, gr_session *s, gr_program *p, gr_prepared *r) {
    for (unsigned i = 0; i < g->cotangent_n; i++) {
        char name[512];
        snprintf(name, sizeof name, "d_%s", g->cotangent[i]);
        if (!write_input(s, p, r, name, g->file[i])) return false;
    }
    return true;
}

bool cli_inputs_write(const cli_options *o, gr_session *s, gr_program *p, gr_prepared *r) {
    for (unsigned i = 0; i < o->in_n; i++) {
        char *name;
        const char *path;
        bool ok = cli_pair(o->in[i], &name, &path) || cli_complain(s, "--in takes NAME=FILE, not \"%s\"", o->in[i]);
        ok = ok && write_input(s, p, r, name, path);
        free(name);
        if (!ok) return false;
    }
    return true;
}
