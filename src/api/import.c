/* import.c: a model file becomes a document and a file of weights. */
#include "api/session.h"

#include "base/file.h"
#include "import/import.h"

typedef struct importing { gr_session *s; } importing;

static bool keep_results(gr_session *s, gr_prepared *r, gr_run run, gr_arena *a, gr_array *out, uint32_t out_n) {
    for (uint32_t i = 0; i < out_n; i++) {
        gr_tensor t = gr_result(r, run, i);
        if (!t.dtype) return false;
        GR_TRY(gr_array_new(a, &s->diags, gr_dtype_find(gr_str_of(t.dtype)), t.dims, t.rank, &out[i]));
        if (t.bytes) memcpy(out[i].data, t.data, t.bytes);
    }
    return true;
}

/* The op alone on the session's executor, which is the oracle. */
static bool evaluate(void *user, gr_arena *a, const gr_op *op, const gr_str *names, const gr_array *in, uint32_t in_n, const char *const *params, uint32_t params_n,
                     gr_array *out, uint32_t out_n) {
    importing *w = user;
    gr_prepare_desc pd = {0};
    const char **z = (const char **)GR_NEW_N(a, char *, in_n);
    gr_tensor *t = GR_NEW_N(a, gr_tensor, in_n);
    if (!z || !t) return gr_report_oom(&w->s->diags);
    for (uint32_t i = 0; i < in_n; i++) {
        z[i] = gr_arena_strndup(a, names[i].p, names[i].n);
        t[i] = (gr_tensor){.dtype = gr_dtype_name(in[i].dtype), .rank = in[i].rank, .data = in[i].data, .bytes = in[i].bytes};
        for (uint32_t k = 0; k < in[i].rank; k++) t[i].dims[k] = in[i].dims[k];
    }
    gr_compile_desc cd = {.reference = true};
    gr_program *p = gr_compile_op(w->s, op->id.p, z, t, in_n, params, params_n, &cd);
    gr_prepared *r = p ? gr_prepare(p, &pd) : NULL;
    bool ok = r != NULL;
    for (uint32_t i = 0; ok && i < in_n; i++) ok = gr_write(r, i, &t[i]);
    gr_run run = ok ? gr_submit(r) : 0;
    ok = run && gr_wait(r, run) && keep_results(w->s, r, run, a, out, out_n);
    gr_prepared_free(r);
    gr_program_free(p);
    return ok;
}

/* "N=4" */
static bool read_sizes(gr_session *s, gr_arena *a, const char *const *set, unsigned n, gr_import_options *o) {
    gr_import_size *sizes = GR_NEW_N(a, gr_import_size, n);
    if (!sizes) return gr_report_oom(&s->diags);
    for (unsigned i = 0; i < n; i++) {
        const char *eq = strrchr(set[i], '=');
        uint64_t v = 0;
        size_t k = 1;
        for (; eq && eq[k] >= '0' && eq[k] <= '9' && v < (uint64_t)1 << 40; k++) v = v * 10 + (uint64_t)(eq[k] - '0');
        if (!eq || eq == set[i] || k == 1 || eq[k])
            return gr_report(&s->diags, GR_D_CLI_OPTION_VALUE, (gr_place){0}, "for example --set batch=1", "\"%s\" is not NAME=SIZE", set[i]);
        sizes[i] = (gr_import_size){{set[i], (size_t)(eq - set[i])}, v};
    }
    o->sizes = sizes;
    o->sizes_n = n;
    return true;
}

/* How a document names a file: below its own folder, or as it is. */
static gr_str beside(gr_str document, gr_str file) {
    gr_str dir = gr_path_dir(document);
    bool inside = file.n > dir.n + 1 && memcmp(file.p, dir.p, dir.n) == 0 && file.p[dir.n] == '/';
    return inside ? (gr_str){file.p + dir.n + 1, file.n - dir.n - 1} : file;
}

static bool import_file(gr_session *s, gr_arena *a, const char *path, const gr_import_desc *desc, gr_imported *out) {
    importing w = {.s = s};
    gr_str bytes;
    gr_onnx_model model;
    gr_import_options o = {.tier = gr_str_of(desc->tier), .weights = beside(gr_str_of(desc->document), gr_str_of(desc->weights)), .evaluate = evaluate, .user = &w};
    if (!gr_str_ends(gr_str_of(path), ".onnx")) return gr_report(&s->diags, GR_D_IMPORT_FILE, gr_place_doc(path), NULL, "only .onnx models are imported");
    GR_TRY(read_sizes(s, a, desc->set, desc->set_n, &o) && gr_file_read(a, &s->diags, gr_str_of(path), (size_t)2 << 30, &bytes));
    return gr_onnx_read(a, &s->diags, gr_str_of(path), bytes, &model) && gr_import_onnx(a, &s->diags, s->catalog, &model, &o, out);
}

static bool write_files(gr_session *s, const gr_import_desc *desc, const gr_imported *x) {
    gr_text_pair made = {GR_STR("format"), GR_STR("gradus")};
    gr_save_options o = {.metadata = &made, .metadata_n = 1};
    gr_str document = gr_str_of(desc->document), weights = gr_str_of(desc->weights);
    GR_TRY(gr_dir_make(&s->diags, gr_path_dir(document)) && gr_dir_make(&s->diags, gr_path_dir(weights)));
    if (x->weights_n) GR_TRY(gr_archive_save(&s->diags, weights, x->weights, x->weights_n, &o));
    return gr_file_write(&s->diags, document, x->document.p, x->document.n);
}

bool gr_import(gr_session *s, const char *path, const gr_import_desc *desc, gr_import_result *out) {
    gr_arena a = {0};
    gr_imported x;
    *out = (gr_import_result){0};
    bool ok = import_file(s, &a, path, desc, &x) && write_files(s, desc, &x);
    if (ok) *out = (gr_import_result){.nodes = x.nodes_n, .weights = x.weights_n, .folded = x.folded_n, .dropped = x.dropped_n};
    gr_arena_free(&a);
    return ok;
}
