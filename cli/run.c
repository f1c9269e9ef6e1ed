/* gradus run: plan and verdict first, then the run, then what came out. */
#include "cli.h"

#include <string.h>
#include <unistd.h>

typedef struct file_list {
    FILE *json; /* NULL: plain text */
    unsigned n;
} file_list;

static void on_file(void *user, const char *path, const char *hash) {
    file_list *l = user;
    if (!l->json) {
        printf("wrote %s  %s\n", path, hash);
        return;
    }
    fprintf(l->json, "%s\n    {\"path\": ", l->n++ ? "," : "");
    cli_json_string(l->json, path);
    fprintf(l->json, ", \"hash\": \"%s\"}", hash);
}

static void print_outputs(gr_program *p, gr_prepared *r, gr_run run, bool json) {
    for (unsigned i = 0; i < gr_program_outputs(p); i++) {
        gr_tensor t = gr_result(r, run, i);
        char hash[72];
        gr_tensor_hash(&t, hash);
        if (json) {
            printf("%s\n    {\"name\": ", i ? "," : "");
            cli_json_string(stdout, gr_program_output_name(p, i));
            printf(", \"dtype\": \"%s\", \"shape\": ", t.dtype);
            cli_json_shape(stdout, &t);
            printf(", \"hash\": \"%s\"}", hash);
        } else {
            printf("output %-12s %s ", gr_program_output_name(p, i), t.dtype);
            cli_json_shape(stdout, &t);
            printf("  %s\n", hash);
        }
    }
}

/* The plan without its inventory: promises, memory, verdict, dispatches. `gradus plan` shows all. */
static void print_plan(gr_program *p) {
    static const char *const left_out[] = {"  buffer ", "  kernel ", "  tensor ", "  uniform ", "  upload ", "  readback ", "  copy ", "  clear "};
    char *plan = gr_explain(p, GR_RUNG_PLAN, NULL, false);
    for (char *line = plan, *end; line && *line; line = end + 1) {
        bool shown = true;
        end = strchr(line, '\n');
        if (!end) break;
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
            if (!strncmp(line, left_out[i], strlen(left_out[i]))) shown = false;
        if (shown) fwrite(line, 1, (size_t)(end - line) + 1, stdout);
    }
    gr_text_free(plan);
}

static void print_head(gr_session *s, gr_program *p, bool json) {
    if (json) {
        printf("{\n  \"executor\": \"%s\",\n  \"adapter\": ", gr_session_executor(s));
        cli_json_string(stdout, gr_session_adapter(s));
        printf(",\n  \"banner\": ");
        cli_json_string(stdout, gr_session_banner(s));
        printf(",\n  \"verdict\": \"%s\",\n  \"determinism_tier\": \"%s\",\n  \"guarantee\": \"%s\"", gr_program_verdict(p), gr_program_tier(p),
               gr_program_guarantee(p));
        return;
    }
    print_plan(p);
    printf("executor %s on %s\n", gr_session_executor(s), gr_session_adapter(s));
    fflush(stdout);
}

static void print_times(gr_prepared *r, gr_run run) {
    const char *nodes[256];
    double seconds[256];
    unsigned n = gr_times(r, run, nodes, seconds, 256);
    for (unsigned i = 0; i < n && i < 256; i++)
        if (nodes[i] && *nodes[i]) printf("  %10.3f ms  %s\n", seconds[i] * 1e3, nodes[i]);
}

static bool run_prepared(const cli_options *o, gr_program *p, gr_prepared *r, const char *dir) {
    double start = cli_now();
    gr_run run = 0;
    unsigned times = o->repeat ? o->repeat : 1;
    for (unsigned i = 0; i < times; i++) {
        run = gr_submit(r);
        if (!run || !gr_wait(r, run)) return false;
    }
    double seconds = cli_now() - start;
    file_list files = {.json = o->json ? stdout : NULL};
    if (o->json) printf(",\n  \"seconds\": %.6f,\n  \"outputs\": [", seconds);
    else printf("ran in %.3f s, guarantee %s\n", seconds, gr_program_guarantee(p));
    if (o->timestamps && !o->json) print_times(r, run);
    print_outputs(p, r, run, o->json);
    if (o->json) printf("\n  ],\n  \"files\": [");
    bool ok = gr_write_outputs(r, run, dir, on_file, &files);
    if (o->json) printf("\n  ]");
    return ok;
}

/* out/NAME with NAME the document's file name without its ending. */
static void default_dir(const char *document, char *out, size_t n) {
    const char *base = strrchr(document, '/');
    base = base ? base + 1 : document;
    const char *dot = strrchr(base, '.');
    snprintf(out, n, "out/%.*s", dot ? (int)(dot - base) : (int)strlen(base), base);
}

static bool run_program(const cli_options *o, gr_session *s, gr_program *p, const cli_gradient *g, bool wide) {
    char dir[512];
    cli_progress progress = {.last = -1, .terminal = isatty(2) != 0};
    gr_prepare_desc desc = {.timestamps = o->timestamps, .wide = wide};
    if (!o->quiet && !o->json) {
        desc.progress = cli_on_progress;
        desc.progress_user = &progress;
    }
    default_dir(o->arg[0], dir, sizeof dir);
    if (!o->quiet || o->json) print_head(s, p, o->json);
    gr_prepared *r = gr_prepare(p, &desc);
    bool ok = r && cli_inputs_write(o, s, p, r) && cli_gradient_write(g, s, p, r) && run_prepared(o, p, r, o->out ? o->out : dir);
    if (desc.progress) cli_progress_end(&progress);
    gr_prepared_free(r);
    return ok;
}

int cli_run(const cli_options *o) {
    if (o->arg_n != 1) return cli_usage(o, "run takes one document; see `gradus run --help`");
    if (o->mode && strcmp(o->mode, "f32") && strcmp(o->mode, "f64")) return cli_usage(o, "--mode takes f32 or f64, not \"%s\"", o->mode);
    bool wide = o->mode && !strcmp(o->mode, "f64");
    if (wide && o->device && strcmp(o->device, "cpu")) return cli_usage(o, "--mode f64 runs on the oracle: leave --device out or say cpu");
    cli_options with = *o;
    if (wide) with.device = "cpu";
    cli_gradient g;
    gr_session *s = cli_gradient_read(o, &g) ? cli_session(&with, false) : NULL;
    if (!s) {
        cli_gradient_free(&g);
        return 2;
    }
    cli_banner(s);
    gr_compile_desc desc = cli_compile_desc(o);
    desc.reference = wide;
    cli_gradient_desc(&g, &desc);
    gr_program *p = gr_session_exit_code(s) ? NULL : gr_compile_file(s, o->arg[0], &desc);
    bool compiled = p != NULL;
    bool ran = p && run_program(o, s, p, &g, wide);
    cli_gradient_free(&g);
    gr_program_free(p);
    if (o->json) printf("%s\"diagnostics\": %s\n}\n", compiled ? ",\n  " : "{\n  ", gr_session_report(s, true));
    else if (compiled) cli_banner(s); /* once more, below long output */
    int code = cli_finish(s, o);
    return code || ran || !compiled ? code : 2;
}
