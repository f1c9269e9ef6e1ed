/* The CPU executor: every dispatch of a plan through the WGSL evaluator, in plan order.
 *
 * Invariants:
 *   O1  a buffer is zero before the first write of every run, as WebGPU's are when created;
 *       in runs after the first, working content may linger: verify of the plan forbids reading it.
 *   O2  no step is skipped or reordered; a failed step ends the run.
 *   O3  results do not depend on the number of threads. */
#include "ladder/run/oracle/pool.h"
#include "ladder/run/run.h"

#include "base/clock.h"
#include "base/math.h"

#include <string.h>

enum { SLOTS = 2, PROGRESS_PARTS = 32 };

struct gr_persist {
    uint8_t *bytes;
    uint64_t n;
};

typedef struct memory { /* one plan buffer */
    uint8_t *bytes;
    double *wide, *extra, *gross; /* extra: bounds (bounded mode) or tangents (dual); gross: bounded mode */
    uint8_t *mark;                /* bounded mode */
    uint64_t n;
    uint32_t unit; /* bytes a wide element stands for in copies: 2 where an f16 tensor lives, else 4 */
    bool shared;   /* bytes belong to a gr_persist */
} memory;

typedef struct host_value { /* content of an input or parameter, or of an output of one run */
    uint8_t *bytes;
    bool in_place; /* bytes are the plan buffer's own: it holds this input alone, and no step but its uploads writes there */
    double *wide, *extra, *gross;
    uint8_t *mark;
    uint64_t n;
    gr_host_source source; /* read in parts; bytes is NULL then */
} host_value;

typedef struct dispatch {
    gr_pool_job job;           /* without a state until first use, and again when a buffer under it changed */
    gr_eval_binding *binding;  /* room, made once */
    gr_eval_state **state;
} dispatch;

struct gr_exec {
    gr_arena arena;
    const gr_plan *plan;
    gr_exec_options options;
    memory *memory;               /* by plan buffer */
    const gr_eval_program **program; /* by plan kernel */
    dispatch *dispatches;         /* by plan step; made at first use */
    host_value *input;            /* by graph value */
    bool *attached;               /* by graph value: a shared buffer holds it, nothing is uploaded or read back */
    host_value *output[SLOTS];    /* by graph value */
    gr_step_time *time[SLOTS];
    uint64_t trace[SLOTS];
    uint64_t work; /* of the last run, with run_limit */
    gr_ticket next;               /* number of runs so far */
    uint64_t created, peak;       /* bytes of plan buffers; what the host holds of inputs and results is none, as on a device */
    uint32_t wide_unit;           /* 2 when any tensor is f16, else 4: sizes the wide arrays */
};

static void *take(gr_diags *d, uint64_t n) {
    void *p = n <= SIZE_MAX ? gr_heap_alloc((size_t)n, 1) : NULL;
    if (!p) {
        gr_report_oom(d);
        return NULL;
    }
    return p;
}

static bool take_wide(gr_exec *e, gr_diags *d, uint64_t bytes, double **out, double **extra, double **gross, uint8_t **mark) {
    size_t n = (size_t)(bytes / e->wide_unit + 1);
    if (!e->options.wide) return true;
    *out = gr_heap_alloc(n, sizeof(double));
    bool bounded = e->options.bounded;
    if (*out && (bounded || e->options.dual)) {
        *extra = gr_heap_alloc(n, sizeof(double));
        if (bounded) {
            *gross = gr_heap_alloc(n, sizeof(double));
            *mark = gr_heap_alloc(n, 1);
        }
        if (!*extra || (bounded && (!*gross || !*mark))) return gr_report_oom(d);
    }
    return *out ? true : gr_report_oom(d);
}

static gr_eval_mode mode_of(const gr_exec_options *o) {
    return o->bounded ? GR_EVAL_BOUNDED : o->dual ? GR_EVAL_DUAL : o->wide ? GR_EVAL_WIDENED : o->sanitize ? GR_EVAL_SANITIZER : GR_EVAL_F32;
}

/* ---- prepare ------------------------------------------------------------------- */

static const gr_eval_program *compile_kernel(gr_exec *e, gr_diags *d, const gr_kernel *k) {
    gr_wgsl_options wo = {0};
    gr_wgsl_module *m = gr_wgsl_load(&e->arena, d, k->origin, k->wgsl, &wo);
    if (!m) return NULL;
    gr_wgsl_override_value *over = GR_NEW_N(&e->arena, gr_wgsl_override_value, k->overrides_n);
    if (!over) {
        gr_report_oom(d);
        return NULL;
    }
    for (uint32_t i = 0; i < k->overrides_n; i++)
        over[i] = (gr_wgsl_override_value){k->overrides[i].name, k->overrides[i].value};
    gr_eval_options eo = {.mode = mode_of(&e->options), .trace = e->options.trace, .flush_subnormals = e->options.flush_subnormals,
                          .any_order = e->options.any_order, .reverse = e->options.reverse,
                          .step_limit = e->options.step_limit, .run_limit = e->options.run_limit,
                          .accuracy = e->options.accuracy, .accuracy_n = e->options.accuracy_n,
                          .override = over, .override_n = k->overrides_n};
    return gr_eval_compile(&e->arena, d, m, k->entry, &eo);
}

/* Kernels with the same module, entry and overrides share one program. */
static bool same_program(const gr_kernel *x, const gr_kernel *y) {
    if (!gr_sha256_eq(x->hash, y->hash) || !gr_str_eq(x->entry, y->entry) || x->overrides_n != y->overrides_n) return false;
    for (uint32_t i = 0; i < x->overrides_n; i++)
        if (!gr_str_eq(x->overrides[i].name, y->overrides[i].name) || x->overrides[i].value != y->overrides[i].value) return false;
    return true;
}

static bool compile_all(gr_exec *e, gr_diags *d) {
    const gr_plan *p = e->plan;
    gr_map seen = {0};
    for (uint32_t i = 0; i < p->kernels_n; i++) {
        const gr_kernel *k = &p->kernels[i];
        gr_str key = {(const char *)k->hash.b, sizeof k->hash.b};
        uint32_t first;
        if (gr_map_get(&seen, key, &first) && same_program(&p->kernels[first], k)) {
            e->program[i] = e->program[first];
            continue;
        }
        e->program[i] = compile_kernel(e, d, k);
        if (!e->program[i]) {
            gr_report_trail(d, "node %.*s -> op %.*s -> %.*s", GR_STR_ARG(k->node), GR_STR_ARG(k->op), GR_STR_ARG(k->origin));
            return false;
        }
        if (!gr_map_put(&e->arena, &seen, key, i)) return gr_report_oom(d);
    }
    return true;
}

static void find_units(gr_exec *e) {
    const gr_plan *p = e->plan;
    e->wide_unit = 4;
    for (uint32_t i = 0; i < p->buffers_n; i++) e->memory[i].unit = 4;
    for (uint32_t v = 0; v < p->graph->values_n; v++) {
        if (p->graph->values[v].type.dtype != GR_DTYPE_F16) continue;
        e->wide_unit = 2;
        for (uint32_t b = 0; v < p->tensors_n && b < p->tensors[v].pages; b++) e->memory[p->tensors[v].first_buffer + b].unit = 2;
    }
}

static bool oracle_attach(gr_exec *e, gr_diags *d, gr_value_id v, gr_persist *b);

/* What is shared from the start has no buffer of its own. */
static bool attach_shared(gr_exec *e, gr_diags *d) {
    for (uint32_t v = 0; e->options.shared && v < e->plan->tensors_n; v++)
        if (e->options.shared[v]) GR_TRY(oracle_attach(e, d, v, e->options.shared[v]));
    e->options.shared = NULL;
    return true;
}

static bool make_buffers(gr_exec *e, gr_diags *d) {
    const gr_plan *p = e->plan;
    find_units(e);
    GR_TRY(attach_shared(e, d));
    for (uint32_t i = 0; i < p->buffers_n; i++) {
        memory *m = &e->memory[i];
        m->n = p->buffers[i].bytes;
        /* Staging stands for the host's copies, which are made in write and submit. */
        if (p->buffers[i].kind == GR_BUFFER_STAGING_UP || p->buffers[i].kind == GR_BUFFER_STAGING_DOWN) continue;
        if (!m->shared) {
            GR_TRY(m->bytes = take(d, m->n));
            e->created += m->n;
            if (e->created > e->peak) e->peak = e->created;
        }
        GR_TRY(take_wide(e, d, m->n, &m->wide, &m->extra, &m->gross, &m->mark));
        if (p->buffers[i].kind == GR_BUFFER_UNIFORM && p->uniforms_bytes)
            memcpy(m->bytes, p->uniforms, (size_t)(p->uniforms_bytes < m->n ? p->uniforms_bytes : m->n));
    }
    return true;
}

static void oracle_release(gr_exec *e);
static bool find_in_place(gr_exec *e, gr_diags *d);

static gr_exec *oracle_prepare(void *device, gr_diags *d, const gr_plan *p, const gr_exec_options *o) {
    (void)device;
    gr_exec *e = gr_heap_alloc(1, sizeof *e);
    if (!e) {
        gr_report_oom(d);
        return NULL;
    }
    e->plan = p;
    if (o) e->options = *o;
    if (e->options.bounded || e->options.dual) e->options.wide = true;
    if (e->options.trace) e->options.threads = 1;
    e->options.threads = gr_pool_threads(e->options.threads);
    uint32_t values = p->graph->values_n;
    e->memory = GR_NEW_N(&e->arena, memory, p->buffers_n);
    e->program = GR_NEW_N(&e->arena, const gr_eval_program *, p->kernels_n);
    e->dispatches = GR_NEW_N(&e->arena, dispatch, p->steps_n);
    e->input = GR_NEW_N(&e->arena, host_value, values);
    e->attached = GR_NEW_N(&e->arena, bool, values);
    bool ok = e->memory && e->program && e->dispatches && e->input && e->attached;
    for (int s = 0; s < SLOTS; s++) {
        e->output[s] = GR_NEW_N(&e->arena, host_value, values);
        e->time[s] = GR_NEW_N(&e->arena, gr_step_time, p->steps_n);
        ok = ok && e->output[s] && e->time[s];
    }
    if (!ok) gr_report_oom(d);
    if (ok && compile_all(e, d) && make_buffers(e, d) && find_in_place(e, d)) return e;
    oracle_release(e);
    return NULL;
}

static void free_job(gr_pool_job *job) {
    for (uint32_t t = 0; job->state && t < job->threads; t++) gr_eval_state_free(job->state[t]);
    job->state = NULL;
    job->threads = 0;
}

static void free_host(host_value *v, uint32_t n) {
    for (uint32_t i = 0; v && i < n; i++) {
        if (!v[i].in_place) gr_heap_free(v[i].bytes);
        gr_heap_free(v[i].wide);
        gr_heap_free(v[i].extra);
        gr_heap_free(v[i].gross);
        gr_heap_free(v[i].mark);
    }
}

static void oracle_release(gr_exec *e) {
    if (!e) return;
    const gr_plan *p = e->plan;
    for (uint32_t i = 0; e->dispatches && i < p->steps_n; i++) free_job(&e->dispatches[i].job);
    for (uint32_t i = 0; e->memory && i < p->buffers_n; i++) {
        if (!e->memory[i].shared) gr_heap_free(e->memory[i].bytes);
        gr_heap_free(e->memory[i].wide);
        gr_heap_free(e->memory[i].extra);
        gr_heap_free(e->memory[i].gross);
        gr_heap_free(e->memory[i].mark);
    }
    free_host(e->input, p->graph->values_n);
    for (int s = 0; s < SLOTS; s++) free_host(e->output[s], p->graph->values_n);
    gr_arena_free(&e->arena);
    gr_heap_free(e);
}

/* ---- host content --------------------------------------------------------------- */

/* Inputs whose content needs no second copy: their uploads are the only steps that write into their one buffer. */
static bool find_in_place(gr_exec *e, gr_diags *d) {
    const gr_plan *p = e->plan;
    gr_value_id *only = gr_heap_alloc((size_t)p->buffers_n + 1, sizeof *only); /* by buffer: value + 1, or UINT32_MAX: several writers */
    if (!only) return gr_report_oom(d);
    for (uint32_t i = 0; i < p->steps_n; i++) {
        const gr_plan_step *s = &p->steps[i];
        for (uint32_t k = 0; s->kind == GR_STEP_DISPATCH && k < s->binds_n; k++)
            if (s->binds[k].writable) only[s->binds[k].buffer] = UINT32_MAX;
        if (s->kind == GR_STEP_COPY || s->kind == GR_STEP_CLEAR) only[s->to] = UINT32_MAX;
        if (s->kind == GR_STEP_UPLOAD) only[s->to] = only[s->to] == 0 || only[s->to] == s->value + 1 ? s->value + 1 : UINT32_MAX;
    }
    for (uint32_t v = 0; v < p->tensors_n && v < p->graph->values_n && !e->options.wide; v++) {
        const gr_plan_tensor *t = &p->tensors[v];
        if (t->pages != 1 || t->offset || only[t->first_buffer] != v + 1 || e->memory[t->first_buffer].shared) continue;
        if (t->bytes > e->memory[t->first_buffer].n || p->graph->values[v].source == GR_SOURCE_NODE) continue;
        e->input[v].in_place = true;
    }
    gr_heap_free(only);
    return true;
}

static bool host_reserve(gr_exec *e, gr_diags *d, host_value *v, uint64_t n) {
    if (v->bytes && v->n == n) return true;
    if (!v->in_place) gr_heap_free(v->bytes);
    gr_heap_free(v->wide);
    gr_heap_free(v->extra);
    gr_heap_free(v->gross);
    gr_heap_free(v->mark);
    *v = (host_value){.n = n};
    GR_TRY(v->bytes = take(d, n));
    return take_wide(e, d, n, &v->wide, &v->extra, &v->gross, &v->mark);
}

/* Room for n bytes of an input's content. */
static bool input_reserve(gr_exec *e, gr_diags *d, gr_value_id v, uint64_t n) {
    host_value *h = &e->input[v];
    if (!h->in_place || n != e->plan->tensors[v].bytes) return host_reserve(e, d, h, n);
    h->bytes = e->memory[e->plan->tensors[v].first_buffer].bytes;
    h->n = n;
    return true;
}

static double wide_of(const uint8_t *bytes, uint32_t unit, uint64_t i) {
    if (unit == 2) {
        uint16_t h;
        memcpy(&h, bytes + i * 2, 2);
        return (double)gr_f32_from_f16(h);
    }
    float f;
    memcpy(&f, bytes + i * 4, 4);
    return (double)f;
}

static void widen(const gr_exec *e, gr_value_id v, host_value *h) {
    if (!h->wide) return;
    gr_dtype t = e->plan->graph->values[v].type.dtype;
    if (t != GR_DTYPE_F32 && t != GR_DTYPE_F16) return;
    uint32_t unit = t == GR_DTYPE_F16 ? 2 : 4;
    for (uint64_t i = 0; i < h->n / unit; i++) h->wide[i] = wide_of(h->bytes, unit, i);
}

static bool oracle_write(gr_exec *e, gr_diags *d, gr_value_id v, const void *bytes, uint64_t n) {
    host_value *h = &e->input[v];
    GR_TRY(input_reserve(e, d, v, n));
    if (n) memcpy(h->bytes, bytes, (size_t)n);
    widen(e, v, h);
    if (e->options.dual) memset(h->extra, 0, (size_t)(h->n / e->wide_unit + 1) * sizeof *h->extra);
    return true;
}

/* What has room for all of it, the plan's own buffer or a wider copy, is read at once. */
static bool oracle_source(gr_exec *e, gr_diags *d, gr_value_id v, gr_host_source s) {
    if (v >= e->plan->graph->values_n) return GR_BUG(d, "O4", "source of value %u", v);
    host_value *h = &e->input[v];
    if (!e->options.wide && !(h->in_place && s.bytes == e->plan->tensors[v].bytes)) {
        if (!h->in_place) gr_heap_free(h->bytes);
        *h = (host_value){.n = s.bytes, .source = s};
        return true;
    }
    GR_TRY(input_reserve(e, d, v, s.bytes) && s.read(s.user, d, 0, s.bytes, h->bytes));
    widen(e, v, h);
    if (e->options.dual) memset(h->extra, 0, (size_t)(h->n / e->wide_unit + 1) * sizeof *h->extra);
    return true;
}

static bool oracle_write_wide(gr_exec *e, gr_diags *d, gr_value_id v, const double *x, uint64_t count) {
    host_value *h = &e->input[v];
    if (!h->wide || count > h->n / 2 + 1) return GR_BUG(d, "O4", "write_wide of value %u before write, or too long", v);
    memcpy(h->wide, x, (size_t)count * sizeof *x);
    return true;
}

static bool oracle_write_tangent(gr_exec *e, gr_diags *d, gr_value_id v, const double *x, uint64_t count) {
    host_value *h = &e->input[v];
    if (!e->options.dual || !h->extra || count > h->n / 2 + 1) return GR_BUG(d, "O4", "write_tangent of value %u before write, or too long", v);
    memcpy(h->extra, x, (size_t)count * sizeof *x);
    return true;
}

/* ---- steps ------------------------------------------------------------------------ */

static uint32_t unit_of(const gr_exec *e, gr_value_id v) {
    return v < e->plan->graph->values_n && e->plan->graph->values[v].type.dtype == GR_DTYPE_F16 ? 2 : 4;
}

/* Moves bytes and the wide elements that stand for them. */
static void copy_bytes(uint32_t unit, uint8_t *to, double *to_wide, uint64_t to_at, const uint8_t *from, const double *from_wide,
                       uint64_t from_at, uint64_t n) {
    memmove(to + to_at, from + from_at, (size_t)n);
    if (to_wide && from_wide) memmove(to_wide + to_at / unit, from_wide + from_at / unit, (size_t)(n / unit) * sizeof(double));
}

/* Bounds with contributions and marks, or tangents, where both sides have them. */
typedef struct bounds { double *extra, *gross; uint8_t *mark; } bounds;
static void copy_bounds(uint32_t unit, bounds to, uint64_t to_at, bounds from, uint64_t from_at, uint64_t n) {
    if (!to.extra || !from.extra) return;
    memmove(to.extra + to_at / unit, from.extra + from_at / unit, (size_t)(n / unit) * sizeof(double));
    if (to.gross && from.gross) memmove(to.gross + to_at / unit, from.gross + from_at / unit, (size_t)(n / unit) * sizeof(double));
    if (to.mark && from.mark) memmove(to.mark + to_at / unit, from.mark + from_at / unit, (size_t)(n / unit));
}
static bounds bounds_of(const memory *m) { return (bounds){m->extra, m->gross, m->mark}; }
static bounds host_bounds(const host_value *h) { return (bounds){h->extra, h->gross, h->mark}; }

static void step_copy(gr_exec *e, const gr_plan_step *s) {
    memory *to = &e->memory[s->to], *from = &e->memory[s->from];
    copy_bytes(to->unit, to->bytes, to->wide, s->to_offset, from->bytes, from->wide, s->from_offset, s->bytes);
    copy_bounds(to->unit, bounds_of(to), s->to_offset, bounds_of(from), s->from_offset, s->bytes);
}

static void step_clear(gr_exec *e, const gr_plan_step *s) {
    memory *to = &e->memory[s->to];
    memset(to->bytes + s->to_offset, 0, (size_t)s->bytes);
    for (uint64_t i = s->to_offset / to->unit; to->wide && i < (s->to_offset + s->bytes) / to->unit; i++) {
        to->wide[i] = 0;
        if (to->extra) to->extra[i] = 0;
        if (to->gross) to->gross[i] = 0;
        if (to->mark) to->mark[i] = 0;
    }
}

/* A shared buffer holds rounded content only: the wide elements of what a step reads of it are made anew. */
static void widen_memory(gr_exec *e, const gr_plan_step *s) {
    memory *m = &e->memory[s->to];
    uint32_t unit = unit_of(e, s->value);
    if (!m->wide || !gr_dtype_is_float(e->plan->graph->values[s->value].type.dtype)) return;
    uint64_t first = s->to_offset / unit;
    for (uint64_t i = first; i < first + s->bytes / unit; i++) m->wide[i] = wide_of(m->bytes, unit, i);
}

/* The host side of an upload: an input, a constant (packed at first use), or what an earlier
 * readback of this run stored (streaming). */
static bool step_upload(gr_exec *e, gr_diags *d, const gr_plan_step *s, int slot) {
    const gr_graph_value *gv = &e->plan->graph->values[s->value];
    if (e->attached[s->value]) {
        widen_memory(e, s);
        return true;
    }
    host_value *h = gv->source == GR_SOURCE_NODE ? &e->output[slot][s->value] : &e->input[s->value];
    if (!h->bytes && gv->source == GR_SOURCE_CONSTANT) {
        uint64_t n = 0;
        gr_type_device_bytes(&gv->type, &n);
        GR_TRY(input_reserve(e, d, s->value, n));
        gr_pack(h->bytes, &gv->constant);
        widen(e, s->value, h);
    }
    if (!h->bytes && !h->source.read)
        return gr_report(d, GR_D_RUN_INPUT_MISSING, (gr_place){0}, "give every input a value before the run",
                         "input \"%.*s\" has no data", GR_STR_ARG(gv->name));
    if (s->from_offset > h->n || s->bytes > h->n - s->from_offset)
        return gr_report(d, GR_D_RUN_INPUT_SIZE, (gr_place){0}, NULL, "input \"%.*s\" has %llu bytes, the plan reads %llu from %llu",
                         GR_STR_ARG(gv->name), (unsigned long long)h->n, (unsigned long long)s->bytes, (unsigned long long)s->from_offset);
    if (h->source.read) return h->source.read(h->source.user, d, s->from_offset, s->bytes, e->memory[s->to].bytes + s->to_offset);
    if (h->in_place) return true;
    memory *to = &e->memory[s->to];
    copy_bytes(unit_of(e, s->value), to->bytes, to->wide, s->to_offset, h->bytes, h->wide, s->from_offset, s->bytes);
    copy_bounds(unit_of(e, s->value), bounds_of(to), s->to_offset, host_bounds(h), s->from_offset, s->bytes);
    return true;
}

static bool step_readback(gr_exec *e, gr_diags *d, const gr_plan_step *s, int slot) {
    if (e->attached[s->value]) return true;
    host_value *h = &e->output[slot][s->value];
    uint64_t n = e->plan->tensors[s->value].bytes;
    if (n < s->to_offset + s->bytes) n = s->to_offset + s->bytes;
    GR_TRY(host_reserve(e, d, h, n));
    memory *from = &e->memory[s->from];
    copy_bytes(unit_of(e, s->value), h->bytes, h->wide, s->to_offset, from->bytes, from->wide, s->from_offset, s->bytes);
    copy_bounds(unit_of(e, s->value), host_bounds(h), s->to_offset, bounds_of(from), s->from_offset, s->bytes);
    return true;
}

/* Whether an earlier step of the plan has put something there. */
static bool written_before(const gr_plan *p, uint32_t step, gr_buffer_id b) {
    for (uint32_t i = 0; i < step; i++) {
        const gr_plan_step *s = &p->steps[i];
        if ((s->kind == GR_STEP_UPLOAD || s->kind == GR_STEP_COPY || s->kind == GR_STEP_CLEAR) && s->to == b) return true;
        for (uint32_t k = 0; s->kind == GR_STEP_DISPATCH && k < s->binds_n; k++)
            if (s->binds[k].buffer == b && s->binds[k].writable) return true;
    }
    return false;
}

static bool make_job(gr_exec *e, gr_diags *d, uint32_t step, const uint32_t grid[3]) {
    const gr_plan_step *s = &e->plan->steps[step];
    const gr_eval_program *prog = e->program[s->kernel];
    dispatch *x = &e->dispatches[step];
    gr_pool_job *job = &x->job;
    uint32_t threads = gr_eval_program_threads(prog) ? e->options.threads : 1;
    if (!x->binding) x->binding = GR_NEW_N(&e->arena, gr_eval_binding, s->binds_n);
    if (!x->state) x->state = GR_NEW_N(&e->arena, gr_eval_state *, threads);
    if (!x->binding || !x->state) return gr_report_oom(d);
    for (uint32_t i = 0; i < s->binds_n; i++) {
        const gr_step_bind *sb = &s->binds[i];
        memory *m = &e->memory[sb->buffer];
        x->binding[i] = (gr_eval_binding){.group = sb->group, .binding = sb->binding, .bytes = m->bytes + sb->offset, .size = (size_t)sb->bytes,
                                          .wide = m->wide && !sb->uniform ? m->wide + sb->offset / unit_of(e, sb->value) : NULL,
                                          .extra = m->extra && !sb->uniform ? m->extra + sb->offset / unit_of(e, sb->value) : NULL,
                                          .gross = m->gross && !sb->uniform ? m->gross + sb->offset / unit_of(e, sb->value) : NULL,
                                          .mark = m->mark && !sb->uniform ? m->mark + sb->offset / unit_of(e, sb->value) : NULL,
                                          .uninitialised = e->options.sanitize && sb->writable && !written_before(e->plan, step, sb->buffer),
                                          .name = e->plan->buffers[sb->buffer].name};
    }
    job->batch = gr_eval_program_batch(prog);
    job->state = x->state;
    for (job->threads = 0; job->threads < threads; job->threads++) {
        gr_eval_state *st = gr_eval_state_new(prog, d, x->binding, s->binds_n, grid);
        if (!st) {
            free_job(job);
            return false;
        }
        job->state[job->threads] = st;
    }
    return true;
}

static bool step_progress(gr_exec *e, gr_diags *d, const gr_plan_step *s, uint64_t done) {
    char node[128];
    if (!e->options.progress) return true;
    size_t n = s->node.n < sizeof node - 1 ? s->node.n : sizeof node - 1;
    memcpy(node, s->node.p, n);
    node[n] = 0;
    if (e->options.progress(e->options.progress_user, node, done, e->plan->work)) return true;
    return gr_report(d, GR_D_RUN_STOPPED, (gr_place){0}, NULL, "stopped at node \"%s\"", node);
}

/* Long dispatches run in parts so that progress is seen and a stop is heard. */
static bool step_dispatch(gr_exec *e, gr_diags *d, uint32_t step, uint64_t done) {
    const gr_plan_step *s = &e->plan->steps[step];
    uint32_t grid[3] = {s->grid[0], s->grid[1], s->grid[2]};
    bool indirect = s->indirect != UINT32_MAX;
    gr_pool_job *job = &e->dispatches[step].job;
    if (indirect) {
        memcpy(grid, e->memory[s->indirect].bytes + s->indirect_offset, sizeof grid);
        free_job(job);
    }
    uint64_t groups = (uint64_t)grid[0] * grid[1] * grid[2];
    if (groups == 0) return true;
    if (!job->state) GR_TRY(make_job(e, d, step, grid));
    if (e->options.trace || e->options.run_limit) gr_eval_state_restart(job->state[0]);
    uint64_t part = e->options.progress && s->work > (1u << 24) ? (groups + PROGRESS_PARTS - 1) / PROGRESS_PARTS : groups;
    part = (part + job->batch - 1) / job->batch * job->batch;
    for (uint64_t at = 0; at < groups; at += part) {
        uint64_t n = groups - at < part ? groups - at : part;
        GR_TRY(gr_pool_run(job, d, at, n));
        GR_TRY(step_progress(e, d, s, done + (uint64_t)((double)s->work * (double)(at + n) / (double)groups)));
    }
    if (e->options.run_limit) {
        gr_eval_stats did = gr_eval_state_stats(job->state[0]);
        e->work += did.turns + did.invocations;
        if (e->work > e->options.run_limit)
            return gr_report(d, GR_D_WGSL_STEP_LIMIT, (gr_place){0}, NULL, "the run takes more than %llu steps", (unsigned long long)e->options.run_limit);
    }
    if (e->options.trace) {
        uint64_t *all = &e->trace[e->next % SLOTS];
        *all = ((*all ^ gr_eval_state_stats(job->state[0]).trace) + 0x632BE59BD9B4E019u) * 0x9E3779B97F4A7C15u;
        *all ^= *all >> 29;
    }
    return true;
}

static bool run_step(gr_exec *e, gr_diags *d, uint32_t i, int slot, uint64_t done) {
    const gr_plan_step *s = &e->plan->steps[i];
    switch (s->kind) {
    case GR_STEP_DISPATCH: return step_dispatch(e, d, i, done);
    case GR_STEP_COPY: step_copy(e, s); return true;
    case GR_STEP_CLEAR: step_clear(e, s); return true;
    case GR_STEP_UPLOAD: return step_upload(e, d, s, slot);
    case GR_STEP_READBACK: return step_readback(e, d, s, slot);
    default: return GR_BUG(d, "O2", "step %u has no kind", i);
    }
}

static gr_ticket oracle_submit(gr_exec *e, gr_diags *d) {
    int slot = (int)(e->next % SLOTS);
    uint64_t done = 0;
    e->trace[slot] = 0;
    e->work = 0;
    for (uint32_t i = 0; i < e->plan->steps_n; i++) {
        const gr_plan_step *s = &e->plan->steps[i];
        double before = gr_clock_seconds();
        if (!run_step(e, d, i, slot, done)) {
            gr_report_trail(d, "node %.*s -> step %u", GR_STR_ARG(s->node), i);
            return 0;
        }
        e->time[slot][i] = (gr_step_time){i, gr_clock_seconds() - before};
        done += s->work;
    }
    return ++e->next;
}

/* ---- results ---------------------------------------------------------------------- */

static int slot_of(const gr_exec *e, gr_ticket t) {
    return t == 0 || t > e->next || e->next - t >= SLOTS ? -1 : (int)((t - 1) % SLOTS);
}

static bool oracle_poll(gr_exec *e, gr_ticket t) { return slot_of(e, t) >= 0; }

static bool oracle_wait(gr_exec *e, gr_diags *d, gr_ticket t) {
    if (slot_of(e, t) >= 0) return true;
    return gr_report(d, GR_D_RUN_TICKET_UNKNOWN, (gr_place){0}, "keep at most the last two tickets", "no run has ticket %llu",
                     (unsigned long long)t);
}

static const void *oracle_output(gr_exec *e, gr_ticket t, gr_value_id v, uint64_t *n, uint64_t *count) {
    int slot = slot_of(e, t);
    if (slot < 0 || v >= e->plan->graph->values_n) return NULL;
    *n = e->output[slot][v].n;
    if (count) {
        const gr_type *type = &e->plan->graph->values[v].type;
        gr_type_count(type, count);
        gr_buffer_id cb = e->plan->tensors[v].count_buffer;
        if (type->bounded && cb != UINT32_MAX) {
            uint32_t live;
            memcpy(&live, e->memory[cb].bytes, 4);
            *count = live;
        }
    }
    return e->output[slot][v].bytes;
}

static const double *oracle_output_wide(gr_exec *e, gr_ticket t, gr_value_id v, uint64_t *n) {
    int slot = slot_of(e, t);
    if (slot < 0 || v >= e->plan->graph->values_n || !e->output[slot][v].wide) return NULL;
    *n = e->output[slot][v].n / (e->plan->graph->values[v].type.dtype == GR_DTYPE_F16 ? 2 : 4);
    return e->output[slot][v].wide;
}

static bool oracle_output_bound(gr_exec *e, gr_ticket t, gr_value_id v, const double **bound, const double **gross, const uint8_t **mark) {
    int slot = slot_of(e, t);
    if (slot < 0 || v >= e->plan->graph->values_n || !e->output[slot][v].mark) return false;
    *bound = e->output[slot][v].extra;
    *gross = e->output[slot][v].gross;
    *mark = e->output[slot][v].mark;
    return true;
}

static const double *oracle_output_tangent(gr_exec *e, gr_ticket t, gr_value_id v, uint64_t *n) {
    int slot = slot_of(e, t);
    if (!e->options.dual || !oracle_output_wide(e, t, v, n)) return NULL;
    return e->output[slot][v].extra;
}

static uint64_t oracle_work(const gr_exec *e) { return e->work; }

static uint64_t oracle_trace(gr_exec *e, gr_ticket t) {
    int slot = slot_of(e, t);
    return slot < 0 ? 0 : e->trace[slot];
}

static uint32_t oracle_times(gr_exec *e, gr_ticket t, gr_step_time *out, uint32_t max) {
    int slot = slot_of(e, t);
    if (slot < 0) return 0;
    for (uint32_t i = 0; i < e->plan->steps_n && i < max; i++) out[i] = e->time[slot][i];
    return e->plan->steps_n;
}

static void oracle_ticket_release(gr_exec *e, gr_ticket t) { (void)e, (void)t; }
static uint64_t oracle_created(const gr_exec *e) { return e->peak; }

/* ---- shared buffers --------------------------------------------------------------- */

static gr_persist *oracle_persist_new(void *device, gr_diags *d, gr_str name, uint64_t bytes) {
    (void)device, (void)name;
    gr_persist *b = gr_heap_alloc(1, sizeof *b);
    if (b) b->bytes = bytes <= SIZE_MAX ? gr_heap_alloc((size_t)bytes, 1) : NULL;
    if (b && b->bytes) {
        b->n = bytes;
        return b;
    }
    gr_heap_free(b);
    gr_report_oom(d);
    return NULL;
}

static void oracle_persist_free(gr_persist *b) {
    if (b) gr_heap_free(b->bytes);
    gr_heap_free(b);
}

static bool persist_range(const gr_persist *b, gr_diags *d, uint64_t offset, uint64_t n) {
    if (offset <= b->n && n <= b->n - offset) return true;
    return gr_report(d, GR_D_RUN_BUFFER_RANGE, (gr_place){0}, NULL, "bytes %llu + %llu of a buffer of %llu",
                     (unsigned long long)offset, (unsigned long long)n, (unsigned long long)b->n);
}

static bool oracle_persist_write(gr_persist *b, gr_diags *d, uint64_t offset, const void *bytes, uint64_t n) {
    GR_TRY(persist_range(b, d, offset, n));
    memcpy(b->bytes + offset, bytes, (size_t)n);
    return true;
}

static bool oracle_persist_read(gr_persist *b, gr_diags *d, uint64_t offset, void *bytes, uint64_t n) {
    GR_TRY(persist_range(b, d, offset, n));
    memcpy(bytes, b->bytes + offset, (size_t)n);
    return true;
}

/* The whole plan buffer is replaced: what the plan writes there lands in the shared one. */
static bool oracle_attach(gr_exec *e, gr_diags *d, gr_value_id v, gr_persist *b) {
    const gr_plan *p = e->plan;
    const gr_plan_tensor *t = &p->tensors[v];
    if (t->pages != 1 || b->n < t->offset + t->bytes || b->n < p->buffers[t->first_buffer].bytes)
        return gr_report(d, GR_D_RUN_BUFFER_RANGE, (gr_place){0}, "attach a buffer of at least the tensor's size",
                         "value \"%.*s\" needs %llu bytes in one buffer, the buffer has %llu", GR_STR_ARG(p->graph->values[v].name),
                         (unsigned long long)p->buffers[t->first_buffer].bytes, (unsigned long long)b->n);
    memory *m = &e->memory[t->first_buffer];
    if (e->input[v].in_place) e->input[v] = (host_value){0};
    if (!m->shared && m->bytes) {
        gr_heap_free(m->bytes);
        e->created -= m->n;
    }
    m->bytes = b->bytes;
    m->shared = e->attached[v] = true;
    for (uint32_t i = 0; i < p->steps_n; i++) /* states hold addresses */
        for (uint32_t k = 0; p->steps[i].kind == GR_STEP_DISPATCH && k < p->steps[i].binds_n; k++)
            if (p->steps[i].binds[k].buffer == t->first_buffer) free_job(&e->dispatches[i].job);
    return true;
}

const gr_exec_api *gr_oracle_api(void) {
    static const gr_exec_api api = {
        .name = "oracle", .prepare = oracle_prepare, .release = oracle_release, .write = oracle_write, .source = oracle_source, .write_wide = oracle_write_wide,
        .attach = oracle_attach, .persist_new = oracle_persist_new, .persist_free = oracle_persist_free,
        .persist_write = oracle_persist_write, .persist_read = oracle_persist_read, .submit = oracle_submit, .poll = oracle_poll,
        .wait = oracle_wait, .output = oracle_output, .output_wide = oracle_output_wide, .output_bound = oracle_output_bound,
        .write_tangent = oracle_write_tangent, .output_tangent = oracle_output_tangent, .trace = oracle_trace, .work = oracle_work, .times = oracle_times,
        .ticket_release = oracle_ticket_release, .created_bytes = oracle_created,
    };
    return &api;
}
