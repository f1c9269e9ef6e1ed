#include "wgsl/lane.h"
#include "wgsl/lane_suites.h"

static const lane_info infos[LANE_COUNT] = {
#define CLASS(x) (#x)[0]
#define LANE(name, shape, d, a, b, c) [LANE_##name] = {#name, LANE_##shape, CLASS(d), CLASS(a), CLASS(b), CLASS(c)},
#include "wgsl/lane.def"
#undef LANE
};

const lane_info *gr_lane_info(uint32_t op) { return &infos[op < LANE_COUNT ? op : 0]; }

uint32_t gr_lane_best_isa(void) {
#if LANE_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        return 3;
    if (__builtin_cpu_supports("avx2")) return 2;
#endif
    return 1;
}

static uint32_t usable(uint32_t isa) {
    uint32_t best = gr_lane_best_isa();
    return isa == 0 || isa > best ? best : isa;
}

static const lane_row *suite(uint32_t isa, lane_kind kind) {
#if LANE_X86
    if (isa == 3) return kind == LANE_F32 ? gr_lane_f32_avx512 : gr_lane_f64_avx512;
    if (isa == 2) return kind == LANE_F32 ? gr_lane_f32_avx2 : gr_lane_f64_avx2;
#endif
    (void)isa;
    return kind == LANE_F32 ? gr_lane_f32_generic : gr_lane_f64_generic;
}

const lane_row *gr_lane_row(uint32_t isa, lane_kind kind, uint32_t op) {
    if (gr_lane_info(op)->shape == LANE_CALL) return kind == LANE_F32 ? &gr_lane_f32_calls[op] : &gr_lane_f64_calls[op];
    return &suite(usable(isa), kind)[op];
}

const lane_memory *gr_lane_memory(uint32_t isa) {
#if LANE_X86
    uint32_t u = usable(isa);
    if (u == 3) return &gr_lane_memory_avx512;
    if (u == 2) return &gr_lane_memory_avx2;
#endif
    (void)isa, (void)usable;
    return &gr_lane_memory_generic;
}
