/* run.h: what the verbs that use a device share: configuration, data, device, lock, progress. */
#ifndef GR_SPLAT_RUN_H
#define GR_SPLAT_RUN_H

#include "base/lock.h"
#include "splat/args.h"
#include "splat/trainer.h"

/* Options of every such verb, for gr_verb tables. */
#define GR_RUN_OPTIONS \
    {"set", "TABLE.KEY=VALUE", "Set one key, in TOML; may be given again", true}, {"device", "gpu|cpu|auto", "Where to run (default auto: a GPU, else loudly the CPU)", false}

typedef struct gr_run_setup {
    gr_arena a;
    gr_diags *d;
    const gr_args *args;
    gr_config config;
    gr_scene scene;
    gr_session *session;
    gr_lock lock;
    gr_trainer trainer;
    gr_trainer_desc desc;
    bool opened; /* trainer is to be freed */
    bool terminal;
    double shown; /* when a line of progress was last printed */
} gr_run_setup;

/* Configuration of args->arg[0] with its --set, data set, session and the device's lock. r must stay where it is. Close it whatever is
 * returned. */
bool gr_run_open(gr_run_setup *r, const gr_args *args, gr_diags *d);
/* The trainer by r->desc, in which session, config and scene are filled in. */
bool gr_run_trainer(gr_run_setup *r);
/* Moves what the session still has to say into d, frees everything, and gives the exit code. */
int gr_run_close(gr_run_setup *r, bool ok);
/* Lines of progress to stderr: for gr_trainer_desc.on_event with r as user. */
void gr_run_progress(void *user, const gr_trainer *t, gr_trainer_event e);
/* out/NAME for a configuration NAME.toml, or what --out names. */
gr_str gr_run_folder(gr_run_setup *r);

#endif
