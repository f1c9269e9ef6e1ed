/* gradus splat: the verbs. */
#include "splat/splat.h"

#include <stdio.h>

#include "splat/verbs.h"

static const gr_verb *const verbs[] = {&gr_verb_check, &gr_verb_train, &gr_verb_resume, &gr_verb_eval, &gr_verb_render, &gr_verb_bench, &gr_verb_explain, &gr_verb_export, &gr_verb_synth};
enum { VERBS_N = sizeof verbs / sizeof *verbs };

static void print(FILE *f, gr_buf *b) {
    if (b->n) fwrite(b->p, 1, b->n, f);
    gr_buf_free(b);
}

static void overview(FILE *f) {
    gr_buf b = {0};
    gr_buf_puts(&b, "usage: gradus splat VERB [OPTION...]\n\nTrains 3D Gaussian scenes, and reads and writes what belongs to them.\n\n");
    for (int i = 0; i < VERBS_N; i++) gr_buf_printf(&b, "  %-8s %-16s %s\n", verbs[i]->name, verbs[i]->args, verbs[i]->about);
    gr_buf_puts(&b, "\n`gradus splat VERB --help` shows options and examples.\n"
                    "Exit codes: 0 ok, 1 a bug of Gradus, 2 user error, 3 environment (no adapter, no memory, no space).\n");
    print(f, &b);
}

static const gr_verb *find(const char *name) {
    for (int i = 0; i < VERBS_N; i++)
        if (!strcmp(verbs[i]->name, name)) return verbs[i];
    return NULL;
}

/* What was complained of, to stderr, or as JSON to stdout when the verb printed nothing there. */
static void complain(const gr_diags *d, bool json) {
    gr_buf b = {0};
    if (json && d->errors) gr_diags_print_json(&b, d), gr_buf_putc(&b, '\n');
    else gr_diags_print(&b, d, (gr_str){0});
    print(json && d->errors ? stdout : stderr, &b);
}

int gr_splat_main(int argc, char **argv) {
    bool help = argc < 2;
    for (int i = 1; i < argc; i++) help = help || !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") || (i == 1 && !strcmp(argv[i], "help"));
    const gr_verb *v = argc < 2 ? NULL : find(argv[1]);
    if (help) {
        gr_buf b = {0};
        if (v) gr_args_help(&b, v), print(stdout, &b);
        else overview(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    gr_diags d;
    gr_args args = {.verb = v};
    gr_diags_init(&d);
    for (int i = 1; i < argc; i++) args.json = args.json || !strcmp(argv[i], "--json");
    if (!v) gr_report(&d, GR_D_SPLAT_USAGE, (gr_place){0}, "`gradus splat --help` lists them", "unknown verb \"%s\"", argv[1]);
    int code = v && gr_args_read(v, argc - 1, argv + 1, &d, &args) ? v->run(&args, &d) : 2;
    complain(&d, args.json);
    if (gr_diags_exit_code(&d)) code = gr_diags_exit_code(&d);
    gr_diags_free(&d);
    return code;
}
