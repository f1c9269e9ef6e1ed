/* tensor.c: public tensors to and from files. */
#include "api/session.h"

#include "base/file.h"

static gr_array array_of(const gr_tensor *t) {
    gr_array x = {.dtype = gr_dtype_find(gr_str_of(t->dtype)), .rank = t->rank, .data = (void *)(uintptr_t)t->data, .bytes = t->bytes};
    for (unsigned i = 0; i < t->rank && i < GR_RANK_MAX; i++) x.dims[i] = t->dims[i];
    return x;
}

bool gr_tensor_load(gr_session *s, const char *path, gr_tensor *out) {
    gr_arena a = {0};
    gr_array x;
    *out = (gr_tensor){0};
    bool ok = gr_array_load(&a, &s->diags, gr_str_of(path), 0, &x);
    void *copy = ok ? gr_heap_alloc(x.bytes, 1) : NULL;
    if (ok && !copy) ok = gr_report_oom(&s->diags);
    if (ok) {
        memcpy(copy, x.data, x.bytes);
        *out = (gr_tensor){.dtype = gr_dtype_name(x.dtype), .rank = x.rank, .data = copy, .bytes = x.bytes};
        for (uint32_t i = 0; i < x.rank; i++) out->dims[i] = x.dims[i];
    }
    gr_arena_free(&a);
    return ok;
}

void gr_tensor_free(gr_tensor *t) {
    gr_heap_free((void *)(uintptr_t)t->data);
    *t = (gr_tensor){0};
}

bool gr_tensor_save(gr_session *s, const char *path, const gr_tensor *t) {
    gr_array x = array_of(t);
    GR_TRY(gr_dir_make(&s->diags, gr_path_dir(gr_str_of(path))));
    return gr_array_save(&s->diags, gr_str_of(path), &x);
}

void gr_tensor_hash(const gr_tensor *t, char out[72]) { gr_sha256_text(out, gr_sha256_of(t->data, t->bytes)); }
