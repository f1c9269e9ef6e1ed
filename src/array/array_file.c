/* Arrays in files, by the file's ending. */
#include "array/array.h"

#include "base/file.h"

static bool unknown(gr_diags *d, gr_str path) {
    return gr_report(d, GR_D_ARRAY_UNKNOWN_FILE, (gr_place){.document = path}, "use .npy, .csv or .tsv",
                     "%.*s has an ending that we do not know", GR_STR_ARG(path));
}

bool gr_array_load(gr_arena *a, gr_diags *d, gr_str path, size_t limit, gr_array *out) {
    bool npy = gr_str_ends(path, ".npy"), csv = gr_str_ends(path, ".csv") || gr_str_ends(path, ".tsv");
    gr_arena file = {0}; /* the text goes, the array stays */
    gr_str text;
    gr_csv table = {0};
    if (!npy && !csv) return unknown(d, path);
    bool ok = gr_file_read(&file, d, path, limit, &text);
    if (ok && npy) ok = gr_npy_read(a, d, path, text, out);
    if (ok && csv) ok = gr_csv_read(a, d, path, text, GR_DTYPE_F32, &table);
    gr_arena_free(&file);
    if (ok && csv) {
        *out = table.values;
        if (table.columns == 1) out->rank = 1, out->dims[1] = 0;
    }
    return ok;
}

bool gr_array_save(gr_diags *d, gr_str path, const gr_array *x) {
    bool npy = gr_str_ends(path, ".npy");
    if (!npy && !gr_str_ends(path, ".csv")) return unknown(d, path);
    gr_buf b = {0};
    bool ok = npy ? gr_npy_write(&b, x) || gr_report_oom(d) : gr_csv_write(&b, d, x, NULL);
    ok = ok && gr_file_write(d, path, b.p, b.n);
    gr_buf_free(&b);
    return ok;
}
