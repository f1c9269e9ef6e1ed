/* Checkpoints: exact, refused when damaged or of another training, and safe on a full disk. */
#include "kit.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "splat/checkpoint.h"
#include "splat/refine.h"

static gr_state s;
static gr_config config;
static gr_str path;
static char folder[64];

static int begin(void **state) {
    setup(state);
    snprintf(folder, sizeof folder, "/tmp/gradus-checkpoint-XXXXXX");
    assert_non_null(mkdtemp(folder));
    path = gr_path_join(&arena, gr_str_of(folder), GR_STR("checkpoint.safetensors"));
    config = gr_config_default();
    config.train_tier = GR_TIER_DEBUG;
    config.data_path = GR_STR("somewhere");
    fine(gr_state_new(&diags, 20, 2, &s));
    s.n = 11;
    /* Every array holds numbers of its own, signed zeros and subnormals too. */
    for (uint32_t i = 0; i < s.cap; i++) {
        double u[4];
        gr_draw_normal(3, GR_PURPOSE_NOISE, 1, i, u);
        for (int g = 0; g < GR_GROUPS; g++)
            for (uint32_t k = 0, w = gr_group_width((gr_group)g, 2); k < w; k++) {
                s.value[g][i * w + k] = (float)(u[0] + g + k);
                s.m[g][i * w + k] = k % 2 ? -0.0f : 1e-42f;
                s.v[g][i * w + k] = (float)(u[1] * u[1]);
            }
        s.grad_sum[i] = (float)u[2];
        s.grad_count[i] = (float)i;
    }
    return 0;
}

static int end(void **state) {
    gr_state_free(&s);
    unlink(path.p);
    rmdir(folder);
    return teardown(state);
}

static bool save(uint32_t step) {
    return gr_checkpoint_save(&diags, path, &(gr_checkpoint){.step = step, .config = &config, .data_hash = "sha256:ab", .extent = 1.0 / 3}, &s);
}

static void exact(void **state) {
    (void)state;
    gr_state got;
    gr_checkpoint_read r;
    fine(save(700));
    fine(gr_checkpoint_load(&arena, &diags, path, 25, 2, &r, &got));
    assert_int_equal(r.step, 700);
    assert_int_equal(r.n, 11);
    assert_true(r.extent == 1.0 / 3);
    assert_true(gr_str_eqz(r.data_hash, "sha256:ab"));
    assert_int_equal(got.n, 11);
    assert_int_equal(got.cap, 25);
    for (int g = 0; g < GR_GROUPS; g++) {
        size_t bytes = 11 * sizeof(float) * gr_group_width((gr_group)g, 2);
        assert_memory_equal(got.value[g], s.value[g], bytes);
        assert_memory_equal(got.m[g], s.m[g], bytes);
        assert_memory_equal(got.v[g], s.v[g], bytes);
    }
    assert_memory_equal(got.grad_sum, s.grad_sum, 11 * sizeof(float));
    assert_memory_equal(got.grad_count, s.grad_count, 11 * sizeof(float));
    fine(gr_checkpoint_fits(&arena, &diags, path, &r, &config));
    gr_state_free(&got);
}

static void another_training(void **state) {
    (void)state;
    gr_checkpoint_read r;
    char x[72], y[72];
    fine(save(700));
    fine(gr_checkpoint_look(&arena, &diags, path, &r));
    gr_checkpoint_config_hash(&config, x);
    config.data_path = GR_STR("elsewhere");
    config.train_log_every = 7;
    config.backend_pipelining = GR_PIPELINING_OFF;
    gr_checkpoint_config_hash(&config, y);
    assert_string_equal(x, y);
    fine(gr_checkpoint_fits(&arena, &diags, path, &r, &config));
    config.optim_opacity = 0.04;
    config.train_seed = 1;
    assert_false(gr_checkpoint_fits(&arena, &diags, path, &r, &config));
    assert_int_equal(diags.errors, 2);
    expect(GR_D_SPLAT_CHECKPOINT_CONFIG, "optim.opacity was 0.05 when the checkpoint was written and is 0.04 now");
    gr_checkpoint_config_hash(&config, y);
    assert_string_not_equal(x, y);
}

static void does_not_fit(void **state) {
    (void)state;
    gr_state got;
    gr_checkpoint_read r;
    fine(save(700));
    assert_false(gr_checkpoint_load(&arena, &diags, path, 10, 2, &r, &got));
    gr_state_free(&got);
    expect(GR_D_SPLAT_CHECKPOINT, "11 splats of SH degree 2; this training has room for 10");
    assert_false(gr_checkpoint_load(&arena, &diags, path, 20, 3, &r, &got));
    gr_state_free(&got);
    expect(GR_D_SPLAT_CHECKPOINT, "of degree 3");
}

/* Cut anywhere, or with any byte of the head changed: refused or read, never anything worse. */
static void damaged(void **state) {
    (void)state;
    gr_str bytes;
    fine(save(700));
    fine(gr_file_read(&arena, &diags, path, 0, &bytes));
    for (size_t n = 0; n < bytes.n; n += 1 + n / 16) {
        gr_state got;
        gr_checkpoint_read r;
        gr_diags quiet;
        gr_diags_init(&quiet);
        fine(gr_file_write(&diags, path, bytes.p, n));
        assert_false(gr_checkpoint_load(&arena, &quiet, path, 20, 2, &r, &got));
        assert_true(quiet.errors > 0);
        gr_state_free(&got);
        char *copy = gr_arena_strndup(&arena, bytes.p, bytes.n);
        copy[n] ^= 0x15;
        fine(gr_file_write(&diags, path, copy, bytes.n));
        if (!gr_checkpoint_load(&arena, &quiet, path, 20, 2, &r, &got)) assert_true(quiet.errors > 0);
        gr_state_free(&got);
        gr_diags_free(&quiet);
    }
    static const char other[] = "\x10\0\0\0\0\0\0\0{\"__metadata__\":";
    fine(gr_file_write(&diags, path, other, sizeof other));
    gr_checkpoint_read r;
    assert_false(gr_checkpoint_look(&arena, &diags, path, &r));
    gr_diags_clear(&diags);
}

/* No room for the file: the earlier checkpoint is as it was. */
static void full_disk(void **state) {
    (void)state;
    gr_str before, after;
    struct rlimit old, small = {1000, RLIM_INFINITY};
    fine(save(700));
    fine(gr_file_read(&arena, &diags, path, 0, &before));
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    bool ok = save(800);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(ok);
    expect(GR_D_BASE_FILE_UNWRITABLE, NULL);
    fine(gr_file_read(&arena, &diags, path, 0, &after));
    assert_true(gr_str_eq(before, after));
    gr_str *names;
    uint32_t n;
    fine(gr_dir_list(&arena, &diags, gr_str_of(folder), &names, &n));
    assert_int_equal(n, 1); /* nothing left over */
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {T(exact), T(another_training), T(does_not_fit), T(damaged), T(full_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
