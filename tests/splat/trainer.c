/* The loop of a training around a step that is faked: what comes when, what is kept, what is written, and what may go wrong in it. */
#include "kit.h"

#include <ftw.h>
#include <math.h>
#include <unistd.h>

#include "fake_step.h"
#include "oracle.h"
#include "splat/result.h"
#include "splat/synth.h"

static char folder[64];
static gr_str out;
static gr_config config;
static gr_scene scene;
static gr_session *session;
static uint32_t logged, refined, evaluated, saved;

static int begin(void **state) {
    setup(state);
    fake = (fake_seen){0};
    logged = refined = evaluated = saved = 0;
    snprintf(folder, sizeof folder, "/tmp/gradus-trainer-XXXXXX");
    assert_non_null(mkdtemp(folder));
    out = gr_path_join(&arena, gr_str_of(folder), GR_STR("out"));
    fine(gr_dir_make(&diags, out));
    fine(gr_synth_write(&arena, &diags, gr_str_of(folder), &(gr_synth_desc){.width = 12, .height = 8, .views = 9, .shapes = 3, .points = 40, .seed = 1}));
    session = gr_session_new(&(gr_session_desc){.device = GR_DEVICE_NONE_});
    return 0;
}

static int drop(const char *path, const struct stat *s, int kind, struct FTW *f) { return (void)s, (void)kind, (void)f, remove(path); }

static int end(void **state) {
    gr_session_free(session);
    nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
    return teardown(state);
}

static void load(const char *const *set, uint32_t n) {
    gr_str path = gr_path_join(&arena, gr_str_of(folder), GR_STR("train.toml"));
    fine(gr_config_load(&arena, &diags, path, set, n, &config));
    gr_setup s = gr_config_apply(&config);
    fine(gr_scene_load(&arena, &diags, &s.scene, &scene));
}
#define LOAD(...) load((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void on_event(void *user, const gr_trainer *t, gr_trainer_event e) {
    (void)user, (void)t;
    logged += e == GR_TRAINER_LOGGED, refined += e == GR_TRAINER_REFINED, evaluated += e == GR_TRAINER_EVALUATED, saved += e == GR_TRAINER_SAVED;
}

static gr_trainer_desc desc(void) { return (gr_trainer_desc){.session = session, .config = &config, .scene = &scene, .out = out, .on_event = on_event}; }

/* Every 100, start 500, 1,000 steps: 6 refinements, 6 steps that wait, 2 in flight. */
static void the_example(void **state) {
    (void)state;
    gr_trainer t;
    gr_trainer_desc x = desc();
    LOAD("train.max_steps=1000", "refine.start=500", "train.eval_every=0");
    fine(gr_trainer_new(&diags, &x, &t));
    fine(gr_trainer_run(&t, 0));
    gr_step_counters c = gr_step_count(t.step);
    assert_int_equal(refined, 6);
    assert_int_equal(c.sync_iters, 6);
    assert_int_equal(c.peak_in_flight, 2);
    assert_int_equal(logged, 10);
    assert_int_equal(evaluated, 1);
    assert_int_equal(saved, 1);
    assert_int_equal(fake.wrong_next, 0);
    assert_int_equal(t.history.n, 1000);
    assert_true(t.state.n > 40);
    gr_trainer_free(&t);
    LOAD("train.max_steps=1000", "refine.start=500", "backend.pipelining=\"off\"", "backend.host_schedule=\"off\"");
    fine(gr_trainer_new(&diags, &x, &t));
    fine(gr_trainer_run(&t, 0));
    c = gr_step_count(t.step);
    assert_int_equal(c.sync_iters, 1000);
    assert_int_equal(c.peak_in_flight, 1);
    gr_trainer_free(&t);
}

/* Whatever the order of work: the same splats, and a history with exactly the same entry for every step. */
static void order_of_work(void **state) {
    (void)state;
    static const char *const schedules[] = {"backend.host_schedule=\"off\"", "backend.host_schedule=\"forward_shadow\"", "backend.host_schedule=\"backward_shadow\""};
    static const char *const sums[] = {"backend.ssim_reduce=\"gpu\"", "backend.ssim_reduce=\"host\"", "backend.ssim_reduce=\"host_lagged\""};
    static const char *const strategies[] = {"train.strategy=\"adc\"", "train.strategy=\"mcmc\""};
    for (int k = 0; k < 2; k++) {
        char hash[72] = "", got[72];
        double first[60];
        for (int h = 0; h < 3; h++)
            for (int w = 0; w < 3; w++)
                for (int depth = 0; depth < 2; depth++) {
                    gr_trainer t;
                    gr_trainer_desc x = desc();
                    if (!depth && h == 2) continue; /* refused by the configuration */
                    LOAD(strategies[k], schedules[h], sums[w], depth ? "backend.pipelining=\"depth2\"" : "backend.pipelining=\"off\"", "train.max_steps=60", "train.log_every=7",
                         "train.checkpoint_every=20", "train.eval_every=25", "refine.every=10", "refine.start=10", "refine.reset_every=30", "data.background=\"random\"");
                    gr_diags_clear(&diags);
                    fine(gr_trainer_new(&diags, &x, &t));
                    fine(gr_trainer_run(&t, 0));
                    gr_state_hash(&t.state, true, got);
                    assert_int_equal(t.history.n, 60);
                    if (!*hash) memcpy(hash, got, sizeof hash), memcpy(first, t.history.loss, sizeof first);
                    assert_string_equal(hash, got);
                    assert_memory_equal(first, t.history.loss, sizeof first);
                    gr_trainer_free(&t);
                }
    }
    assert_int_equal(fake.wrong_next, 0);
}

/* Broken off anywhere and gone on: the same bits, the same lines. */
static void resumed(void **state) {
    (void)state;
    static const char *const strategies[] = {"train.strategy=\"adc\"", "train.strategy=\"mcmc\""};
    for (int k = 0; k < 2; k++)
        for (uint32_t stop = 0; stop < 3; stop++) {
            static const uint32_t at[] = {0, 17, 40};
            char whole[72], parts[72];
            gr_trainer t;
            gr_trainer_desc x = desc();
            gr_str want, got;
            LOAD(strategies[k], "train.max_steps=60", "refine.every=10", "refine.start=10", "refine.reset_every=30", "train.sh_every=20");
            fine(gr_trainer_new(&diags, &x, &t));
            fine(gr_trainer_run(&t, 0));
            gr_state_hash(&t.state, true, whole);
            fine(gr_result_losses(&t));
            gr_trainer_free(&t);
            gr_str csv = gr_path_join(&arena, out, GR_STR("losses.csv"));
            fine(gr_file_read(&arena, &diags, csv, 0, &want));
            fine(gr_trainer_new(&diags, &x, &t));
            if (at[stop]) fine(gr_trainer_run(&t, at[stop]));
            fine(gr_trainer_save(&t));
            fine(gr_result_losses(&t));
            gr_trainer_free(&t);
            x.checkpoint = gr_trainer_checkpoint_path(&arena, out);
            fine(gr_trainer_new(&diags, &x, &t));
            assert_int_equal(t.done, at[stop]);
            fine(gr_trainer_run(&t, 0));
            gr_state_hash(&t.state, true, parts);
            fine(gr_result_losses(&t));
            gr_trainer_free(&t);
            fine(gr_file_read(&arena, &diags, csv, 0, &got));
            assert_string_equal(whole, parts);
            assert_string_equal(want.p, got.p);
        }
}

/* As Ctrl-C does: after the step, with a checkpoint. */
static void stopped(void **state) {
    (void)state;
    volatile sig_atomic_t stop = 1;
    gr_trainer t;
    gr_trainer_desc x = desc();
    x.stop = &stop;
    LOAD("train.max_steps=60", "backend.host_schedule=\"backward_shadow\"", "backend.ssim_reduce=\"host_lagged\"");
    fine(gr_trainer_new(&diags, &x, &t));
    fine(gr_trainer_run(&t, 0));
    assert_true(t.stopped && t.done == 1 && t.history.n == 1 && saved == 1);
    gr_checkpoint_read r;
    fine(gr_checkpoint_look(&arena, &diags, gr_trainer_checkpoint_path(&arena, out), &r));
    assert_int_equal(r.step, 1);
    gr_trainer_free(&t);
}

/* A loss that is no number, and a device that is lost: said, and the checkpoint is the earlier one. */
static void fails_in_the_middle(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        gr_trainer t;
        gr_trainer_desc x = desc();
        gr_checkpoint_read r;
        LOAD("train.max_steps=60", "train.checkpoint_every=20");
        fake = (fake_seen){.nan_at = k ? 0 : 33, .fail_at = k ? 33 : 0};
        fine(gr_trainer_new(&diags, &x, &t));
        assert_false(gr_trainer_run(&t, 0));
        if (k) expect(GR_D_CLI_USAGE, "the device was lost");
        else expect(GR_D_RUN_LOSS_NOT_FINITE, "the loss of step 33 is");
        fine(gr_checkpoint_look(&arena, &diags, gr_trainer_checkpoint_path(&arena, out), &r));
        assert_int_equal(r.step, 20);
        gr_trainer_free(&t);
    }
}

static void starts(void **state) {
    (void)state;
    gr_trainer t;
    gr_trainer_desc x = desc();
    LOAD("refine.cap_max=13"); /* the cloud has 40 points */
    fine(gr_trainer_new(&diags, &x, &t));
    assert_int_equal(t.state.n, 13);
    assert_int_equal(t.state.cap, 13);
    fine(gr_trainer_run(&t, 20));
    gr_trainer_free(&t);
    LOAD("data.init=\"random\"", "data.random_splats=500", "refine.cap_max=100");
    fine(gr_trainer_new(&diags, &x, &t));
    assert_int_equal(t.state.n, 100);
    gr_trainer_free(&t);
    LOAD("data.init=\"points\"");
    scene.points.n = 0;
    assert_false(gr_trainer_new(&diags, &x, &t));
    gr_trainer_free(&t);
    expect(GR_D_SPLAT_NO_POINTS, "data.init");
}

/* Too small a memory is refused, or the cap is lowered when that was asked for. */
static void budget(void **state) {
    (void)state;
    gr_trainer t;
    gr_trainer_desc x = desc();
    fake.most_bytes = 1000 * 4 * 59 * 3;
    LOAD("refine.cap_max=5000");
    assert_false(gr_trainer_new(&diags, &x, &t));
    gr_trainer_free(&t);
    expect(GR_D_CLI_USAGE, "over the budget");
    LOAD("refine.cap_max=5000", "backend.lower_cap=true");
    fine(gr_trainer_new(&diags, &x, &t));
    assert_true(t.state.cap <= 1000 && t.state.cap > 700);
    expect(GR_D_SPLAT_CAP_LOWERED, "from 5000 to");
    fine(gr_trainer_run(&t, 5));
    gr_trainer_free(&t);
}

static void no_held_out_views(void **state) {
    (void)state;
    gr_trainer t;
    gr_trainer_desc x = desc();
    LOAD("data.test_every=0", "train.max_steps=3");
    fine(gr_trainer_new(&diags, &x, &t));
    fine(gr_trainer_run(&t, 0));
    fine(gr_result_write(&t));
    assert_int_equal(t.evaluation_n, 0);
    gr_trainer_free(&t);
}

static void results(void **state) {
    (void)state;
    gr_trainer t;
    gr_trainer_desc x = desc();
    gr_str text;
    gr_doc doc;
    LOAD("train.max_steps=50", "train.eval_every=20");
    fine(gr_trainer_new(&diags, &x, &t));
    fine(gr_trainer_run(&t, 0));
    assert_int_equal(t.evaluation_n, 3);
    assert_int_equal(evaluated, 3);
    assert_int_equal(t.score_n, 2);
    fine(gr_result_write(&t));
    gr_trainer_free(&t);
    fine(gr_file_read(&arena, &diags, gr_path_join(&arena, out, GR_STR("result.toml")), 0, &text));
    fine(gr_toml_parse(&arena, &diags, GR_STR("result.toml"), text, &doc));
    static const char *const metrics[] = {"final_loss", "psnr", "ssim", "splats", "elapsed_s", "peak_in_flight", "sync_iters"};
    for (int i = 0; i < 7; i++) assert_non_null(gr_value_get(gr_value_get(doc.root, "metrics"), metrics[i]));
    static const char *const curves[] = {"loss", "psnr", "splats"};
    for (int i = 0; i < 3; i++) assert_true(gr_value_get(gr_value_get(gr_value_get(doc.root, "curve"), curves[i]), "value")->array.n > 0);
    static const char *const tables[] = {"data", "train", "refine", "optim", "backend"};
    for (int i = 0; i < 5; i++) assert_non_null(gr_value_get(gr_value_get(doc.root, "config"), tables[i]));
    static const char *const origins[] = {"binary", "library", "revision", "data", "profile", "seed", "tier", "parameters", "guarantee"};
    for (int i = 0; i < 9; i++) assert_non_null(gr_value_get(gr_value_get(doc.root, "provenance"), origins[i]));
    assert_true(gr_file_exists(gr_path_join(&arena, out, GR_STR("test/000.png"))) && gr_file_exists(gr_path_join(&arena, out, GR_STR("splats.ply"))));
    fine(gr_file_read(&arena, &diags, gr_path_join(&arena, out, GR_STR("report.html")), 0, &text));
    assert_non_null(strstr(text.p, "prefers-color-scheme:dark"));
    assert_non_null(strstr(text.p, "data:image/png;base64,iVBOR"));
    assert_null(strstr(text.p, "<script"));
    assert_null(strstr(text.p, "http")); /* it needs nothing from anywhere */
    fine(gr_file_read(&arena, &diags, gr_path_join(&arena, out, GR_STR("losses.csv")), 0, &text));
    uint32_t lines = 0;
    for (const char *p = text.p; (p = strchr(p, '\n')); p++) lines++;
    assert_int_equal(lines, 51);
}

/* PSNR and SSIM by hand, the border and the mask. */
static void scores(void **state) {
    (void)state;
    enum { W = 9, H = 7 };
    static uint8_t px[W * H * 3], hidden[W * H];
    static float rgb[W * H * 3];
    const float white[3] = {1, 1, 1};
    gr_image truth = {W, H, 3, px}, mask = {W, H, 1, hidden};
    gr_score s;
    for (int i = 0; i < W * H * 3; i++) px[i] = (uint8_t)(i * 37 % 256), rgb[i] = (float)(px[i] / 255.0);
    fine(gr_score_picture(&diags, rgb, &truth, NULL, white, &s));
    near_(s.psnr, 100, 0);
    near_(s.ssim, 1, 1e-6);
    memset(px, 128, sizeof px);
    for (int i = 0; i < W * H * 3; i++) rgb[i] = (float)(128 / 255.0 + (i % 2 ? 0.1 : -0.1));
    fine(gr_score_picture(&diags, rgb, &truth, NULL, white, &s));
    near_(s.psnr, 20, 1e-5);
    rgb[0] = NAN; /* is held to 0, not spread */
    fine(gr_score_picture(&diags, rgb, &truth, NULL, white, &s));
    assert_true(isfinite(s.psnr) && isfinite(s.ssim));
    fine(gr_score_picture(&diags, rgb, &truth, &mask, white, &s)); /* nothing counts */
    near_(s.psnr, 100, 0);
    near_(s.ssim, 1, 1e-9);
}

static void ssim_as_the_oracle(void **state) {
    (void)state;
    enum { W = 17, H = 13 };
    static uint8_t px[W * H * 3];
    static float rgb[W * H * 3];
    static double x[W * H * 3], y[W * H * 3];
    const float white[3] = {1, 1, 1};
    gr_image truth = {W, H, 3, px};
    gr_score s;
    double e[4], squares = 0;
    for (int i = 0; i < W * H * 3; i++) {
        gr_draw_uniform(1, GR_PURPOSE_ORDER, 1, (uint64_t)i, e);
        px[i] = (uint8_t)(255 * e[0]);
        rgb[i] = (float)e[1];
        x[i] = (double)rgb[i], y[i] = px[i] / 255.0;
        squares += (x[i] - y[i]) * (x[i] - y[i]);
    }
    fine(gr_score_picture(&diags, rgb, &truth, NULL, white, &s));
    near_(s.ssim, or_ssim(x, y, W, H, 11), 1e-12);
    near_(s.psnr, -10 * log10(squares / (W * H * 3)), 1e-9);
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {T(the_example), T(order_of_work), T(resumed), T(stopped), T(fails_in_the_middle), T(starts), T(budget), T(no_held_out_views), T(results), T(scores),
                                       T(ssim_as_the_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
