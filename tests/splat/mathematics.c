/* The oracle of the trainer's mathematics against closed forms on one to five splats, against quadrature and against differences. */
#include "kit.h"

#include <math.h>

#include "base/rng.h"
#include "oracle.h"
#include "splat/camera.h"
#include "splat/io/cloud.h"

static const or_options plain = {.near_plane = 0.01, .blur = 0.3, .clamp = 1.3, .degree = 0};
static const double black[3] = {0, 0, 0};

static or_camera front(int width, int height, double f) {
    return (or_camera){.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .fx = f, .fy = f, .cx = width / 2.0, .cy = height / 2.0, .width = width, .height = height};
}

static double logit(double p) { return log(p / (1 - p)); }

/* A ball of standard deviation s with a colour, seen straight ahead at depth z. */
static or_splat ball(double x, double y, double z, double s, double opacity, double r, double g, double b) {
    return (or_splat){.mean = {x, y, z}, .scale = {log(s), log(s), log(s)}, .rotation = {1, 0, 0, 0}, .opacity = logit(opacity),
                      .sh = {{(r - 0.5) / GR_SH_C0, (g - 0.5) / GR_SH_C0, (b - 0.5) / GR_SH_C0}}};
}

/* The integral of every product of two harmonics over the sphere: 1 with itself, 0 otherwise (Gauss-Legendre by midpoints in z). */
static void harmonics_are_orthonormal(void **state) {
    (void)state;
    enum { N = 400, M = 64 };
    double sum[OR_SH][OR_SH] = {{0}};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            double z = -1 + 2 * (i + 0.5) / N, a = 2 * acos(-1.0) * j / M, r = sqrt(1 - z * z), b[OR_SH], area = 4 * acos(-1.0) / (N * M);
            or_sh_basis((double[]){r * cos(a), r * sin(a), z}, 3, b);
            for (int m = 0; m < OR_SH; m++)
                for (int n = 0; n < OR_SH; n++) sum[m][n] += area * b[m] * b[n];
        }
    for (int m = 0; m < OR_SH; m++)
        for (int n = 0; n < OR_SH; n++) near_(sum[m][n], m == n, 1e-4);
}

/* Straight ahead: (f s / z)^2 and the blur, nothing across; turning a ball changes nothing. */
static void a_ball_projects_to_a_disc(void **state) {
    (void)state;
    or_camera c = front(64, 48, 50);
    or_splat s = ball(0, 0, 4, 0.2, 0.5, 1, 0.5, 0);
    s.rotation[1] = 0.3, s.rotation[2] = -2;
    or_projected p = or_project(&s, &c, &plain);
    assert_true(p.visible && p.x == 32 && p.y == 24 && p.depth == 4);
    near_(p.cov[0], 2.5 * 2.5 + 0.3, 1e-12);
    near_(p.cov[1], 0, 1e-12);
    near_(p.cov[2], 2.5 * 2.5 + 0.3, 1e-12);
    near_(p.color[0], 1, 1e-12), near_(p.color[2], 0, 1e-12);
    s.mean[2] = 0.009;
    assert_false(or_project(&s, &c, &plain).visible);
    or_options mip = plain;
    mip.mip = true;
    s.mean[2] = 4;
    near_(or_project(&s, &c, &mip).opacity, 0.5 * sqrt(6.25 * 6.25 / (6.55 * 6.55)), 1e-12);
}

/* Off the axis: the covariance is J Sigma J^T with J by differences of the projection itself. */
static void covariance_by_differences(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(8);
    for (int n = 0; n < 50; n++) {
        or_camera c = front(64, 48, 50);
        or_splat s = ball(gr_rng_f64(&r) - 0.5, gr_rng_f64(&r) - 0.5, 3 + gr_rng_f64(&r), 0.1, 0.5, 1, 1, 1);
        for (int k = 0; k < 4; k++) s.rotation[k] = gr_rng_f64(&r) - 0.5;
        for (int k = 0; k < 3; k++) s.scale[k] = -3 * gr_rng_f64(&r);
        double sigma[9], j[2][3], want[3] = {0};
        or_covariance(&s, sigma);
        for (int k = 0; k < 3; k++) {
            double a[3], b[3], x[2], y[2], h = 1e-5;
            memcpy(a, s.mean, sizeof a), memcpy(b, s.mean, sizeof b);
            a[k] += h, b[k] -= h;
            or_project_point(&c, a, &x[0], &y[0]);
            or_project_point(&c, b, &x[1], &y[1]);
            j[0][k] = (x[0] - x[1]) / (2 * h), j[1][k] = (y[0] - y[1]) / (2 * h);
        }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) want[0] += j[0][a] * sigma[3 * a + b] * j[0][b], want[1] += j[0][a] * sigma[3 * a + b] * j[1][b], want[2] += j[1][a] * sigma[3 * a + b] * j[1][b];
        or_projected p = or_project(&s, &c, &plain);
        near_(p.cov[0] - 0.3, want[0], 1e-5 * (1 + fabs(want[0])));
        near_(p.cov[1], want[1], 1e-5 * (1 + fabs(want[0]) + fabs(want[2])));
        near_(p.cov[2] - 0.3, want[2], 1e-5 * (1 + fabs(want[2])));
    }
}

/* Far outside the picture the Jacobian stops at 1.3 times half the field of view. */
static void jacobian_is_clamped(void **state) {
    (void)state;
    or_camera c = front(64, 48, 50);
    or_splat s = ball(40, 0, 4, 0.2, 0.5, 1, 1, 1);
    double edge = 1.3 * 0.5 * 64 / 50, f = 50 * 0.2 / 4;
    near_(or_project(&s, &c, &plain).cov[0], f * f * (1 + edge * edge) + 0.3, 1e-9);
}

/* The product's distortion and the oracle's, written apart, agree. */
static void distortion_agrees(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(2);
    for (int n = 0; n < 200; n++) {
        or_camera c = front(64, 48, 50);
        gr_camera g = {.width = 64, .height = 48, .fx = 50, .fy = 50, .cx = 32, .cy = 24, .fisheye = n % 2};
        c.fisheye = n % 2;
        for (int k = 0; k < 4; k++) g.k[k] = c.k[k] = 0.2 * gr_rng_f64(&r) - 0.1;
        for (int k = 0; k < 2; k++) g.p[k] = c.p[k] = 0.02 * gr_rng_f64(&r);
        double x = gr_rng_f64(&r) - 0.5, y = gr_rng_f64(&r) - 0.5, u, v, px, py;
        gr_camera_distort(&g, x, y, &u, &v);
        or_project_point(&c, (double[]){3 * x, 3 * y, 3}, &px, &py);
        near_(50 * u + 32, px, 1e-11);
        near_(50 * v + 24, py, 1e-11);
    }
}

/* ---- pixels by hand -------------------------------------------------------------------- */

/* 1, 2 and 5 splats on the centre of pixel (8, 8) of a 17 x 17 picture. */
static void pixels_by_hand(void **state) {
    (void)state;
    or_camera c = front(17, 17, 20);
    double rgb[17 * 17 * 3], left[17 * 17], variance = 20 * 0.1 / 2 * (20 * 0.1 / 2) + 0.3;
    const double white[3] = {1, 1, 1};
    or_splat s[5] = {ball(0, 0, 2, 0.1, 0.6, 1, 0, 0)};
    or_render(s, 1, &c, &plain, white, rgb, left);
    const double *centre = rgb + 3 * (8 * 17 + 8), *aside = rgb + 3 * (8 * 17 + 10);
    near_(centre[0], 1, 1e-12), near_(centre[1], 0.4, 1e-12), near_(left[8 * 17 + 8], 0.4, 1e-12);
    double a = 0.6 * exp(-0.5 * 4 / variance);
    near_(aside[1], 1 - a, 1e-12);
    assert_true(rgb[0] == 1 && left[0] == 1); /* under 1/255 in the corner: skipped */
    /* The nearer one covers, whatever the order in memory. */
    s[1] = ball(0, 0, 1, 0.05, 0.5, 0, 0, 1);
    or_render(s, 2, &c, &plain, white, rgb, left);
    near_(centre[0], 0.5 * 0.6 + 0.5 * 0.4, 1e-12);
    near_(centre[1], 0.5 * 0.4, 1e-12);
    near_(centre[2], 0.5 + 0.5 * 0.4, 1e-12);
    /* Opacity counts as 0.99 at most; blending stops before less than 1e-4 is left: the third of five is not drawn. */
    for (int i = 0; i < 5; i++) s[i] = ball(0, 0, 2 + i, 0.05 * (2 + i), 0.9999, i == 2, 1, i < 2);
    or_render(s, 5, &c, &plain, black, rgb, left);
    near_(left[8 * 17 + 8], 1e-4, 1e-12);
    near_(centre[2], 0.99 + 0.01 * 0.99, 1e-12);
    near_(centre[0], 0, 1e-12);
}

/* No pixel that a splat reaches lies in a tile that does not count it, and a tile that counts it is at most a fraction of a pixel off. */
static void tiles(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(6);
    uint32_t counted = 0, idle = 0;
    for (int n = 0; n < 300; n++) {
        or_camera c = front(96, 64, 60);
        or_splat s = ball(2 * gr_rng_f64(&r) - 1, 1.4 * gr_rng_f64(&r) - 0.7, 1 + gr_rng_f64(&r), 0.1, 0.01 + 0.9 * gr_rng_f64(&r), 1, 1, 1);
        for (int k = 0; k < 4; k++) s.rotation[k] = gr_rng_f64(&r) - 0.5;
        for (int k = 0; k < 3; k++) s.scale[k] = -2 - 4 * gr_rng_f64(&r);
        or_projected p = or_project(&s, &c, &plain);
        for (int ty = 0; ty < 4; ty++)
            for (int tx = 0; tx < 6; tx++) {
                bool reached = false;
                for (int i = 0; i < 256; i++) reached = reached || (p.visible && or_alpha(&p, tx * 16 + i % 16 + 0.5, ty * 16 + i / 16 + 0.5) > 0);
                bool touches = or_touches(&p, tx, ty);
                if (reached) assert_true(touches);
                counted += touches;
                idle += touches && !reached;
            }
    }
    assert_true(counted > 300 && idle < counted / 20);
}

/* ---- loss, updates, densification --------------------------------------------------------- */

static void loss(void **state) {
    (void)state;
    enum { N = 24 };
    static double x[N * N * 3], y[N * N * 3];
    gr_rng r = gr_rng_seed(1);
    for (int i = 0; i < N * N * 3; i++) x[i] = y[i] = gr_rng_f64(&r);
    near_(or_ssim(x, y, N, N, 11), 1, 1e-12);
    near_(or_loss(x, y, N, N, 0.2, 11), 0, 1e-12);
    /* Pictures of one value each, of one pixel: the window sees w0 = 1/sum^2 of it and zeros beyond. */
    double total = 0;
    for (int i = -5; i <= 5; i++) total += exp(-i * i / 4.5);
    double a[3] = {0.5, 0.5, 0.5}, b[3] = {0.25, 0.25, 0.25}, w = 1 / (total * total), ma = w * 0.5, mb = w * 0.25;
    double want = (2 * ma * mb + 1e-4) * (2 * (w * 0.125 - ma * mb) + 9e-4) / ((ma * ma + mb * mb + 1e-4) * (w * 0.25 - ma * ma + w * 0.0625 - mb * mb + 9e-4));
    near_(or_ssim(a, b, 1, 1, 11), want, 1e-12);
    near_(or_loss(a, b, 1, 1, 0.2, 11), 0.8 * 0.25 + 0.2 * (1 - want), 1e-12);
    assert_true(fabs(or_ssim(a, b, 1, 1, 7) - want) > 1e-4);
    for (int i = 0; i < N * N * 3; i++) y[i] = 1 - x[i];
    assert_true(or_ssim(x, y, N, N, 11) < 0);
}

/* The first step moves by the rate against the sign; a constant gradient goes on so; ten steps against sums written out. */
static void adam(void **state) {
    (void)state;
    double value = 3, m = 0, v = 0;
    for (int t = 1; t <= 5; t++) {
        or_adam(&value, &m, &v, -0.02, 0.1, 0.9, 0.999, 1e-15, t);
        near_(value, 3 + 0.1 * t, 1e-12);
    }
    double g[10], want = 1, got = 1;
    m = v = 0;
    for (int t = 1; t <= 10; t++) {
        double mean = 0, square = 0, wm = 0, wv = 0;
        g[t - 1] = sin(t);
        for (int i = 1; i <= t; i++) {
            double a = pow(0.9, t - i), b = pow(0.999, t - i);
            mean += a * g[i - 1], wm += a, square += b * g[i - 1] * g[i - 1], wv += b;
        }
        want -= 0.01 * (mean / wm) / sqrt(square / wv); /* the weighted means that the corrections make of it */
        or_adam(&got, &m, &v, g[t - 1], 0.01, 0.9, 0.999, 1e-15, t);
        near_(got, want, 1e-12);
    }
    near_(or_rate(1.6e-4, 1.6e-6, 0, 30000), 1.6e-4, 1e-18);
    near_(or_rate(1.6e-4, 1.6e-6, 15000, 30000), 1.6e-5, 1e-18);
    near_(or_rate(1.6e-4, 1.6e-6, 30000, 30000), 1.6e-6, 1e-18);
}

static void densification(void **state) {
    (void)state;
    const double small[3] = {log(0.01), log(0.001), log(0.001)}, large[3] = {log(0.001), log(0.02), log(0.001)};
    assert_int_equal(or_adc(1e-4, large, 0, 1), OR_KEEP);
    assert_int_equal(or_adc(2e-4, small, 0, 1.001), OR_CLONE);
    assert_int_equal(or_adc(2e-4, large, 0, 1), OR_SPLIT);
    assert_int_equal(or_adc(2e-4, large, 0, 2.001), OR_CLONE);
    assert_int_equal(or_adc(9, large, logit(0.0049), 1), OR_PRUNE);
    assert_int_equal(or_adc(9, large, logit(0.0051), 1), OR_SPLIT);
}

/* n splats in place of one: the same opacity in the middle, and the same integral of opacity across, which the formula was made for. */
static void relocation_keeps_the_picture(void **state) {
    (void)state;
    for (int n = 1; n <= 8; n++)
        for (double o = 0.05; o < 0.96; o += 0.15) {
            double p, f, one = 0, many = 0, h = 0.01;
            or_relocate(o, n, &p, &f);
            near_(1 - pow(1 - p, n), o, 1e-12);
            if (n == 1) near_(f, 1, 1e-12);
            for (double x = -12 + h / 2; x < 12; x += h) {
                one += h * o * exp(-0.5 * x * x);
                many += h * (1 - pow(1 - p * exp(-0.5 * x * x / (f * f)), n));
            }
            near_(many / one, 1, 1e-6);
        }
}

static void noise(void **state) {
    (void)state;
    or_splat s = ball(0, 0, 1, 0.1, 0.005, 1, 1, 1);
    double out[3];
    or_noise(&s, (double[]){1, -2, 0}, 1e-4, out);
    near_(out[0], 0.01 * 0.5 * 1e-4 * 5e5, 1e-12);
    near_(out[1], -0.01 * 1e-4 * 5e5, 1e-12);
    s.opacity = logit(0.5); /* what can be seen well stays where it is */
    or_noise(&s, (double[]){1, -2, 0}, 1e-4, out);
    assert_true(fabs(out[0]) < 1e-18);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(harmonics_are_orthonormal), T(a_ball_projects_to_a_disc), T(covariance_by_differences), T(jacobian_is_clamped), T(distortion_agrees),
        T(pixels_by_hand), T(tiles), T(loss), T(adam), T(densification), T(relocation_keeps_the_picture), T(noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
