#include "splat/synth.h"

#include <stdio.h>

#include "base/file.h"
#include "base/math.h"
#include "base/rng.h"

static const double background = 1.0; /* white */

/* ---- the scene ------------------------------------------------------------------------- */

static double between(gr_rng *r, double lo, double hi) { return lo + (hi - lo) * gr_rng_f64(r); }

/* A rotation from a random quaternion. */
static void turn(gr_rng *r, double out[9]) {
    gr_pose p;
    double q[4], zero[3] = {0};
    do
        for (int i = 0; i < 4; i++) q[i] = between(r, -1, 1);
    while (!gr_pose_from_quaternion(q, zero, &p));
    memcpy(out, p.r, sizeof p.r);
}

static void paint(gr_rng *r, gr_ellipsoid *e) {
    for (int k = 0; k < 3; k++) {
        e->colour[0][k] = between(r, 0.05, 0.95);
        e->colour[1][k] = between(r, 0.05, 0.95);
        e->stripes[k] = between(r, -6, 6);
    }
}

void gr_synth_make(const gr_synth_desc *desc, gr_synth *out) {
    gr_rng r = gr_rng_seed(desc->seed);
    uint32_t shapes = desc->shapes < GR_SYNTH_SHAPES_MAX ? desc->shapes : GR_SYNTH_SHAPES_MAX;
    *out = (gr_synth){.n = shapes + 1};
    out->shape[0] = (gr_ellipsoid){.centre = {0, 0, -0.08}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .radius = {1.6, 1.6, 0.08}};
    paint(&r, &out->shape[0]);
    for (uint32_t i = 1; i < out->n; i++) {
        gr_ellipsoid *e = &out->shape[i];
        double angle = between(&r, 0, 6.283185307179586), away = 1.3 * gr_sqrt(gr_rng_f64(&r));
        turn(&r, e->rotation);
        for (int k = 0; k < 3; k++) e->radius[k] = between(&r, 0.06, 0.26);
        e->centre[0] = away * gr_cos(angle);
        e->centre[1] = away * gr_sin(angle);
        e->centre[2] = between(&r, 0.05, 0.9);
        paint(&r, e);
    }
}

gr_camera gr_synth_camera(const gr_synth_desc *desc) {
    return (gr_camera){.width = desc->width, .height = desc->height, .fx = 1.2 * desc->width, .fy = 1.2 * desc->width, .cx = 0.5 * desc->width, .cy = 0.5 * desc->height};
}

static void unit(double v[3]) {
    double n = gr_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) v[k] /= n;
}

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

gr_pose gr_synth_pose(const gr_synth_desc *desc, uint32_t i) {
    static const double up[3] = {0, 0, 1}, target[3] = {0, 0, 0.25};
    double part = (i + 0.5) / desc->views, angle = 2.399963229728653 * i, height = 0.25 + 0.6 * part; /* the golden angle */
    double at[3] = {4 * gr_sqrt(1 - height * height) * gr_cos(angle), 4 * gr_sqrt(1 - height * height) * gr_sin(angle), 4 * height};
    double right[3], down[3], forward[3];
    gr_pose p;
    for (int k = 0; k < 3; k++) forward[k] = target[k] - at[k];
    unit(forward);
    cross(forward, up, right);
    unit(right);
    cross(forward, right, down);
    for (int k = 0; k < 3; k++) p.r[k] = right[k], p.r[3 + k] = down[k], p.r[6 + k] = forward[k];
    for (int k = 0; k < 3; k++) p.t[k] = -(p.r[3 * k] * at[0] + p.r[3 * k + 1] * at[1] + p.r[3 * k + 2] * at[2]);
    return p;
}

/* ---- rays --------------------------------------------------------------------------------- */

/* rotation^T (v - from) / radius: into the unit sphere's coordinates. */
static void into(const gr_ellipsoid *e, const double v[3], const double from[3], double out[3]) {
    for (int j = 0; j < 3; j++) {
        double sum = 0;
        for (int i = 0; i < 3; i++) sum += e->rotation[3 * i + j] * (v[i] - from[i]);
        out[j] = sum / e->radius[j];
    }
}

int gr_synth_hit(const gr_synth *s, const double origin[3], const double direction[3], double *t) {
    static const double zero[3] = {0};
    int best = -1;
    for (uint32_t k = 0; k < s->n; k++) {
        double o[3], v[3];
        into(&s->shape[k], origin, s->shape[k].centre, o);
        into(&s->shape[k], direction, zero, v);
        double a = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], b = o[0] * v[0] + o[1] * v[1] + o[2] * v[2];
        double c = o[0] * o[0] + o[1] * o[1] + o[2] * o[2] - 1, root = b * b - a * c;
        if (root < 0) continue;
        double near_t = (-b - gr_sqrt(root)) / a;
        if (near_t > 1e-6 && (best < 0 || near_t < *t)) best = (int)k, *t = near_t;
    }
    return best;
}

void gr_synth_shade(const gr_synth *s, int k, const double point[3], double rgb[3]) {
    static const double lamp[3] = {0.36, 0.48, 0.8};
    const gr_ellipsoid *e = &s->shape[k];
    double p[3], n[3] = {0};
    into(e, point, e->centre, p);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) n[i] += e->rotation[3 * i + j] * p[j] / e->radius[j];
    unit(n);
    double facing = n[0] * lamp[0] + n[1] * lamp[1] + n[2] * lamp[2], light = 0.35 + 0.15 * n[2] + 0.5 * (facing > 0 ? facing : 0);
    double mix = 0.5 + 0.5 * gr_sin(e->stripes[0] * p[0] + e->stripes[1] * p[1] + e->stripes[2] * p[2]);
    for (int i = 0; i < 3; i++) rgb[i] = light * (e->colour[0][i] * (1 - mix) + e->colour[1][i] * mix);
}

static void ray_colour(const gr_synth *s, const gr_camera *c, const gr_pose *p, const double origin[3], double x, double y, double rgb[3]) {
    double v[3] = {(x - c->cx) / c->fx, (y - c->cy) / c->fy, 1}, direction[3], t = 0, point[3];
    for (int i = 0; i < 3; i++) direction[i] = p->r[i] * v[0] + p->r[3 + i] * v[1] + p->r[6 + i] * v[2];
    int k = gr_synth_hit(s, origin, direction, &t);
    for (int i = 0; i < 3; i++) rgb[i] = background, point[i] = origin[i] + t * direction[i];
    if (k >= 0) gr_synth_shade(s, k, point, rgb);
}

static uint8_t byte(double v) { return (uint8_t)(v > 0 ? v < 1 ? gr_floor(v * 255 + 0.5) : 255 : 0); }

bool gr_synth_render(gr_diags *d, const gr_synth *s, const gr_camera *c, const gr_pose *p, gr_image *out) {
    double origin[3];
    gr_pose_centre(p, origin);
    GR_TRY(gr_image_new(d, GR_STR("synth"), c->width, c->height, 3, out));
    for (uint32_t y = 0; y < c->height; y++)
        for (uint32_t x = 0; x < c->width; x++) {
            double sum[3] = {0}, rgb[3];
            for (int i = 0; i < GR_SYNTH_SAMPLES * GR_SYNTH_SAMPLES; i++) {
                double sx = (i % GR_SYNTH_SAMPLES + 0.5) / GR_SYNTH_SAMPLES, sy = (double)(i / GR_SYNTH_SAMPLES) / GR_SYNTH_SAMPLES + 0.5 / GR_SYNTH_SAMPLES;
                ray_colour(s, c, p, origin, x + sx, y + sy, rgb);
                for (int k = 0; k < 3; k++) sum[k] += rgb[k];
            }
            for (int k = 0; k < 3; k++) out->px[3 * ((size_t)y * c->width + x) + (size_t)k] = byte(sum[k] / (GR_SYNTH_SAMPLES * GR_SYNTH_SAMPLES));
        }
    return true;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The quaternion w x y z of a rotation by rows; the largest part is found first, so that nothing is divided by a small one. */
static void quaternion(const double r[9], double q[4]) {
    double square[4] = {1 + r[0] + r[4] + r[8], 1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8], 1 - r[0] - r[4] + r[8]};
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (square[i] > square[best]) best = i;
    double n = gr_sqrt(square[best]), f = 0.5 / n;
    const double pair[4][4] = {{0, r[7] - r[5], r[2] - r[6], r[3] - r[1]}, {r[7] - r[5], 0, r[3] + r[1], r[2] + r[6]},
                               {r[2] - r[6], r[3] + r[1], 0, r[7] + r[5]}, {r[3] - r[1], r[2] + r[6], r[7] + r[5], 0}};
    for (int i = 0; i < 4; i++) q[i] = i == best ? 0.5 * n : f * pair[best][i];
}

static void numbers(gr_buf *b, const double *v, int n) {
    for (int i = 0; i < n; i++) {
        gr_buf_putc(b, ' ');
        gr_buf_f64(b, v[i]);
    }
}

static bool save(gr_arena *a, gr_diags *d, gr_str dir, const char *name, gr_buf *b) {
    bool ok = !b->failed || gr_report_oom(d);
    ok = ok && gr_file_write(d, gr_path_join(a, dir, gr_str_of(name)), b->p, b->n);
    gr_buf_free(b);
    return ok;
}

/* Points on the shapes, where no other shape covers them. */
static void put_points(gr_buf *b, const gr_synth *s, const gr_synth_desc *desc) {
    gr_rng r = gr_rng_seed(desc->seed ^ 0x706f696e7473u);
    gr_buf_puts(b, "# id x y z r g b error\n");
    for (uint32_t i = 0, tries = 0; i < desc->points && tries < 100 * desc->points; tries++) {
        uint32_t k = gr_rng_below(&r, s->n);
        const gr_ellipsoid *e = &s->shape[k];
        double p[3] = {between(&r, -1, 1), between(&r, -1, 1), between(&r, -1, 1)}, point[3], rgb[3], n = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
        bool covered = false;
        if (n > 1 || n < 1e-6) continue; /* evenly over directions */
        unit(p);
        for (int j = 0; j < 3; j++) {
            point[j] = e->centre[j];
            for (int m = 0; m < 3; m++) point[j] += e->rotation[3 * j + m] * e->radius[m] * p[m];
        }
        for (uint32_t m = 0; m < s->n; m++) {
            double q[3];
            into(&s->shape[m], point, s->shape[m].centre, q);
            covered = covered || (m != k && q[0] * q[0] + q[1] * q[1] + q[2] * q[2] < 1);
        }
        if (covered || point[2] < -0.1) continue;
        gr_synth_shade(s, (int)k, point, rgb);
        gr_buf_printf(b, "%u", ++i);
        numbers(b, point, 3);
        gr_buf_printf(b, " %u %u %u 0\n", byte(rgb[0]), byte(rgb[1]), byte(rgb[2]));
    }
}

static bool write_model(gr_arena *a, gr_diags *d, gr_str dir, const gr_synth *s, const gr_synth_desc *desc) {
    gr_camera c = gr_synth_camera(desc);
    const double params[4] = {c.fx, c.fy, c.cx, c.cy};
    gr_buf cameras = {0}, images = {0}, points = {0};
    gr_buf_printf(&cameras, "# id model width height parameters\n1 PINHOLE %u %u", c.width, c.height);
    numbers(&cameras, params, 4);
    gr_buf_putc(&cameras, '\n');
    gr_buf_puts(&images, "# id qw qx qy qz tx ty tz camera name, then a line of points seen\n");
    for (uint32_t i = 0; i < desc->views; i++) {
        gr_pose p = gr_synth_pose(desc, i);
        double q[4];
        quaternion(p.r, q);
        gr_buf_printf(&images, "%u", i + 1);
        numbers(&images, q, 4);
        numbers(&images, p.t, 3);
        gr_buf_printf(&images, " 1 %03u.png\n\n", i);
    }
    put_points(&points, s, desc);
    bool ok = save(a, d, dir, "sparse/0/cameras.txt", &cameras);
    ok = save(a, d, dir, "sparse/0/images.txt", &images) && ok;
    return save(a, d, dir, "sparse/0/points3D.txt", &points) && ok;
}

static bool write_pictures(gr_arena *a, gr_diags *d, gr_str dir, const gr_synth *s, const gr_synth_desc *desc) {
    gr_camera c = gr_synth_camera(desc);
    for (uint32_t i = 0; i < desc->views; i++) {
        gr_pose p = gr_synth_pose(desc, i);
        gr_image m;
        gr_buf b = {0};
        char name[32];
        snprintf(name, sizeof name, "images/%03u.png", i);
        GR_TRY(gr_synth_render(d, s, &c, &p, &m));
        gr_image_write_png(&b, &m, true);
        gr_image_free(&m);
        GR_TRY(save(a, d, dir, name, &b));
    }
    return true;
}

bool gr_synth_write(gr_arena *a, gr_diags *d, gr_str dir, const gr_synth_desc *desc) {
    gr_synth *s = GR_NEW(a, gr_synth);
    gr_buf config = {0};
    if (!s) return gr_report_oom(d);
    gr_synth_make(desc, s);
    GR_TRY(gr_dir_make(d, gr_path_join(a, dir, GR_STR("sparse/0"))) && gr_dir_make(d, gr_path_join(a, dir, GR_STR("images"))));
    gr_buf_puts(&config, "# A procedural scene of `gradus splat synth`.\n[data]\npath = \".\"\nbackground = \"white\"\n\n[train]\ntier = \"debug\"\nmax_steps = 2000\n"
                         "sh_degree = 1\n\n[refine]\ncap_max = 20000\n");
    return save(a, d, dir, "train.toml", &config) && write_model(a, d, dir, s, desc) && write_pictures(a, d, dir, s, desc);
}
