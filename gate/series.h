/* series.h: carries a registered series out, run by run. Everything it knows lies in the series' folder, so that it can be
 * killed at any moment and goes on where it was. */
#ifndef GR_GATE_SERIES_H
#define GR_GATE_SERIES_H

#include "gate/record.h"

typedef enum gate_state {
    GATE_OPEN = 0, /* not finished */
    GATE_COMPLETE,
    GATE_VOID,     /* a binary or the WebGPU library changed */
    GATE_FAILED,   /* a slot failed GATE_ATTEMPTS times, or a run did not run what was registered */
    GATE_STOPPED,  /* told to stop */
} gate_state;
const char *gate_state_text(gate_state s);

enum { GATE_ATTEMPTS = 3 }; /* failures of one slot in one go */

/* A file whose hash was right, by what stat said then: unchanged, it need not be read again. */
typedef struct gate_seen { gr_str file; int64_t size, seconds, nanoseconds; uint64_t inode; } gate_seen;
enum { GATE_SEEN = 3 + GATE_WATCHED_MAX };

typedef struct gate_context {
    gr_arena *a;
    gr_diags *d;
    gr_str dir;
    gate_series s;
    GR_VEC(gate_run) runs; /* every attempt, by slot and number; interrupted ones too */
    gate_state state;
    gate_seen seen[GATE_SEEN]; /* programs of off and on, WebGPU library, watched files */
    bool quiet;
    const char *root;      /* of /proc and /sys: "" */
} gate_context;

/* Registers s in dir, or finds it registered alike: gate/series-differs otherwise. c->s becomes what is registered. */
bool gate_series_register(gate_context *c, const gate_series *s);
/* Reads series.toml and every attempt. */
bool gate_series_load(gate_context *c);
/* Runs what is missing; writes verdict.json, report.txt and the sentinel `done`. False when it did not complete. */
bool gate_series_go(gate_context *c);

/* The attempt of a slot that counts: the retry when there is one, else the first that succeeded; NULL when none did. */
const gate_run *gate_counted(const gate_context *c, const char *slot);
/* The first that succeeded, before any retry. */
const gate_run *gate_first(const gate_context *c, const char *slot);
/* Pairs of which both runs are there, counted values. */
gate_pairs gate_pairs_of(const gate_context *c);
/* The rules as they stand for that many pairs: looks of a sequential series, sigma of the calibration. */
gate_rule gate_rule_of(const gate_context *c);
gate_retry gate_retry_of(const gate_context *c);
/* Names a slot: "off-3". */
const char *gate_slot(char out[32], const char *arm, uint32_t pair);

/* Writes DIR/report.txt, for people, and DIR/verdict.json, for programs. */
bool gate_report_write(gate_context *c);
/* Share of the removed work that came back as time; NaN when it is unknown. */
double gate_conversion(const gate_series *s, const gate_verdict *v);

#endif
