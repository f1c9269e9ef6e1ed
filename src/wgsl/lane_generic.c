/* Lane loops for the baseline instruction set (SSE2, NEON, wasm simd128 or none). */
#include "base/math.h"
#include "wgsl/lane.h"
#include "wgsl/lane_suites.h"

#include <string.h>

#include "wgsl/lane_fast.h"
#define LANE_SUITE(name) name##_generic
#include "wgsl/lane_ops.h"
