/* The procedural scene: rays against numbers worked out by hand, a model that reads back as what was rendered, the same bytes everywhere. */
#include "kit.h"

#include <unistd.h>

#include "base/hash.h"
#include "base/math.h"
#include "splat/scene.h"
#include "splat/synth.h"

static const gr_synth_desc small = {.width = 48, .height = 36, .views = 9, .shapes = 12, .points = 300, .seed = 5};

static gr_synth one_ball(void) {
    gr_synth s = {.n = 1};
    s.shape[0] = (gr_ellipsoid){.centre = {0, 0, 5}, .rotation = {0, -1, 0, 1, 0, 0, 0, 0, 1}, .radius = {1, 2, 3}, .colour = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}};
    return s;
}

/* The ellipsoid is turned a quarter about z: its radius 1 lies along y, 2 along -x, 3 along z. */
static void rays(void **state) {
    (void)state;
    gr_synth s = one_ball();
    double t = 0;
    assert_int_equal(gr_synth_hit(&s, (double[]){0, 0, 0}, (double[]){0, 0, 1}, &t), 0);
    near_(t, 2, 1e-12);
    assert_int_equal(gr_synth_hit(&s, (double[]){-9, 0, 5}, (double[]){1, 0, 0}, &t), 0);
    near_(t, 7, 1e-12);
    assert_int_equal(gr_synth_hit(&s, (double[]){0, -9, 5}, (double[]){0, 1, 0}, &t), 0);
    near_(t, 8, 1e-12);
    assert_int_equal(gr_synth_hit(&s, (double[]){1.01, -9, 8}, (double[]){0, 1, 0}, &t), -1);
    assert_int_equal(gr_synth_hit(&s, (double[]){0, 0, 9}, (double[]){0, 0, 1}, &t), -1); /* behind */
}

/* One lamp: light 0.35 + 0.15 n_z + 0.5 max(0, n . lamp), times the colour. */
static void shading(void **state) {
    (void)state;
    gr_synth s = one_ball();
    double rgb[3];
    gr_synth_shade(&s, 0, (double[]){0, 0, 8}, rgb);
    near_(rgb[0], 0.5 * (0.35 + 0.15 + 0.5 * 0.8), 1e-12);
    gr_synth_shade(&s, 0, (double[]){-2, 0, 5}, rgb);
    near_(rgb[1], 0.5 * 0.35, 1e-12);
}

static void whole_hash(gr_str dir, const char *sub, gr_sha256_state *h) {
    gr_str folder = gr_path_join(&arena, dir, gr_str_of(sub)), *names, bytes;
    uint32_t n;
    fine(gr_dir_list(&arena, &diags, folder, &names, &n));
    for (uint32_t i = 0; i < n; i++) {
        fine(gr_file_read(&arena, &diags, gr_path_join(&arena, folder, names[i]), 0, &bytes));
        gr_sha256_update(h, names[i].p, names[i].n);
        gr_sha256_update(h, bytes.p, bytes.n);
    }
}

/* The share of the points seen from q that have, in the picture taken from `taken`, the colour of their pixel or of one beside it. */
static double points_fit(const gr_synth *s, const gr_points *points, const gr_pose *taken, const gr_pose *q) {
    gr_camera c = gr_synth_camera(&(gr_synth_desc){.width = 384, .height = 288});
    gr_image m;
    uint32_t seen = 0, close = 0;
    fine(gr_synth_render(&diags, s, &c, taken, &m));
    for (uint32_t i = 0; i < points->n; i++) {
        const float *w = points->position + 3 * i;
        double v[3], origin[3], direction[3], t = 0;
        for (int k = 0; k < 3; k++) v[k] = q->r[3 * k] * (double)w[0] + q->r[3 * k + 1] * (double)w[1] + q->r[3 * k + 2] * (double)w[2] + q->t[k];
        double x = c.fx * v[0] / v[2] + c.cx, y = c.fy * v[1] / v[2] + c.cy;
        gr_pose_centre(q, origin);
        for (int k = 0; k < 3; k++) direction[k] = (double)w[k] - origin[k];
        if (!(x > 1 && y > 1 && x < 383 && y < 287) || gr_synth_hit(s, origin, direction, &t) < 0 || t < 1 - 1e-5) continue;
        const uint8_t *rgb = points->colour + 3 * i;
        bool like = false;
        for (int n = 0; n < 9; n++) {
            const uint8_t *px = m.px + 3 * (((size_t)y + (size_t)(n / 3) - 1) * 384 + (size_t)x + (size_t)(n % 3) - 1);
            like = like || (abs(px[0] - rgb[0]) < 20 && abs(px[1] - rgb[1]) < 20 && abs(px[2] - rgb[2]) < 20);
        }
        seen++;
        close += like;
    }
    print_message("%u points seen, %u alike in the picture\n", seen, close);
    assert_true(seen > 40);
    gr_image_free(&m);
    return (double)close / seen;
}

static void written_and_read(void **state) {
    (void)state;
    char dir[] = "/tmp/gradus-synth-XXXXXX", command[64], text[72];
    gr_scene scene;
    gr_sha256_state h;
    assert_non_null(mkdtemp(dir));
    fine(gr_synth_write(&arena, &diags, gr_str_of(dir), &small));
    gr_sha256_init(&h);
    whole_hash(gr_str_of(dir), "images", &h);
    whole_hash(gr_str_of(dir), "sparse/0", &h);
    gr_sha256_text(text, gr_sha256_final(&h));
    gr_scene_desc desc = {.path = gr_str_of(dir), .test_every = 8};
    fine(gr_scene_load(&arena, &diags, &desc, &scene));
    assert_true(scene.train_n == 7 && scene.test_n == 2 && scene.points.n == 300);
    for (uint32_t i = 0; i < 9; i++) { /* poses survive the quaternion */
        gr_pose p = gr_synth_pose(&small, i);
        for (int k = 0; k < 9; k++) near_(scene.view.v[i].pose.r[k], p.r[k], 1e-12);
        for (int k = 0; k < 3; k++) near_(scene.view.v[i].pose.t[k], p.t[k], 1e-12);
    }
    gr_synth *s = GR_NEW(&arena, gr_synth);
    gr_synth_make(&small, s);
#ifdef GR_HAVE_SPNG
    gr_picture p;
    gr_image again;
    gr_pose pose = gr_synth_pose(&small, 3);
    gr_camera camera = gr_synth_camera(&small);
    fine(gr_picture_load(&diags, &scene.view.v[3], &p));
    fine(gr_synth_render(&diags, s, &camera, &pose, &again));
    assert_memory_equal(p.image.px, again.px, (size_t)48 * 36 * 3);
    gr_image_free(&again);
    gr_picture_free(&p);
#endif
    gr_pose off = scene.view.v[3].pose; /* the same a twentieth to the side: it must show */
    off.t[0] += 0.05;
    assert_true(points_fit(s, &scene.points, &scene.view.v[3].pose, &scene.view.v[3].pose) > 0.9);
    assert_true(points_fit(s, &scene.points, &scene.view.v[3].pose, &off) < 0.8);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
    assert_string_equal(text, "sha256:e5656fb323f3e80ccf240f3f7a4608977314ff19ea5d61c2afc8fdfe66288948");
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(rays), T(shading), T(written_and_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
