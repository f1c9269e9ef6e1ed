/* result.h: the files of a training: result.toml, losses.csv, evaluation.csv, splats.ply, report.html. docs/splat.md has their fields. */
#ifndef GR_SPLAT_RESULT_H
#define GR_SPLAT_RESULT_H

#include "splat/trainer.h"

/* losses.csv below the trainer's folder: one line a step. Lines of an earlier run up to the step from which this one went on are kept. */
bool gr_result_losses(const gr_trainer *t);
/* Everything, below the trainer's folder. */
bool gr_result_write(gr_trainer *t);
/* result.toml as text. */
bool gr_result_toml(gr_buf *out, gr_trainer *t);
/* report.html as text: curves, the worst held-out views beside the truth, time by stage, configuration; no script, light and dark. */
bool gr_report_html(gr_buf *out, gr_trainer *t);

typedef struct gr_provenance {
    gr_str version, binary, library, revision, profile, adapter, executor, guarantee, parameters; /* hashes as "sha256:..."; "" where unknown */
} gr_provenance;
/* Of this program, its session's device and what the trainer has trained. */
gr_provenance gr_provenance_of(gr_arena *a, gr_trainer *t);

/* Steps a second of this run; 0 before the first. */
double gr_result_speed(const gr_trainer *t);
/* The mean of the last `most` losses; NaN when there are none. */
double gr_result_loss(const gr_trainer *t, uint32_t most);

#endif
