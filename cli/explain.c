/* gradus explain, plan, check, catalog, profile, version. */
#include "cli.h"

#include <string.h>
#include <sys/stat.h>

static bool rung_of(const char *name, gr_rung *out) {
    static const char *const names[] = {"", "canvas", "flow", "graph", "kernel", "plan"};
    *out = GR_RUNG_NONE;
    if (!name) return true;
    for (int i = GR_RUNG_CANVAS; i <= GR_RUNG_PLAN; i++)
        if (!strcmp(names[i], name)) *out = (gr_rung)i;
    return *out != GR_RUNG_NONE;
}

/* Diagnostics as the only JSON output of a failed command. */
static int finish_failed(gr_session *s, const cli_options *o) {
    if (o->json) printf("{\"diagnostics\": %s}\n", gr_session_report(s, true));
    return cli_finish(s, o);
}

/* Opens the device when one is asked for, so that its limits count; else the WebGPU defaults. */
static gr_program *compile(const cli_options *o, gr_session **s) {
    *s = cli_session(o, o->device == NULL);
    if (!*s) return NULL;
    gr_compile_desc desc = cli_compile_desc(o);
    cli_gradient g;
    gr_program *p = NULL;
    if (cli_gradient_read(o, &g)) {
        cli_gradient_desc(&g, &desc);
        p = gr_session_exit_code(*s) ? NULL : gr_compile_file(*s, o->arg[0], &desc);
    } else {
        gr_session_free(*s);
        *s = NULL;
    }
    cli_gradient_free(&g);
    return p;
}

int cli_explain(const cli_options *o) {
    gr_rung rung;
    gr_session *s;
    if (o->arg_n != 1) return cli_usage(o, "explain takes one document; see `gradus explain --help`");
    if (!rung_of(o->rung, &rung)) return cli_usage(o, "--rung takes canvas, flow, graph, kernel or plan, not \"%s\"", o->rung);
    gr_program *p = compile(o, &s);
    if (!s) return 2;
    char *text = p ? gr_explain(p, rung, o->follow, o->json) : NULL;
    if (!text) {
        gr_program_free(p);
        return finish_failed(s, o);
    }
    fputs(text, stdout);
    gr_text_free(text);
    gr_program_free(p);
    return cli_finish(s, o);
}

int cli_plan(const cli_options *o) {
    gr_session *s;
    if (o->arg_n != 1) return cli_usage(o, "plan takes one document; see `gradus plan --help`");
    gr_program *p = compile(o, &s);
    if (!s) return 2;
    char *text = !p ? NULL : o->json ? gr_plan_json(p) : gr_explain(p, GR_RUNG_PLAN, NULL, false);
    if (!text) {
        gr_program_free(p);
        return finish_failed(s, o);
    }
    bool red = !strcmp(gr_program_verdict(p), "red");
    fputs(text, stdout);
    gr_text_free(text);
    gr_program_free(p);
    int code = cli_finish(s, o);
    return code ? code : red ? 2 : 0;
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

static bool check_one(gr_session *s, const char *path, const gr_compile_desc *desc) {
    if (is_folder(path)) return gr_op_add(s, path, NULL);
    if (ends_with(path, ".wgsl")) return gr_wgsl_check_file(s, path);
    gr_program *p = gr_compile_file(s, path, desc);
    gr_program_free(p);
    return p != NULL;
}

int cli_check(const cli_options *o) {
    if (o->arg_n == 0) return cli_usage(o, "check takes documents, op folders or .wgsl files");
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    gr_compile_desc desc = cli_compile_desc(o);
    unsigned good = 0;
    for (unsigned i = 0; i < o->arg_n; i++) {
        bool ok = check_one(s, o->arg[i], &desc);
        good += ok;
        if (!o->json) printf("%s %s\n", ok ? "ok    " : "FAILED", o->arg[i]);
    }
    if (o->json) printf("{\"checked\": %u, \"good\": %u, \"diagnostics\": %s}\n", o->arg_n, good, gr_session_report(s, true));
    return cli_finish(s, o);
}

int cli_catalog(const cli_options *o) {
    if (o->docs && o->arg_n == 0) return cli_catalog_docs(o);
    if (o->arg_n > 1) return cli_usage(o, "catalog takes one op at most, not also \"%s\"", o->arg[1]);
    gr_session *s = cli_session(o, true);
    if (!s) return 2;
    if (o->arg_n) {
        char *text = gr_op_show(s, o->arg[0], o->json);
        if (!text) return finish_failed(s, o);
        fputs(text, stdout);
        gr_text_free(text);
        return cli_finish(s, o);
    }
    if (o->json) printf("[");
    for (unsigned i = 0; i < gr_catalog_size(s); i++) {
        if (!o->json) {
            printf("%s\n", gr_catalog_id(s, i));
            continue;
        }
        char *text = gr_op_show(s, gr_catalog_id(s, i), true);
        printf("%s%s", i ? ",\n" : "", text ? text : "null");
        gr_text_free(text);
    }
    if (o->json) printf("]\n");
    return cli_finish(s, o);
}

int cli_profile(const cli_options *o) {
    if (o->arg_n) return cli_usage(o, "profile takes options only, not \"%s\"", o->arg[0]);
    gr_session *s = cli_session(o, false);
    if (!s) return 2;
    cli_banner(s);
    char *text = gr_session_exit_code(s) ? NULL : gr_profile(s, o->json);
    if (!text) return finish_failed(s, o);
    fputs(text, stdout);
    gr_text_free(text);
    return cli_finish(s, o);
}

int cli_version(const cli_options *o) {
    if (o->arg_n) return cli_usage(o, "version takes options only, not \"%s\"", o->arg[0]);
    if (o->json) printf("{\"gradus\": \"%s\"}\n", gr_version());
    else printf("gradus %s\n", gr_version());
    return 0;
}
