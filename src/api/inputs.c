#include "api/inputs.h"

#include "base/file.h"

/* Reads one node's file and converts. */
static bool load_file(gr_program *p, const gr_canvas_node *n, gr_loaded *out) {
    gr_arena *a = &p->arena[0];
    gr_diags *d = &p->session->diags;
    gr_str path = gr_path_join(a, gr_path_dir(p->document), n->file);
    gr_array raw;
    out->node = n->id;
    if (!gr_array_load(a, d, path, 0, &raw)) {
        gr_report_trail(d, "node %.*s reads %.*s", GR_STR_ARG(n->id), GR_STR_ARG(path));
        return false;
    }
    out->array = raw;
    gr_dtype want = n->dtype != GR_DTYPE_NONE ? n->dtype : raw.dtype == GR_DTYPE_F64 ? GR_DTYPE_F32 : raw.dtype;
    if (want != raw.dtype) {
        uint64_t inexact = 0;
        GR_TRY(gr_array_convert(a, d, &raw, want, &out->array, &inexact));
        gr_report(d, GR_D_RUN_INPUT_CONVERTED, n->at, NULL, "input \"%.*s\": %s read as %s, %llu values changed", GR_STR_ARG(n->id),
                  gr_dtype_name(raw.dtype), gr_dtype_name(want), (unsigned long long)inexact);
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

bool gr_program_load_inputs(gr_program *p, gr_input_type **types, uint32_t *types_n) {
    const gr_canvas *c = &p->canvas;
    *types = GR_NEW_N(&p->arena[0], gr_input_type, c->nodes_n);
    p->loaded = GR_NEW_N(&p->arena[0], gr_loaded, c->nodes_n);
    *types_n = 0;
    if (!*types || !p->loaded) return gr_report_oom(&p->session->diags);
    bool ok = true;
    for (uint32_t i = 0; i < c->nodes_n; i++) {
        const gr_canvas_node *n = &c->nodes[i];
        if ((n->block != GR_BLOCK_INPUT && n->block != GR_BLOCK_PARAMETER) || n->file.n == 0) continue;
        gr_loaded *l = &p->loaded[p->loaded_n];
        if (!load_file(p, n, l)) {
            ok = false;
            continue;
        }
        p->loaded_n++;
        (*types)[(*types_n)++] = (gr_input_type){n->id, type_of_array(&l->array)};
    }
    return ok;
}

bool gr_program_list_inputs(gr_program *p) {
    const gr_graph *g = &p->graph;
    p->inputs = GR_NEW_N(&p->arena[0], gr_value_id, g->values_n);
    if (!p->inputs) return gr_report_oom(&p->session->diags);
    for (uint32_t v = 0; v < g->values_n; v++)
        if (g->values[v].source == GR_SOURCE_INPUT || g->values[v].source == GR_SOURCE_PARAMETER) p->inputs[p->inputs_n++] = v;
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
