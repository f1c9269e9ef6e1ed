#include "splat/schedule.h"

#include "base/math.h"
#include "base/rng.h"
#include "splat/refine.h"

/* From `first` at step 1 to `final` at the last one, by equal factors. */
static double decayed(const gr_setup *s, uint32_t step) {
    double first = s->optim.means, final = s->optim.means_final;
    if (!s->optim.decay || !(first > 0) || !(final > 0) || s->train.max_steps < 2) return first;
    return first * gr_pow(final / first, (double)(step - 1) / (s->train.max_steps - 1));
}

static gr_rates rates(const gr_setup *s, double extent, uint32_t step) {
    return (gr_rates){.means = extent * decayed(s, step), .scale = s->optim.scale, .rotation = s->optim.rotation, .opacity = s->optim.opacity,
                      .dc = s->optim.dc, .sh = s->optim.sh};
}

static bool every(uint32_t step, uint32_t n) { return n && step % n == 0; }

gr_tick gr_schedule_tick(const gr_setup *s, double extent, uint32_t step) {
    uint32_t degree = (step - 1) / s->train.sh_every;
    gr_tick t = {.step = step, .last = step >= s->train.max_steps, .sh_degree = degree < s->train.sh_degree ? degree : s->train.sh_degree, .rate = rates(s, extent, step)};
    t.refine = gr_setup_refines(s, step);
    /* A reset at the end would leave pale splats that no step mends. */
    t.reset = !s->train.mcmc && every(step, s->refine.reset_every) && step <= s->refine.stop && !t.last;
    t.noise = s->train.mcmc && s->refine.noise > 0;
    t.log = every(step, s->train.log_every) || t.last;
    t.eval = every(step, s->train.eval_every) || t.last;
    t.checkpoint = every(step, s->train.checkpoint_every) || t.last;
    t.prefetch = s->backend.pipelined && !t.refine && !t.reset && !t.last;
    bool read = t.log || t.eval || t.checkpoint || t.last;
    if (t.prefetch && s->backend.host_schedule == GR_HOST_SCHEDULE_FORWARD_SHADOW) t.host = GR_HOST_IN_FORWARD;
    if (t.prefetch && s->backend.host_schedule == GR_HOST_SCHEDULE_BACKWARD_SHADOW) t.host = read ? GR_HOST_IN_FORWARD : GR_HOST_IN_BACKWARD;
    t.defers = s->train.ssim && s->backend.ssim_reduce == GR_SSIM_REDUCE_HOST_LAGGED && t.host == GR_HOST_IN_BACKWARD;
    return t;
}

uint32_t gr_schedule_syncs(const gr_setup *s, uint32_t first) {
    uint32_t n = 0;
    for (uint32_t step = first; step <= s->train.max_steps; step++) n += !gr_schedule_tick(s, 1, step).prefetch;
    return n;
}

bool gr_order_new(gr_diags *d, uint64_t seed, uint32_t n, gr_order *out) {
    *out = (gr_order){.seed = seed, .n = n, .view = gr_heap_alloc((size_t)n + 1, sizeof(uint32_t))};
    return out->view || gr_report_oom(d);
}

void gr_order_free(gr_order *o) {
    gr_heap_free(o->view);
    *o = (gr_order){0};
}

/* Fisher and Yates, drawn from a generator that is keyed by the seed and the epoch. */
static void shuffle(gr_order *o, uint32_t epoch) {
    gr_u32x4 key = gr_philox(o->seed, (uint64_t)GR_PURPOSE_ORDER << 32, epoch);
    gr_rng r = gr_rng_seed((uint64_t)key.v[0] << 32 | key.v[1]);
    for (uint32_t i = 0; i < o->n; i++) o->view[i] = i;
    for (uint32_t i = o->n; i > 1; i--) {
        uint32_t j = gr_rng_below(&r, i), swap = o->view[i - 1];
        o->view[i - 1] = o->view[j];
        o->view[j] = swap;
    }
    o->epoch = epoch;
}

uint32_t gr_order_at(gr_order *o, uint32_t step) {
    uint32_t epoch = (step - 1) / o->n + 1;
    if (o->epoch != epoch) shuffle(o, epoch);
    return o->view[(step - 1) % o->n];
}

void gr_schedule_background(const gr_setup *s, uint32_t step, float rgb[3]) {
    double u[4] = {0};
    if (s->data.background == GR_BACKGROUND_RANDOM) gr_draw_uniform(s->train.seed, GR_PURPOSE_BACKGROUND, step, 0, u);
    for (int k = 0; k < 3; k++) rgb[k] = s->data.background == GR_BACKGROUND_WHITE ? 1 : (float)u[k];
}
