/* Lane loops for AVX2. Contraction stays off: the bits are those of lane_generic.c. */
#include "base/math.h"
#include "wgsl/lane.h"
#include "wgsl/lane_suites.h"

#include <string.h>

#if LANE_X86
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#include "wgsl/lane_fast.h"
#define LANE_SUITE(name) name##_avx2
#include "wgsl/lane_ops.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
