/* step.c: buffers, plans by size of picture, and the order in which they run. */
#include "step_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Prepared plans of one size of picture. The second update is there when the map of SSIM is read a step late: it writes the odd one. */
enum { ODD_UPDATE = GR_STEP_PARTS, READY_N, SIDE_MOST = 4096 };
typedef struct sized {
    uint32_t width, height;
    gr_program *program[GR_STEP_PARTS];
    gr_prepared *ready[READY_N];
    gr_run run[READY_N]; /* submitted and not released; 0: none */
} sized;

/* A loss whose SSIM the host has not summed yet: of its own step in everything. */
typedef struct late {
    bool pending;
    double l1, lambda;
    uint32_t width, height;
    gr_step_buffer map;
} late;

struct gr_step {
    gr_session *session;
    gr_setup setup;
    gr_step_desc desc; /* desc.setup is &setup */
    gr_buffer *buffer[GR_STEP_BUFFERS];
    GR_VEC(sized *) sizes;
    gr_arena arena; /* of sizes */
    uint32_t live, generation;
    bool has_ahead; /* the forward of `ahead` has been submitted and nothing has changed since */
    gr_step_view ahead;
    late late;
    bool told_dropped;
    gr_step_counters count;
    gr_step_time time[GR_STEP_STAGES_MAX];
    char stage[GR_STEP_STAGES_MAX][32];
    unsigned time_n;
};

static bool complain(gr_step *s, const char *format, unsigned long long a, unsigned long long b) {
    char text[320];
    snprintf(text, sizeof text, format, a, b);
    gr_complain(s->session, text);
    return false;
}

/* ---- plans --------------------------------------------------------------------------------- */

static gr_buffer *buffer_of(gr_step *s, const char *name, int ready) {
    for (int b = 0; b < GR_STEP_BUFFERS; b++) {
        if (b == GR_STEP_MAP && ready == ODD_UPDATE) continue;
        if (strcmp(gr_step_buffer_name((gr_step_buffer)b), name) == 0) return s->buffer[b];
    }
    return NULL;
}

static gr_step_part part_of(int ready) { return ready == ODD_UPDATE ? GR_STEP_UPDATE : (gr_step_part)ready; }

static bool compile(gr_step *s, sized *z, gr_step_part part) {
    static const char *const names[GR_STEP_PARTS] = {"forward.graph", "update.graph", "loss.graph", "noise.graph"};
    if (z->program[part]) return true;
    gr_buf text = {0};
    if (gr_step_text(&text, &s->desc, z->width, z->height, part))
        z->program[part] = gr_compile_text(s->session, names[part], text.p, text.n, &(gr_compile_desc){.budget_gpu = s->setup.backend.budget_bytes, .allow_heavy_cpu = true});
    gr_buf_free(&text);
    return z->program[part] != NULL;
}

/* Inputs, and what is updated in place, are shared before anything is made; other outputs then replace what the plan made for them. */
static bool prepare(gr_step *s, sized *z, int ready) {
    if (z->ready[ready]) return true;
    if (!compile(s, z, part_of(ready))) return false;
    gr_program *p = z->program[part_of(ready)];
    gr_buffer *in[64] = {0};
    for (unsigned i = 0; i < gr_program_inputs(p) && i < 64; i++) in[i] = buffer_of(s, gr_program_input_name(p, i), ready);
    gr_prepared *r = z->ready[ready] = gr_prepare(p, &(gr_prepare_desc){.timestamps = s->desc.timestamps, .inputs = in});
    if (!r) return false;
    for (unsigned o = 0; o < gr_program_outputs(p); o++) {
        const char *name = gr_program_output_name(p, o);
        gr_buffer *b = buffer_of(s, name, ready);
        bool shared = false;
        for (unsigned i = 0; i < gr_program_inputs(p); i++) shared = shared || strcmp(gr_program_input_name(p, i), name) == 0;
        if (b && !shared && !gr_attach_output(r, o, b)) return false;
    }
    return true;
}

static void free_size(sized *z) {
    for (int i = READY_N; i-- > 0;) gr_prepared_free(z->ready[i]);
    for (int i = GR_STEP_PARTS; i-- > 0;) gr_program_free(z->program[i]);
    gr_heap_free(z);
}

/* No more pixels and tiles than planned, whichever side is the longer. */
static bool fits(gr_step *s, uint32_t width, uint32_t height) {
    const gr_step_desc *d = &s->desc;
    bool some = width && height && width <= SIDE_MOST && height <= SIDE_MOST;
    if (some && (uint64_t)width * height <= (uint64_t)d->width * d->height && gr_step_tiles(width, height) <= gr_step_tiles(d->width, d->height)) return true;
    return complain(s, "a picture of %llu x %llu pixels is larger than what memory was planned for", width, height);
}

static sized *size_of(gr_step *s, uint32_t width, uint32_t height) {
    for (uint32_t i = 0; i < s->sizes.n; i++)
        if (s->sizes.v[i]->width == width && s->sizes.v[i]->height == height) return s->sizes.v[i];
    if (!fits(s, width, height)) return NULL;
    sized *z = gr_heap_alloc(1, sizeof *z), **slot = z ? GR_PUSH(&s->arena, &s->sizes) : NULL;
    if (!slot) {
        gr_heap_free(z);
        complain(s, "no memory for the plans of %llu x %llu pixels", width, height);
        return NULL;
    }
    *z = (sized){.width = width, .height = height};
    return *slot = z;
}

/* ---- making it ------------------------------------------------------------------------------- */

static bool check(gr_step *s) {
    const gr_step_desc *d = &s->desc;
    if (!d->cap || !d->width || !d->height || d->width > SIDE_MOST || d->height > SIDE_MOST || d->sh_degree > 3) {
        gr_complain(s->session, "a step needs room for a splat, pictures of 1 to 4096 pixels a side, and harmonics up to degree 3");
        return false;
    }
    if (s->setup.backend.loss_host || s->setup.backend.binning_host || s->setup.backend.backward != GR_BACKWARD_PER_SPLAT) {
        gr_complain(s->session, "backend.loss_path, backend.binning and backend.backward have their defaults alone in this build: gpu, resident and per_splat");
        return false;
    }
    return true;
}

static bool make_buffers(gr_step *s) {
    bool odd = gr_step_has_map(&s->setup) && s->setup.backend.ssim_reduce == GR_SSIM_REDUCE_HOST_LAGGED;
    for (int b = 0; b < GR_STEP_BUFFERS; b++) {
        if ((b == GR_STEP_MAP && !gr_step_has_map(&s->setup)) || (b == GR_STEP_MAP_ODD && !odd)) continue;
        s->buffer[b] = gr_buffer_new(s->session, gr_step_buffer_name((gr_step_buffer)b), gr_step_buffer_bytes(&s->desc, (gr_step_buffer)b));
        if (!s->buffer[b]) return false;
    }
    return true;
}

static bool within_budget(gr_step *s) {
    uint64_t budget = s->setup.backend.budget_bytes, need = gr_step_created_bytes(s);
    return !budget || need <= budget || complain(s, "the training takes %llu bytes, the budget is %llu: lower refine.cap_max or data.downscale", need, budget);
}

gr_step *gr_step_new(gr_session *session, const gr_step_desc *d) {
    gr_step *s = gr_heap_alloc(1, sizeof *s);
    if (!s) return NULL;
    s->session = session;
    s->setup = *d->setup;
    s->desc = *d;
    s->desc.setup = &s->setup;
    if (!s->desc.pairs) s->desc.pairs = gr_step_pairs(d->cap, d->width, d->height);
    gr_state none = {.cap = d->cap, .sh_degree = d->sh_degree};
    sized *z = check(s) ? size_of(s, d->width, d->height) : NULL;
    if (z && compile(s, z, GR_STEP_FORWARD) && compile(s, z, GR_STEP_UPDATE) && make_buffers(s) && prepare(s, z, GR_STEP_FORWARD) && prepare(s, z, GR_STEP_UPDATE) &&
        within_budget(s) && gr_step_write(s, &none, GR_STEP_ALL))
        return s;
    gr_step_free(s);
    return NULL;
}

void gr_step_free(gr_step *s) {
    if (!s) return;
    for (uint32_t i = 0; i < s->sizes.n; i++) free_size(s->sizes.v[i]);
    for (int b = 0; b < GR_STEP_BUFFERS; b++) gr_buffer_free(s->buffer[b]);
    gr_arena_free(&s->arena);
    gr_heap_free(s);
}

gr_session *gr_step_session(gr_step *s) { return s->session; }
gr_buffer *gr_step_buffer_at(gr_step *s, gr_step_buffer b) { return s->buffer[b]; }
const gr_step_desc *gr_step_described(const gr_step *s) { return &s->desc; }
void gr_step_set_live(gr_step *s, uint32_t n) {
    s->live = n;
    s->has_ahead = false;
}
uint32_t gr_step_live(const gr_step *s) { return s->live; }

/* ---- runs ------------------------------------------------------------------------------------ */

static gr_step_time *stage_named(gr_step *s, const char *node) {
    size_t n = strcspn(node, "/");
    for (unsigned i = 0; i < s->time_n; i++)
        if (strlen(s->stage[i]) == n && memcmp(s->stage[i], node, n) == 0) return &s->time[i];
    if (s->time_n == GR_STEP_STAGES_MAX || n >= sizeof s->stage[0]) return NULL;
    memcpy(s->stage[s->time_n], node, n);
    return &s->time[s->time_n++];
}

static void add_times(gr_step *s, sized *z, int ready) {
    const char *node[256];
    double seconds[256];
    unsigned n = s->desc.timestamps ? gr_times(z->ready[ready], z->run[ready], node, seconds, 256) : 0;
    const char *before = "";
    for (unsigned i = 0; i < n && i < 256; i++) {
        gr_step_time *t = node[i] ? stage_named(s, node[i]) : NULL;
        if (!t) continue;
        t->seconds += seconds[i];
        if (strcmp(before, node[i])) t->runs++;
        before = node[i];
    }
}

/* Waits for a plan's last run, if there is one, and forgets it. */
static bool land(gr_step *s, sized *z, int ready) {
    if (!z->run[ready]) return true;
    bool ok = gr_wait(z->ready[ready], z->run[ready]);
    if (ok) add_times(s, z, ready);
    gr_release(z->ready[ready], z->run[ready]);
    z->run[ready] = 0;
    return ok;
}

static bool submit(gr_step *s, sized *z, int ready) {
    if (!prepare(s, z, ready) || !land(s, z, ready)) return false;
    z->run[ready] = gr_submit(z->ready[ready]);
    return z->run[ready] != 0;
}

bool gr_step_wait(gr_step *s) {
    bool ok = true;
    for (uint32_t i = 0; i < s->sizes.n; i++)
        for (int k = 0; k < READY_N; k++) ok = land(s, s->sizes.v[i], k) && ok;
    return ok;
}

static bool put(gr_step *s, gr_step_buffer b, const void *data, uint64_t bytes) { return gr_buffer_write(s->buffer[b], 0, data, bytes); }

static bool forward(gr_step *s, const gr_step_view *v) {
    sized *z = size_of(s, v->camera.width, v->camera.height);
    float camera[GR_STEP_CAMERA];
    if (!z) return false;
    for (int i = 0; i < 9; i++) camera[i] = (float)v->pose.r[i];
    for (int i = 0; i < 3; i++) camera[9 + i] = (float)v->pose.t[i];
    camera[12] = (float)v->camera.fx, camera[13] = (float)v->camera.fy, camera[14] = (float)v->camera.cx, camera[15] = (float)v->camera.cy;
    camera[16] = (float)(v->degree < s->desc.sh_degree ? v->degree : s->desc.sh_degree);
    s->has_ahead = false;
    s->count.forwards++;
    return put(s, GR_STEP_CAMERA_, camera, sizeof camera) && put(s, GR_STEP_BACKGROUND, v->background, sizeof v->background) && submit(s, z, GR_STEP_FORWARD);
}

static bool same_view(const gr_step_view *a, const gr_step_view *b) {
    const gr_camera *c = &a->camera, *e = &b->camera;
    bool same = c->width == e->width && c->height == e->height && c->fx == e->fx && c->fy == e->fy && c->cx == e->cx && c->cy == e->cy && a->degree == b->degree;
    for (int i = 0; i < 9; i++) same = same && a->pose.r[i] == b->pose.r[i];
    for (int i = 0; i < 3; i++) same = same && a->pose.t[i] == b->pose.t[i] && a->background[i] == b->background[i];
    return same;
}

static bool forward_unless_ahead(gr_step *s, const gr_step_view *v) {
    bool ahead = s->has_ahead && same_view(&s->ahead, v);
    s->has_ahead = false;
    s->count.prefetched += ahead;
    return ahead || forward(s, v);
}

/* ---- the truth ----------------------------------------------------------------------------------- */

/* Words of red, green, blue; the highest bit where the pixel does not count. */
static bool put_truth(gr_step *s, const gr_step_view *v) {
    const gr_image *m = v->truth;
    uint32_t width = v->camera.width, height = v->camera.height;
    if (!m || m->width != width || m->height != height || m->channels < 3 || (v->mask && (v->mask->width != width || v->mask->height != height || v->mask->channels != 1)))
        return complain(s, "the truth of a view of %llu x %llu pixels is a picture of that size in RGB or RGBA, and a mask of that size", width, height);
    uint64_t n = (uint64_t)width * height;
    uint32_t *word = gr_heap_alloc((size_t)n, 4);
    if (!word) return complain(s, "no memory for a picture of %llu x %llu pixels", width, height);
    uint8_t behind[3], c[3];
    for (int k = 0; k < 3; k++) behind[k] = (uint8_t)lrintf(255 * fminf(fmaxf(v->background[k], 0), 1));
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *px = m->px + i * m->channels;
        memcpy(c, px, 3);
        if (m->channels == 4) gr_image_over(px, behind, c);
        word[i] = (uint32_t)c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16 | (v->mask && v->mask->px[i] < 128 ? UINT32_C(1) << 31 : 0);
    }
    bool ok = put(s, GR_STEP_TRUTH, word, 4 * n);
    gr_heap_free(word);
    return ok;
}

/* ---- a step ---------------------------------------------------------------------------------------- */

static bool put_rates(gr_step *s, const gr_step_update *u) {
    const double geometry[GR_STEP_ROW] = {u->means, u->means, u->means, u->scale, u->scale, u->scale, u->rotation, u->rotation, u->rotation, u->rotation, u->opacity};
    float rate[GR_STEP_ROW], sh[3 * GR_SH_MAX], weight[2], strength[2] = {(float)u->noise, (float)u->noise_opacity};
    const uint32_t key[2] = {u->seed, u->t};
    int32_t t = u->t < INT32_MAX ? (int32_t)u->t : INT32_MAX;
    uint32_t width = 3 * gr_sh_count(s->desc.sh_degree), live = s->live ? s->live : 1;
    for (int i = 0; i < GR_STEP_ROW; i++) rate[i] = (float)geometry[i];
    for (uint32_t i = 0; i < width; i++) sh[i] = (float)(i < 3 ? u->dc : u->sh);
    weight[0] = (float)(u->regularise_opacity / live);
    weight[1] = (float)(u->regularise_scale / (3.0 * live));
    return put(s, GR_STEP_RATE, rate, sizeof rate) && put(s, GR_STEP_SH_RATE, sh, 4 * (uint64_t)width) && put(s, GR_STEP_T, &t, sizeof t) &&
           put(s, GR_STEP_WEIGHT, weight, sizeof weight) && put(s, GR_STEP_LIVE, &s->live, sizeof s->live) && put(s, GR_STEP_KEY, key, sizeof key) &&
           put(s, GR_STEP_STRENGTH, strength, sizeof strength);
}

static int output_named(const gr_program *p, const char *name) {
    for (unsigned o = 0; o < gr_program_outputs(p); o++)
        if (strcmp(gr_program_output_name(p, o), name) == 0) return (int)o;
    return -1;
}

/* Waits for a plan that gives "loss" and "seen", and reads both. */
static bool read_loss(gr_step *s, sized *z, int ready, gr_step_result *out) {
    gr_prepared *r = z->ready[ready];
    gr_program *p = z->program[part_of(ready)];
    if (!gr_wait(r, z->run[ready])) return false;
    gr_tensor loss = gr_result(r, z->run[ready], (unsigned)output_named(p, "loss")), seen = gr_result(r, z->run[ready], (unsigned)output_named(p, "seen"));
    if (!loss.data || !seen.data) return complain(s, "the loss of a step could not be read (%llu, %llu bytes)", loss.bytes, seen.bytes);
    const float *l = loss.data;
    const uint32_t *n = seen.data;
    out->loss = (double)l[0], out->l1 = (double)l[1], out->ssim = s->setup.train.ssim ? (double)l[2] : 0;
    out->pairs = n[1], out->dropped = n[1] - n[0];
    if (n[1] > s->count.pairs_most) s->count.pairs_most = n[1];
    s->count.dropped += out->dropped;
    if (out->dropped && !s->told_dropped) {
        s->told_dropped = true;
        complain(s, "a view met %llu pairs of tile and splat, memory was planned for %llu: its farthest splats miss tiles", n[1], n[0]);
    }
    return land(s, z, ready);
}

/* The mean of a map of SSIM, summed in f64. */
static bool sum_map(gr_step *s, gr_step_buffer b, uint32_t width, uint32_t height, double *mean) {
    size_t n = 3 * (size_t)width * height;
    float *map = gr_heap_alloc(n, sizeof *map);
    if (!map) return complain(s, "no memory for a map of %llu x %llu pixels", width, height);
    bool ok = gr_buffer_read(s->buffer[b], 0, map, n * sizeof *map);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)map[i];
    *mean = sum / (double)n;
    gr_heap_free(map);
    return ok;
}

bool gr_step_flush(gr_step *s, gr_step_result *out) {
    late *l = &s->late;
    double ssim;
    if (!l->pending) return true;
    l->pending = false;
    if (!sum_map(s, l->map, l->width, l->height, &ssim)) return false;
    out->has_deferred = true;
    out->deferred_loss = (1 - l->lambda) * l->l1 + l->lambda * (1 - ssim);
    return true;
}

static bool settle(gr_step *s, sized *z, gr_step_buffer map, bool defer, gr_step_result *out) {
    late l = {true, out->l1, s->setup.train.lambda_ssim, z->width, z->height, map};
    if (defer) {
        s->late = l;
        out->loss = out->l1 = out->ssim = 0;
        return true;
    }
    out->has_loss = true;
    if (!gr_step_has_map(&s->setup)) return true;
    if (!sum_map(s, map, l.width, l.height, &out->ssim)) return false;
    out->loss = (1 - l.lambda) * l.l1 + l.lambda * (1 - out->ssim);
    return true;
}

bool gr_step_train(gr_step *s, const gr_step_view *v, const gr_step_update *u, gr_step_result *out) {
    bool lagged = gr_step_has_map(&s->setup) && s->setup.backend.ssim_reduce == GR_SSIM_REDUCE_HOST_LAGGED;
    int ready = lagged && s->generation % 2 ? ODD_UPDATE : GR_STEP_UPDATE;
    gr_step_buffer map = ready == ODD_UPDATE ? GR_STEP_MAP_ODD : GR_STEP_MAP;
    *out = (gr_step_result){0};
    sized *z = size_of(s, v->camera.width, v->camera.height);
    if (!z || !forward_unless_ahead(s, v) || !put_truth(s, v) || !put_rates(s, u) || !submit(s, z, ready)) return false;
    if (u->noise > 0 && !submit(s, z, GR_STEP_NOISE)) return false;
    s->count.steps++;
    s->generation++;
    uint32_t flying = 1;
    if (u->next) {
        if (!forward(s, u->next)) return false;
        s->ahead = *u->next;
        s->has_ahead = out->prefetched_forward = true;
        flying = 2;
    } else {
        s->count.sync_iters++;
    }
    if (flying > s->count.peak_in_flight) s->count.peak_in_flight = flying;
    return gr_step_flush(s, out) && read_loss(s, z, ready, out) && settle(s, z, map, lagged && u->defer && u->next, out);
}

bool gr_step_evaluate(gr_step *s, const gr_step_view *v, gr_step_result *out) {
    *out = (gr_step_result){0};
    sized *z = size_of(s, v->camera.width, v->camera.height);
    if (!z || !forward(s, v) || !put_truth(s, v) || !submit(s, z, GR_STEP_LOSS) || !read_loss(s, z, GR_STEP_LOSS, out)) return false;
    return out->has_loss = true;
}

bool gr_step_render(gr_step *s, const gr_step_view *v, float *rgb, float *left, uint32_t *dropped) {
    size_t n = (size_t)v->camera.width * v->camera.height;
    uint32_t count[2];
    if (!forward(s, v) || !gr_step_wait(s) || !gr_buffer_read(s->buffer[GR_STEP_COUNT], 0, count, sizeof count)) return false;
    float *px = gr_heap_alloc(n, 4 * sizeof *px);
    if (!px) return complain(s, "no memory for a picture of %llu x %llu pixels", v->camera.width, v->camera.height);
    bool ok = gr_buffer_read(s->buffer[GR_STEP_IMAGE], 0, px, 4 * n * sizeof *px);
    for (size_t i = 0; ok && i < n; i++) {
        memcpy(rgb + 3 * i, px + 4 * i, 3 * sizeof *rgb);
        if (left) left[i] = px[4 * i + 3];
    }
    gr_heap_free(px);
    if (dropped) *dropped = count[1] - count[0];
    return ok;
}

/* ---- what there is to say ---------------------------------------------------------------------------- */

gr_step_counters gr_step_count(const gr_step *s) { return s->count; }

unsigned gr_step_times(const gr_step *s, gr_step_time out[GR_STEP_STAGES_MAX]) {
    for (unsigned i = 0; i < s->time_n; i++) {
        out[i] = s->time[i];
        out[i].stage = s->stage[i];
    }
    return s->time_n;
}

uint64_t gr_step_created_bytes(const gr_step *s) {
    uint64_t sum = 0;
    for (int b = 0; b < GR_STEP_BUFFERS; b++)
        if (s->buffer[b]) sum += gr_step_buffer_bytes(&s->desc, (gr_step_buffer)b);
    for (uint32_t i = 0; i < s->sizes.n; i++)
        for (int k = 0; k < READY_N; k++)
            if (s->sizes.v[i]->ready[k]) sum += gr_created_bytes(s->sizes.v[i]->ready[k]);
    return sum;
}

char *gr_step_explain(gr_step *s, gr_rung rung) {
    sized *z = s->sizes.v[0];
    char *forward_text = gr_explain(z->program[GR_STEP_FORWARD], rung, NULL, false), *update_text = gr_explain(z->program[GR_STEP_UPDATE], rung, NULL, false), *all = NULL;
    size_t n = forward_text && update_text ? strlen(forward_text) + strlen(update_text) + 1 : 0;
    if (n) all = gr_heap_alloc(n, 1);
    if (all) snprintf(all, n, "%s%s", forward_text, update_text);
    gr_text_free(forward_text);
    gr_text_free(update_text);
    return all;
}
