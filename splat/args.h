/* args.h: the arguments of `gradus splat VERB`. */
#ifndef GR_SPLAT_ARGS_H
#define GR_SPLAT_ARGS_H

#include "base/diag.h"

enum { GR_ARGS_MAX = 16, GR_ARGS_MANY = 64 };

/* One option of a verb; `value` NULL for a switch. many: may be given again; at most one of a verb. */
typedef struct gr_option {
    const char *name, *value, *about;
    bool many;
} gr_option;

typedef struct gr_verb gr_verb;
typedef struct gr_args {
    const gr_verb *verb;
    const char *arg[GR_ARGS_MAX]; /* positional */
    uint32_t arg_n;
    const char *value[GR_ARGS_MAX]; /* of verb->option[i]; "" for a switch that was given */
    const char *many[GR_ARGS_MANY]; /* every value of the option that may be given again */
    uint32_t many_n;
    bool json, quiet;
} gr_args;

struct gr_verb {
    const char *name, *args, *about, *examples;
    uint32_t least, most; /* positional arguments */
    int (*run)(const gr_args *args, gr_diags *d);
    gr_option option[GR_ARGS_MAX];
    void (*more)(gr_buf *out); /* further help; may be NULL */
};

/* The value of an option, or NULL. */
const char *gr_args_get(const gr_args *args, const char *option);
/* A whole number from lo to hi; *out keeps its value when the option is absent. splat/usage. */
bool gr_args_u32(const gr_args *args, gr_diags *d, const char *option, uint32_t lo, uint32_t hi, uint32_t *out);
/* Reads argv (argv[0] is the verb). splat/usage names what is wrong. */
bool gr_args_read(const gr_verb *verb, int argc, char **argv, gr_diags *d, gr_args *out);
void gr_args_help(gr_buf *out, const gr_verb *verb);

#endif
