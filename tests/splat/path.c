/* Camera paths: as nerfstudio exports them, transforms, orbits, and what is none. */
#include "kit.h"

#include <math.h>

#include "splat/path.h"

static bool read(const char *text, gr_frames *out) { return gr_path_read(&arena, &diags, GR_STR("path.json"), gr_str_of(text), 0, 0, out); }

static void viewer(void **state) {
    (void)state;
    gr_frames f;
    double centre[3];
    fine(read("{\"render_width\": 200, \"render_height\": 100, \"camera_path\": [{\"camera_to_world\": [1,0,0,5, 0,1,0,6, 0,0,1,7, 0,0,0,1], \"fov\": 90, \"aspect\": 2}]}", &f));
    assert_int_equal(f.list.n, 1);
    assert_true(f.list.v[0].camera.width == 200 && f.list.v[0].camera.height == 100);
    near_(f.list.v[0].camera.fy, 50, 1e-9);
    gr_pose_centre(&f.list.v[0].pose, centre);
    for (int k = 0; k < 3; k++) near_(centre[k], 5 + k, 1e-12);
    near_(f.list.v[0].pose.r[8], -1, 1e-12); /* OpenGL looks along -z */
}

static void transforms(void **state) {
    (void)state;
    gr_frames f;
    static const char text[] = "{\"w\": 400, \"h\": 300, \"fl_x\": 500, \"fl_y\": 510, \"cx\": 190, \"cy\": 150, \"frames\": [{\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,2],[0,0,0,1]]}]}";
    fine(gr_path_read(&arena, &diags, GR_STR("t.json"), gr_str_of(text), 200, 150, &f));
    near_(f.list.v[0].camera.fx, 250, 1e-12);
    near_(f.list.v[0].camera.fy, 255, 1e-12);
    near_(f.list.v[0].camera.cx, 95, 1e-12);
    fine(read("{\"w\": 100, \"h\": 80, \"camera_angle_x\": 1.5707963267948966, \"frames\": [{\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,2]]}]}", &f));
    near_(f.list.v[0].camera.fx, 50, 1e-9);
}

static void refused(void **state) {
    (void)state;
    static const struct { const char *text, *words; } bad[] = {
        {"{}", "no list of frames"},
        {"{\"frames\": []}", "no list of frames"},
        {"{\"frames\": [1]}", "no size"},
        {"{\"w\": 8, \"h\": 8, \"frames\": [1]}", "frame 0: the matrix"},
        {"{\"w\": 8, \"h\": 8, \"camera_angle_x\": 1, \"frames\": [{\"transform_matrix\": [[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,1]]}]}", "places none"},
        {"{\"w\": 8, \"h\": 8, \"frames\": [{\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,2],[0,0,0,1]]}]}", "no field of view"},
        {"{\"w\": 1e99, \"h\": 8, \"frames\": [1]}", "no size"},
        {"{\"w\": 8, \"h\": 8, \"frames\": [{\"transform_matrix\": [[1,0,0,0,9,9,9,9,9,9,9,9,9,9,9,9,9],[0],[0],[0]]}]}", "frame 0: the matrix"},
    };
    gr_frames f;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(read(bad[i].text, &f));
        expect(GR_D_SPLAT_CAMERA_PATH, bad[i].words);
    }
    assert_false(read("[", &f));
}

/* Every frame of an orbit has the middle in its middle, at the same distance, and the horizon level. */
static void orbit(void **state) {
    (void)state;
    gr_cloud c;
    gr_frames f;
    fine(gr_cloud_new(&arena, &diags, 101, 0, &c));
    for (uint32_t i = 0; i < 101; i++) c.mean[3 * i] = (float)i - 40, c.mean[3 * i + 1] = 3, c.mean[3 * i + 2] = -2;
    c.mean[0] = 1e9f; /* one far away moves nothing */
    for (int axis = 0; axis < 3; axis++) {
        gr_orbit o = {.frames = 12, .width = 64, .height = 48, .fov = 40, .elevation = 30};
        o.up[axis] = -1;
        fine(gr_path_orbit(&arena, &diags, &c, &o, &f));
        assert_int_equal(f.list.n, 12);
        for (uint32_t i = 0; i < 12; i++) {
            const gr_pose *p = &f.list.v[i].pose;
            const double middle[3] = {11, 3, -2};
            double at[3];
            for (int k = 0; k < 3; k++) at[k] = p->r[3 * k] * middle[0] + p->r[3 * k + 1] * middle[1] + p->r[3 * k + 2] * middle[2] + p->t[k];
            near_(at[0], 0, 1e-9);
            near_(at[1], 0, 1e-9);
            near_(at[2], 3 * 25, 1e-9);
            near_(p->r[axis], 0, 1e-12);      /* right is level */
            assert_true(p->r[3 + axis] > 0); /* down is against up */
        }
    }
    fine(gr_cloud_new(&arena, &diags, 0, 0, &c));
    fine(gr_path_orbit(&arena, &diags, &c, &(gr_orbit){.frames = 2, .width = 4, .height = 4, .fov = 40, .up = {0, 0, 1}}, &f));
    assert_true(isfinite(f.list.v[1].pose.t[2]));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void) {
    const struct CMUnitTest tests[] = {T(viewer), T(transforms), T(refused), T(orbit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
