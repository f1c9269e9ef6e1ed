/* The statistics of the gate against simulated runners: known effect, noise, contamination, guard breach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "gate/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SERIES = 20000, SEQUENTIAL_MIN = 3, SEQUENTIAL_MAX = 12 };
static const double noises[] = {0.005, 0.01, 0.02, 0.03, 0.04};
enum { NOISES = sizeof noises / sizeof *noises };

/* A simulated runner. Elapsed times are 100 s with relative Gaussian noise. */
typedef struct runner {
    gr_rng rng;
    double noise, effect, quality_noise, quality_effect;
    double spoiled;   /* share of runs that something else slows by `spoil` */
    double spoil;
    double seen;      /* share of spoiled runs whose load is seen; of the others a tenth of it */
} runner;

/* Box and Muller; one of the pair is enough here. */
static double normal(gr_rng *r) {
    double u = 1 - gr_rng_f64(r), v = gr_rng_f64(r);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

static double run_once(runner *r, bool on, bool *loaded) {
    double t = 100 * (on ? 1 + r->effect : 1) * (1 + r->noise * normal(&r->rng));
    bool spoiled = gr_rng_f64(&r->rng) < r->spoiled;
    *loaded = gr_rng_f64(&r->rng) < (spoiled ? r->seen : r->seen / 10);
    return spoiled ? t * (1 + r->spoil) : t;
}

static void run_pair(runner *r, gate_pairs *s, bool *off_loaded, bool *on_loaded) {
    uint32_t i = s->n++;
    s->quality = true;
    s->off[i] = run_once(r, false, &off_loaded[i]);
    s->on[i] = run_once(r, true, &on_loaded[i]);
    s->q_off[i] = 30 + r->quality_noise * normal(&r->rng);
    s->q_on[i] = 30 + r->quality_effect + r->quality_noise * normal(&r->rng);
}

/* One retry a slot, judged on the runs as they were. */
static void retry(runner *r, gate_pairs *s, const bool *off_loaded, const bool *on_loaded) {
    gate_retry rule = gate_retry_default();
    gate_pairs was = *s;
    bool ignored;
    for (uint32_t i = 0; i < s->n; i++) {
        if (off_loaded[i] && gate_outlier(was.off, was.n, i, &rule, NULL)) s->off[i] = run_once(r, false, &ignored);
        if (on_loaded[i] && gate_outlier(was.on, was.n, i, &rule, NULL)) s->on[i] = run_once(r, true, &ignored);
    }
}

typedef struct rates { double adopt, reject, fragile, design, pairs; } rates;

static rates fixed(runner r, uint32_t n) {
    gate_rule rule = gate_rule_default();
    rates out = {0};
    for (int k = 0; k < SERIES; k++) {
        gate_pairs s = {0};
        bool off_loaded[GATE_PAIRS_MAX], on_loaded[GATE_PAIRS_MAX];
        while (s.n < n) run_pair(&r, &s, off_loaded, on_loaded);
        retry(&r, &s, off_loaded, on_loaded);
        gate_verdict v = gate_judge(&s, &rule);
        out.adopt += v.decision == GATE_ADOPT, out.reject += v.decision == GATE_REJECT;
        out.fragile += v.fragile, out.design += v.all.holds, out.pairs += s.n;
    }
    return (rates){out.adopt / SERIES, out.reject / SERIES, out.fragile / SERIES, out.design / SERIES, out.pairs / SERIES};
}

static rates sequential(runner r) {
    gate_rule rule = gate_rule_default();
    rule.looks = SEQUENTIAL_MAX - SEQUENTIAL_MIN + 1;
    rates out = {0};
    for (int k = 0; k < SERIES; k++) {
        gate_pairs s = {0};
        gate_verdict v = {0};
        bool off_loaded[GATE_PAIRS_MAX], on_loaded[GATE_PAIRS_MAX], any = false;
        do {
            run_pair(&r, &s, off_loaded, on_loaded);
            if (s.n < SEQUENTIAL_MIN) continue;
            v = gate_judge(&s, &rule);
            any = any || v.all.holds;
        } while (s.n < SEQUENTIAL_MAX && !gate_safe(&v));
        out.adopt += v.decision == GATE_ADOPT, out.reject += v.decision == GATE_REJECT;
        out.design += any, out.pairs += s.n;
    }
    return (rates){out.adopt / SERIES, out.reject / SERIES, 0, out.design / SERIES, out.pairs / SERIES};
}

static runner calm(double noise, double effect) {
    return (runner){.rng = gr_rng_seed(20240601), .noise = noise, .effect = effect, .quality_noise = 0.03};
}

static void without_effect_fewer_than_five_in_a_hundred_are_adopted(void **state) {
    (void)state;
    static const uint32_t sizes[] = {2, 3, 5};
    for (int k = 0; k < NOISES; k++) {
        for (int i = 0; i < 3; i++) {
            rates r = fixed(calm(noises[k], 0), sizes[i]);
            print_message("# no effect, noise %.1f %%, n = %u: adopted %.2f %%, design's three criteria alone %.2f %%\n",
                          100 * noises[k], sizes[i], 100 * r.adopt, 100 * r.design);
            assert_true(r.adopt < 0.05);
        }
        rates r = sequential(calm(noises[k], 0));
        print_message("# no effect, noise %.1f %%, sequential: adopted %.2f %% (ever by the three criteria %.2f %%), rejected %.0f %%, %.1f pairs\n",
                      100 * noises[k], 100 * r.adopt, 100 * r.design, 100 * r.reject, r.pairs);
        assert_true(r.adopt < 0.05);
    }
}

static void contamination_and_retries_adopt_nothing_either(void **state) {
    (void)state;
    for (int k = 0; k < NOISES; k++) {
        runner r = calm(noises[k], 0);
        r.spoiled = 0.15, r.spoil = 0.2, r.seen = 0.9;
        double three = fixed(r, 3).adopt, five = fixed(r, 5).adopt, more = sequential(r).adopt;
        print_message("# no effect, noise %.1f %%, 15 %% of runs spoiled: adopted %.2f, %.2f, sequential %.2f %%\n", 100 * noises[k],
                      100 * three, 100 * five, 100 * more);
        assert_true(three < 0.05 && five < 0.05 && more < 0.05);
    }
}

static void three_per_cent_under_half_a_per_cent_of_noise_are_adopted(void **state) {
    (void)state;
    rates three = fixed(calm(0.005, -0.03), 3), more = sequential(calm(0.005, -0.03));
    print_message("# effect 3 %%, noise 0.5 %%: adopted %.2f %%, sequential %.2f %% with %.1f pairs\n", 100 * three.adopt, 100 * more.adopt,
                  more.pairs);
    assert_true(three.adopt >= 0.95 && more.adopt >= 0.95);
    runner spoiled = calm(0.005, -0.03);
    spoiled.spoiled = 0.1, spoiled.spoil = 0.2, spoiled.seen = 1;
    rates with = fixed(spoiled, 3);
    spoiled.seen = 0;
    rates blind = fixed(spoiled, 3);
    print_message("# the same with a tenth of the runs spoiled: %.1f %% with retries, %.1f %% without load evidence\n", 100 * with.adopt,
                  100 * blind.adopt);
    assert_true(with.adopt > blind.adopt + 0.1);
}

static void a_lost_guard_is_never_adopted(void **state) {
    (void)state;
    runner r = calm(0.005, -0.03);
    r.quality_effect = -0.5;
    rates three = fixed(r, 3), more = sequential(r);
    assert_true(three.adopt == 0 && three.reject == 1 && more.adopt == 0 && more.reject == 1);
}

/* ---- fragile and noise, by a second reading of the rule ----------------------------------------------- */

static double spread(const double *v, uint32_t n) {
    double a = v[0], b = v[0];
    for (uint32_t i = 1; i < n; i++) a = v[i] < a ? v[i] : a, b = v[i] > b ? v[i] : b;
    return b - a;
}

/* Plain arithmetic on whole pairs, written without the module's helpers. */
static bool criteria_hold(const double *off, const double *on, const double *q_off, const double *q_on, uint32_t n, bool untouched) {
    double mean = 0, delta = 0, quality = 0, square = 0;
    bool signs = true;
    for (uint32_t i = 0; i < n; i++) {
        mean += off[i] / n, delta += (on[i] - off[i]) / off[i] / n, quality += (q_on[i] - q_off[i]) / n;
        signs = signs && on[i] < off[i];
    }
    for (uint32_t i = 0; i < n; i++) square += (off[i] - mean) * (off[i] - mean);
    double twice = 2 * sqrt(square / (n - 1)) / mean;
    bool breach = quality < -0.05 && !(untouched && -quality <= spread(q_off, n));
    return delta <= -(twice > 0.01 ? twice : 0.01) && signs && !breach;
}

static uint32_t drop(double *to, const double *v, uint32_t n, uint32_t without) {
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i != without) to[m++] = v[i];
    return m;
}

static void fragile_is_what_flips_without_a_pair(void **state) {
    (void)state;
    gate_rule rule = gate_rule_default();
    runner r = calm(0.01, -0.03);
    uint32_t fragile = 0, firm = 0, by_worst = 0;
    for (int k = 0; k < SERIES; k++) {
        gate_pairs s = {0};
        bool ignored[GATE_PAIRS_MAX];
        rule.gradients_untouched = k % 2;
        while (s.n < 4) run_pair(&r, &s, ignored, ignored);
        gate_verdict v = gate_judge(&s, &rule);
        bool all = criteria_hold(s.off, s.on, s.q_off, s.q_on, s.n, rule.gradients_untouched), flips = false;
        assert_int_equal(v.all.holds, all);
        for (uint32_t i = 0; i < s.n; i++) {
            double a[4], b[4], c[4], d[4];
            drop(a, s.off, 4, i), drop(b, s.on, 4, i), drop(c, s.q_off, 4, i), drop(d, s.q_on, 4, i);
            bool without = criteria_hold(a, b, c, d, 3, rule.gradients_untouched);
            assert_int_equal(v.without[i].holds, without);
            flips = flips || without != all;
        }
        by_worst += !flips && v.without_worst.holds != all;
        assert_int_equal(v.fragile, flips || v.without_worst.holds != all);
        if (v.fragile) fragile++;
        else firm++;
    }
    print_message("# of %d series %u fragile (%u by the worst run alone), %u firm\n", SERIES, fragile, by_worst, firm);
    assert_true(fragile > 1000 && firm > 1000);
}

static gate_pairs three(double a, double b, double c) {
    return (gate_pairs){.n = 3, .off = {100, 100.2, 99.8}, .on = {100 + a, 100.2 + b, 99.8 + c}, .quality = true,
                        .q_off = {30, 30.02, 29.98}, .q_on = {30, 30.02, 29.98}};
}

static void known_series_get_their_verdicts(void **state) {
    (void)state;
    gate_rule rule = gate_rule_default();
    gate_pairs s = three(-3, -3, -3);
    gate_verdict v = gate_judge(&s, &rule);
    assert_int_equal(v.decision, GATE_ADOPT);
    assert_false(v.fragile);
    s = three(-3.2, -0.1, -0.1); /* one pair carries the gain */
    v = gate_judge(&s, &rule);
    assert_true(v.all.holds && v.fragile && !v.significant && !v.without[0].holds && v.without[1].holds);
    assert_int_equal(v.decision, GATE_UNDECIDED);
    s = three(-3, -3, 0.1); /* the signs disagree */
    v = gate_judge(&s, &rule);
    assert_false(v.all.signs || v.all.holds);
    assert_true(v.fragile && v.without[2].holds);
    s = three(-0.5, -0.5, -0.5); /* sure, but under the floor */
    v = gate_judge(&s, &rule);
    assert_true(v.significant && !v.all.gain);
    assert_int_equal(v.decision, GATE_REJECT);
    s = three(5, 5, 5);
    assert_int_equal(gate_judge(&s, &rule).decision, GATE_REJECT);
    s.n = 1;
    v = gate_judge(&s, &rule);
    assert_true(v.p == 1 && isinf(v.low) && !v.fragile);
}

static void a_breach_within_the_spread_of_off_is_noise_only_where_gradients_are_untouched(void **state) {
    (void)state;
    gate_rule rule = gate_rule_default();
    gate_pairs s = three(-3, -3, -3);
    for (int touched = 0; touched < 2; touched++)
        for (int step = 0; step <= 20; step++) {
            double loss = step * 0.01; /* dB; the guard is 0.05, the spread of off 0.08 */
            s.q_off[0] = 30, s.q_off[1] = 30.04, s.q_off[2] = 29.96;
            for (int i = 0; i < 3; i++) s.q_on[i] = s.q_off[i] - loss;
            rule.gradients_untouched = !touched;
            gate_verdict v = gate_judge(&s, &rule);
            gate_guard want = step <= 5 ? GATE_GUARD_HELD : !touched && step <= 8 ? GATE_GUARD_NOISE : GATE_GUARD_BREACHED;
            if (step == 5 || step == 8) continue; /* on the edge the last bit decides */
            assert_int_equal(v.all.guard, want);
            assert_int_equal(v.decision, want == GATE_GUARD_BREACHED ? GATE_REJECT : GATE_ADOPT);
        }
    s.quality = false;
    assert_int_equal(gate_judge(&s, &rule).all.guard, GATE_GUARD_NONE);
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

static void t_is_the_tables_t(void **state) {
    (void)state;
    static const struct { double p; uint32_t dof; double t; } table[] = {
        {0.05, 1, 6.313751514675043}, {0.05, 2, 2.919985580353725}, {0.05, 3, 2.3533634348018264}, {0.025, 4, 2.7764451051977987},
        {0.005, 2, 9.92484320091807}, {0.005, 7, 3.4994832973505026}, {0.01, 10, 2.763769458112696}, {0.05, 30, 1.6972608865939574},
        {0.05, 63, 1.6694022217068125}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(fabs(gate_t_quantile(table[i].p, table[i].dof) - table[i].t) < 1e-9 * table[i].t);
        assert_true(fabs(gate_t_tail(table[i].t, table[i].dof) - table[i].p) < 1e-12);
        assert_true(fabs(gate_t_tail(-table[i].t, table[i].dof) - 1 + table[i].p) < 1e-12);
    }
    assert_true(fabs(gate_t_tail(0, 5) - 0.5) < 1e-15);
    assert_true(fabs(gate_t_quantile(0.95, 2) + 2.919985580353725) < 1e-9);
}

static void the_retry_rule_needs_a_sigma(void **state) {
    (void)state;
    gate_retry r = gate_retry_default();
    const double v[] = {100, 101, 130};
    double z = 0;
    assert_true(gate_outlier(v, 3, 2, &r, &z) && z > 10);
    assert_false(gate_outlier(v, 3, 0, &r, NULL));
    const double close[] = {100, 100.001, 102.5}; /* the floor: sigma is never claimed below 1 % */
    assert_false(gate_outlier(close, 3, 2, &r, &z));
    assert_true(z > 2.4 && z < 2.6);
    const double fast[] = {100, 101, 60}; /* load slows, it never speeds up */
    assert_false(gate_outlier(fast, 3, 2, &r, NULL));
    assert_non_null(strstr(gate_retry_blocked(2, true, &r), "no A/A calibration"));
    assert_false(gate_outlier(v, 2, 1, &r, NULL));
    r.sigma = 0.002;
    assert_null(gate_retry_blocked(2, true, &r));
    assert_true(gate_outlier(v, 2, 1, &r, &z));
    assert_true(fabs(z - 5) < 1e-9);
    assert_non_null(gate_retry_blocked(1, true, &r));
    assert_non_null(strstr(gate_retry_blocked(6, false, &r), "load"));
}

/* Why the sample sigma of an arm cannot serve: with three points none lies beyond 1.155 of it. */
static void three_points_have_no_outlier_of_their_own_sigma(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(7);
    double most = 0;
    for (int k = 0; k < SERIES; k++) {
        double v[3];
        for (int i = 0; i < 3; i++) v[i] = pow(10, 6 * gr_rng_f64(&r));
        for (int i = 0; i < 3; i++) most = fmax(most, (v[i] - gate_mean(v, 3)) / gate_sigma(v, 3));
    }
    assert_true(most > 1.15 && most < 1.1548);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_is_the_tables_t),
        cmocka_unit_test(known_series_get_their_verdicts),
        cmocka_unit_test(a_breach_within_the_spread_of_off_is_noise_only_where_gradients_are_untouched),
        cmocka_unit_test(fragile_is_what_flips_without_a_pair),
        cmocka_unit_test(without_effect_fewer_than_five_in_a_hundred_are_adopted),
        cmocka_unit_test(contamination_and_retries_adopt_nothing_either),
        cmocka_unit_test(three_per_cent_under_half_a_per_cent_of_noise_are_adopted),
        cmocka_unit_test(a_lost_guard_is_never_adopted),
        cmocka_unit_test(the_retry_rule_needs_a_sigma),
        cmocka_unit_test(three_points_have_no_outlier_of_their_own_sigma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
