/* The WGSL evaluator: whatever loads and has a compute entry point runs in every mode within its memory, or a failure is
 * reported; the sanitizer gives what the f32 mode gives. */
#include "fuzz/fuzz.h"
#include "wgsl/eval.h"

#include <string.h>

enum { RESOURCES = 16, RESOURCE_BYTES = 1 << 16, MODES = 5, STEPS = 300 };

typedef struct memory {
    gr_eval_binding b[RESOURCES];
    uint32_t n;
} memory;

/* 0 when it is too large to try. A runtime-sized array gets five elements and a little. */
static size_t resource_size(const gr_wgsl_type *t) {
    const gr_wgsl_type *last = t->kind == GR_WT_STRUCT ? t->member[t->member_n - 1].type : t;
    uint64_t tail = last->kind == GR_WT_ARRAY && !last->count ? last->stride * 5 + 4 : 0;
    uint64_t size = (t == last && tail ? 0 : t->size) + tail;
    return size > RESOURCE_BYTES ? 0 : (size_t)((size + 3) / 4 * 4);
}

/* Blocks of exactly the size needed, so that a sanitizer notices one byte too far. */
static void *block(size_t n, bool zero) {
    uint8_t *p = calloc(n ? n : 1, 1);
    FUZZ_CHECK(p != NULL);
    for (size_t k = 0; k < n && !zero; k++) p[k] = (uint8_t)(k * 37 + k / 5);
    return p;
}

static void release(memory *m) {
    for (uint32_t k = 0; k < m->n; k++) free(m->b[k].bytes), free(m->b[k].wide), free(m->b[k].extra), free(m->b[k].mark);
    m->n = 0;
}

static bool bind(memory *m, const gr_wgsl_entry *e, gr_eval_mode mode) {
    bool wide = mode == GR_EVAL_WIDENED || mode == GR_EVAL_BOUNDED || mode == GR_EVAL_DUAL;
    *m = (memory){0};
    for (uint32_t k = 0; k < e->resource_n; k++) {
        const gr_wgsl_decl *v = e->resource[k];
        size_t size = resource_size(v->type), cells = size / (v->type->has_f16 ? 2 : 4);
        if (!size || m->n == RESOURCES) return false;
        m->b[m->n++] = (gr_eval_binding){.group = v->group, .binding = v->binding, .bytes = block(size, false), .size = size,
            .wide = wide && k % 3 < 2 ? block(cells * 8, true) : NULL, .extra = wide && k % 3 < 1 ? block(cells * 8, true) : NULL,
            .mark = mode == GR_EVAL_BOUNDED ? block(cells, true) : NULL, .uninitialised = mode == GR_EVAL_SANITIZER && k % 2};
    }
    return true;
}

static bool run(fuzz *f, const gr_wgsl_module *m, const gr_wgsl_entry *e, gr_eval_mode mode, memory *mem) {
    const gr_eval_options opt = {.mode = mode, .step_limit = STEPS, .trace = mode == GR_EVAL_DUAL, .flush_subnormals = true};
    gr_arena a = {.limit = (size_t)64 << 20};
    gr_eval_program *p = gr_eval_compile(&a, &f->d, m, e->name, &opt);
    FUZZ_CHECK(p || !gr_diags_ok(&f->d));
    const uint32_t *size = p ? gr_eval_program_workgroup_size(p) : NULL, grid[3] = {3, 1, 1};
    bool ok = p && (uint64_t)size[0] * size[1] * size[2] <= 256;
    if (ok) {
        ok = gr_eval_dispatch(p, &f->d, mem->b, mem->n, grid, NULL);
        FUZZ_CHECK(ok || !gr_diags_ok(&f->d));
    }
    gr_arena_free(&a);
    gr_diags_clear(&f->d);
    return ok;
}

static void try_entry(fuzz *f, const gr_wgsl_module *m, const gr_wgsl_entry *e) {
    memory mem[MODES + 1] = {0};
    bool ok[MODES + 1] = {0}, fits = true;
    for (int mode = GR_EVAL_F32; mode <= GR_EVAL_SANITIZER && fits; mode++) {
        fits = bind(&mem[mode], e, (gr_eval_mode)mode);
        ok[mode] = fits && run(f, m, e, (gr_eval_mode)mode, &mem[mode]);
    }
    const memory *single = &mem[GR_EVAL_F32], *checked = &mem[GR_EVAL_SANITIZER];
    for (uint32_t k = 0; ok[GR_EVAL_F32] && ok[GR_EVAL_SANITIZER] && k < single->n; k++)
        FUZZ_CHECK(memcmp(single->b[k].bytes, checked->b[k].bytes, single->b[k].size) == 0);
    for (int mode = 0; mode <= MODES; mode++) release(&mem[mode]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_wgsl_module *m = gr_wgsl_load(&f.a, &f.d, GR_STR("<fuzz>"), (gr_str){(const char *)data, size}, NULL);
    gr_diags_clear(&f.d);
    for (uint32_t k = 0; m && k < m->entry_n && k < 2; k++) try_entry(&f, m, &m->entry[k]);
    fuzz_close(&f);
    return 0;
}
