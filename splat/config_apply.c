/* From a configuration to a run: one function a key. The table declares and calls wire_TABLE_KEY for every key, so that one which is
 * parsed and not wired does not link. */
#include "splat/config.h"

#define GR_KEY(table, name, type, value, least, most, only, about) static void wire_##table##_##name(const gr_config *c, gr_setup *s);
#include "splat/config.def"

#define WIRE(key, statement) \
    static void wire_##key(const gr_config *c, gr_setup *s) { statement; }

WIRE(data_path, s->scene.path = c->data_path)
WIRE(data_images, s->scene.images = c->data_images)
WIRE(data_points, s->scene.points = c->data_points)
WIRE(data_downscale, s->scene.downscale = c->data_downscale)
WIRE(data_test_every, s->scene.test_every = c->data_test_every)
WIRE(data_background, s->data.background = c->data_background)
WIRE(data_init, s->data.init = c->data_init)
WIRE(data_random_splats, s->data.random_splats = c->data_random_splats)
WIRE(data_random_extent, s->data.random_extent = c->data_random_extent)
WIRE(data_cache_mib, s->data.cache_bytes = (uint64_t)c->data_cache_mib << 20)
WIRE(data_decode_threads, s->data.decode_threads = c->data_decode_threads)

WIRE(train_max_steps, s->train.max_steps = c->train_max_steps)
WIRE(train_log_every, s->train.log_every = c->train_log_every)
WIRE(train_eval_every, s->train.eval_every = c->train_eval_every)
WIRE(train_checkpoint_every, s->train.checkpoint_every = c->train_checkpoint_every)
WIRE(train_seed, s->train.seed = c->train_seed)
WIRE(train_tier, s->train.tier = gr_choice_text(c->train_tier))
WIRE(train_loss, s->train.ssim = c->train_loss == GR_LOSS_L1_SSIM)
WIRE(train_lambda_ssim, s->train.lambda_ssim = c->train_loss == GR_LOSS_L1_SSIM ? c->train_lambda_ssim : 0)
WIRE(train_ssim_window, s->train.ssim_window = c->train_ssim_window == GR_WINDOW_11 ? 11 : 7)
WIRE(train_sh_degree, s->train.sh_degree = c->train_sh_degree)
WIRE(train_sh_every, s->train.sh_every = c->train_sh_every)
WIRE(train_strategy, s->train.mcmc = c->train_strategy == GR_STRATEGY_MCMC)
WIRE(train_antialiased, s->train.antialiased = c->train_antialiased)

WIRE(refine_every, s->refine.every = c->refine_every)
WIRE(refine_start, s->refine.start = c->refine_start)
WIRE(refine_stop, s->refine.stop = c->refine_stop)
WIRE(refine_cap_max, s->refine.cap_max = c->refine_cap_max)
WIRE(refine_prune_opacity, s->refine.prune_opacity = c->refine_prune_opacity)
WIRE(refine_prune_scale, s->refine.prune_scale = c->refine_prune_scale)
WIRE(refine_grad_threshold, s->refine.grad_threshold = c->refine_grad_threshold)
WIRE(refine_clone_scale, s->refine.clone_scale = c->refine_clone_scale)
WIRE(refine_split_factor, s->refine.split_factor = c->refine_split_factor)
WIRE(refine_reset_every, s->refine.reset_every = c->refine_reset_every)
WIRE(refine_reset_opacity, s->refine.reset_opacity = c->refine_reset_opacity)
WIRE(refine_grow, s->refine.grow = c->refine_grow)
WIRE(refine_noise, s->refine.noise = c->refine_noise)
WIRE(refine_regularise_opacity, s->refine.regularise_opacity = c->refine_regularise_opacity)
WIRE(refine_regularise_scale, s->refine.regularise_scale = c->refine_regularise_scale)

WIRE(optim_means, s->optim.means = c->optim_means)
WIRE(optim_means_final, s->optim.means_final = c->optim_means_final)
WIRE(optim_dc, s->optim.dc = c->optim_dc)
WIRE(optim_sh, s->optim.sh = c->optim_sh)
WIRE(optim_opacity, s->optim.opacity = c->optim_opacity)
WIRE(optim_scale, s->optim.scale = c->optim_scale)
WIRE(optim_rotation, s->optim.rotation = c->optim_rotation)
WIRE(optim_schedule, s->optim.decay = c->optim_schedule == GR_SCHEDULE_EXPONENTIAL)
WIRE(optim_beta1, s->optim.beta1 = c->optim_beta1)
WIRE(optim_beta2, s->optim.beta2 = c->optim_beta2)
WIRE(optim_epsilon, s->optim.epsilon = c->optim_epsilon)

WIRE(backend_backward, s->backend.backward = c->backend_backward)
WIRE(backend_binning, s->backend.binning_host = c->backend_binning == GR_BINNING_HOST)
WIRE(backend_loss_path, s->backend.loss_host = c->backend_loss_path == GR_LOSS_PATH_HOST)
WIRE(backend_ssim_reduce, s->backend.ssim_reduce = c->backend_ssim_reduce)
WIRE(backend_pipelining, s->backend.pipelined = c->backend_pipelining == GR_PIPELINING_DEPTH2)
WIRE(backend_host_schedule, s->backend.host_schedule = c->backend_host_schedule)
WIRE(backend_refine_scratch_persist, s->backend.scratch_persist = c->backend_refine_scratch_persist)
WIRE(backend_refine_direct_write, s->backend.direct_write = c->backend_refine_direct_write)
WIRE(backend_budget_mib, s->backend.budget_bytes = (uint64_t)c->backend_budget_mib << 20)
WIRE(backend_lower_cap, s->backend.lower_cap = c->backend_lower_cap)

gr_setup gr_config_apply(const gr_config *c) {
    gr_setup s = {0};
#define GR_KEY(table, name, type, value, least, most, only, about) wire_##table##_##name(c, &s);
#include "splat/config.def"
    return s;
}

bool gr_setup_refines(const gr_setup *s, uint32_t step) {
    return step % s->refine.every == 0 && step >= s->refine.start && step <= s->refine.stop;
}
