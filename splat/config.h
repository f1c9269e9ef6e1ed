/* config.h: the configuration of a training.
 *
 * config.def is the one table of keys: the struct, the parser, defaults, bounds, printing and wiring are made from it. A key that is in the
 * table and has no wire_ function in config_apply.c does not build. */
#ifndef GR_SPLAT_CONFIG_H
#define GR_SPLAT_CONFIG_H

#include "base/value.h"
#include "splat/scene.h"

/* The choices, one enum for all: GR_BACKWARD_PER_SPLAT ... Unset (0) only where there is no default. */
typedef enum gr_choice {
    GR_TIER_NONE_SET = 0,
#define GR_CHOICE(choice, value, text, verdict, finding) GR_##choice##_##value,
#include "splat/config.def"
    GR_CHOICE_COUNT
} gr_choice;

typedef enum gr_key {
#define GR_KEY(table, name, type, value, least, most, only, about) GR_KEY_##table##_##name,
#include "splat/config.def"
    GR_KEY_COUNT
} gr_key;

#define GR_TYPE_TEXT gr_str
#define GR_TYPE_WHOLE uint32_t
#define GR_TYPE_REAL double
#define GR_TYPE_SWITCH bool
#define GR_TYPE_BACKGROUND gr_choice
#define GR_TYPE_INIT gr_choice
#define GR_TYPE_TIER gr_choice
#define GR_TYPE_LOSS gr_choice
#define GR_TYPE_WINDOW gr_choice
#define GR_TYPE_STRATEGY gr_choice
#define GR_TYPE_SCHEDULE gr_choice
#define GR_TYPE_BACKWARD gr_choice
#define GR_TYPE_BINNING gr_choice
#define GR_TYPE_LOSS_PATH gr_choice
#define GR_TYPE_SSIM_REDUCE gr_choice
#define GR_TYPE_PIPELINING gr_choice
#define GR_TYPE_HOST_SCHEDULE gr_choice

/* As resolved: a field a key, named table_key. */
typedef struct gr_config {
#define GR_KEY(table, name, type, value, least, most, only, about) GR_TYPE_##type table##_##name;
#include "splat/config.def"
    bool given[GR_KEY_COUNT]; /* stood in the file, or was set from outside */
} gr_config;

typedef enum gr_verdict { GR_VERDICT_NONE = 0, GR_VERDICT_DEFAULT, GR_VERDICT_ADOPTED, GR_VERDICT_REJECTED, GR_VERDICT_KEPT } gr_verdict;

const char *gr_choice_text(gr_choice c);          /* "per_splat"; "" when unset */
gr_verdict gr_choice_verdict(gr_choice c);
const char *gr_choice_finding(gr_choice c);
const char *gr_verdict_text(gr_verdict v);        /* "kept, not gated" */
const char *gr_key_table(gr_key k);
const char *gr_key_name(gr_key k);

/* Every key at its default; train.tier is unset and data.path empty, for which there is none. */
gr_config gr_config_default(void);
/* Reads TOML over what is in c. Every mistake is reported: base/toml-*, splat/config-key, splat/config-value. Text is dup'd into a. */
bool gr_config_read(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_config *c);
/* Combinations, and what has to be there: canvas/tier-missing, base/key-missing for data.path, splat/config-combination, and
 * splat/config-no-effect (a warning). name: of the file. */
bool gr_config_verify(gr_diags *d, gr_str name, const gr_config *c);
/* Defaults, then the file, then `set` ("table.key=value", n of them), then verify. data.path and data.points are made relative to the file's
 * folder. False when anything is wrong; everything wrong was reported. */
bool gr_config_load(gr_arena *a, gr_diags *d, gr_str path, const char *const *set, uint32_t n, gr_config *out);

/* One value as TOML ("0.2", "\"adc\"", "true"); an unset choice as "". */
void gr_config_value(gr_buf *out, const gr_config *c, gr_key k);
/* TOML tables that read back as the same configuration; `prefix` ("config.") goes before table names. comments: verdicts and what
 * each key does behind each line. */
void gr_config_print(gr_buf *out, const gr_config *c, const char *prefix, bool comments);
/* One object of tables; null for what is unset. */
void gr_config_json(gr_buf *out, const gr_config *c);
/* The table of keys, values and verdicts, for --help and docs. */
void gr_config_help(gr_buf *out);

/* ---- what a training takes ---------------------------------------------------------- */

typedef struct gr_setup {
    gr_scene_desc scene;
    struct { gr_choice background, init; uint32_t random_splats; double random_extent; uint64_t cache_bytes; uint32_t decode_threads; } data;
    struct {
        uint32_t max_steps, log_every, eval_every, checkpoint_every, sh_degree, sh_every, ssim_window;
        uint64_t seed;
        const char *tier;   /* "debug" "prod" "fast" */
        double lambda_ssim; /* 0 when the loss is l1 */
        bool ssim, mcmc, antialiased;
    } train;
    struct {
        uint32_t every, start, stop, cap_max, reset_every;
        double prune_opacity, prune_scale, grad_threshold, clone_scale, split_factor, reset_opacity, grow, noise, regularise_opacity, regularise_scale;
    } refine;
    struct { double means, means_final, dc, sh, opacity, scale, rotation, beta1, beta2, epsilon; bool decay; } optim;
    struct {
        gr_choice backward, ssim_reduce, host_schedule;
        bool binning_host, loss_host, pipelined, scratch_persist, direct_write, lower_cap;
        uint64_t budget_bytes; /* 0: what the adapter has */
    } backend;
} gr_setup;

/* The one way from a configuration to a run: train, resume, bench and eval all take it. */
gr_setup gr_config_apply(const gr_config *c);
/* Whether a step refines: step % every == 0 and start <= step <= stop, steps counted from 1. By the counter alone. */
bool gr_setup_refines(const gr_setup *s, uint32_t step);

#endif
