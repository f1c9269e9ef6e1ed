#include "fake_step.h"

#include <math.h>
#include <stdlib.h>

fake_seen fake;

struct gr_step {
    gr_session *session;
    gr_setup setup;
    gr_state state;
    gr_step_counters counters;
    gr_step_view next;
    bool has_next, has_late;
    double late;
};

static bool same_view(const gr_step_view *a, const gr_step_view *b) {
    return !memcmp(&a->pose, &b->pose, sizeof a->pose) && a->camera.fx == b->camera.fx && a->degree == b->degree && !memcmp(a->background, b->background, sizeof a->background);
}

gr_step *gr_step_new(gr_session *s, const gr_step_desc *d) {
    gr_diags quiet;
    gr_diags_init(&quiet);
    if (fake.most_bytes && (uint64_t)d->cap * 4 * 59 * 3 > fake.most_bytes) {
        gr_complain(s, "the plan is over the budget");
        return NULL;
    }
    gr_step *x = calloc(1, sizeof *x);
    x->session = s;
    x->setup = *d->setup;
    if (!gr_state_new(&quiet, d->cap, d->sh_degree, &x->state)) abort();
    gr_diags_free(&quiet);
    return x;
}

void gr_step_free(gr_step *s) {
    if (s) gr_state_free(&s->state);
    free(s);
}

static void copy(gr_state *to, const gr_state *from, unsigned what, unsigned groups) {
    to->n = from->n;
    for (int g = 0; g < GR_GROUPS; g++) {
        size_t bytes = from->n * sizeof(float) * gr_group_width((gr_group)g, from->sh_degree);
        if (!(groups & 1u << g)) continue;
        if (what & GR_STEP_VALUES) memcpy(to->value[g], from->value[g], bytes);
        if (what & GR_STEP_MOMENTS) memcpy(to->m[g], from->m[g], bytes), memcpy(to->v[g], from->v[g], bytes);
    }
    if (what & GR_STEP_STATISTICS) memcpy(to->grad_sum, from->grad_sum, from->n * sizeof(float)), memcpy(to->grad_count, from->grad_count, from->n * sizeof(float));
}

bool gr_step_write(gr_step *s, const gr_state *x, unsigned what) {
    fake.writes++;
    s->has_next = false;
    if (x->cap != s->state.cap) abort();
    copy(&s->state, x, what, 31);
    return true;
}
bool gr_step_read(gr_step *s, gr_state *x, unsigned what) {
    fake.reads++;
    copy(x, &s->state, what, 31);
    return true;
}
bool gr_step_write_groups(gr_step *s, const gr_state *x, unsigned groups) {
    s->has_next = false;
    copy(&s->state, x, GR_STEP_VALUES, groups);
    return true;
}
bool gr_step_read_groups(gr_step *s, gr_state *x, unsigned groups) {
    copy(x, &s->state, GR_STEP_VALUES, groups);
    return true;
}
uint32_t gr_step_live(const gr_step *s) { return s->state.n; }

/* The mean colour of the truth pulls at every splat's base colour; statistics grow with the row. */
static double update(gr_step *s, const gr_step_view *v, const gr_step_update *u) {
    double want = 0, total = 0;
    size_t n = (size_t)v->truth->width * v->truth->height, w = gr_group_width(GR_GROUP_SH, s->state.sh_degree);
    for (size_t i = 0; i < n; i++) want += v->truth->px[i * v->truth->channels] / 255.0 / (double)n;
    for (uint32_t i = 0; i < s->state.n; i++) {
        float *c = &s->state.value[GR_GROUP_SH][i * w];
        double off = (double)*c * GR_SH_C0 + 0.5 - want;
        total += fabs(off);
        *c -= (float)(u->dc * 10 * off);
        s->state.value[GR_GROUP_MEANS][3 * i] += (float)(u->means * off);
        s->state.m[GR_GROUP_SH][i * w] = (float)off;
        s->state.grad_sum[i] += (float)(1e-4 * (i % 5));
        s->state.grad_count[i] += 1;
    }
    return s->state.n ? total / s->state.n : 0;
}

bool gr_step_train(gr_step *s, const gr_step_view *v, const gr_step_update *u, gr_step_result *out) {
    *out = (gr_step_result){0};
    fake.steps++;
    if (fake.fail_at && u->t == fake.fail_at) {
        gr_complain(s->session, "the device was lost");
        return false;
    }
    if (s->has_next && !same_view(&s->next, v)) fake.wrong_next++;
    s->counters.prefetched += s->has_next;
    s->counters.steps++;
    double loss = fake.nan_at && u->t == fake.nan_at ? (double)NAN : update(s, v, u);
    if (s->has_late) out->has_deferred = true, out->deferred_loss = s->late;
    s->has_late = u->defer && u->next && s->setup.backend.ssim_reduce == GR_SSIM_REDUCE_HOST_LAGGED;
    if (s->has_late) s->late = loss;
    else out->has_loss = true, out->loss = loss;
    s->has_next = u->next != NULL;
    if (u->next) s->next = *u->next;
    else s->counters.sync_iters++;
    uint32_t flight = u->next ? 2 : 1;
    if (flight > s->counters.peak_in_flight) s->counters.peak_in_flight = flight;
    out->prefetched_forward = s->has_next;
    return true;
}

bool gr_step_flush(gr_step *s, gr_step_result *out) {
    *out = (gr_step_result){.has_deferred = s->has_late, .deferred_loss = s->late};
    s->has_late = false;
    return true;
}

bool gr_step_render(gr_step *s, const gr_step_view *v, float *rgb, float *left, uint32_t *dropped) {
    (void)left, (void)dropped;
    s->has_next = false;
    size_t w = gr_group_width(GR_GROUP_SH, s->state.sh_degree);
    for (size_t i = 0; i < 3 * (size_t)v->camera.width * v->camera.height; i++)
        rgb[i] = s->state.n ? s->state.value[GR_GROUP_SH][(i % s->state.n) * w] * (float)GR_SH_C0 + 0.5f : v->background[i % 3];
    return true;
}

bool gr_step_evaluate(gr_step *s, const gr_step_view *v, gr_step_result *out) { return (void)s, (void)v, (void)out, false; }
bool gr_step_wait(gr_step *s) { return (void)s, true; }
gr_step_counters gr_step_count(const gr_step *s) { return s->counters; }

unsigned gr_step_times(const gr_step *s, gr_step_time out[GR_STEP_STAGES_MAX]) {
    (void)s;
    out[0] = (gr_step_time){"project", 0.5, 10}, out[1] = (gr_step_time){"blend", 1.5, 10};
    return 2;
}
uint32_t gr_step_pairs(uint32_t cap, uint32_t width, uint32_t height) { return cap + width + height; }
uint64_t gr_step_planned_bytes(const gr_step *s) { return s->state.cap; }
uint64_t gr_step_created_bytes(const gr_step *s) { return s->state.cap; }
char *gr_step_explain(gr_step *s, gr_rung rung) { return (void)s, (void)rung, NULL; }
bool gr_step_graph(gr_buf *out, const gr_step_desc *d, uint32_t width, uint32_t height, bool update_) { return (void)out, (void)d, (void)width, (void)height, (void)update_, false; }
