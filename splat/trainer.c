#include "splat/trainer.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "splat/init.h"

enum { AHEAD = 6, LOWER_TRIES = 24 };

/* A view made ready for a step. */
typedef struct gr_loaded {
    uint32_t view;
    bool held; /* pinned in the cache */
    gr_step_view step;
} gr_loaded;

/* ---- the session ------------------------------------------------------------------------------- */

static gr_str text_of(const gr_value *v, const char *key) {
    const gr_value *x = gr_value_get(v, key);
    return x && x->kind == GR_V_STRING ? x->s : (gr_str){0};
}

bool gr_session_drain(gr_diags *d, gr_session *s) {
    gr_arena a = {0};
    gr_diags quiet;
    gr_doc doc = {0};
    bool fine = gr_session_exit_code(s) == 0;
    gr_diags_init(&quiet);
    gr_str text = gr_str_dup(&a, gr_str_of(gr_session_report(s, true)));
    bool ok = text.n && gr_json_parse(&a, &quiet, GR_STR("session"), text, &doc) && doc.root->kind == GR_V_ARRAY;
    for (uint32_t i = 0; ok && i < doc.root->array.n; i++) {
        const gr_value *v = doc.root->array.v[i], *place = gr_value_get(v, "where");
        gr_diag_name name = gr_diag_find(text_of(v, "name"));
        gr_str hint = text_of(v, "hint"), message = text_of(v, "message");
        if (name == GR_D_NONE) continue;
        gr_report(d, name, (gr_place){.document = place ? text_of(place, "document") : (gr_str){0}}, hint.n ? gr_arena_strndup(&a, hint.p, hint.n) : NULL, "%.*s", GR_STR_ARG(message));
    }
    gr_session_clear(s);
    gr_diags_free(&quiet);
    gr_arena_free(&a);
    return fine;
}

/* A call into the device layer that failed: the session knows why, or it is our own bug. */
static bool device_failed(gr_trainer *t, const char *what) {
    uint32_t before = t->d->errors;
    gr_session_drain(t->d, t->desc.session);
    if (t->d->errors == before) GR_BUG(t->d, "S11", "%s failed and said nothing", what);
    if (t->done > 0 && t->desc.out.n && gr_diags_has(t->d, GR_D_RUN_DEVICE_LOST))
        gr_report_hint(t->d, "the last checkpoint is kept: `gradus splat resume` goes on from it");
    return false;
}

/* ---- opening --------------------------------------------------------------------------------------- */

void gr_scene_hash(const gr_scene *s, char out[72]) {
    enum { HEAD = 1 << 16 };
    gr_sha256_state h;
    char *head = gr_heap_alloc(HEAD, 1);
    gr_sha256_init(&h);
    for (uint32_t i = 0; i < s->view.n; i++) {
        const gr_view *v = &s->view.v[i];
        FILE *f = v->path.p ? fopen(v->path.p, "rb") : NULL;
        gr_sha256_update(&h, v->name.p, v->name.n);
        gr_sha256_update(&h, &v->camera.fx, 4 * sizeof(double));
        gr_sha256_update(&h, v->camera.k, sizeof v->camera.k);
        gr_sha256_update(&h, &v->pose, sizeof v->pose);
        const uint32_t size[4] = {v->camera.width, v->camera.height, v->orientation, v->test};
        gr_sha256_update(&h, size, sizeof size);
        size_t n = f && head ? fread(head, 1, HEAD, f) : 0;
        gr_sha256_update(&h, head, n);
        if (f) {
            int64_t bytes = fseek(f, 0, SEEK_END) == 0 ? (int64_t)ftell(f) : -1;
            gr_sha256_update(&h, &bytes, sizeof bytes);
            fclose(f);
        }
    }
    if (s->points.n) gr_sha256_update(&h, s->points.position, 12 * (size_t)s->points.n), gr_sha256_update(&h, s->points.colour, 3 * (size_t)s->points.n);
    gr_heap_free(head);
    gr_sha256_text(out, gr_sha256_final(&h));
}

static bool list_views(gr_trainer *t) {
    const gr_scene *s = t->desc.scene;
    uint32_t a = 0, b = 0;
    t->train = gr_heap_alloc((size_t)s->view.n + 1, sizeof(uint32_t));
    t->test = gr_heap_alloc((size_t)s->view.n + 1, sizeof(uint32_t));
    t->score = gr_heap_alloc((size_t)s->view.n + 1, sizeof *t->score);
    if (!t->train || !t->test || !t->score) return gr_report_oom(t->d);
    for (uint32_t i = 0; i < s->view.n; i++) {
        const gr_camera *c = &s->view.v[i].camera;
        if (s->view.v[i].test) t->test[b++] = i;
        else t->train[a++] = i;
        if (c->width > t->width) t->width = c->width;
        if (c->height > t->height) t->height = c->height;
    }
    if (!a) return GR_BUG(t->d, "S6", "a scene without training views was loaded");
    return gr_order_new(t->d, t->setup.train.seed, a, &t->order);
}

/* What a training starts from, as configured; at most cap_max splats. */
static bool first_cloud(gr_trainer *t, gr_arena *a, gr_cloud *out) {
    const gr_setup *s = &t->setup;
    const gr_scene *scene = t->desc.scene;
    bool random = s->data.init == GR_INIT_RANDOM || (s->data.init == GR_INIT_AUTO && !scene->points.n);
    uint32_t n = s->data.random_splats < s->refine.cap_max ? s->data.random_splats : s->refine.cap_max;
    if (t->desc.cloud.n) {
        gr_cloud c;
        GR_TRY(gr_cloud_load(a, t->d, t->desc.cloud, &c, NULL));
        return gr_cloud_degree(a, t->d, &c, s->train.sh_degree, out);
    }
    if (random) return gr_cloud_random(a, t->d, n, s->data.random_extent, s->train.seed, s->train.sh_degree, out);
    if (!scene->points.n)
        return gr_report(t->d, GR_D_SPLAT_NO_POINTS, (gr_place){.document = scene->source}, "set data.points to a PLY, or data.init = \"random\"", "data.init = \"points\", and the data set has none");
    return gr_cloud_from_points(a, t->d, &scene->points, s->train.sh_degree, scene->extent, s->refine.cap_max, s->train.seed, out);
}

static bool fill_state(gr_trainer *t) {
    gr_arena a = {0};
    gr_cloud c;
    bool ok;
    if (t->desc.checkpoint.n) {
        gr_checkpoint_read r;
        ok = gr_checkpoint_load(&a, t->d, t->desc.checkpoint, t->setup.refine.cap_max, t->setup.train.sh_degree, &r, &t->state);
        if (ok) t->first = t->done = r.step;
    } else {
        ok = first_cloud(t, &a, &c);
        uint32_t cap = t->desc.cloud.n && ok ? c.n : t->setup.refine.cap_max; /* what is only looked at does not grow */
        if (ok) ok = gr_state_new(t->d, cap ? cap : 1, t->setup.train.sh_degree, &t->state);
        if (ok) gr_state_set(&t->state, &c);
    }
    t->start_splats = t->state.n;
    gr_arena_free(&a);
    return ok;
}

/* The plan for the capacity of the state; with backend.lower_cap for less, until it fits. */
static bool make_step(gr_trainer *t) {
    gr_step_desc desc = {.setup = &t->setup, .cap = t->state.cap, .sh_degree = t->setup.train.sh_degree, .width = t->width, .height = t->height, .timestamps = t->desc.timestamps};
    t->step = gr_step_new(t->desc.session, &desc);
    for (int k = 0; k < LOWER_TRIES && !t->step && t->setup.backend.lower_cap && desc.cap > t->state.n + 1; k++) {
        gr_session_clear(t->desc.session);
        desc.cap = desc.cap / 4 * 3 > t->state.n ? desc.cap / 4 * 3 : t->state.n;
        t->step = gr_step_new(t->desc.session, &desc);
    }
    if (!t->step) return device_failed(t, "planning the step");
    if (desc.cap != t->state.cap)
        gr_report(t->d, GR_D_SPLAT_CAP_LOWERED, (gr_place){0}, NULL, "refine.cap_max is lowered from %u to %u splats: more do not fit the memory", t->state.cap, desc.cap);
    t->state.cap = desc.cap; /* the arrays are larger, which hurts nobody */
    return gr_step_write(t->step, &t->state, GR_STEP_ALL) || device_failed(t, "writing the splats");
}

bool gr_trainer_new(gr_diags *d, const gr_trainer_desc *desc, gr_trainer *out) {
    *out = (gr_trainer){.desc = *desc, .d = d, .setup = gr_config_apply(desc->config)};
    gr_trainer *t = out;
    gr_scene_hash(desc->scene, t->data_hash);
    GR_TRY(list_views(t) && fill_state(t) && make_step(t));
    t->refine = gr_refine_of(&t->setup, desc->scene->extent, t->state.cap);
    t->history = (gr_history){.first = t->done};
    t->cache = gr_cache_new(d, desc->scene, t->setup.data.cache_bytes, t->setup.data.decode_threads);
    t->now = gr_heap_alloc(1, sizeof *t->now);
    return t->cache && (t->now || gr_report_oom(d));
}

static void release(gr_trainer *t, gr_loaded *l) {
    if (l && l->held) gr_cache_release(t->cache, l->view);
    if (l) l->held = false;
}

void gr_trainer_free(gr_trainer *t) {
    if (t->cache) release(t, t->now);
    gr_cache_free(t->cache);
    gr_step_free(t->step);
    gr_state_free(&t->state);
    gr_order_free(&t->order);
    gr_heap_free(t->train);
    gr_heap_free(t->test);
    gr_heap_free(t->score);
    gr_heap_free(t->evaluation);
    gr_heap_free(t->history.loss);
    gr_heap_free(t->history.splats);
    gr_heap_free(t->now);
    *t = (gr_trainer){0};
}

/* ---- views ------------------------------------------------------------------------------------------- */

void gr_trainer_background(const gr_trainer *t, float rgb[3]) {
    for (int k = 0; k < 3; k++) rgb[k] = t->setup.data.background == GR_BACKGROUND_BLACK ? 0 : 1;
}

/* Gets the picture of a step's view and asks for those after it. */
static bool load(gr_trainer *t, uint32_t step, gr_loaded *out) {
    uint32_t ahead[AHEAD], n = 0, place = gr_order_at(&t->order, step);
    double start = gr_clock_seconds();
    *out = (gr_loaded){.view = t->train[place]};
    const gr_view *v = &t->desc.scene->view.v[out->view];
    const gr_picture *p = gr_cache_get(t->cache, t->d, out->view);
    if (!p) return false;
    out->held = true;
    for (uint32_t at = (step - 1) % t->order.n + 1; at < t->order.n && n < AHEAD; at++) ahead[n++] = t->train[t->order.view[at]];
    gr_cache_announce(t->cache, ahead, n);
    gr_tick tick = gr_schedule_tick(&t->setup, t->desc.scene->extent, step);
    out->step = (gr_step_view){.camera = gr_camera_pinhole(&v->camera), .pose = v->pose, .degree = tick.sh_degree, .truth = &p->image, .mask = p->mask.px ? &p->mask : NULL};
    gr_schedule_background(&t->setup, step, out->step.background);
    t->loading += gr_clock_seconds() - start;
    return true;
}

/* ---- a step -------------------------------------------------------------------------------------------- */

static bool push(gr_trainer *t, double value) {
    gr_history *h = &t->history;
    if (h->n == h->cap) {
        uint32_t cap = h->cap ? 2 * h->cap : 1024;
        double *loss = gr_heap_realloc(h->loss, cap, sizeof *loss);
        if (loss) h->loss = loss;
        uint32_t *splats = loss ? gr_heap_realloc(h->splats, cap, sizeof *splats) : NULL;
        if (!splats) return gr_report_oom(t->d);
        h->splats = splats;
        h->cap = cap;
    }
    h->loss[h->n] = value;
    h->splats[h->n++] = t->state.n;
    if (isfinite(value)) return true;
    uint32_t step = h->first + h->n, view = t->train[gr_order_at(&t->order, step)];
    return gr_report(t->d, GR_D_RUN_LOSS_NOT_FINITE, (gr_place){.document = t->desc.scene->view.v[view].name}, "lower the learning rates; an earlier checkpoint is kept as it was",
                     "the loss of step %u is %g; %u splats", step, value, t->state.n);
}

/* What is late comes first; afterwards every step but a deferred one has its entry. */
static bool record(gr_trainer *t, const gr_tick *k, const gr_step_result *r) {
    if (r->has_deferred) GR_TRY(push(t, r->deferred_loss));
    if (r->has_loss) GR_TRY(push(t, r->loss));
    uint32_t late = k->step - t->history.first - t->history.n;
    if (late > 1 || (late == 1 && (!k->defers || r->has_loss))) return GR_BUG(t->d, "S12", "after step %u the history has %u entries", k->step, t->history.n);
    return true;
}

bool gr_trainer_read(gr_trainer *t) { return gr_step_read(t->step, &t->state, GR_STEP_ALL) || device_failed(t, "reading the splats"); }

static void tell(gr_trainer *t, gr_trainer_event e) {
    if (t->desc.on_event) t->desc.on_event(t->desc.user, t, e);
}

/* Refinement and reset, in this order, on the host. */
static bool edit(gr_trainer *t, const gr_tick *k) {
    double start = gr_clock_seconds();
    GR_TRY(gr_trainer_read(t));
    t->refine.prune_large = t->setup.refine.reset_every && k->step > t->setup.refine.reset_every && t->refine.prune_scale > 0;
    if (k->refine) GR_TRY(gr_refine_run(t->d, &t->state, &t->refine, k->step, &t->refined));
    if (k->reset) gr_refine_reset(&t->state, &t->refine);
    bool ok = gr_step_write(t->step, &t->state, GR_STEP_ALL) || device_failed(t, "writing the splats");
    t->refining += gr_clock_seconds() - start;
    if (ok && k->refine && !t->state.n)
        return gr_report(t->d, GR_D_SPLAT_NO_SPLATS, (gr_place){0}, "lower refine.prune_opacity or the learning rates", "the refinement of step %u left no splat", k->step);
    if (ok && k->refine) tell(t, GR_TRAINER_REFINED);
    return ok;
}

static bool one_step(gr_trainer *t, const gr_tick *k, bool prefetch) {
    gr_loaded next = {0};
    gr_step_result r = {0};
    if (!t->now->held) GR_TRY(load(t, k->step, t->now));
    if (prefetch) GR_TRY(load(t, k->step + 1, &next));
    gr_step_update u = {.t = k->step, .means = k->rate.means, .scale = k->rate.scale, .rotation = k->rate.rotation, .opacity = k->rate.opacity, .dc = k->rate.dc,
                        .sh = k->rate.sh, .next = prefetch ? &next.step : NULL, .defer = k->defers && prefetch};
    if (t->setup.train.mcmc) u.regularise_opacity = t->setup.refine.regularise_opacity, u.regularise_scale = t->setup.refine.regularise_scale;
    if (k->noise) u.noise = k->rate.means * t->setup.refine.noise, u.noise_opacity = t->setup.refine.prune_opacity, u.seed = (uint32_t)t->setup.train.seed;
    bool ok = gr_step_train(t->step, &t->now->step, &u, &r) || device_failed(t, "the step");
    release(t, t->now);
    *t->now = next;
    t->rate = k->rate;
    if (ok) ok = record(t, k, &r);
    if (ok) t->done = k->step;
    return ok && (!(k->refine || k->reset) || edit(t, k));
}

/* Brings in a loss that is still under way. */
static bool flush(gr_trainer *t) {
    gr_step_result r = {0};
    if (!gr_step_flush(t->step, &r)) return device_failed(t, "waiting for the last step");
    return !r.has_deferred || push(t, r.deferred_loss);
}

gr_str gr_trainer_checkpoint_path(gr_arena *a, gr_str out) { return gr_path_join(a, out, GR_STR("checkpoint.safetensors")); }

bool gr_trainer_save(gr_trainer *t) {
    gr_arena a = {0};
    gr_checkpoint c = {.step = t->done, .config = t->desc.config, .data_hash = t->data_hash, .extent = t->desc.scene->extent};
    if (!t->desc.out.n) return true;
    bool ok = gr_trainer_read(t) && gr_checkpoint_save(t->d, gr_trainer_checkpoint_path(&a, t->desc.out), &c, &t->state);
    gr_arena_free(&a);
    if (ok) tell(t, GR_TRAINER_SAVED);
    return ok;
}

/* What is due after a step; its time is not the training's. The last evaluation leaves its pictures. */
static bool after(gr_trainer *t, const gr_tick *k, bool stopping) {
    gr_arena a = {0};
    double start = gr_clock_seconds();
    bool ok = true;
    if (k->log) tell(t, GR_TRAINER_LOGGED);
    if (k->eval && !t->desc.no_evaluation) ok = gr_trainer_evaluate(t, k->last && t->desc.out.n ? gr_path_join(&a, t->desc.out, GR_STR("test")) : (gr_str){0});
    if (ok && (k->checkpoint || stopping) && !t->desc.no_evaluation) ok = gr_trainer_save(t);
    t->evaluating += gr_clock_seconds() - start;
    gr_arena_free(&a);
    return ok;
}

static bool asked_to_stop(const gr_trainer *t) { return t->desc.stop && *t->desc.stop; }

bool gr_trainer_run(gr_trainer *t, uint32_t steps) {
    uint32_t last = t->setup.train.max_steps;
    if (steps && steps < last - t->done) last = t->done + steps;
    double start = gr_clock_seconds(), before = t->seconds, other = t->evaluating;
    bool ok = true;
    while (ok && t->done < last && !t->stopped) {
        gr_tick k = gr_schedule_tick(&t->setup, t->desc.scene->extent, t->done + 1);
        ok = one_step(t, &k, k.prefetch && k.step < last);
        t->seconds = before + (gr_clock_seconds() - start) - (t->evaluating - other);
        t->stopped = asked_to_stop(t);
        if (ok && t->stopped) ok = flush(t);
        if (ok) ok = after(t, &k, t->stopped);
    }
    ok = ok && flush(t) && (gr_step_wait(t->step) || device_failed(t, "waiting for the device"));
    t->seconds = before + (gr_clock_seconds() - start) - (t->evaluating - other);
    return ok && gr_trainer_read(t);
}
