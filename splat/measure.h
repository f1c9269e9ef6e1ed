/* measure.h: how near a rendered picture is to the photo: PSNR and SSIM on the host, in f64. */
#ifndef GR_SPLAT_MEASURE_H
#define GR_SPLAT_MEASURE_H

#include "splat/image.h"

typedef struct gr_score { double psnr, ssim; } gr_score;

/* rgb: (height, width, 3), held to 0..1. truth: RGB, or RGBA which is laid on `background` (0 to 1). mask: 1 channel, under 128 does not count:
 * PSNR is over what counts, and for SSIM both pictures are black elsewhere, as in the loss. PSNR is 100 for equal pictures and when nothing
 * counts. SSIM: 11 taps of a Gaussian of 1.5, zeros beyond the border, C1 = 1e-4, C2 = 9e-4 (Wang et al. 2004). */
bool gr_score_picture(gr_diags *d, const float *rgb, const gr_image *truth, const gr_image *mask, const float background[3], gr_score *out);
/* What the photo shows at pixel i over the background, 0 to 1. */
void gr_truth_pixel(const gr_image *truth, const float background[3], size_t i, double out[3]);
/* The picture as bytes: held to 0..1 and rounded. */
bool gr_picture_bytes(gr_diags *d, const float *rgb, uint32_t width, uint32_t height, gr_image *out);

#endif
