/* pool.c: real buffers, and the reuse of working ones. Deterministic: ties go to the lower id. */
#include "ladder/plan/plan_int.h"

static uint64_t rounded(uint64_t bytes) { return bytes < 16 ? 16 : (bytes + 15) & ~UINT64_C(15); }

static bool note_halves(gr_builder *b, gr_buffer_id id, bool halves) {
    if (id >= b->halves_cap) {
        uint32_t cap = b->halves_cap ? 2 * b->halves_cap : 64;
        bool *grown = gr_arena_grow(b->a, b->halves, b->halves_cap, cap, sizeof *grown);
        if (!grown) return gr_report_oom(b->d);
        b->halves = grown;
        b->halves_cap = cap;
    }
    b->halves[id] = halves;
    return true;
}

gr_buffer_id gr_pool_new(gr_builder *b, gr_str name, gr_buffer_kind kind, gr_memory memory, uint64_t bytes) {
    gr_plan_buffer *x = GR_PUSH(b->a, &b->buffers);
    gr_buffer_id id = b->buffers.n - 1;
    if (!x) {
        gr_report_oom(b->d);
        return GR_NO_BUFFER;
    }
    *x = (gr_plan_buffer){.name = name, .kind = kind, .memory = memory, .bytes = rounded(bytes), .first = UINT32_MAX};
    return note_halves(b, id, false) ? id : GR_NO_BUFFER;
}

static void unlist(gr_builder *b, uint32_t at) {
    b->free_list.v[at] = b->free_list.v[--b->free_list.n];
}

gr_buffer_id gr_pool_take(gr_builder *b, gr_str name, uint64_t bytes, bool halves) {
    uint64_t need = rounded(bytes), best_bytes = 0;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < b->free_list.n; i++) {
        gr_buffer_id id = b->free_list.v[i];
        uint64_t have = b->buffers.v[id].bytes;
        if (b->halves[id] != halves) continue;
        bool fits = have >= need, best_fits = best != UINT32_MAX && best_bytes >= need;
        bool better = best == UINT32_MAX || (fits && !best_fits) || (fits == best_fits && (fits ? have < best_bytes : have > best_bytes)) ||
                      (have == best_bytes && id < b->free_list.v[best]);
        if (!better) continue;
        best = i;
        best_bytes = have;
    }
    if (best == UINT32_MAX) {
        gr_buffer_id id = gr_pool_new(b, name, GR_BUFFER_STORAGE, GR_MEM_WORKING, bytes);
        return id != GR_NO_BUFFER && note_halves(b, id, halves) ? id : GR_NO_BUFFER;
    }
    gr_buffer_id id = b->free_list.v[best];
    unlist(b, best);
    if (b->buffers.v[id].bytes < need) b->buffers.v[id].bytes = need;
    return id;
}

bool gr_pool_give(gr_builder *b, gr_buffer_id id) {
    gr_buffer_id *slot = GR_PUSH(b->a, &b->free_list);
    if (!slot) return gr_report_oom(b->d);
    *slot = id;
    return true;
}

gr_buffer_id gr_pool_take_pages(gr_builder *b, uint32_t pages, uint64_t page_bytes, uint64_t bytes, bool halves) {
    for (uint32_t i = 0; i < b->free_pages.n; i++) {
        gr_free_pages f = b->free_pages.v[i];
        if (f.pages != pages || f.page_bytes != page_bytes || f.bytes < bytes || f.halves != halves) continue;
        b->free_pages.v[i] = b->free_pages.v[--b->free_pages.n];
        return f.first;
    }
    return GR_NO_BUFFER;
}

bool gr_pool_give_pages(gr_builder *b, const gr_home *h, bool halves) {
    gr_free_pages *f = GR_PUSH(b->a, &b->free_pages);
    if (!f) return gr_report_oom(b->d);
    *f = (gr_free_pages){h->first, h->pages, h->page_bytes, h->bytes, halves};
    return true;
}

void gr_pool_touch(gr_builder *b, gr_buffer_id id) {
    if (id == GR_NO_BUFFER) return;
    gr_plan_buffer *x = &b->buffers.v[id];
    uint32_t step = b->steps.n ? b->steps.n - 1 : 0;
    if (x->first == UINT32_MAX) x->first = step;
    x->last = step;
}
