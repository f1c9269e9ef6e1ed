#include "splat/state.h"

#include "base/hash.h"
#include "base/math.h"

const char *gr_group_name(gr_group g) {
    static const char *const names[GR_GROUPS] = {"means", "scale", "rotation", "opacity", "sh"};
    return names[g];
}

uint32_t gr_group_width(gr_group g, uint32_t sh_degree) {
    static const uint32_t widths[GR_GROUPS] = {3, 3, 4, 1, 3};
    return widths[g] * (g == GR_GROUP_SH ? gr_sh_count(sh_degree) : 1);
}

bool gr_state_new(gr_diags *d, uint32_t cap, uint32_t sh_degree, gr_state *out) {
    *out = (gr_state){.cap = cap, .sh_degree = sh_degree};
    for (int g = 0; g < GR_GROUPS; g++) {
        size_t row = sizeof(float) * gr_group_width((gr_group)g, sh_degree);
        float **array[] = {&out->value[g], &out->m[g], &out->v[g]};
        for (int k = 0; k < 3; k++)
            if (!(*array[k] = gr_heap_alloc((size_t)cap + 1, row))) return gr_report_oom(d);
    }
    out->grad_sum = gr_heap_alloc((size_t)cap + 1, sizeof(float));
    out->grad_count = gr_heap_alloc((size_t)cap + 1, sizeof(float));
    return (out->grad_sum && out->grad_count) || gr_report_oom(d);
}

void gr_state_free(gr_state *s) {
    for (int g = 0; g < GR_GROUPS; g++) {
        gr_heap_free(s->value[g]);
        gr_heap_free(s->m[g]);
        gr_heap_free(s->v[g]);
    }
    gr_heap_free(s->grad_sum);
    gr_heap_free(s->grad_count);
    *s = (gr_state){0};
}

static size_t row_bytes(const gr_state *s, int g) { return sizeof(float) * gr_group_width((gr_group)g, s->sh_degree); }

void gr_state_set(gr_state *s, const gr_cloud *c) {
    const float *from[GR_GROUPS] = {c->mean, c->scale, c->rotation, c->opacity, c->sh};
    s->n = c->n < s->cap ? c->n : s->cap;
    for (int g = 0; g < GR_GROUPS; g++) {
        memcpy(s->value[g], from[g], s->n * row_bytes(s, g));
        memset(s->m[g], 0, s->cap * row_bytes(s, g));
        memset(s->v[g], 0, s->cap * row_bytes(s, g));
    }
    gr_state_clear_statistics(s);
}

gr_cloud gr_state_cloud(const gr_state *s) {
    return (gr_cloud){.n = s->n, .sh_degree = s->sh_degree, .mean = s->value[GR_GROUP_MEANS], .scale = s->value[GR_GROUP_SCALE],
                      .rotation = s->value[GR_GROUP_ROTATION], .opacity = s->value[GR_GROUP_OPACITY], .sh = s->value[GR_GROUP_SH]};
}

void gr_state_move(gr_state *s, uint32_t to, uint32_t from) {
    if (to == from) return;
    for (int g = 0; g < GR_GROUPS; g++) {
        size_t row = row_bytes(s, g), w = row / sizeof(float);
        memcpy(s->value[g] + to * w, s->value[g] + from * w, row);
        memcpy(s->m[g] + to * w, s->m[g] + from * w, row);
        memcpy(s->v[g] + to * w, s->v[g] + from * w, row);
    }
    s->grad_sum[to] = s->grad_sum[from];
    s->grad_count[to] = s->grad_count[from];
}

void gr_state_forget(gr_state *s, uint32_t row) {
    for (int g = 0; g < GR_GROUPS; g++) {
        size_t bytes = row_bytes(s, g), w = bytes / sizeof(float);
        memset(s->m[g] + row * w, 0, bytes);
        memset(s->v[g] + row * w, 0, bytes);
    }
}

void gr_state_clear_statistics(gr_state *s) {
    memset(s->grad_sum, 0, s->cap * sizeof(float));
    memset(s->grad_count, 0, s->cap * sizeof(float));
}

bool gr_state_finite(const gr_state *s, uint32_t row) {
    for (int g = 0; g < GR_GROUPS; g++) {
        size_t w = row_bytes(s, g) / sizeof(float);
        for (size_t i = 0; i < w; i++)
            if (!(gr_fabs((double)s->value[g][row * w + i]) <= 3e38)) return false;
    }
    return true;
}

void gr_state_hash(const gr_state *s, bool moments, char out[72]) {
    gr_sha256_state h;
    gr_sha256_init(&h);
    for (int g = 0; g < GR_GROUPS; g++) {
        size_t bytes = s->n * row_bytes(s, g);
        gr_sha256_update(&h, s->value[g], bytes);
        if (moments) gr_sha256_update(&h, s->m[g], bytes), gr_sha256_update(&h, s->v[g], bytes);
    }
    gr_sha256_text(out, gr_sha256_final(&h));
}
