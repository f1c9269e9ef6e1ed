/* Data sets: COLMAP binary and text, NeRF synthetic, nerfstudio; cameras and distortion; the faults that users meet; the cache. */
#include <stdio.h>
#include "kit.h"

#include <unistd.h>

#include "base/math.h"
#include "splat/cache.h"
#include "splat/io/bytes.h"
#include "splat/io/colmap.h"
#include "splat/scene.h"

static char folder[64];

static gr_str path(const char *name) { return gr_path_join(&arena, gr_str_of(folder), gr_str_of(name)); }

static void save(const char *name, gr_str text) {
    fine(gr_dir_make(&diags, gr_path_dir(path(name))));
    fine(gr_file_write(&diags, path(name), text.p, text.n));
}

static void save_picture(const char *name, uint32_t width, uint32_t height, uint32_t channels, uint8_t value) {
    gr_image m;
    fine(gr_image_new(&diags, GR_STR("x"), width, height, channels, &m));
    memset(m.px, value, (size_t)width * height * channels);
    fine(gr_dir_make(&diags, gr_path_dir(path(name))));
    fine(gr_image_save_png(&diags, path(name), &m));
    gr_image_free(&m);
}

static int scratch(void **state) {
    setup(state);
    snprintf(folder, sizeof folder, "/tmp/gradus-scene-XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int clean(void **state) {
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    int rc = system(command);
    teardown(state);
    return rc;
}

static const char cameras[] = "# Camera list\n1 PINHOLE 8 6 10 11 4 3\r\n7 OPENCV 6 8 9 9 3 4 0.1 -0.01 0.001 0.002\n";
static const char images[] = "# two lines an image\n3 1 0 0 0 0 0 5 1 b/two words.png\n\n1 0.7071067811865476 0 0.7071067811865476 0 1 2 3 7 a.png\n1 2 3 4 5 -1\n";
static const char points[] = "1 0.5 1.5 -2 255 128 0 0.1 1 2\n2 1 2 3 1 2 3 0.2\n";

static gr_scene load(gr_scene_desc desc) {
    gr_scene s;
    desc.path = gr_str_of(folder);
    fine(gr_scene_load(&arena, &diags, &desc, &s));
    return s;
}

static void colmap_text(void **state) {
    (void)state;
    save("sparse/0/cameras.txt", gr_str_of(cameras));
    save("sparse/0/images.txt", gr_str_of(images));
    save("sparse/0/points3D.txt", gr_str_of(points));
    save_picture("images/a.png", 6, 8, 3, 10);
    save_picture("images/b/two words.png", 8, 6, 3, 20);
    save_picture("images/spare/c.png", 8, 6, 3, 20);
    gr_scene s = load((gr_scene_desc){.test_every = 2});
    expect(GR_D_SPLAT_IMAGES_UNREGISTERED, "1 pictures are not in the model and are not used; the first is spare/c.png");
    assert_string_equal(s.kind, "COLMAP");
    assert_true(s.view.n == 2 && s.train_n == 1 && s.test_n == 1);
    const gr_view *a = &s.view.v[0], *b = &s.view.v[1]; /* by name */
    assert_true(gr_str_eqz(a->name, "a.png") && a->test && gr_str_eqz(b->name, "b/two words.png") && !b->test);
    assert_true(b->camera.fx == 10 && b->camera.fy == 11 && !gr_camera_distorted(&b->camera));
    assert_true(a->camera.k[1] == -0.01 && a->camera.p[1] == 0.002 && gr_camera_distorted(&a->camera));
    near_(a->pose.r[2], 1, 1e-15); /* a quarter turn about y */
    near_(a->pose.r[6], -1, 1e-15);
    double c[3];
    gr_pose_centre(&a->pose, c);
    near_(c[0], 3, 1e-12), near_(c[1], -2, 1e-12), near_(c[2], -1, 1e-12);
    assert_true(s.points.n == 2 && s.points.position[2] == -2 && s.points.colour[0] == 255 && s.points.colour[5] == 3);
    /* One training camera, at (0, 0, -5): the median distance of the two points. */
    near_(s.extent, 1.1 * 0.5 * (gr_sqrt(0.25 + 2.25 + 9) + gr_sqrt(1 + 4 + 64)), 1e-12);
    s = load((gr_scene_desc){.downscale = 2});
    /* Two cameras: the mean is halfway, the extent 1.1 times half their distance. */
    near_(s.extent, 1.1 * 0.5 * gr_sqrt(9 + 4 + 16), 1e-12);
    assert_true(s.view.v[1].camera.width == 4 && s.view.v[1].camera.height == 3 && s.view.v[1].camera.fx == 5 && s.view.v[1].camera.cx == 2);
}

static void put_camera(gr_buf *b, uint32_t id, uint32_t model, uint64_t w, uint64_t h, const double *params, int n) {
    gr_put_u32(b, id);
    gr_put_u32(b, model);
    gr_put_u64(b, w);
    gr_put_u64(b, h);
    for (int i = 0; i < n; i++) gr_put_f64(b, params[i]);
}

/* Every prefix of each binary file is refused with a word on where it ends, and none asks for memory it has no right to. */
static void colmap_binary(void **state) {
    (void)state;
    static const double simple[] = {100, 50, 40}, fisheye[] = {90, 91, 50, 40, 0.1, 0.2, 0.3, 0.4};
    gr_buf c = {0}, m = {0}, p = {0};
    gr_put_u64(&c, 2);
    put_camera(&c, 1, GR_CAMERA_SIMPLE_PINHOLE, 100, 80, simple, 3);
    put_camera(&c, 2, GR_CAMERA_OPENCV_FISHEYE, 100, 80, fisheye, 8);
    gr_put_u64(&m, 1);
    gr_put_u32(&m, 9);
    for (int i = 0; i < 7; i++) gr_put_f64(&m, i == 0 ? 2 : i);
    gr_put_u32(&m, 2);
    gr_buf_put(&m, "dir/x.jpg", 10);
    gr_put_u64(&m, 1);
    for (int i = 0; i < 3; i++) gr_put_u64(&m, 0);
    gr_put_u64(&p, 1);
    gr_put_u64(&p, 77);
    for (int i = 0; i < 3; i++) gr_put_f64(&p, i);
    gr_buf_put(&p, "\1\2\3", 3);
    gr_put_f64(&p, 0.5);
    gr_put_u64(&p, 2);
    for (int i = 0; i < 2; i++) gr_put_u64(&p, 0);
    bool (*const read[])(gr_arena *, gr_diags *, gr_str, gr_str, gr_colmap *) = {gr_colmap_cameras_bin, gr_colmap_images_bin, gr_colmap_points_bin};
    const gr_buf *file[] = {&c, &m, &p};
    for (int k = 0; k < 3; k++) {
        gr_colmap out = {0};
        fine(read[k](&arena, &diags, GR_STR("x.bin"), gr_buf_view(file[k]), &out));
        if (k == 0) assert_true(out.camera.n == 2 && out.camera.v[1].camera.fisheye && out.camera.v[1].camera.k[3] == 0.4 && out.camera.v[0].camera.fy == 100);
        if (k == 1) assert_true(out.image.n == 1 && gr_str_eqz(out.image.v[0].name, "dir/x.jpg") && out.image.v[0].pose.t[2] == 6);
        if (k == 2) assert_true(out.points.n == 1 && out.points.position[2] == 2 && out.points.colour[1] == 2);
        for (size_t n = 0; n < file[k]->n; n++) {
            assert_false(read[k](&arena, &diags, GR_STR("x.bin"), (gr_str){file[k]->p, n}, &out));
            expect(GR_D_SPLAT_COLMAP_CUT, "the file ends in");
        }
    }
    gr_colmap out = {0};
    c.p[12] = 10; /* THIN_PRISM_FISHEYE */
    assert_false(gr_colmap_cameras_bin(&arena, &diags, GR_STR("x.bin"), gr_buf_view(&c), &out));
    expect(GR_D_SPLAT_CAMERA_MODEL, "camera 1 has model number 10");
    gr_buf_free(&c);
    gr_buf_free(&m);
    gr_buf_free(&p);
}

static void colmap_text_complaints(void **state) {
    (void)state;
    static const struct { int file; const char *text; gr_diag_name name; const char *words; } bad[] = {
        {0, "# c\n1 PINHOLE 8 6 10 x 4 3\n", GR_D_SPLAT_COLMAP_TEXT, "c.txt:2:18: error splat/colmap-text: expected a camera parameter, found \"x\""},
        {0, "1 PINHOLE 8 6 10 11 4\n", GR_D_SPLAT_COLMAP_TEXT, "found the end of the line"},
        {0, "1 PINHOLE 8 6 10 11 4 3 9\n", GR_D_SPLAT_COLMAP_TEXT, "c.txt:1:25: error splat/colmap-text: expected the end of the line"},
        {0, "1 FOV 8 6 10 11 4 3 9\n", GR_D_SPLAT_CAMERA_MODEL, "c.txt:1:3"},
        {0, "1 PINHOLE 8 6 -10 11 4 3\n", GR_D_SPLAT_CAMERA, "line 1, camera 1"},
        {0, "1 PINHOLE 8 6 nan 11 4 3\n", GR_D_SPLAT_COLMAP_TEXT, "c.txt:1:15"},
        {1, "1 1 0 0 0 0 0 z 1 a.png\n\n2 1 0 0 0 0 0 0 1\n", GR_D_SPLAT_COLMAP_TEXT, "c.txt:3"}, /* both are told */
        {1, "1 0 0 0 0 0 0 0 1 a.png\n", GR_D_SPLAT_POSE, "a quaternion of zeros"},
        {2, "1 2 3 4 5 6 256 0\n", GR_D_SPLAT_COLMAP_TEXT, "expected a colour from 0 to 255, found \"256\""},
    };
    bool (*const read[])(gr_arena *, gr_diags *, gr_str, gr_str, gr_colmap *) = {gr_colmap_cameras_text, gr_colmap_images_text, gr_colmap_points_text};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gr_colmap out = {0};
        assert_false(read[bad[i].file](&arena, &diags, GR_STR("c.txt"), gr_str_of(bad[i].text), &out));
        expect(bad[i].name, bad[i].words);
    }
}

static void refuse(gr_scene_desc desc, gr_diag_name name, const char *words) {
    gr_scene s;
    if (!desc.path.n) desc.path = gr_str_of(folder);
    assert_false(gr_scene_load(&arena, &diags, &desc, &s));
    expect(name, words);
}

static void faults_of_folders(void **state) {
    (void)state;
    refuse((gr_scene_desc){0}, GR_D_SPLAT_NO_VIEWS, "sparse/0");
    refuse((gr_scene_desc){.path = GR_STR("/nowhere/at/all")}, GR_D_SPLAT_NO_VIEWS, "there is no folder /nowhere/at/all");
    save("sparse/cameras.txt", gr_str_of(cameras));
    save("sparse/images.txt", gr_str_of(images));
    refuse((gr_scene_desc){0}, GR_D_SPLAT_NO_VIEWS, "but there is no folder");
    save_picture("images/b/two words.png", 8, 6, 3, 20);
    gr_scene s = load((gr_scene_desc){0});
    expect(GR_D_SPLAT_IMAGE_MISSING, "images/a.png");
    assert_int_equal(s.view.n, 1);
    save_picture("images/b/two words.png", 6, 8, 3, 20);
    refuse((gr_scene_desc){0}, GR_D_SPLAT_IMAGE_SHAPE, "the picture has 6 x 8 pixels, its camera 8 x 6");
    save_picture("images/b/two words.png", 16, 12, 3, 20); /* twice the model's size: intrinsics follow */
    s = load((gr_scene_desc){0});
    assert_true(s.view.v[0].camera.fx == 20 && s.view.v[0].camera.cy == 6);
    gr_diags_clear(&diags);
    save("images/b/two words.png", GR_STR("no picture"));
    refuse((gr_scene_desc){0}, GR_D_SPLAT_IMAGE_FORMAT, "two words.png");
    save("sparse/images.txt", GR_STR("1 1 0 0 0 0 0 0 5 a.png\n\n"));
    refuse((gr_scene_desc){0}, GR_D_SPLAT_CAMERA_UNKNOWN, "was taken by camera 5");
}

static void one_far_camera(void **state) {
    (void)state;
    gr_buf b = {0};
    save("sparse/cameras.txt", GR_STR("1 PINHOLE 4 4 4 4 2 2\n"));
    for (int i = 0; i < 9; i++) {
        char name[32];
        snprintf(name, sizeof name, "images/%d.png", i);
        save_picture(name, 4, 4, 3, 1);
        gr_buf_printf(&b, "%d 1 0 0 0 %d %d 0 1 %d.png\n\n", i, i == 8 ? 9000 : i % 2 ? 2 : -2, i % 4 < 2 ? 2 : -2, i);
    }
    save("sparse/images.txt", gr_buf_view(&b));
    gr_scene s = load((gr_scene_desc){0});
    expect(GR_D_SPLAT_OUTLIER_CAMERA, "8.png");
    near_(s.extent, 1.1 * gr_sqrt(8), 1e-12);
    assert_int_equal(s.view.n, 9);
    gr_buf_free(&b);
}

static const char nerf[] = "{\"camera_angle_x\": 0.9272952180016122, \"frames\": [{\"file_path\": \"./train/r_0\", \"transform_matrix\": "
                           "[[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 4], [0, 0, 0, 1]]}]}";

/* Camera at (0.5, 0, 4) looking along -z of the world: in our axes y and z turn over. */
static void nerf_synthetic(void **state) {
    (void)state;
    save("transforms_train.json", gr_str_of(nerf));
    save_picture("train/r_0.png", 8, 6, 4, 255);
    gr_scene s = load((gr_scene_desc){0});
    const gr_view *v = &s.view.v[0];
    static const double r[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1}, t[3] = {-0.5, 0, 4};
    assert_string_equal(s.kind, "NeRF synthetic");
    for (int i = 0; i < 9; i++) near_(v->pose.r[i], r[i], 1e-12);
    for (int i = 0; i < 3; i++) near_(v->pose.t[i], t[i], 1e-12);
    near_(v->camera.fx, 8, 1e-9); /* 0.5 * 8 / tan(0.4636) = 4 / 0.5 */
    assert_true(v->camera.cx == 4 && v->camera.cy == 3 && v->camera.fy == v->camera.fx);
    assert_true(s.extent == 1); /* one camera, no points */
    gr_picture p;
    fine(gr_picture_load(&diags, v, &p));
    assert_true(p.image.channels == 4 && !p.mask.px);
    gr_picture_free(&p);
    refuse((gr_scene_desc){.path = path("train")}, GR_D_SPLAT_NO_VIEWS, "transforms.json");
    save("transforms_train.json", GR_STR("{\"camera_angle_x\": 1,\n \"frames\": [{\"file_path\": \"r\", \"transform_matrix\": [[1, 0], [2, 3]]}]}"));
    refuse((gr_scene_desc){0}, GR_D_SPLAT_TRANSFORMS, "transforms_train.json:2");
    save("transforms_train.json", GR_STR("{\"frames\": [{\"file_path\": \"./train/r_0\", \"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}]}"));
    refuse((gr_scene_desc){0}, GR_D_SPLAT_TRANSFORMS, "no focal length");
    save("transforms_train.json", GR_STR("{\"camera_angle_x\": 1, \"frames\": [{\"file_path\": \"./train/r_0\", \"transform_matrix\": [[1,0,0,0],[0,0,0,0],[0,0,1,0],[0,0,0,1]]}]}"));
    refuse((gr_scene_desc){0}, GR_D_SPLAT_TRANSFORMS, "no pose");
}

static void nerfstudio(void **state) {
    (void)state;
    save("transforms.json", GR_STR("{\"w\": 8, \"h\": 6, \"fl_x\": 10, \"fl_y\": 11, \"cx\": 4, \"cy\": 3, \"k1\": 0.1, \"camera_model\": \"OPENCV\", \"ply_file_path\": \"p.ply\","
         "\"test_filenames\": [\"images/b.png\"], \"frames\": ["
         "{\"file_path\": \"images/b.png\", \"mask_path\": \"masks/b.png\", \"k1\": 0, \"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]},"
         "{\"file_path\": \"images/a.png\", \"w\": 6, \"h\": 8, \"transform_matrix\": [[1,0,0,1],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}]}"));
    save("p.ply", GR_STR("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
                         "property uchar blue\nend_header\n1 2 3 4 5 6\n"));
    save_picture("images/b.png", 8, 6, 3, 9);
    save_picture("images/a.png", 6, 8, 3, 9);
    save_picture("masks/b.png", 8, 6, 1, 0);
    gr_scene s = load((gr_scene_desc){.test_every = 1});
    assert_true(s.train_n == 1 && s.test_n == 1 && !s.view.v[0].test && s.view.v[1].test);
    assert_true(s.view.v[0].camera.width == 6 && s.view.v[0].camera.k[0] == 0.1 && s.view.v[1].camera.k[0] == 0);
    assert_true(s.points.n == 1 && s.points.colour[2] == 6);
    gr_picture p;
    fine(gr_picture_load(&diags, &s.view.v[1], &p));
    for (int i = 0; i < 48; i++) assert_int_equal(p.mask.px[i], 0);
    gr_picture_free(&p);
}

/* ---- distortion --------------------------------------------------------------------- */

/* r' = r (1 + k1 r^2 + k2 r^4) on the axis; fisheye theta (1 + k1 theta^2); against numbers worked out by hand. */
static void distortion_by_hand(void **state) {
    (void)state;
    gr_camera c = {.k = {0.1, 0.01}, .p = {0.002, 0.003}};
    double u, v;
    assert_true(gr_camera_distort(&c, 0.5, 0, &u, &v));
    near_(u, 0.5 * (1 + 0.1 * 0.25 + 0.01 * 0.0625) + 0.003 * (0.25 + 0.5), 1e-15);
    near_(v, 0.002 * 0.25, 1e-15);
    gr_camera f = {.fisheye = true, .k = {0.1, 0, 0, 0}};
    assert_true(gr_camera_distort(&f, 0, 1, &u, &v));
    near_(v, 0.78539816339744831 * (1 + 0.1 * 0.78539816339744831 * 0.78539816339744831), 1e-15);
    gr_camera fold = {.k = {-0.5}};
    assert_false(gr_camera_distort(&fold, 2, 0, &u, &v)); /* past the fold at r^2 = 2/3 */
}

/* A picture of a ramp taken through a distorting lens: straightened, the ramp is straight again where the camera saw it. */
static void undistorted_ramp(void **state) {
    (void)state;
    gr_camera c = {.width = 100, .height = 80, .fx = 100, .fy = 100, .cx = 50, .cy = 40, .k = {0.2, 0.05}};
    gr_image m, out, mask;
    fine(gr_image_new(&diags, GR_STR("x"), 100, 80, 3, &m));
    for (uint32_t y = 0; y < 80; y++)
        for (uint32_t x = 0; x < 100; x++) {
            /* The lens moved what belongs at ideal (a, b) to here: find it by fixed point. */
            double px = (x + 0.5 - 50) / 100, py = (y + 0.5 - 40) / 100, a = px, b = py;
            for (int i = 0; i < 50; i++) {
                double r2 = a * a + b * b, s = 1 + 0.2 * r2 + 0.05 * r2 * r2;
                a = px / s, b = py / s;
            }
            uint8_t *p = m.px + 3 * (y * 100 + x);
            p[0] = (uint8_t)(128 + 200 * a + 0.5), p[1] = (uint8_t)(128 + 200 * b + 0.5), p[2] = 7;
        }
    fine(gr_camera_undistort(&diags, GR_STR("x"), &c, &m, &out, &mask));
    uint32_t seen = 0;
    for (uint32_t y = 0; y < 80; y++)
        for (uint32_t x = 0; x < 100; x++) {
            if (!mask.px[y * 100 + x]) continue;
            seen++;
            near_(out.px[3 * (y * 100 + x)], 128 + 200 * (x + 0.5 - 50) / 100, 1.6);
            near_(out.px[3 * (y * 100 + x) + 1], 128 + 200 * (y + 0.5 - 40) / 100, 1.6);
        }
    assert_true(seen > 7000 && seen < 8000 && !mask.px[0]); /* the lens pushed the corners out of the picture */
    gr_image_free(&m);
    gr_image_free(&out);
    gr_image_free(&mask);
}

/* ---- cache ---------------------------------------------------------------------------- */

static void bounded_cache(void **state) {
    (void)state;
    gr_buf b = {0};
    save("sparse/cameras.txt", GR_STR("1 PINHOLE 40 30 40 40 20 15\n"));
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "images/%02d.png", i);
        save_picture(name, 40, 30, 3, (uint8_t)(i * 10));
        gr_buf_printf(&b, "%d 1 0 0 0 %d 0 0 1 %02d.png\n\n", i, i, i);
    }
    save("sparse/images.txt", gr_buf_view(&b));
    gr_scene s = load((gr_scene_desc){0});
    save("images/03.png", GR_STR("\x89PNG\r\n\x1a\nno"));
    for (uint32_t threads = 0; threads < 3; threads += 2) {
        gr_cache *c = gr_cache_new(&diags, &s, 4 * 40 * 30 * 4, threads);
        for (uint32_t round = 0; round < 3; round++)
            for (uint32_t i = 0; i < 12; i++) {
                const uint32_t next[] = {(i + 1) % 12, (i + 2) % 12};
                gr_cache_announce(c, next, 2);
                const gr_picture *p = gr_cache_get(c, &diags, i);
                if (i == 3) {
                    assert_null(p);
                    expect(GR_D_SPLAT_IMAGE_DAMAGED, "03.png");
                    continue;
                }
                assert_non_null(p);
                assert_int_equal(p->image.px[100], i * 10);
                gr_cache_release(c, i);
            }
        gr_cache_stats m = gr_cache_measure(c);
        gr_cache_free(c);
        /* One picture more than the bound at most: the one asked for while threads hold the rest. */
        assert_true(m.peak <= 5 * 40 * 30 * 4 && m.decoded >= 33);
    }
    gr_buf_free(&b);
}

/* ---- the shared scenes ------------------------------------------------------------------ */

static void shared_scenes(void **state) {
    (void)state;
    static const struct { const char *name, *images; uint32_t views, width, height; bool distorted; } want[] = {
        {"lf9", "", 9, 541, 375, true}, {"can71", "images_2", 71, 360, 640, true}, {"fern504", "", 20, 504, 378, true}, {"desk29", "images_2", 29, 953, 535, false},
        {"lego", "", 120, 800, 800, false},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        gr_scene s;
        gr_picture p;
        char name[64];
        snprintf(name, sizeof name, "scenes/%s", want[i].name);
        gr_scene_desc desc = {.path = shared(name), .images = gr_str_of(want[i].images), .test_every = 8};
        fine(gr_scene_load(&arena, &diags, &desc, &s));
        fprintf(stderr, "%s: %s, %u + %u views, %u points, extent %g\n%s", want[i].name, s.kind, s.train_n, s.test_n, s.points.n, s.extent, said());
        assert_int_equal(s.view.n, want[i].views);
        assert_int_equal(s.view.v[0].camera.width, want[i].width);
        assert_int_equal(s.view.v[0].camera.height, want[i].height);
        fine(gr_picture_load(&diags, &s.view.v[1], &p));
        assert_true(gr_camera_distorted(&s.view.v[0].camera) == (p.mask.px != NULL));
        gr_picture_free(&p);
        gr_diags_clear(&diags);
    }
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, scratch, clean)
    const struct CMUnitTest tests[] = {
        T(colmap_text), T(colmap_binary), T(colmap_text_complaints), T(faults_of_folders), T(one_far_camera),
#ifdef GR_HAVE_SPNG
        T(nerf_synthetic), T(nerfstudio), T(bounded_cache),
#endif
        T(distortion_by_hand), T(undistorted_ramp),
#if defined GR_HAVE_SPNG && defined GR_HAVE_JPEG && defined GR_HAVE_WEBP
        T(shared_scenes),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
