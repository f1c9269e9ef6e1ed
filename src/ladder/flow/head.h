/* head.h: the header lines that the texts of flow and graph share.
 *
 *   document "examples/despike.json"
 *   tier debug
 *   tolerance default
 *   guarantee replayable
 *   seed 208
 *   budget gpu 256 MiB      (also cpu; a size is exact)
 *   budget cpu_seconds 60
 * Lines of things not declared are left out. */
#ifndef GR_FLOW_HEAD_H
#define GR_FLOW_HEAD_H

#include "base/lex.h"
#include "ladder/canvas/canvas.h"

typedef struct gr_head {
    gr_str document;
    gr_tier tier;
    gr_tolerance tolerance;
    gr_guarantee guarantee;
    uint64_t seed, budget_gpu, budget_cpu;
    double budget_cpu_seconds;
} gr_head;

void gr_head_print(gr_buf *out, const gr_head *h);
/* When the line at hand is one of these: takes it whole, with *was set. False when reported. */
bool gr_head_parse(gr_lex *l, gr_head *h, bool *was);
/* A name as a word when it can be one, else as a string; and back. */
void gr_name_print(gr_buf *out, gr_str name);
bool gr_name_parse(gr_lex *l, const char *what, gr_str *out);

#endif
