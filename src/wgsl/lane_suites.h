/* lane_suites.h: the tables that each instruction set's file defines. */
#ifndef GR_WGSL_LANE_SUITES_H
#define GR_WGSL_LANE_SUITES_H

#include "wgsl/lane.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define LANE_X86 1
#else
#define LANE_X86 0
#endif

extern const lane_row gr_lane_f32_generic[LANE_COUNT], gr_lane_f64_generic[LANE_COUNT];
extern const lane_memory gr_lane_memory_generic;
#if LANE_X86
extern const lane_row gr_lane_f32_avx2[LANE_COUNT], gr_lane_f64_avx2[LANE_COUNT];
extern const lane_memory gr_lane_memory_avx2;
extern const lane_row gr_lane_f32_avx512[LANE_COUNT], gr_lane_f64_avx512[LANE_COUNT];
extern const lane_memory gr_lane_memory_avx512;
#endif
/* The CALL operations, which no instruction set changes. */
extern const lane_row gr_lane_f32_calls[LANE_COUNT], gr_lane_f64_calls[LANE_COUNT];

#endif
