/* gradus receipt: what receipts say, and whether they still hold. */
#include "cli.h"

#include <string.h>

enum { EXIT_CONFORM_AGAIN = 4 };

static int show(const cli_options *o) {
    if (o->arg_n != 2) return cli_usage(o, "receipt show takes a receipt's file");
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    char *text = gr_receipt_show(s, o->arg[1], o->json);
    if (text) fputs(text, stdout);
    else if (o->json) printf("{\"diagnostics\": %s}\n", gr_session_report(s, true));
    gr_text_free(text);
    return cli_finish(s, o);
}

/* The session that a rerun needs: the device of the receipt unless one is asked for. */
static gr_session *session_for(const cli_options *o) {
    gr_device_kind kind;
    cli_options with = *o;
    if (o->device) return cli_session(o, false);
    gr_session *s = cli_session(o, true);
    if (!s || !gr_receipt_device(s, o->arg[1], &kind)) return s;
    gr_session_free(s);
    with.device = kind == GR_DEVICE_CPU ? "cpu" : "auto";
    return cli_session(&with, false);
}

static int verify(const cli_options *o) {
    static const char *const says[] = {"not run", "reproduced", "broken", "conform again here"};
    if (o->arg_n != 3) return cli_usage(o, "receipt verify takes a receipt's file and an op's folder or id");
    gr_session *s = session_for(o);
    if (!s) return 2;
    if (!o->json && !o->quiet) cli_banner(s);
    gr_receipt_verdict v = gr_session_exit_code(s) ? GR_RECEIPT_NOT_RUN : gr_receipt_verify(s, o->arg[1], o->arg[2]);
    if (gr_session_exit_code(s) == 2) v = GR_RECEIPT_BROKEN;
    if (o->json) printf("{\"verdict\": \"%s\", \"diagnostics\": %s}\n", says[v], gr_session_report(s, true));
    else printf("%s: %s\n", o->arg[1], says[v]);
    int code = cli_finish(s, o);
    return v == GR_RECEIPT_CONFORM_AGAIN ? EXIT_CONFORM_AGAIN : code;
}

int cli_receipt(const cli_options *o) {
    if (o->arg_n && !strcmp(o->arg[0], "show")) return show(o);
    if (o->arg_n && !strcmp(o->arg[0], "verify")) return verify(o);
    return cli_usage(o, "receipt takes `show FILE` or `verify FILE OPFOLDER`; see `gradus receipt --help`");
}
