/* What both strategies share: draws, opacity, and the way in. */
#include "refine_int.h"

#include "base/math.h"
#include "base/rng.h"

gr_refine gr_refine_of(const gr_setup *s, double extent, uint32_t cap) {
    return (gr_refine){.mcmc = s->train.mcmc, .cap = cap < s->refine.cap_max ? cap : s->refine.cap_max, .seed = s->train.seed, .extent = extent,
                       .prune_opacity = s->refine.prune_opacity, .prune_scale = s->refine.prune_scale, .grad_threshold = s->refine.grad_threshold,
                       .clone_scale = s->refine.clone_scale, .split_factor = s->refine.split_factor, .reset_opacity = s->refine.reset_opacity,
                       .grow = s->refine.grow, .noise = s->refine.noise};
}

void gr_draw_uniform(uint64_t seed, gr_purpose p, uint32_t step, uint64_t row, double out[4]) {
    gr_u32x4 u = gr_philox(seed, (uint64_t)p << 32 | step, row);
    for (int k = 0; k < 4; k++) out[k] = (u.v[k] + 0.5) / 4294967296.0;
}

void gr_draw_normal(uint64_t seed, gr_purpose p, uint32_t step, uint64_t row, double out[4]) {
    double u[4];
    gr_draw_uniform(seed, p, step, row, u);
    for (int k = 0; k < 4; k += 2) {
        double r = gr_sqrt(-2 * gr_log(u[k])), angle = 6.283185307179586 * u[k + 1];
        out[k] = r * gr_cos(angle);
        out[k + 1] = r * gr_sin(angle);
    }
}

double gr_refine_opacity(const gr_state *s, uint32_t i) { return 1 / (1 + gr_exp(-(double)s->value[GR_GROUP_OPACITY][i])); }
double gr_refine_logit(double o) { return gr_log(o / (1 - o)); }

void gr_refine_axes(const gr_state *s, uint32_t i, double r[9]) {
    const float *q = s->value[GR_GROUP_ROTATION] + 4 * (size_t)i;
    static const double zero[3] = {0};
    const double wide[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    static const gr_pose none = {.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    gr_pose p;
    if (!gr_pose_from_quaternion(wide, zero, &p)) p = none;
    memcpy(r, p.r, sizeof p.r);
}

bool gr_refine_run(gr_diags *d, gr_state *s, const gr_refine *r, uint32_t step, gr_refined *out) {
    return r->mcmc ? gr_refine_mcmc(d, s, r, step, out) : gr_refine_adc(d, s, r, step, out);
}
