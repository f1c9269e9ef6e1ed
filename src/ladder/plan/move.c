/* move.c: where values live, and the copies, uploads and readbacks between homes and pieces. */
#include "ladder/plan/plan_int.h"

gr_plan_step *gr_step_push(gr_builder *b, gr_step_kind kind) {
    gr_plan_step *s = GR_PUSH(b->a, &b->steps);
    if (!s) {
        gr_report_oom(b->d);
        return NULL;
    }
    *s = (gr_plan_step){.kind = kind, .indirect = GR_NO_BUFFER, .from = GR_NO_BUFFER, .to = GR_NO_BUFFER, .staging = GR_NO_BUFFER,
                        .value = GR_NO_VALUE};
    if (b->node < b->g->nodes_n) s->node = b->g->nodes[b->node].node;
    return s;
}

/* ---- host transfers ------------------------------------------------------------- */

/* A range of the staging buffer, from the start again when it is used up. */
static bool stage(gr_builder *b, gr_plan_step *s, gr_buffer_id *buffer, uint64_t *at, const char *name, gr_buffer_kind kind, uint64_t bytes) {
    if (b->t->kind != GR_TARGET_WEBGPU) return true;
    if (*buffer == GR_NO_BUFFER) *buffer = gr_pool_new(b, gr_str_of(name), kind, GR_MEM_DATA, 0);
    if (*buffer == GR_NO_BUFFER) return false;
    if (*at + bytes > b->lim.staging) *at = 0;
    s->staging = *buffer;
    s->staging_offset = *at;
    *at += (bytes + 15) & ~UINT64_C(15);
    if (b->buffers.v[*buffer].bytes < *at) b->buffers.v[*buffer].bytes = *at;
    gr_pool_touch(b, *buffer);
    return true;
}

static uint64_t chunk_of(const gr_builder *b, uint64_t bytes) {
    return b->t->kind == GR_TARGET_WEBGPU && bytes > b->lim.staging ? b->lim.staging : bytes;
}

bool gr_step_upload(gr_builder *b, gr_value_id v, gr_buffer_id to, uint64_t to_offset, uint64_t host_offset, uint64_t bytes) {
    for (uint64_t at = 0, n; at < bytes; at += n) {
        n = chunk_of(b, bytes - at);
        gr_plan_step *s = gr_step_push(b, GR_STEP_UPLOAD);
        if (!s) return false;
        s->value = v;
        if (b->node >= b->g->nodes_n) s->node = b->g->values[v].name;
        s->to = to;
        s->to_offset = to_offset + at;
        s->from_offset = host_offset + at;
        s->bytes = n;
        gr_pool_touch(b, to);
        GR_TRY(stage(b, &b->steps.v[b->steps.n - 1], &b->up, &b->up_at, "staging up", GR_BUFFER_STAGING_UP, n));
    }
    return true;
}

bool gr_step_readback(gr_builder *b, gr_value_id v, gr_buffer_id from, uint64_t from_offset, uint64_t host_offset, uint64_t bytes) {
    for (uint64_t at = 0, n; at < bytes; at += n) {
        n = chunk_of(b, bytes - at);
        gr_plan_step *s = gr_step_push(b, GR_STEP_READBACK);
        if (!s) return false;
        s->value = v;
        if (b->node >= b->g->nodes_n) s->node = b->g->values[v].name;
        s->from = from;
        s->from_offset = from_offset + at;
        s->to_offset = host_offset + at;
        s->bytes = n;
        gr_pool_touch(b, from);
        GR_TRY(stage(b, &b->steps.v[b->steps.n - 1], &b->down, &b->down_at, "staging down", GR_BUFFER_STAGING_DOWN, n));
    }
    return true;
}

static bool copy(gr_builder *b, gr_buffer_id from, uint64_t from_offset, gr_buffer_id to, uint64_t to_offset, uint64_t bytes) {
    gr_plan_step *s = gr_step_push(b, GR_STEP_COPY);
    if (!s) return false;
    s->from = from;
    s->from_offset = from_offset;
    s->to = to;
    s->to_offset = to_offset;
    s->bytes = bytes;
    s->work = bytes / 64;
    gr_pool_touch(b, from);
    gr_pool_touch(b, to);
    return true;
}

/* ---- homes ---------------------------------------------------------------------- */

static uint64_t gcd(uint64_t x, uint64_t y) {
    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x;
}

/* Whole rows of the first dimension where such a page exists, and always aligned. */
static uint64_t page_size(const gr_builder *b, const gr_type *t, uint64_t bytes) {
    uint64_t rows = 1, limit = b->lim.page;
    for (uint32_t i = 0; i < t->rank && rows == 1; i++) rows = t->dim[i].n;
    uint64_t row = rows ? bytes / rows : bytes;
    if (row == 0 || bytes % rows) return limit / GR_PAGE_ALIGN * GR_PAGE_ALIGN;
    uint64_t unit = row / gcd(row, GR_PAGE_ALIGN) * GR_PAGE_ALIGN;
    if (unit > limit) unit = GR_PAGE_ALIGN;
    return limit / unit * unit;
}

static bool make_pages(gr_builder *b, gr_value_id v, gr_memory memory, gr_home *h) {
    const gr_graph_value *gv = &b->g->values[v];
    h->page_bytes = page_size(b, &gv->type, h->bytes);
    if (h->page_bytes == 0) return gr_report(b->d, GR_D_PLAN_NOT_SPLITTABLE, (gr_place){0}, NULL, "the binding limit is below one page");
    h->pages = (uint32_t)((h->bytes + h->page_bytes - 1) / h->page_bytes);
    h->kind = GR_HOME_PAGED;
    if (h->pooled) { /* pages are consecutive ids: they are reused together or not at all */
        h->first = gr_pool_take_pages(b, h->pages, h->page_bytes, h->bytes, gv->type.dtype == GR_DTYPE_F16);
        if (h->first != GR_NO_BUFFER) return true;
    }
    for (uint32_t i = 0; i < h->pages; i++) {
        uint64_t left = h->bytes - i * h->page_bytes;
        gr_buffer_id id = gr_pool_new(b, gv->name, GR_BUFFER_STORAGE, memory, left < h->page_bytes ? left : h->page_bytes);
        if (id == GR_NO_BUFFER) return false;
        if (i == 0) h->first = id;
    }
    return true;
}

bool gr_home_make(gr_builder *b, gr_value_id v, gr_memory memory, bool pooled) {
    gr_home *h = &b->home[v];
    const gr_graph_value *gv = &b->g->values[v];
    uint64_t count = 0;
    if (!gr_type_count(&gv->type, &count) || !gr_type_device_bytes(&gv->type, &h->bytes))
        return gr_report(b->d, GR_D_PLAN_NOT_SPLITTABLE, (gr_place){0}, NULL, "value %%%.*s has more bytes than can be counted", GR_STR_ARG(gv->name));
    h->owner = v;
    h->sharers = 1;
    h->pooled = pooled;
    h->first = GR_NO_BUFFER;
    if (gv->type.bounded) {
        h->count = gr_pool_new(b, gv->name, GR_BUFFER_STORAGE, memory, 16);
        if (h->count == GR_NO_BUFFER) return false;
    }
    if (count == 0) {
        h->kind = GR_HOME_EMPTY;
        return true;
    }
    bool may = b->t->kind == GR_TARGET_WEBGPU ? gv->source != GR_SOURCE_PARAMETER && gv->source != GR_SOURCE_STATE : gv->on_disk;
    if (h->bytes > b->lim.stream_over && may) {
        h->kind = GR_HOME_HOST;
        b->streamed = true;
        return true;
    }
    if (h->bytes > b->lim.binding) return make_pages(b, v, memory, h);
    h->kind = GR_HOME_SINGLE;
    h->pages = 1;
    h->page_bytes = h->bytes;
    h->first = pooled ? gr_pool_take(b, gv->name, h->bytes, gv->type.dtype == GR_DTYPE_F16)
                      : gr_pool_new(b, gv->name, GR_BUFFER_STORAGE, memory, h->bytes);
    return h->first != GR_NO_BUFFER;
}

/* ---- pieces ----------------------------------------------------------------------- */

/* The buffer and offset where [lo, lo + n) of a resident value lies in one page, aligned for a binding. */
static bool direct(const gr_home *h, uint64_t lo, uint64_t n, gr_loc *out) {
    if (h->kind != GR_HOME_SINGLE && h->kind != GR_HOME_PAGED) return false;
    uint64_t page = lo / h->page_bytes, at = lo % h->page_bytes;
    if (at % GR_BIND_ALIGN || at + n > h->page_bytes) return false;
    out->buffer = h->first + (gr_buffer_id)page;
    out->offset = at;
    return true;
}

/* Moves [lo, lo + n) of a value to or from a working buffer, page by page. */
static bool move_run(gr_builder *b, gr_value_id v, uint64_t lo, uint64_t n, gr_buffer_id buffer, uint64_t at, bool home) {
    const gr_home *h = &b->home[v];
    if (h->kind == GR_HOME_HOST) return home ? gr_step_readback(b, v, buffer, at, lo, n) : gr_step_upload(b, v, buffer, at, lo, n);
    while (n) {
        uint64_t page = lo / h->page_bytes, off = lo % h->page_bytes, part = h->page_bytes - off;
        gr_buffer_id id = h->first + (gr_buffer_id)page;
        if (part > n) part = n;
        GR_TRY(home ? copy(b, buffer, at, id, off, part) : copy(b, id, off, buffer, at, part));
        lo += part;
        at += part;
        n -= part;
    }
    return true;
}

static bool move_span(gr_builder *b, gr_value_id v, gr_span s, gr_buffer_id buffer, bool home) {
    for (uint64_t i = 0; i < s.outer; i++)
        GR_TRY(move_run(b, v, s.lo + i * s.stride, s.run, buffer, i * s.run, home));
    return true;
}

static bool locate(gr_builder *b, gr_value_id v, gr_span s, gr_loc *out) {
    const gr_home *h = &b->home[v];
    *out = (gr_loc){.buffer = GR_NO_BUFFER, .bytes = s.outer * s.run, .value = h->owner, .count = h->count};
    if (h->kind == GR_HOME_EMPTY || out->bytes == 0) return true;
    if (s.outer == 1 && direct(h, s.lo, s.run, out)) return true;
    out->temp = true;
    out->buffer = gr_pool_take(b, b->g->values[v].name, out->bytes, b->g->values[v].type.dtype == GR_DTYPE_F16);
    return out->buffer != GR_NO_BUFFER;
}

bool gr_span_fetch(gr_builder *b, gr_value_id v, gr_span s, gr_loc *out) {
    GR_TRY(locate(b, v, s, out));
    return !out->temp || move_span(b, v, s, out->buffer, false);
}

bool gr_span_place(gr_builder *b, gr_value_id v, gr_span s, gr_loc *out) {
    return locate(b, v, s, out);
}

bool gr_span_flush(gr_builder *b, gr_value_id v, gr_span s, const gr_loc *l) {
    return !l->temp || move_span(b, v, s, l->buffer, true);
}

bool gr_span_done(gr_builder *b, const gr_loc *l) {
    return !l->temp || gr_pool_give(b, l->buffer);
}
