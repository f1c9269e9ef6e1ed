/* clock.h: a monotonic clock for progress and measurements; never for results. */
#ifndef GR_BASE_CLOCK_H
#define GR_BASE_CLOCK_H

double gr_clock_seconds(void);

#endif
