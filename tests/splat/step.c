/* The step on the device against closed forms, against the oracle in f64 and its differences, and against itself: the same bits whatever
 * runs when. On the software adapter where there is one, and on the oracle's evaluator. */
#include "kit.h"

#include <math.h>

#include "base/rng.h"
#include "oracle.h"
#include "splat/step.h"

static gr_session *session;
static gr_setup setup_;

static int open_with(gr_device_kind kind) {
    arena = (gr_arena){.limit = (size_t)1 << 30};
    gr_diags_init(&diags);
    session = gr_session_new(&(gr_session_desc){.device = kind});
    gr_config c = gr_config_default();
    c.train_tier = GR_TIER_DEBUG;
    setup_ = gr_config_apply(&c);
    return 0;
}
static int on_cpu(void **state) { return (void)state, open_with(GR_DEVICE_CPU); }
static int on_gpu(void **state) { return (void)state, open_with(GR_DEVICE_GPU); }
static int end(void **state) {
    gr_session_free(session);
    session = NULL;
    return teardown(state);
}

/* Skips what is for a GPU where there is none. */
static void need_device(void) {
    if (gr_session_exit_code(session) == 0) return;
    print_message("no adapter\n");
    skip();
}

static void ok_(bool ok, const char *file, int line) {
    if (ok) return;
    print_error("%s\n", gr_session_report(session, false));
    _fail(file, line);
}
#define ok(call) ok_(call, __FILE__, __LINE__)

/* ---- scenes ---------------------------------------------------------------------------------- */

enum { MOST = 400 };
typedef struct world {
    or_splat s[MOST];
    int n;
    or_camera c;
    or_options o;
    double background[3];
} world;

static double logit(double p) { return log(p / (1 - p)); }

static or_splat ball(double x, double y, double z, double s, double opacity, double r, double g, double b) {
    return (or_splat){.mean = {x, y, z}, .scale = {log(s), log(s), log(s)}, .rotation = {1, 0, 0, 0}, .opacity = logit(opacity),
                      .sh = {{(r - 0.5) / GR_SH_C0, (g - 0.5) / GR_SH_C0, (b - 0.5) / GR_SH_C0}}};
}

static world front(int width, int height, double f) {
    return (world){.c = {.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .fx = f, .fy = f, .cx = width / 2.0, .cy = height / 2.0, .width = width, .height = height},
                   .o = {.near_plane = 0.01, .blur = 0.3, .clamp = 1.3}};
}

/* Long splats of any direction and view-dependent colour, before a camera that is turned. Values are those of f32. */
static world thicket(uint64_t seed, int n, int width, int height, int degree) {
    world w = front(width, height, 0.9 * width);
    gr_rng r = gr_rng_seed(seed);
    const double a = 0.3;
    const double turned[9] = {cos(a), 0, sin(a), 0, 1, 0, -sin(a), 0, cos(a)}, t[3] = {0.1, -0.05, 3};
    memcpy(w.c.r, turned, sizeof turned), memcpy(w.c.t, t, sizeof t);
    w.c.cx += 0.7, w.c.fy *= 1.1, w.o.degree = degree, w.n = n;
    w.background[0] = 0.25, w.background[1] = 0.5, w.background[2] = 1;
    for (int i = 0; i < n; i++) {
        or_splat *s = &w.s[i];
        *s = ball(0, 0, 0, 1, 0.2 + 0.6 * gr_rng_f64(&r), gr_rng_f64(&r), gr_rng_f64(&r), gr_rng_f64(&r));
        for (int k = 0; k < 3; k++) s->mean[k] = 1.6 * gr_rng_f64(&r) - 0.8, s->scale[k] = -1.2 - 2 * gr_rng_f64(&r);
        for (int k = 0; k < 4; k++) s->rotation[k] = gr_rng_f64(&r) - 0.5;
        for (int k = 1; k < (degree + 1) * (degree + 1); k++)
            for (int j = 0; j < 3; j++) s->sh[k][j] = 0.4 * gr_rng_f64(&r) - 0.2;
    }
    return w;
}

static gr_state state_of(const world *w, uint32_t cap, uint32_t degree) {
    gr_state x;
    assert_true(gr_state_new(&diags, cap, degree, &x));
    x.n = (uint32_t)w->n;
    uint32_t k = gr_sh_count(degree);
    for (int i = 0; i < w->n; i++) {
        for (int j = 0; j < 3; j++) x.value[GR_GROUP_MEANS][3 * i + j] = (float)w->s[i].mean[j], x.value[GR_GROUP_SCALE][3 * i + j] = (float)w->s[i].scale[j];
        for (int j = 0; j < 4; j++) x.value[GR_GROUP_ROTATION][4 * i + j] = (float)w->s[i].rotation[j];
        x.value[GR_GROUP_OPACITY][i] = (float)w->s[i].opacity;
        for (uint32_t j = 0; j < k; j++)
            for (uint32_t c = 0; c < 3; c++) x.value[GR_GROUP_SH][((uint32_t)i * k + j) * 3 + c] = (float)w->s[i].sh[j][c];
    }
    return x;
}

/* What the device has, in f64. */
static void world_of(const gr_state *x, world *w) {
    uint32_t k = gr_sh_count(x->sh_degree);
    for (int i = 0; i < w->n; i++) {
        for (int j = 0; j < 3; j++) w->s[i].mean[j] = (double)x->value[GR_GROUP_MEANS][3 * i + j], w->s[i].scale[j] = (double)x->value[GR_GROUP_SCALE][3 * i + j];
        for (int j = 0; j < 4; j++) w->s[i].rotation[j] = (double)x->value[GR_GROUP_ROTATION][4 * i + j];
        w->s[i].opacity = (double)x->value[GR_GROUP_OPACITY][i];
        for (uint32_t j = 0; j < k; j++)
            for (uint32_t c = 0; c < 3; c++) w->s[i].sh[j][c] = (double)x->value[GR_GROUP_SH][((uint32_t)i * k + j) * 3 + c];
    }
}

static gr_step_view view_of(const world *w, const gr_image *truth) {
    gr_step_view v = {.camera = {.width = (uint32_t)w->c.width, .height = (uint32_t)w->c.height, .fx = w->c.fx, .fy = w->c.fy, .cx = w->c.cx, .cy = w->c.cy},
                      .degree = (uint32_t)w->o.degree, .truth = truth};
    memcpy(v.pose.r, w->c.r, sizeof v.pose.r), memcpy(v.pose.t, w->c.t, sizeof v.pose.t);
    for (int k = 0; k < 3; k++) v.background[k] = (float)w->background[k];
    return v;
}

static gr_step *step_of(const world *w, const gr_state *x, uint32_t pairs) {
    setup_.train.antialiased = w->o.mip;
    gr_step *s = gr_step_new(session, &(gr_step_desc){.setup = &setup_, .cap = x->cap, .sh_degree = x->sh_degree, .width = (uint32_t)w->c.width, .height = (uint32_t)w->c.height,
                                                      .pairs = pairs});
    ok(s != NULL);
    ok(gr_step_write(s, x, GR_STEP_ALL));
    return s;
}

/* A picture to be fitted, that no pixel of a rendering equals. */
static gr_image other_picture(int width, int height) {
    gr_image m;
    assert_true(gr_image_new(&diags, GR_STR("truth"), (uint32_t)width, (uint32_t)height, 3, &m));
    for (int i = 0; i < 3 * width * height; i++) m.px[i] = (uint8_t)(60 + 120 * (i / 3 % width) / width + 17 * (i % 3) + 40 * ((i / 3 / width / 5) % 2));
    return m;
}

static void doubles(const gr_image *m, double *out) {
    for (uint32_t i = 0; i < 3 * m->width * m->height; i++) out[i] = m->px[i] / 255.0;
}

/* ---- forward ------------------------------------------------------------------------------------ */

static void pixels_by_hand(void **state) {
    (void)state;
    need_device();
    world w = front(17, 17, 20);
    float rgb[17 * 17 * 3], left[17 * 17];
    const float *centre = rgb + 3 * (8 * 17 + 8), *aside = rgb + 3 * (8 * 17 + 10);
    for (int i = 0; i < 3; i++) w.background[i] = 1;
    w.s[0] = ball(0, 0, 2, 0.1, 0.6, 1, 0, 0), w.n = 1;
    gr_state x = state_of(&w, 8, 0);
    gr_step *s = step_of(&w, &x, 0);
    gr_step_view v = view_of(&w, NULL);
    ok(gr_step_render(s, &v, rgb, left, NULL));
    near_(centre[0], 1, 1e-6), near_(centre[1], 0.4, 1e-6), near_(left[8 * 17 + 8], 0.4, 1e-6);
    near_(aside[1], 1 - 0.6 * exp(-0.5 * 4 / 1.3), 1e-6);
    assert_true(rgb[0] == 1 && left[0] == 1);
    gr_state_free(&x);
    w.s[1] = ball(0, 0, 1, 0.05, 0.5, 0, 0, 1), w.n = 2; /* nearer, behind in memory */
    x = state_of(&w, 8, 0);
    ok(gr_step_write(s, &x, GR_STEP_ALL) && gr_step_render(s, &v, rgb, left, NULL));
    near_(centre[0], 0.5 * 0.6 + 0.5 * 0.4, 1e-6), near_(centre[1], 0.5 * 0.4, 1e-6), near_(centre[2], 0.5 + 0.5 * 0.4, 1e-6);
    gr_state_free(&x);
    for (int i = 0; i < 5; i++) w.s[i] = ball(0, 0, 2 + i, 0.05 * (2 + i), 0.9, i == 2, 1, i < 2);
    w.n = 5;
    x = state_of(&w, 8, 0);
    memset(v.background, 0, sizeof v.background);
    ok(gr_step_write(s, &x, GR_STEP_ALL) && gr_step_render(s, &v, rgb, left, NULL));
    near_(left[8 * 17 + 8], 1e-4, 1e-5); /* 0.1^4: at the limit, by f32 or not */
    near_(centre[2], 0.99, 1e-5), near_(centre[0], 0.009, 1e-5);
    gr_step_free(s);
    gr_state_free(&x);
}

/* Pictures of forty splats, several tiles, harmonics to degree 3, with Mip compensation and without, are the oracle's. */
static void pictures(void **state) {
    (void)state;
    need_device();
    enum { W = 50, H = 37 };
    static double want[W * H * 3], gone[W * H];
    static float rgb[W * H * 3], left[W * H];
    for (int mip = 0; mip < 2; mip++) {
        world w = thicket(3, 40, W, H, 3);
        w.o.mip = mip;
        w.s[0].mean[2] = -30, w.s[1].mean[0] = 1e5; /* behind, and far out */
        gr_state x = state_of(&w, 48, 3);
        world_of(&x, &w);
        gr_step *s = step_of(&w, &x, 0);
        gr_step_view v = view_of(&w, NULL);
        ok(gr_step_render(s, &v, rgb, left, NULL));
        or_render(w.s, w.n, &w.c, &w.o, w.background, want, gone);
        int off = 0;
        for (int i = 0; i < W * H; i++) {
            for (int k = 0; k < 3; k++) {
                near_(rgb[3 * i + k], want[3 * i + k], 8e-3); /* one splat more or less at 1/255 */
                off += fabs((double)rgb[3 * i + k] - want[3 * i + k]) > 2e-5;
            }
            near_(left[i], gone[i], 8e-3);
        }
        assert_true(off < 12);
        gr_step_free(s);
        gr_state_free(&x);
    }
}

/* ---- gradient -------------------------------------------------------------------------------------- */

static double loss_of(const world *w, const double *truth, double *rgb) {
    or_render(w->s, w->n, &w->c, &w->o, w->background, rgb, NULL);
    return or_loss(rgb, truth, w->c.width, w->c.height, 0.2, (int)setup_.train.ssim_window);
}

/* The number of splat s that parameter p is, and where the device keeps it. */
static double *parameter(or_splat *s, int p) {
    if (p < 3) return &s->mean[p];
    if (p < 6) return &s->scale[p - 3];
    if (p < 10) return &s->rotation[p - 6];
    return p == 10 ? &s->opacity : &s->sh[(p - 11) / 3][(p - 11) % 3];
}

static float device_number(float *const group[GR_GROUPS], int i, int p, uint32_t degree) {
    if (p < 3) return group[GR_GROUP_MEANS][3 * i + p];
    if (p < 6) return group[GR_GROUP_SCALE][3 * i + p - 3];
    if (p < 10) return group[GR_GROUP_ROTATION][4 * i + p - 6];
    return p == 10 ? group[GR_GROUP_OPACITY][i] : group[GR_GROUP_SH][3 * gr_sh_count(degree) * (uint32_t)i + (uint32_t)(p - 11)];
}

static double difference(world *w, int i, int p, double h, const double *truth, double *rgb) {
    double *v = parameter(&w->s[i], p), before = *v;
    *v = before + h;
    double up = loss_of(w, truth, rgb);
    *v = before - h;
    double down = loss_of(w, truth, rgb);
    *v = before;
    return (up - down) / (2 * h);
}

/* After the first step Adam's mean is a tenth of the gradient: every number of five splats against differences of the oracle's loss. Where
 * differences of two widths disagree there is a kink between them (1/255, the order, L1 at 0): left out, and few. */
static void gradient(void **state) {
    (void)state;
    need_device();
    enum { W = 20, H = 18 };
    static double truth[W * H * 3], rgb[W * H * 3];
    int checked = 0, kinks = 0;
    bool both = strcmp(gr_session_executor(session), "webgpu") == 0; /* the evaluator is slow */
    for (int mip = both ? 0 : 1; mip < 2; mip++) {
        setup_.train.ssim_window = mip ? 7 : 11;
        world w = thicket(11 + (uint64_t)mip, 5, W, H, 2);
        w.o.mip = mip;
        gr_image m = other_picture(W, H);
        doubles(&m, truth);
        gr_state x = state_of(&w, 6, 2);
        world_of(&x, &w);
        gr_step *s = step_of(&w, &x, 0);
        gr_step_view v = view_of(&w, &m);
        gr_step_result got;
        ok(gr_step_train(s, &v, &(gr_step_update){.t = 1}, &got) && gr_step_read(s, &x, GR_STEP_ALL));
        assert_true(got.has_loss && !got.has_deferred && !got.prefetched_forward && got.dropped == 0);
        near_(got.loss, loss_of(&w, truth, rgb), 2e-6);
        near_(got.l1, or_l1(rgb, truth, W * H * 3), 2e-6);
        near_(got.ssim, or_ssim(rgb, truth, W, H, mip ? 7 : 11), 5e-6);
        for (int i = 0; i < w.n; i++)
            for (int p = 0; p < 11 + 27; p++) {
                double a = difference(&w, i, p, 1e-5, truth, rgb), b = difference(&w, i, p, 3e-6, truth, rgb), have = 10 * (double)device_number(x.m, i, p, 2);
                if (fabs(a - b) > 1e-3 * fabs(a) + 1e-7) kinks++;
                else near_(have, b, 2e-3 * fabs(b) + 3e-7), checked++;
            }
        for (int i = 0; i < w.n; i++) near_(x.grad_count[i], 1, 0);
        gr_step_free(s);
        gr_state_free(&x);
        gr_image_free(&m);
    }
    assert_true(checked > 8 * kinks && checked > (both ? 300 : 150));
}

/* Four hundred faint splats over four tiles, so that a tile takes several rounds: the picture, and a few numbers of the gradient. */
static void crowd(void **state) {
    (void)state;
    need_device();
    enum { W = 32, H = 32, SAMPLES = 30 };
    static double truth[W * H * 3], rgb[W * H * 3];
    static float got_rgb[W * H * 3];
    static world w;
    w = thicket(21, MOST, W, H, 0);
    for (int i = 0; i < w.n; i++) w.s[i].opacity = logit(0.02 + 0.1 * (1 / (1 + exp(-w.s[i].opacity))));
    gr_image m = other_picture(W, H);
    doubles(&m, truth);
    gr_state x = state_of(&w, MOST, 0);
    world_of(&x, &w);
    gr_step *s = step_of(&w, &x, 0);
    gr_step_view v = view_of(&w, &m);
    gr_step_result r;
    ok(gr_step_render(s, &v, got_rgb, NULL, NULL) && gr_step_train(s, &v, &(gr_step_update){.t = 1}, &r) && gr_step_read(s, &x, GR_STEP_ALL));
    near_(r.loss, loss_of(&w, truth, rgb), 1e-4);
    assert_true(r.pairs > 2 * 256);
    for (int i = 0; i < W * H * 3; i++) near_(got_rgb[i], rgb[i], 8e-3);
    gr_rng rng = gr_rng_seed(1);
    int checked = 0;
    for (int n = 0; n < SAMPLES; n++) {
        int i = (int)gr_rng_below(&rng, MOST), p = (int)gr_rng_below(&rng, 14);
        double a = difference(&w, i, p, 1e-6, truth, rgb), b = difference(&w, i, p, 3e-7, truth, rgb);
        if (fabs(a - b) > 1e-2 * fabs(a) + 1e-8) continue;
        near_(10 * (double)device_number(x.m, i, p, 0), b, 2e-2 * fabs(b) + 1e-7);
        checked++;
    }
    assert_true(checked > SAMPLES / 3);
    gr_step_free(s);
    gr_state_free(&x);
    gr_image_free(&m);
}

/* ---- ten steps ------------------------------------------------------------------------------------- */

/* The loss of ten steps: rendering, gradient by differences and Adam, all in f64 and plain C. */
static void trajectory(void **state) {
    (void)state;
    need_device();
    enum { W = 18, H = 16, P = 14, STEPS = 10 };
    setup_.train.ssim_window = 7;
    static double truth[W * H * 3], rgb[W * H * 3];
    static double m[4][P], v[4][P];
    memset(m, 0, sizeof m), memset(v, 0, sizeof v);
    const gr_step_update rates = {.means = 2e-3, .scale = 5e-3, .rotation = 1e-3, .opacity = 0.05, .dc = 2.5e-3, .sh = 1e-4};
    world w = thicket(5, 4, W, H, 0);
    gr_image picture = other_picture(W, H);
    doubles(&picture, truth);
    gr_state x = state_of(&w, 4, 0);
    world_of(&x, &w);
    gr_step *s = step_of(&w, &x, 0);
    gr_step_view view = view_of(&w, &picture);
    double first = 0;
    for (int t = 1; t <= STEPS; t++) {
        gr_step_update u = rates;
        gr_step_result got;
        u.t = (uint32_t)t;
        ok(gr_step_train(s, &view, &u, &got));
        double want = loss_of(&w, truth, rgb), g[4][P];
        near_(got.loss, want, 1e-5 * t);
        if (t == 1) first = want;
        for (int i = 0; i < w.n; i++)
            for (int p = 0; p < P; p++) g[i][p] = difference(&w, i, p, 1e-6, truth, rgb);
        for (int i = 0; i < w.n; i++)
            for (int p = 0; p < P; p++) {
                double rate = p < 3 ? u.means : p < 6 ? u.scale : p < 10 ? u.rotation : p == 10 ? u.opacity : u.dc;
                or_adam(parameter(&w.s[i], p), &m[i][p], &v[i][p], g[i][p], rate, 0.9, 0.999, 1e-15, t);
            }
    }
    assert_true(loss_of(&w, truth, rgb) < first - 1e-3);
    gr_step_free(s);
    gr_state_free(&x);
    gr_image_free(&picture);
}

/* ---- determinism, and when things run ------------------------------------------------------------------ */

typedef struct course { char hash[72]; double loss[12]; gr_step_counters count; } course;

/* Twelve steps over three views, two of them of another size, with or without the next forward ahead. */
static course run_course(bool ahead, gr_choice reduce) {
    enum { W = 33, H = 20, STEPS = 12 };
    course out;
    world w = thicket(9, 30, W, H, 1);
    setup_.backend.ssim_reduce = reduce;
    setup_.train.mcmc = true; /* with its regularisers */
    gr_state x = state_of(&w, 40, 1);
    gr_step *s = step_of(&w, &x, 0);
    gr_image m[3] = {other_picture(W, H), other_picture(H, W - 3), other_picture(H, W - 3)};
    gr_step_view v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = view_of(&w, &m[i]);
        if (i) v[i].camera.width = m[i].width, v[i].camera.height = m[i].height, v[i].pose.t[0] += 0.1 * i;
    }
    int have = 0;
    for (int t = 0; t < STEPS; t++) {
        gr_step_result r;
        bool next = ahead && t + 1 < STEPS && t != 5;
        gr_step_update u = {.t = (uint32_t)t + 1, .means = 1e-3, .scale = 5e-3, .rotation = 1e-3, .opacity = 0.05, .dc = 2.5e-3, .sh = 1e-4, .regularise_opacity = 0.01,
                            .regularise_scale = 0.01, .noise = 20, .noise_opacity = 0.3, .seed = 7, .next = next ? &v[(t + 1) % 3] : NULL, .defer = t % 4 != 3};
        ok(gr_step_train(s, &v[t % 3], &u, &r));
        assert_true(r.prefetched_forward == next);
        if (r.has_deferred) out.loss[have++] = r.deferred_loss;
        if (r.has_loss) out.loss[have++] = r.loss;
        assert_true(r.has_loss == !(reduce == GR_SSIM_REDUCE_HOST_LAGGED && next && u.defer));
    }
    assert_int_equal(have, STEPS);
    gr_step_result none = {0};
    ok(gr_step_flush(s, &none));
    assert_false(none.has_deferred);
    out.count = gr_step_count(s);
    ok(gr_step_read(s, &x, GR_STEP_ALL));
    gr_state_hash(&x, true, out.hash);
    gr_step_free(s);
    gr_state_free(&x);
    for (int i = 0; i < 3; i++) gr_image_free(&m[i]);
    return out;
}

/* The mean of SSIM as the device sums it and as the host does in f64. */
static void sums_of_ssim(void **state) {
    (void)state;
    need_device();
    for (int side = 128; side <= 800; side += 672) {
        double ssim[2];
        world w = thicket(8, 12, side, side, 0);
        gr_state x = state_of(&w, 12, 0);
        gr_image m = other_picture(side, side);
        gr_step_view v = view_of(&w, &m);
        for (int host = 0; host < 2; host++) {
            gr_step_result r;
            setup_.backend.ssim_reduce = host ? GR_SSIM_REDUCE_HOST : GR_SSIM_REDUCE_GPU;
            gr_step *s = step_of(&w, &x, 0);
            ok(gr_step_train(s, &v, &(gr_step_update){.t = 1}, &r));
            ssim[host] = r.ssim;
            gr_step_free(s);
        }
        near_(ssim[0], ssim[1], 1e-4 * fabs(ssim[1]));
        assert_true(ssim[1] != 0 && ssim[1] != 1);
        gr_state_free(&x);
        gr_image_free(&m);
    }
}

static void same_bits(void **state) {
    (void)state;
    need_device();
    course a = run_course(false, GR_SSIM_REDUCE_GPU), b = run_course(true, GR_SSIM_REDUCE_GPU), c = run_course(true, GR_SSIM_REDUCE_HOST_LAGGED), d = run_course(false, GR_SSIM_REDUCE_HOST);
    assert_string_equal(a.hash, b.hash);
    assert_string_equal(a.hash, c.hash);
    assert_string_equal(a.hash, d.hash);
    for (int t = 0; t < 12; t++) {
        assert_true(a.loss[t] == b.loss[t] && c.loss[t] == d.loss[t]);
        near_(a.loss[t], c.loss[t], 1e-4 * a.loss[t]);
    }
    assert_int_equal(a.count.peak_in_flight, 1), assert_int_equal(a.count.sync_iters, 12), assert_int_equal(a.count.prefetched, 0);
    assert_int_equal(b.count.peak_in_flight, 2), assert_int_equal(b.count.sync_iters, 2), assert_int_equal(b.count.prefetched, 10);
    assert_int_equal(a.count.forwards, 12), assert_int_equal(b.count.forwards, 12);
}

/* Faint splats move by the oracle's noise of some standard normal vector: mean 0 and variance 1 along each axis; others stay, and another
 * seed gives other vectors. */
static void noise(void **state) {
    (void)state;
    need_device();
    static world w;
    w = thicket(12, MOST, 16, 16, 0);
    for (int i = 0; i < w.n; i++) w.s[i].mean[2] = -20, w.s[i].opacity = logit(i % 4 ? 0.004 : 0.2); /* behind the camera: Adam does nothing */
    setup_.train.mcmc = true;
    gr_image m = other_picture(16, 16);
    gr_state x = state_of(&w, MOST, 0);
    world_of(&x, &w);
    gr_step *s = step_of(&w, &x, 0);
    gr_step_view v = view_of(&w, &m);
    gr_step_result r;
    gr_step_update u = {.t = 3, .noise = 0.5, .noise_opacity = 0.005, .seed = 1};
    ok(gr_step_train(s, &v, &u, &r) && gr_step_read(s, &x, GR_STEP_ALL));
    double sum[3] = {0}, square[3] = {0}, n = 0, other = 0;
    for (int i = 0; i < w.n; i++) {
        double axes[3][3], d[3], e[3], det;
        for (int k = 0; k < 3; k++) { /* what each axis of e does */
            double one[3] = {k == 0, k == 1, k == 2};
            or_noise(&w.s[i], one, 1e-6, axes[k]);
            for (int j = 0; j < 3; j++) axes[k][j] *= 1e6 * 0.5 / 5e5;
            d[k] = (double)x.value[GR_GROUP_MEANS][3 * i + k] - w.s[i].mean[k];
        }
        if (i % 4 == 0) {
            for (int k = 0; k < 3; k++) near_(d[k], 0, 1e-6);
            continue;
        }
        det = axes[0][0] * (axes[1][1] * axes[2][2] - axes[1][2] * axes[2][1]) - axes[1][0] * (axes[0][1] * axes[2][2] - axes[0][2] * axes[2][1]) +
              axes[2][0] * (axes[0][1] * axes[1][2] - axes[0][2] * axes[1][1]);
        for (int k = 0; k < 3; k++) { /* Cramer */
            double c[3][3];
            memcpy(c, axes, sizeof c), memcpy(c[k], d, sizeof d);
            e[k] = (c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[2][1]) - c[1][0] * (c[0][1] * c[2][2] - c[0][2] * c[2][1]) + c[2][0] * (c[0][1] * c[1][2] - c[0][2] * c[1][1])) / det;
        }
        if (fmin(w.s[i].scale[0], fmin(w.s[i].scale[1], w.s[i].scale[2])) < -2.8) continue; /* lost in the rounding of the mean */
        for (int k = 0; k < 3; k++) sum[k] += e[k], square[k] += e[k] * e[k];
        n++;
    }
    for (int k = 0; k < 3; k++) near_(sum[k] / n, 0, 4 / sqrt(n)), near_(square[k] / n, 1, 6 / sqrt(n));
    assert_true(n > 80);
    gr_state y = state_of(&w, MOST, 0);
    ok(gr_step_write(s, &y, GR_STEP_ALL));
    u.seed = 2;
    ok(gr_step_train(s, &v, &u, &r) && gr_step_read(s, &y, GR_STEP_ALL));
    for (int i = 0; i < 3 * w.n; i++) other += x.value[GR_GROUP_MEANS][i] != y.value[GR_GROUP_MEANS][i];
    assert_true(other > w.n);
    gr_step_free(s);
    gr_state_free(&x), gr_state_free(&y);
    gr_image_free(&m);
}

/* ---- state, bounds, masks ----------------------------------------------------------------------------- */

static void state_comes_back(void **state) {
    (void)state;
    need_device();
    world w = thicket(2, 7, 16, 16, 1);
    gr_state x = state_of(&w, 9, 1), y;
    gr_rng r = gr_rng_seed(4);
    for (int g = 0; g < GR_GROUPS; g++)
        for (uint32_t i = 0; i < x.n * gr_group_width((gr_group)g, 1); i++) x.m[g][i] = (float)gr_rng_f64(&r), x.v[g][i] = (float)gr_rng_f64(&r);
    for (uint32_t i = 0; i < x.n; i++) x.grad_sum[i] = (float)i, x.grad_count[i] = (float)(2 * i);
    assert_true(gr_state_new(&diags, 9, 1, &y));
    gr_step *s = step_of(&w, &x, 0);
    y.n = x.n;
    ok(gr_step_read(s, &y, GR_STEP_ALL));
    char a[72], b[72];
    gr_state_hash(&x, true, a), gr_state_hash(&y, true, b);
    assert_string_equal(a, b);
    for (uint32_t i = 0; i < x.n; i++) assert_true(y.grad_sum[i] == x.grad_sum[i] && y.grad_count[i] == x.grad_count[i]);
    for (uint32_t i = 0; i < 3 * x.n; i++) x.value[GR_GROUP_MEANS][i] += 1, x.value[GR_GROUP_SCALE][i] += 1;
    ok(gr_step_write_groups(s, &x, 1 << GR_GROUP_MEANS) && gr_step_read_groups(s, &y, 1 << GR_GROUP_MEANS | 1 << GR_GROUP_SCALE | 1 << GR_GROUP_OPACITY));
    for (uint32_t i = 0; i < 3 * x.n; i++) {
        assert_true(y.value[GR_GROUP_MEANS][i] == x.value[GR_GROUP_MEANS][i]);
        assert_true(y.value[GR_GROUP_SCALE][i] == x.value[GR_GROUP_SCALE][i] - 1 || x.value[GR_GROUP_SCALE][i] != y.value[GR_GROUP_SCALE][i]);
    }
    y.n = 9, y.cap = 8;
    assert_false(gr_step_write(s, &y, GR_STEP_ALL));
    gr_session_clear(session);
    gr_step_free(s);
    gr_state_free(&x);
    gr_state_free(&y);
}

/* Without room for all pairs the farthest splats miss tiles, and that is said. */
static void pairs_without_room(void **state) {
    (void)state;
    need_device();
    world w = front(64, 64, 60);
    float rgb[64 * 64 * 3];
    uint32_t dropped = 0;
    w.s[0] = ball(0, 0, 1, 0.5, 0.9, 1, 0, 0), w.s[1] = ball(0, 0, 2, 1, 0.9, 0, 1, 0), w.n = 2;
    gr_state x = state_of(&w, 2, 0);
    gr_step *s = step_of(&w, &x, 20); /* 16 tiles each */
    gr_image m = other_picture(64, 64);
    gr_step_view v = view_of(&w, &m);
    ok(gr_step_render(s, &v, rgb, NULL, &dropped));
    assert_int_equal(dropped, 12);
    gr_step_result r;
    gr_session_clear(session);
    assert_true(gr_step_train(s, &v, &(gr_step_update){.t = 1}, &r));
    assert_int_equal(r.pairs, 32), assert_int_equal(r.dropped, 12);
    assert_non_null(strstr(gr_session_report(session, false), "32 pairs"));
    gr_step_free(s);
    gr_state_free(&x);
    gr_image_free(&m);
}

/* What a mask takes out gives no gradient; transparent pixels are the background; a picture of another size than its view is refused. */
static void masks(void **state) {
    (void)state;
    need_device();
    world w = thicket(6, 5, 16, 16, 0);
    gr_state x = state_of(&w, 5, 0);
    gr_step *s = step_of(&w, &x, 0);
    gr_image m = other_picture(16, 16), none, clear;
    assert_true(gr_image_new(&diags, GR_STR("mask"), 16, 16, 1, &none) && gr_image_new(&diags, GR_STR("clear"), 16, 16, 4, &clear));
    gr_step_view v = view_of(&w, &m);
    gr_step_result r;
    v.mask = &none;
    ok(gr_step_train(s, &v, &(gr_step_update){.t = 1, .means = 1}, &r) && gr_step_read(s, &x, GR_STEP_ALL));
    assert_true(r.loss == 0 && r.ssim == 1);
    for (uint32_t i = 0; i < 3 * x.n; i++) assert_true(x.m[GR_GROUP_MEANS][i] == 0);
    x.n = 0; /* nothing but background before nothing but background */
    ok(gr_step_write(s, &x, GR_STEP_ALL));
    v.mask = NULL, v.truth = &clear;
    v.background[0] = 0.2f, v.background[1] = 0.4f, v.background[2] = 1;
    ok(gr_step_evaluate(s, &v, &r));
    near_(r.l1, 0, 1e-7), near_(r.ssim, 1, 1e-5);
    v.camera.width = 15;
    assert_false(gr_step_evaluate(s, &v, &r));
    gr_session_clear(session);
    v.camera.width = 17;
    assert_false(gr_step_evaluate(s, &v, &r));
    gr_session_clear(session);
    gr_step_free(s);
    gr_state_free(&x);
    gr_image_free(&m), gr_image_free(&none), gr_image_free(&clear);
}

/* The plans say what they do. */
static void plans(void **state) {
    (void)state;
    world w = thicket(6, 5, 16, 16, 0);
    gr_state x = state_of(&w, 5, 0);
    gr_step *s = step_of(&w, &x, 0);
    char *text = gr_step_explain(s, GR_RUNG_PLAN);
    assert_non_null(text);
    for (const char *const *name = (const char *const[]){"sort_pairs@1", "splat_raster@1", "splat_raster_backward@1", "splat_adam@1", NULL}; *name; name++) assert_non_null(strstr(text, *name));
    assert_true(gr_step_created_bytes(s) > 0);
    gr_text_free(text);
    gr_step_free(s);
    gr_state_free(&x);
}

int main(void) {
#define C(f) {#f " (cpu)", f, on_cpu, end, NULL}
#define G(f) {#f " (gpu)", f, on_gpu, end, NULL}
    const struct CMUnitTest tests[] = {
        C(pixels_by_hand), C(gradient), C(state_comes_back), C(pairs_without_room), C(plans),
        G(pixels_by_hand), G(pictures), G(gradient), G(crowd), G(trajectory), G(sums_of_ssim), G(same_bits), G(noise), G(state_comes_back), G(pairs_without_room), G(masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
