#include "plain.h"

void plain_windowed_median(const float *x, size_t n, size_t w, float *y) {
    float window[31];
    for (size_t i = 0; i + w <= n; i++) {
        for (size_t j = 0; j < w; j++) {
            float v = x[i + j];
            size_t k = j;
            for (; k > 0 && window[k - 1] > v; k--) window[k] = window[k - 1];
            window[k] = v;
        }
        y[i] = window[(w - 1) / 2];
    }
}

void plain_matmul(const float *a, const float *b, size_t n, float *y) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            y[i * n + j] = sum;
        }
}
