/* ONNX files: protobuf-c reads the messages, this file the tensors and what a model must have. */
#include "import/onnx.h"

#include "base/file.h"
#include "base/reader.h"
#include "import/onnx.pb-c.h"

enum { FLOAT = 1, UINT8 = 2, INT8 = 3, UINT16 = 4, INT16 = 5, BOOL = 9, FLOAT16 = 10, DOUBLE = 11, BFLOAT16 = 16, EXTERNAL = 1 };
enum { OPSET_LEAST = 7, OPSET_MOST = 25 };

typedef struct reader { gr_arena *a; gr_diags *d; gr_onnx_model *m; } reader;

static gr_str text(const char *z) { return gr_str_of(z ? z : ""); }
static gr_str bytes_of(ProtobufCBinaryData b) { return (gr_str){(const char *)b.data, b.len}; }
static gr_place place(const reader *r) { return (gr_place){.document = r->m->file}; }

/* ---- tensors ---------------------------------------------------------------------------------------------- */

typedef struct tensor { reader *r; const GrPb__Tensor *t; gr_str what; gr_array *x; uint64_t count; } tensor;

static bool wrong_data(const tensor *t, uint64_t got, const char *unit) {
    return gr_report(t->r->d, GR_D_IMPORT_DATA, place(t->r), "write the model again", "tensor \"%.*s\": its shape needs %llu elements, there are %llu %s", GR_STR_ARG(t->what),
                     (unsigned long long)t->count, (unsigned long long)got, unit);
}

static uint32_t stored_size(int32_t code) {
    if (code == DOUBLE) return 8;
    if (code == UINT16 || code == INT16 || code == BFLOAT16) return 2;
    return gr_dtype_size(gr_onnx_dtype(code));
}

/* Elements as they lie in a file: little-endian, in the type's own width. */
static bool from_bytes(tensor *t, gr_str raw) {
    int32_t code = t->t->data_type;
    gr_array *x = t->x;
    const uint8_t *p = (const uint8_t *)raw.p;
    if (raw.n / stored_size(code) != t->count || raw.n % stored_size(code)) return wrong_data(t, raw.n, "bytes");
    GR_TRY(gr_array_new(t->r->a, t->r->d, x->dtype, x->dims, x->rank, x));
    if (stored_size(code) == gr_dtype_size(x->dtype)) {
        if (raw.n) memcpy(x->data, p, raw.n);
        for (size_t i = 0; code == BOOL && i < raw.n; i++) ((uint8_t *)x->data)[i] = p[i] != 0;
        return true;
    }
    for (uint64_t i = 0; i < t->count; i++) {
        double wide;
        uint32_t v = code == DOUBLE ? 0 : (uint32_t)p[2 * i] | (uint32_t)p[2 * i + 1] << 8;
        if (code == DOUBLE) memcpy(&wide, p + 8 * i, 8), ((float *)x->data)[i] = (float)wide;
        else ((uint32_t *)x->data)[i] = code == BFLOAT16 ? v << 16 : code == INT16 && v >> 15 ? v | 0xFFFF0000u : v;
    }
    return true;
}

/* Elements in the message's typed lists. */
static bool from_lists(tensor *t) {
    const GrPb__Tensor *p = t->t;
    int32_t code = p->data_type;
    gr_array *x = t->x;
    bool f64 = code == DOUBLE, f32 = code == FLOAT, i64 = x->dtype == GR_DTYPE_I64, u64 = x->dtype == GR_DTYPE_U64 || code == 12;
    size_t n = f64 ? p->n_double_data : f32 ? p->n_float_data : i64 ? p->n_int64_data : u64 ? p->n_uint64_data : p->n_int32_data;
    if (n != t->count) return wrong_data(t, n, "elements");
    GR_TRY(gr_array_new(t->r->a, t->r->d, x->dtype, x->dims, x->rank, x));
    for (size_t i = 0; i < n; i++) {
        if (f64) ((float *)x->data)[i] = (float)p->double_data[i];
        else if (f32) ((float *)x->data)[i] = p->float_data[i];
        else if (i64) ((int64_t *)x->data)[i] = p->int64_data[i];
        else if (u64 && x->dtype == GR_DTYPE_U64) ((uint64_t *)x->data)[i] = p->uint64_data[i];
        else if (u64) ((uint32_t *)x->data)[i] = (uint32_t)p->uint64_data[i];
        else if (code == FLOAT16) ((uint16_t *)x->data)[i] = (uint16_t)p->int32_data[i];
        else if (code == BFLOAT16) ((uint32_t *)x->data)[i] = (uint32_t)p->int32_data[i] << 16;
        else gr_array_set_i64(x, i, p->int32_data[i]);
    }
    return true;
}

/* A path below the model's folder: no root, no "..". */
static bool stays_below(gr_str path) {
    bool ok = path.n && path.p[0] != '/';
    for (size_t i = 0; i < path.n; i++)
        if ((i == 0 || path.p[i - 1] == '/') && path.n - i >= 2 && path.p[i] == '.' && path.p[i + 1] == '.' && (path.n - i == 2 || path.p[i + 2] == '/')) ok = false;
    return ok;
}

static bool number(gr_str s, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || *out > UINT64_MAX / 10 - 1) return false;
        *out = *out * 10 + (uint64_t)(s.p[i] - '0');
    }
    return s.n > 0;
}

static bool wrong_file(const tensor *t, const char *why) {
    return gr_report(t->r->d, GR_D_IMPORT_DATA, place(t->r), "keep the model's files together", "tensor \"%.*s\": its external data %s", GR_STR_ARG(t->what), why);
}

/* Elements in a file beside the model. */
static bool from_file(tensor *t) {
    gr_str location = {0}, raw = {0};
    uint64_t at = 0, n = 0;
    bool has_length = false, ok = true;
    for (size_t i = 0; i < t->t->n_external_data; i++) {
        gr_str key = text(t->t->external_data[i]->key), value = text(t->t->external_data[i]->value);
        if (gr_str_eqz(key, "location")) location = value;
        else if (gr_str_eqz(key, "offset")) ok = number(value, &at) && ok;
        else if (gr_str_eqz(key, "length")) ok = number(value, &n) && ok, has_length = true;
    }
    if (!ok) return wrong_file(t, "has no number for offset or length");
    if (!stays_below(location)) return wrong_file(t, "lies outside of the model's folder");
    gr_reader file;
    gr_arena temporary = {0};
    gr_str path = gr_path_join(t->r->a, gr_path_dir(t->r->m->file), location);
    ok = gr_reader_open(t->r->d, path, &file);
    if (ok && (at > file.size || (has_length && n > file.size - at))) ok = wrong_file(t, "is longer than its file");
    if (ok && !has_length) n = file.size - at;
    uint64_t want = t->count * stored_size(t->t->data_type);
    if (ok && n != want) ok = wrong_data(t, n, "bytes");
    ok = ok && gr_reader_part(&file, &temporary, t->r->d, at, n, &raw) && from_bytes(t, raw);
    gr_reader_close(&file);
    gr_arena_free(&temporary);
    return ok;
}

static bool read_tensor(reader *r, const GrPb__Tensor *p, gr_str what, gr_array *x) {
    tensor t = {.r = r, .t = p, .what = what, .x = x};
    *x = (gr_array){.dtype = gr_onnx_dtype(p->data_type)};
    if (!x->dtype)
        return gr_report(r->d, GR_D_IMPORT_DTYPE, place(r), "convert the model to FLOAT", "tensor \"%.*s\" has elements of type %s (%d)", GR_STR_ARG(what), gr_onnx_dtype_name(p->data_type),
                         p->data_type);
    if (p->n_dims > GR_RANK_MAX)
        return gr_report(r->d, GR_D_ARRAY_TOO_LARGE, place(r), NULL, "tensor \"%.*s\" has %zu dimensions, %d at most", GR_STR_ARG(what), p->n_dims, GR_RANK_MAX);
    x->rank = (uint32_t)p->n_dims;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (p->dims[i] < 0) return gr_report(r->d, GR_D_IMPORT_SHAPE, place(r), NULL, "tensor \"%.*s\": dimension %u is %lld", GR_STR_ARG(what), i, (long long)p->dims[i]);
        x->dims[i] = (uint64_t)p->dims[i];
    }
    size_t bytes;
    if (!gr_dims_count(x->dims, x->rank, &t.count) || !gr_dims_bytes(x->dtype, x->dims, x->rank, &bytes) || t.count > UINT64_MAX / 8)
        return gr_report(r->d, GR_D_ARRAY_TOO_LARGE, place(r), NULL, "tensor \"%.*s\" is too large", GR_STR_ARG(what));
    if (p->has_data_location && p->data_location == EXTERNAL) return from_file(&t);
    return p->has_raw_data ? from_bytes(&t, bytes_of(p->raw_data)) : from_lists(&t);
}

/* ---- nodes -------------------------------------------------------------------------------------------------- */

static bool copy_strings(reader *r, char *const *from, size_t n, gr_str **out, uint32_t *out_n) {
    *out = GR_NEW_N(r->a, gr_str, n);
    *out_n = (uint32_t)n;
    if (!*out) return gr_report_oom(r->d);
    for (size_t i = 0; i < n; i++) (*out)[i] = text(from[i]);
    return true;
}

/* Files of before the type was written say it by what they hold. */
static int32_t kind_of(const GrPb__Attribute *p) {
    if (p->has_type && p->type) return p->type;
    return p->has_f ? 1 : p->has_i ? 2 : p->has_s ? 3 : p->t ? 4 : p->has_g ? 5 : p->n_floats ? 6 : p->n_ints ? 7 : p->n_strings ? 8 : 0;
}

static bool read_attribute(reader *r, const GrPb__Attribute *p, gr_str node, gr_onnx_attribute *x) {
    int32_t kind = kind_of(p);
    *x = (gr_onnx_attribute){.name = text(p->name), .kind = kind >= 1 && kind <= 8 ? (gr_onnx_kind)kind : GR_ONNX_OTHER, .f = (double)p->f, .i = p->i, .s = bytes_of(p->s)};
    if (p->ref_attr_name && p->ref_attr_name[0]) x->kind = GR_ONNX_OTHER;
    if (x->kind == GR_ONNX_TENSOR) {
        char *what = gr_arena_printf(r->a, "%.*s.%.*s", GR_STR_ARG(node), GR_STR_ARG(x->name));
        if (!what) return gr_report_oom(r->d);
        return p->t ? read_tensor(r, p->t, gr_str_of(what), &x->t) : gr_report(r->d, GR_D_IMPORT_FILE, place(r), NULL, "attribute \"%s\" has no tensor", what);
    }
    size_t n = x->kind == GR_ONNX_FLOATS ? p->n_floats : x->kind == GR_ONNX_INTS ? p->n_ints : x->kind == GR_ONNX_STRINGS ? p->n_strings : 0;
    x->n = (uint32_t)n;
    if (x->kind == GR_ONNX_FLOATS) x->floats = GR_NEW_N(r->a, double, n);
    if (x->kind == GR_ONNX_INTS) x->ints = GR_NEW_N(r->a, int64_t, n);
    if (x->kind == GR_ONNX_STRINGS) x->strings = GR_NEW_N(r->a, gr_str, n);
    if (n && !x->floats && !x->ints && !x->strings) return gr_report_oom(r->d);
    for (size_t i = 0; i < n; i++) {
        if (x->floats) x->floats[i] = (double)p->floats[i];
        if (x->ints) x->ints[i] = p->ints[i];
        if (x->strings) x->strings[i] = bytes_of(p->strings[i]);
    }
    return true;
}

static bool read_node(reader *r, const GrPb__Node *p, gr_onnx_node *x) {
    *x = (gr_onnx_node){.op = text(p->op_type), .domain = text(p->domain), .name = text(p->name)};
    if (gr_str_eqz(x->domain, "ai.onnx")) x->domain = (gr_str){0};
    GR_TRY(copy_strings(r, p->input, p->n_input, &x->in, &x->in_n) && copy_strings(r, p->output, p->n_output, &x->out, &x->out_n));
    for (uint32_t i = 0; i < x->out_n && !x->name.n; i++) x->name = x->out[i]; /* a name to speak of it by */
    x->attributes = GR_NEW_N(r->a, gr_onnx_attribute, p->n_attribute);
    x->attributes_n = (uint32_t)p->n_attribute;
    if (!x->attributes) return gr_report_oom(r->d);
    for (uint32_t i = 0; i < x->attributes_n; i++) GR_TRY(read_attribute(r, p->attribute[i], x->name, &x->attributes[i]));
    return true;
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

static bool read_value(reader *r, const GrPb__ValueInfo *p, gr_onnx_value *x) {
    const GrPb__TensorType *t = p->type ? p->type->tensor_type : NULL;
    *x = (gr_onnx_value){.name = text(p->name)};
    if (!t) return true;
    x->code = t->elem_type;
    x->dtype = gr_onnx_dtype(t->elem_type);
    if (!t->shape) return true;
    if (t->shape->n_dim > GR_RANK_MAX)
        return gr_report(r->d, GR_D_ARRAY_TOO_LARGE, place(r), NULL, "value \"%.*s\" has %zu dimensions, %d at most", GR_STR_ARG(x->name), t->shape->n_dim, GR_RANK_MAX);
    x->has_shape = true;
    x->rank = (uint32_t)t->shape->n_dim;
    for (uint32_t i = 0; i < x->rank; i++) {
        const GrPb__Dimension *k = t->shape->dim[i];
        x->dims[i] = (gr_onnx_dim){.known = k->has_dim_value && k->dim_value >= 0, .n = (uint64_t)k->dim_value, .name = text(k->dim_param)};
    }
    return true;
}

static bool read_graph(reader *r, const GrPb__Graph *g) {
    gr_onnx_model *m = r->m;
    m->name = text(g->name);
    m->nodes = GR_NEW_N(r->a, gr_onnx_node, g->n_node);
    m->weights = GR_NEW_N(r->a, gr_onnx_tensor, g->n_initializer);
    m->inputs = GR_NEW_N(r->a, gr_onnx_value, g->n_input);
    m->outputs = GR_NEW_N(r->a, gr_onnx_value, g->n_output);
    if (!m->nodes || !m->weights || !m->inputs || !m->outputs) return gr_report_oom(r->d);
    if (g->n_sparse_initializer) return gr_report(r->d, GR_D_IMPORT_DTYPE, place(r), "make them dense", "the model has %zu sparse initializers", g->n_sparse_initializer);
    bool ok = true;
    for (size_t i = 0; i < g->n_node; i++) ok = read_node(r, g->node[i], &m->nodes[m->nodes_n++]) && ok;
    for (size_t i = 0; i < g->n_initializer; i++) {
        gr_onnx_tensor *w = &m->weights[m->weights_n++];
        w->name = text(g->initializer[i]->name);
        ok = read_tensor(r, g->initializer[i], w->name, &w->array) && ok;
    }
    for (size_t i = 0; i < g->n_input; i++) ok = read_value(r, g->input[i], &m->inputs[m->inputs_n++]) && ok;
    for (size_t i = 0; i < g->n_output; i++) ok = read_value(r, g->output[i], &m->outputs[m->outputs_n++]) && ok;
    return ok;
}

static bool read_domains(reader *r, const GrPb__Model *p) {
    gr_onnx_model *m = r->m;
    m->domains = gr_arena_alloc(r->a, p->n_opset_import, sizeof *m->domains);
    if (!m->domains) return gr_report_oom(r->d);
    for (size_t i = 0; i < p->n_opset_import; i++) {
        gr_str domain = text(p->opset_import[i]->domain);
        if (gr_str_eqz(domain, "ai.onnx")) domain = (gr_str){0};
        if (!domain.n) m->opset = p->opset_import[i]->version;
        m->domains[m->domains_n].domain = domain;
        m->domains[m->domains_n++].version = p->opset_import[i]->version;
    }
    if (m->opset >= OPSET_LEAST && m->opset <= OPSET_MOST) return true;
    return gr_report(r->d, GR_D_IMPORT_VERSION, place(r), "convert the model, for example with onnx.version_converter", "the model's operators are of version %lld, versions %d to %d are read",
                     (long long)m->opset, OPSET_LEAST, OPSET_MOST);
}

/* protobuf-c frees nothing singly here: the arena goes as a whole. */
static void *allocate(void *a, size_t n) { return gr_arena_alloc(a, n, 1); }
static void let_go(void *a, void *p) { (void)a, (void)p; }

static bool read_model(reader *r, gr_str bytes) {
    ProtobufCAllocator memory = {.alloc = allocate, .free = let_go, .allocator_data = r->a};
    GrPb__Model *p = gr_pb__model__unpack(&memory, bytes.n, (const uint8_t *)bytes.p);
    if (!p) return gr_arena_failed(r->a) ? gr_report_oom(r->d) : gr_report(r->d, GR_D_IMPORT_FILE, place(r), NULL, "the file is no ONNX model, or was cut off");
    if (!p->graph) return gr_report(r->d, GR_D_IMPORT_FILE, place(r), NULL, "the model has no graph");
    r->m->producer = text(p->producer_name);
    r->m->ir_version = p->ir_version;
    if (p->n_functions) return gr_report(r->d, GR_D_IMPORT_VERSION, place(r), "inline them", "the model defines %zu functions of its own", p->n_functions);
    return read_domains(r, p) && read_graph(r, p->graph);
}

bool gr_onnx_read(gr_arena *a, gr_diags *d, gr_str file, gr_str bytes, gr_onnx_model *out) {
    *out = (gr_onnx_model){.file = file};
    reader r = {.a = a, .d = d, .m = out};
    return read_model(&r, bytes);
}
