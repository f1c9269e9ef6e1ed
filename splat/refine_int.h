/* refine_int.h: what refine.c gives refine_adc.c and refine_mcmc.c. */
#ifndef GR_SPLAT_REFINE_INT_H
#define GR_SPLAT_REFINE_INT_H

#include "splat/refine.h"

double gr_refine_opacity(const gr_state *s, uint32_t i); /* sigmoid of the logit */
double gr_refine_logit(double opacity);
/* The rotation of splat i by rows; none where its quaternion is 0. */
void gr_refine_axes(const gr_state *s, uint32_t i, double r[9]);

#endif
