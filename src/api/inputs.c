#include "api/inputs.h"

#include "base/file.h"

/* Rows of `window` elements, `stride` apart, of data with one dimension. */
static bool cut_windows(gr_program *p, const gr_canvas_node *n, gr_array *x) {
    gr_diags *d = &p->session->diags;
    uint64_t dims[2] = {0, n->window}, size = gr_dtype_size(x->dtype);
    gr_array rows;
    if (x->rank != 1 || x->dims[0] < n->window) {
        gr_buf b = {0};
        gr_array_print_type(&b, x);
        gr_report(d, GR_D_CANVAS_WINDOW_BAD, n->at, "take data with one dimension that is no shorter than a window", "windows of %llu cannot be cut from %s",
                  (unsigned long long)n->window, b.p ? b.p : "?");
        gr_buf_free(&b);
        return false;
    }
    dims[0] = (x->dims[0] - n->window) / n->stride + 1;
    GR_TRY(gr_array_new(&p->arena[0], d, x->dtype, dims, 2, &rows));
    for (uint64_t i = 0; i < dims[0]; i++)
        memcpy((char *)rows.data + i * n->window * size, (const char *)x->data + i * n->stride * size, (size_t)(n->window * size));
    *x = rows;
    return true;
}

static bool convert(gr_program *p, const gr_canvas_node *n, gr_array *x) {
    gr_diags *d = &p->session->diags;
    gr_dtype want = n->dtype != GR_DTYPE_NONE ? n->dtype : x->dtype == GR_DTYPE_F64 ? GR_DTYPE_F32 : x->dtype;
    gr_array raw = *x;
    uint64_t inexact = 0;
    if (want == raw.dtype) return true;
    GR_TRY(gr_array_convert(&p->arena[0], d, &raw, want, x, &inexact));
    gr_report(d, GR_D_RUN_INPUT_CONVERTED, n->at, NULL, "input \"%.*s\": %s read as %s, %llu values changed", GR_STR_ARG(n->id),
              gr_dtype_name(raw.dtype), gr_dtype_name(want), (unsigned long long)inexact);
    return true;
}

/* A .txt file is its bytes; other files are known by their endings. */
static bool load_file(gr_program *p, gr_str path, gr_array *out) {
    gr_str text;
    if (!gr_str_ends(path, ".txt")) return gr_array_load(&p->arena[0], &p->session->diags, path, 0, out);
    GR_TRY(gr_file_read(&p->arena[0], &p->session->diags, path, 0, &text));
    *out = (gr_array){.dtype = GR_DTYPE_U8, .rank = 1, .dims = {text.n}, .data = (void *)(uintptr_t)text.p, .bytes = text.n};
    return true;
}

/* One node's data: its file, a file of the folder of parameters, or initial values. */
static bool load_node(gr_program *p, const gr_canvas_node *n, gr_loaded *out) {
    gr_arena *a = &p->arena[0];
    gr_diags *d = &p->session->diags;
    gr_str path = gr_path_join(a, gr_path_dir(p->document), n->file);
    out->node = n->id;
    if (n->block == GR_BLOCK_PARAMETER && p->parameters.n) {
        const char *name = gr_arena_printf(a, "%.*s.npy", GR_STR_ARG(n->id));
        path = name ? gr_path_join(a, p->parameters, gr_str_of(name)) : (gr_str){0};
    } else if (n->init.kind) {
        GR_TRY(gr_canvas_initial(a, d, n, p->canvas.seed, &out->array));
        path.n = 0;
    }
    if (path.n && n->on_disk) {
        out->is_loaded = true;
        if (gr_loaded_open(p, n, path, out)) return true;
        gr_report_trail(d, "node %.*s reads %.*s", GR_STR_ARG(n->id), GR_STR_ARG(path));
        return false;
    }
    if (path.n) {
        if (!load_file(p, path, &out->array)) {
            gr_report_trail(d, "node %.*s reads %.*s", GR_STR_ARG(n->id), GR_STR_ARG(path));
            return false;
        }
        GR_TRY(convert(p, n, &out->array) && (!n->window || cut_windows(p, n, &out->array)));
    }
    out->hash = gr_sha256_of(out->array.data, out->array.bytes);
    out->is_loaded = true;
    return true;
}

static gr_type type_of_array(const gr_array *x) {
    gr_type t = {.dtype = x->dtype, .rank = x->rank};
    for (uint32_t i = 0; i < x->rank; i++) t.dim[i].n = x->dims[i];
    return t;
}

static bool has_data(const gr_program *p, const gr_canvas_node *n) {
    if (n->block == GR_BLOCK_PARAMETER) return n->file.n || n->init.kind || p->parameters.n;
    return n->block == GR_BLOCK_INPUT && n->file.n;
}

static bool load_all(gr_program *p) {
    const gr_canvas *c = &p->canvas;
    bool ok = true;
    p->loaded = GR_NEW_N(&p->arena[0], gr_loaded, c->nodes_n);
    if (!p->loaded) return gr_report_oom(&p->session->diags);
    for (uint32_t i = 0; p->data && i < p->data->loaded_n; i++) p->loaded[p->loaded_n++] = p->data->loaded[i];
    for (uint32_t i = 0; !p->data && i < c->nodes_n; i++) {
        if (!has_data(p, &c->nodes[i])) continue;
        gr_loaded *l = &p->loaded[p->loaded_n];
        bool one = load_node(p, &c->nodes[i], l);
        p->loaded_n += one || l->disk; /* a file that is open is closed with the program */
        ok = one && ok;
    }
    return ok;
}

/* Whether a node's rows make batches of this program. */
static bool in_batches(const gr_program *p, gr_str id) {
    const gr_canvas_node *train = gr_canvas_training(&p->canvas);
    for (uint32_t i = 0; train && p->rows && i < p->canvas.nodes_n; i++) {
        const gr_canvas_node *n = &p->canvas.nodes[i];
        if (n->block == GR_BLOCK_INPUT && gr_str_eq(n->id, id)) return n->shape_n && !n->shape[0].fixed && gr_str_eq(n->shape[0].symbol, train->train->dimension);
    }
    return false;
}

bool gr_program_load_inputs(gr_program *p, gr_input_type **types, uint32_t *types_n) {
    *types = GR_NEW_N(&p->arena[0], gr_input_type, p->canvas.nodes_n);
    *types_n = 0;
    if (!*types) return gr_report_oom(&p->session->diags);
    GR_TRY(load_all(p));
    for (uint32_t i = 0; i < p->loaded_n; i++) {
        gr_loaded *l = &p->loaded[i];
        gr_input_type t = {l->node, type_of_array(&l->array), l->disk != NULL};
        l->in_batches = in_batches(p, l->node);
        if (l->in_batches && t.type.rank) t.type.dim[0].n = p->rows;
        (*types)[(*types_n)++] = t;
    }
    return true;
}

bool gr_program_list_inputs(gr_program *p) {
    const gr_graph *g = &p->graph;
    p->inputs = GR_NEW_N(&p->arena[0], gr_value_id, g->values_n);
    if (!p->inputs) return gr_report_oom(&p->session->diags);
    for (uint32_t v = 0; v < g->values_n; v++)
        if (g->values[v].source != GR_SOURCE_CONSTANT && g->values[v].source != GR_SOURCE_NODE) p->inputs[p->inputs_n++] = v;
    return true;
}

unsigned gr_program_inputs(const gr_program *p) { return p->inputs_n; }
unsigned gr_program_outputs(const gr_program *p) { return p->graph.outputs_n; }

/* Names come from the arena through gr_str_dup and are NUL-terminated there. */
const char *gr_program_input_name(const gr_program *p, unsigned i) {
    return i < p->inputs_n ? p->graph.values[p->inputs[i]].input.p : NULL;
}

const char *gr_program_output_name(const gr_program *p, unsigned i) {
    return i < p->graph.outputs_n ? p->graph.outputs[i].name.p : NULL;
}

static gr_tensor tensor_of(const gr_type *t) {
    gr_tensor x = {.dtype = gr_dtype_name(t->dtype), .rank = t->rank};
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) n *= x.dims[i] = t->dim[i].n;
    x.bytes = (size_t)(n * gr_dtype_size(t->dtype));
    return x;
}

gr_tensor gr_program_input_type(const gr_program *p, unsigned i) {
    return i < p->inputs_n ? tensor_of(&p->graph.values[p->inputs[i]].type) : (gr_tensor){0};
}

gr_tensor gr_program_output_type(const gr_program *p, unsigned i) {
    return i < p->graph.outputs_n ? tensor_of(&p->graph.values[p->graph.outputs[i].value].type) : (gr_tensor){0};
}
