/* Lane loops for the baseline instruction set (SSE2, NEON, wasm simd128 or none). */
#include "base/math.h"
#include "wgsl/lane.h"
#include "wgsl/lane_suites.h"

#include <string.h>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-trapping-math,no-math-errno,fp-contract=off")
#endif
#define LANE_SUITE(name) name##_generic
#include "wgsl/lane_ops.h"
