#include "splat/args.h"

#include <stdio.h>

#include "base/lex.h"

static bool usage(gr_diags *d, const gr_verb *v, const char *what, const char *got) {
    gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "%s%s", what, got);
    gr_report_hint(d, "`gradus splat %s --help` shows what it takes", v->name);
    return false;
}

static int find(const gr_verb *v, const char *name, size_t n) {
    for (int i = 0; i < GR_ARGS_MAX && v->option[i].name; i++)
        if (strlen(v->option[i].name) == n && strncmp(v->option[i].name, name, n) == 0) return i;
    return -1;
}

const char *gr_args_get(const gr_args *args, const char *option) {
    int i = find(args->verb, option, strlen(option));
    return i < 0 ? NULL : args->value[i];
}

bool gr_args_u32(const gr_args *args, gr_diags *d, const char *option, uint32_t lo, uint32_t hi, uint32_t *out) {
    const char *text = gr_args_get(args, option);
    gr_value v = {0};
    if (!text) return true;
    if (!gr_number_parse(gr_str_of(text), &v) || v.kind != GR_V_INT || v.i < lo || v.i > hi) {
        gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "--%s takes a whole number from %u to %u, not \"%s\"", option, lo, hi, text);
        return false;
    }
    *out = (uint32_t)v.i;
    return true;
}

/* --name, --name=value, --name value. */
static bool option(const gr_verb *v, int argc, char **argv, int *at, gr_diags *d, gr_args *out) {
    const char *name = argv[*at] + 2, *equal = strchr(name, '=');
    int i = find(v, name, equal ? (size_t)(equal - name) : strlen(name));
    if (i < 0) return usage(d, v, "unknown option ", argv[*at]);
    if (!v->option[i].value) {
        if (equal) return usage(d, v, "this option takes no value: ", argv[*at]);
        out->value[i] = "";
        return true;
    }
    if (!equal && *at + 1 >= argc) return usage(d, v, "a value is missing after ", argv[*at]);
    out->value[i] = equal ? equal + 1 : argv[++*at];
    if (v->option[i].many && out->many_n == GR_ARGS_MANY) return usage(d, v, "this option was given too often: ", argv[*at]);
    if (v->option[i].many) out->many[out->many_n++] = out->value[i];
    return true;
}

bool gr_args_read(const gr_verb *v, int argc, char **argv, gr_diags *d, gr_args *out) {
    bool ok = true, only_names = false;
    for (int i = 1; i < argc; i++) {
        if (!only_names && !strcmp(argv[i], "--")) only_names = true;
        else if (!only_names && !strcmp(argv[i], "--json")) out->json = true;
        else if (!only_names && (!strcmp(argv[i], "--quiet") || !strcmp(argv[i], "-q"))) out->quiet = true;
        else if (!only_names && !strncmp(argv[i], "--", 2)) ok = option(v, argc, argv, &i, d, out) && ok;
        else if (!only_names && argv[i][0] == '-' && argv[i][1]) ok = usage(d, v, "unknown option ", argv[i]);
        else if (out->arg_n == v->most) ok = usage(d, v, "an argument too many: ", argv[i]);
        else out->arg[out->arg_n++] = argv[i];
    }
    if (out->arg_n < v->least) ok = usage(d, v, "an argument is missing: ", v->args);
    return ok;
}

void gr_args_help(gr_buf *out, const gr_verb *v) {
    gr_buf_printf(out, "usage: gradus splat %s %s [OPTION...]\n\n%s\n\n", v->name, v->args, v->about);
    for (int i = 0; i < GR_ARGS_MAX && v->option[i].name; i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", v->option[i].name, v->option[i].value ? " " : "", v->option[i].value ? v->option[i].value : "");
        gr_buf_printf(out, "  %-22s %s\n", left, v->option[i].about);
    }
    gr_buf_printf(out, "  %-22s %s\n  %-22s %s\n\nExamples:\n%s", "--json", "Print JSON", "-q, --quiet", "Print results and complaints only", v->examples);
    if (v->more) gr_buf_putc(out, '\n'), v->more(out);
}
