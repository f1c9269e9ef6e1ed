#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* ---- colour ------------------------------------------------------------------------------ */

/* Real spherical harmonics of degree 0 to 3 in the order and with the signs of the published code. */
void or_sh_basis(const double d[3], int degree, double out[OR_SH]) {
    const double pi = acos(-1.0), x = d[0], y = d[1], z = d[2];
    memset(out, 0, OR_SH * sizeof *out);
    out[0] = sqrt(1 / (4 * pi));
    if (degree < 1) return;
    double a = sqrt(3 / (4 * pi));
    out[1] = -a * y, out[2] = a * z, out[3] = -a * x;
    if (degree < 2) return;
    double b = sqrt(15 / (4 * pi));
    out[4] = b * x * y, out[5] = -b * y * z, out[6] = sqrt(5 / (16 * pi)) * (2 * z * z - x * x - y * y), out[7] = -b * x * z;
    out[8] = 0.5 * b * (x * x - y * y);
    if (degree < 3) return;
    double c = sqrt(35 / (32 * pi)), e = sqrt(105 / (4 * pi)), f = sqrt(21 / (32 * pi));
    out[9] = -c * y * (3 * x * x - y * y), out[10] = e * x * y * z, out[11] = -f * y * (4 * z * z - x * x - y * y);
    out[12] = sqrt(7 / (16 * pi)) * z * (2 * z * z - 3 * x * x - 3 * y * y), out[13] = -f * x * (4 * z * z - x * x - y * y);
    out[14] = 0.5 * e * z * (x * x - y * y), out[15] = -c * x * (x * x - 3 * y * y);
}

static void color(const or_splat *s, const or_camera *c, int degree, or_projected *out) {
    double d[3], basis[OR_SH], n = 0;
    for (int i = 0; i < 3; i++) { /* from the camera, which stands at -R^T t */
        d[i] = s->mean[i] + c->r[i] * c->t[0] + c->r[3 + i] * c->t[1] + c->r[6 + i] * c->t[2];
        n += d[i] * d[i];
    }
    for (int i = 0; i < 3; i++) d[i] /= sqrt(n);
    or_sh_basis(d, degree, basis);
    for (int k = 0; k < 3; k++) {
        double v = 0.5;
        for (int i = 0; i < (degree + 1) * (degree + 1); i++) v += basis[i] * s->sh[i][k];
        out->clamped[k] = v < 0;
        out->color[k] = v < 0 ? 0 : v;
    }
}

/* ---- projection ---------------------------------------------------------------------------- */

static void rotation(const double q[4], double r[9]) {
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), w = q[0] / n, x = q[1] / n, y = q[2] / n, z = q[3] / n;
    const double m[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), 1 - 2 * (x * x + z * z),
                         2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
    memcpy(r, m, sizeof m);
}

/* out = a b^T-free product of (n,3) by (3,m), all by rows. */
static void product(const double *a, const double *b, int n, int m, double *out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            out[i * m + j] = 0;
            for (int k = 0; k < 3; k++) out[i * m + j] += a[i * 3 + k] * b[k * m + j];
        }
}

void or_covariance(const or_splat *s, double out[9]) {
    double r[9], rs[9], t[9];
    rotation(s->rotation, r);
    for (int i = 0; i < 9; i++) rs[i] = r[i] * exp(s->scale[i % 3]);
    for (int i = 0; i < 9; i++) t[i] = rs[(i % 3) * 3 + i / 3];
    product(rs, t, 3, 3, out);
}

void or_project_point(const or_camera *c, const double p[3], double *px, double *py) {
    double x = p[0] / p[2], y = p[1] / p[2], r2 = x * x + y * y, u, v;
    if (c->fisheye) {
        double r = sqrt(r2), a = atan(r), s = r > 0 ? a * (1 + c->k[0] * pow(a, 2) + c->k[1] * pow(a, 4) + c->k[2] * pow(a, 6) + c->k[3] * pow(a, 8)) / r : 1;
        u = x * s, v = y * s;
    } else {
        double s = 1 + c->k[0] * r2 + c->k[1] * r2 * r2;
        u = x * s + 2 * c->p[0] * x * y + c->p[1] * (r2 + 2 * x * x);
        v = y * s + 2 * c->p[1] * x * y + c->p[0] * (r2 + 2 * y * y);
    }
    *px = c->fx * u + c->cx, *py = c->fy * v + c->cy;
}

static double limited(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

/* EWA: cov2 = J W Sigma W^T J^T + blur I, J the Jacobian of the pinhole projection at the mean, whose x/z and y/z are kept within clamp times
 * half the field of view so that splats far outside do not blow up. */
or_projected or_project(const or_splat *s, const or_camera *c, const or_options *o) {
    or_projected out = {0};
    double p[3], sigma[9], w_sigma[9], wt[9], in_camera[9], jc[6], jt[6], cov[4];
    for (int i = 0; i < 3; i++) p[i] = c->r[3 * i] * s->mean[0] + c->r[3 * i + 1] * s->mean[1] + c->r[3 * i + 2] * s->mean[2] + c->t[i];
    out.depth = p[2];
    if (p[2] < o->near_plane) return out;
    or_project_point(c, p, &out.x, &out.y);
    double half_x = o->clamp * 0.5 * c->width / c->fx, half_y = o->clamp * 0.5 * c->height / c->fy;
    double x = limited(p[0] / p[2], -half_x, half_x), y = limited(p[1] / p[2], -half_y, half_y);
    const double j[6] = {c->fx / p[2], 0, -c->fx * x / p[2], 0, c->fy / p[2], -c->fy * y / p[2]};
    or_covariance(s, sigma);
    for (int i = 0; i < 9; i++) wt[i] = c->r[(i % 3) * 3 + i / 3];
    product(c->r, sigma, 3, 3, w_sigma);
    product(w_sigma, wt, 3, 3, in_camera);
    product(j, in_camera, 2, 3, jc);
    for (int i = 0; i < 6; i++) jt[i] = j[(i % 2) * 3 + i / 2];
    product(jc, jt, 2, 2, cov);
    double before = cov[0] * cov[3] - cov[1] * cov[1];
    out.cov[0] = cov[0] + o->blur, out.cov[1] = cov[1], out.cov[2] = cov[3] + o->blur;
    double det = out.cov[0] * out.cov[2] - out.cov[1] * out.cov[1];
    if (!(det > 0)) return out;
    out.conic[0] = out.cov[2] / det, out.conic[1] = -out.cov[1] / det, out.conic[2] = out.cov[0] / det;
    out.opacity = sigmoid(s->opacity) * (o->mip ? sqrt(fmax(2.5e-5, before / det)) : 1);
    color(s, c, o->degree, &out);
    out.visible = out.opacity >= 1.0 / 255;
    return out;
}

/* ---- tiles and blending -------------------------------------------------------------------- */

static double form(const or_projected *p, double dx, double dy) {
    return p->conic[0] * dx * dx + 2 * p->conic[1] * dx * dy + p->conic[2] * dy * dy;
}

double or_alpha(const or_projected *p, double px, double py) {
    double a = p->opacity * exp(-0.5 * form(p, px - p->x, py - p->y));
    return a < 1.0 / 255 ? 0 : a > 0.99 ? 0.99 : a;
}

/* Least of the form along the segment where one coordinate is fixed: the free one at its own minimum, kept inside. */
static double least_on_edge(const or_projected *p, bool vertical, double fixed, double lo, double hi) {
    double a = vertical ? p->conic[2] : p->conic[0], free_at = limited(-p->conic[1] * fixed / a, lo, hi);
    return vertical ? form(p, fixed, free_at) : form(p, free_at, fixed);
}

bool or_touches(const or_projected *p, int tx, int ty) {
    double x0 = tx * OR_TILE + 0.5 - p->x, x1 = x0 + OR_TILE - 1, y0 = ty * OR_TILE + 0.5 - p->y, y1 = y0 + OR_TILE - 1, least = 0;
    if (!p->visible) return false;
    if (x0 > 0 || x1 < 0 || y0 > 0 || y1 < 0)
        least = fmin(fmin(least_on_edge(p, true, x0, y0, y1), least_on_edge(p, true, x1, y0, y1)), fmin(least_on_edge(p, false, y0, x0, x1), least_on_edge(p, false, y1, x0, x1)));
    return least <= 2 * log(255 * p->opacity);
}

static void sort_by_depth(or_projected *p, int n) { /* stable */
    for (int i = 1; i < n; i++) {
        or_projected x = p[i];
        int j = i;
        for (; j > 0 && p[j - 1].depth > x.depth; j--) p[j] = p[j - 1];
        p[j] = x;
    }
}

void or_render(const or_splat *s, int n, const or_camera *c, const or_options *o, const double background[3], double *rgb, double *left) {
    or_projected *p = calloc((size_t)n + 1, sizeof *p);
    for (int i = 0; i < n; i++) p[i] = or_project(&s[i], c, o);
    sort_by_depth(p, n);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            double t = 1, *out = rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
            out[0] = out[1] = out[2] = 0;
            for (int i = 0; i < n; i++) {
                double a = p[i].visible ? or_alpha(&p[i], x + 0.5, y + 0.5) : 0;
                if (a == 0) continue;
                if (t * (1 - a) < 1e-4) break;
                for (int k = 0; k < 3; k++) out[k] += t * a * p[i].color[k];
                t *= 1 - a;
            }
            for (int k = 0; k < 3; k++) out[k] += t * background[k];
            if (left) left[y * c->width + x] = t;
        }
    free(p);
}

/* ---- loss ------------------------------------------------------------------------------------ */

double or_l1(const double *x, const double *y, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += fabs(x[i] - y[i]);
    return sum / (double)n;
}

/* The five windowed means at one pixel of one channel: x, y, x^2, y^2, xy. */
static void means(const double *x, const double *y, int width, int height, int px, int py, int channel, int window, double out[5]) {
    double total = 0, half = window / 2;
    memset(out, 0, 5 * sizeof *out);
    for (int i = 0; i < window; i++) total += exp(-(i - half) * (i - half) / (2 * 1.5 * 1.5));
    for (int j = 0; j < window; j++)
        for (int i = 0; i < window; i++) {
            int sx = px + i - window / 2, sy = py + j - window / 2;
            if (sx < 0 || sy < 0 || sx >= width || sy >= height) continue;
            double w = exp(-((i - half) * (i - half) + (j - half) * (j - half)) / (2 * 1.5 * 1.5)) / (total * total);
            double a = x[3 * ((size_t)sy * (size_t)width + (size_t)sx) + (size_t)channel], b = y[3 * ((size_t)sy * (size_t)width + (size_t)sx) + (size_t)channel];
            const double v[5] = {a, b, a * a, b * b, a * b};
            for (int k = 0; k < 5; k++) out[k] += w * v[k];
        }
}

double or_ssim(const double *x, const double *y, int width, int height, int window) {
    const double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03;
    double sum = 0, m[5];
    for (int py = 0; py < height; py++)
        for (int px = 0; px < width; px++)
            for (int k = 0; k < 3; k++) {
                means(x, y, width, height, px, py, k, window, m);
                double vx = m[2] - m[0] * m[0], vy = m[3] - m[1] * m[1], vxy = m[4] - m[0] * m[1];
                sum += (2 * m[0] * m[1] + c1) * (2 * vxy + c2) / ((m[0] * m[0] + m[1] * m[1] + c1) * (vx + vy + c2));
            }
    return sum / (3.0 * width * height);
}

double or_loss(const double *x, const double *y, int width, int height, double lambda, int window) {
    return (1 - lambda) * or_l1(x, y, 3 * (size_t)width * (size_t)height) + lambda * (1 - or_ssim(x, y, width, height, window));
}

/* ---- updates ----------------------------------------------------------------------------------- */

void or_adam(double *value, double *m, double *v, double g, double rate, double beta1, double beta2, double epsilon, int t) {
    *m = beta1 * *m + (1 - beta1) * g;
    *v = beta2 * *v + (1 - beta2) * g * g;
    *value -= rate * (*m / (1 - pow(beta1, t))) / (sqrt(*v / (1 - pow(beta2, t))) + epsilon);
}

double or_rate(double first, double last, int step, int max_steps) { return first * pow(last / first, (double)step / max_steps); }

or_decision or_adc(double mean_gradient, const double scale[3], double opacity_logit, double extent) {
    double largest = exp(fmax(scale[0], fmax(scale[1], scale[2])));
    if (sigmoid(opacity_logit) < 0.005) return OR_PRUNE;
    if (mean_gradient < 2e-4) return OR_KEEP;
    return largest <= 0.01 * extent ? OR_CLONE : OR_SPLIT;
}

static double choose(int n, int k) {
    double v = 1;
    for (int i = 0; i < k; i++) v = v * (n - i) / (i + 1);
    return v;
}

void or_relocate(double opacity, int n, double *new_opacity, double *scale_factor) {
    double o = 1 - pow(1 - opacity, 1.0 / n), sum = 0;
    for (int i = 1; i <= n; i++)
        for (int k = 0; k < i; k++) sum += choose(i - 1, k) * (k % 2 ? -1 : 1) * pow(o, k + 1) / sqrt(k + 1.0);
    *new_opacity = o;
    *scale_factor = opacity / sum;
}

void or_noise(const or_splat *s, const double e[3], double rate, double out[3]) {
    double sigma[9], gate = sigmoid(-100 * (sigmoid(s->opacity) - 0.005)) * rate * 5e5;
    or_covariance(s, sigma);
    for (int i = 0; i < 3; i++) out[i] = gate * (sigma[3 * i] * e[0] + sigma[3 * i + 1] * e[1] + sigma[3 * i + 2] * e[2]);
}
