/* The schedule by the counter: ticks, rates, order of views, what waits for what. */
#include "kit.h"

#include <math.h>

#include "oracle.h"
#include "splat/schedule.h"

static gr_config config;

static int begin(void **state) {
    config = gr_config_default();
    return setup(state);
}

static gr_setup applied(void) { return gr_config_apply(&config); }

/* Every 100, start 500, 1,000 steps: 6 refinements, and as many steps that wait. */
static void the_example(void **state) {
    (void)state;
    config.refine_start = 500;
    config.train_max_steps = 1000;
    gr_setup s = applied();
    uint32_t ticks = 0;
    for (uint32_t step = 1; step <= 1000; step++) {
        gr_tick t = gr_schedule_tick(&s, 1, step);
        ticks += t.refine;
        assert_int_equal(t.refine, step >= 500 && step % 100 == 0);
    }
    assert_int_equal(ticks, 6);
    assert_int_equal(gr_schedule_syncs(&s, 1), 6);
    config.backend_pipelining = GR_PIPELINING_OFF;
    s = applied();
    assert_int_equal(gr_schedule_syncs(&s, 1), 1000);
    config.backend_pipelining = GR_PIPELINING_DEPTH2;
    config.train_max_steps = 1001; /* the last step waits */
    s = applied();
    assert_int_equal(gr_schedule_syncs(&s, 1), 7);
    assert_int_equal(gr_schedule_syncs(&s, 601), 5);
}

static void resets(void **state) {
    (void)state;
    gr_setup s = applied();
    uint32_t n = 0;
    for (uint32_t step = 1; step <= 30000; step++) {
        gr_tick t = gr_schedule_tick(&s, 1, step);
        n += t.reset;
        if (t.reset) assert_true(step % 3000 == 0 && step <= 14900 && !t.prefetch);
    }
    assert_int_equal(n, 4);
    config.train_max_steps = 3000; /* never at the end */
    s = applied();
    assert_false(gr_schedule_tick(&s, 1, 3000).reset);
    config.train_max_steps = 30000;
    config.train_strategy = GR_STRATEGY_MCMC;
    s = applied();
    assert_false(gr_schedule_tick(&s, 1, 3000).reset);
    assert_true(gr_schedule_tick(&s, 1, 1).noise && gr_schedule_tick(&s, 1, 1).prefetch);
    config.refine_noise = 0;
    s = applied();
    assert_false(gr_schedule_tick(&s, 1, 1).noise);
}

static void rates(void **state) {
    (void)state;
    gr_setup s = applied();
    for (uint32_t step = 1; step <= 30000; step += 29999.0 > step ? 101 : 1) {
        gr_tick t = gr_schedule_tick(&s, 2.5, step);
        near_(t.rate.means / (2.5 * or_rate(1.6e-4, 1.6e-6, (int)step - 1, 29999)), 1, 1e-12);
        near_(t.rate.opacity, 0.05, 0);
        assert_int_equal(t.sh_degree, step <= 1000 ? 0 : step <= 2000 ? 1 : step <= 3000 ? 2 : 3);
    }
    near_(gr_schedule_tick(&s, 1, 1).rate.means, 1.6e-4, 0);
    near_(gr_schedule_tick(&s, 1, 30000).rate.means, 1.6e-6, 1e-19);
    config.optim_schedule = GR_SCHEDULE_CONSTANT;
    config.train_sh_degree = 1;
    s = applied();
    near_(gr_schedule_tick(&s, 1, 30000).rate.means, 1.6e-4, 0);
    assert_int_equal(gr_schedule_tick(&s, 1, 30000).sh_degree, 1);
    config.optim_schedule = GR_SCHEDULE_EXPONENTIAL;
    config.optim_means = 0; /* no NaN */
    s = applied();
    near_(gr_schedule_tick(&s, 1, 77).rate.means, 0, 0);
}

/* All of host_schedule x ssim_reduce x pipelining: who does what when. */
static void shadows(void **state) {
    (void)state;
    static const gr_choice when[] = {GR_HOST_SCHEDULE_OFF, GR_HOST_SCHEDULE_FORWARD_SHADOW, GR_HOST_SCHEDULE_BACKWARD_SHADOW};
    static const gr_choice where[] = {GR_SSIM_REDUCE_GPU, GR_SSIM_REDUCE_HOST, GR_SSIM_REDUCE_HOST_LAGGED};
    config.train_log_every = 10;
    config.train_eval_every = 15;
    config.train_checkpoint_every = 35;
    config.train_max_steps = 1000;
    for (int h = 0; h < 3; h++)
        for (int w = 0; w < 3; w++)
            for (int depth = 0; depth < 2; depth++) {
                config.backend_host_schedule = when[h];
                config.backend_ssim_reduce = where[w];
                config.backend_pipelining = depth ? GR_PIPELINING_DEPTH2 : GR_PIPELINING_OFF;
                gr_setup s = applied();
                for (uint32_t step = 1; step <= 1000; step++) {
                    gr_tick t = gr_schedule_tick(&s, 1, step);
                    bool refine = step >= 600 && step % 100 == 0, read = step % 10 == 0 || step % 15 == 0 || step % 35 == 0;
                    bool ahead = depth && !refine && step != 1000;
                    assert_int_equal(t.prefetch, ahead);
                    assert_int_equal(t.host, !ahead || h == 0 ? GR_HOST_AT_ONCE : h == 1 || read ? GR_HOST_IN_FORWARD : GR_HOST_IN_BACKWARD);
                    assert_int_equal(t.defers, ahead && h == 2 && w == 2 && !read);
                }
            }
    config.train_loss = GR_LOSS_L1;
    gr_setup s = applied();
    assert_false(gr_schedule_tick(&s, 1, 7).defers);
}

static void ticks(void **state) {
    (void)state;
    config.train_max_steps = 110;
    config.train_eval_every = 0;
    config.train_checkpoint_every = 50;
    gr_setup s = applied();
    for (uint32_t step = 1; step <= 110; step++) {
        gr_tick t = gr_schedule_tick(&s, 1, step);
        assert_int_equal(t.log, step == 100 || step == 110);
        assert_int_equal(t.eval, step == 110);
        assert_int_equal(t.checkpoint, step == 50 || step == 100 || step == 110);
        assert_int_equal(t.last, step == 110);
    }
}

/* Each epoch takes every view once; epochs and seeds differ; any step can be asked for first. */
static void order(void **state) {
    (void)state;
    enum { N = 37 };
    gr_order o, again;
    uint32_t first[3][N], same = 0;
    fine(gr_order_new(&diags, 5, N, &o));
    for (uint32_t step = 1; step <= 3 * N; step++) first[(step - 1) / N][(step - 1) % N] = gr_order_at(&o, step);
    for (int e = 0; e < 3; e++) {
        bool seen[N] = {false};
        for (int i = 0; i < N; i++) {
            assert_true(first[e][i] < N && !seen[first[e][i]]);
            seen[first[e][i]] = true;
            same += first[e][i] == first[(e + 1) % 3][i];
        }
    }
    assert_true(same < 20);
    fine(gr_order_new(&diags, 5, N, &again));
    assert_int_equal(gr_order_at(&again, 2 * N + 4), first[2][3]);
    assert_int_equal(gr_order_at(&again, 4), first[0][3]);
    gr_order_free(&again);
    fine(gr_order_new(&diags, 6, N, &again));
    same = 0;
    for (uint32_t i = 0; i < N; i++) same += gr_order_at(&again, i + 1) == first[0][i];
    assert_true(same < 15);
    gr_order_free(&again);
    gr_order_free(&o);
    fine(gr_order_new(&diags, 1, 1, &o));
    assert_int_equal(gr_order_at(&o, 9), 0);
    gr_order_free(&o);
}

static void background(void **state) {
    (void)state;
    float x[3], y[3];
    gr_setup s = applied();
    gr_schedule_background(&s, 1, x);
    assert_true(x[0] == 1 && x[2] == 1);
    config.data_background = GR_BACKGROUND_BLACK;
    s = applied();
    gr_schedule_background(&s, 1, x);
    assert_true(x[0] == 0 && x[2] == 0);
    config.data_background = GR_BACKGROUND_RANDOM;
    s = applied();
    gr_schedule_background(&s, 1, x);
    gr_schedule_background(&s, 2, y);
    assert_true(x[0] != y[0] && x[0] != x[1] && x[1] > 0 && x[1] < 1);
    gr_schedule_background(&s, 1, y);
    assert_memory_equal(x, y, sizeof x);
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, teardown)
int main(void) {
    const struct CMUnitTest tests[] = {T(the_example), T(resets), T(rates), T(shadows), T(ticks), T(order), T(background)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
