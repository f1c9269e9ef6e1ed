/* gradus import: a model of another system as a document and its weights. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* "out/net.json" -> "out/net.safetensors" */
static char *default_weights(const char *document) {
    size_t n = strlen(document);
    char *z = malloc(n + sizeof ".safetensors");
    const char *dot = strrchr(document, '.'), *slash = strrchr(document, '/');
    if (dot && (!slash || dot > slash)) n = (size_t)(dot - document);
    if (z) memcpy(z, document, n), memcpy(z + n, ".safetensors", sizeof ".safetensors");
    return z;
}

static int import_model(const cli_options *o, const char *weights) {
    cli_options with = *o;
    if (!with.device) with.device = "cpu"; /* constants are computed on the oracle */
    gr_session *s = cli_session(&with, false);
    if (!s) return 2;
    gr_import_desc desc = {.document = o->out, .weights = weights, .set = o->set, .set_n = o->set_n, .tier = o->tier};
    gr_import_result r;
    bool ok = !gr_session_exit_code(s) && gr_import(s, o->arg[0], &desc, &r);
    if (o->json) {
        printf("{\"document\": "), cli_json_string(stdout, o->out);
        printf(", \"weights\": "), cli_json_string(stdout, weights);
        if (ok) printf(", \"nodes\": %u, \"arrays\": %u, \"folded\": %u, \"dropped\": %u", r.nodes, r.weights, r.folded, r.dropped);
        printf(", \"diagnostics\": %s}\n", gr_session_report(s, true));
    } else if (ok && !o->quiet) {
        printf("%s: %u ops; %u results known and %u dropped\n", o->out, r.nodes, r.folded, r.dropped);
        if (r.weights) printf("%s: %u arrays\n", weights, r.weights);
    }
    int code = cli_finish(s, o);
    return code || ok ? code : 2;
}

int cli_import(const cli_options *o) {
    if (o->arg_n != 1 || !o->out) return cli_usage(o, "import takes a model and --out FILE.json; see `gradus import --help`");
    char *own = o->weights ? NULL : default_weights(o->out);
    int code = o->weights || own ? import_model(o, o->weights ? o->weights : own) : cli_usage(o, "out of memory");
    free(own);
    return code;
}
