/* record.h: the files of a series. The schema stands in docs/gate.md.
 *
 *   DIR/series.toml                      registered before the first run, never changed
 *   DIR/runs/SLOT/ATTEMPT/               log.txt, out/ (the run's own files), run.toml (written last)
 *   DIR/verdict.json, DIR/report.txt     at the end
 *   DIR/done                             the sentinel, written last of all
 *
 * A slot is off-1, on-1, off-2, ... or smoke-off, smoke-on, or calibrate-1, .... */
#ifndef GR_GATE_RECORD_H
#define GR_GATE_RECORD_H

#include "base/value.h"
#include "gate/machine.h"
#include "gate/verdict.h"

enum { GATE_KEYS_MAX = 4096, GATE_FLAGS_MAX = 64, GATE_CALIBRATE_MIN = 6 };

/* A configuration laid flat: "backend.pipelining" and the value as canonical JSON. */
typedef struct gate_key { gr_str name, value; } gate_key;
typedef struct gate_keys { gate_key *v; uint32_t n; } gate_keys;
const gate_key *gate_keys_find(const gate_keys *k, gr_str name);
/* Tables become dotted names. gate/config-refused beyond GATE_KEYS_MAX. */
bool gate_keys_of(gr_arena *a, gr_diags *d, const gr_value *table, gate_keys *out);
/* What a program prints is JSON when it begins with a brace, else TOML. The text need not end in 0. */
bool gate_is_json(gr_str text);

typedef struct gate_flag { gr_str name, off, on; } gate_flag; /* values as canonical JSON; "" where an arm lacks the key */

typedef struct gate_arm {
    gr_str config;              /* its file; "" in command mode */
    gr_str command;             /* with {config}, {out}, {pair} still in it */
    gr_str binary, binary_hash; /* what the command runs; "" when unknown */
    gate_keys resolved;         /* of the config; none in command mode */
} gate_arm;

enum { GATE_WATCHED_MAX = 32 };

typedef struct gate_series {
    gr_str name, started;
    gate_arm off, on;
    gate_flag *flags; uint32_t flag_n;
    gr_str result;              /* where a run's result file is, with {out} in it; "" none */
    gr_str quality;             /* the metric of the guard; "" none */
    uint32_t n, max;            /* pairs; with `sequential` n is the first look and max the last */
    uint32_t calibrate;         /* A/A runs of off before the pairs; 0 or at least GATE_CALIBRATE_MIN */
    bool sequential, smoke;
    gr_str smoke_arguments;     /* appended to the command of a smoke run */
    gate_rule rule;
    gate_retry retry;           /* sigma stays 0: it comes from the calibration */
    double load_limit;          /* cores that others keep busy which count as load */
    bool predicted; double predict_low, predict_high; /* fractions */
    double removed;             /* share of off's time that the flag removes in theory; 0 none given */
    gate_revision revision;
    gr_str dawn, dawn_hash;
    gr_str *watched, *watched_hashes; uint32_t watched_n; /* further files that the series hangs on: scripts, data */
} gate_series;

typedef struct gate_run {
    gr_str slot;
    uint32_t attempt;           /* from 1 */
    bool ok, retry;             /* retry: repeated by the registered rule, and counts instead of the first */
    gr_str why;                 /* why it failed */
    gr_str started;
    double elapsed, clock;      /* elapsed counts: from the result, else the clock's */
    bool has_quality; double quality;
    gate_keys metrics;          /* of the result file */
    gate_load before, after;
    double other_cores;         /* mean number of cores that others kept busy */
    int gpu_others;             /* most seen at once; -1 unknown */
    gate_power power_before, power_after;
} gate_run;

void gate_series_print(gr_buf *out, const gate_series *s);
bool gate_series_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_series *out);
void gate_run_print(gr_buf *out, const gate_run *r);
bool gate_run_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_run *out);

/* A result file: [metrics] and [config], both optional, flat. gate/result-invalid. */
typedef struct gate_result { gate_keys metrics, config; } gate_result;
bool gate_result_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_result *out);
/* A metric as a number; false when it is absent or none. */
bool gate_number(const gate_keys *k, const char *name, double *out);

/* Evidence of load by the registered rule. */
bool gate_run_loaded(const gate_run *r, double load_limit);

/* TOML lines: key = value. Keys are quoted when they are not bare. */
void gate_toml_key(gr_buf *b, gr_str key);
void gate_toml_str(gr_buf *b, const char *key, gr_str v);
void gate_toml_num(gr_buf *b, const char *key, double v); /* nothing for NaN */
void gate_toml_bool(gr_buf *b, const char *key, bool v);
void gate_toml_strs(gr_buf *b, const char *key, const gr_str *v, uint32_t n);
void gate_toml_keys(gr_buf *b, const char *table, const gate_keys *k); /* [table] and its lines; nothing for none */

#endif
