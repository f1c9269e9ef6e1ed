#include "splat/measure.h"

#include "base/math.h"

enum { WINDOW = 11, HALF = WINDOW / 2, MAPS = 5 };

static double held(double v) { return v > 0 ? v < 1 ? v : 1 : 0; }

void gr_truth_pixel(const gr_image *truth, const float background[3], size_t i, double out[3]) {
    const uint8_t *p = truth->px + i * truth->channels;
    double a = truth->channels == 4 ? p[3] / 255.0 : 1;
    for (int k = 0; k < 3; k++) out[k] = a * p[truth->channels < 3 ? 0 : k] / 255.0 + (1 - a) * (double)background[k];
}

bool gr_picture_bytes(gr_diags *d, const float *rgb, uint32_t width, uint32_t height, gr_image *out) {
    GR_TRY(gr_image_new(d, GR_STR("rendered"), width, height, 3, out));
    for (size_t i = 0; i < 3 * (size_t)width * height; i++) out->px[i] = (uint8_t)(held((double)rgb[i]) * 255 + 0.5);
    return true;
}

/* Along a line of n numbers that are `step` apart: the windowed sums, zeros beyond the ends. */
static void blur_line(const double *in, double *out, size_t n, size_t step, const double *tap) {
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (int k = -HALF; k <= HALF; k++)
            if ((k >= 0 || i >= (size_t)-k) && i + (size_t)(k + HALF) < n + HALF) sum += tap[k + HALF] * in[(size_t)((ptrdiff_t)i + k) * step];
        out[i * step] = sum;
    }
}

static void blur(double *map, double *scratch, uint32_t width, uint32_t height, const double *tap) {
    for (size_t y = 0; y < height; y++) blur_line(map + y * width, scratch + y * width, width, 1, tap);
    for (size_t x = 0; x < width; x++) blur_line(scratch + x, map + x, height, width, tap);
}

static double similarity(double *const map[MAPS], size_t n) {
    const double c1 = 1e-4, c2 = 9e-4;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double x = map[0][i], y = map[1][i], vx = map[2][i] - x * x, vy = map[3][i] - y * y, vxy = map[4][i] - x * y;
        sum += (2 * x * y + c1) * (2 * vxy + c2) / ((x * x + y * y + c1) * (vx + vy + c2));
    }
    return sum;
}

static void taps(double tap[WINDOW]) {
    double total = 0;
    for (int i = 0; i < WINDOW; i++) total += tap[i] = gr_exp(-(double)((i - HALF) * (i - HALF)) / (2 * 1.5 * 1.5));
    for (int i = 0; i < WINDOW; i++) tap[i] /= total;
}

bool gr_score_picture(gr_diags *d, const float *rgb, const gr_image *truth, const gr_image *mask, const float background[3], gr_score *out) {
    size_t n = (size_t)truth->width * truth->height;
    double *all = gr_heap_alloc((MAPS + 1) * n, sizeof *all), tap[WINDOW], squares = 0, counted = 0, ssim = 0, want[3];
    double *const map[MAPS] = {all, all + n, all + 2 * n, all + 3 * n, all + 4 * n};
    if (!all) return gr_report_oom(d);
    taps(tap);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < n; i++) {
            bool counts = !mask || !mask->px || mask->px[i] >= 128;
            gr_truth_pixel(truth, background, i, want);
            double x = counts ? held((double)rgb[3 * i + (size_t)k]) : 0, y = counts ? want[k] : 0;
            map[0][i] = x, map[1][i] = y, map[2][i] = x * x, map[3][i] = y * y, map[4][i] = x * y;
            squares += (x - y) * (x - y);
            counted += counts;
        }
        for (int m = 0; m < MAPS; m++) blur(map[m], all + MAPS * n, truth->width, truth->height, tap);
        ssim += similarity(map, n);
    }
    gr_heap_free(all);
    double mean = counted > 0 ? squares / counted : 0;
    out->psnr = mean > 1e-10 ? -10 * gr_log(mean) / gr_log(10) : 100;
    out->ssim = ssim / (3.0 * (double)n);
    return true;
}
