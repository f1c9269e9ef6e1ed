/* verbs.h: the verbs of `gradus splat`, one each. Each prints its result to stdout, reports into d, and gives 0 or the exit code of
 * what it reported. */
#ifndef GR_SPLAT_VERBS_H
#define GR_SPLAT_VERBS_H

#include "splat/args.h"

extern const gr_verb gr_verb_bench, gr_verb_check, gr_verb_eval, gr_verb_explain, gr_verb_export, gr_verb_render, gr_verb_resume, gr_verb_synth, gr_verb_train;

#endif
