/* Lane loops for AVX-512. Contraction stays off: the bits are those of lane_generic.c. */
#include "base/math.h"
#include "wgsl/lane.h"
#include "wgsl/lane_suites.h"

#include <string.h>

#if LANE_X86
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq")
#endif
#include "wgsl/lane_fast.h"
#define LANE_SUITE(name) name##_avx512
#include "wgsl/lane_ops.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
