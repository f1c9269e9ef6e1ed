/* verify.c: the invariants of a plan (README.md), by walking its steps once and following what every byte
 * range of every buffer holds. */
#include "ladder/plan/plan_int.h"

typedef struct range { uint64_t lo, hi; } range;
typedef struct content { /* of one buffer */
    gr_value_id value;
    GR_VEC(range) known; /* sorted, apart */
} content;

typedef struct check {
    gr_diags *d;
    gr_arena scratch;
    const gr_plan *p;
    content *held;
    uint32_t step;
} check;

static bool broken(check *c, const char *invariant, const char *what) {
    const gr_plan_step *s = c->step < c->p->steps_n ? &c->p->steps[c->step] : NULL;
    gr_report(c->d, GR_D_PLAN_INVALID, (gr_place){.document = c->p->graph->document}, NULL, "%s: step %u: %s", invariant, c->step, what);
    if (s) gr_report_trail(c->d, "node %.*s -> step %u", GR_STR_ARG(s->node), c->step);
    return false;
}

/* ---- contents -------------------------------------------------------------------------- */

static bool write_range(check *c, gr_buffer_id b, uint64_t lo, uint64_t n, gr_value_id v) {
    content *h = &c->held[b];
    if (h->value != v) h->known.n = 0; /* another value moved in: what was there is gone */
    h->value = v;
    range add = {lo, lo + n};
    uint32_t keep = 0;
    for (uint32_t i = 0; i < h->known.n; i++) {
        range r = h->known.v[i];
        if (r.hi < add.lo || r.lo > add.hi) {
            h->known.v[keep++] = r;
            continue;
        }
        if (r.lo < add.lo) add.lo = r.lo;
        if (r.hi > add.hi) add.hi = r.hi;
    }
    h->known.n = keep;
    range *slot = GR_PUSH(&c->scratch, &h->known);
    if (!slot) return gr_report_oom(c->d);
    *slot = add;
    return true;
}

static bool read_range(check *c, gr_buffer_id b, uint64_t lo, uint64_t n, gr_value_id v) {
    const content *h = &c->held[b];
    if (h->value != v) return broken(c, "P4", "reads a buffer that holds another value");
    for (uint32_t i = 0; i < h->known.n; i++)
        if (h->known.v[i].lo <= lo && lo + n <= h->known.v[i].hi) return true;
    return broken(c, "P4", "reads what no step has written");
}

/* ---- steps ------------------------------------------------------------------------------- */

static bool in_buffer(check *c, gr_buffer_id b, uint64_t offset, uint64_t n) {
    if (b >= c->p->buffers_n) return broken(c, "P1", "names no buffer");
    const gr_plan_buffer *x = &c->p->buffers[b];
    if (offset > x->bytes || n > x->bytes - offset) return broken(c, "P2", "reaches past the end of a buffer");
    if (c->step < x->first || c->step > x->last) return broken(c, "P7", "uses a buffer outside its lifetime");
    return true;
}

static bool in_value(check *c, gr_value_id v, uint64_t offset, uint64_t n) {
    if (v >= c->p->tensors_n) return broken(c, "P1", "names no value");
    if (offset > c->p->tensors[v].bytes || n > c->p->tensors[v].bytes - offset) return broken(c, "P5", "reaches past the end of a value");
    return true;
}

static bool check_move(check *c, const gr_plan_step *s) {
    if (s->bytes == 0 || s->bytes % 4 || s->from_offset % 4 || s->to_offset % 4) return broken(c, "P5", "moves something else than whole words");
    if (s->staging != GR_NO_BUFFER) GR_TRY(in_buffer(c, s->staging, s->staging_offset, s->bytes));
    switch (s->kind) {
    case GR_STEP_UPLOAD:
        GR_TRY(in_value(c, s->value, s->from_offset, s->bytes) && in_buffer(c, s->to, s->to_offset, s->bytes));
        return write_range(c, s->to, s->to_offset, s->bytes, s->value);
    case GR_STEP_READBACK:
        GR_TRY(in_value(c, s->value, s->to_offset, s->bytes) && in_buffer(c, s->from, s->from_offset, s->bytes));
        return c->held[s->from].value == GR_NO_VALUE || read_range(c, s->from, s->from_offset, s->bytes, c->held[s->from].value);
    case GR_STEP_CLEAR:
        GR_TRY(in_buffer(c, s->to, s->to_offset, s->bytes));
        return write_range(c, s->to, s->to_offset, s->bytes, GR_NO_VALUE);
    default:
        GR_TRY(in_buffer(c, s->from, s->from_offset, s->bytes) && in_buffer(c, s->to, s->to_offset, s->bytes));
        if (s->from == s->to) return broken(c, "P5", "copies a buffer to itself");
        return read_range(c, s->from, s->from_offset, s->bytes, c->held[s->from].value) &&
               write_range(c, s->to, s->to_offset, s->bytes, c->held[s->from].value);
    }
}

static bool check_bind(check *c, const gr_plan_step *s, uint32_t i, const gr_kernel *k) {
    const gr_step_bind *b = &s->binds[i];
    const gr_kernel_bind *kb = &k->binds[i];
    GR_TRY(in_buffer(c, b->buffer, b->offset, b->bytes));
    if (b->group != kb->group || b->binding != kb->binding || b->writable != kb->writable || b->uniform != (kb->kind == GR_KB_UNIFORM))
        return broken(c, "P8", "binds otherwise than its kernel declares");
    if (b->offset % GR_BIND_ALIGN || b->bytes == 0 || b->bytes % 4) return broken(c, "P2", "a binding starts off a multiple of 256 or is no whole words");
    if (!b->uniform && b->bytes > c->p->target.max_storage_binding) return broken(c, "P2", "a binding is over the limit");
    for (uint32_t j = 0; j < i; j++)
        if (s->binds[j].buffer == b->buffer && (s->binds[j].writable || b->writable)) return broken(c, "P3", "a buffer is written and bound twice in one dispatch");
    if (b->uniform) return b->offset + b->bytes <= c->p->uniforms_bytes || broken(c, "P2", "a uniform block lies past the uniforms");
    if (b->value == GR_NO_VALUE || kb->kind == GR_KB_COUNT || kb->kind == GR_KB_SCRATCH) return true;
    if (b->value >= c->p->tensors_n) return broken(c, "P1", "names no value");
    if (kb->kind != GR_KB_VALUE_READ) return true; /* an inout result starts as a copy under its operand's name */
    return read_range(c, b->buffer, b->offset, b->bytes, b->value);
}

static bool check_dispatch(check *c, const gr_plan_step *s) {
    if (s->kernel >= c->p->kernels_n) return broken(c, "P8", "names no kernel");
    const gr_kernel *k = &c->p->kernels[s->kernel];
    if (s->binds_n != k->binds_n) return broken(c, "P8", "binds more or fewer resources than its kernel has");
    for (int i = 0; i < 3; i++)
        if (s->grid[i] == 0 || s->grid[i] > c->p->target.max_groups) return broken(c, "P6", "a grid is empty or over the limit");
    for (uint32_t i = 0; i < s->binds_n; i++) GR_TRY(check_bind(c, s, i, k));
    if (s->indirect != GR_NO_BUFFER) {
        GR_TRY(in_buffer(c, s->indirect, s->indirect_offset, 12));
        if (c->p->buffers[s->indirect].kind != GR_BUFFER_INDIRECT) return broken(c, "P9", "an indirect grid comes from a buffer of another kind");
    }
    for (uint32_t i = 0; i < s->binds_n; i++) /* after all reads: a dispatch reads what stood before it */
        if (s->binds[i].writable && k->binds[i].kind != GR_KB_COUNT && !write_range(c, s->binds[i].buffer, s->binds[i].offset, s->binds[i].bytes, s->binds[i].value)) return false;
    return true;
}

static bool check_totals(check *c) {
    const gr_plan *p = c->p;
    uint64_t total = 0, by[GR_MEM_COUNT] = {0};
    for (uint32_t i = 0; i < p->buffers_n; i++) {
        if (p->buffers[i].kind == GR_BUFFER_NONE || p->buffers[i].memory == GR_MEM_NONE || p->buffers[i].bytes == 0)
            return broken(c, "P1", "a buffer has no kind, class or size");
        if (p->buffers[i].bytes > p->target.max_buffer) return broken(c, "P2", "a buffer is over the limit");
        by[p->buffers[i].memory] += p->buffers[i].bytes;
        total += p->buffers[i].bytes;
    }
    if (total != p->peak_total || memcmp(by, p->peak, sizeof by) != 0) return broken(c, "P10", "the peak is not the sum of the buffers");
    for (uint32_t v = 0; v < p->tensors_n; v++) {
        const gr_plan_tensor *t = &p->tensors[v];
        if (t->pages == 0) continue;
        if (t->first_buffer >= p->buffers_n || t->pages > p->buffers_n - t->first_buffer) return broken(c, "P1", "a tensor lives in no buffer");
        if (t->page_bytes * t->pages < t->bytes) return broken(c, "P2", "the pages of a tensor are smaller than it");
        for (uint32_t i = 0; i < t->pages; i++) {
            uint64_t left = t->bytes - i * t->page_bytes, n = left < t->page_bytes ? left : t->page_bytes;
            if (p->buffers[t->first_buffer + i].bytes < t->offset + n) return broken(c, "P2", "a page is larger than its buffer");
        }
    }
    return true;
}

bool gr_plan_verify(gr_diags *d, const gr_plan *p) {
    check c = {.d = d, .p = p};
    bool ok = true;
    c.held = GR_NEW_N(&c.scratch, content, p->buffers_n);
    if (!c.held) ok = gr_report_oom(d);
    for (uint32_t i = 0; ok && i < p->buffers_n; i++) c.held[i].value = GR_NO_VALUE;
    for (uint32_t v = 0; ok && v < p->tensors_n; v++) /* P11 */
        if (gr_plan_is_resident(p, v)) ok = write_range(&c, p->tensors[v].first_buffer, 0, p->tensors[v].bytes, v);
    if (ok && p->verdict == GR_VERDICT_NONE) ok = broken(&c, "P10", "the plan has no verdict");
    ok = ok && check_totals(&c);
    for (c.step = 0; ok && c.step < p->steps_n; c.step++)
        ok = p->steps[c.step].kind == GR_STEP_DISPATCH ? check_dispatch(&c, &p->steps[c.step]) : check_move(&c, &p->steps[c.step]);
    gr_arena_free(&c.scratch);
    return ok;
}
