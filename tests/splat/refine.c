/* Refinement by hand, against the mathematics of oracle.h, and where it would go wrong: NaN, no room, all dead, coincident splats. */
#include "kit.h"

#include <math.h>

#include "oracle.h"
#include "splat/refine.h"

static gr_state s;

static double logit(double o) { return log(o / (1 - o)); }
static double opacity(uint32_t i) { return 1 / (1 + exp(-(double)s.value[GR_GROUP_OPACITY][i])); }

/* n splats of scale `scale` and opacity 0.5, splat i at (i, 0, 0), with moments and statistics. */
static void make(uint32_t n, uint32_t cap, double scale) {
    fine(gr_state_new(&diags, cap, 1, &s));
    s.n = n;
    for (uint32_t i = 0; i < n; i++) {
        s.value[GR_GROUP_MEANS][3 * i] = (float)i;
        s.value[GR_GROUP_ROTATION][4 * i] = 1;
        for (int k = 0; k < 3; k++) s.value[GR_GROUP_SCALE][3 * i + (uint32_t)k] = (float)log(scale);
        for (int k = 0; k < 12; k++) s.value[GR_GROUP_SH][12 * i + (uint32_t)k] = (float)(i + 1) / 16;
        s.m[GR_GROUP_MEANS][3 * i] = s.v[GR_GROUP_MEANS][3 * i] = (float)(i + 1);
        s.m[GR_GROUP_OPACITY][i] = s.v[GR_GROUP_OPACITY][i] = 1;
        s.grad_count[i] = 2;
    }
}

static gr_refine rules(bool mcmc) {
    gr_config c = gr_config_default();
    c.train_strategy = mcmc ? GR_STRATEGY_MCMC : GR_STRATEGY_ADC;
    gr_setup setup_ = gr_config_apply(&c);
    return gr_refine_of(&setup_, 10, s.cap);
}

static int end(void **state) {
    gr_state_free(&s);
    return teardown(state);
}

/* As the oracle decides, for splats on both sides of every threshold. */
static void decides(void **state) {
    (void)state;
    static const double gradients[] = {0, 1.9e-4, 2.1e-4}, scales[] = {0.05, 0.2}, opacities[] = {0.004, 0.006, 0.9};
    make(18, 64, 1);
    uint32_t want[4] = {0}, i = 0;
    for (int g = 0; g < 3; g++)
        for (int k = 0; k < 2; k++)
            for (int o = 0; o < 3; o++, i++) {
                double e[3] = {log(scales[k]), log(scales[k]) - 1, log(scales[k]) - 2};
                for (uint32_t j = 0; j < 3; j++) s.value[GR_GROUP_SCALE][3 * i + j] = (float)e[j];
                s.value[GR_GROUP_OPACITY][i] = (float)logit(opacities[o]);
                s.grad_sum[i] = (float)(2 * gradients[g]);
                want[or_adc(gradients[g], e, logit(opacities[o]), 10)]++;
            }
    gr_refine r = rules(false);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(got.cloned, want[OR_CLONE]);
    assert_int_equal(got.split, want[OR_SPLIT]);
    assert_int_equal(got.pruned, want[OR_PRUNE]);
    assert_int_equal(got.after, 18 - want[OR_PRUNE] + want[OR_CLONE] + want[OR_SPLIT]);
    assert_true(want[OR_CLONE] && want[OR_SPLIT] && want[OR_PRUNE] && want[OR_KEEP]);
    for (i = 0; i < s.n; i++) assert_true(s.grad_sum[i] == 0 && s.grad_count[i] == 0);
}

/* A clone is the same splat without moments; the first keeps its own. */
static void clones(void **state) {
    (void)state;
    make(2, 8, 0.05);
    s.grad_sum[1] = 1;
    gr_refine r = rules(false);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(s.n, 3);
    for (uint32_t k = 0; k < 12; k++) assert_true(s.value[GR_GROUP_SH][24 + k] == s.value[GR_GROUP_SH][12 + k]);
    for (uint32_t k = 0; k < 3; k++) assert_true(s.value[GR_GROUP_MEANS][6 + k] == s.value[GR_GROUP_MEANS][3 + k]);
    assert_true(s.m[GR_GROUP_MEANS][3] == 2 && s.m[GR_GROUP_MEANS][6] == 0 && s.v[GR_GROUP_OPACITY][2] == 0 && s.v[GR_GROUP_OPACITY][1] == 1);
}

/* Children of a split are drawn from the splat: mean and covariance over many of them, and the size by 1.6. */
static void splits(void **state) {
    (void)state;
    enum { N = 20000 };
    make(N, 2 * N, 1);
    static const float q[4] = {0.5f, 0.5f, 0.5f, -0.5f};
    const or_splat one = {.scale = {log(0.5), log(1.0), log(2.0)}, .rotation = {0.5, 0.5, 0.5, -0.5}};
    double sigma[9], mean[3] = {0}, cov[9] = {0};
    or_covariance(&one, sigma);
    for (uint32_t i = 0; i < N; i++) {
        s.value[GR_GROUP_MEANS][3 * i] = 3;
        memcpy(s.value[GR_GROUP_ROTATION] + 4 * i, q, sizeof q);
        for (uint32_t k = 0; k < 3; k++) s.value[GR_GROUP_SCALE][3 * i + k] = (float)one.scale[k];
        s.grad_sum[i] = 1;
    }
    gr_refine r = rules(false);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(got.split, N);
    assert_int_equal(s.n, 2 * N);
    for (uint32_t i = 0; i < s.n; i++) {
        const float *x = s.value[GR_GROUP_MEANS] + 3 * i;
        for (int k = 0; k < 3; k++) mean[k] += (double)x[k] / s.n;
        for (int k = 0; k < 9; k++) cov[k] += ((double)x[k / 3] - (k / 3 ? 0 : 3)) * ((double)x[k % 3] - (k % 3 ? 0 : 3)) / s.n;
        near_(s.value[GR_GROUP_SCALE][3 * i + 2], log(2.0 / 1.6), 1e-6);
        assert_true(s.m[GR_GROUP_MEANS][3 * i] == 0);
    }
    for (int k = 0; k < 3; k++) near_(mean[k], k ? 0 : 3, 0.05); /* 5 standard errors of the widest axis */
    for (int k = 0; k < 9; k++) near_(cov[k], sigma[k], 0.15);
    assert_true(s.value[GR_GROUP_MEANS][0] != s.value[GR_GROUP_MEANS][3 * N]);
}

/* Without room for all the steepest go first, and the count of those refused is told. */
static void keeps_to_the_cap(void **state) {
    (void)state;
    make(6, 8, 0.05);
    for (uint32_t i = 0; i < 6; i++) s.grad_sum[i] = (float)(i == 3 ? 9 : 1 + i % 2);
    gr_refine r = rules(false);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(s.n, 8);
    assert_int_equal(got.refused, 4);
    near_(s.value[GR_GROUP_MEANS][18], 1, 0); /* row 1 of gradient 2, before 5, and 3 */
    near_(s.value[GR_GROUP_MEANS][21], 3, 0);
    fine(gr_refine_run(&diags, &s, &r, 600, &got));
    assert_int_equal(s.n, 8);
}

static void prunes_what_is_not_finite_or_too_large(void **state) {
    (void)state;
    make(5, 8, 0.05);
    s.value[GR_GROUP_MEANS][3] = NAN;
    s.value[GR_GROUP_SH][24] = INFINITY;
    s.value[GR_GROUP_SCALE][9] = (float)log(1.5); /* over 0.1 of the extent */
    gr_refine r = rules(false);
    gr_refined got;
    gr_state_clear_statistics(&s);
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(got.pruned, 2);
    assert_int_equal(got.not_finite, 2);
    near_(s.value[GR_GROUP_MEANS][0], 0, 0);
    near_(s.value[GR_GROUP_MEANS][3], 3, 0);
    near_(s.m[GR_GROUP_MEANS][3], 4, 0); /* moments go with it */
    r.prune_large = true;
    fine(gr_refine_run(&diags, &s, &r, 600, &got));
    assert_int_equal(got.pruned, 1);
    near_(s.value[GR_GROUP_MEANS][3], 4, 0);
}

static void resets_opacity(void **state) {
    (void)state;
    make(2, 4, 1);
    s.value[GR_GROUP_OPACITY][1] = (float)logit(0.007);
    gr_refine r = rules(false);
    gr_refine_reset(&s, &r);
    near_(opacity(0), 0.01, 1e-7);
    near_(opacity(1), 0.007, 1e-7);
    assert_true(s.m[GR_GROUP_OPACITY][0] == 0 && s.v[GR_GROUP_OPACITY][1] == 0 && s.m[GR_GROUP_MEANS][0] == 1);
}

static void shares(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= 51; n++)
        for (double o = 0.01; o < 1; o += 0.07) {
            double got[2], want[2];
            gr_refine_share(o, n, &got[0], &got[1]);
            or_relocate(o, (int)n, &want[0], &want[1]);
            near_(got[0], want[0], 1e-13);
            near_(got[1] / want[1], 1, 1e-6); /* both sum terms that cancel */
        }
}

/* A dead one becomes a copy of a live one; together they are as opaque in the middle as the live one was. */
static void relocates(void **state) {
    (void)state;
    make(3, 3, 0.1);
    s.value[GR_GROUP_OPACITY][0] = (float)logit(0.004);
    s.value[GR_GROUP_OPACITY][1] = (float)logit(0.8);
    s.value[GR_GROUP_OPACITY][2] = (float)logit(0.0051);
    s.value[GR_GROUP_MEANS][6] = NAN; /* not finite: dead too */
    gr_refine r = rules(true);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(got.relocated, 2);
    assert_int_equal(got.not_finite, 1);
    assert_int_equal(got.added, 0);
    double o, factor, through = 1;
    or_relocate(0.8, 3, &o, &factor);
    for (uint32_t i = 0; i < 3; i++) {
        near_(opacity(i), o, 1e-6);
        near_(s.value[GR_GROUP_SCALE][3 * i], log(0.1 * factor), 1e-5);
        near_(s.value[GR_GROUP_MEANS][3 * i], 1, 0);
        assert_true(s.m[GR_GROUP_MEANS][3 * i] == 0);
        through *= 1 - opacity(i);
    }
    near_(through, 0.2, 1e-6);
}

/* Rows are drawn by their opacity: 1 to 3 here, over many draws. */
static void draws_by_opacity(void **state) {
    (void)state;
    enum { N = 40000 };
    make(N, N, 0.1);
    for (uint32_t i = 2; i < N; i++) s.value[GR_GROUP_OPACITY][i] = -20;
    s.value[GR_GROUP_OPACITY][0] = (float)logit(0.3);
    s.value[GR_GROUP_OPACITY][1] = (float)logit(0.9);
    gr_refine r = rules(true);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    uint32_t ones = 0;
    for (uint32_t i = 2; i < N; i++) ones += s.value[GR_GROUP_MEANS][3 * i] > 0.5f;
    near_(ones / (double)N, 0.75, 5 * sqrt(0.75 * 0.25 / N));
}

static void grows(void **state) {
    (void)state;
    make(40, 43, 0.1);
    gr_refine r = rules(true);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(s.n, 42); /* 5 per cent */
    assert_int_equal(got.added, 2);
    fine(gr_refine_run(&diags, &s, &r, 600, &got));
    assert_int_equal(s.n, 43); /* the cap */
    fine(gr_refine_run(&diags, &s, &r, 700, &got));
    assert_int_equal(s.n, 43);
}

static void nothing_to_go_on(void **state) {
    (void)state;
    make(3, 8, 0.1);
    for (uint32_t i = 0; i < 3; i++) s.value[GR_GROUP_OPACITY][i] = -20;
    gr_refine r = rules(true);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_true(s.n == 3 && !got.relocated && !got.added);
    r = rules(false);
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(s.n, 0);
    fine(gr_refine_run(&diags, &s, &r, 600, &got));
    r = rules(true);
    fine(gr_refine_run(&diags, &s, &r, 600, &got));
    assert_int_equal(s.n, 0);
}

/* Coincident splats stay apart by the noise and by split; no NaN from a quaternion of length 0. */
static void coincident(void **state) {
    (void)state;
    make(4, 16, 0.2);
    for (uint32_t i = 0; i < 4; i++) s.value[GR_GROUP_MEANS][3 * i] = 0, s.grad_sum[i] = 1;
    memset(s.value[GR_GROUP_ROTATION], 0, 16);
    gr_refine r = rules(false);
    gr_refined got;
    fine(gr_refine_run(&diags, &s, &r, 500, &got));
    assert_int_equal(got.split, 4);
    for (uint32_t i = 0; i < s.n; i++) {
        assert_true(gr_state_finite(&s, i));
        for (uint32_t j = 0; j < i; j++) assert_true(s.value[GR_GROUP_MEANS][3 * i] != s.value[GR_GROUP_MEANS][3 * j]);
    }
}

/* Each splat's noise has the covariance of the formula: against oracle.h with the same draws. */
static void noise(void **state) {
    (void)state;
    make(3, 4, 0.3);
    static const double o[3] = {0.001, 0.004, 0.02};
    gr_refine r = rules(true);
    for (uint32_t i = 0; i < 3; i++) {
        s.value[GR_GROUP_OPACITY][i] = (float)logit(o[i]);
        s.value[GR_GROUP_SCALE][3 * i] -= 1;
        s.value[GR_GROUP_ROTATION][4 * i + 1 + i] = 0.7f;
    }
    for (uint32_t step = 1; step < 4; step++) {
        or_splat before[3];
        memset(before, 0, sizeof before);
        for (uint32_t i = 0; i < 3; i++) {
            for (uint32_t k = 0; k < 3; k++) before[i].mean[k] = (double)s.value[GR_GROUP_MEANS][3 * i + k], before[i].scale[k] = (double)s.value[GR_GROUP_SCALE][3 * i + k];
            for (uint32_t k = 0; k < 4; k++) before[i].rotation[k] = (double)s.value[GR_GROUP_ROTATION][4 * i + k];
            before[i].opacity = (double)s.value[GR_GROUP_OPACITY][i];
        }
        gr_refine_noise(&s, &r, 1e-6, step);
        for (uint32_t i = 0; i < 3; i++) {
            double e[4], want[3];
            gr_draw_normal(r.seed, GR_PURPOSE_NOISE, step, i, e);
            or_noise(&before[i], e, 1e-6, want);
            for (uint32_t k = 0; k < 3; k++) near_(s.value[GR_GROUP_MEANS][3 * i + k], before[i].mean[k] + want[k], 3e-7);
        }
    }
}

static void normal_numbers(void **state) {
    (void)state;
    double sum = 0, square = 0, fourth = 0, e[4], f[4];
    enum { N = 20000 };
    for (uint32_t i = 0; i < N; i++) {
        gr_draw_normal(7, GR_PURPOSE_NOISE, 1, i, e);
        for (int k = 0; k < 4; k++) sum += e[k], square += e[k] * e[k], fourth += e[k] * e[k] * e[k] * e[k];
    }
    near_(sum / (4 * N), 0, 5 / sqrt(4 * N));
    near_(square / (4 * N), 1, 5 * sqrt(2.0 / (4 * N)));
    near_(fourth / (4 * N), 3, 5 * sqrt(96.0 / (4 * N)));
    gr_draw_normal(7, GR_PURPOSE_SPLIT, 1, 0, e);
    gr_draw_normal(7, GR_PURPOSE_NOISE, 1, 0, f);
    assert_true(e[0] != f[0]);
}

/* The same (seed, step) draws the same, another step or seed something else. */
static void drawn_from_the_counter(void **state) {
    (void)state;
    char hash[4][72];
    static const uint32_t steps[4] = {500, 500, 600, 500};
    for (int k = 0; k < 4; k++) {
        make(50, 200, 1);
        for (uint32_t i = 0; i < 50; i++) s.grad_sum[i] = 1;
        gr_refine r = rules(false);
        gr_refined got;
        r.seed = k == 3;
        fine(gr_refine_run(&diags, &s, &r, steps[k], &got));
        gr_state_hash(&s, true, hash[k]);
        gr_state_free(&s);
    }
    make(1, 1, 1);
    assert_string_equal(hash[0], hash[1]);
    assert_string_not_equal(hash[0], hash[2]);
    assert_string_not_equal(hash[0], hash[3]);
}

static void no_memory(void **state) {
    (void)state;
    for (int mcmc = 0; mcmc < 2; mcmc++)
        for (uint64_t nth = 1; nth <= (mcmc ? 3 : 1); nth++) {
            char before[72], after[72];
            gr_refined got;
            make(8, 16, 1);
            gr_refine r = rules(mcmc);
            gr_state_hash(&s, true, before);
            gr_heap_fail_nth(nth);
            bool ok = gr_refine_run(&diags, &s, &r, 500, &got);
            gr_heap_fail_nth(0);
            gr_state_hash(&s, true, after);
            assert_false(ok);
            assert_string_equal(before, after);
            assert_true(diags.out_of_memory);
            gr_diags_clear(&diags);
            gr_state_free(&s);
        }
    make(1, 1, 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, end)
int main(void) {
    const struct CMUnitTest tests[] = {T(decides), T(clones), T(splits), T(keeps_to_the_cap), T(prunes_what_is_not_finite_or_too_large), T(resets_opacity), T(shares), T(relocates),
                                       T(draws_by_opacity), T(grows), T(nothing_to_go_on), T(coincident), T(noise), T(normal_numbers), T(drawn_from_the_counter), T(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
