/* proc.h: one child process, timed, logged and stopped with everything it started. */
#ifndef GR_GATE_PROC_H
#define GR_GATE_PROC_H

#include "base/diag.h"

typedef struct gate_proc {
    const char *command;            /* for /bin/sh -c */
    const char *log;                /* stdout and stderr go there; made anew */
    const char *const *environment; /* "NAME=value", NULL-terminated; added to ours. May be NULL */
    void (*tick)(void *user, int session); /* about once a second while it runs. May be NULL */
    void *user;
} gate_proc;

typedef struct gate_exit {
    double elapsed;   /* seconds by the monotonic clock */
    double cpu;       /* seconds of user and system time, waited-for descendants included */
    int code, signal; /* signal 0: it ended by itself with `code` */
    bool interrupted; /* we were told to stop (SIGINT, SIGTERM, SIGHUP): the child was ended */
} gate_exit;

/* The child gets a session of its own and dies when this process dies. False when it cannot be started
 * (gate/run-failed). */
bool gate_proc_run(gr_diags *d, const gate_proc *p, gate_exit *out);

/* What argv (NULL-terminated, argv[0] by PATH) writes to stdout, up to 4 MiB, into the arena; its stderr into *err when err is
 * not NULL, else nowhere. False when it cannot be started or ends with another code than 0; no diagnostic. */
bool gate_capture(gr_arena *a, const char *const *argv, gr_str *out, gr_str *err);
/* The same of a shell's command line. */
bool gate_capture_shell(gr_arena *a, const char *command, gr_str *out, gr_str *err);

/* text with {key} replaced by value, quoted for the shell where it must be, for n pairs keys[2i], keys[2i+1]. NULL when memory fails. */
char *gate_fill(gr_arena *a, const char *text, const char *const *pairs, uint32_t n);

#endif
