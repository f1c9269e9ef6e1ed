/* gradus op check, show, publish; catalog --docs: an op as content. */
#include "cli.h"

#include <string.h>

/* Prints text, or the diagnostics as JSON where there is none. */
static int finish_text(gr_session *s, const cli_options *o, char *text) {
    if (text) fputs(text, stdout);
    else if (o->json) printf("{\"diagnostics\": %s}\n", gr_session_report(s, true));
    bool given = text != NULL;
    gr_text_free(text);
    int code = cli_finish(s, o);
    return code || given ? code : 2;
}

int cli_op_check(const cli_options *o) {
    if (o->arg_n < 2) return cli_usage(o, "op check takes op folders");
    cli_options with = *o;
    with.arg_n--;
    memmove(with.arg, o->arg + 1, with.arg_n * sizeof *with.arg);
    return cli_check(&with);
}

int cli_op_show(const cli_options *o) {
    if (o->arg_n != 2) return cli_usage(o, "op show takes an op's id or folder");
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    return finish_text(s, o, gr_op_show(s, o->arg[1], o->json));
}

int cli_op_publish(const cli_options *o) {
    bool publishable, shared = o->visibility && !strcmp(o->visibility, "shared");
    if (o->arg_n != 2) return cli_usage(o, "op publish takes an op's folder");
    if (!o->dry_run) return cli_usage(o, "op publish needs --dry-run: there is no place to publish to yet");
    if (o->visibility && !shared && strcmp(o->visibility, "public")) return cli_usage(o, "--visibility takes shared or public, not \"%s\"", o->visibility);
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    char *text = gr_op_publish(s, o->arg[1], !shared, o->json, &publishable);
    if (text && o->json) {
        printf("{\"publish\": %s, \"diagnostics\": %s}\n", text, gr_session_report(s, true));
        gr_text_free(text);
        return cli_finish(s, o);
    }
    return finish_text(s, o, text);
}

/* ---- pages ---------------------------------------------------------------------------- */

static bool write_page(const cli_options *o, gr_session *s, const char *name, const char *text) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s.md", o->docs, name) >= (int)sizeof path) return cli_complain(s, "the path is too long");
    return gr_text_save(s, path, text);
}

int cli_catalog_docs(const cli_options *o) {
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    bool ok = true;
    for (unsigned i = 0; ok && i < gr_catalog_size(s); i++) {
        char name[256];
        const char *id = gr_catalog_id(s, i);
        if (!strncmp(id, "user/", 5)) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(id, "@"), id);
        char *page = gr_op_page(s, id);
        ok = page && write_page(o, s, name, page);
        gr_text_free(page);
    }
    char *index = ok ? gr_catalog_page(s) : NULL;
    ok = index && write_page(o, s, "README", index);
    gr_text_free(index);
    if (!ok && o->json) printf("{\"diagnostics\": %s}\n", gr_session_report(s, true));
    int code = cli_finish(s, o);
    return code || ok ? code : 3;
}
