/* outputs.c: the files that a document's output blocks ask for: arrays and plots. */
#include "api/session.h"

#include "array/archive.h"
#include "array/plot.h"
#include "base/file.h"

typedef struct writer {
    gr_prepared *r;
    gr_run run;
    gr_str dir;
    gr_arena arena;
    gr_on_file *on_file;
    void *user;
    bool ok; /* everything so far */
} writer;

static gr_diags *diags_of(writer *w) { return &w->r->program->session->diags; }

static bool find_output(writer *w, gr_str node, gr_array *out) {
    const gr_graph *g = &w->r->program->graph;
    for (uint32_t i = 0; i < g->outputs_n; i++) {
        if (!gr_str_eq(g->outputs[i].name, node)) continue;
        gr_tensor t = gr_result(w->r, w->run, i);
        *out = (gr_array){.dtype = gr_dtype_find(gr_str_of(t.dtype)), .rank = t.rank, .data = (void *)(uintptr_t)t.data, .bytes = t.bytes};
        for (unsigned k = 0; k < t.rank; k++) out->dims[k] = t.dims[k];
        return t.dtype != NULL;
    }
    return false;
}

static bool finish(writer *w, gr_str path) {
    gr_str bytes;
    char hash[72];
    GR_TRY(gr_file_read(&w->arena, diags_of(w), path, 0, &bytes));
    gr_sha256_text(hash, gr_sha256_of(bytes.p, bytes.n));
    if (w->on_file) w->on_file(w->user, path.p, hash);
    return true;
}

/* One line of a plot: { "output": id, "label", "panel", "y_label", "x0", "dx" }. */
static bool read_line(writer *w, const gr_doc *doc, const gr_value *v, gr_plot_line *line) {
    gr_arena *a = &w->arena;
    gr_diags *d = diags_of(w);
    gr_str output = {0};
    int64_t panel = 0;
    static const char *const keys[] = {"output", "label", "panel", "y_label", "x0", "dx", NULL};
    bool ok = gr_value_known(a, d, doc, v, keys); /* every key is looked at, whatever the others hold */
    ok = gr_value_str(a, d, doc, v, "output", true, &output) && ok;
    ok = gr_value_str(a, d, doc, v, "label", false, &line->label) && ok;
    ok = gr_value_str(a, d, doc, v, "y_label", false, &line->y_label) && ok;
    ok = gr_value_i64(a, d, doc, v, "panel", false, &panel) && ok;
    ok = gr_value_f64(a, d, doc, v, "x0", false, &line->x0) && ok;
    ok = gr_value_f64(a, d, doc, v, "dx", false, &line->dx) && ok;
    if (!ok || panel < 0 || panel >= GR_PLOT_PANELS_MAX) return false;
    line->panel = (uint32_t)panel;
    if (find_output(w, output, &line->y)) return true;
    return gr_report(d, GR_D_RUN_PLOT_OUTPUT, gr_value_place(doc, v, a), "name the id of an output block", "the plot names no output: \"%.*s\"",
                     GR_STR_ARG(output));
}

/* Only the samples of [from, to) on the x axis: plots of a part. */
static void crop(gr_plot_line *line, double from, double to) {
    double dx = line->dx > 0 ? line->dx : 1;
    uint64_t n = gr_array_count(&line->y), size = gr_dtype_size(line->y.dtype);
    double a = (from - line->x0) / dx, b = (to - line->x0) / dx;
    uint64_t lo = a <= 0 ? 0 : a >= (double)n ? n : (uint64_t)a, hi = b <= 0 ? 0 : b >= (double)n ? n : (uint64_t)b;
    if (hi < lo) hi = lo;
    line->y.data = (char *)line->y.data + lo * size;
    line->y.rank = 1;
    line->y.dims[0] = hi - lo;
    line->y.bytes = (size_t)((hi - lo) * size);
    line->x0 += (double)lo * dx;
}

/* Without a plot description: the output itself against its index. */
static bool plot(writer *w, const gr_canvas_node *n, gr_buf *svg) {
    gr_arena *a = &w->arena;
    gr_diags *d = diags_of(w);
    gr_doc doc = {.name = w->r->program->document, .text = w->r->program->text};
    gr_plot p = {.title = n->id};
    gr_value *lines = NULL;
    double from = -1e300, to = 1e300;
    if (n->plot) {
        static const char *const keys[] = {"title", "x_label", "lines", "from", "to", NULL};
        GR_TRY(gr_value_known(a, d, &doc, n->plot, keys) & gr_value_str(a, d, &doc, n->plot, "title", false, &p.title) &
               gr_value_str(a, d, &doc, n->plot, "x_label", false, &p.x_label) & gr_value_array(a, d, &doc, n->plot, "lines", true, &lines) &
               gr_value_f64(a, d, &doc, n->plot, "from", false, &from) & gr_value_f64(a, d, &doc, n->plot, "to", false, &to));
    }
    uint32_t count = lines ? lines->array.n : 1;
    gr_plot_line *line = GR_NEW_N(a, gr_plot_line, count);
    if (!line) return gr_report_oom(d);
    for (uint32_t i = 0; i < count; i++) {
        if (lines) GR_TRY(read_line(w, &doc, lines->array.v[i], &line[i]));
        else if (!find_output(w, n->id, &line[i].y)) return false;
        crop(&line[i], from, to);
    }
    p.lines = line;
    p.line_n = count;
    return gr_plot_svg(svg, d, &p);
}

static bool write_one(writer *w, const gr_canvas_node *n, gr_str file) {
    gr_diags *d = diags_of(w);
    gr_str path = gr_path_join(&w->arena, w->dir, file);
    gr_array x;
    if (!path.n) return gr_report_oom(d);
    GR_TRY(gr_dir_make(d, gr_path_dir(path)));
    if (!gr_str_ends(file, ".svg")) {
        gr_str bare;
        if (!find_output(w, n->id, &x)) return false;
        GR_TRY(gr_array_save(d, path, &x));
        gr_format_of(path, &bare, NULL);
        bare = gr_str_dup(&w->arena, bare);
        return bare.p ? finish(w, bare) : gr_report_oom(d);
    }
    gr_buf svg = {0};
    bool ok = plot(w, n, &svg) && (svg.failed ? gr_report_oom(d) : gr_file_write(d, path, svg.p, svg.n));
    gr_buf_free(&svg);
    return ok && finish(w, path);
}

/* Calls visit for every file of an output block, in order, until one is false. */
typedef bool visit_file(void *user, const gr_canvas_node *n, gr_str file);
static bool each_file(const gr_program *p, visit_file *visit, void *user) {
    for (uint32_t i = 0; p->has_canvas && i < p->canvas.nodes_n; i++)
        for (uint32_t k = 0; p->canvas.nodes[i].block == GR_BLOCK_OUTPUT && k < p->canvas.nodes[i].files_n; k++)
            if (!visit(user, &p->canvas.nodes[i], p->canvas.nodes[i].files[k])) return false;
    return true;
}

/* The arrays of one .npz or .safetensors, which several blocks may name: "w.npz#a", "w.npz#b". Without '#' an array is called
 * as its block. */
typedef struct gathering { writer *w; gr_str file; GR_VEC(gr_named_array) arrays; const gr_canvas_node *first; gr_str first_file; } gathering;

static bool gather(void *user, const gr_canvas_node *n, gr_str file) {
    gathering *g = user;
    gr_str bare, select;
    gr_format_of(file, &bare, &select);
    if (!gr_str_eq(bare, g->file)) return true;
    if (!g->first) g->first = n, g->first_file = file;
    gr_named_array *x = GR_PUSH(&g->w->arena, &g->arrays);
    if (!x) return gr_report_oom(diags_of(g->w));
    x->name = select.n ? select : n->id;
    return find_output(g->w, n->id, &x->array);
}

static bool write_archive(writer *w, const gr_canvas_node *n, gr_str file) {
    gathering g = {.w = w};
    gr_diags *d = diags_of(w);
    gr_format_of(file, &g.file, NULL);
    GR_TRY(each_file(w->r->program, gather, &g));
    if (g.first != n || g.first_file.p != file.p) return true; /* written with the first that names it */
    gr_str path = gr_path_join(&w->arena, w->dir, g.file);
    if (!path.n) return gr_report_oom(d);
    return gr_dir_make(d, gr_path_dir(path)) && gr_archive_save(d, path, g.arrays.v, g.arrays.n, NULL) && finish(w, path);
}

static bool write_file(void *user, const gr_canvas_node *n, gr_str file) {
    writer *w = user;
    bool archive = !gr_str_ends(file, ".svg") && gr_format_is_archive(gr_format_of(file, NULL, NULL));
    w->ok = (archive ? write_archive(w, n, file) : write_one(w, n, file)) && w->ok;
    return true; /* the other files are written all the same */
}

static bool write_record(writer *w) {
    gr_diags *d = diags_of(w);
    char *text = gr_run_record(w->r, w->run);
    gr_str path = gr_path_join(&w->arena, w->dir, GR_STR("run.json"));
    if (!text) return gr_report_oom(d);
    bool ok = gr_dir_make(d, w->dir) && gr_file_write(d, path, text, strlen(text));
    gr_text_free(text);
    return ok && finish(w, path);
}

static bool has_block(const gr_program *p, gr_str name) {
    for (uint32_t i = 0; p->has_canvas && i < p->canvas.nodes_n; i++)
        if (p->canvas.nodes[i].block == GR_BLOCK_OUTPUT && gr_str_eq(p->canvas.nodes[i].id, name)) return true;
    return false;
}

/* An output that no block writes goes to NAME.npy, in f64 where the run was; signs that a file name cannot have become _. */
static bool write_array(writer *w, uint32_t i) {
    const gr_graph *g = &w->r->program->graph;
    gr_diags *d = diags_of(w);
    gr_tensor t = gr_result(w->r, w->run, i);
    if (!t.dtype) return false;
    char *file = gr_arena_printf(&w->arena, "%.*s.npy", GR_STR_ARG(g->outputs[i].name));
    for (char *c = file; c && *c; c++)
        if ((unsigned char)*c < 32 || *c == '/' || *c == '\\' || *c == ':') *c = '_';
    if (file && *file == '.') *file = '_';
    gr_str path = file ? gr_path_join(&w->arena, w->dir, gr_str_of(file)) : (gr_str){0};
    if (!path.n) return gr_report_oom(d);
    gr_array x = {.dtype = gr_dtype_find(gr_str_of(t.dtype)), .rank = t.rank, .data = (void *)(uintptr_t)t.data, .bytes = t.bytes};
    for (unsigned k = 0; k < t.rank; k++) x.dims[k] = t.dims[k];
    return gr_dir_make(d, w->dir) && gr_array_save(d, path, &x) && finish(w, path);
}

bool gr_write_outputs(gr_prepared *r, gr_run run, const char *dir, gr_on_file *on_file, void *user) {
    writer w = {.r = r, .run = run, .dir = gr_str_of(dir ? dir : "."), .on_file = on_file, .user = user, .ok = true};
    const gr_program *p = r->program;
    each_file(p, write_file, &w);
    bool ok = w.ok;
    for (uint32_t i = 0; i < p->graph.outputs_n; i++)
        if (!has_block(p, p->graph.outputs[i].name)) ok = write_array(&w, i) && ok;
    ok = write_record(&w) && ok;
    gr_arena_free(&w.arena);
    return ok;
}
