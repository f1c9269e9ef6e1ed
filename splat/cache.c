#include "splat/cache.h"

#include <pthread.h>

enum { THREADS_MAX = 16, QUEUE_MAX = 64 };

typedef enum state { EMPTY = 0, QUEUED, DECODING, READY, FAILED } state;

typedef struct slot {
    state state;
    uint32_t pins;
    uint64_t used; /* clock of the last use */
    gr_picture picture;
    gr_diags why; /* of a failure, or warnings of decoding */
} slot;

struct gr_cache {
    const gr_scene *scene;
    slot *slot; /* one a view */
    uint64_t limit, clock;
    gr_cache_stats stats;
    uint32_t queue[QUEUE_MAX], queue_n;
    pthread_t thread[THREADS_MAX];
    uint32_t threads;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool stop;
};

static uint64_t size_of(const gr_picture *p) {
    return (uint64_t)p->image.width * p->image.height * p->image.channels + (p->mask.px ? (uint64_t)p->mask.width * p->mask.height : 0);
}

/* What a view's picture will take, before it is decoded. */
static uint64_t guess(const gr_cache *c, uint32_t view) {
    const gr_camera *k = &c->scene->view.v[view].camera;
    return (uint64_t)k->width * k->height * 4;
}

/* Under the lock: drops what is not pinned, longest unused first, until `more` bytes fit. */
static void make_room(gr_cache *c, uint64_t more) {
    while (c->stats.bytes + more > c->limit) {
        slot *oldest = NULL;
        for (uint32_t i = 0; i < c->scene->view.n; i++) {
            slot *s = &c->slot[i];
            if (s->state == READY && !s->pins && (!oldest || s->used < oldest->used)) oldest = s;
        }
        if (!oldest) return;
        c->stats.bytes -= size_of(&oldest->picture);
        gr_picture_free(&oldest->picture);
        gr_diags_free(&oldest->why);
        oldest->state = EMPTY;
    }
}

/* With the lock held; lets go of it while decoding. */
static void decode(gr_cache *c, uint32_t view) {
    slot *s = &c->slot[view];
    make_room(c, guess(c, view));
    c->stats.bytes += guess(c, view); /* held for it, so that others that decode at the same time keep to the bound */
    if (c->stats.bytes > c->stats.peak) c->stats.peak = c->stats.bytes;
    s->state = DECODING;
    pthread_mutex_unlock(&c->lock);
    gr_picture p;
    gr_diags why;
    gr_diags_init(&why);
    bool ok = gr_picture_load(&why, &c->scene->view.v[view], &p);
    pthread_mutex_lock(&c->lock);
    s->picture = p;
    s->why = why;
    s->state = ok ? READY : FAILED;
    s->used = ++c->clock;
    c->stats.decoded++;
    c->stats.bytes -= guess(c, view);
    if (ok) c->stats.bytes += size_of(&p);
    if (c->stats.bytes > c->stats.peak) c->stats.peak = c->stats.bytes;
    pthread_cond_broadcast(&c->done);
}

static void *worker(void *user) {
    gr_cache *c = user;
    pthread_mutex_lock(&c->lock);
    while (!c->stop) {
        if (!c->queue_n) {
            pthread_cond_wait(&c->work, &c->lock);
            continue;
        }
        uint32_t view = c->queue[0];
        memmove(c->queue, c->queue + 1, --c->queue_n * sizeof *c->queue);
        /* What does not fit now is left to gr_cache_get: looking ahead never takes the bound. */
        make_room(c, guess(c, view));
        if (c->slot[view].state == QUEUED && c->stats.bytes + guess(c, view) > c->limit) c->slot[view].state = EMPTY;
        if (c->slot[view].state == QUEUED) decode(c, view);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

gr_cache *gr_cache_new(gr_diags *d, const gr_scene *scene, uint64_t bytes, uint32_t threads) {
    gr_cache *c = gr_heap_alloc(1, sizeof *c);
    slot *slots = gr_heap_alloc(scene->view.n + 1, sizeof *slots);
    if (!c || !slots) {
        gr_heap_free(c);
        gr_heap_free(slots);
        gr_report_oom(d);
        return NULL;
    }
    *c = (gr_cache){.scene = scene, .slot = slots, .limit = bytes};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->done, NULL);
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    while (c->threads < threads && pthread_create(&c->thread[c->threads], NULL, worker, c) == 0) c->threads++;
    return c;
}

void gr_cache_free(gr_cache *c) {
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < c->threads; i++) pthread_join(c->thread[i], NULL);
    for (uint32_t i = 0; i < c->scene->view.n; i++) {
        gr_picture_free(&c->slot[i].picture);
        gr_diags_free(&c->slot[i].why);
    }
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->done);
    gr_heap_free(c->slot);
    gr_heap_free(c);
}

void gr_cache_announce(gr_cache *c, const uint32_t *views, uint32_t n) {
    uint64_t ahead = 0;
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < n && c->threads && c->queue_n < QUEUE_MAX; i++) {
        if (views[i] >= c->scene->view.n) continue;
        slot *s = &c->slot[views[i]];
        ahead += guess(c, views[i]);
        if (ahead > c->limit) break; /* decoding it now would drop what is wanted before it */
        if (s->state == READY) s->used = ++c->clock;
        if (s->state != EMPTY) continue;
        s->state = QUEUED;
        c->queue[c->queue_n++] = views[i];
    }
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
}

/* The same complaint, in the caller's sink. */
static void tell(gr_diags *d, const gr_diags *why) {
    for (uint32_t i = 0; i < why->list.n; i++) {
        const gr_diag *g = &why->list.v[i];
        char *hint = g->hint.n ? gr_arena_strndup(&d->arena, g->hint.p, g->hint.n) : NULL;
        gr_report(d, g->name, g->place, hint, "%.*s", GR_STR_ARG(g->message));
    }
}

const gr_picture *gr_cache_get(gr_cache *c, gr_diags *d, uint32_t view) {
    const gr_picture *p = NULL;
    if (view >= c->scene->view.n) {
        GR_BUG(d, "S5", "view %u of %u", view, c->scene->view.n);
        return NULL;
    }
    pthread_mutex_lock(&c->lock);
    slot *s = &c->slot[view];
    s->pins++;
    if (s->state != READY) c->stats.waited++;
    while (s->state != READY && s->state != FAILED) {
        if (s->state == DECODING) pthread_cond_wait(&c->done, &c->lock);
        else decode(c, view); /* nobody has begun: do it here */
    }
    s->used = ++c->clock;
    tell(d, &s->why);
    if (s->state == READY) p = &s->picture;
    else s->pins--;
    gr_diags_clear(&s->why);
    if (!p) s->state = EMPTY;
    pthread_mutex_unlock(&c->lock);
    return p;
}

void gr_cache_release(gr_cache *c, uint32_t view) {
    pthread_mutex_lock(&c->lock);
    if (c->slot[view].pins) c->slot[view].pins--;
    make_room(c, 0);
    pthread_mutex_unlock(&c->lock);
}

gr_cache_stats gr_cache_measure(gr_cache *c) {
    pthread_mutex_lock(&c->lock);
    gr_cache_stats s = c->stats;
    pthread_mutex_unlock(&c->lock);
    return s;
}
