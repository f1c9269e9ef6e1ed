/* archive.h: what the fuzz targets of files with several arrays share. */
#ifndef GR_TESTS_FUZZ_ARCHIVE_H
#define GR_TESTS_FUZZ_ARCHIVE_H

#include "array/archive.h"
#include "fuzz/fuzz.h"

/* Memory follows the file, a failure is reported and no bug of ours; what is read is written by `save` and read again bit for bit. */
typedef bool fuzz_save(gr_buf *out, gr_diags *d, const gr_named_array *arrays, uint32_t n);
static inline int fuzz_archive(gr_format format, const uint8_t *data, size_t size, uint64_t ratio, fuzz_save *save) {
    gr_arena a = {.limit = (size_t)ratio * size + (1 << 20)};
    gr_diags d;
    gr_archive f, g;
    gr_buf out = {0};
    gr_diags_init(&d);
    bool ok = gr_archive_read_contents(&a, &d, format, gr_reader_of(GR_STR("<fuzz>"), (gr_str){(const char *)data, size}), &f);
    gr_named_array *list = ok ? GR_NEW_N(&a, gr_named_array, f.n) : NULL;
    for (uint32_t i = 0; ok && list && i < f.n; i++) {
        list[i].name = f.entries[i].name;
        ok = gr_archive_get(&f, &a, &d, i, &list[i].array);
    }
    FUZZ_CHECK(ok == gr_diags_ok(&d) && !d.out_of_memory && !gr_diags_has(&d, GR_D_BASE_INVARIANT));
    if (ok && list && save && save(&out, &d, list, f.n)) {
        FUZZ_CHECK(gr_archive_read_contents(&a, &d, format, gr_reader_of(GR_STR("<again>"), gr_buf_view(&out)), &g) && g.n == f.n);
        for (uint32_t i = 0; i < f.n; i++) {
            uint32_t at;
            gr_array x;
            FUZZ_CHECK(gr_archive_find(&g, &d, list[i].name, &at) && gr_archive_get(&g, &a, &d, at, &x) && gr_array_same_bits(&x, &list[i].array));
        }
    }
    gr_buf_free(&out);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}

#endif
