/* gradus data: what data files hold; arrays from some into another. gradus export: trained parameters into one file. */
#include "cli.h"

#include <string.h>

static int show(const cli_options *o) {
    if (o->arg_n < 2) return cli_usage(o, "data show takes files");
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    bool ok = true;
    if (o->json) printf("{\"files\": [");
    for (unsigned i = 1; i < o->arg_n; i++) {
        char *text = gr_data_show(s, o->arg[i], o->json);
        if (text && o->json && i > 1) printf(", ");
        if (text) fputs(text, stdout);
        ok = text && ok;
        gr_text_free(text);
    }
    if (o->json) printf("], \"diagnostics\": %s}\n", gr_session_report(s, true));
    int code = cli_finish(s, o);
    return code || ok ? code : 2;
}

static int convert(const cli_options *o) {
    if (o->arg_n < 3) return cli_usage(o, "data convert takes one or more files and the file to write");
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    const char *to = o->arg[o->arg_n - 1];
    bool ok = gr_data_convert(s, o->arg + 1, o->arg_n - 2, to, o->compress);
    if (o->json) printf("{\"file\": "), cli_json_string(stdout, to), printf(", \"diagnostics\": %s}\n", gr_session_report(s, true));
    else if (ok && !o->quiet) printf("%.*s\n", (int)strcspn(to, "#"), to);
    int code = cli_finish(s, o);
    return code || ok ? code : 2;
}

int cli_export(const cli_options *o) {
    unsigned n = 0;
    if (o->arg_n != 2) return cli_usage(o, "export takes a training's folder and the .safetensors or .npz to write");
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    bool ok = gr_export(s, o->arg[0], o->arg[1], o->last, o->compress, &n);
    if (o->json) printf("{\"file\": "), cli_json_string(stdout, o->arg[1]), printf(", \"parameters\": %u, \"diagnostics\": %s}\n", n, gr_session_report(s, true));
    else if (ok && !o->quiet) printf("%s: %u parameters\n", o->arg[1], n);
    int code = cli_finish(s, o);
    return code || ok ? code : 2;
}

int cli_data(const cli_options *o) {
    if (o->arg_n && !strcmp(o->arg[0], "show")) return show(o);
    if (o->arg_n && !strcmp(o->arg[0], "convert")) return convert(o);
    return cli_usage(o, "data takes `show FILE...` or `convert FILE... FILE`; see `gradus data --help`");
}
