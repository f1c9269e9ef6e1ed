/* gradus op conform, gradus op new: what an author of ops needs. */
#include "cli.h"

#include <string.h>

static char *conform(const cli_options *o, gr_session *s, char **receipt) {
    return o->export_dir ? gr_conform_export(s, o->arg[1], o->json, o->repeat, o->export_dir, receipt)
                         : gr_conform(s, o->arg[1], o->json, o->repeat, receipt);
}

int cli_op_conform(const cli_options *o) {
    if (o->arg_n != 2) return cli_usage(o, "op conform takes an op's id or folder");
    gr_session *s = cli_session(o, false);
    if (!s) return 2;
    if (!o->json && !o->quiet) cli_banner(s);
    char *receipt = NULL, *text = gr_session_exit_code(s) ? NULL : conform(o, s, &receipt);
    bool written = !o->out || !receipt || gr_text_save(s, o->out, receipt);
    char *kept = o->keep && receipt ? gr_receipt_keep(s, o->arg[1], receipt) : NULL;
    if (text && o->json) printf("{\"conformance\": %s, \"receipt\": %s, \"diagnostics\": %s}\n", text, receipt ? receipt : "null", gr_session_report(s, true));
    else if (text) fputs(text, stdout);
    else if (o->json) printf("{\"diagnostics\": %s}\n", gr_session_report(s, true));
    if (receipt && !o->json && !o->quiet)
        printf("  receipt   %s\n", kept ? kept : o->out && written ? o->out : "minted; keep it with --keep or --out FILE");
    gr_text_free(kept);
    gr_text_free(receipt);
    gr_text_free(text);
    int code = cli_finish(s, o);
    return code ? code : text && written ? 0 : 3;
}

/* Passed or none: 0. Failed: 2, by the diagnostic. */
int cli_op_gradcheck(const cli_options *o) {
    cli_options with = *o;
    if (o->arg_n != 2) return cli_usage(o, "op gradcheck takes an op's id or folder");
    if (!o->device) with.device = "cpu"; /* a GPU is used when it is asked for */
    gr_session *s = cli_session(&with, false);
    if (!s) return 2;
    char *value = NULL, *text = gr_session_exit_code(s) ? NULL : gr_check_gradient(s, o->arg[1], o->json, o->repeat, o->seed, o->second, &value);
    bool written = !o->out || !value || gr_text_save(s, o->out, value);
    if (o->json) printf("{\"gradcheck\": %s, \"diagnostics\": %s}\n", text ? text : "null", gr_session_report(s, true));
    else if (text) fputs(text, stdout);
    gr_text_free(value);
    gr_text_free(text);
    int code = cli_finish(s, o);
    return code ? code : text && written ? 0 : 3;
}

/* NAME DIR: the folder DIR/NAME@1. */
int cli_op_new(const cli_options *o) {
    char folder[4096];
    if (o->arg_n != 3) return cli_usage(o, "op new takes a name and the folder to make it in: `gradus op new my_sum ops/user/me`");
    if (snprintf(folder, sizeof folder, "%s/%s@1", o->arg[2], o->arg[1]) >= (int)sizeof folder) return cli_usage(o, "the path is too long");
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    bool ok = !gr_session_exit_code(s) && gr_op_new(s, o->arg[1], folder);
    if (ok && o->json) {
        printf("{\"folder\": ");
        cli_json_string(stdout, folder);
        printf("}\n");
    } else if (ok) {
        printf("%s: op.toml, reference.wgsl and kernel.wgsl\nnext: gradus op conform %s\n", folder, folder);
    } else if (o->json) printf("{\"folder\": null, \"diagnostics\": %s}\n", gr_session_report(s, true));
    int code = cli_finish(s, o);
    return code || ok ? code : 2;
}
