#include "ladder/run/oracle/pool.h"

#ifndef __wasi__
#include <pthread.h>
#include <unistd.h>
#endif

#ifdef __wasi__
uint32_t gr_pool_threads(uint32_t wanted) { return wanted ? 1 : 1; }

bool gr_pool_run(gr_pool_job *job, gr_diags *d, uint64_t first, uint64_t count) {
    return gr_eval_state_run(job->state[0], d, first, count);
}
#else

enum { THREADS_MAX = 64 };

uint32_t gr_pool_threads(uint32_t wanted) {
    long n = wanted ? (long)wanted : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (uint32_t)n;
}

typedef struct worker {
    gr_eval_state *state;
    gr_diags diags;
    uint64_t first, count;
    bool ok;
} worker;

static void *work(void *p) {
    worker *w = p;
    w->ok = gr_eval_state_run(w->state, &w->diags, w->first, w->count);
    return NULL;
}

static void move_diags(gr_diags *to, const gr_diags *from) {
    for (uint32_t i = 0; i < from->list.n; i++) {
        const gr_diag *g = &from->list.v[i];
        gr_report(to, g->name, g->place, NULL, "%.*s", GR_STR_ARG(g->message));
        if (g->hint.n) gr_report_hint(to, "%.*s", GR_STR_ARG(g->hint));
    }
    if (from->out_of_memory) gr_report_oom(to);
}

/* Ranges are static, not stolen: results do not depend on them, and equal shares of equal
 * workgroups finish together. */
bool gr_pool_run(gr_pool_job *job, gr_diags *d, uint64_t first, uint64_t count) {
    uint64_t batches = (count + job->batch - 1) / job->batch;
    uint32_t n = job->threads < batches ? job->threads : (uint32_t)batches;
    if (n <= 1) return gr_eval_state_run(job->state[0], d, first, count);
    worker w[THREADS_MAX];
    pthread_t thread[THREADS_MAX];
    bool started[THREADS_MAX] = {false};
    uint64_t share = (batches + n - 1) / n * job->batch, at = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t left = count - at, take = left < share ? left : share;
        w[i] = (worker){.state = job->state[i], .first = first + at, .count = take, .ok = true};
        gr_diags_init(&w[i].diags);
        at += take;
        if (i) started[i] = pthread_create(&thread[i], NULL, work, &w[i]) == 0;
    }
    work(&w[0]);
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        if (started[i]) pthread_join(thread[i], NULL);
        else if (i) work(&w[i]);
        ok = ok && w[i].ok;
        move_diags(d, &w[i].diags);
        gr_diags_free(&w[i].diags);
    }
    return ok;
}
#endif
