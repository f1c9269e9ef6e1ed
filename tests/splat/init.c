/* Splats to start from: neighbours against brute force, coincident and far points, caps, random starts. */
#include "kit.h"

#include "base/math.h"
#include "base/rng.h"
#include "splat/init.h"

static double brute(const float *p, uint32_t n, uint32_t i) {
    double best[3] = {1e300, 1e300, 1e300};
    uint32_t found = 0;
    for (uint32_t j = 0; j < n; j++) {
        double sum = 0;
        for (uint32_t k = 0; k < 3 && j != i; k++) sum += ((double)p[3 * j + k] - (double)p[3 * i + k]) * ((double)p[3 * j + k] - (double)p[3 * i + k]);
        if (j == i) continue;
        found++;
        for (int k = 0; k < 3; k++)
            if (sum < best[k]) {
                double swap = best[k];
                best[k] = sum;
                sum = swap;
            }
    }
    found = found < 3 ? found : 3;
    double total = 0;
    for (uint32_t k = 0; k < found; k++) total += best[k];
    return found ? total / found : 0;
}

static void neighbours(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(4);
    static const uint32_t sizes[] = {1, 2, 3, 4, 9, 17, 100, 700};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < 3; kind++) {
            uint32_t n = sizes[s];
            float *p = gr_arena_alloc(&arena, n, 12);
            double *got = gr_arena_alloc(&arena, n, 8);
            for (uint32_t i = 0; i < 3 * n; i++) /* in a cube; on a coarse lattice, so that many coincide; all in one place */
                p[i] = kind == 0 ? gr_rng_f32(&r) : kind == 1 ? (float)gr_rng_below(&r, 3) : 1;
            fine(gr_points_spread(&diags, p, n, got));
            for (uint32_t i = 0; i < n; i++) near_(got[i], brute(p, n, i), 1e-12);
        }
}

static gr_points points_of(uint32_t n) {
    gr_points p;
    fine(gr_points_new(&arena, &diags, n, &p));
    return p;
}

static void by_hand(void **state) {
    (void)state;
    gr_points p = points_of(4);
    gr_cloud c;
    static const float at[12] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
    memcpy(p.position, at, sizeof at);
    memcpy(p.colour, (const uint8_t[]){255, 0, 127}, 3);
    fine(gr_cloud_from_points(&arena, &diags, &p, 3, 100, 10, 0, &c));
    near_(c.scale[0], 0.5 * gr_log((1 + 4 + 9) / 3.0), 1e-6);
    near_(c.scale[3], 0.5 * gr_log((1 + 5 + 10) / 3.0), 1e-6);
    near_(1 / (1 + gr_exp(-(double)c.opacity[0])), 0.1, 1e-7);
    near_(0.5 + GR_SH_C0 * (double)c.sh[0], 1, 1e-6);
    near_(0.5 + GR_SH_C0 * (double)c.sh[1], 0, 1e-6);
    assert_true(c.sh[3] == 0 && c.rotation[0] == 1 && c.rotation[1] == 0 && c.sh_degree == 3);
}

static void coincident_and_far_points(void **state) {
    (void)state;
    gr_points p = points_of(50);
    gr_cloud c;
    p.position[3 * 49] = 1e20f; /* one far away: not larger than the scene */
    fine(gr_cloud_from_points(&arena, &diags, &p, 0, 5, 100, 0, &c));
    for (uint32_t i = 0; i < 150; i++) assert_true(c.scale[i] - c.scale[i] == 0);
    near_(c.scale[0], 0.5 * gr_log(1e-7), 1e-5);
    near_(c.scale[3 * 49], gr_log(5), 1e-6);
}

/* An initial cloud above the cap comes down to it; every point has the same chance. */
static void capped(void **state) {
    (void)state;
    gr_points p = points_of(10);
    uint32_t count[10] = {0};
    for (uint32_t i = 0; i < 10; i++) p.position[3 * i] = (float)i;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        gr_cloud c, same;
        fine(gr_cloud_from_points(&arena, &diags, &p, 0, 5, 3, seed, &c));
        fine(gr_cloud_from_points(&arena, &diags, &p, 0, 5, 3, seed, &same));
        assert_int_equal(c.n, 3);
        assert_memory_equal(c.mean, same.mean, 36);
        for (int i = 0; i < 3; i++) count[(int)c.mean[3 * i]]++;
        assert_true(c.mean[0] < c.mean[3] && c.mean[3] < c.mean[6]);
    }
    for (int i = 0; i < 10; i++) assert_true(count[i] > 600 - 110 && count[i] < 600 + 110); /* 5 deviations of 2000 draws of 0.3 */
}

static void random_start(void **state) {
    (void)state;
    gr_cloud c;
    double mean[3] = {0};
    fine(gr_cloud_random(&arena, &diags, 5000, 1.3, 7, 1, &c));
    for (uint32_t i = 0; i < 15000; i++) {
        assert_true(c.mean[i] >= -1.3f && c.mean[i] <= 1.3f && c.scale[i] - c.scale[i] == 0);
        mean[i % 3] += (double)c.mean[i] / 5000;
    }
    for (int k = 0; k < 3; k++) assert_true(gr_fabs(mean[k]) < 0.06);
    assert_true(c.sh_degree == 1 && c.sh[3] == 0 && gr_fabs((double)c.sh[0]) < 0.5 / GR_SH_C0);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(neighbours), T(by_hand), T(coincident_and_far_points), T(capped), T(random_start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
