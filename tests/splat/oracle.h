/* oracle.h: the mathematics of a training in plain C and f64, written from the published formulas and from nothing else of this tree, for
 * tests to hold everything faster against. Sources: Kerbl et al. 2023 (projection, blending, densification), Zwicker et al. 2001 (EWA),
 * Wang et al. 2004 (SSIM), Kingma and Ba 2015 (Adam), Kheradmand et al. 2024 (relocation and noise), Yu et al. 2024 (Mip compensation). */
#ifndef GR_TESTS_SPLAT_ORACLE_H
#define GR_TESTS_SPLAT_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

enum { OR_SH = 16, OR_TILE = 16 };

typedef struct or_splat {
    double mean[3], scale[3] /* log */, rotation[4] /* w x y z */, opacity /* logit */, sh[OR_SH][3];
} or_splat;

typedef struct or_camera {
    double r[9], t[3]; /* world to camera, rotation by rows */
    double fx, fy, cx, cy;
    int width, height;
    double k[4], p[2]; /* distortion of gradus: radial and tangential, or fisheye */
    bool fisheye;
} or_camera;

typedef struct or_options {
    double near_plane, blur, clamp; /* 0.01, 0.3, 1.3 */
    int degree;
    bool mip;
} or_options;

typedef struct or_projected {
    bool visible;
    double x, y, depth;
    double cov[3];   /* xx xy yy, with the blur */
    double conic[3]; /* its inverse */
    double opacity;  /* with Mip compensation when asked for */
    double color[3];
    bool clamped[3]; /* colour was negative: gradient 0 */
} or_projected;

void or_sh_basis(const double direction[3], int degree, double out[OR_SH]);
void or_covariance(const or_splat *s, double out[9]); /* R S S^T R^T by rows */
void or_project_point(const or_camera *c, const double camera_point[3], double *x, double *y);
or_projected or_project(const or_splat *s, const or_camera *c, const or_options *o);
/* power = -1/2 d^T conic d at a pixel's centre; alpha = min(0.99, opacity exp(power)), 0 under 1/255. */
double or_alpha(const or_projected *p, double px, double py);
/* Whether some point of tile (tx, ty)'s rectangle of pixel centres has alpha >= 1/255: by the least of the quadratic form over it. */
bool or_touches(const or_projected *p, int tx, int ty);
/* rgb (height, width, 3) and the transmittance left (height, width; may be NULL). */
void or_render(const or_splat *s, int n, const or_camera *c, const or_options *o, const double background[3], double *rgb, double *left);

/* Means over pixels and channels of images (height, width, 3); window taps, sigma 1.5, zeros beyond the border. */
double or_l1(const double *x, const double *y, size_t n);
double or_ssim(const double *x, const double *y, int width, int height, int window);
double or_loss(const double *x, const double *y, int width, int height, double lambda, int window);

/* One step of Adam on one number; t counts from 1. */
void or_adam(double *value, double *m, double *v, double gradient, double rate, double beta1, double beta2, double epsilon, int t);
double or_rate(double first, double last, int step, int max_steps); /* exponential from first to last */

typedef enum or_decision { OR_KEEP, OR_CLONE, OR_SPLIT, OR_PRUNE } or_decision;
or_decision or_adc(double mean_gradient, const double scale[3], double opacity_logit, double extent);
/* One splat becomes n of the same picture: opacity and the factor of scale of each. */
void or_relocate(double opacity, int n, double *new_opacity, double *scale_factor);
/* Noise added to a mean: Sigma e sigmoid(-100 (o - 0.005)) rate 5e5, e standard normal. */
void or_noise(const or_splat *s, const double e[3], double rate, double out[3]);

#endif
