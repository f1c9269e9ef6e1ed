/* machine.h: what else went on while a run was timed, and what exactly was run. */
#ifndef GR_GATE_MACHINE_H
#define GR_GATE_MACHINE_H

#include "base/diag.h"

/* `root` is "" for this machine; tests plant a folder with proc/ and sys/ in it. */

typedef struct gate_load {
    double load1, load5, load15; /* /proc/loadavg */
    double busy;                 /* seconds that all cores together were not idle since boot, /proc/stat */
    bool known;                  /* both could be read */
} gate_load;
gate_load gate_load_now(const char *root);

typedef enum gate_power {
    GATE_POWER_UNKNOWN = 0, /* no battery and no mains adapter is shown: a desktop or a server */
    GATE_POWER_MAINS,
    GATE_POWER_BATTERY,
} gate_power;
gate_power gate_power_now(const char *root);
const char *gate_power_text(gate_power p); /* "unknown", "mains", "battery" */

/* Compute processes on the GPUs outside the given session; -1 when there is no nvidia-smi. */
int gate_gpu_others(gr_arena *a, int session);

/* The file that the first word of a shell command runs: by PATH, "gradus" is this program. "" when unknown. */
gr_str gate_binary_of(gr_arena *a, const char *command);
/* The WebGPU library that a gradus started here would load, or "". */
gr_str gate_dawn_path(gr_arena *a);

typedef struct gate_revision {
    gr_str commit; /* "" outside git */
    gr_str *paths;  /* changed against the commit, untracked files included */
    gr_str *hashes; /* of their contents; "" where there is none to read */
    uint32_t path_n;
} gate_revision;
gate_revision gate_revision_now(gr_arena *a);
/* Paths by which two states differ: between the commits, and changed against them in one state only or differently. */
gate_revision gate_revision_diff(gr_arena *a, const gate_revision *before, const gate_revision *after);
/* Is a change of this path able to change what a program does? Documents, pictures, licences are not. */
bool gate_path_is_code(gr_str path);

/* "2024-05-01T12:00:00Z" */
gr_str gate_utc(gr_arena *a);

#endif
