/* gradus op run: one op on files. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct operands {
    char *name[CLI_LIST_MAX];
    gr_tensor tensor[CLI_LIST_MAX];
    unsigned n;
} operands;

static bool load_operands(const cli_options *o, gr_session *s, operands *in) {
    for (unsigned i = 0; i < o->in_n; i++) {
        const char *path;
        if (!cli_pair(o->in[i], &in->name[i], &path)) {
            free(in->name[i]);
            return cli_complain(s, "--in takes NAME=FILE, not \"%s\"", o->in[i]);
        }
        in->n = i + 1;
        if (!gr_tensor_load(s, path, &in->tensor[i])) return false;
    }
    return true;
}

static void free_operands(operands *in) {
    for (unsigned i = 0; i < in->n; i++) {
        free(in->name[i]);
        gr_tensor_free(&in->tensor[i]);
    }
}

/* The output called name; or the nth of a variadic one, whose values are called name.0, name.1, ..., and gradients by a
 * variadic operand d_name_0, d_name_1, ... */
static int output_index(const gr_program *p, const char *name, unsigned nth) {
    size_t n = strlen(name);
    for (unsigned i = 0; i < gr_program_outputs(p); i++) {
        const char *have = gr_program_output_name(p, i);
        if (!strcmp(have, name)) return (int)i;
        if (strncmp(have, name, n) == 0 && (have[n] == '.' || have[n] == '_') && strtoul(have + n + 1, NULL, 10) == nth) return (int)i;
    }
    return -1;
}

/* Which output each --out means, before anything runs; a name that repeats takes a variadic output in order. */
static bool find_outputs(const cli_options *o, gr_session *s, const gr_program *p, int *index) {
    for (unsigned k = 0; k < o->outs_n; k++) {
        char *name;
        const char *path;
        unsigned nth = 0;
        if (!cli_pair(o->outs[k], &name, &path)) {
            free(name);
            return cli_complain(s, "--out takes NAME=FILE, not \"%s\"", o->outs[k]);
        }
        size_t n = strlen(name) + 1; /* with the '=' */
        for (unsigned j = 0; j < k; j++) nth += !strncmp(o->outs[j], o->outs[k], n);
        index[k] = output_index(p, name, nth);
        if (index[k] < 0) cli_complain(s, "the op has no output \"%s\" for --out %s", name, o->outs[k]);
        free(name);
        if (index[k] < 0) return false;
    }
    return true;
}

static bool save_output(gr_session *s, gr_prepared *r, gr_run run, unsigned i, const char *pair) {
    gr_tensor t = gr_result(r, run, i);
    return t.dtype && gr_tensor_save(s, strchr(pair, '=') + 1, &t);
}

static void print_result(const cli_options *o, gr_session *s, gr_program *p, gr_prepared *r, gr_run run, double seconds) {
    if (o->json) {
        printf("{\"op\": ");
        cli_json_string(stdout, o->arg[1]);
        printf(", \"executor\": \"%s\", \"adapter\": ", gr_session_executor(s));
        cli_json_string(stdout, gr_session_adapter(s));
        printf(", \"banner\": ");
        cli_json_string(stdout, gr_session_banner(s));
        printf(", \"determinism_tier\": \"%s\", \"guarantee\": \"%s\", \"verdict\": \"%s\", \"outputs\": [", gr_program_tier(p),
               gr_program_guarantee(p), gr_program_verdict(p));
    } else if (!o->quiet) {
        if (!o->tier) printf("tier debug (op run without --tier runs in debug)\n");
        printf("executor %s on %s\n", gr_session_executor(s), gr_session_adapter(s));
    }
    for (unsigned i = 0; i < gr_program_outputs(p); i++) {
        gr_tensor t = gr_result(r, run, i);
        char hash[72];
        gr_tensor_hash(&t, hash);
        if (o->json) {
            printf("%s{\"name\": ", i ? ", " : "");
            cli_json_string(stdout, gr_program_output_name(p, i));
            printf(", \"dtype\": \"%s\", \"shape\": ", t.dtype ? t.dtype : "");
            cli_json_shape(stdout, &t);
            printf(", \"hash\": \"%s\"}", hash);
        } else if (!o->quiet) {
            printf("%s %s", gr_program_output_name(p, i), t.dtype);
            cli_json_shape(stdout, &t);
            printf(" %s\n", hash);
        }
    }
    if (o->json) printf("], \"seconds\": %.9f, \"diagnostics\": %s}\n", seconds, gr_session_report(s, true));
    else if (!o->quiet) printf("ran in %.6f s\n", seconds);
}

/* Runs as often as asked; the median of the seconds. 0 when a run failed. */
static gr_run run_times(const cli_options *o, gr_prepared *r, double *seconds) {
    unsigned times = o->repeat ? o->repeat : 1;
    double *t = calloc(times, sizeof *t);
    gr_run run = 0;
    for (unsigned i = 0; t && i < times; i++) {
        double start = cli_now();
        run = gr_submit(r);
        if (!run || !gr_wait(r, run)) {
            free(t);
            return 0;
        }
        t[i] = cli_now() - start;
    }
    if (t) *seconds = cli_median(t, times);
    free(t);
    return run;
}

static bool run_op(const cli_options *o, gr_session *s, operands *in, const cli_gradient *g, bool wide) {
    gr_compile_desc desc = cli_compile_desc(o);
    gr_prepare_desc pd = {.wide = wide};
    desc.reference = wide;
    cli_gradient_desc(g, &desc);
    gr_program *p = gr_compile_op(s, o->arg[1], (const char *const *)in->name, in->tensor, in->n, o->set, o->set_n, &desc);
    int index[CLI_LIST_MAX];
    gr_prepared *r = p && find_outputs(o, s, p, index) ? gr_prepare(p, &pd) : NULL;
    bool ok = r != NULL;
    for (unsigned i = 0, k = 0; ok && k < in->n; k++)
        for (i = 0; i < gr_program_inputs(p); i++) {
            const char *want = gr_program_input_name(p, i);
            size_t n = strlen(in->name[k]);
            /* variadic inputs are NAME_0, NAME_1, ... in the order given */
            unsigned nth = 0;
            for (unsigned j = 0; j < k; j++) nth += !strcmp(in->name[j], in->name[k]);
            char numbered[256];
            snprintf(numbered, sizeof numbered, "%.*s_%u", (int)n, in->name[k], nth);
            if (strcmp(want, in->name[k]) && strcmp(want, numbered)) continue;
            ok = gr_write(r, i, &in->tensor[k]) && ok;
        }
    ok = ok && cli_gradient_write(g, s, p, r);
    double seconds = 0;
    gr_run run = ok ? run_times(o, r, &seconds) : 0;
    ok = run != 0;
    for (unsigned i = 0; ok && i < o->outs_n; i++) ok = save_output(s, r, run, (unsigned)index[i], o->outs[i]);
    if (ok) print_result(o, s, p, r, run, seconds);
    gr_prepared_free(r);
    gr_program_free(p);
    return ok;
}

int cli_op(const cli_options *o) {
    if (o->arg_n && !strcmp(o->arg[0], "conform")) return cli_op_conform(o);
    if (o->arg_n && !strcmp(o->arg[0], "gradcheck")) return cli_op_gradcheck(o);
    if (o->arg_n && !strcmp(o->arg[0], "new")) return cli_op_new(o);
    if (o->arg_n && !strcmp(o->arg[0], "check")) return cli_op_check(o);
    if (o->arg_n && !strcmp(o->arg[0], "show")) return cli_op_show(o);
    if (o->arg_n && !strcmp(o->arg[0], "publish")) return cli_op_publish(o);
    if (o->arg_n != 2 || strcmp(o->arg[0], "run")) return cli_usage(o, "op takes run, new, check, conform, gradcheck, show or publish; see `gradus op --help`");
    if (o->mode && strcmp(o->mode, "f32") && strcmp(o->mode, "f64")) return cli_usage(o, "--mode takes f32 or f64, not \"%s\"", o->mode);
    bool wide = o->mode && !strcmp(o->mode, "f64");
    cli_options with = *o;
    if (wide && o->device && strcmp(o->device, "cpu")) return cli_usage(o, "--mode f64 runs on the oracle: leave --device out or say cpu");
    if (wide) with.device = "cpu";
    gr_session *s = cli_session(&with, false);
    if (!s) return 2;
    operands *in = calloc(1, sizeof *in);
    cli_gradient g;
    if (!o->json) cli_banner(s);
    bool ok = cli_gradient_read(o, &g) && in && !gr_session_exit_code(s) && load_operands(o, s, in) && run_op(&with, s, in, &g, wide);
    if (in) free_operands(in);
    cli_gradient_free(&g);
    free(in);
    if (!ok && o->json) printf("{\"diagnostics\": %s}\n", gr_session_report(s, true));
    int code = cli_finish(s, o);
    return code || ok ? code : 2;
}
