/* cli.h: what the subcommands share. The command line is a client: it sees include/gradus.h only.
 *
 * Exit codes: 0 ok, 1 a bug of Gradus, 2 user error, 3 environment, 4 (receipt verify) conform again here. */
#ifndef GR_CLI_H
#define GR_CLI_H

#include "gradus.h"

#include <stdio.h>

enum { CLI_LIST_MAX = 256 };

typedef struct cli_options {
    const char *device, *tier, *out, *rung, *follow, *mode, *budget;
    const char *catalog;
    const char *ops[CLI_LIST_MAX]; unsigned ops_n;   /* --ops DIR */
    const char *set[CLI_LIST_MAX]; unsigned set_n;   /* --set k=v */
    const char *in[CLI_LIST_MAX]; unsigned in_n;     /* --in a=FILE */
    const char *outs[CLI_LIST_MAX]; unsigned outs_n; /* --out y=FILE (op run) */
    const char *gradient[CLI_LIST_MAX]; unsigned gradient_n;   /* --gradient OUTPUT */
    const char *cotangent[CLI_LIST_MAX]; unsigned cotangent_n; /* --cotangent OUTPUT=FILE */
    const char *wrt[CLI_LIST_MAX]; unsigned wrt_n;             /* --wrt a,b */
    const char *arg[CLI_LIST_MAX]; unsigned arg_n;   /* positional */
    unsigned threads, repeat, checkpoint;
    unsigned seed; bool second;                      /* op gradcheck */
    unsigned steps; bool resume, train;              /* train; explain and plan of a training step */
    const char *parameters;
    const char *visibility, *docs, *export_dir, *weights;
    bool json, quiet, keep, dry_run, allow_heavy, no_fuse, timestamps, compress, last;
} cli_options;

typedef int cli_command(const cli_options *o);
int cli_run(const cli_options *o);
int cli_train(const cli_options *o);
int cli_explain(const cli_options *o);
int cli_plan(const cli_options *o);
int cli_check(const cli_options *o);
int cli_catalog(const cli_options *o);
int cli_profile(const cli_options *o);
int cli_op(const cli_options *o);
int cli_op_conform(const cli_options *o);
int cli_op_gradcheck(const cli_options *o);
int cli_op_new(const cli_options *o);
int cli_data(const cli_options *o);
int cli_export(const cli_options *o);
int cli_import(const cli_options *o);
int cli_receipt(const cli_options *o);
int cli_op_check(const cli_options *o);
int cli_op_show(const cli_options *o);
int cli_op_publish(const cli_options *o);
int cli_catalog_docs(const cli_options *o);
int cli_version(const cli_options *o);
int cli_completion(const cli_options *o);

/* A session as the options say; prints nothing. device NONE when `compile_only`. NULL after a message. */
gr_session *cli_session(const cli_options *o, bool compile_only);
/* Prints what the session complained of (stderr, or nothing in JSON mode), frees it, gives the exit code. */
int cli_finish(gr_session *s, const cli_options *o);
gr_compile_desc cli_compile_desc(const cli_options *o);
/* "name=rest" split at the first '='; name is a heap copy of the caller's, also where false is given. */
bool cli_pair(const char *text, char **name, const char **rest);

/* --gradient, --cotangent and --wrt, read. Views in desc live as long as this does. */
typedef struct cli_gradient {
    const char *gradient[CLI_LIST_MAX], *cotangent[CLI_LIST_MAX], *wrt[CLI_LIST_MAX], *file[CLI_LIST_MAX]; /* file: of a cotangent */
    unsigned gradient_n, cotangent_n, wrt_n;
    char *owned[CLI_LIST_MAX];
    unsigned owned_n;
} cli_gradient;
bool cli_gradient_read(const cli_options *o, cli_gradient *g); /* false after a message; free in any case */
void cli_gradient_free(cli_gradient *g);
void cli_gradient_desc(const cli_gradient *g, gr_compile_desc *d);
/* Files of cotangents, and those of --in, into the inputs of their names. */
bool cli_gradient_write(const cli_gradient *g, gr_session *s, gr_program *p, gr_prepared *r);
bool cli_inputs_write(const cli_options *o, gr_session *s, gr_program *p, gr_prepared *r);

/* The banner that stays while there is no GPU, on stderr. */
void cli_banner(const gr_session *s);
/* A JSON string with quotes. */
void cli_json_string(FILE *f, const char *s);
void cli_json_shape(FILE *f, const gr_tensor *t);
/* Progress on stderr for work over a second: on a terminal a line that overwrites itself, elsewhere one every ten per cent. */
typedef struct cli_progress { int last; bool terminal; double start; } cli_progress;
bool cli_on_progress(void *user, const char *node, uint64_t done, uint64_t total);
void cli_progress_end(cli_progress *p);
double cli_now(void); /* seconds, monotonic */
double cli_median(double *v, unsigned n); /* sorts v */
/* Wrong usage, before there is a session: a message on stderr, or with --json the diagnostic cli/usage as the only output. Returns 2. */
int cli_usage(const cli_options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same among a session's diagnostics. Returns false. */
bool cli_complain(gr_session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
